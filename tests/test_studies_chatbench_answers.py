"""Results that need single answers of ChatBench, on simulated ones."""

import pytest

from helpers.studies import chatbench, chatbench_answers
from helpers.studies.chatbench_answers import FREE_TEXT


@pytest.fixture(scope="module")
def study() -> chatbench.ChatBench:
    return chatbench.load("simulated", seed=3)


@pytest.fixture(scope="module")
def found(study) -> dict:
    return chatbench_answers.statements(study, min_answers=5, n_boot=50, seed=0)


def test_changed_answers_are_shares_of_wrong_and_of_right_ones(study, found):
    both = study.answers[
        (study.answers["condition"] == "answer first") & (study.answers["phase"] == 2)
    ]
    alone = both[both["answer_type"] == "user-alone"]
    with_ai = both[both["answer_type"] == "user-AI"]
    keys = ["rater_id", "question_id"]
    pairs = alone.merge(with_ai, on=keys, suffixes=("_alone", "_ai"))
    was_wrong = pairs["correct_alone"] == 0
    corrected = 100 * pairs.loc[was_wrong, "correct_ai"].mean()
    spoiled = 100 * (1 - pairs.loc[~was_wrong, "correct_ai"].mean())
    assert found["transitions.corrected"] == pytest.approx(corrected)
    assert found["transitions.spoiled"] == pytest.approx(spoiled)
    difference = found["transitions.more_help"]["shares"]
    assert difference["estimate"] == pytest.approx(corrected - spoiled)
    assert difference["low"] < corrected - spoiled < difference["high"]
    gained = found["transitions.more_help"]["numbers of answers"]["estimate"]
    expected = 100 * (pairs["correct_ai"] - pairs["correct_alone"]).mean()
    assert gained == pytest.approx(expected)


def test_questions_are_below_above_or_equal(found):
    for name in ("gpt4o", "llama"):
        shares = [found[f"questions.{name}_{side}"] for side in ("lower", "higher")]
        assert min(shares) > 0
        assert sum(shares) <= 100


def test_shares_of_questions_are_counted_one_by_one(study, found):
    answers = study.answers[study.answers["answer_type"] == "user-AI"]
    is_free = study.ai_alone["method"] == FREE_TEXT
    alone = study.ai_alone[is_free]
    alone = alone.set_index(["model", "question_id"])["accuracy"]
    lower, n = 0, 0
    model = "GPT-4o"
    # those that people have answered without the model, too
    known = study.by_question().query("model == @model")["question_id"].unique()
    for question, rows in answers[answers["model"] == model].groupby("question_id"):
        if len(rows) >= 5 and question in known:
            n += 1
            lower += rows["correct"].mean() < alone[model, question] - 1e-9
    assert found["questions.gpt4o_lower"] == pytest.approx(100 * lower / n)


def test_fifty_tries_is_the_share_of_all_cells(study, found):
    n_answers = study.ai_alone["n_answers"]
    n_cells = len(study.ai_alone.drop(columns=["n_answers"]).drop_duplicates())
    expected = 100 * (n_answers >= 50).sum() / n_cells
    assert found["counts.fifty_tries"] == pytest.approx(expected)


def test_the_correlation_lies_below_its_lowest_ceiling_by_its_interval(study, found):
    points = study.by_question().groupby("condition", sort=False)
    below = found["questions.r_below_bound"]
    for row, (_, table) in zip(below.itertuples(), points, strict=True):
        r = table["free_text"].corr(table["user_ai"])
        assert 0.85 < row.estimate + r < 1
        assert row.low < row.estimate < row.high


def test_confidence_has_two_steps_in_each_dataset(study, found):
    within = found["confidence.within"]
    assert len(within) == 10
    alone = study.answers[study.answers["answer_type"] == "user-alone"]
    rates = 100 * alone.groupby(["dataset", "confidence"])["correct"].mean()
    physics = rates["Conceptual Physics"]
    step = physics["very-confident"] - physics["somewhat-confident"]
    name = "Conceptual Physics, very-confident, less "
    row = within[within.index.str.startswith(name)].iloc[0]
    assert row["estimate"] == pytest.approx(step)
