"""Changes of the gap: those of `rates.arm_contrasts`, hand-computed rates, permutations."""

import numpy as np
import pandas as pd
import pytest

from helpers.beyond import crowd, robustness
from helpers.stats import rates
from helpers.studies import hosking
from helpers.studies.hosking_submissions import single_ratings

ARMS = ("low", "high")


def make_answers(n_prompts: int = 50, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    n_rows = 5 * n_prompts
    answers = pd.DataFrame({"prompt_id": rng.permutation(np.repeat(np.arange(n_prompts), 5))})
    answers["task"] = np.where(answers["prompt_id"] % 2, "x", "y")
    answers["system"] = rng.choice(list("ab"), n_rows)
    answers["arm"] = rng.choice(["low", "base", "high"], n_rows)
    answers["n_ratings"] = rng.choice([4, 8], n_rows)
    answers["refusal"] = rng.choice([0.0, 0.0, 0.0, 0.5, 1.0], n_rows)
    answers["mean"] = rng.integers(0, 5, n_rows) / 4
    answers["mode"] = (answers["mean"] > 0.5) * 1.0
    seen = answers["prompt_id"] < n_prompts // 2
    answers["expert"] = pd.Series(rng.integers(2, size=n_rows) * 1.0).where(seen)
    answers["expert_refusal"] = pd.Series(rng.choice([0.0, 0.0, 1.0], n_rows)).where(seen)
    return answers


@pytest.fixture(scope="module")
def answers():
    return make_answers()


@pytest.fixture(scope="module")
def specified(answers):
    return robustness.gap_choices(answers, ["mean", "mode"])[0]


def changes(answers, specified):
    return robustness.GapDesign(answers, specified).changes(answers["arm"].to_numpy(), ARMS)


def pick(specified, **choice) -> int:
    known = {"labels": "mean", "counted": "answers", "crowd": "all answers", "answers": "all"}
    known |= {"refusals": "majority"} | choice
    return specified.index[(specified[list(known)] == pd.Series(known)).all(axis="columns")].item()


@pytest.mark.parametrize("rule", rates.REFUSAL_RULES)
@pytest.mark.parametrize("crowd", robustness.CROWD)
def test_answers_that_count_the_same_give_the_contrasts_of_confounds(
    answers, specified, rule, crowd
):
    experts = answers[answers["expert"].notna()]
    labels = experts.drop(columns="refusal").rename(columns={"expert_refusal": "refusal"})
    labels = labels.assign(mode=labels["expert"])
    table = answers if crowd == "all answers" else experts
    expected = rates.arm_contrasts(
        rates.drop_refusals(table, rule),
        rates.drop_refusals(labels, rule),
        ["mode"],
        ARMS,
        2000,
        np.random.default_rng(1),
    ).set_index("labels")
    found = changes(answers, specified)
    place = pick(specified, labels="mode", refusals=rule, crowd=crowd)
    assert found.estimate[place] == pytest.approx(expected.loc["gap", "estimate"])
    width = expected.loc["gap", "high"] - expected.loc["gap", "low"]
    assert 2 * 1.96 * found.standard_error[place] == pytest.approx(width, rel=0.15)


def rate(rows: pd.DataFrame, column: str) -> float:
    return 100 * rows[column].mean()


def test_marks_and_prompts_count_as_computed_by_hand(answers, specified):
    found = changes(answers, specified)
    kept = answers[answers["refusal"] <= 0.5]
    labelled = answers[answers["expert_refusal"] <= 0.5]
    by_mark, by_prompt = 0.0, 0.0
    for arm, sign in (("low", -1), ("high", 1)):
        crowd, expert = kept[kept["arm"] == arm], labelled[labelled["arm"] == arm]
        by_mark += sign * 100 * np.average(crowd["mean"], weights=crowd["n_ratings"])
        by_mark -= sign * rate(expert, "expert")
        by_prompt += sign * 100 * crowd.groupby("prompt_id")["mean"].mean().mean()
        by_prompt -= sign * 100 * expert.groupby("prompt_id")["expert"].mean().mean()
    assert found.estimate[pick(specified, counted="marks")] == pytest.approx(by_mark)
    assert found.estimate[pick(specified, counted="prompts")] == pytest.approx(by_prompt)


def test_parts_of_the_answers_are_those_of_the_part_alone(answers, specified):
    part = answers[answers["task"] == "x"].reset_index(drop=True)
    alone = robustness.gap_choices(part, ["mean", "mode"])[0]
    whole, single = changes(answers, specified), changes(part, alone)
    for counted in robustness.COUNTED:
        here = pick(specified, counted=counted, answers="only x")
        there = pick(alone, counted=counted)
        assert whole.estimate[here] == pytest.approx(single.estimate[there])
        assert whole.standard_error[here] == pytest.approx(single.standard_error[there])


def test_influence_adds_up_to_the_error(answers, specified):
    found = changes(answers, specified)
    np.testing.assert_allclose(found.influence.sum(axis=0), 0, atol=1e-9)
    n_prompts = robustness.GapDesign(answers, specified).n_expert_prompts
    expected = np.sqrt((found.influence**2).sum(axis=0) * n_prompts / (n_prompts - 1))
    np.testing.assert_allclose(found.standard_error, expected)


def test_order_of_rows_does_not_matter(answers, specified):
    shuffled = answers.sample(frac=1, random_state=1)
    first, second = changes(answers, specified), changes(shuffled, specified)
    np.testing.assert_allclose(first.estimate, second.estimate)
    np.testing.assert_allclose(first.standard_error, second.standard_error)


def test_permuted_arms_are_those_of_relabelled_answers(answers, specified):
    design = robustness.GapDesign(answers, specified)
    orders = np.array([np.arange(len(answers)), np.arange(len(answers))[::-1]])
    estimates, errors = design.permuted(answers["arm"].to_numpy(), ARMS, orders)
    backwards = answers.assign(arm=answers["arm"].to_numpy()[::-1])
    for table, estimate, error in zip((answers, backwards), estimates, errors, strict=True):
        expected = changes(table, specified)
        np.testing.assert_allclose(estimate, expected.estimate)
        np.testing.assert_allclose(error, expected.standard_error)


def test_only_the_mean_counts_marks(answers):
    _, left_out = robustness.gap_choices(answers, ["mean", "mode"])
    assert set(left_out["labels"]) == {"mode"}
    assert set(left_out["counted"]) == {"marks"}


def test_labels_must_be_complete(answers, specified):
    with pytest.raises(ValueError, match="column 'mode' has 1 missing value, first in row 3"):
        robustness.GapDesign(answers.assign(mode=answers["mode"].drop(3)), specified)
    seen = answers.index[answers["expert"].notna()][0]
    broken = answers.assign(expert_refusal=answers["expert_refusal"].drop(seen))
    with pytest.raises(ValueError, match="column 'expert_refusal' has 1 missing value"):
        robustness.GapDesign(broken, specified)


def test_the_paper_is_one_of_the_specifications(real_data):
    study, experts = hosking.load_experiment_2(real_data), hosking.load_experts(real_data)
    labels = experts.labels[experts.labels["batch"] == "main"]
    single = single_ratings(2, "errors", real_data)
    answers = robustness.rated_answers(study.outputs(), single, labels, "factuality")
    specified, _ = robustness.gap_choices(answers, crowd.RULES)
    design = robustness.GapDesign(answers, specified)
    found = design.changes(answers["arm"].to_numpy(), ("assertive_low", "assertive_high"))
    place = pick(specified, labels="mode, ties halved")
    assert found.estimate[place] == pytest.approx(-16.92, abs=0.01)
    assert design.n_expert_prompts[place] == 60
