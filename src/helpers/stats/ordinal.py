"""Regression of single ratings in ordered categories (cumulative logit).

The cumulative logit (proportional odds) model takes a rating from 1 to 5 for what it
is: five ordered marks, not points at equal distances. A feature multiplies the odds of
a rating above a mark, whichever mark, by the same number.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from helpers.stats.checks import check_full_rank, check_numeric, check_regression
from helpers.stats.clustered import Estimates
from helpers.stats.moments import ROUNDING

MAX_STEPS = 25  # far more than it takes where there is a maximum
TOLERANCE = 1e-8  # of the last step, in log-odds


class SeparationError(ValueError):
    """A feature that tells high from low ratings without exception."""

    def __init__(self, feature: str):
        self.feature = feature
        super().__init__(
            f"feature {feature!r} tells high from low ratings without exception, so "
            "its odds have no finite estimate: leave it out or merge it with another"
        )


@dataclass(frozen=True, eq=False)
class CumulativeLogit:
    """A fitted model: logit P(rating > level k) = features · slopes - cuts[k].

    Made by `fit`.

    Parameters
    ----------
    levels : numpy.ndarray, shape (n_levels,)
        The ratings that occur, in ascending order.
    cuts : numpy.ndarray, shape (n_levels - 1,)
        Where, in log-odds, one level ends and the next begins.
    slopes : pandas.Series
        Log-odds of a higher rating per unit of each feature.
    influence : numpy.ndarray, shape (n_rows, n_levels - 1 + n_features)
        Of each row on cuts and slopes, see `helpers.stats.clustered.Estimates`.
    """

    levels: np.ndarray
    cuts: np.ndarray
    slopes: pd.Series
    influence: np.ndarray

    def log_odds(self) -> Estimates:
        """Return the slopes as estimates with the influence of each row."""
        return Estimates(self.slopes, self.influence[:, len(self.cuts) :])

    def effects(self, frame: pd.DataFrame) -> Estimates:
        """Average marginal effect of each feature on the expected rating, in points.

        The expected rating of every row is computed with the feature at 1 and at 0, its
        other features as they are; the effect is the mean difference. Its interval, by
        the delta method, takes the rows as given.

        Parameters
        ----------
        frame : pandas.DataFrame
            Rows to average over, usually those of the fit; features in [0, 1].

        Returns
        -------
        Estimates
            In points, comparable with the coefficients of a linear regression.

        Raises
        ------
        ValueError
            If a feature of the model is not in the table, or not numeric and finite.

        References
        ----------
        Agresti (2010), Analysis of Ordinal Categorical Data, for effects on means.
        """
        check_numeric(frame, self.slopes.index)
        values = frame[self.slopes.index].to_numpy(dtype=float)
        changes = []
        for name in self.slopes.index:
            is_feature = self.slopes.index == name
            with_feature = self._mean_rating(np.where(is_feature, 1.0, values))
            without_feature = self._mean_rating(np.where(is_feature, 0.0, values))
            changes.append(with_feature - without_feature)
        changes = np.array(changes)
        effects = pd.Series(changes[:, 0], index=self.slopes.index)
        # The delta method: influence on cuts and slopes, times what they do to effects.
        gradients = changes[:, 1:]
        return Estimates(effects, self.influence @ gradients.T)

    def _mean_rating(self, values: np.ndarray) -> np.ndarray:
        """Mean expected rating above the lowest, and its gradient in all parameters."""
        opinion = values @ self.slopes.to_numpy()
        above = expit(opinion[:, None] - self.cuts)  # P(rating above each level)
        steps = np.diff(self.levels)
        mean = (above @ steps).mean()
        density = above * (1 - above) * steps
        by_cut = -density.mean(axis=0)
        by_slope = density.sum(axis=1) @ values / len(values)
        return np.concatenate([[mean], by_cut, by_slope])


def fit(frame: pd.DataFrame, features: Sequence[str], outcome: str) -> CumulativeLogit:
    """Fit a cumulative logit model by maximum likelihood.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per single rating.
    features : sequence of str
        Columns that explain.
    outcome : str
        Column of ratings, whole numbers; two or more levels.

    Returns
    -------
    CumulativeLogit

    Raises
    ------
    ValueError
        If a column cannot be used (see `helpers.stats.checks.check_regression`), a
        feature is constant or a combination of those before it, or a rating is no whole
        number.
    SeparationError
        If a slope grows without end.

    References
    ----------
    McCullagh (1980), Regression Models for Ordinal Data.

    Examples
    --------
    >>> frame = pd.DataFrame({"refusal": [0, 0, 0, 1, 1, 1],
    ...                       "quality": [5, 4, 1, 1, 2, 4]})
    >>> model = fit(frame, ["refusal"], "quality")
    >>> model.slopes.round(2)
    refusal   -1.2
    Name: slope, dtype: float64
    >>> model.effects(frame).value.round(2)
    refusal   -0.99
    dtype: float64
    """
    _check_ratings(frame, features, outcome)
    # Copies of rows do not change the rank, but take time.
    distinct_rows = frame[list(features)].drop_duplicates()
    check_full_rank(distinct_rows, features, intercept=True)
    ratings = frame[outcome].to_numpy(dtype=float)
    levels, codes = np.unique(ratings, return_inverse=True)
    values = frame[list(features)].to_numpy(dtype=float)
    # start at the model without features: cuts at the log-odds of the levels
    shares_up_to = np.bincount(codes).cumsum()[:-1] / len(codes)
    n_cuts = len(shares_up_to)
    start = np.append(logit(shares_up_to), np.zeros(values.shape[1]))
    parameters, converged = _maximise(start, values, codes)
    if not converged:
        # The slope that grows without end is the one that moves log-odds the most.
        growth = np.abs(parameters[n_cuts:]) * np.ptp(values, axis=0)
        raise SeparationError(features[np.argmax(growth)])
    scores, information = _derivatives(parameters, values, codes)
    influence = np.linalg.solve(information, scores.T).T
    slopes = pd.Series(parameters[n_cuts:], index=list(features), name="slope")
    return CumulativeLogit(levels, parameters[:n_cuts], slopes, influence)


def _maximise(
    parameters: np.ndarray, values: np.ndarray, codes: np.ndarray
) -> tuple[np.ndarray, bool]:
    """Take Newton steps to the highest likelihood; tell whether they arrived."""
    for _ in range(MAX_STEPS):
        scores, information = _derivatives(parameters, values, codes)
        step = np.linalg.solve(information, scores.sum(axis=0))
        parameters = _improve(parameters, step, values, codes)
        if np.allclose(step, 0.0, atol=TOLERANCE):
            return parameters, True
    return parameters, False


def _check_ratings(frame: pd.DataFrame, features: Sequence[str], outcome: str) -> None:
    """Stop unless the table can be used and every rating is a whole number."""
    check_regression(frame, features, outcome)
    is_fraction = frame[outcome] % 1 != 0
    if is_fraction.any():
        row = is_fraction.idxmax()
        value = frame[outcome][is_fraction].iloc[0]
        raise ValueError(
            f"column {outcome!r} is {value} in row {row}: "
            "give single ratings in whole numbers, not averages"
        )


def _level_ends(
    parameters: np.ndarray, values: np.ndarray, codes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Probability up to each row's level, below it, and of the level itself."""
    n_cuts = len(parameters) - values.shape[1]
    cuts = np.concatenate([[-np.inf], parameters[:n_cuts], [np.inf]])
    opinion = values @ parameters[n_cuts:]
    upper = cuts[codes + 1] - opinion
    lower = cuts[codes] - opinion
    # Differences of numbers near one lose digits: where both ends are in the upper
    # half, the probabilities above them are subtracted instead.
    sign = np.where(lower > 0, -1.0, 1.0)
    probability = sign * (expit(sign * upper) - expit(sign * lower))
    return expit(upper), expit(lower), probability


def _log_likelihood(
    parameters: np.ndarray, values: np.ndarray, codes: np.ndarray
) -> float:
    """Log-likelihood; minus infinity where cuts are out of order."""
    _, _, probability = _level_ends(parameters, values, codes)
    # asked in this way, a probability that is not a number counts as out of order, too
    if not (probability > 0).all():
        return -np.inf
    return np.log(probability).sum()


def _derivatives(
    parameters: np.ndarray, values: np.ndarray, codes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Score of each row; information: minus the second derivatives of all rows."""
    upper, lower, probability = _level_ends(parameters, values, codes)
    n_cuts = len(parameters) - values.shape[1]
    cuts = np.arange(n_cuts)
    # how the upper and the lower end of a row's level move with cuts and slopes
    upper_design = np.hstack([codes[:, None] == cuts, -values])
    lower_design = np.hstack([codes[:, None] == cuts + 1, -values])
    # first derivatives of log(probability) in the two ends; that of expit is p (1 - p)
    by_upper = upper * (1 - upper) / probability
    by_lower = -lower * (1 - lower) / probability
    scores = by_upper[:, None] * upper_design + by_lower[:, None] * lower_design
    # of second derivatives of the probability, divided by it; of p (1 - p) it is
    # p (1 - p) (1 - 2 p)
    upper_weights = by_upper * (1 - 2 * upper)
    lower_weights = by_lower * (1 - 2 * lower)
    second = upper_design.T @ (upper_weights[:, None] * upper_design)
    second = second + lower_design.T @ (lower_weights[:, None] * lower_design)
    return scores, scores.T @ scores - second


def _improve(
    parameters: np.ndarray, step: np.ndarray, values: np.ndarray, codes: np.ndarray
) -> np.ndarray:
    """Take a Newton step, halved until the likelihood does not fall."""
    before = _log_likelihood(parameters, values, codes)
    lowest = before - ROUNDING * abs(before)  # a fall by rounding is none
    while _log_likelihood(parameters + step, values, codes) < lowest:
        step = step / 2
    return parameters + step
