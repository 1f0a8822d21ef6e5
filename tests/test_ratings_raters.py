"""Doubted raters and rows: faults that were put in are found, and no others."""

import numpy as np
import pandas as pd
import pytest

from ratings import raters
from ratings.raters import COPIED, FLAT, REVERSED

COLUMNS = ["overall", "tone", "harm"]


def agreeing(n_raters=4, n_items=80, seed=1):
    """Raters who all rate all items, and mostly agree."""
    random = np.random.default_rng(seed)
    item, rater = np.divmod(np.arange(n_items * n_raters), n_raters)
    quality, tone = random.integers(1, 6, (2, n_items))[:, item]
    marks = [
        np.clip(each + random.choice([-1, 0, 0, 1], len(item)), 1, 5)
        for each in (quality, tone)
    ]
    harm = (random.random(len(item)) < 0.3) * 1.0
    table = {
        "item_id": item,
        "prompt_id": item // 2,
        "rater_id": np.array(list("abcdefgh"))[rater],
    }
    return pd.DataFrame(table).assign(
        overall=marks[0] * 1.0, tone=marks[1] * 1.0, harm=harm
    )


def changed(table, who, **columns):
    rows = table["rater_id"] == who
    return table.assign(
        **{name: table[name].mask(rows, new) for name, new in columns.items()}
    )


def found(table, aspects=("tone", "harm")):
    is_doubted, rows = raters.doubtful(table, "overall", aspects)
    assert is_doubted.sum() >= max([row.rows for row in rows], default=0)
    return [(row.what, row.where, row.rows) for row in rows], is_doubted


def test_nothing_is_doubted_where_nothing_is_wrong():
    rows, is_doubted = found(agreeing())
    assert (rows, is_doubted.any()) == ([], False)
    alarms = sum(bool(found(agreeing(seed=seed))[0]) for seed in range(100, 115))
    assert alarms <= 1


def test_a_reversed_rater_is_named_and_the_others_are_not():
    table = agreeing(3)
    table = changed(table, "b", overall=6 - table["overall"])
    rows, is_doubted = found(table)
    assert rows == [(REVERSED, "overall: b", 80)]
    assert (is_doubted == (table["rater_id"] == "b")).all()


def test_of_two_raters_who_contradict_each_other_neither_is_called_reversed():
    table = agreeing(2)
    assert found(changed(table, "b", overall=6 - table["overall"]))[0] == []


def test_copied_ratings_are_those_of_the_later_rater():
    table = agreeing()
    first = table[table["rater_id"] == "a"].set_index("item_id")
    same = {name: table["item_id"].map(first[name]) for name in COLUMNS}
    table = changed(table, "c", **same)
    ((what, where, n_rows),), is_doubted = found(table)
    assert (what, n_rows) == (COPIED, 75)  # in 5 items all marks are usual ones
    assert "a and c: 75 of 75 items; at most" in where
    assert (table["rater_id"][is_doubted] == "c").all()


def test_one_column_does_not_tell_copies_from_agreement():
    table = agreeing()
    first = table[table["rater_id"] == "a"].set_index("item_id")["overall"]
    table = changed(table, "c", overall=table["item_id"].map(first))
    assert found(table, ())[0] == []


def test_a_rater_who_never_varies_is_doubted():
    rows, is_doubted = found(changed(agreeing(), "d", overall=3.0))
    assert rows == [(FLAT, "d", 80)]
    assert is_doubted.sum() == 80


def test_leniency_is_the_distance_from_the_others_on_the_same_items():
    table = agreeing()
    table = changed(table, "a", overall=table["overall"] - 2)
    lenient = raters.leniency(table, "overall")
    marks = table.pivot(index="item_id", columns="rater_id", values="overall")
    others = marks[["b", "c", "d"]].mean(axis="columns")
    assert lenient.loc["a", "estimate"] == pytest.approx((marks["a"] - others).mean())
    assert lenient.loc["a", "low"] < -2 < lenient.loc["a", "high"]
    assert lenient["ratings"].tolist() == [80] * 4
    # items are in clusters of two: the error of the mean of their means
    gaps = (marks["a"] - others).groupby(np.arange(80) // 2).mean()
    margin = 2.0227 * gaps.std(ddof=1) / np.sqrt(40)  # t with 39 degrees of freedom
    width = lenient.loc["a", "high"] - lenient.loc["a", "estimate"]
    assert width == pytest.approx(margin, rel=1e-4)


def test_without_raters_only_rows_can_be_doubted():
    assert found(agreeing().drop(columns="rater_id"))[0] == []
