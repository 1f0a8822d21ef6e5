"""Results that notebooks save, and the verdict of every form on examples."""

import pandas as pd
import pytest

from helpers import claims, marks, paths
from helpers.claims import NUMBERS, check, judge
from helpers.data import published, studies
from helpers.data.published import ClaimError, read_text
from helpers.data.tables import OptionError
from helpers.studies import hosking_notebooks

# Saving


@pytest.fixture
def build(tmp_path, monkeypatch):
    """Folder of a run."""
    monkeypatch.setattr(paths, "BUILD", tmp_path)
    return tmp_path


def test_saved_results_are_read_again_with_their_notebook(build):
    by_part = pd.DataFrame({"share": [0.25, 1], "n": [4, 8]}, index=["x", ("y", "z")])
    slope = {"estimate": 1.5, "low": 1.0, "high": 2.0}
    table = claims.rows("a", {"slope": slope, "parts": by_part, "same": True, "n": 3})
    marks.begin(marks.Run("11_error_weights"))
    claims.save(table)
    read = claims.read(build).set_index(["name", "part"])
    assert read.loc[("a.slope", ""), "high"] == 2
    assert read.loc[("a.parts", "y, z"), "share"] == 1
    assert read.loc[("a.same", ""), "holds"] == 1
    assert read.loc[("a.n", ""), "estimate"] == 3
    assert set(read["notebook"]) == {"11_error_weights"}


def test_interpretations_are_rows_of_their_own():
    both = {"kept": {"estimate": 1}, "left out": pd.DataFrame({"p": [0.1]}, ["x"])}
    table = claims.rows("a", {"slope": both})
    assert table["interpretation"].tolist() == ["kept", "left out"]
    assert table["part"].tolist() == ["", "x"]


@pytest.mark.parametrize(
    "run",
    [
        marks.Run("11_error_weights", "alpha = 0.05"),
        marks.Run("11_error_weights", reasons=["asked for"]),
    ],
)
def test_changed_parameters_and_simulated_data_save_nothing(run, build, capsys):
    marks.begin(run)
    claims.save(claims.rows("a", {"slope": 1}))
    assert "no result is saved" in capsys.readouterr().out
    assert claims.read(build).empty


def test_two_notebooks_cannot_save_the_same_result(build):
    for notebook in ("10_annotation_quality", "11_error_weights"):
        marks.begin(marks.Run(notebook))
        claims.save(claims.rows("a", {"slope": 1}))
    with pytest.raises(OptionError, match=r"a\.slope was saved by 10_"):
        claims.read(build)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"name": "a", "value": 1}], "there is no value"),
        ([{"estimate": 1}], "no column name"),
        ([{"name": "", "estimate": 1}], "no name"),
        ([{"name": "a"}], "a: there is no value"),
        ([{"name": "a", "estimate": float("inf")}], "not finite"),
        ([{"name": "a", "estimate": 1, "low": 0}], "both low and high"),
        ([{"name": "a", "estimate": 3, "low": 0, "high": 2}], "low <= estimate"),
        ([{"name": "a", "low": 2, "high": 1}], "low <= estimate"),
        ([{"name": "a", "p": 1.2}], "p or share is not between"),
        ([{"name": "a", "share": 97}], "p or share is not between"),
        ([{"name": "a", "part": "x", "p": 0.1}] * 2, "a, x: two rows"),
    ],
)
def test_a_table_that_cannot_be_compared_is_refused(rows, message):
    with pytest.raises(OptionError, match=message):
        check(pd.DataFrame(rows))


def test_words_are_no_result_and_results_need_a_checked_notebook():
    with pytest.raises(OptionError, match="every age"):
        claims.rows("humbel", {"ages": "every age"})
    marks.begin(None)
    with pytest.raises(OptionError, match=r"run\.check"):
        claims.save(claims.rows("a", {"slope": 1}))


# Verdicts. Each line: form, limit, reported number, needs; rows of the result (columns
# as below, "-" for none, interpretation and part before a colon); the verdict, which
# was worked out by hand from the rules of data/published/README.md.

EXAMPLES = """
value | | 3.2 | data | 3.24 | reproduces
value | | 3.20 | data | 3.24 | does not reproduce
value | | 3.20 | data | 3.21 | differs in the last digit
value | | 3.2 | data | 3.05 | differs in the last digit
value | | 0.3 | data | 0.2 | does not reproduce
value | | -0.50 | data | -0.5049 | reproduces
value | | 200 | data | 100; sum of both,: 200 | reporting error
value | | 200 | data | 100; sum of both,: 190 | does not reproduce
value | | 100 | data | 100; sum of both,: 200 | reproduces
value | | 3.0 | print | 3.0 2.9 3.1 | internally consistent
value | | 3.3 | print | 3.0 2.9 3.1 | not internally consistent
value | | 3.0 | print | 3.0 2.3 3.1 | not checked
value | | 3.0 | print | 3.0 2.9 3.7 | not checked
value | | 3.0 | print | 3.0 | internally consistent
value | | 3.0 | print | 3.2 | not internally consistent
split | | 2.65 | data | 2.75 2.6 2.9 | reproduces up to the split
split | | 2.5 | data | 2.7 2.53 2.9 | reproduces up to the split
split | | 2.65 | data | 2.95 2.9 3.0 | does not reproduce
fact | | | data | - - - - - 1 | true
fact | | | data | - - - - - 0 | not true
fact | > 9 | | data | 12 | true
fact | > 9 | | data | 9 | not true
fact | >= 9 | | data | 9 | true
fact | between 92 99 | | data | 93 | true
fact | between 92 99 | | data | 99.1 | not true
fact | | 900 | data | 900 | true
fact | | 900 | data | 901 | not true
fact | | 47 | print | own recipe,: 46.7; of the text,: 48.3 | inconclusive
fact | | 47 | print | 46.7 | internally consistent
statement | > 0 | | data | 0.2 0.1 0.3 | supported
statement | < 0 | | data | 0.2 0.1 0.3 | contradicted
statement | > 0 | | data | 0.2 -0.1 0.3 | inconclusive
statement | > 0.3 | | data | 0.2 0.1 0.3 | contradicted
statement | between 2 3 | | data | 2.5 2.1 2.9 | supported
statement | between 2 3 | | data | 2.5 1.9 2.9 | inconclusive
statement | between 2 3 | | data | 3.5 3.1 3.9 | contradicted
statement | > 0 | | print | 2 1 3 | internally consistent
statement | > 0 | | print | -2 -3 -1 | not internally consistent
statement | > 0 | | print | 1 -1 2 | inconclusive
statement | > 0 | | data | ,x: 2 1 3; ,y: 2 1 3 | supported
statement | > 0 | | data | ,x: 2 1 3; ,y: 2 1 3; ,z: -8 -9 -7 | contradicted
statement | all > 0 | | data | ,x: 2 1 3; ,y: 2 1 3; ,z: 0 -1 1 | inconclusive
statement | most > 0 | | data | ,x: 2 1 3; ,y: 2 1 3; ,z: -8 -9 -7 | supported
statement | most > 0 | | data | ,x: 2 1 3; ,z: -8 -9 -7 | contradicted
statement | most > 0 | | data | ,x: 2 1 3; ,y: 2 1 3; ,z: 0 -1 1 | inconclusive
statement | > 0 | | data | all,: 2 1 3; some,: 3 2 4 | supported
statement | > 0 | | data | all,: 2 1 3; some,: -2 -3 -1 | inconclusive
rank | | | data | - - - - 0.98 | supported
rank | | | data | - - - - 0.975 | supported
rank | | | data | - - - - 0.97 | inconclusive
rank | | | data | - - - - 0 | inconclusive
rank | | | data | - - - - 0; ,x over y: - - - - 0.02 | contradicted
rank | | | data | - - - - 0.1; ,x over y: - - - - 0.03 | inconclusive
rank | | | data | - - - - 0.98; ,x over y: - - - - 0.99 | supported
absence | within 0.5 (§2) | | data | 0.2 0.1 0.3 | supported
absence | within 0.3 (§2) | | data | -0.2 -0.3 -0.1 | supported
absence | within 0.2 (§2) | | data | 0.2 0.1 0.3 | inconclusive
absence | | | data | 0.2 0.1 0.3 | inconclusive
test | p < 0.05 | | data | 1 - - 0.01 | same outcome
test | p < 0.05 | | data | 1 - - 0.06 | another outcome
test | p >= 0.05 | | data | 1 - - 0.06 | same outcome
test | p < 0.05 and > 0 | | data | 1 - - 0.01 | same outcome
test | p < 0.05 and > 0 | | data | -1 - - 0.01 | another outcome
no effect | | | data | ,f: - - - 0.01; ,g: - - - 0.04 | another outcome
no effect | | | data | ,f: - - - 0.01; ,g: - - - 0.2 | inconclusive
no effect | | | data | ,f: - - - 0.06; ,g: - - - 0.2 | absence not shown
no effect | | | data | - - - 0.05 | absence not shown
fact | | | not public: the answers | - - - - - 1 | not checked
fact | | | scope: another population | - - - - - 1 | not checked
value | | | illegible: Table 2 | 3 | not checked
fact | > 3 | | data | | not checked
"""
CASES = [line.split("|") for line in EXAMPLES.strip().splitlines()]


def result_of(text: str) -> pd.DataFrame:
    """Rows of a result, as the examples write them."""
    rows = []
    for words in filter(None, text.strip().split(";")):
        names, _, numbers = words.rpartition(":")
        interpretation, _, part = names.strip().partition(",")
        row = {"name": "a", "interpretation": interpretation, "part": part}
        known = zip(NUMBERS, numbers.split(), strict=False)
        rows.append(row | {name: value for name, value in known if value != "-"})
    return check(pd.DataFrame(rows, columns=claims.COLUMNS))


def claim_of(form: str, limit: str, printed: str, needs: str) -> dict[str, str]:
    """A claim, as a row of claims.csv gives it."""
    claim = {"form": form, "limit": limit, "printed": printed, "needs": needs}
    return {name: text.strip() for name, text in claim.items()} | {"unit": ""}


@pytest.mark.parametrize("case", CASES, ids=lambda case: "|".join(case))
def test_verdicts_are_those_worked_out_by_hand(case):
    *claim, result, verdict = case
    assert judge(claim_of(*claim), result_of(result)).verdict == verdict.strip()


def test_the_examples_have_every_form_and_every_verdict():
    assert {case[0].strip() for case in CASES} == set(claims.WORDS)
    of_forms = {word for pair in claims.WORDS.values() for word in pair}
    others = {*claims.CONSISTENT, claims.INCONCLUSIVE, claims.NOT_CHECKED}
    others |= {claims.LAST_DIGIT, claims.REPORTING_ERROR}
    assert {case[-1].strip() for case in CASES} == of_forms | others


def test_a_cause_parts_and_interpretations_are_said():
    number = claim_of("value", "", "200", "data")
    why = judge(number, result_of("100; sum of both,: 200")).why
    assert why == "200 is the sum of both"
    statement = claim_of("statement", "> 0", "", "data")
    why = judge(statement, result_of(",x: 2 1 3; ,y: 2 1 3; ,z: 0 -1 1")).why
    assert why == "2 of 3 pass, 0 fail, 1 inconclusive"
    why = judge(statement, result_of("all,: 2 1 3; some,: -2 -3 -1")).why
    assert why == "all: supported; some: contradicted"


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        (("number", "", "3", ""), "form is one of"),
        (("statement", "", "", ""), "cannot have the limit"),
        (("statement", "> zero", "", ""), "cannot have the limit"),
        (("absence", "within 3", "", ""), "cannot have the limit"),  # no place
        (("test", "> 0", "", ""), "cannot have the limit"),
        (("value", "", "about 3", ""), "needs a printed number"),
    ],
)
def test_a_claim_that_cannot_be_read_is_refused(claim, message):
    with pytest.raises(ClaimError, match=message):
        judge(claim_of(*claim), result_of("3"))


@pytest.mark.parametrize(
    ("form", "limit", "result", "missing"),
    [
        ("statement", "> 0", "3", "low"),
        ("rank", "", "0.5", "share"),
        ("test", "p < 0.05", "3", "p"),
        ("no effect", "", "1 0 2", "p"),
        ("fact", "> 3", "- - - 0.5", "estimate"),
        ("value", "", "cause,: 3", "without interpretation"),
        ("split", "", "3", "no low and high"),
    ],
)
def test_a_result_that_lacks_what_its_form_needs_is_refused(
    form, limit, result, missing
):
    with pytest.raises(ClaimError, match=missing):
        judge(claim_of(form, limit, "3", "data"), result_of(result))


# All claims


def test_every_claim_and_every_limit_can_be_read():
    listed = published.published_claims()
    assert listed.index.is_unique
    for claim_id, claim in listed.iterrows():
        try:
            claims.check_form(claim)
        except ClaimError as error:
            pytest.fail(f"{claim_id}: {error}")
    assert set(listed["study"]) <= set(studies.titles())


def test_committed_verdicts_follow_from_committed_results():
    saved = pd.read_csv(paths.RESULTS / "results.csv", dtype=dict.fromkeys("ab", str))
    results = check(saved.drop(columns="notebook")).assign(notebook=saved["notebook"])
    judged = claims.judge_all(results).set_index("id")["verdict"]
    committed = read_text(paths.RESULTS / "claims.csv").set_index("id")["verdict"]
    pd.testing.assert_series_equal(judged, committed)


@pytest.mark.parametrize(
    ("form", "printed", "result", "words"),
    [
        ("statement", "", "-16.9 -33.77 -0.0363", "−16.9 [−33.8, −0.04]"),
        ("statement", "", "0.93 0.7124 1.153", "0.930 [0.712, 1.153]"),
        ("value", "0.74", "- 0.5 0.61", "[0.500, 0.610]"),
        ("value", "7336", "6912", "6,912"),
        ("value", "0.74", "0.7863; cause,: 0.74", "0.786"),
        ("statement", "", "kept,: 2 1 3", "kept: 2 [1, 3]"),
        ("test", "", "0.25 - - 0.2", "0.250 p = 0.2"),
        ("rank", "", "- - - - 0.99", "99.0 % of resamples"),
        ("fact", "", "- - - - - 1", "yes"),
        (
            "fact",
            "",
            ",v: 6; ,w: 7; ,x: 8; ,y: 9; ,z: 1",
            "v: 6; w: 7; x: 8; y: 9; and",
        ),
        ("fact", "", "", ""),
    ],
)
def test_results_are_written_as_they_are_compared(form, printed, result, words):
    claim = claim_of(form, "", printed, "")
    assert claims.in_words(claim, result_of(result)).startswith(words)


def test_an_interpretation_that_no_result_has_is_refused(monkeypatch):
    claim = claim_of("statement", "> 0", "", "") | {"result": "a: other | kept"}
    listed = pd.DataFrame([claim], index=["a.slope"])
    monkeypatch.setattr(published, "published_claims", lambda: listed)
    saved = result_of("kept,: 2 1 3").assign(notebook="11")
    with pytest.raises(ClaimError, match=r"a\.slope: a has interpretations kept, not"):
        claims.judge_all(saved)


def test_a_claim_may_take_some_interpretations(monkeypatch):
    claim = claim_of("statement", "> 0", "", "") | {"result": "a: kept | whole"}
    listed = pd.DataFrame([claim], index=pd.Index(["a.slope"], name="id"))
    monkeypatch.setattr(published, "published_claims", lambda: listed)
    saved = result_of("kept,: 2 1 3; whole,: 3 2 4; left out,: -1 -2 1")
    judged = claims.judge_all(saved.assign(notebook="11"))
    assert judged.loc[0, ["verdict", "notebook"]].tolist() == ["supported", "11"]


def test_cells_of_a_table_are_judged_as_values():
    keys = pd.MultiIndex.from_tuples(
        [("refusal", "Falcon 40B"), *2 * [("quality_biased", "Falcon 40B")]],
        names=["measure", "system"],
    )
    found = {"estimate": [2.78, 3.79, 3.66], "interpretation": ["", "", "other score"]}
    cells = claims.judge_cells("hosking_table2", pd.DataFrame(found, keys))
    verdicts = cells.set_index("id")["verdict"].to_dict()
    assert verdicts == {
        "hosking.table2.falcon_40b.refusal": "reproduces",
        "hosking.table2.falcon_40b.quality_biased": "reporting error",
    }
    with pytest.raises(ClaimError, match="no cell Falcon 40B, nonsense"):
        claims.judge_cells(
            "hosking_table2",
            pd.DataFrame(found, keys).rename(index={"refusal": "nonsense"}),
        )


def test_a_run_on_simulated_data_checks_nothing(tmp_path):
    made = claims.tables(tmp_path, is_real=False)
    assert set(made["claims"]["verdict"]) == {"not checked"}
    assert all(made[name].empty for name in ("results", "tables", "authors_numbers"))


def test_real_data_give_tables_and_authors_numbers(real_data, tmp_path, monkeypatch):
    number = {"printed": "0.3", "ours": 1 / 3, "reproduces": True, "cause": ""}
    numbers = pd.DataFrame([number], index=pd.Index(["a"], name="id"))
    monkeypatch.setattr(hosking_notebooks, "recomputed", lambda: numbers)
    made = claims.tables(tmp_path, is_real=True)
    counts = made["results"].set_index("name")["estimate"]
    assert counts["hosking.authors.reproduce"] == "1"
    assert made["authors_numbers"]["ours"].tolist() == ["0.333333333333"]
    cells = made["tables"].set_index("id")
    assert cells.loc["hosking.table2.falcon_40b.refusal", "ours"] == "2.778 %"
    assert cells["table"].value_counts().to_dict() == {
        "hosking_table2": 60,
        "hosking_table3": 90,
        "hosking_table4": 45,
        "kamoda_figure1": 16,
    }
