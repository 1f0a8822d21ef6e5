"""The jackknife, Wilson, Fieller, Holm and the bootstrap, beside brute force."""

import dask.dataframe
import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, rankdata, spearmanr, studentized_range
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from helpers import intervals
from helpers.data.tables import OptionError

BOTH = ["rater_id", "prompt_id"]


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.fixture(scope="module")
def ratings():
    """Six items a prompt; some cells have several ratings, some values are missing."""
    n = 900
    table = pd.DataFrame({"rater_id": rng(1).integers(0, 12, n)})
    table["item_id"] = rng(2).integers(0, 150, n)
    table = table.drop_duplicates().reset_index(drop=True)
    table["prompt_id"] = table["item_id"] // 6
    noise = rng(3).normal(size=(len(table), 2))
    table["system"] = np.where(table["item_id"] % 2 == 0, "new", "old")
    table["score"] = rng(4).normal(size=25)[table["prompt_id"]] + noise[:, 0]
    table["words"] = 1e6 + table["score"] + noise[:, 1]
    table.loc[::17, "words"] = np.nan
    return table


def kinds_of(clusters):
    if len(clusters) == 1:
        return [clusters]
    return [clusters[:1], clusters[1:], clusters]


def brute_force(frame, clusters, compute):
    """Estimate, and covariance by each kind of cluster, computed anew each time."""
    estimate = np.asarray(compute(frame))
    covariances = []
    for kind in kinds_of(clusters):
        groups = frame.groupby(kind).ngroup()
        n_groups = groups.max() + 1
        changes = [compute(frame[groups != g]) - estimate for g in range(n_groups)]
        changes = np.array(changes)
        covariances.append(changes.T @ changes * (n_groups - 1) / n_groups)
    return estimate, covariances


def assert_same(estimates, expected):
    estimate, covariances = expected
    np.testing.assert_allclose(estimates.value, estimate, rtol=1e-9)
    for found, brute in zip(estimates.covariances, covariances, strict=True):
        np.testing.assert_allclose(found, brute, rtol=1e-8, atol=1e-14)


@pytest.mark.parametrize("clusters", [BOTH, ["prompt_id"], ["rater_id"]])
@pytest.mark.parametrize("is_large", [False, True])
def test_means_of_groups_are_those_of_brute_force(ratings, clusters, is_large):
    def means(frame):
        return frame.groupby("system")[["score", "words"]].mean().to_numpy().T.ravel()

    frame = dask.dataframe.from_pandas(ratings, npartitions=3) if is_large else ratings
    found = intervals.group_means(frame, ["score", "words"], clusters, "system")
    assert_same(found, brute_force(ratings, clusters, means))


@pytest.mark.parametrize("is_large", [False, True])
def test_correlations_are_those_of_brute_force_far_from_zero_too(ratings, is_large):
    def correlation(frame):
        return np.array([np.arctanh(frame["words"].corr(frame["score"]))])

    frame = dask.dataframe.from_pandas(ratings, npartitions=3) if is_large else ratings
    found = intervals.correlations(frame, ["words"], "score", BOTH)
    assert_same(found, brute_force(ratings, BOTH, correlation))


def test_correlations_with_others_are_those_of_brute_force(ratings):
    def correlation(frame):
        by_item = frame.groupby("item_id")["score"]
        n = by_item.transform("size")
        others = (by_item.transform("sum") - frame["score"]) / (n - 1)
        known = n > 1
        return np.array([others[known].corr(frame.loc[known, "words"])])

    known = ratings.dropna()
    found = intervals.others_correlations(
        known, ["words"], "score", "item_id", BOTH, fisher=False
    )
    assert_same(found, brute_force(known, BOTH, correlation))


def test_correlations_of_means_move_with_the_weights_of_raters(ratings):
    known = ratings.dropna()

    def correlation(frame, weights=1.0):
        weights = pd.Series(weights, frame.index)
        sums = frame[["words", "score"]].mul(weights, axis=0)
        summed = sums.groupby(frame["item_id"]).sum()
        means = summed.div(weights.groupby(frame["item_id"]).sum(), axis=0)
        return means["words"].corr(means["score"])

    found = intervals.correlations_of_means(
        known, ["words"], "score", "item_id", BOTH, fisher=False
    )
    assert found.value.item() == pytest.approx(correlation(known))
    by_rater, by_prompt, by_cell = (each.item() for each in found.covariances)
    estimate = correlation(known)
    for kind, variance in [(["rater_id"], by_rater), (BOTH, by_cell)]:
        groups = known.groupby(kind).ngroup()
        slopes = [
            (correlation(known, 1.0 + 1e-5 * (groups == g)) - estimate) / 1e-5
            for g in range(groups.max() + 1)
        ]
        assert variance == pytest.approx(np.square(slopes).sum(), rel=1e-3)
    _, (by_left_out,) = brute_force(
        known, ["prompt_id"], lambda frame: np.array([correlation(frame)])
    )
    assert by_prompt == pytest.approx(by_left_out.item())


def test_items_lose_what_each_cluster_rated(ratings):
    known = ratings.assign(n=1.0)

    def spread(sums):
        return sums[:, [1]] ** 2 / np.maximum(sums[:, [0]], 1)

    def total(frame):
        sums = frame.groupby("item_id")[["n", "score"]].sum().to_numpy()
        return spread(sums).sum(axis=0)

    sums = intervals.item_sums(known, ["n", "score"], "item_id", BOTH, spread)
    found = intervals.jackknife(sums, lambda s: s, ["spread"], lambda s: np.abs(s))
    assert_same(found, brute_force(known, BOTH, total))


def test_degrees_of_freedom_count_clusters_by_what_they_tell():
    table = pd.DataFrame({"prompt_id": list("aaaaaabcde"), "score": range(10)})
    found = intervals.group_means(table, ["score"], ["prompt_id"])
    assert found.degrees.item() == pytest.approx(10**2 / (36 + 4) - 1)


def test_a_variance_is_never_less_than_that_by_one_kind_of_cluster():
    first, second, cells = np.array([4.0, 1]), np.array([1.0, 3]), np.array([0.5, 3.9])
    joined = intervals.joined_variance([first, second, cells])
    assert joined.tolist() == [4.5, 3.0]


def test_wilson_is_that_of_statsmodels():
    counts = np.array([0, 1, 30, 60])
    found = intervals.wilson(counts / 60, 60)
    expected = proportion_confint(counts, 60, method="wilson")
    np.testing.assert_allclose(found, expected, atol=1e-12)
    exact = binomtest(0, 30).proportion_ci().high
    assert intervals.clopper_pearson_ends(30) == pytest.approx(exact)


def test_holm_is_that_of_statsmodels():
    p_values = rng(5).random(20) ** 3
    expected = multipletests(p_values, method="holm")[1]
    np.testing.assert_allclose(intervals.holm(p_values), expected)


@pytest.mark.parametrize("n_kinds", [1, 3])
def test_fieller_has_the_ratios_that_are_not_rejected(n_kinds):
    covariances = []
    for seed in range(n_kinds):
        root = rng(seed).normal(size=(2, 2)) / 5
        covariances.append(root @ root.T)
    if n_kinds == 3:
        covariances[2] = 0.3 * covariances[0]
    low, high = intervals.fieller(1.2, 1.0, covariances, 20)
    names = pd.Series({"a": 1.2, "b": 1.0})
    both = intervals.Estimates(names, tuple(covariances), np.array([20.0, 20.0]))
    for ratio in np.linspace(low - 0.1, high + 0.1, 400):
        weights = pd.DataFrame([[1.0, -ratio]], ["x"], names.index)
        p_value = both.contrast(weights).table()["p_value"].item()
        assert (p_value >= 0.05) == (low <= ratio <= high)


def test_a_ratio_to_what_may_be_zero_has_no_interval():
    assert np.isnan(intervals.fieller(2.0, 0.3, [np.diag([0.04, 0.04])], 20)).all()


def test_ranks_of_resampled_rows_are_those_of_repeated_rows(ratings):
    values = np.round(ratings["score"].to_numpy(), 1)
    times = rng(6).integers(0, 3, len(values))
    repeated = np.repeat(values, times)
    expected = rankdata(repeated)
    found = np.repeat(intervals._mean_ranks(values, times), times)
    np.testing.assert_allclose(found, expected)
    known = ratings.dropna()
    draws = intervals.rank_correlations(known, ["words"], "score", BOTH, 5, seed=0)
    expected = spearmanr(known["words"], known["score"]).statistic
    assert draws["words"].iloc[0] == pytest.approx(expected)
    assert len(draws) == 6


def test_resamples_take_as_many_clusters_as_there_are():
    clusters = pd.DataFrame({"prompt_id": np.repeat(range(7), 3)})
    times = intervals.times_drawn(clusters, 40, seed=1)
    assert (times.reshape(40, 7, 3).mean(axis=2).sum(axis=1) == 7).all()
    assert (np.ptp(times.reshape(40, 7, 3), axis=2) == 0).all()


@pytest.mark.parametrize(
    ("change", "clusters", "message"),
    [
        ({"rater_id": [1, 2] * 5}, ["rater_id"], "has 2 clusters.*at least 3"),
        ({"rater_id": range(10)}, ["rater_id"], "nobody repeats in column 'rater_id'"),
        ({"rater_id": [*list("aabbccdde"), None]}, ["rater_id"], "1 missing values"),
        (
            {"rater_id": list("aabbccddee"), "prompt_id": list("aaaabbbbcc")},
            BOTH,
            "each of its 5 values stands with one 'prompt_id' only",
        ),
        ({}, ["rater_id"], "'rater_id' is not in the table"),
        ({}, [], "0 columns of clusters"),
    ],
)
def test_clusters_that_give_no_interval_are_refused(change, clusters, message):
    table = pd.DataFrame({"score": range(10)}).assign(**change)
    with pytest.raises(OptionError, match=message):
        intervals.check_clusters(table, clusters)


def test_two_columns_of_one_name_are_refused():
    table = pd.DataFrame([[1, 2, 3]], columns=["rater_id", "rater_id", "score"])
    with pytest.raises(OptionError, match="2 columns are called 'rater_id'"):
        intervals.check_columns(table, ["rater_id"])


# All pairs at once ---------------------------------------------------------------


def test_simultaneous_differences_are_tukeys_for_equal_variances():
    value = pd.Series([0.0, 0.3, 0.9, 1.0], index=list("abcd"))
    estimates = intervals.Estimates(value, (0.09 * np.eye(4),), np.full(4, 12.0))
    found = intervals.all_differences(estimates)
    margin = found["estimate"] - found["low"]
    # the standard error of a mean is 0.3
    expected = 0.3 * studentized_range.ppf(0.95, 4, 12)
    np.testing.assert_allclose(margin, expected, rtol=0.015)
    p_values = studentized_range.sf(found["estimate"].abs() / 0.3, 4, 12)
    np.testing.assert_allclose(found["p_adjusted"], p_values, atol=0.01)
    assert found.index.tolist()[:2] == [("a", "b"), ("a", "c")]


def test_two_groups_need_no_correction():
    value = pd.Series([1.0, 0.25], index=["x", "y"])
    covariances = (np.diag([0.2, 0.1]), np.diag([0.1, 0.1]), np.diag([0.05, 0.05]))
    estimates = intervals.Estimates(value, covariances, np.array([7.0, 9.0]))
    found = intervals.all_differences(estimates)
    single = estimates.difference("x", "y").table()
    assert single["estimate"].item() == 0.75
    np.testing.assert_allclose(
        found[["estimate", "low", "high", "p_adjusted", "df"]],
        single[["estimate", "low", "high", "p_value", "df"]],
    )


def test_correlated_estimates_need_less_correction():
    value = pd.Series(np.arange(5.0))
    apart = intervals.Estimates(value, (np.eye(5),), np.full(5, 50.0))
    # three of them move together
    moves = np.array([0, 0, 1.0, 1.0, 1.0])
    shared = np.outer(moves, moves) + 1e-6 * np.eye(5)
    together = intervals.Estimates(value, (shared,), np.full(5, 50.0))
    found = []
    for estimates in (apart, together):
        table = intervals.all_differences(estimates)
        row = table.loc[(0, 2)]
        found.append((row["high"] - row["low"]) / row["standard_error"])
    assert found[1] < found[0]


def test_an_estimate_without_variance_has_no_interval():
    value = pd.Series([0.0, 1.0, 2.0])
    estimates = intervals.Estimates(value, (np.zeros((3, 3)),), np.full(3, 5.0))
    found = intervals.all_differences(estimates)
    assert found[["low", "high", "p_adjusted"]].isna().all(axis=None)


def test_groups_together_have_the_numbers_of_each_alone():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"group": rng.integers(4, size=200)})
    frame["prompt_id"] = rng.integers(12, size=200)
    frame["x"] = 3 + rng.normal(size=200) + frame["group"]
    frame["y"] = frame["x"] * (frame["group"] - 1) + rng.normal(size=200)
    columns = [frame[name].to_numpy() for name in ("group", "prompt_id", "x", "y")]
    means = intervals.by_group(*columns[:3])
    correlations = intervals.by_group(*columns)
    for group, part in frame.groupby("group"):
        mean = intervals.group_means(part, ["x"], ["prompt_id"])
        correlation = intervals.correlations(
            part, ["x"], "y", ["prompt_id"], fisher=False
        )
        for found, alone in ((means, mean), (correlations, correlation)):
            own = alone.table().iloc[0]
            np.testing.assert_allclose(found.loc[group, own.index], own)
        assert means.loc[group, "n"] == len(part)
        assert means.loc[group, "n_clusters"] == part["prompt_id"].nunique()
