"""Ratings of any study made ready for analysis: complete, without repeats, on one scale.

All weights are in points of the outcome, from the lowest to the highest mark of an aspect, so that
errors that are marked or not and aspects with graded marks can be compared.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from helpers.checkup import MOSTLY, is_constant
from helpers.files.tables import BadTableError
from helpers.stats.moments import ClusterMoments, cluster_moments

MOST_CLUSTERS = 2000  # more are joined, see `prepare`
MOST_ROWS = 20_000  # for methods that need the rows themselves, see `Study.sample`
FEWEST_ROWS = 10
FEWEST_CLUSTERS = 5
REDUNDANT = 1e-6  # share of an aspect's variance that others must leave unexplained


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
        """Put every aspect on a scale from 0, its lowest mark, to 1, its highest.

        Returns
        -------
        pandas.DataFrame
            The ratings; all other columns as they are.
        """
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
        table = self.scaled()[[*self.aspects, self.outcome, "cluster"]]
        if held is not None:
            table = table.assign(**held)
        features = [*self.aspects, *(held if held is not None else ())]
        return cluster_moments(table, features, self.outcome, "cluster")

    def sample(self, n_rows: int, rng: np.random.Generator) -> "Study":
        """Draw ratings at random where there are more than a method can take.

        Parameters
        ----------
        n_rows : int
            How many, at most.
        rng : numpy.random.Generator
            Source of randomness.

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
    left_out = {
        aspect: "mostly missing" for aspect in aspects if table[aspect].isna().mean() > MOSTLY
    }
    kept = [aspect for aspect in aspects if aspect not in left_out]
    frame = table.dropna(subset=[outcome, *kept])
    _require_enough(frame, outcome)
    left_out |= {aspect: "always the same" for aspect in kept if is_constant(frame[aspect])}
    kept = [aspect for aspect in kept if aspect not in left_out]
    redundant = _redundant(frame, kept)
    left_out |= dict.fromkeys(redundant, "made up of the aspects before it")
    kept = [aspect for aspect in kept if aspect not in redundant]
    if not kept:
        raise BadTableError(f"no aspect varies in the {len(frame):,} complete ratings")
    marks = frame[[outcome, *kept]]
    ends = pd.DataFrame({"low": marks.min(), "high": marks.max()})
    known = pd.DataFrame.from_dict(dict(scales or {}), orient="index", columns=["low", "high"])
    ends.update(known)
    clusters = join_clusters(frame["prompt_id"], rng)
    return Study(frame.assign(cluster=clusters), outcome, kept, ends, left_out)


def describe(study: Study) -> str:
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
    >>> print(describe(Study(frame, "overall", ["tone"], frame, {"harm": "always the same"})))
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


def join_clusters(clusters: pd.Series, rng: np.random.Generator) -> np.ndarray:
    """Number clusters, several at random under one number if there are very many.

    Parameters
    ----------
    clusters : pandas.Series
        The cluster of each row.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    numpy.ndarray of int, shape (n_rows,)
        At most `MOST_CLUSTERS` different numbers.

    Examples
    --------
    >>> join_clusters(pd.Series(["b", "a", "b"]), np.random.default_rng(0))
    array([0, 1, 0])
    """
    codes, names = pd.factorize(clusters)
    if len(names) <= MOST_CLUSTERS:
        return codes
    return (rng.permutation(len(names)) % MOST_CLUSTERS)[codes]


def _require_enough(frame: pd.DataFrame, outcome: str) -> None:
    """Stop where no statistics can help."""
    n_clusters = frame["prompt_id"].nunique()
    if len(frame) < FEWEST_ROWS or n_clusters < FEWEST_CLUSTERS:
        raise BadTableError(
            f"complete ratings: {len(frame)}, clusters: {n_clusters}; at least {FEWEST_ROWS} and "
            f"{FEWEST_CLUSTERS} are needed. Are some columns mostly empty, or is the wrong column "
            "named as cluster?"
        )
    if is_constant(frame[outcome]):
        raise BadTableError(
            f"column {outcome!r} is {frame[outcome].iloc[0]:g} in all complete ratings: there is "
            "nothing to explain"
        )


def _redundant(frame: pd.DataFrame, aspects: list[str]) -> list[str]:
    """Name the aspects that are a sum of those before them, one by one."""
    kept, redundant = [], []
    correlations = np.corrcoef(frame[aspects].to_numpy(dtype=float), rowvar=False).reshape(
        len(aspects), len(aspects)
    )
    for position, aspect in enumerate(aspects):
        with_others = correlations[np.ix_(kept, [position])][:, 0]
        solved = np.linalg.solve(correlations[np.ix_(kept, kept)], with_others)
        if 1 - with_others @ solved < REDUNDANT:
            redundant.append(aspect)
        else:
            kept.append(position)
    return redundant
