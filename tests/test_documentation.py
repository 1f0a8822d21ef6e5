"""What the guides name is there, and what is there is named."""

import ast
import re
from pathlib import Path

import nbformat
import pandas as pd
import papermill
import pytest

from helpers import paths, run

GUIDES = [
    "README.md",
    "benchmarks/README.md",
    "data/README.md",
    "notebooks/README.md",
    "src/helpers/README.md",
]
LINK = re.compile(r"\]\(([^)#]+)\)")


@pytest.mark.parametrize("guide", GUIDES)
def test_local_links_lead_somewhere(guide):
    file = paths.ROOT / guide
    targets = [target for target in LINK.findall(file.read_text()) if "://" not in target]
    missing = [target for target in targets if not (file.parent / target).exists()]
    assert not missing


@pytest.mark.parametrize("guide", ["README.md", "notebooks/README.md"])
def test_every_notebook_is_listed(guide):
    text = (paths.ROOT / guide).read_text()
    assert [name for name in run.notebook_names() if f"{name}.ipynb" not in text] == []


def test_every_module_is_on_the_map():
    package = paths.ROOT / "src" / "helpers"
    text = (package / "README.md").read_text()
    modules = [file.relative_to(package) for file in package.rglob("*.py")]
    assert [
        str(file) for file in modules if f"]({file})" not in text and file.stem != "__init__"
    ] == []


def test_rooms_import_only_from_rooms_above_them():
    package = paths.ROOT / "src" / "helpers"
    rooms = re.findall(r"^\| \[(\w+)/?\]", (package / "README.md").read_text(), re.MULTILINE)
    assert set(rooms) == {file.stem for file in package.iterdir()} - {"README", "__init__"} - {
        "__pycache__"
    }
    for file in package.rglob("*.py"):
        room = file.relative_to(package).parts[0].removesuffix(".py")
        for imported in imported_rooms(file) - {room}:
            assert rooms.index(imported) < rooms.index(room), f"{file} imports {imported}"
            assert imported not in ("beyond", "own"), f"{file} imports {imported}"


def imported_rooms(file: Path) -> set[str]:
    """Rooms of the package that a module names in its imports."""
    return {
        f"{node.module}.{alias.name}".split(".")[1]
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == "helpers"
        for alias in node.names
    }


def test_every_benchmark_is_described():
    text = (paths.ROOT / "benchmarks" / "README.md").read_text()
    scripts = (paths.ROOT / "benchmarks").glob("bench_*.py")
    assert [script.name for script in scripts if script.name not in text] == []


@pytest.mark.parametrize("name", run.notebook_names())
def test_committed_notebooks_are_as_agreed(name):
    notebook = nbformat.read(paths.NOTEBOOKS / f"{name}.ipynb", as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    sources = [cell.source for cell in code]
    assert notebook.cells[0].source.startswith("# ")
    assert "**Question.**" in notebook.cells[0].source
    assert sum("parameters" in cell.metadata.get("tags", []) for cell in code) == 1
    assert not any(re.search(r"^class ", source, re.MULTILINE) for source in sources)
    functions = [
        node
        for source in sources
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef)
    ]
    assert [node.name for node in functions if node.end_lineno - node.lineno >= 15] == []
    found = papermill.inspect_notebook(paths.NOTEBOOKS / f"{name}.ipynb")
    assert {"data_source", "out_dir"} <= set(found)


def test_committed_claims_that_differ_say_why():
    claims = pd.read_csv(paths.ROOT / "figures" / "claims.csv", dtype=str, keep_default_na=False)
    differs = claims[claims["verdict"] == "differs"]
    unexplained = differs["note"].str.contains("no reason recorded") | (differs["note"] == "")
    assert differs.loc[unexplained, "claim_id"].tolist() == []


def test_committed_claims_come_from_real_data():
    claims = pd.read_csv(paths.ROOT / "figures" / "claims.csv", dtype=str, keep_default_na=False)
    assert set(claims["source"]) == {"", "real"}
