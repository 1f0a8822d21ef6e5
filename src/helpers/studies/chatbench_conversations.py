"""Conversations of users with a model in ChatBench, and the questions that they are about.

The released files could not be had when this was written. Their form is taken from the authors'
published code and from the names in their file of answers; a file of another form is refused with
a message that says what is missing.
"""

import json
from collections.abc import Container, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from helpers.files import registry, tables
from helpers.files.ratings import anonymise
from helpers.files.tables import is_text
from helpers.simulate.chatbench import LETTERS, chatbench_conversations, chatbench_questions
from helpers.studies import chatbench
from helpers.studies.chatbench_files import ALIASES, VALUE_NAMES

QUESTIONS_FILE = "chatbench/questions.csv"
CONVERSATIONS_FILE = "chatbench/full_study/conversations.json"

KEYS = ("worker_id", "model", "condition", "question_id", "selected_answer", "chat_history")
OPTIONS = tuple(f"option_{letter}" for letter in LETTERS)
ROLES = {"You": "user", "Bot": "assistant", "user": "user", "assistant": "assistant"}
COLUMNS = ("rater_id", "model", "condition", "dataset", "question_id", "question", "messages")


@dataclass(frozen=True)
class Conversations:
    """Questions, and conversations about them.

    Parameters
    ----------
    source : {"real", "simulated"}
        Where they come from.
    questions : pandas.DataFrame
        ``question_id``, ``dataset``, ``question`` (with its lettered options) and ``answer``, the
        letter of the right option.
    conversations : pandas.DataFrame
        One row per conversation: ``rater_id``, ``model``, ``condition``, ``dataset``,
        ``question_id``, ``question``, ``messages`` (a list of dictionaries with ``role``, "user"
        or "assistant", and ``content``), ``answer``, the letter that the user selected, and
        ``correct``, 1 if it is the right one.
    """

    source: str
    questions: pd.DataFrame
    conversations: pd.DataFrame


def load(data_source: str = "auto", seed: int = 0) -> Conversations:
    """Load the conversations of the full study.

    The files are not downloaded: put them into the mirror or the cache (see `data/unpinned.csv`).

    Parameters
    ----------
    data_source : {"auto", "real", "simulated"}, optional
        As `registry.locate_unpinned`.
    seed : int, optional
        Seed of the simulation, if there is one. Simulated conversations lead to the answers of
        `chatbench.load` with the same seed.

    Returns
    -------
    Conversations
        The conversations and where they come from.

    Raises
    ------
    registry.DataUnavailableError, tables.BadTableError
        If a file cannot be had or is not as expected.

    Examples
    --------
    >>> loaded = load("simulated")
    >>> loaded.source, loaded.conversations["messages"].iloc[0][0]["role"]
    ('simulated', 'user')
    """
    located = registry.locate_unpinned([QUESTIONS_FILE, CONVERSATIONS_FILE], data_source)
    if located is not None:
        questions = read_questions(located[QUESTIONS_FILE])
        return Conversations(
            "real", questions, read_conversations(located[CONVERSATIONS_FILE], questions)
        )
    answers = chatbench.load("simulated", seed).answers
    rng = np.random.default_rng(seed)
    asked = answers[["question_id", "dataset"]].drop_duplicates().sort_values("question_id")
    invented = chatbench_questions(rng, asked)
    with_ai = answers[answers["answer_type"] == "user-AI"]
    records = chatbench_conversations(rng, invented, with_ai)
    questions = _with_options(invented)
    return Conversations("simulated", questions, _tabulated(records, questions, "simulation"))


def read_questions(path: Path) -> pd.DataFrame:
    """Read the questions and write each with its options, as a user saw it.

    Parameters
    ----------
    path : pathlib.Path
        ``questions.csv``.

    Returns
    -------
    pandas.DataFrame
        See `Conversations`.

    Raises
    ------
    tables.BadTableError
        If columns are missing, all of which are named, or an answer is no letter of an option.
    """
    table = tables.read_csv(path, dtype=str, keep_default_na=False).rename(columns=ALIASES)
    tables.require(table, ["question_id", "dataset", "question", *OPTIONS, "answer"], path.name)
    tables.require_known(table["answer"], LETTERS, "the letters A to D", path.name)
    again = table["question_id"].duplicated()
    if again.any():
        twice = table.loc[again, "question_id"].iloc[0]
        raise tables.bad_table(path.name, [f"question {tables.cell(twice)} stands there again"])
    return _with_options(table.replace(VALUE_NAMES))


def read_conversations(path: Path, questions: pd.DataFrame) -> pd.DataFrame:
    """Read conversations.

    Parameters
    ----------
    path : pathlib.Path
        ``conversations.json``: a list of conversations, or lists of them by question.
    questions : pandas.DataFrame
        Result of `read_questions`.

    Returns
    -------
    pandas.DataFrame
        See `Conversations`, with labels in place of identifiers of users.

    Raises
    ------
    tables.BadTableError
        If the file is no JSON or a conversation cannot be used. Conversations count from 1.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        problem = f"line {error.lineno}, character {error.colno}: not valid JSON ({error.msg})"
        raise tables.bad_table(path.name, [problem]) from None
    except (OSError, ValueError, RecursionError) as error:
        raise tables.unreadable(path, "JSON", error) from None
    groups = content.values() if isinstance(content, dict) else [content]
    if not all(isinstance(group, list) for group in groups):
        raise tables.bad_table(path.name, ["a list of conversations is needed"])
    records = [record for group in groups for record in group]
    return _tabulated(records, questions, path.name)


def _with_options(table: pd.DataFrame) -> pd.DataFrame:
    """Put question and lettered options into one text."""
    lines = [table["question"], *(f"{letter}. " + table[f"option_{letter}"] for letter in LETTERS)]
    text = lines[0].str.cat(lines[1:], sep="\n")
    columns = ["question_id", "dataset", "question", "answer"]
    return table.assign(question=text)[columns].reset_index(drop=True)


def _tabulated(records: list, questions: pd.DataFrame, name: str) -> pd.DataFrame:
    """Make a table of conversations, each checked and joined with its question."""
    asked = questions.set_index("question_id")
    known = set(asked.index)
    problems = [
        f"conversation {number}: {problem}"
        for number, record in enumerate(records, start=1)
        if (problem := _problem(record, known))
    ]
    if problems:
        raise tables.bad_table(name, problems)
    table = pd.DataFrame([_renamed(record) for record in records], columns=list(KEYS))
    table = table.rename(columns={"selected_answer": "answer"}).replace(VALUE_NAMES)
    table = table.join(asked[["dataset", "question"]], on="question_id").assign(
        rater_id=anonymise(table["worker_id"].astype(str)),
        messages=[[_message(each) for each in history] for history in table["chat_history"]],
        correct=(table["answer"] == table["question_id"].map(asked["answer"])).astype(float),
    )
    return table[[*COLUMNS, "answer", "correct"]]


def _renamed(record: Mapping) -> dict:
    """Give keys the names of the released files."""
    return {ALIASES.get(key, key): value for key, value in record.items()}


def _message(message: Mapping) -> dict[str, str]:
    """Bring a message into the form that chat models take."""
    return {"role": ROLES[message["role"]], "content": message["content"]}


def _problem(record: object, known: set[str]) -> str | None:
    """Say what is wrong with a conversation, if anything is."""
    if not isinstance(record, dict):
        return f"a JSON object is needed, found {type(record).__name__}"
    record = _renamed(record)
    missing = [repr(key) for key in KEYS if key not in record]
    if missing:
        return f"{', '.join(missing)} missing"
    if not isinstance(record["worker_id"], int) and not is_text(record["worker_id"]):
        return "worker_id is neither text nor a number"
    if not _is_one_of(record["question_id"], known):
        return f"question {tables.cell(record['question_id'])} is not among the questions"
    for key in ("model", "condition"):
        if not _is_one_of(record[key], {*VALUE_NAMES[key], *VALUE_NAMES[key].values()}):
            return f"{key} {tables.cell(record[key])} is not one of the study"
    if not _is_one_of(record["selected_answer"], set(LETTERS)):
        return f"selected_answer {tables.cell(record['selected_answer'])} is no letter from A to D"
    history = record["chat_history"]
    if not isinstance(history, list) or not all(map(_is_message, history)):
        return "chat_history is no list of messages with a known role and a text"
    return None


def _is_message(message: object) -> bool:
    """Tell whether this is a message that can be understood."""
    return (
        isinstance(message, dict)
        and _is_one_of(message.get("role"), ROLES)
        and is_text(message.get("content"))
    )


def _is_one_of(value: object, known: Container[str]) -> bool:
    """Tell whether something that a file holds is one of the texts that are known."""
    return isinstance(value, str) and value in known
