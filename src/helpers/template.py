"""Start the notebook of a new study from a template that runs at once.

The template is a notebook beside this module, with `NAME` and `NUMBER` where those of the new
notebook belong.
"""

import re
from pathlib import Path

import nbformat

from helpers import paths
from helpers.paths import replace_files
from helpers.pipeline import PipelineError

TEMPLATE = paths.DATA / "templates" / "new_notebook.ipynb"

_NAME = re.compile(r"[1-9][0-9]_[a-z][a-z0-9_]*", re.ASCII)


class NewNotebookError(PipelineError):
    """A new notebook cannot have this name; the message says which it can have."""


def create(name: str, folder: Path = paths.NOTEBOOKS) -> Path:
    """Write a new notebook with all the cells that a notebook of this project has.

    Parameters
    ----------
    name : str
        Two digits that no other notebook has, an underscore, then small letters, digits and
        underscores.
    folder : pathlib.Path, optional
        Where the notebooks are.

    Returns
    -------
    pathlib.Path
        The new notebook, without outputs.

    Raises
    ------
    NewNotebookError
        If the name has another form or its number is taken. Nothing is written then.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     create("60_my_study", Path(folder)).name
    '60_my_study.ipynb'
    """
    _check_name(name, folder)
    notebook = nbformat.read(TEMPLATE, as_version=4)
    for position, cell in enumerate(notebook.cells, start=1):
        cell["source"] = cell["source"].replace("NAME", name).replace("NUMBER", name[:2])
        cell["id"] = f"{name[:2]}-{position:02}"
    target = folder / f"{name}.ipynb"
    replace_files({target: f"{nbformat.writes(notebook)}\n".encode()})
    return target


def _check_name(name: str, folder: Path) -> None:
    """Stop unless a notebook of this name can be added."""
    if not _NAME.fullmatch(name):
        raise NewNotebookError(
            f"a notebook cannot be called {name!r}: give two digits, the first of which is not 0, "
            "an underscore, then small letters, digits and underscores, as in NAME=60_my_study"
        )
    taken = sorted(file.stem for file in folder.glob(f"{name[:2]}_*.ipynb"))
    if taken:
        raise NewNotebookError(
            f"the number {name[:2]} is that of {taken[0]}, whose figures begin with it: choose "
            "another number"
        )
