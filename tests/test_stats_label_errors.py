"""Repeated marks: closed forms, a known truth, instruments as a second way."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.sandbox.regression.gmm import IV2SLS

from helpers.stats import label_errors
from helpers.stats.label_errors import (
    calibrated_losses,
    calibration_table,
    mark_moments,
    reliabilities,
    smallest_reliability,
)

COLUMNS = ("item_id", "prompt_id")


def marks_of(propensity, n_raters, rng, losses=None, halo=0.0):
    """One row per item and rater; scores fall with propensities."""
    n_items, n_errors = propensity.shape
    mood = rng.random((n_items, n_raters, 1))
    own = rng.random((n_items, n_raters, n_errors))
    in_mood = rng.random((n_items, n_raters, 1)) < halo
    marks = np.where(in_mood, mood, own) < propensity[:, None]
    table = pd.DataFrame(
        marks.reshape(-1, n_errors).astype(float),
        columns=[f"error {number}" for number in range(n_errors)],
    )
    item = np.repeat(np.arange(n_items), n_raters)
    table = table.assign(item_id=item, prompt_id=item // 5)
    if losses is not None:
        score = 5 - propensity @ np.asarray(losses) + rng.normal(0, 0.5, n_items)
        table["score"] = score[item]
    return table


def errors_in(table):
    return [column for column in table if column.startswith("error")]


def moments_in(table):
    score = "score" if "score" in table else None
    return mark_moments(table, errors_in(table), *COLUMNS, score)


def test_beta_propensities_have_the_reliability_of_their_closed_form():
    rng = np.random.default_rng(0)
    table = marks_of(rng.beta(0.5, 1.5, (40_000, 1)), 4, rng)
    one, mean = reliabilities(moments_in(table).total())
    expected = 1 / (0.5 + 1.5 + 1)  # intraclass correlation of the beta-binomial
    assert one[0, 0] == pytest.approx(expected, abs=0.01)
    # Spearman and Brown
    assert mean[0, 0] == pytest.approx(4 * expected / (1 + 3 * expected), abs=0.01)


@pytest.mark.parametrize("n_errors", [1, 2])
def test_two_raters_give_what_the_other_raters_mark_gives_as_an_instrument(n_errors):
    rng = np.random.default_rng(1)
    propensity = rng.beta(0.6, 1.2, (300, n_errors))
    table = marks_of(propensity, 2, rng, losses=[1.0, 2.0][:n_errors])
    errors = errors_in(table)
    by_other = table[errors].to_numpy().reshape(300, 2, n_errors)[:, ::-1]
    constant = np.ones((600, 1))
    exogenous = np.hstack([constant, table[errors]])
    instruments = np.hstack([constant, by_other.reshape(600, n_errors)])
    oracle = IV2SLS(table["score"].to_numpy(), exogenous, instruments).fit()
    losses = calibrated_losses(moments_in(table).total())
    np.testing.assert_allclose(losses[0], -oracle.params[1:], rtol=1e-8)


def test_losses_by_propensity_are_found_again_whatever_the_halo():
    rng = np.random.default_rng(2)
    propensity = rng.beta(0.4, 1.6, (60_000, 2))
    for halo in (0.0, 0.5):
        table = marks_of(propensity, 3, rng, losses=[1.0, 2.0], halo=halo)
        losses = calibrated_losses(moments_in(table).total())
        np.testing.assert_allclose(losses[0], [1.0, 2.0], atol=0.06)


def test_more_raters_do_not_change_what_is_estimated_but_labels_do():
    rng = np.random.default_rng(3)
    propensity = rng.beta(0.4, 1.6, (40_000, 1))
    for n_raters in (2, 6):
        table = marks_of(propensity, n_raters, rng, losses=[1.5])
        totals = moments_in(table).total()
        assert calibrated_losses(totals)[0, 0] == pytest.approx(1.5, abs=0.06)
        label = totals.score_covariance() / totals.label_covariance()[:, 0]
        _, mean = reliabilities(totals)
        # attenuation: the slope on the mean mark is the loss times its reliability
        assert -label[0, 0] == pytest.approx(1.5 * mean[0, 0], abs=0.05)


def test_the_smallest_reliability_is_that_of_an_error_if_they_are_unrelated():
    rng = np.random.default_rng(4)
    reliable = rng.beta(0.2, 0.8, (40_000, 1))
    unreliable = rng.beta(4.0, 16.0, (40_000, 1))
    table = marks_of(np.hstack([reliable, unreliable]), 4, rng)
    totals = moments_in(table).total()
    _, mean = reliabilities(totals)
    assert smallest_reliability(totals)[0] == pytest.approx(mean.min(), abs=0.01)


def test_the_smallest_reliability_does_not_depend_on_how_errors_are_written():
    rng = np.random.default_rng(5)
    table = marks_of(rng.beta(0.5, 1.5, (500, 2)), 3, rng)
    mixed = table.assign(**{"error 1": 2 * table["error 0"] - 3 * table["error 1"]})
    one = smallest_reliability(moments_in(table).total())
    other = smallest_reliability(moments_in(mixed).total())
    np.testing.assert_allclose(one, other)


def test_a_resample_is_the_table_with_its_clusters_repeated():
    rng = np.random.default_rng(6)
    table = marks_of(rng.beta(0.5, 1.5, (20, 2)), 3, rng, losses=[1.0, 1.0])
    weights = np.array([[2, 0, 1, 1]])
    again = table[table["prompt_id"] == 0].assign(
        prompt_id=9, item_id=lambda t: t["item_id"] + 90
    )
    repeated = pd.concat([table[table["prompt_id"] != 1], again])
    by_weights = moments_in(table).total(weights)
    by_rows = moments_in(repeated).total()
    np.testing.assert_allclose(by_weights.pairs, by_rows.pairs)
    np.testing.assert_allclose(
        calibrated_losses(by_weights), calibrated_losses(by_rows)
    )


def test_pairs_are_of_different_raters_also_where_items_have_different_numbers():
    table = pd.DataFrame(
        {
            "item_id": [1, 1, 2, 2, 2],
            "prompt_id": 0,
            "a": [1, 0, 1, 1, 0],
            "b": [1, 1, 0, 1, 0],
        }
    )
    table["prompt_id"] = table["item_id"]
    moments = mark_moments(table, ["a", "b"], *COLUMNS)
    # item 1: (1·1 + 0·1) / 2 over ordered pairs of raters; item 2: by hand, six pairs
    expected_1 = [[0.0, 0.5], [0.5, 1.0]]
    expected_2 = [[2 / 6, 1 / 6], [1 / 6, 0.0]]
    np.testing.assert_allclose(moments.pairs, [expected_1, expected_2])


def test_marks_by_chance_alone_are_not_identified():
    rng = np.random.default_rng(7)
    table = marks_of(np.full((500, 1), 0.2), 4, rng, losses=[1.0])
    losses, smallest = calibration_table(moments_in(table), 200, rng)
    assert losses.isna().all(axis=None)
    assert smallest["low"] < 0 < smallest["high"]
    clear = marks_of(rng.beta(0.2, 0.8, (500, 1)), 4, rng, losses=[1.0])
    losses, smallest = calibration_table(moments_in(clear), 200, rng)
    assert losses["low"].item() < 1.0 < losses["high"].item()
    assert smallest["low"] > label_errors.LEAST_RELIABILITY


def test_labels_that_do_not_vary_have_no_reliability():
    table = marks_of(np.zeros((50, 1)), 3, np.random.default_rng(8), losses=[1.0])
    totals = moments_in(table).total()
    one, mean = reliabilities(totals)
    assert np.isnan([one, mean]).all()
    assert np.isnan(smallest_reliability(totals)).all()
    assert np.isnan(calibrated_losses(totals)).all()


def test_an_item_with_one_rater_is_refused():
    table = pd.DataFrame({"item_id": [1, 1, 2], "prompt_id": [1, 1, 2], "a": [1, 0, 1]})
    with pytest.raises(ValueError, match=r"item_id 2 has marks by one rater only"):
        mark_moments(table, ["a"], *COLUMNS)
