"""The engine of intervals against loops that compute everything again.

Run `python benchmarks/bench_engine.py`. Both sides of each ratio are timed in one
process, taking turns, and the best round counts; their results must agree. Times are
those of the processor. Growth is measured up to `--rows` ratings, 1,000,000 by default.
"""

import argparse
from collections.abc import Callable
from time import process_time

import numpy as np
import pandas as pd
from sklearn.linear_model import Lasso

from helpers.regression import lasso
from helpers.stats import leave_out
from helpers.stats.bootstrap import cluster_weights

N_ROUNDS = 3
ALPHA = 0.01
N_BOOT = 10_000
N_NAIVE = 200  # replicates of the slow side, which is scaled
FEATURES = [f"error_{number}" for number in range(10)]
NAMES = pd.Index(["intercept", *FEATURES])


def simulate(n_rows: int, n_raters: int, n_prompts: int) -> pd.DataFrame:
    """Ten errors of 0 or 1, and a score that raters and prompts share a part of."""
    rng = np.random.default_rng(0)
    rater = rng.integers(n_raters, size=n_rows)
    prompt = np.arange(n_rows) % n_prompts
    errors = (rng.random((n_rows, 10)) < np.linspace(0.05, 0.3, 10)).astype(float)
    score = 4 - errors @ np.linspace(0, 1, 10) + rng.normal(size=n_rows)
    score += rng.normal(size=n_raters)[rater] + rng.normal(size=n_prompts)[prompt]
    frame = pd.DataFrame(errors, columns=FEATURES)
    return frame.assign(score=score, rater_id=rater, prompt_id=prompt)


def best_times(*sides: Callable) -> tuple[list[float], list]:
    """Shortest processor time of each side, taking turns, and their results."""
    best = [np.inf] * len(sides)
    results = [None] * len(sides)
    for _ in range(N_ROUNDS):
        for number, side in enumerate(sides):
            started = process_time()
            results[number] = side()
            best[number] = min(best[number], process_time() - started)
    return best, results


def by_engine(frame: pd.DataFrame) -> np.ndarray:
    """Least squares with raters, prompts and both left out: standard errors."""
    rows = np.column_stack([np.ones(len(frame)), frame[[*FEATURES, "score"]]])
    clusters = frame[["rater_id", "prompt_id"]]
    found = leave_out.leave_out(rows, clusters, leave_out.slopes(NAMES))
    return np.sqrt(found.variance())


def by_loop(frame: pd.DataFrame) -> np.ndarray:
    """The same by a fit of all rows without each cluster."""
    x = np.column_stack([np.ones(len(frame)), frame[FEATURES]])
    y = frame["score"].to_numpy()
    estimate = np.linalg.lstsq(x, y, rcond=None)[0]
    cells = frame["rater_id"] * (frame["prompt_id"].max() + 1) + frame["prompt_id"]
    variances = []
    for labels in (frame["rater_id"], frame["prompt_id"], cells):
        codes, unique = pd.factorize(labels)
        moved = []
        for code in range(len(unique)):
            rest = codes != code
            moved.append(np.linalg.lstsq(x[rest], y[rest], rcond=None)[0] - estimate)
        n = len(unique)
        variances.append((np.array(moved) ** 2).sum(axis=0) * (n - 1) / n)
    first, second, both = variances
    joined = np.maximum(first + second - both, np.maximum(first, second))
    return np.sqrt(joined)


def alpha_by_engine(marks: pd.DataFrame) -> np.ndarray:
    """Krippendorff's alpha with raters and prompts left out: standard error."""
    scales = {"mark": range(6)}
    rows = leave_out.indicators(marks[["mark"]].to_numpy(), scales)
    found = leave_out.leave_out(
        rows,
        marks[["rater_id", "prompt_id"]],
        leave_out.coefficient("alpha", "interval", scales),
        items=marks["prompt_id"],
    )
    return np.sqrt(found.variance())


def alpha_of(values: np.ndarray, items: np.ndarray) -> float:
    """Alpha at the interval level, from sums within items."""
    n = np.bincount(items)
    is_pair = (n >= 2)[items]
    values, items = values[is_pair], items[is_pair]
    n = np.bincount(items)
    sums = np.bincount(items, values)
    squares = np.bincount(items, values**2)
    observed = ((n * squares - sums**2)[n > 1] / (n[n > 1] - 1)).sum()
    expected = len(values) * (values**2).sum() - values.sum() ** 2
    return 1 - (len(values) - 1) * observed / expected


def alpha_by_loop(marks: pd.DataFrame) -> np.ndarray:
    """The same by an alpha of all rows without each cluster."""
    values = marks["mark"].to_numpy()
    items = marks["prompt_id"].to_numpy()
    estimate = alpha_of(values, items)
    cells = marks["rater_id"] * (items.max() + 1) + items
    variances = []
    for labels in (marks["rater_id"], marks["prompt_id"], cells):
        codes, unique = pd.factorize(labels)
        n = len(unique)
        moved = []
        for code in range(n):
            rest = codes != code
            moved.append(alpha_of(values[rest], items[rest]) - estimate)
        variances.append(np.square(moved).sum() * (n - 1) / n)
    first, second, both = variances
    return np.sqrt([max(first + second - both, first, second)])


def lasso_by_rows(frame: pd.DataFrame) -> np.ndarray:
    """Bootstrap of a Lasso: scikit-learn on the rows of each replicate."""
    x = frame[FEATURES].to_numpy()
    y = frame["score"].to_numpy()
    n_prompts = frame["prompt_id"].nunique()
    draws = []
    for times in cluster_weights(n_prompts, N_BOOT, np.random.default_rng(0))[:N_NAIVE]:
        rows = np.arange(len(frame)).repeat(times[frame["prompt_id"]])
        draws.append(Lasso(alpha=ALPHA, tol=1e-8).fit(x[rows], y[rows]).coef_)
    return np.array(draws)


def lasso_in_batch(frame: pd.DataFrame) -> np.ndarray:
    """The same from sums within prompts, all replicates together."""
    clusters = ["prompt_id"]
    fitted = lasso(frame, FEATURES, "score", ALPHA, clusters, n_boot=N_BOOT, seed=0)
    return fitted.draws


def print_ratio(what: str, slow: float, fast: float, difference: float) -> None:
    """One line of the table of ratios."""
    ratio = slow / fast
    print(f"{what:<46}{slow:>8.2f}{fast:>8.3f}{ratio:>7.0f}{difference:>12.0e}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    largest = parser.parse_args().rows

    print(f"{'what':<46}{'loop s':>8}{'ours s':>8}{'ratio':>7}{'difference':>12}")
    ratings = simulate(4_440, 421, 300)
    (slow, fast), (expected, found) = best_times(
        lambda: by_loop(ratings), lambda: by_engine(ratings)
    )
    difference = np.abs(found - expected).max()
    print_ratio("least squares, 4,440 rows, 11 coefficients", slow, fast, difference)
    marks = ratings.drop_duplicates(["rater_id", "prompt_id"])
    marks = marks.assign(mark=marks["score"].round().clip(0, 5))
    (slow, fast), (expected, found) = best_times(
        lambda: alpha_by_loop(marks), lambda: alpha_by_engine(marks)
    )
    difference = np.abs(found - expected).max()
    print_ratio(f"alpha, {len(marks):,} rows", slow, fast, difference)
    outputs = simulate(900, 100, 180)
    (slow, fast), (expected, found) = best_times(
        lambda: lasso_by_rows(outputs), lambda: lasso_in_batch(outputs)
    )
    difference = np.abs(found[:N_NAIVE] - expected).max()
    slow *= N_BOOT / N_NAIVE
    print_ratio(f"Lasso, {N_BOOT:,} resamples of 180 prompts", slow, fast, difference)

    print(f"\n{'ratings':>12}{'seconds':>10}{'a million':>11}")
    n_rows = 10_000
    while n_rows <= largest:
        large = simulate(n_rows, 400, max(300, n_rows // 50))
        started = process_time()
        by_engine(large)
        seconds = process_time() - started
        print(f"{n_rows:>12,}{seconds:>10.2f}{1e6 * seconds / n_rows:>11.2f}")
        n_rows *= 10


if __name__ == "__main__":
    main()
