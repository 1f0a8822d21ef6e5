"""Running notebooks, their parameters from text, new notebooks."""

import ast
import json
import logging
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import papermill
import pytest
from nbclient.exceptions import DeadKernelError

from helpers import paths
from helpers.data.tables import OptionError, PlainError
from helpers.run import notebooks as run
from helpers.run.code import run_code
from helpers.run.notebooks import parameter_values, parameters_of

KERNELSPEC = {"name": "python3", "display_name": "Python 3", "language": "python"}
BY_OPTION = {"data_source", "out_dir"}
BAD = ["", "many", "-1", "1e9", "1000000000000000", "nan", "[]", "{1}", "a\nb"]
NOTEBOOKS = {name: paths.NOTEBOOKS / f"{name}.ipynb" for name in run.notebook_names()}
KNOWN = {name: parameters_of(file) for name, file in NOTEBOOKS.items()}


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


@pytest.fixture
def inspected(monkeypatch):
    """Inspect each notebook once."""
    monkeypatch.setattr(
        "helpers.run.notebooks.parameters_of", lambda file: KNOWN[file.stem]
    )


def is_refused(file, parameter, text):
    """Tell whether a value is refused by a message that names the parameter."""
    try:
        parameter_values(file, {parameter: text})
    except OptionError as error:
        return str(error).startswith(f"{parameter} must be ")
    return False


@pytest.mark.usefixtures("inspected")
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_each_parameter_of_each_notebook_takes_its_default_and_refuses_something(name):
    for parameter, known in KNOWN[name].items():
        default = ast.literal_eval(known["default"])
        text = default if isinstance(default, str) else str(default).replace("'", '"')
        if parameter not in BY_OPTION and "figures/" not in text:
            value = parameter_values(NOTEBOOKS[name], {parameter: text})[parameter]
            assert value in (default, str(paths.ROOT / str(default)))
            assert type(value) is type(default)
        refused = [is_refused(NOTEBOOKS[name], parameter, bad) for bad in BAD]
        assert any(refused)


@pytest.mark.usefixtures("inspected")
@pytest.mark.parametrize(
    ("name", "parameter", "text", "must"),
    [
        (
            "11",
            "n_boot",
            "many",
            "a whole number from 1 to 100000, not 'many'; each replicate is",
        ),
        ("11", "n_boot", "50.5", "a whole number from 1 to 100000, not '50.5'"),
        ("11", "n_boot", "10**15", "a whole number from 1 to 100000"),
        ("11", "n_boot", "1" + "0" * 15, "a whole number from 1 to 100000"),
        ("11", "n_boot", "9" * 9999, "a whole number from 1 to 100000"),
        ("11", "n_boot", "0", "a whole number from 1 to 100000"),
        ("11", "seed", "-1", "a whole number from 0 to 4294967295"),
        ("11", "alpha", "inf", "a number above 0 up to 10, not 'inf'"),
        ("11", "alpha", "nan", "a number above 0 up to 10"),
        ("11", "alpha", "0", "a number above 0 up to 10"),
        ("30", "alpha", "1", "a number above 0 and below 1"),
        (
            "11",
            "outcome",
            "quality",
            "quality_unbiased or quality_biased, not 'quality'",
        ),
        ("24", "use_stemmer", "maybe", "True or False, not 'maybe'"),
        ("41", "agreements", "[0.1, 1.5]", "a JSON list: numbers from 0 and below 1"),
        ("41", "agreements", "0.1, 0.5", "a JSON list: numbers from 0 and below 1"),
        ("52", "raters", "[1, 2.5]", "a JSON list: whole numbers from 1 to 100"),
        ("52", "raters", '["3"]', "a JSON list: whole numbers"),
        ("52", "raters", "[true]", "a JSON list: whole numbers"),
        ("53", "aspects", '{"tone": 1}', "a JSON list: names of columns"),
        ("53", "aspects", '["tone", {}]', "a JSON list: names of columns"),
        (
            "53",
            "scales",
            '{"tone": [5, 1]}',
            "a JSON object: the lowest and highest mark",
        ),
        ("53", "scales", "[" * 9999, "a JSON object: the lowest and highest mark"),
        ("53", "ratings", "none.csv", "a file that can be read, not 'none.csv'"),
        ("53", "ratings", "data", "a file that can be read, not 'data'"),
        ("53", "ratings", "a" * 999, "a file that can be read"),
    ],
)
def test_what_does_not_fit_is_named_with_what_does(name, parameter, text, must):
    file = next(file for each, file in NOTEBOOKS.items() if each.startswith(name))
    with pytest.raises(OptionError) as error:
        parameter_values(file, {parameter: text})
    assert str(error.value).startswith(f"{parameter} must be {must}")
    assert len(str(error.value)) < 250


@pytest.mark.usefixtures("inspected")
def test_texts_become_values_of_their_kind():
    given = {"raters": "[2, 4]", "expert_share": "1", "n_sim": "7"}
    assert repr(parameter_values(NOTEBOOKS["52_study_design"], given)) == repr(
        {"raters": [2, 4], "expert_share": 1.0, "n_sim": 7}
    )
    assert parameter_values(
        NOTEBOOKS["24_automatic_evaluators"], {"use_stemmer": "True"}
    ) == {"use_stemmer": True}
    own = {"scales": '{"overall": [1, 5]}', "rater": "", "outcome": "Größe, cm"}
    assert parameter_values(NOTEBOOKS["53_your_ratings"], own) == own | {
        "scales": {"overall": [1, 5]}
    }


@pytest.mark.usefixtures("inspected")
def test_files_are_found_in_the_folder_of_the_caller_then_in_the_project(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    file = NOTEBOOKS["53_your_ratings"]
    example = {"ratings": str(paths.DATA / "example" / "ratings.csv")}
    assert parameter_values(file, {"ratings": "data/example/ratings.csv"}) == example
    mine = tmp_path / 'mine\'s "best" $HOME ünï.csv'
    mine.write_text("overall")
    assert parameter_values(file, {"ratings": mine.name}) == {"ratings": str(mine)}


@pytest.mark.usefixtures("inspected")
def test_unknown_parameters_given_as_text_are_refused_too():
    with pytest.raises(
        OptionError, match="11_error_weights has no parameter alfa: its param"
    ):
        parameter_values(NOTEBOOKS["11_error_weights"], {"alpha": "1", "alfa": "1"})


def test_parameters_of_a_notebook_of_ones_own_are_read_by_their_kind(tmp_path):
    code = "n: int = 3  # of something\nscale: float = 1.0\nnames: list = []\nbare = 1"
    cell = nbformat.v4.new_code_cell(code, metadata={"tags": ["parameters"]})
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(cells=[cell], metadata={"kernelspec": kernel})
    nbformat.write(notebook, tmp_path / "60_mine.ipynb")
    given = {"n": "5", "scale": "2", "names": json.dumps(["a", 1])}
    assert parameter_values(tmp_path / "60_mine.ipynb", given) == {
        "n": 5,
        "scale": 2.0,
        "names": ["a", 1],
    }
    for name, text, must in [
        ("n", "x", "a whole number"),
        ("scale", "inf", "a number"),
        ("bare", "2", "annotated in the notebook"),
    ]:
        with pytest.raises(OptionError, match=f"^{name} must be {must}"):
            parameter_values(tmp_path / "60_mine.ipynb", {name: text})


def test_a_new_notebook_has_the_cells_that_all_have_in_good_style_and_runs_at_once(
    tmp_path, monkeypatch, capsys
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
    assert capsys.readouterr().out.startswith("source: simulated\n")
    assert (tmp_path / "run" / "figures" / "70_weights.png").is_file()


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
