"""Claims of the papers: results that notebooks save for them, and verdicts by rules.

The last cell of a notebook saves one tidy table, which knows nothing about claims.
`data/published/claims.csv` says by which result a claim is judged, and in which form;
`data/published/README.md` has the rules in words. No rule knows a claim by its name.
"""

import math
import operator
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from helpers import marks, paths
from helpers.data import published, registry
from helpers.data.published import ClaimError, read_text
from helpers.data.tables import OptionError, to_csv_bytes

KEY = ["name", "interpretation", "part"]
NUMBERS = ["estimate", "low", "high", "p", "share", "holds"]
COLUMNS = [*KEY, *NUMBERS]

NOT_CHECKED = "not checked"
INCONCLUSIVE = "inconclusive"
NOT_SHOWN = "absence not shown"
LAST_DIGIT = "differs in the last digit"
REPORTING_ERROR = "reporting error"
CONSISTENT = ("internally consistent", "not internally consistent")
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
# Verdicts that are counted together, but for those that count alone.
GROUPS = {passes: "supported or reproduced" for passes, _ in WORDS.values()}
GROUPS |= {fails: "contradicted or not reproduced" for _, fails in WORDS.values()}
GROUPS[REPORTING_ERROR] = "contradicted or not reproduced"
GROUPS[NOT_SHOWN] = INCONCLUSIVE
# that a paper's numbers agree with each other says nothing about its data
GROUPS |= dict.fromkeys(CONSISTENT, "checked against the paper's own numbers only")
# Verdicts on what a paper reports that is not so.
ERRORS = ["not true", "does not reproduce", REPORTING_ERROR, CONSISTENT[1]]

RESAMPLES = 0.975
LEVEL = 0.05  # of tests of claims of no effect
LAST_DIGIT_SHARE = 0.05
BLIND = 0.2  # an error of a reported number that a check has to notice
SLACK = 1e-9
COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
NUMBER = r"-?\d+(?:\.\d+)?"
SIDE = rf"(?:<=|>=|<|>) {NUMBER}|between {NUMBER} {NUMBER}"
# Limits that a form can have, after "all" or "most"; by default none.
LIMITS = {
    "fact": rf"(?:{SIDE})?",
    "statement": SIDE,
    "absence": rf"(?:within {NUMBER} \(.+\))?",
    "test": rf"p (?:<|>=) {NUMBER}(?: and [<>] {NUMBER})?",
}
# How `needs` begins where a claim cannot be checked.
UNCHECKED = r"(not public|public|illegible|substitute|simulated|scope):"


# Results that notebooks save


def save(table: pd.DataFrame) -> None:
    """Save the results of a notebook as build/results/<notebook>.csv.

    Results are compared with those of the papers. So nothing is saved if parameters
    differ from the defaults, or if data are simulated.

    Parameters
    ----------
    table : pandas.DataFrame
        One row for each result, in its own unit: `name` (study and quantity, such as
        "hosking.lasso.refusal_strongest") and any of `estimate`, `low` and `high` (the
        ends of the 95 % interval), `p`, `share` (of resamples, from 0 to 1), `holds`
        (a truth value), `interpretation` (of words that allow several) and `part` (such
        as one of several errors).

    Raises
    ------
    OptionError
        If a column is unknown, a row has no name or no value, two rows have the same
        name, interpretation and part, an interval does not contain its estimate, or
        `run.check` was not called.

    Examples
    --------
    >>> table = pd.DataFrame({"name": ["hosking.answers"], "estimate": [900], "low": 1})
    >>> save(table)
    Traceback (most recent call last):
        ...
    helpers.data.tables.OptionError: hosking.answers: give both low and high
    """
    tidy = check(table)
    run = marks.current()
    if run is None:
        raise OptionError(
            "claims.save needs run.check below the parameters cell, which says whose "
            "results they are"
        )
    if not run.is_default:
        print(f"no result is saved: {marks.short()}")
        return
    file = paths.BUILD / "results" / f"{run.notebook}.csv"
    paths.replace_files({file: to_csv_bytes(tidy, index=False)})


def rows(prefix: str, results: dict[str, object]) -> pd.DataFrame:
    """Turn named results into the table that `save` takes.

    Parameters
    ----------
    prefix : str
        Beginning of all names, such as "hosking.counts".
    results : dict
        By name: a number, a truth value, or a Series or dict with columns of the table;
        a DataFrame of these, whose index names the parts; a dict of all of these by
        interpretation.

    Returns
    -------
    pandas.DataFrame
        One row for each result, interpretation and part; other columns of a DataFrame
        or Series are left out.

    Raises
    ------
    OptionError
        If a result is none of these, or `save` would refuse it.

    Examples
    --------
    >>> table = rows("hosking.counts", {"tasks": 3, "systems": {"estimate": 5}})
    >>> table[["name", "estimate"]]
                         name  estimate
    0    hosking.counts.tasks       3.0
    1  hosking.counts.systems       5.0
    """
    records = []
    for name, result in results.items():
        by_interpretation = {"": result}
        if isinstance(result, dict) and not set(result) & set(COLUMNS):
            by_interpretation = result
        for interpretation, value in by_interpretation.items():
            key = {"name": f"{prefix}.{name}", "interpretation": interpretation}
            records += [{**row, **key} for row in _rows_of_one(value)]
    return check(pd.DataFrame(records).filter(COLUMNS))


def _rows_of_one(value: object) -> list[dict]:
    """Rows of one result, each with the name of its part if it has several."""
    if isinstance(value, pd.DataFrame):
        keys = [key if isinstance(key, tuple) else (key,) for key in value.index]
        parts = [", ".join(map(str, key)) for key in keys]
        return value.filter(NUMBERS).assign(part=parts).to_dict("records")
    if isinstance(value, dict | pd.Series):
        return [dict(value)]
    if pd.api.types.is_bool(value):
        return [{"holds": value}]
    if pd.api.types.is_number(value):
        return [{"estimate": value}]
    raise OptionError(f"a result is a number, a truth value or a row: {value!r}")


def check(table: pd.DataFrame) -> pd.DataFrame:
    """Check a table of results, and give it all columns in their order."""
    unknown = [str(name) for name in table if name not in COLUMNS]
    if unknown:
        known = ", ".join(COLUMNS)
        raise OptionError(f"columns are {known}; there is no {', '.join(unknown)}")
    if "name" not in table:
        raise OptionError("there is no column name, which names each result")
    tidy = table.reindex(columns=COLUMNS).reset_index(drop=True)
    tidy[KEY] = tidy[KEY].astype(object).where(tidy[KEY].notna(), "")
    tidy[NUMBERS] = tidy[NUMBERS].astype(float)
    estimate, low, high = tidy["estimate"], tidy["low"], tidy["high"]
    is_outside = (low > estimate) | (estimate > high) | (low > high)
    shares = tidy[["p", "share"]]
    problems = {
        "a row has no name": tidy["name"] == "",
        "two rows with the same interpretation and part": tidy.duplicated(KEY),
        "there is no value": tidy[NUMBERS].drop(columns="high").isna().all(axis=1),
        "a number is not finite": tidy[NUMBERS].abs().eq(math.inf).any(axis=1),
        "give both low and high": low.isna() != high.isna(),
        "low <= estimate <= high is not so": is_outside,
        "p or share is not between 0 and 1": ((shares < 0) | (shares > 1)).any(axis=1),
    }
    for problem, is_wrong in problems.items():
        if is_wrong.any():
            first = tidy[is_wrong].iloc[0]
            words = [first[column] for column in KEY if first[column] != ""]
            raise OptionError(": ".join(filter(None, [", ".join(words), problem])))
    return tidy


def read(folder: Path) -> pd.DataFrame:
    """Join the results that notebooks have saved, with the notebook of each."""
    tables = []
    for file in sorted((folder / "results").glob("*.csv")):
        text = pd.read_csv(file, dtype=dict.fromkeys(KEY, str))
        tables.append(check(text).assign(notebook=file.stem))
    if not tables:
        return pd.DataFrame(columns=[*COLUMNS, "notebook"])
    joined = pd.concat(tables, ignore_index=True)
    owners = joined.groupby("name")["notebook"].unique()
    for name, notebooks in owners.items():
        if len(notebooks) > 1:
            raise OptionError(f"{name} was saved by {' and '.join(notebooks)}")
    return joined


# Verdicts


class Judgement(NamedTuple):
    """A verdict, and what a reader needs beside it."""

    verdict: str
    why: str = ""


def judge(claim: Mapping[str, str], result: pd.DataFrame) -> Judgement:
    """Judge a row of claims.csv by the rows of its result, as `rows` gives them."""
    check_form(claim)
    if re.match(UNCHECKED, claim["needs"]):
        return Judgement(NOT_CHECKED, claim["needs"])
    if result.empty:
        return Judgement(NOT_CHECKED, _why_missing(claim["needs"]))
    if claim["form"] in ("value", "split"):
        return _judge_value(claim, result)
    # each filter of a claim of no effect is an interpretation
    by = KEY[1:] if claim["form"] == "no effect" else KEY[1:2]
    judged = {}
    for words, one in result.groupby(by, sort=False):
        judged[", ".join(filter(None, words))] = _judge_parts(claim, one)
    verdicts = {judgement.verdict for judgement in judged.values()}
    verdict, why = next(iter(judged.values()))
    if len(verdicts) > 1:
        verdict = INCONCLUSIVE
        why = "; ".join(f"{name}: {each.verdict}" for name, each in judged.items())
    elif len(judged) > 1:
        why = f"in each of {len(judged)} interpretations"
    if claim["needs"] == "print" and verdict != INCONCLUSIVE:
        verdict = CONSISTENT[WORDS[claim["form"]].index(verdict)]
    return Judgement(verdict, why)


def check_form(claim: Mapping[str, str]) -> None:
    """Stop if a claim has no known form, or a limit that its form does not have."""
    form = claim["form"]
    if form not in WORDS:
        raise ClaimError(f"a claim's form is one of {', '.join(WORDS)}, not {form!r}")
    if not re.fullmatch(LIMITS.get(form, ""), _without_quantifier(claim["limit"])):
        raise ClaimError(f"a {form} cannot have the limit {claim['limit']!r}")
    is_number = re.fullmatch(NUMBER, claim["printed"])
    is_checked = not re.match(UNCHECKED, claim["needs"])
    if form in ("value", "split") and is_checked and not is_number:
        raise ClaimError(f"a {form} needs a printed number, not {claim['printed']!r}")


def _without_quantifier(limit: str) -> str:
    """A limit without "all" or "most"."""
    return re.sub(r"^(all|most) ?", "", limit)


def _why_missing(needs: str) -> str:
    """Why a claim has no result: data that could not be had, or a run that lacks it."""
    if set(needs.split()) <= set(read_text(registry.UNPINNED_FILE)["file"]):
        return f"public, but could not be reached from here: {needs}"
    return f"this run has no result, which needs {needs}"


def _judge_value(claim: Mapping[str, str], result: pd.DataFrame) -> Judgement:
    """Judge a reported number; rows with an interpretation are possible causes."""
    is_ours = result["interpretation"] == ""
    if is_ours.sum() != 1:
        raise ClaimError(f"a {claim['form']} needs one row without interpretation")
    ours = result[is_ours].iloc[0]
    is_from_print = claim["needs"] == "print"
    low = high = ours["estimate"]
    if claim["form"] == "split" or (is_from_print and not math.isnan(ours["low"])):
        low, high = ours["low"], ours["high"]
    if math.isnan(low):
        raise ClaimError("its result has no estimate, or a split has no low and high")
    target = float(claim["printed"])
    unit = _unit(claim["printed"])
    passes, fails = CONSISTENT if is_from_print else WORDS[claim["form"]]
    if _is_within(target, low, high, unit / 2):
        others = [(1 - BLIND) * target, (1 + BLIND) * target]
        is_blind = any(_is_within(other, low, high, unit / 2) for other in others)
        if is_from_print and is_blind:
            return Judgement(NOT_CHECKED, "rounding would also allow a value 20 % off")
        return Judgement(passes)
    if claim["form"] == "value" and not is_from_print:
        has_small_unit = unit <= LAST_DIGIT_SHARE * abs(target) + SLACK
        if has_small_unit and _is_within(target, low, high, 1.5 * unit):
            return Judgement(LAST_DIGIT)
    for cause in result[~is_ours].itertuples():
        if _is_within(target, cause.estimate, cause.estimate, unit / 2):
            why = f"{claim['printed']} is the {cause.interpretation}"
            return Judgement(REPORTING_ERROR, why)
    return Judgement(fails)


def _unit(printed: str) -> float:
    """One unit of the last digit of a reported number."""
    return 10.0 ** -len(printed.partition(".")[2])


def _is_within(number: float, low: float, high: float, margin: float) -> bool:
    """Whether a number lies in a range, or no further from it than a margin."""
    return low - margin - SLACK <= number <= high + margin + SLACK


def _judge_parts(claim: Mapping[str, str], result: pd.DataFrame) -> Judgement:
    """Judge one interpretation of a claim that is not a number, by all its parts."""
    outcomes = [_outcome(claim, row) for _, row in result.iterrows()]
    n_fail = outcomes.count(False)
    is_most = claim["limit"].startswith("most")
    if 2 * n_fail >= len(outcomes) if is_most else n_fail:
        verdict = WORDS[claim["form"]][1]
    elif None in outcomes:
        verdict = INCONCLUSIVE
    else:
        verdict = WORDS[claim["form"]][0]
    if len(outcomes) == 1:
        return Judgement(verdict)
    n_pass, n_unsure = outcomes.count(True), outcomes.count(None)
    why = f"{n_pass} of {len(outcomes)} pass, {n_fail} fail, {n_unsure} inconclusive"
    return Judgement(verdict, why)


def _outcome(claim: Mapping[str, str], row: pd.Series) -> bool | None:
    """Whether a row of a result passes; None if that is inconclusive."""
    form, limit = claim["form"], _without_quantifier(claim["limit"])
    if form == "statement":
        return _on_side(limit, row, "low", "high")
    if form == "absence":
        low, high = _need(row, "low"), _need(row, "high")
        margin = float(limit.split()[1]) if limit else 0
        return True if limit and -margin <= low and high <= margin else None
    if form == "rank":
        share = _need(row, "share")
        # only a pair that the claim names can be reversed
        is_reversed = row["part"] != "" and share <= 1 - RESAMPLES + SLACK
        return True if share >= RESAMPLES - SLACK else False if is_reversed else None
    if form == "no effect":
        return _need(row, "p") >= LEVEL
    if form == "test":
        of_p, _, of_estimate = limit.removeprefix("p ").partition(" and ")
        is_so = _on_side(of_p, row, "p", "p")
        return is_so and (not of_estimate or _on_side(of_estimate, row))
    if not math.isnan(row["holds"]):
        return bool(row["holds"])
    if limit:
        return _on_side(limit, row)
    target, estimate = float(claim["printed"]), _need(row, "estimate")
    return _is_within(target, estimate, estimate, _unit(claim["printed"]) / 2)


def _on_side(
    limit: str, row: pd.Series, first: str = "estimate", last: str = "estimate"
) -> bool | None:
    """Whether an interval lies on the claimed side; None if it lies on both."""
    low, high = _need(row, first), _need(row, last)
    word, *ends = limit.split()
    if word != "between":
        at_ends = {bool(COMPARE[word](end, float(ends[0]))) for end in (low, high)}
        return at_ends.pop() if len(at_ends) == 1 else None
    if float(ends[0]) <= low and high <= float(ends[1]):
        return True
    return False if high < float(ends[0]) or low > float(ends[1]) else None


def _need(row: pd.Series, column: str) -> float:
    """A number that a form cannot be judged without."""
    if math.isnan(row[column]):
        raise ClaimError(f"its result has no {column}")
    return float(row[column])


def judge_all(results: pd.DataFrame) -> pd.DataFrame:
    """Judge all claims by the results of a run, which `read` gives."""
    claims = published.published_claims()
    judged = []
    for claim_id, claim in claims.iterrows():
        try:
            result = _result_of(claim["result"], results)
            verdict, why = judge(claim, result)
        except ClaimError as error:
            raise ClaimError(f"{claim_id}: {error}") from None
        notebook = "" if result.empty else result["notebook"].iloc[0]
        judged.append([in_words(claim, result), verdict, why, notebook])
    columns = ["ours", "verdict", "why", "notebook"]
    verdicts = pd.DataFrame(judged, index=claims.index, columns=columns)
    return claims.join(verdicts).reset_index()


def _result_of(name: str, results: pd.DataFrame) -> pd.DataFrame:
    """Rows of a result, such as "a.name" or "a.name: one interpretation | another"."""
    name, _, chosen = name.partition(": ")
    result = results[results["name"] == name]
    if not chosen or result.empty:
        return result
    interpretations = chosen.split(" | ")
    known = result["interpretation"].unique()
    if not set(interpretations) <= set(known):
        raise ClaimError(f"{name} has interpretations {', '.join(known)}, not {chosen}")
    return result[result["interpretation"].isin(interpretations)]


def in_words(claim: Mapping[str, str], result: pd.DataFrame, shown: int = 4) -> str:
    """Write a result as readers compare it with the paper; some parts, if many."""
    if claim["form"] in ("value", "split"):  # what else it has are possible causes
        result = result[result["interpretation"] == ""]
    texts = []
    for _, row in result.head(shown).iterrows():
        names = ", ".join(filter(None, row[KEY[1:]]))
        texts.append(": ".join(filter(None, [names, _row_in_words(claim, row)])))
    if len(result) > shown:
        texts.append(f"and {len(result) - shown} more")
    return "; ".join(texts)


def _row_in_words(claim: Mapping[str, str], row: pd.Series) -> str:
    """Write one row: a share, a truth value, or an estimate with its interval and p."""
    if claim["form"] == "rank":
        return f"{100 * row['share']:.1f} % of resamples"
    if not math.isnan(row["holds"]):
        return "yes" if row["holds"] else "no"
    size = abs(row["low"] if math.isnan(row["estimate"]) else row["estimate"])
    decimals = 2 - math.floor(math.log10(size)) if size > 0 else 2  # three digits count
    if claim["printed"]:
        decimals = len(claim["printed"].partition(".")[2]) + 1
    estimate, low, high = (_number(row[name], decimals) for name in NUMBERS[:3])
    words = [estimate, f"[{low}, {high}]" if low else ""]
    if not math.isnan(row["p"]):
        words.append(f"p = {row['p']:.2g}" if row["p"] >= 0.001 else "p < 0.001")
    elif claim["unit"] != "count":
        words.append(claim["unit"])
    return " ".join(filter(None, words))


def _number(value: float, decimals: int) -> str:
    """Write a number; one that would be written as zero keeps a digit and its sign."""
    if math.isnan(value):
        return ""
    text = f"{value:,.{0 if value == round(value) else max(decimals, 0)}f}"
    if value != 0 and not re.search(r"[1-9]", text):
        text = f"{value:.1g}"
    return text.replace("-", "−")


def judge_cells(table: str, cells: pd.DataFrame) -> pd.DataFrame:
    """Judge cells of a reported table, each as a value."""
    in_paper = published.printed_table(table)
    cells = cells.reorder_levels(in_paper.index.names).sort_index()
    unknown = cells.index.difference(in_paper.index)
    if len(unknown):
        raise ClaimError(f"{table} has no cell {', '.join(unknown[0])}")
    judged = []
    for cell, row in in_paper[in_paper.index.isin(cells.index)].iterrows():
        claim = {"form": "value", "limit": "", "needs": "files", "unit": row["unit"]}
        claim["printed"] = row["published"]
        name = published.cell_id(table, cell)
        result = check(cells.loc[[cell]].assign(name=name))
        record = {"id": name, "table": table, "printed": claim["printed"]}
        record["ours"] = in_words(claim, result)
        record["verdict"], record["why"] = judge(claim, result)
        judged.append({**record, "note": row.get("note", "")})
    return pd.DataFrame(judged)


def tables(folder: Path, is_real: bool) -> dict[str, pd.DataFrame]:
    """Join the results of a run, and compare them, and real data, with the papers."""
    results = read(folder)
    cells = []
    authors = pd.DataFrame(columns=["id", "printed", "ours", "reproduces", "cause"])
    if is_real:
        from helpers.studies import hosking_notebooks, reported  # takes a second

        try:
            cells = [judge_cells(*table) for table in reported.recomputed()]
            numbers = hosking_notebooks.recomputed().reset_index()
            authors = numbers[list(authors.columns)]
            counts = {"numbers": len(numbers), "reproduce": numbers["reproduces"].sum()}
            counted = rows("hosking.authors", counts).assign(notebook="authors")
            results = pd.concat([results, counted], ignore_index=True)
        except registry.DataUnavailableError as error:
            print(f"reported tables are not recomputed: {error}")
    columns = ["id", "table", "printed", "ours", "verdict", "why", "note"]
    # twelve digits are the same on every machine; the last of sixteen are not
    ours = authors["ours"].map("{:.12g}".format)
    return {
        "results": as_text(results),
        "claims": judge_all(results).drop(columns=["needs", "result"]),
        "tables": pd.concat([pd.DataFrame(columns=columns), *cells]),
        "authors_numbers": authors.assign(ours=ours),
    }


def as_text(table: pd.DataFrame) -> pd.DataFrame:
    """Write numbers with six digits, which are the same on every machine."""
    text = table.map(lambda cell: f"{cell:.6g}" if isinstance(cell, float) else cell)
    return text.replace("nan", "")


def group_counts(claims: pd.DataFrame) -> dict[str, int]:
    """Number of claims in each group of verdicts, by the name of the group."""
    names = dict.fromkeys([*GROUPS.values(), LAST_DIGIT, NOT_CHECKED], 0)
    return names | claims["verdict"].replace(GROUPS).value_counts().to_dict()
