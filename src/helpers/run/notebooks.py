"""Notebooks of the project: which there are, and how they run side by side."""

import ast
import json
import os
import re
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import nbformat
import papermill
from nbclient.exceptions import DeadKernelError

from helpers import paths
from helpers.data.tables import OptionError, cell
from helpers.run.parameters import refuse_unknown

KERNEL = {
    "kernel_name": "python3",
    # it calls it an error to be asked to stop
    "extra_arguments": ["--log-level=CRITICAL"],
    # What a cell prints may arrive in parts; it is stored as one.
    "coalesce_streams": True,
    "shutdown_kernel": "immediate",
    "progress_bar": False,
}
SHOWN_LINES = 40  # of an error


@dataclass(frozen=True)
class Outcome:
    """How a notebook ended."""

    name: str
    seconds: float
    error: str = ""  # why it has no results
    left_out: bool = False  # its data are not here, and cannot be simulated

    @property
    def finished(self) -> bool:
        """Whether it ran to its end."""
        return not self.error


def notebook_files() -> dict[str, Path]:
    """Files of the project's notebooks by name, such as 11_error_weights."""
    files = {}
    for folder in (paths.NOTEBOOKS, paths.NOTEBOOKS / "appendix"):
        for file in sorted(folder.glob("*.ipynb")):
            if re.fullmatch(r"\d\d_\w+", file.stem):
                files[file.stem] = file
    return files


def notebook_file(name: str) -> Path:
    """File of a notebook of the project."""
    files = notebook_files()
    if name not in files:
        raise OptionError(
            f"there is no notebook {cell(name)}: choose from {', '.join(sorted(files))}"
        )
    return files[name]


def executed(name: str) -> Path:
    """Executed copy of a notebook, which may not exist yet."""
    place = notebook_file(name).relative_to(paths.NOTEBOOKS)
    return paths.BUILD / "notebooks" / place


def parameters_of(name: str) -> dict[str, object]:
    """Parameters of a notebook with the values that its cell sets."""
    values = {}
    for parameter in papermill.inspect_notebook(notebook_file(name)).values():
        values[parameter["name"]] = _value_of(parameter["default"])
    return values


def _value_of(code: str) -> object:
    """Value that a line of a parameters cell sets."""
    return ast.literal_eval(code)


def heading(notebook: nbformat.NotebookNode) -> str:
    """First line of a notebook that is read already."""
    return notebook.cells[0].source.partition("\n")[0].removeprefix("# ")


def run_all(names: Sequence[str], data: str) -> list[Outcome]:
    """Run notebooks side by side, and say in the terminal how each ends."""
    jobs = max(1, min(os.cpu_count() or 1, len(names)))
    # Kernels of one process do not race for ports.
    with ThreadPoolExecutor(jobs) as pool:
        try:
            return list(pool.map(lambda name: run(name, {"data_source": data}), names))
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            raise


def run(name: str, given: Mapping[str, object]) -> Outcome:
    """Run a notebook into `build/`, and say in the terminal how it ends."""
    known = parameters_of(name)
    refuse_unknown(name, [key for key in given if key != "data_source"], [*known])
    chosen = {key: value for key, value in given.items() if key in known}
    _clear(name)
    say(f"{name}: started")
    outcome = _execute(name, chosen)
    if outcome.left_out:
        say(f"{name}: left out. {outcome.error}")
    elif outcome.error:
        say(f"{name}: FAILED. {outcome.error}")
    else:
        say(f"{name}: finished in {outcome.seconds:.0f} s")
    return outcome


def _clear(name: str) -> None:
    """Delete what an earlier run of a notebook has left."""
    files = [executed(name), paths.BUILD / "results" / f"{name}.csv"]
    files += (paths.BUILD / "figures").glob(f"{name[:3]}*.png")
    for file in files:
        file.unlink(missing_ok=True)


def _execute(name: str, parameters: dict[str, object]) -> Outcome:
    """Run a notebook, a second time if its kernel did not start."""
    # Relative to the project, as in README: see `helpers.run.papermill_io`.
    target = os.path.relpath(executed(name))
    executed(name).parent.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    is_first = True
    while True:
        try:
            papermill.execute_notebook(
                notebook_file(name), target, parameters, **KERNEL
            )
            return Outcome(name, time.monotonic() - started)
        except papermill.PapermillExecutionError as error:
            is_missing = error.ename == "NoDataError"
            where = f"in cell [{error.exec_count}] of {target}"
            words = error.evalue if is_missing else f"{error.ename} {where}"
            if not is_missing:
                words += "\n" + _shortened(error.evalue)
            return Outcome(name, 0, words, left_out=is_missing)
        except DeadKernelError:
            return Outcome(name, 0, f"its kernel died; {target} shows where")
        except RuntimeError as error:
            reason = f"its kernel did not start: {error}"
            if not is_first:
                return Outcome(name, 0, reason)
            is_first = False


def _shortened(message: str) -> str:
    """First lines of a message, indented."""
    lines = message.strip().splitlines()
    shown = lines[:SHOWN_LINES]
    if len(lines) > SHOWN_LINES:
        shown.append("…")
    return "\n".join(f"    {line}" for line in shown)


def say(text: str) -> None:
    """Print a line and its end at once: `print` lets other threads come between."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def set_environment() -> None:
    """Let kernels depend on nothing that a user has set up elsewhere."""
    os.environ |= {
        "IPYTHONDIR": str(paths.BUILD / ".ipython"),
        "JUPYTER_PREFER_ENV_PATH": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONNOUSERSITE": "1",
    }
    for name in ("MPLBACKEND", "PYTHONPATH", "PYTHONHOME"):
        os.environ.pop(name, None)


def create(name: str) -> Path:
    """Write a new notebook with all the cells that a notebook of this project has."""
    if not re.fullmatch(r"[1-9][0-9]_[a-z][a-z0-9_]*", name, re.ASCII):
        raise OptionError(
            f"a notebook cannot be called {name!r}: give two digits, the first of "
            "which is not 0, an underscore, then small letters, digits and "
            "underscores, as in NAME=70_my_study"
        )
    number = name[:2]
    taken = [other for other in notebook_files() if other.startswith(f"{number}_")]
    if taken:
        raise OptionError(
            f"the number {number} is that of {taken[0]}, whose figures begin with it: "
            "choose another number"
        )
    template = paths.DATA / "templates" / "new_notebook.ipynb"
    notebook = json.loads(template.read_text(encoding="utf-8"))
    for position, each in enumerate(notebook["cells"], start=1):
        source = "".join(each["source"])
        each["source"] = source.replace("NAME", name).replace("NUMBER", number)
        each["id"] = f"{number}-{position:02}"
    target = paths.NOTEBOOKS / f"{name}.ipynb"
    paths.replace_files({target: json.dumps(notebook, indent=1).encode() + b"\n"})
    return target
