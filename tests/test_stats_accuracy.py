"""Accuracies over questions: tests, averages, relations, what rounding leaves open."""

import numpy as np
import pandas as pd
import pytest

from helpers.stats import accuracy


def test_p_values_of_known_z_values():
    known = accuracy.two_sided_p([0, 1.959964, -2.575829])
    np.testing.assert_allclose(known, [1, 0.05, 0.01], atol=1e-6)


@pytest.mark.parametrize("correlation", [0.0, 0.6])
def test_the_interval_of_a_contrast_matches_its_spread_in_repetitions(correlation):
    rng = np.random.default_rng(3)
    ways = ["model", "first", "second"]
    mean = pd.DataFrame([[90, 50, 60], [50, 90, 80], [70, 30, 20]], columns=ways)
    se = pd.DataFrame([[3, 4, 3], [2, 3, 5], [4, 3, 3]], columns=ways)
    # the mean distance of the model from the two others, with signs as they are
    signs = np.sign(mean.sub(mean["model"], axis="index"))
    weights = signs.assign(model=-signs.sum(axis="columns")) / 6
    common = np.sqrt(correlation) * rng.normal(size=(20_000, 3, 1))
    own = np.sqrt(1 - correlation) * rng.normal(size=(20_000, 3, 3))
    drawn = mean.to_numpy() + se.to_numpy() * (common + own)
    distances = np.abs(drawn[:, :, :1] - drawn[:, :, 1:]).mean(axis=(1, 2))
    result = accuracy.contrast(mean, se, weights, correlation)
    assert result["estimate"] == pytest.approx(np.mean([40, 30, 40, 30, 40, 50]))
    expected = np.quantile(distances, [0.025, 0.975])
    assert result[["low", "high"]].to_list() == pytest.approx(expected, abs=0.1)


def test_the_accuracy_of_a_question_by_hand():
    answers = pd.DataFrame(
        {
            "model": list("xxxxy"),
            "question_id": list("aaaaa"),
            "correct": [1, 1, 1, 0, 0],
        }
    )
    questions = accuracy.question_accuracy(answers, ["model", "question_id"])
    expected = [[4, 0.75, 0.25], [1, 0, np.nan]]
    np.testing.assert_allclose(questions.to_numpy(), expected)
    with pytest.raises(
        ValueError, match="column 'correct' has 1 missing value, first in row 1"
    ):
        accuracy.question_accuracy(
            answers.assign(correct=[1, None, 1, 0, 0]), ["model"]
        )


def test_the_parts_of_the_variance_are_recovered_and_add_up():
    rng = np.random.default_rng(6)
    question_id = np.repeat(np.arange(4000), rng.integers(1, 7, 4000))
    correct = rng.random(len(question_id)) < rng.beta(2, 1, 4000)[question_id]
    answers = pd.DataFrame({"question_id": question_id, "correct": correct.astype(int)})
    result = accuracy.dataset_accuracy(
        accuracy.question_accuracy(answers, ["question_id"])
    )
    # chances follow a beta(2, 1) distribution: mean 2/3, variance 1/18, mean p (1 - p)
    # 1/6
    assert result["accuracy"] == pytest.approx(2 / 3, abs=4 * result["se"])
    assert result["between"] == pytest.approx(1 / 18, rel=0.15)
    assert result["within"] == pytest.approx(np.mean(1 / np.arange(1, 7)) / 6, rel=0.05)
    total = (result["between"] + result["within"]) / result["n_questions"]
    assert result["se"] == pytest.approx(np.sqrt(total))


def test_the_standard_error_matches_the_spread_over_samples_of_questions():
    rng = np.random.default_rng(8)
    seen = rng.binomial(3, rng.beta(2, 1, (2000, 80))) / 3
    ses = [
        accuracy.dataset_accuracy(pd.DataFrame({"n_answers": 3, "accuracy": sample}))[
            "se"
        ]
        for sample in seen[:40]
    ]
    assert np.mean(ses) == pytest.approx(seen.mean(axis=1).std(), rel=0.06)


def test_single_answers_leave_the_parts_of_the_variance_open():
    questions = pd.DataFrame({"n_answers": [1, 1, 1], "accuracy": [1.0, 0.0, 1.0]})
    result = accuracy.dataset_accuracy(questions)
    assert result["se"] == pytest.approx(1 / 3)
    assert result[["between", "within"]].isna().all()


def test_observed_correlations_of_exact_predictions_lie_at_the_ceiling():
    rng = np.random.default_rng(0)
    chance = rng.beta(1, 0.5, 800)
    n_answers = rng.integers(1, 8, 800)
    ceiling = accuracy.binomial_ceiling(chance, n_answers, 200, rng)
    seen = np.corrcoef(chance, rng.binomial(n_answers, chance) / n_answers)[0, 1]
    assert ceiling.min() < seen < ceiling.max()
    many = accuracy.binomial_ceiling(chance, [10**6] * 800, 5, rng)
    np.testing.assert_allclose(many, 1, atol=1e-4)


def test_z_values_of_all_unrounded_numbers_reach_the_ends_of_the_range():
    shifts = 0.005 * np.array(np.meshgrid(*[[-1, 0, 1]] * 4)).reshape(2, 2, -1)
    (first, second), (se, other_se) = (
        np.array([[[0.73], [0.92]], [[0.04], [0.02]]]) + shifts
    )
    z = (first - second) / np.hypot(se, other_se)
    low, high = accuracy.attainable_z(0.73, 0.04, 0.92, 0.02)
    assert (z.min(), z.max()) == (pytest.approx(low), pytest.approx(high))
    exchanged = accuracy.attainable_z(0.92, 0.02, 0.73, 0.04)
    assert exchanged == pytest.approx((-high, -low))


def test_an_accuracy_is_not_taken_to_exceed_one_nor_an_error_to_be_negative():
    low, high = accuracy.attainable_z(1.0, 0.1, 0.0, 0.1)
    assert low == pytest.approx(0.99 / np.hypot(0.105, 0.105))
    assert high == pytest.approx(1 / np.hypot(0.095, 0.095))
    assert accuracy.attainable_z(0.9, 0.02, 0.8, 0.0)[1] == pytest.approx(0.11 / 0.015)


def test_the_range_of_p_is_that_of_z():
    low, high = accuracy.attainable_p([-1.96, 0.0])
    np.testing.assert_allclose(low, accuracy.two_sided_p([1.965, 0.005]))
    np.testing.assert_allclose(high, accuracy.two_sided_p([1.955, 0.0]))


def test_deviations_of_all_unrounded_numbers_lie_in_the_range():
    shifts = np.random.default_rng(1).uniform(-0.005, 0.005, (1000, 2, 3))
    first = np.array([0.73, 0.51, 0.62])
    second = np.array([0.92, 0.51, 0.6])
    deviations = np.abs(first + shifts[:, 0] - second - shifts[:, 1]).mean(axis=1)
    low, high = accuracy.attainable_mean_deviation(first, second)
    assert (low, high) == pytest.approx((0.19 / 3, 0.24 / 3))
    assert low <= deviations.min() < deviations.max() <= high
