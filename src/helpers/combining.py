"""One label of an item from the labels of several raters, by rules that people choose among."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from helpers import dawid_skene
from helpers.files.tables import check_clusters, check_numeric
from helpers.stats.moments import cluster_sums

MODES = {
    "mode, ties halved": "middle",
    "mode, ties low": "lowest",
    "mode, ties high": "highest",
}
RULES = ("mean", *MODES, "Dawid–Skene", "Dawid–Skene, pooled")
LEAST_LABELS = 10  # of a rater who has a confusion matrix of their own when others are pooled


def combine(
    ratings: pd.DataFrame, columns: Sequence[str], rule: str, item: str, rater: str
) -> pd.DataFrame:
    """Combine the ratings of each item.

    Parameters
    ----------
    ratings : pandas.DataFrame
        One row per item and rater.
    columns : sequence of str
        Numeric columns, combined one by one.
    rule : str
        One of `RULES`: the mean; the most frequent value, with those that tie averaged, or the
        lowest or the highest of them; or the expected value under the model of
        `helpers.dawid_skene`, with or without raters of few labels taken as one.
    item, rater : str
        Columns of items and raters.

    Returns
    -------
    pandas.DataFrame, shape (n_items, n_columns)
        Indexed by item in sorted order.

    Raises
    ------
    ValueError
        If the rule is unknown or a column cannot be used.

    Examples
    --------
    >>> ratings = pd.DataFrame({"item_id": ["a", "a", "b"], "rater_id": [1, 2, 1],
    ...                         "refusal": [0, 1, 1]})
    >>> {rule: combine(ratings, ["refusal"], rule, "item_id", "rater_id")["refusal"].tolist()
    ...  for rule in ("mean", "mode, ties low", "mode, ties high")}
    {'mean': [0.5, 1.0], 'mode, ties low': [0.0, 1.0], 'mode, ties high': [1.0, 1.0]}
    """
    if rule not in RULES:
        raise ValueError(f"rule {rule!r} is unknown: choose one of {', '.join(RULES)}")
    check_numeric(ratings, columns)
    for name in (item, rater):
        check_clusters(ratings, name)
    items = pd.Index(np.sort(ratings[item].unique()), name=item)
    if rule == "mean":
        combined = [_mean(ratings[column], ratings[item]) for column in columns]
    elif rule in MODES:
        combined = [_mode(ratings[column], ratings[item], MODES[rule]) for column in columns]
    else:
        labels = ratings[[item, rater, *columns]]
        if rule == "Dawid–Skene, pooled":
            pooled = dawid_skene.pool_occasional(ratings[rater].astype(str), LEAST_LABELS)
            labels = labels.assign(**{rater: pooled})
        combined = [_expected(labels, item, rater, column) for column in columns]
    return pd.DataFrame(np.column_stack(combined), items, list(columns))


def _mean(values: pd.Series, items: pd.Series) -> np.ndarray:
    """Mean of each item."""
    rows = np.column_stack([values.to_numpy(dtype=float), np.ones(len(values))])
    total, count = cluster_sums(rows, items).T
    return total / count


def _mode(values: pd.Series, items: pd.Series, ties: str) -> np.ndarray:
    """Most frequent value of each item."""
    codes, options = pd.factorize(values.to_numpy(dtype=float), sort=True)
    counts = cluster_sums(np.eye(len(options))[codes], items)
    winners = counts == counts.max(axis=1, keepdims=True)
    if ties == "middle":
        return winners @ options / winners.sum(axis=1)
    first = winners.argmax(axis=1)
    last = len(options) - 1 - winners[:, ::-1].argmax(axis=1)
    return options[first if ties == "lowest" else last]


def _expected(ratings: pd.DataFrame, item: str, rater: str, column: str) -> np.ndarray:
    """Expected true value of each item; the one value there is where nobody disagrees."""
    values = ratings[column].to_numpy(dtype=float)
    if (values == values[0]).all():
        return np.full(ratings[item].nunique(), values[0])
    return dawid_skene.fit(ratings, item, rater, column).expected().to_numpy()
