"""Every message of the checks, and that good tables pass."""

import numpy as np
import pandas as pd
import pytest

from helpers.files import tables

FRAME = pd.DataFrame(
    {
        "refusal": [0, 1, 0, 1],
        "scope": [0.0, 0.0, 1.0, 1.0],
        "quality": [5.0, 2.0, 4.0, 1.0],
        "task": ["amazon", "amazon", "wikihow", "wikihow"],
    },
    index=["a", "b", "c", "d"],
)


def test_a_good_table_passes_every_check():
    features = ["refusal", "scope"]
    assert tables.check_regression(FRAME, features, "quality", "task") is None
    assert tables.check_full_rank(FRAME, features, intercept=True) is None
    assert tables.check_held_out(FRAME, np.array([[True, False, False, False]])) is None


@pytest.mark.parametrize("dtype", ["bool", "Int64", "float32", "boolean"])
def test_every_kind_of_number_is_numeric(dtype):
    assert tables.check_numeric(FRAME.astype({"refusal": dtype}), ["refusal"]) is None


@pytest.mark.parametrize("columns", [{"refusal": (0, 1), "scope": (0, 1)}, FRAME[["scope"]]])
def test_columns_can_be_the_keys_of_a_mapping_or_a_table(columns):
    assert tables.check_numeric(FRAME, columns) is None
    with pytest.raises(ValueError, match="column 'scope' has 1 missing value, first in row a"):
        tables.check_numeric(FRAME.assign(scope=[None, 0, 1, 1]), columns)


def test_an_unknown_column_is_named_beside_the_known_ones():
    expected = "column 'refusals' is not in the table, which has: refusal, scope, quality, task"
    with pytest.raises(ValueError, match=expected):
        tables.check_regression(FRAME, ["refusals"], "quality")


def test_the_outcome_cannot_be_a_feature():
    with pytest.raises(ValueError, match="column 'quality' is named twice: name each column once"):
        tables.check_regression(FRAME, ["refusal", "quality"], "quality")


def test_a_column_of_words_is_not_numeric():
    with pytest.raises(ValueError, match="column 'task' is of type str: convert it to numbers"):
        tables.check_regression(FRAME, ["task"], "quality")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["c"], "column 'scope' has 1 missing value, first in row c: fill it or drop the row"),
        (
            ["b", "d"],
            "column 'scope' has 2 missing values, first in row b: fill them or drop the rows",
        ),
    ],
)
def test_missing_values_are_counted_and_the_first_is_located(rows, message):
    frame = FRAME.copy()
    frame.loc[rows, "scope"] = np.nan
    with pytest.raises(ValueError, match=message):
        tables.check_regression(frame, ["scope"], "quality")


def test_missing_values_can_be_allowed_but_infinite_ones_cannot():
    frame = FRAME.assign(scope=[np.nan, 1.0, np.inf, 0.0])
    assert tables.check_numeric(frame[:2], ["scope"], missing="allow") is None
    with pytest.raises(ValueError, match="'scope' is infinite in row c: correct the value"):
        tables.check_numeric(frame, ["scope"], missing="allow")


def test_a_regression_needs_a_feature():
    with pytest.raises(ValueError, match="no features are named: give at least one column"):
        tables.check_regression(FRAME, [], "quality")


def test_a_constant_outcome_cannot_be_explained():
    expected = "outcome 'quality' has the same value in all 4 rows: there is nothing to explain"
    with pytest.raises(ValueError, match=expected):
        tables.check_regression(FRAME.assign(quality=3.0), ["refusal"], "quality")


def test_clusters_must_be_known_complete_and_several():
    with pytest.raises(ValueError, match="column 'prompt' is not in the table"):
        tables.check_clusters(FRAME, "prompt")
    with pytest.raises(ValueError, match="column 'task' has 1 missing value, first in row a"):
        tables.check_clusters(FRAME.assign(task=[None, "x", "y", "y"]), "task")
    with pytest.raises(ValueError, match="column 'task' has 1 distinct value: clusters need at l"):
        tables.check_clusters(FRAME.assign(task="x"), "task")
    with pytest.raises(ValueError, match="column 'task' has 0 distinct values: clusters need"):
        tables.check_clusters(FRAME[:0], "task")


@pytest.mark.parametrize(
    ("values", "intercept", "reason"),
    [
        ([1, 1, 1, 1], True, "a combination of the intercept, refusal"),
        ([5, 7, 5, 7], True, "a combination of the intercept, refusal"),
        ([0, 3, 0, 3], False, "a combination of refusal"),
        ([0, 0, 0, 0], False, "zero"),
    ],
)
def test_a_redundant_feature_is_named_with_the_features_that_determine_it(
    values, intercept, reason
):
    frame = FRAME.assign(extra=values)
    with pytest.raises(ValueError, match=f"feature 'extra' is {reason}: leave it out"):
        tables.check_full_rank(frame, ["refusal", "extra"], intercept)


def test_a_constant_feature_is_not_redundant_without_an_intercept():
    frame = FRAME.assign(extra=1)
    assert tables.check_full_rank(frame, ["refusal", "extra"], intercept=False) is None


def test_the_units_of_a_feature_do_not_make_it_redundant():
    frame = FRAME.assign(scope=FRAME["scope"] * 1e-20)
    assert tables.check_full_rank(frame, ["refusal", "scope"], intercept=True) is None


@pytest.mark.parametrize(
    ("held_out", "message"),
    [
        (
            [[0, 1, 0, 1]],
            r"held_out is int64 of shape \(1, 4\): give bool of shape \(n_splits, 4\)",
        ),
        ([[True, False]], r"held_out is bool of shape \(1, 2\): give bool of shape"),
        ([True, False, True, False], r"held_out is bool of shape \(4,\): give bool of shape"),
        ([[True, False] * 2, [False] * 4], "split 1 leaves no row to fit or none to test"),
        ([[True] * 4], "split 0 leaves no row to fit or none to test: give splits with two parts"),
    ],
)
def test_splits_must_fit_the_table_and_have_two_parts(held_out, message):
    with pytest.raises(ValueError, match=message):
        tables.check_held_out(FRAME, np.array(held_out))
