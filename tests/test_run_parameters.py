"""Parameters: what is refused, what is announced, whether data are real."""

import pytest

from helpers import marks, paths, run
from helpers.data import registry
from helpers.data.tables import OptionError
from helpers.run import parameters

NAME = "11_example"
DEFAULTS = """notebook,parameter,default
11_example,alpha,0.01
11_example,aggregation,"""
RULES = {"alpha": (0.001, 10), "aggregation": ["mode", "mean"]}


@pytest.fixture(autouse=True)
def defaults(tmp_path, monkeypatch):
    """Parameters of the last refresh of an example."""
    monkeypatch.setattr(paths, "RESULTS", tmp_path)
    text = DEFAULTS + '"""mode"""\n11_example,raters,"[1, 2]"\n'
    (tmp_path / "parameters.csv").write_text(text)


@pytest.fixture
def source(monkeypatch):
    """Let the registry answer as asked for, or "real" for "auto"."""
    asked = []

    def resolve(studies, choice):
        asked.append((list(studies), choice))
        kind = "real" if choice == "auto" else choice
        reason = "asked for" if kind == "simulated" else ""
        return registry.Source(kind, reason)

    monkeypatch.setattr(registry, "resolve", resolve)
    return asked


def checked(changes=(), rules=RULES, **options) -> dict:
    """Values of a notebook after its check."""
    values = {"alpha": 0.01, "aggregation": "mode"} | dict(changes)
    run.check(NAME, values, **options, **rules)
    return values


def test_defaults_on_real_data_show_nothing(source, capfd):
    values = checked({"data_source": "auto"})
    assert values["data_source"] == "real"
    assert source == [(["hosking"], "auto")]
    assert marks.current() == marks.Run(NAME)
    assert capfd.readouterr() == ("", "")


def test_a_changed_value_is_announced_whatever_the_file_says(capfd):
    checked({"alpha": 0.05})
    words = "alpha = 0.05 instead of 0.01"
    assert marks.current().changed == words
    assert capfd.readouterr().err == f"\n{NAME}: Changed parameters: {words}.\n"


def test_every_parameter_is_announced():
    checked(
        {"alpha": 1, "aggregation": "mean", "raters": [1]},
        {**RULES, "raters": (1, 9)},
    )
    assert marks.current().changed == (
        "alpha = 1 instead of 0.01, aggregation = 'mean' instead of 'mode', "
        "raters = [1] instead of [1, 2]"
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"alpha": 20.0}, "alpha must be from 0.001 to 10, not 20.0"),
        ({"alpha": 0}, "alpha must be from 0.001 to 10, not 0"),
        ({"alpha": float("nan")}, "alpha must be of the kind of 0.01, not nan"),
        ({"alpha": "0.05"}, "alpha must be of the kind of 0.01, not '0.05'"),
        ({"alpha": True}, "alpha must be of the kind of 0.01, not True"),
        ({"aggregation": "median"}, "aggregation must be mode or mean, not 'median'"),
    ],
)
def test_values_that_cannot_be_used_are_refused(changes, message):
    with pytest.raises(OptionError) as error:
        checked(changes)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("raters", "message"),
    [
        ([], "raters is empty: give at least one value"),
        ([1, 0], "raters must be from 1 to 9, not 0"),
        ([1.5], "raters must be of the kind of 1, not 1.5"),
        (3, "raters must be of the kind of [1, 2], not 3"),
    ],
)
def test_each_value_of_a_list_is_checked(raters, message):
    with pytest.raises(OptionError) as error:
        checked({"raters": raters}, {**RULES, "raters": (1, 9)})
    assert str(error.value) == message


def test_a_missing_parameter_is_named():
    with pytest.raises(OptionError, match="parameter seed of 11_example is missing"):
        checked(rules={**RULES, "seed": (0, 9)})


def test_a_misspelt_parameter_is_refused_where_papermill_has_inserted_it():
    cells = ["", "alpha: float = 0.01", "# Parameters\naplha = 0.05\n"]
    message = "11_example has no parameter aplha: its parameters are data_source, alpha"
    with pytest.raises(OptionError, match=message):
        checked({"In": cells, "aplha": 0.05})
    checked({"In": ["x = 3", "# Parameters\nalpha = 0.01\n"]})


def test_a_new_notebook_has_its_own_values_as_defaults():
    run.check("70_new", {"alpha": 0.5}, alpha=(0, 1))
    assert marks.current() == marks.Run("70_new")


def test_a_file_must_be_there():
    values = {"answers_file": "data/studies.csv"}
    run.check("70_new", values, answers_file="file")
    with pytest.raises(OptionError, match="answers_file must be a file that can be re"):
        run.check("70_new", {"answers_file": "data/nope.csv"}, answers_file="file")


def test_simulated_data_are_announced(source, capfd):
    values = checked({"data_source": "simulated"})
    assert values["data_source"] == "simulated"
    assert marks.current().simulated
    line = f"\n{NAME}: SIMULATED DATA, random numbers and not ratings: asked for.\n"
    assert capfd.readouterr().err == line


def test_a_source_that_does_not_exist_is_refused(source):
    with pytest.raises(OptionError, match="data_source must be auto, real, simulated"):
        checked({"data_source": "reel"})


def test_a_study_without_a_simulator_is_not_simulated(source):
    with pytest.raises(parameters.NoDataError, match="atlas has no simulator"):
        checked({"data_source": "simulated"}, studies=["hosking", "atlas"])


def test_data_that_cannot_be_had_are_no_reason_to_simulate(monkeypatch):
    def resolve(studies, choice):
        raise registry.DataUnavailableError("no file")

    monkeypatch.setattr(registry, "resolve", resolve)
    with pytest.raises(parameters.NoDataError, match="no file"):
        checked({"data_source": "real"})
