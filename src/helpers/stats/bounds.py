"""Bounds on a difference between groups when rows were left out after the assignment.

An instruction may change not only how a model answers but whether it answers at all.
Whoever leaves refusals out then compares answers to other prompts in one group than in
the other. Bounds say how far the difference could be from what is seen, without a guess
about what the rows left out would have shown.
"""

import numpy as np
import pandas as pd

from helpers.stats.bootstrap import cluster_weights, interval, with_everything_first
from helpers.stats.checks import check_clusters, check_numeric
from helpers.stats.moments import ratio

METHODS = ("worst case", "trimming")


def selection_bounds(
    frame: pd.DataFrame,
    value: str,
    kept: str,
    by: str,
    groups: tuple[str, str],
    limits: tuple[float, float],
    cluster: str,
    n_boot: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Bound the difference of two means when rows were left out, with intervals.

    *Worst case* (Manski's bounds): every row counts, and a row left out may have any
    value within `limits`. The lowest difference gives all of them the values that make
    it lowest. Nothing is assumed.

    *Trimming* (Lee's bounds): only rows count that would be kept in either group, such
    as prompts that a model answers whatever the instruction. Assumed is that groups
    differ only by what was assigned, and that it works in one direction: whatever is
    kept in the group with fewer kept rows would be kept in the other as well. That
    other group then holds some rows too many. Nobody knows which, so first the highest
    and then the lowest values are taken off, until its share of kept rows is that of
    the first group.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per unit that was assigned, left out or not.
    value : str
        Numeric column; it is not looked at where a row was left out.
    kept : str
        Column of truth values: False where the row is left out.
    by : str
        Column of groups.
    groups : (str, str)
        The group to subtract and the group to subtract it from; other rows are ignored.
    limits : (float, float)
        Smallest and largest possible value.
    cluster : str
        Column of clusters, which are resampled for the intervals.
    n_boot : int
        Number of bootstrap replicates.
    rng : numpy.random.Generator

    Returns
    -------
    pandas.DataFrame
        Indexed by ``method`` (of `METHODS`) and ``bound`` (of `ENDS`): ``estimate``,
        and ``low`` and ``high``, the 95 % interval of this bound. The difference itself
        lies anywhere between the two bounds.

    Raises
    ------
    ValueError
        If a column cannot be used, a group has no row, or a kept value is outside of
        the limits.

    References
    ----------
    Horowitz and Manski (2000), Nonparametric Analysis of Randomized Experiments with
    Missing Covariate and Outcome Data, JASA 95; Lee (2009), Training, Wages, and Sample
    Selection, Review of Economic Studies 76.

    Examples
    --------
    Of four cautious answers one has an error and one refuses; of four assertive answers
    two have an error. If the refused one counts as an error, there is no difference.

    >>> answers = pd.DataFrame({"prompt_id": 2 * [1, 2, 3, 4]})
    >>> answers["arm"] = 4 * ["cautious"] + 4 * ["assertive"]
    >>> answers["error"] = [0, 0, 1, np.nan, 0, 0, 1, 1]
    >>> answers["answered"] = answers["error"].notna()
    >>> table = selection_bounds(
    ...     answers, "error", "answered", "arm", ("cautious", "assertive"), (0, 1),
    ...     "prompt_id", 99, np.random.default_rng(0))
    >>> table["estimate"].round(2)
    method      bound
    worst case  lowest     0.00
                highest    0.25
    trimming    lowest     0.00
                highest    0.33
    Name: estimate, dtype: float64
    """
    frame = frame[frame[by].isin(groups)]
    _check_selection(frame, value, kept, by, groups, limits)
    check_clusters(frame, cluster)
    codes, clusters = pd.factorize(frame[cluster], sort=True)
    times_drawn = cluster_weights(len(clusters), n_boot, rng)
    replicates = with_everything_first(times_drawn)
    # a row per replicate, a column per row of the table
    weights = replicates[:, codes].astype(float)
    values = frame[value].to_numpy(dtype=float, na_value=np.nan)
    is_kept = frame[kept].to_numpy(dtype=bool)

    # of each group, in each replicate: share of rows kept, lowest and highest mean
    shares = {}
    worst_case = {}
    for group in groups:
        is_member = (frame[by] == group).to_numpy()
        is_seen = is_member & is_kept
        total = weights[:, is_member].sum(axis=1)
        shares[group] = ratio(weights[:, is_seen].sum(axis=1), total)
        from_seen = ratio(weights[:, is_seen] @ values[is_seen], total)
        left_out = 1 - shares[group]
        worst_case[group] = [from_seen + left_out * limit for limit in limits]

    trimmed = {}
    share_in_both = np.minimum(shares[groups[0]], shares[groups[1]])
    for group in groups:
        is_seen = (frame[by] == group).to_numpy() & is_kept
        part = ratio(share_in_both, shares[group])
        trimmed[group] = _trimmed_means(values[is_seen], weights[:, is_seen], part)

    draws = {}
    for method, means in zip(METHODS, (worst_case, trimmed), strict=True):
        subtracted_low, subtracted_high = means[groups[0]]
        compared_low, compared_high = means[groups[1]]
        draws[method, "lowest"] = compared_low - subtracted_high
        draws[method, "highest"] = compared_high - subtracted_low
    draws = pd.DataFrame(draws)
    low, high = interval(draws.iloc[1:])
    table = pd.DataFrame({"estimate": draws.iloc[0], "low": low, "high": high})
    return table.rename_axis(["method", "bound"])


def _check_selection(
    frame: pd.DataFrame,
    value: str,
    kept: str,
    by: str,
    groups: tuple[str, str],
    limits: tuple[float, float],
) -> None:
    """Refuse a table whose bounds would mean nothing."""
    check_numeric(frame, [value], missing="allow")
    if frame[kept].dtype != bool:
        raise ValueError(f"column {kept!r} must hold truth values")
    for group in groups:
        if not (frame[kept] & (frame[by] == group)).any():
            raise ValueError(f"group {group!r} has no row that was kept")
    lowest, highest = limits
    kept_values = frame.loc[frame[kept], value]
    if not kept_values.between(lowest, highest).all():
        raise ValueError(
            f"column {value!r} has kept values that are missing or outside of {limits}"
        )


def _trimmed_means(
    values: np.ndarray, weights: np.ndarray, part: np.ndarray
) -> list[np.ndarray]:
    """Mean of the lowest and of the highest part of the values, in each replicate."""
    ascending = np.argsort(values, kind="stable")
    descending = np.argsort(-values, kind="stable")
    means = []
    for order in (ascending, descending):
        ordered_weights = weights[:, order]
        up_to_here = ordered_weights.cumsum(axis=1)
        before = up_to_here - ordered_weights
        room = part * up_to_here[:, -1]
        # A row at the border counts in part: equal values need no order.
        counted = np.clip(room[:, None] - before, 0, ordered_weights)
        means.append(ratio(counted @ values[order], room))
    return means
