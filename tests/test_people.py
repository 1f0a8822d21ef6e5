"""Simulated people, and what the divergence test makes of them."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from helpers.beyond import answerers

CASES = [(0.6, 0.7, 0.0), (0.6, 0.7, 0.3), (0.9, 0.7, 0.5), (0.3, 0.47, 0.2)]


def people_question_by_question(right, mean, agreement, n_people, rng):
    """Follow equation 4 word by word: copy the model's result, or be right by chance."""
    otherwise = (mean - agreement * right.mean()) / (1 - agreement)
    copies = rng.random((n_people, len(right))) < agreement
    return np.where(copies, right, rng.random((n_people, len(right))) < otherwise)


@pytest.mark.parametrize(("accuracy", "mean", "agreement"), CASES)
def test_expected_shares_are_those_of_people_simulated_question_by_question(
    accuracy, mean, agreement
):
    right = np.arange(1000) < 1000 * accuracy
    rng = np.random.default_rng(20240917)
    group = people_question_by_question(right, mean, agreement, 2000, rng)
    simulated = [group.mean(), (group != right).mean(), (group[::2] != group[1::2]).mean()]
    expected = [
        mean,
        answerers.expected_divergence(accuracy, mean, agreement),
        answerers.expected_disagreement(accuracy, mean, agreement),
    ]
    # Four standard errors of the mean of a million draws.
    np.testing.assert_allclose(simulated, expected, atol=4 * 0.5 / 1000)


@pytest.mark.parametrize(("accuracy", "mean", "agreement"), CASES)
def test_counts_have_the_mean_and_variance_of_people_simulated_question_by_question(
    accuracy, mean, agreement
):
    right = np.arange(200) < 200 * accuracy
    rng = np.random.default_rng(20240917)
    n_right = int(right.sum())
    counts = answerers.simulate_counts(n_right, 200, mean, agreement, 20000, rng)
    group = people_question_by_question(right, mean, agreement, 20000, rng)
    by_hand = {
        "right": group.sum(axis=1),
        "model": (group != right).sum(axis=1),
        "person": (group[::2] != group[1::2]).sum(axis=1),
    }
    for column, expected in by_hand.items():
        assert abs(counts[column].mean() - expected.mean()) < 5 * np.sqrt(50 * 3 / 20000)
        assert counts[column].var() / expected.var() == pytest.approx(1, abs=0.06)


@pytest.mark.parametrize(("accuracy", "mean", "agreement"), CASES)
def test_chances_average_to_the_mean(accuracy, mean, agreement):
    where_right, where_wrong = answerers.chances(accuracy, mean, agreement)
    assert accuracy * where_right + (1 - accuracy) * where_wrong == pytest.approx(mean)
    assert where_right - where_wrong == pytest.approx(agreement)


def test_the_divergence_exceeds_the_tolerance_by_the_closed_form():
    accuracy, mean = np.linspace(0, 1, 11), 0.7
    for agreement in (0.0, 0.2, 0.5):
        excess = answerers.expected_divergence(
            accuracy, mean, agreement
        ) - answerers.expected_disagreement(accuracy, mean, agreement)
        expected = (mean - accuracy) * (2 * mean - 1)
        expected -= 2 * agreement * (1 - agreement) * accuracy * (1 - accuracy)
        np.testing.assert_allclose(excess, expected, atol=1e-15)


def test_no_model_better_than_people_exceeds_the_tolerance():
    better = np.linspace(0.71, 1, 30)
    for agreement in (0.0, 0.3, 0.6):
        apart = answerers.expected_divergence(better, 0.71, agreement)
        assert (apart <= answerers.expected_disagreement(better, 0.71, agreement) + 1e-12).all()


@pytest.mark.parametrize(
    ("accuracy", "mean", "limit"),
    [(0.5, 0.75, 0.5), (0.8, 0.4, 0.5), (1.0, 0.7, 0.7), (0.0, 0.7, 0.3)],
)
def test_agreement_has_a_limit(accuracy, mean, limit):
    assert answerers.agreement_limit(accuracy, mean) == pytest.approx(limit)
    where = answerers.chances(accuracy, mean, limit - 1e-9)
    assert min(where) > -1e-6
    assert max(where) < 1 + 1e-6


@pytest.mark.parametrize("agreement", [0.6, 1.0, -0.1])
def test_people_that_cannot_be_are_refused(agreement):
    message = (
        f"no person who is right on 0.750 of the questions agrees to an extent of {agreement} with "
        r"a model that is right on 0.500: give an agreement from 0 to 0.500, below 1"
    )
    with pytest.raises(ValueError, match=message):
        answerers.simulate_counts(50, 100, 0.75, agreement, 10, np.random.default_rng(0))


def test_rejection_rates_are_those_of_simulated_tests():
    rng = np.random.default_rng(5)
    n, tolerance, rate = 300, 0.4, 0.45
    observed = rng.binomial(n, rate, 40000)
    guessed = rng.binomial(n, tolerance, 40000) / n
    for estimated, used in ((False, tolerance), (True, guessed)):
        simulated = (binom.sf(observed - 1, n, used) <= 0.05).mean()
        computed = answerers.rejection_rate(rate, n, tolerance, estimated=estimated)
        assert computed == pytest.approx(simulated, abs=4 * 0.5 / 200)


def test_a_known_tolerance_keeps_the_size_and_an_observed_one_does_not():
    tolerances = np.linspace(0.1, 0.5, 9)
    known = answerers.rejection_rate(tolerances, 1000, tolerances)
    observed = answerers.rejection_rate(tolerances, 1000, tolerances, estimated=True)
    assert known.max() <= 0.05
    # The difference of two shares has twice the variance of one.
    np.testing.assert_allclose(observed, 0.122, atol=0.006)


def test_rejection_at_the_ends_of_the_scale():
    assert answerers.rejection_rate(0.0, 50, 0.3) == 0
    assert answerers.rejection_rate(1.0, 50, 0.3) == 1
    assert answerers.rejection_rate(0.0, 50, 0.0) == 0


def test_trials_give_a_p_value_for_model_and_person_at_each_age():
    columns = pd.DataFrame({7: [1.0, 0.0, np.nan] * 100, 9: [1.0, 1.0, 0.0] * 100})
    trials = answerers.divergence_trials(columns, 0.7, 0.1, 20, np.random.default_rng(0))
    assert trials.columns.tolist() == [("model", 7), ("person", 7), ("model", 9), ("person", 9)]
    assert trials.shape == (20, 4)
    assert trials.min().min() >= 0
    assert trials.max().max() <= 1


def test_trials_reject_people_as_often_as_the_rejection_rate_says():
    columns = pd.DataFrame({7: np.arange(500) < 300}).astype(float)
    trials = answerers.divergence_trials(columns, 0.7, 0.0, 20000, np.random.default_rng(2))
    apart = answerers.expected_disagreement(0.6, 0.7)
    expected = answerers.rejection_rate(apart, 500, apart, estimated=True)
    assert (trials["person", 7] <= 0.05).mean() == pytest.approx(expected, abs=4 * 0.33 / 141)
