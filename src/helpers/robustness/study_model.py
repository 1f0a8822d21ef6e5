"""A model of a rating study, from which studies of any size can be drawn.

An output has an error or not; raters mark it with one probability if it is there and
with another if it is not, experts with probabilities of their own; other people score
the output, and each error that is there costs points. `fit_model` turns the tables of a
real study into such a model, `draw` draws outputs from it. What raters tend to agree on
is what the model calls an error: it cannot know more.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy.stats import norm

from helpers.robustness.crowd import COLUMNS, fit_classes
from helpers.stats import lasso
from helpers.stats.aggregation import aggregate
from helpers.stats.moments import ROUNDING, cluster_sums

REFERENCE_PROMPTS = 10_000  # drawn to translate losses from labels to errors
REFERENCE_SEED = 0
STRONGEST = 0.95  # no correlation between liabilities is taken to be beyond this
HALVINGS = 40  # of the range in which a correlation is looked for
NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(48)


@dataclass(frozen=True, eq=False)
class StudyModel:
    """The numbers from which studies are drawn, estimated by `fit_model`.

    Parameters
    ----------
    classes : pandas.DataFrame
        A row per error: how common it is, and how often crowd and experts mark it where
        it is and where it is not (see `helpers.robustness.crowd.COLUMNS`).
    correlations : numpy.ndarray, shape (n_errors, n_errors)
        Of the liabilities to the errors.
    prompt_share : float
        Share of the variance of a liability that the outputs of a prompt have in
        common.
    halo : float
        Correlation of a rater's slips with different errors of an output.
    losses : pandas.Series
        Points that each error costs.
    raters : int
        People who marked an output of the real study.
    error_by_label : numpy.ndarray, shape (n_errors, n_errors)
        How much the chance of each error (column) changes with each label (row), the
        other labels held equal.
    base : float
        Mean score of an output without errors.
    prompt_sd, output_sd, rater_sd : float
        Standard deviations of scores that errors do not explain.
    """

    classes: pd.DataFrame
    correlations: np.ndarray
    prompt_share: float
    halo: float
    losses: pd.Series
    raters: int
    error_by_label: np.ndarray
    base: float = 0.0
    prompt_sd: float = 0.0
    output_sd: float = 0.0
    rater_sd: float = 0.0

    @property
    def errors(self) -> list[str]:
        """Names of the errors."""
        return list(self.classes.index)

    def losses_behind(self, by_label: pd.Series) -> pd.Series:
        """Losses by the errors themselves, from those by least squares on labels.

        A label is not the error, so that a loss by label differs from the loss by the
        error itself. The one is a linear function of the other, which `fit_model` reads
        off a large drawn study and keeps as `error_by_label`.

        Parameters
        ----------
        by_label : pandas.Series
            Points lost by least squares on majority labels of `raters` people, for each
            error.

        Returns
        -------
        pandas.Series

        References
        ----------
        Gourieroux, Monfort and Renault (1993), Indirect Inference.
        """
        losses = np.linalg.solve(self.error_by_label, by_label[self.errors].to_numpy())
        return pd.Series(losses, index=self.errors, name="loss")


@dataclass(frozen=True, eq=False)
class Outputs:
    """Outputs with their errors, marks and scores, made by `draw`.

    Parameters
    ----------
    model : StudyModel
        From which they were drawn.
    present : numpy.ndarray of bool, shape (n_prompts, n_outputs, n_errors)
        Which errors are there.
    marks : numpy.ndarray of bool, shape (n_prompts, n_outputs, n_raters, n_errors)
        What each rater marks.
    expert : numpy.ndarray of bool, shape (n_prompts, n_outputs, n_errors)
        What an expert marks.
    scores : numpy.ndarray, shape (n_prompts, n_outputs, n_raters)
        By other people.
    """

    model: StudyModel
    present: np.ndarray
    marks: np.ndarray
    expert: np.ndarray
    scores: np.ndarray

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
        outputs_per_prompt = self.present.shape[1]
        table["prompt_id"] = np.arange(len(table)) // outputs_per_prompt
        table["score"] = self.scores[:, :, :raters].mean(axis=2).ravel()
        return table

    def single_ratings(self) -> pd.DataFrame:
        """Set out one row per output and rater, each rater another person.

        Returns
        -------
        pandas.DataFrame
            ``item_id``, ``prompt_id``, ``rater_id``, a mark per error, and the
            ``score`` by one of the others.
        """
        _, outputs_per_prompt, raters_per_output, n_errors = self.marks.shape
        marks = self.marks.reshape(-1, n_errors).astype(float)
        rater = np.arange(len(marks))
        item = rater // raters_per_output
        table = pd.DataFrame(marks, columns=self.model.errors)
        return table.assign(
            score=self.scores.ravel(),
            item_id=item,
            prompt_id=item // outputs_per_prompt,
            rater_id=rater,
        )


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
    present = _draw_errors(model, shape, rng)
    marks = _draw_marks(model, present, raters, rng)
    chance = np.where(
        present,
        model.classes["expert_sensitivity"],
        model.classes["expert_false_alarms"],
    )
    # Without experts their chances are missing, and they mark nothing.
    expert = rng.random(chance.shape) < np.nan_to_num(chance)
    lost = present @ model.losses[model.errors].to_numpy()
    of_prompt = model.prompt_sd * rng.standard_normal((n_prompts, 1))
    of_output = model.output_sd * rng.standard_normal(shape)
    quality = model.base - lost + of_prompt + of_output
    of_rater = model.rater_sd * rng.standard_normal((*shape, raters))
    return Outputs(
        model=model,
        present=present,
        marks=marks,
        expert=expert,
        scores=quality[:, :, None] + of_rater,
    )


def _draw_errors(
    model: StudyModel, shape: tuple[int, int], rng: np.random.Generator
) -> np.ndarray:
    """Draw which errors are there: where a normal liability is below a limit."""
    n_prompts, _ = shape
    n_errors = len(model.errors)
    of_prompt = rng.standard_normal((n_prompts, 1, n_errors))
    of_output = rng.standard_normal((*shape, n_errors))
    share = model.prompt_share
    independent = np.sqrt(share) * of_prompt + np.sqrt(1 - share) * of_output
    liability = independent @ np.linalg.cholesky(model.correlations).T
    return liability < norm.ppf(model.classes["prevalence"].to_numpy())


def _draw_marks(
    model: StudyModel, present: np.ndarray, raters: int, rng: np.random.Generator
) -> np.ndarray:
    """Draw what raters mark; the marks of one rater on an output go together."""
    n_prompts, outputs, n_errors = present.shape
    of_rater = rng.standard_normal((n_prompts, outputs, raters, 1))
    of_mark = rng.standard_normal((n_prompts, outputs, raters, n_errors))
    slip = np.sqrt(model.halo) * of_rater + np.sqrt(1 - model.halo) * of_mark
    if_there = norm.ppf(model.classes["sensitivity"].to_numpy())
    if_not = norm.ppf(model.classes["false_alarms"].to_numpy())
    limit = np.where(present, if_there, if_not)
    return slip < limit[:, :, None]


def example_model() -> StudyModel:
    """Make a small model with one error, for examples and tests."""
    return StudyModel(
        classes=pd.DataFrame([[0.3, 0.8, 0.05, 0.9, 0.02]], ["refusal"], list(COLUMNS)),
        correlations=np.eye(1),
        prompt_share=0.2,
        halo=0.1,
        losses=pd.Series({"refusal": 1.0}, name="loss"),
        raters=4,
        error_by_label=np.eye(1),
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
    >>> drawn = draw(example_model(), 400, 4, np.random.default_rng(0))
    >>> single = drawn.single_ratings()
    >>> model = fit_model(single, single, ["refusal"], "score")
    >>> round(float(model.losses["refusal"]), 1), round(model.rater_sd, 1)
    (1.0, 1.0)
    """
    errors = list(errors)
    classes = fit_classes(marks, errors, experts)
    covariances = _covariances(marks, errors)
    correlations = _liability_correlations(classes, covariances["output"])
    beyond_others = covariances["person"] - covariances["output"]

    labels = aggregate(marks, "item_id", mode=errors, first=["prompt_id"])
    means = scores.groupby("item_id")[score].mean().rename("score")
    scored = labels.join(means, on="item_id", how="inner")
    by_label = -lasso.ols(scored, errors, "score", "prompt_id")["estimate"]

    # Losses by label stand in for losses by error until a study has been drawn; which
    # errors and marks are drawn does not depend on them.
    model = StudyModel(
        classes=classes,
        correlations=correlations,
        prompt_share=_prompt_share(classes, covariances["prompt"]),
        halo=_halo(classes, correlations, beyond_others),
        losses=by_label[errors],
        raters=int(labels["n_ratings"].median()),
        error_by_label=np.eye(len(errors)),
    )
    rng = np.random.default_rng(REFERENCE_SEED)
    reference = draw(model, REFERENCE_PROMPTS, model.raters, rng)
    model = replace(model, error_by_label=_error_by_label(reference, model.raters))
    model = replace(model, losses=model.losses_behind(by_label))
    return _with_scores(model, reference.present, scores, score)


def _covariances(
    ratings: pd.DataFrame, columns: Sequence[str]
) -> dict[str, np.ndarray]:
    """Covariances of two ratings, by what they share.

    Of an output by one person ("person"), of an output by two people ("output"), and of
    two outputs of a prompt by two people ("prompt").
    """
    values = ratings[list(columns)].to_numpy(dtype=float)
    centred = values - values.mean(axis=0)
    rows = np.column_stack([np.ones(len(values)), centred])  # the one counts pairs

    # Sums of products over all pairs of ratings that share something.
    by_output = cluster_sums(rows, ratings["item_id"])
    by_prompt = cluster_sums(rows, ratings["prompt_id"])
    person = ratings.groupby(["prompt_id", "rater_id"]).ngroup()
    by_person = cluster_sums(rows, person)
    same_rating = rows.T @ rows
    same_output = by_output.T @ by_output
    same_prompt = by_prompt.T @ by_prompt
    same_person = by_person.T @ by_person

    two_people = same_output - same_rating
    two_outputs = same_prompt - same_output - same_person + same_rating
    products = {"person": same_rating, "output": two_people, "prompt": two_outputs}
    covariances = {}
    for name, product in products.items():
        n_pairs = product[0, 0]
        covariances[name] = product[1:, 1:] / n_pairs
    return covariances


def _liability_correlations(classes: pd.DataFrame, observed: np.ndarray) -> np.ndarray:
    """Correlations of liabilities behind the covariance of marks by two people."""
    rise = (classes["sensitivity"] - classes["false_alarms"]).to_numpy()
    prevalence = classes["prevalence"].to_numpy()
    return liability_correlations(prevalence, observed / np.outer(rise, rise))


def liability_correlations(prevalence: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Find correlations of liabilities with which errors have these covariances.

    Parameters
    ----------
    prevalence : numpy.ndarray, shape (..., n_errors)
        How common each error is.
    target : numpy.ndarray, shape (..., n_errors, n_errors)
        Covariances of the errors; the diagonal is not used.

    Returns
    -------
    numpy.ndarray, shape (..., n_errors, n_errors)
        A correlation matrix; no pair was taken to be beyond `STRONGEST`.

    Examples
    --------
    >>> target = np.array([[0.25, 0.125], [0.125, 0.25]])
    >>> liability_correlations(np.array([0.5, 0.5]), target).round(2)
    array([[1.  , 0.71],
           [0.71, 1.  ]])
    """
    correlations = pair_correlations(prevalence, target)
    place = np.arange(target.shape[-1])
    # Pairs were taken one by one: together they may not be a correlation matrix.
    values, vectors = np.linalg.eigh(correlations)
    kept = np.maximum(values, 1e-6)[..., None, :]
    positive = (vectors * kept) @ np.swapaxes(vectors, -1, -2)
    scale = np.sqrt(positive[..., place, place])
    return positive / (scale[..., :, None] * scale[..., None, :])


def pair_correlations(prevalence: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Find the correlation of the liabilities to each pair of errors by itself.

    Parameters
    ----------
    prevalence, target : numpy.ndarray
        As for `liability_correlations`.

    Returns
    -------
    numpy.ndarray, shape (..., n_errors, n_errors)
        From -`STRONGEST` to `STRONGEST`. Together they need not be a correlation
        matrix.

    Examples
    --------
    >>> target = np.array([[0.25, 0.125], [0.125, 0.25]])
    >>> pair_correlations(np.array([0.5, 0.5]), target).round(2)
    array([[1.  , 0.71],
           [0.71, 1.  ]])
    """
    first, second = np.triu_indices(target.shape[-1], 1)  # pairs of errors
    of_pairs = target[..., first, second]

    def gap(correlation: np.ndarray) -> np.ndarray:
        together = excess_probability(
            prevalence[..., first], prevalence[..., second], correlation
        )
        return together - of_pairs

    found = _root(gap, low=np.full_like(of_pairs, -STRONGEST))
    correlations = np.ones_like(target)
    correlations[..., first, second] = found
    correlations[..., second, first] = found
    return correlations


def _prompt_share(classes: pd.DataFrame, observed: np.ndarray) -> float:
    """Share of liabilities behind the covariance of two outputs of a prompt."""
    prevalence = classes["prevalence"].to_numpy()
    squared_rise = (classes["sensitivity"] - classes["false_alarms"]).to_numpy() ** 2
    target = np.trace(observed)

    def gap(share: np.ndarray) -> np.ndarray:
        return squared_rise @ excess_probability(prevalence, prevalence, share) - target

    return float(_root(gap, low=0.0))


def _halo(
    classes: pd.DataFrame, correlations: np.ndarray, observed: np.ndarray
) -> float:
    """Correlation behind the covariance of marks by one person beyond others'."""
    first, second = np.triu_indices(len(classes), 1)  # pairs of errors
    if not len(first):
        return 0.0
    target = observed[first, second].sum()
    prevalence = classes["prevalence"].to_numpy()
    chance_1 = prevalence[first]
    chance_2 = prevalence[second]
    both = chance_1 * chance_2
    both = both + excess_probability(chance_1, chance_2, correlations[first, second])
    only_1 = chance_1 - both
    only_2 = chance_2 - both
    neither = 1 - chance_1 - chance_2 + both

    there = classes["sensitivity"].to_numpy()
    not_there = classes["false_alarms"].to_numpy()
    cases = [
        (both, there[first], there[second]),
        (only_1, there[first], not_there[second]),
        (only_2, not_there[first], there[second]),
        (neither, not_there[first], not_there[second]),
    ]

    def gap(halo: np.ndarray) -> np.ndarray:
        covariance = 0
        for chance, marked_1, marked_2 in cases:
            covariance = covariance + chance @ excess_probability(
                marked_1, marked_2, halo
            )
        return covariance - target

    return float(_root(gap, low=0.0))


def excess_probability(
    first: np.ndarray, second: np.ndarray, correlation: np.ndarray
) -> np.ndarray:
    """Chance that two events happen together, beyond that of independent ones.

    The events have the probabilities `first` and `second` and happen where standard
    normal variables with the correlation lie below limits. The excess is the integral
    of the bivariate normal density over correlations from zero (Sheppard), with the
    correlation as the sine of an angle, by Gauss-Legendre quadrature.
    """
    a = np.asarray(norm.ppf(first))[..., None]
    b = np.asarray(norm.ppf(second))[..., None]
    last_angle = np.arcsin(np.asarray(correlation)[..., None])
    angle = last_angle * (NODES + 1) / 2
    distance = a**2 + b**2 - 2 * a * b * np.sin(angle)
    density = np.exp(-distance / (2 * np.cos(angle) ** 2))
    integral = (density * NODE_WEIGHTS).sum(axis=-1) * last_angle[..., 0]
    return integral / (4 * np.pi)


def _root(
    gap: Callable[[np.ndarray], np.ndarray], low: float | np.ndarray
) -> np.ndarray:
    """Where increasing functions are zero, from `low` to `STRONGEST`, by halving."""
    low = np.asarray(low, dtype=float)
    high = np.full_like(low, STRONGEST)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        too_high = gap(middle) > 0
        low = np.where(too_high, low, middle)
        high = np.where(too_high, middle, high)
    return (low + high) / 2


def _error_by_label(outputs: Outputs, raters: int) -> np.ndarray:
    """How the chance of each error changes with each label, the others held equal."""
    n_errors = len(outputs.model.errors)
    labels = outputs.labels(raters).reshape(-1, n_errors)
    present = outputs.present.reshape(-1, n_errors).astype(float)
    design = np.column_stack([np.ones(len(labels)), labels])
    coefficients, *_ = np.linalg.lstsq(design, present, rcond=None)
    return coefficients[1:]


def _with_scores(
    model: StudyModel, present: np.ndarray, scores: pd.DataFrame, score: str
) -> StudyModel:
    """Add the mean of scores, and the variances that errors do not explain."""
    covariances = _covariances(scores, [score])
    one_person = covariances["person"][0, 0]
    two_people = covariances["output"][0, 0]
    two_outputs = covariances["prompt"][0, 0]

    # What errors explain: the covariance of points lost by two outputs of a prompt, and
    # the variance of points lost by an output.
    lost = present @ model.losses.to_numpy()
    lost = lost - lost.mean()
    n_outputs = lost.shape[1]
    products_of_two = (lost.sum(axis=1) ** 2 - (lost**2).sum(axis=1)).mean()
    by_prompt = products_of_two / (n_outputs * (n_outputs - 1))
    by_output = (lost**2).mean()

    prompt_variance = two_outputs - by_prompt
    output_variance = two_people - by_output - max(prompt_variance, 0.0)
    rater_variance = one_person - two_people
    # A difference of covariances can be below zero by chance.
    variances = np.maximum([prompt_variance, output_variance, rater_variance], ROUNDING)
    prompt_sd, output_sd, rater_sd = np.sqrt(variances).tolist()
    expected_loss = model.losses @ model.classes["prevalence"]
    return replace(
        model,
        base=float(scores[score].mean() + expected_loss),
        prompt_sd=prompt_sd,
        output_sd=output_sd,
        rater_sd=rater_sd,
    )
