"""The specification curve: one finding under every reasonable combination of choices.

Each combination of the choices that an analysis could have made otherwise is a
specification. The curve of all their estimates shows which choices matter; a joint test
says whether it could come about by chance. It compares the curve with curves drawn
where there is no effect. In each draw the data are changed once, for all specifications
together, because specifications of the same data are no independent evidence.

References
----------
Simonsohn, Simmons and Nelson (2020), Specification Curve Analysis, Nature Human
Behaviour.
"""

from collections.abc import Mapping, Sequence
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba_array
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from scipy import stats

from helpers.show import BLUE, GREY, ORANGE, zero_line
from helpers.stats import ordinal
from helpers.stats.bootstrap import cluster_weights
from helpers.stats.moments import cluster_sums

EXPECTED, UNSURE, AGAINST = "as expected", "not significant", "against expectation"
FINDINGS = {  # label and colour
    EXPECTED: ("significant, as expected", BLUE),
    UNSURE: ("not significant", "#A9B1BC"),
    AGAINST: ("significant, against expectation", ORANGE),
}
SLACK = 1e-9  # numbers that differ by less are the same, but for rounding
SEVERAL = "for two reasons or more"
ORDINAL = "ordinal"  # model
ROW, TOP = 0.185, 3.2  # height of an option and of the curve, in inches
WIDTH = 7.0  # of a figure on a page
SMALL = (4.6, 4.6)  # size for a phone
TEXT = 9  # points


def cross(
    choices: Mapping[str, Sequence],
    impossible: Mapping[str, Mapping[str, Sequence]] | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Every combination of choices, and those that make no sense, with a reason."""
    table = pd.DataFrame(list(product(*choices.values())), columns=list(choices))
    reason = pd.Series("", index=table.index)
    for why, combination in (impossible or {}).items():
        applies = table[list(combination)].isin(combination).all(axis="columns")
        reason = reason.mask(applies & (reason == ""), why)
    possible = reason == ""
    left_out = table[~possible].assign(reason=reason[~possible])
    return table[possible].reset_index(drop=True), left_out.reset_index(drop=True)


def divide(
    table: pd.DataFrame, leaving: Mapping[str, Mapping[str, Sequence]]
) -> pd.Series:
    """Find the specifications that ask another question than the headline.

    A choice stays on a curve if the headline would be worded the same whatever its
    value. Options that ask something else make curves of their own, in which every
    other choice is one that stays.

    Parameters
    ----------
    table : pandas.DataFrame
        One row per specification.
    leaving : mapping of str to mapping
        For each reason to leave, the options, by choice, that a specification combines.

    Returns
    -------
    pandas.Series of str
        Empty where a specification stays, else the only reason why it leaves, or
        `SEVERAL`.

    Examples
    --------
    >>> table, _ = cross({"model": ["free", "Lasso"], "score": ["others'", "own"]})
    >>> leaving = {"penalised": {"model": ["Lasso"]}, "own score": {"score": ["own"]}}
    >>> divide(table, leaving).tolist()
    ['', 'own score', 'penalised', 'for two reasons or more']
    """
    reason = pd.Series("", index=table.index)
    for why, combination in leaving.items():
        applies = table[list(combination)].isin(combination).all(axis="columns")
        again = applies & (reason != "")
        reason = reason.mask(applies, why).mask(again, SEVERAL)
    return reason


def subsets(
    frame: pd.DataFrame, only: Sequence[str], without: Sequence[str]
) -> pd.DataFrame:
    """Parts of a table on which an analysis could be repeated."""
    parts = {"all": np.ones(len(frame), dtype=bool)}
    for column in only:
        for value in np.unique(frame[column]):
            parts[f"only {value}"] = frame[column] == value
    for column in without:
        for value in np.unique(frame[column]):
            parts[f"without {value}"] = frame[column] != value
    return pd.DataFrame(parts, index=frame.index)


def products(
    table: pd.DataFrame, columns: Sequence[str], kept: ArrayLike, cluster: str
) -> np.ndarray:
    """Cross-products of one and the columns over some rows of each cluster, sorted."""
    numbers = table[list(columns)].to_numpy(dtype=float)
    values = np.column_stack([np.ones(len(table)), numbers])
    kept_values = values * np.asarray(kept)[:, None]
    return cluster_sums(kept_values[:, :, None] * values[:, None, :], table[cluster])


def ordinal_effects(
    rows: pd.DataFrame, features: Sequence[str], outcome: str, replicates: pd.DataFrame
) -> np.ndarray:
    """Effects in an ordinal model, and to first order in weighted replicates."""
    varying = [
        feature for feature in features if rows[feature].min() < rows[feature].max()
    ]
    effects = ordinal.fit(rows, varying, outcome).effects(rows)
    clusters = rows[replicates.columns.name].to_numpy()
    influence = pd.DataFrame(effects.influence, columns=varying).groupby(clusters).sum()
    influence = influence.reindex(
        index=replicates.columns, columns=features, fill_value=0.0
    )
    value = effects.value.reindex(features, fill_value=0.0)
    return value.to_numpy() + (replicates.to_numpy() - 1) @ influence.to_numpy()


def resample_weights(
    labels: pd.Series, n_boot: int, rng: np.random.Generator
) -> pd.DataFrame:
    """How often each cluster counts: once in the first row, drawn in all others."""
    clusters = pd.Index(np.unique(labels), name=labels.name)
    everything_once = np.ones(len(clusters))
    drawn = cluster_weights(len(clusters), n_boot, rng)
    return pd.DataFrame(np.vstack([everything_once, drawn]), columns=clusters)


def curve(
    specifications: pd.DataFrame,
    estimate: ArrayLike,
    standard_error: ArrayLike,
    sign: int,
    df: ArrayLike = np.inf,
) -> pd.DataFrame:
    """Add estimates, 95 % intervals and findings to a table of specifications.

    Parameters
    ----------
    specifications : pandas.DataFrame
        One row per specification.
    estimate, standard_error : array-like, shape (n_specifications,)
        In the same unit.
    sign : {1, -1, 0}
        The direction that is expected; 0 if a difference in either direction is.
    df : array-like, optional
        Degrees of freedom of the t distribution behind the intervals; by default
        normal.

    Returns
    -------
    pandas.DataFrame
        The specifications with ``estimate``, ``standard_error``, ``low``, ``high``,
        ``df`` and ``finding``: `EXPECTED` or `AGAINST` where the interval leaves
        out zero, else `UNSURE`.

    Raises
    ------
    ValueError
        If a number is missing, or an estimate other than zero has no standard error.

    Examples
    --------
    >>> specified = pd.DataFrame({"link": ["linear", "ordinal"]})
    >>> table = curve(specified, [1.0, 0.1], [0.2, 0.2], 1)
    >>> table["finding"].tolist()
    ['as expected', 'not significant']
    """
    table = specifications.assign(
        estimate=np.asarray(estimate, dtype=float),
        standard_error=np.asarray(standard_error, dtype=float),
        df=df,
    )
    known = np.isfinite(table["estimate"]) & (table["standard_error"] >= 0)
    without_error = (table["standard_error"] == 0) & (table["estimate"] != 0)
    useless = ~known | without_error
    if useless.any():
        raise ValueError(
            f"specification {table.index[useless][0]} has no estimate or "
            "no standard error: leave it out and say why"
        )
    margin = stats.t.ppf(0.975, table["df"]) * table["standard_error"]
    table = table.assign(
        low=table["estimate"] - margin, high=table["estimate"] + margin
    )
    above = table["low"] > 0
    below = table["high"] < 0
    expected = (above & (sign >= 0)) | (below & (sign <= 0))
    against = (above | below) & ~expected
    return table.assign(
        finding=np.select([expected, against], [EXPECTED, AGAINST], UNSURE)
    )


def curve_summary(table: pd.DataFrame, sign: int) -> pd.Series:
    """What a curve says in a few numbers.

    Parameters
    ----------
    table : pandas.DataFrame
        Result of `curve`.
    sign : {1, -1, 0}
        As for `curve`.

    Returns
    -------
    pandas.Series
        The number of ``specifications``; percentages ``in direction``, ``significant``
        (in that direction) and ``significant against``; ``median``, ``lowest`` and
        ``highest`` estimate.

    Examples
    --------
    >>> specified = pd.DataFrame({"link": ["linear", "ordinal"]})
    >>> table = curve(specified, [1.0, 0.1], [0.2, 0.2], 1)
    >>> curve_summary(table, 1)[["in direction", "significant", "median"]].tolist()
    [100.0, 50.0, 0.55]
    """
    estimate = table["estimate"]
    return pd.Series(
        {
            "specifications": len(table),
            "in direction": 100 * (sign * estimate > 0).mean() if sign else np.nan,
            "significant": 100 * (table["finding"] == EXPECTED).mean(),
            "significant against": 100 * (table["finding"] == AGAINST).mean(),
            "median": estimate.median(),
            "lowest": estimate.min(),
            "highest": estimate.max(),
        }
    )


def joint_test(
    table: pd.DataFrame,
    null_estimate: np.ndarray,
    null_error: np.ndarray | None,
    sign: int,
) -> pd.DataFrame:
    """Ask whether a whole curve could come about by chance.

    Three numbers sum up a curve: the median estimate, the share of specifications that
    are significant as expected, and the mean z-value. Each is compared with the same
    number in curves drawn where there is no effect. One is added to both counts, so
    that no p-value is zero.

    Parameters
    ----------
    table : pandas.DataFrame
        Result of `curve`.
    null_estimate : numpy.ndarray, shape (n_draws, n_specifications)
        Estimates without an effect; a draw has one change of the data for all
        specifications.
    null_error : numpy.ndarray, shape (n_draws, n_specifications), or None
        Their standard errors; None takes those of the table.
    sign : {1, -1, 0}
        The expected direction; 0 compares sizes whatever the direction.

    Returns
    -------
    pandas.DataFrame
        Rows ``median``, ``significant, %`` and ``mean z``; columns ``observed``, ``by
        chance`` (median over draws), ``95 % by chance`` (their quantile farthest in the
        expected direction) and the one-sided ``p_value``.

    Raises
    ------
    ValueError
        If the draws are not finite.

    References
    ----------
    Simonsohn, Simmons and Nelson (2020); Phipson and Smyth (2010), Permutation P-values
    Should Never Be Zero.

    Examples
    --------
    >>> specified = pd.DataFrame({"link": ["linear", "ordinal"]})
    >>> table = curve(specified, [1.0, 0.9], [0.2, 0.2], 1)
    >>> null = 0.2 * np.random.default_rng(0).normal(size=(99, 2))
    >>> joint_test(table, null, None, 1)["p_value"].tolist()
    [0.01, 0.01, 0.01]
    """
    lost = ~np.isfinite(null_estimate)
    if lost.any():
        raise ValueError(f"{lost.sum()} of {lost.size} draws are not finite")
    error = table["standard_error"].to_numpy()
    critical = stats.t.ppf(0.975, table["df"].to_numpy())
    observed = _statistics(table["estimate"].to_numpy()[None], error, critical, sign)
    null = _statistics(
        null_estimate, error if null_error is None else null_error, critical, sign
    )
    rows = {}
    for name, draws in null.items():
        here = observed[name][0]
        as_far = (draws >= here - SLACK * max(1.0, abs(here))).sum()
        direction = -1 if sign < 0 and name != "significant, %" else 1
        rows[name] = {
            "observed": direction * here,
            "by chance": direction * np.median(draws),
            "95 % by chance": direction * np.quantile(draws, 0.95),
            "p_value": (1 + as_far) / (1 + len(draws)),
        }
    return pd.DataFrame(rows).T


def _statistics(
    estimate: np.ndarray, error: np.ndarray, critical: np.ndarray, sign: int
) -> dict[str, np.ndarray]:
    """Three numbers for each curve, larger if farther in the expected direction."""
    size = sign * estimate if sign else np.abs(estimate)
    z = np.divide(size, error, out=np.zeros_like(size), where=np.asarray(error) > 0)
    return {
        "median": np.median(size, axis=1),
        "significant, %": 100 * (z > critical).mean(axis=1),
        "mean z": z.mean(axis=1),
    }


def permute_within(
    groups: ArrayLike, n_draws: int, rng: np.random.Generator
) -> np.ndarray:
    """Random orders of rows that leave every row in its group.

    Parameters
    ----------
    groups : array-like, shape (n_rows,)
        The group of each row.
    n_draws : int
        Number of orders.
    rng : numpy.random.Generator

    Returns
    -------
    numpy.ndarray of int, shape (n_draws, n_rows)
        Positions: ``values[order]`` permutes the values of each group among its rows.

    Examples
    --------
    >>> orders = permute_within(["a", "b", "a"], 20, np.random.default_rng(0))
    >>> np.unique(orders, axis=0)
    array([[0, 1, 2],
           [2, 1, 0]])
    """
    codes = pd.factorize(np.asarray(groups))[0]
    places = np.argsort(codes, kind="stable")
    # Random numbers below one put the rows of a group in a random order and leave the
    # groups apart.
    permuted = np.argsort(codes + rng.random((n_draws, len(codes))), axis=1)
    orders = np.empty_like(permuted)
    orders[:, places] = permuted
    return orders


def specification_plot(
    table: pd.DataFrame,
    choices: Sequence[str],
    ylabel: str,
    decimals: int = 2,
) -> Figure:
    """Draw the curve with intervals, and below it one row of strokes for each option.

    Parameters
    ----------
    table : pandas.DataFrame
        Result of `curve`.
    choices : sequence of str
        Columns of choices, from top to bottom; with none, only the curve is drawn, for
        small screens.
    ylabel : str
        What is estimated, with its unit.
    decimals : int, optional
        Digits of the median estimates beside the options.

    Returns
    -------
    matplotlib.figure.Figure
        Without a title. Beside each option are the median of its estimates and the
        percentage that is significant as expected. Intervals that leave the range of
        nearly all others are cut off.

    Examples
    --------
    >>> specified = pd.DataFrame({"link": ["linear", "ordinal"]})
    >>> table = curve(specified, [1.0, 0.1], [0.2, 0.2], 1)
    >>> fig = specification_plot(table, ["link"], "points")
    >>> [text.get_text() for text in fig.axes[1].get_yticklabels()]
    ['link', 'linear', 'ordinal']
    >>> plt.close(fig)
    """
    order = table["estimate"].argsort(kind="stable")
    ranked = table.iloc[order].reset_index(drop=True)
    if choices:
        options = _by_option(table, choices)
        height = ROW * (len(options) + len(choices))
        size, ratios = (WIDTH, TOP + height + 0.9), [TOP, height]
        fig, (top, bottom) = plt.subplots(
            2, 1, figsize=size, height_ratios=ratios, sharex=True
        )
        _draw_choices(bottom, ranked, options, decimals)
    else:
        fig, top = plt.subplots(figsize=SMALL)
        bottom = top
    _draw_curve(top, ranked)
    _limit(top, ranked)
    top.set(ylabel=ylabel)
    top.legend(loc="upper left", fontsize=TEXT)
    bottom.set(xlabel=f"{len(table):,} specifications, by size of the estimate")
    return fig


def curves_plot(
    tables: Mapping[str, pd.DataFrame], ylabel: str, stacked: bool = False
) -> Figure:
    """Draw the curves of several questions on one scale.

    Parameters
    ----------
    tables : mapping of str to pandas.DataFrame
        For each question a result of `curve`.
    ylabel : str
        What is estimated, with its unit.
    stacked : bool, optional
        Whether panels stand one below the other, for small screens, and not side by
        side.

    Returns
    -------
    matplotlib.figure.Figure
        Without a title. Each panel names its question, how many specifications it has
        and the percentages that are significant as expected and, if any are, against
        expectation.

    Examples
    --------
    >>> specified = pd.DataFrame({"link": ["linear", "ordinal"]})
    >>> table = curve(specified, [1.0, 0.1], [0.2, 0.2], 1)
    >>> fig = curves_plot({"whole scale": table, "step": table}, "points")
    >>> fig.axes[0].get_title(loc="left").splitlines()
    ['whole scale:', '2 ways', '50 % significant']
    >>> plt.close(fig)
    """
    many = len(tables)
    rows = many if stacked else 1
    size = (SMALL[0], 2 * TOP) if stacked else (WIDTH, TOP + 0.4)
    fig, axes = plt.subplots(
        rows, many // rows, figsize=size, sharey=True, squeeze=False
    )
    panels = list(axes.flat)
    together = pd.concat(tables)
    for ax, (name, table) in zip(panels, tables.items(), strict=True):
        ranked = table.sort_values("estimate", kind="stable").reset_index(drop=True)
        _draw_curve(ax, ranked)
        share = 100 * table["finding"].value_counts(normalize=True)
        between = ": " if stacked else ":\n"  # panels side by side are narrow
        expected = f"{share.get(EXPECTED, 0):.0f} % significant"
        words = f"{name}{between}{len(table)} ways\n{expected}"
        if AGAINST in set(together["finding"]):
            words = f"{words}\n{share.get(AGAINST, 0):.0f} % against expectation"
        ax.set_title(words, fontsize=TEXT, loc="left")
    _limit(panels[0], together)
    fig.supxlabel("ways to compute it, by size of the estimate", fontsize=TEXT)
    panels[rows // 2].set_ylabel(ylabel, fontsize=TEXT)
    return fig


def _by_option(table: pd.DataFrame, choices: Sequence[str]) -> pd.DataFrame:
    """Median estimate of each option, and percentage significant as expected."""
    table = table.assign(expected=100.0 * (table["finding"] == EXPECTED))
    parts = {
        choice: table.groupby(choice, sort=False).agg(
            median=("estimate", "median"), significant=("expected", "mean")
        )
        for choice in choices
    }
    return pd.concat(parts, names=["choice", "option"])


def _draw_curve(ax: Axes, ranked: pd.DataFrame) -> None:
    """Draw estimates and intervals, coloured by finding."""
    width = np.clip(400 / len(ranked), 0.5, 2.5)
    for finding, (label, color) in FINDINGS.items():
        rows = ranked[ranked["finding"] == finding]
        if len(rows):
            ax.vlines(
                rows.index, rows["low"], rows["high"], color=color, alpha=0.4, lw=width
            )
            ax.plot(
                rows.index, rows["estimate"], "o", color=color, markersize=2.6, mew=0
            )
            share = f"{100 * len(rows) / len(ranked):.0f} %"
            ax.plot([], [], "o", color=color, label=f"{label}: {share}")
    ax.grid(axis="x", visible=False)
    zero_line(ax, axis="y")


def _limit(ax: Axes, table: pd.DataFrame) -> None:
    """Show all estimates and nearly all intervals, with room above for a legend."""
    low = min(table["low"].quantile(0.03), table["estimate"].min(), 0.0)
    high = max(table["high"].quantile(0.97), table["estimate"].max(), 0.0)
    margin = 0.05 * (high - low)
    ax.set_ylim(low - margin, high + 3 * margin)


def _draw_choices(
    ax: Axes, ranked: pd.DataFrame, options: pd.DataFrame, decimals: int
) -> None:
    """Draw one stroke for each specification in the row of its option."""
    colors = to_rgba_array([FINDINGS[finding][1] for finding in ranked["finding"]])
    labels, headings, strokes, shades = [], [], [], []
    for choice, rows in options.groupby(level="choice", sort=False):
        ax.axhline(len(labels) - 0.5, color=GREY, lw=0.5)
        headings.append(len(labels))
        labels.append(choice)
        for (_, option), (median, significant) in rows.iterrows():
            height = len(labels)
            places = np.flatnonzero(ranked[choice] == option)
            lower = np.full(len(places), height - 0.38)
            upper = np.full(len(places), height + 0.38)
            ends = np.array([[places, lower], [places, upper]])
            strokes.append(ends.transpose(2, 0, 1))  # stroke, end, (x, y)
            shades.append(colors[places])
            median = round(median, decimals) + 0.0  # no minus before a zero
            _write(
                ax,
                height,
                f"{median:.{decimals}f}",
                f"{significant:.0f} %",
                in_layout=False,
            )
            labels.append(str(option).replace("_", " "))
    lines = LineCollection(
        np.concatenate(strokes), colors=np.concatenate(shades), linewidths=0.7
    )
    ax.add_collection(lines, autolim=False)
    _write(ax, 0, "median", "signif.", weight="bold")  # makes room for all below it
    ax.set_yticks(range(len(labels)), labels, fontsize=TEXT)
    for heading in headings:
        ax.get_yticklabels()[heading].set_fontweight("bold")
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.set_xlim(-0.01 * len(ranked), len(ranked) * 1.005)
    ax.grid(visible=False)
    ax.tick_params(axis="y", length=0)


def _write(
    ax: Axes, height: float, median: str, significant: str, **style: str | bool
) -> None:
    """Write two texts to the right of the panel."""
    style |= {
        "transform": ax.get_yaxis_transform(),
        "ha": "right",
        "va": "center",
        "fontsize": TEXT,
    }
    ax.text(1.12, height, median, **style)
    ax.text(1.25, height, significant, **style)
