"""Least squares with intervals that allow for shared raters and prompts (CR3).

Two ratings by one person are alike, and so are two ratings of one prompt. Leaving out
each rater, and each prompt, shows how far a coefficient would move with others.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from helpers.stats import checks, leave_out
from helpers.stats.leave_out import (
    COLLINEAR,
    standard_error_of,
    t_table,
)
from helpers.stats.moments import (
    cluster_moments,
    cluster_sums,
)

# a feature that differs from its usual value in fewer clusters tells nothing for sure
FEWEST_INFORMATIVE = 10
# columns of a table that follow from an estimate
ESTIMATED = (
    "estimate",
    "standard_error",
    "low",
    "high",
    "p_value",
    "df",
    "per_step",
    "per_sd",
)


def least_squares(
    frame: pd.DataFrame,
    features: Sequence[str],
    outcome: str,
    cluster: str | Sequence[str],
    intercept: bool = True,
) -> pd.DataFrame:
    """Least squares with intervals that hold where a feature is rare.

    The variance is that of the coefficients when each cluster is left out in turn
    (CR3, the jackknife). A feature that occurs in few clusters has few degrees of
    freedom: as many as a chi-squared distribution has whose mean and variance are those
    of the estimated variance, if rows were independent with one variance
    (Satterthwaite). With two kinds of clusters, see `helpers.stats.leave_out`.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per observation; every row is used.
    features : sequence of str
        Columns that explain.
    outcome : str
        Column to explain.
    cluster : str or sequence of str
        Column of clusters, or two columns, of raters and prompts.
    intercept : bool, optional
        Whether a constant is fitted, too.

    Returns
    -------
    pandas.DataFrame
        A row for ``"intercept"``, if any, and for every feature: ``estimate``,
        ``standard_error``, 95 % interval ``low`` and ``high``, ``p_value`` and ``df``.
        All but the estimate are NaN where a coefficient cannot be told without one of
        the clusters.

    Raises
    ------
    ValueError
        If a column cannot be used, or a feature is constant or a combination of those
        before it.

    References
    ----------
    Bell and McCaffrey (2002), Bias Reduction in Standard Errors for Linear Regression
    with Multi-Stage Samples; Pustejovsky and Tipton (2018), Small-Sample Methods for
    Cluster-Robust Variance Estimation; MacKinnon, Nielsen and Webb (2023), Fast and
    Reliable Jackknife and Bootstrap Methods for Cluster-Robust Inference.

    Examples
    --------
    >>> frame = pd.DataFrame({"refusal": [0, 0, 1, 1] * 3,
    ...                       "lost": [0, 1, 3, 4, 1, 1, 3, 3, 0, 0, 4, 3],
    ...                       "prompt_id": list("aaaabbbbcccc")})
    >>> least_squares(frame, ["refusal"], "lost", "prompt_id").round(2)
               estimate  standard_error   low  high  p_value   df
    intercept      0.50            0.29 -0.74  1.74     0.23  2.0
    refusal        2.83            0.44  0.94  4.73     0.02  2.0
    """
    clusters = [cluster] if isinstance(cluster, str) else list(cluster)
    checks.check_regression(frame, features, outcome)
    distinct_rows = frame[list(features)].drop_duplicates()
    checks.check_full_rank(distinct_rows, features, intercept)
    if len(clusters) > 1:
        return _two_way_least_squares(frame, features, outcome, clusters, intercept)
    moments = cluster_moments(frame, features, outcome, clusters[0])
    # sums of products of (1, features) by cluster; the 1 is left out if not wanted
    first = 0 if intercept else 1
    names = ["intercept", *features][first:]
    by_cluster = moments.products[:, first:-1, first:-1]
    with_outcome = moments.products[:, first:-1, -1]
    # Features of length one, so that none counts as collinear because of its unit.
    length = np.sqrt(np.diagonal(by_cluster.sum(axis=0)))
    by_cluster = by_cluster / np.outer(length, length)
    with_outcome = with_outcome / length

    inverse = np.linalg.inv(by_cluster.sum(axis=0))
    coefficients = inverse @ with_outcome.sum(axis=0)
    remaining = by_cluster.sum(axis=0) - by_cluster
    inverses = np.linalg.pinv(remaining, rcond=COLLINEAR, hermitian=True)
    without = inverses @ (with_outcome.sum(axis=0) - with_outcome)[:, :, None]
    n_clusters = len(by_cluster)
    change = without[:, :, 0] - coefficients
    variance = (change**2).sum(axis=0) * (n_clusters - 1) / n_clusters
    # A coefficient that the remaining clusters do not tell is not in their row space.
    told = inverses @ remaining
    off = np.abs(told - np.eye(len(names))).max(axis=(0, 2))
    variance = np.where(off < np.sqrt(COLLINEAR), variance, 0.0)

    df = _satterthwaite_df(by_cluster, inverse, inverses)
    value = pd.Series(coefficients / length, index=names)
    standard_error = standard_error_of(variance) / length
    return t_table(value, standard_error, df).assign(df=df)


def _two_way_least_squares(
    frame: pd.DataFrame,
    features: Sequence[str],
    outcome: str,
    clusters: Sequence[str],
    intercept: bool,
) -> pd.DataFrame:
    """Least squares with raters and prompts left out in turn."""
    names = ["intercept", *features] if intercept else list(features)
    rows = frame[[*features, outcome]].to_numpy(dtype=float)
    if intercept:
        rows = np.column_stack([np.ones(len(rows)), rows])
    statistic = leave_out.slopes(pd.Index(names))
    return leave_out.leave_out(rows, frame[clusters], statistic).table()


def least_squares_of_means(
    ratings: pd.DataFrame,
    features: Sequence[str],
    outcome: str,
    item: str,
    clusters: Sequence[str],
) -> pd.DataFrame:
    """Least squares on means over the ratings of each item.

    A rater who is left out is missing from the means of the items that the rater rated,
    so that intervals allow for other raters although each item is one observation.

    Parameters
    ----------
    ratings : pandas.DataFrame
        One row per rating; NaN in the features or the outcome that it does not give,
        for example if some people label errors and others give scores. A feature that
        is known for each item, such as a label that stays as it is, stands in all of
        the item's rows.
    features : sequence of str
        Columns whose item means explain.
    outcome : str
        Column whose item mean is explained.
    item : str
        Column of items. An item without a mean of each column is left out.
    clusters : sequence of str
        One or two columns: of prompts, of raters, or of both.

    Returns
    -------
    pandas.DataFrame
        As from `least_squares`.

    Raises
    ------
    ValueError
        If a column cannot be used, or a feature's means are constant or a combination
        of those before it.

    See Also
    --------
    helpers.stats.leave_out.leave_out : How clusters are left out.

    References
    ----------
    MacKinnon, Nielsen and Webb (2024), Jackknife Inference with Two-Way Clustering;
    Carter, Schnepel and Steigerwald (2017), for the effective number of clusters, from
    which the degrees of freedom follow.

    Examples
    --------
    >>> ratings = pd.DataFrame({"answer": list("aabbccdd"),
    ...                         "prompt_id": list("pppprrrr"),
    ...                         "rater_id": list("wxyzwxyz"),
    ...                         "refusal": [0, 0, 1, 1, 0, 0, 1, 1],
    ...                         "score": [4, 5, 2, 1, 5, 4, 2, 3]})
    >>> table = least_squares_of_means(
    ...     ratings, ["refusal"], "score", "answer", ["rater_id", "prompt_id"])
    >>> table["estimate"].round(2)
    intercept    4.5
    refusal     -2.5
    Name: estimate, dtype: float64
    """
    columns = [*features, outcome]
    checks.check_numeric(ratings, columns, missing="allow")
    checks.check_complete(ratings, [item, *clusters])
    means = ratings.groupby(item)[columns].mean().dropna()
    checks.check_full_rank(means.drop_duplicates(), features, intercept=True)
    n_columns = len(columns)

    def terms(sums: np.ndarray) -> np.ndarray:
        counts = sums[:, n_columns:]
        is_known = (counts > 0).all(axis=1, keepdims=True)
        means = sums[:, :n_columns] / np.maximum(counts, 1)
        with_intercept = np.column_stack([np.ones(len(means)), means])
        return leave_out.products(np.where(is_known, with_intercept, 0.0))

    counted = ratings[columns].notna()
    rows = np.column_stack([ratings[columns].fillna(0.0), counted]).astype(float)
    statistic = leave_out.slopes(pd.Index(["intercept", *features]), terms)
    of_clusters = ratings[list(clusters)]
    left_out = leave_out.leave_out(rows, of_clusters, statistic, items=ratings[item])
    shares = _shares_of_ratings(means[list(features)], ratings[item])
    fewest = _fewest_effective(shares, of_clusters)
    df = np.maximum(fewest - 1, 1.0)
    standard_error = standard_error_of(left_out.variance())
    return t_table(left_out.value, standard_error, df).assign(df=df)


def _shares_of_ratings(x: pd.DataFrame, items: pd.Series) -> np.ndarray:
    """Share of each rating in what tells each coefficient, the intercept first.

    The ratings of an item share its leverage equally.
    """
    design = np.column_stack([np.ones(len(x)), x])
    inverse = np.linalg.inv(design.T @ design)
    leverage = (design @ inverse) ** 2 / np.diagonal(inverse)
    n_ratings = items.map(items.value_counts()).to_numpy()
    of_items = pd.DataFrame(leverage, index=x.index).reindex(items).fillna(0.0)
    return of_items.to_numpy() / n_ratings[:, None]


def _fewest_effective(shares: np.ndarray, clusters: pd.DataFrame) -> np.ndarray:
    """Fewest clusters of a kind that would tell as much if each told equally much."""
    numbers = []
    for _, labels in clusters.items():
        by_cluster = cluster_sums(shares, labels)
        numbers.append(1 / (by_cluster**2).sum(axis=0))
    return np.minimum.reduce(numbers)


def _satterthwaite_df(
    by_cluster: np.ndarray, inverse: np.ndarray, inverses: np.ndarray
) -> np.ndarray:
    """Degrees of freedom of leave-one-out variances for independent, equal errors.

    The change of coefficient j without cluster g is a weighted sum of errors. Its
    weights, beyond what least squares takes out, are X_g u_g with u_g the j-th column
    of the inverse without the cluster. So the covariances of these changes need sums of
    products only: u_g' S_g u_g on the diagonal, less u_g' S_g M S_h u_h.
    """
    df = []
    for column in range(len(inverse)):
        u = inverses[:, :, column]
        s_u = (by_cluster @ u[:, :, None])[:, :, 0]
        own = (u * s_u).sum(axis=1)
        covariances = np.diag(own) - s_u @ inverse @ s_u.T
        trace = np.trace(covariances)
        df.append(trace**2 / (covariances**2).sum())
    return np.array(df)


def informative_clusters(
    frame: pd.DataFrame, features: Sequence[str], cluster: str
) -> pd.Series:
    """Count the clusters in which each feature takes another than its usual value.

    Below `FEWEST_INFORMATIVE` a coefficient of the feature is not known, whatever its
    interval says.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per observation.
    features : sequence of str
        Columns.
    cluster : str
        Column of clusters.

    Returns
    -------
    pandas.Series of int
        By feature.

    Examples
    --------
    >>> frame = pd.DataFrame({"refusal": [0, 0, 1, 0, 1], "prompt_id": list("aabbc")})
    >>> informative_clusters(frame, ["refusal"], "prompt_id")
    refusal    2
    dtype: int64
    """
    usual = frame[list(features)].mode().iloc[0]
    differs = frame[list(features)].ne(usual)
    return differs.groupby(frame[cluster]).any().sum()


def where_known(table: pd.DataFrame, n_informative: pd.Series) -> pd.DataFrame:
    """Leave out estimates of features that differ in too few clusters.

    Parameters
    ----------
    table : pandas.DataFrame
        A row per feature, as from `least_squares`.
    n_informative : pandas.Series
        Clusters in which each feature of the table takes another than its usual value,
        from `informative_clusters`.

    Returns
    -------
    pandas.DataFrame
        The table; estimates and what follows from them are NaN in rows with fewer than
        `FEWEST_INFORMATIVE` clusters.

    Examples
    --------
    >>> table = pd.DataFrame({"estimate": [1.5, 0.1]}, index=["refusal", "harm"])
    >>> where_known(table, pd.Series({"refusal": 15, "harm": 3}))
             estimate
    refusal       1.5
    harm          NaN
    """
    is_known = n_informative.reindex(table.index) >= FEWEST_INFORMATIVE
    estimated = [name for name in table if name in ESTIMATED]
    known = table[estimated].where(is_known, axis="index")
    return table.assign(**known)
