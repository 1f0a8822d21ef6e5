"""Dependent correlations: printed outputs of other software, refits, a halo."""

import numpy as np
import pandas as pd
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


@pytest.fixture(scope="module")
def scores():
    """Two scores and people's ratings of 60 answers to 15 questions."""
    rng = np.random.default_rng(4)
    human = rng.normal(size=60)
    return pd.DataFrame(
        {
            "direct": human + rng.normal(size=60),
            "weighted": human + rng.normal(scale=0.5, size=60),
            "human": human,
            "question_id": np.arange(60) // 4,
        }
    )


def test_scores_are_correlated_with_every_version_of_the_outcome():
    rng = np.random.default_rng(8)
    scores = pd.DataFrame(rng.normal(size=(40, 2)) + 1e4, columns=["length", "overlap"])
    scores.loc[:9, "overlap"] = np.nan
    scores["constant"] = 0.1
    outcome = rng.normal(size=(3, 40)) + 2
    weights = np.ones((3, 40))
    weights[1, 20:25] = 0
    found = correlations.score_correlations(scores, outcome, weights)
    for row, values, kept in zip(found, outcome, weights, strict=True):
        of_kept = scores[kept > 0]
        expected = of_kept[["length", "overlap"]].corrwith(pd.Series(values)[kept > 0])
        assert row[:2] == pytest.approx(expected.to_numpy())
        assert np.isnan(row[2])
