"""A model of a study, its fit, the power of studies drawn from it, and plans."""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, t

from helpers.robustness import study_design
from helpers.robustness.study_design import (
    describe_model,
    draw,
    example_model,
    fit_model,
)
from helpers.stats.lasso import ols
from helpers.stats.moments import cluster_moments
from helpers.studies import hosking

FEATURES = ["refusal", "scope"]


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.fixture(scope="module")
def outputs():
    return draw(example_model(), 1500, 4, rng())


@pytest.fixture(scope="module")
def frame():
    """500 prompts, two errors, a loss of half a point and none."""
    drawn = rng()
    table = pd.DataFrame(
        (drawn.random((2500, 2)) < 0.2).astype(float), columns=FEATURES
    )
    prompt = np.repeat(np.arange(500), 5)
    noise = drawn.normal(size=2500) + drawn.normal(size=500)[prompt]
    return table.assign(score=4 - 0.5 * table["refusal"] + noise, prompt_id=prompt)


def moments_of(frame):
    return cluster_moments(frame, FEATURES, "score", "prompt_id")


def two_errors(**changes):
    """A model with two errors."""
    one = example_model()
    classes = pd.concat([one.classes, one.classes.rename({"refusal": "scope"})])
    losses = pd.Series({"refusal": 1.0, "scope": 0.4})
    settings = {"classes": classes, "losses": losses, "correlations": np.eye(2)}
    return replace(one, **settings | changes)


def test_what_is_drawn_has_the_rates_and_spreads_of_the_model(outputs):
    present, marks, expert = (
        table[..., 0] for table in (outputs.present, outputs.marks, outputs.expert)
    )
    # Four standard errors; outputs of a prompt share errors and scores, which widens
    # the first.
    assert present.mean() == pytest.approx(0.3, abs=0.026)
    assert marks[present].mean() == pytest.approx(0.8, abs=0.02)
    assert marks[~present].mean() == pytest.approx(0.05, abs=0.008)
    assert expert[present].mean() == pytest.approx(0.9, abs=0.026)
    assert expert[~present].mean() == pytest.approx(0.02, abs=0.008)
    assert np.corrcoef(present[:, :2].T)[0, 1] == pytest.approx(0.115, abs=0.1)
    seen, unseen = (outputs.scores[where].mean() for where in (present, ~present))
    assert outputs.scores.mean() == pytest.approx(4.0 - 0.3, abs=0.06)
    assert outputs.scores.std(axis=2, ddof=1).mean() == pytest.approx(0.92, abs=0.02)
    assert unseen - seen == pytest.approx(1.0, abs=0.08)


def test_labels_are_majorities_and_ties_count_half(outputs):
    marked = outputs.marks.sum(axis=2)
    assert np.array_equal(outputs.labels(4), np.sign(marked - 2) / 2 + 0.5)
    assert np.array_equal(outputs.labels(1), outputs.marks[:, :, 0])


def test_tables_agree_with_each_other(outputs):
    single, table = outputs.single_ratings(), outputs.table(4)
    means = single.groupby("item_id")[["refusal", "score"]].mean()
    assert np.allclose(np.sign(means["refusal"] - 0.5) / 2 + 0.5, table["refusal"])
    assert np.allclose(means["score"], table["score"])
    assert single.groupby("prompt_id").size().unique().tolist() == [20]


def test_losses_by_label_are_found_again_by_least_squares():
    single = draw(example_model(), 1000, 4, rng(1)).single_ratings()
    model = fit_model(single, single, ["refusal"], "score")
    drawn = draw(model, 6000, model.raters, rng(1))
    drawn = drawn.with_losses(model.losses_behind(pd.Series({"refusal": 0.6})))
    loss = -ols(drawn.table(4), ["refusal"], "score", "prompt_id").loc[
        "refusal", "estimate"
    ]
    assert loss == pytest.approx(0.6, abs=0.02)


def test_other_losses_bring_the_scores_that_would_have_been_drawn_with_them(outputs):
    losses = pd.Series({"refusal": 0.4})
    again = draw(replace(example_model(), losses=losses), 1500, 4, rng())
    np.testing.assert_allclose(outputs.with_losses(losses).scores, again.scores)


def test_a_halo_makes_marks_of_a_rater_alike():
    classes = two_errors().classes.assign(sensitivity=0.3, false_alarms=0.3)
    together = {}
    for halo in (0.0, 0.5):
        marks = draw(
            two_errors(classes=classes, halo=halo), 1000, 2, rng(2)
        ).marks.reshape(-1, 2)
        together[halo] = np.corrcoef(marks.T)[0, 1]
    assert together[0.0] == pytest.approx(0.0, abs=0.04)
    assert together[0.5] > 0.25


def test_parameters_are_found_again():
    truth = two_errors(correlations=np.array([[1.0, 0.5], [0.5, 1.0]]), halo=0.3)
    drawn = draw(truth, 3000, 5, rng())
    single = drawn.single_ratings()
    experts = pd.DataFrame(drawn.expert.reshape(-1, 2).astype(float), columns=FEATURES)
    experts["item_id"] = range(len(experts))
    model = fit_model(
        single, single.sample(frac=1, random_state=0), FEATURES, "score", experts
    )
    assert np.allclose(model.classes, truth.classes, atol=0.03)
    assert model.losses.to_numpy() == pytest.approx([1.0, 0.4], abs=0.08)
    found = (model.correlations[0, 1], model.halo, model.prompt_share)
    assert found == pytest.approx((0.5, 0.3, 0.2), abs=0.06)
    spreads = (
        model.base,
        model.prompt_sd,
        model.output_sd,
        model.rater_sd,
        model.raters,
    )
    assert spreads == pytest.approx((4.0, 0.3, 0.4, 1.0, 5), abs=0.06)


def test_covariances_by_hand():
    ratings = pd.DataFrame({"prompt_id": 1, "item_id": ["a", "a", "b", "b"]})
    ratings = ratings.assign(rater_id=[1, 2, 1, 2], score=[1.0, 2.0, 3.0, 6.0])
    found = study_design._covariances(ratings, ["score"])
    centred = np.array([-2.0, -1.0, 0.0, 3.0])
    assert found["person"] == pytest.approx((centred**2).mean())
    assert found["output"] == pytest.approx((2 * 2.0 + 2 * 0.0) / 4)
    assert found["prompt"] == pytest.approx((2 * -2.0 * 3.0 + 2 * -1.0 * 0.0) / 4)


def test_two_events_happen_together_as_the_bivariate_normal_says():
    halves = study_design._excess(np.array(0.5), np.array(0.5), np.array(0.5))
    assert halves == pytest.approx(np.arcsin(0.5) / (2 * np.pi))
    assert study_design._excess(np.array(0.3), np.array(0.2), np.array(0.0)) == 0


def test_the_model_of_experiment_1_gives_its_losses_and_rates_again(real_data):
    study = hosking.load_experiment_1(real_data)
    errors = ["factuality", "relevance", "refusal"]
    tables = [hosking.without_checks(table) for table in (study.errors, study.unbiased)]
    model = fit_model(*tables, errors, "quality_unbiased")
    drawn = draw(model, 2500, model.raters, rng(1))
    real = describe_model(tables[0], study.outputs(), errors, "quality_unbiased", 0.01)
    found = describe_model(
        drawn.single_ratings(), drawn.table(4), errors, "score", 0.01
    )
    assert np.allclose(found["single marks, %"], real["single marks, %"], atol=0.7)
    assert np.allclose(found[["AC1", "alpha"]], real[["AC1", "alpha"]], atol=0.035)
    losses = ols(study.outputs(), errors, "quality_unbiased", "prompt_id")["estimate"][
        errors
    ]
    again = ols(drawn.table(4), errors, "score", "prompt_id")["estimate"][errors]
    assert np.allclose(losses, again, atol=0.15)


def test_studies_get_the_estimates_and_errors_of_the_project(frame):
    studies = study_design.study_losses(moments_of(frame), [20, 40], 1, rng(3))
    drawn = rng(3).integers(500, size=40)
    for size in (20, 40):
        rows = [frame[frame["prompt_id"] == prompt] for prompt in drawn[:size]]
        rows = [part.assign(prompt_id=copy) for copy, part in enumerate(rows)]
        expected = ols(pd.concat(rows), FEATURES, "score", "prompt_id").iloc[1:]
        columns = ["estimate", "standard_error", "low", "high"]
        assert np.allclose(studies.loc[size], expected[columns])


def test_a_feature_that_does_not_vary_or_cannot_be_told_apart_has_no_estimate(frame):
    for scope, missing in ((0.0, [False, True]), (frame["refusal"], [True, True])):
        moments = moments_of(frame.assign(scope=scope))
        studies = study_design.study_losses(moments, [30], 2, rng())
        assert studies["estimate"].isna().tolist() == missing * 2


def test_power_is_what_the_normal_approximation_says(frame):
    studies = study_design.study_losses(moments_of(frame), [40], 800, rng(1))
    found = study_design.detection(
        studies, {"refusal": -1, "scope": -1}, "feature"
    ).loc[40]
    refusal = studies["estimate"].xs("refusal", level="feature")
    expected = norm.cdf(-refusal.mean() / refusal.std() - t.ppf(0.975, 39))
    assert found.loc["refusal", "estimate"] == pytest.approx(expected, abs=0.06)
    assert found.loc["scope", "estimate"] < 0.06


def test_detection_asks_for_an_interval_on_the_right_side():
    index = pd.MultiIndex.from_product(
        [[0, 1, 2, 3], ["refusal"]], names=["study", "feature"]
    )
    ends = {"low": [0.1, -0.1, 0.3, np.nan], "high": [0.9, 0.9, 0.5, np.nan]}
    studies = pd.DataFrame(ends, index=index)
    shares = [
        study_design.detection(studies, {"refusal": sign}, "feature")["estimate"].item()
        for sign in (1, -1, 0)
    ]
    assert shares == [0.5, 0.0, 0.0]


def test_more_raters_and_prompts_give_more_power_and_a_gain_is_no_loss():
    cases = {"loss": pd.Series({"refusal": 1.0})}
    found = study_design.loss_power(example_model(), cases, [1, 3], [4, 12], 300, 0)[
        "estimate"
    ]
    assert found["loss", 1, 4, "refusal"] < found["loss", 1, 12, "refusal"]
    assert found["loss", 1, 4, "refusal"] < found["loss", 3, 4, "refusal"]
    studies = study_design.new_studies(example_model(), cases, [3], [20], 50, 0)[
        "loss", 3
    ]
    assert (
        study_design.detection(studies, {"refusal": 1}, "feature")["estimate"]
        .eq(0)
        .all()
    )


def test_without_a_loss_one_study_in_forty_finds_one():
    cases = {"none": pd.Series({"refusal": 0.0})}
    studies = study_design.new_studies(example_model(), cases, [3], [60], 2000, 0)[
        "none", 3
    ]
    found = study_design.detection(studies, {"refusal": -1}, "feature")[
        "estimate"
    ].item()
    assert found == pytest.approx(0.025, abs=0.015)


def test_every_study_is_drawn_anew_however_many_are_drawn_at_once(monkeypatch):
    monkeypatch.setattr(study_design, "PROMPTS_AT_ONCE", 25)
    assert study_design._portions(5, 12) == [2, 2, 1]
    assert study_design._portions(2, 40) == [1, 1]
    cases = {"loss": pd.Series({"refusal": 1.0})}
    studies = study_design.new_studies(example_model(), cases, [2], [6, 12], 3, 0)[
        "loss", 2
    ]
    drawn = rng()
    expected = []
    for count in (2, 1):
        table = draw(example_model(), count * 12, 2, drawn).table(2)
        for study in range(count):
            rows = table[table["prompt_id"] // 12 == study]
            expected.append(ols(rows, ["refusal"], "score", "prompt_id").loc["refusal"])
    columns = ["estimate", "standard_error", "low", "high"]
    assert np.allclose(studies.loc[12, columns], pd.DataFrame(expected)[columns])


def test_gaps_are_those_of_the_model_and_do_not_depend_on_the_run():
    power, again = (
        study_design.gap_power(example_model(), [1, 3], [(500, 100)], 40, 5)
        for _ in range(2)
    )
    # marks and experts' labels that the model's probabilities lead to, in percent
    single = 0.3 * 80 + 0.7 * 5
    both_of_three = 0.3 * (3 * 0.8**2 * 0.2 + 0.8**3) + 0.7 * (
        3 * 0.05**2 * 0.95 + 0.05**3
    )
    expert = 0.3 * 90 + 0.7 * 2
    expected = [single - expert, 100 * both_of_three - expert]
    assert power["gap"].tolist() == pytest.approx(expected, abs=0.3)
    pd.testing.assert_frame_equal(power, again)


def test_the_error_of_a_gap_is_that_of_two_means_or_of_their_paired_difference():
    crowd, expert = rng().integers(0, 6, size=(2, 4000, 1)).astype(float)
    chosen = rng(1).integers(4000, size=(300, 100))
    studies = np.array(
        [study_design._gap(crowd[c], expert[c], 100, 25)[:, 0] for c in chosen]
    )
    spread = np.sqrt(crowd.var() / 100 + expert.var() / 25)
    assert studies[:, 0].std() == pytest.approx(spread, rel=0.12)
    assert studies[:, 1].mean() == pytest.approx(spread, rel=0.05)
    paired = study_design._gap(crowd, crowd + 1, 50, 50)[:, 0]
    np.testing.assert_allclose(paired, [-1, 0], atol=1e-12)


def test_the_size_needed_lies_on_the_power_curve_or_out_of_reach():
    prompts = np.array([20, 80, 180])
    exact = norm.cdf(0.1 * np.sqrt(5 * prompts) - 1.96)
    curves = {"refusal": exact, "scope": [0.1] * 3, "relevance": [0.9] * 3}
    index = pd.MultiIndex.from_product([curves, prompts], names=["error", "prompts"])
    power = np.concatenate(list(curves.values()))
    table = pd.DataFrame(dict.fromkeys(("estimate", "low", "high"), power), index)
    needed = study_design.outputs_needed(table, ["error"], 5)["estimate"]
    expected = [((1.96 + norm.ppf(0.8)) / 0.1) ** 2, np.inf, 100]
    assert needed.tolist() == pytest.approx(expected)
    assert needed.index.get_level_values("error").tolist() == list(curves)


def test_sizes_beyond_those_tried_are_told_as_such():
    ends = {
        "within": [274.0, 202.0, 404.0],
        "all below": [150.0, 150.0, 150.0],
        "below, perhaps above": [150.0, 150.0, 184.0],
        "above, perhaps below": [188.0, 150.0, 252.0],
        "within, perhaps beyond": [4010.0, 3520.0, np.inf],
        "beyond, perhaps within": [np.inf, 4100.0, np.inf],
        "one size tried, not enough": [np.inf, 150.0, np.inf],
        "one size tried, perhaps enough": [150.0, 150.0, np.inf],
    }
    needed = pd.DataFrame.from_dict(
        ends, orient="index", columns=["estimate", "low", "high"]
    )
    assert study_design.size_text(needed, 150, 4500).to_dict() == {
        "within": "270 (200 to 400)",
        "all below": "150 or fewer",
        "below, perhaps above": "150 or fewer (up to 180)",
        "above, perhaps below": "190 (150 or fewer to 250)",
        "within, perhaps beyond": "4,000 (3,500 to > 4,500)",
        "beyond, perhaps within": "> 4,500",
        "one size tried, not enough": "> 4,500",
        "one size tried, perhaps enough": "150 or fewer (perhaps > 4,500)",
    }


def test_sizes_keep_the_levels_of_their_index():
    index = pd.MultiIndex.from_product(
        [["scope", "refusal"], [1, 3]], names=["feature", "labels"]
    )
    needed = pd.DataFrame(400.0, index, ["estimate", "low", "high"])
    texts = study_design.size_text(needed, 150, 900)
    assert texts.index.equals(index)
    assert texts.unstack("labels").loc["refusal", 3] == "400"


def test_a_panel_has_a_curve_for_more_raters_than_there_are_markers():
    power = pd.DataFrame({"estimate": [0.5] * 9, "low": 0.4, "high": 0.6, "x": 300})
    power.index = pd.MultiIndex.from_product([range(1, 10), [60]])
    fig, ax = plt.subplots()
    study_design.power_panel(ax, "refusal", power, 900)
    assert [line.get_label() for line in ax.lines[:2]] == ["1 rater", "2 raters"]
    assert len(ax.lines) == 9 + 2
    plt.close(fig)


def test_a_panel_draws_a_curve_for_each_number_of_raters_and_marks_aim_and_real_study():
    power = pd.DataFrame(
        {"estimate": [0.2, 0.5, 0.8], "low": 0.1, "high": 0.9, "x": [100, 900, 900]}
    )
    power.index = pd.MultiIndex.from_tuples([(1, 20), (1, 180), (3, 180)])
    fig, ax = plt.subplots()
    study_design.power_panel(ax, "refusal: 1.50 points", power, 900)
    one, three, aim, real = ax.lines
    assert one.get_xydata().tolist() == [[100, 20], [900, 50]]
    assert [one.get_label(), three.get_label()] == ["1 rater", "3 raters"]
    assert set(aim.get_ydata()) == {80}
    assert set(real.get_xdata()) == {900}
    assert [label.get_text() for label in ax.get_xticklabels()] == ["100", "300"]
    assert not len(ax.get_xticks(minor=True))
    assert ax.get_title(loc="left") + ax.get_title() == "refusal: 1.50 points"
    plt.close(fig)
