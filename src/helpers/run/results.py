"""What runs leave: results in a folder, what is done, what is missing, what is published.

The tasks in `dodo.py` say when a notebook has to run, and the command `ratings` runs
one; both keep a folder of results as this module does it.
"""

import fcntl
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import nbformat

from helpers import paths
from helpers.data import registry
from helpers.data.published import read_text
from helpers.data.tables import PlainError
from helpers.paths import replace_files
from helpers.run import notebooks, parameters

LOCK = ".lock"
TRACES = ("papermill", "execution")
_NOTING = threading.Lock()


def hold(folder: Path) -> IO:
    """Keep a folder of results for this process until it ends; wait while another one has it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / LOCK).open("a")
    except OSError as error:
        raise PlainError(
            f"results cannot be written to {folder} ({error.strerror}): it must be a folder that "
            "you can write to, on a disk with space"
        ) from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print(f"another run is at work in {folder}: waiting until it ends", flush=True)
        fcntl.flock(lock, fcntl.LOCK_EX)
    except OSError:
        print(
            f"{folder} is on a disk without locks: start one run at a time", flush=True
        )
    return lock


def resolve(study: str, choice: str) -> tuple[str, str]:
    """Decide whether a study's data are real, printed in its paper only, or simulated; and why."""
    if choice == "simulated":
        return "simulated", "asked for"
    files = registry.names(study)
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


def joint_source(kinds: Mapping[str, str], choice: str) -> str:
    """Tell real data from simulated; several studies are real only if all are."""
    for study, kind in kinds.items():
        if kind.startswith("missing"):
            raise PlainError(f"data of {study} are {kind}")
    if not kinds:
        return choice
    return "simulated" if "simulated" in kinds.values() else "real"


def executed(name: str, folder: Path) -> Path:
    """Executed copy of a notebook in a folder of results."""
    return folder / "notebooks" / f"{name}.ipynb"


def written_by(name: str, folder: Path) -> list[Path]:
    """Files that a run of a notebook has written; names of figures begin with its number."""
    tables = [
        f"{kind}/{name}.csv"
        for kind in ("claims", "headlines", "provenance", "results")
    ]
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


def read_object(file: Path) -> dict | None:
    """Read a JSON object; None if the file is damaged or not there."""
    try:
        content = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def missing(folder: Path) -> dict[str, str]:
    """Notebooks that a run could not finish, each with the reason in one line."""
    there = {file.stem for file in paths.NOTEBOOKS.glob("*.ipynb")}
    noted = read_object(folder / "missing.json") or {}
    return {name: why for name, why in noted.items() if name in there}


def note_missing(folder: Path, name: str, reason: str) -> None:
    """Note why a notebook has no results; an empty reason says that it has."""
    with _NOTING:
        noted = sorted((missing(folder) | {name: reason}).items())
        text = json.dumps({name: why for name, why in noted if why}, indent=1)
        replace_files({folder / "missing.json": f"{text}\n".encode()})


def publish(names: list[str], build: Path, root: Path) -> list[Path]:
    """Copy what a complete run made into the committed folders; drop figures of earlier runs."""
    claims = build / "claims.csv"
    if not read_text(claims)["source"].isin(["", "real"]).all():
        raise PlainError(
            "build/claims.csv holds claims from simulated data: nothing written"
        )
    tables = (claims, build / "headlines.csv", build / "provenance.csv")
    contents = {root / "figures" / table.name: table.read_bytes() for table in tables}
    run_notebooks = [executed(name, build) for name in names]
    contents[root / "data" / parameters.FILE.name] = notebooks.defaults_table(
        run_notebooks
    )
    for name in names:
        content = nbformat.read(executed(name, build), as_version=4)
        text = nbformat.writes(strip(content)) + "\n"
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
    cells = [
        cell for cell in notebook.cells if injected not in cell.metadata.get("tags", [])
    ]
    for metadata in [notebook.metadata, *(cell.metadata for cell in cells)]:
        for trace in TRACES:
            metadata.pop(trace, None)
        if not metadata.get("tags", True):
            del metadata["tags"]
    for number, cell in enumerate(
        (cell for cell in cells if cell.cell_type == "code"), 1
    ):
        cell.execution_count = number
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = number
    notebook.cells = cells
    return notebook
