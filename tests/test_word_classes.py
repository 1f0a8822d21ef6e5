from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from helpers.beyond import word_tests
from helpers.beyond.word_tests import FOUR, PAIRS, SHOWN, TARGET, Options, definitions
from helpers.files import registry
from helpers.studies import humbel

WORDS = ["sun", "moon", "cat", "dog", "tea", "cup", "red", "hue", "sea", "salt"]
# Numbers of questions on the real data, each with one option changed from its default.
COUNTS = {
    ("words", "strip"): 11371,
    ("words", "strip and lower"): 11525,
    ("alternatives", "words"): 7351,
    ("age_filter", "before"): 14538,
    ("known_pairs", "all"): 10715,
    ("meanings", "earliest"): 10781,
}


@pytest.fixture(scope="module")
def real():
    try:
        return humbel.load("real")
    except registry.DataUnavailableError as error:
        pytest.skip(f"no real data: {error}")


@pytest.fixture(scope="module")
def simulated():
    return humbel.load("simulated", seed=2)


@pytest.fixture(scope="module")
def questions(simulated):
    return word_tests.word_classes(simulated.associations, simulated.norms)


def study(pairs, ages):
    """Make small tables from pairs of words and the ages of words."""
    associations = pd.DataFrame(pairs, columns=TARGET).assign(explanation="", relation="UNK")
    associations.insert(0, "row", range(10, 10 + len(pairs)))
    norms = pd.DataFrame({"word": list(ages), "age": list(ages.values())})
    return associations, norms


def with_words(alternatives):
    """Make a replacement of the random draw that puts these words beside the pairs."""

    def put(pairs, options):
        codes = np.array([[WORDS.index(word) for word in two] for two in alternatives])
        return pairs.assign(alternative_1=codes[:, 0], alternative_2=codes[:, 1])

    return put


def test_the_defaults_give_the_number_of_questions_behind_the_printed_sample(real):
    questions = word_tests.word_classes(real.associations, real.norms)
    assert len(questions) == 10781
    assert len(questions.sample(frac=0.01, random_state=515)) == 108


@pytest.mark.parametrize(("option", "choice"), COUNTS)
def test_each_choice_gives_its_number_of_questions(real, option, choice):
    options = replace(Options(), **{option: choice})
    counts = word_tests.attrition(real.associations, real.norms, options)
    assert counts.iloc[-1] == COUNTS[option, choice]


def test_the_definitions_test_has_one_question_for_nearly_every_meaning(real):
    assert len(definitions(real.norms)) == 43974
    assert len(definitions(real.norms, real.vocabulary())) == 10731


def test_questions_hold_four_different_words_with_an_age_and_one_target(simulated, questions):
    assert (questions[FOUR].nunique(axis=1) == 4).all()
    assert questions[FOUR].isin(set(simulated.norms["word"])).all(axis=None)
    assert not word_tests.second_pairs(questions, questions).any()
    assert questions["question"].tolist() == list(range(len(questions)))


def test_targets_are_the_associations_they_are_said_to_be(simulated, questions):
    rows = simulated.associations.set_index("row").loc[questions["row"], TARGET]
    assert (rows.to_numpy() == questions[TARGET].to_numpy()).all()


def test_the_correct_option_is_where_the_target_is_shown(questions):
    shown = questions[SHOWN].to_numpy()
    places = np.array(PAIRS)[questions["correct"]]
    marked = np.take_along_axis(shown, places, axis=1)
    assert (np.sort(marked, axis=1) == np.sort(questions[TARGET].to_numpy(), axis=1)).all()
    assert (np.sort(shown, axis=1) == np.sort(questions[FOUR].to_numpy(), axis=1)).all()


def test_every_option_is_correct_about_equally_often(questions):
    shares = questions["correct"].value_counts(normalize=True)
    # 3.6 standard errors hold six correct shares with probability 0.998.
    assert (shares - 1 / 6).abs().max() < 3.6 * np.sqrt(1 / 6 * 5 / 6 / len(questions))


def test_the_age_of_a_question_is_that_of_its_later_word(simulated, questions):
    latest = simulated.norms.groupby("word")["age"].max()
    for column in TARGET:
        assert (questions[f"{column}_age"] == questions[column].map(latest)).all()
    assert (questions["age"] == questions[["cue_age", "association_age"]].max(axis=1)).all()


def test_the_earliest_meaning_changes_ages_only(simulated, questions):
    earliest = Options(meanings="earliest")
    other = word_tests.word_classes(simulated.associations, simulated.norms, earliest)
    ages = ["cue_age", "association_age", "age"]
    pd.testing.assert_frame_equal(other.drop(columns=ages), questions.drop(columns=ages))
    assert (other[ages] <= questions[ages]).all(axis=None)


def test_another_order_of_words_leaves_the_questions_as_they_are(simulated, questions):
    other = word_tests.word_classes(simulated.associations, simulated.norms, Options(order_seed=1))
    shown = [*SHOWN, "correct"]
    pd.testing.assert_frame_equal(other.drop(columns=shown), questions.drop(columns=shown))
    assert not other["correct"].equals(questions["correct"])


def test_words_may_have_any_names(simulated, questions):
    def renamed(words):
        return "x" + words

    other = word_tests.word_classes(
        simulated.associations.assign(
            cue=renamed(simulated.associations["cue"]),
            association=renamed(simulated.associations["association"]),
        ),
        simulated.norms.assign(word=renamed(simulated.norms["word"])),
    )
    pd.testing.assert_series_equal(other["correct"], questions["correct"])
    pd.testing.assert_series_equal(other["age"], questions["age"])


def test_questions_that_fail_a_step_are_dropped_at_it(monkeypatch):
    pairs = [("sun", "moon"), ("cat", "dog"), ("tea", "cup"), ("red", "hue"), ("sea", "salt")]
    ages = dict.fromkeys(WORDS[:-1], 7)
    associations, norms = study(pairs, ages)
    # Row 10 repeats its own word, row 11 draws one without an age, row 13 draws a known pair.
    monkeypatch.setattr(
        word_tests,
        "_with_alternatives",
        with_words(
            [("moon", "cup"), ("salt", "moon"), ("dog", "hue"), ("tea", "cup"), ("hue", "moon")]
        ),
    )
    counts = word_tests.attrition(associations, norms)
    assert counts.tolist() == [5, 4, 2, 1]
    questions = word_tests.word_classes(associations, norms)
    assert questions["row"].tolist() == [12]


def test_a_pair_that_people_gave_but_no_question_asks_counts_only_if_all_pairs_do(monkeypatch):
    pairs = [("sun", "moon"), ("cat", "dog"), ("tea", "cup")]
    associations, norms = study(pairs, dict.fromkeys(WORDS[:6], 7))
    # The first question shows the pair of the second, which is dropped for repeating a word.
    monkeypatch.setattr(
        word_tests,
        "_with_alternatives",
        with_words([("cat", "dog"), ("cat", "sun"), ("moon", "dog")]),
    )
    counts = {
        known: word_tests.attrition(associations, norms, Options(known_pairs=known)).iloc[-1]
        for known in ("surviving", "all")
    }
    assert counts == {"surviving": 2, "all": 1}


def test_stripped_and_lower_case_words_find_their_age():
    associations, norms = study([("Sun ", "moon")], {"sun": 7, "moon ": 9})
    assert word_tests.word_ages(norms, Options(words="strip")).to_dict() == {"sun": 7, "moon": 9}
    lower = Options(words="strip and lower")
    _, words, ages = word_tests._steps(associations, norms, lower)
    assert dict(zip(words, ages, strict=True)) == {"sun": 7, "moon": 9}


def test_alternatives_from_different_words_come_up_equally_often(simulated):
    often = {}
    for choice in ("rows", "words"):
        options = Options(alternatives=choice)
        test = word_tests.word_classes(simulated.associations, simulated.norms, options)
        often[choice] = test["alternative_1"].value_counts().iloc[0]
    assert often["words"] < often["rows"] / 3


def test_a_second_pair_is_found_in_any_order():
    four = pd.DataFrame([["a", "b", "c", "d"]] * 2, columns=FOUR)
    assert word_tests.second_pairs(four, pd.DataFrame([["d", "a"]], columns=TARGET)).all()
    assert not word_tests.second_pairs(four, pd.DataFrame([["b", "a"]], columns=TARGET)).any()


@pytest.mark.parametrize("option", word_tests.CHOICES)
def test_an_unknown_choice_is_refused_with_the_known_ones(option):
    first = word_tests.CHOICES[option][0]
    with pytest.raises(ValueError, match=f"{option} must be '{first}' or .*, not 'other'"):
        Options(**{option: "other"})


def test_definitions_show_the_word_meant_and_three_others(simulated):
    questions = definitions(simulated.norms, simulated.vocabulary())
    shown = questions[SHOWN].to_numpy()
    marked = np.take_along_axis(shown, questions[["correct"]].to_numpy(), axis=1)[:, 0]
    assert (marked == questions["word"]).all()
    assert (questions[SHOWN].nunique(axis=1) == 4).all()
    assert questions["word"].isin(simulated.vocabulary()).all()
    meanings = simulated.norms.set_index("row").loc[questions["row"], "meaning"]
    assert (meanings.to_numpy() == questions["meaning"].to_numpy()).all()
