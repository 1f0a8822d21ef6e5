"""From a continuous opinion to a mark on a rating scale.

The numbers behind each simulated study, which an estimator should find again.

Error rates, refusals under the baseline and low-assertiveness preambles, and aspect weights are
those printed in the papers. The others are round numbers, chosen by eye so that the simulated
tables look like the released ones. They are no estimates.

The outputs of the experiments of Hosking et al. before anybody rates them.

The model, with the numbers of `Hosking1Truth` or `Hosking2Truth`:

1. An output has an error if its liability, a standard normal variable partly shared by the
   outputs to a prompt, falls below the quantile of the error's rate. Rates hold on average, while
   some prompts invite more errors than others.
2. Its quality is a base, less the weights of its errors, plus a prompt's and an output's own
   effect. In experiment 2, assertiveness and complexity depend on the preamble, and quality rises
   with them.

A prompt's distractor, the same system's response to another prompt, is shown beside one of the
prompt's outputs. Unlike in the released data, that output is always one of those rated elsewhere.

Simulated responses of Hosking et al. (2024): words in sentences, without meaning.

Simulated rating tables of Hosking et al., "Human Feedback is not Gold Standard" (2024).

`helpers.simulate.hosking` says what the rated outputs are like. The model of rating them:

1. Raters see two outputs to a prompt side by side. They add noise of their own to each quality
   and put it on the scale. Errors weigh more for raters who had to look for them. Raters are
   independent: as in the released data, the two ratings of a pair are no more alike than others.
2. Raters miss errors and mark some that are not there. In experiment 2 they miss more of the
   hidden ones the more assertive the preamble is. Experts hardly miss any.

Simulated submissions of Hosking et al. (2024): who rated which pair, and in what time.

The ratings are those of `helpers.simulate.hosking`. This module adds what the released
tables lack:

1. In experiment 1, ratings of the same kind for two tasks that the paper does not report.
2. People. Each group of raters is a stretch of one row of people, and neighbouring stretches
   overlap, so that some people are in two groups. The first of a stretch submit most.
3. The time spent on a submission, which is log-normal, and answers to attention checks, a few of
   which are wrong.
4. Texts, if asked for. A distractor's is that of the same system's response to another prompt.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import norm

from helpers.files import schemas
from helpers.files.schemas import ARMS, ERRORS_1, ERRORS_2, SYSTEMS_1, SYSTEMS_2, TASKS


def to_scale(opinion: np.ndarray, low: float, high: float, rounded: bool = True) -> np.ndarray:
    """Put opinions on a scale of whole numbers."""
    return np.clip(np.rint(opinion), low, high) if rounded else opinion


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
WORDS_BY_SYSTEM = {
    "Command 52B": 80,
    "Command 6B": 90,
    "Falcon 40B": 100,
    "MPT 30B": 75,
    "References": 65,
}
WORDS_BY_ARM = {
    "baseline": 110,
    "assertive_low": 90,
    "assertive_high": 115,
    "complex_low": 60,
    "complex_high": 145,
}
SENSITIVITY_BY_ARM = {
    "baseline": 0.28,
    "assertive_low": 0.5,
    "assertive_high": 0.15,
    "complex_low": 0.28,
    "complex_high": 0.28,
}
ASSERTIVENESS_BY_ARM = {
    "baseline": 3.6,
    "assertive_low": 2.8,
    "assertive_high": 3.8,
    "complex_low": 3.1,
    "complex_high": 3.8,
}
COMPLEXITY_BY_ARM = {
    "baseline": 2.8,
    "assertive_low": 2.5,
    "assertive_high": 2.9,
    "complex_low": 2.1,
    "complex_high": 3.3,
}


@dataclass(frozen=True)
class Hosking1Truth:
    """Truth of the first experiment of Hosking et al.: which errors cost how much quality."""

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

    prompts_per_task: int = 100
    repeated_per_task: int = 25
    base_quality: float = 3.7
    output_sd: float = 0.3
    rates: Mapping[str, tuple[float, ...]] = field(default_factory=RATES_BY_ARM.copy)
    words: Mapping[str, float] = field(default_factory=WORDS_BY_ARM.copy)
    hidden_sensitivity: Mapping[str, float] = field(default_factory=SENSITIVITY_BY_ARM.copy)
    expert_sensitivity: float = 0.97
    expert_false_positive: float = 0.005
    expert_prompts_per_task: int = 20
    pilot_outputs: int = 16
    assertiveness: Mapping[str, float] = field(default_factory=ASSERTIVENESS_BY_ARM.copy)
    complexity: Mapping[str, float] = field(default_factory=COMPLEXITY_BY_ARM.copy)
    tone_sd: float = 0.6
    tone_correlation: float = 0.5
    assertiveness_effect: float = 0.8
    complexity_effect: float = 0.1


ASPECT_WEIGHTS = {"factuality": 2.048, "amount_info": 0.739, "formality": 0.335}
ASPECT_MEANS = {
    "human_top": (1.8, -0.5, -0.5),
    "human_random": (1.6, -0.6, -0.6),
    "model_formal": (3.0, 0.1, 0.1),
    "model_casual": (2.9, 0.0, 0.0),
}
ASPECT_SDS = {"question": (0.3, 0.1, 0.1), "answer": (0.7, 0.3, 0.2), "rater": (0.9, 0.3, 0.3)}
EVALUATOR_BIASES = {"gpt4": (0.4, 0.0, -0.1), "llama2": (0.6, 0.0, 0.0)}


@dataclass(frozen=True)
class KamodaTruth:
    """Truth of the study of Kamoda et al.: how much each aspect counts for acceptability."""

    n_questions: int = 300
    n_raters: int = 80
    raters_per_question: int = 3
    means: Mapping[str, tuple[float, ...]] = field(default_factory=ASPECT_MEANS.copy)
    sds: Mapping[str, tuple[float, ...]] = field(default_factory=ASPECT_SDS.copy)
    weights: Mapping[str, float] = field(default_factory=ASPECT_WEIGHTS.copy)
    leniency_sd: float = 0.2
    acceptability_sd: float = 0.4
    evaluator_biases: Mapping[str, tuple[float, ...]] = field(default_factory=EVALUATOR_BIASES.copy)
    evaluator_sd: float = 0.7
    iteration_sd: float = 0.3
    llama2_questions: int = 108
    mean3_questions: int = 240
    rounded: bool = True


PER_PROMPT = 5
COUPLES = np.array(list(combinations(range(PER_PROMPT), 2)))
EXTRA_RATINGS = 4
QUALITIES = ["quality_unbiased", "quality_biased"]


def outputs_1(rng: np.random.Generator, truth: Hosking1Truth) -> pd.DataFrame:
    """Draw the outputs of experiment 1: every system answers every prompt."""
    n_prompts = len(TASKS) * truth.prompts_per_task
    systems = np.tile(np.array(SYSTEMS_1), (n_prompts, 1))
    partners = np.full(n_prompts, SYSTEMS_1.index("References"))
    outputs = _design(systems, np.full(systems.shape, "baseline"), partners)
    outputs = _add_errors(rng, outputs, _rows(truth.rates, outputs["system"], ERRORS_1), truth)
    return _add_words(rng, _add_quality(rng, outputs, truth), outputs["system"], truth)


def outputs_2(rng: np.random.Generator, truth: Hosking2Truth) -> pd.DataFrame:
    """Draw the outputs of experiment 2: five prompts share out all systems and preambles."""
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
    """Decide which two outputs are shown together, and how often."""
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


EASY = ("we", "can", "find", "good", "ways", "and", "use", "them", "with", "care", "not", "bad")
HARD = ("undoubtedly", "considerable", "difficulty", "excellent", "methodology", "particularly")
HARD_SHARE = {
    "baseline": 0.25,
    "assertive_low": 0.25,
    "assertive_high": 0.25,
    "complex_low": 0.1,
    "complex_high": 0.4,
}
SENTENCE_WORDS = {
    "baseline": 15,
    "assertive_low": 15,
    "assertive_high": 15,
    "complex_low": 9,
    "complex_high": 20,
}


def responses(rng: np.random.Generator, arms: pd.Series, words: pd.Series) -> pd.Series:
    """Write a response of each length, harder to read under some preambles than under others."""
    total, ends = words.sum(), words.cumsum()
    hard = rng.random(total) < np.repeat(arms.map(HARD_SHARE), words)
    drawn = np.where(hard, rng.choice(HARD, total), rng.choice(EASY, total))
    position = np.arange(total) - np.repeat(ends - words, words)
    place = position % np.repeat(arms.map(SENTENCE_WORDS), words)
    last = (place == np.repeat(arms.map(SENTENCE_WORDS), words) - 1) | (
        position == np.repeat(words, words) - 1
    )
    drawn = np.where(last, np.strings.add(drawn, "."), drawn)
    parts = np.split(drawn, ends.to_numpy()[:-1])
    return pd.Series([" ".join(part) for part in parts], index=words.index)


HIDDEN_ERRORS = ("contradiction", "inconsistency", "factuality", "repetition")
TONES = ["assertiveness", "complexity"]
SCALE = (1, 5)


def hosking_experiment_1(
    rng: np.random.Generator, truth: Hosking1Truth | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Simulate the ratings of five systems: errors, factors and quality."""
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
    """Simulate the ratings of outputs with varied assertiveness and complexity."""
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
    """Simulate the experts' labels of part of the outputs of experiment 2."""
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


GROUPS = {1: ("errors", "unbiased"), 2: ("errors", "unbiased", "perception")}
PEOPLE = {
    (1, "errors"): (0, 500),
    (1, "unbiased"): (350, 950),
    (2, "errors"): (900, 1500),
    (2, "unbiased"): (1450, 2050),
    (2, "perception"): (2000, 2700),
}
MEDIAN_SECONDS = {
    (1, "errors"): 220,
    (1, "unbiased"): 65,
    (2, "errors"): 135,
    (2, "unbiased"): 60,
    (2, "perception"): 60,
}
SECONDS_SD = 0.7
WRONG_ANSWERS = 0.003
FURTHER_TASKS = {"amazon": "dialogsum", "curation": "factualnlg"}
N_BATCHES = 3


def hosking_submissions(
    rng: np.random.Generator, experiment: int, group: str, texts: bool = False
) -> pd.DataFrame:
    """Simulate what one group of raters submitted."""
    tables = _experiment_1(rng) if experiment == 1 else _experiment_2(rng)
    shown = _responses(rng, tables["errors" if experiment == 1 else "perception"], texts)
    own = rng.spawn(len(PEOPLE))[list(PEOPLE).index((experiment, group))]
    ratings = tables[group].drop(columns="response_words", errors="ignore")
    if texts:
        ratings["prompt"] = "prompt " + ratings["prompt_id"]
    ratings = ratings.join(shown, on="item_id")
    if texts and experiment == 2:
        preamble = "simulated preamble " + ratings["arm"]
        ratings["preamble"] = preamble.where(ratings["arm"] != "baseline", "")
    return _add_submissions(own, ratings, experiment, group)


def _experiment_1(rng: np.random.Generator) -> dict[str, pd.DataFrame]:
    """Simulate the tables of experiment 1 with the tasks that are not reported."""
    reported, others = hosking_experiment_1(rng), hosking_experiment_1(rng)
    return {
        group: pd.concat([table, _renamed(other)], ignore_index=True)
        for group, table, other in zip(GROUPS[1], reported, others, strict=True)
    }


def _experiment_2(rng: np.random.Generator) -> dict[str, pd.DataFrame]:
    """Simulate the tables of experiment 2."""
    return dict(zip(GROUPS[2], hosking_experiment_2(rng), strict=True))


def _renamed(table: pd.DataFrame) -> pd.DataFrame:
    """Turn ratings of some reported tasks into ratings of others."""
    table = table[table["task"].isin(FURTHER_TASKS)]
    names = table["task"].map(FURTHER_TASKS)
    after_task = {name: table[name].str.partition("-")[2] for name in ("item_id", "prompt_id")}
    return table.assign(task=names, **{key: names + "-" + rest for key, rest in after_task.items()})


def _responses(rng: np.random.Generator, table: pd.DataFrame, texts: bool) -> pd.DataFrame:
    """List the length and, if asked for, the text of each response, by item."""
    items = table.drop_duplicates("item_id").sort_values(["system", "arm", "item_id"])
    outputs = items[~items["is_distractor"]].set_index("item_id")
    shown = outputs[["response_words"]]
    if texts:
        shown = shown.assign(response=responses(rng, outputs["arm"], outputs["response_words"]))
    distractors = items.loc[items["is_distractor"], "item_id"]
    row = outputs.index.get_indexer(distractors.str.removesuffix("|distractor"))
    same_system = outputs["system"].to_numpy()[row - 1] == outputs["system"].to_numpy()[row]
    neighbours = shown.iloc[np.where(same_system, row - 1, row + 1)]
    return pd.concat([shown, neighbours.set_index(pd.Index(distractors))])


def _add_submissions(
    rng: np.random.Generator, ratings: pd.DataFrame, experiment: int, group: str
) -> pd.DataFrame:
    """Add who submitted each pair, in what time, in which batch and with which checks."""
    n_pairs = len(ratings) // 2
    partners = np.arange(len(ratings)) ^ 1
    first, end = PEOPLE[experiment, group]
    people = first + (end - first) * rng.random(n_pairs) ** 2
    names = pd.Series(people.astype(int)).astype(str).str.zfill(4)
    spread = np.exp(rng.normal(0, SECONDS_SD, n_pairs))
    seconds = np.ceil(MEDIAN_SECONDS[experiment, group] * spread).astype(int)
    ratings = ratings.assign(
        pair_id=np.repeat(np.arange(n_pairs), 2),
        partner_id=ratings["item_id"].to_numpy()[partners],
        rater_id=np.repeat("simulated-rater-" + names, 2).to_numpy(),
        seconds=np.repeat(seconds, 2),
    )
    if group == "errors":
        wrong = np.repeat(rng.random((2, n_pairs)) < WRONG_ANSWERS, 2, axis=1)
        ratings["attention_high"], ratings["attention_low"] = np.where(wrong, 3.0, [[5.0], [1.0]])
    number = ratings["prompt_id"].str[-3:].astype(int)
    return ratings.assign(batch="main_" + (number % N_BATCHES + 1).astype(str))
