import numpy as np
import pandas as pd
import pytest

from helpers.files import ratings
from helpers.files.ratings import distinct

NAN = float("nan")


def column(*values):
    index = pd.RangeIndex(2, 2 + len(values), name="row")
    return pd.Series(distinct(values), index=index, name="tone")


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("4", 4),
        (" 4 ", 4),
        ("4.50", 4.5),
        (".5", 0.5),
        ("-1e3", -1000),
        ("+2.", 2),
        ("yes", 1),
        ("No", 0),
        ("TRUE", 1),
        (False, 0),
        (7, 7),
        (2.5, 2.5),
        ("N/A", NAN),
        ("nan", NAN),
        ("NULL", NAN),
        ("None", NAN),
        ("", NAN),
        ("  ", NAN),
        (None, NAN),
        (NAN, NAN),
    ],
)
def test_what_counts_as_a_number_or_as_nothing(value, number):
    values, problems = ratings.numbers(column(value))
    np.testing.assert_equal(values, [number])
    assert problems == []


@pytest.mark.parametrize(
    ("value", "mistake"),
    [
        ("good", "not a number: row 2 'good'"),
        ("=1+1", "not a number: row 2 '=1+1'"),
        ("1_000", "not a number: row 2 '1_000'"),
        ("٣", "not a number: row 2 '٣'"),
        ("0x10", "not a number: row 2 '0x10'"),
        ("../../x", "not a number: row 2 '../../x'"),
        ("x" * 10**6, f"not a number: row 2 '{'x' * 40}…'"),
        ("4,5", "comma instead of a decimal point: row 2 '4,5'"),
        ("-Inf", "infinite or too large: row 2 '-Inf'"),
        (float("inf"), "infinite or too large: row 2 inf"),
        ("1e999", "infinite or too large: row 2 '1e999'"),
        (10**400, f"infinite or too large: row 2 1{'0' * 79}…"),
        ("6", "outside 1 to 5: row 2 '6'"),
        (0, "outside 1 to 5: row 2 0"),
        ("no", "outside 1 to 5: row 2 'no'"),
    ],
)
def test_what_counts_as_a_mistake(value, mistake):
    values, problems = ratings.numbers(column(value), (1, 5))
    assert np.isnan(values).all()
    assert problems == [f"column 'tone', {mistake}"]


def test_a_million_mistakes_take_one_line_for_each_kind():
    values, problems = ratings.numbers(column(*["bad"] * 400_000, *["4,5"] * 600_000))
    assert len(values) == 1_000_000
    assert problems == [
        "column 'tone', not a number: row 2 'bad', row 3 'bad', row 4 'bad', row 5 'bad', "
        "row 6 'bad' and 399,995 more",
        "column 'tone', comma instead of a decimal point: row 400002 '4,5', row 400003 '4,5', "
        "row 400004 '4,5', row 400005 '4,5', row 400006 '4,5' and 599,995 more",
    ]


def test_labels_are_text_without_spaces_around_it():
    values, problems = ratings.labels(column("NA", " a", "a ", 7, 7.0, 2.5, True))
    assert list(values) == ["NA", "a", "a", "7", "7", "2.5", "True"]
    assert problems == []


def test_a_label_that_is_needed_must_be_there():
    _, problems = ratings.labels(column("a", None, " ", "\ud800"))
    assert problems == [
        "column 'tone', no valid text: row 5 '\\ud800'",
        "column 'tone', empty: row 3, row 4",
    ]
    assert ratings.labels(column("a", None), required=False)[1] == []


def test_a_column_without_a_single_number_holds_labels():
    assert list(ratings.numbers_or_labels(column("long", "short"))[0]) == ["long", "short"]
    assert ratings.numbers_or_labels(column("80", None))[0].tolist()[0] == 80
