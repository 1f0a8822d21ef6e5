"""From estimates of many sets to one of four words, by rules that were fixed before.

The rules stand in `data/atlas/README.md`, "What is said".
"""

import numpy as np
import pandas as pd

from helpers import paths
from helpers.claims import elsewhere
from helpers.data.tables import to_csv_bytes
from helpers.stats import bootstrap, meta_analysis
from ratings.atlas import sets

ON_SIDE, OTHER_SIDE, NEITHER = elsewhere.SIDES
HOLDS, DEPENDS, ONLY_THERE, NOT_KNOWN = elsewhere.WORDS
FEWEST_SETS = 5
HELD_SHARE = 0.75
COVERAGE = 93.5  # of an interval for a next set, in percent
SPREADS = (0.5, 1.0, 2.0)  # of the estimated spread


def sides(table: pd.DataFrame, line: float, side: str) -> pd.Series:
    """Tell on which side of a line each interval lies.

    Parameters
    ----------
    table : pandas.DataFrame
        ``low`` and ``high``, a row per set. Where a column ``depends`` is there and not
        empty, the set counts on neither side.
    line : float
        The line of the statement.
    side : {"above", "below"}
        The claimed side.

    Returns
    -------
    pandas.Series of str

    Examples
    --------
    >>> table = pd.DataFrame({"low": [0.1, -0.2, -0.3], "high": [0.3, 0.2, -0.1]})
    >>> sides(table, 0.0, "above").tolist()
    ['on the side', 'neither', 'on the other side']
    """
    above = table["low"] > line
    below = table["high"] < line
    claimed, other = (above, below) if side == "above" else (below, above)
    result = pd.Series(NEITHER, table.index)
    result = result.mask(claimed, ON_SIDE).mask(other, OTHER_SIDE)
    if "depends" in table:
        result = result.mask(table["depends"].fillna("") != "", NEITHER)
    return result


def after_correction(table: pd.DataFrame, side: pd.Series) -> pd.Series:
    """Sides that remain after Holm's correction over the sets.

    Parameters
    ----------
    table : pandas.DataFrame
        ``p_value`` against the line, a row per set.
    side : pandas.Series
        From `sides`.

    Examples
    --------
    >>> table = pd.DataFrame({"p_value": [0.001, 0.04]})
    >>> after_correction(table, pd.Series([ON_SIDE, OTHER_SIDE])).tolist()
    ['on the side', 'on the other side']
    >>> after_correction(table.assign(p_value=0.04), pd.Series([ON_SIDE] * 2)).tolist()
    ['neither', 'neither']
    """
    adjusted = bootstrap.adjust(table["p_value"])
    return side.mask(~(np.asarray(adjusted) < 0.05), NEITHER)


def word(
    table: pd.DataFrame,
    side: pd.Series,
    claimed: str,
    line: float,
    there: pd.Series | None = None,
    small: float = 0.0,
    pooled: bool = True,
) -> str:
    """Say how far a statement holds, in one of four words.

    Parameters
    ----------
    table : pandas.DataFrame
        ``estimate``, ``standard_error``, ``low``, ``high``, ``p_value``, a row per set.
    side : pandas.Series
        From `sides`.
    claimed : {"above", "below"}
        The claimed side of the line.
    line : float
        The line.
    there : pandas.Series, optional
        Sides of the papers' own studies.
    small : float, optional
        An interval within so much of the line is hardly any.
    pooled : bool, optional
        Whether the sets have one estimate in one unit.

    Returns
    -------
    str

    Examples
    --------
    >>> table = pd.DataFrame({"estimate": [0.5, 0.6, 0.4, 0.5, 0.7]})
    >>> table = table.assign(standard_error=0.1, p_value=0.001,
    ...                      low=table["estimate"] - 0.2, high=table["estimate"] + 0.2)
    >>> word(table, sides(table, 0.0, "above"), "above", 0.0)
    'holds widely'
    """
    sure = after_correction(table, side)
    if (sure == ON_SIDE).any() and (sure == OTHER_SIDE).any():
        return DEPENDS
    n = len(table)
    mostly = (side == ON_SIDE).mean() >= HELD_SHARE
    enough = n >= FEWEST_SETS and mostly and not (side == OTHER_SIDE).any()
    if enough and (not pooled or _pooled_on_side(table, claimed, line)):
        return HOLDS
    seen_there = there is not None and (there == ON_SIDE).any()
    if seen_there and not (side == ON_SIDE).any():
        is_small = (table["low"] > line - small) & (table["high"] < line + small)
        against = (side == OTHER_SIDE) | is_small
        if against.mean() >= 0.5:
            return ONLY_THERE
    return NOT_KNOWN


def _pooled_on_side(table: pd.DataFrame, claimed: str, line: float) -> bool:
    """Whether the pooled interval lies on the side, whichever set is left out."""
    pooled = meta_analysis.random_effects(table["estimate"], table["standard_error"])
    rows = meta_analysis.leave_one_out(table)
    rows.loc["all"] = [pooled.estimate, pooled.low, pooled.high, pooled.spread]
    return bool((sides(rows, line, claimed) == ON_SIDE).all())


def next_set(
    table: pd.DataFrame, n_sim: int, rng: np.random.Generator
) -> tuple[pd.DataFrame, tuple[float, float] | None]:
    """Measure an interval for a next set, and give it if it holds often enough.

    Parameters
    ----------
    table : pandas.DataFrame
        ``estimate`` and ``standard_error``, a row per set.
    n_sim : int
        Simulated collections for each spread.
    rng : numpy.random.Generator

    Returns
    -------
    coverage : pandas.DataFrame
        Percent of collections in which the interval of the mean (``mean``) and that for
        a next set (``next``) hold the truth, for half, once and twice the estimated
        spread, which is in words in the index; without a spread, the median standard
        error takes its place.
    interval : tuple of float or None
        None where an interval for a next set holds too rarely.

    Examples
    --------
    >>> table = pd.DataFrame({"estimate": [0.1, 0.5, 0.3, 0.9, 0.4, 0.6]})
    >>> table["standard_error"] = 0.1
    >>> coverage, interval = next_set(table, 500, np.random.default_rng(0))
    >>> coverage.index.tolist(), interval is None
    (['0.13', '0.25', '0.51'], True)
    """
    pooled = meta_analysis.random_effects(table["estimate"], table["standard_error"])
    spread = pooled.spread or float(table["standard_error"].median())
    rows = {}
    for factor in SPREADS:
        rows[factor * spread] = meta_analysis.prediction_coverage(
            table["standard_error"], factor * spread, n_sim, rng
        )
    coverage = pd.DataFrame.from_dict(rows, "index")
    coverage.index = pd.Index([f"{each:.2f}" for each in coverage.index], name="spread")
    holds = (coverage["next"] >= COVERAGE).all()
    return coverage, pooled.next_study() if holds else None


def counts_in_words(side: pd.Series) -> str:
    """Say on how many sets the interval lies on each side.

    Examples
    --------
    >>> counts_in_words(pd.Series([ON_SIDE, NEITHER]))
    'on that side in 1 of 2 sets, on the other in none, on neither in 1'
    """
    n = {name: int((side == name).sum()) for name in (ON_SIDE, OTHER_SIDE, NEITHER)}
    said = {name: str(number) if number else "none" for name, number in n.items()}
    return (
        f"on that side in {said[ON_SIDE]} of {len(side)} sets, on the other in "
        f"{said[OTHER_SIDE]}, on neither in {said[NEITHER]}"
    )


def statement(question: str) -> dict:
    """Line, side and small of a question, as fixed.

    Examples
    --------
    >>> statement("length")["line"], statement("length")["side"]
    (0.0, 'above')
    """
    row = sets.statements().loc[question]
    small = float(row["small"]) if row["small"] else 0.0
    return {"line": float(row["line"]), "side": row["side"], "small": small}


def results(
    question: str,
    table: pd.DataFrame,
    side: pd.Series,
    answer: str,
    own: pd.DataFrame | None = None,
    own_side: pd.Series | None = None,
) -> pd.DataFrame:
    """Set out what a notebook found, for the page of the site and the headlines.

    Parameters
    ----------
    question : str
        One of `sets.QUESTIONS`.
    table, own : pandas.DataFrame
        ``estimate``, ``low`` and ``high`` of sets, and of the papers' own studies.
    side, own_side : pandas.Series
        Their sides.
    answer : str
        From `word`.

    Returns
    -------
    pandas.DataFrame
        The columns of `helpers.claims.elsewhere.COLUMNS`; ``kind`` is "paper" or "set".

    Examples
    --------
    >>> numbers = pd.DataFrame({"estimate": 0.5, "low": 0.1, "high": 0.9}, ["fed"])
    >>> rows = results("length", numbers, pd.Series({"fed": ON_SIDE}), NOT_KNOWN)
    >>> rows[["set", "kind", "side"]].to_dict("records")
    [{'set': 'fed', 'kind': 'set', 'side': 'on the side'}]
    """
    parts = []
    for kind, numbers, of_kind in (("paper", own, own_side), ("set", table, side)):
        if numbers is None:
            continue
        part = numbers[["estimate", "low", "high"]].astype(float).round(6)
        part = part.assign(kind=kind, side=of_kind, set=part.index)
        part["label"] = part["set"].replace(sets.labels(part["set"]))
        parts.append(part)
    rows = pd.concat(parts).assign(question=question, word=answer)
    return rows[elsewhere.COLUMNS].reset_index(drop=True)


def save_results(
    rows: pd.DataFrame, notebook: str, out_dir: str, other_parameters: str = ""
) -> None:
    """Write the rows of `results` into the output folder of a run.

    With other parameters than those that the text describes nothing is written.
    """
    if other_parameters:
        return
    file = paths.output_dir(out_dir) / "results" / f"{notebook}.csv"
    file.parent.mkdir(exist_ok=True)
    paths.replace_files({file: to_csv_bytes(rows, index=False)})


def word_of_sides(side: pd.Series, there: pd.Series) -> str:
    """Say how far a statement holds where sets have sides but no estimate in one unit.

    Parameters
    ----------
    side, there : pandas.Series
        Sides of the sets and of the papers' own studies.

    Returns
    -------
    str
        One of the four words, by the rules of `word`.

    Examples
    --------
    >>> word_of_sides(pd.Series([ON_SIDE, OTHER_SIDE]), pd.Series([ON_SIDE]))
    'depends on the task'
    >>> word_of_sides(pd.Series([OTHER_SIDE] * 2), pd.Series([ON_SIDE]))
    'was seen only there'
    """
    on_side = side == ON_SIDE
    other = side == OTHER_SIDE
    if on_side.any() and other.any():
        return DEPENDS
    if len(side) >= FEWEST_SETS and on_side.mean() >= HELD_SHARE and not other.any():
        return HOLDS
    if (there == ON_SIDE).any() and not on_side.any() and other.mean() >= 0.5:
        return ONLY_THERE
    return NOT_KNOWN
