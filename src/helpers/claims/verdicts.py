"""How an estimate becomes a verdict, by the same rules for every claim.

A rule reads how a claim is judged (`kind`, `direction`, `margin`, `needs` in
data/published/claims.csv) and what was computed. It knows no claim by name. The rules
are told in data/published/README.md.
"""

import math
import re
from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.stats import norm

from helpers.stats.accuracy import SLACK
from helpers.stats.bootstrap import adjust
from helpers.wording import with_interval

# Worst first: the one order in which verdicts are listed, drawn and sorted.
VERDICTS = (
    "contradicted",
    "open",
    "leaning",
    "inexact",
    "slip",
    "consistent",
    "confirmed",
)
HOLDING = ("consistent", "confirmed")
NOTICED = ("contradicted", "inexact", "slip")  # the check found an error
NOT_CHECKED = "not checked"  # counted apart from what was checked and stays open
NUMBERS_AND_COUNTS = "numbers and counts"
SENTENCES = "sentences"
FORMS = (NUMBERS_AND_COUNTS, SENTENCES)
CORRECTED_AWAY = "no"  # in `after_correction`: holds only before a correction
SIMULATED_NOTE = "simulated data say nothing about the study"
# How the note of a claim that was not checked begins, and the reason as readers see it.
REASONS = {
    "public": "public data, not fetched here",
    "not public": "data not public",
    "illegible": "illegible in our copy of the paper",
    SIMULATED_NOTE: "simulated data",
}
EVIDENCE = ("raw", "print", "authors", "substitute", "simulated", "none")
NEEDED = {
    "number": ("estimate",),
    "split": ("estimate", "low"),
    "fact": (),
    "direction": ("estimate", "low"),
    "ranking": ("share",),
    "significance": ("p_value",),
    "no effect": ("estimate", "low"),
}
NUMBERS = (
    "estimate",
    "low",
    "high",
    "share",
    "p_value",
    "p_family",
    "other",
    "rounded_first",
)
ENTERED = (
    "claim_id",
    "reading",
    "part",
    *NUMBERS,
    "holds",
    "shown",
    "notebook",
    "source",
)
JUDGED = ("evidence", "verdict", "after_correction", "detects", "computed")
DETAILS = ("estimate", "low", "high", "note", "notebook", "source")

LEVEL = 0.05
# Shares of resamples.
SURE = 0.975
LIKELY = 0.5
POSSIBLE = 0.025
MOST_PARTS = 4  # told one by one
# after the point; the end of an interval that these show as zero is zero
MOST_DIGITS = 6
BLIND = 0.2  # an error of a printed number that a check has to notice
INEXACT = 0.05  # of the printed number, and one unit of its last digit

_COMPARE = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}


def judge(claim: Mapping, row: Mapping) -> str:
    """Turn one estimate into a verdict, whatever the evidence.

    Parameters
    ----------
    claim : mapping
        A row of `published_claims()`.
    row : mapping
        What was computed: `estimate`, `low`, `high`, `share`, `p_value`, `other`,
        `holds`; missing numbers are NaN.

    Returns
    -------
    str
        One of `VERDICTS`.

    Examples
    --------
    >>> claim = {"kind": "direction", "direction": "+"}
    >>> judge(claim, {"estimate": 0.11, "low": -0.02, "high": 0.24})
    'leaning'
    """
    return _RULES[claim["kind"]](claim, row)


def _judge_number(claim: Mapping, row: Mapping) -> str:
    """Judge a printed number by data, or by other printed numbers."""
    if claim["needs"] == "print":
        if not _in_reach(claim, row):
            return _slip_or_contradicted(claim, row)
        return "open" if _detects(claim, row) > BLIND else "consistent"
    at_point = {**row, "low": row["estimate"], "high": row["estimate"]}
    if _in_reach(claim, at_point):
        return "confirmed"
    if _slip(claim, row):
        return "slip"
    return "inexact" if _inexact(claim, row) else "contradicted"


def _inexact(claim: Mapping, row: Mapping) -> bool:
    """Whether a number of the study's data is off by at most a unit of its last digit.

    A substitute's data, or simulated ones, are not those that were printed from.
    """
    if claim["needs"] in ("substitute", "method"):
        return False
    printed = float(claim["published"])
    difference = row["estimate"] - printed
    unit = 10.0 ** -int(claim["decimals"])
    within_a_unit = abs(difference) <= unit + SLACK
    return within_a_unit and _relative(difference, printed) <= INEXACT + SLACK


def _judge_split(claim: Mapping, row: Mapping) -> str:
    """Judge a number on a random split that was not published."""
    if _in_reach(claim, row):
        return "consistent"
    return _slip_or_contradicted(claim, row)


def _judge_fact(claim: Mapping, row: Mapping) -> str:
    """Judge what holds in these data or does not."""
    if not pd.isna(row["holds"]):
        holds = bool(row["holds"])
    elif claim["direction"]:
        holds = _compares(claim["direction"], row["estimate"])
    else:
        holds = abs(row["estimate"] - float(claim["published"])) <= SLACK
    return "confirmed" if holds else _slip_or_contradicted(claim, row)


def _judge_direction(claim: Mapping, row: Mapping) -> str:
    """Judge on which side of zero a difference or relation lies."""
    low = row["low"]
    high = row["high"]
    estimate = row["estimate"]
    if claim["direction"] == "-":
        low = -row["high"]
        high = -row["low"]
        estimate = -row["estimate"]
    if low > 0:
        return "confirmed"
    if high < 0:
        return "contradicted"
    return "leaning" if estimate > 0 else "open"


def _judge_ranking(claim: Mapping, row: Mapping) -> str:
    """Judge a ranking by the share of resamples in which it is found."""
    share = row["share"]
    if share >= SURE - SLACK:
        return "confirmed"
    if share >= LIKELY - SLACK:
        return "leaning"
    return "open" if share >= POSSIBLE - SLACK else "contradicted"


def _judge_significance(claim: Mapping, row: Mapping) -> str:
    """Judge whether a test comes out as claimed."""
    expected, _, sign = claim["direction"].partition(" ")
    significant = row["p_value"] < LEVEL
    as_expected = significant == (expected == "yes")
    if sign == "+":
        as_expected = as_expected and row["estimate"] > 0
    elif sign == "-":
        as_expected = as_expected and row["estimate"] < 0
    return "confirmed" if as_expected else "contradicted"


def _judge_no_effect(claim: Mapping, row: Mapping) -> str:
    """Judge whether an effect is as small as claimed."""
    if not claim["margin"] or not claim["margin_place"]:
        return "open"
    margin = float(claim["margin"])
    if -margin <= row["low"] and row["high"] <= margin:
        return "confirmed"
    if row["low"] > margin or row["high"] < -margin:
        return "contradicted"
    return "leaning" if abs(row["estimate"]) <= margin else "open"


_RULES = {
    "number": _judge_number,
    "split": _judge_split,
    "fact": _judge_fact,
    "direction": _judge_direction,
    "ranking": _judge_ranking,
    "significance": _judge_significance,
    "no effect": _judge_no_effect,
}
_RULES_IN_WORDS = {
    "number": "Equal at the printed digits, inexact if off by at most one unit of the "
    "last and 5 %; from rounded numbers, possible and able to notice an error.",
    "split": "Inside the central 95 % of redrawn splits.",
    "fact": "Holds or does not: a truth value, a threshold, or an equal count.",
    "direction": "Confirmed if the interval is on the claimed side, leaning if only "
    "the estimate is.",
    "ranking": "Confirmed in 97.5 % of resamples or more, leaning in 50 %, open in "
    "2.5 %.",
    "significance": "Falls on the claimed side of the level, and of zero where a sign "
    "is claimed.",
    "no effect": "Confirmed if the interval is within the margin, the smallest effect "
    "that the paper calls one, leaning if only the estimate is; open without a margin.",
}


def _half_unit(claim: Mapping) -> float:
    """What rounding to the printed digits may change."""
    return 0.5 * 10.0 ** -int(claim["decimals"]) + SLACK


def _ends(row: Mapping) -> tuple[float, float]:
    """Lowest and highest value that the computation allows."""
    if pd.isna(row["low"]) or pd.isna(row["high"]):
        return row["estimate"], row["estimate"]
    return row["low"], row["high"]


def _in_reach(claim: Mapping, row: Mapping) -> bool:
    """Whether a number between the ends rounds to the printed one."""
    low, high = _ends(row)
    slack = _half_unit(claim)
    return low - slack <= float(claim["published"]) <= high + slack


def _detects(claim: Mapping, row: Mapping) -> float:
    """Smallest relative error of the printed number, up or down, that is noticed."""
    if claim["kind"] == "fact" and claim["direction"] and not pd.isna(row["estimate"]):
        limits = map(float, re.findall(r"-?[\d.]+", claim["direction"]))
        return min(_relative(row["estimate"] - limit, limit) for limit in limits)
    if not _is_numeric(claim["published"]) or claim["kind"] not in ("number", "split"):
        return math.nan
    printed = float(claim["published"])
    low, high = _ends(row)
    if claim["kind"] == "number" and claim["needs"] != "print":
        low = high = row["estimate"]
    furthest = max(high - printed, printed - low)
    return _relative(furthest + _half_unit(claim), printed)


def _relative(difference: float, printed: float) -> float:
    """Size of a difference relative to a printed number."""
    return abs(difference / printed) if printed else math.inf


def _compares(comparison: str, value: float) -> bool:
    """Check a threshold, such as "< 1" or "between 13 15"."""
    word, *limits = comparison.split()
    limits = [float(limit) for limit in limits]
    if word == "between":
        return limits[0] <= value <= limits[1]
    return bool(_COMPARE[word](value, limits[0]))


def _slip_or_contradicted(claim: Mapping, row: Mapping) -> str:
    """Look for a cause that a machine can check; without one nothing holds."""
    return "slip" if _slip(claim, row) else "contradicted"


def _slip(claim: Mapping, row: Mapping) -> str:
    """Say how a right number came to be printed wrong, or nothing."""
    if not _is_numeric(claim["published"]) or pd.isna(row["estimate"]):
        return ""
    printed = float(claim["published"])
    value = float(row["estimate"])
    decimals = int(claim["decimals"])
    unit = 10.0**-decimals
    elsewhere = claim.get("elsewhere_published", "")
    if not pd.isna(row["other"]) and abs(row["other"] - printed) <= _half_unit(claim):
        return "the number of another heading"
    rounded_first = row.get("rounded_first")
    if not pd.isna(rounded_first) and abs(rounded_first - printed) <= SLACK:
        return "as if its parts were rounded first"
    if elsewhere and abs(float(elsewhere) - value) <= _half_unit(claim):
        return f"the paper prints {elsewhere} elsewhere"
    far = _relative(value - printed, printed) > BLIND
    if far or claim["kind"] == "fact" or claim["needs"] == "print":
        return ""
    if abs(_half_up(value, decimals + 1) - printed) <= unit / 2 + SLACK:
        return "as if rounded twice"
    if abs(math.trunc(value / unit + SLACK) * unit - printed) < unit / 10:
        return "as if cut off"
    return ""


def _half_up(value: float, decimals: int) -> float:
    """Round as people do, halves away from zero."""
    scaled = abs(value) * 10**decimals
    return math.copysign(math.floor(scaled + 0.5 + SLACK) / 10**decimals, value)


def _is_numeric(text: str) -> bool:
    """Tell whether a printed entry is a number."""
    return bool(re.fullmatch(r"-?\d+(\.\d+)?", text))


def evidence_for(needs: str, source: str) -> str:
    """Say how we know: from what the claim needs and the source of the data."""
    if re.match(r"(not public|public|illegible):", needs):
        return "none"
    if needs == "method" or (source != "real" and needs != "print"):
        return "simulated"
    return needs if needs in EVIDENCE else "raw"


def _limited(verdict: str, evidence: str, needs: str) -> str:
    """Let no verdict say more than its evidence can."""
    if evidence == "simulated" and needs != "method":
        return "open"
    if evidence == "print":
        return "consistent" if verdict == "confirmed" else verdict
    if evidence == "substitute":
        return "leaning" if verdict in (*HOLDING, "leaning") else "open"
    return verdict


def assess(entered: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Judge what notebooks entered.

    Parameters
    ----------
    entered : pandas.DataFrame
        Columns `ENTERED`; one row per claim, reading and part.
    published : pandas.DataFrame
        What `published_claims` returns, perhaps with other printed numbers.

    Returns
    -------
    pandas.DataFrame
        Indexed by `claim_id`: evidence, verdict, after_correction ("yes", "no" or
        empty), detects (smallest relative error of a printed number that is noticed),
        computed (in words), and estimate, low and high of the row that decided, note,
        notebook, source.
    """
    entered = entered.assign(p_family=_corrected(entered, published))
    elsewhere = published["elsewhere"].map(published["published"]).fillna("")
    published = published.assign(elsewhere_published=elsewhere)
    claims = published.loc[entered["claim_id"].unique()].to_dict("index")
    rows = {claim_id: [] for claim_id in claims}
    for row in entered.to_dict("records"):
        rows[row["claim_id"]].append(row)
    judged = [_assess_claim(claim, rows[name]) for name, claim in claims.items()]
    names = pd.Index(list(claims), dtype=str, name="claim_id")
    return pd.DataFrame(judged, index=names, columns=[*JUDGED, *DETAILS])


def _assess_claim(claim: Mapping, records: list[dict]) -> dict[str, object]:
    """Judge one claim: its worst part decides, unless readings disagree."""
    source = records[0]["source"]
    evidence = evidence_for(claim["needs"], source)
    for row in records:
        row["verdict"] = _limited(judge(claim, row), evidence, claim["needs"])
    readings = _verdict_by_reading(records)
    disagree = "contradicted" in readings.values() and len(set(readings.values())) > 1
    deciding = _weakest(claim, records)
    noticed = any(row["verdict"] in NOTICED for row in records)
    verdict = "open" if disagree else deciding["verdict"]
    simulated = evidence == "simulated" and claim["needs"] != "method"
    return {
        "evidence": evidence,
        "verdict": verdict,
        "after_correction": _after_correction(claim, verdict, records),
        # An error that was found is not told beside a larger one that might be.
        "detects": math.nan if noticed else _detects_in_all(claim, records),
        "computed": _in_words(claim, records, deciding, simulated),
        "estimate": deciding["estimate"],
        "low": deciding["low"],
        "high": deciding["high"],
        "note": _note(claim, verdict, deciding, readings, simulated),
        "notebook": records[0]["notebook"],
        "source": source,
    }


def _weakest(claim: Mapping, records: list[dict]) -> dict:
    """The part with the worst verdict, and of those the one with least room."""
    return min(records, key=lambda row: (rank(row["verdict"]), _room(claim, row)))


def _detects_in_all(claim: Mapping, records: list[dict]) -> float:
    """Smallest relative error of the printed number that every part notices."""
    return np.fmax.reduce([_detects(claim, row) for row in records])


def _verdict_by_reading(records: list[dict]) -> dict[str, str]:
    """Worst verdict of the parts of each reading, in the order of the readings."""
    by_reading = {}
    for row in records:
        worst_yet = by_reading.get(row["reading"], row["verdict"])
        by_reading[row["reading"]] = min(worst_yet, row["verdict"], key=rank)
    return by_reading


def _note(
    claim: Mapping, verdict: str, deciding: dict, readings: dict, simulated: bool
) -> str:
    """What a reader has to know beside the verdict of a claim."""
    if verdict == "slip":
        return _slip(claim, deciding)
    if simulated:
        return SIMULATED_NOTE
    if verdict in HOLDING and claim["direction"] == "no":
        return "absence not shown"
    if len(set(readings.values())) == 1:
        return ""
    return "; ".join(f"{reading}: {verdict}" for reading, verdict in readings.items())


def _after_correction(claim: Mapping, verdict: str, records: list[dict]) -> str:
    """Tell whether a claimed effect survives the correction over its family."""
    claims_an_effect = claim["direction"].startswith(("+", "-", "yes"))
    p_family = np.max([row["p_family"] for row in records])  # NaN if any is
    if pd.isna(p_family) or verdict not in HOLDING or not claims_an_effect:
        return ""
    return "yes" if p_family < LEVEL else CORRECTED_AWAY


def rule_in_words(kind: str) -> str:
    """Say in one sentence how claims of a kind are judged."""
    return _RULES_IN_WORDS[kind]


def rank(verdict: str) -> int:
    """Place of a verdict, worst first."""
    return VERDICTS.index(verdict)


def forms(claims: pd.DataFrame) -> pd.Series:
    """Tell numbers and counts from sentences.

    A *number or count* is a printed value: a number, a number on a random split, or a
    fact whose printed value is a count. Every other claim is a *sentence*: a direction,
    ranking, significance or absence of an effect, or a fact that is a statement,
    thresholds such as "under 1 %" among them.

    Parameters
    ----------
    claims : pandas.DataFrame
        Columns `kind` and `published` of `helpers.data.published.published_claims`.

    Returns
    -------
    pandas.Series of str
        One of `FORMS` for each claim.

    Examples
    --------
    >>> claims = pd.DataFrame(
    ...     {
    ...         "kind": ["number", "fact", "fact", "ranking"],
    ...         "published": ["3.2", "900", "holds", "a > b"],
    ...     }
    ... )
    >>> forms(claims).tolist()
    ['numbers and counts', 'numbers and counts', 'sentences', 'sentences']
    """
    number = claims["kind"].isin(["number", "split"])
    count = (claims["kind"] == "fact") & (claims["published"] != "holds")
    return pd.Series(np.where(number | count, *FORMS), claims.index)


def reasons(judged: pd.DataFrame) -> pd.Series:
    """Say why claims were not checked.

    Parameters
    ----------
    judged : pandas.DataFrame
        Columns `evidence` and `note` of judged claims.

    Returns
    -------
    pandas.Series of str
        Empty for a claim that was checked, whatever its verdict.

    Examples
    --------
    >>> judged = pd.DataFrame({"evidence": ["raw", "none"],
    ...                        "note": ["", "public: a.csv, not fetched here"]})
    >>> reasons(judged).tolist()
    ['', 'public data, not fetched here']
    """
    beginning = judged["note"].str.partition(":")[0]
    why = beginning.map(REASONS).fillna(beginning)
    unchecked = (judged["evidence"] == "none") | (judged["note"] == SIMULATED_NOTE)
    return why.where(unchecked, "")


def tally(judged: pd.DataFrame) -> pd.DataFrame:
    """Count claims, those that could be checked, those that hold, and how far they do.

    Parameters
    ----------
    judged : pandas.DataFrame
        Columns `kind`, `published`, `evidence`, `verdict`, `after_correction` and
        `note` of judged claims.

    Returns
    -------
    pandas.DataFrame
        Rows `FORMS` and "all"; columns `claims`, `checked`, `hold`, of which
        `confirmed` and `consistent`, and `uncorrected`: those of them that hold only
        before a correction for many tests.

    Examples
    --------
    >>> judged = pd.DataFrame(
    ...     {
    ...         "kind": ["number", "direction"],
    ...         "published": ["3.2", "holds"],
    ...         "evidence": ["raw", "raw"],
    ...         "note": ["", ""],
    ...         "verdict": ["confirmed", "open"],
    ...         "after_correction": ["", ""],
    ...     }
    ... )
    >>> tally(judged).loc["all"].tolist()
    [2, 2, 1, 1, 0, 0]
    """
    checked = reasons(judged) == ""
    hold = checked & judged["verdict"].isin(HOLDING)
    marks = pd.DataFrame({"claims": 1, "checked": checked, "hold": hold})
    for verdict in ("confirmed", "consistent"):
        marks[verdict] = hold & (judged["verdict"] == verdict)
    marks["uncorrected"] = hold & (judged["after_correction"] == CORRECTED_AWAY)
    counts = marks.astype(int).groupby(forms(judged)).sum().reindex(FORMS, fill_value=0)
    counts.loc["all"] = counts.sum()
    return counts


def counted(judged: pd.DataFrame) -> str:
    """Say how many claims there are, could be checked and hold, and how far.

    A last sentence says why others could not be checked.

    Parameters
    ----------
    judged : pandas.DataFrame
        As for `tally`.

    Returns
    -------
    str
        What stands in README, overview and site.

    Examples
    --------
    >>> judged = pd.DataFrame(
    ...     {
    ...         "kind": ["number", "direction"],
    ...         "published": ["3.2", "holds"],
    ...         "evidence": ["raw", "none"],
    ...         "verdict": ["confirmed", "open"],
    ...         "after_correction": ["", ""],
    ...         "note": ["", "not public: the pages shown"],
    ...     }
    ... )
    >>> verdict, forms, unchecked = counted(judged).split(". ")
    >>> verdict.partition(", which")[0]
    'Of 2 claims, 1 could be checked: 1 are confirmed, and 0 are consistent'
    >>> forms
    'The 1 that hold are 1 of 1 numbers and counts, and 0 of 0 sentences'
    >>> unchecked
    'Why the other 1 could not be checked: data not public (1).'
    """
    counts = tally(judged)
    total = counts.loc["all"]
    uncorrected = ""
    if total["uncorrected"]:
        uncorrected = (
            f"; {total['uncorrected']:,} of these {total['hold']:,} hold only before "
            "a correction for many tests"
        )
    by_form = [
        f"{counts.loc[form, 'hold']} of {counts.loc[form, 'checked']} {form}"
        for form in FORMS
    ]
    sentences = (
        f"Of {total['claims']:,} claims, {total['checked']:,} could be checked: "
        f"{total['confirmed']:,} are confirmed, and "
        f"{total['consistent']:,} are consistent, which says only that nothing in the "
        "paper's own rounded numbers, or in random splits drawn anew, speaks against "
        f"them{uncorrected}. "
        f"The {total['hold']:,} that hold are {by_form[0]}, and {by_form[1]}."
    )
    why = reasons(judged)
    why = why[why != ""].value_counts()
    if len(why) == 0:
        return sentences
    listed = "; ".join(f"{reason} ({number})" for reason, number in why.items())
    return f"{sentences} Why the other {why.sum()} could not be checked: {listed}."


def _corrected(entered: pd.DataFrame, published: pd.DataFrame) -> pd.Series:
    """Correct p-values over the family entered, where the notebook has not done so.

    Readings of a statement are ways to take its words, and all have to hold: they are
    one test, whose p-value is the largest.
    """
    standard_error = (entered["high"] - entered["low"]) / (2 * norm.ppf(0.975))
    from_interval = 2 * norm.sf((entered["estimate"] / standard_error).abs())
    p_values = entered["p_value"].fillna(pd.Series(from_interval, entered.index))
    tests = entered[["notebook", "claim_id", "part"]].assign(p_value=p_values)
    tests["family"] = entered["claim_id"].map(published["family"])
    tests = tests[tests["family"] != ""].dropna(subset="p_value")
    keys = ["notebook", "family", "claim_id", "part"]
    tests["p_value"] = tests.groupby(keys)["p_value"].transform("max")
    once = tests.drop_duplicates(keys)
    once = once.assign(
        holm=once.groupby(["notebook", "family"])["p_value"].transform(adjust)
    )
    of_row = tests[keys].merge(once, on=keys)["holm"].set_axis(tests.index)
    return entered["p_family"].fillna(of_row)


def _room(claim: Mapping, row: Mapping) -> float:
    """How far a part is inside the limit of its rule; outside of it, negative.

    In standard errors where an interval stands beside the estimate, shares and p-values
    on the probit scale, printed numbers in half units of their last digit. A truth
    value that holds has no limit near it.
    """
    kind = claim["kind"]
    if kind == "direction":
        room = _room_of_direction(claim, row)
    elif kind == "ranking":
        room = norm.ppf(row["share"]) - norm.ppf(SURE)
    elif kind == "significance":
        room = _room_of_significance(claim, row)
    elif kind == "no effect":
        furthest = max(abs(row["low"]), abs(row["high"]))
        room = _in_standard_errors(float(claim["margin"] or "nan") - furthest, row)
    elif not pd.isna(row["holds"]):
        room = math.inf if row["holds"] else 0.0
    elif claim["direction"]:
        room = _room_of_threshold(claim["direction"], row)
    elif _is_numeric(claim["published"]):
        room = _room_of_number(claim, row)
    else:
        room = 0.0
    return 0.0 if pd.isna(room) else float(room)


def _in_standard_errors(distance: float, row: Mapping) -> float:
    """Write a distance in standard errors of the estimate, from its interval."""
    standard_error = (row["high"] - row["low"]) / (2 * norm.ppf(SURE))
    if standard_error > 0:
        return distance / standard_error
    return math.copysign(math.inf, distance)  # an interval without width is sure


def _room_of_direction(claim: Mapping, row: Mapping) -> float:
    """Distance from zero of the end of the interval that is nearest to it."""
    nearest = -row["high"] if claim["direction"] == "-" else row["low"]
    return _in_standard_errors(nearest, row)


def _room_of_significance(claim: Mapping, row: Mapping) -> float:
    """Distance of a p-value from the level.

    With another sign than the claimed one a part is furthest out.
    """
    expected, _, sign = claim["direction"].partition(" ")
    if sign == "+" and row["estimate"] < 0:
        return -math.inf
    if sign == "-" and row["estimate"] > 0:
        return -math.inf
    below = norm.isf(row["p_value"]) - norm.isf(LEVEL)
    return below if expected == "yes" else -below


def _room_of_threshold(comparison: str, row: Mapping) -> float:
    """Distance from a threshold, such as "< 1" or "between 13 15".

    In standard errors, or without an interval in half units of the threshold.
    """
    word, *limits = comparison.split()
    value = row["estimate"]
    distances = {"<": -1, "<=": -1, ">": 1, ">=": 1}
    if word == "between":
        distance = min(value - float(limits[0]), float(limits[1]) - value)
    else:
        distance = distances[word] * (value - float(limits[0]))
    if not pd.isna(row["low"]):
        return _in_standard_errors(distance, row)
    decimals = max(len(limit.partition(".")[2]) for limit in limits)
    return distance / (0.5 * 10.0**-decimals)


def _room_of_number(claim: Mapping, row: Mapping) -> float:
    """Distance in half units from where another number would be printed."""
    printed = float(claim["published"])
    low, high = _ends(row)
    if claim["kind"] == "number" and claim["needs"] != "print":
        low = high = row["estimate"]
    half = 0.5 * 10.0 ** -int(claim["decimals"] or 0)
    return 1 + min(printed - low, high - printed) / half


def _in_words(
    claim: Mapping, records: list[dict], deciding: dict, simulated: bool = False
) -> str:
    """Say what was computed, part by part, or how many parts hold and which decides."""
    digits = 2
    if claim["decimals"]:
        digits = int(claim["decimals"]) + 1
    rounded = claim["kind"] == "number" and claim["needs"] == "print"
    words = []
    for row in records:
        value = _value_in_words(row, digits, rounded)
        words.append(" ".join(filter(None, (_named(row), value))))
    holding = sum(row["verdict"] in HOLDING for row in records)
    which = "least room" if holding == len(records) else "furthest from holding"
    if len(records) <= MOST_PARTS:
        one_of_several = deciding["part"] and len(records) > 1
        if one_of_several and not simulated and pd.isna(deciding["holds"]):
            words.append(f"{which}: {_named(deciding)}")
        return "; ".join(words)
    if simulated:
        return f"{len(records)} parts, the first: {words[0]}"
    decides = words[records.index(deciding)]
    return f"{holding} of {len(records)} parts hold; {which}: {decides}"


def _named(row: Mapping) -> str:
    """Name a part by its reading and its own name."""
    reading = f"{row['reading']}:" if row["reading"] else ""
    return " ".join(filter(None, (reading, row["part"])))


def _value_in_words(row: Mapping, digits: int, rounded: bool = False) -> str:
    """Write what was computed for one part.

    The range that rounded numbers allow is told in words, since it is no interval.
    """
    if row["shown"]:
        return row["shown"]
    words = []
    if rounded and not pd.isna(row["low"]):
        ends = f"rounding allows {row['low']:.{digits}f} to {row['high']:.{digits}f}"
        if not pd.isna(row["estimate"]):
            ends = f"{row['estimate']:.{digits}f}; {ends}"
        words.append(ends)
    elif not pd.isna(row["estimate"]):
        words.append(_number_in_words(row, digits))
    elif not pd.isna(row["low"]):
        words.append(f"{row['low']:.{digits}f} to {row['high']:.{digits}f}")
    if not pd.isna(row["share"]):
        words.append(f"in {100 * row['share']:.0f} % of resamples")
    if not pd.isna(row["p_value"]):
        small = row["p_value"] < 0.0005  # it would be shown as zero
        words.append("p < 0.001" if small else f"p = {row['p_value']:.3f}")
    if words:
        return ", ".join(words)
    return "yes" if row["holds"] else "no"


def _number_in_words(row: Mapping, digits: int) -> str:
    """Write a number with its interval, whole numbers as such.

    An end of the interval that is not zero gets the digits that show it.
    """
    if not pd.isna(row["low"]):
        ends = (row["low"], row["high"])
        while any(_looks_like_zero(end, digits) for end in ends):
            digits += 1
        return with_interval(row["estimate"], row["low"], row["high"], digits)
    estimate = row["estimate"]
    if estimate == round(estimate):
        return f"{estimate:.0f}"
    rounded = round(estimate, digits) + 0.0  # no negative zero
    return f"{rounded:.{digits}f}"


def _looks_like_zero(number: float, digits: int) -> bool:
    """Whether a number that is not zero is written as zero."""
    return round(number, digits) == 0 and round(number, MOST_DIGITS) != 0
