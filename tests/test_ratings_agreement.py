"""Agreement against the package krippendorff, and why there is none."""

import krippendorff
import numpy as np
import pandas as pd
import pytest

from ratings import agreement as module
from ratings.agreement import agreement
from ratings.study import OTHERS, THESE


def rated(n_items=60, n_raters=6, seed=0, marks=5):
    """Three of the raters rate each item."""
    rng = np.random.default_rng(seed)
    rater = np.argsort(rng.random((n_items, n_raters)), axis=1)[:, :3].ravel()
    item = np.repeat(np.arange(n_items), 3)
    quality = rng.normal(0, marks / 4, n_items)[item]
    value = quality + rng.normal(0, marks / 6, len(item)) + (1 + marks) / 2
    table = pd.DataFrame({"item_id": item, "prompt_id": item // 2, "rater_id": rater})
    return table.assign(tone=np.clip(np.round(value), 1, marks))


def matrix(table):
    return table.pivot(index="rater_id", columns="item_id", values="tone").to_numpy()


@pytest.mark.parametrize(("marks", "level"), [(5, "ordinal"), (40, "interval")])
def test_alpha_is_that_of_krippendorff_and_its_error_leaves_out_both(marks, level):
    table = rated(marks=marks)
    found, reasons = agreement(table, ["tone"])

    def alpha(rows):
        twice = rows[rows.duplicated("item_id", keep=False)]
        return krippendorff.alpha(matrix(twice), level_of_measurement=level)

    row = found.loc["tone"]
    assert row["estimate"] == pytest.approx(alpha(table))
    assert (row["scope"], reasons) == (OTHERS, {})
    variances = []
    for keys in (["rater_id"], ["prompt_id"], ["rater_id", "prompt_id"]):
        groups = table.groupby(keys).ngroup()
        number = groups.nunique()
        changes = [
            alpha(table[groups != each]) - alpha(table) for each in range(number)
        ]
        variances.append(np.sum(np.square(changes)) * (number - 1) / number)
    first, second, both = variances
    error = np.sqrt(max(first + second - both, first, second))
    # t with at most one degree of freedom less than there are raters
    assert row["estimate"] - row["low"] > 2.57 * error
    assert row["estimate"] - row["low"] == pytest.approx(2.6 * error, rel=0.05)


def test_the_share_of_equal_marks_is_over_items():
    table = rated(n_raters=3)
    found, _ = agreement(table, ["tone"])
    marks = matrix(table)
    same = [(marks[a] == marks[b]).mean() for a, b in ((0, 1), (0, 2), (1, 2))]
    assert found.loc["tone", "same mark, %"] == pytest.approx(100 * np.mean(same))
    assert found.loc["tone", "scope"] == THESE
    shares = np.array([(marks == mark).mean() for mark in range(1, 6)])
    chance = (shares * (1 - shares)).sum() / 4
    expected = (np.mean(same) - chance) / (1 - chance)
    assert found.loc["tone", "AC1"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("change", "column", "reason"),
    [
        (lambda t: t.drop(columns="rater_id"), "", "the recipe names no raters"),
        (lambda t: t.assign(rater_id=1), "", "all ratings are by one rater"),
        (lambda t: t.drop_duplicates("item_id"), "", "no item was rated by two people"),
        (lambda t: t.assign(tone=2.0), "tone", "all marks are the same"),
        (lambda t: t.assign(tone=t["item_id"] % 5), "tone", module.NEVER_DIFFER),
        (
            lambda t: t.assign(tone=(t["tone"] == 5) * (t["item_id"] < 20) * 1.0),
            "tone",
            module.TOO_RARE,
        ),
    ],
)
def test_why_there_is_no_agreement_is_told(change, column, reason):
    found, reasons = agreement(change(rated()), ["tone"])
    assert found.empty
    assert reasons[column].startswith(reason)


def test_places_in_a_list_tell_ratings_apart_but_no_people():
    table = rated(n_raters=9).rename(columns={"rater_id": "position"})
    found, _ = agreement(table, ["tone"])
    assert found.loc["tone", "scope"] == THESE


def test_of_very_many_ratings_whole_items_are_drawn():
    table = rated()
    drawn = module.sample_items(table, 100)
    assert 0 < len(drawn) < len(table)
    assert (drawn.groupby("item_id").size() == 3).all()
