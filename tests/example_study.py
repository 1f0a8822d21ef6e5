"""A small simulated rating study of known truth, also the example of a file to bring.

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
