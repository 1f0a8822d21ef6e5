"""Questions about what is not certain in a file of ratings.

Some also write into the recipe what seems most likely, so that the file can be read.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from helpers.data.tables import cell
from ratings import columns
from ratings.questions import NOT_USED, UNKNOWN, question, was_asked
from ratings.recipes import (
    as_names,
    cell_text,
    folded,
    marked,
    role_columns,
    scales,
    values_of,
)

MOST_SHOWN = 12  # names in a sentence
MOST_ITEMS = 0.1  # share of items with several rows, for raters to be missed
FEWEST_OF_RATER = 8  # ratings that tell which scale a rater uses
FAR_ABOVE = 1.5  # times the highest rating of most raters: another scale
FAR_BELOW = 0.4


def about_options(raw: pd.DataFrame, recipe: dict) -> list[dict]:
    """Ask whether columns are the options of one question."""
    asked = []
    for name, options in columns.radio(raw).items():
        ends = [option.removeprefix(name).strip(" _.:-[]()") for option in options]
        are_numbers = all(end.isdigit() for end in ends)
        numbers = ends if are_numbers else [str(n + 1) for n in range(len(options))]
        listed = ", ".join(options[:MOST_SHOWN])
        ask = (
            f"In each row one of {listed} is ticked. Are they the options of one "
            f"question, with the ratings {', '.join(numbers[:MOST_SHOWN])}?"
        )
        if was_asked(recipe, ask):
            continue
        called = f"{name} (choice)" if name in raw else name
        ratings = dict(zip(options, numbers, strict=True))
        recipe["radio"] = recipe.get("radio", {}) | {called: ratings}
        undone = {"radio": {called: ""}, "outcome": "", "aspects": ""}
        asked.append(question(ask, "yes", options={"yes": {}, "no": undone}))
    return asked


def about_names(table: pd.DataFrame, recipe: dict) -> list[dict]:
    """Ask what stands in names such as tone_A and tone_B."""
    kinds = {}
    for name in map(str, table):
        if columns.names_rater(name) or columns.may_be_rating(name, table[name]):
            kinds[name] = columns.kind(table[name])
    grid = None
    for each in ("numbers", "graded", "words"):
        alike = [name for name in kinds if kinds[name] == each]
        grid = grid or columns.grid(alike)
    if grid is None:
        return []
    is_alone = grid.aspects == ["score"]
    tags = ", ".join(grid.raters[:MOST_SHOWN])
    stems = "" if is_alone else f" of {', '.join(grid.aspects[:MOST_SHOWN])}"
    ask = (
        f"There is a column{stems} for each of {tags}. What are these? (people: each "
        "is always the same person; unnamed people: the first, second … rating)"
    )
    if was_asked(recipe, ask):
        return []
    people = {"names": grid.pattern, "rater": ["rater"]}
    unnamed = {"names": grid.pattern, "position": ["rater"]}
    systems = {
        "names": grid.pattern.replace("(?P<rater>", "(?P<system>"),
        "system": ["system"],
    }
    are_numbered = all(rater[-1].isdigit() for rater in grid.raters)
    has_outcome = any(columns.place(each, "outcome") for each in grid.aspects)
    are_letters = all(len(rater) == 1 for rater in grid.raters)
    taken = dict.fromkeys(("names", "long", "rater", "position", "system"), "")
    taken |= dict.fromkeys(("item", "outcome", "aspects"), "")  # to be proposed again
    ways = {
        "people": people,
        "unnamed people": unnamed,
        "systems": systems,
        "different questions": {},
    }
    if are_numbered or is_alone:
        proposed = "unnamed people"
    elif has_outcome or are_letters:
        proposed = "people"
    else:
        proposed = "different questions"
    recipe.update(ways[proposed])
    options = {way: taken | keys for way, keys in ways.items()}
    options[proposed] = {}
    return [question(ask, proposed, options=options)]


def about_roles(
    table: pd.DataFrame, recipe: Mapping, first: str | None = None
) -> Iterator[dict]:
    """Ask about raters and items that no column tells, and labels that may be one.

    ``first`` is the first column of the file, if no two of its cells are the same.
    """
    used = {*values_of(recipe), *role_columns(recipe)}
    for names in recipe.get("long", {}).values():
        used.update(as_names(names))
    labels = []
    for name in map(str, table):
        texts = columns.texts_of(table[name])
        is_label = columns.kind(table[name]) in ("words", "text", "numbers")
        is_whole = (texts != "").all() and 1 < texts.nunique() < len(table)
        if is_label and is_whole and name not in used:
            labels.append(name)
    labels = labels[:MOST_SHOWN]
    has_people = "rater" in recipe or "position" in recipe
    if not has_people and "item" in recipe and "count" not in recipe:
        items = table[recipe["item"]].map(cell_text).groupby(recipe["item"]).size()
        if "long" in recipe:
            items = items * 0  # rows of an item may be its aspects
        if (items > 1).mean() > MOST_ITEMS:
            options = {name: {"rater": [name]} for name in labels}
            likely = _likely_raters(table, labels, recipe["item"])
            yield question(
                f"{(items > 1).sum():,} of {len(items):,} items have several rows, and "
                "no column says who rated. Which one does?",
                likely[0] if len(likely) == 1 else "nobody knows",
                options={"nobody knows": {}, **options},
            )
    if "item" not in recipe and "rater" in recipe:
        options = {name: {"item": [name]} for name in labels}
        yield question(
            "No column says what was rated, so that each row counts as an item of its "
            "own. Which column does?",
            first if first in options else "none",
            options={"none": {}, **options},
        )
    labels = []
    for role in ("rater", "system", "item", "cluster"):
        labels += as_names(recipe.get(role, []))
    for name in dict.fromkeys(labels):
        if name in table and name not in recipe.get("fold", []):
            yield from _about_case(name, table[name])
    alike = Counter(" ".join(str(name).casefold().split()) for name in table)
    for name in [name for name, count in alike.items() if count > 1]:
        yield question(
            f"Several columns are called {cell(name)} but for case and spaces. Are "
            "they different things? If not, correct the file.",
            options={"yes": {}},
        )


def _likely_raters(
    table: pd.DataFrame, labels: Sequence[str], item: Sequence[str]
) -> list[str]:
    """Name the columns of words that differ within items and recur across them."""
    items = table[item].map(cell_text).agg(" / ".join, axis="columns")
    likely = []
    for name in labels:
        texts = columns.texts_of(table[name])
        pairs = pd.DataFrame({"item": items, "label": texts})
        is_once = not pairs.duplicated().any()
        recurs = (pairs.drop_duplicates()["label"].value_counts() > 1).any()
        if is_once and recurs and columns.kind(table[name]) != "numbers":
            likely.append(name)
    return likely


def _about_case(name: str, column: pd.Series) -> Iterator[dict]:
    """Ask whether labels that differ only in case or spaces are the same."""
    # spaces around a label do not matter anyway
    texts = columns.texts_of(column).drop_duplicates()
    other = folded(texts)
    pairs = [(a, b) for a, b in zip(texts, other, strict=True) if a != b]
    if pairs:
        listed = "; ".join(f"{cell(b)} and {cell(a)}" for a, b in pairs[:3])
        yield question(
            f"{name}: {listed}. Are these the same?",
            "yes",
            options={"yes": {"fold": [name]}, "no": {}},
        )


def about_ignored(
    table: pd.DataFrame, values: Sequence[str], recipe: Mapping
) -> Iterator[dict]:
    """Ask whether numbers that are taken for times or computed are ratings."""
    used = {*role_columns(recipe), *recipe.get("lists", {}).values()}
    for reason, words in (
        ("a time", "times or parts of dates"),
        ("computed", "computed by a program, such as scores of a metric"),
    ):
        names = []
        for name in map(str, table):
            is_free = name not in used and name not in values
            if is_free and columns.why_ignored(name, table[name]) == reason:
                names.append(name)
        if names:
            yield question(
                f"{', '.join(names[:MOST_SHOWN])}: ignored as {words}. Did people give "
                "these numbers as ratings?",
                "no",
                options={"no": {}, "yes": {"aspects": names}},
            )


def about_flags(table: pd.DataFrame, values: Sequence[str], recipe: dict) -> list[dict]:
    """Ask whether an empty cell beside a sign such as x means "not marked"."""
    known = recipe.get("marks", {})
    names = [name for name in values if name not in known]
    names = [name for name in names if columns.is_flag(table[name])]
    if not names:
        return []
    marks = {name: {columns.distinct(table[name])[0]: "1", "": "0"} for name in names}
    recipe["marks"] = known | marks
    ask = (
        f"{', '.join(names[:MOST_SHOWN])}: cells hold one sign or nothing. Does an "
        "empty cell mean that the label does not apply, not that nothing was rated?"
    )
    no = {"marks": {name: {"": ""} for name in names}}
    return [question(ask, "yes", options={"yes": {}, "no": no})]


def about_order(table: pd.DataFrame, values: Sequence[str], recipe: dict) -> list[dict]:
    """Ask for the order of words, and propose a known one."""
    asked = []
    known = recipe.get("marks", {})
    columns_of = {}
    for name in values:
        if name not in known and columns.needs_order(table[name]):
            texts = columns.distinct(table[name])
            words = [text for text in texts if not columns.stands_for_nothing(text)]
            columns_of.setdefault(tuple(sorted(words)), []).append(name)
    for words, names in columns_of.items():
        order = columns.order_of(words)
        ask = (
            f"{', '.join(names[:MOST_SHOWN])}: if the words {', '.join(words)} are "
            f"ratings, list them from the lowest to the highest; else '{NOT_USED}'."
        )
        if was_asked(recipe, ask):
            continue
        proposed = ", ".join(order) or NOT_USED
        asked.append(question(ask, proposed, order=names, words=list(words)))
        if order:
            lowest = 0 if len(order) == 2 else 1
            marks = {word: str(n) for n, word in enumerate(order, start=lowest)}
            recipe["marks"] = recipe.get("marks", {}) | dict.fromkeys(names, marks)
    return asked


def about_outcome(values: Sequence[str], recipe: dict) -> list[dict]:
    """Choose the column to explain, and ask if several could be; others are aspects."""
    if "aspects" in recipe and "outcome" not in recipe:
        likely = [name for name in values if name not in recipe["aspects"]]
        if likely:
            recipe["outcome"] = likely[0]
        return []
    asked = []
    if "outcome" not in recipe:
        likely = [name for name in values if columns.place(name, "outcome")]
        outcome = columns.best("outcome", values)
        proposed = outcome
        if len(values) == 1:
            outcome = values[0]
        options = {}
        if outcome is None:
            options = {"none": {}, **{name: {"outcome": name} for name in values}}
            proposed = columns.best("score", values) or ""
        elif len(likely) > 1:
            options = {name: {"outcome": name, "aspects": [outcome]} for name in likely}
        if outcome:
            recipe["outcome"] = outcome
        if options:
            ask = "Which column is the overall rating that the others may explain?"
            asked.append(question(ask, proposed, options=options))
    others = [name for name in values if name != recipe.get("outcome")]
    if others and "aspects" not in recipe:
        recipe["aspects"] = others
    return asked


def about_numbers(table: pd.DataFrame, recipe: Mapping) -> Iterator[dict]:
    """Ask about words among numbers, codes, scales, and raters on other scales."""
    if "count" in recipe:  # numbers of errors have no scale
        return
    marks = recipe.get("marks", {})
    found = {}
    for name in [name for name in values_of(recipe) if name in table]:
        if name not in marks:
            yield from _about_odd_words(name, table[name], recipe)
        # rows that a pattern made have one number
        cells = marked(table[name], recipe).reset_index(drop=True)
        found[name] = columns.numbers(cells)
    found = {name: each for name, each in found.items() if len(each)}
    limits = scales(recipe)
    undeclared = {name: each for name, each in found.items() if name not in limits}
    codes = _codes(undeclared)
    yield from _about_codes(codes, found)
    usual = {}
    for name, each in undeclared.items():
        usual[name] = each[~each.isin(codes.get(name, []))]
    rater = recipe.get("rater", [])
    if len(rater) == 1 and rater[0] in table:
        people = columns.texts_of(table[rater[0]]).reset_index(drop=True)
        for name, each in usual.items():
            odd = _on_other_scales(each, people)
            if odd:
                is_odd = people[each.index].isin(odd)
                yield _about_raters(name, rater[0], each[is_odd], each[~is_odd], odd)
                usual[name] = each[~is_odd]
    yield from _about_scales(usual)


def _about_odd_words(name: str, column: pd.Series, recipe: Mapping) -> Iterator[dict]:
    """Ask whether words in a column of numbers mean that there is no rating."""
    odd = columns.odd_words(marked(column, recipe))
    if odd.empty:
        return
    words = list(dict.fromkeys(odd))
    listed = ", ".join(map(cell, words))
    first = f"{odd.index.name} {odd.index[0]}"
    yield question(
        f"{name} holds numbers, and in {len(odd):,} cells {listed} (first in {first}). "
        "Do these words mean that there is no rating? If not, correct the file.",
        "yes",
        options={"yes": {"missing": words}},
    )


def _codes(found: Mapping[str, pd.Series]) -> dict[str, list[float]]:
    """Find the numbers in each column that may mean that there is no rating.

    A zero is one of them where other columns with the same highest rating begin at one.
    """
    codes = {}
    ends = {}
    for name, each in found.items():
        codes[name] = columns.codes_for_nothing(each)
        usual = each[~each.isin(codes[name])]
        ends[name] = (usual.min(), usual.max())
    from_one = {high for low, high in ends.values() if low == 1 and high > 2}
    for name, (low, high) in ends.items():
        if low == 0 and high in from_one:
            codes[name].append(0.0)
    return {name: each for name, each in codes.items() if each}


def _about_codes(
    codes: Mapping[str, list[float]], found: Mapping[str, pd.Series]
) -> Iterator[dict]:
    """Ask whether numbers far from the others mean that there is no rating."""
    columns_of = {}
    for name, each in codes.items():
        for code in each:
            columns_of.setdefault(code, []).append(name)
    for code, names in columns_of.items():
        text = f"{code:g}"
        holding = [name for name, each in found.items() if (each == code).any()]
        usual = np.concatenate([found[name] for name in names])
        usual = usual[~np.isin(usual, [each for name in names for each in codes[name]])]
        if set(holding) == set(names):
            yes = {"missing": [text]}
        else:  # elsewhere this number is a rating
            yes = {"marks": {name: {text: ""} for name in names}}
        yield question(
            f"{', '.join(names[:MOST_SHOWN])}: {text} stands beside ratings from "
            f"{usual.min():g} to {usual.max():g}. Does it mean that there is no "
            "rating?",
            "yes",
            options={"yes": yes, "no": {}},
        )


def _about_scales(found: Mapping[str, pd.Series]) -> Iterator[dict]:
    """Ask which ratings could be given in columns whose scale is not declared."""
    columns_of = {}
    for name, each in found.items():
        if len(np.unique(each)) < 2 or set(each) <= {0, 1}:
            continue
        seen = (each.min(), each.max())
        told = columns.range_in(name)
        is_told = told and told[0] <= seen[0] and seen[1] <= told[1]
        key = (seen, told if is_told else seen)
        columns_of.setdefault(key, []).append(name)
    for (seen, ends), names in columns_of.items():
        yield question(
            f"{', '.join(names[:MOST_SHOWN])}: which ratings could be given? The file "
            f"has {_range(*seen)}. Write the lowest and the highest, as "
            f"'{_range(*seen)}', or '{UNKNOWN}'.",
            _range(*ends),
            scale=names,
        )


def _range(low: float, high: float) -> str:
    """Write two numbers with all digits, so that both lie in their range."""
    return " to ".join(f"{end + 0.0:.15g}" for end in (low, high))


def _on_other_scales(found: pd.Series, people: pd.Series) -> list[str]:
    """Name raters who seem to use another scale than most.

    They go far beyond the highest rating of most raters with half of their ratings, or
    stay far below it and begin lower than others.
    """
    if found.nunique() < 3:
        return []
    of_rater = found.groupby(people[found.index])
    ends = of_rater.agg(["min", "median", "max", "count"])
    ends = ends[ends["count"] >= FEWEST_OF_RATER]
    lowest, highest = ends["min"].median(), ends["max"].median()
    is_above = (ends["max"] >= FAR_ABOVE * highest) & (ends["median"] > highest)
    is_below = (ends["max"] <= FAR_BELOW * highest) & (ends["min"] < lowest)
    return list(ends.index[is_above | is_below])


def _about_raters(
    name: str, rater: str, odd: pd.Series, others: pd.Series, people: Sequence[str]
) -> dict:
    """Ask about raters who seem to use another scale than most."""
    return question(
        f"{name}: ratings by {', '.join(people[:MOST_SHOWN])} go from {odd.min():g} to "
        f"{odd.max():g}, by all others from {others.min():g} to {others.max():g}. Did "
        "all use one scale? If not, correct the file, or leave these raters out.",
        "leave them out",
        options={"leave them out": {"without": {rater: people}}, "one scale": {}},
    )
