"""A first look at a file of ratings: what it seems to hold, and a recipe for reading it.

Names of columns and what stands in them lead to a proposal. Whatever is not certain is
told, above all which end of a scale is taken as the lowest.
"""

import collections
import fnmatch
import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from helpers import paths
from helpers.data.tables import BadTableError, PlainError, bad_table, cell
from ratings import parsing
from ratings.formats import opened
from ratings.recipes import (
    LEADING,
    ROLES,
    as_list,
    differ,
    from_yaml,
    gathered,
    interpreted,
    named,
    names_in,
    parse,
    unfolded,
    written,
)

FEW_WORDS = 12
MOST_ASPECTS = 60
MOST_SHOWN = 12  # columns
GUESSES = yaml.load((paths.DATA / "guesses.yaml").read_bytes(), yaml.BaseLoader)
NAMES, NO_MARKS, TOLD = GUESSES["names"], GUESSES["nothing"], GUESSES["told"]
CODES = [float(code) for code in GUESSES["codes"]]


@dataclass
class Inspection:
    """What was seen in a file: its recipe, what is not sure, and the first ratings.

    Parameters
    ----------
    name : str
        Name of the file.
    recipe : dict
        How to read it, as `read` takes it.
    seen : list of str
        What stands in the file.
    told : list of str
        What was assumed, and what is not understood.
    sample : pandas.DataFrame
        Ten ratings as understood; none if there are problems.
    """

    name: str
    recipe: dict = field(default_factory=dict)
    seen: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    sample: pd.DataFrame = field(default_factory=pd.DataFrame)

    def __str__(self) -> str:
        parts = [
            f"{self.name}: {self.seen[0]}",
            *(f"  {line}" for line in self.seen[1:]),
        ]
        if self.told:
            parts += ["", "Please check:", *(f"  - {line}" for line in self.told)]
        if len(self.sample):
            sample = self.sample.iloc[:, :MOST_SHOWN].rename(
                columns=lambda name: name[:24]
            )
            parts += [
                "",
                "Ten ratings as understood:",
                sample.to_string(max_colwidth=24),
            ]
        return "\n".join(parts)


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
    >>> seen = inspect("data/example/ratings.csv")
    >>> seen.recipe["outcome"], seen.recipe["rater"], seen.recipe["cluster"]
    ('overall', ['rater_id'], ['prompt_id'])
    """
    recipe = dict(recipe or {})
    reading, told = dict(recipe.get("file", {})), []
    try:
        name, raw = _all_cells(file, reading)
    except BadTableError as error:
        if "not UTF-8" not in str(error):
            raise
        reading["encoding"] = "cp1252"
        told.append(TOLD["cp1252"])
        name, raw = _all_cells(file, reading)
    if raw.empty:
        raise bad_table(name, ["there are no rows"])
    seen = Inspection(name, recipe | ({"file": reading} if reading else {}), [], told)
    seen.seen.append(f"{len(raw):,} rows, {raw.shape[1]:,} columns")
    shaped = {"names", "lists", "long", "count"} & {*recipe}
    try:
        if not shaped and not _known_recipe(raw, seen):
            _propose_shape(raw, seen)
        table = unfolded(raw, seen.recipe)
        _propose_roles(table, seen)
        table = gathered(table, seen.recipe)
        _propose_values(table, seen)
        found = interpreted(table, seen.recipe, name)
        seen.sample = found.head(10).drop(
            columns=["source", "position"], errors="ignore"
        )
        seen.seen.append(
            f"understood as {len(found):,} ratings of {found['item_id'].nunique():,} items"
        )
    except PlainError as error:
        told.append(f"not yet understood: {error}")
    for key in ("outcome", "aspects", *ROLES, "long", "names", "lists", "count", "sum"):
        if key in seen.recipe:
            seen.seen.append(f"{key:<10} {_shown(seen.recipe[key])}")
    return seen


def recipe_for(
    file: str | Path,
    given: str = "",
    outcome: str | None = None,
    aspects: Sequence[str] = (),
) -> Inspection:
    """Find out how to read a file: as a recipe says, and where it leaves that open, as proposed.

    Parameters
    ----------
    file : str or pathlib.Path
        Ratings.
    given : str, optional
        A recipe; without one, or if it counts errors and does not name them, `inspect`
        proposes.
    outcome : str, optional
        Column to explain, in place of that of the recipe.
    aspects : sequence of str, optional
        Columns that may explain it, in place of those of the recipe.

    Returns
    -------
    Inspection
        With nothing ``seen`` if the recipe says all.

    Examples
    --------
    >>> recipe_for("data/example/ratings.csv", outcome="tone").recipe["outcome"]
    'tone'
    """
    recipe = from_yaml(given) if given else {}
    recipe |= parse({"outcome": outcome, "aspects": list(aspects)})
    if given and ("aspects" in recipe or "count" not in recipe):
        return Inspection(Path(file).name, recipe)
    return inspect(file, recipe)


def _shown(value: object) -> str:
    """Write a value of a recipe on one line."""
    text = ", ".join(value) if isinstance(value, list) else str(value)
    return text if len(text) <= 200 else f"{text[:200]}…"


def _all_cells(file: str | Path, reading: Mapping) -> tuple[str, pd.DataFrame]:
    """Load all columns of a file that have a name of their own."""
    with opened(file, reading) as (name, names, load_columns):
        counts = collections.Counter(names)
        table, _ = load_columns([each for each in counts if counts[each] == 1])
    return name, table


@functools.cache
def _recipes_of_tools() -> dict[str, dict]:
    """Load the recipes that come with the project."""
    return {
        path.name: from_yaml(path)
        for path in sorted((paths.DATA / "recipes").glob("*.yaml"))
    }


def _known_recipe(raw: pd.DataFrame, seen: Inspection) -> bool:
    """Take the recipe of a tool if the file has the columns of its export."""
    for name, recipe in _recipes_of_tools().items():
        marks = recipe.get("when", [])
        if marks and all(fnmatch.filter(map(str, raw.columns), mark) for mark in marks):
            seen.told.append(f"read as {recipe['about']} (data/recipes/{name})")
            rest = {
                key: each
                for key, each in recipe.items()
                if key not in ("when", "about")
            }
            seen.recipe = rest | seen.recipe
            return True
    return False


def _propose_shape(raw: pd.DataFrame, seen: Inspection) -> None:
    """Find ratings in the names of columns and in lists."""
    columns = [str(name) for name in raw]
    if len(raw) == 1 and len(columns) > FEW_WORDS:
        aspect = "__(?P<aspect>[^_.]+)" if all("__" in name for name in columns) else ""
        seen.recipe["names"] = rf"(?P<rater>[^.]+)\.(?P<item>.+){aspect}"
        seen.told.append(TOLD["objects"])
        return
    usable = [name for name in columns if not _like(name, NAMES["not rated"])]
    usable = [name for name in usable if _kind(raw[name]) != "text"]
    if family := next(
        (each for each in GUESSES["families"] if _fits(each, usable)), None
    ):
        seen.recipe["names"] = family
        raw = unfolded(raw, {"names": family})[["score"]]
        if "rater" in family:
            seen.recipe["position"] = ["rater"]
            seen.told.append(TOLD["columns"])
    _propose_lists(raw, seen)


def _fits(family: str, names: Sequence[str]) -> bool:
    """Tell whether names are a family: the same numbers, two or more, for each aspect."""
    found = [
        match.groupdict() for name in names if (match := re.fullmatch(family, name))
    ]
    aspects = collections.Counter(each.get("aspect") for each in found)
    if "rater" not in family:
        return len(found) >= 1 + ("individual" not in family)
    several = len(set(aspects.values())) == 1 and max(aspects.values()) > 1
    return several and (len(aspects) > 1 or "(?i:" in family)


def _propose_lists(raw: pd.DataFrame, seen: Inspection) -> None:
    """Find the lists that hold ratings."""
    lists = {
        str(name): _element(raw[name]) for name in raw if _kind(raw[name]) == "lists"
    }
    marks = [
        name for name, kind in lists.items() if kind in ("numbers", "graded", "words")
    ]
    chosen = (
        marks[:1] or [name for name, kind in lists.items() if kind == "objects"][:1]
    )
    if len(marks) > 1 and not differ(raw[marks].map(as_list).map(len)):
        chosen = marks
    if chosen:
        seen.recipe |= {
            "lists": dict.fromkeys(chosen, "position"),
            "position": ["position"],
        }
        seen.told.append(TOLD["lists"].format(", ".join(chosen)))
        if others := [name for name in lists if name not in chosen]:
            seen.told.append(f"there are other lists, not used: {', '.join(others)}")


def _element(column: pd.Series) -> str:
    """Tell what the elements of the lists in a column are."""
    parts = column[:1000].map(as_list).explode()
    return (
        "objects"
        if parts.map(lambda part: isinstance(part, dict)).any()
        else _kind(parts)
    )


def _like(name: str, words: str) -> int:
    """Tell how early in a list of words one of the words of a name stands; 0 if it does not."""
    last = name.rpartition(".")[2]
    parts = re.split(r"[^a-z0-9]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", last).lower())
    parts = {*parts, name.lower()}
    found = [place for place, word in enumerate(words.split(), 1) if word in parts]
    return min(found, default=0)


def _best(role: str, columns: Sequence[str]) -> str | None:
    """Choose the column whose name is most like a role."""
    places = {name: _like(name, NAMES[role]) for name in columns}
    return min(filter(places.get, columns), key=places.get, default=None)


def _kind(column: pd.Series) -> str:
    """Tell what a column holds: nothing, lists, numbers, graded (4 - Good), words or text."""
    texts = [text for text in column[:20_000].map(written).unique() if text]
    if (
        not texts
        or column[:100].map(lambda value: isinstance(value, list | np.ndarray)).any()
    ):
        return "lists" if texts else "nothing"
    if sum(text[0] in "[" and text[-1] == "]" for text in texts) > len(texts) / 2:
        return "lists"
    known = [t for t in texts if t.casefold() not in (*parsing.NOTHING, *NO_MARKS)]
    known = [t for t in known if not t.casefold().startswith("n/a")]
    if all(
        re.fullmatch(r"[+-]?\d*[.,]?\d+(e[+-]?\d+)?", text, re.IGNORECASE)
        for text in known
    ):
        return "numbers"
    if all(LEADING.fullmatch(text) and len(text) < 60 for text in known):
        return "graded"
    return "words" if len(known) <= FEW_WORDS and max(map(len, known)) < 40 else "text"


def _propose_long(
    table: pd.DataFrame, counts: Mapping[str, int], free: Sequence[str], recipe: dict
) -> None:
    """Find a column that names the aspect of each row, and one with its mark."""
    aspect, score = _best("aspect", free), _best("score", free)
    if "names" in recipe and "score" in table:
        score = "score"
    is_new = "long" not in recipe and "count" not in recipe
    if is_new and aspect and score and counts[aspect] <= MOST_ASPECTS:
        recipe["long"] = {"aspect": aspect, "score": score}


def _propose_roles(table: pd.DataFrame, seen: Inspection) -> None:
    """Find out which columns say who rated what."""
    recipe, free = seen.recipe, [str(name) for name in table if name != "source"]
    counts = {name: table[name].map(written).nunique() for name in free}
    free = [name for name in free if counts[name] > 1 or name in ("rater", "item")]
    _propose_long(table, counts, free, recipe)
    free = [name for name in free if name not in recipe.get("long", {}).values()]
    whole = [name for name in free if (table[name].map(written) != "").all()]
    repeated = [name for name in whole if counts[name] < len(table)]
    free = [name for name in free if _kind(table[name]) != "lists"]
    found = {
        "rater": None if "position" in recipe else _best("rater", repeated),
        "cluster": _best("cluster", repeated),
    }
    taken = [
        name
        for name in whole
        if name in found.values() or _like(name, NAMES["not rated"])
    ]
    whole = [name for name in whole if name not in taken]
    found["item"] = _best("item", whole)
    system, items = _best("system", free), names_in(found["item"] or [])
    items = items or names_in(found["cluster"] or [])
    if items and system:
        systems = table[[*items, system]].map(written).groupby(items)[system].nunique()
        found["item"] = [*items, system] if systems.max() > 1 else found["item"]
    for role, name in found.items():
        if role not in recipe and name is not None:
            recipe[role] = names_in(name)
    if "item" not in recipe:
        seen.told.append(TOLD["no item"])
    words = next(
        (
            n
            for n in free
            if _like(n, NAMES["covariate"]) and _kind(table[n]) == "numbers"
        ),
        None,
    )
    if words and "words" not in recipe:
        recipe.setdefault("covariate", words)
        seen.told.append(f"{words} is held constant in one step, since it may confound")


def _propose_values(table: pd.DataFrame, seen: Inspection) -> None:
    """Find the columns with marks, and what the marks mean."""
    recipe, table = seen.recipe, _called(table, seen.recipe)
    used = {*named(recipe), *names_in(recipe.get("lists", {}).values()), "source"}
    not_rated = f"{NAMES['not rated']} {NAMES['item']}"
    kinds = {
        str(n): _kind(table[n])
        for n in table
        if n not in used and not _like(n, not_rated)
    }
    _propose_marks(
        table, {n: kind for n, kind in kinds.items() if kind == "words"}, kinds, seen
    )
    values = [n for n, kind in kinds.items() if kind in ("numbers", "graded", "marks")]
    if graded := [name for name in values if kinds[name] == "graded"]:
        recipe["marks"] = recipe.get("marks", {}) | dict.fromkeys(graded, "number")
        seen.told.append(
            f"the number counts with which a cell begins: {', '.join(graded)}"
        )
    _propose_nothing(table[values], seen)
    texts = pd.unique(table[values].map(written).to_numpy().ravel())
    if any(re.fullmatch(r"[+-]?\d+,\d+", text) for text in texts):
        recipe.setdefault("decimal", ",")
        seen.told.append("a comma in a number is taken as a decimal point")
    if "outcome" not in recipe:
        if outcome := _best("outcome", values) or (
            values[0] if len(values) == 1 else None
        ):
            recipe["outcome"] = outcome
        elif values:
            seen.told.append(TOLD["no outcome"])
    if others := [name for name in values if name != recipe.get("outcome")]:
        recipe.setdefault("aspects", others)
    _keep_called(recipe)


def _keep_called(recipe: dict) -> None:
    """Keep the short names that are used."""
    kept = {*recipe.get("aspects", []), recipe.get("outcome")}
    called = {old: new for old, new in recipe.pop("call", {}).items() if new in kept}
    recipe |= {"call": called} if called else {}


def _propose_marks(
    table: pd.DataFrame, words: Sequence[str], kinds: dict[str, str], seen: Inspection
) -> None:
    """Give words their places on a known scale, and tell which end is taken as lowest."""
    marks, scales, unknown, directions = {}, {}, {}, {}
    for name in words:
        texts = [text for text in table[name].map(written).unique() if text]
        scale = _word_scale(texts)
        if scale is None:
            unknown.setdefault(", ".join(map(cell, sorted(texts))), []).append(name)
            continue
        kinds[name] = "marks"
        if len(scale) > 2 or scale[0] not in parsing.WORDS:
            marks[name] = {word: str(place) for place, word in enumerate(scale, 1)}
            scales[name] = ["1", str(len(scale))]
            directions.setdefault((scale[0], scale[-1]), []).append(name)
    for (lowest, highest), names in directions.items():
        line = (
            f"{lowest!r} is taken as lowest, {highest!r} as highest: {', '.join(names)}"
        )
        seen.told.append(line)
    for texts, names in unknown.items():
        seen.told.append(
            f"words without a known order, not used: {', '.join(names)}: {texts}"
        )
    for key, found in (("marks", marks), ("scales", scales)):
        if found:
            seen.recipe.setdefault(key, found)


def _called(table: pd.DataFrame, recipe: dict) -> pd.DataFrame:
    """Shorten names such as annotations.tone, if that leaves them different."""
    names = [str(name) for name in table if str(name) not in named(recipe)]
    ends = {name: name.rpartition(".")[2] for name in names if "." in name}
    short = {
        n: end for n, end in ends.items() if [*ends.values(), *table].count(end) == 1
    }
    if short and "call" not in recipe:
        recipe["call"] = short
    return table.rename(columns=recipe.get("call", {}))


def _word_scale(texts: Sequence[str]) -> list[str] | None:
    """Find the shortest known scale that has all these words."""
    words = {text.casefold() for text in texts} - {*parsing.NOTHING, *NO_MARKS}
    fitting = [scale for scale in GUESSES["scales"] if words <= set(scale)]
    return min(fitting, key=len, default=None)


def _propose_nothing(table: pd.DataFrame, seen: Inspection) -> None:
    """Find words and numbers that seem to stand for a missing mark."""
    found = {}
    for name in table:
        texts = table[name].map(written)
        found |= dict.fromkeys(t for t in texts.unique() if t.casefold() in NO_MARKS)
        if texts.str.casefold().str.startswith("n/a ").any():
            found["N/A *"] = None
        marks = np.unique(
            pd.to_numeric(texts, errors="coerce").dropna().to_numpy(float)
        )
        usual = marks[~np.isin(marks, CODES)].astype(float)
        if len(usual) > 1:
            reach = max(2 * np.diff(usual).min(), (usual[-1] - usual[0]) / 4)
            far = (marks <= usual[0] - reach) | (marks >= usual[-1] + reach)
            found |= dict.fromkeys(
                f"{mark:g}" for mark in marks[far & np.isin(marks, CODES)]
            )
    if found:
        seen.recipe.setdefault("missing", list(found))
        seen.told.append(f"taken as missing: {', '.join(found)}")
