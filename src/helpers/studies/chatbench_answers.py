"""What the single answers of ChatBench say about the sentences of its paper.

The answers are public, but not in this project's data (`data/unpinned.csv` has their
addresses). With them, the functions here give a result for each claim that needs them;
with simulated ones, they show how it is computed.

References
----------
Chang, Anderson and Hofman (2025), ChatBench: From Static Benchmarks to Human-AI
Evaluation, sections 3.3, 4.2 and 4.3, appendices A.2, B.1 to B.4.
"""

from itertools import pairwise

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression

from helpers.data.columns.chatbench import CONFIDENCES
from helpers.stats import accuracy, leave_out
from helpers.stats.groups import group_contrasts, group_mean_draws
from helpers.studies.chatbench import (
    AI_METHODS,
    DATASETS,
    MODELS,
    N_QUESTIONS,
    SUBJECTS,
    ChatBench,
)

CLUSTERS = ["rater_id", "question_id"]
SHORT_NAMES = dict(zip(MODELS, ("gpt4o", "llama"), strict=True))
FREE_TEXT = AI_METHODS[-1]
N_CEILING = 100  # draws behind the ceiling of a correlation, as in the paper
N_TRIES = 50  # answers to a question by a model alone, as planned
# of the 95 % point of chi-square with 2 degrees of freedom
LARGEST_CHI_SQUARE = 5.99
# printed order of the datasets, from the most to the least confident users
CONFIDENT = (
    "Moral Scenarios",
    "Elementary Math",
    "Conceptual Physics",
    "High School Math",
    "College Math",
)


def statements(
    study: ChatBench, min_answers: int, n_boot: int, seed: int
) -> dict[str, object]:
    """Compute results that need the answers of single users to single questions.

    Parameters
    ----------
    study : ChatBench
        The answers.
    min_answers : int
        Answers with AI that a question needs to be compared with the model alone.
    n_boot : int
        Bootstrap resamples of users.
    seed : int
        Of the random numbers.

    Returns
    -------
    dict
        For `claims.rows("chatbench", ...)`. Intervals leave out users and questions,
        one at a time; those of correlations over questions leave out questions.

    Examples
    --------
    >>> from helpers.studies import chatbench
    >>> study = chatbench.load("simulated")
    >>> found = statements(study, min_answers=5, n_boot=20, seed=0)
    >>> list(found["transitions.more_help"])
    ['shares', 'numbers of answers']
    """
    rng = np.random.default_rng(seed)
    return {
        **_design(study),
        **_by_question(study, rng),
        **_above_and_below(study, min_answers),
        **_transitions(study.answers),
        **_confidence(study.answers, n_boot, rng),
    }


def _design(study: ChatBench) -> dict[str, object]:
    """Numbers of answers by models alone, and the shares of subjects."""
    n_answers = study.ai_alone["n_answers"]
    n_cells = len(MODELS) * len(AI_METHODS) * N_QUESTIONS.sum()
    of_users = study.answers.drop_duplicates("rater_id")["dataset"].map(SUBJECTS)
    counted = of_users.value_counts()
    probabilities = pd.Series({"mathematics": 0.6, "physics": 0.2, "morals": 0.2})
    expected = probabilities * counted.sum()
    chi_square = ((counted - expected) ** 2 / expected).sum()
    return {
        "counts.ai_alone_answers": n_answers.sum(),
        "counts.fifty_tries": 100 * (n_answers >= N_TRIES).sum() / n_cells,
        "design.subject_shares": chi_square < LARGEST_CHI_SQUARE,
    }


def _by_question(study: ChatBench, rng: np.random.Generator) -> dict[str, object]:
    """Correlations over questions, and how far they lie below their ceiling."""
    below = {}
    fitted = {}
    for condition, table in study.by_question().groupby("condition", sort=False):
        ceiling = accuracy.binomial_ceiling(
            table["free_text"], table["n_answers"], N_CEILING, rng
        )
        r = leave_out.fisher_table(
            leave_out.leave_out(
                table[["free_text", "user_ai"]].to_numpy(),
                table[["question_id"]],
                leave_out.correlations(pd.Index(["free text"])),
            )
        ).iloc[0]
        below[f"{condition}, lowest draw less the correlation:"] = {
            "estimate": ceiling.min() - r["estimate"],
            "low": ceiling.min() - r["high"],
            "high": ceiling.min() - r["low"],
        }
        x = table[["free_text", "alone"]].to_numpy()
        predicted = LinearRegression().fit(x, table["user_ai"]).predict(x)
        fitted[condition] = np.corrcoef(predicted, table["user_ai"])[0, 1]
    return {
        "questions.r_below_bound": pd.DataFrame(below).T,
        "questions.linear_r_answer_first": fitted["answer first"],
        "questions.linear_r_direct": fitted["direct to AI"],
    }


def _above_and_below(study: ChatBench, min_answers: int) -> dict[str, float]:
    """Questions that users answer better or worse, and answers that users spoil."""
    points = study.by_question()
    points["right"] = points["user_ai"] * points["n_answers"]
    keys = ["model", "question_id", "free_text"]
    totals = points.groupby(keys)[["right", "n_answers"]].sum().reset_index()
    totals = totals[totals["n_answers"] >= min_answers]
    difference = totals["right"] / totals["n_answers"] - totals["free_text"]
    in_free_text = study.ai_alone[study.ai_alone["method"] == FREE_TEXT]
    perfect = in_free_text.loc[in_free_text["accuracy"] == 1, keys[:2]]
    with_model = study.answers[study.answers["answer_type"] == "user-AI"]
    wrong = with_model[with_model["correct"] == 0]
    spoiled = wrong.merge(perfect)["model"].value_counts()
    found = {}
    for model, name in SHORT_NAMES.items():
        of_model = difference[totals["model"] == model]
        # equal but for a rounding error is equal
        found[f"questions.{name}_lower"] = 100 * (of_model < -1e-9).mean()
        found[f"questions.{name}_higher"] = 100 * (of_model > 1e-9).mean()
        found[f"conversations.{name}_spoiled"] = spoiled.get(model, 0)
    return found


def _transitions(answers: pd.DataFrame) -> dict[str, object]:
    """Answers that change between a user alone and the same user with AI."""
    both = answers[(answers["condition"] == "answer first") & (answers["phase"] == 2)]
    pairs = both.pivot(
        index=[*CLUSTERS, "model"], columns="answer_type", values="correct"
    )
    pairs = pairs.dropna().reset_index()
    pairs["changed"] = 100.0 * (pairs["user-AI"] != pairs["user-alone"])
    pairs["gained"] = 100.0 * (pairs["user-AI"] - pairs["user-alone"])
    # wrong answers that are corrected minus right ones that are spoiled
    shares = pd.DataFrame({0.0: [1], 1.0: [-1]}, index=["difference"])
    shares = group_contrasts(pairs, ["changed"], "user-alone", shares, CLUSTERS)
    everybody = pairs.assign(group="all")
    mean = pd.DataFrame({"all": [1]}, index=["mean"])
    gained = group_contrasts(everybody, ["gained"], "group", mean, CLUSTERS)
    changed = pairs.groupby("user-alone")["changed"].mean()
    return {
        "transitions.more_help": {
            "shares": shares.iloc[0],
            "numbers of answers": gained.iloc[0],
        },
        "transitions.corrected": changed[0.0],
        "transitions.spoiled": changed[1.0],
    }


def _confidence(
    answers: pd.DataFrame, n_boot: int, rng: np.random.Generator
) -> dict[str, object]:
    """Whether users are right more often where they are more confident."""
    alone = answers[answers["answer_type"] == "user-alone"].dropna(subset="confidence")
    cell = alone["dataset"] + ", " + alone["confidence"]
    alone = alone.assign(correct=100 * alone["correct"], cell=cell)
    steps = [
        (f"{name}, {upper}", f"{name}, {lower}")
        for name in DATASETS
        for lower, upper in pairwise(CONFIDENCES)
    ]
    _, somewhat, very = CONFIDENCES
    steps.append((f"Conceptual Physics, {very}", f"Elementary Math, {somewhat}"))
    cells = sorted(alone["cell"].unique())
    weights = pd.DataFrame(0.0, index=range(len(steps)), columns=cells)
    for number, (first, second) in enumerate(steps):
        weights.loc[number, first] = 1
        weights.loc[number, second] = -1
    weights.index = [f"{first}, less {second}" for first, second in steps]
    gained = group_contrasts(alone, ["correct"], "cell", weights, CLUSTERS)
    gained = gained.droplevel("column")[["estimate", "low", "high"]]
    return {
        "confidence.order": {"share": _in_printed_order(answers, n_boot, rng)},
        "confidence.within": gained.iloc[:-1],
        "confidence.across": gained.iloc[-1],
    }


def _in_printed_order(
    answers: pd.DataFrame, n_boot: int, rng: np.random.Generator
) -> float:
    """Share of resamples of users in which datasets are in the printed order."""
    levels = {step: level for level, step in enumerate(CONFIDENCES)}
    once = answers.drop_duplicates(CLUSTERS)
    once = once.assign(level=once["confidence"].map(levels))
    _, draws = group_mean_draws(once, ["level"], "dataset", "rater_id", n_boot, rng)
    falls = draws["level"][list(CONFIDENT)].diff(axis="columns").iloc[:, 1:] < 0
    return falls.all(axis="columns").mean()
