"""What is predictable of accuracies that few answers measure."""

import numpy as np
import pandas as pd
import pytest

from helpers.stats import accuracy


def questions(n_answers: int, correlation: float = 1.0, n: int = 30_000) -> pd.DataFrame:
    """Questions whose chances correlate with a predictor as given."""
    rng = np.random.default_rng(9)
    predictor, noise = rng.normal(size=(2, n))
    chance = 0.5 + 0.12 * (correlation * predictor + np.sqrt(1 - correlation**2) * noise)
    chance = np.clip(chance, 0.01, 0.99)
    return pd.DataFrame(
        {
            "question_id": np.arange(n),
            "ai": predictor,
            "user": rng.binomial(n_answers, chance) / n_answers,
            "n_answers": n_answers,
        }
    )


def noisy_correlation(frame: pd.DataFrame) -> pd.DataFrame:
    return accuracy.noisy_correlation(
        frame, "ai", "user", "n_answers", "question_id", 50, np.random.default_rng(0)
    )


@pytest.mark.parametrize("n_answers", [3, 10])
@pytest.mark.parametrize("correlation", [0.5, 0.9])
def test_the_correlation_with_true_accuracies_is_recovered(n_answers, correlation):
    result = noisy_correlation(questions(n_answers, correlation))
    assert result.loc["corrected", "estimate"] == pytest.approx(correlation, abs=0.04)
    assert result.loc["observed", "estimate"] < correlation - 0.05
    assert (result["low"] < result["estimate"]).all()
    assert (result["estimate"] < result["high"]).all()


def test_reliability_is_the_share_of_the_variance_that_is_not_chance():
    result = noisy_correlation(questions(4))
    between, chance = 0.12**2, 0.25 - 0.12**2
    expected = between / (between + chance / 4)
    assert result.loc["reliability", "estimate"] == pytest.approx(expected, abs=0.03)


def test_the_observed_correlation_is_pearson_s():
    frame = questions(5, 0.7)
    expected = np.corrcoef(frame["ai"], frame["user"])[0, 1]
    assert noisy_correlation(frame).loc["observed", "estimate"] == pytest.approx(expected)


def test_the_unit_of_the_predictor_does_not_matter():
    frame = questions(5, 0.7)
    scaled = noisy_correlation(frame.assign(ai=100 * frame["ai"] + 3))
    pd.testing.assert_frame_equal(scaled, noisy_correlation(frame))


def test_questions_with_one_answer_each_cannot_tell_chance():
    with pytest.raises(ValueError, match="column 'n_answers' is 1 in all rows: chance cannot be"):
        noisy_correlation(questions(1, n=50))


def test_observed_correlations_of_exact_predictions_lie_at_the_ceiling():
    rng = np.random.default_rng(0)
    chance, n_answers = rng.beta(1, 0.5, 800), rng.integers(1, 8, 800)
    ceiling = accuracy.binomial_ceiling(chance, n_answers, 500, rng)
    seen = np.corrcoef(chance, rng.binomial(n_answers, chance) / n_answers)[0, 1]
    assert ceiling.min() < seen < ceiling.max()


def test_many_answers_raise_the_ceiling_to_one():
    chance = np.linspace(0.1, 0.9, 50)
    draws = accuracy.binomial_ceiling(chance, [10**6] * 50, 5, np.random.default_rng(0))
    np.testing.assert_allclose(draws, 1, atol=1e-4)


def test_a_linear_relation_is_predicted_on_held_out_questions_too():
    frame = questions(5).assign(user=lambda table: 3 - 2 * table["ai"])
    result = accuracy.linear_prediction(
        frame, ["ai"], "user", "question_id", 5, np.random.default_rng(0)
    )
    assert result == pytest.approx((1, 1))


def test_features_without_relation_predict_held_out_questions_worse_than_fitted_ones():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(60, 9)), columns=[*"abcdefgh", "user"])
    fitted, held_out = accuracy.linear_prediction(
        frame.assign(question_id=range(60)), list("abcdefgh"), "user", "question_id", 5, rng
    )
    assert held_out < fitted - 0.2


def test_rows_of_a_cluster_stay_in_one_part():
    frame = pd.DataFrame(
        {"ai": [0.0, 0, 1, 1], "user": [0.0, 0, 1, 1], "question_id": list("aabb")}
    )
    with pytest.raises(ValueError, match="3 parts need as many clusters, column 'question_id' has"):
        accuracy.linear_prediction(
            frame, ["ai"], "user", "question_id", 3, np.random.default_rng(0)
        )


def test_shares_by_chance_are_binomial():
    frame = pd.DataFrame({"ai": [0.5, 0.3, 1.0], "user": [0.5, 0.0, 0.8], "n": [4, 3, 5]})
    result = accuracy.lower_and_higher(frame, "ai", "user", "n", 40_000, np.random.default_rng(0))
    assert result[["lower", "higher"]].to_numpy().tolist() == [[0, 0], [1, 0], [1, 0]]
    np.testing.assert_allclose(result["lower_by_chance"], [5 / 16, 0.343, 0], atol=0.01)
    np.testing.assert_allclose(result["higher_by_chance"], [5 / 16, 0.657, 0], atol=0.01)
