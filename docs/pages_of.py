"""Writes what Sphinx turns into the site: pages, notebooks, guides."""

import base64
import contextlib
import copy
import io
import os
import re
import shutil
import subprocess
import textwrap
import tomllib
from html import escape
from pathlib import Path

import claim_table
import jinja2
import nbformat
import pandas as pd
import yaml
from docutils.nodes import make_id
from nbformat import NotebookNode
from record import STUDIES, Notebook, Record, alt_of, picture_of, read_notebook

from helpers import paths
from helpers.claims import collection, verdicts
from helpers.claims.findings import Findings
from helpers.data.published import read_text
from helpers.data.studies import OTHER_DATA, place, read_studies
from ratings import cli

DOCS = Path(__file__).parent
PAPERS = DOCS / "pages" / "papers"
PICTURES = "figures"  # folder of the site for pictures that pages show
GUIDES = (
    "data/README.md",
    "data/published/README.md",
    "data/recipes/README.md",
    "benchmarks/README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
)
VERDICTS = (*verdicts.VERDICTS, verdicts.NOT_CHECKED)
LONGEST_CHOICE = 130  # letters of a sentence in a list to choose from
PACKAGE = Path("src/helpers")
OWN_RATINGS = Path("src/ratings")
SIMULATED_PAGE = (
    "<strong>SIMULATED DATA say nothing about people.</strong> The sentences were "
    "written from real data; under each figure stands, framed in green, that of the "
    "last run on real data, and the claims show its verdicts."
)
WAY_BACK = '<p><a href="../own.html">Back: how to get a page like this one</a></p>'
COMMENT = re.compile(r"<!-- [\w ]+ -->\n*")
READS = re.compile(r"^\*\*Reads\*\*.+$", re.MULTILINE)
BOLD_VERDICT = re.compile(rf"\*\*({'|'.join(verdicts.VERDICTS)})\*\*")
# A cell of a notebook's table that holds a verdict, perhaps with its evidence.
JUDGED = re.compile(
    rf"<td[^>]*>({'|'.join(verdicts.VERDICTS)})(, not after correction)?"
    r"(?: \((\w+)\))?</td>"
)
EXHIBIT = re.compile(r"(?:Figure|Table) [A-Z]?\d+[a-z]?")
LINK = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)(#[^)\s]*)?\)")


def write(record: Record, target: Path, address: str) -> None:
    """Write all sources into an empty folder.

    `address` is that of the repository; it is empty where nobody knows it.
    """
    shutil.rmtree(target, ignore_errors=True)
    _write_pages(record, target)
    for file in sorted(DOCS.glob("*.md")):
        text = file.read_text(encoding="utf-8")
        if file.stem == "findings":
            text = findings(record, target).renew(text)
            text = COMMENT.sub("", text)
            text = BOLD_VERDICT.sub(r'<span class="verdict \1">\1</span>', text)
        _put(target / file.name, mirrored(text, Path("docs"), target))
    for guide in GUIDES:
        text = (paths.ROOT / guide).read_text(encoding="utf-8")
        _put(target / guide, mirrored(text, Path(guide).parent, target))
    for name, book in record.notebooks.items():
        page = notebook_page(book, record, address, target)
        file = Path("notebooks") / f"{name}.ipynb"
        _put(target / file, nbformat.v4.writes_json(page))
        _put(target / "extra" / file, nbformat.v4.writes_json(book.content))
    example_report(target / "extra" / "example")
    for room, names in modules().items():
        _put(target / "reference" / f"{room}.md", reference_page(room, names))


def _write_pages(record: Record, target: Path) -> None:
    """Write the pages that are about results; each paper has one."""
    context = context_of(record, target)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([DOCS / "pages", DOCS / "templates"]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates = {}
    for file in sorted((DOCS / "pages").rglob("*.md")):
        name = file.relative_to(DOCS / "pages").as_posix()
        templates[name] = name
    for study in context["without_words"]:
        templates[f"papers/{study}.md"] = "study.md"
    for page, template in templates.items():
        study = Path(page).stem
        text = environment.get_template(template).render(context, study=study)
        _put(target / page, mirrored(text, Path(), target))


def example_report(folder: Path) -> None:
    """Write the report that the command `ratings` makes of the example ratings."""
    folder.mkdir(parents=True, exist_ok=True)
    ratings = shutil.copy(paths.DATA / "example" / "ratings.csv", folder)
    page = str(folder / "report.html")
    with contextlib.redirect_stdout(io.StringIO()):
        cli.main(["report", ratings, "--out", page], standalone_mode=False)
    back = (
        '<p><a href="../own.html">Back: how to get such a page of your ratings</a></p>'
    )
    report = Path(page).read_text(encoding="utf-8")
    _put(Path(page), report.replace("<body>", f"<body>\n{back}", 1))


def _put(file: Path, text: str) -> None:
    """Write a file into a folder that may not be there."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def findings(record: Record, target: Path) -> Findings:
    """Write what a run found in the words of README and docs/findings.md."""

    def picture(name: str) -> str:
        file, alt = record.figure(name)
        large = f"figures/{_copied(file, target)}"
        image = f'<img src="{large}" alt="{escape(alt)}">'
        small = _copied(small_version(file), target)
        return (
            f'<p><picture><source media="(max-width: 600px)" '
            f'srcset="figures/{small}">{image}</picture></p>'
        )

    def badge(word: str) -> str:
        return f'<span class="sure {word.split()[-1]}">{word}</span>'

    claimed = record.claims.rename_axis("claim_id").reset_index()
    headlines = record.headlines.reset_index()
    return Findings(claimed, headlines, picture, "/", badge)


def cards(record: Record, target: Path) -> list[dict]:
    """The findings of the front page, each with its picture and its notebook."""
    published = read_text(paths.PUBLISHED / "headlines.csv").set_index("headline")
    found = []
    for finding in findings(record, target).short():
        file, alt = record.figure(published.loc[finding["headline"], "picture"])
        name = finding["notebook"]
        finding["picture"] = _copied(file, target)
        finding["small"] = _copied(small_version(file), target)
        finding["alt"] = alt
        finding["page"] = f"notebooks/{name}.html"
        finding["question"] = record.notebooks[name].title
        found.append(finding)
    return found


def small_version(file: Path) -> Path:
    """The figure as phones show it, or itself if there is none."""
    small = file.with_name(f"{file.stem}_small.png")
    return small if small.is_file() else file


def _copied(file: Path, target: Path) -> str:
    """Copy a picture to where pages written as HTML find it; its name."""
    folder = target / "extra" / PICTURES
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, folder / file.name)
    return file.name


def context_of(record: Record, target: Path) -> dict:
    """What pages may say."""

    def part(*digits: str) -> list[Notebook]:
        return [
            book for name, book in record.notebooks.items() if name.startswith(digits)
        ]

    claimed = record.claims.rename_axis("claim_id").reset_index()
    claimed = claimed.assign(shown=claim_table.shown)
    claimed["exhibits"] = claimed["where"].map(exhibits_named)
    counts = collection.verdict_counts(claimed)
    with_claims_or_not = sorted({*counts.index, *STUDIES} - {OTHER_DATA})
    problems = collection.problems(claimed)
    anchors = dict.fromkeys(STUDIES, "what-does-not-hold")
    for study in problems["study"].unique():
        anchors[study] = make_id(STUDIES[study])
    package_map = (paths.ROOT / PACKAGE / "README.md").read_text(encoding="utf-8")
    return {
        "anchors": anchors,
        "cards": cards(record, target),
        "choices": choices(record, claimed),
        "citations": {row["name"]: row["citation"] for row in read_studies()},
        "claims": claimed.to_dict("records"),
        "commit": commit(),
        "counted": verdicts.counted(claimed),
        "counts": counts.reindex(with_claims_or_not, fill_value=0),
        "digits": {row["name"]: row["digit"] for row in read_studies()},
        "drawing": claim_table.drawing,
        "exhibits": exhibits(record, target, claimed),
        "map": mirrored(package_map, PACKAGE, target),
        "modules": modules(),
        "papers": {name: STUDIES[name] for name in STUDIES if name != OTHER_DATA},
        "part": part,
        "written": findings(record, target),
        "problems": problems.to_dict("records"),
        "record": record,
        "studies": STUDIES,
        "tally": verdicts.tally(claimed),
        "touches": collection.TOUCHES,
        "unchecked": unchecked_conclusions(claimed).to_dict("records"),
        "verdicts": VERDICTS,
        "without_words": [
            study
            for study in STUDIES
            if study != OTHER_DATA and not (PAPERS / f"{study}.md").is_file()
        ],
    }


def choices(record: Record, claimed: pd.DataFrame) -> dict[str, list[tuple[str, str]]]:
    """Values that the table of claims can be filtered by, with the words for each."""

    def words_of(field: str, column: str) -> list[tuple[str, str]]:
        if field == "touches":
            return [(value, value) for value in collection.TOUCHES]
        if field == "verdict":
            return [(value, value) for value in VERDICTS]
        values = sorted(set(claimed[column]) - {""})
        return [(value, words[field].get(value, value)) for value in values]

    causes = claimed.drop_duplicates("cause").set_index("cause")
    sentences = record.headlines["sentence"]
    words = {
        "evidence": {},
        "cause": {
            cause: f"{STUDIES[row['study']]}: {_shortened(row['explanation'])}"
            for cause, row in causes.iterrows()
        },
        "headline": {name: _shortened(text) for name, text in sentences.items()},
        "notebook": {
            name: f"{name[:2]} {book.title}" for name, book in record.notebooks.items()
        },
    }
    columns = {
        "touches": "touches",
        "verdict": "shown",
        "evidence": "evidence",
        "notebook": "notebook",
        "headline": "headline",
        "cause": "cause",
    }
    found = {field: words_of(field, column) for field, column in columns.items()}
    named = {exhibit for exhibits in claimed["exhibits"] for exhibit in exhibits}
    ordered = sorted(named, key=_place_in_paper)
    found["exhibit"] = [(exhibit, exhibit) for exhibit in ordered]
    return found


def _shortened(text: str) -> str:
    """The beginning of a sentence, as long as a list can show."""
    return textwrap.shorten(text, LONGEST_CHOICE, placeholder=" …")


def unchecked_conclusions(claimed: pd.DataFrame) -> pd.DataFrame:
    """Sentences on which a conclusion rests and which were not checked, and why."""
    why = verdicts.reasons(claimed)
    unchecked = collection.carries_conclusion(claimed) & (why != "")
    return claimed.assign(why=why)[unchecked]


def commit() -> str:
    """Commit that the site is built from; empty outside of a clone."""
    describe = ["git", "describe", "--always", "--dirty", "--abbrev=10"]
    run = subprocess.run(describe, capture_output=True, text=True, cwd=paths.ROOT)
    return run.stdout.strip()


def repository_address() -> str:
    """Address of the repository by pyproject, else by GitHub's runner; else empty."""
    project = tomllib.loads((paths.ROOT / "pyproject.toml").read_text())["project"]
    if "Repository" in project.get("urls", {}):
        return project["urls"]["Repository"]
    repository = os.environ.get("GITHUB_REPOSITORY", "")
    return f"https://github.com/{repository}" if repository else ""


def authors() -> str:
    """Who made this, as CITATION.cff says."""
    citation = yaml.safe_load((paths.ROOT / "CITATION.cff").read_text())
    return ", ".join(author["name"] for author in citation["authors"])


def colophon(address: str) -> str:
    """Foot of each page: who made it, when, under which licence, and how to cite it."""
    describe = ["git", "log", "-1", "--format=%cs"]
    run = subprocess.run(describe, capture_output=True, text=True, cwd=paths.ROOT)
    parts = [f"By {authors()}"]
    if run.stdout:
        parts.append(f"as of {run.stdout.strip()}, commit {commit()}")
    parts.append("MIT licence for code and text")
    cite = "cite as CITATION.cff in the repository says"
    if address:
        cite = f'<a href="{address}/blob/HEAD/CITATION.cff">how to cite it</a>'
        parts.append(f'<a href="{address}">repository</a>')
    parts.append(cite)
    return f'<p class="colophon">{" · ".join(parts)}</p>'


def plain(markdown: str) -> str:
    """Text without marks of Markdown."""
    return re.sub(r"[*_`]|\[([^]]+)\]\([^)]*\)", r"\1", markdown)


def mirrored(text: str, folder: Path, target: Path) -> str:
    """Copy the files that a page links, so that its links lead to the copies."""

    def link_to_copy(link: re.Match) -> str:
        address, part = link[1], link[2] or ""
        linked = Path(os.path.normpath(folder / address))
        if linked.parent.as_posix().endswith("notebooks/appendix"):
            return f"](/notebooks/{linked.name}{part})"
        if address.startswith("/") or is_page(linked):
            return link[0]
        if linked.parent.name == "docs" and (DOCS / linked.name).is_file():
            return f"](/{linked.name}{part})"
        if linked.is_relative_to(OWN_RATINGS):
            return "](/reference/ratings.md)"
        if linked.is_relative_to(PACKAGE):
            return f"](/reference/{room_of(linked)}.md)"
        if linked.as_posix() in ("README.md", "notebooks/README.md"):
            return "](/index.md)"
        file = paths.ROOT / linked
        if file.is_file() and file.suffix not in (".ipynb", ".md"):
            (target / linked).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target / linked)
        return f"](/{linked.as_posix()}{part})" if file.exists() else link[0]

    return LINK.sub(link_to_copy, text)


def is_page(linked: Path) -> bool:
    """Tell whether a link of a page leads to another page."""
    return (DOCS / "pages" / linked).is_file() or (DOCS / linked).is_file()


def room_of(linked: Path) -> str:
    """Page of the reference that tells of a file or folder of the package."""
    parts = linked.relative_to(PACKAGE).parts
    if not parts or parts[0].endswith(".md"):
        return "index"
    return "top" if parts[0].endswith(".py") else parts[0]


def notebook_page(
    book: Notebook, record: Record, address: str, target: Path
) -> NotebookNode:
    """Page of a notebook: data and links on top, code folded, pictures described."""
    page = copy.deepcopy(book.content)
    last = {}
    if record.simulated(book.name) and book.ran:
        last = read_last(book.name)
    folder = Path("notebooks", paths.notebook_place(book.name)).parent
    cells = []
    for cell in page.cells:
        cells.append(cell)
        if cell.cell_type != "code":
            cell.source = mirrored(cell.source, folder, target)
            continue
        tags = cell.metadata.setdefault("tags", [])
        tags.append("hide-input")
        _describe(cell)
        _colour_verdicts(cell)
        cells += _small_versions(cell, record)
        if cell.source in last:
            cells.append(_shown_last(last[cell.source]))
    title, _, rest = page.cells[0].source.partition("\n")
    rest = READS.sub(_folded, rest)
    page.cells[0].source = f"{title}\n\n{about(book, record, address)}\n{rest}"
    page.cells = cells
    return page


def _folded(paragraph: re.Match) -> str:
    """Fold what a notebook reads and writes."""
    summary = "<summary>Which files it reads and writes</summary>"
    return f'<details class="files">{summary}\n\n{paragraph[0]}\n\n</details>'


def _describe(cell: NotebookNode) -> None:
    """Hand the alt text and width of a cell's picture to the page."""
    for output in cell.outputs:
        if "image/png" in output.get("data", {}):
            known = output.metadata.get("image/png", {})
            width = f"{known['width']}px" if "width" in known else "100%"
            cell.metadata["mystnb"] = {"image": {"alt": alt_of(output), "width": width}}


def _colour_verdicts(cell: NotebookNode) -> None:
    """Write the verdicts in a cell's tables as all other pages write them."""
    for output in cell.outputs:
        data = output.get("data", {})
        if "text/html" in data:
            data["text/html"] = JUDGED.sub(_badge, "".join(data["text/html"]))


def _badge(found: re.Match) -> str:
    """Cell of a table with a verdict as a badge, and its evidence beside it."""
    verdict, corrected, evidence = found.groups("")
    words = f'<span class="verdict {verdict}">{verdict}{corrected}</span>'
    if evidence:
        words += f' <span class="evidence">{evidence}</span>'
    return f'<td style="text-align:left">{words}</td>'


def _small_versions(cell: NotebookNode, record: Record) -> list[NotebookNode]:
    """Show on phones the figure NAME_small, if there is one, in place of NAME."""
    small = []
    for output in cell.outputs:
        stem = record.stems.get(picture_of(output))
        file = record.folder / "figures" / f"{stem}_small.png"
        if file.is_file():
            shown = copy.deepcopy(output)
            shown.data = {"image/png": base64.b64encode(file.read_bytes()).decode()}
            shown.metadata["image/png"] = {"alt": alt_of(output)}
            metadata = {"tags": ["remove-input", "small-figure"]}
            # A cell without code would be left out of the page, with its output.
            made = nbformat.v4.new_code_cell("...", outputs=[shown], metadata=metadata)
            _describe(made)
            small.append(made)
    return small


def read_last(name: str) -> dict[str, NotebookNode]:
    """Cells with pictures as the last run on real data left them, by their code."""
    last = read_notebook(paths.NOTEBOOKS / paths.notebook_place(name), ran=False)
    cells = {}
    for cell in last.code():
        if any("image/png" in output.get("data", {}) for output in cell.outputs):
            cells[cell.source] = cell
    return cells


def _shown_last(cell: NotebookNode) -> NotebookNode:
    """Show what the last run on real data drew, without code."""
    shown = copy.deepcopy(cell)
    shown.metadata["tags"] = ["remove-input", "last-real-run"]
    shown.execution_count = None
    shown.id = f"{shown.id}-last"[:64]
    shown.outputs = [
        output for output in shown.outputs if "image/png" in output.get("data", {})
    ]
    _describe(shown)
    return shown


def about(book: Notebook, record: Record, address: str) -> str:
    """Say which data a page ran on; link its file, its copy in Binder, its claims."""
    kind, lines = _data_of(book, record)
    links = _links_of(book, record, address)
    button = '<button type="button" class="show-code" hidden>show all code</button>'
    words = f"<p>{' '.join(lines)}</p><p>{' · '.join(links)} {button}</p>"
    return f'<div class="about {kind}">{words}</div>\n'


def _data_of(book: Notebook, record: Record) -> tuple[str, list[str]]:
    """Kind of the data of a page (real, simulated or missing), and it in sentences."""
    sources = [
        f"{STUDIES[study]}: {record.sources[study]}"
        for study in record.studies(book.name)
    ]
    if book.whose_answers:
        sources = [f"{words} questions; {book.whose_answers}" for words in sources]
    simulated = record.simulated(book.name)
    own_simulation = book.simulates and not simulated
    if own_simulation:
        sources.append("simulated data, which say nothing about people")
    if not sources:
        sources = ["tables of this project, named below"]
    lines = [f"<strong>Data of this page</strong>: {'; '.join(sources)}."]
    if book.name in record.missing:
        reason = escape(record.missing[book.name])
        lines = [f"<strong>Not in this run</strong>: {reason}."]
        if not book.ran:
            lines.append("Shown is what the last run on real data gave.")
        return "missing", lines
    if simulated and book.ran:
        return "simulated", [*lines, SIMULATED_PAGE]
    if book.name.startswith("00") and record.missing:
        labels = ", ".join(record.notebooks[name].label for name in record.missing)
        lines.append(
            f"<strong>Without results of</strong> {labels}: totals here leave them out."
        )
        return "missing", lines
    return "missing" if own_simulation else "real", lines


def _links_of(book: Notebook, record: Record, address: str) -> list[str]:
    """Links to the file of a notebook, its copy in Binder and its claims."""
    links = [f'<a href="{book.name}.ipynb" download>notebook file</a>']
    if address:
        file = f"notebooks/{paths.notebook_place(book.name)}"
        binder = "https://mybinder.org/v2/gh/" + address.partition("github.com/")[2]
        links = [
            f'<a href="{address}/blob/HEAD/{file}">on GitHub</a>',
            f'<a href="{binder}/HEAD?labpath={file}">open in Binder</a>',
        ]
    number = (record.claims["notebook"] == book.name).sum()
    if number:
        claims = f"../claims.html#notebook={book.name}"
        links.append(f'<a href="{claims}">{number} claims</a>')
    return links


def exhibits(record: Record, target: Path, claimed: pd.DataFrame) -> list[dict]:
    """Figures and tables of the papers, with what became of each.

    That is the place and the picture of our version, and how many claims whose place
    names the figure or table have which verdict.
    """
    table = read_text(paths.PUBLISHED / "figures.csv").to_dict("records")
    for row in table:
        heading, figure = "", ""
        if row["notebook"] in record.notebooks:
            heading, figure = _version(record, row["notebook"], row["exhibit"])
        row["heading"] = heading
        row["anchor"] = f"#{make_id(heading)}" if heading else ""
        row["picture"] = ""
        row["alt"] = ""
        if figure:
            file, row["alt"] = record.figure(figure)
            # the column is as narrow as a phone: the large one could not be read
            row["picture"] = _copied(small_version(file), target)
        row["verdicts"] = _verdicts_of(row, claimed)
    return sorted(table, key=_order)


def exhibits_named(where: str) -> list[str]:
    """Figures and tables that the place of a claim names.

    >>> exhibits_named("§3.2; Figure 4 caption; Table A1")
    ['Figure 4', 'Table A1']
    """
    return EXHIBIT.findall(where)


def _verdicts_of(row: dict, claimed: pd.DataFrame) -> dict[str, int]:
    """Count the verdicts of the claims that a figure or table carries, worst first."""
    of_study = claimed[claimed["study"] == row["study"]]
    carried = [row["exhibit"] in named for named in of_study["exhibits"]]
    counts = of_study.loc[carried, "shown"].value_counts()
    return {verdict: counts[verdict] for verdict in VERDICTS if verdict in counts}


def _order(row: dict) -> tuple[int, str, str]:
    """Order of an exhibit: by study, figures first, those of appendices last."""
    return place(row["study"]), *_place_in_paper(row["exhibit"])


def _place_in_paper(exhibit: str) -> tuple[str, str]:
    """What an exhibit is sorted by within its paper: its kind, then its number."""
    kind, number = exhibit.split()[:2]
    padded = re.sub(r"\d+", lambda digits: digits[0].zfill(3), number)
    return kind[:5], padded


def _version(record: Record, name: str, exhibit: str) -> tuple[str, str]:
    """Heading of the section that names an exhibit, and its first figure."""
    kind, number = exhibit.split()[:2]
    # as in "Figures 7 and 8" or "Figure 4, Table 2"
    names_it = re.compile(rf"{kind}s? (?:\w+(?:,| and) (?:{kind} )?)*{number}\b")
    heading = ""
    for cell in record.notebooks[name].content.cells:
        if cell.cell_type == "markdown":
            for title in re.findall(r"^##+ (.+)", cell.source, re.MULTILINE):
                if heading:  # the section ends without a figure
                    return heading, ""
                if names_it.search(title):
                    heading = title
        elif heading:
            for output in cell.outputs:
                picture = picture_of(output)
                if picture in record.stems:
                    return heading, record.stems[picture]
    return heading, ""


def modules() -> dict[str, list[str]]:
    """Modules of both packages, by room; those of `ratings` are a room of their own."""
    rooms = {}
    for package in (PACKAGE, OWN_RATINGS):
        for file in sorted((paths.ROOT / package).rglob("*.py")):
            parts = file.relative_to(paths.ROOT / "src").with_suffix("").parts
            if parts[-1] == "__init__":
                continue
            room = parts[1] if len(parts) > 2 else "top"
            if package == OWN_RATINGS:
                room = "ratings"
            rooms.setdefault(room, []).append(".".join(parts))
    last = ("top", "ratings")
    return dict(sorted(rooms.items(), key=lambda room: room[0] in last))


def reference_page(room: str, names: list[str]) -> str:
    """Page of one room."""
    options = "   :members:\n   :member-order: bysource\n"
    sections = [
        f"## {name}\n\n```{{eval-rst}}\n.. automodule:: {name}\n{options}```\n"
        for name in names
    ]
    title = ", ".join(names) if room == "top" else room
    return f"# {title}\n\n" + "\n".join(sections)
