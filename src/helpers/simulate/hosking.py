"""Simulated ratings, expert labels and submissions of Hosking et al. (2024), with a known truth.

The model, with the numbers of `Hosking1Truth` or `Hosking2Truth`:

1. An output has an error if its liability, a standard normal variable partly shared by
the
   outputs to a prompt, falls below the quantile of the error's rate. Rates hold on
   average, while some prompts invite more errors than others.
2. Its quality is a base, less the weights of its errors, plus a prompt's and an
output's own
   effect. In experiment 2, assertiveness and complexity depend on the preamble, and
   quality rises with them.
3. Raters see two outputs to a prompt side by side. They add noise of their own to each
quality
   and put it on the scale. Errors weigh more for raters who had to look for them.
   Raters are independent: as in the released data, the two ratings of a pair are no
   more alike than others.
4. Raters miss errors and mark some that are not there. In experiment 2 they miss more
of the
   hidden ones the more assertive the preamble is. Experts hardly miss any.
5. A prompt's distractor, the same system's response to another prompt, is shown beside
one of the
   prompt's outputs. Unlike in the released data, that output is always one of those
   rated elsewhere.

Submissions add what the released tables lack: two tasks that the paper does not report,
people, times, answers to attention checks and, if asked for, texts without meaning.

Error rates, and refusals under the baseline and low-assertiveness preambles, are those
that the paper prints. The other numbers are round ones, chosen by eye so that the
simulated tables look like the released ones. They are no estimates.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import ClassVar

import numpy as np
import pandas as pd
from scipy.stats import norm

from helpers.data.columns import hosking as columns
from helpers.data.columns.hosking import (
    ARMS,
    ERRORS_1,
    ERRORS_2,
    FACTORS,
    SYSTEMS_1,
    SYSTEMS_2,
    TASKS,
)

WEIGHTS = {
    "contradiction": 0.2,
    "inconsistency": 0.4,
    "factuality": 0.6,
    "relevance": 0.8,
    "formatting": 1.2,
    "refusal": 1.8,
    "repetition": 0.8,
    "scope": 0.3,
    "fluency": 0.3,
    "harmful": 0.3,
}
FALSE_POSITIVES = {
    "contradiction": 0.03,
    "inconsistency": 0.07,
    "factuality": 0.08,
    "relevance": 0.06,
    "formatting": 0.06,
    "refusal": 0.02,
    "repetition": 0.03,
    "scope": 0.03,
    "fluency": 0.05,
    "harmful": 0.01,
}
DISTRACTOR_MARKS = {
    "contradiction": 0.2,
    "inconsistency": 0.85,
    "factuality": 0.4,
    "relevance": 0.9,
}
HIDDEN_ERRORS = ("contradiction", "inconsistency", "factuality", "repetition")
# In per cent, in the order of ERRORS_1 or ERRORS_2.
RATES_BY_SYSTEM = {
    "Command 52B": (2.50, 4.44, 5.00, 4.44, 1.67, 3.06, 5.56, 0.00, 1.39, 0.83),
    "Command 6B": (2.50, 8.33, 6.94, 6.11, 3.33, 3.33, 5.56, 0.28, 1.11, 0.00),
    "Falcon 40B": (1.94, 8.06, 4.17, 6.94, 5.00, 2.78, 2.22, 2.50, 1.39, 0.00),
    "MPT 30B": (0.28, 3.06, 5.56, 2.22, 1.11, 0.28, 0.28, 0.28, 0.83, 0.00),
    "References": (0.56, 4.72, 8.33, 6.11, 1.67, 0.00, 0.56, 0.28, 0.83, 0.56),
}
RATES_BY_ARM = {
    "baseline": (1.7, 15.2, 20.3, 10.2, 0.0, 3.5, 5.1),
    "assertive_low": (2.1, 14.6, 12.5, 14.6, 4.2, 24.0, 4.2),
    "assertive_high": (1.8, 19.3, 24.6, 5.3, 0.0, 3.0, 10.5),
    "complex_low": (0.0, 16.7, 25.0, 0.0, 3.3, 3.0, 1.7),
    "complex_high": (0.0, 10.2, 18.6, 3.4, 3.4, 1.0, 15.2),
}
# In the order of SYSTEMS_1, or of ARMS: baseline, low and high assertiveness and
# complexity.
WORDS_BY_SYSTEM = dict(zip(SYSTEMS_1, (80, 90, 100, 75, 65), strict=True))
WORDS_BY_ARM = dict(zip(ARMS, (110, 90, 115, 60, 145), strict=True))
ASSERTIVENESS_BY_ARM = dict(zip(ARMS, (3.6, 2.8, 3.8, 3.1, 3.8), strict=True))
COMPLEXITY_BY_ARM = dict(zip(ARMS, (2.8, 2.5, 2.9, 2.1, 3.3), strict=True))
SENSITIVITY_BY_ARM = dict.fromkeys(ARMS, 0.28) | {
    "assertive_low": 0.5,
    "assertive_high": 0.15,
}
WORDS = (
    "we",
    "find",
    "good",
    "ways",
    "with",
    "care",
    "not",
    "bad",
    "considerable",
    "difficulty",
)
SENTENCE = 15  # words

PER_PROMPT = 5
COUPLES = np.array(list(combinations(range(PER_PROMPT), 2)))
EXTRA_RATINGS = 4
QUALITIES = ["quality_unbiased", "quality_biased"]
TONES = ["assertiveness", "complexity"]
SCALE = (1, 5)

# First person and last, and the median time in seconds; neighbouring groups share
# people.
GROUPS = {
    (1, "errors"): (0, 500, 220),
    (1, "unbiased"): (350, 950, 65),
    (2, "errors"): (900, 1500, 135),
    (2, "unbiased"): (1450, 2050, 60),
    (2, "perception"): (2000, 2700, 60),
}
SECONDS_SD = 0.7


@dataclass(frozen=True)
class Hosking1Truth:
    """Truth of the first experiment of Hosking et al.: which errors cost how much quality."""

    kinds: ClassVar[tuple[str, ...]] = ERRORS_1
    prompts_per_task: int = 60
    repeated_per_task: int = 20
    rates: Mapping[str, tuple[float, ...]] = field(default_factory=RATES_BY_SYSTEM.copy)
    weights: Mapping[str, float] = field(default_factory=WEIGHTS.copy)
    priming: float = 1.3
    base_quality: float = 3.9
    prompt_sd: float = 0.4
    output_sd: float = 0.6
    rater_sd: float = 1.1
    factor_sd: float = 0.9
    prompt_share: float = 0.2
    sensitivity: float = 0.7
    false_positives: Mapping[str, float] = field(default_factory=FALSE_POSITIVES.copy)
    distractor_marks: Mapping[str, float] = field(default_factory=DISTRACTOR_MARKS.copy)
    distractor_penalty: float = 3.0
    words: Mapping[str, float] = field(default_factory=WORDS_BY_SYSTEM.copy)
    words_sd: float = 0.6
    rounded: bool = True


@dataclass(frozen=True)
class Hosking2Truth(Hosking1Truth):
    """Truth of the second experiment of Hosking et al.: what assertiveness hides from the crowd."""

    kinds: ClassVar[tuple[str, ...]] = ERRORS_2
    prompts_per_task: int = 100
    repeated_per_task: int = 25
    base_quality: float = 3.7
    output_sd: float = 0.3
    rates: Mapping[str, tuple[float, ...]] = field(default_factory=RATES_BY_ARM.copy)
    words: Mapping[str, float] = field(default_factory=WORDS_BY_ARM.copy)
    hidden_sensitivity: Mapping[str, float] = field(
        default_factory=SENSITIVITY_BY_ARM.copy
    )
    expert_sensitivity: float = 0.97
    expert_false_positive: float = 0.005
    expert_prompts_per_task: int = 20
    pilot_outputs: int = 16
    assertiveness: Mapping[str, float] = field(
        default_factory=ASSERTIVENESS_BY_ARM.copy
    )
    complexity: Mapping[str, float] = field(default_factory=COMPLEXITY_BY_ARM.copy)
    tone_sd: float = 0.6
    tone_correlation: float = 0.5
    assertiveness_effect: float = 0.8
    complexity_effect: float = 0.1


def hosking_experiment_1(
    rng: np.random.Generator, truth: Hosking1Truth | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Simulate the ratings of five systems: errors, factors and quality."""
    truth = truth or Hosking1Truth()
    outputs = _outputs_1(rng, truth)
    shown = _pairs(rng, outputs, truth)
    errors = _crowd_marks(
        rng, _submissions(rng, outputs, shown), truth.sensitivity, truth
    )
    errors = _score_with_factors(rng, errors, truth)
    unbiased = _score(
        rng, _submissions(rng, outputs, shown), ["quality_unbiased"], truth
    )
    return (
        errors[[*columns.HOSKING_1_ERRORS.columns]],
        unbiased[[*columns.HOSKING_1_UNBIASED.columns]],
    )


def hosking_experiment_2(
    rng: np.random.Generator, truth: Hosking2Truth | None = None
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Simulate the ratings of outputs with varied assertiveness and complexity."""
    truth = truth or Hosking2Truth()
    outputs = _outputs_2(rng, truth)
    shown = _pairs(rng, outputs, truth)
    errors = _submissions(rng, outputs, shown)
    hidden = errors["arm"].map(truth.hidden_sensitivity).to_numpy()[:, None]
    seen = np.where(np.isin(ERRORS_2, HIDDEN_ERRORS), hidden, truth.sensitivity)
    errors = _score(
        rng, _crowd_marks(rng, errors, seen, truth), ["quality_biased"], truth
    )
    unbiased = _score(
        rng, _submissions(rng, outputs, shown), ["quality_unbiased"], truth
    )
    perception = _score(rng, _submissions(rng, outputs, shown), TONES, truth)
    return (
        errors[[*columns.HOSKING_2_ERRORS.columns]],
        unbiased[[*columns.HOSKING_2_UNBIASED.columns]],
        perception[[*columns.HOSKING_2_PERCEPTION.columns]],
    )


def hosking_experts(
    rng: np.random.Generator, truth: Hosking2Truth | None = None
) -> pd.DataFrame:
    """Simulate the experts' labels of part of the outputs of experiment 2."""
    truth = truth or Hosking2Truth()
    outputs = _outputs_2(rng, truth)
    chosen = (
        outputs["number"].le(truth.expert_prompts_per_task) & ~outputs["is_distractor"]
    )
    main = outputs[chosen].assign(batch="main", rater_id="simulated-rater-001")
    pilot = main.head(truth.pilot_outputs)
    pilot = pilot.assign(batch="pilot", rater_id="simulated-rater-002")
    labels = pd.concat([pilot, main], ignore_index=True)
    labels = _mark(
        rng, labels, truth.expert_sensitivity, truth.expert_false_positive, truth
    )
    return labels[[*columns.HOSKING_EXPERTS.columns]]


def _outputs_1(rng: np.random.Generator, truth: Hosking1Truth) -> pd.DataFrame:
    """Draw the outputs of experiment 1: every system answers every prompt."""
    n_prompts = len(TASKS) * truth.prompts_per_task
    systems = np.tile(np.array(SYSTEMS_1), (n_prompts, 1))
    partners = np.full(n_prompts, SYSTEMS_1.index("References"))
    outputs = _design(systems, np.full(systems.shape, "baseline"), partners)
    outputs = _add_quality(rng, _add_errors(rng, outputs, "system", truth), truth)
    return _add_words(rng, outputs, "system", truth)


def _outputs_2(rng: np.random.Generator, truth: Hosking2Truth) -> pd.DataFrame:
    """Draw the outputs of experiment 2: five prompts share out all systems and preambles."""
    n_prompts = len(TASKS) * truth.prompts_per_task
    cells = np.tile(
        np.arange(len(SYSTEMS_2) * len(ARMS)), (-(-n_prompts // PER_PROMPT), 1)
    )
    cells = rng.permuted(cells, axis=1).reshape(-1, PER_PROMPT)[:n_prompts]
    system, arm = np.divmod(cells, len(ARMS))
    partners = rng.integers(PER_PROMPT, size=n_prompts)
    outputs = _design(np.array(SYSTEMS_2)[system], np.array(ARMS)[arm], partners)
    outputs = _add_quality(rng, _add_errors(rng, outputs, "arm", truth), truth)
    return _add_words(rng, _add_tone(rng, outputs, truth), "arm", truth)


def _design(
    systems: np.ndarray, arms: np.ndarray, partners: np.ndarray
) -> pd.DataFrame:
    """List outputs by prompt, then a distractor per prompt that copies its partner's labels."""
    n_prompts, n_outputs = len(systems), systems.size
    partners = PER_PROMPT * np.arange(n_prompts) + partners
    source = np.concatenate([np.arange(n_outputs), partners])
    prompt = source // PER_PROMPT
    task, number = np.divmod(prompt, n_prompts // len(TASKS))
    outputs = pd.DataFrame(
        {
            "prompt": prompt,
            "number": number + 1,
            "task": np.array(TASKS)[task],
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


def _add_errors(
    rng: np.random.Generator, outputs: pd.DataFrame, by: str, truth: Hosking1Truth
) -> pd.DataFrame:
    """Draw true errors that occur at the given rates and cluster in prompts."""
    rates = pd.DataFrame.from_dict(truth.rates, orient="index", columns=truth.kinds)
    rates = rates.loc[outputs[by]].to_numpy() / 100
    prompt = outputs["prompt"].to_numpy()
    shared = rng.normal(size=(prompt.max() + 1, rates.shape[1]))[prompt]
    own = rng.normal(size=rates.shape)
    liability = (
        np.sqrt(truth.prompt_share) * shared + np.sqrt(1 - truth.prompt_share) * own
    )
    present = (liability < norm.ppf(rates)).astype(float)
    return outputs.join(pd.DataFrame(present, columns=truth.kinds))


def _add_quality(
    rng: np.random.Generator, outputs: pd.DataFrame, truth: Hosking1Truth
) -> pd.DataFrame:
    """Draw qualities as felt with and without looking for errors."""
    prompt = outputs["prompt"].to_numpy()
    quality = truth.base_quality - truth.distractor_penalty * outputs["is_distractor"]
    quality += rng.normal(0, truth.prompt_sd, prompt.max() + 1)[prompt]
    quality += rng.normal(0, truth.output_sd, len(outputs))
    loss = outputs[list(truth.kinds)] @ [truth.weights[error] for error in truth.kinds]
    return outputs.assign(
        quality_unbiased=quality - loss, quality_biased=quality - truth.priming * loss
    )


def _add_tone(
    rng: np.random.Generator, outputs: pd.DataFrame, truth: Hosking2Truth
) -> pd.DataFrame:
    """Draw assertiveness and complexity, which are correlated, and what they add to quality."""
    shared, own = rng.normal(0, truth.tone_sd, (2, len(outputs)))
    mixed = (
        truth.tone_correlation * shared + np.sqrt(1 - truth.tone_correlation**2) * own
    )
    assertiveness = outputs["arm"].map(truth.assertiveness) + shared
    complexity = outputs["arm"].map(truth.complexity) + mixed
    gain = truth.assertiveness_effect * (assertiveness - 3)
    gain += truth.complexity_effect * (complexity - 3)
    outputs[QUALITIES] = outputs[QUALITIES].add(gain, axis=0)
    return outputs.assign(assertiveness=assertiveness, complexity=complexity)


def _add_words(
    rng: np.random.Generator, outputs: pd.DataFrame, by: str, truth: Hosking1Truth
) -> pd.DataFrame:
    """Draw lengths, log-normal around the medians of systems or preambles."""
    words = outputs[by].map(truth.words) * np.exp(
        rng.normal(0, truth.words_sd, len(outputs))
    )
    return outputs.assign(response_words=np.ceil(words).astype(int))


def _pairs(
    rng: np.random.Generator, outputs: pd.DataFrame, truth: Hosking1Truth
) -> np.ndarray:
    """Decide which two outputs are shown together, and how often."""
    is_distractor = outputs["is_distractor"].to_numpy()
    first = np.arange(0, np.sum(~is_distractor), PER_PROMPT)
    once = (first[:, None, None] + COUPLES).reshape(-1, 2)
    repeated = first[outputs["number"].to_numpy()[first] <= truth.repeated_per_task]
    again = repeated[:, None] + rng.choice(COUPLES, size=len(repeated))
    beside = np.column_stack([outputs["partner"], outputs.index])[is_distractor]
    return np.concatenate([once, np.repeat(again, EXTRA_RATINGS, axis=0), beside])


def _submissions(
    rng: np.random.Generator, outputs: pd.DataFrame, shown: np.ndarray
) -> pd.DataFrame:
    """Lay out one row per rating, pairs and the two sides of a pair in random order."""
    shown = rng.permuted(rng.permutation(shown), axis=1).ravel()
    pair_id = np.arange(len(shown)) // 2
    ratings = outputs.iloc[shown].reset_index(drop=True)
    return ratings.assign(
        pair_id=pair_id, rater_id="pair-" + pd.Series(pair_id).astype(str)
    )


def _crowd_marks(
    rng: np.random.Generator,
    ratings: pd.DataFrame,
    seen: float | np.ndarray,
    truth: Hosking1Truth,
) -> pd.DataFrame:
    """Replace true errors by what the crowd marks, distractors being marked down across errors."""
    imagined = [truth.false_positives[error] for error in truth.kinds]
    ratings = _mark(rng, ratings, seen, imagined, truth)
    distractors, marks = ratings["is_distractor"], truth.distractor_marks
    drawn = rng.random((distractors.sum(), len(marks))) < list(marks.values())
    ratings.loc[distractors, list(marks)] = drawn.astype(float)
    return ratings


def _mark(
    rng: np.random.Generator,
    table: pd.DataFrame,
    seen: float | np.ndarray,
    imagined: float | list[float],
    truth: Hosking1Truth,
) -> pd.DataFrame:
    """Replace true errors by marks, given the chances to mark one that is there or is not."""
    kinds = list(truth.kinds)
    chances = np.where(table[kinds] == 1, seen, imagined)
    table[kinds] = (rng.random(chances.shape) < chances).astype(float)
    return table


def _score(
    rng: np.random.Generator,
    ratings: pd.DataFrame,
    columns: list[str],
    truth: Hosking1Truth,
) -> pd.DataFrame:
    """Replace qualities of outputs by each rater's scores."""
    noise = rng.normal(0, truth.rater_sd, (len(ratings), len(columns)))
    ratings[columns] = to_scale(
        ratings[columns].to_numpy() + noise, *SCALE, truth.rounded
    )
    return ratings


def _score_with_factors(
    rng: np.random.Generator, ratings: pd.DataFrame, truth: Hosking1Truth
) -> pd.DataFrame:
    """Score quality and, from the same opinion with noise of their own, the six factors."""
    opinions = ratings[["quality_biased"]] + rng.normal(
        0, truth.rater_sd, (len(ratings), 1)
    )
    noise = rng.normal(0, truth.factor_sd, (len(ratings), len(FACTORS)))
    marks = np.column_stack([opinions, opinions.to_numpy() + noise])
    ratings[["quality_biased", *FACTORS]] = to_scale(marks, *SCALE, truth.rounded)
    return ratings


def to_scale(
    opinion: np.ndarray, low: float, high: float, rounded: bool = True
) -> np.ndarray:
    """Put opinions on a scale of whole numbers."""
    return np.clip(np.rint(opinion), low, high) if rounded else opinion


def hosking_submissions(
    rng: np.random.Generator, experiment: int, group: str, texts: bool = False
) -> pd.DataFrame:
    """Simulate what one group of raters submitted."""
    names = [name for number, name in GROUPS if number == experiment]
    made = (hosking_experiment_1 if experiment == 1 else hosking_experiment_2)(rng)
    tables = dict(zip(names, made, strict=True))
    outputs = tables["errors" if experiment == 1 else "perception"]
    own = rng.spawn(len(GROUPS))[list(GROUPS).index((experiment, group))]
    ratings = tables[group].drop(columns="response_words", errors="ignore")
    if texts:
        ratings["prompt"] = "prompt " + ratings["prompt_id"]
        ratings["response"] = ratings["item_id"].map(_responses(rng, outputs))
    if texts and experiment == 2:
        preamble = "simulated preamble " + ratings["arm"]
        ratings["preamble"] = preamble.where(ratings["arm"] != "baseline", "")
    return _add_submissions(own, ratings, experiment, group)


def _responses(rng: np.random.Generator, ratings: pd.DataFrame) -> pd.Series:
    """Write the response of each item; sentences are of one length."""
    items = ratings.drop_duplicates("item_id").sort_values(["system", "arm", "item_id"])
    outputs = items[~items["is_distractor"]].set_index("item_id")
    words = rng.choice(WORDS, outputs["response_words"].sum())
    words[SENTENCE - 1 :: SENTENCE] = np.strings.add(
        words[SENTENCE - 1 :: SENTENCE], "."
    )
    shown = pd.Series(to_texts(words, outputs["response_words"]), outputs.index)
    # A distractor is the neighbour in this order that is of the same system.
    distractors = items.loc[items["is_distractor"], "item_id"]
    row = outputs.index.get_indexer(distractors.str.removesuffix("|distractor"))
    system = outputs["system"].to_numpy()
    neighbours = shown.iloc[np.where(system[row - 1] == system[row], row - 1, row + 1)]
    return pd.concat([shown, neighbours.set_axis(distractors)])


def random_texts(
    rng: np.random.Generator, vocabulary: np.ndarray, mean_words: np.ndarray
) -> list[str]:
    """Draw texts of words from a vocabulary, each of at least one, with given mean lengths."""
    lengths = 1 + rng.poisson(mean_words - 1)
    return to_texts(rng.choice(vocabulary, lengths.sum()), lengths)


def to_texts(words: np.ndarray, lengths: np.ndarray) -> list[str]:
    """Cut a row of words into texts of the given lengths."""
    return [" ".join(part) for part in np.split(words, np.cumsum(lengths)[:-1])]


def _add_submissions(
    rng: np.random.Generator, ratings: pd.DataFrame, experiment: int, group: str
) -> pd.DataFrame:
    """Add who submitted each pair, beside what and in what time."""
    n_pairs = len(ratings) // 2
    first, end, median = GROUPS[experiment, group]
    people = first + (end - first) * rng.random(n_pairs) ** 2  # the first submit most
    names = pd.Series(people.astype(int)).astype(str).str.zfill(4)
    seconds = np.ceil(median * np.exp(rng.normal(0, SECONDS_SD, n_pairs))).astype(int)
    return ratings.assign(
        pair_id=np.repeat(np.arange(n_pairs), 2),
        partner_id=ratings["item_id"].to_numpy()[np.arange(len(ratings)) ^ 1],
        rater_id=np.repeat("simulated-rater-" + names, 2).to_numpy(),
        seconds=np.repeat(seconds, 2),
    )
