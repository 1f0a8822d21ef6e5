"""Coverage of intervals: good and narrow ones, how data sets are drawn, the list."""

import inspect
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

from benchmarks import coverage, coverage_statistics
from benchmarks.coverage import count, measure
from benchmarks.coverage_designs import (
    DESIGNS,
    Design,
    draw_clusters,
    draw_two_ways,
)
from benchmarks.coverage_statistics import STATISTICS, Statistic
from helpers.robustness.coverage import CONSERVATIVE, coverage_table
from helpers.stats import (
    accuracy,
    agreement,
    bootstrap,
    clustered,
    correlations,
    groups,
    lasso,
    lines,
    ordinal,
    rates,
)

RATINGS = pd.DataFrame(
    {
        "rater_id": list("aabbcc"),
        "prompt_id": [1, 2, 1, 2, 1, 2],
        "item_id": ["x", "y", "x", "y", "x", "y"],
        "score": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    }
)


@pytest.fixture(scope="module")
def answers():
    rng = np.random.default_rng(0)
    prompt = np.repeat(np.arange(100), 5)
    score = rng.normal(size=500) + rng.normal(size=100)[prompt]
    return pd.DataFrame({"prompt_id": prompt, "score": score})


def mean(tables, n_boot, rng):
    table = groups.group_means(
        tables["answers"], ["score"], None, "prompt_id", n_boot, rng
    )
    return coverage_statistics.by_name(table)


def by_t(tables, n_boot, rng):
    """Interval of a mean of clusters of one size by the t distribution."""
    clusters = tables["answers"].groupby("prompt_id")["score"].mean()
    margin = t.ppf(0.975, len(clusters) - 1) * clusters.sem()
    ends = {"low": clusters.mean() - margin, "high": clusters.mean() + margin}
    return pd.DataFrame({"estimate": clusters.mean(), **ends}, index=["score"])


def too_narrow(tables, n_boot, rng):
    table = by_t(tables, n_boot, rng)
    half = table[["low", "high"]].sub(table["estimate"], axis="index") / 2
    return table.assign(**half.add(table["estimate"], axis="index"))


def at_once(tables, n_boot, rng):
    table = mean(tables, n_boot, rng)
    never = table.assign(low=10.0, high=11.0)
    return pd.concat([table, never]).set_axis(["one", "other"])


def tried(compute, table, n_sets, n_boot=19, seed=0, kind="mean"):
    """Which intervals of a statistic of one table hold the truth."""
    design = Design(
        load=lambda source: {"answers": table},
        draw=partial(draw_clusters, cluster="prompt_id"),
    )
    statistic = Statistic("11", kind, "title", "design", compute)
    return measure(design, [statistic], n_sets, n_boot, seed)[0]


def table_of(covered):
    counts = count(covered["mean"]).set_axis(["title: score"])
    index = pd.MultiIndex.from_tuples(
        [("mean", "11", "title: score")], names=["interval", "notebook", "statistic"]
    )
    return coverage_table(counts.set_axis(index)).loc["mean"]


def test_a_good_interval_covers_as_often_as_it_says_and_a_narrow_one_is_noticed(
    answers,
):
    good = table_of(tried(by_t, answers, 400))
    narrow = table_of(tried(too_narrow, answers, 400))
    assert good["estimate"] == pytest.approx(0.95, abs=0.06)
    assert good["too low"] == 0
    assert narrow["estimate"] == pytest.approx(0.67, abs=0.14)
    assert narrow["high"] < 0.9
    assert narrow["too low"] == 1


def test_a_shorter_run_is_the_beginning_of_a_longer_one(answers):
    short = tried(mean, answers, 3, seed=7)
    long = tried(mean, answers, 6, seed=7)
    pd.testing.assert_frame_equal(short, long.iloc[:3])


def test_a_statistic_does_not_depend_on_the_others(answers):
    design = Design(
        load=lambda source: {"answers": answers},
        draw=partial(draw_clusters, cluster="prompt_id"),
    )
    narrow = Statistic("11", "mean", "narrow", "design", too_narrow)
    other = Statistic("11", "mean", "other", "design", mean)
    alone = measure(design, [narrow], 20, 19, 0)[0]
    beside = measure(design, [other, narrow], 20, 19, 0)[1]
    pd.testing.assert_frame_equal(alone, beside)


def test_a_refused_data_set_counts_as_undefined(answers):
    def picky(tables, n_boot, rng):
        if tables["answers"]["score"].mean() > answers["score"].mean() + 1e-9:
            raise ValueError("too high")
        return mean(tables, n_boot, rng)

    counts = count(tried(picky, answers, 20))
    assert 0 < counts["undefined"].item() < 20
    assert counts[["covered", "missed", "undefined"]].sum(axis=1).item() == 20


def test_a_truth_of_zero_and_intervals_that_hold_at_once_are_told_apart(answers):
    zero = pd.DataFrame({"prompt_id": range(10), "score": 0.0})
    covered = tried(mean, zero, 2)
    assert covered.columns.tolist() == [("mean, truth zero", "score")]
    assert covered.columns.unique(0).str.endswith(CONSERVATIVE).tolist() == [True]
    band = tried(at_once, answers, 2, kind="curve, at once")
    assert band.columns.tolist() == [("curve, at once", "all")]
    assert band["curve, at once", "all"].tolist() == [0, 0]


def test_clusters_stay_whole_keep_their_number_and_share_no_items():
    ratings = RATINGS[RATINGS["rater_id"] != "a"]
    drawn = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        sample = draw_clusters({"r": ratings}, rng, "rater_id")["r"]
        pairs = sample.groupby("rater_id")["score"].agg(tuple)
        assert set(pairs) <= {(3.0, 4.0), (5.0, 6.0)}
        assert len(pairs) == 2
        drawn += pairs.to_list()
    assert drawn.count((3.0, 4.0)) == pytest.approx(200, abs=45)
    rng = np.random.default_rng(3)
    sample = draw_clusters({"r": RATINGS}, rng, "prompt_id")["r"]
    assert sample.groupby("item_id")["prompt_id"].nunique().max() == 1


def test_tables_that_share_prompts_get_the_same_prompts_and_labels():
    other = pd.DataFrame({"prompt_id": [1, 2], "item_id": ["x", "y"], "label": [0, 1]})
    tables = {"ratings": RATINGS, "labels": other}
    for seed in range(5):
        drawn = draw_clusters(tables, np.random.default_rng(seed), "prompt_id")
        items = drawn["ratings"].groupby("item_id").size()
        assert set(items.index) == set(drawn["labels"]["item_id"])
        assert (items == 3).all()


def test_raters_and_prompts_are_drawn_together():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        sample = draw_two_ways({"r": RATINGS}, rng, "prompt_id", "rater_id")["r"]
        assert sample[["rater_id", "prompt_id"]].nunique().tolist() == [3, 2]
        assert not sample.duplicated(["rater_id", "prompt_id"]).any()
        assert sample.groupby("item_id")["prompt_id"].nunique().max() == 1
    sparse = RATINGS[[True, False, False, True, True, True]]
    rng = np.random.default_rng(0)
    sizes = []
    for _ in range(500):
        sample = draw_two_ways({"r": sparse}, rng, "prompt_id", "rater_id")["r"]
        sizes.append(len(sample))
    assert np.mean(sizes) == pytest.approx(4, rel=0.1)


def test_statistics_that_err_together_count_as_one():
    one = pd.Series([1.0, 0.0] * 50)
    alone = count(pd.DataFrame({"a": one}))
    twins = count(pd.DataFrame({"a": one, "b": one}))
    assert twins["effective"].iloc[0] == pytest.approx(alone["effective"].iloc[0])


def test_low_statistics_are_counted_after_holm_and_the_lowest_is_named():
    index = pd.MultiIndex.from_product(
        [["mean"], ["11"], [f"1: {name}" for name in "abcd"]],
        names=["interval", "notebook", "statistic"],
    )
    counts = pd.DataFrame(
        {
            "covered": [95, 90, 70, 60],
            "missed": [5, 10, 30, 40],
            "undefined": 0,
            "effective": 300.0,
        },
        index,
    )
    row = coverage_table(counts).loc["mean"]
    assert row[["printed in", "too low", "lowest", "where"]].tolist() == [
        "11",
        2,
        0.6,
        "d",
    ]


def test_the_list_names_each_statistic_once_and_known_designs():
    names = pd.DataFrame([vars(statistic) for statistic in STATISTICS])
    assert not names.duplicated(["notebook", "kind", "title"]).any()
    assert set(names["design"]) == set(DESIGNS)
    assert not names["title"].str.contains(": ").any()


@pytest.mark.parametrize("name", ["Hosking 1", "Hosking 2", "ChatBench, questions"])
def test_statistics_are_computed_on_drawn_tables_of_a_study(name):
    design = DESIGNS[name]
    tables = design.load("simulated")
    drawn = design.draw(tables, np.random.default_rng(0))
    assert {key: list(table) for key, table in drawn.items()} == {
        key: list(table) for key, table in tables.items()
    }
    for statistic in [each for each in STATISTICS if each.design == name]:
        table = statistic.compute(tables, 9, np.random.default_rng(0))
        assert table.columns.tolist() == ["estimate", "low", "high"]
        assert table.index.is_unique
        again = statistic.compute(drawn, 9, np.random.default_rng(0))
        assert again["estimate"].notna().any()


def test_the_table_names_kind_notebook_and_statistic():
    chosen = [each for each in STATISTICS if each.title == "slope past the peak"]
    table = coverage.measure_all(chosen, 3, 9, 0, data_source="simulated")
    assert table.index.tolist() == [
        ("adjusted slope", "19", f"slope past the peak: {name}")
        for name in ("alone", "adjusted", "explained")
    ]
    assert table[["covered", "missed", "undefined"]].sum(axis=1).tolist() == [3, 3, 3]


def test_every_function_that_resamples_is_tried_or_has_a_reason_why_not():
    source = inspect.getsource(coverage_statistics)
    no_interval = {
        "bootstrap_ratio",
        "bootstrap_means",  # inside others
        "group_mean_draws",  # behind group_means
        "in_batches",
        "lasso_table",
    }
    of_51 = {"detection_rates", "cluster_draws"}  # notebook 51 measures these itself
    modules = (
        accuracy,
        agreement,
        bootstrap,
        clustered,
        correlations,
        groups,
        lasso,
        lines,
        ordinal,
        rates,
    )
    for module in modules:
        for name, function in inspect.getmembers(module, inspect.isfunction):
            own = function.__module__ == module.__name__ and not name.startswith("_")
            resamples = "n_boot" in inspect.signature(function).parameters
            if own and resamples and name not in no_interval | of_51:
                assert f"{name}" in source, name
