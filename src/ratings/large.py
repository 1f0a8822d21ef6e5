"""Weights from ratings that do not fit in memory, summed part by part.

A slope and its leave-one-out error need of each rater and cluster of items only the
sums of products of the columns. So a folder of Parquet files, or one large file, is
read batch by batch, each batch is added to one table with a column for each rater and
cluster, and the batches are forgotten. The table has its full size from the first batch
on, so that memory does not grow with the file. Weights, intervals, p-values and
verdicts are those of `ratings.inference.conclude` in one piece, to rounding, as far as
sums tell them; `NOT_DONE` says what they do not tell: the whole table would be needed.

Batches go through joblib: one after the other, on several processes of this machine,
or on the workers of a Dask scheduler, named with `on_workers` or with
`joblib.parallel_config("dask")`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet
from joblib import Parallel, delayed, parallel_config

from helpers.data.tables import BadTableError, OptionError
from helpers.stats import bootstrap
from helpers.stats.clustered import COLLINEAR, Slopes
from helpers.stats.moments import cluster_sums
from ratings import inference, intake
from ratings.inference import ALONE, ENDS, FEWEST_INFORMATIVE, HELD, POOLED
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
ENDINGS = (".parquet", ".pq")  # of files in a folder; others are passed over
MOST_RATERS = 1000
MOST_KEYS = 100_000  # raters times clusters: the sums of so many take 100 MB
ANSWER = 20  # seconds within which a scheduler and a worker must answer
FEWEST_JOINED = 200  # clusters, however many raters there are
NOT_DONE = (
    "an item rated twice by one person (all of its ratings count)",
    "clusters that share an item (they count as several)",
    "marks that are not on their scale, if the scale in the recipe is wrong",
    "weights on means of items and with ordered marks, and weights without doubtful "
    "ratings: a verdict that would depend on one of these choices",
    "an outcome that is computed from the aspects by another formula than a sum",
    "copied rows, raters who rate opposite to the others, and other checks of raters",
    "weights with the system or a covariate held equal, and which aspect weighs most",
    "agreement and reliability",
)


class Groups(NamedTuple):
    """Raters or clusters, numbered from 0.

    Parameters
    ----------
    labels : pandas.Index or None
        The label of each number; None if there are very many, and labels are joined at
        random.
    n : int
        How many numbers there are.
    """

    labels: pd.Index | None
    n: int

    def numbers(self, column: pa.Array) -> np.ndarray:
        """Number of each row."""
        encoded = column.dictionary_encode()
        names = encoded.dictionary.to_pandas()
        if self.labels is None:  # the same label has the same number in each batch
            hashed = pd.util.hash_array(names.to_numpy(), categorize=False)
            of_name = (hashed % self.n).astype(int)
        else:
            of_name = self.labels.get_indexer(names)
        return of_name[encoded.indices.to_numpy()]


class Part(NamedTuple):
    """Sums of one batch.

    Parameters
    ----------
    products : numpy.ndarray, shape (n_pairs, n_raters * n_clusters)
        Sums of products of each two of (1, aspects, outcome), for each rater and
        cluster.
    marks : dict of str to dict
        How often each mark of an aspect occurs, by ``"rater"`` and by ``"cluster"``:
        tables with a column for each mark, for aspects with few marks.
    ends : tuple of float
        Lowest and highest outcome.
    n_left_out : int
        Rows that are not complete.
    """

    products: np.ndarray
    marks: dict[str, dict[str, pd.DataFrame]]
    ends: tuple[float, float]
    n_left_out: int


@dataclass(frozen=True, eq=False)
class Summed:
    """All sums of a set of files.

    Parameters
    ----------
    outcome, aspects
        Columns.
    scales : mapping of str to (float, float)
        Lowest and highest mark of each aspect, and of the outcome if it is known.
    keys : pandas.DataFrame
        ``rater`` and ``cluster`` of each row of sums.
    products : numpy.ndarray, shape (n_keys, n_columns, n_columns)
        Sums of products of (1, aspects, outcome).
    marks, ends, n_left_out
        As for `Part`, of all batches.
    has_raters : bool
        Whether raters have names.
    """

    outcome: str
    aspects: list[str]
    scales: Mapping[str, tuple[float, float]]
    keys: pd.DataFrame
    products: np.ndarray
    marks: dict[str, dict[str, pd.DataFrame]]
    ends: tuple[float, float]
    n_left_out: int
    has_raters: bool

    @property
    def n_ratings(self) -> int:
        """Complete ratings."""
        return round(self.products[:, 0, 0].sum())

    def slopes(self, alone: bool = False, within: bool | None = None) -> Slopes:
        """Slopes as `ratings.intake.Study.slopes` gives them, a row for each key."""
        if within is None:
            within = self.is_within
        centred = self._within_raters if within else self._around_means
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
        # of each key: inverse' xx inverse, of which the diagonal is needed
        weighed = ((xx @ inverse) * inverse).sum(axis=1)
        leverage = weighed / np.diagonal(inverse)
        return Slopes(pd.Series(value, self.aspects), influence, leverage)

    @cached_property
    def _within_raters(self) -> np.ndarray:
        """Sums of products less the means of each rater."""
        return self._centred(self.keys["rater"].to_numpy())

    @cached_property
    def _around_means(self) -> np.ndarray:
        """Sums of products less the means of all ratings."""
        return self._centred(np.zeros(len(self.keys), dtype=int))

    def _centred(self, group: np.ndarray) -> np.ndarray:
        """Sums of products less the means of each group of keys."""
        centred = self._scaled()
        n = centred[:, 0, 0].copy()
        sums = centred[:, 0].copy()
        totals = cluster_sums(sums, group)
        _, place = np.unique(group, return_inverse=True)
        means = (totals / totals[:, :1])[place]
        # one table of full size at a time
        cross = sums[:, :, None] * means[:, None, :]
        centred -= cross
        centred -= cross.transpose(0, 2, 1)
        np.multiply(means[:, :, None], means[:, None, :], out=cross)
        cross *= n[:, None, None]
        centred += cross
        return centred

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
            marks = self.marks[aspect][by]
            usual = marks.sum().idxmax()
            others = marks.drop(columns=usual)
            counts.append(int((others > 0).any(axis=1).sum()))
        return np.array(counts)

    @cached_property
    def for_others(self) -> np.ndarray:
        """Aspects in which enough raters vary to speak of others."""
        if not self.has_raters:
            return np.zeros(len(self.aspects), dtype=bool)
        return self.informative("rater") >= FEWEST_RATERS

    def estimates(self) -> pd.DataFrame:
        """Weights with intervals, as `ratings.inference.estimates` gives them.

        Returns
        -------
        pandas.DataFrame
            A row per aspect: alone, with others held equal, ``p``, over all ratings,
            ``p Holm``, ``informative clusters`` and ``scope``.
        """
        alone = self._fit(alone=True)
        held = self._fit()
        found = pd.concat([alone[ENDS], held[[*ENDS, "p_value"]]], axis="columns")
        found.columns = [*ALONE, *HELD, "p"]
        if self.too_many:
            found[[*HELD, "p"]] = np.nan
        found[POOLED] = np.nan
        if self.is_within and not self.too_many:
            found[POOLED] = self._fit(within=False)[ENDS]
        n_informative = self.informative("cluster")
        is_judged = (n_informative >= FEWEST_INFORMATIVE) & found["p"].notna()
        for group in self.collinear:
            is_judged[group] = False
        found["p Holm"] = np.nan
        if is_judged.any():
            found.loc[is_judged, "p Holm"] = bootstrap.adjust(found["p"][is_judged])
        found["informative clusters"] = n_informative
        found["scope"] = np.where(self.for_others, OTHERS, THESE)
        return found

    def _fit(self, alone: bool = False, within: bool | None = None) -> pd.DataFrame:
        """Slopes with intervals that allow for other raters where enough vary."""
        slopes = self.slopes(alone, within)
        table = slopes.table(self.keys[["cluster"]])
        if self.for_others.any():
            by_both = slopes.table(self.keys[["rater", "cluster"]])
            table.loc[self.for_others] = by_both.loc[self.for_others]
        return table

    @cached_property
    def too_many(self) -> str:
        """Why no weight is told, if there are more aspects than ratings tell."""
        n_clusters = self.keys["cluster"].nunique()
        return intake._too_many(len(self.aspects), self.n_ratings, n_clusters)

    @cached_property
    def collinear(self) -> list[list[str]]:
        """Aspects that move together, as in `ratings.intake.Study`."""
        if self.too_many:
            return []
        centred = self._within_raters if self.is_within else self._around_means
        products = centred[:, 1:-1, 1:-1].sum(axis=0)
        length = np.sqrt(np.diagonal(products))
        return intake._collinear(products / np.outer(length, length), self.aspects)

    @cached_property
    def identity(self) -> str:
        """How the outcome is summed up from the aspects, if it is."""
        if self.too_many:
            return ""
        total = self._around_means.sum(axis=0)
        weights = np.linalg.pinv(total[1:-1, 1:-1], hermitian=True) @ total[1:-1, -1]
        explained = weights @ total[1:-1, -1] / total[-1, -1]
        if explained < intake.COMPUTED:
            return ""
        length = self.ends[1] - self.ends[0]
        return intake.computed_from(
            self.outcome, self.aspects, weights, explained, length
        )

    def conclude(self) -> pd.DataFrame:
        """Judge each aspect as `ratings.inference.conclude` does, from sums alone.

        Of the choices on which a verdict may depend, sums know two: raters compared
        with themselves or all ratings taken together, and an aspect alone or others
        held equal.

        Returns
        -------
        pandas.DataFrame
            As `estimates`, with ``verdict`` and ``because``.
        """
        found = self.estimates()
        methods = {}
        if self.is_within:
            methods["within raters"] = self._fit(within=True)
        methods["all ratings"] = self._fit(within=False)
        ends = {name: (*scale, "declared") for name, scale in self.scales.items()}
        ends.setdefault(self.outcome, (*self.ends, "not known"))
        study = intake.Study(
            frame=pd.DataFrame(),
            outcome=self.outcome,
            aspects=self.aspects,
            ends=pd.DataFrame.from_dict(
                ends, "index", columns=["low", "high", "known"]
            ),
            left_out={},
            identity=self.identity,
            collinear=self.collinear,
            too_many=self.too_many,
        )
        words = {}
        for aspect in self.aspects:
            words[aspect] = inference.judge(study, aspect, found, methods, {})
        columns = ["verdict", "because"]
        return found.join(pd.DataFrame.from_dict(words, "index", columns=columns))


@contextmanager
def on_workers(scheduler: str) -> Iterator[None]:
    """Send batches to the workers of a Dask scheduler; "" means this machine.

    Parameters
    ----------
    scheduler : str
        Its address, such as ``tcp://127.0.0.1:8786``.

    Raises
    ------
    tables.OptionError
        If Dask is not installed, or no scheduler or no worker answers.
    """
    if not scheduler:
        yield
        return
    try:
        from dask.distributed import Client
    except ImportError:
        raise OptionError(
            "Dask is not installed: install the extra dask of this package"
        ) from None
    try:
        client = Client(scheduler, timeout=ANSWER)
    except (OSError, ValueError) as error:
        raise OptionError(
            f"no Dask scheduler answers at {scheduler!r}: {error}"
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=ANSWER)
        except OSError:  # as which a timeout counts
            raise OptionError(
                f"the Dask scheduler at {scheduler!r} has no worker: start one with "
                f"`dask worker {scheduler}`"
            ) from None
        with parallel_config("dask"):
            yield


def sum_parts(
    files: str | Path,
    outcome: str,
    scales: Mapping[str, tuple[float, float]],
    cluster: str,
    rater: str = "",
    n_jobs: int | None = None,
) -> Summed:
    """Sum a folder of Parquet files, or one, batch by batch.

    Parameters
    ----------
    files : str or pathlib.Path
        A Parquet file, or a folder of such files with the same columns.
    outcome : str
        Column of numbers to explain.
    scales : mapping of str to (float, float)
        The aspects, columns of numbers, each with its lowest and highest mark; and
        those of the outcome, if they are known: without them no weight counts as small.
    cluster : str
        Column of groups of items that belong together. More than
        `ratings.intake.MOST_CLUSTERS` are joined at random, as in one piece; with many
        raters into fewer, so that there are at most `MOST_KEYS` pairs of both.
    rater : str, optional
        Column of raters.
    n_jobs : int, optional
        Batches that are summed at the same time; each takes memory of its own. By
        default one, or as many as Dask's workers have threads.

    Returns
    -------
    Summed

    Raises
    ------
    tables.OptionError
        If a column is not there, or there are more raters than `MOST_RATERS`.
    tables.BadTableError
        If no row is complete, or a column holds something else than in other files.

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
    paths = _parquet_files(Path(files))
    aspects = [name for name in scales if name != outcome]
    labels = [cluster, rater] if rater else [cluster]
    columns = [*aspects, outcome, *labels]
    with _opened(paths[0]) as file:
        schema = file.schema_arrow
    missing = [name for name in columns if name not in schema.names]
    if missing:
        raise OptionError(f"there is no column {', '.join(map(repr, missing))}")
    types = dict.fromkeys(columns, pa.float64())
    for name in labels:
        types[name] = _plain(schema.field(name).type)
    raters = Groups(None, 1)
    if rater:
        names = _labels(paths, rater, types[rater], MOST_RATERS)
        if names is None:
            raise OptionError(f"more than {MOST_RATERS:,} raters: give none")
        raters = Groups(names, max(len(names), 1))
    most = min(max(MOST_KEYS // raters.n, FEWEST_JOINED), MOST_CLUSTERS)
    names = _labels(paths, cluster, types[cluster], most)
    clusters = Groups(names, most if names is None else max(len(names), 1))
    # no more batches are read than are being summed
    run = Parallel(
        n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="n_jobs"
    )
    parts = run(
        delayed(_sums)(batch, types, labels, clusters, raters)
        for batch in _batches(paths, columns)
    )
    total = _together(parts)
    if total is None:
        raise BadTableError("no row is complete in all columns")
    rated = np.flatnonzero(total.products[0])
    by_rater, by_cluster = np.divmod(rated, clusters.n)
    keys = pd.DataFrame({"rater": by_rater, "cluster": by_cluster})
    products = _squares(total.products, rated, len(aspects) + 2)
    few = {name: marks for name, marks in total.marks.items() if name in aspects}
    return Summed(
        outcome,
        aspects,
        scales,
        keys,
        products,
        few,
        total.ends,
        total.n_left_out,
        bool(rater),
    )


def from_recipe(
    files: str | Path, recipe: Mapping, n_jobs: int | None = None
) -> Summed:
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
    outcome = recipe["outcome"]
    columns = [*aspects, outcome] if outcome in limits else aspects
    return sum_parts(
        files,
        outcome,
        {column: limits[column] for column in columns},
        cluster=names[0][0],
        rater="".join(names[1]),
        n_jobs=n_jobs,
    )


def _parquet_files(files: Path) -> list[Path]:
    """A file, or the Parquet files of a folder and of those in it, by name."""
    if not files.is_dir():
        return [files]
    found = [path for path in files.rglob("*") if path.suffix in ENDINGS]
    if not found:
        endings = " or ".join(ENDINGS)
        raise BadTableError(f"{files}: there is no file that ends with {endings}")
    return sorted(found)


@contextmanager
def _opened(path: Path) -> Iterator[pyarrow.parquet.ParquetFile]:
    """A Parquet file; an error names it."""
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            yield file
    except pa.ArrowInvalid as error:
        raise BadTableError(f"{path.name} cannot be read as Parquet: {error}") from None


def _batches(paths: Sequence[Path], columns: list[str]) -> Iterator[pa.RecordBatch]:
    """Read batch by batch, file by file: a scan of all would keep what it has read."""
    for path in paths:
        with _opened(path) as file:
            missing = [name for name in columns if name not in file.schema_arrow.names]
            if missing:
                names = ", ".join(map(repr, missing))
                raise BadTableError(f"{path.name}: there is no column {names}")
            batches = file.iter_batches(
                batch_size=BATCH, columns=columns, use_threads=False
            )
            for batch in batches:
                yield batch.select(columns)


def _plain(kind: pa.DataType) -> pa.DataType:
    """The type of labels themselves, where a file stores them as a list and numbers."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _cast(column: pa.Array, kind: pa.DataType, name: str) -> pa.Array:
    """A column with the type that it has in all files."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    try:
        return column.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        if pa.types.is_floating(kind):
            expected = "numbers only"
        else:
            expected = f"{kind}, as in the first file"
        raise BadTableError(
            f"column {name!r} should hold {expected}: {error}"
        ) from None


def _labels(
    paths: Sequence[Path], column: str, kind: pa.DataType, most: int
) -> pd.Index | None:
    """All labels of a column, sorted; nothing if there are more than wanted."""
    seen = set()
    for batch in _batches(paths, [column]):
        labels = _cast(batch.column(0), kind, column)
        seen.update(pa.compute.unique(labels).to_pylist())
        seen.discard(None)
        if len(seen) > most:
            return None
    return pd.Index(sorted(seen))


def _sums(
    batch: pa.RecordBatch,
    types: Mapping[str, pa.DataType],
    labels: Sequence[str],
    clusters: Groups,
    raters: Groups,
) -> Part:
    """Sum the complete rows of a batch by rater and cluster.

    Columns are the aspects, the outcome, and the labels: the cluster, and the rater if
    there is one.
    """
    columns = {}
    is_whole = np.ones(len(batch), dtype=bool)
    for name, kind in types.items():
        columns[name] = _cast(batch.column(name), kind, name)
        is_missing = columns[name].is_null(nan_is_null=True)
        is_whole &= ~is_missing.to_numpy(zero_copy_only=False)
    whole = pa.array(is_whole)
    columns = {name: column.filter(whole) for name, column in columns.items()}
    numeric = [name for name in types if name not in labels]
    in_cluster = clusters.numbers(columns[labels[0]])
    by = np.zeros(len(in_cluster), dtype=int)
    if len(labels) == 2:
        by = raters.numbers(columns[labels[1]])
    values = np.ones((len(numeric) + 1, len(by)))
    for place, name in enumerate(numeric, start=1):
        values[place] = columns[name].to_numpy()
    key = by * clusters.n + in_cluster
    pairs = np.transpose(np.triu_indices(len(values)))
    products = np.empty((len(pairs), raters.n * clusters.n))
    for place, (one, other) in enumerate(pairs):
        # pair by pair, so that no product of all rows is kept
        product = values[one] * values[other]
        products[place] = np.bincount(key, product, minlength=products.shape[1])
    marks = {}
    for name, value in zip(numeric, values[1:], strict=True):
        distinct, code = np.unique(value, return_inverse=True)
        if len(distinct) > FEW_MARKS:
            continue
        marks[name] = {
            "rater": _counts(by, raters.n, distinct, code),
            "cluster": _counts(in_cluster, clusters.n, distinct, code),
        }
    outcome = values[-1]
    ends = (outcome.min(initial=np.inf), outcome.max(initial=-np.inf))
    return Part(products, marks, ends, len(batch) - len(by))


def _counts(
    group: np.ndarray, n_groups: int, distinct: np.ndarray, code: np.ndarray
) -> pd.DataFrame:
    """How often each mark occurs in each group: a row a group, a column a mark."""
    both = group * len(distinct) + code
    counts = np.bincount(both, minlength=n_groups * len(distinct))
    return pd.DataFrame(counts.reshape(n_groups, -1), columns=distinct)


def _together(parts: Iterable[Part]) -> Part | None:
    """Add the sums of batches, each as soon as it comes; nothing if all are empty."""
    total = None
    for part in parts:
        if total is None:
            total = part
            # what comes from another process cannot be written to
            products = np.array(part.products)
            continue
        products += part.products
        marks = {}
        for aspect in total.marks.keys() & part.marks.keys():
            # an aspect with many marks in one batch has many in all
            both = {
                by: counts.add(part.marks[aspect][by], fill_value=0)
                for by, counts in total.marks[aspect].items()
            }
            if both["rater"].shape[1] <= FEW_MARKS:
                marks[aspect] = both
        ends = (min(total.ends[0], part.ends[0]), max(total.ends[1], part.ends[1]))
        n_left_out = total.n_left_out + part.n_left_out
        total = Part(products, marks, ends, n_left_out)
    if total is None or not total.products[0].any():
        return None
    return total


def _squares(products: np.ndarray, keys: np.ndarray, size: int) -> np.ndarray:
    """Matrices of products of some keys, from a row for each pair of columns."""
    squares = np.empty((len(keys), size, size))
    for row, (one, other) in zip(
        products, np.transpose(np.triu_indices(size)), strict=True
    ):
        squares[:, one, other] = row[keys]
        squares[:, other, one] = row[keys]
    return squares
