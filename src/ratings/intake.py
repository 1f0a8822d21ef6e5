"""Ratings of any study looked over and made ready for analysis: complete, once, on one scale.

`findings` are what is odd about columns and rows before any analysis, for
`check_raters` in `ratings.raters`. `prepare` leaves out what cannot be used, and finds
out what the ratings cannot tell: columns whose scale is not settled, an outcome that is
computed from the aspects, and aspects that move together. Tables are those of
`ratings.recipes.read`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from helpers.data.registry import DATA_SOURCES
from helpers.data.tables import BadTableError, OptionError
from helpers.stats.clustered import Slopes, slopes
from helpers.stats.moments import ROUNDING, cluster_sums

MOST_CLUSTERS = 2000  # more are joined, see `prepare`
MOST_ROWS = 20_000  # for methods that need the rows themselves, see `Study.sample`
FEWEST_ROWS = 10
FEWEST_CLUSTERS = 5
MOSTLY = 0.5  # an aspect that is missing in more rows than this is left out
FEW_MARKS = 11  # a scale of up to so many marks can be looked at mark by mark
FEW_CLUSTERS = 30
# often written for "no answer"
MISSING_CODES = (-1, -9, -99, -999, 88, 99, 888, 999, 9999)
SETTLE = "no verdict before its scale is declared in `scales`, or the file corrected"
PERCENT = (0, 100)
MOST_STEPS = 25  # of a scale that its marks tell
FEWEST_RATERS = 5  # from whom others can be told
ROWS_PER_RATER = 5  # on average, for raters to be compared with themselves
REDUNDANT = 1e-6  # share of an aspect's variance that others must leave unexplained
ROWS_PER_ASPECT = 10  # that weights with all others held equal need
CLUSTERS_PER_ASPECT = 2
# of the variance of standardised aspects: a direction with less is not told apart
SAME = 0.01
# of the largest possible part in such a direction, or of the outcome's scale
PART = 0.05
COMPUTED = 0.98  # of the outcome's variance, explained by aspects: they are parts of it
# of a step: aspects that come so close to nearly all marks are parts, rounded
ROUNDED = 0.75


def source(table: pd.DataFrame, data_source: str) -> str:
    """Say whether ratings are real: neither the file nor the reader calls them simulated.

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


def describe_file(table: pd.DataFrame) -> str:
    """Count ratings, items, clusters and raters.

    Parameters
    ----------
    table : pandas.DataFrame
        Ratings as `ratings.recipes.read` returns them.

    Returns
    -------
    str
        A sentence.

    Examples
    --------
    >>> describe_file(pd.DataFrame({"item_id": [1, 1, 2], "prompt_id": [1, 1, 1]}))
    '3 ratings of 2 items in 1 cluster; the file names no raters.'
    """
    items, clusters = (table[column].nunique() for column in ("item_id", "prompt_id"))
    people = "the file names no raters"
    if "rater_id" in table:
        people = _count(table["rater_id"].nunique(), "rater")
    counts = f"{_count(items, 'item')} in {_count(clusters, 'cluster')}"
    return f"{_count(len(table), 'rating')} of {counts}; {people}."


def _count(n: int, word: str) -> str:
    """Write a number with its noun."""
    return f"{n:,} {word}{'s' * (n != 1)}"


def findings(
    table: pd.DataFrame, columns: Sequence[str], scales: Mapping
) -> Iterator[tuple]:
    """What a reader should know about columns, the outcome first, and rows."""
    yield from _missing(table, columns)
    yield from _constant(table, columns)
    yield from _off_scale(table, columns, scales)
    yield from _shared_items(table)
    yield from _repeated(_own_items(table))
    n_clusters = table["prompt_id"].nunique()
    if n_clusters < FEW_CLUSTERS:
        consequence = f"{n_clusters - 1} degrees of freedom at most: intervals are wide"
        yield f"only {n_clusters} clusters", "", len(table), consequence, ["all"]


def _missing(table: pd.DataFrame, columns: Sequence[str]) -> Iterator[tuple]:
    """Columns with empty cells."""
    for column in columns:
        n_missing = int(table[column].isna().sum())
        mostly = column != columns[0] and n_missing > MOSTLY * len(table)
        consequence = (
            "the aspect is left out" if mostly else "these ratings are left out"
        )
        if n_missing:
            yield (
                "missing",
                column,
                n_missing,
                consequence,
                [column] if mostly else ["all"],
            )


def _constant(table: pd.DataFrame, columns: Sequence[str]) -> Iterator[tuple]:
    """Columns in which all ratings are the same."""
    for column in columns:
        if _is_constant(table[column]):
            consequence = "it says nothing and is left out"
            yield (
                "always the same",
                column,
                int(table[column].count()),
                consequence,
                [column],
            )


def _is_constant(values: pd.Series) -> bool:
    """Tell whether all numbers that there are in a column are the same."""
    return bool(values.min() == values.max())


def _off_scale(
    table: pd.DataFrame, columns: Sequence[str], scales: Mapping
) -> Iterator[tuple]:
    """Values that make it doubtful what the scale of a column is."""
    for column, odd in odd_values(table, columns, scales).items():
        affects = ["all"] if column == columns[0] else [column]
        consequence = f"is {_few(odd)} on the scale? Left out for now; {SETTLE}"
        yield "far from the other marks", column, int(odd.sum()), consequence, affects


def _few(odd: pd.Series) -> str:
    """Write the first of some marks."""
    return ", ".join(f"{mark:g}" for mark in odd.index[:3]) + " …" * (len(odd) > 3)


def odd_values(
    table: pd.DataFrame, columns: Sequence[str], scales: Mapping
) -> dict[str, pd.Series]:
    """Count, by column, marks that are far from all others, or look like a code for "no answer".

    Columns with a declared scale have none. A zero is odd where other columns with the
    same highest mark begin at one.
    """
    open_ones = [column for column in columns if column not in scales]
    counts = {column: table[column].value_counts().sort_index() for column in open_ones}
    odd = {
        name: _is_odd(each.index.to_numpy(), each.to_numpy())
        for name, each in counts.items()
    }
    ends = {name: each.index[~odd[name]] for name, each in counts.items()}
    from_one = {
        marks[-1]
        for marks in ends.values()
        if 3 <= len(marks) <= FEW_MARKS and marks[0] == 1
    }
    for name, marks in ends.items():
        if 4 <= len(marks) <= FEW_MARKS and marks[0] == 0 and marks[-1] in from_one:
            odd[name] |= counts[name].index == 0
    return {name: counts[name][is_odd] for name, is_odd in odd.items() if is_odd.any()}


def _is_odd(marks: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Tell which marks of a column are codes or far from the others."""
    coded = np.isin(marks, MISSING_CODES)
    if coded.all() or (~coded).sum() < 2:
        return np.zeros(len(marks), dtype=bool)
    low, high = marks[~coded][[0, -1]]
    negative = (marks < 0) & (low >= 0) & ((marks < -1) | (high >= 2))
    odd = coded & (negative | (marks > high + 3 * (high - low)))
    odd[~odd] = _is_far(marks[~odd], counts[~odd])
    return odd


def _is_far(marks: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Tell which marks are rare and beyond a gap: three times the middle 98 % of ratings wide."""
    if len(marks) < 3:
        return np.zeros(len(marks), dtype=bool)
    if len(marks) <= FEW_MARKS:
        low, high = marks[counts > 0.01 * counts.sum()][[0, -1]]
        reach = 3 * np.median(np.diff(marks))
    else:
        low, high = np.interp([0.01, 0.99], counts.cumsum() / counts.sum(), marks)
        reach = 3 * (high - low)
    return (marks < low - reach) | (marks > high + reach)


def _shared_items(table: pd.DataFrame) -> Iterator[tuple]:
    """Items that stand in several clusters."""
    pairs = table[["item_id", "prompt_id"]].drop_duplicates()
    if _own_items(table) is not table:
        what, consequence = (
            "items with the same names in several clusters",
            "taken for other items",
        )
        yield what, "", len(table), consequence, []
    elif pairs["item_id"].duplicated().any():
        what, consequence = "an item in several clusters", "such clusters count as one"
        rows = int(
            table["item_id"].isin(pairs["item_id"][pairs["item_id"].duplicated()]).sum()
        )
        yield what, "", rows, consequence, ["all"]


def _own_items(table: pd.DataFrame) -> pd.DataFrame:
    """Give items other names in other clusters, if most stand in several: numbers begin anew."""
    item, prompt = (
        pd.factorize(table["item_id"])[0],
        pd.factorize(table["prompt_id"])[0],
    )
    own = prompt * (item.max(initial=0) + 1) + item
    if len(np.unique(own)) <= 1.5 * (item.max(initial=0) + 1):
        return table
    return table.assign(item_id=own)


def _repeated(table: pd.DataFrame) -> Iterator[tuple]:
    """Ratings of an item by the same person, or rows that are the same in everything."""
    if "rater_id" in table:
        n_again = int(table.duplicated(["item_id", "rater_id"]).sum())
        what, consequence = (
            "an item rated again by the same rater",
            "the first rating counts",
        )
    else:
        n_again = int(table.duplicated().sum())
        what, consequence = (
            "same in all columns as a row before",
            "kept: without raters unclear",
        )
    if n_again:
        yield what, "", n_again, consequence, ["all"]


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
        they are ``told``: ``"declared"``, ``"by the marks"`` or ``"not known"``.
    left_out : dict of str to str
        Why each of the other aspects is not analysed.
    unsettled : dict of str to str
        Marks of a column of which it is not clear whether they are on its scale; left
        out for now.
    identity : str
        How the outcome is computed from the aspects, if it is.
    groups : list of list of str
        Aspects that the ratings do not tell apart, those left out included.
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
    groups: list[list[str]] = field(default_factory=list)
    too_many: str = ""

    @property
    def is_within(self) -> bool:
        """Whether raters are compared with themselves: they give five ratings on average."""
        if "rater_id" not in self.frame:
            return False
        return len(self.frame) >= ROWS_PER_RATER * len(pd.unique(self.frame["rater"]))

    @cached_property
    def values(self) -> np.ndarray:
        """Aspects from 0 to 1, and the outcome in the last column."""
        values = self.frame[[*self.aspects, self.outcome]].to_numpy(
            dtype=float, copy=True
        )
        low, high = self.ends.loc[self.aspects, ["low", "high"]].to_numpy(dtype=float).T
        values[:, :-1] = (values[:, :-1] - low) / (high - low)
        return values

    def centred(self, within: bool | None = None) -> np.ndarray:
        """`values` less the means of all ratings, or of each rater; by default as `is_within`."""
        within = self.is_within if within is None else within
        if not within:
            return self.values - self.values.mean(axis=0)
        labels = pd.factorize(self.frame["rater"], sort=True)[0]
        means = cluster_sums(self.values, labels) / np.bincount(labels)[:, None]
        return self.values - means[labels]

    def slopes(self, alone: bool = False, within: bool | None = None) -> Slopes:
        """Slopes of the aspects that vary, see `helpers.stats.clustered.slopes` and `centred`."""
        values = self.centred(within)
        varies = np.abs(values[:, :-1]).max(axis=0) > ROUNDING
        names = [name for name, each in zip(self.aspects, varies, strict=True) if each]
        return slopes(values[:, :-1][:, varies], values[:, -1], names, alone)

    def informative(self, by: str) -> np.ndarray:
        """Count clusters or raters with another mark of each aspect than the usual one."""
        if by not in self.frame:
            return np.zeros(len(self.aspects), dtype=int)
        labels, counts = self.frame[by].to_numpy(), []
        for column in self.values[:, :-1].T:
            codes, _ = pd.factorize(column)
            usual = np.bincount(codes).argmax()
            counts.append(np.count_nonzero(np.bincount(labels[codes != usual])))
        return np.array(counts)

    @cached_property
    def for_others(self) -> np.ndarray:
        """Aspects in which enough raters vary to speak of others."""
        return self.informative("rater") >= FEWEST_RATERS

    @property
    def shared(self) -> list[str]:
        """What ratings have in common: clusters, and raters if all aspects are `for_others`."""
        return ["rater", "cluster"] if self.for_others.all() else ["cluster"]

    def items_averaged(self) -> "Study":
        """One row per item, without raters."""
        by = [self.frame["cluster"], self.frame["item_id"]]
        means = (
            self.frame[[*self.aspects, self.outcome]].groupby(by, observed=True).mean()
        )
        return replace(self, frame=means.reset_index())

    def scaled(self) -> pd.DataFrame:
        """Put every aspect on a scale from 0, its lowest mark, to 1, its highest."""
        ends = self.ends.loc[self.aspects]
        values = (self.frame[self.aspects] - ends["low"]) / (ends["high"] - ends["low"])
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
    >>> table = pd.DataFrame({"item_id": range(20), "prompt_id": range(20), "tone": [1.0, 3.0] * 10,
    ...                       "harm": 0.0, "overall": [1.0, 2.0] * 10})
    >>> study = prepare(table, "overall", ["tone", "harm"], np.random.default_rng(0))
    >>> study.aspects, study.left_out
    (['tone'], {'harm': 'always the same'})
    """
    scales, asked = dict(scales or {}), list(aspects)
    if not outcome or not asked:
        raise OptionError(
            "the recipe names no outcome, or no aspects that may explain it"
        )
    table = _own_items(table)
    if "rater_id" in table:
        table = table[~table.duplicated(["item_id", "rater_id"])]
    table, unsettled = _on_scale(table, [outcome, *asked], scales)
    missing = table[asked].isna().mean()
    left_out = {
        aspect: "mostly missing" for aspect in asked if missing[aspect] > MOSTLY
    }
    kept = [aspect for aspect in asked if aspect not in left_out]
    frame = table.dropna(subset=[outcome, *kept])
    _require_enough(frame, outcome)
    left_out |= {
        aspect: "always the same" for aspect in kept if _is_constant(frame[aspect])
    }
    kept = [aspect for aspect in kept if aspect not in left_out]
    if not kept:
        raise BadTableError(f"no aspect varies in the {len(frame):,} complete ratings")
    ends = {name: _scale(frame[name], scales.get(name)) for name in (outcome, *kept)}
    ends = pd.DataFrame.from_dict(ends, "index", columns=["low", "high", "told"])
    numbers = {"cluster": _clusters(frame, rng)}
    if "rater_id" in frame:
        numbers["rater"] = pd.factorize(frame["rater_id"], sort=True)[0]
    frame = frame.assign(**numbers)
    study = Study(frame, outcome, kept, ends, left_out, unsettled)
    return _without_redundant(study)


def _on_scale(
    table: pd.DataFrame, columns: Sequence[str], scales: Mapping
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Take marks far from all others for missing, and write down that they are not settled."""
    cells, unsettled = {}, {}
    for column, odd in odd_values(table, columns, scales).items():
        cells[column] = table[column].mask(table[column].isin(odd.index))
        unsettled[column] = f"{_few(odd)} in {_count(int(odd.sum()), 'rating')}"
    return table.assign(**cells), unsettled


def _scale(
    values: pd.Series, declared: tuple[float, float] | None
) -> tuple[float, float, str]:
    """Lowest and highest mark, and how they are known."""
    if declared is not None:
        return (*declared, "declared")
    marks = np.unique(values)
    steps = np.diff(marks) / np.diff(marks).min()
    low, high = marks[[0, -1]]
    if steps.sum() < MOST_STEPS and np.allclose(steps, np.round(steps)):
        return low, high, "by the marks"
    if (marks % 1 == 0).all() and 0 <= low <= 10 and 90 <= high <= 100:
        return (*PERCENT, "by the marks")
    return low, high, "not known"


def _require_enough(frame: pd.DataFrame, outcome: str) -> None:
    """Stop where no statistics can help."""
    n_clusters = frame["prompt_id"].nunique()
    if len(frame) < FEWEST_ROWS or n_clusters < FEWEST_CLUSTERS:
        raise BadTableError(
            f"complete ratings: {len(frame)}, clusters: {n_clusters}; at least {FEWEST_ROWS} and "
            f"{FEWEST_CLUSTERS} are needed. Are some columns mostly empty, or is the wrong column "
            "named as cluster?"
        )
    if _is_constant(frame[outcome]):
        raise BadTableError(
            f"column {outcome!r} is {frame[outcome].iloc[0]:g} in all complete ratings: there is "
            "nothing to explain"
        )


def _without_redundant(study: Study) -> Study:
    """Find an outcome that is computed, and aspects that are not told apart."""
    values = study.centred()
    varies = np.abs(values[:, :-1]).max(axis=0) > ROUNDING
    names = np.array(study.aspects, dtype=object)
    x = values[:, :-1][:, varies]
    unit = x / np.sqrt((x**2).sum(axis=0))
    new = np.zeros(x.shape[1], dtype=bool)
    new[: len(x)] = np.diagonal(np.linalg.qr(unit, mode="r")) ** 2 >= REDUNDANT
    kept = list(names[varies][new])
    excess = _too_many(
        len(study.aspects), len(values), study.frame["cluster"].nunique()
    )
    redundant = dict.fromkeys(names[varies][~new], excess or "made up of other aspects")
    constant = dict.fromkeys(names[~varies], "no rater gave it two different marks")
    left_out = study.left_out | redundant | constant
    found = replace(study, aspects=kept, left_out=left_out, too_many=excess)
    if not kept:
        raise BadTableError(
            "no rater gave any aspect two different marks: nothing can be compared"
        )
    if excess:
        return found
    groups = _groups(unit.T @ unit, names[varies])
    return replace(found, groups=groups, identity=_identity(found))


def _too_many(n_aspects: int, n_rows: int, n_clusters: int) -> str:
    """Say that there are more aspects than the ratings can tell, if so."""
    enough = (
        n_rows >= ROWS_PER_ASPECT * n_aspects
        and n_clusters > CLUSTERS_PER_ASPECT * n_aspects
    )
    counts = f"{n_aspects}, with {n_rows:,} ratings in {n_clusters:,} clusters"
    return "" if enough else f"more aspects than the ratings can tell: {counts}"


def _groups(correlations: np.ndarray, names: Sequence[str]) -> list[list[str]]:
    """Name the aspects that move together: those with a part in a direction that hardly varies."""
    sizes, directions = np.linalg.eigh(correlations)
    flat = directions[:, sizes < SAME]
    linked = np.abs(flat @ flat.T) > PART
    _, labels = connected_components(linked, directed=False)
    taken = linked.diagonal()
    return [
        [
            name
            for name, group, part in zip(names, labels, taken, strict=True)
            if group == label and part
        ]
        for label in np.unique(labels[taken])
    ]


def _identity(study: Study) -> str:
    """Say how the outcome is computed from the aspects, if it is, exactly or rounded."""
    values = study.centred(within=False)
    x, y = values[:, :-1], values[:, -1]
    weights = np.linalg.lstsq(x, y, rcond=None)[0]
    residual = np.abs(y - x @ weights)
    explained = 1 - (residual @ residual) / (y @ y)
    marks = np.unique(study.frame[study.outcome])
    is_rounded = (
        len(marks) <= MOST_STEPS
        and explained >= 0.8
        and (np.quantile(residual, 0.99) <= ROUNDED * np.diff(marks).min())
    )
    if explained < COMPUTED and not is_rounded:
        return ""
    reach = PART * np.ptp(marks)
    parts = [
        name
        for name, weight in zip(study.aspects, weights, strict=True)
        if abs(weight) > reach
    ]
    how = (
        "exactly"
        if explained > 1 - REDUNDANT
        else f"{100 * explained:.0f} % of its variance"
    )
    return f"{study.outcome} is computed from {', '.join(parts)} ({how})"


def _clusters(frame: pd.DataFrame, rng: np.random.Generator) -> np.ndarray:
    """Number clusters, those that share an item under one number."""
    item, prompt = (
        pd.factorize(frame["item_id"])[0],
        pd.factorize(frame["prompt_id"])[0],
    )
    n_items, n_nodes = item.max() + 1, item.max() + prompt.max() + 2
    links = coo_array(
        (np.ones(len(item)), (item, n_items + prompt)), (n_nodes, n_nodes)
    )
    _, labels = connected_components(links, directed=False)
    return join_clusters(pd.Series(labels[n_items + prompt]), rng)


def join_clusters(clusters: pd.Series, rng: np.random.Generator) -> np.ndarray:
    """Number clusters, several at random under one number if there are very many."""
    codes, names = pd.factorize(clusters)
    if len(names) <= MOST_CLUSTERS:
        return codes
    return (rng.permutation(len(names)) % MOST_CLUSTERS)[codes]


def some_items(table: pd.DataFrame, most: int) -> pd.DataFrame:
    """Draw whole items at random where there are more ratings than wanted."""
    step = -(-len(table) // most)
    if step <= 1:
        return table
    codes, items = pd.factorize(table["item_id"])
    return table[np.random.default_rng(0).permutation(len(items))[codes] % step == 0]
