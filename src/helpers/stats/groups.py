"""Groups of rows compared: means, medians, differences from a baseline, and the order of groups.

Everything comes with intervals from resampled clusters. Means of several groups are
drawn on the same replicates, so that draws can be subtracted from each other.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats
from scipy.sparse import coo_array

from helpers.stats.bootstrap import (
    bootstrap_means,
    bootstrap_p_value,
    bootstrap_ratio,
    cluster_weights,
    interval,
)
from helpers.stats.checks import check_clusters, check_numeric
from helpers.stats.moments import cluster_sums


def group_means(
    frame: pd.DataFrame,
    columns: Sequence[str],
    by: str | Sequence[str] | None,
    cluster: str,
    n_boot: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Mean of each column in each group, with 95 % intervals from resampled clusters.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per observation.
    columns : sequence of str
        Numeric columns to average. Missing values are left out column by column.
    by : str, sequence of str or None
        Columns that tell groups apart; None takes all rows together. Groups may share
        clusters.
    cluster : str
        Column of clusters.
    n_boot : int
        Number of bootstrap replicates.
    rng : numpy.random.Generator

    Returns
    -------
    pandas.DataFrame
        ``estimate``, ``low`` and ``high`` in the unit of the column, indexed by
        ``measure`` (the column) and, if given, `by`; groups in the order of their first
        appearance.

    Raises
    ------
    ValueError
        If a column is unknown or not numeric, or there are fewer than two clusters.

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapter 8.

    Examples
    --------
    >>> outputs = pd.DataFrame({"system": ["a", "b"] * 20, "quality": [4.0, 2.0] * 20,
    ...                         "prompt_id": np.arange(40) // 2})
    >>> group_means(outputs, ["quality"], "system", "prompt_id", 50, np.random.default_rng(0))
                    estimate  low  high
    measure system
    quality a            4.0  4.0   4.0
            b            2.0  2.0   2.0
    """
    return interval_table(*group_mean_draws(frame, columns, by, cluster, n_boot, rng))


def group_mean_draws(
    frame: pd.DataFrame,
    columns: Sequence[str],
    by: str | Sequence[str] | None,
    cluster: str,
    n_boot: int,
    rng: np.random.Generator,
) -> tuple[pd.Series, pd.DataFrame]:
    """Means of groups as for `group_means`, with the draws: all groups share the replicates.

    Parameters
    ----------
    frame, columns, by, cluster, n_boot, rng
        As in `group_means`.

    Returns
    -------
    estimates : pandas.Series
        Indexed by ``measure`` and `by`.
    draws : pandas.DataFrame, shape (n_boot, n_columns * n_groups)
        Columns like the index of `estimates`; NaN where a replicate has no value of a
        group.

    Raises
    ------
    ValueError
        As for `group_means`.

    Examples
    --------
    >>> frame = pd.DataFrame({"judge": ["GPT-4", "Llama 2"] * 2, "question_id": [1, 1, 2, 2],
    ...                       "error": [0.5, 1.0, 0.0, 1.0]})
    >>> estimates, draws = group_mean_draws(
    ...     frame, ["error"], "judge", "question_id", 5, np.random.default_rng(0))
    >>> estimates["error"]
    judge
    GPT-4      0.25
    Llama 2    1.00
    Name: estimate, dtype: float64
    >>> (draws["error"]["Llama 2"] - draws["error"]["GPT-4"]).between(0.5, 1).all()
    np.True_
    """
    check_numeric(frame, columns, missing="allow")
    check_clusters(frame, cluster)
    keys = [by] if isinstance(by, str) else list(by or ())
    groups = frame.groupby(keys or np.zeros(len(frame)), sort=False)
    means = groups[list(columns)].mean()
    estimates = pd.concat(
        {column: means[column].rename("estimate") for column in columns},
        names=["measure"],
    )
    if not keys:
        estimates = estimates.droplevel(1)
    values = frame[list(columns)].to_numpy(dtype=float, na_value=np.nan)[:, :, None]
    counted = groups.ngroup().to_numpy()[:, None, None] == np.arange(len(means))
    counted = counted & ~np.isnan(values)
    sums = cluster_sums(np.where(counted, values, 0.0), frame[cluster])
    counts = cluster_sums(counted.astype(float), frame[cluster])
    draws = bootstrap_ratio(sums, counts, cluster_weights(len(sums), n_boot, rng))
    return estimates, pd.DataFrame(draws.reshape(n_boot, -1), columns=estimates.index)


def interval_table(estimates: pd.Series, draws: pd.DataFrame) -> pd.DataFrame:
    """Put estimates and their 95 % percentile intervals side by side.

    Parameters
    ----------
    estimates : pandas.Series
        A number per row of the result.
    draws : pandas.DataFrame, shape (n_boot, n_rows)
        Bootstrap draws; the columns are the index of `estimates`.

    Returns
    -------
    pandas.DataFrame
        ``estimate``, ``low`` and ``high``, in the order of `estimates`.

    Raises
    ------
    KeyError
        If an estimate has no draws.

    Examples
    --------
    >>> draws = pd.DataFrame({"direct": np.arange(201) / 200})
    >>> interval_table(pd.Series({"direct": 0.5}), draws).round(3)
            estimate    low   high
    direct       0.5  0.025  0.975
    """
    low, high = interval(draws[estimates.index])
    return pd.DataFrame({"estimate": estimates, "low": low, "high": high})


def lead_table(
    estimates: pd.Series, draws: pd.DataFrame, one: str, others: Sequence[str]
) -> pd.DataFrame:
    """How far one estimate is ahead of others, taken draw by draw.

    Parameters
    ----------
    estimates : pandas.Series
        Numbers by name.
    draws : pandas.DataFrame, shape (n_boot, n_names)
        Bootstrap draws that the names share.
    one : str
        The name to start from.
    others : sequence of str
        The names to subtract.

    Returns
    -------
    pandas.DataFrame
        ``estimate``, ``low`` and ``high`` of each difference, in the order of `others`.

    Examples
    --------
    >>> draws = pd.DataFrame({"length": [0.2, 0.4], "overlap": [0.1, 0.2]})
    >>> lead_table(draws.mean(), draws, "length", ["overlap"]).round(4)
             estimate     low    high
    overlap      0.15  0.1025  0.1975
    """
    lead = draws[others].rsub(draws[one], axis="index")
    return interval_table(estimates[one] - estimates[others], lead)


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

    Returns
    -------
    pandas.DataFrame
        Indexed by `by`: ``estimate``, ``low``, ``high``.

    Raises
    ------
    ValueError
        If a column is unknown, not numeric or has missing values, or a group has fewer
        than two clusters.

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapters 8 and 13.

    Examples
    --------
    >>> frame = pd.DataFrame({"seconds": [9, 9, 9], "rater_id": list("abc"), "group": "errors"})
    >>> median_table(frame, "seconds", "group", "rater_id", 99, np.random.default_rng(0))
            estimate  low  high
    group
    errors       9.0  9.0   9.0
    """
    rows = {}
    for group, members in frame.groupby(by, observed=True, sort=False):
        low, high = interval(_median_draws(members, column, cluster, n_boot, rng))
        rows[group] = {"estimate": members[column].median(), "low": low, "high": high}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(by)


def _median_draws(
    frame: pd.DataFrame,
    column: str,
    cluster: str,
    n_boot: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Bootstrap draws of a median (the lower one of two), resampling clusters of rows."""
    check_clusters(frame, cluster)
    check_numeric(frame, [column])
    place, values = pd.factorize(frame[column], sort=True)
    owner, clusters = pd.factorize(frame[cluster], sort=True)
    size = (len(values), len(clusters))
    counts = coo_array((np.ones(len(frame)), (place, owner)), shape=size).tocsr()
    weights = cluster_weights(len(clusters), n_boot, rng)
    at_most = np.cumsum(counts @ weights.T.astype(float), axis=0)
    rank = (at_most < at_most[-1] / 2).sum(axis=0)
    return np.asarray(values, dtype=float)[rank]


def equality_test(estimates: ArrayLike, draws: ArrayLike) -> tuple[float, float]:
    """Wald test that several statistics are the same in all groups.

    Parameters
    ----------
    estimates : array-like, shape (n_groups,) or (n_statistics, n_groups)
        Estimates on the full data, for example slopes, or slopes and heights.
    draws : array-like, shape (n_boot, n_groups) or (n_statistics, n_boot, n_groups)
        Bootstrap draws on shared replicates.

    Returns
    -------
    statistic, p_value : float
        From a chi-squared distribution with n_statistics x (n_groups - 1) degrees of
        freedom; the covariance is that of the draws.

    References
    ----------
    Cameron and Trivedi (2005), Microeconometrics, chapters 7 (Wald test) and 11
    (bootstrap).

    Examples
    --------
    >>> draws = np.random.default_rng(0).normal(size=(20_000, 2))
    >>> statistic, p_value = equality_test([0.0, 2.0], draws)
    >>> round(statistic, 1), round(p_value, 1)
    (2.0, 0.2)
    """
    estimates, draws = np.atleast_2d(estimates), np.asarray(draws, dtype=float)
    draws = draws.reshape(len(estimates), -1, estimates.shape[1])
    gaps = (estimates[:, 1:] - estimates[:, :1]).ravel()
    gap_draws = np.concatenate(draws[:, :, 1:] - draws[:, :, :1], axis=1)
    covariance = np.atleast_2d(np.cov(gap_draws, rowvar=False))
    statistic = float(gaps @ np.linalg.solve(covariance, gaps))
    return statistic, float(stats.chi2.sf(statistic, len(gaps)))


def ranking(
    names: Sequence[str], estimates: ArrayLike, draws: ArrayLike
) -> pd.DataFrame:
    """Tabulate one statistic for several groups, with how sure its ends of the order are.

    Parameters
    ----------
    names : sequence of str
        Groups.
    estimates : array-like, shape (n_groups,)
        Estimates on the full data.
    draws : array-like, shape (n_boot, n_groups)
        Bootstrap draws on shared replicates.

    Returns
    -------
    pandas.DataFrame
        A row per group, in increasing order: ``estimate``, 95 % percentile interval
        ``low`` and ``high``, and the percentage of replicates in which the group is
        ``lowest, %`` and ``highest, %``.

    Examples
    --------
    >>> ranking(["a", "b"], [2.0, 1.0], [[2.0, 1.0], [2.0, 1.0], [1.0, 2.0], [3.0, 1.0]]).round(1)
       estimate  low  high  lowest, %  highest, %
    b       1.0  1.0   1.9       75.0        25.0
    a       2.0  1.1   2.9       25.0        75.0
    """
    draws = pd.DataFrame(np.asarray(draws, dtype=float), columns=list(names))
    table = interval_table(pd.Series(estimates, list(names)), draws)
    table["lowest, %"] = 100 * draws.idxmin(axis=1).value_counts(normalize=True)
    table["highest, %"] = 100 * draws.idxmax(axis=1).value_counts(normalize=True)
    return table.fillna({"lowest, %": 0.0, "highest, %": 0.0}).sort_values("estimate")


def mean_differences(
    outputs: pd.DataFrame,
    aspects: Sequence[str],
    by: str,
    baseline: str,
    cluster: str,
    n_boot: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Mean of each condition minus the mean of a baseline, over all outputs.

    Both means come from the same replicates of clusters, so that what the outputs to
    one prompt share is kept together.

    Parameters
    ----------
    outputs : pandas.DataFrame
        One row per output.
    aspects : sequence of str
        Numeric columns.
    by : str
        Column of conditions, for example ``"arm"``.
    baseline : str
        The condition to subtract.
    cluster : str
        Column of clusters, for example ``"prompt_id"``.
    n_boot : int
        Number of bootstrap replicates.
    rng : numpy.random.Generator

    Returns
    -------
    pandas.DataFrame
        One row per aspect and other condition: ``aspect``, `by`, ``n`` (outputs of the
        condition), ``estimate``, ``low``, ``high`` (95 %) and a two-sided bootstrap
        ``p_value``.

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapter 8.

    Examples
    --------
    >>> outputs = pd.DataFrame({"prompt_id": list("aabc"), "arm": ["baseline", "simple"] * 2,
    ...                         "complexity": [3.0, 2.0, 5.0, 4.0]})
    >>> mean_differences(outputs, ["complexity"], "arm", "baseline", "prompt_id", 99,
    ...                  np.random.default_rng(0))[["aspect", "arm", "n", "estimate"]]
           aspect     arm  n  estimate
    0  complexity  simple  2      -1.0
    """
    keys = _keys(outputs, aspects, by, baseline)
    means, draws = group_mean_draws(outputs, aspects, by, cluster, n_boot, rng)
    minus = [(aspect, baseline) for aspect, _ in keys]
    counts = outputs.groupby(by)[list(aspects)].count().unstack()
    estimate = means[keys].to_numpy() - means[minus].to_numpy()
    gaps = draws[keys].to_numpy() - draws[minus].to_numpy()
    return _table(keys, by, {"n": counts[keys].to_numpy(), "estimate": estimate}, gaps)


def paired_differences(
    outputs: pd.DataFrame,
    aspects: Sequence[str],
    by: str,
    baseline: str,
    pair: str,
    n_boot: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Mean difference of each condition from a baseline, pair by pair.

    Within a pair (a prompt, say) the outputs of a condition are averaged first. Pairs
    that lack the condition or the baseline are left out, and every other one counts the
    same, so that easy and hard prompts cannot be mistaken for an effect of the
    condition.

    Parameters
    ----------
    outputs, aspects, by, baseline, n_boot, rng
        As in `mean_differences`.
    pair : str
        Column of pairs, for example ``"prompt_id"``; these are resampled.

    Returns
    -------
    pandas.DataFrame
        As from `mean_differences`, with ``pairs`` (that have both conditions) in place
        of ``n``.

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapter 8.

    Examples
    --------
    >>> outputs = pd.DataFrame({"prompt_id": list("aabb"), "arm": 2 * ["low", "baseline"],
    ...                         "complexity": [2.0, 3.0, 4.0, 5.0]})
    >>> paired_differences(outputs, ["complexity"], "arm", "baseline", "prompt_id", 99,
    ...                    np.random.default_rng(0)).drop(columns="p_value")
           aspect  arm  pairs  estimate  low  high
    0  complexity  low      2      -1.0 -1.0  -1.0
    """
    keys = _keys(outputs, aspects, by, baseline)
    cells = outputs.pivot_table(index=pair, columns=by, values=list(aspects))
    gaps = [
        cells[aspect, condition] - cells[aspect, baseline] for aspect, condition in keys
    ]
    wide = pd.DataFrame(dict(enumerate(gaps)))
    counts = wide.count().to_numpy()
    draws = bootstrap_means(
        wide.assign(pair=wide.index), list(wide), "pair", n_boot, rng
    )
    return _table(
        keys, by, {"pairs": counts, "estimate": wide.mean().to_numpy()}, draws
    )


def _keys(
    outputs: pd.DataFrame, aspects: Sequence[str], by: str, baseline: str
) -> list[tuple[str, str]]:
    """Pairs of an aspect and a condition other than the baseline."""
    conditions = sorted(outputs[by].unique())
    return [
        (aspect, other)
        for aspect in aspects
        for other in conditions
        if other != baseline
    ]


def _table(
    keys: list[tuple[str, str]],
    by: str,
    columns: dict[str, np.ndarray],
    draws: np.ndarray,
) -> pd.DataFrame:
    """One row per aspect and condition, with interval and p-value."""
    low, high = interval(draws)
    table = pd.DataFrame(keys, columns=["aspect", by]).assign(
        **columns, low=low, high=high
    )
    return table.assign(p_value=bootstrap_p_value(draws))
