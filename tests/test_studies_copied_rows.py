"""Copied rows: told where they are, not where people agree by themselves."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from helpers.studies import copied_rows as copies

COLUMNS = ["overall", "aspect 1", "aspect 2", "aspect 3"]


@dataclass(frozen=True)
class Raters:
    """How honest files are made: each rater draws marks around what an item is."""

    items: int = 200
    per_item: int = 3
    raters: int = 9  # none: no names
    columns: int = 4
    marks: int = 5
    item: float = 1.0  # spread of items, shared by raters
    noise: float = 1.0  # of a single mark
    halo: float = 0.5  # of a rater for an item, in all columns
    leniency: float = 0.4
    top: float = 0.0  # how far marks are pushed to the highest one
    clear: float = 0.0  # share of items on which hardly anybody errs
    slip: float = 0.05  # share of marks that are off in clear items
    flags: float = 0.0  # share of marked cells, if marks are flags
    computed: bool = False  # the outcome is the rounded mean of the aspects
    systems: int = 0
    copied: float = 0.0  # share of items, or of a pair's items, with copied rows
    copies: str = "items"


def draw(design: Raters, rng: np.random.Generator) -> pd.DataFrame:
    """One file."""
    n = design.items * design.per_item
    item = np.repeat(np.arange(design.items), design.per_item)
    n_raters = design.raters or 30
    order = np.argsort(rng.random((design.items, n_raters)), axis=1)
    rater = order[:, : design.per_item].ravel()
    latent = design.item * rng.normal(size=(design.items, design.columns))[item]
    latent += design.item * rng.normal(size=design.items)[item][:, None]
    latent += design.halo * rng.normal(size=n)[:, None]
    latent += design.leniency * rng.normal(size=n_raters)[rater][:, None]
    noise = design.noise * rng.normal(size=latent.shape)
    if design.clear:
        # in clear items people differ by slips only
        is_clear = rng.random(design.items) < design.clear
        truth = design.item * rng.normal(size=(design.items, design.columns))[item]
        slips = rng.random(latent.shape) < design.slip
        latent = np.where(is_clear[item][:, None], truth, latent)
        noise = np.where(is_clear[item][:, None], 1.5 * slips * noise, noise)
    latent = latent + noise + design.top
    if design.flags:
        marks = (latent > np.quantile(latent, 1 - design.flags)) * 1.0
    else:
        middle = (1 + design.marks) / 2
        marks = np.clip(np.round(middle + latent), 1, design.marks)
    if design.copied:
        marks = copy_some(marks, item, rater, design, rng)
    if design.computed:
        marks[:, -1] = np.round(marks[:, :-1].mean(axis=1))
    names = [f"aspect {number}" for number in range(1, design.columns)]
    table = pd.DataFrame(marks, columns=[*names, "overall"])
    table.insert(0, "item_id", item)
    table.insert(1, "prompt_id", item // 2)
    if design.raters:
        table.insert(2, "rater_id", rater)
    if design.systems:
        table["system_id"] = item % design.systems
    return table


def copy_some(
    marks: np.ndarray,
    item: np.ndarray,
    rater: np.ndarray,
    design: Raters,
    rng: np.random.Generator,
) -> np.ndarray:
    """Copy rows: in some items, in items of one system, or by one rater of another."""
    marks = marks.copy()
    first_of_item = np.flatnonzero(np.r_[True, item[1:] != item[:-1]])[item]
    is_chosen = rng.random(design.items)[item] < design.copied
    if design.copies == "system":
        is_chosen &= item % design.systems == 0
    if design.copies != "raters":
        marks[is_chosen] = marks[first_of_item[is_chosen]]
        return marks
    for number in np.unique(item[is_chosen]):
        rows = np.flatnonzero(item == number)
        source = rows[rater[rows] == 0]
        target = rows[rater[rows] == 1]
        if len(source) and len(target):
            marks[target] = marks[source]
    return marks


HONEST = {
    "usual": Raters(),
    "no names": Raters(raters=0),
    "2 raters of each item": Raters(per_item=2),
    "5 of each item, systems": Raters(per_item=5, systems=10),
    "3 raters rate all": Raters(raters=3),
    "60 raters, few ratings each": Raters(raters=60),
    "raters agree well": Raters(noise=0.35, halo=0.2, item=1.2),
    "raters agree very well": Raters(noise=0.2, halo=0.1, leniency=0.1, item=1.5),
    "strong halo": Raters(halo=2.0),
    "strong halo, agree well": Raters(halo=1.0, noise=0.3),
    "lenient and harsh raters": Raters(leniency=1.5),
    "ceiling": Raters(top=2.0),
    "half of items clear": Raters(clear=0.5),
    "half of items clear, 2 % slips": Raters(clear=0.5, slip=0.02),
    "half of items clear, no names": Raters(clear=0.5, raters=0, per_item=5),
    "three marks": Raters(marks=3),
    "flags": Raters(flags=0.3),
    "rare flags, ten": Raters(flags=0.05, columns=10),
    "reliable flags": Raters(flags=0.3, noise=0.2, halo=0.1, leniency=0.1),
    "reliable flags, half clear": Raters(flags=0.3, noise=0.3, clear=0.5, slip=0.02),
    "two columns": Raters(columns=2),
    "two columns, agree well": Raters(columns=2, noise=0.35, halo=0.2),
    "ten columns": Raters(columns=10, items=150),
    "outcome computed": Raters(computed=True),
    "600 items": Raters(items=600),
    "600 items, half clear, 2 % slips": Raters(items=600, clear=0.5, slip=0.02),
}
COPIED = {
    "half of the items, 5 of each, no names": Raters(
        raters=0, per_item=5, copied=0.5, items=400
    ),
    "half of the items, 3 of each": Raters(copied=0.5, items=400),
    "a fifth of the items, 3 of each": Raters(copied=0.2, items=400),
    "all items of one system of ten": Raters(
        copied=1.0, copies="system", systems=10, items=400
    ),
    "a rater copies all": Raters(raters=3, copied=1.0, copies="raters"),
    "a rater copies half": Raters(raters=3, copied=0.5, copies="raters"),
    "a rater copies all, 9 raters": Raters(copied=1.0, copies="raters", items=600),
}


def told(name, designs, seed=0):
    table = draw(designs[name], np.random.default_rng(seed))
    columns = ["overall", *(each for each in table if each.startswith("aspect"))]
    return copies.copied_rows(table, columns)


@pytest.mark.parametrize("name", HONEST)
def test_no_alarm_where_everybody_judges_for_themselves(name):
    found, is_copied = told(name, HONEST)
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
    found, is_copied = told(name, COPIED, seed=1)
    assert found[["kind", "who"]].to_numpy().tolist() == [[kind, who]]
    assert is_copied.any()


def test_columns_that_follow_from_others_do_not_count():
    # without this all pairs that agree on the aspects would agree on their mean
    table = draw(HONEST["outcome computed"], np.random.default_rng(0))
    marks = copies._codes(table, COLUMNS)
    item = table["item_id"].to_numpy()
    usual = np.array([np.bincount(column).argmax() for column in marks.T])
    follows = copies._follow(marks, item, usual, np.random.default_rng(0))
    assert follows[0]


def test_rows_have_numbers_in_their_order(monkeypatch):
    marks = np.random.default_rng(0).integers(0, 3, (200, 4))
    digits = copies.row_codes(marks)
    monkeypatch.setattr(copies, "LARGEST_CODE", 0)
    ranks = copies.row_codes(marks)
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
