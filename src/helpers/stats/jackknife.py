"""Leave-one-cluster-out intervals of statistics that are computed anew each time.

The statistic is computed from weights of rows, so that a row is left out by giving it
the weight zero. How far it moves without each rater, and without each prompt, tells how
far it would move with others; no formula of its variance is needed. What is a function
of sums is faster in `leave_out`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from helpers.stats import checks
from helpers.stats.leave_out import (
    cluster_codes,
    joined_variance,
    standard_error_of,
    t_table,
)
from helpers.stats.moments import ratio

AT_ONCE = 32  # clusters left out in one call: the arrays stay in the processor's cache

Statistic = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Jackknife:
    """Numbers, and how each moves when clusters are left out. Made by `left_out`.

    Parameters
    ----------
    value : pandas.Series
        The estimates by name.
    changes : tuple of numpy.ndarray, each of shape (n_clusters, n_values)
        For each way of clustering, and for both at once if there are two, how far the
        estimates move without each cluster, times the square root of (n_clusters - 1) /
        n_clusters: their squares sum to the variance.
    df : float
        Degrees of freedom: the smaller effective number of clusters less one.
    """

    value: pd.Series
    changes: tuple[np.ndarray, ...]
    df: float

    def pick(self, names: Sequence) -> "Jackknife":
        """Choose estimates, in any order and as often as wanted.

        Parameters
        ----------
        names : sequence
            Names among those of `value`.

        Returns
        -------
        Jackknife
        """
        positions = [self.value.index.get_loc(name) for name in names]
        changes = tuple(each[:, positions] for each in self.changes)
        return Jackknife(self.value.iloc[positions], changes, self.df)

    def minus(self, other: "Jackknife") -> "Jackknife":
        """Subtract estimates from the same rows, one from each, in their order.

        Parameters
        ----------
        other : Jackknife
            As many estimates, with the same clusters left out.

        Returns
        -------
        Jackknife
            Named as these.
        """
        pairs = zip(self.changes, other.changes, strict=True)
        changes = tuple(own - others for own, others in pairs)
        return Jackknife(self.value - other.value.to_numpy(), changes, self.df)

    def table(self) -> pd.DataFrame:
        """Set out the estimates with their intervals.

        Returns
        -------
        pandas.DataFrame
            ``estimate``, ``standard_error``, 95 % interval ``low`` and ``high``,
            ``p_value`` and ``df``, from a t distribution. Two ways are joined by
            `helpers.stats.leave_out.two_way_variance`. All but the estimate are NaN
            where the variance is zero.

        References
        ----------
        Cameron, Gelbach and Miller (2011), Robust Inference with Multiway Clustering.
        """
        variances = [(each**2).sum(axis=0) for each in self.changes]
        standard_error = standard_error_of(joined_variance(variances))
        return t_table(self.value, standard_error, self.df).assign(df=self.df)

    def draws(self, n_draws: int, rng: np.random.Generator) -> pd.DataFrame:
        """Draw estimates as other clusters might have given them, for ranks.

        Parameters
        ----------
        n_draws : int
            Number of draws.
        rng : numpy.random.Generator

        Returns
        -------
        pandas.DataFrame, shape (n_draws, n_values)
            From a multivariate t distribution around the estimates.
        """
        covariance = [each.T @ each for each in self.changes]
        total = covariance[0]
        if len(covariance) == 3:
            total = covariance[0] + covariance[1] - covariance[2]
        values, vectors = np.linalg.eigh(total)
        # what is below zero by chance becomes zero
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        normal = rng.standard_normal((n_draws, len(root))) @ root.T
        scale = np.sqrt(rng.chisquare(self.df, size=(n_draws, 1)) / self.df)
        drawn = self.value.to_numpy() + normal / scale
        return pd.DataFrame(drawn, columns=self.value.index)


def leave_one_out(
    statistic: Statistic, clusters: pd.DataFrame, names: Sequence
) -> pd.DataFrame:
    """Estimates with intervals by leaving out each cluster in turn, one or two ways.

    Parameters
    ----------
    statistic, clusters, names
        As for `left_out`.

    Returns
    -------
    pandas.DataFrame
        As `Jackknife.table`.

    Raises
    ------
    ValueError
        If a column of clusters cannot be used or has fewer than two clusters.

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
    return left_out(statistic, clusters, names).table()


def left_out(
    statistic: Statistic, clusters: pd.DataFrame, names: Sequence
) -> Jackknife:
    """Compute a statistic without each cluster in turn, one or two ways.

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
    Jackknife
        Estimates that can be subtracted from each other. Degrees of freedom are the
        smaller effective number of clusters (see `effective_number`) less one, at least
        one.

    Raises
    ------
    ValueError
        If a column of clusters cannot be used or has fewer than two clusters.

    References
    ----------
    Efron and Tibshirani (1993), chapter 11 (jackknife); Carter, Schnepel and
    Steigerwald (2017), Asymptotic Behavior of a t-Test Robust to Cluster Heterogeneity.

    Examples
    --------
    >>> scores = np.array([[1.0, 2.0], [2.0, 2.0], [3.0, 5.0], [4.0, 4.0]])
    >>> def means(weights):
    ...     return weights @ scores / weights.sum(axis=1, keepdims=True)
    >>> raters = pd.DataFrame({"rater_id": list("abcd")})
    >>> both = left_out(means, raters, ["first", "second"])
    >>> both.pick(["second"]).minus(both.pick(["first"])).table().round(2)
            estimate  standard_error   low  high  p_value   df
    second      0.75            0.48 -0.77  2.27     0.22  3.0
    """
    for column in clusters:
        checks.check_clusters(clusters, column)
    estimate = statistic(np.ones((1, len(clusters))))[0]
    fewest = min(effective_number(labels) for _, labels in clusters.items())
    df = max(fewest - 1, 1.0)
    codes = cluster_codes(clusters)
    changes = tuple(_changes(statistic, estimate, each) for each in codes)
    value = pd.Series(estimate, index=names)
    return Jackknife(value, changes, df)


def _changes(
    statistic: Statistic, estimate: np.ndarray, codes: np.ndarray
) -> np.ndarray:
    """How far estimates move without each cluster of one kind."""
    n_clusters = codes.max() + 1
    parts = []
    for start in range(0, n_clusters, AT_ONCE):
        without = np.arange(start, min(start + AT_ONCE, n_clusters))
        weights = (codes != without[:, None]).astype(float)
        parts.append(statistic(weights) - estimate)
    return np.concatenate(parts) * np.sqrt((n_clusters - 1) / n_clusters)


def group_means(
    frame: pd.DataFrame,
    columns: Sequence[str],
    by: str | Sequence[str] | None,
    clusters: Sequence[str],
) -> Jackknife:
    """Mean of each column in each group, with clusters of one or two kinds left out.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per observation.
    columns : sequence of str
        Numeric columns to average. Missing values are left out column by column.
    by : str, sequence of str or None
        Columns that tell groups apart; None takes all rows together.
    clusters : sequence of str
        One or two columns of clusters.

    Returns
    -------
    Jackknife
        Means named by column and group; groups in the order of their first appearance.
        Its `table` gives the intervals, and means can be subtracted from each other.

    Raises
    ------
    ValueError
        If a column is unknown or not numeric, or there are fewer than two clusters.

    Examples
    --------
    >>> ratings = pd.DataFrame(
    ...     {"rater_id": list("aabbcc"), "system": ["x", "y"] * 3,
    ...      "quality": [4.0, 2.0, 5.0, 2.0, 3.0, 2.0]})
    >>> group_means(ratings, ["quality"], "system", ["rater_id"]).table().iloc[:, :4]
                    estimate  standard_error       low      high
    measure system
    quality x            4.0         0.57735  1.515862  6.484138
            y            2.0             NaN       NaN       NaN
    """
    checks.check_numeric(frame, columns, missing="allow")
    columns = list(columns)
    if by is None:
        groups = frame.groupby(np.zeros(len(frame)), sort=False)
    else:
        keys = [by] if isinstance(by, str) else list(by)
        groups = frame.groupby(keys, sort=False)
    first_rows = groups[columns].mean()
    parts = {column: first_rows[column] for column in columns}
    names = pd.concat(parts, names=["measure"]).index
    if by is None:
        names = pd.Index(columns, name="measure")

    # a column for each measure and group: its values, and which rows have one
    values = frame[columns].to_numpy(dtype=float, na_value=np.nan)
    group_of_row = groups.ngroup().to_numpy()
    in_group = group_of_row[:, None] == np.arange(len(first_rows))
    has_value = ~np.isnan(values)
    counted = has_value[:, :, None] & in_group[:, None, :]
    counted = counted.reshape(len(frame), -1).astype(float)
    summed = np.where(has_value, values, 0.0)[:, :, None] * in_group[:, None, :]
    summed = summed.reshape(len(frame), -1)

    def means(weights: np.ndarray) -> np.ndarray:
        return ratio(weights @ summed, weights @ counted)

    return left_out(means, frame[list(clusters)], names)


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
