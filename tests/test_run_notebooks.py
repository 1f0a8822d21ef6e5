"""Running notebooks, and starting new ones."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import papermill
import pytest
from click.testing import CliRunner
from nbclient.exceptions import DeadKernelError
from notebook_code import run_code

from helpers import paths
from helpers.data.tables import OptionError
from helpers.run import __main__ as commands
from helpers.run import notebooks

SPEC = {"name": "python3", "display_name": "Python 3", "language": "python"}


def write(folder: Path, name: str, *cells: str) -> Path:
    """Write a notebook with one parameter."""
    code = [nbformat.v4.new_code_cell(cell) for cell in cells]
    parameter = "alpha: float = 1.0  # anything"
    tagged = nbformat.v4.new_code_cell(parameter, metadata={"tags": ["parameters"]})
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_markdown_cell(f"# {name}"), tagged, *code],
        metadata={"kernelspec": SPEC},
    )
    nbformat.write(notebook, folder / f"{name}.ipynb")
    return folder / f"{name}.ipynb"


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    """A folder of notebooks, and one where runs go."""
    monkeypatch.setattr(paths, "NOTEBOOKS", tmp_path)
    monkeypatch.setattr(paths, "BUILD", tmp_path / "build")
    return tmp_path


def fail_with(monkeypatch, *errors: Exception) -> list:
    """Make papermill raise these errors in turn, then succeed; give its calls."""
    calls = []
    waiting = list(errors)

    def execute_notebook(notebook, target, parameters, **options):
        calls.append(parameters)
        if waiting:
            raise waiting.pop(0)

    monkeypatch.setattr(papermill, "execute_notebook", execute_notebook)
    return calls


def test_notebooks_run_side_by_side_and_each_says_how_it_ended(project, capsys):
    write(project, "10_good", "print(alpha)")
    write(project, "11_bad", "1 / 0")
    outcomes = notebooks.run_all(["10_good", "11_bad"], "auto")
    good, bad = outcomes
    assert good.finished
    assert not bad.finished
    assert bad.error.startswith("ZeroDivisionError in cell [2] of ")
    lines = capsys.readouterr().out.splitlines()
    assert "10_good: started" in lines
    assert any(re.fullmatch(r"10_good: finished in \d+ s", line) for line in lines)
    assert any(line.startswith("11_bad: FAILED. ZeroDivision") for line in lines)
    executed = nbformat.read(notebooks.executed("10_good"), as_version=4)
    assert executed.cells[-1].outputs[0].text == "1.0\n"


def test_what_an_earlier_run_left_is_gone_before_a_notebook_fails(project, monkeypatch):
    write(project, "11_bad")
    left = [project / "build" / "notebooks" / "11_bad.ipynb"]
    left.append(project / "build" / "figures" / "11_old.png")
    left.append(project / "build" / "results" / "11_bad.csv")
    kept = project / "build" / "figures" / "12_other.png"
    for file in (*left, kept):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    fail_with(monkeypatch, DeadKernelError("died"))
    outcome = notebooks.run("11_bad", {})
    assert outcome.error.startswith("its kernel died")
    assert not any(file.exists() for file in left)
    assert kept.exists()


def test_a_kernel_that_does_not_start_is_started_once_more(project, monkeypatch):
    write(project, "10_a")
    calls = fail_with(monkeypatch, RuntimeError("port taken"))
    assert notebooks.run("10_a", {"alpha": 2}).finished
    assert calls == [{"alpha": 2}, {"alpha": 2}]
    fail_with(monkeypatch, RuntimeError("port taken"), RuntimeError("again"))
    assert notebooks.run("10_a", {}).error == "its kernel did not start: again"


def test_a_notebook_without_data_is_left_out_not_failed(project, monkeypatch):
    write(project, "60_a")
    error = papermill.PapermillExecutionError(
        1, 2, "", "NoDataError", "no simulator", []
    )
    fail_with(monkeypatch, error)
    outcome = notebooks.run("60_a", {})
    assert outcome.left_out
    assert outcome.error == "no simulator"


def test_a_run_that_is_killed_leaves_whole_files_only(project):
    write(project, "10_slow", "import time; print('x' * 10**6)", "time.sleep(60)")
    target = project / "build" / "notebooks" / "10_slow.ipynb"
    command = [sys.executable, "-m", "papermill", "10_slow.ipynb"]
    run = subprocess.Popen(
        [*command, "build/notebooks/10_slow.ipynb", "--no-progress-bar"],
        cwd=project,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while not target.is_file() and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    assert nbformat.read(target, as_version=4).cells


def test_the_appendix_has_a_folder_of_its_own(project):
    (project / "appendix").mkdir()
    write(project / "appendix", "41_a")
    place = project / "build" / "notebooks" / "appendix" / "41_a.ipynb"
    assert notebooks.executed("41_a") == place


def test_copies_of_a_notebook_are_not_notebooks_of_the_project(project):
    for name in ("11_a", "11_a-Copy1", "Untitled"):
        write(project, name)
    assert list(notebooks.notebook_files()) == ["11_a"]


def test_one_notebook_runs_with_other_values_and_ends_with_its_page(project):
    write(project, "10_tiny", "print(alpha)")
    done = CliRunner().invoke(commands.main, ["one", "10_tiny", "-p", "alpha", "2.5"])
    assert done.exception is None
    page = notebooks.executed("10_tiny").with_suffix(".html")
    assert "2.5" in page.read_text()
    assert done.output.splitlines()[-1].endswith("10_tiny.html")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["10_tin"], "there is no notebook '10_tin': choose from 10_tiny"),
        (["10_tiny", "-p", "alfa", "1"], "10_tiny has no parameter alfa: its param"),
        (["10_tiny", "-p", "alpha", "{"], "alpha: '{' cannot be read as a value"),
    ],
)
def test_what_cannot_run_is_said_before_a_kernel_starts(project, arguments, words):
    write(project, "10_tiny")
    done = CliRunner().invoke(commands.main, ["one", *arguments])
    assert isinstance(done.exception, OptionError)
    assert str(done.exception).startswith(words)
    assert not (project / "build" / "notebooks").exists()


def test_a_new_notebook_is_in_good_style_and_runs_at_once(project):
    file = notebooks.create("70_my_study")
    notebook = nbformat.read(file, as_version=4)
    nbformat.validate(notebook)
    assert notebook.cells[0].source.startswith("# 70_my_study")
    for check in (["check"], ["format", "--check"]):
        ruff = [sys.executable, "-m", "ruff", *check, "--no-cache"]
        config = ["--config", "pyproject.toml"]
        done = subprocess.run(
            [*ruff, *config, str(file)], capture_output=True, cwd=paths.ROOT
        )
        assert done.returncode == 0, done.stdout.decode()
    run_code(file, {"n_boot": 50})
    assert (paths.BUILD / "figures" / "70_weights.png").is_file()


@pytest.mark.parametrize("name", ["", "6_study", "01_study", "60_My", "60_a/b"])
def test_a_name_of_another_form_is_refused(project, name):
    message = f"a notebook cannot be called {name!r}: give two digits, the first"
    with pytest.raises(OptionError, match=re.escape(message)):
        notebooks.create(name)
    assert list(project.iterdir()) == []


def test_a_number_that_is_taken_is_refused(project):
    write(project, "70_other")
    with pytest.raises(OptionError, match="the number 70 is that of 70_other"):
        notebooks.create("70_my_study")
    assert [file.name for file in project.iterdir()] == ["70_other.ipynb"]
