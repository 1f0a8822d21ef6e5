"""Contrasts of single marks: hand-computed shares, statsmodels as reference, messages."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.regression.linear_model import OLS

from helpers.stats import clustered

ARMS = {"tone": ("low", "high"), "from base": ("base", "high")}


def make_marks(n_raters: int = 80, seed: int = 1, leaning: float = 0.0) -> pd.DataFrame:
    """Marks of raters who differ much; with `leaning`, keen raters see more of arm ``"high"``."""
    rng = np.random.default_rng(seed)
    keen = rng.random(n_raters)
    rater = np.repeat(np.arange(n_raters), 6)
    more = 1 / 3 + leaning * (keen[rater] - 0.5)
    arm = np.where(rng.random(len(rater)) < more, "high", rng.choice(["low", "base"], len(rater)))
    chance = 0.2 + 0.5 * keen[rater] - 0.15 * (arm == "high")
    return pd.DataFrame(
        {
            "arm": arm,
            "rater_id": rater,
            "prompt_id": rng.integers(30, size=len(rater)),
            "factuality": (rng.random(len(rater)) < chance).astype(float),
            "relevance": (rng.random(len(rater)) < 0.2).astype(float),
        }
    )


def test_contrasts_are_differences_of_shares():
    table = make_marks()
    contrasts = clustered.mark_contrasts(table, ["factuality", "relevance"], ARMS).value
    shares = 100 * table.groupby("arm")[["factuality", "relevance"]].mean()
    for error in shares:
        expected = shares.loc["high", error] - shares.loc["low", error]
        assert contrasts["tone", error] == pytest.approx(expected)
    assert contrasts["from base", "relevance"] == pytest.approx(
        shares.loc["high", "relevance"] - shares.loc["base", "relevance"]
    )


@pytest.mark.parametrize("within", [None, "rater_id"])
def test_estimates_and_two_way_errors_are_those_of_dummy_regression(within):
    table = make_marks()
    clusters = table[["rater_id", "prompt_id"]]
    dummies = pd.get_dummies(table["arm"], dtype=float)[["base", "high"]]
    level = table["rater_id"].astype(str) if within else pd.Series("all", index=table.index)
    design = pd.concat([dummies, pd.get_dummies(level, dtype=float)], axis=1).to_numpy()
    reference = OLS(100 * table["factuality"].to_numpy(), design).fit(
        cov_type="cluster", cov_kwds={"groups": clusters.to_numpy()}
    )
    row = (
        clustered.mark_contrasts(table, ["factuality"], ARMS, within)
        .table(clusters)
        .loc[("tone", "factuality")]
    )
    error = np.sqrt(reference.cov_params()[1, 1])
    for_parameters = np.sqrt((len(table) - 1) / (len(table) - design.shape[1]))
    assert row["estimate"] == pytest.approx(reference.params[1])
    assert row["standard_error"] * for_parameters == pytest.approx(error)


def test_comparison_within_raters_removes_their_leaning_to_an_arm():
    table = make_marks(4_000, leaning=0.6)
    plain, within = (
        clustered.mark_contrasts(table, ["factuality"], ARMS, column).value["tone", "factuality"]
        for column in (None, "rater_id")
    )
    assert within == pytest.approx(-15, abs=2)
    assert plain > within + 5


def test_raters_of_one_arm_do_not_count_within_raters():
    table = make_marks()
    lone = pd.DataFrame(
        {"arm": "high", "rater_id": [900, 901], "prompt_id": [1, 2], "factuality": [1.0, 0.0]}
    )
    more = pd.concat([table, lone], ignore_index=True)
    both = [
        clustered.mark_contrasts(t, ["factuality"], ARMS, "rater_id").value for t in (table, more)
    ]
    pd.testing.assert_series_equal(*both)


def test_an_unknown_arm_is_named_with_those_there_are():
    with pytest.raises(ValueError, match=r"no marks in arm 'cold': .* arms \['base', 'high', 'l"):
        clustered.mark_contrasts(make_marks(), ["factuality"], {"tone": ("cold", "high")})


def test_arms_that_no_rater_links_cannot_be_compared_within_raters():
    table = make_marks(2).assign(arm=np.repeat(["low", "high"], 6))
    message = "contrast 'tone': nobody in column 'rater_id' saw both arms"
    with pytest.raises(ValueError, match=message):
        clustered.mark_contrasts(table, ["factuality"], {"tone": ("low", "high")}, "rater_id")


def test_error_columns_must_be_numbers():
    table = make_marks().assign(factuality="yes")
    with pytest.raises(ValueError, match="column 'factuality' is of type str: convert it"):
        clustered.mark_contrasts(table, ["factuality"], ARMS)
