"""What runs leave: results in a folder, what is missing, what is published."""

import hashlib
import importlib.util
import json
import tomllib
from importlib import metadata
from io import BytesIO
from pathlib import Path
from platform import python_version

import nbformat
import numpy as np
import pandas as pd
from packaging.requirements import Requirement

from helpers import paths
from helpers.data import registry
from helpers.data.published import read_text
from helpers.data.tables import to_csv_bytes
from helpers.paths import replace_files
from helpers.run import notebooks
from helpers.run.dependencies import fingerprint
from helpers.run.parameters import notebook_file, notebook_files

# Tables of a run, which are committed in figures/.
JOINED = ("results", "claims", "authors_numbers", "versions")
# How the reason begins why a notebook was not run.
LEFT_OUT = "left out"
TRACES = ("papermill", "execution")
# What tells rows of results and claims apart.
KEYS = (
    "id",
    "name",
    "interpretation",
    "part",
    "notebook",
    "file",
)
SAME = 1e-4  # relative difference of numbers that outputs show alike


def has_simulator(study: str) -> bool:
    """Tell whether the data of a study can be simulated."""
    return importlib.util.find_spec(f"helpers.simulate.{study}") is not None


def without_data(name: str, choice: str) -> str:
    """Say which data a notebook lacks that no simulator stands in for; or nothing."""
    for study in notebooks.studies_of(name):
        files = registry.names(study)
        if not files or has_simulator(study):
            continue
        if choice == "simulated":
            return f"{study} has no simulator"
        try:
            registry.locate(files, "real")
        except registry.DataUnavailableError as error:
            if choice == "real":
                raise
            return f"{error}"
    return ""


def executed(name: str, folder: Path) -> Path:
    """Executed copy of a notebook in a folder of results."""
    return folder / "notebooks" / f"{name}.ipynb"


def written_by(name: str, folder: Path) -> list[Path]:
    """Files that a run of a notebook has written, with real or simulated data."""
    patterns = [
        f"notebooks/{name}.ipynb",
        f"results/{name}.csv",
        f"tables/{name}.csv",
        f"figures/{name[:3]}*.png",  # names of figures begin with its number
    ]
    files = []
    for place in (folder, folder / "simulated"):
        for pattern in patterns:
            files += sorted(place.glob(pattern))
    return files


def is_simulated(name: str, folder: Path) -> bool:
    """Tell whether the last run of a notebook has used simulated data."""
    inner = folder / "simulated"
    return any(file.is_relative_to(inner) for file in written_by(name, folder))


def clear(name: str, folder: Path) -> None:
    """Delete what a notebook has written, and the notes of how it ended."""
    _note_of(name, folder).unlink(missing_ok=True)
    _reason_of(name, folder).unlink(missing_ok=True)
    for file in written_by(name, folder):
        file.unlink()


def note_finished(name: str, folder: Path, choice: str) -> None:
    """Note of what a finished notebook was made and what it has written."""
    note = json.dumps(_state(name, folder, choice))
    replace_files({_note_of(name, folder): note.encode()})


def is_finished(name: str, folder: Path, choice: str) -> bool:
    """Tell whether a notebook has run, and nothing that concerns it has changed since.

    Simulated data may give way to real data at any time, unless they were asked for.
    """
    if choice == "auto" and is_simulated(name, folder):
        return False
    try:
        noted = json.loads(_note_of(name, folder).read_text())
    except (OSError, ValueError):
        return False
    return noted == _state(name, folder, choice)


def _note_of(name: str, folder: Path) -> Path:
    """File that notes that a notebook is finished."""
    return folder / "finished" / f"{name}.json"


def _state(name: str, folder: Path, choice: str) -> dict[str, object]:
    """What a notebook depends on, and what it has written."""
    written = {}
    for file in written_by(name, folder):
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        written[str(file.relative_to(folder))] = digest
    used = fingerprint(notebook_file(name))
    return {"data": choice, "used": used, "written": written}


def note_failed(name: str, folder: Path, reason: str) -> None:
    """Note why a notebook has no results."""
    replace_files({_reason_of(name, folder): reason.encode()})


def missing(folder: Path) -> dict[str, str]:
    """Notebooks that a run could not finish, each with the reason in one line."""
    reasons = {}
    for name in sorted(notebook_files()):
        file = _reason_of(name, folder)
        if file.is_file():
            where_and_error = file.read_text().split("\n    ")[:2]
            reasons[name] = ": ".join(where_and_error)
    return reasons


def _reason_of(name: str, folder: Path) -> Path:
    """File that notes why a notebook has no results."""
    return executed(name, folder).with_suffix(".failed.txt")


def versions() -> pd.DataFrame:
    """Versions of Python and of the packages that notebooks and `ratings` ask for.

    Returns
    -------
    pandas.DataFrame
        `name` and `version`.

    Examples
    --------
    >>> versions()["name"].head(2).tolist()
    ['python', 'click']
    """
    project = tomllib.loads((paths.ROOT / "pyproject.toml").read_text())["project"]
    asked = project["dependencies"] + project["optional-dependencies"]["notebooks"]
    rows = [("python", python_version())]
    for requirement in asked:
        name = Requirement(requirement).name
        rows.append((name, metadata.version(name)))
    return pd.DataFrame(rows, columns=["name", "version"])


def differences(committed: pd.DataFrame, new: pd.DataFrame) -> list[str]:
    """Say where a new table of results differs from the committed one.

    Numbers differ if they do in the fourth digit: outputs show no more.

    Parameters
    ----------
    committed, new : pandas.DataFrame
        Texts, as files hold them; rows in any order.

    Returns
    -------
    list of str
        A line per difference.

    Examples
    --------
    >>> old = pd.DataFrame({"name": ["a", "b"], "estimate": ["1.00001", "2"]})
    >>> new = pd.DataFrame({"name": ["b", "a"], "estimate": ["2.1", "1"]})
    >>> differences(old, new)
    ['b: estimate is 2.1, not 2']
    """
    keys = [column for column in committed if column in KEYS]
    before = _by_key(committed, keys)
    after = _by_key(new, keys)
    found = [f"{key}: is gone" for key in before.keys() - after.keys()]
    found += [f"{key}: is new" for key in after.keys() - before.keys()]
    for key in before.keys() & after.keys():
        for column in sorted(before[key].keys() | after[key].keys()):
            old_value = before[key].get(column, "")
            new_value = after[key].get(column, "")
            if not _same(old_value, new_value):
                found.append(f"{key}: {column} is {new_value}, not {old_value}")
    return sorted(found)


def changed(build: Path, committed: pd.DataFrame) -> list[str]:
    """Say where results that notebooks have saved differ from the committed ones."""
    from helpers.claims import joined, results  # takes a second

    saved = joined.as_text(results.read(build))
    new = read_text(BytesIO(to_csv_bytes(saved, index=False)))
    names = notebooks.notebook_names()
    return differences(
        committed[committed["notebook"].isin(names)],
        new[new["notebook"].isin(names)],
    )


def _by_key(table: pd.DataFrame, keys: list[str]) -> dict[str, dict[str, str]]:
    """Rows of a table by their key; the n-th of several alike has its number."""
    number = table.groupby(keys).cumcount().astype(str)
    names = (
        table[keys].assign(number=number.mask(number == "0", "")).agg(" ".join, axis=1)
    )
    return dict(
        zip(names.str.split().str.join(" "), table.to_dict("records"), strict=True)
    )


def _same(before: str, after: str) -> bool:
    """Tell whether two cells are the same text or about the same number."""
    if before == after:
        return True
    try:
        return bool(np.isclose(float(before), float(after), rtol=SAME, atol=SAME**2))
    except ValueError:
        return False


def publish(names: list[str], build: Path, root: Path) -> list[Path]:
    """Copy what a complete run made into the committed folders.

    Figures of earlier runs go. `notebooks/README.md` lists new notebooks, and the
    replication report is written anew.
    """
    from helpers.claims import report  # takes half a second

    contents = {}
    for table in JOINED:
        file = f"{table}.csv"
        contents[root / "figures" / file] = (build / file).read_bytes()
    titles = {}
    for name in names:
        content = strip(nbformat.read(executed(name, build), as_version=4))
        titles[name] = notebooks.heading(content)
        text = nbformat.writes(content) + "\n"
        contents[notebook_file(name)] = text.encode()
        for figure in sorted((build / "figures").glob(f"{name[:3]}*.png")):
            contents[root / "figures" / figure.name] = figure.read_bytes()
    index = root / "notebooks" / "README.md"
    text = index.read_text(encoding="utf-8")
    contents[index] = notebooks.with_all_listed(text, titles).encode()
    links = {
        name: f"../notebooks/{notebook_file(name).relative_to(paths.NOTEBOOKS)}"
        for name in names
    }
    claims = read_text(build / "claims.csv")
    authors = read_text(build / "authors_numbers.csv")
    text = report.write(claims, authors, links)
    contents[root / "docs" / "replication_report.md"] = text.encode()
    replace_files(contents)
    for figure in set((root / "figures").glob("*.png")) - set(contents):
        figure.unlink()
    return list(contents)


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
