"""What can be measured in a text without people: length, sentiment, overlap, aspects.

Nothing here downloads weights: a language model is used if torch and transformers are
installed and its weights are already on this machine.

The aspects that a written reason mentions are told by `data/lexicon.csv`: regular
expressions of our own, written from the short descriptions in Appendix C of Kamoda et
al. They tell that an aspect comes up, not whether it is praised. One reader marked 90
of the justifications by meaning, after the lexicon was finished and before it was run
on them; `read_hand_check` holds the counts.
"""

import importlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import pandas as pd

from helpers import paths

SCORERS = ("vader", "twitter")
TWITTER_MODEL = "cardiffnlp/twitter-roberta-base-sentiment-latest"
COUNTS = ("true_positive", "false_positive", "false_negative", "true_negative")

# everything but letters, digits, spaces and the apostrophe of "don't" or "we've"
_NOT_IN_WORDS = re.compile(r"'(?![tsd]|ve|ll|re)|[^\w\s']")
_SENTENCE = re.compile(r"\b[^.!?]+")
# The e of make, make's, lately, makes and called is silent, that of table or houses is
# not.
_SILENT = re.compile(
    r"(?<=[^aeiouy])(?<![^aeiouy]l)e(?=('s|ly|ments?|ful|less|ness)?$)"
    r"|(?<=[^aeiouycgsxz])(?<![^aeiouy]l)e(?=s$)"
    r"|(?<=[^aeiouy])e(?=d$)"
)


class ModelUnavailableError(RuntimeError):
    """A language model cannot be used here; the message says what is missing."""


def readability(texts: Sequence[str]) -> pd.Series:
    """Flesch-Kincaid grade: years of schooling in the US needed to follow a text.

    0.39 words per sentence + 11.8 syllables per word - 15.59. One or two words between
    full stops are no sentence, as in the package textstat. Syllables are estimated in
    two ways that both miss some, as groups of vowels without a silent e and as places
    for a hyphen; the larger count is taken. Of the words in the answers of Hosking et
    al. that the CMU pronouncing dictionary has, 97.7 % get the count of that
    dictionary, and the mean is 0.01 syllables a word too low.

    Parameters
    ----------
    texts : sequence of str or pandas.Series
        English texts with at least one word.

    Returns
    -------
    pandas.Series of float
        Named ``readability``, in grades, with the index of `texts` if that is a Series.

    Raises
    ------
    ValueError
        If a value is not a text or has no word.

    References
    ----------
    Kincaid, Fishburne, Rogers and Chissom (1975); Hosking et al. (2024), section 3.2
    and Appendix F.

    Examples
    --------
    >>> readability(["The cat sat on the mat."]).round(2).tolist()
    [-1.45]
    """
    grades = _with_words(texts, "texts").map(_grade)
    return grades.astype(float).rename("readability")


def _grade(text: str) -> float:
    """Flesch-Kincaid grade of one text."""
    words = _plain_words(text)
    n_sentences = 0
    for part in _SENTENCE.findall(text):
        if len(_plain_words(part)) > 2:
            n_sentences += 1
    n_syllables = sum(_syllables(word) for word in words)
    by_sentences = 0.39 * len(words) / max(1, n_sentences)
    by_syllables = 11.8 * (n_syllables / len(words))
    return by_sentences + by_syllables - 15.59


def _plain_words(text: str) -> list[str]:
    """Words in small letters, without punctuation but for the apostrophe of "don't"."""
    return _NOT_IN_WORDS.sub("", text).lower().split()


@cache
def _syllables(word: str) -> int:
    """Number of syllables: vowel groups that are heard, or parts by hyphens if more."""
    vowel_groups = re.findall("[aeiouy]+", _SILENT.sub("", word))
    hyphenated_parts = 1 + len(_hyphenation().positions(word))
    return max(1, len(vowel_groups), hyphenated_parts)


@cache
def _hyphenation() -> Any:
    """American patterns of hyphenation."""
    return importlib.import_module("pyphen").Pyphen(lang="en_US")


def _with_words(texts: Sequence[str], name: str) -> pd.Series:
    """Texts as a Series; stop at the first without a word."""
    values = pd.Series(texts, dtype=object)
    wordless = ~values.str.contains(r"\w").astype(bool)
    if wordless.any():
        raise ValueError(f"{name} has no word in row {wordless.idxmax()}: drop the row")
    return values


def _classifier_score() -> Callable[[str], float]:
    """Probability of positive less that of negative sentiment, by RoBERTa."""
    model, tokenizer = load_model(TWITTER_MODEL, "AutoModelForSequenceClassification")
    torch = _optional("torch")
    class_of = {
        label.lower(): number for number, label in model.config.id2label.items()
    }
    # RoBERTa keeps two positions to itself
    longest = model.config.max_position_embeddings - 2

    def score(text: str) -> float:
        tokens = tokenizer(
            text, truncation=True, max_length=longest, return_tensors="pt"
        )
        with torch.no_grad():
            logits = model(**tokens).logits[0]
        chance = logits.softmax(dim=0)
        return float(chance[class_of["positive"]] - chance[class_of["negative"]])

    return score


def sentiment(texts: Sequence[str], scorer: str = "vader") -> pd.Series:
    """How positive each text is.

    Parameters
    ----------
    texts : sequence of str or pandas.Series
        Texts with at least one word.
    scorer : {"vader", "twitter"}, optional
        ``"vader"`` is a lexicon with rules and always there. ``"twitter"`` is the
        classifier of Hosking et al., scored as the probability of positive less that of
        negative sentiment; it reads about the first 500 tokens of a text.

    Returns
    -------
    pandas.Series of float
        Between -1 and 1, named after the scorer, with the index of `texts` if that is a
        Series.

    Raises
    ------
    ValueError
        If the scorer is unknown, or a text has no word.
    ModelUnavailableError
        If the classifier cannot be used here.

    References
    ----------
    Hutto and Gilbert (2014), VADER; Camacho-Collados et al. (2022), TweetNLP; Hosking
    et al. (2024), section 3.2 and Appendix F.

    Examples
    --------
    >>> sentiment(["A great answer!", "A terrible answer."])
    0    0.6588
    1   -0.4767
    Name: vader, dtype: float64
    """
    if scorer not in SCORERS:
        raise ValueError(
            f"sentiment scorer {scorer!r} is unknown: choose from {SCORERS}"
        )
    score = _lexicon_score() if scorer == "vader" else _classifier_score()
    scores = _with_words(texts, "texts").map(score)
    return scores.astype(float).rename(scorer)


def _lexicon_score() -> Callable[[str], float]:
    """Compound of VADER."""
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    analyzer = SentimentIntensityAnalyzer()

    def score(text: str) -> float:
        return analyzer.polarity_scores(text)["compound"]

    return score


def overlap(
    candidates: Sequence[str], references: Sequence[str], use_stemmer: bool = False
) -> pd.DataFrame:
    """F1 of ROUGE-1 and ROUGE-L of each candidate with its reference."""
    candidates = _with_words(candidates, "candidates")
    references = _with_words(references, "references")
    stemmer = None
    if use_stemmer:
        # here, as it takes a second to import
        stemmer = importlib.import_module("nltk.stem.porter").PorterStemmer()
    scores = []
    for candidate, reference in zip(candidates, references, strict=True):
        scores.append(_rouge(_tokens(candidate, stemmer), _tokens(reference, stemmer)))
    return pd.DataFrame(
        scores, columns=["rouge_1", "rouge_l"], index=candidates.index, dtype=float
    )


def _tokens(text: str, stemmer: Any) -> list[str]:
    """Words of English letters and digits; stems of those with four or more."""
    words = re.findall("[a-z0-9]+", text.lower())
    if stemmer is None:
        return words
    return [stemmer.stem(word) if len(word) > 3 else word for word in words]


def _rouge(candidate: list[str], reference: list[str]) -> tuple[float, float]:
    """F1 of ROUGE-1 and ROUGE-L of two lists of words."""
    shared = (Counter(candidate) & Counter(reference)).total()
    in_order = _longest_common_subsequence(candidate, reference)
    mean_length = max(len(candidate) + len(reference), 1) / 2
    return shared / mean_length, in_order / mean_length


def _longest_common_subsequence(first: list[str], second: list[str]) -> int:
    """Number of words in the longest common subsequence (Hyyrö, 2004)."""
    # A whole row of the usual table is one integer: the bit of a place in the first
    # list is 0 where the length rises there. Integers have as many bits as needed.
    places = defaultdict(int)
    for place, word in enumerate(first):
        places[word] |= 1 << place
    all_bits = (1 << len(first)) - 1
    row = all_bits
    for word in second:
        matches = row & places[word]
        row = ((row + matches) | (row - matches)) & all_bits
    return len(first) - row.bit_count()


def reference_overlap(
    answers: pd.DataFrame, reference: str, use_stemmer: bool = False
) -> pd.DataFrame:
    """Words that each answer shares with the reference answer to the same question.

    Parameters
    ----------
    answers : pandas.DataFrame
        One row per answer: ``question_id``, ``system`` (who wrote it) and ``text``.
    reference : str
        The system whose answers are the references, one for each question.
    use_stemmer : bool, optional
        Whether words are reduced to their stems first.

    Returns
    -------
    pandas.DataFrame of float
        Columns ``rouge_1`` and ``rouge_l``, from 0 to 1, see `helpers.text.overlap`,
        with the index of `answers`; NaN for the references.

    Raises
    ------
    ValueError
        If a text has no word.

    References
    ----------
    Kamoda et al. (2025), section 5.1.

    Examples
    --------
    >>> answers = pd.DataFrame({"question_id": ["q", "q"], "system": ["top", "model"],
    ...                         "text": ["the cat sat down there", "the cat sat"]})
    >>> reference_overlap(answers, "top")
       rouge_1  rouge_l
    0      NaN      NaN
    1     0.75     0.75
    """
    is_reference = answers["system"] == reference
    reference_texts = answers[is_reference].set_index("question_id")["text"]
    candidates = answers[~is_reference]
    references = candidates["question_id"].map(reference_texts)
    scores = overlap(candidates["text"], references, use_stemmer)
    return scores.reindex(answers.index)


def load_model(name: str, kind: str = "AutoModelForCausalLM") -> tuple[Any, Any]:
    """A language model with its tokenizer, from the local cache.

    Parameters
    ----------
    name : str
        Name on the Hugging Face hub or path of a folder.
    kind : str, optional
        Class of ``transformers`` that reads it.

    Returns
    -------
    model, tokenizer
        Of the class asked for.

    Raises
    ------
    ModelUnavailableError
        If torch or transformers is not installed, or the weights are not on this
        machine.

    References
    ----------
    Wolf et al. (2020), Transformers: State-of-the-Art Natural Language Processing.
    """
    transformers = _optional("transformers")
    _optional("torch")  # which transformers needs
    model_class = getattr(transformers, kind)
    tokenizer_class = transformers.AutoTokenizer
    try:
        model = model_class.from_pretrained(name, local_files_only=True)
        tokenizer = tokenizer_class.from_pretrained(name, local_files_only=True)
    except OSError as error:
        raise ModelUnavailableError(
            f"the files of {name!r} are not on this machine and are never downloaded "
            f"from here: fetch them with `hf download {name}`"
        ) from error
    return model, tokenizer


def _optional(package: str) -> Any:
    """A package that is not part of the plain installation."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise ModelUnavailableError(
            f"package {package!r} is not installed: install torch and transformers"
        ) from error


def _read_lexicon() -> pd.DataFrame:
    """Read the aspects in the order of the file: their meaning, and their keywords."""
    rows = pd.read_csv(paths.DATA / "lexicon.csv")
    aspects = rows.groupby("aspect", sort=False)
    table = aspects.agg(meaning=("meaning", "first"), keywords=("keyword", list))
    return table.rename_axis(None)


LEXICON = _read_lexicon()


def mentions(texts: Sequence[str]) -> pd.DataFrame:
    """Which aspects of `data/lexicon.csv` each text mentions.

    Parameters
    ----------
    texts : sequence of str or pandas.Series
        One reason or comment each.

    Returns
    -------
    pandas.DataFrame of bool, shape (n_texts, n_aspects)
        With the index of `texts` if that is a Series.

    References
    ----------
    Kamoda et al. (2025), section 4.1 and Appendix C.

    Examples
    --------
    >>> table = mentions(["Accurate, but far too wordy.", "Easy to follow."])
    >>> table.T[table.any()]
                            0      1
    factuality           True  False
    easy_to_understand  False   True
    conciseness          True  False
    """
    texts = pd.Series(texts, dtype=object)
    matches = {}
    for aspect, keywords in LEXICON["keywords"].items():
        any_keyword = re.compile("|".join(keywords), re.IGNORECASE)
        matches[aspect] = texts.map(any_keyword.search)  # None without a match
    return pd.DataFrame(matches, index=texts.index).notna()


def read_hand_check() -> pd.DataFrame:
    """Read how often reader and lexicon marked a mention in each sample.

    Returns
    -------
    pandas.DataFrame
        By (sample, aspect): texts in which both marked a mention (``true_positive``),
        only the lexicon (``false_positive``), only the reader (``false_negative``) or
        neither.

    Examples
    --------
    >>> read_hand_check().sum(axis="columns").unique().tolist()
    [50, 40]
    """
    file = paths.DATA / "justifications_hand_check.csv"
    table = pd.read_csv(file, index_col=["sample", "aspect"])
    return table[list(COUNTS)]
