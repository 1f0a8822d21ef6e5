"""Bounds when rows are left out: by hand, closed forms, known truths, refusals."""

import numpy as np
import pandas as pd
import pytest

from helpers.stats import bounds

ARMS = ("cautious", "assertive")


def bound(table, limits=(0, 1), n_boot=50):
    rng = np.random.default_rng(0)
    return bounds.selection_bounds(
        table, "gap", "answered", "arm", ARMS, limits, "prompt_id", n_boot, rng
    )


def make(cautious, assertive):
    """One answer a row, in a prompt of its own; None is a refusal."""
    values = [*cautious, *assertive]
    table = pd.DataFrame({"gap": np.array(values, dtype=float)})
    table["arm"] = [ARMS[0]] * len(cautious) + [ARMS[1]] * len(assertive)
    table["prompt_id"] = range(len(table))
    return table.assign(answered=table["gap"].notna())


def test_without_anything_left_out_all_bounds_are_the_difference_of_means():
    table = bound(make([0, 0, 1, 1], [0, 1, 1, 1]))
    assert table["estimate"].tolist() == pytest.approx([0.25] * 4)
    assert table["low"].nunique() == table["high"].nunique() == 1


def test_worst_cases_by_hand():
    # cautious: 1 of 4, one unknown: 1/4 to 2/4; assertive: 1 of 5, two unknown: 1/5 to
    # 3/5
    answers = make([0, 0, 1, None], [0, 0, 1, None, None])
    estimate = bound(answers).loc["worst case", "estimate"]
    assert estimate.tolist() == pytest.approx([1 / 5 - 2 / 4, 3 / 5 - 1 / 4])
    # the same answers, where an unknown one may also be -1: 0 to 2/4, and -1/5 to 3/5
    wider = bound(answers, limits=(-1, 1))
    expected = [-1 / 5 - 2 / 4, 3 / 5 - 0]
    assert wider.loc["worst case", "estimate"].tolist() == pytest.approx(expected)


def test_trimming_by_hand_takes_a_row_in_part():
    # 2 of 4 kept against 5 of 5: half of five rows, two and a half, stay
    estimate = bound(make([0, 1, None, None], [0, 0, 0, 1, 1])).loc[
        "trimming", "estimate"
    ]
    assert estimate.tolist() == pytest.approx([0 / 2.5 - 0.5, 2 / 2.5 - 0.5])


def test_trimming_takes_from_the_group_with_more_kept_whichever_it_is():
    there = bound(make([0, 0, 1, None], [0, 0, 1, 1]), limits=(-1, 1))
    back = bound(make([0, 0, 1, 1], [0, 0, 1, None]), limits=(-1, 1))
    for method in bounds.METHODS:
        mirrored = -back.loc[method, "estimate"].to_numpy()[::-1]
        assert there.loc[method, "estimate"].tolist() == pytest.approx(mirrored)


def test_trimmed_means_of_an_even_spread_are_the_closed_form():
    spread = (np.arange(1000) + 0.5) / 1000
    half_kept = [
        *spread[:500],
        *[None] * 500,
    ]  # a share of one half, with the mean 0.25
    estimate = bound(make(half_kept, spread)).loc["trimming", "estimate"]
    assert estimate.tolist() == pytest.approx([0.25 - 0.25, 0.75 - 0.25])


def test_bounds_hold_a_known_change_and_the_naive_difference_does_not():
    """Where errors are refused, leaving refusals out makes up a change."""
    rng = np.random.default_rng(3)
    n = 40_000
    error = rng.random(n) < 0.2
    arm = rng.integers(2, size=n)
    answers_when_cautious = rng.random(n) < np.where(error, 0.3, 0.9)
    answered = (arm == 1) | answers_when_cautious
    table = pd.DataFrame({"gap": error * 1.0, "answered": answered})
    table["arm"] = np.array(ARMS)[arm]
    table["prompt_id"] = np.arange(n) // 5
    kept = table[answered].groupby("arm")["gap"].mean()
    naive = kept[ARMS[1]] - kept[ARMS[0]]
    assert naive > 0.1  # the tone changes no error at all
    table.loc[~answered, "gap"] = np.nan
    estimate = bound(table)["estimate"]
    for method in bounds.METHODS:
        lowest, highest = estimate[method]
        assert lowest < 0 < highest


def test_the_order_of_rows_and_other_groups_do_not_matter():
    table = make([0, 0, 1, None] * 5, [0, 1, 1, None, 0] * 5)
    other = make([1] * 3, []).assign(arm="simple")
    shuffled = pd.concat([other, table]).sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(bound(shuffled), bound(table))


def test_what_cannot_be_bounded_is_refused():
    table = make([0, 1], [0, 1])
    with pytest.raises(ValueError, match="column 'answered' must hold truth values"):
        bound(table.assign(answered=1))
    with pytest.raises(ValueError, match="group 'assertive' has no row that was kept"):
        bound(make([0, 1], [None, None]))
    with pytest.raises(ValueError, match="'gap' has kept values that are missing or"):
        bound(table, limits=(0, 0.5))
