"""Four findings in many specifications: as single analyses compute them, resampled, by hand."""

import numpy as np
import pandas as pd
import pytest

from helpers.robustness import crowd, curves
from helpers.robustness.specifications import permute_within
from helpers.stats import aspects, lasso, ordinal, rates
from helpers.stats.moments import cluster_moments
from helpers.studies import chatbench, kamoda

ERRORS = ["refusal", "factuality", "formatting"]
EMPTY = [*ERRORS, "harmful"]
ASPECTS = list(kamoda.ASPECTS)
SCALES = ("acceptability", kamoda.IDEALS, kamoda.RANGES)
STEPS = {"factuality": 3, "amount_info": 1, "formality": 1}
ARMS = ("low", "high")
USERS = list(chatbench.CONDITIONS.values())


def pick(table: pd.DataFrame, **choice) -> pd.Series:
    """The one specification with these choices."""
    found = table[(table[list(choice)] == pd.Series(choice)).all(axis="columns")]
    assert len(found) == 1
    return found.iloc[0]


def pick_aspects(table: pd.DataFrame, *choice: str) -> pd.Series:
    columns = ("ratings", "model", "weight per", "answers")
    rest = ("single", "no intercept", "whole scale", "all")[len(choice) :]
    return pick(table, **dict(zip(columns, (*choice, *rest), strict=True)))


@pytest.fixture(scope="module")
def labelled() -> dict[str, pd.DataFrame]:
    """Four marks for each of five outputs per prompt; an error costs a point of the score."""
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
    return curves.label_tables(outputs, single, EMPTY)


@pytest.fixture(scope="module")
def result(labelled):
    return curves.cost_curve(labelled, EMPTY, 5, np.random.default_rng(2))


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
    rows = labelled[curves.SINGLE]
    expected = -ordinal.fit(rows, ERRORS, "biased").effects(rows).value
    found = costs(result, labels=curves.SINGLE, model="ordinal", score="biased")
    np.testing.assert_allclose(found, [*expected, 0])


def test_draws_spread_as_cluster_robust_errors_say(labelled):
    many = curves.cost_curve(
        {"mean": labelled["mean"]}, ERRORS, 400, np.random.default_rng(3)
    )
    loss, draws = many.lead("factuality")
    exact = lasso.ols(labelled["mean"], ERRORS, "unbiased", "prompt_id").loc[
        "factuality"
    ]
    place = np.flatnonzero(chosen(loss, model="least squares"))[0]
    assert draws[:, place].std() == pytest.approx(exact["standard_error"], rel=0.15)
    assert loss["standard_error"].iloc[place] == pytest.approx(draws[:, place].std())
    assert loss["freedom"].iloc[place] == 59


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
    assert len(result.too_rare(["harmful"])) == len(result.specifications)
    few = result.too_rare(["refusal"])
    assert set(few["reason"]) == {"fewer than 5 cases of refusal"}
    assert set(few.index) ^ set(result.lead("refusal")[0].index) == set(
        result.estimate.index
    )


def test_ordinal_models_without_finite_odds_are_listed(labelled):
    table = labelled[curves.SINGLE]
    table = table.assign(refusal=(table["biased"] == 1).astype(float))
    found = curves.cost_curve(
        {curves.SINGLE: table}, ERRORS, 2, np.random.default_rng(4)
    )
    assert "ordinal" not in set(found.specifications["model"])
    assert "refusal has no finite odds in an ordinal model" in set(
        found.left_out["reason"]
    )


def test_ranks_count_places_by_hand_and_ties_rank_nobody():
    models = pd.DataFrame({"model": ["Lasso, 0.01", "least squares", "ordinal"]})
    estimate = pd.DataFrame(
        {"a": [2.0, 1.0, 9.0], "b": [0.0, 3.0, 9.0], "c": [1.0, 2.0, 1.0]}
    )
    cases = pd.DataFrame({"a": [5.0, 9.0, 9.0], "b": [9.0] * 3, "c": [9.0, 4.0, 9.0]})
    draws = np.array([[[0.6] * 3] * 3, [[-0.6] * 3] * 3])
    freedom = np.array([1e6, 9, 9])
    whole = curves.WeightCurve(models, models, estimate, draws, cases, freedom)
    table = curves.ranks(whole.part(models["model"] != "ordinal"))
    places = [
        "specifications",
        "first",
        "second",
        "third",
        "not zero",
        "significant",
        "median",
    ]
    assert table.loc["a", places].tolist() == [2, 50, 50, 0, 100, 50, 1.5]
    assert table.loc["b", places].tolist() == [2, 50, 0, 0, 50, 50, 1.5]
    assert table.loc["c", places].tolist() == [1, 0, 100, 0, 100, 0, 1]
    tied = curves.ranks(whole.part(models["model"] == "ordinal"))
    assert tied["first"].tolist() == tied["second"].tolist() == [0, 0, 0]
    assert tied.loc["c", "third"] == 100


def test_permuted_weights_are_those_of_permuted_labels(labelled, result):
    loss, _ = result.lead("factuality")
    loss = loss[chosen(loss, model="Lasso, 0.01", answers="without a", score="biased")]
    order = permute_within(labelled["mean"]["prompt_id"], 1, np.random.default_rng(5))[
        0
    ]
    orders = np.array([np.arange(len(order)), order])
    found = curves.permuted_costs(labelled, EMPTY, "factuality", loss, orders)
    np.testing.assert_allclose(found[0], loss["estimate"], atol=1e-4)
    for labels, weight in zip(loss["labels"], found[1], strict=True):
        table = labelled[labels]
        marks = table["factuality"].to_numpy().reshape(len(order), -1)
        part = table.assign(factuality=marks[order].ravel())[table["system"] != "a"]
        expected = -lasso.lasso(part, ERRORS, "biased", 0.01)["factuality"]
        assert weight == pytest.approx(expected, abs=1e-4)


def test_an_item_with_too_few_rows_lends_them_again():
    items = pd.Series(["a", "a", "a", "b"])
    assert curves._row_orders(items, np.array([[1, 0]])).tolist() == [[3, 3, 3, 0]]


@pytest.fixture(scope="module")
def tables():
    """Tables of which that of rater pairs lacks a question in what people wrote."""
    ratings = kamoda.load("simulated").ratings
    half = ratings[ratings["question_id"].isin(ratings["question_id"].unique()[::2])]
    found = curves.distance_tables(half, ASPECTS, *SCALES)
    single = found["single"]
    human = single["system"].str.startswith("human")
    lost = human & (single["question_id"] == single["question_id"].iloc[0])
    return found | {curves.BETWEEN: single[~lost]}


@pytest.fixture(scope="module")
def curve(tables):
    return curves.aspect_leads(
        tables, ASPECTS, "factuality", 40, np.random.default_rng(1), STEPS
    )


def lead(weights: pd.Series) -> float:
    return weights["factuality"] - weights.drop("factuality").max()


@pytest.mark.parametrize(
    "ratings", ["single", "mean", "mean of distances", "mode, ties low"]
)
def test_weights_without_intercept_are_those_of_one_regression(tables, curve, ratings):
    rows = tables[ratings]
    expected = aspects.weights(rows, ASPECTS, "missing")
    found = pick_aspects(curve[0], ratings)
    assert found["estimate"] == pytest.approx(lead(expected))
    scaled = pick_aspects(curve[0], ratings, "no intercept", "standard deviation")
    assert scaled["estimate"] == pytest.approx(
        lead(expected * rows[ASPECTS].std(ddof=0))
    )
    per_step = pick_aspects(curve[0], ratings, "no intercept", "step")
    assert per_step["estimate"] == pytest.approx(lead(expected / pd.Series(STEPS)))


def test_weights_with_intercept_in_a_part_of_the_answers(tables, curve):
    rows = tables["single"][tables["single"]["system"] != "human_top"]
    fit = lasso.ols(rows, ASPECTS, "missing", "question_id")["estimate"][ASPECTS]
    found = pick_aspects(
        curve[0], "single", "intercept", "whole scale", "without human_top"
    )
    assert found["estimate"] == pytest.approx(lead(fit))


def test_within_raters_is_regression_with_a_level_for_each_rater(tables, curve):
    rows = tables["single"]
    full = np.column_stack(
        [rows[ASPECTS], pd.get_dummies(rows["rater_id"], dtype=float)]
    )
    slopes = np.linalg.lstsq(full, rows["missing"].to_numpy(), rcond=None)[0][:3]
    found = pick_aspects(curve[0], curves.WITHIN, "intercept")
    assert found["estimate"] == pytest.approx(lead(pd.Series(slopes, ASPECTS)))


def test_between_raters_is_regression_on_pairs_even_where_a_question_is_missing(
    tables, curve
):
    rows = tables[curves.BETWEEN]
    rows = rows[rows["system"].str.startswith("human")]
    pairs = aspects.rater_pairs(
        rows, ASPECTS, "missing", "item_id", "question_id"
    ).total()
    slopes = pd.Series(np.linalg.solve(pairs.xx[0], pairs.xy[0]), ASPECTS)
    found = pick_aspects(
        curve[0], curves.BETWEEN, "no intercept", "whole scale", "only human"
    )
    assert found["estimate"] == pytest.approx(lead(slopes))


def test_ordinal_effects_are_those_of_one_fit(tables, curve):
    rows = tables["single"]
    effects = ordinal.fit(rows, ASPECTS, "missing").effects(rows)
    found = pick_aspects(curve[0], "single", "ordinal")
    assert found["estimate"] == pytest.approx(lead(effects.value))
    difference = effects.pick(["factuality"]).minus(effects.pick([found["next"]]))
    exact = difference.table(rows[["question_id"]])["standard_error"]
    # 3 se of 40 draws
    assert found["standard_error"] == pytest.approx(exact.item(), rel=0.35)


def test_draws_spread_like_the_bootstrap_of_one_specification(tables, curve):
    moments = cluster_moments(tables["single"], ASPECTS, "missing", "question_id")
    draws = aspects.bootstrap_weights(moments, 400, np.random.default_rng(2))
    found = pick_aspects(curve[0])
    spread = (draws["factuality"] - draws[found["next"]]).std()
    assert found["standard_error"] == pytest.approx(spread, rel=0.35)


def test_every_combination_of_aspects_is_computed_or_listed(curve):
    table, draws, left_out = curve
    assert len(table) + len(left_out) == 9 * 3 * 3 * 7
    assert draws.shape == (40, len(table))
    assert (left_out["reason"] != "").all()


@pytest.fixture(scope="module")
def answers() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    answers = pd.DataFrame({"prompt_id": rng.permutation(np.repeat(np.arange(50), 5))})
    answers["task"] = np.where(answers["prompt_id"] % 2, "x", "y")
    answers["system"] = rng.choice(list("ab"), 250)
    answers["arm"] = rng.choice(["low", "base", "high"], 250)
    answers["n_ratings"] = rng.choice([4, 8], 250)
    answers["refusal"] = rng.choice([0.0, 0.0, 0.0, 0.5, 1.0], 250)
    answers["mean"] = rng.integers(0, 5, 250) / 4
    answers["mode"] = (answers["mean"] > 0.5) * 1.0
    seen = answers["prompt_id"] < 25
    answers["expert"] = pd.Series(rng.integers(2, size=250) * 1.0).where(seen)
    answers["expert_refusal"] = pd.Series(rng.choice([0.0, 0.0, 1.0], 250)).where(seen)
    return answers


def changes(answers: pd.DataFrame) -> tuple[pd.DataFrame, curves.GapDesign]:
    """Specifications with their estimates and errors."""
    specified, _ = curves.gap_choices(answers, ["mean", "mode"])
    design = curves.GapDesign(answers, specified)
    found = design.changes(answers["arm"].to_numpy(), ARMS)
    return specified.assign(estimate=found[0], error=found[1]), design


def pick_gap(table: pd.DataFrame, **choice) -> pd.Series:
    usual = {
        "labels": "mean",
        "counted": "answers",
        "crowd": "different answers",
        "answers": "all",
    }
    return pick(table, **usual | {"refusals": "majority"} | choice)


@pytest.mark.parametrize(
    ("rule", "crowd"), [("majority", "different answers"), ("any", "answers in common")]
)
def test_answers_that_count_the_same_give_the_contrasts_of_rates(answers, rule, crowd):
    experts = answers[answers["expert"].notna()]
    labels = experts.drop(columns="refusal").rename(
        columns={"expert_refusal": "refusal"}
    )
    labels = labels.assign(mode=labels["expert"])
    sides = (answers if crowd == "different answers" else experts, labels)
    kept = [rates.drop_refusals(side, rule) for side in sides]
    if crowd == "answers in common":
        both = kept[0].index.intersection(kept[1].index)
        kept = [side.loc[both] for side in kept]
    tone, rng = {"tone": ARMS}, np.random.default_rng(1)
    expected = rates.arm_contrasts(*kept, ["mode"], tone, 1000, rng).loc[
        ("tone", "gap", "mode")
    ]
    found = pick_gap(changes(answers)[0], labels="mode", refusals=rule, crowd=crowd)
    assert found["estimate"] == pytest.approx(expected["estimate"])
    width = expected["high"] - expected["low"]
    assert 2 * 1.96 * found["error"] == pytest.approx(width, rel=0.15)


def test_marks_and_prompts_count_as_computed_by_hand(answers):
    table, _ = changes(answers)
    crowd, expert = (
        answers.query("refusal <= 0.5"),
        answers.query("expert_refusal <= 0.5"),
    )
    by_mark, by_prompt = 0.0, 0.0
    for arm, sign in (("low", -100), ("high", 100)):
        here, known = crowd[crowd["arm"] == arm], expert[expert["arm"] == arm]
        by_mark += sign * np.average(here["mean"], weights=here["n_ratings"])
        by_mark -= sign * known["expert"].mean()
        by_prompt += sign * here.groupby("prompt_id")["mean"].mean().mean()
        by_prompt -= sign * known.groupby("prompt_id")["expert"].mean().mean()
    assert pick_gap(table, counted="marks")["estimate"] == pytest.approx(by_mark)
    assert pick_gap(table, counted="prompts")["estimate"] == pytest.approx(by_prompt)


@pytest.mark.parametrize(
    ("refusals", "limit"), [("none", 1), ("majority", 0.5), ("any", 0)]
)
def test_answers_in_common_are_the_same_answers_with_the_same_weights(
    answers, refusals, limit
):
    table, _ = changes(answers)
    refused = answers[["refusal", "expert_refusal"]].max(axis="columns")
    common = answers[answers["expert"].notna() & (refused <= limit)]
    gap = common["mean"] - common["expert"]
    by_answer, by_mark = 0.0, 0.0
    for arm, sign in (("low", -100), ("high", 100)):
        here = common["arm"] == arm
        by_answer += sign * gap[here].mean()
        by_mark += sign * np.average(gap[here], weights=common.loc[here, "n_ratings"])
    same = {"crowd": "answers in common", "refusals": refusals}
    assert pick_gap(table, **same)["estimate"] == pytest.approx(by_answer)
    assert pick_gap(table, counted="marks", **same)["estimate"] == pytest.approx(
        by_mark
    )


def test_parts_of_the_answers_are_those_of_the_part_alone_in_any_order(answers):
    whole, _ = changes(answers)
    part = answers[answers["task"] == "x"].sample(frac=1, random_state=1)
    alone, design = changes(part.reset_index(drop=True))
    whole_part = (alone["answers"] == "all") & (alone["crowd"] == "different answers")
    assert (design.n_expert_prompts[whole_part] == 12).all()
    for counted in curves.COUNTED:
        here = pick_gap(whole, counted=counted, answers="only x")
        there = pick_gap(alone, counted=counted)
        assert here[["estimate", "error"]].tolist() == pytest.approx(
            there[["estimate", "error"]].tolist()
        )


def test_influence_adds_up_and_permuted_arms_are_those_of_relabelled_answers(answers):
    table, design = changes(answers)
    arm = answers["arm"].to_numpy()
    _, _, influence = design.changes(arm, ARMS)
    np.testing.assert_allclose(influence.sum(axis=0), 0, atol=1e-9)
    orders = np.array([np.arange(250), np.arange(250)[::-1]])
    estimates, errors = design.permuted(arm, ARMS, orders)
    backwards, _ = changes(answers.assign(arm=arm[::-1]))
    np.testing.assert_allclose(estimates, [table["estimate"], backwards["estimate"]])
    np.testing.assert_allclose(errors, [table["error"], backwards["error"]])


def test_marks_of_single_raters_are_combined_beside_the_labels_of_experts():
    outputs = pd.DataFrame({"item_id": ["b", "a"], "prompt_id": [2, 1], "arm": "low"})
    outputs = outputs.assign(task="x", system="s", n_ratings=2, refusal=0.0)
    single = pd.DataFrame(
        {"item_id": list("aabb"), "rater_id": list("pqpq"), "scope": [0, 1, 1, 1]}
    )
    experts = pd.DataFrame({"item_id": ["b"], "scope": [1], "refusal": [0]})
    rows = curves.rated_answers(outputs, single, experts, "scope").set_index("item_id")
    assert rows["mean"].to_dict() == {"a": 0.5, "b": 1.0}
    assert rows["mode, ties low"].to_dict() == {"a": 0.0, "b": 1.0}
    assert set(crowd.RULES) < set(rows)
    np.testing.assert_array_equal(
        rows[["expert", "expert_refusal"]], [[np.nan] * 2, [1, 0]]
    )


@pytest.fixture(scope="module")
def cells():
    return chatbench.accuracies()


@pytest.fixture(scope="module")
def accuracies(cells):
    """Specifications with their estimates and errors, and what each accuracy adds to them."""
    table, weights = curves.accuracy_curve(
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
        table, "AI letter few shot", "both", curves.EQUAL, "both", 0.0
    )
    assert equal["estimate"] == pytest.approx(difference.mean())
    assert equal["error"] == pytest.approx(
        100 * np.linalg.norm(weights[equal.name] * cells["se"])
    )
    difference = difference.loc["GPT-4o"]
    sizes = chatbench.N_QUESTIONS[difference.index]
    by_size = pick_accuracy(
        table, "AI letter few shot", "both", curves.SIZES, "GPT-4o", 0.0
    )
    assert by_size["estimate"] == pytest.approx(np.average(difference, weights=sizes))


def test_null_draws_have_the_errors_and_correlations_of_the_specifications(
    accuracies, cells
):
    table, weights = accuracies
    draws = curves.null_draws(cells, weights, 4000, np.random.default_rng(1))
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
