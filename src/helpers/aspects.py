"""An overall rating from ratings of aspects: distances from an ideal, splits, trees.

Kamoda et al. (2025) explain how far an overall rating is from its ideal by how far the
aspects are from theirs, and judge a model by its correlation with the ratings of a
random fifth of the rows that it was not fitted to.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from helpers.data.tables import OptionError
from helpers.intervals import check_columns, check_numeric

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


def random_splits(
    frame: pd.DataFrame,
    n_splits: int,
    test_share: float = 0.2,
    *,
    group: str | None = None,
    seed: int = 0,
) -> np.ndarray:
    """Draw random parts of a table to hold out.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per observation.
    n_splits : int
        Number of splits.
    test_share : float, optional
        Share to hold out; the paper's is a fifth.
    group : str, optional
        Column of groups that are never divided, for example questions; by default every
        row is a group of its own, as in the paper.
    seed : int, optional
        Of the random numbers.

    Returns
    -------
    numpy.ndarray of bool, shape (n_splits, n_rows)
        True where a row is held out. Each split holds out the same number of groups.

    Raises
    ------
    OptionError
        If the column of groups cannot be used, or a part of a split would be empty.

    References
    ----------
    Kamoda et al. (2025), section 4.1.

    Examples
    --------
    >>> frame = pd.DataFrame({"question_id": ["a", "a", "b", "b"]})
    >>> random_splits(frame, 2, 0.5, group="question_id")
    array([[ True,  True, False, False],
           [ True,  True, False, False]])
    """
    codes = np.arange(len(frame))
    if group is not None:
        check_columns(frame, [group])
        codes, _ = pd.factorize(frame[group], sort=True)
        if (codes < 0).any():
            raise OptionError(
                f"column {group!r} has {(codes < 0).sum()} missing values: fill in or "
                "drop what is missing"
            )
    n_groups = codes.max() + 1
    n_test = round(test_share * n_groups)
    if not 0 < n_test < n_groups:
        raise OptionError(
            f"test_share={test_share} of {n_groups} groups leaves a part of a split "
            "empty: choose another share"
        )
    is_test = np.arange(n_groups) < n_test
    rng = np.random.default_rng(seed)
    held_out = rng.permuted(np.tile(is_test, (n_splits, 1)), axis=1)
    return held_out[:, codes]


def fit_splits(
    model: object,
    frame: pd.DataFrame,
    features: Sequence[str],
    outcome: str,
    held_out: np.ndarray,
) -> pd.DataFrame:
    """Fit a model without the rows held out, and correlate it with them.

    Parameters
    ----------
    model : scikit-learn regressor
        Linear, or a tree; it is copied for each split.
    frame : pandas.DataFrame
        One row per rating.
    features : sequence of str
        Columns that explain.
    outcome : str
        Column to explain.
    held_out : numpy.ndarray of bool, shape (n_splits, n_rows)
        From `random_splits`.

    Returns
    -------
    pandas.DataFrame
        A row per split: the coefficient or the importance of each feature, and ``rho``,
        Pearson's correlation of prediction and outcome on the rows held out (NaN where
        one of them does not vary).

    Raises
    ------
    OptionError
        If a column cannot be used.

    References
    ----------
    Kamoda et al. (2025), section 4.1 and Appendix B.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> frame = pd.DataFrame({"factuality": [0.0, 1, 0, 1], "lower": [0.0, 2, 0, 2]})
    >>> held_out = np.array([[False, False, True, True]])
    >>> line = LinearRegression(fit_intercept=False)
    >>> fit_splits(line, frame, ["factuality"], "lower", held_out).round(6)
       factuality  rho
    0         2.0  1.0
    """
    # here, as `ratings` works without scikit-learn
    from sklearn.base import clone

    columns = [*features, outcome]
    check_numeric(frame, columns)
    n_missing = frame[columns].isna().any(axis=1).sum()
    if n_missing:
        raise OptionError(
            f"{n_missing} rows have a missing value in {', '.join(columns)}: drop them "
            "before the splits are drawn"
        )
    x = frame[list(features)].to_numpy(dtype=float)
    y = frame[outcome].to_numpy(dtype=float)
    rows = []
    for is_test in held_out:
        fitted = clone(model).fit(x[~is_test], y[~is_test])
        if hasattr(fitted, "coef_"):
            weights = fitted.coef_
        else:
            weights = fitted.feature_importances_
        predicted = fitted.predict(x[is_test])
        rho = np.nan
        if np.ptp(predicted) > 0 and np.ptp(y[is_test]) > 0:
            rho = np.corrcoef(predicted, y[is_test])[0, 1]
        rows.append([*weights, rho])
    return pd.DataFrame(rows, columns=[*features, "rho"])


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
