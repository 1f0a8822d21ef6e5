"""Which cell of a notebook computes what another one enters for a claim.

A cell tagged `claims` judges: it hands estimates over that cells before it computed.
Here the notebook is read, not run. The names that a claims cell enters for a claim are
followed back, through claims cells, to the last other cell that assigned one of them.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

TABLE = r"\.(table|figure)[a-z]?\d"  # in names of claims that are cells of a table
OF_NOTEBOOKS = ("claims", "parameters")  # tags of cells that compute no estimate


def computing_cell(cells: Sequence[Mapping], entering: str, claim_id: str) -> str:
    """Name the last cell that assigned what is entered for a claim.

    Parameters
    ----------
    cells : sequence of mapping
        Cells of a notebook: `id`, `cell_type`, `source` and `metadata`.
    entering : str
        The cell that enters the claim.
    claim_id : str
        The claim.

    Returns
    -------
    str
        Its `id`; empty if the entering cell uses nothing that others assigned.

    Examples
    --------
    >>> computes = {"id": "a", "source": "share = 1 / 2", "metadata": {}}
    >>> enters = {"id": "b", "source": "claims.enter('demo', {'share': share})"}
    >>> enters["metadata"] = {"tags": ["claims"]}
    >>> cells = [cell | {"cell_type": "code"} for cell in (computes, enters)]
    >>> computing_cell(cells, "b", "demo.share")
    'a'
    """
    code = []
    for cell in cells:
        if cell["cell_type"] == "code":
            code.append(cell)
        if cell["id"] == entering:
            break
    trees = [_parsed("".join(cell["source"])) for cell in code]
    judges = ["claims" in _tags(cell) for cell in code]
    places = set()
    said = set()  # places that make a table with the claim's own key
    asked = [(name, len(code)) for name in _entered(trees, judges, claim_id)]
    seen = set()
    while asked:
        name, before = asked.pop()
        if (name, before) in seen:
            continue
        seen.add((name, before))
        place, has_key = _last_assignment(trees, judges, name, before, claim_id)
        if place is None:
            continue
        if judges[place]:
            # a name that a claims cell only changes was assigned before it
            asked += [
                (other, place if other == name else place + 1)
                for other in _sources(trees[place], name)
            ]
        elif not set(_tags(code[place])) & set(OF_NOTEBOOKS):
            places.add(place)
            if has_key:
                said.add(place)
    places = said or places
    return code[max(places)]["id"] if places else ""


@cache
def _parsed(source: str) -> ast.Module:
    """Syntax of a cell, which many claims ask for; nothing if it is not Python."""
    try:
        return ast.parse(source)
    except SyntaxError:
        return ast.parse("")


def _tags(cell: Mapping) -> list[str]:
    """Tags of a cell."""
    return cell["metadata"].get("tags", [])


def _entered(
    trees: Sequence[ast.Module], judges: Sequence[bool], claim_id: str
) -> set[str]:
    """Names in what the last cell enters for a claim."""
    of_table = _arguments(trees[-1], claim_id, ("enter_table",))
    if of_table and re.search(TABLE, claim_id):
        return _names(of_table)
    arguments = _arguments(trees[-1], claim_id, ("enter",))
    # the table in which the claim is a key may be made before, in a claims cell, too
    judging = [tree for tree, judge in zip(trees, judges, strict=True) if judge]
    for node in [*arguments, *reversed(judging or [trees[-1]])]:
        values = [value for key, value in _keyed(node) if _is_key(key, claim_id)]
        if values:
            return _names(values)
    return _names(arguments)


def _arguments(tree: ast.AST, claim_id: str, methods: Sequence[str]) -> list[ast.AST]:
    """What calls of these methods enter that may be about a claim."""
    arguments = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr not in methods:
            continue
        beginning = _pattern(node.args[0])
        if node.func.attr == "enter_table":
            beginning = beginning.replace("_", r"\.")
        if re.match(rf"{beginning}\." if beginning else "", claim_id):
            arguments += node.args[1:]
    return [table for table in arguments if not _is_of_others(table, claim_id)]


def _is_of_others(table: ast.AST, claim_id: str) -> bool:
    """Whether all keys of a table can be read, and none of them is the claim."""
    if not isinstance(table, ast.Dict) or not all(map(_pattern, table.keys)):
        return False
    return not any(_is_key(key, claim_id) for key in table.keys)


@cache
def _keyed(tree: ast.AST) -> list[tuple[ast.AST, ast.AST]]:
    """Keys and values of tables written out, and of assignments to a key."""
    keyed = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            keyed += zip(node.keys, node.values, strict=True)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Subscript):
                    keyed.append((target.slice, node.value))
    return keyed


def _pattern(text: ast.AST | None) -> str:
    """Regular expression of a string, in which fields may be anything; or nothing."""
    if isinstance(text, ast.Constant) and isinstance(text.value, str):
        return re.escape(text.value)
    if isinstance(text, ast.JoinedStr):
        return "".join(_pattern(part) or ".+" for part in text.values)
    return ""


def _is_key(key: ast.AST | None, claim_id: str) -> bool:
    """Whether a key of a table names a claim, without its beginning or whole."""
    pattern = _pattern(key)
    return bool(pattern and re.fullmatch(rf"(.+\.)?{pattern}", claim_id))


def _names(nodes: Sequence[ast.AST]) -> set[str]:
    """Names that are read, without those of functions that are called."""
    names = set()
    for node in nodes:
        inside = list(ast.walk(node))
        called = {part.func for part in inside if isinstance(part, ast.Call)}
        # names that live inside of a comprehension only
        local = set()
        for part in inside:
            if isinstance(part, ast.comprehension):
                local |= set(_bound(part.target))
        for part in inside:
            is_read = isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)
            if is_read and part not in called and part.id not in local:
                names.add(part.id)
    return names


@cache
def _assigned(tree: ast.AST) -> list[tuple[str, ast.AST, ast.AST]]:
    """Names that a cell assigns or changes, each with its statement and its value."""
    assigned = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            targets = node.targets
            value = node.value
        elif isinstance(node, ast.AugAssign | ast.AnnAssign) and node.value:
            targets = [node.target]
            value = node.value
        elif isinstance(node, ast.For):
            targets = [node.target]
            value = node.iter
        else:
            continue
        for target in targets:
            for name in _bound(target):
                assigned.append((name, node, value))
    return assigned


def _bound(target: ast.AST) -> Iterator[str]:
    """Names bound by a target, such as `a, b`, `a[key]` or `a.loc[key]`."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Tuple | ast.List):
        for part in target.elts:
            yield from _bound(part)
    elif isinstance(target, ast.Subscript | ast.Attribute | ast.Starred):
        yield from _bound(target.value)


def _sources(tree: ast.AST, name: str) -> set[str]:
    """Names from which a cell makes a name; itself, if it only changes it."""
    sources = set()
    only_changed = True
    for other, statement, value in _assigned(tree):
        if other != name:
            continue
        read = _names([value])
        is_plain = isinstance(statement, ast.For)
        if isinstance(statement, ast.Assign):
            is_plain = any(not isinstance(t, ast.Subscript) for t in statement.targets)
        if is_plain and name not in read:
            only_changed = False
        sources |= read - {name}
    return sources | {name} if only_changed else sources


def _last_assignment(
    trees: Sequence[ast.Module],
    judges: Sequence[bool],
    name: str,
    before: int,
    claim_id: str,
) -> tuple[int | None, bool]:
    """Last cell before a place that assigns a name, and whether for this very claim."""
    places = []
    for place in range(before):
        if any(name == other for other, _, _ in _assigned(trees[place])):
            places.append(place)
    if not places:
        return None, False
    last = places[-1]
    if judges[last]:
        return last, False
    for place in reversed(places):
        for other, statement, _ in _assigned(trees[place]):
            keys = [key for key, _ in _keyed(statement)]
            if other == name and any(_is_key(key, claim_id) for key in keys):
                return place, True
    return last, False
