"""What a simulated user is told, and what its replies mean."""

import pytest

from helpers.beyond import user_simulator

TALK = [{"role": "user", "content": "bado?"}, {"role": "assistant", "content": "keli."}]


def test_the_first_message_is_asked_for_when_there_is_none():
    system, task = user_simulator.instructions("How many?\nA. one", [])
    assert (system["role"], task["role"]) == ("system", "user")
    assert system["content"].endswith("How many?\nA. one")
    assert "first message" in task["content"]
    assert "Answer:" not in task["content"]


def test_an_answer_or_a_message_is_asked_for_during_a_conversation():
    system, task = user_simulator.instructions("How many?", TALK)
    assert system == user_simulator.instructions("How many?", [])[0]
    assert "You: bado?\n\nAI: keli." in task["content"]
    assert 'write "Answer: "' in task["content"]
    assert "next message" in task["content"]


def test_only_an_answer_is_asked_for_at_the_end():
    _, task = user_simulator.instructions("How many?", TALK, must_answer=True)
    assert "next message" not in task["content"]
    assert 'write "Answer: "' in task["content"]


def test_braces_in_questions_and_messages_stay_as_they_are():
    talk = [{"role": "user", "content": "{x} {conversation}"}]
    system, task = user_simulator.instructions(r"\frac{a}{b}", talk)
    assert r"\frac{a}{b}" in system["content"]
    assert "You: {x} {conversation}" in task["content"]


@pytest.mark.parametrize(
    "reply",
    [
        "Answer: C",
        " answer: C\n",
        "Answer: C.",
        '"Answer: C"',
        "**Answer: C**",
        "**Answer:** C",
        "Answer: (C) nine bado",
        "Answer: C. nine bado",
        "Answer: C\nbecause bado",
        user_simulator.answer("C"),
    ],
)
def test_a_reply_that_answers_gives_its_letter(reply):
    assert user_simulator.parse_answer(reply) == "C"


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "C",
        "Answer: E",
        "Answer: c",
        "Answer: A man has two bado",
        "Answer: A or B?",
        "Is the answer: B?",
        "What is the answer: A, B, C or D?",
        "Thanks.\nAnswer: B",
    ],
)
def test_a_reply_that_is_a_message_gives_no_letter(reply):
    assert user_simulator.parse_answer(reply) is None


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (" bado? ", "bado?"),
        ('"bado?"', "bado?"),
        ("You: bado?", "bado?"),
        ('You: "bado?"', "bado?"),
        ('is "bado" a word?', 'is "bado" a word?'),
        ('"', '"'),
        ('""', ""),
    ],
)
def test_only_what_surrounds_a_message_is_taken_away(reply, message):
    assert user_simulator.clean_message(reply) == message
