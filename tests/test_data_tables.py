import pandas as pd
import pytest

from helpers.data import tables
from helpers.data.tables import BadTableError

FRAME = pd.DataFrame(
    {
        "refusal": [0, 1, 0, 1],
        "scope": [0.0, 0.0, 1.0, 1.0],
        "quality": [5.0, 2.0, 4.0, 1.0],
        "task": ["amazon", "amazon", "wikihow", "wikihow"],
    },
    index=["a", "b", "c", "d"],
)


def refusal(check, *arguments):
    """What a file is refused for, after the first line, which counts the problems."""
    with pytest.raises(BadTableError) as caught:
        check(*arguments)
    first, *others = str(caught.value).splitlines()
    count = f"{len(others)} problem{'s' if len(others) > 1 else ''}"
    assert first == f"a.jsonl: {count}. Correct the file and load it again."
    return [line.removeprefix("  ") for line in others]


def written(tmp_path, content):
    path = tmp_path / "a.jsonl"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_columns_needed_to_read_a_file_are_asked_for_by_the_names_of_the_file():
    frame = pd.DataFrame([[1, 2, 3]], columns=["x", "x", "y"])
    assert refusal(
        tables.require, frame, ["dataset", "x", "y", "length"], "a.jsonl"
    ) == [
        "column 'dataset' is missing; there are 'x', 'x', 'y'",
        "column 'x' stands there 2 times; rename all but one",
        "column 'length' is missing; there are 'x', 'x', 'y'",
    ]


def test_a_reference_to_nothing_is_named_with_its_row():
    values = pd.Series(["a1", "a2"], name="id", index=[5, 6])
    text = "column 'id', row 2: 'a2' is not in b.jsonl"
    assert refusal(tables.require_known, values, ["a1"], "b.jsonl", "a.jsonl") == [text]


def test_blank_lines_are_skipped_and_objects_within_objects_become_columns(tmp_path):
    text = '\ufeff{"id": "a", "label": {"refusal": "No"}}\n\n{"id": "ü"}\n'
    path = written(tmp_path, text)
    frame = tables.read_jsonl(path)
    assert frame["id"].tolist() == ["a", "ü"]
    assert frame["label.refusal"].isna().tolist() == [False, True]
    assert tables.json_records(path)[3] == {"id": "ü"}


def test_all_bad_lines_are_listed(tmp_path):
    lines = [
        b"\xff",
        b'{"a": 1, "a": 2}',
        b'{"a": 1}',
        b"[1]",
        b'{"a": 2',
        b"[" * 100_000,
    ]
    assert refusal(tables.read_jsonl, written(tmp_path, b"\n\n".join(lines))) == [
        "line 1: not UTF-8",
        "line 3: a key stands there twice",
        "line 7: a JSON object is needed, found list",
        "line 9, character 9: not valid JSON (Expecting ',' delimiter)",
        "line 11: too many JSON values within each other",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a":' * 5000 + "1" + "}" * 5000, "within each other"),
        ('{"\\ud800": 1}', "a key holds half a character, written \\ud…"),
    ],
)
def test_objects_that_make_no_table_are_refused(tmp_path, text, problem):
    (found,) = refusal(tables.read_jsonl, written(tmp_path, text))
    assert problem in found


@pytest.mark.parametrize(
    "read", [tables.read_jsonl, tables.read_csv, tables.read_parquet]
)
def test_a_file_that_cannot_be_read_is_named(tmp_path, read):
    assert refusal(read, tmp_path / "a.jsonl")[0].startswith(
        "the file cannot be read as "
    )


def test_long_cells_and_reasons_are_cut_in_messages(tmp_path):
    assert tables.cell("x" * 40) == f"'{'x' * 40}'"
    assert tables.cell("x" * 41) == f"'{'x' * 40}…'"
    assert tables.cell(10**79) == str(10**79)
    assert tables.cell(10**80) == f"{10**79}…"
    error = tables.unreadable(
        tmp_path / "a.csv", "text", ValueError("x" * 121 + "\nmore")
    )
    assert f"(the file cannot be read as text ({'x' * 120}…)"[1:] in str(error)


def test_ten_problems_are_shown_unless_more_are_wanted():
    numbers = [str(number) for number in range(30)]
    assert str(tables.bad_table("a.csv", numbers)).splitlines()[-2:] == [
        "  9",
        "  ... and 20 more",
    ]
    assert str(tables.bad_table("a.csv", numbers, shown=30)).splitlines()[-1] == "  29"


def test_readers_of_a_notebook_see_the_message_and_no_code():
    error = tables.bad_table("a.csv", ["column 'x' is missing"])
    assert error._render_traceback_() == [f"BadTableError: {error}"]


def test_cells_of_one_kind_get_its_type():
    frame = pd.DataFrame({"x": ["a", "ü"], "y": [1, None]}, dtype=object)
    assert tables.as_text(frame, ["x"], "a.jsonl")["x"].dtype == "str"
    assert tables.as_numbers(frame, ["y"], "a.jsonl")["y"].dtype == float


@pytest.mark.parametrize(
    ("check", "kind", "found"),
    [
        (
            tables.as_text,
            "text",
            {
                7: "int",
                None: "nothing",
                ("bob",): "tuple",
                "\ud800": "broken text",
                True: "bool",
            },
        ),
        (
            tables.as_numbers,
            "a number",
            {
                "3": "text",
                True: "bool",
                2**63: "too large a number",
                -1e400: "too large a number",
            },
        ),
        (
            tables.require_plain,
            "text or a number",
            {
                ("a",): "tuple",
                pd.Timestamp(0): "Timestamp",
                2**63: "too large a number",
            },
        ),
    ],
)
def test_cells_of_another_kind_are_named_by_row_and_kind_without_their_value(
    check, kind, found
):
    right = (
        ["anna"] if check is tables.as_text else [2**62, 2.5, None, pd.NA, float("nan")]
    )
    right += ["a", True] if check is tables.require_plain else []
    frame = pd.DataFrame({"x": pd.Series([*right, *found], dtype=object)})
    assert refusal(check, frame, ["x"], "a.jsonl") == [
        f"column 'x', row {row}: {kind} is needed, found {name}"
        for row, name in enumerate(found.values(), start=len(right) + 1)
    ]
    assert refusal(check, frame, ["y"], "a.jsonl") == [
        "column 'y' is missing; there are 'x'"
    ]


@pytest.mark.parametrize(
    "text", ["=1+1", "+x", "-2+3+cmd|' /C calc'!A0", "@SUM(A1)", "\t=1", "\r=1"]
)
def test_no_cell_label_or_name_is_written_as_a_formula(text):
    frame = pd.DataFrame({text: [text]}, index=pd.Index([text], name="aspect"))
    header, row = tables.to_csv_bytes(frame).decode().split("\n")[:2]
    assert header == f"aspect,'{text}"
    assert row == f"'{text},'{text}"


def test_numbers_and_intervals_with_a_sign_are_written_as_they_are():
    texts = [
        "-0.5",
        "+3",
        "-2.81 [-2.99, -2.62], p < 0.001",
        "-5.25 to -3.50",
        "-",
        "-inf",
        "a=1",
    ]
    frame = pd.DataFrame({"text": texts, "n": -0.5}).assign(
        k=pd.array([-1] * 7, dtype="Int64")
    )
    assert tables.to_csv_bytes(frame, index=False) == frame.to_csv(index=False).encode()
    assert tables.to_csv_bytes(frame[:0], index=False) == b"text,n,k\n"
