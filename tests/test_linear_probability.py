"""Linear probability models: coefficients, White's errors and clustered ones."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.regression.linear_model import OLS

from helpers.stats import lasso
from helpers.stats.clustered import fit_linear_probability


@pytest.fixture
def frame():
    rng = np.random.default_rng(3)
    cue = np.repeat(np.arange(80), 5)
    hard = np.repeat(rng.integers(2, size=80), 5)
    age = rng.uniform(0, 1, size=400)
    rate = 0.2 + 0.2 * hard + 0.3 * age + np.repeat(rng.uniform(-0.15, 0.15, 80), 5)
    error = (rng.random(400) < rate).astype(int)
    return pd.DataFrame({"hard": hard, "age": age, "error": error, "cue": cue, "row": range(400)})


def test_one_feature_gives_the_difference_of_two_rates(frame):
    model = fit_linear_probability(frame, ["hard"], "error")
    rates = 100 * frame.groupby("hard")["error"].mean()
    expected = [rates[0], rates[1] - rates[0]]
    assert model.estimates.value.tolist() == pytest.approx(expected)
    assert model.estimates.value.index.tolist() == ["intercept", "hard"]


def test_hc0_is_that_of_statsmodels(frame):
    table = fit_linear_probability(frame, ["hard", "age"], "error").hc0()
    design = frame[["hard", "age"]].assign(intercept=1.0)
    expected = OLS(frame["error"], design).fit(cov_type="HC0")
    for feature in ("hard", "age", "intercept"):
        assert table.loc[feature, "estimate"] == pytest.approx(100 * expected.params[feature])
        assert table.loc[feature, "standard_error"] == pytest.approx(100 * expected.bse[feature])
        assert table.loc[feature, "p_value"] == pytest.approx(expected.pvalues[feature])
        interval = 100 * expected.conf_int().loc[feature]
        assert table.loc[feature, ["low", "high"]].tolist() == pytest.approx(interval.tolist())


def test_clustered_errors_are_those_of_the_regression_module_up_to_its_small_sample_factor(frame):
    clustered = fit_linear_probability(frame, ["hard", "age"], "error").clustered(frame[["cue"]])
    expected = lasso.ols(frame, ["hard", "age"], "error", "cue")
    factor = np.sqrt((400 - 1) / (400 - 3))
    assert (factor * clustered["standard_error"] / 100).tolist() == pytest.approx(
        expected["standard_error"].tolist()
    )


def test_a_cluster_for_each_row_gives_hc0(frame):
    model = fit_linear_probability(frame, ["hard", "age"], "error")
    alone = model.clustered(frame[["row"]])["standard_error"] / np.sqrt(400 / 399)
    pd.testing.assert_series_equal(alone, model.hc0()["standard_error"])


def test_copies_of_rows_change_hc0_but_not_clustered_errors(frame):
    copies = pd.concat([frame] * 4, ignore_index=True)
    once = fit_linear_probability(frame, ["hard", "age"], "error")
    copied = fit_linear_probability(copies, ["hard", "age"], "error")
    pd.testing.assert_frame_equal(copied.clustered(copies[["cue"]]), once.clustered(frame[["cue"]]))
    halved = copied.hc0()["standard_error"] * 2
    pd.testing.assert_series_equal(halved, once.hc0()["standard_error"])


def test_clustered_intervals_cover_the_truth_where_hc0_does_not():
    rng = np.random.default_rng(20240917)
    covered = []
    for _ in range(100):
        hard = np.repeat(rng.integers(2, size=100), 10)
        rate = np.repeat(rng.uniform(0.0, 0.8, 100), 10) + 0.2 * hard
        error = (rng.random(1000) < rate).astype(int)
        sample = pd.DataFrame({"hard": hard, "error": error, "cue": np.repeat(range(100), 10)})
        model = fit_linear_probability(sample, ["hard"], "error")
        tables = (model.hc0(), model.clustered(sample[["cue"]]))
        covered.append(
            [table.loc["hard", "low"] <= 20 <= table.loc["hard", "high"] for table in tables]
        )
    independent, clustered = np.mean(covered, axis=0)
    # 95 % coverage gives at least 88 % in 100 trials with probability 0.998.
    assert clustered >= 0.88
    assert independent < 0.85


def test_fitted_values_beyond_the_range_of_a_probability_are_counted():
    ages = pd.DataFrame({"age": [0, 1, 2, 3, 4, 5], "error": [0, 0, 0, 1, 1, 1]})
    model = fit_linear_probability(ages, ["age"], "error")
    assert model.fitted.round(2).tolist() == [-0.14, 0.11, 0.37, 0.63, 0.89, 1.14]
    assert model.impossible() == pytest.approx(2 / 6)


def test_an_outcome_between_no_and_yes_is_refused(frame):
    halved = frame.assign(error=frame["error"].astype(float))
    halved.loc[7, "error"] = 0.5
    message = "column 'error' is 0.5 in row 7: a linear probability model explains 0 and 1"
    with pytest.raises(ValueError, match=message):
        fit_linear_probability(halved, ["hard"], "error")


def test_a_constant_feature_is_refused(frame):
    with pytest.raises(ValueError, match="feature 'same' is a combination of the intercept"):
        fit_linear_probability(frame.assign(same=1), ["same"], "error")
