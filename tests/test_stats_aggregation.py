"""Means over raters from weights of ratings."""

import numpy as np
import pandas as pd
import pytest

from helpers.stats import aggregation


def test_means_of_items_are_those_of_a_table_without_the_rows_left_out():
    rng = np.random.default_rng(2)
    ratings = pd.DataFrame({"item_id": rng.permutation(np.repeat(list("dbca"), 5))})
    ratings["quality"] = rng.normal(size=20)
    ratings["tone"] = rng.normal(size=20)
    columns = ["quality", "tone"]
    items, compute = aggregation.item_means(ratings, "item_id", columns)
    assert list(items) == list("abcd")
    kept = rng.random(20) < 0.6
    kept[ratings["item_id"] == "c"] = False
    present, means = compute(np.array([np.ones(20), kept]))
    assert present.tolist() == [[1, 1, 1, 1], [1, 1, 0, 1]]
    for place, rows in enumerate([ratings, ratings[kept]]):
        expected = rows.groupby("item_id")[columns].mean()
        found = pd.DataFrame(means[:, place].T, items, columns)
        pd.testing.assert_frame_equal(found.loc[expected.index], expected)


def test_a_column_of_text_is_refused():
    ratings = pd.DataFrame({"item_id": ["a", "b"], "quality": ["good", "bad"]})
    with pytest.raises(ValueError, match="quality"):
        aggregation.item_means(ratings, "item_id", ["quality"])
