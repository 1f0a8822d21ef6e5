"""What the papers print: claims, and tables whose cells are claims, as text."""

import re
from pathlib import Path

import pandas as pd

from helpers import paths
from helpers.data import registry
from helpers.data.tables import PlainError

OTHER_TABLES = (
    "claims",
    "causes",
    "figures",
    "headlines",
    "hosking_notebooks",
    "readings_settled",
    "verdict_changes",
)


class ClaimError(PlainError):
    """A claim was named or entered in a way that does not fit what is published."""


def published_claims() -> pd.DataFrame:
    """List every published claim, with one row for each cell of a printed table.

    Returns
    -------
    pandas.DataFrame
        Indexed by `claim_id`, with the other columns of `data/published/claims.csv`,
        all as text.

    Examples
    --------
    >>> published_claims().loc["hosking.table3.baseline.factuality.crowd", "published"]
    '4.3'
    """
    claims = read_text(paths.PUBLISHED / "claims.csv")
    cells = [_cell_claims(table) for table in table_names()]
    # Claims from cells lack some columns of the others.
    together = pd.concat([claims, *cells], ignore_index=True).fillna("")
    return together.set_index("claim_id")


def _cell_claims(table: str) -> pd.DataFrame:
    """Turn a printed table, such as kamoda_table1, into claims."""
    printed = _printed_table(table)
    cells = printed.index
    study, exhibit = table.split("_")
    kind, number = re.fullmatch(r"(table|figure)([a-z]?\d+)", exhibit).groups()
    where = f"{kind.capitalize()} {number.upper()}"
    statements = [
        f"{where} prints this number for {', '.join(cell)}." for cell in cells
    ]
    columns = ["published", "unit", "decimals"]
    columns += [name for name in ("needs", "cause") if name in printed]
    claims = printed[columns].reset_index(drop=True)
    if "needs" not in claims:
        claims["needs"] = study
    return claims.assign(
        claim_id=[_cell_id(table, cell) for cell in cells],
        study=study,
        where=where,
        statement=statements,
        kind="number",
    )


def table_names() -> list[str]:
    """Name the printed tables and figures whose cells are claims."""
    files = sorted(file.stem for file in paths.PUBLISHED.glob("*.csv"))
    return [name for name in files if name not in OTHER_TABLES]


def printed_table(table: str) -> pd.DataFrame:
    """Read a printed table and record that it is read, see `registry.files_read`.

    What identifies a cell, the columns before ``published``, is the index.
    """
    known = table_names()
    if table not in known:
        raise ClaimError(
            f"There is no table {table!r} in data/published, only {', '.join(known)}."
        )
    registry.local_file(paths.PUBLISHED / f"{table}.csv")
    return _printed_table(table)


def _printed_table(table: str) -> pd.DataFrame:
    """Read a printed table without recording it: to list claims is not to use it."""
    frame = read_text(paths.PUBLISHED / f"{table}.csv")
    n_keys = frame.columns.get_loc("published")
    return frame.set_index(list(frame.columns[:n_keys]))


def _cell_id(table: str, cell: tuple[str, ...]) -> str:
    """Build the claim id of a table cell, such as kamoda.table1.factuality."""
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
