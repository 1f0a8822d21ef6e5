"""Training examples of a user simulator, and their files."""

import json

import numpy as np
import pandas as pd
import pytest

from helpers.beyond import user_simulator
from helpers.files import tables
from helpers.studies import chatbench


def conversation(speakers: str) -> pd.DataFrame:
    """One conversation, told by the first letters of its speakers: u for user, a for the AI."""
    roles = {"u": "user", "a": "assistant"}
    messages = [
        {"role": roles[speaker], "content": f"{speaker}{place}"}
        for place, speaker in enumerate(speakers)
    ]
    row = {"question_id": "q1", "question": "How many?", "messages": messages, "answer": "B"}
    return pd.DataFrame([row], index=["talk"])


@pytest.mark.parametrize(
    ("speakers", "targets"),
    [
        ("ua", ["u0", "Answer: B"]),
        ("uaua", ["u0", "u2", "Answer: B"]),
        ("uauaua", ["u0", "u2", "u4", "Answer: B"]),
        ("uaau", ["u0", "u3", "Answer: B"]),
        ("uuaa", ["u0", "u1", "Answer: B"]),
        ("uau", ["u0", "u2", "Answer: B"]),
        ("aua", ["u1", "Answer: B"]),
        ("a", []),
        ("", []),
    ],
)
def test_each_message_of_the_user_and_the_answer_are_an_example(speakers, targets):
    made = user_simulator.examples(conversation(speakers))
    assert [messages[-1]["content"] for messages in made["messages"]] == targets
    middle = ["next"] * (len(targets) - 2)
    assert made["step"].tolist() == (["first", *middle, "answer"] if targets else [])
    assert set(made["conversation"]) <= {"talk"}


def test_an_example_shows_the_conversation_up_to_what_is_to_be_learnt():
    made = user_simulator.examples(conversation("uaua"))["messages"]
    shown = [messages[1]["content"] for messages in made]
    assert shown[0] == user_simulator.instructions("How many?", [])[1]["content"]
    assert "You: u0\n\nAI: a1\n\n" in shown[1]
    assert "u2" not in shown[1]
    assert "You: u0\n\nAI: a1\n\nYou: u2\n\nAI: a3\n\n" in shown[2]


def test_what_the_ai_says_before_the_user_is_left_out():
    made = user_simulator.examples(conversation("aua"))["messages"]
    assert not any("a0" in message["content"] for messages in made for message in messages)


def test_a_conversation_with_k_messages_of_the_user_gives_k_plus_1_examples():
    talks = chatbench.load_conversations("simulated", seed=1).conversations.head(300)
    k = talks["messages"].map(lambda each: sum(one["role"] == "user" for one in each))
    made = user_simulator.examples(talks)
    pd.testing.assert_series_equal(
        made.groupby("conversation").size(), k + 1, check_names=False, check_index_type=False
    )
    assert user_simulator.implied_messages(len(made), len(talks)) == pytest.approx(k.mean())


def test_targets_are_the_words_and_the_answer_of_the_user():
    talks = chatbench.load_conversations("simulated", seed=1).conversations.head(50)
    made = user_simulator.examples(talks)
    learnt = made["messages"].str[-1].str["content"].groupby(made["conversation"]).agg(list)
    for talk, texts in zip(talks.itertuples(), learnt, strict=True):
        said = [each["content"] for each in talk.messages if each["role"] == "user"]
        assert texts == [*said, f"Answer: {talk.answer}"]


def test_examples_survive_their_file(tmp_path):
    talks = chatbench.load_conversations("simulated", seed=1).conversations.head(20)
    made = user_simulator.examples(talks)["messages"].tolist()
    file = tmp_path / "new" / "examples.jsonl"
    user_simulator.write_jsonl(({"messages": each} for each in made), file)
    assert user_simulator.read_examples(file) == made
    assert [each.name for each in file.parent.iterdir()] == ["examples.jsonl"]


@pytest.mark.parametrize("text", ["two\nlines", "“quotes” and \\frac{a}{b}", "\u2028 é 🙂", "\r\n"])
def test_texts_survive_their_file(tmp_path, text):
    made = [{"role": "user", "content": text}, {"role": "assistant", "content": text}]
    file = tmp_path / "examples.jsonl"
    user_simulator.write_jsonl([{"messages": made}], file)
    assert user_simulator.read_examples(file) == [made]
    assert len(file.read_text().splitlines()) == 1


def test_a_file_stays_as_it_was_if_it_cannot_be_written_whole(tmp_path):
    file = tmp_path / "examples.jsonl"
    user_simulator.write_jsonl([{"messages": []}], file)
    with pytest.raises(ValueError, match="Out of range float values are not JSON compliant"):
        user_simulator.write_jsonl([{"answer": "B"}, {"answer": np.nan}], file)
    assert file.read_text() == '{"messages": []}\n'


GOOD = {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}
BAD = [
    ("[1]", "line 3: a JSON object is needed, found list"),
    ('{"messages": [', "line 3, character 16: not valid JSON (Expecting value)"),
    ('{"text": "a"}', "line 3: 'messages' is missing or no list"),
    ('{"messages": "a"}', "line 3: 'messages' is missing or no list"),
    ('{"messages": []}', "line 3: 'messages' is missing or no list"),
    (
        '{"messages": [{"role": "You", "content": "a"}]}',
        "line 3: message 1 has none of the roles system, user, assistant",
    ),
    (
        '{"messages": [{"role": "user", "content": "a"}, "b"]}',
        "line 3: message 2 has none of the roles system, user, assistant",
    ),
    ('{"messages": [{"role": "user", "content": ""}]}', "line 3: message 1 has no text"),
    ('{"messages": [{"role": "user", "content": null}]}', "line 3: message 1 has no text"),
    (
        '{"messages": [{"role": "user", "content": "a"}]}',
        "line 3: the last message is not of the assistant, so that there is nothing to learn",
    ),
]


@pytest.mark.parametrize(("line", "problem"), BAD)
def test_a_line_that_is_no_example_is_named(tmp_path, line, problem):
    file = tmp_path / "examples.jsonl"
    file.write_text(f"{json.dumps(GOOD)}\n\n{line}\n")
    with pytest.raises(tables.BadTableError) as failure:
        user_simulator.read_examples(file)
    assert str(failure.value).splitlines() == [
        "examples.jsonl: 1 problem. Correct the file and load it again.",
        f"  {problem}",
    ]


def test_a_file_without_examples_is_refused(tmp_path):
    file = tmp_path / "examples.jsonl"
    file.write_text("\n")
    with pytest.raises(tables.BadTableError, match="there is no example in it"):
        user_simulator.read_examples(file)
