"""Weights of aspects in many specifications: those of single regressions, and messages."""

import numpy as np
import pandas as pd
import pytest

from helpers.beyond import robustness
from helpers.stats import aspects, lasso, ordinal
from helpers.stats.moments import cluster_moments
from helpers.studies import kamoda

ASPECTS = list(kamoda.ASPECTS)
SCALES = ("acceptability", kamoda.IDEALS, kamoda.RANGES)


@pytest.fixture(scope="module")
def tables():
    return robustness.tables(kamoda.load("simulated").ratings, ASPECTS, *SCALES)


@pytest.fixture(scope="module")
def curve(tables):
    return robustness.gaps(tables, ASPECTS, "factuality", 60, np.random.default_rng(1))


def pick(table: pd.DataFrame, *choice: str) -> pd.Series:
    columns = ["ratings", "model", "weight per", "answers"]
    known = [*choice, *("single", "no intercept", "whole scale", "all")[len(choice) :]]
    return table[(table[columns] == known).all(axis="columns")].squeeze()


def lead(weights: pd.Series) -> float:
    return weights["factuality"] - weights.drop("factuality").max()


@pytest.mark.parametrize("ratings", ["single", "mean", "mean of distances", "mode, ties low"])
def test_weights_without_intercept_are_those_of_one_regression(tables, curve, ratings):
    expected = aspects.weights(tables[ratings], ASPECTS, "missing")
    assert pick(curve[0], ratings)["estimate"] == pytest.approx(lead(expected))


def test_weights_with_intercept_in_a_part_of_the_answers(tables, curve):
    rows = tables["single"][tables["single"]["system"] != "human_top"]
    fit = lasso.ols(rows, ASPECTS, "missing", "question_id")["estimate"][ASPECTS]
    found = pick(curve[0], "single", "intercept", "whole scale", "without human_top")
    assert found["estimate"] == pytest.approx(lead(fit))


def test_weights_per_standard_deviation(tables, curve):
    rows = tables["mean"]
    weights = aspects.weights(rows, ASPECTS, "missing") * rows[ASPECTS].std(ddof=0)
    found = pick(curve[0], "mean", "no intercept", "standard deviation")
    assert found["estimate"] == pytest.approx(lead(weights))


def test_within_raters_is_regression_with_a_level_for_each_rater(tables, curve):
    rows = tables["single"]
    design = pd.get_dummies(rows["rater_id"], dtype=float)
    full = np.column_stack([rows[ASPECTS], design])
    slopes = np.linalg.lstsq(full, rows["missing"].to_numpy(), rcond=None)[0][:3]
    found = pick(curve[0], robustness.WITHIN, "intercept")
    assert found["estimate"] == pytest.approx(lead(pd.Series(slopes, ASPECTS)))


def test_ordinal_effects_are_those_of_one_fit(tables, curve):
    effects = ordinal.fit(tables["single"], ASPECTS, "missing").effects(tables["single"])
    found = pick(curve[0], "single", "ordinal")
    assert found["estimate"] == pytest.approx(lead(effects.value))
    difference = effects.pick(["factuality"]).minus(effects.pick([found["next"]]))
    exact = difference.table(tables["single"][["question_id"]])["standard_error"]
    assert found["standard_error"] == pytest.approx(exact.item(), rel=0.3)


def test_draws_spread_like_the_bootstrap_of_one_specification(tables, curve):
    moments = cluster_moments(tables["single"], ASPECTS, "missing", "question_id")
    draws = aspects.bootstrap_weights(moments, 400, np.random.default_rng(2))
    runner_up = pick(curve[0])["next"]
    spread = (draws["factuality"] - draws[runner_up]).std()
    assert pick(curve[0])["standard_error"] == pytest.approx(spread, rel=0.3)


def test_every_combination_is_computed_or_listed(curve):
    table, draws, left_out = curve
    assert len(table) + len(left_out) == 9 * 3 * 2 * 7
    assert draws.shape == (60, len(table))
    assert (left_out["reason"] != "").all()


def test_between_raters_in_a_part_without_some_questions(tables):
    questions = tables["single"]["question_id"].unique()
    drop = (tables["single"]["question_id"] == questions[0]) & (
        tables["single"]["system"].str.startswith("human")
    )
    fewer = tables | {robustness.BETWEEN: tables["single"][~drop]}
    table, _, _ = robustness.gaps(fewer, ASPECTS, "factuality", 2, np.random.default_rng(3))
    assert np.isfinite(pick(table, robustness.BETWEEN)["estimate"])


def test_the_paper_is_one_of_the_specifications(real_data):
    found = robustness.tables(kamoda.load(real_data).ratings, ASPECTS, *SCALES)
    table, _, _ = robustness.gaps(found, ASPECTS, "factuality", 2, np.random.default_rng(4))
    row = pick(table)
    assert row["next"] == "amount_info"
    assert row["estimate"] == pytest.approx(2.048 - 0.739, abs=0.05)
