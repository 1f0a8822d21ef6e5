"""From single ratings to weights: the steps one by one as reference, recovery, messages."""

import numpy as np
import pandas as pd
import pytest

from helpers.files.ratings import aggregate
from helpers.stats import lasso

FEATURES = ["refusal", "scope", "fluency"]
TRUTH = np.array([-2.0, -0.5, 0.0])


def make_ratings(n_prompts: int) -> pd.DataFrame:
    """Three raters see each error alike; their scores fall with it and vary by prompt."""
    rng = np.random.default_rng(2)
    item = np.arange(5 * n_prompts).repeat(3)
    errors = (rng.random((5 * n_prompts, 3)) < 0.3).astype(float)[item]
    noise = rng.normal(scale=0.3, size=n_prompts)[item // 5] + rng.normal(size=len(item))
    table = pd.DataFrame(errors, columns=FEATURES)
    return table.assign(quality=4 + errors @ TRUTH + noise, item_id=item, prompt_id=item // 5)


@pytest.fixture
def moments():
    return lasso.rating_moments(make_ratings(200), FEATURES, "quality", "item_id", "prompt_id")


def test_errors_are_reduced_by_mode_and_scores_by_mean():
    ratings = pd.DataFrame(
        {
            "item": [1, 1, 1, 2, 2, 3],
            "prompt": ["a", "a", "a", "a", "a", "b"],
            "refusal": [0, 1, 1, 0, 1, 0],
            "quality": [1, 2, 6, 2, 4, 5],
        }
    )
    moments = lasso.rating_moments(ratings, ["refusal"], "quality", "item", "prompt")
    assert moments.n.tolist() == [2, 1]
    assert moments.sum_x.tolist() == [[1.5], [0]]
    assert moments.sum_y.tolist() == [6, 5]
    assert moments.xy.tolist() == [[3 + 0.5 * 3], [0]]


def test_weights_are_those_of_the_steps_one_by_one(moments):
    items = aggregate(make_ratings(200), "item_id", ["quality"], FEATURES, ["prompt_id"])
    expected = lasso.lasso(items, FEATURES, "quality", 0.01)
    table = lasso.lasso_table(moments, 0.01, 60, np.random.default_rng(0))
    np.testing.assert_allclose(table["estimate"], expected, rtol=1e-12)
    assert list(table.index) == FEATURES


def test_intervals_are_as_wide_as_those_of_one_bootstrap(moments):
    table = lasso.lasso_table(moments, 0.01, 4_000, np.random.default_rng(0))
    draws = lasso.lasso_bootstrap(moments, 0.01, 4_000, np.random.default_rng(1))
    bounds = draws.quantile([0.025, 0.975]).T
    np.testing.assert_allclose(table[["low", "high"]], bounds, atol=0.015)
    selected = lasso.selection_frequency(draws)
    np.testing.assert_allclose(table["selected"], selected, atol=0.03)


def test_the_truth_is_recovered_from_many_ratings():
    ratings = make_ratings(8_000)
    moments = lasso.rating_moments(ratings, FEATURES, "quality", "item_id", "prompt_id")
    table = lasso.lasso_table(moments, 1e-4, 200, np.random.default_rng(0))
    np.testing.assert_allclose(table["estimate"], TRUTH, atol=0.03)
    assert (table["high"] - table["low"]).max() < 0.06


def test_row_order_and_labels_do_not_matter(moments):
    shuffled = make_ratings(200).sample(frac=1, random_state=0)
    shuffled["item_id"] = "item-" + shuffled["item_id"].astype(str)
    again = lasso.rating_moments(shuffled, FEATURES, "quality", "item_id", "prompt_id")
    np.testing.assert_allclose(again.total().products, moments.total().products, rtol=1e-12)


def test_parts_that_share_no_cluster_can_be_reduced_one_by_one(moments):
    ratings = make_ratings(200)
    parts = [ratings[ratings["prompt_id"] < 70], ratings[ratings["prompt_id"] >= 70]]
    columns = FEATURES, "quality", "item_id", "prompt_id"
    products = [lasso.rating_moments(part, *columns).products for part in parts]
    np.testing.assert_array_equal(np.concatenate(products), moments.products)


def test_an_item_that_nobody_scored_is_named():
    ratings = pd.DataFrame(
        {"item": [1, 2], "prompt": ["a", "b"], "refusal": [0, 1], "quality": [3.0, np.nan]}
    )
    with pytest.raises(ValueError, match="column 'quality' has 1 missing value, first in row 1"):
        lasso.rating_moments(ratings, ["refusal"], "quality", "item", "prompt")


def test_a_penalty_or_a_number_of_replicates_of_zero_is_refused(moments):
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=r"alpha must be positive, got 0\.0"):
        lasso.lasso_table(moments, 0, 10, rng)
    with pytest.raises(ValueError, match="n_boot must be at least 1, got 0"):
        lasso.lasso_table(moments, 0.01, 0, rng)
