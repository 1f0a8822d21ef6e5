"""The replication report: what stands where, and that no row breaks its table."""

import re

import pandas as pd
import pytest

from helpers import claims, paths, report
from helpers.data.published import read_text
from helpers.run.publish import links

CLAIM = {
    "id": "hosking.a",
    "study": "hosking",
    "where": "§3.2, p. 5; Abstract",
    "statement": "It | so.",
    "printed": "",
    "main": "abstract",
    "note": "",
    "ours": "0.2 [0.1, 0.3]",
    "verdict": "supported",
    "why": "",
    "notebook": "11_error_weights",
}
CELL = {"id": "x", "table": "hosking_table2", "printed": "3", "ours": "4", "why": ""}
AUTHORS = pd.DataFrame({"id": ["x"], "reproduces": ["False"], "cause": ["of a sign"]})


def written(*changes: dict[str, str]) -> str:
    """Report on claims that differ from the example as said."""
    listed = pd.DataFrame([CLAIM | change for change in changes])
    cells = [CELL | {"verdict": "reproduces", "note": ""}]
    cells.append(CELL | {"verdict": "reporting error", "note": "They are swapped."})
    return report.write(listed, pd.DataFrame(cells), AUTHORS, links())


def test_main_claims_stand_with_verdict_result_and_notebook():
    text = written({}, {"main": "", "statement": "Not main."})
    link = "../notebooks/11_error_weights.ipynb"
    row = f"| It \\| so. (§3.2) | supported | 0.2 [0.1, 0.3] | [11]({link}) |"
    assert row in text
    assert "<summary>Hosking et al.: 1 supported or reproduced</summary>" in text
    assert "Not main." not in text


@pytest.mark.parametrize(
    ("change", "row"),
    [
        ({"verdict": "not checked", "why": "scope: x"}, "| not checked | scope: x |"),
        ({"printed": "0.3"}, "| 0.2 [0.1, 0.3]; reported: 0.3 |"),
        ({"ours": "a: 1; and 9 more", "why": "3 of 10 pass"}, "| 3 of 10 pass |"),
        ({"note": "But."}, "(§3.2)<br><small>But.</small> |"),
        ({"main": "", "verdict": "another outcome"}, "| another outcome |"),
    ],
)
def test_a_row_says_what_changes_how_its_verdict_is_read(change, row):
    assert row in written({}, change)


def test_errors_of_the_papers_have_a_section():
    wrong = {"main": "", "printed": "0.3", "verdict": "reporting error"}
    text = written(wrong | {"why": "0.3 is the mean"}).partition("## Errors found")[2]
    assert "| It \\| so: 0.3 (Hosking et al., §3.2) | reporting error |" in text
    assert "| 0.2 [0.1, 0.3]; 0.3 is the mean |" in text
    assert "| Hosking et al., Table 2: They are swapped. | reporting error |" in text


def test_counts_name_what_differs_in_the_last_digit():
    text = written({}, {"verdict": "differs in the last digit"}, {"verdict": "true"})
    counts = "Of 3: 2 supported or reproduced, 1 differs in the last digit."
    assert f"**Main claims.** {counts}" in text
    assert "0 reproduce at the digits given. Why others differ: of a sign (1)." in text
    assert "| Hosking et al., Table 2 | 1 | 0 | 1 |" in text


def test_the_committed_report_lists_every_exhibit_in_narrow_tables():
    text = (paths.ROOT / "docs" / "replication_report.md").read_text()
    exhibits = read_text(paths.DATA / "exhibits.csv")
    in_folds = text.rpartition("## Figures and tables")[2]
    for exhibit, number in exhibits["exhibit"].value_counts().items():
        assert in_folds.count(f"| {exhibit} |") == number
    for line in text.splitlines():
        if line.startswith("|"):
            assert len(re.findall(r"(?<!\\)\|", line)) <= 5, line
    assert text.index("| verdict | meaning |") < text.index("## How well")
    for head in re.findall(r"^\| (?:claim|reported) \|.*", text, re.MULTILINE):
        assert head.split(" | ")[1] == "verdict"


def test_a_run_without_real_data_has_a_report_too(tmp_path):
    made = claims.tables(tmp_path, is_real=False)
    text = report.write(*list(made.values())[1:], links())
    assert "0 numbers in the notebooks" in text
