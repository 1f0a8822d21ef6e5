"""Where rows go: from those read to the ratings used, with a reason for each one lost.

An `Account` is passed along while a file becomes ratings. Each step that takes rows
away, splits them or puts them together is written down with the row numbers, so that
the numbers add up: those left after a step are those before plus the change.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd

SHOWN_ROWS = 5
READ = "rows read, without empty ones"


class Step(NamedTuple):
    """One step from rows to ratings.

    Parameters
    ----------
    step : str
        What was done.
    change : int
        How many rows it added; fewer than zero if it took some away.
    left : int
        How many there are after it.
    where : str
        The first of the rows that were taken away, and how many more.
    """

    step: str
    change: int
    left: int
    where: str = ""


@dataclass
class Account:
    """The steps from rows to ratings, in their order.

    Parameters
    ----------
    steps : list of Step
        Those that changed anything, and the first.

    Examples
    --------
    >>> rows = pd.DataFrame({"tone": [1, 2, 9]}, pd.Index([2, 3, 4], name="row"))
    >>> account = Account()
    >>> account.start(rows)
    >>> rows = account.keep(rows, rows["tone"] < 9, "no such mark")
    >>> account.table()
                          step  change  left  where
    0  rows read, without empty ones       3     3
    1             no such mark      -1     2  row 4
    """

    steps: list[Step] = field(default_factory=list)

    @property
    def left(self) -> int:
        """How many rows or ratings there are now."""
        return self.steps[-1].left if self.steps else 0

    def start(self, table: pd.DataFrame) -> None:
        """Begin with the rows that were read, and name empty lines between them."""
        self.steps = [Step(READ, len(table), len(table), _gaps(table.index))]

    def keep(
        self, table: pd.DataFrame, is_kept: pd.Series | np.ndarray, why: str
    ) -> pd.DataFrame:
        """Keep some rows of a table, and write down which went and why."""
        is_kept = np.asarray(is_kept, dtype=bool)
        gone = table.index[~is_kept]
        if len(gone):
            left = self.left - len(gone)
            self.steps.append(Step(why, -len(gone), left, places(gone)))
        return table[is_kept]

    def reshape(self, before: int, after: int, how: str) -> None:
        """Write down that rows were divided or put together; none of them is lost."""
        change = after - before
        if change:
            self.steps.append(Step(how, change, self.left + change))

    def pass_over(self, what: str, rows: Sequence = ()) -> None:
        """Write down what is not used though no row is lost by it, and where."""
        where = places(pd.Index(rows)) if len(rows) else ""
        self.steps.append(Step(what, 0, self.left, where))

    def table(self) -> pd.DataFrame:
        """All steps, one a row."""
        return pd.DataFrame(self.steps, columns=Step._fields)


def _gaps(index: pd.Index) -> str:
    """Name the empty lines between rows that were read; they have no row of their own.

    Empty lines at the end of a file are none of its rows.
    """
    if not len(index) or not pd.api.types.is_integer_dtype(index):
        return ""
    numbers = np.arange(index[0], index[-1] + 1)
    empty = np.setdiff1d(numbers, index)
    if not len(empty):
        return ""
    return f"empty: {places(pd.Index(empty, name=index.name))}"


def places(index: pd.Index) -> str:
    """Name the first rows of some, each once, and say how many more there are."""
    name = index.name or "row"
    once = pd.unique(np.asarray(index))
    text = ", ".join(f"{name} {number}" for number in once[:SHOWN_ROWS])
    more = len(once) - SHOWN_ROWS
    return f"{text} and {more:,} more" if more > 0 else text
