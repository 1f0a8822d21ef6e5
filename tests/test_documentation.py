"""What the guides name is there, and what is there is named."""

import ast
import re
from pathlib import Path

import nbformat
import pandas as pd
import papermill
import pytest

from helpers import paths
from helpers.claims import collection, verdicts
from helpers.data.published import read_text
from helpers.run import notebooks as run

GUIDES = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "benchmarks/README.md",
    "data/README.md",
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


@pytest.mark.parametrize("guide", ["README.md", "notebooks/README.md"])
def test_every_notebook_is_listed(guide):
    text = (paths.ROOT / guide).read_text()
    assert [name for name in run.notebook_names() if f"{name}.ipynb" not in text] == []


@pytest.mark.parametrize("package", ["helpers", "ratings"])
def test_every_module_is_on_the_map(package):
    folder = paths.ROOT / "src" / package
    text = (folder / "README.md").read_text()
    modules = [file.relative_to(folder) for file in folder.rglob("*.py")]
    assert [
        str(file)
        for file in modules
        if f"]({file})" not in text and file.stem != "__init__"
    ] == []


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
    return {
        f"{node.module}.{alias.name}".split(".")[1]
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.ImportFrom)
        and str(node.module).split(".")[0] == package
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
    outputs = [output for cell in code for output in cell.outputs]
    assert [output.text for output in outputs if output.get("name") == "stderr"] == []
    found = papermill.inspect_notebook(paths.NOTEBOOKS / f"{name}.ipynb")
    assert {"data_source", "out_dir"} <= set(found)


def published(name: str) -> pd.DataFrame:
    return read_text(paths.PUBLISHED / f"{name}.csv")


def first_cell(notebook: str) -> str:
    return (
        nbformat.read(paths.NOTEBOOKS / f"{notebook}.ipynb", as_version=4)
        .cells[0]
        .source
    )


def test_committed_claims_that_do_not_hold_have_a_cause_that_is_told():
    table = read_text(paths.ROOT / "figures" / "claims.csv")
    causes = published("causes")
    assert causes["cause"].is_unique
    failing = table[table["verdict"].isin(["contradicted", "slip"])]
    assert failing.loc[failing["cause"] == "", "claim_id"].tolist() == []
    assert set(table["cause"]) - {""} == set(causes["cause"])
    assert (causes["explanation"].str.len() > 20).all()


def test_what_a_cause_touches_fits_the_form_and_place_of_its_claims():
    table = read_text(paths.ROOT / "figures" / "claims.csv")
    number = verdicts.forms(table) == verdicts.NUMBERS_AND_COUNTS
    carries = collection.carries_conclusion(table)
    for cause, touches in published("causes").set_index("cause")["touches"].items():
        rows = table["cause"] == cause
        assert touches in collection.TOUCHES, cause
        if touches != "wording":
            assert (touches == "number") == number[rows].all(), cause
            assert (touches == "conclusion") == carries[rows].any(), cause


def test_a_headline_says_how_sure_it_is_itself_only_if_no_claim_names_it():
    headlines = published("headlines").set_index("headline")["sure"]
    named = set(published("claims")["headline"])
    for headline, word in headlines.items():
        assert word in ([""] if headline in named else ["holds", "not settled"]), (
            headline
        )


def test_headlines_stand_in_readme_and_answers_as_they_were_computed():
    headlines = read_text(paths.ROOT / "figures" / "headlines.csv")
    assert headlines["headline"].tolist() == published("headlines")["headline"].tolist()
    assert set(headlines["source"]) == {"real"}
    readme = (paths.ROOT / "README.md").read_text()
    for row in headlines.itertuples():
        assert row.sentence in readme
        assert row.sentence in first_cell(row.notebook)
        assert row.alternatives in readme
    named = set(published("claims")["headline"]) - {""}
    assert named <= set(headlines["headline"])


def test_counts_stand_in_readme_and_overview_as_they_were_computed():
    table = read_text(paths.ROOT / "figures" / "claims.csv")
    overview = first_cell("00_overview")
    assert verdicts.counted(table) in (paths.ROOT / "README.md").read_text()
    assert verdicts.counted(table) in overview
    number = verdicts.forms(table) == verdicts.NUMBERS_AND_COUNTS
    raw = table.loc[number & (table["evidence"] == "raw"), "verdict"].value_counts()
    assert (
        f"Of {raw.sum()} numbers and counts that the studies' own raw data" in overview
    )
    assert (
        f"{raw['confirmed']} are confirmed and {raw['consistent']} consistent, "
        in overview
    )
    assert f"{raw['slip']} are slips" in overview
    assert f"and {raw['contradicted']} are contradicted" in overview
    sentences = table[~number & (verdicts.reasons(table) == "")][
        "verdict"
    ].value_counts()
    failing = sentences.drop(list(verdicts.HOLDING), errors="ignore")
    assert (
        f"of the {failing.sum()} that do not hold, {failing['leaning']} lean"
        in overview
    )
    assert (
        f"{failing['open']} stay open, and {failing['contradicted']} are contra"
        in overview
    )


def test_every_exhibit_of_the_papers_is_under_a_heading_that_names_it_or_has_a_reason():
    exhibits = published("figures")
    assert not exhibits.duplicated(["study", "exhibit"]).any()
    drawn = exhibits[exhibits["notebook"] != ""]
    assert (exhibits.loc[exhibits["notebook"] == "", "reason"] != "").all()
    for row in drawn.itertuples():
        cells = nbformat.read(
            paths.NOTEBOOKS / f"{row.notebook}.ipynb", as_version=4
        ).cells
        prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        headings = re.findall(r"^#.*", prose, re.MULTILINE)
        kind, number = row.exhibit.split(" ", 1)
        named = rf"{kind}s? (\w+(, | and ))*{re.escape(number)}\b"
        assert any(re.search(named, heading) for heading in headings), row


def test_every_notebook_links_the_overview_and_its_neighbours():
    names = run.notebook_names()
    for before, name, after in zip(
        ["", *names[:-1]], names, [*names[1:], ""], strict=True
    ):
        links = set(re.findall(r"\]\((\w+)\.ipynb\)", first_cell(name)))
        assert {"00_overview", before, after} - {"", name} <= links, name


def test_committed_claims_come_from_real_data():
    table = read_text(paths.ROOT / "figures" / "claims.csv")
    assert set(table["source"]) == {"", "real"}
