"""How likely a study of a given size is to find what is there.

A study is a sample of prompts from a large number of drawn ones. Estimates and their
cluster-robust errors need only sums within prompts, so that hundreds of studies of every size take
seconds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import norm, t
from statsmodels.stats.proportion import proportion_confint

from helpers.stats.bootstrap import cluster_weights, interval
from helpers.stats.moments import ROUNDING, ClusterMoments

TESTABLE = 1e-6  # a feature is told apart if its projection is within this of one


def study_losses(
    moments: ClusterMoments, n_prompts: Sequence[int], n_sim: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Least squares with cluster-robust errors in many studies of several sizes.

    The estimates are those of `helpers.stats.lasso.ols`. The smaller studies are parts of the
    largest one of the same number, which makes sizes comparable.

    Parameters
    ----------
    moments : ClusterMoments
        One set per prompt of a large population.
    n_prompts : sequence of int
        Prompts in a study, at least 2.
    n_sim : int
        Studies of each size.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    pandas.DataFrame
        One row per study and feature, indexed by ``prompts``, ``study`` and ``feature``:
        ``estimate``, ``standard_error``, ``low`` and ``high``. NaN where a feature does not vary
        in a study or cannot be told from others.

    References
    ----------
    Cameron and Miller (2015), A Practitioner's Guide to Cluster-Robust Inference, section II.

    Examples
    --------
    >>> from helpers.stats.moments import cluster_moments
    >>> frame = pd.DataFrame({"refusal": [0, 1] * 50, "score": np.tile([5.0, 3.0, 4.0, 3.5], 25),
    ...                       "prompt_id": np.arange(100) // 4})
    >>> moments = cluster_moments(frame, ["refusal"], "score", "prompt_id")
    >>> studies = study_losses(moments, [10], 3, np.random.default_rng(0))
    >>> studies["estimate"].round(2).tolist()
    [-1.25, -1.25, -1.25]
    """
    sizes = sorted(n_prompts)
    tables = []
    for _ in range(n_sim):
        products = moments.products[rng.integers(len(moments.products), size=sizes[-1])]
        tables.append(_least_squares(products, sizes))
    results = np.stack(tables, axis=1)
    names = pd.MultiIndex.from_product(
        [sizes, range(n_sim), moments.features], names=["prompts", "study", "feature"]
    )
    columns = ["estimate", "standard_error", "low", "high"]
    return pd.DataFrame(results.reshape(-1, len(columns)), index=names, columns=columns)


def _least_squares(products: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    """Estimates from the first prompts, shape (n_sizes, n_features, 4)."""
    n_prompts = np.array(sizes)
    parts = np.add.reduceat(products, [0, *sizes[:-1]], axis=0)
    total = parts.cumsum(axis=0)
    gram = total[:, :-1, :-1]
    inverse = np.linalg.pinv(gram, rcond=ROUNDING, hermitian=True)
    coefficients = (inverse @ total[:, :-1, -1:])[..., 0]
    residual = np.column_stack([coefficients, np.full(len(sizes), -1.0)])
    scores = products.reshape(-1, residual.shape[1]) @ residual.T
    scores = scores.reshape(*products.shape[:2], len(sizes))[:, :-1]
    squares = [
        ((scores[:size, :, place] @ inverse[place]) ** 2).sum(axis=0)
        for place, size in enumerate(sizes)
    ]
    n_rows, rank = total[:, 0, 0], gram.shape[1]
    correction = n_prompts / (n_prompts - 1) * (n_rows - 1) / (n_rows - rank)
    error = np.sqrt(correction[:, None] * np.array(squares))
    told = np.abs(np.diagonal(inverse @ gram, axis1=1, axis2=2) - 1) < TESTABLE
    estimate, error = (np.where(told, part, np.nan)[:, 1:] for part in (coefficients, error))
    margin = t.ppf(0.975, n_prompts - 1)[:, None] * error
    return np.stack([estimate, error, estimate - margin, estimate + margin], axis=-1)


def study_bootstraps(
    moments: ClusterMoments, n_prompts: int, n_sim: int, n_boot: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Least squares with percentile intervals from resampled prompts, in many studies.

    It is slower than `study_losses`, with which it should agree.

    Parameters
    ----------
    moments, n_sim
        As for `study_losses`.
    n_prompts : int
        Prompts in a study.
    n_boot : int
        Bootstrap replicates of a study.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    pandas.DataFrame
        As from `study_losses`, without ``standard_error``. A replicate in which a feature does
        not vary is left out of its interval.

    References
    ----------
    Cameron and Miller (2015), section VI.

    Examples
    --------
    >>> from helpers.stats.moments import cluster_moments
    >>> frame = pd.DataFrame({"refusal": [0, 1] * 50, "score": [5.0, 3.0] * 50,
    ...                       "prompt_id": np.arange(100) // 4})
    >>> moments = cluster_moments(frame, ["refusal"], "score", "prompt_id")
    >>> study_bootstraps(moments, 10, 2, 9, np.random.default_rng(0))["low"].round(2).tolist()
    [-2.0, -2.0]
    """
    tables = []
    for _ in range(n_sim):
        products = moments.products[rng.integers(len(moments.products), size=n_prompts)]
        weights = cluster_weights(n_prompts, n_boot, rng)
        weights = np.vstack([np.ones(n_prompts), weights])
        gram, cross, _ = replace(moments, products=products).total(weights).covariances()
        slopes = (np.linalg.pinv(gram, rcond=ROUNDING, hermitian=True) @ cross[:, :, None])[..., 0]
        slopes[np.diagonal(gram, axis1=1, axis2=2) == 0] = np.nan
        tables.append(np.column_stack([slopes[0], *interval(slopes[1:])]))
    names = pd.MultiIndex.from_product(
        [[n_prompts], range(n_sim), moments.features], names=["prompts", "study", "feature"]
    )
    return pd.DataFrame(np.concatenate(tables), names, ["estimate", "low", "high"])


def study_gaps(
    crowd: np.ndarray,
    expert: np.ndarray,
    outputs: int,
    designs: Sequence[tuple[int, int]],
    n_sim: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Crowd minus expert rates in many studies in which experts check part of the prompts.

    Parameters
    ----------
    crowd, expert : numpy.ndarray, shape (n_population, n_errors)
        Sums of labels over the outputs of each prompt of a large population.
    outputs : int
        Outputs of each prompt.
    designs : sequence of (int, int)
        Prompts that the crowd checks, and how many of them experts check too, at least 2.
    n_sim : int
        Studies of each design.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    pandas.DataFrame
        One row per study and error, indexed by ``prompts``, ``expert_prompts``, ``study`` and
        ``error`` (its number): ``estimate``, ``standard_error``, ``low`` and ``high``, in
        percentage points, from prompts as clusters and a t distribution with (expert prompts
        - 1) degrees of freedom.

    References
    ----------
    Cochran (1977), Sampling Techniques, section 12.5 (double sampling for differences).

    Examples
    --------
    >>> crowd, expert = np.array([[0.0], [1.0]]), np.array([[2.0], [3.0]])
    >>> gaps = study_gaps(crowd, expert, 5, [(40, 40)], 2, np.random.default_rng(0))
    >>> gaps["estimate"].tolist()
    [-40.0, -40.0]
    """
    tables = []
    largest = max(prompts for prompts, _ in designs)
    for _ in range(n_sim):
        chosen = rng.integers(len(crowd), size=largest)
        rates = 100 * crowd[chosen] / outputs, 100 * expert[chosen] / outputs
        tables.append([_gap(*rates, *design) for design in designs])
    results = np.stack(tables, axis=1)
    place, study, error = (index.ravel() for index in np.indices(results.shape[:3]))
    prompts, expert_prompts = np.array(designs)[place].T
    names = pd.MultiIndex.from_arrays(
        [prompts, expert_prompts, study, error],
        names=["prompts", "expert_prompts", "study", "error"],
    )
    columns = ["estimate", "standard_error", "low", "high"]
    return pd.DataFrame(results.reshape(-1, len(columns)), index=names, columns=columns)


def _gap(crowd: np.ndarray, expert: np.ndarray, prompts: int, expert_prompts: int) -> np.ndarray:
    """Estimate, standard error and interval of each gap, shape (n_errors, 4)."""
    crowd, expert = crowd[:prompts], expert[:expert_prompts]
    gap = crowd.mean(axis=0) - expert.mean(axis=0)
    influence = (crowd - crowd.mean(axis=0)) / prompts
    influence[:expert_prompts] -= (expert - expert.mean(axis=0)) / expert_prompts
    error = np.sqrt((influence**2).sum(axis=0) * prompts / (prompts - 1))
    margin = t.ppf(0.975, expert_prompts - 1) * error
    return np.column_stack([gap, error, gap - margin, gap + margin])


def detection(studies: pd.DataFrame, signs: Mapping, by: str) -> pd.DataFrame:
    """Share of studies whose interval lies on the right side of zero.

    Parameters
    ----------
    studies : pandas.DataFrame
        Result of `study_losses` or `study_gaps`.
    signs : mapping
        For each feature or error, 1 if its truth is above zero, -1 if it is below.
    by : str
        Level of the index with the keys of `signs`.

    Returns
    -------
    pandas.DataFrame
        Indexed like `studies` without ``study``: ``estimate`` (the power), and the 95 % interval
        ``low`` and ``high`` for the chance of simulation (Wilson). A study without an interval
        has not detected anything.

    References
    ----------
    Wilson (1927); Morris, White and Crowther (2019), Using simulation studies to evaluate
    statistical methods, section 5.2.

    Examples
    --------
    >>> index = pd.MultiIndex.from_product([[0, 1], ["refusal"]], names=["study", "feature"])
    >>> studies = pd.DataFrame({"low": [-2.0, -1.0], "high": [-0.1, 0.3]}, index=index)
    >>> detection(studies, {"refusal": -1}, "feature").round(2)
             estimate   low  high
    feature
    refusal       0.5  0.09  0.91
    """
    sign = studies.index.get_level_values(by).map(signs)
    found = ((sign > 0) & (studies["low"] > 0)) | ((sign < 0) & (studies["high"] < 0))
    levels = [name for name in studies.index.names if name != "study"]
    counts = found.groupby(level=levels, sort=False).agg(["sum", "size"])
    low, high = proportion_confint(counts["sum"], counts["size"], method="wilson")
    return pd.DataFrame({"estimate": counts["sum"] / counts["size"], "low": low, "high": high})


def size_needed(sizes: ArrayLike, power: pd.DataFrame, target: float = 0.8) -> pd.Series:
    """Smallest size at which the power reaches a target, between the sizes that were tried.

    Power is interpolated where it is nearly a straight line: its normal quantile against the
    square root of the size. The interval uses the bounds of the power in its place.

    Parameters
    ----------
    sizes : array-like
        Sizes tried, increasing.
    power : pandas.DataFrame
        Rows of `detection` for these sizes.
    target : float, optional
        Power wanted.

    Returns
    -------
    pandas.Series
        ``estimate``, ``low`` and ``high``; infinite if no size tried is large enough, and the
        smallest size if that is.

    References
    ----------
    Chow, Shao and Wang (2008), Sample Size Calculations in Clinical Research, section 3.1.

    Examples
    --------
    >>> power = pd.DataFrame({"estimate": [0.5, 0.9], "low": [0.4, 0.8], "high": [0.6, 0.95]})
    >>> size_needed([100, 400], power).round(0).tolist()
    [274.0, 202.0, 400.0]
    """
    roots = np.sqrt(np.asarray(sizes, dtype=float))
    columns = {"estimate": "estimate", "low": "high", "high": "low"}
    return pd.Series(
        {bound: _crossing(roots, power[column], target) for bound, column in columns.items()}
    )


def _crossing(roots: np.ndarray, power: pd.Series, target: float) -> float:
    """Size at which the power reaches the target, infinite if it does not."""
    power = np.maximum.accumulate(power.to_numpy())
    if power[-1] < target:
        return np.inf
    heights = norm.ppf(np.clip(power, 1e-6, 1 - 1e-6))
    reached = int(np.argmax(power >= target))
    near = slice(max(reached - 1, 0), reached + 1)
    return float(np.interp(norm.ppf(target), heights[near], roots[near]) ** 2)
