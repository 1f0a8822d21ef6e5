"""The submissions behind the released ratings of Hosking et al."""

import json
import re

import pandas as pd
import pytest

from helpers.data import registry
from helpers.data.tables import BadTableError
from helpers.studies import hosking, hosking_submissions
from helpers.studies.hosking_submissions import FORMS, pairings, repeats

GROUPS = tuple(FORMS)


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
    record = submission()
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
    return hosking_submissions.read_submissions(path, FORMS[group], **options)[0]


def test_a_submission_becomes_one_row_per_response(tmp_path):
    expected = pd.DataFrame(
        {
            "item_id": [
                "wikihow-12|Falcon 40B|baseline",
                "wikihow-12|References|baseline",
            ],
            "prompt_id": "wikihow-12",
            "system": ["Falcon 40B", "References"],
            "arm": "baseline",
            "is_distractor": False,
            "partner_id": [
                "wikihow-12|References|baseline",
                "wikihow-12|Falcon 40B|baseline",
            ],
            "quality_unbiased": [4.0, 2.0],
            "task": "wikihow",
            "rater_id": "anna",
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
        ({"id": None}, "key 'id' is missing"),
        ({"input_meta": "x"}, "input_meta must be a JSON object, found str"),
        ({"score_a": "6"}, "'score_a' is '6'; allowed: 1, 2, 3, 4, 5"),
        ({"score_a": 4}, "'score_a' is 4; allowed: 1, 2, 3, 4, 5"),
        ({"kindness_a": "4"}, "question 'kindness_a' is unknown"),
        ({"email": 5}, "'email' is 5; text is needed"),
        (
            {"dataset": "xsum"},
            "'dataset' is 'xsum'; allowed: amazon, curation, wikihow, dialogsum, "
            "factualnlg",
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
        "quality.jsonl: 1 problem. Correct the file and load it again.\n  line 2: "
        f"{problem}"
    )


def test_an_unknown_arm_is_an_error(tmp_path):
    with pytest.raises(
        BadTableError, match="line 1: 'preamble_type_a' is 'rude'; allowed: normal"
    ):
        read(tmp_path, with_arms(preamble_type_a="rude"), group=(2, "unbiased"))


def test_a_second_submission_of_a_pair_is_an_error(tmp_path):
    problem = (
        "line 3: line 1 is a submission of the same pair, 'id' '7'; "
        "name one of the two lines in data/exclusions.csv"
    )
    with pytest.raises(BadTableError, match=re.escape(problem)):
        read(
            tmp_path,
            submission(),
            submission(id="8"),
            submission(email="bert_session2"),
        )


@pytest.fixture
def two_batches(tmp_path, monkeypatch):
    """Put four submissions, one of them excluded, in place of the unbiased group."""
    first = [
        submission(id="1", email="anna_s1"),
        submission(id="2", email="bert_s2", dataset="dialogsum"),
        submission(id="1", email="cleo_s3"),
    ]
    second = [submission(id="1", email="anna_s4", score_a="1")]
    for name in ("FORMS", "GROUPS"):
        group = getattr(hosking_submissions, name)[1, "unbiased"]
        monkeypatch.setattr(hosking_submissions, name, {(1, "unbiased"): group})
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
def test_sessions_list_all_submissions_and_no_identifier_of_a_participant_is_left():
    _, ratings, sessions = hosking_submissions.load_groups()
    ratings = ratings["1: quality"]
    _, reported, _ = hosking_submissions.load_groups(reported_only=True)
    pd.testing.assert_frame_equal(reported["1: quality"], ratings[ratings["reported"]])
    assert len(reported["1: quality"]) == 4
    assert sessions["rater_id"].tolist() == [
        "rater-001",
        "rater-002",
        "rater-003",
        "rater-001",
    ]
    for table in (ratings, sessions):
        assert not re.search(r"anna|bert|cleo|_s\d", table.to_csv())


def test_simulated_raters_of_two_groups_keep_their_labels():
    found = hosking_submissions.same_raters(
        1, ["errors", "unbiased"], "simulated", seed=3
    )
    for group, ratings in found.items():
        expected = hosking_submissions.single_ratings(1, group, "simulated", seed=3)
        pd.testing.assert_frame_equal(ratings, expected)


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


def test_all_groups_are_simulated_at_once():
    source, ratings, sessions = hosking_submissions.load_groups("simulated", seed=3)
    assert source == "simulated"
    assert len(sessions) == sum(map(len, ratings.values())) / 2
    assert list(ratings) == list(hosking_submissions.GROUPS.values())


@pytest.fixture(scope="module")
def everything(real_data):
    return hosking_submissions.load_groups(real_data)


@pytest.fixture(scope="module")
def loaded(everything):
    return dict(zip(GROUPS, everything[1].values(), strict=True))


@pytest.fixture(scope="module")
def released(real_data):
    """Return the released tables in our words, with texts and seconds."""
    studies = {
        1: hosking.load_experiment_1(real_data),
        2: hosking.load_experiment_2(real_data),
    }
    tables = {}
    files = hosking.FILES_1 | hosking.FILES_2
    for (experiment, group), file in zip(GROUPS, files, strict=True):
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


@pytest.mark.parametrize("group", GROUPS)
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


def test_raters_took_part_in_several_groups_and_up_to_206_times(everything):
    _, _, sessions = everything
    assert len(sessions) == 17638
    assert sessions["rater_id"].nunique() == 2546
    assert sessions["rater_id"].value_counts().max() == 206
    first = sessions[sessions["experiment"] == 1]
    assert first.groupby("rater_id")["raters"].nunique().eq(2).sum() == 273


def test_many_people_scored_on_one_form_and_checked_errors_on_another(real_data):
    found = hosking_submissions.same_raters(1, ["errors", "unbiased"], real_data)
    for group, ratings in found.items():
        single = hosking_submissions.single_ratings(1, group, real_data)
        others = list(single.columns.drop("rater_id"))
        pd.testing.assert_frame_equal(ratings[others], single[others])
        assert ratings["rater_id"].nunique() == single["rater_id"].nunique()
    scores = found["unbiased"]
    marked = scores["rater_id"].isin(found["errors"]["rater_id"])
    assert scores["rater_id"][marked].nunique() == 182
    assert marked.sum() == 2392


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


def test_outputs_of_experiment_1_were_rated_beside_each_other_system_some_five_times(
    loaded,
):
    reported = hosking.without_checks(loaded[1, "errors"].query("reported"))
    table = pairings(reported)
    assert table["ratings"].value_counts().to_dict() == {4: 780, 8: 120}
    assert (table[["partners", "other_systems"]] == 4).all(axis=None)
    assert repeats(reported).to_dict() == {1: 1740, 5: 60}


def test_pairs_are_the_same_on_either_side_and_the_own_system_is_no_other():
    couples = [("x1", "y1"), ("y1", "x1"), ("x1", "z1"), ("x1", "x2"), ("y1", "x1")]
    rows = [
        {"item_id": item, "partner_id": partner, "system": item[0], "pair_id": number}
        for number, couple in enumerate(couples)
        for item, partner in (couple, couple[::-1])
    ]
    shown = pd.DataFrame(rows)
    assert hosking_submissions.repeated(shown)["pair_id"].tolist() == [0, 0, 1, 1, 4, 4]
    assert repeats(shown).to_dict() == {1: 2, 3: 1}
    table = pairings(shown)
    assert table.loc["x1"].to_dict() == {
        "ratings": 5,
        "partners": 3,
        "other_systems": 2,
    }
    assert table.loc["x2"].to_dict() == {
        "ratings": 1,
        "partners": 1,
        "other_systems": 0,
    }
