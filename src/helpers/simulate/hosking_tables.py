"""Simulated rating tables of Hosking et al., "Human Feedback is not Gold Standard" (2024).

`helpers.simulate.hosking_outputs` says what the rated outputs are like. The model of rating them:

1. Raters see two outputs to a prompt side by side. They add noise of their own to each quality
   and put it on the scale. Errors weigh more for raters who had to look for them. Raters are
   independent: as in the released data, the two ratings of a pair are no more alike than others.
2. Raters miss errors and mark some that are not there. In experiment 2 they miss more of the
   hidden ones the more assertive the preamble is. Experts hardly miss any.
"""

import numpy as np
import pandas as pd

from helpers.files import schemas
from helpers.simulate.hosking_outputs import outputs_1, outputs_2, pairs
from helpers.simulate.scales import to_scale
from helpers.simulate.truths import Hosking1Truth, Hosking2Truth

HIDDEN_ERRORS = ("contradiction", "inconsistency", "factuality", "repetition")
TONES = ["assertiveness", "complexity"]
SCALE = (1, 5)


def hosking_experiment_1(
    rng: np.random.Generator, truth: Hosking1Truth | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Simulate the ratings of five systems: errors, factors and quality.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of randomness.
    truth : Hosking1Truth, optional
        The numbers to simulate from; by default those of a study like the real one.

    Returns
    -------
    errors, unbiased : pandas.DataFrame
        Tables as in `schemas.HOSKING_1_ERRORS` and `schemas.HOSKING_1_UNBIASED`: one row per
        output and rater, two rows to a pair.

    References
    ----------
    Hosking et al. (2024), sections 2.1 and 2.2, table 2.

    Examples
    --------
    >>> errors, unbiased = hosking_experiment_1(np.random.default_rng(0))
    >>> len(errors), len(unbiased), int(errors["is_distractor"].sum())
    (4440, 4440, 180)
    """
    truth = truth or Hosking1Truth()
    outputs = outputs_1(rng, truth)
    shown = pairs(rng, outputs, truth)
    errors = _submissions(rng, outputs, shown)
    errors = _crowd_marks(rng, errors, truth.sensitivity, truth)
    errors = _score_with_factors(rng, errors, truth)
    unbiased = _score(rng, _submissions(rng, outputs, shown), ["quality_unbiased"], truth)
    return (
        errors[[*schemas.HOSKING_1_ERRORS.columns]],
        unbiased[[*schemas.HOSKING_1_UNBIASED.columns]],
    )


def hosking_experiment_2(
    rng: np.random.Generator, truth: Hosking2Truth | None = None
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Simulate the ratings of outputs with varied assertiveness and complexity.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of randomness.
    truth : Hosking2Truth, optional
        The numbers to simulate from; by default those of a study like the real one.

    Returns
    -------
    errors, unbiased, perception : pandas.DataFrame
        Tables as in `schemas.HOSKING_2_ERRORS`, `schemas.HOSKING_2_UNBIASED` and
        `schemas.HOSKING_2_PERCEPTION`: one row per output and rater, two rows to a pair.

    References
    ----------
    Hosking et al. (2024), section 3, table 3.

    Examples
    --------
    >>> errors, unbiased, perception = hosking_experiment_2(np.random.default_rng(0))
    >>> len(errors), len(unbiased), len(perception), int(errors["is_distractor"].sum())
    (7200, 7200, 7200, 300)
    """
    truth = truth or Hosking2Truth()
    outputs = outputs_2(rng, truth)
    shown = pairs(rng, outputs, truth)
    errors = _submissions(rng, outputs, shown)
    errors = _crowd_marks(rng, errors, _sensitivity_2(errors, truth), truth)
    errors = _score(rng, errors, ["quality_biased"], truth)
    unbiased = _score(rng, _submissions(rng, outputs, shown), ["quality_unbiased"], truth)
    perception = _score(rng, _submissions(rng, outputs, shown), TONES, truth)
    return (
        errors[[*schemas.HOSKING_2_ERRORS.columns]],
        unbiased[[*schemas.HOSKING_2_UNBIASED.columns]],
        perception[[*schemas.HOSKING_2_PERCEPTION.columns]],
    )


def hosking_experts(rng: np.random.Generator, truth: Hosking2Truth | None = None) -> pd.DataFrame:
    """Simulate the experts' labels of part of the outputs of experiment 2.

    Given the same truth and a generator in the same state as `hosking_experiment_2`, the labels
    are of the same outputs with the same true errors.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of randomness.
    truth : Hosking2Truth, optional
        The numbers to simulate from; by default those of a study like the real one.

    Returns
    -------
    pandas.DataFrame
        Table as in `schemas.HOSKING_EXPERTS`: the pilot's labels, then one row per output.

    References
    ----------
    Hosking et al. (2024), section 3.1, table 3.

    Examples
    --------
    >>> hosking_experts(np.random.default_rng(0)).value_counts("batch").to_dict()
    {'main': 300, 'pilot': 16}
    """
    truth = truth or Hosking2Truth()
    outputs = outputs_2(rng, truth)
    chosen = outputs["number"].le(truth.expert_prompts_per_task) & ~outputs["is_distractor"]
    main = outputs[chosen].assign(batch="main", rater_id="simulated-rater-001")
    pilot = main.head(truth.pilot_outputs)
    pilot = pilot.assign(batch="pilot", rater_id="simulated-rater-002")
    labels = pd.concat([pilot, main], ignore_index=True)
    labels = _mark(rng, labels, truth.expert_sensitivity, truth.expert_false_positive)
    return labels[[*schemas.HOSKING_EXPERTS.columns]]


def _submissions(
    rng: np.random.Generator, outputs: pd.DataFrame, shown: np.ndarray
) -> pd.DataFrame:
    """Lay out one row per rating, pairs and the two sides of a pair in random order."""
    shown = rng.permuted(rng.permutation(shown), axis=1).ravel()
    pair_id = np.arange(len(shown)) // 2
    ratings = outputs.iloc[shown].reset_index(drop=True)
    return ratings.assign(pair_id=pair_id, rater_id="pair-" + pd.Series(pair_id).astype(str))


def _sensitivity_2(ratings: pd.DataFrame, truth: Hosking2Truth) -> np.ndarray:
    """Give the chance that each error of each rated output is seen if it is there."""
    hidden = ratings["arm"].map(truth.hidden_sensitivity).to_numpy()[:, None]
    return np.where(np.isin(schemas.ERRORS_2, HIDDEN_ERRORS), hidden, truth.sensitivity)


def _crowd_marks(
    rng: np.random.Generator,
    ratings: pd.DataFrame,
    sensitivity: float | np.ndarray,
    truth: Hosking1Truth,
) -> pd.DataFrame:
    """Replace true errors by what the crowd marks, distractors being marked down across errors."""
    imagined = [truth.false_positives[error] for error in _errors(ratings)]
    ratings = _mark(rng, ratings, sensitivity, imagined)
    distractors = ratings["is_distractor"]
    chances = np.tile(list(truth.distractor_marks.values()), (distractors.sum(), 1))
    ratings.loc[distractors, list(truth.distractor_marks)] = _draw(rng, chances)
    return ratings


def _mark(
    rng: np.random.Generator,
    table: pd.DataFrame,
    seen: float | np.ndarray,
    imagined: float | list[float],
) -> pd.DataFrame:
    """Replace true errors by marks, given the chances to mark one that is there or is not."""
    errors = _errors(table)
    table[errors] = _draw(rng, np.where(table[errors] == 1, seen, imagined))
    return table


def _errors(table: pd.DataFrame) -> list[str]:
    """List the kinds of error that a table has."""
    return [error for error in schemas.ERRORS_1 if error in table]


def _draw(rng: np.random.Generator, chances: np.ndarray) -> np.ndarray:
    """Draw 0 or 1 with the given chances of 1."""
    return (rng.random(chances.shape) < chances).astype(float)


def _score(
    rng: np.random.Generator, ratings: pd.DataFrame, columns: list[str], truth: Hosking1Truth
) -> pd.DataFrame:
    """Replace qualities of outputs by each rater's scores."""
    noise = rng.normal(0, truth.rater_sd, (len(ratings), len(columns)))
    ratings[columns] = to_scale(ratings[columns].to_numpy() + noise, *SCALE, truth.rounded)
    return ratings


def _score_with_factors(
    rng: np.random.Generator, ratings: pd.DataFrame, truth: Hosking1Truth
) -> pd.DataFrame:
    """Score quality and, from the same opinion with noise of their own, the six factors."""
    opinions = ratings["quality_biased"] + rng.normal(0, truth.rater_sd, len(ratings))
    noise = rng.normal(0, truth.factor_sd, (len(ratings), len(schemas.FACTORS)))
    factors = to_scale(opinions.to_numpy()[:, None] + noise, *SCALE, truth.rounded)
    ratings[list(schemas.FACTORS)] = factors
    return ratings.assign(quality_biased=to_scale(opinions, *SCALE, truth.rounded))
