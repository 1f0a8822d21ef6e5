"""Regression trees on ratings: how well they predict, what matters to them, and their rules."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from sklearn.inspection import permutation_importance
from sklearn.tree import DecisionTreeRegressor

from helpers.files.tables import check_held_out, check_regression

N_SHUFFLES = 5  # of each feature in each split


def tree_splits(
    frame: pd.DataFrame,
    features: Sequence[str],
    outcome: str,
    held_out: np.ndarray,
    max_depth: int = 3,
) -> pd.DataFrame:
    """Trees fitted without the held-out rows, and their correlation on the held-out rows.

    Rows that are alike are counted and fitted once with their count as weight, which gives the
    same tree.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per rating.
    features : sequence of str
        Columns of ratings.
    outcome : str
        Column of overall ratings.
    held_out : numpy.ndarray of bool, shape (n_splits, n_rows)
        Rows held out in each split, see `helpers.aspects.random_splits`.
    max_depth : int, optional
        Largest number of questions from root to leaf.

    Returns
    -------
    pandas.DataFrame
        One row per split: the importance of every feature (its share of the variance that the
        tree explains on the rows it was fitted to), and ``rho``, Pearson's correlation of
        prediction and outcome on the held-out rows.

    Raises
    ------
    ValueError
        If a column cannot be used (see `helpers.files.tables.check_regression`).

    References
    ----------
    Breiman et al. (1984), Classification and Regression Trees; Kamoda et al. (2025), Appendix B.

    Examples
    --------
    >>> frame = pd.DataFrame({"factuality": [0, 3, 0, 3], "acceptability": [1, 3, 1, 3]})
    >>> tree_splits(frame, ["factuality"], "acceptability", np.array([[0, 0, 1, 1]], bool))
       factuality  rho
    0         1.0  1.0
    """
    check_regression(frame, features, outcome)
    check_held_out(frame, held_out)
    rows = frame[[*features, outcome]].to_numpy(dtype=float)
    cases, case_of_row = np.unique(rows, axis=0, return_inverse=True)
    x, y = np.asarray(cases[:, :-1], dtype=np.float32, order="C"), cases[:, -1]  # as trees take it
    results = []
    for test in held_out:
        tree = DecisionTreeRegressor(max_depth=max_depth, random_state=0)
        counts = np.bincount(case_of_row[~test], minlength=len(cases)).astype(float)
        tree.fit(x, y, sample_weight=counts, check_input=False)
        predictions = tree.predict(x, check_input=False)[case_of_row[test]]
        rho = _correlation(predictions, rows[test, -1])
        results.append([*tree.feature_importances_, rho])
    return pd.DataFrame(results, columns=[*features, "rho"])


def _correlation(prediction: np.ndarray, outcome: np.ndarray) -> float:
    """Pearson's correlation, NaN where one of the two does not vary."""
    if np.ptp(prediction) == 0 or np.ptp(outcome) == 0:
        return np.nan
    return np.corrcoef(prediction, outcome)[0, 1]


def permutation_importances(
    frame: pd.DataFrame,
    features: Sequence[str],
    outcome: str,
    held_out: np.ndarray,
    rng: np.random.Generator,
    max_depth: int = 3,
) -> pd.DataFrame:
    """How much a tree's held-out R² drops when one feature is shuffled.

    A feature is shuffled among the held-out rows only. With splits that keep groups whole, the
    tree is therefore never judged on a group it was fitted to, shuffled or not.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per rating.
    features : sequence of str
        Columns of ratings.
    outcome : str
        Column of overall ratings.
    held_out : numpy.ndarray of bool, shape (n_splits, n_rows)
        Rows held out in each split, see `helpers.aspects.random_splits`.
    rng : numpy.random.Generator
        Shuffles the features.
    max_depth : int, optional
        Largest number of questions from root to leaf.

    Returns
    -------
    pandas.DataFrame, shape (n_splits, n_features)
        Drop in R², the mean of `N_SHUFFLES` shuffles; negative where shuffling helped by chance.

    Raises
    ------
    ValueError
        If a column cannot be used or the splits do not fit the table.

    References
    ----------
    Breiman (2001), Random Forests, section 10.

    Examples
    --------
    >>> frame = pd.DataFrame({"factuality": [0, 3] * 20, "formality": 0, "quality": [1, 3] * 20})
    >>> held_out = np.arange(40)[None, :] < 20
    >>> drops = permutation_importances(
    ...     frame, ["factuality", "formality"], "quality", held_out, np.random.default_rng(0))
    >>> (drops > 0).to_numpy()
    array([[ True, False]])
    """
    check_regression(frame, features, outcome)
    check_held_out(frame, held_out)
    x, y = frame[list(features)].to_numpy(dtype=float), frame[outcome].to_numpy(dtype=float)
    drops = []
    for test in held_out:
        tree = DecisionTreeRegressor(max_depth=max_depth, random_state=0).fit(x[~test], y[~test])
        shuffles = permutation_importance(
            tree, x[test], y[test], n_repeats=N_SHUFFLES, random_state=int(rng.integers(2**31))
        )
        drops.append(shuffles.importances_mean)
    return pd.DataFrame(drops, columns=list(features))


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
        One row per ``node``: its ``depth``, its ``parent`` (-1 for the root), the ``rule`` that
        leads from the parent to it, the number ``n`` of rows in it, the ``mean`` outcome, and
        whether it ``is_leaf``.

    Raises
    ------
    ValueError
        If the number of names is not the number of features of the tree.

    Examples
    --------
    >>> tree = DecisionTreeRegressor(max_depth=1).fit([[0], [0], [3]], [1, 1, 3])
    >>> tree_table(tree, ["factuality"]).drop(columns="is_leaf")
       node  depth  parent                    rule  n      mean
    0     0      0      -1                all rows  3  1.666667
    1     1      1       0  factuality at most 1.5  2  1.000000
    2     2      1       0    factuality above 1.5  1  3.000000
    """
    if len(features) != tree.n_features_in_:
        raise ValueError(f"the tree has {tree.n_features_in_} features, got {len(features)} names")
    nodes = tree.tree_
    rows = [{"depth": 0, "parent": -1, "rule": "all rows"} for _ in range(nodes.node_count)]
    for parent in np.flatnonzero(nodes.feature >= 0):
        feature, threshold = features[nodes.feature[parent]], nodes.threshold[parent]
        for child, words in (
            (nodes.children_left[parent], "at most"),
            (nodes.children_right[parent], "above"),
        ):
            rows[child] = {
                "depth": rows[parent]["depth"] + 1,
                "parent": parent,
                "rule": f"{feature} {words} {threshold:.3g}",
            }
    table = pd.DataFrame(rows).assign(
        n=nodes.weighted_n_node_samples.round().astype(int),
        mean=nodes.value[:, 0, 0],
        is_leaf=nodes.feature < 0,
    )
    return table.rename_axis("node").reset_index()
