"""Means of groups with bootstrap intervals, and draws of them that can be subtracted."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from helpers.files.tables import check_clusters, check_numeric
from helpers.moments import cluster_sums
from helpers.resampling import bootstrap_ratio, cluster_weights, interval


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
        Columns that tell groups apart; None takes all rows together. Groups may share clusters.
    cluster : str
        Column of clusters.
    n_boot : int
        Number of bootstrap replicates.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    pandas.DataFrame
        ``estimate``, ``low`` and ``high`` in the unit of the column, indexed by ``measure`` (the
        column) and, if given, `by`; groups in the order of their first appearance.

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
        Columns like the index of `estimates`; NaN where a replicate has no value of a group.

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
        {column: means[column].rename("estimate") for column in columns}, names=["measure"]
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
