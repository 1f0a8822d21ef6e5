"""What a notebook depends on: modules that it imports, files of `data/` that they name.

Told from the code, without running it: imports, also those inside functions, and texts
that are the name of a file or folder of `data/`, such as `"lexicon.csv"` or
`"hosking_table2"`. So a change re-runs the notebooks that it may concern, and no other.
"""

import ast
import hashlib
import json
import platform
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from helpers import paths
from helpers.run.parameters import parse

SOURCE = paths.ROOT / "src"
# Lists of everything, of whose rows a notebook depends on those of its studies.
BY_ROW = ("registry.csv", "unpinned.csv")
PLACES = {"published"}  # a folder that helpers.paths names, of which few read all
SPECIAL = (*BY_ROW, "parameters.csv")  # rules that refuse values change no result


def fingerprint(notebook: Path) -> str:
    """SHA-256 of all that the results of a notebook depend on.

    That is its cells, the modules and data that it uses, and the versions of Python and
    packages.
    """
    content = hashlib.sha256(platform.python_version().encode())
    for each in json.loads(notebook.read_bytes())["cells"]:
        without_outputs = [each["cell_type"], each["source"], each["metadata"]]
        content.update(json.dumps(without_outputs).encode())
    for file in [paths.ROOT / "requirements.lock", *files_of(notebook)]:
        content.update(file.read_bytes())
    for row in rows_of(notebook):
        content.update(row.encode())
    return content.hexdigest()


def files_of(notebook: Path) -> list[Path]:
    """List the modules, the files beside them and those of `data/` that it uses."""
    modules = modules_of(notebook)
    code = [_code_of(notebook), *map(_parsed, modules)]
    texts = set().union(*map(_texts, code))
    folders = set().union(*map(_parts_of_paths, code)) - PLACES
    names = {text.rpartition("/")[2] for text in texts}
    named = []
    for file in _data_files():
        inner_folders = file.relative_to(paths.DATA).parts[:-1]
        is_table = "_" in file.stem and file.stem in names
        if file.name in names or is_table or folders.intersection(inner_folders):
            named.append(file)
    for folder in sorted({module.parent for module in modules}):
        for file in sorted(folder.glob("*.*")):
            if file.suffix != ".py" and file.name in names:
                named.append(file)
    return [*modules, *named]


def modules_of(notebook: Path) -> list[Path]:
    """List the modules of the project that a notebook imports, directly or not."""
    waiting = list(_imports(_code_of(notebook), package=()))
    found = set()
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += _imports_of_module(file)
    return sorted(found)


def rows_of(notebook: Path) -> list[str]:
    """List the rows of registered files of the studies that a notebook uses."""
    modules = modules_of(notebook)
    words = {file.stem for file in modules} | _texts(_code_of(notebook))
    words = words.union(*(_texts(_parsed(file)) for file in modules))
    studies = {word.partition("/")[0] for word in words}
    return [row for row in _registered_rows() if row.partition("/")[0] in studies]


@cache
def _code_of(notebook: Path) -> ast.Module:
    """Code of all cells, without lines that only notebooks understand."""
    lines = []
    for each in json.loads(notebook.read_bytes())["cells"]:
        if each["cell_type"] == "code":
            lines += "".join(each["source"]).splitlines()
    return parse("\n".join(line for line in lines if not re.match(r"\s*[%!?]", line)))


@cache
def _data_files() -> list[Path]:
    """Files of `data/` that notebooks may read, but for what is downloaded."""
    files = []
    for file in sorted(paths.DATA.rglob("*.*")):
        is_raw = file.relative_to(paths.DATA).parts[0] == "raw"
        if not is_raw and file.suffix != ".md" and file.name not in SPECIAL:
            files.append(file)
    return files


@cache
def _registered_rows() -> list[str]:
    """Rows of the lists of registered files."""
    rows = []
    for name in BY_ROW:
        rows += (paths.DATA / name).read_text(encoding="utf-8").splitlines()
    return rows


@cache
def _parsed(file: Path) -> ast.Module:
    """Code of a module."""
    return parse(file.read_text(encoding="utf-8"))


@cache
def _imports_of_module(file: Path) -> frozenset[Path]:
    """Modules of the project that a module imports.

    What a package imports in its functions it loads when one of its names is asked for:
    see `_modules`.
    """
    code = _parsed(file)
    if file.name == "__init__.py":
        own = [node for node in code.body if not isinstance(node, ast.FunctionDef)]
        code = ast.Module(own, type_ignores=[])
    package = file.parent.relative_to(SOURCE).parts
    return frozenset(_imports(code, package))


def _imports(code: ast.Module, package: tuple[str, ...]) -> Iterable[Path]:
    """Modules of the project that code in a package imports."""
    for node in ast.walk(code):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _modules(alias.name)
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) + 1 - node.level] if node.level else ()
            module = ".".join([*start, *filter(None, [node.module])])
            for alias in node.names:
                yield from _modules(f"{module}.{alias.name}")


@cache
def _modules(name: str) -> tuple[Path, ...]:
    """Modules that an import of this name loads; its last part may be in a module.

    If the last part is no module of its package, the package may load it from any
    module that it imports, also in its functions.
    """
    found = []
    place = SOURCE
    for part in name.split("."):
        place = place / part
        if (place / "__init__.py").is_file():
            found.append(place / "__init__.py")
        elif place.with_suffix(".py").is_file():
            return (*found, place.with_suffix(".py"))
        elif found:
            package = found[-1]
            inside = package.parent.relative_to(SOURCE).parts
            return (*found, *_imports(_parsed(package), inside))
        else:  # of another project
            return ()
    return tuple(found)


@cache
def _texts(code: ast.Module) -> frozenset[str]:
    """Texts in code."""
    return frozenset(_text_values(ast.walk(code)))


@cache
def _parts_of_paths(code: ast.Module) -> frozenset[str]:
    """Texts that code joins to a path, as in `paths.DATA / "recipes"`."""
    joined = []
    for node in ast.walk(code):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            joined.append(node.right)
    return frozenset(_text_values(joined))


def _text_values(nodes: Iterable[ast.AST]) -> Iterable[str]:
    """Values of the nodes that are texts."""
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
