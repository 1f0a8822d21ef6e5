"""The site, built from what is committed, and opened in a browser if there is one."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urldefrag

import nbformat
import pandas as pd
import pytest
from bs4 import BeautifulSoup

from helpers import paths
from helpers.claims import collection, verdicts
from helpers.data.published import read_text

WIDTHS = {"desktop": (1280, 900), "phone": (390, 844)}
KINDS = (
    "index.html",
    "claims.html",
    "figures.html",
    "findings.html",
    "glossary.html",
    "holds.html",
    "papers/hosking.html",
    "notebooks/11_error_weights.html",
    "reference/stats.html",
    "run.html",
    "search.html",
)
CLAIM = "hosking.lasso.refusal_strongest"
# What does not fit: parts wider than the column of text that nothing scrolls, words
# that a cell breaks, captions beyond the screen.
FAULTS = r"""() => {
  const column = document.querySelector("article");
  if (!column) return [];
  const found = [];
  const whole = /\p{L}{2,25}|\[[-\d.,]+\s[-\d.,]+\]/gu;  // words and intervals
  const range = new Range();
  const seen = (node) => node.checkVisibility({ contentVisibilityProperty: true });
  const style = (node) => getComputedStyle(node).overflowX;
  const scrolled = (node) =>
    node !== column &&
    (/auto|scroll|hidden/.test(style(node)) || scrolled(node.parentElement));
  const right = (node) => node.getBoundingClientRect().right;
  // wide tables may use the side of the page
  const edge = (node) => (node.closest(".full-width") ? innerWidth : right(column) + 2);
  for (const node of column.querySelectorAll("table, img, pre, div, p, svg"))
    if (seen(node) && right(node) > edge(node) && !scrolled(node.parentElement))
      found.push(`wide: ${node.outerHTML.slice(0, 80)}`);
  for (const node of column.querySelectorAll(".cell_output pre"))
    if (seen(node) && node.scrollWidth > node.clientWidth + 1)
      found.push(`cut: ${node.textContent.slice(0, 80)}`);
  for (const node of column.querySelectorAll("caption")) {
    range.selectNodeContents(node);
    if (right(range) > innerWidth) found.push(`cut: ${node.textContent}`);
  }
  for (const cell of column.querySelectorAll("td, th")) {
    const walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let text = walk.nextNode(); text; text = walk.nextNode()) {
      if (!seen(text.parentElement) || text.parentElement.closest("code")) continue;
      const upright = getComputedStyle(text.parentElement).writingMode;
      if (upright !== "horizontal-tb") continue;
      for (const word of text.textContent.matchAll(whole)) {
        range.setStart(text, word.index);
        range.setEnd(text, word.index + word[0].length);
        const boxes = [...range.getClientRects()].filter((box) => box.width > 1);
        const lines = new Set(boxes.map((box) => Math.round(box.top)));
        if (lines.size > 1) found.push(`broken: ${word[0]}`);
      }
    }
  }
  return found;
}"""
CHROMIUM = (
    shutil.which("chromium")
    or shutil.which("chromium-browser")
    or shutil.which("chrome")
)


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """Folder of the site, built from the committed notebooks; or one named by SITE."""
    if os.environ.get("SITE"):
        return Path(os.environ["SITE"]).absolute()
    pytest.importorskip(
        "sphinx_book_theme", reason="the packages that build the site are missing"
    )
    target = tmp_path_factory.mktemp("site") / "site"
    command = [
        sys.executable,
        str(paths.ROOT / "docs" / "make_site.py"),
        ".",
        str(target),
    ]
    environment = os.environ | {"GITHUB_REPOSITORY": "someone/judging"}
    run = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert run.stderr == ""
    return target


@pytest.fixture(scope="module")
def pages(site) -> dict[str, BeautifulSoup]:
    """Every page of the site, by its place."""
    files = sorted(site.rglob("*.html"))
    return {
        file.relative_to(site).as_posix(): BeautifulSoup(file.read_text(), "lxml")
        for file in files
        if "_static" not in file.parts
    }


@pytest.fixture(scope="module")
def browser():
    """A browser without a window."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed"
    )
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine: install the package chromium")
    with playwright.sync_playwright() as tool:
        options = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = tool.chromium.launch(executable_path=CHROMIUM, args=options)
        yield browser
        browser.close()


@pytest.fixture(params=WIDTHS)
def page(request, browser, site):
    """An empty page of one width.

    It notes errors of scripts and requests to other hosts.
    """
    width, height = WIDTHS[request.param]
    page = browser.new_page(viewport={"width": width, "height": height})
    page.wrong = []

    def note_error(error):
        page.wrong.append(str(error))

    def note_message(message):
        if message.type == "error":
            page.wrong.append(message.text)

    def note_request(request):
        if is_far(request.url):
            page.wrong.append(request.url)

    page.on("pageerror", note_error)
    page.on("console", note_message)
    page.on("request", note_request)
    page.at = lambda place: page.goto((site / "x").as_uri().removesuffix("x") + place)
    yield page
    assert page.wrong == []
    page.close()


def is_far(address: str) -> bool:
    """Tell whether an address is of another host."""
    return not address.startswith(("file:", "data:"))


def shown(page) -> list[str]:
    """Names of the claims in sight."""
    rows = "[...document.querySelectorAll('#claim-table tbody tr')]"
    return page.evaluate(f"{rows}.filter(row => !row.hidden).map(row => row.id)")


def test_the_site_is_whole_and_small(site, pages):
    assert sum(file.stat().st_size for file in site.rglob("*") if file.is_file()) < 45e6
    notebooks = {
        f"notebooks/{file.stem}.html" for file in paths.NOTEBOOKS.rglob("[0-9]*.ipynb")
    }
    assert {*KINDS, *notebooks} <= set(pages)


def test_no_link_is_dead(site, pages):
    names = {
        place: {tag["id"] for tag in page.find_all(id=True)} | {"", "top"}
        for place, page in pages.items()
    }
    dead = []
    for place, page in pages.items():
        for tag in page.find_all(["a", "img", "script", "link"]):
            target = tag.get("href") or tag.get("src")
            if not target or re.match(r"\w+:", target):
                continue
            file, part = urldefrag(target)
            to = (site / place).parent / unquote(file) if file else site / place
            there = os.path.relpath(os.path.normpath(to), site)
            known = "=" in part or there not in names or unquote(part) in names[there]
            if not known or not (site / there.partition("?")[0]).is_file():
                dead.append((place, target))
    assert dead == []


def test_pages_load_nothing_from_elsewhere(pages):
    loaded = [
        tag.get("src") or tag["href"]
        for page in pages.values()
        for tag in page.find_all(["script", "img", "link", "iframe"])
        if tag.get("src") or (tag.get("href") and "stylesheet" in tag.get("rel", []))
    ]
    assert [target for target in loaded if re.match(r"(https?:)?//", target)] == []


def test_every_picture_is_told_in_words(pages):
    for place, page in pages.items():
        told = [image.get("alt", "") for image in page.find_all("img")]
        assert all(len(alt) > 10 and not alt.endswith(".png") for alt in told), place


def test_a_notebook_page_says_its_data_folds_its_code_and_leads_to_its_file(pages):
    page = pages["notebooks/11_error_weights.html"]
    about = page.find(class_="about").get_text()
    assert "Hosking et al.: real." in about
    links = [link["href"] for link in page.find(class_="about").find_all("a")]
    here = "someone/judging"
    assert (
        f"https://github.com/{here}/blob/HEAD/notebooks/11_error_weights.ipynb" in links
    )
    assert any(
        link.startswith(f"https://mybinder.org/v2/gh/{here}/HEAD?") for link in links
    )
    assert "../claims.html#notebook=11_error_weights" in links
    code = page.find_all("div", class_="cell_input")
    assert code
    assert all(cell.find_parent("details") for cell in code)


def test_each_claim_leads_to_the_cell_that_entered_it_and_the_cell_back(pages):
    table = read_text(paths.ROOT / "figures" / "claims.csv").set_index("claim_id")
    entered = table[table["cell"] != ""]
    rows = {
        row["id"]: row for row in pages["claims.html"].select("#claim-table tbody tr")
    }
    assert list(rows) != []
    assert set(rows) == set(table.index)
    for claim_id, claim in entered.iterrows():
        links = [link["href"] for link in rows[claim_id].select("a.cell")]
        # the cell that computes, if the one that judges does not do it itself
        cells = filter(None, [claim.get("computed_in"), claim["cell"]])
        page = f"notebooks/{claim['notebook']}.html"
        assert links == [f"{page}#cell-{cell}" for cell in cells]
    page = pages["notebooks/11_error_weights.html"]
    if table.loc[CLAIM].get("computed_in"):
        assert page.find(id=f"cell-{table.loc[CLAIM, 'computed_in']}")
    backward = page.find(id=f"cell-{table.loc[CLAIM, 'cell']}").find(class_="entered")
    assert f"../claims.html#{CLAIM}" in [
        link["href"] for link in backward.find_all("a")
    ]


def test_headlines_stand_word_by_word_on_their_page_and_short_ones_in_front(pages):
    said = {}
    for place in ("index.html", "findings.html"):
        text = pages[place].find("article").get_text().replace("’", "'")
        said[place] = " ".join(text.split()).replace("–", "-")
    for row in read_text(paths.ROOT / "figures" / "headlines.csv").itertuples():
        assert " ".join(row.sentence.split()) in said["findings.html"], row.headline
        rest = re.split(r"[.?] ", row.short, maxsplit=1)[-1]
        assert " ".join(rest.split()) in said["index.html"], row.headline


def test_counts_and_problems_stand_on_one_page_by_paper(pages):
    table = read_text(paths.ROOT / "figures" / "claims.csv")
    page = pages["holds.html"].find("article")
    said = " ".join(page.get_text().replace("’", "'").split())
    assert verdicts.counted(table) in said
    problems = collection.problems(table)
    studies = list(table["study"].unique())
    wanted = problems.sort_values(
        "study", key=lambda study: study.map(studies.index), kind="stable"
    )
    listed = page.select("ul.causes li")
    touches = [row.find(class_="touches").get_text() for row in listed]
    verdict = [row.find(class_="verdict").get_text() for row in listed]
    assert touches == wanted["touches"].tolist()
    assert verdict == wanted["verdict"].tolist()


def test_a_page_says_what_it_is_about_to_those_who_link_it(pages):
    page = pages["notebooks/14_assertiveness_confound.html"]
    described = page.find("meta", attrs={"name": "description"})["content"]
    assert described.startswith("Models were told to answer cautiously")
    front = pages["index.html"]
    assert front.find("link", rel="icon")
    foot = front.find(class_="colophon")
    assert "MIT licence" in foot.get_text()
    assert foot.find("a", string="how to cite it")["href"].endswith("CITATION.cff")


def test_a_term_is_linked_where_a_page_first_uses_it(pages):
    page = pages["notebooks/10_annotation_quality.html"]
    links = page.select("article a.term")
    terms = [link.get_text() for link in links]
    assert "AC1" in terms
    assert len(set(terms)) == len(terms)
    (link,) = [link for link in links if link.get_text() == "AC1"]
    assert link["href"] == "../glossary.html#term-AC1"
    assert "Gwet" in link["title"]
    assert pages["glossary.html"].find(id="term-AC1")
    assert not pages["glossary.html"].select("article a.term")


def test_a_finished_report_on_own_ratings_is_one_link_away(pages):
    links = [link.get("href") for link in pages["index.html"].select("article a")]
    assert "example/report.html" in links
    report = pages["example/report.html"]
    assert "SIMULATED" in report.get_text().upper()
    assert report.find("body").find("a")["href"] == "../own.html"


def test_each_finding_says_how_sure_it_is(pages):
    sure = collection.how_sure(read_text(paths.ROOT / "figures" / "claims.csv"))
    words = pages["findings.html"].select("span.sure")
    said = [word.get_text().replace("’", "'") for word in words]
    assert sorted(said) == sorted(sure)


def test_a_page_about_the_answers_of_a_stand_in_says_whose_they_are(pages):
    told = {}
    for file in sorted(paths.NOTEBOOKS.rglob("[0-9]*.ipynb")):
        outputs = " ".join(
            re.findall(r'"source of questions: (.+?)\\n"', file.read_text())
        )
        about = pages[f"notebooks/{file.stem}.html"].find(class_="about")
        page = " ".join(about.get_text().split())
        if outputs:
            told[file.stem[:2]] = (
                f"real questions; {outputs.partition('; ')[2]}" in page
            )
        else:
            assert "in place of" not in page
    assert told
    assert all(told.values())


def test_the_menu_asks_the_questions_of_the_notebooks(pages):
    menu = pages["index.html"].select("nav a")
    links = {link.get_text(" ", strip=True).replace("’", "'") for link in menu}
    assert links >= {
        "Does a model's own score tell how well people do with it?",
        "Did the preambles change the tone?",
    }


def test_no_page_shows_markup_or_an_empty_sentence(pages):
    for place, page in pages.items():
        assert not [
            part for part in page.select("article p") if "** " in part.get_text()
        ], place
        about = page.find(class_="about")
        assert about is None or re.search(r"(page|run): ?\w", about.get_text()), place


def test_a_page_says_where_its_answers_are_simulated(pages):
    for name in ("31_question_level", "32_user_simulator", "53_your_ratings"):
        about = pages[f"notebooks/{name}.html"].find(class_="about")
        assert "simulated data, which say nothing" in about.get_text(), name


def test_exhibits_stand_in_the_order_of_the_papers(pages):
    def heads(study: str) -> list[str]:
        rows = pages["figures.html"].select(f"#exhibits-{study} tbody th")
        return [row.find(string=True).strip() for row in rows]

    hosking = heads("hosking")
    assert hosking[:3] == ["Figure 1", "Figure 2", "Figure 3"]
    assert hosking[-4:] == ["Table 1", "Table 2", "Table 3", "Table 4"]
    chatbench = heads("chatbench")
    assert chatbench.index("Figure 6") < chatbench.index("Figure A1")


def test_each_exhibit_says_its_page_its_claims_and_where_it_is_redone_or_why_not(pages):
    exhibits = read_text(paths.PUBLISHED / "figures.csv")
    page = pages["figures.html"]
    assert len(page.select("table.exhibits tbody tr")) == len(exhibits)
    for row in exhibits.itertuples():
        (cells,) = [
            shown.find_all(["th", "td"])
            for shown in page.select(f"#exhibits-{row.study} tbody tr")
            if shown.find("th").find(string=True).strip() == row.exhibit
        ]
        said = f"page {row.page}" if row.page else "page not known"
        assert cells[0].find(class_="note").get_text() == said
        here = cells[3]
        if row.notebook:
            assert here.find("a")["href"].startswith(f"notebooks/{row.notebook}.html")
        else:
            assert here.get_text(strip=True) == f"Not recomputed: {row.reason}"


def test_an_exhibit_counts_the_verdicts_of_the_claims_that_name_it(pages):
    table = read_text(paths.ROOT / "figures" / "claims.csv")
    of_humbel = table[table["study"] == "humbel"]
    carried = of_humbel[of_humbel["where"].str.contains(r"Table 3\b")]
    unchecked = verdicts.reasons(carried) != ""
    wanted = carried["verdict"].mask(unchecked, verdicts.NOT_CHECKED).value_counts()
    (cell,) = [
        row.find(class_="carried")
        for row in pages["figures.html"].select("#exhibits-humbel tbody tr")
        if row.find("th").find(string=True).strip() == "Table 3"
    ]
    shown = {
        link.find(class_="verdict").get_text(): int(link.get_text().split()[-1])
        for link in cell.find_all("a")
    }
    assert shown == wanted.to_dict()
    rank = [*verdicts.VERDICTS, verdicts.NOT_CHECKED].index
    assert list(shown) == sorted(shown, key=rank)


def test_every_figure_or_table_that_claims_name_is_listed(pages):
    exhibits = read_text(paths.PUBLISHED / "figures.csv")
    known = {(row.study, row.exhibit) for row in exhibits.itertuples()}
    named = set()
    for row in pages["claims.html"].select("#claim-table tbody tr"):
        for exhibit in filter(None, row["data-exhibit"].split("|")):
            named.add((row["data-study"], exhibit))
    assert named
    assert named <= known


def test_verdicts_look_alike_on_all_pages(pages):
    known = "|".join(verdicts.VERDICTS)
    verdict_alone = re.compile(rf"({known})(, not after correction)?( \(?\w+\)?)?")
    bare = []
    for place, page in pages.items():
        if place.startswith("example"):
            continue
        for cell in page.select("article td"):
            words = cell.get_text(" ", strip=True)
            if verdict_alone.fullmatch(words) and not cell.select(".verdict"):
                bare.append((place, words))
    assert bare == []
    said = pages["notebooks/14_assertiveness_confound.html"].select("td .verdict")
    assert {"leaning", "confirmed"} <= {word.get_text() for word in said}
    assert pages["findings.html"].select("li span.verdict.contradicted")


def test_claims_are_filtered_by_sentences_not_by_names_of_code(pages):
    for field in ("cause", "headline", "notebook"):
        options = pages["claims.html"].select(f"select[name={field}] option[value]")
        words = [option.get_text() for option in options if option["value"]]
        assert words
        assert not [word for word in words if "_" in word.split()[0]], field


def test_the_reference_holds_descriptions_and_nothing_of_the_machine_that_built_it(
    pages,
):
    page = pages["reference/stats.html"]
    described = {tag["id"] for tag in page.find_all("dt", id=True)}
    assert {
        "helpers.stats.lasso.lasso",
        "helpers.stats.agreement.agreement",
    } & described
    assert not [name for name in described if name.rpartition(".")[2].startswith("_")]
    everything = " ".join(page.get_text() for page in pages.values())
    assert "environ({" not in everything
    assert str(paths.ROOT) not in everything


def test_formulas_need_no_script(pages):
    page = pages["notebooks/31_question_level.html"]
    assert page.find_all("math")
    assert "underbrace" not in page.find("article").get_text()


def test_no_page_has_a_script_error_or_leaves_the_folder(page, pages):
    widths, faults = {}, {}
    for place in pages:
        page.at(place)
        widths[place] = page.evaluate(
            "document.documentElement.scrollWidth - innerWidth"
        )
        faults[place] = page.evaluate(FAULTS)
    assert {place: width for place, width in widths.items() if width > 0} == {}
    assert {place: found for place, found in faults.items() if found} == {}


def test_the_first_screen_says_what_was_found(page):
    page.at("index.html")
    assert not page.locator(".bd-header").is_visible()
    found = page.locator("article .finding h2").first
    headlines = read_text(paths.ROOT / "figures" / "headlines.csv")
    leads = [short[:25] for short in headlines["short"] if short]
    assert found.inner_text().startswith(tuple(leads))
    box = found.bounding_box()
    assert box["y"] + box["height"] < page.viewport_size["height"]


def test_a_figure_that_needs_a_large_screen_has_a_small_version_on_phones(page):
    page.at("notebooks/50_robustness.html")
    small = page.locator(".tag_small-figure img")
    large = page.locator(".cell:has(+ .tag_small-figure) img")
    assert small.count() == large.count() > 0
    on_phone = page.viewport_size["width"] < 600
    assert small.first.is_visible() == on_phone
    assert large.first.is_visible() != on_phone


def test_the_verdicts_at_the_end_of_a_notebook_are_on_the_screen(page):
    page.at("notebooks/14_assertiveness_confound.html")
    table = page.locator(
        "table", has=page.locator("caption", has_text="contradictions first")
    )
    verdict = table.locator("tbody tr").first.locator("td").last
    box = verdict.bounding_box()
    assert verdict.inner_text().startswith(verdicts.VERDICTS)
    assert box["x"] + box["width"] <= page.viewport_size["width"]


def test_figures_stay_on_white_in_the_dark(page):
    page.at("notebooks/11_error_weights.html")
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    image = "document.querySelector('.cell_output img')"
    assert (
        page.evaluate(f"getComputedStyle({image}).backgroundColor")
        == "rgb(255, 255, 255)"
    )
    # a mat around it and less glare
    assert float(page.evaluate(f"parseFloat(getComputedStyle({image}).paddingTop)")) > 5
    assert page.evaluate(f"getComputedStyle({image}).filter") == "brightness(0.86)"


def test_a_wide_table_uses_the_empty_side_and_the_list_of_sections_makes_room(page):
    page.at("notebooks/52_study_design.html")
    table = page.locator(
        "table", has=page.locator("caption", has_text="real and drawn")
    )
    if page.viewport_size["width"] < 600:
        assert page.locator(".full-width").count() == 0
        return
    table.scroll_into_view_if_needed()
    last = table.locator("thead th").last.bounding_box()
    assert last["x"] + last["width"] <= page.viewport_size["width"]
    box = page.locator(".full-width", has=table)
    assert box.evaluate("box => box.scrollWidth <= box.clientWidth")
    page.wait_for_selector(".bd-sidebar-secondary.hide")


def test_an_open_claim_uses_the_width_of_the_table(page):
    page.at(f"claims.html#{CLAIM}")
    row = page.locator(f"[id='{CLAIM}']")
    told, whole = row.locator("dl").bounding_box(), row.bounding_box()
    assert told["width"] > 0.9 * whole["width"]
    verdict = row.locator("td.verdict").bounding_box()
    is_phone = page.viewport_size["width"] < 600
    assert (told["y"] > verdict["y"]) != is_phone


def test_a_figure_of_a_paper_leads_to_its_claims(page):
    page.at("figures.html")
    cell = page.locator("#exhibits-hosking tr", has_text="Figure 1").first
    link = cell.locator(".carried a").first
    number = int(link.inner_text().split()[-1])
    link.click()
    found = "document.getElementById('found')?.textContent"
    page.wait_for_function(f"{found}.startsWith('{number} of ')")
    assert len(shown(page)) == number
    exhibits = page.locator("select[name=exhibit]")
    assert exhibits.input_value() == "Figure 1"


def test_axe_finds_nothing_serious(page):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    options = {"resultTypes": ["violations"], "preload": False}
    for place in KINDS:
        page.at(place)
        mode = "dark" if page.viewport_size["width"] < 600 else "light"
        page.evaluate(f"document.documentElement.dataset.theme = '{mode}'")
        faults = axe.run(page, options=options).response["violations"]
        found = [
            (fault["id"], [node["html"][:200] for node in fault["nodes"]][:3])
            for fault in faults
            if fault["impact"] in ("serious", "critical")
        ]
        assert found == [], f"{place}, {mode}"


def test_the_address_of_a_claim_opens_it_and_its_cell(page):
    page.at(f"claims.html#{CLAIM}")
    row = page.locator(f"[id='{CLAIM}']")
    assert row.locator("details").get_attribute("open") is not None
    assert "ranking" in row.inner_text()
    row.locator("a.cell").last.click()  # the one that judges
    cell = page.url.partition("#")[2]
    assert page.locator(f"[id='{cell}']").bounding_box()["y"] < 844
    content = nbformat.read(paths.NOTEBOOKS / "11_error_weights.ipynb", as_version=4)
    sources = {f"cell-{entry.id}": entry.source for entry in content.cells}
    source = sources[cell]
    assert '"refusal_strongest"' in source
    assert (
        "refusal_strongest" in page.locator(f"[id='{cell}'] .cell_input").text_content()
    )


def test_search_filters_and_order_give_the_right_claims(page):
    table = collection.chains(paths.ROOT / "figures")
    page.at("claims.html")
    first = shown(page)
    assert len(first) == 50
    touches = collection.touched(table).loc[first]
    assert touches.tolist() == sorted(touches, key=collection.TOUCHES.index)
    assert first[0] in table.index[table["verdict"] == "contradicted"]
    page.select_option("select[name=verdict]", "contradicted")
    page.select_option("select[name=study]", "kamoda")
    wanted = table[(table["verdict"] == "contradicted") & (table["study"] == "kamoda")]
    assert set(shown(page)) == set(wanted.index)
    assert f"{len(wanted)} of {len(table):,} claims" in page.inner_text("#found")
    assert "verdict=contradicted" in page.url
    page.click("button[type=reset]")
    page.wait_for_function("!document.querySelector('select[name=study]').value")
    page.fill("#filters input", "Table 2 relevance MPT")
    words = r"(?=.*Table 2)(?=.*relevance)(?=.*MPT)"
    named = table.index[table["statement"].str.contains(words)]
    assert set(named) <= set(shown(page))
    assert len(shown(page)) < 20
    page.fill("#filters input", "refusal_strongest")
    assert shown(page) == [CLAIM]
    cause = table.loc[table["cause"] != "", "cause"].iloc[0]
    page.at("index.html")
    page.at(f"claims.html#cause={cause}")
    assert set(shown(page)) == set(table.index[table["cause"] == cause])


def test_columns_sort_both_ways(page):
    page.at("claims.html#verdict=slip")
    if page.viewport_size["width"] < 600:
        assert not page.is_visible("th button")
        return
    page.click("th.printed button")
    up = printed_numbers(page)
    page.click("th.printed button")
    assert up == sorted(up)
    assert printed_numbers(page) == sorted(up, reverse=True)


def printed_numbers(page) -> list[float]:
    """Numbers in the column of what is printed, as far as claims are in sight."""
    shown_cells = "#claim-table tbody tr:not([hidden]) td.printed"
    cells = f"[...document.querySelectorAll('{shown_cells}')]"
    texts = page.evaluate(f"{cells}.map(cell => cell.textContent)")
    return [float(text) for text in texts if text]


def test_the_search_of_the_site_works_from_a_folder(page):
    page.at("search.html?q=Krippendorff")
    first = page.locator("#results li").first
    assert "krippendorff" in first.locator("mark").first.inner_text().lower()
    assert "notebooks/10_annotation_quality" in page.content()


def test_the_search_knows_the_words_and_numbers_that_readers_type(page):
    page.at("search.html?q=hallucinations")
    found = page.locator("#results li")
    assert "factual" in found.first.locator("mark").first.inner_text().lower()
    page.fill(".bd-search-container input[name=q]", "AC1 0.64")
    assert "0.64" in found.first.locator("mark").all_inner_texts()
    assert "0.641" not in " ".join(found.locator("mark").all_inner_texts())
    page.fill(".bd-search-container input[name=q]", "power analysis")
    assert "How large must a rating study be" in found.first.inner_text()
    page.fill(".bd-search-container input[name=q]", "inter-rater reliability")
    assert "10_annotation_quality" in " ".join(links_of(found))
    page.fill(".bd-search-container input[name=q]", "Krippendorff qwertz")
    assert "none has all" in page.inner_text("#hits")
    page.fill(".bd-search-container input[name=q]", "qwertz")
    assert page.inner_text("#hits") == "Nothing found. Try another word."
    assert found.count() == 0


def links_of(found) -> list[str]:
    """Addresses of the first five results."""
    links = found.locator("a").all()[:5]
    return [link.get_attribute("href") for link in links]


def test_all_code_of_a_page_unfolds_with_one_click(page):
    page.at("notebooks/11_error_weights.html")
    folds = "[...document.querySelectorAll('details.hide')].map(fold => fold.open)"
    assert not any(page.evaluate(folds))
    page.click(".show-code")
    assert all(page.evaluate(folds))
    page.click(".show-code")
    assert not any(page.evaluate(folds))
    page.locator(".section-code").nth(1).click()
    assert any(page.evaluate(folds))
    assert not all(page.evaluate(folds))


@pytest.fixture
def write(monkeypatch, tmp_path):
    """Function that writes the sources of the site of a run, and gives their folder."""
    pytest.importorskip("docutils")
    monkeypatch.syspath_prepend(paths.ROOT / "docs")
    import pages_of
    import record

    def written(run: Path, last: Path = paths.ROOT / "figures") -> Path:
        monkeypatch.setattr(record, "COMMITTED", last)
        pages_of.write(record.Record(run), tmp_path / "sources", "")
        return tmp_path / "sources"

    return written


def rows_of(sources: Path) -> dict[str, str]:
    """Text of each row of the table of claims."""
    page = BeautifulSoup((sources / "claims.md").read_text(), "lxml")
    return {
        row["id"]: row.get_text(" ") for row in page.select("#claim-table tbody tr")
    }


def test_a_changed_data_file_makes_the_claims_that_read_it_stale(write, tmp_path):
    last = tmp_path / "figures"
    shutil.copytree(paths.ROOT / "figures", last)
    table = read_text(last / "provenance.csv")
    changed = "data/justifications_hand_check.csv"
    table.loc[table["file"] == changed, "sha256"] = "0" * 64
    table.to_csv(last / "provenance.csv", index=False)
    before = collection.chains(paths.ROOT / "figures")
    rest_on_it = before.index[[changed in files for files in before["files"]]]
    rows = rows_of(write(paths.ROOT, last))
    assert {name for name, text in rows.items() if "stale" in text} == set(rest_on_it)
    assert len(rest_on_it) > 0


def write_run(run: Path, kamoda: str) -> pd.DataFrame:
    """Write a run like the committed one but for one study; give its claims."""
    for folder in ("notebooks", "data", "figures"):
        (run / folder).mkdir(parents=True)
    for file in (paths.ROOT / "figures").glob("*.png"):
        shutil.copy(file, run / "figures")
    kinds = {"hosking": "real", "kamoda": kamoda, "chatbench": "printed"}
    for study, kind in {**kinds, "humbel": "real"}.items():
        (run / "data" / study).write_text(kind)
    for file in paths.NOTEBOOKS.rglob("[0-9]*.ipynb"):
        shutil.copy(file, run / "notebooks")
    for kept in ("claims.csv", "headlines.csv", "provenance.csv"):
        shutil.copy(paths.ROOT / "figures" / kept, run)
    return read_text(run / "claims.csv")


def test_a_simulated_run_shows_what_the_last_real_one_found(write, tmp_path):
    run = tmp_path / "run"
    name = "22_decision_tree"
    table = write_run(run, "simulated")
    made_up = table["source"].eq("real") & table["study"].eq("kamoda")
    table.loc[made_up, ["verdict", "computed", "source"]] = "open", "99.9", "simulated"
    table.to_csv(run / "claims.csv", index=False)
    (run / "missing.json").write_text(
        '{"10_annotation_quality": "its files are not here"}'
    )
    sources = write(run)
    page = nbformat.read(sources / "notebooks" / f"{name}.ipynb", as_version=4)
    assert "SIMULATED DATA say nothing about people" in page.cells[0].source
    last = [
        cell for cell in page.cells if "last-real-run" in cell.metadata.get("tags", [])
    ]
    assert last
    assert all(cell.metadata["mystnb"]["image"]["alt"] for cell in last)
    assert "SIMULATED DATA" in (sources / "index.md").read_text()
    other = (sources / "notebooks" / "10_annotation_quality.ipynb").read_text()
    assert "Not in this run" in other
    assert "its files are not here" in other
    row = rows_of(sources)["kamoda.tree.agrees"]
    assert "confirmed" in row
    assert "on simulated data: open 99.9" in row


def test_one_simulated_study_makes_a_joined_page_simulated(write, tmp_path):
    run = tmp_path / "run"
    table = write_run(run, "simulated")
    made_up = table["source"].eq("real") & table["study"].eq("kamoda")
    table.loc[made_up, "source"] = "simulated"
    table.to_csv(run / "claims.csv", index=False)
    shutil.rmtree(run / "data")  # the notes of a whole run on what data it had
    sources = write(run)
    first = {
        name: nbformat.read(sources / "notebooks" / f"{name}.ipynb", as_version=4)
        .cells[0]
        .source
        for name in ("00_overview", "11_error_weights")
    }
    assert "SIMULATED DATA" in first["00_overview"]
    assert "Kamoda et al.: simulated" in first["00_overview"]
    assert "SIMULATED DATA" not in first["11_error_weights"]


def test_a_run_that_lost_a_study_says_so_and_shows_what_the_last_real_one_found(
    write, tmp_path
):
    whole = (write(paths.ROOT) / "index.md").read_text()
    run = tmp_path / "run"
    reason = "data of kamoda are missing: 1 of 2 files are here"
    table = write_run(run, "missing: kamoda: 1 of 2 files are here")
    of_kamoda = table["study"].eq("kamoda")
    lost = sorted(set(table.loc[of_kamoda, "notebook"]) - {""})
    gone = table["notebook"].isin(lost)
    columns = ["verdict", "computed", "evidence", "source", "notebook", "cell"]
    table.loc[gone, columns] = "open", "", "none", "", "", ""
    table.to_csv(run / "claims.csv", index=False)
    headlines = read_text(run / "headlines.csv")
    headlines.loc[headlines["notebook"].isin(lost), ["sentence", "source"]] = ""
    headlines.to_csv(run / "headlines.csv", index=False)
    for name in lost:
        (run / "notebooks" / f"{name}.ipynb").unlink()
    (run / "missing.json").write_text(json.dumps(dict.fromkeys(lost, reason)))
    sources = write(run)
    front = (sources / "index.md").read_text()
    assert "<strong>Not in this run</strong>: " in front
    assert "<strong>Not in this run</strong>: " not in whole
    rest = [
        line for line in front.splitlines() if "Not in this run" not in line and line
    ]
    assert sorted(rest) == sorted(line for line in whole.splitlines() if line)
    assert reason in (sources / "notebooks" / "22_decision_tree.ipynb").read_text()
    overview = (sources / "notebooks" / "00_overview.ipynb").read_text()
    assert "Without results of" in overview
    assert "1 of 2 files" not in overview
    row = rows_of(sources)["kamoda.tree.agrees"]
    assert "confirmed" in row
    assert "last real run" in row
    assert "not computed" in row
