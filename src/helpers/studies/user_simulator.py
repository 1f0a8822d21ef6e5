"""A model that plays the user of an AI system: how it is told, trained, run and scored.

A simulated user opens a conversation, and after each reply goes on or answers. The
wording of the instructions is ours; what they ask for is described by Chang et al.
(2025), section 5.1 and Figure 6. `examples` turns conversations into what such a model
is fine-tuned on, in files of one JSON object a line, as services take them. `run` lets
it talk through any endpoint that speaks OpenAI's protocol; `VARIABLES` names the
environment variables that tell where, and nothing is sent to an address that they do
not name.

Section 5.2 scores simulated users by the correlation and the mean absolute error (MAE)
of their accuracies, over questions. What these scores do when the truth is known is
seen on pretended simulators: these write nothing, but are right with some chance on
each question.
"""

import importlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np
import pandas as pd
from scipy import stats

from helpers.data import tables
from helpers.paths import replace_files

VARIABLES = {
    "USER_SIMULATOR_URL": "address of the endpoint, such as http://localhost:8000/v1",
    "USER_SIMULATOR_KEY": "its key; any word if it asks for none",
    "USER_SIMULATOR_MODEL": "model that plays the user",
    "USER_SIMULATOR_AI": "model that the user talks with",
}
SPEAKERS = {"user": "You", "assistant": "AI"}
AI_ROLE = {"role": "system", "content": "You are a helpful assistant."}
AI_TEMPERATURE, USER_TEMPERATURE = 0.7, 1.0
SHORTEST_KEY = 6  # characters; less is a word for an endpoint that asks for no key
COLUMNS = (
    "question_id",
    "run",
    "user_model",
    "ai_model",
    "max_messages",
    "messages",
    "answer",
)
KINDS = ("as people", "too able", "unrelated")
AVOIDED_ERRORS = 0.6  # share of people's errors that a simulator "too able" avoids
N_RUNS = 10  # conversations of a simulator about each question, as in the paper

_ROLE = (
    "Act as a person who has the following multiple-choice question and asks an AI "
    "system for help with it.\n\n{question}"
)
_FIRST = (
    "Write your first message to the AI system, in the words that a person would type."
)
_SO_FAR = "Your conversation with the AI system so far:\n\n{conversation}\n\n"
_ANSWER = (
    'write "Answer: " and the letter of one option (A, B, C or D), and nothing else.'
)
_NEXT = (
    f"If this settles your question, {_ANSWER} If it does not, write your next message "
    "to the AI system, in the style of your messages so far."
)
_LAST = f"There is no time for another message. Choose an option: {_ANSWER}"

_ANSWER_LINE = re.compile(r"\W*(?i:answer)\s*:\W*([A-D])(?:\W*|[.):,].*)")


class SimulatorError(RuntimeError):
    """A simulated conversation cannot be had; the message says why and what to do."""


@dataclass(frozen=True)
class Endpoint:
    """Where models answer, and which ones are used."""

    url: str
    key: str = field(repr=False)
    user_model: str
    ai_model: str
    timeout: float = 60.0
    retries: int = 2

    def __post_init__(self) -> None:
        """Refuse what cannot be sent, and a key in what is shown."""
        shown = {
            "USER_SIMULATOR_URL": self.url,
            "USER_SIMULATOR_MODEL": self.user_model,
            "USER_SIMULATOR_AI": self.ai_model,
        }
        # No message has a value in it: one may have the key.
        values = shown | {"USER_SIMULATOR_KEY": self.key}
        for name in VARIABLES:
            value = values[name]
            if not value.isprintable() or value != value.strip():
                raise SimulatorError(
                    f"{name} has a line break or blanks around it: set it again."
                )
        if not self.key.isascii():
            raise SimulatorError(
                "USER_SIMULATOR_KEY has letters that no header can hold."
            )
        for name, value in shown.items():
            plain_value = unquote(value)
            if self.without_key(plain_value) != plain_value:
                raise SimulatorError(
                    f"{name} has the key in it, and would be shown: leave it out there."
                )
        if not _is_address(self.url):
            raise SimulatorError(
                "USER_SIMULATOR_URL must be an address without user name, password or "
                "question mark, such as http://localhost:8000/v1."
            )

    def without_key(self, text: str) -> str:
        """Put a mark in the place of the key, for all that is printed or kept."""
        if len(self.key) < SHORTEST_KEY:
            return text
        return text.replace(self.key, "[key]")


def missing_variables(environment: Mapping[str, str] = os.environ) -> list[str]:
    """Name the variables that are still to be set.

    Parameters
    ----------
    environment : mapping of str to str, optional
        Environment variables.

    Returns
    -------
    list of str
        Empty if an endpoint can be used.

    Examples
    --------
    >>> missing_variables({"USER_SIMULATOR_URL": "http://localhost:8000/v1"})
    ['USER_SIMULATOR_KEY', 'USER_SIMULATOR_MODEL', 'USER_SIMULATOR_AI']
    """
    return [name for name in VARIABLES if not environment.get(name)]


def endpoint_from(environment: Mapping[str, str] = os.environ) -> Endpoint:
    """Read the endpoint from environment variables.

    Parameters
    ----------
    environment : mapping of str to str, optional
        Environment variables.

    Returns
    -------
    Endpoint
        The endpoint.

    Raises
    ------
    SimulatorError
        If a variable is not set. The message names and explains all that are missing.
    """
    missing = missing_variables(environment)
    if missing:
        lines = ["No endpoint is set. Set these variables:"]
        lines += [f"  {name}: {VARIABLES[name]}" for name in missing]
        raise SimulatorError("\n".join(lines))
    return Endpoint(
        url=environment["USER_SIMULATOR_URL"],
        key=environment["USER_SIMULATOR_KEY"],
        user_model=environment["USER_SIMULATOR_MODEL"],
        ai_model=environment["USER_SIMULATOR_AI"],
    )


def instructions(
    question: str, conversation: Sequence[dict[str, str]], must_answer: bool = False
) -> list[dict[str, str]]:
    """Tell a model what a simulated user has to write now.

    Parameters
    ----------
    question : str
        The question with its lettered options.
    conversation : sequence of dict
        Messages so far, with ``role`` ("user" or "assistant") and ``content``. With
        none, the first message is asked for; with some, an answer or the next message.
    must_answer : bool, optional
        Whether only an answer will do.

    Returns
    -------
    list of dict
        A system and a user message for the model that plays the user.

    References
    ----------
    Chang et al. (2025), section 5.1.

    Examples
    --------
    >>> first = instructions("How many?", [])
    >>> [message["role"] for message in first]
    ['system', 'user']
    >>> print(first[1]["content"])
    Write your first message to the AI system, in the words that a person would type.
    """
    if conversation:
        lines = []
        for message in conversation:
            speaker = SPEAKERS[message["role"]]
            lines.append(f"{speaker}: {message['content']}")
        so_far = _SO_FAR.format(conversation="\n\n".join(lines))
        task = so_far + (_LAST if must_answer else _NEXT)
    else:
        task = _FIRST
    return [
        {"role": "system", "content": _ROLE.format(question=question)},
        {"role": "user", "content": task},
    ]


def examples(conversations: pd.DataFrame) -> pd.DataFrame:
    """Make the training examples of each conversation.

    A conversation with k messages of the user gives k + 1 examples: one for the first
    message, one for each later message, given the conversation before it, and one for
    the answer, given the whole conversation. Without a message of the user it gives
    none; what the AI system says before the first one is left out.

    Parameters
    ----------
    conversations : pandas.DataFrame
        One row per conversation: ``question_id``, ``question``, ``messages``
        (dictionaries with ``role``, "user" or "assistant", and ``content``) and
        ``answer``, a letter.

    Returns
    -------
    pandas.DataFrame
        One row per example: ``conversation``, the label of its row; ``question_id``;
        ``step`` ("first", "next" or "answer"); ``messages``, the instructions followed
        by what the user wrote, as a message of the assistant.

    References
    ----------
    Chang et al. (2025), section 5.1.

    Examples
    --------
    >>> talk = [
    ...     {"role": "user", "content": "bado?"},
    ...     {"role": "assistant", "content": "keli."},
    ... ]
    >>> conversations = pd.DataFrame({"question_id": ["q1"], "question": ["How many?"],
    ...                               "messages": [talk], "answer": ["B"]})
    >>> made = examples(conversations)
    >>> made["step"].tolist()
    ['first', 'answer']
    >>> [messages[-1]["content"] for messages in made["messages"]]
    ['bado?', 'Answer: B']
    """
    rows = []
    for row in conversations.itertuples():
        for step, before, text in _steps(row.messages, row.answer):
            target = {"role": "assistant", "content": text}
            messages = [*instructions(row.question, before), target]
            rows.append((row.Index, row.question_id, step, messages))
    return pd.DataFrame(
        rows, columns=["conversation", "question_id", "step", "messages"]
    )


def _steps(
    messages: Sequence[dict], letter: str
) -> Iterator[tuple[str, Sequence[dict], str]]:
    """Go through what a user wrote: step, conversation before it, and the text."""
    by_user = [message["role"] == "user" for message in messages]
    if not any(by_user):
        return
    # What the AI system says before the user's first message is left out.
    start = by_user.index(True)
    for place in range(start, len(messages)):
        if by_user[place]:
            step = "first" if place == start else "next"
            yield step, messages[start:place], messages[place]["content"]
    yield "answer", messages[start:], f"Answer: {letter}"


def write_jsonl(records: Iterable[dict], path: Path) -> None:
    r"""Write one JSON object a line, all in one step, so that there is no half file.

    Parameters
    ----------
    records : iterable of dict
        For training examples, each has the key ``messages``.
    path : pathlib.Path
        The file; its folder is made if needed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_jsonl([{"messages": []}], Path(folder) / "chats.jsonl")
    ...     (Path(folder) / "chats.jsonl").read_text()
    '{"messages": []}\n'
    """
    lines = [f"{json.dumps(record, allow_nan=False)}\n" for record in records]
    replace_files({path: "".join(lines).encode()})


def run(
    questions: pd.DataFrame,
    endpoint: Endpoint,
    path: Path,
    n_runs: int = N_RUNS,
    max_messages: int = 10,
) -> pd.DataFrame:
    """Hold several conversations about each question, and keep them in a file.

    The file is renewed in one step whenever a question is finished, so that it never
    holds a part of a conversation. If something fails, the questions finished so far
    stay, and a further call with the same file goes on from there.

    Parameters
    ----------
    questions : pandas.DataFrame
        One row per question: ``question_id`` and ``question``.
    endpoint : Endpoint
        Where the two models are.
    path : pathlib.Path
        A file of one conversation a line; made if there is none.
    n_runs : int, optional
        Conversations about each question; ten in the paper.
    max_messages : int, optional
        Messages of the user after which only an answer is asked for.

    Returns
    -------
    pandas.DataFrame
        The conversations in the file: ``question_id``, ``run`` (from 1),
        ``user_model``, ``ai_model``, ``max_messages``, ``messages`` and ``answer``,
        missing where there is none.

    Raises
    ------
    SimulatorError
        If the file was made with other models or another limit, or a conversation
        fails. The message names the question.
    tables.BadTableError
        If the file is damaged.

    References
    ----------
    Chang et al. (2025), section 5.2.
    """
    setting = {
        "user_model": endpoint.user_model,
        "ai_model": endpoint.ai_model,
        "max_messages": max_messages,
    }
    done = _finished(path, setting)
    for asked in questions.itertuples():
        question_id = asked.question_id
        runs_done = {row["run"] for row in done if row["question_id"] == question_id}
        for number in range(1, n_runs + 1):
            if number in runs_done:
                continue
            try:
                messages, letter = _converse(asked.question, endpoint, max_messages)
            except SimulatorError as error:
                advice = "Finished questions are kept; run again to go on."
                raise SimulatorError(
                    f"question {question_id}: {error} {advice}"
                ) from error
            row = {"question_id": question_id, "run": number} | setting
            row |= {"messages": messages, "answer": letter}
            done.append(row)
        write_jsonl(done, path)
    return pd.DataFrame(done, columns=list(COLUMNS))


def _finished(path: Path, setting: Mapping[str, object]) -> list[dict]:
    """Read the conversations of an earlier run, which must have the same setting."""
    if not path.is_file():
        return []
    earlier = tables.read_jsonl(path)
    tables.require(earlier, COLUMNS, path.name)
    for name, value in setting.items():
        others = earlier.loc[earlier[name] != value, name]
        if len(others):
            raise SimulatorError(
                f"{path.name} was made with {name} {others.iloc[0]!r}, not {value!r}: "
                "delete it or choose another file."
            )
    # None, as JSON has no NaN
    return earlier.astype(object).where(earlier.notna(), None).to_dict("records")


def _is_address(url: str) -> bool:
    """Tell whether an address names a server, and nothing that is secret."""
    if re.search("[@?#]", url):
        return False
    try:
        parts = urlsplit(url)
        has_host = parts.hostname is not None and parts.port != 0
    except ValueError:
        return False
    return has_host and parts.scheme in ("http", "https")


def _converse(
    question: str, endpoint: Endpoint, max_messages: int
) -> tuple[list, str | None]:
    """Let a simulated user ask an AI system about one question."""
    openai = _openai()
    messages: list[dict[str, str]] = []
    with openai.OpenAI(
        base_url=endpoint.url,
        api_key=endpoint.key,
        timeout=endpoint.timeout,
        max_retries=endpoint.retries,
    ) as client:

        def ask_user(prompt: list[dict[str, str]]) -> str:
            return _reply(
                client, endpoint, endpoint.user_model, USER_TEMPERATURE, prompt
            )

        def ask_ai(prompt: list[dict[str, str]]) -> str:
            return _reply(client, endpoint, endpoint.ai_model, AI_TEMPERATURE, prompt)

        for _ in range(max_messages):
            reply = ask_user(instructions(question, messages))
            letter = _parse_answer(reply)
            # An answer before the first message would be no conversation.
            if messages and letter is not None:
                return messages, letter
            # A reply of nothing but marks is kept: empty messages are not allowed.
            content = _clean_message(reply) or reply
            messages.append({"role": "user", "content": content})
            content = ask_ai([AI_ROLE, *messages])
            messages.append({"role": "assistant", "content": content})
        reply = ask_user(instructions(question, messages, must_answer=True))
        return messages, _parse_answer(reply)


def _openai() -> Any:
    """The package that talks with endpoints; it takes a second or two to load."""
    try:
        return importlib.import_module("openai")
    except ImportError as error:
        raise SimulatorError(
            "the package openai is not installed: install it, as in "
            ".venv/bin/uv pip install --python .venv/bin/python openai."
        ) from error


def _parse_answer(reply: str) -> str | None:
    """Find the letter in a reply that is an answer."""
    first_line = reply.strip().partition("\n")[0]
    match = _ANSWER_LINE.fullmatch(first_line)
    return match[1] if match else None


def _clean_message(reply: str) -> str:
    """Take away what models put around a message: the speaker and quotation marks."""
    message = reply.strip().removeprefix(f"{SPEAKERS['user']}:").strip()
    if len(message) > 1 and message.startswith('"') and message.endswith('"'):
        message = message[1:-1].strip()
    return message


def _reply(
    client: Any, endpoint: Endpoint, model: str, temperature: float, messages: list
) -> str:
    """Ask a model for a reply, which must have a text."""
    try:
        response = client.chat.completions.create(
            model=model, messages=messages, temperature=temperature
        )
    except Exception as error:
        # What it was raised from may show the key, or what the server says of it.
        failure = endpoint.without_key(_failure(error, endpoint, model))
        raise SimulatorError(f"{endpoint.url} {failure}.") from None
    # Some endpoints send no text, or something else altogether.
    choices = getattr(response, "choices", None) or [None]
    text = getattr(getattr(choices[0], "message", None), "content", None)
    if not isinstance(text, str) or not text.strip():
        raise SimulatorError(
            f"{endpoint.url} sent no text as reply of model {model!r}."
        )
    return endpoint.without_key(text.strip())


def _failure(error: Exception, endpoint: Endpoint, model: str) -> str:
    """Say what an endpoint did wrong, and what to do about it."""
    openai = _openai()
    match error:
        case openai.APITimeoutError():
            return f"did not reply within {endpoint.timeout:g} seconds"
        case openai.APIConnectionError():
            return f"cannot be reached ({error}): check USER_SIMULATOR_URL"
        case openai.AuthenticationError() | openai.PermissionDeniedError():
            status = error.status_code
            return f"refused the key (status {status}): check USER_SIMULATOR_KEY"
        case openai.APIStatusError():
            return f"answered with status {error.status_code} for model {model!r}"
    return f"sent no reply that can be read ({error})"


def score_ranges(
    rng: np.random.Generator, questions: pd.DataFrame, n_draws: int
) -> pd.DataFrame:
    """Draw people and pretended simulators many times, and score these each time.

    The chance of a right answer follows a beta distribution over questions. A simulator
    "as people" has the same chance as people, one that is "too able" avoids 60 % of
    their errors, and an "unrelated" one has a chance of its own from the same
    distribution.

    Parameters
    ----------
    rng : numpy.random.Generator
    questions : pandas.DataFrame
        One row per question: ``mean`` and ``variance`` of the chance over questions
        like this one; ``n_answers``, given by people.
    n_draws : int
        Number of draws.

    Returns
    -------
    pandas.DataFrame
        ``mean``, ``low`` and ``high`` (central 95 % of the draws), indexed by ``score``
        ("correlation" or "mae", the mean absolute error) and ``simulator``, one of
        `KINDS`.

    References
    ----------
    Chang et al. (2025), section 5.2.

    Examples
    --------
    >>> questions = pd.DataFrame({"n_answers": [7] * 100})
    >>> questions = questions.assign(mean=0.7, variance=0.05)
    >>> ranges = score_ranges(np.random.default_rng(0), questions, n_draws=50)
    >>> ranges.loc[("correlation", "as people"), "mean"].round(1)
    np.float64(0.7)
    """
    chance_of_people = _chances(rng, questions, n_draws)
    chances = {
        "as people": chance_of_people,
        "too able": chance_of_people + AVOIDED_ERRORS * (1 - chance_of_people),
        "unrelated": _chances(rng, questions, n_draws),
    }
    n_answers = questions["n_answers"].to_numpy()
    share_of_people = rng.binomial(n_answers, chance_of_people) / n_answers
    correlations = {}
    errors = {}
    for kind in KINDS:
        share = rng.binomial(N_RUNS, chances[kind]) / N_RUNS
        correlation = stats.pearsonr(share, share_of_people, axis=1).statistic
        correlations["correlation", kind] = correlation
        errors["mae", kind] = abs(share - share_of_people).mean(axis=1)
    draws = pd.DataFrame(correlations | errors)
    draws = draws.rename_axis(columns=["score", "simulator"])
    return pd.DataFrame(
        {
            "mean": draws.mean(),
            "low": draws.quantile(0.025),
            "high": draws.quantile(0.975),
        }
    )


def _chances(
    rng: np.random.Generator, questions: pd.DataFrame, n_draws: int
) -> np.ndarray:
    """Draw the chance of each question from a beta distribution, by its moments."""
    mean = questions["mean"].to_numpy()
    # A beta distribution needs a variance between none and that of 0 and 1 alone.
    largest = mean * (1 - mean)
    variance = np.clip(questions["variance"].to_numpy(), 0.02 * largest, 0.95 * largest)
    strength = largest / variance - 1  # the sum of the two parameters
    return rng.beta(mean * strength, (1 - mean) * strength, (n_draws, len(questions)))
