"""Lines by group against NumPy and statsmodels, refits of resamples, adjusted slopes."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.formula.api import ols

from helpers.stats import lines
from helpers.stats.bootstrap import cluster_weights


def make_answers(n_prompts: int = 80, seed: int = 1) -> pd.DataFrame:
    """Three systems under four arms, whose lines differ in slope and height."""
    rng = np.random.default_rng(seed)
    prompt = np.repeat(np.arange(n_prompts), 3)
    system, arm = (rng.integers(high, size=len(prompt)) for high in (3, 4))
    tone = 3 + 0.4 * arm + rng.normal(0, 0.5, len(prompt))
    shared = rng.normal(0, 0.3, n_prompts)[prompt]
    score = 1 + 0.3 * system + (0.4 + 0.2 * system) * tone + shared
    return pd.DataFrame(
        {
            "prompt_id": prompt,
            "system": np.array(["A", "B", "C"])[system],
            "arm": np.array(["none", "plain", "bold", "proud"])[arm],
            "tone": tone,
            "score": score + rng.normal(0, 0.4, len(prompt)),
        }
    )


def sums_of(frame: pd.DataFrame) -> lines.CellSums:
    """Sums of the simulated answers."""
    return lines.cell_sums(frame, "tone", "score", "system", "arm", "prompt_id")


def test_lines_through_items_are_least_squares_within_groups():
    frame = make_answers()
    lines = sums_of(frame).lines()
    for number, (_, rows) in enumerate(frame.groupby("system")):
        slope, intercept = np.polyfit(rows["tone"], rows["score"], 1)
        assert lines.slope[0, number] == pytest.approx(slope)
        assert lines.at(0.0)[0, number] == pytest.approx(intercept)


def test_lines_through_means_count_each_condition_once():
    frame = make_answers()
    lines = sums_of(frame).lines(level="means")
    means = frame.groupby(["system", "arm"])[["tone", "score"]].mean()
    for number, (_, rows) in enumerate(means.groupby("system")):
        slope, intercept = np.polyfit(rows["tone"], rows["score"], 1)
        assert lines.slope[0, number] == pytest.approx(slope)
        assert lines.at(0.0)[0, number] == pytest.approx(intercept)


def test_parallel_lines_are_an_analysis_of_covariance():
    frame = make_answers()
    lines = sums_of(frame).lines(parallel=True)
    fit = ols("score ~ 0 + system + tone", frame).fit()
    assert lines.slope[0].tolist() == pytest.approx([fit.params["tone"]] * 3)
    assert lines.at(0.0)[0].tolist() == pytest.approx(fit.params.iloc[:3].tolist())


@pytest.mark.parametrize("level", lines.LEVELS)
def test_weights_count_whole_clusters(level):
    frame = make_answers()
    weights = cluster_weights(80, 3, np.random.default_rng(0))
    drawn = sums_of(frame).lines(weights, level)
    for number, counts in enumerate(weights):
        rows = frame.loc[frame.index.repeat(counts[frame["prompt_id"]])]
        assert drawn.slope[number] == pytest.approx(sums_of(rows).lines(level=level).slope[0])


def test_a_line_is_read_at_one_or_many_points():
    lines = sums_of(make_answers()).lines(np.ones((2, 80)))
    many = lines.at([3.0, 4.0])
    assert (lines.at(3.0).shape, many.shape) == ((2, 3), (2, 3, 2))
    assert many[:, :, 0] == pytest.approx(lines.at(3.0))
    assert many[:, :, 1] - many[:, :, 0] == pytest.approx(lines.slope)


def test_a_group_whose_x_never_varies_has_no_slope():
    frame = make_answers()
    frame.loc[frame["system"] == "B", "tone"] = 0.1 + 0.2
    slope = sums_of(frame).lines().slope[0]
    assert np.isnan(slope).tolist() == [False, True, False]


def test_unknown_level_names_the_choices():
    with pytest.raises(ValueError, match=r"level 'rows' is unknown: choose one of \('items', "):
        sums_of(make_answers()).lines(level="rows")


def test_cell_means_are_those_of_pandas():
    frame = make_answers()
    sums = sums_of(frame)
    x, y = sums.means()
    means = frame.groupby(["system", "arm"])[["tone", "score"]].mean()
    assert (sums.groups, sums.conditions) == (("A", "B", "C"), ("bold", "none", "plain", "proud"))
    assert x.ravel().tolist() == pytest.approx(means["tone"].tolist())
    assert y.ravel().tolist() == pytest.approx(means["score"].tolist())


def test_ranges_and_changes_of_a_tiny_table_by_hand():
    frame = pd.DataFrame(
        {
            "prompt_id": [1, 2, 3, 4],
            "system": "A",
            "arm": ["none", "plain", "bold", "bold"],
            "tone": [2.0, 1.0, 4.0, 5.0],
            "score": [3.0, 2.0, 4.0, 2.0],
        }
    )
    sums = sums_of(frame)
    assert sums.ranges().tolist() == [[3.5]]
    assert sums.changes("none").tolist() == [[-0.5]]


def test_unknown_reference_condition_names_the_choices():
    with pytest.raises(ValueError, match=r"no condition 'loud': choose one of \('bold', 'none'"):
        sums_of(make_answers()).changes("loud")


def test_an_empty_cell_is_named():
    frame = make_answers()
    frame = frame[(frame["system"] != "B") | (frame["arm"] != "none")]
    with pytest.raises(ValueError, match="no rows with 'B' and 'none': leave one out"):
        sums_of(frame)


def test_a_resample_without_a_cell_has_no_mean_there():
    frame = make_answers(80).drop_duplicates(["system", "arm"])
    sums = sums_of(frame)
    weights = np.zeros((1, len(sums.sums)))
    weights[0, 0] = 1
    x, _ = sums.means(weights)
    assert np.isfinite(x).sum() == (frame["prompt_id"] == frame["prompt_id"].min()).sum()


def test_adjusted_slope_is_that_of_two_regressions():
    frame = make_answers().assign(repeated=lambda rows: (rows["tone"] > 3.8) * 1.0)
    table = lines.adjusted_slope(
        frame, "tone", "score", ["repeated"], "prompt_id", 300, np.random.default_rng(0)
    )
    alone = ols("score ~ tone", frame).fit().params["tone"]
    adjusted = ols("score ~ tone + repeated", frame).fit().params["tone"]
    expected = [alone, adjusted, alone - adjusted]
    assert table["estimate"].tolist() == pytest.approx(expected)
    assert ((table["low"] < table["estimate"]) & (table["estimate"] < table["high"])).all()


def test_a_held_column_that_never_varies_explains_nothing():
    table = lines.adjusted_slope(
        make_answers().assign(never=0.0),
        "tone",
        "score",
        ["never"],
        "prompt_id",
        50,
        np.random.default_rng(0),
    )
    assert table.loc["explained"].tolist() == pytest.approx([0, 0, 0], abs=1e-9)


def test_order_of_rows_does_not_matter():
    frame = make_answers()
    weights = cluster_weights(80, 20, np.random.default_rng(0))
    slopes = [
        sums_of(rows).lines(weights).slope for rows in (frame, frame.sample(frac=1, random_state=1))
    ]
    assert slopes[0] == pytest.approx(slopes[1])
