"""Files of chats, one JSON object a line, as services that fine-tune models take them."""

import json
from collections.abc import Iterable
from pathlib import Path

from helpers.files import tables
from helpers.paths import replace_files

ROLES = ("system", "user", "assistant")


def write_jsonl(records: Iterable[dict], path: Path) -> None:
    r"""Write one JSON object a line, all in one step, so that no half file is ever seen.

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
    text = "".join(f"{json.dumps(record, allow_nan=False)}\n" for record in records)
    replace_files({path: text.encode()})


def read_examples(path: Path) -> list[list[dict[str, str]]]:
    """Read examples in the chat format; blank lines are skipped.

    Parameters
    ----------
    path : pathlib.Path
        The file, UTF-8.

    Returns
    -------
    list of list of dict
        The messages of each example.

    Raises
    ------
    tables.BadTableError
        If a line is no example. The message names the file and the line, counted from 1.

    Examples
    --------
    >>> import tempfile
    >>> made = [{"role": "user", "content": "bado?"}, {"role": "assistant", "content": "keli"}]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_jsonl([{"messages": made}], Path(folder) / "examples.jsonl")
    ...     read_examples(Path(folder) / "examples.jsonl") == [made]
    True
    """
    found = {number: each.get("messages") for number, each in tables.json_records(path).items()}
    problems = [
        f"line {number}: {problem}"
        for number, messages in found.items()
        if (problem := _problem(messages))
    ]
    if problems or not found:
        raise tables.bad_table(path.name, problems or ["there is no example in it"])
    return list(found.values())


def _problem(messages: object) -> str | None:
    """Say what is wrong with the messages of an example, if anything is."""
    if not isinstance(messages, list) or not messages:
        return "'messages' is missing or no list"
    for number, message in enumerate(messages, start=1):
        if not isinstance(message, dict) or message.get("role") not in ROLES:
            return f"message {number} has none of the roles {', '.join(ROLES)}"
        if not isinstance(message.get("content"), str) or not message["content"]:
            return f"message {number} has no text"
    if messages[-1]["role"] != "assistant":
        return "the last message is not of the assistant, so that there is nothing to learn"
    return None
