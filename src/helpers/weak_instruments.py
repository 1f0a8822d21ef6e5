"""The Anderson-Rubin interval: what instruments tell about an effect, however weak they are.

An effect b is compatible with the data if, once b times the cause is taken off the outcome, the
instruments no longer explain it. The interval holds all such b. With weak instruments it grows, if
need be without end, instead of pretending to know.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from helpers.instruments import Instrumented, reduced_form, two_stage
from helpers.stats.clustered import covariance

POINTS = 4001


@dataclass(frozen=True)
class Region:
    """Effects that a test does not reject.

    Parameters
    ----------
    intervals : tuple of (float, float)
        From low to high; ends may be infinite. None at all means that every effect is rejected,
        which speaks against the instruments.

    Examples
    --------
    >>> 0.5 in Region(((-1.0, 1.0),)), str(Region(((-np.inf, -1.0), (2.0, np.inf))))
    (True, '(-inf, -1.00] or [2.00, inf)')
    """

    intervals: tuple[tuple[float, float], ...]

    @property
    def low(self) -> float:
        """Smallest effect that is not rejected, NaN if there is none."""
        return self.intervals[0][0] if self.intervals else float("nan")

    @property
    def high(self) -> float:
        """Largest effect that is not rejected, NaN if there is none."""
        return self.intervals[-1][1] if self.intervals else float("nan")

    def __contains__(self, effect: float) -> bool:
        """Whether an effect is not rejected."""
        return any(low <= effect <= high for low, high in self.intervals)

    def __str__(self) -> str:
        """The intervals with two decimals."""
        if not self.intervals:
            return "none"
        return " or ".join(
            f"{'(-inf' if np.isinf(low) else f'[{low:.2f}'}, "
            f"{'inf)' if np.isinf(high) else f'{high:.2f}]'}"
            for low, high in self.intervals
        )


def anderson_rubin(problem: Instrumented, level: float = 0.95) -> Region:
    """All effects of one cause that the instruments do not reject.

    Parameters
    ----------
    problem : Instrumented
        From `helpers.instruments.prepare`, with one cause.
    level : float, optional
        Coverage, between 0 and 1.

    Returns
    -------
    Region
        Found on a grid that is fine near the two-stage estimate and reaches to infinity, then
        interpolated. With more instruments than causes the region also shrinks where instruments
        contradict each other.

    Raises
    ------
    ValueError
        If there are several causes, or the level is not between 0 and 1.

    References
    ----------
    Anderson and Rubin (1949); Andrews, Stock and Sun (2019), Weak Instruments in Instrumental
    Variables Regression, section 5.1.

    Examples
    --------
    >>> import pandas as pd
    >>> from helpers.instruments import prepare
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame({"arm": np.tile([0, 1], 200), "prompt_id": np.arange(400)})
    >>> frame["tone"] = frame["arm"] + rng.normal(size=400)
    >>> frame["marked"] = 2 * frame["tone"] + rng.normal(size=400)
    >>> print(anderson_rubin(prepare(frame, "marked", ["tone"], ["arm"], "prompt_id")))
    [1.87, 2.23]
    """
    if problem.causes.shape[1] != 1:
        raise ValueError(f"got {problem.causes.shape[1]} causes: the region is for one, give one")
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, got {level}")
    degrees = problem.clusters.iloc[:, 0].nunique() - 1
    critical = stats.f.ppf(level, problem.instruments.shape[1], degrees)
    estimate = two_stage(problem)
    error = np.sqrt(covariance(estimate.influence, problem.clusters)[0, 0])
    angles = np.linspace(-np.pi / 2, np.pi / 2, POINTS)[1:-1]
    effects = estimate.value.iloc[0] + 2 * max(error, 1e-12) * np.tan(angles)
    excess = anderson_rubin_statistic(problem, effects) - critical
    return Region(_accepted(effects, excess))


def anderson_rubin_statistic(problem: Instrumented, effects: np.ndarray) -> np.ndarray:
    """Cluster-robust F statistic of the instruments once an effect is taken off the outcome.

    Parameters
    ----------
    problem : Instrumented
        With one cause.
    effects : numpy.ndarray, shape (n_effects,)
        Effects to try.

    Returns
    -------
    numpy.ndarray, shape (n_effects,)
        To be compared with an F distribution with (instruments, clusters - 1) degrees of freedom.

    Examples
    --------
    >>> import pandas as pd
    >>> from helpers.instruments import prepare
    >>> frame = pd.DataFrame({"arm": [0, 0, 1, 1], "tone": [1.0, 3.0, 3.0, 5.0],
    ...                       "marked": [6.0, 4.0, 2.0, 2.0], "prompt_id": [1, 2, 3, 4]})
    >>> problem = prepare(frame, "marked", ["tone"], ["arm"], "prompt_id")
    >>> anderson_rubin_statistic(problem, np.array([-1.5])).round(6)
    array([0.])
    """
    reduced = reduced_form(problem)
    n_instruments = problem.instruments.shape[1]
    outcome, cause = np.split(reduced.value.to_numpy(), 2)
    blocks = covariance(reduced.influence, problem.clusters).reshape(2, n_instruments, 2, -1)
    mixed = blocks[0, :, 1] + blocks[1, :, 0]
    b = effects[:, None, None]
    variance = blocks[0, :, 0] - b * mixed + b**2 * blocks[1, :, 1]
    left = outcome - effects[:, None] * cause
    explained = np.linalg.solve(variance, left[:, :, None])[:, :, 0]
    return (left * explained).sum(axis=1) / n_instruments


def _accepted(effects: np.ndarray, excess: np.ndarray) -> tuple[tuple[float, float], ...]:
    """Stretches of the grid without excess; those that reach its ends go on for ever."""
    inside = np.concatenate([[False], excess <= 0, [False]])
    starts, stops = np.flatnonzero(np.diff(inside.astype(int))).reshape(-1, 2).T
    stretches = []
    for start, stop in zip(starts, stops, strict=True):
        low = -np.inf if start == 0 else _crossing(effects, excess, start - 1)
        high = np.inf if stop == len(effects) else _crossing(effects, excess, stop - 1)
        stretches.append((float(low), float(high)))
    return tuple(stretches)


def _crossing(effects: np.ndarray, excess: np.ndarray, before: int) -> float:
    """Where a straight line between two neighbours of the grid reaches zero."""
    (x1, x2), (y1, y2) = effects[before : before + 2], excess[before : before + 2]
    return x1 - y1 * (x2 - x1) / (y2 - y1)
