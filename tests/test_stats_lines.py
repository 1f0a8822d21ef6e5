"""Lines and smooth curves against NumPy, SciPy, statsmodels, refits of resamples."""

import numpy as np
import pandas as pd
import pytest
from scipy.interpolate import CubicSpline
from statsmodels.formula.api import ols, wls

from helpers.stats import lines
from helpers.stats.bootstrap import cluster_weights, interval

KNOTS = np.array([1.0, 2.0, 4.0, 5.0, 9.0])


def make_answers(n_prompts: int = 80, seed: int = 1) -> pd.DataFrame:
    """Three systems under four arms, whose lines differ in slope and height."""
    rng = np.random.default_rng(seed)
    prompt = np.repeat(np.arange(n_prompts), 3)
    system = rng.integers(3, size=len(prompt))
    arm = rng.integers(4, size=len(prompt))
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


def test_adjusted_slope_is_that_of_two_regressions():
    frame = make_answers().assign(
        repeated=lambda rows: (rows["tone"] > 3.8) * 1.0, never=0.0
    )
    rng = np.random.default_rng(0)
    table = lines.adjusted_slope(
        frame, "tone", "score", ["repeated"], "prompt_id", 99, rng
    )
    alone = ols("score ~ tone", frame).fit().params["tone"]
    adjusted = ols("score ~ tone + repeated", frame).fit().params["tone"]
    expected = [alone, adjusted, alone - adjusted]
    assert table["estimate"].tolist() == pytest.approx(expected)
    assert (table["low"] < table["estimate"]).all()
    assert (table["estimate"] < table["high"]).all()
    table = lines.adjusted_slope(
        frame, "tone", "score", ["never"], "prompt_id", 50, rng
    )
    assert table.loc["explained"].tolist() == pytest.approx([0, 0, 0], abs=1e-9)


def test_adjusted_slopes_have_the_interval_of_all_replicates():
    frame = make_answers().assign(never=0.0)
    codes, prompts = pd.factorize(frame["prompt_id"], sort=True)
    draws = []
    for times_drawn in cluster_weights(len(prompts), 2, np.random.default_rng(3)):
        fit = wls("score ~ tone", frame, weights=times_drawn[codes]).fit()
        draws.append(fit.params["tone"])
    rng = np.random.default_rng(3)
    table = lines.adjusted_slope(frame, "tone", "score", ["never"], "prompt_id", 2, rng)
    assert table.loc["alone", ["low", "high"]].tolist() == pytest.approx(
        interval(draws)
    )


def make_responses(
    n_prompts: int = 60, per_prompt: int = 4, seed: int = 1
) -> pd.DataFrame:
    """Scores that are highest at 100 words."""
    rng = np.random.default_rng(seed)
    prompt = np.repeat(np.arange(n_prompts), per_prompt)
    words = rng.uniform(20, 200, len(prompt))
    quality = 4 - ((words - 100) / 60) ** 2 + rng.normal(0, 0.4, n_prompts)[prompt]
    return pd.DataFrame(
        {
            "prompt_id": prompt,
            "words": words,
            "quality": quality + rng.normal(0, 0.3, len(prompt)),
            "repetition": (rng.random(len(prompt)) < 0.2).astype(float),
        }
    )


@pytest.mark.parametrize(
    ("n_knots", "quantiles"),
    [
        (3, [10, 50, 90]),
        (5, [5, 27.5, 50, 72.5, 95]),
        (7, [2.5, 18.33, 34.17, 50, 65.83, 81.67, 97.5]),
    ],
)
def test_knots_are_at_harrells_quantiles(n_knots, quantiles):
    knots = lines.quantile_knots(np.arange(101), n_knots)
    assert knots.tolist() == pytest.approx(quantiles, abs=0.01)


@pytest.mark.parametrize(
    ("values", "n_knots", "message"),
    [
        (np.arange(9), 2, "a curve needs at least 3 knots, got 2"),
        ([1, 1, 1, 1, 2], 5, "the values tie too much for 5 knots: take fewer"),
    ],
)
def test_knots_that_cannot_be_placed_are_refused(values, n_knots, message):
    with pytest.raises(ValueError, match=message):
        lines.quantile_knots(values, n_knots)


def test_columns_span_the_natural_splines_of_scipy():
    heights = np.random.default_rng(1).normal(size=(len(KNOTS), 3))
    inside = np.linspace(KNOTS[0], KNOTS[-1], 50)
    target = CubicSpline(KNOTS, heights, bc_type="natural")(inside)
    design = np.column_stack([np.ones(50), lines.natural_spline(inside, KNOTS)])
    fitted = design @ np.linalg.lstsq(design, target)[0]
    assert fitted == pytest.approx(target)


def test_columns_are_harrells_in_units_of_the_distance_between_the_outer_knots():
    by_hand = [
        1,
        (8**3 - 4**2 * 8) / 8**3,
        (7**3 - 4**2 * 7) / 8**3,
        (5**3 - 4**2 * 5) / 8**3,
    ]
    assert lines.natural_spline([1.0, 9.0], KNOTS) == pytest.approx(
        np.array([[0] * 4, by_hand])
    )


@pytest.mark.parametrize("outside", [[-3.0, -1.0, 1.0], [9.0, 20.0, 31.0]])
def test_columns_are_straight_beyond_the_outer_knots(outside):
    columns = lines.natural_spline(outside, KNOTS)
    assert np.diff(columns, n=2, axis=0) == pytest.approx(0, abs=1e-9)


def test_draws_refit_the_resampled_rows_in_any_order_with_the_same_knots():
    frame = make_responses()
    shuffled = frame.sample(frac=1, random_state=1)
    curve = lines.fit_curve(shuffled, "words", "quality", "prompt_id", 4)
    draws = curve.draws([50.0, 150.0], 4, np.random.default_rng(2))
    drawn = cluster_weights(60, 4, np.random.default_rng(2))
    for weights, heights in zip(drawn, draws, strict=True):
        rows = frame.loc[frame.index.repeat(weights[frame["prompt_id"]])]
        columns = lines.natural_spline(rows["words"], curve.knots)
        design = np.column_stack([np.ones(len(rows)), columns])
        slopes = np.linalg.lstsq(design, rows["quality"])[0]
        basis = lines.natural_spline([50.0, 150.0], curve.knots)
        assert heights == pytest.approx(slopes[0] + basis @ slopes[1:])


def test_holding_a_cause_constant_removes_its_share_of_the_curve():
    frame = make_responses()
    frame["quality"] = 3 - 2 * frame["repetition"] + frame["words"] / 100
    frame["words"] += 80 * frame["repetition"]
    frame["quality"] -= 0.8 * frame["repetition"]
    held = lines.fit_curve(frame, "words", "quality", "prompt_id", 3, ["repetition"])
    step = {"hundred words": (100.0, 200.0)}
    change = held.changes(step, 50, np.random.default_rng(0))
    assert change.loc["hundred words", "estimate"] == pytest.approx(1)
    free = lines.fit_curve(frame, "words", "quality", "prompt_id", 3)
    change = free.changes(step, 50, np.random.default_rng(0))
    assert change.loc["hundred words", "estimate"] < 0.5


def test_held_columns_are_at_their_mean():
    frame = make_responses().assign(quality=lambda rows: 1 + rows["repetition"])
    curve = lines.fit_curve(frame, "words", "quality", "prompt_id", 3, ["repetition"])
    assert curve.estimate([100.0]) == pytest.approx(1 + frame["repetition"].mean())


def test_a_redundant_held_column_is_refused():
    frame = make_responses().assign(letters=lambda rows: 5 * rows["words"])
    with pytest.raises(
        ValueError, match="feature 'letters' is a combination of the intercept"
    ):
        lines.fit_curve(frame, "words", "quality", "prompt_id", 3, ["letters"])


def test_changes_are_differences_of_the_curve():
    curve = lines.fit_curve(make_responses(), "words", "quality", "prompt_id")
    steps = {"up": (30.0, 100.0), "down": (100.0, 190.0)}
    changes = curve.changes(steps, 200, np.random.default_rng(0))
    heights = curve.estimate([30.0, 100.0, 190.0])
    assert changes["estimate"].tolist() == pytest.approx(np.diff(heights).tolist())
    assert (changes["low"] < changes["estimate"]).all()
    assert (changes["estimate"] < changes["high"]).all()
    assert changes["p_value"].tolist() == pytest.approx([2 / 201, 2 / 201])


def test_a_resample_of_one_response_does_not_determine_a_curve():
    frame = pd.DataFrame(
        {"words": [0.0, 1, 2, 4], "quality": [1.0, 2, 2, 3], "prompt_id": range(4)}
    )
    curve = lines.fit_curve(frame, "words", "quality", "prompt_id", 3)
    with pytest.raises(
        ValueError, match="a resample does not determine the curve: take fewer"
    ):
        curve.draws([1.0], 500, np.random.default_rng(0))


def binned(frame, n_bins):
    rng = np.random.default_rng(0)
    return lines.binned_means(frame, "words", "quality", "prompt_id", n_bins, 99, rng)


def test_bins_hold_equal_numbers_and_average_their_rows():
    frame = make_responses()
    bins = binned(frame, 10)
    ordered = frame.sort_values("words")["quality"].to_numpy().reshape(10, -1)
    assert bins["estimate"].tolist() == pytest.approx(ordered.mean(axis=1).tolist())
    assert (bins["low"] < bins["estimate"]).all()
    assert (bins["estimate"] < bins["high"]).all()


def test_equal_values_share_a_bin():
    frame = pd.DataFrame(
        {
            "words": [1, 1, 1, 1, 5, 9],
            "quality": [0, 1, 2, 3, 4, 6],
            "prompt_id": range(6),
        }
    )
    bins = binned(frame, 3)
    assert bins[["x", "estimate"]].to_numpy().tolist() == [[1, 1.5], [7, 5]]
