"""The replication report: one page, for GitHub and for the site."""

import re
from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from helpers import paths
from helpers.claims import (
    CONSISTENT,
    ERRORS,
    LAST_DIGIT,
    NOT_CHECKED,
    NOT_SHOWN,
    REPORTING_ERROR,
    group_counts,
)
from helpers.data import published, studies
from helpers.data.published import read_text

AGREES, _ = CONSISTENT
LEGEND = {
    "supported, contradicted": "the interval is on the claimed side; on the other side",
    "inconclusive": "the interval is on both sides, or the claim's words allow "
    "interpretations with different verdicts",
    "reproduces": "our number rounds to the reported one",
    "… up to the split": "the reported number is in the central 95 % of random splits; "
    "the paper's own is not public",
    LAST_DIGIT: "by one unit of it, and by 5 % at most",
    REPORTING_ERROR: "a cause that we can show gives exactly the reported digits",
    "true, not true": "of the released files",
    "another outcome": "a test does not come out as the paper says",
    NOT_SHOWN: "a test is not significant; an effect is still possible",
    AGREES: "agrees with other numbers of the paper, which says nothing about its data",
    NOT_CHECKED: "data are missing, or ours are about something else",
}


def write(
    claims: pd.DataFrame,
    cells: pd.DataFrame,
    authors: pd.DataFrame,
    links: Mapping[str, str],
) -> str:
    """Write the report from what `tables` gives, with links to notebooks by name."""
    exhibits = read_text(paths.DATA / "exhibits.csv")
    is_main = claims["main"] != ""
    is_equal = authors["reproduces"] == "True"
    causes = "; ".join(
        f"{cause} ({number})"
        for cause, number in authors.loc[~is_equal, "cause"].value_counts().items()
    )
    evidence = exhibits["evidence"].map({"raw data": "raw data", "": "not shown"})
    equal = cells["verdict"].map({"reproduces": "equal", LAST_DIGIT: "last digit"})
    parts = [
        "# Replication report",
        "Every verdict follows from general [rules](../data/published/README.md). "
        "Brackets hold 95 % intervals; for random splits, the central 95 % of them; "
        "for checks against a paper's own numbers, what their rounding allows.",
        _markdown(pd.DataFrame(LEGEND.items(), columns=["verdict", "meaning"])),
        "## How well the papers reproduce",
        f"**Authors' numbers.** Of {len(authors)} numbers in the notebooks that "
        f"Hosking et al. released, {is_equal.sum()} reproduce at the digits given. "
        f"Why others differ: {causes}.",
        f"**Main claims.** Of {is_main.sum()}: {_listed(claims[is_main])}.",
        f"**Others.** Of {(~is_main).sum()}: {_listed(claims[~is_main])}. All are in "
        "[results/claims.csv](../results/claims.csv).",
        "**Figures and tables** by evidence; other is another model, or the paper's "
        "own numbers:",
        _count_table(
            exhibits["study"].map(studies.titles()).rename("paper"),
            evidence.fillna("other"),
            ["raw data", "other", "not shown"],
        ),
        "**Cells of tables** for which there are raw data:",
        _count_table(
            cells["table"].map(_table_name),
            equal.fillna("different"),
            ["equal", "last digit", "different"],
        ),
        "## Main claims",
        "Sentences of abstract, introduction and conclusion; below them, other claims "
        "of the paper that are contradicted.",
        *_folded_claims(claims, links),
        "## Errors found in the papers",
        _markdown(_errors(claims, cells, links)),
        "## Figures and tables",
        "Headings and details are in [data/exhibits.csv](../data/exhibits.csv).",
        *_folded_exhibits(exhibits, links),
    ]
    return "\n\n".join(parts) + "\n"


def _listed(claims: pd.DataFrame) -> str:
    """Groups of verdicts that occur, with their numbers."""
    return ", ".join(f"{n} {name}" for name, n in group_counts(claims).items() if n)


def _count_table(rows: pd.Series, columns: pd.Series, names: list[str]) -> str:
    """Table of how often two words occur together."""
    counts = pd.crosstab(rows, columns).reindex(columns=names, fill_value=0)
    return _markdown(counts.reset_index())


def _table_name(table: str) -> str:
    """Name of a reported table: Hosking et al., Table 2 for hosking_table2."""
    return f"{studies.titles()[table.partition('_')[0]]}, {published.exhibit(table)}"


def _folded_claims(claims: pd.DataFrame, links: Mapping[str, str]) -> list[str]:
    """Main claims of each paper, and others that are contradicted."""
    main = claims[claims["main"] != ""]
    is_contradicted = claims["verdict"].isin(["contradicted", "another outcome"])
    shown = pd.concat([main, claims[is_contradicted & (claims["main"] == "")]])
    folds = []
    for study, of_one in shown.groupby("study", sort=False):
        counts = _listed(main[main["study"] == study])
        table = _claims_table(of_one, links)
        folds.append(_fold(f"{studies.titles()[study]}: {counts}", table))
    return folds


def _errors(
    claims: pd.DataFrame, cells: pd.DataFrame, links: Mapping[str, str]
) -> pd.DataFrame:
    """What papers report that is not so; cells of a table with one cause together."""
    rows = []
    keys = ["table", "note", "verdict"]
    wrong = cells[cells["verdict"].isin(ERRORS)].value_counts(keys).reset_index()
    for table, note, verdict, number in wrong.itertuples(index=False):
        rows.append([f"{_table_name(table)}: {note}", verdict, f"{number} cells", ""])
    for claim in claims[claims["verdict"].isin(ERRORS)].itertuples():
        paper = studies.titles()[claim.study]
        number = f": {claim.printed}" if claim.printed else ""
        said = f"{claim.statement.rstrip('.')}{number} ({paper}, {_place(claim)})"
        found = claim.note or claim.ours
        if claim.verdict == REPORTING_ERROR:
            found = f"{claim.ours}; {claim.why}"
        rows.append([said, claim.verdict, found, _link(claim.notebook, links)])
    return pd.DataFrame(rows, columns=["reported", "verdict", "ours", "in"])


def _claims_table(claims: pd.DataFrame, links: Mapping[str, str]) -> pd.DataFrame:
    """Claims with their first place, verdict, result and notebook."""
    rows = []
    for claim in claims.itertuples():
        note = f"<br><small>{claim.note}</small>" if claim.note else ""
        said = f"{claim.statement} ({_place(claim)}){note}"
        link = _link(claim.notebook, links)
        rows.append([said, claim.verdict, _result(claim), link])
    return pd.DataFrame(rows, columns=["claim", "verdict", "ours", "in"])


def _place(claim: NamedTuple) -> str:
    """The first place of a claim, without its page."""
    return re.split(r"; |, p\.", claim.where)[0]


def _result(claim: NamedTuple) -> str:
    """Our result beside the reported number, or why there is none."""
    has_many_parts = claim.ours.endswith(" more")
    if claim.verdict == NOT_CHECKED or has_many_parts:
        return claim.why
    if claim.verdict == REPORTING_ERROR:
        return f"{claim.ours}; {claim.why}"
    return f"{claim.ours}; reported: {claim.printed}" if claim.printed else claim.ours


def _folded_exhibits(exhibits: pd.DataFrame, links: Mapping[str, str]) -> list[str]:
    """Figures and tables of each paper, in the order of their numbers."""
    numbered = exhibits["exhibit"].str.replace(
        r"\d+", lambda d: d[0].zfill(2), regex=True
    )
    exhibits = exhibits.assign(order=numbered).sort_values("order")
    is_shown = exhibits["evidence"] != ""
    evidence = exhibits["evidence"].where(is_shown, exhibits["reason"])
    shown_in = [_link(name, links) for name in exhibits["notebook"]]
    table = exhibits[["exhibit"]].assign(evidence=evidence, **{"in": shown_in})
    folds = []
    for study, title in studies.titles().items():
        of_one = exhibits["study"] == study
        if of_one.any():
            summary = f"{title}: {(of_one & is_shown).sum()} of {of_one.sum()} shown"
            folds.append(_fold(summary, table[of_one]))
    return folds


def _link(notebook: str, links: Mapping[str, str]) -> str:
    """Link to a notebook by its number, if there is one."""
    return f"[{notebook[:2]}]({links[notebook]})" if notebook in links else ""


def _fold(summary: str, table: pd.DataFrame) -> str:
    """A table that readers unfold."""
    text = _markdown(table)
    return f"<details>\n<summary>{summary}</summary>\n\n{text}\n\n</details>"


def _markdown(table: pd.DataFrame) -> str:
    """Write a table in Markdown."""
    lines = [list(table.columns), ["---"] * table.shape[1], *table.to_numpy().tolist()]
    # a pipe would end the cell
    texts = [[str(cell).replace("|", "\\|") for cell in line] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in texts)
