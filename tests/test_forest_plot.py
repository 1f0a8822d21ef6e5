"""Where the estimates of several tables are drawn."""

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from helpers.show import forest_plot


@pytest.fixture
def ax():
    fig, ax = plt.subplots()
    yield ax
    plt.close(fig)


def table(estimate: float, rows=("a", "b")) -> pd.DataFrame:
    return pd.DataFrame(
        {"estimate": estimate, "low": estimate - 1, "high": estimate + 1}, index=list(rows)
    )


def test_estimates_of_a_row_lie_evenly_around_it_in_the_order_of_the_tables(ax):
    forest_plot(ax, {"first": table(1), "second": table(2), "third": table(3)})
    heights = [line.get_ydata().tolist() for line in ax.lines]
    assert heights == [[-0.25, 0.75], [0, 1], [0.25, 1.25]]
    assert [line.get_xdata()[0] for line in ax.lines] == [1, 2, 3]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]


def test_tables_differ_in_colour_and_marker(ax):
    forest_plot(ax, {"first": table(1), "second": table(2)}, colors=["#000000", "#FF0000"])
    assert [line.get_color() for line in ax.lines] == ["#000000", "#FF0000"]
    assert len({line.get_marker() for line in ax.lines}) == 2


def test_a_single_table_is_drawn_on_its_rows(ax):
    forest_plot(ax, {"only": table(1)})
    assert ax.lines[0].get_ydata().tolist() == [0, 1]


def test_tables_need_the_same_rows(ax):
    with pytest.raises(ValueError, match="table 'second' has other rows than the first: give all"):
        forest_plot(ax, {"first": table(1), "second": table(2, rows=("b", "a"))})
