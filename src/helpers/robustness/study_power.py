"""How often studies of some size find what is there, from studies that are drawn.

Every study is drawn anew from a model of `helpers.robustness.study_model`.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.stats import t
from statsmodels.stats.proportion import proportion_confint

from helpers.robustness.study_model import StudyModel, draw

PROMPTS_AT_ONCE = 10_000  # drawn for simulated studies


def detection(studies: pd.DataFrame, signs: Mapping, by: str) -> pd.DataFrame:
    """Share of studies whose interval lies on the right side of zero.

    Parameters
    ----------
    studies : pandas.DataFrame
        ``low`` and ``high``, with ``study`` in the index.
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
