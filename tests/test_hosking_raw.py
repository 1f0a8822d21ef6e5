import json
import re

import numpy as np
import pandas as pd
import pytest

from helpers.files import registry
from helpers.files.schemas import ERRORS_1, FACTORS
from helpers.files.tables import BadTableError
from helpers.studies import hosking, hosking_submissions
from helpers.studies.hosking_submissions import FORMS, LABELS

GROUPS = tuple(FORMS)
RELEASED = {
    (1, "errors"): "hosking/batch_v1/granular_full.parquet",
    (1, "unbiased"): "hosking/batch_v1/unbiased_full.parquet",
    (2, "errors"): "hosking/batch_controlled/errors_full.parquet",
    (2, "unbiased"): "hosking/batch_controlled/unbiased_full.parquet",
    (2, "perception"): "hosking/batch_controlled/groupings_full.parquet",
}
RAW = "hosking/raw/annotated_instances_"


def submission(**changes):
    """Return one submission of quality ratings; a change whose value is None leaves a key out."""
    record = {
        "id": "7",
        "input_text": {"Prompt": "Why?", "Response A": "Because it is.", "Response B": "No idea"},
        "input_meta": {
            "dataset": "wikihow",
            "model_a": "falcon40",
            "model_b": "refs",
            "sample_ix": 12,
        },
        "label_annotations": {"email": "anna_session1", "score_a": "4", "score_b": "2"},
        "behavioral_data": {"time_string": "Time spent: 0d 1h 2m 3s "},
    }
    sections = [section for section in record.values() if isinstance(section, dict)]
    owners = {key: fields for fields in (record, *sections) for key in fields}
    for key, value in changes.items():
        fields = owners.get(key, record["label_annotations"])
        fields[key] = value
        if value is None:
            del fields[key]
    return record


def error_checks(**changes):
    """Return one submission of error checks of experiment 1."""
    labels = {LABELS.get(aspect, aspect): "No" for aspect in ERRORS_1}
    labels |= {LABELS.get(aspect, aspect): "3" for aspect in FACTORS}
    labels |= {"overall": "5"}
    answers = {f"{label}_{side}": answer for label, answer in labels.items() for side in "ab"}
    answers |= {"positive_val": "5", "negative_val": "1"}
    return submission(**{"score_a": None, "score_b": None} | answers | changes)


def with_arms(**changes):
    """Return one submission of quality ratings of experiment 2."""
    record = submission()
    for side in "ab":
        record["input_meta"] |= {f"preamble_{side}": "", f"preamble_type_{side}": "normal"}
    record["input_meta"] |= changes
    return record


def file_of(folder, *records, name="quality.jsonl"):
    """Write submissions, given as dictionaries or as text, to a file."""
    lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
    path = folder / name
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def read(folder, *records, group=(1, "unbiased"), **options):
    return hosking_submissions.read_ratings(file_of(folder, *records), FORMS[group], **options)


def test_a_submission_becomes_one_row_per_response(tmp_path):
    expected = pd.DataFrame(
        {
            "line": 1,
            "item_id": ["wikihow-12|Falcon 40B|baseline", "wikihow-12|References|baseline"],
            "prompt_id": "wikihow-12",
            "system": ["Falcon 40B", "References"],
            "arm": "baseline",
            "is_distractor": False,
            "partner_id": ["wikihow-12|References|baseline", "wikihow-12|Falcon 40B|baseline"],
            "quality_unbiased": [4.0, 2.0],
            "response_words": [3, 2],
            "task": "wikihow",
            "rater_id": "anna",
            "seconds": 3723,
        }
    )
    pd.testing.assert_frame_equal(read(tmp_path, submission()), expected)


def test_yes_counts_as_an_error_and_scores_keep_their_value(tmp_path):
    record = error_checks(inconsistent_b="Yes", useful_a="1", negative_val="2")
    rows = read(tmp_path, record, group=(1, "errors"))
    assert rows["inconsistency"].tolist() == [0, 1]
    assert rows["usefulness"].tolist() == [1, 3]
    assert rows[list(ERRORS_1)].to_numpy().sum() == 1
    assert rows["attention_high"].tolist() == [5, 5]
    assert rows["attention_low"].tolist() == [2, 2]


def test_a_distractor_is_named_after_the_prompt_shown_and_the_system_beside_it(tmp_path):
    rows = read(tmp_path, submission(model_a="distractor", sample_ix="distractor_12"))
    assert rows["is_distractor"].tolist() == [True, False]
    assert rows["item_id"].tolist() == [
        "wikihow-12|References|baseline|distractor",
        "wikihow-12|References|baseline",
    ]


def test_arms_are_named(tmp_path):
    record = with_arms(preamble_type_a="confidence_low", preamble_type_b="complexity_high")
    rows = read(tmp_path, record, group=(2, "unbiased"))
    assert rows["arm"].tolist() == ["assertive_low", "complex_high"]


def test_texts_are_kept_only_if_asked_for(tmp_path):
    record = with_arms(preamble_a="Be brief.")
    with_texts = read(tmp_path, record, group=(2, "unbiased"), texts=True)
    assert with_texts["response"].tolist() == ["Because it is.", "No idea"]
    assert with_texts["prompt"].tolist() == ["Why?", "Why?"]
    assert with_texts["preamble"].tolist() == ["Be brief.", ""]
    without = read(tmp_path, record, group=(2, "unbiased"))
    assert {"response", "prompt", "preamble"}.isdisjoint(without)


def test_skipped_lines_are_not_even_parsed(tmp_path):
    rows = read(tmp_path, submission(), "{broken", submission(id="8"), skip={2})
    assert rows["line"].tolist() == [1, 1, 3, 3]


def test_blank_lines_count_as_lines(tmp_path):
    assert read(tmp_path, "", submission())["line"].tolist() == [2, 2]


def test_comments_of_raters_are_no_ratings(tmp_path):
    rows = read(tmp_path, submission(feedback="nice", factors_a="style"))
    assert {"feedback", "factors"}.isdisjoint(rows)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"id": None}, "key 'id' is missing"),
        ({"score_b": None}, "key 'score_b' is missing"),
        ({"model_b": None}, "key 'model_b' is missing"),
        ({"input_meta": None}, "key 'input_meta' is missing"),
        ({"input_meta": "x"}, "input_meta must be a JSON object, found str"),
        ({"score_a": "6"}, "'score_a' is '6'; allowed: 1, 2, 3, 4, 5"),
        ({"score_a": 4}, "'score_a' is 4; allowed: 1, 2, 3, 4, 5"),
        ({"kindness_a": "4"}, "question 'kindness_a' is unknown"),
        ({"toxicity_b": "No"}, "question 'toxicity_b' is unknown"),
        ({"email": 5}, "'email' is 5; text is needed"),
        (
            {"dataset": "xsum"},
            "'dataset' is 'xsum'; allowed: amazon, curation, wikihow, dialogsum, factualnlg",
        ),
        (
            {"time_string": "soon"},
            "'time_string' is 'soon'; expected 'Time spent: 0d 0h 1m 30s'",
        ),
    ],
)
def test_a_bad_field_is_an_error_with_file_and_line(tmp_path, changes, problem):
    with pytest.raises(BadTableError) as caught:
        read(tmp_path, submission(id="8"), submission(**changes))
    assert str(caught.value) == (
        f"quality.jsonl: 1 problem. Correct the file and load it again.\n  line 2: {problem}"
    )


def test_an_unknown_answer_to_an_error_check_is_an_error(tmp_path):
    problem = "line 1: 'factuality_a' is 'Maybe'; allowed: No, Yes"
    with pytest.raises(BadTableError, match=re.escape(problem)):
        read(tmp_path, error_checks(factuality_a="Maybe"), group=(1, "errors"))


def test_an_unknown_system_is_an_error(tmp_path):
    with pytest.raises(BadTableError, match="line 1: 'model_a' is 'bard'; allowed: command_52B"):
        read(tmp_path, submission(model_a="bard"))


def test_an_unknown_arm_is_an_error(tmp_path):
    with pytest.raises(BadTableError, match="line 1: 'preamble_type_a' is 'rude'; allowed: normal"):
        read(tmp_path, with_arms(preamble_type_a="rude"), group=(2, "unbiased"))


def test_a_line_that_is_no_json_is_an_error(tmp_path):
    problem = "line 2, character 7: not valid JSON (Expecting ':' delimiter)"
    with pytest.raises(BadTableError, match=re.escape(problem)):
        read(tmp_path, submission(), '{"id" 7}')


def test_a_line_that_is_no_object_is_an_error(tmp_path):
    with pytest.raises(BadTableError, match="line 1: a JSON object is needed, found list"):
        read(tmp_path, "[1, 2]")


def test_a_second_submission_of_a_pair_is_an_error(tmp_path):
    problem = (
        "line 3: line 1 is a submission of the same pair, 'id' '7'; "
        "name one of the two lines in data/exclusions.csv"
    )
    with pytest.raises(BadTableError, match=re.escape(problem)):
        read(tmp_path, submission(), submission(id="8"), submission(email="bert_session2"))


def test_all_bad_lines_are_listed(tmp_path):
    with pytest.raises(BadTableError, match="2 problems") as caught:
        read(tmp_path, submission(score_a="0"), submission(id="8", score_b="0"))
    assert "line 1: 'score_a'" in str(caught.value)
    assert "line 2: 'score_b'" in str(caught.value)


@pytest.fixture
def two_batches(tmp_path, monkeypatch):
    """Put four submissions, one of them listed as excluded, in place of the unbiased group."""
    first = [
        submission(id="1", email="anna_s1"),
        submission(id="2", email="bert_s2", dataset="dialogsum"),
        submission(id="1", email="cleo_s3"),
    ]
    second = [submission(id="1", email="anna_s4", score_a="1")]
    monkeypatch.setattr(hosking_submissions, "FORMS", {(1, "unbiased"): FORMS[1, "unbiased"]})
    monkeypatch.setattr(
        hosking_submissions, "BATCHES", {(1, "unbiased"): {"one": "pilot", "two": "main"}}
    )
    located = {
        f"{RAW}one.jsonl": file_of(tmp_path, *first, name="one.jsonl"),
        f"{RAW}two.jsonl": file_of(tmp_path, *second, name="two.jsonl"),
    }
    monkeypatch.setattr(
        registry, "locate", lambda files, _: {file: located[file] for file in files}
    )
    exclusions = tmp_path / "exclusions.csv"
    exclusions.write_text(f"file,line,reason\n{RAW}one.jsonl,3,duplicate submission\n")
    monkeypatch.setattr(hosking_submissions, "EXCLUSIONS_FILE", exclusions)


@pytest.mark.usefixtures("two_batches")
def test_excluded_submissions_are_listed_and_unreported_datasets_are_kept():
    loaded = hosking_submissions.load_submissions(1, "unbiased")
    assert loaded.ratings["quality_unbiased"].tolist() == [4, 2, 4, 2, 1, 2]
    assert loaded.ratings["reported"].tolist() == [True, True, False, False, True, True]
    assert loaded.exclusions.to_dict("list") == {
        "file": [f"{RAW}one.jsonl", f"{RAW}one.jsonl"],
        "line": [2, 3],
        "reason": ["dataset not reported", "duplicate submission"],
    }


@pytest.mark.usefixtures("two_batches")
def test_raters_keep_their_label_across_batches_and_pairs_are_numbered_on():
    ratings = hosking_submissions.load_submissions(1, "unbiased").ratings
    assert (
        ratings["rater_id"].tolist()
        == np.repeat(["rater-001", "rater-002", "rater-001"], 2).tolist()
    )
    assert ratings["pair_id"].tolist() == [0, 0, 1, 1, 2, 2]
    assert ratings["batch"].tolist() == ["pilot"] * 4 + ["main"] * 2


@pytest.mark.usefixtures("two_batches")
def test_no_identifier_of_a_participant_is_left():
    loaded = hosking_submissions.load_submissions(1, "unbiased", texts=True)
    for table in (loaded.ratings, loaded.exclusions, hosking_submissions.load_sessions()):
        assert not re.search(r"anna|bert|cleo|_s\d", table.to_csv())


@pytest.mark.usefixtures("two_batches")
def test_sessions_list_all_submissions_with_the_reason_of_their_exclusion():
    sessions = hosking_submissions.load_sessions()
    assert sessions["rater_id"].tolist() == ["rater-001", "rater-002", "rater-003", "rater-001"]
    assert sessions["reason"].tolist() == ["", "dataset not reported", "duplicate submission", ""]
    assert sessions["group"].eq("unbiased").all()
    assert sessions["seconds"].eq(3723).all()


@pytest.mark.parametrize(("experiment", "name"), GROUPS)
def test_simulated_ratings_are_those_of_the_simulated_tables(experiment, name):
    study = getattr(hosking, f"load_experiment_{experiment}")("simulated", seed=3)
    table = getattr(study, name).drop(columns=["pair_id", "rater_id"])
    submitted = hosking_submissions.load_submissions(experiment, name, "simulated", seed=3)
    ratings = submitted.ratings.query("reported").reset_index(drop=True)
    shared = list(table.columns.drop("response_words", errors="ignore"))
    pd.testing.assert_frame_equal(ratings[shared], table[shared])
    assert submitted.source == "simulated"


def test_simulated_sessions_are_the_simulated_submissions():
    sessions = hosking_submissions.load_sessions("simulated", seed=3)
    for (experiment, group), rows in sessions.groupby(["experiment", "group"]):
        loaded = hosking_submissions.load_submissions(experiment, group, "simulated", seed=3)
        first = loaded.ratings.drop_duplicates("pair_id")
        assert rows["rater_id"].tolist() == first["rater_id"].tolist()
        assert rows["seconds"].tolist() == first["seconds"].tolist()
        assert rows["reason"].eq("").tolist() == first["reported"].tolist()
        excluded = rows.loc[rows["reason"] != "", ["file", "line", "reason"]]
        assert excluded.to_dict("list") == loaded.exclusions.to_dict("list")


@pytest.mark.usefixtures("two_batches")
def test_submissions_that_were_found_are_real():
    assert hosking_submissions.load_submissions(1, "unbiased").source == "real"


def test_an_unknown_group_is_an_error():
    with pytest.raises(ValueError, match="no group 'experts' in experiment 2; choose one of"):
        hosking_submissions.load_submissions(2, "experts")


@pytest.fixture(scope="module")
def loaded(real_data):
    return {
        group: hosking_submissions.load_submissions(*group, real_data, texts=True)
        for group in GROUPS
    }


@pytest.fixture(scope="module")
def released(real_data):
    """Return the released tables in our words, with texts and seconds."""
    studies = {1: hosking.load_experiment_1(real_data), 2: hosking.load_experiment_2(real_data)}
    tables = {}
    for (experiment, group), file in RELEASED.items():
        raw = pd.read_parquet(registry.fetch(file))
        clock = raw["time_str"].str.extract(r"(\d+)d (\d+)h (\d+)m (\d+)s").astype(int)
        table = getattr(studies[experiment], group).drop(columns=["pair_id", "rater_id"])
        tables[experiment, group] = table.assign(
            prompt=raw["prompt"], response=raw["response"], seconds=clock @ [86400, 3600, 60, 1]
        )
    return tables


def side_by_side(rows):
    """Return one row per pair of rows."""
    a, b = (rows.iloc[side::2].reset_index(drop=True) for side in (0, 1))
    return a.add_suffix("_a").join(b.add_suffix("_b"))


def sorted_rows(table):
    return table.sort_values(list(table), ignore_index=True)


@pytest.mark.parametrize("group", GROUPS)
def test_simulated_submissions_have_the_columns_of_the_real_ones(loaded, group):
    simulated = hosking_submissions.load_submissions(*group, "simulated", texts=True).ratings
    real = loaded[group].ratings
    assert set(simulated) == set(real)
    assert simulated.dtypes.to_dict() == real.dtypes.to_dict()
    sessions = [list(hosking_submissions.load_sessions(source)) for source in ("simulated", "real")]
    assert sessions[0] == sessions[1]


@pytest.mark.parametrize("group", GROUPS)
def test_rebuilt_and_released_table_are_equal_row_for_row(loaded, released, group):
    ratings, expected = loaded[group].ratings.query("reported"), released[group]
    assert len(ratings) == len(expected)
    rebuilt, expected = side_by_side(ratings[list(expected)]), side_by_side(expected)
    # In the copy of one file, the pairs have lost the order in which they were submitted.
    shuffled = ratings["batch"].eq("main_1").to_numpy()[::2] & (group == (1, "errors"))
    pd.testing.assert_frame_equal(rebuilt[~shuffled], expected[~shuffled])
    pd.testing.assert_frame_equal(sorted_rows(rebuilt[shuffled]), sorted_rows(expected[shuffled]))


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
        asked = set.intersection(*(set(record["label_annotations"]) for record in kept.values()))
        for line, reason in zip(exclusions["line"], exclusions["reason"], strict=True):
            answers = excluded[line]["label_annotations"]
            failed = answers.get("positive_val", "5") != "5" and answers["negative_val"] != "1"
            assert excluded[line]["id"] in pairs
            assert failed == (reason == "failed both attention checks")
            assert (not asked <= answers.keys()) == (reason == "incomplete")


@pytest.mark.parametrize("experiment", [1, 2])
def test_nobody_in_a_released_table_failed_both_attention_checks(loaded, experiment):
    ratings = loaded[experiment, "errors"].ratings
    assert not (ratings["attention_high"].ne(5) & ratings["attention_low"].ne(1)).any()
    assert (ratings["attention_high"].ne(5) | ratings["attention_low"].ne(1)).any()


@pytest.mark.parametrize(
    ("group", "ratings", "outputs"),
    [
        ((1, "errors"), 4440, 900),
        ((1, "unbiased"), 4440, 900),
        ((2, "errors"), 7200, 1500),
        ((2, "unbiased"), 7200, 1500),
        ((2, "perception"), 7200, 1500),
    ],
)
def test_numbers_of_annotations_and_outputs_are_those_of_the_paper(loaded, group, ratings, outputs):
    reported = loaded[group].ratings.query("reported")
    assert len(reported) == ratings
    assert hosking.without_checks(reported)["item_id"].nunique() == outputs


@pytest.mark.parametrize("group", GROUPS)
def test_fewer_than_200_pairs_were_rated_five_times(loaded, group):
    ratings = loaded[group].ratings
    times = ratings.groupby(["item_id", "partner_id"])["reported"].agg(["size", "all"])
    assert set(times["size"]) == {1, 5}
    repeated = times[times["size"] == 5]
    found = len(repeated) / 2, repeated["all"].sum() / 2
    assert found == {1: (100, 60), 2: (75, 75)}[group[0]]


@pytest.mark.parametrize(
    ("group", "score", "share"),
    [
        ((1, "errors"), "quality_biased", 0.975),
        ((1, "unbiased"), "quality_unbiased", 0.9916666666666667),
        ((2, "errors"), "quality_biased", 0.95),
        ((2, "unbiased"), "quality_unbiased", 0.9366666666666666),
    ],
)
def test_shares_of_distractors_rated_no_higher_are_those_the_authors_printed(
    loaded, group, score, share
):
    ratings = loaded[group].ratings.set_index("pair_id")
    distractors = ratings.loc[ratings["is_distractor"], score]
    others = ratings.loc[~ratings["is_distractor"], score].loc[distractors.index]
    assert (distractors <= others).mean() == pytest.approx(share, abs=1e-12)


def test_raters_took_part_in_several_groups_and_up_to_206_times(real_data):
    sessions = hosking_submissions.load_sessions(real_data)
    assert len(sessions) == 17638
    assert sessions["rater_id"].nunique() == 2546
    assert sessions["rater_id"].value_counts().max() == 206
    first = sessions[sessions["experiment"] == 1]
    assert first.groupby("rater_id")["group"].nunique().eq(2).sum() == 273
