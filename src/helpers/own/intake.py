"""Ratings of any study looked over and made ready for analysis: complete, once, on one scale.

`findings` is a check-up before any analysis: what is missing, repeated, far off or unbalanced. It
corrects nothing; `prepare` leaves out what cannot be used. Tables are those of
`helpers.files.ratings.read`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from helpers.files.registry import DATA_SOURCES
from helpers.files.tables import BadTableError, OptionError
from helpers.stats.moments import ClusterMoments, cluster_moments

MOST_CLUSTERS = 2000  # more are joined, see `prepare`
MOST_ROWS = 20_000  # for methods that need the rows themselves, see `Study.sample`
FEWEST_ROWS = 10
FEWEST_CLUSTERS = 5
REDUNDANT = 1e-6  # share of an aspect's variance that others must leave unexplained
MOSTLY = 0.5  # an aspect that is missing in more rows than this is left out
FEW_MARKS = 11  # a scale of up to so many marks can be looked at mark by mark
RARE = 20  # fewer ratings with the rarer marks than this say little
RARELY = f"rare: fewer than {RARE} ratings tell what it does"
FEW_CLUSTERS = 30
ENOUGH_BY_ONE = 10  # ratings by one person in which some variety is to be expected
BUSY = 3  # times the even share of a rater


def source(table: pd.DataFrame, data_source: str) -> str:
    """Say whether ratings are real: neither the file nor the reader calls them simulated.

    Parameters
    ----------
    table : pandas.DataFrame
        Ratings as `helpers.files.ratings.read` returns them.
    data_source : {"auto", "real", "simulated"}
        With ``"simulated"`` any file counts as simulated. With the others it counts as what it
        says in its column ``source``, so that simulated ratings never pass for real.

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
        raise OptionError(f"data_source must be one of {DATA_SOURCES}, not {data_source!r}")
    simulated = data_source == "simulated" or (table["source"] == "simulated").any()
    return "simulated" if simulated else "real"


def describe_file(table: pd.DataFrame) -> str:
    """Count ratings, items, clusters and raters.

    Parameters
    ----------
    table : pandas.DataFrame
        Ratings as `helpers.files.ratings.read` returns them.

    Returns
    -------
    str
        A sentence.

    Examples
    --------
    >>> describe_file(pd.DataFrame({"item_id": [1, 1, 2], "prompt_id": [1, 1, 1]}))
    '3 ratings of 2 items in 1 cluster; the file names no raters.'
    """
    columns = {"item": "item_id", "cluster": "prompt_id", "rater": "rater_id"}
    counts = {
        word: _count(table[column].nunique(), word)
        for word, column in columns.items()
        if column in table
    }
    people = counts.get("rater", "the file names no raters")
    ratings = _count(len(table), "rating")
    return f"{ratings} of {counts['item']} in {counts['cluster']}; {people}."


def _count(n: int, word: str) -> str:
    """Write a number with its noun."""
    return f"{n:,} {word}{'s' * (n != 1)}"


def findings(table: pd.DataFrame, outcome: str, aspects: Sequence[str]) -> pd.DataFrame:
    """List what a reader should know about a file before believing any result.

    Parameters
    ----------
    table : pandas.DataFrame
        Ratings as `helpers.files.ratings.read` returns them.
    outcome : str
        Column to explain.
    aspects : sequence of str
        Columns that may explain it.

    Returns
    -------
    pandas.DataFrame
        A row per finding: ``what``, ``where``, how many ``rows``, and ``consequence``. One row
        says so if nothing was found.

    Examples
    --------
    >>> table = pd.DataFrame({"item_id": range(40), "prompt_id": range(40), "tone": [1.0, 2.0] * 20,
    ...                       "overall": [4.0] * 39 + [None]})
    >>> findings(table, "overall", ["tone"])[["what", "where", "rows"]]
                  what    where  rows
    0          missing  overall     1
    1  always the same  overall    39
    """
    columns = [outcome, *aspects]
    rows = [
        *_missing(table, columns),
        *_constant(table, columns),
        *_far_off(table, columns),
        *_repeated(table),
        *_unbalanced(table, outcome),
    ]
    n_clusters = table["prompt_id"].nunique()
    if n_clusters < FEW_CLUSTERS:
        consequence = "intervals tend to be too narrow"
        rows.append((f"only {n_clusters} clusters", "", len(table), consequence))
    rows = rows or [("nothing", "", 0, "all ratings are used as they are")]
    return pd.DataFrame(rows, columns=["what", "where", "rows", "consequence"])


def _missing(table: pd.DataFrame, columns: Sequence[str]) -> Iterator[tuple]:
    """Columns with empty cells."""
    for column in columns:
        n_missing = int(table[column].isna().sum())
        mostly = column != columns[0] and n_missing > MOSTLY * len(table)
        consequence = "the aspect is left out" if mostly else "these ratings are left out"
        if n_missing:
            yield "missing", column, n_missing, consequence


def _constant(table: pd.DataFrame, columns: Sequence[str]) -> Iterator[tuple]:
    """Columns in which all ratings are the same."""
    for column in columns:
        if _is_constant(table[column]):
            consequence = "it says nothing and is left out"
            yield "always the same", column, int(table[column].notna().sum()), consequence


def _is_constant(values: pd.Series) -> bool:
    """Tell whether all numbers that there are in a column are the same."""
    return bool(values.min() == values.max())


def _far_off(table: pd.DataFrame, columns: Sequence[str]) -> Iterator[tuple]:
    """Columns in which a few ratings are far from all others, as a slip of the pen would be."""
    for column in columns:
        marks, counts = np.unique(table[column].dropna(), return_counts=True)
        far = _is_far(marks, counts)
        if far.any():
            shown = ", ".join(f"{mark:g}" for mark in marks[far][:3])
            consequence = f"kept: is {shown} on the scale? If not, correct the file"
            yield "far from the others", column, int(counts[far].sum()), consequence


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


def _repeated(table: pd.DataFrame) -> Iterator[tuple]:
    """Ratings of an item by the same person, or rows that are the same in everything."""
    if "rater_id" in table:
        n_again = int(table.duplicated(["item_id", "rater_id"]).sum())
        what, consequence = "an item rated again by the same rater", "the first rating counts"
    else:
        n_again = int(table.duplicated().sum())
        what, consequence = "same in all columns as a row before", "kept: without raters unclear"
    if n_again:
        yield what, "", n_again, consequence


def _unbalanced(table: pd.DataFrame, outcome: str) -> Iterator[tuple]:
    """Raters with far more ratings than others, and raters who never vary."""
    if "rater_id" not in table or table["rater_id"].nunique() < 2:
        return
    by_rater = table.groupby("rater_id", observed=True)[outcome]
    counts, variety = by_rater.size(), by_rater.nunique()
    busy = counts[counts > BUSY * len(table) / len(counts)]
    if len(busy):
        where = f"{len(busy)} of {len(counts)} raters"
        consequence = f"results are mostly theirs; the busiest gave {busy.max():,} ratings"
        yield "far more ratings than others", where, int(busy.sum()), consequence
    flat = counts[(counts >= ENOUGH_BY_ONE) & (variety == 1)]
    if len(flat):
        where = f"{len(flat)} of {len(counts)} raters"
        consequence = "kept: did they read what they rated?"
        yield f"always the same {outcome}", where, int(flat.sum()), consequence


@dataclass(frozen=True, eq=False)
class Study:
    """Ratings that can be analysed.

    Parameters
    ----------
    frame : pandas.DataFrame
        Complete ratings, aspects and outcome in their own marks, with ``item_id``, ``prompt_id``,
        ``rater_id`` if there are raters, and ``cluster``: the cluster, or several joined.
    outcome : str
        Column to explain.
    aspects : list of str
        Columns that vary and are not made up of those before them.
    ends : pandas.DataFrame
        Lowest and highest mark of outcome and aspects: ``low`` and ``high``.
    left_out : dict of str to str
        Why each of the other aspects is not analysed.
    """

    frame: pd.DataFrame
    outcome: str
    aspects: list[str]
    ends: pd.DataFrame
    left_out: dict[str, str]

    def scaled(self) -> pd.DataFrame:
        """Put every aspect on a scale from 0, its lowest mark, to 1, its highest."""
        ends = self.ends.loc[self.aspects]
        values = (self.frame[self.aspects] - ends["low"]) / (ends["high"] - ends["low"])
        return self.frame.assign(**values)

    def moments(self, held: pd.DataFrame | None = None) -> ClusterMoments:
        """Sums within clusters for aspects from 0 to 1.

        Parameters
        ----------
        held : pandas.DataFrame, shape (n_rows, n_held), optional
            Further features, behind the aspects.

        Returns
        -------
        ClusterMoments
            One set per cluster.
        """
        held = pd.DataFrame(index=self.frame.index) if held is None else held
        table = self.scaled()[[*self.aspects, self.outcome, "cluster"]].assign(**held)
        return cluster_moments(table, [*self.aspects, *held], self.outcome, "cluster")

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

    The first rating of an item by a rater counts, and only ratings with an outcome and every
    aspect. More than `MOST_CLUSTERS` clusters are joined at random into so many: these are as
    independent as single ones, and an interval from 2,000 of them is as good as any.

    Parameters
    ----------
    table : pandas.DataFrame
        Ratings as `helpers.files.ratings.read` returns them.
    outcome : str
        Column to explain.
    aspects : sequence of str
        Columns that may explain it.
    rng : numpy.random.Generator
        Joins clusters.
    scales : mapping of str to (float, float), optional
        Lowest and highest mark where they are known; otherwise those that occur are taken.

    Returns
    -------
    Study

    Raises
    ------
    tables.BadTableError
        If too little is left to analyse.

    Examples
    --------
    >>> table = pd.DataFrame({"item_id": range(20), "prompt_id": range(20), "tone": [1.0, 3.0] * 10,
    ...                       "harm": 0.0, "overall": [1.0, 2.0] * 10})
    >>> study = prepare(table, "overall", ["tone", "harm"], np.random.default_rng(0))
    >>> study.aspects, study.left_out
    (['tone'], {'harm': 'always the same'})
    """
    if "rater_id" in table:
        table = table[~table.duplicated(["item_id", "rater_id"])]
    missing = table[list(aspects)].isna().mean()
    left_out = {aspect: "mostly missing" for aspect in aspects if missing[aspect] > MOSTLY}
    kept = [aspect for aspect in aspects if aspect not in left_out]
    frame = table.dropna(subset=[outcome, *kept])
    _require_enough(frame, outcome)
    left_out |= {aspect: "always the same" for aspect in kept if _is_constant(frame[aspect])}
    kept = [aspect for aspect in kept if aspect not in left_out]
    left_out |= dict.fromkeys(_redundant(frame, kept), "made up of the aspects before it")
    kept = [aspect for aspect in kept if aspect not in left_out]
    if not kept:
        raise BadTableError(f"no aspect varies in the {len(frame):,} complete ratings")
    marks = frame[[outcome, *kept]]
    ends = pd.DataFrame({"low": marks.min(), "high": marks.max()})
    ends.update(pd.DataFrame.from_dict(dict(scales or {}), "index", columns=["low", "high"]))
    clusters = join_clusters(frame["prompt_id"], rng)
    return Study(frame.assign(cluster=clusters), outcome, kept, ends, left_out)


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


def _redundant(frame: pd.DataFrame, aspects: list[str]) -> list[str]:
    """Name the aspects that are a sum of those before them, one by one."""
    correlations = frame[aspects].corr()
    kept = []
    for aspect in aspects:
        with_others = correlations.loc[kept, aspect]
        solved = np.linalg.solve(correlations.loc[kept, kept], with_others)
        if 1 - with_others @ solved >= REDUNDANT:
            kept.append(aspect)
    return [aspect for aspect in aspects if aspect not in kept]


def join_clusters(clusters: pd.Series, rng: np.random.Generator) -> np.ndarray:
    """Number clusters, several at random under one number if there are very many."""
    codes, names = pd.factorize(clusters)
    if len(names) <= MOST_CLUSTERS:
        return codes
    return (rng.permutation(len(names)) % MOST_CLUSTERS)[codes]


def describe_study(study: Study) -> str:
    """Say what is analysed, what is not, and where a part stands for the whole.

    Parameters
    ----------
    study : Study
        Ratings.

    Returns
    -------
    str
        One line or more.

    Examples
    --------
    >>> frame = pd.DataFrame({"cluster": [0, 1]})
    >>> print(describe_study(Study(frame, "overall", ["tone"], frame, {"harm": "always the same"})))
    2 complete ratings in 2 clusters
    left out: harm, always the same
    """
    n_clusters = study.frame["cluster"].nunique()
    lines = [f"{len(study.frame):,} complete ratings in {n_clusters:,} clusters"]
    if n_clusters == MOST_CLUSTERS:
        lines[0] += " (more, joined at random to so many)"
    if len(study.frame) > MOST_ROWS:
        lines.append(
            f"agreement, ordered marks and the tree use {MOST_ROWS:,} ratings drawn at random"
        )
    lines += [f"left out: {aspect}, {reason}" for aspect, reason in study.left_out.items()]
    return "\n".join(lines)


def mark_prevalence(table: pd.DataFrame, aspects: Sequence[str]) -> pd.DataFrame:
    """Count the ratings that can tell something about each aspect.

    Only ratings that differ from the most frequent mark of an aspect say what the aspect does; of
    an error that is marked or not, these are usually the ratings in which it is marked.

    Parameters
    ----------
    table : pandas.DataFrame
        Ratings with ``prompt_id``.
    aspects : sequence of str
        Numeric columns.

    Returns
    -------
    pandas.DataFrame
        A row per aspect: ``marks`` (those that occur, or their range), ``usual`` (the most
        frequent one), ``other ratings`` (with another mark), the ``clusters`` they are in, their
        share ``other, %``, and a ``warning`` if they are few.

    Examples
    --------
    >>> table = pd.DataFrame({"refusal": [0, 0, 0, 1], "prompt_id": [1, 1, 2, 2]})
    >>> mark_prevalence(table, ["refusal"])[["marks", "usual", "other ratings", "clusters"]]
            marks  usual  other ratings  clusters
    refusal  0, 1      0              1         1
    """
    rows = {}
    for aspect in aspects:
        known = table.loc[table[aspect].notna(), [aspect, "prompt_id"]]
        counts = known[aspect].value_counts()
        usual = counts.index[0]
        other = known[known[aspect] != usual]
        rows[aspect] = {
            "marks": _marks(counts.index),
            "usual": usual,
            "other ratings": len(other),
            "clusters": other["prompt_id"].nunique(),
            "other, %": 100 * len(other) / len(known),
            "warning": "" if len(other) >= RARE else RARELY if len(other) else "never differs",
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def _marks(marks: pd.Index) -> str:
    """List the marks of a short scale, or the ends of a long one."""
    if len(marks) <= FEW_MARKS:
        return ", ".join(f"{mark:g}" for mark in sorted(marks))
    return f"{marks.min():g} to {marks.max():g}"
