"""The studies in the order in which they are shown, from `data/studies.csv` alone."""

import csv
from functools import cache

from helpers import paths


@cache
def read_studies() -> list[dict[str, str]]:
    """List the studies: name, title, citation, first digit of their notebooks."""
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
