"""A first look at a file of ratings: what each column is taken for, and what is open.

Names of columns and what stands in them lead to a proposal. Each doubt becomes a
question, whose answer sets keys of the recipe.
"""

import fnmatch
import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from helpers.data.tables import PlainError, bad_table, cell
from ratings import asking, columns, parsing
from ratings.accounts import Account
from ratings.formats import opened, other_sheets
from ratings.questions import open_questions
from ratings.recipes import (
    ROLES,
    SHIPPED,
    as_names,
    cell_text,
    columns_to_load,
    from_yaml,
    is_simulated,
    matching,
    name_pattern,
    parse,
    read,
    role_columns,
    scales,
    to_long,
    to_wide,
    values_of,
)

SAMPLE = 10  # ratings that are shown
MOST_SHOWN = 12  # columns of them, and names in a sentence
MOST_LISTED = 30  # columns of the file
LONGEST_SHOWN = 24  # characters of a name or a cell
MOST_ASPECTS = 60  # of a table with one row for each aspect
SHAPE = ("radio", "names", "lists", "long", "count")
NESTED = (
    "ratings seem to stand in lists or objects: write the file with one row for each "
    "rating, or say in a recipe how they become rows (`lists`, `names`)"
)
COMPARISON = (
    "{}: each row compares two answers, but ratings of single answers are analysed: "
    "write one row for each answer, with 1 as outcome if it was preferred and else 0; "
    "or name outcome and aspects, and the columns are taken as they are"
)


@dataclass
class Inspection:
    """What a file seems to hold: its recipe, the parts of its columns, a sample.

    Parameters
    ----------
    name : str
        Name of the file.
    recipe : dict
        How to read it, as `read` takes it, with the open questions.
    size : str
        How many rows there are, and ratings, as far as they are understood.
    parts : pandas.DataFrame
        For each column what it is taken for, and what it holds.
    notes : list of str
        What was done without a question.
    problem : str
        Why the file cannot be read yet; empty if it can.
    sample : pandas.DataFrame
        Ten ratings as understood; none if there is a problem.
    other_sheets : list of str
        Sheets of an Excel file that were not looked at.
    """

    name: str
    recipe: dict
    size: str = ""
    parts: pd.DataFrame = field(default_factory=pd.DataFrame)
    notes: list[str] = field(default_factory=list)
    problem: str = ""
    sample: pd.DataFrame = field(default_factory=pd.DataFrame)
    other_sheets: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.size}", ""]
        if len(self.sample):
            shown = self.sample.iloc[:, :MOST_SHOWN]
            shown.columns = [name[:LONGEST_SHOWN] for name in shown.columns]
            text = shown.to_string(max_colwidth=LONGEST_SHOWN, index_names=False)
            lines += [text, ""]
        if len(self.parts):
            lines += _in_columns(self.parts[:MOST_LISTED])
            if len(self.parts) > MOST_LISTED:
                lines.append(f"and {len(self.parts) - MOST_LISTED} more columns")
        if self.notes:
            lines += ["", *self.notes]
        asked = open_questions(self.recipe)
        if asked:
            lines += ["", "Open questions:"]
            lines += [f"{n}. {ask}" for n, ask in enumerate(asked, start=1)]
        if self.problem:
            lines += ["", f"The file cannot be read yet: {self.problem}"]
        return "\n".join(lines)


def inspect(file: str | Path, recipe: Mapping | None = None) -> Inspection:
    """Look at a file and propose how to read it.

    Parameters
    ----------
    file : str or pathlib.Path
        A file of any format that `ratings.formats` knows.
    recipe : mapping, optional
        What is known already; only the rest is proposed, and what it answers is not
        asked again.

    Returns
    -------
    Inspection
        Printed, it is one screen.

    Raises
    ------
    tables.BadTableError
        If the file cannot be read at all, or its shape is none that can be analysed.

    Examples
    --------
    >>> seen = inspect("data/example/ratings.csv")
    >>> seen.recipe["outcome"], seen.recipe["rater"], seen.recipe["cluster"]
    ('overall', ['rater_id'], ['prompt_id'])
    """
    known = parse(dict(recipe or {}))
    name, raw, repeated = _all_cells(file, known)
    seen = Inspection(
        name, known, other_sheets=other_sheets(file, known.get("file", {}))
    )
    seen.size = f"{len(raw):,} rows, {raw.shape[1]:,} columns"
    if repeated:
        names = ", ".join(map(cell, repeated))
        seen.notes.append(f"Several columns have one name and are not read: {names}.")
    if seen.other_sheets:
        names = ", ".join(map(cell, seen.other_sheets))
        seen.notes.append(
            f"Other sheets are not read (--sheet NAME reads one): {names}."
        )
    try:
        _propose(raw, seen)
        _try_out(file, seen)
    except PlainError as error:
        seen.problem = str(error)
    if seen.parts.empty:
        seen.parts = _parts(raw, raw, seen.recipe)
    return seen


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
        A recipe. If there is none, or it names no outcome and no aspects, `inspect`
        proposes what it leaves open, save for a folder of files.
    outcome : str, optional
        Column to explain, in place of that of the recipe.
    aspects : sequence of str, optional
        Columns that may explain it, in place of those of the recipe.

    Returns
    -------
    Inspection
        Without ``size`` if the recipe says all.

    Examples
    --------
    >>> recipe_for("data/example/ratings.csv", outcome="tone").recipe["outcome"]
    'tone'
    """
    recipe = from_yaml(recipe_file) if recipe_file else {}
    named = parse({"outcome": outcome, "aspects": list(aspects)})
    if named:
        recipe = recipe | named
        values = values_of(recipe)
        limits = recipe.get("scales", {})
        if "aspects" in recipe:
            recipe["scales"] = {each: limits[each] for each in limits if each in values}
        recipe = parse(recipe)
    if Path(file).is_dir() or (recipe_file and _names_values(recipe)):
        return Inspection(Path(file).name, recipe)
    return inspect(file, recipe)


def _all_cells(
    file: str | Path, recipe: Mapping
) -> tuple[str, pd.DataFrame, list[str]]:
    """Load the columns of a file that have a name of their own; name the others."""
    skip = recipe.get("skip", ())
    with opened(file, recipe.get("file", {}), skip) as (name, names, load):
        counts = Counter(names)
        once = [each for each, count in counts.items() if count == 1]
        table, _ = load(once)
    repeated = [each for each, count in counts.items() if each and count > 1]
    table = table[~table.index.map(str).isin(skip)].astype(object)
    if table.empty:
        raise bad_table(name, ["there are no rows"])
    return name, table, repeated


def _propose(raw: pd.DataFrame, seen: Inspection) -> None:
    """Complete a recipe: its shape, then roles, then outcome and aspects."""
    is_new = not _has_shape(seen.recipe)
    if is_new and _take_recipe_of_tool(raw, seen) and _names_values(seen.recipe):
        # other columns tell nothing and take memory
        raw = raw[columns_to_load(seen.recipe, list(raw))]
    if is_simulated(raw):
        raw = raw.drop(columns="source")
    asked = []
    first = str(raw.columns[0])
    if columns.texts_of(raw[first]).duplicated().any():
        first = None
    is_open = not _has_shape(seen.recipe) and not values_of(seen.recipe)
    if is_open and len(raw) == 1 and raw.shape[1] > columns.FEW_WORDS:
        raise bad_table(seen.name, [NESTED])
    if is_open:
        _refuse_comparison(raw)
        asked += asking.about_options(raw, seen.recipe)
        asked += asking.about_names(to_long(raw, seen.recipe), seen.recipe)
    long = to_long(raw, seen.recipe)
    _propose_roles(long, seen.recipe)
    wide = to_wide(long, seen.recipe)
    about_values = _propose_values(wide, seen)
    pattern = name_pattern(seen.recipe)
    used = {*seen.recipe.get("lists", {}), *(matching(raw, pattern) if pattern else ())}
    lists = [str(name) for name in raw if columns.kind(raw[name]) == "lists"]
    lists = [name for name in lists if name not in used]
    if lists and not values_of(seen.recipe):
        raise bad_table(seen.name, [NESTED])
    if lists:
        names = ", ".join(lists[:MOST_SHOWN])
        seen.notes.append(
            f"Lists are not read (`lists` in a recipe reads them): {names}."
        )
    # who rated is asked first: names of people are no ratings
    asked += [*asking.about_roles(long, seen.recipe, first), *about_values]
    seen.parts = _parts(raw, wide, seen.recipe)
    _add_questions(asked, seen.recipe)


def _names_values(recipe: Mapping) -> bool:
    """Tell whether a recipe names all ratings; without aspects, only agreement."""
    return "aspects" in recipe or ("outcome" in recipe and "count" not in recipe)


def _has_shape(recipe: Mapping) -> bool:
    """Tell whether a recipe says how the table changes its shape."""
    return any(key in recipe for key in SHAPE)


def _add_questions(asked: Sequence[dict], recipe: dict) -> None:
    """Add questions that a recipe does not hold, and drop those on columns it lost."""
    values = values_of(recipe)
    kept = []
    for each in recipe.get("questions", []):
        about = [*each.get("scale", []), *each.get("order", [])]
        if set(about) <= {*values, *each.get("order", [])}:
            kept.append(each)
    for each in asked:
        if each["ask"] not in [known["ask"] for known in kept]:
            kept.append(each)
    if kept:
        recipe["questions"] = kept


@functools.cache
def _recipes_of_tools() -> dict[str, dict]:
    """Load the recipes that come with the package and say when they apply."""
    found = {file.stem: from_yaml(file) for file in sorted(SHIPPED.glob("*.yaml"))}
    return {name: recipe for name, recipe in found.items() if "when" in recipe}


def _take_recipe_of_tool(raw: pd.DataFrame, seen: Inspection) -> bool:
    """Take the recipe of a tool if the file has the columns of its export."""
    names = [str(name) for name in raw]
    for name, recipe in _recipes_of_tools().items():
        has_columns = all(fnmatch.filter(names, each) for each in recipe["when"])
        if has_columns and _within_scales(raw, recipe):
            rest = {key: recipe[key] for key in recipe if key not in ("when", "about")}
            seen.recipe.update(rest | seen.recipe)
            seen.notes.append(f"Read as {recipe['about']}: recipe {name}.")
            return True
    return False


def _within_scales(raw: pd.DataFrame, recipe: Mapping) -> bool:
    """Tell whether no number lies off a scale: some exports have the same columns."""
    before = {short: long for long, short in recipe.get("call", {}).items()}
    for name, (low, high) in scales(recipe).items():
        found = columns.numbers(
            raw.get(before.get(name, name), pd.Series(dtype=object))
        )
        if ((found < low) | (found > high)).any():
            return False
    return True


def _refuse_comparison(raw: pd.DataFrame) -> None:
    """Stop at a file whose rows compare two answers."""
    for name in map(str, raw):
        if columns.is_comparison(name, raw[name]):
            raise bad_table(name, [COMPARISON.format(cell(name))])


def _propose_roles(table: pd.DataFrame, recipe: dict) -> None:
    """Find out which columns say who rated what."""
    names = [str(name) for name in table]
    texts = {name: columns.texts_of(table[name]) for name in names}
    counts = {name: texts[name].nunique() for name in names}
    # A column that never varies tells nothing, save where a pattern made it.
    names = [name for name in names if counts[name] > 1 or name in ("rater", "item")]
    names = [name for name in names if not columns.asks_for_rating(name, table[name])]
    names = [name for name in names if not columns.place(name, "outcome")]
    _propose_long(counts, names, table, recipe)
    for used in recipe.get("long", {}).values():
        names = [name for name in names if name not in as_names(used)]
    names = [name for name in names if columns.kind(table[name]) != "lists"]
    whole = [name for name in names if (texts[name] != "").all()]
    repeated = [name for name in whole if counts[name] < len(table)]
    used = [*values_of(recipe), *role_columns(recipe)]
    rater = None
    if "rater" not in recipe and "position" not in recipe:
        rater = columns.best("rater", [name for name in repeated if name not in used])
    cluster = columns.best("cluster", repeated)
    system = columns.best("system", names)
    taken = [rater, cluster, *used]
    if system in repeated:  # it wrote many texts, and is none itself
        taken.append(system)
    may_be_item = []
    for name in whole:
        is_other = columns.place(name, "time") or columns.place(name, "administrative")
        if name not in taken and not is_other:
            may_be_item.append(name)
    item = _with_system(table, columns.best("item", may_be_item), cluster, system)
    roles = {"rater": rater, "cluster": cluster, "item": item}
    is_free = system in repeated and system not in (rater, cluster, item)
    if is_free and not columns.place(system, "score"):  # as model_score
        roles["system"] = system
    for role, name in roles.items():
        if role not in recipe and name is not None:
            recipe[role] = as_names(name)
    if "covariate" not in recipe and "words" not in recipe:
        lengths = [name for name in names if columns.place(name, "covariate")]
        lengths = [name for name in lengths if columns.kind(table[name]) == "numbers"]
        if lengths:
            recipe["covariate"] = lengths[0]


def _propose_long(
    counts: Mapping[str, int], names: Sequence[str], table: pd.DataFrame, recipe: dict
) -> None:
    """Find a column that names the aspect of each row, and one with its rating."""
    aspect = columns.best("aspect", names)
    score = columns.best("score", names)
    if "names" in recipe and "score" in table:
        score = "score"
    if "long" in recipe or "count" in recipe or not aspect or not score:
        return
    if counts[aspect] <= MOST_ASPECTS and columns.kind(table[aspect]) != "numbers":
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


def _propose_values(table: pd.DataFrame, seen: Inspection) -> list[dict]:
    """Find the columns with ratings, and ask what is not certain about them."""
    recipe = seen.recipe
    asked = []
    named = values_of(recipe)
    values = _columns_of_values(table, recipe)
    if not named and "count" not in recipe:
        asked += asking.about_ignored(table, values, recipe)
    asked += asking.about_flags(table, values, recipe)
    asked += asking.about_order(table, values, recipe)
    known = recipe.get("marks", {})
    ordered = []
    for name in values:
        if name in known or name in named or not columns.needs_order(table[name]):
            ordered.append(name)
    _propose_marks(table, ordered, seen)
    if "outcome" not in recipe or "aspects" not in recipe:
        asked += asking.about_outcome(ordered, recipe)
    _rename_reserved(recipe)
    before = {new: old for old, new in recipe.get("call", {}).items()}
    table = table.rename(columns={old: new for new, old in before.items()})
    asked += asking.about_numbers(table, recipe)
    return asked


def _columns_of_values(table: pd.DataFrame, recipe: Mapping) -> list[str]:
    """Name the columns that may hold ratings and play no other part."""
    named = values_of(recipe)
    if "outcome" in recipe and "aspects" in recipe:
        return [name for name in named if name in table]
    used = {*role_columns(recipe), *recipe.get("lists", {}).values()}
    if "count" in recipe:  # all kinds of error count
        numbers = [name for name in map(str, table) if name not in used]
        return [name for name in numbers if columns.kind(table[name]) != "lists"]
    found = []
    for name in map(str, table):
        is_free = name and name not in used
        if name in named or (is_free and columns.may_be_rating(name, table[name])):
            found.append(name)
    if "aspects" in recipe:  # the outcome may be any other column
        others = [name for name in found if name not in named]
        best = columns.best("outcome", others)
        found = [*([best] if best else []), *recipe["aspects"]]
    return found


def _propose_marks(
    table: pd.DataFrame, values: Sequence[str], seen: Inspection
) -> None:
    """Say how cells become numbers where there is no doubt."""
    recipe = seen.recipe
    kinds = {name: columns.kind(table[name]) for name in values}
    marks = recipe.get("marks", {})
    graded = [name for name in values if kinds[name] == "graded" and name not in marks]
    if graded:
        recipe["marks"] = marks | dict.fromkeys(graded, "number")
        names = ", ".join(graded[:MOST_SHOWN])
        seen.notes.append(
            f"The number with which a cell begins is the rating: {names}."
        )
    texts = {}  # a dict, since it keeps their order
    for name in values:
        texts |= dict.fromkeys(columns.texts_of(table[name]).unique())
    nothing = [text for text in texts if text.casefold() in columns.GUESSES["nothing"]]
    if any(text.casefold().startswith("n/a ") for text in texts):
        nothing.append("N/A *")
    if nothing:
        before = recipe.get("missing", [])
        recipe["missing"] = list(dict.fromkeys([*before, *nothing]))
        seen.notes.append(f"Taken as no rating: {', '.join(nothing)}.")
    if "decimal" not in recipe and any(map(parsing.has_comma, texts)):
        recipe["decimal"] = ","
        seen.notes.append("A comma in a number is taken as a decimal point.")


def _rename_reserved(recipe: dict) -> None:
    """Give ratings another name if theirs stands for something else in the result."""
    new_names = {}
    for name in values_of(recipe):
        if name in parsing.RESERVED:
            new_names[name] = f"{name} (rating)"
    if not new_names:
        return
    called = recipe.get("call", {})
    before = {short: long for long, short in called.items()}
    recipe["call"] = called | {
        before.get(old, old): new for old, new in new_names.items()
    }
    if "outcome" in recipe:
        recipe["outcome"] = new_names.get(recipe["outcome"], recipe["outcome"])
    if "aspects" in recipe:
        recipe["aspects"] = [new_names.get(name, name) for name in recipe["aspects"]]
    for key in ("marks", "scales"):
        if key in recipe:
            pairs = recipe[key].items()
            recipe[key] = {new_names.get(name, name): each for name, each in pairs}


def _parts(raw: pd.DataFrame, wide: pd.DataFrame, recipe: Mapping) -> pd.DataFrame:
    """Say what each column of the file is taken for, and what it holds."""
    parts = dict.fromkeys(recipe.get("aspects", []), "aspect")
    parts |= dict.fromkeys(as_names(recipe.get("outcome", [])), "outcome")
    for role in ROLES:
        for name in as_names(recipe.get(role, [])):
            parts[name] = f"{parts[name]}, {role}" if name in parts else role
    before = {new: old for old, new in recipe.get("call", {}).items()}
    shape = {}
    for name, options in recipe.get("radio", {}).items():
        shape |= dict.fromkeys(options, f"option of {name}")
    pattern = name_pattern(recipe)
    by_name = matching(raw, pattern) if pattern else {}
    for key, name in recipe.get("long", {}).items():
        shape |= dict.fromkeys(as_names(name), f"{key} of each row")
    shape |= dict.fromkeys(recipe.get("lists", {}), "list of ratings")
    parts = {before.get(name, name): part for name, part in parts.items()}
    rows = []
    cells = {name: wide[name] for name in wide if name in parts}
    cells |= {str(name): raw[name] for name in raw}
    for name, column in cells.items():
        part = parts.get(name) or shape.get(name)
        if not part and name in by_name:
            part = "ratings (names)"
        is_rated = not part or "aspect" in part or "outcome" in part or name in by_name
        codes = _codes_for_nothing(name, recipe) if is_rated and part else []
        rows.append((name, part or "ignored", _holds(column, codes)))
    rows.sort(key=lambda row: row[1] == "ignored")
    return pd.DataFrame(rows, columns=["column", "taken for", "holds"])


def _codes_for_nothing(name: str, recipe: Mapping) -> list[str]:
    """List the cells of a column that a recipe takes as no rating."""
    meaning = recipe.get("marks", {}).get(name)
    marks = meaning if isinstance(meaning, Mapping) else {}
    return [*recipe.get("missing", []), *(word for word in marks if not marks[word])]


def _holds(column: pd.Series, codes: Sequence[str] = ()) -> str:
    """Say in a few words what stands in a column, without codes for no rating."""
    holds = columns.kind(column)
    texts = columns.distinct(column)
    n_empty = int((columns.texts_of(column) == "").sum())
    empty = f"; {n_empty:,} empty" if n_empty else ""
    is_code = columns.texts_of(column).isin([code for code in codes if code])
    if is_code.any():
        column = column[~is_code]
        empty += f"; {is_code.sum():,} without a rating"
    if holds == "nothing":
        return "nothing"
    if holds == "lists":
        return f"lists or objects{empty}"
    if holds == "numbers":
        found = columns.numbers(column)
        return f"numbers from {found.min():g} to {found.max():g}{empty}"
    first = ", ".join(_cut(text, LONGEST_SHOWN) for text in texts[:3])
    return f"{len(texts):,} different, such as {first}{empty}"


def _cut(text: str, longest: int) -> str:
    """Shorten a text, and mark that."""
    return text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"


def _in_columns(table: pd.DataFrame) -> list[str]:
    """Write a table of texts, one line a row, each column from the left."""
    rows = [list(table), *table.to_numpy().tolist()]
    rows = [[_cut(text, 2 * LONGEST_SHOWN) for text in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [text.ljust(width) for text, width in zip(row, widths, strict=True)]
        lines.append("  ".join(cells).rstrip())
    return lines


def _try_out(file: str | Path, seen: Inspection) -> None:
    """Read the file by the recipe that was proposed, and show what comes out."""
    account = Account()
    ratings = read(file, seen.recipe, account)
    first, *others = account.steps
    if first.where:
        seen.notes.append(f"Passed over as {first.where}.")
    for step in others:
        if step.change == 0:
            seen.notes.append(step.step)
        elif step.where:
            seen.notes.append(
                f"Left out: {-step.change:,} ({step.step}; {step.where})."
            )
    n_items = ratings["item_id"].nunique()
    seen.size += f"; understood as {len(ratings):,} ratings of {n_items:,} items"
    sample = ratings.head(SAMPLE)
    seen.sample = sample.drop(columns=["source", "position"], errors="ignore")
