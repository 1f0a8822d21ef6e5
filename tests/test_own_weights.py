from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from example_study import ERRORS, MARKS, ExampleTruth, example_ratings

from helpers.files.tables import OptionError
from helpers.own import inference
from helpers.own.intake import prepare
from helpers.stats import lasso
from helpers.stats.bootstrap import adjust
from helpers.stats.moments import cluster_moments

ASPECTS = [*MARKS, *ERRORS]


def study_of(table, aspects=ASPECTS):
    return prepare(table, "overall", list(aspects), np.random.default_rng(0))


@pytest.fixture(scope="module")
def study():
    return study_of(example_ratings(np.random.default_rng(3)))


@pytest.fixture(scope="module")
def large():
    return study_of(example_ratings(np.random.default_rng(3), ExampleTruth(n_prompts=700)))


def wide(n_rows, n_aspects, seed=0):
    rng = np.random.default_rng(seed)
    names = [f"a{number}" for number in range(n_aspects)]
    table = pd.DataFrame(rng.integers(0, 2, (n_rows, n_aspects)).astype(float), columns=names)
    table = table.assign(overall=rng.integers(1, 6, n_rows), item_id=range(n_rows))
    return study_of(table.assign(prompt_id=table["item_id"] // 5), names)


def rng():
    return np.random.default_rng(1)


def test_least_squares_are_those_of_statsmodels(study):
    found = inference.least_squares_weights(study.moments())
    expected = lasso.ols(study.scaled(), ASPECTS, "overall", "prompt_id").loc[ASPECTS]
    pd.testing.assert_frame_equal(found[expected.columns], expected)
    np.testing.assert_allclose(found["p, Holm"], adjust(expected["p_value"]))


def test_three_methods_find_the_truth_again(large):
    truth = pd.Series(ExampleTruth().weights)[ASPECTS].drop("completeness")
    moments = large.moments()
    for table in (
        inference.least_squares_weights(moments),
        inference.lasso_weights(moments, 0.001, 50, rng()),
        inference.ordered_marks(large, rng()),
    ):
        assert (table["estimate"][truth.index] - truth).abs().max() < 0.2


def test_the_lasso_is_that_of_the_rows(study):
    found = inference.lasso_weights(study.moments(), 0.02, 50, rng())
    expected = lasso.lasso(study.scaled(), ASPECTS, "overall", 0.02)
    np.testing.assert_allclose(found["estimate"], expected, atol=1e-9)
    assert (found["low"] <= found["high"]).all()


def test_few_clusters_allow_no_least_squares():
    study = wide(40, 12)
    reason = inference.least_squares_weights(study.moments())["not done"].item()
    assert reason == "8 clusters are too few for 13 numbers"
    sensitivity = inference.sensitivity(study, inference.not_done(reason), {})
    assert sensitivity["not done"].item() == reason


def test_a_penalty_can_be_chosen_even_with_more_aspects_than_clusters():
    moments = wide(50, 40).moments()
    alpha = inference.choose_penalty(moments, 0, rng())
    assert alpha > 0
    assert inference.lasso_weights(moments, alpha, 20, rng())["estimate"].notna().all()


def test_a_lasso_without_solution_says_so(monkeypatch, study):
    def fail(*arguments):
        raise RuntimeError("not solved")

    monkeypatch.setattr(inference, "lasso_table", fail)
    reason = inference.lasso_weights(study.moments(), 0.01, 20, rng())["not done"].item()
    assert reason == "with a penalty of 0.01 there is no solution; choose a larger one"


def test_when_no_penalty_can_be_validated_the_strongest_is_taken(monkeypatch, study):
    def fail(*arguments):
        raise RuntimeError("not solved")

    monkeypatch.setattr(inference.penalty, "lasso_cross_validation", fail)
    moments = study.moments()
    alpha = inference.choose_penalty(moments, 0, rng())
    assert (inference.lasso_weights(moments, alpha * 1.001, 2, rng())["estimate"] == 0).all()


@pytest.mark.parametrize("given", [-0.1, float("nan")])
def test_a_negative_penalty_is_refused(study, given):
    with pytest.raises(OptionError, match=r"^penalty must be 0 or more, got .*: 0 lets cross-"):
        inference.choose_penalty(study.moments(), given, rng())


def test_many_different_outcomes_are_no_ordered_marks(study):
    frame = study.frame.assign(overall=np.arange(len(study.frame)))
    reason = inference.ordered_marks(replace(study, frame=frame), rng())["not done"].item()
    assert reason == "overall is not one of up to 11 whole marks"
    halves = replace(study, frame=study.frame.assign(overall=study.frame["overall"] / 2))
    assert "whole marks" in inference.ordered_marks(halves, rng())["not done"].item()


def test_few_ratings_are_too_few_for_ordered_marks():
    reason = inference.ordered_marks(wide(60, 4), rng())["not done"].item()
    assert reason == "60 ratings are too few; at least 90 are needed"


def test_an_aspect_that_separates_high_from_low_has_no_effect_but_the_others_have():
    study = wide(400, 2)
    frame = study.frame.assign(overall=lambda t: 1 + 4 * t["a0"])
    frame.loc[frame.index[::7], "overall"] = 3
    frame["a0"] = (frame["overall"] > 3).astype(float)
    table = inference.ordered_marks(replace(study, frame=frame), rng())
    assert table["estimate"].isna().tolist() == [True, False]
    alone = replace(study, frame=frame, aspects=["a0"])
    reason = inference.ordered_marks(alone, rng())["not done"].item()
    assert reason == "every aspect tells high from low ratings without exception"


def test_leniency_of_raters_is_taken_out_within_raters():
    table = example_ratings(np.random.default_rng(5), ExampleTruth(n_gaps=0, n_prompts=200))
    strict = table["rater_id"].isin(table["rater_id"].unique()[:8])
    table["tone"] = table["tone"].mask(strict, 1)
    table["overall"] -= 2 * strict
    study = study_of(table)
    found = inference.sensitivity(study, inference.least_squares_weights(study.moments()), {})
    assert found.loc["tone", "all ratings"] > 1
    assert abs(found.loc["tone", "within raters"]) < 0.2


def test_other_choices_appear_only_where_they_differ(study):
    least_squares = inference.least_squares_weights(study.moments())
    others = {"Lasso": least_squares, "ordered marks": inference.not_done("no")}
    found = inference.sensitivity(study, least_squares, others)
    assert found.columns.tolist() == [
        "all ratings", "items averaged", "within raters", "Lasso", "lowest", "highest",
    ]  # fmt: skip
    once = replace(study, frame=study.frame.drop_duplicates("item_id").drop(columns="rater_id"))
    found = inference.sensitivity(once, least_squares, {})
    assert found.columns.tolist() == ["all ratings", "lowest", "highest"]


def test_leaving_out_an_aspect_moves_one_that_says_nearly_the_same():
    study = wide(400, 3)
    frame = study.frame.assign(overall=lambda t: t["a0"] + 0.01 * t["a2"], a1=lambda t: t["a0"])
    frame.loc[frame.index[:20], "a1"] = 1 - frame.loc[frame.index[:20], "a1"]
    study = replace(study, frame=frame)
    found = inference.sensitivity(study, inference.least_squares_weights(study.moments()), {})
    assert found.loc["a1", "highest"] == pytest.approx(0.9, abs=0.02)
    assert found.loc["a1", "lowest"] == pytest.approx(0, abs=0.01)
    assert found.loc["a0", ["lowest", "highest"]].tolist() == pytest.approx([1, 1], abs=0.01)


def test_redundant_features_share_a_weight():
    gram, cross = np.ones((2, 2)), np.ones(2)
    np.testing.assert_allclose(inference.aspect_slopes(gram, cross), [0.5, 0.5])


def test_duplicating_every_row_within_its_cluster_changes_no_weight(study):
    twice = pd.concat([study.scaled()] * 2)
    table = inference.least_squares_weights(cluster_moments(twice, ASPECTS, "overall", "cluster"))
    expected = inference.least_squares_weights(study.moments())
    np.testing.assert_allclose(table["estimate"], expected["estimate"])
    np.testing.assert_allclose(table["standard_error"], expected["standard_error"], rtol=0.01)
