"""How the gap between a crowd and experts changes between arms, in many specifications.

The gap is the crowd's rate of marked errors minus the experts', on answers that both
judged or, as a paper computed it, on different answers. The specifications differ in
how the crowd's marks are combined, in what counts the same (marks, answers or prompts),
in refusals, and in which answers count.

References
----------
Hosking et al. (2024), section 3.2 and Figure 4; Simonsohn, Simmons and Nelson (2020).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from helpers.robustness import crowd, specifications
from helpers.stats.rates import REFUSAL_RULES, drop_refusals

MARKS = "marks"
ANSWERS = "answers"
PROMPTS = "prompts"
COUNTED = (MARKS, ANSWERS, PROMPTS)  # what counts the same
DIFFERENT = "different answers"
IN_COMMON = "answers in common"
CROWD = (DIFFERENT, IN_COMMON)  # of the crowd and of the experts


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
    >>> len(possible)
    120
    >>> left_out["reason"].unique().tolist()
    ['every mark counts the same: the mean is the only way to combine them']
    """
    options = {
        "labels": rules,
        "counted": COUNTED,
        "refusals": REFUSAL_RULES,
        "crowd": CROWD,
        "answers": list(specifications.subsets(answers, ["task"], ["system"])),
    }
    not_means = [rule for rule in rules if rule != "mean"]
    impossible = {
        "every mark counts the same: the mean is the only way to combine them": {
            "labels": not_means,
            "counted": [MARKS],
        }
    }
    return specifications.cross(options, impossible)


def rated_answers(
    outputs: pd.DataFrame, single: pd.DataFrame, experts: pd.DataFrame, error: str
) -> pd.DataFrame:
    """Put the crowd's marks of an error, combined in every way, beside experts' labels.

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
    for rule in crowd.RULES:
        answers[rule] = crowd.combine(single, [error], rule)[error]
    labels = experts.set_index("item_id")[[error, "refusal"]]
    labels = labels.set_axis(["expert", "expert_refusal"], axis="columns")
    return answers.join(labels).reset_index()


class GapDesign:
    """Which answers count in each specification, for any assignment of answers to arms.

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
    ...     "prompt_id": np.arange(80) // 4,
    ...     "task": "wikihow",
    ...     "system": ["a", "b"] * 40,
    ...     "arm": ["low", "low", "high", "high"] * 20,
    ...     "n_ratings": 4,
    ...     "refusal": 0.0,
    ...     "mean": [0.0, 0.5, 0.0, 0.5] * 20,
    ...     "expert": [0.0, 0.0, 1.0, 1.0] * 20,
    ...     "expert_refusal": 0.0,
    ... })
    >>> possible, _ = gap_choices(answers, ["mean"])
    >>> design = GapDesign(answers, possible)
    >>> estimate, *_ = design.changes(answers["arm"].to_numpy(), ("low", "high"))
    >>> np.unique(estimate)
    array([-100.])
    """

    def __init__(self, answers: pd.DataFrame, specified: pd.DataFrame):
        self._prompt, prompts = pd.factorize(answers["prompt_id"], sort=True)
        self._shape = (len(prompts), len(answers))
        counts_for_crowd, counts_for_experts = _answers_that_count(answers)
        # Experts label an answer once. On different answers each counts the same; on
        # answers in common both sides have the weights of the crowd's marks.
        by_mark = specified["counted"] == MARKS
        different = specified["crowd"] == DIFFERENT
        expert_specified = specified.assign(
            labels="expert",
            counted=specified["counted"].mask(by_mark & different, ANSWERS),
        )
        self._crowd = _Side(answers, specified, counts_for_crowd)
        self._experts = _Side(answers, expert_specified, counts_for_experts)
        all_answers = self._sums_by_prompt(np.arange(len(answers)))
        self.n_expert_prompts = self._experts.n_prompts(all_answers)

    def changes(
        self, arm: np.ndarray, arms: tuple[str, str]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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
        before = self._sums_by_prompt(np.flatnonzero(arm == arms[0]))
        after = self._sums_by_prompt(np.flatnonzero(arm == arms[1]))
        crowd_before = self._crowd.rates(before)
        crowd_after = self._crowd.rates(after)
        experts_before = self._experts.rates(before)
        experts_after = self._experts.rates(after)

        estimate = (
            -100 * crowd_before.rate
            + 100 * experts_before.rate
            + 100 * crowd_after.rate
            - 100 * experts_after.rate
        )
        crowd_influence = crowd_after.influence - crowd_before.influence
        experts_influence = experts_after.influence - experts_before.influence
        influence = 100 * (crowd_influence - experts_influence)
        # There are fewer prompts with experts' labels than with the crowd's.
        correction = self.n_expert_prompts / (self.n_expert_prompts - 1)
        sum_of_squares = np.einsum("ps,ps->s", influence, influence)
        standard_error = np.sqrt(correction * sum_of_squares)
        return estimate, standard_error, influence

    def permuted(
        self, arm: np.ndarray, arms: tuple[str, str], orders: np.ndarray
    ) -> np.ndarray:
        """Compute the change with arms permuted among the answers.

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
        estimates = []
        standard_errors = []
        for order in orders:
            estimate, standard_error, _ = self.changes(arm[order], arms)
            estimates.append(estimate)
            standard_errors.append(standard_error)
        return np.array([estimates, standard_errors])

    def _sums_by_prompt(self, rows: np.ndarray) -> csr_array:
        """Matrix that adds up some of the answers within prompts."""
        ones = np.ones(len(rows))
        return csr_array((ones, (self._prompt[rows], rows)), shape=self._shape)


def _answers_that_count(answers: pd.DataFrame) -> tuple[dict, dict]:
    """Answers that count for crowd and for experts, by refusal rule and `CROWD`."""
    labelled = answers["expert"].notna().to_numpy()
    refused_by_experts = answers.assign(refusal=answers["expert_refusal"])
    for_crowd = {}
    for_experts = {}
    for rule in REFUSAL_RULES:
        stay = drop_refusals(answers, rule).index
        stay_by_experts = drop_refusals(refused_by_experts, rule).index
        of_crowd = answers.index.isin(stay)
        of_experts = answers.index.isin(stay_by_experts) & labelled
        for_crowd[rule, DIFFERENT] = of_crowd
        for_experts[rule, DIFFERENT] = of_experts
        for_crowd[rule, IN_COMMON] = of_crowd & of_experts
        for_experts[rule, IN_COMMON] = of_crowd & of_experts
    return for_crowd, for_experts


class _Rates(NamedTuple):
    """Rates in each specification, and every prompt's influence on them."""

    rate: np.ndarray
    influence: np.ndarray


class _Side:
    """Labels and weights of one group of annotators.

    Specifications that differ only in what does not concern this group share a column
    of weights, which is computed once.
    """

    def __init__(self, answers: pd.DataFrame, specified: pd.DataFrame, counts: dict):
        choices = specified[["labels", "refusals", "crowd", "answers", "counted"]]
        distinct = choices.drop_duplicates()
        column_of = pd.MultiIndex.from_frame(distinct)
        self._column = column_of.get_indexer(pd.MultiIndex.from_frame(choices))
        self._by_prompt = (distinct["counted"] == PROMPTS).to_numpy()

        parts = specifications.subsets(answers, ["task"], ["system"])
        n_marks = answers["n_ratings"].to_numpy()
        weights = []
        for choice in distinct.itertuples():
            counted = counts[choice.refusals, choice.crowd]
            counted = counted & parts[choice.answers].to_numpy()
            weight = n_marks if choice.counted == MARKS else 1.0
            weights.append(counted * weight)
        self._weights = np.column_stack(weights)
        labels = answers[distinct["labels"].to_list()].fillna(0.0)
        self._marked = self._weights * labels.to_numpy()

    def n_prompts(self, sums_by_prompt: csr_array) -> np.ndarray:
        """Number of prompts with answers that count."""
        has_answers = sums_by_prompt @ self._weights > 0
        return has_answers.sum(axis=0)[self._column]

    def rates(self, sums_by_prompt: csr_array) -> _Rates:
        """Rates over some answers, and every prompt's influence on them."""
        count = sums_by_prompt @ self._weights
        marked = sums_by_prompt @ self._marked
        # Where prompts count the same, a prompt counts one and its rate is its mean.
        same = self._by_prompt
        marked[:, same] /= np.maximum(count[:, same], 1)
        count[:, same] = count[:, same] > 0
        total = count.sum(axis=0)
        rate = marked.sum(axis=0) / total
        influence = (marked - rate * count) / total
        return _Rates(rate[self._column], influence[:, self._column])
