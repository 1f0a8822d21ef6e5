"""The outputs of the experiments of Hosking et al. before anybody rates them.

The model, with the numbers of `Hosking1Truth` or `Hosking2Truth`:

1. An output has an error if its liability, a standard normal variable partly shared by the
   outputs to a prompt, falls below the quantile of the error's rate. Rates hold on average, while
   some prompts invite more errors than others.
2. Its quality is a base, less the weights of its errors, plus a prompt's and an output's own
   effect. In experiment 2, assertiveness and complexity depend on the preamble, and quality rises
   with them.

A prompt's distractor, the same system's response to another prompt, is shown beside one of the
prompt's outputs. Unlike in the released data, that output is always one of those rated elsewhere.
"""

from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import norm

from helpers.files.schemas import ARMS, ERRORS_1, ERRORS_2, SYSTEMS_1, SYSTEMS_2, TASKS
from helpers.simulate.truths import Hosking1Truth, Hosking2Truth

PER_PROMPT = 5
COUPLES = np.array(list(combinations(range(PER_PROMPT), 2)))
EXTRA_RATINGS = 4
QUALITIES = ["quality_unbiased", "quality_biased"]


def outputs_1(rng: np.random.Generator, truth: Hosking1Truth) -> pd.DataFrame:
    """Draw the outputs of experiment 1: every system answers every prompt.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of randomness.
    truth : Hosking1Truth
        The numbers to simulate from.

    Returns
    -------
    pandas.DataFrame
        One row per output, five to a prompt, then one row per distractor. Errors are true ones
        and qualities are not yet on a scale.

    Examples
    --------
    >>> outputs = outputs_1(np.random.default_rng(0), Hosking1Truth())
    >>> len(outputs), int(outputs["is_distractor"].sum())
    (1080, 180)
    """
    n_prompts = len(TASKS) * truth.prompts_per_task
    systems = np.tile(np.array(SYSTEMS_1), (n_prompts, 1))
    partners = np.full(n_prompts, SYSTEMS_1.index("References"))
    outputs = _design(systems, np.full(systems.shape, "baseline"), partners)
    outputs = _add_errors(rng, outputs, _rows(truth.rates, outputs["system"], ERRORS_1), truth)
    return _add_words(rng, _add_quality(rng, outputs, truth), outputs["system"], truth)


def outputs_2(rng: np.random.Generator, truth: Hosking2Truth) -> pd.DataFrame:
    """Draw the outputs of experiment 2: five prompts share out all systems and preambles.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of randomness.
    truth : Hosking2Truth
        The numbers to simulate from.

    Returns
    -------
    pandas.DataFrame
        As from `outputs_1`, with assertiveness and complexity, not yet on a scale.

    Examples
    --------
    >>> outputs = outputs_2(np.random.default_rng(0), Hosking2Truth())
    >>> outputs[~outputs["is_distractor"]].value_counts(["system", "arm"]).unique().tolist()
    [60]
    """
    n_prompts = len(TASKS) * truth.prompts_per_task
    cells = np.tile(np.arange(len(SYSTEMS_2) * len(ARMS)), (-(-n_prompts // PER_PROMPT), 1))
    cells = rng.permuted(cells, axis=1).reshape(-1, PER_PROMPT)[:n_prompts]
    system, arm = np.divmod(cells, len(ARMS))
    partners = rng.integers(PER_PROMPT, size=n_prompts)
    outputs = _design(np.array(SYSTEMS_2)[system], np.array(ARMS)[arm], partners)
    outputs = _add_errors(rng, outputs, _rows(truth.rates, outputs["arm"], ERRORS_2), truth)
    outputs = _add_tone(rng, _add_quality(rng, outputs, truth), truth)
    return _add_words(rng, outputs, outputs["arm"], truth)


def pairs(rng: np.random.Generator, outputs: pd.DataFrame, truth: Hosking1Truth) -> np.ndarray:
    """Decide which two outputs are shown together, and how often.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of randomness.
    outputs : pandas.DataFrame
        From `outputs_1` or `outputs_2`.
    truth : Hosking1Truth
        The numbers of prompts.

    Returns
    -------
    numpy.ndarray of int, shape (n_pairs, 2)
        Row numbers in `outputs`: all couples of outputs to a prompt once, some of them four times
        more, and every distractor beside its partner.

    Examples
    --------
    >>> rng, truth = np.random.default_rng(0), Hosking1Truth()
    >>> pairs(rng, outputs_1(rng, truth), truth).shape
    (2220, 2)
    """
    n_prompts = len(TASKS) * truth.prompts_per_task
    first = PER_PROMPT * np.arange(n_prompts)
    once = (first[:, None, None] + COUPLES).reshape(-1, 2)
    repeated = first[np.arange(n_prompts) % truth.prompts_per_task < truth.repeated_per_task]
    again = repeated[:, None] + rng.choice(COUPLES, size=len(repeated))
    distractors = outputs.index[outputs["is_distractor"]].to_numpy()
    beside = np.column_stack([outputs["partner"].to_numpy()[distractors], distractors])
    return np.concatenate([once, np.repeat(again, EXTRA_RATINGS, axis=0), beside])


def _design(systems: np.ndarray, arms: np.ndarray, partners: np.ndarray) -> pd.DataFrame:
    """List outputs by prompt, then a distractor per prompt that copies its partner's labels."""
    n_prompts, n_outputs = len(systems), systems.size
    partners = PER_PROMPT * np.arange(n_prompts) + partners
    source = np.concatenate([np.arange(n_outputs), partners])
    prompt = source // PER_PROMPT
    per_task = n_prompts // len(TASKS)
    outputs = pd.DataFrame(
        {
            "prompt": prompt,
            "number": prompt % per_task + 1,
            "task": np.array(TASKS)[prompt // per_task],
            "system": systems.ravel()[source],
            "arm": arms.ravel()[source],
            "is_distractor": np.arange(len(source)) >= n_outputs,
            "partner": source,
        }
    )
    number = outputs["number"].astype(str).str.zfill(3)
    outputs["prompt_id"] = outputs["task"] + "-simulated-" + number
    label = outputs["prompt_id"] + "|" + outputs["system"] + "|" + outputs["arm"]
    outputs["item_id"] = label.where(~outputs["is_distractor"], label + "|distractor")
    return outputs


def _rows(rates: dict, keys: pd.Series, errors: tuple[str, ...]) -> pd.DataFrame:
    """Look up each output's error rates in percent."""
    return pd.DataFrame.from_dict(rates, orient="index", columns=errors).loc[keys]


def _add_errors(
    rng: np.random.Generator, outputs: pd.DataFrame, rates: pd.DataFrame, truth: Hosking1Truth
) -> pd.DataFrame:
    """Draw true errors that occur at the given rates and cluster in prompts."""
    prompt = outputs["prompt"].to_numpy()
    shared = rng.normal(size=(prompt.max() + 1, rates.shape[1]))[prompt]
    own = rng.normal(size=rates.shape)
    liability = np.sqrt(truth.prompt_share) * shared + np.sqrt(1 - truth.prompt_share) * own
    present = liability < norm.ppf(rates.to_numpy() / 100)
    return outputs.join(pd.DataFrame(present, columns=rates.columns).astype(float))


def _add_quality(
    rng: np.random.Generator, outputs: pd.DataFrame, truth: Hosking1Truth
) -> pd.DataFrame:
    """Draw qualities as felt with and without looking for errors."""
    prompt = outputs["prompt"].to_numpy()
    quality = truth.base_quality - truth.distractor_penalty * outputs["is_distractor"]
    quality += rng.normal(0, truth.prompt_sd, prompt.max() + 1)[prompt]
    quality += rng.normal(0, truth.output_sd, len(outputs))
    errors = [error for error in ERRORS_1 if error in outputs]
    loss = outputs[errors] @ [truth.weights[error] for error in errors]
    return outputs.assign(
        quality_unbiased=quality - loss, quality_biased=quality - truth.priming * loss
    )


def _add_tone(
    rng: np.random.Generator, outputs: pd.DataFrame, truth: Hosking2Truth
) -> pd.DataFrame:
    """Draw assertiveness and complexity, which are correlated, and what they add to quality."""
    shared, own = rng.normal(0, truth.tone_sd, (2, len(outputs)))
    mixed = truth.tone_correlation * shared + np.sqrt(1 - truth.tone_correlation**2) * own
    assertiveness = outputs["arm"].map(truth.assertiveness) + shared
    complexity = outputs["arm"].map(truth.complexity) + mixed
    gain = truth.assertiveness_effect * (assertiveness - 3)
    gain += truth.complexity_effect * (complexity - 3)
    outputs[QUALITIES] = outputs[QUALITIES].add(gain, axis=0)
    return outputs.assign(assertiveness=assertiveness, complexity=complexity)


def _add_words(
    rng: np.random.Generator, outputs: pd.DataFrame, keys: pd.Series, truth: Hosking1Truth
) -> pd.DataFrame:
    """Draw lengths, log-normal around the medians of systems or preambles."""
    words = keys.map(truth.words) * np.exp(rng.normal(0, truth.words_sd, len(outputs)))
    return outputs.assign(response_words=np.ceil(words).astype(int))
