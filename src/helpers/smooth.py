"""Smooth curves of an outcome against a covariate, with bands that hold for the whole curve.

A curve is a natural cubic spline: cubic between its knots, straight beyond the outer ones, where
data are thin. It is a linear model, so the sums within clusters are all that a bootstrap needs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from helpers import resampling
from helpers.files.tables import check_full_rank, check_numeric
from helpers.moments import ClusterMoments, cluster_moments


def quantile_knots(values: ArrayLike, n_knots: int) -> np.ndarray:
    """Knots at evenly spaced quantiles, the outer ones near the ends of the data.

    Parameters
    ----------
    values : array-like, shape (n_rows,)
        The covariate.
    n_knots : int
        Number of knots, at least 3.

    Returns
    -------
    numpy.ndarray, shape (n_knots,)
        The outer knots are the 10 % and 90 % quantiles for three knots, 5 % and 95 % for four to
        six, and 2.5 % and 97.5 % for more.

    Raises
    ------
    ValueError
        If there are fewer than three knots, or the values tie so much that two knots coincide.

    References
    ----------
    Harrell (2015), Regression Modeling Strategies, section 2.4.6.

    Examples
    --------
    >>> quantile_knots(np.arange(101), 5).round(1).tolist()
    [5.0, 27.5, 50.0, 72.5, 95.0]
    """
    if n_knots < 3:
        raise ValueError(f"a curve needs at least 3 knots, got {n_knots}")
    outer = 0.1 if n_knots == 3 else 0.05 if n_knots <= 6 else 0.025
    knots = np.quantile(values, np.linspace(outer, 1 - outer, n_knots))
    if (np.diff(knots) <= 0).any():
        raise ValueError(f"the values tie too much for {n_knots} knots: take fewer")
    return knots


def natural_spline(values: ArrayLike, knots: np.ndarray) -> np.ndarray:
    """Columns that span the natural cubic splines with given knots, without the intercept.

    Parameters
    ----------
    values : array-like, shape (n_rows,)
        The covariate.
    knots : numpy.ndarray, shape (n_knots,)
        Knots in increasing order.

    Returns
    -------
    numpy.ndarray, shape (n_rows, n_knots - 1)
        The first column is the covariate itself, scaled so that the outer knots are 0 and 1.

    References
    ----------
    Harrell (2015), Regression Modeling Strategies, section 2.4.5.

    Examples
    --------
    >>> natural_spline([0.0, 1.0, 2.0, 3.0], np.array([0.0, 1.0, 2.0]))
    array([[0.   , 0.   ],
           [0.5  , 0.125],
           [1.   , 0.75 ],
           [1.5  , 1.5  ]])
    """
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
        Sums within clusters of the spline columns, the centred columns held constant, and the
        outcome.
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
            Source of randomness. Curves to be compared need generators in the same state.

        Returns
        -------
        numpy.ndarray, shape (n_boot, n_points)

        Raises
        ------
        ValueError
            If a replicate does not determine the curve.
        """
        weights = resampling.cluster_weights(len(self.moments.products), n_boot, rng)
        return self._heights(self.moments.total(weights), at)

    def band(self, at: ArrayLike, n_boot: int, rng: np.random.Generator) -> pd.DataFrame:
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
        low, high = resampling.simultaneous_interval(estimate, self.draws(at, n_boot, rng))
        return pd.DataFrame({"x": at, "estimate": estimate, "low": low, "high": high})

    def changes(
        self, steps: Mapping[str, tuple[float, float]], n_boot: int, rng: np.random.Generator
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
            A row per step: ``estimate``, 95 % percentile interval ``low`` and ``high``, and a
            two-sided bootstrap ``p_value``.
        """
        ends = np.array(list(steps.values()), dtype=float)
        heights = self.draws(ends.ravel(), n_boot, rng).reshape(n_boot, len(ends), 2)
        draws = heights[:, :, 1] - heights[:, :, 0]
        low, high = resampling.interval(draws)
        return pd.DataFrame(
            {
                "estimate": self.estimate(ends[:, 1]) - self.estimate(ends[:, 0]),
                "low": low,
                "high": high,
                "p_value": resampling.bootstrap_p_value(draws),
            },
            index=list(steps),
        )

    def _heights(self, totals: ClusterMoments, at: ArrayLike) -> np.ndarray:
        """Heights of the least-squares curve of each set of sums, shape (n_sets, n_points)."""
        gram, cross, _ = totals.covariances()
        try:
            slopes = np.linalg.solve(gram, cross[:, :, None])[:, :, 0]
        except np.linalg.LinAlgError:
            raise ValueError("a resample does not determine the curve: take fewer knots") from None
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
        If a column cannot be used (see `helpers.files.tables.check_regression`) or a held column is
        redundant, or the knots cannot be placed.

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
    columns = {f"{x}, spline {number}": column for number, column in enumerate(basis.T, 1)}
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
        Source of randomness.

    Returns
    -------
    pandas.DataFrame
        A row per bin: ``x`` (median of the covariate), ``n``, ``estimate``, and the 95 %
        percentile interval ``low`` and ``high``.

    Raises
    ------
    ValueError
        If there are fewer than two bins, a column is unknown or not numeric, or there are fewer
        than two clusters.

    Examples
    --------
    >>> frame = pd.DataFrame({"words": [1, 2, 3, 4], "quality": [2.0, 2, 4, 4],
    ...                       "prompt_id": [1, 2, 1, 2]})
    >>> binned_means(frame, "words", "quality", "prompt_id", 2, 9, np.random.default_rng(0))
         x  n  estimate  low  high
    0  1.5  2       2.0  2.0   2.0
    1  3.5  2       4.0  4.0   4.0
    """
    if n_bins < 2:
        raise ValueError(f"binning needs at least 2 bins, got {n_bins}")
    check_numeric(frame, [x, outcome])
    edges = np.quantile(frame[x], np.linspace(0, 1, n_bins + 1)[1:-1])
    code = np.searchsorted(np.unique(edges), frame[x], side="left")
    bins = pd.Series(code, index=frame.index)
    columns = {f"bin {each}": frame[outcome].where(bins == each) for each in sorted(set(code))}
    table = pd.DataFrame(columns).assign(**{cluster: frame[cluster]})
    low, high = resampling.interval(
        resampling.bootstrap_means(table, list(columns), cluster, n_boot, rng)
    )
    groups = frame.groupby(bins)
    return pd.DataFrame(
        {
            "x": groups[x].median().to_numpy(dtype=float),
            "n": groups.size().to_numpy(),
            "estimate": groups[outcome].mean().to_numpy(),
            "low": low,
            "high": high,
        }
    )
