"""The power of studies that are drawn: closed forms, seeds."""

import numpy as np
import pandas as pd
import pytest

from helpers.robustness import study_power
from helpers.robustness.study_model import example_model


def rng(seed=0):
    return np.random.default_rng(seed)


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


def test_few_prompts_are_drawn_at_once_and_every_study_is(monkeypatch):
    monkeypatch.setattr(study_power, "PROMPTS_AT_ONCE", 25)
    assert study_power._portions(5, 12) == [2, 2, 1]
    assert study_power._portions(2, 40) == [1, 1]


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
