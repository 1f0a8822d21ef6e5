"""Simulated ratings and texts of Kamoda et al. (2025), with a known truth.

The model, with the numbers of `KamodaTruth`:

1. An answer stands somewhere on each aspect: the mean of its type, plus a question's
   and an answer's own effect.
2. A worker rates the four answers to a question. Each aspect is rated with noise.
   Acceptability is its ideal, less each aspect's distance from the ideal (as a share of
   the farthest possible distance, of the ratings just given) times its weight, plus the
   worker's leniency and noise. The worker prefers the answer that is most acceptable
   before marks are put on the scale.
3. An automatic evaluator rates like a worker with biases of its own. A further run of
   it repeats most of its error for an answer.

Texts are strings of keywords, not language: enough to run and to test what is computed
from them. The weights of aspects are those that the paper prints; the other numbers
were chosen by eye.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from helpers.data.columns import kamoda as columns
from helpers.data.columns.kamoda import ANSWER_SYSTEMS, ASPECTS, IDEALS, RANGES
from helpers.simulate import says_so
from helpers.simulate.hosking import random_texts, to_scale

# of the aspects and, in the last place, acceptability
LOW, HIGH = np.array(list(RANGES.values()), dtype=float).T
IDEAL = np.array([IDEALS[aspect] for aspect in RANGES], dtype=float)
FARTHEST = np.maximum(IDEAL - LOW, HIGH - IDEAL)
N_ANSWERS = len(ANSWER_SYSTEMS)
N_RUNS = 3

ASPECT_WEIGHTS = {"factuality": 2.048, "amount_info": 0.739, "formality": 0.335}
ASPECT_MEANS = {
    "human_top": (1.8, -0.5, -0.5),
    "human_random": (1.6, -0.6, -0.6),
    "model_formal": (3.0, 0.1, 0.1),
    "model_casual": (2.9, 0.0, 0.0),
}
ASPECT_SDS = {
    "question": (0.3, 0.1, 0.1),
    "answer": (0.7, 0.3, 0.2),
    "rater": (0.9, 0.3, 0.3),
}
EVALUATOR_BIASES = {"gpt4": (0.4, 0.0, -0.1), "llama2": (0.6, 0.0, 0.0)}

WORDS_BY_SYSTEM = {
    "human_top": 120,
    "human_random": 80,
    "model_formal": 100,
    "model_casual": 110,
}
VOCABULARY = (
    "air",
    "body",
    "cause",
    "cold",
    "energy",
    "heat",
    "light",
    "sound",
    "time",
    "water",
)
# on a task
MEDIAN_MINUTES = 25.0
MINUTES_SD = 0.5
# Share of justifications with each remark, and the remark.
REMARKS = {
    "amount_info": (0.20, "it has enough information"),
    "formality": (0.15, "it is not too formal"),
    "factuality": (0.30, "it is accurate"),
    "easy_to_understand": (0.30, "it is easy to understand"),
    "relevance": (0.20, "it is relevant"),
    "structure": (0.10, "it is well organized"),
    "completeness": (0.15, "it is comprehensive"),
    "grammar": (0.02, "its grammar is good"),
    "examples": (0.05, "it gives an example"),
    "specificity": (0.20, "it is specific"),
    "conciseness": (0.15, "it is concise"),
}


@dataclass(frozen=True)
class KamodaTruth:
    """Truth of Kamoda et al.'s study: what each aspect counts for acceptability."""

    n_questions: int = 300
    n_raters: int = 80
    raters_per_question: int = 3
    means: Mapping[str, tuple[float, ...]] = field(default_factory=ASPECT_MEANS.copy)
    sds: Mapping[str, tuple[float, ...]] = field(default_factory=ASPECT_SDS.copy)
    weights: Mapping[str, float] = field(default_factory=ASPECT_WEIGHTS.copy)
    leniency_sd: float = 0.2
    acceptability_sd: float = 0.4
    evaluator_biases: Mapping[str, tuple[float, ...]] = field(
        default_factory=EVALUATOR_BIASES.copy
    )
    evaluator_sd: float = 0.7
    iteration_sd: float = 0.3
    llama2_questions: int = 108
    mean3_questions: int = 240
    rounded: bool = True


@says_so
def kamoda(
    rng: np.random.Generator, truth: KamodaTruth | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Simulate ratings of four answers to each question, by workers and evaluators."""
    truth = truth or KamodaTruth()
    answers = _answers(truth)
    standing = _standing(rng, truth)
    ratings = _ratings(rng, answers, standing, truth)
    evaluators = _evaluators(rng, answers, standing, truth)
    return ratings, evaluators


def _answers(truth: KamodaTruth) -> pd.DataFrame:
    """List the answers, four to each question in turn."""
    questions = _names("simulated-question", truth.n_questions)
    question_id = pd.Series(questions).repeat(N_ANSWERS).reset_index(drop=True)
    system = pd.Series(np.tile(np.array(ANSWER_SYSTEMS), truth.n_questions))
    return pd.DataFrame(
        {
            "item_id": question_id + "|" + system,
            "question_id": question_id,
            "prompt_id": question_id,
            "task": "eli5",
            "system": system,
            "arm": "baseline",
        }
    )


def _names(kind: str, n: int) -> list[str]:
    """Names that are numbered from 1."""
    return [f"{kind}-{number:03}" for number in range(1, n + 1)]


def _standing(rng: np.random.Generator, truth: KamodaTruth) -> np.ndarray:
    """Draw where answers stand on aspects; shape (questions, answer types, aspects)."""
    means = np.array([truth.means[system] for system in ANSWER_SYSTEMS])
    n_questions = truth.n_questions
    question = rng.normal(0, truth.sds["question"], (n_questions, 1, len(ASPECTS)))
    answer = rng.normal(0, truth.sds["answer"], (n_questions, *means.shape))
    return means + question + answer


def _ratings(
    rng: np.random.Generator,
    answers: pd.DataFrame,
    standing: np.ndarray,
    truth: KamodaTruth,
) -> pd.DataFrame:
    """Let workers rate the four answers to each of their questions."""
    workers = _workers(rng, truth)
    n_questions, n_workers = workers.shape
    # opinions have the shape (questions, workers of a question, answer types, marks)
    noise = rng.normal(0, truth.sds["rater"], (*workers.shape, *standing.shape[1:]))
    worker_leniency = rng.normal(0, truth.leniency_sd, truth.n_raters)
    leniency = worker_leniency[workers][:, :, None]
    opinions = _opinions(rng, standing[:, None] + noise, leniency, truth)
    marks = to_scale(opinions, LOW, HIGH, truth.rounded)
    best = opinions[:, :, :, -1].argmax(axis=2)
    preferred = best[:, :, None] == np.arange(N_ANSWERS)

    # every worker of a question rates its answers in turn
    rows = np.arange(len(answers)).reshape(n_questions, 1, N_ANSWERS)
    rows = np.repeat(rows, n_workers, axis=1).ravel()
    rated = answers.iloc[rows].reset_index(drop=True)
    names = np.array(_names("simulated-rater", truth.n_raters))
    ratings = _with_marks(rated, marks).assign(
        rater_id=np.repeat(names[workers], N_ANSWERS),
        preferred=preferred.ravel().astype(float),
    )
    return ratings[list(columns.KAMODA_RATINGS.columns)]


def _workers(rng: np.random.Generator, truth: KamodaTruth) -> np.ndarray:
    """Draw workers for each question, the k-th being 1/k as active as the first."""
    # adding Gumbel noise to log activities and taking the largest sums draws different
    # workers, each in proportion to their activity
    log_activity = -np.log(np.arange(1, truth.n_raters + 1))
    keys = log_activity + rng.gumbel(size=(truth.n_questions, truth.n_raters))
    return np.argsort(-keys, axis=1)[:, : truth.raters_per_question]


def _opinions(
    rng: np.random.Generator,
    aspects: np.ndarray,
    leniency: np.ndarray | float,
    truth: KamodaTruth,
) -> np.ndarray:
    """Put aspects on their scales and add acceptability, not yet put on its own."""
    aspects = to_scale(aspects, LOW[:-1], HIGH[:-1], truth.rounded)
    distance = np.abs(aspects - IDEAL[:-1]) / FARTHEST[:-1]
    noise = rng.normal(0, truth.acceptability_sd, aspects.shape[:-1])
    weights = [truth.weights[aspect] for aspect in ASPECTS]
    acceptability = IDEAL[-1] - distance @ weights + leniency + noise
    return np.concatenate([aspects, acceptability[..., None]], axis=-1)


def _with_marks(table: pd.DataFrame, marks: np.ndarray) -> pd.DataFrame:
    """Add a column of marks for each aspect and acceptability."""
    marks = marks.reshape(-1, len(RANGES))
    table = table.copy()
    for number, aspect in enumerate(RANGES):
        table[aspect] = marks[:, number]
    return table


def _evaluators(
    rng: np.random.Generator,
    answers: pd.DataFrame,
    standing: np.ndarray,
    truth: KamodaTruth,
) -> pd.DataFrame:
    """Let gpt4 rate all answers; llama2, and gpt4 three times, some of them."""
    gpt4 = _runs(rng, standing, "gpt4", truth)
    llama2 = _runs(rng, standing, "llama2", truth)
    questions = rng.permutation(truth.n_questions)
    # llama2 rates all answers to some questions
    llama2_questions = questions[: truth.llama2_questions]
    by_llama2 = np.isin(answers.index // N_ANSWERS, llama2_questions)
    # the mean of three runs is of one answer each to some questions
    repeated_questions = np.sort(questions[: truth.mean3_questions])
    answer = rng.integers(N_ANSWERS, size=len(repeated_questions))
    repeated = N_ANSWERS * repeated_questions + answer

    one_run = _with_marks(answers.assign(evaluator="gpt4"), gpt4[0])
    of_llama2 = _with_marks(answers.assign(evaluator="llama2"), llama2[0])
    mean3 = _with_marks(answers.assign(evaluator="gpt4_mean3"), gpt4.mean(axis=0))
    tables = [one_run, of_llama2[by_llama2], mean3.iloc[repeated]]
    evaluators = pd.concat(tables, ignore_index=True)
    return evaluators[list(columns.KAMODA_EVALUATORS.columns)]


def _runs(
    rng: np.random.Generator, standing: np.ndarray, evaluator: str, truth: KamodaTruth
) -> np.ndarray:
    """Let an evaluator rate all answers repeatedly; shape (runs, answers, marks)."""
    aspects = standing.reshape(-1, len(ASPECTS)) + truth.evaluator_biases[evaluator]
    rater_sd = np.array(truth.sds["rater"])
    # an error of the evaluator about each answer, then another one in each run
    aspects = aspects + rng.normal(0, truth.evaluator_sd * rater_sd, aspects.shape)
    runs = (N_RUNS, *aspects.shape)
    aspects = aspects + rng.normal(0, truth.iteration_sd * rater_sd, runs)
    opinions = _opinions(rng, aspects, 0.0, truth)
    return to_scale(opinions, LOW, HIGH, truth.rounded)


@says_so
def kamoda_texts(
    rng: np.random.Generator, ratings: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Simulate the texts that go with simulated ratings."""
    return _answer_texts(rng, ratings), _justifications(rng, ratings)


def _answer_texts(rng: np.random.Generator, ratings: pd.DataFrame) -> pd.DataFrame:
    """Give every answer random words, and people's votes: more for the top one."""
    answers = ratings.drop_duplicates("item_id").reset_index(drop=True)
    mean_words = answers["system"].map(WORDS_BY_SYSTEM)
    texts = random_texts(rng, np.array(VOCABULARY), mean_words)
    is_top = answers["system"] == "human_top"
    votes = rng.geometric(0.1, len(answers)) + 100.0 * is_top
    table = answers.assign(
        question="What is " + answers["question_id"] + "?",
        text=texts,
        votes=votes.where(answers["system"].str.startswith("human")),
    )
    return table[list(columns.KAMODA_ANSWERS.columns)]


def _justifications(rng: np.random.Generator, ratings: pd.DataFrame) -> pd.DataFrame:
    """Give every worker's preference a list of remarks, and a time on the task."""
    tasks = ratings.drop_duplicates(["question_id", "rater_id"]).reset_index(drop=True)
    rates = np.array([rate for rate, _ in REMARKS.values()])
    remarks = np.array([remark for _, remark in REMARKS.values()])
    mentioned = rng.random((len(tasks), len(REMARKS))) < rates
    texts = []
    for mentions in mentioned:
        reasons = ", ".join(remarks[mentions]) or "it is best"
        texts.append(f"Simulated: {reasons}.")
    minutes = MEDIAN_MINUTES * np.exp(rng.normal(0, MINUTES_SD, len(tasks)))
    table = tasks.assign(
        text=texts,
        none_appropriate=rng.random(len(tasks)) < 0.03,
        minutes=minutes.clip(max=60),
    )
    return table[list(columns.KAMODA_JUSTIFICATIONS.columns)]


@says_so
def simulated_expert_verdicts(rng: np.random.Generator) -> pd.DataFrame:
    """Two experts in each of two domains choose between a human and a model answer."""
    shown = [["Biology", "Law"], range(2), range(10)]
    rows = pd.MultiIndex.from_product(shown, names=["domain", "expert", "pair"])
    table = rows.to_frame(index=False)
    table["rater_id"] = table["domain"] + " expert " + table["expert"].astype(str)
    table["item_id"] = table["domain"] + " " + table["pair"].astype(str)
    table["model_preferred"] = rng.binomial(1, 0.6, len(table)).astype(float)
    return table[list(columns.EXPERT_VERDICTS.columns)]
