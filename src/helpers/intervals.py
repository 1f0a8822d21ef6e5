"""Intervals for ratings: one jackknife, a bootstrap, Wilson, Fieller and Holm.

Two ratings by one rater are alike, and so are two ratings of one prompt. The jackknife
leaves out each rater, each prompt and each cell of both, and sees how far an estimate
moves (two-way CRV3). Terms of rows are added up by cluster, an estimate is a function
of the sums, and nothing is fitted again. Sums by group are all that is needed, so that
a Dask DataFrame can stand wherever a pandas DataFrame does.

A mean with its interval takes three steps::

    sums = cluster_sums(frame, ["score", "n"], ["rater_id", "prompt_id"])
    mean = jackknife(sums, value, ["score"], information)
    mean.table()

`item_sums` takes the place of `cluster_sums` if terms are made from all ratings of an
item, as in coefficients of agreement.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.stats import beta, norm, t

from helpers.data.tables import OptionError

FEWEST_CLUSTERS = 3  # two of a kind give an interval of no use
LEVEL = 0.95
RATERS = "rater_id"  # the usual name of the column of people
ROUNDING = 1e-12  # share of a sum
CONSTANT = 1e-9  # a column whose variance is a smaller share of its square is constant
RATINGS_AT_ONCE = 100_000
SETS_AT_ONCE = 2**15  # few enough that sums stay in the processor's cache
DRAWS_AT_ONCE = 2**17
N_DRAWS = 20_000  # of the largest of several t statistics


# Sums by cluster -----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over all rows, and what they lose without each cluster.

    Parameters
    ----------
    total : numpy.ndarray, shape (n_sums,)
    removed : tuple of numpy.ndarray, each of shape (n_clusters, n_sums)
        For one kind of cluster; or for each of two kinds, and for their cells.
    """

    total: np.ndarray
    removed: tuple[np.ndarray, ...]


def computed(table: object) -> object:
    """Compute a Dask object; give others back."""
    return table.compute() if hasattr(table, "compute") else table


def check_clusters(frame: pd.DataFrame, clusters: Sequence[str]) -> None:
    """Refuse clusters with gaps, fewer than three of a kind, or one kind in another.

    Parameters
    ----------
    frame : pandas.DataFrame or dask.dataframe.DataFrame
        One row per rating.
    clusters : sequence of str
        One or two columns.

    Raises
    ------
    OptionError
        With the column, the reason and what to do.

    Examples
    --------
    >>> check_clusters(pd.DataFrame({"rater_id": list("aabb")}), ["rater_id"])
    Traceback (most recent call last):
        ...
    helpers.data.tables.OptionError: column 'rater_id' has 2 clusters, and an interval
    needs at least 3: leave the column out of clusters, and say that the result is
    about these 2 only
    """
    clusters = list(clusters)
    if not 1 <= len(clusters) <= 2:
        raise OptionError(
            f"{len(clusters)} columns of clusters: give one or two, for example "
            "clusters=['rater_id', 'prompt_id']"
        )
    check_columns(frame, clusters)
    labels = frame[clusters]
    is_large = hasattr(labels, "compute")
    if is_large:
        labels = labels.drop_duplicates().compute()
    for column in clusters:
        missing = labels[column].isna().sum()
        if missing:
            raise OptionError(
                f"column {column!r} has {missing} missing values: fill in or drop what "
                "is missing"
            )
        n_clusters = labels[column].nunique()
        if n_clusters < FEWEST_CLUSTERS:
            plural = "" if n_clusters == 1 else "s"
            raise OptionError(
                f"column {column!r} has {n_clusters} cluster{plural}, and an interval "
                f"needs at least {FEWEST_CLUSTERS}: leave the column out of clusters, "
                f"and say that the result is about these {n_clusters} only"
            )
    if len(clusters) == 2:
        first, second = clusters
        check_repeats(labels, first, second)
        check_repeats(labels, second, first)
    elif column == RATERS and not is_large and labels[column].is_unique:
        raise OptionError(
            f"nobody repeats in column {RATERS!r}: each of {len(labels)} values has "
            "one row. Is it a person, or the number of a submission? Name the column "
            "of people, or that of prompts"
        )


def check_columns(frame: pd.DataFrame, columns: Sequence[str]) -> None:
    """Refuse columns that are missing or occur twice."""
    for column in columns:
        n_columns = list(frame.columns).count(column)
        if n_columns == 0:
            names = ", ".join(str(name) for name in frame.columns)
            raise OptionError(
                f"column {column!r} is not in the table, which has: {names}"
            )
        if n_columns > 1:
            raise OptionError(
                f"{n_columns} columns are called {column!r}: give each its own name"
            )


def check_numeric(frame: pd.DataFrame, columns: Sequence[str]) -> None:
    """Refuse columns that are missing, named twice, not numeric or infinite."""
    columns = list(columns)
    check_columns(frame, columns)
    for position, column in enumerate(columns):
        if column in columns[:position]:
            raise OptionError(f"column {column!r} is named twice: name it once")
        values = frame[column]
        if not pd.api.types.is_numeric_dtype(values):
            raise OptionError(
                f"column {column!r} is of type {values.dtype}: convert it to numbers"
            )
        infinite = np.isinf(values.to_numpy(dtype=float, na_value=np.nan))
        if infinite.any():
            raise OptionError(
                f"column {column!r} is infinite in row {values.index[infinite][0]}: "
                "correct the value"
            )


def check_repeats(frame: pd.DataFrame, inner: str, outer: str) -> None:
    """Refuse a column each of whose clusters lies within one cluster of the other."""
    of_inner, labels = pd.factorize(frame[inner])
    of_outer, _ = pd.factorize(frame[outer])
    last_outer = np.empty(len(labels), dtype=np.int64)
    last_outer[of_inner] = of_outer
    if (last_outer[of_inner] == of_outer).all():
        raise OptionError(
            f"nobody repeats in column {inner!r}: each of its {len(labels)} values "
            f"stands with one {outer!r} only. Is it a person, or the number of a "
            f"submission? Name the column of people, or leave {inner!r} out: "
            f"clusters={outer!r} covers it"
        )


def check_rated_once(frame: pd.DataFrame, rater: str, item: str) -> None:
    """Refuse a table in which a rater rates an item twice."""
    # who is not known may be anybody
    known = frame.loc[frame[rater].notna(), [rater, item]]
    repeats = known.duplicated()
    if repeats.any():
        row = known[repeats].iloc[0]
        count = repeats.sum()
        rows = "row repeats" if count == 1 else "rows repeat"
        raise OptionError(
            f"{count} {rows} a rater of the same item, first {rater!r} "
            f"{row[rater]!r} of {item!r} {row[item]!r}: two ratings by one person are "
            f"no agreement; keep one of them, for example with "
            f"frame.drop_duplicates({[rater, item]})"
        )


def check_one_per_item(frame: pd.DataFrame, item: str, prompts: Sequence[str]) -> None:
    """Refuse items that lie in several prompts, or prompts of two kinds."""
    if len(prompts) > 1:
        raise OptionError(
            f"neither {prompts[0]!r} nor {prompts[1]!r} is a column of raters: name "
            "the column of raters and that of prompts as clusters"
        )
    for column in prompts:
        n_prompts = frame.groupby(item, observed=True)[column].nunique()
        if n_prompts.max() > 1:
            raise OptionError(
                f"{item!r} {n_prompts.idxmax()!r} has {n_prompts.max()} values of "
                f"{column!r}: an item needs one"
            )


def cluster_sums(
    frame: pd.DataFrame,
    terms: Sequence[str],
    clusters: Sequence[str],
    by: str | None = None,
) -> Sums:
    """Add up terms of rows by cluster.

    Parameters
    ----------
    frame : pandas.DataFrame or dask.dataframe.DataFrame
        One row per rating.
    terms : sequence of str
        Numeric columns to add up. They should be centred, since squares of numbers far
        from zero lose digits. Missing values count as zero.
    clusters : sequence of str
        One or two columns.
    by : str, optional
        Column of groups: each term then has a sum for each group, in sorted order, the
        groups of the first term before those of the next.

    Returns
    -------
    Sums

    Raises
    ------
    OptionError
        See `check_clusters`.

    Examples
    --------
    >>> frame = pd.DataFrame({"score": [1.0, 2, 4], "prompt_id": list("abc")})
    >>> cluster_sums(frame, ["score"], ["prompt_id"]).removed[0].tolist()
    [[1.0], [2.0], [4.0]]
    """
    check_clusters(frame, clusters)
    clusters = list(clusters)
    keys = clusters if by is None else [*clusters, by]
    cells = computed(frame.groupby(keys, observed=True)[list(terms)].sum())
    if by is not None:
        cells = cells.unstack(by, fill_value=0.0)
        groups = sorted(cells.columns.get_level_values(1).unique())
        pairs = pd.MultiIndex.from_product([list(terms), groups])
        cells = cells.reindex(columns=pairs)
    removed = [cells]
    if len(clusters) == 2:
        by_kind = [cells.groupby(level=kind, observed=True).sum() for kind in (0, 1)]
        removed = [*by_kind, cells]
    arrays = tuple(each.to_numpy(dtype=float) for each in removed)
    return Sums(arrays[0].sum(axis=0), arrays)


def item_sums(
    frame: pd.DataFrame,
    columns: Sequence[str],
    item: str,
    clusters: Sequence[str],
    terms: Callable[[np.ndarray], np.ndarray],
) -> Sums:
    """Add up terms of items, and what they lose without the ratings of each cluster.

    Parameters
    ----------
    frame : pandas.DataFrame or dask.dataframe.DataFrame
        One row per rating.
    columns : sequence of str
        Numeric columns that are added up by item, for example zeros and ones for each
        category.
    item : str
        Column of items.
    clusters : sequence of str
        One or two columns.
    terms : callable
        From sums of items, of shape (n_items, n_columns), to what is added up over
        items, of shape (n_items, n_sums).

    Returns
    -------
    Sums

    Raises
    ------
    OptionError
        See `check_clusters`.

    Examples
    --------
    The variance between ratings of an item changes with each rater:

    >>> frame = pd.DataFrame({"item_id": [1, 1, 1, 2, 2], "rater_id": list("abcab")})
    >>> frame = frame.assign(n=1.0, score=[1.0, 2, 3, 4, 4])
    >>> def mean(sums):
    ...     return sums[:, [1]] / np.maximum(sums[:, [0]], 1)
    >>> item_sums(frame, ["n", "score"], "item_id", ["rater_id"], mean).removed
    (array([[-0.5],
           [ 0. ],
           [ 0.5]]),)
    """
    check_clusters(frame, clusters)
    clusters = list(clusters)
    # a column of clusters can be that of the items
    keys = list(dict.fromkeys([*clusters, item]))
    own = computed(frame.groupby(keys, observed=True)[list(columns)].sum())
    own = own.reset_index()
    of_items = own.groupby(item, observed=True)[list(columns)].sum()
    all_terms = terms(of_items.to_numpy(dtype=float))
    kinds = [clusters] if len(clusters) == 1 else [clusters[:1], clusters[1:], clusters]
    removed = []
    for kind in kinds:
        pairs = list(dict.fromkeys([*kind, item]))
        ratings = own.groupby(pairs, observed=True)[list(columns)].sum()
        rows = of_items.index.get_indexer(ratings.index.get_level_values(item))
        own_sums = ratings.to_numpy(dtype=float)
        group = ratings.groupby(level=kind, observed=True).ngroup().to_numpy()
        lost = np.zeros((len(np.unique(group)), all_terms.shape[1]))
        # some at a time, since terms are many
        for start in range(0, len(rows), RATINGS_AT_ONCE):
            part = slice(start, start + RATINGS_AT_ONCE)
            left = of_items.to_numpy(dtype=float)[rows[part]] - own_sums[part]
            np.add.at(lost, group[part], all_terms[rows[part]] - terms(left))
        removed.append(lost)
    return Sums(all_terms.sum(axis=0), tuple(removed))


# The jackknife -------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Deletions:
    """What leaving out each cluster of one kind does to estimates, added up.

    Parameters
    ----------
    n_clusters : int
        Clusters that were left out.
    squares : numpy.ndarray, shape (n_estimates, n_estimates)
        Products of the changes of two estimates, summed over clusters.
    effective : numpy.ndarray, shape (n_estimates,)
        Clusters that would tell as much if each told equally much.
    """

    n_clusters: int
    squares: np.ndarray
    effective: np.ndarray

    def covariance(self) -> np.ndarray:
        """Covariance of the estimates by this kind of cluster."""
        return self.squares * (self.n_clusters - 1) / self.n_clusters


@dataclass(frozen=True, eq=False)
class Estimates:
    """Estimates, and their covariance by each kind of cluster.

    Parameters
    ----------
    value : pandas.Series
        The estimates by name.
    covariances : tuple of numpy.ndarray, each of shape (n_estimates, n_estimates)
        By one kind of cluster; or by each of two kinds, and by their cells.
    degrees : numpy.ndarray, shape (n_estimates,)
        Degrees of freedom of each estimate's variance.
    """

    value: pd.Series
    covariances: tuple[np.ndarray, ...]
    degrees: np.ndarray

    def variance(self) -> np.ndarray:
        """Variance of each estimate, never less than by one kind of cluster alone."""
        return joined_variance([np.diagonal(each) for each in self.covariances])

    def contrast(self, weights: pd.DataFrame) -> "Estimates":
        """Subtract estimates from each other, average them, or change their unit.

        Parameters
        ----------
        weights : pandas.DataFrame, shape (n_contrasts, n_estimates)
            How much each estimate counts, with the names of the results as index.

        Returns
        -------
        Estimates
            With the degrees of freedom of the estimate that has the fewest of those
            that count.
        """
        matrix = weights.to_numpy(dtype=float)
        is_used = matrix != 0
        covariances = []
        for each in self.covariances:
            covariances.append(_of_contrasts(matrix, each))
        degrees = np.where(is_used, self.degrees, np.inf).min(axis=1)
        value = np.where(is_used, self.value.to_numpy(), 0.0)
        value = pd.Series((matrix * value).sum(axis=1), index=weights.index)
        return Estimates(value, tuple(covariances), degrees)

    def difference(self, first: object, second: object) -> "Estimates":
        """Subtract one estimate from another."""
        weights = pd.DataFrame(0.0, [f"{first} - {second}"], self.value.index)
        weights[first] += 1.0
        weights[second] -= 1.0
        return self.contrast(weights)

    def ratio(self, first: object, second: object) -> pd.DataFrame:
        """Divide one estimate by another, with Fieller's interval; see `fieller`."""
        pair = [self.value.index.get_loc(first), self.value.index.get_loc(second)]
        covariances = [each[np.ix_(pair, pair)] for each in self.covariances]
        degrees = self.degrees[pair].min()
        low, high = fieller(*self.value.iloc[pair], covariances, degrees)
        estimate = self.value[first] / self.value[second]
        row = {"estimate": estimate, "low": low, "high": high, "df": degrees}
        return pd.DataFrame([row], index=[f"{first} / {second}"])

    def table(self) -> pd.DataFrame:
        """Set out the estimates with their intervals.

        Returns
        -------
        pandas.DataFrame
            ``estimate``, ``standard_error``, 95 % interval ``low`` and ``high``,
            ``p_value`` and ``df``, from a t distribution. All but the estimate are NaN
            where the variance is zero or an estimate needs one of the clusters.
        """
        value = self.value
        return t_table(value.to_numpy(), self.variance(), self.degrees, value.index)


def t_table(
    estimate: np.ndarray, variance: np.ndarray, degrees: np.ndarray, index: pd.Index
) -> pd.DataFrame:
    """Estimates with intervals and p-values from t, see `Estimates.table`."""
    estimate = estimate.astype(float)
    standard_error = np.where(variance > 0, np.sqrt(np.maximum(variance, 0)), np.nan)
    degrees = np.where(np.isnan(standard_error), np.nan, degrees)
    margin = t.ppf(0.5 + LEVEL / 2, degrees) * standard_error
    columns = {
        "estimate": estimate,
        "standard_error": standard_error,
        "low": estimate - margin,
        "high": estimate + margin,
        "p_value": 2 * t.sf(np.abs(estimate) / standard_error, degrees),
        "df": degrees,
    }
    return pd.DataFrame(columns, index=index)


def _of_contrasts(matrix: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Covariance of contrasts; an unknown variance matters only where it counts."""
    known = np.where(np.isnan(covariance), 0.0, covariance)
    result = matrix @ known @ matrix.T
    is_unknown = np.isnan(np.diagonal(covariance)).astype(float)
    is_lost = (matrix != 0) @ is_unknown > 0
    result[is_lost] = np.nan
    result[:, is_lost] = np.nan
    return result


def joined_variance(variances: Sequence[np.ndarray]) -> np.ndarray:
    """Variance by one kind of cluster, or by raters, by prompts and by their cells.

    What ratings share that share rater and prompt is in both variances, and is taken
    off once (Cameron, Gelbach and Miller 2011). By chance that can leave less than one
    of the two, or nothing; then the larger one is taken (MacKinnon, Nielsen and Webb
    2024).
    """
    if len(variances) == 1:
        return variances[0]
    first, second, cells = variances
    return np.maximum(first + second - cells, np.maximum(first, second))


def jackknife(
    sums: Sums,
    function: Callable[[np.ndarray], np.ndarray],
    names: Sequence,
    information: Callable[[np.ndarray], np.ndarray],
) -> Estimates:
    """Compute functions of sums, and how they move without each cluster (CRV3).

    Parameters
    ----------
    sums : Sums
        From `cluster_sums` or `item_sums`.
    function : callable
        From sums, of shape (n_sets, n_sums), to estimates, (n_sets, n_estimates); NaN
        where one is not defined.
    names : sequence
        Of the estimates.
    information : callable
        From the sums of clusters, of shape (n_clusters, n_sums), to how much each
        cluster tells about each estimate, in any unit: (n_clusters, n_estimates).

    Returns
    -------
    Estimates
        Degrees of freedom are the fewest effective clusters of a kind, less one, at
        least one.

    References
    ----------
    MacKinnon, Nielsen and Webb (2024), Jackknife Inference with Two-Way Clustering;
    Carter, Schnepel and Steigerwald (2017), for the effective number of clusters.

    Examples
    --------
    >>> frame = pd.DataFrame({"score": [1.0, 2, 2, 4, 3, 5], "n": 1.0})
    >>> frame["prompt_id"] = list("aabbcc")
    >>> sums = cluster_sums(frame, ["score", "n"], ["prompt_id"])
    >>> mean = jackknife(
    ...     sums, lambda s: s[:, [0]] / s[:, [1]], ["score"], lambda s: s[:, [1]])
    >>> mean.table().round(2)
           estimate  standard_error   low  high  p_value   df
    score      2.83            0.73 -0.29  5.96     0.06  2.0
    """
    estimate = function(sums.total[None])[0]
    deletions = []
    for removed in sums.removed:
        deletions.append(_leave_out(sums.total, removed, function, information))
    # degrees of freedom follow from raters and prompts, not from their cells
    fewest = np.minimum.reduce([each.effective for each in deletions[:2]])
    covariances = tuple(each.covariance() for each in deletions)
    value = pd.Series(estimate, index=names)
    return Estimates(value, covariances, np.maximum(fewest - 1, 1.0))


def _leave_out(
    total: np.ndarray, removed: np.ndarray, function: Callable, information: Callable
) -> Deletions:
    """Leave out each cluster of one kind, some at a time."""
    estimate = function(total[None])
    n_names = estimate.shape[1]
    squares = np.zeros((n_names, n_names))
    for start in range(0, len(removed), SETS_AT_ONCE):
        left = total - removed[start : start + SETS_AT_ONCE]
        # what is left of a sum that is gone is no more than a rounding error
        left[np.abs(left) < ROUNDING * np.abs(total)] = 0.0
        changes = function(left) - estimate
        squares += changes.T @ changes
    effective = effective_number(information(removed))
    return Deletions(len(removed), squares, effective)


def by_group(
    groups: np.ndarray,
    clusters: np.ndarray,
    x: np.ndarray,
    y: np.ndarray | None = None,
) -> pd.DataFrame:
    """Mean of x in each group, or its correlation with y, without each cluster.

    The same numbers as `group_means` or `correlations` of one group at a time.

    Parameters
    ----------
    groups, clusters : numpy.ndarray of int, shape (n_rows,)
        From `pandas.factorize`.
    x, y : numpy.ndarray, shape (n_rows,)
        Without gaps.

    Returns
    -------
    pandas.DataFrame
        By group: ``n``, ``n_clusters``, and the columns of `Estimates.table`.

    Examples
    --------
    >>> by_group(np.zeros(4, int), np.arange(4), np.arange(4.0))[["estimate", "df"]]
       estimate   df
    0       1.5  3.0
    """
    n = np.bincount(groups)
    means = np.bincount(groups, x) / n
    x = x - means[groups]
    terms = [np.ones(len(x)), x]
    if y is not None:
        y = y - (np.bincount(groups, y) / n)[groups]
        terms = list(power_terms(x, y, terms[0]).values())
    n_kinds = int(clusters.max()) + 1
    cells, cell = np.unique(groups * n_kinds + clusters, return_inverse=True)
    group = cells // n_kinds
    removed = np.column_stack([np.bincount(cell, term) for term in terms])
    total = np.column_stack([np.bincount(group, each) for each in removed.T])
    left = total[group] - removed
    left[np.abs(left) < ROUNDING * np.abs(total[group])] = 0.0
    if y is None:
        estimate = means
        changes = ratio(left[:, 1], left[:, 0])
        information = removed[:, 0]
    else:
        estimate = correlation_of_sums(total)[:, 0]
        changes = correlation_of_sums(left)[:, 0] - estimate[group]
        with np.errstate(invalid="ignore"):  # groups that do not vary
            information = _shared_variation(total[group])(removed)[:, 0]
    n_clusters = np.bincount(group)
    squares = np.bincount(group, changes**2)
    effective = ratio(
        np.bincount(group, information) ** 2, np.bincount(group, information**2)
    )
    degrees = np.maximum(effective - 1, 1.0)
    variance = squares * (n_clusters - 1) / n_clusters
    table = t_table(estimate, variance, degrees, pd.RangeIndex(len(n)))
    table.insert(0, "n", n)
    table.insert(1, "n_clusters", n_clusters)
    return table


def effective_number(information: np.ndarray) -> np.ndarray:
    """Clusters that would tell as much if each told equally much (Kish 1965)."""
    return ratio(information.sum(axis=0) ** 2, (information**2).sum(axis=0))


def ratio(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Quotient, NaN where the denominator is not positive."""
    undefined = np.full(np.shape(numerator), np.nan)
    return np.divide(numerator, denominator, out=undefined, where=denominator > 0)


def all_differences(estimates: Estimates, seed: int = 0) -> pd.DataFrame:
    """Subtract every estimate from every one before it, with simultaneous intervals.

    Parameters
    ----------
    estimates : Estimates
        Two or more estimates of one fit, for example one for each system.
    seed : int, optional
        Of the random numbers that stand for the joint distribution.

    Returns
    -------
    pandas.DataFrame
        Indexed by ``first`` and ``second``: ``estimate``, the first minus the second,
        its ``standard_error``, ``low`` and ``high``, which in 95 % of studies contain
        all true differences at once, ``p_adjusted``, and ``df``. Intervals and p-values
        come from the largest of the t statistics (max-t, single step), drawn from a
        multivariate t distribution with the smallest of the degrees of freedom.

    References
    ----------
    Hothorn, Bretz and Westfall (2008), Simultaneous Inference in General Parametric
    Models.

    Examples
    --------
    >>> value = pd.Series({"elm": 3.2, "fir": 3.0, "oak": 2.5})
    >>> estimates = Estimates(value, (0.01 * np.eye(3),), np.full(3, 30.0))
    >>> all_differences(estimates)[["estimate", "low", "high"]].round(1)
                  estimate  low  high
    first second
    elm   fir          0.2 -0.1   0.5
          oak          0.7  0.4   1.0
    fir   oak          0.5  0.2   0.8
    """
    first, second = np.triu_indices(len(estimates.value), k=1)
    variances = []
    for covariance in estimates.covariances:
        own = np.diagonal(covariance)
        variances.append(own[first] + own[second] - 2 * covariance[first, second])
    standard_error = np.sqrt(np.maximum(joined_variance(variances), 0.0))
    standard_error[standard_error == 0] = np.nan
    value = estimates.value.to_numpy(dtype=float)
    difference = value[first] - value[second]
    statistic = np.abs(difference) / standard_error
    df = np.minimum(estimates.degrees[first], estimates.degrees[second])
    if len(first) == 1:
        critical = t.ppf(0.5 + LEVEL / 2, df)
        p_values = 2 * t.sf(statistic, df)
    else:
        largest = np.sort(_largest_statistics(estimates, df.min(), seed))
        critical = np.quantile(largest, LEVEL)
        n_larger = len(largest) - np.searchsorted(largest, statistic)
        p_values = (n_larger + 1) / (len(largest) + 1)
        p_values[np.isnan(statistic)] = np.nan
    names = estimates.value.index
    pairs = [names[first], names[second]]
    columns = {
        "estimate": difference,
        "standard_error": standard_error,
        "low": difference - critical * standard_error,
        "high": difference + critical * standard_error,
        "p_adjusted": p_values,
        "df": df,
    }
    index = pd.MultiIndex.from_arrays(pairs, names=["first", "second"])
    return pd.DataFrame(columns, index=index)


def _largest_statistics(estimates: Estimates, df: float, seed: int) -> np.ndarray:
    """Draw the largest t statistic of all differences if there are none."""
    covariance = estimates.covariances[0]
    if len(estimates.covariances) == 3:
        of_raters, of_prompts, of_cells = estimates.covariances
        covariance = of_raters + of_prompts - of_cells
    # the difference of variances can have negative eigenvalues by chance
    eigenvalues, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(eigenvalues, 0.0))
    rng = np.random.default_rng(seed)
    draws = rng.standard_normal((N_DRAWS, len(root))) @ root.T
    covariance = root @ root.T
    own = np.diagonal(covariance)
    largest = np.zeros(N_DRAWS)
    for number in range(len(root) - 1):
        others = slice(number + 1, None)
        variance = own[number] + own[others] - 2 * covariance[number, others]
        scale = np.sqrt(np.where(variance > ROUNDING * own.max(), variance, np.inf))
        statistics = np.abs(draws[:, [number]] - draws[:, others]) / scale
        np.maximum(largest, statistics.max(axis=1), out=largest)
    return largest / np.sqrt(rng.chisquare(df, N_DRAWS) / df)


# Means and correlations ----------------------------------------------------------


def group_means(
    frame: pd.DataFrame,
    columns: Sequence[str],
    clusters: Sequence[str],
    by: str | None = None,
    baseline: object = None,
) -> Estimates:
    """Mean of each column, or of each column and group, groups in sorted order.

    With a `baseline`, its mean is subtracted from that of each other group. Missing
    values are left out column by column.
    """
    columns = list(columns)
    clusters = list(clusters)
    keys = clusters if by is None else [*clusters, by]
    terms = frame[list(dict.fromkeys(keys))]
    means = computed(frame[columns].mean()).to_numpy(dtype=float)
    centred = []
    counted = []
    for number, column in enumerate(columns):
        centred.append(f"{number} centred")
        counted.append(f"{number} counted")
        values = frame[column].astype(float) - means[number]
        new = {centred[-1]: values, counted[-1]: (~values.isna()).astype(float)}
        terms = terms.assign(**new)
    sums = cluster_sums(terms, [*centred, *counted], clusters, by)
    groups = [None]
    names = pd.Index(columns)
    if by is not None:
        groups = sorted(computed(frame[by].dropna().unique()))
        names = pd.MultiIndex.from_product([columns, groups], names=["column", by])
    n_means = len(names)
    centres = np.repeat(means, len(groups))
    weights = np.eye(n_means)
    if baseline is not None:
        is_baseline = np.array([group == baseline for group in groups])
        of_groups = (np.eye(len(groups)) - is_baseline)[~is_baseline]
        weights = np.kron(np.eye(len(columns)), of_groups)
        names = names[names.get_level_values(by) != baseline]

    def value(sets: np.ndarray) -> np.ndarray:
        of_means = centres + ratio(sets[:, :n_means], sets[:, n_means:])
        # a mean that does not exist matters only where it has a weight
        is_missing = np.isnan(of_means).astype(float) @ (weights != 0).T > 0
        used = np.where(np.isnan(of_means), 0.0, of_means) @ weights.T
        return np.where(is_missing, np.nan, used)

    def information(removed: np.ndarray) -> np.ndarray:
        n = sums.total[n_means:]
        # part of a cluster in the variance that independent rows would give
        shares = removed[:, n_means:] / np.maximum(n, 1) ** 2
        return shares @ (weights**2).T

    return jackknife(sums, value, names, information)


def correlations(
    frame: pd.DataFrame,
    columns: Sequence[str],
    outcome: str,
    clusters: Sequence[str],
    *,
    fisher: bool = True,
) -> Estimates:
    """Pearson's correlations of columns with an outcome, missing values left out.

    With `fisher` they are inverse hyperbolic tangents, which `fisher_table` turns back;
    differences need the correlations themselves.
    """
    columns = list(columns)
    clusters = list(clusters)
    terms, labels = _power_columns(frame, columns, outcome, clusters)
    sums = cluster_sums(terms, labels, clusters)
    value = _on_fisher_scale if fisher else correlation_of_sums
    return jackknife(sums, value, columns, _shared_variation(sums.total))


def others_correlations(
    frame: pd.DataFrame,
    columns: Sequence[str],
    outcome: str,
    item: str,
    clusters: Sequence[str],
    *,
    fisher: bool = True,
) -> Estimates:
    """Correlations of a rater's columns with the mean outcome by the item's others."""
    columns = list(columns)
    clusters = list(clusters)
    terms, labels = _power_columns(frame, columns, outcome, [*clusters, item])

    def of_items(sums: np.ndarray) -> np.ndarray:
        n, x, y, xx, yy, xy = np.split(sums, 6, axis=1)
        has_other = n >= 2
        others = np.where(has_other, n - 1, 1.0)
        # y of a row becomes the mean of the others: (sum of the item - own) / others
        mean_squares = ((n - 2) * y**2 + yy) / others**2
        parts = [n, x, y, xx, mean_squares, (x * y - xy) / others]
        return np.concatenate(
            [np.where(has_other, part, 0.0) for part in parts], axis=1
        )

    sums = item_sums(terms, labels, item, clusters, of_items)
    value = _on_fisher_scale if fisher else correlation_of_sums
    return jackknife(sums, value, columns, _shared_variation(sums.total))


def correlations_of_means(
    frame: pd.DataFrame,
    columns: Sequence[str],
    outcome: str,
    item: str,
    clusters: Sequence[str],
    *,
    rater: str = RATERS,
    fisher: bool = True,
) -> Estimates:
    """Correlations of means over the ratings of each item.

    Prompts are left out. Raters count by how the correlation changes with a rater's
    weight in the means (infinitesimal jackknife), see
    `helpers.regression.least_squares_of_means`.
    """
    columns = list(columns)
    check_clusters(frame, clusters)
    value = _on_fisher_scale if fisher else correlation_of_sums
    numbers = [*columns, outcome]
    items, _ = pd.factorize(frame[item], sort=True)
    n = frame.groupby(item)[numbers].transform("count").to_numpy()
    means = frame.groupby(item)[numbers].mean()
    means -= means.mean()
    of_rating = means.to_numpy()[items]
    own = frame[numbers] - frame.groupby(item)[numbers].transform("mean")
    moved = np.nan_to_num(own.to_numpy(dtype=float) / np.maximum(n, 1))
    means = means.reset_index()
    first = frame.drop_duplicates(item).sort_values(item)
    kinds = [[column] for column in clusters]
    if len(kinds) == 2:
        kinds.append(list(clusters))
    prompts = [column for column in clusters if column != rater]
    check_one_per_item(frame, item, prompts)
    means = pd.concat([means, first[prompts].reset_index(drop=True)], axis=1)
    terms, _ = _power_columns(means, columns, outcome, [item])
    of_items = terms.drop(columns=item).to_numpy()
    total = of_items.sum(axis=0)
    information = _shared_variation(total)
    shares = information(of_items) / np.bincount(items)[:, None]

    # derivatives of n, x, y, xx, yy and xy with respect to the weight of a rating
    x, y = of_rating[:, :-1], of_rating[:, [-1]]
    dx, dy = moved[:, :-1], moved[:, [-1]]
    parts = [0 * x, dx, dy + 0 * x, 2 * x * dx, 2 * y * dy + 0 * x, x * dy + y * dx]
    lost = ~np.isfinite(np.concatenate([x + y] * 6, axis=1))
    derivatives = np.where(lost, 0.0, np.concatenate(parts, axis=1))
    deletions = []
    for kind in kinds:
        if kind == prompts:
            removed = terms.groupby(means[prompts[0]]).sum(numeric_only=True)
            removed = removed[terms.columns.drop(item)].to_numpy()
            found = _leave_out(total, removed, value, information)
        else:
            keys = [frame[column].to_numpy() for column in kind]
            of_kind = pd.DataFrame(derivatives).groupby(keys).sum().to_numpy()
            found = _reweigh(total, of_kind, value)
        keys = [frame[column].to_numpy() for column in kind]
        told = pd.DataFrame(shares[items]).groupby(keys).sum().to_numpy()
        effective = effective_number(told)
        deletions.append(Deletions(found.n_clusters, found.squares, effective))
    fewest = np.minimum.reduce([each.effective for each in deletions[:2]])
    covariances = tuple(each.covariance() for each in deletions)
    estimate = pd.Series(value(total[None])[0], index=columns)
    return Estimates(estimate, covariances, np.maximum(fewest - 1, 1.0))


def _reweigh(total: np.ndarray, derivatives: np.ndarray, value: Callable) -> Deletions:
    """Derivatives of a function of sums with respect to the weight of each cluster."""
    step = 1e-4
    changes = value(total + step * derivatives) - value(total - step * derivatives)
    changes /= 2 * step
    n = len(changes)
    # their squares are the variance, which `covariance` is not to shrink
    squares = changes.T @ changes * n / (n - 1)
    return Deletions(n, squares, np.full(changes.shape[1], np.nan))


def rank_correlations(
    frame: pd.DataFrame,
    columns: Sequence[str],
    outcome: str,
    clusters: Sequence[str],
    n_boot: int,
    seed: int,
) -> pd.DataFrame:
    """Spearman's correlations in all rows, and in each resample of clusters."""
    check_clusters(frame, clusters)
    times = times_drawn(frame[list(clusters)], n_boot, seed)
    times = np.vstack([np.ones(len(frame)), times])
    values = frame[[*columns, outcome]].to_numpy(dtype=float, na_value=np.nan)
    draws = {}
    for number, column in enumerate(columns):
        pair = values[:, [number, -1]]
        is_known = ~np.isnan(pair).any(axis=1)
        draws[column] = [
            _rank_correlation(pair[is_known], weights[is_known]) for weights in times
        ]
    return pd.DataFrame(draws)


def _rank_correlation(pair: np.ndarray, weights: np.ndarray) -> float:
    """Spearman's correlation of rows that each count several times."""
    ranks = np.column_stack([_mean_ranks(column, weights) for column in pair.T])
    centred = ranks - np.average(ranks, axis=0, weights=weights)
    products = (centred * weights[:, None]).T @ centred
    scale = products[0, 0] * products[1, 1]
    return products[0, 1] / np.sqrt(scale) if scale > 0 else np.nan


def _mean_ranks(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Ranks of rows that each count several times; equal values share the mean."""
    _, codes = np.unique(values, return_inverse=True)
    counts = np.bincount(codes, weights)
    return (counts.cumsum() - (counts - 1) / 2)[codes]


def _power_columns(
    frame: pd.DataFrame, columns: list[str], outcome: str, keys: list[str]
) -> tuple[pd.DataFrame, list[str]]:
    """Columns of `power_terms` beside the keys; sums of one kind stand together."""
    means = computed(frame[[*columns, outcome]].mean())
    terms = frame[list(dict.fromkeys(keys))]
    y = frame[outcome].astype(float) - means[outcome]
    by_kind = {}
    for number, column in enumerate(columns):
        x = frame[column].astype(float) - means[column]
        # what has no partner does not count
        own_y = y + 0 * x
        x = x + 0 * y
        for kind, term in power_terms(x, own_y, (~x.isna()).astype(float)).items():
            label = f"{number} {kind}"
            by_kind.setdefault(kind, []).append(label)
            terms = terms.assign(**{label: term.fillna(0.0)})
    labels = [label for same in by_kind.values() for label in same]
    return terms[[*dict.fromkeys(keys), *labels]], labels


def power_terms(x: object, y: object, n: object) -> dict[str, object]:
    """Terms of a correlation: counts, values, squares and the product."""
    return {"n": n, "x": x, "y": y, "xx": x * x, "yy": y * y, "xy": x * y}


def correlation_of_sums(sums: np.ndarray) -> np.ndarray:
    """Correlations from sums of `power_terms`."""
    n, x, y, xx, yy, xy = np.split(sums, 6, axis=1)
    x_variation = ratio(n * xx - x**2, n)
    y_variation = ratio(n * yy - y**2, n)
    # what remains of a constant column is a rounding error
    varies = (x_variation > CONSTANT * xx) & (y_variation > CONSTANT * yy)
    scale = np.sqrt(np.where(varies, x_variation * y_variation, np.nan))
    return ratio(n * xy - x * y, n) / scale


def _on_fisher_scale(sums: np.ndarray) -> np.ndarray:
    """Inverse hyperbolic tangents of correlations."""
    with np.errstate(divide="ignore"):
        return np.arctanh(np.clip(correlation_of_sums(sums), -1.0, 1.0))


def _shared_variation(total: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Each cluster's share in the variation of both columns, summed."""
    n, x, y, xx, yy, _ = np.split(np.atleast_2d(total), 6, axis=1)
    x_mean = ratio(x, n)
    y_mean = ratio(y, n)

    def shares(removed: np.ndarray) -> np.ndarray:
        n_g, x_g, y_g, xx_g, yy_g, _ = np.split(removed, 6, axis=1)
        x_part = xx_g - 2 * x_mean * x_g + x_mean**2 * n_g
        y_part = yy_g - 2 * y_mean * y_g + y_mean**2 * n_g
        return x_part / (xx - x_mean * x) + y_part / (yy - y_mean * y)

    return shares


def fisher_table(estimates: Estimates) -> pd.DataFrame:
    """Set out `correlations` with intervals computed on Fisher's scale."""
    table = estimates.table()
    ends = ["estimate", "low", "high"]
    table[ends] = np.tanh(table[ends])
    table["standard_error"] *= 1 - table["estimate"] ** 2
    return table


# Rates, ratios, families and the bootstrap ----------------------------------------


def wilson(rate: ArrayLike, n: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Wilson's 95 % interval of rates from 0 to 1; n need not be whole."""
    rate = np.asarray(rate, dtype=float)
    n = np.where(np.asarray(n) > 0, n, np.nan)
    z = norm.ppf(0.5 + LEVEL / 2)
    middle = (rate + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * np.sqrt(rate * (1 - rate) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)


def effective_rows(
    rate: ArrayLike, variance: ArrayLike, df: ArrayLike, n: ArrayLike
) -> np.ndarray:
    """Independent rows that would tell as much about a rate (Korn and Graubard 1998).

    They are n over the design effect, at most n; fewer degrees of freedom of the
    variance count like fewer rows.
    """
    rate, variance, df, n = map(np.asarray, (rate, variance, df, n))
    factor = (t.ppf(0.5 + LEVEL / 2, np.inf) / t.ppf(0.5 + LEVEL / 2, df)) ** 2
    by_variance = ratio(rate * (1 - rate), variance)
    return np.where(variance > 0, np.fmin(by_variance, n) * factor, n)


def clopper_pearson_ends(n: ArrayLike) -> np.ndarray:
    """Highest rate that is compatible with none of n rows (exact, 95 %)."""
    return 1 - beta.ppf((1 - LEVEL) / 2, np.asarray(n, dtype=float), 1)


def fieller(
    numerator: float,
    denominator: float,
    covariances: Sequence[np.ndarray],
    df: float,
) -> tuple[float, float]:
    """Fieller's 95 % interval of a ratio of two estimates.

    Parameters
    ----------
    numerator, denominator : float
        The estimates.
    covariances : sequence of numpy.ndarray, each of shape (2, 2)
        One, or three: by the first kind of cluster, by the second and by their cells.
    df : float
        Degrees of freedom.

    Returns
    -------
    low, high : float
        All ratios r for which numerator - r * denominator is not significant, by the
        variance of `joined_variance`. NaN if the denominator itself is not significant:
        then no ratio is known.

    References
    ----------
    Fieller (1954), Some Problems in Interval Estimation.

    Examples
    --------
    >>> low, high = fieller(2.0, 1.0, [np.diag([0.04, 0.04])], 30)
    >>> round(low, 2), round(high, 2)
    (1.32, 3.48)
    """
    critical = t.ppf(0.5 + LEVEL / 2, df)
    variance = joined_variance([each[1, 1] for each in covariances])
    if not denominator**2 > critical**2 * variance:
        return np.nan, np.nan
    candidates = [covariances[0]]
    if len(covariances) == 3:
        first, second, cells = covariances
        candidates = [first, second, first + second - cells]
    lows = []
    highs = []
    # the largest of several variances rejects a ratio only if each of them does
    for covariance in candidates:
        square = denominator**2 - critical**2 * covariance[1, 1]
        middle = numerator * denominator - critical**2 * covariance[0, 1]
        rest = numerator**2 - critical**2 * covariance[0, 0]
        root = middle**2 - square * rest
        if root >= 0:
            lows.append((middle - np.sqrt(root)) / square)
            highs.append((middle + np.sqrt(root)) / square)
    if not lows:
        return np.nan, np.nan
    return float(min(lows)), float(max(highs))


def holm(p_values: ArrayLike) -> np.ndarray:
    """Correct a whole family of p-values by Holm's method (1979)."""
    p_values = np.asarray(p_values, dtype=float)
    order = p_values.argsort()
    # the smallest is multiplied by the number of tests, the next by one less, ...
    n_left = np.arange(len(order), 0, -1)
    adjusted = np.empty(len(order))
    # ... and none is smaller than the one before it
    adjusted[order] = np.maximum.accumulate(p_values[order] * n_left)
    return np.minimum(adjusted, 1.0)


def times_drawn(clusters: pd.DataFrame, n_boot: int, seed: int) -> np.ndarray:
    """How often each row is drawn if clusters are resampled: (n_boot, n_rows).

    Two kinds of clusters are resampled at once (pigeonhole, Owen 2007), which makes
    intervals wider rather than narrower.
    """
    if n_boot < 1:
        raise OptionError(f"n_boot must be at least 1, got {n_boot}")
    rng = np.random.default_rng(seed)
    times = np.ones((n_boot, len(clusters)))
    for column in clusters:
        codes, labels = pd.factorize(clusters[column], sort=True)
        n_clusters = len(labels)
        at_once = max(1, DRAWS_AT_ONCE // n_clusters)
        for start in range(0, n_boot, at_once):
            block = times[start : start + at_once]
            drawn = rng.integers(n_clusters, size=(len(block), n_clusters))
            # each resample has numbers of its own, so that one call counts them all
            drawn += n_clusters * np.arange(len(block))[:, None]
            counts = np.bincount(drawn.ravel(), minlength=drawn.size)
            block *= counts.reshape(drawn.shape)[:, codes]
    return times


def percentile_interval(draws: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """95 % interval of draws, of shape (n_boot, n_estimates), NaN draws left out."""
    frame = pd.DataFrame(np.asarray(draws, dtype=float))
    ends = frame.quantile([(1 - LEVEL) / 2, 0.5 + LEVEL / 2])
    return ends.iloc[0].to_numpy(), ends.iloc[1].to_numpy()
