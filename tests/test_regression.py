"""Lasso and least squares: scikit-learn and closed forms as references, invariances, messages."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import Lasso

from helpers.stats import lasso
from helpers.stats.bootstrap import cluster_weights
from helpers.stats.moments import cluster_moments
from helpers.studies import hosking

FEATURES = ["refusal", "formatting", "factuality", "scope"]
TRUTH = np.array([-1.0, -0.5, -0.2, 0.0])


def make_outputs(n_prompts: int, seed: int = 1) -> pd.DataFrame:
    """Five outputs per prompt with rare errors; quality falls with them and varies by prompt."""
    rng = np.random.default_rng(seed)
    prompts = np.repeat(np.arange(n_prompts), 5)
    errors = (rng.random((len(prompts), 4)) < [0.05, 0.1, 0.3, 0.02]).astype(float)
    noise = rng.normal(scale=0.3, size=n_prompts)[prompts] + rng.normal(size=len(prompts))
    table = pd.DataFrame(errors, columns=FEATURES)
    return table.assign(quality=4 + errors @ TRUTH + noise, prompt_id=prompts)


@pytest.fixture
def outputs():
    return make_outputs(60)


def reference(frame, alpha, features=FEATURES):
    """Weights of scikit-learn's Lasso, solved far beyond its default accuracy."""
    model = Lasso(alpha=alpha, tol=1e-13, max_iter=1_000_000)
    return model.fit(frame[features], frame["quality"]).coef_


@pytest.mark.parametrize("alpha", [0.001, 0.01, 0.1])
def test_lasso_weights_are_those_of_scikit_learn(outputs, alpha):
    weights = lasso.lasso(outputs, FEATURES, "quality", alpha)
    np.testing.assert_allclose(weights, reference(outputs, alpha), atol=1e-9)
    assert list(weights.index) == FEATURES


def test_lasso_of_one_feature_is_the_soft_threshold():
    frame = pd.DataFrame({"x": [0.0, 0.0, 1.0, 1.0], "y": [1.0, 3.0, 5.0, 7.0]})
    covariance, variance = 1.0, 0.25
    for alpha in (0.1, 0.5, 2.0):
        expected = max(covariance - alpha, 0) / variance
        assert lasso.lasso(frame, ["x"], "y", alpha)["x"] == pytest.approx(expected)


def test_lasso_recovers_the_truth_from_much_data():
    weights = lasso.lasso(make_outputs(20_000), FEATURES, "quality", alpha=1e-4)
    np.testing.assert_allclose(weights, TRUTH, atol=0.05)


def test_lasso_ignores_row_order_constants_and_copies_of_the_table(outputs):
    expected = lasso.lasso(outputs, FEATURES, "quality", 0.01)
    variants = [
        outputs.sample(frac=1, random_state=0),
        pd.concat([outputs, outputs]),
        outputs.assign(quality=outputs["quality"] + 100, refusal=outputs["refusal"] - 7),
        outputs[["quality", *reversed(FEATURES)]],
    ]
    for variant in variants:
        weights = lasso.lasso(variant, FEATURES, "quality", 0.01)
        np.testing.assert_allclose(weights, expected, atol=1e-10)


def test_a_feature_that_never_varies_has_weight_zero(outputs):
    weights = lasso.lasso(outputs.assign(harmful=0.1), [*FEATURES, "harmful"], "quality", 0.01)
    assert weights["harmful"] == 0
    np.testing.assert_allclose(weights[FEATURES], reference(outputs, 0.01), atol=1e-9)


@pytest.mark.parametrize("alpha", [0, -0.5, float("nan")])
def test_the_penalty_must_be_positive(outputs, alpha):
    with pytest.raises(ValueError, match=f"alpha must be positive, got {float(alpha)}: without a"):
        lasso.lasso(outputs, FEATURES, "quality", alpha)


def test_lasso_refuses_an_unusable_table(outputs):
    with pytest.raises(ValueError, match="column 'refusals' is not in the table, which has: refus"):
        lasso.lasso(outputs, ["refusals"], "quality", 0.01)
    with pytest.raises(ValueError, match="outcome 'quality' has the same value in all 300 rows"):
        lasso.lasso(outputs.assign(quality=1.0), FEATURES, "quality", 0.01)


def test_solutions_satisfy_the_optimality_conditions():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(50, 30, 5)) @ rng.normal(size=(5, 5))
    gram = np.swapaxes(x, 1, 2) @ x / 30
    cross = rng.normal(size=(50, 5))
    weights = lasso.solve_lasso(gram, cross, alpha=0.3)
    gradient = cross - (gram @ weights[:, :, None])[:, :, 0]
    active = weights != 0
    assert 0 < active.mean() < 1
    np.testing.assert_allclose(gradient[active], 0.3 * np.sign(weights[active]), atol=1e-9)
    assert (np.abs(gradient[~active]) <= 0.3 + 1e-9).all()


def test_a_problem_has_the_same_solution_alone_and_among_many():
    rng = np.random.default_rng(2)
    gram = np.array([np.cov(rng.normal(size=(3, 20))) for _ in range(lasso.BLOCK + 5)])
    cross = rng.normal(size=(len(gram), 3))
    together = lasso.solve_lasso(gram, cross, alpha=0.1)
    for chosen in (0, lasso.BLOCK - 1, lasso.BLOCK, -1):
        alone = lasso.solve_lasso(gram[chosen], cross[chosen], alpha=0.1)
        np.testing.assert_allclose(together[chosen], alone, atol=1e-10)


def test_a_feature_without_variance_has_weight_zero_whatever_its_covariance():
    gram, cross = np.diag([2.0, 0.0]), np.array([1.0, 5.0])
    assert lasso.solve_lasso(gram, cross, alpha=0.5).tolist() == [0.25, 0.0]


def test_problems_that_are_not_solved_raise(monkeypatch):
    monkeypatch.setattr(lasso, "MAX_SWEEPS", 3)
    gram = np.array([np.eye(2), [[1.0, 0.999], [0.999, 1.0]]])
    with pytest.raises(RuntimeError, match="not solved after 3 sweeps in 1 of 2 problems: raise a"):
        lasso.solve_lasso(gram, np.array([1.0, 0.9]), alpha=0.01)


def test_every_bootstrap_replicate_equals_a_refit_from_resampled_rows(outputs):
    n_boot, alpha = 40, 0.01
    moments = cluster_moments(outputs, FEATURES, "quality", "prompt_id")
    draws = lasso.lasso_bootstrap(moments, alpha, n_boot, np.random.default_rng(9))
    weights = cluster_weights(60, n_boot, np.random.default_rng(9))
    expected = [
        reference(outputs.loc[outputs.index.repeat(times[outputs["prompt_id"]])], alpha)
        for times in weights
    ]
    np.testing.assert_allclose(draws, expected, atol=1e-8)
    assert list(draws.columns) == FEATURES


def test_a_feature_absent_from_a_replicate_has_weight_zero_there():
    outputs = make_outputs(10).assign(harmful=0.0)
    outputs.loc[0, "harmful"] = 1.0
    moments = cluster_moments(outputs, ["refusal", "harmful"], "quality", "prompt_id")
    draws = lasso.lasso_bootstrap(moments, 0.001, 200, np.random.default_rng(0))
    absent = cluster_weights(10, 200, np.random.default_rng(0))[:, 0] == 0
    assert absent.any()
    assert (draws["harmful"] == 0).tolist() == absent.tolist()


def test_bootstrap_needs_two_clusters(outputs):
    moments = cluster_moments(outputs, FEATURES, "quality", "prompt_id").total()
    with pytest.raises(ValueError, match="resampling needs at least 2 clusters, got 1"):
        lasso.lasso_bootstrap(moments, 0.01, 10, np.random.default_rng(0))


def test_bootstrap_ignores_the_order_of_rows(outputs):
    first, second = (
        lasso.lasso_bootstrap(
            cluster_moments(table, FEATURES, "quality", "prompt_id"),
            0.01,
            20,
            np.random.default_rng(0),
        )
        for table in (outputs, outputs.sample(frac=1, random_state=3))
    )
    np.testing.assert_allclose(first, second, atol=1e-10)


def test_selection_frequency_counts_weights_other_than_zero():
    draws = pd.DataFrame({"refusal": [-1.0, -0.5, -0.7, -0.1], "scope": [0.0, 0.0, 0.0, 0.2]})
    assert lasso.selection_frequency(draws).to_dict() == {"refusal": 1.0, "scope": 0.25}


def test_leaving_a_feature_out_is_a_lasso_without_it(outputs):
    table = lasso.leave_one_out(outputs, FEATURES, "quality", 0.01)
    assert list(table.index) == list(table.columns) == FEATURES
    for left_out in FEATURES:
        rest = [feature for feature in FEATURES if feature != left_out]
        expected = lasso.lasso(outputs, rest, "quality", 0.01)
        np.testing.assert_allclose(table.loc[rest, left_out], expected, atol=1e-10)
        assert np.isnan(table.loc[left_out, left_out])


def test_ols_has_the_sandwich_errors_of_the_textbook(outputs):
    table = lasso.ols(outputs, FEATURES, "quality", "prompt_id")
    x = np.column_stack([np.ones(len(outputs)), outputs[FEATURES]])
    n, k, n_clusters = len(x), x.shape[1], 60
    estimate, *_ = np.linalg.lstsq(x, outputs["quality"], rcond=None)
    scores = x * (outputs["quality"].to_numpy() - x @ estimate)[:, None]
    sums = pd.DataFrame(scores).groupby(outputs["prompt_id"]).sum().to_numpy()
    bread = np.linalg.inv(x.T @ x)
    correction = n_clusters / (n_clusters - 1) * (n - 1) / (n - k)
    error = np.sqrt(np.diag(correction * bread @ sums.T @ sums @ bread))
    t = stats.t(n_clusters - 1)
    assert list(table.index) == ["intercept", *FEATURES]
    np.testing.assert_allclose(table["estimate"], estimate)
    np.testing.assert_allclose(table["standard_error"], error)
    np.testing.assert_allclose(table["low"], estimate - t.ppf(0.975) * error)
    np.testing.assert_allclose(table["high"], estimate + t.ppf(0.975) * error)
    np.testing.assert_allclose(table["p_value"], 2 * t.sf(np.abs(estimate) / error), atol=1e-15)


def test_ols_takes_labels_of_any_kind_and_rows_in_any_order(outputs):
    expected = lasso.ols(outputs, FEATURES, "quality", "prompt_id")
    named = outputs.assign(prompt_id="prompt-" + outputs["prompt_id"].astype(str))
    shuffled = named.sample(frac=1, random_state=0)
    result = lasso.ols(shuffled, FEATURES, "quality", "prompt_id")
    np.testing.assert_allclose(result, expected, rtol=1e-8)


def test_ols_names_the_feature_that_is_redundant(outputs):
    table = outputs.assign(either=outputs["refusal"] + outputs["scope"])
    features = ["refusal", "scope", "either"]
    expected = "feature 'either' is a combination of the intercept, refusal, scope: leave it out"
    with pytest.raises(ValueError, match=expected):
        lasso.ols(table, features, "quality", "prompt_id")


def test_ols_refuses_missing_values_instead_of_dropping_rows(outputs):
    outputs.loc[4, "scope"] = np.nan
    with pytest.raises(ValueError, match="column 'scope' has 1 missing value, first in row 4"):
        lasso.ols(outputs, FEATURES, "quality", "prompt_id")


def test_ols_needs_two_clusters(outputs):
    with pytest.raises(ValueError, match="column 'task' has 1 distinct value: clusters need at le"):
        lasso.ols(outputs.assign(task="amazon"), FEATURES, "quality", "task")


def test_the_lasso_selects_the_six_errors_that_the_paper_selects(real_data):
    outputs = hosking.load_experiment_1(real_data).outputs()
    weights = lasso.lasso(outputs, hosking.ERRORS_1, "quality_unbiased", 0.01)
    assert set(weights.index[weights != 0]) == {
        "refusal",
        "formatting",
        "relevance",
        "repetition",
        "factuality",
        "inconsistency",
    }
    assert (weights <= 0).all()
    assert weights.idxmin() == "refusal"
