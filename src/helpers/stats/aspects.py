"""An overall rating from ratings of aspects: distances from an ideal, and trees.

Weights are least squares without an intercept: an answer that is ideal in every aspect
is predicted to be ideal overall. Weights and trees are judged on random parts that were
held out, and weights also on what different raters of one item agree on.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeRegressor

from helpers.stats.aggregation import means_of_sorted
from helpers.stats.bootstrap import cluster_weights
from helpers.stats.checks import (
    check_clusters,
    check_full_rank,
    check_numeric,
    check_regression,
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


def bootstrap_weights(
    moments: ClusterMoments, n_boot: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Weights in bootstrap replicates of clusters.

    Parameters
    ----------
    moments : ClusterMoments
        One set per cluster, see `helpers.stats.moments.cluster_moments`.
    n_boot : int
        Number of replicates.
    rng : numpy.random.Generator

    Returns
    -------
    pandas.DataFrame, shape (n_boot, n_features)
        Where features determine each other in a replicate, the shortest vector of
        weights.

    References
    ----------
    Efron and Tibshirani (1993), chapter 9; Cameron and Miller (2015), section VI.

    Examples
    --------
    >>> frame = pd.DataFrame({"factuality": [0.0, 1, 0, 1], "distance": [0.0, 2, 0, 2]})
    >>> moments = cluster_moments(frame, ["factuality"], "distance")
    >>> bootstrap_weights(moments, 2, np.random.default_rng(0)).round(6)
       factuality
    0         2.0
    1         2.0
    """
    n_clusters = len(moments.products)
    replicates = moments.total(cluster_weights(n_clusters, n_boot, rng))
    return pd.DataFrame(_least_squares(replicates), columns=list(moments.features))


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


def random_splits(
    frame: pd.DataFrame,
    n_splits: int,
    test_share: float,
    rng: np.random.Generator,
    group: str | None = None,
) -> np.ndarray:
    """Random parts of a table to hold out, each with the same number of whole groups.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per observation.
    n_splits : int
        Number of splits.
    test_share : float
        Share of groups to hold out, between 0 and 1.
    rng : numpy.random.Generator
    group : str, optional
        Column of groups that are never divided; by default every row is a group of its
        own.

    Returns
    -------
    numpy.ndarray of bool, shape (n_splits, n_rows)
        True where a row is held out.

    Raises
    ------
    ValueError
        If the column cannot be used or one of the two parts would be empty.

    Examples
    --------
    >>> frame = pd.DataFrame({"question_id": ["a", "a", "b", "b"]})
    >>> random_splits(frame, 2, 0.5, np.random.default_rng(0), group="question_id")
    array([[ True,  True, False, False],
           [ True,  True, False, False]])
    """
    if group is None:
        codes = np.arange(len(frame))
    else:
        check_clusters(frame, group)
        codes, _ = pd.factorize(frame[group], sort=True)
    n_groups = codes.max() + 1
    n_test = round(test_share * n_groups)
    if not 0 < n_test < n_groups:
        raise ValueError(
            f"test_share {test_share} of {n_groups} groups "
            "leaves one part of a split empty"
        )
    is_test = np.arange(n_groups) < n_test
    held_out_groups = rng.permuted(np.tile(is_test, (n_splits, 1)), axis=1)
    return held_out_groups[:, codes]


def split_weights(
    frame: pd.DataFrame, features: Sequence[str], outcome: str, held_out: np.ndarray
) -> pd.DataFrame:
    """Weights fitted without the held-out rows, and their correlation on these.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per rating.
    features : sequence of str
        Columns of distances from the ideal.
    outcome : str
        Column of overall distances from the ideal.
    held_out : numpy.ndarray of bool, shape (n_splits, n_rows)
        Rows held out in each split, see `random_splits`.

    Returns
    -------
    pandas.DataFrame
        One row per split: the weight of every feature, and ``rho``, Pearson's
        correlation of prediction and outcome on the held-out rows (NaN where one of
        them does not vary).

    Raises
    ------
    ValueError
        If a column cannot be used, or a feature is a combination of those before it.

    References
    ----------
    Kamoda et al. (2025), section 4.1.

    Examples
    --------
    >>> frame = pd.DataFrame({"factuality": [0.0, 1, 0, 1], "distance": [0.0, 2, 0, 2]})
    >>> held_out = np.array([[False, False, True, True]])
    >>> split_weights(frame, ["factuality"], "distance", held_out).round(6)
       factuality  rho
    0         2.0  1.0
    """
    rows = cluster_moments(frame, features, outcome)
    check_full_rank(frame, features, intercept=False)
    fitted = _least_squares(rows.total(~held_out))
    rho = rows.total(held_out).correlation(fitted)
    return pd.DataFrame(fitted, columns=list(features)).assign(rho=rho)


def agreed_weights_of(
    frame: pd.DataFrame, features: Sequence[str], outcome: str, item: str
) -> Callable[[np.ndarray], np.ndarray]:
    """Make a function like that of `weights_of`, for what different raters agree on.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per (item, rater).
    features : sequence of str
        Columns of distances from the ideal.
    outcome : str
        Column of overall distances from the ideal.
    item : str
        Column of items; those with a single rater add nothing.

    Returns
    -------
    callable
        From weights of rows, zeros and ones of shape (n_sets, n_rows), to an array of
        shape (n_sets, n_features): least squares without an intercept on the products
        of ratings by two raters of an item.

    Raises
    ------
    ValueError
        If a column cannot be used, or no item has two raters.

    Examples
    --------
    >>> frame = pd.DataFrame(
    ...     {"item_id": list("aabb"), "factuality": [0.0, 1, 1, 1],
    ...      "distance": [1.0, 1, 2, 2]})
    >>> compute = agreed_weights_of(frame, ["factuality"], "distance", "item_id")
    >>> compute(np.array([[1, 1, 1, 1], [0, 0, 1, 1]]))
    array([[2.5],
           [2. ]])
    """
    check_regression(frame, features, outcome)
    check_clusters(frame, item)
    codes, items = pd.factorize(frame[item], sort=True)
    if len(items) == len(frame):
        raise ValueError(
            f"no {item} has two rows: rows of different raters are compared"
        )
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(len(items)))
    values = frame[[*features, outcome]].to_numpy(dtype=float)[order]
    rows = np.column_stack([np.ones(len(values)), values])

    def compute(weights: np.ndarray) -> np.ndarray:
        products = _pair_products(rows, weights[:, order], starts)
        return _least_squares(ClusterMoments(tuple(features), outcome, products))

    return compute


def tree_splits(
    frame: pd.DataFrame,
    features: Sequence[str],
    outcome: str,
    held_out: np.ndarray,
    max_depth: int = 3,
) -> pd.DataFrame:
    """Trees fitted without the held-out rows, and their correlation on these.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per rating.
    features : sequence of str
        Columns of ratings.
    outcome : str
        Column of overall ratings.
    held_out : numpy.ndarray of bool, shape (n_splits, n_rows)
        Rows held out in each split, see `random_splits`.
    max_depth : int, optional
        Largest number of questions from root to leaf.

    Returns
    -------
    pandas.DataFrame
        One row per split: the importance of every feature (its share of the variance
        that the tree explains on the rows it was fitted to), and ``rho``, Pearson's
        correlation of prediction and outcome on the held-out rows (NaN where one of
        them does not vary).

    Raises
    ------
    ValueError
        If a column cannot be used.

    References
    ----------
    Breiman et al. (1984), Classification and Regression Trees; Kamoda et al. (2025),
    Appendix B.

    Examples
    --------
    >>> frame = pd.DataFrame(
    ...     {"factuality": [0, 3, 0, 3], "acceptability": [1, 3, 1, 3]})
    >>> held_out = np.array([[False, False, True, True]])
    >>> tree_splits(frame, ["factuality"], "acceptability", held_out)
       factuality  rho
    0         1.0  1.0
    """
    results = []
    for tree, x, y in _fitted_trees(frame, features, outcome, held_out, max_depth):
        predicted = tree.predict(x, check_input=False)
        both_vary = np.ptp(predicted) > 0 and np.ptp(y) > 0
        rho = np.corrcoef(predicted, y)[0, 1] if both_vary else np.nan
        results.append([*tree.feature_importances_, rho])
    return pd.DataFrame(results, columns=[*features, "rho"])


def _fitted_trees(
    frame: pd.DataFrame,
    features: Sequence[str],
    outcome: str,
    held_out: np.ndarray,
    max_depth: int,
) -> Iterator[tuple[DecisionTreeRegressor, np.ndarray, np.ndarray]]:
    """Yield for each split the tree and the held-out rows, features and outcome."""
    x, y, case_of_row = distinct_rows(frame, features, outcome)
    for is_test in held_out:
        n_rows = np.bincount(case_of_row[~is_test], minlength=len(y))
        tree = DecisionTreeRegressor(max_depth=max_depth, random_state=0)
        tree.fit(x, y, sample_weight=n_rows.astype(float), check_input=False)
        tested = case_of_row[is_test]
        yield tree, x[tested], y[tested]


def distinct_rows(
    frame: pd.DataFrame, features: Sequence[str], outcome: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features and outcome of rows that differ, and which of these each row is.

    With the number of rows as weights they give the same tree, but sooner.
    """
    check_regression(frame, features, outcome)
    rows = frame[[*features, outcome]].to_numpy(dtype=float)
    cases, case_of_row = np.unique(rows, axis=0, return_inverse=True)
    # in the type and order that trees take without another check
    x = np.asarray(cases[:, :-1], dtype=np.float32, order="C")
    return x, cases[:, -1], case_of_row


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
