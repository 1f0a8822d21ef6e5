"""A fifth study, added as CONTRIBUTING says, in a small copy of the project.

It goes through to its page; without its data it is left out.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup

from helpers import paths
from helpers.data.published import read_text

RATINGS = b"answer,rating\na,4\nb,2\nc,3\n"
CLAIMS = """\
hanna.ratings.count,hanna,§2,Three answers were rated.,3,count,0,fact,,,,,hanna,,,,
hanna.ratings.mean,hanna,§5,The mean rating is above four.,holds,,,fact,> 4,,,,hanna,,,,
"""
MODULE = '''"""Ratings of Hanna and others (2026)."""

import pandas as pd

from helpers.data import registry, tables


def load(data_source: str) -> pd.DataFrame:
    """One row for each rated answer."""
    files = registry.locate(["hanna/ratings.csv"], data_source)
    ratings = pd.read_csv(files["hanna/ratings.csv"])
    tables.require(ratings, ["answer", "rating"], "ratings.csv")
    return ratings
'''
OPENING = """\
# Do people like the answers?

**Question.** Is the mean rating above four?

**Answer.** No, it is 3."""
PARAMETERS = """\
data_source: str = "auto"  # real, or auto
out_dir: str = "build"  # results go here"""
ANALYSIS = """\
from helpers.claims.ledger import Ledger
from helpers.studies import hanna

ratings = hanna.load(data_source)["rating"]
claims = Ledger("70_hanna", "real", out_dir)
claims.enter("hanna.ratings", {"count": len(ratings), "mean": ratings.mean()})
claims.show()"""


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """Copy of what a study needs, with five files added or changed by hand."""
    pytest.importorskip("sphinx_book_theme", reason="what builds the site is missing")
    root = tmp_path_factory.mktemp("project")
    copy_project(root)
    (root / "src" / "helpers" / "studies" / "hanna.py").write_text(MODULE)
    append(root / "data" / "registry.csv", registry_row())
    append(root / "data" / "studies.csv", "hanna,Hanna,Hanna and others (2026),7,§5\n")
    append(root / "data" / "published" / "claims.csv", CLAIMS)
    write_notebook(root / "notebooks" / "70_hanna.ipynb")
    (root / "mirror" / "hanna").mkdir(parents=True)
    (root / "mirror" / "hanna" / "ratings.csv").write_bytes(RATINGS)
    return root


def copy_project(root: Path) -> None:
    """Copy all but most notebooks, tests, and what a run has left."""
    shutil.copytree(paths.DATA, root / "data", ignore=shutil.ignore_patterns("raw"))
    for folder in ("benchmarks", "docs", "figures", "src"):
        shutil.copytree(paths.ROOT / folder, root / folder)
    for file in paths.ROOT.glob("*.*"):
        if file.is_file():
            shutil.copy(file, root)
    (root / "notebooks").mkdir()
    for number in sorted({"00", *numbers_of_pictures()}):
        for file in paths.NOTEBOOKS.rglob(f"{number}_*.ipynb"):
            place = root / "notebooks" / file.relative_to(paths.NOTEBOOKS)
            place.parent.mkdir(exist_ok=True)
            shutil.copy(file, place)


def numbers_of_pictures() -> set[str]:
    """Numbers of the notebooks whose pictures stand on pages of the site."""
    pictures = set(read_text(paths.PUBLISHED / "headlines.csv")["picture"]) - {""}
    findings = (paths.ROOT / "docs" / "findings.md").read_text()
    pictures |= set(re.findall(r"<!-- picture (\w+) -->", findings))
    return {picture[:2] for picture in pictures}


def append(file: Path, text: str) -> None:
    """Add lines to a file."""
    with file.open("a", encoding="utf-8") as lines:
        lines.write(text)


def registry_row() -> str:
    """Row of the file of ratings, whose server nobody reaches."""
    sha256 = hashlib.sha256(RATINGS).hexdigest()
    blob = hashlib.sha1(b"blob %d\0" % len(RATINGS) + RATINGS).hexdigest()
    address = "https://nowhere.invalid/ratings.csv"
    return f"hanna/ratings.csv,{address},{sha256},{blob},{len(RATINGS)},ours,\n"


def write_notebook(file: Path) -> None:
    """Write the notebook of the study."""
    cells = [
        nbformat.v4.new_markdown_cell(OPENING),
        nbformat.v4.new_code_cell(PARAMETERS, metadata={"tags": ["parameters"]}),
        nbformat.v4.new_code_cell(ANALYSIS),
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(notebook, file)


def doit(root: Path, *arguments: str) -> str:
    """Run doit in the copy, which has to succeed; give what it prints."""
    environment = os.environ | {
        "DATA_MIRROR": str(root / "mirror"),
        "PYTHONPATH": str(root / "src"),
    }
    run = subprocess.run(
        [sys.executable, "-m", "doit", *arguments],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


@pytest.fixture(scope="module")
def site(project) -> Path:
    """Folder of the site, after a run of the notebook of the study."""
    doit(project, "data:hanna", "execute:70_hanna")
    doit(project, "run", "--single", "claims")
    doit(project, "run", "--single", "site")
    return project / "build" / "site"


def page(file: Path) -> BeautifulSoup:
    """Article of a page."""
    return BeautifulSoup(file.read_text(), "lxml").find("article")


def test_the_study_has_a_page_with_its_verdicts_and_its_notebook(site):
    article = page(site / "papers" / "hanna.html")
    assert article.find("h1").get_text().startswith("Hanna")
    assert "Hanna and others (2026)." in article.get_text()
    assert article.find("a", href="../notebooks/70_hanna.html")
    summary = page(site / "holds.html")
    verdicts = [head.get_text() for head in summary.select("table.counts thead th")]
    (row,) = summary.select("table.counts tbody tr:has(th:-soup-contains('Hanna'))")
    numbers = [cell.get_text() for cell in row.find_all("td")]
    counts = dict(zip(verdicts[1:], numbers, strict=True))
    assert {name for name, number in counts.items() if number == "1"} == {
        "contradicted",
        "confirmed",
    }
    (heading,) = summary.select("h3:-soup-contains('Hanna')")
    (problem,) = heading.find_parent("section").select("ul.causes li")
    assert "The mean rating is above four. Here: 3." in problem.get_text()


def test_its_claims_and_data_stand_where_those_of_others_do(site):
    table = page(site / "claims.html")
    rows = {row["id"]: row.get_text(" ") for row in table.select("tr[id^=hanna]")}
    assert list(rows) == ["hanna.ratings.mean", "hanna.ratings.count"]
    assert "contradicted" in rows["hanna.ratings.mean"]
    assert "hanna/ratings.csv" in rows["hanna.ratings.mean"]
    assert "confirmed" in rows["hanna.ratings.count"]
    about = page(site / "notebooks" / "70_hanna.html").find(class_="about")
    assert "Hanna: real." in about.get_text()
    front = page(site / "index.html")
    assert front.find("a", href="papers/hanna.html")


def test_without_its_data_the_study_says_so_and_is_left_out(project, site):
    printed = doit(project, "data", "execute:70_hanna", "data=simulated")
    assert "hanna: left out (asked for; it has no simulator)" in printed
    assert "70_hanna has no results: left out: it needs the real data" in printed
    assert not (project / "build" / "notebooks" / "70_hanna.ipynb").exists()
    doit(project, "run", "--single", "claims", "data=simulated")
    printed = doit(project, "run", "--single", "reproduce", "data=simulated")
    assert "hanna: left out, 2 not checked" in printed
    assert "70_hanna: left out: it needs the real data of hanna" in printed
