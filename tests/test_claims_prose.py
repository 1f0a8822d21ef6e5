"""What README, overview and findings say is what results and verdicts say.

A number is followed by `<!-- result: NAME -->`, where it is not the estimate by
`<!-- result: NAME low -->` (or high, p, share), with `[part]` or `{interpretation}`
before that; a verdict by `<!-- claim: ID -->`; how many main claims are in a group by
`<!-- main claims: GROUP -->`. Readers see none of it.
"""

import re

import nbformat
import pytest

from helpers import paths
from helpers.claims import report
from helpers.data.published import read_text
from helpers.run.parameters import notebook_files

RESULTS = paths.RESULTS
PAGES = ("README.md", "docs/findings.md", "00_overview")
NUMBER = re.compile(
    r"([−-]?[\d,]+(?:\.\d+)?)(?: ?%)?<!-- result: (\S+)"
    r"(?: \[(.+?)\])?(?: \{(.+?)\})?(?: (low|high|p|share))? -->"
)
VERDICT = re.compile(r"([\w ]+?)\**<!-- claim: (\S+) -->")
COUNT = re.compile(r"(\d+)<!-- main claims: (.+?) -->")


def text_of(page: str) -> str:
    """Text of a guide, or of the markdown of a notebook."""
    if page.endswith(".md"):
        return (paths.ROOT / page).read_text()
    notebook = nbformat.read(notebook_files()[page], as_version=4)
    cells = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    return "\n".join(cells)


def wrong_numbers(text: str, results) -> list[str]:
    """Marked numbers that are not those of the results, at their digits."""
    wrong = []
    for written, name, part, interpretation, column in NUMBER.findall(text):
        row = results.loc[
            (results["name"] == name)
            & (results["part"] == part)
            & (results["interpretation"] == interpretation)
        ]
        if len(row) != 1:
            wrong.append(f"{name}: no such result")
            continue
        found = float(row[column or "estimate"].iloc[0])
        found *= 100 if column == "share" else 1
        digits = len(written.partition(".")[2])
        number = float(written.replace(",", "").replace("−", "-"))
        # a sentence may say "lower by"
        if abs(abs(number) - abs(found)) > 0.5 * 10.0**-digits + 1e-9:
            wrong.append(f"{name}: {written}, not {found:.6g}")
    return wrong


def wrong_verdicts(text: str, claims) -> list[str]:
    """Marked verdicts that are not those of the claims."""
    verdicts = claims.set_index("id")["verdict"]
    return [
        f"{claim_id}: {words}, not {verdicts[claim_id]}"
        for words, claim_id in VERDICT.findall(text)
        if not words.endswith(verdicts[claim_id])
    ]


def wrong_counts(text: str, claims) -> list[str]:
    """Marked numbers of main claims that are not those of their groups."""
    counts = report.group_counts(claims[claims["main"] != ""])
    return [
        f"{group}: {number}, not {counts[group]}"
        for number, group in COUNT.findall(text)
        if int(number) != counts[group]
    ]


@pytest.mark.parametrize("page", PAGES)
def test_marked_numbers_and_verdicts_are_those_of_the_results(page):
    results = read_text(RESULTS / "results.csv")
    claims = read_text(RESULTS / "claims.csv")
    text = text_of(page)
    assert wrong_numbers(text, results) == []
    assert wrong_verdicts(text, claims) == []
    assert wrong_counts(text, claims) == []


def test_a_wrong_number_or_verdict_is_noticed():
    results = read_text(RESULTS / "results.csv")
    claims = read_text(RESULTS / "claims.csv")
    right = "900<!-- result: hosking.counts.outputs_1 --> answers"
    assert wrong_numbers(right, results) == []
    assert len(wrong_numbers(right.replace("900", "901"), results)) == 1
    assert len(wrong_numbers(right.replace("outputs_1", "no"), results)) == 1
    true = "that is true<!-- claim: hosking.counts.outputs_1 -->"
    assert wrong_verdicts(true, claims) == []
    assert len(wrong_verdicts(true.replace("true<", "supported<"), claims)) == 1
    counted = "1<!-- main claims: contradicted or not reproduced -->"
    assert wrong_counts(counted, claims) == []
    assert len(wrong_counts(counted.replace("1<", "2<"), claims)) == 1


def test_the_report_is_written_from_the_committed_tables():
    tables = [read_text(RESULTS / f"{name}.csv") for name in ("claims",)]
    tables.append(read_text(RESULTS / "authors_numbers.csv"))
    links = {}
    for name, file in notebook_files().items():
        links[name] = f"../{file.relative_to(paths.ROOT).as_posix()}"
    written = (paths.ROOT / "docs" / "replication_report.md").read_text()
    assert report.write(*tables, links) == written
