"""ChatBench: what the paper prints, simulated answers, and the released files."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from helpers.claims import Ledger
from helpers.files import registry, tables
from helpers.simulate.chatbench import between_variance
from helpers.simulate.chatbench import chatbench as simulate_chatbench
from helpers.stats import accuracy
from helpers.studies import chatbench


def test_there_are_eight_comparisons_for_each_model_and_dataset():
    rows = chatbench.comparisons()
    assert set(rows.value_counts(["model", "dataset"])) == {8}
    assert set(rows["model"]) == set(chatbench.MODELS)
    assert set(rows["dataset"]) == set(chatbench.DATASETS)
    assert set(rows["alone"]) == {*chatbench.AI_METHODS, chatbench.USER_ALONE}
    assert set(rows["condition"]) == set(chatbench.CONDITIONS)


def test_printed_accuracies_and_errors_are_between_0_and_1():
    cells = chatbench.accuracies()
    assert len(cells) == 60
    assert cells["mean"].between(0, 1).all()
    assert cells["se"].between(0.005, 0.1).all()


def test_no_printed_standard_error_is_larger_than_possible():
    cells = chatbench.accuracies()
    mean = cells["mean"] + np.clip(0.5 - cells["mean"], -0.005, 0.005)
    bound = accuracy.largest_se(mean, cells["dataset"].map(chatbench.N_QUESTIONS))
    assert (cells["se"] - 0.005 <= bound).all()


def test_printed_z_values_are_possible():
    rows = chatbench.comparisons()
    low, high = accuracy.attainable_z(
        rows["mean_alone"], rows["se_alone"], rows["mean_user_ai"], rows["se_user_ai"]
    )
    assert accuracy.fits(rows["z"], low, high).all()


def test_printed_p_values_belong_to_their_z_values():
    rows = chatbench.comparisons()
    low, high = accuracy.attainable_p(rows["z"])
    given = rows["p"].notna()
    assert accuracy.fits(rows["p"], low, high)[given].all()
    assert high[~given].max() < 0.01 < low[given].min()


def test_numbers_of_questions_are_those_of_the_text():
    assert chatbench.N_QUESTIONS.tolist() == [95, 95, 38, 84, 84]
    assert chatbench.N_QUESTIONS.sum() == 396


def test_counts_have_all_combinations_of_model_dataset_condition_and_kind():
    counts = chatbench.counts()
    assert counts.index.is_unique
    assert len(counts) == 2 * 5 * 2 * 2


def test_reproduced_cells_of_appendix_tables_are_counted_but_not_listed(tmp_path):
    claims = Ledger("example", source="real", out_dir=str(tmp_path))
    claims.check("chatbench.tablea1.elementary_math.ai_free_text.direct_to_ai.z", 3.03)
    claims.check("chatbench.counts.questions", 396)
    shown = claims.show()
    assert shown.caption.endswith("reproduced: 2 (1 of them table cells, not listed)")
    assert list(shown.frame.index) == ["counts.questions"]


def test_only_conversations_have_scores_of_wording():
    table = chatbench.simulators()
    alone = table.index.get_level_values("method").isin(["Letter-only few-shot", "Free-text"])
    pd.testing.assert_series_equal(table["bleu"].isna(), table["rouge"].isna(), check_names=False)
    assert (table["bleu"].isna() == alone).all()
    assert table[["correlation", "mae"]].notna().all(axis=None)


@pytest.fixture(scope="module")
def simulated() -> chatbench.ChatBench:
    return chatbench.load("simulated", seed=3)


def simulate(n_users: int, **numbers) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Simulate a study of another size from the printed accuracies."""
    truth = dataclasses.replace(chatbench._truth(), n_users=n_users, **numbers)
    return simulate_chatbench(np.random.default_rng(1), truth)


def test_a_user_has_three_questions_of_phase_1_nine_of_phase_2_and_one_check():
    answers, _ = simulate(60)
    alone = answers[answers["answer_type"] == "user-alone"]
    with_ai = answers[answers["answer_type"] == "user-AI"]
    assert set(with_ai.value_counts("rater_id")) == {9}
    assert set(with_ai["phase"]) == {2}
    assert set(alone[alone["phase"] == 1].value_counts("rater_id")) == {4}
    first = alone[alone["condition"] == "answer first"]
    assert set(first.value_counts("rater_id")) == {13}


def test_questions_of_a_user_are_those_of_one_batch():
    answers, _ = simulate(200)
    tasks = answers[answers["dataset"] != "Attention Check"]
    asked = tasks.groupby("rater_id")["question_id"].agg(frozenset)
    assert set(asked.map(len)) == {12}
    assert asked.nunique() <= 19 + 7 + 7


def test_a_model_answers_every_question_with_each_method():
    _, ai_alone = simulate(10)
    assert len(ai_alone) == 2 * 3 * 396
    assert set(ai_alone["n_answers"]) == {50}


def test_a_large_simulation_gives_the_printed_accuracies_and_their_errors_back():
    answers, ai_alone = simulate(6500)
    answers = chatbench.without_attention_checks(answers)
    printed = chatbench.accuracies().set_index(["model", "dataset", "method"])
    found = chatbench.ChatBench("simulated", answers, ai_alone).accuracies()
    distance = (found["accuracy"] - printed["mean"]) / printed["se"]
    users = distance.drop(index="User alone", level="method")
    assert users.abs().max() < 4
    assert 0.6 < users.std() < 1.5
    ai = found.index.get_level_values("method").isin(chatbench.AI_METHODS)
    assert (found["se"] / printed["se"])[ai].between(0.6, 1.6).all()


def test_the_variance_between_questions_is_that_of_the_simulation():
    printed = chatbench.accuracies().set_index(["model", "dataset", "method"])
    cell = ("GPT-4o", "High School Math", "User-AI direct to AI")
    variance = between_variance(*printed.loc[cell, ["mean", "se"]], 95, 4.1)
    found = [
        chatbench.load("simulated", seed=seed).accuracies().loc[cell, "between"]
        for seed in range(12)
    ]
    assert np.mean(found) == pytest.approx(variance, rel=0.25)


def test_as_many_users_pass_the_attention_check_as_printed():
    answers, _ = simulate(3000)
    checks = answers[answers["dataset"] == "Attention Check"]
    assert len(checks) == 3000
    assert checks["correct"].mean() == pytest.approx(0.995, abs=0.004)


def test_without_differences_in_ability_or_luck_nothing_is_kept_between_answers():
    answers, _ = simulate(3000, ability_sd=0.0, kept_luck=0.0)
    pairs = answers[answers["condition"] == "answer first"].pivot(
        index=["rater_id", "question_id"], columns="answer_type", values="correct"
    )
    chance = pairs.groupby("question_id").transform("mean")
    rest = (pairs - chance).dropna()
    assert rest["user-alone"].corr(rest["user-AI"]) == pytest.approx(0, abs=0.03)


def test_simulations_repeat_with_their_seed(simulated):
    again = chatbench.load("simulated", seed=3)
    pd.testing.assert_frame_equal(simulated.answers, again.answers)
    assert not simulated.answers["correct"].equals(
        chatbench.load("simulated", seed=4).answers["correct"]
    )


def test_users_who_fail_the_attention_check_are_left_out(simulated):
    assert "Attention Check" not in set(simulated.answers["dataset"])
    assert simulated.answers["rater_id"].nunique() <= 650


def write_released(folder, simulated) -> None:
    """Write simulated answers in the form of the released files."""
    models = {"GPT-4o": "gpt-4o", "Llama-3.1-8b": "llama-3.1-8b"}
    datasets = {name: code for code, name in chatbench.VALUE_NAMES["dataset"].items()}
    conditions = {name: code for code, name in chatbench.VALUE_NAMES["condition"].items()}
    coded = {"model": models, "dataset": datasets, "condition": conditions}
    answers = simulated.answers.replace(coded)
    answers = answers.rename(columns={"rater_id": "worker_id", "correct": "acc"})
    wide = simulated.ai_alone.replace(coded)
    prefixes = {name: prefix for prefix, name in chatbench.METHOD_PREFIXES.items()}
    wide = wide.assign(method=wide["method"].map(prefixes)).pivot(
        index=["model", "dataset", "question_id"],
        columns="method",
        values=["n_answers", "accuracy"],
    )
    kinds = {"n_answers": "count", "accuracy": "acc"}
    wide.columns = [f"{method}_{kinds[kind]}" for kind, method in wide.columns]
    (folder / "chatbench" / "full_study").mkdir(parents=True)
    answers.to_csv(folder / chatbench.ANSWERS_FILE, index=False)
    wide.reset_index().to_csv(folder / chatbench.AI_ALONE_FILE, index=False)


@pytest.fixture
def released(tmp_path, monkeypatch, simulated):
    """A mirror with files in the form of the released ones."""
    write_released(tmp_path, simulated)
    monkeypatch.setenv("DATA_MIRROR", str(tmp_path))
    monkeypatch.setenv("DATA_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_released_files_are_read_where_they_are_present(released, simulated):
    study = chatbench.load("auto")
    assert study.source == "real"
    pd.testing.assert_frame_equal(study.accuracies(), simulated.accuracies())
    assert study.answers["rater_id"].iloc[0] == "rater-001"


def test_columns_may_have_the_names_of_the_authors_code(released):
    file = released / chatbench.ANSWERS_FILE
    table = pd.read_csv(file)
    named = table.rename(columns={"question_id": "questionID", "dataset": "ds"})
    named["answer_type"] = named["answer_type"].replace(
        {"user-alone": "userAnswer", "user-AI": "userAIAnswer"}
    )
    expected = chatbench.load("real").answers
    named.to_csv(file, index=False)
    pd.testing.assert_frame_equal(chatbench.load("real").answers, expected)


def test_all_missing_columns_are_named(released):
    file = released / chatbench.ANSWERS_FILE
    pd.read_csv(file).drop(columns=["acc", "phase"]).to_csv(file, index=False)
    with pytest.raises(tables.BadTableError) as failure:
        chatbench.load("real")
    assert str(failure.value).splitlines() == [
        "user_answers_filtered.csv: 2 problems. Correct the file and load it again.",
        "  column 'phase' is missing",
        "  column 'acc' is missing",
    ]


def test_an_unknown_model_is_refused_with_its_row(released):
    file = released / chatbench.AI_ALONE_FILE
    table = pd.read_csv(file)
    table.loc[1, "model"] = "gpt-4o-mini"
    table.to_csv(file, index=False)
    with pytest.raises(tables.BadTableError, match="column 'model', row 2: 'gpt-4o-mini' is not"):
        chatbench.load("real")


def test_questions_without_answers_by_a_method_are_left_out(released):
    file = released / chatbench.AI_ALONE_FILE
    table = pd.read_csv(file)
    table.loc[0, ["free_text_count", "free_text_acc"]] = [0, None]
    table.to_csv(file, index=False)
    assert len(chatbench.load("real").ai_alone) == 2 * 3 * 396 - 1


def test_one_missing_file_is_an_error_that_names_it_and_its_address(released):
    (released / chatbench.AI_ALONE_FILE).unlink()
    message = r"1 of 2 files are missing\. Put them into the folder of DATA_MIRROR"
    with pytest.raises(registry.DataUnavailableError, match=message) as failure:
        chatbench.load("auto")
    missing = str(failure.value).splitlines()[1:]
    assert len(missing) == 1
    assert missing[0].startswith("  chatbench/ai_alone_answers.csv from https://huggingface.co/")


def test_without_files_the_study_is_simulated_unless_real_data_are_asked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("DATA_MIRROR", str(tmp_path))
    monkeypatch.setenv("DATA_CACHE", str(tmp_path))
    assert chatbench.load("auto").source == "simulated"
    with pytest.raises(registry.DataUnavailableError, match="2 of 2 files are"):
        chatbench.load("real")


def test_an_unknown_data_source_is_refused():
    with pytest.raises(ValueError, match="data_source must be 'auto', 'real' or 'simulated'"):
        chatbench.load("fake")


def test_unpinned_files_have_an_address_at_a_commit_and_a_licence():
    table = pd.read_csv(registry.UNPINNED_FILE, dtype=str, keep_default_na=False)
    assert list(table) == ["file", "url", "licence", "note"]
    address = r"https://huggingface\.co/datasets/microsoft/ChatBench/resolve/[0-9a-f]{40}/[\w./]+"
    assert table["url"].str.fullmatch(address).all()
    assert table["licence"].ne("").all()
    assert not set(table["file"]) & set(registry.names())
