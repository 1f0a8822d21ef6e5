"""Least squares and the Lasso: brute force, R, pyfixest, statsmodels, scikit-learn."""

import importlib.util
from pathlib import Path

import dask.dataframe
import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from sklearn.linear_model import Lasso
from statsmodels.stats.sandwich_covariance import cov_cluster_2groups

from helpers import intervals, regression
from helpers.data.tables import OptionError

ORACLES = Path(__file__).parent / "oracles"
FEATURES = ["label", "tone"]
BOTH = ["rater_id", "prompt_id"]
ERRORS = ["contradiction", "inconsistency", "factuality", "relevance", "formatting"]
ERRORS += ["refusal", "repetition", "scope", "fluency", "harmful"]
ASPECTS = ["factuality", "amount_info", "formality"]


def oracle_tables():
    """Load the script that writes the tables which R and pyfixest have read."""
    spec = importlib.util.spec_from_file_location("tables", ORACLES / "tables.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def drawn():
    return oracle_tables().drawn()


@pytest.fixture(scope="module")
def reference():
    return pd.read_csv(ORACLES / "reference.csv")


def numbers_of(reference, table, model):
    rows = reference[(reference["table"] == table) & (reference["model"] == model)]
    rows = rows.assign(
        coefficient=rows["coefficient"].replace({"(Intercept)": "intercept"})
    )
    return rows.set_index("coefficient")


def coefficients(frame, features, *, intercept=True, within=None):
    """Least squares, by NumPy."""
    x = frame[features].to_numpy(dtype=float)
    y = frame["lower"].to_numpy(dtype=float)
    if within is not None:
        values = frame[[*features, "lower"]]
        centred = values - values.groupby(frame[within]).transform("mean")
        x, y = centred[features].to_numpy(), centred["lower"].to_numpy()
    elif intercept:
        x = np.column_stack([np.ones(len(x)), x])
    return np.linalg.lstsq(x, y, rcond=None)[0]


def brute_force(frame, clusters, **options):
    """Covariances by each kind of cluster, each fitted anew without it."""
    estimate = coefficients(frame, FEATURES, **options)
    kinds = [clusters]
    if len(clusters) == 2:
        kinds = [clusters[:1], clusters[1:], clusters]
    covariances = []
    for kind in kinds:
        groups = frame.groupby(kind).ngroup()
        n_groups = groups.max() + 1
        changes = []
        for group in range(n_groups):
            left = frame[groups != group]
            changes.append(coefficients(left, FEATURES, **options) - estimate)
        changes = np.array(changes)
        covariances.append(changes.T @ changes * (n_groups - 1) / n_groups)
    return covariances


def cells_of(frame, kind):
    """The table with one row in most cells, with several in all, or unbalanced."""
    if kind == "several":
        return frame.assign(prompt_id=frame["prompt_id"] % 6)
    if kind == "unbalanced":
        return frame[(frame["rater_id"] > 3) | (frame["prompt_id"] < 4)]
    return frame


@pytest.mark.parametrize("cells", ["single", "several", "unbalanced"])
@pytest.mark.parametrize("clusters", [BOTH, ["rater_id"], ["prompt_id"]])
@pytest.mark.parametrize(
    "options", [{}, {"intercept": False}, {"within": "rater_id"}], ids=str
)
def test_variances_are_those_of_brute_force(drawn, cells, clusters, options):
    frame = cells_of(drawn, cells).head(400)
    found = regression.least_squares(frame, FEATURES, "lower", clusters, **options)
    expected = coefficients(frame, FEATURES, **options)
    np.testing.assert_allclose(found.value, expected, rtol=1e-12)
    if "within" in options:
        # a rater with one rating tells nothing, and is not counted
        frame = frame[frame.groupby("rater_id")["tone"].transform("size") > 1]
    brute = brute_force(frame, clusters, **options)
    for own, other in zip(found.covariances, brute, strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-11, atol=1e-13 * other.max())


def test_raters_without_variation_do_not_count(drawn):
    frame = drawn.head(700).copy()
    flat = frame["rater_id"] < 5
    frame.loc[flat, FEATURES] = 1.0
    both = [
        regression.least_squares(rows, FEATURES, "lower", BOTH, within="rater_id")
        for rows in (frame, frame[~flat])
    ]
    first, second = (each.table() for each in both)
    pd.testing.assert_frame_equal(first, second, rtol=1e-12)


def test_degrees_of_freedom_within_raters_count_what_each_tells(drawn):
    frame = drawn.head(700)
    found = regression.least_squares(
        frame, FEATURES, "lower", ["rater_id"], within="rater_id"
    )
    x = frame[FEATURES] - frame.groupby("rater_id")[FEATURES].transform("mean")
    inverse = np.linalg.inv(x.T @ x)
    told = [
        inverse[0] @ part.T @ part @ inverse[0]
        for _, part in x.groupby(frame["rater_id"])
    ]
    told = np.array(told)
    expected = told.sum() ** 2 / (told**2).sum() - 1
    assert found.degrees[0] == pytest.approx(expected)


@pytest.mark.parametrize("cluster", ["rater_id", "prompt_id"])
def test_one_kind_of_cluster_is_that_of_clubsandwich(drawn, reference, cluster):
    expected = numbers_of(reference, "drawn", f"CR3 {cluster}")
    found = regression.least_squares(drawn, FEATURES, "lower", [cluster]).table()
    for column in ("estimate", "standard_error", "df"):
        np.testing.assert_allclose(found[column], expected[column], rtol=1e-9)


def test_headline_of_the_error_weights_is_that_of_clubsandwich(real_data, reference):
    answers = oracle_tables().answers()
    expected = numbers_of(reference, "answers", "CR3 prompt_id")
    found = regression.least_squares(answers, ERRORS, "lower", ["prompt_id"]).table()
    for column in ("estimate", "standard_error", "df"):
        np.testing.assert_allclose(found[column], expected[column], rtol=1e-9)
    assert found.loc["refusal", "estimate"].round(2) == 1.50


@pytest.mark.parametrize(
    ("table", "features"), [("checks", ERRORS), ("aspects", ASPECTS)]
)
def test_slopes_within_raters_are_those_of_r(real_data, reference, table, features):
    rows = getattr(oracle_tables(), table)()
    clusters = ["rater_id", "prompt_id" if table == "checks" else "question_id"]
    found = regression.least_squares(
        rows, features, "lower", clusters, within="rater_id"
    ).table()
    dummies = numbers_of(reference, table, "within raters")["estimate"]
    np.testing.assert_allclose(found["estimate"], dummies[features], rtol=1e-9)
    # random effects of raters use what differs between raters, too, but little of it
    mixed = numbers_of(reference, table, "lmer rater_id")["estimate"][features]
    assert ((found["low"] < mixed) & (mixed < found["high"])).all()


def test_the_ratio_of_aspects_within_workers_agrees_with_lme4(real_data, reference):
    rows = oracle_tables().aspects()
    clusters = ["rater_id", "question_id"]
    found = regression.least_squares(
        rows, ASPECTS, "lower", clusters, within="rater_id"
    ).ratio("factuality", "amount_info")
    row = found.iloc[0]
    assert row[["estimate", "low", "high"]].round(2).tolist() == [1.21, 0.95, 1.61]
    model = "lmer rater_id question_id item_id"
    mixed = numbers_of(reference, "aspects", model)["estimate"]
    ratio = mixed["factuality"] / mixed["amount_info"]
    assert row["estimate"] == pytest.approx(ratio, abs=0.01)
    pooled = regression.least_squares(
        rows, ASPECTS, "lower", clusters, intercept=False
    ).ratio("factuality", "amount_info")
    assert pooled["estimate"].round(2).item() == 0.93


@pytest.mark.parametrize("table", ["drawn", "aspects"])
def test_each_variance_is_that_of_pyfixest(table, request):
    if table == "aspects":
        request.getfixturevalue("real_data")
    rows = getattr(oracle_tables(), table)()
    features = FEATURES if table == "drawn" else ASPECTS
    expected = pd.read_csv(ORACLES / "pyfixest.csv").query("table == @table")
    kinds = expected["clusters"].unique()
    clusters = kinds[-1].split("+")
    is_drawn = table == "drawn"
    found = regression.least_squares(
        rows, features, "lower", clusters, intercept=is_drawn
    )
    variances = []
    by_kind = [clusters[:1], clusters[1:], clusters]
    for kind, covariance in zip(by_kind, found.covariances, strict=True):
        n = rows.groupby(kind).ngroups
        # pyfixest leaves out the jackknife's factor
        variances.append(np.diagonal(covariance) * n / (n - 1))
    first, second, cells = variances
    both = first + second - cells
    for kind, variance in zip(kinds, [first, second, both], strict=True):
        errors = expected.loc[expected["clusters"] == kind, "standard_error"]
        np.testing.assert_allclose(np.sqrt(variance), errors, rtol=1e-8)


def test_many_clusters_come_near_the_sandwich_of_statsmodels(drawn):
    found = regression.least_squares(drawn, FEATURES, "lower", BOTH)
    fit = smf.ols("lower ~ label + tone", drawn).fit()
    groups = [drawn[column].to_numpy() for column in BOTH]
    _, by_rater, by_prompt = cov_cluster_2groups(fit, *groups)
    # without the residuals' correction, CR1 is a little smaller than CR3
    for own, other in zip(found.covariances, [by_rater, by_prompt], strict=False):
        ratio = np.sqrt(np.diagonal(own) / np.diagonal(other))
        assert (ratio > 0.97).all()
        assert (ratio < 1.1).all()


@pytest.mark.parametrize("clusters", [BOTH, ["prompt_id"]])
@pytest.mark.parametrize("intercept", [True, False])
def test_a_dask_frame_gives_the_same(drawn, clusters, intercept):
    large = dask.dataframe.from_pandas(drawn, npartitions=4)
    tables = [
        regression.least_squares(
            frame, FEATURES, "lower", clusters, intercept=intercept
        ).table()
        for frame in (drawn, large)
    ]
    pd.testing.assert_frame_equal(*tables, rtol=1e-9)


def test_a_time_stamp_as_feature_loses_nothing(drawn):
    seconds = drawn.assign(tone=1.7e9 + 1e4 * drawn["tone"])
    for options in ({}, {"within": "rater_id"}):
        stamped, plain = (
            regression.least_squares(rows, FEATURES, "lower", BOTH, **options).table()
            for rows in (seconds, drawn)
        )
        row = stamped.loc["tone"] * [1e4, 1e4, 1e4, 1e4, 1, 1]
        np.testing.assert_allclose(row, plain.loc["tone"], rtol=1e-6)


def test_a_feature_in_one_prompt_has_a_weight_without_an_interval(drawn):
    one = drawn.assign(label=(drawn["prompt_id"] == 3).astype(float))
    table = regression.least_squares(one, FEATURES, "lower", BOTH).table()
    assert table.loc["label", ["low", "high", "p_value", "df"]].isna().all()
    assert table.loc["label", "estimate"] == pytest.approx(
        coefficients(one, FEATURES)[1]
    )
    assert table.loc["tone"].notna().all()


def test_means_that_do_not_vary_by_rater_leave_the_raters_of_the_outcome(drawn):
    """For labels that stay as they are, raters count by the outcome alone."""
    frame = drawn.assign(item_id=drawn["prompt_id"] * 3 + drawn["rater_id"] % 3)
    of_items = frame.groupby("item_id")[FEATURES].transform("first")
    frame = frame.assign(**of_items)
    found = regression.least_squares_of_means(frame, FEATURES, "lower", "item_id", BOTH)
    means = frame.groupby("item_id")[[*FEATURES, "lower", "prompt_id"]].mean()
    expected = coefficients(means, FEATURES)
    np.testing.assert_allclose(found.value, expected, rtol=1e-10)
    by_prompt = brute_force(means, ["prompt_id"])[0]
    np.testing.assert_allclose(found.covariances[1], by_prompt, rtol=1e-9)


def test_raters_count_by_the_derivative_of_their_weight(drawn):
    frame = drawn.head(500).assign(item_id=drawn["prompt_id"] % 30)
    frame["prompt_id"] = frame["item_id"] // 3

    def fit(weights):
        values = frame[[*FEATURES, "lower"]]
        summed = values.mul(weights, axis=0).groupby(frame["item_id"]).sum()
        counts = pd.Series(weights, frame.index).groupby(frame["item_id"]).sum()
        return coefficients(summed.div(counts, axis=0), FEATURES)

    found = regression.least_squares_of_means(frame, FEATURES, "lower", "item_id", BOTH)
    estimate = fit(np.ones(len(frame)))
    for kind, covariance in [(["rater_id"], 0), (BOTH, 2)]:
        groups = frame.groupby(kind).ngroup().to_numpy()
        step = 1e-6
        slopes = [
            (fit(1 + step * (groups == g)) - estimate) / step
            for g in range(groups.max() + 1)
        ]
        expected = np.transpose(slopes) @ slopes
        np.testing.assert_allclose(
            found.covariances[covariance], expected, rtol=1e-3, atol=1e-6
        )


def test_a_difference_is_the_weight_beside_the_sum(drawn):
    """Next to the sum of two columns the first one's weight is their difference."""
    found = regression.least_squares(drawn, FEATURES, "lower", BOTH)
    summed = drawn.assign(both=drawn["label"] + drawn["tone"])
    expected = regression.least_squares(summed, ["label", "both"], "lower", BOTH)
    own = found.difference("label", "tone").table().iloc[0]
    other = expected.table().loc["label"]
    assert own["estimate"] == pytest.approx(other["estimate"])
    assert own["standard_error"] == pytest.approx(other["standard_error"])


@pytest.mark.parametrize("alpha", [0.001, 0.05, 0.5])
def test_the_lasso_is_that_of_scikit_learn_in_every_resample(drawn, alpha):
    rows = drawn.assign(stamp=1.7e9 + drawn["tone"], never=drawn["label"] * 0.5)
    rows["never"] = rows["never"].where(rows["prompt_id"] == 1, 0.0)
    names = ["label", "stamp", "never"]
    found = regression.lasso(
        rows, names, "lower", alpha, ["prompt_id"], n_boot=5, seed=2
    )
    times = intervals.times_drawn(rows[["prompt_id"]], 5, seed=2)
    centred = rows[names] - rows[names].mean()
    weights = [found.value, *found.draws]
    for own, weight in zip(weights, [np.ones(len(rows)), *times], strict=True):
        model = Lasso(alpha=alpha, tol=1e-12, max_iter=100_000)
        model.fit(centred, rows["lower"], sample_weight=weight)
        np.testing.assert_allclose(own, model.coef_, atol=1e-7)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"label": 1.0}, {}, "feature 'label' has the same value in all 2000 rows"),
        ({"lower": 1.0}, {}, "outcome 'lower' has the same value"),
        (
            {"tone": lambda f: 2 * f["label"]},
            {},
            "feature 'tone' is a combination of intercept, label",
        ),
        (
            {"tone": lambda f: 1.0 * f["rater_id"]},
            {"within": "rater_id"},
            "'tone' does not vary within any 'rater_id'",
        ),
        (
            {"label": lambda f: 1.0 * (f["prompt_id"] == 3)},
            {"within": "rater_id"},
            "without 'prompt_id' 3 the weight of 'label' within raters is not known",
        ),
    ],
)
def test_what_tells_nothing_is_refused_by_name(drawn, change, options, message):
    rows = drawn.assign(**change)
    with pytest.raises(OptionError, match=message):
        regression.least_squares(rows, FEATURES, "lower", BOTH, **options)


def test_other_refusals_say_what_to_do(drawn):
    with pytest.raises(OptionError, match="alpha must be positive"):
        regression.lasso(drawn, FEATURES, "lower", 0, BOTH, n_boot=2)
    with pytest.raises(OptionError, match="no features are named"):
        regression.least_squares(drawn, [], "lower", BOTH)
    large = dask.dataframe.from_pandas(drawn, npartitions=2)
    with pytest.raises(OptionError, match="need the table in memory"):
        regression.least_squares(large, FEATURES, "lower", BOTH, within="rater_id")


# Raters and prompts held equal ---------------------------------------------------


def with_two_effects(frame, features=FEATURES):
    """Least squares with a dummy for each rater and prompt, by NumPy."""
    dummies = [pd.get_dummies(frame[column]).astype(float) for column in BOTH]
    x = np.column_stack([frame[features], *dummies])
    return np.linalg.lstsq(x, frame["lower"], rcond=None)[0][: len(features)]


def complete_design():
    """Every rater rates every prompt once for each of three systems."""
    rng = np.random.default_rng(56)
    index = pd.MultiIndex.from_product([range(6), range(15), range(3)])
    frame = index.to_frame(index=False, name=["rater_id", "prompt_id", "system"])
    frame["label"] = (frame["system"] == 0).astype(float)
    frame["tone"] = (frame["system"] == 1).astype(float)
    tastes = rng.normal(size=(6, 3))[frame["rater_id"], frame["system"]]
    noise = rng.normal(size=len(frame))
    frame["lower"] = frame["label"] + frame["rater_id"] + tastes + noise
    return frame


def test_two_columns_within_are_dummies_of_both(drawn):
    found = regression.least_squares(drawn, FEATURES, "lower", BOTH, within=BOTH)
    np.testing.assert_allclose(found.value, with_two_effects(drawn), rtol=1e-10)
    turned = regression.least_squares(drawn, FEATURES, "lower", BOTH, within=BOTH[::-1])
    np.testing.assert_allclose(found.value, turned.value, rtol=1e-10)


@pytest.mark.parametrize("cluster", BOTH)
def test_a_complete_design_within_two_is_that_of_brute_force(cluster):
    frame = complete_design()
    found = regression.least_squares(frame, FEATURES, "lower", [cluster], within=BOTH)
    changes = []
    for label in frame[cluster].unique():
        left = frame[frame[cluster] != label]
        changes.append(with_two_effects(left) - found.value.to_numpy())
    changes = np.array(changes)
    n = len(changes)
    brute = changes.T @ changes * (n - 1) / n
    np.testing.assert_allclose(found.covariances[0], brute, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("cluster", BOTH)
def test_an_incomplete_design_within_two_is_near_brute_force(drawn, cluster):
    found = regression.least_squares(drawn, FEATURES, "lower", [cluster], within=BOTH)
    changes = []
    for label in drawn[cluster].unique():
        left = drawn[drawn[cluster] != label]
        changes.append(with_two_effects(left) - found.value.to_numpy())
    n = len(changes)
    brute = np.sqrt((np.array(changes) ** 2).sum(axis=0) * (n - 1) / n)
    own = np.sqrt(np.diagonal(found.covariances[0]))
    # the constants stay as they are, which makes a cluster move less
    np.testing.assert_allclose(own, brute, rtol=0.05)


def test_a_feature_of_raters_is_refused_within_raters_and_prompts(drawn):
    frame = drawn.assign(old=(drawn["rater_id"] > 20).astype(float))
    with pytest.raises(OptionError, match="'old' does not vary once 'rater_id' and"):
        regression.least_squares(frame, ["old"], "lower", BOTH, within=BOTH)
    with pytest.raises(OptionError, match="3 columns within: give one or two"):
        regression.least_squares(frame, ["old"], "lower", BOTH, within=[*BOTH, "tone"])


def test_a_list_of_one_column_within_is_that_column(drawn):
    single = regression.least_squares(drawn, FEATURES, "lower", BOTH, within="rater_id")
    found = regression.least_squares(
        drawn, FEATURES, "lower", BOTH, within=["rater_id"]
    )
    np.testing.assert_array_equal(single.covariances[0], found.covariances[0])
