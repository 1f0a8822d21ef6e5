"""By how much one aspect outweighs the next in an overall rating, under every way to compute it.

Weights are points of the overall rating lost. All specifications are computed on the same
resamples of questions.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from helpers import combining
from helpers.curves import specifications
from helpers.stats import ordinal
from helpers.stats.aspects import ideal_distance, rater_pairs
from helpers.stats.bootstrap import cluster_weights
from helpers.stats.moments import ClusterMoments, cluster_sums

WITHIN, BETWEEN, DISTANCES = "single, within raters", "single, between raters", "mean of distances"
RATINGS = ("single", WITHIN, BETWEEN, DISTANCES, *combining.RULES[:-1])
WHOLE = ("single", "mode, ties low", "mode, ties high")
MODELS = ("no intercept", "intercept", "ordinal")
UNITS = ("whole scale", "standard deviation")


def choices(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Combine the choices of this analysis.

    Parameters
    ----------
    frame : pandas.DataFrame
        Single ratings with ``system``.

    Returns
    -------
    specifications, left_out : pandas.DataFrame
        As `specifications.cross`.

    Examples
    --------
    >>> systems = ["human_top", "model_formal"]
    >>> possible, left_out = choices(pd.DataFrame({"system": systems}))
    >>> len(possible), len(left_out)
    (170, 100)
    """
    options = {
        "ratings": RATINGS,
        "model": MODELS,
        "weight per": UNITS,
        "answers": list(_parts(frame)),
    }
    impossible = {
        "raters' own levels take the place of an intercept": {
            "ratings": [WITHIN],
            "model": ["no intercept"],
        },
        "the variance of what raters agree on can be zero or less": {
            "ratings": [BETWEEN],
            "model": ["intercept"],
        },
        "what raters agree on may have no standard deviation": {
            "ratings": [BETWEEN],
            "weight per": ["standard deviation"],
        },
        "an ordinal model needs ratings in whole numbers": {
            "ratings": [name for name in RATINGS if name not in WHOLE],
            "model": ["ordinal"],
        },
        "the effects of an ordinal model are from ideal to worst, not per standard deviation": {
            "model": ["ordinal"],
            "weight per": ["standard deviation"],
        },
    }
    return specifications.cross(options, impossible)


def tables(
    frame: pd.DataFrame,
    aspects: Sequence[str],
    overall: str,
    ideals: Mapping[str, float],
    ranges: Mapping[str, tuple[float, float]],
) -> dict[str, pd.DataFrame]:
    """Distances from the ideal and missing points for each way to treat several raters.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per answer and rater: ``item_id``, ``rater_id``, ``question_id``, ``system``, the
        aspects and the overall rating.
    aspects : sequence of str
        Columns of aspects.
    overall : str
        Column of the overall rating, whose ideal is its highest value.
    ideals, ranges : mapping
        As for `helpers.stats.aspects.ideal_distance`.

    Returns
    -------
    dict of str to pandas.DataFrame
        For each of `RATINGS` the design, the distances in [0, 1] and ``missing``, points missing
        from the ideal overall rating.
    """
    design = ["item_id", "question_id", "system"]
    items = frame[design].drop_duplicates("item_id").set_index("item_id").sort_index()
    single = _distances(frame, aspects, overall, ideals, ranges)
    numbers = [*aspects, "missing"]
    own_level = single.groupby("rater_id")[numbers].transform("mean")
    found = {"single": single, WITHIN: single.assign(**(single[numbers] - own_level))}
    found[BETWEEN] = single
    found[DISTANCES] = items.join(single.groupby("item_id")[numbers].mean()).reset_index()
    for rule in RATINGS[4:]:
        combined = combining.combine(frame, [*aspects, overall], rule, "item_id", "rater_id")
        rows = items.join(combined).reset_index()
        found[rule] = _distances(rows, aspects, overall, ideals, ranges)
    return found


def gaps(
    found: Mapping[str, pd.DataFrame],
    aspects: Sequence[str],
    first: str,
    n_boot: int,
    rng: np.random.Generator,
) -> tuple[pd.DataFrame, np.ndarray, pd.DataFrame]:
    """Weight of one aspect minus the larger weight of the others.

    Parameters
    ----------
    found : mapping of str to pandas.DataFrame
        Result of `tables`.
    aspects : sequence of str
        Columns of aspects.
    first : str
        The aspect expected to weigh most.
    n_boot : int
        Number of resamples of questions.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    curve : pandas.DataFrame
        As `specifications.curve`, with ``next``, the aspect that weighs most among the others.
    draws : numpy.ndarray, shape (n_boot, n_specifications)
        Draws of the same differences; an ordinal model has those of its linear approximation.
    left_out : pandas.DataFrame
        As `specifications.cross`.

    References
    ----------
    Kamoda et al. (2025), section 4.1; Simonsohn, Simmons and Nelson (2020).
    """
    possible, left_out = choices(found["single"])
    questions = np.sort(found["single"]["question_id"].unique())
    drawn = cluster_weights(len(questions), n_boot, rng)
    replicates = np.vstack([np.ones(len(questions)), drawn])
    weights = np.empty((n_boot + 1, len(possible), len(aspects)))
    for ratings, specified in possible.groupby("ratings"):
        parts = _parts(found[ratings])
        for answers, part in specified.groupby("answers"):
            rows = found[ratings][parts[answers]]
            sums = _sums(rows, ratings, aspects, questions)
            moments = ClusterMoments(tuple(aspects), "missing", sums).total(replicates)
            for place, model, unit in part[["model", "weight per"]].itertuples():
                if model == "ordinal":
                    weights[:, place] = _ordinal(rows, aspects, questions, drawn)
                else:
                    weights[:, place] = _solve(moments, model, unit)
    leader = list(aspects).index(first)
    others = [place for place in range(len(aspects)) if place != leader]
    runner_up = np.array(others)[weights[0][:, others].argmax(axis=1)]
    draws = weights[:, :, leader] - weights[:, np.arange(len(possible)), runner_up]
    specified = possible.assign(next=np.array(aspects)[runner_up])
    freedom = len(questions) - 1
    table = specifications.curve(specified, draws[0], draws[1:].std(axis=0), 1, freedom)
    return table, draws[1:], left_out


def _distances(
    frame: pd.DataFrame,
    aspects: Sequence[str],
    overall: str,
    ideals: Mapping[str, float],
    ranges: Mapping[str, tuple[float, float]],
) -> pd.DataFrame:
    """Replace aspects by distances from the ideal, and the overall rating by missing points."""
    distances = ideal_distance(frame, aspects, ideals, ranges)
    return frame.assign(**distances, missing=ideals[overall] - frame[overall])


def _parts(table: pd.DataFrame) -> pd.DataFrame:
    """Parts of the answers: without a system, or only those of one kind, its name's first word."""
    kind = table["system"].str.split("_").str[0]
    of_one_kind = {f"only {name}": kind == name for name in sorted(kind.unique())}
    return specifications.subsets(table, [], ["system"]).assign(**of_one_kind)


def _sums(
    rows: pd.DataFrame, ratings: str, aspects: Sequence[str], questions: np.ndarray
) -> np.ndarray:
    """Cross-products of each question."""
    if ratings == BETWEEN:
        pairs = rater_pairs(rows, aspects, "missing", "item_id", "question_id").products
        sums = np.zeros((len(questions), *pairs.shape[1:]))
        sums[np.searchsorted(questions, np.sort(rows["question_id"].unique()))] = pairs
        return sums
    columns = rows[[*aspects, "missing"]].to_numpy(dtype=float)
    values = np.column_stack([np.ones(len(rows)), columns])
    codes = np.searchsorted(questions, rows["question_id"])
    return cluster_sums(values[:, :, None] * values[:, None, :], codes)


def _solve(moments: ClusterMoments, model: str, unit: str) -> np.ndarray:
    """Weights in each set of rows."""
    gram, cross, _ = moments.covariances()
    spread = np.sqrt(np.diagonal(gram, axis1=1, axis2=2))
    if model == "no intercept":
        gram, cross = moments.xx, moments.xy
    weights = np.linalg.solve(gram, cross[:, :, None])[:, :, 0]
    return weights * spread if unit == "standard deviation" else weights


def _ordinal(
    rows: pd.DataFrame, aspects: Sequence[str], questions: np.ndarray, drawn: np.ndarray
) -> np.ndarray:
    """Effects on the expected rating from ideal to worst, with linearised draws."""
    effects = ordinal.fit(rows, aspects, "missing").effects(rows)
    by_question = np.zeros((len(questions), len(aspects)))
    codes = np.searchsorted(questions, rows["question_id"])
    np.add.at(by_question, codes, effects.influence)
    value = effects.value.to_numpy()
    return np.vstack([value, value + (drawn - 1) @ by_question])
