"""Parameters of notebooks: kind and default, which values are allowed, what changed.

A notebook's parameters cell gives the kind and default of each parameter, as in
`alpha: float = 0.01`; `data/parameters.csv` gives the values it may have.
"""

import ast
import csv
import difflib
import json
import math
import operator
import os
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from helpers import paths
from helpers.data.tables import OptionError, cell

RULES = paths.DATA / "parameters.csv"
# Notebooks run in threads, and until Python 3.12 two threads that parse at once may get
# a SystemError (recursion depth mismatch).
_PARSING = threading.Lock()
# What a value of each kind is called in messages.
KINDS = {
    "bool": "True or False",
    "dict": "a mapping:",
    "float": "a number",
    "int": "a whole number",
    "list": "a list:",
    "str": "",
}
# Words of data/parameters.csv.
BOUNDS = {
    "above": operator.gt,
    "below": operator.lt,
    "from": operator.ge,
    "to": operator.le,
}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a notebook: what its cell says, and its rule."""

    name: str
    kind: str
    default: object
    allowed: str = ""
    why: str = ""
    announced: bool = True

    def fits(self, value: object) -> bool:
        """Tell whether a value is of this kind and allowed."""
        right_kind = type(value).__name__ == self.kind
        if self.kind == "float" and type(value) is int:
            right_kind = True
        return right_kind and _fits(value, self.allowed)

    @property
    def must_be(self) -> str:
        """Say which values are allowed."""
        words = [KINDS.get(self.kind, self.kind), self.allowed]
        return " ".join(word for word in words if word) or "text"


def check(notebook: str, values: Mapping[str, object]) -> None:
    """Check the parameters of a notebook right after the cell that sets them.

    Values that cannot be used are refused. If a value differs from the notebook's
    default, a line says so, figures carry it, and no result is saved. With the
    defaults, nothing is shown.

    Parameters
    ----------
    notebook : str
        Name of the notebook, such as ``"11_error_weights"``. The defaults are those of
        this notebook in the project; a copy under any name is compared with them.
    values : mapping of str to object
        Values by name, those of all parameters among them; in a notebook `globals()`.

    Raises
    ------
    OptionError
        If there is no such notebook, a parameter is missing, or its value is not
        allowed. Results must not go to committed folders.

    Examples
    --------
    >>> known = parameters_of(notebook_file("11_error_weights"))
    >>> defaults = {parameter.name: parameter.default for parameter in known}
    >>> check("11_error_weights", defaults)
    >>> check("11_error_weights", defaults | {"alpha": 0.05})
    Changed parameters: alpha = 0.05 instead of 0.01.
    The text describes the defaults.
    >>> check("11_error_weights", defaults | {"alpha": -1.0})
    Traceback (most recent call last):
    helpers.data.tables.OptionError: alpha must be a number above 0 up to 10, not -1.0
    """
    from helpers import show  # takes a second, which `make` need not wait for

    words = changed(notebook, values)
    show.begin(notebook, values["out_dir"], changed=words)


def changed(notebook: str, values: Mapping[str, object]) -> str:
    """Refuse bad values; print and return those that differ from the defaults."""
    changes = []
    for parameter in parameters_of(notebook_file(notebook)):
        if parameter.name not in values:
            raise OptionError(
                f"parameter {parameter.name} of {notebook} is missing: run the cell "
                "of parameters first"
            )
        value = values[parameter.name]
        if not parameter.fits(value):
            raise OptionError(
                f"{parameter.name} must be {parameter.must_be}, "
                f"not {cell(value)}{parameter.why}"
            )
        if isinstance(value, str):
            # a file of the project is named as in the notebook
            value = value.removeprefix(f"{paths.ROOT}{os.sep}")
        if parameter.announced and value != parameter.default:
            default = parameter.default
            changes.append(f"{parameter.name} = {value!r} instead of {default!r}")
    words = ", ".join(changes)
    if words:
        print(f"Changed parameters: {words}.")
        print("The text describes the defaults.")
    return words


def notebook_files() -> dict[str, Path]:
    """Files of the project's notebooks by name, such as 11_error_weights.

    Copies whose names say more, as JupyterLab gives them, are not among them.
    """
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
        similar = difflib.get_close_matches(name, files, n=3, cutoff=0.3)
        listed = ", ".join(similar or sorted(files))
        raise OptionError(f"there is no notebook {cell(name)}: choose from {listed}")
    return files[name]


def parse(code: str) -> ast.Module:
    """Parse code, one thread at a time."""
    with _PARSING:
        return ast.parse(code)


def parameters_of(notebook: Path) -> list[Parameter]:
    """List the parameters of a notebook, each with its rule."""
    rules = _rules(notebook.stem[:2])
    parameters = []
    for line in parse(_parameters_cell(notebook)).body:
        if not isinstance(line, ast.AnnAssign):
            raise OptionError(
                f"{notebook.stem}: its cell of parameters must hold lines such as "
                "`alpha: float = 0.01` only"
            )
        name = ast.unparse(line.target)
        kind = ast.unparse(line.annotation)
        default = ast.literal_eval(line.value)
        parameters.append(Parameter(name, kind, default, **rules.get(name, {})))
    return parameters


def _parameters_cell(notebook: Path) -> str:
    """Code of the cell that is tagged `parameters`."""
    for each in json.loads(notebook.read_bytes())["cells"]:
        if "parameters" in each["metadata"].get("tags", []):
            return "".join(each["source"])
    return ""


def _rules(number: str) -> dict[str, dict]:
    """Rules of data/parameters.csv for the notebook of this number, by parameter."""
    rules = {}
    with RULES.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            if not row["notebooks"] or number in row["notebooks"].split():
                rules[row["parameter"]] = {
                    "allowed": row["allowed"],
                    "why": row["why"],
                    "announced": row["announced"] == "yes",
                }
    return rules


def _fits(value: object, allowed: str) -> bool:
    """Tell whether a value is allowed, a list if all its parts are."""
    if not allowed:
        return not isinstance(value, float) or math.isfinite(value)
    if isinstance(value, list):
        return len(value) > 0 and all(_fits(part, allowed) for part in value)
    if isinstance(value, dict):
        scales = "by column" in allowed
        return scales and all(_is_scale(ends) for ends in value.values())
    if isinstance(value, str):
        return _text_fits(value, allowed)
    return _number_fits(value, allowed)


def _number_fits(value: object, allowed: str) -> bool:
    """Tell whether a value is a number between the bounds, a whole one if so asked."""
    is_whole = type(value) is int  # which True is not
    is_fraction = type(value) is float
    if not is_whole and (not is_fraction or "whole" in allowed):
        return False
    bounds = re.findall(r"(\w+) ([\d.]+)", allowed)
    return all(BOUNDS[word](value, float(bound)) for word, bound in bounds)


def _is_scale(ends: object) -> bool:
    """Tell whether a value is a list of the lowest and the highest mark."""
    if not isinstance(ends, list) or len(ends) != 2:
        return False
    low, high = ends
    return _fits(low, "") and _fits(high, "") and float(low) < float(high)


def _text_fits(text: str, allowed: str) -> bool:
    """Tell whether a text is a choice, a name, a file or a folder, as is allowed."""
    if not text:
        return allowed.endswith("nothing")
    if allowed.startswith("a file"):
        files = (text, os.path.join(paths.ROOT, text))  # noqa: PTH118
        return any(os.path.isfile(file) for file in files)  # noqa: PTH113
    if allowed.startswith("a folder"):
        return _can_hold_results(paths.ROOT / text)
    if "name" in allowed:
        return text.isprintable() and not text.isspace()
    return text in allowed.split(" or ")


def _can_hold_results(folder: Path) -> bool:
    """Tell whether results may go to a folder: to none that holds committed files."""
    try:
        folder = folder.resolve()
        if folder.is_relative_to(paths.ROOT) and not folder.is_relative_to(paths.BUILD):
            return False
        existing = next(each for each in (folder, *folder.parents) if each.exists())
    except (OSError, ValueError):  # a name that no folder can have
        return False
    return existing.is_dir() and os.access(existing, os.W_OK)
