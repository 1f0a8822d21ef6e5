"""Raters and rows that are doubted, and how lenient each rater is.

Every rule that tells something from chance is set so that a file without fault gives an
alarm of its kind in one case of a hundred: the level is divided by the number of
raters, pairs and columns looked at.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from helpers.stats.moments import cluster_sums
from ratings import copies
from ratings.agreement import sample_items
from ratings.findings import Finding

ENOUGH = 10  # ratings by one person, or shared by two, from which something can be told
ALARM = 0.01  # chance of any false alarm of one kind
MOST_REVERSED = 10
# for telling who rates opposite to others; of more, whole items are taken
MOST_ROWS = 100_000
NEARLY = 0.999999  # Fisher's transformation of a correlation of 1 is infinite
NEARLY_NOTHING = 1e-9  # smaller variances and errors are rounding
COPIED = "copied ratings"
REVERSED = "raters who rate opposite to the others"
FLAT = "raters who always give the same outcome"
CONSEQUENCE = "left out; results with these ratings stand beside"


def doubtful(
    table: pd.DataFrame,
    outcome: str,
    aspects: Sequence[str],
    shared: Sequence[str] = (),
) -> tuple[np.ndarray, list[Finding]]:
    """Tell which ratings are doubted, and why.

    Parameters
    ----------
    table : pandas.DataFrame
        Ratings as `ratings.recipes.read` returns them, an item once by each rater.
    outcome : str
        Column to explain; empty if there is none.
    aspects : sequence of str
        Columns that may explain it.
    shared : sequence of str, optional
        Columns that hold one value for all ratings of an item: they tell no copies.

    Returns
    -------
    numpy.ndarray of bool, shape (n_rows,)
        Rows that are the same as another of their item too often for chance, rows of
        raters who rate opposite to the others, and rows of raters who always give the
        same outcome.
    list of Finding
        What was found, by kind.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = np.arange(120)
    >>> marks = rng.integers(2, 5, 40)[rows // 3] + rng.integers(-1, 2, 120)
    >>> ids = {"item_id": rows // 3, "prompt_id": rows // 3, "rater_id": rows % 3}
    >>> table = pd.DataFrame({**ids, "tone": rng.integers(1, 6, 120), "overall": marks})
    >>> table.loc[table["rater_id"] == 2, "overall"] = 6 - table["overall"]
    >>> is_doubted, found = doubtful(table, "overall", ["tone"])
    >>> found[0].what, found[0].where, int(is_doubted.sum())
    ('raters who rate opposite to the others', 'overall: 2', 40)
    """
    columns = [outcome, *aspects] if outcome else list(aspects)
    own = [column for column in columns if column not in shared]
    found, is_doubted = copies.copied_rows(table, own)
    findings = []
    if is_doubted.any():
        who = []
        for row in found.itertuples(index=False):
            counts = f"{row.same} of {row.items} items"
            who.append(f"{row.who}: {counts}" if row.who else counts)
        limit = f"at most {100 * found['limit'].iloc[0]:.0f} % by chance"
        where = f"the same in all columns as another rating: {_first(who)}; {limit}"
        n_rows = int(is_doubted.sum())
        findings.append(Finding(COPIED, where, n_rows, CONSEQUENCE))
    if "rater_id" not in table:
        return is_doubted, findings
    opposite = reversed_raters(table, columns)
    of_kinds = {
        REVERSED: ([who for who, _ in opposite], [f"{c}: {who}" for who, c in opposite])
    }
    if outcome:
        flat = _flat(table, outcome)
        of_kinds[FLAT] = (flat, flat)
    for kind, (raters, names) in of_kinds.items():
        is_theirs = table["rater_id"].isin(raters).to_numpy()
        if is_theirs.any():
            where = _first(names)
            n_rows = int(is_theirs.sum())
            findings.append(Finding(kind, where, n_rows, CONSEQUENCE))
            is_doubted = is_doubted | is_theirs
    return is_doubted, findings


def _first(names: Sequence) -> str:
    """Name the first three of some."""
    text = ", ".join(map(str, names[:3]))
    return f"{text} …" if len(names) > 3 else text


def _with_means_of_others(
    table: pd.DataFrame, columns: Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Marks, and the mean of the marks that others gave the same item.

    Both have a row per rating and a column per column; NaN where there are none.
    """
    own = table[list(columns)].to_numpy(dtype=float)
    item = pd.factorize(table["item_id"])[0]
    is_known = ~np.isnan(own)
    marks = np.where(is_known, own, 0)
    total = cluster_sums(marks, item)[item]
    count = cluster_sums(is_known * 1.0, item)[item]
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (total - marks) / (count - 1)
    return own, np.where(is_known & (count > 1), mean, np.nan)


def _agreement_with_others(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Correlation of each rater with the means of the others, column by column.

    A row per rater and column: ``n`` ratings, ``r``, and ``z``, the distance of r from
    zero in standard errors, by Fisher's transformation.
    """
    own, others = _with_means_of_others(table, columns)
    is_shared = ~np.isnan(others)
    own = _centred(own, is_shared)
    others = _centred(others, is_shared)
    products = [is_shared, own, others, own**2, others**2, own * others]
    rater, names = pd.factorize(table["rater_id"])
    sums = cluster_sums(np.stack(products, axis=1), rater)
    n, x, y, xx, yy, xy = sums.transpose(1, 0, 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        variances = (xx - x**2 / n) * (yy - y**2 / n)
        r = (xy - x * y / n) / np.sqrt(variances)
        r = np.where(variances > NEARLY_NOTHING, r, np.nan)
    error = np.sqrt(np.maximum(n - 3, 0))
    z = np.arctanh(np.clip(r, -NEARLY, NEARLY)) * error
    index = pd.MultiIndex.from_product([names, columns], names=["rater", "column"])
    table = pd.DataFrame({"n": n.ravel(), "r": r.ravel(), "z": z.ravel()}, index=index)
    return table[(table["n"] >= ENOUGH) & table["r"].notna()]


def _centred(values: np.ndarray, is_shared: np.ndarray) -> np.ndarray:
    """Take the mean of shared values off them; the others are zero."""
    values = np.where(is_shared, values, 0)
    mean = values.sum() / max(is_shared.sum(), 1)
    return values - is_shared * mean


def reversed_raters(table: pd.DataFrame, columns: Sequence[str]) -> list[tuple]:
    """Raters, with the column, who rate opposite to the others, one after the other.

    Each is taken out before the next is looked for, since one such rater makes the
    others look odd. Of two raters nobody can say which.
    """
    table = sample_items(table, MOST_ROWS)
    reversed_ones = []
    while table["rater_id"].nunique() > 2 and len(reversed_ones) < MOST_REVERSED:
        agreement = _agreement_with_others(table, columns)
        if agreement.empty:
            break
        limit = -stats.norm.isf(ALARM / len(agreement))
        if agreement["z"].min() > limit:
            break
        rater, column = agreement["z"].idxmin()
        reversed_ones.append((rater, column))
        table = table[table["rater_id"] != rater]
    return reversed_ones


def _flat(table: pd.DataFrame, outcome: str) -> list:
    """Raters who gave one mark only, so often that chance would hardly do it."""
    marks = table.groupby("rater_id", observed=True)[outcome]
    by_rater = marks.agg(["count", "nunique"])
    usual = table[outcome].value_counts(normalize=True).iloc[0]
    chance = usual ** by_rater["count"]
    is_flat = (by_rater["nunique"] == 1) & (by_rater["count"] >= ENOUGH)
    is_sure = chance < ALARM / len(by_rater)
    return list(by_rater.index[is_flat & is_sure])


def leniency(table: pd.DataFrame, outcome: str) -> pd.DataFrame:
    """How far each rater is from the others on the same items, in points.

    Parameters
    ----------
    table : pandas.DataFrame
        Ratings with ``item_id``, ``prompt_id`` and ``rater_id``.
    outcome : str
        Column of marks.

    Returns
    -------
    pandas.DataFrame
        A row per rater who shares items with others: shared ``ratings``, and the mean
        distance from the others, ``estimate``, with its 95 % interval by clusters of
        items, ``low`` and ``high``.
    """
    own, others = _with_means_of_others(table, [outcome])
    is_shared = ~np.isnan(others[:, 0])
    gap = (own - others)[is_shared, 0]
    rater = table["rater_id"].to_numpy()[is_shared]
    cluster = table["prompt_id"].to_numpy()[is_shared]
    gaps = pd.DataFrame({"n": 1.0, "gap": gap, "rater": rater})
    in_clusters = gaps.groupby(["rater", cluster], observed=True).sum()
    n_clusters = in_clusters.groupby(level=0).size()
    total = in_clusters.groupby(level=0).sum()
    mean = total["gap"] / total["n"]
    error = _error_of_ratio(in_clusters, n_clusters, mean) / total["n"]
    margin = stats.t.ppf(0.975, n_clusters - 1) * error
    columns = {
        "ratings": total["n"].astype(int),
        "estimate": mean,
        "low": mean - margin,
        "high": mean + margin,
    }
    return pd.DataFrame(columns)


def _error_of_ratio(
    in_clusters: pd.DataFrame, n_clusters: pd.Series, mean: pd.Series
) -> pd.Series:
    """Standard error of each rater's sum of gaps, from the clusters around the mean.

    NaN for a single cluster, and where the clusters do not differ.
    """
    expected = in_clusters["n"] * mean.reindex(in_clusters.index, level=0)
    squares = (in_clusters["gap"] - expected) ** 2
    several = (n_clusters - 1).where(n_clusters > 1)
    variance = squares.groupby(level=0).sum() * n_clusters / several
    error = np.sqrt(variance)
    return error.where(error > NEARLY_NOTHING)
