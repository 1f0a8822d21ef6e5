"""Forest plots: the papers' own studies above a line, other sets below it."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from helpers import show
from helpers.stats.meta_analysis import Pooled
from helpers.wording import with_intervals
from ratings.atlas.summary import NEITHER, ON_SIDE, OTHER_SIDE

# sides are told apart by colour and by shape
COLORS = {ON_SIDE: show.BLUE, OTHER_SIDE: show.ORANGE, NEITHER: show.GREY}
MARKERS = {ON_SIDE: "o", OTHER_SIDE: "D", NEITHER: "s"}
ROW = 0.42  # inches, for two lines


def forest(
    sets: pd.DataFrame,
    side: pd.Series,
    line: float,
    xlabel: str,
    own: pd.DataFrame | None = None,
    pooled: Pooled | None = None,
    title: str = "",
    decimals: int = 2,
    limits: tuple[float, float] | None = None,
    sides: Mapping[str, str] | None = None,
) -> Figure:
    """Draw estimates of many sets with their intervals; numbers stand in the labels.

    Parameters
    ----------
    sets : pandas.DataFrame
        ``estimate``, ``low`` and ``high``; the index labels the rows.
    side : pandas.Series
        From `summary.sides`, by the same labels.
    line : float
        Line of the statement.
    xlabel : str
        What the numbers are, with their unit.
    own : pandas.DataFrame, optional
        The papers' own studies, drawn above.
    pooled : Pooled, optional
        Mean over sets, drawn below.
    title : str, optional
        The message with its doubt.
    decimals : int, optional
        Of the numbers.
    limits : tuple of float, optional
        Of the horizontal axis; an interval that leaves it ends in an arrow.
    sides : mapping of str to str, optional
        Words for the two sides, "low" and "high", written above the plot.

    Returns
    -------
    matplotlib.figure.Figure
        Seven inches wide.

    Examples
    --------
    >>> table = pd.DataFrame({"estimate": [1.0], "low": [0.5], "high": [1.5]}, ["a"])
    >>> fig = forest(table, pd.Series({"a": ON_SIDE}), 0.0, "points")
    >>> fig.axes[0].get_xlabel()
    'points'
    >>> plt.close(fig)
    """
    ordered = sets.sort_values("estimate", ascending=False)
    parts = [] if own is None else [own]
    parts.append(ordered)
    rows = pd.concat(parts)[["estimate", "low", "high"]].astype(float)
    n_own = 0 if own is None else len(own)
    positions = np.arange(len(rows), dtype=float)
    positions[n_own:] += 0.6 if n_own else 0.0
    height = ROW * (positions[-1] + 1) + 1.5 + (0.4 if pooled else 0.0)
    fig, ax = plt.subplots(figsize=(7, height))
    colors = [show.INK] * n_own + [COLORS[side[name]] for name in ordered.index]
    markers = ["^"] * n_own + [MARKERS[side[name]] for name in ordered.index]
    if limits is None:
        reach = [rows["low"].min(), rows["high"].max(), line]
        margin = 0.04 * (max(reach) - min(reach))
        limits = (min(reach) - margin, max(reach) + margin)
    for place, (_, row), color, marker in zip(
        positions, rows.iterrows(), colors, markers, strict=True
    ):
        _draw_row(ax, place, row, color, marker, limits)
    numbers = with_intervals(rows, decimals)
    # below the name, where phones have room for it
    labels = [f"{name}\n{text}" for name, text in numbers.items()]
    places = [*positions]
    if pooled is not None:
        place = positions[-1] + 1.3
        row = pd.Series(
            {"estimate": pooled.estimate, "low": pooled.low, "high": pooled.high}
        )
        _draw_row(ax, place, row, show.INK, "d", limits)
        text = with_intervals(row.to_frame().T.astype(float), decimals).iloc[0]
        labels.append(f"mean of {pooled.n} sets\n{text}")
        places.append(place)
    if n_own:
        ax.axhline(n_own - 0.2, color=show.INK, linewidth=0.8)
    ax.axvline(line, color=show.INK, linewidth=1.0, zorder=1)
    ax.set_yticks(places, labels, fontsize=9)
    ax.set_ylim(places[-1] + 0.7, -0.7)
    ax.set_xlim(*limits)
    ax.set_xlabel(xlabel)
    ax.grid(axis="y", visible=False)
    for at, name, align in ((0.0, "low", "left"), (1.0, "high", "right")):
        if sides:
            ax.text(
                at,
                1.01,
                sides[name],
                transform=ax.transAxes,
                ha=align,
                va="bottom",
                color=show.GREY,
            )
    if title:
        fig.suptitle(title, fontsize=11)
    return fig


def _draw_row(
    ax: plt.Axes,
    place: float,
    row: pd.Series,
    color: str,
    marker: str,
    limits: tuple[float, float],
) -> None:
    """Draw a point with its interval; arrows where the interval leaves the axis."""
    low = max(row["low"], limits[0])
    high = min(row["high"], limits[1])
    ax.hlines(place, low, high, color=color, linewidth=2.2, alpha=0.6)
    if row["low"] < limits[0]:
        ax.plot(limits[0], place, "<", color=color, markersize=6, clip_on=False)
    if row["high"] > limits[1]:
        ax.plot(limits[1], place, ">", color=color, markersize=6, clip_on=False)
    if limits[0] <= row["estimate"] <= limits[1]:
        ax.plot(row["estimate"], place, marker, color=color, markersize=6.5)
