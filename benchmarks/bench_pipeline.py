"""Time of each notebook, and of all, beside that of importing their libraries.

The floor is a kernel that runs the first code cell of a notebook, which holds the
imports: the mean of as many notebooks as there are processors, run side by side. Then
all notebooks run as in `make reproduce`.
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
    n_processors = os.cpu_count()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run.set_environment(folder)
        imports = [imports_only(file, folder) for file in notebooks[:n_processors]]
        floors, _ = seconds_of(imports, folder, {})
        seconds, whole = seconds_of(notebooks, folder, {"out_dir": name})
    floor = sum(floors) / len(floors)
    print(f"importing the libraries, the floor: {floor:.1f} s")
    print(f"{'notebook':32} seconds   ratio to the floor")
    for notebook, time_taken in zip(notebooks, seconds, strict=True):
        print(f"{notebook.stem:32} {time_taken:7.1f} {time_taken / floor:7.2f}")
    all_floors = floor * len(notebooks) / n_processors
    print(f"{'all, side by side':32} {whole:7.1f} {whole / all_floors:7.2f}")


if __name__ == "__main__":
    main()
