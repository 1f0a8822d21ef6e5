"""Results that notebooks save: what is written, and what is refused."""

import pandas as pd
import pytest

from helpers import marks, paths
from helpers.claims import results
from helpers.claims.results import ResultsError


@pytest.fixture(autouse=True)
def build(tmp_path, monkeypatch):
    """Folder of the run."""
    monkeypatch.setattr(paths, "BUILD", tmp_path)


def test_saved_results_are_read_again_with_their_notebook(tmp_path):
    rows = {"estimate": 1.5, "low": 1.0, "high": 2.0}
    by_part = pd.DataFrame({"share": [0.25, 1]}, index=["x", "y"])
    table = results.rows("hosking", {"slope": rows, "found": by_part, "same": True})
    marks.begin(marks.Run("11_error_weights"))
    results.save(table)
    read = results.read(tmp_path).set_index(["name", "part"])
    assert read.loc[("hosking.slope", ""), "high"] == 2
    assert read.loc[("hosking.found", "x"), "share"] == 0.25
    assert read.loc[("hosking.same", ""), "holds"] == 1
    assert set(read["notebook"]) == {"11_error_weights"}


def test_interpretations_are_rows_of_their_own():
    both = {"kept": {"estimate": 1}, "left out": pd.DataFrame({"p": [0.1]}, ["x"])}
    table = results.rows("hosking", {"slope": both})
    assert table["interpretation"].tolist() == ["kept", "left out"]
    assert table["part"].tolist() == ["", "x"]


def test_nothing_is_saved_with_changed_parameters(tmp_path, capsys):
    marks.begin(marks.Run("11_error_weights", "alpha = 0.05"))
    results.save(results.rows("hosking", {"slope": 1}))
    assert "alpha = 0.05" in capsys.readouterr().out
    assert results.read(tmp_path).empty


def test_nothing_is_saved_of_simulated_data(tmp_path, capsys):
    run = marks.Run("31_simulated_users", reasons=["asked for"])
    marks.begin(run)
    results.save(results.rows("chatbench", {"share": 3}))
    assert "no result is saved: SIMULATED DATA" in capsys.readouterr().out
    assert results.read(tmp_path).empty


def test_two_notebooks_cannot_save_the_same_result(tmp_path):
    for notebook in ("10_annotation_quality", "11_error_weights"):
        marks.begin(marks.Run(notebook))
        results.save(results.rows("hosking", {"slope": 1}))
    with pytest.raises(ResultsError, match=r"hosking\.slope was saved by 10_"):
        results.read(tmp_path)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"name": "a", "value": 1}, "there is no value"),
        ({"estimate": 1}, "no column name"),
        ({"name": "", "estimate": 1}, "no name"),
        ({"name": "a"}, "a: there is no value"),
        ({"name": "a", "estimate": float("inf")}, "not finite"),
        ({"name": "a", "estimate": 1, "low": 0}, "both low and high"),
        ({"name": "a", "estimate": 3, "low": 0, "high": 2}, "low <= estimate <= high"),
        ({"name": "a", "low": 2, "high": 1}, "low <= estimate <= high"),
        ({"name": "a", "p": 1.2}, "p is not between"),
        ({"name": "a", "share": 97}, "share is not between"),
    ],
)
def test_a_table_that_cannot_be_compared_is_refused(row, message):
    with pytest.raises(ResultsError, match=message):
        results.check(pd.DataFrame([row]))


def test_words_are_no_result():
    with pytest.raises(ResultsError, match="every age"):
        results.rows("humbel", {"ages": "every age"})


def test_a_result_is_saved_once():
    table = pd.DataFrame({"name": ["a", "a"], "part": ["x", "x"], "estimate": [1, 2]})
    with pytest.raises(ResultsError, match="a, x: two rows"):
        results.check(table)


def test_results_belong_to_a_checked_notebook(monkeypatch):
    marks.begin(None)
    with pytest.raises(ResultsError, match=r"run\.check"):
        results.save(results.rows("hosking", {"slope": 1}))
