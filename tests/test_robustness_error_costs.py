"""What errors cost in many specifications: as single analyses compute it, by hand."""

import numpy as np
import pandas as pd
import pytest

from helpers.robustness import error_costs
from helpers.robustness.specifications import permute_within
from helpers.stats import lasso, ordinal

ERRORS = ["refusal", "factuality", "formatting"]
EMPTY = [*ERRORS, "harmful"]


@pytest.fixture(scope="module")
def labelled() -> dict[str, pd.DataFrame]:
    """Four marks for each of five outputs per prompt; an error costs a point."""
    rng = np.random.default_rng(1)
    outputs = pd.DataFrame({"prompt_id": np.repeat(np.arange(60), 5)})
    outputs["item_id"] = [f"item-{number:04d}" for number in range(len(outputs))]
    outputs["system"] = np.tile(list("abcde"), 60)
    outputs["task"] = np.where(outputs["prompt_id"] % 2, "x", "y")
    truth = rng.random((len(outputs), 3)) < [0.1, 0.3, 0.2]
    quality = np.clip(
        np.round(4 + rng.normal(size=len(outputs)) - truth.sum(axis=1)), 1, 5
    )
    outputs = outputs.assign(refusal=truth[:, 0] * 1.0, quality_unbiased=quality)
    single = outputs.loc[np.repeat(outputs.index, 4)].reset_index(drop=True)
    seen = np.repeat(truth, 4, axis=0) ^ (rng.random((len(single), 3)) < 0.1)
    noisy = single["quality_unbiased"] + rng.integers(-1, 2, len(single))
    single[ERRORS] = seen.astype(float)
    single = single.assign(
        quality_biased=noisy.clip(1, 5), rater_id=rng.integers(20, size=1200)
    )
    outputs["quality_biased"] = (
        single.groupby("item_id")["quality_biased"].mean().to_numpy()
    )
    outputs["harmful"] = single["harmful"] = 0.0
    return error_costs.label_tables(outputs, single, EMPTY)


@pytest.fixture(scope="module")
def result(labelled):
    return error_costs.cost_curve(labelled, EMPTY, 5, np.random.default_rng(2))


def chosen(table: pd.DataFrame, **choice) -> pd.Series:
    known = {"score": "unbiased", "answers": "all", "refusals": "kept"} | choice
    return (table[list(known)] == pd.Series(known)).all(axis="columns")


def costs(result, **choice) -> pd.Series:
    return result.estimate[chosen(result.specifications, **choice)].squeeze()


@pytest.mark.parametrize(("labels", "alpha"), [("mean", 0.003), ("Dawid–Skene", 0.03)])
def test_lasso_weights_are_those_of_one_lasso(labelled, result, labels, alpha):
    expected = -lasso.lasso(labelled[labels], EMPTY, "unbiased", alpha)
    found = costs(result, labels=labels, model=f"Lasso, {alpha}")
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_least_squares_on_a_part_without_refusals(labelled, result):
    table = labelled["mode, ties low"]
    part = table[(table["system"] != "c") & ~table["refused"]]
    kept = [error for error in ERRORS if part[error].any()]
    expected = -lasso.ols(part, kept, "mean of both", "prompt_id")["estimate"][kept]
    choice = {
        "labels": "mode, ties low",
        "model": "least squares",
        "score": "mean of both",
    }
    found = costs(result, answers="without c", refusals="left out", **choice)
    np.testing.assert_allclose(found[kept], expected, atol=1e-6)
    assert found["harmful"] == 0


def test_ordinal_models_are_those_of_one_fit(labelled, result):
    rows = labelled[error_costs.SINGLE]
    expected = -ordinal.fit(rows, ERRORS, "biased").effects(rows).value
    found = costs(result, labels=error_costs.SINGLE, model="ordinal", score="biased")
    np.testing.assert_allclose(found, [*expected, 0])


def test_draws_spread_as_cluster_robust_errors_say(labelled):
    many = error_costs.cost_curve(
        {"mean": labelled["mean"]}, ERRORS, 400, np.random.default_rng(3)
    )
    loss, draws = many.lead("factuality")
    exact = lasso.ols(labelled["mean"], ERRORS, "unbiased", "prompt_id").loc[
        "factuality"
    ]
    place = np.flatnonzero(chosen(loss, model="least squares"))[0]
    assert draws[:, place].std() == pytest.approx(exact["standard_error"], rel=0.15)
    assert loss["standard_error"].iloc[place] == pytest.approx(draws[:, place].std())
    assert loss["df"].iloc[place] == 59


def test_lead_is_the_difference_of_two_weights(result):
    lead, draws = result.lead("refusal", "factuality")
    loss, loss_draws = result.lead("factuality")
    cost, cost_draws = result.lead("refusal")
    shared = loss.index.intersection(cost.index)
    assert lead.index.equals(shared)
    expected = cost.loc[shared, "estimate"] - loss.loc[shared, "estimate"]
    np.testing.assert_allclose(lead["estimate"], expected)
    first, second = loss.index.get_indexer(shared), cost.index.get_indexer(shared)
    np.testing.assert_allclose(draws, cost_draws[:, second] - loss_draws[:, first])


def test_every_combination_is_computed_or_listed_and_rare_errors_are_not_estimated(
    result,
):
    assert len(result.specifications) + len(result.left_out) == 7 * 3 * 5 * 8 * 2
    reasons = result.left_out["reason"].value_counts()
    assert reasons["an ordinal model needs single ratings"] == 6 * 3 * 8 * 2
    assert (
        reasons["the form of the unbiased score did not ask about errors"]
        == 2 * 5 * 8 * 2
    )
    enough = result.cases >= error_costs.LEAST_CASES
    assert not enough["harmful"].any()
    assert result.lead("harmful")[0].empty
    with_refusals = result.cases.index[enough["refusal"]]
    assert 0 < len(with_refusals) < len(result.cases)
    assert result.lead("refusal")[0].index.tolist() == with_refusals.tolist()


def test_ordinal_models_without_finite_odds_are_listed(labelled):
    table = labelled[error_costs.SINGLE]
    table = table.assign(refusal=(table["biased"] == 1).astype(float))
    found = error_costs.cost_curve(
        {error_costs.SINGLE: table}, ERRORS, 2, np.random.default_rng(4)
    )
    assert "ordinal" not in set(found.specifications["model"])
    assert "refusal has no finite odds in an ordinal model" in set(
        found.left_out["reason"]
    )


def test_permuted_weights_are_those_of_permuted_labels(labelled, result):
    loss, _ = result.lead("factuality")
    loss = loss[chosen(loss, model="Lasso, 0.01", answers="without a", score="biased")]
    order = permute_within(labelled["mean"]["prompt_id"], 1, np.random.default_rng(5))[
        0
    ]
    orders = np.array([np.arange(len(order)), order])
    found = error_costs.permuted_costs(labelled, EMPTY, "factuality", loss, orders)
    np.testing.assert_allclose(found[0], loss["estimate"], atol=1e-4)
    for labels, weight in zip(loss["labels"], found[1], strict=True):
        table = labelled[labels]
        marks = table["factuality"].to_numpy().reshape(len(order), -1)
        part = table.assign(factuality=marks[order].ravel())[table["system"] != "a"]
        expected = -lasso.lasso(part, ERRORS, "biased", 0.01)["factuality"]
        assert weight == pytest.approx(expected, abs=1e-4)


def test_an_item_with_too_few_rows_lends_them_again():
    items = pd.Series(["a", "a", "a", "b"])
    assert error_costs._row_orders(items, np.array([[1, 0]])).tolist() == [[3, 3, 3, 0]]
