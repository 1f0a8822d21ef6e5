"""All claims of the papers with the result of each and its verdict."""

import math
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from helpers.claims import results, rules
from helpers.data.published import ClaimError, published_claims

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
    "ours",
    "verdict",
    "why",
    "note",
    "notebook",
)
CELL = r"\.(?:table|figure)\w?\d+\."  # in the id of a cell of a printed table
NO_RESULT = pd.DataFrame(columns=[*results.COLUMNS, "notebook"])
SHOWN_PARTS = 4
LARGE = 1000  # a number without digits after the point
# Groups in which main claims are counted.
GROUPS = {
    "supported or reproduced": (*rules.PASSES, rules.LAST_DIGIT),
    "inconclusive": (rules.INCONCLUSIVE, rules.NOT_SHOWN),
    "contradicted or not reproduced": (*rules.FAILS,),
    "not checked": (rules.NOT_CHECKED,),
    # that a paper's numbers agree with each other says nothing about its data
    "checked against the paper's own numbers only": rules.CONSISTENT,
}


def judge_all(folder: Path) -> pd.DataFrame:
    """Judge all claims by the results of a run.

    Parameters
    ----------
    folder : pathlib.Path
        Output folder, which has a folder `results`.

    Returns
    -------
    pandas.DataFrame
        One row for each claim, as text: what is published, `ours` (estimate with
        interval, or what the form asks for), `verdict`, `why` and the `notebook`.

    Raises
    ------
    ClaimError
        If a claim names an interpretation that its result does not have, or its result
        lacks what its form needs.
    """
    saved = dict(list(results.read(folder).groupby("name", sort=False)))
    judged = []
    for claim_id, claim in published_claims().iterrows():
        try:
            rows = _rows_of(claim["result"], saved)
            judgement = rules.judge(claim, rows)
        except ClaimError as error:
            raise ClaimError(f"{claim_id}: {error}") from None
        judged.append(
            {
                "id": claim_id,
                **claim,
                "ours": in_words(claim, rows),
                "verdict": judgement.verdict,
                "why": judgement.why,
                "notebook": "" if rows.empty else rows["notebook"].iloc[0],
            }
        )
    return pd.DataFrame(judged, columns=list(COLUMNS))


def _rows_of(name: str, saved: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Rows of a result, such as "a.name" or "a.name: one interpretation | another"."""
    name, _, chosen = name.partition(": ")
    rows = saved.get(name, NO_RESULT)
    if not chosen or rows.empty:
        return rows
    interpretations = chosen.split(" | ")
    missing = set(interpretations) - set(rows["interpretation"])
    if missing:
        known = ", ".join(rows["interpretation"].unique())
        raise ClaimError(f"{name} has interpretations {known}, not {missing.pop()}")
    return rows[rows["interpretation"].isin(interpretations)]


def in_words(claim: Mapping[str, str], rows: pd.DataFrame) -> str:
    """Write a result as readers compare it with the print."""
    if rows.empty:
        return ""
    if claim["form"] in ("value", "split"):
        rows = rows[rows["interpretation"] == ""]
    digits = rules.decimals(claim["printed"]) if claim["printed"] else None
    texts = []
    for _, row in rows.head(SHOWN_PARTS).iterrows():
        names = [row[key] for key in ("interpretation", "part") if row[key]]
        value = _value_in_words(row, digits, claim)
        texts.append(f"{', '.join(names)}: {value}" if names else value)
    if len(rows) > SHOWN_PARTS:
        texts.append(f"and {len(rows) - SHOWN_PARTS} more")
    return "; ".join(texts)


def _value_in_words(
    row: pd.Series, digits: int | None, claim: Mapping[str, str]
) -> str:
    """Write one row: share, truth value, p, or estimate with its interval."""
    if claim["form"] == "rank":
        return f"{100 * row['share']:.1f} % of resamples"
    if claim["form"] == "fact" and not pd.isna(row["holds"]):
        return "yes" if row["holds"] else "no"
    words = []
    if not pd.isna(row["estimate"]):
        words.append(_number(row["estimate"], digits))
    if not pd.isna(row["low"]):
        ends = [_end(row[name], row["estimate"], digits) for name in ("low", "high")]
        words.append(f"[{ends[0]}, {ends[1]}]")
    if not pd.isna(row["p"]):
        words.append(f"p = {row['p']:.2g}" if row["p"] >= 0.001 else "p < 0.001")
    elif claim["unit"] not in ("", "count"):
        words.append(claim["unit"])
    return " ".join(words)


def _end(value: float, estimate: float, digits: int | None) -> str:
    """Write the end of an interval with the decimals of its estimate.

    An end that would be written as zero keeps two digits, which tell its side.
    """
    # a range without an estimate is NaN here, and so is not between the two
    has_decimals = 0.01 <= abs(estimate) < LARGE and estimate != round(estimate)
    if digits is not None or not has_decimals:
        return _number(value, digits)
    decimals = max(2 - math.floor(math.log10(abs(estimate))), 0)
    text = f"{value:.{decimals}f}"
    if value != 0 and float(text) == 0:
        text = f"{value:.2g}"
    return text.replace("-", "−")


def _number(value: float, digits: int | None) -> str:
    """Write a number, one digit more than is printed, or three significant digits."""
    if digits is not None:
        rounded = round(value, digits + 1)
        is_short = abs(rounded - round(value, digits)) < rules.SLACK
        text = f"{value:,.{digits if is_short else digits + 1}f}"
    elif value == round(value):
        text = f"{value:,.0f}"
    else:
        text = f"{value:.3g}" if abs(value) < LARGE else f"{value:,.0f}"
    return text.replace("-", "−")
