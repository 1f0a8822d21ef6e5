"""Distances from the ideal, weights without intercept, and random splits."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from helpers.stats import aspects
from helpers.stats.bootstrap import cluster_weights, interval
from helpers.stats.moments import cluster_moments
from helpers.studies import kamoda

FEATURES = ["formality", "amount_info", "factuality"]
TRUTH = np.array([0.3, 0.7, 2.0])


@pytest.fixture
def ratings():
    """Distances of 240 ratings of 80 answers to 20 questions."""
    rng = np.random.default_rng(6)
    distances = rng.integers(0, 4, size=(240, 3)) / 3
    table = pd.DataFrame(distances, columns=FEATURES)
    noise = rng.normal(scale=0.3, size=240)
    answers = np.arange(240) // 3
    return table.assign(
        distance=distances @ TRUTH + noise, answer_id=answers, question_id=answers // 4
    )


def test_distance_is_zero_at_the_ideal_and_one_at_the_far_end():
    frame = pd.DataFrame({"low_is_best": [1, 3, 5], "inside": [0, 2, 3]})
    result = aspects.ideal_distance(
        frame,
        ["low_is_best", "inside"],
        {"low_is_best": 1, "inside": 2},
        {"low_is_best": (1, 5), "inside": (0, 3)},
    )
    assert result["low_is_best"].tolist() == [0, 0.5, 1]
    assert result["inside"].tolist() == [1, 0, 0.5]


def test_a_rating_off_its_scale_is_located():
    frame = pd.DataFrame({"factuality": [3, 4]}, index=["a", "b"])
    expected = r"column 'factuality' is 4 in row b, outside its range from 0 to 3: correct the rat"
    with pytest.raises(ValueError, match=expected):
        aspects.ideal_distance(frame, ["factuality"], {"factuality": 3}, {"factuality": (0, 3)})


@pytest.mark.parametrize(("ideals", "ranges"), [({}, {"x": (0, 1)}), ({"x": 0}, {})])
def test_every_aspect_needs_an_ideal_and_a_range(ideals, ranges):
    with pytest.raises(ValueError, match="aspect 'x' needs an entry in both ideals and ranges"):
        aspects.ideal_distance(pd.DataFrame({"x": [0, 1]}), ["x"], ideals, ranges)


def test_weighted_ratings_lose_each_weight_at_the_far_end():
    frame = pd.DataFrame({"low_is_best": [1, 5, 5], "inside": [2, 2, 0]}, index=list("abc"))
    result = aspects.weighted_rating(
        frame,
        pd.Series({"inside": 0.5, "low_is_best": 2.0}),
        {"low_is_best": 1, "inside": 2, "all": 3},
        {"low_is_best": (1, 5), "inside": (0, 3)},
        "all",
    )
    assert result.to_dict() == {"a": 3.0, "b": 1.0, "c": 0.5}


def test_distances_refuse_missing_ratings():
    frame = pd.DataFrame({"x": [0, None]})
    with pytest.raises(ValueError, match="column 'x' has 1 missing value, first in row 1"):
        aspects.ideal_distance(frame, ["x"], {"x": 0}, {"x": (0, 1)})


def test_weights_are_least_squares_without_intercept(ratings):
    result = aspects.weights(ratings, FEATURES, "distance")
    model = LinearRegression(fit_intercept=False).fit(ratings[FEATURES], ratings["distance"])
    np.testing.assert_allclose(result, model.coef_, rtol=1e-10)
    assert list(result.index) == FEATURES


def test_weights_recover_an_exact_sum(ratings):
    exact = ratings.assign(distance=ratings[FEATURES] @ TRUTH)
    np.testing.assert_allclose(aspects.weights(exact, FEATURES, "distance"), TRUTH, rtol=1e-10)


def test_weights_name_the_feature_that_is_redundant(ratings):
    table = ratings.assign(double=ratings["formality"] * 2)
    expected = "feature 'double' is a combination of formality: leave it out"
    for held_out in (None, np.arange(240)[None, :] < 48):
        extra = () if held_out is None else (held_out,)
        function = aspects.weights if held_out is None else aspects.split_weights
        with pytest.raises(ValueError, match=expected):
            function(table, ["formality", "double"], "distance", *extra)


def test_bootstrap_weights_equal_refits_from_resampled_rows(ratings):
    moments = cluster_moments(ratings, FEATURES, "distance", "question_id")
    draws = aspects.bootstrap_weights(moments, 20, np.random.default_rng(2))
    for draw, times in zip(
        draws.to_numpy(), cluster_weights(20, 20, np.random.default_rng(2)), strict=True
    ):
        rows = ratings.loc[ratings.index.repeat(times[ratings["question_id"]])]
        expected = aspects.weights(rows, FEATURES, "distance")
        np.testing.assert_allclose(draw, expected, rtol=1e-10)


def test_a_feature_absent_from_a_replicate_has_weight_zero_there():
    frame = pd.DataFrame({"a": [1.0, 0.0], "b": [0.0, 1.0], "distance": [2.0, 3.0]})
    moments = cluster_moments(frame, ["a", "b"], "distance")
    draws = aspects.bootstrap_weights(moments, 50, np.random.default_rng(0))
    assert set(map(tuple, draws.round(9).to_numpy())) == {(2.0, 3.0), (2.0, 0.0), (0.0, 3.0)}


@pytest.mark.parametrize(("group", "n_test"), [(None, 48), ("answer_id", 16), ("question_id", 4)])
def test_splits_hold_out_the_share_in_whole_groups(ratings, group, n_test):
    held_out = aspects.random_splits(ratings, 30, 0.2, np.random.default_rng(0), group)
    labels = ratings.index if group is None else ratings[group]
    assert held_out.shape == (30, 240)
    assert len(np.unique(held_out, axis=0)) == 30
    for test in held_out:
        assert labels[test].nunique() == n_test
        assert not set(labels[test]) & set(labels[~test])


def test_every_group_is_held_out_equally_often(ratings):
    held_out = aspects.random_splits(ratings, 20_000, 0.25, np.random.default_rng(0), "question_id")
    np.testing.assert_allclose(held_out.mean(axis=0), 0.25, atol=0.015)


def test_splits_refuse_an_empty_part_and_unknown_groups(ratings):
    rng = np.random.default_rng(0)
    for share in (0.0, 0.01, 1.0):
        expected = f"test_share {share} of 20 groups leaves one part of a split empty"
        with pytest.raises(ValueError, match=expected):
            aspects.random_splits(ratings, 5, share, rng, "question_id")
    with pytest.raises(ValueError, match="column 'topic' is not in the table"):
        aspects.random_splits(ratings, 5, 0.2, rng, "topic")


@pytest.mark.parametrize("group", [None, "answer_id", "question_id"])
def test_split_weights_equal_scikit_learn_on_the_same_splits(ratings, group):
    held_out = aspects.random_splits(ratings, 25, 0.2, np.random.default_rng(3), group)
    result = aspects.split_weights(ratings, FEATURES, "distance", held_out)
    expected = []
    for test in held_out:
        train, rest = ratings[~test], ratings[test]
        model = LinearRegression(fit_intercept=False).fit(train[FEATURES], train["distance"])
        rho = np.corrcoef(model.predict(rest[FEATURES]), rest["distance"])[0, 1]
        expected.append([*model.coef_, rho])
    assert list(result.columns) == [*FEATURES, "rho"]
    np.testing.assert_allclose(result, expected, rtol=1e-9)


def test_rho_is_undefined_where_the_held_out_outcome_does_not_vary(ratings):
    held_out = np.zeros((1, 240), dtype=bool)
    held_out[0, :5] = True
    table = ratings.assign(distance=ratings["distance"].where(~held_out[0], 1.0))
    assert np.isnan(aspects.split_weights(table, FEATURES, "distance", held_out)["rho"]).all()


def test_split_weights_refuse_splits_of_another_table(ratings):
    with pytest.raises(ValueError, match=r"held_out is bool of shape \(1, 3\): give bool of shape"):
        aspects.split_weights(ratings, FEATURES, "distance", np.array([[True, False, False]]))


def test_published_weights_and_correlation_are_those_of_a_random_split(real_data):
    ratings = kamoda.load(real_data).ratings
    distances = aspects.ideal_distance(ratings, FEATURES, kamoda.IDEALS, kamoda.RANGES)
    table = distances.assign(distance=3 - ratings["acceptability"])
    held_out = aspects.random_splits(table, 2000, 0.2, np.random.default_rng(0))
    low, high = interval(aspects.split_weights(table, FEATURES, "distance", held_out))
    published = [0.335, 0.739, 2.048, 0.853]
    assert (low < published).all()
    assert (published < high).all()


def test_weights_from_other_questions_follow_people_as_well(real_data):
    study = kamoda.load(real_data)
    scales = (kamoda.IDEALS, kamoda.RANGES)
    ratings = study.ratings
    table = aspects.ideal_distance(ratings, FEATURES, *scales).assign(
        distance=3 - ratings["acceptability"]
    )
    people = study.answers()[["item_id", "question_id", "acceptability"]]
    judged = study.evaluators.merge(people, on="item_id", suffixes=("", "_human"))
    weights = aspects.weights(table, FEATURES, "distance")
    questions = np.unique(ratings["question_id"].to_numpy())
    own_question = ratings["question_id"].to_numpy() == questions[:, None]
    others = aspects.split_weights(table, FEATURES, "distance", own_question).set_axis(questions)
    others = others.loc[judged["question_id"], FEATURES].to_numpy()
    distances = aspects.ideal_distance(judged, FEATURES, *scales)
    scores = pd.DataFrame(
        {"all": -distances @ weights, "others": -(distances * others).sum(axis=1)}
    )
    for _, rows in judged.groupby("evaluator"):
        r = scores.loc[rows.index].corrwith(rows["acceptability_human"])
        assert abs(r["all"] - r["others"]) < 0.001
