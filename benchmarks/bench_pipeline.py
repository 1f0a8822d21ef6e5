"""Time of each notebook, and of all, beside that of importing their libraries.

The floor of a notebook is a run of its first code cell, which holds the imports, in a
kernel of its own. First all floors are run, then all notebooks as `make reproduce` runs
them; both on all processors, so that other work on the machine disturbs them alike.
"""

import os
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat

from helpers.paths import NOTEBOOKS
from helpers.run import notebooks as run


def imports_only(notebook: Path, folder: Path) -> Path:
    """Write a notebook that holds nothing but the first code cell of another."""
    content = nbformat.read(notebook, as_version=4)
    content.cells = [cell for cell in content.cells if cell.cell_type == "code"][:1]
    target = folder / f"{notebook.stem}_imports.ipynb"
    nbformat.write(content, target)
    return target


def seconds_of(
    notebooks: list[Path], folder: Path, parameters: dict
) -> tuple[list[float], float]:
    """Run notebooks side by side; give the seconds of each and of all together."""
    targets = [folder / "executed" / notebook.name for notebook in notebooks]
    started = time.perf_counter()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        each = list(
            pool.map(run.execute, notebooks, targets, [parameters] * len(targets))
        )
    return each, time.perf_counter() - started


def main():
    notebooks = [NOTEBOOKS / f"{name}.ipynb" for name in run.notebook_names()]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run.set_environment(folder)
        imports = [imports_only(notebook, folder) for notebook in notebooks]
        floors, shared = seconds_of(imports, folder, {})
        seconds, whole = seconds_of(notebooks, folder, {"out_dir": name})
    print(f"{'notebook':32} seconds   floor   ratio")
    names = [notebook.stem for notebook in notebooks]
    rows = [*zip(names, seconds, floors, strict=True), ("all notebooks", whole, shared)]
    for label, time_taken, floor in rows:
        print(f"{label:32} {time_taken:7.1f} {floor:7.1f} {time_taken / floor:7.2f}")


if __name__ == "__main__":
    main()
