"""Error and detection rates, prediction-powered rates: hand tables, known truths."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from helpers.stats import rates
from helpers.studies import hosking

ERRORS = ["factuality"]


def make_outputs(
    shares: dict[str, float], n_prompts: int, seed: int = 1
) -> pd.DataFrame:
    """One output per prompt and arm, with independent labels at the given rates."""
    rng = np.random.default_rng(seed)
    arms = np.tile(list(shares), n_prompts)
    labels = (rng.random(len(arms)) < pd.Series(arms).map(shares)).astype(float)
    prompts = np.repeat(np.arange(n_prompts), len(shares))
    return pd.DataFrame({"prompt_id": prompts, "arm": arms, "factuality": labels})


def error_rates(outputs):
    return rates.error_rates(outputs, ERRORS, "arm", "prompt_id")


@pytest.fixture(scope="module")
def released(real_data):
    """Outputs with the crowd's labels, and the experts' labels of their main batch."""
    labels = hosking.load_experts(real_data)
    outputs = hosking.load_experiment_2(real_data).outputs()
    return outputs, labels[labels["batch"] == "main"]


def test_refusal_rules_treat_ties_as_documented():
    outputs = pd.DataFrame({"refusal": [0.0, 0.5, 1.0]})
    kept = {
        rule: len(rates.drop_refusals(outputs, rule)) for rule in rates.REFUSAL_RULES
    }
    assert kept == {"majority": 2, "any": 1, "none": 3}
    with pytest.raises(
        ValueError, match=r"'strict' is unknown: choose one of \('majority'"
    ):
        rates.drop_refusals(outputs, "strict")


def test_rates_have_wilsons_interval_and_copies_within_a_prompt_do_not_narrow_it():
    outputs = make_outputs({"baseline": 0.3}, 60)
    count = outputs["factuality"].sum()
    expected = 100 * np.array(
        [count / 60, *proportion_confint(count, 60, method="wilson")]
    )
    columns = ["estimate", "low", "high"]
    once = error_rates(outputs).iloc[0]
    thrice = error_rates(pd.concat([outputs] * 3)).iloc[0]
    assert once[columns].tolist() == pytest.approx(expected)
    assert thrice[columns].tolist() == pytest.approx(expected, rel=0.01)
    assert (once["n"], thrice["n"]) == (60, 180)


def test_the_design_effect_of_uneven_clusters_by_hand():
    outputs = pd.DataFrame(
        {"arm": "a", "prompt_id": [1, 1, 2, 3], "factuality": [1.0, 1, 0, 0]}
    )
    row = error_rates(outputs).iloc[0]
    # sums less 1/2 for each output: 1, -1/2, -1/2; variance of a share from three
    # clusters
    effect = (1 + 1 / 4 + 1 / 4) * 3 / 2 / 4**2 / (1 / 4 / 3)
    low, high = proportion_confint(2 / effect, 4 / effect, method="wilson")
    assert row[["low", "high"]].tolist() == pytest.approx([100 * low, 100 * high])


def test_a_rate_of_zero_keeps_an_interval_with_width():
    rate = error_rates(make_outputs({"baseline": 0.0}, 48)).iloc[0]
    assert (rate["low"], rate["estimate"]) == (0.0, 0.0)
    assert rate["high"] == pytest.approx(100 * 3.8415 / (48 + 3.8415), rel=1e-4)


def test_independent_rows_have_wilsons_interval():
    n = 40
    share = 0.3
    error = np.sqrt(share * (1 - share) / n)
    means = pd.DataFrame(
        {"estimate": share, "standard_error": error, "df": np.inf, "n": n, "most": n},
        index=["refusal"],
    ).assign(p_value=0.5)
    table = rates.wilson(means)
    low, high = proportion_confint(12, n, method="wilson")
    assert table.loc["refusal", "low"] == pytest.approx(100 * low)
    assert table.loc["refusal", "high"] == pytest.approx(100 * high)
    # with other prompts that vary twice as much, it is that of half as many rows
    doubled = rates.wilson(means.assign(standard_error=error * np.sqrt(2)))
    low, high = proportion_confint(6, n / 2, method="wilson")
    assert doubled.loc["refusal", ["low", "high"]].tolist() == pytest.approx(
        [100 * low, 100 * high]
    )


def make_pairs(true_positive=3, false_negative=7, false_positive=2, true_negative=28):
    """One row per output, each in a prompt of its own."""
    counts = [true_positive, false_negative, false_positive, true_negative]
    table = pd.DataFrame({"crowd": [1.0, 0, 1, 0], "expert": [1.0, 1, 0, 0]})
    table = table.loc[np.repeat(np.arange(4), counts)].reset_index(drop=True)
    return table.assign(error="factuality", prompt_id=np.arange(len(table)))


def detected(pairs, by=("error",), n_boot=200):
    return rates.detection_rates(
        pairs, by, "prompt_id", n_boot, np.random.default_rng(0)
    )


def test_measures_of_a_hand_made_table_with_both_intervals():
    table = detected(make_pairs(), n_boot=4000)
    parts = np.array([3, 28, 3, 28, 10])
    totals = np.array([10, 30, 5, 35, 40])
    assert table.index.tolist() == [
        (measure, "factuality") for measure in rates.MEASURES
    ]
    share = parts / totals
    low, high = proportion_confint(parts, totals, method="wilson")
    np.testing.assert_allclose(table["n"], totals)
    np.testing.assert_allclose(table["estimate"] / 100, share)
    np.testing.assert_allclose(table["low"] / 100, low)
    np.testing.assert_allclose(table["high"] / 100, high)
    margin = 196 * np.sqrt(share * (1 - share) / totals)
    width = (table["boot_high"] - table["boot_low"]).to_numpy()
    np.testing.assert_allclose(width[[0, 1, 3, 4]], 2 * margin[[0, 1, 3, 4]], rtol=0.15)


def test_row_order_and_rows_without_expert_labels_do_not_matter():
    pairs = make_pairs()
    unlabelled = pairs.assign(expert=np.nan, crowd=1.0)
    shuffled = pd.concat([pairs, unlabelled]).sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(detected(shuffled), detected(pairs))


def test_groups_are_told_apart_and_an_empty_share_is_missing():
    arms = {"high": make_pairs(), "low": make_pairs(0, 0, 1, 9)}
    pairs = pd.concat(arms, names=["arm"]).reset_index("arm")
    table = detected(pairs, ["error", "arm"])
    assert table.loc[
        ("sensitivity", "factuality", "high"), "estimate"
    ] == pytest.approx(30)
    assert table.loc[("specificity", "factuality", "low"), "estimate"] == pytest.approx(
        90
    )
    low = table.loc[("sensitivity", "factuality", "low")]
    assert low["n"] == 0
    assert low.drop("n").isna().all()


def test_pairs_keep_the_design_and_divided_experts_and_tied_crowds_count_in_part():
    crowd = pd.DataFrame(
        {
            "item_id": list("abc"),
            "prompt_id": [1, 2, 3],
            "factuality": [0.5, 1, 0],
            "scope": 1.0,
        }
    )
    expert = pd.DataFrame(
        {"item_id": list("aab"), "factuality": [1.0, 0, 1], "scope": [0, 0, 1]}
    )
    pairs = rates.pair_labels(crowd, expert, ["factuality", "scope"])
    assert pairs.columns.tolist() == [
        "item_id",
        "prompt_id",
        "error",
        "crowd",
        "expert",
    ]
    assert pairs["crowd"].tolist() == [0.5, 1, 0, 1, 1, 1]
    np.testing.assert_array_equal(pairs["expert"], [0.5, 1, np.nan, 0, 1, np.nan])
    row = detected(pairs).loc[("sensitivity", "factuality")]
    assert row[["n", "estimate"]].tolist() == pytest.approx([1.5, 125 / 1.5])


def test_ties_are_settled_and_other_labels_are_not():
    labels = pd.Series([0.0, 0.5, 0.75])
    settled = {rule: rates.settle_ties(labels, rule).tolist() for rule in rates.TIES}
    assert settled == {
        "half": [0, 0.5, 0.75],
        "error": [0, 1, 0.75],
        "no error": [0, 0, 0.75],
    }
    with pytest.raises(
        ValueError, match="rule for ties 'mode' is unknown: choose one of"
    ):
        rates.settle_ties(labels, "mode")


def test_crowd_finds_few_of_the_real_factual_errors(released):
    outputs, labels = released
    pairs = rates.pair_labels(outputs.drop(columns="refusal"), labels, ERRORS)
    row = detected(pairs).loc[("sensitivity", "factuality")]
    assert row["n"] == labels["factuality"].sum() == 59
    assert row["high"] < 25


LABELLED = 60


def parts(crowd, expert):
    """What ppi_py takes: truth and crowd where experts labelled, crowd elsewhere."""
    return expert[:LABELLED], crowd[:LABELLED], crowd[LABELLED:]
