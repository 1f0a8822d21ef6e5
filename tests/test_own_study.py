import numpy as np
import pandas as pd
import pytest

from helpers.files.tables import BadTableError
from helpers.own.intake import describe_study, join_clusters, prepare

NAN = float("nan")


def ratings(n=200, seed=0):
    rng = np.random.default_rng(seed)
    rows = np.arange(n)
    return pd.DataFrame(
        {
            "item_id": rows // 4,
            "prompt_id": rows // 8,
            "rater_id": [f"r{row % 10}" for row in rows],
            "overall": rng.integers(1, 6, n).astype(float),
            "tone": rng.integers(1, 6, n).astype(float),
            "harm": rng.integers(0, 2, n).astype(float),
        }
    )


def study_of(table, aspects=("tone", "harm"), **settings):
    return prepare(table, "overall", list(aspects), np.random.default_rng(0), **settings)


def test_complete_first_ratings_are_kept():
    table = pd.concat([ratings(), ratings().iloc[:5].assign(overall=9.0)], ignore_index=True)
    table.loc[7, "tone"] = NAN
    study = study_of(table)
    assert len(study.frame) == 199
    assert study.frame["overall"].max() == 5


def test_aspects_that_cannot_be_analysed_are_left_out_with_a_reason():
    table = ratings().assign(flat=1.0, twice=lambda t: 2 * t["tone"] + t["harm"], empty=NAN)
    study = study_of(table, ["tone", "harm", "flat", "twice", "empty"])
    assert study.aspects == ["tone", "harm"]
    assert study.left_out == {
        "empty": "mostly missing",
        "flat": "always the same",
        "twice": "made up of the aspects before it",
    }
    assert describe_study(study).splitlines()[1] == "left out: empty, mostly missing"


def test_aspects_run_from_zero_to_one():
    scaled = study_of(ratings()).scaled()
    assert set(scaled["tone"]) == {0, 0.25, 0.5, 0.75, 1}
    assert scaled["overall"].max() == 5


def test_known_scales_replace_the_marks_that_occur():
    study = study_of(ratings(), scales={"tone": (0, 10), "overall": (0, 10), "other": (0, 1)})
    assert study.ends.loc["tone"].tolist() == [0, 10]
    assert study.scaled()["tone"].max() == 0.5


def test_very_many_clusters_are_joined_into_groups_of_the_same_size():
    joined = join_clusters(pd.Series(np.arange(10_000)), np.random.default_rng(0))
    assert np.bincount(joined).tolist() == [5] * 2000
    table = ratings(8000).assign(prompt_id=range(8000), item_id=range(8000))
    assert "in 2,000 clusters (more, joined at random to so many)" in describe_study(
        study_of(table)
    )


def test_a_sample_is_said_to_be_one():
    study = study_of(ratings(24_000))
    assert describe_study(study).splitlines()[1] == (
        "agreement, ordered marks and the tree use 20,000 ratings drawn at random"
    )
    sample = study.sample(20_000, np.random.default_rng(0))
    assert len(sample.frame) == 20_000
    assert sample.frame.index.is_monotonic_increasing
    assert study.sample(24_000, np.random.default_rng(0)) is study


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (ratings(8), "complete ratings: 8, clusters: 1; at least 10 and 5 are needed"),
        (ratings(32), "complete ratings: 32, clusters: 4; at least"),
        (ratings().assign(overall=NAN), "complete ratings: 0, clusters: 0; at least"),
        (ratings().assign(overall=4.0), "column 'overall' is 4 in all complete ratings: there is"),
        (ratings().assign(tone=1.0, harm=0.0), "no aspect varies in the 200 complete ratings"),
    ],
)
def test_too_little_to_analyse_is_refused(table, message):
    with pytest.raises(BadTableError, match=f"^{message}"):
        study_of(table)
