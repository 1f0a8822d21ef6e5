import datetime

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from helpers.files import ratings
from helpers.files.tables import BadTableError

TABLE = pd.DataFrame({"item": ["q1", "q2"], "tone": [3, 5], "note": ["a, b", "ü"]})


def write(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read(path, columns=("item", "tone")):
    return ratings.read_columns(path, columns)


def refusal(path, columns=("item", "tone")):
    with pytest.raises(BadTableError) as caught:
        read(path, columns)
    return str(caught.value)


def one_problem(name, problem):
    return f"{name}: 1 problem. Correct the file and load it again.\n  {problem}"


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.parquet", "a.jsonl", "a.ndjson", "a.CSV"])
def test_every_format_gives_the_same_values(tmp_path, name):
    path = tmp_path / name
    if name.endswith("parquet"):
        TABLE.to_parquet(path)
    elif "json" in name:
        TABLE.to_json(path, orient="records", lines=True)
    else:
        TABLE.to_csv(path, index=False, sep="\t" if name.endswith("tsv") else ",")
    raw = read(path, ["note", "tone"])
    assert raw.problems == []
    assert raw.columns["note"].tolist() == ["a, b", "ü"]
    assert [int(value) for value in raw.columns["tone"]] == [3, 5]
    assert ratings.column_names(path) == ["item", "tone", "note"]


@pytest.mark.parametrize("start", ["", "\ufeff"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_text_files_of_any_spreadsheet_can_be_read(tmp_path, start, delimiter, end):
    rows = [["item", " tone "], ['"a,b"', "3"]]
    text = start + end.join(delimiter.join(row) for row in rows) + end
    raw = read(write(tmp_path, "a.csv", text))
    assert raw.columns.iloc[0].tolist() == ["a,b", "3"]


def test_rows_of_a_csv_file_are_counted_as_in_a_spreadsheet(tmp_path):
    text = 'item,tone\n"two\nlines",1\n\n,\nq4,2\nq5\nq6,3,4\nq7,5\n\n'
    raw = read(write(tmp_path, "a.csv", text))
    assert raw.columns["tone"].to_dict() == {2: "1", 5: "2", 8: "5"}
    assert raw.columns.index.name == "row"
    assert raw.problems == ["row 6 has 1 of 2 cells", "row 7 has 3 of 2 cells"]


def test_objects_are_counted_by_line(tmp_path):
    text = '{"item": "a", "tone": 1}\n\n{"item": "b", "tone": [1]}\n7\n{"tone": 2}\n'
    raw = read(write(tmp_path, "a.jsonl", text))
    assert raw.columns["tone"].dropna().to_dict() == {1: 1, 5: 2}
    assert raw.columns.index.name == "line"
    assert raw.problems == [
        "line 4: a JSON object is needed, found int",
        "column 'tone' holds a list or an object in line 3",
    ]


def test_rows_of_a_parquet_file_are_counted_from_one(tmp_path):
    path = tmp_path / "a.parquet"
    table = pa.table(
        {"item": pa.array(["a", None, "b"]).dictionary_encode(), "tone": [1.5, None, 2]}
    )
    pa.parquet.write_table(table, path)
    assert read(path).columns["tone"].to_dict() == {1: 1.5, 3: 2.0}


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([[1], [2]], "list<element: int64>"),
        ([datetime.date(2024, 1, 1)] * 2, "date32[day]"),
        ([b"x", b"y"], "binary"),
        ([{"a": 1}] * 2, "struct<a: int64>"),
    ],
)
def test_parquet_columns_that_hold_no_ratings_are_named(tmp_path, values, kind):
    path = tmp_path / "a.parquet"
    pa.parquet.write_table(pa.table({"item": ["a", "b"], "tone": pa.array(values)}), path)
    assert read(path).problems == [f"column 'tone' holds {kind}; numbers or text are needed"]


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("item,tones\na,1\n", ["column 'tone' is missing; did you mean 'tones'?"]),
        ("item,x\na,1\n", ["column 'tone' is missing; there are 'item', 'x'"]),
        (
            f"item,{','.join('abcdefghijklm')}\n",
            [
                "column 'tone' is missing; there are 'item', 'a', 'b', 'c', 'd', 'e', 'f', 'g', "
                "'h', 'i', 'j', 'k' and others"
            ],
        ),
        ("item,tone,tone\na,1,2\n", ["column 'tone' stands there 2 times; rename all but one"]),
    ],
)
def test_columns_that_cannot_be_read_are_named(tmp_path, text, problems):
    assert read(write(tmp_path, "a.csv", text)).problems == problems


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.csv", b"", "row 1 is empty; the names of the columns must stand there"),
        ("a.csv", b"\n\nitem,tone\n", "row 1 is empty; the names of the columns must stand there"),
        ("a.csv", b"item,tone\n", "there are no rows"),
        ("a.csv", b"item,tone\n,\n \n", "there are no rows"),
        ("a.csv", b"item,tone\n\xe9,1\n", "line 2 is not UTF-8; save the file as 'CSV UTF-8'"),
        (
            "a.csv",
            "item,tone\na,1\n".encode("utf-16"),
            "line 1 is not UTF-8; save the file as 'CSV UTF-8'",
        ),
        (
            "a.csv",
            b"x" * 200_000 + b",tone\n",
            "the file cannot be read as a table of cells (field larger than field limit (131072))",
        ),
        ("a.jsonl", b"\n", "the file is empty"),
        ("a.jsonl", b"\xff\n", "line 1: not UTF-8"),
        ("a.jsonl", b'{"a": 1, "a": 2}\n', "line 1: a key stands there twice"),
        ("a.jsonl", b"[" * 100_000, "line 1: too many JSON values within each other"),
        (
            "a.jsonl",
            b'{"a": ' + b"9" * 5000 + b"}",
            "line 1: Exceeds the limit (4300 digits) for integer string conversion",
        ),
        (
            "a.parquet",
            b"PAR1",
            "the file cannot be read as a Parquet file (Parquet file size is 4 bytes, smaller than "
            "the minimum file footer (8 bytes))",
        ),
    ],
)
def test_a_file_that_is_not_what_its_name_says_is_refused(tmp_path, name, content, problem):
    assert refusal(write(tmp_path, name, content)) == one_problem(name, problem)


def test_a_damaged_parquet_file_is_refused(tmp_path):
    path = tmp_path / "a.parquet"
    TABLE.to_parquet(path)
    content = bytearray(path.read_bytes())
    content[4:60] = bytes(56)
    path.write_bytes(content)
    assert "a.parquet: 1 problem." in refusal(path, ["item", "tone", "note"])


def test_a_file_is_looked_for_in_the_working_folder_before_the_project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = "data/example/ratings.csv"
    in_project = ratings.find(name)
    (tmp_path / "data" / "example").mkdir(parents=True)
    write(tmp_path, name, "tone\n1\n")
    assert in_project.is_absolute()
    assert ratings.find(name).read_text() == "tone\n1\n"


@pytest.mark.parametrize("name", ["no.csv", "a\0b.csv", "x" * 5000, "..", ""])
def test_a_name_without_a_file_is_refused(name):
    with pytest.raises(BadTableError, match=r"there is no such file\. A relative name"):
        ratings.find(name)


def test_a_file_of_another_format_is_refused(tmp_path):
    path = write(tmp_path, "a.xlsx", "x")
    message = (
        "a.xlsx: the format is told by the end of the name, and known are .csv, .tsv, .parquet, "
        r".jsonl, .ndjson. Save the file as one of these\."
    )
    with pytest.raises(BadTableError, match=f"^{message}$"):
        ratings.find(path)


def test_a_file_that_may_not_be_read_is_refused(tmp_path):
    assert "the file cannot be read as text" in refusal(tmp_path / "gone.csv")
    assert "the file cannot be read as text" in refusal(tmp_path / "gone.jsonl")
