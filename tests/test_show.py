"""Figures and tables: what is drawn, how it is saved, how simulated data are marked."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeRegressor

from helpers import aspects, marks, paths, show
from helpers.data.tables import PlainError

COLORS = [show.ORANGE, show.BLUE, show.GREY]
SHARES = pd.DataFrame(
    {"too casual": [30.0, 5.5], "ideal": [60.0, 88.5], "too formal": [10.0, 6.0]},
    index=["Human", "Model"],
)


@pytest.fixture
def ax():
    yield plt.subplots(figsize=(2, 2))[1]
    plt.close("all")


def labels(texts) -> list[str]:
    return [text.get_text() for text in texts]


def estimates(estimate: float, rows=("a", "b")) -> pd.DataFrame:
    return pd.DataFrame(
        {"estimate": estimate, "low": estimate - 1, "high": estimate + 1},
        index=list(rows),
    )


def segments(collection) -> np.ndarray:
    return np.array(collection.get_segments())


# ---- Figures saved with a message ----


@pytest.fixture
def begun(tmp_path, monkeypatch):
    """A run with default parameters."""
    monkeypatch.setattr(paths, "BUILD", tmp_path)
    marks.begin(marks.Run("11_error_weights"))
    return tmp_path


@pytest.fixture
def displayed(monkeypatch):
    """What `save` shows in a notebook: each object and its metadata."""
    shown = []
    monkeypatch.setattr(show, "_in_notebook", lambda: True)
    monkeypatch.setattr(
        "IPython.display.display",
        lambda what, **options: shown.append((what, options)),
    )
    return shown


TEXTS = {
    "title": "Most answers are good",
    "otherwise": "Good and bad answers",
    "alt": "Two bars.",
}


def save_scores(name="11_scores", **changes):
    """Save a bar chart, and give the figure and its file."""
    fig, ax = plt.subplots(figsize=(7, 3))
    ax.barh(["good", "bad"], [700, 200])
    show.save(fig, name, **(TEXTS | changes))
    return fig, paths.BUILD / "figures" / f"{name}.png"


def test_a_figure_has_its_title_and_is_closed(begun, displayed):
    fig, file = save_scores()
    assert fig.get_suptitle() == "Most answers are good"
    assert file == begun / "figures" / "11_scores.png"
    assert not plt.fignum_exists(fig.number)
    ((picture, options),) = displayed
    assert picture["image/png"] == file.read_bytes()
    assert picture["text/plain"] == "Most answers are good. Two bars."
    image = options["metadata"]["image/png"]
    assert image["alt"] == picture["text/plain"]
    assert 600 < image["width"] < 700  # 7 inches of 96 pixels, less white margins


def test_changed_parameters_give_the_neutral_title_and_are_named(begun, displayed):
    marks.begin(marks.Run("11_error_weights", "alpha = 0.05 instead of 0.01"))
    fig, _ = save_scores()
    assert fig.get_suptitle() == "Good and bad answers"
    assert any("alpha = 0.05" in text for text in labels(fig.texts))
    (picture, options), (caption, _) = displayed
    words = "Changed parameters: alpha = 0.05 instead of 0.01."
    assert options["metadata"]["image/png"]["alt"].startswith(words)
    assert picture["text/plain"].startswith(words)
    assert caption.data == f"**{words}**"


def test_simulated_figures_are_marked(begun, displayed):
    marks.begin(marks.Run("11_error_weights", reasons=["asked for"]))
    fig, file = save_scores()
    assert file == begun / "figures" / "11_scores.png"
    assert fig.get_suptitle() == "Good and bad answers"
    assert labels(fig.texts).count("SIMULATED DATA") == 1
    (picture, _), (caption, _) = displayed
    words = "SIMULATED DATA, random numbers and not ratings: asked for."
    assert picture["text/plain"].startswith(f"{words} Good and bad answers.")
    assert caption.data == f"**{words}**"


def test_a_figure_of_simulated_ratings_is_marked_among_real_ones(begun):
    fig, _ = save_scores(simulated=True)
    assert fig.get_suptitle() == "Good and bad answers"
    assert labels(fig.texts).count("SIMULATED DATA") == 1


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"title": "word " * 13}, "title has 13 words, at most 12"),
        ({"otherwise": ""}, "otherwise is missing"),
        ({"alt": ""}, "alt is missing"),
    ],
)
def test_titles_and_alternative_text_are_asked_for(begun, change, problem):
    with pytest.raises(PlainError, match=f"figure 11_scores: {problem}"):
        save_scores(**change)
    assert not (begun / "figures").exists()


def test_the_same_figure_gives_the_same_bytes_without_a_notebook(begun):
    _, first = save_scores("11_one")
    _, second = save_scores("11_two")
    assert first.read_bytes() == second.read_bytes()


def test_long_titles_are_broken_into_lines(begun):
    fig, _ = save_scores(title="unforgettable " * 12)
    assert "\n" in fig.get_suptitle()


def test_a_figure_needs_checked_parameters():
    with pytest.raises(PlainError, match="figure 11_scores: call run"):
        save_scores()


@pytest.mark.parametrize(
    ("source", "words"),
    [("simulated", ["SIMULATED DATA"]), ("", ["SIMULATED DATA"]), ("real", [])],
)
def test_all_but_real_figures_carry_a_watermark_above_everything(ax, source, words):
    show.as_png(ax.figure, source)
    assert labels(ax.figure.texts) == words
    for mark in ax.figure.texts:
        assert mark.get_position() == (0.5, 0.5)
        assert mark.get_zorder() == 100


@pytest.mark.parametrize(("width", "size"), [(8, 44), (2, 12)])
def test_the_watermark_is_as_large_as_the_figure_allows(width, size):
    fig, _ = plt.subplots(figsize=(width, 2))
    show.as_png(fig, "simulated")
    assert [mark.get_fontsize() for mark in fig.texts] == [size]
    plt.close(fig)


def test_the_same_figure_gives_the_same_bytes(ax):
    first = show.as_png(ax.figure, "real")
    assert show.as_png(ax.figure, "real") == first
    assert b"Matplotlib" not in first


# ---- What is drawn ----


def test_intervals_are_drawn_from_top_to_bottom(ax):
    table = pd.DataFrame(
        {"estimate": [1, 5], "low": [0, 4], "high": [2, 9]}, index=["a", "b"]
    )
    show.interval_plot(ax, table, offset=0.25)
    np.testing.assert_allclose(
        segments(ax.collections[0]), [[[0, 0.25], [2, 0.25]], [[4, 1.25], [9, 1.25]]]
    )
    assert ax.get_ylim() == pytest.approx((1.6, -0.6))
    assert labels(ax.get_yticklabels()) == ["a", "b"]


def test_a_rate_is_a_line_in_its_band(ax):
    table = pd.DataFrame(
        {"x": [1, 2], "estimate": [5, 4], "low": [3, 2], "high": [7, 6]}
    )
    show.binned_rates(ax, table, color=show.BLUE)
    corners = {
        tuple(corner) for corner in ax.collections[0].get_paths()[0].vertices.tolist()
    }
    assert corners == {(1, 3), (1, 7), (2, 2), (2, 6)}
    assert ax.lines[0].get_ydata().tolist() == [5, 4]


def test_estimates_of_a_row_lie_evenly_around_it_in_the_order_of_the_tables(ax):
    tables = {
        name: estimates(number) for number, name in enumerate(["one", "two", "three"])
    }
    show.forest_plot(ax, tables, colors=COLORS)
    heights = [line.get_ydata().tolist() for line in ax.lines]
    assert heights == [[-0.25, 0.75], [0, 1], [0.25, 1.25]]
    assert [line.get_xdata()[0] for line in ax.lines] == [0, 1, 2]
    assert [line.get_color() for line in ax.lines] == COLORS


def test_five_estimates_of_a_row_stay_within_their_row(ax):
    show.forest_plot(ax, {str(number): estimates(number) for number in range(5)})
    heights = [line.get_ydata()[0] for line in ax.lines]
    np.testing.assert_allclose(heights, [-0.32, -0.16, 0, 0.16, 0.32], atol=1e-12)


def test_names_stand_beside_the_intervals_of_their_row(ax):
    tables = {"people": estimates(1.0), "GPT-4": estimates(3.0)}
    show.forest_plot(ax, tables)
    show.name_beside(ax, tables, "b", {"people": "80 people"})
    assert labels(ax.texts) == ["80 people", "GPT-4"]
    assert [text.xy for text in ax.texts] == [(2, 0.875), (4, 1.125)]


def test_names_need_a_row_that_is_drawn(ax):
    with pytest.raises(ValueError, match=r"there is no row 'c': choose one of \['a'"):
        show.name_beside(ax, {"people": estimates(1.0)}, "c")


def test_tables_side_by_side_need_the_same_rows(ax):
    with pytest.raises(
        ValueError, match="table 'second' has other rows than the first: give all"
    ):
        show.forest_plot(
            ax, {"first": estimates(1), "second": estimates(2, rows=("b", "a"))}
        )


def test_shares_follow_each_other_from_0_to_100_and_small_ones_have_no_label(ax):
    show.share_plot(ax, SHARES, COLORS, marked="ideal")
    ends = [[bar.get_x() + bar.get_width() for bar in bars] for bars in ax.containers]
    assert ends == [[30, 5.5], [90, 94], [100, 100]]
    assert labels(ax.texts) == ["30", "", "60", "88", "10", "6"]
    assert labels(ax.get_yticklabels()) == ["Human", "Model"]
    outlines = [bars[0].get_linewidth() for bars in ax.containers]
    assert outlines[1] == 2
    assert outlines[0] == outlines[2] < 2
    assert not ax.spines["left"].get_visible()


@pytest.fixture
def tree():
    """Table of a tree with a leaf at depth 1 and two at depth 2."""
    x = [[0, -1], [0, 1], [3, -1], [3, 1]]
    fitted = DecisionTreeRegressor().fit(
        x, [0, 0, 2, 3], sample_weight=[500, 600, 300, 20]
    )
    return aspects.tree_table(fitted, ["factuality", "formality"])


def test_boxes_of_a_tree_say_rule_mean_and_count_and_stand_midway_above_their_children(
    ax, tree
):
    show.draw_tree(ax, tree, limits=(0, 3))
    assert labels(ax.texts) == [
        "all ratings\nmean 0.46, n = 1,420",
        "factuality at most 1.5\nmean 0.00, n = 1,100",
        "factuality above 1.5\nmean 2.06, n = 320",
        "formality at most 0\nmean 2.00, n = 300",
        "formality above 0\nmean 3.00, n = 20",
    ]
    middles = np.array([text.get_position() for text in ax.texts])
    assert middles.tolist() == [[0, 0.75], [1, 0], [1, 1.5], [2, 1], [2, 2]]
    boxes = np.array(
        [[*box.get_xy(), box.get_width(), box.get_height()] for box in ax.patches]
    )
    np.testing.assert_allclose(boxes[:, :2] + boxes[:, 2:] / 2, middles)
    assert (boxes[:, 2:] == (0.84, 0.72)).all()
    assert [text.get_fontweight() == "bold" for text in ax.texts] == tree[
        "is_leaf"
    ].tolist()


def test_higher_means_are_darker_and_the_scale_has_ends(ax, tree):
    show.draw_tree(ax, tree.assign(mean=[2.0, -5.0, 1.0, 4.0, 9.0]), limits=(1, 4))
    shades = plt.colormaps["Blues"](0.04 + 0.48 * np.array([1 / 3, 0, 0, 1, 1]))
    np.testing.assert_allclose(
        [box.get_facecolor() for box in ax.patches], shades, atol=0.005
    )


def test_branches_lead_from_parent_to_child_as_wide_as_their_share_of_rows(ax, tree):
    show.draw_tree(ax, tree, limits=(0, 3))
    widths = 14 * np.array([1100, 320, 300]) / 1420
    assert [line.get_linewidth() for line in ax.lines] == pytest.approx([*widths, 1])
    ends = np.array([line.get_xydata() for line in ax.lines])
    assert ends[:, :, 1].tolist() == [[0.75, 0], [0.75, 1.5], [1.5, 1], [1.5, 2]]
    np.testing.assert_allclose(ends[1:3, :, 0], [[0.378, 0.622], [1.378, 1.622]])


def test_a_table_is_shown_whole_under_its_caption_in_text_and_html():
    table = show.captioned(pd.DataFrame({"note": ["x" * 200] * 150}), "Rates < 5 %")
    assert repr(table).splitlines()[0] == "Rates < 5 %"
    assert len(repr(table).splitlines()) == 152
    html = table._repr_html_()
    assert html.count("x" * 200) == 150
    assert html.index("Rates &lt; 5 %</caption>") < html.index("<thead")


def test_numbers_are_rounded_without_signs_of_zero_and_without_nan():
    frame = pd.DataFrame({"weight": [-0.001, None, -0.9478], "n": [1, 2, 3]})
    table = show.captioned(frame, "Weights")
    assert table.frame["weight"].tolist()[::2] == [0, -0.95]
    assert "-0.00" not in repr(table)
    assert "NaN" not in repr(table) + table._repr_html_()
    assert frame.loc[2, "weight"] == -0.9478


@pytest.mark.parametrize(
    "column", ["p", "p_value", "p, Holm", ("own marks", "p, Holm"), "pairs"]
)
def test_p_values_and_no_other_numbers_are_never_shown_as_zero(column):
    frame = pd.DataFrame({column: [0.000499, 0.0005, 0.0312, None]})
    shown = show.captioned(frame, "Tests", decimals=3).frame[column].fillna(-1).tolist()
    assert shown == (
        [0, 0, 0.031, -1] if column == "pairs" else ["<0.001", "0.001", "0.031", ""]
    )
