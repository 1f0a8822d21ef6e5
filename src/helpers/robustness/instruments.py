"""Effects of what was not randomised, moved by what was: instrumental variables.

Instruments shift a cause at random, for example a hidden preamble that shifts how
assertive an answer sounds. If they reach the outcome through the cause alone (the
*exclusion* assumption), then what they do to the outcome, divided by what they do to
the cause, is the effect of the cause. All standard errors allow for clusters. Controls
and the means of groups are removed from every column first, which by the theorem of
Frisch, Waugh and Lovell changes no slope.

Where instruments are weak, the interval of Anderson and Rubin holds: an effect b is
compatible with the data if, once b times the cause is taken off the outcome, the
instruments no longer explain it. It grows, if need be without end, instead of
pretending to know. Other tests say whether instruments are fit for use: how strongly
they move causes, and whether they agree.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from helpers.stats.checks import check_full_rank
from helpers.stats.clustered import Estimates, covariance
from helpers.stats.moments import cluster_sums

POINTS = 4001  # effects that are tried for the interval of Anderson and Rubin
BIAS = 0.1  # of two-stage least squares, as a share of the worst case


@dataclass(frozen=True, eq=False)
class Instrumented:
    """Columns of an instrumental-variable problem without controls and group means."""

    outcome: np.ndarray
    causes: pd.DataFrame
    instruments: np.ndarray
    clusters: pd.DataFrame


def prepare_instruments(
    frame: pd.DataFrame,
    outcome: str,
    causes: Sequence[str],
    instruments: Sequence[str],
    cluster: str,
    controls: Sequence[str] = (),
    within: str | None = None,
) -> Instrumented:
    """Set out an instrumental-variable problem without controls and group means.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per observation.
    outcome : str
        Column to explain.
    causes : sequence of str
        Columns whose effects are wanted.
    instruments : sequence of str
        Columns that were randomised, at least as many as causes; for groups take
        indicators of all but one.
    cluster : str
        Column of clusters.
    controls : sequence of str, optional
        Columns held constant.
    within : str, optional
        Column of groups, such as the prompt within which instruments were randomised:
        only differences between rows of one group count. By default all rows are one
        group.

    Returns
    -------
    Instrumented

    Raises
    ------
    ValueError
        If a column is a combination of controls, group means and those before it.

    References
    ----------
    Frisch and Waugh (1933); Lovell (1963); Wooldridge (2010), sections 5.2 and 10.5.

    Examples
    --------
    >>> frame = pd.DataFrame({"tone": [1.0, 2.0, 3.0, 4.0], "arm": [0, 1, 0, 1],
    ...                       "marked": [1.0, 0.0, 1.0, 1.0],
    ...                       "prompt_id": [1, 1, 2, 2]})
    >>> problem = prepare_instruments(frame, "marked", ["tone"], ["arm"], "prompt_id",
    ...                               within="prompt_id")
    >>> problem.outcome
    array([ 0.5, -0.5,  0. ,  0. ])
    """
    columns = [*controls, *instruments]
    names = list(dict.fromkeys([outcome, *causes, *columns]))
    values = frame[names].astype(float)
    groups = frame[within] if within is not None else np.zeros(len(frame))
    free = values - values.groupby(groups).transform("mean")
    check_full_rank(free, columns, intercept=False)
    if controls:
        held = free[list(controls)].to_numpy()
        free = free - held @ np.linalg.lstsq(held, free.to_numpy(), rcond=None)[0]
    free = free.reset_index(drop=True)
    return Instrumented(
        free[outcome].to_numpy(),
        free[list(causes)],
        free[list(instruments)].to_numpy(),
        frame[[cluster]].reset_index(drop=True),
    )


def two_stage(problem: Instrumented) -> Estimates:
    """Two-stage least squares: slopes on what instruments explain of the causes.

    Parameters
    ----------
    problem : Instrumented
        From `prepare_instruments`.

    Returns
    -------
    Estimates
        One slope per cause; `Estimates.table` gives cluster-robust intervals, which are
        too narrow where instruments are weak.

    References
    ----------
    Wooldridge (2010), Econometric Analysis of Cross Section and Panel Data, section
    5.2.

    Examples
    --------
    With one indicator as instrument the slope is a ratio of two differences of means.

    >>> frame = pd.DataFrame({"arm": [0, 0, 1, 1], "tone": [1.0, 3.0, 3.0, 5.0],
    ...                       "marked": [6.0, 4.0, 2.0, 2.0],
    ...                       "prompt_id": [1, 2, 3, 4]})
    >>> problem = prepare_instruments(frame, "marked", ["tone"], ["arm"], "prompt_id")
    >>> two_stage(problem).value.round(6)
    tone   -1.5
    dtype: float64
    """
    z, x = problem.instruments, problem.causes.to_numpy()
    return _regress(problem, z @ np.linalg.lstsq(z, x, rcond=None)[0])


def _regress(problem: Instrumented, fitted: np.ndarray) -> Estimates:
    """Slopes by the fitted part of the causes; residuals from the causes themselves."""
    x = problem.causes.to_numpy()
    inverse = np.linalg.inv(fitted.T @ fitted)
    slopes = inverse @ (fitted.T @ problem.outcome)
    residual = problem.outcome - x @ slopes
    names = list(problem.causes)
    return Estimates(pd.Series(slopes, names), residual[:, None] * (fitted @ inverse))


def reduced_form(problem: Instrumented) -> Estimates:
    """What each instrument does to outcome and causes, the others held constant.

    Parameters
    ----------
    problem : Instrumented
        From `prepare_instruments`.

    Returns
    -------
    Estimates
        Named by (column, number of the instrument), the outcome first.

    Examples
    --------
    >>> frame = pd.DataFrame({"arm": [0, 0, 1, 1], "tone": [1.0, 3.0, 3.0, 5.0],
    ...                       "marked": [6.0, 4.0, 2.0, 2.0],
    ...                       "prompt_id": [1, 2, 3, 4]})
    >>> problem = prepare_instruments(frame, "marked", ["tone"], ["arm"], "prompt_id")
    >>> reduced_form(problem).value.tolist()
    [-3.0, 2.0]
    """
    y = np.column_stack([problem.outcome, problem.causes])
    slopes, influence = _on_instruments(problem, y)
    numbers = range(problem.instruments.shape[1])
    names = pd.MultiIndex.from_product([["outcome", *problem.causes], numbers])
    return Estimates(pd.Series(slopes.T.ravel(), names), influence.reshape(len(y), -1))


def _on_instruments(
    problem: Instrumented, y: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Slopes of columns on the instruments, and each row's influence on them."""
    z = problem.instruments
    inverse = np.linalg.inv(z.T @ z)
    slopes = inverse @ (z.T @ y)
    return slopes, (y - z @ slopes)[:, :, None] * (z @ inverse)[:, None, :]


def anderson_rubin(problem: Instrumented) -> list[tuple[float, float]]:
    """Intervals of effects of one cause that the instruments do not reject at 95 %."""
    degrees = problem.clusters.iloc[:, 0].nunique() - 1
    critical = stats.f.ppf(0.95, problem.instruments.shape[1], degrees)
    estimate = two_stage(problem)
    error = np.sqrt(covariance(estimate.influence, problem.clusters)[0, 0])
    angles = np.linspace(-np.pi / 2, np.pi / 2, POINTS)[1:-1]
    effects = estimate.value.iloc[0] + 2 * max(error, 1e-12) * np.tan(angles)
    excess = anderson_rubin_statistic(problem, effects) - critical
    inside = np.concatenate([[False], excess <= 0, [False]])
    starts, stops = np.flatnonzero(np.diff(inside.astype(int))).reshape(-1, 2).T
    return [
        (
            -np.inf if start == 0 else _crossing(effects, excess, start - 1),
            np.inf if stop == len(effects) else _crossing(effects, excess, stop - 1),
        )
        for start, stop in zip(starts, stops, strict=True)
    ]


def anderson_rubin_statistic(problem: Instrumented, effects: np.ndarray) -> np.ndarray:
    """Cluster-robust F of the instruments once an effect is taken off the outcome."""
    reduced = reduced_form(problem)
    n_instruments = problem.instruments.shape[1]
    outcome, cause = np.split(reduced.value.to_numpy(), 2)
    blocks = covariance(reduced.influence, problem.clusters).reshape(
        2, n_instruments, 2, -1
    )
    b = effects[:, None, None]
    mixed = blocks[0, :, 1] + blocks[1, :, 0]
    variance = blocks[0, :, 0] - b * mixed + b**2 * blocks[1, :, 1]
    left = outcome - effects[:, None] * cause
    explained = np.linalg.solve(variance, left[:, :, None])[:, :, 0]
    return (left * explained).sum(axis=1) / n_instruments


def _crossing(effects: np.ndarray, excess: np.ndarray, before: int) -> float:
    """Where a straight line between two neighbours of the grid reaches zero."""
    (x1, x2), (y1, y2) = effects[before : before + 2], excess[before : before + 2]
    return float(x1 - y1 * (x2 - x1) / (y2 - y1))


def first_stage(problem: Instrumented) -> dict[str, float]:
    """How strongly the instruments move a cause.

    Parameters
    ----------
    problem : Instrumented
        From `prepare_instruments`, with one cause.

    Returns
    -------
    dict
        Cluster-robust ``f`` with ``f_p_value``; and ``effective_f``, to be compared
        with ``critical_f``, above which the bias of two-stage least squares is at most
        a tenth of the worst case, at the 5 % level.

    References
    ----------
    Montiel Olea and Pflueger (2013), A Robust Test for Weak Instruments (the simplified
    critical value).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame({"arm": np.tile([0, 1], 200), "prompt_id": np.arange(400)})
    >>> frame["tone"] = frame["arm"] + rng.normal(size=400)
    >>> frame["marked"] = frame["tone"]
    >>> problem = prepare_instruments(frame, "marked", ["tone"], ["arm"], "prompt_id")
    >>> {name: round(float(value), 1) for name, value in first_stage(problem).items()}
    {'f': 127.5, 'f_p_value': 0.0, 'effective_f': 127.5, 'critical_f': 23.1}
    """
    z, clusters = problem.instruments, problem.clusters
    slopes, influence = _on_instruments(problem, problem.causes.to_numpy())
    slopes, variance = slopes[:, 0], covariance(influence[:, 0], clusters)
    n_instruments, square = z.shape[1], z.T @ z
    f = slopes @ np.linalg.solve(variance, slopes) / n_instruments
    return {
        "f": f,
        "f_p_value": stats.f.sf(f, n_instruments, clusters.iloc[:, 0].nunique() - 1),
        "effective_f": slopes @ square @ slopes / np.trace(variance @ square),
        "critical_f": _critical_f(variance @ square),
    }


def _critical_f(matrix: np.ndarray) -> float:
    """Critical value of the effective F, at the 5 % level."""
    eigenvalues = np.linalg.eigvals(matrix).real
    total, largest = eigenvalues.sum(), eigenvalues.max()
    square = (eigenvalues**2).sum()
    degrees = total**2 * (1 + 2 / BIAS) / (square + 2 / BIAS * total * largest)
    return float(stats.ncx2.ppf(0.95, degrees, degrees / BIAS) / degrees)


def overidentification(problem: Instrumented) -> dict[str, float]:
    """Hansen's J test that all instruments give the same slopes, as they should.

    It cannot see violations that push all instruments' answers in the same direction.

    Parameters
    ----------
    problem : Instrumented
        From `prepare_instruments`.

    Returns
    -------
    dict
        ``j``, ``degrees`` (instruments more than causes) and ``p_value``, NaN if there
        are none.

    References
    ----------
    Hansen (1982); Wooldridge (2010), section 8.5, with cluster-robust weights.

    Examples
    --------
    >>> frame = pd.DataFrame({"arm": [0, 0, 1, 1], "tone": [1.0, 3.0, 3.0, 5.0],
    ...                       "marked": [6.0, 4.0, 2.0, 2.0],
    ...                       "prompt_id": [1, 2, 3, 4]})
    >>> problem = prepare_instruments(frame, "marked", ["tone"], ["arm"], "prompt_id")
    >>> overidentification(problem)
    {'j': 0.0, 'degrees': 0, 'p_value': nan}
    """
    x, y, z = problem.causes.to_numpy(), problem.outcome, problem.instruments
    degrees = z.shape[1] - x.shape[1]
    if degrees == 0:
        return {"j": 0.0, "degrees": 0, "p_value": float("nan")}
    residual = y - x @ two_stage(problem).value.to_numpy()
    scores = cluster_sums(z * residual[:, None], problem.clusters.iloc[:, 0])
    weight = np.linalg.inv(scores.T @ scores)
    moved = z.T @ x
    slopes = np.linalg.solve(moved.T @ weight @ moved, moved.T @ weight @ (z.T @ y))
    left = z.T @ (y - x @ slopes)
    j = float(left @ weight @ left)
    return {"j": j, "degrees": degrees, "p_value": float(stats.chi2.sf(j, degrees))}


def side_by_side(problem: Instrumented) -> dict[str, float | str]:
    """Estimate the effect of a cause with and without instruments.

    Parameters
    ----------
    problem : Instrumented
        From `prepare_instruments`, with one cause.

    Returns
    -------
    dict
        ``ols``, ``ols_low``, ``ols_high`` without instruments; ``iv``, ``iv_low``,
        ``iv_high`` by two-stage least squares; ``anderson_rubin``, the effects that the
        instruments do not reject; ``effective_f``, ``critical_f``; ``j_p_value``.
        Intervals hold with 95 %.

    References
    ----------
    Andrews, Stock and Sun (2019), Weak Instruments in Instrumental Variables
    Regression, on what to report.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame({"arm": np.tile([0, 1], 200), "prompt_id": np.arange(400)})
    >>> frame["tone"] = frame["arm"] + rng.normal(size=400)
    >>> frame["marked"] = 2 * frame["tone"] + rng.normal(size=400)
    >>> problem = prepare_instruments(frame, "marked", ["tone"], ["arm"], "prompt_id")
    >>> side_by_side(problem)["anderson_rubin"]
    '[1.87, 2.23]'
    """
    found = {}
    estimates = {
        "ols": _regress(problem, problem.causes.to_numpy()),
        "iv": two_stage(problem),
    }
    for name, estimate in estimates.items():
        row = estimate.table(problem.clusters).iloc[0]
        found |= {
            name: row["estimate"],
            f"{name}_low": row["low"],
            f"{name}_high": row["high"],
        }
    intervals = [_written(*ends) for ends in anderson_rubin(problem)]
    strength = first_stage(problem)
    return found | {
        "anderson_rubin": " or ".join(intervals) or "none",
        "effective_f": strength["effective_f"],
        "critical_f": strength["critical_f"],
        "j_p_value": overidentification(problem)["p_value"],
    }


def _written(low: float, high: float) -> str:
    """An interval with two decimals."""
    start = "(-inf" if np.isinf(low) else f"[{low:.2f}"
    return f"{start}, {'inf)' if np.isinf(high) else f'{high:.2f}]'}"
