"""Accuracies over questions: tests, averages and standard errors."""

import numpy as np
import pandas as pd
import pytest

from helpers.stats import accuracy


def test_the_two_sided_p_of_known_quantiles():
    np.testing.assert_allclose(
        accuracy.two_sided_p([0, 1.959964, -2.575829]), [1, 0.05, 0.01], atol=1e-6
    )


def test_z_is_the_difference_in_standard_errors():
    z, p_value = accuracy.z_test([0.8, 0.5], [0.03, 0.03], [0.7, 0.5], [0.04, 0.04])
    np.testing.assert_allclose(z, [2, 0])
    np.testing.assert_allclose(p_value, [0.0455, 1], atol=1e-4)


def test_correlated_errors_make_a_difference_more_certain():
    z, _ = accuracy.z_test(0.8, 0.04, 0.7, 0.04, correlation=0.5)
    assert z == pytest.approx(0.1 / 0.04)


def test_a_paired_test_on_the_same_questions_is_the_test_with_their_correlation():
    rng = np.random.default_rng(2)
    first = rng.uniform(size=200)
    second = 0.5 * first + 0.5 * rng.uniform(size=200)
    ses = [column.std(ddof=1) / np.sqrt(200) for column in (first, second)]
    correlation = np.corrcoef(first, second)[0, 1]
    z, _ = accuracy.z_test(first.mean(), ses[0], second.mean(), ses[1], correlation)
    difference = first - second
    assert z == pytest.approx(difference.mean() / (difference.std(ddof=1) / np.sqrt(200)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.5, -0.1, 0.5, 0.1), "a standard error is negative: give square roots of variances"),
        ((0.5, 0.1, 0.5, 0.1, 1.2), "correlation must be between -1 and 1, got 1.2"),
        ((0.5, 0.0, 0.4, 0.0), "a difference has no variance, so that it cannot be tested"),
    ],
)
def test_unusable_errors_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        accuracy.z_test(*arguments)


def test_a_weighted_mean_and_its_error_by_hand():
    assert accuracy.weighted_mean([0.2, 0.8], [0.1, 0.2], [3, 1]) == pytest.approx(
        (0.35, np.sqrt(0.075**2 + 0.05**2))
    )


def test_only_the_proportions_of_weights_matter():
    once = accuracy.weighted_mean([0.2, 0.8], [0.1, 0.2], [3, 1])
    assert accuracy.weighted_mean([0.2, 0.8], [0.1, 0.2], [300, 100]) == pytest.approx(once)


@pytest.mark.parametrize("weights", [[0, 0], [2, -1]])
def test_impossible_weights_are_refused(weights):
    with pytest.raises(ValueError, match="weights must not be negative, and not all of them zero"):
        accuracy.weighted_mean([0.2, 0.8], [0.1, 0.2], weights)


def test_the_interval_of_a_mean_deviation_matches_its_spread_in_repetitions():
    rng = np.random.default_rng(3)
    mean, se = np.array([0.9, 0.5, 0.7]), np.array([0.03, 0.02, 0.04])
    others = np.array([[0.5, 0.6], [0.9, 0.8], [0.3, 0.2]])
    other_ses = np.full((3, 2), 0.03)
    result = accuracy.mean_deviation(mean, se, others, other_ses)
    draws = rng.normal(mean, se, (20_000, 3))[..., None] - rng.normal(others, 0.03, (20_000, 3, 2))
    low, high = np.quantile(np.abs(draws).mean(axis=(1, 2)), [0.025, 0.975])
    assert result["estimate"] == pytest.approx(np.mean([0.4, 0.3, 0.4, 0.3, 0.4, 0.5]))
    assert (result["low"], result["high"]) == pytest.approx((low, high), abs=0.001)


def test_the_deviation_by_chance_is_what_equal_accuracies_show():
    rng = np.random.default_rng(4)
    first, second = rng.normal(0.6, [[0.03], [0.05]], (2, 200_000)), rng.normal(0.6, 0.04, 200_000)
    seen = np.abs(first - second).mean()
    others, other_ses = np.full((2, 1), 0.6), np.full((2, 1), 0.04)
    result = accuracy.mean_deviation([0.6, 0.6], [0.03, 0.05], others, other_ses)
    assert result["by_chance"] == pytest.approx(seen, rel=0.01)


def test_no_accuracies_have_a_larger_standard_error_than_those_of_nothing_and_all():
    right = np.repeat([0.0, 1.0], [30, 70])
    assert accuracy.largest_se(0.7, 100) == pytest.approx(right.std(ddof=1) / 10)
    mixed = np.random.default_rng(0).beta(0.5, 0.2, 100)
    assert mixed.std(ddof=1) / 10 < accuracy.largest_se(mixed.mean(), 100)


@pytest.fixture
def answers() -> pd.DataFrame:
    """Answers to 4,000 questions of varying difficulty, 1 to 6 each."""
    rng = np.random.default_rng(6)
    question_id = np.repeat(np.arange(4000), rng.integers(1, 7, 4000))
    difficulty = rng.beta(2, 1, 4000)
    correct = rng.random(len(question_id)) < difficulty[question_id]
    return pd.DataFrame({"question_id": question_id, "correct": correct.astype(int)})


def test_the_accuracy_of_a_question_by_hand():
    answers = pd.DataFrame(
        {"model": list("xxxxy"), "question_id": list("aaaaa"), "correct": [1, 1, 1, 0, 0]}
    )
    questions = accuracy.question_accuracy(answers, ["model", "question_id"])
    assert questions.loc[("x", "a")].tolist() == pytest.approx([4, 0.75, 0.25])
    assert questions.loc[("y", "a"), ["n_answers", "accuracy"]].tolist() == [1, 0]
    assert np.isnan(questions.loc[("y", "a"), "se"])


def test_a_missing_answer_is_refused_with_its_row():
    answers = pd.DataFrame({"question_id": ["a", "a"], "correct": [1, None]})
    with pytest.raises(ValueError, match="column 'correct' has 1 missing value, first in row 1"):
        accuracy.question_accuracy(answers, ["question_id"])


def test_the_parts_of_the_variance_are_recovered(answers):
    result = accuracy.dataset_accuracy(accuracy.question_accuracy(answers, ["question_id"]))
    shape = np.array([2, 1])
    between = shape.prod() / (shape.sum() ** 2 * (shape.sum() + 1))
    chance = shape.prod() / (shape.sum() * (shape.sum() + 1))
    within = chance * np.mean(1 / np.arange(1, 7))
    assert result["accuracy"] == pytest.approx(2 / 3, abs=4 * result["se"])
    assert result["between"] == pytest.approx(between, rel=0.15)
    assert result["within"] == pytest.approx(within, rel=0.05)


def test_the_parts_add_up_to_the_variance_of_the_average(answers):
    result = accuracy.dataset_accuracy(accuracy.question_accuracy(answers, ["question_id"]))
    total = (result["between"] + result["within"]) / result["n_questions"]
    assert result["se"] == pytest.approx(np.sqrt(total))


def test_the_standard_error_matches_the_spread_over_samples_of_questions():
    rng = np.random.default_rng(8)
    difficulty = rng.beta(2, 1, (2000, 80))
    seen = rng.binomial(3, difficulty) / 3
    ses = [
        accuracy.dataset_accuracy(pd.DataFrame({"n_answers": 3, "accuracy": sample}))["se"]
        for sample in seen[:200]
    ]
    assert np.mean(ses) == pytest.approx(seen.mean(axis=1).std(), rel=0.05)


def test_the_order_of_answers_does_not_matter(answers):
    first, second = (
        accuracy.dataset_accuracy(accuracy.question_accuracy(table, ["question_id"]))
        for table in (answers, answers.sample(frac=1, random_state=0))
    )
    pd.testing.assert_series_equal(first, second)


def test_single_answers_leave_the_parts_of_the_variance_open():
    result = accuracy.dataset_accuracy(
        pd.DataFrame({"n_answers": [1, 1, 1], "accuracy": [1.0, 0.0, 1.0]})
    )
    assert result["se"] == pytest.approx(1 / 3)
    assert result[["between", "within"]].isna().all()


def test_one_question_has_no_standard_error():
    questions = pd.DataFrame({"n_answers": [5], "accuracy": [0.6]})
    with pytest.raises(ValueError, match="a standard error needs at least 2 questions, got 1"):
        accuracy.dataset_accuracy(questions)
