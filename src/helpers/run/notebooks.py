"""Run notebooks, report what they found, renew the committed results, start a new notebook.

`dodo.py` says when a notebook has to run; this module runs it, and helps the tasks there to report,
to fail in plain words and to know that nothing has changed. The command `ratings` uses it too.
"""

import fcntl
import hashlib
import os
import re
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import nbformat
import papermill
from doit.exceptions import TaskFailed
from nbclient.exceptions import DeadKernelError

from helpers import paths
from helpers.claims import read_text, verdict_counts
from helpers.files import registry
from helpers.files.tables import PlainError
from helpers.paths import replace_files
from helpers.run import state
from helpers.run.parameters import ParameterError, refuse_unknown

STUDIES = {"1": "hosking", "2": "kamoda", "3": "chatbench", "4": "humbel"}
TEMPLATES = paths.DATA / "templates"
LOCK = ".lock"
MIRROR = paths.ROOT.parent / "shared" / "data"
TRACES = ("papermill", "execution")
SHOWN_LINES = 60
KERNEL_OPTIONS = {
    "kernel_name": "python3",
    "extra_arguments": ["--log-level=ERROR"],
    # What a cell prints may arrive in parts; it is kept as one, so that two runs give equal files.
    "coalesce_streams": True,
    # Asking an idle kernel to stop sometimes takes it three seconds; nothing is left for it to do.
    "shutdown_kernel": "immediate",
    "progress_bar": False,
}


class FolderError(PlainError):
    """A folder that results cannot be written to."""


class NotebookError(PlainError):
    """A notebook stopped before its last cell."""


def notebook_names() -> list[str]:
    """List the notebooks of the project."""
    return sorted(file.stem for file in paths.NOTEBOOKS.glob("[0-9]*.ipynb"))


def set_environment(folder: Path) -> None:
    """Let kernels depend on nothing that a user has set up outside a folder of results."""
    os.environ |= {
        "IPYTHONDIR": str(folder / ".ipython"),
        "JUPYTER_PREFER_ENV_PATH": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONNOUSERSITE": "1",
    }
    os.environ.pop("MPLBACKEND", None)
    if MIRROR.is_dir():
        os.environ.setdefault("DATA_MIRROR", str(MIRROR))


def studies_of(name: str) -> list[str]:
    """List the studies whose data a notebook reads, told from its number or its imports."""
    if name[0] in STUDIES:
        return [STUDIES[name[0]]]
    text = find(name).read_text(encoding="utf-8")
    imported = " ".join(re.findall(r"from helpers\.studies import ([\w, ]+)", text))
    return [study for study in STUDIES.values() if study in re.findall(r"\w+", imported)]


def find(name: str) -> Path:
    """File of a notebook."""
    if name not in notebook_names():
        raise ParameterError(f"there is no notebook {name!r}: `ratings list` names them")
    return paths.NOTEBOOKS / f"{name}.ipynb"


def title(name: str) -> str:
    """First line of a notebook."""
    first, *_ = nbformat.read(find(name), as_version=4).cells
    return first.source.partition("\n")[0].removeprefix("# ")


def resolve(study: str, choice: str) -> tuple[str, str]:
    """Decide whether a study's data are real, printed in its paper only, or simulated; and why."""
    if choice not in registry.DATA_SOURCES:
        raise ParameterError(f"data must be auto, real or simulated, not {choice!r}")
    if choice == "simulated":
        return "simulated", "asked for"
    files = [file for file in registry.names() if file.startswith(f"{study}/")]
    try:
        registry.locate(files, "real")
    except registry.DataUnavailableError as error:
        if choice == "real":
            raise
        return "simulated", str(error).partition(". ")[0]
    public = registry.fetch_unpinned(study)
    missing = [reason for reason in public.values() if reason]
    here = len(files) + len(public) - len(missing)
    told = f"{here} files, checksums right" if here else "no files but its tables"
    if missing:
        told += f"; {len(missing)} more public, not fetched ({missing[0]})"
    return "real" if files or (public and not missing) else "printed", told


def hold_own(folder: Path) -> IO:
    """Keep a folder as `hold` does, unless it holds what no run has put there."""
    if folder.is_dir() and any(folder.iterdir()) and not (folder / LOCK).exists():
        raise FolderError(f"{folder} holds other files: give a folder that is new or empty")
    return hold(folder)


def joint_source(kinds: Mapping[str, str], choice: str) -> str:
    """Tell real data from simulated; several studies are real only if all are."""
    for study, kind in kinds.items():
        if kind.startswith("missing"):
            raise PlainError(f"data of {study} are {kind}")
    if not kinds:
        return choice
    return "simulated" if "simulated" in kinds.values() else "real"


def hold(folder: Path) -> IO:
    """Keep a folder of results for this process until it ends; wait while another one has it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / LOCK).open("a")
    except OSError as error:
        raise FolderError(
            f"results cannot be written to {folder} ({error.strerror}): it must be a folder that "
            "you can write to, on a disk with space"
        ) from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print(f"another run is at work in {folder}: waiting until it ends", flush=True)
        fcntl.flock(lock, fcntl.LOCK_EX)
    except OSError:
        print(f"{folder} is on a disk without locks: start one run at a time", flush=True)
    return lock


def execute(notebook: Path, target: Path, parameters: Mapping) -> float:
    """Execute a notebook; name the copy when it is complete. Give the seconds that it took."""
    refuse_unknown(notebook, parameters, papermill.inspect_notebook(notebook))
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_suffix(".unfinished.ipynb")
    started = time.perf_counter()
    try:
        _start_and_run(notebook, unfinished, dict(parameters))
    except papermill.PapermillExecutionError as error:
        where = f"cell In [{error.exec_count}] of {os.path.relpath(unfinished)}"
        raise NotebookError(_failure(notebook, where, f"{error.ename}: {error.evalue}")) from error
    except DeadKernelError as error:
        where = f"a cell; {os.path.relpath(unfinished)} shows which ones ran"
        raise NotebookError(_failure(notebook, where, "the kernel died")) from error
    except RuntimeError as error:
        where = "its kernel, which did not start"
        raise NotebookError(_failure(notebook, where, str(error))) from error
    unfinished.replace(target)
    return time.perf_counter() - started


def _start_and_run(notebook: Path, target: Path, parameters: dict) -> None:
    """Run a notebook, a second time if its kernel died before the first cell."""
    try:
        papermill.execute_notebook(notebook, target, parameters, **KERNEL_OPTIONS)
    except DeadKernelError:
        raise
    except RuntimeError:
        papermill.execute_notebook(notebook, target, parameters, **KERNEL_OPTIONS)


def _failure(notebook: Path, where: str, message: str) -> str:
    """Describe a failure in a short block."""
    lines = message.strip().splitlines()
    shown = lines[:SHOWN_LINES] + ["…"] * (len(lines) > SHOWN_LINES)
    return f"{notebook.stem} stopped in {where}\n{textwrap.indent(chr(10).join(shown), '    ')}"


def executed(name: str, folder: Path) -> Path:
    """Executed copy of a notebook in a folder of results."""
    return folder / "notebooks" / f"{name}.ipynb"


def written_by(name: str, folder: Path) -> list[Path]:
    """Files that a run of a notebook has written; names of figures begin with its number."""
    tables = [f"{kind}/{name}.csv" for kind in ("claims", "headlines", "provenance", "results")]
    patterns = [f"notebooks/{name}.ipynb", *tables, f"figures/{name[:3]}*.png"]
    return [file for pattern in patterns for file in sorted(folder.glob(pattern))]


@contextmanager
def renewed(name: str, folder: Path) -> Iterator[None]:
    """Delete the former results of a notebook; if it fails, what it has written, too."""
    clear(name, folder)
    try:
        yield
    except BaseException:
        clear(name, folder)
        raise


def clear(name: str, folder: Path) -> None:
    """Delete what a notebook has written."""
    for file in written_by(name, folder):
        file.unlink()


def attempt(name: str, work: Callable[[], None]) -> None:
    """Renew what a notebook has in `build`; if that fails, note why, so that others go on."""
    reason = ""
    try:
        with renewed(name, paths.BUILD):
            work()
    except Exception as error:
        reason = plainly(error)
        print(f"{name} has no results: {reason}")
    state.note_missing(paths.BUILD, name, ": ".join(reason.split("\n    ")[:2]))


def plainly(error: Exception) -> str:
    """Say in plain words what went wrong."""
    if isinstance(error, PlainError):
        return str(error)
    if isinstance(error, OSError):
        return ": ".join(map(str, filter(None, [error.strerror, error.filename]))) or str(error)
    return f"{type(error).__name__}: {error}"


def refuse_simulated(sources: Mapping[str, str]) -> None:
    """Stop if any study is simulated."""
    simulated = [study for study, source in sources.items() if source in ("simulated", "missing")]
    if simulated:
        raise PlainError(
            f"committed results must come from real data, but {', '.join(simulated)} would be "
            "simulated: leave out data=simulated, or make the data available"
        )


def refuse_missing(folder: Path) -> None:
    """Stop if any notebook has no results."""
    lines = [f"  {name}: {reason}" for name, reason in state.missing(folder).items()]
    if lines:
        raise PlainError("\n".join(["these notebooks have no results:", *lines]))


def publish(names: list[str], build: Path, root: Path) -> list[Path]:
    """Copy what a complete run made into the committed folders; drop figures of earlier runs."""
    claims = build / "claims.csv"
    if not read_text(claims)["source"].isin(["", "real"]).all():
        raise PlainError("build/claims.csv holds claims from simulated data: nothing written")
    tables = (claims, build / "headlines.csv", build / "provenance.csv")
    contents = {root / "figures" / table.name: table.read_bytes() for table in tables}
    for name in names:
        executed = nbformat.read(build / "notebooks" / f"{name}.ipynb", as_version=4)
        text = nbformat.writes(strip(executed)) + "\n"
        contents[root / "notebooks" / f"{name}.ipynb"] = text.encode()
        for figure in sorted((build / "figures").glob(f"{name[:3]}*.png")):
            contents[root / "figures" / figure.name] = figure.read_bytes()
    replace_files(contents)
    for figure in set((root / "figures").glob("*.png")) - set(contents):
        figure.unlink()
    return list(contents)


def strip(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Remove what differs from run to run and machine to machine; keep outputs."""
    notebook.metadata.get("language_info", {}).pop("version", None)
    injected = "injected-parameters"
    cells = [cell for cell in notebook.cells if injected not in cell.metadata.get("tags", [])]
    for metadata in [notebook.metadata, *(cell.metadata for cell in cells)]:
        for trace in TRACES:
            metadata.pop(trace, None)
        if not metadata.get("tags", True):
            del metadata["tags"]
    for number, cell in enumerate((cell for cell in cells if cell.cell_type == "code"), 1):
        cell.execution_count = number
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = number
    notebook.cells = cells
    return notebook


def summary_lines(out_dir: Path, sources: Mapping[str, str]) -> list[str]:
    """Sum up a run in one line of text per study."""
    counts = verdict_counts(read_text(out_dir / "claims.csv")).reindex(list(sources), fill_value=0)
    lines = []
    for study, source in sources.items():
        found = [f"{number} {verdict}" for verdict, number in counts.loc[study].items() if number]
        lines.append(", ".join([f"{study}: {source} data", *(found or ["no claims"])]))
    return lines


def create(name: str, folder: Path = paths.NOTEBOOKS) -> Path:
    """Write a new notebook with all the cells that a notebook of this project has."""
    if not re.fullmatch(r"[1-9][0-9]_[a-z][a-z0-9_]*", name, re.ASCII):
        raise ParameterError(
            f"a notebook cannot be called {name!r}: give two digits, the first of which is not 0, "
            "an underscore, then small letters, digits and underscores, as in NAME=60_my_study"
        )
    taken = sorted(file.stem for file in folder.glob(f"{name[:2]}_*.ipynb"))
    if taken:
        raise ParameterError(
            f"the number {name[:2]} is that of {taken[0]}, whose figures begin with it: choose "
            "another number"
        )
    notebook = nbformat.read(TEMPLATES / "new_notebook.ipynb", as_version=4)
    for position, cell in enumerate(notebook.cells, start=1):
        cell["source"] = cell["source"].replace("NAME", name).replace("NUMBER", name[:2])
        cell["id"] = f"{name[:2]}-{position:02}"
    target = folder / f"{name}.ipynb"
    replace_files({target: f"{nbformat.writes(notebook)}\n".encode()})
    return target


def task(function: Callable, **settings) -> dict:
    """Make a doit task of one function; errors that explain themselves need no traceback."""

    def told():
        try:
            return function()
        except (PlainError, OSError) as error:
            return TaskFailed(plainly(error))

    return {"actions": [told], "io": {"capture": False}, **settings}


def as_left(files: Callable[[], list[Path]]) -> Callable:
    """Make a condition for `uptodate`: the files are as the task left them."""

    def digest() -> dict[str, str]:
        content = b"".join(file.read_bytes() for file in files() if file.is_file())
        return {"digest": hashlib.sha256(content).hexdigest()}

    def unchanged(task, values) -> bool:
        task.value_savers.append(digest)
        return values.get("digest") == digest()["digest"]

    return unchanged


def run_tools(*commands: list[str]) -> bool | TaskFailed:
    """Run Python tools one after the other, and print what they say in one piece."""
    options = {"capture_output": True, "text": True, "cwd": paths.ROOT}
    runs = [subprocess.run([sys.executable, "-m", *each], **options) for each in commands]
    print("".join(run.stdout + run.stderr for run in runs).strip())
    return not any(run.returncode for run in runs) or TaskFailed("see its output above")
