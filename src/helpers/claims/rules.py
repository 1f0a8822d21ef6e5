"""The rules by which a claim of a paper is judged from results.

1. A printed *value* reproduces if ours rounds to it; up to the split if it lies within
   the central 95 % of redrawn splits; it differs in the last digit if the rounded ones
   are one unit of that digit and at most 5 % apart; else it does not reproduce. Where
   it does not, a cause among the saved results that gives exactly the printed digits
   makes it a reporting error.
2. A *fact* about the released files is true or not true of them.
3. A *statement* is supported if the 95 % interval lies on the claimed side,
   contradicted if it lies wholly on the other, else inconclusive. A *rank* is supported
   from 97.5 % of resamples, contradicted if a pair that the claim names is reversed in
   97.5 %. An *absence* is supported if the interval lies within a margin that the paper
   states for this comparison, else inconclusive.
4. A *test*, repeated as the authors ran it, has the same or another outcome. A claim of
   *no effect* ("no significant effect") is about a test, too: an omnibus test of all
   conditions that the sentence names, with Holm's correction, under every filter of the
   paper or its code. If p is below 0.05 under all of them, the outcome is another one;
   if under none, absence is not shown; else the claim is inconclusive.
5. If the words allow several interpretations whose verdicts differ, the claim is
   inconclusive. "All" fails if one part fails, "most" if half fail; otherwise
   inconclusive parts make it inconclusive.
6. What lacks data, or rests on substitutes or simulated data, is not checked; nor is a
   value against rounded print that would also pass if it were 20 % off. A check against
   the paper's own numbers is internal consistency.

data/published/README.md says the same in words; no rule knows a claim by name.
"""

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pandas as pd

from helpers.data import registry
from helpers.data.published import ClaimError, read_text

FORMS = (
    "value",
    "split",
    "fact",
    "statement",
    "rank",
    "absence",
    "test",
    "no effect",
)
NOT_CHECKED = "not checked"
INCONCLUSIVE = "inconclusive"
NOT_SHOWN = "absence not shown"
LAST_DIGIT = "differs in the last digit"
REPORTING_ERROR = "reporting error"
# What a form calls a claim that passes, and one that fails.
WORDS = {
    "value": ("reproduces", "does not reproduce"),
    "split": ("reproduces up to the split", "does not reproduce"),
    "fact": ("true", "not true"),
    "statement": ("supported", "contradicted"),
    "rank": ("supported", "contradicted"),
    "absence": ("supported", "contradicted"),
    "test": ("same outcome", "another outcome"),
    "no effect": (NOT_SHOWN, "another outcome"),
}
CONSISTENT = ("internally consistent", "not internally consistent")
PASSES = tuple(
    dict.fromkeys(passes for passes, _ in WORDS.values() if passes != NOT_SHOWN)
)
FAILS = (*dict.fromkeys(fails for _, fails in WORDS.values()), REPORTING_ERROR)
# How `needs` begins where a claim cannot be checked.
UNCHECKED = ("not public", "public", "illegible", "substitute", "simulated", "scope")

RESAMPLES = 0.975
LEVEL = 0.05  # of tests of claims of no effect
LAST_DIGIT_SHARE = 0.05
BLIND = 0.2  # an error of a printed number that a check has to notice
SLACK = 1e-9
COMPARE = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_NUMBER = r"(-?\d+(?:\.\d+)?)"
_SIDE = rf"(?P<sign><=|>=|<|>) {_NUMBER}|between {_NUMBER} {_NUMBER}"
_GRAMMAR = {
    "value": r"",
    "split": r"",
    "fact": rf"(?:(?:all|most) ?)?(?:{_SIDE})?",
    "statement": rf"(?:(?:all|most) )?(?:{_SIDE})",
    "rank": r"(?:all|most)?",
    "absence": rf"(?:(?:all|most) ?)?(?:within {_NUMBER} \(.+\))?",
    "test": rf"(?:(?:all|most) )?p (?:<|>=) {_NUMBER}(?: and [<>] {_NUMBER})?",
    "no effect": r"",
}


@dataclass(frozen=True)
class Judgement:
    """A verdict, and a sentence that says why."""

    verdict: str
    why: str


def judge(claim: Mapping[str, str], rows: pd.DataFrame) -> Judgement:
    """Judge one claim.

    Parameters
    ----------
    claim : mapping of str to str
        A row of data/published/claims.csv: `form`, `limit`, `printed` and `needs`.
    rows : pandas.DataFrame
        Its result, as `helpers.claims.results.read` returns it; without rows if nothing
        was computed.

    Returns
    -------
    Judgement

    Raises
    ------
    ClaimError
        If form or limit cannot be read, or a column that the form needs is missing.

    Examples
    --------
    >>> from helpers.claims import results
    >>> claim = {"form": "statement", "limit": "> 0", "printed": "", "needs": "files"}
    >>> row = {"estimate": 0.11, "low": -0.02, "high": 0.24}
    >>> judge(claim, results.rows("a", {"slope": row})).verdict
    'inconclusive'
    """
    check_form(claim)
    if reason_unchecked(claim["needs"]):
        return Judgement(NOT_CHECKED, claim["needs"])
    if rows.empty:
        return Judgement(NOT_CHECKED, _without_result(claim["needs"]))
    if claim["form"] in ("value", "split"):
        return _judge_value(claim, rows)
    judged = {}
    for interpretation, of_one in rows.groupby("interpretation", sort=False):
        judged[interpretation] = _judge_words(claim, of_one)
    verdicts = {judgement.verdict for judgement in judged.values()}
    if len(judged) == 1:
        (judgement,) = judged.values()
    else:
        whys = [f"{name}: {each.verdict} ({each.why})" for name, each in judged.items()]
        verdict = verdicts.pop() if len(verdicts) == 1 else INCONCLUSIVE
        judgement = Judgement(verdict, "; ".join(whys))
    return _internal(claim, judgement)


def check_form(claim: Mapping[str, str]) -> None:
    """Stop if a claim has no known form, or a limit that its form does not have."""
    form = claim["form"]
    if form not in FORMS:
        raise ClaimError(f"a claim's form is one of {', '.join(FORMS)}, not {form!r}")
    if not re.fullmatch(_GRAMMAR[form], claim["limit"]):
        raise ClaimError(f"a {form} cannot have the limit {claim['limit']!r}")
    needs_number = form in ("value", "split") and not reason_unchecked(claim["needs"])
    if needs_number and not is_number(claim["printed"]):
        raise ClaimError(f"a {form} needs a printed number, not {claim['printed']!r}")


def reason_unchecked(needs: str) -> str:
    """Why a claim cannot be checked, such as "not public"; empty if it can."""
    reason, colon, _ = needs.partition(":")
    return reason if colon and reason in UNCHECKED else ""


def _without_result(needs: str) -> str:
    """Why a claim has no result: data that could not be had, or a run that lacks it."""
    files = needs.split()
    names = " and ".join(files)
    if set(files) <= _unpinned(registry.UNPINNED_FILE):
        return f"the data are public, but could not be reached from here: {names}"
    return f"this run has no result, which needs {names}"


@cache
def _unpinned(file: Path) -> frozenset[str]:
    """Public files whose hashes are not known."""
    return frozenset(read_text(file)["file"])


def is_number(text: str) -> bool:
    """Tell whether a printed entry is a number."""
    return re.fullmatch(_NUMBER, text) is not None


def decimals(printed: str) -> int:
    """Digits after the point of a printed number."""
    return len(printed.partition(".")[2])


def _judge_value(claim: Mapping[str, str], rows: pd.DataFrame) -> Judgement:
    """Judge a printed number; rows with an interpretation are possible causes."""
    is_ours = rows["interpretation"] == ""
    if is_ours.sum() != 1:
        raise ClaimError(f"a {claim['form']} needs one row without interpretation")
    ours = rows[is_ours].iloc[0]
    printed = claim["printed"]
    if claim["needs"] == "print":
        judgement = _from_print(claim, ours)
    elif claim["form"] == "split":
        judgement = _in_splits(claim, ours)
    else:
        judgement = _rounds_to(printed, _need(ours, "estimate"))
    if judgement.verdict not in (*FAILS, CONSISTENT[1]):
        return judgement
    for cause, value in rows[~is_ours].set_index("interpretation")["estimate"].items():
        if _rounds(value, printed):
            why = f"{judgement.why}; {printed} is the {cause}"
            return Judgement(REPORTING_ERROR, why)
    if claim["needs"] != "print" and _rounded_twice(ours["estimate"], printed):
        why = f"{judgement.why}; rounding twice gives {printed}"
        return Judgement(REPORTING_ERROR, why)
    return judgement


def _rounds_to(printed: str, value: float) -> Judgement:
    """Judge a printed number by ours."""
    if _rounds(value, printed):
        return Judgement("reproduces", f"ours rounds to {printed}")
    unit = 10.0 ** -decimals(printed)
    difference = abs(value - float(printed))
    one_unit = difference <= 1.5 * unit + SLACK
    if one_unit and unit <= LAST_DIGIT_SHARE * abs(float(printed)) + SLACK:
        return Judgement(LAST_DIGIT, f"one unit of the last digit of {printed}")
    return Judgement("does not reproduce", f"ours does not round to {printed}")


def _in_splits(claim: Mapping[str, str], ours: pd.Series) -> Judgement:
    """Judge a number that depends on an unpublished random split."""
    printed = claim["printed"]
    reach = _half_unit(printed)
    low = _need(ours, "low") - reach
    high = _need(ours, "high") + reach
    passes, fails = WORDS["split"]
    if low <= float(printed) <= high:
        return Judgement(passes, "within the central 95 % of redrawn splits")
    return Judgement(fails, "outside the central 95 % of redrawn splits")


def _from_print(claim: Mapping[str, str], ours: pd.Series) -> Judgement:
    """Compare a printed number with the range that other printed numbers allow."""
    printed = float(claim["printed"])
    reach = _half_unit(claim["printed"])
    has_range = not math.isnan(ours["low"])
    low = (ours["low"] if has_range else _need(ours, "estimate")) - reach
    high = (ours["high"] if has_range else ours["estimate"]) + reach
    if not low <= printed <= high:
        return Judgement(CONSISTENT[1], "other printed numbers do not allow it")
    if any(low <= (1 + sign * BLIND) * printed <= high for sign in (-1, 1)):
        why = "the rounded print would also allow a value that is 20 % off"
        return Judgement(NOT_CHECKED, why)
    return Judgement(CONSISTENT[0], "other printed numbers allow it")


def _internal(claim: Mapping[str, str], judgement: Judgement) -> Judgement:
    """Call a check of words against the paper's own print what it is."""
    if claim["needs"] != "print" or judgement.verdict == INCONCLUSIVE:
        return judgement
    verdict = CONSISTENT[1] if judgement.verdict in FAILS else CONSISTENT[0]
    return Judgement(verdict, judgement.why)


def _judge_words(claim: Mapping[str, str], rows: pd.DataFrame) -> Judgement:
    """Judge one interpretation of a fact, statement, rank, absence or test."""
    passes, fails = WORDS[claim["form"]]
    if claim["form"] == "rank":
        return _judge_rank(rows)
    if claim["form"] == "no effect":
        return _judge_no_effect(rows)
    judge_row = _OF_ROW[claim["form"]]
    judged = [(row["part"], *judge_row(claim, row)) for _, row in rows.iterrows()]
    if len(judged) == 1:
        ((_, outcome, why),) = judged
    else:
        most = claim["limit"].startswith("most")
        outcome, why = _over_parts(judged, most)
    verdict = {True: passes, False: fails, None: INCONCLUSIVE}[outcome]
    return Judgement(verdict, why)


def _over_parts(
    judged: list[tuple[str, bool | None, str]], most: bool
) -> tuple[bool | None, str]:
    """Join the outcomes of parts: all of them, or most."""
    failing = [part for part, outcome, _ in judged if outcome is False]
    unsure = [part for part, outcome, _ in judged if outcome is None]
    n_passing = len(judged) - len(failing) - len(unsure)
    counts = [f"{n_passing} of {len(judged)} pass"]
    if failing:
        counts.append(f"{len(failing)} fail ({_listed(failing)})")
    if unsure:
        counts.append(f"{len(unsure)} inconclusive ({_listed(unsure)})")
    is_failed = 2 * len(failing) >= len(judged) if most else bool(failing)
    outcome = False if is_failed else None if unsure else True
    return outcome, ", ".join(counts)


def _listed(parts: list[str], shown: int = 4) -> str:
    """List some parts, and how many more there are."""
    more = [f"{len(parts) - shown} more"] if len(parts) > shown else []
    return "; ".join([*parts[:shown], *more])


def _judge_fact(claim: Mapping[str, str], row: pd.Series) -> tuple[bool | None, str]:
    """Whether something holds in the released files."""
    if not math.isnan(row["holds"]):
        return bool(row["holds"]), "by the released files"
    value = _need(row, "estimate")
    limit = re.sub(r"^(all|most) ?", "", claim["limit"])
    if limit:
        return _satisfies(limit, value, value), f"limit: {limit}"
    return _rounds(value, claim["printed"]), f"printed: {claim['printed']}"


def _judge_statement(
    claim: Mapping[str, str], row: pd.Series
) -> tuple[bool | None, str]:
    """On which side of its limit an interval lies."""
    limit = re.sub(r"^(all|most) ", "", claim["limit"])
    low, high = _need(row, "low"), _need(row, "high")
    outcome = _satisfies(limit, low, high)
    if outcome is not None:
        side = "claimed" if outcome else "other"
        return outcome, f"claimed: {limit}; the interval lies on the {side} side"
    estimate = _need(row, "estimate")
    side = "claimed" if _satisfies(limit, estimate, estimate) else "other"
    why = f"claimed: {limit}; the interval lies on both sides, the estimate on the "
    return None, f"{why}{side} one"


def _satisfies(limit: str, low: float, high: float) -> bool | None:
    """Whether a whole interval is on the claimed side; None if it is on both."""
    words = limit.split()
    if words[0] == "between":
        inside = [float(words[1]) <= end <= float(words[2]) for end in (low, high)]
        outside = high < float(words[1]) or low > float(words[2])
        return True if all(inside) else False if outside else None
    compare = COMPARE[words[0]]
    ends = [bool(compare(end, float(words[1]))) for end in (low, high)]
    if ends[0] != ends[1]:
        return None
    return ends[0]


def _judge_rank(rows: pd.DataFrame) -> Judgement:
    """Judge an order or selection; rows with a part are pairs that the claim names."""
    passes, fails = WORDS["rank"]
    shares = rows["share"]
    if shares.isna().any():
        raise ClaimError("a rank needs the column share")
    is_pair = rows["part"] != ""
    reversed_pairs = rows[is_pair & (shares <= 1 - RESAMPLES + SLACK)]
    if len(reversed_pairs):
        pairs = _listed(reversed_pairs["part"].tolist())
        return Judgement(fails, f"reversed in at least 97.5 % of resamples: {pairs}")
    whole = shares[~is_pair] if (~is_pair).any() else shares
    share = whole.min()
    why = f"found in {_percent(share)} of resamples"
    return Judgement(passes if share >= RESAMPLES - SLACK else INCONCLUSIVE, why)


def _judge_no_effect(rows: pd.DataFrame) -> Judgement:
    """Judge a claim that nothing is significant; a row is the test under a filter."""
    passes, fails = WORDS["no effect"]
    if rows["p"].isna().any():
        raise ClaimError("a claim of no effect needs the column p")
    significant = rows["p"] < LEVEL
    counted = f"p < {LEVEL} under {significant.sum()} of {len(rows)} filters"
    why = f"our omnibus test, the paper reports none: {counted}"
    if significant.all():
        return Judgement(fails, why)
    return Judgement(INCONCLUSIVE if significant.any() else passes, why)


def _percent(share: float) -> str:
    """Write a share without rounding it up to all."""
    return f"{math.floor(1000 * share + SLACK) / 10:g} %"


def _judge_absence(claim: Mapping[str, str], row: pd.Series) -> tuple[bool | None, str]:
    """Whether an interval lies within the margin that the paper states."""
    found = re.search(rf"within {_NUMBER} ", claim["limit"])
    low, high = _need(row, "low"), _need(row, "high")
    excludes_zero = low > 0 or high < 0
    zero = "excludes" if excludes_zero else "includes"
    if not found:
        why = f"the paper states no margin; the interval {zero} 0"
        return None, why
    margin = float(found[1])
    inside = -margin <= low and high <= margin
    where = "within" if inside else "not within"
    return (True if inside else None), f"the interval is {where} {margin:g} of 0"


def _judge_test(claim: Mapping[str, str], row: pd.Series) -> tuple[bool | None, str]:
    """Whether a test comes out as the paper says."""
    limit = re.sub(r"^(all|most) ", "", claim["limit"])
    of_p, _, of_estimate = limit.partition(" and ")
    sign, level = of_p.split()[1:]
    p = _need(row, "p")
    as_claimed = bool(COMPARE[sign](p, float(level)))
    if of_estimate:
        estimate = _need(row, "estimate")
        as_claimed = as_claimed and bool(_satisfies(of_estimate, estimate, estimate))
    why = f"p = {p:.2g}" if p >= 0.001 else "p < 0.001"
    if sign == ">=" and as_claimed:
        why += ": absence not shown"
    return as_claimed, why


_OF_ROW: dict[str, Callable] = {
    "fact": _judge_fact,
    "statement": _judge_statement,
    "absence": _judge_absence,
    "test": _judge_test,
}


def _need(row: pd.Series, column: str) -> float:
    """A number that a form cannot be judged without."""
    value = float(row[column])
    if math.isnan(value):
        raise ClaimError(f"its result has no {column}")
    return value


def _half_unit(printed: str) -> float:
    """What rounding to the printed digits may change."""
    return 0.5 * 10.0 ** -decimals(printed) + SLACK


def _rounds(value: float, printed: str) -> bool:
    """Whether a number rounds to the printed one; halves round either way."""
    return abs(value - float(printed)) <= _half_unit(printed)


def _rounded_twice(value: float, printed: str) -> bool:
    """Whether rounding to one more digit first gives the printed number."""
    if math.isnan(value):
        return False
    first = _half_up(value, decimals(printed) + 1)
    return abs(_half_up(first, decimals(printed)) - float(printed)) <= SLACK


def _half_up(value: float, digits: int) -> float:
    """Round as people do, halves away from zero."""
    shifted = math.floor(abs(value) * 10**digits + 0.5 + SLACK)
    return math.copysign(shifted / 10**digits, value)
