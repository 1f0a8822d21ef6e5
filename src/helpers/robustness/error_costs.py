"""What errors cost in the overall score, in many specifications.

A weight of an error is the points that a response with it loses: the coefficient of its
label in a model of the score, with the sign turned. The specifications differ in how
single labels are combined, which score and model are taken, and which responses count.
All of them are computed on the same resamples of prompts, so that their differences can
be taken draw by draw.

References
----------
Hosking et al. (2024), section 2.2; Simonsohn, Simmons and Nelson (2020).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from helpers.robustness import crowd, specifications
from helpers.robustness.specifications import ORDINAL
from helpers.stats.lasso import solve_lasso
from helpers.stats.moments import ClusterMoments
from helpers.stats.ordinal import SeparationError

SINGLE = "single marks"
SCORES = ("unbiased", "biased", "mean of both")
PENALTIES = {
    "least squares": 0.0,
    "Lasso, 0.003": 0.003,
    "Lasso, 0.01": 0.01,
    "Lasso, 0.03": 0.03,
}
# answers or marks with an error, below which its weight is not estimated
LEAST_CASES = 5
RIDGE = 1e-10  # keeps least squares defined where a resample has no case of an error


@dataclass(frozen=True, eq=False)
class WeightCurve:
    """Weights of all errors in all specifications, made by `cost_curve`.

    Parameters
    ----------
    specifications : pandas.DataFrame
        One row per specification, one column per choice.
    left_out : pandas.DataFrame
        Combinations of choices that were not computed, with the ``reason``.
    estimate : pandas.DataFrame, shape (n_specifications, n_errors)
        Points lost.
    draws : numpy.ndarray, shape (n_boot, n_specifications, n_errors)
        Points lost in resamples of the prompts.
    cases : pandas.DataFrame, shape (n_specifications, n_errors)
        Answers, or marks, with each error.
    df : numpy.ndarray, shape (n_specifications,)
        Degrees of freedom: prompts that count, less one.
    """

    specifications: pd.DataFrame
    left_out: pd.DataFrame
    estimate: pd.DataFrame
    draws: np.ndarray
    cases: pd.DataFrame
    df: np.ndarray

    def lead(self, error: str, *other: str) -> tuple[pd.DataFrame, np.ndarray]:
        """Curve of a weight, or of what it is above another, expected to be positive.

        Parameters
        ----------
        error : str
            One of the errors.
        *other : str
            None, or another error.

        Returns
        -------
        curve : pandas.DataFrame
            As `specifications.curve`, for specifications with at least `LEAST_CASES`
            cases.
        draws : numpy.ndarray, shape (n_boot, n_rows)
            Draws of the same specifications.
        """
        names = [error, *other]
        signs = np.array([1, -1])[: len(names)]
        columns = self.estimate.columns.get_indexer(names)
        enough = (self.cases[names] >= LEAST_CASES).all(axis="columns").to_numpy()
        estimate = self.estimate.loc[enough, names] @ signs
        draws = self.draws[:, enough][:, :, columns] @ signs
        curve = specifications.curve(
            specifications=self.specifications[enough],
            estimate=estimate,
            standard_error=draws.std(axis=0),
            sign=1,
            df=self.df[enough],
        )
        return curve, draws

    def part(self, rows: pd.Series) -> "WeightCurve":
        """Keep the specifications that are True, and nothing that was left out."""
        chosen = rows.to_numpy()
        return WeightCurve(
            specifications=self.specifications[chosen].reset_index(drop=True),
            left_out=self.left_out.iloc[:0],
            estimate=self.estimate[chosen].reset_index(drop=True),
            draws=self.draws[:, chosen],
            cases=self.cases[chosen].reset_index(drop=True),
            df=self.df[chosen],
        )


def label_tables(
    outputs: pd.DataFrame, single: pd.DataFrame, errors: Sequence[str]
) -> dict[str, pd.DataFrame]:
    """Combine the labels of single raters in every way, and put the scores beside them.

    Parameters
    ----------
    outputs : pandas.DataFrame
        One row per output: ``item_id``, ``prompt_id``, ``task``, ``system``,
        ``refusal`` by majority, ``quality_unbiased`` and ``quality_biased``.
    single : pandas.DataFrame
        One row per output and rater: the same design, ``rater_id``, the errors and
        ``quality_biased``.
    errors : sequence of str
        Columns of labels, 0 or 1.

    Returns
    -------
    dict of str to pandas.DataFrame
        For each of `helpers.robustness.crowd.RULES`, and `SINGLE`, a table for
        `cost_curve`.
    """
    outputs = outputs.set_index("item_id").sort_index()
    design = outputs[["prompt_id", "task", "system"]].assign(
        **{
            "unbiased": outputs["quality_unbiased"],
            "biased": outputs["quality_biased"],
            "mean of both": outputs[["quality_unbiased", "quality_biased"]].mean(
                axis="columns"
            ),
            "refused": outputs["refusal"] > 0.5,
        }
    )
    tables = {}
    for rule in crowd.RULES:
        labels = crowd.combine(single, errors, rule)
        tables[rule] = design.join(labels).reset_index()
    tables[SINGLE] = single.assign(
        refused=single["item_id"].map(design["refused"]),
        biased=single["quality_biased"],
    )
    return tables


def cost_curve(
    tables: Mapping[str, pd.DataFrame],
    errors: Sequence[str],
    n_boot: int,
    rng: np.random.Generator,
) -> WeightCurve:
    """Compute the weights of all errors in all specifications.

    Parameters
    ----------
    tables : mapping of str to pandas.DataFrame
        For each way to combine labels one row per output, and for `SINGLE` one per
        rating: ``prompt_id``, ``task``, ``system``, ``refused`` (True or False), the
        errors and the `SCORES`, of which single ratings have the biased one only. All
        have the same prompts.
    errors : sequence of str
        Columns of labels in [0, 1].
    n_boot : int
        Number of resamples of prompts.
    rng : numpy.random.Generator

    Returns
    -------
    WeightCurve

    Notes
    -----
    An ordinal model is not refitted in resamples: its draws are those of its linear
    approximation.

    References
    ----------
    Hosking et al. (2024), section 2.2; Simonsohn, Simmons and Nelson (2020).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> outputs = pd.DataFrame({
    ...     "prompt_id": np.arange(200) // 5,
    ...     "task": "wikihow",
    ...     "system": ["a", "b"] * 100,
    ...     "refused": False,
    ...     "refusal": rng.integers(2, size=200),
    ... })
    >>> for score in SCORES:
    ...     outputs[score] = 5.0 - 2 * outputs["refusal"]
    >>> result = cost_curve({"mean": outputs}, ["refusal"], 9, rng)
    >>> cost = result.estimate["refusal"]
    >>> cost.groupby(result.specifications["model"]).max().round(2)
    model
    Lasso, 0.003     1.99
    Lasso, 0.01      1.96
    Lasso, 0.03      1.88
    least squares    2.00
    Name: refusal, dtype: float64
    """
    any_table = next(iter(tables.values()))
    possible, left_out = _choices(any_table, list(tables))
    replicates = specifications.resample_weights(any_table["prompt_id"], n_boot, rng)

    # The first row of `weights` is the estimate, the others are the resamples.
    weights = np.empty((n_boot + 1, len(possible), len(errors)))
    cases = pd.DataFrame(0, possible.index, list(errors))
    df = np.empty(len(possible))
    reason = pd.Series("", index=possible.index)

    for labels, with_labels in possible.groupby("labels"):
        table = tables[labels]
        rows_of = _rows_that_count(table)
        scores = _scores_in(table)
        for part, specified in with_labels.groupby(["answers", "refusals"]):
            rows = rows_of[part]
            places = specified.index
            sums = specifications.products(
                table, [*errors, *scores], rows, cluster="prompt_id"
            )
            n_prompts = (sums[:, 0, 0] > 0).sum()
            df[places] = n_prompts - 1
            has_error = table.loc[rows, list(errors)] >= 0.5
            cases.loc[places] = has_error.sum().to_numpy()

            linear = specified[specified["model"] != ORDINAL]
            totals = np.tensordot(replicates.to_numpy(), sums, axes=1)
            slopes = _linear_slopes(totals, errors, scores, linear)
            weights[:, linear.index] = -slopes

            for place in places.difference(linear.index):
                try:
                    effects = specifications.ordinal_effects(
                        table[rows], errors, "biased", replicates
                    )
                except SeparationError as error:
                    reason[place] = (
                        f"{error.feature} has no finite odds in an ordinal model"
                    )
                else:
                    weights[:, place] = -effects

    computed = reason == ""
    not_computed = possible[~computed].assign(reason=reason[~computed])
    return WeightCurve(
        specifications=possible[computed].reset_index(drop=True),
        left_out=pd.concat([left_out, not_computed], ignore_index=True),
        estimate=pd.DataFrame(weights[0, computed], columns=list(errors)),
        draws=weights[1:, computed],
        cases=cases[computed].reset_index(drop=True),
        df=df[computed],
    )


def _choices(
    table: pd.DataFrame, rules: Sequence[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Combine the choices; those that make no sense apart, with the reason why."""
    options = {
        "labels": rules,
        "score": SCORES,
        "model": (*PENALTIES, ORDINAL),
        "answers": list(specifications.subsets(table, ["task"], ["system"])),
        "refusals": ("kept", "left out"),
    }
    combined = [rule for rule in rules if rule != SINGLE]
    impossible = {
        "the form of the unbiased score did not ask about errors": {
            "labels": [SINGLE],
            "score": ["unbiased", "mean of both"],
        },
        "an ordinal model needs single ratings": {
            "labels": combined,
            "model": [ORDINAL],
        },
    }
    return specifications.cross(options, impossible)


def _rows_that_count(table: pd.DataFrame) -> dict[tuple[str, str], np.ndarray]:
    """Rows for every part of the answers, with refusals kept and left out."""
    answered = ~table["refused"].to_numpy()
    rows = {}
    for name, in_part in specifications.subsets(table, ["task"], ["system"]).items():
        rows[name, "kept"] = in_part.to_numpy()
        rows[name, "left out"] = in_part.to_numpy() & answered
    return rows


def _scores_in(table: pd.DataFrame) -> list[str]:
    """Scores that a table has."""
    return [score for score in SCORES if score in table]


def _linear_slopes(
    sums: np.ndarray,
    errors: Sequence[str],
    scores: Sequence[str],
    specified: pd.DataFrame,
) -> np.ndarray:
    """Slopes of errors, from cross-products of (1, errors, scores) in sets of rows.

    The result has the shape (n_sets, n_specifications, n_errors).
    """
    n_errors = len(errors)
    columns = (*errors, *scores)
    moments = ClusterMoments(columns[:-1], columns[-1], sums)
    gram, with_last_score, _ = moments.covariances()
    with_other_scores = gram[:, :n_errors, n_errors:]
    with_scores = np.dstack([with_other_scores, with_last_score[:, :n_errors]])
    gram = gram[:, :n_errors, :n_errors]

    score_places = [scores.index(score) for score in specified["score"]]
    targets = np.stack([with_scores[:, :, place] for place in score_places])
    alpha = specified["model"].map(PENALTIES).to_numpy(dtype=float)
    penalised = alpha > 0
    slopes = np.empty_like(targets)
    slopes[penalised] = solve_lasso(
        gram, targets[penalised], alpha[penalised, None], tol=1e-6
    )
    # An error without a case in a resample leaves a row of zeros, which cannot be
    # inverted; a ridge too small to matter elsewhere gives it a slope of zero.
    size = np.trace(gram, axis1=1, axis2=2)[:, None, None]
    ridged = gram + RIDGE * size * np.eye(n_errors)
    unpenalised_targets = targets[~penalised][..., None]
    slopes[~penalised] = np.linalg.solve(ridged, unpenalised_targets)[..., 0]
    return slopes.swapaxes(0, 1)


def permuted_costs(
    tables: Mapping[str, pd.DataFrame],
    errors: Sequence[str],
    error: str,
    table: pd.DataFrame,
    orders: np.ndarray,
) -> np.ndarray:
    """Weights of an error whose labels are permuted among the outputs.

    All that raters marked of the error in an output moves together, whichever way it is
    combined.

    Parameters
    ----------
    tables, errors
        As for `cost_curve`; each table has the same outputs, ``item_id``.
    error : str
        The error.
    table : pandas.DataFrame
        Specifications to compute, rows of a `WeightCurve`; no ordinal ones.
    orders : numpy.ndarray of int, shape (n_draws, n_outputs)
        Which output's labels each output gets, outputs in sorted order of ``item_id``.

    Returns
    -------
    numpy.ndarray, shape (n_draws, n_specifications)
        Points lost.

    References
    ----------
    Simonsohn, Simmons and Nelson (2020), on shuffling the predictor of interest.
    """
    weights = np.empty((len(orders), len(table)))
    place_of = pd.Series(range(len(table)), index=table.index)
    error_place = list(errors).index(error)
    column = 1 + error_place  # of the error in cross-products, after the one
    for labels, with_labels in table.groupby("labels"):
        ratings = tables[labels].sort_values("item_id", kind="stable")
        rows_of = _rows_that_count(ratings)
        scores = _scores_in(ratings)
        numbers = ratings.assign(one=1.0)[["one", *errors, *scores]]
        values = numbers.to_numpy(dtype=float)
        marks = ratings[error].to_numpy(dtype=float)
        permuted = marks[_row_orders(ratings["item_id"], orders)]
        for part, specified in with_labels.groupby(["answers", "refusals"]):
            rows = rows_of[part]
            # Only products with the permuted error change from draw to draw.
            sums = np.tile(values[rows].T @ values[rows], (len(orders), 1, 1))
            with_others = permuted[:, rows] @ values[rows]
            sums[:, column, :] = with_others
            sums[:, :, column] = with_others
            sums[:, column, column] = (permuted[:, rows] ** 2).sum(axis=1)
            slopes = _linear_slopes(sums, errors, scores, specified)
            weights[:, place_of[specified.index]] = -slopes[:, :, error_place]
    return weights


def _row_orders(items: pd.Series, orders: np.ndarray) -> np.ndarray:
    """Orders of rows from orders of items; an item with too few rows lends them again.

    Rows of an item stand together.
    """
    codes, starts, counts = np.unique(items, return_index=True, return_counts=True)
    item = np.searchsorted(codes, items)
    place_in_item = np.arange(len(items)) - starts[item]
    giver = orders[:, item]
    return starts[giver] + place_in_item % counts[giver]
