"""Groups of rows and their order: resampled rows, closed forms, statsmodels."""

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
    return pd.DataFrame(
        {
            "judge": np.where(np.arange(60) % 3 == 0, "GPT-4", "Llama 2"),
            "question_id": np.arange(60) // 4,
            "factuality": rng(4).normal(size=60),
            "formality": rng(5).normal(size=60),
        }
    )


def means(table, columns=("factuality", "formality"), by="judge", n_boot=20):
    estimates, _ = groups.group_mean_draws(
        table, columns, by, "question_id", n_boot, rng()
    )
    return estimates


def test_draws_are_the_means_of_the_resampled_rows(table):
    columns = ["factuality", "formality"]
    estimates, draws = groups.group_mean_draws(
        table, columns, "judge", "question_id", 20, rng()
    )
    expected = table.groupby("judge")[columns].mean()
    np.testing.assert_allclose(estimates.unstack("judge"), expected.T)
    for draw, times in zip(
        draws.to_numpy(), cluster_weights(15, 20, rng()), strict=True
    ):
        rows = table.loc[table.index.repeat(times[table["question_id"]])]
        expected = rows.groupby("judge")[columns].mean()
        np.testing.assert_allclose(draw, expected.to_numpy().T.ravel(), rtol=1e-9)


def test_without_groups_all_rows_are_taken_together(table):
    result = means(table, by=None)
    assert result.index.name == "measure"
    pd.testing.assert_series_equal(
        result, means(table.assign(judge="all")).droplevel("judge")
    )


def test_groups_keep_the_order_of_their_appearance(table):
    table = table.assign(judge=["b"] * 30 + ["a"] * 30, half=["x", "y"] * 30)
    by = ["judge", "half"]
    estimates, draws = groups.group_mean_draws(
        table, ["factuality"], by, "question_id", 5, rng()
    )
    assert estimates.index.names == ["measure", "judge", "half"]
    assert [*estimates["factuality"].index] == [
        ("b", "x"),
        ("b", "y"),
        ("a", "x"),
        ("a", "y"),
    ]
    assert draws.columns.equals(estimates.index)


def test_a_group_that_a_replicate_lacks_is_undefined_there():
    table = pd.DataFrame(
        {"judge": ["a", "b"], "question_id": [0, 1], "error": [1.0, 2.0]}
    )
    _, draws = groups.group_mean_draws(
        table, ["error"], "judge", "question_id", 40, rng()
    )
    assert set(draws["error", "a"].dropna()) == {1.0}
    assert draws["error", "a"].isna().any()


def test_missing_values_are_left_out_column_by_column(table):
    table.loc[table["judge"] == "GPT-4", "formality"] = np.nan
    table.loc[1, "formality"] = np.nan
    result = means(table)
    assert np.isnan(result["formality", "GPT-4"])
    assert result["formality", "Llama 2"] == pytest.approx(table["formality"].mean())
    assert result["factuality", "GPT-4"] == pytest.approx(
        table["factuality"][::3].mean()
    )


def test_a_single_cluster_is_refused(table):
    with pytest.raises(ValueError, match="clusters need at least 2"):
        means(table[:4])


def test_interval_tables_keep_the_order_of_the_estimates():
    draws = pd.DataFrame({"a": np.linspace(0, 1, 201), "b": np.linspace(2, 3, 201)})
    table = groups.interval_table(pd.Series({"b": 2.5, "a": 0.5}), draws)
    np.testing.assert_allclose(table, [[2.5, 2.025, 2.975], [0.5, 0.025, 0.975]])
    assert list(table.index) == ["b", "a"]
    with pytest.raises(KeyError, match="equal"):
        groups.interval_table(pd.Series({"equal": 0.7}), draws)


def times(n: int, seed: int = 0) -> pd.DataFrame:
    """Log-normal times of two groups of people with five submissions each."""
    draw = rng(seed)
    seconds = np.exp(draw.normal(5, 1, n).repeat(5) + draw.normal(0, 0.5, 5 * n))
    people = np.arange(n).repeat(5)
    return pd.DataFrame(
        {"seconds": seconds, "rater_id": people, "group": people % 3 % 2}
    )


def medians(frame, n_boot=99, seed=3):
    return groups.median_table(frame, "seconds", "group", "rater_id", n_boot, rng(seed))


def test_intervals_of_medians_are_quantiles_of_the_medians_of_resampled_rows():
    frame = times(8).assign(group="all")
    rows = frame["seconds"].to_numpy().reshape(8, 5)
    picks = rng(3).integers(8, size=(99, 8))
    draws = [np.quantile(rows[pick], 0.5, method="inverted_cdf") for pick in picks]
    row = medians(frame).loc["all"]
    assert row["estimate"] == np.median(rows)
    np.testing.assert_allclose(row[["low", "high"]], np.quantile(draws, [0.025, 0.975]))


def test_each_group_is_summed_up_by_itself():
    frame = times(30)
    table = medians(frame)
    assert table["estimate"].equals(frame.groupby("group")["seconds"].median())


def test_medians_refuse_gaps_and_groups_of_one_person():
    frame = times(5)
    with pytest.raises(ValueError, match="column 'seconds' has 1 missing value"):
        medians(frame.assign(seconds=frame["seconds"].where(frame.index > 0)))
    with pytest.raises(
        ValueError, match="'rater_id' has 1 distinct value: clusters need"
    ):
        medians(times(1))


CHANGES = pd.DataFrame(
    {"baseline": [-1, -1, 0], "high": [1, 0, 1], "low": [0, 1, -1]},
    index=["high", "low", "high minus low"],
)


def rated(n: int) -> pd.DataFrame:
    """Ratings of two arms and a baseline, some missing; prompts differ a lot."""
    draw = rng(0)
    frame = pd.DataFrame(
        {"prompt_id": np.arange(n).repeat(3), "arm": ["baseline", "high", "low"] * n}
    )
    shift = frame["arm"].map({"baseline": 0.0, "high": 0.5, "low": -1.0})
    frame["complexity"] = draw.normal(0, 2, n).repeat(3) + shift
    frame["quality"] = -frame["complexity"] + draw.normal(size=3 * n)
    frame.loc[draw.random(3 * n) < 0.1, "quality"] = np.nan
    return frame


def contrasts(frame):
    columns = ["complexity", "quality"]
    return groups.group_contrasts(frame, columns, "arm", CHANGES, ["prompt_id"])


def test_contrasts_are_differences_of_means_with_the_jackknife_of_a_slow_loop():
    frame = rated(20)
    found = contrasts(frame.sample(frac=1, random_state=1))
    means = frame.groupby("arm")[["complexity", "quality"]].mean()
    without = {
        prompt: frame[frame["prompt_id"] != prompt].groupby("arm")["quality"].mean()
        for prompt in range(20)
    }
    for name, weights in CHANGES.iterrows():
        row = found.loc[(name, "quality")]
        assert row["estimate"] == pytest.approx(weights @ means["quality"])
        moves = [weights @ left - row["estimate"] for left in without.values()]
        error = np.sqrt(19 / 20 * np.square(moves).sum())
        assert row["standard_error"] == pytest.approx(error)
        assert row["low"] < row["estimate"] < row["high"]


def test_a_group_without_rows_has_no_contrast():
    found = contrasts(rated(20).query("arm != 'low'"))
    assert found.loc["high", "estimate"].notna().all()
    assert found.loc["low", "estimate"].isna().all()


def test_rows_of_other_groups_do_not_matter():
    frame = rated(20)
    change = CHANGES.loc[["high"], ["baseline", "high"]]
    arguments = (["complexity"], "arm", change, ["prompt_id"])
    found = groups.group_contrasts(frame, *arguments)
    alone = groups.group_contrasts(frame[frame["arm"] != "low"], *arguments)
    pd.testing.assert_frame_equal(found, alone)


def test_contrasts_refuse_rows_without_a_group():
    frame = rated(5)
    frame.loc[0, "arm"] = None
    with pytest.raises(ValueError, match="arm"):
        contrasts(frame)
