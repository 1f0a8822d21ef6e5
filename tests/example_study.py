"""A small simulated rating study, the example of a file that a reader may bring.

The model, with the numbers of `ExampleTruth`:

1. Each of four systems answers every prompt. Answers differ in length; longer ones are found more
   complete.
2. Some raters work more than others. Three of them rate each answer: marks from 1 to 5 for
   factuality, completeness and tone, and whether it is repetitive, refuses to answer or has typos.
   A rater misses some of these errors and sees a few where there are none.
3. The overall rating is a sum over the aspects just marked and the length, plus the leniency of the
   rater and noise, put on the scale from 1 to 5.
4. A few cells are empty, and one rating is in the table twice: something for a check-up to find.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from helpers.simulate.hosking import to_scale

SEED = 20240917
MARKS = ("factuality", "completeness", "tone")
ERRORS = ("repetition", "refusal", "typos")
WEIGHTS = {
    "factuality": 1.8,
    "completeness": 1.0,
    "tone": 0.0,
    "repetition": -0.5,
    "refusal": -1.5,
    "typos": 0.0,
}
RATES = {"repetition": 0.15, "refusal": 0.02, "typos": 0.1}
SEEN, SEEN_WRONGLY = 0.8, 0.01


@dataclass(frozen=True)
class ExampleTruth:
    """What an analysis of the example should find.

    Parameters
    ----------
    weights : mapping of str to float
        Points of the overall rating from the lowest to the highest mark of an aspect.
    rates : mapping of str to float
        Share of answers with each kind of error.
    words : float
        Points for an answer that is longer by one standard deviation.
    words_to_completeness : float
        Marks of completeness for such an answer.
    sds : mapping of str to float
        Standard deviations: of answers and of raters' marks, of leniency and of noise.
    n_prompts, n_systems, n_raters, raters_per_item, n_gaps : int
        Size of the study.
    """

    weights: Mapping[str, float] = field(default_factory=lambda: WEIGHTS)
    rates: Mapping[str, float] = field(default_factory=lambda: RATES)
    words: float = 0.2
    words_to_completeness: float = 0.6
    sds: Mapping[str, float] = field(
        default_factory=lambda: {"answer": 0.9, "rater": 0.7, "leniency": 0.3, "noise": 0.5}
    )
    n_prompts: int = 50
    n_systems: int = 4
    n_raters: int = 16
    raters_per_item: int = 3
    n_gaps: int = 9


def example_ratings(rng: np.random.Generator, truth: ExampleTruth | None = None) -> pd.DataFrame:
    """Simulate a table of ratings, one row per (item, rater).

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of randomness.
    truth : ExampleTruth, optional
        The numbers to simulate from.

    Returns
    -------
    pandas.DataFrame
        ``source`` (always "simulated"), ``prompt_id``, ``item_id``, ``rater_id``,
        ``response_words``, ``overall`` and the six aspects.

    Examples
    --------
    >>> example_ratings(np.random.default_rng(0)).shape
    (601, 12)
    """
    truth = truth or ExampleTruth()
    items = _items(rng, truth)
    raters = _raters(rng, truth)
    rows = items.loc[items.index.repeat(truth.raters_per_item)].reset_index(drop=True)
    rows["rater_id"] = [f"simulated-rater-{rater + 1:02}" for rater in raters.ravel()]
    rows = rows.assign(**_aspects(rng, rows, truth))
    leniency = rng.normal(0, truth.sds["leniency"], truth.n_raters)[raters.ravel()]
    rows["overall"] = _overall(rng, rows, leniency, truth)
    columns = ["source", "prompt_id", "item_id", "rater_id", "response_words", "overall"]
    return _with_faults(rng, rows[[*columns, *MARKS, *ERRORS]], truth)


def example_csv() -> str:
    """Write the example as it is committed.

    Returns
    -------
    str
        The content of ``data/example/ratings.csv``.

    Examples
    --------
    >>> example_csv().splitlines()[0]
    'source,prompt_id,item_id,rater_id,response_words,overall,factuality,completeness,tone,repetition,refusal,typos'
    """
    table = example_ratings(np.random.default_rng(SEED))
    return table.to_csv(index=False, lineterminator="\n", float_format="%.0f")


def _items(rng: np.random.Generator, truth: ExampleTruth) -> pd.DataFrame:
    """List the answers, with their length and where they stand on each aspect with marks."""
    n_items = truth.n_prompts * truth.n_systems
    prompt = np.arange(n_items) // truth.n_systems + 1
    system = np.arange(n_items) % truth.n_systems
    words = rng.normal(0, 1, n_items)
    standing = rng.normal(3.4, truth.sds["answer"], (n_items, len(MARKS)))
    standing[:, MARKS.index("completeness")] += truth.words_to_completeness * words
    return pd.DataFrame(
        {
            "source": "simulated",
            "prompt_id": [f"prompt-{number:02}" for number in prompt],
            "item_id": [
                f"prompt-{p:02}-{'ABCDEFGH'[s]}" for p, s in zip(prompt, system, strict=True)
            ],
            "length": words,
            "response_words": np.exp(4.6 + 0.4 * words).round().astype(int),
            **dict(zip(MARKS, standing.T, strict=True)),
            **{error: rng.random(n_items) < truth.rates[error] for error in ERRORS},
        }
    )


def _raters(rng: np.random.Generator, truth: ExampleTruth) -> np.ndarray:
    """Draw different raters for each item, the k-th being 1 / √k as active as the first."""
    activity = -np.log(np.arange(1, truth.n_raters + 1)) / 2
    keys = activity + rng.gumbel(size=(truth.n_prompts * truth.n_systems, truth.n_raters))
    return np.argsort(-keys, axis=1)[:, : truth.raters_per_item]


def _aspects(
    rng: np.random.Generator, rows: pd.DataFrame, truth: ExampleTruth
) -> dict[str, np.ndarray]:
    """Let raters mark the aspects of an answer as they see them."""
    noise = rng.normal(0, truth.sds["rater"], (len(MARKS), len(rows)))
    marks = {
        aspect: to_scale(rows[aspect].to_numpy() + each, 1, 5)
        for aspect, each in zip(MARKS, noise, strict=True)
    }
    errors = {
        error: (rng.random(len(rows)) < np.where(rows[error], SEEN, SEEN_WRONGLY)).astype(float)
        for error in ERRORS
    }
    return marks | errors


def _overall(
    rng: np.random.Generator, rows: pd.DataFrame, leniency: np.ndarray, truth: ExampleTruth
) -> np.ndarray:
    """Rate overall, by the aspects from their lowest to their highest mark."""
    shares = pd.concat([(rows[[*MARKS]] - 1) / 4, rows[[*ERRORS]]], axis="columns")
    opinion = 2.1 + shares @ pd.Series(truth.weights) + truth.words * rows["length"]
    noise = rng.normal(0, truth.sds["noise"], len(rows))
    return to_scale(opinion.to_numpy() + leniency + noise, 1, 5)


def _with_faults(
    rng: np.random.Generator, ratings: pd.DataFrame, truth: ExampleTruth
) -> pd.DataFrame:
    """Leave some cells empty and repeat one row at the end."""
    again = int(rng.integers(len(ratings)))
    rows = rng.choice(len(ratings), truth.n_gaps, replace=False)
    columns = rng.choice([*MARKS, *ERRORS], truth.n_gaps)
    for row, column in zip(rows, columns, strict=True):
        ratings.loc[row, column] = np.nan
    return pd.concat([ratings, ratings.iloc[[again]]], ignore_index=True)
