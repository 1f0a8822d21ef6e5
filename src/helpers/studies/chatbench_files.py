"""The files of ChatBench as its authors released them: names of columns and of values."""

from pathlib import Path

import pandas as pd

from helpers.files import schemas, tables
from helpers.files.ratings import anonymise
from helpers.files.schemas import AI_METHODS, ATTENTION_CHECK
from helpers.files.tables import as_numbers, require_plain

ANSWERS_FILE = "chatbench/full_study/user_answers_filtered.csv"
AI_ALONE_FILE = "chatbench/ai_alone_answers.csv"

# Names in the authors' code, by names in the released files.
ALIASES = {
    "workerId": "worker_id",
    "questionID": "question_id",
    "ds": "dataset",
    "selectedAnswer": "selected_answer",
    "question_position": "position",
    "chatHistory": "chat_history",
}
COLUMN_NAMES = {"worker_id": "rater_id", "acc": "correct"}
VALUE_NAMES = {
    "model": {"gpt-4o": "GPT-4o", "llama-3.1-8b": "Llama-3.1-8b"},
    "dataset": {
        "elementary_mathematics": "Elementary Math",
        "high_school_mathematics": "High School Math",
        "college_mathematics": "College Math",
        "conceptual_physics": "Conceptual Physics",
        "moral_scenarios": "Moral Scenarios",
        "attention_check": ATTENTION_CHECK,
    },
    "condition": {"direct-to-AI": "direct to AI", "answer-first": "answer first"},
    "answer_type": {"userAnswer": "user-alone", "userAIAnswer": "user-AI"},
}
ANSWER_COLUMNS = (
    "worker_id",
    "model",
    "condition",
    "phase",
    "answer_type",
    "dataset",
    "question_id",
    "confidence",
    "acc",
)
METHOD_PREFIXES = dict(
    zip(("letter_only_zero_shot", "letter_only_few_shot", "free_text"), AI_METHODS, strict=True)
)


def read_answers(path: Path) -> pd.DataFrame:
    """Read the answers of users.

    Parameters
    ----------
    path : pathlib.Path
        ``user_answers.csv`` or ``user_answers_filtered.csv`` of one of the studies.

    Returns
    -------
    pandas.DataFrame
        Columns of `schemas.CHATBENCH_ANSWERS`, with labels in place of identifiers of users.

    Raises
    ------
    tables.BadTableError
        If columns are missing, all of which are named, or a value is not allowed.
    """
    table = tables.read_csv(path).rename(columns=ALIASES)
    tables.require(table, ANSWER_COLUMNS, path.name)
    table = table.replace(VALUE_NAMES).rename(columns=COLUMN_NAMES)
    table = table.assign(rater_id=anonymise(table["rater_id"].astype(str)))
    return schemas.check(table, schemas.CHATBENCH_ANSWERS, path.name)


def read_ai_alone(path: Path) -> pd.DataFrame:
    """Read how often the models alone were right on each question.

    Letters that are no option count as wrong, as in the paper (appendix B.1). Questions without
    answers by a method are left out.

    Parameters
    ----------
    path : pathlib.Path
        ``ai_alone_answers.csv``, one row per model and question.

    Returns
    -------
    pandas.DataFrame
        Columns of `schemas.CHATBENCH_AI_ALONE`, one row per model, method and question.

    Raises
    ------
    tables.BadTableError
        If columns are missing, all of which are named, or a value is not allowed.
    """
    table = tables.read_csv(path).rename(columns=ALIASES)
    keys = ["model", "dataset", "question_id"]
    numbers = [f"{prefix}_{kind}" for prefix in METHOD_PREFIXES for kind in ("count", "acc")]
    tables.require(table, [*keys, *numbers], path.name)
    require_plain(table, keys, path.name)
    table = as_numbers(table, numbers, path.name)
    parts = [
        table[keys].assign(
            method=method, n_answers=table[f"{prefix}_count"], accuracy=table[f"{prefix}_acc"]
        )
        for prefix, method in METHOD_PREFIXES.items()
    ]
    long = pd.concat(parts, ignore_index=True).replace(VALUE_NAMES)
    return schemas.check(long[long["n_answers"] > 0], schemas.CHATBENCH_AI_ALONE, path.name)


def without_attention_checks(answers: pd.DataFrame) -> pd.DataFrame:
    """Drop attention checks, and users who answered theirs wrongly.

    Parameters
    ----------
    answers : pandas.DataFrame
        Columns ``rater_id``, ``dataset`` and ``correct``.

    Returns
    -------
    pandas.DataFrame
        The other answers.

    References
    ----------
    Chang et al. (2025), appendix A.2.

    Examples
    --------
    >>> answers = pd.DataFrame({"rater_id": ["a", "a", "b", "b"], "correct": [1, 1, 0, 1],
    ...     "dataset": ["Attention Check", "College Math", "Attention Check", "College Math"]})
    >>> without_attention_checks(answers)["rater_id"].tolist()
    ['a']
    """
    checks = answers["dataset"] == ATTENTION_CHECK
    failed = answers.loc[checks & (answers["correct"] == 0), "rater_id"]
    return answers[~checks & ~answers["rater_id"].isin(failed)].reset_index(drop=True)
