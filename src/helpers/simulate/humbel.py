"""Simulated words, associations and ages of HumBEL, and a test taker.

The model, with a known truth, the numbers below:

1. Words are numbered. The lower the number, the more often a word comes to people's
   minds, and the earlier it is learned. Some words have several meanings; the norms
   lack some words.
2. Each cue is a word. Associations to it are words drawn by how often they come to
   mind. The explanation of each uses both words. Relations are drawn at random.
3. The test taker knows a pair with a probability that falls with its age and otherwise
   guesses, so that neither parts of speech nor relations make a pair harder.
"""

import numpy as np
import pandas as pd

from helpers.data.columns.humbel import AGES
from helpers.simulate import says_so

# of words in turn: taggers go by them
ENDINGS = ("", "s", "ing", "ed", "ly", "ous", "", "")
RELATIONS = {"UNK": 0.9, "Synonym": 0.04, "Location": 0.03, "Function": 0.03}
N_WORDS = 6000
N_CUES = 1100
ASSOCIATIONS_PER_CUE = 17
POPULARITY = 0.5  # exponent: word n comes to mind in proportion to n ** -0.5
AGE_SD = 0.2  # of a meaning around its word's age, as a share of all ages
WITH_NORMS = 0.85  # share of words
MORE_MEANINGS = 1.0  # on average, beside the first
WITH_SPACE = 0.02  # share of associations with a space behind them
# shares of pairs that the test taker knows
KNOWN_FIRST = 0.75  # of the first age
KNOWN_LAST = 0.45  # of the last


@says_so
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
    ages = [AGES[0], AGES[-1]]
    known = np.interp(questions["age"], ages, [KNOWN_FIRST, KNOWN_LAST])
    knows = rng.random(len(questions)) < known
    guesses = rng.integers(n_options, size=len(questions))
    chosen = np.where(knows, questions["correct"], guesses)
    return pd.Series(chosen, index=questions["question"], name="chosen")


def _associations(rng: np.random.Generator, words: np.ndarray) -> pd.DataFrame:
    """Draw the associations to each cue."""
    popularity = np.arange(1, N_WORDS + 1) ** -POPULARITY
    popularity = popularity / popularity.sum()
    cues = np.sort(rng.choice(N_WORDS, N_CUES, replace=False))
    cue = np.repeat(cues, ASSOCIATIONS_PER_CUE)
    association = rng.choice(N_WORDS, len(cue), p=popularity)
    # no word is associated with itself, but with the next one
    association = np.where(association == cue, (association + 1) % N_WORDS, association)
    explanations = [
        f"simulated: {first} goes with {second}"
        for first, second in zip(words[cue], words[association], strict=True)
    ]
    spaces = np.where(rng.random(len(cue)) < WITH_SPACE, " ", "")
    # a generator of their own, so that relations leave all other draws as they are
    relation_rng = rng.spawn(1)[0]
    relations = list(RELATIONS)
    shares = list(RELATIONS.values())
    return pd.DataFrame(
        {
            "row": np.arange(len(cue)),
            "cue": words[cue],
            "association": words[association] + spaces,
            "explanation": explanations,
            "relation": relation_rng.choice(relations, len(cue), p=shares),
        }
    )


def _norms(rng: np.random.Generator, words: np.ndarray) -> pd.DataFrame:
    """Draw ages of the meanings of the words that the norms hold, by their numbers."""
    has_norms = rng.random(len(words)) < WITH_NORMS
    held = np.flatnonzero(has_norms)
    n_meanings = 1 + rng.poisson(MORE_MEANINGS, len(held))
    word = np.repeat(held, n_meanings)
    # from 0, the words learned first, to 1
    lateness = word / len(words) + rng.normal(0, AGE_SD, len(word))
    lateness = np.clip(lateness, 0, 0.999)
    age = np.array(AGES)[(lateness * len(AGES)).astype(int)]
    return pd.DataFrame(
        {
            "row": np.arange(len(word)),
            "word": words[word],
            "meaning": [f"simulated meaning {number}" for number in range(len(word))],
            "age": age,
        }
    )
