"""Time of each notebook, and of the whole pipeline, beside that of importing its libraries only.

The floor of a notebook is a run of its first code cell, which holds the imports. Both are timed in
turn, and the medians of three runs are compared. The pipeline is compared with the sum of all
floors shared out over the processors.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import nbformat

from helpers.paths import NOTEBOOKS, ROOT
from helpers.run import notebooks as run

RUNS = 3


def imports_only(notebook: Path, folder: Path) -> Path:
    """Write a notebook that holds nothing but the first code cell of another."""
    content = nbformat.read(notebook, as_version=4)
    content.cells = [cell for cell in content.cells if cell.cell_type == "code"][:1]
    nbformat.write(content, folder / f"{notebook.stem}_imports.ipynb")
    return folder / f"{notebook.stem}_imports.ipynb"


def seconds_and_floor(notebook: Path, folder: Path) -> tuple[float, float]:
    """Median times of a notebook and of its imports, run in turn."""
    floor = imports_only(notebook, folder)
    parameters = {"out_dir": str(folder)}
    times = [
        (
            run.execute(notebook, folder / "executed.ipynb", parameters),
            run.execute(floor, folder / "executed.ipynb", {}),
        )
        for _ in range(RUNS)
    ]
    return tuple(map(median, zip(*times, strict=True)))


def pipeline_seconds(folder: Path) -> float:
    """Time of one run of all tasks."""
    command = [sys.executable, "-m", "doit", "run", "--always", "--db-file", folder / "doit.json"]
    started = time.perf_counter()
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def main():
    floors = []
    print(f"{'notebook':32} seconds   floor   ratio")
    with tempfile.TemporaryDirectory() as folder:
        for name in run.notebook_names():
            seconds, floor = seconds_and_floor(NOTEBOOKS / f"{name}.ipynb", Path(folder))
            floors.append(floor)
            print(f"{name:32} {seconds:7.1f} {floor:7.1f} {seconds / floor:7.2f}", flush=True)
        shared = sum(floors) / min(os.cpu_count(), len(floors))
        seconds = pipeline_seconds(Path(folder))
    print(f"{'whole pipeline':32} {seconds:7.1f} {shared:7.1f} {seconds / shared:7.2f}")


if __name__ == "__main__":
    main()
