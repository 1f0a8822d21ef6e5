"""Figures of any study, readable for two aspects and for forty; an empty one says why it is."""

import re
from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib import ticker
from matplotlib.axes import Axes

from helpers.show import COLORS, GREY, INK, YELLOW, forest_plot, zero_line

LONGEST = 28  # characters of a label
LONGEST_IN_BOX = 18
MARKERS = "osD^vP*"


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
        Result of `helpers.own_checks.confounder`.

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


def choices(ax: Axes, table: pd.DataFrame) -> None:
    """Draw how the weight of each aspect depends on choices.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axis to draw on.
    table : pandas.DataFrame
        Result of `helpers.own_weights.sensitivity`.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> fig, ax = plt.subplots()
    >>> row = {"all ratings": [1.0], "lowest": [0.8], "highest": [1.3]}
    >>> choices(ax, pd.DataFrame(row, index=["tone"]))
    >>> ax.get_legend_handles_labels()[1]
    ['one other aspect left out', 'all ratings']
    >>> plt.close(fig)
    """
    if "not done" in table:
        _say_why(ax, table)
        return
    rows = np.arange(len(table))
    ax.hlines(
        rows,
        table["lowest"],
        table["highest"],
        color=GREY,
        linewidth=7,
        alpha=0.35,
        label="one other aspect left out",
    )
    shown = table.drop(columns=["lowest", "highest"])
    for position, (name, weights) in enumerate(shown.items()):
        offset = 0.13 * (position - (shown.shape[1] - 1) / 2)
        marker, color = MARKERS[position], COLORS[position]
        ax.plot(weights, rows + offset, marker, color=color, label=name, markersize=6)
    ax.set_yticks(rows, [label(name) for name in table.index])
    ax.set_ylim(len(table) - 0.4, -0.6)
    ax.grid(axis="y", visible=False)
    zero_line(ax)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3)


def counts(ax: Axes, values: pd.Series) -> None:
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
    >>> counts(ax, pd.Series({"tone": 1200}))
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
