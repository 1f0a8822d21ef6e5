"""What all notebooks have entered: joined with what the papers print, judged, counted.

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
from helpers.claims.origins import computing_cell
from helpers.claims.verdicts import ENTERED, NUMBERS, assess, evidence_for
from helpers.data import registry, studies
from helpers.data.published import ClaimError, published_claims, read_text
from helpers.data.registry import UNPINNED_FILE

COLUMNS = (
    "claim_id",
    "study",
    "where",
    "statement",
    "published",
    "kind",
    *verdicts.JUDGED,
    "cause",
    "headline",
    *verdicts.DETAILS,
    "cell",
    "computed_in",
)
# What a claim that does not hold touches, worst first; data/published/README.md defines
# each.
TOUCHES = ("conclusion", "statement", "number", "wording")
# How sure a headline finding is, surest first; the third word is about the paper, not
# the finding.
CONTRADICTED = "the paper's claim: contradicted"
SURENESS = ("holds", "not settled", CONTRADICTED)
# The side of zero that a direction claims.
SIDES = {"+": "above zero", "-": "below zero"}
# In names of claims: a cell of a printed table or figure.
CELL_OF_TABLE = r"\.(?:table|figure)\w?\d+\."
DIGITS = 6  # with which numbers are written


def merge(claims_dir: str | Path) -> pd.DataFrame:
    """Join what all notebooks entered with the published claims, and judge it."""
    published = published_claims()
    for study in published["study"].unique():
        studies.place(study)  # stops if there is no such study
    entered = read_entered(claims_dir)
    _refuse_misfits(entered, published)
    # Simulated rows stand in for public files that anybody could fetch: leave them out.
    public = entered["claim_id"].map(published["needs"]).map(_unfetched).astype(bool)
    entered = entered[~public | (entered["source"] == "real")]
    by_claim = entered.drop_duplicates("claim_id").set_index("claim_id")
    cells = _cell_ids(by_claim, Path(claims_dir).parent / "notebooks")
    merged = published.join(assess(entered, published)).join(cells)
    missing = merged["verdict"].isna()
    merged.loc[missing, "note"] = merged.loc[missing, "needs"].map(_why_missing)
    merged.loc[missing, "verdict"] = "open"
    merged.loc[missing, "evidence"] = "none"
    table = merged.reset_index()[list(COLUMNS)]
    return table.map(with_digits).astype(object).fillna("")


def _refuse_misfits(entered: pd.DataFrame, published: pd.DataFrame) -> None:
    """Stop if a claim is not published or was entered by two notebooks."""
    for claim_id, rows in entered.groupby("claim_id", sort=False):
        notebooks = list(rows["notebook"].unique())
        if claim_id not in published.index:
            problem = unknown_claim(claim_id, published.index)
            raise ClaimError(f"{notebooks[0]}: {problem}")
        if len(notebooks) > 1:
            raise ClaimError(f"{claim_id} was entered by {' and '.join(notebooks)}.")


def _cell_ids(entered: pd.DataFrame, folder: Path) -> pd.DataFrame:
    """Name the cells of executed notebooks that entered and computed each claim."""
    notebooks = {}
    ids = {}
    for file in sorted(folder.glob("[0-9]*.ipynb")):
        notebooks[file.stem] = json.loads(file.read_bytes())["cells"]
        for cell in notebooks[file.stem]:
            digest = digest_of("".join(cell["source"]))
            ids[file.stem, digest] = cell.get("id", "")
    rows = []
    for claim_id, notebook, digest in entered[["notebook", "cell"]].itertuples():
        entering = ids.get((notebook, digest), "")
        computed_in = ""
        if entering:
            computed_in = computing_cell(notebooks[notebook], entering, claim_id)
        rows.append({"cell": entering, "computed_in": computed_in})
    columns = ["cell", "computed_in"]
    return pd.DataFrame(rows, entered.index, columns=columns, dtype=object)


def _why_missing(needs: str) -> str:
    """Say why nobody entered a claim."""
    public = _unfetched(needs)
    if public:
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
    files = sorted(folder.glob("*.csv"))
    text = pd.concat([empty, *map(read_text, files)], ignore_index=True)
    numeric = [*NUMBERS, "holds"]
    numbers = text[numeric].replace("", np.nan).astype(float)
    return text.assign(**numbers)


def unknown_claim(claim_id: str, known: pd.Index) -> str:
    """Say that a claim is not published, and which similar ones are."""
    similar = difflib.get_close_matches(claim_id, known)
    hint = "see data/published/claims.csv."
    if similar:
        hint = f"did you mean {', '.join(similar)}?"
    return f"{claim_id} is not a published claim; {hint}"


def _of_causes(column: str) -> pd.Series:
    """A column of the table of causes, by cause."""
    return read_text(paths.PUBLISHED / "causes.csv").set_index("cause")[column]


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


def stated_counts(merged: pd.DataFrame) -> list[str]:
    """Say what README and the answer of the overview state of all claims, part by part.

    Parameters
    ----------
    merged : pandas.DataFrame
        What `merge` returned.

    Returns
    -------
    list of str
        Parts of sentences. `make refresh` renews them where they stand.

    Examples
    --------
    >>> parts = stated_counts(read_text(paths.ROOT / "figures" / "claims.csv"))
    >>> parts[0].partition(", ")[0]
    'Of 1,137 claims'
    """
    numbers = verdicts.forms(merged) == verdicts.NUMBERS_AND_COUNTS
    checked = verdicts.reasons(merged) == ""
    raw = _counts(merged[numbers & (merged["evidence"] == "raw")])
    raw_sentences = _counts(merged[~numbers & (merged["evidence"] == "raw")])
    raw_hold = raw_sentences[list(verdicts.HOLDING)].sum()
    failing = _counts(merged[~numbers & checked]).drop(list(verdicts.HOLDING))
    return [
        verdicts.counted(merged),
        f"Of {raw.sum()} numbers and counts that the studies' own raw data",
        f"{raw['confirmed']} are confirmed and {raw['consistent']} consistent",
        _slips_and_inexact(raw),
        f"{raw['contradicted']} are contradicted: another number, or another count",
        f"by raw data {raw_hold} of {raw_sentences.sum()}",
        f"of the {failing.sum()} that do not hold, {failing['leaning']} lean",
        f"{failing['open']} stay open, and {failing['contradicted']} are contradicted",
    ]


def _slips_and_inexact(counts: pd.Series) -> str:
    """Say how many numbers are slips and, if there are any, how many are inexact."""
    slips = f"{counts['slip']} are slips"
    if counts["inexact"] == 0:
        return slips
    return f"{counts['inexact']} are inexact by at most one in the last digit, {slips}"


def _counts(merged: pd.DataFrame) -> pd.Series:
    """Number of claims by verdict, zeros included."""
    counts = merged["verdict"].value_counts()
    return counts.reindex(verdicts.VERDICTS, fill_value=0)


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
    >>> merged = pd.DataFrame(
    ...     {
    ...         "study": ["kamoda", "kamoda"],
    ...         "where": ["§4.1; §6", "§4.1"],
    ...         "kind": ["direction", "direction"],
    ...         "published": ["holds", "holds"],
    ...         "headline": ["", ""],
    ...     }
    ... )
    >>> carries_conclusion(merged).tolist()
    [True, False]
    """
    sections = studies.concluding_sections()
    in_conclusion = []
    for study, where in zip(merged["study"], merged["where"], strict=True):
        concluding = {"Abstract", "§1", sections.get(study)}
        in_conclusion.append(not concluding.isdisjoint(where.split("; ")))
    prominent = pd.Series(in_conclusion, merged.index, dtype=bool)
    sentence = verdicts.forms(merged) == verdicts.SENTENCES
    return sentence & (prominent | (merged["headline"] != ""))


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
    of_form = pd.Series("statement", merged.index)
    of_form[carries_conclusion(merged)] = "conclusion"
    of_form[verdicts.forms(merged) == verdicts.NUMBERS_AND_COUNTS] = "number"
    checked = verdicts.reasons(merged) == ""
    failing = checked & ~merged["verdict"].isin(verdicts.HOLDING)
    of_cause = merged["cause"].map(_of_causes("touches"))
    return of_cause.fillna(of_form).where(failing, "")


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
    table = merged.assign(touches=touched(merged))
    wrong = table["verdict"].isin(["contradicted", "slip"])
    listed = (table["cause"] != "") | (table["touches"] == "conclusion") | wrong
    table = table[listed & (table["touches"] != "")]
    here = table["computed"] + _unit_and_side(table)
    in_its_own_words = table["statement"] + " Here: " + here + "."
    of_cause = table["cause"].map(_of_causes("explanation"))
    table = table.assign(
        explanation=of_cause.fillna(in_its_own_words),
        problem=table["cause"].where(table["cause"] != "", table["claim_id"]),
        touches_rank=table["touches"].map(TOUCHES.index),
        verdict_rank=table["verdict"].map(verdicts.rank),
    )
    table = table.sort_values(["touches_rank", "verdict_rank"], kind="stable")
    columns = [
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
    rows = by_problem[columns].first().assign(claims=by_problem.size())
    return rows.reset_index(drop=True)


def _unit_and_side(merged: pd.DataFrame) -> pd.Series:
    """In brackets, the unit of a direction and the side of zero that is claimed."""
    published = published_claims()
    units = merged["claim_id"].map(published["unit"]).fillna("")
    sides = merged["claim_id"].map(published["direction"]).map(SIDES).fillna("")
    texts = []
    for kind, unit, side in zip(merged["kind"], units, sides, strict=True):
        claimed = f"claimed: {side}" if side and kind == "direction" else ""
        words = "; ".join(filter(None, [unit, claimed]))
        texts.append(f" ({words})" if words else "")
    return pd.Series(texts, merged.index, dtype=object)


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
    by_headline = {}
    for headline, own_word in own.items():
        rows = named[named["headline"] == headline]
        by_headline[headline] = own_word if len(rows) == 0 else _sure(rows)
    words = pd.Series(by_headline, dtype=str, name="sure").rename_axis("headline")
    return words.sort_values(key=lambda sure: sure.map(SURENESS.index), kind="stable")


def _sure(rows: pd.DataFrame) -> str:
    """How sure a finding is, by the claims of the papers that it is about."""
    sentences = rows[verdicts.forms(rows) == verdicts.SENTENCES]
    if (sentences["verdict"] == "contradicted").any():
        return CONTRADICTED
    deciding = rows if sentences.empty else sentences
    survives = deciding["after_correction"] != verdicts.CORRECTED_AWAY
    holds = deciding["verdict"].isin(verdicts.HOLDING) & survives
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
    >>> merged = pd.DataFrame(
    ...     {
    ...         "study": ["a", "a", "b"],
    ...         "evidence": ["raw", "simulated", "print"],
    ...         "source": ["real", "simulated", "real"],
    ...     }
    ... )
    >>> sources(merged).to_dict()
    {'a': 'simulated', 'b': 'printed'}
    """
    by_study = {}
    for study, rows in merged.groupby("study", sort=False):
        if (rows["source"] == "simulated").any():
            by_study[study] = "simulated"
        elif (rows["evidence"] == "raw").any():
            by_study[study] = "real"
        else:
            by_study[study] = "printed"
    return pd.Series(by_study, dtype=str, name="source")


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
    """Tell how each claim came to its verdict: place, rule, cell, data and their state.

    Parameters
    ----------
    folder : str or pathlib.Path
        Holds `claims.csv` and `provenance.csv`, as `figures` and `build` do.

    Returns
    -------
    pandas.DataFrame
        The columns of `merge`, indexed by `claim_id`, with how the claim is judged
        (`unit`, `direction`, `margin`, `margin_place`, `family`, `needs`, `readings`),
        `rule` and `explanation` in words, `files` (mapping from file to SHA-256 when it
        was read) and `changed`, those files that are another today. A claim with a
        changed file is stale.

    Examples
    --------
    >>> all_claims = chains(paths.ROOT / "figures")
    >>> all_claims.loc["hosking.counts.tasks", "rule"]
    'Holds or does not: a truth value, a threshold, or an equal count.'
    """
    merged = read_text(Path(folder) / "claims.csv").set_index("claim_id")
    judged_by = ["unit", "direction", "margin", "margin_place"]
    judged_by += ["family", "needs", "readings"]
    table = merged.join(published_claims()[judged_by])
    read = read_text(Path(folder) / "provenance.csv")
    today = {file: registry.current_hash(file) for file in read["file"].unique()}
    by_notebook = {}
    for notebook, rows in read.groupby("notebook"):
        by_notebook[notebook] = dict(zip(rows["file"], rows["sha256"], strict=True))
    used = []
    changed = []
    for claim_id, notebook, needs in table[["notebook", "needs"]].itertuples():
        files = {}
        for file, sha in by_notebook.get(notebook, {}).items():
            if _uses(claim_id, needs, file):
                files[file] = sha
        used.append(files)
        # A file that is not on this machine is not known to have changed.
        changed.append([file for file in files if today[file] not in ("", files[file])])
    return table.assign(
        rule=table["kind"].map(verdicts.rule_in_words),
        explanation=table["cause"].map(_of_causes("explanation")).fillna(""),
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
        raise ClaimError(unknown_claim(claim_id, table.index))
    claim = table.loc[claim_id]
    files = []
    for file, sha in claim["files"].items():
        stale = " (another today: stale)" if file in claim["changed"] else ""
        files.append(f"{file} {sha[:12]}{stale}")
    steps = {"claim": claim_id, **claim.drop("changed"), "files": "\n".join(files)}
    lines = []
    for name, text in steps.items():
        for line in text.strip().splitlines():
            lines.append(f"{name:<16} {line}")
    return "\n".join(lines)


def _uses(claim_id: str, needs: str, file: str) -> bool:
    """Whether a claim rests on a file that its notebook has read."""
    if file.startswith("data/published/"):
        of_its_table = f"{Path(file).stem.replace('_', '.')}."
        return needs == "print" or claim_id.startswith(of_its_table)
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
        `short`, `sentence`, `alternatives`, `source`; text is empty where no notebook
        filled it.
    """
    known = read_text(paths.PUBLISHED / "headlines.csv").set_index("headline")
    files = [read_text(file) for file in sorted(Path(folder).glob("*.csv"))]
    columns = ["headline", "field", "text", "source"]
    filled = pd.concat([pd.DataFrame(columns=columns), *files])
    # several notebooks may tell alternatives, in the order of their names
    texts = filled.groupby(["headline", "field"])["text"].agg(" ".join)
    wide = texts.unstack("field")
    fields = ["short", "sentence", "alternatives"]
    wide = wide.reindex(index=known.index, columns=fields)
    source = filled.groupby("headline")["source"].agg(_joined)
    return known[["notebook"]].join(wide).join(source).fillna("")


def _joined(sources: pd.Series) -> str:
    """Kinds of data that the fields of a headline come from."""
    return "+".join(sorted(set(sources)))


def digest_of(code: str) -> str:
    """Short name for the source of a cell, the same however a notebook is run."""
    return hashlib.sha256(code.encode()).hexdigest()[:12]


def with_digits(value: object, digits: int = DIGITS) -> object:
    """Write a number to some digits and leave words as they are."""
    if isinstance(value, float) and not math.isnan(value):
        return f"{value:.{digits}g}"
    return value
