"""A model plays the user of an AI system: ChatBench's Two-Step and IQA-EVAL.

The simulated user knows a multiple-choice question, the AI system does not. They talk
until the user answers, or until it has to (Chang et al. 2025, section 5; the rules are
those of the authors' code, the wording is ours).
"""

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from helpers.data import tables
from helpers.models import answers, prompts
from helpers.models.ask import Message, Model
from helpers.models.benchmark import LETTERS, as_text

SIMULATORS = ("two_step", "iqa_eval")
MOST_TURNS = 10  # prompts of a user, after which it must answer
USER_TEMPERATURE = 1.0
AI_TEMPERATURE = 0.7
LONGEST_REPLY = 1000
# How the AI system is called in the user's prompt, and how an answer begins.
NAMES = {"two_step": "SYSTEM", "iqa_eval": "ASSISTANT"}
ANSWERS = {
    "two_step": re.compile(r"Answer: (.*)", re.DOTALL),
    "iqa_eval": re.compile(r".*?So, the answer is: (.*)", re.DOTALL),
}


def converse(
    question: dict,
    user: Model,
    ai: Model,
    simulator: str = "two_step",
    max_turns: int = MOST_TURNS,
    max_tokens: int = LONGEST_REPLY,
    seed: int = 0,
) -> tuple[list[Message], str | None]:
    """Let a simulated user talk with an AI system until it answers a question.

    Parameters
    ----------
    question : dict
        ``question`` and ``option_A`` to ``option_D``.
    user, ai : Model
        Who plays the user, and who answers it.
    simulator : {"two_step", "iqa_eval"}, optional
        The instructions of the user.
    max_turns : int, optional
        Prompts of the user after which it is told to answer.
    max_tokens : int, optional
        Where texts are cut.
    seed : int, optional
        Of the random numbers; it rises by 1 with each text.

    Returns
    -------
    conversation : list of dict
        Prompts (``role`` "user") and replies ("assistant") in turn. It may be empty
        with IQA-EVAL, whose user may answer at once; a Two-Step user must ask first.
    letter : str or None
        The option chosen. None if what follows "Answer:" is no option, which ends a
        conversation too, or if the user does not answer even when it must. (The
        authors' code sends such a text to the AI system before it gives up.)

    Raises
    ------
    helpers.data.tables.PlainError
        If the simulator is unknown, `max_turns` is less than 1, or a model does not
        answer.

    References
    ----------
    Chang et al. (2025), ChatBench, section 5 and Listings 6 to 9; Li et al. (2024),
    IQA-EVAL.

    Examples
    --------
    >>> from helpers.models.ask import connect
    >>> question = {"question": "1 + 1?", "option_A": "1", "option_B": "2",
    ...             "option_C": "3", "option_D": "4"}
    >>> converse(question, connect(), connect())[1]  # doctest: +SKIP
    'B'
    """
    if simulator not in SIMULATORS or max_turns < 1:
        raise tables.OptionError(
            f"simulator {simulator!r}, max_turns {max_turns}: choose one of "
            f"{SIMULATORS}, and at least 1 turn."
        )
    system = {"role": "system", "content": prompts.read("benchmark")["system"]}
    conversation: list[Message] = []
    for turn in range(max_turns + 1):
        must_answer = turn == max_turns
        asked = instructions(question, conversation, simulator, must_answer)
        text = user.chat(asked, USER_TEMPERATURE, max_tokens, seed + 2 * turn)
        text = cleaned(text)
        may_answer = simulator == "iqa_eval" or turn > 0
        answer = ANSWERS[simulator].match(text) if may_answer else None
        if answer:
            first = answer[1][:1]
            return conversation, first if first in LETTERS else None
        if must_answer:
            break
        conversation.append({"role": "user", "content": text})
        told = [system, *conversation]
        reply = ai.chat(told, AI_TEMPERATURE, max_tokens, seed + 2 * turn + 1)
        conversation.append({"role": "assistant", "content": reply})
    return conversation, None


def instructions(
    question: dict,
    conversation: Sequence[Message],
    simulator: str,
    must_answer: bool = False,
) -> list[Message]:
    """Tell the simulated user what to write now."""
    wording = prompts.read(simulator)
    letters = ", ".join(LETTERS[:-1]) + f", or {LETTERS[-1]}"
    names = {"user": "YOU", "assistant": NAMES[simulator]}
    said = "\n\n".join(
        f"{names[message['role']]}: {message['content']}" for message in conversation
    )
    step = wording["last" if must_answer else "next"]
    if simulator == "iqa_eval":
        system = wording["system"].format(
            task=step.format(letters=letters),
            question=as_text(question),
            conversation=f"\n\n{said}" if said else "",
        )
        return [{"role": "system", "content": system}]
    if conversation:
        request = step.format(conversation=said, letters=letters)
    else:
        request = wording["first"]
    return [
        {
            "role": "system",
            "content": wording["system"].format(question=as_text(question)),
        },
        {"role": "user", "content": request},
    ]


def cleaned(text: str) -> str:
    """Drop blanks, quotation marks and the speaker's name around a simulated text.

    Examples
    --------
    >>> cleaned(' "YOU: how much is it?"')
    'how much is it?'
    """
    return text.strip().strip('"').removeprefix("YOU: ").strip()


def simulate(
    questions: pd.DataFrame,
    user: Model,
    ai: Model,
    simulator: str = "two_step",
    n_conversations: int = 10,
    max_turns: int = MOST_TURNS,
    max_tokens: int = LONGEST_REPLY,
    file: str | Path | None = None,
) -> pd.DataFrame:
    """Hold several conversations about each question.

    Parameters
    ----------
    questions : pandas.DataFrame
        As from `benchmark.read_questions`.
    user, ai, simulator, max_turns, max_tokens
        As for `converse`.
    n_conversations : int, optional
        Conversations about each question; the paper has 10.
    file : str or pathlib.Path, optional
        As for `answers.collect`.

    Returns
    -------
    pandas.DataFrame
        One row per conversation: ``question_id``, ``number`` from 0, ``messages``,
        ``letter``, ``correct`` (no letter is not correct), ``simulator``, ``user``,
        ``model`` (the AI system), ``max_turns`` and ``max_tokens``.

    Raises
    ------
    helpers.data.tables.PlainError
        As `converse`.

    Examples
    --------
    >>> from helpers.models.ask import connect
    >>> from helpers.models.benchmark import read_questions
    >>> model = connect()  # doctest: +SKIP
    >>> questions = read_questions("data/example/questions.csv")
    >>> talks = simulate(questions[:3], model, model)  # doctest: +SKIP
    """
    numbers = pd.DataFrame({"number": range(n_conversations)})
    settings = {
        "simulator": simulator,
        "user": user.name,
        "model": ai.name,
        "max_turns": max_turns,
        "max_tokens": max_tokens,
    }
    talks = answers.collect(
        partial(_talk, user, ai, simulator, max_turns, max_tokens),
        questions.merge(numbers, how="cross"),
        ["question_id", "number"],
        settings,
        file,
        min(user.n_at_once, ai.n_at_once),
    )
    right = talks["question_id"].map(questions.set_index("question_id")["answer"])
    talks["correct"] = talks["letter"] == right
    return talks


def _talk(
    user: Model, ai: Model, simulator: str, max_turns: int, max_tokens: int, job: dict
) -> dict:
    """Hold one conversation; its number sets the random numbers."""
    seed = 2 * (max_turns + 1) * job["number"]
    messages, letter = converse(job, user, ai, simulator, max_turns, max_tokens, seed)
    return {"messages": messages, "letter": letter}
