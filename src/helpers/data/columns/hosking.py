"""Columns of the tables of Hosking et al. (2024), and the words used in them."""

from helpers.data.columns.kinds import (
    COUNT,
    NO_OR_YES,
    ONE_TO_FIVE,
    TEXT,
    TRUE_OR_FALSE,
    design,
    one_of,
    table,
)

ERRORS_1 = (
    "contradiction",
    "inconsistency",
    "factuality",
    "relevance",
    "formatting",
    "refusal",
    "repetition",
    "scope",
    "fluency",
    "harmful",
)
ERRORS_2 = ERRORS_1[:7]
FACTORS = ("confidence", "style", "detail", "clarity", "creativity", "usefulness")
TASKS = ("amazon", "curation", "wikihow")
SYSTEMS_1 = ("Command 52B", "Command 6B", "Falcon 40B", "MPT 30B", "References")
SYSTEMS_2 = ("Command 52B", "Command 6B", "Falcon 40B", "Llama 2 13B", "MPT 30B")
ARMS = ("baseline", "assertive_low", "assertive_high", "complex_low", "complex_high")
BATCHES = ("pilot", "main")

# The released tables do not say who rated.
_KEY = ["item_id", "pair_id"]
_DESIGN_1 = design(TASKS, SYSTEMS_1)
_DESIGN_2 = design(TASKS, SYSTEMS_2, ARMS)
# Of each pair of responses that a person rated side by side.
_PAIR = {"is_distractor": TRUE_OR_FALSE, "pair_id": COUNT}

HOSKING_1_ERRORS = table(
    _DESIGN_1
    | _PAIR
    | {"quality_biased": ONE_TO_FIVE}
    | dict.fromkeys(FACTORS, ONE_TO_FIVE)
    | dict.fromkeys(ERRORS_1, NO_OR_YES)
    | {"response_words": COUNT},
    _KEY,
)
HOSKING_1_UNBIASED = table(_DESIGN_1 | _PAIR | {"quality_unbiased": ONE_TO_FIVE}, _KEY)
HOSKING_2_ERRORS = table(
    _DESIGN_2
    | _PAIR
    | {"quality_biased": ONE_TO_FIVE}
    | dict.fromkeys(ERRORS_2, NO_OR_YES),
    _KEY,
)
HOSKING_2_UNBIASED = table(_DESIGN_2 | _PAIR | {"quality_unbiased": ONE_TO_FIVE}, _KEY)
HOSKING_2_PERCEPTION = table(
    _DESIGN_2
    | _PAIR
    | {
        "assertiveness": ONE_TO_FIVE,
        "complexity": ONE_TO_FIVE,
        "response_words": COUNT,
    },
    _KEY,
)
HOSKING_EXPERTS = table(
    _DESIGN_2
    | {"rater_id": TEXT, "batch": one_of(BATCHES)}
    | dict.fromkeys(ERRORS_2, NO_OR_YES),
    ["item_id", "rater_id", "batch"],
)
