"""Numbers of README and first cells are those of the results they name."""

import re

import pytest
from marked_numbers import (
    ALLOWED,
    FIRST_CELLS,
    MARKED,
    NUMBER,
    PICTURE,
    WHOLE,
    Sources,
    problems,
    read_sources,
    text_of,
)

from helpers import paths
from helpers.claims import report
from helpers.data.published import read_text
from helpers.run.notebooks import notebook_files

PAGES = (*WHOLE, *FIRST_CELLS)


@pytest.fixture(scope="module")
def sources() -> Sources:
    """What marked numbers are compared with."""
    return read_sources()


@pytest.mark.parametrize("page", PAGES)
def test_every_number_and_verdict_is_that_of_its_mark(page, sources):
    found = problems(page, text_of(page), sources)
    assert not found, "\n".join(found)


def marked_numbers(text: str) -> list[tuple[int, int]]:
    """Where marked numbers begin and end, those of alternative texts included."""
    ends = [mark.span("number") for mark in MARKED.finditer(text)]
    for picture in PICTURE.finditer(text):
        if picture["sources"]:
            start = picture.start("words")
            for number in re.finditer(NUMBER, picture["words"]):
                ends.append((start + number.start(), start + number.end()))
    return ends


def next_digits(character: str) -> list[str]:
    """The digits above and below a digit, the smallest changes; none of a comma."""
    if not character.isdigit():
        return []
    return [str((int(character) + step) % 10) for step in (1, -1)]


@pytest.mark.parametrize("page", PAGES)
def test_each_changed_digit_is_noticed(page, sources):
    text = text_of(page)
    numbers = marked_numbers(text)
    assert numbers
    unnoticed = []
    for start, end in numbers:
        for place in range(start, end):
            for digit in next_digits(text[place]):
                changed = text[:place] + digit + text[place + 1 :]
                if not problems(page, changed, sources):
                    unnoticed.append(changed[start - 20 : end + 20])
    assert unnoticed == []


@pytest.mark.parametrize("page", PAGES)
def test_each_added_or_unmarked_number_is_noticed(page, sources):
    text = text_of(page)
    without_mark = [
        text[: mark.start("kind") - len("<!-- ")] + text[mark.end() :]
        for mark in MARKED.finditer(text)
    ]
    paragraphs = text.split("\n\n")
    added = [text + " Of 17 answers."]
    for number, paragraph in enumerate(paragraphs):
        if not paragraph.startswith("    "):  # code
            more = [*paragraphs[:number], paragraph + " So are 17 %."]
            added.append("\n\n".join([*more, *paragraphs[number + 1 :]]))
    unnoticed = [
        changed
        for changed in [*without_mark, *added]
        if not problems(page, changed, sources)
    ]
    assert unnoticed == []


def test_each_allowed_phrase_is_on_its_page():
    stale = [
        phrase
        for page, phrases in ALLOWED.items()
        for phrase in phrases
        if phrase not in text_of(page)
    ]
    assert stale == []


RESULT = {"estimate": "-1.4968", "low": "-2.1", "high": "-0.9", "share": "0.4014"}
STRADDLING = {"estimate": "10.8187", "low": "-8.29515", "high": "29.9326"}
EXAMPLES = Sources(
    {("drop", "", ""): RESULT, ("gap", "facts", "by prompt"): STRADDLING},
    {"tree.rho": "0.830"},
    {"tree.rho": "reproduces"},
    {"supported": 6},
)
GAP = "gap [facts] {by prompt}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("−1.50<!-- result: drop -->", []),
        ("lower by 1.50<!-- result: drop -->", []),
        ("lower by 1.30<!-- result: drop -->", ["drop: 1.30, not -1.4968"]),
        ("40 %<!-- result: drop share -->", []),
        ("40<!-- result: drop share -->", ["drop share: 40, not 0.4014"]),
        (f"−8<!-- result: {GAP} low --> to 30<!-- result: {GAP} high -->", []),
        (f"8<!-- result: {GAP} low -->", [f"{GAP} low: 8, not -8.29515"]),
        ("1<!-- result: gap -->", ["gap: no such number"]),
        ("1<!-- result: drop p -->", ["drop p: no such number"]),
        ("1<!-- result: the drop -->", ["the drop: no name of a result"]),
        ("0.83<!-- reported: tree.rho -->", []),
        ("0.84<!-- reported: tree.rho -->", ["tree.rho: 0.84, not 0.83"]),
        ("6<!-- main claims: supported -->", []),
        ("7<!-- main claims: supported -->", ["supported: 7, not 6"]),
        ("it reproduces<!-- claim: tree.rho -->", []),
        (
            "it differs<!-- claim: tree.rho -->",
            ["tree.rho: it differs, not reproduces"],
        ),
        ("not reproduces<!-- claim: tree.rho -->", ["tree.rho: not reproduces, not"]),
        ("ten<!-- result: drop -->", ["<!-- result: drop -->: behind no"]),
        (
            "1.50 points <!-- result: drop -->",
            ["<!-- result: drop -->: behind no", "1.50: not"],
        ),
        ("in 40 % of `n = 7` [07](07_a.ipynb)", ["40: not marked"]),
        ("Figure 1 (2024), section 4.1, 95 % CI, [notebook 11](11_a.ipynb)", []),
        ("![1.5, 40 %](a_7.png)<!-- results: drop low; drop share -->", ["drop low"]),
        ("[![1.5, 40 %](a.png)](b)<!-- results: drop; drop share -->", []),
        ("![1.5, 40 %](a.png)<!-- results: drop -->", ["1.5, 40 %: 2 numbers, 1"]),
        ("![1.5](a.png)", ["1.5: 1 numbers, 0 marked"]),
    ],
)
def test_marks_are_read_and_compared_at_their_digits(text, expected):
    found = problems("a page", text, EXAMPLES)
    assert len(found) == len(expected)
    for problem, beginning in zip(found, expected, strict=True):
        assert problem.startswith(beginning)


def test_the_report_is_written_from_the_committed_tables():
    claims = read_text(paths.RESULTS / "claims.csv")
    numbers = read_text(paths.RESULTS / "authors_numbers.csv")
    links = {}
    for name, file in notebook_files().items():
        links[name] = f"../{file.relative_to(paths.ROOT).as_posix()}"
    written = (paths.ROOT / "docs" / "replication_report.md").read_text()
    assert report.write(claims, numbers, links) == written
