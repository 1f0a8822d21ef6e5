"""An overall rating from ratings of aspects: distances from an ideal, and judges.

Weights are least squares without an intercept: an answer that is ideal in every aspect
is predicted to be ideal overall.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeRegressor

from helpers.stats.aggregation import means_of_sorted
from helpers.stats.checks import (
    check_numeric,
)
from helpers.stats.moments import (
    ROUNDING,
    ClusterMoments,
    cluster_moments,
    ratio,
)

# correlations with the overall rating, see `judge_correlations`
JUDGE_SCORES = ["direct", "weighted", "equal"]
BY_PEOPLE = ["people, weighted", "people, equal", "agreed, weighted", "agreed, equal"]


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
        The aspects in [0, 1]: 0 is ideal, 1 as far from it as the scale allows.

    Raises
    ------
    ValueError
        If a column cannot be used.

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
        low, high = ranges[aspect]
        ideal = ideals[aspect]
        distances[aspect] = (frame[aspect] - ideal).abs() / _farthest(ideal, low, high)
    return pd.DataFrame(distances)


def _farthest(ideal: float, low: float, high: float) -> float:
    """The largest possible distance from an ideal on a scale."""
    return max(ideal - low, high - ideal)


def judge_scores(
    frame: pd.DataFrame,
    weights: pd.Series,
    ideals: Mapping[str, float],
    ranges: Mapping[str, tuple[float, float]],
    overall: str,
) -> pd.DataFrame:
    """Scores of one judge: given directly, by learned and by equal weights.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per rating or per mean of ratings.
    weights : pandas.Series
        Points lower at the far end, by aspect.
    ideals, ranges : mapping
        As for `ideal_distance`.
    overall : str
        The overall rating, one of `ideals`.

    Returns
    -------
    pandas.DataFrame
        The frame with the columns ``direct``, ``weighted`` (the ideal less the weighted
        distances from the ideals) and ``equal``.

    Raises
    ------
    ValueError
        As for `ideal_distance`.

    References
    ----------
    Kamoda et al. (2025), sections 5.2 and 5.4.

    Examples
    --------
    >>> frame = pd.DataFrame({"factuality": [3, 0], "tone": [0, 2], "overall": [2, 1]})
    >>> weights = pd.Series({"factuality": 2.0, "tone": 1.0})
    >>> ideals = {"factuality": 3, "tone": 2, "overall": 3}
    >>> ranges = {"factuality": (0, 3), "tone": (0, 2)}
    >>> scores = judge_scores(frame, weights, ideals, ranges, "overall")
    >>> scores[["direct", "weighted", "equal"]]
       direct  weighted  equal
    0       2       2.0    1.5
    1       1       1.0    1.5
    """
    distances = ideal_distance(frame, list(weights.index), ideals, ranges)
    equal_weights = pd.Series(weights.mean(), index=weights.index)
    return frame.assign(
        direct=frame[overall],
        weighted=ideals[overall] - distances @ weights,
        equal=ideals[overall] - distances @ equal_weights,
    )


def weights_of(
    frame: pd.DataFrame, features: Sequence[str], outcome: str
) -> Callable[[np.ndarray], np.ndarray]:
    """Make a function that computes the weights of features from weights of rows.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per rating.
    features : sequence of str
        Columns of distances from the ideal.
    outcome : str
        Column of overall distances from the ideal.

    Returns
    -------
    callable
        From an array of shape (n_sets, n_rows) to one of shape (n_sets, n_features), as
        `helpers.stats.jackknife.leave_one_out` wants it.

    Raises
    ------
    ValueError
        If a column cannot be used.

    Examples
    --------
    >>> frame = pd.DataFrame({"factuality": [0.0, 1, 0, 1], "distance": [0.0, 2, 0, 4]})
    >>> compute = weights_of(frame, ["factuality"], "distance")
    >>> compute(np.array([[1, 1, 1, 1], [1, 1, 1, 0]])).round(6)
    array([[3.],
           [2.]])
    """
    rows = cluster_moments(frame, features, outcome)

    def compute(weights: np.ndarray) -> np.ndarray:
        return _least_squares(rows.total(weights))

    return compute


def weights_of_means(
    ratings: pd.DataFrame,
    ideals: Mapping[str, float],
    ranges: Mapping[str, tuple[float, float]],
    overall: str,
) -> Callable[[np.ndarray], np.ndarray]:
    """Make a function like that of `weights_of`, for mean ratings of items.

    Means over raters, distances and weights are computed anew for each set, so that a
    rater can be left out of all means.

    Parameters
    ----------
    ratings : pandas.DataFrame
        One row per item and rater: ``item_id`` and the columns of `ideals`.
    ideals, ranges : mapping
        As for `ideal_distance`.
    overall : str
        The overall rating, one of `ideals`; the others are aspects. Its ideal is the
        best rating, and what a mean misses of it is explained.

    Returns
    -------
    callable
        From an array of shape (n_sets, n_rows) to one of shape (n_sets, n_aspects).

    Examples
    --------
    >>> ratings = pd.DataFrame({"item_id": list("aabb"), "fact": [3, 3, 0, 0],
    ...                         "whole": [3, 3, 1, 2]})
    >>> ends = {"fact": (0, 3), "whole": (0, 3)}
    >>> compute = weights_of_means(ratings, {"fact": 3, "whole": 3}, ends, "whole")
    >>> compute(np.array([[1, 1, 1, 1], [1, 1, 1, 0]]))
    array([[1.5],
           [2. ]])
    """
    names = [name for name in ideals if name != overall]
    check_numeric(ratings, [*names, overall])
    codes, _ = pd.factorize(ratings["item_id"], sort=True)
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(codes.max() + 1))
    raw = ratings[[*names, overall]].to_numpy(dtype=float)[order]

    def compute(weights: np.ndarray) -> np.ndarray:
        counted = weights[:, order]
        present, means = means_of_sorted(counted, starts, raw)
        columns = [present]
        for name, mean in zip([*names, overall], means, strict=True):
            away = np.abs(mean - ideals[name])
            if name != overall:
                away = away / _farthest(ideals[name], *ranges[name])
            # points are missing from the overall rating, not a share of its scale
            columns.append(present * away)
        products = np.empty((len(weights), len(columns), len(columns)))
        for first, one in enumerate(columns):
            for second, other in enumerate(columns):
                products[:, first, second] = (one * other).sum(axis=1)
        moments = ClusterMoments(tuple(names), overall, products)
        return _least_squares(moments)

    return compute


def judge_correlations(
    ratings: pd.DataFrame,
    judge: pd.DataFrame,
    ideals: Mapping[str, float],
    ranges: Mapping[str, tuple[float, float]],
    overall: str,
    of_means: bool = False,
) -> Callable[[np.ndarray], np.ndarray]:
    """Make a function that correlates scores with people's mean overall rating.

    The function computes everything from weights of the people's ratings: the weights
    of the aspects, the means over raters, and the correlations. So leaving out a rater
    or a question changes all of them.

    Parameters
    ----------
    ratings : pandas.DataFrame
        One row per item and rater: ``item_id`` and the columns of `ideals`. Weights of
        aspects are fitted to all rows, without an intercept.
    judge : pandas.DataFrame
        One row per item that the judge rated, with the same columns. Correlations are
        those over these items.
    ideals, ranges : mapping
        As for `ideal_distance`.
    overall : str
        The overall rating, one of `ideals`; the others are aspects.
    of_means : bool, optional
        Fit the weights of aspects to mean ratings of items, see `weights_of_means`; by
        default to single ratings.

    Returns
    -------
    callable
        From weights of rating rows, of shape (n_sets, n_rows), to correlations, of
        shape (n_sets, 7): of the judge's scores (`JUDGE_SCORES`: asked directly, by
        learned and by equal weights), then of learned and equal weights with people's
        own aspects (`BY_PEOPLE`: mean ratings, and what different raters agree on; see
        `agreed_weights_of`).

    Raises
    ------
    ValueError
        If a column cannot be used.

    References
    ----------
    Kamoda et al. (2025), sections 5.2 to 5.4.

    Examples
    --------
    >>> ratings = pd.DataFrame({"item_id": list("aabbcc"), "fact": [3, 2, 1, 0, 3, 3],
    ...                         "tone": [2, 1, 1, 1, 0, 1],
    ...                         "whole": [3, 3, 1, 0, 2, 2]})
    >>> judge = pd.DataFrame({"item_id": list("abc"), "fact": [3, 0, 2],
    ...                       "tone": [2, 0, 1], "whole": [3, 1, 2]})
    >>> ideals = {"fact": 3, "tone": 2, "whole": 3}
    >>> ranges = {"fact": (0, 3), "tone": (0, 2), "whole": (0, 3)}
    >>> compute = judge_correlations(ratings, judge, ideals, ranges, "whole")
    >>> compute(np.ones((1, 6)))[:, :3].round(2)
    array([[0.99, 1.  , 1.  ]])
    """
    names = [name for name in ideals if name != overall]
    distances = ideal_distance(ratings, [*names, overall], ideals, ranges)
    if of_means:
        learn = weights_of_means(ratings, ideals, ranges, overall)
    else:
        learn = weights_of(distances, names, overall)

    # rows of judged items, sorted by item, so that sums over raters are of neighbours
    item = pd.Index(judge["item_id"]).get_indexer(ratings["item_id"])
    order = np.argsort(item, kind="stable")
    order = order[item[order] >= 0]
    items, starts = np.unique(item[order], return_index=True)
    judge = judge.iloc[items]
    of_judged = distances.to_numpy()[order]
    of_judged = np.column_stack([np.ones(len(of_judged)), of_judged])
    raw = ratings[[*names, overall]].to_numpy(dtype=float)[order]

    seen_by_judge = ideal_distance(judge, names, ideals, ranges).to_numpy()
    direct = judge[overall].to_numpy(dtype=float)

    def compute(weights: np.ndarray) -> np.ndarray:
        learned = learn(weights)
        equal = np.ones_like(learned)
        counted = weights[:, order]
        rated, means = means_of_sorted(counted, starts, raw)
        human = means[-1]
        found = [_correlation(direct[None, :], human, rated)]
        for each in (learned, equal):
            score = -each @ seen_by_judge.T
            found.append(_correlation(score, human, rated))
        for each in (learned, equal):
            score = 0.0
            for place, name in enumerate(names):
                away = np.abs(means[place] - ideals[name])
                distance = away / _farthest(ideals[name], *ranges[name])
                score = score - each[:, place, None] * distance
            found.append(_correlation(score, human, rated))
        pairs = _pair_products(of_judged, counted, starts)
        agreed = ClusterMoments(tuple(names), overall, pairs)
        for each in (learned, equal):
            found.append(agreed.correlation(each))
        return np.column_stack(found)

    return compute


def _correlation(
    score: np.ndarray, outcome: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Weighted Pearson's correlation along the last axis."""
    total = weights.sum(axis=-1, keepdims=True)
    score = score - (weights * score).sum(axis=-1, keepdims=True) / total
    outcome = outcome - (weights * outcome).sum(axis=-1, keepdims=True) / total
    weighted = weights * score
    covariance = (weighted * outcome).sum(axis=-1)
    variances = (weighted * score).sum(axis=-1) * (weights * outcome**2).sum(axis=-1)
    return ratio(covariance, np.sqrt(variances))


def _pair_products(
    rows: np.ndarray, counted: np.ndarray, starts: np.ndarray
) -> np.ndarray:
    """Cross-products of ratings of one item by two raters, for each set of weights."""
    n_columns = rows.shape[1]
    # the first column is ones: its total counts the raters of each item
    totals = [np.add.reduceat(counted * each, starts, axis=1) for each in rows.T]
    squared = counted**2
    products = np.empty((len(counted), n_columns, n_columns))
    for first in range(n_columns):
        for second in range(first, n_columns):
            all_pairs = (totals[first] * totals[second]).sum(axis=1)
            same_rater = squared @ (rows[:, first] * rows[:, second])
            products[:, first, second] = all_pairs - same_rater
            products[:, second, first] = products[:, first, second]
    return products


def _least_squares(moments: ClusterMoments) -> np.ndarray:
    """Shortest least-squares weights without an intercept for every set of rows."""
    # the pseudoinverse, as a replicate may lack what tells two features apart
    inverse = np.linalg.pinv(moments.xx, rcond=ROUNDING, hermitian=True)
    return (inverse @ moments.xy[:, :, None])[:, :, 0]


def tree_table(tree: DecisionTreeRegressor, features: Sequence[str]) -> pd.DataFrame:
    """The nodes of a fitted tree in plain words.

    Parameters
    ----------
    tree : sklearn.tree.DecisionTreeRegressor
        A fitted tree.
    features : sequence of str
        Names of the features in the order in which the tree saw them.

    Returns
    -------
    pandas.DataFrame
        One row per ``node``: its ``depth``, its ``parent`` (-1 for the root), the
        ``rule`` that leads from the parent to it, the number ``n`` of rows in it, the
        ``mean`` outcome, and whether it ``is_leaf``.

    Examples
    --------
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
    table = pd.DataFrame(
        {
            "depth": depth,
            "parent": parent,
            "rule": rule,
            "n": nodes.weighted_n_node_samples.round().astype(int),
            "mean": nodes.value[:, 0, 0],
            "is_leaf": nodes.feature < 0,
        }
    )
    return table.rename_axis("node").reset_index()
