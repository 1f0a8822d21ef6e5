"""Readers for ChatBench's conversations and pilots, on files of the documented form."""

import json

import pandas as pd
import pytest

from helpers.data.tables import BadTableError
from helpers.models import scores
from helpers.studies import chatbench
from helpers.studies.chatbench_conversations import (
    read_conversations,
    read_pilot_answers,
)

RELEASED = {
    "GPT-4o": "gpt-4o",
    "Llama-3.1-8b": "llama-3.1-8b",
    "direct to AI": "direct-to-AI",
    "answer first": "answer-first",
    "user-AI": "userAIAnswer",
    "user-alone": "userAnswer",
}


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """Simulated answers of the full study, as in a released file."""
    folder = tmp_path_factory.mktemp("released")
    chatbench.write_simulated(folder)
    return pd.read_csv(folder / chatbench.ANSWERS_FILE)


@pytest.fixture(scope="module")
def answers(released):
    """The same with our names, attention checks among them."""
    named = released.rename(columns=chatbench.COLUMN_NAMES)
    return named.replace(chatbench.VALUE_NAMES)


@pytest.fixture(scope="module")
def with_ai(answers):
    return answers[answers["answer_type"] == "user-AI"].head(40).reset_index(drop=True)


def written(talk, style="code"):
    """A conversation as the authors' code names it, or with underscores."""
    said = [
        {"role": "You", "content": f"help me with {talk.question_id}"},
        {"role": "Bot", "content": "of course"},
    ]
    names = {
        "code": ("questionID", "chatHistory", "selectedAnswer", "correctAnswer"),
        "snake": ("question_id", "chat_history", "selected_answer", "correct_answer"),
    }[style]
    values = (talk.question_id, said, "A" if talk.correct else "B", "A")
    return {
        "worker_id": talk.rater_id,
        "model": RELEASED[talk.model],
        "condition": RELEASED[talk.condition],
        "annotations": {"unknown": 1},
        **dict(zip(names, values, strict=True)),
    }


@pytest.mark.parametrize("style", ["code", "snake"])
@pytest.mark.parametrize("by_question", [False, True])
def test_conversations_come_back_as_they_were(tmp_path, with_ai, style, by_question):
    records = [written(talk, style) for talk in with_ai.itertuples()]
    content = {"some": records[:30], "others": records[30:]} if by_question else records
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps(content))
    talks = read_conversations(path)
    expected = with_ai[["question_id", "model", "condition"]]
    pd.testing.assert_frame_equal(
        talks[["question_id", "model", "condition"]], expected, check_dtype=False
    )
    assert talks["correct"].tolist() == (with_ai["correct"] == 1).tolist()
    assert talks["rater_id"].str.fullmatch(r"rater-\d{3}").all()
    first = scores.first_messages(talks)["text"]
    assert first.tolist() == [f"help me with {name}" for name in with_ai["question_id"]]
    assert talks["messages"][0][1] == {"role": "assistant", "content": "of course"}


def test_right_answers_may_come_from_a_table_of_questions(tmp_path, with_ai):
    record = written(next(with_ai.itertuples()))
    del record["correctAnswer"]
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([record]))
    right = pd.Series({record["questionID"]: record["selectedAnswer"]})
    assert read_conversations(path, right)["correct"].tolist() == [True]
    with pytest.raises(BadTableError, match="is not in the table of right answers"):
        read_conversations(path, right.rename({record["questionID"]: "another"}))
    with pytest.raises(BadTableError, match="conversation 1: answer missing"):
        read_conversations(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": "gpt-9"}, "conversation 2: model 'gpt-9' is not one of the study"),
        ({"condition": None}, "condition None is not one of the study"),
        ({"selectedAnswer": ["A"]}, r"letter \['A'\] is not one of the study"),
        ({"questionID": 7}, "question_id is no text"),
        ({"chatHistory": "hello"}, "the messages are no list of texts"),
        ({"chatHistory": [{"role": "Cat", "content": "x"}]}, "with a known role"),
        ({"chatHistory": [{"role": "You", "content": None}]}, "with a known role"),
    ],
)
def test_each_conversation_of_another_form_is_named(tmp_path, with_ai, change, message):
    record = written(next(with_ai.itertuples()))
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([record, record | change]))
    with pytest.raises(BadTableError, match=message):
        read_conversations(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[1]", "conversation 1: a JSON object is needed, found int"),
        ("7", "a list of conversations is needed"),
        ('{"q": 7}', "a list of conversations is needed"),
        ("[", "cannot be read as JSON"),
        (
            '[{"model": "gpt-4o"}]',
            "worker_id, question_id, condition, letter, messages",
        ),
    ],
)
def test_files_of_another_form_are_refused(tmp_path, content, message):
    path = tmp_path / "conversations.json"
    path.write_text(content)
    with pytest.raises(BadTableError, match=message):
        read_conversations(path)


def test_a_pilot_may_have_a_third_model_and_its_checks_are_left_out(
    tmp_path, released, answers
):
    rows = released.groupby("dataset", sort=False).head(30)
    expected = chatbench.without_attention_checks(answers.loc[rows.index])
    rows = rows.assign(model=rows["model"].replace("gpt-4o", "gpt-4o-mini"))
    path = tmp_path / "user_answers.csv"
    rows.to_csv(path, index=False)
    read = read_pilot_answers(path)
    assert len(read) == len(expected) > 100
    assert read["correct"].tolist() == expected["correct"].tolist()
    assert set(read["model"]) == {"GPT-4o-mini", "Llama-3.1-8b"}
    with pytest.raises(BadTableError, match="gpt-4o-mini"):
        chatbench.read_answers(path)
