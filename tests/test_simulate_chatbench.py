"""Simulated ChatBench files have the design and the accuracies of the study."""

import numpy as np
import pandas as pd
import pytest

from helpers.simulate import chatbench as simulated
from helpers.studies import chatbench


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("simulated")
    chatbench.write_simulated(folder, seed=1)
    return folder / "chatbench"


def test_a_user_has_three_questions_of_phase_1_nine_of_phase_2_and_one_check(folder):
    answers = pd.read_csv(folder / "full_study" / "user_answers.csv")
    alone = answers[answers["answer_type"] == "userAnswer"]
    with_ai = answers[answers["answer_type"] == "userAIAnswer"]
    assert set(with_ai.value_counts("worker_id")) == {9}
    assert set(with_ai["phase"]) == {2}
    assert set(alone[alone["phase"] == 1].value_counts("worker_id")) == {4}
    first = alone[alone["condition"] == "answer-first"]
    assert set(first.value_counts("worker_id")) == {13}
    tasks = answers[answers["dataset"] != simulated.ATTENTION_CHECK]
    asked = tasks.groupby("worker_id")["question_id"].agg(frozenset)
    assert asked.nunique() <= 19 + 7 + 7


def test_a_model_answers_every_question_fifty_times_by_each_method(folder):
    ai_alone = pd.read_csv(folder / "ai_alone_answers.csv")
    assert len(ai_alone) == 2 * 396
    assert set(ai_alone.filter(like="_count").to_numpy().ravel()) == {50}


def test_simulated_accuracies_and_standard_errors_are_those_of_the_paper():
    reported = chatbench.accuracies().set_index(["model", "dataset", "method"])
    distances, ratios = [], []
    for seed in range(4):
        found = chatbench.load("simulated", seed).accuracies()
        distances.append((found["accuracy"] - reported["mean"]) / reported["se"])
        ratios.append(found["se"] / reported["se"])
    distances = pd.concat(distances)
    assert distances.abs().max() < 4.5
    assert abs(distances.mean()) < 0.25
    assert 0.7 < distances.std() < 1.3
    assert 0.9 < pd.concat(ratios).mean() < 1.2


def test_the_second_pilot_has_questions_of_mathematics_only(folder):
    pilot = pd.read_csv(folder / "pilot_2_w_incentives_math" / "user_answers.csv")
    allowed = {*simulated.MATHEMATICS, simulated.ATTENTION_CHECK}
    assert set(pilot["dataset"]) == allowed


def test_the_beta_distribution_has_the_mean_and_the_variance_that_remains():
    a, b = simulated.beta_shape(0.7, 0.04, n_questions=95, n_answers=5)
    mean = a / (a + b)
    variance = mean * (1 - mean) / (a + b + 1)
    assert mean == pytest.approx(0.7)
    observed = variance + (mean * (1 - mean) - variance) / 5
    assert np.sqrt(observed / 95) == pytest.approx(0.04)
