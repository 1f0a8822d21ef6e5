"""Differences of accuracies in many specifications: printed tests, covariances, messages."""

import numpy as np
import pytest

from helpers.beyond import robustness
from helpers.stats import accuracy
from helpers.studies import chatbench

USERS = list(chatbench.CONDITIONS.values())


@pytest.fixture(scope="module")
def cells():
    return chatbench.accuracies()


@pytest.fixture(scope="module")
def specified(cells):
    return robustness.accuracy_choices(cells, chatbench.AI_METHODS, USERS, [0.0, 0.4])


@pytest.fixture(scope="module")
def found(cells, specified):
    return robustness.accuracy_differences(cells, specified, USERS, chatbench.N_QUESTIONS)


def pick(specified, *choice) -> int:
    return specified.index[(specified == list(choice)).all(axis="columns")].item()


def test_single_pairs_give_the_tests_of_the_paper(specified, found):
    estimate, error, _ = found
    rows = chatbench.comparisons()
    rows = rows[rows["alone"].isin(chatbench.AI_METHODS)]
    z, _ = accuracy.z_test(
        *(rows[f"{kind}_{who}"] for who in ("user_ai", "alone") for kind in ("mean", "se"))
    )
    places = [
        pick(specified, row.alone, f"User-AI {row.condition}", row.dataset, row.model, 0.0)
        for row in rows.itertuples()
    ]
    assert len(set(places)) == 60
    np.testing.assert_allclose(estimate[places] / error[places], z)


def test_shared_questions_shrink_errors_as_in_the_z_test(specified, found, cells):
    estimate, error, _ = found
    place = pick(specified, "AI free text", USERS[0], "College Math", "GPT-4o", 0.4)
    table = cells.set_index(["model", "dataset", "method"])
    alone = table.loc[("GPT-4o", "College Math", "AI free text")]
    users = table.loc[("GPT-4o", "College Math", USERS[0])]
    z, _ = accuracy.z_test(users["mean"], users["se"], alone["mean"], alone["se"], 0.4)
    assert estimate[place] / error[place] == pytest.approx(z)


def test_averages_weigh_datasets_models_and_conditions(specified, found, cells):
    estimate, error, weights = found
    table = cells.pivot(index=["model", "dataset"], columns="method", values="mean")
    difference = table[USERS].mean(axis="columns") - table["AI letter few shot"]
    equal = pick(specified, "AI letter few shot", "both", robustness.EQUAL, "both", 0.0)
    assert estimate[equal] == pytest.approx(100 * difference.mean())
    by_size = pick(specified, "AI letter few shot", "both", robustness.SIZES, "GPT-4o", 0.0)
    sizes = chatbench.N_QUESTIONS[difference.loc["GPT-4o"].index]
    assert estimate[by_size] == pytest.approx(
        100 * np.average(difference.loc["GPT-4o"], weights=sizes)
    )
    np.testing.assert_allclose(weights.sum(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(
        error[equal], 100 * np.sqrt((weights[equal] * cells["se"]) @ (weights[equal] * cells["se"]))
    )


def test_null_draws_have_the_errors_and_correlations_of_the_specifications(cells, specified, found):
    _, error, weights = found
    draws = robustness.null_draws(cells, weights, 4000, np.random.default_rng(1))
    independent = (specified["correlation"] == 0).to_numpy()
    np.testing.assert_allclose(draws[:, independent].std(axis=0), error[independent], rtol=0.06)
    assert abs(draws.mean(axis=0)).max() < 0.5
    twin = [
        pick(specified, method, USERS[0], "College Math", "GPT-4o", 0.0)
        for method in chatbench.AI_METHODS[:2]
    ]
    shared = np.corrcoef(draws[:, twin].T)[0, 1]
    scaled = weights[twin] * cells["se"].to_numpy()
    expected = scaled[0] @ scaled[1] / np.sqrt((scaled[0] @ scaled[0]) * (scaled[1] @ scaled[1]))
    assert shared == pytest.approx(expected, abs=0.05)


def test_missing_accuracies_are_named(cells, specified):
    with pytest.raises(ValueError, match="column 'mean' has 1 missing value, first in row 2"):
        robustness.accuracy_differences(
            cells.assign(mean=cells["mean"].drop(2)), specified, USERS, chatbench.N_QUESTIONS
        )
    fewer = cells[cells["method"] != "AI free text"]
    with pytest.raises(ValueError, match="no accuracy of 'AI free text' with model 'GPT-4o'"):
        robustness.accuracy_differences(fewer, specified, USERS, chatbench.N_QUESTIONS)


def test_simulated_answers_can_take_the_place_of_printed_accuracies():
    cells = chatbench.load("simulated", 1).accuracies().rename(columns={"accuracy": "mean"})
    cells = cells.reset_index()
    specified = robustness.accuracy_choices(cells, chatbench.AI_METHODS, USERS, [0.0])
    estimate, error, _ = robustness.accuracy_differences(
        cells, specified, USERS, chatbench.N_QUESTIONS
    )
    assert np.isfinite(estimate).all()
    assert (error > 0).all()
