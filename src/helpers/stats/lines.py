"""Adjusted slopes and smooth curves of an outcome against a covariate.

All are linear models fitted to sums within clusters, so a bootstrap of clusters refits
thousands at once. A curve is a natural cubic spline: cubic between its knots, straight
beyond the outer ones, where data are thin.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from helpers.stats import bootstrap
from helpers.stats.checks import check_full_rank, check_numeric
from helpers.stats.groups import group_means
from helpers.stats.moments import (
    ClusterMoments,
    cluster_moments,
    ratio,
)


def adjusted_slope(
    frame: pd.DataFrame,
    x: str,
    outcome: str,
    held: Sequence[str],
    cluster: str,
    n_boot: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Slope of an outcome on x, alone and with other columns held constant.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per observation.
    x : str
        Column whose slope is wanted.
    outcome : str
        Column to explain.
    held : sequence of str
        Columns to hold constant.
    cluster : str
        Column of clusters.
    n_boot : int
        Number of bootstrap replicates.
    rng : numpy.random.Generator

    Returns
    -------
    pandas.DataFrame
        Rows ``"alone"``, ``"adjusted"`` and ``"explained"`` (alone minus adjusted);
        ``estimate`` and 95 % percentile interval ``low`` and ``high``.

    Raises
    ------
    ValueError
        If a column cannot be used (see `helpers.stats.checks.check_regression`).

    References
    ----------
    MacKinnon (2008), Introduction to Statistical Mediation Analysis, chapter 3
    (difference in coefficients).

    Examples
    --------
    >>> frame = pd.DataFrame({"words": [1.0, 2, 3, 4] * 5,
    ...                       "repetition": [0.0, 0, 1, 1] * 5,
    ...                       "prompt_id": np.arange(20)})
    >>> frame["quality"] = 5 - frame["words"] - 2 * frame["repetition"]
    >>> rng = np.random.default_rng(0)
    >>> table = adjusted_slope(
    ...     frame, "words", "quality", ["repetition"], "prompt_id", 99, rng)
    >>> table["estimate"].round(6)
    alone       -1.8
    adjusted    -1.0
    explained   -0.8
    Name: estimate, dtype: float64
    """
    moments = cluster_moments(frame, [x, *held], outcome, cluster)
    times_drawn = bootstrap.cluster_weights(len(moments.products), n_boot, rng)
    replicates = moments.total(bootstrap.with_everything_first(times_drawn))
    gram, cross, _ = replicates.covariances()
    alone = ratio(cross[:, 0], gram[:, 0, 0])
    # a column held constant may not vary in a replicate: hence the pseudoinverse
    all_slopes = np.linalg.pinv(gram, hermitian=True) @ cross[:, :, None]
    adjusted = all_slopes[:, 0, 0]
    slopes = np.stack([alone, adjusted, alone - adjusted], axis=1)
    table = bootstrap.summary(slopes[0], slopes[1:], ["alone", "adjusted", "explained"])
    return table.drop(columns="p_value")


def quantile_knots(values: ArrayLike, n_knots: int) -> np.ndarray:
    """Knots at evenly spaced quantiles, the outer ones near the ends of the data."""
    if n_knots < 3:
        raise ValueError(f"a curve needs at least 3 knots, got {n_knots}")
    # Harrell (2015), table 2.3
    if n_knots == 3:
        outer = 0.1
    elif n_knots <= 6:
        outer = 0.05
    else:
        outer = 0.025
    knots = np.quantile(values, np.linspace(outer, 1 - outer, n_knots))
    if (np.diff(knots) <= 0).any():
        raise ValueError(f"the values tie too much for {n_knots} knots: take fewer")
    return knots


def natural_spline(values: ArrayLike, knots: np.ndarray) -> np.ndarray:
    """Columns that span the natural cubic splines, without the intercept."""
    # Harrell (2015), section 2.4.5: a straight line, and for each knot but the last two
    # a bend that begins there. The cubes of the last two knots take away what would
    # curve beyond the last.
    values = np.asarray(values, dtype=float)
    first_knot = knots[0]
    next_to_last = knots[-2]
    last_knot = knots[-1]
    scaled = (values[:, None] - knots) / (last_knot - first_knot)
    cubes = np.clip(scaled, 0, None) ** 3
    starts = knots[:-2]
    last_gap = last_knot - next_to_last
    to_last = (last_knot - starts) / last_gap
    to_next = (next_to_last - starts) / last_gap
    bends = cubes[:, :-2] - cubes[:, [-2]] * to_last + cubes[:, [-1]] * to_next
    return np.column_stack([scaled[:, 0], bends])


@dataclass(frozen=True, eq=False)
class Curve:
    """A fitted curve, made by `fit_curve`.

    Parameters
    ----------
    knots : numpy.ndarray, shape (n_knots,)
        Knots of the spline.
    moments : ClusterMoments
        Sums within clusters of the spline columns, the centred columns held constant,
        and the outcome.
    """

    knots: np.ndarray
    moments: ClusterMoments

    def estimate(self, at: ArrayLike) -> np.ndarray:
        """Height of the curve.

        Parameters
        ----------
        at : array-like, shape (n_points,)
            Values of the covariate.

        Returns
        -------
        numpy.ndarray, shape (n_points,)
        """
        return self._heights(self.moments.total(), at)[0]

    def draws(self, at: ArrayLike, n_boot: int, rng: np.random.Generator) -> np.ndarray:
        """Bootstrap draws of the height, resampling clusters.

        Parameters
        ----------
        at : array-like, shape (n_points,)
            Values of the covariate.
        n_boot : int
            Number of replicates.
        rng : numpy.random.Generator
            Curves to be compared need generators in the same state.

        Returns
        -------
        numpy.ndarray, shape (n_boot, n_points)

        Raises
        ------
        ValueError
            If a replicate does not determine the curve.
        """
        n_clusters = len(self.moments.products)
        times_drawn = bootstrap.cluster_weights(n_clusters, n_boot, rng)
        replicates = self.moments.total(times_drawn)
        return self._heights(replicates, at)

    def band(
        self, at: ArrayLike, n_boot: int, rng: np.random.Generator
    ) -> pd.DataFrame:
        """Tabulate the curve with a 95 % band that covers it at all points at once.

        Parameters
        ----------
        at, n_boot, rng
            As for `draws`.

        Returns
        -------
        pandas.DataFrame
            Columns ``x``, ``estimate``, ``low`` and ``high``.
        """
        estimate = self.estimate(at)
        draws = self.draws(at, n_boot, rng)
        low, high = bootstrap.simultaneous_interval(estimate, draws)
        return pd.DataFrame({"x": at, "estimate": estimate, "low": low, "high": high})

    def changes(
        self,
        steps: Mapping[str, tuple[float, float]],
        n_boot: int,
        rng: np.random.Generator,
    ) -> pd.DataFrame:
        """How much higher the curve is at the end of a step than at its start.

        Parameters
        ----------
        steps : mapping of str to (float, float)
            Name, start and end of each step.
        n_boot, rng
            As for `draws`.

        Returns
        -------
        pandas.DataFrame
            A row per step: ``estimate``, 95 % percentile interval ``low`` and ``high``,
            and a two-sided bootstrap ``p_value``.
        """
        # a row per step: its start and its end
        ends = np.array(list(steps.values()), dtype=float)
        estimate = self.estimate(ends[:, 1]) - self.estimate(ends[:, 0])
        draws = self.draws(ends.ravel(), n_boot, rng)
        draws = draws.reshape(n_boot, len(ends), 2)
        changes = draws[:, :, 1] - draws[:, :, 0]
        return bootstrap.summary(estimate, changes, list(steps))

    def _heights(self, totals: ClusterMoments, at: ArrayLike) -> np.ndarray:
        """Heights of the curve of each set of sums, shape (n_sets, n_points)."""
        gram, cross, _ = totals.covariances()
        try:
            slopes = np.linalg.solve(gram, cross[:, :, None])[:, :, 0]
        except np.linalg.LinAlgError:
            raise ValueError(
                "a resample does not determine the curve: take fewer knots"
            ) from None
        # Columns held constant come after those of the spline. They are centred, so at
        # their means they add nothing.
        basis = natural_spline(at, self.knots)
        spline_slopes = slopes[:, : basis.shape[1]]
        intercepts = totals.intercept(slopes)
        return intercepts[:, None] + spline_slopes @ basis.T


def fit_curve(
    frame: pd.DataFrame,
    x: str,
    outcome: str,
    cluster: str,
    n_knots: int = 5,
    held: Sequence[str] = (),
) -> Curve:
    """Fit a natural cubic spline by least squares.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per observation.
    x : str
        Column of the covariate.
    outcome : str
        Column to explain.
    cluster : str
        Column of clusters.
    n_knots : int, optional
        Number of knots, see `quantile_knots`.
    held : sequence of str, optional
        Columns that enter linearly; the curve is drawn where each is at its mean.

    Returns
    -------
    Curve

    Raises
    ------
    ValueError
        If a column cannot be used (see `helpers.stats.checks.check_regression`) or a
        held column is redundant, or the knots cannot be placed.

    References
    ----------
    Harrell (2015), Regression Modeling Strategies, section 2.4.

    Examples
    --------
    >>> frame = pd.DataFrame({"words": np.arange(20.0), "prompt_id": np.arange(20)})
    >>> frame["quality"] = 3 + frame["words"] / 10
    >>> curve = fit_curve(frame, "words", "quality", "prompt_id", n_knots=3)
    >>> curve.estimate([0.0, 10.0]).round(6)
    array([3., 4.])
    """
    check_numeric(frame, [x, *held])
    knots = quantile_knots(frame[x], n_knots)
    basis = natural_spline(frame[x], knots)
    columns = {}
    for number, column in enumerate(basis.T, start=1):
        columns[f"{x}, spline {number}"] = column
    for name in held:
        columns[name] = frame[name] - frame[name].mean()
    table = pd.DataFrame(columns, index=frame.index)
    features = list(columns)
    check_full_rank(table, features, intercept=True)
    table[outcome] = frame[outcome]
    table[cluster] = frame[cluster]
    return Curve(knots, cluster_moments(table, features, outcome, cluster))


def binned_means(
    frame: pd.DataFrame,
    x: str,
    outcome: str,
    cluster: str,
    n_bins: int,
    n_boot: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Mean outcome in bins of a covariate that hold about as many rows each.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per observation.
    x : str
        Column of the covariate; equal values share a bin.
    outcome : str
        Column to average.
    cluster : str
        Column of clusters.
    n_bins : int
        Number of bins, at least 2.
    n_boot : int
        Number of bootstrap replicates.
    rng : numpy.random.Generator

    Returns
    -------
    pandas.DataFrame
        A row per bin: ``x`` (median of the covariate), ``estimate``, and the 95 %
        percentile interval ``low`` and ``high``.

    Raises
    ------
    ValueError
        If a column is unknown or not numeric, or there are fewer than two clusters.

    Examples
    --------
    >>> frame = pd.DataFrame({"words": [1, 2, 3, 4], "quality": [2.0, 2, 4, 4],
    ...                       "prompt_id": [1, 2, 1, 2]})
    >>> rng = np.random.default_rng(0)
    >>> binned_means(frame, "words", "quality", "prompt_id", 2, 9, rng)
         x  estimate  low  high
    0  1.5       2.0  2.0   2.0
    1  3.5       4.0  4.0   4.0
    """
    check_numeric(frame, [x, outcome])
    inner_shares = np.linspace(0, 1, n_bins + 1)[1:-1]
    # values that tie can make two edges one
    edges = np.unique(np.quantile(frame[x], inner_shares))
    codes = np.searchsorted(edges, frame[x], side="left")
    rows = frame.assign(bin=codes)
    means = group_means(rows, [outcome], "bin", cluster, n_boot, rng)
    bins = means.loc[outcome].sort_index()
    medians = frame[x].groupby(codes).median().astype(float)
    bins.insert(0, "x", medians)
    return bins.reset_index(drop=True)
