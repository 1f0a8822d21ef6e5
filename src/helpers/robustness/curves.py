"""Findings under every way to compute them: errors' costs, aspects' weights, gaps, accuracies.

What errors cost in the overall score, and by how much one aspect outweighs the next:
weights are points lost, the coefficient of a label or a distance with its sign turned.
All specifications are computed on the same resamples of prompts or questions, so that
their differences can be taken draw by draw.

How the gap between a crowd and an expert changes from one arm to another: the gap is
the crowd's rate of marked errors minus the expert's, on answers that both judged or, as
a paper computed it, on different answers.

How far AI-alone accuracy is from user-AI accuracy: only accuracies with standard errors
are needed, one for each model, dataset and method. Every specification is a weighted
sum of them, so that one draw of all accuracies gives a draw of the whole curve.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats
from scipy.sparse import csr_array

from helpers.robustness import crowd, specifications
from helpers.stats.aspects import ideal_distance, rater_pairs
from helpers.stats.bootstrap import cluster_weights
from helpers.stats.lasso import solve_lasso
from helpers.stats.moments import ClusterMoments
from helpers.stats.ordinal import SeparationError
from helpers.stats.rates import REFUSAL_RULES, drop_refusals

SINGLE = "single marks"
SCORES = ("unbiased", "biased", "mean of both")
PENALTIES = {
    "least squares": 0.0,
    "Lasso, 0.003": 0.003,
    "Lasso, 0.01": 0.01,
    "Lasso, 0.03": 0.03,
}
ORDINAL = "ordinal"
# answers or marks with an error, below which its weight is not estimated
LEAST_CASES = 5
RIDGE = 1e-10  # keeps least squares defined where a resample has no case of an error

WITHIN, BETWEEN, DISTANCES = (
    "single, within raters",
    "single, between raters",
    "mean of distances",
)
RATINGS = ("single", WITHIN, BETWEEN, DISTANCES, *crowd.RULES[:-1])
WHOLE = ("single", "mode, ties low", "mode, ties high")

COUNTED = ("marks", "answers", "prompts")
CROWD = ("different answers", "answers in common")  # of the crowd and of the expert

SIZES = "all, by number of questions"
EQUAL = "all, equal weight"
BOTH = "both"


@dataclass(frozen=True, eq=False)
class WeightCurve:
    """Weights of all errors in all specifications, made by `cost_curve`."""

    specifications: pd.DataFrame
    left_out: pd.DataFrame
    estimate: pd.DataFrame
    draws: np.ndarray
    cases: pd.DataFrame
    freedom: np.ndarray

    def lead(self, error: str, *other: str) -> tuple[pd.DataFrame, np.ndarray]:
        """Curve of a weight, or of what it is above another, expected to be positive.

        Parameters
        ----------
        error : str
            One of the errors.
        *other : str
            None, or another error.

        Returns
        -------
        curve : pandas.DataFrame
            As `specifications.curve`, for specifications with at least `LEAST_CASES`
            cases.
        draws : numpy.ndarray, shape (n_boot, n_rows)
            Draws of the same specifications.
        """
        names = [error, *other]
        signs = [1, -1][: len(names)]
        enough = (self.cases[names] >= LEAST_CASES).all(axis="columns").to_numpy()
        draws = (
            self.draws[:, enough][:, :, self.estimate.columns.get_indexer(names)]
            @ signs
        )
        estimate, rows = (
            self.estimate.loc[enough, names] @ signs,
            self.specifications[enough],
        )
        freedom = self.freedom[enough]
        return specifications.curve(
            rows, estimate, draws.std(axis=0), 1, freedom
        ), draws

    def part(self, rows: pd.Series) -> "WeightCurve":
        """Keep some of the specifications, True where they stay, without what was left out."""
        kept = rows.to_numpy()
        return WeightCurve(
            specifications=self.specifications[kept].reset_index(drop=True),
            left_out=self.left_out.iloc[:0],
            estimate=self.estimate[kept].reset_index(drop=True),
            draws=self.draws[:, kept],
            cases=self.cases[kept].reset_index(drop=True),
            freedom=self.freedom[kept],
        )

    def too_rare(self, errors: Sequence[str]) -> pd.DataFrame:
        """Specifications in which an error has fewer than `LEAST_CASES` cases."""
        rare = (self.cases[list(errors)] < LEAST_CASES).any(axis="columns")
        reason = f"fewer than {LEAST_CASES} cases of {' or '.join(errors)}"
        return self.specifications[rare].assign(reason=reason)


def label_tables(
    outputs: pd.DataFrame, single: pd.DataFrame, errors: Sequence[str]
) -> dict[str, pd.DataFrame]:
    """Combine the labels of single raters in every way, and put the scores beside them.

    Parameters
    ----------
    outputs : pandas.DataFrame
        One row per output: ``item_id``, ``prompt_id``, ``task``, ``system``,
        ``refusal`` by majority, ``quality_unbiased`` and ``quality_biased``.
    single : pandas.DataFrame
        One row per output and rater: the same design, ``rater_id``, the errors and
        ``quality_biased``.
    errors : sequence of str
        Columns of labels, 0 or 1.

    Returns
    -------
    dict of str to pandas.DataFrame
        For each of `helpers.robustness.crowd.RULES`, and `SINGLE`, a table for
        `cost_curve`.
    """
    outputs = outputs.set_index("item_id").sort_index()
    scores = outputs[["quality_unbiased", "quality_biased"]].set_axis(
        SCORES[:2], axis="columns"
    )
    design = outputs[["prompt_id", "task", "system"]].join(scores)
    design["mean of both"] = scores.mean(axis="columns")
    design["refused"] = outputs["refusal"] > 0.5
    tables = {
        rule: design.join(labels).reset_index()
        for rule, labels in _by_rule(single, errors).items()
    }
    refused = single["item_id"].map(design["refused"])
    return tables | {
        SINGLE: single.assign(refused=refused, biased=single["quality_biased"])
    }


def _by_rule(single: pd.DataFrame, columns: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Labels of each item, by way to combine those of single raters."""
    return {rule: crowd.combine(single, columns, rule) for rule in crowd.RULES}


def cost_curve(
    tables: Mapping[str, pd.DataFrame],
    errors: Sequence[str],
    n_boot: int,
    rng: np.random.Generator,
) -> WeightCurve:
    """Compute the weights of all errors in all specifications.

    Parameters
    ----------
    tables : mapping of str to pandas.DataFrame
        For each way to combine labels one row per output, and for `SINGLE` one per
        rating: ``prompt_id``, ``task``, ``system``, ``refused`` (True or False), the
        errors and the `SCORES`, of which single ratings have the biased one only. All
        have the same prompts.
    errors : sequence of str
        Columns of labels in [0, 1].
    n_boot : int
        Number of resamples of prompts.
    rng : numpy.random.Generator

    Returns
    -------
    WeightCurve

    Notes
    -----
    An ordinal model is not refitted in resamples: its draws are those of its linear
    approximation.

    References
    ----------
    Hosking et al. (2024), section 2.2; Simonsohn, Simmons and Nelson (2020).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> outputs = pd.DataFrame({
    ...     "prompt_id": np.arange(200) // 5, "task": "wikihow", "system": ["a", "b"] * 100,
    ...     "refused": False, "refusal": rng.integers(2, size=200)})
    >>> scores = {score: 5.0 - 2 * outputs["refusal"] for score in SCORES}
    >>> result = cost_curve({"mean": outputs.assign(**scores)}, ["refusal"], 9, rng)
    >>> result.estimate["refusal"].groupby(result.specifications["model"]).max().round(2)
    model
    Lasso, 0.003     1.99
    Lasso, 0.01      1.96
    Lasso, 0.03      1.88
    least squares    2.00
    Name: refusal, dtype: float64
    """
    first = next(iter(tables.values()))
    possible, left_out = _cost_choices(first, list(tables))
    replicates = _resamples(first["prompt_id"], n_boot, rng)
    found = np.empty((n_boot + 1, len(possible), len(errors)))
    cases = pd.DataFrame(0, possible.index, list(errors))
    freedom = np.empty(len(possible))
    reasons = pd.Series("", index=possible.index)
    parts = {labels: _answered_parts(table) for labels, table in tables.items()}
    for (labels, *rows), part in possible.groupby(["labels", "answers", "refusals"]):
        table, kept = tables[labels], parts[labels][tuple(rows)]
        scores = _scores_in(table)
        sums = specifications.products(table, [*errors, *scores], kept, "prompt_id")
        freedom[part.index] = (sums[:, 0, 0] > 0).sum() - 1
        cases.loc[part.index] = (table.loc[kept, list(errors)] >= 0.5).sum().to_numpy()
        linear = part[part["model"] != ORDINAL]
        totals = np.tensordot(replicates.to_numpy(), sums, axes=1)
        found[:, linear.index] = -_linear_slopes(totals, errors, scores, linear)
        for place in part.index.difference(linear.index):
            try:
                found[:, place] = -specifications.ordinal_effects(
                    table[kept], errors, "biased", replicates
                )
            except SeparationError as error:
                reasons[place] = (
                    f"{error.feature} has no finite odds in an ordinal model"
                )
    done = reasons == ""
    return WeightCurve(
        possible[done].reset_index(drop=True),
        pd.concat(
            [left_out, possible[~done].assign(reason=reasons[~done])], ignore_index=True
        ),
        pd.DataFrame(found[0, done], columns=list(errors)),
        found[1:, done],
        cases[done].reset_index(drop=True),
        freedom[done],
    )


def _resamples(
    labels: pd.Series, n_boot: int, rng: np.random.Generator
) -> pd.DataFrame:
    """How often each cluster counts: a row with all of them once, then one for each resample."""
    clusters = pd.Index(np.unique(labels), name=labels.name)
    drawn = cluster_weights(len(clusters), n_boot, rng)
    return pd.DataFrame(np.vstack([np.ones(len(clusters)), drawn]), columns=clusters)


def _cost_choices(
    table: pd.DataFrame, rules: Sequence[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Combine the choices of the analysis of errors."""
    options = {
        "labels": rules,
        "score": SCORES,
        "model": (*PENALTIES, ORDINAL),
        "answers": list(specifications.subsets(table, ["task"], ["system"])),
        "refusals": ("kept", "left out"),
    }
    combined = [rule for rule in rules if rule != SINGLE]
    impossible = {
        "the form of the unbiased score did not ask about errors": {
            "labels": [SINGLE],
            "score": ["unbiased", "mean of both"],
        },
        "an ordinal model needs single ratings": {
            "labels": combined,
            "model": [ORDINAL],
        },
    }
    return specifications.cross(options, impossible)


def _answered_parts(table: pd.DataFrame) -> dict[tuple[str, str], np.ndarray]:
    """Rows that count, for every part of the answers and treatment of refusals."""
    subsets = specifications.subsets(table, ["task"], ["system"])
    whole = {(name, "kept"): rows.to_numpy() for name, rows in subsets.items()}
    answered = ~table["refused"].to_numpy()
    return whole | {
        (name, "left out"): rows & answered for (name, _), rows in whole.items()
    }


def _scores_in(table: pd.DataFrame) -> list[str]:
    """Scores that a table has."""
    return [score for score in SCORES if score in table]


def _linear_slopes(
    sums: np.ndarray, errors: Sequence[str], scores: Sequence[str], part: pd.DataFrame
) -> np.ndarray:
    """Slopes in linear models of sets of rows, from cross-products of (1, errors, scores)."""
    n = len(errors)
    gram, last, _ = ClusterMoments(
        (*errors, *scores[:-1]), scores[-1], sums
    ).covariances()
    gram, cross = gram[:, :n, :n], np.dstack([gram[:, :n, n:], last[:, :n]])
    targets = np.stack([cross[:, :, scores.index(score)] for score in part["score"]])
    alpha = part["model"].map(PENALTIES).to_numpy(dtype=float)
    free = alpha == 0
    slopes = np.empty_like(targets)
    slopes[~free] = solve_lasso(gram, targets[~free], alpha[~free, None], tol=1e-6)
    size = np.trace(gram, axis1=1, axis2=2)[:, None, None]
    steady = gram + RIDGE * size * np.eye(n)
    slopes[free] = np.linalg.solve(steady, targets[free][..., None])[..., 0]
    return slopes.swapaxes(0, 1)


def ranks(result: WeightCurve) -> pd.DataFrame:
    """How often each error costs most, second most and third most.

    Parameters
    ----------
    result : WeightCurve
        From `cost_curve`, or a part of it.

    Returns
    -------
    pandas.DataFrame
        Percentages of the specifications in which the error has its cases: ``first``,
        ``second``, ``third`` (errors of the same cost share a rank and are in none of
        the three), ``not zero``, and ``significant``, a positive cost whose 95 %
        interval leaves out zero. And their number, ``specifications``, and the
        ``median`` points lost.
    """
    enough = result.cases >= LEAST_CASES
    costs = result.estimate.where(enough & (result.estimate > 0))
    place = costs.rank(axis="columns", ascending=False)
    shared = place.apply(lambda row: row.duplicated(keep=False), axis="columns")
    place = place.mask(shared)
    critical = stats.t.ppf(0.975, result.freedom)
    margin = critical[:, None] * result.draws.std(axis=0)
    significant = result.estimate > margin
    kept = (result.estimate != 0) & enough
    table = pd.DataFrame({"specifications": enough.sum()})
    for number, name in enumerate(("first", "second", "third"), 1):
        table[name] = 100 * (place == number).sum() / enough.sum()
    table["not zero"] = 100 * kept.sum() / enough.sum()
    table["significant"] = 100 * (significant & enough).sum() / enough.sum()
    table["median"] = result.estimate.where(enough).median()
    return table.sort_values("median", ascending=False)


def permuted_costs(
    tables: Mapping[str, pd.DataFrame],
    errors: Sequence[str],
    error: str,
    table: pd.DataFrame,
    orders: np.ndarray,
) -> np.ndarray:
    """Weights of an error whose labels are dealt out anew among the outputs.

    All that raters marked of the error in an output moves together, whichever way it is
    combined.

    Parameters
    ----------
    tables, errors
        As for `cost_curve`; each table has the same outputs, ``item_id``.
    error : str
        The error.
    table : pandas.DataFrame
        Specifications to compute, rows of a `WeightCurve`; no ordinal ones.
    orders : numpy.ndarray of int, shape (n_draws, n_outputs)
        Which output's labels each output gets, outputs in sorted order of ``item_id``.

    Returns
    -------
    numpy.ndarray, shape (n_draws, n_specifications)
        Points lost.

    References
    ----------
    Simonsohn, Simmons and Nelson (2020), on shuffling the predictor of interest.
    """
    found = np.empty((len(orders), len(table)))
    places = pd.Series(range(len(table)), index=table.index)
    feature = 1 + list(errors).index(error)
    for labels, specified in table.groupby("labels"):
        rows = tables[labels].sort_values("item_id", kind="stable")
        scores, parts = _scores_in(rows), _answered_parts(rows)
        values = rows.assign(one=1.0)[["one", *errors, *scores]].to_numpy(dtype=float)
        dealt = rows[error].to_numpy(dtype=float)[_row_orders(rows["item_id"], orders)]
        for choice, part in specified.groupby(["answers", "refusals"]):
            kept = parts[choice]
            sums = np.tile(values[kept].T @ values[kept], (len(orders), 1, 1))
            sums[:, feature] = sums[:, :, feature] = dealt[:, kept] @ values[kept]
            sums[:, feature, feature] = (dealt[:, kept] ** 2).sum(axis=1)
            slopes = _linear_slopes(sums, errors, scores, part)
            found[:, places[part.index]] = -slopes[:, :, feature - 1]
    return found


def _row_orders(items: pd.Series, orders: np.ndarray) -> np.ndarray:
    """Orders of rows from orders of items; an item with too few rows lends them again."""
    codes, starts, counts = np.unique(items, return_index=True, return_counts=True)
    item = np.searchsorted(codes, items)
    slot = np.arange(len(items)) - starts[item]
    giver = orders[:, item]
    return starts[giver] + slot % counts[giver]


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
    design = ["item_id", "question_id", "system"]
    items = frame[design].drop_duplicates("item_id").set_index("item_id").sort_index()

    def in_distances(rows: pd.DataFrame) -> pd.DataFrame:
        """Distances in place of aspects, missing points beside the overall rating."""
        distances = ideal_distance(rows, aspects, ideals, ranges)
        return rows.assign(**distances, missing=ideals[overall] - rows[overall])

    single = in_distances(frame)
    numbers = [*aspects, "missing"]
    own_level = single.groupby("rater_id")[numbers].transform("mean")
    within = single.assign(**(single[numbers] - own_level))
    found = {"single": single, WITHIN: within, BETWEEN: single}
    found[DISTANCES] = items.join(
        single.groupby("item_id")[numbers].mean()
    ).reset_index()
    for rule in RATINGS[4:]:
        combined = crowd.combine(frame, [*aspects, overall], rule)
        found[rule] = in_distances(items.join(combined).reset_index())
    return found


def aspect_leads(
    found: Mapping[str, pd.DataFrame],
    aspects: Sequence[str],
    first: str,
    n_boot: int,
    rng: np.random.Generator,
    steps: Mapping[str, float],
) -> tuple[pd.DataFrame, np.ndarray, pd.DataFrame]:
    """Weight of one aspect minus the larger weight of the others.

    Parameters
    ----------
    found : mapping of str to pandas.DataFrame
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
    possible, left_out = _aspect_choices(found["single"])
    replicates = _resamples(found["single"]["question_id"], n_boot, rng)
    weights = np.empty((n_boot + 1, len(possible), len(aspects)))
    of_scale = np.array([steps[aspect] for aspect in aspects])
    parts = {ratings: _parts(table) for ratings, table in found.items()}
    for (ratings, answers), part in possible.groupby(["ratings", "answers"]):
        rows = found[ratings][parts[ratings][answers]]
        moments = _aspect_moments(rows, aspects, ratings, replicates)
        ordinal = ORDINAL in set(part["model"]) and specifications.ordinal_effects(
            rows, aspects, "missing", replicates
        )
        for place, model, unit in part[["model", "weight per"]].itertuples():
            effects = ordinal if model == ORDINAL else _solve(moments, model, unit)
            weights[:, place] = effects / (of_scale if unit == "step" else 1)
    leader = list(aspects).index(first)
    others = np.delete(np.arange(len(aspects)), leader)
    runner_up = others[weights[0][:, others].argmax(axis=1)]
    draws = weights[:, :, leader] - weights[:, np.arange(len(possible)), runner_up]
    specified = possible.assign(next=np.array(aspects)[runner_up])
    spread, freedom = draws[1:].std(axis=0), replicates.shape[1] - 1
    return (
        specifications.curve(specified, draws[0], spread, 1, freedom),
        draws[1:],
        left_out,
    )


def _aspect_moments(
    rows: pd.DataFrame, aspects: Sequence[str], ratings: str, replicates: pd.DataFrame
) -> ClusterMoments:
    """Sums of all rows, and of those in each resample, of ratings or of pairs of raters."""
    questions = replicates.columns
    if ratings == BETWEEN:
        sums = rater_pairs(rows, aspects, "missing", "item_id", "question_id").products
    else:
        columns = [*aspects, "missing"]
        sums = specifications.products(rows, columns, np.ones(len(rows)), "question_id")
    of_all = np.zeros((len(questions), *sums.shape[1:]))
    of_all[questions.isin(rows["question_id"].unique())] = sums
    return ClusterMoments(tuple(aspects), "missing", of_all).total(
        replicates.to_numpy()
    )


def _aspect_choices(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Combine the choices of the analysis of aspects."""
    options = {
        "ratings": RATINGS,
        "model": ("no intercept", "intercept", ORDINAL),
        "weight per": ("whole scale", "step", "standard deviation"),
        "answers": list(_parts(frame)),
    }
    ordinal, spread = {"model": [ORDINAL]}, {"weight per": ["standard deviation"]}
    in_parts = {"ratings": [name for name in RATINGS if name not in WHOLE]}
    impossible = {
        "raters' own levels take the place of an intercept": {
            "ratings": [WITHIN],
            "model": ["no intercept"],
        },
        "the variance of what raters agree on can be zero or less": {
            "ratings": [BETWEEN],
            "model": ["intercept"],
        },
        "what raters agree on may have no standard deviation": {"ratings": [BETWEEN]}
        | spread,
        "an ordinal model needs ratings in whole numbers": in_parts | ordinal,
        "the effects of an ordinal model are from ideal to worst, not per standard deviation": (
            ordinal | spread
        ),
    }
    return specifications.cross(options, impossible)


def _parts(table: pd.DataFrame) -> pd.DataFrame:
    """Parts of the answers: without a system, or only those of one kind, its name's first word."""
    kind = table["system"].str.split("_").str[0]
    of_one_kind = {f"only {name}": kind == name for name in sorted(kind.unique())}
    return specifications.subsets(table, [], ["system"]).assign(**of_one_kind)


def _solve(moments: ClusterMoments, model: str, unit: str) -> np.ndarray:
    """Weights in each set of rows."""
    gram, cross, _ = moments.covariances()
    spread = np.sqrt(np.diagonal(gram, axis1=1, axis2=2))
    if model == "no intercept":
        gram, cross = moments.xx, moments.xy
    weights = np.linalg.solve(gram, cross[:, :, None])[:, :, 0]
    return weights * spread if unit == "standard deviation" else weights


def gap_choices(
    answers: pd.DataFrame, rules: Sequence[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Combine the choices of this analysis.

    Parameters
    ----------
    answers : pandas.DataFrame
        Rated answers with ``task`` and ``system``.
    rules : sequence of str
        Ways to combine the crowd's marks of an answer, ``"mean"`` among them.

    Returns
    -------
    specifications, left_out : pandas.DataFrame
        As `specifications.cross`.

    Examples
    --------
    >>> answers = pd.DataFrame({"task": ["wikihow"] * 2, "system": ["a", "b"]})
    >>> possible, left_out = gap_choices(answers, ["mean", "mode"])
    >>> len(possible), left_out["reason"].unique().tolist()
    (120, ['every mark counts the same: the mean is the only way to combine them'])
    """
    options = {
        "labels": rules,
        "counted": COUNTED,
        "refusals": REFUSAL_RULES,
        "crowd": CROWD,
        "answers": list(specifications.subsets(answers, ["task"], ["system"])),
    }
    others = [rule for rule in rules if rule != "mean"]
    reason = "every mark counts the same: the mean is the only way to combine them"
    return specifications.cross(
        options, {reason: {"labels": others, "counted": ["marks"]}}
    )


def rated_answers(
    outputs: pd.DataFrame, single: pd.DataFrame, experts: pd.DataFrame, error: str
) -> pd.DataFrame:
    """Put the crowd's marks of an error, combined in every way, beside the experts' labels.

    Parameters
    ----------
    outputs : pandas.DataFrame
        One row per output: ``item_id``, ``prompt_id``, ``task``, ``system``, ``arm``,
        ``n_ratings`` and ``refusal`` by majority.
    single : pandas.DataFrame
        One row per output and rater of the crowd: ``item_id``, ``rater_id`` and the
        error.
    experts : pandas.DataFrame
        One row per output that experts labelled: ``item_id``, ``refusal`` and the
        error.
    error : str
        The error, 0 or 1.

    Returns
    -------
    pandas.DataFrame
        One row per output for `GapDesign`, with a column for each of
        `helpers.robustness.crowd.RULES`.
    """
    design = ["prompt_id", "task", "system", "arm", "n_ratings", "refusal"]
    answers = outputs.set_index("item_id").sort_index()[design]
    combined = {
        rule: labels[error] for rule, labels in _by_rule(single, [error]).items()
    }
    labels = experts.set_index("item_id")[[error, "refusal"]]
    labels = labels.set_axis(["expert", "expert_refusal"], axis="columns")
    return answers.assign(**combined).join(labels).reset_index()


class GapDesign:
    """Which answers count in which specification, ready for any assignment of answers to arms.

    Different answers are all those of the crowd beside those that an expert labelled,
    as Hosking et al. compare them; each side leaves out what it calls a refusal itself.
    Answers in common are those that both judged, without what either calls a refusal.

    Parameters
    ----------
    answers : pandas.DataFrame
        One row per answer that the crowd rated: ``prompt_id``, ``task``, ``system``,
        ``arm``, ``n_ratings``, ``refusal`` (the crowd's majority in [0, 1]), one column
        per way to combine the crowd's marks, and ``expert`` and ``expert_refusal``,
        missing where no expert saw it.
    specified : pandas.DataFrame
        Specifications, see `gap_choices`.

    References
    ----------
    Hosking et al. (2024), section 3.2 and Figure 4; Särndal, Swensson and Wretman
    (1992), section 5.6, for the linearisation of ratios.

    Examples
    --------
    >>> answers = pd.DataFrame({
    ...     "prompt_id": np.arange(80) // 4, "task": "wikihow", "system": ["a", "b"] * 40,
    ...     "arm": ["low", "low", "high", "high"] * 20, "n_ratings": 4, "refusal": 0.0,
    ...     "mean": [0.0, 0.5, 0.0, 0.5] * 20, "expert": [0.0, 0.0, 1.0, 1.0] * 20,
    ...     "expert_refusal": 0.0})
    >>> design = GapDesign(answers, gap_choices(answers, ["mean"])[0])
    >>> estimate, *_ = design.changes(answers["arm"].to_numpy(), ("low", "high"))
    >>> np.unique(estimate)
    array([-100.])
    """

    def __init__(self, answers: pd.DataFrame, specified: pd.DataFrame):
        self._prompt, prompts = pd.factorize(answers["prompt_id"], sort=True)
        self._shape = (len(prompts), len(answers))
        by_crowd, by_experts = _judged(answers)
        # Of different answers the expert's have no number of marks to weigh them by.
        by_mark = specified["counted"] == "marks"
        apart = specified["crowd"] == CROWD[0]
        counted = specified["counted"].mask(by_mark & apart, "answers")
        labelled = specified.assign(labels="expert", counted=counted)
        self._crowd = _Side(answers, specified, by_crowd)
        self._experts = _Side(answers, labelled, by_experts)
        self.n_expert_prompts = self._experts.n_prompts(
            self._member(np.arange(len(answers)))
        )

    def changes(self, arm: np.ndarray, arms: tuple[str, str]) -> tuple[np.ndarray, ...]:
        """Compute the change of the gap from one arm to another.

        Parameters
        ----------
        arm : numpy.ndarray of str, shape (n_answers,)
            The arm of each answer.
        arms : tuple of str
            The arm to subtract and the arm to subtract it from.

        Returns
        -------
        estimate, standard_error : numpy.ndarray, shape (n_specifications,)
            Percentage points.
        influence : numpy.ndarray, shape (n_prompts, n_specifications)
            Of every prompt on the estimates.
        """
        members = [self._member(np.flatnonzero(arm == label)) for label in arms]
        (crowd, crowd_after), by_crowd = self._crowd.change(*members)
        (experts, experts_after), by_experts = self._experts.change(*members)
        estimate = (
            -100 * crowd + 100 * experts + 100 * crowd_after - 100 * experts_after
        )
        influence = 100 * (by_crowd - by_experts)
        correction = self.n_expert_prompts / (self.n_expert_prompts - 1)
        error = np.sqrt(correction * np.einsum("ps,ps->s", influence, influence))
        return estimate, error, influence

    def permuted(
        self, arm: np.ndarray, arms: tuple[str, str], orders: np.ndarray
    ) -> np.ndarray:
        """Compute the change with arms dealt out anew among the answers.

        Parameters
        ----------
        arm, arms
            As for `changes`.
        orders : numpy.ndarray of int, shape (n_draws, n_answers)
            Which answer's arm each answer gets, see `specifications.permute_within`.

        Returns
        -------
        numpy.ndarray, shape (2, n_draws, n_specifications)
            Estimates and their standard errors.
        """
        draws = [self.changes(arm[order], arms)[:2] for order in orders]
        return np.array(draws).swapaxes(0, 1)

    def _member(self, rows: np.ndarray) -> csr_array:
        """Matrix that adds up some of the answers within prompts."""
        return csr_array(
            (np.ones(len(rows)), (self._prompt[rows], rows)), shape=self._shape
        )


def _judged(answers: pd.DataFrame) -> tuple[dict, dict]:
    """Answers that count for crowd and experts, by rule for refusals and answers to compare."""
    seen = answers["expert"].notna().to_numpy()
    by_experts_refused = answers.assign(refusal=answers["expert_refusal"])
    by_crowd, by_experts = {}, {}
    for rule in REFUSAL_RULES:
        kept = answers.index.isin(drop_refusals(answers, rule).index)
        kept_by_experts = (
            answers.index.isin(drop_refusals(by_experts_refused, rule).index) & seen
        )
        by_crowd[rule, CROWD[0]] = kept
        by_experts[rule, CROWD[0]] = kept_by_experts
        by_crowd[rule, CROWD[1]] = kept & kept_by_experts
        by_experts[rule, CROWD[1]] = kept & kept_by_experts
    return by_crowd, by_experts


class _Side:
    """Labels and weights of one group of annotators, those of equal specifications once."""

    def __init__(self, answers: pd.DataFrame, specified: pd.DataFrame, judged: dict):
        needed = specified[["labels", "refusals", "crowd", "answers", "counted"]]
        self._which, distinct = pd.factorize(pd.MultiIndex.from_frame(needed))
        self._by_prompt = np.array([counted == "prompts" for *_, counted in distinct])
        parts = specifications.subsets(answers, ["task"], ["system"])
        parts = {name: rows.to_numpy() for name, rows in parts.items()}
        each = {
            "marks": answers["n_ratings"].to_numpy(),
            "answers": 1.0,
            "prompts": 1.0,
        }
        weights = [
            (judged[refusals, crowd] & parts[part]) * each[counted]
            for _, refusals, crowd, part, counted in distinct
        ]
        self._weights = np.column_stack(weights)
        labels = answers[[labels for labels, *_ in distinct]].fillna(0.0)
        self._marked = self._weights * labels.to_numpy()

    def n_prompts(self, member: csr_array) -> np.ndarray:
        """Number of prompts with answers that count."""
        return (member @ self._weights > 0).sum(axis=0)[self._which]

    def change(
        self, before: csr_array, after: csr_array
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rates in two groups of answers, and every prompt's influence on their difference."""
        (low, by_low), (high, by_high) = self._rates(before), self._rates(after)
        return np.array([low, high])[:, self._which], (by_high - by_low)[:, self._which]

    def _rates(self, member: csr_array) -> tuple[np.ndarray, np.ndarray]:
        """Rates over some answers, and the influence of every prompt on them."""
        counts, sums = member @ self._weights, member @ self._marked
        alike = self._by_prompt
        sums[:, alike] /= np.maximum(counts[:, alike], 1)
        counts[:, alike] = counts[:, alike] > 0
        total = counts.sum(axis=0)
        rate = sums.sum(axis=0) / total
        sums -= rate * counts
        return rate, sums / total


def accuracy_curve(
    cells: pd.DataFrame,
    alone: Sequence[str],
    together: Sequence[str],
    sizes: Mapping[str, int],
    correlations: Sequence[float],
) -> tuple[pd.DataFrame, np.ndarray]:
    """User-AI minus AI-alone accuracy in all specifications.

    Parameters
    ----------
    cells : pandas.DataFrame
        One row per ``model``, ``dataset`` and ``method``; ``mean`` and ``se``.
    alone, together : sequence of str
        Methods that measure AI alone, and users with AI.
    sizes : mapping of str to int
        Number of questions in each dataset.
    correlations : sequence of float
        Correlations, over questions, of two accuracies on the same dataset; those on
        different datasets are independent.

    Returns
    -------
    curve : pandas.DataFrame
        As `specifications.curve`, in percentage points, with no direction expected.
    weights : numpy.ndarray, shape (n_specifications, n_cells)
        What each accuracy, in percentage points, adds to each estimate.

    References
    ----------
    Chang et al. (2025), section 4 and appendix B.2; Miller (2024), Adding Error Bars to
    Evals.

    Examples
    --------
    >>> cells = pd.DataFrame({"model": "x", "dataset": "math", "method": ["letter", "direct"],
    ...                       "mean": [0.7, 0.9], "se": [0.03, 0.04]})
    >>> curve, _ = accuracy_curve(cells, ["letter"], ["direct"], {"math": 90}, [0.0])
    >>> curve.loc[0, ["estimate", "standard_error"]].astype(float).round(6).tolist()
    [20.0, 5.0]
    """
    options = {
        "AI alone": alone,
        "users": [*together, BOTH],
        "dataset": [*cells["dataset"].unique(), EQUAL, SIZES],
        "model": [*cells["model"].unique(), BOTH],
        "correlation": correlations,
    }
    specified, _ = specifications.cross(options)
    method, model, share = (
        pd.get_dummies(cells[name], dtype=float)
        for name in ("method", "model", "dataset")
    )
    method[BOTH], model[BOTH] = method[list(together)].sum(axis="columns"), 1.0
    same_dataset = share.to_numpy()
    share[EQUAL], share[SIZES] = 1.0, cells["dataset"].map(sizes)
    parts = (
        share[specified["dataset"]].to_numpy() * model[specified["model"]].to_numpy()
    )
    users, alone = (
        parts * method[specified[side]].to_numpy() for side in ("users", "AI alone")
    )
    weights = (users / users.sum(axis=0) - alone / alone.sum(axis=0)).T
    error = weights * cells["se"].to_numpy()
    correlation = specified["correlation"].to_numpy(dtype=float)
    own = (1 - correlation) * (error**2).sum(axis=1)
    variance = own + correlation * ((error @ same_dataset) ** 2).sum(axis=1)
    estimate, error = 100 * weights @ cells["mean"].to_numpy(), 100 * np.sqrt(variance)
    return specifications.curve(specified, estimate, error, 0), weights


def null_draws(
    cells: pd.DataFrame, weights: np.ndarray, n_draws: int, rng: np.random.Generator
) -> np.ndarray:
    """Curves that sampling error alone brings about if users with AI do as well as AI alone.

    Errors of different accuracies are drawn independently. If they are positively
    correlated, as they may be on the same questions, true curves without an effect lie
    closer to zero.

    Parameters
    ----------
    cells : pandas.DataFrame
        As for `accuracy_curve`.
    weights : numpy.ndarray, shape (n_specifications, n_cells)
        From `accuracy_curve`.
    n_draws : int
        Number of draws.
    rng : numpy.random.Generator

    Returns
    -------
    numpy.ndarray, shape (n_draws, n_specifications)
        Percentage points.

    Examples
    --------
    >>> cells = pd.DataFrame({"se": [0.03, 0.04]})
    >>> draws = null_draws(cells, np.array([[-1.0, 1.0]]), 4000, np.random.default_rng(0))
    >>> int(draws.std().round())
    5
    """
    errors = rng.normal(size=(n_draws, len(cells))) * cells["se"].to_numpy()
    return 100 * errors @ weights.T
