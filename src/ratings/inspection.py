"""A first look at a file of ratings: what it seems to hold, and how to read it.

Names of columns and what stands in them lead to a proposal. Whatever is not certain is
listed for people to check, above all which end of a scale is taken as the lowest.
"""

import collections
import fnmatch
import functools
import re
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import regex
import yaml

from helpers import paths
from helpers.data.tables import BadTableError, PlainError, bad_table, cell
from ratings import parsing
from ratings.accounts import Account
from ratings.formats import above_header, opened, other_sheets
from ratings.recipes import (
    LEADING,
    ROLES,
    any_row_differs,
    as_list,
    as_names,
    as_yaml,
    cell_text,
    columns_to_load,
    columns_used,
    from_yaml,
    is_simulated,
    marked,
    parse,
    read,
    scales,
    to_long,
    to_wide,
)

LONGEST_NAME = 3  # words of a name; more are a question
FEW_WORDS = 12  # of a column that holds words with an order, not text
LONGEST_WORD = 40  # characters of such a word
LONGEST_GRADE = 60  # characters of a cell such as 4 - Good
MOST_ASPECTS = 60
MOST_HEADERS = 2  # rows below the names of columns that may hold words about them
FEWEST_BELOW = 3  # rows of numbers that tell so
MOST_SHOWN = 12  # columns
LONGEST_SHOWN = 24  # characters of a name or a cell
LONGEST_LINE = 200  # characters
MOST_REPEATED = 10**7  # cells beside those that hold ratings
SAMPLE = 10  # ratings that are shown
LOOKED_AT = 20_000  # cells that tell what a column holds
LISTS_LOOKED_AT = 1000
ALPHABET = "abcdefghijklmnopqrstuvwxyz"
FEWEST_COUNTED = 20  # rows, for numbers of rows and flags to be told from marks
LONGEST_SIGN = 4  # characters, of a sign such as x or yes; words need more rows
FEWEST_FLAGS = 2  # cells with a sign such as x, for a column to be one of flags
MOST_ODD = 3  # different words in a column of numbers
MOSTLY = 0.8  # share of numbers in a column of numbers that holds words too
MOST_UNLIKE = 3  # times that columns of one mark may differ in length of scale
GUESSES = yaml.load(
    Path(__file__).with_name("guesses.yaml").read_bytes(), yaml.BaseLoader
)
NAMES = GUESSES["names"]
NO_MARKS = GUESSES["nothing"]
ASSUMPTIONS = GUESSES["told"]
CODES = [float(code) for code in GUESSES["codes"]]
TAGS = GUESSES["tags"]
_RANGE = re.compile(GUESSES["range"])
_NUMBER = re.compile(r"[+-]?\d*[.,]?\d+(e[+-]?\d+)?", re.IGNORECASE)


@dataclass
class Inspection:
    """What was seen in a file: its recipe, what is not sure, and the first ratings.

    Parameters
    ----------
    name : str
        Name of the file.
    recipe : dict
        How to read it, as `read` takes it.
    contents : list of str
        What stands in the file.
    to_check : list of str
        What was assumed, and what is not understood.
    sample : pandas.DataFrame
        Ten ratings as understood; none if there are problems.
    seen_ends : dict
        Lowest and highest mark that was given, of outcome and aspects whose scale is
        not known: a guess.
    given : mapping
        What was known before.
    other_sheets : list of str
        Sheets of an Excel file that were not looked at.
    """

    name: str
    recipe: dict = field(default_factory=dict)
    contents: list[str] = field(default_factory=list)
    to_check: list[str] = field(default_factory=list)
    sample: pd.DataFrame = field(default_factory=pd.DataFrame)
    seen_ends: dict[str, list[str]] = field(default_factory=dict)
    given: Mapping = field(default_factory=dict)
    other_sheets: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        size, *others = self.contents
        lines = [f"{self.name}: {size}"]
        lines += [f"  {line}" for line in others]
        if self.to_check:
            lines += ["", "Please check:"]
            lines += [f"  - {line}" for line in self.to_check]
        if len(self.sample):
            shown = self.sample.iloc[:, :MOST_SHOWN]
            shown.columns = [name[:LONGEST_SHOWN] for name in shown.columns]
            lines += ["", "Ten ratings as understood:"]
            lines.append(shown.to_string(max_colwidth=LONGEST_SHOWN))
        return "\n".join(lines)


def inspect(file: str | Path, recipe: Mapping | None = None) -> Inspection:
    """Look at a file and propose how to read it.

    Parameters
    ----------
    file : str or pathlib.Path
        A file of any format that `ratings.formats` knows.
    recipe : mapping, optional
        What is known already; only the rest is proposed.

    Returns
    -------
    Inspection
        Printed, it says what was seen and what was assumed.

    Raises
    ------
    tables.BadTableError
        If the file cannot be read at all.

    Examples
    --------
    >>> proposal = inspect("data/example/ratings.csv").recipe
    >>> proposal["outcome"], proposal["rater"], proposal["cluster"]
    ('overall', ['rater_id'], ['prompt_id'])
    """
    given = dict(recipe or {})
    known = dict(given)
    reading = dict(known.get("file", {}))
    to_check = []
    if "skip" not in known:
        _skip_above(file, reading, known, to_check)
    skip = known.get("skip", ())
    try:
        name, raw, repeated = _all_cells(file, reading, skip)
    except BadTableError as error:
        if "not UTF-8" not in str(error):
            raise
        reading["encoding"] = "cp1252"
        to_check.append(ASSUMPTIONS["cp1252"])
        name, raw, repeated = _all_cells(file, reading, skip)
    if raw.empty:
        raise bad_table(name, ["there are no rows"])
    if reading:
        known["file"] = reading
    seen = Inspection(name, known, to_check=to_check, given=given)
    seen.contents.append(f"{len(raw):,} rows, {raw.shape[1]:,} columns")
    if repeated:
        names = ", ".join(map(cell, repeated))
        seen.to_check.append(ASSUMPTIONS["repeated"].format(names))
    seen.other_sheets = other_sheets(file, reading)
    if seen.other_sheets:
        names = ", ".join(map(cell, seen.other_sheets))
        seen.to_check.append(ASSUMPTIONS["sheets"].format(names))
    if "skip" in given:
        is_skipped = raw.index.map(str).isin(given["skip"])
        raw = raw[~is_skipped]
    else:
        raw = _without_second_header(raw, seen)
    try:
        _propose(raw, seen)
        _try_out(file, seen)
    except PlainError as error:
        seen.to_check.append(f"not yet understood: {error}")
        if not _values(seen.recipe) and "long" not in seen.recipe:
            names = ", ".join(map(cell, list(raw)[:MOST_SHOWN]))
            seen.to_check.append(ASSUMPTIONS["no marks"].format(names))
    for key in ("outcome", "aspects", *ROLES, "long", "names", "lists", "count", "sum"):
        if key in seen.recipe:
            seen.contents.append(f"{key:<10} {_on_one_line(seen.recipe[key])}")
    return seen


def _skip_above(
    file: str | Path, reading: dict, known: dict, to_check: list[str]
) -> None:
    """Skip a title above the names of columns, and say so."""
    above = above_header(file, reading)
    if above is None:
        return
    known["skip"] = [str(number) for number in above.rows]
    if above.delimiter:
        reading["delimiter"] = above.delimiter
    texts = ", ".join(f"row {n} {cell(text)}" for n, text in above.rows.items())
    to_check.append(ASSUMPTIONS["above"].format(texts, above.header))


def _propose(raw: pd.DataFrame, seen: Inspection) -> None:
    """Complete a recipe step by step, each on the table that the last one made."""
    has_shape = any(key in seen.recipe for key in ("names", "lists", "long", "count"))
    if not has_shape:
        if not _take_recipe_of_tool(raw, seen):
            _propose_shape(_without_missing(raw, seen.recipe), seen)
        elif "aspects" in seen.recipe:  # it says all; other columns take memory
            raw = raw[columns_to_load(seen.recipe, list(raw))]
    counted = seen.recipe.get("count")
    is_given = counted in raw and counted not in seen.recipe.get("lists", {})
    if is_given and _kind(raw[counted]) == "lists":
        seen.to_check.append(ASSUMPTIONS["count of lists"].format(counted))
    if is_simulated(raw):
        raw = raw.drop(columns="source")
    raw = _without_repeated_cells(raw, seen)
    long = to_long(raw, seen.recipe)
    _propose_roles(long, seen)
    wide = to_wide(long, seen.recipe)
    _propose_values(wide, seen)


def _without_missing(table: pd.DataFrame, recipe: Mapping) -> pd.DataFrame:
    """Empty the cells that a recipe takes for missing, save in columns of lists."""
    if "missing" not in recipe:
        return table
    codes = {"missing": recipe["missing"]}
    cells = {}
    for name, column in table.items():
        is_list = column.map(_is_list).any()
        cells[name] = column if is_list else marked(column, codes)
    return table.assign(**cells)


def _without_repeated_cells(raw: pd.DataFrame, seen: Inspection) -> pd.DataFrame:
    """Take of a wide file what tells something, if rows become many times as many.

    Columns that stand beside those of a pattern, or beside lists, are repeated in each
    row that is made of them. Where that would fill the memory, only those are kept
    whose names say what part they play.
    """
    recipe = seen.recipe
    n_made = 1
    if "names" in recipe:
        made = [name for name in raw if re.fullmatch(recipe["names"], str(name))]
        n_made = len(made)
    needed = columns_to_load(recipe, [str(name) for name in raw])
    for column in recipe.get("lists", {}):
        if column in raw:
            lengths = raw[column][:LISTS_LOOKED_AT].map(as_list).map(len)
            n_made = n_made * max(1, int(lengths.mean()))
    others = [name for name in raw if str(name) not in needed]
    if len(raw) * n_made * len(others) <= MOST_REPEATED:
        return raw
    roles = [NAMES[role] for role in ("rater", "cluster", "system", "item")]
    words = " ".join([*roles, NAMES["covariate"], NAMES["outcome"]])
    passed = [name for name in others if not _place(str(name), words)]
    seen.to_check.append(ASSUMPTIONS["wide"].format(f"{len(passed):,}"))
    return raw.drop(columns=passed)


def _without_second_header(raw: pd.DataFrame, seen: Inspection) -> pd.DataFrame:
    """Skip first rows that hold words in columns of numbers, and say so."""
    for n_headers in range(MOST_HEADERS, 0, -1):
        if not _are_headers(raw.iloc[:n_headers], raw.iloc[n_headers:LOOKED_AT]):
            continue
        skipped = [str(row) for row in raw.index[:n_headers]]
        seen.recipe["skip"] = [*seen.recipe.get("skip", []), *skipped]
        rows = ", ".join(f"{raw.index.name} {row}" for row in skipped)
        seen.to_check.append(ASSUMPTIONS["headers"].format(rows))
        return raw.iloc[n_headers:]
    return raw


def _are_headers(first: pd.DataFrame, others: pd.DataFrame) -> bool:
    """Tell whether rows hold words wherever all rows below them hold numbers."""
    if len(others) < FEWEST_BELOW:
        return False
    n_columns = 0
    for name in others:
        if _kind(others[name]) != "numbers":
            continue
        texts = first[name].map(cell_text)
        is_header = [text and not _is_mark(text) for text in texts]
        if not all(is_header):
            return False
        n_columns += 1
    return n_columns > 0


def _is_mark(text: str) -> bool:
    """Tell whether a cell could be a mark, or say that there is none."""
    return bool(_NUMBER.fullmatch(text)) or _stands_for_nothing(text)


def _try_out(file: str | Path, seen: Inspection) -> None:
    """Read the file by the recipe that was proposed, and show what comes out."""
    account = Account()
    ratings = read(file, seen.recipe, account)
    first, *others = account.steps
    if first.where:
        seen.contents.append(f"passed over as {first.where}")
    for step in others:
        if step.change == 0:
            seen.to_check.append(step.step)
        if step.where:
            seen.contents.append(
                f"left out: {-step.change:,} ({step.step}; {step.where})"
            )
    sample = ratings.head(SAMPLE)
    seen.sample = sample.drop(columns=["source", "position"], errors="ignore")
    n_items = ratings["item_id"].nunique()
    size = f"{len(ratings):,} ratings of {n_items:,} items"
    seen.contents.append(f"understood as {size}")


def recipe_for(
    file: str | Path,
    recipe_file: str = "",
    outcome: str | None = None,
    aspects: Sequence[str] = (),
) -> Inspection:
    """Find out how to read a file: as a recipe says, or else as proposed.

    Parameters
    ----------
    file : str or pathlib.Path
        Ratings.
    recipe_file : str, optional
        A recipe; without one, or if it counts errors and does not name them, `inspect`
        proposes what it leaves open.
    outcome : str, optional
        Column to explain, in place of that of the recipe.
    aspects : sequence of str, optional
        Columns that may explain it, in place of those of the recipe.

    Returns
    -------
    Inspection
        Without ``contents`` if the recipe says all.

    Examples
    --------
    >>> recipe_for("data/example/ratings.csv", outcome="tone").recipe["outcome"]
    'tone'
    """
    recipe = from_yaml(recipe_file) if recipe_file else {}
    named = parse({"outcome": outcome, "aspects": list(aspects)})
    if named:
        recipe = _for_values(recipe | named)
    names_aspects = "aspects" in recipe or "count" not in recipe
    if recipe_file and names_aspects:
        return Inspection(Path(file).name, recipe)
    return inspect(file, recipe)


def doubts(file: str | Path, ratings: pd.DataFrame, recipe: Mapping) -> list[str]:
    """Tell what a page by this recipe may get wrong, whoever wrote the recipe.

    Parameters
    ----------
    file : str or pathlib.Path
        The file of the ratings.
    ratings : pandas.DataFrame
        From `ratings.recipes.read`.
    recipe : mapping
        The recipe by which they were read.

    Returns
    -------
    list of str
        Columns that look like one mark by several raters but are taken as they are
        named; rows that count as items although several people rated.

    Examples
    --------
    >>> recipe = {"outcome": "overall", "aspects": ["tone"], "rater": ["rater_id"]}
    >>> table = read("data/example/ratings.csv", recipe)
    >>> doubts("data/example/ratings.csv", table, recipe)[0][:28]
    'the recipe names no item: ea'
    """
    lines = []
    values = [name for name in _values(recipe) if name in ratings]
    names_people = any(key in recipe for key in ("rater", "position", "names"))
    if not names_people:
        with opened(file, recipe.get("file", {}), recipe.get("skip", ())) as found:
            _, names, _ = found
        pattern = _pattern_of_raters(ratings[values], names)
        named = [name for name in values if re.fullmatch(pattern, name)]
        if named:
            words = ", ".join(named[:MOST_SHOWN])
            lines.append(ASSUMPTIONS["recipe without raters"].format(words, pattern))
    n_raters = ratings["rater_id"].nunique() if "rater_id" in ratings else 0
    if "item" not in recipe and n_raters > 1:
        lines.append(ASSUMPTIONS["recipe without item"])
    return lines


def _pattern_of_raters(marks: pd.DataFrame, names: Sequence[str]) -> str:
    """Find the pattern of columns that look like one mark by several raters, or none.

    ``names`` are those of all columns of the file.
    """
    for family in GUESSES["families"]:
        if "rater" in family and _fits(family, list(marks)):
            return family
    tagged = _raters_in_names(marks, list(marks), names)
    if tagged is None or tagged.are_answers:
        return ""
    return tagged.pattern


def _for_values(recipe: dict) -> dict:
    """Leave out scales of columns that are no longer outcome or aspect."""
    values = _values(recipe)
    if "aspects" not in recipe or "scales" not in recipe:
        return recipe
    kept = {name: ends for name, ends in recipe["scales"].items() if name in values}
    others = {key: value for key, value in recipe.items() if key != "scales"}
    return {**others, "scales": kept} if kept else others


def _on_one_line(value: object) -> str:
    """Write a value of a recipe on one line."""
    text = ", ".join(value) if isinstance(value, list) else str(value)
    if len(text) <= LONGEST_LINE:
        return text
    return f"{text[:LONGEST_LINE]}…"


def _all_cells(
    file: str | Path, reading: Mapping, skip: Collection[str]
) -> tuple[str, pd.DataFrame, list[str]]:
    """Load the columns of a file that have a name of their own; name the others."""
    with opened(file, reading, skip) as (name, names, load):
        counts = collections.Counter(names)
        once = [each for each, count in counts.items() if count == 1]
        repeated = [each for each, count in counts.items() if each and count > 1]
        table, _ = load(once)
    return name, table, repeated


@functools.cache
def _recipes_of_tools() -> dict[str, dict]:
    """Load the recipes that come with the project."""
    files = sorted((paths.DATA / "recipes").glob("*.yaml"))
    return {file.name: from_yaml(file) for file in files}


def _take_recipe_of_tool(raw: pd.DataFrame, seen: Inspection) -> bool:
    """Take the recipe of a tool if the file has the columns of its export."""
    columns = [str(name) for name in raw.columns]
    for name, recipe in _recipes_of_tools().items():
        patterns = recipe.get("when", [])
        if not patterns:
            continue
        has_columns = all(fnmatch.filter(columns, pattern) for pattern in patterns)
        if has_columns and _within_scales(raw, recipe):
            seen.to_check.append(f"read as {recipe['about']} (data/recipes/{name})")
            rest = {key: recipe[key] for key in recipe if key not in ("when", "about")}
            seen.recipe = rest | seen.recipe
            return True
    return False


def _within_scales(raw: pd.DataFrame, recipe: Mapping) -> bool:
    """Tell whether no number lies off a scale: some exports have the same columns."""
    before = {short: long for long, short in recipe.get("call", {}).items()}
    for name, (low, high) in scales(recipe).items():
        column = raw.get(before.get(name, name))
        if column is None:
            continue
        numbers = pd.to_numeric(column, errors="coerce").dropna()
        if not numbers.between(low, high).all():
            return False
    return True


def _propose_shape(raw: pd.DataFrame, seen: Inspection) -> None:
    """Find ratings in the names of columns and in lists."""
    columns = [str(name) for name in raw]
    if len(raw) == 1 and len(columns) > FEW_WORDS:  # an object for each rater
        pattern = r"(?P<rater>[^.]+)\.(?P<item>.+)"
        if all("__" in name for name in columns):
            pattern += "__(?P<aspect>[^_.]+)"
        seen.recipe["names"] = pattern
        seen.to_check.append(ASSUMPTIONS["objects"])
        return
    usable = []
    for name in columns:
        if not _place(name, NAMES["not rated"]) and _kind(raw[name]) != "text":
            usable.append(name)
    raw = _propose_names(raw, usable, seen)
    _propose_lists(raw, seen)


def _propose_names(
    raw: pd.DataFrame, usable: Sequence[str], seen: Inspection
) -> pd.DataFrame:
    """Find raters and aspects in names of columns; give the cells that are ratings."""
    for family in GUESSES["families"]:
        if _fits(family, usable):
            tagged = None
            break
    else:
        tagged = _raters_in_names(raw, usable)
        if tagged is None:
            return raw
        family = tagged.pattern
    values = _values(seen.recipe)
    named = [name for name in values if re.fullmatch(family, name)]
    if named:
        line = ASSUMPTIONS["named as they are"].format(", ".join(named), family)
        seen.to_check.append(line)
        return raw
    if tagged is not None:
        seen.to_check.append(tagged.told)
        if not tagged.is_sure:
            return raw
    seen.recipe["names"] = family
    if tagged is not None and not tagged.has_numbers:
        seen.recipe["rater"] = ["rater"]
    elif "rater" in family:
        seen.recipe["position"] = ["rater"]
        if tagged is None:
            seen.to_check.append(ASSUMPTIONS["columns"])
    return to_long(raw, {"names": family})[["score"]]


def _fits(family: str, names: Sequence[str]) -> bool:
    """Tell whether names are a family: the same two numbers or more for each aspect."""
    matches = [re.fullmatch(family, name) for name in names]
    aspects = [match.groupdict().get("aspect") for match in matches if match]
    if "rater" not in family:
        # Lists of single marks are told by one column; other marks need two.
        fewest = 1 if "individual" in family else 2
        return len(aspects) >= fewest
    counts = collections.Counter(aspects)
    all_alike = len(set(counts.values())) == 1
    if not all_alike or max(counts.values()) < 2:
        return False
    names_raters = "(?i:" in family  # as in rater_1
    return len(counts) > 1 or names_raters


@dataclass
class _Tagged:
    """Columns whose names are those of marks, each with the same short additions."""

    stems: list[str]
    tags: list[str]
    pattern: str
    gap: str
    end: str
    told: str = ""
    is_sure: bool = True
    are_answers: bool = False

    @property
    def has_numbers(self) -> bool:
        """Whether the additions are numbered, as R1 and R2."""
        return all(tag[-1].isdigit() for tag in self.tags)


def _raters_in_names(
    raw: pd.DataFrame, usable: Sequence[str], names: Sequence[str] = ()
) -> _Tagged | None:
    """Find columns such as tone_A and tone_B, or tone (R1) and tone (R2).

    Where tags may stand for something else than raters, they are told, not proposed.
    ``names`` are those of all columns of the file, if ``raw`` has only some.
    """
    names = names or [str(name) for name in raw]
    for are_tags, line in (
        (_are_raters, "raters in names"),
        (_may_be_raters, "tags in names"),
    ):
        for form in TAGS["forms"]:
            for found in _tagged(form, usable, are_tags):
                if not _are_one_mark(raw, found):
                    continue
                if _are_answers(form, found, names):
                    line = "answers in names"
                    found.are_answers = True
                elif line == "tags in names" and _are_aspects(form, found):
                    found, is_of_ratings = _turned(found)
                    if is_of_ratings:
                        line = "raters in names"
                elif line == "tags in names" and _are_people(form, found):
                    line = "raters in names"
                found.is_sure = line == "raters in names"
                found.told = ASSUMPTIONS[line].format(
                    ", ".join(found.stems[:MOST_SHOWN]),
                    ", ".join(found.tags[:MOST_SHOWN]),
                    found.pattern,
                    ASSUMPTIONS["places"] if found.has_numbers else "",
                )
                return found
    return None


def _tagged(
    form: str,
    names: Sequence[str],
    are_tags: Callable[[Sequence[str], Sequence[str]], bool],
) -> Iterator[_Tagged]:
    """Take names apart into stems and tags, the same tags for each stem."""
    parts = {}  # by what stands between and after: the tags of each stem
    for name in names:
        match = re.fullmatch(form, name)
        if match:
            around = match["gap"], match.groupdict().get("end", "")
            tags = parts.setdefault(around, {}).setdefault(match["stem"], [])
            tags.append(match["tag"])
    for (gap, end), tags_of in parts.items():
        stems_of = {}
        for stem, tags in tags_of.items():
            stems_of.setdefault(tuple(sorted(tags)), []).append(stem)
        for tags, stems in stems_of.items():
            if len(tags) > 1 and are_tags(tags, stems):
                stem = _one_of("aspect", stems)
                tag = _one_of("rater", tags)
                tag_is_first = form.index("<tag>") < form.index("<stem>")
                first, last = (tag, stem) if tag_is_first else (stem, tag)
                pattern = f"{first}{_escaped(gap)}{last}{_escaped(end)}"
                yield _Tagged(stems, list(tags), pattern, gap, end)


def _are_raters(tags: Sequence[str], stems: Sequence[str]) -> bool:
    """Tell whether tags are those of raters: A, B, C … or R1, R2 … or rater words."""
    letters = "".join(tags).lower()
    if len(letters) == len(tags) and ALPHABET.startswith(letters):
        return True
    for pattern in TAGS["raters"]:
        matches = [re.fullmatch(pattern, tag) for tag in tags]
        if all(matches):
            return len({match["word"].lower() for match in matches}) == 1
    are_initials = all(re.fullmatch(TAGS["initials"], tag) for tag in tags)
    are_systems = any(tag.lower() in TAGS["systems"].split() for tag in tags)
    has_outcome = any(_place(stem, NAMES["outcome"]) for stem in stems)
    return are_initials and has_outcome and not are_systems and len(stems) > 1


def _may_be_raters(tags: Sequence[str], stems: Sequence[str]) -> bool:
    """Tell whether tags could be those of raters: numbers, or words that recur."""
    are_numbers = all(tag.isdecimal() for tag in tags)
    are_words = all(re.fullmatch(TAGS["word"], tag) for tag in tags)
    return are_numbers or (are_words and len(stems) > 1)


def _are_aspects(form: str, found: _Tagged) -> bool:
    """Tell whether tags at the end are aspects, so that the stems may be raters."""
    is_outcome = [bool(_place(tag, NAMES["outcome"])) for tag in found.tags]
    of_stems = [bool(_place(stem, NAMES["outcome"])) for stem in found.stems]
    tag_is_last = form.index("<stem>") < form.index("<tag>")
    return tag_is_last and any(is_outcome) and not any(of_stems)


def _are_people(form: str, found: _Tagged) -> bool:
    """Tell whether tags at the end may be names of people, as in tone_Anna.

    One of the marks is an overall one, so that the tags are no aspects of it.
    """
    no_people = f"{TAGS['no person']} {TAGS['systems']} {TAGS['answers']}".split()
    tag_is_last = form.index("<stem>") < form.index("<tag>")
    has_outcome = any(_place(stem, NAMES["outcome"]) for stem in found.stems)
    for tag in found.tags:
        is_name = re.fullmatch(TAGS["person"], tag)
        if not is_name or tag.casefold() in no_people or _place(tag, NAMES["system"]):
            return False
    return tag_is_last and has_outcome and len(found.stems) > 1


def _turned(found: _Tagged) -> tuple[_Tagged, bool]:
    """Take stems for raters and tags for aspects.

    In JSON they may stand in an object that says so, as in ratings.anna.tone.
    """
    parents = {stem.rpartition(".")[0] for stem in found.stems}
    parent = parents.pop() if len(parents) == 1 else ""
    is_of_ratings = parent.rpartition(".")[2] in TAGS["parents"].split()
    start = f"{parent}." if parent else ""
    people = [stem.removeprefix(start) for stem in found.stems]
    pattern = _escaped(start) + _one_of("rater", people) + _escaped(found.gap)
    pattern += _one_of("aspect", found.tags) + _escaped(found.end)
    turned = _Tagged(found.tags, people, pattern, found.gap, found.end)
    return turned, is_of_ratings


def _one_of(group: str, texts: Sequence[str]) -> str:
    """Write a named group that fits each of some texts."""
    return f"(?P<{group}>{'|'.join(map(_escaped, texts))})"


def _escaped(text: str) -> str:
    """Write a text as a pattern that fits it alone."""
    return regex.escape(text, special_only=True, literal_spaces=True)


def _are_one_mark(raw: pd.DataFrame, found: _Tagged) -> bool:
    """Tell whether the columns of each stem hold the same kind of marks."""
    columns_of = {}
    for name in raw:
        match = re.fullmatch(found.pattern, str(name))
        if match:
            columns_of.setdefault(match["aspect"], []).append(raw[name])
    for columns in columns_of.values():
        kinds = {_kind(column) for column in columns}
        if len(kinds) > 1 or kinds & {"nothing", "lists", "text"}:
            return False
        if kinds == {"numbers"} and not _have_like_ranges(columns):
            return False
    return True


def _have_like_ranges(columns: Sequence[pd.Series]) -> bool:
    """Tell whether numbers in columns are spread alike, as those on one scale."""
    lengths = []
    lows = []
    highs = []
    for column in columns:
        numbers = pd.to_numeric(column, errors="coerce").dropna()
        lows.append(numbers.min())
        highs.append(numbers.max())
        length = numbers.max() - numbers.min()
        if length > 0:
            lengths.append(length)
    return not lengths or max(highs) - min(lows) <= MOST_UNLIKE * min(lengths)


def _are_answers(form: str, found: _Tagged, names: Sequence[str]) -> bool:
    """Tell whether tags seem to stand for answers that are compared, not for raters."""
    words = f"{NAMES['system']} {NAMES['item']} {TAGS['answers']}"
    tags_of = {}
    for name in names:
        match = re.fullmatch(form, name)
        if match and _place(match["stem"], words):
            tags_of.setdefault(match["stem"], set()).add(match["tag"])
    if any(set(found.tags) <= tags for tags in tags_of.values()):
        return True
    has_choice = any(_place(name, NAMES["choice"]) for name in names)
    return has_choice and len(found.tags) == 2


def _propose_lists(raw: pd.DataFrame, seen: Inspection) -> None:
    """Find the lists that hold ratings."""
    lists = {}
    for name in raw:
        if _kind(raw[name]) == "lists":
            lists[str(name)] = _kind_of_elements(raw[name])
    people = _lists_of_people(lists)
    of_marks = []
    of_objects = []
    for name, kind in lists.items():
        if kind == "objects":
            of_objects.append(name)
        elif kind == "words" and name not in people and _are_labels(raw[name]):
            seen.to_check.append(ASSUMPTIONS["labels"].format(name))
        elif kind != "text" and kind != "nothing" and name not in people:
            of_marks.append(name)
    chosen = of_marks[:1] or of_objects[:1]
    if len(of_marks) > 1 and _have_one_length(raw, of_marks):
        chosen = of_marks
    person = None
    for name in people:
        beside = [each for each in of_marks if _have_one_length(raw, [name, each])]
        if beside:
            person = name
            chosen = [name, *beside]
            break
    if not chosen:
        return
    seen.recipe["lists"] = dict.fromkeys(chosen, "position")
    if chosen == of_objects[:1]:
        person = _person_in_objects(raw[chosen[0]], chosen[0])
    if person is None:
        seen.recipe["position"] = ["position"]
        seen.to_check.append(ASSUMPTIONS["lists"].format(", ".join(chosen)))
    else:
        seen.recipe.setdefault("rater", [person])
        seen.to_check.append(ASSUMPTIONS["people"].format(person))
    others = [name for name in lists if name not in chosen]
    if others:
        names = ", ".join(others)
        seen.to_check.append(f"there are other lists, not used: {names}")


def _lists_of_people(lists: Mapping[str, str]) -> list[str]:
    """Name the lists whose names are those of raters, such as annotators."""
    people = []
    for name, kind in lists.items():
        is_person = _place(name, NAMES["rater"])
        is_person = is_person or _place(name.removesuffix("s"), NAMES["rater"])
        if is_person and kind != "objects":
            people.append(name)
    return people


def _have_one_length(raw: pd.DataFrame, columns: list[str]) -> bool:
    """Tell whether the lists in some columns are of one length in each row."""
    return not any_row_differs(raw[columns].map(as_list).map(len))


def _person_in_objects(column: pd.Series, name: str) -> str | None:
    """Find the part of the objects in lists that says whose they are."""
    elements = column[:LISTS_LOOKED_AT].map(as_list).explode()
    objects = [element for element in elements if isinstance(element, dict)]
    parts = pd.json_normalize(objects)
    places = {}
    for part in map(str, parts):
        two_words = "_".join(part.split(".")[-2:])  # as in annotator.id
        place = _place(two_words, NAMES["rater"])
        if place and (parts[part].map(cell_text) != "").all():
            places[part] = place
    best = min(places, key=places.get, default=None)
    return None if best is None else f"{name}.{best}"


def _are_labels(column: pd.Series) -> bool:
    """Tell whether the words in lists have no known order."""
    elements = column[:LISTS_LOOKED_AT].map(as_list).explode()
    return _word_scale(_distinct_texts(elements)) is None


def _kind_of_elements(column: pd.Series) -> str:
    """Tell what the elements of the lists in a column are."""
    elements = column[:LISTS_LOOKED_AT].map(as_list).explode()
    are_objects = elements.map(lambda element: isinstance(element, dict))
    return "objects" if are_objects.any() else _kind(elements)


def _place(name: str, words: str) -> int:
    """Tell how early in a list of words a word of a name stands; 0 if none does."""
    last = name if " " in name else name.rpartition(".")[2]
    with_spaces = re.sub(r"([a-z])([A-Z])", r"\1 \2", last)  # camelCase
    parts = {*re.split(r"[^a-z0-9]+", with_spaces.lower()), name.lower()}
    for place, word in enumerate(words.split(), start=1):
        if word in parts:
            return place
    return 0


def _best(role: str, columns: Sequence[str]) -> str | None:
    """Choose the column whose name is most like a role."""
    places = {name: _place(name, NAMES[role]) for name in columns}
    fitting = [name for name in columns if places[name]]
    return min(fitting, key=places.get, default=None)


def _kind(column: pd.Series) -> str:
    """Tell what a column holds: nothing, lists, numbers, graded, words or text.

    Cells are graded if they begin with a number, as in 4 - Good. A few words among
    numbers leave a column one of numbers.
    """
    texts = _distinct_texts(column[:LOOKED_AT])
    if not texts:
        return "nothing"
    if column[:100].map(_is_list).any():
        return "lists"
    in_brackets = [text for text in texts if text[0] in "[" and text[-1] == "]"]
    if len(in_brackets) > len(texts) / 2:
        return "lists"
    marks = [text for text in texts if not _stands_for_nothing(text)]
    if all(_NUMBER.fullmatch(text) for text in marks):
        return "numbers"
    if all(_is_graded(text) for text in marks):
        return "graded"
    n_odd = sum(not _NUMBER.fullmatch(text) for text in marks)
    if n_odd <= MOST_ODD and len(_odd_words(column)):
        return "numbers"
    if len(marks) <= FEW_WORDS and max(map(len, marks)) < LONGEST_WORD:
        return "words"
    return "text"


def _odd_words(column: pd.Series) -> pd.Series:
    """Find the few short words in a column whose cells are mostly numbers."""
    texts = column[:LOOKED_AT].map(cell_text)
    counts = texts[texts != ""].value_counts()
    is_mark = np.array([_is_mark(text) for text in counts.index], dtype=bool)
    odd = counts.index[~is_mark]
    n_numbers = counts[is_mark].sum()
    are_few = len(odd) <= MOST_ODD and n_numbers >= MOSTLY * counts.sum()
    are_short = all(len(text) < LONGEST_WORD for text in odd)
    have_repeats = is_mark.sum() < n_numbers  # else these may be names of items
    if not (are_few and are_short and have_repeats):
        odd = odd[:0]
    return texts[texts.isin(odd)]


def _distinct_texts(column: pd.Series) -> list[str]:
    """List the distinct cells of a column as text, without those that are empty."""
    return [text for text in column.map(cell_text).unique() if text]


def _is_list(value: object) -> bool:
    """Tell whether a cell holds a list."""
    return isinstance(value, list | np.ndarray)


def _stands_for_nothing(text: str) -> bool:
    """Tell whether a cell says in words that there is no mark."""
    folded = text.casefold()
    return folded in (*parsing.NOTHING, *NO_MARKS) or folded.startswith("n/a")


def _is_graded(text: str) -> bool:
    """Tell whether a cell is short and begins with a number."""
    return bool(LEADING.fullmatch(text)) and len(text) < LONGEST_GRADE


def _propose_roles(table: pd.DataFrame, seen: Inspection) -> None:
    """Find out which columns say who rated what."""
    recipe = seen.recipe
    names = [str(name) for name in table]
    counts = {name: table[name].map(cell_text).nunique() for name in names}
    # A column that never varies tells nothing, save where a pattern made it.
    names = [name for name in names if counts[name] > 1 or name in ("rater", "item")]
    names = [name for name in names if not _asks_for_mark(name, table[name])]
    names = [name for name in names if not _place(_last_word(name), NAMES["outcome"])]
    _propose_long(table, counts, names, recipe)
    in_long = recipe.get("long", {}).values()
    names = [name for name in names if name not in in_long]
    whole = [name for name in names if (table[name].map(cell_text) != "").all()]
    repeated = [name for name in whole if counts[name] < len(table)]
    rater = None
    if "rater" not in recipe and "position" not in recipe:
        rater = _best("rater", repeated)
    cluster = _best("cluster", repeated)
    no_lists = [name for name in names if _kind(table[name]) != "lists"]
    system = _best("system", no_lists)
    taken = [rater, cluster, *columns_used(recipe)]
    if system in repeated:  # it wrote many texts, and is none itself
        taken.append(system)
    may_be_item = []
    for name in whole:
        is_taken = name in taken or _place(name, NAMES["not rated"])
        if not is_taken:
            may_be_item.append(name)
    item = _best("item", may_be_item)
    item = _with_system(table, item, cluster, system)
    roles = {"rater": rater, "cluster": cluster, "item": item}
    is_free = system in repeated and system not in (rater, cluster, item)
    if is_free and not _place(system, NAMES["score"]):  # as model_score
        roles["system"] = system
    for role, name in roles.items():
        if role not in recipe and name is not None:
            recipe[role] = as_names(name)
    if "item" not in recipe:
        seen.to_check.append(ASSUMPTIONS["no item"])
    if "words" not in recipe:
        _propose_covariate(table, no_lists, seen)


def _propose_long(
    table: pd.DataFrame, counts: Mapping[str, int], names: Sequence[str], recipe: dict
) -> None:
    """Find a column that names the aspect of each row, and one with its mark."""
    aspect = _best("aspect", names)
    score = _best("score", names)
    if "names" in recipe and "score" in table:
        score = "score"
    if "long" in recipe or "count" in recipe or not aspect or not score:
        return
    if counts[aspect] <= MOST_ASPECTS:
        recipe["long"] = {"aspect": aspect, "score": score}


def _with_system(
    table: pd.DataFrame, item: str | None, cluster: str | None, system: str | None
) -> str | list[str] | None:
    """Name an item by its system too, if it stands there with several of them."""
    same_input = item or cluster
    if not same_input or not system or same_input == system:
        return item
    texts = table[[same_input, system]].map(cell_text)
    n_systems = texts.groupby([same_input])[system].nunique()
    return [same_input, system] if n_systems.max() > 1 else item


def _propose_covariate(
    table: pd.DataFrame, names: Sequence[str], seen: Inspection
) -> None:
    """Find the first column of numbers whose name is that of a length or a time."""
    for name in names:
        if _place(name, NAMES["covariate"]) and _kind(table[name]) == "numbers":
            seen.recipe.setdefault("covariate", name)
            line = f"{name} is held constant in one step, since it may confound"
            seen.to_check.append(line)
            return


def _propose_values(table: pd.DataFrame, seen: Inspection) -> None:
    """Find the columns with marks, and what the marks mean."""
    recipe = seen.recipe
    is_called = "call" in recipe
    table = _with_short_names(_without_missing(table, recipe), recipe)
    kinds = _pass_over(table, _kinds_of_marks(table, recipe), seen)
    known = recipe.get("marks", {})
    flags = _propose_flags(table, kinds, seen)
    open_words = []
    for name, kind in kinds.items():
        if kind == "words" and name not in known and name not in flags:
            open_words.append(name)
    ordered = _propose_scales(table, open_words, seen)
    graded = [name for name, kind in kinds.items() if kind == "graded"]
    values = []
    for name, kind in kinds.items():
        has_order = name in ordered or name in known or name in flags
        if kind in ("numbers", "graded") or has_order:
            values.append(name)
    if graded:
        recipe["marks"] = dict.fromkeys(graded, "number") | recipe.get("marks", {})
        names = ", ".join(graded)
        seen.to_check.append(f"the number counts with which a cell begins: {names}")
    _propose_missing(table[values], seen)
    numeric = [name for name in values if kinds[name] == "numbers"]
    _ask_about_words(table[numeric], seen)
    _ask_about_ties(table, values, seen)
    texts = pd.unique(table[values].map(cell_text).to_numpy().ravel())
    if any(re.fullmatch(r"[+-]?\d+,\d+", text) for text in texts):
        recipe.setdefault("decimal", ",")
        seen.to_check.append("a comma in a number is taken as a decimal point")
    _propose_outcome(values, seen)
    _keep_only_values(seen)
    if "count" not in recipe:  # numbers of errors have no scale
        _propose_ends(table, seen)
    _rename_reserved(seen)
    if not is_called:
        _keep_short_names_in_use(recipe)


def _kinds_of_marks(table: pd.DataFrame, recipe: Mapping) -> dict[str, str]:
    """Tell what each column holds that plays no other part.

    Where outcome and aspects are named, only these are looked at; where only aspects
    are, the outcome may be any other column.
    """
    used = set(as_names(recipe.get("lists", {}).values()))
    for role in ROLES:
        used.update(as_names(recipe.get(role, [])))
    values = _values(recipe)
    are_all_named = "outcome" in recipe and "aspects" in recipe
    kinds = {}
    for name in table:
        may_be_mark = name not in used and not are_all_named
        if may_be_mark or name in values:
            kinds[str(name)] = _kind(table[name])
    return kinds


def _propose_flags(
    table: pd.DataFrame, kinds: Mapping[str, str], seen: Inspection
) -> list[str]:
    """Take an empty cell for "not marked" where all others have the same sign."""
    known = seen.recipe.get("marks", {})
    marks = {}
    for name, kind in kinds.items():
        if name in known or not _may_be_flag(name, kind):
            continue
        texts = table[name].map(cell_text)
        signs = {text.casefold() for text in texts.unique()}
        if len(signs) != 2 or "" not in signs:
            continue
        signs.remove("")
        sign = signs.pop()
        is_sign = kind == "words" or sign == "1"
        is_sign &= len(sign) <= LONGEST_SIGN or len(table) >= FEWEST_COUNTED
        says_no = sign in TAGS["no flag"] or _stands_for_nothing(sign)
        if is_sign and not says_no and (texts != "").sum() >= FEWEST_FLAGS:
            marks[name] = {sign: "1", "": "0"}
    if marks:
        seen.recipe["marks"] = marks | known
        seen.to_check.append(ASSUMPTIONS["flags"].format(", ".join(marks)))
    return list(marks)


def _may_be_flag(name: str, kind: str) -> bool:
    """Tell whether a column could hold flags: it is no comment."""
    return kind in ("words", "numbers") and not _place(name, TAGS["comments"])


def _keep_only_values(seen: Inspection) -> None:
    """Forget marks and scales proposed for what is neither outcome nor aspect."""
    recipe = seen.recipe
    values = _values(recipe)
    if "count" in recipe:  # kinds of error have marks before they are columns
        return
    for key in ("marks", "scales"):
        kept = {}
        for name, each in recipe.pop(key, {}).items():
            if name in values or name in seen.given.get(key, {}):
                kept[name] = each
        if kept:
            recipe[key] = kept


def _propose_ends(table: pd.DataFrame, seen: Inspection) -> None:
    """Take scales from names of columns, as in tone (1-5); tell what the others hold.

    A range of marks that were given is no scale: it goes into the recipe as a remark.
    """
    recipe = seen.recipe
    values = _values(recipe)
    from_names = {}
    for name in values:
        if name not in table or name in recipe.get("scales", {}):
            continue
        numbers = pd.to_numeric(marked(table[name], recipe), errors="coerce").dropna()
        if numbers.nunique() < 2 or set(numbers) == {0, 1}:
            continue
        told = _range_in(name)
        if told and numbers.between(*map(float, told)).all():
            from_names[name] = told
            continue
        ends = [f"{numbers.min():g}", f"{numbers.max():g}"]
        if told:
            words = (name, " to ".join(told), " to ".join(ends))
            seen.to_check.append(ASSUMPTIONS["beyond name"].format(*words))
        seen.seen_ends[name] = ends
    if from_names:
        recipe["scales"] = recipe.get("scales", {}) | from_names
        texts = [f"{name} {low} to {high}" for name, (low, high) in from_names.items()]
        seen.to_check.append(ASSUMPTIONS["ends in names"].format("; ".join(texts)))
    if seen.seen_ends:
        seen.to_check.append(ASSUMPTIONS["ends"].format(_ends_in_words(seen.seen_ends)))


def _ends_in_words(ends: Mapping[str, list[str]]) -> str:
    """Say from where to where columns go, those that are alike together."""
    names_of = {}
    for name, (low, high) in ends.items():
        names_of.setdefault(f"{low} to {high}", []).append(name)
    parts = []
    for each, names in names_of.items():
        shown = ", ".join(names[:MOST_SHOWN])
        more = len(names) - MOST_SHOWN
        parts.append(f"{each} ({shown}{f' and {more} more' if more > 0 else ''})")
    return "; ".join(parts)


def _range_in(name: str) -> list[str] | None:
    """Find a range of marks in the name of a column."""
    match = _RANGE.search(name)
    if match is None or float(match["low"]) >= float(match["high"]):
        return None
    return [match["low"], match["high"]]


def _values(recipe: Mapping) -> list[str]:
    """Name outcome and aspects."""
    return [*as_names(recipe.get("outcome", [])), *recipe.get("aspects", [])]


def _is_question(name: str) -> bool:
    """Tell whether the name of a column is a sentence, as in exports of forms."""
    return len(re.findall(r"\w+", name)) > LONGEST_NAME


def _asks_for_mark(name: str, column: pd.Series) -> bool:
    """Tell whether a name is a question that is answered by one of a few marks.

    The words in it, such as answer or expert, say nothing on its part.
    """
    if not _is_question(name):
        return False
    texts = _distinct_texts(column)
    kind = _kind(column)
    if kind in ("numbers", "graded"):
        return len(texts) <= FEW_WORDS
    return kind == "words" and _word_scale(texts) is not None


def _last_word(name: str) -> str:
    """Take the last word of a name, without single letters such as A and B."""
    words = re.findall(r"[^\W\d_]{2,}", name.lower())
    return words[-1] if words else ""


def _is_no_mark(name: str) -> bool:
    """Tell whether the name of a column is that of something that nobody rated."""
    if _is_question(name):
        return False
    last = _last_word(name)
    # the quality of a summary is a mark, but a summary is none
    tells_item = _place(name, NAMES["id"]) or _place(last, NAMES["item"])
    tells_person = last in NAMES["person"].split()
    return bool(_place(name, NAMES["not rated"]) or tells_item or tells_person)


def _pass_over(
    table: pd.DataFrame, kinds: dict[str, str], seen: Inspection
) -> dict[str, str]:
    """Leave out columns that are no marks by their names, and say which.

    Nor are numbers that count rows. Kinds of error that were counted all stay.
    """
    if "count" in seen.recipe:
        return kinds
    named = _values(seen.recipe)
    passed = []
    for name, kind in kinds.items():
        tells_nothing = kind == "numbers" and _counts_or_repeats(table[name], name)
        if name not in named and (tells_nothing or _is_no_mark(name)):
            passed.append(name)
    could_be = ("numbers", "graded", "words")
    told = [name for name in passed if kinds[name] in could_be]
    if told:
        seen.to_check.append(ASSUMPTIONS["passed over"].format(", ".join(told)))
    return {name: kind for name, kind in kinds.items() if name not in passed}


def _counts_or_repeats(column: pd.Series, name: str) -> bool:
    """Tell whether numbers are those of the rows, such as 0, 1, 2 …, or all the same.

    An outcome that never varies is told later.
    """
    n_distinct = len(column.unique())
    if n_distinct == 1:
        return not _place(name, NAMES["outcome"])
    if n_distinct < len(column) or n_distinct < FEWEST_COUNTED:
        return False
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(float)
    return bool((np.diff(np.sort(numbers)) == 1).all())


def _ask_about_ties(
    table: pd.DataFrame, names: Sequence[str], seen: Inspection
) -> None:
    """Ask whether 0 is a tie where 0, 1 and 2 may tell which of two is better."""
    for name in names:
        is_choice = _place(name, NAMES["choice"])
        if is_choice and set(_distinct_texts(table[name])) == {"0", "1", "2"}:
            seen.to_check.append(ASSUMPTIONS["tie"].format(name))


def _propose_outcome(values: Sequence[str], seen: Inspection) -> None:
    """Choose the column to explain; the others may explain it."""
    recipe = seen.recipe
    if "outcome" not in recipe and values:
        outcome = _best("outcome", values)
        if outcome is None and len(values) == 1:
            outcome = values[0]
        if outcome:  # a column without a name cannot be one
            recipe["outcome"] = outcome
        else:
            seen.to_check.append(ASSUMPTIONS["no outcome"])
    others = [name for name in values if name != recipe.get("outcome")]
    if others:
        recipe.setdefault("aspects", others)


def _rename_reserved(seen: Inspection) -> None:
    """Give marks another name if theirs stands for something else in ratings."""
    recipe = seen.recipe
    values = _values(recipe)
    called = dict(recipe.get("call", {}))
    before = {short: long for long, short in called.items()}
    new_names = {}
    for name in values:
        if name in parsing.RESERVED:
            new_names[name] = f"{name} (mark)"
            called[before.get(name, name)] = new_names[name]
    if not new_names:
        return
    recipe["call"] = called
    if "outcome" in recipe:
        outcome = recipe["outcome"]
        recipe["outcome"] = new_names.get(outcome, outcome)
    if "aspects" in recipe:
        aspects = recipe["aspects"]
        recipe["aspects"] = [new_names.get(name, name) for name in aspects]
    for key in ("marks", "scales"):
        if key in recipe:
            pairs = recipe[key].items()
            recipe[key] = {new_names.get(name, name): each for name, each in pairs}


def _propose_scales(
    table: pd.DataFrame, columns: Sequence[str], seen: Inspection
) -> set[str]:
    """Give words their places on a known scale, and name the columns that have one.

    Which end is taken as the lowest is listed for people to check.
    """
    marks = {}
    scales = {}
    ordered = set()
    columns_by_ends = {}
    columns_by_words = {}
    for name in columns:
        texts = _distinct_texts(table[name])
        scale = _word_scale(texts)
        if scale is None:
            words = ", ".join(map(cell, sorted(texts)))
            columns_by_words.setdefault(words, []).append(name)
            continue
        ordered.add(name)
        if not set(scale) <= set(parsing.WORDS):  # which are read as 1 and 0 anyway
            lowest = 0 if len(scale) == 2 else 1
            numbers = range(lowest, lowest + len(scale))
            marks[name] = {word: str(n) for word, n in zip(scale, numbers, strict=True)}
            if {scale[0], scale[-1]} <= _folded(texts):  # else the ends are a guess
                scales[name] = [str(numbers[0]), str(numbers[-1])]
            columns_by_ends.setdefault((scale[0], scale[-1]), []).append(name)
    for (lowest, highest), names in columns_by_ends.items():
        ends = f"{lowest!r} is taken as lowest, {highest!r} as highest"
        seen.to_check.append(f"{ends}: {', '.join(names)}")
    for words, names in columns_by_words.items():
        line = f"words without a known order, not used: {', '.join(names)}: {words}"
        line += "; to use them, give each a number in marks"
        seen.to_check.append(line)
    for key, proposed in (("marks", marks), ("scales", scales)):
        if proposed:
            seen.recipe[key] = proposed | seen.recipe.get(key, {})
    return ordered


def _word_scale(texts: Iterable[str]) -> list[str] | None:
    """Find the shortest known scale that has all these words."""
    words = _folded(text for text in texts if not _stands_for_nothing(text))
    fitting = [scale for scale in GUESSES["scales"] if words <= set(scale)]
    return min(fitting, key=len, default=None)


def _folded(texts: Iterable[str]) -> set[str]:
    """Write words as they are compared: in small letters, without a full stop."""
    return {text.casefold().rstrip(".") for text in texts}


def _with_short_names(table: pd.DataFrame, recipe: dict) -> pd.DataFrame:
    """Shorten names such as annotations.tone, if that leaves them different."""
    used = columns_used(recipe)
    last_parts = {}
    for name in map(str, table):
        last = name.rpartition(".")[2]
        if name not in used and "." in name and last and " " not in name:
            last_parts[name] = last
    counts = collections.Counter([*last_parts.values(), *table])
    short = {name: part for name, part in last_parts.items() if counts[part] == 1}
    if short and "call" not in recipe:
        recipe["call"] = short
    return table.rename(columns=recipe.get("call", {}))


def _keep_short_names_in_use(recipe: dict) -> None:
    """Forget the short names of columns that are neither outcome nor aspect."""
    values = [recipe.get("outcome"), *recipe.get("aspects", [])]
    names = recipe.pop("call", {})
    in_use = {long: short for long, short in names.items() if short in values}
    if in_use:
        recipe["call"] = in_use


def _propose_missing(table: pd.DataFrame, seen: Inspection) -> None:
    """Find words and numbers that seem to stand for a missing mark."""
    missing = []
    for name in table:
        texts = table[name].map(cell_text)
        missing += [text for text in texts.unique() if text.casefold() in NO_MARKS]
        if texts.str.casefold().str.startswith("n/a ").any():
            missing.append("N/A *")
        missing += [f"{code:g}" for code in _codes_for_nothing(texts)]
    if missing:
        missing = list(dict.fromkeys(missing))  # each once
        seen.recipe["missing"] = [*seen.recipe.get("missing", []), *missing]
        seen.to_check.append(f"taken as missing: {', '.join(missing)}")


def _ask_about_words(table: pd.DataFrame, seen: Inspection) -> None:
    """Tell of words in columns that are otherwise numbers."""
    for name in table:
        if name in seen.recipe.get("marks", {}):
            continue
        odd = _odd_words(table[name])
        if odd.empty:
            continue
        n_marks = int((table[name].map(cell_text) != "").sum())
        words = list(dict.fromkeys(odd))
        first = f"{odd.index.name} {odd.index[0]} {cell(odd.iloc[0])}"
        where = (
            f"{first} is" if len(odd) == 1 else f"{first} and {len(odd) - 1} more are"
        )
        counts = (n_marks - len(odd), n_marks)
        listed = as_yaml({"missing": words}).strip()
        seen.to_check.append(
            ASSUMPTIONS["odd words"].format(name, *counts, where, listed)
        )


def _codes_for_nothing(texts: pd.Series) -> np.ndarray:
    """Find numbers that are often codes, such as 99, and far from the other marks."""
    numbers = pd.to_numeric(texts, errors="coerce").dropna().to_numpy(float)
    marks = np.unique(numbers)
    is_code = np.isin(marks, CODES)
    usual = marks[~is_code]
    if len(usual) < 2:
        return usual[:0]
    low = usual[0]
    high = usual[-1]
    reach = max(2 * np.diff(usual).min(), (high - low) / 4)
    is_far = (marks <= low - reach) | (marks >= high + reach)
    return marks[is_far & is_code]
