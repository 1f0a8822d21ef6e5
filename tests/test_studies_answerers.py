"""Answers of models, and their files."""

import pandas as pd
import pytest

from helpers.data import registry, tables
from helpers.studies import answerers, humbel, recorded
from helpers.studies.answerers import AnswersError
from helpers.studies.word_tests import definitions, word_classes


@pytest.fixture(scope="module")
def study():
    return humbel.load("simulated", seed=6)


@pytest.fixture(scope="module")
def questions(study):
    return word_classes(study.associations, study.norms)


def always_right(questions):
    """The intended answer to each question."""
    return questions.set_index("question")["correct"].rename("chosen")


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
            f"data/answers/all_minilm_l6_v2_{test}.csv", asked
        )
        right[test] = (chosen == always_right(asked)).sum()
    assert right == {"word_classes": 6444, "definitions": 8411}


def test_answers_count_for_questions_that_look_the_same_only(tmp_path, questions):
    file = tmp_path / "answers.csv"
    answerers.write_model_answers(file, questions, always_right(questions))
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
    answerers.write_model_answers(file, two, always_right(two))
    first = file.read_text().partition("\n")[0]
    file.write_text(f"{first}\nquestion,chosen\n{rows}")
    with pytest.raises(AnswersError, match=f"answers.csv,? {message}"):
        answerers.read_model_answers(file, two)
    file.write_text(f"{first}\nquestion,option\n{rows}")
    with pytest.raises(
        tables.BadTableError, match=r"answers.csv: 1 problem.*\n.*'chosen' is miss"
    ):
        answerers.read_model_answers(file, two)


def test_missing_files_are_named_and_wrong_answers_not_written(tmp_path, questions):
    with pytest.raises(AnswersError, match=r"There is no file .*none.csv\.$"):
        answerers.read_model_answers("none.csv", questions)
    wrong = always_right(questions) * 0 + 6
    with pytest.raises(AnswersError, match="6 is no option"):
        answerers.write_model_answers(tmp_path / "answers.csv", questions, wrong)
    assert not list(tmp_path.iterdir())


def test_the_model_answers_from_a_file_on_real_data_and_is_simulated_otherwise(
    tmp_path, study, questions
):
    file = tmp_path / "answers.csv"
    shuffled = always_right(questions).sample(frac=1, random_state=1)
    answerers.write_model_answers(file, questions, shuffled)
    as_if_real = humbel.Humbel("real", study.associations, study.norms)
    read = answerers.of_model(as_if_real, questions, file, seed=0)
    pd.testing.assert_series_equal(read, always_right(questions))
    simulated = answerers.of_model(study, questions, file, seed=0)
    assert 0.4 < (simulated == read).mean() < 0.9


def test_a_recording_is_read_for_its_own_questions_only(
    tmp_path, monkeypatch, questions
):
    monkeypatch.setattr(recorded, "FOLDER", tmp_path)
    with pytest.raises(tables.OptionError, match="There is no recording"):
        recorded.read_words("word_classes", questions)
    answer = "sample,question,wording,way,chosen\nsmall,0,qa,reply,1\n"
    file = recorded.file_of("word_classes")
    file.write_text(f"# model: small\n# questions: 0\n{answer}")
    with pytest.raises(tables.OptionError, match="answers other questions than these"):
        recorded.read_words("word_classes", questions)
    own = answerers.fingerprint(questions)
    file.write_text(f"# model: small\n# questions: {own}\n{answer}")
    assert recorded.read_words("word_classes", questions)["chosen"].tolist() == [1]
