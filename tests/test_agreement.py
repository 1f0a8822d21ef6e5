"""Agreement against tables worked by hand, other packages and explicit resampling of rows."""

import krippendorff
import numpy as np
import pandas as pd
import pytest

from helpers.stats import agreement

# Gwet's AC1 by the independent package irrCAC 0.4.4, from
# CAC(table, categories=[0.0, 1.0, ...], digits=8).gwet() on the tables of `patterned_ratings`
IRRCAC_AC1 = {
    (30, 3, 2): 0.57647059,
    (40, 4, 3): 0.68096420,
    (25, 6, 5): 0.66064473,
    (50, 2, 4): 0.54818040,
}


def long(ratings_of_items):
    """One row per rating, from lists of ratings by item."""
    rows = [(item, value) for item, values in ratings_of_items.items() for value in values]
    return pd.DataFrame(rows, columns=["item_id", "grade"])


def patterned_ratings(n_items, n_raters, n_categories):
    """Ratings that mostly agree, a fifth of them missing, the same with every generator."""
    item, rater = np.divmod(np.arange(n_items * n_raters), n_raters)
    slip = np.where((7 * item + 5 * rater) % 6 == 0, rater + 1, 0)
    grade = np.where((item + 2 * rater) % 5 == 0, np.nan, (item**2 + slip) % n_categories)
    return pd.DataFrame({"item_id": item, "grade": grade})


def random_ratings(seed, categories=(0, 1, 2, 3), n_items=40):
    """Items of ten prompts with two to five ratings, some of them missing."""
    rng = np.random.default_rng(seed)
    item = np.repeat(np.arange(n_items), rng.integers(2, 6, n_items))
    position = rng.integers(len(categories), size=n_items)[item] + rng.integers(-1, 2, item.size)
    grade = np.array(categories, dtype=float)[position.clip(0, len(categories) - 1)]
    grade[rng.random(item.size) < 0.2] = np.nan
    return pd.DataFrame({"item_id": item, "prompt_id": item % 10, "grade": grade})


def two_aspects(seed):
    """Error labels of which one is common and one is rare."""
    table = random_ratings(seed, categories=(0, 1))
    rare = np.where(np.random.default_rng(seed).random(len(table)) < 0.1, 1 - table["grade"], 0)
    return table.rename(columns={"grade": "common"}).assign(rare=rare)


def resampled_tables(frame, n_boot, seed):
    """The tables that the replicates of a seed stand for; every copy of an item is a new item."""
    labels = np.sort(frame["prompt_id"].unique())
    weights = agreement.cluster_weights(len(labels), n_boot, np.random.default_rng(seed))
    for row in weights:
        copies = [
            frame[frame["prompt_id"] == label].assign(copy=copy)
            for label, times in zip(labels, row, strict=True)
            for copy in range(times)
        ]
        table = pd.concat(copies)
        yield table.assign(item_id=table.groupby(["item_id", "copy"]).ngroup())


def table_of(frame, aspects=("grade",), categories=(0, 1, 2, 3), n_boot=50, **options):
    """The agreement table with intervals over prompts."""
    rng = np.random.default_rng(options.pop("seed", 1))
    return agreement.agreement_table(
        frame, list(aspects), "item_id", "prompt_id", categories, n_boot, rng, **options
    )


def test_counts_are_those_of_the_table_with_zeros_for_items_without_ratings():
    frame = long({"b": [1, 3, 3], "a": [2, np.nan], "c": [np.nan]})
    counts = agreement.rating_counts(frame, "item_id", "grade", [1, 2, 3])
    assert counts.index.tolist() == ["a", "b", "c"]
    assert counts.columns.tolist() == [1, 2, 3]
    assert counts.to_numpy().tolist() == [[0, 1, 0], [1, 0, 2], [0, 0, 0]]


def test_agreement_of_a_tiny_table_is_the_one_by_hand():
    frame = long({"a": [1, 1, 1], "b": [1, 0], "c": [0, 0, 0, 1], "d": [0]})
    scale = ("item_id", "grade", [0, 1])
    # agreeing pairs: 3 of 3, 0 of 1, 3 of 6; d has no pair
    assert agreement.observed_agreement(frame, *scale) == pytest.approx((1 + 0 + 1 / 2) / 3)
    # shares of 1: 1, 1/2, 1/4 and, for d, 0
    assert agreement.prevalence(frame, *scale).tolist() == pytest.approx([9 / 16, 7 / 16])
    # chance 2 · 9/16 · 7/16 = 63/128, so (64 - 63) / (128 - 63)
    assert agreement.gwet_ac1(frame, *scale) == pytest.approx(1 / 65)


def test_alpha_of_a_tiny_table_is_the_one_by_hand():
    frame = long({"a": [1, 1], "b": [1, 2], "c": [2, 4], "d": [4, 4], "e": [2]})
    alphas = {
        level: agreement.krippendorff_alpha(frame, "item_id", "grade", [1, 2, 4], level)
        for level in agreement.LEVELS
    }
    # pairable values: 1 three times, 2 twice, 4 three times; the pairs (1, 2) and (2, 4) disagree;
    # alpha = 1 - 7 · (sum over both orders of pairs) / (sum over both orders of margins)
    assert alphas["nominal"] == pytest.approx(1 - 7 * 2 / (3 * 2 + 2 * 3 + 3 * 3))
    assert alphas["interval"] == pytest.approx(1 - 7 * (1 + 4) / (6 * 1 + 6 * 4 + 9 * 9))
    # mid-ranks 1.5, 4 and 6.5
    assert alphas["ordinal"] == pytest.approx(1 - 7 * (2.5**2 + 2.5**2) / (12 * 2.5**2 + 9 * 5**2))
    # (1 / 3)², (2 / 6)² and (3 / 5)²
    assert alphas["ratio"] == pytest.approx(1 - 7 * (2 / 9) / (12 / 9 + 9 * 9 / 25))


def test_the_textbook_example_of_four_raters_has_its_published_coefficients():
    # alpha as in Krippendorff (2011), Computing Krippendorff's Alpha-Reliability; agreement and
    # AC1 as given by Gwet's package irrCAC for the same ratings, its data set raw_4raters
    by_rater = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, np.nan, np.nan, np.nan],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, np.nan, 3],
        [np.nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, np.nan],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, np.nan],
    ]
    frame = long(dict(enumerate(zip(*by_rater, strict=True))))
    scale = ("item_id", "grade", range(1, 6))
    alphas = [agreement.krippendorff_alpha(frame, *scale, level) for level in agreement.LEVELS]
    assert np.round(alphas, 3).tolist() == [0.743, 0.815, 0.849, 0.797]
    assert agreement.observed_agreement(frame, *scale) == pytest.approx(0.81818, abs=5e-6)
    assert agreement.gwet_ac1(frame, *scale) == pytest.approx(0.77544, abs=5e-6)


@pytest.mark.parametrize("shape", IRRCAC_AC1)
def test_ac1_is_that_of_an_independent_package(shape):
    ac1 = agreement.gwet_ac1(patterned_ratings(*shape), "item_id", "grade", range(shape[-1]))
    assert ac1 == pytest.approx(IRRCAC_AC1[shape], abs=5e-9)


@pytest.mark.parametrize("level", agreement.LEVELS)
@pytest.mark.parametrize("seed", range(5))
def test_alpha_is_that_of_a_matrix_of_raters_and_items(seed, level):
    frame = random_ratings(seed)
    matrix = frame.assign(rater=frame.groupby("item_id").cumcount()).pivot(
        index="rater", columns="item_id", values="grade"
    )
    expected = krippendorff.alpha(reliability_data=matrix, level_of_measurement=level)
    alpha = agreement.krippendorff_alpha(frame, "item_id", "grade", range(4), level)
    assert alpha == pytest.approx(expected, rel=1e-12)


def test_raters_who_always_agree_have_agreement_one_and_opposed_raters_less_than_chance():
    agreed = long({"a": [0, 0], "b": [1, 1], "c": [1, 1]})
    opposed = long({"a": [0, 1], "b": [0, 1]})
    for statistic in (agreement.gwet_ac1, nominal_alpha):
        assert statistic(agreed, "item_id", "grade", [0, 1]) == 1
        assert statistic(opposed, "item_id", "grade", [0, 1]) < 0


def nominal_alpha(*arguments):
    """Krippendorff's alpha for unordered categories."""
    return agreement.krippendorff_alpha(*arguments, "nominal")


def test_without_any_variation_alpha_is_undefined_and_ac1_is_one():
    frame = long({"a": [0, 0], "b": [0, 0], "c": [1]})
    assert np.isnan(nominal_alpha(frame, "item_id", "grade", [0, 1]))
    constant = long({"a": [0, 0], "b": [0, 0]})
    assert agreement.gwet_ac1(constant, "item_id", "grade", [0, 1]) == 1


def test_a_category_that_nobody_uses_lowers_chance_agreement_of_ac1_only():
    frame = patterned_ratings(30, 3, 2)
    narrow, wide = (("item_id", "grade", range(size)) for size in (2, 5))
    assert agreement.gwet_ac1(frame, *wide) > agreement.gwet_ac1(frame, *narrow)
    assert nominal_alpha(frame, *wide) == pytest.approx(nominal_alpha(frame, *narrow))


def test_agreement_ignores_order_of_rows_and_names_of_items_categories_and_aspects():
    frame = random_ratings(3)
    shuffled = frame.sample(frac=1, random_state=0).assign(item_id=lambda table: -table["item_id"])
    relabelled = frame.assign(grade=frame["grade"].map({0: 7, 1: 5, 2: 6, 3: 9}))
    for statistic in (agreement.gwet_ac1, agreement.observed_agreement, nominal_alpha):
        expected = statistic(frame, "item_id", "grade", range(4))
        assert statistic(shuffled, "item_id", "grade", range(4)) == pytest.approx(expected)
        assert statistic(relabelled, "item_id", "grade", [5, 6, 7, 9]) == pytest.approx(expected)


def test_the_table_ignores_order_of_rows():
    frame = random_ratings(3)
    shuffled = frame.sample(frac=1, random_state=0)
    pd.testing.assert_frame_equal(table_of(frame), table_of(shuffled))


def test_ac1_and_its_replicates_stay_the_same_when_all_clusters_hold_every_item_twice():
    frame = random_ratings(3)
    twice = pd.concat([frame, frame.assign(item_id=frame["item_id"] + 1000)])
    columns = ["prevalence", "observed_agreement", "ac1", "ac1_low", "ac1_high"]
    pd.testing.assert_frame_equal(table_of(frame)[columns], table_of(twice)[columns])


@pytest.mark.parametrize("level", agreement.LEVELS)
def test_intervals_are_those_of_resampled_rows(level):
    frame, scale = random_ratings(4), ("item_id", "grade", range(4))
    tables = list(resampled_tables(frame, n_boot=40, seed=1))
    ac1 = [agreement.gwet_ac1(table, *scale) for table in tables]
    alpha = [agreement.krippendorff_alpha(table, *scale, level) for table in tables]
    row = table_of(frame, n_boot=40, level=level).iloc[0]
    expected = np.quantile([ac1, alpha], [0.025, 0.975], axis=1).T.ravel()
    bounds = row[["ac1_low", "ac1_high", "alpha_low", "alpha_high"]].to_numpy(dtype=float)
    np.testing.assert_allclose(bounds, expected, rtol=1e-10)


def test_the_table_holds_the_single_statistics_of_each_aspect():
    frame = two_aspects(6)
    table = table_of(frame, ["common", "rare"], [0, 1]).set_index("aspect")
    for aspect, row in table.iterrows():
        scale = (frame, "item_id", aspect, [0, 1])
        ratings = frame.groupby("item_id")[aspect].count()
        assert row["n_items"] == (ratings >= 2).sum()
        assert row["n_ratings"] == ratings.sum()
        assert row["prevalence"] == agreement.prevalence(*scale)[1]
        assert row["observed_agreement"] == agreement.observed_agreement(*scale)
        assert row["ac1"] == agreement.gwet_ac1(*scale)
        assert row["alpha"] == nominal_alpha(*scale)


def test_ac1_stays_high_for_a_rare_error_where_alpha_does_not():
    frame = long({item: [0, 0, 0] for item in range(19)} | {19: [0, 0, 1]})
    assert agreement.gwet_ac1(frame, "item_id", "grade", [0, 1]) > 0.95
    assert nominal_alpha(frame, "item_id", "grade", [0, 1]) < 0.05


def test_each_aspect_can_have_a_scale_of_its_own():
    frame = random_ratings(2).assign(sign=lambda table: table["grade"] - 1)
    scales = {"grade": range(4), "sign": range(-1, 3)}
    table = table_of(frame, ["grade", "sign"], scales, level="interval").drop(columns="aspect")
    np.testing.assert_allclose(table.iloc[0], table.iloc[1], rtol=1e-12)


def test_stacked_aspects_of_different_levels_agree_more_than_each_alone():
    frame = random_ratings(2).assign(far=lambda table: table["grade"] + 10)
    stacked = frame.melt(["item_id", "prompt_id"], ["grade", "far"], value_name="value")
    stacked["unit"] = stacked["item_id"].astype(str) + stacked["variable"]
    together = agreement.krippendorff_alpha(stacked, "unit", "value", range(14), "interval")
    alone = agreement.krippendorff_alpha(frame, "item_id", "grade", range(4), "interval")
    assert together > 0.9 > alone


def test_replicates_without_variation_are_left_out_of_the_interval_of_alpha():
    frame = long({"a": [0, 0], "b": [0, 0], "c": [0, 1]}).assign(prompt_id=lambda t: t["item_id"])
    row = table_of(frame, categories=[0, 1], n_boot=200).iloc[0]
    assert row[["alpha", "alpha_low", "alpha_high"]].notna().all()
    constant = frame.assign(grade=0)
    row = table_of(constant, categories=[0, 1]).iloc[0]
    assert row[["alpha", "alpha_low", "alpha_high"]].isna().all()
    assert row["ac1_low"] == row["ac1_high"] == 1


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    # a prompt is hard (an error with chance 0.5) or easy (0.1); three ratings of two items each
    rng = np.random.default_rng(8)
    chance = np.array([0.5, 0.1])
    observed, share = (chance**2 + (1 - chance) ** 2).mean(), chance.mean()
    by_chance = 2 * share * (1 - share)
    truth = (observed - by_chance) / (1 - by_chance)
    item = np.repeat(np.arange(120), 3)
    frame = pd.DataFrame({"item_id": item, "prompt_id": item // 2})
    covered = []
    for _ in range(150):
        difficulty = rng.choice(chance, size=60)
        frame["grade"] = (rng.random(item.size) < difficulty[frame["prompt_id"]]).astype(float)
        row = table_of(frame, categories=[0, 1], n_boot=300).iloc[0]
        covered.append(row["ac1_low"] <= truth <= row["ac1_high"])
    assert 0.88 < np.mean(covered) < 0.99


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"grade": [0, 1, 2, 1]}, r"column 'grade' is 2 in row 2, which is not one of \[0, 1\]: "),
        ({"item_id": list("abcd")}, "no item has two ratings of 'grade': rate some items repeat"),
        ({"grade": [0, np.nan, 1, np.nan]}, "no item has two ratings of 'grade'"),
        ({"grade": list("xyxy")}, "column 'grade' is of type str: convert it to numbers"),
        ({"item_id": ["a", "a", None, "b"]}, "column 'item_id' has 1 missing value, first in row"),
    ],
)
def test_ratings_that_cannot_be_used_are_refused(changes, message):
    frame = long({"a": [0, 1], "b": [1, 1]}).assign(**changes)
    with pytest.raises(ValueError, match=message):
        agreement.gwet_ac1(frame, "item_id", "grade", [0, 1])


def test_unknown_columns_are_refused():
    frame = long({"a": [0, 1], "b": [1, 1]})
    with pytest.raises(ValueError, match="column 'factuality' is not in the table"):
        agreement.gwet_ac1(frame, "item_id", "factuality", [0, 1])
    with pytest.raises(ValueError, match="column 'answer' is not in the table"):
        agreement.observed_agreement(frame, "answer", "grade", [0, 1])
    with pytest.raises(ValueError, match="column 'prompt_id' is not in the table"):
        table_of(frame)


@pytest.mark.parametrize("categories", [[], [1], [1, 0], [0, 0, 1], [0, np.nan]])
def test_scales_that_are_not_increasing_are_refused(categories):
    frame = long({"a": [0, 1], "b": [1, 1]})
    with pytest.raises(ValueError, match="give two or more values in increasing order"):
        agreement.prevalence(frame, "item_id", "grade", categories)


def test_levels_of_measurement_that_do_not_fit_are_refused():
    frame = long({"a": [0, 1], "b": [1, -1]})
    with pytest.raises(ValueError, match="level 'rank' is unknown: choose one of"):
        agreement.krippendorff_alpha(frame, "item_id", "grade", [-1, 0, 1], "rank")
    with pytest.raises(ValueError, match="category -1 of 'grade' is negative: level 'ratio' needs"):
        agreement.krippendorff_alpha(frame, "item_id", "grade", [-1, 0, 1], "ratio")


def test_an_item_in_two_clusters_is_refused():
    frame = random_ratings(1).assign(prompt_id=lambda table: np.arange(len(table)) % 3)
    with pytest.raises(ValueError, match="item 0 belongs to several 'prompt_id': name clusters"):
        table_of(frame)


def test_an_aspect_without_a_scale_is_refused():
    with pytest.raises(ValueError, match="aspect 'grade' has no categories; there are some for: x"):
        table_of(random_ratings(1), categories={"x": [0, 1]})
