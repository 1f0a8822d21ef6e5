"""Time and memory of error weights with intervals, for up to 10,000,000 ratings.

Run `python benchmarks/bench_scale.py`, and for ten million ratings with `--rows 10000
100000 1000000 10000000`. The job aggregates ratings over raters, fits a Lasso of ten
features and draws 1,000 bootstrap replicates of prompts, on two threads. Each size has
a process of its own, whose peak memory is reported. The first sizes are also timed the
naive way. Last, replicates of the largest size are drawn in one process, two threads,
two processes and by two Dask workers, and must be the same everywhere; with
`--scheduler tcp://127.0.0.1:8786` the workers are those of a Dask scheduler that runs
there.
"""

import argparse
import json
import resource
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from math import log
from time import perf_counter, process_time

import numpy as np
import pandas as pd
from joblib import parallel_config
from sklearn.linear_model import Lasso

from helpers.stats.aggregation import aggregate
from helpers.stats.bootstrap import in_batches
from helpers.stats.lasso import lasso_bootstrap, lasso_table
from helpers.stats.moments import ClusterMoments, cluster_moments

SIZES, LARGEST_NAIVE = [10_000, 100_000, 1_000_000], 100_000
N_BOOT, N_ROUNDS, ALPHA, SEED = 1_000, 2, 0.01, 0
SYSTEMS, RATERS = 5, 5  # a prompt has five responses, a response five raters
FEATURES = [f"error_{number}" for number in range(10)]
PLACES = {
    "one process": {"backend": "sequential"},
    "two threads": {"backend": "threading", "n_jobs": 2},
    "two processes": {"backend": "loky", "n_jobs": 2},
}


def simulate(n_rows: int) -> pd.DataFrame:
    """Ten 0/1 errors, and a score from 1 to 5 that prompts share a part of."""
    rng = np.random.default_rng(SEED)
    n_prompts = n_rows // (SYSTEMS * RATERS)
    item = np.arange(n_prompts * SYSTEMS).repeat(RATERS)
    errors = (rng.random((len(item), 10)) < np.linspace(0.02, 0.2, 10)).astype(float)
    score = 4 - errors @ np.linspace(0, 1, 10) + rng.normal(size=len(item))
    score += rng.normal(scale=0.3, size=n_prompts)[item // SYSTEMS]
    prompts = pd.Series([f"prompt-{number}" for number in range(n_prompts)])
    items = prompts.repeat(SYSTEMS) + np.tile(["|a", "|b", "|c", "|d", "|e"], n_prompts)
    return pd.DataFrame(errors, columns=FEATURES).assign(
        score=score.round().clip(1, 5),
        prompt_id=prompts.array.take(item // SYSTEMS),
        item_id=items.array.take(item),
    )


def reduced(ratings: pd.DataFrame) -> ClusterMoments:
    """Ratings of items, reduced to sums within prompts."""
    items = aggregate(
        ratings, "item_id", mean=["score"], mode=FEATURES, first=["prompt_id"]
    )
    return cluster_moments(items, FEATURES, "score", "prompt_id")


def ours(ratings: pd.DataFrame) -> pd.DataFrame:
    """Our way, from single ratings to weights with intervals."""
    with parallel_config("threading", n_jobs=2):
        return lasso_table(reduced(ratings), ALPHA, N_BOOT, np.random.default_rng(SEED))


def naive(ratings: pd.DataFrame) -> pd.DataFrame:
    """The naive way: a function for each group, a fit of rows for each replicate."""
    modes = dict.fromkeys(FEATURES, lambda values: values.mode().mean())
    items = ratings.groupby("item_id").agg(
        modes | {"score": "mean", "prompt_id": "first"}
    )
    items = items.sort_values("prompt_id")
    x, y = items[FEATURES].to_numpy(), items["score"].to_numpy()
    rows_of_prompt = np.arange(len(items)).reshape(-1, SYSTEMS)
    rng = np.random.default_rng(SEED)
    draws = []
    for _ in range(N_BOOT):
        rows = rows_of_prompt[
            rng.integers(len(rows_of_prompt), size=len(rows_of_prompt))
        ].ravel()
        draws.append(Lasso(ALPHA).fit(x[rows], y[rows]).coef_)
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
    estimate = Lasso(ALPHA).fit(x, y).coef_
    return pd.DataFrame(
        {"estimate": estimate, "low": low, "high": high}, index=FEATURES
    )


def replicates(moments: ClusterMoments, place: dict) -> np.ndarray:
    """Bootstrap draws, made where the settings of joblib say."""
    with parallel_config(**place):
        rng = np.random.default_rng(SEED)
        return in_batches(lasso_bootstrap, moments, ALPHA, n_boot=N_BOOT, rng=rng)


def best_time(function: Callable, *arguments: object) -> tuple[float, object]:
    """Shortest time of a few runs, in seconds, and the result."""
    seconds = []
    for _ in range(N_ROUNDS):
        started = perf_counter()
        result = function(*arguments)
        seconds.append(perf_counter() - started)
    return min(seconds), result


def measure(n_rows: int) -> None:
    """Print seconds, processor seconds, peak megabytes, in a process of its own."""
    ratings = simulate(n_rows)
    started = process_time()
    seconds, _ = best_time(ours, ratings)
    used = (process_time() - started) / N_ROUNDS
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        json.dumps(
            [seconds, used, peak / (2**20 if sys.platform == "darwin" else 2**10)]
        )
    )


def print_sizes(sizes: list[int]) -> None:
    """Time and memory by number of ratings; growth is that of processor time."""
    print(f"{N_BOOT:,} replicates on two threads, best of {N_ROUNDS}\n")
    print(
        f"{'ratings':>12}{'seconds':>9}{'CPU s':>8}{'a million':>11}"
        f"{'peak MB':>9}{'exponent':>10}"
    )
    before = []
    for n_rows in sizes:
        command = [sys.executable, __file__, "--measure", str(n_rows)]
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
        seconds, used, peak = json.loads(output)
        per_million = 1e6 * used / n_rows
        line = (
            f"{n_rows:>12,}{seconds:>9.2f}{used:>8.2f}{per_million:>11.2f}{peak:>9.0f}"
        )
        growth = [
            f"{log(used / less) / log(n_rows / fewer):>10.2f}" for fewer, less in before
        ]
        print(line, *growth, sep="", flush=True)
        before = [(n_rows, used)]


def print_naive(sizes: list[int]) -> None:
    """The naive way and ours, both in this process."""
    print(
        f"\n{'ratings':>12}{'naive s':>9}{'ours s':>9}{'ratio':>7}"
        f"{'largest difference':>20}"
    )
    for n_rows in sizes:
        ratings = simulate(n_rows)
        slow, expected = best_time(naive, ratings)
        fast, table = best_time(ours, ratings)
        difference = (table["estimate"] - expected["estimate"]).abs().max()
        ratio = slow / fast
        line = f"{n_rows:>12,}{slow:>9.2f}{fast:>9.2f}{ratio:>7.0f}{difference:>20.0e}"
        print(line, flush=True)


def print_places(n_rows: int, scheduler: str | None) -> None:
    """The same replicates, drawn in several places."""
    moments = reduced(simulate(n_rows))
    expected = replicates(moments, PLACES["one process"])
    print(f"\n{N_BOOT:,} replicates of {n_rows:,} ratings\n")
    print(f"{'where':<20}{'seconds':>9}  draws")
    for where, place in PLACES.items():
        print_place(where, moments, place, expected)
    if find_spec("distributed"):
        with dask_workers(scheduler) as client:
            n_workers = len(client.scheduler_info(n_workers=-1)["workers"])
            print_place(
                f"{n_workers} Dask workers", moments, {"backend": "dask"}, expected
            )
    else:
        print("Dask is not installed and left out: install the extra dask")


def print_place(
    where: str, moments: ClusterMoments, place: dict, expected: np.ndarray
) -> None:
    """Time of the replicates in one place, and whether they are as expected."""
    seconds, draws = best_time(replicates, moments, place)
    verdict = "the same" if np.array_equal(draws, expected) else "DIFFERENT"
    print(f"{where:<20}{seconds:>9.2f}  {verdict}", flush=True)


def dask_workers(scheduler: str | None):
    """Connection to a scheduler, or to two workers started for this run."""
    from dask.distributed import Client

    if scheduler:
        return Client(scheduler)
    return Client(n_workers=2, threads_per_worker=1, dashboard_address=":0")


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Time and memory against the number of ratings."
    )
    parser.add_argument(
        "--rows", type=int, nargs="+", default=SIZES, help="numbers of ratings"
    )
    parser.add_argument("--scheduler", help="address of a Dask scheduler")
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.measure:
        measure(chosen.measure)
        return
    print_sizes(chosen.rows)
    print_naive([n_rows for n_rows in chosen.rows if n_rows <= LARGEST_NAIVE])
    print_places(chosen.rows[-1], chosen.scheduler)


if __name__ == "__main__":
    main()
