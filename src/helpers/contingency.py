"""Is a category associated with a yes-or-no outcome? Chi-squared tests and how strong the link is.

Pearson's test takes rows for independent. Where rows share a cluster its statistic is too large by
some factor, the mean design effect, which is estimated and divided out (Rao and Scott).
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.stats import chi2, ncx2

from helpers.clustered import covariance
from helpers.files.tables import check_clusters, check_numeric

RULE_OF_FIVE = 5.0  # smallest expected count for which the chi-squared distribution is trusted
_TESTED = ("smallest_expected", "chi2", "p_value", "design_effect", "p_clustered")
_STRENGTH = ("estimate", "low", "high")


def associations(
    frame: pd.DataFrame, categories: Sequence[str], outcome: str, cluster: str
) -> pd.DataFrame:
    """Test whether an outcome depends on each of several categories, with Bonferroni's correction.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per observation.
    categories : sequence of str
        Columns of labels; a row without a label is left out of that test.
    outcome : str
        Column of 0 and 1.
    cluster : str
        Column of clusters.

    Returns
    -------
    pandas.DataFrame
        One row per test: ``n`` rows; ``groups``; ``smallest_expected`` count in the table;
        ``chi2`` of Pearson; ``p_value``; ``design_effect``; ``p_clustered`` from chi2 divided by
        it; both p-values times the number of tests, at most 1 (``p_bonferroni``,
        ``p_clustered_bonferroni``); Cramér's V as ``estimate``, with ``low`` and ``high``; and
        ``sparse``, a warning that an expected count is below `RULE_OF_FIVE`, so that p-values are
        not to be trusted: see `merge_rare`. The numbers of a test with one group only are NaN.

    Raises
    ------
    ValueError
        If a column is unknown, the outcome is not 0 or 1 or never varies, or there are fewer than
        two clusters.

    Notes
    -----
    Chance alone makes chi2 as large as the number of groups less one, times the design effect.
    This is taken off before the estimate of V is computed. The interval holds the values under
    which the observed statistic is neither too small nor too large, at 2.5 % each.

    References
    ----------
    Rao and Scott (1984), On Chi-Squared Tests for Multiway Contingency Tables with Cell
    Proportions Estimated from Survey Data; Bergsma (2013), A bias-correction for Cramér's V;
    Steiger (2004), Beyond the F Test, for the interval.

    Examples
    --------
    >>> frame = pd.DataFrame({"part": ["noun", "verb"] * 40, "error": [0, 1, 1, 1] * 20,
    ...                       "cue": range(80)})
    >>> associations(frame, ["part"], "error", "cue")[["n", "chi2", "estimate"]].round(2)
           n   chi2  estimate
    part  80  26.67      0.57
    """
    _check_labels(frame, categories)
    _check_outcome(frame, outcome)
    check_clusters(frame, cluster)
    columns = [outcome, cluster]
    tests = pd.DataFrame(
        {name: _test(frame[[name, *columns]].dropna(subset=name)) for name in categories}
    ).T.astype({"n": int, "groups": int})
    for p_value in ("p_value", "p_clustered"):
        family = tests[p_value]
        corrected = p_value.removesuffix("_value") + "_bonferroni"
        tests[corrected] = (family * family.count()).clip(upper=1.0)
    return tests.assign(sparse=tests["smallest_expected"] < RULE_OF_FIVE)


def merge_rare(labels: pd.Series, at_least: int, name: str = "other") -> pd.Series:
    """Put labels that are rarer than wanted under one name.

    Parameters
    ----------
    labels : pandas.Series of str
        One label per row.
    at_least : int
        Rows that a label needs to stay.
    name : str, optional
        What the others are called.

    Returns
    -------
    pandas.Series of str

    Examples
    --------
    >>> merge_rare(pd.Series(["noun", "noun", "verb"]), 2).tolist()
    ['noun', 'noun', 'other']
    """
    return labels.where(labels.map(labels.value_counts()) >= at_least, name)


def _check_labels(frame: pd.DataFrame, categories: Sequence[str]) -> None:
    """Stop unless the table has every column of labels."""
    unknown = [name for name in categories if name not in frame]
    if unknown:
        known = ", ".join(map(str, frame.columns))
        raise ValueError(f"column {unknown[0]!r} is not in the table, which has: {known}")


def _check_outcome(frame: pd.DataFrame, outcome: str) -> None:
    """Stop unless the outcome is 0 in some rows and 1 in all others."""
    check_numeric(frame, [outcome])
    values = set(frame[outcome].unique())
    if values != {0, 1}:
        shown = ", ".join(f"{value:g}" for value in sorted(values)[:3])
        raise ValueError(f"column {outcome!r} holds {shown}: a yes-or-no outcome needs 0 and 1")


def _test(rows: pd.DataFrame) -> dict[str, float]:
    """Test one category; columns are the labels, the outcome and the clusters."""
    label, outcome, cluster = (rows[column] for column in rows)
    codes, groups = pd.factorize(label)
    result = {"n": len(rows), "groups": len(groups)}
    counts = np.bincount(codes)
    share = outcome.mean()
    variance = share * (1 - share)
    if len(groups) < 2 or variance == 0:
        return result | dict.fromkeys([*_TESTED, *_STRENGTH], np.nan)
    rates = np.bincount(codes, outcome) / counts
    statistic = (counts * (rates - share) ** 2).sum() / variance
    freedom = len(groups) - 1
    effect = _design_effect(codes, rates, outcome.to_numpy(), cluster, variance / counts)
    low, high = (_noncentrality(statistic / effect, freedom, tail) for tail in (0.975, 0.025))
    chance = max(statistic / effect - freedom, 0.0)
    strength = np.sqrt(effect * np.array([chance, low, high]) / len(rows))
    tested = [
        counts.min() * min(share, 1 - share),
        statistic,
        chi2.sf(statistic, freedom),
        effect,
        chi2.sf(statistic / effect, freedom),
    ]
    return result | dict(zip([*_TESTED, *_STRENGTH], [*tested, *strength], strict=True))


def _design_effect(
    codes: np.ndarray,
    rates: np.ndarray,
    outcome: np.ndarray,
    cluster: pd.Series,
    independent: np.ndarray,
) -> float:
    """Mean factor by which clusters raise the variance of differences between group rates."""
    counts = np.bincount(codes)
    member = codes[:, None] == np.arange(len(counts))
    influence = member * (outcome - rates[codes])[:, None] / counts
    differences = np.eye(len(counts))[1:] - np.eye(len(counts))[0]
    clustered = differences @ covariance(influence, cluster.to_frame()) @ differences.T
    expected = differences @ np.diag(independent) @ differences.T
    return float(np.trace(np.linalg.solve(expected, clustered)) / len(differences))


def _noncentrality(statistic: float, freedom: int, tail: float) -> float:
    """Noncentrality at which a statistic so small or smaller has this probability; 0 if none."""
    if chi2.cdf(statistic, freedom) <= tail:
        return 0.0
    upper = statistic + 10 * np.sqrt(statistic) + 10 * freedom
    return brentq(lambda center: ncx2.cdf(statistic, freedom, center) - tail, 0.0, upper)
