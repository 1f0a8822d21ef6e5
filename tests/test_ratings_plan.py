"""How large a study it takes, checked with simulated larger studies."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from ratings import plan
from ratings.inference import compare_systems, judge_aspects
from ratings.intake import prepare
from ratings.study import Study
from ratings.verdicts import Estimate


def draw(n_raters, n_prompts, rng, effect=0.0, rare=False):
    """Every prompt has four items, each rated by two of the raters."""
    item = np.repeat(np.arange(4 * n_prompts), 2)
    first = rng.integers(0, n_raters, 4 * n_prompts)
    step = rng.integers(1, n_raters, 4 * n_prompts)
    rater = np.column_stack([first, (first + step) % n_raters]).ravel()
    typos = (rng.random(len(item)) < 0.4) * 1.0
    own = effect + 0.5 * rng.normal(size=n_raters)
    by_prompt = 0.5 * rng.normal(size=n_prompts)
    table = pd.DataFrame({"item_id": item, "prompt_id": item // 4, "rater_id": rater})
    y = (own[rater] + by_prompt[item // 4]) * typos + rng.normal(size=len(item))
    table = table.assign(typos=typos, overall=y)
    if rare:
        table["rare"] = ((item // 4 < 15) & (rater < 4)) * 1.0
    return table


def study_of(table, names=("typos",)):
    return prepare(table, "overall", list(names))


def test_the_plan_is_that_of_simulated_larger_studies():
    rng = np.random.default_rng(0)
    planned = []
    for _ in range(25):
        study = study_of(draw(20, 40, rng))
        table = plan.detectable(study.weights, study.clusters, 1)
        planned.append(table.loc[(2, 2), "typos"])
    size = np.nanmean(planned)
    found = []
    for _ in range(100):
        study = study_of(draw(40, 80, rng, effect=size))
        row = study.weights.table().loc["typos"]
        found.append(row["estimate"] > 0 and row["p_value"] < 0.05)
    # four of five: 0.8, whose error in 100 studies is 0.04
    assert np.mean(found) == pytest.approx(0.8, abs=0.1)


def test_the_parts_of_the_error_are_those_of_leaving_out():
    study = study_of(draw(20, 40, np.random.default_rng(1)))
    table = plan.detectable(study.weights, study.clusters, 1)["typos"]
    people, items, both = [each.covariance()[0, 0] for each in study.weights.parts]
    error = study.weights.table()["standard_error"].iloc[0]
    assert error**2 == pytest.approx(people + items - both)
    squares = table**2
    # with four times of both, errors are half as large, and t has more degrees
    assert squares[4, 4] < squares[1, 1] / 4
    assert (table.diff().loc[[(1, 2), (1, 4)]] < 0).all()
    assert squares[4, 1] / squares[1, 4] == pytest.approx(
        (people - both + 4 * items) / (4 * (people - both) + items), rel=0.35
    )


def test_a_rare_aspect_takes_no_raters_from_the_plan_of_others():
    study = study_of(
        draw(20, 40, np.random.default_rng(2), rare=True), ["typos", "rare"]
    )
    alone = study_of(draw(20, 40, np.random.default_rng(2)))
    table = plan.detectable(study.weights, study.clusters, 2)
    assert set(table.index.get_level_values("times as many raters")) == {1, 2, 4}
    assert table["rare"].isna().all()
    more = plan.detectable(alone.weights, alone.clusters, 2)["typos"]
    assert table.loc[(1, 1), "typos"] == pytest.approx(more.loc[(1, 1)], rel=0.1)
    lines, _ = plan.advice(study, judge_aspects(study), study.weights, "aspects")
    assert any(
        line.startswith("Too few raters or clusters to plan from") for line in lines
    )


def test_few_raters_are_too_few_to_plan_from():
    study = study_of(draw(6, 40, np.random.default_rng(0)))
    lines, table = plan.advice(study, judge_aspects(study), study.weights, "aspects")
    assert table.empty
    assert lines == [
        "Too few raters or clusters to plan from for aspects: the equivalent of 10 of "
        "each, with equally many ratings, is needed."
    ]


def test_no_plan_promises_what_the_interval_rules_out():
    study = study_of(draw(30, 60, np.random.default_rng(3)))
    (verdict,) = judge_aspects(study, matters=1.5)
    assert verdict.direction == "unclear"
    assert max(-verdict.size.low, verdict.size.high) < 1.5
    lines, _ = plan.advice(study, [verdict], study.weights, "aspects")
    assert lines == [
        "For “typos” the intervals rule out 1.50 points (the smallest difference that "
        "matters)."
    ]
    small = replace(verdict, matters=0.25)
    (line,), table = plan.advice(study, [small], study.weights, "aspects")
    enough = table.index[table["typos"] <= 0.25]
    assert line.startswith("To find 0.25 points")
    for raters, items in enough:
        smaller = [(r, i) for r, i in enough if r <= raters and i <= items]
        numbers = f"{60 * items} clusters of items by {30 * raters} raters"
        assert (numbers in line) == (len(smaller) == 1)
    tiny = replace(verdict, matters=0.001, size=Estimate(0, -1, 1))
    (line,), _ = plan.advice(study, [tiny], study.weights, "aspects")
    assert line.endswith(
        "even 4 times as many clusters of items and raters would not do."
    )


def test_without_raters_the_plan_is_of_items():
    table = draw(20, 60, np.random.default_rng(0), effect=0.1)
    study: Study = study_of(table.drop(columns="rater_id"))
    found = plan.detectable(study.weights, study.clusters, 1)
    assert set(found.index) == {(1, 1), (1, 2), (1, 4)}
    assert found.loc[(1, 4), "typos"] == pytest.approx(
        found.loc[(1, 1), "typos"] / 2, rel=0.05
    )


def test_pairs_of_systems_have_a_plan_of_their_own():
    table = draw(20, 40, np.random.default_rng(0))
    table["system_id"] = table["item_id"] % 4
    study = prepare(table, "overall", [])
    found = compare_systems(study, matters=0.2)
    pairs = list(found.pairs.values())
    lines, planned = plan.advice(study, pairs, found.left_out, "pairs of systems")
    assert planned.shape == (9, 6)
    assert any("pairs of systems" in line for line in lines)
