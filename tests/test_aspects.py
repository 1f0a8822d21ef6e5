"""Distances from the ideal, random splits and tables of trees."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from helpers import aspects

FEATURES = ["formality", "amount_info", "factuality"]


@pytest.fixture(scope="module")
def ratings():
    """Distances of 240 ratings of 80 answers to 20 questions."""
    rng = np.random.default_rng(6)
    table = pd.DataFrame(rng.integers(0, 4, size=(240, 3)) / 3, columns=FEATURES)
    table["lower"] = table @ [0.3, 0.7, 2.0] + rng.normal(scale=0.3, size=240)
    table["question_id"] = np.arange(240) // 12
    return table


def distance_of(values, ideal, ends):
    frame = pd.DataFrame({"amount": values})
    found = aspects.ideal_distance(frame, ["amount"], {"amount": ideal}, ends)
    return found["amount"].tolist()


@pytest.mark.parametrize(
    ("ideal", "ends", "expected"),
    [
        (1, (1, 5), [0.0, 0.5, 1.0]),
        (5, (1, 5), [1.0, 0.5, 0.0]),
        # from 2 the far end is 5, three steps away
        (2, (1, 5), [1 / 3, 1 / 3, 1.0]),
    ],
)
def test_distance_is_zero_at_the_ideal_and_one_at_the_far_end(ideal, ends, expected):
    found = distance_of([1, 3, 5], ideal, {"amount": ends})
    assert found == pytest.approx(expected)


def test_a_missing_rating_has_no_distance():
    found = distance_of([1.0, np.nan], 5, {"amount": (1, 5)})
    assert found[0] == 1.0
    assert np.isnan(found[1])


@pytest.mark.parametrize(
    ("values", "ideals", "ranges", "message"),
    [
        ([1], {}, {"amount": (1, 5)}, "ideals lacks 'amount'"),
        ([1], {"amount": 5}, {}, "ranges lacks 'amount'"),
        ([1], {"amount": 6}, {"amount": (1, 5)}, "the ideal 6 of 'amount' and its"),
        ([1], {"amount": 1}, {"amount": (1, 1)}, "the ends differ"),
        (
            [0],
            {"amount": 5},
            {"amount": (1, 5)},
            "1 ratings in column 'amount' are out",
        ),
        (["1"], {"amount": 5}, {"amount": (1, 5)}, "convert it to numbers"),
    ],
)
def test_distances_refuse_what_makes_no_sense(values, ideals, ranges, message):
    frame = pd.DataFrame({"amount": values})
    with pytest.raises(ValueError, match=message):
        aspects.ideal_distance(frame, ["amount"], ideals, ranges)


def test_duplicate_columns_are_one_sentence():
    frame = pd.DataFrame([[1, 2]], columns=["amount", "amount"])
    with pytest.raises(ValueError, match="2 columns are called 'amount'"):
        aspects.ideal_distance(frame, ["amount"], {"amount": 1}, {"amount": (1, 5)})


@pytest.mark.parametrize(("group", "n_test"), [(None, 48), ("question_id", 4)])
def test_splits_hold_out_a_fifth_in_whole_groups(ratings, group, n_test):
    held_out = aspects.random_splits(ratings, 30, group=group)
    labels = pd.Series(ratings.index) if group is None else ratings[group]
    assert held_out.shape == (30, 240)
    assert len(np.unique(held_out, axis=0)) == 30
    for is_test in held_out:
        assert labels[is_test].nunique() == n_test
        assert not set(labels[is_test]) & set(labels[~is_test])


def test_splits_depend_on_the_seed_alone(ratings):
    first = aspects.random_splits(ratings, 5, seed=1)
    np.testing.assert_array_equal(first, aspects.random_splits(ratings, 5, seed=1))
    assert (first != aspects.random_splits(ratings, 5, seed=2)).any()


@pytest.mark.parametrize("test_share", [0.0, 0.01, 1.0])
def test_splits_refuse_an_empty_part(ratings, test_share):
    message = f"test_share={test_share} of 20 groups leaves a part of a split empty"
    with pytest.raises(ValueError, match=message):
        aspects.random_splits(ratings, 5, test_share, group="question_id")


def test_splits_refuse_unknown_groups_and_gaps(ratings):
    with pytest.raises(ValueError, match="column 'topic' is not in the table"):
        aspects.random_splits(ratings, 5, group="topic")
    gaps = ratings.assign(question_id=ratings["question_id"].mask(ratings.index < 3))
    with pytest.raises(ValueError, match="'question_id' has 3 missing values"):
        aspects.random_splits(gaps, 5, group="question_id")


@pytest.mark.parametrize(
    "model",
    [LinearRegression(fit_intercept=False), DecisionTreeRegressor(max_depth=2)],
)
def test_a_split_is_the_fit_to_its_other_rows(ratings, model):
    held_out = aspects.random_splits(ratings, 3)
    found = aspects.fit_splits(model, ratings, FEATURES, "lower", held_out)
    assert list(found.columns) == [*FEATURES, "rho"]
    for number, is_test in enumerate(held_out):
        train = ratings[~is_test]
        test = ratings[is_test]
        x = train[FEATURES].to_numpy()
        if isinstance(model, LinearRegression):
            expected = np.linalg.lstsq(x, train["lower"], rcond=None)[0]
            predicted = test[FEATURES].to_numpy() @ expected
        else:
            tree = DecisionTreeRegressor(max_depth=2).fit(x, train["lower"])
            expected = tree.feature_importances_
            predicted = tree.predict(test[FEATURES].to_numpy())
        rho = np.corrcoef(predicted, test["lower"])[0, 1]
        np.testing.assert_allclose(found.iloc[number], [*expected, rho], rtol=1e-9)


def test_rho_is_undefined_where_the_outcome_does_not_vary(ratings):
    held_out = np.arange(240)[None, :] < 5
    table = ratings.assign(lower=ratings["lower"].where(~held_out[0], 1.0))
    line = LinearRegression(fit_intercept=False)
    found = aspects.fit_splits(line, table, FEATURES, "lower", held_out)
    assert np.isnan(found["rho"].item())
    assert found[FEATURES].notna().all(axis=None)


def test_fits_refuse_gaps(ratings):
    gaps = ratings.assign(lower=ratings["lower"].mask(ratings.index < 2))
    held_out = aspects.random_splits(gaps, 1)
    with pytest.raises(ValueError, match="2 rows have a missing value in formality"):
        aspects.fit_splits(LinearRegression(), gaps, FEATURES, "lower", held_out)


def test_the_table_of_a_tree_leads_to_its_predictions(ratings):
    x = ratings[FEATURES]
    tree = DecisionTreeRegressor(max_depth=3).fit(x.to_numpy(), ratings["lower"])
    nodes = aspects.tree_table(tree, FEATURES).set_index("node")
    leaves = tree.apply(x.to_numpy(dtype=np.float32))
    for leaf, rows in ratings.groupby(leaves):
        assert nodes.loc[leaf, "is_leaf"]
        assert nodes.loc[leaf, "n"] == len(rows)
        assert nodes.loc[leaf, "mean"] == pytest.approx(rows["lower"].mean())
        node = leaf
        while nodes.loc[node, "parent"] >= 0:
            name, _, rest = nodes.loc[node, "rule"].partition(" ")
            threshold = float(rest.split()[-1])
            if rest.startswith("above"):
                assert (rows[name] > threshold).all()
            else:
                assert (rows[name] <= threshold).all()
            node = nodes.loc[node, "parent"]
        assert node == 0
    depth_of_parent = nodes["parent"].map(nodes["depth"]).fillna(-1)
    assert (nodes["depth"] == depth_of_parent + 1).all()
