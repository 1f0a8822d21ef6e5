"""The answer first: what ratings say, in sentences to quote, on one page that needs nothing else.

`write_page` makes the page of `ratings report`: up to ten sentences, each with its
number, its interval and what it does not say; then the checks that could not run,
figures and tables. `sentences` and the figures are also those of notebook 53.
"""

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

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
from ratings import inference, intake, raters, recipes
from ratings.intake import Study

LONGEST = 28  # characters of a label
LONGEST_IN_BOX = 18
LONGEST_NAME = 60  # in a sentence
MOST_SENTENCES = 10
MOST_ALIKE = 3  # sentences with one verdict
MOST_ROWS = 25  # of a figure or a table on the page
SURE = 95  # % of redrawn weights in which the same aspect weighs most
N_BOOT, SEED = 500, 20240917
MARKS = ("higher", "lower")
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
ENDS = [
    *(
        (name, f"{name} low", f"{name} high")
        for name in ("alone", "change", "AC1", "leniency")
    ),
    *((name, "low", "high") for name in ("weight", "estimate", "agreement")),
]
FIRST = ["what", "verdict", "weight", "alone"]  # columns of a table on the page
FOUND = "What was found on each aspect"
CHECKED, AGREEMENT = "Raters and rows", "Agreement between raters"
PEOPLE, RELIABLE = "Rater by rater", "Reliability of the mean of several ratings"
NEEDED = (
    "Smallest weight seen, and how many times the ratings a tenth of the scale needs"
)
COVARIATE, RANKING = "With the covariate held constant", "What weighs most"
WORDS = yaml.load(
    (paths.DATA / "templates" / "sentences.yaml").read_bytes(), yaml.BaseLoader
)
SAID = WORDS["aspects"]


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
    shown = "".join(
        each if each.isprintable() else " " for each in str(name)[: longest + 1]
    )
    return shown if len(shown) <= longest else f"{shown[: longest - 1].rstrip()}…"


def intervals(ax: Axes, tables: Mapping[str, pd.DataFrame]) -> None:
    """Draw tables with a row per aspect side by side, or say why there is nothing to draw.

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
        reason = next(iter(tables.values()))["not done"].iloc[0]
        ax.axis("off")
        ax.text(
            0, 0.5, f"Not done: {reason}", color=INK, wrap=True, transform=ax.transAxes
        )
        return
    forest_plot(ax, {name: table.rename(index=label) for name, table in done.items()})
    zero_line(ax)
    if len(done) > 1:
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=len(done))


def held_and_alone(
    table: pd.DataFrame, names: Sequence[str] = ()
) -> dict[str, pd.DataFrame]:
    """Take the intervals of conclusions, with others held equal and alone, for `intervals`.

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
    is_judged = table["p Holm"].notna() if "p Holm" in table else table["low"].notna()
    table = table[is_judged] if is_judged.any() else table[table["alone low"].notna()]
    table = _heaviest_first(table)[:MOST_ROWS]
    parts = (["weight", "low", "high"], ["alone", "alone low", "alone high"])
    return {
        name: table[part].set_axis(["estimate", "low", "high"], axis="columns")
        for name, part in zip(
            names or ("others held equal", "alone"), parts, strict=True
        )
        if table[part].notna().any(axis=None)
    }


def only_judged(table: pd.DataFrame, conclusions: pd.DataFrame) -> pd.DataFrame:
    """Leave out aspects that cannot be judged, whose intervals cannot be trusted.

    Parameters
    ----------
    table : pandas.DataFrame
        From `ratings.inference.weights_by_method` or `confounder`, a row per aspect; or one that
        says why there is none.
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
    left = table[table.index.isin(judged)]
    return left if len(left) else inference.not_done("no aspect can be judged")


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
    >>> study = intake.Study(pd.DataFrame({"item_id": [1, 1, 2], "cluster": 1}), "", [], None, {})
    >>> table = pd.DataFrame({"estimate": [0.4, 0.6]}, pd.Index([2, 3], name="ratings"))
    >>> projected(table, study).index.tolist()
    ['2', '3 (projected)']
    """
    if reliability.empty:
        return reliability
    most = most_ratings(study)
    names = [
        f"{number} (projected)" if number > most else f"{number}"
        for number in reliability.index
    ]
    return reliability.set_axis(pd.Index(names, name=reliability.index.name))


def _heaviest_first(table: pd.DataFrame) -> pd.DataFrame:
    """Sort aspects by their weights, or where these are not known by their slopes alone."""
    sizes = table["weight"].fillna(table["alone"]).abs()
    return table.loc[sizes.sort_values(ascending=False, kind="stable").index]


def described(title: str, tables: Mapping[str, pd.DataFrame]) -> str:
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
    >>> described("People agree", {"alpha": table})
    'People agree. Dots with intervals; alpha: tone 0.50 [0.40, 0.60].'
    >>> none = pd.DataFrame({"not done": ["there is one rater"]})
    >>> described("People agree", {"alpha": none})
    'People agree. Not done: there is one rater.'
    """
    title = " ".join(title.split())
    texts = []
    for name, table in tables.items():
        if "estimate" in table:
            known = table.dropna(subset="estimate")[:8].rename(index=_cut)
            texts.append(f"{name}: {wording.in_words(known)}")
    if not texts:  # no table was done
        reason = next(iter(tables.values()))["not done"].iloc[0]
        return f"{title}. Not done: {reason}."
    return "; ".join([f"{title}. Dots with intervals", *texts]) + "."


def message(conclusions: pd.DataFrame, outcome: str) -> str:
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
    >>> found = pd.DataFrame({"verdict": ["higher", "not known"]}, index=["tone", "typos"])
    >>> message(found, "overall")
    'With the others held equal, tone goes with overall; 1 other is not known'
    """
    told = conclusions["verdict"].isin(MARKS)
    names = [label(name, LONGEST_IN_BOX) for name in conclusions.index[told]]
    held = ", others held equal" if len(conclusions) > 1 else ""
    if (conclusions["verdict"] == "computed from others").all():
        whole = label(outcome)
        return f"The weights are arithmetic: {whole} is computed from these columns"
    if not names:
        return f"No aspect can be shown to go with {label(outcome)}{held}"
    few = " and ".join(names)
    if len(names) > 2:
        few = f"{len(names)} of {len(conclusions)} aspects"
    go = "goes" if len(names) == 1 else "go"
    if len(conclusions) == 1:
        return f"{few} {go} with {label(outcome)}"
    title = f"With the others held equal, {few} {go} with {label(outcome)}"
    others = _others(conclusions["verdict"][~told])
    return f"{title}; {others}" if others else title


def _others(verdicts: pd.Series) -> str:
    """Say how many aspects that do not go with the outcome got which kind of verdict."""
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

    Returns
    -------
    pandas.DataFrame
        Up to ten rows: ``sentence``, and what ``it does not say``.
    """
    rows = [*_about_aspects(study, conclusions), *_about_ranking(conclusions, ranking)]
    people = [
        *about_agreement(agreement, study.outcome),
        *_about_means(reliability, study),
    ]
    rows = [*rows[: MOST_SENTENCES - len(people)], *people]
    return pd.DataFrame(rows, columns=QUOTED)


def _about_aspects(study: Study, conclusions: pd.DataFrame) -> list[tuple[str, str]]:
    """Sentences on the heaviest aspects of each verdict, then on those of which less is known."""
    if study.identity:
        text = (
            f"{study.identity}: the weights of its parts are arithmetic, not a finding."
        )
        return [(text, "what people had in mind when they rated")]
    conclusions = _heaviest_first(conclusions)
    order = [*SAID, *conclusions["verdict"].unique()]
    single, several = [], []
    for verdict in dict.fromkeys(order):
        table = conclusions[conclusions["verdict"] == verdict]
        n_single = MOST_ALIKE if verdict in SAID else 0
        single += [
            _on_aspect(study, aspect, row)
            for aspect, row in table[:n_single].iterrows()
        ]
        if len(rest := table[n_single:]):
            names = ", ".join(f"“{_cut(name)}”" for name in rest.index[:MOST_ALIKE])
            names += (
                f" and {len(rest) - MOST_ALIKE} more" if len(rest) > MOST_ALIKE else ""
            )
            reasons = [] if n_single else rest["because"].unique()
            reason = f" ({reasons[0]})" if len(reasons) == 1 else ""
            not_said = WORDS["rest"]["known" if n_single else "unknown"]
            several.append((f"{verdict.capitalize()}: {names}{reason}.", not_said))
    return [*single[: MOST_SENTENCES - 4], *several]


def _on_aspect(study: Study, aspect: str, row: pd.Series) -> tuple[str, str]:
    """What was found about one aspect, and what not."""
    weight, alone = (
        row[["weight", "low", "high"]],
        row[["alone", "alone low", "alone high"]],
    )
    size = weight if row["weight"] >= 0 else -weight.iloc[[0, 2, 1]]
    is_flag = set(study.frame[aspect].unique()) <= {0.0, 1.0}
    words = row[["verdict", "because"]].to_dict() | {
        "aspect": _cut(aspect),
        "outcome": _cut(study.outcome),
        "size": with_interval(*size),
        "weight": signed(*weight),
        "alone": _beside(row["verdict"], *alone),
        "scope": WORDS["scope"][row["scope"]],
    }
    start = WORDS["start"]["flag" if is_flag else "scale"]
    words["start"] = start.format(**words, **study.ends.loc[aspect, ["low", "high"]])
    words["held"] = WORDS["held"].format(**words) if len(study.aspects) > 1 else ""
    said, not_said = SAID[row["verdict"]]
    return said.format(**words), not_said.format(**words)


def _beside(verdict: str, estimate: float, low: float, high: float) -> str:
    """Write a weight alone: beside "points higher" or "lower" without a sign, in the same words."""
    if verdict not in MARKS:
        return signed(estimate, low, high)
    if estimate < 0:
        return f"{signed(-estimate, -high, -low)} lower"
    return f"{signed(estimate, low, high)} higher"


def signed(estimate: float, low: float, high: float) -> str:
    """Write an estimate with its interval, and with the sign for minus."""
    return with_interval(estimate, low, high).replace("-", "−")


def _about_ranking(
    conclusions: pd.DataFrame, ranking: pd.DataFrame
) -> list[tuple[str, str]]:
    """Say which aspect weighs most, if one was shown to weigh anything."""
    if (
        "not done" in ranking
        or not conclusions["verdict"].isin(MARKS).any()
        or len(ranking) < 2
    ):
        return []
    share, name = ranking["weighs most, %"].max(), ranking["weighs most, %"].idxmax()
    sure = f"{share:.0f}" if share < 99.5 else "> 99"
    judged = f"the {len(ranking)} aspects that can be judged"
    text = f"“{_cut(name)}” weighs most of {judged} in {sure} % of redrawn weights."
    if share < SURE:
        text = f"Which of {judged} weighs most is not sure: “{_cut(name)}” in {sure} % of redraws."
    return [(text, "which would weigh most if all scales had the same number of steps")]


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
    >>> found = pd.DataFrame({"estimate": [0.5], "low": [0.4], "high": [0.6]}, ["tone"])
    >>> print(about_agreement(found)[0][0])
    On “tone”, raters of the same item agree with a Krippendorff's alpha of 0.50 [0.40, 0.60]
    (0 is chance, 1 full agreement).
    """
    if "estimate" not in agreement or agreement["high"].isna().all():
        return []
    known = agreement.dropna(subset=["estimate", "low", "high"])
    alphas = [
        signed(*row)
        for row in known[["estimate", "low", "high"]].itertuples(index=False)
    ]
    alpha, least = (
        dict(zip(known.index, alphas, strict=True)),
        known["estimate"].idxmin(),
    )
    first, rows = outcome if outcome in alpha else known["estimate"].idxmax(), []
    most = "" if first == outcome or len(alpha) == 1 else ", the highest of all columns"
    same = known.get("same mark, %", pd.Series(np.nan, known.index))[first]
    pairs = (
        ""
        if np.isnan(same)
        else f"; two of them give the same mark in {same:.0f} % of cases"
    )
    text = f"On “{_cut(first)}”, raters of the same item agree with a Krippendorff's alpha of"
    text += f" {alpha[first]}{most} (0 is chance, 1 full agreement){pairs}."
    rows = [(text, "who is right, or how well a mean of several raters would do")]
    if least != first:
        text = f"They agree least on “{_cut(least)}”: alpha {alpha[least]}."
        rows.append(
            (
                text,
                "that they often differ: where most marks are the same, alpha is low too",
            )
        )
    return rows


def most_ratings(study: Study) -> int:
    """Largest number of complete ratings that an item has.

    Examples
    --------
    >>> study = intake.Study(pd.DataFrame({"item_id": [1, 1, 2], "cluster": 1}), "", [], None, {})
    >>> most_ratings(study)
    2
    """
    return int(study.frame.groupby(["cluster", "item_id"], observed=True).size().max())


def _about_means(reliability: pd.DataFrame, study: Study) -> list[tuple[str, str]]:
    """Say how reliable a mean of three raters is, or would be if no item has three."""
    if reliability.empty:
        return []
    share = signed(*reliability.loc[3, ["estimate", "low", "high"]])
    text = f"Of the differences between items in the mean “{_cut(study.outcome)}” of 3 raters, a"
    text += f" share of {share} is more than chance: the reliability of such a mean"
    most = most_ratings(study)
    if most < 3:
        text += f", projected from items with at most {most} ratings"
    return [(f"{text}.", "that the mean is right: people can agree and be wrong")]


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
    touched = [bool({"all", outcome} & {*affects}) for affects in checked["affects"]]
    rows = checked[touched].itertuples(index=False)
    return [
        f"{row.what} ({', '.join(filter(None, [_cut(row.where), f'{row.rows:,} ratings']))}): "
        f"{row.consequence}"
        for row in rows
        if row.what != "nothing"
    ]


@dataclass
class Analysis:
    """All that a page shows.

    Parameters
    ----------
    described : str
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
    """

    described: str
    quotes: pd.DataFrame
    conclusions: pd.DataFrame
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    not_run: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    study: Study | None = None

    def add(self, name: str, table: pd.DataFrame) -> pd.DataFrame:
        """Keep a table, or the reason why there is none."""
        if "not done" in table:
            self.not_run[name] = table["not done"].iloc[0]
        elif len(table):
            self.tables[name] = table
        return table


def analyse(
    table: pd.DataFrame, recipe: Mapping, progress: Callable[[str], object]
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

    Returns
    -------
    Analysis
    """
    rng = np.random.default_rng(SEED)
    outcome, names = recipe.get("outcome", ""), list(recipe.get("aspects", []))
    columns, scales = (
        [name for name in (outcome, *names) if name],
        recipes.scales(recipe),
    )
    found = Analysis(intake.describe_file(table), pd.DataFrame(), pd.DataFrame())
    if "rater_id" not in table:
        found.not_run["Raters one by one"] = WORDS["not run"]["raters"]
    if len(table) > raters.MOST_ROWS:
        found.not_run["Agreement on all ratings"] = WORDS["not run"]["drawn"]
    progress("checking raters and rows")
    time = recipe.get("covariate", "")
    checked = raters.check_raters(table, columns[0], columns[1:], scales, time)
    found.add(CHECKED, checked)
    progress("measuring agreement")
    people = table.rename(columns={"position": "rater_id"})
    agreement = found.add(AGREEMENT, inference.agreement(people, columns, N_BOOT, rng))
    try:
        study = found.study = intake.prepare(table, outcome, names, rng, scales)
        low, high, told = study.ends.loc[outcome, ["low", "high", "known"]]
        found.described += (
            f" “{_cut(outcome)}” goes from {low:g} to {high:g} ({WORDS['ends'][told]})."
        )
    except PlainError as error:
        found.not_run["What goes with an overall rating"] = str(error)
        found.quotes = pd.DataFrame(about_agreement(agreement), columns=QUOTED)
        checked.loc[checked["rows"] > 0, "consequence"] = WORDS["not run"]["judged"]
        found.warnings = warnings(checked, columns[0])
        return found
    found.warnings = [WORDS["summed"]] * ("sum" in recipe) + warnings(checked, outcome)
    progress(f"judging {len(names)} aspects")
    _judge_aspects(found, agreement, inference.SMALL * (high - low), rng)
    return found


def _judge_aspects(
    found: Analysis, agreement: pd.DataFrame, small: float, rng: np.random.Generator
) -> None:
    """Add what is concluded on aspects, and the sentences that say it."""
    study = found.study
    found.conclusions = inference.conclude(study, rng)
    ranking = found.add(RANKING, inference.rank_aspects(study, N_BOOT, rng))
    found.add(COVARIATE, only_judged(inference.confounder(study), found.conclusions))
    found.add(PEOPLE, raters.by_rater(study))
    reliability = raters.reliability(study, N_BOOT, rng)
    found.add(RELIABLE, projected(reliability, study))
    found.add(NEEDED, raters.sample_size(study, small))
    found.quotes = sentences(study, found.conclusions, ranking, agreement, reliability)


def write_page(
    file: str | Path,
    recipe: Mapping,
    out: str | Path,
    progress: Callable[[str], object] = print,
) -> Path:
    """Write a page on ratings, and beside it the results as CSV and JSON.

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
    ['mine.csv', 'mine.html', 'mine.json']
    """
    page = Path(out)
    if page.suffix.lower() not in (".html", ".htm"):
        raise OptionError(
            f"the page is called {page.name}: give a name that ends in .html"
        )
    beside = {
        page.with_suffix(end): make for end, make in ((".csv", _csv), (".json", _json))
    }
    if find(file).resolve() in [each.resolve() for each in beside]:
        raise OptionError(
            f"results beside {page.name} would replace {Path(file).name} itself: name another page"
        )
    recipe = recipes.parse(dict(recipe))
    progress(f"reading {Path(file).name}")
    table = recipes.read(file, recipe)
    found = analyse(table, recipe, progress)
    progress("drawing")
    source = intake.source(table, "auto")
    html = _template().render(
        name=Path(file).name,
        source=source,
        found=found,
        figures=_figures(found, source),
        tables=[(name, _shown(each), len(each)) for name, each in _all_tables(found)],
        most=MOST_ROWS,
        recipe=recipes.as_yaml(recipe),
    )
    results = {result: make(found) for result, make in beside.items()}
    paths.replace_files({page: html.encode()} | results)
    return page


def _template() -> jinja2.Template:
    """The page, in which whatever comes from a file is text, never HTML."""
    text = (paths.DATA / "templates" / "ratings.html.j2").read_text(encoding="utf-8")
    return jinja2.Template(text, autoescape=True, trim_blocks=True, lstrip_blocks=True)


def _figures(found: Analysis, source: str) -> list[dict[str, str]]:
    """Draw the weights and the agreement, as PNG in text, with title and description."""
    drawn = []
    if found.study is not None:
        tables = held_and_alone(found.conclusions)
        label_x = f"points of {label(found.study.outcome)}, highest against lowest mark"
        label_x += ", each aspect alone" * (list(tables) == ["alone"])
        drawn.append((message(found.conclusions, found.study.outcome), tables, label_x))
    if AGREEMENT in found.tables:
        table = found.tables[AGREEMENT].dropna(subset="estimate")[:MOST_ROWS]
        label_x = "Krippendorff's alpha; 0 is chance, 1 is full agreement"
        drawn.append(
            ("How far raters of the same item agree", {"alpha": table}, label_x)
        )
    drawn = [each for each in drawn if any(map(len, each[1].values()))]
    with mpl.rc_context():
        show.use_style()
        return [_figure(*each, source) for each in drawn]


def _figure(title: str, tables: Mapping, label_x: str, source: str) -> dict[str, str]:
    """Draw intervals as PNG in text."""
    first = next(iter(tables.values()))
    fig = FigureCanvasAgg(Figure(figsize=(6.8, height(len(first))))).figure
    ax = fig.subplots()
    intervals(ax, tables)
    ax.set(xlabel=f"{label_x} (95 % interval)")
    png = base64.b64encode(show.as_png(fig, source)).decode()
    title = title.replace(r"\$", "$")  # outside a figure, dollar signs are no formulas
    return {"title": title, "png": png, "alt": described(title, tables)}


def _all_tables(found: Analysis) -> list[tuple[str, pd.DataFrame]]:
    """All tables, conclusions first."""
    if found.conclusions.empty:
        return list(found.tables.items())
    return [(FOUND, _heaviest_first(found.conclusions)), *found.tables.items()]


def _shown(table: pd.DataFrame) -> dict[str, list]:
    """The first rows of a table as text: estimates with their intervals, numbers rounded."""
    shown = table[:MOST_ROWS].copy()
    for first, low, high in ENDS:
        if {first, low, high} <= {*shown}:
            numbers = shown[[first, low, high]].itertuples(index=False)
            shown[first] = [
                "" if np.isnan(each[0]) else signed(*each) for each in numbers
            ]
            shown = shown.drop(columns=[low, high])
    first = [name for name in FIRST if name in shown]
    shown = shown[[*first, *shown.columns.difference([*FIRST, "p"], sort=False)]]
    index = (
        []
        if isinstance(shown.index, pd.RangeIndex)
        else [_cut(name) for name in shown.index]
    )
    rows = [[_cell(value) for value in row] for row in shown.itertuples(index=False)]
    return {"columns": list(map(str, shown.columns)), "index": index, "rows": rows}


def _cell(value: object) -> str:
    """Write a cell of a table."""
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.3g}".replace("-", "−")
    return ", ".join(map(_cut, value)) if isinstance(value, list) else _cut(value, 300)


def _csv(found: Analysis) -> bytes:
    """Write results on each aspect, or what there is in their place."""
    rest = found.tables.get(AGREEMENT, found.quotes)
    table = found.conclusions if len(found.conclusions) else rest
    return to_csv_bytes(table.rename_axis("aspect"), float_format="%.6g")


def _json(found: Analysis) -> bytes:
    """Write all results, for programs."""
    tables = {
        name: json.loads(each.to_json(orient="table", index=True))["data"]
        for name, each in _all_tables(found)
    }
    content = {
        "ratings": found.described,
        "sentences": found.quotes.to_dict(orient="records"),
        "not run": found.not_run,
        "tables": tables,
    }
    return json.dumps(content, ensure_ascii=False, indent=1).encode()
