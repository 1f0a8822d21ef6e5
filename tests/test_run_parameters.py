"""Parameters of notebooks: bad values, folders of results, changes."""

import dataclasses
import json
import time
from concurrent.futures import ThreadPoolExecutor

import matplotlib.pyplot as plt
import pytest

from helpers import paths, run, show
from helpers.data.tables import OptionError
from helpers.run import parameters

NAMES = sorted(file.stem for file in paths.NOTEBOOKS.rglob("[0-9]*.ipynb"))
ALPHA = "alpha = 0.05 instead of 0.01"


def defaults(name):
    """Default values of a notebook's parameters, as its `globals()` holds them."""
    known = parameters.parameters_of(parameters.notebook_file(name))
    return {parameter.name: parameter.default for parameter in known}


def of_number(number):
    """Name of the notebook that has a parameter of this name in these tests."""
    return next(name for name in NAMES if name.startswith(number))


@pytest.mark.parametrize("name", NAMES)
def test_the_defaults_pass_and_show_nothing(name, tmp_path, capsys):
    values = defaults(name) | {"out_dir": str(tmp_path)}
    if "claims_file" in values:  # of a run, which there may not have been
        values["claims_file"] = str(paths.DATA / "parameters.csv")
    assert run.check(name, values) is None
    assert capsys.readouterr().out == ""
    assert show.current() == show.Run(name, str(tmp_path), changed="")


@pytest.mark.parametrize("name", NAMES)
def test_each_parameter_refuses_something(name):
    for parameter in parameters.parameters_of(parameters.notebook_file(name)):
        assert not parameter.fits(None)
        assert not parameter.fits(b"other")
        assert parameter.must_be


def test_a_change_is_announced_and_figures_and_results_are_told(capsys):
    values = defaults("11_error_weights")
    run.check("11_error_weights", values | {"alpha": 0.05, "n_boot": 20, "seed": 1})
    assert ALPHA in capsys.readouterr().out
    assert show.current() == show.Run("11_error_weights", "build", ALPHA)


def test_a_whole_number_is_a_number():
    run.check("11_error_weights", defaults("11_error_weights") | {"alpha": 1})
    assert show.current().changed == "alpha = 1 instead of 0.01"


def test_a_notebook_that_does_not_exist_is_named():
    with pytest.raises(OptionError, match="there is no notebook '99_none'"):
        run.check("99_none", {})


def test_a_parameter_that_was_not_set_is_named():
    values = defaults("11_error_weights")
    del values["alpha"]
    with pytest.raises(OptionError, match="alpha of 11_error_weights is missing"):
        run.check("11_error_weights", values)


@pytest.mark.parametrize(
    ("number", "parameter", "value", "must"),
    [
        ("11", "n_boot", "many", "a whole number from 1 to 100000, not 'many'; each"),
        ("11", "n_boot", 50.5, "a whole number from 1 to 100000, not 50.5"),
        ("11", "n_boot", True, "a whole number from 1 to 100000, not True"),
        ("11", "n_boot", 0, "a whole number from 1 to 100000, not 0"),
        ("11", "n_boot", 10**15, "a whole number from 1 to 100000"),
        ("11", "seed", -1, "a whole number from 0 to 4294967295, not -1"),
        ("11", "alpha", float("inf"), "a number above 0 up to 10, not inf"),
        ("11", "alpha", float("nan"), "a number above 0 up to 10, not nan"),
        ("11", "alpha", 0.0, "a number above 0 up to 10, not 0.0"),
        ("30", "alpha", 1.0, "a number above 0 and below 1, not 1.0"),
        ("11", "outcome", "quality", "quality_unbiased or quality_biased, not 'qual"),
        ("11", "data_source", "all", "auto or real or simulated, not 'all'"),
        ("24", "use_stemmer", "maybe", "True or False, not 'maybe'"),
        ("41", "agreements", [0.1, 1.5], "a list: numbers from 0 and below 1, not"),
        ("41", "agreements", "0.1", "a list: numbers from 0 and below 1, not '0.1'"),
        ("41", "agreements", [], "a list: numbers from 0 and below 1, not []"),
        ("52", "raters", [1, 2.5], "a list: whole numbers from 1 to 100, not [1, 2.5]"),
        ("52", "raters", ["3"], "a list: whole numbers from 1 to 100"),
        ("53", "aspects", ["tone", {}], "a list: names of columns"),
        ("53", "scales", {"tone": [5, 1]}, "a mapping: the lowest and highest mark"),
        ("53", "scales", {"tone": 5}, "a mapping: the lowest and highest mark"),
        ("53", "scales", [5], "a mapping: the lowest and highest mark"),
        ("53", "ratings", "none.csv", "a file that can be read, not 'none.csv'"),
        ("53", "ratings", "data", "a file that can be read, not 'data'"),
        ("53", "ratings", "a" * 999, "a file that can be read"),
        ("53", "ratings", "", "a file that can be read"),
        ("53", "rater", "a\nb", "a name, or nothing"),
    ],
)
def test_what_does_not_fit_is_named_with_what_does(number, parameter, value, must):
    name = of_number(number)
    with pytest.raises(OptionError) as error:
        run.check(name, defaults(name) | {parameter: value})
    assert str(error.value).startswith(f"{parameter} must be {must}")
    assert len(str(error.value)) < 250


def test_a_scale_is_a_lowest_and_a_highest_mark():
    for ends in ([1, 5], [0.0, 100.0], [-2, 2]):
        run.check(
            "53_your_ratings", defaults("53_your_ratings") | {"scales": {"tone": ends}}
        )
    for ends in ([1], [1, 3, 5], [5, 5]):
        with pytest.raises(OptionError, match="scales must be a mapping"):
            run.check(
                "53_your_ratings",
                defaults("53_your_ratings") | {"scales": {"tone": ends}},
            )


INSIDE = ("", ".", "notebooks", "figures/new", "data/raw", "build/../src", "mine")
IMPOSSIBLE = ("a" * 999, "a\0b", "README.md/x")


@pytest.mark.parametrize("folder", [*INSIDE, *IMPOSSIBLE, str(paths.ROOT)])
def test_results_go_to_no_folder_of_committed_files(folder):
    values = defaults("11_error_weights") | {"out_dir": folder}
    with pytest.raises(
        OptionError, match=r"out_dir must be a folder to write to, not .*only build"
    ):
        run.check("11_error_weights", values)


def test_results_go_to_no_file_and_through_no_link_into_the_project(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(paths.NOTEBOOKS)
    values = defaults("11_error_weights")
    for name in ("file", "file/below", "link"):
        with pytest.raises(OptionError, match="out_dir must be a folder"):
            run.check("11_error_weights", values | {"out_dir": str(tmp_path / name)})
    for name in ("new/below", ""):
        run.check("11_error_weights", values | {"out_dir": str(tmp_path / name)})


def test_a_file_of_the_project_is_named_as_in_the_notebook():
    name = of_number("42")
    values = defaults(name)
    absolute = str(paths.ROOT / values["answers_file"])
    run.check(name, values | {"answers_file": absolute})
    assert show.current().changed == ""
    run.check(name, values | {"answers_file": str(parameters.RULES)})
    words = (
        f"answers_file = 'data/parameters.csv' instead of {values['answers_file']!r}"
    )
    assert show.current().changed == words


@pytest.fixture
def notebook(tmp_path, monkeypatch):
    """Write a notebook with this cell of parameters."""
    monkeypatch.setattr(paths, "NOTEBOOKS", tmp_path)

    def write(code):
        cells = [
            {"metadata": {"tags": ["parameters"]}, "source": [code]},
            {"metadata": {}, "source": ["1 / 0"]},
        ]
        (tmp_path / "appendix").mkdir()
        file = tmp_path / "appendix" / "70_mine.ipynb"
        file.write_text(json.dumps({"cells": cells if code else cells[1:]}))

    return write


def test_a_new_notebook_needs_no_rules(notebook, capsys):
    notebook("depth: int = 3  # of the tree\nout_dir: str = 'build'")
    run.check("70_mine", {"depth": 4, "out_dir": "build"})
    assert "depth = 4 instead of 3" in capsys.readouterr().out
    with pytest.raises(OptionError, match="depth must be a whole number, not 'deep'"):
        run.check("70_mine", {"depth": "deep", "out_dir": "build"})


def test_a_parameter_without_a_kind_is_refused(notebook):
    notebook("depth = 3")
    with pytest.raises(OptionError, match="70_mine: its cell of parameters must hold"):
        run.check("70_mine", {"depth": 3})


def test_a_notebook_without_parameters_has_none(notebook):
    notebook(code="")
    assert parameters.parameters_of(parameters.notebook_file("70_mine")) == []


def test_runs_cannot_be_changed_afterwards():
    with pytest.raises(dataclasses.FrozenInstanceError):
        show.Run("11_error_weights", "build", "").changed = ALPHA


@pytest.fixture
def changed_style():
    show.use_style(ALPHA)
    yield
    show.use_style()


def test_a_change_is_written_on_figures(changed_style):
    fig, ax = plt.subplots()
    ax.plot([1, 2])
    show.as_png(fig, "real")
    written = [text.get_text() for text in fig.texts]
    assert written == [f"changed parameters: {ALPHA}"]
    plt.close(fig)


def test_one_thread_parses_at_a_time(monkeypatch):
    parsing, most = [], []

    def slowly(code):
        parsing.append(code)
        most.append(len(parsing))
        time.sleep(0.01)
        parsing.remove(code)

    monkeypatch.setattr(parameters.ast, "parse", slowly)
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(parameters.parse, "abcd"))
    assert most == [1, 1, 1, 1]
