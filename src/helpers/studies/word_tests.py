"""The two large tests of HumBEL, built anew, and what may make a pair of words hard.

WC large asks for the two of four words that go together best; the paper leaves several
steps of building it open (section 2.2.1), and each is an option here. Def asks which of
four words has a meaning (appendix A). `FEATURES` lists for each tag of the Penn
Treebank what its form says, after the features that Universal Dependencies gives to
English words: a noun has a number, singular too; an adjective has a degree; a past
tense has a form and a tense. Tags come from TextBlob's PatternTagger, whose data come
with its package: it gives every word the tag that its dictionary holds, guesses by the
ending where the dictionary has nothing, and ignores the words around.
"""

import re
import warnings
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

TARGET = ["cue", "association"]
FOUR = [*TARGET, "alternative_1", "alternative_2"]
SHOWN = ["word_1", "word_2", "word_3", "word_4"]
PAIRS = tuple(combinations(range(len(SHOWN)), 2))
CHOICES = {
    "words": ("raw", "strip", "strip and lower"),
    "alternatives": ("rows", "words"),
    "age_filter": ("after", "before"),
    "known_pairs": ("surviving", "all"),
    "meanings": ("latest", "earliest"),
}
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
FEATURES = {
    tag: names for tags in PARTS_OF_SPEECH.values() for tag, names in tags.items()
}
PART_OF_TAG = {tag: part for part, tags in PARTS_OF_SPEECH.items() for tag in tags}

MODIFIERS = ("adjective", "adverb")
EASY_RELATIONS = ("Action", "Location", "Common-Phrase", "Synonym")
COMPLEXITY = ("low", "medium", "high")
MOST_FEATURES = (2, 4)  # of low and of medium complexity
_WORD = re.compile(r"[\w'-]+")


@dataclass(frozen=True)
class Options:
    """Steps of building WC large that the paper leaves open, see `CHOICES`.

    Parameters
    ----------
    words : {"raw", "strip", "strip and lower"}
        Whether spaces at the ends of words, and capitals, count.
    alternatives : {"rows", "words"}
        Draw the other two words from the associations as they are, so that frequent
        ones come up often, or from the different words among them.
    age_filter : {"after", "before"}
        Drop words without an age after or before alternatives are drawn.
    known_pairs : {"surviving", "all"}
        A question is dropped if two of its words other than the target are a known
        association: one of a question that is still in the test, or any that people
        gave.
    meanings : {"latest", "earliest"}
        Which meaning of a word sets its age.
    seeds : tuple of int
        One for each alternative, for the shuffles of pandas.
    order_seed : int
        For the order in which the four words are shown.
    """

    words: str = "raw"
    alternatives: str = "rows"
    age_filter: str = "after"
    known_pairs: str = "surviving"
    meanings: str = "latest"
    seeds: tuple[int, int] = SEEDS[:2]
    order_seed: int = SEEDS[2]

    def __post_init__(self):
        for option, choices in CHOICES.items():
            if getattr(self, option) not in choices:
                allowed = " or ".join(repr(choice) for choice in choices)
                raise ValueError(
                    f"{option} must be {allowed}, not {getattr(self, option)!r}"
                )


DEFAULTS = Options()


def word_classes(
    associations: pd.DataFrame, norms: pd.DataFrame, options: Options = DEFAULTS
) -> pd.DataFrame:
    """Build WC large, which asks for the two of four words that go together best.

    Parameters
    ----------
    associations, norms : pandas.DataFrame
        As `studies.humbel.load` gives them.
    options : Options, optional
        How to build it.

    Returns
    -------
    pandas.DataFrame
        One row per question: its number ``question``; ``row`` of the association; the
        words by role (`FOUR`); ``cue_age``, ``association_age`` and ``age``, the larger
        of the two, in years; the words as shown (`SHOWN`); ``correct``, the target's
        place in `PAIRS`.

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
    steps, words, ages = _steps(associations, norms, options)
    return _asked(steps["no second known pair"], words, ages, options.order_seed)


def attrition(
    associations: pd.DataFrame, norms: pd.DataFrame, options: Options = DEFAULTS
) -> pd.Series:
    """Count what is left after each step of building WC large.

    Parameters
    ----------
    associations, norms, options
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
    steps, _, _ = _steps(associations, norms, options)
    return pd.Series({step: len(left) for step, left in steps.items()}, name="left")


def second_pairs(four: pd.DataFrame, known: pd.DataFrame) -> np.ndarray:
    """Mark questions in which two words other than the target are a known pair, in any order.

    Parameters
    ----------
    four : pandas.DataFrame
        Columns `FOUR`.
    known : pandas.DataFrame
        Columns `TARGET`.

    Returns
    -------
    numpy.ndarray of bool, shape (n_questions,)
        True where the question has a second answer.

    Examples
    --------
    >>> four = pd.DataFrame([["cat", "dog", "tax", "law"]], columns=FOUR)
    >>> second_pairs(four, pd.DataFrame([["law", "tax"]], columns=TARGET))
    array([ True])
    """
    words = np.concatenate(
        [four[FOUR].to_numpy().ravel(), known[TARGET].to_numpy().ravel()]
    )
    codes, _ = pd.factorize(words)
    asked, pairs = (
        codes[: 4 * len(four)].reshape(-1, 4),
        codes[4 * len(four) :].reshape(-1, 2),
    )
    others = pd.DataFrame({pair: _pair_keys(asked[:, pair]) for pair in PAIRS[1:]})
    return others.isin(_pair_keys(pairs)).to_numpy().any(axis=1)


def word_ages(norms: pd.DataFrame, options: Options = DEFAULTS) -> pd.Series:
    """Find the age of each word.

    Parameters
    ----------
    norms : pandas.DataFrame
        Columns ``word`` and ``age``.
    options : Options, optional
        How words are written, and which of their meanings counts.

    Returns
    -------
    pandas.Series
        Years, indexed by word.

    Examples
    --------
    >>> norms = pd.DataFrame({"word": ["bank", "bank", "tree"], "age": [7, 12, 7]})
    >>> word_ages(norms).to_dict()
    {'bank': 12, 'tree': 7}
    """
    by_word = norms["age"].groupby(_clean(norms["word"], options.words))
    return by_word.max() if options.meanings == "latest" else by_word.min()


def _steps(
    associations: pd.DataFrame, norms: pd.DataFrame, options: Options
) -> tuple[dict[str, pd.DataFrame], np.ndarray, np.ndarray]:
    """Build questions step by step, with numbers for words; give the words and ages to these."""
    written = associations[TARGET].apply(_clean, how=options.words)
    codes, words = pd.factorize(written.to_numpy().ravel())
    ages = word_ages(norms, options).reindex(words).to_numpy()
    steps = {}
    steps["associations"] = pairs = pd.DataFrame(
        codes.reshape(-1, 2), index=associations["row"], columns=TARGET
    )
    if options.age_filter == "before":
        steps["both words with an age"] = pairs = pairs[_aged(pairs, ages)]
    four = _with_alternatives(pairs, options)
    steps["four different words"] = four = four[_all_different(four.to_numpy())]
    steps["all four with an age"] = four = four[_aged(four, ages)]
    known = steps["associations"] if options.known_pairs == "all" else four
    steps["no second known pair"] = four[~second_pairs(four, known)]
    return steps, words, ages


def _clean(words: pd.Series, how: str) -> pd.Series:
    """Write words as the option says."""
    if how == "raw":
        return words
    stripped = words.str.strip()
    return stripped if how == "strip" else stripped.str.lower()


def _aged(words: pd.DataFrame, ages: np.ndarray) -> np.ndarray:
    """Mark rows in which every word has an age."""
    return ~np.isnan(ages[words.to_numpy()]).any(axis=1)


def _with_alternatives(pairs: pd.DataFrame, options: Options) -> pd.DataFrame:
    """Put two randomly drawn associations beside each pair."""
    drawn = {}
    for column, seed in zip(FOUR[2:], options.seeds, strict=True):
        if options.alternatives == "rows":
            words = pairs["association"].sample(frac=1, random_state=seed)
        else:
            different = pairs["association"].drop_duplicates()
            words = different.sample(len(pairs), replace=True, random_state=seed)
        drawn[column] = words.to_numpy()
    return pairs.assign(**drawn)


def _pair_keys(codes: np.ndarray) -> np.ndarray:
    """Number pairs of words so that both orders have the same number."""
    return (codes.min(axis=1) << 32) + codes.max(axis=1)


def _asked(
    four: pd.DataFrame, words: np.ndarray, ages: np.ndarray, seed: int
) -> pd.DataFrame:
    """Number the questions, look up words and ages, and show the words in random order."""
    codes = four.to_numpy()
    order = _random_order(codes.shape, seed)
    places = np.sort(np.argsort(order, axis=1)[:, :2], axis=1)
    asked = pd.DataFrame(words[codes], columns=FOUR)
    asked.insert(0, "row", four.index)
    pair_ages = ages[codes[:, :2]].astype(int)
    asked[["cue_age", "association_age"]] = pair_ages
    asked["age"] = pair_ages.max(axis=1)
    asked[SHOWN] = words[np.take_along_axis(codes, order, axis=1)]
    asked["correct"] = np.searchsorted([4 * i + j for i, j in PAIRS], places @ [4, 1])
    return asked.rename_axis("question").reset_index()


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
    different = _all_different(pd.factorize(four.ravel())[0].reshape(four.shape))
    asked, four = asked[different].reset_index(drop=True), four[different]
    order = _random_order(four.shape, SEEDS[-1])
    shown = pd.DataFrame(np.take_along_axis(four, order, axis=1), columns=SHOWN)
    asked = asked[["row", "word", "meaning", "age"]].join(shown)
    return (
        asked.assign(correct=(order == 0).argmax(axis=1))
        .rename_axis("question")
        .reset_index()
    )


def _all_different(codes: np.ndarray) -> np.ndarray:
    """Mark rows in which no number stands twice."""
    return (np.diff(np.sort(codes, axis=1), axis=1) > 0).all(axis=1)


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
    first, second = np.sort(parts.to_numpy(dtype=str), axis=1).T
    counts = {name: len(features) for name, features in FEATURES.items()}
    n_features = (
        tags[TARGET].apply(lambda column: column.map(counts)).sum(axis=1).astype(int)
    )
    complexity = np.array(COMPLEXITY)[np.searchsorted(MOST_FEATURES, n_features)]
    return pd.DataFrame(
        {
            "parts": pd.Series(first, tags.index)
            + ", "
            + pd.Series(second, tags.index),
            "modifier": parts.isin(MODIFIERS).any(axis=1).astype(int),
            "different": (first != second).astype(int),
            "n_features": n_features,
            "complexity": complexity,
            "complex": (complexity != "low").astype(int),
        }
    )


def relation_features(relation: pd.Series) -> pd.DataFrame:
    """Tell which relations between words the paper takes for hard.

    Parameters
    ----------
    relation : pandas.Series of str
        Relations as labelled in the word associations, "UNK" if nobody labelled them.

    Returns
    -------
    pandas.DataFrame
        ``labelled``, 0 for "UNK"; ``hard``, 0 for an action, a location, a phrase or a
        synonym and 1 for all others, those without a label included.

    References
    ----------
    Sicilia et al. (2024), HumBEL, appendix E (H3).

    Examples
    --------
    >>> relation_features(pd.Series(["UNK", "Synonym", "PartOf"])).to_dict("list")
    {'labelled': [0, 1, 1], 'hard': [1, 0, 1]}
    """
    labelled, hard = relation != "UNK", ~relation.isin(EASY_RELATIONS)
    return pd.DataFrame({"labelled": labelled, "hard": hard}).astype(int)


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
    tagger, _ = _tagger()
    stripped = words.str.strip()
    tagged = {word: tagger.tag(word, tokenize=False) for word in stripped.unique()}
    return stripped.map(
        {word: tags[0][1] for word, tags in tagged.items() if len(tags) == 1}
    )


def in_dictionary(words: pd.Series) -> pd.Series:
    """Tell which words the tagger knows; the part of speech of others is a guess.

    Examples
    --------
    >>> in_dictionary(pd.Series(["dog", "chickadee"])).tolist()
    [True, False]
    """
    _, known = _tagger()
    return words.str.strip().map(lambda word: word in known or word.lower() in known)


def tag_in_context(words: pd.Series, texts: pd.Series) -> pd.Series:
    """Tag words where they are used, by the dictionary and then by rules about neighbours.

    The rules come with the tagger, which does not apply them.

    Parameters
    ----------
    words : pandas.Series of str
        One word for each text.
    texts : pandas.Series of str
        Texts with the same index.

    Returns
    -------
    pandas.Series of str
        Tags of the Penn Treebank; missing where the text lacks the word.

    References
    ----------
    Brill (1992), A simple rule-based part of speech tagger.

    Examples
    --------
    >>> used = pd.Series(["a charity needs help", "we give to charity"])
    >>> tag_in_context(pd.Series(["charity", "charity"]), used).tolist()
    ['NN', 'VB']
    """
    tagger, dictionary = _tagger()
    written = (" ".join(_WORD.findall(text)) for text in texts.str.lower())
    sentences = (
        dictionary.context.apply(tagger.tag(text, tokenize=False)) for text in written
    )
    pairs = zip(words.str.strip().str.lower(), sentences, strict=True)
    return pd.Series([dict(tagged).get(word) for word, tagged in pairs], words.index)


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
    texts = pairs["explanation"].str.lower().map(_WORD.findall)
    tags = {}
    for role in TARGET:
        words = pairs[role].str.strip().str.lower()
        used = [word in text for word, text in zip(words, texts, strict=True)]
        tags[role] = tag(pairs[role]).where(np.array(used))
    return pd.DataFrame(tags)


@cache
def _tagger() -> tuple[Any, Any]:
    """Load the tagger with its dictionary and rules, whose files it forgets to close."""
    from textblob.en import lexicon  # here, as it takes long to load
    from textblob.en.taggers import PatternTagger

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        lexicon.load()
        lexicon.context.load()
    return PatternTagger(), lexicon
