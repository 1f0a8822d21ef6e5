import re

import pytest

from helpers.files import tables


@pytest.mark.parametrize("given", [["a", "b"], ("a", "b"), '["a", "b"]', ' [ "a","b" ] '])
def test_names_come_as_a_list_or_as_its_text(given):
    assert tables.name_list(given, "aspects") == ["a", "b"]


@pytest.mark.parametrize("given", ["tone", "a, b", "", "[]", [], "[1]", '{"a": 1}', None, 3, "["])
def test_anything_else_is_refused_with_an_example(given):
    message = (
        f"aspects is {given!r}: give names of columns as a JSON list, "
        """such as '["factuality", "tone"]'"""
    )
    with pytest.raises(tables.OptionError, match=f"^{re.escape(message)}$"):
        tables.name_list(given, "aspects")


@pytest.mark.parametrize("given", [{"tone": [1, 5]}, '{"tone": [1, 5]}', {"tone": (1, 5)}])
def test_scales_come_as_a_mapping_or_as_its_text(given):
    assert tables.scale_map(given, "scales") == {"tone": (1, 5)}


def test_there_may_be_no_scales():
    assert tables.scale_map("{}", "scales") == {}


@pytest.mark.parametrize(
    "given",
    ["", "1-5", [1, 5], {"tone": 5}, {"tone": [5, 1]}, {"tone": [1]}, {"tone": "15"},
     {"tone": [True, 5]}, '{"tone": ["1", "5"]}', "[" * 100_000],
)  # fmt: skip
def test_a_scale_needs_two_ends_in_order(given):
    with pytest.raises(tables.OptionError, match="give the lowest and the highest mark of"):
        tables.scale_map(given, "scales")
