"""Conversations of ChatBench: simulated ones, and files in the form of the released ones."""

import json

import numpy as np
import pandas as pd
import pytest

from helpers.files import registry, tables
from helpers.simulate.chatbench import VOCABULARY, chatbench_questions, first_prompts
from helpers.studies import chatbench
from helpers.studies.chatbench import CONVERSATIONS_FILE, QUESTIONS_FILE

QUESTIONS = pd.DataFrame(
    {
        "question_id": ["m-1", "p-1"],
        "dataset": ["college_mathematics", "conceptual_physics"],
        "question": ["How many?", "Which, then?"],
        **{f"option_{letter}": [f"{letter}1", f"{letter}2"] for letter in "ABCD"},
        "answer": ["B", "D"],
    }
)
RECORD = {
    "worker_id": "zoe",
    "model": "gpt-4o",
    "condition": "answer-first",
    "question_id": "m-1",
    "selected_answer": "B",
    "chat_history": [{"role": "You", "content": "bado?"}, {"role": "Bot", "content": "keli."}],
}


@pytest.fixture
def released(tmp_path, monkeypatch):
    """A mirror with small files in the form of the released ones."""
    (tmp_path / CONVERSATIONS_FILE).parent.mkdir(parents=True)
    QUESTIONS.to_csv(tmp_path / QUESTIONS_FILE, index=False)
    second = {**RECORD, "worker_id": "adam", "question_id": "p-1", "model": "llama-3.1-8b"}
    write(tmp_path, [RECORD, second, RECORD])
    monkeypatch.setenv("DATA_MIRROR", str(tmp_path))
    monkeypatch.setenv("DATA_CACHE", str(tmp_path / "cache"))
    return tmp_path


def write(folder, records) -> None:
    """Write a file of conversations."""
    (folder / CONVERSATIONS_FILE).write_text(json.dumps(records))


def test_files_are_read_where_they_are_present(released):
    loaded = chatbench.load_conversations("auto")
    assert loaded.source == "real"
    first = loaded.conversations.iloc[0].to_dict()
    assert first == {
        "rater_id": "rater-001",
        "model": "GPT-4o",
        "condition": "answer first",
        "dataset": "College Math",
        "question_id": "m-1",
        "question": "How many?\nA. A1\nB. B1\nC. C1\nD. D1",
        "messages": [
            {"role": "user", "content": "bado?"},
            {"role": "assistant", "content": "keli."},
        ],
        "answer": "B",
        "correct": 1.0,
    }
    assert loaded.conversations["correct"].tolist() == [1.0, 0.0, 1.0]
    assert loaded.conversations["rater_id"].tolist() == ["rater-001", "rater-002", "rater-001"]


def test_conversations_may_be_listed_by_question(released):
    expected = chatbench.load_conversations("real").conversations
    records = json.loads((released / CONVERSATIONS_FILE).read_text())
    write(released, {"m-1": [records[0]], "p-1": [records[1]], "again": [records[2]]})
    pd.testing.assert_frame_equal(chatbench.load_conversations("real").conversations, expected)


def test_keys_may_have_the_names_of_the_authors_code(released):
    expected = chatbench.load_conversations("real").conversations
    records = json.loads((released / CONVERSATIONS_FILE).read_text())
    names = {
        "worker_id": "workerId",
        "question_id": "questionID",
        "selected_answer": "selectedAnswer",
        "chat_history": "chatHistory",
    }
    write(released, [{names.get(key, key): each[key] for key in each} for each in records])
    pd.testing.assert_frame_equal(chatbench.load_conversations("real").conversations, expected)


BAD = [
    ("text", "a JSON object is needed, found str"),
    ({"worker_id": "zoe", "model": "gpt-4o"}, "'condition', 'question_id', 'selected_answer', 'ch"),
    ({**RECORD, "worker_id": ["zoe"]}, "worker_id is neither text nor a number"),
    ({**RECORD, "question_id": ["x"]}, "question ['x'] is not among the questions"),
    ({**RECORD, "question_id": "x"}, "question 'x' is not among the questions"),
    ({**RECORD, "selected_answer": None}, "selected_answer None is no letter from A to D"),
    ({**RECORD, "model": "gpt-4o-mini"}, "model 'gpt-4o-mini' is not one of the study"),
    ({**RECORD, "condition": "x"}, "condition 'x' is not one of the study"),
    ({**RECORD, "chat_history": "bado"}, "chat_history is no list of messages"),
    ({**RECORD, "chat_history": [{"role": "Me", "content": "x"}]}, "chat_history is no list of m"),
    ({**RECORD, "chat_history": [{"role": "You"}]}, "chat_history is no list of messages"),
]


@pytest.mark.parametrize(("record", "problem"), BAD)
def test_a_conversation_that_cannot_be_used_is_named(released, record, problem):
    write(released, [RECORD, record])
    with pytest.raises(tables.BadTableError) as failure:
        chatbench.load_conversations("real")
    head, found = str(failure.value).splitlines()
    assert head == "conversations.json: 1 problem. Correct the file and load it again."
    assert found.startswith(f"  conversation 2: {problem}")


def test_a_file_that_is_no_text_is_refused(released):
    (released / CONVERSATIONS_FILE).write_bytes(b"\xff[]")
    with pytest.raises(tables.BadTableError, match="the file cannot be read as JSON"):
        chatbench.load_conversations("real")


def test_a_file_that_is_no_json_is_refused_with_its_place(released):
    (released / CONVERSATIONS_FILE).write_text("[\n{half")
    with pytest.raises(tables.BadTableError, match="line 2, character 2: not valid JSON"):
        chatbench.load_conversations("real")


@pytest.mark.parametrize("content", [3, {"m-1": RECORD}])
def test_a_file_without_a_list_is_refused(released, content):
    write(released, content)
    with pytest.raises(tables.BadTableError, match="a list of conversations is needed"):
        chatbench.load_conversations("real")


def test_all_missing_columns_of_the_questions_are_named(released):
    QUESTIONS.drop(columns=["option_C", "answer"]).to_csv(released / QUESTIONS_FILE, index=False)
    with pytest.raises(tables.BadTableError) as failure:
        chatbench.load_conversations("real")
    assert str(failure.value).splitlines()[1:] == [
        "  column 'option_C' is missing",
        "  column 'answer' is missing",
    ]


def test_an_answer_that_is_no_letter_is_refused(released):
    QUESTIONS.assign(answer=["B", "2"]).to_csv(released / QUESTIONS_FILE, index=False)
    message = "column 'answer', row 2: '2' is not in the letters A to D"
    with pytest.raises(tables.BadTableError, match=message):
        chatbench.load_conversations("real")


def test_a_question_that_is_there_twice_is_refused(released):
    QUESTIONS.assign(question_id="m-1").to_csv(released / QUESTIONS_FILE, index=False)
    with pytest.raises(tables.BadTableError, match="question 'm-1' stands there again"):
        chatbench.load_conversations("real")


def test_options_that_read_like_missing_values_stay_text(released):
    QUESTIONS.assign(option_A="NA").to_csv(released / QUESTIONS_FILE, index=False)
    assert "\nA. NA\n" in chatbench.load_conversations("real").questions["question"].iloc[0]


def test_one_missing_file_is_an_error_that_names_it(released):
    (released / QUESTIONS_FILE).unlink()
    message = "1 of 2 files are missing"
    with pytest.raises(registry.DataUnavailableError, match=message) as failure:
        chatbench.load_conversations("auto")
    assert "  chatbench/questions.csv from https://" in str(failure.value)


def test_conversations_alone_do_not_make_the_answers_of_the_study_real(released):
    assert chatbench.load("auto").source == "simulated"


def test_simulated_conversations_end_with_the_simulated_answers():
    loaded = chatbench.load_conversations("simulated", seed=3)
    answers = chatbench.load("simulated", seed=3).answers
    with_ai = answers[answers["answer_type"] == "user-AI"].reset_index(drop=True)
    same = ["model", "condition", "dataset", "question_id", "correct"]
    assert loaded.source == "simulated"
    pd.testing.assert_frame_equal(loaded.conversations[same], with_ai[same])


def test_simulated_conversations_alternate_from_the_user_to_the_ai():
    talks = chatbench.load_conversations("simulated", seed=3).conversations
    roles = talks["messages"].map(lambda messages: [each["role"] for each in messages])
    assert all(each == ["user", "assistant"] * (len(each) // 2) for each in roles)
    assert roles.str.len().min() == 2
    assert roles.str.len().mean() / 2 == pytest.approx(1.4, abs=0.05)


def test_all_words_of_a_simulated_conversation_are_invented():
    loaded = chatbench.load_conversations("simulated", seed=3)
    texts = [each["content"] for talk in loaded.conversations["messages"] for each in talk]
    words = {word.strip("?") for text in texts for word in text.split()}
    assert words <= {*VOCABULARY, "Simulated", "question:"}
    assert loaded.questions["question"].str.startswith("Simulated question:").all()


def test_wrong_answers_are_other_letters_equally_often():
    loaded = chatbench.load_conversations("simulated", seed=3)
    wrong = loaded.conversations[loaded.conversations["correct"] == 0]
    right = wrong["question_id"].map(loaded.questions.set_index("question_id")["answer"])
    off = (wrong["answer"].map("ABCD".index) - right.map("ABCD".index)) % 4
    assert off.value_counts(normalize=True).reindex([1, 2, 3]).to_numpy() == pytest.approx(
        1 / 3, abs=0.04
    )


def test_first_messages_keep_words_as_often_as_they_should():
    rng = np.random.default_rng(0)
    asked = pd.DataFrame({"question_id": range(500), "dataset": "College Math"})
    questions = chatbench_questions(rng, asked)["question"]
    prompts = first_prompts(rng, questions, copying=0.6)
    before, after = (texts.str.split().explode().to_numpy() for texts in (questions, prompts))
    assert (before == after).mean() == pytest.approx(0.6, abs=0.02)


def test_simulations_repeat_with_their_seed():
    first, again, other = (
        chatbench.load_conversations("simulated", seed=seed).conversations["messages"].iloc[0]
        for seed in (1, 1, 2)
    )
    assert first == again != other
