import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from helpers import text
from helpers.studies import kamoda


@pytest.fixture(scope="module")
def samples(real_data):
    return text.hand_samples(kamoda.load_texts(real_data).justifications["text"])


def test_the_longest_texts_come_in_order_and_ties_in_the_order_given():
    texts = pd.Series(["bb", "a", "cc", "ddd"], index=[4, 5, 6, 7])
    assert text.longest(texts, 3).index.tolist() == [7, 4, 6]


def test_the_two_samples_do_not_overlap_and_are_always_the_same():
    texts = pd.Series(["x" * length for length in range(200)])
    first, again = text.hand_samples(texts), text.hand_samples(texts)
    assert first["longest"].str.len().min() == 150
    assert first["others"].str.len().max() < 150
    assert first["others"].index.equals(again["others"].index)


def test_every_aspect_of_the_lexicon_was_checked_in_both_samples():
    counts = text.read_hand_check()
    expected = pd.MultiIndex.from_product([["longest", "others"], text.LEXICON])
    assert counts.index.equals(expected)
    assert (counts.loc["longest"].sum(axis="columns") == 50).all()
    assert (counts.loc["others"].sum(axis="columns") == 40).all()


def test_the_lexicon_still_finds_what_it_found_when_it_was_checked(samples):
    counts = text.read_hand_check()
    for name, texts in samples.items():
        found = text.mentions(texts).sum()
        recorded = counts.loc[name, ["true_positive", "false_positive"]].sum(axis="columns")
        pd.testing.assert_series_equal(found, recorded, check_names=False)


def test_precision_and_recall_are_shares_of_their_own_totals():
    counts = pd.DataFrame(
        {"true_positive": [6], "false_positive": [2], "false_negative": [3]}, index=["relevance"]
    )
    rates = text.precision_and_recall(counts).loc["relevance"]
    assert rates["precision"].tolist() == pytest.approx(
        [75, *(100 * np.array(proportion_confint(6, 8, method="wilson")))]
    )
    assert rates["recall"].tolist() == pytest.approx(
        [100 * 6 / 9, *(100 * np.array(proportion_confint(6, 9, method="wilson")))]
    )


def test_precision_of_an_aspect_that_was_never_found_is_missing():
    counts = pd.DataFrame(
        {"true_positive": [0], "false_positive": [0], "false_negative": [4]}, index=["grammar"]
    )
    rates = text.precision_and_recall(counts).loc["grammar"]
    assert rates["precision"].isna().all()
    assert rates["recall", "estimate"] == 0
