"""Agreement and attention checks: tables by hand, other packages, resampled rows."""

import krippendorff
import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_rel
from statsmodels.stats.proportion import (
    confint_proportions_2indep,
)

from helpers.data.columns.hosking import ERRORS_1
from helpers.stats import agreement
from helpers.studies import hosking_submissions

# Gwet's AC1 by the independent package irrCAC 0.4.4, from CAC(table, categories=[0.0,
# 1.0, ...], digits=8).gwet() on the tables of `patterned_ratings`
IRRCAC_AC1 = {
    (40, 4, 3): 0.68096420,
    (50, 2, 4): 0.54818040,
}


def long(ratings_of_items):
    """One row per rating, from lists of ratings by item."""
    rows = [
        (item, value) for item, values in ratings_of_items.items() for value in values
    ]
    return pd.DataFrame(rows, columns=["item_id", "grade"])


def patterned_ratings(n_items, n_raters, n_categories):
    """Ratings that mostly agree, a fifth of them missing, without random numbers."""
    item, rater = np.divmod(np.arange(n_items * n_raters), n_raters)
    slip = np.where((7 * item + 5 * rater) % 6 == 0, rater + 1, 0)
    grade = np.where(
        (item + 2 * rater) % 5 == 0, np.nan, (item**2 + slip) % n_categories
    )
    return pd.DataFrame({"item_id": item, "grade": grade})


def random_ratings(seed, n_items=40):
    """Items of ten prompts with two to five ratings, some of them missing."""
    rng = np.random.default_rng(seed)
    item = np.repeat(np.arange(n_items), rng.integers(2, 6, n_items))
    grade = rng.integers(4, size=n_items)[item] + rng.integers(-1, 2, item.size)
    grade = np.where(rng.random(item.size) < 0.2, np.nan, grade.clip(0, 3))
    return pd.DataFrame({"item_id": item, "prompt_id": item % 10, "grade": grade})


def ac1_of(frame, categories=(0, 1)):
    return agreement.gwet_ac1(frame, "item_id", "grade", categories)


def alpha_of(frame, categories=(0, 1), level="nominal"):
    return agreement.krippendorff_alpha(frame, "item_id", "grade", categories, level)


def test_ac1_of_a_tiny_table_is_the_one_by_hand():
    frame = long({"a": [1, 1, 1], "b": [1, 0], "c": [0, 0, 0, 1], "d": [0]})
    # agreeing pairs: 3 of 3, 0 of 1, 3 of 6; d has no pair: (1 + 0 + 1 / 2) / 3
    # shares of 1: 1, 1/2, 1/4 and, for d, 0: 7/16
    # chance 2 · 9/16 · 7/16 = 63/128, so (64 - 63) / (128 - 63)
    assert ac1_of(frame) == pytest.approx(1 / 65)


def test_alpha_of_a_tiny_table_is_the_one_by_hand():
    frame = long({"a": [1, 1], "b": [1, 2], "c": [2, 4], "d": [4, 4], "e": [2]})
    alphas = {
        level: alpha_of(frame, [1, 2, 4], level)
        for level in agreement.MEASUREMENT_LEVELS
    }
    # pairable values: 1 three times, 2 twice, 4 three times; the pairs (1, 2) and (2,
    # 4) disagree; alpha = 1 - 7 · (sum over both orders of pairs) / (sum over both
    # orders of margins)
    assert alphas["nominal"] == pytest.approx(1 - 7 * 2 / (3 * 2 + 2 * 3 + 3 * 3))
    assert alphas["interval"] == pytest.approx(
        1 - 7 * (1 + 4) / (6 * 1 + 6 * 4 + 9 * 9)
    )
    # mid-ranks 1.5, 4 and 6.5
    assert alphas["ordinal"] == pytest.approx(
        1 - 7 * (2.5**2 + 2.5**2) / (12 * 2.5**2 + 9 * 5**2)
    )


def test_the_textbook_example_of_four_raters_has_its_published_coefficients():
    # alpha as in Krippendorff (2011), Computing Krippendorff's Alpha-Reliability;
    # agreement and AC1 as given by Gwet's package irrCAC for the same ratings, its data
    # set raw_4raters
    by_rater = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, np.nan, np.nan, np.nan],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, np.nan, 3],
        [np.nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, np.nan],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, np.nan],
    ]
    frame = long(dict(enumerate(zip(*by_rater, strict=True))))
    published = dict(
        zip(agreement.MEASUREMENT_LEVELS, [0.743, 0.815, 0.849], strict=True)
    )
    for level, alpha in published.items():
        assert round(alpha_of(frame, range(1, 6), level), 3) == alpha
    assert ac1_of(frame, range(1, 6)) == pytest.approx(0.77544, abs=5e-6)


@pytest.mark.parametrize("shape", IRRCAC_AC1)
def test_ac1_is_that_of_an_independent_package(shape):
    ac1 = ac1_of(patterned_ratings(*shape), range(shape[-1]))
    assert ac1 == pytest.approx(IRRCAC_AC1[shape], abs=5e-9)


@pytest.mark.parametrize("level", agreement.MEASUREMENT_LEVELS)
def test_alpha_is_that_of_a_matrix_of_raters(level):
    frame = random_ratings(4)
    rater = frame.groupby("item_id").cumcount()
    matrix = frame.assign(rater=rater).pivot(
        index="rater", columns="item_id", values="grade"
    )
    expected = krippendorff.alpha(reliability_data=matrix, level_of_measurement=level)
    assert alpha_of(frame, range(4), level) == pytest.approx(expected)


def test_extremes_of_agreement():
    opposed = long({"a": [0, 1], "b": [0, 1]})
    agreed = long({"a": [0, 0], "b": [1, 1]})
    assert (ac1_of(agreed), alpha_of(agreed)) == (1, 1)
    assert max(ac1_of(opposed), alpha_of(opposed)) < 0
    constant = long({"a": [0, 0], "b": [0, 0], "c": [0]})
    assert np.isnan(alpha_of(constant))
    assert ac1_of(constant) == 1
    rare = long({item: [0, 0, 0] for item in range(19)} | {19: [0, 0, 1]})
    assert alpha_of(rare) < 0.05 < 0.95 < ac1_of(rare)


def test_order_and_names_of_items_and_categories_do_not_matter():
    frame = random_ratings(2)
    other = frame.sample(frac=1, random_state=0).assign(
        item_id=lambda table: -table["item_id"], grade=lambda table: table["grade"] - 1
    )
    assert ac1_of(frame, range(4)) == pytest.approx(ac1_of(other, range(-1, 3)))
    for level in agreement.MEASUREMENT_LEVELS:
        once = alpha_of(frame, range(4), level)
        assert once == pytest.approx(alpha_of(other, range(-1, 3), level))


@pytest.mark.parametrize(
    ("changes", "categories", "level", "message"),
    [
        (
            {"item_id": list("abcd")},
            [0, 1],
            "nominal",
            "no item has two ratings of 'grade': rate ",
        ),
        (
            {"grade": list("xyxy")},
            [0, 1],
            "nominal",
            "column 'grade' is of type str: convert it",
        ),
        ({}, [0, 1], "rank", "level 'rank' is unknown: choose one of"),
        (
            {"item_id": ["a", "a", None, "b"]},
            [0, 1],
            "nominal",
            "column 'item_id' has 1 missing",
        ),
    ],
)
def test_ratings_and_scales_that_cannot_be_used_are_refused(
    changes, categories, level, message
):
    frame = long({"a": [0, 1], "b": [1, 1]}).assign(**changes)
    with pytest.raises(ValueError, match=message):
        alpha_of(frame, categories, level)


@pytest.fixture
def tidy():
    rows = pd.MultiIndex.from_product([list("abcde"), list("xyz"), range(4)])
    frame = rows.to_frame(index=False, name=["item_id", "aspect", "rater_id"])
    return frame.assign(
        value=np.random.default_rng(3).integers(0, 4, len(frame)).astype(float)
    )


def checks(n=40):
    """List n attention checks, and the same texts rated under their own prompts."""
    number = np.arange(n)
    sides = [
        pd.DataFrame(
            {
                "pair_id": number + offset * n,
                "rater_id": [f"rater {each % 7}" for each in number],
                "prompt_id": (number + shift) % n,
                "item_id": [f"{each}-{place}" for each in number],
                "response": [f"{kind} {each}" for each in number],
                "system": "x",
                "task": np.where(number % 2, "amazon", "wikihow"),
                "is_distractor": place == "distractor",
                "factuality": mark,
            }
        )
        for offset, place, shift, kind, mark in (
            (0, "distractor", 1, "text", 1.0),
            (0, "partner", 1, "other", 0.0),
            (1, "own", 0, "text", 0.25),
            (1, "beside", 0, "more", 0.75),
        )
    ]
    return pd.concat(sides, ignore_index=True)


def test_distractors_are_compared_with_the_response_beside_them():
    table = agreement.against_partner(checks(), ["factuality"]).loc["factuality"]
    assert table[["estimate", "n", "differ"]].tolist() == [100, 40, 40]
    ratings = checks()
    rng = np.random.default_rng(0)
    ratings["factuality"] = rng.integers(0, 2, len(ratings))
    ratings["score"] = rng.integers(1, 6, len(ratings))
    ordered = agreement.against_partner(ratings, ["factuality"], ["score"])
    shuffled = ratings.sample(frac=1, random_state=1)
    again = agreement.against_partner(shuffled, ["factuality"], ["score"])
    pd.testing.assert_frame_equal(ordered, again)


def test_with_a_check_a_person_the_interval_is_that_of_a_paired_t_test():
    ratings = checks()
    rng = np.random.default_rng(3)
    ratings["score"] = rng.normal(size=len(ratings))
    ratings["rater_id"] = ratings["pair_id"].map("rater {}".format)
    ratings["response"] = np.arange(len(ratings)).astype(str)  # each text once
    row = agreement.against_partner(ratings, [], ["score"]).loc["score"]
    pairs = ratings[ratings["pair_id"] < 40].pivot(
        index="pair_id", columns="is_distractor", values="score"
    )
    paired = ttest_rel(pairs[True], pairs[False])
    expected = paired.confidence_interval(0.95)
    assert row["low"] == pytest.approx(expected.low)
    assert row["high"] == pytest.approx(expected.high)
    assert row["p_value"] == pytest.approx(paired.pvalue)


def test_where_few_checks_differ_the_interval_is_newcombes_and_there_is_no_test():
    ratings = checks()
    ratings["factuality"] = 0
    distractor = ratings["is_distractor"] & (ratings["pair_id"] < 3)
    partner = ~ratings["is_distractor"] & ratings["pair_id"].isin([7, 8])
    ratings.loc[distractor | partner, "factuality"] = 1
    ratings["rater_id"] = ratings["pair_id"].map("rater {}".format)
    row = agreement.against_partner(ratings, ["factuality"]).loc["factuality"]
    expected = confint_proportions_2indep(3, 40, 2, 40, method="newcomb")
    assert row[["low", "high"]].tolist() == pytest.approx(100 * np.array(expected))
    assert np.isnan(row["p_value"])


def test_distractors_are_compared_with_their_text_under_its_own_prompt():
    row = agreement.against_same_text(checks(), ["factuality"]).loc["factuality"]
    assert row[["estimate", "n", "differ"]].tolist() == [75, 40, 40]


def test_texts_of_several_outputs_are_left_out():
    ratings = checks(4)
    again = ratings[ratings["item_id"] == "2-own"].assign(item_id="another", pair_id=99)
    table = agreement.against_same_text(pd.concat([ratings, again]), ["factuality"])
    assert table["n"].tolist() == [3]


def test_distractors_without_a_text_of_their_own_are_refused():
    with pytest.raises(ValueError, match="no distractor was rated under its "):
        agreement.against_same_text(checks().assign(response="same"), ["factuality"])


def test_factual_errors_are_charged_to_real_distractors(real_data):
    _, ratings = hosking_submissions.load_submissions(
        1, "errors", real_data, texts=True
    )
    errors = list(ERRORS_1)
    table = agreement.against_partner(ratings, errors)
    assert table["n"].eq(240).all()
    rise = ["factuality", "contradiction", "relevance", "refusal"]
    assert (table.loc[rise, "low"] > 0).all()
    assert table.loc["repetition", "low"] < 0 < table.loc["repetition", "high"]
    table = agreement.against_same_text(ratings, errors)
    assert table["n"].eq(109).all()
    assert table.loc["factuality", "low"] > 0


def test_two_people_agree_as_the_coefficients_and_the_other_raters_say():
    rng = np.random.default_rng(4)
    item = np.repeat(np.arange(60), rng.integers(1, 6, size=60))
    chance = rng.beta(0.5, 2, size=60)[item]
    marks = pd.DataFrame({"item_id": item, "refusal": rng.random(len(item)) < chance})
    marks["refusal"] = marks["refusal"].astype(int)
    keep = rng.random(len(item)) < 0.8
    compute = agreement.two_people(marks, "item_id", "refusal")
    found = compute(np.array([np.ones(len(item)), keep.astype(float)]))
    for row, table in zip(found, (marks, marks[keep]), strict=True):
        scale = ("item_id", "refusal", [0, 1])
        assert row[3] == pytest.approx(agreement.gwet_ac1(table, *scale))
        alpha = agreement.krippendorff_alpha(table, *scale, "nominal")
        assert row[4] == pytest.approx(alpha)
        by_item = table.groupby("item_id")["refusal"]
        n_others = by_item.transform("size") - 1
        others = (by_item.transform("sum") - table["refusal"]) / n_others
        marked = table["refusal"] == 1
        same = others.where(marked, 1 - others)
        expected = [others[marked].mean(), others[~marked].mean(), same.mean()]
        assert row[:3] == pytest.approx(100 * np.array(expected))
