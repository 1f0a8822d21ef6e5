"""Malformed files: a loader gives a table or one of its documented errors."""

import json
from pathlib import Path

import hypothesis
import hypothesis.configuration
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import paths
from helpers.data import tables
from helpers.data.columns import hosking as columns
from helpers.studies import (
    answerers,
    chatbench,
    hosking,
    hosking_submissions,
    humbel,
    kamoda,
)
from helpers.studies.word_tests import SHOWN
from ratings import proposal, report, roles, table

hypothesis.configuration.set_hypothesis_home_dir(paths.BUILD / ".hypothesis")
repeatable = settings(
    derandomize=True,
    deadline=None,
    max_examples=10,
    database=None,
    suppress_health_check=list(hypothesis.HealthCheck),
)

MILLION = "x" * 1_000_000
ODD_TEXTS = [
    *("", " ", "4", "4,5", "٣", "-inf", "N/A", "=1+1", "9" * 400, "1e999"),
    *('"', "\x00", "\ufeff", "\ud800", "\u2028", "a\nb", "a\rb", "a;b\tc,d"),
]
texts = st.sampled_from(ODD_TEXTS) | st.text(max_size=8)
whole_texts = texts.map(lambda text: text.encode(errors="ignore").decode())
scalars = (
    st.integers() | st.floats() | st.booleans() | st.none() | st.just(10**400) | texts
)
values = (
    scalars
    | st.lists(scalars, max_size=2)
    | st.dictionaries(texts, scalars, max_size=2)
)

RATING_COLUMNS = [
    "overall",
    "tone",
    "item_id",
    "rater_id",
    "prompt_id",
    "response_words",
    "source",
]
SUBMISSION = {
    "id": "0",
    "input_text": {"Prompt": "Why?", "Response A": "So it is.", "Response B": "Hm."},
    "input_meta": {
        "dataset": "wikihow",
        "sample_ix": 3,
        "model_a": "refs",
        "model_b": "falcon40",
    },
    "label_annotations": {"email": "anna_1", "score_a": "4", "score_b": "1"},
    "behavioral_data": {"time_string": "Time spent: 0d 0h 2m 5s "},
}
EXPERT = dict.fromkeys(
    [f"{error}_a" for error in (*columns.ERRORS_2, "inconsistent")], "No"
) | {
    "dataset": "wikihow",
    "sample_ix": 1,
    "model": "refs",
    "preamble_type": "normal",
    "email": "anna_1",
}
MARKS = {
    "answer_id": "a",
    "factuality": 1,
    "amountInfo": 0,
    "formality": 0,
    "overall": 2,
}
PAIR_COLUMNS = ["dataset", "sample_ix", "model", "preamble_type", "score", "overall"]
PARQUET_VALUES = [
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    whole_texts,
    st.sampled_from(["wikihow", "refs", "distractor", "normal"]),
    st.lists(st.integers(0, 9), max_size=2),
    st.datetimes(),
    st.binary(max_size=3),
    st.decimals(0, 10**6, places=2),
    st.fixed_dictionaries({"a": st.integers(0, 9)}),
]


def any_of(files):
    """Files of one kind, whole or damaged, and bytes of no kind."""
    damaged = st.builds(
        replace_part,
        files,
        st.integers(0, 400),
        st.binary(max_size=9),
        st.integers(0, 99),
    )
    return files | damaged | st.binary(max_size=200)


def replace_part(content: bytes, start: int, new: bytes, length: int) -> bytes:
    """Replace some bytes of a file, or cut them out."""
    return content[:start] + new + content[start + length :]


@st.composite
def delimited(draw, columns):
    """Tables in some encoding; cells may be quoted, and rows differ in length."""
    cells = texts | st.integers(1, 5).map(str) | texts.map(json.dumps)
    right = st.lists(cells, min_size=len(columns), max_size=len(columns))
    rows = draw(
        st.lists(right | st.lists(cells, max_size=len(columns) + 1), max_size=5)
    )
    header = draw(
        st.just(columns) | st.lists(st.sampled_from(columns), max_size=len(columns))
    )
    delimiter = draw(st.sampled_from(",;\t"))
    text = "\n".join(delimiter.join(row) for row in [header, *rows])
    encoding = draw(
        st.sampled_from(["utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1"])
    )
    return text.encode(encoding, errors="ignore")


@st.composite
def json_lines(draw, record):
    """Objects that are right, changed in some values or keys, or no objects at all."""
    lines = []
    for _ in range(draw(st.integers(0, 3))):
        changes = draw(st.dictionaries(st.sampled_from([*record]), values, max_size=2))
        left_out = draw(st.sets(st.sampled_from([*record]), max_size=1))
        changed = {
            key: each for key, each in (record | changes).items() if key not in left_out
        }
        lines.append(draw(st.sampled_from([record, changed]) | values.map(str)))
    return "\n".join(
        each if isinstance(each, str) else json.dumps(each) for each in lines
    ).encode(errors="ignore")


@st.composite
def parquet(draw, columns):
    """Tables of columns of any one type each, some of them twice."""
    names = draw(st.lists(st.sampled_from(columns) | whole_texts, max_size=9))
    n_rows = draw(st.integers(0, 3))
    cells = [draw(st.sampled_from(PARQUET_VALUES)) | st.none() for _ in names]
    arrays = [
        pa.array(draw(st.lists(c, min_size=n_rows, max_size=n_rows))) for c in cells
    ]
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(pa.table(arrays, names=names), sink)
    return sink.getvalue().to_pybytes()


def read_ratings(path):
    given = roles.Roles(score="overall", aspects=["tone"], item="item_id")
    return roles.prepare(table.read(path), given)


def read_submissions(path):
    return hosking_submissions.read_submissions(path, (1, "unbiased"), texts=True)


def look(path):
    return proposal.propose(table.read(path), roles.Roles())


def read_answers(path):
    questions = pd.DataFrame([[0, *"abcd"], [1, *"efgh"]], columns=["question", *SHOWN])
    first = f"{answerers._first_line(questions)}\n".encode()
    path.write_bytes(first + path.read_bytes())
    return answerers.read_model_answers(path, questions)


LOADERS = {
    "ratings.csv": (read_ratings, delimited(RATING_COLUMNS)),
    "ratings.jsonl": (read_ratings, json_lines(dict.fromkeys(RATING_COLUMNS, 1))),
    "ratings.parquet": (read_ratings, parquet(RATING_COLUMNS)),
    "mine.csv": (look, delimited(RATING_COLUMNS)),
    "mine.jsonl": (look, json_lines({key: [1, "2"] for key in RATING_COLUMNS})),
    "mine.json": (look, json_lines(dict.fromkeys(RATING_COLUMNS, 1))),
    "mine.parquet": (look, parquet(RATING_COLUMNS)),
    "mine.xlsx": (look, st.binary(max_size=200)),
    "mine.csv.toml": (
        roles.read_toml,
        delimited(["score", "aspects", "scale"]).map(lambda c: c.replace(b",", b" = ")),
    ),
    "submissions.jsonl": (read_submissions, json_lines(SUBMISSION)),
    "experts.jsonl": (
        lambda path: hosking.read_experts(path, "main"),
        json_lines(EXPERT),
    ),
    "evaluator.jsonl": (
        lambda path: kamoda.read_evaluator(path, "gpt4"),
        json_lines(MARKS),
    ),
    "pairs.parquet": (
        lambda path: hosking.read_pairs(path, columns.HOSKING_2_UNBIASED),
        parquet(PAIR_COLUMNS),
    ),
    "answers.csv": (chatbench.read_answers, delimited([*chatbench.ANSWER_COLUMNS])),
    "model.csv": (read_answers, delimited(["question", "chosen"])),
    "WAX.csv": (
        humbel.read_associations,
        delimited(["", "cue", "association", "explanation", "relation"]),
    ),
    "norms.xlsx": (humbel.read_norms, st.binary(max_size=200)),
}


def load(path: Path, content: bytes) -> None:
    """Check that a loader reads a file or refuses it in a few lines that name it."""
    path.write_bytes(content)
    try:
        LOADERS[path.name][0](path)
    except (tables.BadTableError, tables.OptionError, answerers.AnswersError) as error:
        message = str(error)
        assert path.suffix in message
        assert len(message) < 10_000


@pytest.mark.parametrize("name", LOADERS)
def test_any_file(tmp_path, name):
    @repeatable
    @given(any_of(LOADERS[name][1]))
    def check(content):
        load(tmp_path / name, content)

    check()


def test_a_cell_of_a_million_characters(tmp_path):
    for text in (MILLION, "9" * 1_000_000, f'"{MILLION}"'):
        load(tmp_path / "ratings.csv", f"overall,tone\n1,{text}\n{text},2\n".encode())
        load(tmp_path / "ratings.csv", f"{text},tone\n1,2\n".encode())
        load(
            tmp_path / "ratings.jsonl",
            json.dumps({"overall": 1, "tone": text}).encode(),
        )
        load(tmp_path / "mine.csv", f"overall,tone\n1,{text}\n{text},2\n".encode())
        load(tmp_path / "mine.csv", f"{text},overall\n1,2\n".encode())


# Names that stand for something: to people, in our tables, in families of columns.
NAMES = [
    *("overall", "tone", "score", "rating_1", "rating_2", "r1_tone", "r2_tone"),
    *("item", "item_id", "id", "text", "system_id", "model", "prompt", "source"),
    *("rater", "rater_id", "annotator", "worker", "cluster", "position", "covariate"),
    *("aspect", "label", "seconds", "mean", "x.tone", "y.tone", "x.tone.y", ""),
    *("1", "item / rater", "words of text", "covariate 0", "index", "estimate"),
]
COLUMNS_OF_CELLS = [
    st.integers(1, 5),
    st.integers(0, 1),
    st.sampled_from([1, 2, 3, None, 99]),
    st.sampled_from(["good", "fair", "poor", ""]),
    st.sampled_from(["yes", "no", "NA"]),
    st.sampled_from(["tone", "overall", "id", "source"]),
    st.sampled_from(["a", "b", "c", "d", "e", "f", "simulated"]),
    st.sampled_from(["[1, 2]", "[3]", "[]", "[4, 5, nan]"]),
    st.floats(0, 100, allow_nan=False).map(lambda number: round(number, 2)),
    st.just(3),
    st.none(),
    st.just("\ud800"),
]


@st.composite
def rating_files(draw):
    """Tables that could be ratings: columns of one kind of cell each, some empty."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=2, max_size=8))
    names[0] = "overall"
    n_rows = draw(st.sampled_from([0, 1, 9, 40, 80]))
    n_items = draw(st.integers(1, 30))
    cells = []
    for name in names:
        kind = draw(st.sampled_from(COLUMNS_OF_CELLS))
        seed = draw(st.lists(kind, min_size=7, max_size=13))
        column = [seed[row % len(seed)] for row in range(n_rows)]
        if name in ("item", "item_id", "id"):
            column = [f"i{row % n_items}" for row in range(n_rows)]
        cells.append(column)
    ending = draw(st.sampled_from(["csv", "csv", "json", "jsonl"]))
    rows = [list(row) for row in zip(*cells, strict=True)]
    if ending == "csv":
        lines = [names, *rows]
        texts = [";".join("" if c is None else str(c) for c in line) for line in lines]
        return ending, "\n".join(texts).encode(errors="ignore")
    records = [dict(zip(names, row, strict=True)) for row in rows]
    if ending == "jsonl":
        return ending, "\n".join(map(json.dumps, records)).encode()
    return ending, json.dumps(records).encode()


def propose_and_report(path: Path) -> bool:
    """From a file to a page whose rows add up, or a message."""
    cells = table.read(path)
    try:
        found = proposal.propose(cells, roles.Roles())
        ratings = roles.prepare(cells, found.roles)
    except tables.PlainError:
        return False
    if not any("{" in name for name in [found.roles.score]) and not found.roles.name:
        n_left_out = sum(n_rows for _, n_rows in ratings.left_out)
        n_read = len(cells.frame) + cells.empty_rows
        assert len(ratings.frame) + n_left_out == n_read
    report.write(report.answers(ratings), path.with_name("page"))
    return True


def test_any_ratings_from_a_file_to_a_page(tmp_path):
    pages = []

    @settings(repeatable, max_examples=40)
    @given(rating_files())
    def check(file):
        ending, content = file
        path = tmp_path / f"mine.{ending}"
        path.write_bytes(content)
        try:
            pages.append(propose_and_report(path))
        except tables.BadTableError:
            pages.append(False)

    check()
    assert sum(pages) > 5
