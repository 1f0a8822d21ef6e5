"""Natural splines against SciPy, refits of resamples, coverage of bands."""

import numpy as np
import pandas as pd
import pytest
from scipy.interpolate import CubicSpline

from helpers.stats import lines
from helpers.stats.bootstrap import cluster_weights

KNOTS = np.array([1.0, 2.0, 4.0, 5.0, 9.0])


def make_responses(n_prompts: int = 60, per_prompt: int = 4, seed: int = 1) -> pd.DataFrame:
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
        (4, [5, 35, 65, 95]),
        (5, [5, 27.5, 50, 72.5, 95]),
        (6, [5, 23, 41, 59, 77, 95]),
        (7, [2.5, 18.33, 34.17, 50, 65.83, 81.67, 97.5]),
    ],
)
def test_knots_are_at_harrells_quantiles(n_knots, quantiles):
    knots = lines.quantile_knots(np.arange(101), n_knots)
    assert knots.tolist() == pytest.approx(quantiles, abs=0.01)


def test_two_knots_are_too_few():
    with pytest.raises(ValueError, match="a curve needs at least 3 knots, got 2"):
        lines.quantile_knots(np.arange(9), 2)


def test_knots_that_coincide_are_refused():
    with pytest.raises(ValueError, match="the values tie too much for 5 knots: take fewer"):
        lines.quantile_knots([1, 1, 1, 1, 2], 5)


def test_columns_span_the_natural_splines_of_scipy():
    heights = np.random.default_rng(1).normal(size=(len(KNOTS), 3))
    inside = np.linspace(KNOTS[0], KNOTS[-1], 50)
    target = CubicSpline(KNOTS, heights, bc_type="natural")(inside)
    design = np.column_stack([np.ones(50), lines.natural_spline(inside, KNOTS)])
    fitted = design @ np.linalg.lstsq(design, target)[0]
    assert fitted == pytest.approx(target)


@pytest.mark.parametrize("outside", [[-3.0, -1.0, 1.0], [9.0, 20.0, 31.0]])
def test_columns_are_straight_beyond_the_outer_knots(outside):
    columns = lines.natural_spline(outside, KNOTS)
    assert np.diff(columns, n=2, axis=0) == pytest.approx(0, abs=1e-9)


def test_curve_is_the_least_squares_fit():
    frame = make_responses()
    curve = lines.fit_curve(frame, "words", "quality", "prompt_id", 4)
    design = np.column_stack(
        [np.ones(len(frame)), lines.natural_spline(frame["words"], curve.knots)]
    )
    fitted = design @ np.linalg.lstsq(design, frame["quality"])[0]
    assert curve.estimate(frame["words"]) == pytest.approx(fitted)


def test_draws_refit_the_resampled_rows_with_the_same_knots():
    frame = make_responses()
    curve = lines.fit_curve(frame, "words", "quality", "prompt_id", 4)
    draws = curve.draws([50.0, 150.0], 4, np.random.default_rng(2))
    for weights, heights in zip(
        cluster_weights(60, 4, np.random.default_rng(2)), draws, strict=True
    ):
        rows = frame.loc[frame.index.repeat(weights[frame["prompt_id"]])]
        design = np.column_stack(
            [np.ones(len(rows)), lines.natural_spline(rows["words"], curve.knots)]
        )
        slopes = np.linalg.lstsq(design, rows["quality"])[0]
        basis = lines.natural_spline([50.0, 150.0], curve.knots)
        assert heights == pytest.approx(slopes[0] + basis @ slopes[1:])


def test_a_parabola_without_noise_is_found_with_its_peak():
    frame = make_responses(300).assign(quality=lambda rows: 4 - ((rows["words"] - 100) / 60) ** 2)
    curve = lines.fit_curve(frame, "words", "quality", "prompt_id", 7)
    grid = np.arange(30.0, 190.0)
    assert grid[curve.estimate(grid).argmax()] == pytest.approx(100, abs=2)
    assert curve.estimate(grid) == pytest.approx(4 - ((grid - 100) / 60) ** 2, abs=0.05)


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
    assert free.changes(step, 50, np.random.default_rng(0)).loc["hundred words", "estimate"] < 0.5


def test_held_columns_are_at_their_mean():
    frame = make_responses().assign(quality=lambda rows: 1 + rows["repetition"])
    curve = lines.fit_curve(frame, "words", "quality", "prompt_id", 3, ["repetition"])
    assert curve.estimate([100.0]) == pytest.approx(1 + frame["repetition"].mean())


def test_a_redundant_held_column_is_refused():
    frame = make_responses().assign(letters=lambda rows: 5 * rows["words"])
    with pytest.raises(ValueError, match="feature 'letters' is a combination of the intercept"):
        lines.fit_curve(frame, "words", "quality", "prompt_id", 3, ["letters"])


def test_changes_are_differences_of_the_curve():
    curve = lines.fit_curve(make_responses(), "words", "quality", "prompt_id")
    steps = {"up": (30.0, 100.0), "down": (100.0, 190.0)}
    changes = curve.changes(steps, 500, np.random.default_rng(0))
    heights = curve.estimate([30.0, 100.0, 190.0])
    assert changes["estimate"].tolist() == pytest.approx(np.diff(heights).tolist())
    assert (changes["low"] < changes["estimate"]).all()
    assert (changes["estimate"] < changes["high"]).all()
    assert changes["p_value"].tolist() == pytest.approx([2 / 501, 2 / 501])


def test_band_covers_the_whole_true_curve_about_as_often_as_it_says():
    grid = np.linspace(40, 180, 30)
    slopes, covered = (0.0, 0.01), 0
    for seed in range(120):
        frame = make_responses(50, 3, seed)
        frame["quality"] += slopes[1] * frame["words"] + ((frame["words"] - 100) / 60) ** 2
        band = lines.fit_curve(frame, "words", "quality", "prompt_id", 3).band(
            grid, 300, np.random.default_rng(seed)
        )
        truth = 4 + slopes[1] * grid
        covered += bool(((band["low"] <= truth) & (truth <= band["high"])).all())
    assert 0.88 <= covered / 120 <= 0.99


def test_a_resample_of_one_response_does_not_determine_a_curve():
    frame = pd.DataFrame(
        {"words": [0.0, 1, 2, 4], "quality": [1.0, 2, 2, 3], "prompt_id": range(4)}
    )
    curve = lines.fit_curve(frame, "words", "quality", "prompt_id", 3)
    with pytest.raises(ValueError, match="a resample does not determine the curve: take fewer"):
        curve.draws([1.0], 500, np.random.default_rng(0))


def test_order_of_rows_does_not_matter():
    frame = make_responses()
    bands = [
        lines.fit_curve(rows, "words", "quality", "prompt_id").band(
            [50.0, 100.0], 99, np.random.default_rng(0)
        )
        for rows in (frame, frame.sample(frac=1, random_state=1))
    ]
    assert bands[0].to_numpy() == pytest.approx(bands[1].to_numpy())


def test_bins_hold_equal_numbers_and_average_their_rows():
    frame = make_responses()
    bins = lines.binned_means(
        frame, "words", "quality", "prompt_id", 10, 200, np.random.default_rng(0)
    )
    ordered = frame.sort_values("words")["quality"].to_numpy().reshape(10, -1)
    assert bins["n"].tolist() == [24] * 10
    assert bins["estimate"].tolist() == pytest.approx(ordered.mean(axis=1).tolist())
    assert ((bins["low"] < bins["estimate"]) & (bins["estimate"] < bins["high"])).all()


def test_equal_values_share_a_bin():
    frame = pd.DataFrame(
        {"words": [1, 1, 1, 1, 5, 9], "quality": [0, 1, 2, 3, 4, 6], "prompt_id": range(6)}
    )
    bins = lines.binned_means(
        frame, "words", "quality", "prompt_id", 3, 9, np.random.default_rng(0)
    )
    assert bins[["x", "n", "estimate"]].to_numpy().tolist() == [[1, 4, 1.5], [7, 2, 5]]


def test_one_bin_is_too_few():
    with pytest.raises(ValueError, match="binning needs at least 2 bins, got 1"):
        lines.binned_means(
            make_responses(), "words", "quality", "prompt_id", 1, 9, np.random.default_rng(0)
        )
