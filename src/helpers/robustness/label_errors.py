"""What an error costs by different labels, and by a model in which labels err.

Labels of the same errors by other people, or combined in another way, give other costs:
`label_costs` computes them from a table of labels and scores. `class_losses` takes a
further step: each error is there or not, raters mark it with one probability if it is
there and with another if it is not, independently of each other (latent classes, the
model of Dawid and Skene with raters of one kind). From the marks follow these
probabilities, and from them what an error costs that is there, marked or not.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from helpers.robustness.study_model import (
    STRONGEST,
    excess_probability,
    liability_correlations,
    pair_correlations,
)
from helpers.stats.bootstrap import (
    cluster_weights,
    first_with_interval,
    with_everything_first,
)
from helpers.stats.clustered import (
    FEWEST_INFORMATIVE,
    Slopes,
    informative_clusters,
    least_squares,
    slopes,
)
from helpers.stats.label_errors import MarkMoments
from helpers.stats.moments import cluster_sums

STEPS = 5000
TOLERANCE = 1e-6  # largest change of a probability in the last step


def label_costs(
    rows: pd.DataFrame, errors: Sequence[str], score: str, clusters: Sequence[str]
) -> pd.DataFrame:
    """Points lost with each label, the others held equal, by least squares.

    Parameters
    ----------
    rows : pandas.DataFrame
        One row per response, or per response and rater.
    errors : sequence of str
        Columns of labels. One that does not vary is left out.
    score : str
        Column of scores.
    clusters : sequence of str
        One or two columns; the first is what a label must vary in.

    Returns
    -------
    pandas.DataFrame
        As `helpers.stats.clustered.least_squares` for one column of clusters and as
        `Slopes.table` for two, a row for each error, with ``varies``, the number of
        first clusters in which its label is anything but its most frequent value. If
        these are fewer than `FEWEST_INFORMATIVE`, all else is NaN: the error is held
        equal for the others, but its own cost is not known.

    Examples
    --------
    >>> rows = pd.DataFrame({"refusal": [0, 1] * 12, "score": [5, 3] * 12,
    ...                      "prompt_id": range(24)})
    >>> costs = label_costs(rows, ["refusal"], "score", ["prompt_id"])
    >>> costs[["estimate", "varies"]]
             estimate  varies
    refusal       2.0      12
    """
    varying = _varying(rows, errors)
    if len(clusters) == 1:
        lost = rows[[*varying, clusters[0]]].assign(lost=-rows[score])
        table = least_squares(lost, varying, "lost", clusters[0]).loc[varying]
    else:
        table = _fitted(rows, errors, score).table(rows[list(clusters)])
    varies = informative_clusters(rows, varying, clusters[0])
    table[varies < FEWEST_INFORMATIVE] = np.nan
    return table.assign(varies=varies).reindex(list(errors))


def _varying(rows: pd.DataFrame, errors: Sequence[str]) -> list[str]:
    """Errors of which not all labels are the same."""
    return [error for error in errors if rows[error].min() < rows[error].max()]


def _fitted(rows: pd.DataFrame, errors: Sequence[str], score: str) -> Slopes:
    """Least squares of points lost on the labels that vary."""
    varying = _varying(rows, errors)
    labels = rows[varying] - rows[varying].mean()
    lost = rows[score].mean() - rows[score]
    return slopes(labels.to_numpy(dtype=float), lost, varying)


@dataclass(frozen=True, eq=False)
class MarkPatterns:
    """How many items have so many marks of so many raters.

    Made by `mark_patterns`.

    Parameters
    ----------
    marked, size : numpy.ndarray, shape (n_patterns,)
        Raters who mark an item, and raters of it.
    counts : numpy.ndarray, shape (n_sets, n_errors, n_patterns)
        Items of each set with each pattern.
    """

    marked: np.ndarray
    size: np.ndarray
    counts: np.ndarray

    def total(self, weights: np.ndarray) -> "MarkPatterns":
        """Add up sets, each as often as the rows of `weights` say.

        Parameters
        ----------
        weights : numpy.ndarray, shape (n_totals, n_sets)
            How often each set counts in each total.

        Returns
        -------
        MarkPatterns
        """
        counts = np.tensordot(weights, self.counts, axes=1)
        return MarkPatterns(self.marked, self.size, counts)


def mark_patterns(
    marks: pd.DataFrame, errors: Sequence[str], item: str, cluster: str
) -> MarkPatterns:
    """Count patterns of marks within clusters.

    Parameters
    ----------
    marks : pandas.DataFrame
        One row per item and rater.
    errors : sequence of str
        Columns of marks, 0 or 1.
    item, cluster : str
        Columns of items and of clusters of whole items.

    Returns
    -------
    MarkPatterns
        A set per cluster, in sorted order of their labels.

    Examples
    --------
    >>> marks = pd.DataFrame({"item_id": [1, 1, 2, 2], "prompt_id": 0})
    >>> marks["refusal"] = [1, 1, 0, 1]
    >>> patterns = mark_patterns(marks, ["refusal"], "item_id", "prompt_id")
    >>> patterns.marked, patterns.size, patterns.counts
    (array([0, 1, 2]), array([2, 2, 2]), array([[[0., 1., 1.]]]))
    """
    items = marks.groupby(item, sort=True)
    marked = items[list(errors)].sum().to_numpy(dtype=int)
    size = items.size().to_numpy()
    sizes = np.unique(size)
    of_size = [np.arange(number + 1) for number in sizes]
    all_marked = np.concatenate(of_size)
    all_size = np.repeat(sizes, sizes + 1)
    same_size = size[:, None, None] == all_size
    has_pattern = same_size & (marked[:, :, None] == all_marked)
    counts = cluster_sums(has_pattern.astype(float), items[cluster].first())
    return MarkPatterns(all_marked, all_size, counts)


def class_probabilities(
    patterns: MarkPatterns,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Fit latent classes to each set and error by maximum likelihood.

    Parameters
    ----------
    patterns : MarkPatterns
        Sets, such as resamples.

    Returns
    -------
    prevalence, sensitivity, false_alarms : numpy.ndarray, shape (n_sets, n_errors)
        How often the error is there, and how often it is marked where it is and where
        it is not. NaN if they still change after `STEPS` steps.

    Notes
    -----
    The steps of `helpers.robustness.crowd.fit_classes`, for many resamples at once.

    Examples
    --------
    >>> patterns = MarkPatterns(np.arange(4), np.full(4, 3),
    ...                         np.array([[[700.0, 100.0, 80.0, 120.0]]]))
    >>> [float(part.squeeze().round(2)) for part in class_probabilities(patterns)]
    [0.21, 0.82, 0.04]
    """
    counts = patterns.counts.reshape(-1, len(patterns.marked))
    yes = patterns.marked.astype(float)
    no = patterns.size - yes
    n_items = counts.sum(axis=1)
    rate = (counts @ yes + 1) / (counts @ (yes + no) + 2)
    now = np.column_stack(
        [np.full(len(rate), 0.1), np.full(len(rate), 0.6), 0.5 * rate]
    )
    found = np.full(now.shape, np.nan)
    remaining = np.arange(len(now))
    for _ in range(STEPS):
        prevalence, right, wrong = now.T
        for_mark = np.log(right / wrong)[:, None]
        for_none = np.log((1 - right) / (1 - wrong))[:, None]
        evidence = for_mark * yes + for_none * no
        there = counts * expit(logit(prevalence)[:, None] + evidence)
        not_there = counts - there
        before = now
        now = np.column_stack(
            [
                (there.sum(axis=1) + 1) / (n_items + 2),
                (there @ yes + 1) / (there @ (yes + no) + 2),
                (not_there @ yes + 1) / (not_there @ (yes + no) + 2),
            ]
        )
        is_moving = np.abs(now - before).max(axis=1) >= TOLERANCE
        if not is_moving.all():
            found[remaining[~is_moving]] = now[~is_moving]
            remaining = remaining[is_moving]
            now = now[is_moving]
            counts = counts[is_moving]
            n_items = n_items[is_moving]
        if not len(remaining):
            break
    shape = patterns.counts.shape[:2]
    return tuple(part.reshape(shape) for part in found.T)


def class_losses(moments: MarkMoments, patterns: MarkPatterns) -> np.ndarray:
    """Points lost with an error that is there, by latent classes.

    The covariance of marks with scores is that of the errors themselves with scores,
    times sensitivity less false alarms. The covariance of the errors follows from how
    common they are, and from the correlations of normal liabilities with which they
    would give the covariance of marks by different raters.

    Parameters
    ----------
    moments : MarkMoments
        Sets, such as resamples, with scores.
    patterns : MarkPatterns
        The same sets and errors.

    Returns
    -------
    numpy.ndarray, shape (n_sets, n_errors)

    Examples
    --------
    >>> from helpers.robustness.study_model import draw, example_model
    >>> from helpers.stats.label_errors import mark_moments
    >>> drawn = draw(example_model(), 400, 4, np.random.default_rng(0)).single_ratings()
    >>> drawn["score"] = drawn.groupby("item_id")["score"].transform("mean")
    >>> columns = ["refusal"], "item_id", "prompt_id"
    >>> moments = mark_moments(drawn, *columns, "score").total()
    >>> patterns = mark_patterns(drawn, *columns).total(np.ones((1, 400)))
    >>> class_losses(moments, patterns).round(1)
    array([[1.]])
    """
    prevalence, sensitivity, false_alarms = class_probabilities(patterns)
    rise = sensitivity - false_alarms
    losses = np.full(rise.shape, np.nan)
    known = ~np.isnan(rise).any(axis=1)
    rise = rise[known]
    covariance = _error_covariance(
        prevalence[known], rise, moments.propensity_covariance()[known]
    )
    with_score = moments.score_covariance()[known] / rise
    solved = np.linalg.solve(covariance, with_score[:, :, None])
    losses[known] = -solved[:, :, 0]
    return losses


def class_table(
    moments: MarkMoments, patterns: MarkPatterns, n_boot: int, rng: np.random.Generator
) -> tuple[pd.DataFrame, int]:
    """Losses and probabilities by latent classes, clusters resampled throughout.

    Parameters
    ----------
    moments : MarkMoments
        A set per cluster, with scores.
    patterns : MarkPatterns
        The same clusters and errors.
    n_boot : int
        Number of bootstrap replicates.
    rng : numpy.random.Generator

    Returns
    -------
    table : pandas.DataFrame
        ``estimate``, ``low`` and ``high``, indexed by ``measure`` ("loss",
        "prevalence", "sensitivity", "false alarms") and ``error``.
    n_undefined : int
        Replicates whose probabilities could not be told; intervals leave them out.

    Examples
    --------
    >>> from helpers.robustness.study_model import draw, example_model
    >>> from helpers.stats.label_errors import mark_moments
    >>> drawn = draw(example_model(), 400, 4, np.random.default_rng(0)).single_ratings()
    >>> drawn["score"] = drawn.groupby("item_id")["score"].transform("mean")
    >>> columns = ["refusal"], "item_id", "prompt_id"
    >>> moments = mark_moments(drawn, *columns, "score")
    >>> patterns = mark_patterns(drawn, *columns)
    >>> table, _ = class_table(moments, patterns, 99, np.random.default_rng(0))
    >>> table.loc[("loss", "refusal")].round(1).tolist()
    [1.0, 0.9, 1.0]
    """
    weights = with_everything_first(cluster_weights(len(moments.n_items), n_boot, rng))
    totals = patterns.total(weights)
    names = ("prevalence", "sensitivity", "false alarms")
    draws = {"loss": class_losses(moments.total(weights), totals)}
    draws |= dict(zip(names, class_probabilities(totals), strict=True))
    parts = {}
    for measure, values in draws.items():
        parts[measure] = first_with_interval(values, moments.errors)
    n_undefined = int(np.isnan(draws["loss"][1:]).any(axis=1).sum())
    return pd.concat(parts, names=["measure", "error"]), n_undefined


def repair(moments: MarkMoments, patterns: MarkPatterns) -> pd.Series:
    """Tell how far pairs of errors are from a correlation matrix, by latent classes.

    Parameters
    ----------
    moments : MarkMoments
        One set, all items.
    patterns : MarkPatterns
        The same set and errors.

    Returns
    -------
    pandas.Series
        Number of ``pairs``, of those ``at the limit`` of a correlation, and the
        ``smallest eigenvalue`` of the matrix of all pairs before it is moved to a
        correlation matrix, which has none below zero.

    Examples
    --------
    >>> from helpers.robustness.study_model import draw, example_model
    >>> from helpers.stats.label_errors import mark_moments
    >>> drawn = draw(example_model(), 400, 4, np.random.default_rng(0)).single_ratings()
    >>> drawn["again"] = drawn["refusal"]
    >>> columns = ["refusal", "again"], "item_id", "prompt_id"
    >>> moments = mark_moments(drawn, *columns).total()
    >>> patterns = mark_patterns(drawn, *columns).total(np.ones((1, 400)))
    >>> repair(moments, patterns).round(2)
    pairs                  1.00
    at the limit           1.00
    smallest eigenvalue    0.05
    dtype: float64
    """
    prevalence, sensitivity, false_alarms = class_probabilities(patterns)
    rise = sensitivity - false_alarms
    target = moments.propensity_covariance() / (rise[:, :, None] * rise[:, None, :])
    correlations = pair_correlations(prevalence, target)[0]
    first, second = np.triu_indices(len(correlations), 1)
    of_pairs = np.abs(correlations[first, second])
    smallest = np.nan
    if not np.isnan(correlations).any():
        smallest = np.linalg.eigvalsh(correlations)[0]
    return pd.Series(
        {
            "pairs": len(of_pairs),
            "at the limit": (of_pairs > STRONGEST - 1e-6).sum(),
            "smallest eigenvalue": smallest,
        }
    )


def _error_covariance(
    prevalence: np.ndarray, rise: np.ndarray, of_marks: np.ndarray
) -> np.ndarray:
    """Covariance of the errors themselves, behind that of marks by two raters."""
    target = of_marks / (rise[:, :, None] * rise[:, None, :])
    correlations = liability_correlations(prevalence, target)
    place = np.arange(prevalence.shape[1])
    correlations[:, place, place] = 0.0  # an error with itself is no pair
    first = prevalence[:, :, None]
    second = prevalence[:, None, :]
    covariance = excess_probability(first, second, correlations)
    covariance[:, place, place] = prevalence * (1 - prevalence)
    return covariance
