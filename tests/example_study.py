"""Small simulated studies of known truth, which are the examples of files to bring.

`python tests/example_study.py` writes them to data/example. The ratings:

1. Each of four systems answers every prompt. Answers differ in length; longer ones are
   found more complete.
2. Some raters work more than others. Three of them rate each answer: marks from 1 to 5
   for factuality, completeness and tone, and whether it is repetitive, refuses to
   answer or has typos. A rater misses some of these errors and sees a few where there
   are none.
3. The overall rating is a sum over the aspects just marked and the length, plus the
   leniency of the rater and noise, put on the scale from 1 to 5.
4. A few cells are empty, and one rating is in the table twice: something for a check-up
   to find.

Pairs and ratings with a judge have their own functions.
"""

import numpy as np
import pandas as pd

from helpers.simulate.hosking import to_scale

SEED = 20240917
MARKS = ("factuality", "completeness", "tone")
RATES = {"repetition": 0.15, "refusal": 0.02, "typos": 0.1}
ASPECTS = [*MARKS, *RATES]
# Points of the overall rating from the lowest to the highest mark of an aspect.
WEIGHTS = pd.Series([1.8, 1.0, 0.0, -0.5, -1.5, 0.0], ASPECTS)
SYSTEMS = ("A", "B", "C", "D")
N_RATERS = 16
RATERS_PER_ITEM = 3


def example_ratings(
    rng: np.random.Generator, n_prompts: int = 50, n_gaps: int = 9
) -> pd.DataFrame:
    """One row per item and rater; the last row repeats another."""
    n_items = n_prompts * len(SYSTEMS)
    length = rng.normal(0, 1, n_items)
    true_marks = rng.normal(3.4, 0.9, (n_items, len(MARKS)))
    true_marks[:, MARKS.index("completeness")] += 0.6 * length
    has_error = {error: rng.random(n_items) < rate for error, rate in RATES.items()}
    # The k-th rater is 1 / √k as active as the first.
    activity = -np.log(np.arange(1, N_RATERS + 1)) / 2
    # The largest of such sums are a draw without replacement by activity.
    keys = activity + rng.gumbel(size=(n_items, N_RATERS))
    raters = np.argsort(-keys, axis=1)[:, :RATERS_PER_ITEM].ravel()
    item = np.repeat(np.arange(n_items), RATERS_PER_ITEM)
    noise = rng.normal(0, 0.7, (len(MARKS), len(item)))
    marks = {}
    for place, mark in enumerate(MARKS):
        marks[mark] = to_scale(true_marks[item, place] + noise[place], 1, 5)
    for error, is_there in has_error.items():
        p_marked = np.where(is_there[item], 0.8, 0.01)
        marks[error] = (rng.random(len(item)) < p_marked).astype(float)
    leniency = rng.normal(0, 0.3, N_RATERS)[raters]
    shares = pd.DataFrame(marks)  # from 0, the lowest mark, to 1, the highest
    shares[list(MARKS)] = (shares[list(MARKS)] - 1) / 4
    opinion = 2.1 + shares @ WEIGHTS + 0.2 * length[item]
    opinion = opinion.to_numpy() + leniency + rng.normal(0, 0.5, len(item))
    overall = to_scale(opinion, 1, 5)
    prompt_ids = [f"prompt-{number // len(SYSTEMS) + 1:02}" for number in item]
    systems = [SYSTEMS[number % len(SYSTEMS)] for number in item]
    item_ids = [
        f"{prompt_id}-{system}"
        for prompt_id, system in zip(prompt_ids, systems, strict=True)
    ]
    table = pd.DataFrame(
        {
            "source": "simulated",
            "prompt_id": prompt_ids,
            "item_id": item_ids,
            "system": systems,
            "rater_id": [f"simulated-rater-{rater + 1:02}" for rater in raters],
            "response_words": np.exp(4.6 + 0.4 * length).round().astype(int)[item],
            "overall": overall,
            **marks,
        }
    )
    again = int(rng.integers(len(table)))
    rows = rng.choice(len(table), n_gaps, replace=False)
    for row, column in zip(rows, rng.choice(ASPECTS, n_gaps), strict=True):
        table.loc[row, column] = np.nan
    return pd.concat([table, table.iloc[[again]]], ignore_index=True)


# Log-odds of winning against A, and what one standard deviation of length adds.
STRENGTHS = pd.Series([0.0, 0.0, 0.5, 1.0], SYSTEMS)
LONGER = 0.3
TIES = 0.25


def example_pairs(rng: np.random.Generator, n_prompts: int = 50) -> pd.DataFrame:
    """One row per comparison: three people compare each two systems for a prompt."""
    rows = []
    for prompt in range(n_prompts):
        words = dict(zip(SYSTEMS, rng.lognormal(4.6, 0.4, 4).round(), strict=True))
        people = rng.choice(12, 3, replace=False)
        for place, first in enumerate(SYSTEMS):
            for second in SYSTEMS[place + 1 :]:
                for person in people:
                    left, right = rng.permutation([first, second]).tolist()
                    longer = np.log(words[left] / words[right]) / (0.4 * np.sqrt(2))
                    odds = STRENGTHS[left] - STRENGTHS[right] + LONGER * longer
                    winner = left if rng.random() < 1 / (1 + np.exp(-odds)) else right
                    rows.append(
                        {
                            "source": "simulated",
                            "prompt_id": f"prompt-{prompt + 1:02}",
                            "rater_id": f"simulated-rater-{person + 1:02}",
                            "left": left,
                            "right": right,
                            "words_left": int(words[left]),
                            "words_right": int(words[right]),
                            "winner": "tie" if rng.random() < TIES else winner,
                        }
                    )
    return pd.DataFrame(rows)


JUDGE = "simulated-judge"
GENEROUS = 0.5  # points by which the judge's scores are higher


def example_with_judge(rng: np.random.Generator, n_prompts: int = 40) -> pd.DataFrame:
    """One row per rating: five people and a judge rate two systems' answers."""
    rows = []
    leniency = rng.normal(0, 0.3, 5)
    for prompt in range(n_prompts):
        for system in SYSTEMS[:2]:
            quality = rng.normal(3, 0.8)
            words = int(np.round(rng.lognormal(4.6, 0.4)))
            scores = {
                f"simulated-rater-{person + 1:02}": quality + leniency[person]
                for person in range(5)
            }
            scores[JUDGE] = quality + GENEROUS
            for rater, score in scores.items():
                noise = 0.5 if rater == JUDGE else 0.7
                marked = np.clip(np.round(score + rng.normal(0, noise)), 1, 5)
                rows.append(
                    {
                        "source": "simulated",
                        "prompt_id": f"prompt-{prompt + 1:02}",
                        "item_id": f"prompt-{prompt + 1:02}-{system}",
                        "rater_id": rater,
                        "system": system,
                        "response_words": words,
                        "overall": int(marked),
                    }
                )
    return pd.DataFrame(rows)


def example_files() -> dict[str, pd.DataFrame]:
    """All examples, by the names of their files."""
    return {
        "ratings.csv": example_ratings(np.random.default_rng(SEED)),
        "pairs.csv": example_pairs(np.random.default_rng(SEED)),
        "judge.csv": example_with_judge(np.random.default_rng(SEED)),
    }


def as_text(table: pd.DataFrame) -> str:
    """Write a table as the committed files are written."""
    return table.to_csv(index=False, lineterminator="\n", float_format="%.0f")


if __name__ == "__main__":
    from helpers import paths

    for name, table in example_files().items():
        file = paths.DATA / "example" / name
        file.write_text(as_text(table), encoding="utf-8")
