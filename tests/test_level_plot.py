"""What is drawn at each level."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from helpers.show import level_plot


@pytest.fixture
def ax():
    fig, ax = plt.subplots()
    yield ax
    plt.close(fig)


def segments(ax, number: int) -> np.ndarray:
    """Lower and upper ends of one of the two sets of lines."""
    return np.array([line[:, 1] for line in ax.collections[number].get_segments()])


def test_each_level_shows_its_quantiles(ax):
    levels = pd.Series(np.repeat([2.0, 1.0], 101))
    values = pd.Series(np.concatenate([np.arange(101), 1000 + np.arange(101)]), dtype=float)
    level_plot(ax, levels, values, color="k")
    assert ax.lines[0].get_xdata().tolist() == [1, 2]
    assert ax.lines[0].get_ydata().tolist() == [1050, 50]
    np.testing.assert_allclose(segments(ax, 0), [[1005, 1095], [5, 95]])
    np.testing.assert_allclose(segments(ax, 1), [[1025, 1075], [25, 75]])


def test_means_that_differ_by_rounding_are_one_level(ax):
    level_plot(ax, pd.Series([1 / 3, 1 - 2 / 3]), pd.Series([1.0, 3.0]), color="k")
    assert ax.lines[0].get_ydata().tolist() == [2]


def test_rows_without_a_number_are_left_out(ax):
    level_plot(ax, pd.Series([0.0, 1.0, 1.0]), pd.Series([np.nan, np.nan, 3.0]), color="k")
    assert ax.lines[0].get_xdata().tolist() == [1]
    assert ax.lines[0].get_ydata().tolist() == [3]
