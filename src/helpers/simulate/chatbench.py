"""Simulated files of ChatBench (Chang et al., 2025), in the form of the released ones.

Every question has one chance of a right answer for each model and way of answering.
Over the questions of a dataset these chances follow a beta distribution with the
accuracy and the standard error that the paper reports. Chances of one question are
related, because all depend on a common difficulty. Users get one batch of questions, a
model and a condition; their confidence rises with their chance.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

AI_ALONE = ("letter_only_zero_shot", "letter_only_few_shot", "free_text")
USER_ALONE = "userAnswer"
CONDITIONS = ("direct-to-AI", "answer-first")
MODELS = ("gpt-4o", "llama-3.1-8b")
ATTENTION_CHECK = "attention_check"
CONFIDENCES = ("not-confident", "somewhat-confident", "very-confident")
MATHEMATICS = {
    "elementary_mathematics": 5,
    "high_school_mathematics": 5,
    "college_mathematics": 2,
}
# By subject: its share of users, number of batches, and questions in a batch.
SUBJECTS = {
    "mathematics": (0.6, 19, MATHEMATICS),
    "physics": (0.2, 7, {"conceptual_physics": 12}),
    "morals": (0.2, 7, {"moral_scenarios": 12}),
}
# Questions of a user that are asked in the first phase.
N_FIRST = dict.fromkeys(MATHEMATICS, 1) | {
    "conceptual_physics": 3,
    "moral_scenarios": 3,
}
N_TRIES = 50  # answers of a model alone to each question
N_USER_ANSWERS = 5  # of users to each question, about
N_USERS = 650
PASS_RATE = 0.995  # of attention checks
COMMON = 0.7  # correlation of a question's chances with its common difficulty


def chances(rng: np.random.Generator, accuracies: pd.DataFrame) -> pd.DataFrame:
    """Draw the chance of a right answer: a row per question, columns (model, method).

    `accuracies` has ``mean`` and ``se``, indexed by model, dataset and method as files
    name them.
    """
    rows = []
    for subject, (_, n_batches, datasets) in SUBJECTS.items():
        for batch in range(n_batches):
            for dataset, size in datasets.items():
                names = [f"{dataset}-{batch}-{number}" for number in range(size)]
                rows += [(subject, batch, dataset, name) for name in names]
    names = ["subject", "batch", "dataset", "question_id"]
    index = pd.MultiIndex.from_tuples(rows, names=names)
    difficulty = rng.normal(size=len(index))
    drawn = {}
    for model, method in accuracies.index.droplevel("dataset").unique():
        own = rng.normal(size=len(index))
        rank = stats.norm.cdf(COMMON * difficulty + np.sqrt(1 - COMMON**2) * own)
        chance = pd.Series(rank, index)
        for dataset, ranks in chance.groupby("dataset"):
            cell = accuracies.loc[(model, dataset, method)]
            n_answers = N_TRIES if method in AI_ALONE else N_USER_ANSWERS
            shape = beta_shape(*cell[["mean", "se"]], len(ranks), n_answers)
            chance[ranks.index] = stats.beta.ppf(ranks, *shape)
        drawn[model, method] = chance
    return pd.DataFrame(drawn)


def beta_shape(
    mean: float, se: float, n_questions: int, n_answers: float
) -> tuple[float, float]:
    """Beta distribution of chances behind a reported accuracy and standard error."""
    largest = mean * (1 - mean)
    # n_questions * se² is the variance of the observed accuracies, which is the
    # variance of the chances and what a few answers add to it
    variance = (n_questions * se**2 - largest / n_answers) / (1 - 1 / n_answers)
    total = largest / np.clip(variance, 0.02 * largest, 0.95 * largest) - 1
    return mean * total, (1 - mean) * total


def ai_alone(rng: np.random.Generator, chance: pd.DataFrame) -> pd.DataFrame:
    """Let the models answer alone: one row per model and question."""
    questions = chance.index.to_frame(index=False)[["dataset", "question_id"]]
    by_model = []
    for model in MODELS:
        table = questions.assign(model=model)
        for method in AI_ALONE:
            n_right = rng.binomial(N_TRIES, chance[model, method])
            table[f"{method}_count"] = N_TRIES
            table[f"{method}_acc"] = n_right / N_TRIES
        by_model.append(table)
    return pd.concat(by_model, ignore_index=True)


def user_answers(
    rng: np.random.Generator, chance: pd.DataFrame, n_users: int = N_USERS
) -> pd.DataFrame:
    """Let users answer, alone and with AI: one row per answer."""
    subjects = [*SUBJECTS]
    subject = rng.choice(
        len(subjects), n_users, p=[row[0] for row in SUBJECTS.values()]
    )
    n_batches = np.array([row[1] for row in SUBJECTS.values()])[subject]
    users = pd.DataFrame(
        {
            "worker_id": [f"simulated-rater-{number:03}" for number in range(n_users)],
            "subject": np.array(subjects)[subject],
            "batch": rng.integers(n_batches),
            "model": rng.choice(MODELS, n_users),
            "condition": rng.choice(CONDITIONS, n_users),
        }
    )
    questions = chance.index.to_frame(index=False).assign(row=range(len(chance)))
    tasks = users.merge(questions, on=["subject", "batch"])
    # in random order, a user's first questions of each dataset belong to phase 1
    tasks["order"] = rng.random(len(tasks))
    rank = tasks.groupby(["worker_id", "dataset"])["order"].rank()
    is_first = rank <= tasks["dataset"].map(N_FIRST)
    tasks["phase"] = np.where(is_first, 1, 2)
    alone = _chance_of(chance, tasks, USER_ALONE)
    tasks["confidence"] = _confidence(rng, alone)
    answers_first = tasks["condition"] == "answer-first"
    both = {
        USER_ALONE: tasks.assign(acc=_right(rng, alone))[is_first | answers_first],
        "userAIAnswer": tasks.assign(
            acc=_right(rng, _chance_of(chance, tasks, tasks["condition"]))
        )[~is_first],
    }
    answers = pd.concat(both, names=["answer_type"]).reset_index("answer_type")
    checks = answers.drop_duplicates("worker_id").assign(
        dataset=ATTENTION_CHECK, question_id=ATTENTION_CHECK, phase=1
    )
    checks["acc"] = (rng.random(len(checks)) < PASS_RATE).astype(int)
    answers = pd.concat([answers, checks], ignore_index=True)
    return answers.drop(columns=["subject", "batch", "row", "order"])


def _chance_of(
    chance: pd.DataFrame, tasks: pd.DataFrame, method: str | pd.Series
) -> np.ndarray:
    """Look up the chance of a right answer for each task."""
    pairs = pd.MultiIndex.from_frame(tasks[["model"]].assign(method=method))
    return chance.to_numpy()[tasks["row"], chance.columns.get_indexer(pairs)]


def _right(rng: np.random.Generator, chance: np.ndarray) -> np.ndarray:
    """Draw right (1) and wrong (0) answers."""
    return (rng.random(len(chance)) < chance).astype(int)


def _confidence(rng: np.random.Generator, chance: np.ndarray) -> np.ndarray:
    """Put confidence on its scale of three steps."""
    felt = chance + rng.normal(0, 0.3, len(chance))
    return np.array(CONFIDENCES)[np.digitize(felt, [0.4, 0.8])]


def conversations(rng: np.random.Generator, answers: pd.DataFrame) -> list[dict]:
    """Write a conversation for each answer with AI; names are those of the authors."""
    letters = np.array(["A", "B", "C", "D"])
    records = []
    for answer in answers.query("answer_type == 'userAIAnswer'").itertuples():
        key, wrong = rng.permutation(letters)[:2]
        selected = key if answer.acc else wrong
        # AI and user mostly agree; some users overrule the AI, some replies say nothing
        said = rng.choice([selected, key, wrong, ""], p=[0.7, 0.1, 0.1, 0.1])
        asked = f"question {answer.question_id} with its four options"
        is_copied = rng.random() < 0.4
        reply = f"The answer is {said}." if said else "Could you say more?"
        chat = [
            {"role": "You", "content": asked if is_copied else "can you help me"},
            {"role": "Bot", "content": reply},
        ]
        record = {
            "worker_id": answer.worker_id,
            "questionID": answer.question_id,
            "questionText": asked,
            "model": answer.model,
            "condition": answer.condition,
            "chatHistory": chat,
            "selectedAnswer": str(selected),
            "correctAnswer": str(key),
        }
        records.append(record)
    return records


def write(folder: Path, accuracies: pd.DataFrame, seed: int = 0) -> None:
    """Write simulated files of the full study and of both pilots into a folder.

    `accuracies` as for `chances`. The second pilot has questions of mathematics only.
    """
    rng = np.random.default_rng(seed)
    chance = chances(rng, accuracies)
    answers = user_answers(rng, chance)
    second = user_answers(rng, chance, n_users=100)
    in_mathematics = second.loc[second["dataset"].isin(MATHEMATICS), "worker_id"]
    runs = {
        "full_study": answers,
        "pilot_1_no_incentives": user_answers(rng, chance, n_users=100),
        "pilot_2_w_incentives_math": second[second["worker_id"].isin(in_mathematics)],
    }
    place = folder / "chatbench"
    for name, table in runs.items():
        (place / name).mkdir(parents=True)
        table.to_csv(place / name / "user_answers.csv", index=False)
    study = place / "full_study"
    answers.to_csv(study / "user_answers_filtered.csv", index=False)
    talks = json.dumps(conversations(rng, answers))
    (study / "conversations.json").write_text(talks, encoding="utf-8")
    ai_alone(rng, chance).to_csv(place / "ai_alone_answers.csv", index=False)
