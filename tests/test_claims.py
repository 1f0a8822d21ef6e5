"""Claims: what the papers print, verdicts on it, files that notebooks leave."""

import re
from pathlib import Path
from types import SimpleNamespace

import nbformat
import numpy as np
import pandas as pd
import pytest

from helpers import paths
from helpers.claims import collection, verdicts
from helpers.claims.ledger import Ledger
from helpers.data import published, registry, studies
from helpers.data.published import ClaimError
from helpers.data.tables import PlainError

QUALITY = ["quality_biased", "quality_unbiased"]
# Scores of wording that AI alone does not have; p-values that are printed as bounds;
# sub-tests that were not given with every prompt; agreement of one model with itself.
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
claim_id,study,where,statement,published,unit,decimals,kind,direction,margin,\
margin_place,family,needs,readings,elsewhere,headline,cause
demo.rate.low,demo,§1,The low rate.,3.2,%,1,number,,,,,demo,,,,
demo.rate.gain,demo,§1,The gain.,22,%,0,number,,,,,print,,,,
demo.counts.outputs,demo,§1,Outputs.,900,count,0,fact,,,,,demo,,demo.counts.again,,\
counting
demo.counts.again,demo,App. A,Outputs again.,901,count,0,fact,,,,,demo,,,,counting
demo.rate.below,demo,§1,The rate is below one.,holds,,,fact,< 1,,,,demo,,,,
demo.split.rho,demo,§2,Correlation on a split.,0.853,Pearson r,3,split,,,,,demo,,,,
demo.text.higher,demo,§2,A is higher than B.,holds,,,direction,+,,,demo 2,demo,,,,
demo.text.lower,demo,§2,C is lower than B.,holds,"points, C minus B",,direction,-,,,\
demo 2,demo,,,,
demo.text.highest,demo,§2,A is the highest.,holds,,,ranking,,,,,demo,,,,
demo.text.flat,demo,§2,D makes no difference.,holds,,,significance,no,,,,demo,,,,
demo.text.small,demo,§2,D makes hardly a difference.,holds,,,no effect,,0.5,\
§1: a drop of 0.5,,substitute,,,,
demo.text.unclear,demo,§2,Pay is high.,holds,,,fact,> 13,,,,demo,\
with breaks|without,,,
demo.text.more,demo,§2,More do so.,holds,,,direction,+,,,demo 2,demo,\
of people|of answers,,,
demo.method.exact,demo,§2,The test is exact.,holds,,,fact,,,,,method,,,,
demo.cost.total,demo,App. A,Total cost.,5064,USD,0,number,,,,,\
not public: payment records,,,,
other.rate.only,other,§1,Another paper.,0.50,,2,number,,,,,chatbench/questions.csv,,,,
"""
HEADLINES = """\
headline,notebook,short,sentence,alternatives,sure
cost,11_demo,Refusals cost {refusal:1}.,\
A refusal costs {refusal:1} points ({tests:0} tests).,\
"In {share:0} % of ways.
By experts {expert:1}.",
other,12_demo,,Nothing yet.,,holds
"""
CAUSES = """\
cause,study,explanation,touches
counting,demo,Some outputs were counted twice.,number
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
    return published.published_claims()


@pytest.fixture
def demo(tmp_path, monkeypatch) -> Path:
    """Put hand-made claims in the place of the papers'; folder of a run."""
    folder = tmp_path / "published"
    folder.mkdir()
    (folder / "claims.csv").write_text(CLAIMS)
    (folder / "demo_table2.csv").write_text(TABLE)
    (folder / "headlines.csv").write_text(HEADLINES)
    (folder / "causes.csv").write_text(CAUSES)
    monkeypatch.setattr(paths, "PUBLISHED", folder)
    both = {"demo": "A demonstration", "other": "Another paper"}
    monkeypatch.setattr(studies, "titles", lambda: both)
    return tmp_path / "run"


@pytest.fixture
def ledger(demo) -> Ledger:
    return Ledger("11_demo", source="real", out_dir=str(demo))


def printed(table: str) -> pd.Series:
    """Numbers of a printed table by their keys."""
    return published.printed_table(table)["published"].astype(float)


def number(papers: pd.DataFrame, claim_id: str) -> float:
    return float(papers.loc[claim_id, "published"])


def cells(values: dict) -> pd.Series:
    return pd.Series(values).rename_axis(["system", "measure"])


def test_every_claim_has_an_id_a_place_and_one_short_sentence_of_its_own(papers):
    assert papers.index.is_unique
    assert papers.index.str.fullmatch(r"[a-z]+(\.[a-z0-9_]+){2,}").all()
    assert (
        papers.index.str.partition(".").get_level_values(0) == papers["study"]
    ).all()
    place = r"(Abstract|Limitations|(§|Table |Figure |App\. )\w+.*)"
    assert papers["where"].str.split("; ").explode().str.fullmatch(place).all()
    assert papers["statement"].str.len().max() <= 160
    assert papers["statement"].str.fullmatch(r"[A-Z0-9].+[^.]\.").all()
    assert not papers.duplicated(["study", "statement"]).any()


def test_every_claim_says_what_it_needs_and_what_is_missing_says_whether_it_is_public(
    papers,
):
    names = "|".join(studies.titles())
    # "atlas" holds data of other papers
    raw = papers["needs"].str.fullmatch(rf"(({names}|atlas)(/[\w./]+)?( |$))+")
    missing = papers["needs"].str.fullmatch(r"(not public|public|illegible): \S.+")
    other = papers["needs"].isin(["print", "authors", "substitute", "method"])
    assert (raw | missing | other).all()
    lost = papers[papers["published"] == ""]
    assert lost["needs"].str.contains("not in the text available to us").all()


def test_how_a_claim_is_judged_fits_its_kind(papers):
    kinds = dict(list(papers[papers["published"] != ""].groupby("kind")))
    assert set(kinds) <= set(verdicts.NEEDED)
    numbers = pd.concat([kinds["number"], kinds["split"]])
    assert numbers["published"].str.fullmatch(r"-?\d+(\.\d+)?").all()
    printed_decimals = numbers["published"].str.partition(".")[2].str.len()
    assert (printed_decimals == numbers["decimals"].astype(int)).all()
    assert set(kinds["direction"]["direction"]) == {"+", "-"}
    assert set(kinds["significance"]["direction"]) <= {"yes", "no", "yes +", "yes -"}
    threshold = r"((<|<=|>|>=) -?[\d.]+|between -?[\d.]+ -?[\d.]+)?"
    assert kinds["fact"]["direction"].str.fullmatch(threshold).all()
    tests = pd.concat([kinds["direction"], kinds["significance"]])
    assert (tests["family"] != "").all()
    elsewhere = papers["elsewhere"][papers["elsewhere"] != ""]
    assert set(elsewhere) <= set(papers.index)


def test_printed_tables_have_each_cell_once():
    for table in published.table_names():
        cells = printed(table).index
        assert cells.is_unique
        assert len(cells) == np.prod(cells.levshape) - LEFT_OUT.get(table, 0)


@pytest.mark.parametrize(
    ("table", "outputs"), [("hosking_table2", 180), ("hosking_table4", 300)]
)
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
        parts = [
            number(papers, f"{evaluators}{use}{unit}") for use in ("", "training_")
        ]
        assert sum(parts) == number(papers, f"kamoda.counts.{unit}")
    batches = number(papers, "chatbench.counts.math_batches")
    for dataset, size in {
        "elementary_math": 5,
        "high_school_math": 5,
        "college_math": 2,
    }.items():
        assert number(papers, f"chatbench.counts.{dataset}") == batches * size


def test_copies_of_a_printed_accuracy_agree():
    for table in ("chatbench_tablea1", "chatbench_tablea2"):
        cells = printed(table).unstack("measure")
        alone = cells.groupby(level=["dataset", "alone"])[["mean_alone", "se_alone"]]
        user_ai = cells.groupby(level=["dataset", "condition"])[
            ["mean_user_ai", "se_user_ai"]
        ]
        pd.testing.assert_frame_equal(alone.min(), alone.max())
        pd.testing.assert_frame_equal(user_ai.min(), user_ai.max())


def test_the_printed_share_that_knows_and_agrees_needs_twice_the_printed_sample(papers):
    disagree = printed("humbel_table4").loc["annotators", "disagreement"] / 100
    # Hoeffding (1963)
    half_width = {n: np.sqrt(np.log(2 / 0.05) / (2 * n)) for n in (108, 216)}
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
    ratio = number(papers, f"{weight}factuality") / number(
        papers, f"{weight}amount_info"
    )
    assert round(ratio) == number(papers, "kamoda.regression.ratio_in_results")
    assert round(ratio, 1) != number(papers, "kamoda.regression.ratio_in_conclusion")


RULES = pd.read_csv(
    Path(__file__).with_name("claims_by_hand.csv"), keep_default_na=False, dtype=str
)


@pytest.mark.parametrize("claim_id", RULES["claim"].unique())
def test_the_rules_say_what_a_reader_says_by_hand_of_varied_claims(claim_id):
    rows = RULES[RULES["claim"] == claim_id]
    fixed = ["kind", "direction", "margin", "needs", "published", "decimals"]
    empty = dict.fromkeys(["family", "readings", "elsewhere", "headline", "cause"], "")
    claim = rows[fixed].iloc[[0]].assign(**empty).set_axis([claim_id])
    claim = claim.assign(margin_place=claim["margin"])  # those that have one have both
    numbers = (
        rows.reindex(columns=list(verdicts.NUMBERS)).replace("", np.nan).astype(float)
    )
    entered = numbers.assign(
        claim_id=claim_id, part=rows["part"], holds=np.nan, reading=""
    )
    entered = entered.assign(shown="", notebook="by hand", source="real")
    judged = verdicts.assess(entered, claim).iloc[0]
    verdict = judged["verdict"]
    if judged["after_correction"] == verdicts.CORRECTED_AWAY:
        verdict += ", not after correction"
    assert rows["by_hand"].unique().tolist() == [verdict]


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (21.8, 22.2, "consistent"),
        (17, 27, "open"),
        (22.6, 23, "contradicted"),
        (18, 22, "open"),
    ],
)
def test_a_number_from_rounded_numbers_confirms_only_if_an_error_would_be_noticed(
    ledger, low, high, verdict
):
    ledger.enter("demo.rate", {"gain": {"low": low, "high": high}})
    judged = ledger.write().loc["demo.rate.gain"]
    assert judged[["evidence", "verdict"]].tolist() == ["print", verdict]
    reach = max(high - 22, 22 - low) + 0.5
    if verdict == "contradicted":
        assert np.isnan(judged["detects"])
    else:
        assert judged["detects"] == pytest.approx(reach / 22)


def test_square_brackets_hold_intervals_and_no_range_of_rounded_numbers(ledger):
    ledger.enter("demo.rate", {"gain": {"estimate": 22.0, "low": 21.8, "high": 22.2}})
    computed = ledger.write().loc["demo.rate.gain", "computed"]
    assert computed.split("; ")[1].startswith("rounding allows 21.8")
    assert "[" not in computed


@pytest.mark.parametrize(
    ("estimate", "low", "high", "computed"),
    [
        (0.016, -0.00486, 0.0365, "0.016 [-0.005, 0.036]"),
        (0.5, 0.00004, 0.9, "0.50000 [0.00004, 0.90000]"),
        (0.3, 0, 0.6, "0.30 [0.00, 0.60]"),
        (0.3, 1e-17, 0.6, "0.30 [0.00, 0.60]"),
        (0.3, 0.0000001, 0.6, "0.30 [0.00, 0.60]"),
        (0.001, -0.5, 0.5, "0.00 [-0.50, 0.50]"),
    ],
)
def test_the_end_of_an_interval_does_not_look_like_zero(
    ledger, estimate, low, high, computed
):
    result = {"estimate": estimate, "low": low, "high": high}
    ledger.enter("demo.text", {"higher": result})
    assert ledger.write()["computed"].tolist() == [computed]


def test_the_worst_part_decides_and_readings_that_disagree_leave_a_claim_open(ledger):
    parts = pd.DataFrame({"estimate": [0.5, 1.5, 0.2]}, index=["a", "b", "c"])
    ledger.enter("demo.rate", {"below": parts})
    pay = {
        "with breaks": {"estimate": 9.7},
        "without": {"estimate": 16.0, "shown": "about 16"},
    }
    ledger.enter("demo.text", {"unclear": pay})
    judged = ledger.write()
    assert judged.loc["demo.rate.below", "verdict"] == "contradicted"
    assert (
        judged.loc["demo.rate.below", "computed"]
        == "a 0.50; b 1.50; c 0.20; furthest from holding: b"
    )
    unclear = judged.loc["demo.text.unclear"]
    assert unclear["verdict"] == "open"
    assert unclear["note"] == "with breaks: contradicted; without: confirmed"
    assert unclear["computed"] == "with breaks: 9.70; without: about 16"


@pytest.mark.parametrize(
    ("claim", "columns", "told"),
    [
        (
            "rate.below",
            {"estimate": [0.1, 1.5, 0.3, 2.0, 0.4]},
            "3 of 5 parts hold; furthest from holding: d 2",
        ),
        (
            "rate.below",
            {"estimate": [0.1, 0.2, 0.9, 0.3, 0.4]},
            "5 of 5 parts hold; least room: c 0.90",
        ),
        (
            "text.higher",
            {
                "estimate": [2, 3, 1, 3, 4],
                "low": [1, -1, -2, 2, 2],
                "high": [3, 7, 4, 4, 6],
            },
            "3 of 5 parts hold; furthest from holding: c 1.00 [-2.00, 4.00]",
        ),
        (
            "text.lower",
            {"estimate": [-2] * 5, "low": [-3] * 5, "high": [-1, -0.5, -1, -1, -1]},
            "5 of 5 parts hold; least room: b -2.00 [-3.00, -0.50]",
        ),
        (
            "text.highest",
            {"share": [0.99, 0.98, 1.0, 1.0, 1.0]},
            "5 of 5 parts hold; least room: b in 98 % of resamples",
        ),
        (
            "text.flat",
            {"p_value": [0.9, 0.04, 0.01, 0.5, 0.6]},
            "3 of 5 parts hold; furthest from holding: c p = 0.010",
        ),
    ],
)
def test_of_many_parts_the_one_with_least_room_is_named(ledger, claim, columns, told):
    prefix, _, name = f"demo.{claim}".rpartition(".")
    ledger.enter(prefix, {name: pd.DataFrame(columns, index=list("abcde"))})
    assert ledger.write()["computed"].tolist() == [told]


SE = 1.96  # half an interval of one standard error


@pytest.mark.parametrize(
    ("claim", "row", "room"),
    [
        # Thresholds: half units of the limit, or standard errors beside an interval.
        ({"kind": "fact", "direction": "between 13 15"}, {"estimate": 14.5}, 1),
        ({"kind": "fact", "direction": ">= 99"}, {"estimate": 98}, -2),
        ({"kind": "fact", "direction": "< 0.2"}, {"estimate": 0.1}, 2),
        (
            {"kind": "fact", "direction": "< 5"},
            {"estimate": 1, "low": 1 - 2 * SE, "high": 1 + 2 * SE},
            2,
        ),
        ({"kind": "fact", "direction": ""}, {"holds": 0.0}, 0),
        ({"kind": "fact", "direction": ""}, {"holds": 1.0}, np.inf),
        (
            {"kind": "direction", "direction": "-"},
            {"estimate": -3, "low": -3 - SE, "high": -3 + SE},
            3 - SE,
        ),
        (
            {"kind": "direction", "direction": "+"},
            {"estimate": 0.1, "low": 0.1, "high": 0.1},
            np.inf,
        ),
        ({"kind": "ranking", "direction": ""}, {"share": 0.5}, -SE),
        (
            {"kind": "significance", "direction": "yes -"},
            {"estimate": -1, "p_value": 0.5},
            -1.645,
        ),
        ({"kind": "significance", "direction": "no"}, {"p_value": 0.5}, 1.645),
        (
            {"kind": "significance", "direction": "yes +"},
            {"estimate": -1, "p_value": 0},
            -np.inf,
        ),
        (
            {"kind": "no effect", "margin": "3"},
            {"estimate": 0, "low": -2 * SE, "high": 2 * SE},
            1.5 - SE,
        ),
        ({"kind": "no effect", "margin": ""}, {"estimate": 0, "low": -4, "high": 1}, 0),
        # Printed numbers: half units inside of where another would be printed.
        (
            {"kind": "number", "published": "0.50", "decimals": "2", "needs": "demo"},
            {"estimate": 0.504, "low": 0.1, "high": 0.9},
            0.2,
        ),
        (
            {"kind": "number", "published": "22", "decimals": "0", "needs": "print"},
            {"estimate": 23, "low": 21, "high": 25},
            3,
        ),
        (
            {"kind": "split", "published": "0.5", "decimals": "1", "needs": "demo"},
            {"estimate": 0.6, "low": 0.4, "high": 0.8},
            3,
        ),
    ],
)
def test_room_is_the_distance_from_the_limit_of_each_rule(claim, row, room):
    empty = dict.fromkeys(verdicts.NUMBERS, np.nan) | {"holds": np.nan}
    claim = {"direction": "", "published": "holds"} | claim
    assert verdicts._room(claim, empty | row) == pytest.approx(room, abs=0.001)


def test_the_weakest_part_is_told_by_standard_errors_and_not_by_units(ledger):
    # In points a has least room (1 above zero), in standard errors b.
    ends = {"estimate": [1.5, 40.0], "low": [1.0, 2.0], "high": [2.0, 78.0]}
    ledger.enter("demo.text", {"higher": pd.DataFrame(ends, index=["a", "b"])})
    judged = ledger.write().loc["demo.text.higher"]
    assert judged["computed"].endswith("; least room: b")
    assert judged["estimate"] == 40


def test_a_truth_value_is_the_weakest_part_only_if_it_fails(ledger):
    parts = pd.DataFrame(
        {"estimate": [np.nan, 0.5], "holds": [1.0, np.nan]}, index=["a", "b"]
    )
    ledger.enter("demo.rate", {"below": parts})
    assert ledger.write()["computed"].tolist() == ["a yes; b 0.50; least room: b"]
    other = Ledger("12_demo", source="real", out_dir=ledger.out_dir)
    other.enter("demo.rate", {"below": parts.assign(holds=[0.0, np.nan])})
    judged = other.write()
    assert judged["verdict"].tolist() == ["contradicted"]
    assert judged["computed"].tolist() == ["a no; b 0.50"]


@pytest.mark.parametrize(
    ("printed", "estimate", "verdict"),
    [
        ("0.72", 0.712, "inexact"),
        ("0.72", 0.7099, "contradicted"),  # more than a unit of the last digit
        ("0.72", 0.7251, "slip"),  # cut off
        ("0.72", 0.7249, "confirmed"),
        ("0.03", 0.023, "contradicted"),  # within a unit, but off by a quarter
        ("3", 2.2, "contradicted"),
        ("22", 21.2, "inexact"),
        ("22", 20.95, "contradicted"),  # within 5 %, but not within a unit
        ("19", 18.0, "contradicted"),  # a unit, but 5.3 %
    ],
)
def test_a_number_is_inexact_if_off_by_one_in_the_last_digit_and_little(
    printed, estimate, verdict
):
    decimals = str(len(printed.partition(".")[2]))
    claim = {"kind": "number", "published": printed, "decimals": decimals}
    row = dict.fromkeys(verdicts.NUMBERS, np.nan) | {"estimate": estimate}
    found = [
        verdicts.judge({**claim, "needs": needs}, row) for needs in ("demo", "authors")
    ]
    assert found == [verdict] * 2
    if verdict == "inexact":
        strangers = [
            verdicts.judge({**claim, "needs": needs}, row)
            for needs in ("print", "substitute", "method")
        ]
        assert strangers == ["contradicted"] * 3


def test_inexact_counts_neither_as_holding_nor_as_contradicted(ledger):
    assert verdicts.VERDICTS.index("inexact") == verdicts.VERDICTS.index("leaning") + 1
    ledger.enter("demo", {"rate.low": 3.14, "method.exact": True})
    judged = ledger.write()
    assert judged["verdict"].tolist() == ["inexact", "confirmed"]
    counts = verdicts.tally(judged).loc[verdicts.NUMBERS_AND_COUNTS]
    assert counts[["checked", "hold"]].tolist() == [1, 0]
    stated = collection.stated_counts(collection.merge(Path(ledger.out_dir) / "claims"))
    assert stated[3] == "1 are inexact by at most one in the last digit, 0 are slips"
    assert stated[4].startswith("0 are contradicted")


def test_readings_that_do_not_disagree_leave_the_weaker_verdict(monkeypatch, demo):
    claims = paths.PUBLISHED / "claims.csv"
    table = published.read_text(claims).set_index("claim_id")
    table.loc["demo.text.higher", "readings"] = "one|other"
    table.to_csv(claims)
    sure = {"estimate": 3, "low": 1, "high": 5}
    unsure = {"estimate": 1, "low": -1, "high": 3}
    against = {"estimate": -3, "low": -5, "high": -1}
    cases = [(sure, unsure, "leaning"), (sure, against, "open")]
    cases += [(unsure, against, "open"), (against, against, "contradicted")]
    for number, (one, other, verdict) in enumerate(cases):
        ledger = Ledger(f"{11 + number}_demo", source="real", out_dir=str(demo))
        ledger.enter("demo.text", {"higher": {"one": one, "other": other}})
        assert ledger.write()["verdict"].tolist() == [verdict]


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"rate.low": {"estimate": 3.2}}, True),
        ({"rate.low": {"estimate": 3.26}}, False),  # a slip
        ({"rate.low": {"estimate": 3.1449}}, False),  # inexact
        ({"rate.low": {"estimate": 2.8}}, False),  # contradicted
        ({"rate.below": {"estimate": 0.9}}, True),
        ({"rate.below": {"estimate": 1.1}}, False),
        ({"rate.gain": {"low": 17, "high": 27}}, True),  # open: nothing was noticed
    ],
)
def test_detects_stands_only_where_nothing_was_noticed(ledger, entry, told):
    ledger.enter("demo", entry)
    assert ledger.write()["detects"].notna().tolist() == [told]


def test_simulated_parts_are_not_counted_as_holding(ledger):
    parts = pd.DataFrame({"estimate": [0.1, 0.2, 0.3, 0.4, 2.0]}, index=list("abcde"))
    simulated = Ledger("11_demo", source="simulated", out_dir=ledger.out_dir)
    simulated.enter("demo.rate", {"below": parts})
    assert simulated.write()["computed"].tolist() == ["5 parts, the first: a 0.10"]


def test_a_verdict_is_corrected_over_the_family_entered_or_as_the_notebook_did(ledger):
    sure = {"estimate": 3, "low": 1, "high": 5}
    unsure = {"estimate": -1, "low": -1.97, "high": -0.03}
    ledger.enter("demo.text", {"higher": sure, "lower": unsure})
    judged = ledger.write()
    assert set(judged["verdict"]) == {"confirmed"}
    assert judged["after_correction"].tolist() == ["yes", "yes"]
    other = Ledger("12_demo", source="real", out_dir=ledger.out_dir)
    other.enter("demo.text", {"higher": {**sure, "p_family": 0.2}, "highest": 0.99})
    assert other.write()["after_correction"].tolist() == ["no", ""]


def test_holm_over_the_family_can_take_a_confirmation_back(ledger):
    weak = {"estimate": 1, "low": 0.02, "high": 1.98}
    ledger.enter(
        "demo.text", {"higher": weak, "lower": {"estimate": 1, "low": -1, "high": 3}}
    )
    assert ledger.write()["after_correction"].tolist() == ["no", ""]


def test_readings_are_one_test_of_their_family_with_the_largest_p_value(ledger):
    sure = {"estimate": 3, "low": 1, "high": 5}
    by_reading = {
        "of people": {**sure, "p_value": 0.019},
        "of answers": {**sure, "p_value": 0.02},
    }
    other = {**sure, "p_value": 0.03}
    ledger.enter("demo.text", {"more": by_reading, "higher": other})
    # by Holm 2 * 0.02 and 0.04; as three tests they would be 3 * 0.019 and more
    assert ledger.write()["after_correction"].tolist() == ["yes", "yes"]
    lower = {"estimate": -3, "low": -5, "high": -1, "p_value": 0.06}
    ledger.enter("demo.text", {"lower": lower})  # 3 * 0.02
    assert ledger.write()["after_correction"].tolist() == ["no", "no", "no"]


@pytest.mark.parametrize(
    ("entry", "verdict", "note"),
    [
        ({"rate.low": {"estimate": 3.24999}}, "confirmed", ""),
        ({"rate.low": {"estimate": 3.26}}, "slip", "as if cut off"),
        ({"rate.low": {"estimate": 3.1449}}, "inexact", ""),
        ({"rate.low": {"estimate": 3.1495}}, "slip", "as if rounded twice"),
        (
            {"rate.low": {"estimate": 9, "other": 3.2}},
            "slip",
            "the number of another heading",
        ),
        (
            {"rate.low": {"estimate": 4.1, "rounded_first": 3.2}},
            "slip",
            "as if its parts were rounded first",
        ),
        ({"rate.low": {"estimate": 4.1, "rounded_first": 3.3}}, "contradicted", ""),
        ({"counts.outputs": 901}, "slip", "the paper prints 901 elsewhere"),
        ({"counts.outputs": 899}, "contradicted", ""),
        ({"text.flat": {"p_value": 0.2}}, "confirmed", "absence not shown"),
        ({"text.flat": {"p_value": 0.01}}, "contradicted", ""),
        ({"method.exact": True}, "confirmed", ""),
        ({"method.exact": np.False_}, "contradicted", ""),
    ],
)
def test_a_cause_that_a_machine_can_check_makes_a_slip(ledger, entry, verdict, note):
    ledger.enter("demo", entry)
    assert ledger.write()[["verdict", "note"]].to_numpy().tolist() == [[verdict, note]]


@pytest.mark.parametrize(
    ("ends", "verdict"),
    [
        ((0.1, -0.2, 0.4), "leaning"),
        ((0.1, -0.2, 0.6), "leaning"),
        ((0.8, 0.3, 1.3), "open"),
    ],
)
def test_another_model_or_other_people_can_only_lean(ledger, ends, verdict):
    ledger.enter(
        "demo.text",
        {"small": dict(zip(("estimate", "low", "high"), ends, strict=True))},
    )
    assert ledger.write()[["evidence", "verdict"]].to_numpy().tolist() == [
        ["substitute", verdict]
    ]


def test_no_effect_needs_a_margin(demo):
    claim = {"kind": "no effect", "margin": "0.5", "margin_place": "§1"}
    ends = [(-0.4, 0.4), (0.2, 0.9), (0.6, 0.9), (-0.9, -0.6)]
    rows = [
        {"estimate": sum(pair) / 2, "low": pair[0], "high": pair[1]} for pair in ends
    ]
    found = [verdicts.judge(claim, row) for row in rows]
    assert found == ["confirmed", "open", "contradicted", "contradicted"]
    assert verdicts.judge({**claim, "margin": ""}, rows[0]) == "open"
    assert verdicts.judge({**claim, "margin_place": ""}, rows[0]) == "open"


def test_simulated_data_give_no_verdict_on_a_study_only_on_a_method(demo):
    ledger = Ledger("11_demo", source="simulated", out_dir=str(demo))
    ledger.enter("demo", {"rate.low": 3.2, "text.highest": 0.99, "method.exact": True})
    ledger.enter("demo", {"text.small": {"estimate": 0, "low": -0.1, "high": 0.1}})
    ledger.enter("demo", {"rate.gain": {"low": 22, "high": 22}})
    judged = ledger.write()
    assert judged["evidence"].tolist() == ["simulated"] * 4 + ["print"]
    assert judged["verdict"].tolist() == [
        "open",
        "open",
        "confirmed",
        "open",
        "consistent",
    ]
    assert judged["note"].iloc[0] == "simulated data say nothing about the study"


@pytest.mark.parametrize(
    ("claim_id", "value", "message"),
    [
        (
            "demo.rate.lo",
            3,
            "demo.rate.lo is not a published claim; did you mean demo.rate.",
        ),
        ("zzz", 3, "zzz is not a published claim; see data/published/claims.csv."),
        (
            "demo.counts.outputs",
            9,
            "demo.counts.outputs was already entered in 11_demo.",
        ),
        ("demo.cost.total", 5, "cannot be entered: not public: payment records."),
        (
            "demo.text.unclear",
            5,
            "demo.text.unclear needs the readings with breaks and without.",
        ),
        ("demo.text.higher", 5, "demo.text.higher is a direction: give low."),
        (
            "demo.rate.below",
            {"share": 5},
            "demo.rate.below is a fact: give holds or estimate.",
        ),
        (
            "demo.rate.low",
            {"estimate": 3, "low": 3},
            "give both low and high, or neither.",
        ),
        (
            "demo.rate.low",
            {"estimate": 3, "low": 4, "high": 2},
            "has a reversed interval: 4 > 2.",
        ),
        ("demo.rate.low", np.inf, "demo.rate.low needs a finite estimate, not inf."),
        ("demo.rate.low", np.nan, "demo.rate.low is a number: give estimate."),
        ("demo.rate.low", "3.2", "demo.rate.low cannot take '3.2'."),
    ],
)
def test_what_cannot_be_judged_is_refused_and_leaves_no_trace(
    ledger, claim_id, value, message
):
    ledger.enter("demo.counts", {"outputs": np.int64(900)})
    with pytest.raises(ClaimError, match=re.escape(message)):
        ledger.enter("", {claim_id: value})
    assert ledger.write().index.tolist() == ["demo.counts.outputs"]


def test_table_cells_are_claims_whatever_the_order_of_levels(ledger):
    values = cells(
        {("Model 1", "refusal"): 2.504, ("Model 2", "scope"): 0.5}
    ).swaplevel()
    ledger.enter_table("demo_table2", values.to_frame("estimate").assign(low=0, high=9))
    assert ledger.write()["verdict"].to_dict() == {
        "demo.table2.model_1.refusal": "confirmed",
        "demo.table2.model_2.scope": "contradicted",
    }
    with pytest.raises(ClaimError, match="needs the index levels"):
        ledger.enter_table("demo_table2", values.rename_axis(["measure", "set"]))
    with pytest.raises(
        ClaimError, match=r"There is no table 'x' in .*lished, only demo_table2\."
    ):
        ledger.enter_table("x", values)


def test_the_shown_table_is_worst_first_with_one_row_for_one_cause(ledger):
    ledger.enter("demo.counts", {"outputs": 9, "again": 8})
    ledger.enter("demo.rate", {"low": 3.2})
    ledger.enter_table("demo_table2", cells({("Model 1", "refusal"): 2.5}))
    table = ledger.show()
    assert table.caption == (
        "4 claims, contradictions first; "
        "1 cells of printed tables that hold are not listed"
    )
    assert table.frame["verdict"].tolist() == ["contradicted (raw)", "confirmed (raw)"]
    assert table.frame["the paper says"].iloc[0] == (
        "Outputs. (§1) (and 1 more with the same cause)"
    )
    assert 'color:#B42318;font-weight:bold">contradicted</' not in table._repr_html_()
    assert 'color:#B42318;font-weight:bold">contradicted (raw)' in table._repr_html_()


def test_headlines_are_filled_from_results_and_joined(ledger, demo):
    ledger.headline(
        "cost", refusal={"estimate": 1.5, "low": 1.08, "high": 1.92}, tests=12
    )
    ledger.write()
    other = Ledger("50_demo", source="simulated", out_dir=str(demo))
    other.headline_alternatives("cost", share="62")
    other.write()
    third = Ledger("60_demo", source="simulated", out_dir=str(demo))
    third.headline_alternatives("cost", expert=1.25)
    third.write()
    joined = collection.headlines(demo / "headlines")
    assert joined.loc["cost"].tolist() == [
        "11_demo",
        "Refusals cost 1.5 [1.1, 1.9].",
        "A refusal costs 1.5 [1.1, 1.9] points (12 tests).",
        "In 62 % of ways. By experts 1.2.",
        "real+simulated",
    ]
    assert joined.loc["other"].tolist() == ["12_demo", "", "", "", ""]
    with pytest.raises(
        ClaimError, match=r"The headline cost needs a value for 'tests'\."
    ):
        ledger.headline("cost", refusal=1)
    with pytest.raises(
        ClaimError, match=r"costs is not in data/published/headlines\.csv\."
    ):
        ledger.headline("costs")


def test_a_failed_write_leaves_the_old_file(ledger, demo, monkeypatch):
    def fail(path, content):
        path.write_text("half a fi")
        raise OSError(28, "disk full")

    ledger.write()
    before = (demo / "claims/11_demo.csv").read_bytes()
    monkeypatch.setattr(Path, "write_bytes", fail)
    ledger.enter("demo", {"rate.low": 3.2})
    with pytest.raises(OSError, match="disk full"):
        ledger.write()
    assert (demo / "claims/11_demo.csv").read_bytes() == before


def test_merging_judges_every_claim_and_says_why_one_has_no_verdict(ledger, demo):
    ledger.enter("demo", {"rate.low": 3.2, "method.exact": False})
    ledger.write()
    merged = collection.merge(demo / "claims")
    assert merged.columns.tolist() == list(collection.COLUMNS)
    assert merged["claim_id"].tolist() == published.published_claims().index.tolist()
    found = merged.set_index("claim_id")
    assert found.loc["demo.rate.low", ["evidence", "verdict", "detects"]].tolist() == [
        "raw",
        "confirmed",
        "0.015625",
    ]
    assert found.loc["demo.method.exact", "verdict"] == "contradicted"
    why = found["note"].to_dict()
    assert set(found.loc[found["note"] != "", "verdict"]) == {"open"}
    assert why["demo.table2.model_1.scope"] == "not run"
    assert why["demo.cost.total"] == "not public: payment records"
    assert why["other.rate.only"] == "public: chatbench/questions.csv, not fetched here"
    counts = collection.verdict_counts(merged, "evidence")
    assert counts.columns.tolist() == [*verdicts.VERDICTS, "not checked"]
    assert counts.loc["raw", ["confirmed", "contradicted", "open"]].tolist() == [
        1,
        0,
        0,
    ]
    assert counts.loc["none", ["open", "not checked"]].tolist() == [0, len(merged) - 2]


def of_demo(**columns: list[str]) -> pd.DataFrame:
    """Judged claims of a made-up paper, each a direction of raw data if not told."""
    rows = pd.DataFrame(columns)
    usual = {
        "claim_id": [f"kamoda.demo.{number}" for number in range(len(rows))],
        "study": "kamoda",
        "where": "§4.1",
        "statement": "A is higher than B.",
        "published": "holds",
        "kind": "direction",
        "evidence": "raw",
        "verdict": "confirmed",
        "after_correction": "",
        "computed": "0.1 [-0.1, 0.3]",
        "cause": "",
        "headline": "",
        "note": "",
        "notebook": "11_demo",
        "source": "real",
    }
    return pd.DataFrame({name: rows.get(name, value) for name, value in usual.items()})


def test_numbers_and_counts_are_told_from_sentences_by_kind_and_printed_value(papers):
    forms = verdicts.forms(papers)
    printed_value = papers["published"].str.fullmatch(r"-?\d+(\.\d+)?|")
    assert (printed_value == (forms == "numbers and counts")).all()
    kinds = papers[forms == "sentences"].groupby("kind")["direction"].unique().to_dict()
    assert set(kinds) == {"direction", "ranking", "significance", "no effect", "fact"}
    assert "< 1" in kinds["fact"]


def test_counts_say_how_many_could_be_checked_and_why_the_others_could_not():
    notes = [
        "",
        "",
        "",
        "public: a.csv, not fetched here",
        "not public: b",
        "illegible: c",
    ]
    notes += ["not run", verdicts.SIMULATED_NOTE]
    judged = of_demo(
        kind=[
            "number",
            "fact",
            "fact",
            "number",
            "split",
            "number",
            "ranking",
            "direction",
        ],
        published=["3.2", "900", "holds", "5", "0.8", "", "a > b", "holds"],
        evidence=["raw", "print", "raw", "none", "none", "none", "none", "simulated"],
        verdict=[
            "confirmed",
            "consistent",
            "leaning",
            "open",
            "open",
            "open",
            "open",
            "open",
        ],
        after_correction=["", "no", "", "", "", "", "", ""],
        note=notes,
    )
    assert verdicts.tally(judged).to_dict("index") == {
        "numbers and counts": {
            "claims": 5,
            "checked": 2,
            "hold": 2,
            "confirmed": 1,
            "consistent": 1,
            "uncorrected": 1,
        },
        "sentences": {
            "claims": 3,
            "checked": 1,
            "hold": 0,
            "confirmed": 0,
            "consistent": 0,
            "uncorrected": 0,
        },
        "all": {
            "claims": 8,
            "checked": 3,
            "hold": 2,
            "confirmed": 1,
            "consistent": 1,
            "uncorrected": 1,
        },
    }
    assert verdicts.counted(judged) == (
        "Of 8 claims, 3 could be checked: 1 are confirmed, and 1 are consistent, "
        "which says only that nothing in the paper's own rounded numbers, or in random "
        "splits drawn anew, speaks against them; 1 of these 2 hold only before a "
        "correction for many tests. "
        "The 2 that hold are 2 of 2 numbers and counts, and 0 of 1 sentences. "
        "Why the other 5 could not be checked: "
        "public data, not fetched here (1); data not public (1); "
        "illegible in our copy of the paper (1); not run (1); simulated data (1)."
    )
    assert verdicts.counted(judged[:3]).endswith("0 of 1 sentences.")
    surviving = judged.assign(after_correction="")
    assert "correction" not in verdicts.counted(surviving)


def test_a_conclusion_rests_on_sentences_that_a_paper_or_a_headline_puts_first():
    judged = of_demo(
        where=["Abstract; §4", "§1", "§4.1; §6", "§5", "§16", "§4", "§6"],
        headline=["", "", "", "", "", "cost", ""],
        kind=["direction"] * 6 + ["split"],
    )
    carries = collection.carries_conclusion(judged)
    assert carries.tolist() == [True, True, True, False, False, True, False]
    in_humbel = collection.carries_conclusion(judged.assign(study="humbel"))
    assert in_humbel.tolist() == [True, True, False, True, False, True, False]


def test_problems_go_by_what_they_touch_then_by_verdict(demo):
    judged = of_demo(
        where=["§6", "§4", "§4", "§4", "§1", "§4", "§4", "§4", "Abstract"],
        kind=["direction"] * 5 + ["fact"] * 2 + ["number", "direction"],
        published=["holds"] * 5 + ["900", "901", "3", "holds"],
        verdict=[
            *("leaning", "leaning", "contradicted", "slip", "open"),
            *("contradicted", "slip", "open", "open"),
        ],
        cause=["", "", "", "", "", "counting", "counting", "", ""],
        evidence=["raw"] * 8 + ["none"],
        note=[""] * 8 + ["not public: b"],
    )
    table = collection.problems(judged)
    assert table[["touches", "verdict", "claims"]].to_numpy().tolist() == [
        ["conclusion", "open", 1],
        ["conclusion", "leaning", 1],
        ["statement", "contradicted", 1],
        ["statement", "slip", 1],
        ["number", "contradicted", 2],
    ]
    assert table["explanation"].iloc[0] == "A is higher than B. Here: 0.1 [-0.1, 0.3]."
    assert table["explanation"].iloc[-1] == "Some outputs were counted twice."
    known = judged[4:5].assign(claim_id="demo.text.lower")
    assert collection.problems(known)["explanation"].tolist() == [
        "A is higher than B. "
        "Here: 0.1 [-0.1, 0.3] (points, C minus B; claimed: below zero)."
    ]
    assert collection.touched(judged).iloc[[1, 7, 8]].tolist() == [
        "statement",
        "number",
        "",
    ]


@pytest.mark.parametrize(
    ("rows", "word"),
    [
        ({"verdict": ["confirmed", "consistent"]}, "holds"),
        ({"verdict": ["confirmed", "leaning"]}, "not settled"),
        ({"verdict": ["confirmed"], "after_correction": ["no"]}, "not settled"),
        ({"verdict": ["open", "contradicted"]}, collection.CONTRADICTED),
        ({"verdict": ["confirmed", "open"], "kind": ["direction", "number"]}, "holds"),
        ({"verdict": ["contradicted"], "kind": ["number"]}, "not settled"),
        ({"verdict": ["confirmed"], "kind": ["number"]}, "holds"),
    ],
)
def test_sentences_decide_how_sure_a_headline_is_and_our_own_say_it(demo, rows, word):
    judged = of_demo(**rows).assign(headline="cost")
    sure = collection.how_sure(judged)
    assert sure.to_dict() == {"cost": word, "other": "holds"}
    places = [collection.SURENESS.index(found) for found in sure]
    assert places == sorted(places)


def test_a_study_is_as_real_as_its_least_real_part():
    judged = of_demo(
        evidence=["raw", "simulated", "raw", "print", "none"],
        source=["real", "simulated", "real", "real", ""],
    )
    judged["study"] = ["kamoda", "kamoda", "hosking", "chatbench", "chatbench"]
    assert collection.sources(judged).to_dict() == {
        "kamoda": "simulated",
        "hosking": "real",
        "chatbench": "printed",
    }


@pytest.fixture
def traced(ledger, demo, monkeypatch) -> Path:
    """Folder of a run that read two files, entered claims in a cell, and was joined."""
    monkeypatch.setattr(paths, "ROOT", demo)
    monkeypatch.setenv("DATA_MIRROR", str(demo / "mirror"))
    for file in ("demo/a.csv", "other/b.csv"):
        (demo / "mirror" / file).parent.mkdir(parents=True)
        (demo / "mirror" / file).write_text(file)
    read = {file: registry.current_hash(file) for file in ("demo/a.csv", "other/b.csv")}
    monkeypatch.setattr(registry, "files_read", lambda: read)
    entering = "claims.enter('demo', {'rate.low': low})"
    shell = SimpleNamespace(get_parent=lambda: {"content": {"code": entering}})
    monkeypatch.setattr("helpers.claims.ledger.get_ipython", lambda: shell)
    ledger.enter("demo", {"rate.low": 3.2, "rate.gain": {"low": 21, "high": 23}})
    ledger.enter("demo", {"text.small": {"estimate": 0.1, "low": -0.1, "high": 0.3}})
    ledger.write()
    sources = {1: "low = compute()", 2: entering}
    cells = [
        nbformat.v4.new_code_cell(code, id=f"11-{n}") for n, code in sources.items()
    ]
    (demo / "notebooks").mkdir()
    nbformat.write(
        nbformat.v4.new_notebook(cells=cells), demo / "notebooks/11_demo.ipynb"
    )
    for name, table in (
        ("claims", collection.merge(demo / "claims")),
        ("provenance", collection.provenance(demo / "provenance")),
    ):
        table.to_csv(demo / f"{name}.csv", index=False)
    return demo


def test_a_claim_names_its_cell_and_the_files_that_it_rests_on(traced):
    chains = collection.chains(traced)
    entered = ["demo.rate.low", "demo.rate.gain", "demo.text.small"]
    assert chains.loc[entered, "cell"].tolist() == ["11-2"] * 3
    assert chains.loc["demo.text.flat", "cell"] == ""
    computed_in = chains.loc[[*entered, "demo.text.flat"], "computed_in"]
    assert computed_in.tolist() == ["11-1", "", "", ""]
    used = chains.loc[entered, "files"].map(list).tolist()
    assert used == [["demo/a.csv"], [], ["demo/a.csv", "other/b.csv"]]
    assert not chains["changed"].map(bool).any()


def test_a_changed_byte_makes_exactly_the_claims_stale_that_rest_on_the_file(traced):
    (traced / "mirror/other/b.csv").write_text("other/B.csv")
    changed = collection.chains(traced)["changed"]
    assert changed[changed.map(bool)].to_dict() == {"demo.text.small": ["other/b.csv"]}
    told = collection.why("demo.text.small", traced)
    assert re.search(
        r"other/b\.csv [0-9a-f]{12} \(another today: stale\)$", told, re.MULTILINE
    )
    assert "another today" not in collection.why("demo.rate.low", traced)


def test_why_says_each_step_of_a_claim_that_has_it(traced):
    told = dict(
        line.split(maxsplit=1)
        for line in collection.why("demo.rate.low", traced).splitlines()
    )
    assert (told["published"], told["unit"]) == ("3.2", "%")
    assert (told["notebook"], told["cell"]) == ("11_demo", "11-2")
    assert told["detects"] == "0.015625"
    assert "margin" not in told
    with pytest.raises(ClaimError, match=r"did you mean demo\.rate\.low"):
        collection.why("demo.rate.lov", traced)


def test_shares_and_p_values_are_told_in_words():
    row = {
        "shown": "",
        "estimate": np.nan,
        "low": np.nan,
        "share": 0.8,
        "p_value": 0.02,
    }
    assert verdicts._value_in_words(row, 1) == "in 80 % of resamples, p = 0.020"
    assert verdicts._value_in_words(row | {"p_value": 0.0004}, 1).endswith("p < 0.001")


def test_files_that_cannot_be_merged_are_refused(demo):
    with pytest.raises(
        ClaimError, match=r"There is no folder .*claims: run the notebooks first"
    ):
        collection.merge(demo / "claims")
    for notebook in ("11_demo", "12_demo"):
        ledger = Ledger(notebook, source="real", out_dir=str(demo))
        ledger.enter("demo", {"rate.low": 3.2})
        ledger.write()
    with pytest.raises(
        ClaimError, match=r"demo\.rate\.low was entered by 11_demo and 12_demo\."
    ):
        collection.merge(demo / "claims")
    (demo / "claims/12_demo.csv").unlink()
    entered = collection.read_entered(demo / "claims")
    assert set(entered) == {"cell", *verdicts.ENTERED}
    file = paths.PUBLISHED / "claims.csv"
    file.write_text(CLAIMS.replace("demo.rate.low", "demo.rate.lowest"))
    message = "11_demo: demo.rate.low is not a published claim; did you mean demo."
    with pytest.raises(ClaimError, match=re.escape(message)):
        collection.merge(demo / "claims")


def test_a_claim_of_a_study_that_is_not_listed_is_refused(ledger, demo, monkeypatch):
    ledger.write()
    monkeypatch.setattr(studies, "titles", lambda: {"demo": "A demonstration"})
    message = "studies.csv does not list the study 'other', only demo: correct"
    with pytest.raises(PlainError, match=message):
        collection.merge(demo / "claims")


def test_each_committed_claim_names_the_cell_that_enters_it():
    committed = published.read_text(paths.ROOT / "figures" / "claims.csv")
    entered = committed[committed["notebook"] != ""]
    for notebook, rows in entered.groupby("notebook"):
        cells = nbformat.read(
            paths.NOTEBOOKS / paths.notebook_place(notebook), as_version=4
        ).cells
        entering = {cell["id"] for cell in cells if ".enter" in cell.source}
        assert set(rows["cell"]) <= entering, notebook


def test_what_was_settled_between_readers_names_claims_and_says_why(papers):
    settled = published.read_text(paths.PUBLISHED / "readings_settled.csv")
    assert set(settled["claim_id"]) <= set(papers.index)
    assert not settled.duplicated(["claim_id", "what"]).any()
    assert (settled[["settled", "why"]] != "").all(axis=None)
    kinds = settled.loc[settled["what"] == "kind", "settled"]
    assert set(kinds) <= set(verdicts.NEEDED)
    several = settled[settled["settled"].str.contains(" | ", regex=False)]
    assert set(several["what"]) == {"readings"}
    kind = several["claim_id"].map(papers["kind"])
    assert not kind.isin(["number", "split"]).any()  # readings are for statements


def test_a_margin_stands_with_its_place_and_only_for_no_effect(papers):
    assert ((papers["margin"] != "") == (papers["margin_place"] != "")).all()
    with_margin = papers[papers["margin"] != ""]
    assert set(with_margin["kind"]) == {"no effect"}
    assert with_margin["margin_place"].str.match(r"(§|App\. |Table |Figure )").all()


# Words by which forms of sentences can be told.
NO_EFFECT = r"differs? little|about as much|only slightly|only a little|is close to"
NO_EFFECT += r"|not change what|the same\.$"
ESTIMATED = r"correlat|coefficient|weight of|ratio|\bgap\b"


def test_sentences_of_one_form_have_one_kind_or_it_is_settled_why_not(papers):
    settled = published.read_text(paths.PUBLISHED / "readings_settled.csv")
    kinds = settled[settled["what"] == "kind"].set_index("claim_id")["settled"]
    sentences = papers[verdicts.forms(papers) == verdicts.SENTENCES]
    sentences = sentences[sentences["needs"] != "method"]
    kind = kinds.reindex(sentences.index).fillna(sentences["kind"])
    without_effect = sentences["statement"].str.contains(NO_EFFECT)
    assert set(kind[without_effect]) == {"no effect"}
    threshold = (sentences["kind"] == "fact") & (sentences["direction"] != "")
    estimated = threshold & sentences["statement"].str.contains(ESTIMATED)
    assert set(sentences.index[estimated]) <= set(kinds.index)
