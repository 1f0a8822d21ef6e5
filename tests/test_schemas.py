import pandas as pd
import pytest

from helpers.files import schemas, tables


def rating(**changes):
    row = {
        "item_id": "q1|human_top",
        "prompt_id": "q1",
        "task": "eli5",
        "system": "human_top",
        "arm": "baseline",
        "rater_id": "rater-001",
        "question_id": "q1",
        "factuality": 3,
        "amount_info": 0,
        "formality": -1,
        "acceptability": 2,
        "preferred": 1,
    }
    return row | changes


def ratings(*rows):
    numbered = [{"rater_id": f"rater-{n:03d}"} | changes for n, changes in enumerate(rows, start=1)]
    return pd.DataFrame([rating(**changes) for changes in numbered])


def problems(frame, schema=schemas.KAMODA_RATINGS):
    with pytest.raises(tables.BadTableError) as caught:
        schemas.check(frame, schema, "ratings.jsonl")
    return str(caught.value)


def one_problem(text):
    return f"ratings.jsonl: 1 problem. Correct the file and load it again.\n  {text}"


def test_a_good_table_comes_back_in_the_order_of_the_schema_with_float_ratings():
    frame = ratings({}, {"factuality": "2"}).iloc[:, ::-1].assign(comment="not in the schema")
    frame.index = [7, 7]
    checked = schemas.check(frame, schemas.KAMODA_RATINGS, "ratings.jsonl")
    assert list(checked) == list(schemas.KAMODA_RATINGS.columns)
    assert checked["factuality"].tolist() == [3.0, 2.0]
    assert checked["preferred"].dtype == float
    assert checked.index.tolist() == [0, 1]


def test_a_missing_column_is_named():
    frame = ratings({}).drop(columns="formality")
    assert problems(frame) == one_problem("column 'formality' is missing")


def test_a_missing_key_column_is_named():
    frame = ratings({}).drop(columns="item_id")
    assert problems(frame) == one_problem("column 'item_id' is missing")


def test_a_rating_out_of_range_is_named_with_its_row_and_what_is_allowed():
    text = "column 'factuality', row 2: 4.0 is not allowed; allowed: 0, 1, 2 or 3"
    assert problems(ratings({}, {"factuality": 4})) == one_problem(text)


def test_a_rating_between_two_steps_of_the_scale_is_refused():
    text = "column 'formality', row 1: 0.5 is not allowed; allowed: -1, 0 or 1"
    assert problems(ratings({"formality": 0.5})) == one_problem(text)


def test_a_word_in_place_of_a_number_is_named_with_its_row():
    text = "column 'factuality', row 2: 'three' is not allowed; allowed: 0, 1, 2 or 3"
    assert problems(ratings({"factuality": "1"}, {"factuality": "three"})) == one_problem(text)


def test_a_text_column_of_numbers_is_refused():
    text = "column 'question_id', row 1: 1 is not allowed; allowed: text"
    assert problems(ratings({"question_id": 1})) == one_problem(text)


def test_an_empty_cell_is_named_with_its_row():
    text = "column 'acceptability', row 2: empty; a value is needed"
    assert problems(ratings({}, {"acceptability": None})) == one_problem(text)


def test_an_unknown_system_is_named_with_the_known_ones():
    text = (
        "column 'system', row 1: 'human_best' is not allowed; "
        "allowed: human_top, human_random, model_formal or model_casual"
    )
    assert problems(ratings({"system": "human_best"})) == one_problem(text)


def test_a_second_rating_of_an_item_by_the_same_rater_is_named():
    text = "column 'item_id', row 3: 'q1|human_top' stands there again with the same rater_id"
    repeated = {"rater_id": "rater-001"}
    assert problems(ratings({}, {}, repeated)) == one_problem(text)


def test_an_error_check_must_be_yes_or_no():
    schema = schemas.HOSKING_EXPERTS
    row = dict.fromkeys(schema.columns, 0) | {
        "item_id": "a",
        "prompt_id": "a",
        "task": "wikihow",
        "system": "MPT 30B",
        "arm": "baseline",
        "rater_id": "rater-001",
        "batch": "main",
        "factuality": 2,
    }
    text = "column 'factuality', row 1: 2.0 is not allowed; allowed: 0 or 1"
    assert problems(pd.DataFrame([row]), schema) == one_problem(text)


def test_truth_values_must_be_stored_as_such():
    row = dict.fromkeys(schemas.HOSKING_2_UNBIASED.columns, 1) | {
        "item_id": "a",
        "prompt_id": "a",
        "task": "wikihow",
        "system": "MPT 30B",
        "arm": "complex_low",
        "rater_id": "pair-0",
        "is_distractor": "no",
    }
    text = "column 'is_distractor' holds str; allowed: True or False"
    assert problems(pd.DataFrame([row]), schemas.HOSKING_2_UNBIASED) == one_problem(text)


def test_a_count_must_not_be_negative():
    schema = schemas.HOSKING_2_PERCEPTION
    row = dict.fromkeys(schema.columns, 1) | {
        "item_id": "a",
        "prompt_id": "a",
        "task": "wikihow",
        "system": "MPT 30B",
        "arm": "complex_low",
        "rater_id": "pair-0",
        "is_distractor": False,
        "response_words": -3,
    }
    text = "column 'response_words', row 1: -3 is not allowed; allowed: a whole number from 0 on"
    assert problems(pd.DataFrame([row]), schema) == one_problem(text)


def test_all_problems_are_told_at_once_missing_columns_first_then_by_row():
    frame = ratings({"preferred": 2}, {"task": "eli6", "factuality": 9}).drop(columns="formality")
    assert problems(frame).splitlines() == [
        "ratings.jsonl: 4 problems. Correct the file and load it again.",
        "  column 'formality' is missing",
        "  column 'preferred', row 1: 2.0 is not allowed; allowed: 0 or 1",
        "  column 'task', row 2: 'eli6' is not allowed; allowed: eli5",
        "  column 'factuality', row 2: 9.0 is not allowed; allowed: 0, 1, 2 or 3",
    ]


def test_at_most_ten_problems_are_shown_and_the_others_counted():
    lines = problems(ratings(*[{"factuality": 9}] * 25)).splitlines()
    assert lines[0] == "ratings.jsonl: 25 problems. Correct the file and load it again."
    assert len(lines) == 12
    assert lines[10].startswith("  column 'factuality', row 10: 9.0")
    assert lines[11] == "  ... and 15 more"


def test_evaluators_may_rate_between_the_steps_but_not_beyond_the_scale():
    row = {"item_id": "a", "evaluator": "gpt4_mean3", "factuality": 8 / 3, "amount_info": -1 / 3}
    frame = pd.DataFrame([row | {"formality": 0, "acceptability": 2.5}])
    checked = schemas.check(frame, schemas.KAMODA_EVALUATORS, "ratings.jsonl")
    assert checked["factuality"].tolist() == [8 / 3]
    text = "column 'acceptability', row 1: 3.1 is not allowed; allowed: a number from 0 to 3"
    too_high = frame.assign(acceptability=3.1)
    assert problems(too_high, schemas.KAMODA_EVALUATORS) == one_problem(text)


def test_the_ideal_of_every_aspect_lies_in_its_range():
    assert set(schemas.IDEALS) == set(schemas.RANGES) == {*schemas.ASPECTS, "acceptability"}
    for aspect, (low, high) in schemas.RANGES.items():
        assert low <= schemas.IDEALS[aspect] <= high


def test_experiment_2_checks_the_first_seven_errors_of_experiment_1():
    assert len(schemas.ERRORS_1) == 10
    assert schemas.ERRORS_1[:7] == schemas.ERRORS_2
