"""The answer first: what ratings say, in sentences to quote, on one page.

`write_page` makes the page of `ratings report`, which needs nothing else: up to ten
sentences, each with its number, its interval and what it does not say; then the checks
that could not run, figures and tables. `sentences` and the figures are also those of
notebook 53.
"""

import base64
import datetime
import importlib.metadata
import json
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import jinja2
import matplotlib as mpl
import numpy as np
import pandas as pd
import yaml
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from helpers import paths, show, wording
from helpers.data.tables import OptionError, PlainError, find, to_csv_bytes
from helpers.show import INK, forest_plot, zero_line
from helpers.wording import with_interval
from ratings import inference, inspection, intake, raters, recipes
from ratings.accounts import Account
from ratings.intake import Study

LONGEST = 28  # characters of a label
LONGEST_IN_TITLE = 18
LONGEST_NAME = 60  # in a sentence
LONGEST_CELL = 300
MOST_SENTENCES = 10
MOST_ON_ASPECTS = 6  # of these, one for each aspect
MOST_ALIKE = 3  # sentences with one verdict
MOST_ROWS = 25  # of a figure or a table on the page
MOST_DESCRIBED = 8  # estimates in an alt text
SURE = 95  # % of redrawn weights in which the same aspect weighs most
N_BOOT = 500
SEED = 20240917
WIDTH = 6.8  # of a figure, in inches
MARKS = ("higher", "lower")
PACKAGE = "judging-language-models"
KINDS = {
    "hardly any link": "small",
    "hardly anything of its own": "small",
    "depends on choices": "choices",
    "not known": "not known",
}
KIND_WORDS = {
    "small": ("adds hardly anything", "add hardly anything"),
    "choices": ("depends on choices", "depend on choices"),
    "not known": ("is not known", "are not known"),
    "cannot": ("cannot be judged", "cannot be judged"),
}
QUOTED = ["sentence", "it does not say"]
ESTIMATE = ["estimate", "low", "high"]
# Columns of a table on the page that become one: an estimate with its interval.
INTERVALS = [
    ("alone", "alone low", "alone high"),
    ("change", "change low", "change high"),
    ("AC1", "AC1 low", "AC1 high"),
    ("leniency", "leniency low", "leniency high"),
    ("pooled", "pooled low", "pooled high"),
    ("weight", "low", "high"),
    ("estimate", "low", "high"),
    ("agreement", "low", "high"),
]
FIRST = ["what", "verdict", "weight", "alone"]  # columns of a table on the page
ON_ASPECTS = "What was found on each aspect"
ROWS = "What became of each row"
CHECKED = "Raters and rows"
AGREEMENT = "Agreement between raters"
PEOPLE = "Rater by rater"
RELIABLE = "Reliability of the mean of several ratings"
NEEDED = (
    "Smallest weight seen, and how many times the ratings a tenth of the scale needs"
)
COVARIATE = "With the covariate held constant"
RANKING = "What weighs most"
SYSTEMS = "With the system held equal"
TEMPLATES = paths.DATA / "templates"
WORDS = yaml.load((TEMPLATES / "sentences.yaml").read_bytes(), yaml.BaseLoader)
ON_VERDICT = WORDS["aspects"]


class Unit(NamedTuple):
    """In what weights are told, and how a number of the tables becomes it."""

    name: str
    times: float
    decimals: int


POINTS = Unit("points", 1, 2)
# of a yes/no outcome, whose weights are differences between shares
PERCENT = Unit("percentage points", 100, 1)


def unit_of(study: Study) -> Unit:
    """Tell in what the weights of a study are told.

    Examples
    --------
    >>> ends = pd.DataFrame({"low": [0], "high": [1]}, ["accept"])
    >>> frame = pd.DataFrame({"accept": [0, 1, 1]})
    >>> unit_of(intake.Study(frame, "accept", ["tone"], ends, {})).name
    'percentage points'
    """
    return PERCENT if study.is_yes_no else POINTS


def height(n_rows: int) -> float:
    """Height of a figure with one row per aspect, in inches.

    Examples
    --------
    >>> height(2), height(40)
    (3.0, 19.6)
    """
    return max(3.0, 2.0 + 0.44 * n_rows)


def label(name: str, longest: int = LONGEST) -> str:
    """Shorten a name that would not fit; dollar signs are shown as such.

    Examples
    --------
    >>> label("tone"), label("how polite the response was to the person who asked")
    ('tone', 'how polite the response was…')
    """
    return _cut(name, longest).replace("$", r"\$")


def _cut(name: str, longest: int = LONGEST_NAME) -> str:
    """Shorten a name, and leave out what cannot be printed."""
    characters = str(name)[: longest + 1]
    shown = "".join(each if each.isprintable() else " " for each in characters)
    if len(shown) <= longest:
        return shown
    return f"{shown[: longest - 1].rstrip()}…"


def intervals(ax: Axes, tables: Mapping[str, pd.DataFrame]) -> None:
    """Draw tables with a row per aspect side by side, or say why there is none.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axis to draw on.
    tables : mapping of str to pandas.DataFrame
        ``estimate``, ``low`` and ``high`` by aspect, up to five; those that were
        `not_done` are passed over.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> fig, ax = plt.subplots()
    >>> intervals(ax, {"alpha": pd.DataFrame({"not done": ["there is one rater"]})})
    >>> ax.texts[0].get_text()
    'Not done: there is one rater'
    >>> plt.close(fig)
    """
    done = {name: table for name, table in tables.items() if "estimate" in table}
    if not done:
        reason = f"Not done: {_reason(tables)}"
        ax.axis("off")
        ax.text(0, 0.5, reason, color=INK, wrap=True, transform=ax.transAxes)
        return
    forest_plot(ax, {name: table.rename(index=label) for name, table in done.items()})
    zero_line(ax)
    if len(done) > 1:
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=len(done))


def _reason(tables: Mapping[str, pd.DataFrame]) -> str:
    """Say why the first of some tables was not done."""
    first = next(iter(tables.values()))
    return first["not done"].iloc[0]


def held_and_alone(
    table: pd.DataFrame, names: Sequence[str] = ()
) -> dict[str, pd.DataFrame]:
    """Take weights with others held equal, and alone, for `intervals`.

    Parameters
    ----------
    table : pandas.DataFrame
        From `ratings.inference.conclude` or `confounder`.
    names : sequence of str, optional
        What the two are called.

    Returns
    -------
    dict of str to pandas.DataFrame
        The heaviest aspects, at most `MOST_ROWS`.

    Examples
    --------
    >>> columns = ["alone", "alone low", "alone high", "weight", "low", "high"]
    >>> table = pd.DataFrame([[2.0, 1, 3, 0.5, 0, 1]], ["tone"], columns)
    >>> held_and_alone(table)["others held equal"]["estimate"].to_dict()
    {'tone': 0.5}
    """
    if "not done" in table:
        return {"": table}
    table = table.rename(columns={"estimate": "weight"})
    is_judged = table["low"].notna()
    if "p Holm" in table:
        is_judged = table["p Holm"].notna()
    if not is_judged.any():
        is_judged = table["alone low"].notna()
    table = _heaviest_first(table[is_judged])[:MOST_ROWS]
    held_name, alone_name = names or ("others held equal", "alone")
    parts = {
        held_name: table[["weight", "low", "high"]],
        alone_name: table[["alone", "alone low", "alone high"]],
    }
    return {
        name: part.set_axis(ESTIMATE, axis="columns")
        for name, part in parts.items()
        if part.notna().any(axis=None)
    }


def only_judged(table: pd.DataFrame, conclusions: pd.DataFrame) -> pd.DataFrame:
    """Leave out aspects that cannot be judged, whose intervals cannot be trusted.

    Parameters
    ----------
    table : pandas.DataFrame
        From `ratings.inference.weights_by_method` or `confounder`, a row per aspect; or
        one that says why there is none.
    conclusions : pandas.DataFrame
        From `ratings.inference.conclude`; those not judged have no ``p Holm``.

    Returns
    -------
    pandas.DataFrame
        The other rows; or, where none is left, one that says so.

    Examples
    --------
    >>> table = pd.DataFrame({"estimate": [0.5, -2.0]}, ["tone", "refusal"])
    >>> found = pd.DataFrame({"p Holm": [0.01, np.nan]}, ["tone", "refusal"])
    >>> only_judged(table, found).index.tolist()
    ['tone']
    """
    if "not done" in table:
        return table
    judged = conclusions.index[conclusions["p Holm"].notna()]
    rows = table[table.index.isin(judged)]
    if rows.empty:
        return inference.not_done("no aspect can be judged")
    return rows


def projected(reliability: pd.DataFrame, study: Study) -> pd.DataFrame:
    """Mark numbers of ratings that no item has: their reliability is a projection.

    Parameters
    ----------
    reliability : pandas.DataFrame
        From `ratings.raters.reliability`.
    study : Study
        Ratings.

    Returns
    -------
    pandas.DataFrame
        The same with words in the index, as "10 (projected)".

    Examples
    --------
    >>> frame = pd.DataFrame({"item_id": [1, 1, 2], "cluster": 1})
    >>> study = intake.Study(frame, "", [], None, {})
    >>> table = pd.DataFrame({"estimate": [0.4, 0.6]}, pd.Index([2, 3], name="ratings"))
    >>> projected(table, study).index.tolist()
    ['2', '3 (projected)']
    """
    if reliability.empty:
        return reliability
    most = most_ratings(study)
    names = []
    for number in reliability.index:
        name = f"{number} (projected)" if number > most else f"{number}"
        names.append(name)
    return reliability.set_axis(pd.Index(names, name=reliability.index.name))


def _heaviest_first(table: pd.DataFrame) -> pd.DataFrame:
    """Sort aspects by their weights, or where there is none by their slopes alone."""
    sizes = table["weight"].fillna(table["alone"]).abs()
    return table.loc[sizes.sort_values(ascending=False, kind="stable").index]


def alt_text(title: str, tables: Mapping[str, pd.DataFrame]) -> str:
    """Say what `intervals` drew, for those who cannot see it.

    Parameters
    ----------
    title : str
        Title of the figure.
    tables : mapping of str to pandas.DataFrame
        As given to `intervals`.

    Returns
    -------
    str
        The title, and the first eight estimates of each table with their intervals; or
        why there are none.

    Examples
    --------
    >>> table = pd.DataFrame({"estimate": [0.5], "low": [0.4], "high": [0.6]}, ["tone"])
    >>> alt_text("People agree", {"alpha": table})
    'People agree. Dots with intervals; alpha: tone 0.50 [0.40, 0.60].'
    >>> none = pd.DataFrame({"not done": ["there is one rater"]})
    >>> alt_text("People agree", {"alpha": none})
    'People agree. Not done: there is one rater.'
    """
    title = " ".join(title.split())
    lists = []
    for name, table in tables.items():
        if "estimate" in table:
            known = table.dropna(subset="estimate")[:MOST_DESCRIBED]
            lists.append(f"{name}: {wording.in_words(known.rename(index=_cut))}")
    if not lists:  # no table was done
        return f"{title}. Not done: {_reason(tables)}."
    return "; ".join([f"{title}. Dots with intervals", *lists]) + "."


def weights_title(conclusions: pd.DataFrame, outcome: str) -> str:
    """Say what the weights show, for the title of their figure.

    Parameters
    ----------
    conclusions : pandas.DataFrame
        From `ratings.inference.conclude`.
    outcome : str
        Column to explain.

    Returns
    -------
    str

    Examples
    --------
    >>> verdicts = {"tone": "higher", "typos": "not known"}
    >>> weights_title(pd.Series(verdicts).to_frame("verdict"), "overall")
    'With the others held equal, tone goes with overall; 1 other is not known'
    """
    verdicts = conclusions["verdict"]
    whole = label(outcome)
    if (verdicts == "computed from others").all():
        return f"The weights are arithmetic: {whole} is computed from these columns"
    is_link = verdicts.isin(MARKS)
    names = [label(name, LONGEST_IN_TITLE) for name in verdicts.index[is_link]]
    if not names:
        title = f"No aspect can be shown to go with {whole}"
        return f"{title}, others held equal" if len(verdicts) > 1 else title
    subject = " and ".join(names)
    if len(names) > 2:
        subject = f"{len(names)} of {len(verdicts)} aspects"
    verb = "goes" if len(names) == 1 else "go"
    statement = f"{subject} {verb} with {whole}"
    if len(verdicts) == 1:
        return statement
    title = f"With the others held equal, {statement}"
    others = _others(verdicts[~is_link])
    return f"{title}; {others}" if others else title


def _others(verdicts: pd.Series) -> str:
    """Say how many of the other aspects got which kind of verdict."""
    kinds = verdicts.map(KINDS).fillna("cannot")
    parts = []
    for kind, (one, several) in KIND_WORDS.items():
        number = int((kinds == kind).sum())
        if number == 0:
            continue
        noun = ""
        if not parts:
            noun = " other" if number == 1 else " others"
        parts.append(f"{number}{noun} {one if number == 1 else several}")
    return ", ".join(parts)


def sentences(
    study: Study,
    conclusions: pd.DataFrame,
    ranking: pd.DataFrame,
    agreement: pd.DataFrame,
    reliability: pd.DataFrame,
    by_system: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Say what may be quoted, and what must not be read into it.

    Parameters
    ----------
    study : Study
        Ratings.
    conclusions, ranking, agreement : pandas.DataFrame
        From `ratings.inference`.
    reliability : pandas.DataFrame
        From `ratings.raters.reliability`.
    by_system : pandas.DataFrame, optional
        From `ratings.inference.systems`.

    Returns
    -------
    pandas.DataFrame
        Up to ten rows: ``sentence``, and what ``it does not say``.
    """
    on_raters = about_agreement(agreement, study.outcome)
    on_raters += _about_means(reliability, study)
    if by_system is None:
        by_system = inference.not_done("")
    on_aspects = _about_aspects(study, conclusions, by_system)
    on_aspects += _about_ranking(conclusions, ranking, study)
    on_aspects = on_aspects[: MOST_SENTENCES - len(on_raters)]
    return pd.DataFrame([*on_aspects, *on_raters], columns=QUOTED)


def _about_aspects(
    study: Study, conclusions: pd.DataFrame, by_system: pd.DataFrame
) -> list[tuple[str, str]]:
    """Sentences on the heaviest aspects of each verdict, then on the others."""
    if study.identity:
        text = (
            f"{study.identity}: the weights of its parts are arithmetic, not a finding."
        )
        return [(text, "what people had in mind when they rated")]
    conclusions = _heaviest_first(conclusions)
    single = []
    together = []
    for verdict in dict.fromkeys([*ON_VERDICT, *conclusions["verdict"]]):
        table = conclusions[conclusions["verdict"] == verdict]
        n_single = MOST_ALIKE if verdict in ON_VERDICT else 0
        for aspect, row in table[:n_single].iterrows():
            single.append(_on_aspect(study, aspect, row, by_system))
        rest = table[n_single:]
        if len(rest):
            together.append(_on_several(verdict, rest))
    return [*single[:MOST_ON_ASPECTS], *together]


def _on_several(verdict: str, table: pd.DataFrame) -> tuple[str, str]:
    """Name aspects with one verdict in one sentence."""
    names = ", ".join(f"“{_cut(name)}”" for name in table.index[:MOST_ALIKE])
    if len(table) > MOST_ALIKE:
        names += f" and {len(table) - MOST_ALIKE} more"
    text = f"{verdict.capitalize()}: {names}"
    if verdict in ON_VERDICT:
        return f"{text}.", WORDS["rest"]["known"]
    reasons = table["because"].unique()
    if len(reasons) == 1:
        text += f" ({reasons[0]})"
    return f"{text}.", WORDS["rest"]["one unknown" if len(table) == 1 else "unknown"]


def _on_aspect(
    study: Study, aspect: str, row: pd.Series, by_system: pd.DataFrame
) -> tuple[str, str]:
    """What was found about one aspect, and what not."""
    weight, low, high = row[["weight", "low", "high"]]
    alone, alone_low, alone_high = row[["alone", "alone low", "alone high"]]
    unit = unit_of(study)
    size = _unsigned(weight, low, high, unit)
    if weight < 0:  # "points lower" takes no sign
        size = _unsigned(-weight, -high, -low, unit)
    words = {
        "verdict": row["verdict"],
        "because": row["because"],
        "aspect": _cut(aspect),
        "outcome": _cut(study.outcome),
        "size": size,
        "unit": unit.name,
        "weight": signed(weight, low, high, unit),
        "alone": _beside(row["verdict"], alone, alone_low, alone_high, unit),
        "scope": WORDS["scope"][row["scope"]],
    }
    words["start"] = _start(study, aspect)
    words["beyond"] = _beyond(study, [low, high, alone_low, alone_high])
    words["systems"] = _with_systems_equal(aspect, by_system, unit)
    words["within"] = _within_raters(row, unit)
    words["held"] = ""
    if len(study.aspects) > 1:
        words["held"] = WORDS["held"].format_map(words)
    sentence, not_said = ON_VERDICT[row["verdict"]]
    return sentence.format_map(words), not_said.format_map(words)


def _within_raters(row: pd.Series, unit: Unit) -> str:
    """Say that raters are compared with themselves, and what all ratings give."""
    if np.isnan(row.get("pooled low", np.nan)):
        return ""
    pooled = signed(row["pooled"], row["pooled low"], row["pooled high"], unit)
    return WORDS["within"].format(pooled=pooled)


def _with_systems_equal(
    aspect: str, by_system: pd.DataFrame, unit: Unit = POINTS
) -> str:
    """Say what is left of a weight among answers of one system, and of others."""
    if aspect not in by_system.index or "other systems" not in by_system:
        return ""
    row = by_system.loc[aspect]
    size = signed(row["estimate"], row["low"], row["high"], unit)
    kind = "extends" if row["other systems"] == "extends" else "not shown"
    return WORDS["systems"][kind].format(size=size)


def _beyond(study: Study, ends: Sequence[float]) -> str:
    """Say so where an interval reaches further than the outcome's scale is long."""
    low, high, known = study.ends.loc[study.outcome, ["low", "high", "known"]]
    length = high - low
    if known == "not known" or not np.nanmax(np.abs(ends)) > length:
        return ""
    unit = unit_of(study)
    return WORDS["beyond"].format(length=unit.times * length, unit=unit.name)


def _start(study: Study, aspect: str) -> str:
    """Begin a sentence with what is compared: marked or not, or two ends of a scale."""
    is_flag = set(study.frame[aspect].unique()) <= {0.0, 1.0}
    start = WORDS["start"]["flag" if is_flag else "scale"]
    low, high = study.ends.loc[aspect, ["low", "high"]]
    if study.frame[aspect].max() > high:  # see `_per_error`
        start = WORDS["start"]["count"]
    return start.format(aspect=_cut(aspect), low=low, high=high)


def _beside(
    verdict: str, estimate: float, low: float, high: float, unit: Unit = POINTS
) -> str:
    """Write a weight alone; beside "points higher" in words, not with a sign."""
    if verdict not in MARKS:
        return signed(estimate, low, high, unit)
    if estimate < 0:
        return f"{signed(-estimate, -high, -low, unit)} lower"
    return f"{signed(estimate, low, high, unit)} higher"


def signed(estimate: float, low: float, high: float, unit: Unit = POINTS) -> str:
    """Write an estimate with its interval, and with the sign for minus."""
    return _unsigned(estimate, low, high, unit).replace("-", "−")


def _unsigned(estimate: float, low: float, high: float, unit: Unit) -> str:
    """Write an estimate with its interval in the unit in which it is told."""
    numbers = [unit.times * number for number in (estimate, low, high)]
    return with_interval(*numbers, decimals=unit.decimals)


def _about_ranking(
    conclusions: pd.DataFrame, ranking: pd.DataFrame, study: Study
) -> list[tuple[str, str]]:
    """Say which aspect weighs most, if one was shown to weigh anything."""
    if "not done" in ranking or len(ranking) < 2:
        return []
    if not conclusions["verdict"].isin(MARKS).any():
        return []
    share = ranking["weighs most, %"].max()
    first = ranking["weighs most, %"].idxmax()
    if conclusions.loc[first, "verdict"] not in MARKS:  # it may weigh nothing
        return []
    name = f"“{_cut(first)}”"
    judged = f"the {len(ranking)} aspects that can be judged"
    percent = f"{share:.0f}" if share < 99.5 else "> 99"
    if share < SURE:
        text = f"Which of {judged} weighs most is not sure: {name} in {percent} % of"
        text = f"{text} redraws."
    else:
        text = f"{name} weighs most of {judged} in {percent} % of redrawn weights."
    ends = study.ends.loc[ranking.index]
    lengths = ends["high"] - ends["low"]
    key = "one scale" if np.ptp(lengths) == 0 else "other scales"
    return [(text, WORDS["ranking"][key])]


def about_agreement(
    agreement: pd.DataFrame, outcome: str = ""
) -> list[tuple[str, str]]:
    """Say how far raters agree on the outcome, and on what they agree least.

    Parameters
    ----------
    agreement : pandas.DataFrame
        From `ratings.inference.agreement`.
    outcome : str, optional
        Column of which to speak first.

    Returns
    -------
    list of (str, str)
        Sentences, and what they do not say.

    Examples
    --------
    >>> alpha = pd.DataFrame({"estimate": [0.5], "low": [0.4], "high": [0.6]}, ["tone"])
    >>> print(about_agreement(alpha)[0][0])
    On “tone”, raters of the same item agree with a Krippendorff's alpha of 0.50
    [0.40, 0.60] (0 is chance, 1 full agreement).
    """
    if "estimate" not in agreement or agreement["high"].isna().all():
        return []
    known = agreement.dropna(subset=ESTIMATE)
    alphas = {
        column: signed(row["estimate"], row["low"], row["high"])
        for column, row in known.iterrows()
    }
    least = known["estimate"].idxmin()
    first = outcome
    alpha = alphas.get(first)
    if alpha is None:
        first = known["estimate"].idxmax()
        alpha = alphas[first]
        if len(alphas) > 1:
            alpha += ", the highest of all columns"
    text = (
        f"On “{_cut(first)}”, raters of the same item agree with a Krippendorff's "
        f"alpha of {alpha} (0 is chance, 1 full agreement)"
    )
    if "scope" in known:
        text += f", {WORDS['scope'][known.loc[first, 'scope']]}"
    if "same mark, %" in known and not np.isnan(known.loc[first, "same mark, %"]):
        same = known.loc[first, "same mark, %"]
        text += (
            f"; on an average item, {same:.0f} % of pairs of raters give the same mark"
        )
    not_said = "who is right, or how well a mean of several raters would do"
    rows = [(f"{text}.", not_said)]
    if least != first:
        text = f"They agree least on “{_cut(least)}”: alpha {alphas[least]}."
        not_said = (
            "that they often differ: where most marks are the same, alpha is low too"
        )
        rows.append((text, not_said))
    return rows


def most_ratings(study: Study) -> int:
    """Largest number of complete ratings that an item has.

    Examples
    --------
    >>> frame = pd.DataFrame({"item_id": [1, 1, 2], "cluster": 1})
    >>> study = intake.Study(frame, "", [], None, {})
    >>> most_ratings(study)
    2
    """
    items = study.frame.groupby(["cluster", "item_id"], observed=True)
    return int(items.size().max())


def _about_means(reliability: pd.DataFrame, study: Study) -> list[tuple[str, str]]:
    """Say how reliable a mean of three raters is, or would be if no item has three."""
    if reliability.empty:
        return []
    estimate, low, high = reliability.loc[3, ESTIMATE]
    scope = ""
    if "scope" in reliability:
        scope = f", {WORDS['scope'][reliability.loc[3, 'scope']]}"
    most = most_ratings(study)
    if most < 3:
        n_ratings = "1 rating" if most == 1 else f"{most} ratings"
        scope += f", projected from items with at most {n_ratings}"
    text = WORDS["means"].format(
        outcome=_cut(study.outcome), share=signed(estimate, low, high), scope=scope
    )
    return [(text, "that the mean is right: people can agree and be wrong")]


def warnings(checked: pd.DataFrame, outcome: str) -> list[str]:
    """Choose what was found about raters and rows that touches all or the outcome.

    Parameters
    ----------
    checked : pandas.DataFrame
        From `ratings.raters.check_raters`.
    outcome : str
        Column to explain.

    Returns
    -------
    list of str

    Examples
    --------
    >>> row = ["copied rows", "rater-2", 40, "counted once", ["all"]]
    >>> columns = ["what", "where", "rows", "consequence", "affects"]
    >>> warnings(pd.DataFrame([row], columns=columns), "overall")
    ['copied rows (rater-2, 40 ratings): counted once']
    """
    lines = []
    for row in checked.itertuples(index=False):
        is_touched = "all" in row.affects or outcome in row.affects
        if not is_touched or row.what == "nothing":
            continue
        where = "1 rating" if row.rows == 1 else f"{row.rows:,} ratings"
        if _cut(row.where):
            where = f"{_cut(row.where)}, {where}"
        lines.append(f"{row.what} ({where}): {row.consequence}")
    return lines


@dataclass
class Analysis:
    """All that a page shows.

    Parameters
    ----------
    description : str
        What there is: ratings, items, raters.
    quotes : pandas.DataFrame
        From `sentences`.
    conclusions : pandas.DataFrame
        A row per aspect; empty where there is no outcome.
    tables : dict of str to pandas.DataFrame
        Other tables by their captions.
    not_run : dict of str to str
        Checks that could not run, and why.
    warnings : list of str
        What to know before anything is quoted.
    study : Study, optional
        What the conclusions rest on.
    to_do : list of str
        What would tell more, where a computed power or a check says so.
    methods : str
        How it was done, for a paper.
    label_error : str
        What errors in marks do to weights, where a weight is quoted.
    """

    description: str
    quotes: pd.DataFrame
    conclusions: pd.DataFrame
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    not_run: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    study: Study | None = None
    to_do: list[str] = field(default_factory=list)
    methods: str = ""
    label_error: str = ""

    def add(self, name: str, table: pd.DataFrame) -> None:
        """Keep a table, or the reason why there is none."""
        if "not done" in table:
            self.not_run[name] = table["not done"].iloc[0]
        elif len(table):
            self.tables[name] = table

    def account_for(self, account: Account, n_ratings: int) -> None:
        """Say how many rows became how many ratings, and keep the steps."""
        words = WORDS["used"]["conclusions"]
        if self.study is None:
            words = WORDS["used"]["agreement"]
        numbers = {"read": account.steps[0].left, "used": account.left}
        self.description += " " + words.format(**numbers, ratings=n_ratings, rows=ROWS)
        self.tables = {ROWS: account.table(), **self.tables}


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
    rng = np.random.default_rng(SEED)
    outcome = recipe.get("outcome", "")
    aspects = list(recipe.get("aspects", []))
    columns = [outcome, *aspects] if outcome else aspects
    scales = recipes.scales(recipe)
    description = intake.describe_file(table, names_items="item" in recipe)
    analysis = Analysis(description, pd.DataFrame(), pd.DataFrame())
    if "rater_id" not in table:
        analysis.not_run["Raters one by one"] = WORDS["not run"]["raters"]
    if len(table) > raters.MOST_ROWS:
        analysis.not_run["Agreement on all ratings"] = WORDS["not run"]["drawn"]
    progress("checking raters and rows")
    covariate = recipe.get("covariate", "")
    repeated = recipes.repeated_values(recipe)
    # a sum of what is counted agrees wherever the counts do
    no_marks = [*repeated, outcome] if "sum" in recipe else repeated
    checked = raters.check_raters(
        table, columns[0], columns[1:], scales, covariate, no_marks
    )
    analysis.add(CHECKED, checked)
    progress("measuring agreement")
    within = intake.constant_within(table, columns)
    shared = [name for name, unit in within.items() if unit != "a rater"]
    rated = [name for name in columns if name not in repeated and name not in shared]
    agreement = inference.agreement(table, rated, rng, scales)
    analysis.add(AGREEMENT, agreement)
    if "not done" in agreement and "item" not in recipe:
        analysis.not_run[AGREEMENT] = WORDS["not run"]["items"]
    if "estimate" in agreement:
        without = [name for name in rated if name not in agreement.index]
        by_item = table.groupby("item_id", observed=True)
        full = [name for name in without if by_item[name].nunique().max() == 1]
        if full:
            names = ", ".join(f"“{_cut(name)}”" for name in full)
            analysis.not_run[f"Agreement on {names}"] = WORDS["not run"]["full"]
        too_rare = [name for name in without if name not in full]
        if too_rare:
            names = ", ".join(f"“{_cut(name)}”" for name in too_rare)
            analysis.not_run[f"Agreement on {names}"] = WORDS["not run"]["too rare"]
    if repeated:
        names = ", ".join(f"“{_cut(name)}”" for name in repeated)
        analysis.not_run[f"Agreement on {names}"] = WORDS["not run"]["repeated"]
    shared = [name for name in shared if name not in repeated]
    if shared:
        names = ", ".join(f"“{_cut(name)}”" for name in shared)
        analysis.not_run[f"Agreement on {names}"] = WORDS["not run"]["shared"]
    try:
        limits = scales | _per_error(table, recipe)
        study = intake.prepare(table, outcome, aspects, rng, limits, account)
    except PlainError as error:
        analysis.account_for(account, len(table))
        analysis.not_run["What goes with an overall rating"] = str(error)
        analysis.quotes = pd.DataFrame(about_agreement(agreement), columns=QUOTED)
        checked.loc[checked["rows"] > 0, "consequence"] = WORDS["not run"]["judged"]
        analysis.warnings = warnings(checked, columns[0])
        return analysis
    analysis.study = study
    analysis.account_for(account, len(table))
    words = recipe.get("marks", {}).get(outcome, {})
    analysis.description += f" {_scale_in_words(study, words)}"
    analysis.warnings = warnings(checked, outcome)
    if "sum" in recipe:
        analysis.warnings.insert(0, WORDS["summed"])
    progress(f"judging {len(aspects)} aspects")
    _judge_aspects(analysis, study, agreement, rng, outcome in repeated)
    return analysis


def _scale_in_words(study: Study, words: Mapping | str = "") -> str:
    """Say from where to where the outcome goes, and how that is known.

    ``words`` are those that the recipe gives numbers to.
    """
    ends = study.ends.loc[study.outcome]
    basis = WORDS["ends"][ends["known"]]
    name = f"“{_cut(study.outcome)}”"
    if study.is_yes_no:
        yes, no = "yes", "no"
        if isinstance(words, Mapping):
            word_of = {number: word for word, number in words.items() if word}
            if "1" in word_of:
                yes = word_of["1"]
                no = word_of.get("0", f"not {yes}")
        return f"{name} is {_cut(yes)} (1) or {_cut(no)} (0)."
    return f"{name} goes from {ends['low']:g} to {ends['high']:g} ({basis})."


def _per_error(table: pd.DataFrame, recipe: Mapping) -> dict[str, tuple]:
    """Scales by which the weight of a kind of error that is counted is that of one."""
    if "count" not in recipe:
        return {}
    per_error = {}
    for aspect in recipe.get("aspects", []):
        marks = table[aspect].dropna()
        if (marks >= 0).all() and (marks % 1 == 0).all() and marks.max() > 1:
            per_error[aspect] = (0.0, 1.0)
    return per_error


def _judge_aspects(
    analysis: Analysis,
    study: Study,
    agreement: pd.DataFrame,
    rng: np.random.Generator,
    outcome_is_repeated: bool = False,
) -> None:
    """Add what is concluded on aspects, and the sentences that say it.

    An outcome that stands once beside a list of ratings has no reliability.
    """
    conclusions = inference.conclude(study, rng)
    ranking = inference.rank_aspects(study, N_BOOT, rng)
    controlled = only_judged(inference.confounder(study), conclusions)
    reliability = raters.reliability(study)
    ends = study.ends.loc[study.outcome]
    small = inference.SMALL * (ends["high"] - ends["low"])
    analysis.conclusions = conclusions
    analysis.add(RANKING, ranking)
    analysis.add(COVARIATE, controlled)
    by_system = inference.systems(study)
    if "system_id" in study.frame:
        analysis.add(SYSTEMS, by_system)
        number = study.frame["system_id"].nunique()
        if number > 1:
            why = WORDS["not run"]["systems"].format(number=number)
            analysis.not_run["Other systems"] = why
    if not outcome_is_repeated:
        analysis.add(PEOPLE, raters.by_rater(study))
    if outcome_is_repeated:
        reliability = pd.DataFrame()
    analysis.add(RELIABLE, projected(reliability, study))
    needed = raters.sample_size(study, small)
    analysis.add(NEEDED, needed)
    analysis.to_do = what_to_do(study, conclusions, needed, small, unit_of(study))
    analysis.quotes = sentences(
        study, conclusions, ranking, agreement, reliability, by_system
    )
    if not study.identity and conclusions["verdict"].isin(ON_VERDICT).any():
        analysis.label_error = WORDS["label error"]


def what_to_do(
    study: Study,
    conclusions: pd.DataFrame,
    needed: pd.DataFrame,
    small: float,
    unit: Unit = POINTS,
) -> list[str]:
    """Say what would tell more of aspects that are not known, by the power computed.

    Parameters
    ----------
    study : Study
        Ratings.
    conclusions : pandas.DataFrame
        From `ratings.inference.conclude`.
    needed : pandas.DataFrame
        From `ratings.raters.sample_size`.
    small : float
        The weight that is to be found.
    unit : Unit, optional
        In what it is told.

    Returns
    -------
    list of str

    Examples
    --------
    >>> frame = pd.DataFrame({"item_id": range(40), "cluster": range(40)})
    >>> study = intake.Study(frame, "overall", ["tone"], None, {})
    >>> row = {"verdict": "not known", "because": "", "p Holm": 0.4}
    >>> conclusions = pd.DataFrame(row, ["tone"])
    >>> columns = ["times the items", "times the raters"]
    >>> needed = pd.DataFrame([[3.2, np.nan]], ["tone"], columns)
    >>> what_to_do(study, conclusions, needed, 0.4)[0][:53]
    'To find 0.4 points for “tone” in four of five studies'
    """
    lines = []
    unknown = conclusions[conclusions["verdict"] == "not known"]
    for aspect, row in unknown[:MOST_ALIKE].iterrows():
        name = f"“{_cut(aspect)}”"
        if np.isnan(row["p Holm"]):
            lines.append(WORDS["to do"]["rare"].format(aspect=name, why=row["because"]))
            continue
        ways = _more(study, needed.loc[aspect])
        key = "more" if ways else "out of reach"
        points = f"{unit.times * small:.2g} {unit.name}"
        lines.append(WORDS["to do"][key].format(aspect=name, points=points, ways=ways))
    is_open = conclusions["verdict"] == "scale not settled"
    for aspect, row in conclusions[is_open][:MOST_ALIKE].iterrows():
        lines.append(f"“{_cut(aspect)}”: {row['because']}.")
    return lines


def _more(study: Study, row: pd.Series) -> str:
    """Say how many items or raters it takes; nothing if neither suffices."""
    ways = []
    times = row["times the items"]
    if np.isfinite(times):
        n_items = study.frame["item_id"].nunique()
        number = _number_needed(times, n_items, "item")
        ways.append(f"{number}, rated as these were")
    times = row["times the raters"]
    if np.isfinite(times):
        n_raters = study.frame["rater_id"].nunique()
        number = _number_needed(times, n_raters, "rater")
        ways.append(f"{number}, on the same items")
    return ", or ".join(ways)


def _number_needed(times: float, n_now: int, noun: str) -> str:
    """Say how many it takes; "as many as here" where no more are needed."""
    needed = wording_number(times * n_now)
    if times <= 1:
        return f"as many {noun}s as here ({n_now:,})"
    return f"about {needed} {noun}s instead of {n_now:,}"


def wording_number(number: float) -> str:
    """Write a number to two digits, rounded up, as a plan needs it.

    Examples
    --------
    >>> wording_number(1284.2), wording_number(7.1)
    ('1,300', '8')
    """
    step = 10 ** max(0, int(np.floor(np.log10(number))) - 1)
    return f"{int(np.ceil(number / step) * step):,}"


def methods_paragraph(analysis: Analysis, name: str) -> str:
    """Describe how the results were computed, in words for a paper.

    Parameters
    ----------
    analysis : Analysis
        From `analyse`.
    name : str
        Name of the file.

    Returns
    -------
    str
        With versions and the date.
    """
    parts = [f"{name}: {analysis.description}"]
    study = analysis.study
    if study is not None:
        words = {"outcome": _cut(study.outcome), "unit": unit_of(study).name}
        parts.append(WORDS["methods"]["weights"].format(**words))
        key = "within" if study.is_within else "pooled"
        parts.append(WORDS["methods"][key])
        scope = "others" if study.for_others.all() else "these"
        parts.append(WORDS["methods"][scope])
        parts.append(WORDS["methods"]["rules"])
        if SYSTEMS in analysis.tables:
            parts.append(WORDS["methods"]["systems"])
    if AGREEMENT in analysis.tables:
        parts.append(WORDS["methods"]["agreement"])
    if RELIABLE in analysis.tables:
        parts.append(WORDS["methods"]["reliability"])
    versions = []
    for package in ("numpy", "pandas", "scipy"):
        versions.append(f"{package} {importlib.metadata.version(package)}")
    parts.append(
        WORDS["methods"]["versions"].format(
            version=importlib.metadata.version(PACKAGE),
            packages=", ".join(versions),
            python=platform.python_version(),
            date=datetime.date.today().isoformat(),
        )
    )
    return " ".join(parts)


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
        Ratings.
    recipe : mapping
        How to read them, from `ratings.recipes.from_yaml` or
        `ratings.inspection.inspect`.
    out : str or pathlib.Path
        The page, ``.html``; the others have the same name with another end.
    progress : callable, optional
        Told what is being done.
    assumed : sequence of str, optional
        What nobody has checked in the recipe: ``to_check`` of
        `ratings.inspection.inspect`. It stands on the page.

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
    if page.suffix.lower() not in (".html", ".htm"):
        raise OptionError(
            f"the page is called {page.name}: give a name that ends in .html"
        )
    csv_file = page.with_suffix(".csv")
    json_file = page.with_suffix(".json")
    rows_file = page.with_suffix(".rows.csv")
    results = [each.resolve() for each in (csv_file, json_file, rows_file)]
    if find(file).resolve() in results:
        raise OptionError(
            f"results beside {page.name} would replace {Path(file).name} itself: name "
            "another page"
        )
    recipe = recipes.parse(dict(recipe))
    progress(f"reading {Path(file).name}")
    account = Account()
    table = recipes.read(file, recipe, account)
    analysis = analyse(table, recipe, progress, account)
    analysis.methods = methods_paragraph(analysis, Path(file).name)
    doubts = inspection.doubts(file, table, recipe)
    analysis.warnings = [*doubts, *analysis.warnings]
    if assumed:
        analysis.warnings.insert(0, WORDS["assumed"])
    progress("drawing")
    source = intake.source(table, "auto")
    html = _html(Path(file).name, source, analysis, recipe, assumed)
    contents = {
        page: html.encode(),
        csv_file: _csv(analysis),
        json_file: _json(analysis),
        rows_file: to_csv_bytes(account.table(), index=False),
    }
    paths.replace_files(contents)
    return page


def _html(
    name: str,
    source: str,
    analysis: Analysis,
    recipe: Mapping,
    assumed: Sequence[str] = (),
) -> str:
    """Fill in the page."""
    tables = [
        (title, _as_text(table), len(table)) for title, table in _all_tables(analysis)
    ]
    shown = {column for _, table, _ in tables for column in table["columns"]}
    meanings = WORDS["columns"].items()
    return _template().render(
        columns={name: each for name, each in meanings if name in shown},
        name=name,
        source=source,
        found=analysis,
        figures=_figures(analysis, source),
        tables=tables,
        most=MOST_ROWS,
        recipe=recipes.as_yaml(recipe),
        assumed=assumed,
        version=importlib.metadata.version(PACKAGE),
        address=_address(),
        is_yes_no=analysis.study is not None and analysis.study.is_yes_no,
    )


def _address() -> str:
    """Find where the project lives, if the package says so; else nothing."""
    addresses = importlib.metadata.metadata(PACKAGE).get_all("Project-URL") or []
    places = dict(line.split(", ", 1) for line in addresses)
    return places.get("Repository", "")


def _template() -> jinja2.Template:
    """The page, in which whatever comes from a file is text, never HTML."""
    text = (TEMPLATES / "ratings.html.j2").read_text(encoding="utf-8")
    return jinja2.Template(text, autoescape=True, trim_blocks=True, lstrip_blocks=True)


def _figures(analysis: Analysis, source: str) -> list[dict[str, str]]:
    """Draw the weights and the agreement, as PNG in text, with title and alt text."""
    figures = []
    with mpl.rc_context():
        show.use_style()
        if analysis.study is not None:
            figures += _figure_of_weights(analysis, source)
        if AGREEMENT in analysis.tables:
            figures += _figure_of_agreement(analysis, source)
    return figures


def _figure_of_weights(analysis: Analysis, source: str) -> list[dict[str, str]]:
    """Draw what each aspect weighs, if there is any weight."""
    outcome = analysis.study.outcome
    title = weights_title(analysis.conclusions, outcome)
    unit = unit_of(analysis.study)
    tables = held_and_alone(analysis.conclusions)
    if "estimate" in next(iter(tables.values()), ()):
        tables = {name: unit.times * table for name, table in tables.items()}
    label_x = f"{unit.name} of {label(outcome)}, highest against lowest mark"
    if list(tables) == ["alone"]:
        label_x += ", each aspect alone"
    return [_figure(title, tables, label_x, source)] if tables else []


def _figure_of_agreement(analysis: Analysis, source: str) -> list[dict[str, str]]:
    """Draw the agreement on each column, if there is any number."""
    title = "How far raters of the same item agree"
    table = analysis.tables[AGREEMENT].dropna(subset=ESTIMATE)[:MOST_ROWS]
    label_x = "Krippendorff's alpha; 0 is chance, 1 is full agreement"
    return [_figure(title, {"alpha": table}, label_x, source)] if len(table) else []


def _figure(
    title: str, tables: Mapping[str, pd.DataFrame], label_x: str, source: str
) -> dict[str, str]:
    """Draw intervals as PNG in text."""
    n_rows = len(next(iter(tables.values())))
    fig = Figure(figsize=(WIDTH, height(n_rows)))
    FigureCanvasAgg(fig)
    ax = fig.subplots()
    intervals(ax, tables)
    ax.set(xlabel=f"{label_x} (95 % interval)")
    png = base64.b64encode(show.as_png(fig, source)).decode()
    title = title.replace(r"\$", "$")  # outside a figure, dollar signs are no formulas
    return {"title": title, "png": png, "alt": alt_text(title, tables)}


def _all_tables(analysis: Analysis) -> list[tuple[str, pd.DataFrame]]:
    """All tables, conclusions first."""
    others = list(analysis.tables.items())
    if analysis.conclusions.empty:
        return others
    return [(ON_ASPECTS, _heaviest_first(analysis.conclusions)), *others]


def _as_text(table: pd.DataFrame) -> dict[str, list]:
    """The first rows of a table as text: estimates with intervals, numbers rounded."""
    shown = table[:MOST_ROWS].copy()
    for columns in INTERVALS:
        if set(columns) <= set(shown):
            shown = _in_one_column(shown, columns)
    first = [name for name in FIRST if name in shown]
    others = shown.columns.difference([*FIRST, "p"], sort=False)
    shown = shown[[*first, *others]]
    index = []
    if not isinstance(shown.index, pd.RangeIndex):
        index = [_cut(name) for name in shown.index]
    rows = shown.map(_cell_on_page).to_numpy().tolist()
    return {"columns": list(map(str, shown.columns)), "index": index, "rows": rows}


def _in_one_column(table: pd.DataFrame, columns: tuple[str, str, str]) -> pd.DataFrame:
    """Write an estimate and its interval in one column."""
    name, name_low, name_high = columns
    texts = []
    for estimate, low, high in table[list(columns)].itertuples(index=False):
        text = "" if np.isnan(estimate) else signed(estimate, low, high)
        if np.isnan(low) and not np.isnan(estimate):  # nothing varies: no interval
            text = f"{estimate:.2f}".replace("-", "−")
        texts.append(text)
    return table.assign(**{name: texts}).drop(columns=[name_low, name_high])


def _cell_on_page(value: object) -> str:
    """Write a cell of a table."""
    if isinstance(value, float):
        if np.isinf(value):  # see `ratings.raters.sample_size`
            return WORDS["no number"]
        return "" if np.isnan(value) else f"{value:.3g}".replace("-", "−")
    if isinstance(value, list):
        return ", ".join(map(_cut, value))
    return _cut(value, LONGEST_CELL)


def _csv(analysis: Analysis) -> bytes:
    """Write results on each aspect, or what there is in their place."""
    table = analysis.conclusions
    if table.empty:
        table = analysis.tables.get(AGREEMENT, analysis.quotes)
    return to_csv_bytes(table.rename_axis("aspect"), float_format="%.6g")


def _json(analysis: Analysis) -> bytes:
    """Write all results, for programs."""
    tables = {}
    for name, table in _all_tables(analysis):
        text = table.to_json(orient="table", index=True)
        tables[name] = json.loads(text)["data"]
    content = {
        "ratings": analysis.description,
        "methods": analysis.methods,
        "what to do": analysis.to_do,
        "sentences": analysis.quotes.to_dict(orient="records"),
        "errors in marks": analysis.label_error,
        "not run": analysis.not_run,
        "tables": tables,
    }
    return json.dumps(content, ensure_ascii=False, indent=1).encode()
