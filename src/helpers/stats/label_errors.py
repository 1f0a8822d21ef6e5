"""Marks by several raters as repeated measurements of what a response is like.

Each response has for each error a *propensity*, the share of all raters who would mark
it. One mark, or the mean of a few, measures it with error. Two raters of a response err
independently of each other, so that the covariance of their marks is that of the
propensities. From it follow how reliable marks are, and what a score loses with the
propensity (regression calibration). Marks by one rater of two errors are never used
together, so that a rater's mood, which moves both, falls out.

All is computed from sums within clusters, of which any resample is a weighted sum.

References
----------
Carroll, Ruppert, Stefanski and Crainiceanu (2006), Measurement Error in Nonlinear
Models, chapter 4; Fuller (1987), Measurement Error Models, chapters 1 and 2.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.linalg import eigh

from helpers.stats.bootstrap import (
    cluster_weights,
    first_with_interval,
    with_everything_first,
)
from helpers.stats.checks import check_clusters, check_numeric
from helpers.stats.moments import cluster_sums, ratio

# A correction multiplies by up to 1 / reliability: a smallest reliability that may be
# below this says too little (fixed before any was computed on real data).
LEAST_RELIABILITY = 0.1
ONE_MARK = "one mark"
MEAN = "mean of its raters"


@dataclass(frozen=True, eq=False)
class MarkMoments:
    """Sums over items of what marks and scores of an item have in common.

    Made by `mark_moments`.

    Parameters
    ----------
    errors : tuple of str
        Names of the errors.
    n_items : numpy.ndarray, shape (n_sets,)
        Items of each set: a cluster, or a resample of clusters.
    marks : numpy.ndarray, shape (n_sets, n_errors)
        Sums of the mean mark of each item.
    squares : numpy.ndarray, shape (n_sets, n_errors)
        Sums of the mean squared mark.
    means : numpy.ndarray, shape (n_sets, n_errors, n_errors)
        Sums of products of two mean marks.
    pairs : numpy.ndarray, shape (n_sets, n_errors, n_errors)
        Sums of the mean product of marks by two different raters.
    scores : numpy.ndarray, shape (n_sets,)
        Sums of the mean score of each item.
    with_score : numpy.ndarray, shape (n_sets, n_errors)
        Sums of mean mark times mean score.
    """

    errors: tuple[str, ...]
    n_items: np.ndarray
    marks: np.ndarray
    squares: np.ndarray
    means: np.ndarray
    pairs: np.ndarray
    scores: np.ndarray
    with_score: np.ndarray

    def total(self, weights: np.ndarray | None = None) -> "MarkMoments":
        """Add up sets.

        Parameters
        ----------
        weights : numpy.ndarray, shape (n_totals, n_sets), optional
            How often each set counts in each total; by default one total counts each
            set once.

        Returns
        -------
        MarkMoments
        """
        if weights is None:
            weights = np.ones((1, len(self.n_items)))

        def add(sums: np.ndarray) -> np.ndarray:
            return np.tensordot(weights, sums, axes=1)

        return MarkMoments(
            errors=self.errors,
            n_items=add(self.n_items),
            marks=add(self.marks),
            squares=add(self.squares),
            means=add(self.means),
            pairs=add(self.pairs),
            scores=add(self.scores),
            with_score=add(self.with_score),
        )

    def pick(self, errors: Sequence[str]) -> "MarkMoments":
        """Keep some of the errors.

        Parameters
        ----------
        errors : sequence of str
            Among those of `errors`.

        Returns
        -------
        MarkMoments
        """
        place = [self.errors.index(error) for error in errors]
        both = np.ix_(range(len(self.n_items)), place, place)
        return MarkMoments(
            errors=tuple(errors),
            n_items=self.n_items,
            marks=self.marks[:, place],
            squares=self.squares[:, place],
            means=self.means[both],
            pairs=self.pairs[both],
            scores=self.scores,
            with_score=self.with_score[:, place],
        )

    def propensity_covariance(self) -> np.ndarray:
        """Covariance of propensities, from marks by different raters of an item.

        Returns
        -------
        numpy.ndarray, shape (n_sets, n_errors, n_errors)
            It need not be a covariance matrix: it may have negative eigenvalues.
        """
        return self._less_means(self.pairs)

    def label_covariance(self) -> np.ndarray:
        """Covariance of mean marks.

        Returns
        -------
        numpy.ndarray, shape (n_sets, n_errors, n_errors)
        """
        return self._less_means(self.means)

    def score_covariance(self) -> np.ndarray:
        """Covariance of mean marks with the score.

        Returns
        -------
        numpy.ndarray, shape (n_sets, n_errors)
        """
        share = self.marks / self.n_items[:, None]
        mean_score = self.scores / self.n_items
        products = self.with_score / self.n_items[:, None]
        return products - share * mean_score[:, None]

    def _less_means(self, products: np.ndarray) -> np.ndarray:
        """Mean products less products of means."""
        share = self.marks / self.n_items[:, None]
        mean_products = products / self.n_items[:, None, None]
        return mean_products - share[:, :, None] * share[:, None, :]


def mark_moments(
    marks: pd.DataFrame,
    errors: Sequence[str],
    item: str,
    cluster: str,
    score: str | None = None,
) -> MarkMoments:
    """Reduce single marks to sums within clusters.

    Parameters
    ----------
    marks : pandas.DataFrame
        One row per item and rater.
    errors : sequence of str
        Columns of marks, such as 0 and 1.
    item, cluster : str
        Columns of items and of clusters of whole items.
    score : str, optional
        Column of a score of the item by other people, the same in each of its rows.

    Returns
    -------
    MarkMoments
        A set per cluster, in sorted order of their labels.

    Raises
    ------
    ValueError
        If a column cannot be used, or an item has one row only.

    Examples
    --------
    >>> marks = pd.DataFrame({"item_id": [1, 1, 2, 2],
    ...                       "prompt_id": ["a", "a", "b", "b"],
    ...                       "refusal": [1, 1, 0, 1]})
    >>> moments = mark_moments(marks, ["refusal"], "item_id", "prompt_id")
    >>> moments.total().pairs.squeeze()
    array(1.)
    """
    errors = list(errors)
    check_numeric(marks, errors if score is None else [*errors, score])
    check_clusters(marks, cluster)
    items = marks.groupby(item, sort=True)
    size = items.size().to_numpy()
    if size.min() < 2:
        few = items.size().idxmin()
        raise ValueError(
            f"{item} {few} has marks by one rater only: what two raters of an item "
            "have in common cannot be told; leave such items out"
        )
    values = marks[errors].to_numpy(dtype=float)
    own_products = values[:, :, None] * values[:, None, :]
    sums = cluster_sums(values, marks[item])
    sums_of_products = cluster_sums(own_products, marks[item])
    products_of_sums = sums[:, :, None] * sums[:, None, :]
    # ordered pairs of two different raters
    n_pairs = (size * (size - 1))[:, None, None]
    pairs = (products_of_sums - sums_of_products) / n_pairs
    mean = sums / size[:, None]
    squares = np.einsum("ijj->ij", sums_of_products) / size[:, None]
    scores = np.zeros(len(size))
    if score is not None:
        scores = items[score].mean().to_numpy(dtype=float)
    of_item = items[cluster].first()
    return MarkMoments(
        errors=tuple(errors),
        n_items=cluster_sums(np.ones(len(size)), of_item),
        marks=cluster_sums(mean, of_item),
        squares=cluster_sums(squares, of_item),
        means=cluster_sums(mean[:, :, None] * mean[:, None, :], of_item),
        pairs=cluster_sums(pairs, of_item),
        scores=cluster_sums(scores, of_item),
        with_score=cluster_sums(mean * scores[:, None], of_item),
    )


def reliabilities(moments: MarkMoments) -> tuple[np.ndarray, np.ndarray]:
    """Reliability of one mark, and of the mean of an item's raters.

    Reliability is the share of the variance of marks that is variance of propensities.
    That of one mark is the intraclass correlation, of the mean its counterpart by
    Spearman and Brown; here it is computed directly, as items may have different
    numbers of raters.

    Parameters
    ----------
    moments : MarkMoments
        Sets, such as resamples.

    Returns
    -------
    one_mark, mean : numpy.ndarray, shape (n_sets, n_errors)
        NaN where marks do not vary.

    References
    ----------
    Shrout and Fleiss (1979), Intraclass Correlations, case 1.

    Examples
    --------
    Two raters agree on three items of four.

    >>> marks = pd.DataFrame({"item_id": [1, 1, 2, 2, 3, 3, 4, 4],
    ...                       "refusal": [1, 1, 0, 1, 0, 0, 0, 0]})
    >>> totals = mark_moments(marks, ["refusal"], "item_id", "item_id").total()
    >>> one, mean = reliabilities(totals)
    >>> one.round(2), mean.round(2)
    (array([[0.47]]), array([[0.64]]))
    """
    true_variance = np.einsum("sii->si", moments.propensity_covariance())
    mean_variance = np.einsum("sii->si", moments.label_covariance())
    share = moments.marks / moments.n_items[:, None]
    mark_variance = moments.squares / moments.n_items[:, None] - share**2
    return ratio(true_variance, mark_variance), ratio(true_variance, mean_variance)


def smallest_reliability(moments: MarkMoments) -> np.ndarray:
    """Reliability of the least reliable weighted sum of mean marks.

    The smallest eigenvalue of the reliability matrix, the covariance of propensities in
    units of that of mean marks. If it is near zero or below, some weighted sum of the
    errors cannot be told from noise, and costs of single errors are not identified.

    Parameters
    ----------
    moments : MarkMoments
        Sets, such as resamples.

    Returns
    -------
    numpy.ndarray, shape (n_sets,)
        NaN where mean marks do not vary or are combinations of each other.

    References
    ----------
    Fuller (1987), Measurement Error Models, sections 1.1 and 2.2.

    Examples
    --------
    >>> marks = pd.DataFrame({"item_id": [1, 1, 2, 2, 3, 3, 4, 4],
    ...                       "refusal": [1, 1, 0, 1, 0, 0, 0, 0]})
    >>> totals = mark_moments(marks, ["refusal"], "item_id", "item_id").total()
    >>> smallest_reliability(totals).round(2)
    array([0.64])
    """
    true = moments.propensity_covariance()
    of_labels = moments.label_covariance()
    smallest = np.full(len(true), np.nan)
    for number in range(len(true)):
        try:
            values = eigh(true[number], of_labels[number], eigvals_only=True)
        except np.linalg.LinAlgError:  # labels that do not vary on their own
            continue
        smallest[number] = values[0]
    return smallest


def calibrated_losses(moments: MarkMoments) -> np.ndarray:
    """Points lost from a response that nobody would mark to one that everybody would.

    Least squares of the score on the propensities, which nobody has seen: their
    covariance is that of marks by different raters, and their covariance with the
    score is that of mean marks.

    Parameters
    ----------
    moments : MarkMoments
        Sets, such as resamples, with scores.

    Returns
    -------
    numpy.ndarray, shape (n_sets, n_errors)
        Whether they can be told is another question (see `smallest_reliability`).

    References
    ----------
    Carroll et al. (2006), section 4.4.2 (replicate data); Fuller (1987), section 2.2.

    Examples
    --------
    The mean of two marks has a reliability of 0.64, so that 2.0 points by the mean
    become 3.1.

    >>> marks = pd.DataFrame({"item_id": [1, 1, 2, 2, 3, 3, 4, 4],
    ...                       "refusal": [1, 1, 0, 1, 0, 0, 0, 0],
    ...                       "score": [3, 3, 4, 4, 5, 5, 5, 5]})
    >>> moments = mark_moments(marks, ["refusal"], "item_id", "item_id", "score")
    >>> calibrated_losses(moments.total()).round(1)
    array([[3.1]])
    """
    true = moments.propensity_covariance()
    with_score = moments.score_covariance()
    losses = np.full(with_score.shape, np.nan)
    solvable = np.abs(np.linalg.det(true)) > 0
    solved = np.linalg.solve(true[solvable], with_score[solvable][:, :, None])
    losses[solvable] = -solved[:, :, 0]
    return losses


def reliability_table(
    moments: MarkMoments, n_boot: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Reliability of one mark and of the mean of its raters, clusters resampled.

    Parameters
    ----------
    moments : MarkMoments
        A set per cluster.
    n_boot : int
        Number of bootstrap replicates.
    rng : numpy.random.Generator

    Returns
    -------
    pandas.DataFrame
        ``estimate``, ``low`` and ``high``, indexed by ``error`` and ``of`` (`ONE_MARK`,
        `MEAN`).

    Examples
    --------
    >>> marks = pd.DataFrame({"item_id": [1, 1, 2, 2] * 9, "refusal": [1, 1, 0, 1] * 9})
    >>> marks["item_id"] += 2 * (np.arange(36) // 4)
    >>> moments = mark_moments(marks, ["refusal"], "item_id", "item_id")
    >>> table = reliability_table(moments, 99, np.random.default_rng(0))
    >>> table["estimate"].round(2).tolist()
    [-0.33, -1.0]
    """
    totals = _resampled(moments, n_boot, rng)
    one, mean = reliabilities(totals)
    parts = {}
    for name, draws in {ONE_MARK: one, MEAN: mean}.items():
        parts[name] = first_with_interval(draws, moments.errors)
    table = pd.concat(parts, names=["of", "error"])
    return table.swaplevel().sort_index(level="error", sort_remaining=False)


def calibration_table(
    moments: MarkMoments, n_boot: int, rng: np.random.Generator
) -> tuple[pd.DataFrame, pd.Series]:
    """Losses by propensities, and whether they can be told, clusters resampled.

    Parameters
    ----------
    moments : MarkMoments
        A set per cluster, with scores.
    n_boot : int
        Number of bootstrap replicates.
    rng : numpy.random.Generator

    Returns
    -------
    losses : pandas.DataFrame
        ``estimate``, ``low`` and ``high`` for each error, as `calibrated_losses`. They
        are NaN unless the lower end of the smallest reliability is above
        `LEAST_RELIABILITY`.
    smallest : pandas.Series
        ``estimate``, ``low`` and ``high`` of `smallest_reliability`.

    Examples
    --------
    >>> marks = pd.DataFrame({"item_id": [1, 1, 2, 2] * 9, "refusal": [1, 1, 0, 0] * 9})
    >>> marks["item_id"] += 2 * (np.arange(36) // 4)
    >>> marks["score"] = 5 - 2 * marks["refusal"]
    >>> moments = mark_moments(marks, ["refusal"], "item_id", "item_id", "score")
    >>> losses, smallest = calibration_table(moments, 99, np.random.default_rng(0))
    >>> losses.loc["refusal"].round(2).tolist(), float(round(smallest["low"], 2))
    ([2.0, 2.0, 2.0], 1.0)
    """
    totals = _resampled(moments, n_boot, rng)
    of_totals = smallest_reliability(totals)[:, None]
    smallest = first_with_interval(of_totals, ["smallest"]).loc["smallest"]
    losses = first_with_interval(calibrated_losses(totals), moments.errors)
    if not smallest["low"] > LEAST_RELIABILITY:
        losses[:] = np.nan
    return losses, smallest


def _resampled(
    moments: MarkMoments, n_boot: int, rng: np.random.Generator
) -> MarkMoments:
    """All clusters once, then resamples of them."""
    weights = cluster_weights(len(moments.n_items), n_boot, rng)
    return moments.total(with_everything_first(weights))
