"""The replication report: one page, readable on GitHub and on the site."""

import re
from collections.abc import Mapping

import pandas as pd

from helpers.claims import rules
from helpers.claims.judged import CELL, GROUPS
from helpers.data import studies

# What does not reproduce, in the order in which it is listed.
FAILING = (*rules.FAILS, rules.CONSISTENT[1])
FORMS = {
    "statement": "statements on directions and estimates",
    "rank": "rankings and selections",
    "absence": "absences of effects",
    "test": "tests, repeated as the authors ran them",
    "fact": "facts about the released files",
    "value": "printed values",
    "split": "printed values on an unpublished random split",
}


def write(
    judged: pd.DataFrame, authors: pd.DataFrame, notebooks: Mapping[str, str]
) -> str:
    """Write the report.

    Parameters
    ----------
    judged : pandas.DataFrame
        From `helpers.claims.judged.judge_all`.
    authors : pandas.DataFrame
        Numbers of the authors' own notebooks: ``id``, ``printed``, ``ours``,
        ``reproduces`` ("True" or "False") and ``cause``.
    notebooks : mapping of str to str
        Path of each notebook's file, from the folder of the report.

    Returns
    -------
    str
        Markdown.
    """
    judged = judged.assign(tests=_tests_together(judged))
    is_cell = judged["id"].str.contains(CELL)
    claims = judged[~is_cell]
    failing = claims[claims["verdict"].isin(FAILING)]
    not_main = failing[failing["main"] == ""]
    values = not_main["form"].isin(("value", "split"))
    parts = [
        "# Replication report",
        _summary(claims, authors),
        "## Main claims",
        "Sentences of abstracts, introductions and conclusions.",
        _by_study(claims[claims["main"] != ""], notebooks),
        "## What else does not reproduce or is contradicted",
        "Statements, facts and tests first, then printed values.",
        _table(_with_paper(not_main[~values]), notebooks),
        _table(_with_paper(not_main[values]), notebooks),
        _authors(authors),
        "## All other claims",
        _counts(claims),
        "Each stands with its result in [results/claims.csv](../results/claims.csv).",
        "## Cells of printed tables",
        _cells(judged[is_cell]),
        "## What was not checked",
        "Reasons: the data are not public; they are public, but could not be reached "
        "from here or are not read here; the number is illegible in the text that we "
        "have; another model, other people, simulated data or another scope would take "
        "the place of what the claim is about; or rounding leaves too much open.",
        _not_checked(judged),
        "## How a claim is judged",
        _rules(),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def group_counts(judged: pd.DataFrame) -> pd.Series:
    """Count claims in the groups of the first screen.

    Parameters
    ----------
    judged : pandas.DataFrame
        Claims with a `verdict`.

    Returns
    -------
    pandas.Series of int
        By group, in the order of `helpers.claims.judged.GROUPS`.

    Examples
    --------
    >>> verdicts = ["supported", "true", "contradicted"]
    >>> group_counts(pd.DataFrame({"verdict": verdicts})).to_dict()
    {'supported or reproduced': 2, 'inconclusive': 0, \
'contradicted or not reproduced': 1, 'not checked': 0, \
"checked against the paper's own numbers only": 0}
    """
    group_of = {word: group for group, words in GROUPS.items() for word in words}
    counts = judged["verdict"].map(group_of).value_counts()
    return counts.reindex(list(GROUPS), fill_value=0)


def _summary(claims: pd.DataFrame, authors: pd.DataFrame) -> str:
    """The first paragraph: authors' numbers, then main claims by group."""
    n_reproduce = (authors["reproduces"] == "True").sum()
    main = claims[claims["main"] != ""]
    counts = group_counts(main)
    *groups, internal = counts.index
    counted = ", ".join(f"{counts[group]} {group}" for group in groups)
    n_consistent = (main["verdict"] == rules.CONSISTENT[0]).sum()
    return (
        f"Of {len(authors):,} numbers in the notebooks that the authors of the first "
        f"paper published, {n_reproduce:,} reproduce. The four papers make {len(main)} "
        f"main claims: {counted}. Another {counts[internal]} can be {internal}; "
        f"{n_consistent} of these are internally consistent."
    )


def _authors(authors: pd.DataFrame) -> str:
    """Numbers of the authors' notebooks that differ, by the cause."""
    differing = authors[authors["reproduces"] != "True"]
    if differing.empty:
        return ""
    parts = [
        "## Numbers of the authors' notebooks that differ",
        f"{len(differing)} of {len(authors):,} differ.",
    ]
    for cause, rows in differing.groupby("cause", sort=False):
        table = [
            [f"`{row.id}`", row.printed, _short(row.ours)] for row in rows.itertuples()
        ]
        parts.append(f"Cause of {len(rows)}: {cause or 'not found'}.")
        parts.append(_markdown(["number", "printed", "ours"], table))
    return "\n\n".join(parts)


def _short(number: str) -> str:
    """A long number with six digits."""
    return f"{float(number):.6g}"


def _by_study(claims: pd.DataFrame, notebooks: Mapping[str, str]) -> str:
    """A table for each paper, under its citation."""
    titles = {study["name"]: study["citation"] for study in studies.read_studies()}
    parts = []
    for study, rows in claims.groupby("study", sort=False):
        parts.append(f"### {titles[study]}\n\n{_table(rows, notebooks)}")
    return "\n\n".join(parts)


def _with_paper(claims: pd.DataFrame) -> pd.DataFrame:
    """Places that begin with the paper."""
    papers = claims["study"].map(studies.titles())
    return claims.assign(where=papers + ", " + claims["where"])


def _table(claims: pd.DataFrame, notebooks: Mapping[str, str]) -> str:
    """Claims with place, print, result, verdict and notebook."""
    rows = []
    for claim in claims.itertuples():
        verdict = f"**{claim.verdict}** ({claim.why})"
        if claim.tests > 1:
            verdict += f"; one of {claim.tests} tests of its section"
        if claim.note:
            verdict += f". {claim.note}"
        rows.append(
            [
                # an address of its own, on the site
                f'<span id="{claim.id.replace(".", "-")}"></span>{claim.where}',
                claim.statement,
                claim.printed,
                claim.ours,
                verdict,
                _link(claim.notebook, notebooks),
            ]
        )
    head = ["place", "claim", "printed", "ours [95 % CI]", "verdict", "notebook"]
    return _markdown(head, rows)


def _link(notebook: str, notebooks: Mapping[str, str]) -> str:
    """Link to a notebook by its number; printed tables have none."""
    if notebook not in notebooks:
        return ""
    return f"[{notebook[:2]}]({notebooks[notebook]})"


def _markdown(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table; nothing without rows."""
    if not rows:
        return ""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_in_cell, line))} |" for line in lines)


def _in_cell(text: str) -> str:
    """A text that does not end its cell of a Markdown table."""
    return re.sub(r"\s+", " ", str(text)).replace("|", "\\|")


def _place(where: str) -> str:
    """The first place of a claim, without its page."""
    return re.split(r"[;,]", where)[0]


def _tests_together(judged: pd.DataFrame) -> pd.Series:
    """How many statements, rankings and tests of the same place were checked."""
    is_test = judged["form"].isin(("statement", "rank", "absence", "test"))
    is_test &= judged["verdict"] != rules.NOT_CHECKED
    place = judged["study"] + judged["where"].map(_place)
    counts = place[is_test].value_counts()
    return place.map(counts).where(is_test, 0).fillna(0).astype(int)


def _counts(claims: pd.DataFrame) -> str:
    """How many claims of each form have which verdict."""
    rows = []
    for form, words in FORMS.items():
        counts = claims.loc[claims["form"] == form, "verdict"].value_counts()
        listed = ", ".join(f"{n} {verdict}" for verdict, n in counts.items())
        rows.append([words, str(counts.sum()), listed])
    return _markdown(["claims, main ones included", "number", "verdicts"], rows)


def _cells(cells: pd.DataFrame) -> str:
    """Verdicts of each printed table, and the cells that differ."""
    table = cells["study"].map(studies.titles()) + ", " + cells["where"]
    counted = []
    for name, verdicts in cells["verdict"].groupby(table, sort=False):
        words = [f"{n} {verdict}" for verdict, n in verdicts.value_counts().items()]
        counted.append([name, str(len(verdicts)), ", ".join(words)])
    differs = cells["verdict"].isin((*FAILING, rules.LAST_DIGIT))
    rows = []
    for i, cell in cells[differs].iterrows():
        verdict = f"{cell['verdict']} ({cell['why']})"
        name = cell["statement"].partition(": ")[2]
        rows.append([table[i], name, cell["printed"], cell["ours"], verdict])
    counts = _markdown(["table", "cells", "verdicts"], counted)
    differing = _markdown(["table", "cell", "printed", "ours", "verdict"], rows)
    return f"{counts}\n\nCells that differ:\n\n{differing}" if rows else counts


def _not_checked(judged: pd.DataFrame) -> str:
    """What was not checked, by what would be needed."""
    rows = judged[judged["verdict"] == rules.NOT_CHECKED]
    table = []
    for (study, why), of_one in rows.groupby(["study", "why"], sort=False):
        table.append([studies.titles()[study], str(len(of_one)), why])
    return _markdown(["paper", "claims and cells", "why, or what is needed"], table)


def _rules() -> str:
    """The six rules, as `helpers.claims.rules` has them."""
    return rules.__doc__.partition("\n\n")[2].rpartition("\n\n")[0]
