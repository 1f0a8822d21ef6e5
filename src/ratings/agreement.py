"""How far raters of the same item agree, with intervals by leaving out both in turn."""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from helpers.stats import leave_out
from helpers.stats.leave_out import Statistic
from helpers.stats.moments import ratio
from ratings.findings import FEW_MARKS
from ratings.study import left_out_in_turn, scope_of

# Clusters in which two raters of an item both gave a mark other than the usual one, as
# many as intervals of alpha need: with fewer than eight they cover the truth in 60 to
# 86 % of simulated files with flags on 2 to 20 % of ratings, with more in 91 to 97 %.
FEWEST_AGREEING = 10
MOST_ROWS = 100_000  # ratings that are compared; of more, whole items are drawn
TOO_RARE = (
    "two raters of an item both gave a mark other than the usual one in fewer than "
    f"{FEWEST_AGREEING} clusters, too few for an interval that can be trusted"
)
NEVER_DIFFER = (
    "no two raters of an item ever differ: full agreement, or one mark written down "
    "for each"
)


def agreement(
    table: pd.DataFrame, columns: Sequence[str]
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Krippendorff's alpha and Gwet's AC1, column by column.

    Parameters
    ----------
    table : pandas.DataFrame
        Ratings as `ratings.recipes.read` returns them, an item once by each rater.
    columns : sequence of str
        Numeric columns.

    Returns
    -------
    pandas.DataFrame
        A row per column: number of ``ratings`` and ``items`` with two ratings or more;
        alpha (``estimate``, ``low``, ``high``), ordinal for up to `FEW_MARKS` marks,
        otherwise interval; for the former ``same mark, %`` of pairs, and ``AC1`` with
        ``AC1 low`` and ``AC1 high``; and the ``scope`` of the intervals.
    dict of str to str
        Why there is none, by column; by ``""`` if there is none at all.

    References
    ----------
    Krippendorff (2019), Content Analysis, 4th edition, chapter 12; Gwet (2014),
    Handbook of Inter-Rater Reliability, 4th edition, chapter 2.

    Examples
    --------
    >>> item = np.arange(60) // 2
    >>> table = pd.DataFrame({"item_id": item, "prompt_id": item})
    >>> table = table.assign(rater_id=["a", "b"] * 30, tone=[1.0, 1, 2, 2, 3, 2] * 10)
    >>> found, _ = agreement(table, ["tone"])
    >>> found[["items", "same mark, %", "estimate"]].round(2)
          items  same mark, %  estimate
    tone     30         66.67      0.74
    """
    nothing = pd.DataFrame()
    if "rater_id" not in table and "position" not in table:
        return nothing, {
            "": "the recipe names no raters: one person may have rated an item twice"
        }
    if "rater_id" in table and table["rater_id"].nunique() < 2:
        return nothing, {"": "all ratings are by one rater"}
    table = sample_items(_rated_twice(table), MOST_ROWS)
    if table.empty:
        return nothing, {"": "no item was rated by two people"}
    rows = {}
    reasons = {}
    for column in columns:
        known = _rated_twice(table[table[column].notna()])
        reason = _why_not(known, column)
        if reason:
            reasons[column] = reason
        else:
            rows[column] = _of_column(known, column)
    return pd.DataFrame.from_dict(rows, orient="index"), reasons


def _rated_twice(table: pd.DataFrame) -> pd.DataFrame:
    """Take the ratings of items that have two or more."""
    return table[table.duplicated("item_id", keep=False)]


def _why_not(known: pd.DataFrame, column: str) -> str:
    """Say why there is no agreement to compute; nothing if there is."""
    if known.empty:
        return "no item has two ratings"
    if known[column].nunique() < 2 or known["prompt_id"].nunique() < 2:
        return "all marks are the same, or all are in one cluster"
    if known.groupby("item_id", observed=True)[column].nunique().max() == 1:
        return NEVER_DIFFER
    usual = known[column].mode().iloc[0]
    unusual = known[known[column] != usual]
    is_shared = unusual.duplicated("item_id", keep=False)
    if unusual["prompt_id"][is_shared].nunique() < FEWEST_AGREEING:
        return TOO_RARE
    return ""


def _of_column(known: pd.DataFrame, column: str) -> dict[str, object]:
    """One row of the table."""
    by = _clusters(known)
    marks = np.unique(known[column])
    row = {"ratings": len(known), "items": known["item_id"].nunique()}
    values = known[[column]].to_numpy(dtype=float)
    if len(marks) > FEW_MARKS:
        rows = _standardised(values)
        statistic = interval_alpha(column)
        found = leave_out.leave_out(rows, by, statistic, items=known["item_id"])
        names = {"alpha": found.table()}
    else:
        scales = {column: marks}
        rows = leave_out.indicators(values, scales)
        names = {}
        for name in ("alpha", "ac1", "same"):
            statistic = leave_out.coefficient(name, "ordinal", scales)
            found = leave_out.leave_out(rows, by, statistic, items=known["item_id"])
            names[name] = found.table()
    for end in ("estimate", "low", "high"):
        row[end] = min(names["alpha"].loc[column, end], 1.0)
    if "ac1" in names:
        row["same mark, %"] = 100 * names["same"].loc[column, "estimate"]
        for name, end in (
            ("AC1", "estimate"),
            ("AC1 low", "low"),
            ("AC1 high", "high"),
        ):
            row[name] = min(names["ac1"].loc[column, end], 1.0)
    n_raters = known["rater_id"].nunique() if "rater_id" in known else 0
    row["scope"] = scope_of(n_raters)
    return row


def _clusters(known: pd.DataFrame) -> pd.DataFrame:
    """The clusters of ratings, and their raters if they have names."""
    places = known.drop_duplicates(["item_id", "prompt_id"])
    is_in_several = places["item_id"].duplicated().any()
    by = known.assign(cluster=known["item_id" if is_in_several else "prompt_id"])
    if "rater_id" not in known:
        return by[["cluster"]]
    n_pairs = len(by[["rater_id", "cluster"]].drop_duplicates())
    n_raters = by["rater_id"].nunique()
    return by[left_out_in_turn(n_raters, by["cluster"].nunique(), n_pairs)]


def _standardised(values: np.ndarray) -> np.ndarray:
    """Ones, and standardised values with their squares: sums lose fewer digits."""
    z = (values - values.mean()) / values.std()
    return np.column_stack([np.ones(len(z)), z, z**2])


def interval_alpha(name: str) -> Statistic:
    """Krippendorff's interval alpha: 1 less the variance within items over all.

    Parameters
    ----------
    name : str
        Of the number.

    Returns
    -------
    Statistic
        Rows of data hold 1, a value and its square; they are added up by item.

    Examples
    --------
    >>> z = np.array([-1.2, -1.0, 0.9, 1.3])
    >>> rows = np.column_stack([np.ones(4), z, z**2])
    >>> items = pd.Series([1, 1, 2, 2])
    >>> found = leave_out.leave_out(
    ...     rows, items.to_frame("prompt_id"), interval_alpha("tone"), items=items)
    >>> found.value.round(2).to_dict()
    {'tone': 0.97}
    """

    def terms(sums: np.ndarray) -> np.ndarray:
        n, total, squares = sums.T
        around = np.maximum(squares - total**2 / np.maximum(n, 1), 0)
        within = n * around / np.maximum(n - 1, 1)
        return np.column_stack([n, total, squares, within]) * (n >= 2)[:, None]

    def value(sums: np.ndarray) -> np.ndarray:
        n, total, squares, within = sums.T
        variance = ratio(squares - ratio(total**2, n), n - 1)
        return (1 - ratio(ratio(within, n), variance))[:, None]

    def information(total: np.ndarray, parts: np.ndarray) -> np.ndarray:
        return parts[:, [0]]

    return Statistic(pd.Index([name]), terms, value, information)


def sample_items(table: pd.DataFrame, most: int) -> pd.DataFrame:
    """Draw whole items at random where there are more ratings than wanted."""
    one_in = math.ceil(len(table) / most)
    if one_in <= 1:
        return table
    codes, items = pd.factorize(table["item_id"])
    # The same items in every run, so that a file always gives the same results.
    order = np.random.default_rng(0).permutation(len(items))
    return table[order[codes] % one_in == 0]
