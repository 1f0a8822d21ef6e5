"""Draw how a number varies over random splits, beside the number that was printed."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from helpers.plots import INK
from helpers.stats.bootstrap import interval


def distribution_plot(ax: Axes, draws: pd.DataFrame, printed: str, colors: Sequence[str]) -> None:
    """Draw the distribution of each column, its central 95 % and its median, with a printed line.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axis to draw on; its rows are labelled with the columns of `draws`, the first at the top.
    draws : pandas.DataFrame, shape (n_splits, n_rows)
        The number in every split; a column for every way to split. NaN is left out.
    printed : str
        The published number with its final zeros, drawn as a vertical line and written above it.
    colors : sequence of str
        One colour per column.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> fig, ax = plt.subplots()
    >>> rho = pd.DataFrame({"by rating": np.linspace(0.7, 0.9, 50)})
    >>> distribution_plot(ax, rho, "0.853", ["#0072B2"])
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['by rating']
    >>> plt.close(fig)
    """
    rows = np.arange(draws.shape[1])
    defined = [draws[column].dropna().to_numpy() for column in draws]
    shapes = ax.violinplot(defined, rows, orientation="horizontal", widths=0.85, showextrema=False)
    for shape, color in zip(shapes["bodies"], colors, strict=True):
        shape.set(facecolor=color, edgecolor="none", alpha=0.35)
    low, high = interval(draws)
    ax.hlines(rows, low, high, color=colors, linewidth=3)
    ax.scatter(draws.median(), rows, color=colors, s=42, zorder=3)
    ax.axvline(float(printed), color=INK, linewidth=1.6)
    ax.annotate(
        f"printed {printed}",
        (float(printed), 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(0, 3),
        textcoords="offset points",
        ha="center",
        fontsize=9.5,
    )
    ax.set_yticks(rows, list(draws.columns))
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.grid(axis="y", visible=False)
