"""What the tables of each study must look like, and the words used in them.

The tables are wide: one row per (item, rater). Real and simulated tables pass the same
schema.
"""

from collections.abc import Iterable, Sequence

import pandas as pd
import pandera.pandas as pa

from helpers.data.tables import bad_table, cell, require_plain

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

AGES = (7, 9, 11, 13, 15, 17, 18, 19)

CHAT_MODELS = ("GPT-4o", "Llama-3.1-8b")
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


def check(frame: pd.DataFrame, schema: pa.DataFrameSchema, name: str) -> pd.DataFrame:
    """Validate a table and return it with the schema's column types."""
    require_plain(
        frame, frame.columns.intersection(schema.columns, sort=False).unique(), name
    )
    try:
        checked = schema.validate(frame.reset_index(drop=True), lazy=True)
    except pa.errors.SchemaErrors as error:
        raise bad_table(name, _problems(error.failure_cases, schema)) from None
    return checked[list(schema.columns)]


def _problems(cases: pd.DataFrame, schema: pa.DataFrameSchema) -> list[str]:
    """Describe pandera's failure cases: whole columns first, then row by row."""
    uncastable = cases["check"].str.startswith("coerce_dtype")
    follow_up = ~uncastable & cases["column"].isin(cases.loc[uncastable, "column"])
    repeated = cases["check"].eq("multiple_fields_uniqueness")
    repeated &= cases["column"].ne(schema.unique[0])
    cases = cases[~follow_up & ~repeated]
    cases = cases.assign(row=cases["index"].astype(float) + 1)
    cases = cases.sort_values("row", na_position="first", kind="stable")
    return [_problem(case, schema) for case in cases.itertuples()]


def _problem(case: tuple, schema: pa.DataFrameSchema) -> str:
    """Describe one failure case in one line."""
    if case.check == "column_in_dataframe":
        return f"column {case.failure_case!r} is missing"
    allowed = schema.columns[case.column].description
    if pd.isna(case.row):
        return f"column {case.column!r} holds {case.failure_case}; allowed: {allowed}"
    where = f"column {case.column!r}, row {case.row:.0f}: "
    if case.check == "not_nullable":
        return where + "empty; a value is needed"
    if case.check == "multiple_fields_uniqueness":
        others = " and ".join(schema.unique[1:])
        same = f" with the same {others}" if others else ""
        return where + f"{cell(case.failure_case)} stands there again{same}"
    return where + f"{cell(case.failure_case)} is not allowed; allowed: {allowed}"


def _one_of(values: Iterable, kind: type = str, **options: bool) -> pa.Column:
    """Describe a column that holds one of some values."""
    *others, last = map(str, values)
    listing = f"{', '.join(others)} or {last}" if others else last
    coerce = kind is not str
    return pa.Column(
        kind, pa.Check.isin(values), coerce=coerce, description=listing, **options
    )


def _scale(low: int, high: int) -> pa.Column:
    """Describe a column of whole-number ratings, stored as floats."""
    return _one_of(range(low, high + 1), float)


def _between(low: float, high: float) -> pa.Column:
    """Describe a column of numbers within a range."""
    description = f"a number from {low} to {high}"
    return pa.Column(
        float, pa.Check.between(low, high), coerce=True, description=description
    )


def _ratings(
    tasks: Sequence[str], systems: Sequence[str], arms: Sequence[str] = ("baseline",)
) -> dict[str, pa.Column]:
    """Describe the columns that say who rated what."""
    return {
        "item_id": _TEXT,
        "prompt_id": _TEXT,
        "task": _one_of(tasks),
        "system": _one_of(systems),
        "arm": _one_of(arms),
        "rater_id": _TEXT,
    }


def _table(columns: dict[str, pa.Column], key: Sequence[str]) -> pa.DataFrameSchema:
    """Describe a table whose rows are told apart by `key`."""
    return pa.DataFrameSchema(
        columns, unique=key, report_duplicates="exclude_first", strict="filter"
    )


_TEXT = pa.Column(str, description="text")
_TRUTH = pa.Column(bool, description="True or False")
_COUNT = pa.Column(
    int, pa.Check.ge(0), coerce=True, description="a whole number from 0 on"
)
_VOTES = pa.Column(float, nullable=True, coerce=True, description="a number, or empty")
_MARK, _FIVE = _scale(0, 1), _scale(1, 5)
_SCALES = {aspect: _scale(*limits) for aspect, limits in RANGES.items()}
_PAIRS = {"is_distractor": _TRUTH, "pair_id": _COUNT}
_HOSKING_1 = _ratings(TASKS, SYSTEMS_1)
_HOSKING_2 = _ratings(TASKS, SYSTEMS_2, ARMS)
_RATING = ["item_id", "rater_id"]

HOSKING_1_ERRORS = _table(
    _HOSKING_1
    | _PAIRS
    | dict.fromkeys(("quality_biased", *FACTORS), _FIVE)
    | dict.fromkeys(ERRORS_1, _MARK)
    | {"response_words": _COUNT},
    _RATING,
)
HOSKING_1_UNBIASED = _table(_HOSKING_1 | _PAIRS | {"quality_unbiased": _FIVE}, _RATING)
HOSKING_2_ERRORS = _table(
    _HOSKING_2 | _PAIRS | {"quality_biased": _FIVE} | dict.fromkeys(ERRORS_2, _MARK),
    _RATING,
)
HOSKING_2_UNBIASED = _table(_HOSKING_2 | _PAIRS | {"quality_unbiased": _FIVE}, _RATING)
HOSKING_2_PERCEPTION = _table(
    _HOSKING_2
    | _PAIRS
    | {"assertiveness": _FIVE, "complexity": _FIVE, "response_words": _COUNT},
    _RATING,
)
HOSKING_EXPERTS = _table(
    _HOSKING_2 | {"batch": _one_of(BATCHES)} | dict.fromkeys(ERRORS_2, _MARK),
    [*_RATING, "batch"],
)
KAMODA_RATINGS = _table(
    _ratings(("eli5",), ANSWER_SYSTEMS)
    | {"question_id": _TEXT}
    | _SCALES
    | {"preferred": _MARK},
    _RATING,
)
KAMODA_EVALUATORS = _table(
    {"item_id": _TEXT, "evaluator": _one_of(EVALUATORS)}
    | {aspect: _between(*limits) for aspect, limits in RANGES.items()},
    ["item_id", "evaluator"],
)
KAMODA_ANSWERS = _table(
    {
        "item_id": _TEXT,
        "question_id": _TEXT,
        "system": _one_of(ANSWER_SYSTEMS),
        "question": _TEXT,
        "text": _TEXT,
        "votes": _VOTES,
    },
    ["item_id"],
)
KAMODA_JUSTIFICATIONS = _table(
    {
        "question_id": _TEXT,
        "rater_id": _TEXT,
        "text": _TEXT,
        "none_appropriate": _TRUTH,
        "minutes": _between(0, 24 * 60),
    },
    ["question_id", "rater_id"],
)
HUMBEL_ASSOCIATIONS = _table(
    {
        "row": _COUNT,
        **dict.fromkeys(("cue", "association", "explanation", "relation"), _TEXT),
    },
    ["row"],
)
HUMBEL_NORMS = _table(
    {"row": _COUNT, "word": _TEXT, "meaning": _TEXT, "age": _one_of(AGES, int)}, ["row"]
)
CHATBENCH_ANSWERS = _table(
    {
        "rater_id": _TEXT,
        "question_id": _TEXT,
        "answer_type": _one_of(ANSWER_TYPES),
        "dataset": _one_of((*CHAT_DATASETS, ATTENTION_CHECK)),
        "model": _one_of(CHAT_MODELS),
        "condition": _one_of(CHAT_CONDITIONS),
        "phase": _one_of((1, 2), int),
        "confidence": _one_of(CONFIDENCES, nullable=True),
        "correct": _MARK,
    },
    ["rater_id", "question_id", "answer_type"],
)
CHATBENCH_AI_ALONE = _table(
    {
        "question_id": _TEXT,
        "model": _one_of(CHAT_MODELS),
        "method": _one_of(AI_METHODS),
        "dataset": _one_of(CHAT_DATASETS),
        "n_answers": _COUNT,
        "accuracy": _between(0, 1),
    },
    ["question_id", "model", "method"],
)
