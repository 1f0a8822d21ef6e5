"""Weights from a folder of Parquet files, summed part by part: time and memory.

Run `python benchmarks/bench_parts.py` (`--ratings 1e8` for the large one). It writes
files of a million ratings of eight aspects to a temporary folder, sums them in a
process of its own, and tells seconds and the largest memory of that process: first for
a tenth of the ratings, then for all.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

ASPECTS = [f"aspect {number}" for number in range(8)]
PART = 1_000_000


def write_parts(folder: Path, n_ratings: int) -> None:
    """Write ratings of 200,000 prompts by 400 raters."""
    for start in range(0, n_ratings, PART):
        rng = np.random.default_rng(start)
        n = min(PART, n_ratings - start)
        item = (start + np.arange(n)) // 3
        table = pd.DataFrame({"prompt": (item % 200_000).astype("int32")})
        table["rater"] = rng.integers(0, 400, n).astype("int16")
        for aspect in ASPECTS:
            table[aspect] = rng.integers(1, 6, n).astype("int8")
        overall = table[ASPECTS[:2]].sum(axis=1) + rng.normal(0, 2, n)
        table["overall"] = overall.round().astype("int8")
        table.to_parquet(folder / f"{start:012}.parquet")


def sum_up(folder: str, jobs: int) -> None:
    """Sum the parts, and print what it took."""
    from ratings import large

    start = time.perf_counter()
    limits = dict.fromkeys(ASPECTS, (1, 5))
    summed = large.sum_parts(folder, "overall", limits, "prompt", "rater", jobs)
    found = summed.estimates()
    seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    weight, low, high = found.loc["aspect 0", ["weight", "low", "high"]]
    print(
        f"{summed.n_ratings:>12,} ratings: {seconds:7.1f} s, {memory:6.0f} MB; "
        f"aspect 0 weighs {weight:.4f} [{low:.4f}, {high:.4f}]",
        flush=True,
    )


def main() -> None:
    """Print the lines."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ratings", type=float, default=3e6)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--folder", help="of parts that are there; used by itself")
    given = parser.parse_args()
    if given.folder:
        sum_up(given.folder, given.jobs)
        return
    for n_ratings in (int(given.ratings / 10), int(given.ratings)):
        with tempfile.TemporaryDirectory() as folder:
            write_parts(Path(folder), n_ratings)
            command = [sys.executable, __file__, "--folder", folder]
            subprocess.run([*command, "--jobs", str(given.jobs)], check=True)


if __name__ == "__main__":
    main()
