"""Sensitivity and its kin: hand tables, shares as labels, invariances, messages."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import fisher_exact
from statsmodels.stats.proportion import proportion_confint

from helpers.beyond.crowd import compare_detection
from helpers.stats.rates import TIES, detection_rates, pair_labels, settle_ties

ERRORS = ["factuality"]


def make_pairs(true_positive=3, false_negative=7, false_positive=2, true_negative=28):
    """One row per output, each in a prompt of its own."""
    counts = [true_positive, false_negative, false_positive, true_negative]
    table = pd.DataFrame({"crowd": [1.0, 0, 1, 0], "expert": [1.0, 1, 0, 0]})
    table = table.loc[np.repeat(np.arange(4), counts)].reset_index(drop=True)
    return table.assign(error="factuality", prompt_id=np.arange(len(table)))


def rates(pairs, by=("error",), n_boot=500):
    return detection_rates(pairs, by, "prompt_id", n_boot, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("measure", "part", "total"),
    [
        ("sensitivity", 3, 10),
        ("specificity", 28, 30),
        ("precision", 3, 5),
        ("negative predictive value", 28, 35),
        ("prevalence", 10, 40),
    ],
)
def test_measures_of_a_hand_made_table_with_wilson_intervals(measure, part, total):
    row = rates(make_pairs()).loc[(measure, "factuality")]
    low, high = proportion_confint(part, total, method="wilson")
    expected = [total, 100 * part / total, 100 * low, 100 * high]
    assert row[["n", "estimate", "low", "high"]].tolist() == pytest.approx(expected)
    assert row["boot_low"] <= row["estimate"] <= row["boot_high"]


def test_bayes_rule_ties_precision_to_the_other_measures():
    table = rates(make_pairs())["estimate"].droplevel("error") / 100
    found = table["sensitivity"] * table["prevalence"]
    imagined = (1 - table["specificity"]) * (1 - table["prevalence"])
    assert table["precision"] == pytest.approx(found / (found + imagined))


def test_copies_of_outputs_within_their_prompts_tell_nothing_new():
    pairs = make_pairs()
    once, thrice = rates(pairs), rates(pd.concat([pairs] * 3, ignore_index=True))
    np.testing.assert_allclose(thrice["n"], 3 * once["n"])
    np.testing.assert_allclose(thrice["estimate"], once["estimate"])
    widths = (thrice["high"] - thrice["low"]) / (once["high"] - once["low"])
    assert widths.between(0.85, 1.05).all()


def test_row_order_and_rows_without_expert_labels_do_not_matter():
    pairs = make_pairs()
    unlabelled = pairs.assign(expert=np.nan, crowd=1.0)
    shuffled = pd.concat([pairs, unlabelled]).sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(rates(shuffled), rates(pairs))


def test_groups_are_told_apart_and_an_empty_share_is_missing():
    pairs = pd.concat(
        [make_pairs().assign(arm="high"), make_pairs(0, 0, 1, 9).assign(arm="low")],
        ignore_index=True,
    )
    table = rates(pairs, ["error", "arm"])
    assert table.loc[("sensitivity", "factuality", "high"), "estimate"] == pytest.approx(30)
    low = table.loc[("sensitivity", "factuality", "low")]
    assert low["n"] == 0
    assert low.drop("n").isna().all()


def test_divided_experts_and_tied_crowds_count_in_part():
    crowd = pd.DataFrame({"item_id": ["a", "b"], "prompt_id": [1, 2], "factuality": [0.5, 1.0]})
    expert = pd.DataFrame({"item_id": ["a", "a", "b"], "factuality": [1.0, 0.0, 1.0]})
    table = rates(pair_labels(crowd, expert, ERRORS))
    assert table.loc[("sensitivity", "factuality"), "n"] == pytest.approx(1.5)
    assert table.loc[("sensitivity", "factuality"), "estimate"] == pytest.approx(125 / 1.5)


def test_pairs_keep_the_design_and_leave_unlabelled_outputs_empty():
    crowd = pd.DataFrame(
        {"item_id": ["a", "b"], "arm": ["x", "y"], "factuality": [0.0, 1.0], "scope": [1.0, 0.0]}
    )
    expert = pd.DataFrame({"item_id": ["b"], "factuality": [1], "scope": [0]})
    pairs = pair_labels(crowd, expert, ["factuality", "scope"])
    assert pairs.columns.tolist() == ["item_id", "arm", "error", "crowd", "expert"]
    assert pairs["crowd"].tolist() == [0, 1, 1, 0]
    np.testing.assert_array_equal(pairs["expert"], [np.nan, 1, np.nan, 0])


def test_ties_are_settled_and_other_labels_are_not():
    labels = pd.Series([0.0, 0.5, 0.75])
    settled = {rule: settle_ties(labels, rule).tolist() for rule in TIES}
    assert settled == {"half": [0, 0.5, 0.75], "error": [0, 1, 0.75], "no error": [0, 0, 0.75]}


def make_arms(low, high):
    return pd.concat([low.assign(arm="low"), high.assign(arm="high")], ignore_index=True).assign(
        prompt_id=lambda table: np.arange(len(table))
    )


def compare(pairs, n_permutations=999):
    rng = np.random.default_rng(0)
    by_arm = rates(pairs, ["error", "arm"], 10)
    return compare_detection(pairs, by_arm, {"tone": ("low", "high")}, n_permutations, rng)


def test_a_clear_change_of_sensitivity_is_found_with_its_sign():
    table = compare(make_arms(make_pairs(18, 2), make_pairs(2, 18))).loc["tone"]
    row = table.loc[("sensitivity", "factuality")]
    assert row["estimate"] == pytest.approx(-80)
    assert row["high"] < 0
    assert row["p_value"] == pytest.approx(0.001)
    assert table.loc[("specificity", "factuality"), "estimate"] == pytest.approx(0)


def test_p_values_of_balanced_groups_are_those_of_fishers_exact_test():
    pairs = make_arms(make_pairs(12, 8), make_pairs(6, 14))
    row = compare(pairs, 20_000).loc[("tone", "sensitivity", "factuality")]
    assert row["p_value"] == pytest.approx(fisher_exact([[12, 8], [6, 14]]).pvalue, abs=0.01)


def test_a_group_without_such_outputs_cannot_be_compared():
    row = compare(make_arms(make_pairs(0, 0), make_pairs())).loc[("tone", "sensitivity")].iloc[0]
    assert np.isnan(row["estimate"])
    assert np.isnan(row["p_value"])


def test_unknown_rule_for_ties():
    with pytest.raises(ValueError, match="rule for ties 'mode' is unknown: choose one of"):
        settle_ties(pd.Series([0.5]), "mode")


def test_output_with_two_rows_in_the_crowd():
    crowd = pd.DataFrame({"item_id": ["a", "a"], "factuality": [0, 1]})
    with pytest.raises(ValueError, match="several rows for item_id 'a': combine its raters"):
        pair_labels(crowd, crowd, ERRORS)


def test_expert_label_of_an_unknown_output():
    crowd = pd.DataFrame({"item_id": ["a"], "factuality": [0]})
    with pytest.raises(ValueError, match="experts labelled item_id 'b', which the crowd did not"):
        pair_labels(crowd, crowd.assign(item_id="b"), ERRORS)


def test_expert_share_in_a_comparison():
    pairs = make_arms(make_pairs().assign(expert=0.5), make_pairs())
    with pytest.raises(ValueError, match="an expert label is a share"):
        compare(pairs)


def test_group_without_expert_labels():
    with pytest.raises(ValueError, match="experts labelled no output of arm 'high': there are"):
        compare(make_pairs().assign(arm="low"))


def test_crowd_finds_few_of_the_real_factual_errors(real_data):
    from helpers.studies import hosking

    outputs = hosking.load_experiment_2(real_data).outputs()
    labels = hosking.load_experts(real_data).labels
    labels = labels[labels["batch"] == "main"]
    pairs = pair_labels(outputs.drop(columns="refusal"), labels, ERRORS)
    row = rates(pairs).loc[("sensitivity", "factuality")]
    assert row["n"] == labels["factuality"].sum() == 59
    assert row["high"] < 25
