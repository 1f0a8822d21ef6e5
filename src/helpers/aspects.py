"""An overall rating as a weighted sum of how far each aspect is from its ideal.

Weights are least squares without an intercept: an answer that is ideal in every aspect is
predicted to be ideal overall. They are judged on random parts that were held out.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from helpers.files.tables import check_clusters, check_full_rank, check_held_out, check_numeric
from helpers.moments import ROUNDING, ClusterMoments, cluster_moments
from helpers.resampling import cluster_weights


def ideal_distance(
    frame: pd.DataFrame,
    aspects: Sequence[str],
    ideals: Mapping[str, float],
    ranges: Mapping[str, tuple[float, float]],
) -> pd.DataFrame:
    """Distance of each rating from the ideal, as a share of the largest possible distance.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per rating or per mean of ratings.
    aspects : sequence of str
        Columns of ratings.
    ideals : mapping of str to float
        The ideal rating of each aspect.
    ranges : mapping of str to (float, float)
        Lowest and highest rating of each aspect.

    Returns
    -------
    pandas.DataFrame
        The aspects in [0, 1]: 0 is ideal, 1 as far from it as the scale allows.

    Raises
    ------
    ValueError
        If a column cannot be used, an aspect has no ideal or range, or a rating is off its scale.

    References
    ----------
    Kamoda et al. (2025), section 4.1, equation 1.

    Examples
    --------
    >>> frame = pd.DataFrame({"factuality": [3, 2, 0], "formality": [-1, 0, 1]})
    >>> ideal_distance(frame, ["factuality", "formality"], {"factuality": 3, "formality": 0},
    ...                {"factuality": (0, 3), "formality": (-1, 1)}).round(2)
       factuality  formality
    0        0.00        1.0
    1        0.33        0.0
    2        1.00        1.0
    """
    check_numeric(frame, aspects)
    distances = {}
    for aspect in aspects:
        if aspect not in ideals or aspect not in ranges:
            raise ValueError(f"aspect {aspect!r} needs an entry in both ideals and ranges")
        low, high = ranges[aspect]
        _check_on_scale(frame[aspect], low, high)
        farthest = max(ideals[aspect] - low, high - ideals[aspect])
        distances[aspect] = (frame[aspect] - ideals[aspect]).abs() / farthest
    return pd.DataFrame(distances)


def _check_on_scale(ratings: pd.Series, low: float, high: float) -> None:
    """Stop at the first rating outside its scale."""
    outside = ~ratings.between(low, high)
    if outside.any():
        row = ratings.index[outside][0]
        raise ValueError(
            f"column {ratings.name!r} is {ratings[outside].iloc[0]} in row {row}, "
            f"outside its range from {low} to {high}: correct the rating or the range"
        )


def weights(frame: pd.DataFrame, features: Sequence[str], outcome: str) -> pd.Series:
    """Weights of the features by least squares without an intercept.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per rating.
    features : sequence of str
        Columns of distances from the ideal.
    outcome : str
        Column of overall distances from the ideal.

    Returns
    -------
    pandas.Series
        A weight per feature.

    Raises
    ------
    ValueError
        If a column cannot be used, or a feature is a combination of those before it.

    References
    ----------
    Kamoda et al. (2025), section 4.1, equation 3.

    Examples
    --------
    >>> frame = pd.DataFrame({"factuality": [0.0, 1, 0, 1], "formality": [0.0, 0, 1, 1],
    ...                       "distance": [0.0, 2, 1, 3]})
    >>> weights(frame, ["factuality", "formality"], "distance").round(6)
    factuality    2.0
    formality     1.0
    Name: weight, dtype: float64
    """
    moments = cluster_moments(frame, features, outcome).total()
    check_full_rank(frame, features, intercept=False)
    return pd.Series(_least_squares(moments)[0], index=list(features), name="weight")


def weighted_rating(
    frame: pd.DataFrame,
    weights: pd.Series,
    ideals: Mapping[str, float],
    ranges: Mapping[str, tuple[float, float]],
    overall: str,
) -> pd.Series:
    """Overall rating predicted from ratings of aspects: its ideal less the weighted distances.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per rating or per mean of ratings.
    weights : pandas.Series
        Points lost at the far end, by aspect; see `weights`.
    ideals, ranges : mapping
        As for `ideal_distance`.
    overall : str
        The overall rating, one of `ideals`.

    Returns
    -------
    pandas.Series
        Predictions in points of the overall rating.

    Raises
    ------
    ValueError
        As for `ideal_distance`.

    References
    ----------
    Kamoda et al. (2025), section 5.2.

    Examples
    --------
    >>> frame = pd.DataFrame({"factuality": [3, 2, 0]})
    >>> weighted_rating(frame, pd.Series({"factuality": 2.1}),
    ...                 {"factuality": 3, "acceptability": 3}, {"factuality": (0, 3)},
    ...                 "acceptability").round(1).tolist()
    [3.0, 2.3, 0.9]
    """
    distances = ideal_distance(frame, list(weights.index), ideals, ranges)
    return ideals[overall] - distances @ weights


def bootstrap_weights(
    moments: ClusterMoments, n_boot: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Weights in bootstrap replicates of clusters.

    Parameters
    ----------
    moments : ClusterMoments
        One set per cluster, see `helpers.moments.cluster_moments`.
    n_boot : int
        Number of replicates.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    pandas.DataFrame, shape (n_boot, n_features)
        Where features determine each other in a replicate, the shortest vector of weights.

    References
    ----------
    Efron and Tibshirani (1993), chapter 9; Cameron and Miller (2015), section VI.

    Examples
    --------
    >>> frame = pd.DataFrame({"factuality": [0.0, 1, 0, 1], "distance": [0.0, 2, 0, 2]})
    >>> moments = cluster_moments(frame, ["factuality"], "distance")
    >>> bootstrap_weights(moments, 2, np.random.default_rng(0)).round(6)
       factuality
    0         2.0
    1         2.0
    """
    replicates = moments.total(cluster_weights(len(moments.products), n_boot, rng))
    return pd.DataFrame(_least_squares(replicates), columns=list(moments.features))


def _least_squares(moments: ClusterMoments) -> np.ndarray:
    """Shortest least-squares weights without an intercept for every set of rows."""
    inverse = np.linalg.pinv(moments.xx, rcond=ROUNDING, hermitian=True)
    return (inverse @ moments.xy[:, :, None])[:, :, 0]


def random_splits(
    frame: pd.DataFrame,
    n_splits: int,
    test_share: float,
    rng: np.random.Generator,
    group: str | None = None,
) -> np.ndarray:
    """Random parts of a table to hold out, each with the same number of whole groups.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per observation.
    n_splits : int
        Number of splits.
    test_share : float
        Share of groups to hold out, between 0 and 1.
    rng : numpy.random.Generator
        Source of randomness.
    group : str, optional
        Column of groups that are never divided; by default every row is a group of its own.

    Returns
    -------
    numpy.ndarray of bool, shape (n_splits, n_rows)
        True where a row is held out.

    Raises
    ------
    ValueError
        If the column cannot be used or one of the two parts would be empty.

    Examples
    --------
    >>> frame = pd.DataFrame({"question_id": ["a", "a", "b", "b"]})
    >>> random_splits(frame, 2, 0.5, np.random.default_rng(0), group="question_id")
    array([[ True,  True, False, False],
           [ True,  True, False, False]])
    """
    if group is None:
        codes = np.arange(len(frame))
    else:
        check_clusters(frame, group)
        codes = pd.factorize(frame[group], sort=True)[0]
    n_groups = codes.max() + 1
    n_test = round(test_share * n_groups)
    if not 0 < n_test < n_groups:
        raise ValueError(
            f"test_share {test_share} of {n_groups} groups leaves one part of a split empty"
        )
    groups_held_out = np.tile(np.arange(n_groups) < n_test, (n_splits, 1))
    return rng.permuted(groups_held_out, axis=1)[:, codes]


def split_weights(
    frame: pd.DataFrame, features: Sequence[str], outcome: str, held_out: np.ndarray
) -> pd.DataFrame:
    """Weights fitted without the held-out rows, and their correlation on the held-out rows.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per rating.
    features : sequence of str
        Columns of distances from the ideal.
    outcome : str
        Column of overall distances from the ideal.
    held_out : numpy.ndarray of bool, shape (n_splits, n_rows)
        Rows held out in each split, see `random_splits`.

    Returns
    -------
    pandas.DataFrame
        One row per split: the weight of every feature, and ``rho``, Pearson's correlation of
        prediction and outcome on the held-out rows (NaN where one of them does not vary).

    Raises
    ------
    ValueError
        If a column cannot be used, a feature is a combination of those before it, or the splits
        do not fit the table.

    References
    ----------
    Kamoda et al. (2025), section 4.1.

    Examples
    --------
    >>> frame = pd.DataFrame({"factuality": [0.0, 1, 0, 1], "distance": [0.0, 2, 0, 2]})
    >>> split_weights(frame, ["factuality"], "distance", np.array([[0, 0, 1, 1]], bool)).round(6)
       factuality  rho
    0         2.0  1.0
    """
    rows = cluster_moments(frame, features, outcome)
    check_full_rank(frame, features, intercept=False)
    check_held_out(frame, held_out)
    fitted = _least_squares(rows.total(~held_out))
    rho = rows.total(held_out).correlation(fitted)
    return pd.DataFrame(fitted, columns=list(features)).assign(rho=rho)
