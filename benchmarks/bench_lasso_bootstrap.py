"""Bootstrap of a ten-feature Lasso: resampled rows against cluster moments.

Run `python benchmarks/bench_lasso_bootstrap.py`. Both ways are timed in one process on
simulated data of the size of Hosking et al. (2024): 900 rows in 180 clusters. The ways
take turns, and the best round of each counts. The naive ways run on the first
replicates only and are scaled.
"""

from collections.abc import Callable
from functools import partial
from time import perf_counter

import numpy as np
import pandas as pd
from sklearn.linear_model import Lasso

from helpers.stats.bootstrap import cluster_weights
from helpers.stats.lasso import lasso_bootstrap
from helpers.stats.moments import cluster_moments

N_BOOT, N_NAIVE, N_ROUNDS = 10_000, 300, 20
N_CLUSTERS, ROWS_PER_CLUSTER, ALPHA, SEED = 180, 5, 0.01, 0
FEATURES = [f"error_{number}" for number in range(10)]


def simulate() -> pd.DataFrame:
    """Ten rare 0/1 features and an outcome with a shared part per cluster."""
    rng = np.random.default_rng(SEED)
    clusters = np.repeat(np.arange(N_CLUSTERS), ROWS_PER_CLUSTER)
    errors = (rng.random((len(clusters), 10)) < np.linspace(0.01, 0.1, 10)).astype(
        float
    )
    noise = rng.normal(scale=0.3, size=N_CLUSTERS)[clusters] + rng.normal(
        size=len(clusters)
    )
    frame = pd.DataFrame(errors, columns=FEATURES)
    return frame.assign(
        outcome=4 - errors @ np.linspace(0, 1, 10) + noise, cluster=clusters
    )


def bootstrap_from_moments(frame: pd.DataFrame) -> np.ndarray:
    """Our way, from the table to the draws."""
    moments = cluster_moments(frame, FEATURES, "outcome", "cluster")
    return lasso_bootstrap(
        moments, ALPHA, N_BOOT, np.random.default_rng(SEED)
    ).to_numpy()


def bootstrap_from_rows(
    frame: pd.DataFrame, weights: np.ndarray, **settings: float
) -> np.ndarray:
    """The naive way: gather the rows of each replicate and fit scikit-learn's Lasso."""
    x, y = frame[FEATURES].to_numpy(), frame["outcome"].to_numpy()
    rows_of_cluster = np.arange(len(frame)).reshape(N_CLUSTERS, ROWS_PER_CLUSTER)
    draws = []
    for counts in weights:
        rows = rows_of_cluster.repeat(counts, axis=0).ravel()
        draws.append(Lasso(alpha=ALPHA, **settings).fit(x[rows], y[rows]).coef_)
    return np.array(draws)


def seconds_of(function: Callable[[], np.ndarray]) -> float:
    """Wall-clock time of one run."""
    start = perf_counter()
    function()
    return perf_counter() - start


def main() -> None:
    frame = simulate()
    weights = cluster_weights(N_CLUSTERS, N_BOOT, np.random.default_rng(SEED))[:N_NAIVE]
    exact = {"tol": 1e-13, "max_iter": 100_000}
    ways = {
        "ours": partial(bootstrap_from_moments, frame),
        "scikit-learn Lasso, default tolerance": partial(
            bootstrap_from_rows, frame, weights
        ),
        "scikit-learn Lasso, tol=1e-13": partial(
            bootstrap_from_rows, frame, weights, **exact
        ),
    }
    rounds = [
        {label: seconds_of(way) for label, way in ways.items()} for _ in range(N_ROUNDS)
    ]
    best = pd.DataFrame(rounds).min()
    ours, draws = best.pop("ours"), ways.pop("ours")()
    print(
        f"{N_BOOT:,} replicates; naive ways timed on {N_NAIVE} and scaled; "
        f"best of {N_ROUNDS}\n"
    )
    print(
        f"{'what':<40}{'naive s':>9}{'ours s':>9}{'ratio':>7}{'largest difference':>20}"
    )
    for label, way in ways.items():
        naive = best[label] * N_BOOT / N_NAIVE
        difference = np.abs(draws[:N_NAIVE] - way()).max()
        print(
            f"{label:<40}{naive:>9.2f}{ours:>9.3f}{naive / ours:>7.0f}"
            f"{difference:>20.0e}"
        )


if __name__ == "__main__":
    main()
