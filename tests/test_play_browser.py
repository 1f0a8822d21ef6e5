"""The page Play in a browser: needs requirements-browser.lock, and Chromium."""

import itertools

import pandas as pd
import pytest

pytest.importorskip("playwright", reason="requirements-browser.lock is not installed")
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect
from test_play import RULES, counts, drawn, ratings  # noqa: F401

expect.set_options(timeout=30_000)  # ms; a busy machine draws slowly
WIDTHS = [360, 390, 480, 600, 768, 900, 1024, 1150, 1280, 1366, 1440]
ASPECTS = ["factuality", "amount", "formality"]


@pytest.fixture(scope="module")
def address(site) -> str:
    """Where the page is."""
    return (site / "docs" / "play.html").as_uri()


@pytest.fixture
def page(browser, address):
    """The page, opened; it has neither errors nor requests to other hosts."""
    opened = browser.new_page()
    requests, errors = [], []
    opened.on("request", lambda request: requests.append(request.url))
    opened.on("pageerror", lambda error: errors.append(error))
    opened.goto(address)
    yield opened
    assert errors == []
    assert [each for each in requests if not each.startswith(("file:", "data:"))] == []
    opened.close()


def numbers(page, part: str) -> list[str]:
    """What stands beside the bars."""
    return page.locator(f"#play-{part} .bars b").all_inner_texts()


def test_the_story_is_there_before_anything_is_touched(page):
    assert numbers(page, "answers") == ["20.8 %", "13.5 %", "3.6 %"]
    assert page.locator("#play-answers .dots i").count() == 279
    assert page.locator("#play-answers [data-expert=error] i").count() == 58
    assert numbers(page, "ratings") == ["1.8 of 3", "2.3 of 3", "1.6 of 3"]
    assert "165 ratings" in page.locator("#play-ratings [role=status]").inner_text()
    assert numbers(page, "redraws")[:2] == ["0.95", "123×"]


def test_a_rule_moves_the_rate(page, counts):  # noqa: F811
    page.locator("#play-answers input:checked").focus()
    for rule in reversed(RULES):  # by keyboard, from right to left
        flags = 100 * RULES[rule](counts["share"])
        of_both = flags.groupby(counts["expert"]).mean()
        assert numbers(page, "answers")[2] == f"{flags.mean():.1f} %"
        gap = abs(flags.mean() - 100 * (counts["expert"] == "error").mean())
        status = page.locator("#play-answers [role=status]")
        assert f"{gap:.1f} points" in status.inner_text()
        for label, rate in of_both.items():
            text = page.locator(f'[data-text="{label}"]').inner_text()
            assert f"flags {rate:.0f} % of" in text
        page.keyboard.press("ArrowLeft")


def test_every_combination_has_its_means(page, ratings):  # noqa: F811
    rows = ratings.set_index(ASPECTS)
    levels = [list(dict.fromkeys(ratings[aspect])) for aspect in ASPECTS]
    place = page.locator("#play-ratings")
    for combination in itertools.product(*levels):
        for level in combination:
            place.get_by_label(level, exact=True).check()
        row = rows.loc[combination]
        shown = [row["mean"], row["weighted sum"], row["tree"]]
        texts = [text.removesuffix(" of 3") for text in numbers(page, "ratings")]
        read = [float(text.replace("−", "-")) for text in texts]
        assert read == pytest.approx(shown, abs=0.0501)
        status = place.locator("[role=status]").inner_text()
        assert f"{row['ratings']:,} ratings" in status
        assert ("too few" in status) == (row["ratings"] < 30)
        path = place.locator(".tree .here").all_inner_texts()
        questions = row["questions of the tree"].split(", ")
        assert path[:3] == [each.split(":")[0] + "?" for each in questions]
        assert float(path[3]) == pytest.approx(row["tree"], abs=0.0501)
    last = place.locator(".map [aria-current=true]").inner_text()
    cell = ratings[
        (ratings["factuality"] == "entirely right")
        & (ratings["amount"] == "says too much")
    ]
    mean = (cell["mean"] * cell["ratings"]).sum() / cell["ratings"].sum()
    assert last == f"{mean:.2f}"


def test_a_cell_can_be_clicked(page):
    page.locator("#play-ratings .map").get_by_text("0.45").click()
    assert page.get_by_label("entirely wrong", exact=True).is_checked()
    assert page.get_by_label("says enough", exact=True).is_checked()


def test_redraws_are_shown_and_counted(page, drawn):  # noqa: F811
    place = page.locator("#play-redraws")
    status = place.locator("[role=status]")
    place.get_by_label("by the share of raters").check()
    place.get_by_label("double").check()
    button = place.get_by_role("button")
    button.focus()
    fit = drawn["fits"][-1]
    assert (fit["labels"], fit["penalty"]) == ("share", 0.02)
    table = pd.DataFrame(fit["redraws"], columns=drawn["errors"])
    first = table.idxmax(axis="columns")
    for redraw in range(3):
        page.keyboard.press("Enter")
        text = status.inner_text()
        assert text.startswith(f"Redraw {redraw + 1} of 200: {first[redraw]} comes")
        weights = [text.replace("−", "-") for text in numbers(page, "redraws")[::2]]
        shown = [float(weight) for weight in weights]
        expected = table.loc[redraw] / 10_000
        assert shown == pytest.approx(expected.tolist(), abs=0.0051)
    times = first.value_counts().reindex(drawn["errors"], fill_value=0)
    assert numbers(page, "redraws")[1::2] == [f"{count}×" for count in times]


def test_every_control_is_reached_by_keyboard(page):
    page.locator("#play-answers input:checked").focus()
    reached = []
    for _ in range(20):
        here = page.evaluate(
            "document.activeElement.name || document.activeElement.type"
        )
        reached.append(here)
        page.keyboard.press("Tab")
    wanted = ["rule", *ASPECTS, "labels", "penalty", "button"]
    assert [each for each in reached if each in wanted] == wanted


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pictures_fit_every_screen(browser, address, scheme):
    page = browser.new_page(color_scheme=scheme)
    page.goto(address)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        wider = page.evaluate(
            """() => [...document.querySelectorAll(".play, .play *")].filter((each) => {
              const room = each.closest("section").getBoundingClientRect();
              const box = each.getBoundingClientRect();
              const isDrawn = box.width > 0;
              const isInside = box.left > room.left - 1 && box.right < room.right + 1;
              return isDrawn && !isInside;
            }).length"""
        )
        assert (width, wider) == (width, 0)
    page.close()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 360)])
def test_pictures_are_accessible(browser, address, scheme, width):
    page = browser.new_page(
        viewport={"width": width, "height": 800}, color_scheme=scheme
    )
    page.goto(address)
    for summary in page.locator("article summary").all():
        summary.click()
    violations = Axe().run(page, context="article").response["violations"]
    serious = [
        violation["id"]
        for violation in violations
        if violation["impact"] in ("serious", "critical")
    ]
    assert serious == []
    page.close()


def test_nothing_moves_for_those_who_ask_for_it(browser, address):
    speed = "getComputedStyle(document.querySelector('.bar i')).transitionDuration"
    for motion, duration in {"reduce": "0s", "no-preference": "0.3s"}.items():
        page = browser.new_page(reduced_motion=motion)
        page.goto(address)
        assert page.evaluate(speed) == duration
        page.close()


def test_without_a_script_there_are_pictures_and_tables(browser, address):
    page = browser.new_page(java_script_enabled=False)
    page.goto(address)
    pictures = page.locator("article noscript img")
    assert pictures.count() == 3
    for picture in pictures.all():
        assert len(picture.get_attribute("alt")) > 60
    assert page.locator("article table tr").count() == 18 + 37 + 11
    page.close()
