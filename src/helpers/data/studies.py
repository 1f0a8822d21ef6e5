"""The studies in the order in which they are shown: `data/studies.csv` lists them."""

import csv
from functools import cache

from helpers import paths

OTHER_DATA = "atlas"  # public sets of others, about which no paper here speaks


@cache
def read_studies() -> list[dict[str, str]]:
    """List the studies.

    Each has a name, title and citation, the digit that its notebooks begin with, and
    the address of its paper, which may be empty.
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
