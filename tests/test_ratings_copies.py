"""Copied rows: told where they are, not where people agree by themselves."""

import numpy as np
import pandas as pd
import pytest

from benchmarks import alarms
from ratings import copies, intake

COLUMNS = ["overall", "aspect 1", "aspect 2", "aspect 3"]


def told(name, designs, seed=0):
    table = alarms.draw(designs[name], np.random.default_rng(seed))
    columns = ["overall", *(each for each in table if each.startswith("aspect"))]
    return copies.copied_rows(table, columns)


@pytest.mark.parametrize("name", alarms.HONEST)
def test_no_alarm_where_everybody_judges_for_themselves(name):
    found, is_copied = told(name, alarms.HONEST)
    assert found.empty
    assert not is_copied.any()


@pytest.mark.parametrize(
    ("name", "kind", "who"),
    [
        ("half of the items, 5 of each, no names", "items", ""),
        ("half of the items, 3 of each", "items", ""),
        ("all items of one system of ten", "system", "0"),
        ("a rater copies all", "raters", "0 and 1"),
    ],
)
def test_copied_rows_are_told_of_those_who_have_them(name, kind, who):
    found, is_copied = told(name, alarms.COPIED, seed=1)
    assert found[["kind", "who"]].to_numpy().tolist() == [[kind, who]]
    assert is_copied.any()


def test_columns_that_follow_from_others_do_not_count():
    # without this all pairs that agree on the aspects would agree on their mean
    table = alarms.draw(alarms.HONEST["outcome computed"], np.random.default_rng(0))
    marks = copies._codes(table, COLUMNS)
    item = table["item_id"].to_numpy()
    usual = np.array([np.bincount(column).argmax() for column in marks.T])
    follows = copies._follow(marks, item, usual, np.random.default_rng(0))
    assert follows[0]


def test_rows_have_numbers_in_their_order(monkeypatch):
    marks = np.random.default_rng(0).integers(0, 3, (200, 4))
    digits = intake.row_codes(marks)
    monkeypatch.setattr(intake, "LARGEST_CODE", 0)
    ranks = intake.row_codes(marks)
    order = np.lexsort(marks.T[::-1])
    for codes in (digits, ranks):
        step = np.diff(codes[order])
        is_same = (np.diff(marks[order], axis=0) == 0).all(axis=1)
        assert ((step == 0) == is_same).all()
        assert (step >= 0).all()


def test_the_pairs_of_an_item_are_all_its_pairs():
    item = np.array([0, 1, 0, 1, 0, 2])
    first, second = copies._pairs(item, np.random.default_rng(0))
    both = np.column_stack([first, second]).tolist()
    pairs = {frozenset(pair) for pair in both}
    assert pairs == {frozenset(each) for each in [(0, 2), (0, 4), (2, 4), (1, 3)]}


@pytest.mark.parametrize(
    ("unit", "column"),
    [("a system", "system_id"), ("a rater", "rater_id"), ("an item", "item_id")],
)
def test_a_property_of_a_unit_is_no_mark_of_each_rating(unit, column):
    table = alarms.draw(
        alarms.HONEST["5 of each item, systems"], np.random.default_rng(0)
    )
    values = np.random.default_rng(1).permutation(table[column].max() + 1) % 7
    table["length"] = values[table[column]] * 1.0
    found = intake.constant_within(table, [*COLUMNS, "length"])
    assert found == {"length": unit}
    rows = list(intake.findings(table, [*COLUMNS, "length"], {}))
    assert [row.what for row in rows if row.where == "length"] == [
        f"never varies within {unit}"
    ]


def test_an_outcome_by_a_formula_that_is_no_sum_is_told():
    rng = np.random.default_rng(0)
    marks = rng.integers(1, 6, (600, 2)) * 1.0
    table = pd.DataFrame(marks, columns=["accuracy", "recall"])
    table["overall"] = marks.min(axis=1)
    table = table.assign(item_id=range(600), prompt_id=range(600))
    study = intake.prepare(table, "overall", ["accuracy", "recall"], rng)
    assert "follows from accuracy, recall" in study.identity
    table["overall"] += rng.random(600) < 0.1
    study = intake.prepare(table, "overall", ["accuracy", "recall"], rng)
    assert study.identity == ""
