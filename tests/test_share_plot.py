import matplotlib.pyplot as plt
import pandas as pd
import pytest

from helpers.show import BLUE, GREY, ORANGE, share_plot

SHARES = pd.DataFrame(
    {"too casual": [30.0, 5.0], "ideal": [60.0, 90.0], "too formal": [10.0, 5.0]},
    index=["Human", "Model"],
)
COLORS = [ORANGE, BLUE, GREY]


@pytest.fixture
def ax():
    fig, ax = plt.subplots()
    yield ax
    plt.close(fig)


def test_parts_follow_each_other_from_0_to_100(ax):
    share_plot(ax, SHARES, COLORS)
    ends = [[bar.get_x() + bar.get_width() for bar in bars] for bars in ax.containers]
    assert ends == [[30, 5], [90, 95], [100, 100]]
    assert ax.get_xlim() == (0, 100)


def test_small_parts_have_no_label(ax):
    share_plot(ax, SHARES, COLORS)
    assert [text.get_text() for text in ax.texts] == ["30", "", "60", "90", "10", ""]


def test_the_first_row_is_at_the_top(ax):
    share_plot(ax, SHARES, COLORS)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["Human", "Model"]
    assert ax.yaxis_inverted()


def test_only_the_marked_part_is_outlined(ax):
    share_plot(ax, SHARES, COLORS, marked="ideal")
    widths = [bars[0].get_linewidth() for bars in ax.containers]
    assert widths[1] == 2
    assert widths[0] == widths[2] < 2


def test_shares_of_less_than_everything_are_refused(ax):
    with pytest.raises(ValueError, match=r"^the shares of a row must sum to 100"):
        share_plot(ax, SHARES.drop(columns="ideal"), COLORS)


def test_too_few_colors_are_refused(ax):
    with pytest.raises(ValueError, match=r"^3 parts need as many colours, got 2$"):
        share_plot(ax, SHARES, COLORS[:2])
