"""Answers to HumBEL's tests of words: from a file, or simulated.

A file of answers has two columns, the numbers of the question and of the chosen option,
and its first line names the questions by a fingerprint, so that answers are never
scored against other questions. To test another model, write such a file with
`write_model_answers` and pass it to a notebook.
"""

import hashlib
from pathlib import Path

import numpy as np
import pandas as pd

from helpers import paths
from helpers.data import tables
from helpers.simulate import humbel as simulate
from helpers.studies import humbel
from helpers.studies.word_tests import PAIRS, SHOWN


class AnswersError(tables.PlainError):
    """A file of answers does not fit the questions, or is not there."""


def read_model_answers(file: str | Path, questions: pd.DataFrame) -> pd.Series:
    """Read a file of answers to these questions."""
    path = paths.ROOT / file
    if not path.is_file():
        raise AnswersError(f"There is no file {path}.")
    with path.open(encoding="utf-8", errors="replace") as lines:
        first_line = lines.readline().strip()
    expected = _first_line(questions)
    if first_line != expected:
        raise AnswersError(
            f"{path.name} does not begin with {expected!r}: it answers other "
            "questions. Build them with the options it was made for, or answer these."
        )
    table = tables.read_csv(path, comment="#")
    tables.as_numbers(table, ["question", "chosen"], path.name)
    return _checked(table.set_index("question")["chosen"], questions, path.name)


def write_model_answers(
    file: str | Path, questions: pd.DataFrame, chosen: pd.Series
) -> None:
    """Write answers in one step, so that no half file is ever seen."""
    path = paths.ROOT / file
    chosen = _checked(chosen.rename("chosen"), questions, path.name)
    text = chosen.rename_axis("question").to_csv(lineterminator="\n")
    paths.replace_files({path: f"{_first_line(questions)}\n{text}".encode()})


def fingerprint(questions: pd.DataFrame) -> str:
    """Name a set of questions by what is shown: any change gives another name."""
    columns = [*SHOWN, *questions.columns.intersection(["meaning"])]
    return digest(questions[columns])


def digest(table: pd.DataFrame) -> str:
    """Name the content of a table: any change gives another name."""
    content = table.to_csv(index=False, lineterminator="\n")
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def _first_line(questions: pd.DataFrame) -> str:
    """Write the line that begins a file of answers."""
    return f"# questions {fingerprint(questions)}"


def _checked(chosen: pd.Series, questions: pd.DataFrame, name: str) -> pd.Series:
    """Put answers into the order of the questions; each needs one that is an option."""
    asked = questions["question"]
    if len(chosen) != len(asked) or set(chosen.index) != set(asked):
        raise AnswersError(
            f"{name} answers {chosen.index.nunique()} questions in {len(chosen)} rows; "
            f"it needs one row for each of the {len(asked)} questions 0 to "
            f"{asked.max()}."
        )
    n = n_options(questions)
    no_option = chosen[~chosen.isin(range(n))]
    if len(no_option):
        raise AnswersError(
            f"{name}, question {no_option.index[0]}: {no_option.iloc[0]} is no option; "
            f"give a whole number from 0 to {n - 1}."
        )
    return chosen.reindex(asked).astype(int)


def n_options(questions: pd.DataFrame) -> int:
    """Count the options of a question: six pairs, or four words beside a meaning."""
    return len(SHOWN) if "meaning" in questions else len(PAIRS)


def of_model(
    study: humbel.Humbel, questions: pd.DataFrame, file: str | Path, seed: int
) -> pd.Series:
    """Get the answers of the model under test, simulated if the questions are.

    Parameters
    ----------
    study : studies.humbel.Humbel
        What the questions were built from.
    questions : pandas.DataFrame
        The questions.
    file : str or pathlib.Path
        Answers to the questions built from real data.
    seed : int
        Seed of the simulation, if there is one.

    Returns
    -------
    pandas.Series of int
        The chosen option, from 0, indexed by ``question``.

    Raises
    ------
    AnswersError
        If the file does not fit the questions.

    Examples
    --------
    >>> study = humbel.load("simulated")
    >>> from helpers.studies import word_tests
    >>> questions = word_tests.word_classes(study.associations, study.norms)
    >>> of_model(study, questions, "none.csv", seed=0).between(0, 5).all()
    np.True_
    """
    if study.source == "real":
        return read_model_answers(file, questions)
    rng = np.random.default_rng(seed)
    return simulate.answers(rng, questions, n_options(questions))
