"""What all notebooks have entered, joined with what the papers print, judged, counted and sorted.

`data/published/claims.csv` lists every number and statement with how it is judged;
cells of printed tables are claims too. A notebook hands its estimates to a `Ledger`,
`helpers.claims.verdicts` judges them, and `merge` joins the files of all notebooks with
the list of claims.
"""

import difflib
import hashlib
import json
import math
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from helpers import paths
from helpers.claims import verdicts
from helpers.claims.verdicts import ENTERED, NUMBERS, assess, evidence_for
from helpers.data import registry
from helpers.data.published import ClaimError, published_claims, read_text
from helpers.data.registry import UNPINNED_FILE

COLUMNS = (
    *("claim_id", "study", "where", "statement", "published", "kind", *verdicts.JUDGED),
    *("cause", "headline", *verdicts.DETAILS, "cell"),
)
# What a claim that does not hold touches, worst first; data/published/README.md defines
# each.
TOUCHES = ("conclusion", "statement", "number", "wording")
# How sure a headline finding is, surest first; the last word is about the paper, not
# the finding.
CONTRADICTED = "the paper's claim: contradicted"
SURENESS = ("holds", "not settled", CONTRADICTED)
# The side of zero that a direction claims.
SIDES = {"+": "above zero", "-": "below zero"}
# The section of each paper that is called its conclusion.
CONCLUDING_SECTION = {
    "hosking": "§6",
    "kamoda": "§6",
    "chatbench": "§6",
    "humbel": "§5",
}


def merge(claims_dir: str | Path) -> pd.DataFrame:
    """Join what all notebooks entered with the list of published claims, and judge it."""
    published = published_claims()
    entered = read_entered(claims_dir)
    for claim_id, rows in entered.groupby("claim_id", sort=False):
        notebooks = list(rows["notebook"].unique())
        if claim_id not in published.index:
            raise ClaimError(
                f"{notebooks[0]}: {_unknown_claim(claim_id, published.index)}"
            )
        if len(notebooks) > 1:
            raise ClaimError(f"{claim_id} was entered by {' and '.join(notebooks)}.")
    public = entered["claim_id"].map(published["needs"]).map(_unfetched).astype(bool)
    # stand-ins for data one could have
    entered = entered[~public | (entered["source"] == "real")]
    cells = entered.drop_duplicates("claim_id").set_index("claim_id")[
        ["notebook", "cell"]
    ]
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
    return pd.Series(
        [names.get(place, "") for place in places], cells.index, object, "cell"
    )


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
    text = pd.concat(
        [empty, *(read_text(file) for file in sorted(folder.glob("*.csv")))]
    )
    text = text.reset_index(drop=True)
    return text.assign(**text[[*NUMBERS, "holds"]].replace("", np.nan).astype(float))


def _unknown_claim(claim_id: str, known: pd.Index) -> str:
    """Say that a claim is not published, and which similar ones are."""
    similar = difflib.get_close_matches(claim_id, known)
    hint = (
        f"did you mean {', '.join(similar)}?"
        if similar
        else "see data/published/claims.csv."
    )
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
        One column per verdict, worst first; last "not checked", which no verdict
        counts.

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

    These are sentences that a paper prints in its abstract, its introduction or its
    section called conclusion, and those that a headline finding of ours is about.

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
    return sentence & (
        pd.Series(found, merged.index, dtype=bool) | (merged["headline"] != "")
    )


def touched(merged: pd.DataFrame) -> pd.Series:
    """Say what each claim that was checked and does not hold touches.

    Parameters
    ----------
    merged : pandas.DataFrame
        What `merge` returned.

    Returns
    -------
    pandas.Series of str
        One of `TOUCHES`: what `data/published/causes.csv` says of the cause; for a
        claim without a cause "number" for a number or count, "conclusion" for a
        sentence on which one rests, else "statement". Empty for claims that hold or
        were not checked.
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
        A row for each cause; without a cause, for each claim that is contradicted or a
        slip, or that is open or leaning and carries a conclusion. Columns
        `explanation`, `study`, `where` (first place), `claims` (number of claims that
        do not hold), `touches`, `verdict` (the worst of them), `notebook`, `cause` and
        `claim_id` (the worst).
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
    names = [
        "explanation",
        "study",
        "where",
        "touches",
        "verdict",
        "notebook",
        "cause",
        "claim_id",
    ]
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
        One of `SURENESS` by headline, surest first. Sentences of the papers that name
        the headline decide, without any its numbers: `CONTRADICTED` if a sentence is,
        "not settled" if one is open or leaning, does not survive its correction or was
        not checked, or if there is no sentence and a number does not hold or was not
        checked; else "holds". A finding of our own, which no claim names, has the word
        in `data/published/headlines.csv`.
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
    holds = deciding["verdict"].isin(verdicts.HOLDING) & (
        deciding["after_correction"] != "no"
    )
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
        By study: "simulated" if any of its claims comes from simulated data, else
        "real" if any rests on raw data, else "printed".

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
        The columns of `merge`, indexed by `claim_id`, with how the claim is judged
        (`unit`, `direction`, `margin`, `family`, `needs`, `readings`), `rule` and
        `explanation` in words, `files` (mapping from file to SHA-256 when it was read)
        and `changed`, those files that are another today. A claim with a changed file
        is stale.

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
        {
            file: sha
            for file, sha in files.get(notebook, {}).items()
            if _uses(name, needs, file)
        }
        for name, notebook, needs in table[["notebook", "needs"]].itertuples()
    ]
    changed = [
        [file for file, sha in each.items() if now[file] not in ("", sha)]
        for each in used
    ]
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
    lines = [
        (name, line)
        for name, text in steps.items()
        for line in text.strip().splitlines()
    ]
    return "\n".join(f"{name:<16} {line}" for name, line in lines)


def _uses(claim_id: str, needs: str, file: str) -> bool:
    """Whether a claim rests on a file that its notebook has read."""
    if file.startswith("data/published/"):
        return needs == "print" or claim_id.startswith(
            f"{Path(file).stem.replace('_', '.')}."
        )
    if file.startswith("data/") or needs in verdicts.EVIDENCE:
        return needs != "print"
    return file.startswith(tuple(needs.split()))


def headlines(folder: str | Path) -> pd.DataFrame:
    """Join the filled sentences of all notebooks.

    Parameters
    ----------
    folder : str or pathlib.Path
        `headlines` in the output folder of a run.

    Returns
    -------
    pandas.DataFrame
        Indexed by `headline` in the order of data/published/headlines.csv: `notebook`,
        `sentence`, `alternatives`, `source`; text is empty where no notebook filled it.
    """
    known = read_text(paths.PUBLISHED / "headlines.csv").set_index("headline")
    files = [read_text(file) for file in sorted(Path(folder).glob("*.csv"))]
    filled = pd.concat(
        [pd.DataFrame(columns=["headline", "field", "text", "source"]), *files]
    )
    # several notebooks may tell alternatives, in the order of their names
    texts = filled.groupby(["headline", "field"])["text"].agg(" ".join)
    wide = texts.unstack("field")
    wide = wide.reindex(index=known.index, columns=["sentence", "alternatives"])
    source = filled.groupby("headline")["source"].agg(
        lambda names: "+".join(sorted(set(names)))
    )
    return known[["notebook"]].join(wide).join(source).fillna("")


def _digest(code: str) -> str:
    """Short name for the source of a cell, the same however a notebook is run."""
    return hashlib.sha256(code.encode()).hexdigest()[:12]


def _written(value: object, digits: int = 6) -> object:
    """Write a number to some digits and leave words as they are."""
    return (
        f"{value:.{digits}g}"
        if isinstance(value, float) and not math.isnan(value)
        else value
    )
