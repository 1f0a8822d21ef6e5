"""Error and detection rates, prediction-powered rates: hand tables, known truths."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from helpers.stats import rates
from helpers.studies import hosking

ERRORS = ["factuality"]
ARMS = ("assertive_low", "assertive_high")


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


def contrasts(crowd, expert, arms=ARMS, n_boot=99):
    rng = np.random.default_rng(0)
    table = rates.arm_contrasts(crowd, expert, ERRORS, {"tone": arms}, n_boot, rng)
    return table.loc["tone"].droplevel("error")


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


def test_gap_interval_is_newcombes():
    crowd = make_outputs({"a": 0.1}, 80, seed=2)
    expert = make_outputs({"a": 0.3}, 50, seed=3)
    gap = rates.crowd_expert_gap(error_rates(crowd), error_rates(expert)).iloc[0]
    by_crowd = int(crowd["factuality"].sum())
    by_expert = int(expert["factuality"].sum())
    low, high = confint_proportions_2indep(
        by_crowd, 80, by_expert, 50, method="newcomb"
    )
    difference = by_crowd / 80 - by_expert / 50
    expected = [by_crowd / 80, by_expert / 50, difference, low, high]
    numbers = gap[["crowd", "expert", "estimate", "low", "high"]].tolist()
    assert numbers == pytest.approx([100 * number for number in expected])


def test_contrasts_recover_known_changes_whatever_the_order_of_rows():
    crowd = make_outputs(dict(zip(ARMS, (0.10, 0.05), strict=True)), 2000, seed=4)
    expert = make_outputs(dict(zip(ARMS, (0.15, 0.25), strict=True)), 2000, seed=5)
    result = contrasts(crowd, expert, n_boot=400)
    truth = pd.Series({"crowd": -5.0, "expert": 10.0, "gap": -15.0})
    assert ((result["low"] < truth) & (truth < result["high"])).all()
    assert result["p_value"].tolist() == pytest.approx([2 / 401] * 3)
    means = [table.groupby("arm")["factuality"].mean() for table in (crowd, expert)]
    changes = [100 * (mean[ARMS[1]] - mean[ARMS[0]]) for mean in means]
    assert result["estimate"].tolist() == pytest.approx(
        [*changes, changes[0] - changes[1]]
    )
    shuffled = crowd.sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(contrasts(shuffled, expert), contrasts(crowd, expert))


@pytest.mark.parametrize("by", ["arm", None])
def test_rates_of_crowd_and_experts_side_by_side_are_those_of_each(by):
    crowd = make_outputs({"low": 0.1, "high": 0.4}, 60)
    expert = make_outputs({"low": 0.3, "high": 0.3}, 20, seed=1)
    table = rates.annotator_rates(crowd, expert, ERRORS, by, "prompt_id")
    alone = [
        rates.error_rates(labels, ERRORS, by, "prompt_id") for labels in (crowd, expert)
    ]
    alone = [*alone, rates.crowd_expert_gap(*alone)]
    for who, expected in zip(("crowd", "expert", "difference"), alone, strict=True):
        columns = ["estimate", "low", "high"]
        np.testing.assert_array_equal(table.loc[who][columns], expected[columns])
        assert table.loc[who].index.names == ([by, "error"] if by else ["error"])
    if by is None:
        pooled = rates.error_rates(crowd.assign(arm="all"), ERRORS, "arm", "prompt_id")
        np.testing.assert_array_equal(table.loc["crowd", "low"], pooled["low"])


def test_several_contrasts_are_each_what_they_are_alone():
    outputs = make_outputs({"baseline": 0.2, "low": 0.1, "high": 0.4}, 60)
    arms = {"tone": ("low", "high"), "assertive": ("baseline", "high")}
    rng = np.random.default_rng(0)
    together = rates.arm_contrasts(outputs, outputs[:60], ERRORS, arms, 99, rng)
    for name, pair in arms.items():
        alone = contrasts(outputs, outputs[:60], pair)
        pd.testing.assert_frame_equal(together.loc[name].droplevel("error"), alone)


def test_an_error_that_nobody_has_gets_no_slope():
    outputs = pd.DataFrame(
        {
            "prompt_id": range(4),
            "rating": [1.0, 2, 3, 4],
            "seen": [0.0, 1, 0, 1],
            "unseen": 0.0,
        }
    )
    result = rates.rate_slopes(outputs, ["unseen", "seen"], "rating")
    assert result.loc["unseen"].isna().all()
    assert result.loc["seen", "estimate"] == pytest.approx(20)
    assert rates.rate_slopes(outputs, ["unseen"], "rating")["p_value"].isna().all()


def test_slopes_within_arms_ignore_differences_between_arms():
    rng = np.random.default_rng(9)
    arm = np.repeat([0, 1], 500)
    outputs = pd.DataFrame({"prompt_id": np.arange(1000), "arm": arm})
    outputs["rating"] = arm * 2 + rng.normal(size=1000)
    outputs["factuality"] = (rng.random(1000) < 0.2 + 0.6 * arm).astype(float)
    assert rates.rate_slopes(outputs, ERRORS, "rating")["low"].item() > 10
    within = rates.rate_slopes(outputs, ERRORS, "rating", within="arm").iloc[0]
    assert within["low"] < 0 < within["high"]


def test_table_3_of_hosking_is_recomputed_from_the_released_labels(released):
    tables = [error_rates(rates.drop_refusals(table, "majority")) for table in released]
    gap = rates.crowd_expert_gap(*tables).set_index("arm")["estimate"].round(1)
    assert gap.to_dict() == {
        "assertive_high": -22.3,
        "assertive_low": -5.4,
        "baseline": -16.1,
        "complex_high": -14.3,
        "complex_low": -19.9,
    }


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
