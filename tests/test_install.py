"""`make .venv`: whole, or made anew; what cannot work is said in one sentence."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import paths
from helpers.run import environment

# Stands for Python, pip and uv: notes what it is asked, and fails where that contains
# $FAILS. It "installs" one package.
TOOL = """#!/bin/sh
echo "${0##*/} $*" >>"$LOG"
case "$0 $*" in *"${FAILS:-nothing fails}"*) echo "it failed"; exit 1;; esac
case "$*" in
    *environment.py*) exec "$REAL" "$@";;
    *"-c import sys"*) echo "${VERSION:-3.11.7}";;
    *"config list"*) echo "global.index-url='https://file.example'"
        echo ":env:.index-url='https://variable.example'";;
    *"install --python"*) mkdir -p .venv/lib/python3.11/site-packages/tiny-1.dist-info
        cd .venv/lib/python3.11/site-packages; printf whole >tiny.py
        printf 'tiny.py,,5\\n' >tiny-1.dist-info/RECORD;;
esac
echo "    index: $UV_DEFAULT_INDEX" >>"$LOG"
"""
# `python -m venv` is run by the Python behind the tool.
FAKE_VENV = """import os, shutil, sys
os.makedirs(f"{sys.argv[1]}/bin")
for name in ("python", "uv"):
    shutil.copy(os.environ["TOOL"], f"{sys.argv[1]}/bin/{name}")
"""


@pytest.fixture
def root(tmp_path) -> Path:
    """Folder of a project whose Python installs nothing."""
    root = tmp_path / "it's $HOME"
    (root / "src" / "helpers" / "run").mkdir(parents=True)
    for name in ("Makefile", "requirements.lock", "pyproject.toml"):
        shutil.copy(paths.ROOT / name, root)
    script = (paths.ROOT / "src/helpers/run/environment.py").read_text()
    script = script.replace('"-I", "-m", "venv"', '"fake_venv.py"')
    (root / "src" / "helpers" / "run" / "environment.py").write_text(script)
    (root / "fake_venv.py").write_text(FAKE_VENV)
    python = root / "tool"
    python.write_text(TOOL)
    python.chmod(0o755)
    return root


def make(root: Path, target: str = ".venv", **settings: str) -> tuple[int, str, str]:
    """Run make; give its status, what it says, and what it has asked for."""
    (root / "log").write_text("")
    own = {"LOG": str(root / "log"), "REAL": sys.executable, "TOOL": str(root / "tool")}
    own |= {"PATH": os.environ["PATH"], "HOME": str(root)}
    # PYTHON stands in the Makefile unless a test names it
    if "PYTHON" not in settings:
        text = (root / "Makefile").read_text()
        (root / "Makefile").write_text(text.replace("?= python3", "?= ./tool"))
    run = subprocess.run(
        ["make", target],
        cwd=root,
        env=own | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return run.returncode, run.stdout, (root / "log").read_text()


def is_whole(root: Path, target: str = ".venv") -> bool:
    """Tell whether make finds nothing to do."""
    status, output, asked = make(root, target)
    return (status, output) == (0, "") and "install" not in asked


def test_an_environment_is_made_once_of_what_notebooks_and_site_need(root):
    status, output, asked = make(root)
    assert status == 0
    assert output.startswith("making .venv: there is none yet\n")
    assert "--require-hashes" in asked
    assert "--constraint" in asked
    assert "--extra notebooks --extra site\n" in asked
    assert "--editable" in asked
    assert is_whole(root)


def test_tests_are_added_without_making_it_anew(root):
    make(root)
    (root / ".venv" / "mine").touch()
    status, output, asked = make(root, ".venv-tests")
    assert status == 0
    assert output.startswith("adding to .venv: models, tests\n")
    assert "--extra models --extra notebooks --extra site --extra tests\n" in asked
    assert (root / ".venv" / "mine").exists()
    assert is_whole(root, ".venv-tests")
    assert is_whole(root)


@pytest.mark.parametrize("name", ["requirements.lock", "pyproject.toml"])
def test_it_is_made_anew_after_a_change_of_lock_or_project(root, name):
    make(root)
    with (root / name).open("a") as file:
        file.write("\n")
    assert "requirements.lock or pyproject.toml has changed" in make(root)[1]
    assert is_whole(root)


def test_it_is_made_anew_after_its_folder_was_moved(root):
    make(root)
    moved = root.rename(root.with_name("moved"))
    assert "making .venv: the folder" in make(moved)[1]
    assert is_whole(moved)


@pytest.mark.parametrize(
    ("damage", "fault"),
    [
        (lambda venv: (venv / "bin/python").unlink(), "its Python does not start"),
        (
            lambda venv: (venv / "complete.json").write_text("{cut"),
            "it is not complete",
        ),
        (lambda venv: (venv / "complete.json").unlink(), "it is not complete"),
        (
            lambda venv: (venv / "lib/python3.11/site-packages/tiny.py").unlink(),
            "files are missing or damaged of tiny",
        ),
        (
            lambda venv: (venv / "lib/python3.11/site-packages/tiny.py").write_text(""),
            "files are missing or damaged of tiny",
        ),
        (
            lambda venv: shutil.rmtree(
                venv / "lib/python3.11/site-packages/tiny-1.dist-info"
            ),
            "files are missing or damaged of tiny",
        ),
    ],
)
def test_what_is_damaged_is_made_anew(root, damage, fault):
    make(root)
    damage(root / ".venv")
    _, output, asked = make(root)
    assert f"making .venv: {fault}" in output
    # the cache may be damaged, too
    assert ("--no-cache" in asked) == fault.startswith(environment.DAMAGED)
    assert is_whole(root)


def test_another_version_under_the_same_name_is_noticed(root):
    make(root)
    _, output, _ = make(root, VERSION="3.11.9")
    assert "its Python was 3.11.7, and is now 3.11.9" in output


def test_another_python_makes_it_anew_only_if_it_is_named(root):
    make(root)
    assert is_whole(root)
    _, output, _ = make(root, PYTHON="./tool")
    asked = sys.version.split()[0]
    if asked == "3.11.7":
        assert output == ""
    else:
        assert f"its Python is 3.11.7, and {asked} was asked for" in output


@pytest.mark.parametrize("fails", ["/.venv/uv.txt", "--constraint"])
def test_packages_that_cannot_be_had_take_one_sentence(root, fails):
    status, output, _ = make(root, FAILS=fails)
    assert status != 0
    *_, words, make_says = output.splitlines()
    assert words.startswith("make: packages could not be installed: is there a conn")
    assert "Error 1" in make_says
    assert "it failed" in (root / ".venv" / "install.log").read_text()
    assert "it is not complete" in make(root)[1]


def test_a_failure_on_the_way_is_made_anew(root):
    status, output, _ = make(root, FAILS="--editable")
    assert status != 0
    assert "make: .venv could not be made: see above" in output
    assert "it is not complete" in make(root)[1]
    assert is_whole(root)


def test_a_home_that_cannot_be_written_to_is_told_before_anything_starts(root):
    (root / "file").touch()
    status, output, asked = make(root, HOME=str(root / "file"))
    assert status != 0
    assert "file/.cache cannot be written to: set HOME to a folder" in output
    assert not (root / ".venv").exists()
    assert "install" not in asked


def test_no_home_at_all_is_told_in_the_same_sentence(monkeypatch):
    def expanduser(path):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(environment.Path, "expanduser", expanduser)
    with pytest.raises(SystemExit, match=r"~/\.cache cannot be written to: set HOME"):
        environment.refuse_what_cannot_work()


def test_an_old_python_is_told_so(monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 9))
    with pytest.raises(SystemExit, match=r"Python 3\.11 or newer is needed, and .* is"):
        environment.refuse_what_cannot_work()


def test_uv_comes_from_the_lock_with_its_hashes_and_looks_where_pip_looks(root):
    _, _, asked = make(root)
    pin, *hashes = (root / ".venv" / "uv.txt").read_text().splitlines()
    assert pin.startswith("uv==")
    assert len(hashes) > 10
    assert all(line.startswith("    --hash=sha256:") for line in hashes)
    assert not hashes[-1].endswith("\\")
    _, _, after = asked.partition("uv pip install")
    assert "index: https://variable.example" in after.splitlines()[1]


def test_settings_that_install_elsewhere_are_left_out(root):
    tool = TOOL.replace("index: $UV", "target: $PIP_TARGET; index: $UV")
    (root / "tool").write_text(tool)
    _, _, asked = make(root, PIP_TARGET="/elsewhere")
    assert "/elsewhere" not in asked


def test_the_state_names_what_it_was_made_of(root):
    make(root)
    state = json.loads((root / ".venv" / "complete.json").read_text())
    assert state["extras"] == ["notebooks", "site"]
    assert state["packages"] == ["tiny-1.dist-info"]


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """Folder of a fresh environment with the wheel and only what it asks for."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d"]
    subprocess.run([*build, folder], cwd=paths.ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    uv = Path(sys.executable).with_name("uv")
    venv = folder / "venv"
    subprocess.run([uv, "venv", "--python", sys.executable, venv], check=True)
    install = [uv, "pip", "install", "--python", venv / "bin" / "python"]
    locked = ["--constraint", paths.ROOT / "requirements.lock"]
    subprocess.run([*install, *locked, "--system-certs", wheel], check=True)
    return venv / "bin"


def run_installed(folder: Path, home: Path, *arguments: str) -> str:
    """Run the command of the wheel with nothing of this project's settings."""
    run = subprocess.run(
        [folder / "ratings", *arguments],
        cwd=home,
        env={"PATH": str(folder), "HOME": str(home)},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def test_the_wheel_inspects_files_outside_the_clone(installed, tmp_path):
    rows = [f"i{n // 3},r{n % 3},{1 + n * 7 % 5},{n % 2}" for n in range(90)]
    (tmp_path / "mine.csv").write_text("\n".join(["item,rater,overall,tone", *rows]))
    said = run_installed(installed, tmp_path, "inspect", "mine.csv")
    assert "90 ratings of 30 items" in said
    # recipes come with it
    names = "system\tdoc\tseg_id\trater\tcategory\tseverity\n"
    errors = [f"s{n % 2}\td\t{n}\tr\tStyle\tMinor\n" for n in range(9)]
    (tmp_path / "errors.tsv").write_text(names + "".join(errors))
    said = run_installed(installed, tmp_path, "inspect", "errors.tsv")
    assert "recipe mqm" in said


@pytest.mark.skipif(
    (paths.DATA / "templates" / "sentences.yaml").exists(),
    reason="the templates of the page are not in the package yet",
)
def test_the_wheel_writes_a_report_outside_the_clone(installed, tmp_path):
    rows = [f"i{n // 3},r{n % 3},{1 + n * 7 % 5},{n % 2}" for n in range(90)]
    (tmp_path / "mine.csv").write_text("\n".join(["item,rater,overall,tone", *rows]))
    said = run_installed(installed, tmp_path, "report", "mine.csv")
    assert "1 question is open" in said
    page = (tmp_path / "mine.report.html").read_text()
    assert "overall" in page
    assert 'src="http' not in page
