"""Claims with their results: choice of interpretations, words, the report."""

import numpy as np
import pandas as pd
import pytest

from helpers import marks, paths
from helpers.claims import joined, judged, report, results, tables
from helpers.data import published, studies
from helpers.data.published import ClaimError

CLAIMS = pd.DataFrame(
    [
        ["a.slope", "hosking", "§3.2, p. 5", "> 0", "statement", "abstract", "a.slope"],
        ["a.kept", "hosking", "§3.2", "> 0", "statement", "", "a.slope: kept"],
        ["a.gone", "hosking", "§4", "> 0", "statement", "", "a.gone"],
        ["a.test", "hosking", "§4", "p < 0.05", "test", "conclusion", "a.test"],
        ["a.first", "kamoda", "§4", "", "rank", "introduction", "a.first"],
        ["a.same", "kamoda", "§4", "", "fact", "", "a.same"],
        ["a.each", "kamoda", "§4", "> 5", "fact", "", "a.each"],
    ],
    columns=["id", "study", "where", "limit", "form", "main", "result"],
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Results of a notebook about seven claims, of which one has none."""
    table = CLAIMS.assign(statement="It | so.", printed="", unit="", needs="", note="")
    by_id = table.set_index("id")
    monkeypatch.setattr(judged, "published_claims", lambda: by_id)
    kept = {"estimate": 2.0, "low": 1.0, "high": 3.0}
    left_out = {"estimate": -1.0, "low": -2.0, "high": 1.0}
    found = {
        "slope": {"kept": kept, "left out": left_out},
        "test": {"p": 0.2, "estimate": 0.25},
        "first": {"share": 0.99},
        "same": True,
        "each": pd.DataFrame({"estimate": [6, 7, 8, 9, 10]}, index=[*"vwxyz"]),
    }
    monkeypatch.setattr(paths, "BUILD", tmp_path)
    marks.begin(marks.Run("11_error_weights"))
    results.save(results.rows("a", found))
    return tmp_path


def test_each_claim_is_judged_by_the_result_that_it_names(folder):
    table = judged.judge_all(folder).set_index("id")
    assert table["verdict"].to_dict() == {
        "a.slope": "inconclusive",
        "a.kept": "supported",
        "a.gone": "not checked",
        "a.test": "another outcome",
        "a.first": "supported",
        "a.same": "true",
        "a.each": "true",
    }
    assert table.loc["a.slope", "notebook"] == "11_error_weights"


def test_results_are_written_as_they_are_compared(folder):
    ours = judged.judge_all(folder).set_index("id")["ours"]
    assert ours["a.kept"] == "kept: 2 [1, 3]"
    assert ours["a.test"] == "0.25 p = 0.2"
    assert ours["a.first"] == "99.0 % of resamples"
    assert ours["a.same"] == "yes"
    assert ours["a.each"] == "v: 6; w: 7; x: 8; y: 9; and 1 more"
    assert ours["a.gone"] == ""


def test_an_interpretation_that_no_result_has_is_refused(folder, monkeypatch):
    wrong = CLAIMS.assign(statement="", printed="", unit="", needs="", note="")
    wrong.loc[0, "result"] = "a.slope: others"
    monkeypatch.setattr(judged, "published_claims", lambda: wrong.set_index("id"))
    with pytest.raises(
        ClaimError, match=r"a\.slope: a\.slope has interpretations kept"
    ):
        judged.judge_all(folder)


AUTHORS = pd.DataFrame(
    {
        "id": ["x.r2", "x.share"],
        "printed": ["0.30", "12"],
        "ours": ["0.3012345", "12.75"],
        "reproduces": ["True", "False"],
        "cause": ["", ""],
    }
)


def test_the_report_leads_with_authors_numbers_then_main_claims(folder):
    links = {"11_error_weights": "../notebooks/11_error_weights.ipynb"}
    text = report.write(judged.judge_all(folder), AUTHORS, links)
    first = text.split("\n\n")[1]
    assert first.startswith("Of 2 numbers in the notebooks")
    assert "1 reproduce" in first
    assert "make 3 main claims" in first
    assert "1 supported or reproduced, 1 inconclusive" in first
    assert "1 contradicted or not reproduced, 0 not checked" in first
    assert "; 0 of these are internally consistent" in first
    assert "Cause of 1: not found." in text
    assert "| `x.share` | 12 | 12.75 |" in text
    assert "one of 2 tests of its section" in text
    assert "It \\| so." in text
    assert "[11](../notebooks/11_error_weights.ipynb)" in text
    assert "## Cells of printed tables" in text


def test_every_claim_and_every_limit_can_be_read():
    claims = published.published_claims()
    assert claims.index.is_unique
    for claim_id, claim in claims.iterrows():
        try:
            judged.rules.check_form(claim)
        except ClaimError as error:
            pytest.fail(f"{claim_id}: {error}")
    assert set(claims["study"]) <= set(studies.titles())


def test_printed_tables_are_recomputed_cell_by_cell(real_data, tmp_path):
    file = tables.save(tmp_path)
    cells = pd.read_csv(file, keep_default_na=False)
    assert cells["name"].str.contains(judged.CELL).all()
    claims = published.published_claims()
    assert set(cells["name"]) <= set(claims.index)
    rate = cells.set_index("name").loc["hosking.table2.falcon_40b.refusal", "estimate"]
    assert round(float(rate), 2) == float(
        claims.loc["hosking.table2.falcon_40b.refusal", "printed"]
    )


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (["system", "error"], "needs the index levels"),
        (["system", "measure"], "has no cell Falcon 40B, nonsense"),
    ],
)
def test_a_cell_that_is_not_printed_is_refused(keys, message):
    cells = pd.Series({("Falcon 40B", "nonsense"): 2.78}).rename_axis(keys)
    with pytest.raises(ClaimError, match=message):
        tables.as_results("hosking_table2", cells.to_frame("estimate"))


def test_a_run_on_simulated_data_checks_nothing(tmp_path):
    made = joined.tables(tmp_path, is_real=False)
    assert set(made["claims"]["verdict"]) == {"not checked"}
    assert made["results"].empty
    assert made["authors_numbers"].empty


@pytest.mark.parametrize(
    ("estimate", "low", "high", "words"),
    [
        (-16.9, -33.77, -0.0363, "−16.9 [−33.8, −0.036]"),  # its side can be seen
        (0.93, 0.7124, 1.153, "0.93 [0.712, 1.153]"),
        (21.3, 18.0, 24.21, "21.3 [18.0, 24.2]"),
        (float("nan"), 0.5, 0.61, "[0.5, 0.61]"),  # a range without an estimate
    ],
)
def test_ends_of_intervals_have_the_decimals_of_their_estimate(
    estimate, low, high, words
):
    row = {"interpretation": "", "part": "", "estimate": estimate, "low": low}
    row |= {"high": high, "p": np.nan, "share": np.nan, "holds": np.nan}
    claim = {"form": "statement", "printed": "", "unit": ""}
    assert judged.in_words(claim, pd.DataFrame([row])) == words
