"""The site, built from what is committed."""

import subprocess
import sys
from urllib.parse import unquote, urldefrag

import pytest
from bs4 import BeautifulSoup

from helpers import paths
from helpers.run import notebooks as run


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Folder of the site; Sphinx has no complaint."""
    pytest.importorskip("furo", reason="what builds the site is missing")
    folder = tmp_path_factory.mktemp("site") / "site"
    script = paths.ROOT / "docs" / "make_site.py"
    built = subprocess.run(
        [sys.executable, str(script), ".", str(folder)],
        cwd=paths.ROOT,
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    assert built.stderr == ""
    return folder


@pytest.fixture(scope="module")
def pages(site):
    """Article of each page, by file."""
    found = {}
    for file in site.rglob("*.html"):
        article = BeautifulSoup(file.read_text(), "html.parser").find("article")
        if article:
            found[file] = article
    return found


def test_every_notebook_has_a_page(site):
    missing = []
    for name in run.notebook_names():
        place = paths.notebook_place(name)
        if not (site / "notebooks" / place).with_suffix(".html").is_file():
            missing.append(name)
    assert missing == []


def test_the_report_and_the_start_page_are_there(site, pages):
    report = pages[site / "docs" / "replication_report.html"]
    assert report.find("h1").get_text().startswith("Replication report")
    readme = (paths.ROOT / "README.md").read_text().splitlines()[0].lstrip("# ")
    assert pages[site / "index.html"].find("h1").get_text().startswith(readme)


def test_no_link_between_pages_is_dead(pages):
    dead = []
    for file, article in pages.items():
        for link in article.find_all("a", href=True):
            address, _ = urldefrag(unquote(link["href"]))
            if address and ":" not in address:
                target = file.parent / address
                if not target.exists():
                    dead.append(f"{file.name}: {address}")
    assert dead == []


def test_every_picture_is_told_in_words(pages):
    for file, article in pages.items():
        for image in article.find_all("img"):
            assert image.get("alt"), f"{file}: {image.get('src')}"


def test_formulas_need_no_script(site, pages):
    assert any(article.find("math") for article in pages.values())
    assert "MathJax" not in (site / "index.html").read_text()
