"""Least squares with clusters left out: known answers."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats
from statsmodels.regression.linear_model import OLS

from helpers.stats import clustered, leave_out


def test_two_ways_are_joined_by_one_rule():
    by_rater = np.array([4.0, 4.0, 1.0])
    by_prompt = np.array([3.0, 1.0, 2.0])
    by_both = np.array([2.0, 5.0, 0.5])
    joined = leave_out.two_way_variance(by_rater, by_prompt, by_both)
    # the second sum would be zero, the others stay
    np.testing.assert_array_equal(joined, [5.0, 4.0, 2.5])
    assert leave_out.joined_variance([by_rater]) is by_rater


def rare_feature(n_clusters=20, seed=3):
    """A feature that stands in a few rows of clusters of unequal size, and another."""
    rng = np.random.default_rng(seed)
    prompt = np.repeat(np.arange(n_clusters), rng.integers(2, 7, size=n_clusters))
    rare = (rng.random(len(prompt)) < 0.1).astype(float)
    other = rng.normal(size=len(prompt)) + rng.normal(size=n_clusters)[prompt]
    noise = rng.normal(size=len(prompt)) + 0.5 * rng.normal(size=n_clusters)[prompt]
    columns = {"prompt_id": prompt, "rare": rare, "other": other}
    return pd.DataFrame(columns).assign(lost=1.5 * rare + 0.5 * other + noise)


def bell_mccaffrey(x, y, labels):
    """CR3 and Satterthwaite's df from n-by-n matrices, after Bell and McCaffrey."""
    n_rows, n_columns = x.shape
    inverse = np.linalg.inv(x.T @ x)
    residual_maker = np.eye(n_rows) - x @ inverse @ x.T
    residual = residual_maker @ y
    clusters = np.unique(labels)
    errors, dfs = [], []
    for column in range(n_columns):
        changes, columns_of_g = [], []
        for cluster in clusters:
            rows = labels == cluster
            own = residual_maker[np.ix_(rows, rows)]
            weights = np.linalg.inv(own) @ x[rows] @ inverse[:, column]
            changes.append(weights @ residual[rows])
            columns_of_g.append(residual_maker[:, rows] @ weights)
        n_clusters = len(clusters)
        variance = np.sum(np.square(changes)) * (n_clusters - 1) / n_clusters
        errors.append(np.sqrt(variance))
        g = np.column_stack(columns_of_g)
        eigenvalues = np.linalg.eigvalsh(g.T @ g)
        dfs.append(eigenvalues.sum() ** 2 / (eigenvalues**2).sum())
    return np.array(errors), np.array(dfs)


@pytest.mark.parametrize("intercept", [True, False])
def test_cr3_and_satterthwaite_agree_with_matrices_of_all_rows(intercept):
    frame = rare_feature()
    x = frame[["rare", "other"]].to_numpy()
    if intercept:
        x = np.column_stack([np.ones(len(x)), x])
    y = frame["lost"].to_numpy()
    errors, dfs = bell_mccaffrey(x, y, frame["prompt_id"].to_numpy())
    table = clustered.least_squares(
        frame, ["rare", "other"], "lost", "prompt_id", intercept
    )
    plain = OLS(y, x).fit()
    np.testing.assert_allclose(table["estimate"], plain.params)
    np.testing.assert_allclose(table["standard_error"], errors)
    np.testing.assert_allclose(table["df"], dfs)
    margin = stats.t.ppf(0.975, dfs) * errors
    np.testing.assert_allclose(table["high"], plain.params + margin)


def test_cr3_is_how_far_coefficients_move_without_each_cluster():
    frame = rare_feature()
    table = clustered.least_squares(frame, ["rare", "other"], "lost", "prompt_id")
    moved = []
    for cluster in frame["prompt_id"].unique():
        rest = frame[frame["prompt_id"] != cluster]
        x = np.column_stack([np.ones(len(rest)), rest[["rare", "other"]]])
        moved.append(OLS(rest["lost"].to_numpy(), x).fit().params)
    squares = (np.array(moved) - table["estimate"].to_numpy()) ** 2
    expected = np.sqrt(squares.sum(axis=0) * 19 / 20)
    np.testing.assert_allclose(table["standard_error"], expected)


def test_two_groups_of_whole_clusters_have_as_many_df_as_a_t_test():
    frame = pd.DataFrame({"prompt_id": range(12), "tone": [0.0, 1.0] * 6})
    frame["lost"] = np.random.default_rng(0).normal(size=12)
    table = clustered.least_squares(frame, ["tone"], "lost", "prompt_id")
    assert table.loc["tone", "df"] == pytest.approx(10)
    # without the factor 11 / 12, leaving one out adds a sixth to the usual variance
    by_group = frame.groupby("tone")["lost"].var().sum() / 6
    expected = np.sqrt(by_group * 6 / 5 * 11 / 12)
    assert table.loc["tone", "standard_error"] == pytest.approx(expected)


def test_a_feature_of_one_cluster_has_no_interval_and_leaves_the_others_alone():
    frame = rare_feature()
    frame["single"] = (frame["prompt_id"] == 0).astype(float)
    frame.loc[frame.index[0], "single"] = 0.0
    features = ["rare", "other", "single"]
    table = clustered.least_squares(frame, features, "lost", "prompt_id")
    assert table.loc["single", ["low", "high", "p_value"]].isna().all()
    assert table.loc[["rare", "other"]].notna().all(axis=None)


def test_a_slope_is_known_where_the_feature_differs_in_ten_clusters():
    frame = pd.DataFrame({"prompt_id": np.repeat(np.arange(12), 2)})
    frame["ten"] = (np.arange(24) % 2 == 0) & (frame["prompt_id"] < 10)
    frame["nine"] = (np.arange(24) % 2 == 0) & (frame["prompt_id"] < 9)
    names = ["ten", "nine"]
    counts = clustered.informative_clusters(frame.astype(float), names, "prompt_id")
    assert counts.tolist() == [10, 9]
    table = pd.DataFrame({"estimate": [1.0, 2.0], "detectable": [3.0, 4.0]}, names)
    known = clustered.where_known(table, counts)
    assert known["estimate"].isna().tolist() == [False, True]
    assert known["detectable"].tolist() == [3.0, 4.0]


@pytest.fixture
def rated():
    """Ratings of 24 answers to 6 prompts; some raters label, others score."""
    rng = np.random.default_rng(7)
    rows = []
    for answer in range(24):
        for rater in rng.choice(8, 3, replace=False):
            label = float(rng.random() < 0.4)
            rows.append((answer, answer // 4, f"l{rater}", label, np.nan))
        for rater in rng.choice(9, 4, replace=False):
            score = rng.normal() - answer % 3
            rows.append((answer, answer // 4, f"s{rater}", np.nan, score))
    columns = ["answer", "prompt", "rater", "label", "score"]
    return pd.DataFrame(rows, columns=columns)


def slope_of_means(ratings: pd.DataFrame) -> float:
    """Slope of mean scores on mean labels, by statsmodels."""
    means = ratings.groupby("answer")[["label", "score"]].mean().dropna()
    design = sm.add_constant(means["label"])
    return sm.OLS(means["score"], design).fit().params["label"]


def test_raters_are_left_out_of_the_means_of_their_items(rated):
    table = clustered.least_squares_of_means(
        rated, ["label"], "score", "answer", ["rater", "prompt"]
    )
    estimate = slope_of_means(rated)
    assert table.loc["label", "estimate"] == pytest.approx(estimate)
    variances = []
    cells = rated["rater"] + "-" + rated["prompt"].astype(str)
    for labels in (rated["rater"], rated["prompt"], cells):
        changes = [
            slope_of_means(rated[labels != one]) - estimate for one in labels.unique()
        ]
        n = len(changes)
        variances.append((n - 1) / n * np.square(changes).sum())
    first, second, both = variances
    variance = max(first + second - both, first, second)
    assert table.loc["label", "standard_error"] == pytest.approx(np.sqrt(variance))


def test_means_left_out_by_prompt_only_are_least_squares_by_prompt(rated):
    means = rated.groupby(["answer", "prompt"])[["label", "score"]].mean()
    fixed = (
        rated.drop(columns="label")
        .dropna()
        .merge(means["label"].reset_index(), on=["answer", "prompt"])
    )
    of_means = clustered.least_squares_of_means(
        fixed, ["label"], "score", "answer", ["prompt"]
    )
    of_items = clustered.least_squares(
        means.reset_index(), ["label"], "score", "prompt"
    )
    columns = ["estimate", "standard_error"]
    pd.testing.assert_frame_equal(of_means[columns], of_items[columns])
    # six prompts of four answers each
    assert 1 <= of_means.loc["label", "df"] <= 5


def test_a_missing_rater_is_refused(rated):
    rated.loc[3, "rater"] = None
    with pytest.raises(ValueError, match="column 'rater' has 1 missing value"):
        clustered.least_squares_of_means(
            rated, ["label"], "score", "answer", ["rater", "prompt"]
        )
