"""What different people agree on: products of ratings of one item by two raters."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from helpers.files.tables import check_clusters, check_regression
from helpers.moments import ClusterMoments, cluster_sums


def rater_pairs(
    frame: pd.DataFrame, features: Sequence[str], outcome: str, item: str, cluster: str
) -> ClusterMoments:
    """Cross-products of ratings of one item by two different raters.

    Covariances of these moments hold what raters agree on: what one person puts into two of their
    own ratings of an item, such as noise, strictness or a general impression, does not enter them.
    A correlation is that of the agreed parts, which no disagreement between raters lowers.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per (item, rater).
    features : sequence of str
        Columns that explain.
    outcome : str
        Column to explain.
    item : str
        Column of items; those with a single rater add nothing.
    cluster : str
        Column of clusters of items.

    Returns
    -------
    ClusterMoments
        One set per cluster, in sorted order. ``n`` counts ordered pairs of raters.

    Raises
    ------
    ValueError
        If a column cannot be used (see `helpers.files.tables.check_regression`), an item is in two
        clusters or no item has two raters.

    References
    ----------
    Spearman (1904), The Proof and Measurement of Association between Two Things; Carroll et al.
    (2006), Measurement Error in Nonlinear Models, chapter 3.

    Examples
    --------
    >>> frame = pd.DataFrame({"item_id": ["a", "a", "b", "b"], "question_id": [1, 1, 2, 2],
    ...                       "factuality": [3, 1, 0, 2], "acceptability": [3, 1, 1, 3]})
    >>> moments = rater_pairs(frame, ["factuality"], "acceptability", "item_id", "question_id")
    >>> moments.n, moments.xx.squeeze(), moments.xy.squeeze()
    (array([2., 2.]), array([6., 0.]), array([6., 2.]))
    """
    check_regression(frame, features, outcome, cluster)
    check_clusters(frame, item)
    _check_nested(frame, item, cluster)
    if not frame[item].duplicated().any():
        raise ValueError(f"no {item} has two rows: rows of different raters are compared")
    values = frame[[*features, outcome]].to_numpy(dtype=float)
    rows = np.column_stack([np.ones(len(frame)), values])
    items = pd.factorize(frame[item], sort=True)[0]
    totals = cluster_sums(rows, items)
    same_rater = cluster_sums(rows[:, :, None] * rows[:, None, :], items)
    pairs = totals[:, :, None] * totals[:, None, :] - same_rater
    clusters = frame[cluster].to_numpy()[np.unique(items, return_index=True)[1]]
    return ClusterMoments(tuple(features), outcome, cluster_sums(pairs, clusters))


def _check_nested(frame: pd.DataFrame, item: str, cluster: str) -> None:
    """Stop at the first item whose rows are in different clusters."""
    homes = frame[[item, cluster]].drop_duplicates()
    divided = homes[item].duplicated()
    if divided.any():
        name = homes.loc[divided, item].iloc[0]
        raise ValueError(f"{item} {name} is in more than one {cluster}: put it into one of them")
