"""`make .venv`: complete or made anew, one at a time; faults leave nothing."""

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import paths

# Stands for Python, pip and uv: notes what it is asked, and fails where that contains
# $FAILS.
TOOL = """#!/bin/sh
echo "${0##*/} $*" >>"$LOG"
case "$0 $*" in *"${FAILS:-nothing fails}"*) exit 1;; esac
case "$*" in
    -c*) exec "$REAL" "$@";;
    *"-m venv"*) mkdir -p .venv/bin; cp "$0" .venv/bin/python; cp "$0" .venv/bin/uv;;
    *"config list"*) echo "global.index-url='https://file.example'"
        echo ":env:.index-url='https://variable.example'";;
esac
echo "    index: $UV_DEFAULT_INDEX" >>"$LOG"
"""


@pytest.fixture
def root(tmp_path) -> Path:
    """Folder of a project whose Python installs nothing."""
    root = tmp_path / "it's $HOME"
    root.mkdir()
    for name in ("Makefile", "requirements.lock", "pyproject.toml"):
        shutil.copy(paths.ROOT / name, root)
    python = root / "tool"
    python.write_text(TOOL)
    python.chmod(0o755)
    return root


def start(root: Path, **settings: str) -> subprocess.Popen:
    """Start make."""
    own = {"LOG": str(root / "log"), "REAL": sys.executable, "PYTHON": "./tool"}
    environment = {"PATH": os.environ["PATH"]} | own | settings
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen(["make", ".venv"], cwd=root, env=environment, **pipes)


def make(root: Path, **settings: str) -> tuple[int, str, list[str]]:
    """Run make; give its status, what it says, and what it has asked for."""
    (root / "log").write_text("")
    process = start(root, **settings)
    output, _ = process.communicate()
    return process.returncode, output, (root / "log").read_text().splitlines()


def is_complete(root: Path) -> bool:
    """Tell whether make finds nothing to do."""
    return make(root) == (0, "", [])


def test_an_environment_is_made_once(root):
    status, _, asked = make(root)
    assert status == 0
    assert any(
        "uv pip install" in line and "requirements.lock" in line for line in asked
    )
    assert not any("pip" in line and "no-cache-dir" in line for line in asked)
    assert asked[-2] == "uv pip check --python .venv/bin/python"
    assert is_complete(root)


def test_it_holds_for_one_folder_lock_and_project_with_its_python(root):
    make(root)
    for name in ("requirements.lock", "pyproject.toml"):
        with (root / name).open("a") as file:
            file.write("\n")
        assert not is_complete(root)
        assert is_complete(root)
    moved = root.rename(root.with_name("moved"))
    assert not is_complete(moved)
    assert is_complete(moved)
    (moved / ".venv" / "bin" / "python").unlink()
    assert not is_complete(moved)
    assert is_complete(moved)


@pytest.mark.parametrize(
    "fails",
    ["venv .venv", "--editable", "pip check", "pip uninstall", "requirements.lock"],
)
def test_what_failed_on_the_way_is_made_anew(root, fails):
    status, output, _ = make(root, FAILS=fails)
    assert status != 0
    assert "Error" in output
    assert not (root / ".venv" / "complete").exists()
    (root / ".venv").mkdir(exist_ok=True)
    (root / ".venv" / "half a package").touch()
    assert not is_complete(root)
    assert is_complete(root)
    assert not (root / ".venv" / "half a package").exists()


@pytest.mark.parametrize(
    "fails", ["-r .venv/uv.txt", "uv pip install --python .venv/bin/python --s"]
)
def test_without_uv_pip_installs_the_same_lock(root, fails):
    _, _, asked = make(root, FAILS=fails)
    assert any(
        "--no-cache-dir --require-hashes -r requirements.lock" in line for line in asked
    )


def test_uv_comes_from_the_lock_with_its_hashes_and_looks_where_pip_looks(root):
    _, _, asked = make(root)
    pin, *hashes = (root / ".venv" / "uv.txt").read_text().splitlines()
    assert pin.startswith("uv==")
    assert len(hashes) > 10
    assert all(line.startswith("    --hash=sha256:") for line in hashes)
    assert not hashes[-1].endswith("\\")
    installed = next(
        number for number, line in enumerate(asked) if "uv pip install" in line
    )
    assert asked[installed + 1] == "    index: https://variable.example"


def test_an_old_python_is_told_so(root):
    old = root / "old"
    old.write_text('#!/bin/sh\nREAL -c "import sys; sys.version_info = (3, 9); $2"\n')
    old.write_text(old.read_text().replace("REAL", sys.executable))
    old.chmod(0o755)
    (root / ".venv").mkdir()
    status, output, _ = make(root, PYTHON="./old")
    assert status != 0
    assert "Python 3.11 or newer is needed, and ./old is 3." in output
    assert "make PYTHON=python3.12" in output
    assert (root / ".venv").exists()


def test_a_second_make_waits_for_the_first_and_finds_nothing_to_do(root):
    make(root)
    complete = (root / ".venv" / "complete").read_bytes()
    (root / ".venv" / "complete").unlink()
    (root / "log").write_text("")
    first = os.open(root, os.O_RDONLY)
    fcntl.flock(first, fcntl.LOCK_EX)
    second = start(root)
    assert (
        second.stdout.readline() == "waiting for another make, which is making .venv\n"
    )
    (root / ".venv" / "complete").write_bytes(complete)
    os.close(first)
    assert second.communicate()[0] == ""
    assert "venv .venv" not in (root / "log").read_text()


def test_settings_that_install_elsewhere_are_left_out(root):
    (root / "tool").write_text(
        TOOL.replace("index: $UV", "target: $PIP_TARGET; index: $UV")
    )
    _, _, asked = make(root, PIP_TARGET="/elsewhere")
    assert "/elsewhere" not in "\n".join(asked)
