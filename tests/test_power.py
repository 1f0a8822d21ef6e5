import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, t

from helpers.beyond import study_design
from helpers.stats.lasso import ols
from helpers.stats.moments import cluster_moments


@pytest.fixture(scope="module")
def frame():
    """500 prompts, two errors, a loss of half a point and none."""
    rng = np.random.default_rng(0)
    labels = (rng.random((2500, 2)) < 0.2).astype(float)
    table = pd.DataFrame(labels, columns=["refusal", "scope"])
    prompt = np.repeat(np.arange(500), 5)
    score = 4 - 0.5 * table["refusal"] + rng.normal(size=2500) + rng.normal(size=500)[prompt]
    return table.assign(score=score, prompt_id=prompt)


@pytest.fixture(scope="module")
def moments(frame):
    return cluster_moments(frame, ["refusal", "scope"], "score", "prompt_id")


def test_studies_get_the_estimates_and_errors_of_the_project(frame, moments):
    studies = study_design.study_losses(moments, [20, 40], 1, np.random.default_rng(3))
    drawn = np.random.default_rng(3).integers(500, size=40)
    for size in (20, 40):
        rows = [frame[frame["prompt_id"] == prompt] for prompt in drawn[:size]]
        rows = [part.assign(prompt_id=copy) for copy, part in enumerate(rows)]
        expected = ols(pd.concat(rows), ["refusal", "scope"], "score", "prompt_id").iloc[1:]
        columns = ["estimate", "standard_error", "low", "high"]
        assert np.allclose(studies.loc[size], expected[columns])


def test_a_feature_that_does_not_vary_has_no_estimate(frame):
    flat = cluster_moments(frame.assign(scope=0.0), ["refusal", "scope"], "score", "prompt_id")
    studies = study_design.study_losses(flat, [30], 2, np.random.default_rng(0))
    missing = studies["estimate"].isna().groupby("feature").all()
    assert missing.to_dict() == {"refusal": False, "scope": True}


def test_features_that_cannot_be_told_apart_have_no_estimate(frame):
    twins = cluster_moments(
        frame.assign(scope=frame["refusal"]), ["refusal", "scope"], "score", "prompt_id"
    )
    studies = study_design.study_losses(twins, [30], 1, np.random.default_rng(0))
    assert studies.isna().all(axis=None)


def test_power_is_what_the_normal_approximation_says(moments):
    studies = study_design.study_losses(moments, [40], 1000, np.random.default_rng(1))
    found = study_design.detection(studies, {"refusal": -1, "scope": -1}, "feature").loc[40]
    refusal = studies["estimate"].xs("refusal", level="feature")
    expected = norm.cdf(-refusal.mean() / refusal.std() - t.ppf(0.975, 39))
    assert found.loc["refusal", "estimate"] == pytest.approx(expected, abs=0.06)
    assert found.loc["scope", "estimate"] < 0.06


def test_bootstrap_and_clustered_intervals_agree(moments):
    studies = study_design.study_losses(moments, [60], 40, np.random.default_rng(2))
    resampled = study_design.study_bootstraps(moments, 60, 40, 199, np.random.default_rng(2))
    width, other = ((table["high"] - table["low"]).mean() for table in (studies, resampled))
    assert other == pytest.approx(width, rel=0.1)
    first = [table["estimate"].iloc[0] for table in (studies, resampled)]
    assert first[0] == pytest.approx(first[1])


def test_gaps_of_paired_rates_have_paired_errors():
    rng = np.random.default_rng(0)
    crowd = rng.integers(0, 4, size=(300, 2)).astype(float)
    studies = study_design.study_gaps(
        crowd, crowd + 1.0, 5, [(50, 50)], 3, np.random.default_rng(1)
    )
    assert np.allclose(studies["estimate"], -20)
    assert np.allclose(studies["standard_error"], 0)


def test_the_error_of_a_gap_is_that_of_two_means():
    rng = np.random.default_rng(0)
    crowd, expert = (rng.integers(0, 6, size=(4000, 1)).astype(float) for _ in range(2))
    studies = study_design.study_gaps(crowd, expert, 5, [(100, 25)], 400, np.random.default_rng(1))
    spread = 20 * np.sqrt(crowd.var() / 100 + expert.var() / 25)
    assert studies["estimate"].std() == pytest.approx(spread, rel=0.1)
    assert studies["standard_error"].mean() == pytest.approx(spread, rel=0.05)


def test_detection_asks_for_the_right_side():
    index = pd.MultiIndex.from_product([[0, 1], ["refusal"]], names=["study", "feature"])
    studies = pd.DataFrame({"low": [0.1, -0.1], "high": [0.9, 0.9]}, index=index)
    shares = [
        study_design.detection(studies, {"refusal": sign}, "feature")["estimate"].item()
        for sign in (1, -1, 0)
    ]
    assert shares == [0.5, 0.0, 0.0]


def test_a_study_without_an_interval_detects_nothing():
    index = pd.MultiIndex.from_product([[0], ["scope"]], names=["study", "feature"])
    studies = pd.DataFrame({"low": [np.nan], "high": [np.nan]}, index=index)
    assert study_design.detection(studies, {"scope": -1}, "feature")["estimate"].item() == 0


def test_the_size_needed_lies_on_the_power_curve():
    sizes = np.array([100, 400, 900])
    exact = norm.cdf(0.1 * np.sqrt(sizes) - 1.96)
    table = pd.DataFrame(dict.fromkeys(("estimate", "low", "high"), exact))
    needed = study_design.size_needed(sizes, table)
    assert needed["estimate"] == pytest.approx(((1.96 + norm.ppf(0.8)) / 0.1) ** 2)


def test_sizes_out_of_reach_are_infinite_or_the_smallest():
    shares = {0.1: [np.inf] * 3, 0.9: [100.0] * 3}
    for share, expected in shares.items():
        table = pd.DataFrame(share, index=range(2), columns=["estimate", "low", "high"])
        assert study_design.size_needed([100, 200], table).tolist() == expected
