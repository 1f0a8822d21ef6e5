"""Prepare a panel for power curves: power against the size or the cost of a study."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from helpers.show import GREY, INK


def power_panel(ax: Axes, title: str, real: float, ticks: Sequence[int], aim: float = 80) -> None:
    """Mark the power that is aimed at and the real study on a logarithmic axis.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axis that holds the curves, power in percent.
    title : str
        Title of the panel.
    real : float
        Size, or cost, of the real study.
    ticks : sequence of int
        Sizes, or costs, to name.
    aim : float, optional
        Power in percent.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> fig, ax = plt.subplots()
    >>> power_panel(ax, "refusal", 900, [300, 3000])
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['300', '3,000']
    >>> plt.close(fig)
    """
    ax.axhline(aim, color=INK, linestyle=":", linewidth=1.2)
    ax.axvline(real, color=GREY, linewidth=1)
    ax.set(xscale="log", ylim=(0, 102), title=title)
    ax.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    ax.minorticks_off()
