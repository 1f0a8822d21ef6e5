"""What raters' labels tell about true errors, combined by rules.

Labels of several raters become one label of an item by rules that people choose among.
One rule is the model of Dawid and Skene (1979): each item has one true label, which
nobody sees, and each rater a confusion matrix, how often they give each label to items
of each true label; given the true labels, raters err independently. Latent classes say
the same of all raters together.
"""

from collections.abc import Sequence
from functools import reduce

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.special import expit, logit

from helpers.data.tables import PlainError

MODES = {
    "mode, ties halved": "middle",
    "mode, ties low": "lowest",
    "mode, ties high": "highest",
}
RULES = ("mean", *MODES, "Dawid–Skene", "Dawid–Skene, pooled")
# of a rater who has a confusion matrix of their own when others are pooled
LEAST_LABELS = 10
OCCASIONAL = "occasional raters"
MAX_STEPS = 10_000
TOLERANCE = 1e-9  # of the log-likelihood, relative
# count in place of zero: what a rater never did is improbable, not impossible
NEVER = 1e-10
COLUMNS = (
    "prevalence",
    "sensitivity",
    "false_alarms",
    "expert_sensitivity",
    "expert_false_alarms",
)
CLASS_STEPS = 5000
CLASS_TOLERANCE = 1e-6  # largest change of a probability in the last step


def combine(ratings: pd.DataFrame, columns: Sequence[str], rule: str) -> pd.DataFrame:
    """Combine the ratings of each ``item_id`` by one of `RULES`."""
    items = ratings["item_id"]
    if rule == "mean":
        return ratings.groupby(items)[list(columns)].mean()
    if rule in MODES:
        return pd.DataFrame({c: _mode(ratings[c], items, MODES[rule]) for c in columns})
    raters = ratings["rater_id"].astype(str)
    if rule == "Dawid–Skene, pooled":
        raters = raters.where(
            raters.map(raters.value_counts()) >= LEAST_LABELS, OCCASIONAL
        )
    expected = {}
    for column in columns:
        probabilities = fit_dawid_skene(items, raters, ratings[column])
        expected[column] = probabilities @ probabilities.columns.to_numpy(float)
    return pd.DataFrame(expected)


def _mode(values: pd.Series, items: pd.Series, ties: str) -> pd.Series:
    """Most frequent value of each item."""
    counts = pd.get_dummies(values.astype(float), dtype=int).groupby(items).sum()
    winners = counts.eq(counts.max(axis="columns"), axis="index")
    if ties == "middle":
        return winners @ winners.columns.to_numpy() / winners.sum(axis="columns")
    if ties == "highest":
        winners = winners.iloc[:, ::-1]
    return winners.idxmax(axis="columns")  # the first of those that tie


def fit_dawid_skene(
    items: pd.Series, raters: pd.Series, given: pd.Series
) -> pd.DataFrame:
    """Probabilities of each item's true labels, by maximum likelihood."""
    votes = pd.get_dummies(given, dtype=float).groupby(items).mean()
    n_items, n_labels = votes.shape
    codes, different = pd.factorize(raters, sort=True)
    rows = codes * n_labels + votes.columns.get_indexer(given)
    marks = sparse.csr_array(
        (np.ones(len(rows)), (rows, votes.index.get_indexer(items))),
        shape=(len(different) * n_labels, n_items),
    )
    return pd.DataFrame(_maximise(marks, votes.to_numpy()), votes.index, votes.columns)


def _maximise(marks: sparse.csr_array, posterior: np.ndarray) -> np.ndarray:
    """Alternate between raters and items until the likelihood rises no more."""
    by_item = marks.T.tocsr()
    n_labels = posterior.shape[1]
    before = -np.inf
    for _ in range(MAX_STEPS):
        prevalence = np.maximum(posterior.mean(axis=0), NEVER)
        counts = np.maximum(marks @ posterior, NEVER).reshape(-1, n_labels, n_labels)
        confusion = counts / counts.sum(axis=1, keepdims=True)
        joint = np.log(prevalence) + by_item @ np.log(confusion).reshape(-1, n_labels)
        total = reduce(np.logaddexp, joint.T)[:, None]
        posterior = np.exp(joint - total)
        likelihood = total.sum()
        if likelihood - before <= TOLERANCE * abs(likelihood):
            return posterior
        before = likelihood
    raise RuntimeError(
        f"the likelihood still rises after {MAX_STEPS} steps: "
        "pool raters with few labels"
    )


def fit_classes(
    marks: pd.DataFrame, errors: Sequence[str], experts: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Estimate how common errors are, and how often marked rightly and wrongly."""
    errors = list(errors)
    marked = marks.groupby("item_id")[errors].sum()
    size = marks.groupby("item_id").size()
    by_expert = pd.DataFrame(np.nan, marked.index, errors)
    if experts is not None:
        once = experts.drop_duplicates("item_id").set_index("item_id")
        by_expert = once[errors].reindex(marked.index)
    rows = {}
    for error in errors:
        rows[error] = _probabilities(marked[error], size, by_expert[error])
    table = pd.DataFrame(rows, index=list(COLUMNS)).T
    if experts is None:
        table[list(COLUMNS[3:])] = np.nan
    return table


def _probabilities(
    marked: pd.Series, size: pd.Series, by_expert: pd.Series
) -> np.ndarray:
    """Probabilities for one error, in the order of `COLUMNS`, by the EM algorithm.

    One is added to each count of marks and two to its total, so that no probability is
    zero or one.
    """
    patterns = pd.DataFrame({"marked": marked, "size": size, "expert": by_expert})
    patterns = patterns.value_counts(dropna=False).sort_index().reset_index()
    # Marks and their absence, by the crowd and by an expert: none of an expert's where
    # there is no expert.
    yes = patterns[["marked", "expert"]].fillna(0.0).to_numpy(dtype=float)
    crowd_no = patterns["size"] - patterns["marked"]
    expert_no = 1.0 - patterns["expert"]
    no = np.nan_to_num(np.column_stack([crowd_no, expert_no]))
    count = patterns["count"].to_numpy(dtype=float)

    rate = (marked.sum() + 1) / (size.sum() + 2)
    prevalence = 0.1
    right = np.array([0.6, 0.8])  # marked where the error is: by crowd, by experts
    wrong = np.array([0.5 * rate, 0.1])  # marked where it is not
    for _ in range(CLASS_STEPS):
        evidence = yes @ np.log(right / wrong) + no @ np.log((1 - right) / (1 - wrong))
        there = count * expit(logit(prevalence) + evidence)
        not_there = count - there
        before = np.array([prevalence, *right, *wrong])
        right = (there @ yes + 1) / (there @ (yes + no) + 2)
        wrong = (not_there @ yes + 1) / (not_there @ (yes + no) + 2)
        prevalence = (there.sum() + 1) / (count.sum() + 2)
        after = np.array([prevalence, *right, *wrong])
        if np.abs(after - before).max() < CLASS_TOLERANCE:
            return np.array([prevalence, right[0], wrong[0], right[1], wrong[1]])
    raise PlainError(
        f"the probabilities of error {marked.name!r} still change after "
        f"{CLASS_STEPS} steps: leave it out or have more people mark each output"
    )
