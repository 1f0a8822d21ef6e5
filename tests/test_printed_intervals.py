import numpy as np
import pandas as pd
import pytest

from helpers.beyond import coverage
from helpers.beyond.coverage import count


@pytest.fixture(scope="module")
def inventory():
    return [
        *coverage.hosking_inventory("simulated", 0, 9),
        *coverage.other_inventory("simulated", 0, 9),
    ]


def test_every_kind_of_interval_says_where_it_is_printed(inventory):
    kinds = [
        kind
        for method, population in inventory
        for kind in method(population.frame, np.random.default_rng(0)).index.unique("interval")
    ]
    assert sorted(kinds) == sorted(coverage.PRINTED_IN)


def test_every_method_takes_a_drawn_table(inventory):
    for method, population in inventory:
        sample = population.sample(np.random.default_rng(1))
        found = method(sample, np.random.default_rng(0))
        defined = found.dropna()
        assert len(defined) > 0
        assert (defined["low"] <= defined["high"]).all()


def test_intervals_that_hold_together_are_one_statistic(inventory):
    method, population = inventory[2]
    counts = coverage.measure_all([(method, population)], 2, 0)
    assert counts.loc["curve, at once"].index.tolist() == ["all"]
    assert counts.loc["mean in a bin"].shape[0] == 10


def test_the_table_names_notebooks_also_where_the_truth_is_zero():
    parts = {
        kind: count(pd.DataFrame({"scope": [1.0, 0.0]}))
        for kind in ("Lasso weight", "Lasso weight, truth zero")
    }
    table = coverage.coverage_table(pd.concat(parts))
    assert table["printed in"].tolist() == ["00, 11"] * 2
    assert table["estimate"].tolist() == [0.5, 0.5]
