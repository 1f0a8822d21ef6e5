import numpy as np
import pandas as pd
import pytest

from helpers.stats.groups import mean_differences, paired_differences

COMPARE = {mean_differences: "n", paired_differences: "pairs"}


def outputs(n=200, effect=0.5, seed=0):
    """Draw ratings of two arms and a baseline; prompts differ a lot."""
    rng = np.random.default_rng(seed)
    arms = ["baseline", "high", "low"]
    frame = pd.DataFrame({"prompt_id": np.arange(n).repeat(3), "arm": arms * n})
    shift = frame["arm"].map({"baseline": 0.0, "high": effect, "low": -2 * effect})
    prompt = rng.normal(0, 2, n).repeat(3)
    frame["complexity"] = prompt + shift + rng.normal(0, 0.5, 3 * n)
    return frame.assign(quality=-frame["complexity"])


def compared(compare, frame, aspects=("complexity",), n_boot=500):
    rng = np.random.default_rng(1)
    table = compare(frame, list(aspects), "arm", "baseline", "prompt_id", n_boot, rng)
    return table.set_index(["aspect", "arm"])


@pytest.mark.parametrize("compare", COMPARE)
def test_effects_are_found_with_their_uncertainty(compare):
    table = compared(compare, outputs(), n_boot=2000)
    error = 0.5 * np.sqrt(2 / 200)
    for arm, effect in (("high", 0.5), ("low", -1.0)):
        row = table.loc[("complexity", arm)]
        assert row["estimate"] == pytest.approx(effect, abs=4 * error)
        assert row["high"] - row["low"] == pytest.approx(2 * 1.96 * error, rel=0.2)
        assert row["p_value"] == pytest.approx(2 / 2001)
        assert row[COMPARE[compare]] == 200


@pytest.mark.parametrize("compare", COMPARE)
def test_turning_an_aspect_round_turns_its_differences_round(compare):
    table = compared(compare, outputs(30), ["complexity", "quality"])
    one, other = table.loc["complexity"], table.loc["quality"]
    np.testing.assert_allclose(one["estimate"], -other["estimate"])
    np.testing.assert_allclose(one["low"], -other["high"])


@pytest.mark.parametrize("compare", COMPARE)
def test_row_order_does_not_matter(compare):
    frame = outputs(30)
    shuffled = frame.sample(frac=1, random_state=3)
    pd.testing.assert_frame_equal(compared(compare, shuffled), compared(compare, frame))


def test_both_agree_where_every_prompt_has_every_arm():
    frame = outputs(30)
    means, pairs = (compared(compare, frame)["estimate"] for compare in COMPARE)
    pd.testing.assert_series_equal(means, pairs)


def test_only_pairs_with_both_conditions_count():
    frame = pd.DataFrame(
        {
            "prompt_id": list("aaabbc"),
            "arm": ["baseline", "high", "high", "baseline", "high", "high"],
            "complexity": [1.0, 2.0, 4.0, 2.0, 3.0, 90.0],
        }
    )
    row = compared(paired_differences, frame, n_boot=20).loc[("complexity", "high")]
    assert row["pairs"] == 2
    assert row["estimate"] == pytest.approx((2 + 1) / 2)


@pytest.mark.parametrize("compare", COMPARE)
def test_a_missing_baseline_is_an_error(compare):
    frame = outputs(5).query("arm != 'baseline'")
    with pytest.raises(
        ValueError, match=r"no outputs in arm 'baseline': there are \['high', 'low'"
    ):
        compared(compare, frame)


def test_a_condition_without_any_pair_is_an_error():
    frame = outputs(4)
    frame.loc[frame["arm"] == "low", "prompt_id"] += 100
    with pytest.raises(
        ValueError, match="arm 'low' shares no prompt_id with 'baseline': compare m"
    ):
        compared(paired_differences, frame)
