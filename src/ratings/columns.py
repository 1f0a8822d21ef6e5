"""What the columns of a file seem to hold, from their names and cells.

Nothing is decided here: `ratings.inspection` shows what follows, and asks about it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import regex
import yaml

from ratings import parsing
from ratings.recipes import LEADING, NOT_TICKED, cell_text, ticks

GUESSES = yaml.load(
    Path(__file__).with_name("guesses.yaml").read_bytes(), yaml.BaseLoader
)
NAMES = GUESSES["names"]
CODES = [float(code) for code in GUESSES["codes"]]
LOOKED_AT = 20_000  # cells that tell what a column holds
FEW_WORDS = 12  # of a column that may be ratings in words
LONGEST_WORD = 40  # characters of such a word
MOST_ODD = 3  # different words in a column of numbers
MOSTLY = 0.8  # share of the cells that must be alike
LONGEST_NAME = 3  # words of a name; more are a question
FEWEST_COUNTED = 20  # rows, for numbers of rows to be told from ratings
MOST_PLACES = 2  # after the decimal point, of a number that people write
FLAGS = {"x", "1", "yes", "true"}  # signs that say "marked"
MOMENT = 10**8  # larger numbers may count seconds since 1970, or be dates
_NUMBER = re.compile(r"[+-]?\d*[.,]?\d+(e[+-]?\d+)?", re.IGNORECASE)
_DATE = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}(\D.*)?|\d{1,2}:\d{2}(:\d{2})?.*")
_RANGE = re.compile(
    r"(?:^|[\s(\[_:,])(-?\d{1,3})\s?(?:-|–|—|to|bis|\.\.)\s?(\d{1,4})(?=$|[\s)\]_:,;.])"
)

# Names of columns that hold an aspect and a rater: the form, and what a rater is.
_WORD = f"(?i:{GUESSES['raters']})"
_FORMS = [
    ("{rater}(?:: ?|[ _.-]){aspect}", rf"{_WORD}[ _.-]?(?:\d+|[A-Za-z])"),
    ("{aspect}[ _.-]{rater}", rf"{_WORD}[ _.-]?(?:\d+|[A-Za-z])"),
    (r"{aspect} ?[\[(]{rater}[\])]", r"[^\[\]()]+"),
    ("{aspect}[ _.-]{rater}", r"[^ _.-]+"),
    ("{rater}(?:: ?|[ _.-]){aspect}", r"[^ _.:-]+"),
]
_ALONE = rf"(?P<rater>{_WORD}[ _.-]?(?:\d+|[A-Z]))"


def texts_of(column: pd.Series) -> pd.Series:
    """Write the cells of a column as text, each distinct one once."""
    try:
        codes, values = pd.factorize(column)
    except TypeError:  # lists and objects cannot be compared
        return column.map(cell_text)
    words = np.array([*map(cell_text, values), ""], dtype=object)
    return pd.Series(words[codes], column.index, dtype=object, name=column.name)


def distinct(column: pd.Series) -> list[str]:
    """List the distinct cells of a column as text, without those that are empty."""
    return [text for text in texts_of(column[:LOOKED_AT]).unique() if text]


def kind(column: pd.Series) -> str:
    """Tell what a column holds.

    It is nothing, lists, numbers, graded (cells such as 4 - Good or 4/5), words, dates
    or text. A few words among numbers leave a column one of numbers.
    """
    texts = distinct(column)
    if not texts:
        return "nothing"
    if column[:100].map(lambda cell: isinstance(cell, list | dict | np.ndarray)).any():
        return "lists"
    if sum(text[0] == "[" and text[-1] == "]" for text in texts) > len(texts) / 2:
        return "lists"
    marks = [text for text in texts if not stands_for_nothing(text)]
    if all(map(_NUMBER.fullmatch, marks)):
        return "numbers" if marks else "nothing"
    if sum(bool(_DATE.fullmatch(text)) for text in marks) > len(marks) / 2:
        return "dates"
    if _are_graded(marks):
        return "graded"
    if len(odd_words(column)):
        return "numbers"
    if len(marks) <= FEW_WORDS and max(map(len, marks)) < LONGEST_WORD:
        return "words"
    return "text"


def _are_graded(texts: Sequence[str]) -> bool:
    """Tell whether texts begin with a number, as 4 - Good, or 4/5 with one whole."""
    wholes = {text.partition("/")[2].strip() for text in texts}
    are_few = len(texts) <= 101 and len(wholes) == 1
    return are_few and all(map(LEADING.fullmatch, texts))


def odd_words(column: pd.Series) -> pd.Series:
    """Find the few words in a column whose cells are mostly numbers that recur."""
    texts = texts_of(column[:LOOKED_AT])
    counts = texts[texts != ""].value_counts()
    is_number = np.array([is_mark(text) for text in counts.index], dtype=bool)
    n_numbers = counts[is_number].sum()
    is_mostly = n_numbers >= MOSTLY * counts.sum() and is_number.sum() < n_numbers
    are_few = 0 < (~is_number).sum() <= MOST_ODD
    odd = counts.index[~is_number] if are_few and is_mostly else []
    return texts[texts.isin(odd)]


def is_mark(text: str) -> bool:
    """Tell whether a cell holds a number, or says that there is no rating."""
    return bool(_NUMBER.fullmatch(text)) or stands_for_nothing(text)


def stands_for_nothing(text: str) -> bool:
    """Tell whether a cell says in words that there is no rating."""
    folded = text.casefold()
    is_known = folded in (*parsing.NOTHING, *GUESSES["nothing"])
    return is_known or folded.startswith("n/a")


def numbers(column: pd.Series) -> pd.Series:
    """Take the numbers in a column, with their rows."""
    codes, words = pd.factorize(texts_of(column))
    words = pd.Series(words, dtype=object).str.replace(",", ".")
    values = pd.to_numeric(words, errors="coerce").to_numpy(float)
    found = pd.Series(values[codes], column.index)
    return found[np.isfinite(found)]


def place(name: str, role: str) -> int:
    """Tell how early among the words of a role a word of a name stands; 0 if none."""
    last = name if " " in name else name.rpartition(".")[2]
    spaced = re.sub(r"([a-z])([A-Z])", r"\1 \2", last)  # camelCase
    parts = {*re.split(r"[^a-z0-9]+", spaced.lower()), name.lower()}
    words = NAMES[role].split()
    return next((n for n, word in enumerate(words, start=1) if word in parts), 0)


def best(role: str, names: Iterable[str]) -> str | None:
    """Choose the column whose name is most like a role."""
    places = {name: place(name, role) for name in names}
    fitting = [name for name in places if places[name]]
    return min(fitting, key=places.get, default=None)


def is_sentence(name: str) -> bool:
    """Tell whether a name is a sentence, as in exports of forms: its words say less."""
    return len(re.findall(r"\w+", name)) > LONGEST_NAME


def asks_for_rating(name: str, column: pd.Series) -> bool:
    """Tell whether a name is a sentence that is answered by one of a few marks."""
    few = len(distinct(column)) <= FEW_WORDS
    return is_sentence(name) and few and kind(column) in ("numbers", "graded", "words")


def is_no_rating(name: str) -> bool:
    """Tell whether a column is an identifier, a comment or the like by its name."""
    if is_sentence(name):
        return False
    words = re.findall(r"[^\W\d_]{2,}", name.lower())
    last = words[-1] if words else ""
    # the quality of a summary is a rating, but a summary is none
    tells_item = place(name, "id") or last in NAMES["item"].split()
    tells_person = last in NAMES["person"].split()
    others = place(name, "administrative") or place(name, "comment")
    return bool(tells_item or tells_person or others)


def counts_rows(column: pd.Series) -> bool:
    """Tell whether numbers are those of the rows, such as 1, 2 and 3."""
    found = numbers(column)
    n = len(found)
    if n < FEWEST_COUNTED or n < len(column):
        return False
    return bool((np.diff(np.sort(found)) == 1).all())


def is_moment(name: str, column: pd.Series) -> bool:
    """Tell whether numbers seem to be times, or parts of dates such as months."""
    if not is_sentence(name) and place(name, "time"):
        return True
    found = numbers(column)
    return len(found) > 0 and bool((found >= MOMENT).all())


def is_computed(name: str, column: pd.Series) -> bool:
    """Tell whether numbers seem to come from a program, such as BLEU or a mean."""
    if not is_sentence(name) and place(name, "computed"):
        return True
    texts = pd.Series(distinct(column), dtype=object)
    n_places = texts[texts.map(is_mark)].str.partition(".")[2].str.len()
    return len(n_places) > 2 and bool((n_places > MOST_PLACES).mean() > 0.5)


def may_be_rating(name: str, column: pd.Series) -> bool:
    """Tell whether people may have given what stands in a column, as it seems."""
    if kind(column) not in ("numbers", "graded", "words"):
        return False
    return not why_ignored(name, column)


def why_ignored(name: str, column: pd.Series) -> str:
    """Say why a column seems to hold no ratings; nothing if it may."""
    if is_no_rating(name):
        return "no rating by its name"
    holds = kind(column)
    if holds != "numbers":
        return ""
    if is_moment(name, column):
        return "a time"
    if is_computed(name, column):
        return "computed"
    if counts_rows(column):
        return "number of the row"
    if len(distinct(column)) == 1 and not place(name, "outcome"):
        return "always the same"
    return ""


def codes_for_nothing(found: Iterable[float]) -> list[float]:
    """Find numbers that are often codes, such as 99, and far from the others.

    Examples
    --------
    >>> codes_for_nothing([1, 2, 3, 4, 5, 9])
    [9.0]
    >>> codes_for_nothing([-1, 0, 1])
    []
    """
    marks = np.unique(found)
    usual = marks[~np.isin(marks, CODES)]
    if len(usual) < 2:
        return []
    reach = max(2 * np.diff(usual).min(), (usual[-1] - usual[0]) / 4)
    low, high = usual[0], usual[-1]
    odd = []
    for mark in sorted(set(marks) - set(usual), key=lambda mark: abs(mark - low)):
        is_negative = mark < 0 <= low and len(usual) > 2
        if is_negative or mark <= low - reach or mark >= high + reach:
            odd.append(float(mark))
        else:
            low, high = min(low, mark), max(high, mark)
    return sorted(odd)


def range_in(name: str) -> tuple[float, float] | None:
    """Find a scale in the name of a column, as in tone (1-5).

    Examples
    --------
    >>> range_in("quality (0-100)")
    (0.0, 100.0)
    """
    match = _RANGE.search(name)
    if match is None or float(match[1]) >= float(match[2]):
        return None
    return float(match[1]), float(match[2])


def order_of(texts: Iterable[str]) -> list[str]:
    """Give the shortest known order that has all these words; none if there is none."""
    words = {text.casefold().rstrip(".") for text in texts}
    words = {word for word in words if not stands_for_nothing(word)}
    fitting = [scale for scale in GUESSES["scales"] if words <= set(scale)]
    return min(fitting, key=len, default=[])


def needs_order(column: pd.Series) -> bool:
    """Tell whether a column holds words that are not read as 1 and 0 by themselves."""
    texts = {text.casefold().rstrip(".") for text in distinct(column)}
    texts = {text for text in texts if not stands_for_nothing(text)}
    return kind(column) == "words" and not texts <= set(parsing.WORDS)


def is_flag(column: pd.Series) -> bool:
    """Tell whether cells are empty or have one sign that says "marked"."""
    signs = {text.casefold() for text in distinct(column)}
    has_empty = (texts_of(column) == "").any()
    return has_empty and len(signs) == 1 and signs <= FLAGS


class Grid(NamedTuple):
    """Columns that hold the same aspects for several raters, or something alike."""

    pattern: str
    aspects: list[str]
    raters: list[str]


def grid(names: Sequence[str]) -> Grid | None:
    """Find columns such as tone_A, tone_B: aspects with the same additions.

    Examples
    --------
    >>> grid(["id", "tone_A", "tone_B", "typos_A", "typos_B"])[1:]
    (['tone', 'typos'], ['A', 'B'])
    >>> grid(["score_tone", "score_typos"])
    """
    alone = [match["rater"] for match in _matches(_ALONE, names)]
    if len(alone) > 1:
        return Grid(_ALONE, ["score"], alone)
    for form, rater in _FORMS:
        found = _grid(form, rater, names)
        if found:
            return found
    return None


def _grid(form: str, rater: str, names: Sequence[str]) -> Grid | None:
    """Find columns of one form whose aspects have the same raters."""
    pattern = form.format(rater=f"(?P<rater>{rater})", aspect="(?P<aspect>.+?)")
    raters_of = {}
    for match in _matches(pattern, names):
        raters_of.setdefault(match["aspect"], []).append(match["rater"])
    aspects_of = {}
    for aspect, raters in raters_of.items():
        aspects_of.setdefault(tuple(raters), []).append(aspect)
    for raters, aspects in aspects_of.items():
        is_numbered = all(re.fullmatch(r"\w?\d+|[A-Za-z]", each) for each in raters)
        tells_raters = is_numbered or rater.startswith("(?i:") or len(aspects) > 1
        has_outcome = any(place(each, "outcome") for each in raters)
        if len(raters) > 1 and tells_raters and not has_outcome:
            parts = {"rater": _one_of("rater", raters)}
            parts["aspect"] = _one_of("aspect", aspects)
            return Grid(form.format(**parts), aspects, list(raters))
    return None


def names_rater(name: str) -> bool:
    """Tell whether a name holds a rater with a number or letter, as tone_rater1."""
    return bool(re.search(rf"\b{_WORD}[ _.-]?(?:\d+|[A-Z])\b", name.replace("_", " ")))


def _matches(pattern: str, names: Sequence[str]) -> Iterator[re.Match]:
    """Match names with a pattern."""
    return filter(None, (re.fullmatch(pattern, name) for name in names))


def _one_of(group: str, texts: Sequence[str]) -> str:
    """Write a named group that fits each of some texts."""
    literal = [
        regex.escape(text, special_only=True, literal_spaces=True) for text in texts
    ]
    return f"(?P<{group}>{'|'.join(literal)})"


def radio(table: pd.DataFrame) -> dict[str, list[str]]:
    """Find columns of which one is ticked in each row: options of one question.

    They have a common beginning, as q.1, q.2 and q.3, or are all there are.
    """
    boxes = []
    for name in map(str, table):
        signs = {text.casefold() for text in distinct(table[name])}
        if len(signs - set(NOT_TICKED)) == 1:
            boxes.append(name)
    stems = {}
    for name in boxes:
        stem = re.sub(r"[ _.:-]*\d+$", "", name)
        if stem == name:
            stem = re.sub(r"[ _.:-][^ _.:-]+$", "", name)
        stems.setdefault(stem, []).append(name)
    found = {}
    for stem, names in [*stems.items(), ("choice", boxes)]:
        are_new = not any(set(names) & set(options) for options in found.values())
        if len(names) > 2 and are_new and _one_is_ticked(table[names]):
            found[stem or "choice"] = names
    return found


def _one_is_ticked(table: pd.DataFrame) -> bool:
    """Tell whether no row has two ticks, and most have one."""
    n_ticks = ticks(table).sum(axis="columns")
    is_enough = len(n_ticks) >= FEWEST_COUNTED // 2
    return is_enough and n_ticks.max() == 1 and n_ticks.mean() >= MOSTLY


def is_comparison(name: str, column: pd.Series) -> bool:
    """Tell whether a column says which of two answers is better."""
    if not place(name, "choice") or kind(column) not in ("words", "numbers"):
        return False
    texts = {text.casefold().replace(" ", "_") for text in distinct(column)}
    known = {"0", "1", "2", *GUESSES["answers"].split()}
    return bool(texts) and texts <= known and texts != {"0", "1"}
