"""Three findings under every way to compute them: aspects' weights, arms' gaps, AI's accuracy.

By how much one aspect outweighs the next in an overall rating: weights are points of the overall
rating lost, and all specifications are computed on the same resamples of questions.

How many more errors a crowd misses in one arm than in another: the gap is the crowd's error rate
minus the experts'. Its change from one arm to another says whether the arm hides errors.

How far AI-alone accuracy is from user-AI accuracy: only accuracies with standard errors are needed,
one for each model, dataset and method. Every specification is a weighted sum of them, so that one
draw of all accuracies gives a draw of the whole curve.

`helpers.beyond.error_costs` does the same for what errors cost in the overall score.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from helpers.beyond import crowd, specifications
from helpers.files.tables import check_clusters, check_numeric
from helpers.stats.aspects import ideal_distance, rater_pairs
from helpers.stats.bootstrap import cluster_weights
from helpers.stats.moments import ClusterMoments
from helpers.stats.rates import REFUSAL_RULES, drop_refusals

WITHIN, BETWEEN, DISTANCES = "single, within raters", "single, between raters", "mean of distances"
RATINGS = ("single", WITHIN, BETWEEN, DISTANCES, *crowd.RULES[:-1])
WHOLE = ("single", "mode, ties low", "mode, ties high")
MODELS = ("no intercept", "intercept", "ordinal")
UNITS = ("whole scale", "step", "standard deviation")
COUNTED = ("marks", "answers", "prompts")
CROWD = ("all answers", "answers that experts saw")
SIZES = "all, by number of questions"
EQUAL = "all, equal weight"
BOTH = "both"


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

    def in_distances(rows: pd.DataFrame) -> pd.DataFrame:
        """Distances in place of aspects, missing points beside the overall rating."""
        distances = ideal_distance(rows, aspects, ideals, ranges)
        return rows.assign(**distances, missing=ideals[overall] - rows[overall])

    single = in_distances(frame)
    numbers = [*aspects, "missing"]
    own_level = single.groupby("rater_id")[numbers].transform("mean")
    within = single.assign(**(single[numbers] - own_level))
    found = {"single": single, WITHIN: within, BETWEEN: single}
    found[DISTANCES] = items.join(single.groupby("item_id")[numbers].mean()).reset_index()
    for rule in RATINGS[4:]:
        combined = crowd.combine(frame, [*aspects, overall], rule, "item_id", "rater_id")
        found[rule] = in_distances(items.join(combined).reset_index())
    return found


def gaps(
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
        Result of `tables`.
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
        As `specifications.curve`, with ``next``, the aspect that weighs most among the others.
    draws : numpy.ndarray, shape (n_boot, n_specifications)
        Draws of the same differences; an ordinal model has those of its linear approximation.
    left_out : pandas.DataFrame
        As `specifications.cross`.

    References
    ----------
    Kamoda et al. (2025), section 4.1; Simonsohn, Simmons and Nelson (2020).
    """
    possible, left_out = _aspect_choices(found["single"])
    questions = pd.Index(np.unique(found["single"]["question_id"]), name="question_id")
    drawn = cluster_weights(len(questions), n_boot, rng)
    replicates = pd.DataFrame(np.vstack([np.ones(len(questions)), drawn]), columns=questions)
    weights = np.empty((n_boot + 1, len(possible), len(aspects)))
    of_scale = np.array([steps[aspect] for aspect in aspects])
    parts = {ratings: _parts(table) for ratings, table in found.items()}
    for (ratings, answers), part in possible.groupby(["ratings", "answers"]):
        kept = parts[ratings][answers]
        rows = found[ratings][kept]
        if ratings == BETWEEN:
            pairs = rater_pairs(rows, aspects, "missing", "item_id", "question_id").products
            sums = np.zeros((len(questions), *pairs.shape[1:]))
            sums[questions.isin(rows["question_id"])] = pairs
        else:
            columns = [*aspects, "missing"]
            sums = specifications.products(found[ratings], columns, kept, "question_id")
        moments = ClusterMoments(tuple(aspects), "missing", sums).total(replicates.to_numpy())
        for place, model, unit in part[["model", "weight per"]].itertuples():
            effects = (
                specifications.ordinal_effects(rows, aspects, "missing", replicates)
                if model == "ordinal"
                else _solve(moments, model, unit)
            )
            weights[:, place] = effects / (of_scale if unit == "step" else 1)
    leader = list(aspects).index(first)
    others = np.delete(np.arange(len(aspects)), leader)
    runner_up = others[weights[0][:, others].argmax(axis=1)]
    draws = weights[:, :, leader] - weights[:, np.arange(len(possible)), runner_up]
    specified = possible.assign(next=np.array(aspects)[runner_up])
    freedom = len(questions) - 1
    table = specifications.curve(specified, draws[0], draws[1:].std(axis=0), 1, freedom)
    return table, draws[1:], left_out


def _aspect_choices(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Combine the choices of the analysis of aspects."""
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


def gap_choices(answers: pd.DataFrame, rules: Sequence[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
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
    return specifications.cross(options, {reason: {"labels": others, "counted": ["marks"]}})


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
        One row per output and rater of the crowd: ``item_id``, ``rater_id`` and the error.
    experts : pandas.DataFrame
        One row per output that experts labelled: ``item_id``, ``refusal`` and the error.
    error : str
        The error, 0 or 1.

    Returns
    -------
    pandas.DataFrame
        One row per output for `GapDesign`, with a column for each of `helpers.beyond.crowd.RULES`.
    """
    design = ["prompt_id", "task", "system", "arm", "n_ratings", "refusal"]
    answers = outputs.set_index("item_id").sort_index()[design]
    for rule in crowd.RULES:
        combined = crowd.combine(single, [error], rule, "item_id", "rater_id")
        answers = answers.join(combined[error].rename(rule))
    labels = experts.set_index("item_id")[[error, "refusal"]]
    labels = labels.set_axis(["expert", "expert_refusal"], axis="columns")
    return answers.join(labels).reset_index()


class GapChanges(NamedTuple):
    """Changes of the gap between two arms in all specifications, and each prompt's influence."""

    estimate: np.ndarray
    standard_error: np.ndarray
    influence: np.ndarray


class GapDesign:
    """Which answers count in which specification, ready for any assignment of answers to arms.

    Parameters
    ----------
    answers : pandas.DataFrame
        One row per answer that the crowd rated: ``prompt_id``, ``task``, ``system``, ``arm``,
        ``n_ratings``, ``refusal`` (the crowd's majority in [0, 1]), one column per way to combine
        the crowd's marks, and ``expert`` and ``expert_refusal``, missing where no expert saw it.
    specified : pandas.DataFrame
        Specifications, see `gap_choices`.

    Raises
    ------
    ValueError
        If a label is missing, or no number.

    References
    ----------
    Hosking et al. (2024), section 3.2 and Figure 4; Särndal, Swensson and Wretman (1992), section
    5.6, for the linearisation of ratios.

    Examples
    --------
    >>> answers = pd.DataFrame({
    ...     "prompt_id": np.arange(80) // 4, "task": "wikihow", "system": ["a", "b"] * 40,
    ...     "arm": ["low", "low", "high", "high"] * 20, "n_ratings": 4, "refusal": 0.0,
    ...     "mean": [0.0, 0.5, 0.0, 0.5] * 20, "expert": [0.0, 0.0, 1.0, 1.0] * 20,
    ...     "expert_refusal": 0.0})
    >>> design = GapDesign(answers, gap_choices(answers, ["mean"])[0])
    >>> changes = design.changes(answers["arm"].to_numpy(), ("low", "high"))
    >>> np.unique(changes.estimate)
    array([-100.])
    """

    def __init__(self, answers: pd.DataFrame, specified: pd.DataFrame):
        rules = list(specified["labels"].unique())
        check_numeric(answers, ["n_ratings", "refusal", *rules])
        seen = answers["expert"].notna()
        check_numeric(answers[seen], ["expert", "expert_refusal"])
        check_clusters(answers, "prompt_id")
        self._prompt, prompts = pd.factorize(answers["prompt_id"], sort=True)
        self._shape = (len(prompts), len(answers))
        by_experts = specified.assign(labels="expert", crowd=CROWD[1])
        by_experts = by_experts.replace({"counted": {"marks": "answers"}})
        by_experts_refused = answers.assign(refusal=answers["expert_refusal"].fillna(0))
        self._crowd = _Side(answers, specified)
        self._experts = _Side(by_experts_refused, by_experts)
        self.n_expert_prompts = self._experts.n_prompts(self._member(np.arange(len(answers))))

    def changes(self, arm: np.ndarray, arms: tuple[str, str]) -> GapChanges:
        """Compute the change of the gap from one arm to another.

        Parameters
        ----------
        arm : numpy.ndarray of str, shape (n_answers,)
            The arm of each answer.
        arms : tuple of str
            The arm to subtract and the arm to subtract it from.

        Returns
        -------
        GapChanges
        """
        estimate, influence = 0.0, 0.0
        for label, direction in zip(arms, (-100.0, 100.0), strict=True):
            member = self._member(np.flatnonzero(arm == label))
            for side, sign in ((self._crowd, direction), (self._experts, -direction)):
                rate, part = side.rates(member)
                estimate, influence = estimate + sign * rate, influence + sign * part
        correction = self.n_expert_prompts / (self.n_expert_prompts - 1)
        error = np.sqrt(correction * (influence**2).sum(axis=0))
        return GapChanges(estimate, error, influence)

    def permuted(
        self, arm: np.ndarray, arms: tuple[str, str], orders: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Compute the change with arms dealt out anew among the answers.

        Parameters
        ----------
        arm, arms
            As for `changes`.
        orders : numpy.ndarray of int, shape (n_draws, n_answers)
            Which answer's arm each answer gets, see `specifications.permute_within`.

        Returns
        -------
        estimate, standard_error : numpy.ndarray, shape (n_draws, n_specifications)
        """
        draws = [self.changes(arm[order], arms)[:2] for order in orders]
        estimates, errors = zip(*draws, strict=True)
        return np.array(estimates), np.array(errors)

    def _member(self, rows: np.ndarray) -> csr_array:
        """Matrix that adds up some of the answers within prompts."""
        return csr_array((np.ones(len(rows)), (self._prompt[rows], rows)), shape=self._shape)


class _Side:
    """Labels and weights of one group of annotators, those of equal specifications once."""

    def __init__(self, answers: pd.DataFrame, specified: pd.DataFrame):
        needed = specified[["labels", "refusals", "crowd", "answers", "counted"]]
        self._which, distinct = pd.factorize(pd.MultiIndex.from_frame(needed))
        self._by_prompt = np.array([counted == "prompts" for *_, counted in distinct])
        parts = specifications.subsets(answers, ["task"], ["system"])
        for rule in REFUSAL_RULES:
            parts[rule] = answers.index.isin(drop_refusals(answers, rule).index)
        parts[CROWD[0]], parts[CROWD[1]] = True, answers["expert"].notna()
        parts = {name: rows.to_numpy() for name, rows in parts.items()}
        each = {"marks": answers["n_ratings"].to_numpy(), "answers": 1.0, "prompts": 1.0}
        weights = [
            (parts[refusals] & parts[crowd] & parts[part]) * each[counted]
            for _, refusals, crowd, part, counted in distinct
        ]
        self._weights = np.column_stack(weights)
        labels = answers[[labels for labels, *_ in distinct]].fillna(0.0)
        self._marked = self._weights * labels.to_numpy()

    def n_prompts(self, member: csr_array) -> np.ndarray:
        """Number of prompts with answers that count."""
        return (member @ self._weights > 0).sum(axis=0)[self._which]

    def rates(self, member: csr_array) -> tuple[np.ndarray, np.ndarray]:
        """Rates over some answers, and the influence of every prompt on them."""
        counts, sums = member @ self._weights, member @ self._marked
        there = counts > 0
        np.divide(sums, counts, out=sums, where=there & self._by_prompt)
        counts = np.where(self._by_prompt, there, counts)
        total = counts.sum(axis=0)
        rate = sums.sum(axis=0) / total
        return rate[self._which], ((sums - rate * counts) / total)[:, self._which]


def accuracy_choices(
    cells: pd.DataFrame, alone: Sequence[str], together: Sequence[str], correlations: Sequence
) -> pd.DataFrame:
    """Combine the choices of this analysis, all of which go together.

    Parameters
    ----------
    cells : pandas.DataFrame
        As for `accuracy_differences`.
    alone, together : sequence of str
        Methods that measure AI alone, and users with AI.
    correlations : sequence of float
        Correlations, over questions, of two accuracies on the same dataset.

    Returns
    -------
    pandas.DataFrame
        One row per specification.

    Examples
    --------
    >>> cells = pd.DataFrame({"model": ["x", "y"], "dataset": "math"})
    >>> len(accuracy_choices(cells, ["letter", "text"], ["direct", "answer first"], [0.0]))
    54
    """
    options = {
        "AI alone": alone,
        "users": [*together, BOTH],
        "dataset": [*cells["dataset"].unique(), EQUAL, SIZES],
        "model": [*cells["model"].unique(), BOTH],
        "correlation": correlations,
    }
    return specifications.cross(options)[0]


def accuracy_differences(
    cells: pd.DataFrame,
    specified: pd.DataFrame,
    together: Sequence[str],
    sizes: Mapping[str, int],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """User-AI minus AI-alone accuracy in all specifications.

    Parameters
    ----------
    cells : pandas.DataFrame
        One row per ``model``, ``dataset`` and ``method``; ``mean`` and ``se``.
    specified : pandas.DataFrame
        Result of `accuracy_choices`.
    together : sequence of str
        Methods that measure users with AI.
    sizes : mapping of str to int
        Number of questions in each dataset.

    Returns
    -------
    estimate, standard_error : numpy.ndarray, shape (n_specifications,)
        Percentage points. All errors of accuracies on the same dataset have the correlation of
        the specification; those on different datasets are independent.
    weights : numpy.ndarray, shape (n_specifications, n_cells)
        What each accuracy, in percentage points, adds to each estimate.

    Raises
    ------
    ValueError
        If an accuracy or a standard error is missing, or a specification finds no accuracies.

    References
    ----------
    Chang et al. (2025), section 4 and appendix B.2; Miller (2024), Adding Error Bars to Evals.

    Examples
    --------
    >>> cells = pd.DataFrame({"model": "x", "dataset": "math", "method": ["letter", "direct"],
    ...                       "mean": [0.7, 0.9], "se": [0.03, 0.04]})
    >>> specified = accuracy_choices(cells, ["letter"], ["direct"], [0.0])
    >>> estimate, error, _ = accuracy_differences(cells, specified, ["direct"], {"math": 90})
    >>> float(estimate[0].round(6)), float(error[0].round(6))
    (20.0, 5.0)
    """
    check_numeric(cells, ["mean", "se"])
    datasets = cells["dataset"].unique()
    size = {name: {name: 1.0} for name in datasets}
    size |= {EQUAL: dict.fromkeys(datasets, 1.0), SIZES: dict(sizes)}
    weights = np.zeros((len(specified), len(cells)))
    for row, choice in enumerate(specified.rename(columns={"AI alone": "alone"}).itertuples()):
        share = cells["dataset"].map(size[choice.dataset]).fillna(0.0)
        if choice.model != BOTH:
            share = share * (cells["model"] == choice.model)
        users = list(together) if choice.users == BOTH else [choice.users]
        for methods, sign in ((users, 1), ([choice.alone], -1)):
            chosen = share * cells["method"].isin(methods)
            if chosen.sum() == 0:
                raise ValueError(f"no accuracy of {methods[0]!r} with model {choice.model!r}")
            weights[row] += (sign * chosen / chosen.sum()).to_numpy()
    error = weights * cells["se"].to_numpy()
    shared = error @ pd.get_dummies(cells["dataset"], dtype=float).to_numpy()
    correlation = specified["correlation"].to_numpy(dtype=float)
    own = (1 - correlation) * (error**2).sum(axis=1)
    variance = own + correlation * (shared**2).sum(axis=1)
    return 100 * weights @ cells["mean"].to_numpy(), 100 * np.sqrt(variance), weights


def null_draws(
    cells: pd.DataFrame, weights: np.ndarray, n_draws: int, rng: np.random.Generator
) -> np.ndarray:
    """Curves that sampling error alone brings about if users with AI do as well as AI alone.

    Errors of different accuracies are drawn independently. If they are positively correlated, as
    they may be on the same questions, true curves without an effect lie closer to zero.

    Parameters
    ----------
    cells : pandas.DataFrame
        As for `accuracy_differences`.
    weights : numpy.ndarray, shape (n_specifications, n_cells)
        From `accuracy_differences`.
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
