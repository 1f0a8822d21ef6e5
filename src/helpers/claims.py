"""What the papers print, what notebooks compute instead, and the verdict on each claim.

`data/published/claims.csv` lists every number and statement with how it is judged; cells of printed
tables are claims too. A notebook hands its estimates to a `Ledger`; the rules below turn them into
evidence (how we know) and a verdict (what follows), the same for every paper. `merge` joins the
files of all notebooks with the list of claims. DESIGN: "Claims: evidence and verdict" in
data/published/README.md.
"""

import difflib
import math
import re
from collections.abc import Mapping
from numbers import Real
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import norm

from helpers import paths
from helpers.files.registry import UNPINNED_FILE
from helpers.files.tables import PlainError
from helpers.show import CaptionedTable, with_interval
from helpers.stats.bootstrap import adjust

VERDICTS = ("contradicted", "open", "leaning", "slip", "consistent", "confirmed")  # weakest first
HOLDING = ("consistent", "confirmed")
EVIDENCE = ("raw", "print", "authors", "substitute", "simulated", "none")
NEEDED = {
    "number": ("estimate",),
    "split": ("estimate", "low"),
    "fact": (),
    "direction": ("estimate", "low"),
    "ranking": ("share",),
    "significance": ("p_value",),
    "no effect": ("estimate", "low"),
}
NUMBERS = ("estimate", "low", "high", "share", "p_value", "p_family", "other")
ENTERED = ("claim_id", "reading", "part", *NUMBERS, "holds", "shown", "notebook", "source")
JUDGED = ("evidence", "verdict", "after_correction", "detects", "computed", "estimate", "low")
COLUMNS = (
    *("claim_id", "study", "where", "statement", "published", "kind", *JUDGED, "high"),
    *("cause", "headline", "note", "notebook", "source"),
)
OTHER_TABLES = ("claims", "causes", "figures", "headlines")

LEVEL = 0.05
SURE, LIKELY, POSSIBLE = 0.975, 0.5, 0.025  # shares of resamples
MOST_PARTS = 4  # told one by one
BLIND = 0.2  # an error of a printed number that a check has to notice
SLACK = 1e-9  # of floating-point numbers
COLORS = {"contradicted": "#B42318", "slip": "#B54708", "open": "#6B7280", "leaning": "#0072B2"}
_COMPARE = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}


class ClaimError(PlainError):
    """A claim was named or entered in a way that does not fit what is published."""


def published_claims() -> pd.DataFrame:
    """List every published claim, with one row for each cell of a printed table.

    Returns
    -------
    pandas.DataFrame
        Indexed by `claim_id`, with the other columns of `data/published/claims.csv`, all as text.

    Examples
    --------
    >>> published_claims().loc["hosking.table3.baseline.factuality.crowd", "published"]
    '4.3'
    """
    claims = read_text(paths.PUBLISHED / "claims.csv")
    cells = [_cell_claims(table) for table in table_names()]
    return pd.concat([claims, *cells], ignore_index=True).fillna("").set_index("claim_id")


def _cell_claims(table: str) -> pd.DataFrame:
    """Turn a printed table into claims."""
    printed = printed_table(table)
    cells, printed = printed.index, printed.reset_index()
    study, exhibit = table.split("_")
    kind, number = re.fullmatch(r"(table|figure)([a-z]?\d+)", exhibit).groups()
    where = f"{kind.capitalize()} {number.upper()}"
    extra = [name for name in ("needs", "cause") if name in printed]
    return printed[["published", "unit", "decimals", *extra]].assign(
        claim_id=[_cell_id(table, cell) for cell in cells],
        study=study,
        where=where,
        statement=[f"{where} prints this number for {', '.join(cell)}." for cell in cells],
        kind="number",
        needs=printed.get("needs", study),
    )


def table_names() -> list[str]:
    """Name the printed tables and figures whose cells are claims."""
    files = sorted(file.stem for file in paths.PUBLISHED.glob("*.csv"))
    return [name for name in files if name not in OTHER_TABLES]


def printed_table(table: str) -> pd.DataFrame:
    """Read a printed table, indexed by what identifies a cell: the columns before `published`."""
    if table not in table_names():
        known = ", ".join(table_names())
        raise ClaimError(f"There is no table {table!r} in data/published, only {known}.")
    frame = read_text(paths.PUBLISHED / f"{table}.csv")
    return frame.set_index(list(frame.columns[: frame.columns.get_loc("published")]))


def _cell_id(table: str, cell: tuple[str, ...]) -> str:
    """Build the claim id of a table cell."""
    words = [re.sub(r"\W+", "_", key.lower()) for key in cell]
    return ".".join([*table.split("_"), *words])


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


def judge(claim: Mapping, row: Mapping) -> str:
    """Turn one estimate into a verdict, whatever the evidence.

    Parameters
    ----------
    claim : mapping
        A row of `published_claims()`.
    row : mapping
        What was computed: `estimate`, `low`, `high`, `share`, `p_value`, `other`, `holds`; missing
        numbers are NaN.

    Returns
    -------
    str
        One of `VERDICTS`.

    Examples
    --------
    >>> claim = {"kind": "direction", "direction": "+"}
    >>> judge(claim, {"estimate": 0.11, "low": -0.02, "high": 0.24})
    'leaning'
    """
    return _RULES[claim["kind"]](claim, row)


def _judge_number(claim: Mapping, row: Mapping) -> str:
    """Equal at the printed digits; from rounded numbers, possible and able to notice an error."""
    if claim["needs"] == "print":
        if not _in_reach(claim, row):
            return _slip_or_contradicted(claim, row)
        return "open" if _detects(claim, row) > BLIND else "consistent"
    at_point = {**row, "low": row["estimate"], "high": row["estimate"]}
    return "confirmed" if _in_reach(claim, at_point) else _slip_or_contradicted(claim, row)


def _judge_split(claim: Mapping, row: Mapping) -> str:
    """Inside the central 95 % of redrawn splits."""
    return "consistent" if _in_reach(claim, row) else _slip_or_contradicted(claim, row)


def _judge_fact(claim: Mapping, row: Mapping) -> str:
    """Holds or does not: a truth value, a threshold, or an equal count."""
    if not pd.isna(row["holds"]):
        holds = bool(row["holds"])
    elif claim["direction"]:
        holds = _compares(claim["direction"], row["estimate"])
    else:
        holds = abs(row["estimate"] - float(claim["published"])) <= SLACK
    return "confirmed" if holds else _slip_or_contradicted(claim, row)


def _judge_direction(claim: Mapping, row: Mapping) -> str:
    """On the claimed side with its whole interval, with the estimate, or not."""
    low, high, estimate = row["low"], row["high"], row["estimate"]
    if claim["direction"] == "-":
        low, high, estimate = -high, -low, -estimate
    if low > 0:
        return "confirmed"
    return "contradicted" if high < 0 else "leaning" if estimate > 0 else "open"


def _judge_ranking(claim: Mapping, row: Mapping) -> str:
    """By the share of resamples in which it holds; two items rank as a difference would."""
    for verdict, least in (("confirmed", SURE), ("leaning", LIKELY), ("open", POSSIBLE)):
        if row["share"] >= least - SLACK:
            return verdict
    return "contradicted"


def _judge_significance(claim: Mapping, row: Mapping) -> str:
    """Falls on the claimed side of the level, and of zero where a sign is claimed."""
    significant = row["p_value"] < LEVEL
    expected, _, sign = claim["direction"].partition(" ")
    side = not sign or row["estimate"] * (1 if sign == "+" else -1) > 0
    return "confirmed" if significant == (expected == "yes") and side else "contradicted"


def _judge_no_effect(claim: Mapping, row: Mapping) -> str:
    """Within the margin with the whole interval, with the estimate, or not."""
    if not claim["margin"]:
        return "open"
    margin = float(claim["margin"])
    if -margin <= row["low"] and row["high"] <= margin:
        return "confirmed"
    if row["low"] > margin or row["high"] < -margin:
        return "contradicted"
    return "leaning" if abs(row["estimate"]) <= margin else "open"


_RULES = {
    "number": _judge_number,
    "split": _judge_split,
    "fact": _judge_fact,
    "direction": _judge_direction,
    "ranking": _judge_ranking,
    "significance": _judge_significance,
    "no effect": _judge_no_effect,
}


def _half_unit(claim: Mapping) -> float:
    """What rounding to the printed digits may change."""
    return 0.5 * 10.0 ** -int(claim["decimals"]) + SLACK


def _ends(row: Mapping) -> tuple[float, float]:
    """Lowest and highest value that the computation allows."""
    ends = row["low"], row["high"]
    return (row["estimate"], row["estimate"]) if any(pd.isna(end) for end in ends) else ends


def _in_reach(claim: Mapping, row: Mapping) -> bool:
    """Whether a number between the ends rounds to the printed one."""
    low, high = _ends(row)
    return low - _half_unit(claim) <= float(claim["published"]) <= high + _half_unit(claim)


def _detects(claim: Mapping, row: Mapping) -> float:
    """Smallest relative error of the printed number, up or down, that turns the verdict."""
    if claim["direction"] and claim["kind"] == "fact" and not pd.isna(row["estimate"]):
        limits = [float(limit) for limit in re.findall(r"-?[\d.]+", claim["direction"])]
        return min(_relative(row["estimate"] - limit, limit) for limit in limits)
    if not _is_numeric(claim["published"]) or claim["kind"] not in ("number", "split"):
        return math.nan
    printed = float(claim["published"])
    low, high = _ends(row)
    if claim["kind"] == "number" and claim["needs"] != "print":
        low = high = row["estimate"]
    return _relative(max(high - printed, printed - low) + _half_unit(claim), printed)


def _relative(difference: float, printed: float) -> float:
    """Size of a difference relative to a printed number."""
    return abs(difference / printed) if printed else math.inf


def _compares(comparison: str, value: float) -> bool:
    """Check a threshold, such as "< 1" or "between 13 15"."""
    word, *limits = comparison.split()
    limits = [float(limit) for limit in limits]
    if word == "between":
        return limits[0] <= value <= limits[1]
    return bool(_COMPARE[word](value, limits[0]))


def _slip_or_contradicted(claim: Mapping, row: Mapping) -> str:
    """Look for a cause that a machine can check; without one the claim does not hold."""
    return "slip" if _slip(claim, row) else "contradicted"


def _slip(claim: Mapping, row: Mapping) -> str:
    """Say how a right number came to be printed wrong, or nothing."""
    if not _is_numeric(claim["published"]) or pd.isna(row["estimate"]):
        return ""
    printed, decimals = float(claim["published"]), int(claim["decimals"])
    unit, value = 10.0**-decimals, float(row["estimate"])
    twice = _half_up(_half_up(value, decimals + 1), decimals)
    elsewhere = claim.get("elsewhere_published", "")
    if not pd.isna(row["other"]) and abs(row["other"] - printed) <= _half_unit(claim):
        return "the number of another heading"
    if elsewhere and abs(float(elsewhere) - value) <= _half_unit(claim):
        return f"the paper prints {elsewhere} elsewhere"
    if claim["kind"] == "fact" or claim["needs"] == "print":
        return ""
    if abs(twice - printed) < unit / 10:
        return "rounded twice"
    return "cut off" if abs(math.trunc(value / unit + SLACK) * unit - printed) < unit / 10 else ""


def _half_up(value: float, decimals: int) -> float:
    """Round as people do, halves away from zero."""
    scaled = abs(value) * 10**decimals
    return math.copysign(math.floor(scaled + 0.5 + SLACK) / 10**decimals, value)


def _is_numeric(text: str) -> bool:
    """Tell whether a printed entry is a number."""
    return bool(re.fullmatch(r"-?\d+(\.\d+)?", text))


def evidence_for(needs: str, source: str) -> str:
    """Say how we know: from the claim's needs and the source of the notebook's data."""
    if re.match(r"(not public|public|illegible):", needs):
        return "none"
    if needs == "method" or (source != "real" and needs != "print"):
        return "simulated"
    return needs if needs in EVIDENCE else "raw"


def _limited(verdict: str, evidence: str, needs: str) -> str:
    """Let no verdict say more than its evidence can."""
    if evidence == "simulated" and needs != "method":
        return "open"
    if evidence == "print":
        return "consistent" if verdict == "confirmed" else verdict
    if evidence == "substitute":
        return "leaning" if verdict in HOLDING else "open" if verdict != "leaning" else verdict
    return verdict


def assess(entered: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Judge what notebooks entered.

    Parameters
    ----------
    entered : pandas.DataFrame
        Columns `ENTERED`; one row per claim, reading and part.
    published : pandas.DataFrame
        What `published_claims` returns, perhaps with other printed numbers.

    Returns
    -------
    pandas.DataFrame
        Indexed by `claim_id`: evidence, verdict, after_correction ("yes", "no" or empty), detects
        (smallest relative error of a printed number that is noticed), computed (in words), and
        estimate, low and high of the row that decided, note, notebook, source.
    """
    entered = entered.assign(p_family=_corrected(entered, published))
    elsewhere = published["elsewhere"].map(published["published"]).fillna("")
    published = published.assign(elsewhere_published=elsewhere)
    return pd.DataFrame(
        {
            claim_id: _assess_claim(published.loc[claim_id], rows)
            for claim_id, rows in entered.groupby("claim_id", sort=False)
        },
        index=[*JUDGED, "high", "note", "notebook", "source"],
    ).T.rename_axis("claim_id")


def _assess_claim(claim: pd.Series, rows: pd.DataFrame) -> dict[str, object]:
    """Judge one claim: the weakest part decides, and readings must agree."""
    source = rows["source"].iloc[0]
    evidence = evidence_for(claim["needs"], source)
    records = rows.to_dict("records")
    for row in records:
        row["verdict"] = _limited(judge(claim, row), evidence, claim["needs"])
    by_reading = {
        reading: min((row["verdict"] for row in records if row["reading"] == reading), key=_rank)
        for reading in rows["reading"].unique()
    }
    agree = len(set(by_reading.values())) == 1
    deciding = min(records, key=lambda row: _rank(row["verdict"]))
    verdict = deciding["verdict"] if agree else "open"
    note = "" if agree else "; ".join(f"{name}: {found}" for name, found in by_reading.items())
    if verdict == "slip":
        note = _slip(claim, deciding)
    elif evidence == "simulated" and claim["needs"] != "method":
        note = "simulated data say nothing about the study"
    elif verdict == "confirmed" and claim["direction"] == "no":
        note = "absence not shown"
    tested = verdict in HOLDING and claim["direction"][:1] in ("+", "-", "y")
    survives = all(row["p_family"] < LEVEL for row in records)
    return {
        "evidence": evidence,
        "verdict": verdict,
        "after_correction": ("yes" if survives else "no") if tested else "",
        "detects": max(_detects(claim, row) for row in records),
        "computed": _in_words(claim, records, deciding),
        **{name: deciding[name] for name in ("estimate", "low", "high")},
        "note": note,
        "notebook": rows["notebook"].iloc[0],
        "source": source,
    }


def _rank(verdict: str) -> int:
    """Place of a verdict, weakest first."""
    return VERDICTS.index(verdict)


def _corrected(entered: pd.DataFrame, published: pd.DataFrame) -> pd.Series:
    """Correct p-values over the family that a notebook entered, unless it did so itself."""
    width = (entered["high"] - entered["low"]) / (2 * norm.ppf(0.975))
    from_interval = 2 * norm.sf((entered["estimate"] / width).abs())
    p_values = entered["p_value"].fillna(pd.Series(from_interval, entered.index))
    family = entered["claim_id"].map(published["family"])
    in_family = p_values[family != ""].dropna()
    holm = in_family.groupby([entered["notebook"], family]).transform(adjust)
    return entered["p_family"].fillna(holm)


def _in_words(claim: pd.Series, records: list[dict], deciding: dict) -> str:
    """Say what was computed, part by part, or how many parts hold and which is weakest."""
    digits = int(claim["decimals"]) + 1 if claim["decimals"] else 2
    words = []
    for row in records:
        reading = f"{row['reading']}:" * bool(row["reading"])
        words.append(" ".join(filter(None, (reading, row["part"], _value_in_words(row, digits)))))
    if len(records) <= MOST_PARTS:
        return "; ".join(words)
    holding = sum(row["verdict"] in HOLDING for row in records)
    return f"{holding} of {len(records)} parts hold; weakest: {words[records.index(deciding)]}"


def _value_in_words(row: Mapping, digits: int) -> str:
    """Write what was computed for one part."""
    if row["shown"]:
        return row["shown"]
    words = []
    if not pd.isna(row["estimate"]):
        words.append(_number_in_words(row, digits))
    elif not pd.isna(row["low"]):
        words.append(f"{row['low']:.{digits}f} to {row['high']:.{digits}f}")
    if not pd.isna(row["share"]):
        words.append(f"in {100 * row['share']:.0f} % of resamples")
    if not pd.isna(row["p_value"]):
        words.append(f"p = {row['p_value']:.3f}" if row["p_value"] >= 0.0005 else "p < 0.001")
    return ", ".join(words) or ("yes" if row["holds"] else "no")


def _number_in_words(row: Mapping, digits: int) -> str:
    """Write a number with its interval, whole numbers as such."""
    if not pd.isna(row["low"]):
        return with_interval(row["estimate"], row["low"], row["high"], digits)
    whole = row["estimate"] == round(row["estimate"])
    return (
        f"{row['estimate']:.0f}" if whole else f"{round(row['estimate'], digits) + 0.0:.{digits}f}"
    )


def merge(claims_dir: str | Path) -> pd.DataFrame:
    """Join what all notebooks entered with the list of published claims, and judge it."""
    published = published_claims()
    entered = read_entered(claims_dir)
    for claim_id, rows in entered.groupby("claim_id", sort=False):
        notebooks = list(rows["notebook"].unique())
        if claim_id not in published.index:
            raise ClaimError(f"{notebooks[0]}: {_unknown_claim(claim_id, published.index)}")
        if len(notebooks) > 1:
            raise ClaimError(f"{claim_id} was entered by {' and '.join(notebooks)}.")
    merged = published.join(assess(entered, published))
    missing = merged["verdict"].isna()
    merged.loc[missing, "note"] = merged.loc[missing, "needs"].map(_why_missing)
    merged.loc[missing, ["verdict", "evidence"]] = "open", "none"
    return merged.reset_index()[list(COLUMNS)].map(_six_digits).fillna("")


def _why_missing(needs: str) -> str:
    """Say why nobody entered a claim."""
    public = set(needs.split()) & set(read_text(UNPINNED_FILE)["file"])
    if public:
        return f"public: {', '.join(sorted(public))}, not fetched here"
    return needs if evidence_for(needs, "real") == "none" else "not run"


def read_entered(claims_dir: str | Path) -> pd.DataFrame:
    """Read what notebooks entered, one row per claim, reading and part."""
    folder = Path(claims_dir)
    if not folder.is_dir():
        raise ClaimError(f"There is no folder {folder}: run the notebooks first.")
    empty = pd.DataFrame(columns=list(ENTERED), dtype=str)
    text = pd.concat([empty, *(read_text(file) for file in sorted(folder.glob("*.csv")))])
    text = text.reset_index(drop=True)
    numbers = text[list(NUMBERS)].replace("", np.nan).astype(float)
    holds = text["holds"].map({"True": 1.0, "False": 0.0})
    return text.assign(**numbers, holds=holds)


def _unknown_claim(claim_id: str, known: pd.Index) -> str:
    """Say that a claim is not published, and which similar ones are."""
    similar = difflib.get_close_matches(claim_id, known)
    hint = f"did you mean {', '.join(similar)}?" if similar else "see data/published/claims.csv."
    return f"{claim_id} is not a published claim; {hint}"


def verdict_counts(merged: pd.DataFrame, by: str = "study") -> pd.DataFrame:
    """Count the verdicts of each study, or of each kind of evidence.

    Parameters
    ----------
    merged : pandas.DataFrame
        What `merge` returned.
    by : str, optional
        Column that names the rows.

    Returns
    -------
    pandas.DataFrame
        One column per verdict, best first.

    Examples
    --------
    >>> merged = pd.DataFrame({"study": ["a", "a"], "verdict": ["open", "confirmed"]})
    >>> verdict_counts(merged).loc["a", ["confirmed", "open", "slip"]].tolist()
    [1, 1, 0]
    """
    counts = pd.crosstab(merged[by], merged["verdict"])
    return counts.reindex(columns=list(VERDICTS[::-1]), fill_value=0)


class Ledger:
    """The claims that one notebook checks.

    Parameters
    ----------
    notebook : str
        Name of the notebook, which becomes the name of the written file.
    source : str
        Where the data came from. Unless it is "real", claims about a study stay open.
    out_dir : str, default "build"
        Folder of the run; relative to the project root.

    Examples
    --------
    >>> claims = Ledger("example", source="real")
    >>> claims.enter("hosking.counts", {"outputs_1": 900, "tasks": 3})
    >>> claims.verdicts().tolist()
    ['confirmed', 'confirmed']
    """

    def __init__(self, notebook: str, source: str, out_dir: str = "build"):
        self.notebook = notebook
        self.source = source
        self.out_dir = out_dir
        self._published = published_claims()
        self._rows: list[dict] = []
        self._headlines: list[dict] = []

    def enter(self, prefix: str, results: Mapping[str, object]) -> None:
        """Enter what was computed for some claims.

        Parameters
        ----------
        prefix : str
            Beginning of the claims' names, such as "hosking.counts"; empty if keys are whole names.
        results : mapping of str to object
            For each claim a number, a truth value, or a mapping or Series with some of `estimate`,
            `low`, `high`, `share` (of resamples), `p_value`, `p_family` (corrected over the whole
            family), `holds`, `other` (a number that would explain a slip) and `shown` (words); a
            DataFrame of such columns with one row for each part of the claim; a pair of one of
            these and words; or, for a claim with two readings, a mapping from reading to these.
            A bare number is the share of a ranking and the estimate of anything else.

        Raises
        ------
        ClaimError
            If a claim is unknown, cannot be entered or was entered before, or if what its rule
            needs is missing or not finite.
        """
        for key, result in results.items():
            claim_id = f"{prefix}.{key}" if prefix else key
            self._enter(claim_id, self._claim(claim_id), result)

    def enter_table(self, table: str, cells: pd.Series | pd.DataFrame) -> None:
        """Enter cells of a printed table, one claim each.

        Parameters
        ----------
        table : str
            Name of a file in `data/published`, such as "hosking_table3".
        cells : pandas.Series or pandas.DataFrame
            Recomputed cells; some may be left out. The index levels are named like the columns
            before `published` in the file, in any order. A frame has the columns of `enter`.

        Raises
        ------
        ClaimError
            If there is no such table, if its keys are not the index levels, or as for `enter`.

        Examples
        --------
        >>> cells = pd.Series({("Falcon 40B", "refusal"): 2.78, ("Falcon 40B", "scope"): 2.5})
        >>> claims = Ledger("example", source="real")
        >>> claims.enter_table("hosking_table2", cells.rename_axis(["system", "measure"]))
        >>> claims.verdicts().tolist()
        ['confirmed', 'confirmed']
        """
        keys, names = list(printed_table(table).index.names), list(cells.index.names)
        if sorted(map(str, names)) != sorted(keys):
            raise ClaimError(f"{table} needs the index levels {keys}, not {names}.")
        frame = cells.to_frame("estimate") if isinstance(cells, pd.Series) else cells
        frame = frame.reorder_levels(keys)
        results = dict(zip(frame.index, frame.to_dict("records"), strict=True))
        self.enter("", {_cell_id(table, cell): row for cell, row in results.items()})

    def verdicts(self) -> pd.Series:
        """Verdicts on the claims entered so far, indexed by claim."""
        return assess(self._entered(), self._published)["verdict"]

    def headline(self, name: str, **values: object) -> None:
        """Fill the sentence of a headline finding in `data/published/headlines.csv`.

        Parameters
        ----------
        name : str
            The headline.
        **values : object
            Fields of the sentence: a row with estimate, low and high is written with its interval,
            a number to the digits that the field asks for, text as it is.

        Raises
        ------
        ClaimError
            If there is no such headline, or a field has no value.
        """
        self._fill(name, "sentence", values)

    def headline_alternatives(self, name: str, **values: object) -> None:
        """Fill what other ways of computing give for a headline finding, as `headline` does."""
        self._fill(name, "alternatives", values)

    def write(self) -> pd.DataFrame:
        """Write `claims/<notebook>.csv` and its headlines to the output folder; return the table.

        Returns
        -------
        pandas.DataFrame
            Indexed by claim, as `assess` returns it, with the published columns.
        """
        entered = self._entered()
        folder = paths.output_dir(self.out_dir)
        headlines = pd.DataFrame(self._headlines, columns=["headline", "field", "text", "source"])
        tables = {"claims": entered.map(_six_digits), "headlines": headlines}
        paths.replace_files(
            {
                folder / kind / f"{self.notebook}.csv": _csv(table)
                for kind, table in tables.items()
                if kind == "claims" or len(table)
            }
        )
        return self._published.join(assess(entered, self._published), how="right")

    def show(self) -> CaptionedTable:
        """Write the claims of this notebook and show them, worst first.

        Cells of printed tables that hold are counted in the caption; claims that fail together,
        for one cause, are one row.

        Returns
        -------
        helpers.show.CaptionedTable
            What the paper says, what it prints, what we get, and the verdict with its evidence.
        """
        return summary(self.write())

    def _entered(self) -> pd.DataFrame:
        """What was entered, as one table."""
        rows = pd.DataFrame(self._rows, columns=list(ENTERED))
        rows = rows.assign(notebook=self.notebook, source=self.source)
        rows[[*NUMBERS, "holds"]] = rows[[*NUMBERS, "holds"]].astype(float)
        return rows.fillna({"reading": "", "part": "", "shown": ""})

    def _claim(self, claim_id: str) -> pd.Series:
        """Find a claim that may still be entered."""
        if claim_id not in self._published.index:
            raise ClaimError(_unknown_claim(claim_id, self._published.index))
        if any(row["claim_id"] == claim_id for row in self._rows):
            raise ClaimError(f"{claim_id} was already entered in {self.notebook}.")
        claim = self._published.loc[claim_id]
        if evidence_for(claim["needs"], "real") == "none":
            raise ClaimError(f"{claim_id} cannot be entered: {claim['needs']}.")
        return claim

    def _enter(self, claim_id: str, claim: pd.Series, result: object) -> None:
        """Keep the rows of one claim after checking them."""
        names = [name for name in claim["readings"].split("|") if name]
        by_reading = result if names else {"": result}
        if names and not (isinstance(result, Mapping) and set(result) == set(names)):
            raise ClaimError(f"{claim_id} needs the readings {' and '.join(names)}.")
        for reading, values in by_reading.items():
            for part, row in _parts(claim, values):
                _require(claim_id, claim, row)
                where = {"claim_id": claim_id, "reading": reading, "part": part}
                self._rows.append({**where, **row})

    def _fill(self, name: str, field: str, values: Mapping[str, object]) -> None:
        """Keep one filled sentence."""
        templates = read_text(paths.PUBLISHED / "headlines.csv").set_index("headline")[field]
        if name not in templates:
            raise ClaimError(f"{name} is not in data/published/headlines.csv.")
        try:
            text = templates[name].format(**{key: _Value(value) for key, value in values.items()})
        except KeyError as error:
            raise ClaimError(f"The headline {name} needs a value for {error}.") from None
        row = {"headline": name, "field": field, "text": text, "source": self.source}
        self._headlines.append(row)


class _Value:
    """A value of a headline, written with its interval and the digits asked for."""

    def __init__(self, value: object):
        self.value = value

    def __format__(self, digits: str) -> str:
        """Write the value; the format is a number of digits."""
        if isinstance(self.value, str):
            return self.value
        if isinstance(self.value, Real):
            return f"{round(self.value, int(digits or 0)) + 0.0:.{int(digits or 0)}f}"
        row = self.value
        return with_interval(row["estimate"], row["low"], row["high"], int(digits or 2))


def headlines(folder: str | Path) -> pd.DataFrame:
    """Join the filled sentences of all notebooks.

    Parameters
    ----------
    folder : str or pathlib.Path
        `headlines` in the output folder of a run.

    Returns
    -------
    pandas.DataFrame
        Indexed by `headline` in the order of data/published/headlines.csv: `notebook`, `sentence`,
        `alternatives`, `source`; text is empty where no notebook filled it.
    """
    known = read_text(paths.PUBLISHED / "headlines.csv").set_index("headline")
    files = [read_text(file) for file in sorted(Path(folder).glob("*.csv"))]
    filled = pd.concat([pd.DataFrame(columns=["headline", "field", "text", "source"]), *files])
    wide = filled.pivot(index="headline", columns="field", values="text")
    wide = wide.reindex(index=known.index, columns=["sentence", "alternatives"])
    source = filled.groupby("headline")["source"].agg(lambda names: "+".join(sorted(set(names))))
    return known[["notebook"]].join(wide).join(source).fillna("")


def summary(judged: pd.DataFrame) -> CaptionedTable:
    """Show judged claims for reading: worst first, one row for claims with one cause."""
    cells = judged.index.str.contains(r"\.(?:table|figure)\w?\d+\.") & judged["verdict"].isin(
        HOLDING
    )
    listed = judged[~cells].assign(rank=judged["verdict"].map(_rank))
    listed = listed.sort_values(["rank", "evidence"], kind="stable")
    group = listed["cause"].where(listed["cause"] != "", listed.index)
    rows = [_shown_row(rows) for _, rows in listed.groupby([group, "verdict"], sort=False)]
    columns = ["the paper says", "printed", "here", "verdict"]
    folded = f"; {cells.sum()} cells of printed tables that hold are not listed" * bool(cells.sum())
    caption = f"{len(judged)} claims, contradictions first{folded}"
    return CaptionedTable(pd.DataFrame(rows, columns=columns), caption, COLORS)


def _shown_row(rows: pd.DataFrame) -> list[str]:
    """One row for claims that stand or fall together."""
    first = rows.iloc[0]
    many = f" (and {len(rows) - 1} more with the same cause)" * (len(rows) > 1)
    printed = "" if first["published"] == "holds" else first["published"]
    verdict = first["verdict"] + ", not after correction" * (first["after_correction"] == "no")
    note = f"; {first['note']}" * bool(first["note"])
    said = f"{first['statement']} ({first['where']}){many}"
    return [said, printed, first["computed"] + note, f"{verdict} ({first['evidence']})"]


def _parts(claim: pd.Series, result: object) -> list[tuple[str, dict]]:
    """Turn what a notebook hands over into rows, one for each part of the claim."""
    if isinstance(result, tuple):
        value, words = result
        return [(part, {**row, "shown": words}) for part, row in _parts(claim, value)]
    if isinstance(result, pd.DataFrame):
        frame = result[[name for name in result if name in ENTERED]]
        records = frame.to_dict("records")
        return [(_part_name(key), row) for key, row in zip(frame.index, records, strict=True)]
    if isinstance(result, bool | np.bool_):
        return [("", {"holds": float(result)})]
    if isinstance(result, Real):
        return [("", {"share" if claim["kind"] == "ranking" else "estimate": float(result)})]
    if isinstance(result, Mapping | pd.Series):
        return [("", {name: value for name, value in dict(result).items() if name in ENTERED})]
    raise ClaimError(f"{claim.name} cannot take {result!r}.")


def _part_name(key: object) -> str:
    """Name a part by its index, levels joined."""
    return ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)


def _require(claim_id: str, claim: pd.Series, row: Mapping) -> None:
    """Refuse a row that the rule of its claim cannot judge."""
    given = {name for name in (*NUMBERS, "holds") if name in row and not pd.isna(row[name])}
    unbounded = [name for name in given if not math.isfinite(row[name])]
    if unbounded:
        raise ClaimError(f"{claim_id} needs a finite {unbounded[0]}, not {row[unbounded[0]]!r}.")
    needed = NEEDED[claim["kind"]]
    if claim["kind"] == "number" and claim["needs"] == "print" and "low" in given:
        needed = ()
    elif claim["kind"] == "fact" and not {"holds", "estimate"} & given:
        needed = ("holds or estimate",)
    if missing := [name for name in needed if name not in given]:
        raise ClaimError(f"{claim_id} is a {claim['kind']}: give {' and '.join(missing)}.")
    if ("low" in given) != ("high" in given):
        raise ClaimError(f"{claim_id}: give both low and high, or neither.")
    if {"low", "high"} <= given and row["low"] > row["high"]:
        raise ClaimError(
            f"{claim_id} has a reversed interval: {row['low']:.6g} > {row['high']:.6g}."
        )


def _csv(table: pd.DataFrame) -> bytes:
    """Write a table as CSV."""
    return table.to_csv(index=False, lineterminator="\n").encode()


def _six_digits(value: object) -> object:
    """Write a number to six digits and leave words as they are."""
    return f"{value:.6g}" if isinstance(value, float) and not math.isnan(value) else value
