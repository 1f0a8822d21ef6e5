"""Recipes: how a file of any shape becomes ratings.

A recipe is a short YAML file, proposed by `ratings.inspection.inspect` and edited by
people. Every key is explained in shipped/README.md, beside recipes for the exports of
common tools. All values are taken as text, so that No and 1e3 stay what they are.
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
from ratings import parsing, questions
from ratings.accounts import Account, places
from ratings.formats import opened

ROLES = ("item", "rater", "position", "cluster", "system", "covariate", "words")
SHIPPED = Path(__file__).with_name("shipped")  # recipes that come with the package
KINDS = {
    # what nobody has confirmed yet
    "questions": list,
    # the file
    "about": str,
    "when": list,
    "file": dict,
    "skip": list,
    # from cells to a row for each item and rater
    "radio": dict,
    "names": str,
    "lists": dict,
    "only": dict,
    "without": dict,
    "long": dict,
    "count": str,
    "sum": str,
    "call": dict,
    "fold": list,
    # the parts that columns play
    "item": list,
    "rater": list,
    "position": list,
    "cluster": list,
    "system": list,
    "covariate": str,
    "words": str,
    "outcome": str,
    "aspects": list,
    # what cells mean
    "marks": dict,
    "missing": list,
    "decimal": str,
    "scales": dict,
    "matters": str,
    "better": str,
    "outside": str,
}
KIND_WORDS = {
    str: "text (in papermill, -r gives a number as text)",
    list: """a list of names, such as ["factuality", "tone"]""",
    dict: "pairs 'name: value'",
}
LARGEST_RECIPE = 2**20  # bytes
LONGEST_KEY = 900  # characters of a key that YAML reads on one line
LONGEST_MATCH = 1.0  # seconds that a pattern may take for a name
MOST_KINDS = 8  # of error, named in one line
LONGEST_LIST = 10**6  # characters of a list written as text
HEADER = """\
# How to read {name}. Edit this file, then: ratings report {name} --recipe {recipe}
"""
HOW_TO_ANSWER = """\
# Please answer the questions: write one of the options, or for a scale such as 1 to 5,
# after `answer`. Until all are answered, the report quotes no result.
"""
NOT_TICKED = ("", "0", "no", "false", "off")  # any other cell is a tick

# A number at the start of a cell, such as 4 - Good, 4/5 or 80 %.
LEADING = re.compile(r"\s*([+-]?\d+(?:[.,]\d+)?)\s*(?:[-:/.%)=–—(].*)?", re.DOTALL)

# Names of columns that are made while a table changes its shape: no file can have them.
_NAME = "\0name"
_CELL = "\0cell"
_ROW = "\0row"
_ITEM = "\0item"
_AGAIN = "\0again"
_ASPECT = "\0aspect"
GIVEN_WAY = " (column)"  # after the name of a column, if one that is made has it
SIMULATED = "simulated"


def from_yaml(file: str | Path) -> dict:
    """Read a recipe.

    Parameters
    ----------
    file : str or pathlib.Path
        A YAML file, looked for in the working folder, then in the project; or the name
        of a recipe that comes with the package, such as ``"mqm"``.

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
    >>> from_yaml("mqm")["count"]
    'category'
    """
    shipped = {path.stem: path for path in SHIPPED.glob("*.yaml")}
    path = shipped.get(str(file)) or tables.find(file)
    with tables.readable(path, "a recipe"):
        if path.stat().st_size > LARGEST_RECIPE:
            raise bad_table(path.name, ["a recipe is short: this is another file"])
        return parse(_from_text(path.read_bytes(), path.name), path.name)


def _from_text(text: bytes | str, name: str) -> object:
    """Take apart YAML, or JSON, whose values all stay text."""
    try:
        return yaml.load(text, _WithoutAliases)
    except (yaml.YAMLError, RecursionError) as error:
        problem = getattr(error, "problem", None) or "too deeply nested"
        mark = getattr(error, "problem_mark", None)
        if mark:
            problem = f"line {mark.line + 1}: {problem}"
        raise bad_table(name, [f"not YAML: {problem}"]) from None


class _WithoutAliases(yaml.BaseLoader):
    """Reads values as text, and refuses aliases.

    A few lines of aliases can stand for gigabytes.
    """

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
        The same without empty keys, with the keys that answers to questions set.

    Raises
    ------
    tables.OptionError
        If a key is unknown, or its value is of another kind.

    Examples
    --------
    >>> parse({"outcome": "overall", "aspects": '["tone", "typos"]', "rater": ""})
    {'outcome': 'overall', 'aspects': ['tone', 'typos']}
    """
    if given is None:
        raise OptionError(f"{name} is empty: `ratings inspect` proposes a recipe")
    if not isinstance(given, dict):
        raise OptionError(f"{name}: a recipe has one 'key: value' on each line")
    asked = given.get("questions") or []
    if isinstance(asked, str):
        asked = _from_text(asked, f"{name}, questions")
    questions.check(asked, name)
    recipe = _of_their_kinds({**given, "questions": asked}, name)
    recipe = _of_their_kinds(questions.with_answers(recipe), name)
    scales(recipe, name)
    for options in recipe.get("radio", {}).values():
        if not isinstance(options, Mapping):
            raise OptionError(
                f"{name}: radio gives the rating of each option, as "
                "'tone: {tone_1: 1, tone_2: 2}'"
            )
    if recipe.get("outside", "drop") != "drop":
        raise OptionError(f"{name}: outside can only be drop")
    name_pattern(recipe, name)
    return recipe


def open_questions(recipe: Mapping) -> list[str]:
    """List the questions of a recipe that nobody has answered.

    Examples
    --------
    >>> open_questions({"outcome": "tone"})
    []
    """
    return questions.open_questions(recipe)


def _of_their_kinds(given: Mapping, name: str) -> dict:
    """Give the values of all keys as these ask; leave out empty keys."""
    _require_known(given, name)
    recipe = {}
    for key, value in given.items():
        if value in ("", None, [], {}):
            continue
        is_checked = key == "questions"
        recipe[key] = list(value) if is_checked else _of_its_kind(key, value, name)
    return recipe


def _require_known(keys: Iterable, name: str) -> None:
    """Stop at keys that no recipe has, and name all of them."""
    unknown = [key for key in keys if key not in KINDS]
    if not unknown:
        return
    faults = []
    for key in unknown[:MOST_KINDS]:
        similar = difflib.get_close_matches(str(key), KINDS)
        hint = f" (did you mean {similar[0]!r}?)" if similar else ""
        faults.append(f"{cell(key)}{hint}")
    more = len(unknown) - len(faults)
    if more:
        faults.append(f"{more} more")
    text = f"{name}: there is no key {', '.join(faults)}"
    if more or not all("did you mean" in fault for fault in faults):
        text += f"; known are {', '.join(KINDS)}"
    raise OptionError(text)


def _of_its_kind(key: str, value: object, name: str) -> str | list | dict:
    """Give the value of a key as text, a list of text or a mapping, as the key asks."""
    kind = KINDS[key]
    if kind is not str and isinstance(value, str) and value[0] in "[{":
        value = _from_text(value, f"{name}, {key}")
    if kind is list and isinstance(value, str):
        value = [value]
    is_right = isinstance(value, kind)
    if isinstance(value, list):
        is_right = is_right and all(isinstance(text, str) for text in value)
    if not is_right:
        raise OptionError(
            f"{name}: {key} must be {KIND_WORDS[kind]}, not {cell(value)}"
        )
    return value


def scales(recipe: Mapping, name: str = "recipe") -> dict[str, tuple[float, float]]:
    """Take the scales of a recipe as numbers."""
    numbers = {}
    for column, ends in recipe.get("scales", {}).items():
        numbers[column] = _lowest_and_highest(ends)
        if numbers[column] is None:
            raise OptionError(
                f"{name}: scales give the lowest and highest mark, as 'overall: [1, 5]'"
            )
    return numbers


def _lowest_and_highest(ends: object) -> tuple[float, float] | None:
    """Read the two ends of a scale; None if these are none."""
    if isinstance(ends, str):  # its characters are no ends
        return None
    try:
        low, high = map(float, ends)
    except (TypeError, ValueError):
        return None
    return (low, high) if low < high else None


def name_pattern(recipe: Mapping, name: str = "recipe") -> regex.Pattern | None:
    """Compile the pattern of names of columns."""
    if "names" not in recipe:
        return None
    try:
        pattern = regex.compile(recipe["names"])
    except (regex.error, OverflowError) as error:
        raise OptionError(f"{name}: names is no regular expression ({error})") from None
    if not pattern.groupindex:
        raise OptionError(
            f"{name}: names must say what is what, as '(?P<aspect>.+)_(?P<rater>.+)'"
        )
    return pattern


def read(
    file: str | Path, recipe: Mapping, account: Account | None = None
) -> pd.DataFrame:
    """Read ratings as a recipe says, or list all that is wrong.

    There is one row for each item and rater.

    Parameters
    ----------
    file : str or pathlib.Path
        A file of any format that `ratings.formats` knows. A relative name is looked for
        in the working folder, then in the project.
    recipe : mapping
        As `from_yaml`, `parse` or `inspect` give it. A role that is "auto" is played by
        the column named in `ratings.parsing.USUAL_NAMES` if the file has it (JSON
        lines: if one of the first objects has it).
    account : Account, optional
        Told what becomes of each row.

    Returns
    -------
    pandas.DataFrame
        ``item_id``, ``prompt_id`` (the cluster), ``rater_id`` if there are raters,
        ``source`` ("simulated" if a column ``source`` holds this word, and no other
        but "real"; else "real"), ``system_id`` if there are systems,
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
    >>> ratings = read("data/example/ratings.csv", recipe)
    >>> ratings[["rater_id", "overall", "tone"]].head(2)
          rater_id  overall  tone
    row
    2    rater-001      4.0   4.0
    3    rater-002      5.0   4.0
    """
    recipe = parse(dict(recipe))
    account = account or Account()
    reading = recipe.get("file", {})
    with opened(file, reading, recipe.get("skip", ())) as (name, names, load):
        recipe = _with_usual_names(recipe, names)
        raw, problems = load(columns_to_load(recipe, names))
    account.start(raw)
    long = to_long(raw, recipe, account)
    wide = to_wide(long, recipe, account)
    ratings = to_ratings(wide, recipe, name, problems, account)
    if is_simulated(raw):
        ratings["source"] = SIMULATED
    return ratings


def is_simulated(raw: pd.DataFrame) -> bool:
    """Tell whether a column ``source`` says that all or some rows are simulated.

    It does so only if it holds no words but ours; any other ``source`` is a column like
    others.
    """
    if "source" not in raw:
        return False
    words = set(raw["source"].map(cell_text).unique()) - {""}
    return SIMULATED in words and words <= {SIMULATED, "real"}


def _with_usual_names(recipe: Mapping, names: Sequence[str]) -> dict:
    """Put the usual name of a column in the place of "auto", or nothing without one.

    A column that is outcome or aspect plays no other part.
    """
    values = values_of(recipe)
    usual = {}
    for role, name in parsing.USUAL_NAMES.items():
        if "auto" in as_names(recipe.get(role, [])):
            is_free = name in names and name not in values
            usual[role] = name if is_free else ""
    return parse({**recipe, **usual})


def columns_to_load(recipe: Mapping, names: Sequence[str]) -> list[str]:
    """Name the columns of a file that a recipe needs, in any step."""
    wanted = columns_used(recipe)
    wanted += [*recipe.get("only", {}), *recipe.get("without", {})]
    wanted += recipe.get("fold", [])
    if list(names).count("source") == 1:
        wanted.append("source")
    reshaping = ("radio", "names", "lists", "long", "count", "call")
    if any(key in recipe for key in reshaping):
        wanted = _in_the_file(wanted, recipe, names)
    return list(dict.fromkeys(wanted))  # each once


def _in_the_file(
    wanted: Sequence[str], recipe: Mapping, names: Sequence[str]
) -> list[str]:
    """Name the columns of a file from which others are made, and those wanted as such.

    What is not in the file is made of others, or missed when it is needed.
    """
    sources = {*wanted, *recipe.get("lists", {}), *recipe.get("call", {})}
    for options in recipe.get("radio", {}).values():
        sources.update(options)
    sources |= {recipe.get("count"), recipe.get("sum")}
    for columns in recipe.get("long", {}).values():
        sources.update(as_names(columns))
    # a column whose name gave way to that of one that was made
    for name in list(sources):
        if isinstance(name, str):
            sources.add(name.removesuffix(GIVEN_WAY))
    pattern = name_pattern(recipe)
    if pattern is not None:
        sources.update(matching(names, pattern))
    return [name for name in names if name in sources]


def columns_used(recipe: Mapping) -> list[str]:
    """Name the columns that play a part in ratings."""
    columns = []
    for key in ("outcome", "aspects", *ROLES):
        columns += as_names(recipe.get(key, []))
    return columns


def values_of(recipe: Mapping) -> list[str]:
    """Name outcome and aspects."""
    return [*as_names(recipe.get("outcome", [])), *recipe.get("aspects", [])]


def repeated_values(recipe: Mapping) -> list[str]:
    """Name outcome and aspects that stand once in a row whose ratings are a list.

    Each is repeated beside all ratings of the list, and so is not one mark of each
    person: raters cannot agree or differ on it.
    """
    items = as_names(recipe.get("item", []))
    lists = []  # those whose places are ratings, not items
    for name, position in recipe.get("lists", {}).items():
        if position not in items:
            lists.append(name)
    tells_ratings = {*as_names(recipe.get("rater", []))}
    tells_ratings.update(as_names(recipe.get("position", [])))
    pattern = name_pattern(recipe)
    if pattern is not None and tells_ratings.isdisjoint(pattern.groupindex):
        pattern = None  # the names of columns do not tell one person from another
    if not lists and pattern is None:
        return []
    long = "long" in recipe or "(?P<aspect>" in recipe.get("names", "")
    if long or "count" in recipe:  # these marks come from the elements themselves
        return []
    original = {new: old for old, new in recipe.get("call", {}).items()}
    values = values_of(recipe)
    repeated = []
    for value in values:
        name = original.get(value, value)
        is_element = any(name == each or name.startswith(f"{each}.") for each in lists)
        is_made = pattern is not None and name in (*pattern.groupindex, "score")
        if not (is_element or is_made):
            repeated.append(value)
    return repeated


def as_names(value: object) -> list:
    """Take one name as a list, and a mapping as its names."""
    return [value] if isinstance(value, str) else list(value)


def cell_text(value: object) -> str:
    """Write a cell as text; nothing is empty, a whole number has no point."""
    if isinstance(value, str):
        return value.strip()
    if value is None or value is pd.NA:
        return ""
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.15g}"
    return str(value)


def _require(table: pd.DataFrame, columns: Iterable[str], key: str) -> None:
    """Stop if a recipe speaks of a column that is not there at this step."""
    wanted = list(dict.fromkeys(columns))
    names = [str(name) for name in table.columns]
    _, problems = tables.choose(wanted, names)
    if problems:
        raise OptionError(f"recipe, {key}: " + "; ".join(problems))


def to_long(
    raw: pd.DataFrame, recipe: Mapping, account: Account | None = None
) -> pd.DataFrame:
    """Give each rating a row: columns of one pattern and lists in cells become rows."""
    account = account or Account()
    table = raw
    if "skip" in recipe:
        is_skipped = table.index.map(str).isin(recipe["skip"])
        table = account.keep(table, ~is_skipped, "named in `skip`")
    for name, options in recipe.get("radio", {}).items():
        table = _with_choice(table, name, options)
    pattern = name_pattern(recipe)
    if pattern is not None:
        table = _melted(table, pattern, account)
    for columns, position in _lists_side_by_side(recipe):
        table = _exploded(table, columns, position, account)
    for column, values in recipe.get("only", {}).items():
        is_one = _holds_one_of(table, column, values, "only")
        table = account.keep(table, is_one, f"not in `only`: {cell(column)}")
    for column, values in recipe.get("without", {}).items():
        is_one = _holds_one_of(table, column, values, "without")
        table = account.keep(table, ~is_one, f"in `without`: {cell(column)}")
    for column in recipe.get("fold", []):
        _require(table, [column], "fold")
        table = table.assign(**{column: folded(table[column])})
    return table


def _with_choice(table: pd.DataFrame, name: str, options: Mapping) -> pd.DataFrame:
    """Put one column, with the rating of the option that is ticked, for its options."""
    columns = list(options)
    _require(table, columns, "radio")
    is_ticked = ticks(table[columns])
    twice = table.index[is_ticked.sum(axis="columns") > 1]
    if len(twice):
        raise OptionError(
            f"radio: several options of {cell(name)} are ticked in {places(twice)}: "
            "these columns are no options of one question, or the file is wrong"
        )
    chosen = is_ticked.idxmax(axis="columns").map(options)
    others = _make_way(table.drop(columns=columns), [name])
    return others.assign(**{name: chosen.where(is_ticked.any(axis="columns"), "")})


def ticks(table: pd.DataFrame) -> pd.DataFrame:
    """Tell in which cells a box is ticked."""
    return ~table.map(lambda cell: cell_text(cell).casefold()).isin(NOT_TICKED)


def folded(column: pd.Series) -> pd.Series:
    """Write labels that differ only in case or spaces as the first of them."""
    texts = column.map(cell_text)
    keys = {text: " ".join(text.casefold().split()) for text in texts.unique()}
    first = {}
    for text, key in keys.items():
        first.setdefault(key, text)
    return texts.map({text: first[key] for text, key in keys.items()})


def _make_way(table: pd.DataFrame, names: Iterable[str]) -> pd.DataFrame:
    """Give columns of the file another name where one that is made has theirs."""
    taken = [name for name in names if name in table]
    return table.rename(columns={name: f"{name}{GIVEN_WAY}" for name in taken})


def _lists_side_by_side(recipe: Mapping) -> list[tuple[list[str], str]]:
    """Group the columns of lists whose places have one name, and give that name.

    Lists without a name for their places stand alone.
    """
    groups = {}
    for column, position in recipe.get("lists", {}).items():
        columns, _ = groups.setdefault(position or column, ([], position))
        columns.append(column)
    return list(groups.values())


def _holds_one_of(
    table: pd.DataFrame, column: str, values: object, key: str
) -> pd.Series:
    """Tell in which rows a column holds one of some values."""
    _require(table, [column], key)
    return table[column].map(cell_text).isin(as_names(values))


def matching(names: Iterable, pattern: regex.Pattern) -> dict[object, regex.Match]:
    """Find the names of columns that a pattern describes."""
    matches = {}
    for name in names:
        try:
            match = pattern.fullmatch(str(name), timeout=LONGEST_MATCH)
        except TimeoutError:
            raise OptionError(
                f"names: {cell(pattern.pattern)} takes longer than {LONGEST_MATCH} s "
                f"on the column {cell(name)}: write a pattern without repeats inside "
                "repeats"
            ) from None
        if match:
            matches[name] = match
    return matches


def _melted(
    raw: pd.DataFrame, pattern: regex.Pattern, account: Account
) -> pd.DataFrame:
    """Turn columns whose names hold a rater, an aspect or more into rows."""
    matches = matching(raw, pattern)
    if not matches:
        raise OptionError(
            f"no column is called like {pattern.pattern!r}: correct names"
        )
    is_other = ~raw.columns.isin(list(matches))
    made = [*pattern.groupindex]
    if "score" not in made:
        made.append("score")
    others = _make_way(raw.loc[:, is_other], made)
    table = pd.concat([others, raw[list(matches)]], axis="columns").melt(
        id_vars=list(others),
        value_vars=list(matches),
        var_name=_NAME,
        value_name=_CELL,
        ignore_index=False,
    )
    account.reshape(len(raw), len(table), "each column of `names` becomes a row")
    has_text = table[_CELL].map(cell_text) != ""
    table = account.keep(table, has_text, "empty cells in columns of `names`")
    for group in pattern.groupindex:
        parts = {name: match[group] for name, match in matches.items()}
        table[group] = table[_NAME].map(parts)
    if "score" not in pattern.groupindex:
        table["score"] = table[_CELL]
    return table.drop(columns=[_NAME, _CELL])


def _exploded(
    table: pd.DataFrame, columns: list[str], position: str, account: Account
) -> pd.DataFrame:
    """Give each element of lists a row; the parts of objects become columns."""
    _require(table, columns, "lists")
    lists = {column: table[column].map(as_list) for column in columns}
    table = table.assign(**lists)
    if any_row_differs(table[columns].map(len)):
        raise OptionError(
            f"lists: {', '.join(columns)} are not of the same length in each row"
        )
    if position:
        is_list = table.columns.isin(columns)
        others = _make_way(table.loc[:, ~is_list], [position])
        table = pd.concat([others, table[columns]], axis="columns")
    table[_ROW] = np.arange(len(table))
    elements = table.explode(columns)
    what = ", ".join(columns)
    account.reshape(len(table), len(elements), f"each element of {what} becomes a row")
    if position:
        elements[position] = elements.groupby(_ROW).cumcount() + 1
    for column in columns:
        if elements[column].map(_is_object).any():
            elements = _with_parts(elements, column)
    return elements.drop(columns=_ROW)


def _is_object(value: object) -> bool:
    """Tell whether a cell holds a JSON object."""
    return isinstance(value, dict)


def _with_parts(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """Replace a column of objects by a column for each part, with a dotted name."""
    objects = [value if _is_object(value) else {} for value in table[column]]
    parts = pd.json_normalize(objects).set_axis(table.index).astype(object)
    parts = parts.add_prefix(f"{column}.")
    others = _make_way(table.drop(columns=column), parts)
    return pd.concat([others, parts], axis="columns")


def any_row_differs(table: pd.DataFrame) -> bool:
    """Tell whether the numbers in any row differ."""
    lowest = table.min(axis="columns")
    highest = table.max(axis="columns")
    return bool((lowest != highest).any())


def as_list(value: object) -> list:
    """Take a cell as a list, also if it is written as text."""
    if isinstance(value, str) and _looks_like_list(value):
        # Python has no names for what is missing in lists of other languages.
        text = re.sub(r"\b(?:nan|null)\b", "None", value.strip())
        try:
            value = ast.literal_eval(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            problem = f"this is not a list: {cell(value)}; correct the file"
            raise tables.BadTableError(problem) from None
    if isinstance(value, list | tuple | np.ndarray):
        return list(value)
    return [] if cell_text(value) == "" else [value]


def _looks_like_list(text: str) -> bool:
    """Tell whether a text begins like a list and is short enough to be taken apart."""
    return len(text) <= LONGEST_LIST and bool(re.match(r"\s*[\[(]", text))


def to_wide(
    table: pd.DataFrame, recipe: Mapping, account: Account | None = None
) -> pd.DataFrame:
    """Give each item and rater one row, in which all aspects or errors stand."""
    names_tell_aspects = "(?P<aspect>" in recipe.get("names", "")
    is_long = bool(recipe.get("long")) or names_tell_aspects
    if "count" in recipe:
        wide = _counted(table, recipe, role_columns(recipe), account)
        how = "rows of one item and rater are counted together"
    elif is_long:
        wide = _pivoted(table, recipe, role_columns(recipe))
        how = "rows of one item and rater, one for each aspect, become one"
    else:
        return table
    if account is not None:
        account.reshape(len(table), len(wide), how)
    return wide


def role_columns(recipe: Mapping) -> list[str]:
    """Name the columns that are the same in all rows of an item and rater."""
    columns = []
    for role in ROLES:
        columns += as_names(recipe.get(role, []))
    return list(dict.fromkeys(columns))  # each once


def _pivoted(table: pd.DataFrame, recipe: Mapping, keys: list[str]) -> pd.DataFrame:
    """Make a column of each aspect that has rows of its own.

    Where an item and rater have an aspect again, they get another row.
    """
    given = recipe.get("long", {})
    aspect = given.get("aspect", "aspect")
    scores = as_names(given.get("score", "score"))
    present = [name for name in scores if name in table]
    scores = present or scores
    _require(table, [*keys, aspect, *scores], "long")
    aspects = table[aspect].map(cell_text)
    ids = table[keys].map(cell_text)
    ids.insert(0, _ITEM, "" if "item" in recipe else table.index)
    # The column of aspects may play a part too: under a name of its own it is no other.
    with_aspect = ids.assign(**{_ASPECT: aspects})
    again = with_aspect.groupby(list(with_aspect)).cumcount()
    repeated = ids.assign(**{_AGAIN: again})
    rows = repeated.groupby(list(repeated), sort=False).ngroup()
    marks = _first_known(table, scores)
    tall = pd.Series(marks.to_numpy(), [rows.to_numpy(), aspects.to_numpy()])
    wide = tall.unstack(sort=False).sort_index()
    is_first = ~rows.duplicated().to_numpy()
    return _beside(table[keys], is_first, wide)


def _first_known(table: pd.DataFrame, columns: Sequence[str]) -> pd.Series:
    """Take the mark of each row from the first column that has one."""
    marks = table[columns[0]].map(_single)
    for column in columns[1:]:
        marks = marks.where(marks.notna(), table[column].map(_single))
    return marks


def _beside(table: pd.DataFrame, rows: np.ndarray, other: pd.DataFrame) -> pd.DataFrame:
    """Put the columns of another table beside some rows of one, in the same order."""
    left = table[rows].reset_index(drop=True)
    right = _make_way(other.reset_index(drop=True), left)
    both = pd.concat([left, right], axis="columns")
    return both.set_axis(table.index[rows])


def _single(value: object) -> object:
    """Take the element of a list of one for the list, and nothing for what is empty."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return None if cell_text(value) == "" else value


def _counted(
    table: pd.DataFrame,
    recipe: Mapping,
    keys: list[str],
    account: Account | None = None,
) -> pd.DataFrame:
    """Count the rows of each kind by item and rater, and add up marks of a column."""
    kind = recipe["count"]
    added = recipe.get("sum")
    needed = [*keys, kind]
    if added:
        needed.append(added)
    _require(table, needed, "count")
    rows = table[keys].map(cell_text).groupby(keys, sort=False).ngroup().to_numpy()
    kinds = marked(table[kind], recipe).map(cell_text).to_numpy()
    counts = pd.crosstab(rows, kinds).drop(columns="", errors="ignore")
    values = values_of(recipe)
    if account is not None and "aspects" in recipe:
        _name_other_kinds(counts.sum(), values, recipe, account)
    others = [name for name in values if name in table and name not in (added, *keys)]
    is_first = ~pd.Series(rows).duplicated().to_numpy()
    wide = _beside(table[[*keys, *others]], is_first, counts)
    if added:
        wide = _make_way(wide, [added])
        marks = pd.to_numeric(marked(table[added], recipe))
        wide[added] = marks.groupby(rows).sum(min_count=1).to_numpy()
    return wide


def _name_other_kinds(
    counts: pd.Series, values: Sequence[str], recipe: Mapping, account: Account
) -> None:
    """Write down which kinds of error are counted but are no aspects."""
    called = recipe.get("call", {})
    is_other = [called.get(kind, kind) not in values for kind in counts.index]
    others = counts[is_other].sort_values(ascending=False)
    if others.empty:
        return
    parts = [f"{cell(kind)} ({n:,})" for kind, n in others[:MOST_KINDS].items()]
    more = len(others) - len(parts)
    if more > 0:
        parts.append(f"{more} more")
    account.pass_over(f"kinds of error that are no aspects: {', '.join(parts)}")


def to_ratings(
    table: pd.DataFrame,
    recipe: Mapping,
    name: str,
    problems: Sequence[str] = (),
    account: Account | None = None,
) -> pd.DataFrame:
    """Turn a table with a row for each item and rater into ratings.

    ``problems`` are those that the file had before; they are named together with all
    that is found here.
    """
    values = values_of(recipe)
    if not values:
        raise OptionError(
            "the recipe names no outcome and no aspects: name columns with marks"
        )
    limits = scales(recipe)
    parsing.check_request(values, limits)
    account = account or Account()
    table = _with_other_names(table, recipe)
    if not problems:  # else what is missing is among them
        _require(table, columns_used(recipe), name)
    if "lists" in recipe:  # an empty list holds no rating
        has_marks = (table[values].map(cell_text) != "").any(axis="columns")
        table = account.keep(table, has_marks, "lists without a mark")
    added_up = recipe.get("sum") if "count" in recipe else None
    cells = {}
    for column in values:
        if column not in table:
            continue
        is_added_up = column == added_up  # its words have become numbers already
        marks = table[column]
        cells[column] = marks if is_added_up else marked(marks, recipe)
    roles = _add_roles(table, recipe, cells)
    is_position = "position" in recipe and "rater" not in recipe
    if is_position:
        item = cells.get(roles.get("item"))
        roles["rater"] = _free_name("position", cells, "rater")
        cells[roles["rater"]] = _position(table, recipe, item)
    frame = pd.DataFrame(cells, index=table.index)
    ratings = parsing.interpret(
        frame, values, roles, limits, name, problems, account, "outside" in recipe
    )
    if is_position:
        return ratings.rename(columns={"rater_id": "position"})
    return ratings


def _position(
    table: pd.DataFrame, recipe: Mapping, item: pd.Series | None
) -> pd.Series:
    """Name the place of a rating among those of its item; without items, of its row."""
    if item is None:
        item = pd.Series(table.index, table.index)
    place = _joined(table, recipe["position"])
    return item.map(cell_text) + "#" + place.map(cell_text)


def _add_roles(
    table: pd.DataFrame, recipe: Mapping, cells: dict[str, pd.Series]
) -> dict[str, str]:
    """Add the columns that say what was rated by whom; give their names by role."""
    roles = {}
    named = {}  # the same columns in two roles are one
    for role in ("item", "cluster", "rater", "system", "covariate"):
        parts = tuple(as_names(recipe.get(role, [])))
        if not parts or not set(parts) <= set(table):
            continue
        if parts not in named:
            named[parts] = _free_name(" / ".join(parts), cells, role)
            cells[named[parts]] = _joined(table, list(parts))
        roles[role] = named[parts]
    text = recipe.get("words")
    if text is not None and text in table:
        roles["covariate"] = _free_name(f"words of {text}", cells, "covariate")
        words = table[text].map(cell_text).str.split()
        cells[roles["covariate"]] = words.str.len()
    return roles


def _free_name(name: str, taken: Mapping, role: str) -> str:
    """Name what tells a role, as no other column is named."""
    return f"{name} ({role})" if name in taken else name


def _with_other_names(table: pd.DataFrame, recipe: Mapping) -> pd.DataFrame:
    """Call columns as a recipe says, if that leaves each with a name of its own."""
    called = recipe.get("call", {})
    table = table.rename(columns=called)
    names = list(table)
    for old, new in called.items():
        if names.count(new) > 1:
            raise OptionError(
                f"call: there is a column {cell(new)} already: give {cell(old)} "
                "another name"
            )
    return table


def _joined(table: pd.DataFrame, columns: list[str]) -> pd.Series:
    """Make one label of several columns; none where one of them is empty."""
    if len(columns) == 1:
        return table[columns[0]]
    texts = table[columns].map(cell_text)
    is_whole = (texts != "").all(axis="columns")
    return texts.agg(" / ".join, axis="columns").where(is_whole, None)


def marked(column: pd.Series, recipe: Mapping) -> pd.Series:
    """Put marks in the place of words, and nothing in the place of missing codes."""
    meaning = recipe.get("marks", {}).get(column.name)
    missing = recipe.get("missing", [])
    has_decimal_comma = "decimal" in recipe
    if not (meaning or missing or has_decimal_comma):
        return column
    codes = [code.casefold() for code in missing]
    beginnings = tuple(code[:-1] for code in codes if code.endswith("*"))
    begins_with_number = meaning == "number"
    marks = {}
    if isinstance(meaning, dict):
        marks = {cell_text(word).casefold(): mark for word, mark in meaning.items()}

    def mark_of(text: str) -> str:
        folded = text.casefold()
        if folded in codes or (beginnings and folded.startswith(beginnings)):
            return ""
        leading = LEADING.fullmatch(text) if begins_with_number else None
        if leading:
            return leading[1].replace(",", ".")
        # a full stop after a word, as in Yes., changes nothing
        mark = marks.get(folded, marks.get(folded.rstrip("."), text))
        return mark.replace(",", ".") if has_decimal_comma else mark

    texts = column.map(cell_text)
    # Each text is looked up once, however many rows have it.
    return texts.map({text: mark_of(text) for text in texts.unique()})


def write_yaml(recipe: Mapping, path: Path, name: str) -> None:
    """Write a recipe that people can edit, with lines on top that say how.

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
    ...     path = Path(folder) / "a.yaml"
    ...     write_yaml({"outcome": "overall", "aspects": ["tone", "1"]}, path, "a.csv")
    ...     print(path.read_text())
    # How to read a.csv. Edit this file, then: ratings report a.csv --recipe a.yaml
    outcome: overall
    aspects: [tone, 1]
    <BLANKLINE>
    """
    text = HEADER.format(name=name, recipe=path.name)
    if open_questions(recipe):
        text += HOW_TO_ANSWER
    text += as_yaml(recipe)
    paths.replace_files({path: text.encode()})


def for_page(recipe: Mapping) -> dict:
    """Take a recipe without questions and without labels of raters, who may be named.

    Examples
    --------
    >>> for_page({"rater": ["who"], "without": {"who": ["Ann", "Ben"]}})
    {'rater': ['who'], 'without': {'who': ['2 labels, not shown']}}
    """
    shown = {key: value for key, value in recipe.items() if key != "questions"}
    people = {*as_names(recipe.get("rater", [])), *as_names(recipe.get("position", []))}
    for key in {"only", "without"} & set(shown):
        cells = dict(shown[key])
        for name in people & set(cells):
            cells[name] = [f"{len(as_names(cells[name]))} labels, not shown"]
        shown[key] = cells
    return shown


def as_yaml(recipe: Mapping) -> str:
    """Write a recipe in its usual order."""
    in_order = {key: recipe[key] for key in KINDS if key in recipe}
    return yaml.dump(
        in_order,
        Dumper=_Bare,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=None,
        width=96,
    )


class _Bare(yaml.SafeDumper):
    """Write text without quotes where the loader, which takes all as text, needs none.

    A dumper without resolvers sees no difference between the text 1 and a number. A
    text stays on one line: a pattern broken at its spaces could not be copied.
    """

    yaml_implicit_resolvers: ClassVar = {}

    def represent_mapping(
        self, tag: str, mapping: Mapping, flow_style: bool | None = None
    ) -> yaml.Node:
        """Write each key of a question on a line of its own."""
        if "ask" in mapping:
            flow_style = False
        return super().represent_mapping(tag, mapping, flow_style)

    def check_simple_key(self) -> bool:
        """Write a key that is empty or long as others, not after a question mark."""
        is_text = isinstance(self.event, yaml.ScalarEvent)
        if is_text and len(self.event.value) < LONGEST_KEY:
            return "\n" not in self.event.value
        return super().check_simple_key()

    def write_plain(self, text: str, split: bool = True) -> None:
        """Write a text without quotes."""
        super().write_plain(text, split=False)

    def write_single_quoted(self, text: str, split: bool = True) -> None:
        """Write a text in single quotes."""
        super().write_single_quoted(text, split=False)

    def write_double_quoted(self, text: str, split: bool = True) -> None:
        """Write a text in double quotes."""
        super().write_double_quoted(text, split=False)
