"""Does a test taker do as well as people of an age? The tests of HumBEL and what they can see.

Two tests, both one-sided (section 2.2.3). The *mean test* compares the share of right answers with
the share expected of people. The *divergence test* compares, question by question, with a person's
answers: it asks whether the two disagree on more than a tolerated share of the questions.
"""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import binom

from helpers.files.schemas import AGES
from helpers.files.tables import check_clusters, check_numeric
from helpers.stats.bootstrap import bootstrap_means, interval

SCOPES = ("at", "up to")


def by_age(right: pd.Series, ages: pd.Series, scope: str) -> pd.DataFrame:
    """Give each age a column with the answers that count for it.

    Parameters
    ----------
    right : pandas.Series
        1 for a right answer, 0 for a wrong one.
    ages : pandas.Series
        Age of each question, in years.
    scope : {"at", "up to"}
        Whether an age stands for the questions of that age, or for those of lower ages as well.

    Returns
    -------
    pandas.DataFrame, shape (n_questions, n_ages)
        `right` where the question counts, otherwise missing.

    Raises
    ------
    ValueError
        If there is no such scope.

    Examples
    --------
    >>> by_age(pd.Series([1, 0]), pd.Series([7, 9]), "up to")[[7, 9]].sum().tolist()
    [1.0, 1.0]
    """
    if scope not in SCOPES:
        raise ValueError(f"scope must be 'at' or 'up to', not {scope!r}")
    counts = {age: ages == age if scope == "at" else ages <= age for age in AGES}
    return pd.DataFrame({age: right.where(counted) for age, counted in counts.items()})


def accuracy_by_age(
    columns: pd.DataFrame, clusters: pd.Series, n_boot: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Give the share of right answers at each age, with an interval that resamples clusters.

    Parameters
    ----------
    columns : pandas.DataFrame
        One column per age, see `by_age`.
    clusters : pandas.Series
        Answers of one cluster may depend on each other.
    n_boot : int
        Bootstrap replicates.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    pandas.DataFrame
        ``x`` (age in years), ``estimate``, ``low`` and ``high`` (95 % interval) in per cent;
        missing where an age has no question.

    Raises
    ------
    ValueError
        If a label is missing or there are fewer than two clusters.

    Examples
    --------
    >>> columns = by_age(pd.Series([1, 0, 1]), pd.Series([7, 7, 9]), "at")
    >>> cues = pd.Series(["a", "b", "c"])
    >>> accuracy_by_age(columns, cues, 99, np.random.default_rng(0))["estimate"].head(2).tolist()
    [50.0, 100.0]
    """
    frame = columns.assign(cluster=clusters)
    draws = 100 * bootstrap_means(frame, list(columns), "cluster", n_boot, rng)
    low, high = interval(draws)
    estimate = 100 * columns.mean().to_numpy()
    return pd.DataFrame({"x": columns.columns, "estimate": estimate, "low": low, "high": high})


def mean_test(columns: pd.DataFrame, expected: ArrayLike) -> pd.DataFrame:
    """Test at each age whether fewer answers are right than expected of people.

    Parameters
    ----------
    columns : pandas.DataFrame
        One column per age, see `by_age`.
    expected : array-like
        Share of right answers of people; one or several to compare.

    Returns
    -------
    pandas.DataFrame, shape (n_expected, n_ages)
        The exact probability that so few answers or fewer are right if the expected share is
        true. An age without questions has a probability of 1.

    References
    ----------
    Sicilia et al. (2024), HumBEL, section 2.2.3.

    Examples
    --------
    >>> columns = pd.DataFrame({7: [0.0, 0.0, np.nan]})
    >>> mean_test(columns, [0.5, 0.9]).round(2)[7].to_dict()
    {0.5: 0.25, 0.9: 0.01}
    """
    shares = np.atleast_1d(np.asarray(expected, dtype=float))
    p_values = binom.cdf(columns.sum().to_numpy(), columns.count().to_numpy(), shares[:, None])
    return pd.DataFrame(p_values, index=shares, columns=columns.columns)


def divergence_test(disagreements: ArrayLike, n: ArrayLike, tolerance: ArrayLike) -> np.ndarray:
    """Test whether two test takers disagree on more than a tolerated share of the questions.

    Parameters
    ----------
    disagreements : array-like of int
        Questions that one of them got right and the other wrong.
    n : array-like of int
        Questions.
    tolerance : array-like
        Share of disagreements that is tolerated (gamma in the paper).

    Returns
    -------
    numpy.ndarray or float
        The exact probability of so many disagreements or more at the tolerance. The paper's
        equation 3 prints the inequality the other way round.

    References
    ----------
    Sicilia et al. (2024), HumBEL, section 2.2.3.

    Examples
    --------
    >>> float(divergence_test(2, 2, 0.5))
    0.25
    """
    return binom.sf(np.asarray(disagreements) - 1, n, tolerance)


def aligned_ages(p_values: pd.DataFrame, level: float = 0.05) -> pd.Series:
    """Find the highest age before the first that a test rejects.

    Parameters
    ----------
    p_values : pandas.DataFrame
        One column per age, in ascending order.
    level : float, optional
        Significance level.

    Returns
    -------
    pandas.Series
        An age for each row; missing if already the lowest age is rejected.

    Examples
    --------
    >>> rows = pd.DataFrame([[0.6, 0.2, 0.01, 0.3], [0.01, 0.5, 0.5, 0.5]], columns=[7, 9, 11, 13])
    >>> aligned_ages(rows).tolist()
    [9.0, nan]
    """
    kept = (p_values.to_numpy() > level).cumprod(axis=1).sum(axis=1)
    ages = np.array([np.nan, *p_values.columns])
    return pd.Series(ages[kept], index=p_values.index)


def design_effect(right: pd.Series, clusters: pd.Series) -> float:
    """How many times as variable a share is as it would be if answers were independent.

    Parameters
    ----------
    right : pandas.Series
        1 for a right answer, 0 for a wrong one.
    clusters : pandas.Series
        Answers of one cluster may depend on each other.

    Returns
    -------
    float
        Variance of the share with clusters, divided by the binomial variance; 1 if all answers
        are alike.

    Raises
    ------
    ValueError
        If an answer or a label is missing or there are fewer than two clusters.

    References
    ----------
    Kish (1965), Survey Sampling, section 8.2.

    Examples
    --------
    >>> design_effect(pd.Series([1, 1, 0, 0]), pd.Series(["a", "a", "b", "b"], name="cue"))
    4.0
    """
    frame = pd.DataFrame({"right": right, "cluster": clusters})
    check_numeric(frame, ["right"])
    check_clusters(frame, "cluster")
    if frame["right"].min() == frame["right"].max():
        return 1.0
    error = frame["right"] - frame["right"].mean()
    by_cluster = error.groupby(frame["cluster"]).sum()
    correction = len(by_cluster) / (len(by_cluster) - 1)
    return float(correction * (by_cluster**2).sum() / (error**2).sum())
