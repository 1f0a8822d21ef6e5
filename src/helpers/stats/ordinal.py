"""Single ratings on a scale of ordered marks: which features move them, and by how much.

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
            f"feature {feature!r} tells high from low ratings without exception, so its odds have "
            "no finite estimate: leave it out or merge it with another"
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
        """Average effect of each feature on the expected rating, in points of the scale.

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
        chosen = np.eye(values.shape[1], dtype=bool)  # one feature a row
        present, absent = (
            [self._mean_rating(np.where(feature, mark, values)) for feature in chosen]
            for mark in (1.0, 0.0)
        )
        changes = np.subtract(present, absent)
        effects = pd.Series(changes[:, 0], index=self.slopes.index)
        return Estimates(effects, self.influence @ changes[:, 1:].T)

    def _mean_rating(self, values: np.ndarray) -> np.ndarray:
        """Mean expected rating above the lowest, and how it changes with each cut and slope."""
        above = expit((values @ self.slopes.to_numpy())[:, None] - self.cuts)
        steps = np.diff(self.levels)
        density = above * (1 - above) * steps
        mean = (above @ steps).mean()
        by_slope = density.sum(axis=1) @ values / len(values)
        return np.concatenate([[mean], -density.mean(axis=0), by_slope])


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
    >>> frame = pd.DataFrame({"refusal": [0, 0, 0, 1, 1, 1], "quality": [5, 4, 1, 1, 2, 4]})
    >>> model = fit(frame, ["refusal"], "quality")
    >>> model.slopes.round(2)
    refusal   -1.2
    Name: slope, dtype: float64
    >>> model.effects(frame).value.round(2)
    refusal   -0.99
    dtype: float64
    """
    _check_ratings(frame, features, outcome)
    check_full_rank(frame[list(features)].drop_duplicates(), features, intercept=True)
    levels, codes = np.unique(frame[outcome].to_numpy(dtype=float), return_inverse=True)
    values = frame[list(features)].to_numpy(dtype=float)
    shares = np.bincount(codes).cumsum()[:-1] / len(codes)
    parameters = np.append(logit(shares), np.zeros(values.shape[1]))
    for _ in range(MAX_STEPS):
        scores, information = _derivatives(parameters, values, codes)
        step = np.linalg.solve(information, scores.sum(axis=0))
        parameters = _improve(parameters, step, values, codes)
        if np.allclose(step, 0.0, atol=TOLERANCE):
            break
    else:
        growth = np.abs(parameters[len(shares) :]) * np.ptp(values, axis=0)
        raise SeparationError(features[np.argmax(growth)])
    scores, information = _derivatives(parameters, values, codes)
    cuts, slopes = np.split(parameters, [len(shares)])
    slopes = pd.Series(slopes, index=list(features), name="slope")
    return CumulativeLogit(
        levels, cuts, slopes, np.linalg.solve(information, scores.T).T
    )


def _check_ratings(frame: pd.DataFrame, features: Sequence[str], outcome: str) -> None:
    """Stop unless the table can be used and every rating is a whole number."""
    check_regression(frame, features, outcome)
    broken = frame[outcome] % 1 != 0
    if broken.any():
        row = broken.idxmax()
        raise ValueError(
            f"column {outcome!r} is {frame[outcome][broken].iloc[0]} in row {row}: "
            "give single ratings in whole numbers, not averages"
        )


def _bounds(parameters: np.ndarray, values: np.ndarray, codes: np.ndarray) -> tuple:
    """Logistic distribution at the upper and lower end of each row's level, and its share."""
    n_cuts = len(parameters) - values.shape[1]
    cuts = np.concatenate([[-np.inf], parameters[:n_cuts], [np.inf]])
    center = values @ parameters[n_cuts:]
    upper, lower = cuts[codes + 1] - center, cuts[codes] - center
    flip = np.where(lower > 0, -1.0, 1.0)  # differences of numbers near one lose digits
    share = flip * (expit(flip * upper) - expit(flip * lower))
    return expit(upper), expit(lower), share


def _log_likelihood(
    parameters: np.ndarray, values: np.ndarray, codes: np.ndarray
) -> float:
    """Log-likelihood; minus infinity where cuts are out of order."""
    share = _bounds(parameters, values, codes)[2]
    return np.log(share).sum() if (share > 0).all() else -np.inf


def _derivatives(
    parameters: np.ndarray, values: np.ndarray, codes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Score of each row, and the observed information: minus the matrix of second derivatives."""
    upper, lower, share = _bounds(parameters, values, codes)
    cut = np.arange(len(parameters) - values.shape[1])
    scores = second = 0.0
    for end, its_cut, sign in ((upper, cut, 1.0), (lower, cut + 1, -1.0)):
        design = np.hstack([codes[:, None] == its_cut, -values])
        slope = sign * end * (1 - end) / share
        scores = scores + slope[:, None] * design
        second = second + design.T @ ((slope * (1 - 2 * end))[:, None] * design)
    return scores, scores.T @ scores - second


def _improve(
    parameters: np.ndarray, step: np.ndarray, values: np.ndarray, codes: np.ndarray
) -> np.ndarray:
    """Take a Newton step, halved until the likelihood does not fall by more than rounding."""
    before = _log_likelihood(parameters, values, codes)
    while _log_likelihood(parameters + step, values, codes) < before - ROUNDING * abs(
        before
    ):
        step = step / 2
    return parameters + step


def cut_by_cut(frame: pd.DataFrame, features: Sequence[str], outcome: str) -> Estimates:
    """Log-odds of a rating of at least each level, from a logit model of its own for each.

    Under proportional odds the log-odds of a feature are the same at every level.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per single rating.
    features : sequence of str
        Columns that explain.
    outcome : str
        Column of ratings, whole numbers.

    Returns
    -------
    Estimates
        Named by (feature, level). A feature is left out of the model of a level that it
        separates from those below, and has no log-odds there.

    Raises
    ------
    ValueError
        If a column cannot be used (see `fit`).

    References
    ----------
    Brant (1990), Assessing Proportionality in the Proportional Odds Model for Ordinal
    Logistic Regression.

    Examples
    --------
    >>> frame = pd.DataFrame({"refusal": [0, 0, 0, 1, 1, 1], "quality": [3, 2, 1, 1, 2, 3]})
    >>> cut_by_cut(frame, ["refusal"], "quality").value.index.tolist()
    [('refusal', 2), ('refusal', 3)]
    """
    _check_ratings(frame, features, outcome)
    log_odds = {}
    for level in np.sort(frame[outcome].unique()).astype(int)[1:]:
        reached = frame.assign(**{outcome: (frame[outcome] >= level).astype(int)})
        log_odds[level] = _fit_without_separation(
            reached, list(features), outcome
        ).log_odds()
    values = {level: each.value for level, each in log_odds.items()}
    value = pd.concat(values, names=["level", "feature"]).swaplevel().rename(None)
    return Estimates(value, np.hstack([each.influence for each in log_odds.values()]))


def _fit_without_separation(
    frame: pd.DataFrame, features: list[str], outcome: str
) -> CumulativeLogit:
    """Fit with the features that have finite odds."""
    try:
        return fit(frame, features, outcome)
    except SeparationError as error:
        others = [feature for feature in features if feature != error.feature]
        return _fit_without_separation(frame, others, outcome)


def from_first_to_last_cut(log_odds: Estimates) -> Estimates:
    """Change of the log-odds of each feature from its lowest level to its highest.

    Parameters
    ----------
    log_odds : Estimates
        From `cut_by_cut`.

    Returns
    -------
    Estimates
        Named by feature; zero up to chance where odds are proportional. Features with
        log-odds at fewer than two levels are left out.

    Examples
    --------
    >>> frame = pd.DataFrame({"refusal": [0, 0, 0, 1, 1, 1], "quality": [3, 2, 1, 1, 2, 3]})
    >>> from_first_to_last_cut(cut_by_cut(frame, ["refusal"], "quality")).value.round(6).abs()
    feature
    refusal    0.0
    dtype: float64
    """
    levels = log_odds.value.index.to_frame(index=False).groupby("feature", sort=False)[
        "level"
    ]
    ends = levels.agg(["min", "max"]).query("min < max")
    first, last = (log_odds.pick(list(ends[end].items())) for end in ("min", "max"))
    change = last.minus(first)
    return Estimates(change.value.droplevel("level"), change.influence)
