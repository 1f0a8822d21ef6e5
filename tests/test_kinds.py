import pandas as pd
import pytest

from helpers.files import tables
from helpers.files.tables import BadTableError


def refusal(check, *values):
    with pytest.raises(BadTableError) as caught:
        check(pd.DataFrame({"x": pd.Series(values, dtype=object)}), ["x"], "a.jsonl")
    return str(caught.value).splitlines()[1:]


def test_text_stays_text():
    frame = tables.as_text(pd.DataFrame({"x": ["a", "ü"], "y": [1, 2]}), ["x"], "a.jsonl")
    assert frame["x"].tolist() == ["a", "ü"]
    assert frame["y"].tolist() == [1, 2]


def test_cells_that_are_no_text_are_named_by_row_and_kind_without_their_value():
    assert refusal(tables.as_text, "anna", 7, None, ["bob"], "\ud800", True) == [
        "  column 'x', row 2: text is needed, found int",
        "  column 'x', row 3: text is needed, found nothing",
        "  column 'x', row 4: text is needed, found list",
        "  column 'x', row 5: text is needed, found broken text",
        "  column 'x', row 6: text is needed, found bool",
    ]


def test_cells_that_are_no_numbers_are_named_by_row_and_kind():
    assert refusal(tables.as_numbers, 1, 2.5, None, "3", True, 10**400, float("inf")) == [
        "  column 'x', row 4: a number is needed, found text",
        "  column 'x', row 5: a number is needed, found bool",
        "  column 'x', row 6: a number is needed, found too large a number",
        "  column 'x', row 7: a number is needed, found too large a number",
    ]


def test_lists_and_dates_are_not_plain():
    assert refusal(tables.require_plain, "a", 1, True, None, {"a": 1}, pd.Timestamp(0)) == [
        "  column 'x', row 5: text or a number is needed, found dict",
        "  column 'x', row 6: text or a number is needed, found Timestamp",
    ]


@pytest.mark.parametrize("check", [tables.as_text, tables.as_numbers, tables.require_plain])
def test_a_column_must_be_there_once(check):
    twice = pd.DataFrame([[1, 2]], columns=["x", "x"])
    with pytest.raises(BadTableError, match="column 'x' stands there 2 times"):
        check(twice, ["x"], "a.jsonl")
    with pytest.raises(BadTableError, match="column 'y' is missing"):
        check(twice, ["y"], "a.jsonl")
