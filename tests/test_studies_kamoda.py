"""The released ratings and texts of Kamoda et al."""

import json

import pandas as pd
import pytest

from helpers import marks
from helpers.data import registry, tables
from helpers.data.columns import kamoda as columns
from helpers.studies import kamoda


@pytest.fixture(scope="module")
def study(real_data):
    return kamoda.load(real_data)


def test_the_real_study_has_the_published_numbers(study):
    ratings = study.ratings
    assert study.source == "real"
    assert len(ratings) == 3600
    assert ratings["item_id"].nunique() == 1200
    assert ratings["question_id"].nunique() == 300
    assert ratings["rater_id"].nunique() == 80
    assert ratings.groupby(["question_id", "rater_id"]).ngroups == 900


def test_every_answer_has_three_raters_and_every_question_one_answer_by_system(study):
    answers = study.answers()
    assert set(answers["n_ratings"]) == {3}
    assert (answers.groupby(["question_id", "system"]).size() == 1).all()
    assert set(answers["system"]) == set(columns.ANSWER_SYSTEMS)


def test_means_of_the_example_printed_in_the_paper_are_among_the_answers(study):
    means = study.answers().set_index("system")
    example = {
        "acceptability": 2.3,
        "factuality": 2.0,
        "amount_info": 0.3,
        "formality": -0.3,
    }
    top = means.loc["human_top", list(example)].round(1)
    assert (top == pd.Series(example)).all(axis=1).any()


def test_model_answers_are_preferred_as_often_as_published(study):
    chosen = study.ratings.loc[study.ratings["preferred"] == 1, "system"]
    assert round(100 * chosen.str.startswith("model").mean(), 1) == 83.0


def test_evaluators_rated_the_published_numbers_of_answers(study):
    counts = study.evaluators["evaluator"].value_counts().to_dict()
    assert counts == {"gpt4": 1200, "llama2": 432, "gpt4_mean3": 240}
    assert study.evaluators["item_id"].isin(study.ratings["item_id"]).all()
    assert study.evaluators.index.is_unique


@pytest.fixture(scope="module")
def texts(real_data):
    return kamoda.load_texts(real_data)


def test_the_real_texts_are_those_of_the_ratings(study, texts):
    assert texts.source == "real"
    pairs = study.ratings[["question_id", "rater_id"]].drop_duplicates()
    assert len(texts.justifications.merge(pairs, on=["question_id", "rater_id"])) == 900
    rated = study.ratings.drop_duplicates("item_id")
    assert (
        len(texts.answers.merge(rated, on=["item_id", "question_id", "system"])) == 1200
    )


def test_people_and_not_models_have_votes(texts):
    human = texts.answers["system"].str.startswith("human")
    assert (texts.answers["votes"].notna() == human).all()


def test_the_question_printed_in_the_paper_is_asked_once(texts):
    asked = texts.answers.loc[
        texts.answers["question"].str.contains("our own voice"), "system"
    ]
    assert sorted(asked) == sorted(columns.ANSWER_SYSTEMS)


def test_raters_are_labelled_in_order_of_first_appearance(study):
    labels = study.ratings["rater_id"].drop_duplicates().tolist()
    assert labels == [f"rater-{number:03d}" for number in range(1, 81)]


def test_simulated_texts_go_with_the_ratings_of_the_same_seed():
    ratings = kamoda.load("simulated", seed=5).ratings
    texts = kamoda.load_texts("simulated", seed=5)
    assert texts.source == "simulated"
    assert (
        len(texts.answers.merge(ratings.drop_duplicates("item_id"), on="item_id"))
        == 1200
    )
    workers = ratings[["question_id", "rater_id"]].drop_duplicates()
    assert (
        len(texts.justifications.merge(workers, on=["question_id", "rater_id"])) == 900
    )


def test_simulated_ratings_say_so_and_real_or_simulated_must_be_said():
    study = kamoda.load("simulated")
    assert study.source == "simulated"
    tables_of_study = (study.ratings, study.evaluators, study.answers())
    assert {table.attrs["source"] for table in tables_of_study} == {"simulated"}
    with pytest.raises(tables.OptionError, match="'real' or 'simulated' here, not"):
        kamoda.load("auto")


EVALUATION = {
    "answer_id": "a1",
    "factuality": 3,
    "amountInfo": 0,
    "formality": 0,
    "overall": 2,
}


RATING = {
    "assignment_id": "s1",
    "question_id": "q1",
    "answer_id": "a1",
    "factuality": 3,
    "formality": 0,
    "acceptability": 3,
    "amountInfo": -1,
    "preference": 1,
}


ASSIGNMENT = {
    "assignment_id": "s2",
    "question_id": "q1",
    "WorkerId": "anna",
    "Answer.reason_of_preference": "It is clear.",
    "Answer.no_appropriate.on": False,
    "WorkTimeInSeconds": 90,
}


ANSWER = {
    "answer_id": "a1",
    "question_id": "q1",
    "answer": "Because of the wind.",
    "answer_label": "dataset_answer_top1",
    "answer_score": 7,
}


SMALL = {
    "mturk_ratings": [RATING, RATING | {"assignment_id": "s2", "preference": 0}],
    "assignments": [
        ASSIGNMENT,
        ASSIGNMENT | {"assignment_id": "s1", "WorkerId": "bert"},
    ],
    "answers": [ANSWER],
    "questions": [{"question_id": "q1", "question": "Why do sails fill?"}],
    "gpt4_ratings": [EVALUATION],
    "llama_ratings": [EVALUATION],
    "gpt4_ratings_3epoch_mean": [EVALUATION],
}


@pytest.fixture
def load_small(tmp_path, monkeypatch):
    """Load a study of two ratings or its texts, some of its files replaced."""

    def load(read=kamoda.load, **changes):
        located = {}
        for name, records in (SMALL | changes).items():
            path = tmp_path / f"{name}.jsonl"
            path.write_text("\n".join(json.dumps(record) for record in records))
            located[f"kamoda/{name}.jsonl"] = path
        monkeypatch.setattr(registry, "locate", lambda *_: located)
        return read()

    return load


def test_a_rating_is_put_together_from_three_files(load_small):
    first = load_small().ratings.iloc[0].to_dict()
    assert first == {
        "item_id": "a1",
        "prompt_id": "q1",
        "task": "eli5",
        "system": "human_top",
        "arm": "baseline",
        "rater_id": "rater-002",
        "question_id": "q1",
        "factuality": 3.0,
        "amount_info": -1.0,
        "formality": 0.0,
        "acceptability": 3.0,
        "preferred": 1.0,
        "kind": "Reddit, most votes",
        "writer": "Reddit user",
        "amount": -1.0,
    }


def test_answers_are_means_over_their_raters(load_small):
    answer = load_small().answers().iloc[0]
    assert answer["preferred"] == 0.5
    assert answer["factuality"] == 3
    assert answer["n_ratings"] == 2


def test_words_for_readers_say_the_same_as_the_codes(study):
    ratings = study.ratings
    assert ratings.groupby("kind")["system"].nunique().eq(1).all()
    assert set(ratings["kind"]) == set(kamoda.KINDS.values())
    by_writer = ratings.groupby("writer")["kind"].unique().map(sorted).to_dict()
    assert by_writer == {
        "ChatGPT": ["ChatGPT, casual", "ChatGPT, formal"],
        "Reddit user": ["Reddit, most votes", "Reddit, random"],
    }
    for scale, words in kamoda.LEVELS.items():
        assert sorted(words) == sorted(ratings[scale].unique())
        assert kamoda.IDEALS[scale] in words


def test_a_judge_rated_the_answers_that_it_is_said_to_have_rated(study):
    assert len(study.judge("GPT-4")) == 1200
    llama2 = study.judge("Llama 2")
    assert len(llama2) == 432
    assert list(llama2) == ["factuality", "amount", "formality", "acceptability"]
    # the correlation that the paper reports for GPT-4
    people = study.answers().set_index("item_id")["acceptability"]
    gpt4 = study.judge("GPT-4")["acceptability"]
    assert round(gpt4.corr(people), 2) == 0.70


def test_a_judge_that_does_not_exist_is_refused():
    with pytest.raises(tables.OptionError, match="'GPT-5' is unknown: choose from"):
        kamoda.load("simulated").judge("GPT-5")


def test_measures_count_words_and_leave_the_references_without_overlap(texts):
    measures = texts.measures()
    kinds = texts.answers.set_index("item_id")["system"]
    assert measures["rouge_1"].isna().equals(kinds == "human_top")
    assert (
        measures["rouge_l"].le(measures["rouge_1"] + 1e-12)[kinds != "human_top"].all()
    )
    by_writer = measures["words"].groupby(kinds.str[:5]).median()
    assert by_writer.to_dict() == {"human": 61, "model": 107}


def test_reported_numbers_are_those_of_the_paper_or_missing_or_refused():
    numbers = kamoda.reported(["regression.rho", "tree.agrees"])
    assert numbers["regression.rho"] == 0.853
    assert pd.isna(numbers["tree.agrees"])
    with pytest.raises(tables.OptionError, match=r"no 'kamoda\.regression\.height'"):
        kamoda.reported(["regression.height"])


def test_nothing_reported_stands_beside_simulated_data(monkeypatch):
    run = marks.Run("21_weighted_aspect_regression", reasons=["a test"])
    monkeypatch.setattr(marks, "current", lambda: run)
    assert kamoda.reported(["tree.rho"]).isna().all()


def test_the_overall_rating_of_an_evaluator_is_called_acceptability(load_small):
    evaluators = load_small().evaluators
    assert evaluators["evaluator"].tolist() == ["gpt4", "llama2", "gpt4_mean3"]
    assert evaluators["acceptability"].tolist() == [2, 2, 2]


def test_names_of_workers_do_not_appear(load_small):
    shown = (
        load_small().ratings.to_csv()
        + load_small(kamoda.load_texts).justifications.to_csv()
    )
    assert "anna" not in shown
    assert "bert" not in shown


def test_an_answer_is_put_together_with_its_question(load_small):
    answer = load_small(kamoda.load_texts).answers.iloc[0].to_dict()
    assert answer == {
        "item_id": "a1",
        "question_id": "q1",
        "system": "human_top",
        "question": "Why do sails fill?",
        "text": "Because of the wind.",
        "votes": 7.0,
    }


def test_a_justification_has_its_minutes_and_the_label_of_its_worker(load_small):
    reason = load_small(kamoda.load_texts).justifications.iloc[1].to_dict()
    assert reason == {
        "question_id": "q1",
        "rater_id": "rater-002",
        "text": "It is clear.",
        "none_appropriate": False,
        "minutes": 1.5,
    }


RATING_FAULTS = [
    (
        {"mturk_ratings": [RATING | {"assignment_id": "s9"}]},
        "column 'assignment_id', row 1: 's9' is not in assignments.jsonl",
    ),
    (
        {"mturk_ratings": [RATING, RATING | {"answer_id": "a9"}]},
        "column 'answer_id', row 2: 'a9' is not in answers.jsonl",
    ),
    (
        {"mturk_ratings": [RATING, RATING]},
        "column 'item_id', row 2: 'a1' stands there again with the same rater_id",
    ),
    (
        {"mturk_ratings": [RATING | {"amountInfo": 2}]},
        "column 'amount_info', row 1: 2.0 is not allowed; allowed: -1, 0 or 1",
    ),
    (
        {"assignments": [{"assignment_id": "s1"}]},
        "column 'WorkerId' is missing; there are 'assignment_id'",
    ),
    (
        {"llama_ratings": [EVALUATION | {"overall": 3.5}]},
        "column 'acceptability', row 1: 3.5 is not allowed; allowed: a number from 0 "
        "to 3",
    ),
]
TEXT_FAULTS = [
    (
        {"answers": [ANSWER | {"question_id": "q9"}]},
        "column 'question_id', row 1: 'q9' is not in questions.jsonl",
    ),
    ({"answers": [ANSWER, ANSWER]}, "column 'item_id', row 2: 'a1' stands there again"),
    (
        {"answers": [ANSWER | {"answer_score": "many"}]},
        "column 'votes', row 1: 'many' is not allowed; allowed: a number, or empty",
    ),
    (
        {"questions": [{"question_id": "q1"}]},
        "column 'question' is missing; did you mean 'question_id'?",
    ),
    (
        {"assignments": [ASSIGNMENT | {"WorkTimeInSeconds": -6}]},
        "column 'minutes', row 1: -0.1 is not allowed; allowed: a number from 0 to "
        "1440",
    ),
]


@pytest.mark.parametrize(
    ("read", "changes", "problem"),
    [(kamoda.load, *each) for each in RATING_FAULTS]
    + [(kamoda.load_texts, *each) for each in TEXT_FAULTS],
)
def test_what_is_wrong_with_a_file_is_told_without_its_texts(
    load_small, read, changes, problem
):
    (file,) = changes
    head = f"{file}.jsonl: 1 problem. Correct the file and load it again."
    with pytest.raises(tables.BadTableError) as failure:
        load_small(read, **changes)
    assert str(failure.value) == f"{head}\n  {problem}"


def test_experts_of_the_earlier_study_prefer_models_as_often_as_cited(real_data):
    verdicts = kamoda.load_expert_verdicts(real_data)
    assert len(verdicts) == 145
    assert verdicts["rater_id"].nunique() == 12
    assert verdicts["item_id"].nunique() == 75
    by_domain = verdicts.groupby("domain")["model_preferred"].mean()
    assert len(by_domain) == 7
    assert round(100 * by_domain.mean(), 1) == 61.8
    assert verdicts["model_preferred"].sum() == 78


VERDICT = {
    "q_id": "q1",
    "answer1": "Wind.",
    "answer2": "Sails are pulled.",
    "answer1_label": "HMh[4][1]",
    "BetterAnswer": "Answer B",
    "annotator": 8,
}


def load_verdicts(records, tmp_path, monkeypatch):
    path = tmp_path / "Law_8_Common20.json"
    path.write_text(json.dumps(records))
    monkeypatch.setattr(registry, "locate", lambda *_: {"atlas/x.json": path})
    return kamoda.load_expert_verdicts("real")


def test_a_verdict_is_for_the_model_if_its_answer_was_chosen(tmp_path, monkeypatch):
    records = [
        VERDICT,
        VERDICT | {"q_id": "q2", "answer1_label": "HMM[3]"},
        VERDICT | {"q_id": "q3", "BetterAnswer": "Answer A"},
        VERDICT | {"q_id": "q4", "answer1_label": "HHh[4][1]"},
    ]
    verdicts = load_verdicts(records, tmp_path, monkeypatch)
    assert verdicts["model_preferred"].tolist() == [1, 0, 0]
    assert verdicts["domain"].unique().tolist() == ["Law"]
    assert "Wind" not in verdicts.to_csv()


def test_a_verdict_for_neither_answer_is_refused(tmp_path, monkeypatch):
    records = [VERDICT, VERDICT | {"BetterAnswer": "Both"}]
    with pytest.raises(tables.BadTableError, match="row 2: 'Both' is not allowed"):
        load_verdicts(records, tmp_path, monkeypatch)


def test_simulated_verdicts_have_the_columns_of_the_real_ones():
    verdicts = kamoda.load_expert_verdicts("simulated", seed=1)
    checked = columns.EXPERT_VERDICTS.validate(verdicts)
    pd.testing.assert_frame_equal(checked, verdicts)
