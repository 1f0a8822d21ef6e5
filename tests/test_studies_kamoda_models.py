"""What the paper says about its regression and tree: known answers, and oracles."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from helpers.studies import kamoda, kamoda_models

ASPECTS = list(kamoda.ASPECTS)


@pytest.fixture(scope="module")
def study():
    return kamoda.load("simulated", seed=3)


def test_distances_are_zero_at_the_ideal_and_one_at_the_far_end():
    ratings = pd.DataFrame(
        {
            "factuality": [3.0, 0, 1],
            "amount_info": [0.0, 1, -1],
            "formality": [0.0, -1, 1],
            "acceptability": [3.0, 0, 1],
        }
    )
    found = kamoda_models.distances(ratings)
    expected = [[0, 0, 0, 0], [1, 1, 1, 3], [2 / 3, 1, 1, 2]]
    assert found.to_numpy() == pytest.approx(np.array(expected))


def test_ratios_are_those_of_scikit_learns_weights_and_their_intervals_hold_them(study):
    table = kamoda_models.distances(study.ratings)
    weights = LinearRegression(fit_intercept=False)
    weights.fit(table[ASPECTS], table["missing"])
    by_name = dict(zip(ASPECTS, weights.coef_, strict=True))
    clusters = study.ratings[["rater_id", "question_id"]]
    found = kamoda_models.ratios(table, clusters)
    ratio = by_name["factuality"] / by_name["amount_info"]
    formality = by_name["formality"] / by_name["amount_info"]
    assert found["estimate"].to_list() == pytest.approx([ratio, ratio / 3, formality])
    assert (found["low"] < found["estimate"]).all()
    assert (found["estimate"] < found["high"]).all()


def test_split_numbers_lie_around_those_of_all_ratings(study):
    found = kamoda_models.regression_statements(study, 50, 0.2, n_boot=50, seed=1)
    table = kamoda_models.distances(study.ratings)
    weights = LinearRegression(fit_intercept=False)
    weights.fit(table[ASPECTS], table["missing"])
    for name, weight in zip(ASPECTS, weights.coef_, strict=True):
        row = found[f"weight_{name}"]
        assert row["low"] < weight < row["high"]
    low = study.ratings[study.ratings["acceptability"] <= 1]
    lower_half = found["low_factuality"]["lower half"]
    assert lower_half["estimate"] == pytest.approx(low["factuality"].mean())
    assert found["low_factuality"]["below other answers"] == {"holds": True}


def test_the_tree_of_splits_predicts_as_scikit_learns_does(study):
    found = kamoda_models.tree_statements(study, 20, 0.2, 20, seed=1)
    tree = DecisionTreeRegressor(max_depth=3, random_state=0)
    tree.fit(study.ratings[ASPECTS], study.ratings["acceptability"])
    predicted = tree.predict(study.ratings[ASPECTS])
    same_data = np.corrcoef(predicted, study.ratings["acceptability"])[0, 1]
    assert found["rho"]["estimate"] == pytest.approx(same_data, abs=0.03)
    assert 0 <= found["agrees"]["share"] <= 1


@pytest.mark.parametrize(
    ("weights", "share"),
    [([5, 2, 0], 1), ([2, 5, 0], 0), ([5, 0, 2], 0)],
)
def test_a_tree_orders_aspects_by_how_much_they_weigh(weights, share):
    rng = np.random.default_rng(1)
    ratings = pd.DataFrame(rng.integers(0, 4, (400, 3)), columns=ASPECTS)
    noise = rng.normal(0, 0.1, 400)
    ratings["acceptability"] = ratings[ASPECTS] @ np.array(weights) + noise
    ratings["rater_id"] = np.arange(400) // 10
    found = kamoda_models._share_of_trees_in_order(ratings, "rater_id", 20, rng)
    assert found == share
