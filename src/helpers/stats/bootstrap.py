"""Cluster bootstrap: draws, percentile intervals; Holm's correction of many tests.

Ratings of one prompt, question or rater are not independent, so whole clusters are
drawn with replacement. A replicate is a row of integer weights, one per cluster; a
statistic made of sums needs only these weights and the sums within clusters, never the
rows again.
"""

import numpy as np
from numpy.typing import ArrayLike

BLOCK = 2**17  # draws counted together: few enough to stay in the processor's cache


def cluster_weights(
    n_clusters: int, n_boot: int, rng: np.random.Generator
) -> np.ndarray:
    """How often each cluster is drawn in each bootstrap replicate.

    Parameters
    ----------
    n_clusters : int
        Number of clusters, at least 2.
    n_boot : int
        Number of replicates, at least 1.
    rng : numpy.random.Generator

    Returns
    -------
    numpy.ndarray of int, shape (n_boot, n_clusters)
        Each row sums to `n_clusters`.

    Raises
    ------
    ValueError
        If there are too few clusters or replicates.

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapters 6 and 8;
    Cameron and Miller (2015), A Practitioner's Guide to Cluster-Robust Inference,
    section VI.

    Examples
    --------
    >>> cluster_weights(4, 3, np.random.default_rng(0)).sum(axis=1)
    array([4, 4, 4])
    """
    if n_clusters < 2:
        raise ValueError(f"resampling needs at least 2 clusters, got {n_clusters}")
    if n_boot < 1:
        raise ValueError(f"n_boot must be at least 1, got {n_boot}")
    weights = np.empty((n_boot, n_clusters), dtype=int)
    n_rows = max(1, BLOCK // n_clusters)
    for start in range(0, n_boot, n_rows):
        block = weights[start : start + n_rows]
        drawn = rng.integers(n_clusters, size=block.shape)
        # Each replicate has numbers of its own, so that one call counts them all.
        drawn += n_clusters * np.arange(len(block))[:, None]
        counts = np.bincount(drawn.ravel(), minlength=block.size)
        block[:] = counts.reshape(block.shape)
    return weights


def with_everything_first(weights: np.ndarray) -> np.ndarray:
    """Put the table itself first: a row that takes every cluster once."""
    everything = np.ones_like(weights[:1])
    return np.vstack([everything, weights])


def bootstrap_ratio(
    numerator_sums: np.ndarray, denominator_sums: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Bootstrap draws of a ratio of sums, such as a mean or a rate; NaN for 0 / 0."""
    numerator = np.tensordot(weights, numerator_sums, axes=1)
    denominator = np.tensordot(weights, denominator_sums, axes=1)
    undefined = np.full(numerator.shape, np.nan)
    return np.divide(numerator, denominator, out=undefined, where=denominator != 0)


def interval(draws: ArrayLike, level: float = 0.95, axis: int = 0) -> tuple:
    """Percentile interval.

    Undefined (NaN) draws are left out, which makes the interval conditional on the
    statistic being defined; it is NaN only where every draw is.

    Parameters
    ----------
    draws : array-like
        Bootstrap draws.
    level : float, optional
        Coverage, between 0 and 1.
    axis : int, optional
        Axis of the replicates.

    Returns
    -------
    low, high : numpy.ndarray or float
        `draws` without `axis`.

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapter 13.

    Examples
    --------
    >>> low, high = interval(np.arange(101), level=0.9)
    >>> round(float(low), 6), round(float(high), 6)
    (5.0, 95.0)
    """
    draws = np.asarray(draws, dtype=float)
    # `nanquantile` warns of columns without any number: they are zero for the moment.
    is_undefined = np.isnan(draws).all(axis=axis, keepdims=True)
    filled = np.where(is_undefined, 0.0, draws)
    tail = (1 - level) / 2
    bounds = np.nanquantile(filled, [tail, 1 - tail], axis=axis)
    low, high = np.where(is_undefined.squeeze(axis), np.nan, bounds)
    # an array without axes becomes a number
    return low[()], high[()]


def adjust(p_values: ArrayLike) -> np.ndarray:
    """Correct a family of p-values by Holm's method for any false rejection.

    Parameters
    ----------
    p_values : array-like
        The whole family, of any shape.

    Returns
    -------
    numpy.ndarray
        Corrected p-values in the shape given.

    Raises
    ------
    ValueError
        If a p-value is missing or outside [0, 1].

    References
    ----------
    Holm (1979).

    Examples
    --------
    >>> adjust([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p_values = np.asarray(p_values, dtype=float)
    is_wrong = ~((p_values >= 0) & (p_values <= 1)).ravel()
    if is_wrong.any():
        position = np.argmax(is_wrong)
        raise ValueError(
            f"p-value {position} is {p_values.ravel()[position]}: "
            "give the family without values that are missing or outside [0, 1]"
        )
    # As statsmodels' `multipletests`, which collects garbage in each call: 0.2 s in a
    # notebook.
    order = p_values.argsort(axis=None)
    ascending = p_values.ravel()[order]
    # the smallest is multiplied by the number of tests, the next by one less, ...
    n_left = np.arange(len(order), 0, -1)
    adjusted = np.empty(len(order))
    # ... and none is smaller than the one before it
    adjusted[order] = np.maximum.accumulate(ascending * n_left)
    return np.minimum(adjusted, 1.0).reshape(p_values.shape)
