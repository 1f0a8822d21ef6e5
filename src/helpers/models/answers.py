"""Collect answers of a model, one job after the other, and keep them as they come."""

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Lock

import pandas as pd
from tqdm import tqdm

from helpers.data.tables import OptionError
from helpers.models import prompts

Job = dict
Ask = Callable[[Job], dict]


def collect(
    ask: Ask,
    jobs: pd.DataFrame,
    keys: Sequence[str],
    about: dict,
    file: str | Path | None = None,
    n_at_once: int = 1,
) -> pd.DataFrame:
    """Let a model do each job that has no answer yet.

    Parameters
    ----------
    ask : callable
        Takes a job, a dictionary with a row's values, and returns a dictionary of
        answers.
    jobs : pandas.DataFrame
        One row per job.
    keys : sequence of str
        Columns that tell jobs apart, and that stand beside the answers.
    about : dict
        What all answers share, such as ``{"model": ...}``; becomes columns.
    file : str or pathlib.Path, optional
        Where each answer is written as it comes, one JSON object a line. If the file is
        there, its jobs are not done again.
    n_at_once : int, optional
        Jobs at the same time.

    Returns
    -------
    pandas.DataFrame
        One row per job, in their order: `keys`, answers, `about`.

    Raises
    ------
    helpers.data.tables.OptionError
        If there is no job, if two have the same keys, or if the file holds answers
        with other settings or to other prompts.

    Examples
    --------
    >>> jobs = pd.DataFrame({"item": [1, 2], "text": ["one", "three"]})
    >>> collect(lambda job: {"length": len(job["text"])}, jobs, ["item"],
    ...         {"model": "none"})
       item  length model
    0     1       3  none
    1     2       5  none
    """
    keys = list(keys)
    if jobs.empty:
        raise OptionError("There is nothing to ask: the table has no row.")
    if jobs.duplicated(keys).any():
        raise OptionError(f"Two jobs have the same {' and '.join(keys)}.")
    path = Path(file) if file else None
    settings = about | {"prompts": prompts.digest()}
    done = _kept(path, keys, settings) if path else {}
    records = jobs.to_dict("records")
    waiting = [job for job in records if _key(job, keys) not in done]
    do = partial(_answer, ask, keys, path, Lock())
    executor = ThreadPoolExecutor(n_at_once)
    try:
        rows = tqdm(executor.map(do, waiting), total=len(waiting), disable=None)
        done |= {_key(row, keys): row for row in rows}
    finally:
        executor.shutdown(cancel_futures=True)
    table = pd.DataFrame([done[_key(job, keys)] for job in records])
    return table.assign(**about)


def _answer(ask: Ask, keys: list[str], path: Path | None, lock: Lock, job: Job) -> dict:
    """Let a model do a job, and write its answer down at once."""
    row = {key: job[key] for key in keys} | ask(job)
    if path:
        with lock:
            _append(path, row)
    return row


def _key(row: dict, keys: list[str]) -> str:
    """Name a job."""
    return json.dumps([row[key] for key in keys])


def _kept(path: Path, keys: list[str], settings: dict) -> dict[str, dict]:
    """Read answers that are there; begin the file if it is not."""
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        _append(path, settings)
        return {}
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines.pop()  # cut off when the run was stopped
        path.write_text("".join(lines), encoding="utf-8")
    first, *rows = [json.loads(line) for line in lines] or [None]
    if first != settings:
        raise OptionError(
            f"{path} holds answers with the settings {first}, not {settings}: name "
            "another file, or delete it to begin anew."
        )
    return {_key(row, keys): row for row in rows}


def _append(path: Path, row: dict) -> None:
    """Add one line to a file."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row, ensure_ascii=False) + "\n")
