"""Seconds and memory of two-way CRV3, from 10,000 to 10,000,000 ratings.

Run `python benchmarks/bench_growth.py --rows 10000000`. Ten features of 0 and 1, a
rater for 200 ratings and a prompt for 50. The floor is one X'X of all rows. Each size
runs in a process of its own, whose peak memory is printed beside that of the table.
"""

import argparse
import resource
import subprocess
import sys
from time import process_time

import numpy as np
import pandas as pd

from helpers import regression

FEATURES = [f"error_{number}" for number in range(10)]
KINDS = {
    "both": ["rater_id", "prompt_id"],
    "raters": ["rater_id"],
    "prompts": ["prompt_id"],
}


def simulate(n_rows: int) -> pd.DataFrame:
    """Labels in a byte each, since the table is not to hide what the fit needs."""
    rng = np.random.default_rng(0)
    columns = {name: (rng.random(n_rows) < 0.1).astype(np.int8) for name in FEATURES}
    frame = pd.DataFrame(columns)
    frame["score"] = rng.normal(size=n_rows)
    frame["rater_id"] = rng.integers(n_rows // 200, size=n_rows, dtype=np.int32)
    frame["prompt_id"] = rng.integers(n_rows // 50, size=n_rows, dtype=np.int32)
    return frame


def peak_gigabytes() -> float:
    """Peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def measure(n_rows: int) -> None:
    """Print the row of one size."""
    frame = simulate(n_rows)
    numbers = [peak_gigabytes()]
    for clusters in KINDS.values():
        started = process_time()
        regression.least_squares(frame, FEATURES, "score", clusters)
        numbers.append(process_time() - started)
    numbers.append(peak_gigabytes())
    started = process_time()
    regression.least_squares(frame, FEATURES, "score", KINDS["both"], within="rater_id")
    numbers.append(process_time() - started)
    x = frame[[*FEATURES, "score"]].to_numpy(dtype=float)
    started = process_time()
    x.T @ x
    numbers.append(process_time() - started)
    print(f"| {n_rows:,} |", " | ".join(f"{number:.2f}" for number in numbers), "|")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--one", type=int, help="only this size, in this process")
    options = parser.parse_args()
    if options.one:
        measure(options.one)
        return
    columns = ["ratings", "GB of table", *KINDS, "GB", "within raters", "X'X"]
    print("|", " | ".join(columns), "|")
    n_rows = 10_000
    while n_rows <= options.rows:
        command = [sys.executable, __file__, "--one", str(n_rows)]
        subprocess.run(command, check=True)
        n_rows *= 10


if __name__ == "__main__":
    main()
