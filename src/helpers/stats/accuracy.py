"""Accuracies on samples of questions: errors, tests, relations, and limits of rounding.

Questions are the unit: a dataset is a sample of those that could have been asked, and
the answers to a question are a sample of those that could have been given. A number
printed as 0.73 was somewhere from 0.725 to 0.735, so whatever is computed from printed
numbers is an interval too, and another printed number fits if it meets that interval.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from helpers.stats.checks import check_numeric

# half of a 95 % interval, in standard errors
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


def normal_intervals(estimate: ArrayLike, se: ArrayLike) -> pd.DataFrame:
    """Put 95 % intervals from standard errors beside estimates.

    Parameters
    ----------
    estimate, se : pandas.Series or array-like
        Estimates with their standard errors.

    Returns
    -------
    pandas.DataFrame
        ``estimate``, ``low`` and ``high``, with the index of `estimate`.

    Examples
    --------
    >>> normal_intervals([0.7], [0.05]).round(2).to_dict("records")
    [{'estimate': 0.7, 'low': 0.6, 'high': 0.8}]
    """
    table = pd.DataFrame({"estimate": estimate})
    margin = NORMAL_95 * np.asarray(se, dtype=float)
    return table.assign(low=table["estimate"] - margin, high=table["estimate"] + margin)


def contrast(
    mean: pd.DataFrame,
    se: pd.DataFrame,
    weights: pd.DataFrame,
    correlation: float = 0.0,
) -> pd.Series:
    """Add up accuracies with weights; the 95 % interval comes from standard errors.

    Differences and means are such sums. So is, with the signs of the differences taken
    as given (linearisation), a mean absolute difference.

    Parameters
    ----------
    mean, se : pandas.DataFrame
        Accuracies with their standard errors: one row for each sample of questions, one
        column for each way to answer them.
    weights : pandas.DataFrame
        Weights, with the same rows and columns.
    correlation : float, optional
        Correlation of the errors of any two accuracies in the same row, from 0 to 1.
        Those in different rows are independent.

    Returns
    -------
    pandas.Series
        ``estimate``, ``low`` and ``high``.

    References
    ----------
    Miller (2024), Adding Error Bars to Evals (paired differences).

    Examples
    --------
    >>> mean = pd.DataFrame({"model": [70.0], "users": [90.0]})
    >>> se = pd.DataFrame({"model": [4.0], "users": [3.0]})
    >>> weights = pd.DataFrame({"model": [-1], "users": [1]})
    >>> contrast(mean, se, weights).round(1).to_dict()
    {'estimate': 20.0, 'low': 10.2, 'high': 29.8}
    >>> contrast(mean, se, weights, correlation=0.5).round(1).to_dict()
    {'estimate': 20.0, 'low': 12.9, 'high': 27.1}
    """
    errors = weights * se
    own = (errors**2).to_numpy().sum()
    shared = (errors.sum(axis="columns") ** 2).sum()
    variance = (1 - correlation) * own + correlation * shared
    estimate = (weights * mean).to_numpy().sum()
    return normal_intervals([estimate], np.sqrt(variance)).loc[0]


def question_accuracy(answers: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Accuracy on each question.

    Parameters
    ----------
    answers : pandas.DataFrame
        One row per answer: ``correct``, 1 or 0.
    by : sequence of str
        Columns that name a question, and whatever else divides its answers.

    Returns
    -------
    pandas.DataFrame
        Indexed by `by`: ``n_answers``, ``accuracy`` and ``se``, its binomial standard
        error. That is missing for a question with a single answer.

    Raises
    ------
    ValueError
        If ``correct`` is missing somewhere or not numeric.

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
    check_numeric(answers, ["correct"])
    correct = answers.groupby(list(by), observed=True)["correct"]
    n_answers = correct.size()
    accuracy = correct.mean()
    # unbiased, and missing where there is one answer
    variance = accuracy * (1 - accuracy) / (n_answers - 1).where(n_answers > 1)
    return pd.DataFrame(
        {"n_answers": n_answers, "accuracy": accuracy, "se": np.sqrt(variance)}
    )


def dataset_accuracy(questions: pd.DataFrame) -> pd.Series:
    """Average the accuracies of questions and split the variance behind the average.

    The variance between the observed accuracies of questions holds two things: true
    differences of difficulty, and the chance in the few answers to each. Their sum,
    divided by the number of questions, is the variance of the average, so that the
    variance within questions must not be added once more.

    Parameters
    ----------
    questions : pandas.DataFrame
        One row per question, at least 2; columns ``n_answers`` and ``accuracy``.

    Returns
    -------
    pandas.Series
        ``n_questions``; the unweighted mean ``accuracy`` and its ``se``; ``between``,
        the variance of true accuracies, and ``within``, the mean variance of an
        observed accuracy around the true one, which supposes that the number of answers
        does not depend on difficulty. Both are missing if no question has two answers.
        An estimate of ``between`` can be negative.

    References
    ----------
    Miller (2024), Adding Error Bars to Evals (law of total variance); Searle, Casella
    and McCulloch (1992), Variance Components, chapter 3.

    Examples
    --------
    >>> questions = pd.DataFrame({"n_answers": 2, "accuracy": [1.0, 0.5, 0.0, 1.0]})
    >>> dataset_accuracy(questions).round(3).to_dict()
    {'n_questions': 4.0, 'accuracy': 0.625, 'se': 0.239,
     'between': 0.167, 'within': 0.062}
    """
    n_questions = len(questions)
    accuracy = questions["accuracy"]
    total = accuracy.var(ddof=1)
    within = _chance_variance(
        accuracy.to_numpy(dtype=float),
        questions["n_answers"].to_numpy(dtype=float),
    )
    return pd.Series(
        {
            "n_questions": n_questions,
            "accuracy": accuracy.mean(),
            "se": np.sqrt(total / n_questions),
            "between": total - within,
            "within": within,
        }
    )


def _chance_variance(accuracy: np.ndarray, n_answers: np.ndarray) -> float:
    """Mean variance of observed accuracies around true ones."""
    has_several = n_answers > 1
    if not has_several.any():
        return np.nan
    # p (1 - p) of a question without bias, which takes two answers or more
    several = accuracy[has_several]
    n_several = n_answers[has_several]
    single_variance = several * (1 - several) * n_several / (n_several - 1)
    # an accuracy of n answers has the n-th part of it
    return single_variance.mean() * (1 / n_answers).mean()


def binomial_ceiling(
    chance: ArrayLike, n_answers: ArrayLike, n_draws: int, rng: np.random.Generator
) -> np.ndarray:
    """Correlations that remain if answers follow the predicted chances exactly.

    Even a perfect prediction of the chance of each question does not correlate
    perfectly with the share of right answers, because there are few answers.

    Parameters
    ----------
    chance : array-like, shape (n_questions,)
        Predicted chance of a right answer.
    n_answers : array-like of int, shape (n_questions,)
        Number of answers.
    n_draws : int
        How often to draw answers.
    rng : numpy.random.Generator

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
    >>> n_answers = np.full(1000, 4)
    >>> draws = binomial_ceiling(chance, n_answers, 100, np.random.default_rng(0))
    >>> round(float(draws.mean()), 2)
    0.83
    """
    chance = np.asarray(chance, dtype=float)
    n_answers = np.asarray(n_answers)
    n_correct = rng.binomial(n_answers, chance, (n_draws, len(chance)))
    shares = n_correct / n_answers
    # Pearson's correlation of the chances with all draws at once
    x = chance - chance.mean()
    y = shares - shares.mean(axis=1, keepdims=True)
    return y @ x / np.sqrt((x @ x) * (y**2).sum(axis=1))


def unrounded(printed: ArrayLike, decimals: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Range of the numbers that are printed like this."""
    printed = np.asarray(printed, dtype=float)
    half = 0.5 * 10.0**-decimals
    return printed - half, printed + half


def attainable_z(
    mean: ArrayLike, se: ArrayLike, other_mean: ArrayLike, other_se: ArrayLike
) -> tuple[np.ndarray, np.ndarray]:
    """Range of z-values that printed accuracies and standard errors allow.

    The extremes lie at corners: z rises with the difference of the means, and its
    distance from zero falls with both standard errors.

    Parameters
    ----------
    mean, se, other_mean, other_se : array-like
        Accuracies from 0 to 1 with their standard errors, as printed with two digits.

    Returns
    -------
    low, high : numpy.ndarray or float
        Ends of the range.

    References
    ----------
    Chang et al. (2025), appendix B.2 (the test); Moore, Kearfott and Cloud (2009),
    Introduction to Interval Analysis, chapter 2.

    Examples
    --------
    >>> low, high = attainable_z(0.73, 0.04, 0.92, 0.02)
    >>> round(float(low), 2), round(float(high), 2)
    (-5.25, -3.5)
    """
    least, most = np.clip(unrounded(mean), 0, 1)
    other_least, other_most = np.clip(unrounded(other_mean), 0, 1)
    se_least, se_most = np.maximum(unrounded(se), 0)
    other_se_least, other_se_most = np.maximum(unrounded(other_se), 0)
    smallest_error = np.hypot(se_least, other_se_least)
    largest_error = np.hypot(se_most, other_se_most)
    # which error takes a z-value farthest depends on the sign of the difference
    low = least - other_most
    high = most - other_least
    return (
        np.minimum(low / smallest_error, low / largest_error),
        np.maximum(high / smallest_error, high / largest_error),
    )


def attainable_p(z: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Range of two-sided p-values that a printed z-value allows.

    Parameters
    ----------
    z : array-like
        As printed with two digits after the point.

    Returns
    -------
    low, high : numpy.ndarray or float
        Ends of the range.

    Examples
    --------
    >>> low, high = attainable_p(-0.49)
    >>> round(float(low), 3), round(float(high), 3)
    (0.621, 0.628)
    """
    least, most = unrounded(np.abs(np.asarray(z, dtype=float)))
    return two_sided_p(most), two_sided_p(np.maximum(least, 0))


def attainable_mean_deviation(
    first: ArrayLike, second: ArrayLike, decimals: int = 2
) -> tuple[float, float]:
    """Range of the mean absolute difference of two printed columns.

    Every pair is taken by itself. A number that stands in several pairs is the same in
    each, so the true range can be a little narrower.

    Parameters
    ----------
    first, second : array-like
        Numbers as printed.
    decimals : int, optional
        Digits after the point.

    Returns
    -------
    low, high : float
        Ends of the range.

    Examples
    --------
    >>> low, high = attainable_mean_deviation([0.73, 0.51], [0.92, 0.51])
    >>> round(float(low), 3), round(float(high), 3)
    (0.09, 0.105)
    """
    least, most = unrounded(first, decimals)
    other_least, other_most = unrounded(second, decimals)
    lowest = least - other_most
    highest = most - other_least
    # the nearest distance is 0 where the difference can have either sign
    nearest = np.maximum(0, np.maximum(lowest, -highest))
    farthest = np.maximum(-lowest, highest)
    return float(nearest.mean()), float(farthest.mean())
