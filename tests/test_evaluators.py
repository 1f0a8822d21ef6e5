"""Correlations of scores with people's ratings, on shared replicates."""

import numpy as np
import pandas as pd
import pytest

from helpers.stats import correlations
from helpers.stats.bootstrap import cluster_weights
from helpers.stats.moments import cluster_moments
from helpers.studies import kamoda

SCORES = ["direct", "weighted"]


@pytest.fixture
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


def test_estimates_are_the_correlations_of_numpy(scores):
    moments = cluster_moments(scores, SCORES, "human", "question_id")
    estimates, _ = correlations.compare_evaluators({"judge": moments}, 2, seed=2)
    expected = [np.corrcoef(scores[name], scores["human"])[0, 1] for name in SCORES]
    np.testing.assert_allclose(estimates["judge"], expected, rtol=1e-12)
    assert list(estimates.index) == [("judge", name) for name in SCORES]


def test_a_constant_score_has_no_correlation(scores):
    moments = cluster_moments(scores.assign(direct=2.0), SCORES, "human", "question_id")
    estimates, draws = correlations.compare_evaluators({"judge": moments}, 10, seed=2)
    assert np.isnan(estimates["judge", "direct"])
    assert draws["judge", "direct"].isna().all()
    assert estimates["judge", "weighted"] > 0.5


def test_correlations_do_not_depend_on_scale_or_order_of_rows(scores):
    moved = scores.assign(direct=3 - 2 * scores["direct"]).sample(frac=1, random_state=1)
    (first, first_draws), (second, second_draws) = (
        correlations.compare_evaluators(
            {"judge": cluster_moments(table, SCORES, "human", "question_id")}, 10, seed=2
        )
        for table in (scores, moved)
    )
    np.testing.assert_allclose(second, first * [-1, 1], rtol=1e-9)
    np.testing.assert_allclose(second_draws, first_draws * [-1, 1], rtol=1e-9)


def test_replicates_equal_correlations_of_resampled_rows(scores):
    moments = cluster_moments(scores, SCORES, "human", "question_id")
    _, draws = correlations.compare_evaluators({"judge": moments}, 20, seed=2)
    for draw, times in zip(
        draws.to_numpy(), cluster_weights(15, 20, np.random.default_rng(2)), strict=True
    ):
        rows = scores.loc[scores.index.repeat(times[scores["question_id"]])]
        expected = [np.corrcoef(rows[name], rows["human"])[0, 1] for name in SCORES]
        np.testing.assert_allclose(draw, expected, rtol=1e-9)


def test_tables_with_the_same_clusters_share_replicates(scores):
    moments = cluster_moments(scores, SCORES, "human", "question_id")
    shifted = cluster_moments(scores + 1, SCORES, "human", "question_id")
    estimates, draws = correlations.compare_evaluators({"one": moments, "two": shifted}, 30, seed=5)
    assert list(estimates.index) == list(draws.columns)
    np.testing.assert_allclose(draws["one"], draws["two"], rtol=1e-9)


def test_differences_are_taken_within_each_replicate(scores):
    moments = cluster_moments(scores, SCORES, "human", "question_id")
    estimates, draws = correlations.compare_evaluators({"one": moments, "two": moments}, 20, seed=2)
    gaps, gap_draws = correlations.evaluator_differences(
        estimates, draws, {"gain": ("weighted", "direct"), "loss": ("direct", "weighted")}
    )
    assert [*gaps.index] == [(name, table) for name in ("gain", "loss") for table in ("one", "two")]
    assert gap_draws.columns.equals(gaps.index)
    expected = draws["two", "weighted"] - draws["two", "direct"]
    np.testing.assert_allclose(gap_draws["gain", "two"], expected)
    np.testing.assert_allclose(gap_draws["loss", "two"], -expected)
    assert gaps["gain", "one"] == estimates["one", "weighted"] - estimates["one", "direct"]


def test_a_score_that_no_table_has_cannot_be_subtracted(scores):
    moments = cluster_moments(scores, SCORES, "human", "question_id")
    compared = correlations.compare_evaluators({"judge": moments}, 5, seed=2)
    with pytest.raises(KeyError, match="equal"):
        correlations.evaluator_differences(*compared, {"gain": ("equal", "direct")})


@pytest.mark.parametrize(
    ("evaluator", "n_answers", "published"),
    [("gpt4", 1200, 0.70), ("gpt4_mean3", 240, 0.73)],
)
def test_published_correlations_of_direct_scores(real_data, evaluator, n_answers, published):
    study = kamoda.load(real_data)
    people = study.answers()[["item_id", "question_id", "acceptability"]]
    table = study.evaluators.query("evaluator == @evaluator")
    table = table.merge(people, on="item_id", suffixes=("", "_human"))
    moments = cluster_moments(table, ["acceptability"], "acceptability_human", "question_id")
    estimates, _ = correlations.compare_evaluators({evaluator: moments}, 2, seed=0)
    assert len(table) == n_answers
    assert round(estimates[evaluator, "acceptability"], 2) == published
