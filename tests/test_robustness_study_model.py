"""A model of a study: what is drawn from it, and that it is found again."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from helpers.robustness import study_model
from helpers.robustness.study_model import (
    draw,
    example_model,
    fit_model,
)
from helpers.stats import agreement
from helpers.stats.lasso import ols
from helpers.studies import hosking
from helpers.studies.hosking_submissions import single_ratings

FEATURES = ["refusal", "scope"]


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.fixture(scope="module")
def outputs():
    return draw(example_model(), 1500, 4, rng())


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
    losses = model.losses_behind(pd.Series({"refusal": 0.6}))
    drawn = draw(replace(model, losses=losses), 6000, model.raters, rng(1))
    loss = -ols(drawn.table(4), ["refusal"], "score", "prompt_id").loc[
        "refusal", "estimate"
    ]
    assert loss == pytest.approx(0.6, abs=0.02)


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
    found = study_model._covariances(ratings, ["score"])
    centred = np.array([-2.0, -1.0, 0.0, 3.0])
    assert found["person"] == pytest.approx((centred**2).mean())
    assert found["output"] == pytest.approx((2 * 2.0 + 2 * 0.0) / 4)
    assert found["prompt"] == pytest.approx((2 * -2.0 * 3.0 + 2 * -1.0 * 0.0) / 4)


def test_two_events_happen_together_as_the_bivariate_normal_says():
    halves = study_model.excess_probability(np.array(0.5), np.array(0.5), np.array(0.5))
    assert halves == pytest.approx(np.arcsin(0.5) / (2 * np.pi))
    assert (
        study_model.excess_probability(np.array(0.3), np.array(0.2), np.array(0.0)) == 0
    )


def test_the_model_of_experiment_1_gives_its_losses_and_rates_again(real_data):
    study = hosking.load_experiment_1(real_data)
    errors = ["factuality", "relevance", "refusal"]
    groups = ("errors", "unbiased")
    tables = [single_ratings(1, group, real_data) for group in groups]
    model = fit_model(*tables, errors, "quality_unbiased")
    drawn = draw(model, 2500, model.raters, rng(1))
    real_marks = tables[0]
    marks = drawn.single_ratings()
    assert np.allclose(marks[errors].mean(), real_marks[errors].mean(), atol=0.007)
    for error in errors:
        ac1, real_ac1 = (
            agreement.gwet_ac1(rows, "item_id", error, [0, 1])
            for rows in (marks, real_marks)
        )
        assert ac1 == pytest.approx(real_ac1, abs=0.035)
        alpha, real_alpha = (
            agreement.krippendorff_alpha(rows, "item_id", error, [0, 1], "nominal")
            for rows in (marks, real_marks)
        )
        assert alpha == pytest.approx(real_alpha, abs=0.035)
    losses = ols(study.outputs(), errors, "quality_unbiased", "prompt_id")["estimate"][
        errors
    ]
    again = ols(drawn.table(4), errors, "score", "prompt_id")["estimate"][errors]
    assert np.allclose(losses, again, atol=0.15)
