"""Files of ratings as tables of text, within limits, or one sentence that refuses.

Every cell becomes text as it was written, so that a file says the same in every format
and nothing is lost: a system called NA stays one. What a cell means is decided in
`ratings.roles`.
"""

import csv
import io
import json
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path

import numpy as np
import pandas as pd

from helpers.data.tables import BadTableError, cell, find

MOST_BYTES = 2**30
MOST_CELLS = 50_000_000
MOST_COLUMNS = 10_000
DEEPEST = 20  # objects within each other
DELIMITERS = ",;\t|"
BLOCK = 2**22  # bytes of a sheet that are looked at together
CELL_PLACE = re.compile(rb'<c\b[^>]*?\br="([A-Z]{1,3})(\d{1,7})"')
TEXT_FORMATS = (".csv", ".tsv", ".txt")
FORMATS = (*TEXT_FORMATS, ".json", ".jsonl", ".ndjson", ".parquet", ".xlsx")


@dataclass
class Table:
    """Cells of a file as text, missing where there is nothing; the index names rows."""

    name: str
    frame: pd.DataFrame
    notes: list[str] = field(default_factory=list)
    empty_rows: int = 0


def read(file: str | Path, *, sheet: str = "", records: str = "") -> Table:
    """Read a file of ratings.

    Parameters
    ----------
    file : str or pathlib.Path
        CSV, TSV, JSON, JSON lines, Parquet or Excel, told by the end of its name.
    sheet : str, optional
        Sheet of an Excel file; by default its only one.
    records : str, optional
        Key of the list of objects in a JSON file that has several.

    Returns
    -------
    Table
        Rows are numbered as an editor or Excel numbers them; objects from 1.

    Raises
    ------
    BadTableError
        If the file is not what its name says, is too large, or is ambiguous.

    Examples
    --------
    >>> table = read("data/example/ratings.csv")
    >>> table.frame.loc[2, ["item_id", "overall"]].tolist()
    ['prompt-01-A', '4']
    """
    path = find(file)
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise BadTableError(
            f"{path.name}: the format is told by the end of the name, and known are "
            f"{', '.join(FORMATS)}; save the file as one of these"
        )
    _check_bytes(path.name, path.stat().st_size)
    if suffix in TEXT_FORMATS:
        table = _read_delimited(path)
    elif suffix == ".json":
        table = _read_json(path, records)
    elif suffix in (".jsonl", ".ndjson"):
        table = _from_records(path.name, _json_lines(path), "line")
    elif suffix == ".parquet":
        table = _read_parquet(path)
    else:
        table = _read_excel(path, sheet)
    return _without_empty_rows(table)


def _refusal(name: str, problem: str) -> BadTableError:
    """Build the error of a file that is not read."""
    return BadTableError(f"{name}: {problem}")


def _check_bytes(name: str, n_bytes: int) -> None:
    """Refuse what would fill the memory."""
    if n_bytes > MOST_BYTES:
        raise _refusal(
            name,
            f"{n_bytes / 2**30:.1f} GiB are more than the {MOST_BYTES / 2**30:g} GiB "
            "that are read; keep the columns you need, or divide the file",
        )


def _check_grid(name: str, n_rows: int, n_columns: int) -> None:
    """Refuse more columns or cells than can be looked at in a few seconds."""
    if n_columns > MOST_COLUMNS:
        raise _refusal(
            name,
            f"{n_columns:,} columns are more than the {MOST_COLUMNS:,} that are read; "
            "keep the columns you need",
        )
    if n_rows * n_columns > MOST_CELLS:
        raise _refusal(
            name,
            f"a grid of {n_rows:,} rows and {n_columns:,} columns has more than the "
            f"{MOST_CELLS:,} cells that are read; keep the rows and columns you need",
        )


def _without_empty_rows(table: Table) -> Table:
    """Leave out rows without any text, and count them."""
    is_empty = table.frame.isna().all(axis="columns")
    table.empty_rows = int(is_empty.sum())
    table.frame = table.frame[~is_empty]
    if table.frame.empty:
        raise _refusal(table.name, "there are no rows below the names of the columns")
    return table


def _as_text(column: pd.Series) -> pd.Series:
    """Write each distinct value of a column as text; nothing stays nothing."""
    if column.dtype.kind in "OMm" or isinstance(column.dtype, pd.StringDtype):
        # lists and objects cannot be told apart by a table of distinct values
        return column.map(_text, na_action="ignore").astype("object")
    codes, distinct = pd.factorize(column)
    texts = np.array([*map(_text, distinct.tolist()), None], dtype=object)
    return pd.Series(texts[codes], column.index, name=column.name)


def _text(value: object) -> str | None:
    """Write a value as text: a whole number without a point, truth as yes or no."""
    if value is None or value is pd.NaT or value is pd.NA:
        return None
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        return None if np.isnan(value) else f"{value:.15g}"
    if isinstance(value, list | dict):
        return json.dumps(value, default=str)
    if isinstance(value, datetime | date):
        return value.isoformat()
    text = str(value).strip()
    # half a character (a lone surrogate) cannot be written in UTF-8
    return text.encode(errors="backslashreplace").decode() or None


def _finished(name: str, frame: pd.DataFrame, counted: str, notes: list[str]) -> Table:
    """Turn all cells into text, and name the rows."""
    frame.index.name = counted
    texts = {column: _as_text(frame[column]) for column in frame}
    return Table(name, pd.DataFrame(texts, index=frame.index), notes)


def _column_names(name: str, cells: list[object]) -> list[str]:
    """Name the columns; one without a name is called by its place."""
    names = []
    for place, label in enumerate(cells, start=1):
        text = "" if label is None or pd.isna(label) else str(label).strip()
        names.append(text or f"column {place}")
    twice = sorted({label for label in names if names.count(label) > 1})
    if twice:
        raise _refusal(name, f"two columns are called {cell(twice[0])}; rename one")
    return names


def _read_delimited(path: Path) -> Table:
    """Read CSV or TSV in UTF-8 (or UTF-16 with its mark)."""
    text = _decoded(path)
    lines = io.StringIO(text)
    first = lines.readline()
    n_above = 0
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ""
    if first.lower().startswith("sep="):  # a line for Excel
        delimiter = first.strip()[4:5]
        first = lines.readline()
        n_above = 1
    while first and not first.strip():
        first = lines.readline()
        n_above += 1
    delimiter = delimiter or max(DELIMITERS, key=first.count)
    body = io.StringIO(text)
    for _ in range(n_above):
        body.readline()
    try:
        names = next(csv.reader(body, delimiter=delimiter), [])
    except csv.Error as error:
        raise _refusal(path.name, f"it is no table of cells ({error})") from None
    if not any(names):
        raise _refusal(path.name, "the file is empty")
    _check_grid(path.name, 1, len(names))
    names = _column_names(path.name, names)
    _check_grid(path.name, text.count("\n"), len(names))
    first_row = n_above + 2
    _check_lengths(path.name, text, delimiter, n_above + 1, len(names))
    try:
        frame = pd.read_csv(
            body,
            sep=delimiter,
            names=names,
            dtype=object,
            index_col=False,
            keep_default_na=False,
            skip_blank_lines=False,
        )
    except (pd.errors.ParserError, ValueError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise _refusal(path.name, f"it is no table of cells ({reason})") from None
    frame.index = pd.RangeIndex(first_row, first_row + len(frame))
    return _finished(path.name, frame, "row", [])


def _check_lengths(
    name: str, text: str, delimiter: str, n_above: int, n_columns: int
) -> None:
    """Refuse a row with more or fewer cells than there are columns."""
    lines = io.StringIO(text)
    for _ in range(n_above):
        lines.readline()
    rows = csv.reader(lines, delimiter=delimiter)
    try:
        for number, row in enumerate(rows, start=n_above + 1):
            if len(row) != n_columns and any(row):
                problem = f"row {number} has {len(row)} of {n_columns} cells"
                raise _refusal(name, f"{problem}; correct the file")
    except csv.Error as error:
        raise _refusal(name, f"it is no table of cells ({error})") from None


def _decoded(path: Path) -> str:
    """Decode a text file, and say which line is not in UTF-8."""
    content = path.read_bytes()
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", errors="replace")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problem = f"line {line} is not UTF-8; save the file as 'CSV UTF-8'"
        raise _refusal(path.name, problem) from None
    if "\0" in text:
        raise _refusal(path.name, "it is no text file (it has null characters)")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _read_json(path: Path, key: str) -> Table:
    """Read a list of objects, or the one list of objects within an object."""
    try:
        document = json.loads(_decoded(path))
    except RecursionError:
        raise _too_deep(path.name) from None
    except ValueError as error:
        raise _refusal(path.name, f"it is not valid JSON ({error})") from None
    notes = []
    if isinstance(document, dict):
        lists = [name for name, value in document.items() if _are_objects(value)]
        if key and key not in lists:
            problem = f"there is no list of objects called {cell(key)}"
            raise _refusal(path.name, f"{problem}; there are {', '.join(lists)}")
        if len(lists) > 1 and not key:
            problem = f"there are several lists of objects ({', '.join(lists)})"
            raise _refusal(path.name, f"{problem}; choose one with --records")
        if lists:
            key = key or lists[0]
            notes.append(f"read from the list {key!r}")
            document = document[key]
    if not _are_objects(document):
        problem = (
            "a list of objects is needed, one for each rating or item; docs/own.md "
            "shows how to bring other forms into one table"
        )
        raise _refusal(path.name, problem)
    return _from_records(path.name, enumerate(document, 1), "record", notes)


def _are_objects(value: object) -> bool:
    """Tell whether this is a list of JSON objects."""
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(element, dict) for element in value)


def _json_lines(path: Path) -> Iterator[tuple[int, dict]]:
    """Read JSON objects, one a line, with the number of the line."""
    for number, line in enumerate(_decoded(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except RecursionError:
            raise _too_deep(path.name) from None
        except ValueError as error:
            problem = f"line {number} is not valid JSON ({error})"
            raise _refusal(path.name, problem) from None
        if not isinstance(record, dict):
            raise _refusal(path.name, f"line {number} is not a JSON object")
        yield number, record


def _too_deep(name: str) -> BadTableError:
    """Build the error of objects within objects within objects."""
    problem = f"objects stand within each other more than {DEEPEST} times"
    return _refusal(name, f"{problem}; write one flat object for each rating")


def _from_records(
    name: str,
    records: Iterator[tuple[int, dict]],
    counted: str,
    notes: list[str] | None = None,
) -> Table:
    """Make a table of objects; values in inner objects get names with dots."""
    numbers = []
    columns = {}
    for number, record in records:
        for key, value in _flat(record, "", name, 1):
            values = columns.setdefault(key, [])
            values.extend([None] * (len(numbers) - len(values)))
            values.append(value)
        numbers.append(number)
        _check_grid(name, len(numbers), len(columns))
    if not columns:
        raise _refusal(name, "there are no objects with keys in it")
    for values in columns.values():
        values.extend([None] * (len(numbers) - len(values)))
    frame = pd.DataFrame(columns, index=numbers, dtype=object)
    return _finished(name, frame, counted, notes or [])


def _flat(
    record: dict, prefix: str, name: str, depth: int
) -> Iterator[tuple[str, object]]:
    """Give the values of an object and of the objects in it."""
    if depth > DEEPEST:
        raise _too_deep(name)
    for key, value in record.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{prefix}{key}.", name, depth + 1)
        else:
            yield f"{prefix}{key}", value


def _read_parquet(path: Path) -> Table:
    """Read a Parquet file, if pyarrow is installed."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise _needs("parquet", path.name) from None
    try:
        file = pq.ParquetFile(path)
        names = _column_names(path.name, list(file.schema_arrow.names))
        _check_grid(path.name, file.metadata.num_rows, len(names))
        frame = file.read().to_pandas(ignore_metadata=True)
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0].replace(str(path), path.name)
        raise _refusal(path.name, f"it is no Parquet file ({reason})") from None
    frame.columns = names
    frame.index = pd.RangeIndex(1, len(frame) + 1)
    return _finished(path.name, frame, "row", [])


def _needs(extra: str, name: str) -> BadTableError:
    """Build the error of a format whose packages are not installed."""
    return _refusal(
        name,
        f"this format needs further packages: pip install '.[{extra}]' in the clone, "
        "or save the file as CSV",
    )


def _read_excel(path: Path, sheet: str) -> Table:
    """Read a sheet, if python-calamine is installed and no cell lies too far out."""
    try:
        import python_calamine as calamine
    except ImportError:
        raise _needs("excel", path.name) from None
    try:
        _check_sheets(path)
        names = calamine.load_workbook(path).sheet_names
        if sheet and sheet not in names:
            there_are = ", ".join(map(cell, names))
            problem = f"there is no sheet {cell(sheet)}; there are {there_are}"
            raise _refusal(path.name, problem)
        if len(names) > 1 and not sheet:
            there_are = ", ".join(map(cell, names))
            problem = f"there are several sheets ({there_are})"
            raise _refusal(path.name, f"{problem}; choose one with --sheet")
        cells = pd.read_excel(
            path,
            sheet_name=sheet or names[0],
            header=None,
            engine="calamine",
            keep_default_na=False,
            na_values=[""],
        )
    except (
        zipfile.BadZipFile,
        calamine.CalamineError,
        calamine.PasswordError,
    ) as error:
        raise _refusal(path.name, f"it is no Excel file ({error})") from None
    has_text = cells.notna().any(axis="columns")
    if not has_text.any():
        raise _refusal(path.name, "the sheet is empty")
    header = int(has_text.idxmax())
    frame = cells.loc[header + 1 :].astype(object)
    frame.columns = _column_names(path.name, cells.loc[header].tolist())
    frame.index = frame.index + 1  # as Excel numbers rows
    return _finished(path.name, frame, "row", [])


def _check_sheets(path: Path) -> None:
    """Refuse sheets whose last cell lies so far out that the grid fills the memory."""
    with zipfile.ZipFile(path) as parts:
        members = parts.infolist()
        _check_bytes(path.name, sum(part.file_size for part in members))
        for part in members:
            if not part.filename.startswith("xl/worksheets/"):
                continue
            n_rows, n_columns = _extent(parts, part)
            _check_grid(path.name, n_rows, n_columns)


def _extent(parts: zipfile.ZipFile, part: zipfile.ZipInfo) -> tuple[int, int]:
    """Find the last row and column of a sheet without building its grid."""
    n_rows = 0
    n_columns = 0
    rest = b""
    with parts.open(part) as stream:
        while block := stream.read(BLOCK):
            for letters, row in CELL_PLACE.findall(rest + block):
                n_rows = max(n_rows, int(row))
                n_columns = max(n_columns, _column_number(letters))
            rest = block[-200:]  # a cell may begin in one block and end in the next
    return n_rows, n_columns


def _column_number(letters: bytes) -> int:
    """Number the columns of a sheet: A is 1, XFD is 16,384."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
    return number
