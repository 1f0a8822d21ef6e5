"""Simulated words, associations and ages of HumBEL, and a test taker, with a known truth.

The model, with the numbers of `HumbelTruth`:

1. Words are numbered. The lower the number, the more often a word comes to people's minds, and the
   earlier it is learned. Some words have several meanings; the norms lack some words.
2. Each cue is a word. Associations to it are words drawn by how often they come to mind.
   The explanation of each uses both words. Relations are dealt out at random.
3. The test taker knows a pair with a probability that falls with its age and otherwise guesses, so
   that neither parts of speech nor relations make a pair harder.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from helpers.files.schemas import AGES

ENDINGS = ("", "s", "ing", "ed", "ly", "ous", "", "")  # of words in turn: taggers go by them
RELATIONS = {"UNK": 0.9, "Synonym": 0.04, "Location": 0.03, "Function": 0.03}


@dataclass(frozen=True)
class HumbelTruth:
    """Truth of a simulated HumBEL study."""

    n_words: int = 6000
    n_cues: int = 1100
    associations_per_cue: int = 17
    popularity: float = 0.5
    age_spread: float = 0.2
    with_norms: float = 0.85
    more_meanings: float = 1.0
    with_space: float = 0.02
    known_first: float = 0.75
    known_last: float = 0.45


def humbel(
    rng: np.random.Generator, truth: HumbelTruth | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Simulate associations between words and the ages at which people know words."""
    truth = truth or HumbelTruth()
    endings = np.resize(ENDINGS, truth.n_words)
    words = np.array([f"wug{number:04}{ending}" for number, ending in enumerate(endings, 1)])
    return _associations(rng, words, truth), _norms(rng, words, truth)


def answers(
    rng: np.random.Generator,
    questions: pd.DataFrame,
    n_options: int,
    truth: HumbelTruth | None = None,
) -> pd.Series:
    """Let the simulated test taker answer."""
    truth = truth or HumbelTruth()
    known = np.interp(questions["age"], [AGES[0], AGES[-1]], [truth.known_first, truth.known_last])
    knows = rng.random(len(questions)) < known
    guesses = rng.integers(n_options, size=len(questions))
    return pd.Series(
        np.where(knows, questions["correct"], guesses), index=questions["question"], name="chosen"
    )


def _associations(rng: np.random.Generator, words: np.ndarray, truth: HumbelTruth) -> pd.DataFrame:
    """Draw the associations to each cue."""
    often = np.arange(1, truth.n_words + 1) ** -truth.popularity
    cues = np.sort(rng.choice(truth.n_words, truth.n_cues, replace=False))
    cue = np.repeat(cues, truth.associations_per_cue)
    association = rng.choice(truth.n_words, len(cue), p=often / often.sum())
    association = np.where(association == cue, (association + 1) % truth.n_words, association)
    pairs = zip(words[cue], words[association], strict=True)
    spaces = np.where(rng.random(len(cue)) < truth.with_space, " ", "")
    relation = rng.spawn(1)[0].choice(list(RELATIONS), len(cue), p=list(RELATIONS.values()))
    return pd.DataFrame(
        {
            "row": np.arange(len(cue)),
            "cue": words[cue],
            "association": words[association] + spaces,
            "explanation": [f"simulated: {first} goes with {second}" for first, second in pairs],
            "relation": relation,
        }
    )


def _norms(rng: np.random.Generator, words: np.ndarray, truth: HumbelTruth) -> pd.DataFrame:
    """Draw ages of the meanings of those words that the norms hold, in alphabetical order."""
    held = np.flatnonzero(rng.random(len(words)) < truth.with_norms)
    word = np.repeat(held, 1 + rng.poisson(truth.more_meanings, len(held)))
    late = np.clip(word / len(words) + rng.normal(0, truth.age_spread, len(word)), 0, 0.999)
    return pd.DataFrame(
        {
            "row": np.arange(len(word)),
            "word": words[word],
            "meaning": [f"simulated meaning {number}" for number in range(len(word))],
            "age": np.array(AGES)[(late * len(AGES)).astype(int)],
        }
    )
