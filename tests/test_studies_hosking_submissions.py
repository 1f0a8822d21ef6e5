"""The submissions behind the released ratings of Hosking et al."""

import json
import re

import pandas as pd
import pytest

from helpers.data import registry
from helpers.data.tables import BadTableError
from helpers.studies import hosking, hosking_submissions
from helpers.studies.hosking_submissions import ASPECTS

RAW = "hosking/raw/annotated_instances_"


def submission(**changes):
    """Return one submission of quality ratings; a change to None leaves a key out."""
    record = {
        "id": "7",
        "input_text": {
            "Prompt": "Why?",
            "Response A": "Because it is.",
            "Response B": "No idea",
        },
        "input_meta": {"dataset": "wikihow", "model_a": "falcon40", "model_b": "refs"},
        "label_annotations": {"email": "anna_session1", "score_a": "4", "score_b": "2"},
        "behavioral_data": {"time_string": "Time spent: 0d 1h 2m 3s "},
    }
    record["input_meta"]["sample_ix"] = 12
    sections = [section for section in record.values() if isinstance(section, dict)]
    owners = {key: fields for fields in (record, *sections) for key in fields}
    for key, value in changes.items():
        fields = owners.get(key, record["label_annotations"])
        fields[key] = value
        if value is None:
            del fields[key]
    return record


def with_arms(**changes):
    """Return one submission of quality ratings of experiment 2."""
    record = submission(model_b="mpt30instruct")
    for side in "ab":
        record["input_meta"] |= {
            f"preamble_{side}": "",
            f"preamble_type_{side}": "normal",
        }
    record["input_meta"] |= changes
    return record


def file_of(folder, *records, name="quality.jsonl"):
    """Write submissions, given as dictionaries or as text, to a file."""
    lines = [
        record if isinstance(record, str) else json.dumps(record) for record in records
    ]
    path = folder / name
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def read(folder, *records, group=(1, "unbiased"), **options):
    path = file_of(folder, *records)
    return hosking_submissions.read_submissions(path, group, **options)


def test_a_submission_becomes_one_row_per_response(tmp_path):
    first, second = "wikihow-12|Falcon 40B|baseline", "wikihow-12|References|baseline"
    expected = pd.DataFrame(
        {
            "item_id": [first, second],
            "prompt_id": "wikihow-12",
            "task": "wikihow",
            "system": ["Falcon 40B", "References"],
            "arm": "baseline",
            "rater_id": "anna",
            "pair_id": 0,
            "partner_id": [second, first],
            "is_distractor": False,
            "quality_unbiased": [4.0, 2.0],
            "seconds": 3723,
        }
    )
    pd.testing.assert_frame_equal(read(tmp_path, submission()), expected)


def test_a_distractor_is_named_after_the_prompt_shown_and_the_system_beside_it(
    tmp_path,
):
    rows = read(tmp_path, submission(model_a="distractor", sample_ix="distractor_12"))
    assert rows["is_distractor"].tolist() == [True, False]
    assert rows["item_id"].tolist() == [
        "wikihow-12|References|baseline|distractor",
        "wikihow-12|References|baseline",
    ]


def test_arms_are_named_and_texts_kept_only_if_asked_for(tmp_path):
    record = with_arms(preamble_a="Be brief.", preamble_type_a="confidence_low")
    with_texts = read(tmp_path, record, group=(2, "unbiased"), texts=True)
    assert with_texts["arm"].tolist() == ["assertive_low", "baseline"]
    assert with_texts["response"].tolist() == ["Because it is.", "No idea"]
    assert with_texts["prompt"].tolist() == ["Why?", "Why?"]
    assert with_texts["preamble"].tolist() == ["Be brief.", ""]
    without = read(tmp_path, record, group=(2, "unbiased"))
    assert {"response", "prompt", "preamble"}.isdisjoint(without)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"score_a": "6"}, "'quality_unbiased', row 3: 6.0 is not allowed"),
        ({"score_a": "good"}, "'quality_unbiased', row 3: 'good' is not allowed"),
        ({"dataset": "xsum"}, "'task', row 3: 'xsum' is not allowed"),
        ({"model_a": "gpt"}, "'system', row 3: 'gpt' is not allowed"),
        ({"time_string": "soon"}, "'seconds', row 3: "),
        ({"email": 5}, "column 'email', row 2: "),
    ],
)
def test_a_bad_field_is_an_error_with_file_and_row(tmp_path, changes, problem):
    with pytest.raises(BadTableError) as caught:
        read(tmp_path, submission(), submission(**changes))
    message = str(caught.value)
    assert message.startswith("quality.jsonl: ")
    assert problem in message


def test_a_question_that_was_not_asked_is_an_error(tmp_path):
    with pytest.raises(BadTableError, match="score_a"):
        read(tmp_path, submission(score_a=None))


def test_an_unknown_condition_is_an_error(tmp_path):
    with pytest.raises(BadTableError, match="'arm', row 1: 'rude' is not allowed"):
        read(tmp_path, with_arms(preamble_type_a="rude"), group=(2, "unbiased"))


@pytest.fixture
def two_batches(tmp_path, monkeypatch):
    """Put four submissions, one of them excluded, in place of the unbiased group."""
    first = [
        submission(id="1", email="anna_s1"),
        submission(id="2", email="bert_s2", dataset="dialogsum"),
        submission(id="1", email="cleo_s3"),
    ]
    second = [submission(id="1", email="anna_s4", score_a="1")]
    names = {(1, "unbiased"): ("pilot_v6", "unbiased_main_2")}
    monkeypatch.setattr(hosking_submissions, "FILES", names)
    located = {
        f"{RAW}pilot_v6.jsonl": file_of(tmp_path, *first, name="one.jsonl"),
        f"{RAW}unbiased_main_2.jsonl": file_of(tmp_path, *second, name="two.jsonl"),
    }
    monkeypatch.setattr(
        registry, "locate", lambda files, _: {file: located[file] for file in files}
    )
    exclusions = tmp_path / "exclusions.csv"
    exclusions.write_text(
        f"file,line,reason\n{RAW}pilot_v6.jsonl,3,duplicate submission\n"
    )
    monkeypatch.setattr(hosking_submissions, "EXCLUSIONS_FILE", exclusions)


@pytest.mark.usefixtures("two_batches")
def test_excluded_submissions_are_left_out_and_raters_keep_their_label_across_batches():
    source, ratings = hosking_submissions.load_submissions(1, "unbiased")
    assert source == "real"
    shown = ratings[["rater_id", "pair_id", "quality_unbiased", "reported"]]
    assert shown.to_numpy().tolist() == [
        ["rater-001", 0, 4, True],
        ["rater-001", 0, 2, True],
        ["rater-002", 1, 4, False],
        ["rater-002", 1, 2, False],
        ["rater-001", 2, 1, True],
        ["rater-001", 2, 2, True],
    ]


@pytest.mark.usefixtures("two_batches")
def test_no_identifier_of_a_participant_is_left():
    _, ratings = hosking_submissions.load_submissions(1, "unbiased")
    assert not re.search(r"anna|bert|cleo|_s\d", ratings.to_csv())


@pytest.mark.parametrize(("experiment", "name"), [(1, "unbiased"), (2, "errors")])
def test_simulated_ratings_are_those_of_the_simulated_tables(experiment, name):
    study = getattr(hosking, f"load_experiment_{experiment}")("simulated", seed=3)
    table = getattr(study, name)
    source, submitted = hosking_submissions.load_submissions(
        experiment, name, "simulated", seed=3
    )
    ratings = submitted.query("reported").reset_index(drop=True)
    shared = list(table.columns.drop("response_words", errors="ignore"))
    pd.testing.assert_frame_equal(ratings[shared], table[shared])
    assert source == "simulated"


@pytest.fixture(scope="module")
def loaded(real_data):
    return {
        place: hosking_submissions.load_submissions(*place, real_data, texts=True)[1]
        for place in ASPECTS
    }


@pytest.fixture(scope="module")
def released(real_data):
    """Return the released tables in our words, with texts and seconds."""
    studies = {
        1: hosking.load_experiment_1(real_data),
        2: hosking.load_experiment_2(real_data),
    }
    tables = {}
    files = hosking.FILES_1 | hosking.FILES_2
    for (experiment, group), file in zip(ASPECTS, files, strict=True):
        raw = pd.read_parquet(registry.fetch(file))
        clock = raw["time_str"].str.extract(r"(\d+)d (\d+)h (\d+)m (\d+)s").astype(int)
        table = getattr(studies[experiment], group)
        table = table.drop(columns=["pair_id", "response_words"], errors="ignore")
        tables[experiment, group] = table.assign(
            prompt=raw["prompt"],
            response=raw["response"],
            seconds=clock @ [86400, 3600, 60, 1],
        )
    return tables


def side_by_side(rows):
    """Return one row per pair of rows."""
    a, b = (rows.iloc[side::2].reset_index(drop=True) for side in (0, 1))
    return a.add_suffix("_a").join(b.add_suffix("_b"))


def sorted_rows(table):
    return table.sort_values(list(table), ignore_index=True)


@pytest.mark.parametrize("group", [(1, "errors"), (2, "unbiased")])
def test_simulated_submissions_have_the_columns_of_the_real_ones(loaded, group):
    simulated = hosking_submissions.load_submissions(*group, "simulated", texts=True)[1]
    real = loaded[group]
    assert set(simulated) == set(real)
    assert simulated.dtypes.to_dict() == real.dtypes.to_dict()


@pytest.mark.parametrize("group", ASPECTS)
def test_rebuilt_and_released_table_are_equal_row_for_row(loaded, released, group):
    ratings, expected = loaded[group].query("reported"), released[group]
    assert len(ratings) == len(expected)
    rebuilt, expected = side_by_side(ratings[list(expected)]), side_by_side(expected)
    # in one file, the pairs have lost the order of submission
    if group == (1, "errors"):
        rebuilt, expected = sorted_rows(rebuilt), sorted_rows(expected)
    pd.testing.assert_frame_equal(rebuilt, expected)


def test_the_reasons_for_exclusions_are_what_the_files_show(real_data):
    listed = pd.read_csv(hosking_submissions.EXCLUSIONS_FILE)
    assert listed.value_counts("reason").to_dict() == {
        "duplicate submission": 29,
        "failed both attention checks": 8,
        "incomplete": 1,
    }
    for file, exclusions in listed.groupby("file"):
        lines = registry.fetch(file).read_text(encoding="utf-8").splitlines()
        kept = dict(enumerate(map(json.loads, lines), start=1))
        excluded = {line: kept.pop(line) for line in exclusions["line"]}
        pairs = {record["id"] for record in kept.values()}
        asked = set.intersection(
            *(set(record["label_annotations"]) for record in kept.values())
        )
        for line, reason in zip(exclusions["line"], exclusions["reason"], strict=True):
            answers = excluded[line]["label_annotations"]
            failed = (
                answers.get("positive_val", "5") != "5"
                and answers["negative_val"] != "1"
            )
            assert excluded[line]["id"] in pairs
            assert failed == (reason == "failed both attention checks")
            assert (not asked <= answers.keys()) == (reason == "incomplete")


def test_all_datasets_of_experiment_2_are_reported_and_not_all_of_experiment_1(loaded):
    for (experiment, _), rows in loaded.items():
        assert rows["reported"].all() == (experiment == 2)


def test_single_ratings_are_those_released_and_say_who_gave_them(real_data):
    singles = hosking_submissions.single_ratings(1, "unbiased", real_data)
    released = hosking.without_checks(hosking.load_experiment_1(real_data).unbiased)
    shown = ["item_id", "quality_unbiased"]
    pd.testing.assert_frame_equal(
        sorted_rows(singles[shown]), sorted_rows(released[shown])
    )
    assert singles["rater_id"].nunique() == 524


def test_outputs_of_experiment_1_were_rated_beside_each_other_system(loaded):
    reported = hosking.without_checks(loaded[1, "errors"].query("reported"))
    assert reported.groupby("item_id").size().value_counts().to_dict() == {
        4: 780,
        8: 120,
    }
    partners = reported.groupby("item_id")["partner_id"].nunique()
    assert (partners == 4).all()
    times = reported.groupby(["item_id", "partner_id"]).size()
    assert times.value_counts().to_dict() == {1: 2 * 1740, 5: 2 * 60}
