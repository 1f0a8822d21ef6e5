"""Ranges that printed digits leave open."""

import numpy as np
import pandas as pd
import pytest

from helpers.stats import accuracy


def test_every_number_of_the_range_is_printed_alike():
    low, high = accuracy.unrounded([0.73, -1.2], decimals=1)
    np.testing.assert_allclose(low, [0.68, -1.25])
    np.testing.assert_allclose(high, [0.78, -1.15])


@pytest.mark.parametrize(
    ("printed", "possible"), [(5, True), (4, False), (7, True), (8, False), (6, True)]
)
def test_a_printed_number_fits_if_a_number_of_the_interval_rounds_to_it(printed, possible):
    assert accuracy.fits(printed, 4.6, 6.6, decimals=0) == possible


def test_z_values_of_all_unrounded_numbers_lie_in_the_range_and_reach_its_ends():
    rng = np.random.default_rng(0)
    means, ses = np.array([[0.73], [0.92]]), np.array([[0.04], [0.02]])
    shifts = rng.uniform(-0.005, 0.005, (2, 2, 20_000))
    corners = 0.005 * np.array(np.meshgrid(*[[-1, 1]] * 4)).reshape(2, 2, -1)
    shifts = np.concatenate([shifts, corners], axis=2)
    (first, second), (se, other_se) = means + shifts[0], ses + shifts[1]
    z, _ = accuracy.z_test(first, se, second, other_se)
    low, high = accuracy.attainable_z(0.73, 0.04, 0.92, 0.02)
    assert z.min() == pytest.approx(low)
    assert z.max() == pytest.approx(high)


def test_the_range_of_z_turns_its_sign_when_the_two_estimates_are_exchanged():
    low, high = accuracy.attainable_z(0.62, 0.04, 0.64, 0.03)
    assert low < high < 0
    assert accuracy.attainable_z(0.64, 0.03, 0.62, 0.04) == pytest.approx((-high, -low))


def test_more_digits_narrow_the_range_of_z():
    low, high = accuracy.attainable_z(0.73, 0.04, 0.92, 0.02)
    inner_low, inner_high = accuracy.attainable_z(0.73, 0.04, 0.92, 0.02, decimals=4)
    assert low < inner_low < inner_high < high


def test_an_accuracy_is_not_taken_to_exceed_one():
    low, high = accuracy.attainable_z(1.0, 0.1, 0.0, 0.1)
    assert low == pytest.approx(0.99 / np.hypot(0.105, 0.105))
    assert high == pytest.approx(1 / np.hypot(0.095, 0.095))


def test_standard_errors_printed_as_zero_are_refused():
    with pytest.raises(ValueError, match="both standard errors are printed as zero: any z-value"):
        accuracy.attainable_z([0.9, 1.0], [0.02, 0.0], [0.8, 1.0], [0.02, 0.0])


def test_the_range_of_p_is_that_of_z():
    low, high = accuracy.attainable_p([-1.96, 0.0])
    np.testing.assert_allclose(low, accuracy.two_sided_p([1.965, 0.005]))
    np.testing.assert_allclose(high, accuracy.two_sided_p([1.955, 0.0]))


def test_deviations_of_all_unrounded_numbers_lie_in_the_range():
    rng = np.random.default_rng(1)
    first, second = np.array([0.73, 0.51, 0.62]), np.array([0.92, 0.51, 0.6])
    shifts = rng.uniform(-0.005, 0.005, (5000, 2, 3))
    deviations = np.abs(first + shifts[:, 0] - second - shifts[:, 1]).mean(axis=1)
    low, high = accuracy.attainable_mean_deviation(first, second)
    assert (low, high) == pytest.approx((0.19 / 3, 0.24 / 3))
    assert low <= deviations.min() < deviations.max() <= high


@pytest.fixture
def table() -> pd.DataFrame:
    """Tests of three estimates against a fourth one, printed with two digits."""
    rng = np.random.default_rng(5)
    means, ses = rng.uniform(0.3, 0.9, 4), rng.uniform(0.02, 0.06, 4)
    z, _ = accuracy.z_test(means[:3], ses[:3], means[3], ses[3])
    return pd.DataFrame(
        {
            "first": ["a", "b", "c"],
            "second": "d",
            "mean": means[:3].round(2),
            "se": ses[:3].round(2),
            "other_mean": means[3].round(2),
            "other_se": ses[3].round(2),
            "z": z.round(2),
        }
    )


def test_a_consistent_table_has_unrounded_numbers_that_give_all_its_z_values(table):
    np.testing.assert_allclose(accuracy.joint_z(table), table["z"], atol=0.005)


def test_the_order_of_tests_does_not_matter(table):
    turned = accuracy.joint_z(table.iloc[::-1])[::-1]
    np.testing.assert_allclose(turned, accuracy.joint_z(table), atol=1e-3)


def test_z_values_that_exclude_each_other_are_not_both_found():
    tests = pd.DataFrame(
        {
            "first": ["a", "b"],
            "second": ["b", "a"],
            "mean": 0.5,
            "se": 0.05,
            "other_mean": 0.5,
            "other_se": 0.05,
            "z": [0.1, 0.1],
        }
    )
    low, high = accuracy.attainable_z(0.5, 0.05, 0.5, 0.05)
    assert accuracy.fits(0.1, low, high)
    np.testing.assert_allclose(accuracy.joint_z(tests), [0, 0], atol=1e-6)
