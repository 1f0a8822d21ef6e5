"""Simulated answers, ratings and expert labels of Hosking et al. (2024).

For runs without the data and for tests. An answer has each error with the chance in
`ERRORS`, and each error takes points off its quality, more if the person has to look
for errors. In experiment 2 the condition decides how assertive and complex an answer
is, how often it refuses, and how many of its errors the workers see. People differ in
strictness. They see two answers to a prompt side by side; one pair per prompt is an
attention check, in which one answer, the distractor, belongs to another prompt.

All numbers are chosen by eye so that tables look like the released ones; they are no
estimates. Texts are words without meaning.
"""

from itertools import combinations

import numpy as np
import pandas as pd

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

ANSWERS_TO_A_PROMPT = 5
PROMPTS = {1: 60, 2: 100}  # per task
REPEATED = {1: 20, 2: 25}  # prompts per task of which one pair is rated five times
# Share of answers that have the error in experiments 1 and 2, points that it takes off,
# and the share of people who see it where it is not.
ERRORS = pd.DataFrame(
    {
        "contradiction": (0.02, 0.02, 0.2, 0.03),
        "inconsistency": (0.06, 0.15, 0.4, 0.07),
        "factuality": (0.06, 0.20, 0.6, 0.08),
        "relevance": (0.05, 0.09, 0.8, 0.06),
        "formatting": (0.03, 0.03, 1.2, 0.06),
        "refusal": (0.04, 0.03, 1.8, 0.02),
        "repetition": (0.03, 0.08, 0.8, 0.03),
        "scope": (0.01, 0.00, 0.3, 0.03),
        "fluency": (0.01, 0.00, 0.3, 0.05),
        "harmful": (0.01, 0.00, 0.3, 0.01),
    },
    ["rate_1", "rate_2", "points", "false_alarm"],
).T
OF_DISTRACTORS = {"inconsistency": 0.9, "relevance": 0.95}  # share with the error
CAUTIOUS_REFUSALS = 0.24
SEEN = {1: 0.7, 2: 0.3}  # share of an error's labels by people who see the answer
SEEN_IN_ARM = {"assertive_low": 0.5, "assertive_high": 0.15}
SEEN_REFUSALS = 0.9
PRIMING = 1.3  # weight of errors in the score of people who had to look for them
# Assertiveness, complexity and words, in the order of ARMS.
TONE = pd.DataFrame(
    [
        (3.6, 2.8, 110),
        (2.8, 2.5, 90),
        (3.8, 2.9, 115),
        (3.1, 2.1, 60),
        (3.8, 3.3, 145),
    ],
    ARMS,
    ["assertiveness", "complexity", "words"],
)
EXPERT_PROMPTS = 20  # per task
PILOT_ANSWERS = 16
# First person and last, and the median time in seconds; neighbours share people.
PEOPLE = {
    (1, "errors"): (0, 500, 220),
    (1, "unbiased"): (350, 950, 65),
    (2, "errors"): (900, 1500, 135),
    (2, "unbiased"): (1450, 2050, 60),
    (2, "perception"): (2000, 2700, 60),
}
N_PEOPLE = 2700
WORDS = ("we", "find", "good", "ways", "with", "care.", "not", "bad", "difficulty.")


def answers(experiment: int, seed: int) -> pd.DataFrame:
    """Draw answers with their true errors and quality; distractors come last."""
    rng = np.random.default_rng([seed, experiment])
    table = _design(experiment, rng)
    errors = list(ERRORS_1 if experiment == 1 else ERRORS_2)
    chance = pd.DataFrame([ERRORS.loc[errors, f"rate_{experiment}"]] * len(table))
    chance = chance.set_axis(table.index)
    chance.loc[table["arm"] == "assertive_low", "refusal"] = CAUTIOUS_REFUSALS
    chance.loc[table["is_distractor"], list(OF_DISTRACTORS)] = [
        *OF_DISTRACTORS.values()
    ]
    table[errors] = 1.0 * (rng.random(chance.shape) < chance)

    of_prompt = rng.normal(0, 0.4, table["prompt_id"].nunique())
    quality = 3.9 + of_prompt[pd.factorize(table["prompt_id"])[0]]
    quality += rng.normal(0, 0.5, len(table)) - 2.0 * table["is_distractor"]
    tone = TONE.loc[table["arm"]].set_index(table.index)
    shared = rng.normal(0, 0.4, len(table))  # assertive answers are complex, too
    for scale in ["assertiveness", "complexity"]:
        table[scale] = tone[scale] + shared + rng.normal(0, 0.4, len(table))
    if experiment == 2:
        quality += 0.8 * (table["assertiveness"] - 3)
    lost = table[errors] @ ERRORS.loc[errors, "points"]
    table["quality_unbiased"] = quality - lost
    table["quality_biased"] = quality - PRIMING * lost
    words = tone["words"] * np.exp(rng.normal(0, 0.6, len(table)))
    table["response_words"] = np.ceil(words).astype(int)
    return table


def _design(experiment: int, rng: np.random.Generator) -> pd.DataFrame:
    """List five answers to each prompt, then a distractor like one of the five."""
    n_prompts = len(TASKS) * PROMPTS[experiment]
    if experiment == 1:
        system = np.tile(SYSTEMS_1, n_prompts)
        arm = np.repeat("baseline", len(system))
    else:
        # five prompts share all combinations of system and condition
        n_cells = len(SYSTEMS_2) * len(ARMS)
        blocks = np.tile(np.arange(n_cells), (n_prompts // ANSWERS_TO_A_PROMPT, 1))
        cell = rng.permuted(blocks, axis=1).ravel()
        system = np.array(SYSTEMS_2)[cell // len(ARMS)]
        arm = np.array(ARMS)[cell % len(ARMS)]
    prompt = np.arange(len(system)) // ANSWERS_TO_A_PROMPT
    number = prompt % PROMPTS[experiment] + 1
    table = pd.DataFrame({"system": system, "arm": arm, "number": number})
    table["task"] = np.array(TASKS)[prompt // PROMPTS[experiment]]
    in_words = table["number"].astype(str).str.zfill(3)
    table["prompt_id"] = table["task"] + "-simulated-" + in_words
    table["item_id"] = table["prompt_id"] + "|" + table["system"] + "|" + table["arm"]
    table["is_distractor"] = False
    partners = table.iloc[ANSWERS_TO_A_PROMPT - 1 :: ANSWERS_TO_A_PROMPT]
    distractors = partners.assign(is_distractor=True)
    distractors["item_id"] += "|distractor"
    return pd.concat([table, distractors], ignore_index=True)


def _pairs(experiment: int, seed: int) -> np.ndarray:
    """Rows of the two answers in each pair that is shown."""
    rng = np.random.default_rng([seed, experiment, 1])
    n_prompts = len(TASKS) * PROMPTS[experiment]
    first = ANSWERS_TO_A_PROMPT * np.arange(n_prompts)  # row of a prompt's first answer
    pairs = np.array(list(combinations(range(ANSWERS_TO_A_PROMPT), 2)))
    once = (first[:, None, None] + pairs).reshape(-1, 2)
    repeated = first[np.arange(n_prompts) % PROMPTS[experiment] < REPEATED[experiment]]
    again = repeated[:, None] + rng.choice(pairs, len(repeated))
    partner = first + ANSWERS_TO_A_PROMPT - 1
    distractor = ANSWERS_TO_A_PROMPT * n_prompts + np.arange(n_prompts)
    checks = np.column_stack([partner, distractor])
    return np.concatenate([once, *[again] * 4, checks])


def ratings(experiment: int, form: str, seed: int, texts: bool = False) -> pd.DataFrame:
    """Draw what people submitted on a form: two rows in turn are one pair."""
    shown = answers(experiment, seed)
    if texts:
        shown = _with_texts(shown, seed)
    rng = np.random.default_rng([seed, 5, list(PEOPLE).index((experiment, form))])
    pairs = rng.permutation(_pairs(experiment, seed))
    rows = rng.permuted(pairs, axis=1).ravel()
    table = shown.iloc[rows].reset_index(drop=True)
    table["pair_id"] = np.arange(len(rows)) // 2
    partners = rows.reshape(-1, 2)[:, ::-1].ravel()
    table["partner_id"] = shown["item_id"].to_numpy()[partners]

    first, last, median = PEOPLE[experiment, form]
    # squared, so that the first people submit most
    person = first + (last - first) * rng.random(len(pairs)) ** 2
    person = np.repeat(person.astype(int), 2)
    table["rater_id"] = [f"simulated-rater-{number:04}" for number in person]
    seconds = median * np.exp(rng.normal(0, 0.7, len(pairs)))
    table["seconds"] = np.repeat(np.ceil(seconds).astype(int), 2)
    lenient = np.random.default_rng(seed).normal(0, 0.35, N_PEOPLE)
    opinion = lenient[person][:, None] + rng.normal(0, 1, (len(table), 2))
    if form == "perception":
        scores = table[["assertiveness", "complexity"]] + opinion
        table[["assertiveness", "complexity"]] = to_scale(scores, 1, 5)
    else:
        quality = f"quality_{'biased' if form == 'errors' else 'unbiased'}"
        opinion = table[quality] + opinion[:, 0]
        table[quality] = to_scale(opinion, 1, 5)
    if form == "errors":
        _label(rng, table, experiment)
    if form == "errors" and experiment == 1:
        for factor in FACTORS:
            table[factor] = to_scale(opinion + rng.normal(0, 0.9, len(table)), 1, 5)
    table.attrs["source"] = "simulated"
    return table


def _label(rng: np.random.Generator, table: pd.DataFrame, experiment: int) -> None:
    """Replace true errors by the labels of workers, who miss some and imagine some."""
    seen = table["arm"].map(SEEN_IN_ARM).fillna(SEEN[experiment])
    for error in ERRORS_1 if experiment == 1 else ERRORS_2:
        of_error = SEEN_REFUSALS if error == "refusal" else seen
        chance = np.where(table[error] == 1, of_error, ERRORS["false_alarm"][error])
        table[error] = 1.0 * (rng.random(len(table)) < chance)


def _with_texts(shown: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Add prompts, responses and system prompts: words without meaning."""
    rng = np.random.default_rng([seed, 3])
    responses = [" ".join(rng.choice(WORDS, n)) for n in shown["response_words"]]
    preamble = "simulated preamble " + shown["arm"]
    return shown.assign(
        prompt="prompt " + shown["prompt_id"],
        response=responses,
        preamble=preamble.where(shown["arm"] != "baseline", ""),
    )


def experts(seed: int) -> pd.DataFrame:
    """Draw the labels of an expert, who misses few errors, and those of a pilot."""
    table = answers(2, seed)
    main = table[(table["number"] <= EXPERT_PROMPTS) & ~table["is_distractor"]]
    main = main.assign(batch="main", rater_id="simulated-rater-001")
    pilot = main.head(PILOT_ANSWERS)
    pilot = pilot.assign(batch="pilot", rater_id="simulated-rater-002")
    labels = pd.concat([pilot, main], ignore_index=True)
    rng = np.random.default_rng([seed, 4])
    chance = labels[list(ERRORS_2)].replace({1.0: 0.97, 0.0: 0.005})
    labels[list(ERRORS_2)] = 1.0 * (rng.random(chance.shape) < chance)
    labels = labels[list(columns.HOSKING_EXPERTS.columns)]
    labels.attrs["source"] = "simulated"
    return labels


def to_scale(opinion: np.ndarray, low: float, high: float) -> np.ndarray:
    """Put opinions on a scale of whole numbers."""
    return np.clip(np.rint(opinion), low, high)
