import json
import re

import numpy as np
import pandas as pd
import pytest

from helpers.files import registry, schemas, tables
from helpers.studies import hosking
from helpers.studies.hosking import ARM_NAMES, COLUMN_NAMES, SYSTEM_NAMES, read_experts
from helpers.studies.hosking import read_pairs as read

RELEASED_1 = "hosking/batch_v1/combined_filtered.parquet"
RELEASED_2 = "hosking/batch_controlled/combined_filtered.parquet"


@pytest.fixture(scope="module")
def experiment_1(real_data):
    return hosking.load_experiment_1(real_data)


@pytest.fixture(scope="module")
def experiment_2(real_data):
    return hosking.load_experiment_2(real_data)


@pytest.fixture(scope="module")
def experts(real_data):
    return hosking.load_experts(real_data)


def released(file):
    """Return the authors' averages, with our names, by output."""
    names = COLUMN_NAMES | {"overall": "quality_biased", "unbiased": "quality_unbiased"}
    table = pd.read_parquet(registry.fetch(file)).rename(columns=names).reset_index()
    arm = table["preamble_type"].replace(ARM_NAMES) if "preamble_type" in table else "baseline"
    prompt = table["dataset"] + "-" + table["sample_ix"].astype(str)
    item = prompt + "|" + table["model"].replace(SYSTEM_NAMES) + "|" + arm
    return table.select_dtypes("number").set_index(item.rename("item_id")).sort_index()


def test_experiment_1_has_the_published_numbers_of_ratings_and_outputs(experiment_1):
    assert experiment_1.source == "real"
    assert len(experiment_1.errors) == len(experiment_1.unbiased) == 4440
    assert len(experiment_1.outputs()) == 900


def test_experiment_2_has_the_published_numbers_of_ratings_and_outputs(experiment_2):
    assert experiment_2.source == "real"
    ratings = (experiment_2.errors, experiment_2.unbiased, experiment_2.perception)
    assert [len(table) for table in ratings] == [7200] * 3
    assert len(experiment_2.outputs()) == 1500


def test_outputs_of_experiment_1_equal_the_released_averages_in_every_column(experiment_1):
    expected = released(RELEASED_1)
    assert expected.shape == (900, 19)
    outputs = experiment_1.outputs().set_index("item_id")[list(expected)]
    pd.testing.assert_frame_equal(outputs, expected, rtol=0, atol=1e-12)


def test_outputs_of_experiment_2_equal_the_released_averages_in_every_column(experiment_2):
    expected = released(RELEASED_2)
    assert expected.shape == (1500, 12)
    outputs = experiment_2.outputs().set_index("item_id")[list(expected)]
    pd.testing.assert_frame_equal(outputs, expected, rtol=0, atol=1e-12)


def test_the_released_biased_quality_of_experiment_2_is_no_mean(experiment_2):
    means = experiment_2.outputs(biased_by="mean").set_index("item_id")["quality_biased"]
    assert (means != released(RELEASED_2)["quality_biased"]).sum() > 500


def test_the_released_averages_leave_out_both_sides_of_an_attention_check(experiment_1):
    errors = experiment_1.errors
    kept = errors[~errors["is_distractor"]].groupby("item_id")["quality_biased"].mean()
    expected = released(RELEASED_1)["quality_biased"]
    assert kept.index.equals(expected.index)
    assert not np.allclose(kept, expected)


def test_every_output_was_rated_four_or_eight_times(experiment_1, experiment_2):
    assert set(experiment_1.outputs()["n_ratings"]) == {4, 8}
    assert set(experiment_2.outputs()["n_ratings"]) == {4, 8}


def test_every_attention_check_holds_one_distractor_of_the_system_beside_it(
    experiment_1, experiment_2
):
    for table, n_checks in ((experiment_1.errors, 180), (experiment_2.errors, 300)):
        checks = table[table.groupby("pair_id")["is_distractor"].transform("any")]
        pairs = checks.groupby("pair_id")
        assert pairs.ngroups == n_checks
        assert (pairs["is_distractor"].sum() == 1).all()
        assert len(checks.drop_duplicates(["pair_id", "system"])) == n_checks


def test_the_distractors_of_experiment_1_are_all_references(experiment_1):
    errors = experiment_1.errors
    assert set(errors.loc[errors["is_distractor"], "system"]) == {"References"}


def test_most_attention_checks_of_experiment_2_set_two_arms_side_by_side(experiment_2):
    errors = experiment_2.errors
    checks = errors[errors.groupby("pair_id")["is_distractor"].transform("any")]
    assert (checks.groupby("pair_id")["arm"].nunique().value_counts()).to_dict() == {2: 240, 1: 60}


@pytest.mark.parametrize(
    ("file", "n_found"),
    [
        ("hosking/batch_v1/granular_full.parquet", 80),
        ("hosking/batch_controlled/errors_full.parquet", 54),
    ],
)
def test_distractors_found_elsewhere_have_the_system_and_arm_that_we_give_them(
    real_data, file, n_found
):
    path = registry.fetch(file)
    table = read(path, (hosking.FILES_1 | hosking.FILES_2)[file])
    table["response"] = pd.read_parquet(path)["response"]
    origin = hosking.without_checks(table).drop_duplicates(["response", "system", "arm"])
    origin = origin[["response", "system", "arm", "task", "prompt_id"]]
    found = table[table["is_distractor"]].merge(origin, on="response", suffixes=("", "_there"))
    same = ["system", "arm", "task"]
    fits = (found[same].to_numpy() == found[[f"{column}_there" for column in same]]).all(axis=1)
    fits &= found["prompt_id"] != found["prompt_id_there"]
    assert found["item_id"].nunique() == n_found
    assert found.loc[fits, "item_id"].nunique() == n_found


def test_words_of_a_response_are_counted_between_white_space(real_data):
    for file in ("hosking/batch_v1/granular_full", "hosking/batch_controlled/groupings_full"):
        raw = pd.read_parquet(registry.fetch(f"{file}.parquet"))
        assert [len(text.split()) for text in raw["response"]] == raw["length"].tolist()


def test_two_responses_to_one_prompt_form_a_pair_by_one_rater(experiment_1, experiment_2):
    for table in (experiment_1.errors, experiment_1.unbiased, experiment_2.perception):
        pairs = table.groupby("pair_id")
        assert (pairs.size() == 2).all()
        assert len(table.drop_duplicates(["pair_id", "prompt_id", "rater_id"])) == pairs.ngroups
        assert not table.duplicated(["pair_id", "item_id"]).any()


def test_experts_labelled_the_same_number_of_outputs_in_each_arm_of_each_task(experts):
    main = experts.labels[experts.labels["batch"] == "main"]
    assert len(main) == 300
    assert (main.groupby(["task", "arm"]).size() == 20).all()
    assert (main.groupby("system").size() == 60).all()
    assert main["item_id"].is_unique


def test_the_experts_labelled_all_outputs_of_their_pilot_again(experts):
    pilot = experts.labels[experts.labels["batch"] == "pilot"]
    main = experts.labels[experts.labels["batch"] == "main"]
    assert len(pilot) == pilot["item_id"].nunique() == 16
    assert set(pilot["task"]) == {"amazon"}
    assert pilot["item_id"].isin(main["item_id"]).all()


def test_every_expert_label_is_for_an_output_of_experiment_2(experts, experiment_2):
    assert experts.labels["item_id"].isin(experiment_2.outputs()["item_id"]).all()


def test_all_expert_labels_were_given_under_one_name_which_is_not_shown(experts):
    assert set(experts.labels["rater_id"]) == {"rater-001"}


def test_expert_counts_of_factuality_errors_are_those_of_the_files(experts):
    counts = experts.labels.groupby("batch")["factuality"].sum()
    assert counts.to_dict() == {"main": 59.0, "pilot": 4.0}


@pytest.mark.parametrize("load", [hosking.load_experiment_1, hosking.load_experiment_2])
def test_simulated_outputs_have_the_columns_and_numbers_of_the_real_ones(load):
    study = load("simulated", seed=3)
    assert study.source == "simulated"
    outputs = study.outputs()
    assert len(outputs) == {"Experiment1": 900, "Experiment2": 1500}[type(study).__name__]
    assert outputs.notna().all(axis=None)


@pytest.mark.parametrize("load", [hosking.load_experiment_1, hosking.load_experiment_2])
def test_a_seed_gives_the_same_simulation_and_another_seed_another(load):
    first, again, other = (load("simulated", seed).errors for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(first, again)
    assert not first.equals(other)


def test_simulated_experts_label_outputs_of_a_simulation():
    experts = hosking.load_experts("simulated", seed=1)
    assert experts.source == "simulated"
    assert experts.labels["batch"].value_counts().to_dict() == {"main": 300, "pilot": 16}


@pytest.mark.parametrize(
    "load", [hosking.load_experiment_1, hosking.load_experiment_2, hosking.load_experts]
)
def test_without_data_and_network_auto_says_that_it_simulates(load, monkeypatch, tmp_path):
    monkeypatch.delenv("DATA_MIRROR", raising=False)
    monkeypatch.setenv("DATA_CACHE", str(tmp_path))
    monkeypatch.setattr(registry, "_failed_hosts", {"raw.githubusercontent.com": "no network"})
    assert load().source == "simulated"
    with pytest.raises(registry.DataUnavailableError, match="no network"):
        load("real")


def test_an_unknown_way_to_combine_raters_is_refused():
    message = "quality_biased can be combined by 'mode' or 'mean', not 'median'"
    with pytest.raises(ValueError, match=f"^{message}$"):
        hosking.load_experiment_1("simulated").outputs(quality_by="median")


def unbiased_pair(**changes):
    """Return a released table of one pair, the second response being a distractor."""
    pair = {
        "dataset": ["wikihow", "wikihow"],
        "sample_ix": ["distractor_7", "distractor_7"],
        "model": ["falcon40", "distractor"],
        "preamble_type": ["normal", "confidence_low"],
        "score": [4.0, 1.0],
        "prompt": ["How?", "How?"],
    }
    return pd.DataFrame(pair | changes)


def save(table, folder):
    table.to_parquet(folder / "unbiased_full.parquet")
    return folder / "unbiased_full.parquet"


def failure(table, folder):
    with pytest.raises(tables.BadTableError) as caught:
        read(save(table, folder), schemas.HOSKING_2_UNBIASED)
    return str(caught.value)


def test_a_distractor_takes_the_system_of_its_pair_but_keeps_its_arm(tmp_path):
    table = read(save(unbiased_pair(), tmp_path), schemas.HOSKING_2_UNBIASED)
    expected = {
        "item_id": [
            "wikihow-7|Falcon 40B|baseline",
            "wikihow-7|Falcon 40B|assertive_low|distractor",
        ],
        "prompt_id": ["wikihow-7", "wikihow-7"],
        "task": ["wikihow", "wikihow"],
        "system": ["Falcon 40B", "Falcon 40B"],
        "arm": ["baseline", "assertive_low"],
        "rater_id": ["pair-0", "pair-0"],
        "is_distractor": [False, True],
        "pair_id": [0, 0],
        "quality_unbiased": [4.0, 1.0],
    }
    assert table.to_dict("list") == expected


def test_an_odd_number_of_rows_is_refused(tmp_path):
    message = failure(unbiased_pair().head(1), tmp_path)
    assert message.endswith("  1 rows: rows form pairs, so their number must be even")


def test_a_file_without_the_columns_that_name_an_output_is_refused(tmp_path):
    message = failure(unbiased_pair().drop(columns=["model", "sample_ix"]), tmp_path)
    assert message.startswith("unbiased_full.parquet: 2 problems.")
    assert "column 'sample_ix' is missing" in message


def test_a_file_without_its_ratings_is_refused(tmp_path):
    message = failure(unbiased_pair().drop(columns="score"), tmp_path)
    assert message.endswith("\n  column 'quality_unbiased' is missing")


def test_an_unknown_model_is_named_as_the_file_calls_it(tmp_path):
    message = failure(unbiased_pair(model=["falcon40", "gpt5"]), tmp_path)
    assert "column 'system', row 2: 'gpt5' is not allowed; allowed: Command 52B," in message


def test_a_rating_off_the_scale_is_named_by_file_column_and_row(tmp_path):
    message = failure(unbiased_pair(score=[4.0, 6.0]), tmp_path)
    assert message == (
        "unbiased_full.parquet: 1 problem. Correct the file and load it again.\n"
        "  column 'quality_unbiased', row 2: 6.0 is not allowed; allowed: 1, 2, 3, 4 or 5"
    )


def expert_line(**answers):
    meta = {"dataset": "wikihow", "sample_ix": 7, "model_a": "refs", "preamble_type_a": "normal"}
    errors = ["contradiction", "inconsistent", "factuality", "relevance", "formatting"]
    labels = dict.fromkeys([f"{error}_a" for error in (*errors, "refusal", "repetition")], "No")
    labels = labels | {"email": "anna_smith_12"} | answers
    return {
        "input_meta": meta | {"model_a": "mpt30instruct"},
        "label_annotations": labels,
    }


def write_lines(folder, *records):
    path = folder / "experts.jsonl"
    path.write_text("\n".join(json.dumps(record) for record in records))
    return path


def test_an_expert_is_told_apart_by_name_without_the_number_of_the_submission(tmp_path):
    path = write_lines(tmp_path, expert_line(inconsistent_a="Yes"))
    labels = read_experts(path, "main")
    assert labels[["item_id", "rater_id", "batch"]].to_numpy().tolist() == [
        ["wikihow-7|MPT 30B|baseline", "anna_smith", "main"]
    ]
    assert labels[list(schemas.ERRORS_2)].to_numpy().tolist() == [[0, 1, 0, 0, 0, 0, 0]]


def test_an_expert_answer_other_than_yes_or_no_is_named_by_file_column_and_row(tmp_path):
    path = write_lines(tmp_path, expert_line(), expert_line(email="b_1", refusal_a="Maybe"))
    text = "column 'refusal', row 2: 'Maybe' is not allowed; allowed: 0 or 1"
    with pytest.raises(tables.BadTableError, match=re.escape(text)):
        read_experts(path, "main")


def test_an_expert_file_of_another_form_is_refused(tmp_path):
    path = write_lines(tmp_path, {"id": 1})
    with pytest.raises(tables.BadTableError, match=r"^experts\.jsonl: 5 problems\."):
        read_experts(path, "main")
