"""Simulated ratings and texts of Kamoda et al. (2025), with a known truth.

The model, with the numbers of `KamodaTruth`:

1. An answer stands somewhere on each aspect: the mean of its type, plus a question's
and an
   answer's own effect.
2. A worker rates the four answers to a question. Each aspect is rated with noise.
Acceptability is
   its ideal, less each aspect's distance from the ideal (as a share of the farthest
   possible distance, of the ratings just given) times its weight, plus the worker's
   leniency and noise. The worker prefers the answer found most acceptable before marks
   are put on the scale.
3. An automatic evaluator rates like a worker with biases of its own. A further run of
it repeats
   most of its error for an answer.

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
from helpers.simulate.hosking import random_texts, to_scale

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
MEDIAN_MINUTES, MINUTES_SD = 25.0, 0.5  # on a task
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
    """Truth of the study of Kamoda et al.: how much each aspect counts for acceptability."""

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


def kamoda(
    rng: np.random.Generator, truth: KamodaTruth | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Simulate workers' and automatic evaluators' ratings of four answers to each question."""
    truth = truth or KamodaTruth()
    answers = _answers(truth)
    standing = _standing(rng, truth)
    return _ratings(rng, answers, standing, truth), _evaluators(
        rng, answers, standing, truth
    )


def _answers(truth: KamodaTruth) -> pd.DataFrame:
    """List the answers, four to each question in turn."""
    questions = [
        f"simulated-question-{number:03}" for number in range(1, truth.n_questions + 1)
    ]
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


def _standing(rng: np.random.Generator, truth: KamodaTruth) -> np.ndarray:
    """Draw where answers stand on the aspects; shape (questions, answer types, aspects)."""
    means = np.array([truth.means[system] for system in ANSWER_SYSTEMS])
    question = rng.normal(
        0, truth.sds["question"], (truth.n_questions, 1, len(ASPECTS))
    )
    answer = rng.normal(0, truth.sds["answer"], (truth.n_questions, *means.shape))
    return means + question + answer


def _ratings(
    rng: np.random.Generator,
    answers: pd.DataFrame,
    standing: np.ndarray,
    truth: KamodaTruth,
) -> pd.DataFrame:
    """Let workers rate; opinions are (questions, workers of a question, answer types, marks)."""
    workers = _workers(rng, truth)
    noise = rng.normal(0, truth.sds["rater"], (*workers.shape, *standing.shape[1:]))
    leniency = rng.normal(0, truth.leniency_sd, truth.n_raters)[workers][..., None]
    opinions = _opinions(rng, standing[:, None] + noise, leniency, truth)
    best = opinions[..., -1].argmax(axis=2)[..., None]
    rows = np.arange(len(answers)).reshape(len(workers), 1, N_ANSWERS)
    rows = np.broadcast_to(rows, (*workers.shape, N_ANSWERS)).ravel()
    names = np.array(
        [f"simulated-rater-{number:03}" for number in range(1, truth.n_raters + 1)]
    )
    marks = to_scale(opinions, LOW, HIGH, truth.rounded)
    ratings = _with_marks(answers.iloc[rows].reset_index(drop=True), marks).assign(
        rater_id=np.repeat(names[workers], N_ANSWERS),
        preferred=(best == np.arange(N_ANSWERS)).ravel().astype(float),
    )
    return ratings[[*columns.KAMODA_RATINGS.columns]]


def _workers(rng: np.random.Generator, truth: KamodaTruth) -> np.ndarray:
    """Draw different workers for each question, the k-th being 1/k as active as the first."""
    activity = -np.log(np.arange(1, truth.n_raters + 1))
    keys = activity + rng.gumbel(size=(truth.n_questions, truth.n_raters))
    return np.argsort(-keys, axis=1)[:, : truth.raters_per_question]


def _opinions(
    rng: np.random.Generator,
    aspects: np.ndarray,
    leniency: np.ndarray | float,
    truth: KamodaTruth,
) -> np.ndarray:
    """Put aspects on their scales and add the acceptability they lead to, not yet on its own."""
    aspects = to_scale(aspects, LOW[:-1], HIGH[:-1], truth.rounded)
    distance = np.abs(aspects - IDEAL[:-1]) / FARTHEST[:-1]
    noise = rng.normal(0, truth.acceptability_sd, aspects.shape[:-1])
    weights = [truth.weights[aspect] for aspect in ASPECTS]
    acceptability = IDEAL[-1] - distance @ weights + leniency + noise
    return np.concatenate([aspects, acceptability[..., None]], axis=-1)


def _with_marks(table: pd.DataFrame, marks: np.ndarray) -> pd.DataFrame:
    """Add a column of marks for each aspect and acceptability."""
    columns = marks.reshape(-1, len(RANGES)).T
    return table.assign(**dict(zip(RANGES, columns, strict=True)))


def _evaluators(
    rng: np.random.Generator,
    answers: pd.DataFrame,
    standing: np.ndarray,
    truth: KamodaTruth,
) -> pd.DataFrame:
    """Let gpt4 rate all answers, llama2 those to some questions, gpt4 again one each to some."""
    gpt4 = _runs(rng, standing, "gpt4", truth)
    llama2 = _runs(rng, standing, "llama2", truth)
    questions = rng.permutation(truth.n_questions)
    tested = np.isin(answers.index // N_ANSWERS, questions[: truth.llama2_questions])
    repeated = N_ANSWERS * np.sort(questions[: truth.mean3_questions])
    repeated += rng.integers(N_ANSWERS, size=len(repeated))
    tables = [
        _with_marks(answers.assign(evaluator="gpt4"), gpt4[0]),
        _with_marks(answers.assign(evaluator="llama2"), llama2[0])[tested],
        _with_marks(answers.assign(evaluator="gpt4_mean3"), gpt4.mean(axis=0)).iloc[
            repeated
        ],
    ]
    return pd.concat(tables, ignore_index=True)[[*columns.KAMODA_EVALUATORS.columns]]


def _runs(
    rng: np.random.Generator, standing: np.ndarray, evaluator: str, truth: KamodaTruth
) -> np.ndarray:
    """Let an evaluator rate all answers several times; shape (runs, answers, marks)."""
    aspects = standing.reshape(-1, len(ASPECTS)) + truth.evaluator_biases[evaluator]
    noise = np.array(truth.sds["rater"])
    aspects = aspects + rng.normal(0, truth.evaluator_sd * noise, aspects.shape)
    aspects = aspects + rng.normal(
        0, truth.iteration_sd * noise, (N_RUNS, *aspects.shape)
    )
    return to_scale(_opinions(rng, aspects, 0.0, truth), LOW, HIGH, truth.rounded)


def kamoda_texts(
    rng: np.random.Generator, ratings: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Simulate the texts that go with simulated ratings."""
    return _answer_texts(rng, ratings), _justifications(rng, ratings)


def _answer_texts(rng: np.random.Generator, ratings: pd.DataFrame) -> pd.DataFrame:
    """Give every answer random words, and people's answers votes: more for the top one."""
    answers = ratings.drop_duplicates("item_id").reset_index(drop=True)
    texts = random_texts(
        rng, np.array(VOCABULARY), answers["system"].map(WORDS_BY_SYSTEM)
    )
    votes = rng.geometric(0.1, len(answers)) + 100.0 * (
        answers["system"] == "human_top"
    )
    table = answers.assign(
        question="What is " + answers["question_id"] + "?",
        text=texts,
        votes=votes.where(answers["system"].str.startswith("human")),
    )
    return table[[*columns.KAMODA_ANSWERS.columns]]


def _justifications(rng: np.random.Generator, ratings: pd.DataFrame) -> pd.DataFrame:
    """Give every worker's preference a list of remarks, and a time on the task."""
    tasks = ratings.drop_duplicates(["question_id", "rater_id"]).reset_index(drop=True)
    rates, remarks = map(np.array, zip(*REMARKS.values(), strict=True))
    mentioned = rng.random((len(tasks), len(REMARKS))) < rates
    minutes = MEDIAN_MINUTES * np.exp(rng.normal(0, MINUTES_SD, len(tasks)))
    table = tasks.assign(
        text=[
            f"Simulated: {', '.join(remarks[row]) or 'it is best'}."
            for row in mentioned
        ],
        none_appropriate=rng.random(len(tasks)) < 0.03,
        minutes=minutes.clip(max=60),
    )
    return table[[*columns.KAMODA_JUSTIFICATIONS.columns]]
