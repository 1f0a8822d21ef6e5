"""The tables that a run of all notebooks leaves, from what each notebook has saved."""

from pathlib import Path

import pandas as pd

from helpers.claims import judged, results
from helpers.data import registry
from helpers.data.published import read_text
from helpers.data.tables import to_csv_bytes
from helpers.paths import replace_files


def tables(folder: Path, is_real: bool) -> dict[str, pd.DataFrame]:
    """Recompute printed tables and authors' numbers, join all results, judge claims.

    Parameters
    ----------
    folder : pathlib.Path
        Output folder of a run.
    is_real : bool
        Whether real data are wanted; simulated ones are compared with nothing.

    Returns
    -------
    dict of str to pandas.DataFrame
        `results`, `claims` and `authors_numbers`.
    """
    authors = pd.DataFrame(columns=["id", "printed", "ours", "reproduces", "cause"])
    if is_real:
        from helpers.claims import tables as printed  # takes a second

        try:
            printed.save(folder)
            authors = _authors_numbers(folder)
        except registry.DataUnavailableError as error:
            print(f"printed tables are not recomputed: {error}")
    return {
        "results": as_text(results.read(folder)),
        "claims": judged.judge_all(folder),
        "authors_numbers": authors,
    }


def _authors_numbers(folder: Path) -> pd.DataFrame:
    """Recompute the numbers of the authors' notebooks; save how many reproduce."""
    from helpers.studies import hosking_notebooks  # takes a second

    numbers = hosking_notebooks.recomputed("real")
    counts = {"numbers": len(numbers), "reproduce": int(numbers["reproduces"].sum())}
    counted = results.check(results.rows("hosking.authors", counts))
    file = folder / "results" / "authors.csv"
    replace_files({file: to_csv_bytes(counted, index=False)})
    return read_text(hosking_notebooks.save(numbers, folder))


def as_text(table: pd.DataFrame) -> pd.DataFrame:
    """Numbers with six digits, which are the same on every machine."""
    return table.map(lambda value: f"{value:.6g}" if _is_number(value) else value)


def _is_number(value: object) -> bool:
    """Tell whether a cell holds a number."""
    return isinstance(value, float) and not pd.isna(value)
