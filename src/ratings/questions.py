"""Questions that a recipe leaves open, and what the answers to them set.

A question is a mapping with ``ask``, ``answer``, perhaps ``proposed`` (the answer that
seems likely), and one of

- ``options``: for each possible answer the keys of a recipe that it sets;
- ``scale``: columns whose lowest and highest rating the answer gives, as ``1 to 5``;
- ``order``: columns whose words the answer lists, the lowest first, as ``bad, good``;
  ``words`` are those that it must list.

A question with an empty answer is open. An answer sets its keys: pairs and lists are
added to those that the recipe has, other values replace them, and an empty value takes
a key out of the recipe.
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence

from helpers.data.tables import OptionError, cell

KINDS = {
    "ask": str,
    "answer": str,
    "proposed": str,
    "options": Mapping,
    "scale": list,
    "order": list,
    "words": list,
}
UNKNOWN = "unknown"  # the answer where nobody knows the ends of a scale
NOT_USED = "not used"  # the answer where words have no order
_RANGE = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*(?:to|-|–|,)\s*([+-]?\d+(?:\.\d+)?)\s*")


def question(ask: str, proposed: str = "", **effect: object) -> dict:
    """Write an open question; ``effect`` is its ``options``, ``scale`` or ``order``."""
    asked = {"ask": ask, "answer": ""}
    if proposed:
        asked["proposed"] = proposed
    return asked | effect


def open_questions(recipe: Mapping) -> list[str]:
    """List the questions of a recipe that nobody has answered.

    Examples
    --------
    >>> scale = question("Which ratings could be given for tone?", scale=["tone"])
    >>> open_questions({"questions": [scale]})
    ['Which ratings could be given for tone?']
    >>> open_questions({"questions": [scale | {"answer": "1 to 5"}]})
    []
    """
    return [each["ask"] for each in unanswered(recipe)]


def for_page(recipe: Mapping) -> list[str]:
    """Word the open questions without what stands in cells: it may be names of people.

    Examples
    --------
    >>> order = question("who: if the words Ann, Ben …", order=["who"], words=["Ann"])
    >>> for_page({"questions": [order]})
    ['who: are the words of who ratings, and what is their order?']
    """
    return [_without_cells(each) for each in unanswered(recipe)]


def _without_cells(asked: Mapping) -> str:
    """Word a question without labels and words from cells."""
    if "order" in asked:
        names = ", ".join(asked["order"])
        return f"{names}: are the words of {names} ratings, and what is their order?"
    for keys in (asked.get("options") or {}).values():
        if keys and "fold" in keys:
            names = ", ".join(keys["fold"])
            return f"{names}: are labels the same that differ only in case or spaces?"
        if keys and "without" in keys:
            names = ", ".join(keys["without"])
            return f"Did all raters ({names}) use one scale, or are some left out?"
    return asked["ask"]


def unanswered(recipe: Mapping) -> Iterator[dict]:
    """Give the questions of a recipe that nobody has answered."""
    for each in recipe.get("questions", []):
        if not each.get("answer"):
            yield each


def was_asked(recipe: Mapping, ask: str) -> bool:
    """Tell whether a recipe holds a question, answered or not."""
    return any(each["ask"] == ask for each in recipe.get("questions", []))


def check(asked: Sequence[Mapping], name: str) -> None:
    """Stop at what is no question, or at an answer that a question does not have."""
    for each in asked:
        if not _is_question(each):
            raise OptionError(
                f"{name}: each of questions has the keys ask and answer, and may have "
                f"proposed, options, scale, order or words; not {cell(each)}"
            )
        if each.get("answer"):
            try:
                effect(each)
            except OptionError as error:
                raise OptionError(f"{name}: {error}") from None


def _is_question(value: object) -> bool:
    """Tell whether a value has the form of a question."""
    if not isinstance(value, Mapping) or not value.get("ask"):
        return False
    for key, each in value.items():
        if key not in KINDS or (each and not isinstance(each, KINDS[key])):
            return False
    options = value.get("options") or {}
    return all(isinstance(keys or {}, Mapping) for keys in options.values())


def effect(asked: Mapping) -> dict:
    """Give the keys that the answer to a question sets.

    Raises
    ------
    tables.OptionError
        If the question has no such answer.

    Examples
    --------
    >>> effect({"ask": "?", "answer": "1 to 5", "scale": ["tone", "overall"]})
    {'scales': {'tone': ['1', '5'], 'overall': ['1', '5']}}
    >>> effect({"ask": "?", "answer": "bad, good", "order": ["tone"]})["marks"]
    {'tone': {'bad': '0', 'good': '1'}}
    """
    answer = " ".join(asked["answer"].split())
    if "options" in asked:
        return _chosen(asked, answer)
    if "scale" in asked:
        return _scales(asked, answer)
    if "order" in asked:
        return _order(asked, answer)
    return {}


def _chosen(asked: Mapping, answer: str) -> dict:
    """Find the keys of the option that was chosen."""
    for option, keys in asked["options"].items():
        if option.casefold() == answer.casefold():
            return dict(keys or {})
    options = ", ".join(asked["options"])
    raise OptionError(
        f"the answer {cell(answer)} to {asked['ask']!r} is none of: {options}"
    )


def _scales(asked: Mapping, answer: str) -> dict:
    """Take the ends of a scale from an answer."""
    if answer.casefold() == UNKNOWN:
        return {}
    ends = _RANGE.fullmatch(answer)
    if not ends or float(ends[1]) >= float(ends[2]):
        raise OptionError(
            f"the answer {cell(answer)} to {asked['ask']!r} gives no lowest and "
            f"highest rating: write, for instance, '1 to 5', or '{UNKNOWN}'"
        )
    return {"scales": {column: [ends[1], ends[2]] for column in asked["scale"]}}


def _order(asked: Mapping, answer: str) -> dict:
    """Take words in their order from an answer: two are 0 and 1, more count from 1."""
    if answer.casefold() == NOT_USED:
        return {}
    (words,) = csv.reader([answer], skipinitialspace=True)
    words = [word.strip() for word in words]
    folded = {word.casefold() for word in words}
    left = [each for each in asked.get("words", []) if each.casefold() not in folded]
    if len(words) < 2 or not all(words) or left:
        raise OptionError(
            f"the answer {cell(answer)} to {asked['ask']!r} does not list all words "
            f"from the lowest to the highest, with commas between: do so, or write "
            f"'{NOT_USED}'"
        )
    lowest = 0 if len(words) == 2 else 1
    marks = {word: str(n) for n, word in enumerate(words, start=lowest)}
    ends = [str(lowest), str(lowest + len(words) - 1)]
    columns = asked["order"]
    return {
        "marks": dict.fromkeys(columns, marks),
        "scales": dict.fromkeys(columns, ends),
        "aspects": list(columns),
    }


def with_answers(recipe: Mapping) -> dict:
    """Set what the answers in a recipe say, and keep each as question and answer alone.

    So an answer is carried out once, and keys that are edited later stay as they are.

    Examples
    --------
    >>> code = {"ask": "Is 9 no rating?", "answer": "yes"}
    >>> code["options"] = {"yes": {"missing": ["9"]}, "no": {}}
    >>> with_answers({"outcome": "tone", "questions": [code]})
    {'outcome': 'tone', 'questions': [{'ask': 'Is 9 no rating?', 'answer': 'yes'}], \
'missing': ['9']}
    """
    asked = recipe.get("questions", [])
    done = dict(recipe)
    kept = []
    unused = []
    for each in asked:
        if each.get("answer"):
            if "order" in each:  # another order replaces the proposed one
                marks = done.get("marks", {})
                rest = {
                    name: marks[name] for name in marks if name not in each["order"]
                }
                done["marks"] = rest
            for key, value in effect(each).items():
                _set(done, key, value)
            if each["answer"].casefold() == NOT_USED:
                unused += each.get("order", [])
            each = {"ask": each["ask"], "answer": each["answer"]}
        kept.append(each)
    roles = {"item", "rater", "position", "cluster", "system"}
    taken = {name for role in roles for name in done.get(role, [])}
    done["questions"] = [
        each for each in kept if not each.get("order") or set(each["order"]) - taken
    ]
    if done.get("outcome") in unused:
        done["outcome"] = ""
    if "aspects" in done:
        others = (done.get("outcome"), *unused)
        done["aspects"] = [name for name in done["aspects"] if name not in others]
    return {key: value for key, value in done.items() if value not in ("", [], {})}


def _set(recipe: dict, key: str, value: object) -> None:
    """Add pairs and lists to those that there are; replace or take out all else."""
    before = recipe.get(key)
    if value and isinstance(value, Mapping):
        merged = dict(before or {})
        for name, each in value.items():
            old = merged.get(name)
            both = isinstance(old, Mapping) and isinstance(each, Mapping)
            merged[name] = {**old, **each} if both else each
        recipe[key] = {name: each for name, each in merged.items() if each}
    elif value and isinstance(value, list) and isinstance(before, list):
        recipe[key] = list(dict.fromkeys([*before, *value]))
    else:
        recipe[key] = value
