"""The site in a browser: needs requirements-browser.lock, and Chromium."""

import shutil
from pathlib import Path
from urllib.parse import quote

import pandas as pd
import pytest

pytest.importorskip("playwright", reason="requirements-browser.lock is not installed")
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

expect.set_options(timeout=30_000)  # ms; a busy machine draws slowly
KINDS = [
    "index.html",
    "docs/replication_report.html",
    "docs/explore.html",
    "notebooks/11_error_weights.html",
    "notebooks/appendix/50_robustness.html",
    "notebooks/appendix/52_plan_a_study.html",
    "reference/helpers.verbs.html",
    "reference/index.html",
    "search.html",
]


@pytest.fixture(scope="module")
def browser():
    """Chromium."""
    with sync_playwright() as playwright:
        program = shutil.which("chromium")
        started = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox"]
        )
        yield started
        started.close()


@pytest.fixture
def report(browser, site):
    """The replication report, opened."""
    page = browser.new_page()
    page.goto((site / "docs" / "replication_report.html").as_uri())
    return page


def test_a_filter_survives_reloading(report):
    report.fill("#report-filter", "inconclusive")
    shown = report.locator(".report-filter output").inner_text()
    rows = report.locator("article tbody tr:visible")
    assert shown.startswith(f"{rows.count()} of ")
    report.reload()
    assert report.input_value("#report-filter") == "inconclusive"
    assert report.locator(".report-filter output").inner_text() == shown


def test_columns_are_sorted_both_ways(report):
    table = report.locator("article table", has_text="verdict").first
    button = table.get_by_role("button", name="verdict")
    verdicts = table.locator("tbody tr td:nth-child(5)")
    button.click()
    rising = verdicts.all_inner_texts()
    button.click()
    assert rising[0] < rising[-1]
    assert verdicts.all_inner_texts()[0] == rising[-1]


def test_each_row_has_an_address(report):
    link = report.get_by_label("Address of this row").first
    link.click()
    assert report.url.endswith(link.get_attribute("href"))
    row = report.url.partition("#")[2]
    assert report.locator(f"tr:has(#{row})").is_visible()


def test_a_choice_leaves_its_specifications(browser, site):
    page = browser.new_page()
    page.goto((site / "notebooks" / "appendix" / "50_robustness.html").as_uri())
    chart = page.locator(".explorer").first
    menus = chart.locator("select")
    menus.first.select_option("factual error, points lower")
    menus.nth(2).select_option("by others")
    expect(chart.get_by_text("48 specifications shown", exact=True)).to_be_visible()
    menus.nth(3).focus()  # by keyboard, too
    page.keyboard.press("ArrowDown")
    expect(chart.get_by_text("24 specifications shown", exact=True)).to_be_visible()


def test_a_plan_depends_on_the_difference_sought(browser, site):
    page = browser.new_page()
    page.goto((site / "notebooks" / "appendix" / "52_plan_a_study.html").as_uri())
    chart = page.locator(".explorer")
    drawing = chart.locator("svg")
    expect(drawing).to_contain_text("answers needed")
    before = drawing.text_content()
    menus = chart.locator("select")
    menus.first.select_option("1 points")
    expect(drawing).not_to_have_text(before)
    after = drawing.text_content()
    menus.nth(1).select_option("25%")
    expect(drawing).not_to_have_text(after)
    expect(drawing).not_to_have_text(before)


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
@pytest.mark.parametrize("file", KINDS)
def test_pages_fit_and_are_accessible(browser, site, file, scheme, width):
    page = browser.new_page(
        viewport={"width": width, "height": 900}, color_scheme=scheme
    )
    page.goto((site / file).as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page)
    serious = [
        violation["id"]
        for violation in found.response["violations"]
        if violation["impact"] in ("serious", "critical")
    ]
    assert serious == []


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
    links = results.locator("ul.search li a").all()
    found = [link.get_attribute("href") for link in links[:5]]
    pages = [f"{page}.html" for page in row.page.split()]
    assert any(page in link for page in pages for link in found), found
