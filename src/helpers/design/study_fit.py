"""Fit `helpers.design.study_design.StudyModel` to the tables of a study.

Ratings of the same output by different people, of two outputs of a prompt, and by the same person
vary together. Each kind of covariance has one thing behind it: errors that are there, prompts, and
the person.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.stats import norm

from helpers.design.study_design import REFERENCE_PROMPTS, REFERENCE_SEED, StudyModel, draw
from helpers.files.ratings import aggregate
from helpers.files.tables import check_clusters, check_numeric
from helpers.latent_classes import fit_classes
from helpers.stats import agreement, lasso
from helpers.stats.moments import ROUNDING, cluster_sums

STRONGEST = 0.95  # no correlation between liabilities is taken to be beyond this
NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(48)


def fit(
    marks: pd.DataFrame,
    scores: pd.DataFrame,
    errors: Sequence[str],
    score: str,
    experts: pd.DataFrame | None = None,
) -> StudyModel:
    """Fit the model to single ratings.

    Probabilities of marks are fitted by maximum likelihood. The other numbers are those with
    which the model gives covariances observed between ratings. Losses are chosen such that least
    squares on majority labels is expected to find in a drawn study what it finds in the real one.

    Parameters
    ----------
    marks : pandas.DataFrame
        One row per output and rater: ``item_id``, ``prompt_id``, ``rater_id`` and the errors, 0
        or 1.
    scores : pandas.DataFrame
        One row per output and rater: ``item_id``, ``prompt_id``, ``rater_id`` and the score. The
        raters are other people.
    errors : sequence of str
        Error columns; the majority labels of each must vary.
    score : str
        Column of the score.
    experts : pandas.DataFrame, optional
        One row per output that an expert checked: ``item_id`` and the errors, 0 or 1.

    Returns
    -------
    StudyModel

    Raises
    ------
    ValueError
        If a column cannot be used or no output has two ratings (see also `fit_classes` and
        `lasso.ols`).

    References
    ----------
    Searle, Casella and McCulloch (1992), Variance Components, chapter 5 (estimates from
    covariances); Olsson (1979), Maximum Likelihood Estimation of the Polychoric Correlation
    Coefficient, for liabilities.

    Examples
    --------
    >>> from helpers.design.study_design import example_model
    >>> single = draw(example_model(), 400, 4, np.random.default_rng(0)).single_ratings()
    >>> model = fit(single, single, ["refusal"], "score")
    >>> round(float(model.losses["refusal"]), 1), round(model.rater_sd, 1)
    (1.0, 1.0)
    """
    errors = list(errors)
    for table in (marks, scores):
        for column in ("item_id", "prompt_id", "rater_id"):
            check_clusters(table, column)
    check_numeric(scores, [score])
    classes = fit_classes(marks, errors, experts)
    observed = covariances(marks, errors)
    correlations = _liability_correlations(classes, observed["output"])
    labels = aggregate(marks, "item_id", mode=errors, first=["prompt_id"])
    means = scores.groupby("item_id")[score].mean().rename("score")
    losses = -lasso.ols(
        labels.join(means, on="item_id", how="inner"), errors, "score", "prompt_id"
    )["estimate"]
    model = StudyModel(
        classes=classes,
        correlations=correlations,
        prompt_share=_prompt_share(classes, observed["prompt"]),
        halo=_halo(classes, correlations, observed["person"] - observed["output"]),
        losses=losses[errors],
        base=0.0,
        prompt_sd=0.0,
        output_sd=0.0,
        rater_sd=0.0,
        raters=int(labels["n_ratings"].median()),
    )
    return _with_scores(model.with_label_losses(losses), scores, score)


def describe(
    marks: pd.DataFrame, outputs: pd.DataFrame, errors: Sequence[str], score: str, alpha: float
) -> pd.DataFrame:
    """Describe a study, real or drawn, by numbers that the model was not told or only in part.

    Parameters
    ----------
    marks : pandas.DataFrame
        One row per output and rater: ``item_id`` and the errors, 0 or 1.
    outputs : pandas.DataFrame
        One row per output: majority labels of the errors, and the score.
    errors : sequence of str
        Error columns.
    score : str
        Column of the score.
    alpha : float
        Penalty of the Lasso.

    Returns
    -------
    pandas.DataFrame
        A row per error: ``single marks, %``, ``labels, %``, ``AC1``, ``alpha``, and ``Lasso
        loss``, the points lost.

    Examples
    --------
    >>> from helpers.design.study_design import example_model
    >>> drawn = draw(example_model(), 100, 4, np.random.default_rng(0))
    >>> describe(drawn.single_ratings(), drawn.table(4), ["refusal"], "score", 0.01).shape
    (1, 5)
    """
    agreed = {
        error: (
            agreement.gwet_ac1(marks, "item_id", error, [0, 1]),
            agreement.krippendorff_alpha(marks, "item_id", error, [0, 1], "nominal"),
        )
        for error in errors
    }
    table = pd.DataFrame(agreed, index=["AC1", "alpha"]).T
    table.insert(0, "single marks, %", 100 * marks[list(errors)].mean())
    table.insert(1, "labels, %", 100 * outputs[list(errors)].mean())
    return table.assign(**{"Lasso loss": -lasso.lasso(outputs, errors, score, alpha)})


def covariances(ratings: pd.DataFrame, columns: Sequence[str]) -> dict[str, np.ndarray]:
    """Covariances between ratings that have something in common.

    Parameters
    ----------
    ratings : pandas.DataFrame
        One row per output and rater: ``item_id``, ``prompt_id``, ``rater_id`` and the columns.
    columns : sequence of str
        Numeric columns.

    Returns
    -------
    dict of str to numpy.ndarray, shape (n_columns, n_columns)
        ``"person"``: the same rating; ``"output"``: of one output by different people;
        ``"prompt"``: of two outputs of one prompt by different people.

    Raises
    ------
    ValueError
        If no output has ratings by two people, or no prompt has two such outputs.

    Examples
    --------
    >>> ratings = pd.DataFrame({"prompt_id": 1, "item_id": list("aabb"), "rater_id": range(4),
    ...                         "score": [5.0, 5.0, 1.0, 1.0]})
    >>> {name: float(matrix[0, 0]) for name, matrix in covariances(ratings, ["score"]).items()}
    {'person': 4.0, 'output': 4.0, 'prompt': -4.0}
    """
    values = ratings[list(columns)].to_numpy(dtype=float)
    rows = np.column_stack([np.ones(len(values)), values - values.mean(axis=0)])
    person = ratings.groupby(["prompt_id", "rater_id"]).ngroup()
    same_rating = rows.T @ rows
    same_output, same_prompt, same_person = (
        sums.T @ sums
        for sums in (
            cluster_sums(rows, labels)
            for labels in (ratings["item_id"], ratings["prompt_id"], person)
        )
    )
    products = {
        "person": same_rating,
        "output": same_output - same_rating,
        "prompt": same_prompt - same_output - same_person + same_rating,
    }
    for name, product in products.items():
        if product[0, 0] < 0.5:
            raise ValueError(
                f"no two ratings by different people of the same {name}: the model needs some"
            )
    return {name: product[1:, 1:] / product[0, 0] for name, product in products.items()}


def excess(first: np.ndarray, second: np.ndarray, correlation: np.ndarray) -> np.ndarray:
    """How much oftener two events happen together than if they were independent.

    The events are standard normal numbers below a threshold. For a share this is the covariance.

    Parameters
    ----------
    first, second : numpy.ndarray
        Probabilities of the events.
    correlation : numpy.ndarray
        Correlation of the normal numbers, within -1 and 1.

    Returns
    -------
    numpy.ndarray

    References
    ----------
    Drezner and Wesolowsky (1990), On the computation of the bivariate normal integral.

    Examples
    --------
    >>> excess(np.array(0.5), np.array(0.5), np.array(0.5)).round(4)
    np.float64(0.0833)
    """
    a, b, r = (np.asarray(x)[..., None] for x in (norm.ppf(first), norm.ppf(second), correlation))
    angle = np.arcsin(r) * (NODES + 1) / 2
    density = np.exp(-(a**2 + b**2 - 2 * a * b * np.sin(angle)) / (2 * np.cos(angle) ** 2))
    return (density * NODE_WEIGHTS).sum(axis=-1) * np.arcsin(r[..., 0]) / (4 * np.pi)


def _solve(gap: Callable[[np.ndarray], np.ndarray], low: np.ndarray) -> np.ndarray:
    """Find where increasing functions are zero, between `low` and `STRONGEST`, by halving."""
    low = np.asarray(low, dtype=float)
    high = np.full_like(low, STRONGEST)
    for _ in range(40):
        middle = (low + high) / 2
        above = gap(middle) > 0
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return (low + high) / 2


def _liability_correlations(classes: pd.DataFrame, observed: np.ndarray) -> np.ndarray:
    """Correlations of liabilities behind the covariance of marks by different people."""
    rise = (classes["sensitivity"] - classes["false_alarms"]).to_numpy()
    target = observed / np.outer(rise, rise)
    first, second = np.meshgrid(classes["prevalence"], classes["prevalence"], indexing="ij")
    found = _solve(lambda r: excess(first, second, r) - target, np.full_like(target, -STRONGEST))
    np.fill_diagonal(found, 1.0)
    return _nearest_correlations(found)


def _nearest_correlations(matrix: np.ndarray) -> np.ndarray:
    """Raise eigenvalues to be positive and rescale the diagonal to one."""
    values, vectors = np.linalg.eigh(matrix)
    positive = (vectors * np.maximum(values, 1e-6)) @ vectors.T
    scale = np.sqrt(np.diagonal(positive))
    return positive / np.outer(scale, scale)


def _prompt_share(classes: pd.DataFrame, observed: np.ndarray) -> float:
    """Share of liabilities behind the covariance of marks of two outputs of a prompt."""
    prevalence = classes["prevalence"].to_numpy()
    weight = ((classes["sensitivity"] - classes["false_alarms"]) ** 2).to_numpy()
    target = np.trace(observed)
    return float(_solve(lambda r: weight @ excess(prevalence, prevalence, r) - target, 0.0))


def _halo(classes: pd.DataFrame, correlations: np.ndarray, observed: np.ndarray) -> float:
    """Correlation behind what marks by one person covary more than marks by different people."""
    i, j = np.triu_indices(len(classes), 1)
    if not len(i):
        return 0.0
    share = classes["prevalence"].to_numpy()
    together = share[i] * share[j] + excess(share[i], share[j], correlations[i, j])
    chances = classes[["sensitivity", "false_alarms"]].to_numpy()
    cases = (
        (together, 0, 0),
        (share[i] - together, 0, 1),
        (share[j] - together, 1, 0),
        (1 - share[i] - share[j] + together, 1, 1),
    )
    target = observed[i, j].sum()

    def gap(halo: np.ndarray) -> np.ndarray:
        parts = [weight @ excess(chances[i, a], chances[j, b], halo) for weight, a, b in cases]
        return sum(parts) - target

    return float(_solve(gap, 0.0))


def _with_scores(model: StudyModel, scores: pd.DataFrame, score: str) -> StudyModel:
    """Add the mean and the spread of scores that errors do not explain."""
    drawn = draw(model, REFERENCE_PROMPTS, 1, np.random.default_rng(REFERENCE_SEED))
    lost = drawn.present @ model.losses.to_numpy()
    lost = lost - lost.mean()
    lost_by_prompt = (lost.sum(axis=1) ** 2 - (lost**2).sum(axis=1)).mean()
    n_outputs = lost.shape[1]
    observed = {name: matrix[0, 0] for name, matrix in covariances(scores, [score]).items()}
    prompt = observed["prompt"] - lost_by_prompt / (n_outputs * (n_outputs - 1))
    output = observed["output"] - (lost**2).mean() - max(prompt, 0.0)
    rater = observed["person"] - observed["output"]
    prompt_sd, output_sd, rater_sd = np.sqrt(np.maximum([prompt, output, rater], ROUNDING))
    base = scores[score].mean() + model.losses @ model.classes["prevalence"]
    return replace(
        model,
        base=float(base),
        prompt_sd=float(prompt_sd),
        output_sd=float(output_sd),
        rater_sd=float(rater_sd),
    )
