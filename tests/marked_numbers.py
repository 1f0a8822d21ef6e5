"""Numbers that guides and notebooks give, each marked with where it comes from.

A mark is a comment right behind a number or a picture, which readers do not see:

- `0.93<!-- result: NAME -->`: the estimate of a result in results/results.csv. Where it
  is another column: `<!-- result: NAME low -->` (or high, p, share); before that, where
  a result has several, `[part]` and `{interpretation}`.
- `0.830<!-- reported: ID -->`: what the paper reports, in data/published/claims.csv.
- `6<!-- main claims: GROUP -->`: how many main claims are in a group of verdicts.
- `![...](...)<!-- results: NAME [part]; NAME low -->`: numbers of an alternative text,
  in their order.
- `reproduces<!-- claim: ID -->`: a verdict.

A number without a mark is an error, unless it is no result.
"""

import re
from typing import NamedTuple

import nbformat

from helpers import paths
from helpers.claims import report
from helpers.data.published import published_claims, read_text
from helpers.run.notebooks import notebook_files

WHOLE = ("README.md",)
FIRST_CELLS = (
    "00_overview",
    "10_annotation_quality",
    "11_error_weights",
    "12_priming_and_length",
    "13_style_exhibits",
    "14_assertiveness_confound",
    "15_quality_vs_assertiveness",
    "20_preferences_and_reasons",
    "21_weighted_aspect_regression",
    "22_decision_tree",
    "24_automatic_evaluators",
    "51_crowd_vs_expert",
)
PLACES = (
    r"sections?|figures?|tables?|notebooks?|appendix|chapters?|pages?|cells?"
    r"|exercises?|experiments?|equations?"
)
# What is no result on any page.
NO_RESULTS = [
    re.compile(r"```.*?```|`[^`]*`", re.DOTALL),
    re.compile(r"^ {4}(?![-*\d]).*$", re.MULTILINE),  # code, indented
    re.compile(r"\$\$.*?\$\$|\$[^$]*\$", re.DOTALL),
    # the number of a notebook in the words of a link to it
    re.compile(r"\[\**(\d\d)\b(?=[^\]\d]*\]\([^)]*\b\1_\w+\.ipynb)"),
    re.compile(r"\]\([^)]*\)|https?://\S+", re.DOTALL),
    re.compile(r"^[\s#|*]*\d+\. ", re.MULTILINE),  # of a heading or a list
    re.compile(
        rf"\b(?:{PLACES})\s+\d[\d.]*(?:(?:,| and| or| to)\s+\d+)*", re.IGNORECASE
    ),
    re.compile(r"\b(?:19|20)\d\d\b"),
    re.compile(r"\b95 ?%(?= (?:CI|confidence|interval|bootstrap))"),
]
# What else is no result, by page: words, and why they need no mark.
FIVE = {"on a scale from 1 to 5": "scale of the ratings"}
FOUR = {"from 0 to 3": "scale of the ratings"}
GPT_4 = {"GPT-4": "name of a model"}
DURATIONS = {"10 to 20 seconds": "how long a run takes", "Python 3.11": "a version"}
AC1 = {"AC1": "name of a coefficient"}
BELZ = {"about 5 %": "an estimate of Belz et al. 2023, abstract"}
ALLOWED = {
    "README.md": FIVE | FOUR | GPT_4 | DURATIONS | AC1 | BELZ,
    "00_overview": FOUR,
    "11_error_weights": FIVE,
    "21_weighted_aspect_regression": FOUR,
    "22_decision_tree": FOUR | {"points of 3": "scale of the ratings"},
    "24_automatic_evaluators": GPT_4,
}

NUMBER = r"[−-]?\d+(?:,\d{3})*(?:\.\d+)?"
MARKED = re.compile(
    rf"(?<![\w.,])(?P<number>{NUMBER})(?P<percent> ?%)?"
    r"<!-- (?P<kind>result|reported|main claims): (?P<source>.+?) -->"
)
PICTURE = re.compile(
    r"!\[(?P<words>[^\]]*)\]\([^)]*\)(?:\]\([^)]*\))?"  # it may be a link
    r"(?:<!-- results: (?P<sources>.+?) -->)?"
)
VERDICT = re.compile(r"\**<!-- claim: (?P<id>\S+) -->")
RESULT = re.compile(
    r"(?P<name>\S+?)(?: \[(?P<part>.+?)\])?(?: \{(?P<interpretation>.+?)\})?"
    r"(?: (?P<column>low|high|p|share))?"
)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


class Sources(NamedTuple):
    """What marked numbers and verdicts are compared with."""

    results: dict[tuple[str, str, str], dict[str, str]]
    reported: dict[str, str]
    verdicts: dict[str, str]
    counts: dict[str, int]


def read_sources() -> Sources:
    """Committed results, verdicts and reported numbers."""
    results = read_text(paths.RESULTS / "results.csv")
    claims = read_text(paths.RESULTS / "claims.csv")
    rows = results.to_dict("records")
    return Sources(
        {(row["name"], row["part"], row["interpretation"]): row for row in rows},
        published_claims()["printed"].to_dict(),
        claims.set_index("id")["verdict"].to_dict(),
        report.group_counts(claims[claims["main"] != ""]).to_dict(),
    )


def text_of(page: str) -> str:
    """Text of a guide, of all Markdown of a notebook, or of its first cell."""
    if page.endswith(".md"):
        return (paths.ROOT / page).read_text(encoding="utf-8")
    cells = nbformat.read(notebook_files()[page], as_version=4).cells
    if page in FIRST_CELLS:
        return cells[0].source
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def problems(page: str, text: str, sources: Sources) -> list[str]:
    """What is wrong with the numbers and verdicts of a page, in one line each."""
    found = []
    for picture in PICTURE.finditer(text):
        found += _problems_of_picture(page, picture, sources)
    text = PICTURE.sub(" ", text)
    for mark in MARKED.finditer(text):
        found += _problems_of_number(
            mark["number"], mark["percent"], mark["kind"], mark["source"], sources
        )
    text = MARKED.sub(" ", text)
    for mark in VERDICT.finditer(text):
        words = text[: mark.start()]
        verdict = sources.verdicts.get(mark["id"], "a claim of the papers")
        if not words.endswith(verdict) or words.endswith(f"not {verdict}"):
            found.append(f"{mark['id']}: {words[-30:]}, not {verdict}")
    text = VERDICT.sub(" ", text)
    text = without_no_results(page, text)
    found += [f"{comment}: behind no number" for comment in COMMENT.findall(text)]
    words = COMMENT.sub(" ", text).split()
    unmarked = [word for word in words if re.search(r"\d", word)]
    return found + [f"{word}: not marked" for word in unmarked]


def without_no_results(page: str, text: str) -> str:
    """Text of a page without numbers that are no results."""
    for phrase in ALLOWED.get(page, {}):
        text = text.replace(phrase, " ")
    for pattern in NO_RESULTS:
        text = pattern.sub(" ", text)
    return text


def _problems_of_picture(page: str, picture: re.Match, sources: Sources) -> list[str]:
    """What is wrong with the numbers of an alternative text."""
    words = without_no_results(page, picture["words"])
    numbers = re.findall(rf"({NUMBER})( ?%)?", words)
    names = picture["sources"].split("; ") if picture["sources"] else []
    if len(numbers) != len(names):
        return [f"{words}: {len(numbers)} numbers, {len(names)} marked"]
    found = []
    for (number, percent), name in zip(numbers, names, strict=True):
        found += _problems_of_number(number, percent, "result", name, sources)
    return found


def _problems_of_number(
    number: str, percent: str | None, kind: str, source: str, sources: Sources
) -> list[str]:
    """What is wrong with a marked number, if anything is."""
    low, high = 0.0, 0.0
    if kind == "main claims":
        value = str(sources.counts.get(source, ""))
    elif kind == "reported":
        value = sources.reported.get(source, "")
    else:
        mark = RESULT.fullmatch(source)
        if mark is None:
            return [f"{source}: no name of a result"]
        key = (mark["name"], mark["part"] or "", mark["interpretation"] or "")
        row = sources.results.get(key, {})
        value = row.get(mark["column"] or "estimate", "")
        low, high = float(row.get("low") or 0), float(row.get("high") or 0)
        if value and mark["column"] == "share" and percent:
            value = str(100 * float(value))
    if not value:
        return [f"{source}: no such number"]
    expected = float(value)
    # a sentence may say "lower by", unless the interval has both signs
    if expected < 0 and not low < 0 < high and number[0].isdigit():
        expected = -expected
    written = float(number.replace(",", "").replace("−", "-"))
    decimals = len(number.partition(".")[2])
    # half of a unit, with room for binary fractions
    if abs(written - expected) > 0.5 * 10.0**-decimals + 1e-9:
        return [f"{source}: {number}, not {float(value):.6g}"]
    return []
