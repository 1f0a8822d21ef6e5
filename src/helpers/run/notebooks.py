"""Notebooks: which there are, how one runs, and how one begins."""

import logging
import os
import re
import textwrap
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

import nbformat
import papermill
from nbclient.exceptions import DeadKernelError

from helpers import paths
from helpers.data import studies
from helpers.data.tables import OptionError, PlainError
from helpers.paths import replace_files
from helpers.run.parameters import notebook_file, notebook_files

SHOWN_LINES = 60
KERNEL_OPTIONS = {
    "kernel_name": "python3",
    # it calls it an error to be told to stop
    "extra_arguments": ["--log-level=CRITICAL"],
    # What a cell prints may arrive in parts; it is kept as one, so that two runs give
    # equal files.
    "coalesce_streams": True,
    # Asking an idle kernel to stop sometimes takes it three seconds; nothing is left
    # for it to do.
    "shutdown_kernel": "immediate",
    "progress_bar": False,
}


def notebook_names() -> list[str]:
    """List the notebooks of the project."""
    return sorted(notebook_files())


def heading(notebook: nbformat.NotebookNode) -> str:
    """First line of a notebook that is read already."""
    first_cell = notebook.cells[0].source
    return first_cell.partition("\n")[0].removeprefix("# ")


def with_all_listed(readme: str, titles: Mapping[str, str]) -> str:
    """Add to the table of notebooks those that it does not list, by number."""
    lines = readme.splitlines(keepends=True)
    for name, words in titles.items():
        link = f"[{name}]({paths.notebook_place(name)})"
        if link in readme:
            continue
        row = f"| {link} | {words} |\n"
        row_before = 0
        for number, line in enumerate(lines):
            if line.startswith("| [") and line < row:
                row_before = number
        lines.insert(row_before + 1, row)
    return "".join(lines)


def studies_of(name: str) -> list[str]:
    """List the studies that a notebook reads, told from its number or its imports."""
    by_digit = studies.by_digit()
    own = [by_digit[name[0]]] if name[0] in by_digit else []
    if own and own != [studies.OTHER_DATA]:
        return own
    text = notebook_file(name).read_text(encoding="utf-8")
    imported = set()
    for names in re.findall(r"from helpers\.studies import ([\w, ]+)", text):
        imported |= set(re.findall(r"\w+", names))
    others = [study for study in by_digit.values() if study in imported]
    return others + own


def refuse_unknown(notebook: Path, names: Iterable[str], known: Iterable[str]) -> None:
    """Stop unless a notebook has all these parameters."""
    unknown = [name for name in names if name not in known]
    if not unknown:
        return
    parameters = ", ".join(known)
    has = f"its parameters are {parameters}" if parameters else "it has no parameters"
    raise OptionError(f"{notebook.stem} has no parameter {', '.join(unknown)}: {has}")


def set_environment(folder: Path) -> None:
    """Let kernels depend on nothing that a user has set up elsewhere."""
    os.environ |= {
        "IPYTHONDIR": str(folder / ".ipython"),
        "JUPYTER_PREFER_ENV_PATH": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONNOUSERSITE": "1",
    }
    os.environ.pop("MPLBACKEND", None)


def execute(notebook: Path, target: Path, parameters: Mapping) -> float:
    """Execute a notebook, and give the seconds that it took.

    The copy gets its name when it is complete.
    """
    refuse_unknown(notebook, parameters, papermill.inspect_notebook(notebook))
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_suffix(".unfinished.ipynb")
    started = time.perf_counter()
    try:
        _start_and_run(notebook, unfinished, dict(parameters))
    except papermill.PapermillExecutionError as error:
        where = f"cell In [{error.exec_count}] of {os.path.relpath(unfinished)}"
        raise _failure(notebook, where, f"{error.ename}: {error.evalue}") from error
    except DeadKernelError as error:
        where = f"a cell; {os.path.relpath(unfinished)} shows which ones ran"
        raise _failure(notebook, where, "the kernel died") from error
    except RuntimeError as error:
        where = "its kernel, which did not start"
        raise _failure(notebook, where, str(error)) from error
    except KeyboardInterrupt:
        # of the cell that waited, it would complain
        logging.getLogger("asyncio").disabled = True
        unfinished.unlink(missing_ok=True)
        raise
    unfinished.replace(target)
    return time.perf_counter() - started


def _start_and_run(notebook: Path, target: Path, parameters: dict) -> None:
    """Run a notebook, a second time if its kernel died before the first cell."""
    try:
        papermill.execute_notebook(notebook, target, parameters, **KERNEL_OPTIONS)
    except DeadKernelError:  # a RuntimeError, too: it died in a cell
        raise
    except RuntimeError:
        papermill.execute_notebook(notebook, target, parameters, **KERNEL_OPTIONS)


def _failure(notebook: Path, where: str, message: str) -> PlainError:
    """Describe a failure in a short block."""
    lines = message.strip().splitlines()
    shown = lines[:SHOWN_LINES]
    if len(lines) > SHOWN_LINES:
        shown.append("…")
    block = textwrap.indent("\n".join(shown), "    ")
    return PlainError(f"{notebook.stem} stopped in {where}\n{block}")


def create(name: str, folder: Path) -> Path:
    """Write a new notebook with all the cells that a notebook of this project has."""
    if not re.fullmatch(r"[1-9][0-9]_[a-z][a-z0-9_]*", name, re.ASCII):
        raise OptionError(
            f"a notebook cannot be called {name!r}: give two digits, the first of "
            "which is not 0, an underscore, then small letters, digits and "
            "underscores, as in NAME=70_my_study"
        )
    number = name[:2]
    others = sorted(
        {*notebook_names(), *(file.stem for file in folder.glob("*.ipynb"))}
    )
    taken = [other for other in others if other.startswith(f"{number}_")]
    if taken:
        raise OptionError(
            f"the number {number} is that of {taken[0]}, whose figures begin with it: "
            "choose another number"
        )
    before = sorted(
        file.stem for file in folder.glob("[0-9]*.ipynb") if file.stem < name
    )
    words = {
        "NAME": name,
        "NUMBER": number,
        "NEIGHBOUR": before[-1] if before else "00_overview",
    }
    template = paths.DATA / "templates" / "new_notebook.ipynb"
    notebook = nbformat.read(template, as_version=4)
    for position, each in enumerate(notebook.cells, start=1):
        for placeholder, word in words.items():
            each["source"] = each["source"].replace(placeholder, word)
        each["id"] = f"{number}-{position:02}"
    target = folder / f"{name}.ipynb"
    replace_files({target: f"{nbformat.writes(notebook)}\n".encode()})
    return target
