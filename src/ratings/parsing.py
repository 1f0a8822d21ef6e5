"""Rating files that anybody may bring, read whole or refused; ratings summed up over raters.

A file is first taken as it is written, so that it says the same in every format:
distinct values, and the rows in which they stand. Then each value is a number, a label,
nothing, or a mistake; all mistakes are listed in one message.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

import numpy as np
import pandas as pd

from helpers.data import tables
from helpers.data.raters import anonymise
from helpers.data.tables import OptionError, bad_table, cell

USUAL_NAMES = {
    "item": "item_id",
    "cluster": "prompt_id",
    "rater": "rater_id",
    "covariate": "response_words",
}
RESERVED = ("item_id", "rater_id", "prompt_id", "source", "covariate")
WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
NOTHING = ("na", "n/a", "nan", "null", "none")
LARGEST = 1e12  # beyond it sums of squares lose the digits of other ratings
SHOWN_PLACES = 5
SHOWN_PROBLEMS = 50
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII)
_COMMA = re.compile(r"[+-]?\d+,\d+", re.ASCII)


def interpret(
    raw: pd.DataFrame,
    values: Sequence[str],
    roles: Mapping[str, str],
    scales: Mapping[str, tuple[float, float]],
    name: str,
    problems: Sequence[str] = (),
) -> pd.DataFrame:
    """Turn a table of cells as they are written into ratings, or list all that is wrong with it.

    Spaces around a cell do not matter. The words yes, true, no and false are 1 and 0;
    NA, N/A, NaN, null and none are missing, like empty cells. Rows that are empty in
    all columns are left out. Without items each row is one, without clusters each item.
    Raters become anonymous.
    """
    cells, nested = _distinct_cells(raw)
    columns = {
        USUAL_NAMES[role]: _labels(cells[roles[role]])
        for role in ("item", "cluster", "rater")
        if role in roles
    }
    if "covariate" in roles:
        columns["covariate"] = _numbers_or_labels(cells[roles["covariate"]])
    for column in cells.columns.intersection(values, sort=False):
        columns[column] = _numbers(
            cells[column], *scales.get(column, (-np.inf, np.inf))
        )
    mistakes = [problem for _, problems in columns.values() for problem in problems]
    if problems := [*problems, *nested, *mistakes]:
        raise bad_table(name, problems, SHOWN_PROBLEMS)
    if cells.empty:
        raise bad_table(name, ["there are no rows"])
    table = pd.DataFrame(
        {name: given for name, (given, _) in columns.items()}, index=cells.index
    )
    return _completed(
        table, "source" in cells and "simulated" in cells["source"].cat.categories
    )


def _completed(table: pd.DataFrame, is_simulated: bool) -> pd.DataFrame:
    """Add the columns that all ratings have, and take out the names of people."""
    if "item_id" not in table:
        table.insert(0, "item_id", table.index)
    if "prompt_id" not in table:
        table.insert(1, "prompt_id", table["item_id"])
    if "rater_id" in table:
        people = table["rater_id"].cat
        table["rater_id"] = people.rename_categories(anonymise(people.categories))
    table.insert(
        2 + ("rater_id" in table), "source", "simulated" if is_simulated else "real"
    )
    return table


def check_request(
    values: Sequence[str], scales: Mapping[str, tuple[float, float]]
) -> None:
    """Stop if columns are asked for that cannot be."""
    for position, column in enumerate(values):
        if column in RESERVED:
            raise OptionError(
                f"column {column!r} cannot be outcome or aspect under this name, which stands "
                "for something else here: rename it in the file"
            )
        if column in values[:position]:
            raise OptionError(
                f"column {column!r} is named twice: name each column once"
            )
    for column in scales:
        if column not in values:
            raise OptionError(
                f"there is a scale of {column!r}, which is no outcome or aspect"
            )


def _distinct_cells(table: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Keep distinct values and the rows in which they stand; leave out rows that are empty."""
    cells, problems = {}, []
    for name, column in table.items():
        try:
            codes, found = pd.factorize(column)
        except TypeError:  # lists and objects cannot be told apart
            nested = column.map(type).isin([list, dict, np.ndarray])
            where = _places(table.index[nested])
            problems.append(f"column {cell(name)} holds a list or an object in {where}")
            codes, found = pd.factorize(column.mask(nested))
        bare = [
            (each.strip() or None) if isinstance(each, str) else each for each in found
        ]
        cells[name] = _categorical(bare, codes)
    frame = pd.DataFrame(cells, index=table.index)
    return frame[frame.notna().any(axis="columns")], problems


def _categorical(values: Iterable, codes: np.ndarray) -> pd.Categorical:
    """Give each row its value; values that are equal become one, None and NaN nothing."""
    merged, distinct = pd.factorize(pd.Series(values, dtype=object))
    return pd.Categorical.from_codes(np.append(merged, -1)[codes], distinct)


def _numbers_or_labels(
    column: pd.Series,
) -> tuple[np.ndarray | pd.Categorical, list[str]]:
    """Read a column that holds numbers, or labels if not a single value is a number."""
    values, problems = _numbers(column)
    return (
        _labels(column, required=False)
        if np.isnan(values).all()
        else (values, problems)
    )


def _numbers(
    column: pd.Series, low: float = -np.inf, high: float = np.inf
) -> tuple[np.ndarray, list[str]]:
    """Read the numbers in a column."""
    parsed = [_number(value, low, high) for value in column.cat.categories]
    values = [each if isinstance(each, float) else np.nan for each in parsed]
    mistakes = [each if isinstance(each, str) else "" for each in parsed]
    return np.array([*values, np.nan])[column.cat.codes], _problems(column, mistakes)


def _number(value: object, low: float, high: float) -> float | str:
    """Read one number, NaN if there is none, or name the mistake."""
    if isinstance(value, str):
        text = value.lower()
        if text in NOTHING:
            return np.nan
        if _COMMA.fullmatch(text):
            return "comma instead of a decimal point"
        value = float(text) if _NUMBER.fullmatch(text) else WORDS.get(text)
    if not isinstance(value, bool | int | float | Decimal):
        return "not a number"
    if not -LARGEST <= value <= LARGEST:
        return "infinite or too large"
    return float(value) if low <= value <= high else f"outside {low:g} to {high:g}"


def _labels(
    column: pd.Series, required: bool = True
) -> tuple[pd.Categorical, list[str]]:
    """Read the labels in a column, such as names of items."""
    texts = [_label(value) for value in column.cat.categories]
    problems = _problems(
        column, ["" if text else "neither text nor a number" for text in texts]
    )
    if required and column.isna().any():
        problems.append(
            f"column {cell(column.name)}, empty: {_places(column.index[column.isna()])}"
        )
    return _categorical(texts, column.cat.codes), problems


def _label(value: object) -> str | None:
    """Write a label as text; a whole number has no point, half a character is no text."""
    if not isinstance(value, str | bool | int | float | Decimal):
        return None
    text = f"{value:.15g}" if isinstance(value, float) else str(value)
    return text if tables.is_text(text) else None


def _problems(column: pd.Series, mistakes: Sequence[str]) -> list[str]:
    """Say which mistakes a column has and where, given the mistake of each distinct value."""
    problems = []
    for mistake in dict.fromkeys(filter(None, mistakes)):
        wrong = column[
            column.cat.codes.isin([i for i, m in enumerate(mistakes) if m == mistake])
        ]
        problems.append(
            f"column {cell(column.name)}, {mistake}: {_places(wrong.index, wrong)}"
        )
    return problems


def _places(index: pd.Index, values: Iterable | None = None) -> str:
    """Say where something stands in a file: the first places, and how many there are besides."""
    shown = [f"{index.name} {number}" for number in index[:SHOWN_PLACES]]
    if values is not None:
        shown = [
            f"{place} {cell(value)}"
            for place, value in zip(shown, values, strict=False)
        ]
    more = len(index) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more else "")
