"""Tables of files and analyses: read and checked; errors say where and what to do."""

import codecs
import collections
import contextlib
import csv
import difflib
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from helpers import paths

SHOWN_PROBLEMS = 10
SHOWN_NAMES = 12
SEARCHED_NAMES = 1000  # for one like a missing name: more would take long
LONGEST_CELL = 40  # characters of a cell that a message shows
LONGEST_REASON = 120
LARGEST = 2**63  # a number that can be computed with is smaller
FORMULA = ("=", "+", "-", "@", "\t", "\r")
# a number or interval with a sign, in which there is nothing to call or look up
SIGNED = re.compile(r"[+-]([\d .,%<=\[\]+-]|to|p|e|inf|nan)*")
UNREADABLE = (
    csv.Error,
    OSError,
    ValueError,
    TypeError,
    MemoryError,
    OverflowError,
)


class PlainError(ValueError):
    """A mistake in the input, not in the code; the message says what to do."""

    def _render_traceback_(self) -> list[str]:
        """Show readers of a notebook the message alone."""
        return [f"{type(self).__name__}: {self}"]


def plainly(error: Exception) -> str:
    """Say in plain words what went wrong."""
    if isinstance(error, PlainError):
        return str(error)
    if isinstance(error, OSError):
        known = [str(part) for part in (error.strerror, error.filename) if part]
        return ": ".join(known) if known else str(error)
    return f"{type(error).__name__}: {error}"


class OptionError(PlainError):
    """A parameter that cannot be used as it is; the message shows what can."""


class BadTableError(PlainError):
    """A table that breaks its schema, with the file, column, row and value at fault."""


def bad_table(
    name: str, problems: Sequence[str], shown: int = SHOWN_PROBLEMS
) -> BadTableError:
    """Build the error that lists what is wrong with a table."""
    count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
    lines = [f"{name}: {count}. Correct the file and load it again."]
    lines += [f"  {problem}" for problem in problems[:shown]]
    if len(problems) > shown:
        lines.append(f"  ... and {len(problems) - shown} more")
    return BadTableError("\n".join(lines))


@contextlib.contextmanager
def readable(path: Path, what: str) -> Iterator[None]:
    """Let a file be read, and say so in plain words if it is not what its name says."""
    try:
        yield
    except PlainError:
        raise
    except _reading_errors() as error:
        raise unreadable(path, what, error) from None


def _reading_errors() -> tuple[type[Exception], ...]:
    """Errors of files, those of pyarrow among them if it is installed and loaded."""
    pyarrow = sys.modules.get("pyarrow")
    return UNREADABLE if pyarrow is None else (*UNREADABLE, pyarrow.ArrowException)


def unreadable(path: Path, what: str, error: Exception) -> BadTableError:
    """Build the error for a file that is not what its name says."""
    reason = str(error).partition("\n")[0].replace(str(path), path.name)
    if len(reason) > LONGEST_REASON:
        reason = f"{reason[:LONGEST_REASON]}…"
    return bad_table(path.name, [f"the file cannot be read as {what} ({reason})"])


def cell(value: object) -> str:
    """Write a value as it is quoted in a message, cut if it is long."""
    if isinstance(value, str) and len(value) > LONGEST_CELL:
        value = f"{value[:LONGEST_CELL]}…"
    text = repr(value)
    return text if len(text) <= 2 * LONGEST_CELL else f"{text[: 2 * LONGEST_CELL]}…"


def find(file: str | Path) -> Path:
    """Find a file in the working folder or in the project."""
    for path in (Path(file), paths.ROOT / file):
        # unlike `Path.is_file`, false for a name that no file can have
        if os.path.isfile(path):  # noqa: PTH113
            return path
    raise BadTableError(
        f"{cell(str(file))}: there is no such file. A relative name is looked for in "
        "the folder in which the notebook or command runs, then in the project."
    )


def choose(columns: Iterable[str], names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the columns that stand in a file once, and the problems of the others."""
    counts = collections.Counter(names)
    usable = []
    problems = []
    for column in columns:
        times = counts[column]
        if times == 1:
            usable.append(column)
        elif times > 1:
            problems.append(
                f"column {cell(column)} stands there {times} times; rename all but one"
            )
        else:
            hint = _hint(column, names)
            problems.append(f"column {cell(column)} is missing; {hint}")
    return usable, problems


def _hint(column: str, names: Sequence[str]) -> str:
    """Name the column that may be meant, or those that there are."""
    similar = difflib.get_close_matches(column, names[:SEARCHED_NAMES])
    if similar:
        return f"did you mean {cell(similar[0])}?"
    if not names:
        return "there are none"
    listing = ", ".join(cell(name) for name in names[:SHOWN_NAMES])
    others = " and others" if len(names) > SHOWN_NAMES else ""
    return f"there are {listing}{others}"


def require(frame: pd.DataFrame, columns: Iterable[str], name: str) -> None:
    """Raise unless a table has all the columns needed to make sense of it."""
    names = [str(column) for column in frame.columns]
    _, problems = choose(columns, names)
    if problems:
        raise bad_table(name, problems)


def require_known(values: pd.Series, known: Iterable, where: str, name: str) -> None:
    """Raise unless every value of a column is one that stands in another table."""
    is_known = values.isin(list(known)).to_numpy()
    rows = np.flatnonzero(~is_known)
    if len(rows):
        problems = [
            f"column {values.name!r}, row {row + 1}: {cell(value)} is not in {where}"
            for row, value in zip(rows, values.iloc[rows], strict=True)
        ]
        raise bad_table(name, problems)


def read_csv(path: Path, **options: object) -> pd.DataFrame:
    """Read a CSV file in UTF-8."""
    with readable(path, "a table of cells"):
        return pd.read_csv(path, **options)


def to_csv_bytes(frame: pd.DataFrame, **options: object) -> bytes:
    """Write a table as CSV; text that looks like a formula gets an apostrophe."""
    safe = frame.rename(index=_no_formula, columns=_no_formula)
    for place, dtype in enumerate(frame.dtypes):
        if not pd.api.types.is_numeric_dtype(dtype):
            safe.isetitem(place, frame.iloc[:, place].map(_no_formula).array)
    return safe.to_csv(lineterminator="\n", **options).encode()


def _no_formula(value: object) -> object:
    """Quote text that begins like a formula, but no number or interval with a sign."""
    if not isinstance(value, str):
        return value
    if value.startswith(FORMULA) and not SIGNED.fullmatch(value):
        return f"'{value}"
    return value


def read_parquet(path: Path) -> pd.DataFrame:
    """Read a Parquet file."""
    with readable(path, "a Parquet file"):
        return pd.read_parquet(path)


def read_jsonl(path: Path) -> pd.DataFrame:
    """Read JSON objects, one a line; a value in an inner object gets a dotted name."""
    records = json_records(path)
    try:
        return pd.json_normalize(list(records.values()))
    except RecursionError:
        problem = "objects stand within each other too many times"
    except UnicodeEncodeError:
        problem = "a key holds half a character, written \\ud…"
    raise bad_table(path.name, [problem])


def json_records(path: Path) -> dict[int, dict]:
    """Read JSON objects, one a line, by line number, or list all lines with a fault."""
    records = {}
    problems = []
    with readable(path, "text"):
        for number, record, problem in json_objects(path):
            if record is None:
                problems.append(problem)
            else:
                records[number] = record
    if problems:
        raise bad_table(path.name, problems)
    return records


def json_objects(path: Path) -> Iterator[tuple[int, dict | None, str]]:
    """Parse JSON objects, one a line: number, object or None, problem; skip blanks."""
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            text = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
            if not text.strip():
                continue
            record, problem = _parse(text, number)
            yield number, record, problem


def _parse(line: bytes, number: int) -> tuple[dict | None, str]:
    """Turn one line into an object, or say why that cannot be done."""
    try:
        record = _DECODER.decode(line.decode())
    except UnicodeDecodeError:
        return None, f"line {number}: not UTF-8"
    except json.JSONDecodeError as error:
        place = f"line {number}, character {error.pos + 1}"
        return None, f"{place}: not valid JSON ({error.msg})"
    except RecursionError:
        return None, f"line {number}: too many JSON values within each other"
    # a key that stands there twice, or a number of too many digits
    except ValueError as error:
        return None, f"line {number}: {str(error).partition(':')[0]}"
    if not isinstance(record, dict):
        kind = type(record).__name__
        return None, f"line {number}: a JSON object is needed, found {kind}"
    return record, ""


def _without_repeated_keys(pairs: list[tuple[str, object]]) -> dict:
    """Make an object of its keys and values; refuse a key that stands there twice."""
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError("a key stands there twice")
    return record


_DECODER = json.JSONDecoder(object_pairs_hook=_without_repeated_keys)


def as_text(frame: pd.DataFrame, columns: Sequence[str], name: str) -> pd.DataFrame:
    """Make sure that columns of a file hold text."""
    _require_kind(frame, columns, name, is_text, "text")
    return frame.astype(dict.fromkeys(columns, "str"))


def as_numbers(frame: pd.DataFrame, columns: Sequence[str], name: str) -> pd.DataFrame:
    """Make sure that columns of a file hold numbers, or nothing in some rows."""
    _require_kind(frame, columns, name, _is_number, "a number")
    return frame.astype(dict.fromkeys(columns, float))


def require_plain(frame: pd.DataFrame, columns: Sequence[str], name: str) -> None:
    """Stop unless columns of a file hold text, numbers or truth values, or nothing."""
    require(frame, columns, name)
    mixed = [column for column in columns if frame[column].dtype.kind in "OMm"]
    _require_kind(frame, mixed, name, _is_plain, "text or a number")


def is_text(value: object) -> bool:
    """Tell whether a cell holds text; half a character is none."""
    if not isinstance(value, str):
        return False
    # Half a character (a lone surrogate) cannot be written in UTF-8.
    return value.isascii() or value == value.encode(errors="ignore").decode()


def _require_kind(
    frame: pd.DataFrame,
    columns: Sequence[str],
    name: str,
    is_right: Callable[[object], bool],
    kind: str,
) -> None:
    """Raise, listing all cells of some columns that are not of a kind."""
    require(frame, columns, name)
    texts_are_right = is_right("")
    problems = []
    for column in columns:
        to_check = _cells_to_check(frame[column], texts_are_right)
        for row, value in to_check.items():
            if not is_right(value):
                where = f"column {column!r}, row {row}"
                problems.append(f"{where}: {kind} is needed, found {_kind_of(value)}")
    if problems:
        raise bad_table(name, problems)


def _cells_to_check(values: pd.Series, texts_are_right: bool) -> pd.Series:
    """Cells of a column by number of row, without those that can only be right."""
    values = values.set_axis(range(1, len(values) + 1))
    # Such a column holds nothing but whole texts and gaps, so most need no look.
    if texts_are_right and values.dtype == pd.StringDtype("pyarrow", np.nan):
        values = values[values.isna()]
    return values.astype(object)


def _kind_of(value: object) -> str:
    """Name the kind of a value, without the value: it may be the name of a person."""
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return "nothing"
    if isinstance(value, str):
        return "text" if is_text(value) else "broken text"
    if isinstance(value, int | float) and abs(value) >= LARGEST:
        return "too large a number"
    return type(value).__name__


def _is_number(value: object) -> bool:
    """Tell whether a cell holds a number that can be computed with, or nothing."""
    if value is None or value is pd.NA:
        return True
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    # written so that NaN, an empty cell, is right
    return not abs(value) >= LARGEST


def _is_plain(value: object) -> bool:
    """Tell whether a cell holds a single value that every later check understands."""
    return is_text(value) or isinstance(value, bool) or _is_number(value)
