"""Tables as readers see them."""

import pandas as pd
import pytest

from helpers.show import captioned


def test_the_caption_stands_above_the_table_in_text_and_html():
    table = captioned(pd.DataFrame({"rate": [1.234]}), "Rates < 5 %", decimals=1)
    assert repr(table).splitlines()[0] == "Rates < 5 %"
    html = table._repr_html_()
    assert ">Rates &lt; 5 %</caption>" in html
    assert html.index("<caption") < html.index("<thead")
    assert "<td>1.2</td>" in html


def test_long_tables_and_long_texts_are_shown_whole():
    table = captioned(pd.DataFrame({"note": ["x" * 200] * 150}), "Notes")
    assert table._repr_html_().count("x" * 200) == 150
    assert len(repr(table).splitlines()) == 152


def test_missing_values_are_blank_and_zeros_have_no_sign():
    table = captioned(pd.DataFrame({"weight": [-0.001, None]}), "Weights")
    assert "NaN" not in table._repr_html_()
    assert "-0.00" not in repr(table)


def test_the_frame_that_was_passed_stays_exact():
    frame = pd.DataFrame({"weight": [-0.9478]})
    captioned(frame, "Weights")
    assert frame.loc[0, "weight"] == -0.9478


@pytest.mark.parametrize("column", ["p", "p_value", "p, Holm", ("own marks", "p, Holm")])
def test_a_p_value_is_never_shown_as_zero(column):
    frame = pd.DataFrame({column: [0.00004, 0.0005, 0.0312, None]})
    shown = captioned(frame, "Tests", decimals=3).frame[column].tolist()
    assert shown == ["<0.001", "0.001", "0.031", ""]


def test_other_numbers_may_be_shown_as_zero():
    shown = captioned(pd.DataFrame({"pairs": [0.0001]}), "Shares", decimals=3).frame
    assert shown["pairs"].tolist() == [0.0]
