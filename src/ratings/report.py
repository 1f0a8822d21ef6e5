"""The page of `ratings report`: two questions, each with its answer first.

Which system is best, and what goes with the overall rating: a page shows what the file
can answer, as sentences to quote, a picture and folded tables; then agreement, raters'
leniency and how large a study would tell more. All of it is written from the verdicts
of `ratings.inference`; `write_page` puts it into one HTML file that needs nothing else,
with the results as CSV and JSON beside it.
"""

import base64
import datetime
import importlib.metadata
import json
import platform
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import jinja2
import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from helpers import paths, show, wording
from helpers.data.tables import OptionError, PlainError, find, to_csv_bytes
from ratings import inference, intake, plan, questions, raters, recipes
from ratings.accounts import Account
from ratings.agreement import agreement
from ratings.findings import Finding, constant_within, findings
from ratings.inference import SystemComparison
from ratings.study import THESE, Study
from ratings.verdicts import (
    PERCENT,
    POINTS,
    Estimate,
    Unit,
    Verdict,
    cut,
    names_in_words,
    turned,
)

MOST_CLEAR = 5  # sentences on aspects with a clear direction
MOST_ROWS = 25  # of a figure or a table on the page
MOST_DESCRIBED = 8  # estimates in an alt text
LONGEST_LABEL = 34  # characters of a label
LONGEST_IN_TITLE = 20
LONGEST_CELL = 300
MOSTLY_SAME = 70  # % of pairs with the same mark, where a low alpha needs a caveat
WIDTH = 6.8  # of a figure, in inches
PACKAGE = "judging-language-models"
TEMPLATES = Path(__file__).parent / "templates"
SYSTEMS = "Which system is best?"
ASPECTS = "What goes with the overall rating?"
AGREEMENT = "Do raters agree?"
PLAN = "What would a larger study tell?"
# what a recipe may say of a folder of Parquet files
OF_FOLDERS = {
    *("about", "questions", "outcome", "aspects", "scales", "matters", "better"),
    *("item", "cluster", "rater", "system"),
}
NOT_OF_FOLDERS = (
    "of a folder of Parquet files only means, differences and weights are computed: no "
    "agreement, no leniency, and no check for copied rows, for items rated again, and "
    "for raters who rate opposite to others or always the same"
)
UNNAMED = (
    "The recipe names no raters: intervals allow for other items, but not for other "
    "raters, and may be too narrow if a few people gave most ratings."
)


@dataclass
class Section:
    """One question of a page and its answer.

    Parameters
    ----------
    title : str
        The question, by which results are found in JSON.
    heading : str
        The question as the page asks it, if in other words.
    sentences : list of (str, str)
        What may be quoted, and what that does not say.
    tables : dict of str to pandas.DataFrame
        By caption.
    figure : dict of str to str, optional
        ``title``, ``png`` in text and ``alt``.
    missing : list of str
        Why something is not there.
    plan : (list of str, pandas.DataFrame)
        From `ratings.plan.advice`.
    """

    title: str
    sentences: list[tuple[str, str]] = field(default_factory=list)
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    figure: dict[str, str] | None = None
    missing: list[str] = field(default_factory=list)
    plan: tuple[list[str], pd.DataFrame] = field(
        default_factory=lambda: ([], pd.DataFrame())
    )
    heading: str = ""

    @property
    def question(self) -> str:
        """The question as the page asks it."""
        return self.heading or self.title


@dataclass
class Analysis:
    """All that a page shows.

    Parameters
    ----------
    description : str
        What there is: ratings, items, raters.
    source : {"real", "simulated"}
    questions : list of str
        What is open in the recipe; with any, nothing can be quoted.
    warnings : list of str
        What to know before anything is quoted.
    sections : list of Section
        The questions.
    systems : SystemComparison, optional
        How systems compare.
    verdicts : list of Verdict
        On aspects.
    rows : pandas.DataFrame
        What became of each row.
    methods : list of str
        How it was done, for a paper.
    """

    description: str
    source: str = "real"
    questions: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    systems: SystemComparison | None = None
    verdicts: list[Verdict] = field(default_factory=list)
    rows: pd.DataFrame = field(default_factory=pd.DataFrame)
    methods: list[str] = field(default_factory=list)


def analyse(
    table: pd.DataFrame,
    recipe: Mapping,
    progress: Callable[[str], object],
    account: Account | None = None,
) -> Analysis:
    """Compute what a page shows.

    Parameters
    ----------
    table : pandas.DataFrame
        From `ratings.recipes.read`.
    recipe : mapping
        The recipe of the file.
    progress : callable
        Told what is being done.
    account : Account, optional
        What became of each row until now.

    Returns
    -------
    Analysis
    """
    if account is None:
        account = Account()
        account.start(table)
    outcome = recipe.get("outcome", "")
    aspects = list(recipe.get("aspects", []))
    columns = [outcome, *aspects] if outcome else aspects
    found = Analysis(
        intake.describe_file(table, names_items="item" in recipe),
        intake.source(table, "auto"),
    )
    progress("checking raters and rows")
    noted = list(findings(table, columns))
    table = intake.once(table, account)
    within = constant_within(table, columns)
    not_own = {name for name, unit in within.items() if unit != "a rater"}
    not_own.update(recipes.repeated_values(recipe))
    shared = set(not_own)
    if "sum" in recipe:  # a sum of what is counted agrees wherever the counts do
        shared.add(outcome)
        noted.append(Finding("sum", outcome, len(table), SUMMED))
    is_doubted, doubts = raters.doubtful(table, outcome, aspects, sorted(shared))
    doubt = " and ".join(each.what for each in doubts)
    kept = account.keep(table, ~is_doubted, f"doubted: {doubt}")
    doubted = table if is_doubted.any() else None
    found.warnings = [_as_warning(each) for each in [*doubts, *noted]]
    if "rater_id" not in table:
        found.warnings.append(UNNAMED)

    progress("measuring agreement")
    own = [name for name in columns if name not in not_own]
    agreed, reasons = agreement(kept, own)
    scales = recipes.scales(recipe)
    matters = _matters(recipe)
    if outcome and "system_id" in table:
        progress("comparing systems")
        better = _better(recipe)
        _add_systems(found, kept, doubted, doubt, outcome, scales, matters, better)
    if outcome and aspects:
        n_aspects = "1 aspect" if len(aspects) == 1 else f"{len(aspects)} aspects"
        progress(f"judging {n_aspects}")
        per_error = _per_error(table, recipe)
        limits = scales | dict.fromkeys(per_error, (0.0, 1.0))
        study = _prepared(found, ASPECTS, kept, outcome, aspects, limits, account)
        if study is not None:
            with_doubted = _prepared(
                None, "", doubted, outcome, study.aspects, _scales_of(study)
            )
            found.verdicts = inference.judge_aspects(
                study,
                matters=matters,
                per_error=per_error,
                doubted=with_doubted,
                doubt=doubt,
            )
            chance = agreed.index[agreed["low"] <= 0] if len(agreed) else []
            _add_aspects(found, study, chance)
    others, _ = agreement(doubted, own) if doubted is not None else (pd.DataFrame(), {})
    names = {"higher": "Leniency", "lower": "Severity", "": "Raters"}
    caption = names[_better(recipe)]
    _add_agreement(found, kept, (agreed, reasons), others, doubt, outcome, caption)
    _add_plans(found)
    found.rows = account.table()
    numbers = f"Rows read: {account.steps[0].left:,}; ratings used: {account.left:,}."
    found.description += f" {numbers}"
    return found


SUMMED = (
    "the outcome adds up what the counted errors cost, so that a weight is the mean "
    "cost of a kind of error, not what people think of the whole"
)


def _as_warning(finding: Finding) -> str:
    """Write a finding as a line."""
    n_ratings = "1 rating" if finding.rows == 1 else f"{finding.rows:,} ratings"
    where = f"{cut(finding.where, LONGEST_CELL)}, " if finding.where else ""
    return f"{finding.what} ({where}{n_ratings}): {finding.consequence}"


def _matters(recipe: Mapping) -> float | None:
    """The smallest difference that matters, in points, if the recipe names one."""
    given = recipe.get("matters", "")
    if given == "":
        return None
    try:
        number = float(given)
    except (TypeError, ValueError):
        number = np.nan
    if not 0 < number < np.inf:
        raise OptionError(
            "recipe: `matters` is the smallest difference that matters, a number of "
            f"points above 0 (percentage points of yes and no), not {given!r}"
        )
    return number


def _better(recipe: Mapping) -> str:
    """Which outcome is better; empty for counts and sums of which nobody says it."""
    better = recipe.get("better", "" if "count" in recipe else "higher")
    if better not in ("higher", "lower", ""):
        raise OptionError(
            f"recipe: `better` says which outcome is better, higher or lower, not "
            f"{better!r}"
        )
    return better


def _per_error(table: pd.DataFrame, recipe: Mapping) -> list[str]:
    """Aspects that are numbers of errors: their weight is that of one error."""
    if "count" not in recipe:
        return []
    counted = []
    for aspect in recipe.get("aspects", []):
        marks = table[aspect].dropna()
        if (marks >= 0).all() and (marks % 1 == 0).all() and marks.max() > 1:
            counted.append(aspect)
    return counted


def _scales_of(study: Study) -> dict[str, tuple[float, float]]:
    """Lowest and highest mark of each column, for a study to be compared with."""
    ends = study.ends[["low", "high"]]
    return {name: (row["low"], row["high"]) for name, row in ends.iterrows()}


def _prepared(
    found: Analysis | None,
    question: str,
    table: pd.DataFrame | None,
    outcome: str,
    aspects: Sequence[str],
    scales: Mapping,
    account: Account | None = None,
) -> Study | None:
    """Prepare ratings for a question, or say on the page why that cannot be done."""
    if table is None:
        return None
    try:
        return intake.prepare(table, outcome, aspects, scales, account)
    except PlainError as error:
        if found is not None:
            found.sections.append(Section(question, missing=[str(error)]))
        return None


def _add_systems(
    found: Analysis,
    kept: pd.DataFrame,
    doubted: pd.DataFrame | None,
    doubt: str,
    outcome: str,
    scales: Mapping,
    matters: float | None,
    better: str,
) -> None:
    """Compare systems and say what was found."""
    study = _prepared(found, SYSTEMS, kept, outcome, [], scales)
    if study is None:
        return
    with_doubted = _prepared(None, "", doubted, outcome, [], scales)
    _compare(found, study, matters, better, with_doubted, doubt)


def _compare(
    found: Analysis,
    study: Study,
    matters: float | None,
    better: str,
    doubted: Study | None = None,
    doubt: str = "",
) -> None:
    """Add the section on systems."""
    heading = SYSTEMS if better else "Which system is rated highest?"
    try:
        compared = inference.compare_systems(
            study, matters=matters, doubted=doubted, doubt=doubt, better=better
        )
    except PlainError as error:
        missing = [str(error)]
        found.sections.append(Section(SYSTEMS, heading=heading, missing=missing))
        return
    found.systems = compared
    section = Section(SYSTEMS, systems_sentences(compared), heading=heading)
    section.tables = {
        "Mean of each system": means_table(compared),
        "Differences of all pairs (simultaneous 95 % intervals)": pairs_table(compared),
    }
    if not compared.is_adjusted and study.counts.raters.size:
        section.missing.append(
            "raters are not taken out of the means: they gave too few ratings each, or "
            "no rater links all systems. A system with lenient raters looks better"
        )
    verdicts = list(compared.pairs.values())
    lines, table = plan.advice(study, verdicts, compared.left_out, "pairs of systems")
    section.plan = (lines, table.max(axis="columns").to_frame("largest of all pairs"))
    table = compared_with_best(compared)
    axis = f"{verdicts[0].unit.name} of {cut(study.outcome, LONGEST_LABEL)}, against "
    axis += f"{cut(compared.means.index[0], LONGEST_IN_TITLE)} "
    axis += "(simultaneous 95 % intervals)"
    section.figure = _figure(systems_title(compared), table, axis, found.source)
    found.sections.append(section)
    found.methods += _methods_of(study, "systems", compared.is_adjusted)


def systems_sentences(compared: SystemComparison) -> list[tuple[str, str]]:
    """Say which system is rated highest, and what that does not say.

    Parameters
    ----------
    compared : SystemComparison
        From `ratings.inference.compare_systems`.

    Returns
    -------
    list of (str, str)
    """
    means = compared.means
    best = means.index[0]
    second = means.index[1]
    near = compared.not_separated(best)
    top, more, side = _verbs(compared)
    shown = compared.pairs[best, near[0] if near else second]
    scope = "for these raters"
    if shown.scope != THESE:
        scope = f"allowing for other {shown.scope}"
    on = f"{top} of {len(means)} systems on “{cut(shown.outcome)}”"
    if compared.better == "lower":
        on = f"{on} (lower is better)"
    raw = (
        means["mean"].idxmin() if compared.better == "lower" else means["mean"].idxmax()
    )
    if compared.is_adjusted and means.loc[raw, "mean"] != means.loc[best, "mean"]:
        on = f"{on} with raters held equal (raw means are in the table)"
    size = _difference(compared, best, shown.against)
    sign = -1 if compared.better == "lower" else 1
    in_words = f"{shown.size_in_words(sign)}{shown.doubted_in_words(sign)}"
    if not near:
        text = f"“{cut(best)}” is rated {on}: {size} {side} “{cut(second)}”, the next, "
        text += f"{scope}; {in_words}."
    else:
        text = f"“{cut(best)}” has the {on.replace(top, f'{top} mean', 1)} but cannot "
        text += f"be separated from {names_in_words(near)} ({size} {side} "
        text += f"“{cut(near[0])}”; {in_words})"
        below = [other for other in means.index[1:] if other not in near]
        if len(below) == 1:
            text += (
                f"; it is rated {_difference(compared, best, below[0])} {more} than "
            )
            text += f"“{cut(below[0])}”"
        elif below:  # the first of them is the nearest
            text += f"; it is rated {more} than {names_in_words(below)} (the smallest "
            text += f"of these differences is {_difference(compared, best, below[0])})"
        text += f", {scope}."
    not_said = "that this is so for other tasks, or for raters unlike these"
    if not compared.better:
        not_said = "that higher is better: the recipe does not say it (`better`)"
    return [(text, not_said)]


def _verbs(compared: SystemComparison) -> tuple[str, str, str]:
    """Words for the first system, and for its differences from the others."""
    if compared.better == "lower":
        return "lowest", "lower", "below"
    return "highest", "higher", "above"


def _difference(compared: SystemComparison, best: str, other: str) -> str:
    """Write by how much the first system is higher, or lower if that is better."""
    verdict = compared.pairs[best, other]
    size = turned(verdict.size, -1 if compared.better == "lower" else 1)
    return f"{verdict.unit.text(size)} {verdict.unit.name}"


def systems_title(compared: SystemComparison) -> str:
    """Say in a few words which system is rated highest, or lowest if that is better."""
    best = compared.means.index[0]
    near = compared.not_separated(best)
    name = cut(best, LONGEST_IN_TITLE)
    top = _verbs(compared)[0]
    if compared.better == "lower":
        top += " (lower is better)"
    if not near:
        return f"{name} is rated {top}"
    if len(near) == len(compared.means) - 1:
        return f"No system can be separated from {name}"
    others = "1 other" if len(near) == 1 else f"{len(near)} others"
    return f"{name} and {others} are rated {top} and cannot be separated"


def means_table(compared: SystemComparison) -> pd.DataFrame:
    """Means of systems, and from which others each cannot be separated."""
    unit = next(iter(compared.pairs.values())).unit
    rows = {}
    for name, row in compared.means.iterrows():
        near = compared.not_separated(name)
        rows[name] = {
            "ratings": f"{row['ratings']:,.0f}",
            "mean": unit.one(unit.times * row["mean"]),
            "mean, raters held equal": unit.one(unit.times * row["adjusted"]),
            "cannot be separated from": ", ".join(map(cut, near)) or "none",
        }
    table = pd.DataFrame.from_dict(rows, "index")
    if not compared.is_adjusted:
        table = table.drop(columns="mean, raters held equal")
    return table


def pairs_table(compared: SystemComparison) -> pd.DataFrame:
    """Differences of all pairs of systems in words."""
    rows = {}
    for (one, other), verdict in compared.pairs.items():
        row = {
            "difference": _or_nothing(verdict, verdict.unit.text(verdict.size)),
            "verdict": verdict.direction,
            "in SD": _or_nothing(verdict, POINTS.text(verdict.in_sd)),
            "size": verdict.importance,
            "p (Bonferroni)": _p_value(verdict.p),
        }
        if verdict.with_doubted is not None:
            row[f"with {verdict.doubt}"] = verdict.unit.text(verdict.with_doubted)
        rows[f"{cut(one)} − {cut(other)}"] = row
    return pd.DataFrame.from_dict(rows, "index")


def compared_with_best(compared: SystemComparison) -> pd.DataFrame:
    """How far each system is from the best, with simultaneous intervals."""
    best = compared.means.index[0]
    rows = {best: Estimate(0.0, 0.0, 0.0)}
    for name in compared.means.index[1:]:
        rows[name] = turned(compared.pairs[best, name].size, -1)
    return pd.DataFrame.from_dict(rows, "index", columns=inference.ENDS)


def _add_aspects(found: Analysis, study: Study, chance: Collection[str] = ()) -> None:
    """Add the section on aspects."""
    verdicts = found.verdicts
    section = Section(ASPECTS, heading=f"What goes with “{cut(study.outcome)}”?")
    section.sentences = aspects_sentences(study, verdicts, chance)
    section.tables = {"What was found on each aspect": aspects_table(verdicts)}
    judged = [each for each in verdicts if each.direction != "not judged"]
    if judged:
        rows = {row_label(each): each.size for each in judged}
        table = pd.DataFrame.from_dict(rows, "index", columns=inference.ENDS)
        outcome = cut(study.outcome, LONGEST_LABEL)
        axis = f"{judged[0].unit.name} of {outcome} (95 % intervals)"
        title = aspects_title(verdicts)
        section.figure = _figure(title, table, axis, found.source)
    lines, table = plan.advice(study, verdicts, inference.weights(study), "aspects")
    section.plan = (lines, table)
    found.sections.append(section)
    found.methods += _methods_of(study, "aspects")


def aspects_sentences(
    study: Study, verdicts: list[Verdict], chance: Collection[str] = ()
) -> list[tuple[str, str]]:
    """Say what goes with the outcome, and what that does not say.

    Parameters
    ----------
    study : Study
        Ratings.
    verdicts : list of Verdict
        From `ratings.inference.judge_aspects`.
    chance : collection of str, optional
        Aspects on which agreement may be chance: the interval of alpha reaches zero.

    Returns
    -------
    list of (str, str)
    """
    clear = [each for each in verdicts if each.is_clear]
    rows = []
    for verdict in clear[:MOST_CLEAR]:
        not_said = (
            f"that changing “{cut(verdict.name)}” would change “{cut(study.outcome)}”"
        )
        same = "the same people gave both marks"
        if not study.counts.raters.size:
            same = "the marks were given together"
        sentence = verdict.sentence()
        if verdict.name in chance and "rater_id" not in study.held:
            name = cut(verdict.name)
            sentence = (
                f"{sentence[:-1]}; raters do not clearly agree on “{name}” beyond "
                "chance, so this says how one person's marks go together."
            )
        rows.append((sentence, f"{not_said}: {same}"))
    for direction in ("higher", "lower"):
        rest = [each.name for each in clear[MOST_CLEAR:] if each.direction == direction]
        if rest:
            text = f"“{cut(study.outcome)}” is also {direction} with more "
            rows.append(
                (f"{text}{names_in_words(rest)}.", "by how much: see the table")
            )
    rows += _about_heaviest(study, verdicts)
    rows += _about_unclear(study, verdicts)
    not_judged = [each for each in verdicts if each.direction == "not judged"]
    reasons = {each.reason for each in not_judged}
    if len(not_judged) == 1:
        rows.append((not_judged[0].sentence(), "that it does not matter"))
    elif not_judged:
        names = names_in_words([each.name for each in not_judged])
        reason = f": {reasons.pop()}" if len(reasons) == 1 else ", see the table"
        rows.append((f"Not judged are {names}{reason}.", "that these do not matter"))
    return rows


def _about_unclear(study: Study, verdicts: list[Verdict]) -> list[tuple[str, str]]:
    """Say of which aspects the direction is unclear, and which of them are small."""
    unclear = [each for each in verdicts if each.direction == "unclear"]
    small = [each for each in unclear if each.is_small]
    others = [each for each in unclear if not each.is_small]
    rows = []
    for group in (small, others):
        not_said = "that there is no difference at all"
        if group is others:
            not_said = f"that {'it does' if len(group) == 1 else 'these do'} not matter"
        if len(group) == 1:
            rows.append((group[0].sentence(), not_said))
        elif group:
            names = names_in_words([each.name for each in group])
            text = f"For {names} it is unclear whether “{cut(study.outcome)}” is higher"
            text += " or lower"
            if group is small:
                text += f"; each weight is {group[0].importance}"
            rows.append((f"{text}.", not_said))
    return rows


def _about_heaviest(study: Study, verdicts: list[Verdict]) -> list[tuple[str, str]]:
    """Say which aspect weighs most, if one can be told from the others."""
    first, equal, nearest = inference.heaviest(study, verdicts)
    if not first:
        return []
    n_others = sum(each.direction != "not judged" for each in verdicts) - 1
    others = f"each of the other {n_others} aspects judged"
    if n_others == 1:
        others = "the other aspect judged"
    if equal:
        text = f"“{cut(first)}” has the largest weight but cannot be separated from "
        text += f"{names_in_words(equal)}."
    else:
        ((name, size),) = nearest.items()
        unit = verdicts[0].unit
        text = f"“{cut(first)}” weighs more than {others} ({unit.text(size)} "
        text += f"{unit.name} more than “{cut(name)}”, the nearest)."
    ends = study.ends.loc[study.aspects]
    not_said = "that it matters most to people: others may carry what it does"
    if np.ptp(ends["high"] - ends["low"]) > 0:
        not_said = "which would weigh most if all scales had equally many steps"
    return [(text, not_said)]


def aspects_title(verdicts: list[Verdict]) -> str:
    """Say in a few words with what the outcome goes."""
    clear = [each for each in verdicts if each.is_clear]
    outcome = cut(verdicts[0].outcome, LONGEST_IN_TITLE)
    if not clear:
        return f"What goes with {outcome} is unclear"
    if len(clear) > 2:
        n_judged = sum(each.direction != "not judged" for each in verdicts)
        return f"{len(clear)} of {n_judged} aspects go with {outcome}"
    names = " and ".join(cut(each.name, LONGEST_IN_TITLE) for each in clear)
    return f"{names} {'goes' if len(clear) == 1 else 'go'} with {outcome}"


def row_label(verdict: Verdict) -> str:
    """Name an aspect and what is compared, for a figure."""
    short = {"each error": "each", "marked against not marked": "marked"}
    compared = short.get(verdict.against, verdict.against.replace(" against ", " vs "))
    return f"{cut(verdict.name, LONGEST_LABEL - len(compared) - 3)} ({compared})"


def aspects_table(verdicts: list[Verdict]) -> pd.DataFrame:
    """Verdicts on aspects in words, a row each."""
    rows = {}
    for verdict in verdicts:
        row = {
            "compared": verdict.against,
            "verdict": verdict.direction,
            f"weight ({verdict.unit.name})": _or_nothing(
                verdict, verdict.unit.text(verdict.size)
            ),
            "in SD": _or_nothing(verdict, POINTS.text(verdict.in_sd)),
            "size": verdict.importance,
            "p (Holm)": _p_value(verdict.p),
        }
        if verdict.with_doubted is not None:
            row[f"with {verdict.doubt}"] = verdict.unit.text(verdict.with_doubted)
        for name, size in verdict.specifications.items():
            row[name] = f"{verdict.unit.text(size)}, {size.direction}"
        row["because"] = verdict.reason
        rows[verdict.name] = row
    table = pd.DataFrame.from_dict(rows, "index").fillna("")
    return table.loc[:, (table != "").any()]


def _or_nothing(verdict: Verdict, text: str) -> str:
    """Write a number only if the effect is judged."""
    return "" if verdict.direction == "not judged" else text


def _p_value(p_value: float) -> str:
    """Write a p-value."""
    if np.isnan(p_value):
        return ""
    return "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"


def _add_agreement(
    found: Analysis,
    kept: pd.DataFrame,
    agreed: tuple[pd.DataFrame, dict[str, str]],
    others: pd.DataFrame,
    doubt: str,
    outcome: str,
    leniency: str,
) -> None:
    """Add the section on agreement and leniency."""
    table, reasons = agreed
    section = Section(AGREEMENT)
    section.sentences = agreement_sentences(table, others, doubt, outcome)
    if len(table):
        section.tables["Agreement on each column"] = agreement_table(
            table, others, doubt
        )
        found.methods.append(
            "Agreement is Krippendorff's alpha (ordinal for up to eleven marks, else "
            "interval) and Gwet's AC1, with intervals by the same jackknife."
        )
    if outcome in kept and "rater_id" in kept:
        lenient = raters.leniency(kept, outcome)
        if len(lenient) > 1:
            unit = PERCENT if set(kept[outcome].dropna()) <= {0.0, 1.0} else POINTS
            caption = f"{leniency}: {unit.name} above the others on the same items"
            section.tables[caption] = _leniency_table(lenient, unit)
    for column, reason in reasons.items():
        section.missing.append(f"“{cut(column)}”: {reason}" if column else reason)
    found.sections.append(section)


def agreement_sentences(
    table: pd.DataFrame, doubted: pd.DataFrame, doubt: str, outcome: str
) -> list[tuple[str, str]]:
    """Say how far raters agree on the outcome, and on what they agree least.

    Parameters
    ----------
    table : pandas.DataFrame
        From `ratings.agreement.agreement`, without doubted ratings.
    doubted : pandas.DataFrame
        The same with them; empty if there are none.
    doubt : str
        Which ratings these are.
    outcome : str
        Column of which to speak first.

    Returns
    -------
    list of (str, str)

    Examples
    --------
    >>> row = {"estimate": 0.5, "low": 0.4, "high": 0.6, "scope": THESE}
    >>> alpha = pd.DataFrame(row, index=["tone"])
    >>> print(agreement_sentences(alpha, pd.DataFrame(), "", "")[0][0])
    On “tone”, raters of the same item agree with a Krippendorff's alpha of 0.50
    [0.40, 0.60] (0 is chance, 1 full agreement), for these raters.
    """
    if table.empty:
        return []
    texts = {}
    for column, row in table.iterrows():
        text = POINTS.text(Estimate(*row[inference.ENDS]))
        if column in doubted.index:
            size = Estimate(*doubted.loc[column, inference.ENDS])
            text += f" (with {doubt}: {POINTS.text(size)})"
        texts[column] = text
    first = outcome if outcome in texts else table["estimate"].idxmax()
    least = table["estimate"].idxmin()
    scope = table.loc[first, "scope"]
    scope = "for these raters" if scope == THESE else f"allowing for other {scope}"
    text = f"On “{cut(first)}”, raters of the same item agree with a Krippendorff's "
    text += f"alpha of {texts[first]} (0 is chance, 1 full agreement), {scope}."
    rows = [(text, "who is right, or how well a mean of several raters would do")]
    if least != first:
        text = f"They agree least on “{cut(least)}”: alpha {texts[least]}"
        ordered = table["estimate"].sort_values(kind="stable").index
        if table.loc[least, "high"] >= table.loc[ordered[1], "low"]:
            text = (
                f"Lowest alpha: “{cut(least)}” {texts[least]}, not clearly lower than "
            )
            text += f"“{cut(ordered[1])}”"
        same = table.loc[least].get("same mark, %", np.nan)
        not_said = "why: marks may be unclear, or opinions differ"
        if same >= MOSTLY_SAME:
            not_said = (
                "that they often differ: where most marks are the same, alpha is "
            )
            not_said += "low"
        elif not np.isnan(same):
            text += f"; two raters give the same mark in {same:.0f} % of cases"
        rows.append((f"{text}.", not_said))
    return rows


def agreement_table(
    table: pd.DataFrame, doubted: pd.DataFrame, doubt: str
) -> pd.DataFrame:
    """Agreement in words."""
    columns = {
        "items": table["items"].map("{:,}".format),
        "ratings": table["ratings"].map("{:,}".format),
        "alpha": _texts(table),
    }
    if "AC1" in table:
        ends = table[["AC1", "AC1 low", "AC1 high"]].set_axis(inference.ENDS, axis=1)
        is_known = ends["estimate"].notna()
        columns["AC1"] = _texts(ends).where(is_known, "")
        same = table["same mark, %"]
        columns["same mark, %"] = same.map("{:.0f}".format).where(is_known, "")
    if len(doubted):
        others = _texts(doubted).reindex(table.index).fillna("")
        columns[f"alpha with {doubt}"] = others
    return pd.DataFrame(columns)


def _leniency_table(lenient: pd.DataFrame, unit: Unit) -> pd.DataFrame:
    """How far raters are above the others in words, the highest first."""
    lenient = lenient.sort_values("estimate", ascending=False)
    text = _texts(lenient, unit)
    return pd.DataFrame(
        {"ratings": lenient["ratings"].map("{:,}".format), unit.name: text}
    )


def _texts(table: pd.DataFrame, unit: Unit = POINTS) -> pd.Series:
    """Write each estimate of a table with its interval, in a unit."""
    texts = []
    for row in unit.times * table[inference.ENDS].to_numpy(dtype=float):
        texts.append(unit.text(Estimate(*row)))
    return pd.Series(texts, table.index)


def _add_plans(found: Analysis) -> None:
    """Add what larger studies would tell, of each question that was answered."""
    section = Section(PLAN)
    for each in found.sections:
        lines, table = each.plan
        section.missing += [f"{each.question} {line}" for line in lines]
        if len(table):
            caption = f"{each.question} Smallest difference found in 4 of 5 studies"
            section.tables[caption] = _plan_table(table, found)
    if section.missing:
        found.sections.append(section)


def _plan_table(table: pd.DataFrame, found: Analysis) -> pd.DataFrame:
    """Larger studies in words, as multiples of this one."""
    names = []
    for n_raters, n_clusters in table.index:
        names.append(f"{n_raters} × the raters, {n_clusters} × the clusters of items")
    return table.set_axis(names, axis="index").map("{:.2f}".format)


def _methods_of(study: Study, question: str, is_adjusted: bool = False) -> list[str]:
    """Say how one question was answered, for a paper."""
    unit = inference.unit_of(study)
    kinds = {"rater_id": "rater", "cluster": "cluster of items"}
    left_out = " and each ".join(kinds[name] for name in study.clusters)
    intervals = (
        f"intervals come from leaving out each {left_out} in turn (jackknife) and t "
        "with the effective number of clusters less one as degrees of freedom"
    )
    if question == "systems":
        held = " with raters held equal" if is_adjusted else ""
        return [
            f"Means of “{cut(study.outcome)}” are compared for all pairs of systems"
            f"{held}, with simultaneous 95 % intervals (Bonferroni); {intervals}."
        ]
    words = {"rater_id": "raters", "system_id": "systems"}
    held = " and ".join(words[name] for name in study.held)
    held = f" with {held} held equal (fixed effects)" if held else ""
    return [
        f"Weights are least-squares slopes of “{cut(study.outcome)}” on all aspects at "
        f"once{held}, in {unit.name} between the marks compared; 95 % {intervals}. An "
        "aspect is called higher or lower if p < 0.05 after Holm's correction for all "
        "aspects judged; one with an unusual mark in fewer than ten clusters is not "
        "judged. SD is that of the outcome within raters and systems; below 0.2 SD is "
        "called very small, below 0.5 small, below 0.8 medium, else large (Cohen "
        "1988). "
        "Weights belong to marks as these raters gave them, with their errors."
    ]


def _versions() -> str:
    """Say with what it was computed, and when."""
    versions = []
    for package in ("numpy", "pandas", "scipy"):
        versions.append(f"{package} {importlib.metadata.version(package)}")
    version = importlib.metadata.version(PACKAGE)
    return (
        f"Computed with the command ratings of {PACKAGE} {version}, "
        f"{', '.join(versions)}, Python {platform.python_version()}, on "
        f"{datetime.date.today().isoformat()}."
    )


def write_page(
    file: str | Path,
    recipe: Mapping,
    out: str | Path,
    progress: Callable[[str], object] = print,
    assumed: Sequence[str] = (),
) -> Path:
    """Write a page on ratings, and beside it the results as CSV and JSON.

    What became of each row is in a CSV file of its own.

    Parameters
    ----------
    file : str or pathlib.Path
        Ratings: a file, or a folder of Parquet files with a row per rating, which is
        read part by part with Dask.
    recipe : mapping
        How to read them, from `ratings.recipes.from_yaml` or
        `ratings.inspection.inspect`. Of a folder it names columns and scales only.
        While a question in it is open, the page has tables but no sentences.
    out : str or pathlib.Path
        The page, ``.html``; the others have the same name with another end.
    progress : callable, optional
        Told what is being done.
    assumed : sequence of str, optional
        What nobody has checked in the recipe: it stands on the page.

    Returns
    -------
    pathlib.Path
        The page.

    Raises
    ------
    tables.PlainError
        If the file or the recipe is wrong. Nothing is written then.

    Examples
    --------
    >>> import tempfile
    >>> recipe = {"outcome": "overall", "aspects": ["tone"], "item": ["item_id"]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = Path(folder) / "mine.html"
    ...     page = write_page("data/example/ratings.csv", recipe, page, lambda _: None)
    ...     sorted(each.name for each in Path(folder).iterdir())
    ['mine.csv', 'mine.html', 'mine.json', 'mine.rows.csv']
    """
    page = Path(out)
    name = Path(file).name
    if page.suffix.lower() not in (".html", ".htm"):
        raise OptionError(
            f"the page is called {page.name}: give a name that ends in .html"
        )
    results = [page.with_suffix(end) for end in (".csv", ".json", ".rows.csv")]
    is_folder = Path(file).is_dir()
    if not is_folder and find(file).resolve() in [each.resolve() for each in results]:
        raise OptionError(
            f"results beside {page.name} would replace {name} itself: name another page"
        )
    recipe = recipes.parse(dict(recipe))
    asked = questions.for_page(recipe)
    progress(f"reading {name}")
    if is_folder:
        found = _analyse_folder(Path(file), recipe, progress)
    else:
        account = Account()
        found = analyse(recipes.read(file, recipe, account), recipe, progress, account)
    found.questions = list(dict.fromkeys([*asked, *assumed]))
    if found.questions:
        for section in found.sections:
            section.sentences = []
            section.figure = None
    progress("writing")
    csv_file, json_file, rows_file = results
    contents = {
        page: _html(name, found, recipe).encode(),
        csv_file: _csv(found),
        json_file: _json(name, found),
        rows_file: to_csv_bytes(found.rows, index=False),
    }
    paths.replace_files(contents)
    return page


def _analyse_folder(
    folder: Path, recipe: Mapping, progress: Callable[[str], object]
) -> Analysis:
    """Compute what the page of a folder of Parquet files shows."""
    unknown = sorted(set(recipe) - OF_FOLDERS)
    if unknown:
        raise OptionError(
            "a folder of Parquet files is read as it is, one row per rating: the "
            f"recipe cannot use {', '.join(unknown)}"
        )
    roles = {}
    for role, key in (
        ("cluster", "cluster"),
        ("rater_id", "rater"),
        ("system_id", "system"),
    ):
        names = recipe.get(key, recipe.get("item", []) if key == "cluster" else [])
        if len(names) > 1:
            raise OptionError(
                f"a folder of Parquet files has one column for each {key}, not "
                f"{', '.join(names)}"
            )
        if names:
            roles[role] = names[0]
    roles = roles or intake.usual_columns(folder)
    if "cluster" not in roles or "outcome" not in recipe:
        raise OptionError(
            "the recipe of a folder of Parquet files names `outcome`, and `cluster` or "
            "`item` unless the files have a column prompt_id or item_id"
        )
    outcome = recipe["outcome"]
    aspects = list(recipe.get("aspects", []))
    scales = recipes.scales(recipe)
    matters = _matters(recipe)
    found = Analysis("", warnings=[f"Not computed: {NOT_OF_FOLDERS}."])
    studies = {}
    if "system_id" in roles:
        studies[SYSTEMS] = []
    if aspects:
        studies[ASPECTS] = aspects
    if not studies:
        raise OptionError("the recipe names neither `system` nor `aspects`")
    for question, columns in studies.items():
        progress(question)
        study = intake.from_parquet(folder, roles, outcome, columns, scales)
        if question == SYSTEMS:
            _compare(found, study, matters, _better(recipe))
        else:
            found.verdicts = inference.judge_aspects(study, matters=matters)
            _add_aspects(found, study)
        used = study.counts.rows
        step = {"step": question, "rows read": study.n_read, "ratings used": used}
        found.rows = pd.concat([found.rows, pd.DataFrame([step])], ignore_index=True)
    raters_of = study.counts.raters.size
    found.description = (
        f"{study.n_read:,} rows in Parquet files, {used:,} ratings used; "
    )
    found.description += f"{study.counts.clusters:,} clusters, {raters_of:,} raters."
    if not raters_of:
        found.warnings.append(UNNAMED)
    _add_plans(found)
    return found


def _html(name: str, found: Analysis, recipe: Mapping) -> str:
    """Fill in the page, in which whatever comes from a file is text, never HTML."""
    text = (TEMPLATES / "ratings.html.j2").read_text(encoding="utf-8")
    template = jinja2.Template(
        text, autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    return template.render(
        name=name,
        found=found,
        methods=methods_paragraph(name, found),
        most=MOST_ROWS,
        cells=_cells,
        recipe=recipes.as_yaml(recipes.for_page(recipe)),
        version=importlib.metadata.version(PACKAGE),
        address=_address(),
    )


def methods_paragraph(name: str, found: Analysis) -> str:
    """Describe how the results were computed, in words for a paper."""
    return " ".join([f"{name}: {found.description}", *found.methods, _versions()])


def _address() -> str:
    """Find where the project lives, if the package says so; else nothing."""
    addresses = importlib.metadata.metadata(PACKAGE).get_all("Project-URL") or []
    places = dict(line.split(", ", 1) for line in addresses if ", " in line)
    return places.get("Repository", "")


def _cells(table: pd.DataFrame) -> dict[str, list]:
    """The first rows of a table as text."""
    shown = table[:MOST_ROWS]
    rows = shown.map(lambda value: cut(value, LONGEST_CELL)).to_numpy().tolist()
    index = []
    if not isinstance(table.index, pd.RangeIndex):
        index = [cut(label) for label in shown.index]
    return {"columns": [cut(each) for each in shown], "index": index, "rows": rows}


def label(name: str, longest: int = LONGEST_LABEL) -> str:
    """Shorten a name for a figure; dollar signs are shown as such.

    Examples
    --------
    >>> label("tone", longest=3), len(label("$"))
    ('to…', 2)
    """
    return cut(name, longest).replace("$", r"\$")


def intervals(ax: Axes, table: pd.DataFrame) -> None:
    """Draw estimates with their intervals, one a row; dollar signs are no formulas.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axis to draw on.
    table : pandas.DataFrame
        ``estimate``, ``low`` and ``high`` by name.
    """
    names = [label(name) for name in table.index]
    show.interval_plot(ax, table.set_axis(names, axis="index"))
    show.zero_line(ax)


def _figure(
    title: str, table: pd.DataFrame, axis: str, source: str
) -> dict[str, str] | None:
    """Draw intervals as PNG in text, with title and alt text."""
    table = table.dropna()[:MOST_ROWS]
    if len(table) < 1:
        return None
    with mpl.rc_context():
        show.use_style()
        fig = Figure(figsize=(WIDTH, height(len(table))))
        FigureCanvasAgg(fig)
        ax = fig.subplots()
        intervals(ax, table)
        ax.set_xlabel(axis.replace("$", r"\$"))
        png = base64.b64encode(show.as_png(fig, source)).decode()
    described = wording.in_words(table[:MOST_DESCRIBED].rename(index=cut))
    return {
        "title": title,
        "png": png,
        "alt": f"{title}. Dots with intervals: {described}.",
    }


def height(n_rows: int) -> float:
    """Height of a figure with so many rows, in inches."""
    return max(1.8, 1.0 + 0.36 * n_rows)


def _csv(found: Analysis) -> bytes:
    """Write verdicts on aspects and on pairs of systems, a row each."""
    rows = []
    for question, verdicts in _verdicts(found).items():
        for verdict in verdicts:
            record = verdict.record()
            record.pop("specifications")
            flat = {}
            for key, value in record.items():
                if isinstance(value, dict):
                    flat |= {f"{key}: {name}": each for name, each in value.items()}
                else:
                    flat[key] = value
            rows.append({"question": question, **flat})
    return to_csv_bytes(pd.DataFrame(rows), index=False, float_format="%.6g")


def _verdicts(found: Analysis) -> dict[str, list[Verdict]]:
    """All verdicts by question."""
    pairs = list(found.systems.pairs.values()) if found.systems is not None else []
    return {SYSTEMS: pairs, ASPECTS: found.verdicts}


def _json(name: str, found: Analysis) -> bytes:
    """Write all results, for programs."""
    sections = {}
    for section in found.sections:
        tables = {}
        for caption, table in section.tables.items():
            text = table.to_json(orient="table", index=True)
            tables[caption] = json.loads(text)["data"]
        sections[section.title] = {
            "sentences": [
                {"sentence": text, "it does not say": not_said}
                for text, not_said in section.sentences
            ],
            "title": (section.figure or {}).get("title", ""),
            "not there": section.missing,
            "tables": tables,
        }
    verdicts = {}
    for question, each in _verdicts(found).items():
        verdicts[question] = [verdict.record() for verdict in each]
    content = {
        "ratings": found.description,
        "open questions": found.questions,
        "before you quote": found.warnings,
        "sections": sections,
        "verdicts": verdicts,
        "rows": found.rows.to_dict(orient="records"),
        "methods": methods_paragraph(name, found),
    }
    return json.dumps(content, ensure_ascii=False, indent=1).encode()
