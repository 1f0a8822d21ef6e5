"""Ratings of any study: what stands out, and what is left to analyse."""

import numpy as np
import pandas as pd
import pytest

from helpers.files.tables import BadTableError, OptionError
from helpers.own import intake
from helpers.own.intake import describe_study, join_clusters, prepare

NAN = float("nan")


def ratings(n=400, **columns):
    """Ratings without any fault: 4 of each item by different raters, 2 items of each cluster."""
    rng = np.random.default_rng(0)
    rows = np.arange(n)
    frame = pd.DataFrame(
        {
            "item_id": rows // 4,
            "prompt_id": rows // 8,
            "rater_id": [f"r{row % 10}" for row in rows],
            "overall": rng.integers(1, 6, n).astype(float),
            "tone": rng.integers(1, 6, n).astype(float),
            "harm": rng.integers(0, 2, n).astype(float),
        }
    )
    return frame.assign(**columns)


def changed(frame, column, rows, value):
    frame = frame.copy()
    frame.loc[rows, column] = value
    return frame


def found(table):
    rows = intake.findings(table, "overall", ["tone", "harm"])
    return rows[["what", "where", "rows"]].to_numpy().tolist()


def study_of(table, aspects=("tone", "harm"), **settings):
    return prepare(table, "overall", list(aspects), np.random.default_rng(0), **settings)


NOTHING = ["nothing", "", 0]
RARE = ratings(harm=0.0, tone=np.r_[np.full(397, 3.0), 1, 5, 2])
LENGTHS = ratings(tone=np.random.default_rng(1).normal(100, 20, 400))
TWICE = pd.concat([ratings(), ratings().iloc[:3].assign(overall=1.0)])
UNNAMED = ratings().drop(columns="rater_id").drop_duplicates()


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (ratings(), [NOTHING]),
        (ratings(harm=1.0), [["always the same", "harm", 400]]),
        (changed(RARE, "harm", [1], 1), [NOTHING]),
        (LENGTHS, [NOTHING]),
        (changed(LENGTHS, "tone", [0], 9999), [["far from the others", "tone", 1]]),
        (TWICE, [["an item rated again by the same rater", "", 3]]),
        (
            pd.concat([UNNAMED, UNNAMED.iloc[:2]]),
            [["same in all columns as a row before", "", 2]],
        ),
        (pd.concat([UNNAMED, UNNAMED.iloc[:2].assign(overall=3.5)]), [NOTHING]),
        (ratings(80), [["only 10 clusters", "", 80]]),
    ],
)
def test_what_stands_out_is_found_and_nothing_else(table, expected):
    assert found(table) == expected


def test_missing_cells_are_counted_and_an_aspect_mostly_missing_told_apart():
    table = changed(changed(ratings(), "tone", range(250), NAN), "overall", [5], NAN)
    rows = intake.findings(table, "overall", ["tone", "harm"])
    assert rows.to_numpy().tolist() == [
        ["missing", "overall", 1, "these ratings are left out"],
        ["missing", "tone", 250, "the aspect is left out"],
    ]


@pytest.mark.parametrize("slip", [55, 9, -4])
def test_a_slip_of_the_pen_is_far_from_the_other_marks(slip):
    row = intake.findings(changed(ratings(), "tone", [7], slip), "overall", ["tone"]).iloc[0]
    consequence = f"kept: is {slip} on the scale? If not, correct the file"
    assert row.tolist() == ["far from the others", "tone", 1, consequence]


def test_raters_who_work_much_more_and_raters_who_never_vary_are_counted():
    names = [f"r{row % 12}" if row % 2 else "busy" for row in range(400)]
    table = ratings(rater_id=names, item_id=range(400))
    assert found(changed(table, "overall", table["rater_id"] == "r1", 4.0)) == [
        ["far more ratings than others", "1 of 7 raters", 200],
        ["always the same overall", "1 of 7 raters", 34],
    ]


def test_prevalence_counts_what_differs_from_the_most_frequent_mark():
    table = ratings(harm=0.0, tone=3.0, words=np.arange(400.0))
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
    for word, expected in (
        ("real", ["real", "real", "simulated"]),
        ("simulated", ["simulated"] * 3),
    ):
        table = pd.DataFrame({"source": [word] * 2})
        assert [intake.source(table, choice) for choice in intake.DATA_SOURCES] == expected
    with pytest.raises(OptionError, match=r"data_source must be one of .*, not 'mine'"):
        intake.source(table, "mine")


def test_the_description_counts_everything():
    assert intake.describe_file(ratings()) == "400 ratings of 100 items in 50 clusters; 10 raters."


def test_complete_first_ratings_are_kept():
    table = pd.concat([ratings(), ratings().iloc[:5].assign(overall=9.0)], ignore_index=True)
    study = study_of(changed(table, "tone", [7], NAN))
    assert len(study.frame) == 399
    assert study.frame["overall"].max() == 5


def test_aspects_that_cannot_be_analysed_are_left_out_with_a_reason():
    table = ratings(flat=1.0, twice=lambda t: 2 * t["tone"] + t["harm"], empty=NAN)
    study = study_of(table, ["tone", "harm", "flat", "twice", "empty"])
    assert study.aspects == ["tone", "harm"]
    assert study.left_out == {
        "empty": "mostly missing",
        "flat": "always the same",
        "twice": "made up of the aspects before it",
    }
    assert describe_study(study).splitlines()[1] == "left out: empty, mostly missing"


def test_aspects_run_from_zero_to_one_on_known_scales_or_the_marks_that_occur():
    scaled = study_of(ratings()).scaled()
    assert set(scaled["tone"]) == {0, 0.25, 0.5, 0.75, 1}
    assert scaled["overall"].max() == 5
    study = study_of(ratings(), scales={"tone": (0, 10), "overall": (0, 10), "other": (0, 1)})
    assert study.ends.loc["tone"].tolist() == [0, 10]
    assert study.scaled()["tone"].max() == 0.5


def test_of_very_many_ratings_clusters_are_joined_and_a_sample_is_drawn():
    joined = join_clusters(pd.Series(np.arange(10_000)), np.random.default_rng(0))
    assert np.bincount(joined).tolist() == [5] * 2000
    study = study_of(ratings(24_000))
    assert describe_study(study).splitlines() == [
        "24,000 complete ratings in 2,000 clusters (more, joined at random to so many)",
        "agreement, ordered marks and the tree use 20,000 ratings drawn at random",
    ]
    sample = study.sample(20_000, np.random.default_rng(0))
    assert len(sample.frame) == 20_000
    assert sample.frame.index.is_monotonic_increasing
    assert study.sample(24_000, np.random.default_rng(0)) is study


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (ratings(8), "complete ratings: 8, clusters: 1; at least 10 and 5 are needed"),
        (ratings(32), "complete ratings: 32, clusters: 4; at least"),
        (ratings(overall=NAN), "complete ratings: 0, clusters: 0; at least"),
        (ratings(overall=4.0), "column 'overall' is 4 in all complete ratings: there is"),
        (ratings(tone=1.0, harm=0.0), "no aspect varies in the 400 complete ratings"),
    ],
)
def test_too_little_to_analyse_is_refused(table, message):
    with pytest.raises(BadTableError, match=f"^{message}"):
        study_of(table)
