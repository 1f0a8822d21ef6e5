"""Files as tables of cells: formats, encodings, delimiters, files that fill a disk."""

import gzip
import json
import zipfile

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from workbooks import workbook

from helpers.data.tables import BadTableError, OptionError
from ratings import formats, recipes

ROWS = [
    {"item_id": "a", "overall": 4, "tone": 1},
    {"item_id": "ü", "overall": 5, "tone": 2},
]


def read(path):
    return recipes.read(
        path, {"outcome": "overall", "aspects": ["tone"], "item": "auto"}
    )


def written(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def cells(path, **reading):
    with formats.opened(path, reading) as (_, names, load):
        table, problems = load(names)
    assert not problems
    return [names, *table.to_numpy().tolist()]


@pytest.mark.parametrize(
    "ending", ["csv", "tsv", "txt", "json", "jsonl", "parquet", "xlsx"]
)
@pytest.mark.parametrize("packed", [False, True])
def test_every_format_gives_the_same_ratings_also_packed(tmp_path, ending, packed):
    table, path = pd.DataFrame(ROWS), tmp_path / f"a.{ending}"
    if ending == "xlsx":
        path = workbook(tmp_path, [list(table), *table.to_numpy().tolist()])
    elif ending == "parquet":
        table.to_parquet(path)
    elif ending == "json":
        path.write_text(json.dumps({"about": 1, "rows": ROWS}))
    elif ending == "jsonl":
        table.to_json(path, orient="records", lines=True)
    else:
        table.to_csv(path, index=False, sep="\t" if ending == "tsv" else "|")
    if packed:
        path = written(tmp_path, f"{path.name}.gz", gzip.compress(path.read_bytes()))
    found = read(path)
    assert found[["item_id", "overall", "tone"]].to_numpy().tolist() == [
        ["a", 4, 1],
        ["ü", 5, 2],
    ]


@pytest.mark.parametrize(
    ("content", "reading"),
    [
        ("a|b\n1|2\n", {}),
        ("a~b\n1~2\n", {"delimiter": "~"}),
        ("\ufeffa;b\n1;2\n".encode("utf-16"), {}),
        (b"a,b\n1,\xe9\n", {"encoding": "cp1252"}),
        ('a\tb\n1\t"2\n', {"quotes": "none"}),
    ],
)
def test_text_is_read_as_it_is_marked_or_told(tmp_path, content, reading):
    names, row = cells(written(tmp_path, "a.csv", content), **reading)
    assert names == ["a", "b"]
    assert row[1] in ("2", "é", '"2')


def test_objects_within_objects_get_dotted_names(tmp_path):
    path = written(
        tmp_path, "a.json", json.dumps([{"a": {"b": 1, "c": {}}, "d": [1, 2]}])
    )
    assert cells(path) == [["a.b", "a.c", "d"], [1, {}, [1, 2]]]


def test_records_are_the_longest_list_of_objects_unless_told(tmp_path):
    document = {"metrics": [{"m": 1}], "rows": [{"r": 1}, {"r": 2}], "note": "x"}
    path = written(tmp_path, "a.json", json.dumps(document))
    assert cells(path) == [["r"], [1], [2]]
    assert cells(path, records="metrics") == [["m"], [1]]
    assert cells(written(tmp_path, "b.json", '{"ann": {"i1": 3}}')) == [["ann.i1"], [3]]
    with pytest.raises(BadTableError, match="no list of objects under 'other'"):
        cells(path, records="other")


def test_a_file_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(formats, "LARGEST_FILE", 1000)
    bomb = written(
        tmp_path, "a.csv.gz", gzip.compress(b"overall,tone\n" + b"1,2\n" * 10**6)
    )
    with pytest.raises(BadTableError, match="unpacked it has more than"):
        read(bomb)
    with pytest.raises(BadTableError, match="unpacked it has more than"):
        read(workbook(tmp_path, [["overall", "tone"], *[[1, 2]] * 99]))
    monkeypatch.setattr(formats, "MOST_CELLS", 3)
    pa.parquet.write_table(
        pa.table({"overall": [1, 2], "tone": [1, 2]}), tmp_path / "a.parquet"
    )
    with pytest.raises(BadTableError, match="more than 3 cells; divide it"):
        read(tmp_path / "a.parquet")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "a.doc",
            b"x",
            "the format is told by the end of the name, and known are .csv, .tsv",
        ),
        ("a.csv.gz", b"x", "the file cannot be read as a gz file"),
        ("a.xlsx", b"x", "the file cannot be read as an Excel file"),
        ("a.json", b"{", "the file cannot be read as JSON"),
        ("a.json", b"[" * 9000, "the file cannot be read as JSON|too many JSON values"),
        (
            "a.json",
            b"[1]",
            "it holds no list of objects, and no object with such a list",
        ),
        ("a.json", b'{"a": ' * 500 + b"1" + b"}" * 500, "column 'overall' is missing"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_message(tmp_path, name, content, message):
    with pytest.raises(BadTableError, match=message):
        read(written(tmp_path, name, content))


def test_an_unknown_encoding_is_named(tmp_path):
    with pytest.raises(OptionError, match="unknown encoding: klingon"):
        cells(written(tmp_path, "a.csv", "a\n1\n"), encoding="klingon")


def test_a_sheet_that_is_not_there_is_told_with_those_that_are(tmp_path):
    path = workbook(tmp_path, [["tone"], [1]], {"notes": [["tone"]]})
    with pytest.raises(BadTableError, match=r"no sheet 'note'; there are 'S', 'notes'"):
        cells(path, sheet="note")


def test_a_sheet_with_nothing_to_read_is_named(tmp_path):
    path = workbook(tmp_path, [["tone"], [1]])
    opened = formats.opened(path, {}, ["1", "2"])
    with pytest.raises(BadTableError, match="the sheet is empty"), opened:
        pass


@pytest.mark.parametrize(
    ("left_out", "message"),
    [
        ("xl/workbook.xml", "there is no sheet in this Excel file"),
        ("xl/worksheets/s1.xml", "cannot be read as an Excel file"),
        ("", "cannot be read as an Excel file"),  # that is, all of it
    ],
)
def test_half_a_workbook_is_no_excel_file(tmp_path, left_out, message):
    whole = workbook(tmp_path, [["tone"], [1]])
    half = tmp_path / "half.xlsx"
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(half, "w") as new:
        for name in old.namelist():
            if left_out and name != left_out:
                new.writestr(name, old.read(name))
    with pytest.raises(BadTableError, match=message):
        cells(half)


def test_other_sheets_of_a_workbook_are_named(tmp_path):
    rows = [["text", "tone"], ["a", 1], ["b", 2]]
    path = workbook(tmp_path, rows, others={"notes": rows})
    assert formats.other_sheets(path, {"sheet": "notes"}) == ["S"]
    assert formats.other_sheets(workbook(tmp_path, rows), {}) == []
    assert formats.other_sheets(written(tmp_path, "a.csv", "tone\n1\n"), {}) == []


@pytest.mark.parametrize(
    "title", ["Pilot\n", "Pilot,,\n", "Pilot; wave 2\n", ",,\nPilot,,\n,,\n"]
)
def test_a_title_is_an_error_that_says_which_row_to_skip(tmp_path, title):
    path = written(tmp_path, "a.csv", title + "text,overall,tone\n" + "a,1,2\n" * 9)
    number = title.partition("Pilot")[0].count("\n") + 1
    message = rf"but row {number}, with .* if it is a title, write 'skip: \[{number}"
    with pytest.raises(BadTableError, match=message):
        read(path)
    with formats.opened(path, {}, [str(number)]) as (_, names, _):
        assert names == ["text", "overall", "tone"]


def test_a_title_above_a_sheet_and_empty_rows_are_skipped(tmp_path):
    rows = [["Pilot"], [], ["item", "overall", "tone"]]
    rows += [[f"i{n}", n % 5, n % 3] for n in range(20)]
    rows += [[], ["i20", 1, 2]]
    path = workbook(tmp_path, rows)
    with pytest.raises(BadTableError, match="most rows have 3 cells, but row 1"):
        read(path)
    recipe = {"outcome": "overall", "aspects": ["tone"], "skip": ["1"]}
    found = recipes.read(path, recipe)
    assert found["tone"].tolist() == [*(n % 3 for n in range(20)), 2]
    assert found.index[0] == 4
