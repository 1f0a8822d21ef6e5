"""Simulated answers of ChatBench (Chang et al., 2025).

The model, with a known truth, the numbers of `ChatBenchTruth`:

1. A question has one chance of being answered correctly for each model and way of
   answering. Over the questions of a dataset these chances follow a beta distribution
   with the printed mean and the variance behind the printed standard error. What makes
   a question hard in one way makes it hard in others, in so far as both depend on a
   common difficulty.
2. A user gets one subject, batch, model and condition. Phase 1 has three questions and
   an attention check, phase 2 has nine. In mathematics, phase 1 has one question of
   each dataset, as the printed counts show.
3. Users differ in ability, which leaves the average chance of a question unchanged. Who
   answers first keeps part of the luck of the first answer when answering again with
   the model.
4. Confidence depends on the dataset and on the user's own chance.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from helpers.data.columns.chatbench import (
    AI_METHODS,
    ATTENTION_CHECK,
    CHAT_CONDITIONS,
    CHAT_DATASETS,
    CHAT_MODELS,
    CONFIDENCES,
)
from helpers.simulate import says_so

# number of batches by subject, and each batch's number of questions by dataset
BATCHES = {
    "mathematics": (
        19,
        {"Elementary Math": 5, "High School Math": 5, "College Math": 2},
    ),
    "physics": (7, {"Conceptual Physics": 12}),
    "morals": (7, {"Moral Scenarios": 12}),
}
SUBJECT_SHARES = {"mathematics": 0.6, "physics": 0.2, "morals": 0.2}
IN_PHASE_1 = dict(zip(CHAT_DATASETS, (1, 1, 1, 3, 3), strict=True))
USER_ALONE = "User alone"
ANY_MODEL = "any model"

N_TRIES = 50  # of a model alone
# correlation of a question's chances by each method with its common difficulty
COMMON_LOADINGS = {
    **dict(zip(AI_METHODS, (0.4, 0.4, 0.7), strict=True)),
    **dict.fromkeys(CHAT_CONDITIONS, 0.85),
    USER_ALONE: 0.7,
}
CONFIDENCE = dict(zip(CHAT_DATASETS, (0.4, -0.4, -0.9, 0.0, 0.8), strict=True))
INSIGHT = 0.4  # confidence for one standard deviation of the own chance
PASS_RATE = 0.995  # of attention checks


@dataclass(frozen=True)
class ChatBenchTruth:
    """Numbers behind a simulated study. Those without a source were chosen by eye."""

    means: Mapping[tuple[str, str, str], float]
    ses: Mapping[tuple[str, str, str], float]
    n_users: int = 650
    ability_sd: float = 0.4
    kept_luck: float = 0.6


@says_so
def chatbench(
    rng: np.random.Generator, truth: ChatBenchTruth
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Simulate the answers of users, and the accuracy of the models alone."""
    questions = _questions()
    chances = _chances(rng, questions, truth)
    answers = _answers(rng, questions, chances, truth)
    ai_alone = _ai_alone(rng, questions, chances)
    return answers, ai_alone


def _questions() -> pd.DataFrame:
    """List the questions of each batch."""
    rows = []
    for subject, (n_batches, sizes) in BATCHES.items():
        for batch in range(n_batches):
            for dataset, size in sizes.items():
                rows += [(subject, batch, dataset)] * size
    table = pd.DataFrame(rows, columns=["subject", "batch", "dataset"])
    names = [f"simulated-question-{number:03}" for number in range(1, len(table) + 1)]
    return table.assign(question_id=names)


def between_variance(
    mean: float, se: float, n_questions: int, n_answers: float
) -> float:
    """Variance of questions' true accuracies that a printed standard error implies."""
    largest = mean * (1 - mean)
    # solved for the variance: n_questions * se² is the variance of observed accuracies,
    # and this is variance + (largest - variance) / n_answers, as chance adds the latter
    variance = (n_questions * se**2 - largest / n_answers) / (1 - 1 / n_answers)
    return float(np.clip(variance, 0.02 * largest, 0.95 * largest))


def _chances(
    rng: np.random.Generator, questions: pd.DataFrame, truth: ChatBenchTruth
) -> pd.DataFrame:
    """Draw the chance of each question, in columns of (model, method)."""
    common = rng.normal(size=len(questions))
    keys = [
        (model, method)
        for model in CHAT_MODELS
        for method in COMMON_LOADINGS
        if method != USER_ALONE
    ]
    keys.append((ANY_MODEL, USER_ALONE))
    chances = {}
    for model, method in keys:
        shapes = pd.DataFrame(
            {
                dataset: _shape(dataset, model, method, truth)
                for dataset in CHAT_DATASETS
            }
        )
        a, b = shapes[questions["dataset"]].to_numpy()
        # ranks of the questions, partly common to all methods; then their chances
        loading = COMMON_LOADINGS[method]
        noise = rng.normal(size=len(questions))
        rank = stats.norm.cdf(loading * common + np.sqrt(1 - loading**2) * noise)
        chances[model, method] = stats.beta.ppf(rank, a, b)
    return pd.DataFrame(chances).set_index(questions["question_id"])


def _shape(
    dataset: str, model: str, method: str, truth: ChatBenchTruth
) -> tuple[float, float]:
    """Parameters of the beta distribution of chances over a dataset's questions."""
    models = CHAT_MODELS if model == ANY_MODEL else (model,)
    mean = np.mean([truth.means[each, dataset, method] for each in models])
    se = np.mean([truth.ses[each, dataset, method] for each in models])
    n_batches, sizes = BATCHES[_subject_of(dataset)]
    n_questions = n_batches * sizes[dataset]
    n_answers = _answers_per_question(dataset, method, truth)
    variance = between_variance(mean, se, n_questions, n_answers)
    total = mean * (1 - mean) / variance - 1
    return mean * total, (1 - mean) * total


def _subject_of(dataset: str) -> str:
    """Subject that a dataset belongs to."""
    for subject, (_, sizes) in BATCHES.items():
        if dataset in sizes:
            return subject
    raise KeyError(dataset)


def _answers_per_question(dataset: str, method: str, truth: ChatBenchTruth) -> float:
    """Expected number of answers to a question by one method, with one model."""
    if method in AI_METHODS:
        return N_TRIES
    subject = _subject_of(dataset)
    n_batches, sizes = BATCHES[subject]
    n_cells = n_batches * len(CHAT_MODELS) * len(CHAT_CONDITIONS)
    users = truth.n_users * SUBJECT_SHARES[subject] / n_cells
    in_phase_1 = IN_PHASE_1[dataset] / sizes[dataset]
    if method == USER_ALONE:
        # both conditions in phase 1, in phase 2 only those who answer first
        return users * (1 + in_phase_1)
    return users * (1 - in_phase_1)


def _ai_alone(
    rng: np.random.Generator, questions: pd.DataFrame, chances: pd.DataFrame
) -> pd.DataFrame:
    """Let the models answer alone."""
    tables = []
    for model in CHAT_MODELS:
        for method in AI_METHODS:
            n_right = rng.binomial(N_TRIES, chances[model, method])
            table = questions[["question_id", "dataset"]].assign(
                model=model,
                method=method,
                n_answers=N_TRIES,
                accuracy=n_right / N_TRIES,
            )
            tables.append(table)
    return pd.concat(tables, ignore_index=True)


def _answers(
    rng: np.random.Generator,
    questions: pd.DataFrame,
    chances: pd.DataFrame,
    truth: ChatBenchTruth,
) -> pd.DataFrame:
    """Let users answer, first alone and then with AI where they do both."""
    tasks = _tasks(rng, questions, truth)
    answers_first = tasks["condition"] == "answer first"

    # an answer is right where its luck, a standard normal value, is below a threshold
    luck_alone = rng.normal(size=len(tasks))
    chance_alone = chances[ANY_MODEL, USER_ALONE][tasks["question_id"]]
    threshold_alone = _threshold(chance_alone, tasks, truth)
    right_alone = (luck_alone < threshold_alone).astype(float)

    # who has answered before keeps part of that luck: both kinds of luck correlate
    correlation = np.where(answers_first, truth.kept_luck, 0.0)
    new_luck = rng.normal(size=len(tasks))
    luck_with_ai = correlation * luck_alone + np.sqrt(1 - correlation**2) * new_luck
    columns = pd.MultiIndex.from_frame(tasks[["model", "condition"]])
    row = chances.index.get_indexer(tasks["question_id"])
    column = chances.columns.get_indexer(columns)
    chance_with_ai = chances.to_numpy()[row, column]
    threshold_with_ai = _threshold(chance_with_ai, tasks, truth)
    right_with_ai = (luck_with_ai < threshold_with_ai).astype(float)

    tasks["confidence"] = _confidence(rng, tasks, threshold_alone)
    alone = tasks.assign(answer_type="user-alone", correct=right_alone)
    with_ai = tasks.assign(answer_type="user-AI", correct=right_with_ai)
    tables = [
        alone[(tasks["phase"] == 1) | answers_first],
        with_ai[tasks["phase"] == 2],
        _attention_checks(rng, tasks),
    ]
    return pd.concat(tables, ignore_index=True).drop(columns=["subject", "ability"])


def _tasks(
    rng: np.random.Generator, questions: pd.DataFrame, truth: ChatBenchTruth
) -> pd.DataFrame:
    """Assign users to batches, models and conditions, and their questions to phases."""
    n_users = truth.n_users
    subjects = list(SUBJECT_SHARES)
    subject = rng.choice(len(subjects), n_users, p=list(SUBJECT_SHARES.values()))
    n_batches = np.array([BATCHES[name][0] for name in subjects])[subject]
    users = pd.DataFrame(
        {
            "rater_id": [f"simulated-rater-{n:03}" for n in range(1, n_users + 1)],
            "subject": np.array(subjects)[subject],
            "batch": rng.integers(n_batches),
            "model": rng.choice(CHAT_MODELS, n_users),
            "condition": rng.choice(CHAT_CONDITIONS, n_users),
            "ability": rng.normal(0, truth.ability_sd, n_users),
        }
    )
    tasks = users.merge(questions, on=["subject", "batch"]).drop(columns="batch")
    # in random order, a user's first questions of each dataset belong to phase 1
    tasks["order"] = rng.random(len(tasks))
    rank = tasks.groupby(["rater_id", "dataset"])["order"].rank()
    phase = np.where(rank <= tasks["dataset"].map(IN_PHASE_1), 1, 2)
    return tasks.drop(columns="order").assign(phase=phase)


def _threshold(
    chance: np.ndarray, tasks: pd.DataFrame, truth: ChatBenchTruth
) -> np.ndarray:
    """Luck below which an answer is right; over users it has the question's chance."""
    quantile = stats.norm.ppf(np.asarray(chance))
    # luck less ability has this standard deviation
    sd = np.sqrt(1 + truth.ability_sd**2)
    return quantile * sd + tasks["ability"].to_numpy()


def _confidence(
    rng: np.random.Generator, tasks: pd.DataFrame, threshold_alone: np.ndarray
) -> np.ndarray:
    """Put confidence on its scale of three steps."""
    own = np.clip(threshold_alone, -3, 3)
    opinion = tasks["dataset"].map(CONFIDENCE) + INSIGHT * own
    opinion = opinion + rng.normal(size=len(tasks))
    return np.array(CONFIDENCES)[np.digitize(opinion, [-0.5, 0.8])]


def _attention_checks(rng: np.random.Generator, tasks: pd.DataFrame) -> pd.DataFrame:
    """Give every user an easy question of phase 1, to be answered alone."""
    users = tasks.drop_duplicates("rater_id")
    passed = rng.random(len(users)) < PASS_RATE
    return users.assign(
        phase=1,
        answer_type="user-alone",
        dataset=ATTENTION_CHECK,
        question_id="simulated-attention-check",
        confidence=CONFIDENCES[-1],
        correct=passed.astype(float),
    )
