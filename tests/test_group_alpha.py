import krippendorff
import numpy as np
import pandas as pd
import pytest

from helpers.files.ratings import to_tidy
from helpers.stats.agreement import alpha_at_once, deal_out, group_alphas, stack_aspects
from helpers.studies import kamoda


@pytest.fixture
def ratings():
    rng = np.random.default_rng(3)
    rows = pd.MultiIndex.from_product(
        [list("abcde"), ["x", "y", "z"], range(4)], names=["item_id", "aspect", "rater_id"]
    ).to_frame(index=False)
    return rows.assign(value=rng.integers(0, 4, len(rows)).astype(float))


def alphas(frame):
    return group_alphas(frame, "item_id", "aspect", "value")


def by_package(frame):
    table = frame.pivot(index="rater_id", columns="aspect", values="value").to_numpy()
    return krippendorff.alpha(reliability_data=table, level_of_measurement="interval")


def test_every_group_has_the_alpha_of_the_package(ratings):
    expected = {name: by_package(group) for name, group in ratings.groupby("item_id")}
    assert alphas(ratings).to_dict() == pytest.approx(expected)


def test_missing_ratings_and_single_ratings_are_left_out_as_in_the_package(ratings):
    ratings.loc[[0, 5, 12, 13, 14], "value"] = np.nan
    expected = {name: by_package(group) for name, group in ratings.groupby("item_id")}
    assert alphas(ratings).to_dict() == pytest.approx(expected)


def test_shifting_and_stretching_the_scale_of_a_group_changes_nothing(ratings):
    moved = ratings.assign(value=10 - 2 * ratings["value"])
    pd.testing.assert_series_equal(alphas(moved), alphas(ratings))


def test_the_order_of_rows_does_not_matter(ratings):
    pd.testing.assert_series_equal(alphas(ratings.sample(frac=1, random_state=0)), alphas(ratings))


def test_a_group_whose_ratings_are_all_the_same_has_no_alpha(ratings):
    ratings.loc[ratings["item_id"] == "b", "value"] = 2.0
    assert alphas(ratings).isna().tolist() == [False, True, False, False, False]


def test_a_group_without_a_repeated_rating_has_no_alpha(ratings):
    single = (ratings["item_id"] == "c") & (ratings["rater_id"] > 0)
    found = alphas(ratings[~single])
    assert found.index.tolist() == list("abcde")
    assert np.isnan(found["c"])


def test_a_single_unit_is_refused(ratings):
    with pytest.raises(ValueError, match=r"^column 'aspect' has 1 distinct value"):
        alphas(ratings[ratings["aspect"] == "x"])


def test_ratings_that_are_no_numbers_are_refused(ratings):
    with pytest.raises(ValueError, match=r"^column 'value' is of type"):
        alphas(ratings.assign(value="good"))


def test_the_mean_over_real_answers_is_the_alpha_that_the_paper_prints(real_data):
    ratings = kamoda.load(real_data).ratings
    tidy = to_tidy(ratings, list(kamoda.RANGES))
    assert round(alphas(tidy).mean(), 2) == 0.74


@pytest.fixture
def wide():
    rng = np.random.default_rng(4)
    return pd.DataFrame(
        {
            "item_id": np.repeat([f"answer-{n}" for n in range(200)], 3),
            "factuality": rng.integers(2, 4, 600),
            "formality": rng.integers(-1, 1, 600),
        }
    )


def test_stacked_aspects_of_one_item_are_different_units(wide):
    stacked = stack_aspects(wide, "item_id", ["factuality", "formality"])
    assert len(stacked) == 1200
    assert (stacked.groupby("unit").size() == 3).all()
    assert stacked["unit"].nunique() == 400


def test_dealing_out_keeps_the_ratings_of_each_aspect_and_all_other_columns(wide):
    stacked = stack_aspects(wide, "item_id", ["factuality", "formality"])
    dealt = deal_out(stacked, np.random.default_rng(0))
    assert not dealt["value"].equals(stacked["value"])
    for aspect in ("factuality", "formality"):
        rows = stacked["aspect"] == aspect
        assert sorted(dealt.loc[rows, "value"]) == sorted(stacked.loc[rows, "value"])
    pd.testing.assert_frame_equal(dealt.drop(columns="value"), stacked.drop(columns="value"))


def test_alpha_at_once_is_that_of_the_package_with_aspects_of_answers_as_units(real_data):
    ratings = kamoda.load(real_data).ratings
    stacked = stack_aspects(ratings, "item_id", list(kamoda.RANGES))
    order = stacked.groupby("unit").cumcount()
    table = stacked.assign(order=order).pivot(index="order", columns="unit", values="value")
    expected = krippendorff.alpha(
        reliability_data=table.to_numpy(), level_of_measurement="interval"
    )
    found = alpha_at_once(stacked, "question_id", "interval", 200, np.random.default_rng(0))
    assert found["estimate"] == pytest.approx(expected)
    assert found["low"] < expected < found["high"]


def test_scales_alone_give_a_high_alpha_over_aspects(wide):
    stacked = stack_aspects(wide, "item_id", ["factuality", "formality"])
    found = alpha_at_once(stacked, "item_id", "interval", 50, np.random.default_rng(0))
    only_scales = 1 - 0.25 / (0.25 + 1.5**2)
    assert found["dealt_out"] == pytest.approx(only_scales, abs=0.02)
    assert found["estimate"] == pytest.approx(only_scales, abs=0.02)


def test_scales_alone_give_no_alpha_within_an_aspect(wide):
    stacked = stack_aspects(wide, "item_id", ["factuality"])
    found = alpha_at_once(stacked, "item_id", "interval", 50, np.random.default_rng(0))
    assert abs(found["dealt_out"]) < 0.12
