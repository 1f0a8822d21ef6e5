"""Rates by crowd and experts, and changes of detection: known limits, the package, coverage."""

import numpy as np
import pandas as pd
import pytest
from ppi_py import classical_mean_ci, ppi_mean_ci, ppi_mean_pointestimate
from scipy.stats import fisher_exact

from helpers.beyond.crowd import (
    LabellingDesign,
    compare_detection,
    coverage,
    crowd_bias,
    gains,
    rate_table,
    simulate_labels,
)
from helpers.stats.rates import detection_rates

LABELLED, ALL = 60, 300


def make_pairs(seed=0, sensitivity=0.6, imagined=0.1, rate=0.3):
    """One output per prompt; experts label the first prompts."""
    rng = np.random.default_rng(seed)
    truth = rng.binomial(1, rate, ALL).astype(float)
    crowd = rng.binomial(1, np.where(truth == 1, sensitivity, imagined)).astype(float)
    expert = np.where(np.arange(ALL) < LABELLED, truth, np.nan)
    return pd.DataFrame(
        {"error": "factuality", "prompt_id": np.arange(ALL), "crowd": crowd, "expert": expert}
    )


def rates(pairs, by=("error",), n_boot=400):
    return rate_table(pairs, by, "prompt_id", n_boot, np.random.default_rng(0))


def arrays(pairs):
    labelled = pairs["expert"].notna()
    return (
        pairs.loc[labelled, "expert"].to_numpy(),
        pairs.loc[labelled, "crowd"].to_numpy(),
        pairs.loc[~labelled, "crowd"].to_numpy(),
    )


@pytest.mark.parametrize("seed", range(5))
def test_estimate_and_interval_are_those_of_the_package(seed):
    pairs = make_pairs(seed)
    row = rates(pairs).loc[("prediction-powered", "independent", "factuality")]
    estimate = ppi_mean_pointestimate(*arrays(pairs))
    low, high = ppi_mean_ci(*arrays(pairs), alpha=0.05)
    expected = 100 * np.ravel([estimate, low, high])
    assert row[["estimate", "low", "high"]].tolist() == pytest.approx(expected)


def test_a_crowd_that_always_says_the_same_leaves_the_experts_mean():
    pairs = make_pairs().assign(crowd=0.5)
    table = rates(pairs)
    for kind in ("independent", "resampled", "Wilson"):
        experts = table.loc[("experts", kind, "factuality")]
        powered = table.loc[("prediction-powered", kind, "factuality")]
        assert powered.tolist() == pytest.approx(experts.tolist())
    assert gains(pairs, ["error"], "prompt_id")["factor"].item() == 0


def test_a_perfect_crowd_is_worth_nearly_as_much_as_expert_labels_everywhere():
    truth = np.tile([1.0, 0.0, 0.0], ALL // 3)
    pairs = make_pairs().assign(crowd=truth)
    pairs["expert"] = np.where(np.arange(ALL) < LABELLED, truth, np.nan)
    table = rates(pairs)
    crowd = table.loc[("crowd", "independent", "factuality")]
    powered = table.loc[("prediction-powered", "independent", "factuality")]
    gain = gains(pairs, ["error"], "prompt_id").loc["factuality"]
    assert gain["correlation"] == pytest.approx(1)
    assert gain["factor"] == pytest.approx((ALL - LABELLED) / ALL, rel=0.01)
    assert powered["estimate"] == pytest.approx(crowd["estimate"])
    assert powered["high"] - powered["low"] == pytest.approx(crowd["high"] - crowd["low"], rel=0.02)
    assert gain["worth"] == pytest.approx(ALL - LABELLED, rel=0.05)


def test_experts_alone_have_the_classical_interval():
    pairs = make_pairs()
    row = rates(pairs).loc[("experts", "independent", "factuality")]
    low, high = classical_mean_ci(arrays(pairs)[0], alpha=0.05)
    assert row[["low", "high"]].tolist() == pytest.approx([100 * low, 100 * high])


def test_resampled_interval_of_independent_outputs_is_close_to_the_package():
    table = rates(make_pairs(), n_boot=4000).loc["prediction-powered"]
    widths = table["high"] - table["low"]
    assert widths["resampled"].item() == pytest.approx(widths["independent"].item(), rel=0.1)
    assert widths["Wilson"].item() == pytest.approx(widths["independent"].item(), rel=0.1)


def test_copies_of_outputs_within_prompts_widen_all_but_the_package_interval():
    once = make_pairs()
    twice = pd.concat([once, once], ignore_index=True)
    ratio = [
        (table["high"] - table["low"]).loc["prediction-powered"].droplevel("error")
        for table in (rates(once, n_boot=4000), rates(twice, n_boot=4000))
    ]
    ratio = ratio[1] / ratio[0]
    assert ratio["independent"] == pytest.approx(np.sqrt(0.5), rel=0.02)
    assert ratio["Wilson"] == pytest.approx(1, rel=0.03)
    assert ratio["resampled"] == pytest.approx(1, rel=0.05)


def test_row_order_and_labels_of_prompts_do_not_matter():
    pairs = make_pairs()
    renamed = pairs.assign(prompt_id="prompt " + pairs["prompt_id"].astype(str).str.zfill(3))
    shuffled = renamed.sample(frac=1, random_state=3)
    pd.testing.assert_frame_equal(rates(shuffled), rates(pairs))


def test_no_error_found_still_leaves_an_interval():
    pairs = make_pairs(rate=0.0)
    table = rates(pairs)
    assert table.loc[("experts", "independent", "factuality"), "high"] == 0
    assert table.loc[("prediction-powered", "Wilson", "factuality"), "high"] == pytest.approx(
        100 * 3.8415 / (LABELLED + 3.8415), rel=1e-3
    )


def test_crowd_bias_finds_what_the_crowd_misses():
    pairs = pd.concat([make_pairs(seed, imagined=0.0) for seed in range(10)], ignore_index=True)
    pairs["prompt_id"] = np.arange(len(pairs))
    rng = np.random.default_rng(0)
    row = crowd_bias(pairs, ["error"], "prompt_id", 999, rng).loc["factuality"]
    assert row["low"] < -0.4 * 30 < row["high"] < 0
    assert row["p_value"] == pytest.approx(0.002)


def test_groups_are_told_apart():
    pairs = pd.concat(
        [make_pairs(0).assign(arm="high"), make_pairs(1, rate=0.1).assign(arm="low")],
        ignore_index=True,
    )
    both = rates(pairs, ["error", "arm"]).xs("independent", level="interval")
    alone = rates(make_pairs(1, rate=0.1)).xs("independent", level="interval")
    np.testing.assert_allclose(both.xs("low", level="arm"), alone)


@pytest.mark.parametrize("lacking", ["with", "without"])
def test_group_that_lacks_a_kind_of_output(lacking):
    pairs = make_pairs()
    pairs = pairs[pairs["expert"].isna()] if lacking == "with" else pairs.dropna()
    with pytest.raises(ValueError, match=f"'factuality' has no output {lacking} an expert label"):
        rates(pairs)


def test_simulated_labels_have_the_rates_they_should():
    design = LabellingDesign(rate=0.2, outputs_per_prompt=5, raters=1)
    crowd, truth = simulate_labels(np.random.default_rng(0), design, 200)
    assert truth.mean() == pytest.approx(0.2, abs=0.005)
    assert crowd[truth == 1].mean() == pytest.approx(design.sensitivity, abs=0.01)
    assert crowd[truth == 0].mean() == pytest.approx(design.false_positive, abs=0.005)
    within = np.corrcoef(truth[:, :, 0].ravel(), truth[:, :, 1].ravel())[0, 1]
    assert 0.03 < within < 0.2


def test_package_interval_covers_frequent_errors_of_independent_outputs():
    design = LabellingDesign(rate=0.4, prompts=1500, labelled_prompts=300, prompt_share=0.0)
    table = coverage(design, 400, 100, np.random.default_rng(0)).loc["prediction-powered"]
    row = table.loc["independent"]
    assert row["coverage"] == pytest.approx(95, abs=4 * row["simulation_error"])
    assert row["bias"] == pytest.approx(0, abs=0.5)


def test_clusters_and_rare_errors_break_the_package_interval_but_not_wilsons():
    clustered = LabellingDesign(rate=0.2, outputs_per_prompt=5, prompt_share=0.5)
    rare = LabellingDesign(rate=0.02)
    for design in (clustered, rare):
        table = coverage(design, 400, 100, np.random.default_rng(0)).loc["prediction-powered"]
        assert table.loc["independent", "coverage"] < 88
        assert table.loc["Wilson", "coverage"] > 91


def test_the_crowd_alone_is_confidently_wrong():
    table = coverage(LabellingDesign(rate=0.2), 100, 100, np.random.default_rng(0)).loc["crowd"]
    assert (table["coverage"] == 0).all()
    assert (table["bias"] < -10).all()


def counted_pairs(true_positive=3, false_negative=7, false_positive=2, true_negative=28):
    """One row per output, each in a prompt of its own."""
    counts = [true_positive, false_negative, false_positive, true_negative]
    table = pd.DataFrame({"crowd": [1.0, 0, 1, 0], "expert": [1.0, 1, 0, 0]})
    table = table.loc[np.repeat(np.arange(4), counts)].reset_index(drop=True)
    return table.assign(error="factuality", prompt_id=np.arange(len(table)))


def make_arms(low, high):
    return pd.concat([low.assign(arm="low"), high.assign(arm="high")], ignore_index=True).assign(
        prompt_id=lambda table: np.arange(len(table))
    )


def compare(pairs, n_permutations=999):
    rng = np.random.default_rng(0)
    by_arm = detection_rates(pairs, ["error", "arm"], "prompt_id", 10, np.random.default_rng(0))
    return compare_detection(pairs, by_arm, {"tone": ("low", "high")}, n_permutations, rng)


def test_a_clear_change_of_sensitivity_is_found_with_its_sign():
    table = compare(make_arms(counted_pairs(18, 2), counted_pairs(2, 18))).loc["tone"]
    row = table.loc[("sensitivity", "factuality")]
    assert row["estimate"] == pytest.approx(-80)
    assert row["high"] < 0
    assert row["p_value"] == pytest.approx(0.001)
    assert table.loc[("specificity", "factuality"), "estimate"] == pytest.approx(0)


def test_p_values_of_balanced_groups_are_those_of_fishers_exact_test():
    pairs = make_arms(counted_pairs(12, 8), counted_pairs(6, 14))
    row = compare(pairs, 20_000).loc[("tone", "sensitivity", "factuality")]
    assert row["p_value"] == pytest.approx(fisher_exact([[12, 8], [6, 14]]).pvalue, abs=0.01)


def test_a_group_without_such_outputs_cannot_be_compared():
    row = (
        compare(make_arms(counted_pairs(0, 0), counted_pairs()))
        .loc[("tone", "sensitivity")]
        .iloc[0]
    )
    assert np.isnan(row["estimate"])
    assert np.isnan(row["p_value"])


def test_expert_share_in_a_comparison():
    pairs = make_arms(counted_pairs().assign(expert=0.5), counted_pairs())
    with pytest.raises(ValueError, match="an expert label is a share"):
        compare(pairs)


def test_group_without_expert_labels():
    with pytest.raises(ValueError, match="experts labelled no output of arm 'high': there are"):
        compare(counted_pairs().assign(arm="low"))
