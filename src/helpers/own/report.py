"""Conclusions from ratings of any study: figures, words, and the file that keeps them.

Figures can be read for two aspects and for forty; an empty one says why it is empty.
"""

import re
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib import ticker
from matplotlib.axes import Axes

from helpers import paths
from helpers.files.tables import to_csv_bytes
from helpers.own.intake import Study, mark_prevalence
from helpers.show import COLORS, GREY, INK, YELLOW, forest_plot, zero_line

LONGEST = 28  # characters of a label
LONGEST_IN_BOX = 18
MARKERS = "osD^vP*"
SMALL = 0.1  # of the length of the outcome's scale: less is hardly any link
SIGNIFICANT = 0.05  # after Holm's correction
UP, DOWN, NONE, UNKNOWN = "higher", "lower", "hardly any link", "not known"


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
    shown = name if len(name) <= longest else f"{name[: longest - 1].rstrip()}…"
    return shown.replace("$", r"\$")


def short_rules(nodes: pd.DataFrame) -> pd.DataFrame:
    """Shorten the names of aspects in the rules of a tree, so that these fit into their boxes.

    Parameters
    ----------
    nodes : pandas.DataFrame
        Nodes as `helpers.stats.aspects.tree_table` lists them.

    Returns
    -------
    pandas.DataFrame
        The same, with other rules.

    Examples
    --------
    >>> short_rules(pd.DataFrame({"rule": ["how polite the response was at most 2.5"]}))
                            rule
    0  how polite the re… at most 2.5
    """
    parts = nodes["rule"].str.extract(r"^(.*)( (?:at most|above) \S+)$", flags=re.DOTALL)
    rules = parts[0].map(lambda name: label(name, LONGEST_IN_BOX), na_action="ignore") + parts[1]
    return nodes.assign(rule=rules.fillna(nodes["rule"]))


def intervals(ax: Axes, tables: Mapping[str, pd.DataFrame]) -> None:
    """Draw tables with a row per aspect side by side, or say why there is nothing to draw.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axis to draw on.
    tables : mapping of str to pandas.DataFrame
        ``estimate``, ``low`` and ``high`` by aspect, up to five; those that were `not_done` are
        passed over.

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
        _say_why(ax, next(iter(tables.values())))
        return
    forest_plot(ax, {name: table.rename(index=label) for name, table in done.items()})
    zero_line(ax)
    if len(done) > 1:
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=len(done))


def before_and_after(ax: Axes, table: pd.DataFrame) -> None:
    """Draw weights alone and with the covariate held constant, or say why there are none.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axis to draw on.
    table : pandas.DataFrame
        Result of `helpers.own.inference.confounder`.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> fig, ax = plt.subplots()
    >>> before_and_after(ax, pd.DataFrame({"not done": ["no covariate is named"]}))
    >>> ax.texts[0].get_text()
    'Not done: no covariate is named'
    >>> plt.close(fig)
    """
    tables = {"covariate held constant": table}
    if "estimate" in table:
        names = {"alone": "estimate", "alone low": "low", "alone high": "high"}
        tables = {"aspects alone": table[list(names)].rename(columns=names)} | tables
    intervals(ax, tables)


def choices_plot(ax: Axes, table: pd.DataFrame) -> None:
    """Draw how the weight of each aspect depends on choices.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axis to draw on.
    table : pandas.DataFrame
        Result of `helpers.own.inference.sensitivity`.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> fig, ax = plt.subplots()
    >>> row = {"all ratings": [1.0], "lowest": [0.8], "highest": [1.3]}
    >>> choices_plot(ax, pd.DataFrame(row, index=["tone"]))
    >>> ax.get_legend_handles_labels()[1]
    ['one other aspect left out', 'all ratings']
    >>> plt.close(fig)
    """
    if "not done" in table:
        _say_why(ax, table)
        return
    rows = np.arange(len(table))
    bars = {"color": GREY, "linewidth": 7, "alpha": 0.35, "label": "one other aspect left out"}
    ax.hlines(rows, table["lowest"], table["highest"], **bars)
    shown = table.drop(columns=["lowest", "highest"])
    for position, (name, weights) in enumerate(shown.items()):
        places = rows + 0.13 * (position - (shown.shape[1] - 1) / 2)
        style = {"color": COLORS[position], "markersize": 6, "label": name}
        ax.plot(weights, places, MARKERS[position], **style)
    ax.set_yticks(rows, [label(name) for name in table.index])
    ax.set_ylim(len(table) - 0.4, -0.6)
    ax.grid(axis="y", visible=False)
    zero_line(ax)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3)


def count_bars(ax: Axes, values: pd.Series) -> None:
    """Draw a bar with its number for each aspect, in rows like those of `intervals`.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axis to draw on.
    values : pandas.Series
        Counts by aspect.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> fig, ax = plt.subplots()
    >>> count_bars(ax, pd.Series({"tone": 1200}))
    >>> ax.texts[0].get_text()
    '1,200'
    >>> plt.close(fig)
    """
    bars = ax.barh(np.arange(len(values)), values, color=YELLOW, height=0.55)
    ax.bar_label(bars, [f"{value:,}" for value in values], padding=3)
    ax.margins(x=0.25)
    ax.grid(visible=False)
    ax.xaxis.set_major_locator(ticker.MaxNLocator(2, integer=True))


def _say_why(ax: Axes, table: pd.DataFrame) -> None:
    """Write into an empty panel why it is empty."""
    reason = table["not done"].iloc[0]
    ax.axis("off")
    ax.text(0, 0.5, f"Not done: {reason}", color=INK, wrap=True, transform=ax.transAxes)


def largest_weight(weights: pd.DataFrame, outcome: str) -> str:
    """Name the aspect with the largest weight, for the title of a figure.

    Parameters
    ----------
    weights : pandas.DataFrame
        ``estimate`` by aspect.
    outcome : str
        Column to explain.

    Returns
    -------
    str

    Examples
    --------
    >>> largest_weight(pd.DataFrame({"estimate": [0.5, -1.5]}, ["tone", "refusal"]), "overall")
    'refusal weighs most: −1.50 points of overall'
    """
    if "estimate" not in weights:
        return f"Weights in {label(outcome)}"
    first = weights["estimate"].abs().idxmax()
    if weights["estimate"][first] == 0:
        return "No aspect has a weight"
    points = _number(weights["estimate"][first], "+.2f")
    return f"{label(first)} weighs most: {points} points of {label(outcome)}"


def least_agreement(agreement: pd.DataFrame) -> str:
    """Name the column on which raters agree least, for the title of a figure.

    Parameters
    ----------
    agreement : pandas.DataFrame
        Result of `helpers.own.inference.agreement`.

    Returns
    -------
    str

    Examples
    --------
    >>> least_agreement(pd.DataFrame({"estimate": [0.5, 0.25]}, ["tone", "refusal"]))
    'People agree least on refusal: alpha 0.25'
    """
    if "estimate" not in agreement or agreement["estimate"].isna().all():
        return "Agreement between raters"
    last = agreement["estimate"].idxmin()
    return f"People agree least on {label(last)}: alpha {_number(agreement['estimate'][last])}"


def most_sensitive(choices: pd.DataFrame) -> str:
    """Name the aspect whose weight depends most on choices, for the title of a figure.

    Parameters
    ----------
    choices : pandas.DataFrame
        Result of `helpers.own.inference.sensitivity`.

    Returns
    -------
    str

    Examples
    --------
    >>> most_sensitive(pd.DataFrame({"all ratings": [0.5], "lowest": [0.25]}, index=["tone"]))
    'Most sensitive to choices: tone, by 0.25 points'
    """
    if "not done" in choices:
        return "Weights under other choices"
    spread = choices.max(axis="columns") - choices.min(axis="columns")
    return f"Most sensitive to choices: {label(spread.idxmax())}, by {spread.max():.2f} points"


def largest_change(held: pd.DataFrame) -> str:
    """Name the aspect whose weight changes most with the covariate, for the title of a figure.

    Parameters
    ----------
    held : pandas.DataFrame
        Result of `helpers.own.inference.confounder`.

    Returns
    -------
    str

    Examples
    --------
    >>> held = pd.DataFrame({"alone": [0.5], "estimate": [0.25], "change": [-0.25]}, ["tone"])
    >>> largest_change(held)
    'Largest change with the covariate: tone, 0.50 to 0.25'
    """
    if "estimate" not in held:
        return "A covariate held constant"
    first = held["change"].abs().idxmax()
    before, after = (_number(held[column][first]) for column in ("alone", "estimate"))
    return f"Largest change with the covariate: {label(first)}, {before} to {after}"


def _number(value: float, form: str = ".2f") -> str:
    """Write a number with the sign for minus, not a hyphen."""
    return format(value, form).replace("-", "−")


def results(
    study: Study, aspects: Sequence[str], tables: Mapping[str, pd.DataFrame]
) -> pd.DataFrame:
    """Put all that was found about each aspect into one row, with a conclusion in plain words.

    Parameters
    ----------
    study : Study
        Ratings.
    aspects : sequence of str
        All aspects that were asked for.
    tables : mapping of str to pandas.DataFrame
        Tables with a row per aspect by their names: ``"least squares"``, and any others with an
        ``estimate``. Those that are `helpers.own.inference.not_done` have no columns in the result.

    Returns
    -------
    pandas.DataFrame
        A row per aspect: ``conclusion``, ``other ratings`` (with another mark than the most
        frequent one), and for each table its ``estimate``, ``low`` and ``high`` and, if it has
        one, ``p, Holm``, under the name of the table.
    """
    counts = mark_prevalence(study.frame, study.aspects)
    judged = _verdicts(study, tables["least squares"])
    words = {
        aspect: _in_words(study, aspect, judged[aspect], tables["least squares"])
        + (f"; {warning}" if warning else "")
        for aspect, warning in counts["warning"].items()
    }
    words |= {aspect: f"left out: {reason}" for aspect, reason in study.left_out.items()}
    columns = {
        "conclusion": pd.Series(words),
        "other ratings": counts["other ratings"].astype("Int64"),
    }
    for name, table in tables.items():
        for part in ("estimate", "low", "high", "p, Holm"):
            if "estimate" in table and part in table:
                columns[name if part == "estimate" else f"{name}: {part}"] = table[part]
    return pd.DataFrame(columns).reindex(list(aspects)).rename_axis("aspect")


def results_summary(study: Study, least_squares: pd.DataFrame) -> str:
    """Sum up the verdicts in one sentence.

    Parameters
    ----------
    study : Study
        Ratings.
    least_squares : pandas.DataFrame
        Result of `helpers.own.inference.least_squares_weights`.

    Returns
    -------
    str
        How many aspects have which verdict.
    """
    counts = _verdicts(study, least_squares).value_counts()
    counts = counts.reindex([UP, DOWN, NONE, UNKNOWN], fill_value=0)
    return (
        f"Aspects that go with {study.outcome} beyond chance: {counts[UP] + counts[DOWN]} of "
        f"{len(study.aspects)}; with hardly any link: {counts[NONE]}; not known: {counts[UNKNOWN]}."
    )


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """Choose the columns of the results that a reader wants to see side by side.

    Parameters
    ----------
    table : pandas.DataFrame
        From `results`.

    Returns
    -------
    pandas.DataFrame
        Without intervals and p-values of the single methods.

    Examples
    --------
    >>> shown(pd.DataFrame(columns=["conclusion", "Lasso", "Lasso: low"])).columns.tolist()
    ['conclusion', 'Lasso']
    """
    return table[[column for column in table if ": " not in column]]


def _verdicts(study: Study, least_squares: pd.DataFrame) -> pd.Series:
    """Judge each aspect by its interval from least squares, corrected for their number."""
    judged = pd.Series(UNKNOWN, index=study.aspects)
    if "estimate" in least_squares:
        judged[_is_small(study, least_squares["low"], least_squares["high"])] = NONE
        sure = least_squares["p, Holm"] < SIGNIFICANT
        judged[sure & (least_squares["estimate"] > 0)] = UP
        judged[sure & (least_squares["estimate"] < 0)] = DOWN
    return judged


def _is_small(study: Study, low: float | pd.Series, high: float | pd.Series) -> bool | pd.Series:
    """Tell whether an interval holds small weights only."""
    bottom, top = study.ends.loc[study.outcome, ["low", "high"]]
    small = SMALL * (top - bottom)
    return (low > -small) & (high < small)


def _in_words(study: Study, aspect: str, verdict: str, least_squares: pd.DataFrame) -> str:
    """Say what was found about one aspect."""
    if "estimate" not in least_squares:
        return f"{UNKNOWN}: too few clusters for so many aspects"
    low, high = least_squares.loc[aspect, ["low", "high"]]
    at_most = f"at most {max(-low, high):.2f} points either way"
    if verdict == UNKNOWN:
        return f"{verdict}: anything from {low:+.2f} to {high:+.2f} points fits"
    if verdict == NONE:
        return f"{verdict}: {at_most}"
    hardly = f", but hardly: {at_most}" if _is_small(study, low, high) else ""
    return f"higher marks go with {verdict} {study.outcome}{hardly}"


def save_results(table: pd.DataFrame, name: str, out_dir: str) -> None:
    """Write a table of results in one step, so that no half file is ever seen.

    Parameters
    ----------
    table : pandas.DataFrame
        Results with a named index.
    name : str
        Name of the notebook; the file is ``<out_dir>/results/<name>.csv``.
    out_dir : str
        Output folder of the run, relative to the project root.

    Examples
    --------
    >>> import tempfile
    >>> table = pd.DataFrame({"weight": [0.5]}, index=pd.Index(["tone"], name="aspect"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_results(table, "53_your_ratings", folder)
    ...     print((paths.ROOT / folder / "results" / "53_your_ratings.csv").read_text())
    aspect,weight
    tone,0.5
    <BLANKLINE>
    """
    file = paths.output_dir(out_dir) / "results" / f"{name}.csv"
    paths.replace_files({file: to_csv_bytes(table, float_format="%.6g")})
