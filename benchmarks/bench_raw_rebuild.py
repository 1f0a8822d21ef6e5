"""Rating tables from raw submissions: flattening by pandas against our reader.

Run `python benchmarks/bench_raw_rebuild.py`. Both ways are timed in one process on
simulated files with as many submissions as those of Hosking et al. (2024), and must
give equal ratings.
"""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd

from helpers.studies.hosking_submissions import (
    FORMS,
    LABELS,
    NO_YES,
    ONE_TO_FIVE,
    read_submissions,
)

N_FILES, N_SUBMISSIONS, N_WORDS, N_REPEATS, SEED = 20, 882, 150, 3, 0
FORM = FORMS[1, "errors"]
MODELS = ("falcon40", "refs")


def submission(number: int, answers: dict[str, str]) -> dict:
    """Two responses and one rater's answers, in the form of the annotation tool."""
    checks = {"positive_val": "5", "negative_val": "1"}
    models = {"model_a": "falcon40", "model_b": "refs"}
    return {
        "id": str(number),
        "input_text": dict.fromkeys(
            ("Prompt", "Response A", "Response B"), "word " * N_WORDS
        ),
        "input_meta": {"dataset": "amazon", "sample_ix": number} | models,
        "label_annotations": {"email": f"rater_{number}"} | checks | answers,
        "behavioral_data": {"time_string": "Time spent: 0d 0h 2m 5s "},
    }


def write_files(folder: Path) -> list[Path]:
    """Files of random error checks and scores."""
    rng = np.random.default_rng(SEED)
    drawn = pd.DataFrame(
        {
            f"{LABELS.get(aspect, aspect)}_{side}": rng.choice(
                list(scale), N_SUBMISSIONS
            )
            for aspect, scale in FORM.scales.items()
            for side in "ab"
        }
    )
    records = [submission(*row) for row in enumerate(drawn.to_dict("records"))]
    text = "\n".join(map(json.dumps, records))
    paths = [folder / f"{number}.jsonl" for number in range(N_FILES)]
    for path in paths:
        path.write_text(text, encoding="utf-8")
    return paths


def ours(paths: list[Path]) -> np.ndarray:
    """Our way: one pass over the lines, each field checked."""
    ratings = pd.concat([read_submissions(path, FORM)[0] for path in paths])
    return ratings[list(FORM.aspects)].to_numpy()


def naive(paths: list[Path]) -> np.ndarray:
    """The naive way: flatten all, replace answers, stack sides, check nothing."""
    tables = [
        pd.json_normalize(pd.read_json(path, lines=True).to_dict("records"))
        for path in paths
    ]
    table = pd.concat(tables, ignore_index=True)
    sides = []
    for side in "ab":
        columns = [
            f"label_annotations.{LABELS.get(aspect, aspect)}_{side}"
            for aspect in FORM.aspects
        ]
        sides.append(table[columns].replace(NO_YES | ONE_TO_FIVE).to_numpy(dtype=float))
    return np.stack(sides, axis=1).reshape(-1, len(FORM.aspects))


def best_time(
    read: Callable[[list[Path]], np.ndarray], paths: list[Path]
) -> tuple[float, np.ndarray]:
    """Shortest time of a few runs, in seconds, and the ratings."""
    seconds = []
    for _ in range(N_REPEATS):
        start = perf_counter()
        ratings = read(paths)
        seconds.append(perf_counter() - start)
    return min(seconds), ratings


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        paths = write_files(Path(folder))
        naive_seconds, expected = best_time(naive, paths)
        our_seconds, ratings = best_time(ours, paths)
    np.testing.assert_array_equal(ratings, expected)
    print(
        f"{N_FILES * N_SUBMISSIONS:,} submissions; best of {N_REPEATS} runs; "
        "equal ratings\n"
    )
    print(f"{'naive s':>9}{'ours s':>9}{'ratio':>7}")
    print(
        f"{naive_seconds:>9.2f}{our_seconds:>9.2f}{naive_seconds / our_seconds:>7.1f}"
    )


if __name__ == "__main__":
    main()
