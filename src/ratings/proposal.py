"""Roles proposed from what columns hold: levels, who repeats, what varies within what.

Names of columns only choose between columns whose content fits, and nothing here counts
until the owner of the file confirms it. Each proposal comes with its reason.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from helpers.data.tables import BadTableError, cell
from ratings import roles as role_rules
from ratings.roles import Roles
from ratings.table import Table

LOOKED_AT = 20_000  # rows
MOST_LABELS = 30  # columns that are compared with each other
MOST_LEVELS = 11  # of a rating scale with single steps
MOST_SYSTEMS = 60
LONG_TEXT = 8  # words
FEW_REPEATS = 0.05
FEWEST_WIDE = 3
HINTS = {
    "rater": "rater|worker|annotator|author|user|evaluator|participant|respon|coder|"
    "reviewer|assessor|grader|judge|expert|subject|person",
    "system": "model|system|engine|condition|variant|bot|llm|method|agent",
    "prompt": "prompt|question|query|task|dialog|topic|context|source|doc|convers",
    "item": "item|trace|answer|response|output|sample|summary|row|^id$|_id$",
}
# names of columns whose numbers name something, even if they are as few as levels
THINGS = re.compile(
    "(rater|worker|annotator|evaluator|participant|respondent|coder|reviewer|assessor|"
    "grader|user|subject|person|system|model|condition|variant|method|prompt|question|"
    "task|topic|dialog(ue)?|doc(ument)?|item|sample)s?|.*(\\b|_|(?<=[a-z]))(id|ID|Id)"
)
OVERALL = "overall|score|rating|quality|grade|correct|preference|label|value|outcome"
NAMES = "name|criterion|criteria|metric|aspect|dimension|key|question|attribute"
TIME = re.compile(r"\d{4}-\d\d-\d\d|\d\d?[/.]\d\d?[/.]\d{2,4}")
MODELS = (
    "gpt|claude|llama|gemini|mistral|qwen|deepseek|command-r|judge|llm|model|bot|auto"
)
TIES = ("tie", "ties", "equal", "both", "neither", "draw", "same", "no preference")
SIDES = (("a", "b"), ("left", "right"), ("1", "2"), ("first", "second"))
KNOWN_WORDS = (
    {"C": 1.0, "I": 0.0},
    {"pass": 1.0, "fail": 0.0},
    {"correct": 1.0, "incorrect": 0.0},
    {"good": 1.0, "bad": 0.0},
    {"up": 1.0, "down": 0.0},
)


@dataclass
class Column:
    """What a column holds."""

    name: str
    n: int  # cells that are not empty
    distinct: list[str]
    numbers: np.ndarray | None  # distinct numbers, if it holds nothing else
    words: int  # in a usual cell

    @property
    def is_unique(self) -> bool:
        """Whether no value repeats."""
        return len(self.distinct) == self.n and self.n > 1

    def hints_at(self, pattern: str) -> bool:
        """Tell whether the name fits."""
        return bool(re.search(pattern, self.name, re.IGNORECASE))


@dataclass
class Proposal:
    """Roles with the reason of each, and what the owner should look at."""

    roles: Roles
    reasons: dict[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    def add(self, role: str, value: object, reason: str) -> None:
        """Propose one role."""
        self.roles = replace(self.roles, **{role: value})
        self.reasons[role] = reason


def propose(table: Table, given: Roles) -> Proposal:
    """Propose roles for a table from its content.

    Parameters
    ----------
    table : Table
        From `ratings.table.read`.
    given : Roles
        What the owner has said already, which stays as it is.

    Returns
    -------
    Proposal
        Whose roles count for nothing until they are confirmed.

    Raises
    ------
    BadTableError
        If no column holds ratings, or ratings were damaged on the way.

    Examples
    --------
    >>> from ratings.table import read
    >>> found = propose(read("data/example/ratings.csv"), Roles())
    >>> found.roles.score, found.roles.rater
    ('overall', 'rater_id')
    """
    proposal = Proposal(given)
    for name in given.given():
        proposal.reasons[name] = "given by you"
    sample = table.frame.head(LOOKED_AT)
    _wide(sample, proposal)
    roles = _reshaping(proposal.roles)
    looked_at, _ = role_rules.reshape(replace(table, frame=sample), roles)
    is_wide = looked_at.frame is not sample
    columns = [each for each in _describe(looked_at.frame) if each.name in table.frame]
    labels = [column for column in columns if _is_label(column)]
    if not is_wide:
        _pairs(looked_at, columns, proposal)
    if not proposal.roles.are_pairs and not is_wide:
        _scores(looked_at, columns, labels, proposal)
        _by_name(looked_at.frame, columns, labels, proposal)
    varies = [role for role in role_rules.VARIES if f"{{{role}}}" in roles.score]
    _labels(looked_at.frame, labels, varies, proposal)
    _texts(columns, proposal)
    if not proposal.roles.are_pairs:
        _codes(columns, proposal, is_wide)
    _judges(looked_at.frame, proposal)
    if not proposal.roles.are_pairs:
        _repeats(table, proposal)
    return proposal


def _reshaping(roles: Roles) -> Roles:
    """Keep only what makes rows of wide columns."""
    has_part = any("{" in each for each in [roles.score, *roles.aspects])
    return roles if has_part else Roles()


def _describe(frame: pd.DataFrame) -> list[Column]:
    """Look at every column once."""
    columns = []
    for name in frame:
        filled = frame[name].dropna()
        distinct = pd.unique(filled).tolist()
        texts = [text.lower() for text in distinct]
        used = [text for text in texts if text not in role_rules.NOTHING]
        values = [role_rules._number(text, {}, set()) for text in used]
        numbers = None
        if values and None not in values:
            numbers = np.sort(np.array(values, dtype=float))
        words = int(np.median([len(text.split()) for text in distinct[:200]] or [0]))
        columns.append(Column(str(name), len(filled), distinct, numbers, words))
    return columns


def _is_label(column: Column) -> bool:
    """Tell whether a column may name something: short texts, or numbers of things."""
    if not column.distinct or column.words > LONG_TEXT:
        return False
    if all(TIME.match(text) for text in column.distinct[:50]):
        return False
    if column.numbers is not None and THINGS.fullmatch(column.name):
        return bool((column.numbers == np.round(column.numbers)).all())
    return not _is_rating(column)


def _is_rating(column: Column) -> bool:
    """Tell whether a column may hold ratings: few levels, or means on a small scale."""
    numbers = column.numbers
    if numbers is None or not len(numbers):
        return False
    if column.is_unique and len(numbers) > MOST_LEVELS:
        return False
    low, high = numbers[0], numbers[-1]
    usual = numbers[numbers <= 10]
    is_whole = bool((numbers == np.round(numbers)).all())
    if is_whole and low >= -5 and len(numbers) <= MOST_LEVELS:
        # at most a code such as 99 beyond the scale
        return len(usual) >= len(numbers) - 1 and len(usual) > 0
    if low < 0 or len(numbers) > column.n / 1.5:
        return False
    if is_whole:
        return high <= 100
    return high <= 10 and (high > 1 or len(numbers) <= MOST_LEVELS)


def _levels(column: Column) -> str:
    """Write the levels of a column."""
    numbers = column.numbers
    if numbers is None:
        return ", ".join(column.distinct[:6])
    if len(numbers) <= MOST_LEVELS:
        return ", ".join(f"{number:g}" for number in numbers)
    return f"{numbers[0]:g} to {numbers[-1]:g}"


def _wide(frame: pd.DataFrame, proposal: Proposal) -> None:
    """Propose a scale whose columns differ in one part of their names."""
    if proposal.roles.score or proposal.roles.winner or proposal.roles.name:
        return
    groups = {}
    for column in frame:
        for match in re.finditer(r"\d+|[A-Za-z]+\d*", str(column)):
            before, after = column[: match.start()], column[match.end() :]
            if before or after:
                groups.setdefault((before, after), []).append(column)
    usable = {}
    for (before, after), members in groups.items():
        if len(members) < FEWEST_WIDE:
            continue
        described = _describe(frame[members])
        parts = {each[len(before) : len(each) - len(after)] for each in members}
        has_levels = all(_is_rating(each) for each in described)
        if has_levels and _are_numbered(parts):
            usable[before, after] = members
    if not usable:
        return
    most = max(len(members) for members in usable.values())
    chosen = [key for key, members in usable.items() if len(members) == most]
    role = "rater" if most < len(frame) else "item"
    patterns = [f"{before}{{{role}}}{after}" for before, after in chosen]
    why = f"{most} columns hold ratings and differ only in a part of their names"
    proposal.add("score", patterns[-1], f"{why}, taken for {role}s")
    if patterns[:-1]:
        proposal.add("aspects", patterns[:-1], "the others of this kind")


def _are_numbered(parts: Iterable[str]) -> bool:
    """Tell whether parts of names are a series: numbers, or one word with numbers."""
    stems = {re.sub(r"\d+$", "", part) for part in parts}
    has_numbers = all(re.search(r"\d$", part) for part in parts)
    return len(stems) == 1 and has_numbers


def _pairs(table: Table, columns: list[Column], proposal: Proposal) -> None:
    """Propose comparisons: two columns of the same names, and one that chooses."""
    if proposal.roles.score or proposal.roles.name or proposal.roles.winner:
        return
    texts = [each for each in columns if 2 <= len(each.distinct) <= MOST_SYSTEMS + 10]
    texts = texts[:MOST_LABELS]
    for place, first in enumerate(texts):
        for second in texts[place + 1 :]:
            if not _are_compared(table.frame, first, second):
                continue
            systems = set(first.distinct) | set(second.distinct)
            others = [each for each in texts if each not in (first, second)]
            choices = [each for each in others if _choice(each, systems) is not None]
            if choices:
                _propose_pair(first, second, choices, systems, proposal)
                return
            if _sides(first.name, second.name):
                raise BadTableError(
                    f"{table.name}: {cell(first.name)} and {cell(second.name)} name "
                    "two systems in each row, but no column says in words which was "
                    "chosen: make one (docs/own.md shows how), or say which column "
                    "holds ratings (--score)"
                )
    _check_pairs_in_cells(table.name, texts)


def _are_compared(frame: pd.DataFrame, first: Column, second: Column) -> bool:
    """Tell whether two columns name systems that are compared in each row."""
    if first.numbers is not None or second.numbers is not None:
        return False
    shared = set(first.distinct) & set(second.distinct)
    everything = set(first.distinct) | set(second.distinct)
    # systems that are many in a short file stand on one side only
    least = 1 if _sides(first.name, second.name) else len(everything) / 2 - 1
    is_usual = len(shared) >= least
    return is_usual and bool((frame[first.name] != frame[second.name]).all())


def _sides(first: str, second: str) -> bool:
    """Tell whether two texts differ in their side only, as model_a and model_b do."""
    for one, other in SIDES:
        kind = r"\d" if one.isdigit() else "[a-z]"
        neutral = []
        for side, text in ((one, first.lower()), (other, second.lower())):
            neutral.append(re.sub(rf"(?<!{kind}){side}(?!{kind})", "?", text))
        if "?" in neutral[0] and neutral[0] == neutral[1]:
            return True
    return False


def _check_pairs_in_cells(name: str, texts: list[Column]) -> None:
    """Refuse cells that name two systems, of which other columns choose one."""
    for column in texts:
        if column.numbers is not None:
            continue
        parts = [re.split(r"\s*[,;|]\s*", text) for text in column.distinct]
        if any(len(each) != 2 for each in parts):
            continue
        systems = {label for each in parts for label in each}
        choices = [each for each in texts if _choice(each, systems) is not None]
        if choices:
            raise BadTableError(
                f"{name}: {cell(column.name)} names two systems in each cell, of which "
                f"{cell(choices[0].name)} chooses one: make a column of each "
                "(docs/own.md shows how)"
            )


def _choice(column: Column, systems: set[str]) -> tuple[list[str], list[str]] | None:
    """Tell whether a column chooses: ties, and the words of a and b if it has any."""
    values = set(column.distinct)
    ties = sorted(each for each in values if _is_tie(each, systems))
    rest = values - set(ties)
    if rest and rest <= systems:
        return ties, []
    if len(rest) == 2:
        for first, second in (sorted(rest), sorted(rest, reverse=True)):
            if _sides(first, second):
                return ties, [first, second]
    return None


def _is_tie(value: str, systems: set[str]) -> bool:
    """Tell whether a value says that neither is better."""
    return value not in systems and any(word in value.lower() for word in TIES)


def _propose_pair(
    first: Column,
    second: Column,
    choices: list[Column],
    systems: set[str],
    proposal: Proposal,
) -> None:
    """Propose the roles of comparisons."""
    hinted = [each for each in choices if each.hints_at(f"{OVERALL}|winner")]
    chosen = [*choices[:1], *hinted[:1]][-1]
    ties, says = _choice(chosen, systems)
    proposal.add("a", first.name, "names of systems, never the same as in b's column")
    proposal.add("b", second.name, "names of systems, mostly the same as in a's column")
    proposal.add("winner", chosen.name, "its values choose one of the two")
    rest = [each.name for each in choices if each is not chosen]
    if rest:
        proposal.remarks.append(
            f"{', '.join(rest)} could be the winner, too: say which"
        )
    if ties:
        proposal.add("ties", ties, "values that name neither system")
    if says:
        proposal.add("says", says, f"taken for {first.name} and for {second.name}")


def _scores(
    table: Table,
    columns: list[Column],
    labels: list[Column],
    proposal: Proposal,
) -> None:
    """Propose the score, and the other ratings as aspects."""
    used = _used(proposal.roles)
    rated = []
    for column in columns:
        is_identifier = column in labels and column.numbers is not None
        if column.name in used or is_identifier:
            continue
        if _was_date(column) and not proposal.roles.score:
            raise BadTableError(
                f"{table.name}: column {cell(column.name)} holds dates such as "
                f"{cell(column.distinct[0])}: Excel makes 5-Mar of 3/5; restore the "
                "ratings from the original file, or say which columns hold ratings "
                "(--score, --aspects)"
            )
        if _is_rating(column):
            if _counts_repeats(table.frame, column, labels):
                proposal.remarks.append(
                    f"{column.name} is not taken for a rating: it numbers the rows of "
                    "each group"
                )
            else:
                rated.append(column)
        elif (words := _known_words(column)) and not proposal.roles.score:
            rated.append(column)
            proposal.add("words", words, f"the values of {column.name}")
    if proposal.roles.score:
        rest = [each.name for each in rated if each.name != proposal.roles.score]
        if rest and "aspects" not in proposal.reasons and not proposal.roles.name:
            proposal.add("aspects", rest, "the other columns with few levels")
        return
    nested = [each.name for each in columns if each.distinct[:1] and _is_nested(each)]
    if not rated:
        lists = f"; lists of objects stand in {', '.join(nested)}" if nested else ""
        raise BadTableError(
            f"{table.name}: no column looks like ratings (numbers with few levels)"
            f"{lists}: name it with --score, and the numbers of words with --words; "
            "docs/own.md shows how to bring other forms into one table"
        )
    for name in nested:
        proposal.remarks.append(
            f"{name} holds lists of objects, which are not used: docs/own.md shows how "
            "to make a row of each"
        )
    several = [each for each in rated if len(each.distinct) > 1] or rated
    hinted = [each for each in several if each.hints_at(OVERALL)]
    chosen = [*several[-1:], *hinted[:1]][-1]
    why = f"levels {_levels(chosen)}"
    if len(rated) > 1:
        how = "by its name" if hinted else "the last one"
        why += f"; chosen {how} among {len(rated)} columns of ratings"
    proposal.add("score", chosen.name, why)
    rest = [each for each in several if each is not chosen]
    for column in rated:
        if column is not chosen and column not in several:
            proposal.remarks.append(f"{column.name} has the same value in all rows")
    if rest:
        levels = "; ".join(f"{each.name}: {_levels(each)}" for each in rest)
        proposal.add("aspects", [each.name for each in rest], f"levels of {levels}")
    lists = [each.name for each in columns if _holds_lists(each)]
    for name in lists:
        proposal.remarks.append(
            f"{name} holds several numbers in a cell: a row for each rating is needed "
            "to say how far people agree (docs/own.md)"
        )


def _used(roles: Roles) -> set[str]:
    """Columns that have a role."""
    names = [getattr(roles, role) for role in role_rules.COLUMNS]
    return {*names, roles.name, roles.value, *roles.aspects, *roles.text} - {""}


def _was_date(column: Column) -> bool:
    """Tell whether Excel has turned ratings into dates."""
    if not column.distinct or len(column.distinct) > 31:
        return False
    texts = [text for text in column.distinct if text.lower() not in role_rules.NOTHING]
    return any(role_rules.MONTH_DATE.fullmatch(text) for text in texts)


def _holds_lists(column: Column) -> bool:
    """Tell whether cells hold several numbers."""
    number = r"-?\d+(\.\d+)?"
    listed = rf"\[?\s*{number}(\s*[,;|]\s*{number})+\s*\]?"
    texts = [text for text in column.distinct[:50] if not _is_decimal(text)]
    return bool(texts) and all(re.fullmatch(listed, text) for text in texts)


def _is_nested(column: Column) -> bool:
    """Tell whether cells hold lists of objects."""
    return column.distinct[0].startswith("[{")


def _is_decimal(text: str) -> bool:
    """Tell whether a text is one number with a decimal comma."""
    return bool(role_rules.COMMA.fullmatch(text))


def _known_words(column: Column) -> dict[str, float]:
    """Give numbers for words that programs write for right and wrong."""
    for words in KNOWN_WORDS:
        if len(column.distinct) == 2 and set(column.distinct) == set(words):
            return dict(words)
    return {}


def _counts_repeats(frame: pd.DataFrame, column: Column, labels: list[Column]) -> bool:
    """Tell whether numbers only count the rows of each group of labels."""
    keys = [each.name for each in labels if not each.is_unique]
    if not keys or column.numbers is None or len(column.numbers) < 2:
        return False
    groups = frame.groupby(keys, dropna=False)[column.name]
    sizes = groups.size()
    is_counted = (groups.nunique() == sizes).all() and (sizes > 1).all()
    steps = np.diff(column.numbers)
    return bool(is_counted and column.numbers[0] in (0, 1) and (steps == 1).all())


def _by_name(
    frame: pd.DataFrame,
    columns: list[Column],
    labels: list[Column],
    proposal: Proposal,
) -> None:
    """Propose names and values if one column says what another one rates."""
    score = proposal.roles.score
    if proposal.reasons.get("score") == "given by you" or proposal.roles.aspects:
        return
    others = [each.name for each in labels if not each.is_unique]
    for column in labels:
        if not column.hints_at(NAMES) or not 2 <= len(column.distinct) <= 30:
            continue
        keys = [name for name in others if name != column.name]
        once = not frame.duplicated([*keys, column.name]).any()
        levels = frame.groupby(column.name)[score].agg(lambda each: frozenset(each))
        if not keys or not once:
            continue
        names = column.distinct
        hinted = [name for name in names if re.search(OVERALL, name, re.IGNORECASE)]
        chosen = (hinted or names)[0]
        why = f"it names what {cell(score)} rates: each once for the same {keys[0]}"
        if len(set(levels)) > 1:
            why += ", with other levels"
        proposal.add("name", column.name, why)
        proposal.add("value", score, proposal.reasons["score"])
        proposal.add("score", chosen, f"one of the values of {column.name}; say which")
        rest = [name for name in names if name != chosen]
        proposal.add("aspects", rest, f"the other values of {column.name}")
        return


def _labels(
    frame: pd.DataFrame, labels: list[Column], known: list[str], proposal: Proposal
) -> None:
    """Propose rater, item, system and prompt from who repeats and what varies."""
    taken = _used(proposal.roles)
    free = [each for each in labels[:MOST_LABELS] if each.name not in taken]
    are_pairs = proposal.roles.are_pairs
    order = ("rater", "prompt") if are_pairs else ("rater", "system", "item", "prompt")
    for role in order:
        if getattr(proposal.roles, role) or role in known:
            continue
        fitting = [each for each in free if _fits(frame, each, role, proposal.roles)]
        hinted = [each for each in fitting if each.hints_at(HINTS[role])]
        chosen = (hinted or [None])[0]
        if role == "item" and not hinted:
            chosen = _most_distinct(fitting)
        if role == "system" and not hinted:
            chosen = _groups_of_others(frame, fitting, free)
        if role == "prompt" and not hinted and proposal.roles.item:
            most = frame[proposal.roles.item].nunique() / 2
            fewer = [each for each in fitting if len(each.distinct) <= most]
            chosen = _most_distinct(fewer)
        if chosen is None:
            continue
        free.remove(chosen)
        proposal.add(role, chosen.name, _why(frame, chosen, role, proposal.roles))


def _fits(frame: pd.DataFrame, column: Column, role: str, roles: Roles) -> bool:
    """Tell whether the content of a column allows a role."""
    n_values = len(column.distinct)
    if role == "rater":
        return not column.is_unique
    if role == "system":
        return 2 <= n_values <= MOST_SYSTEMS and not column.is_unique
    if role == "item":
        if n_values < 3:
            return False
        return not roles.system or _determines(frame, column.name, roles.system)
    if roles.item and not _determines(frame, roles.item, column.name):
        return False
    return n_values > 2


def _determines(frame: pd.DataFrame, one: str, other: str) -> bool:
    """Tell whether each value of a column has one value of another."""
    if one not in frame or other not in frame:
        return True
    return frame.groupby(one)[other].nunique().max() <= 1


def _most_distinct(columns: list[Column]) -> Column | None:
    """The column with most values, which must be many."""
    many = [each for each in columns if len(each.distinct) > MOST_LEVELS]
    return max(many, key=lambda each: len(each.distinct), default=None)


def _groups_of_others(
    frame: pd.DataFrame, fitting: list[Column], free: list[Column]
) -> Column | None:
    """A column of few values that is the same for all rows of something else."""
    others = "|".join(HINTS[role] for role in ("rater", "prompt", "item"))
    texts = [each for each in fitting if each.numbers is None]
    texts = [each for each in texts if not each.hints_at(others)]
    for column in sorted(texts, key=lambda each: len(each.distinct)):
        finer = [each for each in free if len(each.distinct) > len(column.distinct)]
        if any(_determines(frame, each.name, column.name) for each in finer):
            return column
    return None


def _why(frame: pd.DataFrame, column: Column, role: str, roles: Roles) -> str:
    """Say what in the content of a column speaks for a role."""
    n_values = len(column.distinct)
    why = f"{n_values:,} values in {column.n:,} rows"
    if column.is_unique:
        why = f"{n_values:,} values, none repeats"
    if role == "rater" and n_values == 1:
        return "one value: a single rater"
    if role == "system" and roles.prompt and roles.prompt in frame:
        within = frame.groupby(roles.prompt)[column.name].nunique().median()
        why += f"; usually {within:g} within a prompt"
    if role == "item" and roles.rater and roles.rater in frame:
        within = frame.groupby(column.name)[roles.rater].nunique().median()
        why += f"; usually rated by {within:g} of {roles.rater}"
    if role == "prompt" and roles.item and roles.item in frame:
        within = frame.groupby(column.name)[roles.item].nunique().median()
        why += f"; usually {within:g} items within one"
    return why


def _texts(columns: list[Column], proposal: Proposal) -> None:
    """Propose the answers' text, or the number of their words."""
    if proposal.roles.text:
        return
    counts = [each for each in columns if each.hints_at(r"words|length|n_tokens")]
    counts = [each for each in counts if each.numbers is not None]
    taken = _used(proposal.roles)
    long = [each for each in columns if each.words > LONG_TEXT]
    answers = [each for each in long if each.hints_at("answer|response|output|text")]
    if proposal.roles.are_pairs:
        for found, what in ((answers, "long texts"), (counts, "numbers of words")):
            if len(found) == 2 and not proposal.roles.text:
                names = [each.name for each in found]
                proposal.add("text", names, f"{what}, taken for a's and b's")
        return
    usable = [each for each in [*answers, *counts] if each.name not in taken]
    if usable:
        what = "long texts" if usable[0] in answers else "numbers of words"
        proposal.add("text", [usable[0].name], what)


def _codes(columns: list[Column], proposal: Proposal, is_wide: bool) -> None:
    """Propose codes of no rating, and scales, from gaps between levels."""
    roles = proposal.roles
    by_name = {each.name: each for each in columns}
    codes = []
    scales = {}
    for name in [roles.score, *roles.aspects]:
        if is_wide or roles.name or name not in by_name:
            continue
        numbers = by_name[name].numbers
        if numbers is None or len(numbers) < 3:
            continue
        steps = np.diff(numbers)
        if steps[-1] >= 3 and steps[:-1].max() <= 1:
            codes.append(f"{numbers[-1]:g}")
            numbers = numbers[:-1]
        if steps[0] >= 2 and numbers[0] < 0:
            codes.append(f"{numbers[0]:g}")
            numbers = numbers[1:]
        scales[name] = [float(np.floor(numbers[0])), float(np.ceil(numbers[-1]))]
    if codes and not roles.missing:
        codes = sorted(set(codes))
        proposal.add("missing", codes, "far from the other levels: codes of no rating?")
    if scales and not roles.scale:
        why = "the levels that occur; correct it if more could be given"
        proposal.add("scale", scales, why)


def _judges(frame: pd.DataFrame, proposal: Proposal) -> None:
    """Propose which raters are models."""
    rater = proposal.roles.rater
    if proposal.roles.judge or rater not in frame:
        return
    labels = frame[rater].dropna().unique()
    named = [each for each in labels if re.search(MODELS, each, re.IGNORECASE)]
    if named and len(named) < len(labels):
        why = f"labels in {rater} that look like models, not people"
        proposal.add("judge", named, why)


def _repeats(table: Table, proposal: Proposal) -> None:
    """Propose that first ratings count where few items are rated twice by a rater."""
    roles = proposal.roles
    if roles.repeats or not roles.rater or not roles.item:
        return
    if {roles.rater, roles.item} - set(table.frame) or roles.name:
        return
    is_repeat = table.frame.duplicated([roles.item, roles.rater])
    if not is_repeat.any() or table.frame.duplicated()[is_repeat].all():
        return
    if is_repeat.mean() <= FEW_REPEATS:
        n_rows = int(is_repeat.sum())
        why = f"{n_rows} rows rate an item again that the same rater has rated"
        proposal.add("repeats", "first", why)
