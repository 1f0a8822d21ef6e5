"""Files come in as they are written, or are refused in one sentence."""

import json

import pandas as pd
import pytest
import workbooks

from helpers.data.tables import BadTableError
from ratings import table


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read(path, **options):
    frame = table.read(path, **options).frame.astype(object)
    return frame.where(frame.notna(), None).to_numpy().tolist()


def cells(folder, name, content, **options):
    return read(write(folder, name, content), **options)


def refusal(path, **options):
    with pytest.raises(BadTableError) as caught:
        table.read(path, **options)
    message = str(caught.value)
    assert path.name in message
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "item,score\na,4\nNA,\n"),
        ("a.csv", "\ufeffitem;score\r\na;4\r\nNA;\r\n"),
        ("a.csv", "sep=|\nitem|score\na|4\nNA|\n"),
        ("a.csv", "\n\nitem,score\na,4\nNA,\n"),
        ("a.tsv", "item\tscore\na\t4\nNA\t\n"),
        ("a.txt", '"item","score"\n"a","4"\n"NA",""\n'),
        ("a.csv", "item,score\na,4\nNA,\n".encode("utf-16")),
        ("a.json", '[{"item": "a", "score": 4.0}, {"item": "NA", "score": null}]'),
        ("a.json", '{"n": 1, "rows": [{"item": "a", "score": 4}, {"item": "NA"}]}'),
        ("a.jsonl", '{"item": "a", "score": 4}\n\n{"item": "NA"}\n'),
    ],
)
def test_the_same_cells_come_from_every_format(tmp_path, name, content):
    assert cells(tmp_path, name, content) == [["a", "4"], ["NA", None]]


def test_parquet_and_excel_give_the_same_cells(tmp_path):
    frame = pd.DataFrame({"item": ["a", "NA"], "score": [4.0, None]})
    frame.to_parquet(tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet") == [["a", "4"], ["NA", None]]
    path = workbooks.workbook(tmp_path, [["item", "score"], ["a", 4], ["NA", 3]])
    assert read(path) == [["a", "4"], ["NA", "3"]]


def test_rows_are_numbered_as_in_the_file_and_empty_ones_are_counted(tmp_path):
    found = table.read(write(tmp_path, "a.csv", "item,score\na,4\n,\nb,5\n"))
    assert found.frame.index.tolist() == [2, 4]
    assert found.frame.index.name == "row"
    assert found.empty_rows == 1
    lines = write(tmp_path, "a.jsonl", '\n{"a": 1}\n')
    assert table.read(lines).frame.index.tolist() == [2]


def test_nested_objects_get_dotted_names_and_lists_stay_text(tmp_path):
    records = [{"a": {"b": {"c": 1}, "d": [1, 2]}, "e": True}, {"f": {}}]
    found = table.read(write(tmp_path, "a.json", json.dumps(records))).frame
    assert found.columns.tolist() == ["a.b.c", "a.d", "e", "f"]
    assert found.loc[1, ["a.b.c", "a.d", "e"]].tolist() == ["1", "[1, 2]", "yes"]
    assert found.loc[1, "f"] is None or pd.isna(found.loc[1, "f"])


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.xls", "x", "the format is told by the end of the name"),
        ("a.csv", "", "the file is empty"),
        ("a.csv", "item,score\n", "there are no rows"),
        ("a.csv", "item,score\na\n", "row 2 has 1 of 2 cells"),
        ("a.csv", "item,score\na,1,2\n", "row 2 has 3 of 2 cells"),
        ("a.csv", "item,item\na,1\n", "two columns are called 'item'"),
        ("a.csv", "item,score\na,\xe9\n".encode("latin-1"), "line 2 is not UTF-8"),
        ("a.csv", b"PK\x03\x04\0\0", "it is no text file"),
        ("a.json", "{", "it is not valid JSON"),
        ("a.json", "[1, 2]", "a list of objects is needed"),
        ("a.json", "[]", "a list of objects is needed"),
        ("a.json", '{"a": [{"x": 1}], "b": [{"x": 1}]}', "--records"),
        ("a.json", "[" * 100_000, "within each other"),
        ("a.json", '[{"a": ' + '{"a": ' * 30 + "1" + "}" * 31 + "]", "within each"),
        ("a.jsonl", '{"a": 1}\n{', "line 2 is not valid JSON"),
        ("a.jsonl", "[1]", "line 1 is not a JSON object"),
        ("a.jsonl", "{}", "there are no objects with keys"),
        ("a.parquet", "x", "it is no Parquet file"),
        ("a.xlsx", "x", "it is no Excel file"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_sentence(tmp_path, name, content, says):
    assert says in refusal(write(tmp_path, name, content))


def test_a_list_of_objects_and_a_sheet_can_be_chosen(tmp_path):
    content = '{"a": [{"x": 1}], "b": [{"x": 2}]}'
    assert cells(tmp_path, "a.json", content, records="b") == [["2"]]
    path = tmp_path / "a.json"
    assert "no list of objects called 'c'" in refusal(path, records="c")
    path = workbooks.workbook(tmp_path, [["x"], [1]], {"T": [["x"], [2]]})
    assert "--sheet" in refusal(path)
    assert read(path, sheet="T") == [["2"]]
    assert "there is no sheet 'U'" in refusal(path, sheet="U")
    path = workbooks.workbook(tmp_path, [])
    assert "the sheet is empty" in refusal(path)


def test_too_much_is_refused_before_it_fills_the_memory(tmp_path, monkeypatch):
    wide = ",".join(f"c{number}" for number in range(100_000))
    path = write(tmp_path, "a.csv", f"{wide}\n{wide}\n")
    assert "100,000 columns are more than the 10,000" in refusal(path)
    record = {f"c{number}": 1 for number in range(11_000)}
    path = write(tmp_path, "a.json", json.dumps([record]))
    assert "11,000 columns" in refusal(path)
    monkeypatch.setattr(table, "MOST_CELLS", 5)
    path = write(tmp_path, "a.csv", "x,y\n1,2\n1,2\n1,2\n")
    assert "has more than the 5 cells" in refusal(path)
    path.with_suffix(".parquet").unlink(missing_ok=True)
    pd.DataFrame({"x": range(6)}).to_parquet(tmp_path / "a.parquet")
    assert "has more than the 5 cells" in refusal(tmp_path / "a.parquet")
    monkeypatch.setattr(table, "MOST_BYTES", 3)
    assert "GiB" in refusal(path)


def test_a_far_cell_in_a_sheet_is_refused_without_building_the_grid(tmp_path):
    path = workbooks.workbook(tmp_path, [["x"], [1]])
    workbooks.put_cell(path, "XFD1048576")
    assert "16,384 columns" in refusal(path)
    path = workbooks.workbook(tmp_path, [["x"], [1]])
    workbooks.put_cell(path, "ZZ1048576")
    assert "a grid of 1,048,576 rows and 702 columns" in refusal(path)


@pytest.mark.parametrize(
    ("name", "package"),
    [("a.parquet", "pyarrow.parquet"), ("a.xlsx", "python_calamine")],
)
def test_formats_whose_packages_are_missing_say_how_to_get_them(
    tmp_path, monkeypatch, name, package
):
    monkeypatch.setitem(__import__("sys").modules, package, None)
    path = write(tmp_path, name, "x")
    assert f"pip install '.[{'parquet' if 'parquet' in name else 'excel'}]'" in refusal(
        path
    )
