import numpy as np
import pandas as pd
import pytest

from helpers.beyond.crowd import COLUMNS, fit_classes


def drawn(n_items: int, n_raters: int, seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Marks and expert labels with known probabilities."""
    rng = np.random.default_rng(seed)
    present = rng.random(n_items) < 0.2
    chance = np.where(present, 0.7, 0.05)
    marks = pd.DataFrame(
        {
            "item_id": np.repeat(np.arange(n_items), n_raters),
            "refusal": (rng.random((n_items, n_raters)) < chance[:, None]).ravel().astype(float),
        }
    )
    seen = (rng.random(n_items) < np.where(present, 0.9, 0.02)).astype(float)
    return marks, pd.DataFrame({"item_id": np.arange(n_items), "refusal": seen})


def test_known_probabilities_are_found_again():
    marks, experts = drawn(8000, 5)
    found = fit_classes(marks, ["refusal"], experts.iloc[:4000]).loc["refusal"]
    assert found[list(COLUMNS)].to_numpy() == pytest.approx([0.2, 0.7, 0.05, 0.9, 0.02], abs=0.02)


def test_the_order_of_rows_does_not_matter():
    marks, experts = drawn(300, 4)
    shuffled = marks.sample(frac=1, random_state=1), experts.sample(frac=1, random_state=2)
    first, second = (
        fit_classes(pair[0], ["refusal"], pair[1]) for pair in ((marks, experts), shuffled)
    )
    pd.testing.assert_frame_equal(first, second)


def test_the_mean_of_marks_is_kept():
    marks, _ = drawn(2000, 4)
    found = fit_classes(marks, ["refusal"]).loc["refusal"]
    mean = found["prevalence"] * found["sensitivity"]
    mean += (1 - found["prevalence"]) * found["false_alarms"]
    assert mean == pytest.approx(marks["refusal"].mean(), abs=0.002)


def test_without_experts_their_probabilities_are_missing():
    marks, _ = drawn(100, 3)
    found = fit_classes(marks, ["refusal"])
    assert found[["expert_sensitivity", "expert_false_alarms"]].isna().all(axis=None)


def test_an_error_nobody_marks_gives_no_probability_of_zero():
    marks = pd.DataFrame({"item_id": np.repeat(range(50), 3), "harmful": 0.0})
    found = fit_classes(marks, ["harmful"])[list(COLUMNS[:3])]
    assert ((found > 0) & (found < 1)).all(axis=None)


def test_an_average_is_no_mark():
    marks = pd.DataFrame({"item_id": ["a", "a", "b"], "refusal": [0, 0.5, 1]})
    with pytest.raises(ValueError, match=r"'refusal' is 0\.5 in row 1: give single marks, 0 or 1"):
        fit_classes(marks, ["refusal"])


def test_experts_must_check_outputs_of_the_crowd():
    marks, experts = drawn(10, 3)
    with pytest.raises(ValueError, match="experts checked output 99, which nobody marked"):
        fit_classes(marks, ["refusal"], experts.assign(item_id=99 + experts["item_id"]))
