import numpy as np
import pandas as pd
import pytest

from helpers.files.schemas import ERRORS_1
from helpers.stats import agreement
from helpers.studies import hosking_submissions

RNG = 20240917


def checks(n=40, marks=(1.0, 0.0)):
    """List n attention checks and the same texts, rated twice each, under their own prompts."""
    number = np.arange(n)
    sides = [
        pd.DataFrame(
            {
                "pair_id": number + offset * n,
                "prompt_id": number if place != "distractor" else (number + 1) % n,
                "item_id": [f"{each}-{place}" for each in number],
                "response": [f"{kind} {each}" for each in number],
                "system": "x",
                "task": np.where(number % 2, "amazon", "wikihow"),
                "is_distractor": place == "distractor",
                "factuality": mark,
            }
        )
        for offset, place, kind, mark in (
            (0, "distractor", "text", marks[0]),
            (0, "partner", "other", marks[1]),
            (1, "own", "text", 0.25),
            (1, "beside", "more", 0.75),
        )
    ]
    sides[1]["prompt_id"] = (number + 1) % n
    return pd.concat(sides, ignore_index=True)


def compare(function, ratings, n_boot=200):
    table = function(ratings, ["factuality"], n_boot, np.random.default_rng(RNG))
    return table.loc["factuality"]


@pytest.mark.parametrize(
    ("function", "n", "other"),
    [
        (agreement.against_partner, 40, 0.0),
        (agreement.against_system, 40, 0.5),
        (agreement.against_same_text, 40, 0.25),
    ],
)
def test_distractors_are_compared_with_the_right_responses(function, n, other):
    row = compare(function, checks())
    assert row["n"] == n
    assert row["distractor"] == 1
    assert row["other"] == other
    assert row["estimate"] == pytest.approx(1 - other)
    assert row["low"] == pytest.approx(1 - other)
    assert row["p_value"] == pytest.approx(2 / 201)


@pytest.mark.parametrize(
    "function",
    [agreement.against_partner, agreement.against_system, agreement.against_same_text],
)
def test_row_order_does_not_matter(function):
    ratings = checks()
    ratings["factuality"] = np.random.default_rng(0).integers(0, 2, len(ratings)).astype(float)
    shuffled = ratings.sample(frac=1, random_state=1)
    found, expected = compare(function, shuffled), compare(function, ratings)
    np.testing.assert_allclose(found.astype(float), expected.astype(float))


def test_a_change_is_found_with_its_uncertainty():
    rng = np.random.default_rng(1)
    ratings = checks(400)
    chance = np.where(ratings["is_distractor"], 0.5, 0.2)
    ratings["factuality"] = (rng.random(len(ratings)) < chance).astype(float)
    row = compare(agreement.against_partner, ratings, 2000)
    error = np.sqrt((0.25 + 0.16) / 400)
    assert row["estimate"] == pytest.approx(0.3, abs=4 * error)
    assert row["high"] - row["low"] == pytest.approx(2 * 1.96 * error, rel=0.15)


def test_each_system_counts_as_much_as_among_the_distractors():
    ratings = checks(4).assign(system=["x", "x", "x", "y"] * 4)
    own = ratings["pair_id"] >= 4
    ratings.loc[own & (ratings["system"] == "x"), "factuality"] = 0.0
    ratings.loc[own & (ratings["system"] == "y"), "factuality"] = 1.0
    unbalanced = pd.concat([ratings, ratings[own & (ratings["system"] == "y")]])
    assert compare(agreement.against_system, unbalanced)["other"] == pytest.approx(0.25)


def test_texts_of_several_outputs_are_left_out():
    ratings = checks(4)
    again = ratings[ratings["item_id"] == "2-own"].assign(item_id="another", pair_id=99)
    assert compare(agreement.against_same_text, pd.concat([ratings, again]))["n"] == 3


def test_ranks_tell_ties_from_lower_scores():
    ratings = checks(4)
    scores = {True: [1, 2, 3, 5], False: [2, 2, 4, 4]}
    for side, given in scores.items():
        ratings.loc[(ratings["is_distractor"] == side) & (ratings["pair_id"] < 4), "score"] = given
    table = agreement.rank_shares(ratings, "score", "task")
    assert table.loc["wikihow", ["checks", "lower", "not_higher"]].tolist() == [2, 100, 100]
    assert table.loc["amazon", ["checks", "lower", "not_higher"]].tolist() == [2, 0, 50]


def test_intervals_of_shares_are_wilsons():
    ratings = checks(50).assign(score=lambda rows: np.where(rows["is_distractor"], 1, 5))
    row = agreement.rank_shares(ratings, "score", "system").loc["x"]
    z2 = 1.959964**2
    assert row["lower_low"] == pytest.approx(100 * 50 / (50 + z2), abs=1e-3)
    assert row["lower_high"] == pytest.approx(100)


def test_ratings_without_checks_are_an_error():
    ratings = checks().query("not is_distractor")
    with pytest.raises(ValueError, match="no row is a distractor: there is no attention check"):
        compare(agreement.against_partner, ratings)


def test_a_check_of_two_distractors_is_an_error():
    with pytest.raises(ValueError, match="an attention check is not one distractor beside one re"):
        compare(agreement.against_partner, checks().assign(is_distractor=True))


def test_texts_that_were_never_rated_elsewhere_are_an_error():
    ratings = checks().query("pair_id < 40")
    with pytest.raises(ValueError, match="no distractor was rated under its own prompt"):
        compare(agreement.against_same_text, ratings)


@pytest.fixture(scope="module")
def collected(real_data):
    return hosking_submissions.load_submissions(1, "errors", real_data, texts=True).ratings


def test_factuality_and_contradiction_are_charged_to_distractors(collected):
    table = agreement.against_partner(collected, list(ERRORS_1), 500, np.random.default_rng(RNG))
    assert table["n"].eq(240).all()
    assert (table.loc[["factuality", "contradiction", "relevance", "refusal"], "low"] > 0).all()
    assert table.loc["repetition", "low"] < 0 < table.loc["repetition", "high"]


def test_109_distractors_were_rated_under_their_own_prompt(collected):
    table = agreement.against_same_text(collected, list(ERRORS_1), 500, np.random.default_rng(RNG))
    assert table["n"].eq(109).all()
    assert table.loc["factuality", "low"] > 0
