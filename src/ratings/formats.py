"""Files of many formats as tables of cells: CSV, TSV, JSON, JSON lines, Parquet, Excel, and gz.

A file is opened in two steps, so that a large one is read only where it is needed:
first the names of its columns, then the cells of some of them as they are written, and
what is wrong with them.
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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

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

_Records = Callable[[], Iterable[tuple[int, dict | None, str]]]
_Load = Callable[[Sequence[str]], tuple[pd.DataFrame, list[str]]]


@contextlib.contextmanager
def opened(
    file: str | Path, reading: Mapping[str, str]
) -> Iterator[tuple[str, list[str], _Load]]:
    """Open a file: its name, the names of its columns, and what reads some of them.

    How to read it may be told: ``delimiter``, ``encoding``, ``quotes`` ("none"),
    ``sheet`` and ``records`` (the key of the list that counts in a JSON file).
    """
    path = tables.find(file)
    with tempfile.TemporaryDirectory() as folder:
        if path.suffix.lower() == ".gz":
            path = _unpacked(path, Path(folder) / path.stem)
        if path.suffix.lower() not in FORMATS:
            raise tables.BadTableError(
                f"{path.name}: the format is told by the end of the name, and known are "
                f"{', '.join(FORMATS)}, each also as .gz. Save the file as one of these."
            )
        _require_size(path, path.stat().st_size)
        yield path.name, *FORMATS[path.suffix.lower()](path, reading)


def _require_size(path: Path, n_bytes: int) -> None:
    """Stop before a file fills the memory."""
    if n_bytes > LARGEST_FILE:
        problem = f"unpacked it has more than {LARGEST_FILE / 2**30:g} GiB; divide it"
        raise bad_table(path.name, [problem])


def _unpacked(path: Path, target: Path) -> Path:
    """Unpack a gz file, but no more than can be read."""
    try:
        with gzip.open(path) as packed, target.open("wb") as unpacked:
            while unpacked.tell() <= LARGEST_FILE and (part := packed.read(2**24)):
                unpacked.write(part)
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


def _open_delimited(path: Path, reading: Mapping[str, str]) -> tuple[list[str], _Load]:
    """Name the columns of a CSV or TSV file, and give what reads some of them."""
    content = _utf_8(path, reading.get("encoding"))
    first = content.partition(b"\n")[0].decode(errors="replace")
    delimiter = reading.get("delimiter") or max(DELIMITERS, key=first.count)
    quoting = csv.QUOTE_NONE if reading.get("quotes") == "none" else csv.QUOTE_MINIMAL
    csv.field_size_limit(LONGEST_FIELD)
    lines = map(bytes.decode, io.BytesIO(content))
    rows = csv.reader(lines, delimiter=delimiter, quoting=quoting)
    try:
        names = [name.strip() for name in next(rows, [])]
        lengths = np.fromiter(
            (len(row) * any(map(str.strip, row)) for row in rows), int
        )
    except UnicodeDecodeError:
        problem = f"line {rows.line_num + 1} is not UTF-8; save the file as 'CSV UTF-8'"
        raise bad_table(
            path.name, [f"{problem}, or name its encoding in a recipe"]
        ) from None
    except csv.Error as error:
        raise unreadable(path, "a table of cells", error) from None
    if not any(names):
        raise bad_table(
            path.name, ["row 1 is empty; the names of the columns must stand there"]
        )

    def load(columns: Sequence[str]) -> tuple[pd.DataFrame, list[str]]:
        found, problems = choose(columns, names)
        places = {name: place for place, name in enumerate(names)}
        positions = {places[column]: column for column in found}
        with readable(path, "a table of cells"):
            table = pd.read_csv(
                io.BytesIO(content),
                sep=delimiter,
                names=range(lengths.max(initial=len(names))),
                usecols=[*positions] or [0],
                dtype=str,
                keep_default_na=False,
                skip_blank_lines=False,
                quoting=quoting,
            )[1:]
            table.index = pd.RangeIndex(2, len(lengths) + 2, name="row")
        ragged = np.flatnonzero((lengths > 0) & (lengths != len(names)))
        problems += [
            f"row {row + 2} has {lengths[row]} of {len(names)} cells" for row in ragged
        ]
        return table[lengths == len(names)].rename(columns=positions)[found], problems

    return names, load


def _open_json(path: Path, reading: Mapping[str, str]) -> tuple[list[str], _Load]:
    """Name the keys in a JSON file, and give what reads some of them."""
    with readable(path, "JSON"):
        try:
            document = json.loads(_utf_8(path, reading.get("encoding")))
        except RecursionError:
            raise bad_table(
                path.name, ["too many JSON values within each other"]
            ) from None
    found = _list_of_records(document, reading.get("records"), path.name)
    return _open_records(
        path, lambda: ((n, each, "") for n, each in enumerate(found, 1)), "record"
    )


def _list_of_records(document: object, key: str | None, name: str) -> list[dict]:
    """Find the objects in a JSON document: the list itself, a list in it, or all as one object."""
    if isinstance(document, dict):
        lists = {name: each for name, each in document.items() if _are_objects(each)}
        if key and key not in lists:
            raise bad_table(
                name, [f"there is no list of objects under {key!r}; correct `records`"]
            )
        longest = key or max(lists, key=lambda name: len(lists[name]), default=None)
        document = lists[longest] if longest else [document]
    if not _are_objects(document):
        raise bad_table(
            name, ["it holds no list of objects, and no object with such a list"]
        )
    return document


def _are_objects(value: object) -> bool:
    """Tell whether this is a list of JSON objects."""
    return (
        isinstance(value, list)
        and value != []
        and all(isinstance(v, dict) for v in value)
    )


def _open_records(
    path: Path, records: _Records, counted: str
) -> tuple[list[str], _Load]:
    """Name the keys of the first objects in a file, and give what reads some of all objects."""
    with readable(path, "text"):
        heads = [
            dict(_flat(record))
            for _, record, _ in itertools.islice(records(), 100)
            if record
        ]
    names = list(dict.fromkeys(itertools.chain(*heads)))

    def load(columns: Sequence[str]) -> tuple[pd.DataFrame, list[str]]:
        numbers, known, problems = [], dict.fromkeys(names), []
        values = {column: [] for column in columns}
        for number, record, problem in records():
            if record is None:
                problems.append(problem)
                continue
            numbers.append(number)
            flat = dict(_flat(record))
            known |= flat
            for column in columns:
                values[column].append(flat.get(column))
        if not known:
            raise bad_table(path.name, problems or ["the file is empty"])
        found, missing = choose(columns, list(known))
        table = pd.DataFrame(
            values, index=pd.Index(numbers, name=counted), dtype=object
        )
        return table[found], missing + problems

    return names, load


def _flat(record: dict, prefix: str = "") -> Iterator[tuple[str, object]]:
    """Give the values of an object and of objects in it, under names joined by dots."""
    for key, value in record.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _open_parquet(path: Path, reading: Mapping[str, str]) -> tuple[list[str], _Load]:
    """Name the columns of a Parquet file, and give what reads some of them."""
    with readable(path, "a Parquet file"):
        file = pyarrow.parquet.ParquetFile(path)
    names = file.schema_arrow.names

    def load(columns: Sequence[str]) -> tuple[pd.DataFrame, list[str]]:
        found, problems = choose(columns, names)
        if file.metadata.num_rows * len(found) > MOST_CELLS:
            raise bad_table(path.name, [f"more than {MOST_CELLS:,} cells; divide it"])
        with readable(path, "a Parquet file"):
            table = file.read(columns=found).to_pandas(ignore_metadata=True)
        return table.set_axis(pd.RangeIndex(1, len(table) + 1, name="row")), problems

    return names, load


def _open_excel(path: Path, reading: Mapping[str, str]) -> tuple[list[str], _Load]:
    """Name the columns of a sheet, the first unless told, and give what reads some of them."""
    with readable(path, "an Excel file"):
        try:
            with zipfile.ZipFile(path) as parts:
                _require_size(path, sum(part.file_size for part in parts.infolist()))
            sheet = reading.get("sheet", 0)
            table = pd.read_excel(
                path, sheet_name=sheet, header=None, engine="calamine"
            )
        except (
            zipfile.BadZipFile,
            calamine.CalamineError,
            calamine.PasswordError,
        ) as error:
            raise unreadable(path, "an Excel file", error) from None
    if table.empty:
        raise bad_table(path.name, ["the sheet is empty"])
    names = [str(name).strip() for name in table.iloc[0]]
    table = (
        table[1:].astype(object).set_axis(pd.RangeIndex(2, len(table) + 1, name="row"))
    )

    def load(columns: Sequence[str]) -> tuple[pd.DataFrame, list[str]]:
        found, problems = choose(columns, names)
        positions = [names.index(column) for column in found]
        return table.iloc[:, positions].set_axis(found, axis="columns"), problems

    return names, load


FORMATS = {
    ".csv": _open_delimited,
    ".tsv": _open_delimited,
    ".txt": _open_delimited,
    ".parquet": _open_parquet,
    ".json": _open_json,
    ".jsonl": lambda path, _: _open_records(
        path, lambda: tables.json_objects(path), "line"
    ),
    ".ndjson": lambda path, _: _open_records(
        path, lambda: tables.json_objects(path), "line"
    ),
    ".xlsx": _open_excel,
}
