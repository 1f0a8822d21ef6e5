"""Error and detection rates, prediction-powered rates: hand tables, known truths."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from helpers.stats import rates

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
