"""An overall rating from aspects: distances from the ideal, and tables of trees."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from helpers.data.tables import OptionError
from helpers.intervals import check_numeric

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeRegressor


def ideal_distance(
    frame: pd.DataFrame,
    aspects: Sequence[str],
    ideals: Mapping[str, float],
    ranges: Mapping[str, tuple[float, float]],
) -> pd.DataFrame:
    """Distance of each rating from the ideal, as a share of the largest possible.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per rating or per mean of ratings.
    aspects : sequence of str
        Columns of ratings.
    ideals : mapping of str to float
        The ideal rating of each aspect.
    ranges : mapping of str to (float, float)
        Lowest and highest rating of each aspect.

    Returns
    -------
    pandas.DataFrame
        The aspects from 0, the ideal, to 1, as far from it as the scale allows; NaN
        where a rating is missing.

    Raises
    ------
    OptionError
        If a column cannot be used, an ideal or a range is missing or makes no sense,
        or a rating lies outside its range.

    References
    ----------
    Kamoda et al. (2025), section 4.1, equation 1.

    Examples
    --------
    >>> frame = pd.DataFrame({"factuality": [3, 2, 0], "formality": [-1, 0, 1]})
    >>> ideals = {"factuality": 3, "formality": 0}
    >>> ranges = {"factuality": (0, 3), "formality": (-1, 1)}
    >>> ideal_distance(frame, ["factuality", "formality"], ideals, ranges).round(2)
       factuality  formality
    0        0.00        1.0
    1        0.33        0.0
    2        1.00        1.0
    """
    check_numeric(frame, aspects)
    distances = {}
    for aspect in aspects:
        if aspect not in ideals:
            raise OptionError(
                f"ideals lacks {aspect!r}: give its ideal rating, as in "
                f"ideals={{{aspect!r}: 5}}"
            )
        if aspect not in ranges:
            raise OptionError(
                f"ranges lacks {aspect!r}: give its lowest and highest rating, as in "
                f"ranges={{{aspect!r}: (1, 5)}}"
            )
        low, high = ranges[aspect]
        ideal = ideals[aspect]
        if not low <= ideal <= high or low == high:
            raise OptionError(
                f"the ideal {ideal} of {aspect!r} and its range {low} to {high} do not "
                "fit: the ideal lies within, and the ends differ"
            )
        ratings = frame[aspect]
        outside = (ratings < low) | (ratings > high)
        if outside.any():
            raise OptionError(
                f"{outside.sum()} ratings in column {aspect!r} are outside {low} to "
                f"{high}, the first is {ratings[outside].iloc[0]}: correct ranges, or "
                "the ratings"
            )
        farthest = max(ideal - low, high - ideal)
        distances[aspect] = (ratings - ideal).abs() / farthest
    return pd.DataFrame(distances)


def tree_table(tree: "DecisionTreeRegressor", features: Sequence[str]) -> pd.DataFrame:
    """List the nodes of a fitted tree in plain words.

    Parameters
    ----------
    tree : sklearn.tree.DecisionTreeRegressor
        A fitted tree.
    features : sequence of str
        Names of the features in the order in which the tree saw them.

    Returns
    -------
    pandas.DataFrame
        A row per ``node``: its ``depth``, its ``parent`` (-1 for the root), the
        ``rule`` that leads from the parent to it, the number ``n`` of rows in it, their
        ``mean`` outcome, and whether it ``is_leaf``. `helpers.show.draw_tree` draws it.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> tree = DecisionTreeRegressor(max_depth=1).fit([[0], [0], [3]], [1, 1, 3])
    >>> tree_table(tree, ["factuality"]).drop(columns="is_leaf")
       node  depth  parent                    rule  n      mean
    0     0      0      -1             all ratings  3  1.666667
    1     1      1       0  factuality at most 1.5  2  1.000000
    2     2      1       0    factuality above 1.5  1  3.000000
    """
    nodes = tree.tree_
    depth = [0] * nodes.node_count
    parent = [-1] * nodes.node_count
    rule = ["all ratings"] * nodes.node_count
    # a parent's number is below its children's, so that its depth is known by then
    for node in np.flatnonzero(nodes.feature >= 0):
        feature = features[nodes.feature[node]]
        threshold = f"{nodes.threshold[node]:.3g}"
        left = nodes.children_left[node]
        right = nodes.children_right[node]
        rule[left] = f"{feature} at most {threshold}"
        rule[right] = f"{feature} above {threshold}"
        for child in (left, right):
            depth[child] = depth[node] + 1
            parent[child] = node
    table = pd.DataFrame({"depth": depth, "parent": parent, "rule": rule})
    table["n"] = nodes.weighted_n_node_samples.round().astype(int)
    table["mean"] = nodes.value[:, 0, 0]
    table["is_leaf"] = nodes.feature < 0
    return table.rename_axis("node").reset_index()
