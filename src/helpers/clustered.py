"""Estimates with intervals that allow for rows sharing a rater, a prompt, or both.

Two ratings by one person are alike, and so are two ratings of one prompt. Each estimate here comes
with the influence of every row on it. Adding up influence within raters, and within prompts, shows
how far the estimate would move with other raters and other prompts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from helpers.files.tables import check_clusters
from helpers.moments import ROUNDING, cluster_sums


@dataclass(frozen=True, eq=False)
class Estimates:
    """Numbers estimated from the same rows.

    Parameters
    ----------
    value : pandas.Series
        The estimates by name.
    influence : numpy.ndarray, shape (n_rows, n_estimates)
        What each row adds to the error of each estimate, to first order: for a mean, the row's
        distance from the mean divided by the number of rows.

    References
    ----------
    Huber (1967) and White (1982) for the variance as a sum of squared influence.

    Examples
    --------
    >>> marks = np.array([1.0, 0.0, 1.0, 0.0])
    >>> mean = Estimates(pd.Series({"rate": 0.5}), ((marks - 0.5) / 4)[:, None])
    >>> clusters = pd.DataFrame({"rater_id": ["a", "a", "b", "c"]})
    >>> mean.table(clusters)[["estimate", "standard_error"]].round(3)
          estimate  standard_error
    rate       0.5           0.217
    """

    value: pd.Series
    influence: np.ndarray

    def pick(self, names: Sequence) -> "Estimates":
        """Choose estimates, in any order and as often as wanted.

        Parameters
        ----------
        names : sequence
            Names among those of `value`.

        Returns
        -------
        Estimates

        Raises
        ------
        ValueError
            If there is no estimate of that name.
        """
        positions = self.value.index.get_indexer(pd.Index(names))
        if (positions < 0).any():
            known = ", ".join(map(str, self.value.index))
            raise ValueError(
                f"no estimate {names[np.argmax(positions < 0)]!r}: choose among {known}"
            )
        return Estimates(self.value.iloc[positions], self.influence[:, positions])

    def times(self, factor: float) -> "Estimates":
        """Express the estimates in another unit, or with the sign turned.

        Parameters
        ----------
        factor : float
            For example 100 for percentage points.

        Returns
        -------
        Estimates
        """
        return Estimates(factor * self.value, factor * self.influence)

    def minus(self, other: "Estimates") -> "Estimates":
        """Subtract estimates from the same rows, one from each, in their order.

        Parameters
        ----------
        other : Estimates
            As many estimates from the same rows.

        Returns
        -------
        Estimates
            Named as these.

        Raises
        ------
        ValueError
            If the numbers of rows or of estimates differ.
        """
        if self.influence.shape != other.influence.shape:
            rows, estimates = zip(self.influence.shape, other.influence.shape, strict=True)
            raise ValueError(
                f"cannot subtract {estimates[1]} estimates from {rows[1]} rows from "
                f"{estimates[0]} estimates from {rows[0]} rows: rows and numbers must agree"
            )
        return Estimates(self.value - other.value.to_numpy(), self.influence - other.influence)

    def table(self, clusters: pd.DataFrame) -> pd.DataFrame:
        """Set out the estimates with cluster-robust intervals.

        Parameters
        ----------
        clusters : pandas.DataFrame, shape (n_rows, 1 or 2)
            The clusters of each row, for example its rater and its prompt.

        Returns
        -------
        pandas.DataFrame
            ``estimate``, ``standard_error``, 95 % interval ``low`` and ``high``, and ``p_value``,
            from a t distribution with (smaller number of clusters - 1) degrees of freedom. All
            but the estimate are NaN where the estimated variance is zero.

        Raises
        ------
        ValueError
            As `covariance`.

        References
        ----------
        Cameron and Miller (2015), A Practitioner's Guide to Cluster-Robust Inference, section V.
        """
        error = np.sqrt(np.diagonal(covariance(self.influence, clusters)))
        error = np.where(error > 0, error, np.nan)
        freedom = clusters.nunique().min() - 1
        margin = stats.t.ppf(0.975, freedom) * error
        return pd.DataFrame(
            {
                "estimate": self.value,
                "standard_error": error,
                "low": self.value - margin,
                "high": self.value + margin,
                "p_value": 2 * stats.t.sf(np.abs(self.value) / error, freedom),
            }
        )


def covariance(influence: np.ndarray, clusters: pd.DataFrame) -> np.ndarray:
    """Cluster-robust covariance of estimates, one-way or two-way.

    With two ways it is the covariance by the first, plus that by the second, minus that by both,
    which was counted twice. Each is multiplied by G / (G - 1) for its own number G of clusters.
    The result can have negative eigenvalues; they are set to zero.

    Parameters
    ----------
    influence : numpy.ndarray, shape (n_rows, n_estimates)
        See `Estimates`.
    clusters : pandas.DataFrame, shape (n_rows, 1 or 2)
        The clusters of each row.

    Returns
    -------
    numpy.ndarray, shape (n_estimates, n_estimates)

    Raises
    ------
    ValueError
        If there are not one or two columns of clusters, their rows are not those of `influence`,
        a label is missing, or a column has fewer than two clusters.

    Notes
    -----
    With few clusters behind an estimate intervals tend to be too narrow, for example that of a
    feature which is present in a handful of prompts, however many prompts there are.

    References
    ----------
    Cameron and Miller (2015), section VI, for few clusters; Cameron, Gelbach and Miller (2011),
    Robust Inference With Multiway Clustering.

    Examples
    --------
    >>> influence = np.array([[1.0], [-1.0], [2.0], [-2.0]])
    >>> clusters = pd.DataFrame({"rater_id": [1, 2, 1, 2], "prompt_id": [1, 1, 2, 2]})
    >>> covariance(influence, clusters[["rater_id"]])
    array([[36.]])
    """
    if clusters.shape[1] not in (1, 2):
        raise ValueError(f"got {clusters.shape[1]} columns of clusters: give one or two")
    if len(clusters) != len(influence):
        raise ValueError(
            f"clusters have {len(clusters)} rows, the estimates come from {len(influence)}: "
            "give the clusters of the same rows"
        )
    for column in clusters:
        check_clusters(clusters, column)
    one_way = [_one_way(influence, clusters[column]) for column in clusters]
    if len(one_way) == 1:
        return one_way[0]
    both = clusters.groupby(list(clusters.columns), observed=True).ngroup()
    return _without_negative_eigenvalues(sum(one_way) - _one_way(influence, both))


def _one_way(influence: np.ndarray, labels: pd.Series) -> np.ndarray:
    """Covariance that allows for one kind of cluster."""
    sums = cluster_sums(influence, labels)
    return sums.T @ sums * len(sums) / (len(sums) - 1)


def _without_negative_eigenvalues(matrix: np.ndarray) -> np.ndarray:
    """Set negative eigenvalues, and those that are rounding errors, to zero."""
    eigenvalues, vectors = np.linalg.eigh(matrix)
    smallest = ROUNDING * np.abs(eigenvalues).max()
    return (vectors * np.where(eigenvalues > smallest, eigenvalues, 0.0)) @ vectors.T
