"""Models fitted to ratings: known covariances, what stays, large studies."""

import numpy as np
import pandas as pd
import pytest

from benchmarks import fitted
from benchmarks.fitted import NONE, Group

VARIANCES = {"prompt": 0.15, "item": 0.25, "rater": 0.2, "pair": 0.0, "single": 0.4}


def design(n_raters, per_rater, n_prompts, rng):
    """Raters rate pairs of the two answers to some prompts."""
    prompt = np.concatenate(
        [rng.choice(n_prompts, per_rater, replace=False) for _ in range(n_raters)]
    )
    rater = np.repeat(np.arange(n_raters), per_rater)
    pair = np.repeat(np.arange(len(prompt)), 2)
    codes = pd.DataFrame({"prompt": prompt[pair], "rater": rater[pair], "pair": pair})
    codes["item"] = 2 * codes["prompt"] + np.tile([0, 1], len(prompt))
    return codes.assign(cell=0)[["prompt", "item", "rater", "pair", "cell"]]


@pytest.fixture(scope="module")
def model():
    """A score and a label, by people, and a label of each answer by one expert."""
    rng = np.random.default_rng(7)
    codes = design(60, 8, 80, rng)
    latent = np.zeros((len(codes), 2))
    of_item = rng.normal(size=(160, 2)) * np.sqrt(VARIANCES["item"])
    for level in ("prompt", "rater"):
        effects = rng.normal(size=(codes[level].max() + 1, 2))
        latent += np.sqrt(VARIANCES[level]) * effects[codes[level]]
    latent += of_item[codes["item"]]
    latent += np.sqrt(VARIANCES["single"]) * rng.normal(size=latent.shape)
    ratings = pd.DataFrame(
        {
            "score": np.digitize(latent[:, 0], [-1, -0.3, 0.3, 1]) + 1.0,
            "label": (latent[:, 1] > 0.5).astype(float),
        }
    )
    one_each = pd.DataFrame({"prompt": np.arange(160) // 2, "item": np.arange(160)})
    one_each = one_each.assign(rater=NONE, pair=NONE, cell=0)
    expert = of_item[:, 1] + 0.3 * rng.normal(size=160) > 0.4
    by_expert = Group(one_each, pd.DataFrame({"label": expert.astype(float)}))
    return fitted.fit({"people": Group(codes, ratings), "expert": by_expert})


def test_drawn_studies_have_the_covariances_of_the_real_one(model):
    real = {name: group.ratings.to_numpy() for name, group in model.groups.items()}
    target = fitted.moments(model, real, fitted.pairs_of(model, 1))
    large = model.draw(np.random.default_rng(1), 30)
    found = fitted.moments(model, large, fitted.pairs_of(model, 30))
    for level in ("prompt", "item", "rater"):
        np.testing.assert_allclose(found[level], target[level], atol=0.1)
    assert found["item"][1, 2] > 0.2  # people and the expert see the same errors


def test_known_variances_are_recovered(model):
    for level, variance in VARIANCES.items():
        of_score = model.covariances[level][0, 0]
        assert of_score == pytest.approx(variance, abs=0.12), level


def test_ratings_keep_their_distribution_and_their_design(model):
    drawn = model.draw(np.random.default_rng(2), 40)
    for name, group in model.groups.items():
        assert drawn[name].shape == (40 * len(group.ratings), group.ratings.shape[1])
        means = drawn[name].mean(axis=0)
        np.testing.assert_allclose(means, group.ratings.mean(), atol=0.1)
        assert set(np.unique(drawn[name])) == set(np.unique(group.ratings))


def test_a_large_study_has_other_prompts_answers_and_raters(model):
    codes = fitted.copied(model.groups, "people", 3)
    once = model.groups["people"].codes
    for level in fitted.LEVELS:
        assert codes[level].nunique() == 3 * once[level].nunique()
    assert (fitted.copied(model.groups, "expert", 3)["rater"] == NONE).all()


def test_the_last_column_depends_on_the_others():
    rng = np.random.default_rng(3)
    codes = design(40, 10, 60, rng)
    first = rng.integers(2, size=len(codes)).astype(float)
    last = np.where(first == 1, rng.integers(3, size=len(codes)), 2.0)
    unrelated = rng.integers(2, size=len(codes)).astype(float)
    ratings = pd.DataFrame({"unrelated": unrelated, "first": first, "last": last})
    model = fitted.fit({"people": Group(codes, ratings, last_given_others=True)})
    drawn = model.draw(rng)["people"]
    assert (drawn[drawn[:, 1] == 0, 2] == 2).all()
    assert set(drawn[drawn[:, 1] == 1, 2]) == {0, 1, 2}
