"""Agreement and reliability, with intervals by leaving out items and raters in turn.

Both are computed from numbers that add up over items. So the sums without a cluster of
items, or without a rater, follow from what each item and each single rating adds, and
no table is gone through again. How far the estimate moves is the jackknife's error; t
has the smaller effective number of clusters less one as degrees of freedom.

With five raters or more that have names the interval allows for other raters and other
items, as in `ratings.inference`; otherwise for other items only, and is meant for these
raters.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from helpers.stats.jackknife import effective_number
from helpers.stats.moments import cluster_sums
from ratings.intake import FEWEST_RATERS, OTHERS, THESE

ROUNDING = 1e-18  # a variance below it is none
AT_ONCE = 4096  # leave-one-out sums from which a statistic is computed in one go

Statistic = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Sums:
    """Numbers that add up over items, with what each rating contributes.

    Parameters
    ----------
    items : numpy.ndarray, shape (n_items, n_numbers)
        What each item adds.
    cluster : numpy.ndarray of int, shape (n_items,)
        Its cluster.
    without : numpy.ndarray, shape (n_rows, n_numbers)
        What the item of a rating would add without it, less what it adds.
    item : numpy.ndarray of int, shape (n_rows,)
        The item of each rating.
    rater : numpy.ndarray of int, shape (n_rows,), optional
        Who gave it, if raters have names.
    """

    items: np.ndarray
    cluster: np.ndarray
    without: np.ndarray
    item: np.ndarray
    rater: np.ndarray | None = None

    @property
    def for_others(self) -> bool:
        """Whether there are enough raters with names to speak of others."""
        return self.rater is not None and self.rater.max() + 1 >= FEWEST_RATERS

    def table(self, statistic: Statistic, names: list) -> pd.DataFrame:
        """Compute a statistic with its intervals.

        Parameters
        ----------
        statistic : callable
            Takes sums, shape (n_sets, n_numbers), and gives numbers, shape (n_sets,
            n_names).
        names : list
            Of these numbers.

        Returns
        -------
        pandas.DataFrame
            ``estimate``, ``low`` and ``high`` (none without any variance, and never
            above 1, which no agreement and no reliability can exceed), ``df``, and
            ``scope``, of whom they speak.
        """
        total = self.items.sum(axis=0)
        estimate = statistic(total[None])[0]
        by_cluster = -cluster_sums(self.items, self.cluster)
        variance = _variance(statistic, total, estimate, by_cluster)
        df = effective_number(self.cluster[self.item]) - 1
        if self.for_others:
            by_rater = cluster_sums(self.without, self.rater)
            pair = self.rater * (self.cluster.max() + 1) + self.cluster[self.item]
            by_both = cluster_sums(self.without, pair)
            of_raters = _variance(statistic, total, estimate, by_rater)
            of_both = _variance(statistic, total, estimate, by_both)
            # A pair of ratings is lost with either of its raters, so that its noise
            # counts twice by rater and by both; by item it counts once.
            people = np.maximum(of_raters - of_both, 0)
            df_raters = effective_number(self.rater) - 1
            parts = variance**2 / df + people**2 / df_raters
            variance = variance + people
            with np.errstate(invalid="ignore", divide="ignore"):
                df = np.where(parts > 0, variance**2 / parts, df)
        df = np.maximum(df, 1.0)
        error = np.where(variance > ROUNDING, np.sqrt(variance), np.nan)
        margin = stats.t.ppf(0.975, df) * error
        columns = {
            "estimate": estimate,
            "low": estimate - margin,
            "high": np.minimum(estimate + margin, 1.0),
            "df": df,
            "scope": OTHERS if self.for_others else THESE,
        }
        return pd.DataFrame(columns, index=names)


def _variance(
    statistic: Statistic, total: np.ndarray, estimate: np.ndarray, changes: np.ndarray
) -> np.ndarray:
    """The jackknife's variance, from how sums change without each group."""
    squares = np.zeros_like(estimate)
    for start in range(0, len(changes), AT_ONCE):
        without = statistic(total + changes[start : start + AT_ONCE])
        # without a group that holds all that differs there is no value
        squares = squares + ((without - estimate) ** 2).sum(axis=0)
    return squares * (len(changes) - 1) / len(changes)


def _codes(table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Number the items of rows, the cluster of each item, and raters."""
    codes = pd.factorize(table["item_id"])[0]
    _, first = np.unique(codes, return_index=True)
    cluster = pd.factorize(table["cluster"])[0][first]
    rater = None
    if "rater_id" in table:
        rater = pd.factorize(table["rater_id"])[0]
    return codes, cluster, rater


def alpha_of_marks(
    table: pd.DataFrame, column: str, marks: np.ndarray
) -> tuple[Sums, Statistic]:
    """Krippendorff's ordinal alpha, Gwet's AC1 and the share of pairs that agree.

    Parameters
    ----------
    table : pandas.DataFrame
        One row per rating: ``item_id``, ``cluster``, perhaps ``rater_id`` with one
        rating of an item each, and the column, without gaps.
    column : str
        Column of marks.
    marks : numpy.ndarray
        All marks, the lowest first.

    Returns
    -------
    Sums
        Of pairs of marks within items, marks, and items.
    callable
        Gives alpha, AC1 and the share of agreeing pairs from sums.

    Examples
    --------
    >>> table = pd.DataFrame({"item_id": [1, 1, 2, 2, 3, 3]})
    >>> table = table.assign(cluster=table["item_id"], tone=[1, 1, 2, 2, 3, 2])
    >>> sums, statistic = alpha_of_marks(table, "tone", np.array([1, 2, 3]))
    >>> sums.table(statistic, ["alpha", "AC1", "same"])["estimate"].round(2).to_dict()
    {'alpha': 0.78, 'AC1': 0.52, 'same': 0.67}
    """
    item, cluster, rater = _codes(table)
    mark = np.searchsorted(marks, table[column].to_numpy())
    n_marks = len(marks)
    counts = np.zeros((item.max() + 1, n_marks))
    np.add.at(counts, (item, mark), 1)
    by_item = _of_counts(counts)
    less = counts[item]
    less[np.arange(len(item)), mark] -= 1
    without = _of_counts(less) - by_item[item]

    def statistic(sums: np.ndarray) -> np.ndarray:
        pairs = sums[:, : n_marks**2].reshape(-1, n_marks, n_marks)
        agreeing, with_pair, rated = sums[:, n_marks**2 : n_marks**2 + 3].T
        shares = sums[:, n_marks**2 + 3 :] / rated[:, None]
        same = agreeing / with_pair
        chance = (shares * (1 - shares)).sum(axis=1) / max(n_marks - 1, 1)
        ac1 = (same - chance) / (1 - chance)
        return np.column_stack([_ordinal_alpha(pairs), ac1, same])

    return Sums(by_item, cluster, without, item, rater), statistic


def _of_counts(counts: np.ndarray) -> np.ndarray:
    """What items add: pairs of marks, agreement, whether they have pairs, shares."""
    n_marks = counts.shape[1]
    n = counts.sum(axis=1)
    ordered = counts[:, :, None] * (counts[:, None, :] - np.eye(n_marks))
    pairs = ordered / np.maximum(n - 1, 1)[:, None, None]
    agreeing = (counts * (counts - 1)).sum(axis=1) / np.maximum(n * (n - 1), 1)
    shares = counts / np.maximum(n, 1)[:, None]
    flat = pairs.reshape(len(counts), n_marks**2)
    return np.column_stack([flat, agreeing, n >= 2, n >= 1, shares])


def _ordinal_alpha(pairs: np.ndarray) -> np.ndarray:
    """Krippendorff's alpha for ordered marks, of several tables of pairs."""
    margins = pairs.sum(axis=2)
    place = margins.cumsum(axis=1) - margins / 2
    distances = (place[:, :, None] - place[:, None, :]) ** 2
    observed = (pairs * distances).sum(axis=(1, 2))
    products = margins[:, :, None] * margins[:, None, :]
    expected = (products * distances).sum(axis=(1, 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        return 1 - (margins.sum(axis=1) - 1) * observed / expected


def alpha_of_numbers(table: pd.DataFrame, column: str) -> tuple[Sums, Statistic]:
    """Krippendorff's interval alpha: 1 less the variance within items over all.

    Parameters
    ----------
    table : pandas.DataFrame
        As for `alpha_of_marks`.
    column : str
        Column of numbers.

    Returns
    -------
    Sums
        Of ratings, values, their squares, and variances within items.
    callable
        Gives alpha from sums.

    Examples
    --------
    >>> table = pd.DataFrame({"item_id": [1, 1, 2, 2], "tone": [10.0, 12, 30, 34]})
    >>> table["cluster"] = table["item_id"]
    >>> sums, statistic = alpha_of_numbers(table, "tone")
    >>> sums.table(statistic, ["alpha"])["estimate"].round(2).to_dict()
    {'alpha': 0.97}
    """
    item, cluster, rater = _codes(table)
    by_item, without = _moments(table[column].to_numpy(dtype=float), item)
    has_pair = by_item[:, :1] >= 2
    n, total, squares = by_item.T
    within = _within(n, total, squares)
    used = has_pair * np.column_stack([n, total, squares, within])
    left_n, left_total, left_squares = without.T
    left = np.column_stack([*without.T, _within(left_n, left_total, left_squares)])
    left *= left_n[:, None] >= 2

    def statistic(sums: np.ndarray) -> np.ndarray:
        n, total, squares, within = sums.T
        with np.errstate(invalid="ignore", divide="ignore"):
            variance = (squares - total**2 / n) / (n - 1)
            return (1 - within / n / variance)[:, None]

    return Sums(used, cluster, left - used[item], item, rater), statistic


def _moments(values: np.ndarray, item: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number, sum and sum of squares of each item; and without each of its ratings."""
    values = values - values.mean()  # sums of squares lose fewer digits
    own = np.column_stack([np.ones(len(values)), values, values**2])
    by_item = cluster_sums(own, item)
    return by_item, by_item[item] - own


def _within(n: np.ndarray, total: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """Number of ratings times the variance within each item."""
    around = np.maximum(squares - total**2 / np.maximum(n, 1), 0)
    return n * around / np.maximum(n - 1, 1)


def reliability_of_means(
    table: pd.DataFrame, column: str, numbers: tuple
) -> tuple[Sums, Statistic]:
    """Share of the variance of means of several ratings that lies between items.

    Parameters
    ----------
    table : pandas.DataFrame
        As for `alpha_of_marks`.
    column : str
        Column of numbers.
    numbers : tuple of int
        How many ratings are in a mean.

    Returns
    -------
    Sums
        Of items, ratings, and sums of squares.
    callable
        Gives a share for each number.
    """
    item, cluster, rater = _codes(table)
    by_item, without = _moments(table[column].to_numpy(dtype=float), item)
    sums = _of_moments(by_item)
    left = _of_moments(without) - sums[item]

    def statistic(sums: np.ndarray) -> np.ndarray:
        n_items, n_ratings, total, between, squared_sizes, within = sums.T
        noise = within / (n_ratings - n_items)
        mean_square = (between - total**2 / n_ratings) / (n_items - 1)
        # The mean square of items holds their variance n_0 times, where n_0 is the size
        # that counts if sizes differ: (ratings - sum of n² / ratings) / (items - 1).
        degrees = n_ratings - squared_sizes / n_ratings
        of_items = np.maximum(mean_square - noise, 0) * (n_items - 1) / degrees
        of_items = of_items[:, None]
        with np.errstate(invalid="ignore"):  # where neither items nor ratings differ
            return of_items / (of_items + noise[:, None] / np.array(numbers))

    return Sums(sums, cluster, left, item, rater), statistic


def _of_moments(moments: np.ndarray) -> np.ndarray:
    """What items add to a one-way analysis of variance."""
    n, total, squares = moments.T
    between = total**2 / np.maximum(n, 1)
    within = np.maximum(squares - between, 0)
    return np.column_stack([n > 0, n, total, between, n**2, within])
