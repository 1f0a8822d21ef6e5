"""What the tables of each study must look like, and the words used in them.

The tables are wide: one row per (item, rater). Real and simulated tables pass the same schema.
"""

from collections.abc import Iterable, Sequence

import pandas as pd
import pandera.pandas as pa

from helpers.files.tables import bad_table, cell, require_plain

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
    require_plain(frame, frame.columns.intersection(schema.columns, sort=False).unique(), name)
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


def _text(*values: str) -> pa.Column:
    """Describe a text column, restricted to `values` if any are given."""
    if not values:
        return pa.Column(str, description="text")
    return _choice(str, values)


def _scale(low: int, high: int) -> pa.Column:
    """Describe a column of whole-number ratings, stored as floats."""
    return _choice(float, range(low, high + 1))


def _choice(kind: type, values: Iterable, **options: bool) -> pa.Column:
    """Describe a column that holds one of some values."""
    coerce = kind is not str
    return pa.Column(
        kind, pa.Check.isin(values), coerce=coerce, description=_listing(values), **options
    )


def _between(low: float, high: float) -> pa.Column:
    """Describe a column of numbers within a range."""
    description = f"a number from {low} to {high}"
    return pa.Column(float, pa.Check.between(low, high), coerce=True, description=description)


def _count() -> pa.Column:
    """Describe a column of whole numbers from zero on."""
    return pa.Column(int, pa.Check.ge(0), coerce=True, description="a whole number from 0 on")


def _listing(values: Iterable) -> str:
    """Join values by commas and a final or."""
    *others, last = (str(value) for value in values)
    return f"{', '.join(others)} or {last}" if others else last


def _ratings(
    columns: dict[str, pa.Column],
    *,
    tasks: Sequence[str],
    systems: Sequence[str],
    arms: Sequence[str] = ("baseline",),
    key: Sequence[str] = ("item_id", "rater_id"),
) -> pa.DataFrameSchema:
    """Describe a table of ratings, by default one per item and rater."""
    common = {
        "item_id": _text(),
        "prompt_id": _text(),
        "task": _text(*tasks),
        "system": _text(*systems),
        "arm": _text(*arms),
        "rater_id": _text(),
    }
    return _table(common | columns, key)


def _table(columns: dict[str, pa.Column], key: Sequence[str]) -> pa.DataFrameSchema:
    """Describe a table whose rows are told apart by `key`."""
    return pa.DataFrameSchema(
        columns, unique=list(key), report_duplicates="exclude_first", strict="filter"
    )


_TRUTH = pa.Column(bool, description="True or False")
_PAIRS = {"is_distractor": _TRUTH, "pair_id": _count()}
_DESIGN_1 = {"tasks": TASKS, "systems": SYSTEMS_1}
_DESIGN_2 = {"tasks": TASKS, "systems": SYSTEMS_2, "arms": ARMS}
_QUALITY = _scale(1, 5)

HOSKING_1_ERRORS = _ratings(
    _PAIRS
    | {"quality_biased": _QUALITY}
    | {factor: _scale(1, 5) for factor in FACTORS}
    | {error: _scale(0, 1) for error in ERRORS_1}
    | {"response_words": _count()},
    **_DESIGN_1,
)
HOSKING_1_UNBIASED = _ratings(_PAIRS | {"quality_unbiased": _QUALITY}, **_DESIGN_1)
HOSKING_2_ERRORS = _ratings(
    _PAIRS | {"quality_biased": _QUALITY} | {error: _scale(0, 1) for error in ERRORS_2},
    **_DESIGN_2,
)
HOSKING_2_UNBIASED = _ratings(_PAIRS | {"quality_unbiased": _QUALITY}, **_DESIGN_2)
HOSKING_2_PERCEPTION = _ratings(
    _PAIRS
    | {"assertiveness": _scale(1, 5), "complexity": _scale(1, 5), "response_words": _count()},
    **_DESIGN_2,
)
HOSKING_EXPERTS = _ratings(
    {"batch": _text(*BATCHES)} | {error: _scale(0, 1) for error in ERRORS_2},
    key=("item_id", "rater_id", "batch"),
    **_DESIGN_2,
)
KAMODA_RATINGS = _ratings(
    {"question_id": _text()}
    | {aspect: _scale(*limits) for aspect, limits in RANGES.items()}
    | {"preferred": _scale(0, 1)},
    tasks=("eli5",),
    systems=ANSWER_SYSTEMS,
)
KAMODA_EVALUATORS = _table(
    {"item_id": _text(), "evaluator": _text(*EVALUATORS)}
    | {aspect: _between(*limits) for aspect, limits in RANGES.items()},
    key=("item_id", "evaluator"),
)
KAMODA_ANSWERS = _table(
    {
        "item_id": _text(),
        "question_id": _text(),
        "system": _text(*ANSWER_SYSTEMS),
        "question": _text(),
        "text": _text(),
        "votes": pa.Column(float, nullable=True, coerce=True, description="a number, or empty"),
    },
    key=("item_id",),
)
KAMODA_JUSTIFICATIONS = _table(
    {
        "question_id": _text(),
        "rater_id": _text(),
        "text": _text(),
        "none_appropriate": _TRUTH,
        "minutes": _between(0, 24 * 60),
    },
    key=("question_id", "rater_id"),
)
HUMBEL_ASSOCIATIONS = _table(
    {
        "row": _count(),
        "cue": _text(),
        "association": _text(),
        "explanation": _text(),
        "relation": _text(),
    },
    key=("row",),
)
HUMBEL_NORMS = _table(
    {
        "row": _count(),
        "word": _text(),
        "meaning": _text(),
        "age": _choice(int, AGES),
    },
    key=("row",),
)
CHATBENCH_ANSWERS = _table(
    {
        "rater_id": _text(),
        "question_id": _text(),
        "answer_type": _text(*ANSWER_TYPES),
        "dataset": _text(*CHAT_DATASETS, ATTENTION_CHECK),
        "model": _text(*CHAT_MODELS),
        "condition": _text(*CHAT_CONDITIONS),
        "phase": _choice(int, (1, 2)),
        "confidence": _choice(str, CONFIDENCES, nullable=True),
        "correct": _scale(0, 1),
    },
    key=("rater_id", "question_id", "answer_type"),
)
CHATBENCH_AI_ALONE = _table(
    {
        "question_id": _text(),
        "model": _text(*CHAT_MODELS),
        "method": _text(*AI_METHODS),
        "dataset": _text(*CHAT_DATASETS),
        "n_answers": _count(),
        "accuracy": _between(0, 1),
    },
    key=("question_id", "model", "method"),
)
