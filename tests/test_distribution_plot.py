"""Distributions over splits: what is drawn where."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from helpers import show
from helpers.show import distribution_plot

COLORS = [show.BLUE, show.ORANGE]


@pytest.fixture
def ax():
    fig, axis = plt.subplots()
    yield axis
    plt.close(fig)


@pytest.fixture
def draws():
    """101 splits from 0 to 1 and from 2 to 3."""
    steps = np.linspace(0, 1, 101)
    return pd.DataFrame({"by rating": steps, "by question": 2 + steps})


def test_medians_and_central_ranges_are_those_of_the_columns(ax, draws):
    distribution_plot(ax, draws, "0.9", COLORS)
    lines, points = ax.collections[-2:]
    ranges = [segment[:, 0].tolist() for segment in lines.get_segments()]
    np.testing.assert_allclose(ranges, [[0.025, 0.975], [2.025, 2.975]])
    np.testing.assert_allclose(points.get_offsets(), [[0.5, 0], [2.5, 1]])


def test_the_printed_number_is_a_line_with_its_value(ax, draws):
    distribution_plot(ax, draws, "0.830", COLORS)
    assert ax.lines[0].get_xdata() == [0.83, 0.83]
    assert [text.get_text() for text in ax.texts] == ["printed 0.830"]


def test_the_first_column_is_at_the_top(ax, draws):
    distribution_plot(ax, draws, "0.9", COLORS)
    labels = [text.get_text() for text in ax.get_yticklabels()]
    bottom, top = ax.get_ylim()
    assert labels == ["by rating", "by question"]
    assert top < 0 < 1 < bottom


def test_undefined_splits_are_left_out(ax, draws):
    gaps = pd.DataFrame(np.nan, index=range(5), columns=draws.columns)
    distribution_plot(ax, pd.concat([draws, gaps]), "0.9", COLORS)
    np.testing.assert_allclose(ax.collections[-1].get_offsets(), [[0.5, 0], [2.5, 1]])


def test_every_column_needs_a_colour(ax, draws):
    with pytest.raises(ValueError, match="zip"):
        distribution_plot(ax, draws, "0.9", COLORS[:1])
