"""Cumulative logit: closed forms, statsmodels, recovery, coverage, messages."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import logit
from statsmodels.discrete.discrete_model import Logit
from statsmodels.miscmodels.ordinal_model import OrderedModel

from helpers.stats import ordinal

FEATURES = ["refusal", "factuality", "words"]
SLOPES = np.array([-2.0, -0.7, 0.3])
CUTS = np.array([-2.5, -1.0, 0.0, 1.5])


def make_ratings(n_rows: int, seed: int = 1) -> pd.DataFrame:
    """Ratings from the model itself, with two errors and a continuous feature."""
    rng = np.random.default_rng(seed)
    errors = (rng.random((n_rows, 2)) < [0.1, 0.3]).astype(float)
    values = np.column_stack([errors, rng.normal(size=n_rows)])
    opinion = values @ SLOPES + rng.logistic(size=n_rows)
    return pd.DataFrame(values, columns=FEATURES).assign(
        quality=1 + np.searchsorted(CUTS, opinion), rater_id=np.arange(n_rows)
    )


@pytest.fixture(scope="module")
def ratings():
    return make_ratings(500)


@pytest.fixture(scope="module")
def model(ratings):
    return ordinal.fit(ratings, FEATURES, "quality")


def test_two_groups_and_two_levels_give_the_log_odds_of_the_table():
    counts = {(0, 1): 30, (0, 5): 70, (1, 1): 60, (1, 5): 40}
    frame = pd.DataFrame(
        [key for key, n in counts.items() for _ in range(n)], columns=["x", "y"]
    )
    fitted = ordinal.fit(frame, ["x"], "y")
    table = fitted.log_odds().table(frame.assign(row=frame.index)[["row"]])
    assert fitted.cuts == pytest.approx([-logit(0.7)])
    assert fitted.slopes["x"] == pytest.approx(logit(0.4) - logit(0.7))
    robust = (1 / 30 + 1 / 70 + 1 / 60 + 1 / 40) * 200 / 199
    assert table.loc["x", "standard_error"] == pytest.approx(np.sqrt(robust))
    assert fitted.effects(frame).value["x"] == pytest.approx(4 * (0.4 - 0.7))


def test_estimates_are_those_of_statsmodels():
    ratings = make_ratings(150)
    model = ordinal.fit(ratings, FEATURES, "quality")
    reference = OrderedModel(ratings["quality"], ratings[FEATURES], distr="logit")
    fitted = reference.fit(method="bfgs", disp=False, gtol=1e-7, maxiter=200)
    np.testing.assert_allclose(model.slopes, fitted.params[FEATURES], atol=1e-5)
    cuts = reference.transform_threshold_params(fitted.params.to_numpy())[1:-1]
    np.testing.assert_allclose(model.cuts, cuts, atol=1e-5)


def test_a_model_of_two_levels_has_the_errors_and_effects_of_a_logit_model(ratings):
    frame = ratings.assign(quality=(ratings["quality"] >= 4).astype(int), intercept=1.0)
    columns = ["intercept", "refusal", "factuality"]
    reference = Logit(frame["quality"], frame[columns]).fit(disp=False, cov_type="HC0")
    margins = reference.get_margeff(dummy=True)
    fitted = ordinal.fit(frame, columns[1:], "quality")
    factor = np.sqrt(len(frame) / (len(frame) - 1))
    log_odds = fitted.log_odds().table(frame[["rater_id"]])
    effects = fitted.effects(frame).table(frame[["rater_id"]])
    np.testing.assert_allclose(log_odds["estimate"], reference.params[1:], atol=1e-6)
    np.testing.assert_allclose(
        log_odds["standard_error"], factor * reference.bse[1:], rtol=1e-5
    )
    np.testing.assert_allclose(effects["estimate"], margins.margeff, atol=1e-6)
    np.testing.assert_allclose(
        effects["standard_error"], factor * margins.margeff_se, rtol=1e-5
    )


def test_influence_of_a_row_is_what_a_copy_of_it_changes(ratings, model):
    for row in (0, 17):
        copied = ordinal.fit(
            pd.concat([ratings, ratings.iloc[[row]]]), FEATURES, "quality"
        )
        change = np.append(copied.cuts - model.cuts, copied.slopes - model.slopes)
        np.testing.assert_allclose(change, model.influence[row], rtol=0.05, atol=2e-4)
    np.testing.assert_allclose(model.influence.sum(axis=0), 0, atol=1e-8)


def test_the_slopes_are_where_the_likelihood_is_highest_and_do_not_fall_back(
    ratings, model
):
    values = ratings[FEATURES].to_numpy()
    codes = ratings["quality"].to_numpy() - 1
    best = np.append(model.cuts, model.slopes)
    scores, information = ordinal._derivatives(best, values, codes)
    assert np.abs(scores.sum(axis=0)).max() < 1e-6 * np.abs(scores).sum(axis=0).min()
    # halfway down to what counts as rounding, and four times as far, which is eight
    # times too low
    rounding = ordinal.ROUNDING * -ordinal._log_likelihood(best, values, codes)
    step = np.zeros(len(best))
    step[-1] = np.sqrt(rounding / information[-1, -1])
    for times in (1, 4):
        improved = ordinal._improve(best, times * step, values, codes)
        np.testing.assert_array_equal(improved, best + step)


def test_an_effect_is_the_mean_change_of_the_expected_rating(ratings, model):
    def expected(refusal):
        values = ratings[FEATURES].assign(refusal=refusal).to_numpy()
        opinion = values @ model.slopes.to_numpy()
        above = 1 / (1 + np.exp(model.cuts - opinion[:, None]))
        return (1 + above.sum(axis=1)).mean()

    effect = model.effects(ratings).value["refusal"]
    assert effect == pytest.approx(expected(1.0) - expected(0.0))


def test_effects_and_what_rows_change_of_them_grow_with_the_distance_between_levels(
    ratings, model
):
    once = model.effects(ratings)
    wider = ordinal.fit(
        ratings.assign(quality=3 * ratings["quality"]), FEATURES, "quality"
    )
    np.testing.assert_allclose(wider.effects(ratings).value, 3 * once.value, atol=1e-8)
    np.testing.assert_allclose(
        wider.effects(ratings).influence, 3 * once.influence, atol=1e-8
    )


def test_order_copies_and_distance_between_levels_do_not_change_the_slopes(
    ratings, model
):
    variants = [
        ratings.sample(frac=1, random_state=0),
        ratings.assign(quality=ratings["quality"] ** 2),
        pd.concat([ratings, ratings]),
    ]
    for variant in variants:
        slopes = ordinal.fit(variant, FEATURES[::-1], "quality").slopes
        np.testing.assert_allclose(slopes[FEATURES], model.slopes, atol=1e-8)
    turned = ordinal.fit(
        ratings.assign(quality=6 - ratings["quality"]), FEATURES, "quality"
    )
    np.testing.assert_allclose(turned.slopes, -model.slopes, atol=1e-8)
    np.testing.assert_allclose(turned.cuts, -model.cuts[::-1], atol=1e-8)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"quality": 3}, "outcome 'quality' has the same value in all 500 rows"),
        (
            {"refusal": 1.0},
            "feature 'refusal' is a combination of the intercept: leave it out",
        ),
    ],
)
def test_columns_that_cannot_be_used_are_named(ratings, change, message):
    with pytest.raises(ValueError, match=message):
        ordinal.fit(ratings.assign(**change), FEATURES, "quality")


def test_a_feature_that_separates_high_from_low_ratings_is_named(ratings):
    separated = ratings.assign(
        quality=ratings["quality"].where(ratings["refusal"] == 0, 1)
    )
    message = "feature 'refusal' tells high from low ratings without exception"
    with pytest.raises(ordinal.SeparationError, match=message):
        ordinal.fit(separated, FEATURES, "quality")
    perfect = pd.DataFrame({"words": [0.1, 0.2, 0.3, 0.4], "quality": [1, 1, 2, 2]})
    with pytest.raises(
        ValueError, match="feature 'words' tells high from low ratings without"
    ):
        ordinal.fit(perfect, ["words"], "quality")


def test_averages_are_refused_as_ratings(ratings):
    averaged = ratings.assign(quality=ratings["quality"].astype(float))
    averaged.loc[7, "quality"] = 3.5
    message = "column 'quality' is 3.5 in row 7: give single ratings in whole numbers"
    with pytest.raises(ValueError, match=message):
        ordinal.fit(averaged, FEATURES, "quality")
