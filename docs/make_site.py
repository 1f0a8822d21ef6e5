"""Builds the site of a run: `python docs/make_site.py build build/site`.

The site is the repository as a reader of GitHub sees it: README.md, docs, notebooks and
guides, with the notebooks and the report of the run, and a reference of the functions.
A notebook's page shows its main figure below the answer, folds long cells of code, and
ends with how to cite the finding and with its numbers as a file. The search finds pages
by the words of keywords.csv, too: words of readers that a page itself does not use.
"""

import ast
import copy
import gc
import json
import os
import re
import shutil
import sys
import time
import tomllib
from importlib import import_module
from pathlib import Path

import nbformat
import pandas as pd
import vl_convert
from conf import commit_date, is_described
from nbformat.v4 import new_markdown_cell
from sphinx.cmd.build import main as sphinx

from helpers import VERBS, paths, report
from helpers.data.published import published_claims, read_text
from helpers.data.studies import by_digit, read_studies
from helpers.marks import BANNER
from helpers.run.notebooks import notebook_files
from helpers.show import INTERACTIVE

DOCS = Path(__file__).parent
# What users call first, as they write it, and the module that has it.
FIRST = dict.fromkeys(VERBS, "helpers.verbs") | {
    "run.check": "helpers.run.parameters",
    "show.save": "helpers.show",
    "claims.rows": "helpers.claims",
    "claims.save": "helpers.claims",
}
MAIN_FIGURE = "main-figure"  # tag of the cell that draws it
VEGA = """<script src="{root}_static/vega.js"></script>
"""
EXPLORER = """<div class="explorer" id="{name}" role="group" aria-label="{label}"></div>
<script>vegaEmbed("#{name}", {specification}, {options});</script>
"""
# Marks are not read out one by one: the page has their numbers in figures and tables.
OPTIONS = {
    "actions": False,
    "renderer": "svg",
    "config": {"mark": {"aria": False}},
}
TITLE = "Judging language models: a reference re-analysis"
LONGEST_SHOWN = 6  # lines of code in a cell that is not folded
FOLDERS = (
    "docs",
    "notebooks",
    "data",
    "figures",
    "results",
    "benchmarks",
    "src",
    "tests",
)
PROJECT = tomllib.loads((paths.ROOT / "pyproject.toml").read_text())["project"]
ADDRESS = PROJECT["urls"]["Repository"]
ADDRESS = "" if "/OWNER/" in ADDRESS else ADDRESS
NO_ADDRESS = (
    "The code has no public address yet. It comes with the archive or clone that this "
    "site was built from: ask whoever gave you the site for it."
)
TREE = """
```{{toctree}}
:hidden:
:caption: {caption}

{pages}
```
"""
REFERENCE = """---
orphan: true
---

# {name}

```{{eval-rst}}
.. automodule:: {name}
   :members:
   :member-order: bysource
```
"""
REFERENCE_INDEX = """# Reference

## What users call first

Seven functions for a table of ratings, after `from helpers import weights`, and what
notebooks call, after `from helpers import claims, run, show`. The command `ratings` has
[a page of its own](../docs/own.md).

| function | what it does |
|---|---|
{first}

## All modules

| module | what it is |
|---|---|
{modules}
"""


def write(run: Path, sources: Path) -> None:
    """Copy the repository's pages, with what a run has made, for Sphinx."""
    shutil.rmtree(sources, ignore_errors=True)
    ignored = shutil.ignore_patterns("raw", "__pycache__", "*.egg-info", ".*")
    for folder in FOLDERS:
        shutil.copytree(paths.ROOT / folder, sources / folder, ignore=ignored)
    for file in paths.ROOT.iterdir():
        if file.is_file() and not file.name.startswith("."):
            shutil.copy(file, sources)
    joined = run / "results.csv"
    numbers = read_text(joined if joined.is_file() else sources / "results/results.csv")
    numbers = with_kinds(numbers)
    for name, committed in notebook_files().items():
        file = run_of(name, run)
        notebook = nbformat.read(file if file.is_file() else committed, 4)
        page = sources / committed.relative_to(paths.ROOT)
        of_page = numbers[numbers["notebook"] == name]
        of_page.to_csv(page.with_suffix(".csv"), index=False)
        depth = len(page.relative_to(sources).parts) - 1
        draw_charts(name, notebook, root="../" * depth)
        nbformat.write(as_page(name, notebook, has_numbers=len(of_page) > 0), page)
    if (run / "figures").is_dir():
        shutil.copytree(run / "figures", sources / "figures", dirs_exist_ok=True)
    _write_report(run, sources)
    _write_reference(sources / "reference")
    _write_start(sources)
    _add_keywords(sources)


def draw_charts(name: str, notebook: nbformat.NotebookNode, root: str) -> None:
    """Let pages draw interactive charts with the script of this site."""
    script = VEGA.format(root=root)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            specification = output.get("data", {}).pop(INTERACTIVE, None)
            if specification:
                del specification["$schema"]  # the script brings its own version
                html = script + EXPLORER.format(
                    name=f"explorer-{cell.id}",
                    label=f"Interactive chart of {name}",
                    # no end of the script may stand in it
                    specification=json.dumps(specification).replace("</", "<\\/"),
                    options=json.dumps(OPTIONS),
                )
                output["data"]["text/html"] = html
                script = ""  # once for each page


def as_page(
    name: str, notebook: nbformat.NotebookNode, has_numbers: bool
) -> nbformat.NotebookNode:
    """Put the main figure on top, fold long cells of code, say how to cite."""
    # the site has its own links to the pages before and after
    first = notebook.cells[0]
    first.source = re.sub(r"\n\n\[Start page\]\(.*", "", first.source)
    figures = []
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        tags = cell.metadata.setdefault("tags", [])
        if len(cell.source.splitlines()) > LONGEST_SHOWN:
            tags.append("hide-input" if cell.outputs else "hide-cell")
            cell.metadata["mystnb"] = _prompts(cell)
        if any("image/png" in output.get("data", {}) for output in cell.outputs):
            figures.append(cell)
    tagged = [cell for cell in figures if MAIN_FIGURE in cell.metadata["tags"]]
    for cell in (tagged or figures)[:1]:
        figure = copy.deepcopy(cell)
        figure.id = "main-figure"
        figure.metadata["tags"] = ["remove-input"]
        notebook.cells.insert(1, figure)
    notebook.cells.append(new_markdown_cell(_citation(name, has_numbers), id="cite"))
    return notebook


def _prompts(cell: nbformat.NotebookNode) -> dict[str, str]:
    """What stands on the bar of a folded cell."""
    if "parameters" in cell.metadata["tags"]:
        words = "the parameters"
    elif cell.source.startswith(("import ", "from ")):
        words = "the imports"
    else:
        words = "the code"
    return {"code_prompt_show": f"Show {words}", "code_prompt_hide": f"Hide {words}"}


def with_kinds(numbers: pd.DataFrame) -> pd.DataFrame:
    """Say beside the numbers what low and high are, which depends on the claim."""
    claims = published_claims()
    results = claims["result"].str.partition(": ")[0]
    is_split = claims["form"] == "split"
    is_print = (claims["needs"] == "print") & (claims["form"] == "value")
    kinds = pd.Series("95 % interval", numbers.index)
    kinds[numbers["name"].isin(results[is_split])] = "central 95 % of random splits"
    kinds[numbers["name"].isin(results[is_print])] = "range that rounding allows"
    table = numbers.copy()
    place = table.columns.get_loc("high") + 1
    table.insert(place, "low_to_high", kinds.where(numbers["low"] != "", ""))
    return table


def _citation(name: str, has_numbers: bool) -> str:
    """How to cite a notebook's finding: the paper, and this repository."""
    known = {study["name"]: study for study in read_studies()}
    cited = []
    for study in studies_of(name):
        link = known[study]["link"]
        cited.append(known[study]["citation"] + (f", <{link}>" if link else ""))
    authors = ", ".join(person["name"] for person in PROJECT["authors"])
    year = commit_date()[:4]
    repository = f"{authors} ({year})" if year else authors
    repository += f", *{TITLE}*, version {PROJECT['version']}"
    if ADDRESS:
        repository += f", <{ADDRESS}>"
    lines = ["## Cite this", *(f"- {each}." for each in cited)]
    lines.append(f"- {repository}, notebook {name}.")
    if not ADDRESS:
        file = notebook_files()[name].relative_to(paths.ROOT).as_posix()
        lines.append(f"\n{NO_ADDRESS} This notebook is its file `{file}`.")
    if has_numbers:
        lines.append(f"\nThe numbers of this page: [{name}.csv]({name}.csv).")
    return "\n".join(lines)


def notice(run: Path) -> str:
    """What readers of every page have to know about the data of a run."""
    names = notebook_files()
    files = {name: run_of(name, run) for name in names}
    marked = [
        name
        for name, file in files.items()
        if file.is_file() and BANNER in file.read_text(encoding="utf-8")
    ]
    parts = []
    if marked:
        parts.append(f"SIMULATED DATA or changed parameters in: {', '.join(marked)}.")
    missing = [name for name, file in files.items() if not file.is_file()]
    if missing and run != paths.ROOT:
        parts.append(f"Not run, shown as committed: {', '.join(missing)}.")
    return " ".join(parts)


def run_of(name: str, run: Path) -> Path:
    """Executed copy of a notebook in a run, or the committed one of the run `.`."""
    place = notebook_files()[name].relative_to(paths.NOTEBOOKS)
    return run / "notebooks" / place


def studies_of(name: str) -> list[str]:
    """List the studies that a notebook reads, from its number or its check."""
    text = notebook_files()[name].read_text(encoding="utf-8")
    listed = re.search(r"studies=\[(.*?)\]", text)
    if listed:
        return re.findall(r"\w+", listed.group(1))
    return [by_digit()[name[0]]] if name[0] in by_digit() else []


def _write_report(run: Path, sources: Path) -> None:
    """Write the replication report of a run, or keep the committed one."""
    if not (run / "claims.csv").is_file():
        return
    names = ("claims", "tables", "authors_numbers")
    tables = [read_text(run / f"{name}.csv") for name in names]
    links = {}
    for name, file in notebook_files().items():
        links[name] = f"../{file.relative_to(paths.ROOT).as_posix()}"
    text = report.write(*tables, links)
    (sources / "docs" / "replication_report.md").write_text(text, encoding="utf-8")


def _write_reference(folder: Path) -> None:
    """Write a page for each module of both packages, and one that leads to them."""
    folder.mkdir()
    source = paths.ROOT / "src"
    modules = []
    for file in sorted(source.rglob("*.py")):
        parts = file.relative_to(source).with_suffix("").parts
        name = ".".join(part for part in parts if part != "__init__")
        if parts[-1].startswith("__main__"):
            continue
        code = ast.parse(file.read_text(encoding="utf-8"))
        line = _first_line(ast.get_docstring(code))
        if _describes(code):
            text = REFERENCE.format(name=name)
            (folder / f"{name}.md").write_text(text, encoding="utf-8")
            name = f"[{name}]({name}.md)"
        modules.append(f"| {name} | {line} |")
    first = []
    for written, module in FIRST.items():
        name = written.rpartition(".")[2]
        described = getattr(import_module(module), name).__doc__
        link = f"{{py:func}}`{written}() <{module}.{name}>`"
        first.append(f"| {link} | {_first_line(described)} |")
    text = REFERENCE_INDEX.format(first="\n".join(first), modules="\n".join(modules))
    (folder / "index.md").write_text(text, encoding="utf-8")


def _describes(code: ast.Module) -> bool:
    """Tell whether a module has a function or class with a full description."""
    kinds = (ast.FunctionDef, ast.ClassDef)
    defined = [each for each in code.body if isinstance(each, kinds)]
    public = [each for each in defined if not each.name.startswith("_")]
    return any(is_described(ast.get_docstring(each)) for each in public)


def _first_line(docstring: str) -> str:
    """First line of a docstring, in the cell of a table."""
    line = docstring.strip().partition("\n")[0]
    return line.replace("|", "\\|").replace("<", "&lt;")


def _add_keywords(sources: Path) -> None:
    """Let the search find pages by words of readers."""
    for row in read_text(DOCS / "keywords.csv").itertuples():
        page = sources / row.page
        entries = ", ".join(f"! {word}" for word in row.words.split("; "))
        index = f"\n\n```{{index}} {entries}\n```\n"
        if page.suffix == ".ipynb":
            notebook = nbformat.read(page, 4)
            first = notebook.cells[0]
            first.source = first.source.replace("\n", index, 1)
            nbformat.write(notebook, page)
        else:
            text = page.read_text(encoding="utf-8").replace("\n", index, 1)
            page.write_text(text, encoding="utf-8")


def _write_start(sources: Path) -> None:
    """Write the start page: README.md, and what the menu lists."""
    notebooks = [file.relative_to(paths.ROOT) for file in notebook_files().values()]
    main = [file for file in notebooks if file.parent.name == "notebooks"]
    appendix = [file for file in notebooks if file not in main]
    guides = sorted(file.stem for file in (sources / "docs").glob("*.md"))
    menu = {
        "Notebooks": [file.with_suffix("").as_posix() for file in main],
        "Appendix": [file.with_suffix("").as_posix() for file in appendix],
        "Results and guides": [f"docs/{name}" for name in guides],
        "Data and code": [
            "data/README",
            "data/published/README",
            "benchmarks/README",
            "CONTRIBUTING",
            "CHANGELOG",
            "reference/index",
        ],
    }
    trees = [
        TREE.format(caption=caption, pages="\n".join(pages))
        for caption, pages in menu.items()
    ]
    readme = (paths.ROOT / "README.md").read_text(encoding="utf-8")
    clone = f"Get the code: `git clone {ADDRESS}`."
    where = f"{clone if ADDRESS else NO_ADDRESS} The commands run in its folder."
    readme = readme.replace("\n## Run one\n", f"\n## Run one\n\n{where}\n")
    (sources / "index.md").write_text(readme + "\n".join(trees), encoding="utf-8")


def main(run: str, target: str) -> int:
    """Build the site of a run into a folder; the run `.` is what is committed."""
    # Pages are kept until the end: to look for garbage among them takes long.
    gc.set_threshold(100_000, 50, 1000)
    sources = Path(target).with_name(f"{Path(target).name}-sources")
    write(paths.ROOT / run, sources)
    os.environ["SITE_NOTICE"] = notice(paths.ROOT / run)
    places = ["-c", str(DOCS), "-d", f"{sources}-trees", str(sources), target]
    code = sphinx(["-q", "-E", "-a", *places])
    # in a function, since its names are those of other scripts
    bundle = f"(() => {{{vl_convert.javascript_bundle()}}})();"
    (Path(target) / "_static" / "vega.js").write_text(bundle, encoding="utf-8")
    return code


if __name__ == "__main__":
    started = time.perf_counter()
    code = main(*sys.argv[1:3])
    print(f"{sys.argv[2]}/index.html, {time.perf_counter() - started:.0f} s")
    sys.exit(code)
