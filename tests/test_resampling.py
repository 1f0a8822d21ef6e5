"""Bootstrap draws against explicit resampling of rows; intervals and tests against closed forms."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from helpers.stats import bootstrap


@pytest.fixture
def frame():
    """Clusters of unequal sizes, with gaps in one column."""
    rng = np.random.default_rng(5)
    prompts = rng.integers(12, size=60)
    x = rng.normal(size=60) + prompts / 6
    table = pd.DataFrame({"prompt_id": prompts, "x": x, "y": x + rng.normal(size=60)})
    return table.assign(z=np.where(rng.random(60) < 0.3, np.nan, x), size=rng.integers(1, 5, 60))


def resampled_tables(frame, n_boot, seed):
    """The tables of rows that the replicates of a seed stand for."""
    labels = np.sort(frame["prompt_id"].unique())
    weights = bootstrap.cluster_weights(len(labels), n_boot, np.random.default_rng(seed))
    for row in weights:
        yield pd.concat(
            [
                frame[frame["prompt_id"] == label]
                for label, times in zip(labels, row, strict=True)
                for _ in range(times)
            ]
        )


def test_each_replicate_draws_as_many_clusters_as_there_are():
    weights = bootstrap.cluster_weights(7, 50, np.random.default_rng(0))
    assert weights.shape == (50, 7)
    assert weights.sum(axis=1).tolist() == [7] * 50


def test_weights_have_the_moments_of_the_multinomial():
    weights = bootstrap.cluster_weights(5, 200_000, np.random.default_rng(0))
    expected = np.eye(5) - 1 / 5
    np.testing.assert_allclose(weights.mean(axis=0), 1, atol=0.01)
    np.testing.assert_allclose(np.cov(weights.T), expected, atol=0.015)


def test_one_seed_gives_one_set_of_weights():
    first, second = (bootstrap.cluster_weights(9, 4, np.random.default_rng(11)) for _ in range(2))
    assert (first == second).all()


def test_weights_count_draws_of_clusters_however_many_are_counted_together(monkeypatch):
    drawn = np.random.default_rng(3).integers(6, size=(10, 6))
    expected = [np.bincount(row, minlength=6).tolist() for row in drawn]
    for block in (1, 13, 1_000):
        monkeypatch.setattr(bootstrap, "BLOCK", block)
        weights = bootstrap.cluster_weights(6, 10, np.random.default_rng(3))
        assert weights.tolist() == expected


def test_too_few_clusters_or_replicates_are_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="resampling needs at least 2 clusters, got 1"):
        bootstrap.cluster_weights(1, 10, rng)
    with pytest.raises(ValueError, match="n_boot must be at least 1, got 0"):
        bootstrap.cluster_weights(5, 0, rng)


def test_ratio_of_a_tiny_table_is_the_one_by_hand():
    numerator = np.array([[1.0, 2.0], [3.0, 0.0]])
    denominator = np.array([[2.0, 4.0], [2.0, 0.0]])
    draws = bootstrap.bootstrap_ratio(numerator, denominator, np.array([[1, 1], [2, 0], [0, 2]]))
    np.testing.assert_array_equal(draws, [[1.0, 0.5], [0.5, 0.5], [1.5, np.nan]])


def test_means_are_those_of_the_resampled_rows(frame):
    draws = bootstrap.bootstrap_means(frame, ["x", "z"], "prompt_id", 20, np.random.default_rng(1))
    expected = [table[["x", "z"]].mean() for table in resampled_tables(frame, 20, seed=1)]
    np.testing.assert_allclose(draws, expected, rtol=1e-12)


def test_weighted_means_are_those_of_rows_repeated_by_their_weight(frame):
    repeated = frame.loc[frame.index.repeat(frame["size"])]
    weighted, plain = (
        bootstrap.bootstrap_means(
            table, ["x", "z"], "prompt_id", 20, np.random.default_rng(1), weight
        )
        for table, weight in ((frame, "size"), (repeated, None))
    )
    np.testing.assert_allclose(weighted, plain, rtol=1e-12)


def test_means_ignore_the_order_of_rows_and_copies_within_clusters(frame):
    tables = frame, frame.sample(frac=1, random_state=2), pd.concat([frame] * 3)
    first, *others = (
        bootstrap.bootstrap_means(table, ["x"], "prompt_id", 20, np.random.default_rng(1))
        for table in tables
    )
    for draws in others:
        np.testing.assert_allclose(draws, first, rtol=1e-12)


def test_bootstrap_error_of_a_mean_is_the_clustered_standard_error(frame):
    draws = bootstrap.bootstrap_means(frame, ["x"], "prompt_id", 50_000, np.random.default_rng(1))
    deviations = (frame["x"] - frame["x"].mean()).groupby(frame["prompt_id"]).sum()
    expected = np.sqrt((deviations**2).sum()) / len(frame)
    assert draws.std() == pytest.approx(expected, rel=0.05)


def test_a_replicate_without_observations_is_nan_and_left_out_of_the_interval():
    table = pd.DataFrame({"x": [1.0, np.nan, np.nan], "prompt_id": [1, 2, 3]})
    draws = bootstrap.bootstrap_means(table, ["x"], "prompt_id", 200, np.random.default_rng(0))
    assert 0 < np.isnan(draws).mean() < 1
    assert np.ravel(bootstrap.interval(draws)).tolist() == [1.0, 1.0]


def test_means_refuse_unusable_columns(frame):
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="column 'words' is not in the table"):
        bootstrap.bootstrap_means(frame, ["words"], "prompt_id", 5, rng)
    with pytest.raises(ValueError, match=r"column 'z' has \d+ missing values, first in row"):
        bootstrap.bootstrap_means(frame, ["x"], "prompt_id", 5, rng, weight="z")
    with pytest.raises(ValueError, match="column 'rater' has 1 distinct value"):
        bootstrap.bootstrap_means(frame.assign(rater="a"), ["x"], "rater", 5, rng)


def test_correlations_are_those_of_the_resampled_rows(frame):
    draws = bootstrap.bootstrap_correlation(
        frame, "x", "y", "prompt_id", 20, np.random.default_rng(1)
    )
    expected = [
        np.corrcoef(table["x"], table["y"])[0, 1] for table in resampled_tables(frame, 20, seed=1)
    ]
    np.testing.assert_allclose(draws, expected, rtol=1e-12)


def test_correlation_of_a_falling_line_is_minus_one_in_every_replicate_that_has_one():
    table = pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": [3.0, 2.0, 1.0], "prompt_id": [1, 2, 3]})
    draws = bootstrap.bootstrap_correlation(
        table, "x", "y", "prompt_id", 200, np.random.default_rng(0)
    )
    assert np.isnan(draws).any()
    np.testing.assert_allclose(draws[~np.isnan(draws)], -1, rtol=1e-12)


def test_interval_cuts_equal_tails():
    draws = np.column_stack([np.arange(1001), np.arange(1001) * -2.0])
    low, high = bootstrap.interval(draws, level=0.9)
    assert low.tolist() == pytest.approx([50, -1900])
    assert high.tolist() == pytest.approx([950, -100])
    assert np.ravel(bootstrap.interval(draws.T, level=0.9, axis=1)).tolist() == pytest.approx(
        [50, -1900, 950, -100]
    )


def test_interval_is_nan_only_where_every_draw_is():
    draws = np.array([[1.0, np.nan, np.nan], [1.0, 2.0, np.nan]])
    low, high = bootstrap.interval(draws)
    np.testing.assert_array_equal(low, [1.0, 2.0, np.nan])
    np.testing.assert_array_equal(high, [1.0, 2.0, np.nan])


@pytest.mark.parametrize("level", [0, 1, 95])
def test_a_level_must_be_a_share(level):
    with pytest.raises(ValueError, match=f"level must be between 0 and 1, got {level}"):
        bootstrap.interval(np.arange(5), level=level)
    with pytest.raises(ValueError, match=f"level must be between 0 and 1, got {level}"):
        bootstrap.simultaneous_interval([0.0], np.zeros((5, 1)), level=level)


def test_simultaneous_interval_of_independent_normals_has_the_sidak_width():
    scale = np.array([1.0, 10.0, 0.1, 3.0])
    draws = np.random.default_rng(0).normal(size=(100_000, 4)) * scale
    low, high = bootstrap.simultaneous_interval(np.zeros(4), draws, level=0.9)
    critical = stats.norm.ppf((1 + 0.9 ** (1 / 4)) / 2)
    np.testing.assert_allclose(high, critical * scale, rtol=0.02)
    np.testing.assert_allclose(low, -high)


def test_a_statistic_that_never_varies_neither_widens_nor_gets_an_interval():
    draws = np.random.default_rng(0).normal(size=(500, 1))
    alone = bootstrap.simultaneous_interval([0.0], draws)
    low, high = bootstrap.simultaneous_interval(
        [0.0, 4.0], np.hstack([draws, np.full((500, 1), 4)])
    )
    assert (low[1], high[1]) == (4, 4)
    assert (low[0], high[0]) == pytest.approx((alone[0][0], alone[1][0]))


def test_simultaneous_interval_refuses_undefined_draws():
    with pytest.raises(ValueError, match="1 of 4 draws are not finite: leave those statistics out"):
        bootstrap.simultaneous_interval([0.0], np.array([[1.0], [2.0], [np.nan], [3.0]]))


def test_p_value_is_twice_the_smaller_tail_with_one_added():
    draws = np.array([-1.0, 1, 2, 3, 4, 5, 6, 7, 8])
    assert bootstrap.bootstrap_p_value(draws) == pytest.approx(2 * 2 / 10)
    assert bootstrap.bootstrap_p_value(-draws) == pytest.approx(2 * 2 / 10)
    assert bootstrap.bootstrap_p_value(draws, null=8.5) == pytest.approx(2 * 1 / 10)


def test_p_value_is_at_most_one_and_ignores_undefined_draws():
    draws = np.array([[0.0, np.nan], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0]])
    assert bootstrap.bootstrap_p_value(draws).tolist() == [1.0, 0.5]


def test_holm_and_benjamini_hochberg_are_the_ones_by_hand():
    p_values = pd.Series([0.04, 0.01, 0.03, 0.5])
    np.testing.assert_allclose(bootstrap.adjust(p_values), [0.09, 0.04, 0.09, 0.5])
    np.testing.assert_allclose(
        bootstrap.adjust(p_values, method="bh"), [0.16 / 3, 0.04, 0.16 / 3, 0.5]
    )


@pytest.mark.parametrize(("method", "name"), [("holm", "holm"), ("bh", "fdr_bh")])
def test_corrections_are_those_of_statsmodels(method, name):
    p_values = np.random.default_rng(0).random(40).round(2) ** 3
    expected = multipletests(p_values, method=name)[1]
    assert bootstrap.adjust(p_values, method).tolist() == expected.tolist()


def test_a_table_of_p_values_is_one_family():
    assert bootstrap.adjust([[0.01, 0.5], [0.5, 0.5]]).tolist() == [[0.04, 1.0], [1.0, 1.0]]


def test_adjust_refuses_unknown_methods_and_impossible_p_values():
    with pytest.raises(ValueError, match=r"method 'bonf' is unknown: choose one of \('holm', 'bh'"):
        bootstrap.adjust([0.1], method="bonf")
    with pytest.raises(ValueError, match="p-value 1 is nan: give the family without values that"):
        bootstrap.adjust([0.1, np.nan])
    with pytest.raises(ValueError, match=r"p-value 0 is 1\.2: give the family without"):
        bootstrap.adjust([1.2, 0.1])
