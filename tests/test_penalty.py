"""Paths and cross-validation of the Lasso against refits from rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Lasso

from helpers.stats import lasso
from helpers.stats.moments import cluster_moments

FEATURES = ["refusal", "scope", "fluency"]


@pytest.fixture
def outputs():
    rng = np.random.default_rng(4)
    errors = (rng.random((200, 3)) < 0.2).astype(float)
    quality = 4 + errors @ [-1.0, -0.3, 0.0] + rng.normal(size=200)
    table = pd.DataFrame(errors, columns=FEATURES)
    return table.assign(quality=quality, prompt_id=rng.integers(30, size=200))


@pytest.fixture
def moments(outputs):
    return cluster_moments(outputs, FEATURES, "quality", "prompt_id")


def test_the_grid_starts_where_the_first_weight_appears(outputs, moments):
    grid = lasso.alpha_grid(moments, size=5, smallest=1e-2)
    assert grid[-1] == pytest.approx(grid[0] / 100)
    path = lasso.lasso_path(outputs, FEATURES, "quality", [grid[0] * 1.001, grid[0] * 0.999])
    assert path.ne(0).sum(axis=1).tolist() == [0, 1]


def test_every_point_of_the_path_is_the_lasso_with_that_penalty(outputs, moments):
    alphas = lasso.alpha_grid(moments, size=7)
    path = lasso.lasso_path(outputs, FEATURES, "quality", alphas)
    assert path.index.tolist() == alphas.tolist()
    for alpha in alphas:
        expected = lasso.lasso(outputs, FEATURES, "quality", alpha)
        np.testing.assert_allclose(path.loc[alpha], expected, atol=1e-10)


def test_the_path_refuses_a_penalty_that_is_not_positive(outputs):
    with pytest.raises(ValueError, match=r"alpha must be positive, got 0\.0"):
        lasso.lasso_path(outputs, FEATURES, "quality", [0.1, 0.0])


def test_cross_validation_equals_refits_on_folds_of_clusters(outputs, moments):
    alphas, n_folds = [0.2, 0.02, 0.002], 5
    result = lasso.lasso_cross_validation(moments, alphas, n_folds, np.random.default_rng(7))
    prompts = np.sort(outputs["prompt_id"].unique())
    folds = np.random.default_rng(7).permutation(len(prompts)) % n_folds
    fold_of_row = folds[np.searchsorted(prompts, outputs["prompt_id"])]
    errors = np.empty((3, n_folds))
    for i, alpha in enumerate(alphas):
        for fold in range(n_folds):
            train, test = outputs[fold_of_row != fold], outputs[fold_of_row == fold]
            model = Lasso(alpha=alpha, tol=1e-13).fit(train[FEATURES], train["quality"])
            errors[i, fold] = ((test["quality"] - model.predict(test[FEATURES])) ** 2).mean()
    np.testing.assert_allclose(result.errors["mean_squared_error"], errors.mean(axis=1))
    np.testing.assert_allclose(
        result.errors["standard_error"], errors.std(axis=1, ddof=1) / np.sqrt(n_folds)
    )


def test_the_two_rules_choose_the_best_and_the_largest_that_is_close(moments):
    alphas = lasso.alpha_grid(moments, size=40)
    result = lasso.lasso_cross_validation(moments, alphas, 10, np.random.default_rng(7))
    error = result.errors["mean_squared_error"]
    bound = error.min() + result.errors.loc[error.idxmin(), "standard_error"]
    assert result.best_alpha == error.idxmin()
    assert result.one_standard_error_alpha == max(error.index[error <= bound])
    assert result.one_standard_error_alpha > result.best_alpha


def test_cross_validation_prefers_no_feature_where_none_matters():
    rng = np.random.default_rng(0)
    noise = pd.DataFrame(rng.normal(size=(300, 3)), columns=["a", "b", "quality"])
    moments = cluster_moments(noise, ["a", "b"], "quality")
    alphas = lasso.alpha_grid(moments)
    result = lasso.lasso_cross_validation(moments, alphas, 10, rng)
    assert result.one_standard_error_alpha == alphas[0]


@pytest.mark.parametrize("n_folds", [1, 31])
def test_folds_must_number_from_two_to_the_number_of_clusters(moments, n_folds):
    expected = rf"n_folds must be from 2 to 30 \(the clusters\), got {n_folds}"
    with pytest.raises(ValueError, match=expected):
        lasso.lasso_cross_validation(moments, [0.1], n_folds, np.random.default_rng(0))
