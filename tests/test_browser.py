"""The site in a browser: needs requirements-browser.lock, and Chromium."""

from pathlib import Path
from urllib.parse import quote

import pandas as pd
import pytest

pytest.importorskip("playwright", reason="requirements-browser.lock is not installed")
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

expect.set_options(timeout=30_000)  # ms; a busy machine draws slowly
WIDTHS = [360, 414, 600, 768, 1024, 1150, 1366, 1440, 1920]
# Pages that differ in form; their widths and accessibility stand for the others.
KINDS = [
    "index.html",
    "docs/replication_report.html",
    "docs/own.html",
    "docs/play.html",
    "docs/reference.html",
    "notebooks/11_error_weights.html",
    "notebooks/appendix/20_preferences_and_reasons.html",
    "search.html",
]


def test_no_page_scrolls_sideways(browser, site):
    page = browser.new_page()
    wide = []
    for file in sorted(site.rglob("*.html")):
        page.goto(file.as_uri())
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            if page.evaluate("document.documentElement.scrollWidth") > width:
                wide.append(f"{file.relative_to(site)}: {width}")
    assert wide == []


@pytest.mark.parametrize(("scheme", "width"), [("light", 1366), ("dark", 360)])
@pytest.mark.parametrize("file", KINDS)
def test_pages_are_accessible_and_ask_no_other_host(browser, site, file, scheme, width):
    page = browser.new_page(
        viewport={"width": width, "height": 900}, color_scheme=scheme
    )
    others = []
    page.on("request", lambda request: others.append(request.url))
    page.goto((site / file).as_uri())
    found = Axe().run(page)
    serious = [
        violation["id"]
        for violation in found.response["violations"]
        if violation["impact"] in ("serious", "critical")
    ]
    assert serious == []
    assert [url for url in others if not url.startswith(("file:", "data:"))] == []


SEARCHES = pd.read_csv(Path(__file__).parent / "searches.csv")


@pytest.fixture(scope="module")
def search(browser):
    """The site's search, opened once."""
    return browser.new_page()


@pytest.mark.parametrize("row", list(SEARCHES.itertuples()), ids=lambda row: row.query)
def test_readers_words_find_the_page(search, site, row):
    address = (site / "search.html").as_uri()
    search.goto(f"{address}?q={quote(row.query)}")
    results = search.locator("#search-results")
    expect(results).to_contain_text("Search finished")
    links = results.locator("ul.search li > a").all()
    found = [link.get_attribute("href") for link in links[:5]]
    pages = [f"{page}.html" for page in row.page.split()]
    assert any(page in link for page in pages for link in found), found
