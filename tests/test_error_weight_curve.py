"""Weights in many specifications: those of single regressions, resampled and permuted."""

import numpy as np
import pandas as pd
import pytest

from helpers.beyond import crowd, error_costs
from helpers.beyond.specifications import permute_within
from helpers.stats import lasso, ordinal
from helpers.studies import hosking
from helpers.studies.hosking_submissions import single_ratings

ERRORS = ["refusal", "factuality", "formatting"]
EMPTY = [*ERRORS, "harmful"]


def make_tables(seed: int = 1, n_prompts: int = 60, cost: float = 1.0) -> dict[str, pd.DataFrame]:
    """Four marks for each of five outputs per prompt; an error costs the first rater's score."""
    rng = np.random.default_rng(seed)
    outputs = pd.DataFrame({"prompt_id": np.repeat(np.arange(n_prompts), 5)})
    outputs["item_id"] = [f"item-{number:04d}" for number in range(len(outputs))]
    outputs["system"] = np.tile(list("abcde"), n_prompts)
    outputs["task"] = np.where(outputs["prompt_id"] % 2, "x", "y")
    truth = rng.random((len(outputs), 3)) < [0.1, 0.3, 0.2]
    quality = np.clip(np.round(4 + rng.normal(size=len(outputs)) - cost * truth.sum(axis=1)), 1, 5)
    outputs = outputs.assign(refusal=truth[:, 0] * 1.0, quality_unbiased=quality)
    single = outputs.loc[np.repeat(outputs.index, 4)].reset_index(drop=True)
    seen = np.repeat(truth, 4, axis=0) ^ (rng.random((len(single), 3)) < 0.1)
    single[ERRORS] = seen.astype(float)
    noisy = single["quality_unbiased"] + rng.integers(-1, 2, len(single))
    single = single.assign(
        quality_biased=noisy.clip(1, 5), rater_id=rng.integers(20, size=len(single))
    )
    outputs["quality_biased"] = single.groupby("item_id")["quality_biased"].mean().to_numpy()
    outputs["harmful"] = single["harmful"] = 0.0
    return error_costs.label_tables(outputs, single, EMPTY)


@pytest.fixture(scope="module")
def tables():
    return make_tables()


@pytest.fixture(scope="module")
def result(tables):
    return error_costs.cost_curve(tables, EMPTY, 40, np.random.default_rng(2))


def row(result, **choice) -> pd.Series:
    known = {"score": "unbiased", "answers": "all", "refusals": "kept"} | choice
    found = (result.specifications[list(known)] == pd.Series(known)).all(axis="columns")
    return result.estimate[found].squeeze()


@pytest.mark.parametrize("alpha", [0.003, 0.01, 0.03])
@pytest.mark.parametrize("labels", ["mean", "mode, ties halved", "Dawid–Skene"])
def test_lasso_weights_are_those_of_one_lasso(tables, result, labels, alpha):
    expected = -lasso.lasso(tables[labels], EMPTY, "unbiased", alpha)
    found = row(result, labels=labels, model=f"Lasso, {alpha}")
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_least_squares_on_a_part_without_refusals(tables, result):
    table = tables["mode, ties low"]
    part = table[(table["system"] != "c") & ~table["refused"]]
    kept = [error for error in ERRORS if part[error].any()]
    expected = -lasso.ols(part, kept, "mean of both", "prompt_id")["estimate"][kept]
    found = row(
        result,
        labels="mode, ties low",
        model="least squares",
        answers="without c",
        refusals="left out",
        score="mean of both",
    )
    np.testing.assert_allclose(found[kept], expected, atol=1e-6)
    assert found["harmful"] == 0


def test_ordinal_models_are_those_of_one_fit(tables, result):
    rows = tables[error_costs.SINGLE]
    expected = -ordinal.fit(rows, ERRORS, "biased").effects(rows).value
    found = row(result, labels=error_costs.SINGLE, model="ordinal", score="biased")
    np.testing.assert_allclose(found[ERRORS], expected)
    assert found["harmful"] == 0


def test_draws_spread_as_cluster_robust_errors_say(tables):
    many = error_costs.cost_curve({"mean": tables["mean"]}, ERRORS, 400, np.random.default_rng(3))
    loss, draws = many.weight("factuality")
    exact = lasso.ols(tables["mean"], ERRORS, "unbiased", "prompt_id").loc["factuality"]
    place = np.flatnonzero(
        (loss["model"] == "least squares")
        & (loss["answers"] == "all")
        & (loss["score"] == "unbiased")
        & (loss["refusals"] == "kept")
    )[0]
    assert draws[:, place].std() == pytest.approx(exact["standard_error"], rel=0.15)
    assert loss["standard_error"].iloc[place] == pytest.approx(draws[:, place].std())
    assert loss["freedom"].iloc[place] == 59


def test_lead_is_the_difference_of_two_weights(result):
    lead, draws = result.lead("refusal", "factuality")
    loss, loss_draws = result.weight("factuality")
    cost, cost_draws = result.weight("refusal")
    shared = loss.index.intersection(cost.index)
    assert lead.index.equals(shared)
    assert lead["estimate"].tolist() == pytest.approx(
        (cost.loc[shared, "estimate"] - loss.loc[shared, "estimate"]).tolist()
    )
    first, second = loss.index.get_indexer(shared), cost.index.get_indexer(shared)
    np.testing.assert_allclose(draws, cost_draws[:, second] - loss_draws[:, first])


def test_rare_errors_are_listed_not_estimated(result):
    lost = result.too_rare(["harmful"])
    assert len(lost) == len(result.specifications)
    assert set(lost["reason"]) == {"fewer than 5 cases of harmful"}
    few = result.too_rare(["refusal"])
    assert (result.cases.loc[few.index, "refusal"] < error_costs.LEAST_CASES).all()
    assert not set(few.index) & set(result.weight("refusal")[0].index)


def test_every_combination_is_computed_or_listed(tables, result):
    n_options = 7 * 3 * 5 * 8 * 2
    assert len(result.specifications) + len(result.left_out) == n_options
    reasons = result.left_out["reason"].value_counts()
    assert reasons["an ordinal model needs single ratings"] == 6 * 3 * 8 * 2
    assert reasons["those who gave the unbiased score marked no errors"] == 2 * 5 * 8 * 2


def test_ordinal_models_without_finite_odds_are_listed():
    table = make_tables()[error_costs.SINGLE]
    table = table.assign(refusal=(table["biased"] == 1).astype(float))
    found = error_costs.cost_curve({error_costs.SINGLE: table}, ERRORS, 2, np.random.default_rng(4))
    assert "ordinal" not in set(found.specifications["model"])
    assert "refusal has no finite odds in an ordinal model" in set(found.left_out["reason"])


def test_ranks_count_places(result):
    table = error_costs.ranks(result).drop(index="harmful")
    assert (table[["first", "second", "third"]].sum(axis="columns") <= 100 + 1e-9).all()
    assert (table["median"] > 0).all()
    everywhere = table["specifications"] == len(result.specifications)
    assert everywhere["factuality"]


def test_labels_that_stay_where_they_are_give_the_same_weights(tables, result):
    loss, _ = result.weight("factuality")
    linear = loss[loss["model"] != "ordinal"]
    order = np.arange(len(tables["mean"]))[None]
    found = error_costs.permuted_costs(tables, EMPTY, "factuality", linear, order)
    np.testing.assert_allclose(found[0], linear["estimate"], atol=1e-4)


def test_permuted_weights_are_those_of_permuted_labels(tables, result):
    loss, _ = result.weight("factuality")
    chosen = loss[
        (loss["model"] == "Lasso, 0.01")
        & (loss["answers"] == "without a")
        & (loss["score"] == "biased")
        & (loss["refusals"] == "kept")
    ]
    orders = permute_within(tables["mean"]["prompt_id"], 3, np.random.default_rng(5))
    found = error_costs.permuted_costs(tables, EMPTY, "factuality", chosen, orders)
    for labels, column in zip(chosen["labels"], found.T, strict=True):
        table = tables[labels]
        if labels == error_costs.SINGLE:
            marks = table["factuality"].to_numpy().reshape(-1, 4)
            dealt = [marks[order].ravel() for order in orders]
        else:
            dealt = [table["factuality"].to_numpy()[order] for order in orders]
        for values, weight in zip(dealt, column, strict=True):
            part = table.assign(factuality=values)[table["system"] != "a"]
            expected = -lasso.lasso(part, ERRORS, "biased", 0.01)["factuality"]
            assert weight == pytest.approx(expected, abs=1e-4)


def test_an_item_with_too_few_rows_lends_them_again():
    items = pd.Series(["a", "a", "a", "b"])
    orders = error_costs._row_orders(items, np.array([[1, 0]]))
    assert orders.tolist() == [[3, 3, 3, 0]]


def test_permutation_does_not_refit_ordinal_models(tables, result):
    loss, _ = result.weight("factuality")
    with pytest.raises(ValueError, match="ordinal models are not refitted for each order: leave"):
        error_costs.permuted_costs(tables, EMPTY, "factuality", loss, np.zeros((1, 300), int))


def test_all_tables_need_the_same_prompts(tables):
    fewer = tables["mean"][tables["mean"]["prompt_id"] > 0]
    with pytest.raises(ValueError, match="table 'fewer' has other prompts than the first: give"):
        error_costs.cost_curve(
            {"mean": tables["mean"], "fewer": fewer}, ERRORS, 2, np.random.default_rng(1)
        )


def test_the_paper_is_one_of_the_specifications(real_data):
    study = hosking.load_experiment_1(real_data)
    single = single_ratings(1, "errors", real_data)
    errors = list(hosking.ERRORS_1)
    every = error_costs.label_tables(study.outputs(), single, errors)
    table = every["mode, ties halved"]
    assert set(every) == {*crowd.RULES, error_costs.SINGLE}
    found = error_costs.cost_curve(
        {"mode, ties halved": table}, errors, 2, np.random.default_rng(6)
    )
    weights = row(found, labels="mode, ties halved", model="Lasso, 0.01")
    expected = -lasso.lasso(study.outputs(), errors, "quality_unbiased", 0.01)
    np.testing.assert_allclose(weights, expected, atol=1e-5)
    assert weights["refusal"] == weights.max()
