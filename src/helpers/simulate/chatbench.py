"""Simulated answers and conversations of ChatBench (Chang et al., 2025), with a known truth.

The model, with the numbers of `ChatBenchTruth`:

1. A question has one chance of being answered correctly for each model and way of
answering. Over
   the questions of a dataset these chances follow a beta distribution with the printed
   mean and the variance behind the printed standard error. What makes a question hard
   in one way makes it hard in others, in so far as both depend on a common difficulty.
2. A user gets one subject, batch, model and condition. Phase 1 has three questions and
an attention
   check, phase 2 has nine. In mathematics, phase 1 has one question of each dataset, as
   the printed counts show.
3. Users differ in ability, which leaves the average chance of a question unchanged. Who
answers
   first keeps part of the luck of the first answer when answering again with the model.
4. Confidence depends on the dataset and on the user's own chance.

All words of the texts are invented. A user opens with the words of the question, each
of which may be replaced by another word; whatever follows has nothing to do with the
question.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

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
from helpers.simulate.hosking import random_texts, to_texts

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
USER_ALONE, ANY_MODEL = "User alone", "any model"

LETTERS = ("A", "B", "C", "D")
SYLLABLES = ("ba", "do", "ke", "li", "mu", "na", "po", "ri", "se", "tu", "va", "zo")
VOCABULARY = np.array(["".join(pair) for pair in product(SYLLABLES, repeat=2)])
OPENING = "Simulated question:"
# Mean numbers of words, the chance that a user keeps a word of the question, and the
# mean number of messages after the first: all chosen by eye.
QUESTION_WORDS, OPTION_WORDS, MESSAGE_WORDS, REPLY_WORDS = 30, 2, 8, 60
COPYING = 0.85
FURTHER_MESSAGES = 0.4


N_TRIES = 50  # of a model alone
SHARED = {  # how far the chances of a question by each method go together
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


def chatbench(
    rng: np.random.Generator, truth: ChatBenchTruth
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Simulate the answers of users, and the accuracy of the models alone."""
    questions = _questions()
    chances = _chances(rng, questions, truth)
    return _answers(rng, questions, chances, truth), _ai_alone(
        rng, questions, chances, truth
    )


def _questions() -> pd.DataFrame:
    """List the questions of each batch."""
    rows = [
        (subject, batch, dataset)
        for subject, (n_batches, sizes) in BATCHES.items()
        for batch in range(n_batches)
        for dataset, size in sizes.items()
        for _ in range(size)
    ]
    table = pd.DataFrame(rows, columns=["subject", "batch", "dataset"])
    names = [f"simulated-question-{number:03}" for number in range(1, len(table) + 1)]
    return table.assign(question_id=names)


def between_variance(
    mean: float, se: float, n_questions: int, n_answers: float
) -> float:
    """Variance of true accuracies over questions that a printed standard error implies."""
    largest = mean * (1 - mean)
    variance = (n_questions * se**2 - largest / n_answers) / (1 - 1 / n_answers)
    return float(np.clip(variance, 0.02 * largest, 0.95 * largest))


def _chances(
    rng: np.random.Generator, questions: pd.DataFrame, truth: ChatBenchTruth
) -> pd.DataFrame:
    """Draw the chance of each question, in columns of (model, method)."""
    common = rng.normal(size=len(questions))
    methods = [(model, method) for model in CHAT_MODELS for method in SHARED]
    methods = [key for key in methods if key[1] != USER_ALONE] + [
        (ANY_MODEL, USER_ALONE)
    ]
    chances = {}
    for model, method in methods:
        shapes = pd.DataFrame(
            {name: _shape(name, model, method, truth) for name in CHAT_DATASETS}
        )
        loading = SHARED[method]
        noise = rng.normal(size=len(questions))
        rank = stats.norm.cdf(loading * common + np.sqrt(1 - loading**2) * noise)
        chances[model, method] = stats.beta.ppf(
            rank, *shapes[questions["dataset"]].to_numpy()
        )
    return pd.DataFrame(chances).set_index(questions["question_id"])


def _shape(
    dataset: str, model: str, method: str, truth: ChatBenchTruth
) -> tuple[float, float]:
    """Parameters of the beta distribution of chances over the questions of a dataset."""
    models = CHAT_MODELS if model == ANY_MODEL else (model,)
    mean, se = (
        np.mean([numbers[each, dataset, method] for each in models])
        for numbers in (truth.means, truth.ses)
    )
    n_batches, sizes = next(parts for parts in BATCHES.values() if dataset in parts[1])
    n_answers = _answers_per_question(dataset, method, truth)
    variance = between_variance(mean, se, n_batches * sizes[dataset], n_answers)
    strength = mean * (1 - mean) / variance - 1
    return mean * strength, (1 - mean) * strength


def _answers_per_question(dataset: str, method: str, truth: ChatBenchTruth) -> float:
    """Expected number of answers to a question by one method, with one model."""
    if method in AI_METHODS:
        return N_TRIES
    subject, (n_batches, sizes) = next(
        item for item in BATCHES.items() if dataset in item[1][1]
    )
    arms = n_batches * len(CHAT_MODELS) * len(CHAT_CONDITIONS)
    users = truth.n_users * SUBJECT_SHARES[subject] / arms
    in_phase_1 = IN_PHASE_1[dataset] / sizes[dataset]
    return (
        users * (1 + in_phase_1) if method == USER_ALONE else users * (1 - in_phase_1)
    )


def _ai_alone(
    rng: np.random.Generator,
    questions: pd.DataFrame,
    chances: pd.DataFrame,
    truth: ChatBenchTruth,
) -> pd.DataFrame:
    """Let the models answer alone."""
    tables = []
    for model in CHAT_MODELS:
        for method in AI_METHODS:
            right = rng.binomial(N_TRIES, chances[model, method])
            table = questions[["question_id", "dataset"]].assign(
                model=model, method=method
            )
            tables.append(table.assign(n_answers=N_TRIES, accuracy=right / N_TRIES))
    return pd.concat(tables, ignore_index=True)


def _answers(
    rng: np.random.Generator,
    questions: pd.DataFrame,
    chances: pd.DataFrame,
    truth: ChatBenchTruth,
) -> pd.DataFrame:
    """Let users answer, first alone and then with AI where they do both."""
    tasks = _tasks(rng, questions, truth)
    luck = rng.normal(size=len(tasks))
    own = _threshold(chances[ANY_MODEL, USER_ALONE][tasks["question_id"]], tasks, truth)
    right_alone = (luck < own).astype(float)
    kept = np.where(tasks["condition"] == "answer first", truth.kept_luck, 0.0)
    luck = kept * luck + np.sqrt(1 - kept**2) * rng.normal(size=len(tasks))
    columns = pd.MultiIndex.from_frame(tasks[["model", "condition"]])
    cells = chances.to_numpy()[
        chances.index.get_indexer(tasks["question_id"]),
        chances.columns.get_indexer(columns),
    ]
    right_with_ai = (luck < _threshold(cells, tasks, truth)).astype(float)
    tasks["confidence"] = _confidence(rng, tasks, own, truth)
    alone = tasks.assign(answer_type="user-alone", correct=right_alone)
    with_ai = tasks.assign(answer_type="user-AI", correct=right_with_ai)
    both = (tasks["phase"] == 1) | (tasks["condition"] == "answer first")
    answers = [
        alone[both],
        with_ai[tasks["phase"] == 2],
        _attention_checks(rng, tasks, truth),
    ]
    return pd.concat(answers, ignore_index=True).drop(columns=["subject", "ability"])


def _tasks(
    rng: np.random.Generator, questions: pd.DataFrame, truth: ChatBenchTruth
) -> pd.DataFrame:
    """Assign users to subject, batch, model and condition, and their questions to phases."""
    subjects = list(SUBJECT_SHARES)
    subject = rng.choice(len(subjects), truth.n_users, p=list(SUBJECT_SHARES.values()))
    n_batches = np.array([BATCHES[name][0] for name in subjects])[subject]
    users = pd.DataFrame(
        {
            "rater_id": [
                f"simulated-rater-{number:03}" for number in range(1, truth.n_users + 1)
            ],
            "subject": np.array(subjects)[subject],
            "batch": rng.integers(n_batches),
            "model": rng.choice(CHAT_MODELS, truth.n_users),
            "condition": rng.choice(CHAT_CONDITIONS, truth.n_users),
            "ability": rng.normal(0, truth.ability_sd, truth.n_users),
        }
    )
    tasks = users.merge(questions, on=["subject", "batch"]).drop(columns="batch")
    tasks["order"] = rng.random(len(tasks))
    rank = tasks.groupby(["rater_id", "dataset"])["order"].rank()
    phase = np.where(rank <= tasks["dataset"].map(IN_PHASE_1), 1, 2)
    return tasks.drop(columns="order").assign(phase=phase)


def _threshold(
    chance: np.ndarray, tasks: pd.DataFrame, truth: ChatBenchTruth
) -> np.ndarray:
    """Luck below which an answer is right; over users this has the chance of the question."""
    quantile = stats.norm.ppf(np.asarray(chance))
    return quantile * np.sqrt(1 + truth.ability_sd**2) + tasks["ability"].to_numpy()


def _confidence(
    rng: np.random.Generator,
    tasks: pd.DataFrame,
    own: np.ndarray,
    truth: ChatBenchTruth,
) -> np.ndarray:
    """Put confidence on its scale of three steps."""
    opinion = tasks["dataset"].map(CONFIDENCE) + INSIGHT * np.clip(own, -3, 3)
    opinion = opinion + rng.normal(size=len(tasks))
    return np.array(CONFIDENCES)[np.digitize(opinion, [-0.5, 0.8])]


def _attention_checks(
    rng: np.random.Generator, tasks: pd.DataFrame, truth: ChatBenchTruth
) -> pd.DataFrame:
    """Give every user an easy question of phase 1, to be answered alone."""
    users = tasks.drop_duplicates("rater_id")
    return users.assign(
        phase=1,
        answer_type="user-alone",
        dataset=ATTENTION_CHECK,
        question_id="simulated-attention-check",
        confidence=CONFIDENCES[-1],
        correct=(rng.random(len(users)) < PASS_RATE).astype(float),
    )


def chatbench_questions(
    rng: np.random.Generator, questions: pd.DataFrame
) -> pd.DataFrame:
    """Invent the text of questions, their options and which of them is right."""
    n = len(questions)
    options = {f"option_{letter}": _texts(rng, n, OPTION_WORDS) for letter in LETTERS}
    return questions[["question_id", "dataset"]].assign(
        question=[f"{OPENING} {text}?" for text in _texts(rng, n, QUESTION_WORDS)],
        **options,
        answer=rng.choice(LETTERS, n),
    )


def chatbench_conversations(
    rng: np.random.Generator, questions: pd.DataFrame, answers: pd.DataFrame
) -> list[dict]:
    """Invent the conversations that led to answers, in the form of the released file."""
    asked = questions.set_index("question_id").loc[answers["question_id"]]
    right = asked["answer"].map(LETTERS.index).to_numpy()
    off = np.where(
        answers["correct"] == 1, 0, rng.integers(1, len(LETTERS), len(answers))
    )
    records = answers[["rater_id", "model", "condition", "question_id"]].assign(
        selected_answer=np.array(LETTERS)[(right + off) % len(LETTERS)],
        chat_history=_histories(rng, asked["question"]),
    )
    return records.rename(columns={"rater_id": "worker_id"}).to_dict("records")


def first_prompts(
    rng: np.random.Generator, questions: pd.Series, copying: float
) -> pd.Series:
    """Write a first message for each question: its words, some of them replaced.

    Parameters
    ----------
    rng : numpy.random.Generator
    questions : pandas.Series of str
        Texts of the questions.
    copying : float
        Probability that a word stays the same.

    Returns
    -------
    pandas.Series of str
        Messages, with the index of `questions`.

    Examples
    --------
    >>> questions = pd.Series(["Simulated question: bado keli?"])
    >>> first_prompts(np.random.default_rng(0), questions, copying=1.0).item()
    'Simulated question: bado keli?'
    """
    words = questions.str.split()
    own = words.explode().to_numpy()
    replaced = rng.random(len(own)) >= copying
    own[replaced] = rng.choice(VOCABULARY, replaced.sum())
    return pd.Series(to_texts(own, words.str.len()), index=questions.index)


def _histories(rng: np.random.Generator, questions: pd.Series) -> list[list[dict]]:
    """Let users and the model take turns, users first and the model last."""
    first = first_prompts(rng, questions, COPYING)
    n_further = rng.poisson(FURTHER_MESSAGES, len(questions))
    further = iter(_texts(rng, n_further.sum(), MESSAGE_WORDS))
    replies = iter(_texts(rng, n_further.sum() + len(questions), REPLY_WORDS))
    histories = []
    for opening, n in zip(first, n_further, strict=True):
        messages = [opening, *(next(further) for _ in range(n))]
        turns = [(("You", message), ("Bot", next(replies))) for message in messages]
        histories.append(
            [
                {"role": role, "content": content}
                for turn in turns
                for role, content in turn
            ]
        )
    return histories


def _texts(rng: np.random.Generator, n: int, mean_words: int) -> list[str]:
    """Draw texts of invented words, each of at least one."""
    return random_texts(rng, VOCABULARY, np.full(n, mean_words))
