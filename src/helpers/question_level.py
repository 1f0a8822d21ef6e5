"""Question by question: what one accuracy tells about another that few answers measure."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from helpers.files.tables import check_clusters, check_numeric
from helpers.resampling import cluster_weights, interval

_SLACK = 1e-9


def binomial_ceiling(
    chance: ArrayLike, n_answers: ArrayLike, n_draws: int, rng: np.random.Generator
) -> np.ndarray:
    """Correlations that remain if answers follow the predicted chances exactly.

    Even a perfect prediction of the chance of each question does not correlate perfectly with the
    share of right answers, because there are few answers.

    Parameters
    ----------
    chance : array-like, shape (n_questions,)
        Predicted chance of a right answer.
    n_answers : array-like of int, shape (n_questions,)
        Number of answers.
    n_draws : int
        How often to draw answers.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    numpy.ndarray, shape (n_draws,)
        Pearson's correlation of chances and drawn shares.

    References
    ----------
    Chang et al. (2025), appendix B.2 (upper bound on correlation).

    Examples
    --------
    >>> chance = np.repeat([0.2, 0.8], 500)
    >>> draws = binomial_ceiling(chance, np.full(1000, 4), 100, np.random.default_rng(0))
    >>> round(float(draws.mean()), 2)
    0.83
    """
    chance, n_answers = np.asarray(chance, dtype=float), np.asarray(n_answers)
    shares = rng.binomial(n_answers, chance, (n_draws, len(chance))) / n_answers
    x = chance - chance.mean()
    y = shares - shares.mean(axis=1, keepdims=True)
    return y @ x / np.sqrt((x @ x) * (y**2).sum(axis=1))


def noisy_correlation(
    frame: pd.DataFrame,
    predictor: str,
    accuracy: str,
    n_answers: str,
    cluster: str,
    n_boot: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Correlate a predictor with an accuracy from few answers, and correct for their chance.

    The chance in few answers lowers a correlation. *Reliability* is the part of the variance
    between observed accuracies that true accuracies have; dividing by its square root gives the
    correlation with the true ones. The predictor is taken to be exact.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per question.
    predictor, accuracy, n_answers : str
        Columns: the predictor, the observed accuracy from 0 to 1, and its number of answers.
    cluster : str
        Column of clusters to resample.
    n_boot : int
        Number of bootstrap replicates.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    pandas.DataFrame
        Rows ``observed``, ``reliability`` and ``corrected``; columns ``estimate`` and the 95 %
        percentile interval ``low`` and ``high``. A corrected correlation can exceed 1; it is
        missing where no variance is left after chance.

    Raises
    ------
    ValueError
        If a column cannot be used, or no question has two answers.

    References
    ----------
    Spearman (1904), The Proof and Measurement of Association between Two Things.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> chance = rng.uniform(size=2000)
    >>> frame = pd.DataFrame({"ai": chance, "user": rng.binomial(4, chance) / 4, "n": 4,
    ...                       "question_id": range(2000)})
    >>> noisy_correlation(frame, "ai", "user", "n", "question_id", 99, rng)["estimate"].round(1)
    observed       0.8
    reliability    0.7
    corrected      1.0
    Name: estimate, dtype: float64
    """
    check_numeric(frame, [predictor, accuracy, n_answers])
    check_clusters(frame, cluster)
    if not (frame[n_answers] > 1).any():
        raise ValueError(f"column {n_answers!r} is 1 in all rows: chance cannot be told apart")
    codes = pd.factorize(frame[cluster])[0]
    weights = cluster_weights(codes.max() + 1, n_boot, rng)[:, codes]
    weights = np.vstack([np.ones(len(frame)), weights])
    columns = (frame[name].to_numpy(dtype=float) for name in (predictor, accuracy, n_answers))
    estimate, *draws = _correlations(*columns, weights).T
    low, high = interval(draws)
    names = ["observed", "reliability", "corrected"]
    return pd.DataFrame({"estimate": estimate, "low": low, "high": high}, index=names)


def _correlations(x: np.ndarray, y: np.ndarray, n: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Observed correlation, reliability of y, corrected correlation; shape (3, n_sets)."""
    total = weights.sum(axis=1)
    mean_x, mean_y = weights @ x / total, weights @ y / total
    covariance = weights @ (x * y) / total - mean_x * mean_y
    variance_x = weights @ x**2 / total - mean_x**2
    variance_y = weights @ y**2 / total - mean_y**2
    several = n > 1
    chance = np.divide(y * (1 - y) * n, n - 1, out=np.zeros_like(y), where=several)
    within = weights @ chance / (weights @ several) * (weights @ (1 / n) / total)
    observed = covariance / np.sqrt(variance_x * variance_y)
    reliability = 1 - within / variance_y
    corrected = observed / np.sqrt(np.where(reliability > 0, reliability, np.nan))
    return np.array([observed, reliability, corrected])


def lower_and_higher(
    frame: pd.DataFrame,
    expected: str,
    accuracy: str,
    n_answers: str,
    n_draws: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Tell for each question whether an observed accuracy is below or above the expected one.

    With few answers an observed accuracy is hardly ever equal to the expected one. So the shares
    of questions below and above mean little by themselves; they are set beside those that chance
    brings about if the expected accuracies are the true ones.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per question.
    expected, accuracy, n_answers : str
        Columns: expected and observed accuracy from 0 to 1, and the number of answers observed.
    n_draws : int
        How often to draw answers.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    pandas.DataFrame
        Indexed like `frame`; ``lower`` and ``higher``, 0 or 1, ``lower_by_chance`` and
        ``higher_by_chance``, shares of draws.

    Examples
    --------
    >>> frame = pd.DataFrame({"ai": [1.0, 0.5], "user": [0.75, 0.75], "n": [4, 4]})
    >>> lower_and_higher(frame, "ai", "user", "n", 1000, np.random.default_rng(0)).round(1)
       lower  higher  lower_by_chance  higher_by_chance
    0    1.0     0.0              0.0               0.0
    1    0.0     1.0              0.3               0.3
    """
    check_numeric(frame, [expected, accuracy, n_answers])
    chance, n = frame[expected].to_numpy(dtype=float), frame[n_answers].to_numpy(dtype=int)
    drawn = rng.binomial(n, chance, (n_draws, len(frame))) / n - chance
    seen = frame[accuracy].to_numpy(dtype=float) - chance
    columns = {
        "lower": seen < -_SLACK,
        "higher": seen > _SLACK,
        "lower_by_chance": (drawn < -_SLACK).mean(axis=0),
        "higher_by_chance": (drawn > _SLACK).mean(axis=0),
    }
    return pd.DataFrame(columns, index=frame.index).astype(float)


def linear_prediction(
    frame: pd.DataFrame,
    features: Sequence[str],
    outcome: str,
    cluster: str,
    n_folds: int,
    rng: np.random.Generator,
) -> tuple[float, float]:
    """Predict a column linearly from others; correlate the prediction with the column.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per question.
    features : sequence of str
        Columns to predict from.
    outcome : str
        Column to predict.
    cluster : str
        Column of clusters, which are never divided between fitting and prediction.
    n_folds : int
        Parts into which clusters are divided.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    fitted, held_out : float
        Correlation of the column with its prediction from a model fitted to the same rows, and
        from models fitted to the other parts.

    Raises
    ------
    ValueError
        If a column cannot be used or there are fewer clusters than parts.

    References
    ----------
    Chang et al. (2025), section 4.2; Stone (1974), Cross-Validatory Choice and Assessment.

    Examples
    --------
    >>> frame = pd.DataFrame({"ai": np.arange(9.0), "user": 2 * np.arange(9.0), "q": range(9)})
    >>> fitted, held_out = linear_prediction(
    ...     frame, ["ai"], "user", "q", 3, np.random.default_rng(0))
    >>> round(fitted, 6), round(held_out, 6)
    (1.0, 1.0)
    """
    check_numeric(frame, [*features, outcome])
    check_clusters(frame, cluster)
    codes, names = pd.factorize(frame[cluster])
    if len(names) < n_folds:
        raise ValueError(
            f"{n_folds} parts need as many clusters, column {cluster!r} has {len(names)}"
        )
    x = np.column_stack([np.ones(len(frame)), frame[list(features)].to_numpy(dtype=float)])
    y = frame[outcome].to_numpy(dtype=float)
    fold = rng.permutation(np.arange(len(names)) % n_folds)[codes]
    held_out = np.empty_like(y)
    for part in range(n_folds):
        chosen = fold == part
        held_out[chosen] = x[chosen] @ np.linalg.lstsq(x[~chosen], y[~chosen])[0]
    fitted = x @ np.linalg.lstsq(x, y)[0]
    return tuple(float(np.corrcoef(y, each)[0, 1]) for each in (fitted, held_out))
