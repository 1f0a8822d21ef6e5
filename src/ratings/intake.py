"""From ratings to a `ratings.study.Study`: complete, once, on one scale.

`prepare` leaves out what cannot be used, and finds out what the ratings cannot tell: an
outcome that is computed from the aspects, and aspects that move together. Tables are
those of `ratings.recipes.read`. `from_parquet` does the same with a folder of Parquet
files that need not fit in memory.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from helpers.data.registry import DATA_SOURCES
from helpers.data.tables import BadTableError, OptionError
from ratings.accounts import Account
from ratings.findings import FEW_MARKS, MOSTLY, number_of, own_items, rated_again
from ratings.study import LargeStudy, Study

FEWEST_ROWS = 10
FEWEST_CLUSTERS = 5
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
        people = number_of(table["rater_id"].nunique(), "rater")
    units = f"{number_of(n_items, 'item')} in {number_of(n_clusters, 'cluster')}"
    if not names_items:
        people = f"the recipe names no item: each row counts as one; {people}"
    return f"{number_of(len(table), 'rating')} of {units}; {people}."


def prepare(
    table: pd.DataFrame,
    outcome: str,
    aspects: Sequence[str],
    scales: Mapping[str, tuple[float, float]] | None = None,
    account: Account | None = None,
) -> Study:
    """Leave out what cannot be analysed, and say why.

    The first rating of an item by a rater counts, and only ratings with an outcome,
    every aspect and, if the file names systems, a system. Clusters that share an item
    are one.

    Parameters
    ----------
    table : pandas.DataFrame
        Ratings as `ratings.recipes.read` returns them.
    outcome : str
        Column to explain.
    aspects : sequence of str
        Columns that may explain it; none for a comparison of systems.
    scales : mapping of str to (float, float), optional
        Lowest and highest mark, where they are declared; of other columns those that
        were given.
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
        If no outcome is named.

    Examples
    --------
    >>> marks = {"tone": [1.0, 3.0] * 10, "harm": 0.0, "overall": [1.0, 2.0] * 10}
    >>> table = pd.DataFrame({"item_id": range(20), "prompt_id": range(20), **marks})
    >>> study = prepare(table, "overall", ["tone", "harm"])
    >>> study.aspects, study.left_out
    (['tone'], {'harm': 'always the same'})
    """
    if not outcome:
        raise OptionError("the recipe names no outcome")
    account = account or Account()
    table = once(table, account)
    left_out = _mostly_missing(table, aspects)
    analysed = [aspect for aspect in aspects if aspect not in left_out]
    needed = [outcome, *analysed]
    if "system_id" in table:
        needed.append("system_id")
    frame = _complete(table, needed, account)
    _require_enough(len(frame), frame["prompt_id"].nunique())
    frame = frame.assign(cluster=_clusters(frame))
    ends = _ends(frame[[outcome, *analysed]].agg(["min", "max"]).T, scales or {})
    study = Study(frame, outcome, analysed, ends, left_out)
    return _without_what_tells_nothing(study, bool(list(aspects)))


def from_parquet(
    folder: str | Path,
    columns: Mapping[str, str],
    outcome: str,
    aspects: Sequence[str],
    scales: Mapping[str, tuple[float, float]] | None = None,
) -> LargeStudy:
    """Take ratings from a folder of Parquet files, one row per rating, part by part.

    Nothing is held in memory but sums by rater, by cluster and by system. Ratings
    without an outcome, an aspect or a label are left out and counted; ratings of an
    item by the same rater are not looked for.

    Parameters
    ----------
    folder : str or pathlib.Path
        Parquet files (``*.parquet``), each small enough for memory. All ratings of a
        cluster are in one of them.
    columns : mapping of str to str
        The file's names of ``cluster`` and, if there are any, ``rater_id`` and
        ``system_id``.
    outcome, aspects, scales
        As for `prepare`.

    Returns
    -------
    LargeStudy

    Raises
    ------
    tables.BadTableError
        If a column is missing or not numeric, a cluster is in several parts, or too
        little is left.
    tables.OptionError
        If Dask is not installed.
    """
    try:
        # here, as Dask is an extra
        import dask.dataframe
    except ImportError:
        raise OptionError(
            "a folder of Parquet files is read with Dask: pip install 'dask[dataframe]'"
        ) from None
    files = _parquet_files(folder)
    wanted = [*columns.values(), outcome, *aspects]
    first = _without_rows(files[0])
    unknown = [name for name in wanted if name not in first]
    if unknown:
        raise BadTableError(f"{files[0].name}: no column of this name: {unknown}")
    text = [
        name
        for name in (outcome, *aspects)
        if not pd.api.types.is_numeric_dtype(first[name])
    ]
    if text:
        raise BadTableError(f"{files[0].name}: not numeric: {text}")
    names = {old: new for new, old in columns.items()}

    def load(file: Path) -> pd.DataFrame:
        """The columns of one file that are needed."""
        return pd.read_parquet(file, columns=wanted).rename(columns=names)

    meta = first[wanted].rename(columns=names)
    named = dask.dataframe.from_map(load, files, meta=meta)
    frame = named.dropna()
    study = LargeStudy(frame, outcome, list(aspects), pd.DataFrame(), n_read=0)
    n_read = sum(replace(study, frame=named).over_parts(len))
    labels = study.over_parts(lambda part: part["cluster"].drop_duplicates())
    if pd.concat(labels).duplicated().any():
        raise BadTableError(
            f"{Path(folder).name}: ratings of one {columns['cluster']!r} are in "
            f"several files: sort all ratings by {columns['cluster']!r} and write each "
            "into one file"
        )
    _require_enough(study.counts.rows, study.counts.clusters)
    marks = study.counts.marks
    observed = {
        name: (marks[name].index.min(), marks[name].index.max()) for name in marks
    }
    ends = _ends(pd.DataFrame(observed, ["min", "max"]).T, scales or {})
    study = study.described(ends=ends, n_read=n_read)
    return _without_what_tells_nothing(study, bool(list(aspects)))


def usual_columns(folder: str | Path) -> dict[str, str]:
    """Take the usual names of clusters, raters and systems that Parquet files have."""
    there = set(_without_rows(_parquet_files(folder)[0]))
    columns = {name: name for name in ("rater_id", "system_id") if name in there}
    for name in ("item_id", "prompt_id"):
        if name in there:
            columns["cluster"] = name
    return columns


def _parquet_files(folder: str | Path) -> list[Path]:
    """The Parquet files of a folder, in their order."""
    files = sorted(Path(folder).glob("*.parquet"))
    if not files:
        raise BadTableError(f"{Path(folder).name}: there are no Parquet files in it")
    return files


def _without_rows(file: Path) -> pd.DataFrame:
    """The columns of a Parquet file and their kinds, without rows."""
    return pyarrow.parquet.read_schema(file).empty_table().to_pandas()


def once(table: pd.DataFrame, account: Account) -> pd.DataFrame:
    """Keep the first rating of an item by a rater; items have names of their own."""
    table = own_items(table)
    if "rater_id" not in table:
        return table
    is_first = ~rated_again(table)
    return account.keep(table, is_first, "rated again: the first rating counts")


def _complete(
    table: pd.DataFrame, columns: Sequence[str], account: Account
) -> pd.DataFrame:
    """Keep the ratings with a value in each column, and tell which columns fail."""
    for column in columns:
        name = "system" if column == "system_id" else column
        is_known = table[column].notna()
        table = account.keep(table, is_known, f"no value for {name}")
    return table


def _mostly_missing(table: pd.DataFrame, aspects: Sequence[str]) -> dict[str, str]:
    """Tell which aspects are left out since most ratings lack them."""
    shares = table[list(aspects)].isna().mean()
    return {aspect: "mostly missing" for aspect in aspects if shares[aspect] > MOSTLY}


def _ends(observed: pd.DataFrame, scales: Mapping) -> pd.DataFrame:
    """Lowest and highest mark of each column: as declared, else as given."""
    ends = observed.set_axis(["low", "high"], axis="columns").astype(float)
    ends["declared"] = ends.index.isin(list(scales))
    for column in ends.index[ends["declared"]]:
        ends.loc[column, ["low", "high"]] = scales[column]
    return ends


def _require_enough(n_rows: int, n_clusters: int) -> None:
    """Stop where no statistics can help."""
    if n_rows < FEWEST_ROWS or n_clusters < FEWEST_CLUSTERS:
        raise BadTableError(
            f"complete ratings: {n_rows}, clusters: {n_clusters}; at least "
            f"{FEWEST_ROWS} and {FEWEST_CLUSTERS} are needed. Are some columns mostly "
            "empty, or is the wrong column named as cluster?"
        )


def _without_what_tells_nothing(study: Study, has_aspects: bool) -> Study:
    """Leave out aspects that never vary or are made up of others; find identities."""
    marks = study.counts.marks
    if len(marks[study.outcome]) == 1:
        mark = marks[study.outcome].index[0]
        raise BadTableError(
            f"column {study.outcome!r} is {mark:g} in all complete ratings: there is "
            "nothing to explain"
        )
    left_out = dict(study.left_out)
    for aspect in study.aspects:
        if len(marks[aspect]) == 1:
            left_out[aspect] = "always the same"
    varying = [aspect for aspect in study.aspects if aspect not in left_out]
    if not varying and has_aspects:
        raise BadTableError(f"no aspect varies in {study.counts.rows:,} ratings")
    study = study.described(aspects=varying, left_out=left_out)
    return _without_redundant(study) if varying else study


def _products(study: Study, held: Sequence[str]) -> np.ndarray:
    """Sums of products of centred values; zero where one is no more than rounding."""
    rows = study.centred(held, study.values)
    products = sum(study.over_parts(lambda part: _squared(rows(part))))
    length = study.ends.loc[[*study.aspects, study.outcome]]
    scale = (length["high"] - length["low"]).to_numpy(copy=True)
    scale[:-1] = 1.0
    smallest = REDUNDANT**2 * study.counts.rows * scale**2
    varies = np.diagonal(products) > smallest
    return np.where(varies & varies[:, None], products, 0.0)


def _squared(rows: np.ndarray) -> np.ndarray:
    """Sums of products of all pairs of columns."""
    return rows.T @ rows


def _without_redundant(study: Study) -> Study:
    """Find an outcome that is computed, and aspects that are not told apart."""
    products = _products(study, study.held)[:-1, :-1]
    length = np.sqrt(np.diagonal(products))
    left_out = dict(study.left_out)
    names = []
    for name, each in zip(study.aspects, length, strict=True):
        if each > 0:
            names.append(name)
        else:
            left_out[name] = "it does not vary within raters and systems"
    if not names:
        raise BadTableError(
            "no aspect varies within raters and systems: nothing can be compared"
        )
    is_used = length > 0
    unit = products[np.ix_(is_used, is_used)]
    unit = unit / np.outer(length[is_used], length[is_used])
    too_many = _too_many(study)
    is_new = _adds_something(unit)
    redundant = [name for name, new in zip(names, is_new, strict=True) if not new]
    left_out |= dict.fromkeys(redundant, too_many or "made up of other aspects")
    analysed = [name for name in names if name not in redundant]
    study = study.described(aspects=analysed, left_out=left_out, too_many=too_many)
    if too_many:
        return study
    collinear = _collinear(unit, names)
    return study.described(collinear=collinear, identity=_identity(study))


def _adds_something(unit: np.ndarray) -> list[bool]:
    """Tell which columns of length 1 are not made up of those before them.

    Given are the sums of their products.
    """
    kept = []
    for column in range(len(unit)):
        with_kept = unit[kept, column]
        explained = with_kept @ np.linalg.solve(unit[np.ix_(kept, kept)], with_kept)
        if 1 - explained >= REDUNDANT:
            kept.append(column)
    return [column in kept for column in range(len(unit))]


def _too_many(study: Study) -> str:
    """Say that there are more aspects than the ratings can tell, if so."""
    n_aspects = len(study.aspects)
    counts = study.counts
    has_rows = counts.rows >= ROWS_PER_ASPECT * n_aspects
    has_clusters = counts.clusters > CLUSTERS_PER_ASPECT * n_aspects
    if has_rows and has_clusters:
        return ""
    numbers = (
        f"{n_aspects}, with {counts.rows:,} ratings in {counts.clusters:,} clusters"
    )
    return f"more aspects than the ratings can tell: {numbers}"


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
    products = _products(study, ())
    weights = np.linalg.lstsq(products[:-1, :-1], products[:-1, -1], rcond=None)[0]
    explained = weights @ products[:-1, -1] / products[-1, -1]
    if explained < COMPUTED and not _is_rounded(study, weights, explained):
        return ""
    low, high = study.ends.loc[study.outcome, ["low", "high"]]
    parts = []
    for name, weight in zip(study.aspects, weights, strict=True):
        if abs(weight) > PART * (high - low):
            parts.append(name)
    precision = f"{100 * explained:.0f} % of its variance"
    if explained > 1 - REDUNDANT:
        precision = "exactly"
    return f"{study.outcome} is computed from {', '.join(parts)} ({precision})"


def _is_rounded(study: Study, weights: np.ndarray, explained: float) -> bool:
    """Tell whether an outcome of few marks is what aspects predict, rounded."""
    marks = study.counts.marks[study.outcome].index
    if len(marks) > FEW_MARKS or explained < MAY_BE_ROUNDED:
        return False
    reach = ROUNDED * np.diff(marks).min()
    rows = study.centred((), study.values)

    def count_far(part: pd.DataFrame) -> int:
        """Ratings that are farther from what aspects predict than rounding goes."""
        values = rows(part)
        return int((np.abs(values[:, -1] - values[:, :-1] @ weights) > reach).sum())

    return sum(study.over_parts(count_far)) <= 0.01 * study.counts.rows


def _clusters(frame: pd.DataFrame) -> np.ndarray:
    """Number clusters, those that share an item under one number."""
    item = pd.factorize(frame["item_id"])[0]
    n_items = item.max() + 1
    # A graph whose nodes are first the items, then the clusters they stand in.
    cluster = n_items + pd.factorize(frame["prompt_id"])[0]
    n_nodes = cluster.max() + 1
    links = coo_array((np.ones(len(item)), (item, cluster)), (n_nodes, n_nodes))
    _, components = connected_components(links, directed=False)
    return pd.factorize(components[cluster])[0]
