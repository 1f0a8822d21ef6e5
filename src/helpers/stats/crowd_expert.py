"""Crowd minus expert, when other raters or other prompts might have been asked.

The crowd's label of an answer is what most of its raters mark. Without one rater some
of these labels are others, and some answers count as refusals or no longer do; so
everything is computed anew when a rater, or a prompt, is left out. One expert is fixed.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from helpers.stats import checks
from helpers.stats.clustered import cluster_codes
from helpers.stats.jackknife import Jackknife, effective_df
from helpers.stats.moments import cluster_sums, ratio
from helpers.stats.rates import REFUSAL_RULES

GAPS = ("gap", "same", "different")


def gaps_left_out(
    marks: pd.DataFrame,
    labels: pd.DataFrame,
    error: str,
    arms: tuple[str, str],
    rule: str,
) -> Jackknife:
    """Crowd minus expert, and its change between two arms, with clusters left out.

    Parameters
    ----------
    marks : pandas.DataFrame
        One row per answer and rater of the crowd: ``item_id``, ``prompt_id``, ``arm``,
        ``rater_id``, the error and ``refusal``, 0 or 1.
    labels : pandas.DataFrame
        One row per answer that the expert labelled: ``item_id``, the error and
        ``refusal``, 0 or 1; each has marks.
    error : str
        Column of the error.
    arms : (str, str)
        The arm to subtract, and the arm to subtract it from.
    rule : {"majority", "any", "none"}
        Which refusals are left out, see `helpers.stats.rates.drop_refusals`.

    Returns
    -------
    helpers.stats.jackknife.Jackknife
        In points of 100: ``gap``, crowd minus expert on answers that neither calls a
        refusal; ``same``, its change between the arms on these answers; ``different``,
        the change of the crowd's rate over all its answers less that of the expert's
        over all the expert's, each without what it calls a refusal itself. Raters and
        prompts are left out in turn; degrees of freedom are those of the effective
        numbers of both among the answers that the expert labelled.

    Raises
    ------
    ValueError
        If a column cannot be used, the rule is unknown, or the expert labelled an
        answer without marks.

    References
    ----------
    Cameron, Gelbach and Miller (2011), Robust Inference with Multiway Clustering;
    Efron and Tibshirani (1993), chapter 11 (jackknife).

    Examples
    --------
    >>> rows = np.arange(96)
    >>> marks = pd.DataFrame({"item_id": rows // 3, "prompt_id": rows // 12,
    ...                       "arm": np.array(["low", "high"])[rows // 3 % 2],
    ...                       "rater_id": rows * 7 % 12, "refusal": 0,
    ...                       "factuality": (rows % 5 == 0).astype(int)})
    >>> answer = np.arange(32)
    >>> labels = pd.DataFrame({"item_id": answer, "refusal": 0,
    ...                        "factuality": (answer % 4 == 1).astype(int)})
    >>> found = gaps_left_out(marks, labels, "factuality", ("low", "high"), "majority")
    >>> found.table()[["estimate", "low", "high"]].round(1)
               estimate    low  high
    gap           -25.0  -66.3  16.3
    same          -50.0 -132.5  32.5
    different     -50.0 -132.5  32.5
    """
    if rule not in REFUSAL_RULES:
        known = tuple(REFUSAL_RULES)
        raise ValueError(f"refusal rule {rule!r} is unknown: choose one of {known}")
    checks.check_numeric(marks, [error, "refusal"])
    checks.check_numeric(labels, [error, "refusal"])
    highest = REFUSAL_RULES[rule]
    item, items = pd.factorize(marks["item_id"], sort=True)
    arm = marks.groupby(item)["arm"].first().to_numpy()
    before = arm == arms[0]
    after = arm == arms[1]
    place = items.get_indexer(labels["item_id"])
    if (place < 0).any():
        first = labels["item_id"].iloc[np.argmax(place < 0)]
        raise ValueError(f"answer {first!r} has a label by the expert but no marks")
    by_expert = np.zeros(len(items))
    by_expert[place] = labels[error]
    kept_by_expert = np.zeros(len(items), dtype=bool)
    kept_by_expert[place] = labels["refusal"] <= highest

    def contribute(sums: np.ndarray, places: np.ndarray) -> np.ndarray:
        """Counts and sums that an answer adds, from its number and sums of marks."""
        number = sums[:, 0]
        there = number > 0
        shares = sums[:, 1:] / np.maximum(number, 1)[:, None]
        crowd, refusal = majority(shares).T
        expert = by_expert[places]
        by_crowd = there & (refusal <= highest)
        by_expert_too = there & kept_by_expert[places]
        both = by_crowd & by_expert_too
        gap = crowd - expert
        columns = []
        for kept, value in [
            (both, gap),
            (both & after[places], gap),
            (both & before[places], gap),
            (by_crowd & after[places], crowd),
            (by_crowd & before[places], crowd),
            (by_expert_too & after[places], expert),
            (by_expert_too & before[places], expert),
        ]:
            columns += [kept, kept * value]
        return np.column_stack(columns).astype(float)

    def compute(totals: np.ndarray) -> np.ndarray:
        means = 100 * ratio(totals[:, 1::2], totals[:, ::2])
        gap, gap_after, gap_before, crowd_after, crowd_before = means.T[:5]
        expert_after, expert_before = means.T[5:]
        same = gap_after - gap_before
        of_crowd = crowd_after - crowd_before
        different = of_crowd - (expert_after - expert_before)
        return np.column_stack([gap, same, different])

    values = marks[[error, "refusal"]].to_numpy(dtype=float)
    clusters = marks[["rater_id", "prompt_id"]]
    found = left_out_by_item(values, item, contribute, compute, clusters, GAPS)
    labelled = clusters[np.isin(item, place)]
    return replace(found, df=effective_df(labelled))


def majority(shares: np.ndarray) -> np.ndarray:
    """Label of most raters; a tie counts one half."""
    is_tie = np.isclose(shares, 0.5)
    return np.where(is_tie, 0.5, shares > 0.5)


def left_out_by_item(
    values: np.ndarray,
    item: np.ndarray,
    contribute: Callable[[np.ndarray, np.ndarray], np.ndarray],
    compute: Callable[[np.ndarray], np.ndarray],
    clusters: pd.DataFrame,
    names: Sequence[str],
) -> Jackknife:
    """Leave out clusters of ratings where ratings of an item make one label first.

    As `helpers.stats.jackknife.left_out`, but much faster: only the items that a
    cluster has rated are labelled anew.

    Parameters
    ----------
    values : numpy.ndarray, shape (n_rows, n_values)
        What is summed within items.
    item : numpy.ndarray of int, shape (n_rows,)
        The item of each row, numbered from 0 without gaps.
    contribute : callable
        From numbers and sums, shape (n, 1 + n_values), and the items they belong to,
        shape (n,), to what each adds to totals, shape (n, n_totals).
    compute : callable
        From totals, shape (n_sets, n_totals), to the numbers of each set, shape
        (n_sets, n_names).
    clusters : pandas.DataFrame, shape (n_rows, 1 or 2)
        The clusters of each row.
    names : sequence
        Of the numbers.

    Returns
    -------
    helpers.stats.jackknife.Jackknife

    Examples
    --------
    >>> def add(sums, items):  # items, and how many have a mark
    ...     return np.column_stack([sums[:, 0] > 0, sums[:, 1] > 0]).astype(float)
    >>> def share(totals):
    ...     return totals[:, [1]] / totals[:, [0]]
    >>> raters = pd.DataFrame({"rater_id": list("abcbca")})
    >>> item = np.array([0, 0, 1, 1, 2, 2])
    >>> marks = np.array([[1.0], [0.0], [1.0], [1.0], [0.0], [0.0]])
    >>> left_out_by_item(marks, item, add, share, raters, ["share"]).value.round(2)
    share    0.67
    dtype: float64
    """
    for column in clusters:
        checks.check_clusters(clusters, column)
    rows = np.column_stack([np.ones(len(item)), values])
    sums = cluster_sums(rows, item)
    n_items = len(sums)
    added = contribute(sums, np.arange(n_items))
    totals = added.sum(axis=0)
    estimate = compute(totals[None])[0]
    changes = []
    for labels in cluster_codes(clusters):
        codes, different = pd.factorize(labels)
        # what each cluster rated of each item, and what the item adds without it
        pairs, of_pair = np.unique(codes * n_items + item, return_inverse=True)
        taken = cluster_sums(rows, of_pair)
        touched = pairs % n_items
        without = contribute(sums[touched] - taken, touched) - added[touched]
        left = totals + cluster_sums(without, pairs // n_items)
        factor = np.sqrt((len(different) - 1) / len(different))
        changes.append((compute(left) - estimate) * factor)
    value = pd.Series(estimate, index=list(names))
    return Jackknife(value, tuple(changes), effective_df(clusters))
