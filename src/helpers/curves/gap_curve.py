"""How many more errors a crowd misses in one arm than in another, under every way to compute it.

The gap is the crowd's error rate minus the experts'. Its change from one arm to another says
whether the arm hides errors from the crowd. All numbers are percentage points.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from helpers import combining
from helpers.curves import specifications
from helpers.files.tables import check_clusters, check_numeric
from helpers.stats.moments import cluster_sums
from helpers.stats.rates import REFUSAL_RULES, drop_refusals

COUNTED = ("marks", "answers", "prompts")
CROWD = ("all answers", "answers that experts saw")


def choices(answers: pd.DataFrame, rules: Sequence[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
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
    >>> possible, left_out = choices(answers, ["mean", "mode"])
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
        One row per output for `GapDesign`, with a column for each of `helpers.combining.RULES`.
    """
    design = ["prompt_id", "task", "system", "arm", "n_ratings", "refusal"]
    answers = outputs.set_index("item_id").sort_index()[design]
    for rule in combining.RULES:
        combined = combining.combine(single, [error], rule, "item_id", "rater_id")
        answers = answers.join(combined[error].rename(rule))
    labels = experts.set_index("item_id")[[error, "refusal"]]
    labels = labels.set_axis(["expert", "expert_refusal"], axis="columns")
    return answers.join(labels).reset_index()


@dataclass(frozen=True, eq=False)
class GapChanges:
    """Changes of the gap between two arms in all specifications.

    Parameters
    ----------
    estimate, standard_error : numpy.ndarray, shape (n_specifications,)
        Percentage points, with errors that allow for answers sharing a prompt.
    influence : numpy.ndarray, shape (n_prompts, n_specifications)
        What each prompt adds to the error of each estimate, to first order.
    """

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
        Specifications, see `choices`.

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
    >>> design = GapDesign(answers, choices(answers, ["mean"])[0])
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
        codes, prompts = pd.factorize(answers["prompt_id"], sort=True)
        self._order = np.argsort(codes, kind="stable")
        answers = answers.assign(prompt=codes).iloc[self._order]
        self._seen = answers["expert"].notna().to_numpy()
        self._n_prompts = len(prompts)
        by_experts = specified.assign(labels="expert", crowd=CROWD[1]).replace(
            {"counted": {"marks": "answers"}}
        )
        labelled = answers[self._seen].assign(refusal=answers["expert_refusal"])
        self._crowd = _Side(answers, specified)
        self._experts = _Side(labelled, by_experts)

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
        arm = arm[self._order]
        estimate, influence = 0.0, np.zeros((self._n_prompts, len(self.n_expert_prompts)))
        sides = ((self._crowd, arm, 100.0), (self._experts, arm[self._seen], -100.0))
        for side, given, sign in sides:
            for label, direction in zip(arms, (-sign, sign), strict=True):
                rate, prompts, part = side.rates(given == label)
                estimate = estimate + direction * rate
                influence[prompts] += direction * part
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
        draws = [self.changes(arm[order], arms) for order in orders]
        estimates = np.array([draw.estimate for draw in draws])
        return estimates, np.array([draw.standard_error for draw in draws])

    @property
    def n_expert_prompts(self) -> np.ndarray:
        """Number of prompts with experts' labels in each specification."""
        return self._experts.n_prompts


class _Side:
    """Labels and weights of one group of annotators, those of equal specifications once."""

    def __init__(self, answers: pd.DataFrame, specified: pd.DataFrame):
        self._by_prompt = (specified["counted"] == "prompts").to_numpy()
        self._prompt = answers["prompt"].to_numpy()
        marks = (specified["counted"] == "marks").rename("marks")
        needed = specified[["labels", "refusals", "crowd", "answers"]].join(marks)
        self._which, distinct = pd.factorize(pd.MultiIndex.from_frame(needed))
        parts = specifications.subsets(answers, ["task"], ["system"])
        for rule in REFUSAL_RULES:
            parts[rule] = answers.index.isin(drop_refusals(answers, rule).index)
        weights = [_weights(answers, parts, choice) for choice in distinct]
        labels = [answers[labels].to_numpy() for labels, *_ in distinct]
        self._weights = np.column_stack(weights).astype(float)
        self._marked = self._weights * np.column_stack(labels)
        present = cluster_sums(self._weights, self._prompt) > 0
        self.n_prompts = present.sum(axis=0)[self._which]

    def rates(self, in_arm: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rates in one arm, the prompts in it, and their influence on every rate."""
        prompts = self._prompt[in_arm]
        starts = np.flatnonzero(np.append(True, prompts[1:] != prompts[:-1]))
        counts = np.add.reduceat(self._weights[in_arm], starts)[:, self._which]
        sums = np.add.reduceat(self._marked[in_arm], starts)[:, self._which]
        there = counts[:, self._by_prompt] > 0
        sums[:, self._by_prompt] /= np.where(there, counts[:, self._by_prompt], 1.0)
        counts[:, self._by_prompt] = there
        total = counts.sum(axis=0)
        rate = sums.sum(axis=0) / total
        return rate, prompts[starts], (sums - rate * counts) / total


def _weights(
    answers: pd.DataFrame, parts: pd.DataFrame, choice: tuple[str, str, str, str, bool]
) -> np.ndarray:
    """Weight of each answer in one specification; zero if it does not count."""
    _, refusals, crowd, part, marks = choice
    counted = parts[refusals] & parts[part]
    if crowd == CROWD[1]:
        counted &= answers["expert"].notna()
    return (counted * (answers["n_ratings"] if marks else 1)).to_numpy()
