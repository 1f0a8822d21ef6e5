"""Ratings that can be analysed, in memory or in a folder of Parquet files.

Whatever is computed of a `Study` is made from sums over its ratings, so that a
`LargeStudy`, which goes over them part by part, gives the same numbers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pandas as pd

from helpers.stats import leave_out
from helpers.stats.leave_out import LeftOut, Statistic

FEWEST_RATERS = 5  # from whom others can be told
ROWS_PER_RATER = 5  # on average, for raters to be compared with themselves
ROWS_PER_SYSTEM = 10  # on average, for systems to be told apart
OTHERS = "raters and items like these"  # of whom a conclusion speaks
THESE = "these raters"


def left_out_in_turn(n_raters: int, n_clusters: int, n_pairs: int) -> list[str]:
    """Columns that are left out in turn: raters and clusters of items, if they cross.

    If each rater rated in one cluster only (there are as many pairs of both as raters),
    or each cluster has one rater only, the larger units are left out, and with them the
    smaller ones. Fewer than five raters are not left out: nobody can tell others from
    them.
    """
    if n_raters < FEWEST_RATERS or n_pairs == n_raters:
        return ["cluster"]
    if n_pairs == n_clusters:
        return ["rater_id"]
    return ["rater_id", "cluster"]


def scope_of(n_raters: int) -> str:
    """Tell of whom an interval speaks: of others like these from five raters on."""
    return OTHERS if n_raters >= FEWEST_RATERS else THESE


@dataclass(frozen=True, eq=False)
class Counts:
    """How much there is, added up over the parts of a file.

    Parameters
    ----------
    rows : int
        Ratings.
    clusters, pairs : int
        Clusters of items, and pairs of a cluster and a rater.
    raters, systems : pandas.Series of int
        Ratings of each; empty if the file names none.
    marks : dict of str to pandas.Series of int
        How often each mark was given, by column.
    """

    rows: int
    clusters: int
    pairs: int
    raters: pd.Series
    systems: pd.Series
    marks: dict[str, pd.Series]


@dataclass(frozen=True, eq=False)
class Study:
    """Ratings that can be analysed. Made by `prepare`.

    Parameters
    ----------
    frame : pandas.DataFrame
        Complete ratings, aspects and outcome in their own marks, with ``item_id``,
        ``cluster`` and, where there are raters and systems, ``rater_id`` and
        ``system_id``.
    outcome : str
        Column to explain.
    aspects : list of str
        Columns that vary and are not made up of those before them.
    ends : pandas.DataFrame
        Of outcome and aspects, the lowest and highest mark, ``low`` and ``high``, and
        whether they are ``declared``.
    left_out : dict of str to str
        Why each of the other aspects is not analysed.
    identity : str
        How the outcome is computed from the aspects, if it is.
    collinear : list of list of str
        Groups of aspects that the ratings do not tell apart, those left out included.
    too_many : str
        Why no aspect can be judged with the others held equal, if there are too many of
        them.
    """

    frame: pd.DataFrame
    outcome: str
    aspects: list[str]
    ends: pd.DataFrame
    left_out: dict[str, str] = field(default_factory=dict)
    identity: str = ""
    collinear: list[list[str]] = field(default_factory=list)
    too_many: str = ""

    def described(self, **changes: object) -> "Study":
        """Describe the same ratings otherwise; what was counted is not counted again.

        The columns that are analysed can only become fewer.
        """
        study = replace(self, **changes)
        study.__dict__["counts"] = self.counts
        return study

    def over_parts(self, function: Callable[[pd.DataFrame], object]) -> list:
        """Apply a function to all ratings; of a large file, to one part at a time."""
        return [function(self.frame)]

    def leave_out(
        self, rows: Callable[[pd.DataFrame], np.ndarray], statistic: Statistic
    ) -> LeftOut:
        """Compute a statistic of rows made from ratings, without each cluster too."""
        by = self.frame[self.clusters]
        return leave_out.leave_out(rows(self.frame), by, statistic)

    @cached_property
    def counts(self) -> Counts:
        """How many ratings, clusters, raters and systems there are."""
        columns = [*self.aspects, self.outcome]
        parts = self.over_parts(lambda part: count_part(part, columns))
        marks = {}
        for column in columns:
            marks[column] = _added([part.marks[column] for part in parts])
        return Counts(
            rows=sum(part.rows for part in parts),
            clusters=sum(part.clusters for part in parts),
            pairs=sum(part.pairs for part in parts),
            raters=_added([part.raters for part in parts]),
            systems=_added([part.systems for part in parts]),
            marks=marks,
        )

    @property
    def is_within(self) -> bool:
        """Whether raters are compared with themselves: five ratings each on average."""
        n_raters = len(self.counts.raters)
        return 0 < ROWS_PER_RATER * n_raters <= self.counts.rows

    @property
    def has_systems(self) -> bool:
        """Whether systems can be told apart: ten ratings each on average."""
        n_systems = len(self.counts.systems)
        return n_systems >= 2 and ROWS_PER_SYSTEM * n_systems <= self.counts.rows

    @property
    def held(self) -> tuple[str, ...]:
        """What is held equal where aspects are weighed: raters, systems or both."""
        raters = ("rater_id",) if self.is_within else ()
        systems = ("system_id",) if self.has_systems else ()
        return raters + systems

    @property
    def clusters(self) -> list[str]:
        """What is left out in turn, see `left_out_in_turn`."""
        counts = self.counts
        return left_out_in_turn(len(counts.raters), counts.clusters, counts.pairs)

    @property
    def scope(self) -> str:
        """Of whom intervals speak, see `scope_of`."""
        return scope_of(len(self.counts.raters))

    @property
    def is_yes_no(self) -> bool:
        """Whether the outcome is 1 or 0, so that its means are shares."""
        low, high = self.ends.loc[self.outcome, ["low", "high"]]
        marks = self.counts.marks[self.outcome].index
        return (low, high) == (0, 1) and set(marks) <= {0.0, 1.0}

    def values(self, part: pd.DataFrame) -> np.ndarray:
        """Take aspects, from 0 to 1, and then the outcome from some ratings."""
        columns = [*self.aspects, self.outcome]
        values = part[columns].to_numpy(dtype=float, copy=True)
        ends = self.ends.loc[self.aspects]
        low = ends["low"].to_numpy(dtype=float)
        high = ends["high"].to_numpy(dtype=float)
        values[:, :-1] = (values[:, :-1] - low) / (high - low)
        return values

    def centred(
        self, held: Sequence[str], values: Callable[[pd.DataFrame], np.ndarray]
    ) -> Callable[[pd.DataFrame], np.ndarray]:
        """Make the function that takes off what raters, systems or both differ by.

        Their effects on the values are estimated together, by least squares; without
        any of them the mean is taken off.
        """
        held = list(held)
        cells = _added(self.over_parts(lambda part: _cells(part, values(part), held)))
        effects = effects_of(cells)

        def residuals(part: pd.DataFrame) -> np.ndarray:
            """Values less the effects of the labels of each rating."""
            rest = values(part)
            for column, by_label in effects.items():
                labels = part[column] if column in part else np.zeros(len(part))
                rest -= by_label.to_numpy()[by_label.index.get_indexer(labels)]
            return rest

        return residuals

    @cached_property
    def weights(self) -> LeftOut:
        """Weights of all aspects at once, with `held` held equal."""
        return self.weights_with(self.held)

    def weights_with(self, held: Sequence[str]) -> LeftOut:
        """Weights of all aspects at once, with raters or systems held equal."""
        rows = self.centred(held, self.values)
        return self.leave_out(rows, leave_out.slopes(pd.Index(self.aspects)))

    @cached_property
    def informative(self) -> pd.Series:
        """Number of clusters in which each aspect has another mark than the usual."""
        usual = {name: self.counts.marks[name].idxmax() for name in self.aspects}

        def count(part: pd.DataFrame) -> pd.Series:
            """Clusters of some ratings; all ratings of one are together."""
            numbers = {}
            for name, mark in usual.items():
                numbers[name] = part["cluster"][part[name] != mark].nunique()
            return pd.Series(numbers, dtype=int)

        return sum(self.over_parts(count))


def count_part(part: pd.DataFrame, columns: Sequence[str]) -> Counts:
    """Count what is in some ratings."""
    labels = {}
    for column in ("rater_id", "system_id"):
        known = part[column] if column in part else pd.Series(dtype=object)
        labels[column] = known.value_counts()
    n_pairs = 0
    if "rater_id" in part:
        raters = pd.factorize(part["rater_id"])[0]
        clusters = pd.factorize(part["cluster"])[0]
        n_pairs = len(np.unique(raters.astype(np.int64) * len(part) + clusters))
    marks = {column: part[column].value_counts() for column in columns}
    n_clusters = part["cluster"].nunique()
    return Counts(len(part), n_clusters, n_pairs, *labels.values(), marks)


def _added(parts: Sequence[pd.Series | pd.DataFrame]) -> pd.Series | pd.DataFrame:
    """Add up tables by their labels, which are sorted."""
    joined = pd.concat(parts)
    levels = list(range(joined.index.nlevels))
    return joined.groupby(level=levels, observed=True).sum()


def _cells(part: pd.DataFrame, values: np.ndarray, held: Sequence[str]) -> pd.DataFrame:
    """Numbers of ratings and sums of values by rater, system or both."""
    table = pd.DataFrame(values).assign(n=1.0)
    keys = [part[column].to_numpy() for column in held]
    if not keys:  # all ratings are in one cell
        keys = [np.zeros(len(part))]
        held = [""]
    return table.groupby(keys, observed=True).sum().rename_axis(list(held))


def effects_of(cells: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Estimate effects of the labels of one or two columns from sums.

    Parameters
    ----------
    cells : pandas.DataFrame
        Sums of values by label, or by both labels (raters and systems), and the number
        of ratings, ``n``.

    Returns
    -------
    dict of str to pandas.DataFrame
        By name of the column the least-squares effects of its labels on each of the
        values. With two columns those of the second have mean zero over its labels.

    Examples
    --------
    A system that is one point better, rated mostly by the strict rater:

    >>> index = pd.MultiIndex.from_tuples(
    ...     [("strict", "x"), ("strict", "y"), ("mild", "x"), ("mild", "y")],
    ...     names=["rater_id", "system_id"])
    >>> cells = pd.DataFrame({"score": [3.0, 8, 12, 5], "n": [3.0, 4, 3, 1]}, index)
    >>> effects_of(cells)["system_id"].round(2)
               score
    system_id
    x           -0.5
    y            0.5
    """
    n = cells["n"]
    sums = cells.drop(columns="n")
    if cells.index.nlevels == 1:
        return {cells.index.name: sums.div(n, axis="index")}
    first, second = cells.index.names
    counts = n.unstack(second, fill_value=0.0)
    n_first = counts.sum(axis="columns")
    n_second = counts.sum(axis="index")
    first_sums = sums.groupby(level=first).sum().loc[counts.index]
    second_sums = sums.groupby(level=second).sum().loc[counts.columns]
    # The normal equations of both, with the effects of the first put in.
    shares = counts.div(n_first, axis="index").to_numpy()
    matrix = np.diag(n_second) - counts.to_numpy().T @ shares
    right = second_sums.to_numpy() - shares.T @ first_sums.to_numpy()
    of_second = np.linalg.pinv(matrix, hermitian=True) @ right
    of_first = first_sums.to_numpy() - counts.to_numpy() @ of_second
    of_first /= n_first.to_numpy()[:, None]
    return {
        first: pd.DataFrame(of_first, counts.index, sums.columns),
        second: pd.DataFrame(of_second, counts.columns, sums.columns),
    }


@dataclass(frozen=True, eq=False)
class LargeStudy(Study):
    """A study whose ``frame`` is a Dask DataFrame. Made by `from_parquet`.

    Parameters
    ----------
    n_read : int
        Ratings in the files, complete or not.
    """

    n_read: int = 0

    def over_parts(self, function: Callable[[pd.DataFrame], object]) -> list:
        """Apply a function to one part of the ratings after the other."""
        import dask

        apply = dask.delayed(function)
        return list(dask.compute(*[apply(part) for part in self.frame.to_delayed()]))

    def leave_out(
        self, rows: Callable[[pd.DataFrame], np.ndarray], statistic: Statistic
    ) -> LeftOut:
        """Compute a statistic of rows made from ratings, without each cluster too."""
        return leave_out.leave_out_large(self.frame, rows, self.clusters, statistic)
