"""How often prediction-powered intervals hold the true rate, in simulated labels.

The simulated study has the design of the real one: outputs come in prompts, experts label some of
the prompts whole, and several crowd workers mark every output, missing errors and imagining others.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import norm

from helpers.stats.bootstrap import interval
from helpers.stats.rates import (
    ESTIMATORS,
    cluster_draws,
    estimates,
    independent_intervals,
    label_terms,
    wilson_intervals,
)


@dataclass(frozen=True)
class LabellingDesign:
    """A study in which experts label a random part of the prompts, and the crowd labels all.

    Parameters
    ----------
    rate : float
        True share of outputs with the error.
    sensitivity, false_positive : float
        Probabilities that a crowd worker marks an error that is there, and one that is not.
    prompts, labelled_prompts, outputs_per_prompt, raters : int
        Sizes: prompts, those that experts label, outputs to each, crowd workers to an output.
    prompt_share : float
        Share of the variance of the liability to an error that outputs to a prompt have in common.

    Examples
    --------
    >>> LabellingDesign(rate=0.2).labelled_prompts
    60
    """

    rate: float
    sensitivity: float = 0.28
    false_positive: float = 0.08
    prompts: int = 300
    labelled_prompts: int = 60
    outputs_per_prompt: int = 1
    raters: int = 4
    prompt_share: float = 0.2


def simulate_labels(
    rng: np.random.Generator, design: LabellingDesign, n_studies: int
) -> tuple[np.ndarray, np.ndarray]:
    """Draw true errors and what the crowd's majority makes of them; ties count half.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of randomness.
    design : LabellingDesign
        The study.
    n_studies : int
        How many studies to draw.

    Returns
    -------
    crowd, truth : numpy.ndarray, shape (n_studies, prompts, outputs_per_prompt)

    Examples
    --------
    >>> crowd, truth = simulate_labels(np.random.default_rng(0), LabellingDesign(rate=0.5), 10)
    >>> crowd.shape, np.unique(crowd).tolist()
    ((10, 300, 1), [0.0, 0.5, 1.0])
    """
    shape = (n_studies, design.prompts, design.outputs_per_prompt)
    shared = np.sqrt(design.prompt_share) * rng.normal(size=(*shape[:2], 1))
    own = np.sqrt(1 - design.prompt_share) * rng.normal(size=shape)
    truth = (shared + own < norm.ppf(design.rate)).astype(float)
    chances = np.where(truth == 1, design.sensitivity, design.false_positive)
    share = rng.binomial(design.raters, chances) / design.raters
    return (np.sign(share - 0.5) + 1) / 2, truth


def coverage(
    design: LabellingDesign, n_studies: int, n_boot: int, rng: np.random.Generator
) -> pd.DataFrame:
    """How often 95 % intervals hold the true rate, and how wide they are.

    All studies share the bootstrap replicates, which saves time and leaves each one valid.

    Parameters
    ----------
    design : LabellingDesign
        The study.
    n_studies : int
        How many studies to simulate.
    n_boot : int
        Number of bootstrap replicates.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    pandas.DataFrame
        Indexed by ``estimator`` and ``interval`` as `helpers.powered_rates.rates`: ``coverage`` in
        percent with its standard error ``simulation_error``, mean ``width`` and ``bias`` of the
        estimate in percentage points.

    References
    ----------
    Angelopoulos et al. (2023), Prediction-powered inference, Science 382.

    Examples
    --------
    >>> table = coverage(LabellingDesign(rate=0.3), 200, 200, np.random.default_rng(0))
    >>> table["coverage"].unstack()
    interval            Wilson  independent  resampled
    estimator
    crowd                  0.0          0.0        0.0
    experts               93.0         94.5       94.5
    prediction-powered    95.0         91.0       93.0
    """
    crowd, truth = simulate_labels(rng, design, n_studies)
    n_labelled = design.labelled_prompts
    labelled = np.arange(design.prompts)[:, None] < n_labelled
    sums = label_terms(crowd, np.where(labelled, truth, np.nan)).sum(axis=2).swapaxes(0, 1)
    parts = (crowd[:, :n_labelled], crowd[:, n_labelled:], truth[:, :n_labelled])
    ends = {
        "independent": independent_intervals(*(part.reshape(n_studies, -1).T for part in parts)),
        "resampled": np.stack(interval(estimates(cluster_draws(sums, n_boot, rng)), axis=1), 1),
        "Wilson": wilson_intervals(sums),
    }
    bias = 100 * (estimates(sums.sum(axis=0)).mean(axis=1) - design.rate)
    rows = {
        (estimator, kind): _summary(*bounds[number], design.rate) | {"bias": bias[number]}
        for number, estimator in enumerate(ESTIMATORS)
        for kind, bounds in ends.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(["estimator", "interval"])


def _summary(low: np.ndarray, high: np.ndarray, rate: float) -> dict[str, float]:
    """Share of intervals that hold the rate, its standard error, and the mean width."""
    held = ((low <= rate) & (rate <= high)).mean()
    return {
        "coverage": 100 * held,
        "simulation_error": 100 * np.sqrt(held * (1 - held) / len(low)),
        "width": 100 * (high - low).mean(),
    }
