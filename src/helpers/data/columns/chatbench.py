"""Columns of the tables of ChatBench, and the words used in them."""

from helpers.data.columns.kinds import COUNT, NO_OR_YES, TEXT, between, one_of, table

CHAT_MODELS = ("GPT-4o", "Llama-3.1-8b")
PILOT_MODELS = (*CHAT_MODELS, "GPT-4o-mini")  # of the first pilot
CHAT_DATASETS = (
    "Elementary Math",
    "High School Math",
    "College Math",
    "Conceptual Physics",
    "Moral Scenarios",
)
ATTENTION_CHECK = "Attention Check"
AI_METHODS = ("AI letter zero shot", "AI letter few shot", "AI free text")
CHAT_CONDITIONS = ("direct to AI", "answer first")
ANSWER_TYPES = ("user-alone", "user-AI")
CONFIDENCES = ("not-confident", "somewhat-confident", "very-confident")
PHASES = (1, 2)

_ANSWERS = {
    "rater_id": TEXT,
    "question_id": TEXT,
    "answer_type": one_of(ANSWER_TYPES),
    "dataset": one_of((*CHAT_DATASETS, ATTENTION_CHECK)),
    "model": one_of(CHAT_MODELS),
    "condition": one_of(CHAT_CONDITIONS),
    "phase": one_of(PHASES, int),
    "confidence": one_of(CONFIDENCES, nullable=True),
    "correct": NO_OR_YES,
}
_ANSWER_KEYS = ["rater_id", "question_id", "answer_type"]
CHATBENCH_ANSWERS = table(_ANSWERS, _ANSWER_KEYS)
CHATBENCH_PILOT_ANSWERS = table(
    _ANSWERS | {"model": one_of(PILOT_MODELS)}, _ANSWER_KEYS
)
CHATBENCH_AI_ALONE = table(
    {
        "question_id": TEXT,
        "model": one_of(CHAT_MODELS),
        "method": one_of(AI_METHODS),
        "dataset": one_of(CHAT_DATASETS),
        "n_answers": COUNT,
        "accuracy": between(0, 1),
    },
    ["question_id", "model", "method"],
)
