"""By how much one aspect of an answer outweighs the next, in many specifications.

A weight is the points of the overall rating that a distance from an aspect's ideal
costs. The specifications differ in how ratings by several raters are treated, in the
model, in what a weight is told per, and in which answers count. All of them are
computed on the same resamples of questions, so that their differences can be taken
draw by draw.

References
----------
Kamoda et al. (2025), section 4.1; Simonsohn, Simmons and Nelson (2020).
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from helpers.robustness import crowd, specifications
from helpers.robustness.specifications import ORDINAL
from helpers.stats.aspects import ideal_distance, rater_pairs
from helpers.stats.moments import ClusterMoments

SINGLE = "single"
WITHIN = "single, within raters"
BETWEEN = "single, between raters"
DISTANCES = "mean of distances"
# The last rule, pooled Dawid–Skene, is for raters with few ratings, of whom there are
# none here.
COMBINED = crowd.RULES[:-1]
RATINGS = (SINGLE, WITHIN, BETWEEN, DISTANCES, *COMBINED)
WHOLE = (SINGLE, "mode, ties low", "mode, ties high")  # ratings in whole numbers

NO_INTERCEPT = "no intercept"
INTERCEPT = "intercept"
SCALE = "whole scale"
STEP = "step"
DEVIATION = "standard deviation"


def distance_tables(
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
        One row per answer and rater: ``item_id``, ``rater_id``, ``question_id``,
        ``system``, the aspects and the overall rating.
    aspects : sequence of str
        Columns of aspects.
    overall : str
        Column of the overall rating, whose ideal is its highest value.
    ideals, ranges : mapping
        As for `helpers.stats.aspects.ideal_distance`.

    Returns
    -------
    dict of str to pandas.DataFrame
        For each of `RATINGS` the design, the distances in [0, 1] and ``missing``,
        points missing from the ideal overall rating.
    """

    def in_distances(rows: pd.DataFrame) -> pd.DataFrame:
        """Distances in place of aspects, missing points beside the overall rating."""
        distances = ideal_distance(rows, aspects, ideals, ranges)
        return rows.assign(**distances, missing=ideals[overall] - rows[overall])

    design = frame[["item_id", "question_id", "system"]].drop_duplicates("item_id")
    items = design.set_index("item_id").sort_index()
    numbers = [*aspects, "missing"]

    single = in_distances(frame)
    own_level = single.groupby("rater_id")[numbers].transform("mean")
    within = single.assign(**(single[numbers] - own_level))
    mean_distances = single.groupby("item_id")[numbers].mean()
    tables = {
        SINGLE: single,
        WITHIN: within,
        BETWEEN: single,
        DISTANCES: items.join(mean_distances).reset_index(),
    }
    for rule in COMBINED:
        combined = crowd.combine(frame, [*aspects, overall], rule)
        tables[rule] = in_distances(items.join(combined).reset_index())
    return tables


def aspect_leads(
    tables: Mapping[str, pd.DataFrame],
    aspects: Sequence[str],
    first: str,
    n_boot: int,
    rng: np.random.Generator,
    steps: Mapping[str, float],
) -> tuple[pd.DataFrame, np.ndarray, pd.DataFrame]:
    """Weight of one aspect minus the larger weight of the others.

    Parameters
    ----------
    tables : mapping of str to pandas.DataFrame
        Result of `distance_tables`.
    aspects : sequence of str
        Columns of aspects.
    first : str
        The aspect expected to weigh most.
    n_boot : int
        Number of resamples of questions.
    rng : numpy.random.Generator
    steps : mapping of str to float
        Steps of each aspect's scale from the ideal to the worst mark.

    Returns
    -------
    curve : pandas.DataFrame
        As `specifications.curve`, with ``next``, the aspect that weighs most among the
        others.
    draws : numpy.ndarray, shape (n_boot, n_specifications)
        Draws of the same differences; an ordinal model has those of its linear
        approximation.
    left_out : pandas.DataFrame
        As `specifications.cross`.

    References
    ----------
    Kamoda et al. (2025), section 4.1; Simonsohn, Simmons and Nelson (2020).
    """
    single = tables[SINGLE]
    possible, left_out = _choices(single)
    replicates = specifications.resample_weights(single["question_id"], n_boot, rng)
    weights = _all_weights(tables, aspects, possible, replicates, steps)

    leader = list(aspects).index(first)
    others = np.delete(np.arange(len(aspects)), leader)
    estimated = weights[0]
    runner_up = others[estimated[:, others].argmax(axis=1)]
    every = np.arange(len(possible))
    # The runner-up is the one of the estimate in all resamples.
    leads = weights[:, :, leader] - weights[:, every, runner_up]
    estimate = leads[0]
    draws = leads[1:]
    curve = specifications.curve(
        specifications=possible.assign(next=np.array(aspects)[runner_up]),
        estimate=estimate,
        standard_error=draws.std(axis=0),
        sign=1,
        df=replicates.shape[1] - 1,
    )
    return curve, draws, left_out


def _all_weights(
    tables: Mapping[str, pd.DataFrame],
    aspects: Sequence[str],
    possible: pd.DataFrame,
    replicates: pd.DataFrame,
    steps: Mapping[str, float],
) -> np.ndarray:
    """Weights in each replicate, shape (n_replicates, n_specifications, n_aspects)."""
    weights = np.empty((len(replicates), len(possible), len(aspects)))
    n_steps = np.array([steps[aspect] for aspect in aspects])
    for ratings, with_ratings in possible.groupby("ratings"):
        table = tables[ratings]
        parts = _parts(table)
        for answers, specified in with_ratings.groupby("answers"):
            rows = table[parts[answers]]
            moments = _moments(rows, aspects, ratings, replicates)
            for model, of_model in specified.groupby("model"):
                if model == ORDINAL:
                    per_scale = specifications.ordinal_effects(
                        rows, aspects, "missing", replicates
                    )
                else:
                    per_scale = _least_squares(moments, model)
                for place, unit in of_model["weight per"].items():
                    if unit == STEP:
                        weights[:, place] = per_scale / n_steps
                    elif unit == DEVIATION:
                        weights[:, place] = per_scale * _standard_deviations(moments)
                    else:
                        weights[:, place] = per_scale
    return weights


def _moments(
    rows: pd.DataFrame, aspects: Sequence[str], ratings: str, replicates: pd.DataFrame
) -> ClusterMoments:
    """Sums of ratings, or of pairs of raters, in each replicate."""
    questions = replicates.columns
    if ratings == BETWEEN:
        pairs = rater_pairs(rows, aspects, "missing", "item_id", "question_id")
        sums = pairs.products
    else:
        everything = np.ones(len(rows))
        columns = [*aspects, "missing"]
        sums = specifications.products(rows, columns, everything, "question_id")
    # A question without any of these rows counts zero.
    sums_of_all = np.zeros((len(questions), *sums.shape[1:]))
    has_rows = questions.isin(rows["question_id"].unique())
    sums_of_all[has_rows] = sums
    moments = ClusterMoments(tuple(aspects), "missing", sums_of_all)
    return moments.total(replicates.to_numpy())


def _least_squares(moments: ClusterMoments, model: str) -> np.ndarray:
    """Weights per whole scale in each replicate."""
    if model == NO_INTERCEPT:
        # through the ideal, where nothing is missing, as in the paper
        gram = moments.xx
        with_missing = moments.xy
    else:
        gram, with_missing, _ = moments.covariances()
    return np.linalg.solve(gram, with_missing[:, :, None])[:, :, 0]


def _standard_deviations(moments: ClusterMoments) -> np.ndarray:
    """Standard deviations of distances."""
    covariances, _, _ = moments.covariances()
    return np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))


def _choices(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Combine the choices; those that make no sense apart, with the reason why."""
    options = {
        "ratings": RATINGS,
        "model": (NO_INTERCEPT, INTERCEPT, ORDINAL),
        "weight per": (SCALE, STEP, DEVIATION),
        "answers": list(_parts(frame)),
    }
    in_parts = [ratings for ratings in RATINGS if ratings not in WHOLE]
    impossible = {
        "raters' own levels take the place of an intercept": {
            "ratings": [WITHIN],
            "model": [NO_INTERCEPT],
        },
        "the variance of what raters agree on can be zero or less": {
            "ratings": [BETWEEN],
            "model": [INTERCEPT],
        },
        "what raters agree on may have no standard deviation": {
            "ratings": [BETWEEN],
            "weight per": [DEVIATION],
        },
        "an ordinal model needs ratings in whole numbers": {
            "ratings": in_parts,
            "model": [ORDINAL],
        },
        "the effects of an ordinal model are from ideal to worst, "
        "not per standard deviation": {
            "model": [ORDINAL],
            "weight per": [DEVIATION],
        },
    }
    return specifications.cross(options, impossible)


def _parts(table: pd.DataFrame) -> pd.DataFrame:
    """Parts of the answers: without a system, or of one kind, its name's first word."""
    parts = specifications.subsets(table, [], ["system"])
    kind = table["system"].str.split("_").str[0]
    for name in sorted(kind.unique()):
        parts[f"only {name}"] = kind == name
    return parts
