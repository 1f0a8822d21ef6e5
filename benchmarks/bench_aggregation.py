"""Aggregation over raters: vectorised sums against a Python function for each group."""

import time

import numpy as np
import pandas as pd

from helpers.data.columns.hosking import ERRORS_1, ERRORS_2, FACTORS
from helpers.simulate import hosking
from helpers.stats.aggregation import aggregate

ROUNDS = 3


def mode_with_ties(values: pd.Series) -> float:
    """Most frequent value, the mean of them where several tie."""
    return values.mode().mean()


def naive(table: pd.DataFrame, mode: list[str], mean: list[str]) -> pd.DataFrame:
    """Call a function for each column of each group."""
    return table.groupby("item_id").agg(
        dict.fromkeys(mode, mode_with_ties) | dict.fromkeys(mean, "mean")
    )


def best_seconds(function) -> float:
    """Shortest of several runs, which other work on the machine disturbs least."""
    times = []
    for _ in range(ROUNDS):
        started = time.process_time()
        function()
        times.append(time.process_time() - started)
    return min(times)


def main():
    rng = np.random.default_rng(1)
    tables = {
        "experiment 1": (
            hosking.hosking_experiment_1(rng)[0],
            list(ERRORS_1),
            ["quality_biased", *FACTORS],
        ),
        "experiment 2": (
            hosking.hosking_experiment_2(rng)[0],
            list(ERRORS_2),
            ["quality_biased"],
        ),
    }
    print(f"{'table':14} {'rows':>6} {'naive ms':>9} {'ours ms':>8} {'ratio':>6}")
    for name, (table, mode, mean) in tables.items():
        slow = best_seconds(lambda t=table, a=mode, b=mean: naive(t, a, b))
        fast = best_seconds(
            lambda t=table, a=mode, b=mean: aggregate(t, "item_id", b, a)
        )
        print(
            f"{name:14} {len(table):6} {1000 * slow:9.0f} {1000 * fast:8.1f} "
            f"{slow / fast:6.0f}"
        )


if __name__ == "__main__":
    main()
