"""Sums within clusters: hand-computed tables, numpy as reference, invariances."""

import sys

import numpy as np
import pandas as pd
import pytest

from helpers.stats import moments

FEATURES = ["refusal", "length"]
SLOPES = np.array([[0.5, -0.25]])


@pytest.fixture
def frame():
    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.normal(size=(40, 3)) + 2, columns=[*FEATURES, "quality"])
    return table.assign(prompt_id=rng.permutation(np.arange(40) % 8))


def by_prompt(frame):
    return moments.cluster_moments(frame, FEATURES, "quality", "prompt_id")


def in_total(frame):
    return moments.cluster_moments(frame, FEATURES, "quality").total()


def test_sums_follow_sorted_labels_for_rows_of_any_shape():
    values = np.arange(12).reshape(3, 2, 2)
    sums = moments.cluster_sums(values, ["z", "b", "z"])
    assert sums.tolist() == [[[4, 5], [6, 7]], [[8, 10], [12, 14]]]
    assert moments.cluster_sums(values[:, 0, 0] > 0, ["z", "b", "z"]).tolist() == [1, 1]


def test_a_row_without_label_is_refused():
    with pytest.raises(
        ValueError, match="row 1 has no cluster label: label it or drop it"
    ):
        moments.cluster_sums(np.ones(3), ["a", None, "b"])


def test_moments_of_a_tiny_table_are_the_sums_by_hand():
    table = pd.DataFrame(
        {
            "refusal": [1, 2, 3],
            "length": [4, 5, 6],
            "quality": [7, 8, 9],
            "prompt_id": list("aba"),
        }
    )
    result = by_prompt(table)
    assert (result.features, result.outcome) == (("refusal", "length"), "quality")
    assert result.n.tolist() == [2, 1]
    assert result.products[:, 0].tolist() == [[2, 4, 10, 16], [1, 2, 5, 8]]
    assert result.products[:, -1, -1].tolist() == [130, 64]
    assert result.xx.tolist() == [[[10, 22], [22, 52]], [[4, 10], [10, 25]]]
    assert result.xy.tolist() == [[34, 82], [16, 40]]


def test_the_order_of_rows_and_the_labels_of_clusters_do_not_matter(frame):
    shuffled = frame.sample(frac=1, random_state=0)
    renamed = shuffled.assign(prompt_id="prompt-" + shuffled["prompt_id"].astype(str))
    first, second = by_prompt(frame), by_prompt(renamed)
    np.testing.assert_allclose(first.products, second.products, rtol=1e-13)


def test_a_weighted_total_equals_the_moments_of_the_repeated_rows_in_blocks_too(
    frame, monkeypatch
):
    weights = np.array([[2, 0, 1, 1, 3, 0, 1, 0]])
    repeated = frame.loc[frame.index.repeat(weights[0][frame["prompt_id"]])]
    for block in (1_000, 3):
        monkeypatch.setattr(moments, "BLOCK", block)
        total = by_prompt(frame).total(weights)
        np.testing.assert_allclose(
            total.products, in_total(repeated).products, rtol=1e-13
        )


def test_large_clusters_have_the_same_moments_as_small_ones(frame, monkeypatch):
    small = by_prompt(frame)
    monkeypatch.setattr(moments, "LARGE", 1)
    np.testing.assert_allclose(by_prompt(frame).products, small.products, rtol=1e-13)


def test_covariances_are_those_of_numpy(frame):
    features, cross, outcome = in_total(frame).covariances()
    expected = np.cov(frame[[*FEATURES, "quality"]].T, bias=True)
    np.testing.assert_allclose(features[0], expected[:2, :2], atol=1e-14)
    np.testing.assert_allclose(cross[0], expected[:2, 2], atol=1e-14)
    np.testing.assert_allclose(outcome, expected[2, 2], atol=1e-14)


def test_a_feature_that_does_not_vary_has_covariances_of_exactly_zero(frame):
    features, cross, _ = in_total(frame.assign(refusal=0.1)).covariances()
    assert features[0, 0].tolist() == [0, 0]
    assert features[0, 1, 1] > 0
    assert cross[0, 0] == 0


def test_the_correlation_is_that_of_the_predictions(frame):
    total = in_total(frame)
    prediction = frame[FEATURES] @ SLOPES[0]
    r = np.corrcoef(prediction, frame["quality"])[0, 1]
    assert total.correlation(SLOPES)[0] == pytest.approx(r, abs=1e-14)
    assert np.isnan(total.correlation(0 * SLOPES)).all()


def test_the_size_in_memory_is_that_of_the_products(frame):
    result = by_prompt(frame)
    assert result.products.nbytes < sys.getsizeof(result) < result.products.nbytes + 200
