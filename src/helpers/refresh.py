"""Renew the committed results: notebook outputs, figures and claims, from real data only."""

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

import nbformat
import pandas as pd

from helpers.paths import replace_files
from helpers.pipeline import PipelineError

TRACES = ("papermill", "execution")


def start(sources: Mapping[str, str], build: Path) -> None:
    """Refuse simulated data, then clear away the figures and claims of earlier runs.

    Parameters
    ----------
    sources : mapping of str to str
        "real" or "simulated" by study.
    build : pathlib.Path
        Folder of the run.

    Raises
    ------
    PipelineError
        If a study is simulated.
    """
    simulated = [study for study, source in sources.items() if source != "real"]
    if simulated:
        raise PipelineError(
            f"committed results must come from real data, but {', '.join(simulated)} would be "
            "simulated: leave out data=simulated, or make the data available"
        )
    for folder in ("figures", "claims", "refresh"):
        shutil.rmtree(build / folder, ignore_errors=True)


def publish(names: list[str], build: Path, root: Path) -> list[Path]:
    """Move the results of a complete run into the committed folders.

    Everything is read and checked before the first file is written. Figures that no notebook
    makes any more are deleted.

    Parameters
    ----------
    names : list of str
        Notebooks that were executed into `build/refresh/notebooks`.
    build : pathlib.Path
        Folder of the run, with `figures` and `claims.csv`.
    root : pathlib.Path
        Project with the folders `notebooks` and `figures`.

    Returns
    -------
    list of pathlib.Path
        The files written.

    Raises
    ------
    PipelineError
        If a claim was computed on simulated data.
    """
    claims = pd.read_csv(build / "claims.csv", dtype=str, keep_default_na=False)
    if not claims["source"].isin(["", "real"]).all():
        raise PipelineError("build/claims.csv holds claims from simulated data: nothing written")
    figures = sorted((build / "figures").glob("*.png"))
    contents = {root / "figures" / "claims.csv": (build / "claims.csv").read_bytes()}
    contents |= {root / "figures" / figure.name: figure.read_bytes() for figure in figures}
    for name in names:
        executed = nbformat.read(build / "refresh" / "notebooks" / f"{name}.ipynb", as_version=4)
        text = nbformat.writes(strip(executed)) + "\n"
        contents[root / "notebooks" / f"{name}.ipynb"] = text.encode()
    replace_files(contents)
    for figure in set((root / "figures").glob("*.png")) - set(contents):
        figure.unlink()
    return list(contents)


def strip(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Remove what differs from run to run and machine to machine; keep outputs.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
        An executed notebook, which is changed in place.

    Returns
    -------
    nbformat.NotebookNode
        The same notebook, without the cell of injected parameters and counted from 1 again.
    """
    notebook.metadata.get("language_info", {}).pop("version", None)
    notebook.cells = [
        cell
        for cell in notebook.cells
        if "injected-parameters" not in cell.metadata.get("tags", [])
    ]
    for metadata in [notebook.metadata, *(cell.metadata for cell in notebook.cells)]:
        for trace in TRACES:
            metadata.pop(trace, None)
        if not metadata.get("tags", True):
            del metadata["tags"]
    _count(cell for cell in notebook.cells if cell.cell_type == "code")
    return notebook


def _count(cells: Iterable[nbformat.NotebookNode]) -> None:
    """Number code cells, and those outputs that carry a number, from 1."""
    for number, cell in enumerate(cells, 1):
        cell.execution_count = number
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = number
