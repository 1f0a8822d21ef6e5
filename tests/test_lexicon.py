import pandas as pd
import pytest

from helpers.text import LEXICON, Aspect, mentions

SAID = {
    "amount_info": ["It has too much information.", "Just enough info.", "Very informative."],
    "formality": ["A bit too informal.", "I like the tone.", "It sounds professional."],
    "factuality": ["Inaccurate.", "It is backed up by the references.", "None of it is true."],
    "easy_to_understand": ["Easy to follow.", "Fit for non-experts.", "Clearly put."],
    "relevance": ["It answers the actual question.", "It goes off-topic.", "No tangents."],
    "structure": ["Well organised.", "It has a logical order.", "The formatting is poor."],
    "completeness": ["A thorough job.", "It covers all of it.", "It lacks the second half."],
    "grammar": ["Bad grammar.", "Two typos.", "Misspelled."],
    "examples": ["Good examples.", "I like the analogy.", "It illustrates the point."],
    "specificity": ["Rich in detail.", "Too vague.", "It goes in-depth."],
    "conciseness": ["Short and sweet.", "Way too wordy.", "It gets to the point."],
}
NOT_SAID = {
    "amount_info": "It has the most accurate information.",
    "formality": "It suits people who are not professionals in that area.",
    "factuality": "It is grammatically correct.",
    "relevance": "A good answer to the question.",
    "completeness": "It makes complete sense.",
    "examples": "It omits things, for example the price.",
}


@pytest.mark.parametrize(("aspect", "texts"), SAID.items())
def test_usual_ways_to_speak_of_an_aspect_are_found(aspect, texts):
    assert mentions(texts)[aspect].all()


@pytest.mark.parametrize(("aspect", "text"), NOT_SAID.items())
def test_words_in_another_sense_are_no_mention(aspect, text):
    assert not mentions([text]).loc[0, aspect]


def test_case_does_not_matter():
    assert mentions(["CONCISE"]).equals(mentions(["concise"]))


def test_praise_of_nothing_in_particular_mentions_no_aspect():
    assert not mentions(["Candidate 2 is the best.", ""]).any(axis=None)


def test_mentions_keep_the_index_and_do_not_depend_on_the_order_of_texts():
    texts = pd.Series(["Accurate.", "Wordy.", "Fine."], index=[7, 3, 5])
    found = mentions(texts)
    assert found.index.tolist() == [7, 3, 5]
    pd.testing.assert_frame_equal(found[::-1], mentions(texts[::-1]))


def test_another_lexicon_can_be_given():
    own = {"tempo": Aspect("How fast it is.", (r"\bslow", r"\bfast"))}
    found = mentions(["Slow to load.", "Breakfast."], own)
    assert found["tempo"].tolist() == [True, False]


def test_every_aspect_says_what_counts_as_a_mention():
    assert all(aspect.meaning and aspect.keywords for aspect in LEXICON.values())


def test_a_value_that_is_no_text_is_refused():
    with pytest.raises(ValueError, match=r"^row 1 holds no text: leave it out$"):
        mentions(["fine", None])


def test_a_keyword_that_is_no_regular_expression_is_named():
    broken = {"tempo": Aspect("How fast it is.", ("fast(",))}
    message = r"^keyword 'fast\(' of 'tempo' cannot be read: missing \)"
    with pytest.raises(ValueError, match=message):
        mentions(["fast"], broken)
