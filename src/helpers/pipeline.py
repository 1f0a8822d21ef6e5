"""Run notebooks: which data each one gets, with which parameters, and what a failure looks like.

`dodo.py` says when a notebook has to run; this module runs it.
"""

import json
import os
import shlex
import textwrap
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

import papermill
from nbclient.exceptions import DeadKernelError
from nbconvert import HTMLExporter

from helpers import paths
from helpers.files import registry
from helpers.paths import replace_files

STUDIES = {"1": "hosking", "2": "kamoda", "3": "chatbench", "4": "humbel"}
WORDS = {"True": True, "False": False, "None": None}
SHOWN_LINES = 60
KERNEL_OPTIONS = {
    "kernel_name": "python3",
    "extra_arguments": ["--log-level=ERROR"],
    # What a cell prints may arrive in parts; it is kept as one, so that two runs give equal files.
    "coalesce_streams": True,
    # Asking an idle kernel to stop sometimes takes it three seconds; nothing is left for it to do.
    "shutdown_kernel": "immediate",
    "progress_bar": False,
}


class PipelineError(RuntimeError):
    """A task cannot be done; the message says why and what to do."""


class ParameterError(PipelineError):
    """A choice or a notebook parameter is not one of those that exist."""


class NotebookError(PipelineError):
    """A notebook stopped before its last cell."""


def notebook_names() -> list[str]:
    """List the notebooks of the project.

    Returns
    -------
    list of str
        File names without `.ipynb`, sorted.
    """
    return sorted(file.stem for file in paths.NOTEBOOKS.glob("[0-9]*.ipynb"))


def studies_of(name: str, names: Iterable[str]) -> list[str]:
    """List the studies whose data a notebook reads, told from its number.

    Parameters
    ----------
    name : str
        The notebook. A number outside the studies, such as 00 or 50, means all studies.
    names : iterable of str
        All notebooks.

    Returns
    -------
    list of str
        Studies, in the order of their numbers.

    Examples
    --------
    >>> names = ["00_overview", "11_error_weights", "21_aspect_weights"]
    >>> studies_of("11_error_weights", names)
    ['hosking']
    >>> studies_of("00_overview", names)
    ['hosking', 'kamoda']
    """
    if name[0] in STUDIES:
        return [STUDIES[name[0]]]
    numbers = {other[0] for other in names}
    return [study for number, study in STUDIES.items() if number in numbers]


def resolve(study: str, choice: str) -> tuple[str, str]:
    """Decide whether a study's data are real or simulated, fetching them if they are real.

    Parameters
    ----------
    study : str
        Name of a study. Its files are those registered under its name.
    choice : {"auto", "real", "simulated"}
        What was asked for; see `registry.locate`.

    Returns
    -------
    source : {"real", "simulated"}
        What it will be.
    reason : str
        Why, in a few words.

    Raises
    ------
    ParameterError
        If there is no such choice.
    helpers.files.registry.DataError
        If real data were asked for and cannot be had, or if a file is corrupt.

    Examples
    --------
    >>> resolve("kamoda", "simulated")
    ('simulated', 'asked for')
    """
    if choice not in registry.DATA_SOURCES:
        raise ParameterError(f"data must be auto, real or simulated, not {choice!r}")
    if choice == "simulated":
        return "simulated", "asked for"
    files = _files(study)
    if not files:
        return "real", "printed tables only"
    try:
        located = registry.locate(files, "real")
    except registry.DataUnavailableError as error:
        if choice == "real":
            raise
        return "simulated", str(error).partition(". ")[0]
    return "real", f"{len(located)} files, checksums right"


def describe(study: str, source: str) -> str:
    """Name the data of a study for readers: numbers printed in a paper are not raw data.

    Parameters
    ----------
    study : str
        Name of a study.
    source : {"real", "simulated"}
        What `resolve` decided.

    Returns
    -------
    {"real", "printed", "simulated"}
        "printed" for a study of which only printed tables are at hand.

    Examples
    --------
    >>> describe("chatbench", "real"), describe("kamoda", "real")
    ('printed', 'real')
    """
    return "printed" if source == "real" and not _files(study) else source


def _files(study: str) -> list[str]:
    """Registered files of a study."""
    return [file for file in registry.names() if file.startswith(f"{study}/")]


def parse_parameters(text: str) -> dict[str, object]:
    """Read notebook parameters from a command line.

    Parameters
    ----------
    text : str
        Any number of `-p NAME VALUE`. A value is read as a number, as JSON, as a Python `True`,
        `False` or `None`, or else as text.

    Returns
    -------
    dict of str to object
        Values by name.

    Raises
    ------
    ParameterError
        If the text has another form.

    Examples
    --------
    >>> parse_parameters("-p alpha 0.05 -p outcome quality_biased -p arms '[1, 2]'")
    {'alpha': 0.05, 'outcome': 'quality_biased', 'arms': [1, 2]}
    """
    words = shlex.split(text)
    flags, names, values = words[::3], words[1::3], words[2::3]
    if len(words) % 3 or set(flags) - {"-p"}:
        raise ParameterError(f"write parameters as -p NAME VALUE, not {text!r}")
    return {name: _parse(value) for name, value in zip(names, values, strict=True)}


def _parse(text: str) -> object:
    """Read one value of a JSON type."""
    if text in WORDS:
        return WORDS[text]
    for parse in (int, float, json.loads):
        try:
            return parse(text)
        except ValueError:
            continue
    return text


def check_parameters(notebook: Path, parameters: Mapping[str, object]) -> None:
    """Make sure that a notebook has the parameters that it is to be given.

    Parameters
    ----------
    notebook : pathlib.Path
        A notebook with a cell tagged `parameters`.
    parameters : mapping of str to object
        Values by name.

    Raises
    ------
    ParameterError
        If the notebook lacks one of them; names those that it has.
    """
    known = papermill.inspect_notebook(notebook)
    unknown = [name for name in parameters if name not in known]
    if unknown:
        has = f"its parameters are {', '.join(known)}" if known else "it has no parameters"
        raise ParameterError(f"{notebook.stem} has no parameter {', '.join(unknown)}: {has}")


def execute(notebook: Path, target: Path, parameters: Mapping[str, object]) -> float:
    """Execute a notebook. The executed copy gets its name when it is complete.

    Parameters
    ----------
    notebook : pathlib.Path
        The notebook, which stays as it is.
    target : pathlib.Path
        The executed copy, ending in `.ipynb`.
    parameters : mapping of str to object
        Values of JSON types, by name.

    Returns
    -------
    float
        Seconds that it took.

    Raises
    ------
    ParameterError
        As `check_parameters`.
    NotebookError
        If a cell fails or the kernel dies. The copy so far stays beside the target, with
        `.unfinished` in its name.
    """
    check_parameters(notebook, parameters)
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_suffix(".unfinished.ipynb")
    started = time.perf_counter()
    try:
        _start_and_run(notebook, unfinished, dict(parameters))
    except papermill.PapermillExecutionError as error:
        where = f"cell In [{error.exec_count}] of {os.path.relpath(unfinished)}"
        raise NotebookError(_failure(notebook, where, f"{error.ename}: {error.evalue}")) from error
    except DeadKernelError as error:
        where = f"a cell; {os.path.relpath(unfinished)} shows which ones ran"
        raise NotebookError(_failure(notebook, where, "the kernel died")) from error
    except RuntimeError as error:
        where = "its kernel, which did not start"
        raise NotebookError(_failure(notebook, where, str(error))) from error
    unfinished.replace(target)
    return time.perf_counter() - started


def _start_and_run(notebook: Path, target: Path, parameters: dict) -> None:
    """Run a notebook, a second time if its kernel died before the first cell."""
    try:
        papermill.execute_notebook(notebook, target, parameters, **KERNEL_OPTIONS)
    except DeadKernelError:
        raise
    except RuntimeError:
        papermill.execute_notebook(notebook, target, parameters, **KERNEL_OPTIONS)


def _failure(notebook: Path, where: str, message: str) -> str:
    """Describe a failure in a short block."""
    lines = message.strip().splitlines()
    shown = lines[:SHOWN_LINES] + ["…"] * (len(lines) > SHOWN_LINES)
    return f"{notebook.stem} stopped in {where}\n{textwrap.indent(chr(10).join(shown), '    ')}"


def to_html(executed: Path, target: Path) -> None:
    """Turn an executed notebook into a page that looks like JupyterLab.

    Parameters
    ----------
    executed : pathlib.Path
        The executed notebook.
    target : pathlib.Path
        The page to write.
    """
    page, _ = HTMLExporter(template_name="lab").from_filename(str(executed))
    replace_files({target: page.encode()})
