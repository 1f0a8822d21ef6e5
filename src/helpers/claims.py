"""What the papers print, what notebooks compute instead, and the verdict on each claim.

`data/published/claims.csv` lists every number and statement with how it is judged; cells of printed
tables are claims too. A notebook hands its estimates to a `Ledger`, `helpers.verdicts` judges them,
and `merge` joins the files of all notebooks with the list of claims.
"""

import difflib
import hashlib
import json
import math
import re
from collections.abc import Mapping
from functools import cache
from numbers import Real
from pathlib import Path

import numpy as np
import pandas as pd
from IPython import get_ipython

from helpers import paths, verdicts
from helpers.files import registry
from helpers.files.registry import UNPINNED_FILE
from helpers.files.tables import PlainError, to_csv_bytes
from helpers.show import CaptionedTable, text_table, with_interval
from helpers.verdicts import ENTERED, NUMBERS, assess, evidence_for

COLUMNS = (
    *("claim_id", "study", "where", "statement", "published", "kind", *verdicts.JUDGED),
    *("cause", "headline", *verdicts.DETAILS, "cell"),
)
# What a claim that does not hold touches, worst first; data/published/README.md defines each.
TOUCHES = ("conclusion", "statement", "number", "wording")
# How sure a headline finding is, surest first; the last word is about the paper, not the finding.
CONTRADICTED = "the paper's claim: contradicted"
SURENESS = ("holds", "not settled", CONTRADICTED)
# The side of zero that a direction claims.
SIDES = {"+": "above zero", "-": "below zero"}
# The section of each paper that is called its conclusion.
CONCLUDING_SECTION = {"hosking": "§6", "kamoda": "§6", "chatbench": "§6", "humbel": "§5"}
OTHER_TABLES = ("claims", "causes", "figures", "headlines", "verdict_changes")


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
    printed = _printed_table(table)
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
    registry.given(paths.PUBLISHED / f"{table}.csv")
    return _printed_table(table)


def _printed_table(table: str) -> pd.DataFrame:
    """Read a printed table for its claims, which are not results of it."""
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
    public = entered["claim_id"].map(published["needs"]).map(_unfetched).astype(bool)
    entered = entered[~public | (entered["source"] == "real")]  # stand-ins for data one could have
    cells = entered.drop_duplicates("claim_id").set_index("claim_id")[["notebook", "cell"]]
    cells = _cell_ids(cells, Path(claims_dir).parent / "notebooks")
    merged = published.join(assess(entered, published)).join(cells)
    missing = merged["verdict"].isna()
    merged.loc[missing, "note"] = merged.loc[missing, "needs"].map(_why_missing)
    merged.loc[missing, ["verdict", "evidence"]] = "open", "none"
    return merged.reset_index()[list(COLUMNS)].map(_written).astype(object).fillna("")


def _cell_ids(cells: pd.DataFrame, notebooks: Path) -> pd.Series:
    """Name the cell of an executed notebook in which each claim was entered."""
    names = {}
    for file in sorted(notebooks.glob("[0-9]*.ipynb")):
        for cell in json.loads(file.read_bytes())["cells"]:
            names[file.stem, _digest("".join(cell["source"]))] = cell.get("id", "")
    places = zip(cells["notebook"], cells["cell"], strict=True)
    return pd.Series([names.get(place, "") for place in places], cells.index, object, "cell")


def _why_missing(needs: str) -> str:
    """Say why nobody entered a claim."""
    if public := _unfetched(needs):
        return f"public: {', '.join(public)}, not fetched here"
    return needs if evidence_for(needs, "real") == "none" else "not run"


@cache
def _unfetched(needs: str) -> list[str]:
    """Public files that a claim needs, but whose hashes nobody has told."""
    return sorted(set(needs.split()) & set(read_text(UNPINNED_FILE)["file"]))


def read_entered(claims_dir: str | Path) -> pd.DataFrame:
    """Read what notebooks entered, one row per claim, reading and part."""
    folder = Path(claims_dir)
    if not folder.is_dir():
        raise ClaimError(f"There is no folder {folder}: run the notebooks first.")
    empty = pd.DataFrame(columns=["cell", *ENTERED], dtype=str)
    text = pd.concat([empty, *(read_text(file) for file in sorted(folder.glob("*.csv")))])
    text = text.reset_index(drop=True)
    return text.assign(**text[[*NUMBERS, "holds"]].replace("", np.nan).astype(float))


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
        One column per verdict, worst first; last "not checked", which no verdict counts.

    Examples
    --------
    >>> merged = pd.DataFrame({"study": ["a", "a"], "verdict": ["open", "confirmed"],
    ...                        "evidence": ["none", "raw"], "note": ["not run", ""]})
    >>> verdict_counts(merged).loc["a", ["open", "confirmed", "not checked"]].tolist()
    [0, 1, 1]
    """
    unchecked = verdicts.reasons(merged) != ""
    shown = merged["verdict"].mask(unchecked, verdicts.NOT_CHECKED)
    columns = [*verdicts.VERDICTS, verdicts.NOT_CHECKED]
    return pd.crosstab(merged[by], shown).reindex(columns=columns, fill_value=0)


def carries_conclusion(merged: pd.DataFrame) -> pd.Series:
    """Tell which claims are sentences on which a conclusion rests.

    These are sentences that a paper prints in its abstract, its introduction or its section called
    conclusion, and those that a headline finding of ours is about.

    Parameters
    ----------
    merged : pandas.DataFrame
        What `merge` returned.

    Returns
    -------
    pandas.Series of bool

    Examples
    --------
    >>> merged = pd.DataFrame({"study": ["kamoda", "kamoda"], "where": ["§4.1; §6", "§4.1"],
    ...                        "kind": ["direction", "direction"], "published": ["holds", "holds"],
    ...                        "headline": ["", ""]})
    >>> carries_conclusion(merged).tolist()
    [True, False]
    """
    found = []
    for study, where in zip(merged["study"], merged["where"], strict=True):
        concluding = {"Abstract", "§1", CONCLUDING_SECTION.get(study)}
        found.append(not concluding.isdisjoint(where.split("; ")))
    sentence = verdicts.forms(merged) == verdicts.SENTENCES
    return sentence & (pd.Series(found, merged.index, dtype=bool) | (merged["headline"] != ""))


def touched(merged: pd.DataFrame) -> pd.Series:
    """Say what each claim that was checked and does not hold touches.

    Parameters
    ----------
    merged : pandas.DataFrame
        What `merge` returned.

    Returns
    -------
    pandas.Series of str
        One of `TOUCHES`: what `data/published/causes.csv` says of the cause; for a claim without a
        cause "number" for a number or count, "conclusion" for a sentence on which one rests, else
        "statement". Empty for claims that hold or were not checked.
    """
    causes = read_text(paths.PUBLISHED / "causes.csv").set_index("cause")["touches"]
    of_form = pd.Series("statement", merged.index)
    of_form[carries_conclusion(merged)] = "conclusion"
    of_form[verdicts.forms(merged) == verdicts.NUMBERS_AND_COUNTS] = "number"
    checked = verdicts.reasons(merged) == ""
    failing = checked & ~merged["verdict"].isin(verdicts.HOLDING)
    return merged["cause"].map(causes).fillna(of_form).where(failing, "")


def problems(merged: pd.DataFrame) -> pd.DataFrame:
    """List what does not hold: by what it touches, then worst verdict first.

    Parameters
    ----------
    merged : pandas.DataFrame
        What `merge` returned.

    Returns
    -------
    pandas.DataFrame
        A row for each cause; without a cause, for each claim that is contradicted or a slip, or
        that is open or leaning and carries a conclusion. Columns `explanation`, `study`, `where`
        (first place), `claims` (number of claims that do not hold), `touches`, `verdict` (the worst
        of them), `notebook`, `cause` and `claim_id` (the worst).
    """
    causes = read_text(paths.PUBLISHED / "causes.csv").set_index("cause")["explanation"]
    table = merged.assign(touches=touched(merged))
    wrong = table["verdict"].isin(["contradicted", "slip"])
    listed = (table["cause"] != "") | (table["touches"] == "conclusion") | wrong
    table = table[listed & (table["touches"] != "")]
    here = table["computed"] + _unit_and_side(table)
    said = table["statement"] + " Here: " + here + "."
    table = table.assign(
        explanation=table["cause"].map(causes).fillna(said),
        problem=table["cause"].where(table["cause"] != "", table["claim_id"]),
        touches_rank=table["touches"].map(TOUCHES.index),
        verdict_rank=table["verdict"].map(verdicts.rank),
    )
    table = table.sort_values(["touches_rank", "verdict_rank"], kind="stable")
    names = ["explanation", "study", "where", "touches", "verdict", "notebook", "cause", "claim_id"]
    by_problem = table.groupby("problem", sort=False)
    rows = by_problem[names].first().assign(claims=by_problem.size())
    return rows.reset_index(drop=True)


def _unit_and_side(merged: pd.DataFrame) -> pd.Series:
    """Say in brackets what the number of a direction is, and the side of zero that is claimed."""
    published = published_claims()
    units = merged["claim_id"].map(published["unit"]).fillna("")
    sides = merged["claim_id"].map(published["direction"]).map(SIDES).fillna("")
    told = []
    for kind, unit, side in zip(merged["kind"], units, sides, strict=True):
        claimed = f"claimed: {side}" if side and kind == "direction" else ""
        words = "; ".join(filter(None, (unit, claimed)))
        told.append(f" ({words})" if words else "")
    return pd.Series(told, merged.index, dtype=object)


def how_sure(merged: pd.DataFrame) -> pd.Series:
    """Say of each headline finding how sure it is.

    Parameters
    ----------
    merged : pandas.DataFrame
        What `merge` returned.

    Returns
    -------
    pandas.Series of str
        One of `SURENESS` by headline, surest first. Sentences of the papers that name the headline
        decide, without any its numbers: `CONTRADICTED` if a sentence is, "not settled" if
        one is open or leaning, does not survive its correction or was not checked, or if there is
        no sentence and a number does not hold or was not checked; else "holds". A finding of our
        own, which no claim names, has the word in `data/published/headlines.csv`.
    """
    own = read_text(paths.PUBLISHED / "headlines.csv").set_index("headline")["sure"]
    named = merged[merged["headline"] != ""]
    found = {}
    for headline, word in own.items():
        rows = named[named["headline"] == headline]
        found[headline] = word if len(rows) == 0 else _sure(rows)
    words = pd.Series(found, dtype=str, name="sure").rename_axis("headline")
    return words.sort_values(key=lambda sure: sure.map(SURENESS.index), kind="stable")


def _sure(rows: pd.DataFrame) -> str:
    """How sure a finding is, by the claims of the papers that it is about."""
    sentences = rows[verdicts.forms(rows) == verdicts.SENTENCES]
    if (sentences["verdict"] == "contradicted").any():
        return CONTRADICTED
    deciding = rows if sentences.empty else sentences
    holds = deciding["verdict"].isin(verdicts.HOLDING) & (deciding["after_correction"] != "no")
    return "holds" if holds.all() else "not settled"


def sources(merged: pd.DataFrame) -> pd.Series:
    """Tell the kind of data of each study, as real as its least real part.

    Parameters
    ----------
    merged : pandas.DataFrame
        What `merge` returned.

    Returns
    -------
    pandas.Series of str
        By study: "simulated" if any of its claims comes from simulated data, else "real" if any
        rests on raw data, else "printed".

    Examples
    --------
    >>> merged = pd.DataFrame({"study": ["a", "a", "b"], "evidence": ["raw", "simulated", "print"],
    ...                        "source": ["real", "simulated", "real"]})
    >>> sources(merged).to_dict()
    {'a': 'simulated', 'b': 'printed'}
    """
    found = {}
    for study, rows in merged.groupby("study", sort=False):
        if (rows["source"] == "simulated").any():
            found[study] = "simulated"
        elif (rows["evidence"] == "raw").any():
            found[study] = "real"
        else:
            found[study] = "printed"
    return pd.Series(found, dtype=str, name="source")


def provenance(folder: str | Path) -> pd.DataFrame:
    """Join what each notebook noted of the files that it read.

    Parameters
    ----------
    folder : str or pathlib.Path
        `provenance` in the output folder of a run.

    Returns
    -------
    pandas.DataFrame
        A row per notebook and file: `file`, `sha256`, `notebook`.
    """
    files = [read_text(file) for file in sorted(Path(folder).glob("*.csv"))]
    return pd.concat([pd.DataFrame(columns=["file", "sha256", "notebook"]), *files])


def chains(folder: str | Path) -> pd.DataFrame:
    """Tell of each claim how it came to its verdict: place, rule, cell, data and their state.

    Parameters
    ----------
    folder : str or pathlib.Path
        Holds `claims.csv` and `provenance.csv`, as `figures` and `build` do.

    Returns
    -------
    pandas.DataFrame
        The columns of `merge`, indexed by `claim_id`, with how the claim is judged (`unit`,
        `direction`, `margin`, `family`, `needs`, `readings`), `rule` and `explanation` in words,
        `files` (mapping from file to SHA-256 when it was read) and `changed`, those files that are
        another today. A claim with a changed file is stale.

    Examples
    --------
    >>> all_claims = chains(paths.ROOT / "figures")
    >>> all_claims.loc["hosking.counts.tasks", "rule"]
    'Holds or does not: a truth value, a threshold, or an equal count.'
    """
    merged = read_text(Path(folder) / "claims.csv").set_index("claim_id")
    judged = ["unit", "direction", "margin", "family", "needs", "readings"]
    causes = read_text(paths.PUBLISHED / "causes.csv").set_index("cause")["explanation"]
    read = read_text(Path(folder) / "provenance.csv")
    now = {file: registry.current_hash(file) for file in read["file"].unique()}
    table = merged.join(published_claims()[judged])
    files = {
        name: dict(zip(rows["file"], rows["sha256"], strict=True))
        for name, rows in read.groupby("notebook")
    }
    used = [
        {file: sha for file, sha in files.get(notebook, {}).items() if _uses(name, needs, file)}
        for name, notebook, needs in table[["notebook", "needs"]].itertuples()
    ]
    changed = [[file for file, sha in each.items() if now[file] not in ("", sha)] for each in used]
    return table.assign(
        rule=table["kind"].map(verdicts.rule_in_words),
        explanation=table["cause"].map(causes).fillna(""),
        files=used,
        changed=changed,
    )


def why(claim_id: str, folder: str | Path = paths.ROOT / "figures") -> str:
    """Write the way of one claim from the paper to its verdict, as `chains` has it.

    Parameters
    ----------
    claim_id : str
        The claim.
    folder : str or pathlib.Path, optional
        As for `chains`.

    Returns
    -------
    str
        A line for each field that is not empty.

    Raises
    ------
    ClaimError
        If there is no such claim.

    Examples
    --------
    >>> print(why("hosking.counts.tasks").splitlines()[1])
    study            hosking
    """
    table = chains(folder)
    if claim_id not in table.index:
        raise ClaimError(_unknown_claim(claim_id, table.index))
    claim = table.loc[claim_id]
    files = [
        f"{file} {sha[:12]}{' (another today: stale)' * (file in claim['changed'])}"
        for file, sha in claim["files"].items()
    ]
    steps = {"claim": claim_id, **claim.drop("changed"), "files": "\n".join(files)}
    lines = [(name, line) for name, text in steps.items() for line in text.strip().splitlines()]
    return "\n".join(f"{name:<16} {line}" for name, line in lines)


def _uses(claim_id: str, needs: str, file: str) -> bool:
    """Whether a claim rests on a file that its notebook has read."""
    if file.startswith("data/published/"):
        return needs == "print" or claim_id.startswith(f"{Path(file).stem.replace('_', '.')}.")
    if file.startswith("data/") or needs in verdicts.EVIDENCE:
        return needs != "print"
    return file.startswith(tuple(needs.split()))


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
        What differs from the defaults, as `helpers.run.parameters.changed` returns it. Claims and
        headlines are about the defaults: if anything differs, none is entered or written.

    Examples
    --------
    >>> claims = Ledger("example", source="real")
    >>> claims.enter("hosking.counts", {"outputs_1": 900, "tasks": 3})
    """

    def __init__(
        self, notebook: str, source: str, out_dir: str = "build", other_parameters: str = ""
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
        >>> claims._entered()["estimate"].tolist()
        [2.78, 2.5]
        """
        if self.other_parameters:
            return
        keys, names = list(printed_table(table).index.names), list(cells.index.names)
        if sorted(map(str, names)) != sorted(keys):
            raise ClaimError(f"{table} needs the index levels {keys}, not {names}.")
        frame = cells.to_frame("estimate") if isinstance(cells, pd.Series) else cells
        frame = frame.reorder_levels(keys)
        results = dict(zip(frame.index, frame.to_dict("records"), strict=True))
        self.enter("", {_cell_id(table, cell): row for cell, row in results.items()})

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

        With other parameters than the defaults nothing is written.

        Returns
        -------
        pandas.DataFrame
            Indexed by claim, as `assess` returns it, with the published columns.
        """
        entered = self._entered()
        if self.other_parameters:
            return self._published.join(assess(entered, self._published), how="right")
        folder = paths.output_dir(self.out_dir)
        headlines = pd.DataFrame(self._headlines, columns=["headline", "field", "text", "source"])
        files = pd.DataFrame(registry.files_read().items(), columns=["file", "sha256"])
        tables = {
            "claims": entered.map(_written, digits=12),
            "headlines": headlines,
            "provenance": files.sort_values("file").assign(notebook=self.notebook),
        }
        paths.replace_files(
            {
                folder / kind / f"{self.notebook}.csv": to_csv_bytes(table, index=False)
                for kind, table in tables.items()
                if kind == "claims" or len(table)
            }
        )
        return self._published.join(assess(entered, self._published), how="right")

    def show(self) -> CaptionedTable | str:
        """Write the claims of this notebook and show them, worst first.

        Cells of printed tables that hold are counted in the caption; claims that fail together,
        for one cause, are one row.

        Returns
        -------
        helpers.show.CaptionedTable or str
            What the paper says, what it prints, what we get, and the verdict with its evidence;
            with other parameters than the defaults, a sentence that says why there is none.
        """
        judged = self.write()
        if self.other_parameters:
            differs = self.other_parameters
            return f"No claim is judged, since each is about the default: {differs}."
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
                where = {"claim_id": claim_id, "reading": reading, "part": part, "cell": _cell()}
                self._rows.append({**where, **row})

    def _fill(self, name: str, field: str, values: Mapping[str, object]) -> None:
        """Keep one filled sentence, unless the run has other parameters."""
        if self.other_parameters:
            return
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


def listed(judged: pd.DataFrame) -> CaptionedTable:
    """Show judged claims for reading: worst first, one row for claims with one cause."""
    cells = judged.index.str.contains(r"\.(?:table|figure)\w?\d+\.") & judged["verdict"].isin(
        verdicts.HOLDING
    )
    shown = judged[~cells].assign(rank=judged["verdict"].map(verdicts.rank))
    shown = shown.sort_values(["rank", "evidence"], kind="stable")
    group = shown["cause"].where(shown["cause"] != "", shown.index)
    rows = [_shown_row(rows) for _, rows in shown.groupby([group, "verdict"], sort=False)]
    columns = ["the paper says", "printed", "here", "verdict"]
    folded = f"; {cells.sum()} cells of printed tables that hold are not listed" * bool(cells.sum())
    caption = f"{len(judged)} claims, contradictions first{folded}"
    return text_table(pd.DataFrame(rows, columns=columns), caption)


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
        names = [
            ", ".join(map(str, key)) if isinstance(key, tuple) else str(key) for key in frame.index
        ]
        return list(zip(names, records, strict=True))
    if isinstance(result, bool | np.bool_):
        return [("", {"holds": float(result)})]
    if isinstance(result, Real):
        return [("", {"share" if claim["kind"] == "ranking" else "estimate": float(result)})]
    if isinstance(result, Mapping | pd.Series):
        return [("", {name: value for name, value in dict(result).items() if name in ENTERED})]
    raise ClaimError(f"{claim.name} cannot take {result!r}.")


def _require(claim_id: str, claim: pd.Series, row: Mapping) -> None:
    """Refuse a row that the rule of its claim cannot judge."""
    given = {name for name in (*NUMBERS, "holds") if name in row and not pd.isna(row[name])}
    unbounded = [name for name in given if not math.isfinite(row[name])]
    if unbounded:
        raise ClaimError(f"{claim_id} needs a finite {unbounded[0]}, not {row[unbounded[0]]!r}.")
    needed = verdicts.NEEDED[claim["kind"]]
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


def _cell() -> str:
    """Name the notebook cell that is running by what stands in it; empty outside of kernels."""
    shell = get_ipython()
    request = shell.get_parent() if hasattr(shell, "get_parent") else {}
    code = request.get("content", {}).get("code")
    return _digest(code) if code else ""


def _digest(code: str) -> str:
    """Short name for the source of a cell, the same however a notebook is run."""
    return hashlib.sha256(code.encode()).hexdigest()[:12]


def _written(value: object, digits: int = 6) -> object:
    """Write a number to some digits and leave words as they are."""
    return f"{value:.{digits}g}" if isinstance(value, float) and not math.isnan(value) else value
