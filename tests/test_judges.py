"""A judge beside people: the paper's formulas by brute force, null judges, refusals."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import false_discovery_control, ttest_1samp

import helpers
from helpers import judges
from helpers.data.tables import OptionError

COLUMNS = {"item": "item_id", "rater": "rater_id", "prompt": "prompt_id"}


def people_and_judge(
    *, n_items=60, n_people=4, noise=0.8, judge_noise=0.3, shift=0.0, seed=0
):
    """Scores by people and by a judge, two items a prompt, two systems."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(3, 1, n_items)
    parts = []
    for number in range(n_people):
        scores = quality + rng.normal(0, noise, n_items)
        parts.append(pd.DataFrame({"rater_id": f"p{number}", "score": scores}))
    scores = quality + shift + rng.normal(0, judge_noise, n_items)
    parts.append(pd.DataFrame({"rater_id": "judge", "score": scores}))
    for part in parts:
        part["item_id"] = np.arange(n_items)
        part["prompt_id"] = np.arange(n_items) // 2
        part["model"] = np.where(np.arange(n_items) % 2, "elm", "oak")
        part["words"] = np.random.default_rng(seed + 1).integers(20, 200, n_items)
        part["score"] = part["score"].round().clip(1, 5)
    return pd.concat(parts, ignore_index=True)


def brute_closeness(frame, person, level):
    """How close the person and the judge are to the others, item by item."""
    wide = frame.pivot_table(index="item_id", columns="rater_id", values="score")
    others = wide.drop(columns=["judge", person])
    closeness = []
    for name in (person, "judge"):
        if level == "nominal":
            same = others.eq(wide[name], axis=0).sum(axis=1) / others.notna().sum(
                axis=1
            )
            closeness.append(same)
        else:
            squares = others.sub(wide[name], axis=0) ** 2
            closeness.append(-np.sqrt(squares.mean(axis=1)))
    is_used = wide[person].notna() & wide["judge"].notna() & others.notna().any(axis=1)
    return closeness[0][is_used], closeness[1][is_used]


def with_gaps(frame, seed=5):
    """Leave out a fifth of the people's ratings."""
    rng = np.random.default_rng(seed)
    keep = (rng.random(len(frame)) > 0.2) | (frame["rater_id"] == "judge")
    return frame[keep].reset_index(drop=True)


# The alternative annotator test --------------------------------------------------


@pytest.mark.parametrize("level", ["interval", "nominal"])
@pytest.mark.parametrize("gaps", [False, True])
def test_the_annotator_test_is_that_of_the_paper(level, gaps):
    frame = people_and_judge()
    if gaps:
        frame = with_gaps(frame)
    # each item its own prompt, as in the paper
    frame["prompt_id"] = frame["item_id"]
    rows = judges.people_with_judge(
        frame, "score", "judge", *COLUMNS.values(), None, None
    )
    test = judges.annotator_test(
        rows, "score", judges.JUDGE, level=level, epsilon=0.1, **COLUMNS
    )
    p_values = []
    for person in ["p0", "p1", "p2", "p3"]:
        own, of_judge = brute_closeness(frame, person, level)
        judge_wins = np.where(of_judge >= own - 1e-9, 1.0, 0.0)
        person_wins = np.where(own >= of_judge - 1e-9, 1.0, 0.0)
        found = test.people.loc[person]
        assert found["n"] == len(own)
        assert found["judge_wins"] == pytest.approx(judge_wins.mean())
        assert found["person_wins"] == pytest.approx(person_wins.mean())
        expected = ttest_1samp(person_wins - judge_wins, 0.1, alternative="less")
        # without any one item: the usual standard error
        assert found["p_value"] == pytest.approx(expected.pvalue, rel=1e-6)
        p_values.append(expected.pvalue)
    adjusted = false_discovery_control(p_values, method="by")
    np.testing.assert_allclose(test.people["p_adjusted"], adjusted, rtol=1e-6)
    assert test.winning_rate == (adjusted <= 0.05).mean()
    mean_wins = test.people["judge_wins"].mean()
    assert test.advantage["estimate"].item() == pytest.approx(mean_wins)


def test_items_of_one_prompt_are_no_independent_trials():
    frame = people_and_judge()
    copies = [frame.assign(item_id=frame["item_id"] + 100 * k) for k in range(4)]
    many = pd.concat(copies, ignore_index=True)
    once = helpers.judge(frame, "score", "judge").attrs["people"]
    found = helpers.judge(many, "score", "judge").attrs["people"]
    for own, other in zip(once, found, strict=True):
        assert own["p_value"] == pytest.approx(other["p_value"])


@pytest.mark.parametrize(("rating", "p_value"), [(2.5, 0.0), (9.0, 1.0)])
def test_trials_that_all_end_alike_need_no_variance(rating, p_value):
    rows = pd.DataFrame({"item_id": np.repeat(np.arange(40), 3), "judge": rating})
    rows["rater_id"] = list("abc") * 40
    rows["score"] = [1, 2, 4] * 40
    columns = {**COLUMNS, "prompt": "item_id"}
    test = judges.annotator_test(rows, "score", "judge", epsilon=0.1, **columns)
    assert test.people["p_value"].tolist() == [p_value] * 3
    assert test.passed == (p_value == 0)


# Conclusions ---------------------------------------------------------------------


def test_a_good_judge_stands_in():
    frame = people_and_judge(n_items=150)
    found = helpers.judge(frame, "score", "judge")
    assert found.attrs["conclusion"] == "stands in"
    table = pd.DataFrame(found)
    assert table.loc[("winning rate", "judge"), "estimate"] == 1
    better = table.loc[("correlation with the other people", "judge - people")]
    assert better["low"] > 0
    assert "always" in found.attrs["notes"][1]


def test_a_constant_that_passes_forbids_a_conclusion():
    frame = people_and_judge(n_items=200, noise=3.0)
    found = helpers.judge(frame, "score", "judge")
    assert found.attrs["conclusion"] == "no conclusion"
    table = pd.DataFrame(found)["estimate"].loc["winning rate"]
    assert table.iloc[1] >= 0.5
    assert "which does not read, passes as well" in found.attrs["notes"][-1]


def test_a_length_that_passes_forbids_a_conclusion():
    rng = np.random.default_rng(3)
    frame = people_and_judge(n_items=300, noise=0.9, judge_noise=0.2)
    words = rng.integers(0, 300, 300)[frame["item_id"]]
    frame["words"] = words
    frame["score"] = (words // 60 + rng.normal(0, 0.9, len(frame))).round()
    is_judge = frame["rater_id"] == "judge"
    frame.loc[is_judge, "score"] = words[is_judge] // 60
    without = helpers.judge(frame, "score", "judge")
    found = helpers.judge(frame, "score", "judge", length="words")
    assert without.attrs["conclusion"] == "stands in"
    assert found.attrs["conclusion"] == "no conclusion"
    assert "'length only', which does not read" in found.attrs["notes"][-1]


def test_a_judge_that_is_noise_does_not_stand_in():
    frame = people_and_judge(judge_noise=3.0)
    assert helpers.judge(frame, "score", "judge").attrs["conclusion"] == "not shown"


def test_the_shift_of_a_judge_is_its_level():
    frame = people_and_judge(n_items=80, noise=0.3, judge_noise=0.1)
    is_judge = frame["rater_id"] == "judge"
    is_elm = frame["model"] == "elm"
    frame.loc[is_judge, "score"] += np.where(is_elm[is_judge], 2.0, 0.0)
    found = pd.DataFrame(helpers.judge(frame, "score", "judge", system="model"))
    by_system = found.loc["judge - people, by model"]
    people = frame[~is_judge]
    of_judge = frame[is_judge].set_index("item_id")["score"]
    higher = people["item_id"].map(of_judge) - people["score"]
    expected = higher.groupby(people["model"]).mean()
    np.testing.assert_allclose(by_system["estimate"], expected)
    assert (by_system["p_holm"] < 0.001).all()
    overall = found.loc[("judge - people", "all"), "estimate"]
    assert overall == pytest.approx(higher.mean())
    within = found.loc["correlation with the other people, by model"]
    assert within.index[:2].tolist() == ["elm, people", "elm, judge"]
    assert (within["estimate"].iloc[:2] > 0.5).all()


def test_judge_and_people_are_correlated_with_the_same_others():
    frame = people_and_judge()
    found = pd.DataFrame(helpers.judge(frame, "score", "judge"))
    wide = frame.pivot_table(index="item_id", columns="rater_id", values="score")
    wide = wide - wide.mean()
    people = wide.drop(columns="judge")
    others = (people.sum(axis=1).to_numpy()[:, None] - people) / 3
    of_judge = np.repeat(wide["judge"].to_numpy(), 4)
    expected = {
        "people": np.corrcoef(people.to_numpy().ravel(), others.to_numpy().ravel()),
        "judge": np.corrcoef(of_judge, others.to_numpy().ravel()),
    }
    own = found.loc["correlation with the other people", "estimate"]
    for name, matrix in expected.items():
        assert own[name] == pytest.approx(matrix[0, 1], abs=1e-9)
    assert own["judge - people"] == pytest.approx(own["judge"] - own["people"])


def test_labels_are_compared_by_agreement():
    frame = people_and_judge(n_items=120)
    frame["label"] = np.where(frame["score"] > 3, "yes", "no")
    found = pd.DataFrame(helpers.judge(frame, "label", "judge", level="nominal"))
    own = found.loc["agreement with another person", "estimate"]
    wide = frame.pivot(index="item_id", columns="rater_id", values="label")
    people = wide.drop(columns="judge")
    with_judge = people.eq(wide["judge"], axis=0).to_numpy().mean()
    assert own["judge"] == pytest.approx(with_judge)
    assert "judge - people" not in found.index.get_level_values(0)


def test_lengths_are_in_thirds_and_prompts_can_be_items():
    frame = people_and_judge(n_items=90)
    found = helpers.judge(
        frame, "score", "judge", prompt="item_id", length="words", system="model"
    )
    by_length = pd.DataFrame(found).loc["judge - people, by words"]
    assert by_length.index.tolist() == ["short", "middling", "long"]
    assert by_length["n"].sum() == 360


def test_the_length_judge_does_not_see_the_prompts_it_rates():
    rows = pd.DataFrame({"words": np.repeat(np.arange(50), 2), "score": 0.0})
    rows["prompt_id"] = np.repeat(np.arange(50), 2)
    rows.loc[rows["prompt_id"] % 5 == 0, "score"] = 100.0
    rated = judges.length_judge(rows, "score", "words", "prompt_id", "interval")
    assert (rated[rows["prompt_id"] % 5 == 0] == 0).all()
    labels = rows.assign(score=np.where(rows["score"] > 0, "yes", "no"))
    rated = judges.length_judge(labels, "score", "words", "prompt_id", "nominal")
    assert set(rated) == {"no"}


# Refusals ------------------------------------------------------------------------


def test_too_few_people_or_items_are_refused():
    frame = people_and_judge(n_people=2)
    with pytest.raises(OptionError, match="at least 3 people, each with 30 items"):
        helpers.judge(frame, "score", "judge")
    with pytest.raises(OptionError, match=r"p0 29, p1 29.*collect more ratings"):
        helpers.judge(people_and_judge(n_items=29), "score", "judge")
    frame = people_and_judge()
    is_short = (frame["rater_id"] == "p3") & (frame["item_id"] > 20)
    with pytest.raises(
        OptionError, match=r"leave out the people who have fewer \(p3\)"
    ):
        helpers.judge(frame[~is_short], "score", "judge")


def test_other_refusals():
    frame = people_and_judge()
    with pytest.raises(OptionError, match="no rating by judge 'gpt'"):
        helpers.judge(frame, "score", "gpt")
    with pytest.raises(OptionError, match="level 'ratio' is unknown"):
        helpers.judge(frame, "score", "judge", level="ratio")
    with pytest.raises(OptionError, match="epsilon must be at least 0 and below 1"):
        helpers.judge(frame, "score", "judge", epsilon=1.5)
    with pytest.raises(OptionError, match="two ratings by one person"):
        helpers.judge(pd.concat([frame, frame]), "score", "judge")
    with pytest.raises(OptionError, match="convert it to numbers"):
        helpers.judge(frame.assign(score="good"), "score", "judge")
    with pytest.raises(OptionError, match="'texts' is not in the table"):
        helpers.judge(frame, "score", "judge", length="texts")
