"""From single ratings to Lasso weights with intervals, for tables of any size.

Ratings are aggregated over raters, then reduced to sums within clusters. From there on time and
memory depend on the number of clusters, and replicates can be shared out over processes.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from helpers.batches import in_batches
from helpers.descent import solve_lasso
from helpers.files.ratings import aggregate
from helpers.means import interval_table
from helpers.moments import ClusterMoments, cluster_moments
from helpers.regression import lasso_bootstrap, selection_frequency


def rating_moments(
    ratings: pd.DataFrame, features: Sequence[str], outcome: str, item: str, cluster: str
) -> ClusterMoments:
    """Reduce single ratings to sums over items within clusters.

    Parameters
    ----------
    ratings : pandas.DataFrame, shape (n_ratings, n_columns)
        Wide form, one row per (item, rater).
    features : sequence of str
        Columns that explain, such as error labels; raters' most frequent value counts.
    outcome : str
        Column to explain, averaged over raters.
    item : str
        Column of items.
    cluster : str
        Column of clusters, for example the prompt; the same in all rows of an item.

    Returns
    -------
    ClusterMoments
        One set per cluster.

    Raises
    ------
    ValueError
        If a column cannot be used (see `helpers.files.ratings.aggregate` and
        `helpers.files.tables.check_regression`).

    Examples
    --------
    >>> ratings = pd.DataFrame({"item": [1, 1, 2, 3], "prompt": ["a", "a", "a", "b"],
    ...                         "refusal": [0, 0, 1, 0], "quality": [5, 4, 1, 3]})
    >>> moments = rating_moments(ratings, ["refusal"], "quality", "item", "prompt")
    >>> moments.n, moments.sum_y
    (array([2., 1.]), array([5.5, 3. ]))
    """
    items = aggregate(ratings, item, mean=[outcome], mode=features, first=[cluster])
    return cluster_moments(items, features, outcome, cluster)


def lasso_table(
    moments: ClusterMoments, alpha: float, n_boot: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Lasso weights with intervals from replicates that are drawn in batches.

    Parameters
    ----------
    moments : ClusterMoments
        One set per cluster.
    alpha : float
        Penalty, positive.
    n_boot : int
        Number of replicates.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    pandas.DataFrame
        For each feature its weight as ``estimate``, the 95 % interval ``low`` to ``high``, and
        ``selected``, the share of replicates in which its weight is not zero.

    Raises
    ------
    ValueError
        If there are fewer than two clusters, no replicates, or `alpha` is not positive.

    References
    ----------
    Tibshirani (1996); Efron and Tibshirani (1993), chapters 9 and 13.

    Examples
    --------
    >>> frame = pd.DataFrame({"refusal": [0, 1] * 8, "quality": [5.0, 2.0] * 8,
    ...                       "prompt_id": np.arange(16) // 4})
    >>> moments = cluster_moments(frame, ["refusal"], "quality", "prompt_id")
    >>> lasso_table(moments, 0.05, 100, np.random.default_rng(0))
             estimate  low  high  selected
    refusal      -2.8 -2.8  -2.8       1.0
    """
    names = list(moments.features)
    gram, cross, _ = moments.total().covariances()
    weights = pd.Series(solve_lasso(gram, cross, alpha)[0], index=names)
    draws = in_batches(lasso_bootstrap, moments, alpha, n_boot=n_boot, rng=rng)
    draws = pd.DataFrame(draws, columns=names)
    return interval_table(weights, draws).assign(selected=selection_frequency(draws))
