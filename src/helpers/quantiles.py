"""Medians and other quantiles of skewed measurements, with intervals from resampled clusters."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.sparse import coo_array

from helpers.files.tables import check_clusters, check_numeric
from helpers.resampling import cluster_weights, interval


def bootstrap_quantiles(
    frame: pd.DataFrame,
    column: str,
    cluster: str,
    shares: Sequence[float],
    n_boot: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Bootstrap draws of quantiles of a column, resampling clusters of rows.

    A quantile is the smallest value with at least the given share of rows at or below it.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per observation.
    column : str
        Numeric column.
    cluster : str
        Column of clusters.
    shares : sequence of float
        Which quantiles, above 0 and up to 1; 0.5 is the median.
    n_boot : int
        Number of replicates.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    numpy.ndarray, shape (n_boot, len(shares))

    Raises
    ------
    ValueError
        If a share is not above 0 and up to 1, the column is not numeric or has a gap, a cluster
        label is missing, or there are fewer than two clusters.

    References
    ----------
    Hyndman and Fan (1996), Sample quantiles in statistical packages, definition 1; Efron and
    Tibshirani (1993), An Introduction to the Bootstrap, chapters 6 and 8.

    Examples
    --------
    >>> frame = pd.DataFrame({"seconds": [10, 20, 60], "rater_id": ["a", "b", "c"]})
    >>> draws = bootstrap_quantiles(
    ...     frame, "seconds", "rater_id", [0.5], 200, np.random.default_rng(0))
    >>> np.unique(draws)
    array([10., 20., 60.])
    """
    shares = np.asarray(shares, dtype=float)
    if not ((shares > 0) & (shares <= 1)).all():
        raise ValueError(f"shares must be above 0 and up to 1, got {shares.tolist()}")
    check_clusters(frame, cluster)
    check_numeric(frame, [column])
    place, values = pd.factorize(frame[column], sort=True)
    owner, clusters = pd.factorize(frame[cluster], sort=True)
    size = (len(values), len(clusters))
    counts = coo_array((np.ones(len(frame)), (place, owner)), shape=size).tocsr()
    weights = cluster_weights(len(clusters), n_boot, rng)
    at_most = np.cumsum(counts @ weights.T.astype(float), axis=0)
    rank = np.array([(at_most < share * at_most[-1]).sum(axis=0) for share in shares])
    return np.asarray(values, dtype=float)[rank.T]


def median_table(
    frame: pd.DataFrame,
    column: str,
    by: str,
    cluster: str,
    n_boot: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Median of a column in each group, with a 95 % interval.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per observation.
    column : str
        Numeric column.
    by : str
        Column of groups.
    cluster : str
        Column of clusters, resampled in each group on its own.
    n_boot : int
        Number of replicates.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    pandas.DataFrame
        Indexed by `by`: ``n`` rows, ``clusters``, ``estimate``, ``low``, ``high``.

    Raises
    ------
    ValueError
        See `bootstrap_quantiles`.

    References
    ----------
    See `bootstrap_quantiles`.

    Examples
    --------
    >>> frame = pd.DataFrame({"seconds": [9, 9, 9], "rater_id": list("abc"), "group": "errors"})
    >>> median_table(frame, "seconds", "group", "rater_id", 99, np.random.default_rng(0))
            n  clusters  estimate  low  high
    group
    errors  3         3       9.0  9.0   9.0
    """
    rows = {}
    for group, members in frame.groupby(by, observed=True, sort=False):
        draws = bootstrap_quantiles(members, column, cluster, [0.5], n_boot, rng)
        low, high = interval(draws[:, 0])
        rows[group] = {
            "n": len(members),
            "clusters": members[cluster].nunique(),
            "estimate": float(members[column].median()),
            "low": float(low),
            "high": float(high),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(by)
