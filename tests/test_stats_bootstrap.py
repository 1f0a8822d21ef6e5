"""Bootstrap draws against resampling of rows; intervals, tests against closed forms."""

import numpy as np
import pytest

from helpers.stats import bootstrap


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


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
