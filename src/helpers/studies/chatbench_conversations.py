"""Readers for what ChatBench released beside the answers of its full study.

Each of the folders ``full_study``, ``pilot_1_no_incentives`` and
``pilot_2_w_incentives_math`` of the data set microsoft/ChatBench holds
``conversations.json`` and ``user_answers.csv``. They could not be had when this was
written: the form is that of the authors' code, and a file of another form is refused.
"""

import json
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from helpers.data import tables
from helpers.data.columns import chatbench as columns
from helpers.data.raters import anonymise
from helpers.models.benchmark import LETTERS
from helpers.studies import chatbench

NAMES = chatbench.ALIASES | {
    "selectedAnswer": "letter",
    "selected_answer": "letter",
    "correctAnswer": "answer",
    "correct_answer": "answer",
    "questionText": "question",
    "chatHistory": "messages",
    "chat_history": "messages",
}
VALUE_NAMES = chatbench.VALUE_NAMES | {
    "model": chatbench.VALUE_NAMES["model"] | {"gpt-4o-mini": "GPT-4o-mini"}
}
NEEDED = ("worker_id", "question_id", "model", "condition", "letter", "messages")
ROLES = {"You": "user", "Bot": "assistant", "user": "user", "assistant": "assistant"}
ALLOWED = {
    "model": columns.PILOT_MODELS,
    "condition": columns.CHAT_CONDITIONS,
    "letter": LETTERS,
}


def read_conversations(
    file: str | Path, answers: pd.Series | None = None
) -> pd.DataFrame:
    """Read conversations of people with an AI system, of the study or of a pilot.

    Parameters
    ----------
    file : str or pathlib.Path
        A ``conversations.json``: a list of conversations, or lists by question.
    answers : pandas.Series, optional
        Right letters by question. Without them, each conversation must hold its own, as
        ``correctAnswer``.

    Returns
    -------
    pandas.DataFrame
        One row per conversation: ``rater_id``, ``question_id``, ``model``,
        ``condition``, ``messages`` (lists of ``role``, "user" or "assistant", and
        ``content``), ``letter``, ``correct``, ``answer`` (the right letter) and
        ``question`` (its text; missing where the file has none). Other fields are left
        out. `helpers.models.scores` takes the table for people.

    Raises
    ------
    helpers.data.tables.BadTableError
        If the file is not there or not of this form; the message lists conversations
        and what is wrong with them.

    References
    ----------
    Chang et al. (2025), ChatBench, Appendix A.2.

    Examples
    --------
    >>> import tempfile
    >>> said = [{"role": "You", "content": "2 + 2?"}, {"role": "Bot", "content": "4"}]
    >>> talk = {"worker_id": "w", "questionID": "q", "model": "gpt-4o-mini",
    ...         "condition": "answer-first", "selectedAnswer": "B",
    ...         "correctAnswer": "B", "chatHistory": said}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "conversations.json"
    ...     _ = path.write_text(json.dumps([talk]))
    ...     read_conversations(path).loc[0, ["model", "letter"]].tolist()
    ['GPT-4o-mini', 'B']
    """
    path = tables.find(file)
    records = [_named(record) for record in _records(path)]
    problems = []
    for number, record in enumerate(records, start=1):
        problem = _problem(record, needs_answer=answers is None)
        if problem:
            problems.append(f"conversation {number}: {problem}")
    if problems:
        raise tables.bad_table(path.name, problems)
    table = pd.DataFrame(records)
    if answers is not None:
        known = "the table of right answers"
        tables.require_known(table["question_id"], answers.index, known, path.name)
        table["answer"] = table["question_id"].map(answers)
    table["rater_id"] = anonymise(table["worker_id"].astype(str))
    table["correct"] = table["letter"] == table["answer"]
    if "question" not in table:
        table["question"] = None
    shown = ["rater_id", "question_id", "model", "condition", "messages", "letter"]
    return table[[*shown, "correct", "answer", "question"]]


def _records(path: Path) -> list:
    """Read the conversations of a file, as they are."""
    with tables.readable(path, "JSON"):
        content = json.loads(path.read_text(encoding="utf-8"))
    groups = content.values() if isinstance(content, dict) else [content]
    if not all(isinstance(group, list) for group in groups):
        raise tables.bad_table(path.name, ["a list of conversations is needed"])
    return [record for group in groups for record in group]


def _named(record: object) -> object:
    """Give fields and values of a conversation the names that they have here."""
    if not isinstance(record, dict):
        return record
    named = {NAMES.get(key, key): value for key, value in record.items()}
    for key, names in VALUE_NAMES.items():
        if isinstance(named.get(key), str):
            named[key] = names.get(named[key], named[key])
    if isinstance(named.get("messages"), list):
        named["messages"] = [_message(each) for each in named["messages"]]
    return named


def _message(message: object) -> dict | None:
    """Bring a message into the form that chat models take; None if it is none."""
    if not isinstance(message, dict):
        return None
    role, content = message.get("role"), message.get("content")
    if role not in list(ROLES) or not tables.is_text(content):
        return None
    return {"role": ROLES[role], "content": content}


def _problem(record: object, needs_answer: bool) -> str:
    """Say what is wrong with a conversation, if anything is."""
    if not isinstance(record, dict):
        return f"a JSON object is needed, found {type(record).__name__}"
    needed = (*NEEDED, "answer") if needs_answer else NEEDED
    missing = [name for name in needed if name not in record]
    if missing:
        return f"{', '.join(missing)} missing"
    allowed: dict[str, Iterable] = ALLOWED | (
        {"answer": LETTERS} if needs_answer else {}
    )
    for key, values in allowed.items():
        if record[key] not in list(values):
            return f"{key} {tables.cell(record[key])} is not one of the study"
    if not tables.is_text(record["question_id"]):
        return "question_id is no text"
    messages = record["messages"]
    if not isinstance(messages, list) or None in messages:
        return "the messages are no list of texts with a known role"
    return ""


def read_pilot_answers(file: str | Path) -> pd.DataFrame:
    """Read the answers of a pilot, alone and with AI.

    Parameters
    ----------
    file : str or pathlib.Path
        A ``user_answers.csv``.

    Returns
    -------
    pandas.DataFrame
        Columns of `columns.chatbench.CHATBENCH_PILOT_ANSWERS`; attention checks, and
        users who failed them, are left out.

    Raises
    ------
    helpers.data.tables.BadTableError
        If the file is not there or not of this form.

    References
    ----------
    Chang et al. (2025), ChatBench, Appendix A.1.

    Examples
    --------
    >>> read_pilot_answers("chatbench/user_answers.csv")  # doctest: +SKIP
    """
    schema = columns.CHATBENCH_PILOT_ANSWERS
    answers = chatbench.read_answers(tables.find(file), schema, VALUE_NAMES)
    return chatbench.without_attention_checks(answers)
