"""Measures of texts by hand and by other libraries, tiny models, and the lexicon."""

import re
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import textstat

from helpers import paths, text
from helpers.studies import kamoda

WORDS = (
    "<start>",
    "<pad>",
    "<unknown>",
    "why",
    "is",
    "the",
    "sky",
    "blue",
    "light",
    "scatters",
)
NO_MODELS = "torch and transformers are not installed"


@pytest.fixture
def save_tokenizer(tmp_path):
    """Save a tokenizer of whole words into a folder and return the folder."""
    tokenizers = pytest.importorskip("tokenizers", reason=NO_MODELS)
    transformers = pytest.importorskip("transformers", reason=NO_MODELS)
    vocabulary = {word: number for number, word in enumerate(WORDS)}
    words = tokenizers.models.WordLevel(vocabulary, unk_token="<unknown>")
    tokenizer = tokenizers.Tokenizer(words)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    special = {"bos_token": "<start>", "pad_token": "<pad>", "unk_token": "<unknown>"}
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special)
    fast.save_pretrained(tmp_path)
    return tmp_path


def test_readability_is_the_formula_by_hand():
    texts = [
        "The cat sat on the mat.",  # 6 words, 6 syllables
        "A dictionary clarifies. Absolutely nobody objected.",  # 6 words, 18 syllables
        "The cat sat on the mat. Of course. No.",  # one or two words are no sentence
    ]
    expected = (
        np.array([0.39 * 6, 0.39 * 3, 0.39 * 9]) + 11.8 * np.array([1, 3, 1]) - 15.59
    )
    assert text.readability(texts).tolist() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("word", "n"),
    [
        ("the", 1), ("make", 1), ("makes", 1), ("called", 1), ("don't", 1), ("dr", 1),
        ("2024", 1), ("table", 2), ("tables", 2), ("houses", 2), ("wanted", 2),
        ("make's", 1), ("about", 2), ("lately", 2), ("refusal", 3), ("assertive", 3),
        ("experience", 4), ("factuality", 5),
    ],
)  # fmt: skip
def test_syllables_by_hand(word, n):
    assert text._syllables(word) == n


def test_words_and_sentences_are_those_of_textstat_and_syllables_nearly():
    no_words = r"\]\([^)]*\)|`[^`]*`|<!--.*?-->"
    guide = re.sub(no_words, "", (paths.ROOT / "README.md").read_text())
    texts = pd.Series(guide.splitlines())
    texts = texts[texts.str.split().str.len() > 20]
    words = texts.map(textstat.lexicon_count)
    sentences = texts.map(textstat.sentence_count)
    syllables = texts.map(
        lambda each: sum(map(text._syllables, text._plain_words(each)))
    )
    found = text.readability(texts)
    expected = 0.39 * words / sentences + 11.8 * syllables / words - 15.59
    np.testing.assert_allclose(found, expected)
    spoken = texts.map(textstat.syllable_count)  # by the CMU dictionary
    assert (syllables / spoken).mean() == pytest.approx(1, abs=0.03)
    assert (syllables / spoken - 1).abs().max() < 0.15


def test_sentiment_is_the_compound_by_hand():
    # the lexicon gives 3.1 to "great" and -2.1 to "terrible"; "!" adds 0.292
    scores = text.sentiment(
        ["A great answer.", "A great answer!", "A terrible answer.", "A cat."]
    )
    sums = np.array([3.1, 3.1 + 0.292, -2.1, 0])
    np.testing.assert_allclose(scores, sums / np.sqrt(sums**2 + 15), atol=5e-5)


@pytest.mark.parametrize(
    ("use_stemmer", "expected"),
    [
        (False, [(1 / 5, 1 / 5), (8 / 13, 4 / 13), (1, 3 / 5), (0, 0)]),
        (True, [(3 / 5, 2 / 5), (8 / 13, 4 / 13), (1, 3 / 5), (0, 0)]),
    ],
)
def test_overlap_equals_that_of_the_package_rouge_score(use_stemmer, expected):
    pairs = [
        ("The cats were running.", "A cat runs in the sky"),
        ("2 well-known naïve cats; ä", "naive CATS, well known in 2024: 2"),
        ("it isn't running running", "running isn't it running"),
        ("ä", "ä b"),
    ]
    scores = text.overlap(*zip(*pairs, strict=True), use_stemmer=use_stemmer)
    # rouge_score 0.1.2, whose words are those of a to z and 0 to 9
    np.testing.assert_allclose(scores, expected, rtol=1e-12)


def test_results_keep_the_index_of_the_texts_and_no_texts_give_none():
    texts = pd.Series(["one two", "three!"], index=["b", "a"])
    for measure in (text.readability, text.sentiment, text.mentions):
        assert measure(texts).index.tolist() == ["b", "a"]
        assert len(measure([])) == 0


@pytest.mark.parametrize("measure", [text.readability, text.sentiment])
def test_texts_without_a_word_are_refused(measure):
    with pytest.raises(ValueError, match="texts has no word in row 1: drop the row"):
        measure(["fine", " ..."])


def test_unknown_sentiment_scorers_are_refused():
    with pytest.raises(
        ValueError, match=r"'mood' is unknown: choose from \('vader', 'twitter'\)"
    ):
        text.sentiment(["fine"], "mood")


def test_without_torch_and_transformers_the_message_helps(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    message = "package 'transformers' is not installed: install torch and transformers"
    with pytest.raises(text.ModelUnavailableError, match=message):
        text.load_model("gpt2")


def test_weights_that_are_not_in_the_cache_are_not_downloaded(monkeypatch):
    def from_pretrained(name, *, local_files_only):
        assert local_files_only
        raise OSError("no such files")

    kinds = (
        "AutoModelForCausalLM",
        "AutoModelForSequenceClassification",
        "AutoTokenizer",
    )
    kind = SimpleNamespace(from_pretrained=from_pretrained)
    monkeypatch.setitem(
        sys.modules, "transformers", SimpleNamespace(**dict.fromkeys(kinds, kind))
    )
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace())
    with pytest.raises(
        text.ModelUnavailableError, match="the files of 'gpt2' are not on this m"
    ):
        text.load_model("gpt2")
    with pytest.raises(
        text.ModelUnavailableError, match="fetch them with `hf download cardiffnlp"
    ):
        text.sentiment(["fine"], "twitter")


def test_the_twitter_score_is_the_chance_of_positive_less_that_of_negative(
    save_tokenizer, monkeypatch
):
    torch = pytest.importorskip("torch", reason=NO_MODELS)
    transformers = pytest.importorskip("transformers", reason=NO_MODELS)
    config = transformers.RobertaConfig(
        vocab_size=len(WORDS),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=8,
        max_position_embeddings=12,
        type_vocab_size=1,
        pad_token_id=1,
        id2label={0: "Negative", 1: "neutral", 2: "positive"},
    )
    model = transformers.RobertaForSequenceClassification(config)
    model.classifier.out_proj.weight.data.zero_()
    model.classifier.out_proj.bias.data = torch.tensor([0.2, 0.3, 0.5]).log()
    model.save_pretrained(save_tokenizer)
    monkeypatch.setattr(text, "TWITTER_MODEL", str(save_tokenizer))
    scores = text.sentiment(["blue sky", "blue " * 50], "twitter")
    assert scores.name == "twitter"
    assert scores.tolist() == pytest.approx([0.3, 0.3])


@pytest.fixture
def answers():
    """Three answers to each of three questions, in mixed order."""
    rows = [
        ("q1", "casual", "sky so blue"),
        ("q1", "top", "the sky is blue"),
        ("q2", "top", "it rains"),
        ("q2", "casual", "it snows"),
        ("q1", "formal", "the sky is blue"),
        ("q3", "formal", "no"),
        ("q3", "top", "yes"),
        ("q2", "formal", "rains it"),
        ("q3", "casual", "yes"),
    ]
    table = pd.DataFrame(
        rows, columns=["question_id", "system", "text"], index=list("abcdefghi")
    )
    return table.assign(question="why " + table["question_id"] + "?")


def test_answers_are_compared_with_the_reference_to_their_question(answers):
    scores = text.reference_overlap(answers, "top")
    assert scores.index.tolist() == list("abcdefghi")
    assert scores.isna().all(axis="columns").equals(answers["system"] == "top")
    expected = {"a": 4 / 7, "d": 1 / 2, "e": 1, "f": 0, "h": 1, "i": 1}
    assert scores["rouge_1"].dropna().to_dict() == pytest.approx(expected)
    assert scores.loc["h", "rouge_l"] == pytest.approx(1 / 2)


# Words for an aspect, and the same words in another sense.
SENSES = {
    "amount_info": ("Just enough info.", "It has the most accurate information."),
    "formality": (
        "It sounds professional.",
        "It suits people who are not professionals.",
    ),
    "completeness": ("It covers all of it.", "It makes complete sense."),
}


@pytest.mark.parametrize("aspect", SENSES)
def test_usual_ways_to_speak_of_an_aspect_are_found_and_words_in_another_sense_are_not(
    aspect,
):
    assert text.mentions(SENSES[aspect])[aspect].tolist() == [True, False]


def test_the_lexicon_still_finds_what_it_found_when_it_was_checked(real_data):
    """The reader marked the 50 longest reasons, and 40 of the others at random."""
    reasons = kamoda.load_texts(real_data).justifications["text"]
    longest = reasons[
        reasons.str.len().sort_values(ascending=False, kind="stable").index[:50]
    ]
    others = reasons.drop(longest.index).sample(40, random_state=20240917)
    counts = text.read_hand_check()
    names = [
        (s, aspect) for s in ("longest", "others") for aspect in text.LEXICON.index
    ]
    assert counts.index.tolist() == names
    for sample, texts in (("longest", longest), ("others", others)):
        assert (counts.loc[sample].sum(axis="columns") == len(texts)).all()
        recorded = counts.loc[sample, ["true_positive", "false_positive"]].sum(
            axis="columns"
        )
        assert text.mentions(texts).sum().to_dict() == recorded.to_dict()
