"""Correlations of columns rated on the same items, and a test of how two differ.

Two correlations that come from the same items rise and fall together, so that their
difference is judged by a test made for such pairs.
"""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from helpers.stats.moments import ROUNDING, ratio


def williams_test(
    first: ArrayLike, second: ArrayLike, between: ArrayLike, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """Williams' test that two dependent correlations with a common variable are equal.

    It takes observations as independent and normal, not as coming in clusters.

    Parameters
    ----------
    first, second : array-like
        Correlations of the common variable with one and with the other variable.
    between : array-like
        Correlation between these two.
    n : int
        Number of observations, at least 4.

    Returns
    -------
    t, p_value : numpy.ndarray or float
        The statistic, positive where `first` is the larger one, and its two-sided
        p-value from a t distribution with n - 3 degrees of freedom.

    References
    ----------
    Williams (1959), The Comparison of Regression Variables; Steiger (1980), Tests for
    Comparing Elements of a Correlation Matrix, equation 7.

    Examples
    --------
    >>> t, p_value = williams_test(0.4, 0.5, 0.1, n=103)
    >>> round(float(t), 2), round(float(p_value), 2)
    (-0.89, 0.37)
    """
    first = np.asarray(first, dtype=float)
    second = np.asarray(second, dtype=float)
    between = np.asarray(between, dtype=float)
    # of the matrix of the three correlations; rounding can take it below zero
    determinant = 1 - first**2 - second**2 - between**2 + 2 * first * second * between
    determinant = np.maximum(determinant, 0)
    mean = (first + second) / 2
    # Steiger (1980), equation 7
    scale = 2 * (n - 1) / (n - 3) * determinant + mean**2 * (1 - between) ** 3
    t = (first - second) * np.sqrt((n - 1) * (1 + between) / scale)
    p_value = 2 * stats.t.sf(np.abs(t), n - 3)
    return t, p_value


def score_correlations(
    scores: pd.DataFrame, outcome: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Correlate scores of items with several versions of an outcome at once.

    Parameters
    ----------
    scores : pandas.DataFrame, shape (n_items, n_scores)
        A score is correlated on the items that have it; others are NaN.
    outcome : numpy.ndarray, shape (n_sets, n_items)
        The outcome in each set, such as mean ratings by those raters who count, see
        `helpers.stats.aggregation.item_means`.
    weights : numpy.ndarray, shape (n_sets, n_items)
        Weight of each item in each set; 0 leaves it out.

    Returns
    -------
    numpy.ndarray, shape (n_sets, n_scores)
        Pearson's r; NaN where a score or the outcome does not vary.

    Examples
    --------
    >>> scores = pd.DataFrame({"length": [1.0, 2, 3], "overlap": [3.0, 1, np.nan]})
    >>> outcome = np.array([[0.0, 1, 2], [0.0, 2, 2]])
    >>> score_correlations(scores, outcome, np.ones((2, 3))).round(3)
    array([[ 1.   , -1.   ],
           [ 0.866, -1.   ]])
    """
    values = scores.to_numpy(dtype=float, na_value=np.nan)
    present = ~np.isnan(values)
    # centred first, so that differences of sums of squares lose no accuracy
    centred = np.where(present, values - np.nanmean(values, axis=0), 0.0)
    outcome = outcome - outcome[:, weights[0] > 0].mean()
    n = weights @ present
    mean_score = ratio(weights @ centred, n)
    mean_square = ratio(weights @ centred**2, n)
    mean_outcome = ratio((weights * outcome) @ present, n)
    outcome_square = ratio((weights * outcome**2) @ present, n)
    product = ratio((weights * outcome) @ centred, n)
    variance = mean_square - mean_score**2
    # what remains of a constant score is a rounding error, and becomes zero
    variance = np.where(variance > ROUNDING * mean_square, variance, 0.0)
    of_outcome = outcome_square - mean_outcome**2
    covariance = product - mean_score * mean_outcome
    return ratio(covariance, np.sqrt(np.clip(variance * of_outcome, 0.0, None)))
