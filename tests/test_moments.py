"""Sums within clusters: hand-computed tables, numpy as reference, invariances."""

import sys

import numpy as np
import pandas as pd
import pytest

from helpers.stats import moments

FEATURES = ["refusal", "length"]


@pytest.fixture
def frame():
    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.normal(size=(40, 3)) + 2, columns=[*FEATURES, "quality"])
    return table.assign(prompt_id=rng.permutation(np.arange(40) % 8))


def test_sums_follow_sorted_labels():
    values = np.array([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]])
    assert moments.cluster_sums(values, ["z", "b", "z"]).tolist() == [[2, 20], [5, 50]]


def test_sums_of_rows_of_any_shape():
    values = np.arange(12).reshape(3, 2, 2)
    assert moments.cluster_sums(values, [1, 0, 1]).tolist() == [
        [[4, 5], [6, 7]],
        [[8, 10], [12, 14]],
    ]
    assert moments.cluster_sums(values[:, 0, 0] > 0, [1, 0, 1]).tolist() == [1, 1]


def test_a_row_without_label_is_refused():
    with pytest.raises(ValueError, match="row 1 has no cluster label: label it or drop it"):
        moments.cluster_sums(np.ones(3), ["a", None, "b"])


def test_moments_of_a_tiny_table_are_the_sums_by_hand():
    table = pd.DataFrame(
        {"refusal": [1, 2, 3], "length": [4, 5, 6], "quality": [7, 8, 9], "prompt_id": list("aba")}
    )
    result = moments.cluster_moments(table, FEATURES, "quality", "prompt_id")
    assert result.features == ("refusal", "length")
    assert result.outcome == "quality"
    assert result.n.tolist() == [2, 1]
    assert result.sum_x.tolist() == [[4, 10], [2, 5]]
    assert result.sum_y.tolist() == [16, 8]
    assert result.xx.tolist() == [[[10, 22], [22, 52]], [[4, 10], [10, 25]]]
    assert result.xy.tolist() == [[34, 82], [16, 40]]
    assert result.yy.tolist() == [130, 64]


def test_without_clusters_every_row_is_its_own(frame):
    result = moments.cluster_moments(frame, FEATURES, "quality")
    assert result.n.tolist() == [1] * 40
    assert result.sum_y == pytest.approx(frame["quality"])


def test_the_order_of_rows_and_the_labels_of_clusters_do_not_matter(frame):
    first = moments.cluster_moments(frame, FEATURES, "quality", "prompt_id")
    shuffled = frame.sample(frac=1, random_state=0)
    renamed = shuffled.assign(prompt_id="prompt-" + shuffled["prompt_id"].astype(str))
    second = moments.cluster_moments(renamed, FEATURES, "quality", "prompt_id")
    np.testing.assert_allclose(first.products, second.products, rtol=1e-13)


def test_a_weighted_total_equals_the_moments_of_the_repeated_rows(frame):
    weights = np.array([[2, 0, 1, 1, 3, 0, 1, 0]])
    repeated = frame.loc[frame.index.repeat(weights[0][frame["prompt_id"]])]
    total = moments.cluster_moments(frame, FEATURES, "quality", "prompt_id").total(weights)
    expected = moments.cluster_moments(repeated, FEATURES, "quality").total()
    np.testing.assert_allclose(total.products, expected.products, rtol=1e-13)


def test_a_total_is_the_same_in_blocks(frame, monkeypatch):
    sets = moments.cluster_moments(frame, FEATURES, "quality", "prompt_id")
    weights = np.random.default_rng(0).integers(4, size=(5, 8))
    expected = [sets.total().products, sets.total(weights).products]
    monkeypatch.setattr(moments, "BLOCK", 3)
    np.testing.assert_allclose(sets.total().products, expected[0], rtol=1e-14)
    np.testing.assert_allclose(sets.total(weights).products, expected[1], rtol=1e-14)


def test_covariances_are_those_of_numpy(frame):
    features, cross, outcome = (
        moments.cluster_moments(frame, FEATURES, "quality").total().covariances()
    )
    expected = np.cov(frame[[*FEATURES, "quality"]].T, bias=True)
    np.testing.assert_allclose(features[0], expected[:2, :2], atol=1e-14)
    np.testing.assert_allclose(cross[0], expected[:2, 2], atol=1e-14)
    np.testing.assert_allclose(outcome, expected[2, 2], atol=1e-14)


def test_a_feature_that_does_not_vary_has_covariances_of_exactly_zero(frame):
    table = frame.assign(refusal=0.1)
    features, cross, _ = moments.cluster_moments(table, FEATURES, "quality").total().covariances()
    assert features[0, 0].tolist() == [0, 0]
    assert cross[0, 0] == 0


def test_squared_error_is_that_of_the_predictions(frame):
    result = moments.cluster_moments(frame, FEATURES, "quality").total()
    slopes = np.array([[0.5, -0.25]])
    intercept = result.intercept(slopes)
    residuals = frame["quality"] - intercept[0] - frame[FEATURES] @ slopes[0]
    assert residuals.mean() == pytest.approx(0, abs=1e-14)
    assert result.squared_error(intercept, slopes)[0] == pytest.approx((residuals**2).mean())


def test_correlation_is_that_of_the_predictions(frame):
    slopes = np.array([[0.5, -0.25]])
    result = moments.cluster_moments(frame, FEATURES, "quality").total().correlation(slopes)
    expected = np.corrcoef(frame[FEATURES] @ slopes[0], frame["quality"])[0, 1]
    assert result[0] == pytest.approx(expected, abs=1e-14)


def test_correlation_with_a_constant_prediction_is_undefined(frame):
    total = moments.cluster_moments(frame, FEATURES, "quality").total()
    assert np.isnan(total.correlation(np.zeros((1, 2)))).all()


def test_the_size_in_memory_is_that_of_the_products(frame):
    result = moments.cluster_moments(frame, FEATURES, "quality")
    assert result.products.nbytes < sys.getsizeof(result) < result.products.nbytes + 200


def test_large_clusters_have_the_same_moments_as_small_ones(frame, monkeypatch):
    small = moments.cluster_moments(frame, FEATURES, "quality", "prompt_id")
    monkeypatch.setattr(moments, "LARGE", 1)
    large = moments.cluster_moments(frame, FEATURES, "quality", "prompt_id")
    np.testing.assert_allclose(large.products, small.products, rtol=1e-13)
