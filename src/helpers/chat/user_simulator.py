"""Let a simulated user talk with an AI system, through any endpoint that speaks OpenAI's protocol.

`helpers.chat.endpoints` says how to name one.
"""

from collections.abc import Mapping
from pathlib import Path

import openai
import pandas as pd

from helpers.chat.chat_files import write_jsonl
from helpers.chat.endpoints import Endpoint, SimulatorError
from helpers.chat.two_step import clean_message, instructions, parse_answer
from helpers.files import tables

AI_ROLE = {"role": "system", "content": "You are a helpful assistant."}
AI_TEMPERATURE, USER_TEMPERATURE = 0.7, 1.0
COLUMNS = ("question_id", "run", "user_model", "ai_model", "max_messages", "messages", "answer")


class EndpointError(SimulatorError):
    """The endpoint cannot be reached, refuses, or does not answer in time."""


class ReplyError(SimulatorError):
    """What the endpoint returns is no reply of a chat model."""


def converse(
    question: str, endpoint: Endpoint, max_messages: int = 10
) -> tuple[list[dict[str, str]], str | None]:
    """Let a simulated user ask an AI system about one question.

    The user opens the conversation and then, after each reply, answers the question or writes
    another message; after `max_messages` messages only an answer is asked for.

    Parameters
    ----------
    question : str
        The question with its lettered options. Only the simulated user sees it.
    endpoint : Endpoint
        Where the two models are.
    max_messages : int, optional
        Messages that the user may send.

    Returns
    -------
    messages : list of dict
        The conversation: ``role`` ("user" or "assistant") and ``content``.
    answer : str or None
        The letter that the user chose; None if the last reply was no answer either.

    Raises
    ------
    EndpointError, ReplyError
        If a reply cannot be had or has no text.

    References
    ----------
    Chang et al. (2025), section 5.1.
    """
    messages: list[dict[str, str]] = []
    with _client(endpoint) as client:
        for _ in range(max_messages):
            reply = _user_reply(client, endpoint, instructions(question, messages))
            if messages and (letter := parse_answer(reply)):
                return messages, letter
            messages.append({"role": "user", "content": clean_message(reply) or reply})
            reply = _reply(
                client, endpoint, endpoint.ai_model, [AI_ROLE, *messages], AI_TEMPERATURE
            )
            messages.append({"role": "assistant", "content": reply})
        last = instructions(question, messages, must_answer=True)
        return messages, parse_answer(_user_reply(client, endpoint, last))


def run(
    questions: pd.DataFrame,
    endpoint: Endpoint,
    path: Path,
    n_runs: int = 10,
    max_messages: int = 10,
) -> pd.DataFrame:
    """Hold several conversations about each question, and keep them in a file.

    The file is renewed in one step whenever a question is finished, so that it never holds a part
    of a conversation. If something fails, the questions finished so far stay, and a further call
    with the same file goes on from there.

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
        As for `converse`.

    Returns
    -------
    pandas.DataFrame
        The conversations in the file: ``question_id``, ``run`` (from 1), ``user_model``,
        ``ai_model``, ``max_messages``, ``messages`` and ``answer``, missing where there is none.

    Raises
    ------
    SimulatorError
        If the file was made with other models or another limit, or a conversation fails. The
        message names the question.
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
        runs = range(1, n_runs + 1)
        held = {row["run"] for row in done if row["question_id"] == asked.question_id}
        for number in [run for run in runs if run not in held]:
            messages, letter = _named(asked, endpoint, max_messages)
            result = {"messages": messages, "answer": letter}
            done.append({"question_id": asked.question_id, "run": number, **setting, **result})
        write_jsonl(done, path)
    return pd.DataFrame(done, columns=list(COLUMNS))


def _named(asked: tuple, endpoint: Endpoint, max_messages: int) -> tuple[list, str | None]:
    """Hold a conversation; an error names the question and says that the rest is kept."""
    try:
        return converse(asked.question, endpoint, max_messages)
    except SimulatorError as error:
        advice = "Finished questions are kept; run again to go on."
        raise type(error)(f"question {asked.question_id}: {error} {advice}") from error


def _finished(path: Path, setting: Mapping[str, object]) -> list[dict]:
    """Read the conversations of an earlier run, which must have had the same setting."""
    if not path.is_file():
        return []
    found = tables.read_jsonl(path)
    tables.require(found, COLUMNS, path.name)
    for name, value in setting.items():
        others = found.loc[found[name] != value, name]
        if len(others):
            raise SimulatorError(
                f"{path.name} was made with {name} {others.iloc[0]!r}, not {value!r}: "
                "delete it or choose another file."
            )
    return found.astype(object).where(found.notna(), None).to_dict("records")


def _client(endpoint: Endpoint) -> openai.OpenAI:
    """Open a connection to the endpoint."""
    return openai.OpenAI(
        base_url=endpoint.url,
        api_key=endpoint.key,
        timeout=endpoint.timeout,
        max_retries=endpoint.retries,
    )


def _user_reply(client: openai.OpenAI, endpoint: Endpoint, messages: list) -> str:
    """Ask the model that plays the user."""
    return _reply(client, endpoint, endpoint.user_model, messages, USER_TEMPERATURE)


def _reply(
    client: openai.OpenAI, endpoint: Endpoint, model: str, messages: list, temperature: float
) -> str:
    """Ask a model for a reply, which must have a text."""
    try:
        response = client.chat.completions.create(
            model=model, messages=messages, temperature=temperature
        )
    except openai.APITimeoutError:
        raise EndpointError(
            f"{endpoint.url} did not reply within {endpoint.timeout:g} seconds."
        ) from None
    except openai.APIConnectionError as error:
        raise EndpointError(
            f"{endpoint.url} cannot be reached ({error}): check USER_SIMULATOR_URL."
        ) from error
    except (openai.AuthenticationError, openai.PermissionDeniedError) as error:
        raise EndpointError(
            f"{endpoint.url} refused the key (status {error.status_code}): "
            "check USER_SIMULATOR_KEY."
        ) from error
    except openai.APIStatusError as error:
        raise EndpointError(
            f"{endpoint.url} answered with status {error.status_code} for model {model!r}."
        ) from error
    except (openai.APIError, ValueError) as error:
        raise ReplyError(f"{endpoint.url} sent no reply that can be read ({error}).") from error
    return _text(response, model, endpoint.url)


def _text(response: object, model: str, url: str) -> str:
    """Take the text out of a response; some endpoints send none, or something else."""
    choices = getattr(response, "choices", None) or [None]
    text = getattr(getattr(choices[0], "message", None), "content", None)
    if not isinstance(text, str) or not text.strip():
        raise ReplyError(f"{url} sent no text as reply of model {model!r}.")
    return text.strip()
