"""Files of many formats as tables of cells.

CSV, TSV, JSON, JSON lines, Parquet and Excel are known, each also packed as gz. A file
is opened in two steps, so that a large one is read only where it is needed: first the
names of its columns, then the cells of some of them as they are written, and what is
wrong with them.
"""

import codecs
import contextlib
import csv
import gzip
import io
import itertools
import json
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow.parquet
import python_calamine as calamine

from helpers.data import tables
from helpers.data.tables import bad_table, choose, readable, unreadable

DELIMITERS = ",;\t|"
LONGEST_FIELD = 2**31 - 1
LARGEST_FILE = 2**31  # bytes, unpacked
MOST_CELLS = 10**9
HEAD = 100  # objects whose keys are the names of the columns
BLOCK = 2**24  # bytes that are unpacked at once

# The number of each object, the object or None, and what is wrong with it.
_Records = Callable[[], Iterable[tuple[int, dict | None, str]]]
# From names of columns to their cells, and what is wrong with them.
_Load = Callable[[Sequence[str]], tuple[pd.DataFrame, list[str]]]


class OpenFile(NamedTuple):
    """A file whose columns are known, and which can be asked for their cells.

    Parameters
    ----------
    name : str
        Name of the file.
    columns : list of str
        Names of its columns.
    load : callable
        Takes names of columns; gives a table of their cells and a list of problems.
    """

    name: str
    columns: list[str]
    load: _Load


@contextlib.contextmanager
def opened(
    file: str | Path, reading: Mapping[str, str], skip: Collection[str] = ()
) -> Iterator[OpenFile]:
    """Open a file, and unpack it for as long as it is open.

    How to read it may be told: ``delimiter``, ``encoding``, ``quotes`` ("none"),
    ``sheet`` and ``records`` (the key of the list that counts in a JSON file). In
    delimited text and Excel the names of columns stand in the first row that is not
    empty and whose number is not in ``skip``.
    """
    with _plain_file(file) as path:
        open_format = FORMATS[path.suffix.lower()]
        columns, load = open_format(path, reading, skip)
        yield OpenFile(path.name, columns, load)


@contextlib.contextmanager
def _plain_file(file: str | Path) -> Iterator[Path]:
    """Find a file of a known format, unpacked for as long as it is needed."""
    path = tables.find(file)
    with tempfile.TemporaryDirectory() as folder:
        if path.suffix.lower() == ".gz":
            path = _unpacked(path, Path(folder) / path.stem)
        if path.suffix.lower() not in FORMATS:
            raise tables.BadTableError(
                f"{path.name}: the format is told by the end of the name, and known "
                f"are {', '.join(FORMATS)}, each also as .gz. Save the file as one of "
                "these."
            )
        _require_size(path, path.stat().st_size)
        yield path


def _require_size(path: Path, n_bytes: int) -> None:
    """Stop before a file fills the memory."""
    if n_bytes > LARGEST_FILE:
        problem = f"unpacked it has more than {LARGEST_FILE / 2**30:g} GiB; divide it"
        raise bad_table(path.name, [problem])


def _unpacked(path: Path, target: Path) -> Path:
    """Unpack a gz file, but no more than can be read."""
    try:
        with gzip.open(path) as packed, target.open("wb") as unpacked:
            while unpacked.tell() <= LARGEST_FILE:
                block = packed.read(BLOCK)
                if not block:
                    break
                unpacked.write(block)
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable(path, "a gz file", error) from None
    return target


def _utf_8(path: Path, encoding: str | None) -> bytes:
    """Read text in UTF-8, or in another encoding if that is told or marked."""
    content = path.read_bytes()
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    if encoding is not None:
        with readable(path, f"text in {encoding}"):
            try:
                content = content.decode(encoding).encode()
            except LookupError as error:
                raise tables.OptionError(f"encoding: {error}") from None
    return content.removeprefix(codecs.BOM_UTF8)


def _open_delimited(
    path: Path, reading: Mapping[str, str], skip: Collection[str]
) -> tuple[list[str], _Load]:
    """Name the columns of a CSV or TSV file, and give what reads some of them."""
    content = _utf_8(path, reading.get("encoding"))
    delimiter = reading.get("delimiter") or _likely_delimiter(content, skip)
    quoting = _quoting(reading)
    layout = _layout(path, content, delimiter, quoting, skip)
    names = layout.names
    lengths = layout.lengths
    n_above = layout.header  # rows up to the one with the names
    if names and names[0].startswith("sep="):
        problem = (
            f"row {n_above} says {names[0]!r}, which is meant for Excel: delete "
            "this row"
        )
        raise bad_table(path.name, [problem])
    if not any(names):
        problem = "all rows are empty; the names of the columns must stand in the first"
        raise bad_table(path.name, [problem])
    n_names = sum(map(bool, names))
    filled = lengths[lengths > 0]
    usual = float(np.median(filled)) if len(filled) > 2 else len(names)
    if len(names) != usual or n_names < usual / 2:
        raise _title(path, n_above, n_names, usual)
    widest = max(len(names), layout.widest_above, lengths.max(initial=0))

    def load(columns: Sequence[str]) -> tuple[pd.DataFrame, list[str]]:
        once, problems = choose(columns, names)
        called = {names.index(column): column for column in once}
        with readable(path, "a table of cells"):
            table = pd.read_csv(
                io.BytesIO(content),
                sep=delimiter,
                # Rows that are too long are read too: they are reported, not cut.
                names=range(widest),
                # One column at least: it tells how many rows there are.
                usecols=list(called) or [0],
                dtype=str,
                keep_default_na=False,
                skip_blank_lines=False,
                quoting=quoting,
            )
            table = table[n_above:]
            first = n_above + 1
            table.index = pd.RangeIndex(first, first + len(lengths), name="row")
        is_ragged = (lengths > 0) & (lengths != len(names))
        for row in np.flatnonzero(is_ragged):
            problems.append(
                f"row {row + first} has {lengths[row]} of {len(names)} cells"
            )
        whole = table[lengths == len(names)]
        return whole.rename(columns=called)[once], problems

    return names, load


def _title(path: Path, row: int, n_names: int, usual: float) -> tables.BadTableError:
    """Build the error of a first row that is unlike most of those below it."""
    problem = (
        f"most rows have {usual:g} cells, but row {row}, with the names of columns, "
        f"has {n_names}: if it is a title, write 'skip: [{row}]' in a recipe and run "
        "`ratings inspect FILE --recipe RECIPE`"
    )
    return bad_table(path.name, [problem])


def _quoting(reading: Mapping[str, str]) -> int:
    """Tell whether quotation marks around a cell are part of it, as `csv` calls it."""
    if reading.get("quotes") == "none":
        return csv.QUOTE_NONE
    return csv.QUOTE_MINIMAL


def _likely_delimiter(content: bytes, skip: Collection[str] = ()) -> str:
    """Choose the delimiter that stands most often in the first line that counts."""
    first_line = ""
    for number, line in enumerate(io.BytesIO(content), start=1):
        if line.strip() and str(number) not in skip:
            first_line = line.decode(errors="replace")
            break
    return max(DELIMITERS, key=first_line.count)


class _Layout(NamedTuple):
    """Names of columns, the row they stand in, and the cells of the rows around it."""

    names: list[str]
    header: int
    lengths: np.ndarray
    widest_above: int


def _layout(
    path: Path, content: bytes, delimiter: str, quoting: int, skip: Collection[str]
) -> _Layout:
    """Name the columns, and count the cells of each row below; 0 if all are empty.

    The names stand in the first row that is neither empty nor skipped.
    """
    csv.field_size_limit(LONGEST_FIELD)
    lines = map(bytes.decode, io.BytesIO(content))
    rows = csv.reader(lines, delimiter=delimiter, quoting=quoting)
    header = 0
    widest_above = 0
    names = []
    try:
        for row in rows:
            header += 1
            if str(header) not in skip:
                names = [name.strip() for name in row]
                if any(names):
                    break
            widest_above = max(widest_above, len(row))
        lengths = np.fromiter(map(_length, rows), int)
    except UnicodeDecodeError:
        line = rows.line_num + 1
        problem = (
            f"line {line} is not UTF-8; save the file as 'CSV UTF-8', or name its "
            "encoding in a recipe, as in 'file: {encoding: cp1252}' (Windows)"
        )
        raise bad_table(path.name, [problem]) from None
    except csv.Error as error:
        raise unreadable(path, "a table of cells", error) from None
    return _Layout(names, header, lengths, widest_above)


def _length(row: list[str]) -> int:
    """Count the cells of a row; none if all are empty."""
    has_text = any(cell.strip() for cell in row)
    return len(row) if has_text else 0


def _open_json(
    path: Path, reading: Mapping[str, str], skip: Collection[str]
) -> tuple[list[str], _Load]:
    """Name the keys in a JSON file, and give what reads some of them."""
    with readable(path, "JSON"):
        try:
            document = json.loads(_utf_8(path, reading.get("encoding")))
        except RecursionError:
            problem = "too many JSON values within each other"
            raise bad_table(path.name, [problem]) from None
    objects = _list_of_objects(document, reading.get("records"), path.name)

    def records() -> Iterator[tuple[int, dict, str]]:
        for number, each in enumerate(objects, start=1):
            yield number, each, ""

    return _open_records(path, records, "record")


def _list_of_objects(document: object, key: str | None, name: str) -> list[dict]:
    """Find the objects in a JSON document.

    They are the list itself; or, in an object, the list under a key, by default the
    longest one; or the object alone, if there is no list of objects in it.
    """
    if isinstance(document, dict):
        lists = {each: value for each, value in document.items() if _are_objects(value)}
        if key and key not in lists:
            problem = f"there is no list of objects under {key!r}; correct `records`"
            raise bad_table(name, [problem])
        longest = key or max(lists, key=lambda each: len(lists[each]), default=None)
        document = lists[longest] if longest else [document]
    if not _are_objects(document):
        problem = "it holds no list of objects, and no object with such a list"
        raise bad_table(name, [problem])
    return document


def _are_objects(value: object) -> bool:
    """Tell whether this is a list of JSON objects."""
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(element, dict) for element in value)


def _open_json_lines(
    path: Path, reading: Mapping[str, str], skip: Collection[str]
) -> tuple[list[str], _Load]:
    """Name the keys in a file of JSON objects, one a line, and give what reads some."""

    def records() -> Iterator[tuple[int, dict | None, str]]:
        return tables.json_objects(path)

    return _open_records(path, records, "line")


def _open_records(
    path: Path, records: _Records, counted: str
) -> tuple[list[str], _Load]:
    """Name the keys of the first objects in a file, and give what reads some of all."""
    first_keys = {}  # a dict, since it keeps their order
    with readable(path, "text"):
        for _, record, _ in itertools.islice(records(), HEAD):
            if record:
                first_keys |= dict(_flat(record))
    names = list(first_keys)

    def load(columns: Sequence[str]) -> tuple[pd.DataFrame, list[str]]:
        numbers = []
        broken = []
        keys = dict.fromkeys(names)
        values = {column: [] for column in columns}
        for number, record, problem in records():
            if record is None:
                broken.append(problem)
                continue
            numbers.append(number)
            flat = dict(_flat(record))
            keys |= flat
            for column in columns:
                values[column].append(flat.get(column))
        if not keys:
            raise bad_table(path.name, broken or ["the file is empty"])
        once, problems = choose(columns, list(keys))
        index = pd.Index(numbers, name=counted)
        table = pd.DataFrame(values, index=index, dtype=object)
        return table[once], problems + broken

    return names, load


def _flat(record: dict, prefix: str = "") -> Iterator[tuple[str, object]]:
    """Give the values of an object and of objects in it, under names with dots."""
    for key, value in record.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield _with_whole_characters(prefix + key), _with_whole_characters(value)


def _with_whole_characters(value: object) -> object:
    """Write half a character, which no table can hold, as its code."""
    if isinstance(value, str):
        if value.isascii():
            return value
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, list):
        return [_with_whole_characters(element) for element in value]
    if isinstance(value, dict):
        pairs = value.items()
        return {_with_whole_characters(k): _with_whole_characters(v) for k, v in pairs}
    return value


def _open_parquet(
    path: Path, reading: Mapping[str, str], skip: Collection[str]
) -> tuple[list[str], _Load]:
    """Name the columns of a Parquet file, and give what reads some of them."""
    with readable(path, "a Parquet file"):
        file = pyarrow.parquet.ParquetFile(path)
    names = file.schema_arrow.names

    def load(columns: Sequence[str]) -> tuple[pd.DataFrame, list[str]]:
        once, problems = choose(columns, names)
        if file.metadata.num_rows * len(once) > MOST_CELLS:
            raise bad_table(path.name, [f"more than {MOST_CELLS:,} cells; divide it"])
        with readable(path, "a Parquet file"):
            table = file.read(columns=once).to_pandas(ignore_metadata=True)
        table.index = pd.RangeIndex(1, len(table) + 1, name="row")
        return table, problems

    return names, load


def _open_excel(
    path: Path, reading: Mapping[str, str], skip: Collection[str]
) -> tuple[list[str], _Load]:
    """Name the columns of a sheet, by default the first, and give what reads some."""
    sheet = _excel_sheet(path, reading.get("sheet"))
    sheet.index = pd.RangeIndex(1, len(sheet) + 1, name="row")
    may_be_header = sheet.notna().any(axis="columns")
    may_be_header &= ~sheet.index.map(str).isin(skip)
    if not may_be_header.any():
        raise bad_table(path.name, ["the sheet is empty"])
    header = may_be_header.idxmax()
    names = ["" if pd.isna(name) else str(name).strip() for name in sheet.loc[header]]
    table = sheet.loc[header + 1 :].astype(object)
    n_names = sum(map(bool, names))
    usual = table.notna().sum(axis="columns").median()
    if n_names < usual / 2:
        raise _title(path, header, n_names, usual)

    def load(columns: Sequence[str]) -> tuple[pd.DataFrame, list[str]]:
        once, problems = choose(columns, names)
        positions = [names.index(column) for column in once]
        return table.iloc[:, positions].set_axis(once, axis="columns"), problems

    return names, load


def other_sheets(file: str | Path, reading: Mapping[str, str]) -> list[str]:
    """Name the sheets of an Excel file that are not read; none for other files."""
    path = tables.find(file)
    if path.suffix.lower() != ".xlsx":
        return []
    names = _sheet_names(path)
    sheet = reading.get("sheet", names[0])
    return [name for name in names if name != sheet]


def _sheet_names(path: Path) -> list[str]:
    """Name the sheets of an Excel file."""
    with readable(path, "an Excel file"):
        try:
            names = calamine.load_workbook(path).sheet_names
        except (calamine.CalamineError, calamine.PasswordError) as error:
            raise unreadable(path, "an Excel file", error) from None
    if not names:
        raise bad_table(path.name, ["there is no sheet in this Excel file"])
    return names


def _excel_sheet(path: Path, sheet: str | None) -> pd.DataFrame:
    """Read all cells of a sheet, without taking its first row for names."""
    with readable(path, "an Excel file"):
        try:
            # An Excel file is a packed folder: what counts is its size unpacked.
            with zipfile.ZipFile(path) as parts:
                n_bytes = sum(part.file_size for part in parts.infolist())
        except zipfile.BadZipFile as error:
            raise unreadable(path, "an Excel file", error) from None
    _require_size(path, n_bytes)
    names = _sheet_names(path)
    if sheet is None:
        sheet = names[0]
    if sheet not in names:
        there_are = ", ".join(map(tables.cell, names))
        problem = f"there is no sheet {tables.cell(sheet)}; there are {there_are}"
        raise bad_table(path.name, [problem])
    with readable(path, "an Excel file"):
        try:
            return pd.read_excel(path, sheet_name=sheet, header=None, engine="calamine")
        except calamine.CalamineError as error:
            raise unreadable(path, "an Excel file", error) from None


FORMATS = {
    ".csv": _open_delimited,
    ".tsv": _open_delimited,
    ".txt": _open_delimited,
    ".parquet": _open_parquet,
    ".json": _open_json,
    ".jsonl": _open_json_lines,
    ".ndjson": _open_json_lines,
    ".xlsx": _open_excel,
}
