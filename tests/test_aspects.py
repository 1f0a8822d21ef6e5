"""Distances from the ideal, and tables of trees."""

import numpy as np
import pandas as pd
import pytest
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
