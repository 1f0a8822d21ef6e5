"""Combined ratings agree with hand-made ones, and odd tables are refused."""

import numpy as np
import pandas as pd
import pytest

from helpers.aggregation import aggregate
from helpers.data.tables import OptionError


def make_ratings():
    """Ratings of three items, in mixed order; nobody labelled the last one."""
    return pd.DataFrame(
        {
            "item_id": ["b", "a", "b", "a", "a", "b", "c"],
            "system": ["S", "R", "S", "R", "R", "S", "T"],
            "score": [1.0, 2, 4, np.nan, 5, 1, np.nan],
            "label": [0, 1, 1, 0, 1, np.nan, np.nan],
        }
    )


def test_means_modes_and_first_values_by_hand():
    table = aggregate(
        make_ratings(), "item_id", mean=["score"], mode=["label"], first=["system"]
    )
    expected = pd.DataFrame(
        {
            "item_id": ["a", "b", "c"],
            "system": ["R", "S", "T"],
            "n_ratings": [3, 3, 1],
            "score": [3.5, 2, np.nan],
            "label": [1, 0.5, np.nan],
        }
    )
    pd.testing.assert_frame_equal(table, expected)


def test_values_that_tie_are_averaged_on_any_scale():
    ratings = pd.DataFrame({"item_id": "a", "score": [1, 5, 5, 2, 2, 3]})
    table = aggregate(ratings, "item_id", mode=["score"])
    assert table["score"].tolist() == [3.5]


def test_items_may_be_named_by_two_columns():
    ratings = make_ratings()
    table = aggregate(ratings, ["system", "item_id"], mean=["score"])
    alone = aggregate(ratings, "item_id", mean=["score"], first=["system"])
    by_item = table.sort_values("item_id", ignore_index=True)
    pd.testing.assert_frame_equal(by_item[list(alone)], alone)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("item_id", "1 of 7 rows have no item_id: fill it in or leave these rows out"),
        ("system", "column 'system' is of type"),
        ("quality", "column 'quality' is not in the table, which has: item_id"),
    ],
)
def test_tables_that_cannot_be_combined_are_refused(column, message):
    ratings = make_ratings()
    mean = ["score"]
    if column == "item_id":
        ratings.loc[2, "item_id"] = None
    else:
        mean = [column]
    with pytest.raises(OptionError, match=message):
        aggregate(ratings, "item_id", mean=mean)
