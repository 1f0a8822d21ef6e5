import numpy as np
import pandas as pd
import pytest

from helpers.files.tables import OptionError
from helpers.own import intake

NAN = float("nan")


def ratings(n=200, **columns):
    """Ratings without any fault: 4 of each item by different raters, 2 items of each cluster."""
    rng = np.random.default_rng(0)
    rows = np.arange(n)
    frame = pd.DataFrame(
        {
            "item_id": rows // 4,
            "prompt_id": rows // 8 + 1000 * (rows // 8 > n),
            "rater_id": [f"r{row % 10}" for row in rows],
            "overall": rng.integers(1, 6, n).astype(float),
            "tone": rng.integers(1, 6, n).astype(float),
            "harm": rng.integers(0, 2, n).astype(float),
        }
    )
    return frame.assign(**columns)


def found(table, outcome="overall", aspects=("tone", "harm")):
    rows = intake.findings(table, outcome, list(aspects))
    return rows[["what", "where", "rows"]].to_numpy().tolist()


def changed(frame, column, rows, value):
    frame = frame.copy()
    frame.loc[rows, column] = value
    return frame


def test_ratings_without_fault_give_no_finding():
    table = ratings(400)
    assert found(table) == [["nothing", "", 0]]


def test_missing_cells_are_counted_by_column():
    table = changed(ratings(400), "tone", [3, 5], NAN)
    assert found(changed(table, "overall", [5], NAN)) == [
        ["missing", "overall", 1],
        ["missing", "tone", 2],
    ]


def test_an_aspect_that_is_mostly_missing_is_told_apart():
    table = changed(ratings(400), "tone", range(250), NAN)
    row = intake.findings(table, "overall", ["tone", "harm"]).iloc[0]
    assert row.tolist() == ["missing", "tone", 250, "the aspect is left out"]


def test_constant_columns_are_named():
    assert found(ratings(400, harm=1.0)) == [["always the same", "harm", 400]]


@pytest.mark.parametrize("slip", [55, 9, -4, 99])
def test_a_slip_of_the_pen_is_far_from_the_other_marks(slip):
    table = changed(ratings(400), "tone", [7], slip)
    assert found(table) == [["far from the others", "tone", 1]]
    consequence = intake.findings(table, "overall", ["tone"])["consequence"].iloc[0]
    assert consequence == f"kept: is {slip} on the scale? If not, correct the file"


def test_rare_marks_within_the_scale_are_not_far():
    table = ratings(400, harm=0.0, tone=np.r_[np.full(397, 3.0), 1, 5, 2])
    assert found(changed(table, "harm", [1], 1)) == [["nothing", "", 0]]


def test_a_slip_among_many_different_numbers_is_far_too():
    words = np.random.default_rng(1).normal(100, 20, 400)
    assert found(ratings(400, tone=words)) == [["nothing", "", 0]]
    assert found(changed(ratings(400, tone=words), "tone", [0], 9999)) == [
        ["far from the others", "tone", 1]
    ]


def test_repeated_ratings_are_counted():
    table = ratings(400)
    again = pd.concat([table, table.iloc[:3].assign(overall=1.0)])
    assert found(again) == [["an item rated again by the same rater", "", 3]]


def test_without_raters_only_rows_that_are_the_same_in_everything_count_as_repeated():
    table = ratings(400).drop(columns="rater_id").drop_duplicates()
    assert found(pd.concat([table, table.iloc[:2]])) == [
        ["same in all columns as a row before", "", 2]
    ]
    assert found(pd.concat([table, table.iloc[:2].assign(overall=7.0)]))[0][0] != "same in all"


def test_raters_who_work_much_more_and_raters_who_never_vary_are_counted():
    table = ratings(400)
    table["rater_id"] = [f"r{row % 12}" if row % 2 else "busy" for row in range(400)]
    table.loc[table["rater_id"] == "r1", "overall"] = 4.0
    table["item_id"] = range(400)
    assert found(table) == [
        ["far more ratings than others", "1 of 7 raters", 200],
        ["always the same overall", "1 of 7 raters", 34],
    ]


def test_few_clusters_are_a_warning():
    assert found(ratings(80)) == [["only 10 clusters", "", 80]]


def test_prevalence_counts_what_differs_from_the_most_frequent_mark():
    table = ratings(400, harm=0.0, tone=3.0, words=np.arange(400.0))
    table = changed(changed(table, "harm", range(16), 1), "tone", [0], NAN)
    rows = intake.mark_prevalence(table, ["harm", "tone", "words"])
    assert rows["marks"].tolist() == ["0, 1", "3", "0 to 399"]
    assert rows["other ratings"].tolist() == [16, 0, 399]
    assert rows["clusters"].tolist() == [2, 0, 50]
    assert rows["other, %"].round(2).tolist() == [4, 0, 99.75]
    assert rows["warning"].tolist() == [
        "rare: fewer than 20 ratings tell what it does",
        "never differs",
        "",
    ]


def test_simulated_ratings_never_pass_for_real():
    real, simulated = (pd.DataFrame({"source": [word] * 2}) for word in ("real", "simulated"))
    assert [intake.source(real, choice) for choice in intake.DATA_SOURCES] == [
        "real",
        "real",
        "simulated",
    ]
    assert {intake.source(simulated, choice) for choice in intake.DATA_SOURCES} == {"simulated"}
    with pytest.raises(OptionError, match=r"data_source must be one of .*, not 'mine'"):
        intake.source(real, "mine")


def test_the_description_counts_everything():
    assert intake.describe_file(ratings(400)) == (
        "400 ratings of 100 items in 50 clusters; 10 raters."
    )
