"""What runs leave: results in a folder, what is missing, what is published.

The tasks in `dodo.py` say when a notebook has to run, and the command `ratings` runs
one; both keep a folder of results as this module does it.
"""

import fcntl
import importlib.util
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import nbformat
import pandas as pd

from helpers import paths
from helpers.data import registry
from helpers.data.published import read_text
from helpers.data.tables import PlainError
from helpers.paths import replace_files
from helpers.run import notebooks

LOCK = ".lock"
# The kind of data of a study, and how the reason begins why its notebooks did not run.
LEFT_OUT = "left out"
TRACES = ("papermill", "execution")
_NOTING = threading.Lock()


def hold(folder: Path) -> IO:
    """Keep a folder of results for this process; wait while another one has it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / LOCK).open("a")
    except OSError as error:
        raise PlainError(
            f"results cannot be written to {folder} ({error.strerror}): it must be a "
            "folder that you can write to, on a disk with space"
        ) from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print(f"another run is at work in {folder}: waiting until it ends", flush=True)
        fcntl.flock(lock, fcntl.LOCK_EX)
    except OSError:
        problem = f"{folder} is on a disk without locks: start one run at a time"
        print(problem, flush=True)
    return lock


def has_simulator(study: str) -> bool:
    """Tell whether the data of a study can be simulated."""
    return importlib.util.find_spec(f"helpers.simulate.{study}") is not None


def resolve(study: str, choice: str) -> tuple[str, str]:
    """Decide which kind of data of a study is used, and say why.

    The kind is "real", "printed" (its paper only), "simulated" or `LEFT_OUT`.
    """
    if choice == "simulated":
        return _instead_of_real(study, "asked for")
    files = registry.names(study)
    try:
        registry.locate(files, "real")
    except registry.DataUnavailableError as error:
        if choice == "real":
            raise
        return _instead_of_real(study, str(error).partition(". ")[0])
    public = registry.fetch_unpinned(study)
    missing = [reason for reason in public.values() if reason]
    here = len(files) + len(public) - len(missing)
    why = f"{here} files, checksums right" if here else "no files but its tables"
    if missing:
        why += f"; {len(missing)} more public, not fetched ({missing[0]})"
    real = files or (public and not missing)
    return "real" if real else "printed", why


def _instead_of_real(study: str, why: str) -> tuple[str, str]:
    """Which kind of data is used where real data cannot be, or are not wanted."""
    if has_simulator(study):
        return "simulated", why
    if not registry.names(study):
        return "printed", "no files but its tables"
    return LEFT_OUT, f"{why}; it has no simulator"


def joint_source(kinds: Mapping[str, str], choice: str) -> str:
    """Tell real data from simulated; several studies are real only if all are."""
    for study, kind in kinds.items():
        if kind.startswith("missing"):
            raise PlainError(f"data of {study} are {kind}")
        if kind == LEFT_OUT:
            raise PlainError(
                f"{LEFT_OUT}: it needs the real data of {study}, which has no simulator"
            )
    if not kinds:
        return choice
    return "simulated" if "simulated" in kinds.values() else "real"


def executed(name: str, folder: Path) -> Path:
    """Executed copy of a notebook in a folder of results."""
    return folder / "notebooks" / f"{name}.ipynb"


def written_by(name: str, folder: Path) -> list[Path]:
    """Files that a run of a notebook has written."""
    patterns = [
        f"notebooks/{name}.ipynb",
        f"claims/{name}.csv",
        f"headlines/{name}.csv",
        f"provenance/{name}.csv",
        f"results/{name}.csv",
        f"figures/{name[:3]}*.png",  # names of figures begin with its number
    ]
    files = []
    for pattern in patterns:
        files += sorted(folder.glob(pattern))
    return files


@contextmanager
def renewed(name: str, folder: Path) -> Iterator[None]:
    """Delete former results of a notebook; if it fails, what it has written, too."""
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
    existing = {file.stem for file in paths.NOTEBOOKS.glob("*.ipynb")}
    noted = read_object(folder / "missing.json")
    if noted is None:
        return {}
    return {name: reason for name, reason in noted.items() if name in existing}


def note_missing(folder: Path, name: str, reason: str) -> None:
    """Note why a notebook has no results; an empty reason says that it has."""
    with _NOTING:
        reasons = missing(folder)
        reasons.pop(name, None)
        if reason:
            reasons[name] = reason
        text = json.dumps(reasons, indent=1, sort_keys=True)
        replace_files({folder / "missing.json": f"{text}\n".encode()})


def publish(names: list[str], build: Path, root: Path) -> list[Path]:
    """Copy what a complete run made into the committed folders.

    Figures of earlier runs go. READMEs list new notebooks. Sentences that state how
    many claims hold are renewed, and what README and docs/findings.md say of findings.
    """
    from helpers.claims import elsewhere  # takes half a second

    claims = read_text(build / "claims.csv")
    if not claims["source"].isin(["", "real"]).all():
        raise PlainError(
            "build/claims.csv holds claims from simulated data: nothing written"
        )
    contents = {}
    for table in ("claims", "headlines", "provenance"):
        file = f"{table}.csv"
        contents[root / "figures" / file] = (build / file).read_bytes()
    other_sets = build / "atlas.csv"
    if other_sets.is_file():
        contents[root / "figures" / other_sets.name] = other_sets.read_bytes()
    renewals = _renewals(root, claims)
    titles = {}
    alts = {}
    for name in names:
        content = strip(nbformat.read(executed(name, build), as_version=4))
        opening = content.cells[0]
        opening.source = _replaced(opening.source, renewals)
        titles[name] = notebooks.heading(content)
        text = nbformat.writes(content) + "\n"
        contents[root / "notebooks" / f"{name}.ipynb"] = text.encode()
        alt_by_picture = notebooks.alt_texts(content)
        for figure in sorted((build / "figures").glob(f"{name[:3]}*.png")):
            picture = figure.read_bytes()
            contents[root / "figures" / figure.name] = picture
            alts[figure.stem] = alt_by_picture.get(picture, "")
    texts = {}
    readmes = {root / "README.md": "notebooks/", root / "notebooks" / "README.md": ""}
    for file, folder in readmes.items():
        text = _replaced(file.read_text(encoding="utf-8"), renewals)
        texts[file] = notebooks.with_all_listed(text, titles, folder)
    findings = root / "docs" / "findings.md"
    texts[findings] = findings.read_text(encoding="utf-8")
    headlines = read_text(build / "headlines.csv")
    said_elsewhere = elsewhere.sentences(elsewhere.latest(build))
    for file, up in {root / "README.md": "", findings: "../"}.items():
        texts[file] = with_findings(
            texts[file], claims, headlines, alts, up, said_elsewhere
        )
    for file, text in texts.items():
        contents[file] = text.encode()
    replace_files(contents)
    for figure in set((root / "figures").glob("*.png")) - set(contents):
        figure.unlink()
    return list(contents)


def with_findings(
    text: str,
    claims: pd.DataFrame,
    headlines: pd.DataFrame,
    alts: Mapping[str, str],
    up: str,
    said_elsewhere: Mapping[str, str],
) -> str:
    """Write anew what a text says of findings; `up` leads from it to the root."""
    from helpers.claims.findings import Findings  # takes half a second

    def picture(name: str) -> str:
        return f"![{alts[name]}]({up}figures/{name}.png)"

    writer = Findings(claims, headlines, picture, up, elsewhere=said_elsewhere)
    return writer.renew(text)


def _renewals(root: Path, claims: pd.DataFrame) -> dict[str, str]:
    """What the committed claims let sentences say, and what they have to say now."""
    from helpers.claims import collection  # takes half a second

    committed = root / "figures" / "claims.csv"
    if not committed.is_file():
        return {}
    before = collection.stated_counts(read_text(committed))
    now = collection.stated_counts(claims)
    return dict(zip(before, now, strict=True))


def _replaced(text: str, renewals: Mapping[str, str]) -> str:
    """Replace parts of a text."""
    for before, now in renewals.items():
        text = text.replace(before, now)
    return text


def strip(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Remove what differs from run to run and machine to machine; keep outputs."""
    notebook.metadata.get("language_info", {}).pop("version", None)
    notebook.cells = [
        cell
        for cell in notebook.cells
        if "injected-parameters" not in cell.metadata.get("tags", [])
    ]
    for each in (notebook, *notebook.cells):
        for trace in TRACES:
            each.metadata.pop(trace, None)
        if each.metadata.get("tags") == []:
            del each.metadata["tags"]
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for number, cell in enumerate(code, start=1):
        cell.execution_count = number
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = number
    return notebook
