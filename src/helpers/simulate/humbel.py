"""Simulated tables of HumBEL with a known truth: words, their ages, and answers.

Words are numbered. The lower the number, the more often a word comes to people's minds,
and the earlier it is learned; some words have several meanings, and the norms lack some
words. Who takes a test knows a question with a probability that falls with its age, and
otherwise guesses: neither parts of speech nor relations nor wordings matter.
"""

import numpy as np
import pandas as pd

from helpers.data.columns.humbel import AGES

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
KNOWN = (0.75, 0.45)  # shares of questions of the first and of the last age


def vocabulary() -> np.ndarray:
    """All invented words by number."""
    endings = np.resize(ENDINGS, N_WORDS)
    numbered = enumerate(endings, 1)
    return np.array([f"wug{number:04}{ending}" for number, ending in numbered])


def associations(rng: np.random.Generator) -> pd.DataFrame:
    """Draw the associations to each cue."""
    words = vocabulary()
    popularity = np.arange(1, N_WORDS + 1) ** -POPULARITY
    cues = np.sort(rng.choice(N_WORDS, N_CUES, replace=False))
    cue = np.repeat(cues, ASSOCIATIONS_PER_CUE)
    drawn = rng.choice(N_WORDS, len(cue), p=popularity / popularity.sum())
    # no word is associated with itself, but with the next one
    association = np.where(drawn == cue, (drawn + 1) % N_WORDS, drawn)
    explanations = [
        f"simulated: {first} goes with {second}"
        for first, second in zip(words[cue], words[association], strict=True)
    ]
    spaces = np.where(rng.random(len(cue)) < WITH_SPACE, " ", "")
    relations = rng.choice(list(RELATIONS), len(cue), p=list(RELATIONS.values()))
    return pd.DataFrame(
        {
            "row": np.arange(len(cue)),
            "cue": words[cue],
            "association": words[association] + spaces,
            "explanation": explanations,
            "relation": relations,
        }
    )


def norms(rng: np.random.Generator) -> pd.DataFrame:
    """Draw the meanings of the words that the norms hold, and their ages."""
    words = vocabulary()
    held = np.flatnonzero(rng.random(N_WORDS) < WITH_NORMS)
    word = np.repeat(held, 1 + rng.poisson(MORE_MEANINGS, len(held)))
    # from 0, the words learned first, to 1
    lateness = word / N_WORDS + rng.normal(0, AGE_SD, len(word))
    lateness = np.clip(lateness, 0, 0.999)
    return pd.DataFrame(
        {
            "row": np.arange(len(word)),
            "word": words[word],
            "meaning": [f"simulated meaning {number}" for number in range(len(word))],
            "age": np.array(AGES)[(lateness * len(AGES)).astype(int)],
        }
    )


def answers(
    rng: np.random.Generator, questions: pd.DataFrame, n_options: int
) -> pd.Series:
    """Draw the option chosen for each question."""
    known = np.interp(questions["age"], [AGES[0], AGES[-1]], KNOWN)
    knows = rng.random(len(questions)) < known
    guesses = rng.integers(n_options, size=len(questions))
    chosen = np.where(knows, questions["correct"], guesses)
    return pd.Series(chosen, index=questions["question"], name="chosen")
