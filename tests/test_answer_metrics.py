"""Overlap with reference answers by hand, and perplexities with a model that is made here."""

import numpy as np
import pandas as pd
import pytest

from helpers import text
from helpers.studies import kamoda


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
    table = pd.DataFrame(rows, columns=["question_id", "system", "text"], index=list("abcdefghi"))
    return table.assign(question="why " + table["question_id"] + "?")


def test_answers_are_compared_with_the_reference_to_their_question(answers):
    scores = text.reference_overlap(answers, "top")
    assert scores.index.tolist() == list("abcdefghi")
    expected = {"a": 4 / 7, "d": 1 / 2, "e": 1, "f": 0, "h": 1, "i": 1}
    assert scores["rouge_1"].dropna().to_dict() == pytest.approx(expected)
    assert scores.loc["h", "rouge_l"] == pytest.approx(1 / 2)


def test_references_have_no_overlap_with_themselves(answers):
    scores = text.reference_overlap(answers, "top")
    assert scores.isna().all(axis="columns").equals(answers["system"] == "top")


def test_words_can_be_reduced_to_stems(answers):
    answers.loc["d", "text"] = "it is raining"
    plain, stems = (
        text.reference_overlap(answers, "top", use_stemmer).loc["d", "rouge_1"]
        for use_stemmer in (False, True)
    )
    assert (plain, stems) == pytest.approx((2 / 5, 4 / 5))


def test_every_question_needs_one_reference(answers):
    with pytest.raises(ValueError, match="question q3 has no answer of 'top': add it"):
        text.reference_overlap(answers.drop("g"), "top")
    twice = pd.concat([answers, answers.loc[["c"]]])
    with pytest.raises(ValueError, match="question q2 has several answers of 'top': keep one"):
        text.reference_overlap(twice, "top")


def test_perplexities_follow_the_own_and_another_question(answers, monkeypatch):
    asked = []

    def note_questions(texts, questions, model, tokenizer):
        asked.append(questions)
        return pd.Series(float(model), index=texts.index)

    monkeypatch.setattr(text, "perplexity", note_questions)
    found = text.question_perplexities(answers, 7, None, np.random.default_rng(0))
    own, other = asked
    assert own.equals(answers["question"])
    assert (other != own).all()
    assert set(other) == set(own)
    assert other.index.equals(answers.index)
    assert (found == 7).all(axis=None)
    assert list(found) == ["own", "random"]


def test_a_random_question_needs_a_second_question(answers):
    with pytest.raises(ValueError, match="all answers are to one question: there is no other"):
        text.question_perplexities(
            answers[answers["question_id"] == "q1"], None, None, np.random.default_rng(0)
        )


def test_every_other_question_is_equally_likely(answers, monkeypatch):
    asked = []

    def note_questions(texts, questions, *_):
        asked.append(questions)
        return texts.str.len()

    monkeypatch.setattr(text, "perplexity", note_questions)
    many = pd.concat([answers] * 400, ignore_index=True)
    text.question_perplexities(many, None, None, np.random.default_rng(1))
    shares = pd.crosstab(many["question"], asked[1], normalize="index").to_numpy()
    np.testing.assert_allclose(shares, (1 - np.eye(3)) / 2, atol=0.05)


def test_simulated_answers_can_be_measured():
    answers = kamoda.load_texts("simulated").answers
    scores = text.reference_overlap(answers, "human_top")
    scores = scores.dropna()
    assert len(scores) == 900
    assert scores.stack().between(0, 1).all()
    assert (scores["rouge_l"] <= scores["rouge_1"]).all()
    assert (text.word_count(answers["text"]) > 0).all()
