"""The site, built from what is committed."""

import re
from pathlib import PurePosixPath
from urllib.parse import unquote, urldefrag

import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from docutils.utils import new_document

from helpers import paths
from helpers.run import notebooks as run


@pytest.fixture(scope="module")
def pages(site):
    """Each page, by file."""
    return {
        file: BeautifulSoup(file.read_text(), "html.parser")
        for file in site.rglob("*.html")
    }


def page_of(name: str) -> str:
    """Place of a notebook's page on the site."""
    file = run.notebook_file(name).relative_to(paths.ROOT)
    return file.with_suffix(".html").as_posix()


def test_every_notebook_has_a_page_with_its_number_in_the_menu(site, pages):
    menu = pages[site / "index.html"].find(class_="sidebar-tree")
    titles = {link["href"]: link.get_text() for link in menu.find_all("a")}
    for name in run.notebook_files():
        assert titles[page_of(name)].startswith(f"{name[:2]} ")
        assert (site / page_of(name)).is_file()


def test_readme_is_the_front_page(site, pages):
    readme = (paths.ROOT / "README.md").read_text().splitlines()[0].lstrip("# ")
    assert pages[site / "index.html"].find("h1").get_text().startswith(readme)


def test_every_notebook_and_its_results_can_be_downloaded(site, pages):
    for name in run.notebook_files():
        links = pages[site / page_of(name)].find("article").find_all("a", download="")
        files = [PurePosixPath(link["href"]).name for link in links]
        assert f"{name}.ipynb" in files, name
        assert "results.csv" in files, name


def addresses(page) -> set[str]:
    """What a page links to or loads."""
    linking = page.find_all(["a", "link"], href=True)
    loading = page.find_all(["img", "script"], src=True)
    used = {each["href"] for each in linking} | {each["src"] for each in loading}
    return {unquote(address) for address in used}


def test_no_link_inside_the_site_is_broken(site, pages):
    places = {
        file.resolve(): {each["id"] for each in page.find_all(id=True)}
        for file, page in pages.items()
    }
    broken = set()
    for file, page in pages.items():
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


FILE_NAME = re.compile(r"\.(png|svg|jpg)$|_build|/|^image$", re.IGNORECASE)


def test_every_picture_is_described_in_words(site, pages):
    bad = []
    for file, page in pages.items():
        for image in page.find("body").find_all("img"):
            alt = image.get("alt", "")
            if len(alt.split()) < 5 or FILE_NAME.search(alt):
                bad.append(f"{file.relative_to(site)}: {alt!r}")
    assert bad == []


def test_notebooks_pass_on_their_alternative_texts(site, pages):
    images = pages[site / page_of("11_error_weights")].find_all("img")
    texts = [image["alt"] for image in images]
    assert len(texts) == 2
    assert texts[1].startswith("Lasso: majorities put refusals first")


def test_every_page_has_a_description_and_no_card_without_an_address(site, pages):
    for file, page in pages.items():
        if file.name == "search.html":
            continue
        description = page.find("meta", attrs={"name": "description"})
        assert description, file
        assert len(description["content"]) > 20, file
        assert not page.find("meta", property="og:title"), file


def test_a_card_has_the_picture_of_the_first_finding(site, monkeypatch):
    monkeypatch.syspath_prepend(paths.ROOT / "docs")
    import conf

    address = "https://example.org/site/"
    monkeypatch.setattr(conf, "html_baseurl", address)
    page = new_document("page")
    page += nodes.paragraph("", 'Refusals & "errors"')
    context = {"title": "<em>11</em>", "pageurl": f"{address}11.html", "metatags": ""}
    conf.add_description(None, "11", "page.html", context, page)
    tags = BeautifulSoup(context["metatags"], "html.parser").find_all("meta")
    card = {tag.get("property", tag.get("name")): tag["content"] for tag in tags}
    assert card["og:title"] == "11"
    assert card["description"] == card["og:description"] == 'Refusals & "errors"'
    assert card["og:image"].startswith(address)
    assert (site / card["og:image"].removeprefix(address)).is_file()


def test_the_search_has_no_words_of_code(site):
    index = (site / "searchindex.js").read_text()
    assert "jackknif" in index
    assert "set_size_inch" not in index
    assert "sort_valu" not in index
