"""What is found of one effect: the one object that pages, tables and files write from.

An effect is what an aspect goes with (its weight in the outcome) or by how much two
systems differ. A `Verdict` holds its size, its interval and what could be said against
it, and writes all of this in words, so that no two places say different things of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from helpers.wording import with_interval
from ratings.study import THESE

SIGNIFICANT = 0.05  # after the correction for all effects that are judged together
# Cohen's (1988) names of differences in standard deviations: up to each limit.
LARGE = 0.8
SIZES = {0.2: "very small", 0.5: "small", LARGE: "medium", np.inf: "large"}
MOST_MORE = 2  # digits, so that an end is not 0
LONGEST_NAME = 60  # characters, in a sentence
SCOPES = {THESE: "for these raters"}


class Estimate(NamedTuple):
    """A number with its 95 % interval."""

    estimate: float
    low: float
    high: float

    @property
    def side(self) -> int:
        """1 or -1 if the whole interval lies above or below zero, else 0."""
        return int(self.low > 0) - int(self.high < 0)

    @property
    def direction(self) -> str:
        """``"higher"`` or ``"lower"`` by the interval, else ``"unclear"``."""
        return {1: "higher", -1: "lower", 0: "unclear"}[self.side]


class Unit(NamedTuple):
    """In what effects on an outcome are told."""

    name: str
    times: float  # points of the outcome
    decimals: int

    def text(self, number: Estimate) -> str:
        """Write a number with its interval, and with the sign for minus.

        There are more digits if an end would be 0 without them, though it is not.
        """
        decimals = self.decimals
        ends = [abs(end) for end in number[1:] if end != 0 and np.isfinite(end)]
        more = [
            each
            for each in range(decimals, decimals + MOST_MORE + 1)
            if all(round(end, each) > 0 for end in ends)
        ]
        decimals = more[0] if more else decimals
        return with_interval(*number, decimals=decimals).replace("-", "−")

    def one(self, number: float) -> str:
        """Write a number alone."""
        return f"{number:.{self.decimals}f}".replace("-", "−")


POINTS = Unit("points", 1, 2)
# of a yes/no outcome, whose effects are differences between shares
PERCENT = Unit("percentage points", 100, 1)


@dataclass(frozen=True)
class Verdict:
    """What is found of one effect.

    Parameters
    ----------
    name : str
        The aspect, or the system that is compared.
    against : str
        What it is compared with, in words: ``"5 against 1"``, ``"marked against not
        marked"``, ``"each error"``, or the other system.
    outcome : str
        Column that is explained.
    unit : Unit
        In what all sizes are told.
    size : Estimate
        The effect; NaN where it is not judged.
    p : float
        Corrected for all effects that are judged together.
    sd : float
        Standard deviation of the outcome within raters and systems, in the unit.
    scope : str
        Of whom the interval speaks.
    held : str
        What is held equal, in words.
    reason : str
        Why the effect is not judged, if so.
    matters : float, optional
        Smallest difference that matters to the user, in the unit.
    n_judged : int
        How many effects are judged together.
    specifications : mapping of str to Estimate
        The same effect computed otherwise.
    with_doubted : Estimate, optional
        The same effect with the ratings that are doubted and left out.
    doubt : str
        Which ratings these are.
    """

    name: str
    against: str
    outcome: str
    unit: Unit
    size: Estimate
    p: float
    sd: float
    scope: str
    held: str = ""
    reason: str = ""
    matters: float | None = None
    n_judged: int = 1
    specifications: Mapping[str, Estimate] = field(default_factory=dict)
    with_doubted: Estimate | None = None
    doubt: str = ""

    @property
    def direction(self) -> str:
        """``"higher"``, ``"lower"``, ``"unclear"`` or ``"not judged"``."""
        if self.reason or np.isnan(self.p):
            return "not judged"
        if self.p >= SIGNIFICANT:
            return "unclear"
        return "higher" if self.size.estimate > 0 else "lower"

    @property
    def is_clear(self) -> bool:
        """Whether the effect has a direction."""
        return self.direction in ("higher", "lower")

    @property
    def is_small(self) -> bool:
        """Whether the interval rules out what matters, as far as that is named."""
        return self.matters is not None and _least_and_most(self.size)[1] < self.matters

    @property
    def in_sd(self) -> Estimate:
        """The size in standard deviations within raters and systems."""
        return Estimate(*(number / self.sd for number in self.size))

    @property
    def importance(self) -> str:
        """How large the effect may be, by its interval.

        With a smallest difference that matters the interval is compared with that;
        without, its ends are named as Cohen (1988) names differences in standard
        deviations.
        """
        if self.direction == "not judged":
            return ""
        smallest, largest = _least_and_most(self.size)
        if self.matters is None:
            least = _name_of(smallest / self.sd)
            most = _name_of(largest / self.sd)
            if smallest == 0:
                is_open = largest >= LARGE * self.sd
                return "of unclear size" if is_open else f"at most {most}"
            names = list(SIZES.values())
            if names.index(most) - names.index(least) >= 2:
                return "its size is hardly known"
            return most if most == least else f"{least} to {most}"
        limit = f"the {self.unit.one(self.matters)} {self.unit.name} that matter"
        if smallest >= self.matters:
            return f"at least {limit}"
        if self.is_small:
            return f"less than {limit}"
        return f"perhaps more, perhaps less than {limit}"

    def sentence(self) -> str:
        """Say of an aspect what was found, in one sentence."""
        name = f"“{cut(self.name)}”"
        outcome = f"“{cut(self.outcome)}”"
        if self.direction == "not judged":
            return f"{name} is not judged: {self.reason}."
        scope = SCOPES.get(self.scope, f"allowing for other {self.scope}")
        if self.is_clear:
            sign = 1 if self.direction == "higher" else -1
            size = self.unit.text(turned(self.size, sign))
            text = f"{_start(self.against, name)}, {outcome} is {size} {self.unit.name}"
            text += f" {self.direction}{self.held}, {scope}"
        else:
            size = f"{self.unit.text(self.size)} {self.unit.name}"
            text = f"Whether {outcome} is higher or lower with more {name} is unclear:"
            text += f" {size}{_compared(self.against)}{self.held}, {scope}"
            if self.size.side:
                text += (
                    f" (not significant after correction for {self.n_judged} aspects)"
                )
        return f"{text}; {self.size_in_words()}{self.doubted_in_words()}."

    @property
    def _sign(self) -> int:
        """What a size is turned by, so that "lower" takes no minus."""
        return -1 if self.direction == "lower" else 1

    def size_in_words(self, sign: int | None = None) -> str:
        """Name the size, and say what it is in standard deviations."""
        if self.matters is not None:
            return self.importance
        size = turned(self.in_sd, sign or self._sign)
        return f"{POINTS.text(size)} SD, {self.importance}"

    def doubted_in_words(self, sign: int | None = None) -> str:
        """Say what the size is with the doubted ratings."""
        if self.with_doubted is None:
            return ""
        size = self.unit.text(turned(self.with_doubted, sign or self._sign))
        return f" (with {self.doubt}: {size})"

    def record(self) -> dict:
        """Give all of it as plain values, for JSON and CSV."""
        numbers = {
            "name": self.name,
            "against": self.against,
            "direction": self.direction,
            "unit": self.unit.name,
            **self.size._asdict(),
            "p": self.p,
            "SD": self.sd,
            "size": self.importance,
            "scope": self.scope,
            "because": self.reason,
        }
        others = {}
        for name, size in self.specifications.items():
            others[name] = {**size._asdict(), "direction": size.direction}
        numbers["specifications"] = others
        if self.with_doubted is not None:
            numbers[f"with {self.doubt}"] = self.with_doubted._asdict()
        return {key: _plain(value) for key, value in numbers.items()}


def _plain(value: object) -> object:
    """Write NaN as nothing."""
    is_nan = isinstance(value, float) and np.isnan(value)
    return None if is_nan else value


def _least_and_most(size: Estimate) -> tuple[float, float]:
    """Smallest and largest distance from zero within an interval."""
    ends = sorted([abs(size.low), abs(size.high)])
    return (ends[0] if size.side else 0.0, ends[1])


def _name_of(distance: float) -> str:
    """Name a difference in standard deviations."""
    return next(name for limit, name in SIZES.items() if distance < limit)


def turned(size: Estimate, sign: int) -> Estimate:
    """Turn the sign of an estimate, so that "lower" takes no minus."""
    if sign > 0:
        return size
    return Estimate(-size.estimate, -size.high, -size.low)


def _start(against: str, name: str) -> str:
    """Begin a sentence with what is compared."""
    if against == "each error":
        return f"For each error counted as {name}"
    if against == "marked against not marked":
        return f"Where {name} is marked"
    high, low = against.split(" against ")
    return f"At {high} rather than {low} on {name}"


def _compared(against: str) -> str:
    """Say within a sentence what is compared."""
    if against == "each error":
        return " for each error"
    if against == "marked against not marked":
        return " where it is marked"
    high, low = against.split(" against ")
    return f" at {high} rather than {low}"


def cut(name: str, longest: int = LONGEST_NAME) -> str:
    """Shorten a name, and leave out what cannot be printed."""
    characters = str(name)[: longest + 1]
    shown = "".join(each if each.isprintable() else " " for each in characters)
    if len(shown) <= longest:
        return shown
    return f"{shown[: longest - 1].rstrip()}…"


def names_in_words(names: list, most: int = 3) -> str:
    """List names in quotation marks; of many the first few, and how many more.

    Examples
    --------
    >>> names_in_words(["a", "b", "c", "d"], most=2), names_in_words(["a", "b"])
    ('“a”, “b” and 2 more', '“a” and “b”')
    """
    quoted = [f"“{cut(name)}”" for name in names]
    if len(quoted) > most:
        return f"{', '.join(quoted[:most])} and {len(quoted) - most} more"
    if len(quoted) > 1:
        return f"{', '.join(quoted[:-1])} and {quoted[-1]}"
    return "".join(quoted)
