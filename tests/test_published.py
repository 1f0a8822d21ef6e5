"""The transcribed claims are well formed, and fit each other where the papers' numbers do."""

import pandas as pd
import pytest

from helpers import paths
from helpers.beyond.answerers import hoeffding_width
from helpers.claims import (
    ClaimError,
    published_claims,
    read_text,
    table_keys,
    table_names,
    unknown_claim,
)

NUMBERS = ["value", "count", "split"]
SYSTEMS_1 = {"Command 52B", "Command 6B", "Falcon 40B", "MPT 30B", "References"}
SYSTEMS_2 = SYSTEMS_1 - {"References"} | {"Llama 2 13B"}
ARMS = {"baseline", "assertive_low", "assertive_high", "complex_low", "complex_high"}
ERRORS_2 = {
    "contradiction",
    "inconsistency",
    "factuality",
    "relevance",
    "formatting",
    "refusal",
    "repetition",
}
ERRORS_1 = ERRORS_2 | {"scope", "fluency", "harmful"}
QUALITY = {"quality_biased", "quality_unbiased"}
MODELS = {"GPT-4o", "Llama-3.1-8b"}
DATASETS = {
    "Elementary Math",
    "High School Math",
    "College Math",
    "Conceptual Physics",
    "Moral Scenarios",
}
COMPARISONS = {
    "dataset": DATASETS,
    "alone": {"AI letter zero shot", "AI letter few shot", "AI free text", "User alone"},
    "condition": {"direct to AI", "answer first"},
    "measure": {"mean_alone", "se_alone", "mean_user_ai", "se_user_ai", "z", "p"},
}
CROSSED = {
    "chatbench_table1": {
        "model": MODELS,
        "method": {"Letter-only few-shot", "Free-text", "IQA-EVAL", "Two-Step", "ChatBench-Sim"},
        "measure": {"correlation", "mae", "bleu", "rouge"},
    },
    "chatbench_tablea1": COMPARISONS,
    "chatbench_tablea2": COMPARISONS,
    "chatbench_tablea3": {
        "model": MODELS,
        "dataset": DATASETS,
        "condition": {"direct-to-AI", "answer-first"},
        "answer_type": {"user-AI", "user-alone"},
    },
    "hosking_table2": {"system": SYSTEMS_1, "measure": ERRORS_1 | QUALITY},
    "hosking_table3": {
        "arm": ARMS,
        "error": ERRORS_2 - {"refusal"},
        "annotators": {"crowd", "expert", "difference"},
    },
    "hosking_table4": {"system": SYSTEMS_2, "measure": ERRORS_2 | QUALITY},
    "humbel_table3": {
        "administration": {"SLP", "QA", "Comp", "Chat"},
        "test": {
            "word classes",
            "word classes without ceiling",
            "formulated sentences",
            "recalling sentences",
            "spoken paragraphs",
            "pragmatics",
            "pragmatics without visual items",
        },
    },
    "humbel_table4": {
        "answers": {"annotators", "InstructGPT"},
        "measure": {"correct", "disagreement", "kappa"},
    },
    "kamoda_figure1": {
        "system": {"human_top", "human_random", "model_formal", "model_casual"},
        "aspect": {"factuality", "amount_info", "formality", "acceptability"},
    },
}
# Scores of wording that AI alone does not have; p-values that are printed as bounds; sub-tests that
# were not given with every prompt; agreement of one model with itself.
LEFT_OUT = {
    "chatbench_table1": 8,
    "chatbench_tablea1": 24,
    "chatbench_tablea2": 21,
    "humbel_table3": 6,
    "humbel_table4": 1,
}
EXPERT_OUTPUTS = {
    "baseline": 59,
    "assertive_low": 48,
    "assertive_high": 57,
    "complex_low": 60,
    "complex_high": 59,
}
# The printed difference is 0.1 off the difference of the printed rates.
ROUNDED_DIFFERENCES = {
    ("assertive_high", "contradiction"),
    ("assertive_high", "factuality"),
    ("assertive_high", "relevance"),
    ("assertive_low", "inconsistency"),
    ("baseline", "factuality"),
    ("baseline", "inconsistency"),
    ("baseline", "relevance"),
    ("baseline", "repetition"),
    ("complex_high", "factuality"),
    ("complex_high", "repetition"),
    ("complex_low", "repetition"),
}


@pytest.fixture(scope="module")
def claims() -> pd.DataFrame:
    return published_claims()


def printed(table: str) -> pd.Series:
    """Give the numbers of a printed table by their keys."""
    frame = read_text(paths.PUBLISHED / f"{table}.csv")
    return frame.set_index(table_keys(table))["published"].astype(float)


def number(claims: pd.DataFrame, claim_id: str) -> float:
    return float(claims.loc[claim_id, "published"])


def test_claim_ids_are_unique(claims):
    assert claims.index.is_unique


def test_claim_ids_have_three_or_more_lower_case_words_and_begin_with_the_study(claims):
    assert claims.index.str.fullmatch(r"[a-z]+(\.[a-z0-9_]+){2,}").all()
    assert (claims.index.str.partition(".").get_level_values(0) == claims["study"]).all()


def test_kinds_are_known(claims):
    assert set(claims["kind"]) == {"value", "count", "order", "split", "statement"}


def test_exactly_the_claims_that_cannot_be_tested_say_why_not(claims):
    assert set(claims["testable"]) == {"yes", "no"}
    assert ((claims["testable"] == "no") == (claims["why_not"] != "")).all()


def test_statements_are_one_short_sentence(claims):
    assert claims["statement"].str.len().max() <= 160
    assert claims["statement"].str.fullmatch(r"[A-Z0-9].+[^.]\.").all()


def test_no_two_claims_say_the_same(claims):
    assert not claims.duplicated(["study", "statement"]).any()


def test_every_claim_says_where_it_is_printed(claims):
    place = r"(Abstract|Limitations|(§|Table |Figure |App\. )\w+.*)"
    assert claims["where"].str.split("; ").explode().str.fullmatch(place).all()


def test_numbers_are_printed_with_the_stated_decimals(claims):
    numbers = claims[claims["kind"].isin(NUMBERS) & (claims["published"] != "")]
    assert numbers["published"].str.fullmatch(r"-?\d+(\.\d+)?").all()
    printed_decimals = numbers["published"].str.partition(".")[2].str.len()
    assert (printed_decimals == numbers["decimals"].astype(int)).all()


def test_counts_are_whole_and_not_negative(claims):
    counts = claims.loc[claims["kind"] == "count", "published"]
    assert counts.str.fullmatch(r"\d+").all()


def test_only_claims_that_cannot_be_tested_lack_a_number(claims):
    lost = claims[claims["published"] == ""]
    assert set(lost["testable"]) == {"no"}
    assert lost["why_not"].str.contains("not in the text available to us").all()


def test_statements_hold_and_orders_name_at_least_two_parts(claims):
    assert (claims.loc[claims["kind"] == "statement", "published"] == "holds").all()
    orders = claims.loc[claims["kind"] == "order", "published"]
    assert orders.str.fullmatch(r"\w+( > \w+)+").all()
    assert (claims.loc[claims["kind"].isin(["statement", "order"]), "decimals"] == "").all()


def test_all_printed_tables_are_listed_here():
    assert table_names() == sorted(CROSSED)


@pytest.mark.parametrize("table", CROSSED)
def test_printed_tables_have_each_cell_once(table):
    cells = printed(table).index
    assert [set(cells.unique(level)) for level in CROSSED[table]] == [*CROSSED[table].values()]
    assert cells.is_unique
    assert len(cells) == cells.to_frame().nunique().prod() - LEFT_OUT.get(table, 0)


@pytest.mark.parametrize(("table", "outputs"), [("hosking_table2", 180), ("hosking_table4", 300)])
def test_error_rates_by_system_are_whole_or_half_outputs(table, outputs):
    rates = printed(table).drop(index=list(QUALITY), level="measure")
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
    assert set(gap.index[gap.abs() > 0.05]) == ROUNDED_DIFFERENCES


def test_example_ratings_are_means_of_three():
    ratings = printed("kamoda_figure1")
    assert (((3 * ratings).round() / 3 - ratings).abs() <= 0.05).all()


def test_parts_add_up_to_their_wholes(claims):
    evaluators = "kamoda.evaluators.llama2_"
    for unit in ("questions", "answers"):
        parts = [number(claims, f"{evaluators}{use}{unit}") for use in ("", "training_")]
        assert sum(parts) == number(claims, f"kamoda.counts.{unit}")
    unanimous = [
        number(claims, f"kamoda.unanimity.model_{style}") for style in ("formal", "casual")
    ]
    assert sum(unanimous) <= number(claims, "kamoda.unanimity.total")
    per_question = number(claims, "kamoda.counts.answers_per_question")
    questions = number(claims, "kamoda.counts.questions")
    assert per_question * questions == number(claims, "kamoda.counts.answers")


def test_copies_of_a_printed_accuracy_agree():
    for table in ("chatbench_tablea1", "chatbench_tablea2"):
        cells = printed(table).unstack("measure")
        alone = cells.groupby(level=["dataset", "alone"])[["mean_alone", "se_alone"]]
        user_ai = cells.groupby(level=["dataset", "condition"])[["mean_user_ai", "se_user_ai"]]
        pd.testing.assert_frame_equal(alone.min(), alone.max())
        pd.testing.assert_frame_equal(user_ai.min(), user_ai.max())


def test_an_exception_that_the_text_names_is_significant_in_one_condition():
    cells = printed("chatbench_tablea2").unstack("measure")
    few_shot = cells.loc[("Conceptual Physics", "AI letter few shot")]
    assert few_shot["z"].to_dict() == {"direct to AI": -1.64, "answer first": -2.70}
    assert few_shot["p"].dropna().to_dict() == {"direct to AI": 0.10}


def test_printed_counts_of_answers_are_fewer_than_the_printed_totals(claims):
    counts = printed("chatbench_tablea3").groupby(level="answer_type").sum()
    assert counts.to_dict() == {"user-AI": 6912, "user-alone": 5986}
    assert counts["user-AI"] < number(claims, "chatbench.counts.conversations")
    assert counts["user-alone"] < number(claims, "chatbench.counts.user_alone_answers")


def test_printed_numbers_of_mathematics_batches_differ(claims):
    batches = number(claims, "chatbench.counts.math_batches")
    sizes = {"elementary_math": 5, "high_school_math": 5, "college_math": 2}
    for dataset, size in sizes.items():
        assert number(claims, f"chatbench.counts.{dataset}") == batches * size
    assert number(claims, "chatbench.counts.math_batches_appendix") == batches - 1


def test_the_largest_printed_correlation_of_a_simulator_is_not_that_of_the_conclusion(claims):
    correlations = printed("chatbench_table1").xs("correlation", level="measure")
    assert correlations.max() == 0.65
    assert number(claims, "chatbench.simulator.best_correlation") == 0.63


def test_shares_of_outcomes_of_conversations_add_up_to_all(claims):
    for model in ("gpt4o", "llama"):
        parts = [
            number(claims, f"chatbench.conversations.{model}_{part}")
            for part in ("right", "none", "wrong")
        ]
        assert sum(parts) == 100


def test_the_printed_share_that_knows_and_agrees_needs_twice_the_printed_sample(claims):
    disagree = printed("humbel_table4").loc["annotators", "disagreement"] / 100
    share = {n: round(50 * (1 - disagree - float(hoeffding_width(n)))) for n in (108, 216)}
    assert number(claims, "humbel.word_classes.sample") == 108
    assert share == {108: 36, 216: number(claims, "humbel.expected.knows_and_agrees")}


def test_the_printed_gain_in_pragmatics_is_the_mean_of_two_in_the_table(claims):
    scores = printed("humbel_table3")
    gains = [
        scores["Chat", test] - scores["QA", test]
        for test in ("pragmatics", "pragmatics without visual items")
    ]
    assert gains == [6, 12]
    assert number(claims, "humbel.chat.gain_pragmatics") == sum(gains) / 2


def test_printed_numbers_of_repeat_annotations_exceed_the_printed_total(claims):
    once, total, repeats, pairs, outputs = (
        number(claims, f"hosking.counts.{name}")
        for name in (
            "annotations_per_output_1",
            "annotations_1",
            "duplicates_per_pair",
            "duplicated_pairs",
            "outputs_1",
        )
    )
    assert once * outputs + 2 * pairs * (repeats - 1) > total


def test_printed_fluency_rates_contradict_the_text_on_rare_errors():
    rates = printed("hosking_table2").groupby(level="measure").mean()
    rarest = rates.drop(list(QUALITY)).nsmallest(4)
    assert list(rarest.index) == ["harmful", "scope", "fluency", "contradiction"]
    assert rarest.round(2).tolist() == [0.28, 0.67, 1.11, 1.56]


def test_references_are_last_on_one_printed_quality_only():
    cells = printed("hosking_table2")
    assert cells.xs("quality_biased", level="measure").idxmin() == "References"
    assert cells.xs("quality_unbiased", level="measure").idxmin() == "Command 6B"


def test_printed_repetition_rises_with_complexity_for_the_crowd_against_the_text():
    rates = printed("hosking_table3").xs("repetition", level="error")
    assert rates["complex_high", "crowd"] > rates["complex_low", "crowd"]
    assert rates["complex_high", "difference"] < rates["complex_low", "difference"]


def test_printed_weights_fit_the_ratio_in_the_results_but_not_in_the_conclusion(claims):
    weights = {
        aspect: number(claims, f"kamoda.regression.weight_{aspect}")
        for aspect in ("factuality", "amount_info", "formality")
    }
    ratio = weights["factuality"] / weights["amount_info"]
    assert round(ratio) == number(claims, "kamoda.regression.ratio_in_results")
    assert round(ratio, 1) != number(claims, "kamoda.regression.ratio_in_conclusion")
    assert weights["formality"] < weights["amount_info"] / 2


def test_the_readme_states_the_number_of_rows_of_each_file():
    readme = (paths.PUBLISHED / "README.md").read_text()
    for file in sorted(paths.PUBLISHED.glob("*.csv")):
        row = next(line for line in readme.splitlines() if line.startswith(f"| `{file.name}`"))
        assert row.split("|")[-2].strip() == str(len(read_text(file)))


def test_cells_of_appendix_tables_say_where_and_whether_they_can_be_tested(claims):
    cell = "chatbench.tablea1.college_math.ai_free_text.direct_to_ai"
    assert claims.loc[f"{cell}.z", ["where", "testable", "why_not"]].tolist() == [
        "Table A1",
        "yes",
        "",
    ]
    assert claims.loc[f"{cell}.mean_alone", "testable"] == "no"
    assert claims.loc[f"{cell}.mean_alone", "why_not"].startswith("needs ai_alone_answers.csv")


def test_a_table_that_is_not_published_is_refused_with_the_known_names():
    message = "There is no table 'hosking_table9' in data/published, only .*hosking_table2, "
    with pytest.raises(ClaimError, match=message):
        table_keys("hosking_table9")


def test_an_unknown_claim_without_similar_names_points_to_the_file(claims):
    message = unknown_claim("zzz", claims.index)
    assert message == "zzz is not a published claim; see data/published/claims.csv."
