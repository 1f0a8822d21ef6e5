"""Processor time and peak memory of each notebook, beside those of its imports.

Run `python -m benchmarks.bench_pipeline`. Each notebook runs as in `make reproduce`,
one after the other, in a kernel of its own; so does its first code cell, which holds
the imports. The ratio depends less than seconds on what else the machine does.
"""

import argparse
import multiprocessing
import resource
import tempfile
from pathlib import Path

import nbformat

from helpers.run import notebooks as run
from helpers.run.parameters import notebook_file


def imports_only(notebook: Path, folder: Path) -> Path:
    """Write a notebook that holds nothing but the first code cell of another."""
    content = nbformat.read(notebook, as_version=4)
    content.cells = [cell for cell in content.cells if cell.cell_type == "code"][:1]
    target = folder / f"{notebook.stem}_imports.ipynb"
    nbformat.write(content, target)
    return target


def usage(notebook: Path, folder: Path, parameters: dict) -> tuple[float, float]:
    """Run a notebook; give seconds of processor time and megabytes of its kernel."""
    run.set_environment(folder)
    run.execute(notebook, folder / "executed" / notebook.name, parameters)
    kernel = resource.getrusage(resource.RUSAGE_CHILDREN)
    return kernel.ru_utime + kernel.ru_stime, kernel.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--notebooks", nargs="*", default=run.notebook_names())
    names = parser.parse_args().notebooks
    print("| notebook | seconds | imports | ratio | MB | imports |", flush=True)
    print("|---|---|---|---|---|---|", flush=True)
    for name in names:
        notebook = notebook_file(name)
        # one process for each, since a process knows the peak of all its kernels only
        with (
            tempfile.TemporaryDirectory() as folder,
            multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool,
        ):
            work = Path(folder)
            imports = imports_only(notebook, work)
            floor, floor_mb = pool.apply(usage, (imports, work, {}))
            seconds, mb = pool.apply(usage, (notebook, work, {"out_dir": folder}))
        print(
            f"| {name} | {seconds:.1f} | {floor:.1f} | {seconds / floor:.1f} "
            f"| {mb:.0f} | {floor_mb:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
