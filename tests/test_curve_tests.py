"""Joint tests of curves: hand-counted p-values, level under the null, permutations, messages."""

import numpy as np
import pandas as pd
import pytest

from helpers.beyond import specifications
from helpers.beyond.specifications import curve


def table(estimates, sign: int, error: float = 0.5) -> pd.DataFrame:
    rows = pd.DataFrame({"number": range(len(estimates))})
    return curve(rows, estimates, np.full(len(estimates), error), sign)


NULL = np.array([[0.0, 0.1], [2.0, 2.0], [0.4, -0.4], [3.0, 3.2]])


def test_p_values_are_counted_with_one_added():
    result = specifications.joint_test(table([2.0, 2.0], 1), NULL, None, 1)
    assert result.loc["median", "p_value"] == pytest.approx((1 + 2) / 5)
    assert result.loc["significant, %", "observed"] == 100
    assert result.loc["significant, %", "p_value"] == pytest.approx(3 / 5)
    assert result.loc["mean z", "observed"] == pytest.approx(4)


def test_the_other_direction_mirrors_the_first():
    up = specifications.joint_test(table([2.0, 1.0], 1), NULL, None, 1)
    down = specifications.joint_test(table([-2.0, -1.0], -1), -NULL, None, -1)
    np.testing.assert_allclose(up["p_value"], down["p_value"])
    assert down.loc["median", "observed"] == -up.loc["median", "observed"] == -1.5
    assert down.loc["significant, %", "observed"] == up.loc["significant, %", "observed"]


def test_without_a_direction_sizes_count():
    result = specifications.joint_test(table([2.0, -2.0], 0), NULL, None, 0)
    assert result.loc["median", "observed"] == 2
    assert result.loc["significant, %", "observed"] == 100


def test_standard_errors_of_the_draws_are_used_if_given():
    fixed = specifications.joint_test(table([1.5, 1.5], 1), NULL, None, 1)
    wide = specifications.joint_test(table([1.5, 1.5], 1), NULL, np.full(NULL.shape, 10.0), 1)
    assert fixed.loc["significant, %", "p_value"] == pytest.approx(3 / 5)
    assert wide.loc["significant, %", "p_value"] == pytest.approx(1 / 5)


def test_a_specification_that_is_always_zero_is_never_significant():
    rows = curve(pd.DataFrame({"number": [0, 1]}), [0.0, 2.0], [0.0, 0.5], 1)
    result = specifications.joint_test(rows, np.array([[0.0, 0.0], [0.0, 0.1]]), None, 1)
    assert result.loc["significant, %", "observed"] == 50
    assert result.loc["mean z", "observed"] == pytest.approx(2)


def test_the_level_is_kept_where_there_is_nothing_to_find():
    rng = np.random.default_rng(2)
    mixing = rng.normal(size=(3, 12))
    p_values = []
    for draws in rng.normal(size=(300, 100, 3)) @ mixing:
        error = np.sqrt((mixing**2).sum(axis=0))
        rows = curve(pd.DataFrame(index=range(12)), draws[0], error, 1)
        p_values.append(specifications.joint_test(rows, draws[1:], None, 1)["p_value"])
    rejected = (pd.DataFrame(p_values) <= 0.05).mean()
    assert rejected["median"] < 0.09
    assert 0.02 < rejected["mean z"] < 0.09


def test_orders_stay_within_groups_and_differ_between_draws():
    groups = np.array(["b", "a", "b", "a", "a", "c"])
    orders = specifications.permute_within(groups, 500, np.random.default_rng(3))
    assert (groups[orders] == groups).all()
    assert (np.sort(orders, axis=1) == np.arange(6)).all()
    assert (orders[:, 5] == 5).all()
    counts = [np.mean(orders[:, 1] == place) for place in (1, 3, 4)]
    assert counts == pytest.approx([1 / 3] * 3, abs=0.08)


def test_draws_must_fit_the_curve_and_be_finite():
    with pytest.raises(ValueError, match=r"shape \(4, 2\): give one column for each of the 3 sp"):
        specifications.joint_test(table([1, 1, 1], 1), NULL, None, 1)
    broken = np.where(NULL == 3.2, np.nan, NULL)
    with pytest.raises(ValueError, match="1 of 8 draws are not finite"):
        specifications.joint_test(table([1, 1], 1), broken, None, 1)
