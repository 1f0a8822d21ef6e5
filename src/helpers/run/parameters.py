"""Parameters of notebooks: read from text, each of its kind and within its limits.

A notebook says what kind a parameter is of; `data/parameters.csv` says which values it may have.
"""

import csv
import json
import math
import operator
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import papermill

from helpers import paths
from helpers.files.tables import PlainError, cell, scale_map

KINDS = {
    "bool": ("True or False", {"True": True, "False": False}.__getitem__),
    "dict": ("a JSON object:", json.loads),
    "float": ("a number", float),
    "int": ("a whole number", int),
    "list": ("a JSON list:", json.loads),
    "str": ("", str),
}
NO_KIND = ("annotated in the notebook, as in n: int = 3", None)
BOUNDS = {"above": operator.gt, "below": operator.lt, "from": operator.ge, "to": operator.le}
MISTAKES = (KeyError, OSError, OverflowError, RecursionError, TypeError, ValueError)


class ParameterError(PlainError):
    """A choice, name or notebook parameter is not one of those that can be used."""


def list_all(notebook: Path) -> dict[str, dict[str, str]]:
    """List the parameters of a notebook: kind, default, help, what is allowed, and why."""
    rules = {}
    with (paths.DATA / "parameters.csv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            if not row["notebooks"] or notebook.stem[:2] in row["notebooks"].split():
                rules[row["parameter"]] = row
    found = papermill.inspect_notebook(notebook)
    return {
        name: {"allowed": "", "why": "", **found[name], **rules.get(name, {})} for name in found
    }


def checked(notebook: Path, given: Mapping[str, str]) -> dict[str, object]:
    """Turn texts into values of parameters, each of its kind and within its limits."""
    known = list_all(notebook)
    refuse_unknown(notebook, given, known)
    return {name: _value(text, known[name]) for name, text in given.items()}


def refuse_unknown(notebook: Path, given: Iterable[str], known: Iterable[str]) -> None:
    """Stop unless a notebook has all these parameters."""
    unknown = [name for name in given if name not in known]
    if unknown:
        has = f"its parameters are {', '.join(known)}" if known else "it has no parameters"
        raise ParameterError(f"{notebook.stem} has no parameter {', '.join(unknown)}: {has}")


def wanted(parameter: Mapping[str, str]) -> str:
    """Say which values a parameter may have."""
    words = (KINDS.get(parameter["inferred_type_name"], NO_KIND)[0], parameter["allowed"])
    return " ".join(filter(None, words)) or "any text"


def _value(text: str, parameter: Mapping[str, str]) -> object:
    """Read one value, or say what it must be."""
    kind, allowed = parameter["inferred_type_name"], parameter["allowed"]
    try:
        value = KINDS[kind][1](text)
        if type(value).__name__ == kind and _fits(value, allowed):
            return str(_found(value)) if value and allowed.startswith("a file") else value
    except MISTAKES:
        pass
    must = f"{parameter['name']} must be {wanted(parameter)}"
    raise ParameterError(f"{must}, not {cell(text)}{parameter['why']}")


def _fits(value: object, allowed: str) -> bool:
    """Tell whether a value is allowed, a list if all its parts are."""
    if not allowed:
        return not isinstance(value, float) or math.isfinite(value)
    if isinstance(value, list):
        return len(value) > 0 and all(_fits(part, allowed) for part in value)
    if isinstance(value, dict):
        return "by column" in allowed and scale_map(value, "") is not None
    if isinstance(value, str):
        return _text_fits(value, allowed)
    bounds = re.findall(r"(\w+) ([\d.]+)", allowed)
    is_kind = type(value) is int or (type(value) is float and "whole" not in allowed)
    return is_kind and all(BOUNDS[word](value, float(bound)) for word, bound in bounds)


def _text_fits(text: str, allowed: str) -> bool:
    """Tell whether a text is a choice, a name or a file, as is allowed."""
    if not text:
        return allowed.endswith("nothing")
    if allowed.startswith("a file"):
        return _found(text) is not None
    if "name" in allowed:
        return text.isprintable() and not text.isspace()
    return text in allowed.split(" or ")


def _found(file: str) -> Path | None:
    """Find a file that can be read in the folder of the caller, then in the project."""
    places = (folder / file for folder in (Path.cwd(), paths.ROOT))
    return next((place for place in places if place.is_file() and os.access(place, os.R_OK)), None)
