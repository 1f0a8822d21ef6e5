"""Aspects, gaps and accuracies in many specifications: those of single analyses, and by hand."""

import numpy as np
import pandas as pd
import pytest

from helpers.beyond import crowd, robustness
from helpers.stats import aspects, lasso, ordinal, rates
from helpers.stats.moments import cluster_moments
from helpers.studies import chatbench, kamoda

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
def tables():
    """Tables of which that of rater pairs lacks a question in what people wrote."""
    ratings = kamoda.load("simulated").ratings
    half = ratings[ratings["question_id"].isin(ratings["question_id"].unique()[::2])]
    found = robustness.tables(half, ASPECTS, *SCALES)
    single = found["single"]
    human = single["system"].str.startswith("human")
    lost = human & (single["question_id"] == single["question_id"].iloc[0])
    return found | {robustness.BETWEEN: single[~lost]}


@pytest.fixture(scope="module")
def curve(tables):
    return robustness.gaps(tables, ASPECTS, "factuality", 40, np.random.default_rng(1), STEPS)


def lead(weights: pd.Series) -> float:
    return weights["factuality"] - weights.drop("factuality").max()


@pytest.mark.parametrize("ratings", ["single", "mean", "mean of distances", "mode, ties low"])
def test_weights_without_intercept_are_those_of_one_regression(tables, curve, ratings):
    rows = tables[ratings]
    expected = aspects.weights(rows, ASPECTS, "missing")
    found = pick_aspects(curve[0], ratings)
    assert found["estimate"] == pytest.approx(lead(expected))
    scaled = pick_aspects(curve[0], ratings, "no intercept", "standard deviation")
    assert scaled["estimate"] == pytest.approx(lead(expected * rows[ASPECTS].std(ddof=0)))
    per_step = pick_aspects(curve[0], ratings, "no intercept", "step")
    assert per_step["estimate"] == pytest.approx(lead(expected / pd.Series(STEPS)))


def test_weights_with_intercept_in_a_part_of_the_answers(tables, curve):
    rows = tables["single"][tables["single"]["system"] != "human_top"]
    fit = lasso.ols(rows, ASPECTS, "missing", "question_id")["estimate"][ASPECTS]
    found = pick_aspects(curve[0], "single", "intercept", "whole scale", "without human_top")
    assert found["estimate"] == pytest.approx(lead(fit))


def test_within_raters_is_regression_with_a_level_for_each_rater(tables, curve):
    rows = tables["single"]
    full = np.column_stack([rows[ASPECTS], pd.get_dummies(rows["rater_id"], dtype=float)])
    slopes = np.linalg.lstsq(full, rows["missing"].to_numpy(), rcond=None)[0][:3]
    found = pick_aspects(curve[0], robustness.WITHIN, "intercept")
    assert found["estimate"] == pytest.approx(lead(pd.Series(slopes, ASPECTS)))


def test_between_raters_is_regression_on_pairs_even_where_a_question_is_missing(tables, curve):
    rows = tables[robustness.BETWEEN]
    rows = rows[rows["system"].str.startswith("human")]
    pairs = aspects.rater_pairs(rows, ASPECTS, "missing", "item_id", "question_id").total()
    slopes = pd.Series(np.linalg.solve(pairs.xx[0], pairs.xy[0]), ASPECTS)
    found = pick_aspects(curve[0], robustness.BETWEEN, "no intercept", "whole scale", "only human")
    assert found["estimate"] == pytest.approx(lead(slopes))


def test_ordinal_effects_are_those_of_one_fit(tables, curve):
    rows = tables["single"]
    effects = ordinal.fit(rows, ASPECTS, "missing").effects(rows)
    found = pick_aspects(curve[0], "single", "ordinal")
    assert found["estimate"] == pytest.approx(lead(effects.value))
    difference = effects.pick(["factuality"]).minus(effects.pick([found["next"]]))
    exact = difference.table(rows[["question_id"]])["standard_error"]
    assert found["standard_error"] == pytest.approx(exact.item(), rel=0.35)  # 3 se of 40 draws


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


def changes(answers: pd.DataFrame) -> tuple[pd.DataFrame, robustness.GapDesign]:
    """Specifications with their estimates and errors."""
    specified, _ = robustness.gap_choices(answers, ["mean", "mode"])
    design = robustness.GapDesign(answers, specified)
    found = design.changes(answers["arm"].to_numpy(), ARMS)
    return specified.assign(estimate=found.estimate, error=found.standard_error), design


def pick_gap(table: pd.DataFrame, **choice) -> pd.Series:
    usual = {"labels": "mean", "counted": "answers", "crowd": "all answers", "answers": "all"}
    return pick(table, **usual | {"refusals": "majority"} | choice)


@pytest.mark.parametrize(
    ("rule", "crowd"), [("majority", "all answers"), ("any", robustness.CROWD[1])]
)
def test_answers_that_count_the_same_give_the_contrasts_of_rates(answers, rule, crowd):
    experts = answers[answers["expert"].notna()]
    labels = experts.drop(columns="refusal").rename(columns={"expert_refusal": "refusal"})
    labels = labels.assign(mode=labels["expert"])
    sides = (answers if crowd == "all answers" else experts, labels)
    kept = (rates.drop_refusals(side, rule) for side in sides)
    tone, rng = {"tone": ARMS}, np.random.default_rng(1)
    expected = rates.arm_contrasts(*kept, ["mode"], tone, 1000, rng).loc[("tone", "gap", "mode")]
    found = pick_gap(changes(answers)[0], labels="mode", refusals=rule, crowd=crowd)
    assert found["estimate"] == pytest.approx(expected["estimate"])
    width = expected["high"] - expected["low"]
    assert 2 * 1.96 * found["error"] == pytest.approx(width, rel=0.15)


def test_marks_and_prompts_count_as_computed_by_hand(answers):
    table, _ = changes(answers)
    crowd, expert = answers.query("refusal <= 0.5"), answers.query("expert_refusal <= 0.5")
    by_mark, by_prompt = 0.0, 0.0
    for arm, sign in (("low", -100), ("high", 100)):
        here, known = crowd[crowd["arm"] == arm], expert[expert["arm"] == arm]
        by_mark += sign * np.average(here["mean"], weights=here["n_ratings"])
        by_mark -= sign * known["expert"].mean()
        by_prompt += sign * here.groupby("prompt_id")["mean"].mean().mean()
        by_prompt -= sign * known.groupby("prompt_id")["expert"].mean().mean()
    assert pick_gap(table, counted="marks")["estimate"] == pytest.approx(by_mark)
    assert pick_gap(table, counted="prompts")["estimate"] == pytest.approx(by_prompt)


def test_parts_of_the_answers_are_those_of_the_part_alone_in_any_order(answers):
    whole, _ = changes(answers)
    part = answers[answers["task"] == "x"].sample(frac=1, random_state=1)
    alone, design = changes(part.reset_index(drop=True))
    assert (design.n_expert_prompts[alone["answers"] == "all"] == 12).all()
    for counted in robustness.COUNTED:
        here = pick_gap(whole, counted=counted, answers="only x")
        there = pick_gap(alone, counted=counted)
        assert here[["estimate", "error"]].tolist() == pytest.approx(
            there[["estimate", "error"]].tolist()
        )


def test_influence_adds_up_and_permuted_arms_are_those_of_relabelled_answers(answers):
    table, design = changes(answers)
    arm = answers["arm"].to_numpy()
    found = design.changes(arm, ARMS)
    np.testing.assert_allclose(found.influence.sum(axis=0), 0, atol=1e-9)
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
    rows = robustness.rated_answers(outputs, single, experts, "scope").set_index("item_id")
    assert rows["mean"].to_dict() == {"a": 0.5, "b": 1.0}
    assert rows["mode, ties low"].to_dict() == {"a": 0.0, "b": 1.0}
    assert set(crowd.RULES) < set(rows)
    np.testing.assert_array_equal(rows[["expert", "expert_refusal"]], [[np.nan] * 2, [1, 0]])


def test_labels_must_be_complete(answers):
    seen = answers.index[answers["expert"].notna()][0]
    with pytest.raises(ValueError, match="column 'expert_refusal' has 1 missing value"):
        changes(answers.assign(expert_refusal=answers["expert_refusal"].drop(seen)))


@pytest.fixture(scope="module")
def cells():
    return chatbench.accuracies()


@pytest.fixture(scope="module")
def accuracies(cells):
    """Specifications with their estimates and errors, and what each accuracy adds to them."""
    specified = robustness.accuracy_choices(cells, chatbench.AI_METHODS, USERS, [0.0, 0.4])
    estimate, error, weights = robustness.accuracy_differences(
        cells, specified, USERS, chatbench.N_QUESTIONS
    )
    return specified.assign(estimate=estimate, error=error), weights


def pick_accuracy(table: pd.DataFrame, *choice) -> pd.Series:
    columns = ("AI alone", "users", "dataset", "model", "correlation")
    return pick(table, **dict(zip(columns, choice, strict=True)))


@pytest.mark.parametrize("correlation", [0.0, 0.4])
def test_single_pairs_give_the_tests_of_the_paper(accuracies, correlation):
    rows = chatbench.comparisons()
    rows = rows[rows["alone"].isin(chatbench.AI_METHODS)]
    columns = [f"{kind}_{who}" for who in ("user_ai", "alone") for kind in ("mean", "se")]
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
    equal = pick_accuracy(table, "AI letter few shot", "both", robustness.EQUAL, "both", 0.0)
    assert equal["estimate"] == pytest.approx(difference.mean())
    assert equal["error"] == pytest.approx(100 * np.linalg.norm(weights[equal.name] * cells["se"]))
    difference = difference.loc["GPT-4o"]
    sizes = chatbench.N_QUESTIONS[difference.index]
    by_size = pick_accuracy(table, "AI letter few shot", "both", robustness.SIZES, "GPT-4o", 0.0)
    assert by_size["estimate"] == pytest.approx(np.average(difference, weights=sizes))


def test_null_draws_have_the_errors_and_correlations_of_the_specifications(accuracies, cells):
    table, weights = accuracies
    draws = robustness.null_draws(cells, weights, 4000, np.random.default_rng(1))
    independent = (table["correlation"] == 0).to_numpy()
    spread = draws[:, independent].std(axis=0)
    np.testing.assert_allclose(spread, table["error"][independent], rtol=0.06)
    assert abs(draws.mean(axis=0)).max() < 0.5
    choice = (USERS[0], "College Math", "GPT-4o", 0.0)
    twin = [pick_accuracy(table, alone, *choice).name for alone in chatbench.AI_METHODS[:2]]
    scaled = weights[twin] * cells["se"].to_numpy()
    covariance = scaled @ scaled.T
    expected = covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])
    assert np.corrcoef(draws[:, twin].T)[0, 1] == pytest.approx(expected, abs=0.05)


def test_missing_accuracies_are_named(cells):
    specified = robustness.accuracy_choices(cells, ["AI free text"], USERS, [0.0])
    fewer = cells[cells["method"] != "AI free text"]
    with pytest.raises(ValueError, match="no accuracy of 'AI free text' with model 'GPT-4o'"):
        robustness.accuracy_differences(fewer, specified, USERS, chatbench.N_QUESTIONS)
