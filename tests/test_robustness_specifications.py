"""Curves and their joint tests: tables by hand, level under the null, figures."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgba

from helpers.robustness import specifications
from helpers.robustness.specifications import (
    AGAINST,
    EXPECTED,
    UNSURE,
    cross,
    curve,
    joint_test,
)
from helpers.stats import ordinal
from helpers.stats.moments import cluster_moments

CHOICES = {
    "labels": ["mean", "mode", "model"],
    "link": ["linear", "ordinal"],
    "alpha": [0.0, 0.1],
}
NULL = np.array([[0.0, 0.1], [2.0, 2.0], [0.4, -0.4], [3.0, 3.2]])


def table(estimates, sign: int, error=0.5, freedom=np.inf) -> pd.DataFrame:
    rows = pd.DataFrame({"number": range(len(estimates))})
    return curve(rows, estimates, np.broadcast_to(error, len(estimates)), sign, freedom)


def test_impossible_combinations_are_kept_with_the_first_reason():
    rules = {
        "no ordinal penalty": {"link": ["ordinal"], "alpha": [0.1]},
        "no ordinal mean": {"labels": ["mean", "model"], "link": ["ordinal"]},
    }
    possible, left_out = cross(CHOICES, rules)
    assert possible.iloc[0].tolist() == ["mean", "linear", 0.0]
    assert not pd.concat([possible, left_out[list(CHOICES)]]).duplicated().any()
    assert len(possible) + len(left_out) == len(cross(CHOICES)[0]) == 12
    assert left_out["reason"].value_counts().tolist() == [3, 2]
    assert possible.query("link == 'ordinal'").to_numpy().tolist() == [
        ["mode", "ordinal", 0.0]
    ]


def test_specifications_that_leave_a_curve_do_so_for_one_reason_or_several():
    table, _ = cross(CHOICES)
    leaving = {
        "a model of labels": {"labels": ["model"]},
        "penalised": {"link": ["linear"], "alpha": [0.1]},
        "ordinal": {"link": ["ordinal"]},
    }
    reasons = specifications.divide(table, leaving)
    places = table.assign(reason=reasons).set_index(list(CHOICES))["reason"]
    assert places["mean", "linear", 0.0] == ""
    assert places["mean", "linear", 0.1] == "penalised"
    assert places["mode", "ordinal", 0.1] == "ordinal"
    assert places["model", "linear", 0.0] == "a model of labels"
    assert places["model", "ordinal", 0.0] == specifications.SEVERAL
    assert (specifications.divide(table, {}) == "").all()


def test_subsets_keep_one_value_or_leave_one_out():
    frame = pd.DataFrame(
        {"task": ["x", "y", "x"], "system": ["a", "b", "b"]}, index=[5, 6, 7]
    )
    parts = specifications.subsets(frame, ["task"], ["system"])
    assert parts.columns.tolist() == [
        "all",
        "only x",
        "only y",
        "without a",
        "without b",
    ]
    assert parts.loc[6].tolist() == [True, False, True, True, False]


def test_sums_and_ordinal_draws_are_those_of_the_kept_rows():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {"prompt_id": rng.permutation(np.arange(120) // 4), "never": 0.0}
    )
    frame["error"] = rng.integers(2, size=120)
    frame["score"] = 3 + frame["error"] + rng.integers(-1, 2, 120)
    kept = frame["prompt_id"] > 0
    sums = specifications.products(frame, ["error", "score"], kept, "prompt_id")
    assert (sums[0] == 0).all()
    expected = cluster_moments(frame[kept], ["error"], "score", "prompt_id").products
    np.testing.assert_allclose(sums[1:], expected)
    weights = np.vstack([np.ones(30), rng.integers(3, size=30)])
    replicates = pd.DataFrame(weights, columns=pd.RangeIndex(30, name="prompt_id"))
    columns = ["never", "error"]
    found = specifications.ordinal_effects(frame[kept], columns, "score", replicates)
    effects = ordinal.fit(frame[kept], ["error"], "score").effects(frame[kept])
    moved = (weights[1, frame.loc[kept, "prompt_id"]] - 1) @ effects.influence[:, 0]
    np.testing.assert_allclose(found[:, 1], effects.value.item() + np.array([0, moved]))
    assert (found[:, 0] == 0).all()


@pytest.mark.parametrize(
    ("sign", "findings"),
    [
        (1, [EXPECTED, UNSURE, AGAINST, UNSURE]),
        (-1, [AGAINST, UNSURE, EXPECTED, UNSURE]),
        (0, [EXPECTED, UNSURE, EXPECTED, UNSURE]),
    ],
)
def test_findings_and_their_summary_depend_on_the_expected_direction(sign, findings):
    drawn = table([2.0, 0.1, -2.0, 0.0], sign, [0.5, 0.5, 0.5, 0.0])
    assert drawn["finding"].tolist() == findings
    said = specifications.curve_summary(drawn, sign)
    shares = [
        100 * np.mean([name == one for one in findings]) for name in (EXPECTED, AGAINST)
    ]
    assert said[["significant", "significant against"]].tolist() == shares
    assert said[["median", "lowest", "highest"]].tolist() == [0.05, -2, 2]
    expected = {1: 50, -1: 25, 0: np.nan}[sign]
    assert said["in direction"] == pytest.approx(expected, nan_ok=True)


def test_intervals_are_normal_or_those_of_t():
    normal, few = table([2.0], 1), table([2.0], 1, freedom=4)
    assert normal.loc[0, ["low", "high"]].tolist() == pytest.approx(
        [1.02, 2.98], rel=1e-3
    )
    assert few.loc[0, "high"] == pytest.approx(2 + 2.776 * 0.5, rel=1e-3)


def test_curves_need_numbers():
    message = (
        "specification 1 has no estimate or no standard error: leave it out and say why"
    )
    for estimate, error in (
        ([1, np.nan], [1, 1]),
        ([1, 1], [1, np.nan]),
        ([1, 1], [1, 0]),
    ):
        with pytest.raises(ValueError, match=message):
            table(estimate, 1, error)


def test_p_values_are_counted_with_one_added_in_either_direction():
    up, down = (
        joint_test(table(s * np.array([2.0, 2.0]), s), s * NULL, None, s)
        for s in (1, -1)
    )
    assert up["p_value"].tolist() == pytest.approx([3 / 5] * 3)
    assert up["observed"].tolist() == pytest.approx([2, 100, 4])
    assert down["observed"].tolist() == pytest.approx([-2, 100, -4])
    np.testing.assert_allclose(down["p_value"], up["p_value"])
    sizes = joint_test(table([2.0, -2.0], 0), NULL, None, 0)
    np.testing.assert_allclose(sizes["observed"], up["observed"])


def test_draws_have_their_own_errors_and_zero_is_never_significant():
    wide = joint_test(table([1.5, 1.5], 1), NULL, np.full(NULL.shape, 10.0), 1)
    assert wide.loc["significant, %", "p_value"] == pytest.approx(1 / 5)
    never = joint_test(
        table([0.0, 2.0], 1, [0.0, 0.5]), np.array([[0.0, 0.1]]), None, 1
    )
    assert never["observed"].tolist() == pytest.approx([1, 50, 2])


def test_the_level_is_kept_where_there_is_nothing_to_find():
    rng = np.random.default_rng(2)
    mixing = rng.normal(size=(3, 12))
    error = np.sqrt((mixing**2).sum(axis=0))
    p_values = [
        joint_test(table(draws[0], 1, error), draws[1:], None, 1)["p_value"]
        for draws in rng.normal(size=(60, 60, 3)) @ mixing
    ]
    rejected = (pd.DataFrame(p_values) <= 0.05).mean()
    assert rejected["median"] < 0.05 + 3 * 0.028  # three standard errors of 60 trials
    assert 0 < rejected["mean z"] < 0.05 + 3 * 0.028


def test_draws_must_be_finite():
    with pytest.raises(ValueError, match="1 of 8 draws are not finite"):
        joint_test(table([1, 1], 1), np.where(NULL == 3.2, np.nan, NULL), None, 1)


def test_orders_stay_within_groups_and_differ_between_draws():
    groups = np.array(["b", "a", "b", "a", "a", "c"])
    orders = specifications.permute_within(groups, 500, np.random.default_rng(3))
    assert (groups[orders] == groups).all()
    assert (np.sort(orders, axis=1) == np.arange(6)).all()
    counts = [np.mean(orders[:, 1] == place) for place in (1, 3, 4)]
    assert counts == pytest.approx([1 / 3] * 3, abs=0.07)  # three standard errors


def test_a_figure_shows_the_order_and_the_options():
    rows, _ = cross(
        {"labels": ["mean", "link"], "link": ["linear", "mode_low", "rank"]}
    )
    drawn = curve(rows, [3.0, 1.0, -2.0, 2.0, 0.1, -0.1], np.full(6, 0.5), 1)
    fig = specifications.specification_plot(
        drawn, ["labels", "link"], "points", decimals=1
    )
    top, bottom = fig.axes
    plt.close(fig)
    labels = [
        (label.get_text(), label.get_fontweight()) for label in bottom.get_yticklabels()
    ]
    names = ["labels", "mean", "link", "link", "linear", "mode low", "rank"]
    assert labels == [
        (name, "bold" if n in (0, 3) else "normal") for n, name in enumerate(names)
    ]
    (lines,) = bottom.collections
    # by size of the estimate
    findings = [AGAINST, UNSURE, UNSURE, EXPECTED, EXPECTED, EXPECTED]
    colors = [to_rgba(specifications.FINDINGS[finding][1]) for finding in findings]
    strokes = {row: [] for row, (_, weight) in enumerate(labels) if weight == "normal"}
    for (start, end), color in zip(
        lines.get_segments(), lines.get_colors(), strict=True
    ):
        assert start[0] == end[0]
        assert tuple(color) == colors[int(start[0])]
        strokes[(start[1] + end[1]) / 2].append(start[0])
    assert list(strokes.values()) == [[0, 3, 5], [1, 2, 4], [4, 5], [2, 3], [0, 1]]
    assert [text.get_text() for text in top.get_legend().get_texts()] == [
        "significant, as expected: 50 %",
        "not significant: 33 %",
        "significant, against expectation: 17 %",
    ]
    texts = [text.get_text() for text in bottom.texts]
    assert texts[:4] + texts[-2:] == ["1.0", "67 %", "0.1", "33 %", "median", "signif."]


@pytest.mark.parametrize(("stacked", "shape"), [(False, (1, 3)), (True, (3, 1))])
def test_curves_of_several_questions_share_their_scale(stacked, shape):
    tables = {
        "scale": table([3.0, 2.0], 1),
        "step": table([-2.0, 0.1], 1),
        "spread": table([1], 1),
    }
    fig = specifications.curves_plot(tables, "points", stacked=stacked)
    plt.close(fig)
    grid = fig.axes[0].get_gridspec()
    assert (grid.nrows, grid.ncols) == shape
    limits = [ax.get_ylim() for ax in fig.axes]
    assert limits[0] == limits[1] == limits[2]
    assert limits[0][0] < -2 < 3 < limits[0][1]
    titles = [ax.get_title(loc="left") for ax in fig.axes]
    between = ": " if stacked else ":\n"
    assert (
        titles[0] == f"scale{between}2 ways\n100 % significant\n0 % against expectation"
    )
    assert (
        titles[1] == f"step{between}2 ways\n0 % significant\n50 % against expectation"
    )
    assert [ax.get_ylabel() for ax in fig.axes].count("points") == 1
