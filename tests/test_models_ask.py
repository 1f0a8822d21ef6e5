"""Asking a model: endpoint, faults and retries, likelihoods, the installed model."""

import json
import sys

import pandas as pd
import pytest
from fake_endpoint import chat, serving

from helpers.data.tables import OptionError
from helpers.models import answers, ask, prompts
from helpers.models.ask import Model, ModelError

KEY = "sk-secret"
HELLO = [{"role": "user", "content": "hello?"}]


@pytest.fixture(autouse=True)
def settings(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")  # is not used
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.setattr(ask, "PAUSE", 0)
    for name in ("MODEL_URL", "MODEL_NAME", "MODEL_KEY"):
        monkeypatch.delenv(name, raising=False)


def test_an_endpoint_gets_messages_settings_and_key():
    with serving(lambda body: chat(" hello! \n")) as server:
        model = Model("one", server.url, KEY)
        assert model.chat(HELLO, temperature=0.5, max_tokens=9, seed=7) == "hello!"
    (asked,) = server.asked
    assert asked["path"] == "/v1/chat/completions"
    assert asked["headers"]["Authorization"] == f"Bearer {KEY}"
    sent = {name: asked[name] for name in ("model", "messages", "temperature", "seed")}
    assert sent == {"model": "one", "messages": HELLO, "temperature": 0.5, "seed": 7}
    assert asked["max_tokens"] == 9


def test_the_variables_name_an_endpoint(monkeypatch):
    monkeypatch.setenv("MODEL_URL", "http://localhost:1/v1")
    with pytest.raises(ModelError, match="MODEL_NAME is not: name the model"):
        ask.connect()
    monkeypatch.setenv("MODEL_NAME", "large")
    monkeypatch.setenv("MODEL_KEY", KEY)
    assert ask.connect() == Model("large", "http://localhost:1/v1", KEY)


@pytest.mark.parametrize(
    ("url", "key", "message"),
    [
        ("localhost:8000", "", "MODEL_URL must look like"),
        ("http://me:secret@localhost/v1", "", "without user name"),
        ("http://localhost/v1?key=secret", "", "question mark"),
        ("http://localhost/v1", "secret\n", "MODEL_KEY has blanks, line breaks"),
    ],
)
def test_addresses_and_keys_that_cannot_be_used_are_refused(url, key, message):
    with pytest.raises(ModelError, match=message) as error:
        Model("one", url, key)
    assert "secret" not in str(error.value)


def test_a_passing_fault_is_tried_again():
    replies = [(503, b""), (429, b""), chat("now")]
    with serving(lambda body: replies.pop(0)) as server:
        assert Model("one", server.url).chat(HELLO) == "now"
        assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("status", "content", "n_requests", "reason"),
    [
        (401, b"", 1, "status 401"),
        (302, b"", 1, "status 302"),
        (500, b"", 3, "status 500"),
        (200, b"no JSON", 1, "JSONDecodeError"),
        (200, b"{}", 1, "its reply holds no text"),
        (200, chat(None)[1], 1, "its reply holds no text"),
    ],
)
def test_faults_are_named_and_never_show_the_key(status, content, n_requests, reason):
    with serving(
        lambda body: (status, content + KEY.encode() * (status == 401))
    ) as server:
        model = Model(f"one {KEY}", server.url, KEY, retries=2)
        with pytest.raises(ModelError, match=reason) as error:
            model.chat(HELLO)
    assert len(server.asked) == n_requests
    assert KEY not in str(error.value)
    assert KEY not in repr(model).replace(model.name, "")
    assert error.value.__cause__ is None


def test_a_reply_hides_the_key_that_it_repeats():
    with serving(lambda body: chat(f"your key is {KEY}")) as server:
        assert Model("one", server.url, KEY).chat(HELLO) == "your key is [key]"


def test_a_silent_endpoint_and_none_are_given_up():
    with serving(lambda body: chat("late")) as server:
        server.seconds = 0.5
        model = Model("one", server.url, timeout=0.05, retries=1)
        with pytest.raises(ModelError, match=r"from 127.0.0.1:\d+ \(Conn|ReadTimeout"):
            model.chat(HELLO)
        assert len(server.asked) == 2
        address = server.url
    with pytest.raises(ModelError, match="ConnectionError"):
        Model("one", address, retries=0).chat(HELLO)


def test_the_likelihood_counts_the_text_and_not_its_prompt():
    def reply(body):
        assert body["echo"]
        found = {
            "tokens": ["The", " sky", " is", " blue", "."],
            "text_offset": [0, 3, 7, 10, 15],
            "token_logprobs": [None, -2.0, -1.0, -0.5, -9.0],
        }
        return 200, json.dumps({"choices": [{"logprobs": found}]}).encode()

    with serving(reply) as server:
        model = Model("one", server.url)
        assert model.log_likelihood("The sky is", " blue") == (1, -0.5)
        assert model.log_likelihood("", "The sky is blue") == (3, -3.5)
        assert server.asked[0]["prompt"] == "The sky is blue"
        with pytest.raises(ModelError, match="text is empty"):
            model.log_likelihood("The sky is", "")


def test_an_endpoint_without_likelihoods_says_what_it_lacks():
    with serving(lambda body: (200, b'{"choices": [{"text": "x"}]}')) as server:
        model = Model("one", server.url)
        with pytest.raises(ModelError, match="it needs `echo` and `logprobs`"):
            model.log_likelihood("a", "b")


def test_without_any_model_one_sentence_says_how_to_get_one(monkeypatch):
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(ModelError, match="install the small one with `make models`"):
        ask.connect()
    monkeypatch.setattr(ask, "SMALL_PACKAGE", "no-such-package")
    with pytest.raises(ModelError, match="make models"):
        ask.small_model_file()


JOBS = pd.DataFrame({"item": ["a", "b", "c"], "text": ["one", "three", "eleven"]})
ABOUT = {"model": "none"}


def length(job):
    """Answer a job."""
    return {"length": len(job["text"])}


def test_a_stopped_run_goes_on_where_it_was(tmp_path):
    file = tmp_path / "deep" / "answers.jsonl"
    done = []

    def stopped(job):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(job["item"])
        return length(job)

    with pytest.raises(KeyboardInterrupt):
        answers.collect(stopped, JOBS, ["item"], ABOUT, file)
    # the last line is cut off, as when the machine stops
    file.write_text(file.read_text() + '{"item": "c", "len')
    table = answers.collect(
        lambda job: done.append(job["item"]) or length(job), JOBS, ["item"], ABOUT, file
    )
    assert done == ["a", "b", "c"]
    assert table["length"].tolist() == [3, 5, 6]
    assert table["model"].unique().tolist() == ["none"]
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert lines[0] == ABOUT | {"prompts": prompts.digest()}
    assert [line["item"] for line in lines[1:]] == ["a", "b", "c"]
    again = answers.collect(None, JOBS[::-1], ["item"], ABOUT, file)
    assert again["item"].tolist() == ["c", "b", "a"]


def test_answers_of_different_models_or_prompts_are_not_mixed(tmp_path, monkeypatch):
    file = tmp_path / "answers.jsonl"
    answers.collect(length, JOBS, ["item"], ABOUT, file)
    with pytest.raises(OptionError, match="delete it to begin anew"):
        answers.collect(length, JOBS, ["item"], {"model": "another"}, file)
    monkeypatch.setattr(prompts, "digest", lambda: "changed")
    with pytest.raises(OptionError, match="with the settings"):
        answers.collect(length, JOBS, ["item"], ABOUT, file)
    with pytest.raises(OptionError, match="Two jobs have the same item"):
        answers.collect(length, JOBS.assign(item="a"), ["item"], ABOUT)
    with pytest.raises(OptionError, match="has no row"):
        answers.collect(length, JOBS[:0], ["item"], ABOUT)


def test_several_jobs_at_once_keep_their_order():
    table = answers.collect(length, JOBS, ["item"], ABOUT, n_at_once=3)
    assert table["item"].tolist() == ["a", "b", "c"]
    assert table["length"].tolist() == [3, 5, 6]
