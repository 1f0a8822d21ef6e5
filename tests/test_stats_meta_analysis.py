"""Several studies pooled: closed forms, statsmodels, and simulated collections."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.meta_analysis import combine_effects

from helpers.stats import meta_analysis as meta

# Vaccination against tuberculosis (Colditz et al. 1994), log risk ratios: the example
# of the package metafor, whose restricted maximum likelihood gives -0.7145 and 0.3132.
BCG = np.array(
    [
        [4, 123, 11, 139],
        [6, 306, 29, 303],
        [3, 231, 11, 220],
        [62, 13598, 248, 12867],
        [33, 5069, 47, 5808],
        [180, 1541, 372, 1451],
        [8, 2545, 10, 629],
        [505, 88391, 499, 88391],
        [29, 7499, 45, 7277],
        [17, 1716, 65, 1665],
        [186, 50634, 141, 27338],
        [5, 2498, 3, 2341],
        [27, 16913, 29, 17854],
    ],
    dtype=float,
)


def bcg():
    """Log risk ratios and their standard errors."""
    ill, n, ill_0, n_0 = BCG.T
    estimate = np.log(ill / n / (ill_0 / n_0))
    return estimate, np.sqrt(1 / ill - 1 / n + 1 / ill_0 - 1 / n_0)


def test_a_published_example():
    pooled = meta.random_effects(*bcg())
    assert pooled.estimate == pytest.approx(-0.7145, abs=5e-4)
    assert pooled.spread**2 == pytest.approx(0.3132, abs=5e-4)
    assert pooled.q == pytest.approx(152.23, abs=0.01)


def test_equal_errors_have_a_closed_form():
    y = np.array([1.0, 2.0, 4.0, 5.0])
    pooled = meta.random_effects(y, [0.5] * 4)
    assert pooled.spread**2 == pytest.approx(y.var(ddof=1) - 0.25)
    # then the interval is that of the t test of the estimates themselves
    assert pooled.standard_error == pytest.approx(y.std(ddof=1) / 2)
    assert meta.random_effects([1.0, 1.1], [0.5, 0.5]).spread == 0


@pytest.mark.parametrize("seed", range(5))
def test_mean_and_interval_are_those_of_statsmodels_at_the_same_spread(
    seed, monkeypatch
):
    rng = np.random.default_rng(seed)
    error = rng.uniform(0.1, 0.5, 8)
    y = rng.normal(0.3, 0.4, 8)
    oracle = combine_effects(y, error**2, method_re="iterated", use_t=True)
    # statsmodels finds the spread in another way (Paule and Mandel)
    tau2 = np.array([oracle.tau2])
    monkeypatch.setattr(meta, "restricted_likelihood", lambda *_: tau2)
    pooled = meta.random_effects(y, error)
    assert pooled.estimate == pytest.approx(oracle.mean_effect_re, rel=1e-6)
    assert pooled.standard_error**2 == pytest.approx(oracle.var_hksj_re, rel=1e-6)
    low, high = oracle.conf_int()[3]
    assert (pooled.low, pooled.high) == pytest.approx((low, high), rel=1e-6)
    assert pooled.q == pytest.approx(oracle.q)


def test_the_spread_is_where_the_restricted_likelihood_is_highest():
    y, error = bcg()
    best = meta.random_effects(y, error).spread ** 2

    def log_likelihood(tau2):
        weights = 1 / (error**2 + tau2)
        mean = (weights * y).sum() / weights.sum()
        rest = (weights * (y - mean) ** 2).sum()
        return -(rest - np.log(weights).sum() + np.log(weights.sum())) / 2

    at_best = log_likelihood(best)
    assert at_best > log_likelihood(best * 1.01)
    assert at_best > log_likelihood(best * 0.99)


def test_a_known_spread_is_recovered():
    rng = np.random.default_rng(1)
    variance = rng.uniform(0.1, 0.3, 8) ** 2
    y = rng.normal(0.0, 0.5, (4000, 8)) + rng.normal(size=(4000, 8)) * np.sqrt(variance)
    spread2 = meta.restricted_likelihood(y, variance)
    assert spread2.mean() == pytest.approx(0.25, abs=0.01)


@pytest.mark.parametrize("spread", [0.0, 0.2, 0.6])
def test_the_interval_of_the_mean_holds_it_where_errors_are_alike(spread):
    coverage = meta.prediction_coverage([0.2] * 6, spread, 4000, rng_of(2))
    assert 93.5 < coverage["mean"] < 97


def test_with_errors_that_differ_sixfold_and_moderate_spread_it_holds_less():
    error = [0.05, 0.1, 0.1, 0.2, 0.2, 0.3]
    coverage = meta.prediction_coverage(error, 0.1, 4000, rng_of(2))
    assert 88 < coverage["mean"] < 92
    assert 80 < coverage["next"] < 86


def rng_of(seed):
    return np.random.default_rng(seed)


def test_an_interval_for_a_next_study_is_too_narrow_with_moderate_spread():
    many = meta.prediction_coverage([0.05] * 40, 0.3, 4000, rng_of(3))
    few = meta.prediction_coverage([0.1] * 8, 0.1, 4000, rng_of(3))
    assert 94 < many["next"] < 96
    assert few["next"] < 93.5


def test_leaving_one_out_shows_the_study_that_matters():
    table = pd.DataFrame(
        {"estimate": [0.1, 0.0, -0.1, 3.0], "standard_error": 0.1}, index=list("abcd")
    )
    without = meta.leave_one_out(table)
    assert without.loc["d", "estimate"] == pytest.approx(0)
    assert without.loc["d", "spread"] == pytest.approx(0)
    assert without["spread"].drop("d").min() > 1


@pytest.mark.parametrize(
    ("estimate", "error", "message"),
    [
        ([1.0], [0.1], "1 studies: pooling needs two or more"),
        ([1.0, 2.0], [0.1, 0.0], "a standard error is zero: it tells nothing"),
        ([1.0, np.nan], [0.1, 0.1], "an estimate or standard error is missing"),
        ([1.0, 2.0], [0.1], "give one standard error for each estimate"),
    ],
)
def test_what_cannot_be_pooled_is_refused(estimate, error, message):
    with pytest.raises(ValueError, match=message):
        meta.random_effects(estimate, error)


def test_two_studies_have_no_interval_for_a_next_one():
    with pytest.raises(ValueError, match="2 studies: an interval for a next one needs"):
        meta.random_effects([1.0, 2.0], [0.1, 0.1]).next_study()
