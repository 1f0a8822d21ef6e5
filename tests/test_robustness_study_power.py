"""The power of studies that are drawn: closed forms, single analyses, seeds."""

import numpy as np
import pandas as pd
import pytest

from helpers.robustness import study_power
from helpers.robustness.study_model import draw, example_model
from helpers.stats.lasso import ols
from helpers.stats.moments import cluster_moments


def rng(seed=0):
    return np.random.default_rng(seed)


FEATURES = ["refusal", "scope"]


@pytest.fixture
def frame():
    """500 prompts, two errors, a loss of half a point and none."""
    drawn = rng()
    table = pd.DataFrame(
        (drawn.random((2500, 2)) < 0.2).astype(float), columns=FEATURES
    )
    prompt = np.repeat(np.arange(500), 5)
    noise = drawn.normal(size=2500) + drawn.normal(size=500)[prompt]
    return table.assign(score=4 - 0.5 * table["refusal"] + noise, prompt_id=prompt)


def least_squares(frame, sizes):
    moments = cluster_moments(frame, FEATURES, "score", "prompt_id")
    return study_power._least_squares(moments.products[: sizes[-1]], sizes)


def test_a_study_gets_the_estimates_and_errors_of_clustered_least_squares(frame):
    sizes = [20, 40]
    estimates, errors = least_squares(frame, sizes)
    for place, size in enumerate(sizes):
        rows = frame[frame["prompt_id"] < size]
        expected = ols(rows, FEATURES, "score", "prompt_id").iloc[1:]
        np.testing.assert_allclose(estimates[place], expected["estimate"])
        np.testing.assert_allclose(errors[place], expected["standard_error"])


def test_a_feature_that_does_not_vary_or_cannot_be_told_apart_has_no_estimate(frame):
    for scope, missing in ((0.0, [False, True]), (frame["refusal"], [True, True])):
        estimates, _ = least_squares(frame.assign(scope=scope), [30])
        assert np.isnan(estimates[0]).tolist() == missing


def test_detection_asks_for_an_interval_on_the_right_side():
    index = pd.MultiIndex.from_product(
        [[0, 1, 2, 3], ["refusal"]], names=["study", "feature"]
    )
    ends = {"low": [0.1, -0.1, 0.3, np.nan], "high": [0.9, 0.9, 0.5, np.nan]}
    studies = pd.DataFrame(ends, index=index)
    shares = [
        study_power.detection(studies, {"refusal": sign}, "feature")["estimate"].item()
        for sign in (1, -1, 0)
    ]
    assert shares == [0.5, 0.0, 0.0]


def test_more_raters_and_prompts_give_more_power_and_a_gain_is_no_loss():
    cases = {"loss": pd.Series({"refusal": 1.0})}
    found = study_power.loss_power(example_model(), cases, [1, 3], [4, 12], 300, 0)[
        "estimate"
    ]
    assert found["loss", 1, 4, "refusal"] < found["loss", 1, 12, "refusal"]
    assert found["loss", 1, 4, "refusal"] < found["loss", 3, 4, "refusal"]
    studies = study_power.new_studies(example_model(), cases, [3], [20], 50, 0)[
        "loss", 3
    ]
    assert (
        study_power.detection(studies, {"refusal": 1}, "feature")["estimate"]
        .eq(0)
        .all()
    )


def test_without_a_loss_one_study_in_forty_finds_one():
    cases = {"none": pd.Series({"refusal": 0.0})}
    studies = study_power.new_studies(example_model(), cases, [3], [60], 2000, 0)[
        "none", 3
    ]
    found = study_power.detection(studies, {"refusal": -1}, "feature")[
        "estimate"
    ].item()
    assert found == pytest.approx(0.025, abs=0.015)


def test_every_study_is_drawn_anew_however_many_are_drawn_at_once(monkeypatch):
    monkeypatch.setattr(study_power, "PROMPTS_AT_ONCE", 25)
    assert study_power._portions(5, 12) == [2, 2, 1]
    assert study_power._portions(2, 40) == [1, 1]
    cases = {"loss": pd.Series({"refusal": 1.0})}
    studies = study_power.new_studies(example_model(), cases, [2], [6, 12], 3, 0)[
        "loss", 2
    ]
    drawn = rng()
    expected = []
    for count in (2, 1):
        table = draw(example_model(), count * 12, 2, drawn).table(2)
        for study in range(count):
            rows = table[table["prompt_id"] // 12 == study]
            expected.append(ols(rows, ["refusal"], "score", "prompt_id").loc["refusal"])
    columns = ["estimate", "standard_error", "low", "high"]
    assert np.allclose(studies.loc[12, columns], pd.DataFrame(expected)[columns])


def test_gaps_are_those_of_the_model_and_do_not_depend_on_the_run():
    power, again = (
        study_power.gap_power(example_model(), [1, 3], [(500, 100)], 40, 5)
        for _ in range(2)
    )
    # marks and experts' labels that the model's probabilities lead to, in percent
    single = 0.3 * 80 + 0.7 * 5
    both_of_three = 0.3 * (3 * 0.8**2 * 0.2 + 0.8**3) + 0.7 * (
        3 * 0.05**2 * 0.95 + 0.05**3
    )
    expert = 0.3 * 90 + 0.7 * 2
    expected = [single - expert, 100 * both_of_three - expert]
    assert power["gap"].tolist() == pytest.approx(expected, abs=0.3)
    pd.testing.assert_frame_equal(power, again)


def test_the_error_of_a_gap_is_that_of_two_means_or_of_their_paired_difference():
    crowd, expert = rng().integers(0, 6, size=(2, 4000, 1)).astype(float)
    chosen = rng(1).integers(4000, size=(300, 100))
    studies = np.array(
        [study_power._gap(crowd[c], expert[c], 100, 25)[:, 0] for c in chosen]
    )
    spread = np.sqrt(crowd.var() / 100 + expert.var() / 25)
    assert studies[:, 0].std() == pytest.approx(spread, rel=0.12)
    assert studies[:, 1].mean() == pytest.approx(spread, rel=0.05)
    paired = study_power._gap(crowd, crowd + 1, 50, 50)[:, 0]
    np.testing.assert_allclose(paired, [-1, 0], atol=1e-12)
