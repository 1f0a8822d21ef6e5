"""The Two-Step simulator, with scripted callables and with a stub of an endpoint."""

import json
import os
import threading
import time
import traceback
from http.server import BaseHTTPRequestHandler, HTTPServer

import nbformat
import pandas as pd
import pytest

from helpers import paths
from helpers.studies import user_simulator
from helpers.studies.user_simulator import SimulatorError, chat, converse

KEY = "sk-secret"
QUESTION = "How many bado?\nA. one\nB. two\nC. three\nD. four"
HELLO = [{"role": "user", "content": "hello?"}]


def completion(text: str | None) -> bytes:
    """Body of a reply as a chat model sends it."""
    message = {"role": "assistant", "content": text}
    return json.dumps({"choices": [{"index": 0, "message": message}]}).encode()


class Handler(BaseHTTPRequestHandler):
    """Notes what the stub is asked, and replies as the stub is told."""

    def do_POST(self):
        """Read a request and send status and body."""
        stub = self.server
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        stub.asked.append(body | {"path": self.path} | dict(self.headers))
        time.sleep(stub.seconds)
        self.send_response(stub.status)
        self.send_header("Location", stub.url)
        self.end_headers()
        self.wfile.write(stub.bodies.pop(0))

    def log_message(self, *args):
        """Keep quiet."""


@pytest.fixture
def stub(monkeypatch):
    """An endpoint on a free port of this machine."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        server.url = f"http://127.0.0.1:{server.server_port}/v1"
        server.asked, server.bodies = [], [completion(" two. ")]
        server.status, server.seconds = 200, 0
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def scripted(*texts):
    """A callable that replies with these texts, and notes the messages that it gets."""
    remaining = list(texts)

    def reply(messages):
        reply.asked.append(messages)
        return remaining.pop(0)

    reply.asked = []
    return reply


def talk(speakers: str) -> list[dict]:
    """Messages by the first letters of their speakers: u for user, a for the AI."""
    roles = {"u": "user", "a": "assistant", "s": "system"}
    return [
        {"role": roles[who], "content": f"{who}{place}"}
        for place, who in enumerate(speakers)
    ]


def test_the_user_sees_the_question_and_the_ai_system_the_conversation_alone():
    user = scripted("what is bado?", "is that much?", "Answer: B")
    ai = scripted("a two.", "no.")
    conversation, letter = converse(QUESTION, user, ai)
    contents = ["what is bado?", "a two.", "is that much?", "no."]
    assert [message["content"] for message in conversation] == contents
    assert [message["role"] for message in conversation] == ["user", "assistant"] * 2
    assert letter == "B"
    assert ai.asked == [conversation[:1], conversation[:3]]
    assert all(QUESTION in system["content"] for system, _ in user.asked)
    first, second, third = (task["content"] for _, task in user.asked)
    assert first == user_simulator.STEP_1
    assert "You: what is bado?\n\nAI: a two.\n\nIf it answers" in second
    assert "AI: a two.\n\nYou: is that much?\n\nAI: no.\n\nIf it answers" in third


@pytest.mark.parametrize(
    "reply",
    [
        "Answer: C",
        " answer: c\n",
        '"Answer: C."',
        "**Answer:** C",
        "Answer: (C) three",
        "Answer: C\nThe AI system says so.",
    ],
)
def test_an_answer_is_found_in_the_forms_that_models_give_it(reply):
    assert converse(QUESTION, scripted("hm", reply), scripted("three"))[1] == "C"


@pytest.mark.parametrize(
    "reply",
    ["", "C", "Answer: E", "Answer: A man", "Answer: A or B?", "Hm.\nAnswer: B"],
)
def test_anything_else_is_the_next_prompt(reply):
    conversation, letter = converse(
        QUESTION, scripted("hm", reply, "Answer: D"), scripted("three", "four")
    )
    assert conversation[2] == {"role": "user", "content": reply}
    assert letter == "D"


@pytest.mark.parametrize(
    ("prompts", "letter"),
    [
        (["first", "second", "third"], None),
        (["first", "second", "Answer: D"], "D"),
        (["Answer: A", "second", "Answer: C"], "C"),  # nobody answers unasked
    ],
)
def test_after_the_last_turn_only_an_answer_counts(prompts, letter):
    ai = scripted("one", "two")
    conversation, chosen = converse(QUESTION, scripted(*prompts), ai, max_turns=2)
    assert chosen == letter
    contents = [message["content"] for message in conversation]
    assert contents == [prompts[0], "one", prompts[1], "two"]


def test_a_conversation_has_ten_turns_unless_told_otherwise():
    user = scripted(*(f"prompt {turn}" for turn in range(20)))
    ai = scripted(*(f"reply {turn}" for turn in range(20)))
    conversation, letter = converse(QUESTION, user, ai)
    assert letter is None
    assert len(conversation) == 2 * 10


def test_a_conversation_needs_a_turn():
    with pytest.raises(SimulatorError, match="max_turns is 0: it must be at least 1"):
        converse(QUESTION, scripted(), scripted(), max_turns=0)


@pytest.mark.parametrize(
    ("speakers", "replies", "lengths"),
    [
        ("ua", ["u0", "Answer: B"], [0, 2]),
        ("uauaua", ["u0", "u2", "u4", "Answer: B"], [0, 2, 4, 6]),
        ("uuaau", ["u0", "u1", "u4", "Answer: B"], [0, 1, 4, 5]),
    ],
)
def test_each_prompt_and_the_answer_give_an_example(speakers, replies, lengths):
    conversation = talk(speakers)
    examples = user_simulator.training_examples(QUESTION, conversation, "B")
    for example, reply, length in zip(examples, replies, lengths, strict=True):
        told = user_simulator.instructions(QUESTION, conversation[:length])
        target = {"role": "assistant", "content": reply}
        assert example == {"messages": [*told, target]}


@pytest.mark.parametrize(
    ("speakers", "letter", "message"),
    [
        ("ua", None, "The letter is None: it must be A, B, C or D"),
        ("ua", "AB", "The letter is 'AB': it must be A, B, C or D"),
        ("", "B", r"The roles are \[\]: the first must be 'user'"),
        ("aua", "B", r"The roles are \['assistant', .*: the first must be 'user'"),
        ("uas", "B", "'system'.*: .* the others 'user' or 'assistant'"),
    ],
)
def test_what_gives_no_examples_is_refused(speakers, letter, message):
    with pytest.raises(SimulatorError, match=message):
        user_simulator.training_examples(QUESTION, talk(speakers), letter)


def test_any_text_survives_a_file_of_json_lines(tmp_path):
    text = "two\nlines “quotes” \\frac{a}{b} \u2028 é 🙂 {question}"
    conversation = [{"role": "user", "content": text}]
    examples = user_simulator.training_examples(text, conversation, "B")
    file = tmp_path / "examples.jsonl"
    pd.DataFrame(examples).to_json(file, orient="records", lines=True)
    lines = file.read_text().splitlines()
    assert [json.loads(line) for line in lines] == examples
    assert examples[0]["messages"][-1]["content"] == text
    assert text in examples[0]["messages"][0]["content"]


def test_a_request_is_one_post_in_openais_form(stub):
    assert chat(f"{stub.url}/", "m", KEY)(HELLO) == "two."
    (asked,) = stub.asked
    assert asked["path"] == "/v1/chat/completions"
    assert asked["Authorization"] == f"Bearer {KEY}"
    assert (asked["model"], asked["messages"]) == ("m", HELLO)
    assert "temperature" not in asked


def test_the_temperature_is_sent_if_given_and_a_key_only_if_there_is_one(
    stub, tmp_path, monkeypatch
):
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password other-secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    stub.bodies *= 2
    chat(stub.url, "m", "", temperature=0.7)(HELLO)
    chat(stub.url, "m", KEY, temperature=0.0)(HELLO)
    assert [asked["temperature"] for asked in stub.asked] == [0.7, 0.0]
    keys = [asked.get("Authorization") for asked in stub.asked]
    assert keys == [None, f"Bearer {KEY}"]


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"status": 401}, "status 401"),
        ({"status": 307}, "status 307"),
        ({"status": 500, "bodies": [KEY.encode()]}, "status 500"),
        ({"bodies": [b"{half " + KEY.encode()]}, "JSONDecodeError"),
        ({"bodies": [b"[]"]}, "TypeError"),
        ({"bodies": [json.dumps({"error": KEY}).encode()]}, "KeyError"),
        ({"bodies": [b'{"choices": []}']}, "IndexError"),
        ({"bodies": [completion(None)]}, "no text"),
        ({"bodies": [completion(" ")]}, "no text"),
        ({"seconds": 1}, "ReadTimeout"),
        ({"url": "http://127.0.0.1:9/v1"}, "ConnectionError"),
    ],
)
def test_an_endpoint_without_a_reply_is_named_and_its_words_are_not_shown(
    stub, told, reason
):
    vars(stub).update(told)
    host = stub.url.split("/")[2]
    expected = (
        f"No reply of model 'm-[key]' from {host} ({reason}): "
        "check address, key and model."
    )
    seconds = 0.5 if "seconds" in told else 30
    with pytest.raises(SimulatorError) as failure:
        chat(stub.url, f"m-{KEY}", KEY, timeout=seconds)(HELLO)
    assert str(failure.value) == expected
    assert failure.value._render_traceback_() == [f"SimulatorError: {expected}"]
    assert KEY not in "".join(traceback.format_exception(failure.value))
    assert len(stub.asked) == (reason != "ConnectionError")


def test_a_key_that_comes_back_is_hidden(stub):
    stub.bodies = [completion(f"your key is {KEY}")]
    ask = chat(stub.url, "m", KEY)
    assert ask(HELLO) == "your key is [key]"
    assert KEY not in repr(ask)


@pytest.mark.parametrize("key", [f"{KEY}\r", f"{KEY}\n", f" {KEY}", f"{KEY}ü"])
def test_a_key_that_no_header_can_hold_is_refused_and_not_shown(stub, key):
    with pytest.raises(SimulatorError, match="The key has blanks") as failure:
        chat(stub.url, "m", key)
    assert KEY not in str(failure.value)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "127.0.0.1:8000/v1",
        "file:///v1",
        f"http://{KEY}@127.0.0.1/v1",
        f"http://name:{KEY}@127.0.0.1/v1",
        f"http://127.0.0.1/v1?key={KEY}",
        f"http://127.0.0.1/v1#{KEY}",
        "http://127.0.0.1/v1\n",
    ],
)
def test_an_address_with_a_secret_or_without_a_server_is_refused(url):
    with pytest.raises(SimulatorError, match="address must look like") as failure:
        chat(url, "m", KEY)
    assert KEY not in str(failure.value)


def run_cells(capsys) -> str:
    """Run the cells of notebook 31 that use the simulator; give what they print."""
    name = "appendix/31_question_level_and_simulator.ipynb"
    notebook = nbformat.read(paths.NOTEBOOKS / name, as_version=4)
    variables = {"os": os, "pd": pd, "user_simulator": user_simulator}
    for cell in notebook.cells:
        if cell.cell_type == "code" and "user_simulator." in cell.source:
            exec(compile(cell.source, cell.id, "exec"), variables)
    return capsys.readouterr().out


def test_the_notebook_holds_a_conversation_through_an_endpoint(
    stub, monkeypatch, capsys
):
    values = {"URL": stub.url, "KEY": KEY, "MODEL": "player", "AI": "ai"}
    for name, value in values.items():
        monkeypatch.setenv(f"USER_SIMULATOR_{name}", value)
    stub.bodies = [completion(text) for text in ("what?", "8 dollars", "Answer: B")]
    printed = run_cells(capsys)
    assert "user: what?\nassistant: 8 dollars\nanswer: B" in printed
    assert "Nothing is sent" not in printed
    assert KEY not in printed
    assert [asked["model"] for asked in stub.asked] == ["player", "ai", "player"]


def test_without_an_endpoint_the_notebook_names_what_is_not_set(
    stub, monkeypatch, capsys
):
    for name in ("KEY", "MODEL", "AI"):
        monkeypatch.delenv(f"USER_SIMULATOR_{name}", raising=False)
    monkeypatch.setenv("USER_SIMULATOR_URL", stub.url)
    missing = "USER_SIMULATOR_KEY, USER_SIMULATOR_MODEL, USER_SIMULATOR_AI"
    assert f"Nothing is sent; not set: {missing}" in run_cells(capsys)
    assert stub.asked == []
