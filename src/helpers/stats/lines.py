"""Lines and smooth curves of an outcome against a covariate, alone or with others held constant.

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
from helpers.stats.checks import check_clusters, check_full_rank, check_numeric
from helpers.stats.groups import group_means
from helpers.stats.moments import (
    ROUNDING,
    ClusterMoments,
    cluster_moments,
    cluster_sums,
)

LEVELS = ("items", "means")


@dataclass(frozen=True, eq=False)
class Lines:
    """A straight line for each group, in each of several sets of data.

    Parameters
    ----------
    mean_x, mean_y, slope : numpy.ndarray, shape (n_sets, n_groups)
        The point that each line runs through, and its slope.
    """

    mean_x: np.ndarray
    mean_y: np.ndarray
    slope: np.ndarray

    def at(self, x: ArrayLike) -> np.ndarray:
        """Height of the lines.

        Parameters
        ----------
        x : array-like, shape (n_points,) or ()
            Where to read them.

        Returns
        -------
        numpy.ndarray, shape (n_sets, n_groups, n_points) or (n_sets, n_groups)
        """
        x = np.asarray(x, dtype=float)
        shape = (..., *(None,) * x.ndim)
        return self.mean_y[shape] + self.slope[shape] * (x - self.mean_x[shape])


@dataclass(frozen=True, eq=False)
class CellSums:
    """Sums within clusters for every cell of groups by conditions, made by `cell_sums`.

    Parameters
    ----------
    groups, conditions : tuple of str
        Names of both.
    sums : numpy.ndarray, shape (n_clusters, n_groups, n_conditions, 5)
        Number of rows and sums of x, y, x² and xy.
    """

    groups: tuple[str, ...]
    conditions: tuple[str, ...]
    sums: np.ndarray

    def means(self, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Cell means.

        Parameters
        ----------
        weights : numpy.ndarray, shape (n_sets, n_clusters), optional
            How often each cluster counts in each set; by default one set counts each
            once.

        Returns
        -------
        x, y : numpy.ndarray, shape (n_sets, n_groups, n_conditions)
            NaN where a cell is empty.
        """
        n, x, y = np.moveaxis(self._total(weights)[..., :3], -1, 0)
        return _ratio(x, n), _ratio(y, n)

    def ranges(self, weights: np.ndarray | None = None) -> np.ndarray:
        """How far apart the conditions of each group are: highest mean of x minus lowest.

        Parameters
        ----------
        weights : numpy.ndarray, shape (n_sets, n_clusters), optional
            As for `means`.

        Returns
        -------
        numpy.ndarray, shape (n_sets, n_groups)
            Chance alone makes it positive, the more so the fewer rows there are.
        """
        x, _ = self.means(weights)
        return x.max(axis=2) - x.min(axis=2)

    def changes(self, reference: str, weights: np.ndarray | None = None) -> np.ndarray:
        """How much the mean of y changes from one condition to the average of all others.

        Parameters
        ----------
        reference : str
            The condition to start from.
        weights : numpy.ndarray, shape (n_sets, n_clusters), optional
            As for `means`.

        Returns
        -------
        numpy.ndarray, shape (n_sets, n_groups)
        """
        _, y = self.means(weights)
        start = self.conditions.index(reference)
        return np.delete(y, start, axis=2).mean(axis=2) - y[:, :, start]

    def lines(
        self,
        weights: np.ndarray | None = None,
        level: str = "items",
        parallel: bool = False,
    ) -> Lines:
        """Least-squares lines of y on x, one for each group.

        Parameters
        ----------
        weights : numpy.ndarray, shape (n_sets, n_clusters), optional
            As for `means`.
        level : {"items", "means"}, optional
            Whether a line is fitted to a group's rows, or to its means in each
            condition.
        parallel : bool, optional
            Whether all groups share one slope, the one within groups.

        Returns
        -------
        Lines
            The slope is NaN where x does not vary.

        Raises
        ------
        ValueError
            If the level is unknown.

        References
        ----------
        Hosking et al. (2024), Figure 6 (lines by system); Huitema (2011), The Analysis
        of Covariance and Alternatives (one slope within groups).
        """
        if level not in LEVELS:
            raise ValueError(f"level {level!r} is unknown: choose one of {LEVELS}")
        total = self._total(weights)
        if level == "means":
            n = total[..., :1]
            x, y = _ratio(total[..., [1]], n), _ratio(total[..., [2]], n)
            total = np.concatenate([np.ones_like(n), x, y, x * x, x * y], axis=-1)
        n, x, y, xx, xy = np.moveaxis(total.sum(axis=2), -1, 0)
        mean_x, mean_y = _ratio(x, n), _ratio(y, n)
        spread, shared = xx - x * mean_x, xy - x * mean_y
        spread = np.where(spread > ROUNDING * xx, spread, 0.0)
        if parallel:
            spread, shared = (
                np.broadcast_to(part.sum(axis=1, keepdims=True), part.shape)
                for part in (spread, shared)
            )
        return Lines(mean_x, mean_y, _ratio(shared, spread))

    def _total(self, weights: np.ndarray | None) -> np.ndarray:
        """Sums over clusters for each set."""
        weights = np.ones((1, len(self.sums))) if weights is None else weights
        return np.tensordot(weights, self.sums, axes=1)


def cell_sums(
    frame: pd.DataFrame, x: str, y: str, group: str, condition: str, cluster: str
) -> CellSums:
    """Reduce a table to sums within clusters for each group and condition.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per item.
    x, y : str
        Numeric columns.
    group, condition : str
        Columns that make up the cells, for example ``"system"`` and ``"arm"``.
    cluster : str
        Column of clusters.

    Returns
    -------
    CellSums
        Groups and conditions in sorted order.

    Raises
    ------
    ValueError
        If a column cannot be used (see `helpers.data.tables`), or a cell of the table
        is empty.

    Examples
    --------
    >>> frame = pd.DataFrame({"tone": [1.0, 2, 1, 3], "quality": [2.0, 3, 2, 6],
    ...                       "system": ["A", "A", "B", "B"], "arm": ["low", "high"] * 2,
    ...                       "prompt_id": [1, 2, 1, 2]})
    >>> sums = cell_sums(frame, "tone", "quality", "system", "arm", "prompt_id")
    >>> lines = sums.lines()
    >>> lines.slope
    array([[1., 2.]])
    >>> lines.at(2.0)
    array([[3., 4.]])
    """
    check_numeric(frame, [x, y])
    check_clusters(frame, cluster)
    row, groups = pd.factorize(frame[group], sort=True)
    column, conditions = pd.factorize(frame[condition], sort=True)
    member = np.zeros((len(frame), len(groups), len(conditions), 1))
    member[np.arange(len(frame)), row, column] = 1
    empty = np.argwhere(~member.any(axis=0))
    if len(empty):
        lacking = f"{groups[empty[0, 0]]!r} and {conditions[empty[0, 1]]!r}"
        raise ValueError(f"no rows with {lacking}: leave one out")
    first, second = (frame[name].to_numpy(dtype=float) for name in (x, y))
    values = np.column_stack(
        [np.ones(len(frame)), first, second, first**2, first * second]
    )
    sums = cluster_sums(member * values[:, None, None], frame[cluster])
    return CellSums(tuple(map(str, groups)), tuple(map(str, conditions)), sums)


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
    >>> frame = pd.DataFrame({"words": [1.0, 2, 3, 4] * 5, "repetition": [0.0, 0, 1, 1] * 5,
    ...                       "prompt_id": np.arange(20)})
    >>> frame["quality"] = 5 - frame["words"] - 2 * frame["repetition"]
    >>> adjusted_slope(frame, "words", "quality", ["repetition"], "prompt_id", 99,
    ...                np.random.default_rng(0))["estimate"].round(6)
    alone       -1.8
    adjusted    -1.0
    explained   -0.8
    Name: estimate, dtype: float64
    """
    moments = cluster_moments(frame, [x, *held], outcome, cluster)
    weights = bootstrap.cluster_weights(len(moments.products), n_boot, rng)
    everything_first = bootstrap.with_everything_first(weights)
    gram, cross, _ = moments.total(everything_first).covariances()
    alone = _ratio(cross[:, 0], gram[:, 0, 0])
    adjusted = (np.linalg.pinv(gram, hermitian=True) @ cross[:, :, None])[:, 0, 0]
    slopes = np.stack([alone, adjusted, alone - adjusted], axis=1)
    table = bootstrap.summary(slopes[0], slopes[1:], ["alone", "adjusted", "explained"])
    return table.drop(columns="p_value")


def _ratio(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Quotient, NaN where the denominator is not positive."""
    undefined = np.full(numerator.shape, np.nan)
    return np.divide(numerator, denominator, out=undefined, where=denominator > 0)


def quantile_knots(values: ArrayLike, n_knots: int) -> np.ndarray:
    """Knots at evenly spaced quantiles, the outer ones near the ends of the data."""
    if n_knots < 3:
        raise ValueError(f"a curve needs at least 3 knots, got {n_knots}")
    outer = 0.1 if n_knots == 3 else 0.05 if n_knots <= 6 else 0.025
    knots = np.quantile(values, np.linspace(outer, 1 - outer, n_knots))
    if (np.diff(knots) <= 0).any():
        raise ValueError(f"the values tie too much for {n_knots} knots: take fewer")
    return knots


def natural_spline(values: ArrayLike, knots: np.ndarray) -> np.ndarray:
    """Columns that span the natural cubic splines with given knots, without the intercept."""
    span = knots[-1] - knots[0]
    scaled = (np.asarray(values, dtype=float)[:, None] - knots) / span
    cubes = np.clip(scaled, 0, None) ** 3
    last = knots[-1] - knots[-2]
    to_end, to_next = (knots[-1] - knots[:-2]) / last, (knots[-2] - knots[:-2]) / last
    bends = cubes[:, :-2] - cubes[:, [-2]] * to_end + cubes[:, [-1]] * to_next
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
        rng : numpy.random.Generator Curves to be compared need generators in the same
        state.

        Returns
        -------
        numpy.ndarray, shape (n_boot, n_points)

        Raises
        ------
        ValueError
            If a replicate does not determine the curve.
        """
        weights = bootstrap.cluster_weights(len(self.moments.products), n_boot, rng)
        return self._heights(self.moments.total(weights), at)

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
        low, high = bootstrap.simultaneous_interval(
            estimate, self.draws(at, n_boot, rng)
        )
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
        ends = np.array(list(steps.values()), dtype=float)
        heights = self.draws(ends.ravel(), n_boot, rng).reshape(n_boot, len(ends), 2)
        estimate = self.estimate(ends[:, 1]) - self.estimate(ends[:, 0])
        return bootstrap.summary(
            estimate, heights[:, :, 1] - heights[:, :, 0], list(steps)
        )

    def _heights(self, totals: ClusterMoments, at: ArrayLike) -> np.ndarray:
        """Heights of the least-squares curve of each set of sums, shape (n_sets, n_points)."""
        gram, cross, _ = totals.covariances()
        try:
            slopes = np.linalg.solve(gram, cross[:, :, None])[:, :, 0]
        except np.linalg.LinAlgError:
            raise ValueError(
                "a resample does not determine the curve: take fewer knots"
            ) from None
        basis = natural_spline(at, self.knots)
        heights = slopes[:, : basis.shape[1]] @ basis.T
        return totals.intercept(slopes)[:, None] + heights


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
    >>> curve = fit_curve(frame.assign(quality=3 + frame["words"] / 10), "words", "quality",
    ...                   "prompt_id", n_knots=3)
    >>> curve.estimate([0.0, 10.0]).round(6)
    array([3., 4.])
    """
    check_numeric(frame, [x, *held])
    knots = quantile_knots(frame[x], n_knots)
    basis = natural_spline(frame[x], knots)
    columns = {
        f"{x}, spline {number}": column for number, column in enumerate(basis.T, 1)
    }
    columns |= {name: frame[name] - frame[name].mean() for name in held}
    table = pd.DataFrame(columns, index=frame.index)
    check_full_rank(table, list(table), intercept=True)
    table = table.assign(**{outcome: frame[outcome], cluster: frame[cluster]})
    return Curve(knots, cluster_moments(table, list(columns), outcome, cluster))


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
    >>> binned_means(frame, "words", "quality", "prompt_id", 2, 9, np.random.default_rng(0))
         x  estimate  low  high
    0  1.5       2.0  2.0   2.0
    1  3.5       4.0  4.0   4.0
    """
    check_numeric(frame, [x, outcome])
    edges = np.quantile(frame[x], np.linspace(0, 1, n_bins + 1)[1:-1])
    code = np.searchsorted(np.unique(edges), frame[x], side="left")
    means = group_means(frame.assign(bin=code), [outcome], "bin", cluster, n_boot, rng)
    bins = means.loc[outcome].sort_index()
    bins.insert(0, "x", frame[x].groupby(code).median().astype(float))
    return bins.reset_index(drop=True)
