"""Ratings of any study made ready for analysis: complete, once, on one scale.

`findings` are what is odd about columns and rows before any analysis, for
`check_raters` in `ratings.raters`. `prepare` leaves out what cannot be used, and finds
out what the ratings cannot tell: columns whose scale is not settled, an outcome that is
computed from the aspects, and aspects that move together. Tables are those of
`ratings.recipes.read`.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from helpers.data.registry import DATA_SOURCES
from helpers.data.tables import BadTableError, OptionError
from helpers.stats.clustered import Slopes, cluster_members, slopes
from helpers.stats.moments import ROUNDING, cluster_sums
from ratings.accounts import Account

LARGEST_CODE = 2**62  # that fits into an integer
MOST_CLUSTERS = 2000  # more are joined, see `prepare`
MOST_ROWS = 20_000  # for methods that need the rows themselves, see `Study.sample`
FEWEST_ROWS = 10
FEWEST_CLUSTERS = 5
MOSTLY = 0.5  # an aspect that is missing in more rows than this is left out
FEW_CLUSTERS = 30
FEWEST_RATERS = 5  # from whom others can be told
OTHERS = "raters and items like these"  # of whom a conclusion speaks
THESE = "these raters"
ROWS_PER_RATER = 5  # on average, for raters to be compared with themselves

# Scales and marks that do not belong to them.
FEW_MARKS = 11  # a scale of up to so many marks can be looked at mark by mark
MOST_STEPS = 25  # of a scale that its marks tell
PERCENT = (0, 100)
# often written for "no answer"
MISSING_CODES = (-1, -9, -99, -999, 88, 99, 888, 999, 9999)
FAR = 3  # lengths of the usual marks, or steps between them: beyond, a mark is odd
RARE = 0.01  # of the ratings: the outermost marks with less do not make the usual ones
SETTLE = "no verdict before its scale is declared in `scales`, or the file corrected"

# What a column is a property of, the largest unit first, and what follows.
UNITS = {
    "system_id": "a system",
    "rater_id": "a rater",
    "prompt_id": "a cluster",
    "item_id": "an item",
}
WITHIN = {
    "a system": "it tells systems apart and nothing else: what goes with it may come "
    "from anything in which they differ",
    "a rater": "it tells raters apart and nothing else: within raters it says nothing",
    "a cluster": "all items of a cluster share it: it is no mark of each rating, and "
    "no agreement is computed on it",
    "an item": "all ratings of an item share it: one value written beside each, or "
    "full agreement; no agreement is computed on it",
}
SURE_ITEMS = 90  # with an unusual mark and no disagreement: 0.95 to the 90th is 0.01
SURE_VALUES = 10  # the same for columns of many values, on which people rarely agree

# Aspects that cannot be told apart, and outcomes that are computed from them.
REDUNDANT = 1e-6  # share of an aspect's variance that others must leave unexplained
ROWS_PER_ASPECT = 10  # that weights with all others held equal need
CLUSTERS_PER_ASPECT = 2
# of the variance of standardised aspects: a direction with less is not told apart
SAME = 0.01
# of the largest possible part in such a direction, or of the outcome's scale
PART = 0.05
COMPUTED = 0.98  # of the outcome's variance, explained by aspects: they are parts of it
MAY_BE_ROUNDED = 0.8  # of the outcome's variance, where it may be computed and rounded
# of a step: aspects that come so close to nearly all marks are parts, rounded
ROUNDED = 0.75


class Finding(NamedTuple):
    """Something that a reader should know about a table of ratings.

    Parameters
    ----------
    what : str
        What is odd.
    where : str
        Column or raters; empty if it is in all.
    rows : int
        Number of ratings.
    consequence : str
        What follows for the conclusions.
    affects : list of str
        Columns whose conclusions it touches, or ``["all"]``.
    """

    what: str
    where: str
    rows: int
    consequence: str
    affects: list[str]


def source(table: pd.DataFrame, data_source: str) -> str:
    """Say whether ratings are real: neither file nor reader calls them simulated.

    Parameters
    ----------
    table : pandas.DataFrame
        Ratings as `ratings.recipes.read` returns them.
    data_source : {"auto", "real", "simulated"}
        With ``"simulated"`` any file counts as simulated. With the others it counts as
        what it says in its column ``source``, so that simulated ratings never pass for
        real.

    Returns
    -------
    {"real", "simulated"}

    Raises
    ------
    tables.OptionError
        If there is no such choice.

    Examples
    --------
    >>> source(pd.DataFrame({"source": ["simulated"]}), "real")
    'simulated'
    """
    if data_source not in DATA_SOURCES:
        raise OptionError(
            f"data_source must be one of {DATA_SOURCES}, not {data_source!r}"
        )
    simulated = data_source == "simulated" or (table["source"] == "simulated").any()
    return "simulated" if simulated else "real"


def describe_file(table: pd.DataFrame, names_items: bool = True) -> str:
    """Count ratings, items, clusters and raters.

    Parameters
    ----------
    table : pandas.DataFrame
        Ratings as `ratings.recipes.read` returns them.
    names_items : bool, optional
        Whether the recipe names a column of items. If not, each row counts as one.

    Returns
    -------
    str
        A sentence.

    Examples
    --------
    >>> describe_file(pd.DataFrame({"item_id": [1, 1, 2], "prompt_id": [1, 1, 1]}))
    '3 ratings of 2 items in 1 cluster; the recipe names no raters.'
    """
    n_items = table["item_id"].nunique()
    n_clusters = table["prompt_id"].nunique()
    people = "the recipe names no raters"
    if "rater_id" in table:
        people = _count(table["rater_id"].nunique(), "rater")
    units = f"{_count(n_items, 'item')} in {_count(n_clusters, 'cluster')}"
    if not names_items:
        people = f"the recipe names no item: each row counts as one; {people}"
    return f"{_count(len(table), 'rating')} of {units}; {people}."


def _count(n: int, word: str) -> str:
    """Write a number with its noun."""
    return f"{n:,} {word}" if n == 1 else f"{n:,} {word}s"


def findings(
    table: pd.DataFrame, columns: Sequence[str], scales: Mapping
) -> Iterator[Finding]:
    """What a reader should know about columns, the outcome first, and rows."""
    yield from _missing(table, columns)
    yield from _constant(table, columns)
    yield from _constant_within(table, columns)
    yield from _off_scale(table, columns, scales)
    yield from _shared_items(table)
    yield from _repeated(_own_items(table))
    yield from _few_clusters(table)


def _missing(table: pd.DataFrame, columns: Sequence[str]) -> Iterator[Finding]:
    """Columns with empty cells."""
    outcome = columns[0]
    for column in columns:
        n_missing = int(table[column].isna().sum())
        if n_missing == 0:
            continue
        if column != outcome and n_missing > MOSTLY * len(table):
            consequence = "the aspect is left out"
            affects = [column]
        else:
            consequence = "these ratings are left out"
            affects = ["all"]
        yield Finding("missing", column, n_missing, consequence, affects)


def _constant(table: pd.DataFrame, columns: Sequence[str]) -> Iterator[Finding]:
    """Columns in which all ratings are the same."""
    consequence = "it says nothing and is left out"
    for column in columns:
        if _is_constant(table[column]):
            n_rows = int(table[column].count())
            yield Finding("always the same", column, n_rows, consequence, [column])


def _constant_within(table: pd.DataFrame, columns: Sequence[str]) -> Iterator[Finding]:
    """Columns that never vary within an item, a system, a rater or a cluster."""
    for column, unit in constant_within(table, columns).items():
        n_rows = int(table[column].count())
        what = f"never varies within {unit}"
        yield Finding(what, column, n_rows, WITHIN[unit], [column])


def constant_within(table: pd.DataFrame, columns: Sequence[str]) -> dict[str, str]:
    """Tell of which unit a column is a property, not a mark of each rating.

    Parameters
    ----------
    table : pandas.DataFrame
        Ratings as `ratings.recipes.read` returns them.
    columns : sequence of str
        Columns of marks.

    Returns
    -------
    dict of str to str
        The largest of the units ``"a system"``, ``"a rater"``, ``"a cluster"`` and
        ``"an item"`` within which the column never varies, though there are several
        ratings in it. Columns that do, or of which too few units tell it, are not
        there: raters who agree on 95 % of unusual marks do so in `SURE_ITEMS` items in
        a row once in a hundred times.

    Examples
    --------
    >>> item = np.arange(40) // 2
    >>> table = pd.DataFrame({"item_id": item, "prompt_id": item})
    >>> table = table.assign(length=item * 1.0, tone=np.arange(40) % 5)
    >>> constant_within(table, ["length", "tone"])
    {'length': 'a cluster'}
    """
    found = {}
    for column in columns:
        known = table[table[column].notna()]
        if known.empty or _is_constant(known[column]):
            continue
        for key, unit in UNITS.items():
            if key in known and _is_property(known, column, key):
                found[column] = unit
                break
    return found


def _is_property(known: pd.DataFrame, column: str, key: str) -> bool:
    """Tell whether a column has one value in each of enough units."""
    if _varies_within(known[column].to_numpy(), pd.factorize(known[key])[0]):
        return False
    by_unit = known.groupby(key, observed=True)[column]
    ends = by_unit.agg(["min", "max", "size"])
    ends = ends[ends["size"] > 1]
    if ends.empty:
        return False
    usual = known[column].mode().iloc[0]
    unusual = ends[ends["min"] != usual]
    if key in ("system_id", "rater_id"):  # these have many ratings each
        return len(ends) > 1 and unusual["size"].sum() >= SURE_ITEMS
    is_fine = known[column].nunique() > FEW_MARKS
    return len(unusual) >= (SURE_VALUES if is_fine else SURE_ITEMS)


def _varies_within(values: np.ndarray, unit: np.ndarray) -> bool:
    """Tell whether a unit holds two different values; rows without a unit are none."""
    values = values[unit >= 0]
    unit = unit[unit >= 0]
    any_of_unit = np.empty(unit.max(initial=-1) + 1)
    any_of_unit[unit] = values
    return bool((any_of_unit[unit] != values).any())


def _is_constant(values: pd.Series) -> bool:
    """Tell whether all numbers that there are in a column are the same."""
    return bool(values.min() == values.max())


def _off_scale(
    table: pd.DataFrame, columns: Sequence[str], scales: Mapping
) -> Iterator[Finding]:
    """Values that make it doubtful what the scale of a column is."""
    outcome = columns[0]
    for column, odd in odd_values(table, columns, scales).items():
        n_rows = int(odd.sum())
        marks = _first_marks(odd)
        consequence = f"is {marks} on the scale? Left out for now; {SETTLE}"
        affects = ["all"] if column == outcome else [column]
        yield Finding("far from the other marks", column, n_rows, consequence, affects)


def _first_marks(counts: pd.Series) -> str:
    """Write the first three of the marks that are counted."""
    text = ", ".join(f"{mark:g}" for mark in counts.index[:3])
    return f"{text} …" if len(counts) > 3 else text


def odd_values(
    table: pd.DataFrame, columns: Sequence[str], scales: Mapping
) -> dict[str, pd.Series]:
    """Count, by column, marks that are far from all others or look like "no answer".

    Columns with a declared scale have none. A zero is odd where other columns with the
    same highest mark begin at one.
    """
    counts = {}
    is_odd = {}
    usual = {}
    for column in columns:
        if column in scales:
            continue
        counts[column] = table[column].value_counts().sort_index()
        marks = counts[column].index.to_numpy()
        is_odd[column] = _is_odd(marks, counts[column].to_numpy())
        usual[column] = marks[~is_odd[column]]
    from_one = set()  # highest marks of the scales that begin at one
    for marks in usual.values():
        if 3 <= len(marks) <= FEW_MARKS and marks[0] == 1:
            from_one.add(marks[-1])
    for column, marks in usual.items():
        is_short = 4 <= len(marks) <= FEW_MARKS
        if is_short and marks[0] == 0 and marks[-1] in from_one:
            is_odd[column] |= counts[column].index == 0
    return {column: counts[column][odd] for column, odd in is_odd.items() if odd.any()}


def _is_odd(marks: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Tell which marks of a column are codes or far from the others."""
    is_coded = np.isin(marks, MISSING_CODES)
    others = marks[~is_coded]
    if is_coded.all() or len(others) < 2:
        return np.zeros(len(marks), dtype=bool)
    low = others[0]
    high = others[-1]
    # On a scale such as -1, 0, 1 the lowest mark is no code.
    is_negative = (marks < 0) & (low >= 0) & ((marks < -1) | (high >= 2))
    is_beyond = marks > high + FAR * (high - low)
    odd = is_coded & (is_negative | is_beyond)
    odd[~odd] = _is_far(marks[~odd], counts[~odd])
    return odd


def _is_far(marks: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Tell which marks are rare and beyond a gap.

    The gap is three steps wide on a scale of few marks, otherwise three times as wide
    as the middle 98 % of the ratings.
    """
    if len(marks) < 3:
        return np.zeros(len(marks), dtype=bool)
    if len(marks) <= FEW_MARKS:
        usual = marks[counts > RARE * counts.sum()]
        low = usual[0]
        high = usual[-1]
        reach = FAR * np.median(np.diff(marks))
    else:
        shares = counts.cumsum() / counts.sum()
        low, high = np.interp([RARE, 1 - RARE], shares, marks)
        reach = FAR * (high - low)
    return (marks < low - reach) | (marks > high + reach)


def _shared_items(table: pd.DataFrame) -> Iterator[Finding]:
    """Items that stand in several clusters."""
    if _own_items(table) is not table:
        what = "items with the same names in several clusters"
        yield Finding(what, "", len(table), "taken for other items", [])
        return
    pairs = table[["item_id", "prompt_id"]].drop_duplicates()
    shared = pairs["item_id"][pairs["item_id"].duplicated()]
    if len(shared):
        n_rows = int(table["item_id"].isin(shared).sum())
        consequence = "such clusters count as one"
        yield Finding("an item in several clusters", "", n_rows, consequence, ["all"])


def _own_items(table: pd.DataFrame) -> pd.DataFrame:
    """Give items other names in other clusters, if their numbers begin anew in each.

    That is so if most items stand in several clusters.
    """
    item = pd.factorize(table["item_id"])[0]
    cluster = pd.factorize(table["prompt_id"])[0]
    n_items = item.max(initial=0) + 1
    in_cluster = cluster * n_items + item
    if len(np.unique(in_cluster)) <= 1.5 * n_items:
        return table
    return table.assign(item_id=in_cluster)


def _repeated(table: pd.DataFrame) -> Iterator[Finding]:
    """Ratings of an item by the same person, or rows that are the same throughout."""
    if "rater_id" in table:
        is_again = _rated_again(table)
        what = "an item rated again by the same rater"
        consequence = "the first rating counts"
    else:
        is_again = table.duplicated()
        what = "same in all columns as a row before"
        consequence = "kept: without raters unclear"
    n_again = int(is_again.sum())
    if n_again:
        yield Finding(what, "", n_again, consequence, ["all"])


def _rated_again(table: pd.DataFrame) -> pd.Series:
    """Tell which ratings are not the first of an item by the same rater."""
    return table.duplicated(["item_id", "rater_id"])


def _few_clusters(table: pd.DataFrame) -> Iterator[Finding]:
    """Clusters that are too few for narrow intervals."""
    n_clusters = table["prompt_id"].nunique()
    if n_clusters < FEW_CLUSTERS:
        df = n_clusters - 1
        consequence = f"{df} degrees of freedom at most: intervals are wide"
        what = f"only {_count(n_clusters, 'cluster')}"
        yield Finding(what, "", len(table), consequence, ["all"])


@dataclass(frozen=True, eq=False)
class Study:
    """Ratings that can be analysed.

    Parameters
    ----------
    frame : pandas.DataFrame
        Complete ratings, aspects and outcome in their own marks, with ``item_id``,
        ``prompt_id``, ``rater_id`` and its number ``rater`` if there are raters, and
        ``cluster``: the number of the cluster, or of several joined.
    outcome : str
        Column to explain.
    aspects : list of str
        Columns that vary and are not made up of those before them.
    ends : pandas.DataFrame
        Lowest and highest mark of outcome and aspects: ``low`` and ``high``, and how
        they are ``known``: ``"declared"``, ``"by the marks"`` or ``"not known"``.
    left_out : dict of str to str
        Why each of the other aspects is not analysed.
    unsettled : dict of str to str
        Marks of a column of which it is not clear whether they are on its scale; left
        out for now.
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
    left_out: dict[str, str]
    unsettled: dict[str, str] = field(default_factory=dict)
    identity: str = ""
    collinear: list[list[str]] = field(default_factory=list)
    too_many: str = ""

    @property
    def is_within(self) -> bool:
        """Whether raters are compared with themselves: five ratings each on average."""
        if "rater_id" not in self.frame:
            return False
        n_raters = len(pd.unique(self.frame["rater"]))
        return len(self.frame) >= ROWS_PER_RATER * n_raters

    @property
    def is_yes_no(self) -> bool:
        """Whether the outcome is 1 or 0, so that its weights are shares."""
        low, high = self.ends.loc[self.outcome, ["low", "high"]]
        if (low, high) != (0, 1):
            return False
        return set(self.frame[self.outcome].unique()) <= {0.0, 1.0}

    @cached_property
    def values(self) -> np.ndarray:
        """Aspects from 0 to 1, and the outcome in the last column."""
        columns = [*self.aspects, self.outcome]
        values = self.frame[columns].to_numpy(dtype=float, copy=True)
        ends = self.ends.loc[self.aspects]
        low = ends["low"].to_numpy(dtype=float)
        high = ends["high"].to_numpy(dtype=float)
        values[:, :-1] = (values[:, :-1] - low) / (high - low)
        return values

    def centred(self, within: bool | None = None) -> np.ndarray:
        """`values` less the means of all ratings, or of each rater.

        Which of these is told by ``within``, by default as `is_within`.
        """
        if within is None:
            within = self.is_within
        if not within:
            return self.values - self.values.mean(axis=0)
        rater = pd.factorize(self.frame["rater"], sort=True)[0]
        n_ratings = np.bincount(rater)
        means = cluster_sums(self.values, rater) / n_ratings[:, None]
        centred = means[rater]
        return np.subtract(self.values, centred, out=centred)

    def slopes(self, alone: bool = False, within: bool | None = None) -> Slopes:
        """Slopes of the aspects that vary, of values `centred` as told by ``within``.

        See `helpers.stats.clustered.slopes`.
        """
        values = self.centred(within)
        x = values[:, :-1]
        y = values[:, -1]
        varies = _varies(x)
        names = [name for name, each in zip(self.aspects, varies, strict=True) if each]
        return slopes(x[:, varies], y, names, alone)

    def informative(self, by: str) -> np.ndarray:
        """Count clusters or raters with an unusual mark, aspect by aspect."""
        if by not in self.frame:
            return np.zeros(len(self.aspects), dtype=int)
        labels = self.frame[by].to_numpy()
        counts = []
        for marks in self.values[:, :-1].T:
            codes, _ = pd.factorize(marks)
            usual = np.bincount(codes).argmax()
            n_unusual = np.bincount(labels[codes != usual])
            counts.append(np.count_nonzero(n_unusual))
        return np.array(counts)

    @cached_property
    def for_others(self) -> np.ndarray:
        """Aspects in which enough raters vary to speak of others."""
        return self.informative("rater") >= FEWEST_RATERS

    @property
    def clusters(self) -> pd.DataFrame:
        """What ratings have in common that an estimate of all aspects must allow for.

        The clusters of items, and the raters if all aspects are `for_others`.
        """
        columns = ["rater", "cluster"] if self.for_others.all() else ["cluster"]
        return self.frame[columns]

    @cached_property
    def members(self) -> list[csr_array]:
        """What adds up rows by rater, cluster and both; by cluster without raters."""
        columns = ["rater", "cluster"] if "rater" in self.frame else ["cluster"]
        return cluster_members(self.frame[columns])

    @cached_property
    def kept(self) -> dict:
        """What was computed from these ratings and may be needed again, by name."""
        return {}

    def items_averaged(self) -> "Study":
        """One row per item, without raters."""
        values = self.frame[[*self.aspects, self.outcome]]
        items = [self.frame["cluster"], self.frame["item_id"]]
        means = values.groupby(items, observed=True).mean()
        return replace(self, frame=means.reset_index())

    def scaled(self) -> pd.DataFrame:
        """Put every aspect on a scale from 0, its lowest mark, to 1, its highest."""
        ends = self.ends.loc[self.aspects]
        length = ends["high"] - ends["low"]
        values = (self.frame[self.aspects] - ends["low"]) / length
        return self.frame.assign(**values)

    def sample(self, n_rows: int, rng: np.random.Generator) -> "Study":
        """Draw ratings at random where there are more than a method can take.

        Parameters
        ----------
        n_rows : int
            How many, at most.
        rng : numpy.random.Generator

        Returns
        -------
        Study
            With some of the ratings, in their order.
        """
        if len(self.frame) <= n_rows:
            return self
        drawn = np.sort(rng.choice(len(self.frame), n_rows, replace=False))
        return replace(self, frame=self.frame.iloc[drawn])


def prepare(
    table: pd.DataFrame,
    outcome: str,
    aspects: Sequence[str],
    rng: np.random.Generator,
    scales: Mapping[str, tuple[float, float]] | None = None,
    account: Account | None = None,
) -> Study:
    """Leave out what cannot be analysed, and say why.

    The first rating of an item by a rater counts, and only ratings with an outcome and
    every aspect; marks far from all others, on a scale that is not declared, are
    missing. Clusters that share an item are one. More than `MOST_CLUSTERS` clusters are
    joined at random into so many: these are as independent as single ones, and an
    interval from 2,000 of them is as good as any.

    Parameters
    ----------
    table : pandas.DataFrame
        Ratings as `ratings.recipes.read` returns them.
    outcome : str
        Column to explain.
    aspects : sequence of str
        Columns that may explain it.
    rng : numpy.random.Generator
        Joins clusters.
    scales : mapping of str to (float, float), optional
        Lowest and highest mark where they are known; otherwise the marks tell, if they
        can.
    account : Account, optional
        Told which ratings are left out.

    Returns
    -------
    Study

    Raises
    ------
    tables.BadTableError
        If too little is left to analyse.
    tables.OptionError
        If no outcome or no aspect is named.

    Examples
    --------
    >>> marks = {"tone": [1.0, 3.0] * 10, "harm": 0.0, "overall": [1.0, 2.0] * 10}
    >>> table = pd.DataFrame({"item_id": range(20), "prompt_id": range(20), **marks})
    >>> study = prepare(table, "overall", ["tone", "harm"], np.random.default_rng(0))
    >>> study.aspects, study.left_out
    (['tone'], {'harm': 'always the same'})
    """
    scales = dict(scales or {})
    aspects = list(aspects)
    if not outcome or not aspects:
        raise OptionError(
            "the recipe names no outcome, or no aspects that may explain it"
        )
    account = account or Account()
    table = _once(table, account)
    settled, unsettled = _without_odd_values(table, [outcome, *aspects], scales)
    left_out = _mostly_missing(settled, aspects)
    analysed = [aspect for aspect in aspects if aspect not in left_out]
    frame = _complete(table, settled, [outcome, *analysed], account)
    _require_enough(frame, outcome)
    for aspect in analysed:
        if _is_constant(frame[aspect]):
            left_out[aspect] = "always the same"
    analysed = [aspect for aspect in analysed if aspect not in left_out]
    if not analysed:
        raise BadTableError(f"no aspect varies in the {len(frame):,} complete ratings")
    ends = _ends(frame, [outcome, *analysed], scales)
    frame = frame.assign(cluster=_clusters(frame, rng))
    if "rater_id" in frame:
        frame["rater"] = pd.factorize(frame["rater_id"], sort=True)[0]
    study = Study(frame, outcome, analysed, ends, left_out, unsettled)
    return _without_redundant(study)


def _once(table: pd.DataFrame, account: Account) -> pd.DataFrame:
    """Keep the first rating of an item by a rater; items have names of their own."""
    table = _own_items(table)
    if "rater_id" not in table:
        return table
    is_first = ~_rated_again(table)
    return account.keep(table, is_first, "rated again: the first rating counts")


def cleaned(
    table: pd.DataFrame, columns: Sequence[str], scales: Mapping | None
) -> pd.DataFrame:
    """Take the ratings that weights are computed from, whole or not.

    Without ``scales``, not even an empty mapping, marks far from all others are kept.
    """
    table = _once(table, Account())
    if scales is None:
        return table
    return _without_odd_values(table, columns, scales)[0]


def _complete(
    table: pd.DataFrame,
    settled: pd.DataFrame,
    columns: Sequence[str],
    account: Account,
) -> pd.DataFrame:
    """Keep the ratings with a mark in each column, and say of the others which fails.

    ``settled`` is the table without marks that may not belong to their scale.
    """
    is_left = np.ones(len(table), dtype=bool)
    for column in columns:
        is_empty = table[column].isna().to_numpy()
        is_odd = settled[column].isna().to_numpy() & ~is_empty
        for is_lost, why in (
            (is_empty, f"no mark for {column}"),
            (is_odd, f"a mark for {column} that may not be on its scale"),
        ):
            account.keep(table[is_left], ~is_lost[is_left], why)
            is_left &= ~is_lost
    return settled[is_left]


def _without_odd_values(
    table: pd.DataFrame, columns: Sequence[str], scales: Mapping
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Take marks far from all others for missing; tell which columns have them."""
    cells = {}
    unsettled = {}
    for column, odd in odd_values(table, columns, scales).items():
        is_odd = table[column].isin(odd.index)
        cells[column] = table[column].mask(is_odd)
        n_ratings = _count(int(odd.sum()), "rating")
        unsettled[column] = f"{_first_marks(odd)} in {n_ratings}"
    return table.assign(**cells), unsettled


def _mostly_missing(table: pd.DataFrame, aspects: Sequence[str]) -> dict[str, str]:
    """Tell which aspects are left out since most ratings lack them."""
    shares = table[aspects].isna().mean()
    return {aspect: "mostly missing" for aspect in aspects if shares[aspect] > MOSTLY}


def _ends(frame: pd.DataFrame, columns: Sequence[str], scales: Mapping) -> pd.DataFrame:
    """Lowest and highest mark of each column, and how they are known."""
    rows = {}
    for column in columns:
        if column in scales:
            low, high = scales[column]
            rows[column] = (low, high, "declared")
        else:
            rows[column] = _ends_from_marks(frame[column])
    return pd.DataFrame.from_dict(rows, "index", columns=["low", "high", "known"])


def _ends_from_marks(values: pd.Series) -> tuple[float, float, str]:
    """Lowest and highest mark where no scale is declared, and whether they are sure."""
    marks = np.unique(values)
    low = marks[0]
    high = marks[-1]
    gaps = np.diff(marks)
    steps = gaps / gaps.min()
    are_even = np.allclose(steps, np.round(steps))
    if are_even and steps.sum() < MOST_STEPS:
        return low, high, "by the marks"
    are_whole = (marks % 1 == 0).all()
    if are_whole and 0 <= low <= 10 and 90 <= high <= 100:
        return (*PERCENT, "by the marks")
    return low, high, "not known"


def _require_enough(frame: pd.DataFrame, outcome: str) -> None:
    """Stop where no statistics can help."""
    n_rows = len(frame)
    n_clusters = frame["prompt_id"].nunique()
    if n_rows < FEWEST_ROWS or n_clusters < FEWEST_CLUSTERS:
        raise BadTableError(
            f"complete ratings: {n_rows}, clusters: {n_clusters}; at least "
            f"{FEWEST_ROWS} and {FEWEST_CLUSTERS} are needed. Are some columns mostly "
            "empty, or is the wrong column named as cluster?"
        )
    if _is_constant(frame[outcome]):
        mark = frame[outcome].iloc[0]
        raise BadTableError(
            f"column {outcome!r} is {mark:g} in all complete ratings: there is nothing "
            "to explain"
        )


def _varies(x: np.ndarray) -> np.ndarray:
    """Tell which centred columns are more than rounding errors."""
    largest = np.maximum(x.max(axis=0), -x.min(axis=0))  # without a copy of x
    return largest > ROUNDING


def _without_redundant(study: Study) -> Study:
    """Find an outcome that is computed, and aspects that are not told apart."""
    x = study.centred()[:, :-1]
    varies = _varies(x)
    names = np.array(study.aspects, dtype=object)
    constant = list(names[~varies])
    varying = list(names[varies])
    x = x[:, varies]
    unit = x / np.sqrt((x**2).sum(axis=0))
    is_new = _adds_something(unit)
    analysed = [name for name, new in zip(varying, is_new, strict=True) if new]
    redundant = [name for name in varying if name not in analysed]
    n_clusters = study.frame["cluster"].nunique()
    too_many = _too_many(len(study.aspects), len(x), n_clusters)
    left_out = dict(study.left_out)
    left_out |= dict.fromkeys(redundant, too_many or "made up of other aspects")
    left_out |= dict.fromkeys(constant, "no rater gave it two different marks")
    if not analysed:
        raise BadTableError(
            "no rater gave any aspect two different marks: nothing can be compared"
        )
    study = replace(study, aspects=analysed, left_out=left_out, too_many=too_many)
    if too_many:
        return study
    collinear = _collinear(unit.T @ unit, varying)
    return replace(study, collinear=collinear, identity=_identity(study))


def _adds_something(unit: np.ndarray) -> np.ndarray:
    """Tell which columns of length 1 are not made up of those before them.

    The diagonal of R in a QR decomposition holds what each column adds to those before
    it; there is none beyond the number of rows.
    """
    n_rows, n_columns = unit.shape
    is_new = np.zeros(n_columns, dtype=bool)
    added = np.diagonal(np.linalg.qr(unit, mode="r"))
    is_new[:n_rows] = added**2 >= REDUNDANT
    return is_new


def _too_many(n_aspects: int, n_rows: int, n_clusters: int) -> str:
    """Say that there are more aspects than the ratings can tell, if so."""
    has_rows = n_rows >= ROWS_PER_ASPECT * n_aspects
    has_clusters = n_clusters > CLUSTERS_PER_ASPECT * n_aspects
    if has_rows and has_clusters:
        return ""
    counts = f"{n_aspects}, with {n_rows:,} ratings in {n_clusters:,} clusters"
    return f"more aspects than the ratings can tell: {counts}"


def _collinear(correlations: np.ndarray, names: Sequence[str]) -> list[list[str]]:
    """Name the aspects that move together.

    In a direction of the aspects' space that hardly varies, those with a part in it
    make up each other.
    """
    variances, directions = np.linalg.eigh(correlations)
    flat = directions[:, variances < SAME]
    parts = flat @ flat.T  # projection on the directions that hardly vary
    are_linked = np.abs(parts) > PART
    _, groups = connected_components(are_linked, directed=False)
    has_part = are_linked.diagonal()
    collinear = []
    for group in np.unique(groups[has_part]):
        is_member = has_part & (groups == group)
        collinear.append([names[place] for place in np.flatnonzero(is_member)])
    return collinear


def _identity(study: Study) -> str:
    """Say how the outcome is computed from the aspects, if it is."""
    values = study.centred(within=False)
    x = values[:, :-1]
    y = values[:, -1]
    weights = np.linalg.lstsq(x, y, rcond=None)[0]
    residual = np.abs(y - x @ weights)
    explained = 1 - (residual @ residual) / (y @ y)
    marks = np.unique(study.frame[study.outcome])
    is_rounded = _is_rounded(marks, residual, explained)
    if explained < COMPUTED and not is_rounded:
        return _formula(study)
    length = np.ptp(marks)
    return computed_from(study.outcome, study.aspects, weights, explained, length)


def computed_from(
    outcome: str,
    aspects: Sequence[str],
    weights: np.ndarray,
    explained: float,
    length: float,
) -> str:
    """Say of which aspects an outcome with marks so far apart is computed."""
    parts = []
    for name, weight in zip(aspects, weights, strict=True):
        if abs(weight) > PART * length:
            parts.append(name)
    precision = f"{100 * explained:.0f} % of its variance"
    if explained > 1 - REDUNDANT:
        precision = "exactly"
    return f"{outcome} is computed from {', '.join(parts)} ({precision})"


def _formula(study: Study) -> str:
    """Say that the outcome follows from the aspects by a formula that is no sum.

    Wherever two ratings of different items have the same marks for all aspects, the
    outcome is the same too.
    """
    if len(study.aspects) < 2:
        return ""
    marks = [pd.factorize(study.frame[name])[0] for name in study.aspects]
    key = row_codes(np.column_stack(marks))
    outcome = study.frame[study.outcome].to_numpy()
    item = pd.factorize(study.frame["item_id"])[0]
    order = together(key, item)
    one = order[:-1]
    other = order[1:]
    is_pair = (key[one] == key[other]) & (item[one] != item[other])
    values, counts = np.unique(outcome, return_counts=True)
    usual = values[counts.argmax()]
    is_told = is_pair & ((outcome[one] != usual) | (outcome[other] != usual))
    if is_told.sum() < SURE_ITEMS or (outcome[one] != outcome[other])[is_told].any():
        return ""
    parts = ", ".join(study.aspects)
    pairs = f"{is_told.sum():,} pairs of ratings with the same marks for these"
    return f"{study.outcome} follows from {parts} (it is the same in all {pairs})"


def row_codes(marks: np.ndarray) -> np.ndarray:
    """Number rows of codes in their order; rows that are the same have one number.

    Examples
    --------
    >>> row_codes(np.array([[1, 0], [0, 2], [1, 0]])).tolist()
    [3, 2, 3]
    """
    sizes = [int(size) for size in marks.max(axis=0) + 1]
    if math.prod(sizes) < LARGEST_CODE:  # digits of one number: no sorting of rows
        code = np.zeros(len(marks), dtype=np.int64)
        for size, column in zip(sizes, marks.T, strict=True):
            code = code * size + column
        return code
    return np.unique(marks, axis=0, return_inverse=True)[1].ravel()


def together(key: np.ndarray, rank: np.ndarray) -> np.ndarray:
    """Order rows so that those with one key stand together, the lowest rank first.

    Faster than `numpy.lexsort`: which key comes first does not matter.

    Examples
    --------
    >>> together(np.array([7, 5, 7, 5]), np.array([1, 0, 0, 1])).tolist()
    [2, 0, 1, 3]
    """
    codes = pd.factorize(key)[0]
    return np.argsort(codes * len(codes) + rank, kind="stable")


def _is_rounded(marks: np.ndarray, residual: np.ndarray, explained: float) -> bool:
    """Tell whether an outcome of few marks is what aspects predict, rounded."""
    if len(marks) > MOST_STEPS or explained < MAY_BE_ROUNDED:
        return False
    step = np.diff(marks).min()
    return bool(np.quantile(residual, 0.99) <= ROUNDED * step)


def _clusters(frame: pd.DataFrame, rng: np.random.Generator) -> np.ndarray:
    """Number clusters, those that share an item under one number."""
    item = pd.factorize(frame["item_id"])[0]
    n_items = item.max() + 1
    # A graph whose nodes are first the items, then the clusters they stand in.
    cluster = n_items + pd.factorize(frame["prompt_id"])[0]
    n_nodes = cluster.max() + 1
    links = coo_array((np.ones(len(item)), (item, cluster)), (n_nodes, n_nodes))
    _, components = connected_components(links, directed=False)
    return join_clusters(pd.Series(components[cluster]), rng)


def join_clusters(clusters: pd.Series, rng: np.random.Generator) -> np.ndarray:
    """Number clusters, several at random under one number if there are very many."""
    codes, names = pd.factorize(clusters)
    if len(names) <= MOST_CLUSTERS:
        return codes
    joined = rng.permutation(len(names)) % MOST_CLUSTERS
    return joined[codes]


def sample_items(table: pd.DataFrame, most: int) -> pd.DataFrame:
    """Draw whole items at random where there are more ratings than wanted."""
    one_in = math.ceil(len(table) / most)
    if one_in <= 1:
        return table
    codes, items = pd.factorize(table["item_id"])
    # The same items in every run, so that a file always gives the same results.
    order = np.random.default_rng(0).permutation(len(items))
    return table[order[codes] % one_in == 0]
