"""What a notebook saves for comparison with the papers, and all of it joined.

The last cell of a notebook saves one tidy table. It knows nothing about claims:
`helpers.claims.rules` judges them, `data/published/claims.csv` says from which result.
"""

from numbers import Real
from pathlib import Path

import numpy as np
import pandas as pd

from helpers import paths, show
from helpers.data.tables import PlainError, to_csv_bytes

NUMBERS = ("estimate", "low", "high", "p", "share")
COLUMNS = ("name", "interpretation", "part", *NUMBERS, "holds")
KEY = ["name", "interpretation", "part"]


class ResultsError(PlainError):
    """A table of results that cannot be saved; the message says what to change."""


def save(table: pd.DataFrame) -> None:
    """Save the results of a notebook as OUT_DIR/results/<notebook>.csv.

    With parameters that differ from the defaults nothing is saved, since results are
    compared with those of the papers. Results of simulated data go to a folder of their
    own, OUT_DIR/simulated/results.

    Parameters
    ----------
    table : pandas.DataFrame
        One row for each result, in its own unit: `name` (study and quantity, such as
        "hosking.lasso.refusal_strongest") and any of `estimate`, `low` and `high` (the
        ends of the 95 % interval), `p`, `share` (of resamples, from 0 to 1), `holds`
        (a truth value), `interpretation` (of words that allow several) and `part` (such
        as one of several errors).

    Raises
    ------
    ResultsError
        If a column is unknown, a row has no name or no value, two rows have the same
        name, interpretation and part, an interval does not hold its estimate, or
        `run.check` was not called.

    Examples
    --------
    >>> table = pd.DataFrame({"name": ["hosking.answers"], "estimate": [900], "low": 1})
    >>> save(table)
    Traceback (most recent call last):
        ...
    helpers.claims.results.ResultsError: hosking.answers: give both low and high
    """
    tidy = check(table)
    current = show.current()
    if current is None:
        raise ResultsError(
            "results.save needs run.check(name, globals()) below the parameters cell, "
            "which says whose results they are"
        )
    if current.changed:
        print(f"not saved, since parameters were changed: {current.changed}")
        return
    file = current.folder / "results" / f"{current.notebook}.csv"
    paths.replace_files({file: to_csv_bytes(tidy, index=False)})


def check(table: pd.DataFrame) -> pd.DataFrame:
    """Check a table of results, and give it all columns in their order."""
    unknown = [str(name) for name in table if name not in COLUMNS]
    if unknown:
        known = ", ".join(COLUMNS)
        raise ResultsError(f"columns are {known}; there is no {', '.join(unknown)}")
    if "name" not in table:
        raise ResultsError("there is no column name, which names each result")
    tidy = table.reindex(columns=list(COLUMNS)).reset_index(drop=True)
    tidy[KEY] = tidy[KEY].astype(object).where(tidy[KEY].notna(), "")
    numeric = [*NUMBERS, "holds"]
    tidy[numeric] = tidy[numeric].astype(float)
    _refuse_rows(tidy, (tidy["name"] == "").to_numpy(), "a row has no name")
    repeated = tidy.duplicated(KEY).to_numpy()
    _refuse_rows(tidy, repeated, "two rows with the same interpretation and part")
    values = tidy[["estimate", "low", "p", "share", "holds"]]
    _refuse_rows(tidy, values.isna().all(axis=1).to_numpy(), "there is no value")
    infinite = tidy[numeric].abs().eq(float("inf")).any(axis=1).to_numpy()
    _refuse_rows(tidy, infinite, "a number is not finite")
    one_end = tidy["low"].isna() != tidy["high"].isna()
    _refuse_rows(tidy, one_end.to_numpy(), "give both low and high")
    above = tidy["low"] > tidy["estimate"]
    below = tidy["estimate"] > tidy["high"]
    reversed_ends = tidy["low"] > tidy["high"]
    outside = (above | below | reversed_ends).to_numpy()
    _refuse_rows(tidy, outside, "low <= estimate <= high is not so")
    for column in ("p", "share"):
        is_no_share = tidy[column].notna() & ~tidy[column].between(0, 1)
        _refuse_rows(tidy, is_no_share.to_numpy(), f"{column} is not between 0 and 1")
    return tidy


def _refuse_rows(tidy: pd.DataFrame, wrong: np.ndarray, problem: str) -> None:
    """Stop at the first row that is wrong."""
    if wrong.any():
        row = tidy[wrong].iloc[0]
        words = [str(row[name]) for name in KEY if row[name] != ""]
        raise ResultsError(": ".join([", ".join(words), problem]).removeprefix(": "))


def rows(prefix: str, results: dict[str, object]) -> pd.DataFrame:
    """Turn named results into the table that `save` takes.

    Parameters
    ----------
    prefix : str
        Beginning of all names, such as "hosking.counts".
    results : dict
        By name: a number, a truth value, or a Series or dict with columns of the table;
        a DataFrame of these, whose index names the parts; a dict of all of these by
        interpretation.

    Returns
    -------
    pandas.DataFrame
        One row for each result, interpretation and part; other columns of a DataFrame
        or Series are left out.

    Examples
    --------
    >>> table = rows("hosking.counts", {"tasks": 3, "systems": {"estimate": 5}})
    >>> table[["name", "estimate"]]
                         name  estimate
    0    hosking.counts.tasks       3.0
    1  hosking.counts.systems       5.0
    """
    records = []
    for name, result in results.items():
        full_name = f"{prefix}.{name}"
        for interpretation, value in _by_interpretation(result).items():
            for part, record in _by_part(value):
                key = {"name": full_name, "interpretation": interpretation}
                records.append({**key, "part": part, **record})
    return check(pd.DataFrame(records))


def _by_interpretation(result: object) -> dict[str, object]:
    """Results by interpretation; without any, one result under an empty name."""
    if isinstance(result, dict) and not set(result) & set(COLUMNS):
        return result
    return {"": result}


def _by_part(value: object) -> list[tuple[str, dict[str, float]]]:
    """Rows of a result, each with the name of its part."""
    if isinstance(value, pd.DataFrame):
        parts = []
        for key, row in value.iterrows():
            words = key if isinstance(key, tuple) else (key,)
            parts.append((", ".join(map(str, words)), _known(row.to_dict())))
        return parts
    if isinstance(value, dict | pd.Series):
        return [("", _known(dict(value)))]
    if not isinstance(value, Real | np.bool_):
        raise ResultsError(f"a result is a number, a truth value or a row: {value!r}")
    column = "holds" if isinstance(value, bool | np.bool_) else "estimate"
    return [("", {column: float(value)})]


def _known(row: dict) -> dict[str, float]:
    """The columns of a row that results have."""
    return {name: value for name, value in row.items() if name in COLUMNS[1:]}


def read(folder: Path) -> pd.DataFrame:
    """Join the results of all notebooks, with the notebook that saved each.

    Parameters
    ----------
    folder : pathlib.Path
        Output folder of a run, which has a folder `results`.

    Returns
    -------
    pandas.DataFrame
        Columns of `save` and `notebook`.

    Raises
    ------
    ResultsError
        If two notebooks saved a result under the same name.
    """
    tables = []
    for file in sorted((folder / "results").glob("*.csv")):
        text = pd.read_csv(file, dtype=dict.fromkeys(KEY, str))
        tables.append(check(text).assign(notebook=file.stem))
    empty = pd.DataFrame(columns=[*COLUMNS, "notebook"])
    joined = pd.concat([empty, *tables], ignore_index=True) if tables else empty
    owners = joined.groupby("name")["notebook"].unique()
    for name, notebooks in owners.items():
        if len(notebooks) > 1:
            raise ResultsError(f"{name} was saved by {' and '.join(notebooks)}")
    return joined
