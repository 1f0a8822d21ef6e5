"""The environment is complete or absent, and faults are told in a sentence."""

import ast
import base64
import fcntl
import hashlib
import importlib.util
import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from helpers import paths

FILE = paths.ROOT / "install.py"
SPEC = importlib.util.spec_from_file_location("install", FILE)
install = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(install)


class Small(install.Environment):
    """An environment whose only package is written by hand; `fails` says which ways to it fail."""

    fails = ()

    def by_uv(self):
        self.write_package("by_uv")

    def by_pip(self):
        self.write_package("by_pip")

    def add_project(self):
        """Nothing."""

    def write_package(self, way: str) -> None:
        if way in self.fails:
            raise install.Failed(f"{way}: No space left on device")
        content = f"way = {way!r}\n".encode()
        value = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
        (self.site() / "one.py").write_bytes(content)
        described = self.site() / "one-1.0.dist-info"
        described.mkdir()
        rows = [f"one.py,sha256={value},{len(content)}", "one-1.0.dist-info/RECORD,,", ""]
        (described / "RECORD").write_text("\n".join(rows))


@pytest.fixture
def root(tmp_path, monkeypatch) -> Path:
    """Folder of a project without an environment; one is made without pip."""

    def run_without_pip(command, settings=()):
        if "venv" in command:
            return venv.create(command[-1], symlinks=True)
        return "" if "ensurepip" in command else run(command, settings)

    run = install.run
    monkeypatch.setattr(install, "run", run_without_pip)
    monkeypatch.setenv("PYTHON", sys.executable)
    root = tmp_path / "it's $HOME"
    root.mkdir()
    (root / "requirements.lock").write_text("one==1.0\n")
    (root / "pyproject.toml").write_text("[project]\n")
    return root


@pytest.fixture
def environment(root) -> Small:
    """A complete environment."""
    environment = Small(root)
    environment.ensure()
    return environment


def test_a_complete_environment_is_left_alone(environment, capsys):
    assert ".venv is" not in capsys.readouterr().out
    environment.by_uv = environment.by_pip = None
    environment.ensure(thorough=True)
    assert capsys.readouterr().out == ""


def damage(environment: Small, how: str) -> None:
    """Do what an interruption or a person might."""
    module, described = environment.site() / "one.py", environment.site() / "one-1.0.dist-info"
    actions = {
        "file gone": module.unlink,
        "file cut": lambda: module.write_text(""),
        "file changed": lambda: module.write_text(module.read_text().replace("uv", "vu")),
        "RECORD gone": lambda: (described / "RECORD").unlink(),
        "RECORD cut": lambda: (described / "RECORD").write_text("one-1.0.dist-info/RECORD,,\n"),
        "RECORD is not text": lambda: (described / "RECORD").write_bytes(b"\xff\0,\n"),
        "no marker": environment.marker.unlink,
        "marker cut": lambda: environment.marker.write_text("{"),
        "other lock": lambda: environment.lock.write_text("one==1.1\n"),
        "no Python": lambda: Path(environment.python).unlink(),
        "no pyvenv.cfg": lambda: (environment.folder / "pyvenv.cfg").unlink(),
    }
    actions[how]()


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("file gone", "damaged (one-1.0)"),
        ("file cut", "damaged (one-1.0)"),
        ("file changed", "damaged (one-1.0)"),
        ("RECORD gone", "damaged (one-1.0)"),
        ("RECORD cut", "damaged (one-1.0)"),
        ("RECORD is not text", "damaged (one-1.0)"),
        ("no marker", "unfinished"),
        ("marker cut", "unfinished"),
        ("other lock", "made for another folder or another requirements.lock"),
        ("no Python", "without its Python"),
        ("no pyvenv.cfg", "without its Python"),
    ],
)
def test_what_is_not_complete_is_noticed(environment, how, said):
    damage(environment, how)
    assert environment.fault(thorough=False) == said


def test_what_is_not_complete_is_built_anew(environment, capsys):
    damage(environment, "file gone")
    environment.ensure()
    assert ".venv is damaged (one-1.0): building it" in capsys.readouterr().out
    assert environment.fault(thorough=True) == ""


def test_only_a_thorough_look_notices_a_change_that_hides_its_time(environment):
    module = environment.site() / "one.py"
    before = module.stat()
    damage(environment, "file changed")
    os.utime(module, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert environment.fault(thorough=False) == ""
    assert environment.fault(thorough=True) == "damaged (one-1.0)"


def test_a_moved_checkout_gets_an_environment_of_its_own(environment, capsys):
    moved = environment.root.rename(environment.root.with_name("-moved"))
    Small(moved).ensure()
    assert "made for another folder" in capsys.readouterr().out
    assert Small(moved).fault(thorough=True) == ""


def test_if_uv_fails_pip_installs(root):
    environment = Small(root)
    environment.fails = ["by_uv"]
    environment.ensure()
    assert (environment.site() / "one.py").read_text() == "way = 'by_pip'\n"


def test_if_both_fail_nothing_is_left(root, monkeypatch):
    monkeypatch.setattr(install, "Environment", lambda _: environment)
    environment = Small(root)
    environment.fails = ["by_uv", "by_pip"]
    assert install.main([]).startswith("The disk is full: make 2 GB free")
    assert not environment.folder.exists()


def test_if_pip_reaches_no_index_it_is_not_asked_again(root):
    def unreachable():
        raise install.Failed("WARNING: Retrying after NewConnectionError\nERROR: No matching x")

    environment = Small(root)
    environment.by_uv, environment.by_pip = unreachable, None
    with pytest.raises(install.Failed, match="No matching"):
        environment.ensure()
    assert not environment.folder.exists()


def test_packages_that_differ_from_their_record_never_count(root):
    environment = Small(root)
    environment.add_project = lambda: damage(environment, "file cut")
    with pytest.raises(install.Failed, match=r"not as recorded: one-1\.0"):
        environment.ensure()
    assert not environment.folder.exists()


def test_a_file_in_place_of_the_folder_is_not_deleted(root, monkeypatch):
    (root / ".venv").write_text("mine")
    monkeypatch.setattr(install, "Environment", lambda _: Small(root))
    assert install.main([]).startswith(".venv is a file or a link, not a folder: move it")
    assert (root / ".venv").read_text() == "mine"


@pytest.mark.parametrize("name", ["a:b", "a\nb", "a\udce9b"])
def test_a_path_in_which_python_makes_no_environment_is_refused(root, name):
    odd = root.rename(root.with_name(name))
    with pytest.raises(install.Stop, match="has a colon or odd bytes: rename it, then run make"):
        Small(odd).ensure()


def test_too_little_disk_is_told_before_anything_is_installed(root, monkeypatch):
    monkeypatch.setattr(install, "DISK", 10**9)
    with pytest.raises(install.Stop, match=r"GB of disk are free: free 1000000000 GB, then run"):
        Small(root).ensure()


def test_doctor_reports_and_an_interruption_takes_one_line(environment, capsys, monkeypatch):
    monkeypatch.setattr(install, "Environment", lambda _: environment)
    capsys.readouterr()
    assert not install.main(["doctor"])
    assert "complete: every file of 1 packages is as recorded" in capsys.readouterr().out

    def interrupt(thorough):
        raise KeyboardInterrupt

    environment.ensure = interrupt
    assert install.main([]) == 130
    assert capsys.readouterr().err == "Interrupted: run make again.\n"


def test_uv_comes_from_the_lock_with_its_hashes_and_learns_where_pip_looks(root, monkeypatch):
    commands = []

    def answer(command, settings=()):
        commands.append((command, settings))
        return (
            ":env:.index-url='https://first.example/simple'\n"
            "global.extra-index-url='https://a.example\\nhttps://b.example'\n"
            "global.index-url='https://second.example/simple'\n"
            "global.timeout='60'"
        )

    monkeypatch.setattr(install, "run", answer)
    environment = install.Environment(root)
    environment.folder.mkdir()
    environment.lock.write_text((paths.ROOT / "requirements.lock").read_text())
    environment.by_uv()
    lines = (environment.folder / "uv.txt").read_text().splitlines()
    assert re.fullmatch(r"uv==[\d.]+ \\", lines[0])
    assert all(re.match(r"    --hash=sha256:[0-9a-f]{64}( \\)?$", line) for line in lines[1:])
    assert len(lines) > 10
    assert not lines[-1].endswith("\\")
    assert commands[0][0][-3:] == ["--require-hashes", "-r", str(environment.folder / "uv.txt")]
    assert commands[-1][1] == {
        "UV_DEFAULT_INDEX": "https://first.example/simple",
        "UV_INDEX": "https://a.example https://b.example",
    }


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("OSError: [Errno 28] No space left on device", "The disk is full"),
        ("error: failed to write to file: File too large (os error 27)", "The disk is full"),
        ("[Errno 13] Permission denied: '/there/.venv'", "A folder cannot be written"),
        ("error: Read-only file system (os error 30)", "A folder cannot be written"),
        ("tcp connect error: Connection refused (os error 111)", "The index cannot be reached"),
        ("dns error: failed to lookup address information", "The index cannot be reached"),
        ("ERROR: No matching distribution found for x==1", "The index cannot be reached or lacks"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES", "The index sends other files"),
        ("ERROR: something new", "The environment could not be built: mend what is said below"),
    ],
)
def test_faults_are_told_with_what_to_do(line, said):
    sentence, quoted = install.explain(f"first\n{line}\n").splitlines()
    assert sentence.startswith(said)
    assert sentence.endswith(", then run make again.")
    assert quoted == f"    {line}"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("is 3.9.18", "but {} is 3.9.18: install it"),
        ("lacks ensurepip (Debian: python3-venv)", "but {} lacks ensurepip (Debian: python3-venv)"),
        ("", "but there is no python3: install it"),
    ],
)
def test_a_python_that_is_missing_old_or_incomplete_is_named(tmp_path, monkeypatch, answer, said):
    python = tmp_path / "python3"
    if answer:
        python.write_text(f"#!/bin/sh\necho '{answer}'\nexit 1\n")
        python.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("PYTHON", raising=False)
    with pytest.raises(install.Stop) as stop:
        install.find_python(tmp_path / "bin")
    assert f"Python 3.11 or newer is needed, {said.format(python)}" in str(stop.value)


def test_the_python_of_the_environment_itself_is_not_used_to_build_it(tmp_path, monkeypatch):
    (tmp_path / "python3").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("PYTHON", raising=False)
    assert install.find_python(Path("elsewhere"))[0] == str(tmp_path / "python3")
    with pytest.raises(install.Stop, match="there is no python3"):
        install.find_python(tmp_path)


def test_an_old_python_can_read_the_file():
    assert ast.parse(FILE.read_text(), feature_version=(3, 7))


def test_a_second_make_waits_and_says_so(tmp_path):
    code = (
        f"import sys; sys.path.insert(0, {str(paths.ROOT)!r}); import install, pathlib\n"
        "with install.alone(pathlib.Path(sys.argv[1])): print('inside')"
    )
    command = [sys.executable, "-c", code, tmp_path]
    with install.alone(tmp_path):
        second = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert second.stdout.readline() == "Another make is building .venv: waiting for it\n"
    assert second.communicate()[0] == "inside\n"


def test_a_program_that_outlives_us_keeps_the_lock(tmp_path):
    with install.alone(tmp_path):
        orphan = subprocess.Popen(["cat"], stdin=subprocess.PIPE, close_fds=False)
    folder = os.open(tmp_path, os.O_RDONLY)
    with pytest.raises(BlockingIOError):
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    orphan.communicate()
    fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(folder)


def test_settings_that_install_elsewhere_are_left_out(monkeypatch):
    monkeypatch.setenv("PIP_TARGET", "/elsewhere")
    monkeypatch.setenv("PIP_INDEX_URL", "https://index.example")
    said = install.run([sys.executable, "-c", "import os; print(sorted(os.environ))"])
    assert "'PIP_INDEX_URL'" in said
    assert "PIP_TARGET" not in said
