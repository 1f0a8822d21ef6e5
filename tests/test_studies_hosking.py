"""The released ratings of Hosking et al."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from helpers import marks, paths, weights
from helpers.data import registry, tables
from helpers.data.columns import hosking as columns
from helpers.studies import hosking, hosking_submissions
from helpers.studies.hosking import read_experts
from helpers.studies.hosking import read_pairs as read


@pytest.fixture(scope="module")
def experiment_1(real_data):
    return hosking.load_experiment_1(real_data)


@pytest.fixture(scope="module")
def experiment_2(real_data):
    return hosking.load_experiment_2(real_data)


@pytest.fixture(scope="module")
def experts(real_data):
    return hosking.load_experts(real_data)


def test_experiment_1_has_the_published_numbers_of_ratings_and_outputs(experiment_1):
    assert experiment_1.source == "real"
    assert len(experiment_1.errors) == len(experiment_1.unbiased) == 4440
    assert len(experiment_1.outputs()) == 900


def test_experiment_2_has_the_published_numbers_of_ratings_and_outputs(experiment_2):
    assert experiment_2.source == "real"
    ratings = (experiment_2.errors, experiment_2.unbiased, experiment_2.perception)
    assert [len(table) for table in ratings] == [7200] * 3
    assert len(experiment_2.outputs()) == 1500


@pytest.mark.parametrize(
    ("file", "n_checks", "n_found"),
    [
        ("hosking/batch_v1/granular_full.parquet", 180, 80),
        ("hosking/batch_controlled/errors_full.parquet", 300, 54),
    ],
)
def test_distractors_found_elsewhere_have_the_system_and_arm_that_we_give_them(
    real_data, file, n_checks, n_found
):
    path = registry.fetch(file)
    table = read(path, (hosking.FILES_1 | hosking.FILES_2)[file])
    table["response"] = pd.read_parquet(path)["response"]
    origin = hosking.without_checks(table).drop_duplicates(
        ["response", "system", "arm"]
    )
    origin = origin[["response", "system", "arm", "task", "prompt_id"]]
    assert table.groupby("pair_id")["is_distractor"].sum().value_counts()[1] == n_checks
    found = table[table["is_distractor"]].merge(
        origin, on="response", suffixes=("", "_there")
    )
    same = ["system", "arm", "task"]
    fits = (
        found[same].to_numpy() == found[[f"{column}_there" for column in same]]
    ).all(axis=1)
    fits &= found["prompt_id"] != found["prompt_id_there"]
    assert found["item_id"].nunique() == n_found
    assert found.loc[fits, "item_id"].nunique() == n_found


def test_two_responses_to_one_prompt_form_a_pair_and_who_rated_is_not_told(
    experiment_1, experiment_2
):
    for table in (experiment_1.errors, experiment_1.unbiased, experiment_2.perception):
        pairs = table.groupby("pair_id")
        assert (pairs.size() == 2).all()
        assert len(table.drop_duplicates(["pair_id", "prompt_id"])) == pairs.ngroups
        assert not table.duplicated(["pair_id", "item_id"]).any()
        assert "rater_id" not in table


def test_experts_labelled_each_arm_of_each_task_as_often_and_their_pilot_again(experts):
    labels = experts
    main, pilot = (labels[labels["batch"] == batch] for batch in ("main", "pilot"))
    assert (len(main), len(pilot)) == (300, 16)
    assert (main.groupby(["task", "arm"]).size() == 20).all()
    assert (main.groupby("system").size() == 60).all()
    assert main["item_id"].is_unique
    assert pilot["item_id"].isin(main["item_id"]).all()
    assert set(labels["rater_id"]) == {"rater-001"}
    assert labels.groupby("batch")["factuality"].sum().to_dict() == {
        "main": 59.0,
        "pilot": 4.0,
    }


def test_simulated_ratings_say_so_and_real_or_simulated_must_be_said():
    first = hosking.load_experiment_1("simulated")
    second = hosking.load_experiment_2("simulated")
    assert first.source == second.source == "simulated"
    loaded = (
        first.errors,
        first.outputs(),
        second.perception,
        second.outputs(),
        hosking.load_experts("simulated"),
        hosking.load_averages(2, "simulated"),
    )
    assert {table.attrs["source"] for table in loaded} == {"simulated"}
    for load in (hosking.load_experiment_1, hosking.load_experts):
        with pytest.raises(tables.OptionError, match="'real' or 'simulated' here, not"):
            load("auto")


def test_an_unknown_way_to_combine_raters_is_refused():
    message = "contradiction can be combined by 'mode' or 'mean', not 'median'"
    with pytest.raises(ValueError, match=f"^{message}$"):
        hosking.load_experiment_1("simulated").outputs(errors_by="median")


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


def failure(table, folder):
    path = folder / "unbiased_full.parquet"
    table.to_parquet(path)
    with pytest.raises(tables.BadTableError) as caught:
        read(path, columns.HOSKING_2_UNBIASED)
    return str(caught.value)


def test_a_distractor_takes_the_system_of_its_pair_but_keeps_its_arm(tmp_path):
    path = tmp_path / "unbiased_full.parquet"
    unbiased_pair().to_parquet(path)
    table = read(path, columns.HOSKING_2_UNBIASED)
    expected = {
        "item_id": [
            "wikihow-7|Falcon 40B|baseline",
            "wikihow-7|Falcon 40B|assertive_low|distractor",
        ],
        "prompt_id": ["wikihow-7", "wikihow-7"],
        "task": ["wikihow", "wikihow"],
        "system": ["Falcon 40B", "Falcon 40B"],
        "arm": ["baseline", "assertive_low"],
        "is_distractor": [False, True],
        "pair_id": [0, 0],
        "quality_unbiased": [4.0, 1.0],
    }
    assert table.to_dict("list") == expected


def test_an_odd_number_of_rows_is_refused(tmp_path):
    message = failure(unbiased_pair().head(1), tmp_path)
    assert message.endswith("  1 rows: rows form pairs, so their number must be even")


def test_an_unknown_model_is_named_as_the_file_calls_it(tmp_path):
    message = failure(unbiased_pair(model=["falcon40", "gpt5"]), tmp_path)
    assert (
        "column 'system', row 2: 'gpt5' is not allowed; allowed: Command 52B,"
        in message
    )


def expert_line(**answers):
    meta = {"dataset": "wikihow", "sample_ix": 7, "preamble_type_a": "normal"}
    errors = ["contradiction", "inconsistent", "factuality", "relevance", "formatting"]
    labels = dict.fromkeys(
        [f"{error}_a" for error in (*errors, "refusal", "repetition")], "No"
    )
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
    assert labels[list(columns.ERRORS_2)].to_numpy().tolist() == [[0, 1, 0, 0, 0, 0, 0]]


def test_an_expert_answer_other_than_yes_or_no_is_named_by_file_column_and_row(
    tmp_path,
):
    path = write_lines(
        tmp_path, expert_line(), expert_line(email="b_1", refusal_a="Maybe")
    )
    text = "column 'refusal', row 2: 'Maybe' is not allowed; allowed: 0 or 1"
    with pytest.raises(tables.BadTableError, match=re.escape(text)):
        read_experts(path, "main")


def test_an_expert_file_of_another_form_is_refused(tmp_path):
    path = write_lines(tmp_path, {"id": 1})
    with pytest.raises(tables.BadTableError, match=r"^experts\.jsonl: 5 problems\."):
        read_experts(path, "main")


@pytest.mark.parametrize("dropped", [0, 1])
def test_an_output_on_one_side_only_leaves_no_distance(dropped):
    outputs = pd.DataFrame({"item_id": ["a", "b"], "refusal": [0.0, 1.0]})
    averages = outputs.set_index("item_id")
    tables = (
        [averages.iloc[:1], outputs] if dropped == 0 else [averages, outputs.iloc[:1]]
    )
    assert hosking.distance(*tables).isna().all()


def test_a_table_without_its_keys_is_an_error(tmp_path, monkeypatch):
    path = tmp_path / "averages.parquet"
    pd.DataFrame({"dataset": ["amazon"], "model": ["refs"]}).to_parquet(path)
    monkeypatch.setattr(registry, "locate", lambda files, _: dict.fromkeys(files, path))
    with pytest.raises(tables.BadTableError, match="column 'sample_ix' is missing"):
        hosking.load_averages(1)


def test_modes_of_errors_and_means_of_scores_give_the_averages_of_experiment_1(
    experiment_1,
):
    averages = hosking.load_averages(1, "real")
    assert averages.shape == (900, 19)
    assert hosking.distance(averages, experiment_1.outputs()).max() < 1e-12
    by_mean = hosking.distance(averages, experiment_1.outputs(errors_by="mean"))
    assert (by_mean[list(columns.ERRORS_1)] > 0.2).all()
    errors = experiment_1.errors
    kept = errors[~errors["is_distractor"]].groupby("item_id")["quality_biased"].mean()
    assert not np.allclose(kept, averages["quality_biased"])


def test_the_score_beside_error_checks_of_experiment_2_is_a_mode(experiment_2):
    averages = hosking.load_averages(2, "real")
    assert averages.shape == (1500, 12)
    assert hosking.distance(averages, experiment_2.outputs()).max() < 1e-12
    by_mean = hosking.distance(averages, experiment_2.outputs(biased_by="mean"))
    assert by_mean["quality_biased"] > 1


def test_answers_are_the_outputs_under_other_names(experiment_1, experiment_2):
    for study, ours in (
        (experiment_1, hosking.TEN_ERRORS),
        (experiment_2, hosking.SEVEN_ERRORS),
    ):
        for labels, errors_by in (("majority", "mode"), ("share", "mean")):
            answers = study.answers(labels)
            outputs = study.outputs(errors_by=errors_by)
            theirs = columns.ERRORS_1[: len(ours)]
            np.testing.assert_array_equal(answers[ours], outputs[list(theirs)])
            np.testing.assert_array_equal(answers["score"], outputs["quality_unbiased"])
    tasks = experiment_1.answers().groupby("task").size()
    assert tasks.to_dict() == {"how-to": 300, "product text": 300, "summary": 300}
    conditions = experiment_2.answers().groupby("condition").size()
    assert conditions.to_dict() == dict.fromkeys(hosking.CONDITIONS, 300)


@pytest.mark.parametrize("labels", ["mode", "mean", None])
def test_answers_refuse_an_unknown_way_to_count_labels(labels):
    study = hosking.load_experiment_2("simulated")
    with pytest.raises(tables.OptionError, match="choose 'majority' or 'share'"):
        study.answers(labels)


def test_single_ratings_average_to_the_answers(experiment_1, experiment_2):
    forms = {
        "errors": ["refusal", "factual error"],
        "score": ["score"],
        "style": ["assertiveness", "complexity"],
    }
    for study in (experiment_1, experiment_2):
        answers = study.answers("share").set_index("item_id")
        for form, measures in forms.items():
            if form == "style" and study is experiment_1:
                continue
            means = study.ratings(form).groupby("item_id")[measures].mean()
            pd.testing.assert_frame_equal(
                means, answers[measures], check_index_type=False
            )


def test_people_who_filled_in_two_forms_have_one_label(real_data):
    study = hosking.load_experiment_1(real_data)
    scores, errors = study.ratings("score"), study.ratings("errors")
    in_both = scores["rater_id"].isin(errors["rater_id"])
    assert scores["rater_id"][in_both].nunique() == 182
    assert in_both.sum() == 2392
    assert scores["rater_id"].nunique() == 524


def test_ratings_with_attention_checks_and_other_tasks_are_all_that_was_submitted(
    experiment_1,
):
    everything = experiment_1.ratings("errors", attention_checks=True, other_tasks=True)
    _, submitted = hosking_submissions.load_submissions(1, "errors")
    assert len(everything) == len(submitted)
    assert everything["task"].nunique() == 5
    assert everything["is_distractor"].sum() == submitted["is_distractor"].sum() > 0
    reported = experiment_1.ratings("errors", attention_checks=True)
    assert len(reported) == len(experiment_1.errors)


def test_a_form_that_an_experiment_does_not_have_is_refused():
    first = hosking.load_experiment_1("simulated")
    with pytest.raises(tables.OptionError, match=r"choose from errors, score$"):
        first.ratings("style")
    second = hosking.load_experiment_2("simulated")
    with pytest.raises(tables.OptionError, match=r"choose from errors, score, style$"):
        second.ratings("unbiased")


def test_simulated_ratings_have_the_seed_of_their_study():
    study = hosking.load_experiment_2("simulated", seed=5)
    means = study.ratings("style").groupby("item_id")["complexity"].mean()
    answers = study.answers().set_index("item_id")["complexity"]
    np.testing.assert_allclose(means, answers.loc[means.index])


def test_expert_and_workers_are_set_side_by_side(experiment_2):
    both = experiment_2.labelled_by_both()
    assert len(both) == 300 * 7
    of_paper = both.query("refusal_expert == 0 and refusal_majority < 1")
    factual = of_paper[of_paper["error"] == "factual error"]
    assert len(factual) == 279
    means = 100 * factual[["expert", "share", "majority"]].mean()
    assert means.round(1).to_dict() == {"expert": 20.8, "share": 13.5, "majority": 3.6}
    votes = experiment_2.ratings("errors").groupby("item_id")["factual error"]
    counted = votes.agg(["sum", "size"]).loc[factual["item_id"]]
    np.testing.assert_array_equal(counted, factual[["k", "n"]])
    assert len(experiment_2.experts()) == 300
    assert set(experiment_2.experts(pilot=True)["item_id"]) <= set(both["item_id"])


def test_reported_numbers_are_read_by_topic():
    weights = hosking.reported("authors.lasso.weight")
    assert weights.loc[["refusal", "irrelevance", "factual error"]].tolist() == [
        0.95,
        0.60,
        0.35,
    ]
    assert hosking.reported("agreement")["ac1_refusal"] == 0.94
    with pytest.raises(tables.OptionError, match="nothing is reported on 'weather'"):
        hosking.reported("weather")


def test_reported_numbers_are_withheld_beside_simulated_data(monkeypatch):
    run = marks.Run("11_error_weights", reasons=["no data"])
    monkeypatch.setattr(marks, "current", lambda: run)
    assert hosking.reported("authors.lasso.weight").isna().all()


def test_mixed_models_of_lme4_agree_with_weights_within_raters(experiment_1):
    by_lme4 = pd.read_csv(paths.DATA / "lme4.csv", index_col="term")["estimate"]
    labels = experiment_1.answers()[["item_id", *hosking.TEN_ERRORS]]
    single = experiment_1.ratings("score").merge(labels, on="item_id")
    ours = -weights(single, hosking.TEN_ERRORS, "score", within="rater_id")
    common = ["refusal", "formatting", "irrelevance", "repetition", "factual error"]
    distance = ours["estimate"] - by_lme4
    assert distance[common].abs().max() < 0.05
    lead = ours.difference("refusal", "repetition")["estimate"].item()
    assert lead == pytest.approx(by_lme4["refusal - repetition"], abs=0.05)
