"""Rows that are the same more often than people who judge by themselves give them.

People agree, on clear items often and on all columns. But where two of them gave the
same marks in every column but one, the last one differs now and then, above all if the
mark is an unusual one: not the most frequent of its column. Rows that were copied have
no such near misses. So the check counts pairs of ratings of one
item that are the same in all columns, and pairs that differ in one. It speaks if there
are more of the former for each of the latter than honest pairs can have: `STEP` (20)
times the odds with which pairs agree on an unusual mark that differ in exactly one
other column. Raters who agree well agree well there, too. In files without fault
(33 designs) odds rise by less than this even where half of the items are so
clear that only 2 % of their marks are slips.
One pair of each item counts, drawn at random, so that the binomial test is exact for
independent items. Columns that follow from the others (a sum of them) are left out.
"""

import math
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

LARGEST_CODE = 2**62  # that fits into an integer
STEP = 20.0  # between odds
FOLLOWS = 0.9  # agreement of different items: the column is made of the others
MOST_PAIRS = 300_000
FEWEST = 10  # items that can tell something
ALARM = 0.01  # chance of any false alarm, over the file, its systems and its raters
SEED = 0


class Pairs(NamedTuple):
    """Pairs of ratings of one item.

    Parameters
    ----------
    first, second : numpy.ndarray of int
        Rows of the table.
    item : numpy.ndarray of int
        The item of each pair.
    is_same : numpy.ndarray of bool
        The same in all columns, with an unusual mark in one of them.
    is_near : numpy.ndarray of bool
        The same in all columns but one, with an unusual mark in that one.
    """

    first: np.ndarray
    second: np.ndarray
    item: np.ndarray
    is_same: np.ndarray
    is_near: np.ndarray


def copied_rows(table: pd.DataFrame, columns: list) -> tuple[pd.DataFrame, np.ndarray]:
    """Look for rows that are the same in all columns more often than chance gives.

    Parameters
    ----------
    table : pandas.DataFrame
        Ratings with ``item_id``, perhaps ``rater_id`` and ``system_id``.
    columns : list of str
        Columns of marks, each given by every rater.

    Returns
    -------
    pandas.DataFrame
        A row per alarm: ``kind`` ("items", "system" or "raters"), ``who``, how many
        ``items`` tell something, in how many the pair is the ``same``, the ``limit`` of
        their share, and ``p``.
    numpy.ndarray of bool, shape (n_rows,)
        Rows that are the same as an earlier one of their item, where an alarm speaks of
        them.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> marks = rng.integers(1, 6, (150, 3)).repeat(2, axis=0)
    >>> marks[150:] = rng.integers(1, 6, (150, 3))
    >>> table = pd.DataFrame(marks, columns=["tone", "depth", "overall"])
    >>> table["item_id"] = np.arange(300) // 2
    >>> found, is_copied = copied_rows(table, ["tone", "depth", "overall"])
    >>> found[["kind", "items", "same"]]
        kind  items  same
    0  items     86    75
    >>> int(is_copied.sum())
    75
    """
    nothing = pd.DataFrame(columns=["kind", "who", "items", "same", "limit", "p"])
    is_copied = np.zeros(len(table), dtype=bool)
    if len(columns) < 2:
        return nothing, is_copied  # one column does not tell copies from agreement
    rng = np.random.default_rng(SEED)
    marks = _codes(table, columns)
    is_whole = (marks >= 0).all(axis=1)
    rows = np.flatnonzero(is_whole)
    if not len(rows):
        return nothing, is_copied
    marks = marks[rows]
    item = pd.factorize(table["item_id"].to_numpy()[rows])[0]
    usual = np.array([np.bincount(column).argmax() for column in marks.T], dtype=int)
    is_free = ~_follow(marks, item, usual, rng)
    first, second = _pairs(item, rng)
    if not len(first) or is_free.sum() == 0:
        return nothing, is_copied
    pairs, odds = _compare(marks, item, usual, is_free, first, second)
    limit = odds / (1 + odds)
    found = []
    is_told = np.zeros(len(first), dtype=bool)
    for kind, groups in _groups(table, rows, pairs).items():
        level = ALARM / 3 / max(len(groups), 1)
        for who, members in groups.items():
            # the file as a whole, without what was told of some of its parts
            rest = members[~is_told[members]] if kind == "items" else members
            row = _test(pairs, rest, limit, rng)
            if row is not None and row["p"] < level:
                found.append({"kind": kind, "who": who, **row})
                is_told[rest] = True
    same = is_told & pairs.is_same
    is_copied[rows[np.maximum(first, second)[same]]] = True
    return (pd.DataFrame(found) if found else nothing), is_copied


def _codes(table: pd.DataFrame, columns: list) -> np.ndarray:
    """Number the marks of each column; -1 where there is none."""
    codes = [pd.factorize(table[column], sort=True)[0] for column in columns]
    return np.array(codes).T  # column by column in memory, as they are read


def _pairs(item: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of rows of the same item; some at random if there are very many."""
    order = np.argsort(item, kind="stable")
    sizes = np.bincount(item)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    n_pairs = (sizes * (sizes - 1) // 2).sum()
    most = sizes.max()
    if n_pairs > MOST_PAIRS:
        # neighbours in a random order of the rows of each item
        order = together(item, _shuffled(len(item), rng))
        most = max(2, int(MOST_PAIRS / max((sizes > 1).sum(), 1)) + 1)
    first = []
    second = []
    numbers = np.arange(len(item)) - starts[item[order]]
    n_of_item = sizes[item[order]]
    for distance in range(1, most):
        # the two rows of a pair stand so far apart among the rows of their item
        has_other = numbers + distance < n_of_item
        place = np.flatnonzero(has_other)
        if not len(place):
            break
        first.append(order[place])
        second.append(order[place + distance])
        if sum(map(len, first)) > MOST_PAIRS:
            break
    if not first:
        return np.array([], dtype=int), np.array([], dtype=int)
    return np.concatenate(first), np.concatenate(second)


def _shuffled(n_rows: int, rng: np.random.Generator) -> np.ndarray:
    """Give each row a place in a random order."""
    order = np.argsort(rng.random(n_rows))
    places = np.empty(n_rows, dtype=np.int64)
    places[order] = np.arange(n_rows)
    return places


def _follow(
    marks: np.ndarray, item: np.ndarray, usual: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Tell which columns follow from the others, from rows of different items."""
    n_rows, n_columns = marks.shape
    follows = np.zeros(n_columns, dtype=bool)
    for column in range(n_columns):
        key = row_codes(np.delete(marks, column, axis=1))
        # neighbours in a random order of the rows with the same other marks
        order = together(key, _shuffled(n_rows, rng))
        in_order = key[order]
        place = np.flatnonzero(in_order[:-1] == in_order[1:])
        a = order[place]
        b = order[place + 1]
        is_pair = item[a] != item[b]
        values = marks[:, column]
        is_unusual = (values[a] != usual[column]) | (values[b] != usual[column])
        is_told = is_pair & is_unusual
        if is_told.sum() >= FEWEST:
            follows[column] = (values[a] == values[b])[is_told].mean() > FOLLOWS
    return follows


def _compare(
    marks: np.ndarray,
    item: np.ndarray,
    usual: np.ndarray,
    is_free: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
) -> tuple[Pairs, float]:
    """What each pair tells, and the odds of agreement that honest pairs may reach.

    Columns that follow from others are no last column, and do not count as others.
    """
    marks = marks[:, is_free]
    usual = usual[is_free]
    n_columns = marks.shape[1]
    agrees = marks[first] == marks[second]
    is_unusual = (marks[first] != usual) | (marks[second] != usual)
    n_same = agrees.sum(axis=1)
    n_unusual = (is_unusual & agrees).sum(axis=1)
    is_same = (n_same == n_columns) & (n_unusual > 0)
    is_near = (n_same == n_columns - 1) & (is_unusual & ~agrees).any(axis=1)
    # exactly one other column differs
    n_agree = n_unusual[n_same == n_columns - 1].sum()
    n_differ = ((n_same == n_columns - 2)[:, None] & is_unusual & ~agrees).sum()
    odds = (n_agree + 1) / (n_differ + 1)
    # A pair that is the same throughout could have missed in each unusual mark.
    chances = n_unusual[is_same].mean() if is_same.any() else 1.0
    return Pairs(first, second, item[first], is_same, is_near), STEP * odds / chances


def _groups(table: pd.DataFrame, rows: np.ndarray, pairs: Pairs) -> dict[str, dict]:
    """Pairs of each two raters, of each system, and of the whole file."""
    everything = np.arange(len(pairs.item))
    groups = {"raters": {}, "system": {}, "items": {"": everything}}
    if "system_id" in table:
        system = table["system_id"].astype(str).to_numpy()[rows][pairs.first]
        groups["system"] = pd.Series(everything).groupby(system).indices
    if "rater_id" in table:
        rater = table["rater_id"].astype(str).to_numpy()[rows]
        codes, names = pd.factorize(rater, sort=True)
        one = np.minimum(codes[pairs.first], codes[pairs.second])
        two = np.maximum(codes[pairs.first], codes[pairs.second])
        by_pair = pd.Series(everything).groupby(one * len(names) + two).indices
        for pair, members in by_pair.items():
            who = f"{names[pair // len(names)]} and {names[pair % len(names)]}"
            groups["raters"][who] = members
    return groups


def _test(
    pairs: Pairs, members: np.ndarray, limit: float, rng: np.random.Generator
) -> dict | None:
    """Test whether more agree than the limit, with one pair for each item."""
    shuffled = members[rng.permutation(len(members))]
    _, one_each = np.unique(pairs.item[shuffled], return_index=True)
    chosen = shuffled[one_each]
    n_same = int(pairs.is_same[chosen].sum())
    n_items = n_same + int(pairs.is_near[chosen].sum())
    if n_items < FEWEST:
        return None
    return {
        "items": n_items,
        "same": n_same,
        "limit": limit,
        "p": float(stats.binom.sf(n_same - 1, n_items, limit)),
    }


def row_codes(marks: np.ndarray) -> np.ndarray:
    """Number rows of codes in their order; rows that are the same have one number.

    Examples
    --------
    >>> row_codes(np.array([[1, 0], [0, 2], [1, 0]])).tolist()
    [3, 2, 3]
    """
    sizes = [int(size) for size in marks.max(axis=0) + 1]
    if math.prod(sizes) < LARGEST_CODE:  # digits of one number: no sorting of rows
        code = np.zeros(len(marks), dtype=np.int64)
        for size, column in zip(sizes, marks.T, strict=True):
            code = code * size + column
        return code
    return np.unique(marks, axis=0, return_inverse=True)[1].ravel()


def together(key: np.ndarray, rank: np.ndarray) -> np.ndarray:
    """Order rows so that those with one key stand together, the lowest rank first.

    Faster than `numpy.lexsort`: which key comes first does not matter.

    Examples
    --------
    >>> together(np.array([7, 5, 7, 5]), np.array([1, 0, 0, 1])).tolist()
    [2, 0, 1, 3]
    """
    codes = pd.factorize(key)[0]
    return np.argsort(codes * len(codes) + rank, kind="stable")
