"""Leaving out clusters: a loop that does it by hand, other packages, known answers."""

import krippendorff
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats

from helpers.data.tables import OptionError
from helpers.stats import leave_out

BOTH = ["rater_id", "prompt_id"]


@pytest.fixture(scope="module")
def ratings():
    """Each of 12 raters rates 20 of 30 prompts; both have effects."""
    rng = np.random.default_rng(0)
    rater = np.repeat(np.arange(12), 20)
    prompt = np.concatenate([rng.permutation(30)[:20] for _ in range(12)])
    x = rng.normal(size=30)[prompt] + rng.normal(size=12)[rater]
    z = rng.normal(size=240)
    y = x - 0.5 * z + rng.normal(size=30)[prompt] + rng.normal(size=240)
    marks = np.clip(np.round(1.5 + 0.7 * x), 0, 3)
    frame = pd.DataFrame({"rater_id": rater, "prompt_id": prompt, "x": x, "z": z})
    return frame.assign(y=y, mark=marks, group=rng.integers(3, size=240))


def slow(frame, clusters, compute):
    """Estimates and standard errors from tables without each cluster."""
    keys = [frame[column] for column in clusters]
    if len(clusters) == 2:
        keys.append(frame.groupby(clusters).ngroup())
    estimate = compute(frame)
    variances = []
    for labels in keys:
        moved = [
            compute(frame[labels != label]) - estimate for label in labels.unique()
        ]
        n = len(moved)
        variances.append((np.array(moved) ** 2).sum(axis=0) * (n - 1) / n)
    if len(variances) == 1:
        return estimate, np.sqrt(variances[0])
    first, second, both = variances
    total = np.maximum(first + second - both, np.maximum(first, second))
    return estimate, np.sqrt(total)


def assert_same(table, expected):
    estimate, standard_error = expected
    assert table["estimate"].to_numpy() == pytest.approx(estimate)
    assert table["standard_error"].to_numpy() == pytest.approx(standard_error)


def mean_table(frame, clusters, **options):
    statistic = leave_out.group_means(pd.Index(["y"]), 1, 1)
    rows = np.column_stack([frame["y"], np.zeros(len(frame))])
    return leave_out.leave_out(rows, frame[clusters], statistic, **options).table()


@pytest.mark.parametrize("clusters", [["rater_id"], ["prompt_id"], BOTH])
def test_means_of_groups_and_their_differences_are_those_of_a_loop(ratings, clusters):
    frame = ratings.assign(x=ratings["x"].where(ratings["x"] < 1))
    values = frame[["x", "y", "group"]].to_numpy()
    names = pd.MultiIndex.from_product([["x", "y"], [0, 1, 2]])
    means = leave_out.group_means(names, 2, 3)

    def by_hand(table):
        return table.groupby("group")[["x", "y"]].mean().to_numpy().T.ravel()

    found = leave_out.leave_out(values, frame[clusters], means).table()
    assert_same(found, slow(frame, clusters, by_hand))

    one_less_other = np.array([[-1.0, 1, 0, 0, 0, 0]])
    change = leave_out.group_means(pd.Index(["change"]), 2, 3, one_less_other)
    found = leave_out.leave_out(values, frame[clusters], change).table()
    expected = slow(frame, clusters, lambda table: one_less_other @ by_hand(table))
    assert_same(found, expected)


def test_with_rows_as_clusters_a_mean_has_the_interval_of_a_t_test(ratings):
    frame = ratings.assign(row=range(len(ratings)))
    row = mean_table(frame, ["row"]).loc["y"]
    test = stats.ttest_1samp(ratings["y"], 0.0)
    low, high = test.confidence_interval()
    assert row[["low", "high"]].tolist() == pytest.approx([low, high])
    assert row["p_value"] == pytest.approx(test.pvalue)
    assert row["df"] == pytest.approx(len(ratings) - 1)


def test_clusters_of_unequal_size_count_as_fewer():
    sizes = np.array([30] + [1] * 30)
    labels = np.repeat(np.arange(31), sizes)
    frame = pd.DataFrame({"rater_id": labels, "y": np.arange(60.0)})
    df = mean_table(frame, ["rater_id"]).loc["y", "df"]
    assert df == pytest.approx(60**2 / 930 - 1)


@pytest.mark.parametrize("clusters", [["rater_id"], BOTH])
def test_least_squares_are_those_of_statsmodels_in_a_loop(ratings, clusters):
    def by_hand(table):
        return sm.OLS(table["y"], sm.add_constant(table[["x", "z"]])).fit().params

    rows = sm.add_constant(ratings[["x", "z", "y"]]).to_numpy()
    statistic = leave_out.slopes(pd.Index(["intercept", "x", "z"]))
    found = leave_out.leave_out(rows, ratings[clusters], statistic).table()
    expected = slow(ratings, clusters, lambda table: by_hand(table).to_numpy())
    assert_same(found, expected)


def test_a_slope_has_as_many_clusters_as_tell_it(ratings):
    # only two raters vary in a feature: there is one degree of freedom
    flag = ((ratings["rater_id"] < 2) & (ratings["prompt_id"] % 2 == 0)).astype(float)
    rows = np.column_stack([flag, ratings["y"]])
    statistic = leave_out.slopes(pd.Index(["flag"]))
    left_out = leave_out.leave_out(rows, ratings[["rater_id"]], statistic)
    assert left_out.parts[0].effective_number()[0] == pytest.approx(2, abs=0.1)
    # without the only rater of a flag there is no coefficient, and no interval
    alone = np.where(ratings["rater_id"] == 3, flag * 0 + 1, 0.0)
    rows = np.column_stack([alone, ratings["y"]])
    row = leave_out.leave_out(rows, ratings[["rater_id"]], statistic).table()
    assert row[["low", "high"]].isna().all(axis=None)
    assert row["estimate"].notna().all()


def test_a_mean_that_is_missing_matters_only_where_it_counts(ratings):
    frame = ratings.assign(y=ratings["y"].where(ratings["group"] < 2))
    contrasts = np.array([[-1.0, 1, 0], [-1.0, 0, 1]])
    change = leave_out.group_means(pd.Index(["known", "unknown"]), 1, 3, contrasts)
    values = frame[["y", "group"]].to_numpy()
    found = leave_out.leave_out(values, frame[["prompt_id"]], change).value
    means = frame.groupby("group")["y"].mean()
    assert found["known"] == pytest.approx(means[1] - means[0])
    assert np.isnan(found["unknown"])


@pytest.mark.parametrize("clusters", [["prompt_id"], BOTH])
def test_correlations_are_those_of_scipy_in_a_loop(ratings, clusters):
    frame = ratings.assign(x=ratings["x"].where(ratings["x"] < 1))

    def by_hand(table):
        known = table.dropna()
        return np.arctanh([stats.pearsonr(known["x"], known["y"]).statistic])

    rows = frame[["x", "y"]].to_numpy()
    statistic = leave_out.correlations(pd.Index(["x"]))
    left_out = leave_out.leave_out(rows, frame[clusters], statistic)
    assert_same(left_out.table(), slow(frame, clusters, by_hand))
    shown = leave_out.fisher_table(left_out)
    ends = left_out.table()[["low", "high"]]
    assert shown[["low", "high"]].to_numpy() == pytest.approx(np.tanh(ends))
    slope = 1 - shown["estimate"] ** 2  # of the hyperbolic tangent
    errors = left_out.table()["standard_error"] * slope
    assert shown["standard_error"].tolist() == pytest.approx(errors.tolist())


def test_clusters_share_the_whole_variation_of_both_columns(ratings):
    rows = leave_out.power_sums(ratings[["x", "y"]].to_numpy())
    parts = pd.DataFrame(rows).groupby(ratings["prompt_id"]).sum().to_numpy()
    shares = leave_out._shared_variation(rows.sum(axis=0), parts)
    assert shares.sum(axis=0) == pytest.approx(2)  # all of x and all of y
    deviations = (ratings[["x", "y"]] - ratings[["x", "y"]].mean()) ** 2
    expected = (deviations / deviations.sum()).sum(axis=1)
    expected = expected.groupby(ratings["prompt_id"]).sum()
    assert shares[:, 0] == pytest.approx(expected.to_numpy())


def test_a_constant_column_has_no_correlation(ratings):
    rows = np.column_stack([np.full(240, 0.1), ratings["y"]])
    statistic = leave_out.correlations(pd.Index(["x"]))
    table = leave_out.leave_out(rows, ratings[["prompt_id"]], statistic).table()
    assert table["estimate"].isna().all()


@pytest.mark.parametrize("clusters", [["rater_id"], ["prompt_id"], BOTH])
def test_correlations_with_other_raters_are_those_of_a_loop(ratings, clusters):
    def by_hand(table):
        own = table.groupby("prompt_id")["y"]
        others = (own.transform("sum") - table["y"]) / (own.transform("size") - 1)
        known = own.transform("size") > 1
        return np.arctanh([np.corrcoef(table.loc[known, "x"], others[known])[0, 1]])

    rows = leave_out.power_sums(ratings[["x", "y"]].to_numpy())
    statistic = leave_out.others_correlations(pd.Index(["x"]))
    found = leave_out.leave_out(
        rows, ratings[clusters], statistic, items=ratings["prompt_id"]
    )
    assert_same(found.table(), slow(ratings, clusters, by_hand))


def test_two_raters_are_enough_and_one_is_not():
    frame = pd.DataFrame({"item": list("aabbccd"), "x": [1.0, 2, 3, 5, 8, 13, 50]})
    frame["y"] = [2.0, 1, 4, 3, 6, 9, 7]
    frame["others"] = [1.0, 2, 3, 4, 9, 6, np.nan]
    rows = leave_out.power_sums(frame[["x", "y"]].to_numpy())
    statistic = leave_out.others_correlations(pd.Index(["x"]), fisher=False)
    found = leave_out.leave_out(rows, frame[["item"]], statistic, items=frame["item"])
    assert found.value["x"] == pytest.approx(frame["x"].corr(frame["others"]))


def test_a_contrast_has_the_variance_of_its_matrix(ratings):
    statistic = leave_out.group_means(pd.Index(["x", "y", "z"]), 3, 1)
    rows = np.column_stack([ratings[["x", "y", "z"]], np.zeros(len(ratings))])
    found = leave_out.leave_out(rows, ratings[["prompt_id"]], statistic)
    weights = pd.DataFrame([[1, -0.5, -0.5], [0, 1, -1]], ["a", "b"], ["x", "y", "z"])
    contrast = found.contrast(weights)
    matrix = weights.to_numpy()
    expected = matrix @ found.parts[0].covariance() @ matrix.T
    assert contrast.parts[0].covariance() == pytest.approx(expected)
    assert contrast.value.tolist() == pytest.approx(matrix @ found.value)


def wide(table):
    return table.pivot(index="rater_id", columns="prompt_id", values="mark").to_numpy()


@pytest.mark.parametrize("level", leave_out.LEVELS)
@pytest.mark.parametrize("clusters", [["rater_id"], BOTH])
def test_alpha_is_that_of_krippendorff_in_a_loop(ratings, clusters, level):
    def by_hand(table):
        return np.array([krippendorff.alpha(wide(table), level_of_measurement=level)])

    scales = {"mark": [0, 1, 2, 3]}
    rows = leave_out.indicators(ratings[["mark"]].to_numpy(), scales)
    statistic = leave_out.coefficient("alpha", level, scales)
    found = leave_out.leave_out(
        rows, ratings[clusters], statistic, items=ratings["prompt_id"]
    )
    assert_same(found.table(), slow(ratings, clusters, by_hand))


@pytest.mark.parametrize("name", ["ac1", "same"])
@pytest.mark.parametrize("clusters", [["rater_id"], BOTH])
def test_pair_agreement_and_ac1_are_those_of_a_loop(ratings, clusters, name):
    def by_hand(table):
        counts = pd.crosstab(table["prompt_id"], table["mark"])
        counts = counts.reindex(columns=[0, 1, 2, 3], fill_value=0).to_numpy()
        n = counts.sum(axis=1)
        paired = counts[n > 1]
        pairs = n[n > 1] * (n[n > 1] - 1)
        same = ((paired * (paired - 1)).sum(axis=1) / pairs).mean()
        shares = (counts / n[:, None]).mean(axis=0)
        chance = (shares * (1 - shares)).sum() / 3
        ac1 = (same - chance) / (1 - chance)
        return np.array([same if name == "same" else ac1])

    scales = {"mark": [0, 1, 2, 3]}
    rows = leave_out.indicators(ratings[["mark"]].to_numpy(), scales)
    statistic = leave_out.coefficient(name, "nominal", scales)
    found = leave_out.leave_out(
        rows, ratings[clusters], statistic, items=ratings["prompt_id"]
    )
    table = found.table()
    assert_same(table, slow(ratings, clusters, by_hand))
    assert table["df"].iloc[0] == pytest.approx(11)


def test_few_rows_at_a_time_give_the_same(ratings, monkeypatch):
    def tables():
        rows = leave_out.indicators(ratings[["mark"]].to_numpy(), scales)
        alpha = leave_out.coefficient("alpha", "interval", scales)
        of_items = leave_out.leave_out(
            rows, ratings[BOTH], alpha, items=ratings["prompt_id"]
        )
        return pd.concat([mean_table(ratings, BOTH), of_items.table()])

    scales = {"mark": [0, 1, 2, 3]}
    whole = tables()
    for rows, numbers in [(7, 20), (1, 1)]:
        monkeypatch.setattr(leave_out, "ROWS_AT_ONCE", rows)
        monkeypatch.setattr(leave_out, "NUMBERS_AT_ONCE", numbers)
        pd.testing.assert_frame_equal(tables(), whole)


def test_the_order_of_rows_and_the_names_of_clusters_do_not_matter(ratings):
    shuffled = ratings.sample(frac=1, random_state=0)
    renamed = shuffled.assign(rater_id="rater " + shuffled["rater_id"].astype(str))
    whole = mean_table(ratings, BOTH)
    pd.testing.assert_frame_equal(mean_table(renamed, BOTH), whole)


def test_a_fixed_expert_is_never_left_out_but_the_prompts_are(ratings):
    found = mean_table(ratings, ["rater_id"], fixed={"rater_id": [0]}).loc[
        "y", "standard_error"
    ]
    y = ratings["y"]
    labels = ratings["rater_id"]
    moved = [y[labels != label].mean() - y.mean() for label in range(1, 12)]
    assert found == pytest.approx(np.sqrt(np.square(moved).sum() * 10 / 11))
    # variance by prompts is that without a fixed rater, and no cell of the expert's
    # rows is taken off
    statistic = leave_out.group_means(pd.Index(["y"]), 1, 1)
    rows = np.column_stack([y, np.zeros(len(y))])
    fixed = leave_out.leave_out(rows, ratings[BOTH], statistic, fixed={"rater_id": [0]})
    free = leave_out.leave_out(rows, ratings[BOTH], statistic)
    assert fixed.parts[1].squares == pytest.approx(free.parts[1].squares)
    assert fixed.parts[2].n_clusters == 220


def test_the_joined_variance_is_not_less_than_either():
    # cells vary much more than raters and prompts do
    frame = pd.DataFrame({"rater_id": list("aabb"), "prompt_id": [1, 2] * 2})
    frame["y"] = [1.0, -1.1, -1.0, 1.0]
    both = mean_table(frame, BOTH).loc["y", "standard_error"]
    alone = [mean_table(frame, [one]).loc["y", "standard_error"] for one in BOTH]
    assert both == pytest.approx(max(alone))


@pytest.mark.parametrize(
    ("clusters", "options", "message"),
    [
        ({"rater_id": ["a", "a", "a", "a"]}, {}, "rater_id"),
        ({"rater_id": ["a", None, "b", "b"]}, {}, "missing"),
        ({"rater_id": list("abcd")}, {}, "nobody repeats.*'rater_id'"),
        ({"rater_id": list("aabb")}, {"fixed": {"rater_id": ["a"]}}, "2 are needed"),
        ({"pair": [1, 1, 2, 3], "prompt": list("uuvv")}, {}, "nobody repeats.*'pair'"),
        ({"prompt": list("uuvv"), "pair": [1, 1, 2, 3]}, {}, "nobody repeats.*'pair'"),
        ({"a": [1, 2] * 2, "b": [1, 1, 2, 2], "c": [1, 2] * 2}, {}, "one or two"),
    ],
)
def test_clusters_that_cannot_be_left_out_are_refused(clusters, options, message):
    frame = pd.DataFrame(clusters).assign(y=[1.0, 2, 3, 5])
    with pytest.raises(ValueError, match=message):
        mean_table(frame, list(clusters), **options)


@pytest.mark.parametrize("name", leave_out.NOT_SMOOTH)
def test_what_is_not_smooth_is_refused_with_the_reason(name):
    with pytest.raises(OptionError, match=leave_out.NOT_SMOOTH[name]):
        leave_out.require_smooth(name)


@pytest.mark.parametrize("options", [("beta", "nominal"), ("alpha", "ratio")])
def test_unknown_coefficients_and_levels_are_refused(options):
    with pytest.raises(OptionError, match="unknown"):
        leave_out.coefficient(*options, {"mark": [0, 1]})


def with_intercept(part):
    return sm.add_constant(part[["x", "z", "y"]], has_constant="add").to_numpy()


@pytest.mark.parametrize("clusters", [["prompt_id"], BOTH])
def test_partitions_give_what_the_whole_table_gives(ratings, clusters):
    dask = pytest.importorskip("dask.dataframe")
    statistic = leave_out.slopes(pd.Index(["intercept", "x", "z"]))
    whole = leave_out.leave_out(with_intercept(ratings), ratings[clusters], statistic)
    by_prompt = ratings.set_index("prompt_id", drop=False).sort_index()
    large = dask.from_pandas(by_prompt.rename_axis("index"), npartitions=4)
    assert large.npartitions > 1
    found = leave_out.leave_out_large(large, with_intercept, clusters, statistic)
    pd.testing.assert_frame_equal(found.table(), whole.table())


def test_partitions_that_divide_prompts_and_raters_are_refused(ratings):
    dask = pytest.importorskip("dask.dataframe")
    statistic = leave_out.slopes(pd.Index(["intercept", "x", "z"]))
    shuffled = ratings.sample(frac=1, random_state=0).reset_index(drop=True)
    large = dask.from_pandas(shuffled, npartitions=3)
    message = (
        r"'prompt_id' are in several partitions: use "
        r"frame\.set_index\('prompt_id', drop=False\)"
    )
    with pytest.raises(ValueError, match=message):
        leave_out.leave_out_large(large, with_intercept, BOTH, statistic)
    one = dask.from_pandas(shuffled.assign(prompt_id=1), npartitions=3)
    with pytest.raises(ValueError, match="need at least 2"):
        leave_out.leave_out_large(one, with_intercept, ["prompt_id"], statistic)
