"""Columns of a file as they are written: distinct values, and the rows in which they stand.

Columns of CSV, TSV and Parquet files as they are written, without a guess at what they mean.

Columns of files with one JSON object per line, as they are written.

Files of ratings that anybody may bring: find them, name their columns, read some of these.

A file is taken as it is written: which values a column has, and in which rows they stand. What the
values mean is for `helpers.files.ratings` to say.

What the cells of a rating file mean: a number, a label, nothing, or a mistake.

The same rules hold for every format, so that a file says the same as CSV and as Parquet.

Which column of a rating file plays which role, and what its cells mean there.

Rating tables of any study: wide and tidy form, aggregation over raters, anonymous raters.

Wide form has one row per (item, rater) and one column per aspect; tidy form has one row per
(item, rater, aspect).
"""

import codecs
import csv
import difflib
import hashlib
import io
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from helpers import paths
from helpers.files.tables import (
    LONGEST_CELL,
    UNREADABLE,
    BadTableError,
    OptionError,
    bad_table,
    cell,
    check_numeric,
    is_text,
    json_objects,
    unreadable,
)

SHOWN_PLACES = 5
SHOWN_NAMES = 12


@dataclass(frozen=True, eq=False)
class RawTable:
    """Columns of a file, and what is wrong with its rows."""

    columns: pd.DataFrame
    problems: list[str]


def distinct(values: Iterable) -> pd.Categorical:
    """Number the distinct values of a column, in order of first appearance."""
    codes, found = pd.factorize(pd.Series(list(values), dtype=object).to_numpy())
    blank = np.array([isinstance(value, str) and not value.strip() for value in found], dtype=bool)
    number = np.where(blank, -1, np.cumsum(~blank) - 1)
    categories = pd.Index(found[~blank], dtype=object)
    return pd.Categorical.from_codes(np.append(number, -1)[codes], categories)


def choose_columns(columns: Sequence[str], names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Sort out the columns that stand in a file once."""
    problems = [_problem(column, names) for column in columns]
    found = [column for column, problem in zip(columns, problems, strict=True) if not problem]
    return found, [problem for problem in problems if problem]


def places(index: pd.Index, values: Iterable | None = None) -> str:
    """Say where something stands in a file: the first places, and how many there are besides."""
    first = index[:SHOWN_PLACES]
    shown = [f"{index.name} {number}" for number in first]
    if values is not None:
        shown = [f"{place} {cell(value)}" for place, value in zip(shown, values, strict=False)]
    more = len(index) - len(first)
    return ", ".join(shown) + (f" and {more:,} more" if more else "")


def _problem(column: str, names: Sequence[str]) -> str:
    """Say why a column cannot be read, if so."""
    times = names.count(column)
    if times == 1:
        return ""
    if times > 1:
        return f"column {cell(column)} stands there {times} times; rename all but one"
    similar = difflib.get_close_matches(column, names[:1000], n=1)
    if similar:
        return f"column {cell(column)} is missing; did you mean {cell(similar[0])}?"
    known = ", ".join(cell(name) for name in names[:SHOWN_NAMES])
    more = " and others" if len(names) > SHOWN_NAMES else ""
    return f"column {cell(column)} is missing; there are {known or 'none'}{more}"


DELIMITERS = ",;\t"
LARGEST_BLOCK = 2**30  # bytes that pyarrow parses at once
TEXT = pa.dictionary(pa.int32(), pa.string())


def delimited_names(path: Path) -> list[str]:
    """Read the names in the first row of a CSV or TSV file."""
    return _header(path, _read_text(path))[0]


def read_delimited(path: Path, columns: list[str]) -> RawTable:
    """Read columns of a CSV or TSV file; rows are counted as in a spreadsheet."""
    content = _read_text(path)
    names, delimiter = _header(path, content)
    found, problems = choose_columns(columns, names)
    fields = {column: f"f{names.index(column)}" for column in found}
    table, left_out = _parse_arrow(path, content, delimiter, list(fields.values()))
    numbers = np.arange(1, len(table) + len(left_out) + 1)
    numbers = np.delete(numbers, [row.number - 1 for row in left_out])
    cells = {column: _encode(table.column(field)) for column, field in fields.items()}
    frame = pd.DataFrame(cells, index=pd.Index(numbers, name="row"))
    problems += [
        f"row {row.number} has {row.actual_columns} of {len(names)} cells"
        for row in left_out
        if row.text.strip()
    ]
    return RawTable(frame.iloc[1:], problems)


def _parse_arrow(
    path: Path, content: bytes, delimiter: str, fields: list[str]
) -> tuple[pa.Table, list[pa.csv.InvalidRow]]:
    """Parse cells as text, the names of the columns too; return rows of another length apart."""
    left_out = []

    def leave_out(row: pa.csv.InvalidRow) -> str:
        left_out.append(row)
        return "skip"

    try:
        table = pa.csv.read_csv(
            pa.BufferReader(content),
            pa.csv.ReadOptions(
                use_threads=False,
                autogenerate_column_names=True,
                block_size=min(len(content) + 1, LARGEST_BLOCK),
            ),
            pa.csv.ParseOptions(
                delimiter=delimiter,
                newlines_in_values=True,
                ignore_empty_lines=False,
                invalid_row_handler=leave_out,
            ),
            pa.csv.ConvertOptions(
                include_columns=fields or ["f0"],
                column_types=dict.fromkeys(fields or ["f0"], TEXT),
            ),
        )
    except UNREADABLE as error:
        raise unreadable(path, "a table of cells", error) from None
    return table, left_out


def _read_text(path: Path) -> bytes:
    """Read a file that must hold text in UTF-8; leave out the byte order mark."""
    try:
        content = path.read_bytes().removeprefix(codecs.BOM_UTF8)
        content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problem = f"line {line} is not UTF-8; save the file as 'CSV UTF-8'"
        raise bad_table(path.name, [problem]) from None
    except UNREADABLE as error:
        raise unreadable(path, "text", error) from None
    return content


def _header(path: Path, content: bytes) -> tuple[list[str], str]:
    """Read the names of the columns, and which sign separates them."""
    first_line = content.partition(b"\n")[0].decode()
    delimiter = max(DELIMITERS, key=first_line.count)
    lines = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", newline="")
    try:
        names = next(csv.reader(lines, delimiter=delimiter), [])
    except csv.Error as error:
        raise unreadable(path, "a table of cells", error) from None
    if not any(name.strip() for name in names):
        raise bad_table(path.name, ["row 1 is empty; the names of the columns must stand there"])
    return [name.strip() for name in names], delimiter


def parquet_names(path: Path) -> list[str]:
    """Read the names of the columns of a Parquet file."""
    return _open_parquet(path).schema_arrow.names


def read_parquet_columns(path: Path, columns: list[str]) -> RawTable:
    """Read columns of a Parquet file; rows are counted from 1."""
    file = _open_parquet(path)
    schema = file.schema_arrow
    found, problems = choose_columns(columns, schema.names)
    plain = [column for column in found if _is_plain(schema.field(column).type)]
    problems += [
        f"column {cell(column)} holds {str(schema.field(column).type)[:LONGEST_CELL]}; "
        "numbers or text are needed"
        for column in found
        if column not in plain
    ]
    try:
        table = file.read(columns=plain)
        cells = {column: _encode(table.column(column)) for column in plain}
    except UNREADABLE as error:
        raise unreadable(path, "a Parquet file", error) from None
    rows = pd.RangeIndex(1, table.num_rows + 1, name="row")
    return RawTable(pd.DataFrame(cells, index=rows), problems)


def _open_parquet(path: Path) -> pa.parquet.ParquetFile:
    """Open a Parquet file."""
    try:
        return pa.parquet.ParquetFile(path)
    except UNREADABLE as error:
        raise unreadable(path, "a Parquet file", error) from None


def _is_plain(kind: pa.DataType) -> bool:
    """Tell whether a column holds numbers, truth values or text."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    tests = ("integer", "floating", "decimal", "boolean", "string", "large_string", "null")
    return any(getattr(pa.types, f"is_{test}")(kind) for test in tests)


def _encode(column: pa.ChunkedArray) -> pd.Categorical:
    """Turn a column of pyarrow into distinct values and the rows in which they stand."""
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    chunks = encoded.unify_dictionaries().chunks
    if not chunks:
        return distinct([])
    values = distinct(chunks[0].dictionary.to_pylist())
    nowhere = len(values)
    places = np.concatenate([chunk.indices.fill_null(nowhere).to_numpy() for chunk in chunks])
    return pd.Categorical.from_codes(np.append(values.codes, -1)[places], values.categories)


def json_names(path: Path) -> list[str]:
    """Read the keys of the first object in a file of JSON lines."""
    return next((list(record) for _, record, _ in _objects(path) if record is not None), [])


def read_json_lines(path: Path, columns: list[str]) -> RawTable:
    """Read keys of the objects in a file of JSON lines; blank lines count, but hold nothing."""
    numbers, names, problems = [], {}, []
    values = {column: [] for column in columns}
    for number, record, problem in _objects(path):
        if record is None:
            problems.append(problem)
            continue
        numbers.append(number)
        if not names.keys() >= record.keys():
            names |= dict.fromkeys(record)
        for column, cells in values.items():
            cells.append(record.get(column))
    if not numbers:
        raise bad_table(path.name, problems or ["the file is empty"])
    found, missing = choose_columns(columns, list(names))
    lines = pd.Index(numbers, name="line")
    for column in found:
        problems += _without_nested(column, values[column], lines)
    frame = pd.DataFrame({column: distinct(values[column]) for column in found}, index=lines)
    return RawTable(frame, missing + problems)


def _objects(path: Path) -> Iterator[tuple[int, dict | None, str]]:
    """Parse a file line by line, see `helpers.files.tables.json_objects`."""
    try:
        yield from json_objects(path)
    except OSError as error:
        raise unreadable(path, "text", error) from None


def _without_nested(column: str, values: list, lines: pd.Index) -> list[str]:
    """Take lists and objects, which no rating can be, out of a column; say where they stood."""
    nested = [place for place, value in enumerate(values) if isinstance(value, list | dict)]
    if not nested:
        return []
    for place in nested:
        values[place] = None
    return [f"column {cell(column)} holds a list or an object in {places(lines[nested])}"]


FORMATS = {
    ".csv": (delimited_names, read_delimited),
    ".tsv": (delimited_names, read_delimited),
    ".parquet": (parquet_names, read_parquet_columns),
    ".jsonl": (json_names, read_json_lines),
    ".ndjson": (json_names, read_json_lines),
}


def find(file: str | Path) -> Path:
    """Find a file and make sure that its format is known."""
    found = [place for place in (Path(file), paths.ROOT / file) if _is_file(place)]
    if not found:
        raise BadTableError(
            f"{cell(str(file))}: there is no such file. A relative name is looked for in the "
            "folder in which the notebook runs, then in the project."
        )
    path = found[0]
    if path.suffix.lower() not in FORMATS:
        raise BadTableError(
            f"{path.name}: the format is told by the end of the name, and known are "
            f"{', '.join(FORMATS)}. Save the file as one of these."
        )
    return path


def column_names(path: Path) -> list[str]:
    """Name the columns of a file; of JSON lines, the keys of the first object."""
    names, _ = FORMATS[path.suffix.lower()]
    return names(path)


def read_columns(path: Path, columns: Sequence[str]) -> RawTable:
    r"""Read columns of a file as they are written."""
    _, read = FORMATS[path.suffix.lower()]
    raw = read(path, list(dict.fromkeys(columns)))
    blank = raw.columns.isna().all(axis="columns")
    if blank.all() and not raw.problems:
        raise bad_table(path.name, ["there are no rows"])
    kept = raw.columns[~blank].apply(lambda column: column.cat.remove_unused_categories())
    return RawTable(kept, raw.problems)


def _is_file(path: Path) -> bool:
    """Tell whether a name is that of a file; no file has a name that the system refuses."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
NOTHING = ("na", "n/a", "nan", "null", "none")
LARGEST = 1e12  # beyond it sums of squares lose the digits of other ratings

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,4})?", re.ASCII | re.IGNORECASE)
_COMMA = re.compile(r"[+-]?\d+,\d+", re.ASCII)


def numbers(
    column: pd.Series, scale: tuple[float, float] = (-np.inf, np.inf)
) -> tuple[np.ndarray, list[str]]:
    """Read the numbers in a column."""
    parsed = [_parse_cells(value, *scale) for value in column.cat.categories]
    values = [each if isinstance(each, float) else np.nan for each in parsed]
    mistakes = pd.Series([each if isinstance(each, str) else "" for each in parsed], dtype=object)
    return np.array([*values, np.nan])[column.cat.codes], _problems(column, mistakes)


def labels(column: pd.Series, required: bool = True) -> tuple[pd.Categorical, list[str]]:
    """Read the labels in a column, such as names of items; spaces around them do not matter."""
    texts = [_label(value) for value in column.cat.categories]
    mistakes = pd.Series(["" if text else "no valid text" for text in texts], dtype=object)
    problems = _problems(column, mistakes)
    empty = column.isna().to_numpy()
    if required and empty.any():
        problems.append(f"column {cell(column.name)}, empty: {places(column.index[empty])}")
    merged = distinct(texts)
    codes = np.append(merged.codes, -1)[column.cat.codes]
    return pd.Categorical.from_codes(codes, merged.categories), problems


def numbers_or_labels(column: pd.Series) -> tuple[np.ndarray | pd.Categorical, list[str]]:
    """Read a column that holds numbers, or labels if not a single value is a number."""
    values, problems = numbers(column)
    if np.isnan(values).all():
        return labels(column, required=False)
    return values, problems


def _problems(column: pd.Series, mistakes: pd.Series) -> list[str]:
    """Say which mistakes a column has and where, given the mistake of each distinct value."""
    codes = column.cat.codes.to_numpy()
    problems = []
    for mistake in mistakes[mistakes != ""].unique():
        wrong = np.isin(codes, mistakes.index[mistakes == mistake])
        where = places(column.index[wrong], column.iloc[wrong.nonzero()[0]])
        problems.append(f"column {cell(column.name)}, {mistake}: {where}")
    return problems


def _parse_cells(value: object, low: float, high: float) -> float | str:
    """Read one number, NaN if there is none, or name the mistake."""
    if isinstance(value, str):
        text = value.strip().lower()
        if text in NOTHING:
            return np.nan
        if text in WORDS:
            value = WORDS[text]
        elif _NUMBER.fullmatch(text) or text.lstrip("+-") in ("inf", "infinity"):
            value = float(text)
        else:
            comma = _COMMA.fullmatch(text)
            return "comma instead of a decimal point" if comma else "not a number"
    if not isinstance(value, bool | int | float | Decimal):
        return "not a number"
    if not -LARGEST <= value <= LARGEST:
        return "infinite or too large"
    if not low <= value <= high:
        return f"outside {low:g} to {high:g}"
    return float(value)


def _label(value: object) -> str:
    """Write a label as text; a whole number has no point, half a character is no text."""
    text = f"{value:.15g}" if isinstance(value, float) else str(value).strip()
    return text if is_text(text) else ""


USUAL_NAMES = {
    "item": "item_id",
    "rater": "rater_id",
    "cluster": "prompt_id",
    "covariate": "response_words",
}
RESERVED = ("item_id", "rater_id", "prompt_id", "source", "covariate")
NO_LIMITS = (-np.inf, np.inf)


@dataclass(frozen=True)
class Request:
    """What is wanted from a file of ratings."""

    outcome: str
    aspects: tuple[str, ...]
    roles: Mapping[str, str | None]
    scales: Mapping[str, tuple[float, float]]

    def __post_init__(self):
        """Refuse what cannot be."""
        for column in (*self.values, *filter(None, self.roles.values())):
            if not isinstance(column, str):
                raise OptionError(
                    f"{column!r} is no name of a column: give it as text, in papermill with -r, "
                    "not -p"
                )
        for position, column in enumerate(self.values):
            if column in RESERVED:
                raise OptionError(
                    f"column {column!r} cannot be outcome or aspect under this name, which stands "
                    "for something else here: rename it in the file"
                )
            if column in self.values[:position]:
                raise OptionError(f"column {column!r} is named twice: name each column once")
        unknown = [column for column in self.scales if column not in self.values]
        if unknown:
            raise OptionError(f"there is a scale of {unknown[0]!r}, which is no outcome or aspect")

    @property
    def values(self) -> tuple[str, ...]:
        """Outcome and aspects."""
        return (self.outcome, *self.aspects)

    def resolved(self, names: Sequence[str]) -> "Request":
        """Put columns of a file in the place of ``"auto"``."""
        free = [name for name in names if name not in self.values]
        roles = dict(self.roles)
        for role, usual in USUAL_NAMES.items():
            if roles.get(role) == "auto":
                roles[role] = usual if usual in free else None
        roles["source"] = "source" if "source" in free else None
        return replace(self, roles=roles)

    def needed(self) -> list[str]:
        """List the columns to read."""
        return [*self.values, *filter(None, self.roles.values())]

    def interpret(self, raw: RawTable) -> tuple[pd.DataFrame, list[str]]:
        """Turn columns as written into ratings."""
        found, problems, table = raw.columns, list(raw.problems), {}

        def enter(name: str, result: tuple) -> None:
            table[name] = result[0]
            problems.extend(result[1])

        for role in ("item", "cluster", "rater"):
            if self.roles.get(role) in found:
                enter(USUAL_NAMES[role], labels(found[self.roles[role]]))
        table.setdefault("item_id", found.index)
        table.setdefault("prompt_id", table["item_id"])
        table["source"] = "simulated" if _says_simulated(found) else "real"
        if self.roles.get("covariate") in found:
            enter("covariate", numbers_or_labels(found[self.roles["covariate"]]))
        for column in found.columns.intersection(self.values, sort=False):
            scale = self.scales.get(column, NO_LIMITS)
            enter(column, numbers(found[column], scale))
        return pd.DataFrame(table, index=found.index), problems


def _says_simulated(found: pd.DataFrame) -> bool:
    """Tell whether a file calls its rows simulated."""
    return "source" in found and "simulated" in found["source"].cat.categories


SHOWN_PROBLEMS = 50

_SALT = secrets.token_hex(16)


def read(
    file: str | Path,
    outcome: str,
    aspects: Sequence[str],
    item: str | None = "auto",
    rater: str | None = "auto",
    cluster: str | None = "auto",
    covariate: str | None = "auto",
    scales: Mapping[str, tuple[float, float]] | None = None,
) -> pd.DataFrame:
    """Read a file of ratings, one row per (item, rater), or list all that is wrong with it.

    Spaces around a cell do not matter. The words yes, true, no and false are 1 and 0; NA, N/A,
    NaN, null and none are missing, like empty cells. Rows that are empty in all columns read are
    left out. A file says that it is simulated by a column ``source`` with that word in it.

    Parameters
    ----------
    file : str or pathlib.Path
        A CSV, TSV, Parquet or JSON lines file. A relative name is looked for in the working
        folder, then in the project.
    outcome : str
        Column to explain, such as an overall rating: numbers.
    aspects : sequence of str
        Columns that may explain it: numbers, such as 0 and 1, or marks.
    item, rater, cluster, covariate : str or None, optional
        Columns that say what was rated and by whom, which items belong together, and what else
        may explain the outcome: numbers, or labels of at least two kinds. ``"auto"`` takes the
        name in `helpers.files.ratings.USUAL_NAMES` if the file has it, None or ``""``
        takes none.
    scales : mapping of str to (float, float), optional
        Lowest and highest mark of outcome and aspects, where they are known.

    Returns
    -------
    pandas.DataFrame
        ``item_id``, ``prompt_id`` (the cluster), ``rater_id`` if there are raters, ``source``
        ("real" or "simulated"), ``covariate`` if there is one, and outcome and aspects under
        their own names. Without items each row is one, without clusters each item. Raters are
        anonymous. The index holds the number of each row in the file, named "row" (in CSV and TSV
        the names of the columns are row 1) or "line".

    Raises
    ------
    tables.BadTableError
        If anything is wrong with the file. The message lists every kind of problem, column by
        column, with rows and what stands there.
    options.OptionError
        If a column is outcome and aspect at once, has a name that is taken, or a scale is given
        of neither.

    Examples
    --------
    >>> table = read("data/example/ratings.csv", "overall", ["factuality", "tone"])
    >>> table[["rater_id", "overall", "factuality", "tone"]].head(2)
          rater_id  overall  factuality  tone
    row
    2    rater-001      4.0         4.0   4.0
    3    rater-002      5.0         5.0   4.0
    """
    roles = {"item": item, "rater": rater, "cluster": cluster, "covariate": covariate}
    request = Request(outcome, tuple(aspects), roles, dict(scales or {}))
    path = find(file)
    request = request.resolved(column_names(path))
    raw = read_columns(path, request.needed())
    table, problems = request.interpret(raw)
    if problems:
        raise bad_table(path.name, problems, SHOWN_PROBLEMS)
    if "rater_id" in table:
        people = table["rater_id"].cat
        table["rater_id"] = people.rename_categories(anonymise(people.categories))
    return table


def aggregate(
    frame: pd.DataFrame,
    by: str | Sequence[str],
    mean: Sequence[str] = (),
    mode: Sequence[str] = (),
    first: Sequence[str] = (),
) -> pd.DataFrame:
    """Summarise ratings over raters: one row per group."""
    by = [by] if isinstance(by, str) else list(by)
    _require_once(frame, [*by, *first, *mean, *mode])
    check_numeric(frame, [*mean, *mode], missing="allow")
    gaps = frame[by].isna().to_numpy().any(axis=1)
    if gaps.any():
        raise ValueError(f"row {np.argmax(gaps) + 1} lacks a value of {', '.join(by)}: fill it in")
    group = frame.groupby(by, observed=True).ngroup().to_numpy()
    _, head = np.unique(group, return_index=True)
    table = frame.iloc[head][[*by, *first]].reset_index(drop=True)
    table["n_ratings"] = np.bincount(group, minlength=len(head))
    for columns, summary in ((mean, _group_means), (mode, _group_modes)):
        for column in columns:
            table[column] = summary(frame[column].to_numpy(dtype=float), group, len(head))
    return table


def _require_once(frame: pd.DataFrame, columns: Sequence[str]) -> None:
    """Raise unless each column is there and asked for only once."""
    missing = [column for column in columns if column not in frame]
    if missing:
        raise ValueError(f"no column {missing[0]!r}; the table has {', '.join(frame.columns)}")
    if len(set(columns)) < len(columns):
        double = next(column for column in columns if columns.count(column) > 1)
        raise ValueError(f"column {double!r} is named twice; choose one summary for it")


def _group_means(values: np.ndarray, group: np.ndarray, n_groups: int) -> np.ndarray:
    """Average the values of each group, missing ones left out."""
    known = ~np.isnan(values)
    totals = np.bincount(group[known], weights=values[known], minlength=n_groups)
    counts = np.bincount(group[known], minlength=n_groups)
    return np.divide(totals, counts, out=np.full(n_groups, np.nan), where=counts > 0)


def _group_modes(values: np.ndarray, group: np.ndarray, n_groups: int) -> np.ndarray:
    """Average the most frequent values of each group, missing ones left out."""
    cells, options = pd.factorize(values)
    cells += 1  # the first row of counts is for missing values
    cells *= n_groups
    cells += group
    n_rows = len(options) + 1
    counts = np.bincount(cells, minlength=n_rows * n_groups).reshape(n_rows, n_groups)
    counts = counts[1 + options.argsort()]
    most = counts.max(axis=0, initial=0)
    winners = (counts == most) & (most > 0)
    n_winners = winners.sum(axis=0)
    totals = np.sort(options) @ winners
    return np.divide(totals, n_winners, out=np.full(n_groups, np.nan), where=n_winners > 0)


def to_tidy(wide: pd.DataFrame, aspects: Sequence[str]) -> pd.DataFrame:
    """Turn wide form into tidy form."""
    _require_once(wide, aspects)
    others = [column for column in wide if column not in aspects]
    return wide.melt(id_vars=others, value_vars=list(aspects), var_name="aspect")


def to_wide(tidy: pd.DataFrame) -> pd.DataFrame:
    """Turn tidy form into wide form, the inverse of `to_tidy`."""
    _require_once(tidy, ["aspect", "value"])
    others = [column for column in tidy if column not in ("aspect", "value")]
    doubles = tidy.duplicated([*others, "aspect"]).to_numpy()
    if doubles.any():
        row = int(np.argmax(doubles))
        aspect = tidy["aspect"].iloc[row]
        raise ValueError(f"row {row + 1}: a second value for {aspect!r}; keep one of the two")
    target = tidy.groupby(others, sort=False, dropna=False).ngroup().to_numpy()
    column, aspects = pd.factorize(tidy["aspect"])
    values = np.full((target.max(initial=-1) + 1, len(aspects)), np.nan)
    values[target, column] = tidy["value"]
    rows = tidy.loc[~tidy.duplicated(others), others].reset_index(drop=True)
    return rows.join(pd.DataFrame(values, columns=aspects))


def anonymise(identifiers: Iterable[str]) -> list[str]:
    """Replace participant identifiers by labels in order of first appearance."""
    labels: dict[str, str] = {}
    hashes = [hashlib.sha256(f"{_SALT}{name}".encode()).hexdigest() for name in identifiers]
    return [labels.setdefault(each, f"rater-{len(labels) + 1:03d}") for each in hashes]
