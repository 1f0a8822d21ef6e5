"""Malformed files: whatever they hold, a loader gives a table or one of its documented errors."""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import hypothesis
import hypothesis.configuration
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import paths
from helpers.beyond import answerers
from helpers.beyond.word_tests import SHOWN
from helpers.files import ratings, schemas, tables
from helpers.studies import chatbench, hosking, hosking_submissions, humbel, kamoda
from helpers.studies.hosking_submissions import Form

hypothesis.configuration.set_hypothesis_home_dir(paths.BUILD / ".hypothesis")
repeatable = settings(
    derandomize=True,
    deadline=None,
    max_examples=30,
    database=None,
    suppress_health_check=list(hypothesis.HealthCheck),
)

MILLION = "x" * 1_000_000
ODD_TEXTS = [
    "", " ", "4", "4 ", "4,5", "٣", "1_000", "-inf", "NaN", "N/A", "yes", "=1+1", "@SUM(A1)",
    '=HYPERLINK("http://x")', "../../etc/passwd", "C:\\NUL", "9" * 400, "1e999", '"', "\x00",
    "\ufeff", "\ud800", "\u2028", "a\nb", "a;b\tc,d",
]  # fmt: skip
texts = st.sampled_from(ODD_TEXTS) | st.text(max_size=8)
whole_texts = texts.map(lambda text: text.encode(errors="ignore").decode())
scalars = st.integers() | st.floats() | st.booleans() | st.none() | st.just(10**400) | texts
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)

RATING_COLUMNS = ["overall", "tone", "item_id", "rater_id", "prompt_id", "response_words", "source"]
SUBMISSION = {
    "id": "0",
    "input_text": {"Prompt": "Why?", "Response A": "So it is.", "Response B": "Hm."},
    "input_meta": {"dataset": "wikihow", "sample_ix": 3, "model_a": "refs", "model_b": "falcon40"},
    "label_annotations": {"email": "anna_1", "score_a": "4", "score_b": "1"},
    "behavioral_data": {"time_string": "Time spent: 0d 0h 2m 5s "},
}
EXPERT_ERRORS = [f"{error}_a" for error in schemas.ERRORS_2] + ["inconsistent_a"]
EXPERT = dict.fromkeys(EXPERT_ERRORS, "No") | {
    "dataset": "wikihow",
    "sample_ix": 1,
    "model": "refs",
    "preamble_type": "normal",
    "email": "anna_1",
}
KAMODA = {
    kamoda.RATINGS_FILE: {
        "assignment_id": "s",
        "answer_id": "a",
        "question_id": "q",
        "factuality": 1,
        "amountInfo": 0,
        "formality": 0,
        "overall": 2,
        "preference": 1,
    },
    kamoda.ASSIGNMENTS_FILE: {
        "assignment_id": "s",
        "WorkerId": "anna",
        "question_id": "q",
        "Answer.reason_of_preference": "It is right.",
        "Answer.no_appropriate.on": False,
        "WorkTimeInSeconds": 60,
    },
    kamoda.ANSWERS_FILE: {
        "answer_id": "a",
        "answer_label": "dataset_answer_top1",
        "question_id": "q",
        "answer": "So it is.",
        "answer_score": 3,
    },
    kamoda.QUESTIONS_FILE: {"question_id": "q", "question": "Why?"},
}
PAIR_COLUMNS = ["dataset", "sample_ix", "model", "preamble_type", "score", "overall"]
PARQUET_VALUES = [
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.booleans(),
    whole_texts,
    st.sampled_from(["wikihow", "refs", "falcon40", "distractor", "normal"]),
    st.none(),
    st.lists(st.integers(0, 9), max_size=2),
    st.datetimes(),
    st.dates(),
    st.binary(max_size=3),
    st.decimals(0, 10**6, places=2),
    st.fixed_dictionaries({"a": st.integers(0, 9)}),
]


def damaged(files):
    """Files in which some bytes are replaced or cut out."""
    parts = st.tuples(files, st.integers(0, 4000), st.binary(max_size=9), st.integers(0, 99))
    return parts.map(lambda each: each[0][: each[1]] + each[2] + each[0][sum(each[1::2]) :])


def any_of(files):
    """Files of one kind, whole or damaged, and bytes of no kind."""
    return files | damaged(files) | st.binary(max_size=200)


def delimited(columns):
    """Tables whose cells are quoted or not, whose rows differ in length, in some encoding."""
    cells = texts | st.integers(1, 5).map(str) | texts.map(json.dumps)
    header = st.lists(st.sampled_from(columns), max_size=len(columns) + 1)
    rows = st.lists(st.lists(cells, min_size=1, max_size=len(columns) + 1), max_size=6)
    encodings = st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1"])
    parts = st.tuples(header, rows, st.sampled_from(",;\t"), encodings)
    return parts.map(
        lambda each: "\n".join(each[2].join(row) for row in [each[0], *each[1]]).encode(
            each[3], errors="ignore"
        )
    )


@st.composite
def complete(draw, columns):
    """Tables that have every column, with cells of any kind."""
    cells = whole_texts | st.integers(0, 5).map(str)
    rows = draw(st.lists(st.lists(cells, min_size=len(columns), max_size=len(columns)), max_size=4))
    return pd.DataFrame(rows, columns=columns).to_csv(index=False).encode()


@st.composite
def json_lines(draw, record):
    """Objects that are right, changed in some values or keys, or no objects at all."""
    lines = []
    for _ in range(draw(st.integers(0, 4))):
        kind = draw(st.sampled_from(["right", "changed", "other", "text"]))
        changes = draw(st.dictionaries(st.sampled_from([*_keys(record)]), values, max_size=2))
        left_out = draw(st.sets(st.sampled_from([*_keys(record)]), max_size=1))
        anything = draw(values)
        lines.append(
            {
                "right": json.dumps(record),
                "changed": json.dumps(_change(record, changes, left_out)),
                "other": json.dumps(anything),
                "text": str(anything),
            }[kind]
        )
    return "\n".join(lines).encode(errors="ignore")


def _keys(record):
    """Keys of an object and of the objects in it."""
    for key, value in record.items():
        yield key
        yield from _keys(value) if isinstance(value, dict) else ()


def _change(record, changes, left_out):
    """Replace values and leave out keys of an object and of the objects in it."""
    return {
        key: changes[key]
        if key in changes
        else _change(value, changes, left_out)
        if isinstance(value, dict)
        else value
        for key, value in record.items()
        if key not in left_out
    }


@st.composite
def parquet(draw, columns):
    """Tables of columns of any one type each, some of them twice."""
    names = draw(st.lists(st.sampled_from(columns) | whole_texts, max_size=9))
    n_rows = draw(st.integers(0, 4))
    cells = [draw(st.sampled_from(PARQUET_VALUES)) | st.none() for _ in names]
    arrays = [pa.array(draw(st.lists(c, min_size=n_rows, max_size=n_rows))) for c in cells]
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(pa.table(arrays, names=names), sink)
    return sink.getvalue().to_pybytes()


def refusal(function: Callable, path: Path) -> str:
    """Let a loader read a file; return its error if it is one of those that it documents."""
    try:
        function(path)
    except (tables.BadTableError, answerers.AnswersError) as error:
        return str(error)
    return ""


def load(function: Callable, name: str, content: bytes) -> None:
    """Check that a loader reads a file or refuses it in a few lines that name it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        message = refusal(function, path)
    assert not message or path.suffix in message
    assert len(message) < 10_000


def read_ratings(path):
    return ratings.read(path, "overall", ["tone"])


def kamoda_reader(read):
    """Make a loader of several files take one of them; the others beside it are right."""

    def read_beside_right_ones(path):
        files = {file: path.parent / Path(file).name for file in KAMODA}
        for file, other in files.items():
            if other != path:
                other.write_text(json.dumps(KAMODA[file]))
        return read(files)

    return read_beside_right_ones


@repeatable
@given(any_of(delimited(RATING_COLUMNS)))
def test_any_csv_file_of_ratings(content):
    load(read_ratings, "mine.csv", content)
    load(read_ratings, "mine.tsv", content)


@repeatable
@given(any_of(json_lines(dict.fromkeys(RATING_COLUMNS, 1))))
def test_any_file_of_ratings_in_json_lines(content):
    load(read_ratings, "mine.jsonl", content)


@repeatable
@given(any_of(parquet(RATING_COLUMNS)))
def test_any_parquet_file_of_ratings(content):
    load(read_ratings, "mine.parquet", content)


@pytest.mark.parametrize("text", [MILLION, "9" * 1_000_000, f'"{MILLION}"', "=" + MILLION])
def test_a_cell_of_a_million_characters(text):
    records = [
        {"overall": 1, "tone": 2},
        {"overall": 3, "tone": text},
        {"overall": text, "tone": 1},
    ]
    lines = "\n".join(json.dumps(record) for record in records)
    load(read_ratings, "mine.csv", f"overall,tone\n1,{text}\n{text},2\n".encode())
    load(read_ratings, "mine.csv", f"{text},tone\n1,2\n".encode())
    load(read_ratings, "mine.jsonl", lines.encode())


@pytest.mark.parametrize(
    ("function", "record"),
    [
        (tables.read_jsonl, EXPERT),
        (hosking_submissions.read_sessions, SUBMISSION),
        (
            lambda path: hosking_submissions.read_ratings(
                path, Form(("quality_unbiased",)), (), True
            ),
            SUBMISSION,
        ),
        (lambda path: hosking.read_experts(path, "main"), EXPERT),
        (lambda path: kamoda.read_evaluator(path, "gpt4"), KAMODA[kamoda.RATINGS_FILE]),
        (kamoda.read_justifications, KAMODA[kamoda.ASSIGNMENTS_FILE]),
    ],
    ids=["lines", "sessions", "submissions", "experts", "evaluator", "justifications"],
)
def test_any_file_of_a_study_in_json_lines(function, record):
    @repeatable
    @given(any_of(json_lines(record)))
    def check(content):
        load(function, "lines.jsonl", content)

    check()


@pytest.mark.parametrize("file", KAMODA)
def test_any_one_of_several_files_that_belong_together(file):
    @repeatable
    @given(any_of(json_lines(KAMODA[file])))
    def check(content):
        for read in (kamoda.read_ratings, kamoda.read_answer_texts):
            load(kamoda_reader(read), Path(file).name, content)

    check()


@pytest.mark.parametrize(
    "schema",
    [schemas.HOSKING_1_UNBIASED, schemas.HOSKING_2_UNBIASED, schemas.HOSKING_2_PERCEPTION],
    ids=["1", "2", "perception"],
)
def test_any_parquet_file_of_pairs(schema):
    @repeatable
    @given(any_of(parquet(PAIR_COLUMNS)))
    def check(content):
        load(lambda path: hosking.read_pairs(path, schema), "pairs.parquet", content)

    check()


@repeatable
@given(any_of(delimited(["", "cue", "association", "explanation", "relation"])))
def test_any_file_of_associations(content):
    load(humbel.read_associations, "WAX.csv", content)


@repeatable
@given(st.binary(max_size=200))
def test_any_workbook(content):
    load(humbel.read_norms, "norms.xlsx", content)


sheet_cells = st.floats() | st.booleans() | st.dates() | whole_texts
SHEETS = st.lists(st.lists(sheet_cells, min_size=3, max_size=3), min_size=1, max_size=4)


@repeatable
@given(SHEETS, st.booleans())
def test_any_sheet_of_norms(rows, with_header):
    header = [[*humbel.NORM_COLUMNS]] if with_header else []
    with mock.patch.object(humbel, "_cells", return_value=header + rows):
        message = refusal(humbel.read_norms, Path("norms.xlsx"))
    assert not message or message.startswith("norms.xlsx: ")


@repeatable
@given(any_of(delimited(["question", "chosen"])))
def test_any_file_of_answers(content):
    questions = pd.DataFrame([[0, *"abcd"], [1, *"efgh"]], columns=["question", *SHOWN])
    first = f"# questions {answerers.questions_fingerprint(questions)}\n".encode()
    load(lambda path: answerers.read_model_answers(path, questions), "answers.csv", first + content)
    load(lambda path: answerers.read_model_answers(path, questions), "answers.csv", content)


AI_ALONE_COLUMNS = ["model", "dataset", "question_id", "free_text_count", "free_text_acc"]
AI_ALONE_COLUMNS += [
    f"letter_only_{n}_shot_{kind}" for n in ("zero", "few") for kind in ("count", "acc")
]
QUESTION_COLUMNS = [
    "question_id",
    "dataset",
    "question",
    *["option_A", "option_B", "option_C", "option_D"],
    "answer",
]


@pytest.mark.parametrize(
    ("read", "columns"),
    [
        (chatbench.read_answers, [*chatbench.ANSWER_COLUMNS]),
        (chatbench.read_ai_alone, AI_ALONE_COLUMNS),
        (chatbench.read_questions, QUESTION_COLUMNS),
    ],
    ids=["answers", "AI alone", "questions"],
)
def test_any_csv_file_of_chatbench(read, columns):
    @repeatable
    @given(any_of(delimited(columns) | complete(columns)))
    def check(content):
        load(read, "chatbench.csv", content)

    check()


CONVERSATION = {
    "question_id": "q",
    "worker_id": "w",
    "model": "gpt-4o",
    "condition": "direct-to-AI",
    "selected_answer": "A",
    "chat_history": [{"role": "user", "content": "Why?"}],
}


@repeatable
@given(any_of(json_lines(CONVERSATION).map(lambda lines: b"[" + lines.replace(b"\n", b",") + b"]")))
def test_any_file_of_conversations(content):
    asked = pd.DataFrame({"question_id": ["q"], "dataset": "d", "question": "Why?", "answer": "A"})
    load(lambda path: chatbench.read_conversations(path, asked), "c.json", content)
