"""Recipes: how a file of any shape becomes ratings.

A recipe is a short YAML file, proposed by `ratings.inspection.inspect` and edited by
people. Every key is explained in data/recipes/README.md, beside recipes for the exports
of common tools. All values are taken as text, so that No and 1e3 stay what they are.
"""

import ast
import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
import regex
import yaml

from helpers import paths
from helpers.data import tables
from helpers.data.tables import OptionError, bad_table, cell
from ratings import parsing
from ratings.formats import opened

ROLES = ("item", "rater", "position", "cluster", "covariate", "words")
KINDS = {
    "about": str, "when": list, "file": dict, "skip": list, "names": str, "lists": dict,
    "only": dict, "without": dict, "long": dict, "count": str, "sum": str, "call": dict,
    "item": list, "rater": list, "position": list, "cluster": list, "covariate": str, "words": str,
    "outcome": str, "aspects": list, "marks": dict, "missing": list, "decimal": str,
    "scales": dict,
}  # fmt: skip
KIND_WORDS = {
    str: "text (in papermill, -r gives a number as text)",
    list: """a list of names, such as ["factuality", "tone"]""",
    dict: "pairs 'name: value'",
}
LARGEST_RECIPE = 2**20  # bytes
LONGEST_MATCH = 1.0  # seconds that a pattern may take for a name
LONGEST_LIST = 10**6  # characters of a list written as text
HEADER = """\
# How to read {name}. Edit this file, then: ratings report {name} --recipe {recipe}
# Each key is explained in data/recipes/README.md.
"""

LEADING = re.compile(r"\s*([+-]?\d+(?:[.,]\d+)?)\s*(?:[-:/.%)=–—(].*)?", re.DOTALL)


def from_yaml(file: str | Path) -> dict:
    """Read a recipe.

    Parameters
    ----------
    file : str or pathlib.Path
        A YAML file. A relative name is looked for in the working folder, then in the
        project.

    Returns
    -------
    dict
        What each key says, as text, lists of text and mappings of text.

    Raises
    ------
    tables.BadTableError
        If there is no such file, or it is not YAML.
    tables.OptionError
        If a key is unknown, or its value is of another kind.

    Examples
    --------
    >>> from_yaml("data/recipes/mqm.yaml")["count"]
    'category'
    """
    path = tables.find(file)
    with tables.readable(path, "a recipe"):
        if path.stat().st_size > LARGEST_RECIPE:
            raise bad_table(path.name, ["a recipe is short: this is another file"])
        return parse(_from_text(path.read_bytes(), path.name), path.name)


def _from_text(text: bytes | str, name: str) -> object:
    """Take apart YAML, or JSON, whose values all stay text."""
    try:
        return yaml.load(text, _WithoutAliases)
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark else ""
        problem = f"{where}{getattr(error, 'problem', None) or 'too deeply nested'}"
        raise bad_table(name, [f"not YAML: {problem}"]) from None


class _WithoutAliases(yaml.BaseLoader):
    """Reads values as text, and refuses aliases: a few lines of them can stand for gigabytes."""

    def compose_node(self, parent: object, index: object) -> yaml.Node:
        """Read a part of the file."""
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark
            problem = "aliases (*name) cannot be used: write the part out"
            raise yaml.composer.ComposerError(None, None, problem, mark)
        return super().compose_node(parent, index)


def parse(given: object, name: str = "recipe") -> dict:
    """Make sure that a recipe has known keys with values of their kinds.

    One name may stand for a list, and JSON in a text for what it holds, as papermill
    passes it.

    Parameters
    ----------
    given : dict
        A recipe, maybe with keys that are empty.
    name : str, optional
        What the recipe is called in messages.

    Returns
    -------
    dict
        The same without empty keys.

    Raises
    ------
    tables.OptionError
        If a key is unknown, or its value is of another kind.

    Examples
    --------
    >>> parse({"outcome": "overall", "aspects": '["tone", "typos"]', "rater": ""})
    {'outcome': 'overall', 'aspects': ['tone', 'typos']}
    """
    if not isinstance(given, dict):
        raise OptionError(f"{name}: a recipe has one 'key: value' on each line")
    recipe = {}
    for key, value in given.items():
        if key not in KINDS:
            similar = difflib.get_close_matches(str(key), KINDS)
            hint = (
                f"did you mean {similar[0]!r}?"
                if similar
                else f"known are {', '.join(KINDS)}"
            )
            raise OptionError(f"{name}: there is no key {cell(key)}; {hint}")
        if value in ("", None, [], {}):
            continue
        if KINDS[key] is not str and isinstance(value, str) and value[0] in "[{":
            value = _from_text(value, f"{name}, {key}")
        if KINDS[key] is list and isinstance(value, str):
            value = [value]
        texts = value if isinstance(value, list) else []
        if not isinstance(value, KINDS[key]) or not all(
            isinstance(text, str) for text in texts
        ):
            raise OptionError(
                f"{name}: {key} must be {KIND_WORDS[KINDS[key]]}, not {cell(value)}"
            )
        recipe[key] = value
    scales(recipe, name)
    _pattern(recipe, name)
    return recipe


def scales(recipe: Mapping, name: str = "recipe") -> dict[str, tuple[float, float]]:
    """Take the scales of a recipe as numbers."""
    try:
        given = recipe.get("scales", {})
        scales = {key: tuple(map(float, ends)) for key, ends in given.items()}
        right = [len(ends) == 2 and ends[0] < ends[1] for ends in scales.values()]
        if all(right) and not any(isinstance(ends, str) for ends in given.values()):
            return scales
    except (TypeError, ValueError):
        pass
    raise OptionError(
        f"{name}: scales give the lowest and highest mark, as 'overall: [1, 5]'"
    )


def _pattern(recipe: Mapping, name: str = "recipe") -> regex.Pattern | None:
    """Compile the pattern of names of columns."""
    try:
        pattern = regex.compile(recipe["names"]) if "names" in recipe else None
    except (regex.error, OverflowError) as error:
        raise OptionError(f"{name}: names is no regular expression ({error})") from None
    if pattern is not None and not pattern.groupindex:
        raise OptionError(
            f"{name}: names must say what is what, as '(?P<aspect>.+)_(?P<rater>.+)'"
        )
    return pattern


def read(file: str | Path, recipe: Mapping) -> pd.DataFrame:
    """Read ratings as a recipe says, one row per (item, rater), or list all that is wrong.

    Parameters
    ----------
    file : str or pathlib.Path
        A file of any format that `ratings.formats` knows. A relative name is looked for
        in the working folder, then in the project.
    recipe : mapping
        As `from_yaml`, `parse` or `inspect` give it. A role that is "auto" is played by
        the column named in `ratings.parsing.USUAL_NAMES` if the file has it (JSON
        lines: if one of the first objects has it).

    Returns
    -------
    pandas.DataFrame
        ``item_id``, ``prompt_id`` (the cluster), ``rater_id`` if there are raters,
        ``source`` ("simulated" if a column ``source`` says so, else "real"),
        ``covariate`` if there is one, and outcome and aspects under their own names.
        Without items each row is one, without clusters each item. Raters are anonymous.
        If the recipe names no rater but the ``position`` of a rating among those of its
        item, there is a column ``position`` that tells the ratings of an item apart,
        but not who gave them. The index holds the number of each row in the file, named
        "row" (in CSV and TSV the names of the columns are row 1) or "line".

    Raises
    ------
    tables.BadTableError
        If anything is wrong with the file. The message lists every kind of problem,
        column by column, with rows and what stands there.
    tables.OptionError
        If the recipe does not fit the file, a column is outcome and aspect at once or
        has a name that is taken, or a scale is given of neither.

    Examples
    --------
    >>> recipe = {"outcome": "overall", "aspects": ["tone"], "rater": "rater_id"}
    >>> read("data/example/ratings.csv", recipe)[["rater_id", "overall", "tone"]].head(2)
          rater_id  overall  tone
    row
    2    rater-001      4.0   4.0
    3    rater-002      5.0   4.0
    """
    recipe = parse(dict(recipe))
    with opened(file, recipe.get("file", {})) as (name, names, load_columns):
        recipe = _with_usual(recipe, names)
        shaping = any(
            key in recipe for key in ("names", "lists", "long", "count", "call")
        )
        filters = [
            *recipe.get("only", {}),
            *recipe.get("without", {}),
            *({"source"} & set(names)),
        ]
        wanted = names if shaping else [*named(recipe), *filters]
        raw, problems = load_columns(list(dict.fromkeys(wanted)))
    table = gathered(unfolded(raw, recipe), recipe)
    return interpreted(table, recipe, name, problems)


def _with_usual(recipe: Mapping, names: Sequence[str]) -> dict:
    """Put the usual name of a column in the place of "auto", or nothing if it is not free."""
    taken = (recipe.get("outcome"), *recipe.get("aspects", []))
    usual = {
        role: name if name in names and name not in taken else ""
        for role, name in parsing.USUAL_NAMES.items()
        if "auto" in names_in(recipe.get(role, []))
    }
    return parse({**recipe, **usual})


def named(recipe: Mapping) -> list[str]:
    """Name the columns that play a part in ratings."""
    return [
        name
        for key in ("outcome", "aspects", *ROLES)
        for name in names_in(recipe.get(key, []))
    ]


def names_in(value: object) -> list:
    """Take one name as a list, and the names of a mapping."""
    return [value] if isinstance(value, str) else list(value)


def written(value: object) -> str:
    """Write a cell as text; nothing is empty, a whole number has no point."""
    if isinstance(value, str):
        return value.strip()
    if (
        value is None
        or value is pd.NA
        or (isinstance(value, float) and np.isnan(value))
    ):
        return ""
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _require(table: pd.DataFrame, columns: Iterable[str], key: str) -> None:
    """Stop if a recipe speaks of a column that is not there at this step."""
    _, problems = tables.choose(
        list(dict.fromkeys(columns)), list(map(str, table.columns))
    )
    if problems:
        raise OptionError(f"recipe, {key}: " + "; ".join(problems))


def unfolded(raw: pd.DataFrame, recipe: Mapping) -> pd.DataFrame:
    """Give each rating a row: columns of one pattern and lists in cells become rows."""
    table = raw[~raw.index.map(str).isin(recipe["skip"])] if "skip" in recipe else raw
    table = _melted(table, pattern) if (pattern := _pattern(recipe)) else table
    together = {}
    for column, position in recipe.get("lists", {}).items():
        together.setdefault(position or column, (position, []))[1].append(column)
    for position, columns in together.values():
        table = _exploded(table, columns, position)
    for key, keeps in (("only", True), ("without", False)):
        for column, values in recipe.get(key, {}).items():
            _require(table, [column], key)
            table = table[table[column].map(written).isin(names_in(values)) == keeps]
    return table


def _matching(names: Iterable, pattern: regex.Pattern) -> dict[object, regex.Match]:
    """Find the names of columns that a pattern describes."""
    matches = {}
    for name in names:
        try:
            match = pattern.fullmatch(str(name), timeout=LONGEST_MATCH)
        except TimeoutError:
            raise OptionError(
                f"names: {cell(pattern.pattern)} takes longer than {LONGEST_MATCH} s on the column "
                f"{cell(name)}: write a pattern without repeats inside repeats"
            ) from None
        if match:
            matches[name] = match
    return matches


def _melted(raw: pd.DataFrame, pattern: regex.Pattern) -> pd.DataFrame:
    """Turn columns whose names hold a rater, an aspect or more into rows."""
    matches = _matching(raw, pattern)
    if not matches:
        raise OptionError(
            f"no column is called like {pattern.pattern!r}: correct names"
        )
    others = [name for name in raw if name not in matches]
    table = raw.melt(others, list(matches), "\0name", "\0cell", ignore_index=False)
    table = table[table["\0cell"].map(written) != ""]
    for group in pattern.groupindex:
        table[group] = table["\0name"].map(
            {name: each[group] for name, each in matches.items()}
        )
    if "score" not in pattern.groupindex:
        table["score"] = table["\0cell"]
    return table.drop(columns=["\0name", "\0cell"])


def _exploded(table: pd.DataFrame, columns: list[str], position: str) -> pd.DataFrame:
    """Give each element of lists a row; the parts of objects become columns."""
    _require(table, columns, "lists")
    parsed = table.assign(**{each: table[each].map(as_list) for each in columns})
    if differ(parsed[columns].map(len)):
        raise OptionError(
            f"lists: {', '.join(columns)} are not of the same length in each row"
        )
    numbers = parsed.assign(**{"\0row": np.arange(len(parsed))}).explode(columns)
    if position:
        numbers[position] = numbers.groupby("\0row").cumcount() + 1
    for column in columns:
        if numbers[column].map(lambda value: isinstance(value, dict)).any():
            parts = [
                value if isinstance(value, dict) else {} for value in numbers[column]
            ]
            found = pd.json_normalize(parts).set_axis(numbers.index).astype(object)
            numbers = pd.concat(
                [numbers.drop(columns=column), found.add_prefix(f"{column}.")], axis=1
            )
    return numbers.drop(columns="\0row")


def differ(table: pd.DataFrame) -> bool:
    """Tell whether the numbers in any row differ."""
    return bool((table.max(axis="columns") != table.min(axis="columns")).any())


def as_list(value: object) -> list:
    """Take a cell as a list, also if it is written as text."""
    if (
        isinstance(value, str)
        and len(value) <= LONGEST_LIST
        and re.match(r"\s*[\[(]", value)
    ):
        try:
            value = ast.literal_eval(re.sub(r"\b(?:nan|null)\b", "None", value.strip()))
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            problem = f"this is not a list: {cell(value)}; correct the file"
            raise tables.BadTableError(problem) from None
    if isinstance(value, list | tuple | np.ndarray):
        return list(value)
    return [] if written(value) == "" else [value]


def gathered(table: pd.DataFrame, recipe: Mapping) -> pd.DataFrame:
    """Give each item and rater one row: rows of one aspect, or of one error, are put together."""
    given = recipe.get("long", {})
    if (
        not given
        and "count" not in recipe
        and "(?P<aspect>" not in recipe.get("names", "")
    ):
        return table
    aspect, score = given.get("aspect", "aspect"), given.get("score", "score")
    scores = [each for each in names_in(score) if each in table] or names_in(score)
    keys = [each for role in ROLES for each in names_in(recipe.get(role, []))]
    keys = list(dict.fromkeys([*keys, *(["source"] if "source" in table else [])]))
    if "count" in recipe:
        return _counted(table, recipe, keys)
    _require(table, [*keys, aspect, *scores], "long")
    value = table[scores[0]].map(_single)
    for other in scores[1:]:
        value = value.where(value.notna(), table[other].map(_single))
    ids = table[keys].map(written)
    ids.insert(0, "\0item", table.index if "item" not in recipe else "")
    names = table[aspect].map(written)
    again = pd.concat([ids, names], axis=1).groupby([*ids, aspect]).cumcount()
    rows = (
        ids.assign(**{"\0again": again}).groupby([*ids, "\0again"], sort=False).ngroup()
    )
    wide = pd.Series(value.to_numpy(), [rows.to_numpy(), names.to_numpy()]).unstack(
        sort=False
    )
    return _beside(table[keys], ~rows.duplicated().to_numpy(), wide.sort_index())


def _beside(table: pd.DataFrame, rows: np.ndarray, other: pd.DataFrame) -> pd.DataFrame:
    """Put the columns of another table beside some rows of one; both have the same order."""
    parts = [table[rows].reset_index(drop=True), other.reset_index(drop=True)]
    return pd.concat(parts, axis="columns").set_axis(table.index[rows])


def _single(value: object) -> object:
    """Take the element of a list of one for the list, and nothing for what is empty."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return None if written(value) == "" else value


def _counted(table: pd.DataFrame, recipe: Mapping, keys: list[str]) -> pd.DataFrame:
    """Count the rows of each kind by item and rater, and add up the marks of one column."""
    kinds, added = recipe["count"], recipe.get("sum")
    values = [
        each
        for each in (recipe.get("outcome"), *recipe.get("aspects", []))
        if each in table
    ]
    _require(table, [*keys, kinds, *([added] if added else [])], "count")
    rows = table[keys].map(written).groupby(keys, sort=False).ngroup().to_numpy()
    first = ~pd.Series(rows).duplicated().to_numpy()
    counts = pd.crosstab(rows, _marked(table[kinds], recipe).map(written).to_numpy())
    kept = [*keys, *(each for each in values if each not in (added, *keys))]
    wide = _beside(table[kept], first, counts.drop(columns="", errors="ignore"))
    if added:
        marks = pd.to_numeric(_marked(table[added], recipe))
        wide[added] = marks.groupby(rows).sum(min_count=1).to_numpy()
    return wide


def interpreted(
    table: pd.DataFrame, recipe: Mapping, name: str, problems: Sequence[str] = ()
) -> pd.DataFrame:
    """Turn a table with a row for each rating into ratings; name what was wrong before, too."""
    values = [*names_in(recipe.get("outcome", [])), *recipe.get("aspects", [])]
    if not values:
        raise OptionError(
            "the recipe names no outcome and no aspects: name columns with marks"
        )
    parsing.check_request(values, limits := scales(recipe))
    table = table.rename(columns=recipe.get("call", {}))
    if not problems:
        _require(table, named(recipe), name)
    if "lists" in recipe:  # an empty list holds no rating
        table = table[(table[values].map(written) != "").any(axis="columns")]
    added = recipe.get("sum") if "count" in recipe else None
    cells = {
        each: table[each] if each == added else _marked(table[each], recipe)
        for each in values
        if each in table
    }
    roles = _add_roles(table, recipe, cells)
    if anonymous := "position" in recipe and "rater" not in recipe:
        item = cells.get(roles.get("item"), pd.Series(table.index, table.index)).map(
            written
        )
        roles["rater"] = "position"
        cells["position"] = item + "#" + _joined(table, recipe["position"]).map(written)
    cells = pd.DataFrame(cells, index=table.index)
    found = parsing.interpret(cells, values, roles, limits, name, problems)
    return found.rename(columns={"rater_id": "position"}) if anonymous else found


def _add_roles(
    table: pd.DataFrame, recipe: Mapping, cells: dict[str, pd.Series]
) -> dict[str, str]:
    """Add the columns that say what was rated by whom; give their names by role."""
    roles = {}
    for role in ("item", "cluster", "rater", "covariate"):
        parts = names_in(recipe.get(role, []))
        if parts and {*parts} <= {*table}:
            roles[role] = " / ".join(parts)
            cells[roles[role]] = _joined(table, parts)
    if "words" in recipe and recipe["words"] in table:
        roles["covariate"] = f"words of {recipe['words']}"
        cells[roles["covariate"]] = (
            table[recipe["words"]].map(written).str.split().str.len()
        )
    if "source" in table:
        cells.setdefault("source", table["source"])
    return roles


def _joined(table: pd.DataFrame, columns: list[str]) -> pd.Series:
    """Make one label of several columns."""
    if len(columns) == 1:
        return table[columns[0]]
    texts = table[columns].map(written)
    return texts.agg(" / ".join, axis="columns").where(
        (texts != "").all(axis="columns"), None
    )


def _marked(column: pd.Series, recipe: Mapping) -> pd.Series:
    """Put marks in the place of words, and nothing in the place of codes for nothing."""
    given, missing = recipe.get("marks", {}).get(column.name), recipe.get("missing", [])
    if not (given or missing or "decimal" in recipe):
        return column
    texts = column.map(written)
    nothing = [each.casefold() for each in missing]
    starts = tuple(each[:-1] for each in nothing if each.endswith("*"))
    marks = (
        {written(w).casefold(): m for w, m in given.items()}
        if isinstance(given, dict)
        else {}
    )

    def mark(text: str) -> str:
        folded = text.casefold()
        if folded in nothing or (starts and folded.startswith(starts)):
            return ""
        leading = LEADING.fullmatch(text) if given == "number" else None
        text = leading[1] if leading else marks.get(folded, text)
        return text.replace(",", ".") if leading or "decimal" in recipe else text

    return texts.map({text: mark(text) for text in texts.unique()})


def write_yaml(recipe: Mapping, path: Path, name: str) -> None:
    """Write a recipe that people can edit, with a line on top that says how.

    Parameters
    ----------
    recipe : mapping
        As `inspect` proposes it.
    path : pathlib.Path
        The new file.
    name : str
        Name of the file of ratings.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "my.recipe.yaml"
    ...     write_yaml({"outcome": "overall", "aspects": ["tone", "1"]}, path, "my.csv")
    ...     print(path.read_text())
    # How to read my.csv. Edit this file, then: ratings report my.csv --recipe
    # my.recipe.yaml Each key is explained in data/recipes/README.md.
    outcome: overall
    aspects: [tone, 1]
    <BLANKLINE>
    """
    text = HEADER.format(name=name, recipe=path.name) + as_yaml(recipe)
    paths.replace_files({path: text.encode()})


def as_yaml(recipe: Mapping) -> str:
    """Write a recipe in its usual order."""
    order = {key: recipe[key] for key in KINDS if key in recipe}
    look = {
        "sort_keys": False,
        "allow_unicode": True,
        "default_flow_style": None,
        "width": 96,
    }
    return yaml.dump(order, Dumper=_Bare, **look)


class _Bare(yaml.SafeDumper):
    """Write text without quotes where the loader, which takes all as text, needs none."""

    yaml_implicit_resolvers: ClassVar = {}
