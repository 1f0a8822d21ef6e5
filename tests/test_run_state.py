"""What one run leaves to the next."""

import json

import pytest
from doit.dependency import JSONCodec

from helpers import paths
from helpers.run import state
from helpers.run.state import State


@pytest.fixture
def file(tmp_path):
    return tmp_path / ".doit.json"


def reopened(file):
    return State(str(file), JSONCodec())


def test_a_task_is_saved_when_the_last_of_it_is_noted_and_in_one_step(file):
    first = reopened(file)
    first.set("a", "_values_:", {"x": 1})
    assert not file.exists()
    first.set("a", "deps:", ["b"])
    assert reopened(file).get("a", "deps:") == ["b"]
    assert [each.name for each in file.parent.iterdir()] == [".doit.json"]


@pytest.mark.parametrize(
    "content", [b"", b'{"a": {"de', b"\xff\x00", b"[]", b'{"a": 1}', b"[" * 9999]
)
def test_a_damaged_state_is_told_of_and_begun_anew(file, content, capsys):
    file.write_bytes(content)
    damaged = reopened(file)
    assert "was damaged: nothing counts as done" in capsys.readouterr().out
    damaged.set("a", "deps:", [])
    assert reopened(file).in_("a")
    assert capsys.readouterr().out == ""


def test_a_state_that_cannot_be_saved_stops_nothing(file, capsys):
    file.mkdir()
    reopened(file).set("a", "deps:", [])
    assert ".doit.json could not be saved: Is a directory" in capsys.readouterr().err


def test_what_is_missing_is_noted_until_it_is_there_or_its_notebook_has_gone(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "NOTEBOOKS", tmp_path)
    for name in ("10_a", "11_b"):
        (tmp_path / f"{name}.ipynb").touch()
        state.note_missing(tmp_path, name, f"why {name}")
    assert state.missing(tmp_path) == {"10_a": "why 10_a", "11_b": "why 11_b"}
    state.note_missing(tmp_path, "10_a", "")
    assert json.loads((tmp_path / "missing.json").read_text()) == {"11_b": "why 11_b"}
    (tmp_path / "11_b.ipynb").unlink()
    assert state.missing(tmp_path) == {}
