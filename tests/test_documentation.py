"""What the guides name is there, and what is there is named."""

import ast
import re
from pathlib import Path

import nbformat
import pandas as pd
import papermill
import pytest

from helpers import paths
from helpers.data.published import read_text
from helpers.data.studies import titles
from helpers.run import notebooks as run

GUIDES = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "benchmarks/README.md",
    "data/README.md",
    *sorted(f"docs/{file.name}" for file in (paths.ROOT / "docs").glob("*.md")),
    "notebooks/README.md",
    "src/helpers/README.md",
    "src/ratings/README.md",
]
LINK = re.compile(r"\]\(([^)#]+)\)")


@pytest.mark.parametrize("guide", GUIDES)
def test_local_links_lead_somewhere(guide):
    file = paths.ROOT / guide
    targets = [
        target for target in LINK.findall(file.read_text()) if "://" not in target
    ]
    missing = [target for target in targets if not (file.parent / target).exists()]
    assert not missing


def test_every_notebook_is_listed():
    text = (paths.NOTEBOOKS / "README.md").read_text()
    assert [name for name in run.notebook_names() if f"{name}.ipynb" not in text] == []


@pytest.mark.parametrize("package", ["helpers", "ratings"])
def test_every_module_is_on_the_map(package):
    folder = paths.ROOT / "src" / package
    text = (folder / "README.md").read_text()
    missing = []
    for file in folder.rglob("*.py"):
        # data/studies.csv names the modules of studies.
        of_a_study = file.parent.name == "studies" and file.stem in titles()
        listed = f"]({file.relative_to(folder)})" in text
        if file.stem != "__init__" and not of_a_study and not listed:
            missing.append(str(file))
    assert missing == []


@pytest.mark.parametrize("package", ["helpers", "ratings"])
def test_rooms_import_only_from_rooms_above_them(package):
    folder = paths.ROOT / "src" / package
    text = (folder / "README.md").read_text()
    rooms = re.findall(r"^\| \[(\w+)/?\]", text, re.MULTILINE)
    files = [file.relative_to(folder) for file in folder.rglob("*.py")]
    there = {file.parts[0].removesuffix(".py") for file in files} - {"__init__"}
    assert set(rooms) == there
    for file in folder.rglob("*.py"):
        room = file.relative_to(folder).parts[0].removesuffix(".py")
        for imported in imported_rooms(file, package) - {room}:
            assert rooms.index(imported) < rooms.index(room), (
                f"{file} imports {imported}"
            )


def test_helpers_never_import_ratings():
    for file in (paths.ROOT / "src" / "helpers").rglob("*.py"):
        assert imported_rooms(file, "ratings") == set(), file


def imported_rooms(file: Path, package: str) -> set[str]:
    """Rooms of a package that a module names in its imports."""
    rooms = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if not isinstance(node, ast.ImportFrom) or node.module is None:
            continue
        for alias in node.names:
            parts = f"{node.module}.{alias.name}".split(".")
            if parts[0] == package:
                rooms.add(parts[1])
    return rooms


def test_every_benchmark_is_described():
    text = (paths.ROOT / "benchmarks" / "README.md").read_text()
    scripts = (paths.ROOT / "benchmarks").glob("bench_*.py")
    assert [script.name for script in scripts if script.name not in text] == []


@pytest.mark.parametrize("name", run.notebook_names())
def test_committed_notebooks_are_as_agreed(name):
    notebook = nbformat.read(paths.NOTEBOOKS / paths.notebook_place(name), as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    sources = [cell.source for cell in code]
    assert notebook.cells[0].source.startswith("# ")
    assert sum("parameters" in cell.metadata.get("tags", []) for cell in code) == 1
    assert not any(re.search(r"^class ", source, re.MULTILINE) for source in sources)
    outputs = [output for cell in code for output in cell.outputs]
    assert [output.text for output in outputs if output.get("name") == "stderr"] == []
    found = papermill.inspect_notebook(paths.NOTEBOOKS / paths.notebook_place(name))
    assert {"data_source", "out_dir"} <= set(found)


def published(name: str) -> pd.DataFrame:
    return read_text(paths.PUBLISHED / f"{name}.csv")


def test_every_exhibit_is_under_a_heading_that_names_it_or_has_a_reason():
    exhibits = published("figures")
    assert not exhibits.duplicated(["study", "exhibit"]).any()
    drawn = exhibits[exhibits["notebook"] != ""]
    assert (exhibits.loc[exhibits["notebook"] == "", "reason"] != "").all()
    for row in drawn.itertuples():
        file = paths.NOTEBOOKS / paths.notebook_place(row.notebook)
        cells = nbformat.read(file, as_version=4).cells
        prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        headings = re.findall(r"^#.*", prose, re.MULTILINE)
        kind, number = row.exhibit.split(" ", 1)
        named = rf"{kind}s? (\w+(, | and ))*{re.escape(number)}\b"
        assert any(re.search(named, heading) for heading in headings), row


@pytest.mark.parametrize("name", run.notebook_names())
def test_local_links_of_notebooks_lead_somewhere(name):
    file = paths.NOTEBOOKS / paths.notebook_place(name)
    cells = nbformat.read(file, as_version=4).cells
    prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    targets = [target for target in LINK.findall(prose) if "://" not in target]
    assert [each for each in targets if not (file.parent / each).exists()] == []
