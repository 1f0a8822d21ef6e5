"""Wald tests of equality against closed forms and statsmodels; shares of first and last places."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.formula.api import ols

from helpers.stats import groups, lines
from helpers.stats.bootstrap import cluster_weights


def make_groups(slopes: tuple[float, ...], n_prompts: int = 300, seed: int = 1) -> pd.DataFrame:
    """Prompts answered by every group, each group with its own slope."""
    rng = np.random.default_rng(seed)
    prompt = np.repeat(np.arange(n_prompts), len(slopes))
    group = np.tile(np.arange(len(slopes)), n_prompts)
    x = rng.normal(size=len(prompt)) + rng.normal(size=n_prompts)[prompt]
    y = np.array(slopes)[group] * x + rng.normal(size=n_prompts)[prompt]
    y += rng.normal(size=len(prompt))
    return pd.DataFrame(
        {"prompt_id": prompt, "group": group.astype(str), "arm": "one", "x": x, "y": y}
    )


def slope_test(frame: pd.DataFrame, n_boot: int = 4000) -> tuple[float, float]:
    """Test that all groups have the same slope."""
    sums = lines.cell_sums(frame, "x", "y", "group", "arm", "prompt_id")
    weights = cluster_weights(len(sums.sums), n_boot, np.random.default_rng(0))
    return groups.equality_test(sums.lines().slope[0], sums.lines(weights).slope)


def test_two_groups_give_the_square_of_a_z_test():
    draws = np.random.default_rng(0).normal(size=(500, 2))
    statistic, p_value = groups.equality_test([1.0, 3.0], draws)
    z = 2 / np.std(draws[:, 1] - draws[:, 0], ddof=1)
    assert statistic == pytest.approx(z**2)
    assert p_value == pytest.approx(2 * stats.norm.sf(z))


def test_wald_test_of_slopes_agrees_with_clustered_regression():
    frame = make_groups((0.4, 0.5, 0.6))
    fit = ols("y ~ group * x", frame).fit(
        cov_type="cluster", cov_kwds={"groups": frame["prompt_id"]}
    )
    oracle = fit.wald_test("group[T.1]:x = 0, group[T.2]:x = 0", use_f=False, scalar=True)
    statistic, p_value = slope_test(frame)
    assert statistic == pytest.approx(oracle.statistic, rel=0.1)
    assert p_value == pytest.approx(oracle.pvalue, abs=0.02)


def test_true_equality_is_rejected_about_as_often_as_at_random():
    p_values = [slope_test(make_groups((0.5, 0.5, 0.5), 60, seed), 300)[1] for seed in range(200)]
    assert 0.02 <= np.mean(np.array(p_values) < 0.05) <= 0.10


def test_several_statistics_are_tested_together():
    rng = np.random.default_rng(0)
    draws = rng.normal(size=(2, 50_000, 3))
    statistic, p_value = groups.equality_test([[0, 2, 0], [0, 0, 0]], draws)
    alone, _ = groups.equality_test([0, 2, 0], draws[0])
    assert statistic == pytest.approx(alone, rel=0.02)
    assert p_value == pytest.approx(stats.chi2.sf(statistic, 4))


def test_order_of_groups_does_not_matter():
    draws = np.random.default_rng(0).normal(size=(200, 3))
    once = groups.equality_test([1.0, 2.0, 4.0], draws)
    reverse = groups.equality_test([4.0, 2.0, 1.0], draws[:, ::-1])
    assert once == pytest.approx(reverse)


def test_a_draw_that_is_not_finite_is_refused():
    with pytest.raises(ValueError, match="a draw is not finite: some resample does not determine"):
        groups.equality_test([1.0, 2.0], [[1.0, 2.0], [np.nan, 2.0]])


def test_ranking_orders_groups_and_counts_places():
    draws = [[1.0, 2.0, 3.0]] * 3 + [[2.0, 1.0, 3.0]]
    table = groups.ranking(["x", "y", "z"], [2.0, 1.0, 3.0], draws)
    assert table.index.tolist() == ["y", "x", "z"]
    assert table["lowest, %"].tolist() == [25, 75, 0]
    assert table["highest, %"].tolist() == [0, 0, 100]
