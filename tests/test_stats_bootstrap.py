"""Bootstrap draws against resampling of rows; intervals, tests against closed forms."""

import numpy as np
import pandas as pd
import pytest

from helpers.stats import bootstrap


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.fixture
def frame():
    """Clusters of unequal sizes, with gaps in one column."""
    draw = rng(5)
    prompts = draw.integers(12, size=60)
    x = draw.normal(size=60) + prompts / 6
    table = pd.DataFrame({"prompt_id": prompts, "x": x})
    return table.assign(
        z=np.where(draw.random(60) < 0.3, np.nan, x), size=draw.integers(1, 5, 60)
    )


def means(frame, columns=("x", "z"), n_boot=20, **options):
    return bootstrap.bootstrap_means(
        frame, columns, "prompt_id", n_boot, rng(1), **options
    )


def test_weights_count_draws_of_clusters_however_many_are_counted_together(monkeypatch):
    drawn = rng(3).integers(6, size=(10, 6))
    expected = [np.bincount(row, minlength=6).tolist() for row in drawn]
    for block in (1, 13, 1_000):
        monkeypatch.setattr(bootstrap, "BLOCK", block)
        assert bootstrap.cluster_weights(6, 10, rng(3)).tolist() == expected


def test_two_clusters_and_one_replicate_are_enough_but_not_less():
    assert bootstrap.cluster_weights(2, 1, rng()).sum() == 2
    with pytest.raises(ValueError, match="resampling needs at least 2 clusters, got 1"):
        bootstrap.cluster_weights(1, 10, rng())
    with pytest.raises(ValueError, match="n_boot must be at least 1, got 0"):
        bootstrap.cluster_weights(5, 0, rng())


@pytest.mark.parametrize("kind", [int, float])
def test_everything_comes_first_in_the_numbers_of_the_weights(kind):
    weights = bootstrap.with_everything_first(
        np.array([[0, 2, 1], [3, 0, 0]], dtype=kind)
    )
    assert weights.tolist() == [[1, 1, 1], [0, 2, 1], [3, 0, 0]]
    assert weights.dtype == kind


def test_ratio_of_a_tiny_table_is_the_one_by_hand():
    numerator = np.array([[1.0, 2.0], [3.0, 0.0]])
    denominator = np.array([[2.0, 4.0], [2.0, 0.0]])
    draws = bootstrap.bootstrap_ratio(
        numerator, denominator, np.array([[1, 1], [2, 0], [0, 2]])
    )
    np.testing.assert_array_equal(draws, [[1.0, 0.5], [0.5, 0.5], [1.5, np.nan]])


def test_means_are_those_of_the_resampled_rows(frame):
    labels = np.sort(frame["prompt_id"].unique())
    times = pd.DataFrame(
        bootstrap.cluster_weights(len(labels), 20, rng(1)), columns=labels
    )
    rows = [
        frame.index.repeat(count[frame["prompt_id"]]) for _, count in times.iterrows()
    ]
    expected = [frame.loc[chosen, ["x", "z"]].mean() for chosen in rows]
    np.testing.assert_allclose(means(frame), expected, rtol=1e-12)


def test_weighted_means_are_those_of_rows_repeated_by_their_weight(frame):
    repeated = frame.loc[frame.index.repeat(frame["size"])]
    np.testing.assert_allclose(means(frame, weight="size"), means(repeated), rtol=1e-12)


def test_bootstrap_error_of_a_mean_is_the_clustered_standard_error(frame):
    deviations = (frame["x"] - frame["x"].mean()).groupby(frame["prompt_id"]).sum()
    expected = np.sqrt((deviations**2).sum()) / len(frame)
    assert means(frame, ["x"], 10_000).std() == pytest.approx(expected, rel=0.06)


def test_a_replicate_without_observations_is_nan_and_left_out_of_the_interval():
    table = pd.DataFrame({"x": [1.0, np.nan, np.nan], "prompt_id": [1, 2, 3]})
    draws = means(table, ["x"], 200)
    assert 0 < np.isnan(draws).mean() < 1
    assert np.ravel(bootstrap.interval(draws)).tolist() == [1.0, 1.0]


def test_means_refuse_unusable_columns(frame):
    with pytest.raises(
        ValueError, match=r"column 'z' has \d+ missing values, first in row"
    ):
        means(frame, weight="z")
    with pytest.raises(ValueError, match="column 'prompt_id' has 1 distinct value"):
        means(frame.assign(prompt_id="a"))


def test_interval_cuts_equal_tails():
    draws = np.column_stack([np.arange(1001), np.arange(1001) * -2.0])
    ends = [50, -1900, 950, -100]
    assert np.ravel(bootstrap.interval(draws, level=0.9)).tolist() == pytest.approx(
        ends
    )
    across = bootstrap.interval(draws.T, level=0.9, axis=1)
    assert np.ravel(across).tolist() == pytest.approx(ends)
    assert bootstrap.interval(draws[:, 0]) == pytest.approx((25, 975))


def test_interval_is_nan_only_where_every_draw_is():
    draws = np.array([[1.0, np.nan, np.nan], [1.0, 2.0, np.nan]])
    np.testing.assert_array_equal(bootstrap.interval(draws), [[1.0, 2.0, np.nan]] * 2)


def test_p_value_is_twice_the_smaller_tail_with_one_added():
    draws = np.array([-1.0, 1, 2, 3, 4, 5, 6, 7, 8])
    assert bootstrap.bootstrap_p_value(draws) == pytest.approx(2 * 2 / 10)
    assert bootstrap.bootstrap_p_value(-draws) == pytest.approx(2 * 2 / 10)


def test_p_value_is_at_most_one_and_ignores_undefined_draws():
    draws = np.array([[0.0, np.nan], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0]])
    assert bootstrap.bootstrap_p_value(draws).tolist() == [1.0, 0.5]


def test_holm_of_a_table_is_the_one_by_hand():
    p_values = [[0.04, 0.01], [0.03, 0.5]]
    np.testing.assert_allclose(bootstrap.adjust(p_values), [[0.09, 0.04], [0.09, 0.5]])
    assert bootstrap.adjust([0.0, 1.0, 1.0]).tolist() == [0.0, 1.0, 1.0]


def test_adjust_refuses_impossible_p_values():
    with pytest.raises(
        ValueError, match="p-value 1 is nan: give the family without values that"
    ):
        bootstrap.adjust([0.1, np.nan])
    with pytest.raises(ValueError, match=r"p-value 0 is 1\.2: give the family without"):
        bootstrap.adjust([1.2, 0.1])
