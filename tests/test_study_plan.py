import numpy as np
import pandas as pd
import pytest

from helpers.beyond import study_design
from helpers.beyond.study_design import draw, example_model


@pytest.fixture(scope="module")
def outputs():
    return draw(example_model(), 1000, 3, np.random.default_rng(0))


def test_cost_by_hand():
    pay = study_design.Pay(0.30, 0.15, 30.0, 2.0)
    assert pay.per_output(4) == pytest.approx(1.80)
    assert pay.per_output(4, expert_share=0.2) == pytest.approx(2.00)
    assert pay.per_output(4, expert_share=0.2, scored=False) == pytest.approx(1.40)


def test_experts_replace_the_crowd_in_a_share_of_prompts(outputs):
    crowd, mixed, expert = (
        study_design.with_expert_labels(outputs, 3, share, 0) for share in (0.0, 0.3, 1.0)
    )
    assert crowd.equals(outputs.table(3))
    assert np.array_equal(expert["refusal"], outputs.expert.ravel())
    changed = (mixed["refusal"] != crowd["refusal"]).groupby(mixed["prompt_id"]).any()
    could = (expert["refusal"] != crowd["refusal"]).groupby(mixed["prompt_id"]).any()
    assert changed.sum() / could.sum() == pytest.approx(0.3, abs=0.06)


def test_more_raters_and_more_prompts_give_more_power(outputs):
    tables = {number: outputs.table(number) for number in (1, 3)}
    found = study_design.loss_power(tables, pd.Series({"refusal": 1.0}), [4, 12], 300, 0)[
        "estimate"
    ]
    assert found[1, 4, "refusal"] < found[1, 12, "refusal"]
    assert found[1, 4, "refusal"] < found[3, 4, "refusal"]


def test_a_gain_is_not_detected_as_a_loss(outputs):
    found = study_design.loss_power(
        {1: outputs.table(1)}, pd.Series({"refusal": -1.0}), [20], 50, 0
    )
    assert found["estimate"].item() == 0


def test_gaps_are_those_of_the_population(outputs):
    power = study_design.gap_power(outputs, [3], [(50, 50)], 20, 0)
    gap = 100 * (outputs.labels(3).mean() - outputs.expert.mean())
    assert power["gap"].item() == pytest.approx(gap)


def test_results_do_not_depend_on_the_run(outputs):
    first, second = (study_design.gap_power(outputs, [1], [(30, 10)], 20, 5) for _ in range(2))
    pd.testing.assert_frame_equal(first, second)


def test_needed_outputs_are_counted_in_outputs():
    index = pd.MultiIndex.from_product(
        [["refusal"], [1, 3], [20, 80]], names=["error", "raters", "prompts"]
    )
    shares = np.repeat([[0.5], [0.8], [0.8], [0.9]], 3, axis=1)
    power = pd.DataFrame(shares, index, ["estimate", "low", "high"])
    needed = study_design.outputs_needed(power, ["error", "raters"], 5)
    assert needed["estimate"].round().to_dict() == {("refusal", 1): 400.0, ("refusal", 3): 100.0}
