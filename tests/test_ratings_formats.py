"""Files as tables of cells: formats, encodings, delimiters, files that fill a disk."""

import gzip
import json
import zipfile

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from helpers.data.tables import BadTableError, OptionError
from ratings import formats, inspection, recipes

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


def workbook(tmp_path, rows, others=()):
    """The smallest Excel file: a sheet with its cells in place, maybe more like it."""
    path = tmp_path / "a.xlsx"
    main = "http://schemas.openxmlformats.org"
    package = f"{main}/package/2006"
    office = f"{main}/officeDocument/2006/relationships"
    sheet = f"{main}/spreadsheetml/2006/main"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"
    cells = ""
    for row in rows:
        cells += "<row>" + "".join(map(_cell, row)) + "</row>"
    more = ""
    for number, name in enumerate(others, start=2):
        more += f'<sheet name="{name}" sheetId="{number}" r:id="r1"/>'
    parts = {
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="r1" Type="{office}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}"/></Types>',
        "xl/workbook.xml": f'<workbook xmlns="{sheet}" xmlns:r="{office}">'
        '<sheets><sheet name="S" sheetId="1" r:id="r1"/>'
        f"{more}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="r1" Type="{office}/worksheet" '
        'Target="worksheets/s.xml"/></Relationships>',
        "xl/worksheets/s.xml": f'<worksheet xmlns="{sheet}"><sheetData>'
        f"{cells}</sheetData></worksheet>",
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in parts.items():
            file.writestr(name, text)
    return path


def _cell(value):
    if isinstance(value, str):
        return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
    return f"<c><v>{value}</v></c>"


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


def test_other_sheets_of_a_workbook_are_named(tmp_path):
    rows = [["text", "tone"], ["a", 1], ["b", 2]]
    path = workbook(tmp_path, rows, others=["notes"])
    line = "other sheets of the file are not read: 'notes'; name one in the recipe"
    seen = inspection.inspect(path)
    assert any(line in each for each in seen.to_check)
    assert formats.other_sheets(path, {"sheet": "notes"}) == ["S"]
    assert formats.other_sheets(workbook(tmp_path, rows), {}) == []
