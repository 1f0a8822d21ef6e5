"""Simulated ratings, expert labels and submissions of Hosking et al. (2024).

The model, with a known truth, the numbers of `Hosking1Truth` or `Hosking2Truth`:

1. An output has an error if its liability, a standard normal variable partly shared by
   the outputs to a prompt, falls below the quantile of the error's rate. Rates hold on
   average, while some prompts invite more errors than others.
2. Its quality is a base, less the weights of its errors, plus a prompt's and an
   output's own effect. In experiment 2, assertiveness and complexity depend on the
   preamble, and quality rises with them.
3. Raters see two outputs to a prompt side by side, and most rate several such pairs.
   They add noise to each quality and put it on the scale; part of this noise is a
   rater's leniency, the same in all that the rater does. Errors weigh more for raters
   who had to look for them. Given leniency, ratings are independent, even of a pair.
4. Raters miss errors and mark some that are not there, lenient ones fewer than others.
   In experiment 2 they miss more of the hidden ones the more assertive the preamble is.
   Experts hardly miss any.
5. A prompt's distractor, the same system's response to another prompt, is shown beside
   one of the prompt's outputs. Unlike in the released data, that output is always one
   of those rated elsewhere.

Submissions add what the released tables lack: people, times and, if asked for, texts
without meaning.

Error rates, and refusals under the baseline and low-assertiveness preambles, are those
that the paper prints. The other numbers are round ones, chosen by eye so that the
simulated tables look like the released ones. They are no estimates.
"""

import math
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
from helpers.simulate import says_so

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
OUTPUT_PAIRS = np.array(list(combinations(range(PER_PROMPT), 2)))
EXTRA_RATINGS = 4
QUALITIES = ["quality_unbiased", "quality_biased"]
TONES = ["assertiveness", "complexity"]
LOWEST = 1
HIGHEST = 5

# First person and last, and the median time in seconds; neighbouring groups share
# people.
GROUPS = {
    (1, "errors"): (0, 500, 220),
    (1, "unbiased"): (350, 950, 65),
    (2, "errors"): (900, 1500, 135),
    (2, "unbiased"): (1450, 2050, 60),
    (2, "perception"): (2000, 2700, 60),
}
N_PEOPLE = 2700
SECONDS_SD = 0.7
SCHEMAS = {
    (1, "errors"): columns.HOSKING_1_ERRORS,
    (1, "unbiased"): columns.HOSKING_1_UNBIASED,
    (2, "errors"): columns.HOSKING_2_ERRORS,
    (2, "unbiased"): columns.HOSKING_2_UNBIASED,
    (2, "perception"): columns.HOSKING_2_PERCEPTION,
}


@dataclass(frozen=True)
class Hosking1Truth:
    """Truth of Hosking et al.'s first experiment: what each error costs in quality."""

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
    leniency_share: float = 0.1
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
    """Truth of Hosking et al.'s second experiment: what assertiveness hides."""

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


@says_so
def hosking_experiment_1(
    rng: np.random.Generator, truth: Hosking1Truth | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Simulate the ratings of five systems: errors, factors and quality."""
    return _released(1, _ratings_1(rng, truth or Hosking1Truth()))


@says_so
def hosking_experiment_2(
    rng: np.random.Generator, truth: Hosking2Truth | None = None
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Simulate the ratings of outputs with varied assertiveness and complexity."""
    return _released(2, _ratings_2(rng, truth or Hosking2Truth()))


def _released(
    experiment: int, ratings: Mapping[str, pd.DataFrame]
) -> tuple[pd.DataFrame, ...]:
    """Keep the columns that the released tables have; who rated is not among them."""
    return tuple(
        table[list(SCHEMAS[experiment, group].columns)]
        for group, table in ratings.items()
    )


def _ratings_1(
    rng: np.random.Generator, truth: Hosking1Truth
) -> dict[str, pd.DataFrame]:
    """Draw all ratings of experiment 1, by group of raters."""
    outputs = _outputs_1(rng, truth)
    shown = _pairs(rng, outputs, truth)
    leniency = rng.normal(size=N_PEOPLE)
    errors = _submissions(rng, outputs, shown, leniency, (1, "errors"))
    errors = _crowd_marks(rng, errors, truth.sensitivity, truth)
    errors = _score_with_factors(rng, errors, truth)
    unbiased = _submissions(rng, outputs, shown, leniency, (1, "unbiased"))
    unbiased = _score(rng, unbiased, ["quality_unbiased"], truth)
    return {"errors": errors, "unbiased": unbiased}


def _ratings_2(
    rng: np.random.Generator, truth: Hosking2Truth
) -> dict[str, pd.DataFrame]:
    """Draw all ratings of experiment 2, by group of raters."""
    outputs = _outputs_2(rng, truth)
    shown = _pairs(rng, outputs, truth)
    leniency = rng.normal(size=N_PEOPLE)
    errors = _submissions(rng, outputs, shown, leniency, (2, "errors"))
    # the preamble decides how many of the hidden errors are seen
    hidden = errors["arm"].map(truth.hidden_sensitivity).to_numpy()[:, None]
    is_hidden = np.isin(ERRORS_2, HIDDEN_ERRORS)
    sensitivity = np.where(is_hidden, hidden, truth.sensitivity)
    errors = _crowd_marks(rng, errors, sensitivity, truth)
    errors = _score(rng, errors, ["quality_biased"], truth)
    unbiased = _submissions(rng, outputs, shown, leniency, (2, "unbiased"))
    unbiased = _score(rng, unbiased, ["quality_unbiased"], truth)
    perception = _submissions(rng, outputs, shown, leniency, (2, "perception"))
    perception = _score(rng, perception, TONES, truth)
    return {"errors": errors, "unbiased": unbiased, "perception": perception}


@says_so
def hosking_experts(
    rng: np.random.Generator, truth: Hosking2Truth | None = None
) -> pd.DataFrame:
    """Simulate the experts' labels of part of the outputs of experiment 2."""
    truth = truth or Hosking2Truth()
    outputs = _outputs_2(rng, truth)
    of_first_prompts = outputs["number"] <= truth.expert_prompts_per_task
    main = outputs[of_first_prompts & ~outputs["is_distractor"]]
    main = main.assign(batch="main", rater_id="simulated-rater-001")
    pilot = main.head(truth.pilot_outputs)
    pilot = pilot.assign(batch="pilot", rater_id="simulated-rater-002")
    labels = pd.concat([pilot, main], ignore_index=True)
    noise = rng.normal(size=(len(labels), len(truth.kinds)))
    labels = _mark(
        noise, labels, truth.expert_sensitivity, truth.expert_false_positive, truth
    )
    return labels[list(columns.HOSKING_EXPERTS.columns)]


def _outputs_1(rng: np.random.Generator, truth: Hosking1Truth) -> pd.DataFrame:
    """Draw the outputs of experiment 1: every system answers every prompt."""
    n_prompts = len(TASKS) * truth.prompts_per_task
    systems = np.tile(np.array(SYSTEMS_1), (n_prompts, 1))
    arms = np.full(systems.shape, "baseline")
    # the reference is the output that is shown beside a prompt's distractor
    partners = np.full(n_prompts, SYSTEMS_1.index("References"))
    outputs = _design(systems, arms, partners)
    outputs = _add_errors(rng, outputs, "system", truth)
    outputs = _add_quality(rng, outputs, truth)
    return _add_words(rng, outputs, "system", truth)


def _outputs_2(rng: np.random.Generator, truth: Hosking2Truth) -> pd.DataFrame:
    """Draw the outputs of experiment 2: five prompts share all systems and arms."""
    n_prompts = len(TASKS) * truth.prompts_per_task
    n_blocks = math.ceil(n_prompts / PER_PROMPT)
    cells = np.tile(np.arange(len(SYSTEMS_2) * len(ARMS)), (n_blocks, 1))
    cells = rng.permuted(cells, axis=1).reshape(-1, PER_PROMPT)[:n_prompts]
    system, arm = np.divmod(cells, len(ARMS))
    partners = rng.integers(PER_PROMPT, size=n_prompts)
    outputs = _design(np.array(SYSTEMS_2)[system], np.array(ARMS)[arm], partners)
    outputs = _add_errors(rng, outputs, "arm", truth)
    outputs = _add_quality(rng, outputs, truth)
    outputs = _add_tone(rng, outputs, truth)
    return _add_words(rng, outputs, "arm", truth)


def _design(
    systems: np.ndarray, arms: np.ndarray, partners: np.ndarray
) -> pd.DataFrame:
    """List outputs by prompt, then a distractor per prompt like its partner."""
    n_prompts = len(systems)
    n_outputs = systems.size
    # the row of each output, and of the partner that each distractor copies
    partner_rows = PER_PROMPT * np.arange(n_prompts) + partners
    source = np.concatenate([np.arange(n_outputs), partner_rows])
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
    name = outputs["prompt_id"] + "|" + outputs["system"] + "|" + outputs["arm"]
    outputs["item_id"] = name.where(~outputs["is_distractor"], name + "|distractor")
    return outputs


def _add_errors(
    rng: np.random.Generator, outputs: pd.DataFrame, by: str, truth: Hosking1Truth
) -> pd.DataFrame:
    """Draw true errors that occur at the given rates and cluster in prompts."""
    rates = pd.DataFrame.from_dict(truth.rates, orient="index", columns=truth.kinds)
    rates = rates.loc[outputs[by]].to_numpy() / 100
    prompt = outputs["prompt"].to_numpy()
    n_prompts = prompt.max() + 1
    shared = rng.normal(size=(n_prompts, len(truth.kinds)))[prompt]
    own = rng.normal(size=rates.shape)
    # variances add up to one, so that the quantile of a rate holds on average
    shared_sd = np.sqrt(truth.prompt_share)
    own_sd = np.sqrt(1 - truth.prompt_share)
    liability = shared_sd * shared + own_sd * own
    present = (liability < norm.ppf(rates)).astype(float)
    return outputs.join(pd.DataFrame(present, columns=truth.kinds))


def _add_quality(
    rng: np.random.Generator, outputs: pd.DataFrame, truth: Hosking1Truth
) -> pd.DataFrame:
    """Draw qualities as felt with and without looking for errors."""
    prompt = outputs["prompt"].to_numpy()
    n_prompts = prompt.max() + 1
    quality = truth.base_quality - truth.distractor_penalty * outputs["is_distractor"]
    quality += rng.normal(0, truth.prompt_sd, n_prompts)[prompt]
    quality += rng.normal(0, truth.output_sd, len(outputs))
    weights = [truth.weights[error] for error in truth.kinds]
    loss = outputs[list(truth.kinds)] @ weights
    return outputs.assign(
        quality_unbiased=quality - loss, quality_biased=quality - truth.priming * loss
    )


def _add_tone(
    rng: np.random.Generator, outputs: pd.DataFrame, truth: Hosking2Truth
) -> pd.DataFrame:
    """Draw assertiveness and complexity, correlated, and what they add to quality."""
    first, second = rng.normal(0, truth.tone_sd, (2, len(outputs)))
    r = truth.tone_correlation
    correlated = r * first + np.sqrt(1 - r**2) * second
    assertiveness = outputs["arm"].map(truth.assertiveness) + first
    complexity = outputs["arm"].map(truth.complexity) + correlated
    gain = truth.assertiveness_effect * (assertiveness - 3)
    gain += truth.complexity_effect * (complexity - 3)
    outputs[QUALITIES] = outputs[QUALITIES].add(gain, axis=0)
    return outputs.assign(assertiveness=assertiveness, complexity=complexity)


def _add_words(
    rng: np.random.Generator, outputs: pd.DataFrame, by: str, truth: Hosking1Truth
) -> pd.DataFrame:
    """Draw lengths, log-normal around the medians of systems or preambles."""
    medians = outputs[by].map(truth.words)
    words = medians * np.exp(rng.normal(0, truth.words_sd, len(outputs)))
    return outputs.assign(response_words=np.ceil(words).astype(int))


def _pairs(
    rng: np.random.Generator, outputs: pd.DataFrame, truth: Hosking1Truth
) -> np.ndarray:
    """Decide which two outputs are shown together, and how often: a row per pair."""
    is_distractor = outputs["is_distractor"].to_numpy()
    number = outputs["number"].to_numpy()
    first_rows = np.arange(0, np.sum(~is_distractor), PER_PROMPT)  # of each prompt
    # all pairs of a prompt once, one of them again in the first prompts
    once = (first_rows[:, None, None] + OUTPUT_PAIRS).reshape(-1, 2)
    repeated = first_rows[number[first_rows] <= truth.repeated_per_task]
    again = repeated[:, None] + rng.choice(OUTPUT_PAIRS, size=len(repeated))
    again = np.repeat(again, EXTRA_RATINGS, axis=0)
    checks = np.column_stack([outputs["partner"], outputs.index])[is_distractor]
    return np.concatenate([once, again, checks])


def _submissions(
    rng: np.random.Generator,
    outputs: pd.DataFrame,
    shown: np.ndarray,
    leniency: np.ndarray,
    place: tuple[int, str],
) -> pd.DataFrame:
    """Lay out one row per rating, pairs and the sides of a pair in random order."""
    pairs = rng.permutation(shown)
    rows = rng.permuted(pairs, axis=1).ravel()
    ratings = outputs.iloc[rows].reset_index(drop=True)
    first, end, _ = GROUPS[place]
    # squared, so that the first people submit most
    people = first + (end - first) * rng.random(len(pairs)) ** 2
    people = np.repeat(people.astype(int), 2)
    names = pd.Series(people).astype(str).str.zfill(4)
    return ratings.assign(
        pair_id=np.arange(len(rows)) // 2,
        rater_id="simulated-rater-" + names,
        leniency=leniency[people],
    )


def _noise(
    rng: np.random.Generator,
    ratings: pd.DataFrame,
    n_columns: int,
    truth: Hosking1Truth,
) -> np.ndarray:
    """Draw standard normal noise of ratings, of which leniency is a share."""
    own = rng.normal(size=(len(ratings), n_columns))
    leniency = ratings["leniency"].to_numpy()[:, None]
    # variances add up to one
    leniency_sd = np.sqrt(truth.leniency_share)
    own_sd = np.sqrt(1 - truth.leniency_share)
    return leniency_sd * leniency + own_sd * own


def _crowd_marks(
    rng: np.random.Generator,
    ratings: pd.DataFrame,
    sensitivity: float | np.ndarray,
    truth: Hosking1Truth,
) -> pd.DataFrame:
    """Replace true errors by the crowd's marks; distractors have rates of their own."""
    false_positives = [truth.false_positives[error] for error in truth.kinds]
    noise = _noise(rng, ratings, len(truth.kinds), truth)
    ratings = _mark(noise, ratings, sensitivity, false_positives, truth)
    is_distractor = ratings["is_distractor"]
    errors = list(truth.distractor_marks)
    chances = list(truth.distractor_marks.values())
    noise = _noise(rng, ratings[is_distractor], len(errors), truth)
    marked = noise < norm.ppf(chances)
    ratings.loc[is_distractor, errors] = marked.astype(float)
    return ratings


def _mark(
    noise: np.ndarray,
    table: pd.DataFrame,
    sensitivity: float | np.ndarray,
    false_positives: float | list[float],
    truth: Hosking1Truth,
) -> pd.DataFrame:
    """Replace true errors by marks, from the chances to mark one there or not there."""
    kinds = list(truth.kinds)
    chances = np.where(table[kinds] == 1, sensitivity, false_positives)
    # the noise is standard normal: it falls below the quantile with this chance
    table[kinds] = (noise < norm.ppf(chances)).astype(float)
    return table


def _score(
    rng: np.random.Generator,
    ratings: pd.DataFrame,
    columns: list[str],
    truth: Hosking1Truth,
) -> pd.DataFrame:
    """Replace qualities of outputs by each rater's scores."""
    noise = truth.rater_sd * _noise(rng, ratings, len(columns), truth)
    opinions = ratings[columns].to_numpy() + noise
    ratings[columns] = to_scale(opinions, LOWEST, HIGHEST, truth.rounded)
    return ratings


def _score_with_factors(
    rng: np.random.Generator, ratings: pd.DataFrame, truth: Hosking1Truth
) -> pd.DataFrame:
    """Score quality and, from the same opinion with noise of their own, the factors."""
    noise = truth.rater_sd * _noise(rng, ratings, 1, truth)
    opinions = ratings[["quality_biased"]].to_numpy() + noise
    factor_noise = rng.normal(0, truth.factor_sd, (len(ratings), len(FACTORS)))
    marks = np.column_stack([opinions, opinions + factor_noise])
    scores = to_scale(marks, LOWEST, HIGHEST, truth.rounded)
    ratings[["quality_biased", *FACTORS]] = scores
    return ratings


def to_scale(
    opinion: np.ndarray, low: float, high: float, rounded: bool = True
) -> np.ndarray:
    """Put opinions on a scale of whole numbers, or leave them as they are."""
    if not rounded:
        return opinion
    return np.clip(np.rint(opinion), low, high)


@says_so
def hosking_submissions(
    rng: np.random.Generator,
    experiment: int,
    group: str,
    texts: bool = False,
    truth: Hosking1Truth | None = None,
) -> pd.DataFrame:
    """Simulate what one group of raters submitted."""
    if experiment == 1:
        everything = _ratings_1(rng, truth or Hosking1Truth())[group]
    else:
        everything = _ratings_2(rng, truth or Hosking2Truth())[group]
    # a generator for each group, so that groups do not depend on each other
    generators = dict(zip(GROUPS, rng.spawn(len(GROUPS)), strict=True))
    released = SCHEMAS[experiment, group].columns
    ratings = everything[[*released, "rater_id"]]
    ratings = ratings.drop(columns="response_words", errors="ignore")
    if texts:
        ratings["prompt"] = "prompt " + ratings["prompt_id"]
        ratings["response"] = ratings["item_id"].map(_responses(rng, everything))
    if texts and experiment == 2:
        preamble = "simulated preamble " + ratings["arm"]
        ratings["preamble"] = preamble.where(ratings["arm"] != "baseline", "")
    place = (experiment, group)
    return _add_submissions(generators[place], ratings, place)


def _responses(rng: np.random.Generator, ratings: pd.DataFrame) -> pd.Series:
    """Write the response of each item; sentences are of one length."""
    items = ratings.drop_duplicates("item_id").sort_values(["system", "arm", "item_id"])
    outputs = items[~items["is_distractor"]].set_index("item_id")
    words = rng.choice(WORDS, outputs["response_words"].sum())
    last_words = words[SENTENCE - 1 :: SENTENCE]
    words[SENTENCE - 1 :: SENTENCE] = np.strings.add(last_words, ".")
    responses = pd.Series(to_texts(words, outputs["response_words"]), outputs.index)

    # The text of a distractor is that of the neighbour before its partner in this
    # order; of the one behind if that is another system's.
    distractors = items.loc[items["is_distractor"], "item_id"]
    partner = outputs.index.get_indexer(distractors.str.removesuffix("|distractor"))
    system = outputs["system"].to_numpy()
    same_system = system[partner - 1] == system[partner]
    neighbour = np.where(same_system, partner - 1, partner + 1)
    of_distractors = responses.iloc[neighbour].set_axis(distractors)
    return pd.concat([responses, of_distractors])


def random_texts(
    rng: np.random.Generator, vocabulary: np.ndarray, mean_words: np.ndarray
) -> list[str]:
    """Draw texts of words from a vocabulary, each of at least one, of mean lengths."""
    lengths = 1 + rng.poisson(mean_words - 1)
    words = rng.choice(vocabulary, lengths.sum())
    return to_texts(words, lengths)


def to_texts(words: np.ndarray, lengths: np.ndarray) -> list[str]:
    """Cut a row of words into texts of the given lengths."""
    ends = np.cumsum(lengths)
    return [" ".join(part) for part in np.split(words, ends[:-1])]


def _add_submissions(
    rng: np.random.Generator, ratings: pd.DataFrame, place: tuple[int, str]
) -> pd.DataFrame:
    """Add beside what each response of a pair was shown, and the time it took."""
    n_pairs = len(ratings) // 2
    _, _, median = GROUPS[place]
    seconds = np.ceil(median * np.exp(rng.normal(0, SECONDS_SD, n_pairs))).astype(int)
    # the two rows of a pair follow each other: 0 and 1, 2 and 3
    rows = np.arange(len(ratings))
    partner_rows = np.where(rows % 2 == 0, rows + 1, rows - 1)
    return ratings.assign(
        partner_id=ratings["item_id"].to_numpy()[partner_rows],
        seconds=np.repeat(seconds, 2),
    )
