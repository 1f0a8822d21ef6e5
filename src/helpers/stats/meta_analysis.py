"""One number from several studies, how far they spread, and what a next one would find.

Random effects: each study has a true number of its own, drawn from a normal
distribution whose mean and spread are wanted, and its estimate errs by a known standard
error. The spread is found by restricted maximum likelihood, the interval of the mean is
that of Hartung and Knapp, which allows for few studies.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import chi2, t

MOST_STEPS = 500
FEWEST_STUDIES = 3  # for an interval for a next one
TOLERANCE = 1e-10  # of a step, in units of the mean squared standard error


@dataclass(frozen=True)
class Pooled:
    """Mean of several studies and their spread.

    Parameters
    ----------
    n : int
        Number of studies.
    estimate, standard_error, low, high : float
        Mean over studies with its 95 % interval (Hartung and Knapp).
    spread : float
        Standard deviation of the true numbers of the studies.
    q, p_same : float
        Cochran's statistic, and its p-value if all studies had one true number.

    Examples
    --------
    >>> pooled = random_effects([0.2, 0.5, 0.9], [0.1, 0.1, 0.1])
    >>> round(pooled.estimate, 3), round(pooled.spread, 3)
    (0.533, 0.337)
    """

    n: int
    estimate: float
    standard_error: float
    low: float
    high: float
    spread: float
    q: float
    p_same: float

    def next_study(self) -> tuple[float, float]:
        """Give a 95 % interval for the true number of a next study.

        Its coverage depends on the number of studies and their errors: measure it with
        `prediction_coverage` before using it.

        Returns
        -------
        tuple of float
            Lower and upper end.

        Raises
        ------
        ValueError
            If there are fewer than three studies.

        References
        ----------
        Higgins, Thompson and Spiegelhalter (2009), A re-evaluation of random-effects
        meta-analysis.

        Examples
        --------
        >>> pooled = random_effects([0.2, 0.5, 0.9, 0.6], [0.1, 0.1, 0.1, 0.1])
        >>> low, high = pooled.next_study()
        >>> round(float(low), 2), round(float(high), 2)
        (-0.77, 1.87)
        """
        if self.n < FEWEST_STUDIES:
            raise ValueError(
                f"{self.n} studies: an interval for a next one needs three or more"
            )
        margin = _prediction_margin(self.n, self.spread**2, self.standard_error**2)
        return self.estimate - margin, self.estimate + margin


def random_effects(
    estimate: Sequence[float], standard_error: Sequence[float]
) -> Pooled:
    """Pool estimates of several independent studies.

    Parameters
    ----------
    estimate, standard_error : sequence of float
        One of each for every study, in one unit.

    Returns
    -------
    Pooled

    Raises
    ------
    ValueError
        If there are fewer than two studies, or a number cannot be used.

    References
    ----------
    Viechtbauer (2005), Bias and efficiency of meta-analytic variance estimators in the
    random-effects model, for the spread; Hartung and Knapp (2001), A refined method for
    the meta-analysis of controlled clinical trials with binary outcome.

    Examples
    --------
    >>> pooled = random_effects([1.0, 2.0, 3.0, 4.0], [0.5, 0.5, 0.5, 0.5])
    >>> pooled.estimate, round(pooled.spread**2, 3)  # 1.667 less 0.25
    (2.5, 1.417)
    """
    y = np.asarray(estimate, dtype=float)
    variance = np.asarray(standard_error, dtype=float) ** 2
    _check(y, variance)
    spread2 = restricted_likelihood(y[None, :], variance)
    mean, error2 = _hartung_knapp(y[None, :], variance, spread2)
    error = float(np.sqrt(error2[0]))
    margin = t.ppf(0.975, len(y) - 1) * error
    fixed_weights = 1 / variance
    fixed_mean = (fixed_weights * y).sum() / fixed_weights.sum()
    q = float((fixed_weights * (y - fixed_mean) ** 2).sum())
    return Pooled(
        n=len(y),
        estimate=float(mean[0]),
        standard_error=error,
        low=float(mean[0] - margin),
        high=float(mean[0] + margin),
        spread=float(np.sqrt(spread2[0])),
        q=q,
        p_same=float(chi2.sf(q, len(y) - 1)),
    )


def _check(y: np.ndarray, variance: np.ndarray) -> None:
    """Stop unless these are estimates and errors of two studies or more."""
    if y.shape != variance.shape or y.ndim != 1:
        raise ValueError("give one standard error for each estimate")
    if len(y) < 2:
        raise ValueError(f"{len(y)} studies: pooling needs two or more")
    if not (np.isfinite(y).all() and np.isfinite(variance).all()):
        raise ValueError("an estimate or standard error is missing or infinite")
    if (variance <= 0).any():
        raise ValueError("a standard error is zero: it tells nothing of the error")


def restricted_likelihood(y: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Variance between studies by restricted maximum likelihood.

    Parameters
    ----------
    y : numpy.ndarray, shape (n_collections, n_studies)
        Estimates of each collection of studies.
    variance : numpy.ndarray, shape (n_studies,)
        Squared standard errors.

    Returns
    -------
    numpy.ndarray, shape (n_collections,)

    Examples
    --------
    >>> restricted_likelihood(np.array([[1.0, 3.0]]), np.array([0.5, 0.5]))
    array([1.5])
    """
    n = y.shape[1]
    spread2 = np.maximum(y.var(axis=1, ddof=1) - variance.mean(), 0.0)
    for _ in range(MOST_STEPS):
        weights = 1 / (variance + spread2[:, None])
        total = weights.sum(axis=1)
        mean = (weights * y).sum(axis=1) / total
        excess = (y - mean[:, None]) ** 2 - variance
        squared = weights**2
        ends = (squared * excess).sum(axis=1) / squared.sum(axis=1) + 1 / total
        renewed = np.maximum(ends, 0.0)
        largest_step = np.abs(renewed - spread2).max()
        spread2 = renewed
        if largest_step < TOLERANCE * variance.mean() / n:
            break
    return spread2


def _hartung_knapp(
    y: np.ndarray, variance: np.ndarray, spread2: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mean of each collection, and its squared error from how studies scatter."""
    weights = 1 / (variance + spread2[:, None])
    total = weights.sum(axis=1)
    mean = (weights * y).sum(axis=1) / total
    scatter = (weights * (y - mean[:, None]) ** 2).sum(axis=1)
    return mean, scatter / ((y.shape[1] - 1) * total)


def _prediction_margin(
    n: int, spread2: float | np.ndarray, error2: float | np.ndarray
) -> float | np.ndarray:
    """Half the length of an interval for the true number of a next study."""
    return t.ppf(0.975, n - 2) * np.sqrt(spread2 + error2)


def leave_one_out(table: pd.DataFrame) -> pd.DataFrame:
    """Pool studies without each one in turn.

    Parameters
    ----------
    table : pandas.DataFrame
        ``estimate`` and ``standard_error``, a row per study.

    Returns
    -------
    pandas.DataFrame
        ``estimate``, ``low``, ``high`` and ``spread`` without the study of the row.

    Examples
    --------
    >>> table = pd.DataFrame({"estimate": [1.0, 1.0, 4.0], "standard_error": 0.5},
    ...                      index=["a", "b", "c"])
    >>> leave_one_out(table).loc["c", ["estimate", "spread"]].tolist()
    [1.0, 0.0]
    """
    rows = {}
    for name in table.index:
        rest = table.drop(index=name)
        pooled = random_effects(rest["estimate"], rest["standard_error"])
        rows[name] = [pooled.estimate, pooled.low, pooled.high, pooled.spread]
    columns = ["estimate", "low", "high", "spread"]
    return pd.DataFrame.from_dict(rows, "index", columns=columns)


def prediction_coverage(
    standard_error: Sequence[float],
    spread: float,
    n_sim: int,
    rng: np.random.Generator,
) -> dict[str, float]:
    """Simulate how often intervals hold the mean, and the number of a next study.

    Parameters
    ----------
    standard_error : sequence of float
        Of the studies.
    spread : float
        Standard deviation of their true numbers.
    n_sim : int
        Number of simulated collections of studies.
    rng : numpy.random.Generator

    Returns
    -------
    dict of str to float
        Shares, in percent: ``mean`` and ``next``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> coverage = prediction_coverage([0.1] * 30, 0.3, 2000, rng)
    >>> 93 < coverage["mean"] < 97 and 93 < coverage["next"] < 97
    True
    """
    variance = np.asarray(standard_error, dtype=float) ** 2
    n = len(variance)
    true = rng.normal(0.0, spread, (n_sim, n))
    y = true + rng.normal(0.0, 1.0, (n_sim, n)) * np.sqrt(variance)
    spread2 = restricted_likelihood(y, variance)
    mean, error2 = _hartung_knapp(y, variance, spread2)
    holds_mean = np.abs(mean) <= t.ppf(0.975, n - 1) * np.sqrt(error2)
    upcoming = rng.normal(0.0, spread, n_sim)
    margin = _prediction_margin(n, spread2, error2)
    holds_next = np.abs(upcoming - mean) <= margin
    return {
        "mean": 100 * float(holds_mean.mean()),
        "next": 100 * float(holds_next.mean()),
    }
