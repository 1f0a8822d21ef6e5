"""What the papers report: claims and tables, as text."""

import re
from pathlib import Path

import pandas as pd

from helpers import marks, paths
from helpers.data.tables import PlainError

COLUMNS = (
    "id",
    "study",
    "where",
    "statement",
    "printed",
    "unit",
    "form",
    "limit",
    "main",
    "needs",
    "result",
    "note",
)


class ClaimError(PlainError):
    """A claim or a printed table that cannot be used; the message says why."""


def published_claims() -> pd.DataFrame:
    """List the claims of the papers that are judged.

    Returns
    -------
    pandas.DataFrame
        Indexed by `id`, with the other columns of `data/published/claims.csv`, all as
        text; `result` names the result of every claim.

    Examples
    --------
    >>> published_claims().loc["hosking.agreement.ac1_refusal", "printed"]
    '0.94'
    """
    claims = read_text(paths.PUBLISHED / "claims.csv")
    claims["result"] = claims["result"].mask(claims["result"] == "", claims["id"])
    return claims[list(COLUMNS)].set_index("id")


def reported(numbers: pd.Series | pd.DataFrame) -> pd.Series | pd.DataFrame:
    """Give numbers of a paper to be shown beside ours.

    Notebooks take what they show of a paper from here. Nothing of a paper stands beside
    simulated data: then all numbers are missing. Beside changed parameters tables and
    figures say that the authors' numbers are those of the default settings.

    Parameters
    ----------
    numbers : pandas.Series or pandas.DataFrame
        Reported numbers, as text or as numbers; of a table, those in its column
        ``printed`` or ``published``.

    Returns
    -------
    pandas.Series or pandas.DataFrame
        The same, or with "nan" for every number.

    Examples
    --------
    >>> reported(published_claims()["printed"])["kamoda.regression.rho"]
    '0.853'
    """
    run = marks.current()
    if run is None:
        return numbers
    run.shows_reported = True
    if not run.simulated:
        return numbers
    if isinstance(numbers, pd.Series):
        return pd.Series("nan", numbers.index, name=numbers.name)
    columns = numbers.columns.intersection(["printed", "published"])
    return numbers.assign(**dict.fromkeys(columns, "nan"))


def exhibit(table: str) -> str:
    """Name of a reported table in its paper, such as Table A1 for chatbench_tablea1."""
    kind, number = re.fullmatch(r"(?:\w+_)?(table|figure)(\w+)", table).groups()
    return f"{kind.capitalize()} {number.upper()}"


def table_names() -> list[str]:
    """Name the reported tables and figures whose cells are listed."""
    files = [*paths.PUBLISHED.glob("*_table*.csv"), *paths.PUBLISHED.glob("*_figure*")]
    return sorted(file.stem for file in files)


def printed_table(table: str) -> pd.DataFrame:
    """Read a printed table; what identifies a cell is the index.

    Parameters
    ----------
    table : str
        Name of a file in data/published, such as "hosking_table3".

    Returns
    -------
    pandas.DataFrame
        Text: `published`, `unit`, `decimals` and perhaps `needs` and `note`. Index
        levels are the columns before `published`.

    Raises
    ------
    ClaimError
        If there is no such table.
    """
    known = table_names()
    if table not in known:
        raise ClaimError(
            f"There is no table {table!r} in data/published, only {', '.join(known)}."
        )
    frame = read_text(paths.PUBLISHED / f"{table}.csv")
    n_keys = frame.columns.get_loc("published")
    return frame.set_index(list(frame.columns[:n_keys]))


def cell_id(table: str, cell: tuple[str, ...]) -> str:
    """Build the id of a cell of a table, such as kamoda.table1.factuality."""
    keys = [re.sub(r"\W+", "_", key.lower()) for key in cell]
    return ".".join([*table.split("_"), *keys])


def read_text(path: Path) -> pd.DataFrame:
    """Read a CSV file without changing any number: "0.30" keeps its zero.

    Parameters
    ----------
    path : pathlib.Path
        The file.

    Returns
    -------
    pandas.DataFrame
        All columns as text, empty cells as empty text.
    """
    return pd.read_csv(path, dtype=str, keep_default_na=False)
