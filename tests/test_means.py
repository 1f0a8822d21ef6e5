"""Means of groups against means of resampled rows, and tables of intervals."""

import numpy as np
import pandas as pd
import pytest

from helpers.stats import groups
from helpers.stats.bootstrap import cluster_weights


def rng(seed: int = 3) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.fixture
def table():
    """Two ratings of 60 answers to 15 questions by two judges."""
    draw = rng(4)
    return pd.DataFrame(
        {
            "judge": np.where(np.arange(60) % 3 == 0, "GPT-4", "Llama 2"),
            "question_id": np.arange(60) // 4,
            "factuality": draw.normal(size=60),
            "formality": draw.normal(size=60),
        }
    )


def test_draws_are_the_means_of_the_resampled_rows(table):
    columns = ["factuality", "formality"]
    estimates, draws = groups.group_mean_draws(table, columns, "judge", "question_id", 20, rng())
    expected = table.groupby("judge")[columns].mean()
    np.testing.assert_allclose(estimates.unstack("judge"), expected.T)
    for draw, times in zip(draws.to_numpy(), cluster_weights(15, 20, rng()), strict=True):
        rows = table.loc[table.index.repeat(times[table["question_id"]])]
        expected = rows.groupby("judge")[columns].mean()
        np.testing.assert_allclose(draw, expected.to_numpy().T.ravel(), rtol=1e-9)


def test_intervals_of_independent_rows_are_those_of_the_textbook():
    outputs = pd.DataFrame(
        {
            "prompt_id": np.repeat(np.arange(200), 2),
            "system": ["a", "b"] * 200,
            "quality": rng().normal(3, 1, 400),
        }
    )
    result = groups.group_means(outputs, ["quality"], "system", "prompt_id", 2000, rng(4))
    of_a = outputs.loc[outputs["system"] == "a", "quality"]
    row = result.loc[("quality", "a")]
    assert row["estimate"] == pytest.approx(of_a.mean())
    expected = 2 * 1.96 * of_a.std() / np.sqrt(200)
    assert row["high"] - row["low"] == pytest.approx(expected, rel=0.1)


def test_without_groups_all_rows_are_taken_together(table):
    columns = ["formality", "factuality"]
    result = groups.group_means(table, columns, None, "question_id", 50, rng())
    alone = groups.group_means(table.assign(all="all"), columns, "all", "question_id", 50, rng())
    assert result.index.tolist() == columns
    assert result.index.name == "measure"
    pd.testing.assert_frame_equal(result, alone.droplevel("all"))


def test_groups_keep_the_order_of_their_appearance(table):
    table = table.assign(judge=["b"] * 30 + ["a"] * 30, half=["x", "y"] * 30)
    estimates, draws = groups.group_mean_draws(
        table, ["factuality"], ["judge", "half"], "question_id", 5, rng()
    )
    assert estimates.index.names == ["measure", "judge", "half"]
    assert [*estimates["factuality"].index] == [("b", "x"), ("b", "y"), ("a", "x"), ("a", "y")]
    assert draws.columns.equals(estimates.index)


def test_the_order_of_rows_changes_nothing_but_the_order_of_groups(table):
    once, shuffled = (
        groups.group_means(rows, ["formality"], "judge", "question_id", 50, rng())
        for rows in (table, table.sample(frac=1, random_state=1))
    )
    pd.testing.assert_frame_equal(once, shuffled.loc[once.index])


def test_a_group_that_a_replicate_lacks_is_undefined_there():
    table = pd.DataFrame({"judge": ["a", "b"], "question_id": [0, 1], "error": [1.0, 2.0]})
    _, draws = groups.group_mean_draws(table, ["error"], "judge", "question_id", 40, rng())
    assert set(draws["error", "a"].dropna()) == {1.0}
    assert draws["error", "a"].isna().any()


def test_missing_values_are_left_out_column_by_column(table):
    table.loc[table["judge"] == "GPT-4", "formality"] = np.nan
    table.loc[1, "formality"] = np.nan
    result = groups.group_means(
        table, ["formality", "factuality"], "judge", "question_id", 50, rng()
    )["estimate"]
    assert np.isnan(result["formality", "GPT-4"])
    assert result["formality", "Llama 2"] == pytest.approx(table["formality"].mean())
    assert result["factuality", "GPT-4"] == pytest.approx(table["factuality"][::3].mean())


def test_unusable_columns_are_refused(table):
    with pytest.raises(ValueError, match="column 'clarity' is not in the table"):
        groups.group_means(table, ["clarity"], "judge", "question_id", 5, rng())
    infinite = table.assign(factuality=np.where(table.index == 2, np.inf, 1.0))
    with pytest.raises(ValueError, match="column 'factuality' is infinite in row 2"):
        groups.group_means(infinite, ["factuality"], "judge", "question_id", 5, rng())
    with pytest.raises(ValueError, match="clusters need at least 2"):
        groups.group_means(table[:4], ["factuality"], "judge", "question_id", 5, rng())


def test_interval_tables_keep_the_order_of_the_estimates():
    draws = pd.DataFrame({"a": np.linspace(0, 1, 201), "b": np.linspace(2, 3, 201)})
    table = groups.interval_table(pd.Series({"b": 2.5, "a": 0.5}), draws)
    np.testing.assert_allclose(table, [[2.5, 2.025, 2.975], [0.5, 0.025, 0.975]])
    assert list(table.index) == ["b", "a"]


def test_an_estimate_without_draws_is_refused():
    with pytest.raises(KeyError, match="equal"):
        groups.interval_table(pd.Series({"equal": 0.7}), pd.DataFrame({"direct": [0.7]}))
