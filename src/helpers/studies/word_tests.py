"""The two large tests of HumBEL, built anew, and what may make a pair of words hard.

WC large asks for the two of four words that go together best (section 2.2.1), Def which
of four words has a meaning (appendix A). `FEATURES` lists for each tag of the Penn
Treebank what its form says, after the features that Universal Dependencies gives to
English words: a noun has a number, singular too; an adjective has a degree; a past
tense has a form and a tense. Tags come from TextBlob's PatternTagger, whose data come
with its package: it gives every word the tag that its dictionary holds, guesses by the
ending where the dictionary has nothing, and ignores the words around.
"""

import re
import warnings
from collections.abc import Collection
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

TARGET = ["cue", "association"]
FOUR = [*TARGET, "alternative_1", "alternative_2"]
SHOWN = ["word_1", "word_2", "word_3", "word_4"]
PAIRS = tuple(combinations(range(len(SHOWN)), 2))
MEANINGS = ("latest", "earliest")
# of the words beside the right ones; the last one sets the order too
SEEDS = (515, 516, 517)

PARTS_OF_SPEECH = {
    "noun": {"NN": ("number",), "NNS": ("number",)},
    "proper noun": {"NNP": ("number",), "NNPS": ("number",)},
    "verb": {
        "VB": ("form",),
        "VBP": ("form", "tense"),
        "VBD": ("form", "tense"),
        "VBG": ("form", "tense", "aspect"),
        "VBN": ("form", "tense", "aspect"),
        "VBZ": ("form", "tense", "number", "person"),
        "MD": ("modal",),
    },
    "adjective": {"JJ": ("degree",), "JJR": ("degree",), "JJS": ("degree",)},
    "adverb": {"RB": ("degree",), "RBR": ("degree",), "RBS": ("degree",), "WRB": ()},
    "pronoun": {
        "PRP": ("type",),
        "PRP$": ("type", "possessive"),
        "WP": (),
        "WP$": ("possessive",),
    },
    "determiner": {"DT": (), "PDT": (), "WDT": (), "EX": ("type",)},
    "preposition": {"IN": (), "RP": (), "TO": ("type", "form")},
    "number": {"CD": ("type",)},
    "conjunction": {"CC": ("type",)},
    "interjection": {"UH": ()},
}
FEATURES = {}
PART_OF_TAG = {}
for _part, _tags in PARTS_OF_SPEECH.items():
    FEATURES.update(_tags)
    PART_OF_TAG.update(dict.fromkeys(_tags, _part))

MODIFIERS = ("adjective", "adverb")
COMPLEXITY = ("low", "medium", "high")
MOST_FEATURES = (2, 4)  # of low and of medium complexity
_WORD = re.compile(r"[\w'-]+")


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


def part_of_speech(tags: pd.DataFrame) -> pd.DataFrame:
    """Name the part of speech of each tag.

    Parameters
    ----------
    tags : pandas.DataFrame
        Tags of the Penn Treebank or missing.

    Returns
    -------
    pandas.DataFrame
        Names of `PARTS_OF_SPEECH`, or "unknown".

    Examples
    --------
    >>> part_of_speech(pd.DataFrame({"cue": ["VBZ", None]}))["cue"].tolist()
    ['verb', 'unknown']
    """
    return tags.apply(lambda column: column.map(PART_OF_TAG)).fillna("unknown")


def pair_features(tags: pd.DataFrame) -> pd.DataFrame:
    """Turn the tags of two words into features of the pair.

    Parameters
    ----------
    tags : pandas.DataFrame
        Columns `TARGET`, tags of the Penn Treebank or missing.

    Returns
    -------
    pandas.DataFrame
        ``parts`` of speech in alphabetical order, "unknown" being one of them; whether
        there is an adjective or adverb (``modifier``) and whether the two differ
        (``different``); ``n_features``, the number of morphological features of both
        words; their ``complexity``, low (up to 2), medium (3 or 4) or high, and whether
        it is not low (``complex``).

    References
    ----------
    Sicilia et al. (2024), HumBEL, appendices D and E; Nivre et al. (2016) for the
    features.

    Examples
    --------
    >>> pair_features(pd.DataFrame([["VBZ", "JJ"]], columns=TARGET)).loc[0].to_dict()
    {'parts': 'adjective, verb', 'modifier': 1, 'different': 1, 'n_features': 5,
     'complexity': 'high', 'complex': 1}
    """
    parts = part_of_speech(tags[TARGET])
    in_order = np.sort(parts.to_numpy(dtype=str), axis=1)
    first = pd.Series(in_order[:, 0], tags.index)
    second = pd.Series(in_order[:, 1], tags.index)
    counts = {tag: len(features) for tag, features in FEATURES.items()}
    # An unknown tag is missing and adds nothing to the sum.
    n_features = sum(tags[role].map(counts).fillna(0) for role in TARGET).astype(int)
    complexity = np.array(COMPLEXITY)[np.searchsorted(MOST_FEATURES, n_features)]
    return pd.DataFrame(
        {
            "parts": first + ", " + second,
            "modifier": parts.isin(MODIFIERS).any(axis=1).astype(int),
            "different": (first != second).astype(int),
            "n_features": n_features,
            "complexity": complexity,
            "complex": (complexity != "low").astype(int),
        }
    )


def tag(words: pd.Series) -> pd.Series:
    """Tag words by themselves, each different word once.

    Parameters
    ----------
    words : pandas.Series of str
        Words as written; spaces at their ends do not count.

    Returns
    -------
    pandas.Series of str
        Tags of the Penn Treebank in the order of `words`; missing for an expression of
        several words.

    References
    ----------
    Brill (1992), A simple rule-based part of speech tagger; De Smedt and Daelemans
    (2012), Pattern for Python.

    Examples
    --------
    >>> tag(pd.Series(["dogs", "quickly ", "ice cream"])).tolist()
    ['NNS', 'RB', nan]
    """
    tagger = _tagger()
    stripped = words.str.strip()
    tag_of_word = {}
    for word in stripped.unique():
        tagged = tagger.tag(word, tokenize=False)
        if len(tagged) == 1:
            _, tag_of_word[word] = tagged[0]
    return stripped.map(tag_of_word)


def explained_tags(pairs: pd.DataFrame) -> pd.DataFrame:
    """Tag the two words of each pair, unless its explanation lacks the word.

    Parameters
    ----------
    pairs : pandas.DataFrame
        Columns ``cue``, ``association`` and ``explanation``.

    Returns
    -------
    pandas.DataFrame
        Columns ``cue`` and ``association``: tags of the Penn Treebank, missing where
        the explanation does not use the word in the form given.

    References
    ----------
    Sicilia et al. (2024), HumBEL, appendix D.

    Examples
    --------
    >>> explanation = "The king likes to reign."
    >>> pairs = pd.DataFrame({"cue": ["king"], "association": ["reigns"],
    ...                       "explanation": [explanation]})
    >>> explained_tags(pairs).loc[0].tolist()
    ['NN', nan]
    """
    used_words = pairs["explanation"].str.lower().map(_WORD.findall)
    tags = {}
    for role in TARGET:
        words = pairs[role].str.strip().str.lower()
        is_used = [word in used for word, used in zip(words, used_words, strict=True)]
        tags[role] = tag(pairs[role]).where(np.array(is_used))
    return pd.DataFrame(tags)


@cache
def _tagger() -> Any:
    """Load the tagger with its dictionary."""
    from textblob.en import lexicon  # here, as it takes long to load
    from textblob.en.taggers import PatternTagger

    with warnings.catch_warnings():
        # It forgets to close its files.
        warnings.simplefilter("ignore", ResourceWarning)
        lexicon.load()
    return PatternTagger()
