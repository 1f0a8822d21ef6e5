"""Guessing, Hoeffding's interval, and the tests of age alignment."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from helpers.beyond import answerers
from helpers.files.schemas import AGES


@pytest.fixture
def answers():
    """Right and wrong answers to 800 questions of all ages, eight to each cue."""
    rng = np.random.default_rng(8)
    ages = pd.Series(rng.choice(AGES, 800))
    return pd.DataFrame(
        {"right": rng.integers(2, size=800) * 1.0, "age": ages, "cue": np.arange(800) // 8}
    )


def test_printed_lower_bound_of_60_per_cent_on_40_questions():
    assert round(100 * (0.6 - answerers.hoeffding_width(40))) == 39


@pytest.mark.parametrize(("n", "width"), [(108, 0.1307), (216, 0.0924)])
def test_hoeffding_widths_of_the_annotators_sample(n, width):
    assert round(float(answerers.hoeffding_width(n)), 4) == width


def test_hoeffdings_interval_covers_every_share_more_often_than_promised():
    rng = np.random.default_rng(1)
    shares = np.linspace(0.05, 0.95, 10)
    drawn = rng.binomial(30, shares, (2000, 10)) / 30
    covered = (np.abs(drawn - shares) <= answerers.hoeffding_width(30)).mean(axis=0)
    assert covered.min() > 0.95


def test_one_side_needs_a_narrower_interval():
    assert answerers.hoeffding_width(108, sides=1) < answerers.hoeffding_width(108)


@pytest.mark.parametrize("n_options", [2, 3, 6])
def test_the_correction_for_guessing_undoes_guessing(n_options):
    known = np.linspace(0, 1, 11)
    correct = answerers.correct_with_guessing(known, n_options)
    np.testing.assert_allclose(
        answerers.known_without_guessing(correct, n_options), known, atol=1e-15
    )
    assert correct[0] == 1 / n_options


def test_three_options_turn_67_and_80_per_cent_into_the_printed_50_and_70():
    known = answerers.known_without_guessing([0.67, 0.80], 3)
    np.testing.assert_allclose(known, [0.505, 0.70])


def test_printed_38_and_47_per_cent_need_216_answers_and_a_sixth_of_a_point_off():
    known = 0.5 * (1 - 0.15 - answerers.hoeffding_width(216))
    expected = answerers.correct_with_guessing(known, 7)
    assert [round(100 * float(share)) for share in (known, expected)] == [38, 47]
    assert round(float(expected - (1 - expected) / 6), 6) == round(float(known), 6)


def test_an_age_has_its_own_questions_or_those_of_lower_ages_too(answers):
    at, up_to = (
        answerers.by_age(answers["right"], answers["age"], scope) for scope in answerers.SCOPES
    )
    sizes = answers["age"].value_counts().sort_index()
    assert at.count().tolist() == sizes.tolist()
    assert up_to.count().tolist() == sizes.cumsum().tolist()
    assert up_to[19].equals(answers["right"])


def test_an_unknown_scope_is_refused(answers):
    with pytest.raises(ValueError, match="scope must be 'at' or 'up to', not 'below'"):
        answerers.by_age(answers["right"], answers["age"], "below")


def test_the_mean_test_is_scipys_binomial_test(answers):
    columns = answerers.by_age(answers["right"], answers["age"], "at")
    p_values = answerers.mean_test(columns, [0.5, 0.55])
    for share, row in p_values.iterrows():
        for age, p_value in row.items():
            right, n = int(columns[age].sum()), columns[age].count()
            expected = binomtest(right, n, share, alternative="less").pvalue
            assert p_value == pytest.approx(expected, rel=1e-9)


def test_an_age_without_questions_is_not_rejected():
    columns = answerers.by_age(pd.Series([0.0]), pd.Series([7]), "at")
    assert (answerers.mean_test(columns, 0.9).iloc[0][[9, 19]] == 1).all()


def test_the_divergence_test_is_scipys_binomial_test():
    for disagreements in (0, 3, 17, 40):
        expected = binomtest(disagreements, 40, 0.3, alternative="greater").pvalue
        assert answerers.divergence_test(disagreements, 40, 0.3) == pytest.approx(expected)


def test_ages_after_the_first_rejection_do_not_count():
    rows = [[0.9, 0.9, 0.9], [0.9, 0.01, 0.9], [0.05, 0.9, 0.9]]
    ages = answerers.aligned_ages(pd.DataFrame(rows, columns=[7, 9, 11]))
    assert ages.fillna(0).tolist() == [11, 7, 0]


def test_accuracy_by_age_is_the_share_of_right_answers(answers):
    columns = answerers.by_age(answers["right"], answers["age"], "at")
    rng = np.random.default_rng(0)
    table = answerers.accuracy_by_age(columns, answers["cue"], 200, rng)
    shares = answers.groupby("age")["right"].mean()
    np.testing.assert_allclose(table["estimate"], 100 * shares.to_numpy())
    assert table["x"].tolist() == list(AGES)
    assert (table["low"] < table["estimate"]).all()
    assert (table["estimate"] < table["high"]).all()


def test_repeating_every_question_doubles_the_design_effect(answers):
    twice = pd.concat([answers, answers], ignore_index=True)
    once = answerers.design_effect(answers["right"], answers["cue"])
    assert answerers.design_effect(twice["right"], twice["cue"]) == pytest.approx(2 * once)


def test_independent_answers_have_a_design_effect_near_one():
    rng = np.random.default_rng(3)
    right = pd.Series(rng.integers(2, size=20000) * 1.0)
    effect = answerers.design_effect(right, pd.Series(np.arange(20000) // 10))
    # Its standard error is about the square root of 2 over the number of clusters.
    assert abs(effect - 1) < 3.3 * np.sqrt(2 / 2000)


def test_the_design_effect_does_not_depend_on_labels_or_order(answers):
    moved = answers.assign(cue="x" + answers["cue"].astype(str)).sample(frac=1, random_state=0)
    assert answerers.design_effect(moved["right"], moved["cue"]) == pytest.approx(
        answerers.design_effect(answers["right"], answers["cue"])
    )


def test_answers_that_are_all_alike_have_a_design_effect_of_one(answers):
    assert answerers.design_effect(answers["right"] * 0, answers["cue"]) == 1


def test_a_missing_answer_or_label_is_refused(answers):
    with pytest.raises(ValueError, match="column 'right' has 1 missing value, first in row 0"):
        answerers.design_effect(answers["right"].where(answers.index > 0), answers["cue"])
    with pytest.raises(ValueError, match="column 'cluster' has 1 missing value, first in row 0"):
        answerers.design_effect(answers["right"], answers["cue"].where(answers.index > 0))
