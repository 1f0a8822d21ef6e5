"""Other public sets of ratings: which may speak to which question, and their ratings.

`data/atlas/questions.csv` says which set may speak, with what, and why others may not;
it was fixed before anything was computed. `load` reads a set into one form. A set has a
reader in `ratings.atlas.readers`, or else a recipe of its name in `data/recipes/`.
"""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pandas as pd

from helpers import paths
from helpers.data import registry
from helpers.data.published import read_text
from helpers.data.tables import PlainError
from ratings import recipes
from ratings.atlas import readers
from ratings.atlas.readers import Ratings

FOLDER = paths.DATA / "atlas"
RECIPES = paths.DATA / "recipes"
STUDY = "atlas"  # in data/studies.csv, and the folder of the files
QUESTIONS = ("aspects", "agreement", "length", "crowd", "judges")
SPEAKS = ("yes", "pairs", "weights", "agreement", "no")
NO_DATA = (
    "left out: this needs the files of the sets of ratings in data/registry.csv, which "
    "cannot be had here, and which have no simulator"
)


@cache
def questions() -> pd.DataFrame:
    """Table of sets and questions, as it was fixed.

    Returns
    -------
    pandas.DataFrame
        The columns that `data/atlas/README.md` explains, as text.

    Examples
    --------
    >>> table = questions()
    >>> table.loc[table["set"] == "asset", ["question", "speaks"]].head(2)
       question speaks
    13  aspects     no
    45  agreement    yes
    """
    return read_text(FOLDER / "questions.csv")


@cache
def statements() -> pd.DataFrame:
    """Statement of each question that is judged, with its line and claimed side.

    Examples
    --------
    >>> statements().loc["length", "side"]
    'above'
    """
    return read_text(FOLDER / "statements.csv").set_index("question")


def admitted(question: str, speaks: Iterable[str] = ("yes",)) -> pd.DataFrame:
    """Sets that speak to a question.

    Parameters
    ----------
    question : str
        One of `QUESTIONS`.
    speaks : iterable of str, optional
        How: see `SPEAKS`.

    Returns
    -------
    pandas.DataFrame
        Rows of `questions`, by set.

    Examples
    --------
    >>> list(admitted("aspects").index)
    ['fed', 'simpeval', 'finegrained_rlhf', 'topical_chat', 'sf']
    """
    table = questions()
    wanted = (table["question"] == question) & table["speaks"].isin(list(speaks))
    return table[wanted].set_index("set")


def files_of(name: str) -> list[str]:
    """Registered files of a set, for all questions that it speaks to."""
    table = questions()
    places = " ".join(table.loc[table["set"] == name, "files"]).split()
    if name in readers.FILES:
        places += readers.FILES[name]
    found = []
    for file in registry.names(STUDY):
        inside = file.removeprefix(f"{STUDY}/")
        if any(inside == place or inside.startswith(f"{place}/") for place in places):
            found.append(file)
    return found


def locate(name: str, data_source: str) -> dict[str, Path]:
    """Find the files of a set, by their names within the folder of all sets."""
    files = files_of(name)
    if not files:
        raise PlainError(f"data/registry.csv has no file of the set {name!r}")
    if data_source == "simulated":
        raise PlainError(NO_DATA)
    try:
        # Nothing is simulated in place of a set, so "auto" may not announce that.
        located = registry.locate(files, "real")
    except registry.DataUnavailableError as error:
        if data_source == "auto":
            raise PlainError(NO_DATA) from error
        raise
    return {file.removeprefix(f"{STUDY}/"): path for file, path in located.items()}


def load(name: str, data_source: str = "auto") -> Ratings:
    """Read a set: by its reader, or else by the recipe of its name.

    Parameters
    ----------
    name : str
        As in `questions.csv`, or the name of a reader such as ``"summeval_experts"``.
    data_source : {"auto", "real"}
        There are no simulated sets: without the files this stops.

    Returns
    -------
    Ratings

    Raises
    ------
    helpers.data.tables.PlainError
        If the files cannot be had, or nothing says how to read them.
    """
    files = locate(name, data_source)
    if name in readers.READERS:
        return readers.READERS[name](files)
    return by_recipe(name, files)


def by_recipe(name: str, files: dict[str, Path]) -> Ratings:
    """Read a set of one file as the recipe of its name says."""
    recipe_file = RECIPES / f"{name}.yaml"
    if not recipe_file.is_file():
        raise PlainError(f"the set {name!r} has no reader and no recipe of its name")
    if len(files) != 1:
        raise PlainError(f"a recipe reads one file; the set {name!r} has {len(files)}")
    recipe = recipes.from_yaml(recipe_file)
    return readers.read_recipe(next(iter(files.values())), recipe)


def refused() -> pd.DataFrame:
    """List the sets that are refused, with the reason for each question.

    Examples
    --------
    >>> refused().loc["alpaca_eval_judges", "aspects"]
    'one row a judge, no items'
    """
    table = questions()
    no = table[table["speaks"] == "no"]
    return no.pivot(index="set", columns="question", values="why").fillna("")


def short(words: str) -> str:
    """First clause of a reason."""
    return re.split(r"[;:]", words)[0]


@cache
def described() -> pd.DataFrame:
    """Name, texts, raters, publication and licence of each set.

    Examples
    --------
    >>> described().loc["asset", "licence"]
    'CC BY-NC 4.0: non-commercial use only'
    """
    return read_text(FOLDER / "sets.csv").set_index("set")


def labels(names: Iterable[str]) -> dict[str, str]:
    """Labels of sets for figures: name and kind of texts.

    Examples
    --------
    >>> labels(["fed"])
    {'fed': 'FED, turns of chats'}
    """
    table = described()
    return {
        name: f"{table.loc[name, 'name']}, {table.loc[name, 'texts']}"
        if name in table.index
        else name
        for name in names
    }
