"""Dependent correlations: printed outputs of other software, refits, a halo."""

import numpy as np
import pytest

from helpers.stats import correlations
from helpers.studies import hosking


@pytest.mark.parametrize(
    ("first", "second", "between", "n", "printed"),
    [(0.8066, 0.2383, 0.2255, 177, 9.3823), (-0.1741, 0.2015, 0.3734, 646, -9.0340)],
)
def test_williams_t_is_the_one_that_the_r_package_cocor_prints(
    first, second, between, n, printed
):
    t, p_value = correlations.williams_test(first, second, between, n)
    assert t == pytest.approx(printed, abs=0.006)
    assert p_value < 1e-15


def test_williams_t_of_uncorrelated_scores_by_hand():
    t, _ = correlations.williams_test(0.5, 0.0, 0.0, n=12)
    assert t == pytest.approx(0.5 * np.sqrt(11 / (2 * 11 / 9 * 0.75 + 0.0625)))
    # by the common variable
    fixed, _ = correlations.williams_test(0.6, 0.8, 0.96, n=50)
    assert np.isfinite(fixed)


def test_williams_test_takes_many_pairs_and_one_common_correlation():
    t, p_value = correlations.williams_test([0.4, 0.5], [0.5, 0.4], 0.1, n=103)
    assert t[0] == -t[1]
    assert p_value[0] == p_value[1]
    assert correlations.williams_test(0.3, 0.3, 0.5, n=50) == (0.0, 1.0)


def test_published_correlations_of_assertiveness_and_of_the_two_ratings(real_data):
    outputs = hosking.load_experiment_2(real_data).outputs()
    r = outputs[["assertiveness", "complexity", "quality_unbiased"]].corr().round(2)
    assert r.loc["assertiveness", "quality_unbiased"] == 0.68
    assert r.loc["assertiveness", "complexity"] == 0.53
    assert r.loc["complexity", "quality_unbiased"] == 0.41
