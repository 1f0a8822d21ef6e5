"""Lasso and least squares: scikit-learn, closed forms, invariances, messages."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Lasso

from helpers.stats import lasso
from helpers.stats.bootstrap import cluster_weights
from helpers.stats.moments import cluster_moments
from helpers.studies import hosking

FEATURES = ["refusal", "formatting", "factuality", "scope"]
TRUTH = np.array([-1.0, -0.5, -0.2, 0.0])


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def make_outputs(n_prompts: int) -> pd.DataFrame:
    """Five outputs a prompt; quality falls with rare errors and varies by prompt."""
    draw = rng(1)
    prompts = np.repeat(np.arange(n_prompts), 5)
    errors = (draw.random((len(prompts), 4)) < [0.05, 0.1, 0.3, 0.02]).astype(float)
    noise = draw.normal(scale=0.3, size=n_prompts)[prompts] + draw.normal(
        size=len(prompts)
    )
    table = pd.DataFrame(errors, columns=FEATURES)
    return table.assign(quality=4 + errors @ TRUTH + noise, prompt_id=prompts)


@pytest.fixture
def outputs():
    return make_outputs(60)


def weights_of(table, alpha=0.01, features=FEATURES):
    return lasso.lasso(table, features, "quality", alpha)


def by_prompt(table, features=FEATURES):
    return cluster_moments(table, features, "quality", "prompt_id")


def reference(frame, alpha):
    """Scikit-learn's Lasso, solved far beyond its default accuracy."""
    return Lasso(alpha=alpha, tol=1e-13, max_iter=1_000_000).fit(
        frame[FEATURES], frame["quality"]
    )


def test_solutions_satisfy_the_optimality_conditions():
    draw = rng(2)
    x = draw.normal(size=(50, 30, 5)) @ draw.normal(size=(5, 5))
    gram = np.swapaxes(x, 1, 2) @ x / 30
    cross = draw.normal(size=(50, 5))
    weights = lasso.solve_lasso(gram, cross, alpha=0.3)
    gradient = cross - (gram @ weights[:, :, None])[:, :, 0]
    active = weights != 0
    assert 0 < active.mean() < 1
    np.testing.assert_allclose(
        gradient[active], 0.3 * np.sign(weights[active]), atol=1e-9
    )
    assert (np.abs(gradient[~active]) <= 0.3 + 1e-9).all()


def test_a_problem_has_the_same_solution_alone_and_among_many(monkeypatch):
    monkeypatch.setattr(lasso, "BLOCK", 8)
    draw = rng(2)
    gram = np.array([np.cov(draw.normal(size=(3, 20))) for _ in range(21)])
    cross = draw.normal(size=(21, 3))
    together = lasso.solve_lasso(gram, cross, alpha=0.1)
    alone = [
        lasso.solve_lasso(one_gram, one_cross, alpha=0.1)
        for one_gram, one_cross in zip(gram, cross, strict=True)
    ]
    np.testing.assert_allclose(together, alone, atol=1e-10)


def test_a_small_unit_of_the_outcome_makes_weights_small_and_no_less_exact():
    gram = np.array([[1.0, 0.9], [0.9, 1.0]])
    cross = np.array([1.0, 0.95])
    weights = lasso.solve_lasso(gram, cross, alpha=0.01)
    small = lasso.solve_lasso(gram, 1e-9 * cross, alpha=1e-11)
    np.testing.assert_allclose(1e9 * small, weights, rtol=1e-9)


def test_a_feature_without_variance_has_weight_zero_whatever_its_covariance(outputs):
    gram = np.diag([2.0, 0.0])
    cross = np.array([1.0, 5.0])
    assert lasso.solve_lasso(gram, cross, alpha=0.5).tolist() == [0.25, 0.0]
    weights = weights_of(outputs.assign(harmful=0.1), features=[*FEATURES, "harmful"])
    assert weights["harmful"] == 0
    np.testing.assert_allclose(
        weights[FEATURES], reference(outputs, 0.01).coef_, atol=1e-9
    )


def test_problems_that_are_not_solved_raise(monkeypatch):
    gram = np.array([np.eye(2), [[1.0, 0.999], [0.999, 1.0]]])
    cross = np.array([1.0, 0.9])
    monkeypatch.setattr(lasso, "MAX_SWEEPS", 3)
    with pytest.raises(
        RuntimeError, match="not solved after 3 sweeps in 1 of 2 problems: raise a"
    ):
        lasso.solve_lasso(gram, cross, alpha=0.01)


@pytest.mark.parametrize("alpha", [0.001, 0.1])
def test_lasso_weights_are_those_of_scikit_learn(outputs, alpha):
    weights = weights_of(outputs, alpha)
    np.testing.assert_allclose(weights, reference(outputs, alpha).coef_, atol=1e-9)
    assert list(weights.index) == FEATURES
    assert weights.name == "weight"


def test_lasso_of_one_feature_is_the_soft_threshold():
    frame = pd.DataFrame({"x": [0.0, 0.0, 1.0, 1.0], "quality": [1.0, 3.0, 5.0, 7.0]})
    covariance, variance = 1.0, 0.25
    for alpha in (0.1, 0.5, 2.0):
        expected = max(covariance - alpha, 0) / variance
        assert weights_of(frame, alpha, ["x"])["x"] == pytest.approx(expected)


def test_lasso_ignores_row_order_constants_and_copies_of_the_table(outputs):
    expected = weights_of(outputs)
    variants = [
        outputs.sample(frac=1, random_state=0),
        pd.concat([outputs, outputs]),
        outputs.assign(
            quality=outputs["quality"] + 100, refusal=outputs["refusal"] - 7
        ),
    ]
    for variant in variants:
        np.testing.assert_allclose(weights_of(variant), expected, atol=1e-10)
    turned = weights_of(outputs, features=FEATURES[::-1])
    np.testing.assert_allclose(turned[FEATURES], expected, atol=1e-10)


@pytest.mark.parametrize("alpha", [0, float("nan")])
def test_the_penalty_must_be_positive(outputs, alpha):
    with pytest.raises(
        ValueError, match=f"alpha must be positive, got {float(alpha)}: without a"
    ):
        weights_of(outputs, alpha)


def test_every_bootstrap_replicate_equals_a_refit_from_resampled_rows(outputs):
    shuffled = outputs.sample(frac=1, random_state=3)
    draws = lasso.lasso_bootstrap(by_prompt(shuffled), 0.01, 15, rng(9))
    repeats = cluster_weights(60, 15, rng(9))[:, outputs["prompt_id"]]
    expected = [
        reference(outputs.loc[outputs.index.repeat(times)], 0.01).coef_
        for times in repeats
    ]
    np.testing.assert_allclose(draws, expected, atol=1e-8)
    assert list(draws.columns) == FEATURES


def test_the_lasso_selects_the_six_errors_that_the_paper_selects(real_data):
    outputs = hosking.load_experiment_1(real_data).outputs()
    weights = lasso.lasso(outputs, hosking.ERRORS_1, "quality_unbiased", 0.01)
    six = [
        "refusal",
        "formatting",
        "relevance",
        "repetition",
        "factuality",
        "inconsistency",
    ]
    assert set(weights.index[weights != 0]) == set(six)
    assert (weights <= 0).all()
    assert weights.idxmin() == "refusal"


def test_the_truth_is_recovered_from_many_outputs():
    found = weights_of(make_outputs(20_000), 1e-4)
    np.testing.assert_allclose(found, TRUTH, atol=0.05)
