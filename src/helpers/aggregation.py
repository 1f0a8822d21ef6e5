"""Several ratings of an item become one row: means, majorities, first values."""

from collections.abc import Sequence

import pandas as pd

from helpers import intervals
from helpers.data.tables import OptionError


def aggregate(
    frame: pd.DataFrame,
    by: str | Sequence[str],
    *,
    mean: Sequence[str] = (),
    mode: Sequence[str] = (),
    first: Sequence[str] = (),
) -> pd.DataFrame:
    """Combine the ratings of each item in one row.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per rating.
    by : str or sequence of str
        Columns that name an item, for example ``"item_id"``.
    mean : sequence of str, optional
        Numeric columns that are averaged.
    mode : sequence of str, optional
        Numeric columns of which the most frequent value is taken; values that tie are
        averaged, so that a label on which raters are divided becomes 0.5.
    first : sequence of str, optional
        Columns that are the same in all ratings of an item; the first is taken.

    Returns
    -------
    pandas.DataFrame
        One row per item, sorted by `by`: the columns of `by` and `first`,
        ``n_ratings``, and those of `mean` and `mode`, in which missing ratings are left
        out; they are missing if an item has no other ratings.

    Raises
    ------
    OptionError
        If a column is missing, not numeric, or `by` has missing values.

    References
    ----------
    Hosking et al. (2024), section 2.1, combine error labels in this way.

    Examples
    --------
    >>> ratings = pd.DataFrame(
    ...     {"item_id": ["a", "a", "b"], "score": [2, 5, 4], "refusal": [0, 1, 1]}
    ... )
    >>> aggregate(ratings, "item_id", mean=["score"], mode=["refusal"])
      item_id  n_ratings  score  refusal
    0       a          2    3.5      0.5
    1       b          1    4.0      1.0
    """
    by = [by] if isinstance(by, str) else list(by)
    intervals.check_columns(frame, [*by, *first])
    intervals.check_numeric(frame, [*mean, *mode])
    n_unnamed = frame[by].isna().any(axis=1).sum()
    if n_unnamed:
        raise OptionError(
            f"{n_unnamed} of {len(frame)} rows have no {' or no '.join(by)}: "
            "fill it in or leave these rows out"
        )
    items = frame.groupby(by)
    table = frame.drop_duplicates(by).set_index(by)[list(first)].sort_index()
    table["n_ratings"] = items.size()
    for column in mean:
        table[column] = items[column].mean()
    for column in mode:
        times_given = frame.groupby([*by, column]).size()
        most_often = times_given.groupby(by).transform("max")
        modes = times_given[times_given == most_often].reset_index(column)
        table[column] = modes.groupby(by)[column].mean()
    return table.reset_index()
