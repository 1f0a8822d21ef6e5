import re

import pandas as pd
import pytest

from helpers.files import tables


def one_problem(text):
    return f"ratings.jsonl: 1 problem. Correct the file and load it again.\n  {text}"


def test_columns_needed_to_read_a_file_are_asked_for_by_the_names_of_the_file():
    with pytest.raises(tables.BadTableError) as caught:
        tables.require(pd.DataFrame({"model": []}), ["dataset", "model", "length"], "a.parquet")
    assert str(caught.value).splitlines() == [
        "a.parquet: 2 problems. Correct the file and load it again.",
        "  column 'dataset' is missing",
        "  column 'length' is missing",
    ]


def test_a_reference_to_nothing_is_named_with_its_row():
    values = pd.Series(["a1", "a2"], name="assignment_id", index=[5, 6])
    text = "column 'assignment_id', row 2: 'a2' is not in assignments.jsonl"
    with pytest.raises(tables.BadTableError, match=f"^{re.escape(one_problem(text))}$"):
        tables.require_known(values, ["a1"], "assignments.jsonl", "ratings.jsonl")


def test_a_line_that_is_not_json_is_named_by_file_and_line(tmp_path):
    path = tmp_path / "ratings.jsonl"
    path.write_text('{"a": 1}\n\n{"a": 2\n')
    text = "line 3, character 9: not valid JSON (Expecting ',' delimiter)"
    with pytest.raises(tables.BadTableError, match=f"^{re.escape(one_problem(text))}$"):
        tables.read_jsonl(path)


def test_a_line_that_is_no_object_is_named_by_file_and_line(tmp_path):
    path = tmp_path / "ratings.jsonl"
    path.write_text('{"a": 1}\n[1, 2]\n')
    text = "line 2: a JSON object is needed, found list"
    with pytest.raises(tables.BadTableError, match=f"^{re.escape(one_problem(text))}$"):
        tables.read_jsonl(path)


def test_blank_lines_are_skipped_and_objects_within_objects_become_columns(tmp_path):
    path = tmp_path / "ratings.jsonl"
    path.write_text('{"id": "a", "label": {"refusal": "No"}}\n\n{"id": "ü"}\n', encoding="utf-8")
    frame = tables.read_jsonl(path)
    assert frame["id"].tolist() == ["a", "ü"]
    assert frame["label.refusal"].isna().tolist() == [False, True]


def test_all_bad_lines_are_listed(tmp_path):
    path = tmp_path / "ratings.jsonl"
    path.write_bytes(b'\xff\n{"a": 1, "a": 2}\n{"a": 1}\n' + b"[" * 100_000 + b"\n")
    with pytest.raises(tables.BadTableError) as caught:
        tables.read_jsonl(path)
    assert str(caught.value).splitlines() == [
        "ratings.jsonl: 3 problems. Correct the file and load it again.",
        "  line 1: not UTF-8",
        "  line 2: a key stands there twice",
        "  line 4: too many JSON values within each other",
    ]


def test_objects_within_objects_without_end_are_refused(tmp_path):
    path = tmp_path / "ratings.jsonl"
    path.write_text('{"a":' * 5000 + "1" + "}" * 5000)
    with pytest.raises(tables.BadTableError, match=r"within each other( too many times)?$"):
        tables.read_jsonl(path)


def test_a_key_that_is_no_text_is_refused(tmp_path):
    path = tmp_path / "ratings.jsonl"
    path.write_text('{"\\ud800": 1}')
    text = "a key holds half a character, written \\ud…"
    with pytest.raises(tables.BadTableError, match=f"^{re.escape(one_problem(text))}$"):
        tables.read_jsonl(path)


@pytest.mark.parametrize("read", [tables.read_jsonl, tables.read_csv, tables.read_parquet])
def test_a_file_that_cannot_be_read_is_named(tmp_path, read):
    with pytest.raises(
        tables.BadTableError, match=r"^gone\.x: 1 problem\..*\n  the file cannot be"
    ):
        read(tmp_path / "gone.x")


def test_a_file_that_holds_no_text_is_named(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_bytes(b"a,b\n\xff,1\n")
    with pytest.raises(tables.BadTableError, match=r"^ratings\.csv: 1 problem.*\n.*can't decode"):
        tables.read_csv(path)


def test_a_column_that_stands_there_twice_is_refused():
    twice = pd.DataFrame([[1, 2]], columns=["model", "model"])
    with pytest.raises(tables.BadTableError, match="column 'model' stands there 2 times"):
        tables.require(twice, ["model"], "a.parquet")


def test_long_cells_are_cut_in_messages():
    assert tables.cell("x" * 10**6) == f"'{'x' * 40}…'"
    assert len(tables.cell(list(range(10**5)))) == 81
    assert tables.cell("short") == "'short'"


def test_more_problems_can_be_shown_on_request():
    message = str(tables.bad_table("a.csv", [str(number) for number in range(30)], shown=20))
    assert message.splitlines()[-2:] == ["  19", "  ... and 10 more"]


def test_readers_of_a_notebook_see_the_message_and_no_code():
    error = tables.bad_table("a.csv", ["column 'x' is missing"])
    assert error._render_traceback_() == [f"BadTableError: {error}"]
