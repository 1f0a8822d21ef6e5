"""Accuracies in many specifications: the paper's tests, averages, null draws."""

import numpy as np
import pandas as pd
import pytest

from helpers.robustness import accuracy_gap
from helpers.studies import chatbench

USERS = list(chatbench.CONDITIONS.values())


def pick(table: pd.DataFrame, **choice) -> pd.Series:
    """The one specification with these choices."""
    found = table[(table[list(choice)] == pd.Series(choice)).all(axis="columns")]
    assert len(found) == 1
    return found.iloc[0]


@pytest.fixture(scope="module")
def cells():
    return chatbench.accuracies()


@pytest.fixture(scope="module")
def accuracies(cells):
    """Specifications with estimates and errors, and what each accuracy adds."""
    table, weights = accuracy_gap.accuracy_curve(
        cells, chatbench.AI_METHODS, USERS, chatbench.N_QUESTIONS, [0.0, 0.4]
    )
    return table.rename(columns={"standard_error": "error"}), weights


def pick_accuracy(table: pd.DataFrame, *choice) -> pd.Series:
    columns = ("AI alone", "users", "dataset", "model", "correlation")
    return pick(table, **dict(zip(columns, choice, strict=True)))


@pytest.mark.parametrize("correlation", [0.0, 0.4])
def test_single_pairs_give_the_tests_of_the_paper(accuracies, correlation):
    rows = chatbench.comparisons()
    rows = rows[rows["alone"].isin(chatbench.AI_METHODS)]
    columns = [
        f"{kind}_{who}" for who in ("user_ai", "alone") for kind in ("mean", "se")
    ]
    mean, error, other, other_error = (rows[name] for name in columns)
    covariance = correlation * error * other_error
    z = (mean - other) / np.sqrt(error**2 + other_error**2 - 2 * covariance)
    assert len(rows) == 60
    for row, expected in zip(rows.itertuples(), z, strict=True):
        names = (row.alone, f"User-AI {row.condition}", row.dataset, row.model)
        found = pick_accuracy(accuracies[0], *names, correlation)
        assert found["estimate"] / found["error"] == pytest.approx(expected)


def test_averages_weigh_datasets_models_and_conditions(accuracies, cells):
    table, weights = accuracies
    means = cells.pivot(index=["model", "dataset"], columns="method", values="mean")
    difference = 100 * (means[USERS].mean(axis="columns") - means["AI letter few shot"])
    equal = pick_accuracy(
        table, "AI letter few shot", "both", accuracy_gap.EQUAL, "both", 0.0
    )
    assert equal["estimate"] == pytest.approx(difference.mean())
    assert equal["error"] == pytest.approx(
        100 * np.linalg.norm(weights[equal.name] * cells["se"])
    )
    difference = difference.loc["GPT-4o"]
    sizes = chatbench.N_QUESTIONS[difference.index]
    by_size = pick_accuracy(
        table, "AI letter few shot", "both", accuracy_gap.SIZES, "GPT-4o", 0.0
    )
    assert by_size["estimate"] == pytest.approx(np.average(difference, weights=sizes))


def test_null_draws_have_the_errors_and_correlations_of_the_specifications(
    accuracies, cells
):
    table, weights = accuracies
    draws = accuracy_gap.null_draws(cells, weights, 4000, np.random.default_rng(1))
    independent = (table["correlation"] == 0).to_numpy()
    spread = draws[:, independent].std(axis=0)
    np.testing.assert_allclose(spread, table["error"][independent], rtol=0.06)
    assert abs(draws.mean(axis=0)).max() < 0.5
    choice = (USERS[0], "College Math", "GPT-4o", 0.0)
    twin = [
        pick_accuracy(table, alone, *choice).name for alone in chatbench.AI_METHODS[:2]
    ]
    scaled = weights[twin] * cells["se"].to_numpy()
    covariance = scaled @ scaled.T
    expected = covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])
    assert np.corrcoef(draws[:, twin].T)[0, 1] == pytest.approx(expected, abs=0.05)
