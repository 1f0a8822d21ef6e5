"""Simulated tables of HumBEL look real; the test taker knows what it should."""

import numpy as np
import pandas as pd
import pytest

from helpers.data.columns import check
from helpers.data.columns import humbel as columns
from helpers.simulate.humbel import answers, associations, norms


def test_simulated_tables_pass_the_schemas_of_the_real_ones():
    drawn = associations(np.random.default_rng(3))
    assert len(check(drawn, columns.HUMBEL_ASSOCIATIONS, "test")) == 1100 * 17
    assert (drawn["cue"] != drawn["association"].str.strip()).all()
    ages = check(norms(np.random.default_rng(3)), columns.HUMBEL_NORMS, "test")["age"]
    assert set(ages) == set(columns.AGES)


def test_early_words_are_frequent_and_late_words_rare_in_the_simulation():
    drawn = associations(np.random.default_rng(3))
    often = drawn["association"].str.strip().value_counts()
    age = norms(np.random.default_rng(3)).groupby("word")["age"].min()
    assert age[age.index.isin(often.index[:200])].mean() < age.mean() - 2


@pytest.mark.parametrize("n_options", [4, 6])
def test_the_simulated_test_taker_knows_and_guesses_as_often_as_set(n_options):
    rng = np.random.default_rng(20240917)
    questions = pd.DataFrame({"question": range(40000), "age": 7, "correct": 1})
    for age, known in ((7, 0.75), (13, 0.6), (19, 0.45)):
        chosen = answers(rng, questions.assign(age=age), n_options)
        expected = known + (1 - known) / n_options
        # 3.9 standard errors hold three correct shares with probability 0.9997.
        assert abs((chosen == 1).mean() - expected) < 3.9 * np.sqrt(0.25 / 40000)
        assert set(chosen) == set(range(n_options))
