"""Trees on random splits against fits from rows, importances, and rules in words."""

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeRegressor

from helpers.stats import aspects
from helpers.stats.aspects import random_splits
from helpers.stats.bootstrap import interval
from helpers.studies import kamoda

FEATURES = ["factuality", "formality"]


@pytest.fixture
def ratings():
    rng = np.random.default_rng(8)
    factuality, formality = rng.integers(0, 4, size=300), rng.integers(-1, 2, size=300)
    acceptability = (factuality + rng.integers(-1, 2, size=300)).clip(0, 3)
    return pd.DataFrame(
        {
            "factuality": factuality,
            "formality": formality,
            "acceptability": acceptability,
            "question_id": np.arange(300) // 12,
        }
    )


@pytest.fixture
def held_out(ratings):
    return random_splits(ratings, 20, 0.2, np.random.default_rng(1), "question_id")


def test_trees_of_counted_rows_are_the_trees_of_the_rows(ratings, held_out):
    result = aspects.tree_splits(ratings, FEATURES, "acceptability", held_out, max_depth=2)
    expected = []
    for test in held_out:
        train, rest = ratings[~test], ratings[test]
        tree = DecisionTreeRegressor(max_depth=2, random_state=0)
        tree.fit(train[FEATURES], train["acceptability"])
        rho = np.corrcoef(tree.predict(rest[FEATURES]), rest["acceptability"])[0, 1]
        expected.append([*tree.feature_importances_, rho])
    assert list(result.columns) == [*FEATURES, "rho"]
    np.testing.assert_allclose(result, expected, rtol=1e-9)


def test_importance_goes_to_the_feature_that_determines_the_outcome(ratings, held_out):
    table = ratings.assign(acceptability=ratings["factuality"])
    result = aspects.tree_splits(table, FEATURES, "acceptability", held_out)
    np.testing.assert_allclose(result, [[1.0, 0.0, 1.0]] * 20, atol=1e-12)


@pytest.mark.parametrize("column", ["factuality", "acceptability"])
def test_rho_is_undefined_where_held_out_predictions_or_outcomes_do_not_vary(ratings, column):
    held_out = (ratings[column] == 0).to_numpy()[None, :]
    result = aspects.tree_splits(ratings, ["factuality"], "acceptability", held_out)
    assert np.isnan(result["rho"]).all()


def test_shuffling_matters_only_for_the_feature_that_counts(ratings, held_out):
    drops = aspects.permutation_importances(
        ratings, FEATURES, "acceptability", held_out, np.random.default_rng(0)
    )
    assert drops.shape == (20, 2)
    assert (drops["factuality"] > 0.5).all()
    assert abs(drops["formality"].mean()) < 0.1


def test_shuffled_importances_depend_on_the_seed_alone(ratings, held_out):
    first, second = (
        aspects.permutation_importances(
            ratings, FEATURES, "acceptability", held_out[:2], np.random.default_rng(5)
        )
        for _ in range(2)
    )
    pd.testing.assert_frame_equal(first, second)


@pytest.mark.parametrize("function", [aspects.tree_splits, aspects.permutation_importances])
def test_trees_refuse_unusable_columns_and_splits(ratings, held_out, function):
    rng = [np.random.default_rng(0)] if function is aspects.permutation_importances else []
    with pytest.raises(ValueError, match="column 'amount_info' is not in the table"):
        function(ratings, ["amount_info"], "acceptability", held_out, *rng)
    with pytest.raises(ValueError, match="give bool of shape"):
        function(ratings, FEATURES, "acceptability", held_out[:, :5], *rng)


def test_a_tree_table_tells_where_every_row_goes():
    x = [[0, -1], [0, 1], [3, -1], [3, 1]]
    tree = DecisionTreeRegressor().fit(x, [0, 0, 2, 3], sample_weight=[5, 1, 2, 2])
    table = aspects.tree_table(tree, FEATURES)
    assert table["rule"].tolist() == [
        "all rows",
        "factuality at most 1.5",
        "factuality above 1.5",
        "formality at most 0",
        "formality above 0",
    ]
    assert table["parent"].tolist() == [-1, 0, 0, 2, 2]
    assert table["depth"].tolist() == [0, 1, 1, 2, 2]
    assert table["n"].tolist() == [10, 6, 4, 2, 2]
    assert table["mean"].tolist() == [1.0, 0.0, 2.5, 2.0, 3.0]
    assert table["is_leaf"].tolist() == [False, True, False, True, True]


def test_thresholds_are_shown_with_three_digits():
    tree = DecisionTreeRegressor().fit([[1 / 3], [1]], [0, 1])
    assert aspects.tree_table(tree, ["factuality"])["rule"].iloc[1] == "factuality at most 0.667"


def test_a_tree_table_needs_a_name_for_every_feature():
    tree = DecisionTreeRegressor().fit([[0], [1]], [0, 1])
    with pytest.raises(ValueError, match="the tree has 1 features, got 2 names"):
        aspects.tree_table(tree, FEATURES)


def test_the_published_correlation_is_that_of_a_random_split(real_data):
    ratings = kamoda.load(real_data).ratings
    held_out = random_splits(ratings, 200, 0.2, np.random.default_rng(0))
    splits = aspects.tree_splits(ratings, kamoda.ASPECTS, "acceptability", held_out)
    low, high = interval(splits["rho"])
    assert low < 0.830 < high
