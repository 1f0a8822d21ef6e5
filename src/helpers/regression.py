"""Which features carry an outcome: Lasso weights, how sure they are, and least squares.

Everything takes a wide table and column names. Lasso weights are in the units of the outcome:
the expected change when the feature goes up by one, shrunk towards zero by the penalty.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from statsmodels.regression.linear_model import OLS

from helpers.descent import solve_lasso
from helpers.files.tables import check_full_rank, check_regression
from helpers.moments import ClusterMoments, cluster_moments
from helpers.resampling import cluster_weights


def lasso(frame: pd.DataFrame, features: Sequence[str], outcome: str, alpha: float) -> pd.Series:
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
        If a column cannot be used (see `helpers.files.tables.check_regression`) or `alpha` is not
        positive.

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
    gram, cross, _ = cluster_moments(frame, features, outcome).total().covariances()
    return pd.Series(solve_lasso(gram, cross, alpha)[0], index=list(features), name="weight")


def lasso_bootstrap(
    moments: ClusterMoments, alpha: float, n_boot: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Lasso weights in bootstrap replicates of clusters.

    Read intervals together with `selection_frequency`: around a weight whose truth is zero, the
    bootstrap distribution of a Lasso is not that of its estimate.

    Parameters
    ----------
    moments : ClusterMoments
        One set per cluster, see `helpers.moments.cluster_moments`.
    alpha : float
        Penalty, positive.
    n_boot : int
        Number of replicates.
    rng : numpy.random.Generator
        Source of randomness.

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
    Efron and Tibshirani (1993), chapter 9; Cameron and Miller (2015), section VI; Chatterjee and
    Lahiri (2011), Bootstrapping Lasso Estimators (for the caution).

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
    gram, cross, _ = moments.total(weights).covariances()
    return pd.DataFrame(solve_lasso(gram, cross, alpha), columns=list(moments.features))


def selection_frequency(draws: pd.DataFrame) -> pd.Series:
    """Share of replicates in which each feature has a weight other than zero.

    Parameters
    ----------
    draws : pandas.DataFrame, shape (n_boot, n_features)
        Result of `lasso_bootstrap`.

    Returns
    -------
    pandas.Series
        A share per feature.

    References
    ----------
    Meinshausen and Bühlmann (2010), Stability Selection.

    Examples
    --------
    >>> selection_frequency(pd.DataFrame({"refusal": [-0.9, -0.8], "scope": [0.0, 0.1]}))
    refusal    1.0
    scope      0.5
    Name: selected, dtype: float64
    """
    return draws.ne(0).mean().rename("selected")


def leave_one_out(
    frame: pd.DataFrame, features: Sequence[str], outcome: str, alpha: float
) -> pd.DataFrame:
    """Lasso weights when each feature in turn is left out.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per observation.
    features : sequence of str
        Columns that explain, at least two.
    outcome : str
        Column to explain.
    alpha : float
        Penalty, positive.

    Returns
    -------
    pandas.DataFrame, shape (n_features, n_features)
        Rows are the features that remain, columns the one left out, NaN on the diagonal.

    Raises
    ------
    ValueError
        If a column cannot be used or `alpha` is not positive.

    References
    ----------
    Hosking et al. (2024), Figure 9.

    Examples
    --------
    >>> frame = pd.DataFrame(
    ...     {"refusal": [0, 0, 1, 1], "scope": [0, 1, 0, 1], "quality": [5.0, 4.0, 2.0, 1.0]})
    >>> leave_one_out(frame, ["refusal", "scope"], "quality", alpha=0.05)
             refusal  scope
    refusal      NaN   -2.8
    scope       -0.8    NaN
    """
    gram, cross, _ = cluster_moments(frame, features, outcome).total().covariances()
    kept = ~np.eye(len(features), dtype=bool)
    weights = solve_lasso(gram * kept[:, :, None] * kept[:, None, :], cross, alpha)
    names = list(features)
    return pd.DataFrame(np.where(kept, weights, np.nan).T, index=names, columns=names)


def ols(frame: pd.DataFrame, features: Sequence[str], outcome: str, cluster: str) -> pd.DataFrame:
    """Least squares with an intercept and standard errors that allow for clusters.

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

    Returns
    -------
    pandas.DataFrame
        A row for ``"intercept"`` and for every feature: ``estimate``, ``standard_error``, 95 %
        interval ``low`` and ``high``, and ``p_value``, from a t distribution with
        (number of clusters - 1) degrees of freedom.

    Raises
    ------
    ValueError
        If a column cannot be used, or a feature is constant or a combination of those before it.

    References
    ----------
    Cameron and Miller (2015), A Practitioner's Guide to Cluster-Robust Inference, section II.

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
    check_full_rank(frame, features, intercept=True)
    design = frame[list(features)].astype(float)
    design.insert(0, "intercept", 1.0)
    groups = pd.factorize(frame[cluster], sort=True)[0]
    fit = OLS(frame[outcome].astype(float), design).fit(
        cov_type="cluster", cov_kwds={"groups": groups}, use_t=True
    )
    low, high = fit.conf_int().to_numpy().T
    return pd.DataFrame(
        {
            "estimate": fit.params,
            "standard_error": fit.bse,
            "low": low,
            "high": high,
            "p_value": fit.pvalues,
        }
    )
