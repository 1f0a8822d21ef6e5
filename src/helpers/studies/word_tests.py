"""The two large tests of HumBEL, built anew.

WC large asks for the two of four words that go together best (section 2.2.1), Def which
of four words has a meaning (appendix A).
"""

from collections.abc import Collection
from itertools import combinations

import numpy as np
import pandas as pd

TARGET = ["cue", "association"]
FOUR = [*TARGET, "alternative_1", "alternative_2"]
SHOWN = ["word_1", "word_2", "word_3", "word_4"]
PAIRS = tuple(combinations(range(len(SHOWN)), 2))
MEANINGS = ("latest", "earliest")
# of the words beside the right ones; the last one sets the order too
SEEDS = (515, 516, 517)


def word_classes(
    associations: pd.DataFrame, norms: pd.DataFrame, meanings: str = "latest"
) -> pd.DataFrame:
    """Build WC large, which asks for the two of four words that go together best.

    Beside each association stand two others, drawn at random. A question is dropped if
    a word stands twice, if a word has no age, or if two words other than the target
    are the target of another question.

    Parameters
    ----------
    associations, norms : pandas.DataFrame
        As `studies.humbel.load` gives them.
    meanings : {"latest", "earliest"}, optional
        Which meaning of a word sets its age.

    Returns
    -------
    pandas.DataFrame
        One row per question: its number ``question``; ``row`` of the association; the
        words by role (`FOUR`); ``cue_age``, ``association_age`` and ``age``, the larger
        of the two, in years; the words as shown (`SHOWN`); ``correct``, the target's
        place in `PAIRS`.

    Raises
    ------
    ValueError
        If `meanings` is something else.

    References
    ----------
    Sicilia et al. (2024), HumBEL, section 2.2.1.

    Examples
    --------
    >>> from helpers.studies import humbel
    >>> study = humbel.load("simulated")
    >>> questions = word_classes(study.associations, study.norms)
    >>> questions[FOUR].nunique(axis=1).unique().tolist()
    [4]
    """
    steps, words, ages = _steps(associations, norms, meanings)
    return _as_questions(steps["no second known pair"], words, ages)


def attrition(associations: pd.DataFrame, norms: pd.DataFrame) -> pd.Series:
    """Count what is left after each step of building WC large.

    Parameters
    ----------
    associations, norms : pandas.DataFrame
        As for `word_classes`.

    Returns
    -------
    pandas.Series of int
        Number of associations or questions, indexed by step.

    Examples
    --------
    >>> from helpers.studies import humbel
    >>> study = humbel.load("simulated")
    >>> attrition(study.associations, study.norms).is_monotonic_decreasing
    True
    """
    steps, _, _ = _steps(associations, norms, "latest")
    return pd.Series({step: len(rows) for step, rows in steps.items()}, name="left")


def second_pairs(four: pd.DataFrame, known: pd.DataFrame) -> np.ndarray:
    """Mark questions in which two words other than the target are a known pair.

    Parameters
    ----------
    four : pandas.DataFrame
        Columns `FOUR`.
    known : pandas.DataFrame
        Columns `TARGET`.

    Returns
    -------
    numpy.ndarray of bool, shape (n_questions,)
        True where the question has a second answer; the order of a pair does not
        matter.

    Examples
    --------
    >>> four = pd.DataFrame([["cat", "dog", "tax", "law"]], columns=FOUR)
    >>> second_pairs(four, pd.DataFrame([["law", "tax"]], columns=TARGET))
    array([ True])
    """
    asked_words = four[FOUR].to_numpy().ravel()
    known_words = known[TARGET].to_numpy().ravel()
    codes, _ = pd.factorize(np.concatenate([asked_words, known_words]))
    asked = codes[: len(asked_words)].reshape(-1, 4)
    known_pairs = codes[len(asked_words) :].reshape(-1, 2)
    known_numbers = _pair_numbers(known_pairs)
    has_second = np.zeros(len(four), dtype=bool)
    for pair in PAIRS[1:]:  # the first is the target
        has_second |= np.isin(_pair_numbers(asked[:, pair]), known_numbers)
    return has_second


def _steps(
    associations: pd.DataFrame, norms: pd.DataFrame, meanings: str
) -> tuple[dict[str, pd.DataFrame], np.ndarray, np.ndarray]:
    """Build questions step by step, with numbers for words; add words and ages."""
    if meanings not in MEANINGS:
        raise ValueError(f"meanings must be {' or '.join(MEANINGS)}, not {meanings!r}")
    codes, words = pd.factorize(associations[TARGET].to_numpy().ravel())
    by_word = norms.groupby("word")["age"]
    ages = by_word.max() if meanings == "latest" else by_word.min()
    ages = ages.reindex(words).to_numpy()
    pairs = pd.DataFrame(
        codes.reshape(-1, 2), index=associations["row"], columns=TARGET
    )
    four = _with_alternatives(pairs)
    different = four[_all_different(four.to_numpy())]
    aged = different[_aged(different, ages)]
    steps = {
        "associations": pairs,
        "four different words": different,
        "all four with an age": aged,
        "no second known pair": aged[~second_pairs(aged, aged)],
    }
    return steps, words, ages


def _aged(words: pd.DataFrame, ages: np.ndarray) -> np.ndarray:
    """Mark rows in which every word has an age."""
    return ~np.isnan(ages[words.to_numpy()]).any(axis=1)


def _with_alternatives(pairs: pd.DataFrame) -> pd.DataFrame:
    """Put two randomly drawn associations beside each pair."""
    drawn = {}
    for column, seed in zip(FOUR[2:], SEEDS[:2], strict=True):
        shuffled = pairs["association"].sample(frac=1, random_state=seed)
        drawn[column] = shuffled.to_numpy()
    return pairs.assign(**drawn)


def _pair_numbers(codes: np.ndarray) -> np.ndarray:
    """Number pairs of words so that both orders have the same number."""
    # two numbers below 2**32 in one of 64 bits
    return (codes.min(axis=1) << 32) + codes.max(axis=1)


def _as_questions(
    four: pd.DataFrame, words: np.ndarray, ages: np.ndarray
) -> pd.DataFrame:
    """Number the questions, look up words and ages, show the words in random order."""
    codes = four.to_numpy()
    order = _random_order(codes.shape, SEEDS[-1])
    questions = pd.DataFrame(words[codes], columns=FOUR)
    questions.insert(0, "row", four.index)
    target_ages = ages[codes[:, :2]].astype(int)
    questions[["cue_age", "association_age"]] = target_ages
    questions["age"] = target_ages.max(axis=1)
    questions[SHOWN] = words[np.take_along_axis(codes, order, axis=1)]
    # Where the two words of the target, 0 and 1 before the shuffle, are shown.
    places = np.sort(np.argsort(order, axis=1)[:, :2], axis=1)
    # As one number each, pairs of places rise as in PAIRS and can be looked up.
    pair_numbers = [4 * i + j for i, j in PAIRS]
    questions["correct"] = np.searchsorted(pair_numbers, places @ [4, 1])
    return questions.rename_axis("question").reset_index()


def definitions(
    norms: pd.DataFrame, vocabulary: Collection[str] | None = None
) -> pd.DataFrame:
    """Build Def, which asks for the one of four words that has a given meaning.

    Parameters
    ----------
    norms : pandas.DataFrame
        As `studies.humbel.load` gives them.
    vocabulary : collection of str, optional
        Ask about these words only; by default about all.

    Returns
    -------
    pandas.DataFrame
        One row per question: its number ``question``; ``row`` of the norms; ``word``,
        ``meaning`` and ``age`` in years; the words as shown (`SHOWN`); ``correct``, the
        word's place among them from 0. Questions with a repeated word are left out.

    References
    ----------
    Sicilia et al. (2024), HumBEL, appendix A.

    Examples
    --------
    >>> from helpers.studies import humbel
    >>> questions = definitions(humbel.load("simulated").norms)
    >>> shown = questions[SHOWN].to_numpy()[questions.index, questions["correct"]]
    >>> bool((shown == questions["word"]).all())
    True
    """
    asked = norms if vocabulary is None else norms[norms["word"].isin(vocabulary)]
    drawn = [
        asked["word"].sample(frac=1, random_state=seed).to_numpy() for seed in SEEDS
    ]
    four = np.column_stack([asked["word"].to_numpy(), *drawn])
    codes, _ = pd.factorize(four.ravel())
    is_usable = _all_different(codes.reshape(four.shape))
    asked = asked[is_usable].reset_index(drop=True)
    four = four[is_usable]
    order = _random_order(four.shape, SEEDS[-1])
    shown = pd.DataFrame(np.take_along_axis(four, order, axis=1), columns=SHOWN)
    questions = asked[["row", "word", "meaning", "age"]].join(shown)
    # where the word itself, 0 before the shuffle, is shown
    questions["correct"] = (order == 0).argmax(axis=1)
    return questions.rename_axis("question").reset_index()


def _all_different(codes: np.ndarray) -> np.ndarray:
    """Mark rows in which no number stands twice."""
    steps = np.diff(np.sort(codes, axis=1), axis=1)
    return (steps > 0).all(axis=1)


def _random_order(shape: tuple[int, int], seed: int) -> np.ndarray:
    """Draw an order of the columns for each row."""
    columns = np.tile(np.arange(shape[1]), (shape[0], 1))
    return np.random.default_rng(seed).permuted(columns, axis=1)
