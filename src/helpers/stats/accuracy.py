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

from helpers.stats.bootstrap import cluster_weights, summary, with_everything_first
from helpers.stats.checks import check_clusters, check_numeric, check_regression
from helpers.stats.moments import cluster_moments

# half of a 95 % interval, in standard errors
NORMAL_95 = float(stats.norm.ppf(0.975))
# what arithmetic with decimal fractions may be off
SLACK = 1e-9


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
        np.ones(n_questions),
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


def _chance_variance(
    accuracy: np.ndarray, n_answers: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Mean variance of observed accuracies around true ones, by row of weights."""
    # p (1 - p) of a question without bias, which takes two answers or more
    has_several = n_answers > 1
    single_variance = np.divide(
        accuracy * (1 - accuracy) * n_answers,
        n_answers - 1,
        out=np.zeros_like(n_answers),
        where=has_several,
    )
    n_several = weights @ has_several
    n_several = np.where(n_several > 0, n_several, np.nan)
    mean_single_variance = weights @ single_variance / n_several
    # an accuracy of n answers has the n-th part of it
    mean_inverse = weights @ (1 / n_answers) / weights.sum(axis=-1)
    return mean_single_variance * mean_inverse


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


def noisy_correlation(
    frame: pd.DataFrame,
    predictor: str,
    accuracy: str,
    n_answers: str,
    cluster: str,
    n_boot: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Correlate a predictor with accuracies from few answers; correct for chance.

    The chance in few answers lowers a correlation (attenuation). *Reliability* is the
    part of the variance between observed accuracies that true accuracies have; dividing
    by its square root gives the correlation with the true ones. The predictor is taken
    to be exact.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per question.
    predictor, accuracy, n_answers : str
        Columns: the predictor, the observed accuracy from 0 to 1, and its number of
        answers.
    cluster : str
        Column of clusters to resample.
    n_boot : int
        Number of bootstrap replicates.
    rng : numpy.random.Generator

    Returns
    -------
    pandas.DataFrame
        Rows ``observed``, ``reliability`` and ``corrected``; columns ``estimate`` and
        the 95 % percentile interval ``low`` and ``high``. A corrected correlation can
        exceed 1; it is missing where no variance is left after chance.

    Raises
    ------
    ValueError
        If a column cannot be used.

    References
    ----------
    Spearman (1904), The Proof and Measurement of Association between Two Things.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> chance = rng.uniform(size=2000)
    >>> frame = pd.DataFrame({"question_id": range(2000), "ai": chance, "n": 4})
    >>> frame["user"] = rng.binomial(4, chance) / 4
    >>> table = noisy_correlation(frame, "ai", "user", "n", "question_id", 99, rng)
    >>> table["estimate"].round(1)
    observed       0.8
    reliability    0.7
    corrected      1.0
    Name: estimate, dtype: float64
    """
    check_numeric(frame, [n_answers])
    check_regression(frame, [predictor], accuracy, cluster)
    codes, clusters = pd.factorize(frame[cluster])
    cluster_draws = cluster_weights(len(clusters), n_boot, rng).astype(float)
    # how often each row counts: once in the first line, then in the replicates
    row_weights = with_everything_first(cluster_draws)[:, codes]
    moments = cluster_moments(frame, [predictor], accuracy).total(row_weights)
    _, cross, variance = moments.covariances()
    observed = moments.correlation(np.ones_like(cross))
    chance_variance = _chance_variance(
        frame[accuracy].to_numpy(dtype=float),
        frame[n_answers].to_numpy(dtype=float),
        row_weights,
    )
    reliability = 1 - chance_variance / variance
    # there is no correction where chance leaves no variance
    usable = np.where(reliability > 0, reliability, np.nan)
    corrected = observed / np.sqrt(usable)
    draws = np.column_stack([observed, reliability, corrected])
    table = summary(draws[0], draws[1:], ["observed", "reliability", "corrected"])
    return table.drop(columns="p_value")


def lower_and_higher(
    frame: pd.DataFrame,
    expected: str,
    accuracy: str,
    n_answers: str,
    n_draws: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Whether the accuracy on each question is below or above the expected one.

    With few answers an observed accuracy is hardly ever equal to the expected one. So
    the shares of questions below and above mean little by themselves; they are set
    beside those that chance brings about if the expected accuracies are the true ones.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per question.
    expected, accuracy, n_answers : str
        Columns: expected and observed accuracy from 0 to 1, and the number of answers
        observed.
    n_draws : int
        How often to draw answers.
    rng : numpy.random.Generator

    Returns
    -------
    pandas.DataFrame
        Indexed like `frame`; ``lower`` and ``higher``, 0 or 1, ``lower_by_chance`` and
        ``higher_by_chance``, shares of draws.

    Examples
    --------
    >>> frame = pd.DataFrame({"ai": [1.0, 0.5], "user": [0.75, 0.75], "n": [4, 4]})
    >>> rng = np.random.default_rng(0)
    >>> lower_and_higher(frame, "ai", "user", "n", 1000, rng).round(1)
       lower  higher  lower_by_chance  higher_by_chance
    0    1.0     0.0              0.0               0.0
    1    0.0     1.0              0.3               0.3
    """
    check_numeric(frame, [expected, accuracy, n_answers])
    chance = frame[expected].to_numpy(dtype=float)
    n = frame[n_answers].to_numpy(dtype=int)
    n_correct = rng.binomial(n, chance, (n_draws, len(frame)))
    observed_difference = frame[accuracy].to_numpy(dtype=float) - chance
    drawn_difference = n_correct / n - chance
    columns = {
        "lower": observed_difference < -SLACK,
        "higher": observed_difference > SLACK,
        "lower_by_chance": (drawn_difference < -SLACK).mean(axis=0),
        "higher_by_chance": (drawn_difference > SLACK).mean(axis=0),
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

    Returns
    -------
    fitted, held_out : float
        Correlation of the column with its prediction from a model fitted to the same
        rows, and from models fitted to the other parts.

    Raises
    ------
    ValueError
        If a column cannot be used.

    References
    ----------
    Chang et al. (2025), section 4.2; Stone (1974), Cross-Validatory Choice and
    Assessment.

    Examples
    --------
    >>> frame = pd.DataFrame({"ai": np.arange(9.0), "q": range(9)})
    >>> frame["user"] = 2 * frame["ai"]
    >>> fitted, held_out = linear_prediction(
    ...     frame, ["ai"], "user", "q", 3, np.random.default_rng(0))
    >>> round(fitted, 6), round(held_out, 6)
    (1.0, 1.0)
    """
    # here, as they take long to load
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import PredefinedSplit, cross_val_predict

    check_numeric(frame, [*features, outcome])
    check_clusters(frame, cluster)
    x = frame[list(features)].to_numpy(dtype=float)
    y = frame[outcome].to_numpy(dtype=float)
    codes, clusters = pd.factorize(frame[cluster])
    fold_of_cluster = rng.permutation(np.arange(len(clusters)) % n_folds)
    folds = PredefinedSplit(fold_of_cluster[codes])
    held_out = cross_val_predict(LinearRegression(), x, y, cv=folds)
    fitted = LinearRegression().fit(x, y).predict(x)
    fitted_r = np.corrcoef(y, fitted)[0, 1]
    held_out_r = np.corrcoef(y, held_out)[0, 1]
    return float(fitted_r), float(held_out_r)


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
