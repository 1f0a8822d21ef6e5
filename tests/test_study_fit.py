from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from helpers.beyond.study_design import (
    covariances,
    describe_model,
    draw,
    example_model,
    excess,
    fit_model,
)
from helpers.stats.lasso import ols
from helpers.studies import hosking


@pytest.fixture(scope="module")
def two_errors():
    """A model with two errors that come together."""
    one = example_model()
    return replace(
        one,
        classes=pd.concat([one.classes, one.classes.rename({"refusal": "scope"})]),
        correlations=np.array([[1.0, 0.5], [0.5, 1.0]]),
        losses=pd.Series({"refusal": 1.0, "scope": 0.4}),
        halo=0.3,
    )


def test_parameters_are_found_again(two_errors):
    drawn = draw(two_errors, 3000, 5, np.random.default_rng(0))
    single = drawn.single_ratings()
    expert = pd.DataFrame(drawn.expert.reshape(-1, 2).astype(float), columns=["refusal", "scope"])
    experts = expert.assign(item_id=range(len(expert)))
    model = fit_model(
        single, single.sample(frac=1, random_state=0), two_errors.errors, "score", experts
    )
    assert np.allclose(model.classes, two_errors.classes, atol=0.03)
    assert model.losses.to_numpy() == pytest.approx([1.0, 0.4], abs=0.08)
    assert model.correlations[0, 1] == pytest.approx(0.5, abs=0.06)
    assert model.halo == pytest.approx(0.3, abs=0.06)
    assert model.prompt_share == pytest.approx(0.2, abs=0.06)
    spreads = (model.base, model.prompt_sd, model.output_sd, model.rater_sd, model.raters)
    assert spreads == pytest.approx((4.0, 0.3, 0.4, 1.0, 5), abs=0.06)


def test_covariances_by_hand():
    ratings = pd.DataFrame(
        {
            "prompt_id": [1, 1, 1, 1],
            "item_id": ["a", "a", "b", "b"],
            "rater_id": [1, 2, 1, 2],
            "score": [1.0, 2.0, 3.0, 6.0],
        }
    )
    found = covariances(ratings, ["score"])
    centred = np.array([-2.0, -1.0, 0.0, 3.0])
    assert found["person"] == pytest.approx((centred**2).mean())
    assert found["output"] == pytest.approx((2 * 2.0 + 2 * 0.0) / 4)
    assert found["prompt"] == pytest.approx((2 * -2.0 * 3.0 + 2 * -1.0 * 0.0) / 4)


def test_excess_has_known_values():
    quarter = np.arcsin(0.5) / (2 * np.pi)
    assert excess(np.array(0.5), np.array(0.5), np.array(0.5)) == pytest.approx(quarter)
    assert excess(np.array(0.3), np.array(0.2), np.array(0.0)) == 0
    assert excess(np.array(0.3), np.array(0.3), np.array(0.95)) < 0.3 * 0.7


def test_ratings_without_a_second_rater_are_refused():
    ratings = pd.DataFrame(
        {"prompt_id": [1, 2], "item_id": [1, 2], "rater_id": [1, 2], "score": [1.0, 2.0]}
    )
    message = "no two ratings by different people of the same output: the model needs some"
    with pytest.raises(ValueError, match=message):
        covariances(ratings, ["score"])


def test_the_model_of_experiment_1_gives_its_losses_and_rates_again(real_data):
    study = hosking.load_experiment_1("real")
    errors = ["factuality", "relevance", "refusal"]
    tables = [hosking.without_checks(table) for table in (study.errors, study.unbiased)]
    model = fit_model(*tables, errors, "quality_unbiased")
    drawn = draw(model, 5000, model.raters, np.random.default_rng(1))
    real = describe_model(tables[0], study.outputs(), errors, "quality_unbiased", 0.01)
    found = describe_model(drawn.single_ratings(), drawn.table(model.raters), errors, "score", 0.01)
    assert np.allclose(found["single marks, %"], real["single marks, %"], atol=0.5)
    assert np.allclose(found[["AC1", "alpha"]], real[["AC1", "alpha"]], atol=0.03)
    losses = ols(study.outputs(), errors, "quality_unbiased", "prompt_id")["estimate"][errors]
    again = ols(drawn.table(4), errors, "score", "prompt_id")["estimate"][errors]
    assert np.allclose(losses, again, atol=0.12)
