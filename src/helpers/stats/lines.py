"""Lines and smooth curves of an outcome against a covariate, by group or adjusted.

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
from helpers.stats.clustered import Estimates
from helpers.stats.groups import group_means
from helpers.stats.moments import (
    ROUNDING,
    ClusterMoments,
    cluster_moments,
    cluster_sums,
    ratio,
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
        # the axes of x come after those of the lines
        with_axes_of_x = (...,) + (np.newaxis,) * x.ndim
        mean_x = self.mean_x[with_axes_of_x]
        mean_y = self.mean_y[with_axes_of_x]
        slope = self.slope[with_axes_of_x]
        return mean_y + slope * (x - mean_x)


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
        n, x, y, _, _ = np.moveaxis(self._total(weights), -1, 0)
        return ratio(x, n), ratio(y, n)

    def ranges(self, weights: np.ndarray | None = None) -> np.ndarray:
        """Range of the conditions of each group: highest mean of x minus lowest.

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
        """Change of the mean of y from one condition to the average of all others.

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
        others = np.delete(y, start, axis=2)
        return others.mean(axis=2) - y[:, :, start]

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
        if level == "means":
            # each cell counts as one row, at its means
            x, y = self.means(weights)
            cells = np.stack([np.ones_like(x), x, y, x * x, x * y], axis=-1)
        else:
            cells = self._total(weights)
        n, x, y, xx, xy = np.moveaxis(cells.sum(axis=2), -1, 0)
        mean_x = ratio(x, n)
        mean_y = ratio(y, n)
        # sums of squares and of products of deviations from the means of a group
        squares = xx - x * mean_x
        products = xy - x * mean_y
        # What remains of a constant x is a rounding error.
        squares = np.where(squares > ROUNDING * xx, squares, 0.0)
        if parallel:
            squares = np.broadcast_to(squares.sum(axis=1, keepdims=True), squares.shape)
            products = np.broadcast_to(
                products.sum(axis=1, keepdims=True), products.shape
            )
        return Lines(mean_x, mean_y, slope=ratio(products, squares))

    def _total(self, weights: np.ndarray | None) -> np.ndarray:
        """Sums over clusters for each set."""
        if weights is None:
            weights = np.ones((1, len(self.sums)))
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
        If a column cannot be used (see `helpers.stats.checks`), or a cell of the table
        is empty.

    Examples
    --------
    >>> frame = pd.DataFrame({"tone": [1.0, 2, 1, 3], "quality": [2.0, 3, 2, 6],
    ...                       "system": ["A", "A", "B", "B"],
    ...                       "arm": ["low", "high", "low", "high"],
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
    n_rows = len(frame)
    group_codes, groups = pd.factorize(frame[group], sort=True)
    condition_codes, conditions = pd.factorize(frame[condition], sort=True)
    # 1 in the cell of each row
    is_member = np.zeros((n_rows, len(groups), len(conditions), 1))
    is_member[np.arange(n_rows), group_codes, condition_codes] = 1
    empty = np.argwhere(~is_member.any(axis=0))
    if len(empty):
        group_number, condition_number, _ = empty[0]
        raise ValueError(
            f"no rows with {groups[group_number]!r} and "
            f"{conditions[condition_number]!r}: leave one out"
        )
    x_values = frame[x].to_numpy(dtype=float)
    y_values = frame[y].to_numpy(dtype=float)
    values = np.column_stack(
        [np.ones(n_rows), x_values, y_values, x_values**2, x_values * y_values]
    )
    sums = cluster_sums(is_member * values[:, None, None], frame[cluster])
    group_names = tuple(str(name) for name in groups)
    condition_names = tuple(str(name) for name in conditions)
    return CellSums(group_names, condition_names, sums)


def slopes_of_ratings(
    x: pd.DataFrame, y: pd.DataFrame, group: str
) -> tuple[Estimates, pd.DataFrame]:
    """Slopes of means by one group of people on means by another, and their clusters.

    Answers have the mean of their ratings, and groups of answers the mean of their
    answers. Every rating has its influence on a slope, so that intervals allow for
    other raters and for other prompts. To first order: that means of few ratings make a
    slope flatter is not taken off.

    Parameters
    ----------
    x, y : pandas.DataFrame
        One row per answer and rater: ``item_id``, ``prompt_id``, ``rater_id``, the
        group of the answer (in `x`) and ``rating``. All answers are in both; a rater of
        `x` is another person than one of `y`.
    group : str
        Column of groups.

    Returns
    -------
    slopes : helpers.stats.clustered.Estimates
        ``means``, over the means of groups, each counting the same; ``items``, over
        single answers; ``within``, over single answers within groups. NaN where x does
        not vary.
    clusters : pandas.DataFrame
        ``rater_id`` and ``prompt_id`` of each row, for `Estimates.table`.

    Raises
    ------
    ValueError
        If a column cannot be used or answers differ.

    References
    ----------
    Hampel (1974) for the influence function; Cameron, Gelbach and Miller (2011), Robust
    Inference with Multiway Clustering.

    Examples
    --------
    >>> answer = np.repeat(np.arange(12), 2)
    >>> tone = pd.DataFrame({"item_id": answer, "prompt_id": answer // 2,
    ...                      "rater_id": np.arange(24) % 7, "system": answer % 3,
    ...                      "rating": 1.0 + answer % 3 + np.arange(24) % 7})
    >>> score = tone.assign(rating=2 * tone["rating"] + np.arange(24) % 5)
    >>> slopes, clusters = slopes_of_ratings(tone, score, "system")
    >>> slopes.table(clusters)[["estimate", "standard_error"]].round(2)
            estimate  standard_error
    means       1.77            0.80
    items       2.05            0.21
    within      2.18            0.43
    """
    for table in (x, y):
        check_numeric(table, ["rating"])
    item, items = pd.factorize(x["item_id"], sort=True)
    item_y = items.get_indexer(y["item_id"])
    if (item_y < 0).any() or len(np.unique(item_y)) < len(items):
        raise ValueError("answers rated by one group are not those rated by the other")
    group_of_item = x.groupby(item)[group].first()
    in_group, _ = pd.factorize(group_of_item, sort=True)
    x_rating = x["rating"].to_numpy(dtype=float)
    y_rating = y["rating"].to_numpy(dtype=float)
    n_x = np.bincount(item)
    n_y = np.bincount(item_y)
    x_item = np.bincount(item, x_rating) / n_x
    y_item = np.bincount(item_y, y_rating) / n_y
    size = np.bincount(in_group)
    x_group = np.bincount(in_group, x_item) / size
    y_group = np.bincount(in_group, y_item) / size

    values = {}
    influence = {}
    for name, x_mean, y_mean in [
        ("means", x_group, y_group),
        ("items", x_item, y_item),
        ("within", x_item - x_group[in_group], y_item - y_group[in_group]),
    ]:
        x_centred = x_mean - x_mean.mean()
        squares = (x_centred**2).sum()
        # What remains of a constant x is a rounding error.
        if squares <= ROUNDING * (x_rating**2).sum():
            squares = np.nan
        slope = (x_centred * y_mean).sum() / squares
        residual = y_mean - y_mean.mean() - slope * x_centred
        # what one more unit of a mean does to the slope
        by_y = x_centred / squares
        by_x = (residual - slope * x_centred) / squares
        if name == "means":
            by_y = (by_y / size)[in_group]
            by_x = (by_x / size)[in_group]
            of_item = by_x * (x_item - x_group[in_group])
            of_item = of_item + by_y * (y_item - y_group[in_group])
        else:
            of_item = x_centred * residual / squares
        # a rating has a share in its answer's influence, and its own on the mean
        share = of_item / (n_x + n_y)
        own_x = (by_x / n_x)[item] * (x_rating - x_item[item])
        own_y = (by_y / n_y)[item_y] * (y_rating - y_item[item_y])
        values[name] = slope
        influence[name] = np.concatenate([share[item] + own_x, share[item_y] + own_y])
    both = pd.concat({"x": x, "y": y}, names=["whose"]).reset_index("whose")
    rater = both["whose"] + " " + both["rater_id"].astype(str)
    clusters = both[["prompt_id"]].assign(rater_id=rater).reset_index(drop=True)
    value = pd.Series(values)
    return Estimates(value, np.column_stack(list(influence.values()))), clusters


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
