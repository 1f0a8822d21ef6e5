"""What a drawn specification curve shows."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from helpers.beyond.specifications import cross, curve, matches, specification_plot


@pytest.fixture
def table():
    rows, _ = cross({"labels": ["mean", "mode_low"], "link": ["linear", "ordinal", "rank"]})
    return curve(rows, [3.0, 1.0, -2.0, 2.0, 0.1, -0.1], np.full(6, 0.5), 1)


@pytest.fixture
def axes(table):
    paper = matches(table, {"labels": "mode_low", "link": "linear"})
    fig = specification_plot(table, ["labels", "link"], "points", paper, decimals=1)
    yield fig.axes
    plt.close(fig)


def test_each_choice_is_followed_by_its_options(axes):
    names = [label.get_text() for label in axes[1].get_yticklabels()]
    assert names == ["labels", "mean", "mode low", "link", "linear", "ordinal", "rank"]


def test_only_choices_are_bold_even_if_an_option_has_the_name_of_one():
    rows, _ = cross({"answers": ["all", "some"], "counted": ["answers", "marks"]})
    drawn = curve(rows, [1.0, 2.0, 3.0, 4.0], np.ones(4), 1)
    fig = specification_plot(drawn, ["answers", "counted"], "points")
    weights = [label.get_fontweight() for label in fig.axes[1].get_yticklabels()]
    plt.close(fig)
    assert [weight == "bold" for weight in weights] == [True, False, False, True, False, False]


def test_strokes_stand_where_the_option_is_in_the_order_of_the_estimates(axes):
    strokes = axes[1].collections
    at = [[segment[0, 0] for segment in lines.get_segments()] for lines in strokes]
    assert at[0] == [0, 3, 5]
    assert at[1] == [1, 2, 4]
    assert at[2] == [4, 5]


def test_the_specification_of_the_paper_is_marked(axes):
    marked = [line for line in axes[0].lines if line.get_marker() == "D"]
    assert [line.get_xydata().tolist() for line in marked] == [[[4.0, 2.0]]]


def test_the_legend_says_how_many_are_significant(axes):
    texts = [text.get_text() for text in axes[0].get_legend().get_texts()]
    assert texts == [
        "significant, as expected: 50 %",
        "not significant: 33 %",
        "significant, against expectation: 17 %",
        "as in the paper",
    ]


def test_medians_and_shares_stand_beside_the_options(axes):
    texts = [text.get_text() for text in axes[1].texts]
    assert texts[:4] == ["1.0", "67 %", "0.1", "33 %"]
    assert texts[-2:] == ["median", "signif."]
