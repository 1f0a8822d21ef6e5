"""Figures and tables in one style; simulated data are marked so that all see it.

A plot function draws one panel onto an axis that the notebook made, so that a notebook
reads as a list of panels. Colours are those of Okabe and Ito (2008), which colour-blind
readers can tell apart. Tables are rounded, captioned and shown whole.
"""

import re
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from io import BytesIO
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from PIL import Image

from helpers import marks, paths, wording
from helpers.data.tables import PlainError

BLUE = "#0072B2"
ORANGE = "#D55E00"
GREEN = "#009E73"
SKY = "#56B4E9"
PINK = "#CC79A7"
YELLOW = "#E69F00"
GREY = "#6B7280"
INK = "#1F2937"
COLORS = (BLUE, ORANGE, GREEN, PINK, SKY, YELLOW, GREY)
# Of words in tables; verdicts that pass are not coloured.
VERDICT_COLORS = {
    "contradicted": "#B42318",
    "does not reproduce": "#B42318",
    "not true": "#B42318",
    "another outcome": "#B42318",
    "not internally consistent": "#B42318",
    "reporting error": "#B54708",
    "differs in the last digit": "#A3427A",  # a pink that can be read as text
    "inconclusive": BLUE,
    "not checked": GREY,
}
MARKERS = "osD^v"
STEP = 0.25  # in rows, between estimates of the same row, or less if there are many
SMALLEST_LABELLED = 6.0  # percent
BOX_WIDTH = 0.84  # of the distance between columns of a tree
BOX_HEIGHT = 0.72  # of the distance between its leaves
WIDEST_LINE = 14.0  # in points, for a branch with all ratings
# Ends of the part of a colour map on which dark text can be read.
LIGHTEST = 0.04
DARKEST = 0.52
SAVE_DPI = 160
PAGE_DPI = 96  # pixels of a page in an inch of a figure
LONGEST_TITLE = 12  # words
LETTERS_PER_INCH = 10.5  # of a title
TITLE_SIZE = 12  # points
STYLE = Path(__file__).with_name("figures.mplstyle")


def use_style() -> None:
    """Apply the project's matplotlib style to all later figures.

    Examples
    --------
    >>> use_style()
    >>> mpl.rcParams["axes.spines.top"]
    False
    """
    plt.style.use(STYLE)


def save(
    fig: Figure,
    name: str,
    *,
    title: str,
    otherwise: str,
    alt: str,
    simulated: bool = False,
) -> None:
    """Title a figure, write it as PNG to ``build/figures``, and show it.

    A run on real data with the default parameters gives it `title`; any other run gives
    it `otherwise`, and a mark that says what differs. The same figure always gives the
    same bytes.

    Parameters
    ----------
    fig : matplotlib.figure.Figure
        The finished figure, without a title. It is closed afterwards.
    name : str
        File name without folder or extension, for example ``"11_error_weights"``.
    title : str
        What the figure says, in at most `LONGEST_TITLE` words.
    otherwise : str
        What the figure shows, whatever the result, as short.
    alt : str
        Text for those who cannot see it, with the numbers that matter.
    simulated : bool, optional
        Whether this figure alone shows simulated data, in a run on real ones.

    Raises
    ------
    PlainError
        If `helpers.run.check` was not called before, a text is missing, or a title has
        too many words.

    Examples
    --------
    >>> marks.begin(marks.Run("11_error_weights"))
    >>> fig, ax = plt.subplots()
    >>> bars = ax.barh(["good", "bad"], [700, 200])
    >>> save(
    ...     fig,
    ...     "11_example",
    ...     title="Most answers are good",
    ...     otherwise="Good and bad answers",
    ...     alt="Two bars: 700 good answers, 200 bad ones.",
    ... )
    >>> fig.get_suptitle()
    'Most answers are good'
    """
    run = marks.current()
    if run is None:
        raise PlainError(
            f"figure {name}: call run.check after the cell of parameters first"
        )
    _check_texts(name, {"title": title, "otherwise": otherwise, "alt": alt})
    is_default = run.is_default and not simulated
    shown = title if is_default else otherwise
    letters = int(LETTERS_PER_INCH * fig.get_figwidth())
    fig.suptitle(_wrapped(shown, letters), x=0.01, ha="left", fontsize=TITLE_SIZE)
    watermarked = simulated and not run.simulated  # others are marked from the start
    content = as_png(fig, "simulated" if watermarked else "real")
    paths.replace_files({paths.BUILD / "figures" / f"{name}.png": content})
    words = [*run.words]
    if watermarked:
        words.insert(0, f"{marks.SIMULATED}.")
    bold = [f"**{each}**" for each in words]
    _show(content, " ".join([*words, f"{shown}.", alt]), " ".join(bold))
    plt.close(fig)


def _check_texts(name: str, texts: Mapping[str, str]) -> None:
    """Stop at a text that is missing, and at a title that is too long."""
    for part, words in texts.items():
        if not words:
            raise PlainError(f"figure {name}: {part} is missing")
        n_words = len(words.split())
        if part != "alt" and n_words > LONGEST_TITLE:
            raise PlainError(
                f"figure {name}: {part} has {n_words} words, at most {LONGEST_TITLE} "
                "are allowed: move numbers and conditions to the text"
            )


def _in_notebook() -> bool:
    """Tell whether a notebook is running; `ratings` works without IPython."""
    shell = sys.modules.get("IPython")
    return shell is not None and shell.get_ipython() is not None


def _show(png: bytes, alt: str, caption: str) -> None:
    """Show a picture with its caption, if a notebook is running."""
    if not _in_notebook():
        return
    from IPython.display import Markdown, display

    width, height = Image.open(BytesIO(png)).size
    scale = PAGE_DPI / SAVE_DPI
    metadata = {
        "alt": alt,
        "height": round(scale * height),
        "width": round(scale * width),
    }
    picture = {"image/png": png, "text/plain": alt}
    display(picture, raw=True, metadata={"image/png": metadata})
    if caption.strip():
        display(Markdown(caption))


def as_png(fig: Figure, source: str) -> bytes:
    """Draw a figure in 256 colours, with a watermark unless its data are real."""
    if source != "real":
        marks.watermark(fig)
    # Drawn once, as pixels; what savefig itself would write is not used.
    fig.savefig(BytesIO(), format="rgba", dpi=SAVE_DPI, bbox_inches="tight")
    rgb = np.asarray(fig.canvas.buffer_rgba())[:, :, :3]
    image = Image.fromarray(rgb)
    # In the order of use, without dither: the same figure gives the same bytes.
    image = image.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    png = BytesIO()
    image.save(png, "PNG")
    return png.getvalue()


def _wrapped(words: str, width: int) -> str:
    """Break words anew into lines of a width."""
    return textwrap.fill(" ".join(words.split()), width)


def interval_plot(
    ax: Axes,
    table: pd.DataFrame,
    *,
    color: str = BLUE,
    offset: float = 0.0,
    label: str | None = None,
    marker: str = "o",
) -> None:
    """Draw a point with its horizontal interval for each row, the first at the top.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axis to draw on; its rows are labelled with the index of `table`.
    table : pandas.DataFrame, shape (n_rows, >= 3)
        Columns ``estimate``, ``low`` and ``high``, in the unit of the horizontal axis.
    color : str, optional
        Colour of points and lines.
    offset : float, optional
        Vertical shift in rows, to set several estimates of one row side by side.
    label : str, optional
        Name for the legend.
    marker : str, optional
        Matplotlib marker.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> fig, ax = plt.subplots()
    >>> numbers = {"estimate": [1.0], "low": [0.5], "high": [1.5]}
    >>> interval_plot(ax, pd.DataFrame(numbers, index=["refusal"]))
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['refusal']
    >>> plt.close(fig)
    """
    rows = np.arange(len(table))
    ax.hlines(
        rows + offset,
        table["low"],
        table["high"],
        color=color,
        linewidth=2.4,
        alpha=0.55,
    )
    ax.plot(
        table["estimate"],
        rows + offset,
        marker,
        color=color,
        label=label,
        markersize=6.5,
    )
    ax.set_yticks(rows, list(table.index))
    ax.set_ylim(len(table) - 0.4, -0.6)
    ax.grid(axis="y", visible=False)


def zero_line(ax: Axes, *, axis: str = "x") -> None:
    """Mark zero on the horizontal (``"x"``) or vertical (``"y"``) axis.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> fig, ax = plt.subplots()
    >>> zero_line(ax)
    >>> len(ax.lines)
    1
    >>> plt.close(fig)
    """
    draw = ax.axvline if axis == "x" else ax.axhline
    draw(0, color=INK, linewidth=1.0, zorder=1)


def binned_rates(
    ax: Axes,
    table: pd.DataFrame,
    *,
    color: str,
    label: str | None = None,
    marker: str = "o",
) -> None:
    """Draw a rate against a covariate with a band for its interval.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axis to draw on.
    table : pandas.DataFrame
        Columns ``x``, ``estimate``, ``low`` and ``high``.
    color : str
        Colour of line and band.
    label : str, optional
        Name for the legend.
    marker : str, optional
        Matplotlib marker.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> fig, ax = plt.subplots()
    >>> numbers = {"x": [1, 2], "estimate": [5, 4], "low": [3, 2], "high": [7, 6]}
    >>> binned_rates(ax, pd.DataFrame(numbers), color=BLUE, label="factuality")
    >>> ax.get_legend_handles_labels()[1]
    ['factuality']
    >>> plt.close(fig)
    """
    ax.fill_between(
        table["x"], table["low"], table["high"], color=color, alpha=0.16, linewidth=0
    )
    ax.plot(
        table["x"],
        table["estimate"],
        marker=marker,
        color=color,
        label=label,
        linewidth=2,
    )


def forest_plot(
    ax: Axes, tables: Mapping[str, pd.DataFrame], *, colors: Sequence[str] = COLORS
) -> None:
    """Draw estimates from several tables side by side.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axis to draw on; its rows are labelled with the index of the tables.
    tables : mapping of str to pandas.DataFrame
        A name for the legend, and ``estimate``, ``low`` and ``high`` of the same rows;
        up to five.
    colors : sequence of str, optional
        A colour for each table.

    Raises
    ------
    ValueError
        If the tables do not have the same rows.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> fig, ax = plt.subplots()
    >>> numbers = {"estimate": [1.0], "low": [0.5], "high": [1.5]}
    >>> people = pd.DataFrame(numbers, index=["refusal"])
    >>> forest_plot(ax, {"people": people, "GPT-4": people + 1})
    >>> ax.get_legend_handles_labels()[1]
    ['people', 'GPT-4']
    >>> plt.close(fig)
    """
    rows = list(next(iter(tables.values())).index)
    offsets = _offsets(len(tables))
    for number, (name, table) in enumerate(tables.items()):
        if list(table.index) != rows:
            raise ValueError(
                f"table {name!r} has other rows than the first: give all the same"
            )
        interval_plot(
            ax,
            table,
            color=colors[number],
            offset=offsets[number],
            label=name,
            marker=MARKERS[number],
        )


def name_beside(
    ax: Axes,
    tables: Mapping[str, pd.DataFrame],
    row: object,
    names: Mapping[str, str] | None = None,
) -> None:
    """Write the names of tables beside their intervals in one row, without a legend.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axis that `forest_plot` drew on.
    tables : mapping of str to pandas.DataFrame
        The tables that it drew.
    row : object
        Entry of their index: the row at which the names stand, right of the intervals.
    names : mapping of str to str, optional
        Other words for some of the names.

    Raises
    ------
    ValueError
        If the tables do not have this row.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> fig, ax = plt.subplots()
    >>> numbers = {"estimate": [1.0], "low": [0.5], "high": [1.5]}
    >>> people = pd.DataFrame(numbers, index=["refusal"])
    >>> tables = {"people": people, "GPT-4": people + 1}
    >>> forest_plot(ax, tables)
    >>> name_beside(ax, tables, "refusal", {"people": "80 people"})
    >>> [text.get_text() for text in ax.texts]
    ['80 people', 'GPT-4']
    >>> plt.close(fig)
    """
    rows = list(next(iter(tables.values())).index)
    if row not in rows:
        raise ValueError(f"there is no row {row!r}: choose one of {rows}")
    words = dict(names or {})
    offsets = _offsets(len(tables))
    for (name, table), offset in zip(tables.items(), offsets, strict=True):
        ax.annotate(
            words.get(name, name),
            xy=(table.loc[row, "high"], rows.index(row) + offset),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
        )


def _offsets(n_tables: int) -> list[float]:
    """Vertical places of the estimates of one row, in rows from its middle."""
    step = min(STEP, 0.8 / n_tables)
    middle = (n_tables - 1) / 2
    return [step * (number - middle) for number in range(n_tables)]


def share_plot(
    ax: Axes, shares: pd.DataFrame, colors: Sequence[str], marked: object | None = None
) -> None:
    """Draw one horizontal bar for each row, divided into the shares of the columns.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axis to draw on; its rows are labelled with the index of `shares`, the first at
        the top.
    shares : pandas.DataFrame, shape (n_rows, n_parts)
        Percentages that sum to 100 in each row; parts of 6 % and more are labelled.
        Columns name the parts in the legend.
    colors : sequence of str
        One colour per column.
    marked : optional
        Column to outline, such as the ideal rating.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> fig, ax = plt.subplots()
    >>> parts = {"ideal": [80.0], "too formal": [20.0]}
    >>> shares = pd.DataFrame(parts, index=["Model, formal"])
    >>> share_plot(ax, shares, ["#0072B2", "#E69F00"], marked="ideal")
    >>> [text.get_text() for text in ax.texts]
    ['80', '20']
    >>> plt.close(fig)
    """
    shares.plot.barh(stacked=True, ax=ax, color=list(colors), width=0.72, legend=False)
    for part, bars in zip(shares, ax.containers, strict=True):
        labels = []
        for width in shares[part]:
            labels.append(f"{width:.0f}" if width >= SMALLEST_LABELLED else "")
        ax.bar_label(bars, labels, label_type="center", zorder=4)
        if part == marked:
            plt.setp(bars.patches, edgecolor=INK, linewidth=2, zorder=3)
    ax.set(ylim=(len(shares) - 0.5, -0.5), xlim=(0, 100), ylabel="")
    ax.grid(visible=False)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)


def draw_tree(ax: Axes, table: pd.DataFrame, limits: tuple[float, float]) -> None:
    """Draw the nodes of a tree as boxes coloured by their mean, joined by lines.

    A line is as wide as the share of rows that go there.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axis to draw on. Three inches of width a level and half an inch of height a leaf
        are enough.
    table : pandas.DataFrame
        Nodes as `helpers.aspects.tree_table` lists them: ``node``, ``depth``,
        ``parent``, ``rule``, ``n``, ``mean`` and ``is_leaf``.
    limits : tuple of float
        Means shown in the lightest and in the darkest colour: the ends of the scale.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> fig, ax = plt.subplots()
    >>> root = {"node": 0, "depth": 0, "parent": -1, "rule": "all ratings"}
    >>> root |= {"n": 1200, "mean": 1.84, "is_leaf": True}
    >>> draw_tree(ax, pd.DataFrame([root]), limits=(0, 3))
    >>> print(ax.texts[0].get_text())
    all ratings
    mean 1.84, n = 1,200
    >>> plt.close(fig)
    """
    heights = _leaf_heights(table)
    _draw_branches(ax, table, heights)
    span = limits[1] - limits[0]
    share = ((table["mean"] - limits[0]) / span).clip(0, 1)
    colors = mpl.colormaps["Blues"](LIGHTEST + (DARKEST - LIGHTEST) * share)
    for node, color in zip(table.itertuples(), colors, strict=True):
        x = node.depth
        y = heights[node.node]
        words = f"{node.rule}\nmean {node.mean:.2f}, n = {node.n:,}"
        text = ax.text(x, y, words, ha="center", va="center", fontsize=10, zorder=3)
        text.set_fontweight("bold" if node.is_leaf else "normal")
        box = Rectangle((x - BOX_WIDTH / 2, y - BOX_HEIGHT / 2), BOX_WIDTH, BOX_HEIGHT)
        box.set(facecolor=color, edgecolor=INK, linewidth=0.8, zorder=2)
        ax.add_patch(box)
    ax.set_xlim(-BOX_WIDTH / 2 - 0.02, table["depth"].max() + BOX_WIDTH / 2 + 0.02)
    ax.set_ylim(-0.5, table["is_leaf"].sum() - 0.5)
    ax.axis("off")


def _leaf_heights(table: pd.DataFrame) -> pd.Series:
    """Height of every node: leaves in order, a parent midway between its children."""
    heights = pd.Series(np.nan, index=table["node"], dtype=float)
    leaves = table.loc[table["is_leaf"], "node"]
    heights[leaves] = np.arange(len(leaves), dtype=float)
    for node in table.loc[~table["is_leaf"], "node"][::-1]:
        heights[node] = heights[table.loc[table["parent"] == node, "node"]].mean()
    return heights


def _draw_branches(ax: Axes, table: pd.DataFrame, heights: pd.Series) -> None:
    """Draw a line from every parent to its children."""
    reach = 0.45 * BOX_WIDTH  # a little under the boxes
    for node in table[table["parent"] >= 0].itertuples():
        ax.plot(
            [node.depth - 1 + reach, node.depth - reach],
            [heights[node.parent], heights[node.node]],
            linewidth=max(1.0, WIDEST_LINE * node.n / table["n"].max()),
            color=GREY,
            alpha=0.45,
            solid_capstyle="butt",
            zorder=1,
        )


@dataclass(repr=False)
class CaptionedTable:
    """A table that a notebook shows whole, under its caption."""

    frame: pd.DataFrame
    caption: str
    # of entries that begin with a word: a table of text
    colors: Mapping[str, str] | None = None

    def __repr__(self) -> str:
        """Caption and table as text."""
        return f"{self.caption}\n{self.frame.to_string(na_rep='')}"

    def _repr_html_(self) -> str:
        """Caption and table as HTML, which is what notebooks show."""
        is_text = self.colors is not None
        with pd.option_context("display.max_colwidth", None):
            table = self.frame.to_html(na_rep="", border=0, index=not is_text)
        if is_text:
            table = re.sub("<t([hd])>", r'<t\1 style="text-align:left">', table)
            for word, color in self.colors.items():
                table = re.sub(
                    rf'left">({word}\b)',
                    rf'left;color:{color};font-weight:bold">\1',
                    table,
                )
        opening, rest = table.split(">", 1)
        style = "caption-side:top;text-align:left;font-weight:bold;padding:4px 0"
        caption = f'<caption style="{style}">{escape(self.caption)}</caption>'
        return f"{opening}>{caption}{rest}"


def captioned(frame: pd.DataFrame, caption: str, decimals: int = 2) -> CaptionedTable:
    """Round a table for reading and give it a caption.

    Parameters
    ----------
    frame : pandas.DataFrame
        Any table; only its floating-point columns are rounded.
    caption : str
        What the numbers are, with their unit and, for a family of tests, the
        correction.
    decimals : int, optional
        Digits after the point.

    Returns
    -------
    CaptionedTable
        Shown as the last line of a notebook cell. Negative zeros are shown as zero,
        missing values as blanks. In columns of p-values, named ``p``, ``p_value`` or
        ``p, ...``, what would round to zero is shown as below the last digit, since no
        p-value is zero.

    Examples
    --------
    >>> weights = pd.DataFrame({"weight": [-0.9478, -0.0]}, index=["refusal", "scope"])
    >>> captioned(weights, "Points")
    Points
             weight
    refusal   -0.95
    scope      0.00
    """
    # what lies between two digits must not hang on the last bit of a sum
    stable = frame.round(decimals + wording.STABLE_DIGITS)
    rounded = stable.round(decimals)
    numbers = rounded.select_dtypes("floating").columns
    rounded[numbers] += 0.0  # no negative zero
    for column in numbers:
        name = str(column[-1] if isinstance(column, tuple) else column)
        if name in ("p", "p_value") or name.startswith("p, "):
            rounded[column] = [_p_value(number, decimals) for number in frame[column]]
    return CaptionedTable(rounded, caption)


def text_table(frame: pd.DataFrame, caption: str) -> CaptionedTable:
    """Show a table of words: aligned left, without its index, verdicts in colour.

    Parameters
    ----------
    frame : pandas.DataFrame
        Columns of text.
    caption : str
        What the rows are.

    Returns
    -------
    CaptionedTable
        Entries that begin with a verdict that does not pass are coloured.

    Examples
    --------
    >>> claims = pd.DataFrame({"claim": ["A beats B"], "verdict": ["inconclusive"]})
    >>> print(text_table(claims, "One"))
    One
           claim       verdict
    0  A beats B  inconclusive
    """
    return CaptionedTable(frame, caption, VERDICT_COLORS)


def _p_value(number: float, decimals: int) -> str:
    """Write a p-value, never as zero."""
    if np.isnan(number):
        return ""
    unit = 10.0**-decimals
    if number < unit / 2:
        return f"<{unit:.{decimals}f}"
    return f"{number:.{decimals}f}"
