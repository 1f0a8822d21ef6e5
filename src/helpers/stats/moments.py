"""Sums within clusters: all that linear models, correlations and their bootstrap need to know.

A table is reduced once to small matrices of cross-products, one per cluster. Any
resample, fold or split of clusters is then a weighted sum of these matrices.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import prod

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from helpers.stats.checks import check_regression

BLOCK = 2**15  # sets that are added up together: few enough for the processor's cache
LARGE = 200  # rows a cluster, from which clusters are taken one by one
ROUNDING = 1e-12  # a variance below this share of the mean square is a rounding error


def cluster_sums(values: np.ndarray, labels: ArrayLike) -> np.ndarray:
    """Sums of rows within clusters."""
    member = _membership(labels)
    table = np.asarray(values).reshape(len(values), prod(values.shape[1:]))
    return (member @ table).reshape(member.shape[0], *values.shape[1:])


def _membership(labels: ArrayLike) -> csr_array:
    """Matrix that adds up rows within clusters: 1 where a row is in a cluster, 0 elsewhere."""
    codes, clusters = pd.factorize(np.asarray(labels), sort=True)
    if (codes < 0).any():
        raise ValueError(
            f"row {np.argmax(codes < 0)} has no cluster label: label it or drop it"
        )
    rows = np.arange(len(codes))
    return csr_array(
        (np.ones(len(codes)), (codes, rows)), shape=(len(clusters), len(codes))
    )


@dataclass(frozen=True, eq=False)
class ClusterMoments:
    """Cross-products of (1, features, outcome), one matrix per cluster, resample or fold.

    Parameters
    ----------
    features : tuple of str
        Names of the features.
    outcome : str
        Name of the outcome.
    products : numpy.ndarray, shape (n_sets, n_features + 2, n_features + 2)
        For each set of rows the sum of z zᵀ over its rows z = (1, features, outcome).
        The properties `n`, `xx` and `xy` name parts of it.

    Notes
    -----
    Variances are differences of sums of squares. They lose accuracy when the mean of a
    column is more than about 10,000 times its standard deviation; subtract a constant
    there.

    References
    ----------
    Friedman, Hastie and Tibshirani (2010), section 2.2 (covariance updates).
    """

    features: tuple[str, ...]
    outcome: str
    products: np.ndarray

    def __sizeof__(self) -> int:
        """Bytes in memory, from which Dask tells what to send to a worker only once."""
        return object.__sizeof__(self) + self.products.nbytes

    @property
    def n(self) -> np.ndarray:
        """Number of rows, shape (n_sets,)."""
        return self.products[:, 0, 0]

    @property
    def xx(self) -> np.ndarray:
        """Sums of products of features, shape (n_sets, n_features, n_features)."""
        return self.products[:, 1:-1, 1:-1]

    @property
    def xy(self) -> np.ndarray:
        """Sums of features times outcome, shape (n_sets, n_features)."""
        return self.products[:, 1:-1, -1]

    def total(self, weights: np.ndarray | None = None) -> "ClusterMoments":
        """Add up sets.

        Parameters
        ----------
        weights : numpy.ndarray, shape (n_totals, n_sets), optional
            How often each set counts in each total; by default one total counts each
            set once.

        Returns
        -------
        ClusterMoments
            One set per row of `weights`.
        """
        if weights is None:
            weights = np.ones((1, len(self.products)))
        blocks = [
            slice(start, start + BLOCK) for start in range(0, len(self.products), BLOCK)
        ]
        totals = [np.tensordot(weights[:, b], self.products[b], axes=1) for b in blocks]
        return replace(self, products=reduce(np.add, totals))

    def covariances(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Covariances with divisor n; exact zeros where a feature does not vary."""
        mean_square = self.products / self.n[:, None, None]
        mean = mean_square[:, 0]
        covariance = mean_square - mean[:, :, None] * mean[:, None, :]
        variance = np.diagonal(covariance, axis1=1, axis2=2)
        varies = variance > ROUNDING * np.diagonal(mean_square, axis1=1, axis2=2)
        covariance *= varies[:, :, None] & varies[:, None, :]
        return covariance[:, 1:-1, 1:-1], covariance[:, 1:-1, -1], covariance[:, -1, -1]

    def intercept(self, slopes: np.ndarray) -> np.ndarray:
        """Intercept with which predictions and outcome have the same mean."""
        totals = self.products[:, 0]
        return (totals[:, -1] - (slopes * totals[:, 1:-1]).sum(axis=-1)) / self.n

    def squared_error(self, intercept: np.ndarray, slopes: np.ndarray) -> np.ndarray:
        """Mean squared error of the predictions intercept + features · slopes."""
        minus_one = -np.ones_like(intercept)
        residual = np.concatenate(
            [intercept[..., None], slopes, minus_one[..., None]], axis=-1
        )
        return (
            np.einsum("...si,sij,...sj->...s", residual, self.products, residual)
            / self.n
        )

    def correlation(self, slopes: np.ndarray) -> np.ndarray:
        """Pearson's correlation of features · slopes with the outcome."""
        features, cross, outcome = self.covariances()
        prediction = np.einsum("si,sij,sj->s", slopes, features, slopes)
        spread = np.sqrt(np.clip(prediction * outcome, 0.0, None))
        shared = (slopes * cross).sum(axis=1)
        return np.divide(
            shared, spread, out=np.full_like(spread, np.nan), where=spread > 0
        )


def cluster_moments(
    frame: pd.DataFrame,
    features: Sequence[str],
    outcome: str,
    cluster: str | None = None,
) -> ClusterMoments:
    """Reduce a table to cross-products within clusters.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per observation.
    features : sequence of str
        Columns that explain.
    outcome : str
        Column to explain.
    cluster : str, optional
        Column of clusters; by default every row is a cluster of its own.

    Returns
    -------
    ClusterMoments
        One set per cluster, in sorted order of their labels, or one per row in the
        order given.

    Raises
    ------
    ValueError
        If a column cannot be used (see `helpers.stats.checks.check_regression`).

    Examples
    --------
    >>> frame = pd.DataFrame(
    ...     {"refusal": [0, 1, 1], "quality": [5, 2, 1], "prompt_id": ["a", "a", "b"]})
    >>> moments = cluster_moments(frame, ["refusal"], "quality", "prompt_id")
    >>> moments.n, moments.xy.squeeze()
    (array([2., 1.]), array([2., 1.]))
    """
    check_regression(frame, features, outcome, cluster)
    rows = np.ones((len(frame), len(features) + 2))
    rows[:, 1:] = frame[[*features, outcome]].to_numpy(dtype=float)
    member = _membership(np.arange(len(frame)) if cluster is None else frame[cluster])
    are_large = len(rows) > LARGE * member.shape[0]
    products = (
        _products_of_large(rows, member) if are_large else _products(rows, member)
    )
    return ClusterMoments(tuple(features), outcome, products)


def _products(rows: np.ndarray, member: csr_array) -> np.ndarray:
    """Cross-products within clusters, column by column for all clusters at once."""
    products = np.empty((member.shape[0], rows.shape[1], rows.shape[1]))
    scaled = np.empty_like(rows)
    for number, column in enumerate(rows.T):
        products[:, number] = member @ np.multiply(rows, column[:, None], out=scaled)
    return products


def _products_of_large(rows: np.ndarray, member: csr_array) -> np.ndarray:
    """Cross-products within clusters, cluster by cluster: faster if each has many rows."""
    parts = np.split(rows[member.indices], member.indptr[1:-1])
    return np.stack([part.T @ part for part in parts])
