"""Files of the annotation tool of Hosking et al. (2024): one submission, a JSON object, a line.

In a submission one person answers the same questions about two responses, side a and side b, to
one prompt. One side may be a distractor: a response of the same system to another prompt.
"""

import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import pandas as pd

from helpers.files import schemas
from helpers.files.tables import bad_table, cell, json_objects
from helpers.studies.hosking_files import ARM_NAMES, SYSTEM_NAMES
from helpers.studies.hosking_forms import ATTENTION, LABELS, ONE_TO_FIVE, Form

OTHER_SIDE = {"a": "b", "b": "a"}
TASKS = {task: task for task in (*schemas.TASKS, "dialogsum", "factualnlg")}
TIME_SPENT = re.compile(r"Time spent: (\d+)d (\d+)h (\d+)m (\d+)s ?")


def read_ratings(
    path: Path, form: Form, skip: Collection[int] = (), texts: bool = False
) -> pd.DataFrame:
    """Read the ratings in a file of submissions.

    Parameters
    ----------
    path : pathlib.Path
        A JSONL file.
    form : Form
        What the raters were asked.
    skip : collection of int, optional
        Lines, counted from 1, that are not to be read.
    texts : bool, optional
        Whether to keep the prompts, responses and, if there are arms, preambles.

    Returns
    -------
    pandas.DataFrame, shape (2 * n_submissions, n_columns)
        Side a and side b of each submission, in the order of the file: ``line``, the design,
        ``partner_id`` (the item on the other side), the aspects, ``response_words``,
        ``seconds`` (the time that the submission took), answers to attention checks and texts.
        ``rater_id`` still holds the participant's identifier.

    Raises
    ------
    tables.BadTableError
        If a line is no JSON object, a key is missing, an answer or a name is unknown, or two
        lines are submissions of the same pair. The message names the file and the lines.

    Examples
    --------
    >>> import json, tempfile
    >>> record = {
    ...     "id": "0",
    ...     "input_text": {"Prompt": "Why?", "Response A": "So it is.", "Response B": "Hm."},
    ...     "input_meta": {
    ...         "dataset": "wikihow", "sample_ix": 3, "model_a": "refs", "model_b": "falcon40"
    ...     },
    ...     "label_annotations": {"email": "anna_1", "score_a": "4", "score_b": "1"},
    ...     "behavioral_data": {"time_string": "Time spent: 0d 0h 2m 5s "},
    ... }
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "one.jsonl"
    ...     _ = path.write_text(json.dumps(record))
    ...     read_ratings(path, Form(("quality_unbiased",)))[["item_id", "quality_unbiased"]]
                           item_id  quality_unbiased
    0  wikihow-3|References|baseline               4.0
    1  wikihow-3|Falcon 40B|baseline               1.0
    """
    first_lines: dict[str, int] = {}

    def parse(record: dict, line: int) -> list[dict]:
        first = first_lines.setdefault(_text(record, "id"), line)
        if first != line:
            raise ValueError(
                f"line {first} is a submission of the same pair, 'id' {cell(record['id'])}; "
                "name one of the two lines in data/exclusions.csv"
            )
        return _two_ratings(record, form, texts)

    return _parse_lines(path, parse, skip)


def read_sessions(path: Path) -> pd.DataFrame:
    """Read who made each submission in a file, on which task and in what time.

    Parameters
    ----------
    path : pathlib.Path
        A JSONL file.

    Returns
    -------
    pandas.DataFrame, shape (n_submissions, 4)
        ``line``, ``task``, ``rater_id`` (the participant's identifier) and ``seconds``.

    Raises
    ------
    tables.BadTableError
        If a line is no JSON object, a key is missing or a value is not as expected.

    Examples
    --------
    >>> import json, tempfile
    >>> record = {
    ...     "input_meta": {"dataset": "amazon"},
    ...     "label_annotations": {"email": "anna_1"},
    ...     "behavioral_data": {"time_string": "Time spent: 0d 0h 2m 5s "},
    ... }
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "one.jsonl"
    ...     _ = path.write_text(json.dumps(record))
    ...     read_sessions(path)
       line    task rater_id  seconds
    0     1  amazon     anna      125
    """
    return _parse_lines(path, lambda record, _: [_session(record)])


def _parse_lines(
    path: Path, parse: Callable[[dict, int], list[dict]], skip: Collection[int] = ()
) -> pd.DataFrame:
    """Turn each line into rows; list all lines for which that fails."""
    rows, problems = [], []
    for line, record, problem in json_objects(path):
        if line in skip:
            continue
        if record is None:
            problems.append(problem)
            continue
        try:
            rows += [{"line": line} | row for row in parse(record, line)]
        except KeyError as error:
            problems.append(f"line {line}: key {error} is missing")
        except ValueError as error:
            problems.append(f"line {line}: {error}")
    if problems:
        raise bad_table(path.name, problems)
    return pd.DataFrame(rows)


def _two_ratings(record: dict, form: Form, texts: bool) -> list[dict]:
    """Return the rows of side a and side b."""
    labels = _object(record, "label_annotations")
    if unknown := labels.keys() - form.labels:
        raise ValueError(f"question {cell(min(unknown))} is unknown")
    session = _session(record)
    if form.attention:
        session |= {name: _choice(labels, key, ONE_TO_FIVE) for key, name in ATTENTION.items()}
    items = {side: _item(record, side, form.arms) for side in OTHER_SIDE}
    return [
        items[side]
        | {"partner_id": items[other]["item_id"]}
        | _answers(labels, side, form)
        | _response(record, side, texts, form.arms)
        | session
        for side, other in OTHER_SIDE.items()
    ]


def _session(record: dict) -> dict:
    """Return what is known of a submission apart from its two responses."""
    spent = _text(_object(record, "behavioral_data"), "time_string")
    match = TIME_SPENT.fullmatch(spent)
    if not match:
        raise ValueError(f"'time_string' is {cell(spent)}; expected 'Time spent: 0d 0h 1m 30s'")
    days, hours, minutes, seconds = map(int, match.groups())
    return {
        "task": _choice(_object(record, "input_meta"), "dataset", TASKS),
        "rater_id": _text(_object(record, "label_annotations"), "email").partition("_")[0],
        "seconds": ((days * 24 + hours) * 60 + minutes) * 60 + seconds,
    }


def _item(record: dict, side: str, arms: bool) -> dict:
    """Name the response on one side; a distractor has the system of the other side."""
    meta = _object(record, "input_meta")
    is_distractor = meta[f"model_{side}"] == "distractor"
    model = f"model_{OTHER_SIDE[side] if is_distractor else side}"
    number = str(meta["sample_ix"]).removeprefix("distractor_")
    prompt_id = f"{_choice(meta, 'dataset', TASKS)}-{number}"
    system = _choice(meta, model, SYSTEM_NAMES)
    arm = _choice(meta, f"preamble_type_{side}", ARM_NAMES) if arms else "baseline"
    return {
        "item_id": f"{prompt_id}|{system}|{arm}" + ("|distractor" if is_distractor else ""),
        "prompt_id": prompt_id,
        "system": system,
        "arm": arm,
        "is_distractor": is_distractor,
    }


def _answers(labels: dict, side: str, form: Form) -> dict[str, float]:
    """Return the answers about the response on one side."""
    return {
        aspect: _choice(labels, f"{LABELS.get(aspect, aspect)}_{side}", scale)
        for aspect, scale in form.scales.items()
    }


def _response(record: dict, side: str, texts: bool, arms: bool) -> dict:
    """Return the length of the response on one side and, if asked for, the texts."""
    shown = _object(record, "input_text")
    response = _text(shown, f"Response {side.upper()}")
    columns = {"response_words": len(response.split())}
    if texts:
        columns |= {"prompt": _text(shown, "Prompt"), "response": response}
    if texts and arms:
        columns["preamble"] = _text(record["input_meta"], f"preamble_{side}")
    return columns


def _choice(fields: dict, key: str, allowed: Mapping[str, str | float]) -> str | float:
    """Translate the value of a field, which must be one of those allowed."""
    value = fields[key]
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{key!r} is {cell(value)}; allowed: {', '.join(allowed)}")
    return allowed[value]


def _text(fields: dict, key: str) -> str:
    """Return the value of a field, which must be text."""
    if not isinstance(fields[key], str):
        raise ValueError(f"{key!r} is {cell(fields[key])}; text is needed")
    return fields[key]


def _object(fields: dict, key: str) -> dict:
    """Return the value of a field, which must be a JSON object."""
    if not isinstance(fields[key], dict):
        raise ValueError(f"{key} must be a JSON object, found {type(fields[key]).__name__}")
    return fields[key]
