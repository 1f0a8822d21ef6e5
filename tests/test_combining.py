"""Ways to combine labels: hand-computed items, agreement with `ratings.aggregate`, messages."""

import numpy as np
import pandas as pd
import pytest

from helpers.beyond import crowd
from helpers.files.ratings import aggregate

RATINGS = pd.DataFrame(
    {
        "item_id": ["a", "a", "a", "a", "b", "b", "b"],
        "rater_id": ["p", "q", "r", "s", "p", "q", "r"],
        "score": [1, 1, 4, 4, 0, 2, 3],
    }
)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("mean", [2.5, 5 / 3]),
        ("mode, ties halved", [2.5, 5 / 3]),
        ("mode, ties low", [1, 0]),
        ("mode, ties high", [4, 3]),
    ],
)
def test_ties_are_broken_by_the_rule(rule, expected):
    combined = crowd.combine(RATINGS, ["score"], rule, "item_id", "rater_id")
    assert combined.index.tolist() == ["a", "b"]
    assert combined["score"].tolist() == pytest.approx(expected)


@pytest.mark.parametrize("rule", [rule for rule in crowd.RULES if rule != "mean"])
def test_where_nobody_disagrees_all_rules_agree(rule):
    table = RATINGS.assign(score=RATINGS["item_id"].map({"a": 0, "b": 1}))
    combined = crowd.combine(table, ["score"], rule, "item_id", "rater_id")
    assert combined["score"].tolist() == pytest.approx([0, 1], abs=1e-6)


@pytest.mark.parametrize("rule", crowd.RULES)
def test_a_column_with_one_value_keeps_it(rule):
    combined = crowd.combine(RATINGS.assign(score=0), ["score"], rule, "item_id", "rater_id")
    assert combined["score"].tolist() == [0, 0]


def test_mean_and_halved_mode_are_those_of_aggregate():
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"item_id": np.arange(400) // 4, "rater_id": np.arange(400) % 7})
    table["score"] = rng.integers(4, size=400)
    for rule, way in (("mean", "mean"), ("mode, ties halved", "mode")):
        combined = crowd.combine(table, ["score"], rule, "item_id", "rater_id")
        expected = aggregate(table, "item_id", **{way: ["score"]})["score"]
        np.testing.assert_allclose(combined["score"], expected)


def test_unknown_rules_are_refused():
    with pytest.raises(ValueError, match="rule 'median' is unknown: choose one of mean, mode"):
        crowd.combine(RATINGS, ["score"], "median", "item_id", "rater_id")
