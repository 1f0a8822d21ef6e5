"""The loop between a simulated user and an AI system, against a server that speaks the protocol."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import pandas as pd
import pytest

from helpers.beyond import user_simulator
from helpers.beyond.user_simulator import Endpoint, EndpointError, ReplyError, SimulatorError
from helpers.files import tables

QUESTION = "How many bado?\nA. one\nB. two\nC. three\nD. four"
QUESTIONS = pd.DataFrame({"question_id": ["q1", "q2"], "question": [QUESTION, "Which keli?"]})


def completion(text: str | None) -> dict:
    """Body of a reply as a chat model sends it."""
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}


class Server(HTTPServer):
    """A stub of an endpoint: it notes what it is asked and sends what a test tells it to."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[dict] = []
        self.user_replies = iter(["what is bado?", "Answer: B"] * 100)
        self.status, self.body, self.seconds = 200, None, 0.0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def reply(self, request: dict, path: str, key: str) -> tuple[int, bytes]:
        """Status and body of the reply to a request."""
        if path != "/v1/chat/completions":
            return 404, b"{}"
        if key != "Bearer secret":
            return 401, json.dumps({"error": {"message": "wrong key"}}).encode()
        self.asked.append(request)
        if self.status != 200 or self.body is not None:
            return self.status, self.body or b"{}"
        text = "two." if request["model"] == "ai" else next(self.user_replies)
        return 200, json.dumps(completion(text)).encode()


class Handler(BaseHTTPRequestHandler):
    """Speaks HTTP for the stub."""

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        time.sleep(self.server.seconds)
        status, body = self.server.reply(request, self.path, self.headers["Authorization"])
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        """Keep quiet."""


@pytest.fixture
def server(monkeypatch):
    """A stub that runs as long as the test."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with Server() as stub:
        thread = threading.Thread(target=stub.serve_forever, args=(0.01,))
        thread.start()
        yield stub
        stub.shutdown()
        thread.join()


def endpoint(server: Server, **changes) -> Endpoint:
    """Endpoint at the stub."""
    known = {"url": server.url, "key": "secret", "user_model": "user", "ai_model": "ai"}
    return Endpoint(**known | {"timeout": 5.0, "retries": 0} | changes)


def test_a_conversation_ends_with_the_answer_of_the_simulated_user(server):
    messages, answer = user_simulator.converse(QUESTION, endpoint(server))
    assert answer == "B"
    assert messages == [
        {"role": "user", "content": "what is bado?"},
        {"role": "assistant", "content": "two."},
    ]


def test_only_the_simulated_user_sees_the_question(server):
    user_simulator.converse(QUESTION, endpoint(server))
    assert [request["model"] for request in server.asked] == ["user", "ai", "user"]
    first, to_ai, second = (json.dumps(request["messages"]) for request in server.asked)
    assert "How many bado?" in first
    assert "How many bado?" in second
    assert "How many bado?" not in to_ai
    assert "what is bado?" in to_ai


def test_temperatures_are_those_of_the_study_and_of_the_authors_code(server):
    user_simulator.converse(QUESTION, endpoint(server))
    assert [request["temperature"] for request in server.asked] == [1.0, 0.7, 1.0]


def test_a_user_that_never_answers_is_asked_for_an_answer_and_left_without_one(server):
    server.user_replies = iter(["and then?"] * 4)
    messages, answer = user_simulator.converse(QUESTION, endpoint(server), max_messages=3)
    assert answer is None
    assert [message["role"] for message in messages] == ["user", "assistant"] * 3
    asked = [request for request in server.asked if request["model"] == "user"]
    assert ["no time" in request["messages"][1]["content"] for request in asked] == [
        False,
        False,
        False,
        True,
    ]


def test_an_answer_that_is_asked_for_is_taken(server):
    server.user_replies = iter(["first", "second", "**Answer: D**"])
    messages, answer = user_simulator.converse(QUESTION, endpoint(server), max_messages=2)
    assert (len(messages), answer) == (4, "D")


def test_an_answer_before_any_conversation_is_sent_as_a_message(server):
    server.user_replies = iter(["Answer: A", "Answer: C"])
    messages, answer = user_simulator.converse(QUESTION, endpoint(server))
    assert (messages[0]["content"], answer) == ("Answer: A", "C")


def test_a_wrong_key_is_named(server):
    with pytest.raises(EndpointError, match=r"refused the key \(status 401\): check USER_SIM"):
        user_simulator.converse(QUESTION, endpoint(server, key="other"))


def test_a_wrong_address_is_named(server):
    wrong = endpoint(server, url=server.url.replace("/v1", "/v2"))
    with pytest.raises(EndpointError, match="answered with status 404 for model 'user'"):
        user_simulator.converse(QUESTION, wrong)


def test_an_error_of_the_server_is_named_with_its_status(server):
    server.status = 500
    with pytest.raises(EndpointError, match="answered with status 500 for model 'user'"):
        user_simulator.converse(QUESTION, endpoint(server))


def test_a_failure_that_may_pass_is_tried_again(server):
    server.status = 500
    with pytest.raises(EndpointError):
        user_simulator.converse(QUESTION, endpoint(server, retries=1))
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b"[]",
        b'"text"',
        b'{"choices": []}',
        b'{"choices": [{}]}',
        json.dumps(completion(None)).encode(),
        json.dumps(completion(" ")).encode(),
    ],
)
def test_a_reply_without_text_is_refused(server, body):
    server.body = body
    with pytest.raises(ReplyError, match="sent no text as reply of model 'user'"):
        user_simulator.converse(QUESTION, endpoint(server))


def test_a_reply_that_is_no_json_is_refused(server):
    server.body = b"{half"
    with pytest.raises(ReplyError, match="sent no reply that can be read"):
        user_simulator.converse(QUESTION, endpoint(server))


def test_a_server_that_does_not_reply_in_time_is_an_error(server):
    server.seconds = 0.3
    with pytest.raises(EndpointError, match=r"did not reply within 0\.05 seconds"):
        user_simulator.converse(QUESTION, endpoint(server, timeout=0.05))


def test_an_address_where_nobody_listens_is_an_error(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    nobody = Endpoint("http://127.0.0.1:9/v1", "secret", "user", "ai", 1.0, 0)
    with pytest.raises(EndpointError, match=r"cannot be reached \(.*\): check USER_SIMULATOR_URL"):
        user_simulator.converse(QUESTION, nobody)


def test_missing_variables_are_named_and_explained():
    environment = {"USER_SIMULATOR_URL": "http://localhost/v1", "USER_SIMULATOR_KEY": ""}
    with pytest.raises(user_simulator.NoEndpointError) as failure:
        user_simulator.endpoint_from(environment)
    assert str(failure.value).splitlines() == [
        "No endpoint is set. Set these variables:",
        "  USER_SIMULATOR_KEY: its key; any word if it asks for none",
        "  USER_SIMULATOR_MODEL: model that plays the user",
        "  USER_SIMULATOR_AI: model that the user talks with",
    ]


def test_an_endpoint_is_read_from_the_environment_and_does_not_show_its_key():
    environment = dict(zip(user_simulator.VARIABLES, ["url", "secret", "u", "a"], strict=True))
    found = user_simulator.endpoint_from(environment)
    assert (found.url, found.key, found.user_model, found.ai_model) == ("url", "secret", "u", "a")
    assert "secret" not in repr(found)


def test_conversations_are_kept_in_a_file(server, tmp_path):
    file = tmp_path / "new" / "talks.jsonl"
    held = user_simulator.run(QUESTIONS, endpoint(server), file, n_runs=2)
    assert held["question_id"].tolist() == ["q1", "q1", "q2", "q2"]
    assert held["run"].tolist() == [1, 2, 1, 2]
    assert set(held["answer"]) == {"B"}
    pd.testing.assert_frame_equal(tables.read_jsonl(file), held)


def test_a_finished_file_needs_no_endpoint(server, tmp_path):
    file = tmp_path / "talks.jsonl"
    held = user_simulator.run(QUESTIONS, endpoint(server), file, n_runs=1)
    asked = len(server.asked)
    pd.testing.assert_frame_equal(
        user_simulator.run(QUESTIONS, endpoint(server), file, n_runs=1), held
    )
    assert len(server.asked) == asked


def test_after_a_failure_finished_questions_are_kept_and_a_new_run_goes_on(server, tmp_path):
    file = tmp_path / "talks.jsonl"
    server.user_replies = iter(["hello?", "Answer: A", "hello?", " "])
    with pytest.raises(ReplyError, match=r"^question q2: .* Finished questions are kept; run ag"):
        user_simulator.run(QUESTIONS, endpoint(server), file, n_runs=1)
    assert tables.read_jsonl(file)["question_id"].tolist() == ["q1"]
    assert [each.name for each in tmp_path.iterdir()] == ["talks.jsonl"]
    server.user_replies = iter(["hello?", "Answer: D"])
    held = user_simulator.run(QUESTIONS, endpoint(server), file, n_runs=1)
    assert held["answer"].tolist() == ["A", "D"]


def test_a_conversation_without_an_answer_stays_without_one_in_the_file(server, tmp_path):
    file = tmp_path / "talks.jsonl"
    server.user_replies = iter(["hello?", "hm", "hello?", "Answer: D"])
    arguments = {"n_runs": 1, "max_messages": 1}
    user_simulator.run(QUESTIONS, endpoint(server), file, **arguments)
    again = user_simulator.run(QUESTIONS, endpoint(server), file, **arguments)
    assert again["answer"].isna().tolist() == [True, False]
    assert [json.loads(line)["answer"] for line in file.read_text().splitlines()] == [None, "D"]


def test_conversations_of_other_models_are_not_mixed(server, tmp_path):
    file = tmp_path / "talks.jsonl"
    user_simulator.run(QUESTIONS, endpoint(server), file, n_runs=1)
    message = r"talks.jsonl was made with user_model 'user', not 'new': delete it or choose"
    with pytest.raises(SimulatorError, match=message):
        user_simulator.run(QUESTIONS, endpoint(server, user_model="new"), file, n_runs=1)


def test_a_damaged_file_is_refused_and_left_alone(server, tmp_path):
    file = tmp_path / "talks.jsonl"
    file.write_text('{"question_id": "q1"\n')
    with pytest.raises(tables.BadTableError, match=r"talks.jsonl: 1 problem.*\n  line 1, char"):
        user_simulator.run(QUESTIONS, endpoint(server), file, n_runs=1)
    assert file.read_text() == '{"question_id": "q1"\n'
