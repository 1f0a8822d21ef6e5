"""Which features carry an outcome: Lasso weights, and how sure they are.

A weight is in the units of the outcome: the expected change when the feature goes up by
one, shrunk towards zero by the penalty. Tables are reduced to sums within clusters
first, so that thousands of replicates are solved together without the rows.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from helpers.stats.bootstrap import cluster_weights
from helpers.stats.moments import ClusterMoments, cluster_moments

# problems solved together: enough to be fast, few enough to stay in the cache
BLOCK = 2048
MAX_SWEEPS = 10_000


def solve_lasso(
    gram: np.ndarray, cross: np.ndarray, alpha: ArrayLike, tol: float = 1e-12
) -> np.ndarray:
    """Minimise wᵀ G w / 2 - cᵀ w + alpha ‖w‖₁ for every Gram matrix G and vector c."""
    alpha = np.asarray(alpha, dtype=float)
    if not (alpha > 0).all():
        raise ValueError(
            f"alpha must be positive, got {alpha.min()}: without a penalty use "
            "least squares"
        )
    # one problem a row: matrices, vectors and penalties may each be shared by several
    n_features = cross.shape[-1]
    shape = np.broadcast_shapes(gram.shape[:-2], cross.shape[:-1], alpha.shape)
    all_grams = np.broadcast_to(gram, (*shape, n_features, n_features))
    all_grams = all_grams.reshape(-1, n_features, n_features)
    all_crosses = np.broadcast_to(cross, (*shape, n_features)).reshape(-1, n_features)
    all_alphas = np.broadcast_to(alpha, shape).ravel()

    weights = np.empty(all_crosses.shape)
    for start in range(0, len(weights), BLOCK):
        block = slice(start, start + BLOCK)
        weights[block] = _solve_block(
            all_grams[block], all_crosses[block], all_alphas[block], tol
        )
    return weights.reshape(*shape, n_features)


def _solve_block(
    gram: np.ndarray, cross: np.ndarray, alpha: np.ndarray, tol: float
) -> np.ndarray:
    """Solve problems side by side by coordinate descent (Friedman et al. 2010)."""
    # Problems go to the last axis, so that each step runs along them in memory.
    gram = gram.transpose(1, 2, 0).copy()
    # Covariance of each feature with the residual. All weights start at zero, where
    # the residual is the outcome.
    residual_cross = cross.T.copy()

    # A feature that does not vary keeps weight 0; its variance becomes 1 in `gram`,
    # of which `variance` is a view, so that nothing is divided by 0.
    variance = np.einsum("iib->ib", gram)
    is_constant = variance <= 0
    residual_cross[is_constant] = 0.0
    variance[is_constant] = 1.0

    weights = np.zeros_like(residual_cross)
    solutions = np.empty_like(residual_cross)
    remaining = np.arange(len(alpha))  # which problems are not solved yet
    tolerance = tol * np.abs(residual_cross).max(axis=0)
    for _ in range(MAX_SWEEPS):
        largest_change = _sweep(gram, residual_cross, weights, alpha)
        is_unsolved = largest_change > tolerance
        # To copy what remains takes time: it pays once half of the problems are solved.
        if is_unsolved.sum() > len(remaining) / 2:
            continue
        solutions[:, remaining] = weights
        if not is_unsolved.any():
            return solutions.T
        remaining = remaining[is_unsolved]
        alpha = alpha[is_unsolved]
        tolerance = tolerance[is_unsolved]
        gram = gram[..., is_unsolved]
        residual_cross = residual_cross[:, is_unsolved]
        weights = weights[:, is_unsolved]
    raise RuntimeError(
        f"the Lasso is not solved after {MAX_SWEEPS} sweeps in {len(remaining)} of "
        f"{len(cross)} problems: raise alpha or leave out one of the features that are "
        "nearly the same"
    )


def _sweep(
    gram: np.ndarray,
    residual_cross: np.ndarray,
    weights: np.ndarray,
    alpha: np.ndarray,
) -> np.ndarray:
    """Update each weight once, in place; give the largest change in each problem."""
    largest_change = np.zeros(len(alpha))
    for feature, gram_row in enumerate(gram):
        variance = gram_row[feature]
        # covariance of this feature with what the other features leave unexplained
        partial_cross = residual_cross[feature] + variance * weights[feature]
        # soft threshold: move by alpha towards zero, and stop there
        thresholded = partial_cross - np.clip(partial_cross, -alpha, alpha)
        updated = thresholded / variance

        change = updated - weights[feature]
        residual_cross -= gram_row * change
        weights[feature] = updated
        np.maximum(largest_change, np.abs(change) * variance, out=largest_change)
    return largest_change


def lasso(
    frame: pd.DataFrame, features: Sequence[str], outcome: str, alpha: float
) -> pd.Series:
    """Lasso weights, with an intercept that is not penalised.

    Minimises ‖y - Xw - b‖² / (2n) + alpha ‖w‖₁, the objective of scikit-learn.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per observation.
    features : sequence of str
        Columns that explain, in units that make their weights comparable.
    outcome : str
        Column to explain.
    alpha : float
        Penalty, positive.

    Returns
    -------
    pandas.Series
        A weight per feature; 0 for a feature that never varies.

    Raises
    ------
    ValueError
        If a column cannot be used (see `helpers.stats.checks.check_regression`) or
        `alpha` is not positive.

    References
    ----------
    Tibshirani (1996); Hosking et al. (2024), section 2.2.

    Examples
    --------
    >>> frame = pd.DataFrame({"refusal": [0, 0, 1, 1], "quality": [5.0, 4.0, 2.0, 1.0]})
    >>> lasso(frame, ["refusal"], "quality", alpha=0.05)
    refusal   -2.8
    Name: weight, dtype: float64
    """
    total = cluster_moments(frame, features, outcome).total()
    weights = _lasso_weights(total, alpha)[0]
    return pd.Series(weights, index=list(features), name="weight")


def _lasso_weights(moments: ClusterMoments, alpha: ArrayLike) -> np.ndarray:
    """Lasso weights for every set of rows."""
    gram, cross, _ = moments.covariances()
    return solve_lasso(gram, cross, alpha)


def lasso_bootstrap(
    moments: ClusterMoments, alpha: float, n_boot: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Lasso weights in bootstrap replicates of clusters.

    Read intervals together with the share of draws that are not zero: around a weight
    whose truth is zero, the bootstrap distribution of a Lasso is not that of its
    estimate.

    Parameters
    ----------
    moments : ClusterMoments
        One set per cluster, see `helpers.stats.moments.cluster_moments`.
    alpha : float
        Penalty, positive.
    n_boot : int
        Number of replicates.
    rng : numpy.random.Generator

    Returns
    -------
    pandas.DataFrame, shape (n_boot, n_features)
        A feature that does not vary in a replicate has weight 0 there.

    Raises
    ------
    ValueError
        If there are fewer than two clusters or `alpha` is not positive.

    References
    ----------
    Efron and Tibshirani (1993), chapter 9; Cameron and Miller (2015), section VI;
    Chatterjee and Lahiri (2011), Bootstrapping Lasso Estimators (for the caution).

    Examples
    --------
    >>> frame = pd.DataFrame({"refusal": [0, 1] * 8, "quality": [5.0, 2.0] * 8,
    ...                       "prompt_id": np.arange(16) // 4})
    >>> moments = cluster_moments(frame, ["refusal"], "quality", "prompt_id")
    >>> lasso_bootstrap(moments, 0.05, 2, np.random.default_rng(0))
       refusal
    0     -2.8
    1     -2.8
    """
    times_drawn = cluster_weights(len(moments.products), n_boot, rng)
    replicates = moments.total(times_drawn)
    weights = _lasso_weights(replicates, alpha)
    return pd.DataFrame(weights, columns=list(moments.features))
