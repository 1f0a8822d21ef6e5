from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from helpers.beyond.study_design import StudyModel, draw, example_model
from helpers.stats.lasso import ols


@pytest.fixture(scope="module")
def outputs():
    return draw(example_model(), 4000, 4, np.random.default_rng(0))


def test_errors_and_marks_are_as_common_as_the_model_says(outputs):
    present, marks, expert = (
        table[..., 0] for table in (outputs.present, outputs.marks, outputs.expert)
    )
    assert present.mean() == pytest.approx(0.3, abs=0.01)
    assert marks[present].mean() == pytest.approx(0.8, abs=0.01)
    assert marks[~present].mean() == pytest.approx(0.05, abs=0.01)
    assert expert[present].mean() == pytest.approx(0.9, abs=0.01)
    assert expert[~present].mean() == pytest.approx(0.02, abs=0.01)


def test_scores_have_the_mean_and_the_spread_of_the_model(outputs):
    assert outputs.scores.mean() == pytest.approx(4.0 - 0.3, abs=0.03)
    assert outputs.scores.std(axis=2, ddof=1).mean() == pytest.approx(0.92, abs=0.02)
    gap = (
        outputs.scores[~outputs.present[..., 0]].mean()
        - outputs.scores[outputs.present[..., 0]].mean()
    )
    assert gap == pytest.approx(1.0, abs=0.04)


def test_outputs_of_a_prompt_share_errors(outputs):
    present = outputs.present[:, :2, 0]
    assert np.corrcoef(present.T)[0, 1] == pytest.approx(0.115, abs=0.03)


def test_a_tie_of_raters_counts_one_half(outputs):
    share = outputs.labels(4, "mean")
    assert set(np.unique(outputs.labels(4))) == {0.0, 0.5, 1.0}
    assert (outputs.labels(4) == 0.5).sum() == (share == 0.5).sum()
    assert np.array_equal(outputs.labels(1), outputs.labels(1, "mean"))


def test_tables_agree_with_each_other(outputs):
    single, table = outputs.single_ratings(), outputs.table(4, "mean")
    means = single.groupby("item_id")[["refusal", "score"]].mean()
    assert np.allclose(means["refusal"], table["refusal"])
    assert np.allclose(means["score"], table["score"])
    assert single.groupby("prompt_id").size().unique().tolist() == [20]


def test_losses_by_label_are_found_again_by_least_squares():
    model = example_model().with_label_losses(pd.Series({"refusal": 0.6}))
    table = draw(model, 6000, model.raters, np.random.default_rng(1)).table(model.raters)
    loss = -ols(table, ["refusal"], "score", "prompt_id").loc["refusal", "estimate"]
    assert loss == pytest.approx(0.6, abs=0.02)


def test_a_halo_makes_marks_of_a_rater_alike():
    classes = pd.concat(
        [example_model().classes, example_model().classes.rename({"refusal": "scope"})]
    )
    base = replace(
        example_model(),
        classes=classes.assign(sensitivity=0.3, false_alarms=0.3),
        correlations=np.eye(2),
        losses=pd.Series({"refusal": 0.0, "scope": 0.0}),
    )
    together = {}
    for halo in (0.0, 0.5):
        model: StudyModel = replace(base, halo=halo)
        marks = draw(model, 1000, 2, np.random.default_rng(2)).marks.reshape(-1, 2)
        together[halo] = np.corrcoef(marks.T)[0, 1]
    assert together[0.0] == pytest.approx(0.0, abs=0.03)
    assert together[0.5] > 0.25


def test_more_raters_than_drawn_are_refused(outputs):
    with pytest.raises(
        ValueError, match="5 raters asked for: choose 1 to 4, as many as were drawn"
    ):
        outputs.table(5)


def test_unknown_ways_to_combine_are_refused(outputs):
    with pytest.raises(ValueError, match="marks can be combined by 'mode' or 'mean', not 'median'"):
        outputs.labels(2, "median")
