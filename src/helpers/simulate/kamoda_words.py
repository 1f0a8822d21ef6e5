"""Simulated texts for the study of Kamoda et al.: questions, answers and justifications.

They are strings of keywords, not language: enough to run and to test what is computed from texts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from helpers.files import schemas

WORDS_BY_SYSTEM = {"human_top": 120, "human_random": 80, "model_formal": 100, "model_casual": 110}
MENTION_RATES = {
    "amount_info": 0.20,
    "formality": 0.15,
    "factuality": 0.30,
    "easy_to_understand": 0.30,
    "relevance": 0.20,
    "structure": 0.10,
    "completeness": 0.15,
    "grammar": 0.02,
    "examples": 0.05,
    "specificity": 0.20,
    "conciseness": 0.15,
}
REMARKS = {
    "amount_info": "it has enough information",
    "formality": "it is not too formal",
    "factuality": "it is accurate",
    "easy_to_understand": "it is easy to understand",
    "relevance": "it is relevant",
    "structure": "it is well organized",
    "completeness": "it is comprehensive",
    "grammar": "its grammar is good",
    "examples": "it gives an example",
    "specificity": "it is specific",
    "conciseness": "it is concise",
}
VOCABULARY = ("air", "body", "cause", "cold", "energy", "heat", "light", "sound", "time", "water")


@dataclass(frozen=True)
class KamodaTextsTruth:
    """Truth of the simulated texts.

    Parameters
    ----------
    words : mapping of str to float
        Mean length of an answer in words, by kind of answer.
    mentions : mapping of str to float
        Probability that a justification mentions each aspect.
    median_minutes, minutes_sd : float
        Median time on a task, and standard deviation of its natural logarithm.
    """

    words: Mapping[str, float] = field(default_factory=WORDS_BY_SYSTEM.copy)
    mentions: Mapping[str, float] = field(default_factory=MENTION_RATES.copy)
    median_minutes: float = 25.0
    minutes_sd: float = 0.5


def kamoda_texts(
    rng: np.random.Generator, ratings: pd.DataFrame, truth: KamodaTextsTruth | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Simulate the texts that go with simulated ratings.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of randomness.
    ratings : pandas.DataFrame
        Table as in `schemas.KAMODA_RATINGS`; its answers and workers get the texts.
    truth : KamodaTextsTruth, optional
        The numbers to simulate from.

    Returns
    -------
    answers, justifications : pandas.DataFrame
        Tables as in `schemas.KAMODA_ANSWERS` and `schemas.KAMODA_JUSTIFICATIONS`.

    Examples
    --------
    >>> from helpers.simulate.kamoda_tables import kamoda
    >>> rng = np.random.default_rng(0)
    >>> answers, justifications = kamoda_texts(rng, kamoda(rng)[0])
    >>> justifications["text"].iloc[1]
    'Simulated: it is not too formal, it is relevant.'
    """
    truth = truth or KamodaTextsTruth()
    return _answers(rng, ratings, truth), _justifications(rng, ratings, truth)


def _answers(
    rng: np.random.Generator, ratings: pd.DataFrame, truth: KamodaTextsTruth
) -> pd.DataFrame:
    """Give every answer random words, and people's answers votes: more for the top one."""
    answers = ratings.drop_duplicates("item_id").reset_index(drop=True)
    lengths = 1 + rng.poisson(answers["system"].map(truth.words) - 1)
    words = rng.choice(np.array(VOCABULARY), lengths.sum())
    votes = rng.geometric(0.1, len(answers)) + 100.0 * (answers["system"] == "human_top")
    table = answers.assign(
        question="What is " + answers["question_id"] + "?",
        text=[" ".join(part) for part in np.split(words, lengths.cumsum()[:-1])],
        votes=votes.where(answers["system"].str.startswith("human")),
    )
    return table[[*schemas.KAMODA_ANSWERS.columns]]


def _justifications(
    rng: np.random.Generator, ratings: pd.DataFrame, truth: KamodaTextsTruth
) -> pd.DataFrame:
    """Give every worker's preference a list of remarks, and a time on the task."""
    tasks = ratings.drop_duplicates(["question_id", "rater_id"]).reset_index(drop=True)
    mentioned = rng.random((len(tasks), len(REMARKS))) < [truth.mentions[name] for name in REMARKS]
    remarks = np.array(list(REMARKS.values()))
    minutes = truth.median_minutes * np.exp(rng.normal(0, truth.minutes_sd, len(tasks)))
    table = tasks.assign(
        text=[f"Simulated: {', '.join(remarks[row]) or 'it is best'}." for row in mentioned],
        none_appropriate=rng.random(len(tasks)) < 0.03,
        minutes=minutes.clip(max=60),
    )
    return table[[*schemas.KAMODA_JUSTIFICATIONS.columns]]
