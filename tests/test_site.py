"""The site, built from what is committed."""

import re
import tomllib
from urllib.parse import unquote, urldefrag

import pandas as pd
import pytest
from bs4 import BeautifulSoup

from helpers import paths
from helpers.run import notebooks as run

PROJECT = tomllib.loads((paths.ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def whole_pages(site):
    """Each page, by file."""
    return {
        file: BeautifulSoup(file.read_text(), "html.parser")
        for file in site.rglob("*.html")
        if "_downloads" not in file.parts
    }


@pytest.fixture(scope="module")
def pages(whole_pages):
    """Article of each page, by file."""
    articles = {file: page.find("article") for file, page in whole_pages.items()}
    return {file: article for file, article in articles.items() if article}


def test_every_notebook_has_a_page(site):
    missing = []
    for name in run.notebook_files():
        place = run.notebook_file(name).relative_to(paths.NOTEBOOKS)
        if not (site / "notebooks" / place).with_suffix(".html").is_file():
            missing.append(name)
    assert missing == []


def test_the_report_and_the_start_page_are_there(site, pages):
    report = pages[site / "docs" / "replication_report.html"]
    assert report.find("h1").get_text().startswith("Replication report")
    readme = (paths.ROOT / "README.md").read_text().splitlines()[0].lstrip("# ")
    assert pages[site / "index.html"].find("h1").get_text().startswith(readme)


def addresses(page) -> set[str]:
    """What a page links to or loads."""
    linking = page.find_all(["a", "link"], href=True)
    loading = page.find_all(["img", "script"], src=True)
    used = {each["href"] for each in linking} | {each["src"] for each in loading}
    return {unquote(address) for address in used}


def test_no_link_inside_the_site_is_broken(site, whole_pages):
    places = {
        file.resolve(): {each["id"] for each in page.find_all(id=True)}
        for file, page in whole_pages.items()
    }
    broken = set()
    for file, page in whole_pages.items():
        for address in addresses(page):
            if re.match(r"[a-z]+:", address):  # on another site, or in the page itself
                continue
            path, fragment = urldefrag(address)
            path = path.partition("?")[0]
            target = (file.parent / path).resolve() if path else file.resolve()
            is_there = target.is_file() and target.is_relative_to(site.resolve())
            if is_there and fragment and target in places:
                is_there = fragment in places[target]
            if not is_there:
                broken.add(f"{file.relative_to(site)}: {address}")
    assert sorted(broken) == []


def test_every_page_says_where_the_code_is(site, pages):
    address = PROJECT["urls"]["Repository"]
    words = address or "The code has no public address yet"
    assert words in pages[site / "index.html"].get_text()
    for name in run.notebook_files():
        place = run.notebook_file(name).relative_to(paths.NOTEBOOKS)
        file = site / "notebooks" / place
        assert words in pages[file.with_suffix(".html")].get_text(), name


def test_numbers_of_a_page_say_what_their_intervals_are(site):
    file = next(site.glob("_downloads/*/21_weighted_aspect_regression.csv"))
    numbers = pd.read_csv(file).set_index("name")
    kinds = numbers["low_to_high"]
    assert kinds["kamoda.regression.weight_factuality"] == (
        "central 95 % of random splits"
    )
    assert kinds["kamoda.regression.ratio_per_step"] == "95 % interval"
    assert kinds[numbers["low"].isna()].isna().all()


def test_every_picture_is_told_in_words(pages):
    for file, article in pages.items():
        for image in article.find_all("img"):
            assert image.get("alt"), f"{file}: {image.get('src')}"


def test_formulas_need_no_script(site, pages):
    assert any(article.find("math") for article in pages.values())
    assert "MathJax" not in (site / "index.html").read_text()
