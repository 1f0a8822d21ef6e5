"""Columns of the tables of Kamoda et al. (2025), and the words used in them."""

from helpers.data.columns.kinds import (
    NO_OR_YES,
    NUMBER_OR_EMPTY,
    TEXT,
    TRUE_OR_FALSE,
    between,
    design,
    one_of,
    scale,
    table,
)

ASPECTS = ("factuality", "amount_info", "formality")
RANGES = {
    "factuality": (0, 3),
    "amount_info": (-1, 1),
    "formality": (-1, 1),
    "acceptability": (0, 3),
}
IDEALS = {"factuality": 3, "amount_info": 0, "formality": 0, "acceptability": 3}
ANSWER_SYSTEMS = ("human_top", "human_random", "model_formal", "model_casual")
EVALUATORS = ("gpt4", "llama2", "gpt4_mean3")
MINUTES_A_DAY = 24 * 60

# Workers give whole numbers; an evaluator may give the mean of several.
_WORKERS_SCALES = {name: scale(low, high) for name, (low, high) in RANGES.items()}
_EVALUATORS_SCALES = {name: between(low, high) for name, (low, high) in RANGES.items()}

KAMODA_RATINGS = table(
    design(("eli5",), ANSWER_SYSTEMS)
    | {"rater_id": TEXT, "question_id": TEXT}
    | _WORKERS_SCALES
    | {"preferred": NO_OR_YES},
    ["item_id", "rater_id"],
)
KAMODA_EVALUATORS = table(
    {"item_id": TEXT, "evaluator": one_of(EVALUATORS)} | _EVALUATORS_SCALES,
    ["item_id", "evaluator"],
)
KAMODA_ANSWERS = table(
    {
        "item_id": TEXT,
        "question_id": TEXT,
        "system": one_of(ANSWER_SYSTEMS),
        "question": TEXT,
        "text": TEXT,
        "votes": NUMBER_OR_EMPTY,
    },
    ["item_id"],
)
EXPERT_VERDICTS = table(
    {
        "domain": TEXT,
        "rater_id": TEXT,
        "item_id": TEXT,
        "model_preferred": NO_OR_YES,
    },
    ["item_id", "rater_id"],
)
KAMODA_JUSTIFICATIONS = table(
    {
        "question_id": TEXT,
        "rater_id": TEXT,
        "text": TEXT,
        "none_appropriate": TRUE_OR_FALSE,
        "minutes": between(0, MINUTES_A_DAY),
    },
    ["question_id", "rater_id"],
)
