"""Kinds of columns and tables, from which the schemas of the studies are made.

The description of a column is what a message says is allowed in it.
"""

from collections.abc import Iterable, Sequence

import pandera.pandas as pa


def one_of(values: Iterable, kind: type = str, nullable: bool = False) -> pa.Column:
    """Describe a column that holds one of some values."""
    names = [str(value) for value in values]
    description = names[-1]
    if len(names) > 1:
        description = f"{', '.join(names[:-1])} or {names[-1]}"
    return pa.Column(
        kind,
        pa.Check.isin(values),
        # Not to text: every value could be turned into it.
        coerce=kind is not str,
        nullable=nullable,
        description=description,
    )


def scale(low: int, high: int) -> pa.Column:
    """Describe a column of whole-number ratings, stored as floats."""
    return one_of(range(low, high + 1), float)


def between(low: float, high: float) -> pa.Column:
    """Describe a column of numbers within a range."""
    return pa.Column(
        float,
        pa.Check.between(low, high),
        coerce=True,
        description=f"a number from {low} to {high}",
    )


def design(
    tasks: Sequence[str], systems: Sequence[str], arms: Sequence[str] = ("baseline",)
) -> dict[str, pa.Column]:
    """Describe the columns that say what was rated."""
    return {
        "item_id": TEXT,
        "prompt_id": TEXT,
        "task": one_of(tasks),
        "system": one_of(systems),
        "arm": one_of(arms),
    }


def table(columns: dict[str, pa.Column], key: Sequence[str]) -> pa.DataFrameSchema:
    """Describe a table with one row for each `key`; columns not listed are dropped."""
    return pa.DataFrameSchema(
        columns, unique=key, report_duplicates="exclude_first", strict="filter"
    )


TEXT = pa.Column(str, description="text")
TRUE_OR_FALSE = pa.Column(bool, description="True or False")
COUNT = pa.Column(
    int, pa.Check.ge(0), coerce=True, description="a whole number from 0 on"
)
NUMBER_OR_EMPTY = pa.Column(
    float, nullable=True, coerce=True, description="a number, or empty"
)
NO_OR_YES = scale(0, 1)
ONE_TO_FIVE = scale(1, 5)
