"""Several ratings of an item become one row: means, majorities, first values."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from helpers.stats import checks
from helpers.stats.moments import ratio


def aggregate(
    frame: pd.DataFrame,
    by: str | Sequence[str],
    mean: Sequence[str] = (),
    mode: Sequence[str] = (),
    first: Sequence[str] = (),
) -> pd.DataFrame:
    """Sum up ratings in one row per group: means, averages of modes, first values."""
    by = [by] if isinstance(by, str) else list(by)
    checks.check_complete(frame, by)
    checks.check_numeric(frame, [*mean, *mode], missing="allow")
    group = frame.groupby(by).ngroup().to_numpy()
    _, first_rows = np.unique(group, return_index=True)
    n_groups = len(first_rows)
    table = frame.iloc[first_rows][[*by, *first]].reset_index(drop=True)
    table["n_ratings"] = np.bincount(group, minlength=n_groups)
    for column in mean:
        table[column] = frame[column].astype(float).groupby(group).mean()
    for column in mode:
        values = frame[column].to_numpy(dtype=float)
        table[column] = _group_modes(values, group, n_groups)
    return table


def _group_modes(values: np.ndarray, group: np.ndarray, n_groups: int) -> np.ndarray:
    """Average the most frequent values of each group, missing ones left out."""
    codes, options = pd.factorize(values, sort=True)
    is_known = codes >= 0
    # how often each value occurs in each group
    counts = np.zeros((len(options), n_groups))
    np.add.at(counts, (codes[is_known], group[is_known]), 1)
    # at least 1: values that nobody gave are no mode of a group without values
    is_mode = counts == counts.max(axis=0, initial=1)
    n_modes = is_mode.sum(axis=0)
    return ratio(options @ is_mode, n_modes)


def item_means(
    ratings: pd.DataFrame, item: str, columns: Sequence[str]
) -> tuple[pd.Index, Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]]:
    """Make a function that averages the raters of each item, from weights of ratings.

    Parameters
    ----------
    ratings : pandas.DataFrame
        One row per item and rater.
    item : str
        Column of items.
    columns : sequence of str
        Columns to average, without missing values.

    Returns
    -------
    items : pandas.Index
        The items in sorted order.
    compute : callable
        From weights of rows, zeros and ones of shape (n_sets, n_rows), to two arrays:
        1 for each item that has a rater who counts, and 0 for others, of shape (n_sets,
        n_items); and the means, of shape (n_columns, n_sets, n_items).

    Raises
    ------
    ValueError
        If a column cannot be used.

    Examples
    --------
    >>> ratings = pd.DataFrame({"item_id": list("aab"), "quality": [1.0, 3.0, 5.0]})
    >>> items, compute = item_means(ratings, "item_id", ["quality"])
    >>> present, means = compute(np.array([[1, 1, 1], [1, 0, 0]]))
    >>> present, means[0]
    (array([[1., 1.],
           [1., 0.]]), array([[2., 5.],
           [1., 0.]]))
    """
    checks.check_clusters(ratings, item)
    checks.check_numeric(ratings, columns)
    codes, items = pd.factorize(ratings[item], sort=True)
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(len(items)))
    raw = ratings[list(columns)].to_numpy(dtype=float)[order]

    def compute(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        present, means = means_of_sorted(weights[:, order], starts, raw)
        return present, np.stack(means)

    return pd.Index(items, name=item), compute


def means_of_sorted(
    counted: np.ndarray, starts: np.ndarray, raw: np.ndarray
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Which items have raters who count, and means over these, of each column.

    Arrays of shape (n_sets, n_items); rows are sorted by item.
    """
    n_raters = np.add.reduceat(counted, starts, axis=1)
    means = []
    for values in raw.T:
        total = np.add.reduceat(counted * values, starts, axis=1)
        means.append(total / np.maximum(n_raters, 1))
    return (n_raters > 0).astype(float), means
