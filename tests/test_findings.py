"""What README and docs/findings.md say, written from hand-made claims and headlines."""

import pandas as pd
import pytest

from helpers.claims import collection, findings
from helpers.data import studies
from helpers.data.published import ClaimError

CLAIMS = pd.DataFrame(
    {
        "kind": ["number", "number", "direction", "direction"],
        "published": ["3.2", "4", "holds", "holds"],
        "evidence": ["raw", "print", "raw", "none"],
        "verdict": ["confirmed", "consistent", "confirmed", "open"],
        "after_correction": ["", "", "no", ""],
        "note": ["", "", "", "not public: the texts"],
    }
)
HEADLINES = pd.DataFrame(
    {
        "headline": ["gap", "cost", "size", "sets", "unknown"],
        "notebook": ["14_gap", "11_cost", "52_size", "61_sets", "62_unknown"],
        "short": ["Is it 2.5 or 3? It is 3.", "A 2.5 rule. It costs 0.5.", "", "", ""],
        "sentence": ["The gap is 3.", "The cost is 0.5.", "The size is 9.", "5.", ""],
        "alternatives": ["", "Or 0.6.", "", "", ""],
    }
)
SURE = {"cost": "holds", "size": "holds", "gap": "not settled"}
SURE |= {"sets": "holds", "unknown": "not settled"}
STUDIES = [
    {"name": "first", "title": "First", "citation": "First (2024)", "digit": "1"},
    {"name": "late", "title": "Late", "citation": "Late (2026)", "digit": "6"},
]


@pytest.fixture
def written(monkeypatch) -> findings.Findings:
    """Findings of a project with two studies."""
    sure = pd.Series(SURE).rename_axis("headline")
    monkeypatch.setattr(collection, "how_sure", lambda claims: sure)
    monkeypatch.setattr(studies, "read_studies", lambda: STUDIES)
    return findings.Findings(
        CLAIMS,
        HEADLINES,
        lambda name: f"![{name}]()",
        "../",
    )


def test_counts_in_short_say_what_holding_is_worth():
    assert findings.short_counts(CLAIMS) == (
        "Of 4 claims 3 could be checked, and 3 of these hold: 2 of 2 numbers and "
        "counts, and 1 of 1 sentences. Of the 3 that hold, 1 are only not refuted, "
        "because a paper's own rounded numbers, or random splits of its data drawn "
        "anew, are all there is to check them by; 1 hold only without a correction "
        "for many tests."
    )
    raw = CLAIMS.assign(evidence="raw", verdict="confirmed", after_correction="")
    assert findings.short_counts(raw) == (
        "Of 4 claims 4 could be checked, and 4 of these hold: 2 of 2 numbers and "
        "counts, and 2 of 2 sentences."
    )


def test_short_findings_begin_with_a_bold_sentence_and_how_sure_it_is(written):
    assert written.write("short findings").splitlines() == [
        "- **A 2.5 rule.** *Holds.* It costs 0.5. ([11](../notebooks/11_cost.ipynb))",
        "- **Is it 2.5 or 3?** *Not settled.* It is 3. "
        "([14](../notebooks/14_gap.ipynb))",
    ]


def test_only_marked_parts_are_written_anew_and_twice_changes_nothing(written):
    text = "Mine.\n\n<!-- picture 11_a -->\nold\n<!-- end -->\n\nMine, too.\n"
    once = written.renew(text)
    assert once == (
        "Mine.\n\n<!-- picture 11_a -->\n\n![11_a]()\n\n<!-- end -->\n\nMine, too.\n"
    )
    assert written.renew(once) == once


def test_a_new_study_gets_a_section_before_what_is_beyond_the_papers(written):
    text = (
        "## One\n\n<!-- findings first -->\n\n<!-- end -->\n\n"
        "## Beyond\n\n<!-- findings beyond -->\n\n<!-- end -->\n"
    )
    once = written.renew(text)
    headings = [line for line in once.splitlines() if line.startswith("## ")]
    assert headings == ["## One", "## Late (2026)", "## Beyond"]
    full = "- *Holds.* The cost is 0.5. ([11](../notebooks/11_cost.ipynb))\n  - Or 0.6."
    assert full in once
    # a finding without results is left out
    late = "- *Holds.* 5. ([61](../notebooks/61_sets.ipynb))\n\n<!-- end"
    assert f"<!-- findings late -->\n\n{late}" in once
    assert written.write("findings nobody") == "No headline finding is about it."
    assert "- *Holds.* The size is 9. ([52](../notebooks/52_size.ipynb))" in once
    assert written.renew(once) == once


def test_a_mark_that_nobody_knows_is_an_error(written):
    with pytest.raises(ClaimError, match="what is marked: nonsense"):
        written.renew("<!-- nonsense -->\n\n<!-- end -->\n")
