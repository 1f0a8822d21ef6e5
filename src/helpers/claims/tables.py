"""Cells of the papers' printed tables, recomputed for a run of all notebooks."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from helpers import paths
from helpers.claims import results
from helpers.data import registry
from helpers.data.published import ClaimError, cell_id, printed_table
from helpers.data.tables import to_csv_bytes
from helpers.studies import chatbench, hosking, humbel, kamoda, reported


def save(folder: Path) -> Path:
    """Recompute the printed tables from real data, and save them beside the results.

    Parameters
    ----------
    folder : pathlib.Path
        Output folder of a run.

    Returns
    -------
    pathlib.Path
        The file, `results/tables.csv`.
    """
    tables = [as_results(name, cells) for name, cells in recomputed()]
    joined = pd.concat(tables, ignore_index=True)
    file = folder / "results" / "tables.csv"
    paths.replace_files({file: to_csv_bytes(joined, index=False)})
    return file


def recomputed() -> Iterator[tuple[str, pd.DataFrame]]:
    """Give each printed table that can be recomputed with its cells.

    Yields
    ------
    (str, pandas.DataFrame)
        Name of the file in data/published, and cells by the columns that name them.

    Raises
    ------
    registry.DataUnavailableError
        If the data of a study are missing; ChatBench's answers may be.
    """
    first = hosking.load_experiment_1("real")
    second = hosking.load_experiment_2("real")
    yield "hosking_table2", reported.cells("hosking_table2", first)
    yield "hosking_table3", reported.cells("hosking_table3", second)
    yield "hosking_table4", reported.cells("hosking_table4", second)
    texts = kamoda.load_texts("real")
    yield "kamoda_figure1", kamoda.figure1(kamoda.load("real"), texts)
    try:
        answers = chatbench.load("real")
    except registry.DataUnavailableError:
        answers = None
    for model, name in chatbench.COMPARISON_TABLES.items():
        yield name, chatbench.table_a(model, answers)
    yield "humbel_table4", humbel.table4()


def as_results(table: str, cells: pd.DataFrame) -> pd.DataFrame:
    """Name the cells of a printed table as results.

    Parameters
    ----------
    table : str
        Name of a file in data/published.
    cells : pandas.DataFrame
        Columns of `results.save`; index levels are the columns before `published`, in
        any order.

    Returns
    -------
    pandas.DataFrame
        As `results.check` returns it.

    Raises
    ------
    ClaimError
        If index levels are others, or a cell is not printed.

    Examples
    --------
    >>> rates = {("Falcon 40B", "refusal"): 2.78, ("Falcon 40B", "scope"): 2.5}
    >>> cells = pd.Series(rates).rename_axis(["system", "measure"])
    >>> as_results("hosking_table2", cells.to_frame("estimate"))["name"].tolist()
    ['hosking.table2.falcon_40b.refusal', 'hosking.table2.falcon_40b.scope']
    """
    printed = printed_table(table)
    keys = list(printed.index.names)
    if sorted(cells.index.names) != sorted(keys):
        raise ClaimError(f"{table} needs the index levels {keys}")
    cells = cells.reorder_levels(keys)
    unknown = cells.index.difference(printed.index)
    if len(unknown):
        raise ClaimError(f"{table} has no cell {', '.join(unknown[0])}")
    names = [cell_id(table, cell) for cell in cells.index]
    return results.check(cells.reset_index(drop=True).assign(name=names))
