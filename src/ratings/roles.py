"""What the columns of a file are: roles that its owner gives or confirms.

`Roles` are given as options or stand in a TOML file next to the data. `prepare` turns a
table of text into ratings by these roles alone; whatever it cannot use it refuses, or
leaves out and counts. `ratings.proposal` proposes roles, which count for nothing until
they are confirmed.
"""

import json
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

import numpy as np
import pandas as pd

from helpers import paths, raters
from helpers.data.tables import BadTableError, OptionError, cell, choose
from ratings.table import Table

COLUMNS = ("item", "prompt", "rater", "system", "score", "a", "b", "winner")
LISTS = ("aspects", "text", "judge", "ties", "says", "missing", "leave_out", "accept")
CALLED = {
    "item": "item_id",
    "prompt": "prompt_id",
    "rater": "rater_id",
    "system": "system",
    "a": "a",
    "b": "b",
    "winner": "winner",
}
VARIES = ("item", "rater", "system")  # what may vary in the names of wide columns
NOTHING = ("na", "n/a", "n.a.", "nan", "null", "none")
TRUTH = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
REPEATS = ("first", "last", "mean")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
COMMA = re.compile(r"[+-]?\d+,\d+", re.ASCII)
MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
# what Excel makes of a rating such as 3/5, as text or as a cell with a date
MONTH_DATE = re.compile(
    rf"\d{{1,2}}[-. /]({MONTHS})\.?|({MONTHS})[-. /]\d{{1,2}}|"
    r"\d{4}-\d\d-\d\dT00:00:00",
    re.IGNORECASE,
)
LARGEST = 1e12  # beyond it sums of squares lose the digits of other ratings


@dataclass(frozen=True)
class Roles:
    """Columns by role, and what else the owner of a file has decided.

    ``name`` and ``value`` are columns of files with a row for each name and value.
    In wide files ``score`` and ``aspects`` may hold ``{rater}``, ``{item}`` or
    ``{system}``, which stands for the part of the names that varies.
    """

    item: str = ""
    prompt: str = ""
    rater: str = ""
    system: str = ""
    score: str = ""
    aspects: list[str] = field(default_factory=list)
    judge: list[str] = field(default_factory=list)  # raters that are models
    text: list[str] = field(default_factory=list)  # one column; in pairs two
    a: str = ""
    b: str = ""
    winner: str = ""
    ties: list[str] = field(default_factory=list)
    says: list[str] = field(default_factory=list)  # the winner's words for a and b
    name: str = ""
    value: str = ""
    missing: list[str] = field(default_factory=list)  # codes of no rating
    words: dict[str, float] = field(default_factory=dict)  # numbers for words
    scale: dict[str, list[float]] = field(default_factory=dict)
    repeats: str = ""  # which of several ratings of an item by one rater counts
    leave_out: list[str] = field(default_factory=list)  # raters
    accept: list[str] = field(default_factory=list)  # concerns that do not stop
    sheet: str = ""
    records: str = ""
    confirmed: str = ""  # "yes", or "unseen" after --yes

    @property
    def are_pairs(self) -> bool:
        """Whether each row compares two systems."""
        return bool(self.winner)

    def given(self) -> dict[str, object]:
        """Everything that is set."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in values.items() if value}


def combine(known: Roles, given: dict[str, object]) -> Roles:
    """Let options take the place of what a file of roles says."""
    return replace(known, **{name: value for name, value in given.items() if value})


def released(roles: Roles, given: dict[str, object]) -> Roles:
    """Take columns out of the roles that they had before they were given another."""
    columns = set()
    for value in given.values():
        columns |= {value} if isinstance(value, str) else set(value)
    changed = {}
    for name in (*COLUMNS, "aspects", "text"):
        value = getattr(roles, name)
        if isinstance(value, list):
            changed[name] = [each for each in value if each not in columns]
        elif value in columns:
            changed[name] = ""
    return replace(roles, **changed)


def check(roles: Roles) -> None:
    """Refuse roles that contradict each other or say too little."""
    if roles.are_pairs:
        lacking = [name for name in ("a", "b") if not getattr(roles, name)]
        if lacking:
            raise OptionError(
                f"pairs need the columns of both systems: give --{lacking[0]}"
            )
        if roles.score:
            raise OptionError("give either --score or --winner: a row is one of both")
    elif not roles.score:
        raise OptionError(
            "no column of scores is named: give --score, or for pairs --a, --b and "
            "--winner; `ratings check FILE` proposes roles"
        )
    if bool(roles.name) != bool(roles.value):
        raise OptionError("--name and --value belong together: give both or neither")
    if roles.repeats and roles.repeats not in REPEATS:
        raise OptionError(
            f"repeats is {cell(roles.repeats)}: choose one of {', '.join(REPEATS)}"
        )
    for kind in roles.accept:
        if kind not in raters.KINDS:
            raise OptionError(
                f"--accept {cell(kind)} is unknown: choose among "
                f"{', '.join(raters.KINDS)}"
            )
    if roles.judge and not roles.rater:
        raise OptionError("--judge is a label in the column of raters: give --rater")
    n_texts = 2 if roles.are_pairs else 1
    if roles.text and len(roles.text) != n_texts:
        raise OptionError(f"--text takes {n_texts} columns here, not {len(roles.text)}")
    if roles.says and len(roles.says) != 2:
        raise OptionError("--says takes two words, for a and for b: --says left,right")
    for name, ends in roles.scale.items():
        if len(ends) != 2 or not ends[0] < ends[1]:
            raise OptionError(f"the scale of {cell(name)} needs a low and a high end")
    used = {}
    for name in (*COLUMNS, "aspects", "text", "name", "value"):
        value = getattr(roles, name)
        for column in [value] if isinstance(value, str) and value else value:
            if column in used:
                raise OptionError(
                    f"column {cell(column)} is both {used[column]} and {name}: a "
                    "column has one role"
                )
            used[column] = name
    reserved = {*CALLED.values(), "length", "others"}
    for column in [roles.score, *roles.aspects]:
        if column in reserved:
            raise OptionError(
                f"a column of scores cannot be called {cell(column)}, which stands "
                "for something else here: rename it"
            )


def read_toml(path: Path) -> Roles:
    """Read a file of roles, and refuse keys and kinds of values that it cannot have."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise OptionError(f"{path.name} is not valid TOML ({error})") from None
    known = {each.name: each.type for each in fields(Roles)}
    values = {}
    for key, value in content.items():
        if key not in known:
            raise OptionError(
                f"{path.name}: {cell(key)} is unknown; there are {', '.join(known)}"
            )
        kind = type(getattr(Roles(), key))
        if kind is list and isinstance(value, str):
            value = [value]
        if not isinstance(value, kind):
            words = {str: "a text", list: "a list", dict: "a table"}[kind]
            raise OptionError(f"{path.name}: {key} must be {words}")
        if kind is list:
            value = [_plain(element) for element in value]
        values[key] = value
    return Roles(**values)


def _plain(value: object) -> str:
    """Write a number in a list of TOML as a file would have it."""
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def write_toml(path: Path, roles: Roles, comments: Iterable[str]) -> None:
    """Write roles as TOML; strings of JSON are strings of TOML."""
    lines = [f"# {comment}" for comment in comments]
    tables = []
    for name, value in roles.given().items():
        if isinstance(value, dict):
            tables.append(f"[{name}]")
            tables += [f"{_toml(key)} = {_toml(each)}" for key, each in value.items()]
        else:
            lines.append(f"{name} = {_toml(value)}")
    text = "\n".join([*lines, *tables])
    paths.replace_files({path: f"{text}\n".encode()})


def _toml(value: object) -> str:
    """Write a text, a number or a list of them."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_beside(file: str | Path) -> Path:
    """Name the file of roles of a file of ratings."""
    path = Path(file)
    return path.with_name(f"{path.name}.toml")


@dataclass
class Ratings:
    """Ratings as the verbs take them, and what became of the other rows.

    ``frame`` has ``item_id``, ``prompt_id``, ``rater_id``, ``system`` and ``length``
    as far as they are known, scores and aspects under their own names; in pairs ``a``,
    ``b``, ``winner``, ``length_a`` and ``length_b``. Raters are numbered; ``people``
    has their labels.
    """

    name: str
    roles: Roles
    frame: pd.DataFrame
    left_out: list[tuple[str, int]]
    notes: list[str]
    people: pd.DataFrame
    is_simulated: bool


def prepare(table: Table, roles: Roles) -> Ratings:
    """Turn a table of text into ratings.

    Parameters
    ----------
    table : Table
        From `ratings.table.read`.
    roles : Roles
        Given or confirmed by the owner of the file.

    Returns
    -------
    Ratings

    Raises
    ------
    OptionError
        If roles contradict each other.
    BadTableError
        If a column is missing, or a cell is neither a rating nor a code of none.

    Examples
    --------
    >>> from ratings.table import read
    >>> roles = Roles(score="overall", rater="rater_id", item="item_id",
    ...               prompt="prompt_id")
    >>> ratings = prepare(read("data/example/ratings.csv"), roles)
    >>> ratings.left_out
    [('copies of another row', 1)]
    """
    check(roles)
    table, roles = reshape(table, roles)
    _check_columns(table, roles)
    cells = table.frame
    left_out = []
    if table.empty_rows:
        left_out.append(("empty in all columns", table.empty_rows))
    notes = list(table.notes)
    columns = {}
    for role, called in CALLED.items():
        if getattr(roles, role):
            columns[called] = cells[getattr(roles, role)]
    for column in [roles.score, *roles.aspects]:
        if column:
            columns[column] = numbers(table, column, roles, notes)
    for column, called in zip(roles.text, _called_texts(roles), strict=False):
        columns[called] = lengths(cells[column])
    frame = pd.DataFrame(columns, index=cells.index)
    # whose row lacks a label it needs is left out; prompts and texts may be missing
    for role in ("item", "prompt", "rater", "system", "a", "b", "winner"):
        if getattr(roles, role):
            frame = _without(
                frame, frame[CALLED[role]].isna(), f"{role}: empty", left_out
            )
    if roles.score:
        reason = f"{roles.score}: no rating"
        frame = _without(frame, frame[roles.score].isna(), reason, left_out)
    if frame.empty:
        raise BadTableError(f"{table.name}: no row has everything that is needed")
    if not roles.are_pairs:
        frame = _with_items(frame, roles, notes)
    elif not roles.prompt:
        frame = frame.assign(prompt_id=frame.index.astype(str))
        notes.append("prompt: each comparison has its own, since none is named")
    frame = _without_raters(frame, roles, left_out)
    if roles.score and roles.rater:
        frame = _rated_once(frame, cells, roles, table.name, left_out)
    is_simulated = "source" in cells and bool(cells["source"].eq("simulated").any())
    people = pd.DataFrame(columns=["rater", "label"])
    if roles.rater:
        people = number_people(frame["rater_id"], roles.judge)
        numbered = dict(zip(people["label"], people["rater"], strict=True))
        frame = frame.assign(rater_id=frame["rater_id"].map(numbered))
    return Ratings(table.name, roles, frame, left_out, notes, people, is_simulated)


def _called_texts(roles: Roles) -> list[str]:
    """Name the columns of lengths."""
    return ["length_a", "length_b"] if roles.are_pairs else ["length"]


def _check_columns(table: Table, roles: Roles) -> None:
    """Refuse roles of columns that the file does not have."""
    wanted = [getattr(roles, role) for role in COLUMNS if getattr(roles, role)]
    names = table.frame.columns.tolist()
    _, problems = choose([*wanted, *roles.aspects, *roles.text], names)
    if problems:
        raise BadTableError(f"{table.name}: {problems[0]}")


def _without(
    frame: pd.DataFrame,
    is_out: pd.Series,
    reason: str,
    left_out: list[tuple[str, int]],
) -> pd.DataFrame:
    """Leave out rows, and write down how many and why."""
    if is_out.any():
        left_out.append((reason, int(is_out.sum())))
    return frame[~is_out]


def numbers(table: Table, column: str, roles: Roles, notes: list[str]) -> pd.Series:
    """Read the ratings in a column; refuse cells that are neither number nor code."""
    cells = table.frame[column]
    codes, distinct = pd.factorize(cells)
    words = {word.lower(): float(value) for word, value in roles.words.items()}
    missing = {code.lower() for code in roles.missing}
    commas = [text for text in distinct if COMMA.fullmatch(text)]
    if commas and all(re.search(r",\d{3}$", text) for text in commas):
        raise BadTableError(
            f"{table.name}: {cell(commas[0])} in column {cell(column)} may be a "
            "decimal or thousands: write it with a point or without the comma"
        )
    if commas:
        notes.append(f"{column}: decimal commas are read as points")
    values = []
    for code, text in enumerate(distinct):
        value = _number(text.lower(), words, missing)
        if value is None or abs(value) > LARGEST:
            raise _no_number(table, column, codes == code, text, distinct)
        values.append(value)
    result = np.array([*values, np.nan])[codes]
    return pd.Series(result, cells.index, name=column, dtype=float)


def _number(text: str, words: dict[str, float], missing: set[str]) -> float | None:
    """Read one number, NaN for a code of no rating; None if it is neither."""
    if text in words:
        return words[text]
    if text in missing or text in NOTHING:
        return np.nan
    if COMMA.fullmatch(text):
        text = text.replace(",", ".")
    if NUMBER.fullmatch(text):
        value = float(text)
        codes = [code for code in missing if NUMBER.fullmatch(code)]
        return np.nan if any(value == float(code) for code in codes) else value
    return TRUTH.get(text)


def _no_number(
    table: Table, column: str, is_there: np.ndarray, text: str, distinct: Iterable[str]
) -> BadTableError:
    """Say where a cell is that is no rating, and what to do."""
    rows = table.frame.index[is_there]
    where = f"{table.frame.index.name} {rows[0]}"
    more = f" and {len(rows) - 1:,} more" if len(rows) > 1 else ""
    what = f"{table.name}: {cell(text)} in column {cell(column)} ({where}{more})"
    if MONTH_DATE.fullmatch(text):
        return BadTableError(
            f"{what} is a date: Excel makes 5-Mar of 3/5; restore the ratings from "
            "the original file, or give other columns"
        )
    kinds = sorted({each for each in distinct if not NUMBER.fullmatch(each)})
    if len(kinds) <= 7 and all(len(each) <= 20 for each in kinds):
        example = ",".join(f"{each}=…" for each in kinds)
        hint = f"give numbers for words (--words '{example}')"
    else:
        hint = "correct the cells"
    return BadTableError(
        f"{what} is no number: {hint}, name codes of no rating (--missing), or choose "
        "another column"
    )


def lengths(cells: pd.Series) -> pd.Series:
    """Count the words of texts; a column of numbers is taken as lengths."""
    filled = cells.dropna()
    if filled.map(lambda text: bool(NUMBER.fullmatch(text))).all():
        return cells.astype(float)
    return cells.map(lambda text: len(text.split()), na_action="ignore").astype(float)


def _with_items(frame: pd.DataFrame, roles: Roles, notes: list[str]) -> pd.DataFrame:
    """Name items and prompts where the file has no column of them."""
    frame = frame.copy()
    if not roles.item:
        if roles.prompt and roles.system and roles.rater:
            labels = frame["prompt_id"] + " / " + frame["system"]
            notes.append("item: each system's answer to a prompt")
        else:
            labels = pd.Series(frame.index.astype(str), frame.index)
            notes.append("item: each row is one, since none is named")
        frame.insert(0, "item_id", labels)
    if not roles.prompt:
        frame.insert(1, "prompt_id", frame["item_id"])
        notes.append("prompt: each item is its own, since none is named")
    for column in ("prompt_id", "system"):
        if column in frame:
            n_values = frame.groupby("item_id")[column].nunique()
            if n_values.max() > 1:
                raise BadTableError(
                    f"item {cell(n_values.idxmax())} has several values of the column "
                    f"of {column.removesuffix('_id')}s: check --item; an item is one "
                    "answer, to one prompt and by one system"
                )
    return frame


def _without_raters(
    frame: pd.DataFrame, roles: Roles, left_out: list[tuple[str, int]]
) -> pd.DataFrame:
    """Leave out the raters that the owner names."""
    if not roles.rater:
        if roles.leave_out:
            raise OptionError("--leave-out names raters: give the column with --rater")
        return frame
    known = set(frame["rater_id"])
    for label in [*roles.leave_out, *roles.judge]:
        if label not in known:
            raise OptionError(
                f"rater {cell(label)} is not in column {cell(roles.rater)}"
            )
    is_out = frame["rater_id"].isin(roles.leave_out)
    return _without(frame, is_out, "raters left out by the owner", left_out)


def _rated_once(
    frame: pd.DataFrame,
    cells: pd.DataFrame,
    roles: Roles,
    name: str,
    left_out: list[tuple[str, int]],
) -> pd.DataFrame:
    """Let each rater rate an item once: copies go, other repeats are for the owner."""
    keys = ["item_id", "rater_id"]
    is_repeat = frame.duplicated(keys)
    if not is_repeat.any():
        return frame
    is_copy = cells.loc[frame.index].duplicated()
    # copies only if no rater gives an item another rating: else chance makes them too
    if is_copy[is_repeat].all():
        return _without(frame, is_copy, "copies of another row", left_out)
    if not roles.repeats:
        first = frame[is_repeat].iloc[0]
        scores = frame.loc[is_repeat, roles.score]
        advice = "say which counts (--repeats first, last or mean)"
        if is_repeat.mean() > 0.05:
            advice += ", or name another item"
        if scores.isin([0, 1]).all():
            advice += (
                "; if rows are sides of comparisons, write a row for each comparison "
                "and give --a, --b and --winner"
            )
        raise BadTableError(
            f"{name}: {int(is_repeat.sum()):,} rows rate an item again that the same "
            f"rater has rated, first item {cell(first['item_id'])}: {advice}"
        )
    reason = "a second rating of an item by one rater"
    if roles.repeats == "mean":
        used = [roles.score, *roles.aspects]
        means = frame.groupby(keys)[used].transform("mean")
        frame = frame.assign(**{column: means[column] for column in used})
        reason += " (their mean counts)"
    keep = "last" if roles.repeats == "last" else "first"
    return _without(frame, frame.duplicated(keys, keep=keep), reason, left_out)


def number_people(labels: pd.Series, judges: Iterable[str]) -> pd.DataFrame:
    """Number raters in order of their labels; judges, who are models, keep theirs."""
    judges = list(judges)
    people = sorted(set(labels) - set(judges))
    width = len(str(len(people)))
    numbered = [f"rater {number:0{width}d}" for number in range(1, len(people) + 1)]
    return pd.DataFrame({"rater": numbered + judges, "label": people + judges})


def reshape(table: Table, roles: Roles) -> tuple[Table, Roles]:
    """Make a row for each rating of files that are wide, or long by name and value."""
    if roles.name:
        table, roles = _by_name(table, roles)
    patterns = [each for each in [roles.score, *roles.aspects] if "{" in each]
    if patterns:
        table, roles = _from_wide(table, roles, patterns)
    return table, roles


def _by_name(table: Table, roles: Roles) -> tuple[Table, Roles]:
    """Make a column of each name; the first row that has one stands for the rest."""
    _, problems = choose([roles.name, roles.value], table.frame.columns.tolist())
    if problems:
        raise BadTableError(f"{table.name}: {problems[0]}")
    keys = [getattr(roles, role) for role in ("item", "prompt", "rater", "system")]
    keys = [key for key in keys if key]
    if not keys:
        raise OptionError("--name and --value need the column of items (--item)")
    wanted = [roles.score, *roles.aspects]
    found = table.frame[roles.name].dropna().unique()
    unknown = [name for name in wanted if name not in set(found)]
    if unknown:
        raise BadTableError(
            f"{table.name}: {cell(unknown[0])} is not in column {cell(roles.name)}; "
            f"there are {', '.join(map(cell, found[:12]))}"
        )
    frame = table.frame[table.frame[roles.name].isin(wanted)].dropna(subset=keys)
    again = frame.duplicated([*keys, roles.name])
    if again.any():
        row = again.idxmax()
        raise BadTableError(
            f"{table.name}: {frame.index.name} {row} gives "
            f"{cell(frame.loc[row, roles.name])} again for the same "
            f"{' and '.join(keys)}: delete all but one, or give --rater"
        )
    wide = frame.set_index([*keys, roles.name])[roles.value].unstack(roles.name)
    first = frame.drop_duplicates(keys)
    wide["first row"] = pd.Series(first.index, first.set_index(keys).index)
    wide = wide.reset_index().set_index("first row").sort_index()
    wide.index.name = frame.index.name
    wide.columns.name = None
    n_other = int((~table.frame[roles.name].isin(wanted)).sum())
    notes = [*table.notes, f"a rating has {len(wanted)} rows: {', '.join(wanted)}"]
    if n_other:
        notes.append(f"{n_other:,} rows with other names are not used")
    return replace(table, frame=wide, notes=notes), replace(roles, name="", value="")


def _from_wide(table: Table, roles: Roles, patterns: list[str]) -> tuple[Table, Roles]:
    """Make a row for each value of what varies in the names of columns."""
    held = [re.findall(r"\{(.*?)\}", pattern) for pattern in patterns]
    if any(each != held[0] or len(each) != 1 for each in held):
        raise OptionError("wide columns vary in one thing, the same for all of them")
    role = held[0][0]
    if role not in VARIES:
        raise OptionError(
            f"{{{role}}} is unknown in the name of a column: choose one of "
            f"{', '.join(f'{{{each}}}' for each in VARIES)}"
        )
    if getattr(roles, role):
        raise OptionError(f"{role} is a column and in the names of columns: choose")
    parts = []
    for pattern in patterns:
        before, after = pattern.split(f"{{{role}}}")
        found = {}
        for column in table.frame:
            inner = column[len(before) : len(column) - len(after)]
            if column == f"{before}{inner}{after}" and inner:
                found[inner] = column
        if not found:
            raise BadTableError(f"{table.name}: no column is called like {pattern}")
        parts.append(found)
    used = {column for found in parts for column in found.values()}
    others = [column for column in table.frame if column not in used]
    called = {pattern: _without_part(pattern, role) for pattern in patterns}
    source = table.frame[others].astype(object)
    # what a row stands for, where no column says it
    row_is = {"rater": "item", "item": "rater", "system": "prompt"}[role]
    has_row_role = bool(getattr(roles, row_is))
    if not has_row_role:
        source[row_is] = [f"{source.index.name} {number}" for number in source.index]
    pieces = []
    for value in parts[0]:
        piece = source.copy()
        piece[role] = value
        for pattern, found in zip(patterns, parts, strict=True):
            there = table.frame[found[value]] if value in found else None
            piece[called[pattern]] = there
        pieces.append(piece)
    frame = pd.concat(pieces).sort_index(kind="stable").reset_index(drop=True)
    frame.index = pd.RangeIndex(1, len(frame) + 1, name="rating")
    roles = replace(
        roles,
        score=called.get(roles.score, roles.score),
        aspects=[called.get(each, each) for each in roles.aspects],
        scale={called.get(key, key): value for key, value in roles.scale.items()},
        **{role: role},
    )
    if not has_row_role:
        roles = replace(roles, **{row_is: row_is})
    note = f"{len(parts[0]):,} {role}s are read from the names of columns"
    return replace(table, frame=frame, notes=[*table.notes, note]), roles


def _without_part(pattern: str, role: str) -> str:
    """Name the rating of wide columns by what does not vary."""
    name = pattern.replace(f"{{{role}}}", "").strip(" _-.:")
    return name or "score"


def in_words(value: object) -> str:
    """Write what a role is set to on one line."""
    if isinstance(value, dict):
        return "; ".join(f"{key} {in_words(each)}" for key, each in value.items())
    if isinstance(value, list):
        texts = [in_words(each) for each in value[:12]]
        is_scale = value and isinstance(value[0], float)
        more = " ..." if len(value) > 12 else ""
        return (" to " if is_scale else ", ").join(texts) + more
    return f"{value:g}" if isinstance(value, int | float) else str(value)
