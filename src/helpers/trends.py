"""Straight lines: one for each group, through items or through group means, and adjusted slopes.

Lines are fitted to sums within clusters, so a bootstrap of clusters refits thousands at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from helpers import resampling
from helpers.files.tables import check_clusters, check_numeric
from helpers.moments import ROUNDING, cluster_moments, cluster_sums

LEVELS = ("items", "means")


@dataclass(frozen=True, eq=False)
class Lines:
    """A straight line for each group, in each of several sets of data.

    Parameters
    ----------
    groups : tuple of str
        Names of the groups.
    mean_x, mean_y, slope : numpy.ndarray, shape (n_sets, n_groups)
        The point that each line runs through, and its slope.
    """

    groups: tuple[str, ...]
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
            How often each cluster counts in each set; by default one set counts each once.

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

        Raises
        ------
        ValueError
            If there is no such condition.
        """
        if reference not in self.conditions:
            raise ValueError(f"no condition {reference!r}: choose one of {self.conditions}")
        _, y = self.means(weights)
        start = self.conditions.index(reference)
        return np.delete(y, start, axis=2).mean(axis=2) - y[:, :, start]

    def lines(
        self, weights: np.ndarray | None = None, level: str = "items", parallel: bool = False
    ) -> Lines:
        """Least-squares lines of y on x, one for each group.

        Parameters
        ----------
        weights : numpy.ndarray, shape (n_sets, n_clusters), optional
            As for `means`.
        level : {"items", "means"}, optional
            Whether a line is fitted to a group's rows, or to its means in each condition.
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
        Hosking et al. (2024), Figure 6 (lines by system); Huitema (2011), The Analysis of
        Covariance and Alternatives (one slope within groups).
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
        return Lines(self.groups, mean_x, mean_y, _ratio(shared, spread))

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
        If a column cannot be used (see `helpers.files.tables`), or a cell of the table is empty.

    Examples
    --------
    >>> frame = pd.DataFrame({"tone": [1.0, 2, 1, 3], "quality": [2.0, 3, 2, 6],
    ...                       "system": ["A", "A", "B", "B"], "arm": ["low", "high"] * 2,
    ...                       "prompt_id": [1, 2, 1, 2]})
    >>> sums = cell_sums(frame, "tone", "quality", "system", "arm", "prompt_id")
    >>> lines = sums.lines()
    >>> lines.groups, lines.slope
    (('A', 'B'), array([[1., 2.]]))
    >>> lines.at(2.0)
    array([[3., 4.]])
    """
    check_numeric(frame, [x, y])
    check_clusters(frame, cluster)
    codes, names = zip(
        *(pd.factorize(frame[column], sort=True) for column in (group, condition)), strict=True
    )
    shape = tuple(map(len, names))
    cell = np.ravel_multi_index(codes, shape)
    empty = np.setdiff1d(np.arange(np.prod(shape)), cell)
    if len(empty):
        row, column = np.unravel_index(empty[0], shape)
        raise ValueError(f"no rows with {names[0][row]!r} and {names[1][column]!r}: leave one out")
    first, second = (frame[column].to_numpy(dtype=float) for column in (x, y))
    values = np.column_stack([np.ones(len(frame)), first, second, first**2, first * second])
    placed = np.zeros((len(frame), int(np.prod(shape)), 5))
    placed[np.arange(len(frame)), cell] = values
    sums = cluster_sums(placed, frame[cluster]).reshape(-1, *shape, 5)
    return CellSums(*(tuple(map(str, each)) for each in names), sums)


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
        Source of randomness.

    Returns
    -------
    pandas.DataFrame
        Rows ``"alone"``, ``"adjusted"`` and ``"explained"`` (alone minus adjusted); ``estimate``
        and 95 % percentile interval ``low`` and ``high``.

    Raises
    ------
    ValueError
        If a column cannot be used (see `helpers.files.tables.check_regression`).

    References
    ----------
    MacKinnon (2008), Introduction to Statistical Mediation Analysis, chapter 3 (difference in
    coefficients).

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
    weights = resampling.cluster_weights(len(moments.products), n_boot, rng)
    slopes = []
    for total in (moments.total(), moments.total(weights)):
        gram, cross, _ = total.covariances()
        alone = _ratio(cross[:, 0], gram[:, 0, 0])
        adjusted = (np.linalg.pinv(gram, hermitian=True) @ cross[:, :, None])[:, 0, 0]
        slopes.append(np.stack([alone, adjusted, alone - adjusted], axis=1))
    low, high = resampling.interval(slopes[1])
    return pd.DataFrame(
        {"estimate": slopes[0][0], "low": low, "high": high},
        index=["alone", "adjusted", "explained"],
    )


def _ratio(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Quotient, NaN where the denominator is not positive."""
    return np.divide(
        numerator,
        denominator,
        out=np.full(np.shape(numerator), np.nan),
        where=denominator > 0,
    )
