"""Figures: what is drawn, how it is saved, and that simulated data cannot pass for real."""

from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from IPython.core.formatters import DisplayFormatter
from PIL import Image

from helpers import show


@pytest.fixture
def figure():
    fig, ax = plt.subplots()
    ax.plot([0, 1], [0, 1])
    yield fig
    plt.close("all")


@pytest.fixture
def page(monkeypatch):
    """What a notebook makes of an object: data and their metadata by type."""
    formatter = DisplayFormatter()
    formatter.formatters["image/png"].enabled = True
    monkeypatch.setattr(show, "get_ipython", lambda: SimpleNamespace(display_formatter=formatter))
    return formatter.format


def texts(fig):
    return [text.get_text() for text in fig.texts]


def test_simulated_figures_carry_a_watermark(figure, tmp_path):
    show.save(figure, "line", tmp_path, source="simulated")
    assert texts(figure) == ["SIMULATED DATA"]


def test_figures_of_an_unknown_source_carry_a_watermark(figure, tmp_path):
    show.save(figure, "line", tmp_path, source="")
    assert texts(figure) == ["SIMULATED DATA"]


def test_real_figures_carry_none(figure, tmp_path):
    show.save(figure, "line", tmp_path, source="real")
    assert texts(figure) == []


def test_saving_twice_gives_the_same_bytes(figure, tmp_path):
    first = show.save(figure, "first", tmp_path, source="real").read_bytes()
    second = show.save(figure, "second", tmp_path, source="real").read_bytes()
    assert first == second
    assert first.startswith(b"\x89PNG")


def test_a_notebook_shows_the_file_as_large_as_the_figure(figure, page, tmp_path):
    path = show.save(figure, "line", tmp_path, source="simulated")
    data, metadata = page(figure)
    assert data["image/png"] == path.read_bytes()
    with Image.open(path) as image:
        pixels = figure.dpi / show.SAVE_DPI * np.array(image.size)
    assert list(metadata["image/png"].values()) == pixels.round().tolist()
    assert data["text/plain"] == repr(figure)


def test_a_figure_changed_after_saving_is_drawn_anew(figure, page, tmp_path):
    path = show.save(figure, "line", tmp_path, source="real")
    figure.axes[0].set_title("changed")
    data, metadata = page(figure)
    assert data["image/png"] != path.read_bytes()
    assert metadata == {}


def test_a_figure_that_was_never_saved_is_drawn(figure, page, tmp_path):
    show.save(figure, "line", tmp_path, source="real")
    other, _ = plt.subplots()
    data, metadata = page(other)
    assert data["image/png"].startswith(b"\x89PNG")
    assert metadata == {}


def test_intervals_are_drawn_from_top_to_bottom(figure):
    table = pd.DataFrame(
        {"estimate": [1, 2], "low": [0, 1], "high": [2, 3]}, index=["first", "last"]
    )
    ax = figure.axes[0]
    show.interval_plot(ax, table)
    bottom, top = ax.get_ylim()
    assert bottom > top
    assert [label.get_text() for label in ax.get_yticklabels()] == ["first", "last"]


def test_heat_map_writes_numbers_and_leaves_gaps(figure):
    table = pd.DataFrame([[1.0, np.nan], [np.nan, -1.0]], index=list("ab"), columns=list("cd"))
    ax = figure.add_subplot()
    show.heat_map(ax, table, cmap="RdBu", limits=(-1, 1), decimals=1)
    assert [text.get_text() for text in ax.texts] == ["1.0", "-1.0"]


def test_numbers_stand_out_on_dark_and_on_light_cells(figure):
    ax = figure.add_subplot()
    show.heat_map(ax, pd.DataFrame([[0.0, 1.0]]), cmap="Blues")
    assert [text.get_color() for text in ax.texts] == [show.INK, "white"]


def test_relabelling_drops_nothing_that_is_named():
    table = pd.DataFrame({"n": [1, 2]}, index=["complex_low", "baseline"])
    assert list(show.relabel(table, show.ARM_LABELS).index) == ["Baseline", "Complexity −−"]
