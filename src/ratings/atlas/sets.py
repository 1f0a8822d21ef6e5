"""Other public sets of ratings: what they are, and how to load them.

`data/atlas/sets.csv` describes them. A set that is used has a reader in
`ratings.atlas.readers`.
"""

from functools import cache
from pathlib import Path

import pandas as pd

from helpers import paths
from helpers.data import registry
from helpers.data.published import read_text
from helpers.data.tables import PlainError
from ratings.atlas import readers
from ratings.atlas.readers import Ratings

STUDY = "atlas"  # in data/studies.csv, and the folder of the files
NO_DATA = (
    "left out: this needs the files of the sets of ratings in data/registry.csv, which "
    "cannot be had here, and which have no simulator"
)


@cache
def described() -> pd.DataFrame:
    """Name, texts, raters, publication, licence and files of each set.

    Examples
    --------
    >>> described().loc["asset", "licence"]
    'CC BY-NC 4.0: non-commercial use only'
    """
    return read_text(paths.DATA / "atlas" / "sets.csv").set_index("set")


def files_of(name: str) -> list[str]:
    """Registered files of a set."""
    places = described()["files"].to_dict() | readers.FILES
    found = []
    for file in registry.names(STUDY):
        inside = file.removeprefix(f"{STUDY}/")
        for place in places.get(name, "").split():
            if inside == place or inside.startswith(f"{place}/"):
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
    """Read a set.

    Parameters
    ----------
    name : str
        One of `readers.READERS`, such as ``"summeval_experts"``.
    data_source : {"auto", "real"}
        There are no simulated sets: without the files this stops.

    Returns
    -------
    Ratings

    Raises
    ------
    helpers.data.tables.PlainError
        If the files cannot be had, or no reader has this name.
    """
    files = locate(name, data_source)
    if name not in readers.READERS:
        raise PlainError(f"the set {name!r} has no reader")
    return readers.READERS[name](files)
