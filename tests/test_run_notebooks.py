"""Running notebooks, and new notebooks."""

import logging
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import papermill
import pytest
from nbclient.exceptions import DeadKernelError
from notebook_code import run_code

from helpers import paths
from helpers.data.tables import OptionError, PlainError
from helpers.run import __main__ as one
from helpers.run import notebooks as run

KERNELSPEC = {"name": "python3", "display_name": "Python 3", "language": "python"}


@pytest.fixture
def tiny(tmp_path) -> Path:
    """Notebook with two parameters that prints in parts."""
    parameters = 'out_dir: str = "build"  # folder\nalpha: float = 1.0  # anything'
    parts = (
        "import time\n"
        "print(alpha, flush=True)\n"
        "time.sleep(0.5)\n"
        "print(out_dir, flush=True)"
    )
    cells = [
        nbformat.v4.new_code_cell(parameters, metadata={"tags": ["parameters"]}),
        nbformat.v4.new_code_cell(parts),
    ]
    notebook = nbformat.v4.new_notebook(
        cells=cells, metadata={"kernelspec": KERNELSPEC}
    )
    nbformat.write(notebook, tmp_path / "10_tiny.ipynb")
    return tmp_path / "10_tiny.ipynb"


def fail_with(monkeypatch, *errors: Exception) -> list:
    """Make papermill raise these errors in turn, then succeed; give its calls."""
    calls = []
    waiting = list(errors)

    def execute_notebook(notebook, target, parameters, **options):
        calls.append(parameters)
        target.write_text("executed")
        if waiting:
            raise waiting.pop(0)

    monkeypatch.setattr(papermill, "execute_notebook", execute_notebook)
    return calls


def test_unknown_parameters_are_refused_with_the_names_of_those_that_exist(tiny):
    target = tiny.with_name("out.ipynb")
    with pytest.raises(
        OptionError, match="10_tiny has no parameter alfa: its parameters "
    ):
        run.execute(tiny, target, {"alpha": 1, "alfa": 1})
    assert not target.exists()


def test_an_executed_notebook_holds_parameters_and_outputs(tiny, capfd):
    target = tiny.parent / "new" / "out.ipynb"
    run.execute(tiny, target, {"out_dir": "run", "alpha": 2.5})
    outputs = nbformat.read(target, as_version=4).cells[-1].outputs
    assert [output.text for output in outputs] == ["2.5\nrun\n"]
    assert [file.name for file in target.parent.iterdir()] == ["out.ipynb"]
    assert capfd.readouterr().err == ""


def test_a_failed_notebook_names_cell_and_error_and_leaves_no_finished_copy(
    tiny, monkeypatch
):
    message = "\n".join(map(str, range(61)))
    fail_with(
        monkeypatch,
        papermill.PapermillExecutionError(2, 3, "", "ValueError", message, []),
    )
    with pytest.raises(PlainError) as failure:
        run.execute(tiny, tiny.with_name("out.ipynb"), {})
    first, second, *others = str(failure.value).splitlines()
    assert re.fullmatch(
        r"10_tiny stopped in cell In \[3\] of .*out\.unfinished\.ipynb", first
    )
    assert second == "    ValueError: 0"
    assert others[-2:] == ["    59", "    …"]
    assert not tiny.with_name("out.ipynb").exists()


def test_a_kernel_that_dies_before_the_first_cell_is_started_once_more(
    tiny, monkeypatch
):
    calls = fail_with(monkeypatch, RuntimeError("died"))
    run.execute(tiny, tiny.with_name("out.ipynb"), {"alpha": 2})
    assert calls == [{"alpha": 2}, {"alpha": 2}]
    fail_with(monkeypatch, RuntimeError("died"), RuntimeError("again"))
    with pytest.raises(PlainError, match="its kernel, which did not start\n    again"):
        run.execute(tiny, tiny.with_name("new.ipynb"), {})


def test_a_kernel_that_dies_in_a_cell_is_given_up(tiny, monkeypatch):
    calls = fail_with(monkeypatch, DeadKernelError("died"))
    message = r"10_tiny stopped in a cell; .*out.unfinished.ipynb shows.*\n"
    with pytest.raises(PlainError, match=message + "    the kernel died"):
        run.execute(tiny, tiny.with_name("out.ipynb"), {})
    assert len(calls) == 1


def test_a_notebook_that_is_stopped_leaves_no_copy(tiny, monkeypatch):
    fail_with(monkeypatch, KeyboardInterrupt())
    monkeypatch.setattr(logging.getLogger("asyncio"), "disabled", False)
    with pytest.raises(KeyboardInterrupt):
        run.execute(tiny, tiny.parent / "new" / "out.ipynb", {})
    assert list((tiny.parent / "new").iterdir()) == []


def test_a_notebook_can_be_stopped_before_anything_is_written(tiny, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(papermill, "execute_notebook", stop)
    monkeypatch.setattr(logging.getLogger("asyncio"), "disabled", False)
    with pytest.raises(KeyboardInterrupt):
        run.execute(tiny, tiny.parent / "out.ipynb", {})


def test_a_new_notebook_has_the_cells_that_all_have_in_good_style_and_runs_at_once(
    tmp_path, monkeypatch
):
    file = run.create("70_my_study", tmp_path)
    notebook = nbformat.read(file, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert notebook.cells[0].source.startswith("# 70_my_study")
    assert not any(
        re.search(r"\b(NAME|NUMBER|def|class)\b", cell.source) for cell in code
    )
    for check in (["check"], ["format", "--check"]):
        ruff = [sys.executable, "-m", "ruff", *check, "--no-cache"]
        config = ["--config", "pyproject.toml"]
        done = subprocess.run(
            [*ruff, *config, str(file)], capture_output=True, cwd=paths.ROOT
        )
        assert done.returncode == 0, done.stdout.decode()
    monkeypatch.setattr(paths, "NOTEBOOKS", tmp_path)
    run_code(file, {"out_dir": str(tmp_path / "run"), "n_boot": 50})
    assert (tmp_path / "run" / "figures" / "70_weights.png").is_file()
    results = (tmp_path / "run" / "results" / "70_my_study.csv").read_text()
    assert "example.weights.factuality" in results


@pytest.mark.parametrize(
    "name", ["", "6_study", "01_study", "60_My", "60_a/b", "60_s\n"]
)
def test_a_name_of_another_form_is_refused(tmp_path, name):
    message = f"a notebook cannot be called {name!r}: give two digits, the first"
    with pytest.raises(OptionError, match=re.escape(message)):
        run.create(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_number_that_is_taken_is_refused_and_nothing_is_overwritten(tmp_path):
    (tmp_path / "70_other.ipynb").write_text("mine")
    with pytest.raises(
        OptionError, match="the number 70 is that of 70_other, whose fig"
    ):
        run.create("70_my_study", tmp_path)
    assert [file.read_text() for file in tmp_path.iterdir()] == ["mine"]


def test_copies_of_a_notebook_are_not_notebooks_of_the_project(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "NOTEBOOKS", tmp_path)
    (tmp_path / "appendix").mkdir()
    for name in ("11_a", "appendix/16_b", "11_a-Copy1", "Untitled", "12_c.unfinished"):
        (tmp_path / f"{name}.ipynb").touch()
    assert run.notebook_names() == ["11_a", "16_b"]


@pytest.fixture
def one_off(tiny, tmp_path, monkeypatch):
    """Run the tiny notebook as `make notebook` does."""
    monkeypatch.setattr(paths, "NOTEBOOKS", tmp_path)
    monkeypatch.setattr(run.os, "environ", dict(run.os.environ))
    monkeypatch.setattr(one, "FOLDER", str(tmp_path / "one-off"))
    return one.main


def test_one_notebook_runs_with_other_values_and_ends_with_its_page(one_off, capsys):
    page = one_off(["10_tiny", "-p", "alpha", "2.5"])
    *_, finished, path = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"10_tiny: finished in \d+\.\d s", finished)
    assert path == str(page)
    assert "2.5" in page.read_text()


def test_a_page_keeps_alt_texts(one_off, tiny):
    notebook = nbformat.read(tiny, as_version=4)
    notebook.cells[1].source = (
        "from IPython.display import display\n"
        "metadata = {'image/png': {'alt': 'Two < three.'}}\n"
        "display({'image/png': 'AAAA'}, raw=True, metadata=metadata)"
    )
    nbformat.write(notebook, tiny)
    assert 'alt="Two &lt; three."' in one_off(["10_tiny"]).read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["10_tin"], "there is no notebook '10_tin': choose from 10_tiny"),
        (["10_tiny", "-p", "alfa", "1"], "10_tiny has no parameter alfa: its param"),
        (["10_tiny", "-p", "alpha", "{"], "alpha: '{' cannot be read as a value"),
    ],
)
def test_what_cannot_run_is_said_before_a_kernel_starts(one_off, arguments, words):
    with pytest.raises(OptionError, match=re.escape(words)):
        one_off(arguments)
