"""How often studies of some size find what is there, from studies that are drawn.

Every study is drawn anew from a model of `helpers.robustness.study_model`. Estimates
and their cluster-robust errors need only sums within prompts, so that hundreds of
studies of every size take seconds.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.stats import t
from statsmodels.stats.proportion import proportion_confint

from helpers.robustness.study_model import StudyModel, draw
from helpers.stats.moments import ROUNDING, cluster_moments

PROMPTS_AT_ONCE = 10_000  # drawn for simulated studies
IDENTIFIED = 1e-6  # a coefficient is, if its projection is within this of one


def _with_intervals(
    studies: Sequence[np.ndarray], sizes: Sequence[int], features: Sequence[str]
) -> pd.DataFrame:
    """Set out what `_least_squares` gives for each study, with 95 % intervals."""
    estimate, standard_error = np.stack(studies, axis=2)
    df = np.array(sizes) - 1
    margin = t.ppf(0.975, df)[:, None, None] * standard_error
    index = pd.MultiIndex.from_product(
        [sizes, range(len(studies)), features], names=["prompts", "study", "feature"]
    )
    columns = {
        "estimate": estimate.ravel(),
        "standard_error": standard_error.ravel(),
        "low": (estimate - margin).ravel(),
        "high": (estimate + margin).ravel(),
    }
    return pd.DataFrame(columns, index)


def _least_squares(products: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    """Estimates and standard errors from the first prompts, for each size.

    The result has the shape (2, n_sizes, n_features). The variance is the sandwich with
    the correction that Stata calls CR1.
    """
    # Cross-products of (1, features, outcome) over the first prompts of each size.
    between_sizes = np.add.reduceat(products, [0, *sizes[:-1]], axis=0)
    total = between_sizes.cumsum(axis=0)
    gram = total[:, :-1, :-1]
    inverse = _inverses(gram)
    coefficients = (inverse @ total[:, :-1, -1:])[..., 0]

    # The score of a prompt is the sum of (1, features) times residuals over its rows.
    minus_outcome = np.full(len(sizes), -1.0)
    residual = np.column_stack([coefficients, minus_outcome])
    n_columns = residual.shape[1]
    scores = products.reshape(-1, n_columns) @ residual.T
    scores = scores.reshape(*products.shape[:2], len(sizes))[:, :-1]
    meat = []
    for place, size in enumerate(sizes):
        influence = scores[:size, :, place] @ inverse[place]
        meat.append((influence**2).sum(axis=0))

    n_prompts = np.array(sizes)
    n_rows = total[:, 0, 0]
    n_coefficients = gram.shape[1]
    correction = n_prompts / (n_prompts - 1) * (n_rows - 1) / (n_rows - n_coefficients)
    standard_error = np.sqrt(correction[:, None] * np.array(meat))

    # With a pseudo-inverse this product is one only for coefficients that the data fix.
    projection = np.diagonal(inverse @ gram, axis1=1, axis2=2)
    identified = np.abs(projection - 1) < IDENTIFIED
    results = np.where(identified, [coefficients, standard_error], np.nan)
    return results[:, :, 1:]  # without the intercept


def _inverses(gram: np.ndarray) -> np.ndarray:
    """Inverses, and pseudo-inverses where a feature does not vary or repeats others."""
    mean_squares = np.diagonal(gram, axis1=1, axis2=2)
    scale = np.sqrt(np.maximum(mean_squares, ROUNDING))
    scaled = gram / (scale[:, :, None] * scale[:, None])
    singular = np.linalg.det(scaled) < ROUNDING
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
    >>> index = pd.MultiIndex.from_product(
    ...     [[0, 1], ["refusal"]], names=["study", "feature"]
    ... )
    >>> studies = pd.DataFrame({"low": [-2.0, -1.0], "high": [-0.1, 0.3]}, index=index)
    >>> detection(studies, {"refusal": -1}, "feature").round(2)
             estimate   low  high
    feature
    refusal       0.5  0.09  0.91
    """
    sign = studies.index.get_level_values(by).map(signs)
    found_gain = (sign > 0) & (studies["low"] > 0)
    found_loss = (sign < 0) & (studies["high"] < 0)
    detected = found_gain | found_loss
    levels = [name for name in studies.index.names if name != "study"]
    counts = detected.groupby(level=levels, sort=False).agg(["sum", "size"])
    low, high = proportion_confint(counts["sum"], counts["size"], method="wilson")
    power = counts["sum"] / counts["size"]
    return pd.DataFrame({"estimate": power, "low": low, "high": high})


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
        Result of `helpers.robustness.study_model.fit_model`.
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
    >>> from helpers.robustness.study_model import example_model
    >>> cases = {
    ...     "as found": pd.Series({"refusal": 1.0}),
    ...     "none": pd.Series({"refusal": 0.0}),
    ... }
    >>> studies = new_studies(example_model(), cases, [2], [20], 100, 0)
    >>> sorted(studies), len(studies["none", 2])
    ([('as found', 2), ('none', 2)], 100)
    """
    sizes = sorted(n_prompts)
    largest = sizes[-1]
    rng = np.random.default_rng(seed)
    losses = {}
    studies = {}
    for case, by_label in cases.items():
        losses[case] = model.losses_behind(by_label)
        for number in raters:
            studies[case, number] = []
    for n_studies in _portions(n_sim, largest):
        drawn = draw(model, n_studies * largest, max(raters), rng)
        for case, number in studies:
            table = drawn.with_losses(losses[case]).table(number)
            moments = cluster_moments(table, model.errors, "score", "prompt_id")
            for products in np.split(moments.products, n_studies):
                studies[case, number].append(_least_squares(products, sizes))
    return {
        key: _with_intervals(results, sizes, model.errors)
        for key, results in studies.items()
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
    >>> from helpers.robustness.study_model import example_model
    >>> cases = {"as found": pd.Series({"refusal": 1.0})}
    >>> power = loss_power(example_model(), cases, [1, 2], [20], 100, 0)
    >>> power["estimate"].min() > 0.5
    np.True_
    """
    studies = new_studies(model, cases, raters, n_prompts, n_sim, seed)
    powers = {}
    for case, number in studies:
        signs = -np.sign(cases[case])  # a loss lowers the score
        powers[case, number] = detection(studies[case, number], signs, "feature")
    return pd.concat(powers, names=["case", "labels"])


def _portions(n_sim: int, n_prompts: int) -> list[int]:
    """Numbers of studies to draw at once: few enough for memory, enough for speed."""
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
        Result of `helpers.robustness.study_model.fit_model`, with experts.
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
    >>> from helpers.robustness.study_model import example_model
    >>> power = gap_power(example_model(), [1], [(40, 10)], 100, 0)
    >>> power["gap"].item() < 0
    True
    """
    largest = max(prompts for prompts, _ in designs)
    rng = np.random.default_rng(seed)
    true_gaps = {number: [] for number in raters}
    studies = {number: [] for number in raters}
    for n_studies in _portions(n_sim, largest):
        drawn = draw(model, n_studies * largest, max(raters), rng)
        expert = 100 * drawn.expert.mean(axis=1)  # percent of each prompt's outputs
        expert_of_study = np.split(expert, n_studies)
        for number in raters:
            crowd = 100 * drawn.labels(number).mean(axis=1)
            crowd_of_study = np.split(crowd, n_studies)
            for crowd_rates, expert_rates in zip(
                crowd_of_study, expert_of_study, strict=True
            ):
                gap = (crowd_rates - expert_rates).mean(axis=0)
                true_gaps[number].append(gap)
                study = []
                for prompts, expert_prompts in designs:
                    study.append(
                        _gap(crowd_rates, expert_rates, prompts, expert_prompts)
                    )
                studies[number].append(study)

    powers = {}
    for number in raters:
        gap = pd.Series(np.mean(true_gaps[number], axis=0), model.errors)
        intervals = _gap_intervals(np.array(studies[number]), designs, model.errors)
        power = detection(intervals, np.sign(gap), "error")
        power.insert(0, "gap", power.index.get_level_values("error").map(gap))
        powers[number] = power
    return pd.concat(powers, names=["raters"])


def _gap(
    crowd: np.ndarray, expert: np.ndarray, prompts: int, expert_prompts: int
) -> np.ndarray:
    """Each gap and its standard error, shape (2, n_errors), from rates by prompt."""
    crowd = crowd[:prompts]
    expert = expert[:expert_prompts]
    gap = crowd.mean(axis=0) - expert.mean(axis=0)
    influence = (crowd - crowd.mean(axis=0)) / prompts
    influence[:expert_prompts] -= (expert - expert.mean(axis=0)) / expert_prompts
    variance = (influence**2).sum(axis=0) * prompts / (prompts - 1)
    return np.array([gap, np.sqrt(variance)])


def _gap_intervals(
    studies: np.ndarray, designs: Sequence[tuple[int, int]], errors: Sequence[str]
) -> pd.DataFrame:
    """95 % intervals of gaps in studies, shape (n_studies, n_designs, 2, n_errors)."""
    gap, standard_error = studies.transpose(2, 1, 0, 3)  # design, study, error
    df = np.array([expert_prompts - 1 for _, expert_prompts in designs])
    margin = t.ppf(0.975, df)[:, None, None] * standard_error
    keys = []
    for prompts, expert_prompts in designs:
        for study in range(len(studies)):
            for error in errors:
                keys.append((prompts, expert_prompts, study, error))
    index = pd.MultiIndex.from_tuples(
        keys, names=["prompts", "expert_prompts", "study", "error"]
    )
    ends = {"low": (gap - margin).ravel(), "high": (gap + margin).ravel()}
    return pd.DataFrame(ends, index)
