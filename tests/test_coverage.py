import numpy as np
import pandas as pd
import pytest

from helpers.beyond.coverage import Clusters, count, coverage_summary, measure
from helpers.stats.groups import group_means


def mean(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Mean score with a bootstrap interval."""
    return group_means(frame, ["score"], None, "prompt_id", 199, rng)


def too_narrow(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Interval of half the width."""
    table = mean(frame, rng)
    half = table[["low", "high"]].sub(table["estimate"], axis="index") / 2
    return table.assign(**half.add(table["estimate"], axis="index"))


@pytest.fixture(scope="module")
def population():
    rng = np.random.default_rng(0)
    prompt = np.repeat(np.arange(100), 5)
    score = rng.normal(size=500) + rng.normal(size=100)[prompt]
    return Clusters(pd.DataFrame({"prompt_id": prompt, "score": score}), "prompt_id")


def test_a_good_interval_covers_as_often_as_it_says(population):
    covered = measure(mean, population, 120, 0)
    assert coverage_summary(count(covered))["estimate"] == pytest.approx(0.95, abs=0.05)


def test_a_narrow_interval_is_found_out(population):
    row = coverage_summary(count(measure(too_narrow, population, 80, 0)))
    assert row["estimate"] == pytest.approx(0.67, abs=0.12)
    assert row["high"] < 0.95
    assert row["too low"] == 1


def test_a_shorter_run_is_the_beginning_of_a_longer_one(population):
    short, long = (measure(mean, population, n_sets, 7) for n_sets in (3, 6))
    pd.testing.assert_frame_equal(short, long.iloc[:3])


def test_a_refused_data_set_counts_as_undefined(population):
    def picky(frame: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
        if frame["score"].mean() > population.frame["score"].mean():
            raise ValueError("too high")
        return mean(frame, rng)

    counts = count(measure(picky, population, 20, 0))
    assert 0 < counts["undefined"].item() < 20
    assert counts[["covered", "missed", "undefined"]].sum(axis=1).item() == 20


def test_a_truth_of_zero_is_named():
    frame = pd.DataFrame({"prompt_id": range(10), "score": 0.0})
    covered = measure(mean, Clusters(frame, "prompt_id"), 2, 0)
    assert covered.columns.get_level_values("zero").tolist() == [True]
    assert covered.eq(1).all(axis=None)


def test_statistics_that_err_together_count_as_one():
    one = pd.Series([1.0, 0.0] * 50)
    alone, twins = (count(pd.DataFrame(dict.fromkeys(names, one))) for names in ("a", "ab"))
    assert twins["effective"].iloc[0] == pytest.approx(alone["effective"].iloc[0])


def test_several_low_statistics_are_counted_after_holm():
    counts = pd.DataFrame(
        {"covered": [95, 90, 70, 60], "missed": [5, 10, 30, 40], "undefined": 0, "effective": 300.0}
    )
    row = coverage_summary(counts)
    assert (row["too low"], row["lowest"], row["where"]) == (2, 0.6, 3)
