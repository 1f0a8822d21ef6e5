"""How large a study it takes, from what raters, items and ratings add to the error.

The error of an estimate by leaving out raters and clusters of items has three parts:
what raters differ by, what clusters differ by, and single ratings. With twice the
raters, the first part of the variance is halved; with twice the clusters, the second
and the third. No plan is made from few raters or clusters, whose parts are not known.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd
from scipy import stats

from helpers.stats.leave_out import LeftOut
from ratings.study import Study
from ratings.verdicts import SIGNIFICANT, Unit, Verdict, names_in_words

POWER = 0.8
TIMES_NAMES = ["times as many raters", "times as many clusters"]
TIMES = (1, 2, 4)  # as many raters or clusters as now
MOST_DIGITS = 8  # of two numbers that are told apart
FEWEST_EFFECTIVE = 10  # raters and clusters to plan from
MEDIUM = 0.5  # of the SD within raters and systems, where nobody says what matters


def detectable(
    left_out: LeftOut, clusters: Sequence[str], n_judged: int
) -> pd.DataFrame:
    """Compute the smallest effects that four of five larger studies would find.

    "Found" is a p-value below 0.05, corrected for all effects judged (Bonferroni).

    Parameters
    ----------
    left_out : LeftOut
        Estimates of this study.
    clusters : sequence of str
        What was left out: ``"rater_id"``, ``"cluster"`` or both in this order.
    n_judged : int
        How many effects are judged together.

    Returns
    -------
    pandas.DataFrame
        A row for each multiple of the raters and clusters of now (it is 1 of what was
        not left out), a column per effect; NaN for an effect that rests on fewer than
        ten effective raters or clusters.

    References
    ----------
    Cohen (1988), Statistical Power Analysis, chapter 1; Cameron, Gelbach and Miller
    (2011), Robust Inference With Multiway Clustering.
    """
    variances = [np.diagonal(part.covariance()) for part in left_out.parts]
    numbers = [part.effective_number() for part in left_out.parts[: len(clusters)]]
    parts = dict.fromkeys(("rater_id", "cluster"), np.zeros_like(variances[0]))
    ratings = np.zeros_like(variances[0])
    if len(clusters) == 2:
        by_rater, by_cluster, ratings = variances
        parts["rater_id"] = np.maximum(by_rater - ratings, 0)
        parts["cluster"] = np.maximum(by_cluster - ratings, 0)
    else:
        parts[clusters[0]] = variances[0]
    times = {
        name: TIMES if name in clusters else (1,) for name in ("rater_id", "cluster")
    }
    rows = {}
    for raters, items in product(times["rater_id"], times["cluster"]):
        # each item is still rated as often as now, whoever rates it
        variance = parts["rater_id"] / raters + (parts["cluster"] + ratings) / items
        multiples = {"rater_id": raters, "cluster": items}
        larger = [
            multiples[column] * number
            for column, number in zip(clusters, numbers, strict=True)
        ]
        df = np.minimum.reduce(larger) - 1
        errors = stats.t.ppf(1 - SIGNIFICANT / 2 / n_judged, df) + stats.t.ppf(
            POWER, df
        )
        is_enough = np.minimum.reduce(numbers) >= FEWEST_EFFECTIVE
        rows[raters, items] = np.where(is_enough, errors * np.sqrt(variance), np.nan)
    table = pd.DataFrame.from_dict(rows, "index", columns=left_out.value.index)
    index = pd.MultiIndex.from_tuples(table.index, names=TIMES_NAMES)
    return table.set_axis(index, axis="index")


def target(verdict: Verdict) -> tuple[float, str]:
    """The effect that is to be found, in the unit of a verdict, and what it is."""
    if verdict.matters is not None:
        return verdict.matters, "the smallest difference that matters"
    return MEDIUM * verdict.sd, "half an SD, as no smallest difference is named"


def advice(
    study: Study, verdicts: Sequence[Verdict], left_out: LeftOut, what: str
) -> tuple[list[str], pd.DataFrame]:
    """Say how large a study would tell what this one leaves unclear.

    Parameters
    ----------
    study : Study
        Ratings.
    verdicts : sequence of Verdict
        On one question.
    left_out : LeftOut
        The estimates behind them, named by aspect or pair of systems, in points.
    what : {"aspects", "pairs of systems"}
        What the effects are.

    Returns
    -------
    list of str
        Sentences.
    pandas.DataFrame
        From `detectable`, in the unit of the verdicts; empty if no plan is made.
    """
    judged = [each for each in verdicts if each.direction != "not judged"]
    if not judged:
        return [f"No {what} are judged: there is nothing to plan from."], pd.DataFrame()
    keys = [_key(each, what) for each in judged]
    table = detectable(left_out, study.clusters, len(judged))[keys]
    table = judged[0].unit.times * table.dropna(axis="columns")
    if table.empty:
        return [_too_few(what)], pd.DataFrame()
    unclear = [each for each in judged if not each.is_clear]
    if not unclear:
        return [f"All {what} that are judged have a clear direction."], table
    size, meaning = target(unclear[0])
    words = f"{judged[0].unit.one(size)} {judged[0].unit.name} ({meaning})"
    groups: dict[str, list[Verdict]] = {"ruled out": [], "too few": [], "possible": []}
    for each in unclear:
        kind = "possible"
        if max(-each.size.low, each.size.high) < size:
            kind = "ruled out"
        elif _key(each, what) not in table:
            kind = "too few"
        groups[kind].append(each)
    lines = []
    if groups["ruled out"]:
        names = _named(groups["ruled out"], what)
        ends = [max(-each.size.low, each.size.high) for each in groups["ruled out"]]
        near = _nearest(judged[0].unit, size, max(ends))
        lines.append(f"For {names} the intervals rule out {words}{near}.")
    if groups["too few"]:
        lines.append(_too_few(_named(groups["too few"], what)))
    if groups["possible"]:
        names = _named(groups["possible"], what)
        keys = [_key(each, what) for each in groups["possible"]]
        enough = table.index[table[keys].max(axis="columns") <= size]
        how_many = _how_many(study, list(enough))
        lines.append(f"To find {words} for {names} in four of five studies, {how_many}")
    return lines, table


def _nearest(unit: Unit, size: float, end: float) -> str:
    """Say how near an interval comes to an effect that would be written the same."""
    if unit.one(size) != unit.one(end):
        return ""
    finer = unit
    while finer.one(size) == finer.one(end) and finer.decimals < MOST_DIGITS:
        finer = finer._replace(decimals=finer.decimals + 1)
    return f", if only just: {finer.one(end)} against {finer.one(size)}"


def _key(verdict: Verdict, what: str) -> str | tuple[str, str]:
    """Name the estimate behind a verdict."""
    return verdict.name if what == "aspects" else (verdict.name, verdict.against)


def _too_few(what: str) -> str:
    """Say that no plan can be made."""
    return (
        f"Too few raters or clusters to plan from for {what}: the equivalent of "
        f"{FEWEST_EFFECTIVE} of each, with equally many ratings, is needed."
    )


def _named(verdicts: Sequence[Verdict], what: str) -> str:
    """Name some aspects, or count pairs of systems."""
    if what == "aspects":
        return names_in_words([each.name for each in verdicts])
    if len(verdicts) == 1:
        return names_in_words([verdicts[0].name, verdicts[0].against])
    return f"{len(verdicts)} {what}"


def _how_many(study: Study, enough: list[tuple[int, int]]) -> str:
    """Say which of the larger studies would do, without those larger than another."""
    if not enough:
        most = f"{TIMES[-1]} times as many clusters of items"
        if "rater_id" in study.clusters:
            most += " and raters"
        return f"even {most} would not do."
    options = []
    for raters, items in enough:
        smaller = [(r, i) for r, i in enough if r <= raters and i <= items]
        if len(smaller) == 1:
            options.append(_numbers(study, raters, items))
    return f"it takes {', or '.join(options)}, rated as here."


def _numbers(study: Study, raters: int, items: int) -> str:
    """Say how many clusters and raters a larger study has."""
    text = f"{items * study.counts.clusters:,} clusters of items"
    if "rater_id" in study.clusters:
        text += f" by {raters * len(study.counts.raters):,} raters"
    if raters == items == 1:
        text += " (as here)"
    return text
