"""Small made-up rating files of the kinds that people bring, for tests."""

import json
from pathlib import Path

import numpy as np
import pandas as pd

RATERS = ("ann", "ben", "cat", "dan")


def two_systems(n_prompts: int = 40, seed: int = 0) -> pd.DataFrame:
    """Four people rate two systems' answers to each prompt; elm is better by a point.

    Clarity follows the quality of an answer, and so does overall.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for prompt in range(n_prompts):
        for letter, system in (("A", "oak"), ("B", "elm")):
            quality = rng.normal(2.6 + (system == "elm"), 0.8)
            for place, rater in enumerate(RATERS):
                clarity = np.clip(np.round(quality + rng.normal(0, 0.6)), 1, 5)
                overall = 0.7 * clarity + 0.3 * quality + rng.normal(0, 0.4)
                overall = np.clip(np.round(overall + 0.1 * place), 1, 5)
                rows.append(
                    {
                        "prompt_id": f"q{prompt:02}",
                        "item_id": f"q{prompt:02}-{letter}",
                        "rater": rater,
                        "model": system,
                        "clarity": int(clarity),
                        "overall": int(overall),
                    }
                )
    return pd.DataFrame(rows)


def with_judge() -> pd.DataFrame:
    """The same, with a model that rates the truth less noisily, and a point higher."""
    people = two_systems()
    means = people.groupby("item_id")[["clarity", "overall"]].mean().round().add(1)
    judged = people.drop_duplicates("item_id").set_index("item_id")
    judged = judged.assign(rater="gpt-4o", **means.clip(1, 5).astype(int))
    return pd.concat([people, judged.reset_index()[people.columns]], ignore_index=True)


def comparisons(n_prompts: int = 100, ties: float = 0.4, seed: int = 1) -> pd.DataFrame:
    """Two people compare each two of three equal systems for each prompt."""
    rng = np.random.default_rng(seed)
    rows = []
    for prompt in range(n_prompts):
        for first, second in (("oak", "elm"), ("oak", "fir"), ("elm", "fir")):
            for worker in (2 * prompt % 10, 2 * prompt % 10 + 1):
                a, b = (first, second) if rng.random() < 0.5 else (second, first)
                winner = a if rng.random() < 0.5 else b
                if rng.random() < ties:
                    winner = "tie"
                rows.append([f"p{prompt}", a, b, f"w{worker}", winner])
    names = ["prompt", "left", "right", "worker", "winner"]
    return pd.DataFrame(rows, columns=names)


def sides(pairs: pd.DataFrame) -> pd.DataFrame:
    """Each comparison as two rows, with 1 for the winner: a form that misleads."""
    parts = []
    for side in ("left", "right"):
        part = pairs[["prompt", "worker"]].assign(system=pairs[side])
        part["item"] = part["prompt"] + "/" + part["system"]
        part["outcome"] = (pairs["winner"] == pairs[side]).astype(int)
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def reversed_raters() -> pd.DataFrame:
    """Two of the four people use clarity upside down."""
    frame = two_systems()
    is_reversed = frame["rater"].isin(["cat", "dan"])
    frame.loc[is_reversed, "clarity"] = 6 - frame.loc[is_reversed, "clarity"]
    return frame


def eval_log(path: Path) -> None:
    """Write a nested log whose scores are words."""
    samples = []
    for number in range(60):
        usage = {"input_tokens": 50 + number % 5, "output_tokens": 10 + number}
        value = "C" if number % 3 else "I"
        samples.append(
            {
                "id": number,
                "epoch": 1,
                "output": {"usage": usage},
                "scores": {"graded": {"value": value}},
            }
        )
    path.write_text(json.dumps({"version": 2, "eval": {}, "samples": samples}))
