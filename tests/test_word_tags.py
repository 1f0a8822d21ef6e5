"""Tags of single words, in the tagger's dictionary and in the sentences that explain them."""

import pandas as pd
import pytest

from helpers.beyond import word_tests
from helpers.beyond.word_tests import word_classes
from helpers.files import registry
from helpers.studies import humbel


@pytest.fixture(scope="module")
def pairs():
    try:
        study = humbel.load("real")
    except registry.DataUnavailableError as error:
        pytest.skip(f"no real data: {error}")
    questions = word_classes(study.associations, study.norms)
    return questions.join(study.associations.set_index("row")["explanation"], on="row")


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("dog", "NN"),
        ("dogs", "NNS"),
        ("ran", "VBD"),
        ("running", "VBG"),
        ("green", "JJ"),
        ("greener", "JJR"),
        ("quickly", "RB"),
        ("seven", "CD"),
    ],
)
def test_common_words_get_their_tags(word, expected):
    assert word_tests.tag(pd.Series([word])).tolist() == [expected]


def test_endings_decide_where_the_dictionary_has_nothing():
    invented = pd.Series(["blorfing", "blorfly", "blorf"])
    assert not word_tests.in_dictionary(invented).any()
    assert word_tests.tag(invented).tolist() == ["VBG", "RB", "NN"]


def test_tags_keep_the_order_and_the_index_of_the_words():
    words = pd.Series(["green", "dog", "green "], index=[7, 3, 5])
    tags = word_tests.tag(words)
    assert tags.index.tolist() == [7, 3, 5]
    assert tags.tolist() == ["JJ", "NN", "JJ"]


def test_expressions_of_several_words_have_no_tag():
    assert word_tests.tag(pd.Series(["living room", "in the end"])).isna().all()


def test_the_dictionary_ignores_capitals_and_spaces():
    assert word_tests.in_dictionary(pd.Series([" Table", "table "])).all()


def test_a_word_is_used_only_in_the_form_given():
    words = pd.Series(["cat", "cat", "cat", "can't", "t-shirt"])
    texts = pd.Series(["The CAT sat.", "Two cats", "concatenate", "I can't see", "a T-shirt!"])
    assert word_tests.used_in(words, texts).tolist() == [True, False, False, True, True]


def test_rules_about_neighbours_tell_a_verb_from_a_noun():
    words = pd.Series(["kiss", "kiss", "kiss"])
    texts = pd.Series(["She gave me a kiss.", "I want to kiss you.", "Kisses."])
    tags = word_tests.tag_in_context(words, texts)
    assert tags.tolist()[:2] == ["NN", "VB"]
    assert tags.isna().tolist() == [False, False, True]
    assert word_tests.tag(words).unique().tolist() == ["NN"]


def test_words_that_an_explanation_lacks_stay_without_a_tag():
    pairs = pd.DataFrame(
        {
            "cue": ["king", "fire"],
            "association": ["reign ", "hot"],
            "explanation": ["A king may reign.", "Fires burn."],
        },
        index=[4, 9],
    )
    tags = word_tests.explained_tags(pairs)
    assert tags.loc[4].tolist() == ["NN", "NN"]
    assert tags.loc[9].isna().all()


def test_most_target_words_stand_in_their_explanation_and_in_the_dictionary(pairs):
    tags = word_tests.explained_tags(pairs)
    assert tags.notna().mean().round(3).to_dict() == {"cue": 0.886, "association": 0.911}
    assert word_tests.in_dictionary(pairs["cue"]).mean() > 0.96
    known = tags.stack().dropna().isin(word_tests.FEATURES)
    assert known.mean() > 0.999
