"""How much each aspect of any study weighs in the outcome, by several methods side by side.

Each function returns a table with one row per aspect, or a table that says why there is none.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy import stats

from helpers.checkup import FEW_MARKS
from helpers.files.tables import OptionError
from helpers.own_study import MOST_ROWS, Study
from helpers.stats import bootstrap, ordinal
from helpers.stats.lasso import alpha_grid, lasso_cross_validation, lasso_table
from helpers.stats.moments import ClusterMoments

MOST_FOLDS = 10
WEAKEST_PENALTIES = (3e-3, 3e-2, 3e-1)  # as shares of the penalty that leaves no weight
ROWS_PER_NUMBER = 10  # that an ordinal model needs for each number it estimates


def not_done(reason: str) -> pd.DataFrame:
    """Say in place of a table why there is none.

    Parameters
    ----------
    reason : str
        In plain words.

    Returns
    -------
    pandas.DataFrame
        One row, with the reason.

    Examples
    --------
    >>> not_done("no item was rated twice")
                                not done
    because  no item was rated twice
    """
    return pd.DataFrame({"not done": [reason]}, index=["because"])


def least_squares(moments: ClusterMoments) -> pd.DataFrame:
    """Least squares with standard errors that allow for clusters, from sums within them.

    Parameters
    ----------
    moments : ClusterMoments
        One set per cluster.

    Returns
    -------
    pandas.DataFrame
        A row per feature, as `helpers.stats.lasso.ols` gives it without the intercept, and
        ``p, Holm``; or `not_done`, if there are no more clusters than numbers to estimate.

    References
    ----------
    Cameron and Miller (2015), A Practitioner's Guide to Cluster-Robust Inference, section II.

    Examples
    --------
    >>> from helpers.stats.moments import cluster_moments
    >>> frame = pd.DataFrame({"refusal": [0, 0, 1, 1], "quality": [5.0, 4.0, 2.0, 1.0],
    ...                       "prompt_id": ["a", "b", "c", "d"]})
    >>> moments = cluster_moments(frame, ["refusal"], "quality", "prompt_id")
    >>> least_squares(moments)["estimate"]
    refusal   -3.0
    Name: estimate, dtype: float64
    """
    n_clusters, size = len(moments.products), len(moments.features) + 1
    if n_clusters <= size:
        return not_done(f"{n_clusters} clusters are too few for {size} numbers")
    total = moments.products.sum(axis=0)
    inverse = np.linalg.inv(total[:-1, :-1])
    weights = inverse @ total[:-1, -1]
    scores = moments.products[:, :-1, -1] - moments.products[:, :-1, :-1] @ weights
    n_rows = total[0, 0]
    correction = n_clusters / (n_clusters - 1) * (n_rows - 1) / (n_rows - size)
    covariance = correction * inverse @ scores.T @ scores @ inverse
    error = np.sqrt(np.diagonal(covariance))[1:]
    margin = stats.t.ppf(0.975, n_clusters - 1) * error
    p_values = 2 * stats.t.sf(np.abs(weights[1:]) / error, n_clusters - 1)
    return pd.DataFrame(
        {
            "estimate": weights[1:],
            "standard_error": error,
            "low": weights[1:] - margin,
            "high": weights[1:] + margin,
            "p_value": p_values,
            "p, Holm": bootstrap.adjust(p_values),
        },
        index=list(moments.features),
    )


def choose_penalty(moments: ClusterMoments, given: float, rng: np.random.Generator) -> float:
    """Return the given penalty of the Lasso, or if it is zero the one that predicts best.

    With more aspects than clusters, weak penalties have no solution that can be found; then only
    stronger ones are tried.

    Parameters
    ----------
    moments : ClusterMoments
        One set per cluster.
    given : float
        Zero lets cross-validation by clusters choose.
    rng : numpy.random.Generator
        Deals clusters into folds.

    Returns
    -------
    float

    Raises
    ------
    options.OptionError
        If the penalty is negative.

    Examples
    --------
    >>> from helpers.stats.moments import cluster_moments
    >>> frame = pd.DataFrame({"refusal": [0, 1] * 8, "quality": [5.0, 2.0] * 8,
    ...                       "prompt_id": np.arange(16) // 4})
    >>> moments = cluster_moments(frame, ["refusal"], "quality", "prompt_id")
    >>> choose_penalty(moments, 0.05, np.random.default_rng(0))
    0.05
    """
    if not given >= 0:
        raise OptionError(f"penalty must be 0 or more, got {given}: 0 lets cross-validation choose")
    if given:
        return float(given)
    folds = min(MOST_FOLDS, len(moments.products))
    for smallest in WEAKEST_PENALTIES:
        alphas = alpha_grid(moments, size=30, smallest=smallest)
        try:
            return lasso_cross_validation(moments, alphas, folds, rng).best_alpha
        except RuntimeError:
            continue
    return float(alphas[0])


def lasso(
    moments: ClusterMoments, alpha: float, n_boot: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Lasso weights with intervals from resampled clusters.

    Parameters
    ----------
    moments : ClusterMoments
        One set per cluster.
    alpha : float
        Penalty, positive.
    n_boot : int
        Number of replicates.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    pandas.DataFrame
        A row per feature: ``estimate``, ``low``, ``high``, and ``kept, %``, the share of
        replicates in which the weight is not zero. Or `not_done`, if there is no solution.

    Examples
    --------
    >>> from helpers.stats.moments import cluster_moments
    >>> frame = pd.DataFrame({"refusal": [0, 1] * 8, "quality": [5.0, 2.0] * 8,
    ...                       "prompt_id": np.arange(16) // 4})
    >>> moments = cluster_moments(frame, ["refusal"], "quality", "prompt_id")
    >>> lasso(moments, 0.05, 20, np.random.default_rng(0)).round(2)
             estimate  low  high  kept, %
    refusal      -2.8 -2.8  -2.8    100.0
    """
    try:
        table = lasso_table(moments, alpha, n_boot, rng)
    except RuntimeError:
        return not_done(f"with a penalty of {alpha:.3g} there is no solution; choose a larger one")
    return table.assign(**{"kept, %": 100 * table.pop("selected")})


def ordered_marks(study: Study, rng: np.random.Generator) -> pd.DataFrame:
    """Effects by a model that takes the outcome for ordered marks, not for numbers.

    Aspects that tell high from low ratings without exception have no finite effect and are left
    out of the model.

    Parameters
    ----------
    study : Study
        Ratings.
    rng : numpy.random.Generator
        Draws `MOST_ROWS` ratings where there are more.

    Returns
    -------
    pandas.DataFrame
        A row per aspect: effect on the expected outcome in points, see
        `helpers.stats.ordinal.CumulativeLogit.effects`, with intervals clustered by cluster and, if
        there are raters, by rater; empty for an aspect without a finite effect. Or `not_done`.

    Examples
    --------
    >>> from helpers.own_study import prepare
    >>> table = pd.DataFrame({"item_id": range(60), "prompt_id": range(60), "tone": [1.0, 2.0] * 30,
    ...                       "overall": [1.0, 2.0, 2.0] * 20})
    >>> study = prepare(table, "overall", ["tone"], np.random.default_rng(0))
    >>> ordered_marks(study, np.random.default_rng(0)).round(2)[["estimate", "low", "high"]]
          estimate   low  high
    tone       0.0 -0.25  0.25
    """
    table, outcome = study.sample(MOST_ROWS, rng).scaled(), study.outcome
    levels = table[outcome].nunique()
    needed = ROWS_PER_NUMBER * (levels + len(study.aspects))
    if levels > FEW_MARKS or (table[outcome] % 1 != 0).any():
        return not_done(f"{outcome} is not one of up to {FEW_MARKS} whole marks")
    if len(table) < needed:
        return not_done(f"{len(table)} ratings are too few; at least {needed} are needed")
    features = study.aspects
    while features:
        try:
            effects = ordinal.fit(table, features, outcome).effects(table)
        except ordinal.SeparationError as error:
            features = [feature for feature in features if feature != error.feature]
        except (np.linalg.LinAlgError, ValueError) as error:
            return not_done(f"the model has no solution: {error}")
        else:
            return effects.table(table[_ways(table)]).reindex(study.aspects)
    return not_done("every aspect tells high from low ratings without exception")


def sensitivity(
    study: Study, least_squares: pd.DataFrame, others: Mapping[str, pd.DataFrame]
) -> pd.DataFrame:
    """Weights under other choices than least squares on all ratings.

    Parameters
    ----------
    study : Study
        Ratings.
    least_squares : pandas.DataFrame
        Result of the function of that name.
    others : mapping of str to pandas.DataFrame
        Weights by other methods, by their names; those that are `not_done` are passed over.

    Returns
    -------
    pandas.DataFrame
        A row per aspect: ``all ratings``; ``items averaged`` and ``within raters`` where items or
        raters have several ratings; the other methods; and ``lowest`` and ``highest``, when any
        one of the other aspects is left out. Or `not_done`, if there are no least squares.

    References
    ----------
    Hosking et al. (2024), Figure 9, for leaving out aspects.

    Examples
    --------
    >>> from helpers.own_study import prepare
    >>> table = pd.DataFrame({"item_id": range(20), "prompt_id": range(20), "tone": [1.0, 2.0] * 10,
    ...                       "overall": [1.0, 4.0] * 10})
    >>> study = prepare(table, "overall", ["tone"], np.random.default_rng(0))
    >>> sensitivity(study, least_squares(study.moments()), {}).round(6)
          all ratings  lowest  highest
    tone          3.0     3.0      3.0
    """
    if "estimate" not in least_squares:
        return least_squares
    table = study.scaled()
    columns = {"all ratings": least_squares["estimate"]}
    if table.duplicated(["item_id", "cluster"]).any():
        columns["items averaged"] = _slopes(study, _item_means(table, study))
    if "rater_id" in table and table["rater_id"].duplicated().any():
        columns["within raters"] = _slopes(study, _within_raters(table, study))
    columns |= {name: other["estimate"] for name, other in others.items() if "estimate" in other}
    lowest, highest = _leaving_one_out(study)
    return pd.DataFrame(columns | {"lowest": lowest, "highest": highest}, index=study.aspects)


def slopes(gram: np.ndarray, cross: np.ndarray) -> np.ndarray:
    """Least-squares weights; of features that are redundant in a sample, the shortest solution.

    Parameters
    ----------
    gram : numpy.ndarray, shape (..., n_features, n_features)
        Covariances among features.
    cross : numpy.ndarray, shape (..., n_features)
        Covariances of features with the outcome.

    Returns
    -------
    numpy.ndarray, shape (..., n_features)

    Examples
    --------
    >>> slopes(np.eye(2), np.array([0.5, 0.0]))
    array([0.5, 0. ])
    """
    return (np.linalg.pinv(gram, hermitian=True) @ cross[..., None])[..., 0]


def _ways(table: pd.DataFrame) -> list[str]:
    """Name the columns by which intervals are clustered."""
    ways = [way for way in ("rater_id", "cluster") if way in table]
    return [way for way in ways if table[way].nunique() >= 2]


def _slopes(study: Study, table: pd.DataFrame) -> np.ndarray:
    """Least-squares weights of the aspects in a table."""
    covariance = np.cov(table[[*study.aspects, study.outcome]], rowvar=False)
    return slopes(covariance[:-1, :-1], covariance[:-1, -1])


def _item_means(table: pd.DataFrame, study: Study) -> pd.DataFrame:
    """Average the ratings of each item."""
    groups = table.groupby(["item_id", "cluster"], observed=True)
    return groups[[*study.aspects, study.outcome]].mean()


def _within_raters(table: pd.DataFrame, study: Study) -> pd.DataFrame:
    """Subtract each rater's own means, so that lenient and strict raters do not differ."""
    values = table[[*study.aspects, study.outcome]]
    return values - values.groupby(table["rater_id"], observed=True).transform("mean")


def _leaving_one_out(study: Study) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest weight of each aspect when none or one of the others is left out."""
    gram, cross, _ = study.moments().total().covariances()
    kept = np.vstack([np.ones(len(study.aspects)), 1 - np.eye(len(study.aspects))])
    weights = slopes(gram * kept[:, :, None] * kept[:, None, :], cross * kept)
    weights = np.where(kept == 1, weights, np.nan)
    return np.nanmin(weights, axis=0), np.nanmax(weights, axis=0)
