"""Processor time and peak memory of each notebook, beside those of its imports.

Run `python benchmarks/bench_pipeline.py`. Each notebook runs as in `make reproduce`,
one after the other. Its kernel says what it has used after the first code cell, which
holds the imports, and after the last one. Of each, the least of some rounds counts,
since single runs differ by a fifth.
"""

import argparse
import tempfile
from pathlib import Path

import nbformat
import numpy as np
from nbformat.v4 import new_code_cell

from helpers.run import notebooks as run
from helpers.run.parameters import notebook_file

MEASURE = """
import resource as _resource
_used = _resource.getrusage(_resource.RUSAGE_SELF)
print(_used.ru_utime + _used.ru_stime, _used.ru_maxrss / 1024)
"""


def usage(notebook: Path, folder: Path) -> list[list[float]]:
    """Seconds and megabytes that a kernel has used after the imports and at the end."""
    content = nbformat.read(notebook, as_version=4)
    first = [cell.cell_type for cell in content.cells].index("code")
    content.cells.insert(first + 1, new_code_cell(MEASURE))
    content.cells.append(new_code_cell(MEASURE))
    measured, executed = folder / notebook.name, folder / "executed" / notebook.name
    nbformat.write(content, measured)
    run.execute(measured, executed, {"out_dir": str(folder)})
    cells = nbformat.read(executed, as_version=4).cells
    said = [cell.outputs[0].text for cell in cells if cell.source == MEASURE]
    return [[float(number) for number in line.split()] for line in said]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--notebooks", nargs="*", default=run.notebook_names())
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    print("| notebook | seconds | imports | ratio | MB | imports |", flush=True)
    print("|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run.set_environment(folder)
        for notebook in given.notebooks:
            file = notebook_file(notebook)
            rounds = [usage(file, folder) for _ in range(given.rounds)]
            (imports, floor), (seconds, peak) = np.min(rounds, axis=0)
            print(
                f"| {notebook} | {seconds:.1f} | {imports:.1f} "
                f"| {seconds / imports:.1f} | {peak:.0f} | {floor:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
