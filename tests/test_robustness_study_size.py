"""Numbers of outputs that studies need, in numbers, words and pictures."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from helpers.robustness import study_size


def test_the_size_needed_lies_on_the_power_curve_or_out_of_reach():
    prompts = np.array([20, 80, 180])
    exact = norm.cdf(0.1 * np.sqrt(5 * prompts) - 1.96)
    curves = {"refusal": exact, "scope": [0.1] * 3, "relevance": [0.9] * 3}
    index = pd.MultiIndex.from_product([curves, prompts], names=["error", "prompts"])
    power = np.concatenate(list(curves.values()))
    table = pd.DataFrame(dict.fromkeys(("estimate", "low", "high"), power), index)
    needed = study_size.outputs_needed(table, ["error"], 5)["estimate"]
    expected = [((1.96 + norm.ppf(0.8)) / 0.1) ** 2, np.inf, 100]
    assert needed.tolist() == pytest.approx(expected)
    assert needed.index.get_level_values("error").tolist() == list(curves)


def test_sizes_beyond_those_tried_are_told_as_such():
    ends = {
        "within": [274.0, 202.0, 404.0],
        "all below": [150.0, 150.0, 150.0],
        "below, perhaps above": [150.0, 150.0, 184.0],
        "above, perhaps below": [188.0, 150.0, 252.0],
        "within, perhaps beyond": [4010.0, 3520.0, np.inf],
        "beyond, perhaps within": [np.inf, 4100.0, np.inf],
        "one size tried, not enough": [np.inf, 150.0, np.inf],
        "one size tried, perhaps enough": [150.0, 150.0, np.inf],
    }
    needed = pd.DataFrame.from_dict(
        ends, orient="index", columns=["estimate", "low", "high"]
    )
    assert study_size.size_text(needed, 150, 4500).to_dict() == {
        "within": "270 (200 to 400)",
        "all below": "150 or fewer",
        "below, perhaps above": "150 or fewer (up to 180)",
        "above, perhaps below": "190 (150 or fewer to 250)",
        "within, perhaps beyond": "4,000 (3,500 to > 4,500)",
        "beyond, perhaps within": "> 4,500",
        "one size tried, not enough": "> 4,500",
        "one size tried, perhaps enough": "150 or fewer (perhaps > 4,500)",
    }


def test_sizes_keep_the_levels_of_their_index():
    index = pd.MultiIndex.from_product(
        [["scope", "refusal"], [1, 3]], names=["feature", "labels"]
    )
    needed = pd.DataFrame(400.0, index, ["estimate", "low", "high"])
    texts = study_size.size_text(needed, 150, 900)
    assert texts.index.equals(index)
    assert texts.unstack("labels").loc["refusal", 3] == "400"


def test_a_panel_has_a_curve_for_more_raters_than_there_are_markers():
    power = pd.DataFrame({"estimate": [0.5] * 9, "low": 0.4, "high": 0.6, "x": 300})
    power.index = pd.MultiIndex.from_product([range(1, 10), [60]])
    fig, ax = plt.subplots()
    study_size.power_panel(ax, "refusal", power, 900)
    assert [line.get_label() for line in ax.lines[:2]] == ["1 rater", "2 raters"]
    assert len(ax.lines) == 9 + 2
    plt.close(fig)


def test_a_panel_draws_a_curve_for_each_number_of_raters_and_marks_aim_and_real_study():
    power = pd.DataFrame(
        {"estimate": [0.2, 0.5, 0.8], "low": 0.1, "high": 0.9, "x": [100, 900, 900]}
    )
    power.index = pd.MultiIndex.from_tuples([(1, 20), (1, 180), (3, 180)])
    fig, ax = plt.subplots()
    study_size.power_panel(ax, "refusal: 1.50 points", power, 900)
    one, three, aim, real = ax.lines
    assert one.get_xydata().tolist() == [[100, 20], [900, 50]]
    assert [one.get_label(), three.get_label()] == ["1 rater", "3 raters"]
    assert set(aim.get_ydata()) == {80}
    assert set(real.get_xdata()) == {900}
    assert [label.get_text() for label in ax.get_xticklabels()] == ["100", "300"]
    assert not len(ax.get_xticks(minor=True))
    assert ax.get_title(loc="left") + ax.get_title() == "refusal: 1.50 points"
    plt.close(fig)


def test_curves_are_named_on_the_side_where_there_is_room():
    power = pd.DataFrame(
        {
            "estimate": [0.1, 0.3, 0.5, 0.9, 0.2, 0.7, 0.4, 0.95],
            "x": [150, 3000] * 3 + [150, 9000],
        },
        index=[1, 1, 5, 5, 2, 2, 3, 3],
    )
    _, ax = plt.subplots()
    study_size.name_curves(ax, power)
    sides = {text.get_text(): text.get_horizontalalignment() for text in ax.texts}
    expected = {
        "1 rater": "right",  # stays low: named above, so that the text ends there
        "2 raters": "right",  # late: there is no room on its right
        "3 raters": "left",
        "5 raters": "right",  # uppermost
    }
    assert sides == expected
    _, ax = plt.subplots()
    study_size.name_curves(ax, power.assign(estimate=0.9).iloc[:2])
    assert ax.texts[0].get_horizontalalignment() == "left"  # nothing fits on the left
    _, ax = plt.subplots()
    study_size.name_curves(ax, power.iloc[:1])
    assert ax.texts[0].xy == (150, 10)
    plt.close("all")
