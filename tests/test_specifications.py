"""Specifications and their curves: hand-computed tables and messages."""

import numpy as np
import pandas as pd
import pytest

from helpers.beyond import specifications
from helpers.beyond.specifications import AGAINST, EXPECTED, UNSURE

CHOICES = {"labels": ["mean", "mode", "model"], "link": ["linear", "ordinal"], "alpha": [0.0, 0.1]}


def test_all_combinations_are_there_once_and_in_order():
    table, left_out = specifications.cross(CHOICES)
    assert len(table) == 12
    assert not table.duplicated().any()
    assert table.iloc[0].tolist() == ["mean", "linear", 0.0]
    assert left_out.empty


def test_impossible_combinations_are_kept_with_the_first_reason():
    rules = {
        "no ordinal penalty": {"link": ["ordinal"], "alpha": [0.1]},
        "no ordinal mean": {"labels": ["mean", "model"], "link": ["ordinal"]},
    }
    table, left_out = specifications.cross(CHOICES, rules)
    assert len(table) + len(left_out) == 12
    assert left_out["reason"].value_counts().to_dict() == {
        "no ordinal penalty": 3,
        "no ordinal mean": 2,
    }
    assert table[table["link"] == "ordinal"][["labels", "alpha"]].to_numpy().tolist() == [
        ["mode", 0.0]
    ]


def test_rules_must_name_choices_and_options_that_exist():
    with pytest.raises(ValueError, match=r"'why' names 'score', which is none of \['labels', "):
        specifications.cross(CHOICES, {"why": {"score": ["biased"]}})
    with pytest.raises(ValueError, match=r"'why' names 'median'; 'labels' is one of \['mean', "):
        specifications.cross(CHOICES, {"why": {"labels": ["median"]}})


def test_subsets_keep_one_value_or_leave_one_out():
    frame = pd.DataFrame({"task": ["x", "y", "x"], "system": ["a", "b", "b"]}, index=[5, 6, 7])
    parts = specifications.subsets(frame, ["task"], ["system"])
    assert parts["all"].tolist() == [True, True, True]
    assert parts["only x"].tolist() == [True, False, True]
    assert parts["without b"].tolist() == [True, False, False]
    assert parts.index.tolist() == [5, 6, 7]


def test_matches_finds_one_specification_or_says_that_there_is_none():
    table, _ = specifications.cross(CHOICES)
    found = specifications.matches(table, {"labels": "mode", "link": "linear", "alpha": 0.1})
    assert found.sum() == 1
    with pytest.raises(ValueError, match=r"no specification has \{'labels': 'median'\}"):
        specifications.matches(table, {"labels": "median"})


def example(sign: int, freedom: float = np.inf) -> pd.DataFrame:
    table = pd.DataFrame({"labels": ["mean", "mean", "mode", "mode"]})
    return specifications.curve(table, [2.0, 0.1, -2.0, 0.0], [0.5, 0.5, 0.5, 0.0], sign, freedom)


@pytest.mark.parametrize(
    ("sign", "findings"),
    [
        (1, [EXPECTED, UNSURE, AGAINST, UNSURE]),
        (-1, [AGAINST, UNSURE, EXPECTED, UNSURE]),
        (0, [EXPECTED, UNSURE, EXPECTED, UNSURE]),
    ],
)
def test_findings_depend_on_the_expected_direction(sign, findings):
    assert example(sign)["finding"].tolist() == findings


def test_intervals_are_normal_or_those_of_t():
    normal, few = example(1), example(1, freedom=4)
    assert (normal["high"] - normal["estimate"]).tolist() == pytest.approx(
        [0.98, 0.98, 0.98, 0], 1e-3
    )
    assert few["high"][0] - few["estimate"][0] == pytest.approx(2.776 * 0.5, rel=1e-3)


def test_summary_counts_by_hand():
    said = specifications.curve_summary(example(1), 1)
    assert said["in direction"] == 50
    assert said["significant"] == said["significant against"] == 25
    assert said[["median", "lowest", "highest"]].tolist() == [0.05, -2, 2]
    assert np.isnan(specifications.curve_summary(example(0), 0)["in direction"])


def test_options_are_summed_up_one_by_one():
    table = specifications.by_option(example(1), ["labels"])
    assert table.loc[("labels", "mean")].tolist() == [2, 1.05, 50]
    assert table.loc[("labels", "mode")].tolist() == [2, -1, 0]


def test_curves_need_numbers_and_a_direction():
    table = pd.DataFrame({"labels": ["mean", "mode"]})
    message = "specification 1 has no estimate or no standard error: leave it out and say why"
    for estimate, error in (([1, np.nan], [1, 1]), ([1, 1], [1, np.nan]), ([1, 1], [1, 0])):
        with pytest.raises(ValueError, match=message):
            specifications.curve(table, estimate, error, 1)
    with pytest.raises(ValueError, match="sign must be 1, -1 or 0, got 2"):
        specifications.curve(table, [1, 1], [1, 1], 2)
