"""What stands out in columns and rows before any analysis, and what follows."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

MOSTLY = 0.5  # an aspect that is missing in more rows than this is left out
FEW_CLUSTERS = 30
FEW_MARKS = 11  # a scale of up to so many marks is one of steps
# What a column is a property of, the largest unit first, and what follows.
UNITS = {
    "system_id": "a system",
    "rater_id": "a rater",
    "prompt_id": "a cluster",
    "item_id": "an item",
}
WITHIN = {
    "a system": "it tells systems apart and nothing else: it has no weight with "
    "systems held equal",
    "a rater": "it tells raters apart and nothing else: within raters it says nothing",
    "a cluster": "all items of a cluster share it: it is no mark of each rating, and "
    "no agreement is computed on it",
    "an item": "all ratings of an item share it: one value written beside each, or "
    "full agreement; no agreement is computed on it",
}
SURE_ITEMS = 90  # with an unusual mark and no disagreement: 0.95 to the 90th is 0.01
SURE_VALUES = 10  # the same for columns of many values, on which people rarely agree


class Finding(NamedTuple):
    """Something that a reader should know about a table of ratings.

    Parameters
    ----------
    what : str
        What is odd.
    where : str
        Column or raters; empty if it is in all.
    rows : int
        Number of ratings.
    consequence : str
        What follows for the conclusions.
    """

    what: str
    where: str
    rows: int
    consequence: str


def findings(table: pd.DataFrame, columns: Sequence[str]) -> Iterator[Finding]:
    """What a reader should know about columns, the outcome first, and rows."""
    yield from _missing(table, columns)
    yield from _constant(table, columns)
    yield from _constant_within(table, columns)
    yield from _shared_items(table)
    yield from _repeated(own_items(table))
    yield from _few_clusters(table)


def _missing(table: pd.DataFrame, columns: Sequence[str]) -> Iterator[Finding]:
    """Columns with empty cells."""
    for column in columns:
        n_missing = int(table[column].isna().sum())
        if n_missing == 0:
            continue
        consequence = "these ratings are left out where the column is needed"
        if column != columns[0] and n_missing > MOSTLY * len(table):
            consequence = "the aspect is left out"
        yield Finding("missing", column, n_missing, consequence)


def _constant(table: pd.DataFrame, columns: Sequence[str]) -> Iterator[Finding]:
    """Columns in which all ratings are the same."""
    consequence = "it says nothing and is left out"
    for column in columns:
        if is_constant(table[column]):
            n_rows = int(table[column].count())
            yield Finding("always the same", column, n_rows, consequence)


def _constant_within(table: pd.DataFrame, columns: Sequence[str]) -> Iterator[Finding]:
    """Columns that never vary within an item, a system, a rater or a cluster."""
    for column, unit in constant_within(table, columns).items():
        n_rows = int(table[column].count())
        yield Finding(f"never varies within {unit}", column, n_rows, WITHIN[unit])


def constant_within(table: pd.DataFrame, columns: Sequence[str]) -> dict[str, str]:
    """Tell of which unit a column is a property, not a mark of each rating.

    Parameters
    ----------
    table : pandas.DataFrame
        Ratings as `ratings.recipes.read` returns them.
    columns : sequence of str
        Columns of marks.

    Returns
    -------
    dict of str to str
        The largest of the units ``"a system"``, ``"a rater"``, ``"a cluster"`` and
        ``"an item"`` within which the column never varies, though there are several
        ratings in it. Columns that do, or of which too few units tell it, are not
        there: raters who agree on 95 % of unusual marks do so in `SURE_ITEMS` items in
        a row once in a hundred times.

    Examples
    --------
    >>> item = np.arange(40) // 2
    >>> table = pd.DataFrame({"item_id": item, "prompt_id": item})
    >>> table = table.assign(length=item * 1.0, tone=np.arange(40) % 5)
    >>> constant_within(table, ["length", "tone"])
    {'length': 'a cluster'}
    """
    found = {}
    for column in columns:
        known = table[table[column].notna()]
        if known.empty or is_constant(known[column]):
            continue
        for key, unit in UNITS.items():
            if key in known and _is_property(known, column, key):
                found[column] = unit
                break
    return found


def _is_property(known: pd.DataFrame, column: str, key: str) -> bool:
    """Tell whether a column has one value in each of enough units."""
    if _varies_within(known[column].to_numpy(), pd.factorize(known[key])[0]):
        return False
    by_unit = known.groupby(key, observed=True)[column]
    ends = by_unit.agg(["min", "max", "size"])
    ends = ends[ends["size"] > 1]
    if ends.empty:
        return False
    usual = known[column].mode().iloc[0]
    unusual = ends[ends["min"] != usual]
    if key in ("system_id", "rater_id"):  # these have many ratings each
        return len(ends) > 1 and unusual["size"].sum() >= SURE_ITEMS
    is_fine = known[column].nunique() > FEW_MARKS
    return len(unusual) >= (SURE_VALUES if is_fine else SURE_ITEMS)


def _varies_within(values: np.ndarray, unit: np.ndarray) -> bool:
    """Tell whether a unit holds two different values; rows without a unit are none."""
    values = values[unit >= 0]
    unit = unit[unit >= 0]
    any_of_unit = np.empty(unit.max(initial=-1) + 1)
    any_of_unit[unit] = values
    return bool((any_of_unit[unit] != values).any())


def is_constant(values: pd.Series) -> bool:
    """Tell whether all numbers that there are in a column are the same."""
    return bool(values.min() == values.max())


def _shared_items(table: pd.DataFrame) -> Iterator[Finding]:
    """Items that stand in several clusters."""
    if own_items(table) is not table:
        what = "items with the same names in several clusters"
        yield Finding(what, "", len(table), "taken for other items")
        return
    pairs = table[["item_id", "prompt_id"]].drop_duplicates()
    shared = pairs["item_id"][pairs["item_id"].duplicated()]
    if len(shared):
        n_rows = int(table["item_id"].isin(shared).sum())
        consequence = "such clusters count as one"
        yield Finding("an item in several clusters", "", n_rows, consequence)


def own_items(table: pd.DataFrame) -> pd.DataFrame:
    """Give items other names in other clusters, if their numbers begin anew in each.

    That is so if most items stand in several clusters.
    """
    item = pd.factorize(table["item_id"])[0]
    cluster = pd.factorize(table["prompt_id"])[0]
    n_items = item.max(initial=0) + 1
    in_cluster = cluster * n_items + item
    if len(np.unique(in_cluster)) <= 1.5 * n_items:
        return table
    return table.assign(item_id=in_cluster)


def _repeated(table: pd.DataFrame) -> Iterator[Finding]:
    """Ratings of an item by the same person, or rows that are the same throughout."""
    if "rater_id" in table:
        is_again = rated_again(table)
        what = "an item rated again by the same rater"
        consequence = "the first rating counts"
    else:
        is_again = table.duplicated()
        what = "same in all columns as a row before"
        consequence = "kept: without raters unclear"
    n_again = int(is_again.sum())
    if n_again:
        yield Finding(what, "", n_again, consequence)


def rated_again(table: pd.DataFrame) -> pd.Series:
    """Tell which ratings are not the first of an item by the same rater."""
    return table.duplicated(["item_id", "rater_id"])


def _few_clusters(table: pd.DataFrame) -> Iterator[Finding]:
    """Clusters that are too few for narrow intervals."""
    n_clusters = table["prompt_id"].nunique()
    if n_clusters < FEW_CLUSTERS:
        df = n_clusters - 1
        consequence = f"{df} degrees of freedom at most: intervals are wide"
        what = f"only {number_of(n_clusters, 'cluster')}"
        yield Finding(what, "", len(table), consequence)


def number_of(n: int, word: str) -> str:
    """Write a number with its noun."""
    return f"{n:,} {word}" if n == 1 else f"{n:,} {word}s"
