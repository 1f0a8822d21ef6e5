"""What stops a conclusion: raters who use a scale upside down or differently."""

import numpy as np
import pandas as pd
import pytest

from helpers import reliability
from helpers.data.tables import OptionError
from helpers.raters import concerns

KINDS = ["agreement below chance", "reversed", "other scale", "shifted"]


def ratings(*, n_raters=5, n_items=60, noise=0.7, seed=0, per_item=None):
    """Ratings from 1 to 5 by raters of like severity."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(3, 1, n_items)
    frame = pd.DataFrame({"item_id": np.repeat(np.arange(n_items), n_raters)})
    frame["rater_id"] = [f"r{number:02d}" for number in range(n_raters)] * n_items
    frame["prompt_id"] = frame["item_id"] // 2
    score = quality[frame["item_id"]] + rng.normal(0, noise, len(frame))
    frame["score"] = score.round().clip(1, 5)
    if per_item is not None:
        rank = frame.assign(order=rng.random(len(frame)))
        rank = rank.groupby("item_id")["order"].rank()
        frame = frame[rank <= per_item].reset_index(drop=True)
    return frame


def turned(frame, raters):
    """Turn the scale of some raters."""
    is_turned = frame["rater_id"].isin(raters)
    return frame.assign(score=frame["score"].where(~is_turned, 6 - frame["score"]))


def named(found, kind):
    return found.loc[found["concern"] == kind, "rater"].tolist()


def test_nothing_stops_ratings_that_agree():
    found = concerns(ratings(), "score", prompt="prompt_id")
    assert found.empty
    assert found.columns.tolist()[:2] == ["concern", "rater"]


def test_one_reversed_rater_is_named():
    found = concerns(turned(ratings(), ["r03"]), "score")
    assert named(found, "reversed") == ["r03"]
    row = found[found["concern"] == "reversed"].iloc[0]
    assert row["high"] < 0
    assert row["camp"] == 2
    assert row["sentence"].startswith("r03 rates 'score' high where most others rate")


def test_two_of_five_reversed_raters_are_named():
    found = concerns(turned(ratings(), ["r00", "r04"]), "score")
    assert named(found, "reversed") == ["r00", "r04"]


def test_two_camps_of_one_size_are_both_named():
    found = concerns(turned(ratings(n_raters=4), ["r00", "r01"]), "score")
    assert named(found, "reversed") == ["r00", "r01", "r02", "r03"]
    camps = found.dropna(subset="camp").set_index("rater")["camp"]
    assert camps["r00"] == camps["r01"] != camps["r02"] == camps["r03"]
    sentence = found["sentence"].iloc[-1]
    assert "who has the scale upside down? The ratings alone do not tell" in sentence
    assert "r00, r01" in sentence


def test_half_of_a_crowd_is_noticed_with_three_ratings_an_item():
    frame = ratings(n_raters=12, n_items=150, per_item=3)
    wrong = [f"r{number:02d}" for number in range(6)]
    found = concerns(turned(frame, wrong), "score", prompt="prompt_id")
    camps = found.dropna(subset="camp").set_index("rater")["camp"]
    assert len(set(camps[wrong])) == 1
    assert len(camps) == 12


def batches(n_batches=6, links=0):
    """Batches of items, each rated by three people of its own, and a few links."""
    parts = []
    for number in range(n_batches):
        part = ratings(n_raters=3, n_items=40, seed=number)
        part["rater_id"] = f"b{number}-" + part["rater_id"]
        part["item_id"] += 100 * number
        parts.append(part)
    for number in range(links):
        # somebody of the next batch rates an item of this one, at random
        link = parts[number % n_batches].head(1).copy()
        link["rater_id"] = f"b{(number + 1) % n_batches}-r00"
        link["score"] = 6 - link["score"]
        parts.append(link)
    return pd.concat(parts, ignore_index=True)


@pytest.mark.parametrize("links", [0, 5])
def test_batches_with_raters_of_their_own_are_not_reversed(links):
    frame = batches(links=links)
    assert concerns(frame, "score").empty
    found = concerns(turned(frame, ["b2-r01"]), "score")
    assert named(found, "reversed") == ["b2-r01"]


def test_two_raters_against_each_other_are_both_named():
    found = concerns(turned(ratings(n_raters=2), ["r00"]), "score")
    assert named(found, "reversed") == ["r00", "r01"]
    assert "r00 against r01" in found["sentence"].iloc[-1]


def test_agreement_below_chance_is_alpha_for_these_raters():
    frame = turned(ratings(n_raters=4), ["r00", "r01"])
    found = concerns(frame, "score", prompt="prompt_id")
    row = found[found["concern"] == "agreement below chance"].iloc[0]
    counts = reliability.value_counts(frame, "score")
    alpha = reliability.krippendorff_alpha(counts, "interval")
    assert row["estimate"] == pytest.approx(alpha)
    assert row["high"] < 0
    assert row["rater"] == ""


def test_labels_without_an_order_are_checked_for_agreement_only():
    rng = np.random.default_rng(1)
    frame = ratings(n_raters=3)
    shift = frame["rater_id"].map({"r00": 0, "r01": 1, "r02": 2})
    codes = (rng.integers(0, 3, 60)[frame["item_id"]] + shift) % 3
    frame["label"] = np.array(["bad", "fair", "good"])[codes]
    found = concerns(frame, "label", level="nominal")
    assert found["concern"].tolist() == []  # no two raters agree on any item
    frame.loc[frame["item_id"] < 12, "label"] = "good"
    frame.loc[frame["item_id"].between(12, 23), "label"] = "bad"
    assert concerns(frame, "label", level="nominal").empty


def test_a_rater_on_0_to_4_is_named():
    frame = ratings()
    is_other = frame["rater_id"] == "r02"
    frame.loc[is_other, "score"] -= 1
    found = concerns(frame, "score")
    assert named(found, "other scale") == ["r02"]
    assert "from 0 to 4; others use 1 to 5" in found["sentence"].iloc[0]


def test_two_of_four_raters_on_0_to_4_are_named():
    frame = ratings(n_raters=4)
    is_other = frame["rater_id"].isin(["r02", "r03"])
    frame.loc[is_other, "score"] -= 1
    assert named(concerns(frame, "score"), "other scale") == ["r02", "r03"]


def test_a_rater_on_0_to_100_is_named():
    frame = ratings()
    is_other = frame["rater_id"] == "r02"
    frame.loc[is_other, "score"] = 20 * frame["score"]
    found = concerns(frame, "score")
    assert named(found, "other scale") == ["r02"]
    # and is not in the way of the others
    assert named(found, "shifted") == []


def test_with_a_scale_only_ratings_outside_of_it_are_named():
    frame = ratings()
    frame.loc[7, "score"] = 0
    found = concerns(frame, "score", scale=(1, 5))
    assert named(found, "other scale") == [frame.loc[7, "rater_id"]]
    assert "the scale is 1 to 5" in found["sentence"].iloc[0]
    assert concerns(frame, "score", scale=(0, 5)).empty


def test_a_rater_who_is_far_lower_is_named():
    frame = ratings()
    is_other = frame["rater_id"] == "r01"
    frame["score"] = frame["score"].clip(3, 5)
    frame.loc[is_other, "score"] = frame["score"] - 2
    found = concerns(frame, "score", scale=(1, 5))
    assert named(found, "shifted") == ["r01"]
    row = found.iloc[0]
    own = frame[is_other].set_index("item_id")["score"]
    others = frame[~is_other].groupby("item_id")["score"].mean()
    assert row["estimate"] == pytest.approx((own - others).mean())
    assert f"{-row['estimate']:.1f} points lower than others" in row["sentence"]


def test_severity_as_usual_stops_nothing():
    frame = ratings(noise=0.5)
    is_other = frame["rater_id"] == "r01"
    frame.loc[is_other, "score"] = (frame["score"] - 1).clip(1, 5)
    assert concerns(frame, "score", scale=(1, 5)).empty


def test_raters_who_never_differ_or_rate_little_are_not_tested():
    frame = ratings()
    frame.loc[frame["rater_id"] == "r00", "score"] = 3.0
    few = (frame["rater_id"] == "r01") & (frame["item_id"] > 8)
    frame = frame[~few].reset_index(drop=True)
    frame = turned(frame, ["r01"])
    assert named(concerns(frame, "score"), "reversed") == []


def test_ratings_of_an_item_each_have_nothing_to_check():
    frame = ratings(n_raters=3, per_item=1)
    assert concerns(frame, "score").empty


def test_continuous_scores_can_be_checked():
    frame = ratings(n_items=80)
    rng = np.random.default_rng(0)
    frame["score"] = frame["score"] + rng.random(len(frame))
    found = concerns(turned(frame, ["r00", "r01"]), "score")
    assert named(found, "reversed") == ["r00", "r01"]


def test_refusals():
    frame = ratings()
    with pytest.raises(OptionError, match="'stars' is not in the table"):
        concerns(frame, "stars")
    with pytest.raises(OptionError, match="two ratings by one person"):
        concerns(pd.concat([frame, frame]), "score")
    with pytest.raises(OptionError, match="or use level='nominal'"):
        concerns(frame.assign(score="good"), "score")
