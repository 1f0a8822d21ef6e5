"""Instruments: Wald ratio, linearmodels as reference, recovery, messages."""

import numpy as np
import pandas as pd
import pytest
from linearmodels.iv import IV2SLS, IVGMM
from scipy import stats

from helpers.robustness.instruments import (
    anderson_rubin,
    anderson_rubin_statistic,
    first_stage,
    overidentification,
    prepare_instruments,
    reduced_form,
    side_by_side,
    two_stage,
)

ARMS = ["low", "high", "simple"]
EFFECT = -2.0


def make_frame(strength=1.0, direct=0.0, n_prompts=200, seed=0):
    """Five rated answers to a prompt, whose quality moves both tone and marks."""
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
    return prepare_instruments(
        frame, "marked", causes, instruments, "prompt_id", ["words"], within
    )


def test_one_binary_instrument_gives_the_ratio_of_two_differences():
    frame = make_frame()
    problem = prepare_instruments(frame, "marked", ["tone"], ["high"], "prompt_id")
    means = frame.groupby("high")[["marked", "tone"]].mean().diff().loc[1]
    assert two_stage(problem).value["tone"] == pytest.approx(
        means["marked"] / means["tone"]
    )
    assert reduced_form(problem).value.tolist() == pytest.approx(means.tolist())


def test_an_effect_is_recovered_where_least_squares_fails():
    found = side_by_side(make_problem(make_frame(n_prompts=2000)))
    assert found["iv_low"] < EFFECT < found["iv_high"] < found["iv_low"] + 0.5
    assert found["ols_high"] < EFFECT - 0.5


@pytest.mark.filterwarnings("ignore")
def test_slopes_errors_and_hansens_j_are_those_of_linearmodels():
    frame = make_frame(n_prompts=60)
    prompts = pd.get_dummies(frame["prompt_id"], dtype=float)
    exogenous = pd.concat([frame[["words"]], prompts], axis=1)
    model = IV2SLS(frame["marked"], exogenous, frame[["tone"]], frame[ARMS])
    reference = model.fit(cov_type="clustered", clusters=frame[["prompt_id"]])
    problem = make_problem(frame)
    row = two_stage(problem).table(problem.clusters).loc["tone"]
    assert row["estimate"] == pytest.approx(reference.params["tone"])
    error = np.sqrt(60 / 59) * reference.std_errors["tone"]
    assert row["standard_error"] == pytest.approx(error, rel=1e-6)
    columns = (problem.outcome, None, problem.causes, problem.instruments)
    clusters = problem.clusters.to_numpy()
    model = IVGMM(*columns, weight_type="clustered", clusters=clusters)
    found = overidentification(problem)
    assert found["j"] == pytest.approx(model.fit(iter_limit=2).j_stat.stat, rel=0.03)
    assert found["degrees"] == 2


def test_first_stage_f_of_one_instrument_is_its_squared_t():
    problem = make_problem(instruments=["high"])
    row = reduced_form(problem).table(problem.clusters).loc[("tone", 0)]
    strength = first_stage(problem)
    assert strength["f"] == pytest.approx(
        (row["estimate"] / row["standard_error"]) ** 2
    )
    assert strength["effective_f"] == pytest.approx(strength["f"])
    assert strength["f_p_value"] == pytest.approx(row["p_value"])
    # as published for one
    assert strength["critical_f"] == pytest.approx(23.1, abs=0.05)


def test_anderson_rubin_of_one_strong_instrument_is_close_to_the_normal_interval():
    problem = make_problem(make_frame(strength=5.0), instruments=["high"])
    row = two_stage(problem).table(problem.clusters).loc["tone"]
    ends = np.array(anderson_rubin(problem))
    np.testing.assert_allclose(ends, [[row["low"], row["high"]]], atol=0.02)
    at_estimate = anderson_rubin_statistic(problem, np.array([row["estimate"]]))
    assert at_estimate[0] == pytest.approx(0, abs=1e-9)


def test_ends_of_the_anderson_rubin_region_have_the_critical_value():
    problem = make_problem()
    [ends] = anderson_rubin(problem)
    critical = stats.f.ppf(0.95, len(ARMS), problem.clusters["prompt_id"].nunique() - 1)
    statistic = anderson_rubin_statistic(problem, np.array(ends))
    np.testing.assert_allclose(statistic, critical, rtol=1e-3)


def test_weak_instruments_give_a_region_without_end():
    problem = make_problem(make_frame(strength=0.0), instruments=["high"])
    assert first_stage(problem)["f"] < 3.8
    assert side_by_side(problem)["anderson_rubin"] == "(-inf, inf)"


def test_anderson_rubin_covers_with_weak_instruments():
    frames = (make_frame(strength=0.15, n_prompts=60, seed=seed) for seed in range(40))
    problems = [make_problem(frame, within=None) for frame in frames]
    critical, effect = stats.f.ppf(0.95, len(ARMS), 59), np.array([EFFECT])
    held = [
        anderson_rubin_statistic(problem, effect)[0] <= critical for problem in problems
    ]
    assert np.mean(held) >= 0.95 - 3 * 0.034  # three standard errors of 40 trials


def test_an_instrument_with_a_way_of_its_own_is_found_out():
    broken = side_by_side(make_problem(make_frame(direct=4.0)))
    assert broken["j_p_value"] < 0.001
    assert broken["anderson_rubin"] == "none"
    assert side_by_side(make_problem())["j_p_value"] > 0.05


def test_a_second_cause_takes_over_what_it_explains():
    frame = make_frame(n_prompts=1000)
    frame["marked"] += 4 * frame["complex"]
    both = make_problem(frame, causes=("tone", "complex"))
    table = two_stage(both).table(both.clusters)
    assert overidentification(make_problem(frame))["p_value"] < 0.001
    assert (table["low"] < [EFFECT, 4]).all()
    assert (table["high"] > [EFFECT, 4]).all()


def test_instruments_that_repeat_each_other_are_refused():
    frame = make_frame().assign(baseline=lambda table: 1 - table[ARMS].sum(axis=1))
    with pytest.raises(ValueError, match="feature 'baseline' is a combination of"):
        make_problem(frame, instruments=[*ARMS, "baseline"])
