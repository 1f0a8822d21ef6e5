"""Check the parameters of a notebook, and settle whether its data are real."""

import ast
import importlib.util
import json
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from helpers import marks, paths
from helpers.data import registry
from helpers.data.published import read_text
from helpers.data.studies import by_digit
from helpers.data.tables import OptionError, PlainError, cell

SOURCES = ("auto", "real", "simulated")
FILE = "file"  # allowed value: the name of a file that can be read
TEXT = "text"  # allowed value: any text
INJECTED = "# Parameters"  # how papermill begins the cell that it inserts


class NoDataError(PlainError):
    """A notebook has no data here; the message says what is missing."""


def check(
    notebook: str,
    values: dict[str, object],
    *,
    studies: Sequence[str] | None = None,
    **allowed: object,
) -> None:
    """Check the parameters of a notebook, right below the cell that sets them.

    Values that cannot be used are refused, and so are parameters that the notebook does
    not have. `data_source` becomes "real" or "simulated". Simulated data and parameters
    that differ from those of the last refresh (`results/parameters.csv`) are announced
    in the terminal and in a banner; then tables and figures carry a mark, and no result
    is saved. A run of the defaults on real data shows nothing.

    Parameters
    ----------
    notebook : str
        Name of the notebook, such as ``"11_error_weights"``; also in a copy of it.
    values : dict
        ``globals()`` of the notebook. `data_source`, if there is one, is replaced.
    studies : sequence of str, optional
        Studies whose data the notebook reads; by default the one of its first digit.
        All of them are real, or all are simulated.
    **allowed : tuple, list or str
        What each parameter may be: ``(lowest, highest)`` for numbers, a list of
        choices, ``"file"`` for a file that can be read, or ``"text"``. For a parameter
        that holds a list or a mapping, each of its values.

    Raises
    ------
    OptionError
        If a parameter is missing, unknown or not allowed; the message says which.
    NoDataError
        If neither real nor simulated data can be had.

    Examples
    --------
    >>> values = {"alpha": 0.01, "aggregation": "mode"}
    >>> check("71_example", values, alpha=(0, 1), aggregation=["mode", "mean"])
    >>> check("71_example", values | {"alpha": 2.0}, alpha=(0, 1))
    Traceback (most recent call last):
    helpers.data.tables.OptionError: alpha must be from 0 to 1, not 2.0
    """
    refuse_unknown(notebook, injected(values.get("In", [])), ["data_source", *allowed])
    defaults = defaults_of(notebook)
    changes = []
    for name, rule in allowed.items():
        if name not in values:
            raise OptionError(
                f"parameter {name} of {notebook} is missing: run the cell of "
                "parameters first"
            )
        value = values[name]
        default = defaults.get(name, value)
        refuse_bad(name, value, default, rule)
        if plain(value) != plain(default):
            changes.append(f"{name} = {value!r} instead of {default!r}")
    run = marks.Run(notebook, ", ".join(changes))
    if "data_source" in values:
        source = resolve(notebook, values["data_source"], studies)
        values["data_source"] = source.kind
        if source.kind == "simulated":
            run.reasons.append(source.reason)
    _use_style()
    marks.begin(run)


def _use_style() -> None:
    """Apply the project's style to figures; loading matplotlib takes a second."""
    from helpers import show

    show.use_style()


def resolve(
    notebook: str, choice: object, names: Sequence[str] | None
) -> registry.Source:
    """Settle whether the data of a notebook are real or simulated."""
    if choice not in SOURCES:
        raise OptionError(
            f"data_source must be {', '.join(SOURCES)}, not {cell(choice)}"
        )
    if names is None:
        own = by_digit().get(notebook[0])
        names = [own] if own else []
    try:
        source = registry.resolve(names, choice)
    except registry.DataUnavailableError as error:
        raise NoDataError(str(error)) from None
    lacking = [name for name in names if not has_simulator(name)]
    if source.kind == "simulated" and lacking:
        raise NoDataError(
            f"{', '.join(lacking)} has no simulator, and its real data are not used: "
            f"{source.reason}"
        )
    return source


def has_simulator(study: str) -> bool:
    """Tell whether the data of a study can be simulated."""
    return importlib.util.find_spec(f"helpers.simulate.{study}") is not None


def injected(cells: Sequence[str]) -> list[str]:
    """Names that papermill has set in the cell that it inserts."""
    names = []
    for code in cells:
        if not code.startswith(INJECTED):
            continue
        for line in ast.parse(code).body:
            if isinstance(line, ast.Assign):
                names += [ast.unparse(target) for target in line.targets]
    return names


def refuse_unknown(notebook: str, names: Sequence[str], known: Sequence[str]) -> None:
    """Stop unless a notebook has all these parameters."""
    unknown = [name for name in names if name not in known]
    if unknown:
        raise OptionError(
            f"{notebook} has no parameter {', '.join(unknown)}: "
            f"its parameters are {', '.join(known) or 'none'}"
        )


def defaults_of(notebook: str) -> dict[str, object]:
    """Parameters of the last refresh; nothing for a notebook that has none yet."""
    file = os.environ.get("DEFAULT_PARAMETERS") or paths.RESULTS / "parameters.csv"
    if not Path(file).is_file():
        return {}
    table = read_text(file)
    own = table[table["notebook"] == notebook]
    return dict(zip(own["parameter"], map(json.loads, own["default"]), strict=True))


def plain(value: object) -> object:
    """Write a value as it is compared: a file of the project as in the notebook."""
    if isinstance(value, str):
        return value.removeprefix(f"{paths.ROOT}{os.sep}")
    return list(value) if isinstance(value, tuple) else value


def refuse_bad(name: str, value: object, default: object, rule: object) -> None:
    """Stop at a value of another kind than its default, or one that is not allowed."""
    if not same_kind(value, default):
        raise OptionError(
            f"{name} must be of the kind of {default!r}, not {cell(value)}"
        )
    parts = [value]
    if isinstance(value, Mapping):
        parts = [part for entry in value.values() for part in entry]
    elif isinstance(value, list | tuple):
        parts = list(value)
        if not parts:
            raise OptionError(f"{name} is empty: give at least one value")
    for part in parts:
        if isinstance(default, list) and default and not same_kind(part, default[0]):
            raise OptionError(
                f"{name} must be of the kind of {default[0]!r}, not {cell(part)}"
            )
        if not fits(part, rule):
            raise OptionError(f"{name} must be {in_words(rule)}, not {cell(part)}")


def same_kind(value: object, default: object) -> bool:
    """Tell whether a value is of the kind of the default; whole numbers are numbers."""
    if isinstance(default, float):
        return type(value) in (int, float) and math.isfinite(value)
    if isinstance(default, list | tuple):
        return isinstance(value, list | tuple)
    return type(value) is type(default)


def fits(value: object, rule: object) -> bool:
    """Tell whether a single value is allowed."""
    if rule == TEXT:
        return isinstance(value, str)
    if rule == FILE:
        return isinstance(value, str) and (paths.ROOT / value).is_file()
    if isinstance(rule, tuple):
        low, high = rule
        return type(value) in (int, float) and low <= value <= high
    return value in rule


def in_words(rule: object) -> str:
    """Say which values are allowed."""
    if rule == TEXT:
        return "text"
    if rule == FILE:
        return "a file that can be read"
    if isinstance(rule, tuple):
        return f"from {rule[0]:,} to {rule[1]:,}"
    return " or ".join(map(str, rule))
