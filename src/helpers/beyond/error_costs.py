"""What errors cost in the overall score, under every way to compute it.

Weights are points lost: the coefficient of an error label with its sign turned. All specifications
are computed on the same resamples of prompts, so that their differences can be taken draw by draw.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from helpers.beyond import crowd, specifications
from helpers.stats.bootstrap import cluster_weights
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
ORDINAL = "ordinal"
REFUSALS = ("kept", "left out")
ROWS = ["labels", "answers", "refusals"]  # choices that say which rows and labels are used
LEAST_CASES = 5  # answers or marks with an error, below which its weight is not estimated
RIDGE = 1e-10  # keeps least squares defined where a resample has no case of an error


@dataclass(frozen=True, eq=False)
class WeightCurve:
    """Weights of all errors in all specifications, made by `cost_curve`."""

    specifications: pd.DataFrame
    left_out: pd.DataFrame
    estimate: pd.DataFrame
    draws: np.ndarray
    cases: pd.DataFrame
    freedom: np.ndarray

    def weight(self, error: str) -> tuple[pd.DataFrame, np.ndarray]:
        """Curve of one weight, expected to be a loss, with its draws.

        Parameters
        ----------
        error : str
            One of the errors.

        Returns
        -------
        curve : pandas.DataFrame
            As `specifications.curve`, for specifications with at least `LEAST_CASES` cases.
        draws : numpy.ndarray, shape (n_boot, n_rows)
            Draws of the same specifications.
        """
        place = self.estimate.columns.get_loc(error)
        return self._curve(self.estimate[error], self.draws[:, :, place], [error])

    def lead(self, error: str, other: str) -> tuple[pd.DataFrame, np.ndarray]:
        """Curve of a weight minus another, expected to be positive, with its draws.

        Parameters
        ----------
        error, other : str
            Two of the errors.

        Returns
        -------
        curve : pandas.DataFrame
            As for `weight`; both errors need their cases.
        draws : numpy.ndarray, shape (n_boot, n_rows)
            Draws of the same specifications.
        """
        first, second = self.estimate.columns.get_indexer([error, other])
        draws = self.draws[:, :, first] - self.draws[:, :, second]
        estimate = self.estimate[error] - self.estimate[other]
        return self._curve(estimate, draws, [error, other])

    def too_rare(self, errors: Sequence[str]) -> pd.DataFrame:
        """Specifications in which an error has fewer than `LEAST_CASES` cases."""
        rare = (self.cases[list(errors)] < LEAST_CASES).any(axis="columns")
        reason = f"fewer than {LEAST_CASES} cases of {' or '.join(errors)}"
        return self.specifications[rare].assign(reason=reason)

    def _curve(
        self, estimate: pd.Series, draws: np.ndarray, errors: Sequence[str]
    ) -> tuple[pd.DataFrame, np.ndarray]:
        """Curve of the specifications with enough cases of some errors."""
        enough = (self.cases[list(errors)] >= LEAST_CASES).all(axis="columns").to_numpy()
        draws = draws[:, enough]
        error, freedom = draws.std(axis=0), self.freedom[enough]
        rows = self.specifications[enough]
        return specifications.curve(rows, estimate[enough], error, 1, freedom), draws


def label_tables(
    outputs: pd.DataFrame, single: pd.DataFrame, errors: Sequence[str]
) -> dict[str, pd.DataFrame]:
    """Combine the labels of single raters in every way, and put the scores beside them.

    Parameters
    ----------
    outputs : pandas.DataFrame
        One row per output: ``item_id``, ``prompt_id``, ``task``, ``system``, ``refusal`` by
        majority, ``quality_unbiased`` and ``quality_biased``.
    single : pandas.DataFrame
        One row per output and rater: the same design, ``rater_id``, the errors and
        ``quality_biased``.
    errors : sequence of str
        Columns of labels, 0 or 1.

    Returns
    -------
    dict of str to pandas.DataFrame
        For each of `helpers.beyond.crowd.RULES`, and `SINGLE`, a table for `cost_curve`.
    """
    outputs = outputs.set_index("item_id").sort_index()
    scores = outputs[["quality_unbiased", "quality_biased"]]
    design = outputs[["prompt_id", "task", "system"]].assign(
        refused=outputs["refusal"] > 0.5,
        unbiased=scores["quality_unbiased"],
        biased=scores["quality_biased"],
        **{"mean of both": scores.mean(axis="columns")},
    )
    tables = {}
    for rule in crowd.RULES:
        labels = crowd.combine(single, errors, rule, "item_id", "rater_id")
        tables[rule] = design.join(labels).reset_index()
    refused = single["item_id"].map(design["refused"])
    tables[SINGLE] = single.assign(refused=refused, biased=single["quality_biased"])
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
        For each way to combine labels one row per output, and for `SINGLE` one per rating:
        ``prompt_id``, ``task``, ``system``, ``refused`` (True or False), the errors and the
        `SCORES`, of which single ratings have the biased one only.
    errors : sequence of str
        Columns of labels in [0, 1].
    n_boot : int
        Number of resamples of prompts.
    rng : numpy.random.Generator

    Returns
    -------
    WeightCurve

    Raises
    ------
    ValueError
        If a table has other prompts than the first.

    Notes
    -----
    An ordinal model is not refitted in resamples: its draws are those of its linear approximation.

    References
    ----------
    Hosking et al. (2024), section 2.2; Simonsohn, Simmons and Nelson (2020).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> outputs = pd.DataFrame({
    ...     "prompt_id": np.arange(200) // 5, "task": "wikihow", "system": ["a", "b"] * 100,
    ...     "refused": False, "refusal": rng.integers(2, size=200)})
    >>> scores = {score: 5.0 - 2 * outputs["refusal"] for score in SCORES}
    >>> result = cost_curve({"mean": outputs.assign(**scores)}, ["refusal"], 9, rng)
    >>> result.estimate["refusal"].groupby(result.specifications["model"]).max().round(2)
    model
    Lasso, 0.003     1.99
    Lasso, 0.01      1.96
    Lasso, 0.03      1.88
    least squares    2.00
    Name: refusal, dtype: float64
    """
    first = next(iter(tables.values()))
    prompts = np.unique(first["prompt_id"])
    for name, table in tables.items():
        if not np.array_equal(np.unique(table["prompt_id"]), prompts):
            raise ValueError(f"table {name!r} has other prompts than the first: give all the same")
    possible, left_out = _choices(first, list(tables))
    drawn = cluster_weights(len(prompts), n_boot, rng)
    weights = np.vstack([np.ones(len(prompts)), drawn])
    replicates = pd.DataFrame(weights, columns=pd.Index(prompts, name="prompt_id"))
    found = np.empty((n_boot + 1, len(possible), len(errors)))
    cases = np.empty((len(possible), len(errors)))
    freedom = np.empty(len(possible))
    reasons = pd.Series("", index=possible.index)
    parts = {labels: _parts(table) for labels, table in tables.items()}
    for (labels, *rows), part in possible.groupby(ROWS):
        table, kept = tables[labels], parts[labels][tuple(rows)]
        scores = _scores_in(table)
        sums = specifications.products(table, [*errors, *scores], kept, "prompt_id")
        freedom[part.index] = (sums[:, 0, 0] > 0).sum() - 1
        cases[part.index] = (table.loc[kept, list(errors)] >= 0.5).sum()
        linear = part[part["model"] != ORDINAL]
        totals = np.tensordot(weights, sums, axes=1)
        found[:, linear.index] = -_linear_slopes(totals, errors, scores, linear)
        for place in part.index.difference(linear.index):
            try:
                found[:, place] = -specifications.ordinal_effects(
                    table[kept], errors, "biased", replicates
                )
            except SeparationError as error:
                reasons[place] = f"{error.feature} has no finite odds in an ordinal model"
    done = (reasons == "").to_numpy()
    failed = possible[~done].assign(reason=reasons[~done])
    return WeightCurve(
        possible[done].reset_index(drop=True),
        pd.concat([left_out, failed], ignore_index=True),
        pd.DataFrame(found[0, done], columns=list(errors)),
        found[1:, done],
        pd.DataFrame(cases[done], columns=list(errors)),
        freedom[done],
    )


def _choices(table: pd.DataFrame, rules: Sequence[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Combine the choices of this analysis."""
    options = {
        "labels": rules,
        "score": SCORES,
        "model": (*PENALTIES, ORDINAL),
        "answers": list(specifications.subsets(table, ["task"], ["system"])),
        "refusals": REFUSALS,
    }
    combined = [rule for rule in rules if rule != SINGLE]
    impossible = {
        "those who gave the unbiased score marked no errors": {
            "labels": [SINGLE],
            "score": ["unbiased", "mean of both"],
        },
        "an ordinal model needs single ratings": {"labels": combined, "model": [ORDINAL]},
    }
    return specifications.cross(options, impossible)


def _parts(table: pd.DataFrame) -> dict[tuple[str, str], np.ndarray]:
    """Rows that count, for every part of the answers and treatment of refusals."""
    subsets = specifications.subsets(table, ["task"], ["system"])
    whole = {(name, "kept"): rows.to_numpy() for name, rows in subsets.items()}
    answered = ~table["refused"].to_numpy()
    return whole | {(name, "left out"): rows & answered for (name, _), rows in whole.items()}


def _scores_in(table: pd.DataFrame) -> list[str]:
    """Scores that a table has."""
    return [score for score in SCORES if score in table]


def _linear_slopes(
    sums: np.ndarray, errors: Sequence[str], scores: Sequence[str], part: pd.DataFrame
) -> np.ndarray:
    """Slopes in linear models of sets of rows, from cross-products of (1, errors, scores)."""
    n = len(errors)
    gram, last, _ = ClusterMoments((*errors, *scores[:-1]), scores[-1], sums).covariances()
    gram, cross = gram[:, :n, :n], np.dstack([gram[:, :n, n:], last[:, :n]])
    targets = np.stack([cross[:, :, scores.index(score)] for score in part["score"]])
    alpha = part["model"].map(PENALTIES).to_numpy(dtype=float)
    free = alpha == 0
    slopes = np.empty_like(targets)
    slopes[~free] = solve_lasso(gram, targets[~free], alpha[~free, None], tol=1e-6)
    size = np.trace(gram, axis1=1, axis2=2)[:, None, None]
    steady = gram + RIDGE * size * np.eye(n)
    slopes[free] = np.linalg.solve(steady, targets[free][..., None])[..., 0]
    return slopes.swapaxes(0, 1)


def ranks(result: WeightCurve) -> pd.DataFrame:
    """How often each error costs most, second most and so on, and how often it counts at all.

    Parameters
    ----------
    result : WeightCurve
        From `cost_curve`.

    Returns
    -------
    pandas.DataFrame
        Percentages of the specifications in which the error has its cases: ``first``, ``second``,
        ``third``; ``not zero`` of those with a penalty; ``significant`` of all. And their number,
        ``specifications``, and the ``median`` points lost.
    """
    enough = result.cases >= LEAST_CASES
    costs = result.estimate.where(enough & (result.estimate > 0))
    place = costs.rank(axis="columns", ascending=False)
    penalised = result.specifications["model"].str.startswith("Lasso")
    dear = result.estimate > 1.96 * result.draws.std(axis=0)
    kept = (result.estimate != 0) & enough
    table = pd.DataFrame({"specifications": enough.sum()})
    for number, name in enumerate(("first", "second", "third"), 1):
        table[name] = 100 * (place == number).sum() / enough.sum()
    table["not zero"] = 100 * kept[penalised].sum() / enough[penalised].sum()
    table["significant"] = 100 * (dear & enough).sum() / enough.sum()
    table["median"] = result.estimate.where(enough).median()
    return table.sort_values("median", ascending=False)


def permuted_costs(
    tables: Mapping[str, pd.DataFrame],
    errors: Sequence[str],
    error: str,
    table: pd.DataFrame,
    orders: np.ndarray,
) -> np.ndarray:
    """Weights of an error whose labels are dealt out anew among the outputs.

    All that raters marked of the error in an output moves together, whichever way it is combined.

    Parameters
    ----------
    tables, errors
        As for `cost_curve`; each table has the same outputs,
        ``item_id``.
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

    Raises
    ------
    ValueError
        If an ordinal specification is asked for.

    References
    ----------
    Simonsohn, Simmons and Nelson (2020), on shuffling the predictor of interest.
    """
    if not table["model"].isin(list(PENALTIES)).all():
        raise ValueError("ordinal models are not refitted for each order: leave them out")
    found = np.empty((len(orders), len(table)))
    places = pd.Series(range(len(table)), index=table.index)
    feature = 1 + list(errors).index(error)
    for labels, specified in table.groupby("labels"):
        rows = tables[labels].sort_values("item_id", kind="stable")
        scores, parts = _scores_in(rows), _parts(rows)
        values = rows.assign(one=1.0)[["one", *errors, *scores]].to_numpy(dtype=float)
        dealt = rows[error].to_numpy(dtype=float)[_row_orders(rows["item_id"], orders)]
        for choice, part in specified.groupby(ROWS[1:]):
            kept = parts[choice]
            sums = np.tile(values[kept].T @ values[kept], (len(orders), 1, 1))
            sums[:, feature] = sums[:, :, feature] = dealt[:, kept] @ values[kept]
            sums[:, feature, feature] = (dealt[:, kept] ** 2).sum(axis=1)
            slopes = _linear_slopes(sums, errors, scores, part)
            found[:, places[part.index]] = -slopes[:, :, feature - 1]
    return found


def _row_orders(items: pd.Series, orders: np.ndarray) -> np.ndarray:
    """Orders of rows from orders of items; an item with too few rows lends them again."""
    codes, starts, counts = np.unique(items, return_index=True, return_counts=True)
    item = np.searchsorted(codes, items)
    slot = np.arange(len(items)) - starts[item]
    giver = orders[:, item]
    return starts[giver] + slot % counts[giver]
