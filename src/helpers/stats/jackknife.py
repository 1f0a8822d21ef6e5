"""Intervals of any statistic by leaving out raters, prompts, or both, in turn.

The statistic is computed from weights of rows, so that a row is left out by giving it
the weight zero. How far it moves without each rater, and without each prompt, tells how
far it would move with others; no formula of its variance is needed.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from helpers.stats import checks
from helpers.stats.clustered import t_table

AT_ONCE = 400  # clusters left out in one call of the statistic: they fit in memory

Statistic = Callable[[np.ndarray], np.ndarray]


def leave_one_out(
    statistic: Statistic, clusters: pd.DataFrame, names: Sequence
) -> pd.DataFrame:
    """Estimates with intervals by leaving out each cluster in turn, one or two ways.

    Parameters
    ----------
    statistic : callable
        Takes weights of rows, an array of shape (n_sets, n_rows) of zeros and ones, and
        gives the numbers of each set, of shape (n_sets, n_names).
    clusters : pandas.DataFrame, shape (n_rows, 1 or 2)
        The clusters of each row, for example its rater and its prompt.
    names : sequence
        Of the numbers.

    Returns
    -------
    pandas.DataFrame
        ``estimate``, ``standard_error``, 95 % interval ``low`` and ``high``,
        ``p_value`` and ``df``, from a t distribution. The degrees of freedom are the
        smaller effective number of clusters less one; see `effective_number`. With two
        ways, the variances by each are added and that by both at once is taken off; the
        result is not taken to be less than either.

    Raises
    ------
    ValueError
        If a column of clusters cannot be used or has fewer than two clusters.

    References
    ----------
    Efron and Tibshirani (1993), chapter 11 (jackknife); Cameron, Gelbach and Miller
    (2011), Robust Inference with Multiway Clustering; Carter, Schnepel and Steigerwald
    (2017), Asymptotic Behavior of a t-Test Robust to Cluster Heterogeneity.

    Examples
    --------
    >>> score = np.array([1.0, 2.0, 2.0, 4.0, 3.0, 5.0])
    >>> def mean(weights):
    ...     return (weights @ score / weights.sum(axis=1))[:, None]
    >>> clusters = pd.DataFrame({"rater_id": list("aabbcc")})
    >>> leave_one_out(mean, clusters, ["score"]).round(2)
           estimate  standard_error   low  high  p_value   df
    score      2.83            0.73 -0.29  5.96     0.06  2.0
    """
    for column in clusters:
        checks.check_clusters(clusters, column)
    estimate = statistic(np.ones((1, len(clusters))))[0]
    codes = [pd.factorize(labels)[0] for _, labels in clusters.items()]
    variances = [_variance(statistic, estimate, each) for each in codes]
    variance = variances[0]
    if len(codes) == 2:
        first, second = codes
        # a code for each pair of a rater and a prompt
        pairs = pd.factorize(first * (second.max() + 1) + second)[0]
        two_way = variances[0] + variances[1] - _variance(statistic, estimate, pairs)
        variance = np.maximum(two_way, np.maximum(variances[0], variances[1]))
    df = max(min(effective_number(each) for each in codes) - 1, 1.0)
    value = pd.Series(estimate, index=list(names))
    # no variance at all tells nothing
    standard_error = np.where(variance > 0, np.sqrt(variance), np.nan)
    return t_table(value, standard_error, df).assign(df=df)


def _variance(
    statistic: Statistic, estimate: np.ndarray, codes: np.ndarray
) -> np.ndarray:
    """Jackknife variance by one kind of cluster."""
    n_clusters = codes.max() + 1
    squares = np.zeros(len(estimate))
    for start in range(0, n_clusters, AT_ONCE):
        left_out = np.arange(start, min(start + AT_ONCE, n_clusters))
        weights = (codes != left_out[:, None]).astype(float)
        change = statistic(weights) - estimate
        squares += (change**2).sum(axis=0)
    return squares * (n_clusters - 1) / n_clusters


def effective_number(labels: np.ndarray) -> float:
    """Clusters of one size that would be as telling as clusters of these sizes.

    Parameters
    ----------
    labels : array-like, shape (n_rows,)
        The cluster of each row.

    Returns
    -------
    float
        The squared number of rows over the sum of squared sizes.

    References
    ----------
    Kish (1965), Survey Sampling, section 11.7.

    Examples
    --------
    >>> effective_number(["a", "a", "b", "b"]), effective_number(["a", "a", "a", "b"])
    (2.0, 1.6)
    """
    codes, _ = pd.factorize(np.asarray(labels))
    sizes = np.bincount(codes)
    return float(sizes.sum() ** 2 / (sizes**2).sum())
