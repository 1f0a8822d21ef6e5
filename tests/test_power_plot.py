"""What a panel of power curves shows."""

import matplotlib.pyplot as plt
import pytest

from helpers.beyond.study_design import power_panel


@pytest.fixture
def ax():
    fig, ax = plt.subplots()
    power_panel(ax, "refusal: 1.50 points", 900, [150, 1500], aim=90)
    yield ax
    plt.close(fig)


def test_the_aim_and_the_real_study_are_marked(ax):
    aim, real = ax.lines
    assert set(aim.get_ydata()) == {90}
    assert set(real.get_xdata()) == {900}


def test_only_the_named_sizes_have_ticks(ax):
    assert [label.get_text() for label in ax.get_xticklabels()] == ["150", "1,500"]
    assert not len(ax.get_xticks(minor=True))
    assert ax.get_xscale() == "log"


def test_the_panel_has_its_title(ax):
    assert ax.get_title(loc="left") + ax.get_title() == "refusal: 1.50 points"
