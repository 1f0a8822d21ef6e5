"""Simulated ChatBench answers have the printed accuracies."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from helpers.simulate.chatbench import between_variance
from helpers.simulate.chatbench import chatbench as simulate_chatbench
from helpers.stats.accuracy import dataset_accuracy
from helpers.studies import chatbench


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


def test_the_variance_between_questions_is_that_of_the_simulation():
    printed = chatbench.accuracies().set_index(["model", "dataset", "method"])
    cell = ("GPT-4o", "High School Math", "User-AI direct to AI")
    variance = between_variance(*printed.loc[cell, ["mean", "se"]], 95, 4.1)
    found = []
    for seed in range(4):
        questions = chatbench.load("simulated", seed=seed).questions()
        rows = (
            questions.set_index(["model", "dataset", "method"]).sort_index().loc[cell]
        )
        found.append(dataset_accuracy(rows)["between"])
    assert np.mean(found) == pytest.approx(variance, rel=0.25)
