"""Weights from ratings that do not fit in memory, summed part by part.

A slope and its leave-one-out error need of each rater and cluster of items only the
sums of products of the columns. So a folder of Parquet files, or one large file, is
read batch by batch, each batch is added to a table with one row for each rater and
cluster, and the batches are forgotten. Weights, intervals and p-values are those that
`ratings.inference.estimates` gives in one piece, to rounding.

Batches go through joblib: threads here, or workers of Dask where
`joblib.parallel_config("dask")` names a scheduler.

`NOT_DONE` says what sums do not tell: the whole table would be needed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute
import pyarrow.dataset
import pyarrow.parquet
from joblib import Parallel, delayed

from helpers.data.tables import BadTableError, OptionError
from helpers.stats import bootstrap
from helpers.stats.clustered import COLLINEAR, Slopes
from helpers.stats.moments import cluster_sums
from ratings.inference import ALONE, ENDS, FEWEST_INFORMATIVE, HELD
from ratings.intake import (
    FEW_MARKS,
    FEWEST_RATERS,
    MOST_CLUSTERS,
    OTHERS,
    ROWS_PER_RATER,
    THESE,
)
from ratings.recipes import scales as scales_of

BATCH = 1_000_000  # rows that are read at once
MOST_RATERS = 1000
MOST_KEYS = 100_000  # raters times clusters: the sums of so many take 100 MB
FEWEST_JOINED = 200  # clusters, however many raters there are
NOT_DONE = (
    "an item rated twice by one person (all of its ratings count)",
    "clusters that share an item (they count as several)",
    "weights on means of items and with ordered marks, so no verdict “depends on "
    "choices”",
    "copied rows, raters who rate opposite to the others, and other checks of raters",
    "agreement and reliability",
)


class Part(NamedTuple):
    """Sums of one batch.

    Parameters
    ----------
    keys : pandas.DataFrame
        ``rater`` and ``cluster`` of each row of sums.
    products : numpy.ndarray, shape (n_keys, n_columns, n_columns)
        Sums of products of (1, aspects, outcome).
    marks : dict of str to pandas.Series
        How often each mark of an aspect occurs, by rater and cluster, for aspects with
        few marks.
    n_left_out : int
        Rows that are not complete.
    """

    keys: pd.DataFrame
    products: np.ndarray
    marks: dict[str, pd.Series]
    n_left_out: int


@dataclass(frozen=True, eq=False)
class Summed:
    """All sums of a set of files.

    Parameters
    ----------
    outcome, aspects
        Columns.
    scales : mapping of str to (float, float)
        Lowest and highest mark of each aspect.
    keys, products, marks, n_left_out
        As for `Part`, of all batches.
    has_raters : bool
        Whether raters have names.
    """

    outcome: str
    aspects: list[str]
    scales: Mapping[str, tuple[float, float]]
    keys: pd.DataFrame
    products: np.ndarray
    marks: dict[str, pd.Series]
    n_left_out: int
    has_raters: bool

    @property
    def n_ratings(self) -> int:
        """Complete ratings."""
        return round(self.products[:, 0, 0].sum())

    def slopes(self, alone: bool = False) -> Slopes:
        """Slopes as `ratings.intake.Study.slopes` gives them, a row for each key."""
        centred = self._centred()
        xx = centred[:, 1:-1, 1:-1]
        xy = centred[:, 1:-1, -1]
        total_xx = xx.sum(axis=0)
        total_xy = xy.sum(axis=0)
        length = np.sqrt(np.diagonal(total_xx))
        if not (length > 0).all():
            raise BadTableError("an aspect never varies: leave it out")
        unit = total_xx / np.outer(length, length)
        if alone:
            inverse = np.eye(len(length))
        else:
            inverse = np.linalg.pinv(unit, rcond=COLLINEAR, hermitian=True)
        inverse = inverse / np.outer(length, length)
        value = inverse @ total_xy
        explained = xx @ value  # what each key's outcome would be, times its aspects
        if alone:
            explained = np.diagonal(xx, axis1=1, axis2=2) * value
        influence = (xy - explained) @ inverse
        weighed = np.einsum("ij,gjk,ki->gi", inverse, xx, inverse)
        leverage = weighed / np.diagonal(inverse)
        return Slopes(pd.Series(value, self.aspects), influence, leverage)

    def _centred(self) -> np.ndarray:
        """Sums of products less the means of each rater, or of all ratings."""
        scaled = self._scaled()
        n = scaled[:, 0, 0]
        sums = scaled[:, 0]
        group = np.zeros(len(n), dtype=int)
        if self.is_within:
            group = self.keys["rater"].to_numpy()
        totals = cluster_sums(sums, group)
        _, place = np.unique(group, return_inverse=True)
        means = (totals / totals[:, :1])[place]
        cross = sums[:, :, None] * means[:, None, :]
        squares = n[:, None, None] * means[:, :, None] * means[:, None, :]
        return scaled - cross - cross.transpose(0, 2, 1) + squares

    def _scaled(self) -> np.ndarray:
        """Sums of products with aspects from 0 to 1."""
        size = len(self.aspects) + 2
        change = np.eye(size)
        for place, aspect in enumerate(self.aspects, start=1):
            low, high = self.scales[aspect]
            change[place, place] = 1 / (high - low)
            change[place, 0] = -low / (high - low)
        return change @ self.products @ change.T

    @property
    def is_within(self) -> bool:
        """Whether raters are compared with themselves: five ratings each or more."""
        if not self.has_raters:
            return False
        return self.n_ratings >= ROWS_PER_RATER * self.keys["rater"].nunique()

    def informative(self, by: str) -> np.ndarray:
        """Count clusters or raters with an unusual mark, aspect by aspect."""
        counts = []
        for aspect in self.aspects:
            if aspect not in self.marks:  # of many marks hardly any is the usual one
                counts.append(self.keys[by].nunique())
                continue
            marks = self.marks[aspect]
            usual = marks.groupby(level="mark").sum().idxmax()
            others = marks[marks.index.get_level_values("mark") != usual]
            counts.append(others.index.get_level_values(by).nunique())
        return np.array(counts)

    def estimates(self) -> pd.DataFrame:
        """Weights with intervals, as `ratings.inference.estimates` gives them.

        Returns
        -------
        pandas.DataFrame
            A row per aspect: alone, with others held equal, ``p``, ``p Holm``,
            ``informative clusters`` and ``scope``.
        """
        for_others = np.zeros(len(self.aspects), dtype=bool)
        if self.has_raters:
            for_others = self.informative("rater") >= FEWEST_RATERS
        parts = []
        for alone in (True, False):
            slopes = self.slopes(alone)
            table = slopes.table(self.keys[["cluster"]])
            if for_others.any():
                by_both = slopes.table(self.keys[["rater", "cluster"]])
                table.loc[for_others] = by_both.loc[for_others]
            parts.append(table)
        by_one, held = parts
        found = pd.concat([by_one[ENDS], held[[*ENDS, "p_value"]]], axis="columns")
        found.columns = [*ALONE, *HELD, "p"]
        n_informative = self.informative("cluster")
        is_judged = (n_informative >= FEWEST_INFORMATIVE) & found["p"].notna()
        found["p Holm"] = np.nan
        if is_judged.any():
            found.loc[is_judged, "p Holm"] = bootstrap.adjust(found["p"][is_judged])
        found["informative clusters"] = n_informative
        found["scope"] = np.where(for_others, OTHERS, THESE)
        return found


def sum_parts(
    files: str | Path,
    outcome: str,
    scales: Mapping[str, tuple[float, float]],
    cluster: str,
    rater: str = "",
    n_jobs: int = 1,
) -> Summed:
    """Sum a folder of Parquet files, or one, batch by batch.

    Parameters
    ----------
    files : str or pathlib.Path
        A Parquet file, or a folder of such files with the same columns.
    outcome : str
        Column of numbers to explain.
    scales : mapping of str to (float, float)
        The aspects, columns of numbers, each with its lowest and highest mark.
    cluster : str
        Column of groups of items that belong together. More than
        `ratings.intake.MOST_CLUSTERS` are joined at random, as in one piece; with many
        raters into fewer, so that there are at most `MOST_KEYS` pairs of both.
    rater : str, optional
        Column of raters.
    n_jobs : int, optional
        Batches that are summed at the same time; each takes memory of its own.

    Returns
    -------
    Summed

    Raises
    ------
    tables.OptionError
        If a column is not there, or there are more raters than `MOST_RATERS`.
    tables.BadTableError
        If no row is complete.

    Examples
    --------
    >>> import tempfile
    >>> rng = np.random.default_rng(0)
    >>> table = pd.DataFrame({"prompt": np.arange(3000) % 100})
    >>> table["typos"] = rng.integers(0, 2, 3000)
    >>> table["overall"] = 3 - table["typos"] + rng.normal(size=3000)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table[:2000].to_parquet(Path(folder) / "a.parquet")
    ...     table[2000:].to_parquet(Path(folder) / "b.parquet")
    ...     summed = sum_parts(folder, "overall", {"typos": (0, 1)}, "prompt")
    >>> summed.estimates()[["weight", "low", "high"]].round(2)
           weight   low  high
    typos   -1.01 -1.09 -0.94
    """
    data = pa.dataset.dataset(Path(files), format="parquet")
    aspects = list(scales)
    columns = [*aspects, outcome, cluster]
    if rater:
        columns.append(rater)
    missing = [name for name in columns if name not in data.schema.names]
    if missing:
        raise OptionError(f"there is no column {', '.join(map(repr, missing))}")
    people = None
    if rater:
        people = _labels(data, rater, MOST_RATERS)
        if people is None:
            raise OptionError(f"more than {MOST_RATERS:,} raters: give none")
    n_people = 1 if people is None else len(people)
    most = min(max(MOST_KEYS // n_people, FEWEST_JOINED), MOST_CLUSTERS)
    clusters = _labels(data, cluster, most)
    run = Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch=n_jobs)
    roles = (outcome, cluster, rater)
    parts = run(
        delayed(_sums)(batch, aspects, roles, clusters, people, most)
        for batch in _batches(data, columns)
    )
    return _together(parts, outcome, scales, bool(rater))


def from_recipe(files: str | Path, recipe: Mapping, n_jobs: int = 1) -> Summed:
    """Sum Parquet files as a recipe says, which must name outcome, scales and cluster.

    Keys that change the shape of a table or the meaning of cells cannot be followed.
    """
    known = {"about", "outcome", "aspects", "scales", "cluster", "rater", "item"}
    others = [key for key in recipe if key not in known]
    if others:
        raise OptionError(f"sums cannot follow the keys {', '.join(others)}")
    limits = scales_of(recipe)
    aspects = recipe.get("aspects", [])
    has_all = aspects and all(aspect in limits for aspect in aspects)
    names = [recipe.get(role, []) for role in ("cluster", "rater")]
    if not has_all or "outcome" not in recipe or len(names[0]) != 1:
        raise OptionError(
            "sums need an outcome, aspects, a scale of each aspect, and one column of "
            "clusters in the recipe"
        )
    if len(names[1]) > 1:
        raise OptionError("sums need one column of raters, or none")
    return sum_parts(
        files,
        recipe["outcome"],
        {aspect: limits[aspect] for aspect in aspects},
        cluster=names[0][0],
        rater="".join(names[1]),
        n_jobs=n_jobs,
    )


def _batches(data: pa.dataset.Dataset, columns: list[str]) -> Iterator[pa.RecordBatch]:
    """Read batch by batch, file by file: a scan of all would keep what it has read."""
    for path in data.files:
        with pyarrow.parquet.ParquetFile(path) as file:
            yield from file.iter_batches(
                batch_size=BATCH, columns=columns, use_threads=False
            )


def _labels(data: pa.dataset.Dataset, column: str, most: int) -> pd.Index | None:
    """All labels of a column, sorted; nothing if there are more than wanted."""
    seen = set()
    for batch in _batches(data, [column]):
        seen.update(pa.compute.unique(batch.column(0)).to_pylist())
        seen.discard(None)
        if len(seen) > most:
            return None
    return pd.Index(sorted(seen))


def _sums(
    batch: pa.RecordBatch,
    aspects: Sequence[str],
    roles: tuple[str, str, str],
    clusters: pd.Index | None,
    people: pd.Index | None,
    most: int,
) -> Part:
    """Sum the complete rows of a batch by rater and cluster."""
    outcome, cluster, rater = roles
    table = batch.to_pandas()
    whole = table.dropna()
    if clusters is None:  # too many: joined at random, the same in each batch
        hashed = pd.util.hash_array(whole[cluster].to_numpy(), categorize=False)
        in_cluster = (hashed % most).astype(int)
    else:
        in_cluster = clusters.get_indexer(whole[cluster])
    by = np.zeros(len(whole), dtype=int)
    if people is not None:
        by = people.get_indexer(whole[rater])
    values = np.ones((len(whole), len(aspects) + 2))
    values[:, 1:] = whole[[*aspects, outcome]].to_numpy(dtype=float)
    key = by * most + in_cluster
    names, place = np.unique(key, return_inverse=True)
    size = values.shape[1]
    products = np.empty((len(names), size, size))
    for number in range(size):
        for other in range(number + 1):
            # column by column, so that no product of all rows is kept
            product = values[:, number] * values[:, other]
            summed = np.bincount(place, product, minlength=len(names))
            products[:, number, other] = summed
            products[:, other, number] = summed
    rater_code, cluster_code = np.divmod(names, most)
    keys = pd.DataFrame({"rater": rater_code, "cluster": cluster_code})
    marks = {}
    for number, aspect in enumerate(aspects, start=1):
        distinct, code = np.unique(values[:, number], return_inverse=True)
        if len(distinct) > FEW_MARKS:
            continue
        both, counts = np.unique(key * len(distinct) + code, return_counts=True)
        of_key, of_mark = np.divmod(both, len(distinct))
        of_rater, of_cluster = np.divmod(of_key, most)
        levels = [of_rater, of_cluster, distinct[of_mark]]
        index = pd.MultiIndex.from_arrays(levels, names=["rater", "cluster", "mark"])
        marks[aspect] = pd.Series(counts, index)
    return Part(keys, products, marks, len(table) - len(whole))


def _together(
    parts: Iterator[Part],
    outcome: str,
    scales: Mapping[str, tuple[float, float]],
    has_raters: bool,
) -> Summed:
    """Add the sums of batches, each as soon as it comes."""
    keys = None
    n_left_out = 0
    marks = None
    for part in parts:
        n_left_out += part.n_left_out
        if keys is None:
            keys, products, marks, _ = part
            continue
        both = pd.concat([keys, part.keys], ignore_index=True)
        place = both.groupby(["rater", "cluster"]).ngroup().to_numpy()
        products = cluster_sums(np.concatenate([products, part.products]), place)
        keys = both.drop_duplicates().sort_values(["rater", "cluster"])
        keys = keys.reset_index(drop=True)
        # an aspect with many marks in one batch has many in all
        marks = {
            aspect: marks[aspect].add(part.marks[aspect], fill_value=0)
            for aspect in marks
            if aspect in part.marks
        }
    if keys is None or keys.empty:
        raise BadTableError("no row is complete in all columns")
    few = {
        aspect: counts
        for aspect, counts in marks.items()
        if counts.index.get_level_values("mark").nunique() <= FEW_MARKS
    }
    aspects = list(scales)
    return Summed(outcome, aspects, scales, keys, products, few, n_left_out, has_raters)
