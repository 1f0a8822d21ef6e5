"""What other public sets of ratings say beside the headlines of the papers.

`data/atlas/headlines.csv` says to which question a headline belongs, or why no set can
speak to it; notebooks 61 to 65 say on which side of the question's line each set lies.
`make refresh` keeps that in `figures/atlas.csv`.
"""

from pathlib import Path

import pandas as pd

from helpers import paths
from helpers.data.published import read_text

FOLDER = paths.DATA / "atlas"
RESULTS = paths.ROOT / "figures" / "atlas.csv"
COLUMNS = [
    "question",
    "set",
    "label",
    "kind",
    "estimate",
    "low",
    "high",
    "side",
    "word",
]
SIDES = ("on the side", "on the other side", "neither")
NO_SET = "Elsewhere: not known, since "  # begins what is said where no set can speak
# how far a statement holds, by the rules of data/atlas/README.md; as part of a sentence
IN_A_SENTENCE = {
    "holds widely": "it holds widely",
    "depends on the task": "it differs from set to set",
    "was seen only there": "it was seen only in a paper's own study",
    "not known": "not known",
}
WORDS = tuple(IN_A_SENTENCE)
SIGNS = dict(zip(SIDES, ("+", "−", "·"), strict=True))


def read(file: Path = RESULTS) -> pd.DataFrame:
    """Read what the notebooks found; an empty table if there is nothing yet."""
    if not file.is_file():
        return pd.DataFrame(columns=COLUMNS)
    return read_text(file)


def latest(folder: Path) -> pd.DataFrame:
    """Read what a run found, or the committed results if it found nothing."""
    of_run = read(folder / "atlas.csv")
    return read() if of_run.empty else of_run


def joined(folder: Path) -> pd.DataFrame:
    """Join what the notebooks on other sets have written into a folder of results."""
    tables = [pd.DataFrame(columns=COLUMNS)]
    for file in sorted((folder / "results").glob("6*.csv")):
        table = read_text(file)
        if list(table) == COLUMNS:
            tables.append(table)
    return pd.concat(tables, ignore_index=True)


def statements() -> pd.DataFrame:
    """Statement of each question, by question."""
    return read_text(FOLDER / "statements.csv").set_index("question")


def sentences(results: pd.DataFrame) -> dict[str, str]:
    """Say beside each headline on how many sets the interval lies on which side.

    Parameters
    ----------
    results : pandas.DataFrame
        From `read` or `joined`.

    Returns
    -------
    dict of str to str
        By headline. Headlines of a question without results are left out.

    Examples
    --------
    >>> rows = {"question": "crowd", "kind": "set", "word": "not known"}
    >>> results = pd.DataFrame([rows | {"side": side} for side in SIDES[1:]])
    >>> sentences(results)["crowd_misses"].partition("? ")[2]
    'Of 2 other sets of ratings none says so, 1 says the opposite, 1 leaves it open: \
not known.'
    >>> sentences(results)["age_alignment"]
    'Elsewhere: not known, since no other set has ages.'
    """
    said = {}
    of_question = statements()
    for row in read_text(FOLDER / "headlines.csv").itertuples():
        if not row.question:
            said[row.headline] = f"{NO_SET}{row.why}."
            continue
        sets = results[(results["question"] == row.question) & (results.kind == "set")]
        if len(sets) == 0:
            continue
        n = counts(sets["side"])
        statement = of_question.loc[row.question, "statement"]
        said[row.headline] = (
            f"Elsewhere: “{statement}”? Of {n['sets']} other sets of ratings "
            f"{_how_many(n['on'], 'says', 'say')} so, "
            f"{_how_many(n['other'], 'says', 'say')} the opposite, "
            f"{_how_many(n['neither'], 'leaves', 'leave')} it open: "
            f"{IN_A_SENTENCE[sets['word'].iloc[0]]}."
        )
    return said


def _how_many(number: int, one: str, several: str) -> str:
    """Write a number before its verb."""
    if number == 0:
        return f"none {one}"
    return f"{number} {one if number == 1 else several}"


def grid(results: pd.DataFrame) -> list[dict]:
    """Findings down, studies and sets across: what a page shows in coloured cells.

    Parameters
    ----------
    results : pandas.DataFrame
        From `read` or `joined`.

    Returns
    -------
    list of dict
        For each question ``notebook``, ``statement``, ``estimate``, ``unit``,
        ``word``, ``n`` (of sets, on which side) and ``cells``: by column (see
        `columns`) nothing, or a dict with ``side``, ``sign``, ``paper`` ("true" for a
        study of the papers) and ``text``.

    Examples
    --------
    >>> row = {"question": "length", "kind": "set", "set": "fed", "label": "FED, turns",
    ...        "estimate": "0.5", "low": "0.1", "high": "0.9", "side": SIDES[0],
    ...        "word": "not known"}
    >>> (line,) = grid(pd.DataFrame([row]))
    >>> line["cells"]["FED"]["sign"], line["cells"]["FED"]["text"]
    ('+', 'FED, turns: 0.50 [0.10, 0.90]')
    """
    lines = []
    names = columns(results)
    of_question = statements()
    for question, told in of_question.iterrows():
        rows = results[results["question"] == question]
        if rows.empty:
            continue
        cells = dict.fromkeys(names)
        for row in rows.itertuples():
            name = _column(row.label)
            before = cells[name]
            cells[name] = {
                "side": ("on", "other", "neither")[SIDES.index(row.side)],
                "sign": SIGNS[row.side],
                "paper": "true" if row.kind == "paper" else "false",
                "text": f"{row.label}: {_numbers(row)}",
            }
            if before:  # two numbers of one study: the first one gives the colour
                text = f"{before['text']}; {cells[name]['text']}"
                cells[name] = before | {"text": text}
        line = told.to_dict() | {"word": rows["word"].iloc[0], "cells": cells}
        line["n"] = counts(rows[rows["kind"] == "set"]["side"])
        lines.append(line)
    return lines


def counts(side: pd.Series) -> dict[str, int]:
    """Count sets, and how many lie on which side.

    Examples
    --------
    >>> counts(pd.Series(["on the side", "neither"]))
    {'sets': 2, 'on': 1, 'other': 0, 'neither': 1}
    """
    on_side, other, neither = [int((side == name).sum()) for name in SIDES]
    return {"sets": len(side), "on": on_side, "other": other, "neither": neither}


def columns(results: pd.DataFrame) -> list[str]:
    """Columns of the page: the papers first, then sets that speak to most questions."""
    names = results["label"].map(_column)
    order = pd.DataFrame({"name": names, "is_set": results["kind"] == "set"})
    counts = order.groupby("name").agg(is_set=("is_set", "first"), n=("name", "size"))
    counts = counts.sort_values(["is_set", "n"], ascending=[True, False], kind="stable")
    return list(counts.index)


def _column(label: str) -> str:
    """Name of a study or set, without what kind of texts it has."""
    return label.partition(",")[0]


def _numbers(row: object) -> str:
    """Write the estimate; a rate without an interval stands alone."""
    estimate, low, high = float(row.estimate), float(row.low), float(row.high)
    if low == high:
        return f"{estimate:.2f}"
    digits = 0 if abs(estimate) > 10 else 2
    return f"{estimate:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"
