"""Draw a regression tree from left to right, one box for each group of rows."""

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from helpers.plots import GREY, INK

BOX_WIDTH, BOX_HEIGHT = 0.84, 0.72  # of the distance between columns, and between leaves
WIDEST_LINE = 14.0  # in points, for a branch with all rows
LIGHTEST, DARKEST = 0.04, 0.52  # part of the colour map on which dark text can be read


def leaf_order(table: pd.DataFrame) -> pd.Series:
    """Height of every node: leaves in order, a parent midway between its children.

    Parameters
    ----------
    table : pandas.DataFrame
        Nodes of a tree as `helpers.stats.aspects.tree_table` lists them.

    Returns
    -------
    pandas.Series
        By node; 0 for the first leaf, 1 for the second.

    Examples
    --------
    >>> table = pd.DataFrame({"node": [0, 1, 2], "parent": [-1, 0, 0],
    ...                       "is_leaf": [False, True, True]})
    >>> leaf_order(table).tolist()
    [0.5, 0.0, 1.0]
    """
    heights = pd.Series(np.nan, index=table["node"], dtype=float)
    leaves = table.loc[table["is_leaf"], "node"]
    heights[leaves] = np.arange(len(leaves), dtype=float)
    for node in table.loc[~table["is_leaf"], "node"][::-1]:
        heights[node] = heights[table.loc[table["parent"] == node, "node"]].mean()
    return heights


def draw_tree(
    ax: Axes, table: pd.DataFrame, limits: tuple[float, float], *, cmap: str = "Blues"
) -> None:
    """Draw the nodes of a tree as boxes, coloured by their mean, with lines as wide as their share.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axis to draw on. Three inches of width a level and half an inch of height a leaf are enough.
    table : pandas.DataFrame
        Nodes as `helpers.stats.aspects.tree_table` lists them: ``node``, ``depth``, ``parent``, ``rule``,
        ``n``, ``mean`` and ``is_leaf``.
    limits : tuple of float
        Means shown in the lightest and in the darkest colour: the ends of the scale.
    cmap : str, optional
        Matplotlib colour map; its lighter half is used.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> fig, ax = plt.subplots()
    >>> table = pd.DataFrame({"node": [0], "depth": [0], "parent": [-1], "rule": ["all rows"],
    ...                       "n": [1200], "mean": [1.84], "is_leaf": [True]})
    >>> draw_tree(ax, table, limits=(0, 3))
    >>> print(ax.texts[0].get_text())
    all rows
    mean 1.84, n = 1,200
    >>> plt.close(fig)
    """
    heights = leaf_order(table)
    _draw_branches(ax, table, heights)
    span = limits[1] - limits[0]
    share = ((table["mean"] - limits[0]) / span).clip(0, 1)
    colors = mpl.colormaps[cmap](LIGHTEST + (DARKEST - LIGHTEST) * share)
    for node, color in zip(table.itertuples(), colors, strict=True):
        ax.text(
            node.depth,
            heights[node.node],
            f"{node.rule}\nmean {node.mean:.2f}, n = {node.n:,}",
            ha="center",
            va="center",
            fontsize=10,
            fontweight="bold" if node.is_leaf else "normal",
            zorder=3,
        )
        corner = (node.depth - BOX_WIDTH / 2, heights[node.node] - BOX_HEIGHT / 2)
        ax.add_patch(
            mpl.patches.Rectangle(
                corner,
                BOX_WIDTH,
                BOX_HEIGHT,
                facecolor=color,
                edgecolor=INK,
                linewidth=0.8,
                zorder=2,
            )
        )
    ax.set_xlim(-BOX_WIDTH / 2 - 0.02, table["depth"].max() + BOX_WIDTH / 2 + 0.02)
    ax.set_ylim(-0.5, table["is_leaf"].sum() - 0.5)
    ax.axis("off")


def _draw_branches(ax: Axes, table: pd.DataFrame, heights: pd.Series) -> None:
    """Draw a line from every parent to its children."""
    root_size, reach = table["n"].max(), 0.45 * BOX_WIDTH  # a little under the boxes
    for node in table[table["parent"] >= 0].itertuples():
        ax.plot(
            [node.depth - 1 + reach, node.depth - reach],
            [heights[node.parent], heights[node.node]],
            color=GREY,
            alpha=0.45,
            linewidth=max(1.0, WIDEST_LINE * node.n / root_size),
            solid_capstyle="butt",
            zorder=1,
        )
