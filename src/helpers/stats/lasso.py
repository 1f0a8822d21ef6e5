"""Which features carry an outcome: Lasso weights, how sure they are, and the choice of a penalty.

A weight is in the units of the outcome: the expected change when the feature goes up by
one, shrunk towards zero by the penalty. Tables are reduced to sums within clusters
first, so that thousands of replicates, folds and penalties are solved together, and
none of them needs the rows. Least squares with clustered errors stand beside the
weights.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from helpers.stats.bootstrap import cluster_weights, in_batches
from helpers.stats.checks import check_regression
from helpers.stats.clustered import linear_model
from helpers.stats.groups import interval_table
from helpers.stats.moments import ClusterMoments, cluster_moments

# problems solved together: enough to be fast, few enough to stay in the cache
BLOCK = 2048
MAX_SWEEPS = 10_000
SEEN = 2.8  # standard errors of an effect that a 5 % test finds with 80 % power


def solve_lasso(
    gram: np.ndarray, cross: np.ndarray, alpha: ArrayLike, tol: float = 1e-12
) -> np.ndarray:
    """Minimise wᵀ G w / 2 - cᵀ w + alpha ‖w‖₁ for every Gram matrix G and vector c."""
    alpha = np.asarray(alpha, dtype=float)
    if not (alpha > 0).all():
        raise ValueError(
            f"alpha must be positive, got {alpha.min()}: without a penalty use ols"
        )
    n_features = cross.shape[-1]
    shape = np.broadcast_shapes(gram.shape[:-2], cross.shape[:-1], alpha.shape)
    gram = np.broadcast_to(gram, (*shape, *gram.shape[-2:])).reshape(
        -1, n_features, n_features
    )
    cross = np.broadcast_to(cross, (*shape, n_features)).reshape(-1, n_features)
    alpha = np.broadcast_to(alpha, shape).ravel()
    weights = np.empty(cross.shape)
    for start in range(0, len(cross), BLOCK):
        block = slice(start, start + BLOCK)
        weights[block] = _solve_block(gram[block], cross[block], alpha[block], tol)
    return weights.reshape(*shape, n_features)


def _solve_block(
    gram: np.ndarray, cross: np.ndarray, alpha: np.ndarray, tol: float
) -> np.ndarray:
    """Sweep over the features until every problem is solved, dropping solved problems."""
    # features first: each update runs along the problems
    gram = gram.transpose(1, 2, 0).copy()
    gradient = cross.T.copy()
    diagonal = np.einsum("iib->ib", gram)
    gradient[diagonal <= 0] = 0.0
    diagonal[diagonal <= 0] = 1.0
    limit = tol * np.abs(gradient).max(axis=0)
    weights = np.zeros_like(gradient)
    solved = np.empty_like(gradient)
    left = np.arange(len(alpha))
    for _ in range(MAX_SWEEPS):
        unsolved = _sweep(gram, gradient, weights, alpha) > limit
        if unsolved.sum() > len(left) / 2:
            continue
        solved[:, left] = weights
        if not unsolved.any():
            return solved.T
        left, alpha, limit = left[unsolved], alpha[unsolved], limit[unsolved]
        gram, gradient, weights = (
            gram[..., unsolved],
            gradient[:, unsolved],
            weights[:, unsolved],
        )
    raise RuntimeError(
        f"the Lasso is not solved after {MAX_SWEEPS} sweeps in {len(left)} of {len(cross)} "
        "problems: raise alpha or leave out one of the features that are nearly the same"
    )


def _sweep(
    gram: np.ndarray, gradient: np.ndarray, weights: np.ndarray, alpha: np.ndarray
) -> np.ndarray:
    """Update every weight once, in place; return the largest change of a gradient per problem."""
    largest = np.zeros(len(alpha))
    for feature, products in enumerate(gram):
        variance = products[feature]
        target = gradient[feature] + variance * weights[feature]
        updated = (target - np.clip(target, -alpha, alpha)) / variance
        change = updated - weights[feature]
        gradient -= products * change
        weights[feature] = updated
        np.maximum(largest, np.abs(change) * variance, out=largest)
    return largest


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
    return lasso_path(frame, features, outcome, [alpha]).iloc[0].rename("weight")


def _weights(sums: ClusterMoments, alpha: ArrayLike) -> np.ndarray:
    """Lasso weights for every set of rows."""
    gram, cross, _ = sums.covariances()
    return solve_lasso(gram, cross, alpha)


def ols(
    frame: pd.DataFrame,
    features: Sequence[str],
    outcome: str,
    cluster: str,
    intercept: bool = True,
) -> pd.DataFrame:
    """Least squares with standard errors that allow for clusters.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per observation; every row is used.
    features : sequence of str
        Columns that explain.
    outcome : str
        Column to explain.
    cluster : str
        Column of clusters.
    intercept : bool, optional
        Whether a constant is fitted, too.

    Returns
    -------
    pandas.DataFrame
        A row for ``"intercept"``, if any, and for every feature: ``estimate``,
        ``standard_error``, 95 % interval ``low`` and ``high``, and ``p_value``, from a
        t distribution with (number of clusters - 1) degrees of freedom.

    Raises
    ------
    ValueError
        If a column cannot be used, or a feature is constant or a combination of those
        before it.

    References
    ----------
    Cameron and Miller (2015), A Practitioner's Guide to Cluster-Robust Inference,
    section II.

    Examples
    --------
    >>> frame = pd.DataFrame({"refusal": [0, 0, 1, 1], "quality": [5.0, 4.0, 2.0, 1.0],
    ...                       "prompt_id": ["a", "b", "a", "b"]})
    >>> ols(frame, ["refusal"], "quality", "prompt_id")["estimate"]
    intercept    4.5
    refusal     -3.0
    Name: estimate, dtype: float64
    """
    check_regression(frame, features, outcome, cluster)
    model = linear_model(frame, features, outcome, intercept)
    groups = {"groups": pd.factorize(frame[cluster], sort=True)[0]}
    fit = model.fit(cov_type="cluster", cov_kwds=groups, use_t=True)
    table = pd.DataFrame({"estimate": fit.params, "standard_error": fit.bse})
    table[["low", "high"]] = fit.conf_int()
    return table.assign(p_value=fit.pvalues)


def weight_meanings(
    frame: pd.DataFrame,
    features: Sequence[str],
    outcome: str,
    cluster: str,
    alpha: float | None = None,
    steps: Mapping[str, float] | None = None,
    intercept: bool = True,
) -> pd.DataFrame:
    """What a weight means: shrunk and unpenalised, per step and deviation, and what goes unseen.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per observation; every row is used.
    features : sequence of str
        Columns that explain.
    outcome : str
        Column to explain, for example the points lost.
    cluster : str
        Column of clusters.
    alpha : float, optional
        Penalty of a Lasso, positive; by default there is none.
    steps : mapping of str to float, optional
        How many steps of its scale make up one unit of each feature: 3 for marks 0, 1,
        2, 3 that were divided by 3. By default one.
    intercept : bool, optional
        Whether the unpenalised model has a constant; the Lasso always has.

    Returns
    -------
    pandas.DataFrame
        A row per feature: ``shrunk``, the weight in the Lasso (NaN without penalty);
        the unpenalised weight ``estimate`` with its clustered 95 % interval ``low``,
        ``high`` and ``p_value``; the unpenalised weight ``per_step`` of the scale and
        ``per_sd``, for one standard deviation; ``detectable``, the smallest true weight
        that would show. With a penalty this is alpha divided by the feature's variance:
        without noise and with other features unrelated, the Lasso sets every smaller
        one to zero. Without, it is 2.8 standard errors, found with 80 % power in a test
        at 5 %.

    Raises
    ------
    ValueError
        If a column cannot be used, or a feature is constant or a combination of those
        before it.
    KeyError
        If `steps` lacks a feature.

    References
    ----------
    Tibshirani (1996), section 2.2; Gelman and Hill (2007), Data Analysis Using
    Regression, section 20.1 (2.8 standard errors).

    Examples
    --------
    >>> frame = pd.DataFrame({"refusal": [0, 0, 1, 1], "lost": [0.0, 1.0, 3.0, 4.0],
    ...                       "prompt_id": ["a", "b", "a", "b"]})
    >>> weight_meanings(frame, ["refusal"], "lost", "prompt_id", alpha=0.05)[
    ...     ["shrunk", "estimate", "per_step", "per_sd", "detectable"]]
             shrunk  estimate  per_step  per_sd  detectable
    refusal     2.8       3.0       3.0     1.5         0.2
    """
    names = list(features)
    fitted = ols(frame, names, outcome, cluster, intercept).loc[names]
    spread = frame[names].std(ddof=0)
    table = fitted[["estimate", "low", "high", "p_value"]]
    table.insert(0, "shrunk", lasso(frame, names, outcome, alpha) if alpha else np.nan)
    return table.assign(
        per_step=table["estimate"] / [steps[name] if steps else 1 for name in names],
        per_sd=table["estimate"] * spread,
        detectable=alpha / spread**2 if alpha else SEEN * fitted["standard_error"],
    )


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
    weights = cluster_weights(len(moments.products), n_boot, rng)
    return pd.DataFrame(
        _weights(moments.total(weights), alpha), columns=list(moments.features)
    )


def lasso_table(
    moments: ClusterMoments, alpha: float, n_boot: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Lasso weights with intervals and how often they are not zero, replicates drawn in batches."""
    names = list(moments.features)
    weights = pd.Series(_weights(moments.total(), alpha)[0], index=names)
    draws = in_batches(lasso_bootstrap, moments, alpha, n_boot=n_boot, rng=rng)
    draws = pd.DataFrame(draws, columns=names)
    return interval_table(weights, draws).assign(selected=draws.ne(0).mean())


def lasso_path(
    frame: pd.DataFrame, features: Sequence[str], outcome: str, alphas: ArrayLike
) -> pd.DataFrame:
    """Lasso weights for many penalties.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per observation.
    features : sequence of str
        Columns that explain.
    outcome : str
        Column to explain.
    alphas : array-like, shape (n_alphas,)
        Penalties, positive, for example from `alpha_grid`.

    Returns
    -------
    pandas.DataFrame, shape (n_alphas, n_features)
        Rows are penalties.

    Raises
    ------
    ValueError
        If a column cannot be used or a penalty is not positive.

    References
    ----------
    Friedman, Hastie and Tibshirani (2010), section 2.5.

    Examples
    --------
    >>> frame = pd.DataFrame({"refusal": [0, 0, 1, 1], "quality": [5.0, 4.0, 2.0, 1.0]})
    >>> lasso_path(frame, ["refusal"], "quality", [0.75, 0.05])
           refusal
    alpha
    0.75       0.0
    0.05      -2.8
    """
    total = cluster_moments(frame, features, outcome).total()
    alphas = pd.Index(alphas, name="alpha", dtype=float)
    return pd.DataFrame(_weights(total, alphas), index=alphas, columns=list(features))


def alpha_grid(
    moments: ClusterMoments, size: int = 100, smallest: float = 1e-3
) -> np.ndarray:
    """Penalties from the one that sets every weight to zero down to a share of it.

    Parameters
    ----------
    moments : ClusterMoments
        Any number of sets; they are added up.
    size : int, optional
        Number of penalties.
    smallest : float, optional
        The last penalty as a share of the first.

    Returns
    -------
    numpy.ndarray, shape (size,)
        Falling, equally spaced on a logarithmic scale.

    References
    ----------
    Friedman, Hastie and Tibshirani (2010), section 2.5.

    Examples
    --------
    >>> frame = pd.DataFrame({"refusal": [0, 0, 1, 1], "quality": [5.0, 4.0, 2.0, 1.0]})
    >>> alpha_grid(cluster_moments(frame, ["refusal"], "quality"), size=4).round(5)
    array([0.75   , 0.075  , 0.0075 , 0.00075])
    """
    _, cross, _ = moments.total().covariances()
    return np.abs(cross).max() * np.geomspace(1.0, smallest, size)


def lasso_cross_validation(
    moments: ClusterMoments, alphas: ArrayLike, n_folds: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Choose the penalty by cross-validation that keeps clusters together.

    Parameters
    ----------
    moments : ClusterMoments
        One set per cluster, see `helpers.stats.moments.cluster_moments`.
    alphas : array-like, shape (n_alphas,)
        Penalties, positive, for example from `alpha_grid`.
    n_folds : int
        Number of folds, from 2 to the number of clusters.
    rng : numpy.random.Generator
        Deals clusters into folds whose numbers of clusters differ by at most one.

    Returns
    -------
    best : float
        The penalty that predicts best.
    cautious : float
        The largest one whose error is within a standard error of the best.

    Raises
    ------
    ValueError
        If the number of folds does not fit or a penalty is not positive.

    References
    ----------
    Hastie, Tibshirani and Friedman (2009), The Elements of Statistical Learning,
    section 7.10.

    Examples
    --------
    >>> frame = pd.DataFrame({"refusal": [0, 1] * 8, "quality": [5.0, 2.0] * 8,
    ...                       "prompt_id": np.arange(16) // 4})
    >>> moments = cluster_moments(frame, ["refusal"], "quality", "prompt_id")
    >>> lasso_cross_validation(moments, [0.5, 0.05], 4, np.random.default_rng(0))
    (0.05, 0.05)
    """
    n_clusters = len(moments.products)
    if not 2 <= n_folds <= n_clusters:
        raise ValueError(
            f"n_folds must be from 2 to {n_clusters} (the clusters), got {n_folds}"
        )
    fold_of_cluster = rng.permutation(n_clusters) % n_folds
    held_out = np.arange(n_folds)[:, None] == fold_of_cluster
    training, test = moments.total(~held_out), moments.total(held_out)
    alphas = pd.Index(alphas, name="alpha", dtype=float)
    weights = _weights(training, alphas.to_numpy()[:, None])
    errors = pd.DataFrame(
        test.squared_error(training.intercept(weights), weights), alphas
    )
    mean, standard_error = errors.mean(axis=1), errors.sem(axis=1)
    best = mean.idxmin()
    close = mean.index[mean <= mean[best] + standard_error[best]]
    return float(best), float(close.max())
