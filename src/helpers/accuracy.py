"""Accuracy on a sample of questions: standard errors, z-tests and averages.

Questions are the unit. A dataset is a sample of the questions that could have been asked, and the
answers to a question are a sample of those that could have been given.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from helpers.files.tables import check_numeric

NORMAL_95 = float(stats.norm.ppf(0.975))


def two_sided_p(z: ArrayLike) -> np.ndarray:
    """Two-sided p-value of a z-value.

    Parameters
    ----------
    z : array-like
        Estimates in units of their standard errors.

    Returns
    -------
    numpy.ndarray or float
        Probability of a standard normal value at least as far from zero.

    Examples
    --------
    >>> round(float(two_sided_p(-1.96)), 3)
    0.05
    """
    return 2 * stats.norm.sf(np.abs(np.asarray(z, dtype=float)))


def z_test(
    mean: ArrayLike,
    se: ArrayLike,
    other_mean: ArrayLike,
    other_se: ArrayLike,
    correlation: float = 0.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Test that two accuracies are equal.

    Parameters
    ----------
    mean, se, other_mean, other_se : array-like
        The two estimates with their standard errors.
    correlation : float, optional
        Correlation of the errors of the two estimates. It is zero for different questions. On the
        same questions it is the correlation over questions, and most often positive.

    Returns
    -------
    z, p_value : numpy.ndarray or float
        The difference, first minus other, in standard errors, and its two-sided p-value.

    Raises
    ------
    ValueError
        If a standard error is negative, the correlation is outside -1 to 1 or the difference has
        no variance.

    References
    ----------
    Chang et al. (2025), appendix B.2; Miller (2024), Adding Error Bars to Evals (unpaired and
    paired comparisons).

    Examples
    --------
    >>> z, p_value = z_test(0.73, 0.04, 0.92, 0.02)
    >>> round(float(z), 2), float(p_value) < 0.001
    (-4.25, True)
    """
    se, other_se = np.asarray(se, dtype=float), np.asarray(other_se, dtype=float)
    if np.any(se < 0) or np.any(other_se < 0):
        raise ValueError("a standard error is negative: give square roots of variances")
    if not -1 <= correlation <= 1:
        raise ValueError(f"correlation must be between -1 and 1, got {correlation}")
    variance = se**2 + other_se**2 - 2 * correlation * se * other_se
    if np.any(variance <= 0):
        raise ValueError("a difference has no variance, so that it cannot be tested")
    z = (np.asarray(mean, dtype=float) - np.asarray(other_mean, dtype=float)) / np.sqrt(variance)
    return z, two_sided_p(z)


def weighted_mean(
    means: ArrayLike, ses: ArrayLike, weights: ArrayLike | None = None
) -> tuple[float, float]:
    """Average independent estimates.

    Parameters
    ----------
    means, ses : array-like
        Estimates with their standard errors.
    weights : array-like, optional
        Weights, such as numbers of questions; by default all count the same.

    Returns
    -------
    mean, se : float
        The average and its standard error.

    Raises
    ------
    ValueError
        If a weight is negative or all are zero.

    Examples
    --------
    >>> mean, se = weighted_mean([0.8, 0.6], [0.03, 0.04])
    >>> round(mean, 3), round(se, 3)
    (0.7, 0.025)
    """
    means = np.asarray(means, dtype=float)
    weights = np.ones_like(means) if weights is None else np.asarray(weights, dtype=float)
    if np.any(weights < 0) or not weights.any():
        raise ValueError("weights must not be negative, and not all of them zero")
    shares = weights / weights.sum()
    return float(shares @ means), float(np.sqrt(shares**2 @ np.asarray(ses, dtype=float) ** 2))


def mean_deviation(
    mean: ArrayLike, se: ArrayLike, others: ArrayLike, other_ses: ArrayLike
) -> pd.Series:
    """Average how far accuracies are from others, whatever the direction.

    Two measurements of the same thing differ as well, so that a mean absolute deviation is above
    zero even if all true differences are zero. That part is given beside it.

    Parameters
    ----------
    mean, se : array-like, shape (n,)
        Accuracies with their standard errors.
    others, other_ses : array-like, shape (n, n_others)
        The accuracies that each one is compared with.

    Returns
    -------
    pandas.Series
        ``estimate``, the mean absolute deviation; ``low`` and ``high``, its 95 % interval from
        linearisation, in which an accuracy that is compared twice counts as one measurement; and
        ``by_chance``, the deviation that normal sampling errors would bring about.

    Examples
    --------
    >>> deviation = mean_deviation([0.74, 0.49], [0.04, 0.04], [[0.92], [0.70]], [[0.02], [0.04]])
    >>> deviation.round(3).to_dict()
    {'estimate': 0.195, 'low': 0.124, 'high': 0.266, 'by_chance': 0.04}
    """
    mean, se = np.reshape(mean, (-1, 1)), np.reshape(se, (-1, 1))
    differences, other_ses = mean - np.asarray(others), np.asarray(other_ses)
    signs = np.sign(differences)
    variance = ((signs.sum(axis=1, keepdims=True) * se) ** 2).sum() + (other_ses**2).sum()
    estimate = np.abs(differences).mean()
    margin = NORMAL_95 * np.sqrt(variance) / differences.size
    by_chance = np.sqrt(2 / np.pi) * np.hypot(se, other_ses).mean()
    return pd.Series(
        {
            "estimate": estimate,
            "low": estimate - margin,
            "high": estimate + margin,
            "by_chance": by_chance,
        }
    )


def largest_se(mean: ArrayLike, n_questions: ArrayLike) -> np.ndarray:
    """Largest standard error that an average over questions can have.

    Accuracies of questions lie between 0 and 1, so their variance is largest if each question is
    always or never answered correctly.

    Parameters
    ----------
    mean : array-like
        Average accuracy.
    n_questions : array-like
        Number of questions, at least 2.

    Returns
    -------
    numpy.ndarray or float
        ``sqrt(mean * (1 - mean) / (n_questions - 1))``.

    References
    ----------
    Bhatia and Davis (2000), A Better Bound on the Variance.

    Examples
    --------
    >>> round(float(largest_se(0.5, 101)), 3)
    0.05
    """
    mean = np.asarray(mean, dtype=float)
    return np.sqrt(mean * (1 - mean) / (np.asarray(n_questions) - 1))


def question_accuracy(
    answers: pd.DataFrame, by: Sequence[str], correct: str = "correct"
) -> pd.DataFrame:
    """Accuracy on each question.

    Parameters
    ----------
    answers : pandas.DataFrame
        One row per answer.
    by : sequence of str
        Columns that name a question, and what else is to be kept apart.
    correct : str, optional
        Column that is 1 for right and 0 for wrong answers.

    Returns
    -------
    pandas.DataFrame
        Indexed by `by`: ``n_answers``, ``accuracy`` and ``se``, its binomial standard error. That
        is missing for a question with a single answer.

    Raises
    ------
    ValueError
        If `correct` is missing somewhere or not numeric.

    References
    ----------
    Chang et al. (2025), appendix B.2.

    Examples
    --------
    >>> answers = pd.DataFrame({"question_id": ["a", "a", "b"], "correct": [1, 0, 1]})
    >>> question_accuracy(answers, ["question_id"])
                 n_answers  accuracy   se
    question_id
    a                    2       0.5  0.5
    b                    1       1.0  NaN
    """
    check_numeric(answers, [correct])
    sums = answers.groupby(list(by), observed=True)[correct].agg(["size", "mean"])
    n_answers, accuracy = sums["size"], sums["mean"]
    variance = accuracy * (1 - accuracy) / (n_answers - 1).where(n_answers > 1)
    return pd.DataFrame({"n_answers": n_answers, "accuracy": accuracy, "se": np.sqrt(variance)})


def dataset_accuracy(questions: pd.DataFrame) -> pd.Series:
    """Average the accuracies of questions and split the variance behind the average.

    The variance between the observed accuracies of questions holds two things: true differences
    of difficulty, and the chance in the few answers to each. Their sum, divided by the number of
    questions, is the variance of the average, so that the variance within questions must not be
    added once more.

    Parameters
    ----------
    questions : pandas.DataFrame
        One row per question, at least 2; columns ``n_answers`` and ``accuracy``.

    Returns
    -------
    pandas.Series
        ``n_questions``; the unweighted mean ``accuracy`` and its ``se``; ``between``, the variance
        of true accuracies, and ``within``, the mean variance of an observed accuracy around the
        true one, which supposes that the number of answers does not depend on difficulty. Both
        are missing if no question has two answers. An estimate of ``between`` can be negative.

    Raises
    ------
    ValueError
        If there are fewer than 2 questions.

    References
    ----------
    Miller (2024), Adding Error Bars to Evals (law of total variance); Searle, Casella and
    McCulloch (1992), Variance Components, chapter 3.

    Examples
    --------
    >>> questions = pd.DataFrame({"n_answers": 2, "accuracy": [1.0, 0.5, 0.0, 1.0]})
    >>> dataset_accuracy(questions).round(3).to_dict()
    {'n_questions': 4.0, 'accuracy': 0.625, 'se': 0.239, 'between': 0.167, 'within': 0.062}
    """
    n_questions = len(questions)
    if n_questions < 2:
        raise ValueError(f"a standard error needs at least 2 questions, got {n_questions}")
    n_answers, accuracy = questions["n_answers"], questions["accuracy"]
    several = (n_answers - 1).where(n_answers > 1)
    within = (accuracy * (1 - accuracy) * n_answers / several).mean() * (1 / n_answers).mean()
    total = accuracy.var(ddof=1)
    return pd.Series(
        {
            "n_questions": n_questions,
            "accuracy": accuracy.mean(),
            "se": np.sqrt(total / n_questions),
            "between": total - within,
            "within": within,
        }
    )
