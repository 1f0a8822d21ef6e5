"""ChatBench: what the paper prints, and files in the form of the released ones."""

import pandas as pd
import pytest
from notebook_code import run_code

from helpers import claims, paths, show
from helpers.data import published, registry, tables
from helpers.studies import chatbench
from helpers.studies.chatbench import ATTENTION_CHECK


def test_printed_z_and_p_values_are_possible():
    ranges = chatbench.attainable()
    given = ranges["printed"].notna()
    shown = ranges[given]
    assert (shown["printed"] - 0.005 <= shown["high"] + 1e-9).all()
    assert (shown["printed"] + 0.005 >= shown["low"] - 1e-9).all()
    assert given.loc["z"].all()
    assert (
        ranges.loc[~given, "high"].max()
        < 0.01
        < ranges.loc["p"].loc[given["p"], "low"].min()
    )


@pytest.fixture(scope="module")
def simulated() -> chatbench.ChatBench:
    return chatbench.load("simulated", seed=3)


@pytest.fixture
def released(tmp_path, monkeypatch):
    """A mirror with files in the form of the released ones."""
    chatbench.write_simulated(tmp_path, seed=3)
    monkeypatch.setenv("DATA_MIRROR", str(tmp_path))
    monkeypatch.setenv("DATA_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_released_files_are_read_where_they_are_present(released, simulated):
    study = chatbench.load("real")
    assert study.source == "real"
    pd.testing.assert_frame_equal(study.accuracies(), simulated.accuracies())
    assert study.answers["rater_id"].iloc[0] == "rater-001"


def test_people_who_failed_a_check_go_with_all_checks(simulated):
    datasets = [
        ATTENTION_CHECK,
        "physics",
        ATTENTION_CHECK,
        "physics",
        "physics",
        "physics",
    ]
    given = {
        "rater_id": [*"aabbcc"],
        "dataset": datasets,
        "correct": [0, 1, 1, 1, 1, 0],
    }
    answers = simulated.answers.iloc[:6].assign(**given)
    kept = chatbench.without_attention_checks(answers)
    assert kept["rater_id"].tolist() == ["b", "c", "c"]
    assert list(kept) == list(answers)


def test_reported_simulators_have_their_scores_in_the_order_of_the_table():
    assert list(chatbench.simulators()) == ["correlation", "mae", "bleu", "rouge"]


@pytest.fixture
def quiet(released, monkeypatch):
    """Run notebooks without figures, and save their results beside the files."""
    monkeypatch.setattr(show, "save", lambda *_, **__: None)
    monkeypatch.setattr(paths, "BUILD", released / "out")
    monkeypatch.setenv("DEFAULT_PARAMETERS", str(released / "none"))
    return released


def test_released_files_change_what_notebook_30_shows_and_unlock_its_claims(quiet):
    found = run_code(paths.NOTEBOOKS / "30_ai_alone_vs_user_ai.ipynb", {"n_draws": 100})
    expected = found["study"].accuracies()["accuracy"]
    cell = ("GPT-4o", "College Math")
    assert found["right"].loc[cell, "free text"] == pytest.approx(
        100 * expected[(*cell, "AI free text")]
    )
    saved = claims.read(quiet / "out").set_index("name")
    claimed = published.published_claims().query("study == 'chatbench'")
    unpinned = set(pd.read_csv(registry.UNPINNED_FILE)["file"])
    needed = claimed["needs"].str.split().explode()
    unlocked = set(needed.index[needed.isin(unpinned)])
    is_cell = claimed.index.str.contains("tablea")
    assert unlocked - set(claimed.index[is_cell]) <= set(saved.index)
    assert (
        saved.loc["chatbench.counts.ai_alone_answers", "estimate"] == 2 * 3 * 396 * 50
    )


def test_released_conversations_are_read_by_notebook_31(quiet):
    place = paths.NOTEBOOKS / "appendix" / "31_simulated_users.ipynb"
    found = run_code(place, {"n_draws": 100})
    assert found["n_here"] == 4
    assert len(found["of_people"]) == 650 * 9
    assert list(found["mirrors"].mean().index) == list(chatbench.MODELS)
    assert found["alone"].shape == (len(chatbench.DATASETS), 3)
    assert list(found["in_maths"].index) == ["with bonus", "without bonus"]


def test_without_any_file_there_are_no_answers(monkeypatch, tmp_path):
    monkeypatch.setenv("DATA_MIRROR", str(tmp_path))
    monkeypatch.setenv("DATA_CACHE", str(tmp_path / "cache"))
    assert chatbench.load_if_here("real") is None


def test_one_file_without_the_other_is_an_error_and_not_ignored(released):
    (released / chatbench.AI_ALONE_FILE).unlink()
    with pytest.raises(registry.DataUnavailableError, match="ai_alone_answers"):
        chatbench.load_if_here("real")


def test_cells_of_table_a2_come_from_the_answers_if_there_are_any(simulated):
    pairs = chatbench.comparisons(simulated).set_index(chatbench.COMPARISON_KEYS)
    expected = simulated.accuracies().loc[
        ("Llama-3.1-8b", "College Math", "User-AI answer first")
    ]
    pair = ("Llama-3.1-8b", "College Math", "AI free text", "answer first")
    assert pairs.loc[pair, "se_user_ai"] == pytest.approx(expected["se"])


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
    first, *problems = str(failure.value).splitlines()
    assert (
        first
        == "user_answers_filtered.csv: 2 problems. Correct the file and load it again."
    )
    assert [problem.partition(";")[0] for problem in problems] == [
        "  column 'phase' is missing",
        "  column 'acc' is missing",
    ]


def test_an_unknown_model_is_refused_with_its_row(released):
    file = released / chatbench.AI_ALONE_FILE
    table = pd.read_csv(file)
    table.loc[1, "model"] = "gpt-4o-mini"
    table.to_csv(file, index=False)
    with pytest.raises(
        tables.BadTableError, match="column 'model', row 2: 'gpt-4o-mini' is not"
    ):
        chatbench.load("real")


def test_questions_without_answers_by_a_method_are_left_out(released):
    file = released / chatbench.AI_ALONE_FILE
    table = pd.read_csv(file)
    table.loc[0, ["free_text_count", "free_text_acc"]] = [0, None]
    table.to_csv(file, index=False)
    assert len(chatbench.load("real").ai_alone) == 2 * 3 * 396 - 1


def test_one_missing_file_is_an_error_that_names_it_and_its_address(released):
    (released / chatbench.AI_ALONE_FILE).unlink()
    message = (
        r"^chatbench/ai_alone_answers\.csv is not on this machine and is never "
        r"downloaded, .* Download it from https://huggingface\.co/"
    )
    with pytest.raises(registry.DataUnavailableError, match=message):
        chatbench.load("real")


def test_simulated_answers_say_so(simulated):
    assert simulated.source == "simulated"
    assert simulated.answers["rater_id"].str.fullmatch(r"rater-\d{3}").all()


def test_unpinned_files_have_an_address_and_a_licence():
    table = pd.read_csv(registry.UNPINNED_FILE, dtype=str, keep_default_na=False)
    hub = r"https://huggingface\.co/datasets"
    pinned = rf"{hub}/microsoft/ChatBench/resolve/[0-9a-f]{{40}}/[\w./]+"
    copy = r"https://www\.modelscope\.cn/datasets/microsoft/ChatBench/resolve/master"
    address = rf"{pinned} {copy}/[\w./]+|{hub}/anthonysicilia/wclarge"
    assert table["url"].str.fullmatch(address).all()
    for row in table[table["url"].str.contains(" ")].itertuples():
        path = row.file.partition("/")[2]
        assert all(each.endswith(f"/{path}") for each in row.url.split())
    assert table["licence"].ne("").all()
    assert not set(table["file"]) & set(registry.names("chatbench"))
