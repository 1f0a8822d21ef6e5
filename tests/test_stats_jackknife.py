"""Leaving out raters and prompts: known formulas, two ways, coverage."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from helpers.stats import jackknife
from helpers.stats.clustered import least_squares


def mean_of(values):
    def compute(weights):
        return (weights @ values / weights.sum(axis=1))[:, None]

    return compute


def crossed(seed, n_raters=15, n_prompts=20):
    """Every rater scores every prompt; both have effects."""
    rng = np.random.default_rng(seed)
    rater = np.repeat(np.arange(n_raters), n_prompts)
    prompt = np.tile(np.arange(n_prompts), n_raters)
    score = rng.normal(size=n_raters)[rater] + rng.normal(size=n_prompts)[prompt]
    clusters = pd.DataFrame({"rater_id": rater, "prompt_id": prompt})
    return score + rng.normal(size=len(rater)), clusters


def test_a_mean_over_clusters_of_one_size_has_the_usual_interval():
    score, clusters = crossed(0)
    table = jackknife.leave_one_out(mean_of(score), clusters[["rater_id"]], ["score"])
    means = pd.Series(score).groupby(clusters["rater_id"]).mean()
    row = table.loc["score"]
    assert row["standard_error"] == pytest.approx(means.sem())
    assert row["df"] == pytest.approx(14)
    margin = stats.t.ppf(0.975, 14) * means.sem()
    assert row["high"] == pytest.approx(means.mean() + margin)
    p_value = stats.ttest_1samp(means, 0.0).pvalue
    assert row["p_value"] == pytest.approx(p_value)


def test_two_ways_add_and_what_is_in_both_is_taken_off():
    score, clusters = crossed(1)
    both = jackknife.leave_one_out(mean_of(score), clusters, ["score"])
    alone = []
    for labels in ("rater_id", "prompt_id"):
        one = jackknife.leave_one_out(mean_of(score), clusters[[labels]], ["score"])
        alone.append(one.loc["score", "standard_error"] ** 2)
    single = clusters.assign(pair=np.arange(len(clusters)))[["pair"]]
    rows = jackknife.leave_one_out(mean_of(score), single, ["score"])
    expected = sum(alone) - rows.loc["score", "standard_error"] ** 2
    assert both.loc["score", "standard_error"] == pytest.approx(np.sqrt(expected))
    assert both.loc["score", "df"] == pytest.approx(14)


def test_the_sum_of_two_ways_is_not_taken_to_be_less_than_either():
    # each prompt has a rater of its own: all ways are the same
    score = np.arange(8.0)
    clusters = pd.DataFrame({"rater_id": range(8), "prompt_id": range(8)})
    both = jackknife.leave_one_out(mean_of(score), clusters, ["score"])
    alone = jackknife.leave_one_out(mean_of(score), clusters[["rater_id"]], ["score"])
    pd.testing.assert_frame_equal(both, alone)


def test_a_slope_moves_as_the_formula_of_cr3_says():
    rng = np.random.default_rng(2)
    prompt = np.repeat(np.arange(12), 4)
    x = rng.normal(size=48) + rng.normal(size=12)[prompt]
    y = x + rng.normal(size=48)

    def slope(weights):
        return ((weights @ (x * y)) / (weights @ x**2))[:, None]

    clusters = pd.DataFrame({"prompt_id": prompt})
    table = jackknife.leave_one_out(slope, clusters, ["x"])
    frame = clusters.assign(x=x, y=y)
    expected = least_squares(frame, ["x"], "y", "prompt_id", intercept=False)
    columns = ["estimate", "standard_error"]
    pd.testing.assert_frame_equal(table[columns], expected[columns])


def test_many_clusters_are_left_out_in_parts(monkeypatch):
    score, clusters = crossed(3)
    whole = jackknife.leave_one_out(mean_of(score), clusters, ["score"])
    monkeypatch.setattr(jackknife, "AT_ONCE", 7)
    parts = jackknife.leave_one_out(mean_of(score), clusters, ["score"])
    pd.testing.assert_frame_equal(whole, parts)


def test_one_cluster_is_refused():
    clusters = pd.DataFrame({"rater_id": ["a", "a"]})
    with pytest.raises(ValueError, match="rater_id"):
        jackknife.leave_one_out(mean_of(np.ones(2)), clusters, ["score"])


def test_clusters_of_unequal_size_count_as_fewer():
    assert jackknife.effective_number(np.arange(5)) == 5
    sizes = [30] + [1] * 30
    labels = np.repeat(np.arange(31), sizes)
    assert jackknife.effective_number(labels) == pytest.approx(60**2 / 930)


def test_differences_and_draws_have_the_same_errors_as_the_statistic_itself():
    score, clusters = crossed(5)
    other, _ = crossed(6)
    both = np.column_stack([score, score + other])

    def means(weights):
        return weights @ both / weights.sum(axis=1, keepdims=True)

    found = jackknife.left_out(means, clusters, ["one", "two"])
    gain = found.pick(["two"]).minus(found.pick(["one"])).table()
    expected = jackknife.leave_one_out(mean_of(other), clusters, ["two"])
    pd.testing.assert_frame_equal(gain, expected)
    draws = found.draws(200_000, np.random.default_rng(0))
    difference = draws["two"] - draws["one"]
    ends = difference.quantile([0.025, 0.975]).tolist()
    assert ends == pytest.approx(gain[["low", "high"]].iloc[0].tolist(), abs=0.02)


def test_means_of_groups_are_those_of_leaving_out_by_hand():
    score, clusters = crossed(5)
    frame = clusters.assign(score=score, half=clusters["prompt_id"] % 2)
    frame.loc[3, "score"] = np.nan
    both = ["rater_id", "prompt_id"]
    found = jackknife.group_means(frame, ["score"], "half", both)

    def by_hand(weights):
        sums = []
        for half in (0, 1):
            rows = (frame["half"] == half) & frame["score"].notna()
            kept = weights[:, rows]
            sums.append(kept @ frame.loc[rows, "score"] / kept.sum(axis=1))
        return np.column_stack(sums)

    expected = jackknife.leave_one_out(by_hand, frame[both], [0, 1])
    assert found.table().to_numpy() == pytest.approx(expected.to_numpy())
    assert found.value.index.names == ["measure", "half"]
    whole = jackknife.group_means(frame, ["score"], None, both)
    assert whole.value["score"] == pytest.approx(frame["score"].mean())


def test_a_group_of_a_single_cluster_has_a_mean_without_an_interval():
    frame = pd.DataFrame({"rater_id": list("aabb"), "kind": list("xyxx")})
    frame["score"] = [1.0, 5.0, 3.0, 3.0]
    row = jackknife.group_means(frame, ["score"], "kind", ["rater_id"]).table()
    assert row.loc[("score", "y"), "estimate"] == 5.0
    assert np.isnan(row.loc[("score", "y"), "low"])
