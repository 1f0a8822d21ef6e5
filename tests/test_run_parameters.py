"""Parameters from text: their kinds and limits, in all notebooks."""

import ast
import json

import nbformat
import pytest

from helpers import paths
from helpers.run import notebooks as run
from helpers.run.parameters import ParameterError, checked, list_all

BY_OPTION = {"data_source", "out_dir"}
BAD = ["", "many", "-1", "1e9", "1000000000000000", "nan", "[]", "{1}", "a\nb"]
NOTEBOOKS = {name: paths.NOTEBOOKS / f"{name}.ipynb" for name in run.notebook_names()}
KNOWN = {name: list_all(file) for name, file in NOTEBOOKS.items()}


@pytest.fixture(autouse=True)
def inspected(monkeypatch):
    """Inspect each notebook once."""
    monkeypatch.setattr("helpers.run.parameters.list_all", lambda file: KNOWN[file.stem])


def is_refused(file, parameter, text):
    """Tell whether a value is refused by a message that names the parameter."""
    try:
        checked(file, {parameter: text})
    except ParameterError as error:
        return str(error).startswith(f"{parameter} must be ")
    return False


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_each_parameter_of_each_notebook_takes_its_default_and_refuses_something(name):
    for parameter, known in KNOWN[name].items():
        default = ast.literal_eval(known["default"])
        text = default if isinstance(default, str) else str(default).replace("'", '"')
        if parameter not in BY_OPTION and "figures/" not in text:
            value = checked(NOTEBOOKS[name], {parameter: text})[parameter]
            assert value in (default, str(paths.ROOT / str(default)))
            assert type(value) is type(default)
        refused = [is_refused(NOTEBOOKS[name], parameter, bad) for bad in BAD]
        assert any(refused)


@pytest.mark.parametrize(
    ("name", "parameter", "text", "must"),
    [
        ("11", "n_boot", "many", "a whole number from 1 to 100000, not 'many'; each replicate is"),
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
        ("11", "outcome", "quality", "quality_unbiased or quality_biased, not 'quality'"),
        ("11", "out_dir", "mine", "given as --out"),
        ("30", "data_source", "real", "given as --data"),
        ("24", "use_stemmer", "maybe", "True or False, not 'maybe'"),
        ("41", "agreements", "[0.1, 1.5]", "a JSON list: numbers from 0 and below 1"),
        ("41", "agreements", "0.1, 0.5", "a JSON list: numbers from 0 and below 1"),
        ("52", "raters", "[1, 2.5]", "a JSON list: whole numbers from 1 to 100"),
        ("52", "raters", '["3"]', "a JSON list: whole numbers"),
        ("52", "raters", "[true]", "a JSON list: whole numbers"),
        ("53", "aspects", '{"tone": 1}', "a JSON list: names of columns"),
        ("53", "aspects", '["tone", {}]', "a JSON list: names of columns"),
        ("53", "scales", '{"tone": [5, 1]}', "a JSON object: the lowest and highest mark"),
        ("53", "scales", "[" * 9999, "a JSON object: the lowest and highest mark"),
        ("53", "ratings", "none.csv", "a file that can be read, not 'none.csv'"),
        ("53", "ratings", "data", "a file that can be read, not 'data'"),
        ("53", "ratings", "a" * 999, "a file that can be read"),
    ],
)
def test_what_does_not_fit_is_named_with_what_does(name, parameter, text, must):
    file = next(file for each, file in NOTEBOOKS.items() if each.startswith(name))
    with pytest.raises(ParameterError) as error:
        checked(file, {parameter: text})
    assert str(error.value).startswith(f"{parameter} must be {must}")
    assert len(str(error.value)) < 250


def test_texts_become_values_of_their_kind():
    given = {"raters": "[2, 4]", "expert_share": "1", "n_sim": "7", "coverage_file": ""}
    assert repr(checked(NOTEBOOKS["52_study_design"], given)) == repr(
        {"raters": [2, 4], "expert_share": 1.0, "n_sim": 7, "coverage_file": ""}
    )
    assert checked(NOTEBOOKS["24_automatic_evaluators"], {"use_stemmer": "True"}) == {
        "use_stemmer": True
    }
    own = {"scales": '{"overall": [1, 5]}', "rater": "", "outcome": "Größe, cm"}
    assert checked(NOTEBOOKS["53_your_ratings"], own) == own | {"scales": {"overall": [1, 5]}}


def test_files_are_found_in_the_folder_of_the_caller_then_in_the_project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = NOTEBOOKS["53_your_ratings"]
    example = {"ratings": str(paths.DATA / "example" / "ratings.csv")}
    assert checked(file, {"ratings": "data/example/ratings.csv"}) == example
    mine = tmp_path / 'mine\'s "best" $HOME ünï.csv'
    mine.write_text("overall")
    assert checked(file, {"ratings": mine.name}) == {"ratings": str(mine)}


def test_unknown_parameters_are_refused_with_the_names_of_those_that_exist():
    with pytest.raises(ParameterError, match="11_error_weights has no parameter alfa: its param"):
        checked(NOTEBOOKS["11_error_weights"], {"alpha": "1", "alfa": "1"})


def test_parameters_of_a_notebook_of_ones_own_are_read_by_their_kind(tmp_path, monkeypatch):
    monkeypatch.undo()
    code = "n: int = 3  # of something\nscale: float = 1.0\nnames: list = []\nbare = 1"
    cell = nbformat.v4.new_code_cell(code, metadata={"tags": ["parameters"]})
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(cells=[cell], metadata={"kernelspec": kernel})
    nbformat.write(notebook, tmp_path / "60_mine.ipynb")
    given = {"n": "5", "scale": "2", "names": json.dumps(["a", 1])}
    assert checked(tmp_path / "60_mine.ipynb", given) == {"n": 5, "scale": 2.0, "names": ["a", 1]}
    for name, text, must in [
        ("n", "x", "a whole number"),
        ("scale", "inf", "a number"),
        ("bare", "2", "annotated in the notebook"),
    ]:
        with pytest.raises(ParameterError, match=f"^{name} must be {must}"):
            checked(tmp_path / "60_mine.ipynb", {name: text})
