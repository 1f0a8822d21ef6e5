"""How many outputs a study needs, from its power at the sizes that were tried."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from scipy.stats import norm

from helpers.show import COLORS, GREY, INK, MARKERS, binned_rates

POWER = 0.8  # that a study should have
LATE = 0.4  # of the largest size: what is written to the right of it does not fit
NAMED_AT = 60  # percent of power at which a curve gets its name, on its right
TICKS = (30, 100, 300, 1000, 3000, 10_000)  # sizes and costs to name on an axis


def outputs_needed(
    power: pd.DataFrame, by: Sequence[str], outputs: int
) -> pd.DataFrame:
    """Find the smallest number of outputs with a power of 80 %.

    Parameters
    ----------
    power : pandas.DataFrame
        ``estimate``, ``low`` and ``high`` with ``prompts`` in the index.
    by : sequence of str
        Other levels of the index: each combination gets a row.
    outputs : int
        Outputs of each prompt.

    Returns
    -------
    pandas.DataFrame
        ``estimate``, ``low`` and ``high``: where the power and the ends of its interval
        reach 80 % between the sizes that were tried; the smallest of these if all do,
        infinite if none does.

    Examples
    --------
    >>> index = pd.MultiIndex.from_product(
    ...     [["refusal"], [20, 80]], names=["error", "prompts"]
    ... )
    >>> power = {"estimate": [0.5, 0.9], "low": [0.4, 0.8], "high": [0.6, 0.95]}
    >>> outputs_needed(pd.DataFrame(power, index), ["error"], 5).round(0)
             estimate    low   high
    error
    refusal     274.0  202.0  400.0
    """
    rows = {}
    for key, part in power.groupby(list(by), sort=False):
        n_prompts = part.index.get_level_values("prompts").to_numpy(dtype=float)
        sizes = outputs * n_prompts
        rows[key] = {
            "estimate": _crossing(sizes, part["estimate"]),
            # More power, fewer outputs: the upper end of one is the lower of the other.
            "low": _crossing(sizes, part["high"]),
            "high": _crossing(sizes, part["low"]),
        }
    return pd.DataFrame(rows).T.rename_axis(index=list(by))


def _crossing(sizes: np.ndarray, power: pd.Series) -> float:
    """Size at which the power is what it should be.

    On the probit scale, power is nearly a straight line in the square root of the size:
    between two sizes that were tried we interpolate there.
    """
    rising = np.maximum.accumulate(power.to_numpy())  # falls only by chance
    if rising[-1] < POWER:
        return np.inf
    roots = np.sqrt(sizes)
    probits = norm.ppf(np.clip(rising, 1e-6, 1 - 1e-6))
    reached = int(np.argmax(rising >= POWER))
    neighbours = slice(max(reached - 1, 0), reached + 1)
    root = np.interp(norm.ppf(POWER), probits[neighbours], roots[neighbours])
    return float(root**2)


def size_text(needed: pd.DataFrame, smallest: int, largest: int) -> pd.Series:
    """Write numbers of outputs with two digits, and their range by simulation.

    Parameters
    ----------
    needed : pandas.DataFrame
        Result of `outputs_needed`.
    smallest, largest : int
        Smallest and largest number of outputs that was tried: below the one and above
        the other nothing is known.

    Returns
    -------
    pandas.Series of str
        The estimate and, in words, the range that the chance of the simulation leaves;
        only the estimate where it is beyond the largest number, or where the whole
        range lies below the smallest.

    Examples
    --------
    >>> needed = pd.DataFrame(
    ...     {
    ...         "estimate": [274.0, 150.0, np.inf],
    ...         "low": [202.0, 150.0, 5200.0],
    ...         "high": [400.0, 150.0, np.inf],
    ...     },
    ...     ["refusal", "relevance", "scope"],
    ... )
    >>> size_text(needed, 150, 6000).tolist()
    ['270 (200 to 400)', '150 or fewer', '> 6,000']
    """
    texts = {}
    for key, row in needed.iterrows():
        estimate = _size(row["estimate"], smallest, largest)
        low = _size(row["low"], smallest, largest)
        high = _size(row["high"], smallest, largest)
        if estimate == high or np.isinf(row["estimate"]):
            texts[key] = estimate
        elif np.isinf(row["high"]) and estimate == low:
            texts[key] = f"{estimate} (perhaps {high})"
        elif estimate == low:
            texts[key] = f"{estimate} (up to {high})"
        else:
            texts[key] = f"{estimate} ({low} to {high})"
    return pd.Series(texts, dtype=object).reindex(needed.index)


def _size(number: float, smallest: int, largest: int) -> str:
    """Write one number of outputs."""
    if np.isinf(number):
        return f"> {largest:,}"
    if number < smallest + 0.5:  # smaller studies were not tried
        return f"{smallest:,} or fewer"
    two_digits = float(f"{number:.2g}")
    return f"{two_digits:,.0f}"


def power_panel(ax: Axes, title: str, power: pd.DataFrame, real: float) -> None:
    """Draw power against size or cost, a curve for each number of raters.

    The axis of size is logarithmic. A dotted line stands at the power that a study
    should have.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axis to draw on.
    title : str
        Title of the panel.
    power : pandas.DataFrame
        ``estimate``, ``low`` and ``high`` as from
        `helpers.robustness.study_power.detection`, and ``x``, the size or cost; the
        first level of the index is the number of raters.
    real : float
        Size, or cost, of the real study, which gets a vertical line.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> fig, ax = plt.subplots()
    >>> power = pd.DataFrame({"estimate": [0.4, 0.9], "x": [200, 5000]}, index=[3, 3])
    >>> power = power.assign(low=[0.3, 0.8], high=[0.5, 1.0])
    >>> power_panel(ax, "refusal", power, 900)
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['300', '1,000', '3,000']
    >>> plt.close(fig)
    """
    for number, (raters, curve) in enumerate(power.groupby(level=0)):
        percent = 100 * curve[["estimate", "low", "high"]]
        binned_rates(
            ax,
            percent.assign(x=curve["x"]),
            color=COLORS[number % len(COLORS)],
            label="1 rater" if raters == 1 else f"{raters} raters",
            marker=MARKERS[number % len(MARKERS)],
        )
    ax.axhline(100 * POWER, color=INK, linestyle=":", linewidth=1.2)
    ax.axvline(real, color=GREY, linewidth=1)
    ax.set(xscale="log", ylim=(0, 102))
    ax.set_title(title, fontsize=9)
    ax.tick_params(labelsize=9)
    ax.label_outer()
    smallest = power["x"].min()
    largest = power["x"].max()
    ticks = [tick for tick in TICKS if smallest <= tick <= largest]
    ax.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    ax.minorticks_off()


def name_curves(ax: Axes, power: pd.DataFrame) -> None:
    """Write the number of raters beside each curve of a panel.

    A curve is named on its right where its power first comes to 60 %, the uppermost on
    its left where it comes to 80 %; also on its left if it comes to 60 % late. One that
    stays below 60 % is named above its last point but one.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        A panel that `power_panel` drew.
    power : pandas.DataFrame
        The same power.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> fig, ax = plt.subplots()
    >>> raters = [1, 1, 3, 3]
    >>> power = pd.DataFrame({"estimate": [0.1, 0.2, 0.4, 0.9]}, index=raters)
    >>> power = power.assign(x=[200, 5000, 200, 5000])
    >>> name_curves(ax, power)
    >>> [text.get_text() for text in ax.texts]
    ['1 rater', '3 raters']
    >>> plt.close(fig)
    """
    uppermost = power["estimate"].groupby(level=0).mean().idxmax()
    for number, (raters, curve) in enumerate(power.groupby(level=0)):
        percent = 100 * curve["estimate"].to_numpy()
        sizes = curve["x"].to_numpy(dtype=float)
        rising = np.maximum.accumulate(percent)
        if rising[-1] < NAMED_AT:
            last_but_one = max(len(sizes) - 2, 0)
            point = (sizes[last_but_one], percent[last_but_one])
            look = {"xytext": (0, 7), "ha": "right", "va": "bottom"}
        elif raters == uppermost and rising[0] < 100 * POWER <= rising[-1]:
            point = (np.interp(100 * POWER, rising, sizes), 100 * POWER)
            look = {"xytext": (-4, 4), "ha": "right", "va": "bottom"}
        else:
            size = np.interp(NAMED_AT, rising, sizes)
            point = (size, NAMED_AT)
            look = {"xytext": (7, 0), "ha": "left", "va": "top"}
            if size > LATE * sizes[-1]:
                look = {"xytext": (-7, 0), "ha": "right", "va": "bottom"}
        ax.annotate(
            "1 rater" if raters == 1 else f"{raters} raters",
            point,
            textcoords="offset points",
            color=COLORS[number % len(COLORS)],
            fontsize=9,
            fontweight="bold",
            **look,
        )
