"""A model that plays the user: instructions, training, conversations, scores."""

import itertools
import json
import os
import sys
import traceback

import endpoint
import numpy as np
import pandas as pd
import pytest

from helpers import paths
from helpers.data import tables
from helpers.run import notebooks
from helpers.studies import user_simulator
from helpers.studies.user_simulator import Endpoint, SimulatorError, score_ranges

QUESTION = "How many bado?\nA. \\frac{a}{b}\nB. two\nC. three\nD. four"
QUESTIONS = pd.DataFrame(
    {"question_id": ["q1", "q2"], "question": [QUESTION, "Which keli?"]}
)
WORDS = "bado keli muna pori seva tuzo nali"


def rng(seed=0):
    return np.random.default_rng(seed)


def talk(speakers: str) -> list[dict]:
    """Messages by the first letters of their speakers: u for user, a for the AI."""
    roles = {"u": "user", "a": "assistant"}
    return [
        {"role": roles[who], "content": f"{who}{place}"}
        for place, who in enumerate(speakers)
    ]


def made_of(speakers: str) -> pd.DataFrame:
    """Examples made of one conversation."""
    row = {
        "question_id": "q1",
        "question": "How many?",
        "messages": talk(speakers),
        "answer": "B",
    }
    return user_simulator.examples(pd.DataFrame([row], index=["talk"]))


@pytest.fixture
def server(monkeypatch):
    pytest.importorskip("openai", reason="openai is not installed")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with endpoint.running() as stub:
        yield stub


@pytest.fixture
def hold(server, tmp_path):
    """Hold conversations with the stub, by default one about one question."""

    def hold(questions=QUESTIONS[:1], n_runs=1, max_messages=10, **changes):
        known = {
            "url": server.url,
            "key": endpoint.KEY,
            "user_model": "user",
            "ai_model": "ai",
        }
        at = Endpoint(**known | {"timeout": 5.0, "retries": 0} | changes)
        file = tmp_path / "new" / "talks.jsonl"
        return user_simulator.run(questions, at, file, n_runs, max_messages)

    return hold


ANSWERS = (
    "Answer: (C) nine bado",
    " answer: C\n",
    '"Answer: C"',
    "**Answer:** C",
    "Answer: C\nso",
)
OTHERS = (
    "",
    "C",
    "Answer: E",
    "Answer: c",
    "Answer: A man",
    "Answer: A or B?",
    "Hm.\nAnswer: B",
)


@pytest.mark.parametrize(
    ("reply", "letter"),
    [*itertools.product(ANSWERS, "C"), *itertools.product(OTHERS, [None])],
)
def test_a_reply_is_an_answer_only_if_its_first_line_is_one(reply, letter):
    assert user_simulator._parse_answer(reply) == letter


def test_only_what_surrounds_a_message_is_taken_away():
    assert user_simulator._clean_message(' You: "bado?" ') == "bado?"
    assert user_simulator._clean_message('is "bado" a word?') == 'is "bado" a word?'


@pytest.mark.parametrize(
    ("speakers", "targets"),
    [
        ("uauaua", ["u0", "u2", "u4", "Answer: B"]),
        ("uuaau", ["u0", "u1", "u4", "Answer: B"]),
        ("aua", ["u1", "Answer: B"]),
        ("a", []),
    ],
)
def test_each_message_of_the_user_and_the_answer_are_an_example(speakers, targets):
    made = made_of(speakers)
    assert [messages[-1]["content"] for messages in made["messages"]] == targets
    middle = ["next"] * (len(targets) - 2)
    assert made["step"].tolist() == (["first", *middle, "answer"] if targets else [])
    assert set(made["conversation"]) <= {"talk"}


def test_an_example_shows_the_conversation_up_to_what_is_to_be_learnt():
    shown = [messages[1]["content"] for messages in made_of("auaua")["messages"]]
    assert shown[0] == user_simulator.instructions("How many?", [])[1]["content"]
    assert "You: u1\n\nAI: a2\n\n" in shown[1]
    assert "u3" not in shown[1]
    assert "You: u1\n\nAI: a2\n\nYou: u3\n\nAI: a4\n\n" in shown[2]
    assert not any("a0" in text for text in shown)


def test_any_text_survives_its_file_and_a_file_is_written_whole_or_not(tmp_path):
    text = "two\nlines “quotes” \\frac{a}{b} \u2028 é 🙂 \r\n"
    made = [{"role": "user", "content": text}, {"role": "assistant", "content": text}]
    file = tmp_path / "new" / "examples.jsonl"
    user_simulator.write_jsonl([{"messages": made}], file)
    assert len(file.read_text().splitlines()) == 1
    with pytest.raises(
        ValueError, match="Out of range float values are not JSON compliant"
    ):
        user_simulator.write_jsonl([{"answer": "B"}, {"answer": np.nan}], file)
    assert tables.read_jsonl(file)["messages"].to_list() == [made]
    assert [each.name for each in file.parent.iterdir()] == ["examples.jsonl"]


def test_the_endpoint_comes_from_the_environment_and_does_not_show_its_key():
    values = ["http://localhost:8000/v1", "secret", "u", "a"]
    environment = dict(zip(user_simulator.VARIABLES, values, strict=True))
    found = user_simulator.endpoint_from(environment)
    assert [found.url, found.key, found.user_model, found.ai_model] == values
    assert "secret" not in repr(found)
    environment |= {"USER_SIMULATOR_KEY": "", "USER_SIMULATOR_AI": ""}
    with pytest.raises(SimulatorError) as failure:
        user_simulator.endpoint_from(environment)
    assert str(failure.value).splitlines() == [
        "No endpoint is set. Set these variables:",
        "  USER_SIMULATOR_KEY: its key; any word if it asks for none",
        "  USER_SIMULATOR_AI: model that the user talks with",
    ]


def test_a_conversation_ends_with_the_answer_of_the_user_who_alone_sees_the_question(
    server, hold
):
    held = hold()
    assert held["answer"].tolist() == ["B"]
    assert held["messages"].tolist() == [
        [
            {"role": "user", "content": "what is bado?"},
            {"role": "assistant", "content": "two."},
        ]
    ]
    assert [request["model"] for request in server.asked] == ["user", "ai", "user"]
    assert [request["temperature"] for request in server.asked] == [1.0, 0.7, 1.0]
    told = [json.dumps(request["messages"]) for request in server.asked]
    assert ["How many bado?" in each for each in told] == [True, False, True]
    assert "what is bado?" in told[1]


@pytest.mark.parametrize(
    ("replies", "n_messages", "answer"),
    [
        (["and then?"] * 3, 4, None),
        (["first", "second", "**Answer: D**"], 4, "D"),
        (["Answer: A", "Answer: C"], 2, "C"),  # nobody answers before any conversation
    ],
)
def test_after_the_last_message_only_an_answer_is_asked_for(
    server, hold, replies, n_messages, answer
):
    server.user_replies = iter(replies)
    held = hold(max_messages=2).iloc[0]
    assert (len(held["messages"]), held["answer"]) == (n_messages, answer)
    asked = [
        each["messages"][1]["content"]
        for each in server.asked
        if each["model"] == "user"
    ]
    assert ["no time" in each for each in asked] == [False, False, True][: len(replies)]


@pytest.mark.parametrize(
    ("stub", "changes", "message"),
    [
        (
            {},
            {"key": "other"},
            r"refused the key \(status 401\): check USER_SIMULATOR_KEY",
        ),
        ({}, {"url": "/v2"}, "answered with status 404 for model 'user'"),
        ({"status": 500}, {}, "answered with status 500 for model 'user'"),
        ({"body": b"{half"}, {}, "sent no reply that can be read"),
        ({"seconds": 0.2}, {"timeout": 0.05}, r"did not reply within 0\.05 seconds"),
        ({}, {"url": "nobody"}, r"cannot be reached \(.*\): check USER_SIMULATOR_URL"),
        ({"body": b"[]"}, {}, "sent no text as reply of model 'user'"),
        (
            {"body": endpoint.completion(" ")},
            {},
            "sent no text as reply of model 'user'",
        ),
    ],
)
def test_an_endpoint_that_fails_is_named_with_what_to_do(
    server, hold, stub, changes, message
):
    vars(server).update(stub)
    urls = {"/v2": server.url.replace("v1", "v2"), "nobody": "http://127.0.0.1:9/v1"}
    changes = {key: urls.get(value, value) for key, value in changes.items()}
    with pytest.raises(SimulatorError, match=rf"^question q1: http://127\S+ {message}"):
        hold(**changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"key": f"{endpoint.KEY}\r"}, "KEY has a line break or blanks around it"),
        ({"key": f"{endpoint.KEY}\n"}, "KEY has a line break or blanks around it"),
        ({"key": f" {endpoint.KEY}"}, "KEY has a line break or blanks around it"),
        ({"key": f"{endpoint.KEY}ü"}, "KEY has letters that no header can hold"),
        ({"url": f"http://{endpoint.KEY}@127.0.0.1/v1"}, "URL has the key in it"),
        ({"url": f"http://127.0.0.1/v1?key={endpoint.KEY}"}, "URL has the key in it"),
        ({"url": f"http://127.0.0.1/{endpoint.KEY}/v1"}, "URL has the key in it"),
        (
            {"url": f"http://127.0.0.1/%73{endpoint.KEY[1:]}/v1"},
            "URL has the key in it",
        ),
        ({"ai_model": f"model-{endpoint.KEY}"}, "AI has the key in it"),
        (
            {"url": "http://name:password@127.0.0.1/v1"},
            "URL must be an address without user name",
        ),
        (
            {"url": "http://127.0.0.1/v1?token=t"},
            "URL must be an address without user name",
        ),
        ({"url": "127.0.0.1:8000/v1"}, "URL must be an address without user name"),
        ({"url": "http://[/v1"}, "URL must be an address without user name"),
        (
            {"url": "http://127.0.0.1:many/v1"},
            "URL must be an address without user name",
        ),
    ],
)
def test_what_would_show_the_key_or_cannot_be_sent_is_refused(
    server, hold, changes, message
):
    with pytest.raises(SimulatorError, match=rf"^USER_SIMULATOR_{message}") as failure:
        hold(**changes)
    assert endpoint.KEY not in str(failure.value)
    assert "password" not in str(failure.value).replace("name, password or", "")
    assert server.asked == []


@pytest.mark.parametrize(
    "stub",
    [
        {
            "status": 500,
            "body": json.dumps({"error": {"message": endpoint.KEY}}).encode(),
        },
        {"status": 400, "body": endpoint.KEY.encode()},
        {"body": endpoint.KEY.encode()},
        {"body": endpoint.completion(f"your key is {endpoint.KEY}")},
    ],
)
def test_a_key_that_comes_back_is_shown_and_kept_nowhere(
    server, hold, tmp_path, stub, capfd
):
    vars(server).update(stub)
    try:
        held = hold(max_messages=1)
    except SimulatorError as error:
        told = "".join(traceback.format_exception(error))
    else:
        told = held.to_json()
        assert "your key is [key]" in told
    kept = [file.read_text() for file in tmp_path.rglob("*") if file.is_file()]
    for text in [told, *kept, *capfd.readouterr()]:
        assert endpoint.KEY not in text


@pytest.mark.parametrize("key", [endpoint.KEY, f"{endpoint.KEY}\r"])
def test_no_file_of_a_notebook_that_fails_has_the_key(
    server, tmp_path, monkeypatch, capfd, key
):
    server.status = 500
    server.body = json.dumps({"error": {"message": f"{key} is not known"}}).encode()
    monkeypatch.setattr("os.environ", dict(os.environ))
    values = [server.url, key, "user", "ai"]
    os.environ.update(zip(user_simulator.VARIABLES, values, strict=True))
    notebooks.set_environment(tmp_path)
    small = {"n_draws": 20, "max_messages": 1}
    parameters = {"data_source": "simulated", "out_dir": str(tmp_path), **small}
    notebook = paths.NOTEBOOKS / "appendix" / "31_question_level_and_simulator.ipynb"
    with pytest.raises(tables.PlainError, match="SimulatorError") as failure:
        notebooks.execute(notebook, tmp_path / "notebooks" / notebook.name, parameters)
    left = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert "31_question_level_and_simulator.unfinished.ipynb" in [
        file.name for file in left
    ]
    texts = [file.read_text(errors="replace") for file in left]
    for text in [*texts, str(failure.value), *capfd.readouterr()]:
        assert endpoint.KEY not in text


def test_a_word_in_place_of_a_key_is_no_secret(server, hold):
    server.body = endpoint.completion("what is x?")
    with pytest.raises(SimulatorError, match="refused the key"):
        hold(key="x")
    assert (
        Endpoint("http://box", "x", "x", "ai").without_key("what is x?") == "what is x?"
    )


def test_without_openai_the_message_says_what_to_install(hold, monkeypatch):
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(SimulatorError, match="openai is not installed: install it"):
        hold()


def test_a_failure_that_may_pass_is_tried_again(server, hold):
    server.status = 500
    with pytest.raises(SimulatorError):
        hold(retries=1)
    assert len(server.asked) == 2


def test_conversations_are_kept_in_a_file_which_then_needs_no_endpoint(
    server, hold, tmp_path
):
    held = hold(QUESTIONS, n_runs=2)
    assert held["question_id"].tolist() == ["q1", "q1", "q2", "q2"]
    assert held["run"].tolist() == [1, 2, 1, 2]
    pd.testing.assert_frame_equal(
        tables.read_jsonl(tmp_path / "new" / "talks.jsonl"), held
    )
    server.status = 500
    pd.testing.assert_frame_equal(hold(QUESTIONS, n_runs=2), held)
    message = (
        r"talks.jsonl was made with user_model 'user', not 'new': delete it or choose"
    )
    with pytest.raises(SimulatorError, match=message):
        hold(user_model="new")


def test_after_a_failure_finished_questions_are_kept_and_a_new_run_goes_on(
    server, hold, tmp_path
):
    server.user_replies = iter(["hello?", "hm", "hello?", " "])
    with pytest.raises(
        SimulatorError, match=r"^question q2: .* Finished questions are kept; run"
    ):
        hold(QUESTIONS, max_messages=1)
    assert [each.name for each in (tmp_path / "new").iterdir()] == ["talks.jsonl"]
    server.user_replies = iter(["hello?", "Answer: D"])
    held = hold(QUESTIONS, max_messages=1)
    assert held["question_id"].tolist() == ["q1", "q2"]
    assert held["answer"].fillna("none").tolist() == ["none", "D"]


def test_a_damaged_file_is_refused_and_left_alone(hold, tmp_path):
    (tmp_path / "new").mkdir()
    file = tmp_path / "new" / "talks.jsonl"
    file.write_text('{"question_id": "q1"\n')
    with pytest.raises(
        tables.BadTableError, match=r"talks.jsonl: 1 problem.*\n  line 1, char"
    ):
        hold()
    assert file.read_text() == '{"question_id": "q1"\n'


def questions(n: int) -> pd.DataFrame:
    """Questions whose chances vary like those of the study."""
    return pd.DataFrame(
        {
            "question_id": range(n),
            "mean": 0.7,
            "variance": 0.06,
            "n_answers": np.arange(n) % 9 + 5,
        }
    )


def test_draws_lie_around_the_scores_of_a_large_sample():
    large = score_ranges(rng(), questions(100_000), n_draws=2)
    ranges = score_ranges(rng(2), questions(135), n_draws=1000)
    assert ranges["mean"].to_numpy() == pytest.approx(
        large["mean"].to_numpy(), abs=0.015
    )
    assert (ranges["low"] < ranges["mean"]).all()
    assert (ranges["mean"] < ranges["high"]).all()


def test_pretended_simulators_differ_from_people_as_they_are_said_to():
    mean = score_ranges(rng(1), questions(4000), n_draws=3)["mean"]
    chances = user_simulator._chances(rng(1), questions(4000), n_draws=3)
    assert chances.mean() == pytest.approx(0.7, abs=0.02)
    assert chances.var() == pytest.approx(0.06, abs=0.005)
    assert mean["correlation", "unrelated"] == pytest.approx(0, abs=0.05)
    assert mean["correlation", "as people"] > 0.7
    assert mean["mae", "as people"] < mean["mae", "too able"] < mean["mae", "unrelated"]
