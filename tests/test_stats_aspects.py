"""Distances from the ideal, scores of judges and tables of trees, against refits."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from helpers.stats import aspects
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
