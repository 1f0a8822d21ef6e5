"""Cross-products summed by cluster, from which fits to any resample follow.

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
LARGE = 200  # from so many rows in a cluster on, clusters are taken one by one
ROUNDING = 1e-12  # a variance below this share of the mean square is a rounding error


def cluster_sums(values: np.ndarray, clusters: ArrayLike) -> np.ndarray:
    """Sums of rows within clusters, given as labels of rows."""
    members = membership(clusters)
    n_clusters = members.shape[0]
    row_shape = values.shape[1:]
    # The sparse matrix multiplies tables only: other axes become columns and return.
    table = np.asarray(values).reshape(len(values), prod(row_shape))
    return (members @ table).reshape(n_clusters, *row_shape)


def membership(labels: ArrayLike) -> csr_array:
    """Matrix of clusters by rows that adds up rows: 1 where a row is in a cluster."""
    codes, clusters = pd.factorize(np.asarray(labels), sort=True)
    if (codes < 0).any():
        raise ValueError(
            f"row {np.argmax(codes < 0)} has no cluster label: label it or drop it"
        )
    n_rows = len(codes)
    places = (codes, np.arange(n_rows))
    return csr_array((np.ones(n_rows), places), shape=(len(clusters), n_rows))


def ratio(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Quotient, NaN where the denominator is not positive."""
    undefined = np.full(np.shape(numerator), np.nan)
    return np.divide(numerator, denominator, out=undefined, where=denominator > 0)


@dataclass(frozen=True, eq=False)
class ClusterMoments:
    """Cross-products of (1, features, outcome), a matrix per cluster, resample or fold.

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
        parts = []
        for start in range(0, len(self.products), BLOCK):
            block = slice(start, start + BLOCK)
            part = np.tensordot(weights[:, block], self.products[block], axes=1)
            parts.append(part)
        return replace(self, products=reduce(np.add, parts))

    def covariances(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Covariances with divisor n; exact zeros where a feature does not vary."""
        mean_products = self.products / self.n[:, None, None]
        mean = mean_products[:, 0]
        covariance = mean_products - mean[:, :, None] * mean[:, None, :]
        # What remains of a constant column is a rounding error, and becomes zero.
        variance = np.diagonal(covariance, axis1=1, axis2=2)
        mean_square = np.diagonal(mean_products, axis1=1, axis2=2)
        varies = variance > ROUNDING * mean_square
        covariance *= varies[:, :, None] & varies[:, None, :]
        features = covariance[:, 1:-1, 1:-1]
        cross = covariance[:, 1:-1, -1]
        outcome = covariance[:, -1, -1]
        return features, cross, outcome

    def correlation(self, slopes: np.ndarray) -> np.ndarray:
        """Pearson's correlation of features · slopes with the outcome."""
        features, cross, outcome_variance = self.covariances()
        prediction_variance = np.einsum("si,sij,sj->s", slopes, features, slopes)
        covariance = (slopes * cross).sum(axis=1)
        # rounding can take a variance of zero a little below it
        product = np.clip(prediction_variance * outcome_variance, 0.0, None)
        return ratio(covariance, np.sqrt(product))


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
    labels = np.arange(len(frame)) if cluster is None else frame[cluster]
    members = membership(labels)
    n_clusters = members.shape[0]
    if len(rows) > LARGE * n_clusters:
        products = _products_of_large(rows, members)
    else:
        products = _products(rows, members)
    return ClusterMoments(tuple(features), outcome, products)


def _products(rows: np.ndarray, members: csr_array) -> np.ndarray:
    """Cross-products within clusters, column by column for all clusters at once."""
    n_clusters = members.shape[0]
    n_columns = rows.shape[1]
    products = np.empty((n_clusters, n_columns, n_columns))
    scaled = np.empty_like(rows)  # filled anew for each column
    for number, column in enumerate(rows.T):
        np.multiply(rows, column[:, None], out=scaled)
        products[:, number] = members @ scaled
    return products


def _products_of_large(rows: np.ndarray, members: csr_array) -> np.ndarray:
    """Cross-products cluster by cluster: faster if each has many rows."""
    # the sparse matrix lists its rows, the clusters, one after the other
    sorted_rows = rows[members.indices]
    clusters = np.split(sorted_rows, members.indptr[1:-1])
    return np.stack([cluster.T @ cluster for cluster in clusters])
