"""Verdicts by hand-made claims, every refusal, and the files that notebooks leave behind."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from helpers.claims import (
    COLUMNS,
    VERDICTS,
    ClaimError,
    Ledger,
    merge,
    published_claims,
    verdict_counts,
    verdict_on_number,
)

CLAIMS = """\
claim_id,study,where,statement,published,unit,decimals,kind,testable,why_not
demo.rate.low,demo,§1,The low rate.,3.2,%,1,value,yes,
demo.rate.high,demo,§1,The high rate.,24,%,0,value,yes,
demo.counts.outputs,demo,§1,Outputs.,900,count,0,count,yes,
demo.split.rho,demo,§2,Correlation on a split.,0.853,Pearson r,3,split,yes,
demo.text.highest,demo,§2,A is the highest.,holds,,,statement,yes,
demo.text.order,demo,§2,A comes before B.,a > b,,,order,yes,
demo.cost.total,demo,App. A,Total cost.,5064,USD,0,value,no,payment records are not public
other.rate.only,other,§1,Another paper.,0.50,,2,value,yes,
"""
TABLE = """\
system,measure,published,unit,decimals
Model 1,refusal,2.50,%,2
Model 1,scope,0.00,%,2
Model 2,refusal,1.39,%,2
Model 2,scope,0.28,%,2
"""


@pytest.fixture(autouse=True)
def published_folder(tmp_path, monkeypatch):
    """Put hand-made claims in the place of the papers'."""
    folder = tmp_path / "published"
    folder.mkdir()
    (folder / "claims.csv").write_text(CLAIMS)
    (folder / "demo_table2.csv").write_text(TABLE)
    monkeypatch.setattr("helpers.paths.PUBLISHED", folder)


@pytest.fixture
def claims(tmp_path) -> Ledger:
    return Ledger("11_demo", source="real", out_dir=str(tmp_path / "run"))


def cells(values: dict) -> pd.Series:
    return pd.Series(values).rename_axis(["system", "measure"])


def written(tmp_path, notebook: str = "11_demo") -> pd.DataFrame:
    file = tmp_path / "run" / "claims" / f"{notebook}.csv"
    return pd.read_csv(file, dtype=str, keep_default_na=False).set_index("claim_id")


@pytest.mark.parametrize(
    ("published", "computed", "decimals", "verdict"),
    [
        (3.2, 3.2, 1, "reproduced"),
        (3.2, 3.249, 1, "reproduced"),
        (3.2, 3.25, 1, "reproduced"),
        (3.2, 3.15, 1, "reproduced"),
        (3.2, 3.25 + 2e-9, 1, "differs"),
        (3.2, 3.15 - 2e-9, 1, "differs"),
        (-0.05, -0.0549, 2, "reproduced"),
        (-0.05, 0.05, 2, "differs"),
        (24.0, 24.5, 0, "reproduced"),
        (24.0, 24.51, 0, "differs"),
    ],
)
def test_values_agree_within_half_a_unit_of_the_last_printed_digit(
    published, computed, decimals, verdict
):
    assert verdict_on_number("value", published, computed, decimals) == verdict


@pytest.mark.parametrize("decimals", [0, 1, 2, 3])
def test_a_value_agrees_with_what_it_rounds_to_and_with_no_other_number(decimals):
    rng = np.random.default_rng(7)
    unit = 10.0**-decimals
    for computed in rng.uniform(-50, 50, size=200):
        printed = round(computed, decimals)
        assert verdict_on_number("value", printed, computed, decimals) == "reproduced"
        for neighbour in (printed - unit, printed + unit):
            assert verdict_on_number("value", neighbour, computed, decimals) == "differs"


@pytest.mark.parametrize(
    ("computed", "verdict"), [(900, "reproduced"), (901, "differs"), (900.4, "differs")]
)
def test_counts_agree_only_if_equal(computed, verdict):
    assert verdict_on_number("count", 900, computed, 0) == verdict


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [
        ((0.8, 0.9), "within variability"),
        ((0.853, 0.9), "within variability"),
        ((0.86, 0.9), "differs"),
        ((0.80, 0.84), "differs"),
    ],
)
def test_split_results_are_judged_by_the_interval_alone(interval, verdict):
    assert verdict_on_number("split", 0.853, 0.853, 3, interval) == verdict


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [
        ((2.6, 2.9), "within variability"),
        ((3.49, 4.0), "within variability"),
        ((3.51, 4.0), "differs"),
        ((2.0, 2.49), "differs"),
    ],
)
def test_a_printed_split_result_stands_for_every_number_that_rounds_to_it(interval, verdict):
    assert verdict_on_number("split", 3.0, 2.0, 0, interval) == verdict


def test_true_statements_and_orders_are_reproduced_and_false_ones_differ(claims):
    assert claims.holds("demo.text.highest", True) == "reproduced"
    assert claims.holds("demo.text.order", np.False_, computed="b > a") == "differs"


def test_nothing_computed_on_simulated_data_gets_another_verdict(tmp_path):
    claims = Ledger("11_demo", source="simulated", out_dir=str(tmp_path / "run"))
    found = [
        claims.check("demo.rate.low", 3.2),
        claims.check("demo.rate.high", 99, note="why"),
        claims.check("demo.split.rho", 0.8, interval=(0.7, 0.9)),
        claims.holds("demo.text.highest", True),
        *claims.check_table("demo_table2", cells({("Model 1", "refusal"): 2.5})),
    ]
    assert set(found) == {"simulated"}
    claims.table()
    assert set(written(tmp_path)["verdict"]) == {"simulated"}
    assert set(written(tmp_path)["note"]) == {""}


def test_a_difference_without_a_reason_says_so(claims):
    claims.check("demo.rate.low", 3.3)
    claims.check("demo.counts.outputs", 901)
    claims.holds("demo.text.highest", False)
    assert claims.table()["note"].tolist() == [
        "computed 3.30, printed 3.2; no reason recorded",
        "computed 901, printed 900; no reason recorded",
        "does not hold; no reason recorded",
    ]


def test_a_reason_is_kept_only_where_there_is_a_difference(claims):
    claims.check("demo.rate.low", 3.3, note="other filter")
    claims.check("demo.rate.high", 24.2, note="other filter")
    claims.holds("demo.text.highest", True, note="other reading")
    assert claims.table()["note"].tolist() == ["other filter", "", ""]


def test_a_number_from_rounded_inputs_is_reproduced_if_their_rounding_allows_it(claims):
    assert claims.check("demo.rate.low", 3.6, (3.2, 4.0), attainable=True) == "reproduced"
    assert claims.check("demo.rate.high", 26.0, (25.1, 27.0), attainable=True) == "differs"
    assert claims.table()["computed"].tolist() == ["3.60", "26"]


def test_unknown_claims_are_refused_with_similar_names(claims):
    message = "demo.rate.lo is not a published claim; did you mean demo.rate.low, "
    with pytest.raises(ClaimError, match=re.escape(message)):
        claims.check("demo.rate.lo", 3.2)


def test_a_claim_cannot_be_entered_twice(claims):
    claims.check("demo.rate.low", 3.2)
    with pytest.raises(ClaimError, match=r"demo\.rate\.low was already entered in 11_demo\."):
        claims.check("demo.rate.low", 3.2)


@pytest.mark.parametrize("enter", ["check", "holds"])
def test_claims_that_are_not_testable_are_refused_with_the_reason(claims, enter):
    message = r"demo\.cost\.total is listed as not testable: payment records are not public\."
    with pytest.raises(ClaimError, match=message):
        getattr(claims, enter)("demo.cost.total", 5064)


@pytest.mark.parametrize("claim_id", ["demo.text.highest", "demo.text.order"])
def test_statements_and_orders_refuse_a_number(claims, claim_id):
    with pytest.raises(ClaimError, match=r"is of kind '\w+': enter it with holds\(\)\."):
        claims.check(claim_id, 0.3)


@pytest.mark.parametrize("claim_id", ["demo.rate.low", "demo.counts.outputs", "demo.split.rho"])
def test_numbers_refuse_a_truth_value_through_holds(claims, claim_id):
    with pytest.raises(ClaimError, match=r"is of kind '\w+': enter it with check\(\)\."):
        claims.holds(claim_id, True)


@pytest.mark.parametrize("value", [np.nan, np.inf, None, "3.2", True, pd.NA])
def test_only_finite_numbers_are_taken(claims, value):
    message = f"demo.rate.low needs a finite number, not {value!r}."
    with pytest.raises(ClaimError, match=re.escape(message)):
        claims.check("demo.rate.low", value)


@pytest.mark.parametrize("value", [3, np.float32(3.2), np.int64(3), np.float64(3.2)])
def test_numbers_of_any_library_are_taken(claims, value):
    assert claims.check("demo.rate.low", value) in {"reproduced", "differs"}


def test_only_truth_values_are_taken_for_statements(claims):
    with pytest.raises(ClaimError, match=r"demo\.text\.highest needs True or False, not 1\."):
        claims.holds("demo.text.highest", 1)


def test_reversed_intervals_are_refused(claims):
    message = r"demo\.rate\.low has a reversed interval: 3\.4 > 3\.1\."
    with pytest.raises(ClaimError, match=message):
        claims.check("demo.rate.low", 3.2, interval=(3.4, 3.1))


def test_intervals_with_an_open_end_are_refused(claims):
    message = r"demo\.rate\.low needs a finite interval, not \(3\.1, nan\)\."
    with pytest.raises(ClaimError, match=message):
        claims.check("demo.rate.low", 3.2, interval=(3.1, float("nan")))


def test_split_claims_need_an_interval(claims):
    message = r"demo\.split\.rho depends on a split: give the interval over redrawn ones\."
    with pytest.raises(ClaimError, match=message):
        claims.check("demo.split.rho", 0.853)


def test_a_refused_claim_leaves_no_trace(claims):
    with pytest.raises(ClaimError):
        claims.check("demo.rate.low", np.nan)
    assert claims.check("demo.rate.low", 3.2) == "reproduced"


def test_table_cells_are_claims(claims):
    values = cells({("Model 1", "refusal"): 2.504, ("Model 2", "scope"): 0.5})
    assert claims.check_table("demo_table2", values).to_dict() == {
        ("Model 1", "refusal"): "reproduced",
        ("Model 2", "scope"): "differs",
    }
    assert claims.table().index.tolist() == ["table2.model_1.refusal", "table2.model_2.scope"]


def test_the_order_of_index_levels_does_not_matter(claims):
    values = cells({("Model 1", "refusal"): 2.5, ("Model 2", "scope"): 0.5})
    verdicts_found = claims.check_table("demo_table2", values.swaplevel())
    assert verdicts_found["Model 1", "refusal"] == "reproduced"
    assert verdicts_found.index.names == ["system", "measure"]


def test_table_cells_take_intervals_and_notes(claims):
    values = cells({("Model 1", "refusal"): 2.5, ("Model 2", "scope"): 0.5})
    notes = {("Model 2", "scope"): "one rater more"}
    claims.check_table("demo_table2", values, values - 0.1, (values + 0.1)[::-1], notes)
    shown = claims.table()
    assert shown["interval"].tolist() == ["[2.400, 2.600]", "[0.400, 0.600]"]
    assert shown["note"].tolist() == ["", "one rater more"]


def test_table_cells_without_their_interval_are_refused(claims):
    values = cells({("Model 1", "refusal"): 2.5, ("Model 2", "scope"): 0.5})
    message = r"demo\.table2\.model_2\.scope needs a finite interval, not \(nan, 0\.6\)\."
    with pytest.raises(ClaimError, match=message):
        claims.check_table("demo_table2", values, (values - 0.1).iloc[:1], values + 0.1)


@pytest.mark.parametrize("end", ["low", "high"])
def test_a_table_with_one_end_of_the_intervals_is_refused(claims, end):
    values = cells({("Model 1", "refusal"): 2.5})
    with pytest.raises(ClaimError, match=r"demo_table2: give both low and high, or neither\."):
        claims.check_table("demo_table2", values, **{end: values})


def test_a_table_with_other_index_levels_is_refused(claims):
    values = cells({("Model 1", "refusal"): 2.5}).rename_axis(["model", "measure"])
    message = "demo_table2 needs the index levels ['system', 'measure'], not ['model', 'measure']."
    with pytest.raises(ClaimError, match=re.escape(message)):
        claims.check_table("demo_table2", values)


def test_a_cell_that_is_not_printed_is_refused_with_similar_names(claims):
    message = "demo.table2.model_1.refusals is not a published claim; did you mean demo.table2."
    with pytest.raises(ClaimError, match=re.escape(message)):
        claims.check_table("demo_table2", cells({("Model 1", "refusals"): 2.5}))


def test_the_written_file_holds_printed_and_computed_side_by_side(claims, tmp_path):
    claims.check("demo.rate.low", 10 / 3, interval=(3, 3.6666666))
    claims.check("demo.counts.outputs", 900)
    claims.holds("demo.text.order", True, computed="a 3.1 > b 2.0")
    claims.table()
    expected = """\
claim_id,study,where,statement,published,computed,low,high,verdict,note,notebook,source
demo.rate.low,demo,§1,The low rate.,3.2,3.33333,3,3.66667,differs,\
"computed 3.33, printed 3.2; no reason recorded",11_demo,real
demo.counts.outputs,demo,§1,Outputs.,900,900,,,reproduced,,11_demo,real
demo.text.order,demo,§2,A comes before B.,a > b,a 3.1 > b 2.0,,,reproduced,,11_demo,real
"""
    assert (tmp_path / "run/claims/11_demo.csv").read_text() == expected


def test_the_displayed_table_shows_one_digit_more_than_printed(claims):
    claims.check("demo.rate.low", 3.2499, interval=(-0.001, 3.5))
    claims.check("demo.rate.high", 23.96)
    claims.check("demo.counts.outputs", 900)
    claims.holds("demo.text.highest", True, computed="a 3.1, b 2.0")
    shown = claims.table()
    assert shown["computed"].tolist() == ["3.25", "24.0", "900", "a 3.1, b 2.0"]
    assert shown["interval"].tolist() == ["[0.00, 3.50]", "", "", ""]
    assert shown.index.tolist() == ["rate.low", "rate.high", "counts.outputs", "text.highest"]
    assert list(shown.columns) == [
        "statement",
        "published",
        "computed",
        "interval",
        "verdict",
        "note",
    ]


def test_evidence_that_is_a_number_is_shown_as_it_is(claims):
    claims.holds("demo.text.highest", True, computed=0.25)
    assert claims.table()["computed"].tolist() == ["0.25"]


def test_reproduced_table_cells_are_counted_and_not_listed(claims):
    values = cells({("Model 1", "refusal"): 2.5, ("Model 2", "scope"): 0.9})
    claims.check_table("demo_table2", values)
    claims.check("demo.rate.low", 3.2)
    shown = claims.show()
    assert shown.frame.index.tolist() == ["table2.model_2.scope", "rate.low"]
    assert shown.caption == (
        "Claims checked here, source: real. "
        "reproduced: 2, differs: 1 (1 of them table cells, not listed)"
    )


def test_a_notebook_without_claims_writes_an_empty_list(claims, tmp_path):
    assert claims.table().empty
    assert written(tmp_path).empty


def test_a_failed_write_leaves_the_old_file(claims, tmp_path, monkeypatch):
    claims.check("demo.rate.low", 3.2)
    claims.table()
    before = written(tmp_path)

    def fail(path, content):
        path.write_text("half a fi")
        raise OSError("disk full")

    monkeypatch.setattr(Path, "write_bytes", fail)
    claims.check("demo.rate.high", 24)
    with pytest.raises(OSError, match="disk full"):
        claims.table()
    pd.testing.assert_frame_equal(written(tmp_path), before)


def test_merging_lists_every_claim_with_its_verdict(claims, tmp_path):
    claims.check("demo.rate.low", 3.2)
    claims.table()
    other = Ledger("12_demo", source="simulated", out_dir=str(tmp_path / "run"))
    other.holds("demo.text.order", True)
    other.table()
    merged = merge(tmp_path / "run" / "claims")
    assert merged.columns.tolist() == list(COLUMNS)
    assert merged["claim_id"].tolist() == published_claims().index.tolist()
    found = merged.set_index("claim_id")
    assert found.loc["demo.rate.low", "verdict"] == "reproduced"
    assert found.loc["demo.text.order", ["verdict", "notebook"]].tolist() == [
        "simulated",
        "12_demo",
    ]
    assert found.loc["demo.rate.high", "verdict"] == "not run"
    assert found.loc["demo.table2.model_1.scope", "verdict"] == "not run"
    not_testable = found.loc["demo.cost.total", ["verdict", "note"]].tolist()
    assert not_testable == ["not testable", "payment records are not public"]
    assert set(merged["verdict"]) <= set(VERDICTS)


def test_merging_nothing_leaves_every_testable_claim_not_run(tmp_path):
    merged = merge(tmp_path)
    assert merged["verdict"].value_counts().to_dict() == {"not run": 11, "not testable": 1}


def test_a_claim_of_two_notebooks_is_refused(tmp_path):
    for notebook in ("11_demo", "12_demo"):
        again = Ledger(notebook, source="real", out_dir=str(tmp_path / "run"))
        again.check("demo.rate.low", 3.2)
        again.table()
    message = r"demo\.rate\.low was entered by 11_demo and 12_demo\."
    with pytest.raises(ClaimError, match=message):
        merge(tmp_path / "run" / "claims")


def test_a_file_with_a_claim_that_is_no_longer_published_is_refused(claims, tmp_path):
    claims.check("demo.rate.low", 3.2)
    claims.table()
    file = tmp_path / "published" / "claims.csv"
    file.write_text(CLAIMS.replace("demo.rate.low", "demo.rate.lowest"))
    message = "11_demo: demo.rate.low is not a published claim; did you mean demo.rate.lowest"
    with pytest.raises(ClaimError, match=re.escape(message)):
        merge(tmp_path / "run" / "claims")


def test_merging_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ClaimError, match=r"There is no folder .*nowhere: run the notebooks first"):
        merge(tmp_path / "nowhere")


def test_the_summary_counts_each_claim_once(claims, tmp_path):
    claims.check("demo.rate.low", 3.2)
    claims.check("demo.rate.high", 99)
    claims.table()
    merged = merge(tmp_path / "run" / "claims")
    counts = verdict_counts(merged)
    assert counts.columns.tolist() == list(VERDICTS)
    assert counts.loc["demo"].tolist() == [1, 0, 1, 1, 0, 8]
    assert counts.loc["other"].tolist() == [0, 0, 0, 0, 0, 1]
    assert counts.to_numpy().sum() == len(merged)
