"""The studies in the order in which they are shown: `data/studies.csv` lists them."""

import csv
from functools import cache

from helpers import paths
from helpers.data.tables import PlainError

OTHER_DATA = "atlas"  # public sets of others, about which no paper here speaks


@cache
def read_studies() -> list[dict[str, str]]:
    """List the studies.

    Each has a name, title and citation, the digit that its notebooks begin with, and
    the section that its paper calls the conclusion.
    """
    file = paths.DATA / "studies.csv"
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def titles() -> dict[str, str]:
    """Titles of the studies by name.

    Examples
    --------
    >>> titles()["hosking"]
    'Hosking et al.'
    """
    return {study["name"]: study["title"] for study in read_studies()}


def by_digit() -> dict[str, str]:
    """Names of the studies by the first digit of their notebooks.

    Examples
    --------
    >>> by_digit()["1"]
    'hosking'
    """
    return {study["digit"]: study["name"] for study in read_studies()}


def concluding_sections() -> dict[str, str]:
    """Sections that the papers call their conclusion, by name of the study.

    Examples
    --------
    >>> concluding_sections()["humbel"]
    '§5'
    """
    return {study["name"]: study["conclusion"] for study in read_studies()}


def place(study: str) -> int:
    """Place of a study in the order in which they are shown.

    Parameters
    ----------
    study : str
        Its name.

    Returns
    -------
    int
        Zero for the first.

    Raises
    ------
    PlainError
        If there is no such study.

    Examples
    --------
    >>> place("kamoda")
    1
    """
    names = list(titles())
    if study not in names:
        raise PlainError(
            f"data/studies.csv does not list the study {study!r}, only "
            f"{', '.join(names)}: correct its name, or add a row"
        )
    return names.index(study)
