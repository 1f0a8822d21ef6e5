"""What the papers print, what notebooks compute instead, and the verdict on each claim.

Every row of `data/published/claims.csv` and every cell of a printed table is a claim. A notebook
enters its results in a `Ledger`, which judges them and writes one file; `merge` joins the files of
all notebooks with the list of claims.
"""

import difflib
import math
import re
from collections.abc import Mapping
from numbers import Real
from pathlib import Path

import numpy as np
import pandas as pd

from helpers import paths
from helpers.files.tables import PlainError
from helpers.show import CaptionedTable, captioned

NUMBERS = ("value", "count", "split")
STATEMENTS = ("statement", "order")
VERDICTS = ("reproduced", "within variability", "differs", "not testable", "simulated", "not run")
PRINTED = ("study", "where", "statement", "published")
ENTERED = ("computed", "low", "high", "verdict", "note", "notebook", "source")
COLUMNS = ("claim_id", *PRINTED, *ENTERED)

_ROUNDING_SLACK = 1e-9


class ClaimError(PlainError):
    """A claim was named or entered in a way that does not fit what is published."""


def published_claims() -> pd.DataFrame:
    """List every published claim, with one row for each cell of a printed table.

    Returns
    -------
    pandas.DataFrame
        Indexed by `claim_id`, with the other columns of `data/published/claims.csv`, all as text:
        `study`, `where`, `statement`, `published`, `unit`, `decimals`, `kind`, `testable`,
        `why_not`.

    Examples
    --------
    >>> published_claims().loc["hosking.table3.baseline.factuality.crowd", "published"]
    '4.3'
    """
    claims = read_text(paths.PUBLISHED / "claims.csv")
    cells = [_cell_claims(table) for table in table_names()]
    return pd.concat([claims, *cells], ignore_index=True).set_index("claim_id")


def _cell_claims(table: str) -> pd.DataFrame:
    """Turn a printed table into claims."""
    printed = printed_table(table)
    cells, printed = printed.index, printed.reset_index()
    study, exhibit = table.split("_")
    kind, number = re.fullmatch(r"(table|figure)([a-z]?\d+)", exhibit).groups()
    where = f"{kind.capitalize()} {number.upper()}"
    return printed[["published", "unit", "decimals"]].assign(
        claim_id=[_cell_id(table, cell) for cell in cells],
        study=study,
        where=where,
        statement=[f"{where} prints this number for {', '.join(cell)}." for cell in cells],
        kind="value",
        testable=printed.get("testable", "yes"),
        why_not=printed.get("why_not", ""),
    )


def table_names() -> list[str]:
    """Name the printed tables and figures whose cells are claims."""
    return sorted(file.stem for file in paths.PUBLISHED.glob("*.csv") if file.stem != "claims")


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


def verdict_on_number(
    kind: str,
    published: float,
    computed: float,
    decimals: int,
    interval: tuple[float, float] | None = None,
) -> str:
    """Compare a recomputed number with the printed one."""
    tolerance = 0 if kind == "count" else 0.5 * 10**-decimals + _ROUNDING_SLACK
    low, high = interval if kind in ("split", "attainable") else (computed, computed)
    if not low - tolerance <= published <= high + tolerance:
        return "differs"
    return "within variability" if kind == "split" else "reproduced"


def merge(claims_dir: str | Path) -> pd.DataFrame:
    """Join the files of all notebooks with the list of published claims."""
    published = published_claims()
    entered = _read_entered(Path(claims_dir), published.index)
    merged = published.join(entered.drop(columns=list(PRINTED))).fillna("")
    not_testable = merged["testable"] == "no"
    merged.loc[merged["verdict"] == "", "verdict"] = "not run"
    merged.loc[not_testable, "verdict"] = "not testable"
    merged.loc[not_testable, "note"] = merged["why_not"]
    return merged.reset_index()[list(COLUMNS)]


def _read_entered(folder: Path, known: pd.Index) -> pd.DataFrame:
    """Read the files of all notebooks, indexed by claim."""
    if not folder.is_dir():
        raise ClaimError(f"There is no folder {folder}: run the notebooks first.")
    files = [read_text(file) for file in sorted(folder.glob("*.csv"))]
    entered = pd.concat([pd.DataFrame(columns=list(COLUMNS), dtype=str), *files])
    for claim_id, notebooks in entered.groupby("claim_id", sort=False)["notebook"]:
        if claim_id not in known:
            raise ClaimError(f"{notebooks.iloc[0]}: {_unknown_claim(claim_id, known)}")
        if len(notebooks) > 1:
            raise ClaimError(f"{claim_id} was entered by {' and '.join(notebooks)}.")
    return entered.set_index("claim_id")


def _unknown_claim(claim_id: str, known: pd.Index) -> str:
    """Say that a claim is not published, and which similar ones are."""
    similar = difflib.get_close_matches(claim_id, known)
    hint = f"did you mean {', '.join(similar)}?" if similar else "see data/published/claims.csv."
    return f"{claim_id} is not a published claim; {hint}"


def verdict_counts(merged: pd.DataFrame) -> pd.DataFrame:
    """Count the verdicts of each study.

    Parameters
    ----------
    merged : pandas.DataFrame
        What `merge` returned.

    Returns
    -------
    pandas.DataFrame
        One row per study, one column per verdict in the order of `VERDICTS`.

    Examples
    --------
    >>> merged = pd.DataFrame({"study": ["a", "a"], "verdict": ["differs", "reproduced"]})
    >>> verdict_counts(merged).loc["a", ["reproduced", "differs", "not run"]].tolist()
    [1, 1, 0]
    """
    counts = pd.crosstab(merged["study"], merged["verdict"])
    return counts.reindex(columns=list(VERDICTS), fill_value=0)


class Ledger:
    """The claims that one notebook checks.

    Parameters
    ----------
    notebook : str
        Name of the notebook, which becomes the name of the written file.
    source : str
        Where the data came from. Unless it is "real", every verdict is "simulated".
    out_dir : str, default "build"
        Folder of the run; relative to the project root.

    Examples
    --------
    >>> claims = Ledger("example", source="real")
    >>> claims.check("hosking.counts.outputs_1", 900)
    'reproduced'
    >>> claims.check("hosking.quality.assertiveness_r", 0.7, interval=(0.66, 0.73))
    'differs'
    >>> claims.holds("hosking.lasso.refusal_strongest", True, computed="refusal -1.0")
    'reproduced'
    """

    def __init__(self, notebook: str, source: str, out_dir: str = "build"):
        self.notebook = notebook
        self.source = source
        self.out_dir = out_dir
        self._published = published_claims()
        self._rows: dict[str, dict] = {}

    def check(
        self,
        claim_id: str,
        value: float,
        interval: tuple[float, float] | None = None,
        note: str = "",
        attainable: bool = False,
    ) -> str:
        """Enter a recomputed number.

        Parameters
        ----------
        claim_id : str
            A claim of kind "value", "count" or "split".
        value : float
            The recomputed number, not rounded, in the unit of the claim.
        interval : (float, float), optional
            Its uncertainty. A "split" claim needs the range over redrawn splits.
        note : str, optional
            One sentence on why the numbers differ; kept only if they do.
        attainable : bool, optional
            Whether `interval` is the range that the rounding of printed inputs leaves open. Then
            the claim is reproduced if a number in it rounds to the printed one.

        Returns
        -------
        str
            The verdict.

        Raises
        ------
        ClaimError
            If the claim is unknown, not testable, not a number or entered before, if a number is
            not finite, or if the interval is missing or reversed.
        """
        claim = self._claim(claim_id, NUMBERS)
        _require_numbers(claim_id, value, interval)
        if claim["kind"] == "split" and interval is None:
            raise ClaimError(f"{claim_id} depends on a split: give the interval over redrawn ones.")
        printed, decimals = claim["published"], int(claim["decimals"])
        kind = "attainable" if attainable else claim["kind"]
        verdict = verdict_on_number(kind, float(printed), value, decimals, interval)
        found = f"computed {_rounded(value, decimals)}, printed {printed}"
        self._rows[claim_id] = {"computed": float(value)}
        if interval is not None:
            self._rows[claim_id] |= {"low": float(interval[0]), "high": float(interval[1])}
        return self._judge(claim_id, verdict, note or f"{found}; no reason recorded")

    def holds(self, claim_id: str, result: bool, computed: str = "", note: str = "") -> str:
        """Enter whether a statement or an order holds.

        Parameters
        ----------
        claim_id : str
            A claim of kind "statement" or "order".
        result : bool
            Whether it holds on the data.
        computed : str, optional
            Short evidence, such as the two numbers that were compared.
        note : str, optional
            One sentence on why it does not hold; kept only if it does not.

        Returns
        -------
        str
            The verdict.

        Raises
        ------
        ClaimError
            If the claim is unknown, not testable, a number or entered before, or if `result` is
            not a truth value.
        """
        self._claim(claim_id, STATEMENTS)
        if not isinstance(result, bool | np.bool_):
            raise ClaimError(f"{claim_id} needs True or False, not {result!r}.")
        self._rows[claim_id] = {"computed": str(computed)}
        verdict = "reproduced" if result else "differs"
        return self._judge(claim_id, verdict, note or "does not hold; no reason recorded")

    def check_table(
        self,
        table: str,
        computed: pd.Series,
        low: pd.Series | None = None,
        high: pd.Series | None = None,
        notes: Mapping[tuple[str, ...], str] | None = None,
        attainable: bool = False,
    ) -> pd.Series:
        """Enter cells of a printed table, one claim each.

        Parameters
        ----------
        table : str
            Name of a file in `data/published`, such as "hosking_table3".
        computed : pandas.Series
            Recomputed cells; some may be left out. The index levels are named like the columns
            before `published` in the file, in any order.
        low, high : pandas.Series, optional
            Ends of the intervals, with the same index.
        notes : mapping of tuple to str, optional
            Why a cell differs, by its keys in the order of the file.
        attainable : bool, optional
            As for `check`.

        Returns
        -------
        pandas.Series
            The verdicts, indexed by the keys in the order of the file.

        Raises
        ------
        ClaimError
            If there is no such table, if its keys are not the index levels, if only one end of
            the intervals is given, or if `check` refuses a cell.

        Examples
        --------
        >>> cells = pd.Series({("Falcon 40B", "refusal"): 2.78, ("Falcon 40B", "scope"): 2.5})
        >>> cells = cells.rename_axis(["system", "measure"])
        >>> Ledger("example", source="real").check_table("hosking_table2", cells)
        system      measure
        Falcon 40B  refusal    reproduced
                    scope      reproduced
        dtype: str
        """
        if (low is None) != (high is None):
            raise ClaimError(f"{table}: give both low and high, or neither.")
        cells, notes = _by_cell(table, computed), notes or {}
        intervals = [None] * len(cells)
        if low is not None:
            ends = [_by_cell(table, end).reindex(cells.index) for end in (low, high)]
            intervals = zip(*ends, strict=True)
        verdicts = [
            self.check(_cell_id(table, cell), value, ends, notes.get(cell, ""), attainable)
            for (cell, value), ends in zip(cells.items(), intervals, strict=True)
        ]
        return pd.Series(verdicts, index=cells.index, dtype=str)

    def table(self) -> pd.DataFrame:
        """Write the claims of this notebook and return them for display.

        The file is `<out_dir>/claims/<notebook>.csv`, with the columns `COLUMNS` of
        `helpers.claims`. The returned table rounds to one digit more than the paper prints.

        Returns
        -------
        pandas.DataFrame
            Indexed by the claim's name without its study; columns `statement`, `published`,
            `computed`, `interval`, `verdict`, `note`.
        """
        results = pd.DataFrame(list(self._rows.values()), index=list(self._rows), columns=ENTERED)
        results = results.assign(notebook=self.notebook, source=self.source)
        entered = self._published.loc[results.index].join(results).rename_axis("claim_id")
        written = entered.reset_index()[list(COLUMNS)].astype(object)
        written[["computed", "low", "high"]] = written[["computed", "low", "high"]].map(_six_digits)
        file = paths.output_dir(self.out_dir) / "claims" / f"{self.notebook}.csv"
        paths.replace_files({file: written.to_csv(index=False, lineterminator="\n").encode()})
        digits = entered["decimals"]
        ends = zip(_shown(entered["low"], digits), _shown(entered["high"], digits), strict=True)
        shown = entered.assign(
            computed=_shown(entered["computed"], digits),
            interval=[f"[{low}, {high}]" if low else "" for low, high in ends],
        )
        shown.index = shown.index.str.split(".", n=1).str[1].rename("claim")
        return shown[["statement", "published", "computed", "interval", "verdict", "note"]]

    def show(self) -> CaptionedTable:
        """Write the claims of this notebook and show those that a reader wants to see.

        Cells of printed tables that are reproduced are counted in the caption, not listed.

        Returns
        -------
        CaptionedTable
            The rows of `table`, under a caption that counts verdicts.

        Examples
        --------
        >>> import tempfile
        >>> claims = Ledger("example", source="real", out_dir=tempfile.mkdtemp())
        >>> _ = claims.check("hosking.counts.outputs_1", 900)
        >>> claims.show().caption
        'Claims checked here, source: real. reproduced: 1'
        """
        table = self.table()
        counts = table["verdict"].value_counts()
        is_cell = table.index.str.match(r"(table|figure)[a-z]?\d+\.")
        reproduced_cells = is_cell & table["verdict"].eq("reproduced")
        caption = f"Claims checked here, source: {self.source}. "
        caption += ", ".join(f"{verdict}: {count}" for verdict, count in counts.items())
        if reproduced_cells.any():
            caption += f" ({reproduced_cells.sum()} of them table cells, not listed)"
        return captioned(table[~reproduced_cells], caption)

    def _claim(self, claim_id: str, kinds: tuple[str, ...]) -> pd.Series:
        """Return a published claim, provided that it may be entered now and in this way."""
        if claim_id not in self._published.index:
            raise ClaimError(_unknown_claim(claim_id, self._published.index))
        if claim_id in self._rows:
            raise ClaimError(f"{claim_id} was already entered in {self.notebook}.")
        claim = self._published.loc[claim_id]
        if claim["testable"] == "no":
            raise ClaimError(f"{claim_id} is listed as not testable: {claim['why_not']}.")
        if claim["kind"] not in kinds:
            method = "check" if claim["kind"] in NUMBERS else "holds"
            raise ClaimError(f"{claim_id} is of kind {claim['kind']!r}: enter it with {method}().")
        return claim

    def _judge(self, claim_id: str, verdict: str, note: str) -> str:
        """Keep the verdict, and the note if there is something to explain."""
        verdict = verdict if self.source == "real" else "simulated"
        note = note if verdict == "differs" else ""
        self._rows[claim_id] |= {"verdict": verdict, "note": note}
        return verdict


def _require_numbers(claim_id: str, value: float, interval: tuple[float, float] | None) -> None:
    """Refuse a number or an interval that cannot be compared."""
    if not _is_number(value):
        raise ClaimError(f"{claim_id} needs a finite number, not {value!r}.")
    low, high = interval or (value, value)
    if not (_is_number(low) and _is_number(high)):
        raise ClaimError(f"{claim_id} needs a finite interval, not ({low!r}, {high!r}).")
    if low > high:
        raise ClaimError(f"{claim_id} has a reversed interval: {low:.6g} > {high:.6g}.")


def _is_number(value: object) -> bool:
    """Tell whether this is a finite number and not a truth value."""
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def _by_cell(table: str, values: pd.Series) -> pd.Series:
    """Order the index levels like the key columns of a printed table."""
    keys, names = list(printed_table(table).index.names), list(values.index.names)
    if sorted(map(str, names)) != sorted(keys):
        raise ClaimError(f"{table} needs the index levels {keys}, not {names}.")
    return values.reorder_levels(keys)


def _rounded(value: float, decimals: int) -> str:
    """Show one digit more than printed, but whole numbers as such."""
    if decimals == 0 and value == round(value):
        return f"{value:.0f}"
    return f"{round(value, decimals + 1) + 0.0:.{decimals + 1}f}"


def _shown(values: pd.Series, decimals: pd.Series) -> list[str]:
    """Show a column that holds numbers, evidence in words and gaps."""
    return [
        value if isinstance(value, str) else "" if pd.isna(value) else _rounded(value, int(digits))
        for value, digits in zip(values, decimals, strict=True)
    ]


def _six_digits(value: object) -> object:
    """Write a number to six digits and leave words as they are."""
    return f"{value:.6g}" if isinstance(value, float) and not math.isnan(value) else value
