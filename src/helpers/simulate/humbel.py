"""Simulated words, associations and ages of HumBEL, and a test taker, with a known truth.

The model, with the numbers below:

1. Words are numbered. The lower the number, the more often a word comes to people's
minds, and the
   earlier it is learned. Some words have several meanings; the norms lack some words.
2. Each cue is a word. Associations to it are words drawn by how often they come to
mind.
   The explanation of each uses both words. Relations are dealt out at random.
3. The test taker knows a pair with a probability that falls with its age and otherwise
guesses, so
   that neither parts of speech nor relations make a pair harder.
"""

import numpy as np
import pandas as pd

from helpers.data.columns.humbel import AGES

# of words in turn: taggers go by them
ENDINGS = ("", "s", "ing", "ed", "ly", "ous", "", "")
RELATIONS = {"UNK": 0.9, "Synonym": 0.04, "Location": 0.03, "Function": 0.03}
N_WORDS, N_CUES, ASSOCIATIONS_PER_CUE = 6000, 1100, 17
POPULARITY = 0.5
AGE_SPREAD = 0.2
WITH_NORMS = 0.85
MORE_MEANINGS = 1.0
WITH_SPACE = 0.02
KNOWN = 0.75, 0.45  # share of pairs for the first age, and for the last


def humbel(rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Simulate associations between words and the ages at which people know words."""
    endings = np.resize(ENDINGS, N_WORDS)
    words = np.array(
        [f"wug{number:04}{ending}" for number, ending in enumerate(endings, 1)]
    )
    return _associations(rng, words), _norms(rng, words)


def answers(
    rng: np.random.Generator, questions: pd.DataFrame, n_options: int
) -> pd.Series:
    """Let the simulated test taker answer."""
    known = np.interp(questions["age"], [AGES[0], AGES[-1]], KNOWN)
    knows = rng.random(len(questions)) < known
    guesses = rng.integers(n_options, size=len(questions))
    return pd.Series(
        np.where(knows, questions["correct"], guesses),
        index=questions["question"],
        name="chosen",
    )


def _associations(rng: np.random.Generator, words: np.ndarray) -> pd.DataFrame:
    """Draw the associations to each cue."""
    often = np.arange(1, N_WORDS + 1) ** -POPULARITY
    cues = np.sort(rng.choice(N_WORDS, N_CUES, replace=False))
    cue = np.repeat(cues, ASSOCIATIONS_PER_CUE)
    association = rng.choice(N_WORDS, len(cue), p=often / often.sum())
    association = np.where(association == cue, (association + 1) % N_WORDS, association)
    pairs = zip(words[cue], words[association], strict=True)
    spaces = np.where(rng.random(len(cue)) < WITH_SPACE, " ", "")
    relation = rng.spawn(1)[0].choice(
        list(RELATIONS), len(cue), p=list(RELATIONS.values())
    )
    return pd.DataFrame(
        {
            "row": np.arange(len(cue)),
            "cue": words[cue],
            "association": words[association] + spaces,
            "explanation": [
                f"simulated: {first} goes with {second}" for first, second in pairs
            ],
            "relation": relation,
        }
    )


def _norms(rng: np.random.Generator, words: np.ndarray) -> pd.DataFrame:
    """Draw ages of the meanings of those words that the norms hold, in alphabetical order."""
    held = np.flatnonzero(rng.random(len(words)) < WITH_NORMS)
    word = np.repeat(held, 1 + rng.poisson(MORE_MEANINGS, len(held)))
    late = np.clip(word / len(words) + rng.normal(0, AGE_SPREAD, len(word)), 0, 0.999)
    return pd.DataFrame(
        {
            "row": np.arange(len(word)),
            "word": words[word],
            "meaning": [f"simulated meaning {number}" for number in range(len(word))],
            "age": np.array(AGES)[(late * len(AGES)).astype(int)],
        }
    )
