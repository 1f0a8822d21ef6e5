"""Cells of a rating file as numbers and labels, or a list of what is wrong with them.

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
from helpers.data.tables import BadTableError, OptionError, bad_table, cell
from ratings.accounts import Account

USUAL_NAMES = {
    "item": "item_id",
    "cluster": "prompt_id",
    "rater": "rater_id",
    "system": "system_id",
    "covariate": "response_words",
}
RESERVED = (
    "item_id",
    "rater_id",
    "prompt_id",
    "system_id",
    "source",
    "covariate",
    "position",
    "rater",
    "cluster",
)
WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
NOTHING = ("na", "n/a", "n.a.", "nan", "null", "none")
LARGEST = 1e12  # beyond it sums of squares lose the digits of other ratings
SHOWN_PLACES = 5
SHOWN_PROBLEMS = 50
NO_NUMBER = "not a number"
CODES_HINT = "correct the cell, or list it in `missing` if there is no mark"
FEW_WORDS = 12  # of a column in which they may be marks
NO_LIMITS = (-np.inf, np.inf)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII)
_COMMA = re.compile(r"[+-]?\d+,\d+", re.ASCII)


def interpret(
    raw: pd.DataFrame,
    values: Sequence[str],
    roles: Mapping[str, str],
    scales: Mapping[str, tuple[float, float]],
    name: str,
    problems: Sequence[str] = (),
    account: Account | None = None,
    drops_outside: bool = False,
) -> pd.DataFrame:
    """Turn a table of cells as they are written into ratings, or list what is wrong.

    Spaces around a cell do not matter. The words yes, true, no and false are 1 and 0;
    NA, N/A, N.A., NaN, null and none are missing, like empty cells. Rows that are empty
    in all columns are left out. Without items each row is one, without clusters each
    item. Raters become anonymous. Numbers outside a scale are mistakes; with
    ``drops_outside`` they count as missing, and the account says how many there are.
    """
    cells, nested = _distinct_cells(raw)
    problems = [*problems, *nested]
    has_cells = cells.notna().any(axis="columns")
    account = account or Account()
    cells = account.keep(cells, has_cells, "empty in all columns")
    columns = {}
    for role in ("item", "cluster", "rater"):
        if role in roles:
            labels, mistakes = _labels(cells[roles[role]])
            columns[USUAL_NAMES[role]] = labels
            problems += mistakes
    if "system" in roles:
        systems, mistakes = _labels(cells[roles["system"]], required=False)
        columns["system_id"] = systems
        problems += mistakes
    if "covariate" in roles:
        covariate, mistakes = _numbers_or_labels(cells[roles["covariate"]])
        columns["covariate"] = covariate
        problems += mistakes
    for column in cells.columns.intersection(values, sort=False):
        low, high = scales.get(column, NO_LIMITS)
        if drops_outside:
            low, high = NO_LIMITS
        numbers, mistakes = _numbers(cells[column], low, high)
        if drops_outside and column in scales:
            numbers = _on_scale(numbers, scales[column], cells[column], account)
        columns[column] = numbers
        problems += mistakes
    if problems:
        raise _error(name, problems)
    if cells.empty:
        raise bad_table(name, ["there are no rows"])
    table = pd.DataFrame(columns, index=cells.index)
    return _completed(table)


def _on_scale(
    numbers: np.ndarray, scale: tuple[float, float], column: pd.Series, account: Account
) -> np.ndarray:
    """Leave out numbers outside a scale, and write down how many these are."""
    low, high = scale
    is_outside = (numbers < low) | (numbers > high)
    outside = column.index[is_outside]
    if len(outside):
        what = "1 value" if len(outside) == 1 else f"{len(outside):,} values"
        account.pass_over(
            f"{column.name}: {what} outside {low:g} to {high:g} dropped", outside
        )
    return np.where(is_outside, np.nan, numbers)


def _error(name: str, problems: Sequence[str]) -> BadTableError:
    """Build the error of a file, or of a recipe that names columns it does not have."""
    are_named_wrongly = all(" is missing; " in problem for problem in problems)
    if not are_named_wrongly:
        return bad_table(name, problems, SHOWN_PROBLEMS)
    lines = [f"{name} does not have all columns that the recipe or the command names:"]
    listed = set()
    for problem in problems[:SHOWN_PROBLEMS]:
        what, _, hint = problem.partition("; ")
        lines.append(f"  {what}" if hint in listed else f"  {problem}")
        listed.add(hint)
    if len(problems) > SHOWN_PROBLEMS:
        lines.append(f"  ... and {len(problems) - SHOWN_PROBLEMS} more")
    return BadTableError("\n".join(lines))


def _completed(table: pd.DataFrame) -> pd.DataFrame:
    """Add the columns that all ratings have, and take out the names of people."""
    if "item_id" not in table:
        table.insert(0, "item_id", table.index)
    if "prompt_id" not in table:
        table.insert(1, "prompt_id", table["item_id"])
    place = 2
    if "rater_id" in table:
        people = table["rater_id"].cat
        table["rater_id"] = people.rename_categories(anonymise(people.categories))
        place = 3
    table.insert(place, "source", "real")
    return table


def check_request(
    values: Sequence[str], scales: Mapping[str, tuple[float, float]]
) -> None:
    """Stop if columns are asked for that cannot be."""
    for position, column in enumerate(values):
        if column in RESERVED:
            raise OptionError(
                f"column {column!r} cannot be outcome or aspect under this name, "
                "which stands for something else here: give it another one in the "
                f"recipe, as 'call: {{{column}: my {column}}}'"
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
    """Make each column categorical.

    A cell that holds a list or an object becomes empty and is listed as a problem.
    """
    cells = {}
    problems = []
    for name, column in table.items():
        try:
            codes, distinct = pd.factorize(column)
        except TypeError:  # lists and objects cannot be compared
            nested = column.map(type).isin([list, dict, np.ndarray])
            where = _places(table.index[nested])
            problems.append(f"column {cell(name)} holds a list or an object in {where}")
            codes, distinct = pd.factorize(column.mask(nested))
        cells[name] = _categorical(map(_without_spaces, distinct), codes)
    return pd.DataFrame(cells, index=table.index), problems


def _without_spaces(value: object) -> object:
    """Take off spaces around a text; nothing is left of an empty one."""
    if isinstance(value, str):
        return value.strip() or None
    return value


def _categorical(values: Iterable, codes: np.ndarray) -> pd.Categorical:
    """Give each row its value; equal values become one, None and NaN nothing."""
    merged, distinct = pd.factorize(pd.Series(list(values), dtype=object))
    # Code -1 stands for nothing, before as after: the last element keeps it.
    new_codes = np.append(merged, -1)
    return pd.Categorical.from_codes(new_codes[codes], distinct)


def _numbers_or_labels(
    column: pd.Series,
) -> tuple[np.ndarray | pd.Categorical, list[str]]:
    """Read a column that holds numbers, or labels if not a single value is a number."""
    numbers, problems = _numbers(column, low=-np.inf, high=np.inf)
    if np.isnan(numbers).all():
        return _labels(column, required=False)
    return numbers, problems


def _numbers(
    column: pd.Series, low: float, high: float
) -> tuple[np.ndarray, list[str]]:
    """Read the numbers in a column, with NaN where there is none."""
    values = []
    mistakes = []
    for category in column.cat.categories:
        value, mistake = _number(category, low, high)
        values.append(value)
        mistakes.append(mistake)
    values.append(np.nan)  # of empty cells, whose code is -1
    if _are_words(column, mistakes):
        hint = f"{NO_NUMBER} (say what words mean in `marks`)"
        mistakes = [hint] * len(mistakes)
    odd = f"{NO_NUMBER} ({CODES_HINT})"
    mistakes = [odd if each == NO_NUMBER else each for each in mistakes]
    return np.array(values)[column.cat.codes], _problems(column, mistakes)


def _are_words(column: pd.Series, mistakes: Sequence[str]) -> bool:
    """Tell whether a column holds a few words, and nothing else."""
    words = column.cat.categories
    is_text = [isinstance(word, str) for word in words]
    return 0 < len(words) <= FEW_WORDS and all(is_text) and set(mistakes) == {NO_NUMBER}


def _number(value: object, low: float, high: float) -> tuple[float, str]:
    """Read one number, NaN if there is none, and name the mistake if it is one."""
    if isinstance(value, str):
        text = value.lower()
        if text in NOTHING:
            return np.nan, ""
        if has_comma(text):
            hint = "write 'decimal: \",\"' in the recipe"
            return np.nan, f"comma instead of a decimal point ({hint})"
        value = float(text) if _NUMBER.fullmatch(text) else WORDS.get(text.rstrip("."))
    if not isinstance(value, bool | int | float | Decimal):
        return np.nan, NO_NUMBER
    if not -LARGEST <= value <= LARGEST:
        return np.nan, "infinite or too large"
    if not low <= value <= high:
        scale = f"outside {low:g} to {high:g}"
        hint = "correct `scales`, list codes in `missing`, or write 'outside: drop'"
        return np.nan, f"{scale} ({hint})"
    return float(value), ""


def has_comma(text: str) -> bool:
    """Tell whether a text is a number with a comma instead of a decimal point."""
    return bool(_COMMA.fullmatch(text))


def _labels(
    column: pd.Series, required: bool = True
) -> tuple[pd.Categorical, list[str]]:
    """Read the labels in a column, such as names of items."""
    texts = [_label(value) for value in column.cat.categories]
    mistakes = ["" if text else "neither text nor a number" for text in texts]
    problems = _problems(column, mistakes)
    if required and column.isna().any():
        where = _places(column.index[column.isna()])
        problems.append(f"column {cell(column.name)}, empty: {where}")
    return _categorical(texts, column.cat.codes), problems


def _label(value: object) -> str | None:
    """Write a label as text; a whole number has no point, half a character is none."""
    if not isinstance(value, str | bool | int | float | Decimal):
        return None
    text = f"{value:.15g}" if isinstance(value, float) else str(value)
    return text if tables.is_text(text) else None


def _problems(column: pd.Series, mistakes: Sequence[str]) -> list[str]:
    """Say which mistakes a column has and where, from those of its distinct values."""
    codes_by_mistake = {}
    for code, mistake in enumerate(mistakes):
        if mistake:
            codes_by_mistake.setdefault(mistake, []).append(code)
    problems = []
    for mistake, codes in codes_by_mistake.items():
        wrong = column[column.cat.codes.isin(codes)].sort_index(kind="stable")
        where = _places(wrong.index, wrong)
        problems.append(f"column {cell(column.name)}, {mistake}: {where}")
    return problems


def _places(index: pd.Index, values: Iterable | None = None) -> str:
    """Say where something stands in a file: the first places, and how many more."""
    places = [f"{index.name} {number}" for number in index[:SHOWN_PLACES]]
    text = ", ".join(places)
    if values is not None:
        # the places are fewer than the values
        pairs = zip(places, values, strict=False)
        text = ", ".join(f"{place} {cell(value)}" for place, value in pairs)
    more = len(index) - len(places)
    return f"{text} and {more:,} more" if more else text
