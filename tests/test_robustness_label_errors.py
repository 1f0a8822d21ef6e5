"""Costs by labels, and latent classes: other implementations, and a known truth."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from helpers.robustness import crowd
from helpers.robustness import label_errors as models
from helpers.robustness.study_model import draw, example_model
from helpers.stats import lasso
from helpers.stats.label_errors import calibrated_losses, mark_moments

COLUMNS = ("item_id", "prompt_id")
TWO = ["refusal", "factuality"]


def two_errors(correlation=0.4, n_prompts=4000, seed=0):
    """Draw single ratings with two errors that go together."""
    one = example_model()
    classes = pd.concat([one.classes, one.classes.set_axis(["factuality"])])
    classes.loc["factuality", ["prevalence", "sensitivity"]] = [0.2, 0.5]
    model = replace(
        one,
        classes=classes,
        correlations=np.array([[1.0, correlation], [correlation, 1.0]]),
        losses=pd.Series({"refusal": 1.0, "factuality": 0.5}),
        halo=0.4,
    )
    drawn = draw(model, n_prompts, 4, np.random.default_rng(seed))
    ratings = drawn.single_ratings()
    ratings["score"] = ratings.groupby("item_id")["score"].transform("mean")
    return drawn, ratings


@pytest.fixture(scope="module")
def study():
    return two_errors()


def test_costs_are_least_squares_and_rare_labels_are_not_known():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.random((400, 3)) < [0.3, 0.2, 0.01], columns=list("abc"))
    rows = rows.astype(float).assign(prompt_id=np.arange(400) // 4, never=0.0)
    rows["score"] = 5 - rows["a"] + rng.normal(size=400)
    costs = models.label_costs(rows, ["a", "b", "c", "never"], "score", ["prompt_id"])
    oracle = lasso.ols(rows, ["a", "b", "c"], "score", "prompt_id")["estimate"]
    np.testing.assert_allclose(costs["estimate"][:2], -oracle[["a", "b"]])
    n_prompts = rows.loc[rows["c"] == 1, "prompt_id"].nunique()
    assert n_prompts < models.FEWEST_INFORMATIVE
    assert costs["varies"]["c"] == n_prompts
    assert costs.drop(columns="varies").loc[["c", "never"]].isna().all(axis=None)


def test_classes_are_those_of_the_other_implementation():
    _, ratings = two_errors(n_prompts=100, seed=2)
    patterns = models.mark_patterns(ratings, TWO, *COLUMNS)
    found = models.class_probabilities(patterns.total(np.ones((1, 100))))
    oracle = crowd.fit_classes(ratings, TWO)
    names = ["prevalence", "sensitivity", "false_alarms"]
    np.testing.assert_allclose(np.vstack(found).T, oracle[names], atol=1e-9)


def test_latent_classes_find_the_losses_that_were_drawn(study):
    _, ratings = study
    moments = mark_moments(ratings, TWO, *COLUMNS, "score").total()
    patterns = models.mark_patterns(ratings, TWO, *COLUMNS)
    losses = models.class_losses(moments, patterns.total(np.ones((1, 4000))))
    np.testing.assert_allclose(losses[0], [1.0, 0.5], atol=0.05)


def test_a_propensity_costs_the_error_by_sensitivity_less_false_alarms(study):
    _, ratings = study
    moments = mark_moments(ratings, TWO, *COLUMNS, "score").total()
    losses = calibrated_losses(moments)
    np.testing.assert_allclose(losses[0], [1.0 / 0.75, 0.5 / 0.45], rtol=0.08)


def test_a_class_that_cannot_be_told_is_missing(monkeypatch):
    monkeypatch.setattr(models, "STEPS", 2)
    _, ratings = two_errors(n_prompts=50, seed=4)
    moments = mark_moments(ratings, TWO, *COLUMNS, "score")
    patterns = models.mark_patterns(ratings, TWO, *COLUMNS)
    table, n_undefined = models.class_table(
        moments, patterns, 5, np.random.default_rng(0)
    )
    assert n_undefined == 5
    assert table.isna().all(axis=None)
