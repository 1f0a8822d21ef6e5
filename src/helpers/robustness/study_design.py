"""Plan a rating study: how many outputs, raters and experts it takes to find what is there.

`fit_model` turns the tables of a real study into a model: an output has an error or
not; raters mark it with one probability if it is there and with another if it is not,
experts with probabilities of their own; other people score the output, and each error
that is there costs points. What raters tend to agree on is what the model calls an
error: it cannot know more. `draw` draws outputs from it. `loss_power` and `gap_power`
draw every study anew and tell how many find what is there, `outputs_needed` at which
size four in five do. Estimates and their cluster-robust errors need only sums within
prompts, so that hundreds of studies of every size take seconds.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from scipy.stats import norm, t
from statsmodels.stats.proportion import proportion_confint

from helpers.robustness.crowd import COLUMNS, fit_classes
from helpers.show import COLORS, GREY, INK, MARKERS, binned_rates
from helpers.stats import agreement, lasso
from helpers.stats.aggregation import aggregate
from helpers.stats.moments import (
    ROUNDING,
    ClusterMoments,
    cluster_moments,
    cluster_sums,
)

REFERENCE_PROMPTS = 10_000  # drawn to translate losses from labels to errors
REFERENCE_SEED = 0
PROMPTS_AT_ONCE = 10_000  # drawn for simulated studies
STRONGEST = 0.95  # no correlation between liabilities is taken to be beyond this
NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(48)
TESTABLE = 1e-6  # a feature is told apart if its projection is within this of one
POWER = 0.8  # that a study should have
ENDS = ("estimate", "low", "high")
TICKS = (30, 100, 300, 1000, 3000, 10_000)  # sizes and costs to name on an axis


@dataclass(frozen=True, eq=False)
class StudyModel:
    """The numbers from which studies are drawn, found by `fit_model`."""

    classes: pd.DataFrame
    correlations: np.ndarray
    prompt_share: float
    halo: float
    losses: pd.Series
    raters: int
    told: np.ndarray
    base: float = 0.0
    prompt_sd: float = 0.0
    output_sd: float = 0.0
    rater_sd: float = 0.0

    @property
    def errors(self) -> list[str]:
        """Names of the errors."""
        return list(self.classes.index)

    def losses_behind(self, found: pd.Series) -> pd.Series:
        """Losses by the errors themselves, from what least squares on labels finds.

        A label is not the error, so that a loss by label differs from the loss by the
        error itself. The one is a linear function of the other, which `fit_model` reads
        off a large drawn study and keeps as `told`: how an error's chance changes with
        each label.

        Parameters
        ----------
        found : pandas.Series
            Points lost by least squares on majority labels of `raters` people, for each
            error.

        Returns
        -------
        pandas.Series

        References
        ----------
        Gourieroux, Monfort and Renault (1993), Indirect Inference.
        """
        losses = np.linalg.solve(self.told, found[self.errors].to_numpy())
        return pd.Series(losses, index=self.errors, name="loss")


@dataclass(frozen=True, eq=False)
class Outputs:
    """Outputs with all that was said about them, made by `draw`."""

    model: StudyModel
    present: np.ndarray
    marks: np.ndarray
    expert: np.ndarray
    scores: np.ndarray

    def with_losses(self, losses: pd.Series) -> "Outputs":
        """Give the same outputs with the same marks the scores that other losses would bring.

        Parameters
        ----------
        losses : pandas.Series
            Points lost by each error.

        Returns
        -------
        Outputs
        """
        changed = (
            self.present @ (self.model.losses - losses)[self.model.errors].to_numpy()
        )
        model = replace(self.model, losses=losses)
        return replace(self, model=model, scores=self.scores + changed[:, :, None])

    def labels(self, raters: int) -> np.ndarray:
        """Majority label of the first raters, where a tie counts one half.

        Parameters
        ----------
        raters : int
            How many people check an output.

        Returns
        -------
        numpy.ndarray, shape (n_prompts, n_outputs, n_errors)
        """
        share = self.marks[:, :, :raters].mean(axis=2)
        return np.where(share == 0.5, 0.5, share > 0.5)

    def table(self, raters: int) -> pd.DataFrame:
        """Set out one row per output, as the analyses of real studies take it.

        Parameters
        ----------
        raters : int
            How many people check an output, and how many others score it.

        Returns
        -------
        pandas.DataFrame
            A label per error, ``prompt_id``, and ``score``, a mean.
        """
        labels = self.labels(raters).reshape(-1, len(self.model.errors))
        table = pd.DataFrame(labels, columns=self.model.errors)
        prompt = np.arange(len(table)) // self.present.shape[1]
        score = self.scores[:, :, :raters].mean(axis=2).ravel()
        return table.assign(prompt_id=prompt, score=score)

    def single_ratings(self) -> pd.DataFrame:
        """Set out one row per output and rater, each rater another person.

        Returns
        -------
        pandas.DataFrame
            ``item_id``, ``prompt_id``, ``rater_id``, a mark per error, and the
            ``score`` by one of the others.
        """
        _, n_outputs, n_raters, n_errors = self.marks.shape
        marks = self.marks.reshape(-1, n_errors).astype(float)
        rater = np.arange(len(marks))
        item = rater // n_raters
        places = {"item_id": item, "prompt_id": item // n_outputs, "rater_id": rater}
        table = pd.DataFrame(marks, columns=self.model.errors)
        return table.assign(score=self.scores.ravel(), **places)


def draw(
    model: StudyModel,
    n_prompts: int,
    raters: int,
    rng: np.random.Generator,
    outputs: int = 5,
) -> Outputs:
    """Draw outputs, what raters and experts say about them, and their scores.

    Every rating is by another person, and scores are not rounded.

    Parameters
    ----------
    model : StudyModel
        Result of `fit_model`.
    n_prompts : int
        Number of prompts.
    raters : int
        People who check the errors of an output, and as many others who score it.
    rng : numpy.random.Generator
    outputs : int, optional
        Outputs of each prompt.

    Returns
    -------
    Outputs

    Examples
    --------
    >>> outputs = draw(example_model(), 100, 3, np.random.default_rng(0))
    >>> outputs.table(3).shape
    (500, 3)
    """
    shape = (n_prompts, outputs)
    n_errors = len(model.errors)
    present = _present(model, shape, rng)
    classes = model.classes
    limits = norm.ppf(classes[["sensitivity", "false_alarms"]].to_numpy()).T
    mood = np.sqrt(model.halo) * rng.standard_normal((*shape, raters, 1))
    noise = np.sqrt(1 - model.halo) * rng.standard_normal((*shape, raters, n_errors))
    marks = mood + noise < np.where(present, *limits)[:, :, None]
    seen = np.where(
        present, classes["expert_sensitivity"], classes["expert_false_alarms"]
    )
    expert = rng.random(seen.shape) < np.nan_to_num(seen)
    quality = (
        model.base
        - present @ model.losses[model.errors].to_numpy()
        + model.prompt_sd * rng.standard_normal((n_prompts, 1))
        + model.output_sd * rng.standard_normal(shape)
    )
    scores = quality[:, :, None] + model.rater_sd * rng.standard_normal(
        (*shape, raters)
    )
    return Outputs(model, present, marks, expert, scores)


def _present(
    model: StudyModel, shape: tuple[int, int], rng: np.random.Generator
) -> np.ndarray:
    """Draw which errors are there."""
    n_prompts, n_errors = shape[0], len(model.errors)
    shared = rng.standard_normal((n_prompts, 1, n_errors))
    own = rng.standard_normal((*shape, n_errors))
    mixed = np.sqrt(model.prompt_share) * shared + np.sqrt(1 - model.prompt_share) * own
    liability = mixed @ np.linalg.cholesky(model.correlations).T
    return liability < norm.ppf(model.classes["prevalence"].to_numpy())


def example_model() -> StudyModel:
    """Make a small model with one error, for examples and tests."""
    return StudyModel(
        classes=pd.DataFrame([[0.3, 0.8, 0.05, 0.9, 0.02]], ["refusal"], list(COLUMNS)),
        correlations=np.eye(1),
        prompt_share=0.2,
        halo=0.1,
        losses=pd.Series({"refusal": 1.0}, name="loss"),
        raters=4,
        told=np.eye(1),
        base=4.0,
        prompt_sd=0.3,
        output_sd=0.4,
        rater_sd=1.0,
    )


def fit_model(
    marks: pd.DataFrame,
    scores: pd.DataFrame,
    errors: Sequence[str],
    score: str,
    experts: pd.DataFrame | None = None,
) -> StudyModel:
    """Fit the model to single ratings.

    Probabilities of marks are fitted by maximum likelihood. The other numbers are those
    with which the model gives covariances observed between ratings. Losses are chosen
    such that least squares on majority labels is expected to find in a drawn study what
    it finds in the real one.

    Parameters
    ----------
    marks : pandas.DataFrame
        One row per output and rater: ``item_id``, ``prompt_id``, ``rater_id`` and the
        errors, 0 or 1.
    scores : pandas.DataFrame
        One row per output and rater: ``item_id``, ``prompt_id``, ``rater_id`` and the
        score. The raters are other people.
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
    PlainError
        If the probabilities of an error's marks cannot be told.

    References
    ----------
    Searle, Casella and McCulloch (1992), Variance Components, chapter 5 (estimates from
    covariances); Olsson (1979), Maximum Likelihood Estimation of the Polychoric
    Correlation Coefficient, for liabilities.

    Examples
    --------
    >>> single = draw(example_model(), 400, 4, np.random.default_rng(0)).single_ratings()
    >>> model = fit_model(single, single, ["refusal"], "score")
    >>> round(float(model.losses["refusal"]), 1), round(model.rater_sd, 1)
    (1.0, 1.0)
    """
    errors = list(errors)
    classes = fit_classes(marks, errors, experts)
    observed = _covariances(marks, errors)
    correlations = _liability_correlations(classes, observed["output"])
    labels = aggregate(marks, "item_id", mode=errors, first=["prompt_id"])
    means = scores.groupby("item_id")[score].mean().rename("score")
    scored = labels.join(means, on="item_id", how="inner")
    losses = -lasso.ols(scored, errors, "score", "prompt_id")["estimate"]
    model = StudyModel(
        classes=classes,
        correlations=correlations,
        prompt_share=_prompt_share(classes, observed["prompt"]),
        halo=_halo(classes, correlations, observed["person"] - observed["output"]),
        losses=losses[errors],
        raters=int(labels["n_ratings"].median()),
        told=np.eye(len(errors)),
    )
    rng = np.random.default_rng(REFERENCE_SEED)
    reference = draw(model, REFERENCE_PROMPTS, model.raters, rng)
    model = replace(model, told=_told(reference, model.raters))
    model = replace(model, losses=model.losses_behind(losses))
    return _with_scores(model, reference.present, scores, score)


def _covariances(
    ratings: pd.DataFrame, columns: Sequence[str]
) -> dict[str, np.ndarray]:
    """Covariances of ratings of an output by one person, by two, and of two outputs of a prompt."""
    values = ratings[list(columns)].to_numpy(dtype=float)
    rows = np.column_stack([np.ones(len(values)), values - values.mean(axis=0)])
    person = ratings.groupby(["prompt_id", "rater_id"]).ngroup()
    groups = (ratings["item_id"], ratings["prompt_id"], person)
    sums = (cluster_sums(rows, labels) for labels in groups)
    same_rating = rows.T @ rows
    same_output, same_prompt, same_person = (each.T @ each for each in sums)
    products = {
        "person": same_rating,
        "output": same_output - same_rating,
        "prompt": same_prompt - same_output - same_person + same_rating,
    }
    return {name: product[1:, 1:] / product[0, 0] for name, product in products.items()}


def _liability_correlations(classes: pd.DataFrame, observed: np.ndarray) -> np.ndarray:
    """Correlations of liabilities behind the covariance of marks by different people."""
    rise = (classes["sensitivity"] - classes["false_alarms"]).to_numpy()
    target = observed / np.outer(rise, rise)
    first, second = np.meshgrid(
        classes["prevalence"], classes["prevalence"], indexing="ij"
    )
    found = _solve(
        lambda r: _excess(first, second, r) - target, np.full_like(target, -STRONGEST)
    )
    np.fill_diagonal(found, 1.0)
    values, vectors = np.linalg.eigh(found)
    positive = (vectors * np.maximum(values, 1e-6)) @ vectors.T
    scale = np.sqrt(np.diagonal(positive))
    return positive / np.outer(scale, scale)


def _prompt_share(classes: pd.DataFrame, observed: np.ndarray) -> float:
    """Share of liabilities behind the covariance of marks of two outputs of a prompt."""
    prevalence = classes["prevalence"].to_numpy()
    weight = ((classes["sensitivity"] - classes["false_alarms"]) ** 2).to_numpy()
    target = np.trace(observed)
    return float(
        _solve(lambda r: weight @ _excess(prevalence, prevalence, r) - target, 0.0)
    )


def _halo(
    classes: pd.DataFrame, correlations: np.ndarray, observed: np.ndarray
) -> float:
    """Correlation behind what marks by one person covary more than marks by different people."""
    i, j = np.triu_indices(len(classes), 1)
    if not len(i):
        return 0.0
    share = classes["prevalence"].to_numpy()
    together = share[i] * share[j] + _excess(share[i], share[j], correlations[i, j])
    chances = classes[["sensitivity", "false_alarms"]].to_numpy()
    cases = (
        (together, 0, 0),
        (share[i] - together, 0, 1),
        (share[j] - together, 1, 0),
        (1 - share[i] - share[j] + together, 1, 1),
    )
    target = observed[i, j].sum()

    def gap(halo: np.ndarray) -> np.ndarray:
        parts = [
            weight @ _excess(chances[i, a], chances[j, b], halo)
            for weight, a, b in cases
        ]
        return sum(parts) - target

    return float(_solve(gap, 0.0))


def _excess(
    first: np.ndarray, second: np.ndarray, correlation: np.ndarray
) -> np.ndarray:
    """How much oftener two events happen together than if they were independent."""
    a, b, r = (
        np.asarray(x)[..., None]
        for x in (norm.ppf(first), norm.ppf(second), correlation)
    )
    angle = np.arcsin(r) * (NODES + 1) / 2
    density = np.exp(
        -(a**2 + b**2 - 2 * a * b * np.sin(angle)) / (2 * np.cos(angle) ** 2)
    )
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


def _told(outputs: Outputs, raters: int) -> np.ndarray:
    """How much the chance of each error changes with each label, the others held equal."""
    n_errors = len(outputs.model.errors)
    labels = outputs.labels(raters).reshape(-1, n_errors)
    present = outputs.present.reshape(-1, n_errors).astype(float)
    design = np.column_stack([np.ones(len(labels)), labels])
    return np.linalg.lstsq(design, present, rcond=None)[0][1:]


def _with_scores(
    model: StudyModel, present: np.ndarray, scores: pd.DataFrame, score: str
) -> StudyModel:
    """Add the mean and the spread of scores that errors do not explain."""
    lost = present @ model.losses.to_numpy()
    lost = lost - lost.mean()
    lost_by_prompt = (lost.sum(axis=1) ** 2 - (lost**2).sum(axis=1)).mean()
    n_outputs = lost.shape[1]
    observed = {
        name: matrix[0, 0] for name, matrix in _covariances(scores, [score]).items()
    }
    prompt = observed["prompt"] - lost_by_prompt / (n_outputs * (n_outputs - 1))
    output = observed["output"] - (lost**2).mean() - max(prompt, 0.0)
    rater = observed["person"] - observed["output"]
    base = float(scores[score].mean() + model.losses @ model.classes["prevalence"])
    prompt, output, rater = np.sqrt(
        np.maximum([prompt, output, rater], ROUNDING)
    ).tolist()
    return replace(model, base=base, prompt_sd=prompt, output_sd=output, rater_sd=rater)


def describe_model(
    marks: pd.DataFrame,
    outputs: pd.DataFrame,
    errors: Sequence[str],
    score: str,
    alpha: float,
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
        A row per error: ``single marks, %``, ``labels, %``, ``AC1``, ``alpha``, and
        ``Lasso loss``, the points lost.

    Examples
    --------
    >>> drawn = draw(example_model(), 100, 4, np.random.default_rng(0))
    >>> describe_model(drawn.single_ratings(), drawn.table(4), ["refusal"], "score", 0.01).shape
    (1, 5)
    """
    marked = [(marks, "item_id", error, [0, 1]) for error in errors]
    columns = {
        "single marks, %": 100 * marks[list(errors)].mean(),
        "labels, %": 100 * outputs[list(errors)].mean(),
        "AC1": [agreement.gwet_ac1(*each) for each in marked],
        "alpha": [agreement.krippendorff_alpha(*each, "nominal") for each in marked],
        "Lasso loss": -lasso.lasso(outputs, errors, score, alpha),
    }
    return pd.DataFrame(columns, index=list(errors))


def study_losses(
    moments: ClusterMoments,
    n_prompts: Sequence[int],
    n_sim: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Least squares with cluster-robust errors in many studies of several sizes.

    The estimates are those of `helpers.stats.lasso.ols`. The smaller studies are parts
    of the largest one of the same number, which makes sizes comparable.

    Parameters
    ----------
    moments : ClusterMoments
        One set per prompt of a large population.
    n_prompts : sequence of int
        Prompts in a study, at least 2.
    n_sim : int
        Studies of each size.
    rng : numpy.random.Generator

    Returns
    -------
    pandas.DataFrame
        One row per study and feature, indexed by ``prompts``, ``study`` and
        ``feature``: ``estimate``, ``standard_error``, ``low`` and ``high``. NaN where a
        feature does not vary in a study or cannot be told from others.

    References
    ----------
    Cameron and Miller (2015), A Practitioner's Guide to Cluster-Robust Inference,
    section II.

    Examples
    --------
    >>> from helpers.stats.moments import cluster_moments
    >>> frame = pd.DataFrame({"refusal": [0, 1] * 50, "score": np.tile([5.0, 3.0, 4.0, 3.5], 25),
    ...                       "prompt_id": np.arange(100) // 4})
    >>> moments = cluster_moments(frame, ["refusal"], "score", "prompt_id")
    >>> studies = study_losses(moments, [10], 3, np.random.default_rng(0))
    >>> studies["estimate"].round(2).tolist()
    [-1.25, -1.25, -1.25]
    """
    sizes = sorted(n_prompts)
    studies = []
    for _ in range(n_sim):
        products = moments.products[rng.integers(len(moments.products), size=sizes[-1])]
        studies.append(_least_squares(products, sizes))
    return _with_intervals(studies, sizes, moments.features)


def _with_intervals(
    studies: Sequence[np.ndarray], sizes: Sequence[int], features: Sequence[str]
) -> pd.DataFrame:
    """Set out estimates and errors of studies, from `_least_squares`, with 95 % intervals."""
    estimate, error = np.stack(studies, axis=2)
    margin = t.ppf(0.975, np.array(sizes) - 1)[:, None, None] * error
    results = {"estimate": estimate, "standard_error": error}
    results |= {"low": estimate - margin, "high": estimate + margin}
    levels = {"prompts": sizes, "study": range(len(studies)), "feature": features}
    index = pd.MultiIndex.from_product(levels.values(), names=list(levels))
    return pd.DataFrame({name: each.ravel() for name, each in results.items()}, index)


def _least_squares(products: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    """Estimates and their errors from the first prompts, shape (2, n_sizes, n_features)."""
    n_prompts = np.array(sizes)
    parts = np.add.reduceat(products, [0, *sizes[:-1]], axis=0)
    total = parts.cumsum(axis=0)
    gram = total[:, :-1, :-1]
    inverse = _inverses(gram)
    coefficients = (inverse @ total[:, :-1, -1:])[..., 0]
    residual = np.column_stack([coefficients, np.full(len(sizes), -1.0)])
    scores = products.reshape(-1, residual.shape[1]) @ residual.T
    scores = scores.reshape(*products.shape[:2], len(sizes))[:, :-1]
    squares = [
        ((scores[:size, :, place] @ inverse[place]) ** 2).sum(axis=0)
        for place, size in enumerate(sizes)
    ]
    n_rows, rank = total[:, 0, 0], gram.shape[1]
    correction = n_prompts / (n_prompts - 1) * (n_rows - 1) / (n_rows - rank)
    error = np.sqrt(correction[:, None] * np.array(squares))
    told = np.abs(np.diagonal(inverse @ gram, axis1=1, axis2=2) - 1) < TESTABLE
    return np.where(told, [coefficients, error], np.nan)[:, :, 1:]


def _inverses(gram: np.ndarray) -> np.ndarray:
    """Inverses, and pseudo-inverses where a feature does not vary or repeats others."""
    scale = np.sqrt(np.maximum(np.diagonal(gram, axis1=1, axis2=2), ROUNDING))
    singular = np.linalg.det(gram / (scale[:, :, None] * scale[:, None])) < ROUNDING
    inverse = np.empty_like(gram)
    inverse[~singular] = np.linalg.inv(gram[~singular])
    if singular.any():
        inverse[singular] = np.linalg.pinv(
            gram[singular], rcond=ROUNDING, hermitian=True
        )
    return inverse


def detection(studies: pd.DataFrame, signs: Mapping, by: str) -> pd.DataFrame:
    """Share of studies whose interval lies on the right side of zero.

    Parameters
    ----------
    studies : pandas.DataFrame
        ``low`` and ``high``, with ``study`` in the index, as from `study_losses`.
    signs : mapping
        For each feature or error, 1 if its truth is above zero, -1 if it is below.
    by : str
        Level of the index with the keys of `signs`.

    Returns
    -------
    pandas.DataFrame
        Indexed like `studies` without ``study``: ``estimate`` (the power), and the 95 %
        interval ``low`` and ``high`` for the chance of simulation (Wilson). A study
        without an interval has not detected anything.

    References
    ----------
    Wilson (1927); Morris, White and Crowther (2019), Using simulation studies to
    evaluate statistical methods, section 5.2.

    Examples
    --------
    >>> index = pd.MultiIndex.from_product([[0, 1], ["refusal"]], names=["study", "feature"])
    >>> studies = pd.DataFrame({"low": [-2.0, -1.0], "high": [-0.1, 0.3]}, index=index)
    >>> detection(studies, {"refusal": -1}, "feature").round(2)
             estimate   low  high
    feature
    refusal       0.5  0.09  0.91
    """
    sign = studies.index.get_level_values(by).map(signs)
    found = ((sign > 0) & (studies["low"] > 0)) | ((sign < 0) & (studies["high"] < 0))
    levels = [name for name in studies.index.names if name != "study"]
    counts = found.groupby(level=levels, sort=False).agg(["sum", "size"])
    low, high = proportion_confint(counts["sum"], counts["size"], method="wilson")
    return pd.DataFrame(
        {"estimate": counts["sum"] / counts["size"], "low": low, "high": high}
    )


def new_studies(
    model: StudyModel,
    cases: Mapping[str, pd.Series],
    raters: Sequence[int],
    n_prompts: Sequence[int],
    n_sim: int,
    seed: int,
) -> dict[tuple[str, int], pd.DataFrame]:
    """Least squares in many studies of several sizes, each study drawn anew.

    The smaller studies are parts of the largest one of the same number, those with
    fewer raters are the same outputs with fewer ratings, and other losses bring other
    scores of the same outputs; this makes all of them comparable.

    Parameters
    ----------
    model : StudyModel
        Result of `fit_model`.
    cases : mapping of str to pandas.Series
        For each case the points lost by each error, as least squares on labels finds
        them.
    raters : sequence of int
        People who check an output, and as many others who score it.
    n_prompts : sequence of int
        Prompts in a study, at least 2.
    n_sim : int
        Studies of each size.
    seed : int
        Of the random numbers.

    Returns
    -------
    dict
        For each case and number of raters a table as from `study_losses`.

    Examples
    --------
    >>> cases = {"as found": pd.Series({"refusal": 1.0}), "none": pd.Series({"refusal": 0.0})}
    >>> studies = new_studies(example_model(), cases, [2], [20], 100, 0)
    >>> sorted(studies), len(studies["none", 2])
    ([('as found', 2), ('none', 2)], 100)
    """
    sizes = sorted(n_prompts)
    rng = np.random.default_rng(seed)
    losses = {case: model.losses_behind(found) for case, found in cases.items()}
    found = {(case, number): [] for case in cases for number in raters}
    for count in _portions(n_sim, sizes[-1]):
        drawn = draw(model, count * sizes[-1], max(raters), rng)
        for case, number in found:
            table = drawn.with_losses(losses[case]).table(number)
            moments = cluster_moments(table, model.errors, "score", "prompt_id")
            for products in np.split(moments.products, count):
                found[case, number].append(_least_squares(products, sizes))
    return {
        key: _with_intervals(studies, sizes, model.errors)
        for key, studies in found.items()
    }


def loss_power(
    model: StudyModel,
    cases: Mapping[str, pd.Series],
    raters: Sequence[int],
    n_prompts: Sequence[int],
    n_sim: int,
    seed: int,
) -> pd.DataFrame:
    """Power to detect what each error costs, from studies that are each drawn anew.

    A loss is detected if the 95 % interval of least squares, clustered by prompt, lies
    on the side of zero where the loss is.

    Parameters
    ----------
    model, cases, raters, n_prompts, n_sim, seed
        As in `new_studies`.

    Returns
    -------
    pandas.DataFrame
        ``estimate``, ``low`` and ``high`` as from `detection`, indexed by ``case``,
        ``labels`` (the number of raters), ``prompts`` and ``feature``.

    Examples
    --------
    >>> cases = {"as found": pd.Series({"refusal": 1.0})}
    >>> power = loss_power(example_model(), cases, [1, 2], [20], 100, 0)
    >>> power["estimate"].min() > 0.5
    np.True_
    """
    studies = new_studies(model, cases, raters, n_prompts, n_sim, seed)
    powers = {}
    for case, number in studies:
        sides = -np.sign(cases[case])
        powers[case, number] = detection(studies[case, number], sides, "feature")
    return pd.concat(powers, names=["case", "labels"])


def _portions(n_sim: int, n_prompts: int) -> list[int]:
    """How many studies to draw at once, so that there are neither too many prompts nor too few."""
    at_once = max(1, PROMPTS_AT_ONCE // n_prompts)
    return [min(at_once, n_sim - start) for start in range(0, n_sim, at_once)]


def gap_power(
    model: StudyModel,
    raters: Sequence[int],
    designs: Sequence[tuple[int, int]],
    n_sim: int,
    seed: int,
) -> pd.DataFrame:
    """Power to detect that the crowd finds an error more or less often than experts.

    A gap is detected if the 95 % interval of the difference of rates, clustered by
    prompt, lies on the side of zero where the difference is. The crowd's rate is that
    of its majority labels, and so depends on how many raters there are. Each study is
    drawn anew.

    Parameters
    ----------
    model : StudyModel
        Result of `fit_model`, with experts.
    raters : sequence of int
        People who check an output.
    designs : sequence of (int, int)
        Prompts that the crowd checks, and how many of them an expert checks too.
    n_sim : int
        Simulated studies.
    seed : int
        Of the random numbers; all designs get the same prompts.

    Returns
    -------
    pandas.DataFrame
        ``gap`` (percentage points, over all outputs that were drawn), and ``estimate``,
        ``low`` and ``high`` as from `detection`, indexed by ``raters``, ``prompts``,
        ``expert_prompts`` and ``error``.

    Examples
    --------
    >>> power = gap_power(example_model(), [1], [(40, 10)], 100, 0)
    >>> power["gap"].item() < 0
    True
    """
    errors = model.errors
    largest = max(prompts for prompts, _ in designs)
    rng = np.random.default_rng(seed)
    gaps = {number: [] for number in raters}
    studies = {number: [] for number in raters}
    for count in _portions(n_sim, largest):
        drawn = draw(model, count * largest, max(raters), rng)
        expert = 100 * drawn.expert.mean(axis=1)
        expert_parts = np.split(expert, count)
        for number in raters:
            crowd = 100 * drawn.labels(number).mean(axis=1)
            crowd_parts = np.split(crowd, count)
            for crowd_rate, expert_rate in zip(crowd_parts, expert_parts, strict=True):
                gaps[number].append((crowd_rate - expert_rate).mean(axis=0))
                studies[number].append(
                    [_gap(crowd_rate, expert_rate, *pair) for pair in designs]
                )
    quantiles = t.ppf(0.975, [checked - 1 for _, checked in designs])
    keys = [
        (*pair, study, error)
        for pair in designs
        for study in range(n_sim)
        for error in errors
    ]
    index = pd.MultiIndex.from_tuples(
        keys, names=["prompts", "expert_prompts", "study", "error"]
    )
    powers = {}
    for number in raters:
        gap = pd.Series(np.mean(gaps[number], axis=0), errors)
        found, error = np.array(studies[number]).transpose(2, 1, 0, 3)
        margin = quantiles[:, None, None] * error
        ends = np.column_stack([(found - margin).ravel(), (found + margin).ravel()])
        power = detection(
            pd.DataFrame(ends, index, ["low", "high"]), np.sign(gap), "error"
        )
        power.insert(0, "gap", power.index.get_level_values("error").map(gap))
        powers[number] = power
    return pd.concat(powers, names=["raters"])


def _gap(
    crowd: np.ndarray, expert: np.ndarray, prompts: int, expert_prompts: int
) -> np.ndarray:
    """Each gap and its standard error, shape (2, n_errors)."""
    crowd, expert = crowd[:prompts], expert[:expert_prompts]
    gap = crowd.mean(axis=0) - expert.mean(axis=0)
    influence = (crowd - crowd.mean(axis=0)) / prompts
    influence[:expert_prompts] -= (expert - expert.mean(axis=0)) / expert_prompts
    return np.array(
        [gap, np.sqrt((influence**2).sum(axis=0) * prompts / (prompts - 1))]
    )


def outputs_needed(
    power: pd.DataFrame, by: Sequence[str], outputs: int
) -> pd.DataFrame:
    """Find the smallest number of outputs with a power of 80 %.

    Parameters
    ----------
    power : pandas.DataFrame
        ``estimate``, ``low`` and ``high`` with ``prompts`` in the index.
    by : sequence of str
        Other levels of the index: each combination gets a row.
    outputs : int
        Outputs of each prompt.

    Returns
    -------
    pandas.DataFrame
        ``estimate``, ``low`` and ``high``: where the power and the ends of its interval
        reach 80 % between the sizes that were tried; the smallest of these if all do,
        infinite if none does.

    Examples
    --------
    >>> index = pd.MultiIndex.from_product([["refusal"], [20, 80]], names=["error", "prompts"])
    >>> power = pd.DataFrame({"estimate": [0.5, 0.9], "low": [0.4, 0.8], "high": [0.6, 0.95]},
    ...                      index)
    >>> outputs_needed(power, ["error"], 5).round(0)  # doctest: +NORMALIZE_WHITESPACE
             estimate    low   high
    error
    refusal     274.0  202.0  400.0
    """
    columns = {"estimate": "estimate", "low": "high", "high": "low"}
    rows = {}
    for key, part in power.groupby(list(by), sort=False):
        roots = np.sqrt(
            outputs * part.index.get_level_values("prompts").to_numpy(dtype=float)
        )
        found = {
            bound: _crossing(roots, part[column]) for bound, column in columns.items()
        }
        rows[key] = pd.Series(found)
    return pd.DataFrame(rows).T.rename_axis(index=list(by))


def _crossing(roots: np.ndarray, power: pd.Series) -> float:
    """Size at which the power is what it should be, from the square roots of the sizes tried."""
    power = np.maximum.accumulate(power.to_numpy())
    if power[-1] < POWER:
        return np.inf
    heights = norm.ppf(np.clip(power, 1e-6, 1 - 1e-6))
    reached = int(np.argmax(power >= POWER))
    near = slice(max(reached - 1, 0), reached + 1)
    return float(np.interp(norm.ppf(POWER), heights[near], roots[near]) ** 2)


def size_text(needed: pd.DataFrame, smallest: int, largest: int) -> pd.Series:
    """Write numbers of outputs with two digits, and their range by simulation.

    Parameters
    ----------
    needed : pandas.DataFrame
        Result of `outputs_needed`.
    smallest, largest : int
        Smallest and largest number of outputs that was tried: below the one and above
        the other nothing is known.

    Returns
    -------
    pandas.Series of str
        The estimate and, in words, the range that the chance of the simulation leaves;
        only the estimate where it is beyond the largest number, or where the whole
        range lies below the smallest.

    Examples
    --------
    >>> needed = pd.DataFrame(
    ...     {"estimate": [274.0, 150.0, np.inf], "low": [202.0, 150.0, 5200.0],
    ...      "high": [400.0, 150.0, np.inf]}, ["refusal", "relevance", "scope"])
    >>> size_text(needed, 150, 6000).tolist()
    ['270 (200 to 400)', '150 or fewer', '> 6,000']
    """
    texts = {}
    for key, row in needed.iterrows():
        estimate, low, high = (_size(row[end], smallest, largest) for end in ENDS)
        if estimate == high or np.isinf(row["estimate"]):
            texts[key] = estimate
        elif np.isinf(row["high"]) and estimate == low:
            texts[key] = f"{estimate} (perhaps {high})"
        elif estimate == low:
            texts[key] = f"{estimate} (up to {high})"
        else:
            texts[key] = f"{estimate} ({low} to {high})"
    return pd.Series(texts, dtype=object).reindex(needed.index)


def _size(number: float, smallest: int, largest: int) -> str:
    """Write one number of outputs."""
    if np.isinf(number):
        return f"> {largest:,}"
    if number < smallest + 0.5:  # it was not looked for below
        return f"{smallest:,} or fewer"
    return f"{float(f'{number:.2g}'):,.0f}"


def power_panel(ax: Axes, title: str, power: pd.DataFrame, real: float) -> None:
    """Draw power against size or cost on a logarithmic axis, a curve for each number of raters.

    A dotted line stands at the power that a study should have.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axis to draw on.
    title : str
        Title of the panel.
    power : pandas.DataFrame
        ``estimate``, ``low`` and ``high`` as from `detection`, and ``x``, the size or
        cost; the first level of the index is the number of raters.
    real : float
        Size, or cost, of the real study, which gets a vertical line.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> fig, ax = plt.subplots()
    >>> power = {"estimate": [0.4, 0.9], "low": [0.3, 0.8], "high": [0.5, 1.0], "x": [200, 5000]}
    >>> power_panel(ax, "refusal", pd.DataFrame(power, index=[3, 3]), 900)
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['300', '1,000', '3,000']
    >>> plt.close(fig)
    """
    for place, (raters, curve) in enumerate(power.groupby(level=0)):
        color = COLORS[place % len(COLORS)]
        marker = MARKERS[place % len(MARKERS)]
        percent = 100 * curve[["estimate", "low", "high"]]
        label = "1 rater" if raters == 1 else f"{raters} raters"
        curve = percent.assign(x=curve["x"])
        binned_rates(ax, curve, color=color, label=label, marker=marker)
    ax.axhline(100 * POWER, color=INK, linestyle=":", linewidth=1.2)
    ax.axvline(real, color=GREY, linewidth=1)
    ax.set(
        xscale="log", ylim=(0, 102), title=title, ylabel="power, % of simulated studies"
    )
    ax.label_outer()
    ticks = [tick for tick in TICKS if power["x"].min() <= tick <= power["x"].max()]
    ax.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    ax.minorticks_off()
