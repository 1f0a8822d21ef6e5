"""Small Excel files for tests."""

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

MAIN = "http://schemas.openxmlformats.org"
PACKAGE = f"{MAIN}/package/2006"
OFFICE = f"{MAIN}/officeDocument/2006/relationships"
SHEET = f"{MAIN}/spreadsheetml/2006/main"
KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"
Rows = Sequence[Sequence[str | float]]


def workbook(
    folder: Path, rows: Rows, others: Mapping[str, Rows] | None = None
) -> Path:
    """Write the smallest Excel file: sheet S with its cells in place, maybe others."""
    sheets = {"S": rows, **(others or {})}
    names = ""
    links = ""
    parts = {
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
        f'<Relationship Id="r1" Type="{OFFICE}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{KIND}"/></Types>',
    }
    for number, (name, cells) in enumerate(sheets.items(), start=1):
        file = f"worksheets/s{number}.xml"
        names += f'<sheet name="{name}" sheetId="{number}" r:id="r{number}"/>'
        links += (
            f'<Relationship Id="r{number}" Type="{OFFICE}/worksheet" Target="{file}"/>'
        )
        written = ""
        for row in cells:
            written += "<row>" + "".join(map(_cell, row)) + "</row>"
        parts[f"xl/{file}"] = (
            f'<worksheet xmlns="{SHEET}"><sheetData>{written}</sheetData></worksheet>'
        )
    parts["xl/workbook.xml"] = (
        f'<workbook xmlns="{SHEET}" xmlns:r="{OFFICE}"><sheets>{names}</sheets>'
        "</workbook>"
    )
    parts["xl/_rels/workbook.xml.rels"] = (
        f'<Relationships xmlns="{PACKAGE}/relationships">{links}</Relationships>'
    )
    path = folder / "a.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in parts.items():
            file.writestr(name, text)
    return path


def _cell(value: str | float) -> str:
    """Write a cell."""
    if isinstance(value, str):
        return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
    return f"<c><v>{value}</v></c>"


def put_cell(path: Path, place: str) -> None:
    """Put one more value into the first sheet, such as in its last cell."""
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    sheet = "xl/worksheets/s1.xml"
    row = place.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    cell = f'<row r="{row}"><c r="{place}"><v>1</v></c></row></sheetData>'
    parts[sheet] = parts[sheet].replace(b"</sheetData>", cell.encode())
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content)
