"""Writes the folder of sources that Sphinx turns into the site: pages, notebooks, guides."""

import base64
import copy
import os
import re
import shutil
import subprocess
from pathlib import Path

import claim_table
import jinja2
import nbformat
import pandas as pd
from docutils.nodes import make_id
from nbformat import NotebookNode
from record import STUDIES, Notebook, Record, alt_of, picture_of, read_notebook

from helpers import paths
from helpers.claims import collection, verdicts
from helpers.data.published import read_text

DOCS = Path(__file__).parent
GUIDES = (
    *("data/README.md", "data/published/README.md", "data/recipes/README.md"),
    *("benchmarks/README.md", "CONTRIBUTING.md", "CHANGELOG.md"),
)
PACKAGE = Path("src/helpers")
OWN_RATINGS = Path("src/ratings")
LINK = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)(#[^)\s]*)?\)")


def write(record: Record, target: Path, address: str) -> None:
    """Write all sources into an empty folder; `address` is that of the repository, or empty."""
    shutil.rmtree(target, ignore_errors=True)
    context = context_of(record, target)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([DOCS / "pages", DOCS / "templates"]),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for page in sorted((DOCS / "pages").rglob("*.md")):
        name = page.relative_to(DOCS / "pages").as_posix()
        text = environment.get_template(name).render(context)
        _put(target / name, mirrored(text, Path(), target))
    for name in GUIDES:
        _put(
            target / name,
            mirrored((paths.ROOT / name).read_text(), Path(name).parent, target),
        )
    for name, book in record.notebooks.items():
        page = notebook_page(book, record, address, target)
        for folder, content in {
            "notebooks": page,
            "extra/notebooks": book.content,
        }.items():
            _put(target / folder / f"{name}.ipynb", nbformat.v4.writes_json(content))
    for room, names in modules().items():
        _put(target / "reference" / f"{room}.md", reference_page(room, names))


def _put(file: Path, text: str) -> None:
    """Write a file into a folder that may not be there."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def context_of(record: Record, target: Path) -> dict:
    """What pages may say."""

    def picture(name: str) -> str:
        file, alt = record.figure(name)
        (target / "figures").mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target / "figures" / file.name)
        escaped = alt.replace("[", "\\[").replace("]", "\\]")
        return f"![{escaped}](/figures/{file.name})"

    def part(*digits: str) -> list[Notebook]:
        return [
            book for name, book in record.notebooks.items() if name.startswith(digits)
        ]

    claimed = record.claims.rename_axis("claim_id").reset_index()
    claimed = claimed.assign(shown=claim_table.shown)
    headlines = record.headlines.join(collection.how_sure(claimed))
    return {
        "commit": commit(),
        "claims": claimed.to_dict("records"),
        "counted": verdicts.counted(claimed),
        "drawing": claim_table.drawing,
        "counts": collection.verdict_counts(claimed),
        "exhibits": exhibits(record, target / "extra" / "figures"),
        "headlines": headlines.reset_index().to_dict("records"),
        "map": mirrored(
            (paths.ROOT / PACKAGE / "README.md").read_text(), PACKAGE, target
        ),
        "modules": modules(),
        "part": part,
        "picture": picture,
        "problems": collection.problems(claimed).to_dict("records"),
        "record": record,
        "section": section,
        "studies": STUDIES,
        "tally": verdicts.tally(claimed),
        "touches": collection.TOUCHES,
        "unchecked": unchecked_conclusions(claimed).to_dict("records"),
        "verdicts": [*verdicts.VERDICTS, verdicts.NOT_CHECKED],
    }


def unchecked_conclusions(claimed: pd.DataFrame) -> pd.DataFrame:
    """Sentences on which a conclusion rests and which were not checked, with the reason."""
    why = verdicts.reasons(claimed)
    return claimed.assign(why=why)[collection.carries_conclusion(claimed) & (why != "")]


def commit() -> str:
    """Commit that the site is built from; empty outside of a clone."""
    command = [
        "git",
        "-C",
        str(paths.ROOT),
        "describe",
        "--always",
        "--dirty",
        "--abbrev=10",
    ]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


def section(heading: str) -> str:
    """Text under a heading of the README."""
    text = (paths.ROOT / "README.md").read_text(encoding="utf-8")
    return re.search(
        rf"^## {heading}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL
    )[1]


def mirrored(text: str, folder: Path, target: Path) -> str:
    """Copy the files that a page links, so that its links lead to the copies."""

    def place(found: re.Match) -> str:
        linked = Path(os.path.normpath(folder / found[1]))
        if found[1].startswith("/") or (DOCS / "pages" / linked).is_file():
            return found[0]
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
        return f"](/{linked.as_posix()}{found[2] or ''})" if file.exists() else found[0]

    return LINK.sub(place, text)


def room_of(linked: Path) -> str:
    """Page of the reference that tells of a file or folder of the package."""
    room, *_ = *linked.relative_to(PACKAGE).parts, "index"
    return {".py": "top", ".md": "index"}.get(Path(room).suffix, room)


def notebook_page(
    book: Notebook, record: Record, address: str, target: Path
) -> NotebookNode:
    """Make the page of a notebook: data and links on top, code folded, pictures described."""
    page = copy.deepcopy(book.content)
    last = read_last(book.name) if record.simulated(book.name) and book.ran else {}
    cells = []
    for cell in page.cells:
        cells.append(cell)
        if cell.cell_type == "code":
            tags = cell.metadata.setdefault("tags", [])
            tags.append("hide-input")
            _describe(cell)
            cells += _small_versions(cell, record)
            if shown := last.get(cell.source):
                cells.append(_shown_last(shown))
        else:
            cell.source = mirrored(cell.source, Path("notebooks"), target)
    title, _, rest = page.cells[0].source.partition("\n")
    page.cells[0].source = f"{title}\n\n{about(book, record, address)}\n{rest}"
    page.cells = cells
    return page


def _describe(cell: NotebookNode) -> None:
    """Hand the alt text and width of a cell's picture to the page."""
    for output in cell.outputs:
        if "image/png" in output.get("data", {}):
            known = output.metadata.get("image/png", {})
            width = f"{known['width']}px" if "width" in known else "100%"
            cell.metadata["mystnb"] = {"image": {"alt": alt_of(output), "width": width}}


def _small_versions(cell: NotebookNode, record: Record) -> list[NotebookNode]:
    """Show on phones the figure NAME_small, if there is one, in place of the figure NAME."""
    small = []
    for output in cell.outputs:
        file = (
            record.folder
            / "figures"
            / f"{record.stems.get(picture_of(output))}_small.png"
        )
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
    return {
        cell.source: cell
        for cell in read_notebook(paths.NOTEBOOKS / f"{name}.ipynb", ran=False).code()
        if any("image/png" in output.get("data", {}) for output in cell.outputs)
    }


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
    """Say which data a page ran on, and link its file, its claims and its copy in Binder."""
    kinds = [
        f"{STUDIES[study]}: {record.sources[study]}"
        for study in record.studies(book.name)
        if study in STUDIES
    ]
    if book.whose_answers:
        kinds = [f"{words} questions; {book.whose_answers}" for words in kinds]
    made_up = record.simulated(book.name)
    kind = "simulated" if made_up and book.ran else "real"
    if book.simulates and not made_up:
        kind = "missing"
        kinds.append("simulated data, which say nothing about people")
    lines = [f"<strong>Data of this page</strong>: {'; '.join(kinds)}."]
    if book.name in record.missing:
        kind = "missing"
        lines = [f"<strong>Not in this run</strong>: {record.missing[book.name]}."]
    if book.name in record.missing and not book.ran:
        lines.append("Shown is what the last run on real data gave.")
    elif kind == "simulated":
        lines.append(
            "<strong>SIMULATED DATA say nothing about people.</strong> The sentences were written "
            "from real data; under each figure stands, framed in green, that of the last run on "
            "real data, and the claims show its verdicts."
        )
    elif book.name.startswith("00") and record.missing:
        kind = "missing"
        labels = ", ".join(record.notebooks[name].label for name in record.missing)
        lines.append(
            f"<strong>Without results of</strong> {labels}: totals here leave them out."
        )
    links = [f'<a href="{book.name}.ipynb" download>notebook file</a>']
    if address:
        links[0] = (
            f'<a href="{address}/blob/HEAD/notebooks/{book.name}.ipynb">on GitHub</a>'
        )
        place = address.partition("github.com/")[2]
        binder = f"https://mybinder.org/v2/gh/{place}/HEAD?labpath=notebooks/{book.name}.ipynb"
        links.append(f'<a href="{binder}">open in Binder</a>')
    number = (record.claims["notebook"] == book.name).sum()
    if number:
        links.append(
            f'<a href="../claims.html#notebook={book.name}">{number} claims</a>'
        )
    button = '<button type="button" class="show-code" hidden>show all code</button>'
    told = f"<p>{' '.join(lines)}</p><p>{' · '.join(links)} {button}</p>"
    return f'<div class="about {kind}">{told}</div>\n'


def exhibits(record: Record, pictures: Path) -> list[dict]:
    """Figures and tables of the papers, each with the place of our version and its picture."""
    table = read_text(paths.PUBLISHED / "figures.csv").to_dict("records")
    for row in table:
        known = row["notebook"] in record.notebooks
        heading, name = (
            _version(record, row["notebook"], row["exhibit"]) if known else ("", "")
        )
        anchor = f"#{make_id(heading)}" if heading else ""
        row |= {"heading": heading, "anchor": anchor, "picture": "", "alt": ""}
        if name:
            file, row["alt"] = record.figure(name)
            row["picture"] = file.name
            pictures.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, pictures / file.name)
    return sorted(table, key=_place)


def _place(row: dict) -> tuple[int, str, str]:
    """Order of an exhibit: by study, figures before tables, those of appendices last."""
    kind, number = row["exhibit"].split()[:2]
    padded = re.sub(r"\d+", lambda found: found[0].zfill(3), number)
    return list(STUDIES).index(row["study"]), kind[:5], padded


def _version(record: Record, name: str, exhibit: str) -> tuple[str, str]:
    """Heading of the section that names an exhibit, and its first figure."""
    kind, number = exhibit.split()[:2]
    named, heading = (
        re.compile(rf"{kind}s? (?:\w+(?:,| and) (?:{kind} )?)*{number}\b"),
        "",
    )
    for cell in record.notebooks[name].content.cells:
        if cell.cell_type == "markdown":
            for title in re.findall(r"^##+ (.+)", cell.source, re.MULTILINE):
                if heading:
                    return heading, ""
                heading = title if named.search(title) else ""
        elif heading:
            for picture in map(picture_of, cell.outputs):
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
    return dict(sorted(rooms.items(), key=lambda room: room[0] in ("top", "ratings")))


def reference_page(room: str, names: list[str]) -> str:
    """Page of one room."""
    options = "   :members:\n   :member-order: bysource\n"
    sections = [
        f"## {name}\n\n```{{eval-rst}}\n.. automodule:: {name}\n{options}```\n"
        for name in names
    ]
    title = ", ".join(names) if room == "top" else room
    return f"# {title}\n\n" + "\n".join(sections)
