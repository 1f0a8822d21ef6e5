"""Error rates by arm and by rating: hand-computed tables, library oracles, invariances."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from helpers.stats.rates import (
    arm_contrasts,
    crowd_expert_gap,
    drop_refusals,
    error_rates,
    rates_by_rating,
    slopes,
)


def make_outputs(rates: dict[str, float], n_prompts: int, seed: int = 1) -> pd.DataFrame:
    """One output per prompt and arm, with independent factuality labels at the given rates."""
    rng = np.random.default_rng(seed)
    arms = np.tile(list(rates), n_prompts)
    return pd.DataFrame(
        {
            "prompt_id": np.repeat(np.arange(n_prompts), len(rates)),
            "arm": arms,
            "factuality": (rng.random(len(arms)) < pd.Series(arms).map(rates)).astype(float),
            "refusal": 0.0,
        }
    )


def test_refusal_rules_treat_ties_as_documented():
    outputs = pd.DataFrame({"refusal": [0.0, 0.5, 1.0]})
    assert list(drop_refusals(outputs, "majority").index) == [0, 1]
    assert list(drop_refusals(outputs, "any").index) == [0]
    assert list(drop_refusals(outputs, "none").index) == [0, 1, 2]


def test_unknown_refusal_rule_names_the_choices():
    with pytest.raises(ValueError, match=r"'strict' is unknown: choose one of \('majority'"):
        drop_refusals(pd.DataFrame({"refusal": [0.0]}), "strict")


def test_rates_of_unclustered_outputs_have_the_plain_wilson_interval():
    outputs = make_outputs({"baseline": 0.3}, 60)
    rate = error_rates(outputs, ["factuality"], "arm", "prompt_id").iloc[0]
    count = outputs["factuality"].sum()
    low, high = proportion_confint(count, 60, method="wilson")
    assert rate["estimate"] == pytest.approx(100 * count / 60)
    assert (rate["low"], rate["high"]) == pytest.approx((100 * low, 100 * high), rel=0.02)


def test_copies_of_an_output_within_a_prompt_do_not_narrow_the_interval():
    outputs = make_outputs({"baseline": 0.3}, 60)
    copies = pd.concat([outputs] * 3)
    once, thrice = (
        error_rates(table, ["factuality"], "arm", "prompt_id").iloc[0]
        for table in (outputs, copies)
    )
    assert thrice["n"] == 180
    assert thrice[["low", "high"]].tolist() == pytest.approx(
        once[["low", "high"]].tolist(), rel=0.01
    )


def test_a_rate_of_zero_keeps_an_interval_with_width():
    outputs = make_outputs({"baseline": 0.0}, 48)
    rate = error_rates(outputs, ["factuality"], "arm", "prompt_id").iloc[0]
    assert (rate["low"], rate["estimate"]) == (0.0, 0.0)
    assert 5 < rate["high"] < 10


def test_gap_interval_is_newcombes():
    crowd = make_outputs({"baseline": 0.1}, 80, seed=2)
    expert = make_outputs({"baseline": 0.3}, 50, seed=3).assign(
        prompt_id=lambda t: t["prompt_id"] + 80
    )
    rates = [error_rates(table, ["factuality"], "arm", "prompt_id") for table in (crowd, expert)]
    gap = crowd_expert_gap(*rates).iloc[0]
    counts = int(crowd["factuality"].sum()), int(expert["factuality"].sum())
    low, high = confint_proportions_2indep(counts[0], 80, counts[1], 50, method="newcomb")
    assert (gap["low"], gap["high"]) == pytest.approx((100 * low, 100 * high), rel=0.03)
    assert gap["estimate"] == pytest.approx(100 * (counts[0] / 80 - counts[1] / 50))


def test_contrasts_recover_known_changes():
    arms = ("assertive_low", "assertive_high")
    crowd = make_outputs(dict(zip(arms, (0.10, 0.05), strict=True)), 4000, seed=4)
    expert = make_outputs(dict(zip(arms, (0.15, 0.25), strict=True)), 4000, seed=5)
    result = arm_contrasts(
        crowd, expert, ["factuality"], arms, 400, np.random.default_rng(6)
    ).set_index("labels")
    truth = pd.Series({"crowd": -5.0, "expert": 10.0, "gap": -15.0})
    assert ((result["low"] < truth) & (truth < result["high"])).all()
    assert (result["p_value"] < 0.01).all()


def test_contrasts_do_not_depend_on_row_order():
    arms = ("assertive_low", "assertive_high")
    crowd = make_outputs(dict.fromkeys(arms, 0.2), 50, seed=7)
    shuffled = crowd.sample(frac=1, random_state=1)
    first, second = (
        arm_contrasts(t, t, ["factuality"], arms, 50, np.random.default_rng(8))
        for t in (crowd, shuffled)
    )
    pd.testing.assert_frame_equal(first, second)


def test_equal_arms_are_rarely_called_different():
    arms = ("assertive_low", "assertive_high")
    p_values = []
    for seed in range(120):
        crowd = make_outputs(dict.fromkeys(arms, 0.2), 60, seed=1000 + seed)
        expert = make_outputs(dict.fromkeys(arms, 0.3), 60, seed=2000 + seed)
        result = arm_contrasts(
            crowd, expert, ["factuality"], arms, 199, np.random.default_rng(seed)
        )
        p_values.append(result.set_index("labels").loc["gap", "p_value"])
    assert np.mean(np.array(p_values) < 0.05) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 120)


def test_a_contrast_with_an_arm_nobody_labelled_says_so():
    outputs = make_outputs({"baseline": 0.2}, 10)
    with pytest.raises(
        ValueError, match="no outputs in arm 'assertive_low': the table has the arms"
    ):
        arm_contrasts(
            outputs,
            outputs,
            ["factuality"],
            ("assertive_low", "baseline"),
            9,
            np.random.default_rng(0),
        )


def test_ratings_fall_into_bins_centred_on_multiples_of_the_width():
    outputs = pd.DataFrame(
        {
            "prompt_id": range(4),
            "assertiveness": [2.76, 3.24, 3.26, 3.74],
            "factuality": [0, 1, 1, 1],
        }
    )
    rates = rates_by_rating(outputs, ["factuality"], "assertiveness", 0.5, min_outputs=1)
    assert rates[["x", "n", "estimate"]].to_numpy().tolist() == [[3.0, 2, 50.0], [3.5, 2, 100.0]]


def test_bins_with_few_outputs_are_left_out():
    outputs = pd.DataFrame(
        {"prompt_id": range(3), "assertiveness": [1, 1, 5], "factuality": [0, 1, 1]}
    )
    rates = rates_by_rating(outputs, ["factuality"], "assertiveness", 1.0, min_outputs=2)
    assert rates["x"].tolist() == [1.0]


def test_a_bin_width_of_zero_is_refused():
    with pytest.raises(ValueError, match="bin width must be positive, got 0"):
        rates_by_rating(pd.DataFrame(), ["factuality"], "assertiveness", 0)


def test_an_error_that_nobody_has_gets_no_slope():
    outputs = pd.DataFrame(
        {"prompt_id": range(4), "rating": [1.0, 2, 3, 4], "seen": [0.0, 1, 0, 1], "unseen": 0.0}
    )
    result = slopes(outputs, ["unseen", "seen"], "rating").set_index("error")
    assert result.loc["unseen"].isna().all()
    assert result.loc["seen", "estimate"] == pytest.approx(20)


def test_slopes_within_arms_ignore_differences_between_arms():
    rng = np.random.default_rng(9)
    arm = np.repeat([0, 1], 500)
    rating = arm * 2 + rng.normal(size=1000)
    outputs = pd.DataFrame(
        {
            "prompt_id": np.arange(1000),
            "arm": arm,
            "rating": rating,
            "factuality": (rng.random(1000) < 0.2 + 0.6 * arm).astype(float),
        }
    )
    across = slopes(outputs, ["factuality"], "rating").iloc[0]
    within = slopes(outputs, ["factuality"], "rating", within="arm").iloc[0]
    assert across["low"] > 10
    assert within["low"] < 0 < within["high"]


def test_table_3_of_hosking_is_recomputed_from_the_released_labels(real_data):
    from helpers.studies import hosking

    crowd = drop_refusals(hosking.load_experiment_2("real").outputs(), "majority")
    labels = hosking.load_experts("real").labels
    expert = drop_refusals(labels[labels["batch"] == "main"], "majority")
    tables = [error_rates(table, ["factuality"], "arm", "prompt_id") for table in (crowd, expert)]
    gap = crowd_expert_gap(*tables).set_index("arm")["estimate"].round(1)
    assert gap.to_dict() == {
        "assertive_high": -22.3,
        "assertive_low": -5.4,
        "baseline": -16.1,
        "complex_high": -14.3,
        "complex_low": -19.9,
    }
