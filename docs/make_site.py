"""Builds the site of a run: `python docs/make_site.py build build/site`.

The site is the repository as a reader of GitHub sees it: README.md, docs, notebooks and
guides, with the notebooks and the report of the run, and a reference of the functions.
"""

import shutil
import sys
import time
from pathlib import Path

from sphinx.cmd.build import main as sphinx

from helpers import paths
from helpers.claims import report
from helpers.data.published import read_text
from helpers.run.parameters import notebook_files

DOCS = Path(__file__).parent
FOLDERS = ("docs", "notebooks", "data", "figures", "benchmarks", "src")
TREE = """
```{{toctree}}
:hidden:
:caption: {caption}

{pages}
```
"""
REFERENCE = """# {name}

```{{eval-rst}}
.. automodule:: {name}
   :members:
   :member-order: bysource
```
"""


def write(run: Path, sources: Path) -> None:
    """Copy the repository's pages, with what a run has made, for Sphinx."""
    shutil.rmtree(sources, ignore_errors=True)
    ignored = shutil.ignore_patterns("raw", "__pycache__", "*.egg-info", ".*")
    for folder in FOLDERS:
        shutil.copytree(paths.ROOT / folder, sources / folder, ignore=ignored)
    for file in paths.ROOT.glob("[A-Z]*"):
        if file.is_file():
            shutil.copy(file, sources)
    for name, committed in notebook_files().items():
        executed = run / "notebooks" / f"{name}.ipynb"
        if executed.is_file():
            shutil.copy(executed, sources / committed.relative_to(paths.ROOT))
    shutil.copytree(run / "figures", sources / "figures", dirs_exist_ok=True)
    _write_report(run, sources)
    modules = _write_reference(sources / "reference")
    _write_start(sources, modules)


def _write_report(run: Path, sources: Path) -> None:
    """Write the replication report of a run, or keep the committed one."""
    if not (run / "claims.csv").is_file():
        return
    tables = [read_text(run / f"{name}.csv") for name in ("claims", "authors_numbers")]
    links = {}
    for name, file in notebook_files().items():
        links[name] = f"../{file.relative_to(paths.ROOT).as_posix()}"
    text = report.write(*tables, links)
    (sources / "docs" / "replication_report.md").write_text(text, encoding="utf-8")


def _write_reference(folder: Path) -> list[str]:
    """Write a page for each module of both packages; give their names."""
    folder.mkdir()
    source = paths.ROOT / "src"
    names = []
    for file in sorted(source.rglob("*.py")):
        parts = file.relative_to(source).with_suffix("").parts
        name = ".".join(part for part in parts if part != "__init__")
        if not parts[-1].startswith("__main__"):
            text = REFERENCE.format(name=name)
            (folder / f"{name}.md").write_text(text, encoding="utf-8")
            names.append(name)
    return names


def _write_start(sources: Path, modules: list[str]) -> None:
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
            "data/recipes/README",
            "benchmarks/README",
            "CONTRIBUTING",
            "CHANGELOG",
        ],
        "Functions": [f"reference/{name}" for name in modules],
    }
    trees = [
        TREE.format(caption=caption, pages="\n".join(pages))
        for caption, pages in menu.items()
    ]
    readme = (paths.ROOT / "README.md").read_text(encoding="utf-8")
    (sources / "index.md").write_text(readme + "\n".join(trees), encoding="utf-8")


def main(run: str, target: str) -> int:
    """Build the site of a run into a folder; the run `.` is what is committed."""
    sources = Path(target).with_name(f"{Path(target).name}-sources")
    write(paths.ROOT / run, sources)
    places = ["-c", str(DOCS), "-d", f"{sources}-trees", str(sources), target]
    return sphinx(["-q", "-E", "-a", *places])


if __name__ == "__main__":
    started = time.perf_counter()
    code = main(*sys.argv[1:3])
    print(f"{sys.argv[2]}/index.html, {time.perf_counter() - started:.0f} s")
    sys.exit(code)
