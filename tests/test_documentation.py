"""Links lead somewhere; notebooks and exhibits are as the guides say."""

import ast
import re
import tomllib
from pathlib import Path

import nbformat
import pytest

from helpers import paths
from helpers.data.published import read_text
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
    assert [
        name for name in sorted(run.notebook_files()) if f"{name}.ipynb" not in text
    ] == []


def test_helpers_never_import_ratings():
    for file in (paths.ROOT / "src" / "helpers").rglob("*.py"):
        assert "ratings" not in imported_packages(file), file


def imported_packages(file: Path) -> set[str]:
    """Packages that a module imports, anywhere in it."""
    packages = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            packages |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            packages.add(node.module.partition(".")[0])
    return packages


@pytest.mark.parametrize("name", sorted(run.notebook_files()))
def test_committed_notebooks_are_as_agreed(name):
    notebook = nbformat.read(run.notebook_file(name), as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    sources = [cell.source for cell in code]
    assert notebook.cells[0].source.startswith("# ")
    assert sum("parameters" in cell.metadata.get("tags", []) for cell in code) == 1
    assert not any(re.search(r"^class ", source, re.MULTILINE) for source in sources)
    outputs = [output for cell in code for output in cell.outputs]
    assert [output.text for output in outputs if output.get("name") == "stderr"] == []
    assert run.parameters_of(name)


EVIDENCE = ("raw data", "another model", "the paper's numbers")


def test_every_exhibit_has_a_notebook_and_a_heading_or_a_reason():
    exhibits = read_text(paths.DATA / "exhibits.csv")
    assert not exhibits.duplicated(["study", "exhibit"]).any()
    drawn = exhibits[exhibits["notebook"] != ""]
    assert (exhibits.loc[exhibits["notebook"] == "", "reason"] != "").all()
    for row in drawn.itertuples():
        file = run.notebook_file(row.notebook)
        cells = nbformat.read(file, as_version=4).cells
        prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        headings = re.findall(r"^#+ (.*)", prose, re.MULTILINE)
        assert row.heading in headings, row
        assert row.evidence in EVIDENCE, row


@pytest.mark.parametrize("name", sorted(run.notebook_files()))
def test_local_links_of_notebooks_lead_somewhere(name):
    file = run.notebook_file(name)
    cells = nbformat.read(file, as_version=4).cells
    prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    targets = [target for target in LINK.findall(prose) if "://" not in target]
    assert [each for each in targets if not (file.parent / each).exists()] == []


def test_addresses_of_this_repository_are_that_of_pyproject():
    project = tomllib.loads((paths.ROOT / "pyproject.toml").read_text())["project"]
    owner_and_name = project["urls"]["Repository"].removeprefix("https://github.com/")
    guide = (paths.ROOT / "README.md").read_text(encoding="utf-8")
    places = ("github.com/", "colab.research.google.com/github/", "mybinder.org/v2/gh/")
    for place in places:
        addresses = re.findall(rf"https://{re.escape(place)}(\w+/[\w-]+)", guide)
        assert set(addresses) == {owner_and_name}, place
