"""Draw a specification curve: sorted estimates above, the choices behind each of them below."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from helpers.curves.specifications import AGAINST, EXPECTED, UNSURE, by_option
from helpers.show import BLUE, GREY, INK, ORANGE, zero_line

FINDINGS = {EXPECTED: BLUE, UNSURE: "#A9B1BC", AGAINST: ORANGE}
LABELS = {
    EXPECTED: "significant, as expected",
    UNSURE: "not significant",
    AGAINST: "significant, against expectation",
}
ROW = 0.185  # height of an option, in inches
TOP = 3.2  # height of the curve, in inches


def specification_plot(
    table: pd.DataFrame,
    choices: Sequence[str],
    ylabel: str,
    published: pd.Series | None = None,
    decimals: int = 2,
) -> Figure:
    """Draw the curve with intervals, and below it one row of strokes for each option.

    Parameters
    ----------
    table : pandas.DataFrame
        Result of `helpers.curves.specifications.curve`.
    choices : sequence of str
        Columns of choices, from top to bottom.
    ylabel : str
        What is estimated, with its unit.
    published : pandas.Series of bool, optional
        The specifications of the paper, which get a mark.
    decimals : int, optional
        Digits of the median estimates beside the options.

    Returns
    -------
    matplotlib.figure.Figure
        Without a title. Beside each option are the median of its estimates and the percentage that
        is significant as expected. Intervals that leave the range of nearly all others are cut off.

    Examples
    --------
    >>> from helpers.curves.specifications import curve
    >>> table = curve(pd.DataFrame({"link": ["linear", "ordinal"]}), [1.0, 0.1], [0.2, 0.2], 1)
    >>> fig = specification_plot(table, ["link"], "points")
    >>> [text.get_text() for text in fig.axes[1].get_yticklabels()]
    ['link', 'linear', 'ordinal']
    >>> plt.close(fig)
    """
    order = table["estimate"].argsort(kind="stable")
    ranked = table.iloc[order].reset_index(drop=True)
    options = by_option(table, choices)
    n_rows = len(options) + len(choices)
    fig, (top, bottom) = plt.subplots(
        2,
        1,
        figsize=(11.5, TOP + ROW * n_rows + 0.9),
        height_ratios=[TOP, ROW * n_rows],
        sharex=True,
    )
    _draw_curve(top, ranked, ylabel)
    if published is not None:
        _mark(top, ranked, published.iloc[order].to_numpy())
    top.legend(loc="upper left", ncols=2)
    _draw_choices(bottom, ranked, options, decimals)
    bottom.set(xlabel=f"{len(table):,} specifications, by size of the estimate")
    return fig


def _draw_curve(ax: Axes, ranked: pd.DataFrame, ylabel: str) -> None:
    """Draw estimates and intervals, coloured by finding."""
    for finding, color in FINDINGS.items():
        rows = ranked[ranked["finding"] == finding]
        if len(rows):
            width = np.clip(400 / len(ranked), 0.5, 2.5)
            ax.vlines(rows.index, rows["low"], rows["high"], color=color, alpha=0.4, lw=width)
            share = f"{100 * len(rows) / len(ranked):.0f} %"
            ax.plot(rows.index, rows["estimate"], "o", color=color, markersize=2.6, mew=0)
            ax.plot([], [], "o", color=color, label=f"{LABELS[finding]}: {share}")
    low = min(ranked["low"].quantile(0.01), ranked["estimate"].min())
    high = max(ranked["high"].quantile(0.99), ranked["estimate"].max())
    margin = 0.05 * (high - low)
    ax.set_ylim(low - margin, high + 3 * margin)
    ax.set(ylabel=ylabel)
    ax.grid(axis="x", visible=False)
    zero_line(ax, axis="y")


def _mark(ax: Axes, ranked: pd.DataFrame, published: np.ndarray) -> None:
    """Mark the specifications of the paper."""
    places = np.flatnonzero(published)
    ax.plot(
        places,
        ranked["estimate"].to_numpy()[places],
        "D",
        color="white",
        mec=INK,
        mew=1.6,
        markersize=7,
        label="as in the paper",
    )


def _draw_choices(ax: Axes, ranked: pd.DataFrame, options: pd.DataFrame, decimals: int) -> None:
    """Draw one stroke for each specification in the row of its option."""
    colors = ranked["finding"].map(FINDINGS).to_numpy()
    labels, headings = [], []
    for choice, rows in options.groupby(level="choice", sort=False):
        ax.axhline(len(labels) - 0.5, color=GREY, lw=0.5)
        headings.append(len(labels))
        labels.append(choice)
        for option, numbers in rows.droplevel("choice").iterrows():
            height = len(labels)
            places = np.flatnonzero(ranked[choice] == option)
            ax.vlines(places, height - 0.38, height + 0.38, color=colors[places], lw=0.7)
            median = round(numbers["median"], decimals) + 0.0
            _write(ax, height, f"{median:.{decimals}f}", f"{numbers['significant']:.0f} %")
            labels.append(str(option).replace("_", " "))
    _write(ax, 0, "median", "signif.", weight="bold")
    ax.set_yticks(range(len(labels)), labels, fontsize=8.5)
    for heading in headings:
        ax.get_yticklabels()[heading].set_fontweight("bold")
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.set_xlim(-0.01 * len(ranked), len(ranked) * 1.005)
    ax.grid(visible=False)
    ax.tick_params(axis="y", length=0)


def _write(ax: Axes, height: float, *texts: str, **style: str) -> None:
    """Write texts to the right of the panel, one column each."""
    for position, text in zip((1.05, 1.105), texts, strict=True):
        place = {"transform": ax.get_yaxis_transform(), "ha": "right", "va": "center"}
        ax.text(position, height, text, fontsize=8, **place, **style)
