"""Cluster-robust intervals: hand-computed sums, statsmodels as reference, invariances, messages."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.regression.linear_model import OLS

from helpers.stats.clustered import Estimates, covariance

SHARES = np.array([[3.0], [1.0], [-2.0], [2.0]])
CLUSTERS = pd.DataFrame({"rater_id": ["a", "a", "b", "c"], "prompt_id": [1, 2, 2, 1]})


def make_ratings(n_rows: int = 600, seed: int = 1) -> pd.DataFrame:
    """Outcome that varies by rater and by prompt, and a feature that varies by prompt."""
    rng = np.random.default_rng(seed)
    rater, prompt = rng.integers(40, size=n_rows), rng.integers(30, size=n_rows)
    feature = rng.normal(size=30)[prompt] + rng.normal(size=n_rows)
    noise = rng.normal(size=40)[rater] + rng.normal(size=30)[prompt] + rng.normal(size=n_rows)
    return pd.DataFrame(
        {"rater_id": rater, "prompt_id": prompt, "feature": feature, "outcome": feature + noise}
    )


def least_squares(frame: pd.DataFrame) -> Estimates:
    """Intercept and slope with the influence of each row."""
    design = np.column_stack([np.ones(len(frame)), frame["feature"]])
    inverse = np.linalg.inv(design.T @ design)
    slopes = inverse @ design.T @ frame["outcome"].to_numpy()
    residuals = frame["outcome"].to_numpy() - design @ slopes
    names = ["intercept", "feature"]
    return Estimates(pd.Series(slopes, names), residuals[:, None] * (design @ inverse))


def test_one_way_covariance_is_the_sum_of_squared_cluster_sums():
    expected = 3 / 2 * (4**2 + 2**2 + 2**2)
    assert covariance(SHARES, CLUSTERS[["rater_id"]]) == pytest.approx(expected)


def test_two_way_covariance_adds_both_ways_and_subtracts_what_was_counted_twice():
    by_rater, by_prompt = 3 / 2 * (4**2 + 2**2 + 2**2), 2 / 1 * (5**2 + 1**2)
    by_both = 4 / 3 * (3**2 + 1**2 + 2**2 + 2**2)
    assert covariance(SHARES, CLUSTERS) == pytest.approx(by_rater + by_prompt - by_both)


def test_two_way_errors_of_least_squares_are_those_of_statsmodels():
    frame = make_ratings()
    clusters = frame[["rater_id", "prompt_id"]]
    design = np.column_stack([np.ones(len(frame)), frame["feature"]])
    reference = OLS(frame["outcome"].to_numpy(), design).fit(
        cov_type="cluster", cov_kwds={"groups": clusters.to_numpy()}
    )
    table = least_squares(frame).table(clusters)
    for_parameters = np.sqrt((len(frame) - 1) / (len(frame) - 2))
    np.testing.assert_allclose(table["standard_error"] * for_parameters, reference.bse)


def test_intervals_use_one_degree_of_freedom_less_than_the_smaller_number_of_clusters():
    row = least_squares(make_ratings()).table(make_ratings()[["rater_id", "prompt_id"]]).iloc[1]
    margin = stats.t(29).ppf(0.975) * row["standard_error"]
    assert row[["low", "high"]].tolist() == pytest.approx(
        [row["estimate"] - margin, row["estimate"] + margin]
    )
    t_value = row["estimate"] / row["standard_error"]
    assert row["p_value"] == pytest.approx(2 * stats.t(29).sf(t_value))


def test_row_order_and_names_of_clusters_do_not_matter():
    frame = make_ratings()
    clusters = frame[["rater_id", "prompt_id"]]
    expected = least_squares(frame).table(clusters)
    shuffled = frame.sample(frac=1, random_state=0)
    renamed = shuffled[["prompt_id", "rater_id"]].astype(str).radd("cluster ")
    pd.testing.assert_frame_equal(least_squares(shuffled).table(renamed), expected)


def test_copies_of_rows_within_their_clusters_tell_nothing_new():
    frame = make_ratings()
    copies = pd.concat([frame] * 3, ignore_index=True)
    once, thrice = (
        least_squares(table).table(table[["rater_id", "prompt_id"]]) for table in (frame, copies)
    )
    pd.testing.assert_frame_equal(once, thrice)


def test_clusters_nested_in_others_leave_the_larger_ones():
    frame = make_ratings()
    nested = frame.assign(pair=frame["rater_id"] * 100 + frame["prompt_id"] % 2)
    influence = least_squares(frame).influence
    np.testing.assert_allclose(
        covariance(influence, nested[["rater_id", "pair"]]),
        covariance(influence, nested[["rater_id"]]),
    )


def test_negative_eigenvalues_are_set_to_zero():
    rater, prompt = np.divmod(np.arange(25), 5)
    influence = np.random.default_rng(0).normal(size=(25, 3))
    for labels in (rater, prompt):
        influence -= pd.DataFrame(influence).groupby(labels).transform("mean").to_numpy()
    influence[:, 0] += prompt
    result = covariance(influence, pd.DataFrame({"rater_id": rater, "prompt_id": prompt}))
    eigenvalues = np.linalg.eigvalsh(result)
    assert eigenvalues.max() > 1
    assert eigenvalues.min() == pytest.approx(0, abs=1e-9)


def test_an_estimate_without_estimated_variance_has_no_interval():
    rater, prompt = np.divmod(np.arange(4), 2)
    balanced = Estimates(pd.Series({"x": 1.0}), np.array([[1.0], [-1.0], [-1.0], [1.0]]))
    row = balanced.table(pd.DataFrame({"rater_id": rater, "prompt_id": prompt})).loc["x"]
    assert row["estimate"] == 1
    assert row.drop("estimate").isna().all()


def test_differences_and_multiples_carry_their_influence_along():
    estimates = least_squares(make_ratings())
    slope, intercept = estimates.pick(["feature"]), estimates.pick(["intercept"])
    twice = slope.minus(intercept).times(2)
    assert twice.value.index.tolist() == ["feature"]
    assert twice.value["feature"] == pytest.approx(
        2 * (estimates.value["feature"] - estimates.value["intercept"])
    )
    np.testing.assert_allclose(twice.influence, 2 * (estimates.influence @ [[-1], [1]]))


def test_an_unknown_estimate_is_named():
    with pytest.raises(ValueError, match="no estimate 'scope': choose among intercept, feature"):
        least_squares(make_ratings()).pick(["feature", "scope"])


def test_estimates_from_other_rows_cannot_be_subtracted():
    one, other = least_squares(make_ratings(50)), least_squares(make_ratings(60))
    with pytest.raises(ValueError, match="cannot subtract 2 estimates from 60 rows from 2 esti"):
        one.minus(other)


@pytest.mark.parametrize(
    ("clusters", "message"),
    [
        (CLUSTERS.assign(third=1), "got 3 columns of clusters: give one or two"),
        (CLUSTERS[[]], "got 0 columns of clusters: give one or two"),
        (CLUSTERS[:3], "clusters have 3 rows, the estimates come from 4: give the clusters of"),
        (CLUSTERS.assign(rater_id="a"), "column 'rater_id' has 1 distinct value: clusters need"),
        (CLUSTERS.assign(prompt_id=[1, 2, None, 1]), "column 'prompt_id' has 1 missing value"),
    ],
)
def test_clusters_that_cannot_be_used_are_refused(clusters, message):
    with pytest.raises(ValueError, match=message):
        covariance(SHARES, clusters)
