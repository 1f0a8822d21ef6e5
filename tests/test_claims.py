"""Claims: what is transcribed from the papers, verdicts on it, files that notebooks leave."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from helpers import claims, paths
from helpers.claims import ClaimError, Ledger

QUALITY = ["quality_biased", "quality_unbiased"]
# Scores of wording that AI alone does not have; p-values that are printed as bounds; sub-tests that
# were not given with every prompt; agreement of one model with itself.
LEFT_OUT = {
    "chatbench_table1": 8,
    "chatbench_tablea1": 24,
    "chatbench_tablea2": 21,
    "humbel_table3": 6,
    "humbel_table4": 1,
}
EXPERT_OUTPUTS = {"baseline": 59, "complex_low": 60, "complex_high": 59}
EXPERT_OUTPUTS |= {"assertive_low": 48, "assertive_high": 57}
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


@pytest.fixture(scope="module")
def papers() -> pd.DataFrame:
    """What the papers print."""
    return claims.published_claims()


@pytest.fixture
def demo(tmp_path, monkeypatch) -> Path:
    """Put hand-made claims in the place of the papers'; folder of a run."""
    folder = tmp_path / "published"
    folder.mkdir()
    (folder / "claims.csv").write_text(CLAIMS)
    (folder / "demo_table2.csv").write_text(TABLE)
    monkeypatch.setattr("helpers.paths.PUBLISHED", folder)
    return tmp_path / "run"


@pytest.fixture
def ledger(demo) -> Ledger:
    return Ledger("11_demo", source="real", out_dir=str(demo))


def printed(table: str) -> pd.Series:
    """Numbers of a printed table by their keys."""
    return claims.printed_table(table)["published"].astype(float)


def number(papers: pd.DataFrame, claim_id: str) -> float:
    return float(papers.loc[claim_id, "published"])


def cells(values: dict) -> pd.Series:
    return pd.Series(values).rename_axis(["system", "measure"])


def written(out_dir: Path, notebook: str = "11_demo") -> pd.DataFrame:
    return claims.read_text(out_dir / "claims" / f"{notebook}.csv").set_index("claim_id")


def test_every_claim_has_an_id_a_place_and_one_short_sentence_of_its_own(papers):
    assert papers.index.is_unique
    assert papers.index.str.fullmatch(r"[a-z]+(\.[a-z0-9_]+){2,}").all()
    assert (papers.index.str.partition(".").get_level_values(0) == papers["study"]).all()
    place = r"(Abstract|Limitations|(§|Table |Figure |App\. )\w+.*)"
    assert papers["where"].str.split("; ").explode().str.fullmatch(place).all()
    assert papers["statement"].str.len().max() <= 160
    assert papers["statement"].str.fullmatch(r"[A-Z0-9].+[^.]\.").all()
    assert not papers.duplicated(["study", "statement"]).any()


def test_exactly_the_claims_that_cannot_be_tested_say_why_not(papers):
    assert set(papers["testable"]) == {"yes", "no"}
    assert ((papers["testable"] == "no") == (papers["why_not"] != "")).all()
    lost = papers[papers["published"] == ""]
    assert lost["why_not"].str.contains("not in the text available to us").all()


def test_what_is_published_fits_the_kind_of_claim(papers):
    parts = dict(list(papers[papers["published"] != ""].groupby("kind")))
    assert set(parts) == {"value", "count", "split", "statement", "order"}
    numbers = pd.concat([parts[kind] for kind in ("value", "count", "split")])
    assert numbers["published"].str.fullmatch(r"-?\d+(\.\d+)?").all()
    printed_decimals = numbers["published"].str.partition(".")[2].str.len()
    assert (printed_decimals == numbers["decimals"].astype(int)).all()
    assert parts["count"]["published"].str.fullmatch(r"\d+").all()
    assert (parts["statement"]["published"] == "holds").all()
    assert parts["order"]["published"].str.fullmatch(r"\w+( > \w+)+").all()
    assert set(parts["statement"]["decimals"]) | set(parts["order"]["decimals"]) == {""}


def test_printed_tables_have_each_cell_once():
    for table in claims.table_names():
        cells = printed(table).index
        assert cells.is_unique
        assert len(cells) == np.prod(cells.levshape) - LEFT_OUT.get(table, 0)


@pytest.mark.parametrize(("table", "outputs"), [("hosking_table2", 180), ("hosking_table4", 300)])
def test_error_rates_by_system_are_whole_or_half_outputs(table, outputs):
    rates = printed(table).drop(index=QUALITY, level="measure")
    halves = (2 * outputs * rates / 100).round()
    assert ((halves * 100 / outputs / 2 - rates).abs() <= 0.005 + 1e-9).all()


def test_expert_rates_are_whole_outputs_except_two_that_look_rounded_twice():
    rates = printed("hosking_table3").xs("expert", level="annotators")
    outputs = rates.index.get_level_values("arm").map(EXPERT_OUTPUTS).to_numpy()
    exact = (rates * outputs / 100).round() * 100 / outputs
    unlike = (exact - rates).abs() > 0.05
    assert set(rates.index[unlike]) == {
        ("baseline", "inconsistency"),
        ("complex_high", "repetition"),
    }
    assert set(rates[unlike]) == {15.2}
    assert exact[unlike].round(3).unique().tolist() == [15.254]


def test_differences_are_crowd_minus_expert_up_to_rounding():
    rates = printed("hosking_table3")
    crowd, expert, difference = (
        rates.xs(name, level="annotators") for name in ("crowd", "expert", "difference")
    )
    gap = crowd - expert - difference
    assert gap.abs().max() < 0.1 + 1e-9
    assert (gap.abs() > 0.05).sum() == 11


def test_example_ratings_are_means_of_three():
    ratings = printed("kamoda_figure1")
    assert (((3 * ratings).round() / 3 - ratings).abs() <= 0.05).all()


def test_parts_add_up_to_their_wholes(papers):
    evaluators = "kamoda.evaluators.llama2_"
    for unit in ("questions", "answers"):
        parts = [number(papers, f"{evaluators}{use}{unit}") for use in ("", "training_")]
        assert sum(parts) == number(papers, f"kamoda.counts.{unit}")
    batches = number(papers, "chatbench.counts.math_batches")
    for dataset, size in {"elementary_math": 5, "high_school_math": 5, "college_math": 2}.items():
        assert number(papers, f"chatbench.counts.{dataset}") == batches * size


def test_copies_of_a_printed_accuracy_agree():
    for table in ("chatbench_tablea1", "chatbench_tablea2"):
        cells = printed(table).unstack("measure")
        alone = cells.groupby(level=["dataset", "alone"])[["mean_alone", "se_alone"]]
        user_ai = cells.groupby(level=["dataset", "condition"])[["mean_user_ai", "se_user_ai"]]
        pd.testing.assert_frame_equal(alone.min(), alone.max())
        pd.testing.assert_frame_equal(user_ai.min(), user_ai.max())


def test_the_printed_share_that_knows_and_agrees_needs_twice_the_printed_sample(papers):
    disagree = printed("humbel_table4").loc["annotators", "disagreement"] / 100
    half_width = {n: np.sqrt(np.log(2 / 0.05) / (2 * n)) for n in (108, 216)}  # Hoeffding (1963)
    share = {n: round(50 * (1 - disagree - width)) for n, width in half_width.items()}
    assert number(papers, "humbel.word_classes.sample") == 108
    assert share == {108: 36, 216: number(papers, "humbel.expected.knows_and_agrees")}


def test_numbers_printed_in_the_text_are_not_those_of_the_tables(papers):
    correlations = printed("chatbench_table1").xs("correlation", level="measure")
    assert correlations.max() == 0.65
    assert number(papers, "chatbench.simulator.best_correlation") == 0.63
    scores = printed("humbel_table3").unstack("administration")
    gains = (scores["Chat"] - scores["QA"]).filter(like="pragmatics")
    assert gains.tolist() == [6, 12]
    assert number(papers, "humbel.chat.gain_pragmatics") == gains.mean()
    rates = printed("hosking_table2").drop(QUALITY, level="measure")
    rarest = rates.groupby(level="measure").mean().nsmallest(4).round(2)
    assert rarest.to_dict() == {
        "harmful": 0.28,
        "scope": 0.67,
        "fluency": 1.11,
        "contradiction": 1.56,
    }
    weight = "kamoda.regression.weight_"
    ratio = number(papers, f"{weight}factuality") / number(papers, f"{weight}amount_info")
    assert round(ratio) == number(papers, "kamoda.regression.ratio_in_results")
    assert round(ratio, 1) != number(papers, "kamoda.regression.ratio_in_conclusion")


def test_the_readme_states_the_number_of_rows_of_each_file():
    readme = (paths.PUBLISHED / "README.md").read_text()
    for file in sorted(paths.PUBLISHED.glob("*.csv")):
        row = next(line for line in readme.splitlines() if line.startswith(f"| `{file.name}`"))
        assert row.split("|")[-2].strip() == str(len(claims.read_text(file)))


@pytest.mark.parametrize(
    ("kind", "published", "decimals", "inside", "outside"),
    [
        ("value", 3.2, 1, 3.25, 3.25 + 2e-9),
        ("value", 3.2, 1, 3.15, 3.15 - 2e-9),
        ("value", -0.05, 2, -0.0549, 0.05),
        ("count", 900, 0, 900, 900.4),
    ],
)
def test_values_agree_within_half_a_unit_of_the_last_printed_digit_and_counts_if_equal(
    kind, published, decimals, inside, outside
):
    verdicts = [
        claims.verdict_on_number(kind, published, computed, decimals)
        for computed in (inside, outside)
    ]
    assert verdicts == ["reproduced", "differs"]


@pytest.mark.parametrize(
    ("interval", "inside"),
    [((2.6, 2.9), True), ((3.49, 4.0), True), ((3.51, 4.0), False), ((2.0, 2.49), False)],
)
def test_an_interval_holds_every_number_that_rounds_to_the_printed_one(interval, inside):
    split = claims.verdict_on_number("split", 3.0, 2.0, 0, interval)
    attainable = claims.verdict_on_number("attainable", 3.0, 2.0, 0, interval)
    assert split == ("within variability" if inside else "differs")
    assert attainable == ("reproduced" if inside else "differs")


def test_nothing_computed_on_simulated_data_gets_another_verdict(demo):
    ledger = Ledger("11_demo", source="simulated", out_dir=str(demo))
    found = [
        ledger.check("demo.rate.low", 3.2),
        ledger.check("demo.rate.high", 99, note="why"),
        ledger.check("demo.split.rho", 0.8, interval=(0.7, 0.9)),
        ledger.holds("demo.text.highest", True),
        *ledger.check_table("demo_table2", cells({("Model 1", "refusal"): 2.5})),
    ]
    ledger.table()
    assert set(found) == set(written(demo)["verdict"]) == {"simulated"}
    assert set(written(demo)["note"]) == {""}


def test_a_difference_has_a_note_that_gives_the_reason_or_says_that_there_is_none(ledger):
    ledger.check("demo.counts.outputs", 901)
    ledger.check("demo.split.rho", 0.8, (0.7, 0.8), note="other split")
    assert ledger.holds("demo.text.highest", np.False_) == "differs"
    assert ledger.check("demo.rate.high", 24.2, note="other filter") == "reproduced"
    assert ledger.table()["note"].tolist() == [
        "computed 901, printed 900; no reason recorded",
        "other split",
        "does not hold; no reason recorded",
        "",
    ]


@pytest.mark.parametrize(
    ("claim_id", "value", "interval", "message"),
    [
        ("demo.rate.lo", 3, None, "is not a published claim; did you mean demo.rate."),
        ("zzz", 3, None, "is not a published claim; see data/published/claims.csv."),
        ("demo.counts.outputs", 9, None, "was already entered in 11_demo."),
        ("demo.cost.total", 5, None, "is listed as not testable: payment records are not public."),
        ("demo.text.order", 3, None, "is of kind 'order': enter it with holds()."),
        ("demo.rate.low", 3, (3.4, 3.1), "has a reversed interval: 3.4 > 3.1."),
        ("demo.split.rho", 3, None, "depends on a split: give the interval over redrawn ones."),
        *[
            ("demo.rate.low", value, None, f"needs a finite number, not {value!r}.")
            for value in (np.nan, np.inf, None, "3.2", True, pd.NA)
        ],
    ],
)
def test_a_number_that_cannot_be_judged_is_refused_and_leaves_no_trace(
    ledger, claim_id, value, interval, message
):
    ledger.check("demo.counts.outputs", np.int64(900))
    with pytest.raises(ClaimError, match=re.escape(f"{claim_id} {message}")):
        ledger.check(claim_id, value, interval)
    assert ledger.table().index.tolist() == ["counts.outputs"]


def test_a_statement_is_entered_with_a_truth_value(ledger):
    with pytest.raises(ClaimError, match=r"rate\.low is of kind 'value': enter it with check\(\)"):
        ledger.holds("demo.rate.low", True)
    with pytest.raises(ClaimError, match=r"text\.highest needs True or False, not 1\."):
        ledger.holds("demo.text.highest", 1)


def test_table_cells_are_claims_with_intervals_and_notes_whatever_the_order_of_levels(ledger):
    values = cells({("Model 1", "refusal"): 2.504, ("Model 2", "scope"): 0.5}).swaplevel()
    notes = {("Model 2", "scope"): "one rater more"}
    found = ledger.check_table("demo_table2", values, values - 0.1, (values + 0.1)[::-1], notes)
    assert found.to_dict() == {
        ("Model 1", "refusal"): "reproduced",
        ("Model 2", "scope"): "differs",
    }
    shown = ledger.table()
    assert shown.index.tolist() == ["table2.model_1.refusal", "table2.model_2.scope"]
    assert shown["interval"].tolist() == ["[2.404, 2.604]", "[0.400, 0.600]"]
    assert shown["note"].tolist() == ["", "one rater more"]


@pytest.mark.parametrize(
    ("name", "cell", "ends", "message"),
    [
        ("set", "refusal", {}, "demo_table2 needs the index levels ['system', 'measure'], not "),
        ("measure", "scope", {"low": 0}, "demo_table2: give both low and high, or neither."),
        ("measure", "scope", {"low": np.nan, "high": 6}, "needs a finite interval, not (nan, 6.0)"),
    ],
)
def test_cells_that_do_not_fit_the_printed_table_are_refused(ledger, name, cell, ends, message):
    values = cells({("Model 1", cell): 0.5}).rename_axis(["system", name])
    given = {name: values * 0 + end for name, end in ends.items()}
    with pytest.raises(ClaimError, match=re.escape(message)):
        ledger.check_table("demo_table2", values, **given)
    with pytest.raises(ClaimError, match=r"There is no table 'x' in .*lished, only demo_table2\."):
        ledger.check_table("x", values)


def test_the_written_file_holds_printed_and_computed_side_by_side(ledger, demo):
    ledger.check("demo.rate.low", 10 / 3, interval=(3, 3.6666666))
    ledger.check("demo.counts.outputs", 900)
    ledger.holds("demo.text.order", True, computed="a 3.1 > b 2.0")
    ledger.table()
    expected = """\
claim_id,study,where,statement,published,computed,low,high,verdict,note,notebook,source
demo.rate.low,demo,§1,The low rate.,3.2,3.33333,3,3.66667,differs,\
"computed 3.33, printed 3.2; no reason recorded",11_demo,real
demo.counts.outputs,demo,§1,Outputs.,900,900,,,reproduced,,11_demo,real
demo.text.order,demo,§2,A comes before B.,a > b,a 3.1 > b 2.0,,,reproduced,,11_demo,real
"""
    assert (demo / "claims/11_demo.csv").read_text() == expected


def test_reproduced_table_cells_are_counted_and_not_listed(ledger):
    values = cells({("Model 1", "refusal"): 2.5, ("Model 2", "scope"): 0.9})
    ledger.check_table("demo_table2", values)
    ledger.check("demo.rate.low", 3.2)
    shown = ledger.show()
    assert shown.frame.index.tolist() == ["table2.model_2.scope", "rate.low"]
    assert shown.caption == (
        "Claims checked here, source: real. "
        "reproduced: 2, differs: 1 (1 of them table cells, not listed)"
    )


def test_a_failed_write_leaves_the_old_file(ledger, demo, monkeypatch):
    def fail(path, content):
        path.write_text("half a fi")
        raise OSError("disk full")

    ledger.table()
    before = (demo / "claims/11_demo.csv").read_bytes()
    monkeypatch.setattr(Path, "write_bytes", fail)
    ledger.check("demo.rate.high", 24)
    with pytest.raises(OSError, match="disk full"):
        ledger.table()
    assert (demo / "claims/11_demo.csv").read_bytes() == before


def test_merging_lists_every_claim_with_its_verdict_and_the_summary_counts_them(ledger, demo):
    ledger.check("demo.rate.low", 3.2)
    ledger.table()
    other = Ledger("12_demo", source="simulated", out_dir=str(demo))
    other.holds("demo.text.order", True)
    other.table()
    merged = claims.merge(demo / "claims")
    assert merged.columns.tolist() == list(claims.COLUMNS)
    assert merged["claim_id"].tolist() == claims.published_claims().index.tolist()
    found = merged.set_index("claim_id")
    found = (found["verdict"] + "; " + found["notebook"] + "; " + found["note"]).to_dict()
    assert found["demo.rate.low"] == "reproduced; 11_demo; "
    assert found["demo.text.order"] == "simulated; 12_demo; "
    assert found["demo.table2.model_1.scope"] == "not run; ; "
    assert found["demo.cost.total"] == "not testable; ; payment records are not public"
    counts = claims.verdict_counts(merged)
    assert counts.to_numpy().tolist() == [[1, 0, 0, 1, 1, 8], [0, 0, 0, 0, 0, 1]]


def test_files_that_cannot_be_merged_are_refused(demo):
    with pytest.raises(ClaimError, match=r"There is no folder .*claims: run the notebooks first"):
        claims.merge(demo / "claims")
    for notebook in ("11_demo", "12_demo"):
        ledger = Ledger(notebook, source="real", out_dir=str(demo))
        ledger.check("demo.rate.low", 3.2)
        ledger.table()
    with pytest.raises(ClaimError, match=r"demo\.rate\.low was entered by 11_demo and 12_demo\."):
        claims.merge(demo / "claims")
    (demo / "claims/12_demo.csv").unlink()
    file = paths.PUBLISHED / "claims.csv"
    file.write_text(CLAIMS.replace("demo.rate.low", "demo.rate.lowest"))
    message = "11_demo: demo.rate.low is not a published claim; did you mean demo.rate.lowest"
    with pytest.raises(ClaimError, match=re.escape(message)):
        claims.merge(demo / "claims")
