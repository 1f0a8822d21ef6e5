"""What the paper of Kamoda et al. says about its regression and its tree, recomputed.

Section 4.1 and Appendix B. Notebooks 21 and 22 explain the methods.
"""

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeRegressor

from helpers.data.columns.kamoda import ASPECTS, IDEALS, RANGES
from helpers.stats import aspects, jackknife
from helpers.stats.groups import interval_table
from helpers.stats.moments import cluster_moments
from helpers.studies.kamoda import Kamoda

WORKER_AND_QUESTION = ["rater_id", "question_id"]
MISSING = "missing"  # points of acceptability below its ideal
DEPTH = 3  # of the paper's tree
LOW_ACCEPTABILITY = 1  # ratings of 0 and 1


def distances(ratings: pd.DataFrame) -> pd.DataFrame:
    """Distances from the ideal: what the paper's regression is fitted to.

    Parameters
    ----------
    ratings : pandas.DataFrame
        Ratings of the three aspects and of ``acceptability``, single ones or means.

    Returns
    -------
    pandas.DataFrame
        The aspects, 0 where ideal and 1 as far from it as the scale allows, and
        ``missing``, the points of acceptability below 3. In the order of `ratings`.

    References
    ----------
    Kamoda et al. (2025), section 4.1, equations 1 and 2.

    Examples
    --------
    >>> wrong = {"factuality": [0.0], "amount_info": [-1.0], "formality": [0.0]}
    >>> distances(pd.DataFrame({**wrong, "acceptability": [1.0]})).iloc[0].tolist()
    [1.0, 1.0, 0.0, 2.0]
    """
    table = aspects.ideal_distance(ratings, list(ASPECTS), IDEALS, RANGES)
    table[MISSING] = IDEALS["acceptability"] - ratings["acceptability"]
    return table


def ratios(table: pd.DataFrame, clusters: pd.DataFrame) -> pd.DataFrame:
    """Weights of the aspects divided by that of the amount of information.

    Parameters
    ----------
    table : pandas.DataFrame
        As from `distances`, one row per single rating.
    clusters : pandas.DataFrame, shape (n_rows, 1 or 2)
        Clusters that are left out in turn: worker, question, or both.

    Returns
    -------
    pandas.DataFrame
        ``estimate``, ``low`` and ``high`` (95 %) for factuality, for factuality per
        step of its scale (it has three, the other scales one), and for formality.

    Examples
    --------
    >>> from helpers.studies import kamoda
    >>> ratings = kamoda.load("simulated").ratings
    >>> found = ratios(distances(ratings), ratings[["question_id"]])
    >>> found.index.tolist()
    ['factuality', 'factuality, per step', 'formality']
    """
    weights_of = aspects.weights_of(table, list(ASPECTS), MISSING)

    def ratios_of(row_weights: np.ndarray) -> np.ndarray:
        factuality, information, formality = weights_of(row_weights).T
        ratio = factuality / information
        return np.column_stack([ratio, ratio / 3, formality / information])

    names = ["factuality", "factuality, per step", "formality"]
    found = jackknife.leave_one_out(ratios_of, clusters, names)
    return found[["estimate", "low", "high"]]


def regression_statements(
    study: Kamoda, n_splits: int, test_share: float, n_boot: int, seed: int
) -> dict[str, object]:
    """Compute what the paper's statements on its regression are compared with.

    Parameters
    ----------
    study : Kamoda
        The ratings.
    n_splits : int
        Random splits into a part to fit and a part to test.
    test_share : float
        Share of the ratings that is tested.
    n_boot, seed : int
        Resamples of clusters, and the seed of all random numbers.

    Returns
    -------
    dict
        By name of the result, without ``"kamoda.regression."``, in the form that
        `helpers.claims.results.rows` takes. Numbers that depend on the split have the
        median and the central 95 % of the splits.

    References
    ----------
    Kamoda et al. (2025), section 4.1, section 6 and Figure 7.

    Examples
    --------
    >>> from helpers.studies import kamoda
    >>> study = kamoda.load("simulated")
    >>> found = regression_statements(study, 20, 0.2, n_boot=20, seed=0)
    >>> found["order"].loc["", "share"]
    np.float64(1.0)
    """
    names = list(ASPECTS)
    table = distances(study.ratings)
    rng = np.random.default_rng(seed)
    held_out = aspects.random_splits(study.ratings, n_splits, test_share, rng)
    splits = aspects.split_weights(table, names, MISSING, held_out)
    splits.columns = [*(f"weight_{name}" for name in names), "rho"]
    ratio = splits["weight_factuality"] / splits["weight_amount_info"]
    splits["ratio_in_results"] = ratio
    splits["ratio_in_conclusion"] = ratio
    over_splits = interval_table(splits.median(), splits)
    found = dict(over_splits.iterrows())
    clusters = study.ratings[WORKER_AND_QUESTION]
    with_clusters = table.join(clusters)
    found |= _shares_in_order(with_clusters, n_boot, seed)
    found["formality_under_half"] = ratios(table, clusters).loc["formality"] - 0.5
    found["low_factuality"] = _low_factuality(study.ratings)
    return found


def _shares_in_order(
    table: pd.DataFrame, n_boot: int, seed: int
) -> dict[str, pd.DataFrame]:
    """Shares of resamples with the paper's order, whole and by the pairs it names.

    Resamples are those of questions or of workers, whichever gives the smaller share.
    """
    pairs = [
        ("factuality", "amount_info"),
        ("amount_info", "formality"),
        ("factuality", "formality"),
    ]
    by_cluster = {}
    for cluster in WORKER_AND_QUESTION:
        moments = cluster_moments(table, list(ASPECTS), MISSING, cluster)
        rng = np.random.default_rng(seed)
        drawn = aspects.bootstrap_weights(moments, n_boot, rng)
        first, second, third = [drawn[more] > drawn[less] for more, less in pairs]
        by_cluster[cluster] = {
            "in order": (first & second).mean(),
            "first": (first & third).mean(),
            "factuality over amount_info": first.mean(),
            "amount_info over formality": second.mean(),
            "factuality over formality": third.mean(),
        }
    shares = pd.DataFrame(by_cluster).min(axis="columns").to_frame("share")
    order = ["in order", "factuality over amount_info", "amount_info over formality"]
    lead = ["first", "factuality over amount_info", "factuality over formality"]
    return {
        "order": shares.loc[order].rename({"in order": ""}),
        "factuality_first": shares.loc[lead].rename({"first": ""}),
    }


def _low_factuality(ratings: pd.DataFrame) -> dict[str, object]:
    """Factuality of answers with low acceptability, by both meanings of low."""
    rated = ratings.assign(low=ratings["acceptability"] <= LOW_ACCEPTABILITY)
    means = jackknife.group_means(rated, ["factuality"], "low", WORKER_AND_QUESTION)
    below = means.pick([("factuality", False)]).minus(
        means.pick([("factuality", True)])
    )
    return {
        "lower half": means.table().loc[
            ("factuality", True), ["estimate", "low", "high"]
        ],
        "below other answers": {"holds": below.table()["low"].iloc[0] > 0},
    }


def tree_statements(
    study: Kamoda, n_splits: int, test_share: float, n_boot: int, seed: int
) -> dict[str, object]:
    """Compute what the paper's statements on its decision tree are compared with.

    Parameters
    ----------
    study : Kamoda
        The ratings.
    n_splits : int
        Random splits into a part to fit and a part to test.
    test_share : float
        Share of the ratings that is tested.
    n_boot, seed : int
        Resamples of questions and of workers, and the seed of all random numbers.

    Returns
    -------
    dict
        By name of the result, without ``"kamoda.tree."``. The share of ``agrees`` is
        that of resamples in which factuality is the most and formality the least
        important, of questions or of workers, whichever is smaller.

    References
    ----------
    Kamoda et al. (2025), section 4.1, Appendix B and Figure 8.

    Examples
    --------
    >>> from helpers.studies import kamoda
    >>> found = tree_statements(kamoda.load("simulated"), 10, 0.2, 10, seed=0)
    >>> sorted(found)
    ['agrees', 'rho']
    """
    names = list(ASPECTS)
    rng = np.random.default_rng(seed)
    held_out = aspects.random_splits(study.ratings, n_splits, test_share, rng)
    splits = aspects.tree_splits(study.ratings, names, "acceptability", held_out, DEPTH)
    rho = interval_table(splits[["rho"]].median(), splits[["rho"]]).loc["rho"]
    shares = []
    for cluster in WORKER_AND_QUESTION:
        rng = np.random.default_rng(seed)
        shares.append(_share_of_trees_in_order(study.ratings, cluster, n_boot, rng))
    return {"rho": rho, "agrees": {"share": min(shares)}}


def _share_of_trees_in_order(
    ratings: pd.DataFrame, cluster: str, n_boot: int, rng: np.random.Generator
) -> float:
    """Share of resamples of a cluster in which the tree orders aspects as printed."""
    tree = DecisionTreeRegressor(max_depth=DEPTH, random_state=0)
    codes, labels = pd.factorize(ratings[cluster])
    x, y, case_of_row = aspects.distinct_rows(ratings, ASPECTS, "acceptability")
    in_order = 0
    for _ in range(n_boot):
        drawn = rng.integers(len(labels), size=len(labels))
        times_drawn = np.bincount(drawn, minlength=len(labels))
        n_rows = np.bincount(case_of_row, times_drawn[codes], len(y))
        tree.fit(x, y, sample_weight=n_rows, check_input=False)
        importance = pd.Series(tree.feature_importances_, list(ASPECTS))
        is_first = importance.idxmax() == "factuality"
        in_order += is_first and importance.idxmin() == "formality"
    return in_order / n_boot
