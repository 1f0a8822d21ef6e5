"""Instruments: Wald ratio, linearmodels as reference, recovery, weak instruments, messages."""

import warnings

import numpy as np
import pandas as pd
import pytest
from linearmodels.iv import IV2SLS, IVGMM
from scipy import stats

from helpers.beyond.instruments import (
    Region,
    anderson_rubin,
    anderson_rubin_statistic,
    first_stage,
    least_squares,
    overidentification,
    prepare_instruments,
    reduced_form,
    side_by_side,
    two_stage,
)

ARMS = ["low", "high", "simple"]
EFFECT = -2.0


def make_frame(strength=1.0, direct=0.0, n_prompts=200, seed=0):
    """Five rated answers to a prompt, whose quality moves both the tone and the marks."""
    rng = np.random.default_rng(seed)
    n_rows = 5 * n_prompts
    prompt = np.repeat(np.arange(n_prompts), 5)
    arm = rng.integers(4, size=n_rows)
    quality = rng.normal(size=n_prompts)[prompt] + rng.normal(size=n_rows)
    frame = pd.DataFrame({"prompt_id": prompt, "words": rng.normal(size=n_rows)})
    for number, name in enumerate(ARMS, start=1):
        frame[name] = (arm == number).astype(float)
    moved = strength * (frame["high"] - frame["low"] - 0.5 * frame["simple"])
    frame["tone"] = moved + quality + 0.3 * frame["words"] + rng.normal(size=n_rows)
    frame["complex"] = strength * frame["simple"] + rng.normal(size=n_rows)
    effect = EFFECT * frame["tone"] - 3 * quality + frame["words"]
    frame["marked"] = effect + direct * frame["simple"] + rng.normal(size=n_rows)
    return frame


def make_problem(frame=None, instruments=ARMS, within="prompt_id", causes=("tone",)):
    frame = make_frame() if frame is None else frame
    return prepare_instruments(frame, "marked", causes, instruments, "prompt_id", ["words"], within)


def test_one_binary_instrument_gives_the_ratio_of_two_differences():
    frame = make_frame()
    problem = prepare_instruments(frame, "marked", ["tone"], ["high"], "prompt_id")
    means = frame.groupby("high")[["marked", "tone"]].mean().diff().loc[1]
    assert two_stage(problem).value["tone"] == pytest.approx(means["marked"] / means["tone"])


def test_an_effect_is_recovered_where_least_squares_fails():
    problem = make_problem(make_frame(n_prompts=2000))
    staged = two_stage(problem).table(problem.clusters).loc["tone"]
    assert staged["low"] < EFFECT < staged["high"]
    assert staged["high"] - staged["low"] < 0.5
    assert least_squares(problem).table(problem.clusters).loc["tone", "high"] < EFFECT - 0.5


def test_slopes_and_errors_are_those_of_linearmodels():
    frame = make_frame(n_prompts=60)
    prompts = pd.get_dummies(frame["prompt_id"], dtype=float)
    exogenous = pd.concat([frame[["words"]], prompts], axis=1)
    model = IV2SLS(frame["marked"], exogenous, frame[["tone"]], frame[ARMS])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reference = model.fit(cov_type="clustered", clusters=frame[["prompt_id"]])
    problem = make_problem(frame)
    row = two_stage(problem).table(problem.clusters).loc["tone"]
    n_prompts = frame["prompt_id"].nunique()
    small_sample = np.sqrt(n_prompts / (n_prompts - 1))
    assert row["estimate"] == pytest.approx(reference.params["tone"])
    assert row["standard_error"] / reference.std_errors["tone"] == pytest.approx(
        small_sample, rel=1e-6
    )


def test_hansens_j_is_that_of_linearmodels():
    problem = make_problem()
    model = IVGMM(
        problem.outcome,
        None,
        problem.causes,
        problem.instruments,
        weight_type="clustered",
        clusters=problem.clusters.to_numpy(),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reference = model.fit(iter_limit=2)
    ours = overidentification(problem)
    assert ours["j"] == pytest.approx(reference.j_stat.stat, rel=0.02)
    assert ours["degrees"] == 2


def test_within_group_means_and_controls_equal_indicators():
    frame = make_frame(n_prompts=30)
    prompts = pd.get_dummies(frame["prompt_id"], prefix="p", dtype=float).iloc[:, 1:]
    controls = ["words", *prompts]
    long = prepare_instruments(frame.join(prompts), "marked", ["tone"], ARMS, "prompt_id", controls)
    np.testing.assert_allclose(two_stage(long).value, two_stage(make_problem(frame)).value)


def test_first_stage_f_of_one_instrument_is_its_squared_t():
    problem = make_problem(instruments=["high"])
    row = reduced_form(problem).table(problem.clusters).loc[("tone", 0)]
    strength = first_stage(problem).loc["tone"]
    assert strength["f"] == pytest.approx((row["estimate"] / row["standard_error"]) ** 2)
    assert strength["effective_f"] == pytest.approx(strength["f"])
    assert strength["f_p_value"] == pytest.approx(row["p_value"])


@pytest.mark.parametrize(("n_instruments", "printed"), [(1, 23.1), (3, 23.1)])
def test_critical_f_of_equal_directions_does_not_exceed_the_published_one(n_instruments, printed):
    critical = first_stage(make_problem(instruments=ARMS[:n_instruments])).loc["tone", "critical_f"]
    assert 10 < critical < printed + 0.05


def test_anderson_rubin_of_one_instrument_holds_the_estimate_where_it_is_zero():
    problem = make_problem(instruments=["high"])
    estimate = two_stage(problem).value["tone"]
    assert anderson_rubin_statistic(problem, np.array([estimate]))[0] == pytest.approx(0, abs=1e-9)
    assert estimate in anderson_rubin(problem)


def test_anderson_rubin_of_one_strong_instrument_is_close_to_the_normal_interval():
    problem = make_problem(make_frame(strength=5.0), instruments=["high"])
    row = two_stage(problem).table(problem.clusters).loc["tone"]
    region = anderson_rubin(problem)
    assert len(region.intervals) == 1
    assert [region.low, region.high] == pytest.approx([row["low"], row["high"]], abs=0.02)


def test_ends_of_the_anderson_rubin_region_have_the_critical_value():
    problem = make_problem()
    region = anderson_rubin(problem)
    statistic = anderson_rubin_statistic(problem, np.array([region.low, region.high]))
    critical = stats.f.ppf(0.95, len(ARMS), problem.clusters["prompt_id"].nunique() - 1)
    np.testing.assert_allclose(statistic, critical, rtol=1e-3)


def test_weak_instruments_give_a_region_without_end():
    problem = make_problem(make_frame(strength=0.0), instruments=["high"])
    assert first_stage(problem).loc["tone", "f"] < 3.8
    region = anderson_rubin(problem)
    assert region.low == -np.inf
    assert region.high == np.inf


def test_anderson_rubin_covers_with_weak_instruments():
    problems = [
        make_problem(make_frame(strength=0.15, n_prompts=60, seed=seed), within=None)
        for seed in range(100)
    ]
    critical = stats.f.ppf(0.95, len(ARMS), 59)
    effect = np.array([EFFECT])
    held = [anderson_rubin_statistic(problem, effect)[0] <= critical for problem in problems]
    assert np.mean(held) >= 0.89


def test_an_instrument_with_a_way_of_its_own_is_found_out():
    fair, broken = make_problem(), make_problem(make_frame(direct=4.0))
    assert overidentification(fair)["p_value"] > 0.05
    assert overidentification(broken)["p_value"] < 0.001
    assert str(anderson_rubin(broken)) == "none"
    assert np.isnan(anderson_rubin(broken).low)


def test_a_second_cause_takes_over_what_it_explains():
    frame = make_frame(n_prompts=1000)
    frame["marked"] += 4 * frame["complex"]
    alone, both = make_problem(frame), make_problem(frame, causes=("tone", "complex"))
    table = two_stage(both).table(both.clusters)
    assert overidentification(alone)["p_value"] < 0.001
    assert (table["low"] < [EFFECT, 4]).all()
    assert (table["high"] > [EFFECT, 4]).all()
    assert (first_stage(both)["conditional_f"] > 20).all()


def test_same_direction_twice_leaves_nothing_for_a_second_cause():
    frame = make_frame()
    noise = np.random.default_rng(1).normal(size=len(frame))
    frame["complex"] = frame["high"] - frame["low"] - 0.5 * frame["simple"] + noise
    strength = first_stage(make_problem(frame, causes=("tone", "complex")))
    assert (strength["f"] > 20).all()
    assert (strength["conditional_f"] < 10).all()


def test_row_order_does_not_matter():
    frame = make_frame(n_prompts=30)
    shuffled = frame.sample(frac=1, random_state=1)
    ours, other = (side_by_side(make_problem(table)) for table in (frame, shuffled))
    assert ours.pop("anderson_rubin") == other.pop("anderson_rubin")
    assert ours == pytest.approx(other)


def test_unit_of_the_outcome_scales_everything():
    frame = make_frame()
    one, hundred = make_problem(frame), make_problem(frame.assign(marked=100 * frame["marked"]))
    assert two_stage(hundred).value["tone"] == pytest.approx(100 * two_stage(one).value["tone"])
    assert anderson_rubin(hundred).low == pytest.approx(100 * anderson_rubin(one).low)
    assert overidentification(hundred)["j"] == pytest.approx(overidentification(one)["j"])


def test_regions_are_written_with_their_ends():
    assert str(Region(((-np.inf, np.inf),))) == "(-inf, inf)"
    assert str(Region(((-np.inf, -1.0), (2.0, np.inf)))) == "(-inf, -1.00] or [2.00, inf)"
    assert 0.0 not in Region(((-np.inf, -1.0), (2.0, np.inf)))


def test_fewer_instruments_than_causes():
    with pytest.raises(ValueError, match="2 causes and 1 instruments: name at least one cause"):
        make_problem(causes=("tone", "complex"), instruments=["high"])


def test_redundant_instrument():
    frame = make_frame().assign(baseline=lambda table: 1 - table[ARMS].sum(axis=1))
    with pytest.raises(ValueError, match="feature 'baseline' is a combination of"):
        make_problem(frame, instruments=[*ARMS, "baseline"])


def test_region_for_two_causes():
    with pytest.raises(ValueError, match="got 2 causes: the region is for one, give one"):
        anderson_rubin(make_problem(causes=("tone", "complex")))


def test_level_outside_its_range():
    with pytest.raises(ValueError, match="level must be between 0 and 1, got 95"):
        anderson_rubin(make_problem(), level=95)
