"""Ratings of any study: what stands out, and what is left to analyse."""

import numpy as np
import pandas as pd
import pytest

from helpers.data.tables import BadTableError, OptionError
from ratings import intake
from ratings.intake import join_clusters, prepare

NAN = float("nan")


def ratings(n=400, **columns):
    """Ratings without fault: 4 of each item by different raters, 2 items a cluster."""
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
    return [
        list(row[:3]) for row in intake.findings(table, ["overall", "tone", "harm"], {})
    ]


def study_of(table, aspects=("tone", "harm"), **settings):
    return prepare(
        table, "overall", list(aspects), np.random.default_rng(0), **settings
    )


RARE = ratings(harm=0.0, tone=np.r_[np.full(397, 3.0), 1, 5, 2])
LENGTHS = ratings(tone=np.random.default_rng(1).normal(100, 20, 400))
TWICE = pd.concat([ratings(), ratings().iloc[:3].assign(overall=1.0)])
UNNAMED = ratings().drop(columns="rater_id").drop_duplicates()


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (ratings(), []),
        (ratings(harm=1.0), [["always the same", "harm", 400]]),
        (changed(RARE, "harm", [1], 1), []),
        (LENGTHS, []),
        (
            changed(LENGTHS, "tone", [0], 9999),
            [["far from the other marks", "tone", 1]],
        ),
        (TWICE, [["an item rated again by the same rater", "", 3]]),
        (
            pd.concat([UNNAMED, UNNAMED.iloc[:2]]),
            [["same in all columns as a row before", "", 2]],
        ),
        (pd.concat([UNNAMED, UNNAMED.iloc[:2].assign(overall=3.5)]), []),
        (ratings(80), [["only 10 clusters", "", 80]]),
    ],
)
def test_what_stands_out_is_found_and_nothing_else(table, expected):
    assert found(table) == expected


def test_missing_cells_are_counted_and_an_aspect_mostly_missing_told_apart():
    table = changed(changed(ratings(), "tone", range(250), NAN), "overall", [5], NAN)
    assert list(intake.findings(table, ["overall", "tone", "harm"], {})) == [
        ("missing", "overall", 1, "these ratings are left out", ["all"]),
        ("missing", "tone", 250, "the aspect is left out", ["tone"]),
    ]


@pytest.mark.parametrize("slip", [55, 9, -4])
def test_a_slip_of_the_pen_is_listed_left_out_and_not_settled(slip):
    table = changed(ratings(), "tone", [7], slip)
    *row, consequence, affects = next(intake.findings(table, ["overall", "tone"], {}))
    assert row == ["far from the other marks", "tone", 1]
    assert consequence.startswith(
        f"is {slip} on the scale? Left out for now; no verdict"
    )
    assert affects == ["tone"]
    study = study_of(table)
    assert study.unsettled == {"tone": f"{slip} in 1 rating"}
    assert study.ends.loc["tone"].tolist() == [1, 5, "by the marks"]
    assert len(study.frame) == 399


def test_a_declared_scale_settles_what_is_far():
    table = changed(ratings(), "tone", [7], 9)
    assert study_of(table, scales={"tone": (1, 9)}).unsettled == {}
    assert list(intake.findings(table, ["overall", "tone"], {"tone": (1, 9)})) == []


@pytest.mark.parametrize("code", [-99, -1, 99, 999, 0])
def test_codes_for_no_answer_are_asked_about_however_many_there_are(code):
    table = changed(ratings(), "tone", range(60), code)
    study = study_of(table)
    assert study.unsettled == {"tone": f"{code} in 60 ratings"}
    assert len(study.frame) == 340


@pytest.mark.parametrize(
    "marks", [(0, 1), (-1, 0, 1), (0, 1, 2, 3), (0, 25, 50, 75, 99, 100)]
)
def test_marks_that_belong_to_a_scale_are_no_codes(marks):
    table = ratings(tone=np.resize(marks, 400).astype(float))
    assert study_of(table).unsettled == {}


@pytest.mark.parametrize(
    ("marks", "ends"),
    [
        (np.arange(400) % 3 + 1.0, [1, 3, "by the marks"]),
        (np.arange(400) % 7 / 2, [0, 3, "by the marks"]),
        (np.linspace(2, 98, 400).round(), [0, 100, "by the marks"]),
        (np.linspace(20, 70, 400).round(), [20, 70, "not known"]),
        (np.linspace(0, 1, 400) ** 2, [0, 1, "not known"]),
    ],
)
def test_the_marks_tell_a_scale_if_they_can(marks, ends):
    assert study_of(ratings(tone=marks)).ends.loc["tone"].tolist() == ends


def test_an_item_in_two_clusters_joins_them_and_numbers_that_begin_anew_do_not():
    table = changed(ratings(), "item_id", [8], 0)
    assert found(table) == [["an item in several clusters", "", 5]]
    assert study_of(table).frame["cluster"].nunique() == 49
    anew = ratings(item_id=lambda t: t["item_id"] % 2)
    assert found(anew) == [["items with the same names in several clusters", "", 400]]
    study = study_of(anew)
    assert study.frame["cluster"].nunique() == 50
    assert study.frame["item_id"].nunique() == 100


@pytest.mark.parametrize(
    ("overall", "expected"),
    [
        (
            lambda t: t["tone"] + 2 * t["harm"],
            "overall is computed from tone, harm (exactly)",
        ),
        (lambda t: t["tone"] * 2, "overall is computed from tone (exactly)"),
        (
            lambda t: ((t["tone"] + t["depth"]) / 2).round(),
            "overall is computed from tone, depth (",
        ),
        (lambda t: t["tone"] + t["noise"], ""),
        (lambda t: (t["noise"] > 1.9) * 1.0, ""),
    ],
)
def test_an_outcome_that_is_computed_is_named(overall, expected):
    rng = np.random.default_rng(1)
    table = ratings(depth=rng.integers(1, 6, 400) * 1.0, noise=rng.normal(size=400))
    study = study_of(table.assign(overall=overall), ["tone", "harm", "depth"])
    assert study.identity.startswith(expected)
    assert bool(study.identity) == bool(expected)


def test_aspects_that_move_together_are_grouped():
    rng = np.random.default_rng(1)
    table = ratings(depth=rng.integers(1, 6, 400) * 1.0, noise=rng.normal(size=400))
    table["nearly"] = table["tone"] + 0.05 * rng.normal(size=400)
    table["total"] = table["harm"] + table["depth"]
    study = study_of(table, ["tone", "harm", "depth", "noise", "nearly", "total"])
    assert study.collinear == [["tone", "nearly"], ["harm", "depth", "total"]]
    assert study.left_out == {"total": "made up of other aspects"}


def test_more_aspects_than_the_ratings_can_tell_are_called_so():
    table = pd.DataFrame(np.random.default_rng(1).normal(size=(400, 60))).add_prefix(
        "a"
    )
    study = study_of(ratings().join(table), list(table))
    assert study.too_many == (
        "more aspects than the ratings can tell: 60, with 400 ratings in 50 clusters"
    )
    assert (len(study.aspects), study.collinear, study.identity) == (60, [], "")


def test_raters_are_compared_with_themselves_if_they_rate_often():
    assert study_of(ratings()).is_within
    assert not study_of(ratings(rater_id=np.arange(400) // 2)).is_within
    assert not study_of(ratings().drop(columns="rater_id")).is_within
    centred = study_of(ratings()).centred()
    assert (
        np.abs(pd.DataFrame(centred).groupby(np.arange(400) % 10).mean()).max().max()
        < 1e-12
    )
    table = ratings(tone=lambda t: t["rater_id"].str[1].astype(float))
    assert study_of(table).left_out == {"tone": "no rater gave it two different marks"}


def test_simulated_ratings_never_pass_for_real():
    for word, expected in (
        ("real", ["real", "real", "simulated"]),
        ("simulated", ["simulated"] * 3),
    ):
        table = pd.DataFrame({"source": [word] * 2})
        assert [
            intake.source(table, choice) for choice in intake.DATA_SOURCES
        ] == expected
    with pytest.raises(OptionError, match=r"data_source must be one of .*, not 'mine'"):
        intake.source(table, "mine")


def test_the_description_counts_everything():
    assert (
        intake.describe_file(ratings())
        == "400 ratings of 100 items in 50 clusters; 10 raters."
    )
    assert intake.describe_file(ratings(), names_items=False).endswith(
        "in 50 clusters; the recipe names no item: each row counts as one; 10 raters."
    )


def test_complete_first_ratings_are_kept():
    table = pd.concat(
        [ratings(), ratings().iloc[:5].assign(overall=9.0)], ignore_index=True
    )
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
        "twice": "made up of other aspects",
    }


def test_aspects_run_from_zero_to_one_on_known_scales_or_the_marks_that_occur():
    scaled = study_of(ratings()).scaled()
    assert set(scaled["tone"]) == {0, 0.25, 0.5, 0.75, 1}
    assert scaled["overall"].max() == 5
    study = study_of(
        ratings(), scales={"tone": (0, 10), "overall": (0, 10), "other": (0, 1)}
    )
    assert study.ends.loc["tone"].tolist() == [0, 10, "declared"]
    assert study.scaled()["tone"].max() == 0.5


def test_of_very_many_ratings_clusters_are_joined_and_a_sample_is_drawn():
    joined = join_clusters(pd.Series(np.arange(10_000)), np.random.default_rng(0))
    assert np.bincount(joined).tolist() == [5] * 2000
    study = study_of(ratings(24_000))
    assert study.frame["cluster"].nunique() == 2000
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
        (
            ratings(overall=4.0),
            "column 'overall' is 4 in all complete ratings: there is",
        ),
        (ratings(tone=1.0, harm=0.0), "no aspect varies in the 400 complete ratings"),
        (
            ratings(tone=lambda t: t["rater_id"].str[1].astype(float), harm=0.0),
            "no rater gave any aspect two different marks",
        ),
    ],
)
def test_too_little_to_analyse_is_refused(table, message):
    with pytest.raises(BadTableError, match=f"^{message}"):
        study_of(table)
