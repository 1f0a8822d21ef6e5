"""Correlations of columns rated on the same items, and how far two of them differ.

Two correlations that come from the same items rise and fall together, so their
difference is taken within shared resamples of whole clusters, or judged by a test made
for such pairs.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from helpers.stats.bootstrap import cluster_weights, summary, with_everything_first
from helpers.stats.checks import check_numeric
from helpers.stats.moments import ClusterMoments, cluster_moments


def bootstrap_correlations(
    frame: pd.DataFrame,
    columns: Sequence[str],
    cluster: str,
    n_boot: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Bootstrap draws of a correlation matrix, resampling clusters of rows.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per observation.
    columns : sequence of str
        Numeric columns, at least two; the last one must vary.
    cluster : str
        Column of clusters.
    n_boot : int
        Number of replicates.
    rng : numpy.random.Generator

    Returns
    -------
    numpy.ndarray, shape (n_boot, n_columns, n_columns)
        Pearson's correlations; NaN where a column is constant in a replicate.

    Raises
    ------
    ValueError
        If a column cannot be used (see `helpers.stats.checks.check_regression`).

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, section 6.3
    (correlation).

    Examples
    --------
    >>> frame = pd.DataFrame({"errors": [3, 2, 1, 0], "quality": [1, 2, 3, 4],
    ...                       "prompt_id": [1, 2, 3, 4]})
    >>> draws = bootstrap_correlations(
    ...     frame, ["errors", "quality"], "prompt_id", 99, np.random.default_rng(0))
    >>> draws.shape, float(np.nanmax(draws[:, 0, 1]).round(6))
    ((99, 2, 2), -1.0)
    """
    moments = cluster_moments(frame, columns[:-1], columns[-1], cluster)
    weights = cluster_weights(len(moments.products), n_boot, rng)
    return correlation_matrices(moments.total(weights))


def correlation_matrices(moments: ClusterMoments) -> np.ndarray:
    """Pearson's correlations among features and outcome in several sets of rows."""
    features, cross, outcome = moments.covariances()
    above = np.concatenate([features, cross[:, :, None]], axis=2)
    below = np.concatenate([cross, outcome[:, None]], axis=1)
    covariance = np.concatenate([above, below[:, None, :]], axis=1)
    spread = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    scale = spread[:, :, None] * spread[:, None, :]
    return np.divide(
        covariance, scale, out=np.full_like(scale, np.nan), where=scale > 0
    )


def compare_correlations(
    frame: pd.DataFrame,
    columns: Sequence[str],
    scores: tuple[str, str],
    cluster: str,
    n_boot: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Correlate columns with each of two scores, and subtract.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per observation.
    columns : sequence of str
        Numeric columns, for example error labels.
    scores : tuple of str
        The two scores, both given to the same observations.
    cluster : str
        Column of clusters.
    n_boot : int
        Number of bootstrap replicates.
    rng : numpy.random.Generator

    Returns
    -------
    pandas.DataFrame
        Indexed by ``measure`` (the first score, the second score, ``"difference"``:
        first minus second) and ``column``, the last of which is ``"average"``;
        ``estimate``, 95 % percentile interval ``low`` and ``high``, and a two-sided
        bootstrap ``p_value`` for zero. Replicates in which a column is constant are
        left out for this column and the average.

    Raises
    ------
    ValueError
        If a column cannot be used (see `helpers.stats.checks.check_regression`).

    References
    ----------
    Hosking et al. (2024), Figure 7; Efron and Tibshirani (1993), chapter 8 (resampling
    the units that are independent).

    Examples
    --------
    >>> frame = pd.DataFrame({"refusal": [0, 0, 1, 1], "biased": [5, 4, 1, 2],
    ...                       "unbiased": [5, 2, 4, 1], "prompt_id": [1, 2, 3, 4]})
    >>> compare_correlations(frame, ["refusal"], ("biased", "unbiased"), "prompt_id", 99,
    ...                      np.random.default_rng(0))["estimate"].round(2)
    measure     column
    biased      refusal   -0.95
                average   -0.95
    unbiased    refusal   -0.32
                average   -0.32
    difference  refusal   -0.63
                average   -0.63
    Name: estimate, dtype: float64
    """
    names = [*columns, *scores]
    moments = cluster_moments(frame, names[:-1], names[-1], cluster)
    weights = cluster_weights(len(moments.products), n_boot, rng)
    everything_first = with_everything_first(weights)
    r = correlation_matrices(moments.total(everything_first))[:, :-2, -2:]
    r = np.concatenate([r, r.mean(axis=1, keepdims=True)], axis=1)
    measures = {
        scores[0]: r[..., 0],
        scores[1]: r[..., 1],
        "difference": r[..., 0] - r[..., 1],
    }
    rows = [*columns, "average"]
    tables = {name: summary(part[0], part[1:], rows) for name, part in measures.items()}
    return pd.concat(tables, names=["measure", "column"])


def williams_test(
    first: ArrayLike, second: ArrayLike, between: ArrayLike, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """Williams' test that two dependent correlations with a common variable are equal.

    It takes observations as independent and normal. Where they come in clusters, use it
    only beside `compare_correlations`.

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
    together = np.broadcast_arrays(first, second, between)
    first, second, between = (np.asarray(each, dtype=float) for each in together)
    determinant = 1 - first**2 - second**2 - between**2 + 2 * first * second * between
    mean = (first + second) / 2
    variance = (
        2 * (n - 1) / (n - 3) * determinant.clip(0) + mean**2 * (1 - between) ** 3
    )
    t = (first - second) * np.sqrt((n - 1) * (1 + between) / variance)
    return t, 2 * stats.t.sf(np.abs(t), n - 3)


def others_mean(
    ratings: pd.DataFrame, item: str, columns: Sequence[str]
) -> pd.DataFrame:
    """Average what the other raters of the same item said.

    A rater's own opinion links all answers that the rater gave. Correlating them with
    the mean of the others leaves that link out.

    Parameters
    ----------
    ratings : pandas.DataFrame
        One row per item and rater.
    item : str
        Column of items.
    columns : sequence of str
        Numeric columns to average.

    Returns
    -------
    pandas.DataFrame
        The columns, with the index of `ratings`; NaN where nobody else rated the item.

    Raises
    ------
    ValueError
        If a column is unknown, named twice, not numeric or has missing values.

    Examples
    --------
    >>> ratings = pd.DataFrame({"item_id": ["a", "a", "a", "b"], "refusal": [1, 0, 1, 1]})
    >>> others_mean(ratings, "item_id", ["refusal"])["refusal"].tolist()
    [0.5, 1.0, 0.5, nan]
    """
    check_numeric(ratings, columns)
    own = ratings[list(columns)].astype(float)
    groups = own.groupby(ratings[item])
    others = groups.transform("size") - 1
    return (groups.transform("sum") - own).div(others.where(others > 0), axis=0)


def pair_ratings(first: pd.DataFrame, second: pd.DataFrame, item: str) -> pd.DataFrame:
    """Set each rating of an item by one group beside one rating of it by another group.

    Parameters
    ----------
    first, second : pandas.DataFrame
        One row per item and rater. Only the item may be a column of both.
    item : str
        Column of items.

    Returns
    -------
    pandas.DataFrame
        The n-th rating of an item in `first` with its n-th rating in `second`, in the
        order of `first`; ratings without a partner are left out.

    Examples
    --------
    >>> first = pd.DataFrame({"item_id": ["a", "a", "b"], "biased": [1, 2, 3]})
    >>> second = pd.DataFrame({"item_id": ["b", "a", "a"], "unbiased": [4, 5, 6]})
    >>> pair_ratings(first, second, "item_id")
      item_id  biased  unbiased
    0       a       1         5
    1       a       2         6
    2       b       3         4
    """
    numbered = [
        table.assign(_turn=table.groupby(item).cumcount()) for table in (first, second)
    ]
    return numbered[0].merge(numbered[1], on=[item, "_turn"]).drop(columns="_turn")


def compare_evaluators(
    moments: Mapping[str, ClusterMoments], n_boot: int, seed: int
) -> tuple[pd.Series, pd.DataFrame]:
    """Correlations of scores with an outcome in several tables, with draws to subtract.

    Every table is resampled with the same seed. Differences of draws are therefore
    paired between the scores of a table, and between tables that have the same
    clusters.

    Parameters
    ----------
    moments : mapping of str to ClusterMoments
        A name for each table, and its moments by cluster; the features are the scores.
        See `helpers.stats.moments.cluster_moments`.
    n_boot : int
        Number of replicates.
    seed : int
        Seed of the replicates.

    Returns
    -------
    estimates : pandas.Series
        By (table, score).
    draws : pandas.DataFrame, shape (n_boot, n_tables * n_scores)
        Columns like the index of `estimates`; NaN where a score or the outcome does not
        vary.

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, section 6.3
    (correlation); Cameron and Miller (2015), section VI (clusters).

    Examples
    --------
    >>> from helpers.stats.moments import cluster_moments
    >>> frame = pd.DataFrame({"direct": [1, 2, 3] * 5, "human": [0, 1, 2] * 5,
    ...                       "question_id": np.arange(15) // 3})
    >>> moments = cluster_moments(frame, ["direct"], "human", "question_id")
    >>> compare_evaluators({"GPT-4": moments}, n_boot=5, seed=0)[0].round(6)
    GPT-4  direct    1.0
    Name: estimate, dtype: float64
    """
    tables = {}
    for name, sums in moments.items():
        weights = cluster_weights(len(sums.n), n_boot, np.random.default_rng(seed))
        everything_first = with_everything_first(weights)
        r = correlation_matrices(sums.total(everything_first))[:, :-1, -1]
        tables[name] = pd.DataFrame(r, columns=list(sums.features))
    draws = pd.concat(tables, axis="columns")
    return draws.loc[0].rename("estimate"), draws[1:].reset_index(drop=True)


def measure_correlations(
    frame: pd.DataFrame,
    measures: Sequence[str],
    outcome: str,
    cluster: str,
    n_boot: int,
    seed: int,
) -> pd.DataFrame:
    """Correlate each measure with an outcome, on the rows that have it.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per observation.
    measures : sequence of str
        Numeric columns; missing values leave out a row for this measure only.
    outcome : str
        Numeric column without missing values.
    cluster : str
        Column of clusters.
    n_boot : int
        Number of replicates.
    seed : int
        Seed of the replicates.

    Returns
    -------
    pandas.DataFrame
        ``estimate``, ``low`` and ``high`` of Pearson's r by measure; without the
        measures that no row has.

    Examples
    --------
    >>> frame = pd.DataFrame({"overlap": [1.0, 2, 3, None], "length": [3, 2, 1, 1],
    ...                       "none": [None] * 4, "human": [0, 1, 2, 2], "question_id": range(4)})
    >>> measures = ["overlap", "length", "none"]
    >>> measure_correlations(frame, measures, "human", "question_id", 9, 0)["estimate"].round(6)
    overlap    1.0
    length    -1.0
    Name: estimate, dtype: float64
    """
    tables = {
        name: cluster_moments(frame.dropna(subset=name), [name], outcome, cluster)
        for name in measures
        if frame[name].notna().any()
    }
    estimates, draws = compare_evaluators(tables, n_boot, seed)
    return summary(estimates.to_numpy(), draws, list(tables)).drop(columns="p_value")


def evaluator_differences(
    estimates: pd.Series, draws: pd.DataFrame, pairs: Mapping[str, tuple[str, str]]
) -> tuple[pd.Series, pd.DataFrame]:
    """Subtract scores of the same table from each other, replicate by replicate.

    Parameters
    ----------
    estimates : pandas.Series
        By (table, score), from `compare_evaluators`.
    draws : pandas.DataFrame
        From `compare_evaluators`.
    pairs : mapping of str to (str, str)
        A name for each difference, the score to start from and the score to subtract.

    Returns
    -------
    estimates : pandas.Series
        By (name of the difference, table).
    draws : pandas.DataFrame, shape (n_boot, n_pairs * n_tables)
        Columns like the index of `estimates`.

    Raises
    ------
    KeyError
        If no table has one of the scores.

    Examples
    --------
    >>> estimates = pd.Series({("GPT-4", "direct"): 0.70, ("GPT-4", "weighted"): 0.72})
    >>> draws = pd.DataFrame([[0.69, 0.70], [0.71, 0.70]], columns=estimates.index)
    >>> gains = evaluator_differences(estimates, draws, {"gain": ("weighted", "direct")})
    >>> gains[0].round(2).to_dict(), gains[1].round(2).squeeze().tolist()
    ({('gain', 'GPT-4'): 0.02}, [0.01, -0.01])
    """
    gaps, gap_draws = {}, {}
    for name, (first, second) in pairs.items():
        gaps[name] = estimates.xs(first, level=1) - estimates.xs(second, level=1)
        gap_draws[name] = draws.xs(first, axis=1, level=1) - draws.xs(
            second, axis=1, level=1
        )
    return pd.concat(gaps), pd.concat(gap_draws, axis="columns")
