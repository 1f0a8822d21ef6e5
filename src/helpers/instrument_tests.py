"""Whether instruments are fit for use: how strongly they move causes, and whether they agree."""

import numpy as np
import pandas as pd
from scipy import stats

from helpers.instruments import Instrumented, least_squares, two_stage
from helpers.stats.clustered import covariance
from helpers.stats.moments import cluster_sums
from helpers.weak_instruments import anderson_rubin


def first_stage(problem: Instrumented) -> pd.DataFrame:
    """How strongly the instruments move each cause.

    Parameters
    ----------
    problem : Instrumented
        From `prepare`.

    Returns
    -------
    pandas.DataFrame
        Indexed by cause: ``partial_r2``; cluster-robust ``f`` with ``f_p_value``; ``effective_f``,
        to be compared with ``critical_f``, above which the bias of two-stage least squares is at
        most a tenth of the worst case, at the 5 % level; and, if there are several causes,
        ``conditional_f``, the strength that is left for a cause once instruments serve the others.

    References
    ----------
    Montiel Olea and Pflueger (2013), A Robust Test for Weak Instruments (the simplified critical
    value); Sanderson and Windmeijer (2016) for several causes.

    Examples
    --------
    >>> from helpers.instruments import prepare
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame({"arm": np.tile([0, 1], 200), "prompt_id": np.arange(400)})
    >>> frame["tone"] = frame["arm"] + rng.normal(size=400)
    >>> problem = prepare(frame.assign(marked=frame["tone"]), "marked", ["tone"], ["arm"],
    ...                   "prompt_id")
    >>> first_stage(problem)[["f", "effective_f", "critical_f"]].round(1)
              f  effective_f  critical_f
    tone  127.5        127.5        23.1
    """
    rows = {}
    for number, name in enumerate(problem.causes):
        column = problem.causes[name].to_numpy()
        rows[name] = _strength(problem, column)
        if problem.causes.shape[1] > 1:
            rows[name]["conditional_f"] = _conditional_f(problem, number)
    return pd.DataFrame.from_dict(rows, orient="index")


def overidentification(problem: Instrumented) -> dict[str, float]:
    """Hansen's J test that all instruments tell the same slopes, as they must under exclusion.

    It cannot see violations that push all instruments' answers in the same direction.

    Parameters
    ----------
    problem : Instrumented
        From `prepare`.

    Returns
    -------
    dict
        ``j``, ``degrees`` (instruments more than causes) and ``p_value``, NaN if there are none.

    References
    ----------
    Hansen (1982); Wooldridge (2010), section 8.5, with cluster-robust weights.

    Examples
    --------
    >>> from helpers.instruments import prepare
    >>> frame = pd.DataFrame({"arm": [0, 0, 1, 1], "tone": [1.0, 3.0, 3.0, 5.0],
    ...                       "marked": [6.0, 4.0, 2.0, 2.0], "prompt_id": [1, 2, 3, 4]})
    >>> overidentification(prepare(frame, "marked", ["tone"], ["arm"], "prompt_id"))
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
    """Estimate the effect of one cause with and without instruments, beside what speaks for them.

    Parameters
    ----------
    problem : Instrumented
        From `helpers.instruments.prepare`, with one cause.

    Returns
    -------
    dict
        ``ols``, ``ols_low``, ``ols_high`` without instruments; ``iv``, ``iv_low``, ``iv_high`` and
        ``iv_p_value`` by two-stage least squares; ``anderson_rubin``, the effects that the
        instruments do not reject; ``effective_f``, ``critical_f``; ``j_p_value``. Intervals
        hold with 95 %.

    Raises
    ------
    ValueError
        If there are several causes.

    References
    ----------
    Andrews, Stock and Sun (2019), Weak Instruments in Instrumental Variables Regression, on what
    to report.

    Examples
    --------
    >>> from helpers.instruments import prepare
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame({"arm": np.tile([0, 1], 200), "prompt_id": np.arange(400)})
    >>> frame["tone"] = frame["arm"] + rng.normal(size=400)
    >>> frame["marked"] = 2 * frame["tone"] + rng.normal(size=400)
    >>> side_by_side(prepare(frame, "marked", ["tone"], ["arm"], "prompt_id"))["anderson_rubin"]
    '[1.87, 2.23]'
    """
    region = anderson_rubin(problem)
    plain = least_squares(problem).table(problem.clusters).iloc[0]
    staged = two_stage(problem).table(problem.clusters).iloc[0]
    strength = first_stage(problem).iloc[0]
    return {
        "ols": plain["estimate"],
        "ols_low": plain["low"],
        "ols_high": plain["high"],
        "iv": staged["estimate"],
        "iv_low": staged["low"],
        "iv_high": staged["high"],
        "iv_p_value": staged["p_value"],
        "anderson_rubin": str(region),
        "effective_f": strength["effective_f"],
        "critical_f": strength["critical_f"],
        "j_p_value": overidentification(problem)["p_value"],
    }


def _strength(problem: Instrumented, column: np.ndarray) -> dict[str, float]:
    """Strength of the instruments for one cause."""
    z = problem.instruments
    n_instruments, square = z.shape[1], z.T @ z
    inverse = np.linalg.inv(square)
    slopes = inverse @ (z.T @ column)
    residual = column - z @ slopes
    variance = covariance(residual[:, None] * (z @ inverse), problem.clusters)
    f = slopes @ np.linalg.solve(variance, slopes) / n_instruments
    spread = np.trace(variance @ square)
    degrees = problem.clusters.iloc[:, 0].nunique() - 1
    return {
        "partial_r2": 1 - residual @ residual / (column @ column),
        "f": f,
        "f_p_value": stats.f.sf(f, n_instruments, degrees),
        "effective_f": slopes @ square @ slopes / spread,
        "critical_f": _critical_f(variance @ square),
    }


def _critical_f(matrix: np.ndarray, bias: float = 0.1, level: float = 0.05) -> float:
    """Critical value of the effective F for a bias of at most a tenth of the worst case."""
    eigenvalues = np.linalg.eigvals(matrix).real
    total, largest = eigenvalues.sum(), eigenvalues.max()
    square = (eigenvalues**2).sum()
    degrees = total**2 * (1 + 2 / bias) / (square + 2 / bias * total * largest)
    return float(stats.ncx2.ppf(1 - level, degrees, degrees / bias) / degrees)


def _conditional_f(problem: Instrumented, number: int) -> float:
    """Strength for one cause of what instruments do not need for the others."""
    names = list(problem.causes)
    others = problem.causes.drop(columns=names[number])
    column = problem.causes[names[number]].to_numpy()
    partial = Instrumented(column, others, problem.instruments, problem.clusters)
    residual = column - others.to_numpy() @ two_stage(partial).value.to_numpy()
    n_instruments = problem.instruments.shape[1]
    return _strength(problem, residual)["f"] * n_instruments / (n_instruments - len(names) + 1)
