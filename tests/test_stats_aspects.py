"""Distances from the ideal, weights, pairs of raters and trees, against refits."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from helpers.stats import aspects
from helpers.stats.bootstrap import cluster_weights, interval
from helpers.stats.moments import cluster_moments
from helpers.studies import kamoda

FEATURES = ["formality", "amount_info", "factuality"]
TRUTH = np.array([0.3, 0.7, 2.0])
MARKS = ["factuality", "formality"]


def of_two_raters(rows, columns):
    """Ratings of all ordered pairs of raters of an item, the first and the second."""
    pairs = [
        pair
        for _, part in rows.groupby("item_id")
        for pair in permutations(part[columns].to_numpy(dtype=float), 2)
    ]
    return np.array(pairs).transpose(1, 0, 2)


def least_squares(frame, features, outcome):
    """Weights by scikit-learn, without an intercept."""
    fit = LinearRegression(fit_intercept=False).fit(frame[features], frame[outcome])
    return pd.Series(fit.coef_, features)


@pytest.fixture(scope="module")
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


def test_scores_of_a_judge_lose_each_weight_at_the_far_end():
    frame = pd.DataFrame(
        {"low_is_best": [1, 5, 5], "inside": [2, 2, 0]}, index=list("abc")
    )
    result = aspects.judge_scores(
        frame.assign(all=2),
        pd.Series({"inside": 0.5, "low_is_best": 2.0}),
        {"low_is_best": 1, "inside": 2, "all": 3},
        {"low_is_best": (1, 5), "inside": (0, 3)},
        "all",
    )
    assert result["direct"].tolist() == [2, 2, 2]
    assert result["weighted"].to_dict() == {"a": 3.0, "b": 1.0, "c": 0.5}
    assert result["equal"].to_dict() == {"a": 3.0, "b": 1.75, "c": 0.5}


def test_split_weights_name_the_feature_that_is_redundant(ratings):
    table = ratings.assign(double=ratings["formality"] * 2)
    expected = "feature 'double' is a combination of formality: leave it out"
    features = ["formality", "double"]
    held_out = np.arange(240)[None, :] < 48
    with pytest.raises(ValueError, match=expected):
        aspects.split_weights(table, features, "distance", held_out)


def test_bootstrap_weights_equal_refits_from_resampled_rows(ratings):
    moments = cluster_moments(ratings, FEATURES, "distance", "question_id")
    draws = aspects.bootstrap_weights(moments, 5, np.random.default_rng(2))
    for draw, times in zip(
        draws.to_numpy(), cluster_weights(20, 5, np.random.default_rng(2)), strict=True
    ):
        rows = ratings.loc[ratings.index.repeat(times[ratings["question_id"]])]
        expected = least_squares(rows, FEATURES, "distance")
        np.testing.assert_allclose(draw, expected, rtol=1e-10)


def test_a_feature_absent_from_a_replicate_has_weight_zero_there():
    frame = pd.DataFrame({"a": [1.0, 0.0], "b": [0.0, 1.0], "distance": [2.0, 3.0]})
    moments = cluster_moments(frame, ["a", "b"], "distance")
    draws = aspects.bootstrap_weights(moments, 50, np.random.default_rng(0))
    assert set(map(tuple, draws.round(9).to_numpy())) == {
        (2.0, 3.0),
        (2.0, 0.0),
        (0.0, 3.0),
    }


@pytest.mark.parametrize(
    ("group", "n_test"), [(None, 48), ("answer_id", 16), ("question_id", 4)]
)
def test_splits_hold_out_the_share_in_whole_groups(ratings, group, n_test):
    held_out = aspects.random_splits(ratings, 30, 0.2, np.random.default_rng(0), group)
    labels = ratings.index if group is None else ratings[group]
    assert held_out.shape == (30, 240)
    assert len(np.unique(held_out, axis=0)) == 30
    for test in held_out:
        assert labels[test].nunique() == n_test
        assert not set(labels[test]) & set(labels[~test])


def test_splits_refuse_an_empty_part_and_unknown_groups(ratings):
    rng = np.random.default_rng(0)
    for share in (0.0, 0.01, 1.0):
        expected = f"test_share {share} of 20 groups leaves one part of a split empty"
        with pytest.raises(ValueError, match=expected):
            aspects.random_splits(ratings, 5, share, rng, "question_id")
    with pytest.raises(ValueError, match="column 'topic' is not in the table"):
        aspects.random_splits(ratings, 5, 0.2, rng, "topic")


def test_split_weights_equal_scikit_learn_on_the_same_splits(ratings):
    held_out = aspects.random_splits(ratings, 8, 0.2, np.random.default_rng(3))
    result = aspects.split_weights(ratings, FEATURES, "distance", held_out)
    expected = []
    for test in held_out:
        train, rest = ratings[~test], ratings[test]
        model = LinearRegression(fit_intercept=False).fit(
            train[FEATURES], train["distance"]
        )
        rho = np.corrcoef(model.predict(rest[FEATURES]), rest["distance"])[0, 1]
        expected.append([*model.coef_, rho])
    assert list(result.columns) == [*FEATURES, "rho"]
    np.testing.assert_allclose(result, expected, rtol=1e-9)


def test_rho_is_undefined_where_the_held_out_outcome_does_not_vary(ratings):
    held_out = np.zeros((1, 240), dtype=bool)
    held_out[0, :5] = True
    table = ratings.assign(distance=ratings["distance"].where(~held_out[0], 1.0))
    assert np.isnan(
        aspects.split_weights(table, FEATURES, "distance", held_out)["rho"]
    ).all()


def test_weights_from_other_questions_hardly_change_how_a_judge_follows_people(
    real_data,
):
    study = kamoda.load(real_data)
    features = list(kamoda.ASPECTS)
    ideals = kamoda.IDEALS
    ranges = kamoda.RANGES
    distances = aspects.ideal_distance(study.ratings, list(ranges), ideals, ranges)
    judged = study.evaluators.merge(
        study.answers(), on="item_id", suffixes=("", "_human")
    )

    def weighted(rows, fitted_to):
        learned = ideals["acceptability"] * least_squares(
            fitted_to, features, "acceptability"
        )
        return aspects.judge_scores(rows, learned, ideals, ranges, "acceptability")[
            "weighted"
        ]

    from_all = weighted(judged, distances)
    from_others = []
    for question, rows in judged.groupby("question_id"):
        other_questions = distances[study.ratings["question_id"] != question]
        from_others.append(weighted(rows, other_questions))
    scores = judged.assign(all=from_all, others=pd.concat(from_others))
    changes = {}
    for judge, rows in scores.groupby("evaluator"):
        r = rows[["all", "others"]].corrwith(rows["acceptability_human"])
        changes[judge] = r["all"] - r["others"]
    assert sorted(changes) == ["gpt4", "gpt4_mean3", "llama2"]
    assert min(changes.values()) > 0
    assert max(changes.values()) < 0.001


def test_published_results_are_those_of_a_random_split(real_data):
    ratings = kamoda.load(real_data).ratings
    distances = aspects.ideal_distance(ratings, FEATURES, kamoda.IDEALS, kamoda.RANGES)
    table = distances.assign(distance=3 - ratings["acceptability"])
    held_out = aspects.random_splits(table, 400, 0.2, np.random.default_rng(0))
    low, high = interval(aspects.split_weights(table, FEATURES, "distance", held_out))
    published = [0.335, 0.739, 2.048, 0.853]
    assert (low < published).all()
    assert (published < high).all()
    trees = aspects.tree_splits(ratings, kamoda.ASPECTS, "acceptability", held_out[:40])
    assert trees["rho"].min() < 0.830 < trees["rho"].max()


@pytest.fixture(scope="module")
def raters():
    """Ratings of 40 answers by two or three raters who have general impressions."""
    rng = np.random.default_rng(7)
    answers = np.repeat(np.arange(40), 3)[:-15]
    impression = rng.normal(size=len(answers))
    quality = rng.normal(size=40)[answers]
    return pd.DataFrame(
        {
            "item_id": answers,
            "question_id": answers // 4,
            "factuality": quality + impression + rng.normal(size=len(answers)),
            "formality": impression + rng.normal(size=len(answers)),
            "acceptability": quality + impression,
        }
    )


@pytest.fixture(scope="module")
def marks():
    rng = np.random.default_rng(8)
    factuality = rng.integers(0, 4, size=300)
    formality = rng.integers(-1, 2, size=300)
    acceptability = (factuality + rng.integers(-1, 2, size=300)).clip(0, 3)
    return pd.DataFrame(
        {
            "factuality": factuality,
            "formality": formality,
            "acceptability": acceptability,
            "question_id": np.arange(300) // 12,
        }
    )


@pytest.fixture(scope="module")
def held_out(marks):
    return aspects.random_splits(marks, 8, 0.2, np.random.default_rng(1), "question_id")


def test_trees_of_counted_rows_are_the_trees_of_the_rows(marks, held_out):
    result = aspects.tree_splits(marks, MARKS, "acceptability", held_out, max_depth=2)
    expected = []
    for test in held_out:
        train, rest = marks[~test], marks[test]
        tree = DecisionTreeRegressor(max_depth=2, random_state=0)
        tree.fit(train[MARKS], train["acceptability"])
        rho = np.corrcoef(tree.predict(rest[MARKS]), rest["acceptability"])[0, 1]
        expected.append([*tree.feature_importances_, rho])
    assert list(result.columns) == [*MARKS, "rho"]
    np.testing.assert_allclose(result, expected, rtol=1e-9)
    tenths = marks.assign(acceptability=marks["acceptability"] / 10)
    scaled = aspects.tree_splits(tenths, MARKS, "acceptability", held_out, max_depth=2)
    np.testing.assert_allclose(scaled, expected, rtol=1e-9)


@pytest.mark.parametrize("column", ["factuality", "acceptability"])
def test_rho_of_trees_is_undefined_where_predictions_or_outcomes_do_not_vary(
    marks, column
):
    held_out = (marks[column] == 0).to_numpy()[None, :]
    result = aspects.tree_splits(marks, ["factuality"], "acceptability", held_out)
    assert np.isnan(result["rho"]).all()


def test_trees_refuse_unusable_columns(marks, held_out):
    unknown = ["amount_info"]
    message = "column 'amount_info' is not in the table"
    with pytest.raises(ValueError, match=message):
        aspects.tree_splits(marks, unknown, "acceptability", held_out)


def test_a_tree_table_tells_where_every_row_goes():
    x = [[0, -1], [0, 1], [3, -1], [3, 1]]
    tree = DecisionTreeRegressor().fit(x, [0, 0, 2, 3], sample_weight=[5, 1, 2, 2])
    table = aspects.tree_table(tree, MARKS)
    assert table["rule"].tolist() == [
        "all ratings",
        "factuality at most 1.5",
        "factuality above 1.5",
        "formality at most 0",
        "formality above 0",
    ]
    assert table["parent"].tolist() == [-1, 0, 0, 2, 2]
    assert table["depth"].tolist() == [0, 1, 1, 2, 2]
    assert table["n"].tolist() == [10, 6, 4, 2, 2]
    assert table["mean"].tolist() == [1.0, 0.0, 2.5, 2.0, 3.0]
    assert table["is_leaf"].tolist() == [False, True, False, True, True]


def test_thresholds_are_shown_with_three_digits():
    tree = DecisionTreeRegressor().fit([[1 / 3], [1]], [0, 1])
    assert (
        aspects.tree_table(tree, ["factuality"])["rule"].iloc[1]
        == "factuality at most 0.667"
    )


def test_weights_from_weights_of_rows_are_those_of_the_rows_that_are_left(ratings):
    keep = (np.arange(len(ratings)) % 3 > 0).astype(float)
    everything = np.ones(len(ratings))
    compute = aspects.weights_of(ratings, FEATURES, "distance")
    found = compute(np.array([everything, keep]))
    kept = ratings[keep > 0]
    for row, table in zip(found, (ratings, kept), strict=True):
        expected = least_squares(table, FEATURES, "distance")
        np.testing.assert_allclose(row, expected)


@pytest.mark.parametrize("without", [None, "rater", "question"])
def test_correlations_of_a_judge_agree_with_tables_made_step_by_step(without):
    study = kamoda.load("simulated", 1)
    ideals = {name: kamoda.IDEALS[name] for name in kamoda.RANGES}
    judge = study.evaluators[study.evaluators["evaluator"] == "llama2"]
    ratings = study.ratings
    given = (ideals, kamoda.RANGES, "acceptability")
    compute = aspects.judge_correlations(ratings, judge, *given)
    keep = np.ones(len(ratings), dtype=bool)
    if without == "rater":
        keep = (ratings["rater_id"] != ratings["rater_id"].iloc[0]).to_numpy()
    if without == "question":
        item = judge["item_id"].iloc[0]
        question = ratings.loc[ratings["item_id"] == item, "question_id"].iloc[0]
        keep = (ratings["question_id"] != question).to_numpy()
    found = compute(keep[None, :].astype(float))[0]

    left = ratings[keep]
    names = list(kamoda.ASPECTS)
    distances = aspects.ideal_distance(left, list(ideals), ideals, kamoda.RANGES)
    learned = 3 * least_squares(distances, names, "acceptability")
    by_item = left.groupby("item_id")
    answers = by_item[list(ideals)].mean()
    answers["question_id"] = by_item["question_id"].first()
    scored = aspects.judge_scores(judge, learned, *given)
    human = answers["acceptability"].rename("human")
    scored = scored.join(human, on="item_id", how="inner")
    people = aspects.judge_scores(answers, learned, *given).loc[scored["item_id"]]
    raw = aspects.judge_scores(left, learned, *given)
    raw = raw[raw["item_id"].isin(scored["item_id"])]
    one, other = of_two_raters(raw, ["weighted", "equal", "acceptability"])
    agreed = np.cov(one.T, other.T)[:3, 3:]
    agreed = agreed / np.sqrt(np.outer(np.diag(agreed), np.diag(agreed)))
    agreed = agreed[:-1, -1]
    expected = [scored[name].corr(scored["human"]) for name in aspects.JUDGE_SCORES]
    for name in ("weighted", "equal"):
        expected.append(people[name].corr(people["acceptability"]))
    np.testing.assert_allclose(found, [*expected, *agreed])


def test_weights_of_means_are_those_of_the_table_of_means():
    study = kamoda.load("simulated", 2)
    ideals = {name: kamoda.IDEALS[name] for name in kamoda.RANGES}
    ratings = study.ratings
    keep = (ratings["rater_id"] != ratings["rater_id"].iloc[0]).to_numpy()
    compute = aspects.weights_of_means(ratings, ideals, kamoda.RANGES, "acceptability")
    found = compute(keep[None, :].astype(float))[0]
    means = ratings[keep].groupby("item_id")[list(ideals)].mean()
    names = list(kamoda.ASPECTS)
    x = aspects.ideal_distance(means, names, ideals, kamoda.RANGES)
    missing = 3 - means["acceptability"]
    fit = LinearRegression(fit_intercept=False).fit(x, missing)
    np.testing.assert_allclose(found, fit.coef_)


def test_agreed_weights_are_those_of_the_pairs_that_are_left():
    rng = np.random.default_rng(6)
    frame = pd.DataFrame({"item_id": np.tile(np.arange(40), 4)})
    true = rng.normal(size=(40, 2))[frame["item_id"]]
    frame["factuality"] = true[:, 0] + rng.normal(size=160)
    frame["formality"] = true[:, 1] + rng.normal(size=160)
    frame["distance"] = true @ [2.0, 1.0] + rng.normal(size=160)
    features = ["factuality", "formality"]
    kept = rng.random(160) < 0.7
    compute = aspects.agreed_weights_of(frame, features, "distance", "item_id")
    found = compute(np.array([np.ones(160), kept]))
    for weights, rows in zip(found, [frame, frame[kept]], strict=True):
        one, other = of_two_raters(rows, [*features, "distance"])
        expected = np.linalg.solve(
            one[:, :2].T @ other[:, :2], one[:, :2].T @ other[:, 2]
        )
        assert weights == pytest.approx(expected)


def test_agreed_weights_need_two_raters_of_an_item():
    frame = pd.DataFrame({"item_id": [1, 2, 3], "tone": [0, 1, 2.0]})
    frame["distance"] = [0.0, 1, 3]
    with pytest.raises(ValueError, match="no item_id has two rows"):
        aspects.agreed_weights_of(frame, ["tone"], "distance", "item_id")
