"""Groups of rows: differences of their means, and bootstrap of means and medians.

Differences of means leave out one cluster at a time. For orders and other statistics
that are not smooth, means of several groups are drawn on the same bootstrap replicates,
so that draws can be subtracted from each other. Medians are resampled group by group.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.sparse import coo_array

from helpers.stats import leave_out
from helpers.stats.bootstrap import (
    bootstrap_ratio,
    cluster_weights,
    interval,
)
from helpers.stats.checks import check_clusters, check_complete, check_numeric
from helpers.stats.moments import cluster_sums

AT_ONCE = 200  # replicates of a median: few enough for the processor's cache


def group_mean_draws(
    frame: pd.DataFrame,
    columns: Sequence[str],
    by: str | Sequence[str] | None,
    cluster: str,
    n_boot: int,
    rng: np.random.Generator,
) -> tuple[pd.Series, pd.DataFrame]:
    """Means of groups and their bootstrap draws, on replicates that all share.

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
    estimates : pandas.Series
        Indexed by ``measure`` (the column) and, if given, `by`; groups in the order
        of their first appearance.
    draws : pandas.DataFrame, shape (n_boot, n_columns * n_groups)
        Columns like the index of `estimates`; NaN where a replicate has no value of a
        group.

    Raises
    ------
    ValueError
        If a column is unknown or not numeric, or there are fewer than two clusters.

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapter 8.

    Examples
    --------
    >>> frame = pd.DataFrame(
    ...     {"judge": ["GPT-4", "Llama 2"] * 2, "question_id": [1, 1, 2, 2],
    ...      "error": [0.5, 1.0, 0.0, 1.0]})
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
    columns = list(columns)
    if by is None:
        groups = frame.groupby(np.zeros(len(frame)), sort=False)
    else:
        keys = [by] if isinstance(by, str) else list(by)
        groups = frame.groupby(keys, sort=False)
    means = groups[columns].mean()
    by_measure = {column: means[column].rename("estimate") for column in columns}
    estimates = pd.concat(by_measure, names=["measure"])
    if by is None:
        estimates = estimates.droplevel(1)

    # sums and counts by cluster, of shape (clusters, columns, groups)
    values = frame[columns].to_numpy(dtype=float, na_value=np.nan)[:, :, None]
    group_of_row = groups.ngroup().to_numpy()[:, None, None]
    in_group = group_of_row == np.arange(len(means))
    counted = in_group & ~np.isnan(values)
    sums = cluster_sums(np.where(counted, values, 0.0), frame[cluster])
    counts = cluster_sums(counted.astype(float), frame[cluster])
    weights = cluster_weights(len(sums), n_boot, rng)
    draws = bootstrap_ratio(sums, counts, weights).reshape(n_boot, -1)
    return estimates, pd.DataFrame(draws, columns=estimates.index)


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
    >>> frame = pd.DataFrame(
    ...     {"seconds": [9, 9, 9], "rater_id": list("abc"), "group": "errors"})
    >>> rng = np.random.default_rng(0)
    >>> median_table(frame, "seconds", "group", "rater_id", 99, rng)
            estimate  low  high
    group
    errors       9.0  9.0   9.0
    """
    rows = {}
    for group, members in frame.groupby(by, observed=True, sort=False):
        draws = _median_draws(members, column, cluster, n_boot, rng)
        low, high = interval(draws)
        rows[group] = {"estimate": members[column].median(), "low": low, "high": high}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(by)


def _median_draws(
    frame: pd.DataFrame,
    column: str,
    cluster: str,
    n_boot: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draws of a median (the lower one of two), resampling clusters of rows."""
    check_clusters(frame, cluster)
    check_numeric(frame, [column])
    # how often each value, in increasing order, occurs in each cluster: no replicate
    # has to be sorted, the median is where the running count reaches one half
    value_of_row, values = pd.factorize(frame[column], sort=True)
    cluster_of_row, clusters = pd.factorize(frame[cluster], sort=True)
    counts = coo_array(
        (np.ones(len(frame)), (value_of_row, cluster_of_row)),
        shape=(len(values), len(clusters)),
    ).tocsr()
    weights = cluster_weights(len(clusters), n_boot, rng)
    ranks = []
    for start in range(0, n_boot, AT_ONCE):
        block = weights[start : start + AT_ONCE].T.astype(float)
        at_most = np.cumsum(counts @ block, axis=0)
        ranks.append((at_most < at_most[-1] / 2).sum(axis=0))
    return np.asarray(values, dtype=float)[np.concatenate(ranks)]


def group_contrasts(
    frame: pd.DataFrame,
    columns: Sequence[str],
    by: str,
    weights: pd.DataFrame,
    clusters: Sequence[str],
) -> pd.DataFrame:
    """Differences of group means, or other weighted sums of them, leaving out clusters.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per output or rating; rows of other groups are not used.
    columns : sequence of str
        Columns to average; missing values are left out column by column.
    by : str
        Column of groups.
    weights : pandas.DataFrame, shape (n_contrasts, n_groups)
        How much the mean of each group counts in each contrast; groups as columns.
    clusters : sequence of str
        One or two columns: of prompts, of raters, or of both.

    Returns
    -------
    pandas.DataFrame
        As from `helpers.stats.leave_out.LeftOut.table`, in units of the column, indexed
        by ``contrast`` and ``column``. NaN where a group has no rows.

    Raises
    ------
    ValueError
        If a column cannot be used.

    References
    ----------
    MacKinnon, Nielsen and Webb (2024), Jackknife Inference with Two-Way Clustering.

    Examples
    --------
    >>> outputs = pd.DataFrame(
    ...     {"prompt_id": list("aabbcc"), "arm": ["low", "high"] * 3,
    ...      "refusal": [1.0, 0, 1, 0, 0, 0]})
    >>> change = pd.DataFrame({"low": [-1], "high": [1]}, index=["high minus low"])
    >>> found = group_contrasts(outputs, ["refusal"], "arm", change, ["prompt_id"])
    >>> found[["estimate", "standard_error"]].round(2)
                            estimate  standard_error
    contrast       column
    high minus low refusal     -0.67            0.33
    """
    check_numeric(frame, columns, missing="allow")
    check_complete(frame, [by, *clusters])
    codes = weights.columns.get_indexer(frame[by])
    used = codes >= 0
    names = pd.MultiIndex.from_product(
        [columns, weights.index], names=["column", "contrast"]
    )
    means = leave_out.group_means(
        names,
        n_columns=len(columns),
        n_groups=weights.shape[1],
        contrasts=np.kron(np.eye(len(columns)), weights.to_numpy(dtype=float)),
    )
    values = frame[list(columns)].to_numpy(dtype=float, na_value=np.nan)
    rows = np.column_stack([values, codes])[used]
    left_out = leave_out.leave_out(rows, frame.loc[used, list(clusters)], means)
    return left_out.table().swaplevel()
