"""Simulated answers, ratings, judges and texts of Kamoda et al. (2025).

For runs without the data and for tests. An answer stands somewhere on each aspect: the
mean of its kind plus an effect of its own. Workers rate the four answers to a question
with noise; acceptability is its ideal, less the distance of each aspect just rated from
its ideal times `WEIGHTS`, plus the worker's leniency and noise. Models judge likewise,
with biases of their own.

The weights are those of the paper, the other numbers are chosen by eye. Texts are words
without meaning.
"""

import numpy as np
import pandas as pd

from helpers.data.columns import kamoda as columns
from helpers.data.columns.kamoda import ANSWER_SYSTEMS, ASPECTS, IDEALS, RANGES
from helpers.simulate.hosking import to_scale

N_QUESTIONS = 300
N_WORKERS = 80
WORKERS_PER_QUESTION = 3
# Standing on each aspect, and mean number of words, by kind of answer.
KINDS = pd.DataFrame(
    [
        (1.8, -0.5, -0.5, 120),
        (1.6, -0.6, -0.6, 80),
        (3.0, 0.1, 0.1, 100),
        (2.9, 0.0, 0.0, 110),
    ],
    ANSWER_SYSTEMS,
    [*ASPECTS, "words"],
)
OF_ANSWER = pd.Series([0.7, 0.3, 0.2], ASPECTS)  # standard deviations
OF_WORKER = pd.Series([0.9, 0.3, 0.3], ASPECTS)
WEIGHTS = pd.Series([2.048, 0.739, 0.335], ASPECTS)
FARTHEST = pd.Series([3, 1, 1], ASPECTS)  # distance from the ideal
LENIENCY = 0.2
NOISE = 0.4  # of acceptability
BIASES = {"gpt4": (0.4, 0.0, -0.1), "llama2": (0.6, 0.0, 0.0)}
LLAMA2_QUESTIONS = 108
REPEATED_ANSWERS = 240  # of which GPT-4's mean of three runs is given
VOCABULARY = ("air", "body", "cause", "cold", "energy", "heat", "light", "sound")
MEDIAN_MINUTES = 25.0
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


def answers(seed: int) -> pd.DataFrame:
    """Draw four answers to each question, with their true aspects and texts."""
    rng = np.random.default_rng([seed, 1])
    question = np.repeat(np.arange(1, N_QUESTIONS + 1), len(ANSWER_SYSTEMS))
    table = pd.DataFrame({"system": np.tile(ANSWER_SYSTEMS, N_QUESTIONS)})
    table["question_id"] = [f"simulated-question-{number:03}" for number in question]
    table["item_id"] = table["question_id"] + "|" + table["system"]
    of_kind = KINDS.loc[table["system"]].set_index(table.index)
    for aspect in ASPECTS:
        own = rng.normal(0, OF_ANSWER[aspect], len(table))
        table[aspect] = of_kind[aspect] + own
    n_words = 1 + rng.poisson(of_kind["words"] - 1)
    table["text"] = [" ".join(rng.choice(VOCABULARY, n)) for n in n_words]
    table["question"] = "What is " + table["question_id"] + "?"
    votes = rng.geometric(0.1, len(table)) + 100.0 * (table["system"] == "human_top")
    table["votes"] = votes.where(table["system"].str.startswith("human"))
    table.attrs["source"] = "simulated"
    return table


def ratings(seed: int) -> pd.DataFrame:
    """Let three workers rate the answers to each question and choose the best."""
    rng = np.random.default_rng([seed, 2])
    rated = answers(seed)
    activity = 1 / np.arange(1, N_WORKERS + 1)  # the first workers rate most
    activity /= activity.sum()
    tasks = [
        (question, worker)
        for question in rated["question_id"].unique()
        for worker in rng.choice(
            N_WORKERS, WORKERS_PER_QUESTION, replace=False, p=activity
        )
    ]
    tasks = pd.DataFrame(tasks, columns=["question_id", "worker"])
    table = tasks.merge(rated, on="question_id")
    table["rater_id"] = [f"simulated-rater-{n + 1:03}" for n in table["worker"]]
    leniency = rng.normal(0, LENIENCY, N_WORKERS)[table["worker"]]
    seen = table[list(ASPECTS)] + rng.normal(0, OF_WORKER, (len(table), len(ASPECTS)))
    opinion = _rate(rng, table, seen, leniency)
    best = opinion.groupby([table["question_id"], table["rater_id"]]).transform("max")
    table["preferred"] = 1.0 * (opinion == best)
    table = table.assign(prompt_id=table["question_id"], task="eli5", arm="baseline")
    table = table[list(columns.KAMODA_RATINGS.columns)]
    table.attrs["source"] = "simulated"
    return table


def _rate(
    rng: np.random.Generator,
    table: pd.DataFrame,
    seen: pd.DataFrame,
    leniency: np.ndarray | float,
) -> pd.Series:
    """Fill in the marks of what is seen; give acceptability before it is rounded."""
    for aspect in ASPECTS:
        table[aspect] = to_scale(seen[aspect], *RANGES[aspect])
    ideal = pd.Series(IDEALS)[list(ASPECTS)]
    distance = (table[list(ASPECTS)] - ideal).abs() / FARTHEST
    opinion = IDEALS["acceptability"] - distance @ WEIGHTS + leniency
    opinion += rng.normal(0, NOISE, len(table))
    table["acceptability"] = to_scale(opinion, *RANGES["acceptability"])
    return opinion


def judges(seed: int) -> pd.DataFrame:
    """Let models judge: gpt4 all answers; llama2, and gpt4 three times, some."""
    rng = np.random.default_rng([seed, 3])
    shown = answers(seed)
    runs = {}
    for judge, bias in BIASES.items():
        # an error about each answer, and another one in each run
        about = shown[list(ASPECTS)] + list(bias)
        about = about + 0.7 * rng.normal(0, OF_WORKER, about.shape)
        runs[judge] = []
        for _ in range(3):
            table = shown[["item_id", "question_id"]].assign(evaluator=judge)
            seen = about + 0.3 * rng.normal(0, OF_WORKER, about.shape)
            _rate(rng, table, seen, 0.0)
            runs[judge].append(table)
    questions = rng.permutation(shown["question_id"].unique())
    llama2 = runs["llama2"][0]
    llama2 = llama2[llama2["question_id"].isin(questions[:LLAMA2_QUESTIONS])]
    mean3 = shown[["item_id", "question_id"]].assign(evaluator="gpt4_mean3")
    for mark in RANGES:
        mean3[mark] = np.mean([run[mark] for run in runs["gpt4"]], axis=0)
    # one answer to each of some questions
    mean3 = mean3.sample(frac=1, random_state=seed).drop_duplicates("question_id")
    mean3 = mean3[mean3["question_id"].isin(questions[:REPEATED_ANSWERS])]
    table = pd.concat([runs["gpt4"][0], llama2, mean3], ignore_index=True)
    table = table[list(columns.KAMODA_EVALUATORS.columns)]
    table.attrs["source"] = "simulated"
    return table


def justifications(seed: int) -> pd.DataFrame:
    """Give every worker's preference a list of remarks, and the minutes on the task."""
    rng = np.random.default_rng([seed, 4])
    table = ratings(seed).drop_duplicates(["question_id", "rater_id"])
    texts = []
    for _ in range(len(table)):
        made = [text for share, text in REMARKS.values() if rng.random() < share]
        texts.append(f"Simulated: {', '.join(made) or 'it is best'}.")
    minutes = MEDIAN_MINUTES * np.exp(rng.normal(0, 0.5, len(table)))
    table = table.assign(
        text=texts,
        none_appropriate=rng.random(len(table)) < 0.03,
        minutes=np.minimum(minutes, 60),
    )
    table = table[list(columns.KAMODA_JUSTIFICATIONS.columns)]
    table = table.reset_index(drop=True)
    table.attrs["source"] = "simulated"
    return table


def expert_verdicts(seed: int) -> pd.DataFrame:
    """Let two experts in each of two domains choose between human and model answers."""
    rng = np.random.default_rng([seed, 5])
    shown = [["Biology", "Law"], range(2), range(10)]
    rows = pd.MultiIndex.from_product(shown, names=["domain", "expert", "pair"])
    table = rows.to_frame(index=False)
    table["rater_id"] = table["domain"] + " expert " + table["expert"].astype(str)
    table["item_id"] = table["domain"] + " " + table["pair"].astype(str)
    table["model_preferred"] = rng.binomial(1, 0.6, len(table)).astype(float)
    table = table[list(columns.EXPERT_VERDICTS.columns)]
    table.attrs["source"] = "simulated"
    return table
