"""Can a model stand in for one of the people who label? The alternative annotator test.

Calderon, Reichart and Dror (2025). Each person is left out in turn. On each item the
model and the person left out are compared with the labels of all others. The model wins
against this person if it is at least as close to the others, but for a margin epsilon
that stands for what people cost. The *winning rate* is the share of people whom it wins
against; at one half or more, the test says that it can stand in.

What was checked against the authors' published code and example: the score of an item,
that ties count for both, the one-sided t test of the difference of the two shares
against epsilon, Benjamini and Yekutieli's correction, at least two labels an item and
thirty items a person. Ours alone: items of one text may be alike, so the test allows
for clusters, which theirs does not; a person with few clusters is not judged.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import t

from helpers.stats import checks

FEWEST_ITEMS = 30  # of one person, as the authors ask
FEWEST_CLUSTERS = 10


@dataclass(frozen=True)
class AltTest:
    """Result of the alternative annotator test.

    Parameters
    ----------
    people : pandas.DataFrame
        A row per person: ``items``, ``clusters``, ``model`` (share of items on which
        the model is at least as close to the others), ``person`` (the same for the
        person), ``p_value``, ``wins`` (of the model, after the correction). Persons who
        are not judged have NaN in ``p_value`` and False in ``wins``.
    winning_rate : float
        Share of judged people whom the model wins against; NaN if nobody is judged.
    advantage, low, high : float
        Mean of ``model`` over judged people, and a 95 % interval for these people and
        other clusters.
    """

    people: pd.DataFrame
    winning_rate: float
    advantage: float
    low: float
    high: float


def same_label(label: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Share of the others, on each item, who gave the same label."""
    is_there = ~np.isnan(others)
    same = (others == label[:, None]) & is_there
    return same.sum(axis=1) / is_there.sum(axis=1)


def closeness(label: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Root mean squared distance to the others on each item, with a minus sign."""
    return -np.sqrt(np.nanmean((others - label[:, None]) ** 2, axis=1))


SCORES: dict[str, Callable] = {"same label": same_label, "closeness": closeness}


def alt_test(
    labels: pd.DataFrame,
    model: pd.Series,
    epsilon: float,
    score: str,
    cluster: str = "item_id",
    fewest_items: int = FEWEST_ITEMS,
    fewest_clusters: int = FEWEST_CLUSTERS,
    level: float = 0.05,
) -> AltTest:
    """Test whether a model can stand in for people who label.

    Parameters
    ----------
    labels : pandas.DataFrame
        One row per item and person: ``item_id``, ``rater_id``, ``label``, and the
        column of clusters. Labels are numbers, or words if the score is "same label".
    model : pandas.Series
        The model's label of each item, by item. Items without one are left out, as are
        items with a single person.
    epsilon : float
        How much less often than the person the model may be as close to the others: the
        authors advise 0.2 beside experts, 0.15 beside skilled people, 0.1 beside crowd
        workers.
    score : {"same label", "closeness"}
        How near a label is to those of the others.
    cluster : str, optional
        Column of clusters that hold whole items, such as texts.
    fewest_items, fewest_clusters : int, optional
        A person with fewer is not judged.
    level : float, optional
        False discovery rate of the correction for several people.

    Returns
    -------
    AltTest

    Raises
    ------
    ValueError
        If a column is missing, a person labels an item twice, or no item has labels of
        the model and of two people.

    References
    ----------
    Calderon, Reichart and Dror (2025), The Alternative Annotator Test for
    LLM-as-a-Judge; Benjamini and Yekutieli (2001).

    Examples
    --------
    >>> items = np.repeat(np.arange(40), 3)
    >>> labels = pd.DataFrame({"item_id": items, "rater_id": ["a", "b", "c"] * 40,
    ...                        "label": items % 2})
    >>> model = pd.Series(np.arange(40) % 2)
    >>> alt_test(labels, model, epsilon=0.2, score="same label").winning_rate
    1.0
    """
    wide, clusters = _by_item(labels, model, cluster)
    people = wide.columns.drop("model")
    compare = SCORES[score]
    model_label = wide["model"].to_numpy()
    rows = {}
    parts = {}
    for person in people:
        own = wide[person].to_numpy()
        seen = ~np.isnan(own)
        others = wide.loc[seen, people.drop(person)].to_numpy()
        person_score = compare(own[seen], others)
        model_score = compare(model_label[seen], others)
        model_ahead = model_score >= person_score
        person_ahead = person_score >= model_score
        difference = person_ahead.astype(float) - model_ahead
        codes = clusters[seen]
        rows[person] = {
            "items": seen.sum(),
            "clusters": len(np.unique(codes)),
            "model": model_ahead.mean(),
            "person": person_ahead.mean(),
            "p_value": one_sided_p(difference, codes, epsilon),
        }
        parts[person] = pd.Series(model_ahead - model_ahead.mean()).groupby(codes).sum()
        parts[person] /= seen.sum()
    table = pd.DataFrame.from_dict(rows, "index")
    judged = (table["items"] >= fewest_items) & (table["clusters"] >= fewest_clusters)
    table["p_value"] = table["p_value"].where(judged)
    table["wins"] = False
    if judged.any():
        table.loc[judged, "wins"] = benjamini_yekutieli(table["p_value"][judged], level)
    low, advantage, high = _mean_with_interval(table["model"][judged], parts)
    rate = table.loc[judged, "wins"].mean() if judged.any() else np.nan
    return AltTest(table, float(rate), advantage, low, high)


def _by_item(
    labels: pd.DataFrame, model: pd.Series, cluster: str
) -> tuple[pd.DataFrame, np.ndarray]:
    """Items as rows, people and the model as columns; the cluster of each item."""
    checks.check_complete(labels, ["item_id", "rater_id", "label", cluster])
    if labels.duplicated(["item_id", "rater_id"]).any():
        raise ValueError("a person labels an item twice: keep one label")
    coded = labels
    if not pd.api.types.is_numeric_dtype(labels["label"]):
        words = pd.concat([labels["label"], model]).dropna().unique()
        code = {word: float(number) for number, word in enumerate(words)}
        coded = labels.assign(label=labels["label"].map(code))
        model = model.map(code)
    wide = coded.pivot(index="item_id", columns="rater_id", values="label")
    enough = wide.notna().sum(axis="columns") >= 2
    wide = wide.astype(float).assign(model=model.reindex(wide.index).astype(float))
    wide = wide[enough & wide["model"].notna()]
    if wide.empty:
        raise ValueError("no item has labels of the model and of two people")
    of_item = labels.drop_duplicates("item_id").set_index("item_id", drop=False)[
        cluster
    ]
    codes, _ = pd.factorize(of_item.loc[wide.index])
    empty = [name for name in wide if wide[name].isna().all()]
    return wide.drop(columns=empty), codes


def one_sided_p(difference: np.ndarray, clusters: np.ndarray, limit: float) -> float:
    """p-value of a mean below a limit, with clusters.

    With a cluster for each row it is that of the one-sample t test.

    Parameters
    ----------
    difference : numpy.ndarray, shape (n_rows,)
    clusters : numpy.ndarray of int, shape (n_rows,)
    limit : float

    Returns
    -------
    float
        NaN with one cluster.

    Examples
    --------
    >>> from scipy.stats import ttest_1samp
    >>> marks = np.array([0.0, 0.0, 1.0, -1.0, 0.0])
    >>> p = one_sided_p(marks, np.arange(5), 0.2)
    >>> bool(np.isclose(p, ttest_1samp(marks, 0.2, alternative="less").pvalue))
    True
    """
    n_clusters = len(np.unique(clusters))
    if n_clusters < 2:
        return np.nan
    mean = difference.mean()
    sums = pd.Series(difference - mean).groupby(clusters).sum() / len(difference)
    variance = n_clusters / (n_clusters - 1) * (sums**2).sum()
    if variance == 0:  # as in the limit of ever smaller variance
        return float(mean >= limit)
    return float(t.cdf((mean - limit) / np.sqrt(variance), n_clusters - 1))


def benjamini_yekutieli(p_values: pd.Series, level: float) -> np.ndarray:
    """Tell which hypotheses are rejected at a false discovery rate, however dependent.

    Examples
    --------
    >>> benjamini_yekutieli(pd.Series([0.01, 0.04, 0.20]), 0.05).tolist()
    [False, False, False]
    >>> benjamini_yekutieli(pd.Series([0.009, 0.018, 0.20]), 0.05).tolist()
    [True, True, False]
    """
    from statsmodels.stats.multitest import multipletests

    rejected, *_ = multipletests(p_values, alpha=level, method="fdr_by")
    return rejected


def _mean_with_interval(
    shares: pd.Series, parts: dict[str, pd.Series]
) -> tuple[float, float, float]:
    """Mean over people with a 95 % interval for other clusters."""
    if shares.empty:
        return np.nan, np.nan, np.nan
    mean = float(shares.mean())
    by_cluster = pd.concat([parts[person] for person in shares.index], axis="columns")
    sums = by_cluster.sum(axis="columns") / len(shares)
    n = len(sums)
    error = np.sqrt(n / (n - 1) * (sums**2).sum())
    margin = t.ppf(0.975, n - 1) * error
    return mean - margin, mean, mean + margin
