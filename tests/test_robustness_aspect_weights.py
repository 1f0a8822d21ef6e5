"""Weights of aspects in many specifications: as single analyses compute them."""

import numpy as np
import pandas as pd
import pytest

from helpers.robustness import aspect_weights
from helpers.stats import aspects, lasso, ordinal
from helpers.stats.moments import cluster_moments
from helpers.studies import kamoda

ASPECTS = list(kamoda.ASPECTS)
SCALES = ("acceptability", kamoda.IDEALS, kamoda.RANGES)
STEPS = {"factuality": 3, "amount_info": 1, "formality": 1}


def pick(table: pd.DataFrame, **choice) -> pd.Series:
    """The one specification with these choices."""
    found = table[(table[list(choice)] == pd.Series(choice)).all(axis="columns")]
    assert len(found) == 1
    return found.iloc[0]


def pick_aspects(table: pd.DataFrame, *choice: str) -> pd.Series:
    columns = ("ratings", "model", "weight per", "answers")
    rest = ("single", "no intercept", "whole scale", "all")[len(choice) :]
    return pick(table, **dict(zip(columns, (*choice, *rest), strict=True)))


@pytest.fixture(scope="module")
def tables():
    """Tables of which that of rater pairs lacks a question in what people wrote."""
    ratings = kamoda.load("simulated").ratings
    half = ratings[ratings["question_id"].isin(ratings["question_id"].unique()[::2])]
    found = aspect_weights.distance_tables(half, ASPECTS, *SCALES)
    single = found["single"]
    human = single["system"].str.startswith("human")
    lost = human & (single["question_id"] == single["question_id"].iloc[0])
    return found | {aspect_weights.BETWEEN: single[~lost]}


@pytest.fixture(scope="module")
def curve(tables):
    return aspect_weights.aspect_leads(
        tables, ASPECTS, "factuality", 40, np.random.default_rng(1), STEPS
    )


def lead(weights: pd.Series) -> float:
    return weights["factuality"] - weights.drop("factuality").max()


@pytest.mark.parametrize(
    "ratings", ["single", "mean", "mean of distances", "mode, ties low"]
)
def test_weights_without_intercept_are_those_of_one_regression(tables, curve, ratings):
    rows = tables[ratings]
    expected = aspects.weights(rows, ASPECTS, "missing")
    found = pick_aspects(curve[0], ratings)
    assert found["estimate"] == pytest.approx(lead(expected))
    scaled = pick_aspects(curve[0], ratings, "no intercept", "standard deviation")
    assert scaled["estimate"] == pytest.approx(
        lead(expected * rows[ASPECTS].std(ddof=0))
    )
    per_step = pick_aspects(curve[0], ratings, "no intercept", "step")
    assert per_step["estimate"] == pytest.approx(lead(expected / pd.Series(STEPS)))


def test_weights_with_intercept_in_a_part_of_the_answers(tables, curve):
    rows = tables["single"][tables["single"]["system"] != "human_top"]
    fit = lasso.ols(rows, ASPECTS, "missing", "question_id")["estimate"][ASPECTS]
    found = pick_aspects(
        curve[0], "single", "intercept", "whole scale", "without human_top"
    )
    assert found["estimate"] == pytest.approx(lead(fit))


def test_within_raters_is_regression_with_a_level_for_each_rater(tables, curve):
    rows = tables["single"]
    full = np.column_stack(
        [rows[ASPECTS], pd.get_dummies(rows["rater_id"], dtype=float)]
    )
    slopes = np.linalg.lstsq(full, rows["missing"].to_numpy(), rcond=None)[0][:3]
    found = pick_aspects(curve[0], aspect_weights.WITHIN, "intercept")
    assert found["estimate"] == pytest.approx(lead(pd.Series(slopes, ASPECTS)))


def test_between_raters_is_regression_on_pairs_even_where_a_question_is_missing(
    tables, curve
):
    rows = tables[aspect_weights.BETWEEN]
    rows = rows[rows["system"].str.startswith("human")]
    pairs = aspects.rater_pairs(
        rows, ASPECTS, "missing", "item_id", "question_id"
    ).total()
    slopes = pd.Series(np.linalg.solve(pairs.xx[0], pairs.xy[0]), ASPECTS)
    found = pick_aspects(
        curve[0], aspect_weights.BETWEEN, "no intercept", "whole scale", "only human"
    )
    assert found["estimate"] == pytest.approx(lead(slopes))


def test_ordinal_effects_are_those_of_one_fit(tables, curve):
    rows = tables["single"]
    effects = ordinal.fit(rows, ASPECTS, "missing").effects(rows)
    found = pick_aspects(curve[0], "single", "ordinal")
    assert found["estimate"] == pytest.approx(lead(effects.value))
    difference = effects.pick(["factuality"]).minus(effects.pick([found["next"]]))
    exact = difference.table(rows[["question_id"]])["standard_error"]
    # 3 se of 40 draws
    assert found["standard_error"] == pytest.approx(exact.item(), rel=0.35)


def test_draws_spread_like_the_bootstrap_of_one_specification(tables, curve):
    moments = cluster_moments(tables["single"], ASPECTS, "missing", "question_id")
    draws = aspects.bootstrap_weights(moments, 400, np.random.default_rng(2))
    found = pick_aspects(curve[0])
    spread = (draws["factuality"] - draws[found["next"]]).std()
    assert found["standard_error"] == pytest.approx(spread, rel=0.35)


def test_every_combination_of_aspects_is_computed_or_listed(curve):
    table, draws, left_out = curve
    assert len(table) + len(left_out) == 9 * 3 * 3 * 7
    assert draws.shape == (40, len(table))
    assert (left_out["reason"] != "").all()
