"""Gaps of crowd and experts in many specifications: as single analyses, by hand."""

import numpy as np
import pandas as pd
import pytest

from helpers.robustness import crowd, crowd_gap

ARMS = ("low", "high")


def pick(table: pd.DataFrame, **choice) -> pd.Series:
    """The one specification with these choices."""
    found = table[(table[list(choice)] == pd.Series(choice)).all(axis="columns")]
    assert len(found) == 1
    return found.iloc[0]


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


def changes(answers: pd.DataFrame) -> tuple[pd.DataFrame, crowd_gap.GapDesign]:
    """Specifications with their estimates and errors."""
    specified, _ = crowd_gap.gap_choices(answers, ["mean", "mode"])
    design = crowd_gap.GapDesign(answers, specified)
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
    for counted in crowd_gap.COUNTED:
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
    rows = crowd_gap.rated_answers(outputs, single, experts, "scope").set_index(
        "item_id"
    )
    assert rows["mean"].to_dict() == {"a": 0.5, "b": 1.0}
    assert rows["mode, ties low"].to_dict() == {"a": 0.0, "b": 1.0}
    assert set(crowd.RULES) < set(rows)
    np.testing.assert_array_equal(
        rows[["expert", "expert_refusal"]], [[np.nan] * 2, [1, 0]]
    )
