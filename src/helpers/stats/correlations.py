"""A test of how two correlations of columns rated on the same items differ.

Two correlations that come from the same items rise and fall together, so that their
difference is judged by a test made for such pairs.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats


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
