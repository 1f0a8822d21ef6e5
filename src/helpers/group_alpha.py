"""What an alpha over several aspects at once consists of.

One alpha over all aspects also counts as agreement that raters keep to the scale of each aspect.
Here are an alpha within each answer or question, and ratings dealt out at random to see what is
left of alpha if raters agree on nothing but the scales.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from helpers import agreement
from helpers.files.ratings import to_tidy
from helpers.files.tables import check_clusters, check_numeric


def stack_aspects(frame: pd.DataFrame, item: str, aspects: Sequence[str]) -> pd.DataFrame:
    """Make every aspect of every item a unit of its own.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per (item, rater).
    item : str
        Column of items, of text.
    aspects : sequence of str
        Columns of ratings.

    Returns
    -------
    pandas.DataFrame
        The tidy form, one row per (item, rater, aspect), with a column ``unit``.

    Raises
    ------
    ValueError
        If an aspect is missing or named twice.

    Examples
    --------
    >>> frame = pd.DataFrame({"item_id": ["a"], "factuality": [3], "formality": [0]})
    >>> stack_aspects(frame, "item_id", ["factuality", "formality"])["unit"].tolist()
    ['a|factuality', 'a|formality']
    """
    tidy = to_tidy(frame, aspects)
    return tidy.assign(unit=tidy[item] + "|" + tidy["aspect"])


def deal_out(stacked: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Deal the ratings of each aspect out to its rows at random.

    Parameters
    ----------
    stacked : pandas.DataFrame
        As from `stack_aspects`.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    pandas.DataFrame
        Every aspect has the same ratings as before, but they no longer depend on the item.

    Examples
    --------
    >>> frame = pd.DataFrame({"item_id": list("abc"), "formality": [-1, 0, 1]})
    >>> stacked = stack_aspects(frame, "item_id", ["formality"])
    >>> sorted(deal_out(stacked, np.random.default_rng(0))["value"])
    [-1, 0, 1]
    """
    dealt = stacked["value"].to_numpy(copy=True)
    for rows in stacked.groupby("aspect").indices.values():
        dealt[rows] = rng.permutation(dealt[rows])
    return stacked.assign(value=dealt)


def alpha_at_once(
    stacked: pd.DataFrame, cluster: str, level: str, n_boot: int, rng: np.random.Generator
) -> dict[str, float]:
    """One alpha over all aspects, beside what the scales of the aspects alone would give.

    Parameters
    ----------
    stacked : pandas.DataFrame
        As from `stack_aspects`.
    cluster : str
        Column of clusters that hold whole items, for example questions.
    level : {"nominal", "ordinal", "interval", "ratio"}
        Level of measurement.
    n_boot : int
        Number of bootstrap replicates.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    dict of str to float
        ``estimate``, ``low`` and ``high`` of the 95 % interval, and ``dealt_out``, the alpha of
        ratings that were dealt out at random within each aspect.

    Raises
    ------
    ValueError
        See `helpers.agreement.agreement_table`.

    References
    ----------
    Kamoda et al. (2025), section 3.3 and Appendix B.

    Examples
    --------
    >>> frame = pd.DataFrame({"item_id": list("aabbccdd"), "factuality": [3, 3, 2, 2] * 2,
    ...                       "formality": [0, 0, -1, -1] * 2})
    >>> stacked = stack_aspects(frame, "item_id", ["factuality", "formality"])
    >>> found = alpha_at_once(stacked, "item_id", "interval", 10, np.random.default_rng(0))
    >>> {name: round(float(alpha), 2) for name, alpha in found.items()}
    {'estimate': 1.0, 'low': 1.0, 'high': 1.0, 'dealt_out': 0.91}
    """
    scale = np.unique(stacked["value"].dropna())
    table = agreement.agreement_table(
        stacked, ["value"], "unit", cluster, scale, n_boot, rng, level
    ).iloc[0]
    dealt = deal_out(stacked, rng)
    return {
        "estimate": table["alpha"],
        "low": table["alpha_low"],
        "high": table["alpha_high"],
        "dealt_out": agreement.krippendorff_alpha(dealt, "unit", "value", scale, level),
    }


def group_alphas(frame: pd.DataFrame, group: str, unit: str, value: str) -> pd.Series:
    """Krippendorff's alpha of each group of ratings, at the interval level of measurement.

    Alpha of a group compares how far ratings of one unit lie apart with how far all ratings of
    the group do. With the aspects of an answer as units, it tells whether raters tell the aspects
    apart alike. A mean over groups differs from one alpha of all ratings, which also counts the
    differences between groups.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per rating.
    group : str
        Column of groups, for example answers.
    unit : str
        Column of units within a group, for example aspects. Units with one rating do not count.
    value : str
        Column of ratings; missing ratings are left out.

    Returns
    -------
    pandas.Series
        Alpha by group, groups sorted; NaN where all ratings of a group are the same or no unit of
        it has two ratings.

    Raises
    ------
    ValueError
        If a column cannot be used, or there are fewer than two groups or units.

    References
    ----------
    Krippendorff (2019), Content Analysis, 4th edition, chapter 12; Castro (2017), the package
    krippendorff, whose default is the interval level.

    Examples
    --------
    >>> frame = pd.DataFrame({"item_id": ["a"] * 4 + ["b"] * 4, "aspect": ["x", "x", "y", "y"] * 2,
    ...                       "value": [0, 0, 3, 3, 0, 1, 2, 3]})
    >>> group_alphas(frame, "item_id", "aspect", "value").to_dict()
    {'a': 1.0, 'b': 0.7}
    """
    check_numeric(frame, [value], missing="allow")
    for column in (group, unit):
        check_clusters(frame, column)
    squares = frame.assign(square=frame[value] ** 2).dropna(subset=value)
    cells = squares.groupby([group, unit])[[value, "square"]]
    sums = cells.sum().assign(n=cells.size())
    sums = sums[sums["n"] >= 2]
    sums["apart"] = _squared_distances(sums, value) / (sums["n"] - 1)
    totals = sums.groupby(group).sum()
    expected = _squared_distances(totals, value) / (totals["n"] - 1)
    alphas = 1 - totals["apart"] / expected.where(expected > 0)
    return alphas.reindex(np.sort(frame[group].unique())).rename("alpha").rename_axis(group)


def _squared_distances(sums: pd.DataFrame, value: str) -> pd.Series:
    """Squared distances summed over pairs of ratings, from counts and sums."""
    return sums["n"] * sums["square"] - sums[value] ** 2
