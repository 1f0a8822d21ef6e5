import pandas as pd
import pytest

from helpers.data import columns, tables
from helpers.data.columns import hosking, humbel, kamoda

RATING = {
    "item_id": "q1|human_top",
    "prompt_id": "q1",
    "task": "eli5",
    "system": "human_top",
    "arm": "baseline",
    "question_id": "q1",
    "factuality": 3,
    "amount_info": 0,
    "formality": -1,
    "acceptability": 2,
    "preferred": 1,
}
PAIR = {
    "item_id": "a",
    "prompt_id": "a",
    "task": "wikihow",
    "system": "MPT 30B",
    "arm": "complex_low",
    "rater_id": "rater-001",
    "pair_id": 0,
    "is_distractor": False,
    "batch": "main",
    "evaluator": "gpt4",
    "factuality": 1.5,
}


def ratings(*rows):
    """Right ratings of one answer by several people, but for the given changes."""
    return pd.DataFrame(
        [{"rater_id": f"r{n}"} | RATING | row for n, row in enumerate(rows)]
    )


def problems(frame, schema=kamoda.KAMODA_RATINGS):
    with pytest.raises(tables.BadTableError) as caught:
        columns.check(frame, schema, "ratings.jsonl")
    return [line.removeprefix("  ") for line in str(caught.value).splitlines()[1:]]


def test_a_good_table_comes_back_in_the_order_of_the_schema_with_float_ratings():
    frame = (
        ratings({}, {"factuality": "2"})
        .iloc[:, ::-1]
        .assign(comment="not in the schema")
    )
    frame.index = [7, 7]
    checked = columns.check(frame, kamoda.KAMODA_RATINGS, "ratings.jsonl")
    assert list(checked) == list(kamoda.KAMODA_RATINGS.columns)
    assert checked["factuality"].tolist() == [3.0, 2.0]
    assert checked["preferred"].dtype == float
    assert checked.index.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            {"factuality": 4},
            "column 'factuality', row 2: 4.0 is not allowed; allowed: 0, 1, 2 or",
        ),
        (
            {"formality": 0.5},
            "column 'formality', row 2: 0.5 is not allowed; allowed: -1, 0 or 1",
        ),
        (
            {"factuality": "three"},
            "column 'factuality', row 2: 'three' is not allowed; allowed",
        ),
        (
            {"question_id": 1},
            "column 'question_id', row 2: 1 is not allowed; allowed: text",
        ),
        (
            {"acceptability": None},
            "column 'acceptability', row 2: empty; a value is needed",
        ),
        (
            {"task": "eli6"},
            "column 'task', row 2: 'eli6' is not allowed; allowed: eli5",
        ),
        (
            {"system": "human_best"},
            "column 'system', row 2: 'human_best' is not allowed; allowed: human_top, "
            "human_random, "
            "model_formal or model_casual",
        ),
        (
            {"rater_id": "r0"},
            "column 'item_id', row 2: 'q1|human_top' stands there again with the same "
            "rater_id",
        ),
    ],
)
def test_a_cell_that_is_not_allowed_is_named_with_its_row_and_what_is(change, problem):
    (found,) = problems(ratings({}, change))
    assert found.startswith(problem)


@pytest.mark.parametrize(
    ("schema", "change", "problem"),
    [
        (
            hosking.HOSKING_EXPERTS,
            {"factuality": 2},
            "column 'factuality', row 1: 2.0 is not allowed; allowed: 0 or 1",
        ),
        (
            hosking.HOSKING_2_UNBIASED,
            {"is_distractor": "no"},
            "column 'is_distractor' holds str; allowed: True or False",
        ),
        (
            hosking.HOSKING_2_PERCEPTION,
            {"response_words": -3},
            "column 'response_words', row 1: -3 is not allowed; allowed: a whole "
            "number from 0 on",
        ),
        (
            kamoda.KAMODA_EVALUATORS,
            {"acceptability": 3.1},
            "column 'acceptability', row 1: 3.1 is not allowed; allowed: a number "
            "from 0 to 3",
        ),
        (
            humbel.HUMBEL_NORMS,
            {"age": 8, "word": "a", "meaning": "b"},
            "column 'age', row 1: 8 is not allowed; allowed: 7, 9, 11, 13, 15, 17, 18 "
            "or 19",
        ),
    ],
)
def test_every_kind_of_column_has_its_values(schema, change, problem):
    row = dict.fromkeys(schema.columns, 1) | PAIR | change
    assert problems(pd.DataFrame([row]), schema) == [problem]


def test_columns_that_must_be_missing_or_empty_nowhere_may_be_so_elsewhere():
    row = dict.fromkeys(kamoda.KAMODA_ANSWERS.columns, "a") | {"system": "human_top"}
    frame = pd.DataFrame([row | {"votes": None}, row | {"votes": 3, "item_id": "b"}])
    checked = columns.check(frame, kamoda.KAMODA_ANSWERS, "answers")
    assert checked["votes"].isna().tolist() == [True, False]
    twice = problems(frame.assign(item_id="a"), kamoda.KAMODA_ANSWERS)
    assert twice == ["column 'item_id', row 2: 'a' stands there again"]


def test_all_problems_are_told_at_once_missing_columns_first_then_by_row():
    frame = ratings({"preferred": 2}, {"task": "eli6", "factuality": 9}).drop(
        columns="formality"
    )
    assert problems(frame) == [
        "column 'formality' is missing",
        "column 'preferred', row 1: 2.0 is not allowed; allowed: 0 or 1",
        "column 'task', row 2: 'eli6' is not allowed; allowed: eli5",
        "column 'factuality', row 2: 9.0 is not allowed; allowed: 0, 1, 2 or 3",
    ]


def test_words_and_scales_of_the_studies():
    assert set(kamoda.RANGES) == {*kamoda.ASPECTS, "acceptability"}
    assert set(kamoda.IDEALS) == set(kamoda.RANGES)
    for aspect, (low, high) in kamoda.RANGES.items():
        assert low <= kamoda.IDEALS[aspect] <= high
    assert len(hosking.ERRORS_1) == 10
    assert hosking.ERRORS_1[:7] == hosking.ERRORS_2
