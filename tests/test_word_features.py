"""Features of a pair of words from their tags and the label of their relation."""

import numpy as np
import pandas as pd
import pytest

from helpers.beyond import word_tests
from helpers.beyond.word_tests import TARGET, word_classes
from helpers.files import registry
from helpers.simulate.humbel import humbel as simulate_humbel
from helpers.studies import humbel


def features(*tags):
    """Features of one pair."""
    return word_tests.pair_features(pd.DataFrame([tags], columns=TARGET)).loc[0]


@pytest.mark.parametrize(
    ("tags", "modifier", "different"),
    [
        (("NN", "NNS"), 0, 0),
        (("NN", "NNP"), 0, 1),
        (("VBD", "VBZ"), 0, 0),
        (("JJ", "NN"), 1, 1),
        (("JJ", "JJR"), 1, 0),
        (("IN", "RB"), 1, 1),
        (("NN", None), 0, 1),
        ((None, None), 0, 0),
    ],
)
def test_parts_of_speech_make_the_marks_of_the_hypotheses(tags, modifier, different):
    assert features(*tags)[["modifier", "different"]].tolist() == [modifier, different]


@pytest.mark.parametrize(
    ("tags", "count", "complexity"),
    [
        ((None, None), 0, "low"),
        (("NN", "JJ"), 2, "low"),
        (("NN", "VBD"), 3, "medium"),
        (("NN", "VBG"), 4, "medium"),
        (("JJ", "VBZ"), 5, "high"),
        (("VBZ", "VBZ"), 8, "high"),
    ],
)
def test_morphological_features_are_counted_over_both_words(tags, count, complexity):
    pair = features(*tags)
    assert pair["n_features"] == count
    assert pair["complexity"] == complexity
    assert pair["complex"] == (complexity != "low")


def test_the_order_of_the_words_does_not_matter():
    assert features("VBZ", "JJ").equals(features("JJ", "VBZ"))


def test_tags_of_no_english_part_of_speech_are_unknown():
    assert features("FW", "NN")["parts"] == "noun, unknown"


def test_every_tag_belongs_to_one_part_of_speech():
    tags = [tag for group in word_tests.PARTS_OF_SPEECH.values() for tag in group]
    assert len(tags) == len(set(tags)) == len(word_tests.FEATURES)
    assert set(word_tests.MODIFIERS) < set(word_tests.PARTS_OF_SPEECH)


def test_relations_without_a_label_count_as_hard():
    relation = pd.Series(["UNK", "Action", "Location", "Common-Phrase", "Synonym", "Antonym"])
    table = word_tests.relation_features(relation)
    assert table["hard"].tolist() == [1, 0, 0, 0, 0, 1]
    assert table["labelled"].tolist() == [0, 1, 1, 1, 1, 1]


def test_few_questions_have_an_easy_relation():
    try:
        study = humbel.load("real")
    except registry.DataUnavailableError as error:
        pytest.skip(f"no real data: {error}")
    questions = word_classes(study.associations, study.norms)
    relation = questions.join(study.associations.set_index("row")["relation"], on="row")["relation"]
    table = word_tests.relation_features(relation)
    assert len(table) == 10781
    assert table["labelled"].sum() == 402
    assert (1 - table["hard"]).sum() == 187


def test_simulated_pairs_differ_in_every_feature():
    associations, _ = simulate_humbel(np.random.default_rng(0))
    tags = word_tests.explained_tags(associations)
    features = word_tests.pair_features(tags)
    marks = features[["modifier", "different", "complex"]]
    relations = word_tests.relation_features(associations["relation"])
    assert tags.notna().all(axis=None)
    assert (marks.nunique() == 2).all()
    assert (relations.nunique() == 2).all()
