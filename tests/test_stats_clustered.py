"""Clustered errors and least squares: known answers."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats
from statsmodels.regression.linear_model import OLS

from helpers.stats import clustered, leave_out
from helpers.stats.clustered import Estimates

SHARES = np.array([[3.0], [1.0], [-2.0], [2.0]])
CLUSTERS = pd.DataFrame({"rater_id": ["a", "a", "b", "c"], "prompt_id": [1, 2, 2, 1]})
SHARED = ["rater_id", "prompt_id"]


def make_ratings(n_rows: int = 600) -> pd.DataFrame:
    """An outcome, yes or no, varies by rater and prompt; a feature varies by prompt."""
    rng = np.random.default_rng(1)
    rater = rng.integers(40, size=n_rows)
    prompt = rng.integers(30, size=n_rows)
    feature = rng.normal(size=30)[prompt] + rng.normal(size=n_rows)
    noise = (
        rng.normal(size=40)[rater]
        + rng.normal(size=30)[prompt]
        + rng.normal(size=n_rows)
    )
    outcome = (feature + noise > 0).astype(int)
    return pd.DataFrame(
        {"rater_id": rater, "prompt_id": prompt, "feature": feature, "outcome": outcome}
    )


def probability(frame: pd.DataFrame, feature: str = "feature"):
    """Linear probability model in percentage points."""
    design = frame[[feature]].assign(intercept=1.0)
    fit = OLS(frame["outcome"], design).fit()
    weights = design.to_numpy() @ np.linalg.inv(design.T @ design)
    influence = fit.resid.to_numpy()[:, None] * weights
    return Estimates(fit.params, influence).times(100.0)


def hc0(model):
    """White's standard errors, which take rows for independent."""
    return clustered.t_table(
        model.value, np.sqrt((model.influence**2).sum(axis=0)), np.inf
    )


def clustered_fit(outcome, design, clusters):
    """Statsmodels as reference."""
    groups = {"groups": clusters.to_numpy()}
    return OLS(outcome.to_numpy(), design).fit(cov_type="cluster", cov_kwds=groups)


def reference_errors(outcome, design, clusters):
    """Errors by statsmodels: both ways, or one way where that is more."""
    fits = [clustered_fit(outcome, design, clusters)]
    fits += [clustered_fit(outcome, design, clusters[column]) for column in clusters]
    # covariances: dummies of one rater may have a variance below zero
    variances = [np.diagonal(fit.cov_params()) for fit in fits]
    return np.sqrt(np.max(variances, axis=0))


def test_two_way_errors_of_least_squares_are_those_of_statsmodels():
    frame = make_ratings()
    design = frame[["feature"]].assign(intercept=1.0)
    reference = clustered_fit(100 * frame["outcome"], design, frame[SHARED])
    table = probability(frame).table(frame[SHARED]).loc[design.columns]
    for_parameters = np.sqrt((len(frame) - 1) / (len(frame) - 2))
    errors = reference_errors(100 * frame["outcome"], design, frame[SHARED])
    np.testing.assert_allclose(table["standard_error"] * for_parameters, errors)
    np.testing.assert_allclose(table["estimate"], reference.params)


def test_intervals_use_one_degree_of_freedom_less_than_the_smaller_number_of_clusters():
    row = probability(make_ratings()).table(make_ratings()[SHARED]).loc["feature"]
    t = stats.t(29)
    margin = t.ppf(0.975) * row["standard_error"]
    assert row["low"] == pytest.approx(row["estimate"] - margin)
    assert row["high"] == pytest.approx(row["estimate"] + margin)
    t_value = row["estimate"] / row["standard_error"]
    assert row["p_value"] == pytest.approx(2 * t.sf(t_value))


def test_neither_row_order_nor_names_of_clusters_nor_copies_of_rows_matter():
    frame = make_ratings()
    expected = probability(frame).table(frame[SHARED])
    shuffled = frame.sample(frac=1, random_state=0)
    renamed = shuffled[SHARED[::-1]].astype(str).radd("cluster ")
    pd.testing.assert_frame_equal(probability(shuffled).table(renamed), expected)
    copies = pd.concat([frame] * 3, ignore_index=True)
    pd.testing.assert_frame_equal(probability(copies).table(copies[SHARED]), expected)


def test_an_estimate_without_estimated_variance_has_no_interval():
    rater, prompt = np.divmod(np.arange(4), 2)
    balanced = Estimates(
        pd.Series({"x": 1.0}), np.array([[1.0], [-1.0], [-1.0], [1.0]])
    )
    row = balanced.table(pd.DataFrame({"rater_id": rater, "prompt_id": prompt})).loc[
        "x"
    ]
    assert row["estimate"] == 1
    assert row.drop("estimate").isna().all()


def test_differences_and_multiples_carry_their_influence_along():
    both = probability(make_ratings())
    twice = both.pick(["feature"]).minus(both.pick(["intercept"])).times(2)
    contrast = np.where(both.value.index == "feature", 2, -2)
    assert twice.value.to_dict() == pytest.approx({"feature": both.value @ contrast})
    np.testing.assert_allclose(twice.influence[:, 0], both.influence @ contrast)


@pytest.mark.parametrize(
    ("clusters", "message"),
    [
        (
            CLUSTERS.assign(rater_id="a"),
            "column 'rater_id' has 1 distinct value: clusters need",
        ),
        (
            CLUSTERS.assign(prompt_id=[1, 2, None, 1]),
            "column 'prompt_id' has 1 missing value",
        ),
    ],
)
def test_clusters_that_cannot_be_used_are_refused(clusters, message):
    with pytest.raises(ValueError, match=message):
        Estimates(pd.Series({"x": 1.0}), SHARES).table(clusters)


def test_hc0_is_that_of_statsmodels():
    frame = make_ratings()
    fit = OLS(frame["outcome"], frame[["feature"]].assign(intercept=1.0)).fit(
        cov_type="HC0"
    )
    expected = pd.DataFrame(
        {"estimate": 100 * fit.params, "standard_error": 100 * fit.bse}
    )
    expected[["low", "high"]] = 100 * fit.conf_int()
    expected["p_value"] = fit.pvalues
    table = hc0(probability(frame))
    pd.testing.assert_frame_equal(table.loc[expected.index], expected, atol=1e-12)


def centred(*columns):
    return np.column_stack([column - column.mean() for column in columns]).astype(float)


def test_slopes_are_least_squares_each_alone_and_all_together():
    ratings = make_ratings()
    x = centred(ratings["feature"], ratings["feature"] ** 2 + ratings["prompt_id"])
    y = centred(ratings["outcome"])[:, 0]
    both = clustered.slopes(x, y, ["a", "b"])
    np.testing.assert_allclose(both.value, OLS(y, x).fit().params)
    alone = clustered.slopes(x, y, ["a", "b"], alone=True)
    np.testing.assert_allclose(
        alone.value, [OLS(y, each).fit().params[0] for each in x.T]
    )
    np.testing.assert_allclose(
        [both.leverage.sum(axis=0), alone.leverage.sum(axis=0)], 1
    )


def test_the_error_of_a_slope_is_the_jackknife():
    ratings = make_ratings(200)
    x = centred(ratings["feature"])
    y = centred(ratings["outcome"])[:, 0]
    slope = clustered.slopes(x, y, ["a"])
    variance = 0.0
    for prompt in ratings["prompt_id"].unique():
        others = ratings["prompt_id"] != prompt
        without = OLS(y[others], x[others]).fit().params[0]
        variance += (without - slope.value["a"]) ** 2
    table = slope.table(ratings[["prompt_id"]])
    assert table["standard_error"].item() == pytest.approx(np.sqrt(variance))
    share = pd.Series(x[:, 0] ** 2).groupby(ratings["prompt_id"]).sum() / (x**2).sum()
    assert table["df"].item() == pytest.approx(1 / (share**2).sum() - 1)


def test_without_leverage_two_way_errors_are_those_of_statsmodels():
    ratings = make_ratings()
    x = centred(ratings["feature"], ratings["feature"] ** 2)
    y = centred(ratings["outcome"])[:, 0]
    both = clustered.slopes(x, y, ["a", "b"])
    plain = clustered.Slopes(both.value, both.influence, 0 * both.leverage + 1e-12)
    error, _ = plain.errors_and_df(ratings[SHARED])
    groups = {"groups": ratings[SHARED].to_numpy(), "use_correction": False}
    fit = OLS(y, x).fit(cov_type="cluster", cov_kwds=groups)
    found = [fit.bse]
    for column in SHARED:
        groups["groups"] = ratings[column].to_numpy()
        fit = OLS(y, x).fit(cov_type="cluster", cov_kwds=groups)
        found.append(fit.bse)
    np.testing.assert_allclose(error, np.max(found, axis=0), rtol=1e-6)


def test_two_ways_are_joined_by_one_rule():
    by_rater = np.array([4.0, 4.0, 1.0])
    by_prompt = np.array([3.0, 1.0, 2.0])
    by_both = np.array([2.0, 5.0, 0.5])
    joined = leave_out.two_way_variance(by_rater, by_prompt, by_both)
    # the second sum would be zero, the others stay
    np.testing.assert_array_equal(joined, [5.0, 4.0, 2.5])
    assert leave_out.joined_variance([by_rater]) is by_rater


def test_slopes_of_copies_are_arbitrary_but_not_those_of_the_others():
    ratings = make_ratings()
    x = centred(ratings["feature"], ratings["prompt_id"])
    y = centred(ratings["outcome"])[:, 0]
    once = clustered.slopes(x, y, ["a", "b"])
    twice = clustered.slopes(np.column_stack([x, x[:, 0]]), y, ["a", "b", "copy of a"])
    assert twice.value["b"] == pytest.approx(once.value["b"])


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
