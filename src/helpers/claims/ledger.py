"""What a notebook enters for the claims it checks, and the headlines it fills."""

import math
from collections.abc import Mapping
from numbers import Real
from string import Formatter

import numpy as np
import pandas as pd
from IPython import get_ipython

from helpers import paths
from helpers.claims import verdicts
from helpers.claims.collection import (
    CELL_OF_TABLE,
    digest_of,
    unknown_claim,
    with_digits,
)
from helpers.claims.verdicts import ENTERED, NUMBERS, assess, evidence_for
from helpers.data import registry
from helpers.data.published import (
    ClaimError,
    cell_id,
    printed_table,
    published_claims,
    read_text,
)
from helpers.data.tables import to_csv_bytes
from helpers.show import CaptionedTable, text_table
from helpers.wording import with_interval

EXACT = 12  # digits of what is entered, which is judged again when all are joined


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
    other_parameters : str, optional
        What differs from the defaults, as `helpers.run.parameters.changed` returns it.
        Claims and headlines are about the defaults: if anything differs, none is
        entered or written.

    Examples
    --------
    >>> claims = Ledger("example", source="real")
    >>> claims.enter("hosking.counts", {"outputs_1": 900, "tasks": 3})
    """

    def __init__(
        self,
        notebook: str,
        source: str,
        out_dir: str = "build",
        other_parameters: str = "",
    ):
        self.notebook = notebook
        self.source = source
        self.out_dir = out_dir
        self.other_parameters = other_parameters
        self._published = published_claims()
        self._rows: list[dict] = []
        self._headlines: list[dict] = []

    def enter(self, prefix: str, results: Mapping[str, object]) -> None:
        """Enter what was computed for some claims.

        Parameters
        ----------
        prefix : str
            Beginning of the claims' names, such as "hosking.counts"; empty if keys are
            whole names.
        results : mapping of str to object
            For each claim a number, a truth value, or a mapping or Series with some of
            `estimate`, `low`, `high`, `share` (of resamples), `p_value`, `p_family`
            (corrected over the whole family), `holds`, `other` (a number that would
            explain a slip), `rounded_first` (what comes of its parts, each rounded as
            printed) and `shown` (words); a DataFrame of such columns with one row for
            each part of the claim; a pair of one of these and words; or, for a
            claim with two readings, a mapping from reading to these. A bare number is
            the share of a ranking and the estimate of anything else.

        Raises
        ------
        ClaimError
            If a claim is unknown, cannot be entered or was entered before, or if what
            its rule needs is missing or not finite.
        """
        if self.other_parameters:
            return
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
            Recomputed cells; some may be left out. The index levels are named like the
            columns before `published` in the file, in any order. A frame has the
            columns of `enter`.

        Raises
        ------
        ClaimError
            If there is no such table, if its keys are not the index levels, or as for
            `enter`.

        Examples
        --------
        >>> rates = {("Falcon 40B", "refusal"): 2.78, ("Falcon 40B", "scope"): 2.5}
        >>> cells = pd.Series(rates).rename_axis(["system", "measure"])
        >>> claims = Ledger("example", source="real")
        >>> claims.enter_table("hosking_table2", cells)
        >>> claims._entered()["estimate"].tolist()
        [2.78, 2.5]
        """
        if self.other_parameters:
            return
        keys = list(printed_table(table).index.names)
        names = list(cells.index.names)
        if sorted(map(str, names)) != sorted(keys):
            raise ClaimError(f"{table} needs the index levels {keys}, not {names}.")
        frame = cells.to_frame("estimate") if isinstance(cells, pd.Series) else cells
        frame = frame.reorder_levels(keys)
        claim_ids = [cell_id(table, cell) for cell in frame.index]
        results = dict(zip(claim_ids, frame.to_dict("records"), strict=True))
        self.enter("", results)

    def headline(self, name: str, **values: object) -> None:
        """Fill a headline finding in `data/published/headlines.csv`, in full and short.

        Parameters
        ----------
        name : str
            The headline.
        **values : object
            Fields of both forms: a row with estimate, low and high is written with
            its interval, a number to the digits that the field asks for, text as it is.

        Raises
        ------
        ClaimError
            If there is no such headline, or a field has no value.
        """
        self._fill(name, "sentence", values)
        self._fill(name, "short", values)

    def headline_alternatives(self, name: str, **values: object) -> None:
        """Fill what other ways of computing give for a headline, as `headline` does.

        Where several notebooks have something to add, `alternatives` has a line for
        each, with other fields: the line that has one of the given fields is filled.
        """
        self._fill(name, "alternatives", values)

    def write(self) -> pd.DataFrame:
        """Write claims, headlines and files read to the output folder, and judge.

        Each becomes a file `<notebook>.csv` in a folder of its own, such as `claims/`.
        With other parameters than the defaults nothing is written.

        Returns
        -------
        pandas.DataFrame
            Indexed by claim, as `assess` returns it, with the published columns.
        """
        entered = self._entered()
        if not self.other_parameters:
            self._write_files(entered)
        return self._published.join(assess(entered, self._published), how="right")

    def _write_files(self, entered: pd.DataFrame) -> None:
        """Write the files of this notebook; without claims that of claims is empty."""
        folder = paths.output_dir(self.out_dir)
        columns = ["headline", "field", "text", "source"]
        files = pd.DataFrame(registry.files_read().items(), columns=["file", "sha256"])
        tables = {
            "claims": entered.map(with_digits, digits=EXACT),
            "headlines": pd.DataFrame(self._headlines, columns=columns),
            "provenance": files.sort_values("file").assign(notebook=self.notebook),
        }
        contents = {}
        for kind, table in tables.items():
            if kind == "claims" or len(table):
                file = folder / kind / f"{self.notebook}.csv"
                contents[file] = to_csv_bytes(table, index=False)
        paths.replace_files(contents)

    def show(self) -> CaptionedTable | None:
        """Write the claims of this notebook and show them, worst first.

        Cells of printed tables that hold are counted in the caption; claims that fail
        together, for one cause, are one row.

        Returns
        -------
        helpers.show.CaptionedTable or None
            What the paper says, what it prints, what we get, and the verdict with its
            evidence; nothing with other parameters than the defaults, which a printed
            sentence says.
        """
        judged = self.write()
        if self.other_parameters:
            differs = self.other_parameters
            print(f"No claim is judged, since each is about the default: {differs}.")
            return None
        return listed(judged)

    def _entered(self) -> pd.DataFrame:
        """What was entered, as one table."""
        rows = pd.DataFrame(self._rows, columns=["cell", *ENTERED])
        rows = rows.assign(notebook=self.notebook, source=self.source)
        rows[[*NUMBERS, "holds"]] = rows[[*NUMBERS, "holds"]].astype(float)
        words = ["reading", "part", "shown", "cell"]
        return rows.assign(**rows[words].astype(object).fillna(""))

    def _claim(self, claim_id: str) -> pd.Series:
        """Find a claim that may still be entered."""
        if claim_id not in self._published.index:
            raise ClaimError(unknown_claim(claim_id, self._published.index))
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
                self._rows.append(
                    {
                        "claim_id": claim_id,
                        "reading": reading,
                        "part": part,
                        "cell": _cell(),
                        **row,
                    }
                )

    def _fill(self, name: str, field: str, values: Mapping[str, object]) -> None:
        """Keep one filled sentence, unless the run has other parameters."""
        if self.other_parameters:
            return
        table = read_text(paths.PUBLISHED / "headlines.csv").set_index("headline")
        if name not in table.index:
            raise ClaimError(f"{name} is not in data/published/headlines.csv.")
        template = _line_for(table.loc[name, field], values)
        if template == "":  # not every finding has a short form
            return
        fields = {key: _Value(value) for key, value in values.items()}
        try:
            text = template.format_map(fields)
        except KeyError as error:
            problem = f"The headline {name} needs a value for {error}."
            raise ClaimError(problem) from None
        row = {"headline": name, "field": field, "text": text, "source": self.source}
        self._headlines.append(row)


def _line_for(template: str, values: Mapping[str, object]) -> str:
    """Choose the line of a template with one of the fields; the whole if none has."""
    for line in template.splitlines():
        fields = {field for _, field, _, _ in Formatter().parse(line)}
        if fields & set(values):
            return line
    return template


class _Value:
    """A value of a headline, written with its interval and the digits asked for."""

    def __init__(self, value: object):
        self.value = value

    def __format__(self, digits: str) -> str:
        """Write the value; the format is a number of digits."""
        if isinstance(self.value, str):
            return self.value
        if isinstance(self.value, Real):
            decimals = int(digits) if digits else 0
            rounded = round(self.value, decimals) + 0.0  # no negative zero
            return f"{rounded:.{decimals}f}"
        row = self.value
        decimals = int(digits) if digits else 2
        return with_interval(row["estimate"], row["low"], row["high"], decimals)


def listed(judged: pd.DataFrame) -> CaptionedTable:
    """Show judged claims, worst first; claims with one cause are one row."""
    is_cell = judged.index.str.contains(CELL_OF_TABLE)
    left_out = is_cell & judged["verdict"].isin(verdicts.HOLDING)
    shown = judged[~left_out].assign(rank=judged["verdict"].map(verdicts.rank))
    shown = shown.sort_values(["rank", "evidence"], kind="stable")
    cause_or_claim = shown["cause"].where(shown["cause"] != "", shown.index)
    groups = shown.groupby([cause_or_claim, "verdict"], sort=False)
    rows = [_shown_row(rows) for _, rows in groups]
    caption = f"{len(judged)} claims, contradictions first"
    if left_out.any():
        caption += (
            f"; {left_out.sum()} cells of printed tables that hold are not listed"
        )
    columns = ["the paper says", "printed", "here", "verdict"]
    return text_table(pd.DataFrame(rows, columns=columns), caption)


def _shown_row(rows: pd.DataFrame) -> list[str]:
    """One row for claims that stand or fall together."""
    first = rows.iloc[0]
    statement = f"{first['statement']} ({first['where']})"
    if len(rows) > 1:
        statement += f" (and {len(rows) - 1} more with the same cause)"
    printed = "" if first["published"] == "holds" else first["published"]
    computed = first["computed"]
    if first["note"]:
        computed += f"; {first['note']}"
    verdict = first["verdict"]
    if first["after_correction"] == verdicts.CORRECTED_AWAY:
        verdict += ", not after correction"
    return [statement, printed, computed, f"{verdict} ({first['evidence']})"]


def _parts(claim: pd.Series, result: object) -> list[tuple[str, dict]]:
    """Turn what a notebook hands over into rows, one for each part of the claim."""
    if isinstance(result, tuple):
        value, words = result
        return [(part, {**row, "shown": words}) for part, row in _parts(claim, value)]
    if isinstance(result, pd.DataFrame):
        names = [_part_name(key) for key in result.index]
        records = [_known_columns(row) for row in result.to_dict("records")]
        return list(zip(names, records, strict=True))
    if isinstance(result, Mapping | pd.Series):
        row = _known_columns(dict(result))
    elif isinstance(result, bool | np.bool_):
        row = {"holds": float(result)}
    elif isinstance(result, Real):
        column = "share" if claim["kind"] == "ranking" else "estimate"
        row = {column: float(result)}
    else:
        raise ClaimError(f"{claim.name} cannot take {result!r}.")
    return [("", row)]


def _part_name(key: object) -> str:
    """Name of a part, from the index of the table that it is a row of."""
    return ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)


def _known_columns(row: Mapping) -> dict:
    """What is entered of a row; a table may have more columns."""
    return {name: value for name, value in row.items() if name in ENTERED}


def _require(claim_id: str, claim: pd.Series, row: Mapping) -> None:
    """Refuse a row that the rule of its claim cannot judge."""
    present = set()
    for name in (*NUMBERS, "holds"):
        if name in row and not pd.isna(row[name]):
            present.add(name)
            if not math.isfinite(row[name]):
                raise ClaimError(
                    f"{claim_id} needs a finite {name}, not {row[name]!r}."
                )
    missing = [name for name in _needed(claim, present) if name not in present]
    if missing:
        raise ClaimError(
            f"{claim_id} is a {claim['kind']}: give {' and '.join(missing)}."
        )
    if ("low" in present) != ("high" in present):
        raise ClaimError(f"{claim_id}: give both low and high, or neither.")
    if "low" in present and row["low"] > row["high"]:
        raise ClaimError(
            f"{claim_id} has a reversed interval: {row['low']:.6g} > {row['high']:.6g}."
        )


def _needed(claim: pd.Series, present: set[str]) -> tuple[str, ...]:
    """Columns that the rule of a claim needs."""
    from_rounded_numbers = claim["kind"] == "number" and claim["needs"] == "print"
    if from_rounded_numbers and "low" in present:
        return ()
    if claim["kind"] == "fact" and present.isdisjoint(("holds", "estimate")):
        return ("holds or estimate",)
    return verdicts.NEEDED[claim["kind"]]


def _cell() -> str:
    """Name the cell that is running by what stands in it; empty outside of kernels."""
    shell = get_ipython()
    request = shell.get_parent() if hasattr(shell, "get_parent") else {}
    code = request.get("content", {}).get("code")
    return digest_of(code) if code else ""
