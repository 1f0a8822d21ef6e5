"""The two large tests of HumBEL."""

import numpy as np
import pandas as pd
import pytest

from helpers.data import registry
from helpers.studies import humbel, word_tests
from helpers.studies.word_tests import FOUR, PAIRS, SHOWN, TARGET, definitions

WORDS = ["sun", "moon", "cat", "dog", "tea", "cup", "red", "hue", "sea", "salt"]


@pytest.fixture(scope="module")
def real():
    try:
        return humbel.load("real")
    except registry.DataUnavailableError as error:
        pytest.skip(f"no real data: {error}")


@pytest.fixture(scope="module")
def real_questions(real):
    return word_tests.word_classes(real.associations, real.norms)


@pytest.fixture(scope="module")
def simulated():
    return humbel.load("simulated", seed=2)


@pytest.fixture(scope="module")
def build(simulated):
    """Build WC large from the simulated tables, or from others."""

    def build(associations=simulated.associations, norms=simulated.norms, **meanings):
        return word_tests.word_classes(associations, norms, **meanings)

    return build


@pytest.fixture(scope="module")
def questions(build):
    return build()


def all_different(words):
    """Whether no row has a word twice."""
    rows = np.sort(words.to_numpy(dtype=str), axis=1)
    return (rows[:, 1:] != rows[:, :-1]).all()


def attrition(monkeypatch, pairs, ages, alternatives):
    """Numbers left and the rows asked about, if these words are drawn beside pairs."""

    def put(four):
        codes = np.array([[WORDS.index(word) for word in two] for two in alternatives])
        return four.assign(alternative_1=codes[:, 0], alternative_2=codes[:, 1])

    monkeypatch.setattr(word_tests, "_with_alternatives", put)
    associations = pd.DataFrame(pairs, columns=TARGET)
    associations.insert(0, "row", range(10, 10 + len(pairs)))
    norms = pd.DataFrame({"word": list(ages), "age": list(ages.values())})
    counts = word_tests.attrition(associations, norms).tolist()
    asked = word_tests.word_classes(associations, norms)
    return counts, asked["row"].tolist()


def test_the_defaults_give_the_number_of_questions_behind_the_printed_sample(
    real_questions,
):
    assert len(real_questions) == 10781
    assert len(real_questions.sample(frac=0.01, random_state=515)) == 108


def test_the_definitions_test_has_one_question_for_nearly_every_meaning(real):
    assert len(definitions(real.norms)) == 43974
    assert len(definitions(real.norms, real.vocabulary())) == 10731


def test_questions_hold_four_different_words_with_an_age_and_one_target(
    simulated, questions
):
    rows = simulated.associations.set_index("row").loc[questions["row"], TARGET]
    latest = simulated.norms.groupby("word")["age"].max()
    assert (rows.to_numpy() == questions[TARGET].to_numpy()).all()
    assert all_different(questions[FOUR])
    assert questions[FOUR].isin(latest.index).all(axis=None)
    assert not word_tests.second_pairs(questions, questions).any()
    assert questions["question"].tolist() == list(range(len(questions)))
    for column in TARGET:
        assert (questions[f"{column}_age"] == questions[column].map(latest)).all()
    assert (
        questions["age"] == questions[["cue_age", "association_age"]].max(axis=1)
    ).all()


def test_the_correct_option_is_where_the_target_is_shown(questions):
    shown = questions[SHOWN].to_numpy()
    marked = np.take_along_axis(shown, np.array(PAIRS)[questions["correct"]], axis=1)
    assert (
        np.sort(marked, axis=1) == np.sort(questions[TARGET].to_numpy(), axis=1)
    ).all()
    assert (np.sort(shown, axis=1) == np.sort(questions[FOUR].to_numpy(), axis=1)).all()
    shares = questions["correct"].value_counts(normalize=True)
    # 3.6 standard errors hold six correct shares with probability 0.998.
    assert (shares - 1 / 6).abs().max() < 3.6 * np.sqrt(1 / 6 * 5 / 6 / len(questions))


def test_other_meanings_change_ages_only(build, questions):
    other = build(meanings="earliest")
    ages = ["cue_age", "association_age", "age"]
    pd.testing.assert_frame_equal(
        other.drop(columns=ages), questions.drop(columns=ages)
    )
    assert (other["age"] <= questions["age"]).all()
    assert other["age"].mean() < questions["age"].mean()


def test_words_may_have_any_names(simulated, build, questions):
    columns = ["correct", "age"]
    associations = simulated.associations.assign(
        **("x" + simulated.associations[TARGET])
    )
    other = build(
        associations, simulated.norms.assign(word="x" + simulated.norms["word"])
    )
    pd.testing.assert_frame_equal(other[columns], questions[columns])


def test_questions_that_fail_a_step_are_dropped_at_it(monkeypatch):
    pairs = [
        ("sun", "moon"),
        ("cat", "dog"),
        ("tea", "cup"),
        ("red", "hue"),
        ("sea", "salt"),
    ]
    # Row 10 repeats its own word, row 11 draws one without an age, row 13 draws a known
    # pair.
    alternatives = ["moon cup", "salt moon", "dog hue", "tea cup", "hue moon"]
    drawn = [two.split() for two in alternatives]
    found = attrition(monkeypatch, pairs, dict.fromkeys(WORDS[:-1], 7), drawn)
    assert found == ([5, 4, 2, 1], [12])


def test_a_second_pair_is_found_in_any_order():
    four = pd.DataFrame([["a", "b", "c", "d"]] * 2, columns=FOUR)
    assert word_tests.second_pairs(
        four, pd.DataFrame([["d", "a"]], columns=TARGET)
    ).all()
    assert not word_tests.second_pairs(
        four, pd.DataFrame([["b", "a"]], columns=TARGET)
    ).any()


def test_unknown_meanings_are_refused(build):
    with pytest.raises(ValueError, match="must be latest or earliest, not 'other'"):
        build(meanings="other")


def test_definitions_show_the_word_meant_and_three_others(simulated):
    asked = definitions(simulated.norms, simulated.vocabulary())
    marked = np.take_along_axis(
        asked[SHOWN].to_numpy(), asked[["correct"]].to_numpy(), axis=1
    )
    assert (marked[:, 0] == asked["word"]).all()
    assert all_different(asked[SHOWN])
    assert asked["word"].isin(simulated.vocabulary()).all()
    meanings = simulated.norms.set_index("row").loc[asked["row"], "meaning"]
    assert (meanings.to_numpy() == asked["meaning"].to_numpy()).all()
