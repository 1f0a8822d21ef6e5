"""Moments between different raters of one item."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from helpers.stats import aspects
from helpers.stats.correlations import correlation_matrices
from helpers.stats.moments import cluster_moments


@pytest.fixture
def ratings():
    """Ratings of 40 answers by two or three raters, with a general impression of each rater."""
    rng = np.random.default_rng(7)
    answers = np.repeat(np.arange(40), 3)[:-15]
    impression = rng.normal(size=len(answers))
    quality = rng.normal(size=40)[answers]
    return pd.DataFrame(
        {
            "item_id": answers,
            "question_id": answers // 4,
            "factuality": quality + impression + rng.normal(size=len(answers)),
            "formality": impression + rng.normal(size=len(answers)),
            "acceptability": quality + impression,
        }
    )


def test_pairs_of_raters_are_all_ordered_pairs_within_items(ratings):
    features = ["factuality", "formality"]
    pairs = [
        pair
        for _, rows in ratings.groupby("item_id")
        for pair in permutations(rows[[*features, "acceptability"]].to_numpy(), 2)
    ]
    one, other = np.array(pairs).transpose(1, 0, 2)
    moments = aspects.rater_pairs(
        ratings, features, "acceptability", "item_id", "question_id"
    ).total()
    assert moments.n[0] == len(pairs)
    np.testing.assert_allclose(moments.xx[0], one[:, :2].T @ other[:, :2], rtol=1e-10)
    np.testing.assert_allclose(moments.xy[0], one[:, :2].T @ other[:, 2], rtol=1e-10)
    np.testing.assert_allclose(moments.sum_y[0], one[:, 2].sum(), rtol=1e-10)


def test_items_with_one_rater_add_nothing(ratings):
    alone = ratings.iloc[[0]].assign(item_id=99)
    first, second = (
        aspects.rater_pairs(
            table, ["factuality"], "acceptability", "item_id", "question_id"
        ).products
        for table in (ratings, pd.concat([ratings, alone]))
    )
    np.testing.assert_allclose(first, second, rtol=1e-10)


def test_noise_of_raters_lowers_the_usual_correlation_only():
    rng = np.random.default_rng(0)
    quality = np.repeat(rng.normal(size=4000), 3)
    answers = np.repeat(np.arange(4000), 3)
    noise = rng.normal(size=(2, len(quality)))
    table = pd.DataFrame({"item_id": answers, "question_id": answers // 4}).assign(
        factuality=quality + noise[0], acceptability=quality + noise[1]
    )
    usual = cluster_moments(table, ["factuality"], "acceptability").total()
    agreed = aspects.rater_pairs(
        table, ["factuality"], "acceptability", "item_id", "question_id"
    ).total()
    assert correlation_matrices(usual)[0, 0, -1] == pytest.approx(0.5, abs=0.03)
    assert correlation_matrices(agreed)[0, 0, -1] == pytest.approx(1.0, abs=0.03)


def test_a_general_impression_does_not_pass_for_agreement():
    rng = np.random.default_rng(1)
    answers = np.repeat(np.arange(3000), 3)
    quality, impression = rng.normal(size=3000)[answers], rng.normal(size=9000)
    table = pd.DataFrame({"item_id": answers, "question_id": answers // 4}).assign(
        formality=impression + rng.normal(size=3000)[answers], acceptability=quality + impression
    )
    usual = cluster_moments(table, ["formality"], "acceptability").total()
    agreed = aspects.rater_pairs(
        table, ["formality"], "acceptability", "item_id", "question_id"
    ).total()
    assert correlation_matrices(usual)[0, 0, -1] == pytest.approx(0.5, abs=0.03)
    assert correlation_matrices(agreed)[0, 0, -1] == pytest.approx(0.0, abs=0.06)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"item_id": range(105)}, "no item_id has two rows: rows of different raters"),
        ({"question_id": range(105)}, "item_id 0 is in more than one question_id: put it into"),
        ({"item_id": None}, "column 'item_id' has 105 missing values, first in row 0"),
        ({"acceptability": 2.0}, "outcome 'acceptability' has the same value in all 105 rows"),
    ],
)
def test_unusable_raters_are_refused(ratings, change, message):
    with pytest.raises(ValueError, match=message):
        aspects.rater_pairs(
            ratings.assign(**change), ["factuality"], "acceptability", "item_id", "question_id"
        )
