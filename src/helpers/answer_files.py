"""Files of answers to the two tests of HumBEL.

Two columns: the number of the question and the number of the chosen option. The first line names
the questions by a fingerprint, so that answers are never scored against other questions.
"""

import hashlib
from pathlib import Path

import pandas as pd

from helpers import paths
from helpers.files import tables
from helpers.files.tables import as_numbers
from helpers.paths import replace_files
from helpers.word_classes import PAIRS, SHOWN


class AnswersError(ValueError):
    """A file of answers does not fit the questions, or cannot be made."""


def n_options(questions: pd.DataFrame) -> int:
    """Count the options of a question: six pairs, or four words if a meaning is given.

    Examples
    --------
    >>> n_options(pd.DataFrame(columns=SHOWN))
    6
    """
    return len(SHOWN) if "meaning" in questions else len(PAIRS)


def fingerprint(questions: pd.DataFrame) -> str:
    """Name a set of questions by what is shown, so that any change gives another name.

    Parameters
    ----------
    questions : pandas.DataFrame
        Columns `SHOWN`, and ``meaning`` if there is one.

    Returns
    -------
    str
        Sixteen hexadecimal digits.

    Examples
    --------
    >>> fingerprint(pd.DataFrame([["a", "b", "c", "d"]], columns=SHOWN))
    'e2b9bb337694e420'
    """
    columns = [*SHOWN, *questions.columns.intersection(["meaning"])]
    shown = questions[columns].to_csv(index=False, lineterminator="\n")
    return hashlib.sha256(shown.encode()).hexdigest()[:16]


def read(file: str | Path, questions: pd.DataFrame) -> pd.Series:
    """Read a file of answers to these questions.

    Parameters
    ----------
    file : str or pathlib.Path
        A relative path lies under the project root.
    questions : pandas.DataFrame
        The questions, as `word_classes` or `definitions` made them.

    Returns
    -------
    pandas.Series of int
        The chosen option, from 0, indexed by ``question``.

    Raises
    ------
    AnswersError
        If there is no such file, it belongs to other questions, or an answer is missing, repeated
        or none of the options.
    tables.BadTableError
        If there is no table of numbers in it.
    """
    path = paths.ROOT / file
    if not path.is_file():
        raise AnswersError(f"There is no file {path}: make it with `make answers`.")
    with path.open(encoding="utf-8", errors="replace") as lines:
        named = lines.readline().strip()
    if named != _first_line(questions):
        raise AnswersError(
            f"{path.name} does not begin with {_first_line(questions)!r}: it answers other "
            "questions. Build them with the options it was made for, or answer these."
        )
    table = tables.read_csv(path, comment="#")
    tables.require(table, ["question", "chosen"], path.name)
    as_numbers(table, ["question", "chosen"], path.name)
    return _checked(table.set_index("question")["chosen"], questions, path.name)


def write(file: str | Path, questions: pd.DataFrame, chosen: pd.Series) -> None:
    """Write answers in one step, so that no half file is ever seen.

    Parameters
    ----------
    file : str or pathlib.Path
        A relative path lies under the project root; its folder is made if needed.
    questions : pandas.DataFrame
        What was answered.
    chosen : pandas.Series of int
        The chosen option, from 0, indexed by ``question``.

    Raises
    ------
    AnswersError
        If an answer is missing, repeated or none of the options.
    """
    path = paths.ROOT / file
    chosen = _checked(chosen.rename("chosen"), questions, path.name)
    text = chosen.rename_axis("question").to_csv(lineterminator="\n")
    replace_files({path: f"{_first_line(questions)}\n{text}".encode()})


def _first_line(questions: pd.DataFrame) -> str:
    """Name the questions in the first line of a file of answers."""
    return f"# questions {fingerprint(questions)}"


def _checked(chosen: pd.Series, questions: pd.DataFrame, name: str) -> pd.Series:
    """Put answers into the order of the questions, each of which needs one that is an option."""
    asked = questions["question"]
    if len(chosen) != len(asked) or set(chosen.index) != set(asked):
        raise AnswersError(
            f"{name} answers {chosen.index.nunique()} questions in {len(chosen)} rows; "
            f"it needs one row for each of the {len(asked)} questions 0 to {asked.max()}."
        )
    wrong = chosen[~chosen.isin(range(n_options(questions)))]
    if len(wrong):
        raise AnswersError(
            f"{name}, question {wrong.index[0]}: {wrong.iloc[0]} is no option; "
            f"give a whole number from 0 to {n_options(questions) - 1}."
        )
    return chosen.reindex(asked).astype(int)
