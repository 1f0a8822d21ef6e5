"""Drawn studies replace the released ones; here fitted to simulated ratings."""

import numpy as np
import pandas as pd
import pytest

from benchmarks import fitted, redrawn
from helpers.data.columns.hosking import ERRORS_1, ERRORS_2
from helpers.studies import hosking, hosking_submissions, kamoda


@pytest.fixture(scope="module", autouse=True)
def fitted_to_simulated_ratings(tmp_path_factory):
    caches = [redrawn.hosking_tables, redrawn.hosking_model]
    caches += [redrawn.kamoda_tables, redrawn.kamoda_model]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(redrawn, "SOURCE", "simulated")
        patch.setattr(redrawn, "FITTED", tmp_path_factory.mktemp("fitted"))
        patch.setattr(fitted, "STEPS", 1)
        patch.setattr(fitted, "COPIES", 1)
        for cache in caches:
            cache.cache_clear()
        yield
    for cache in caches:
        cache.cache_clear()


def study(copies=1, seed=1):
    return redrawn.in_force(redrawn.Drawn(seed, copies))


def test_released_tables_and_submissions_hold_the_same_ratings():
    real = hosking.load_experiment_1("simulated").errors
    with study():
        released = hosking.load_experiment_1().errors
        single = hosking_submissions.same_raters(1, ["errors", "unbiased"])
    assert released.shape == real.shape
    kept = hosking.without_checks(released)
    columns = ["item_id", "quality_biased", *ERRORS_1]
    pd.testing.assert_frame_equal(
        kept[columns].reset_index(drop=True), single["errors"][columns]
    )
    # people have one name in both groups
    shared = set(single["errors"]["rater_id"]) & set(single["unbiased"]["rater_id"])
    assert shared
    drawn = released[list(ERRORS_1)].to_numpy()
    assert (drawn != real[list(ERRORS_1)].to_numpy()).any()


def test_a_large_study_has_others_who_rate_other_answers():
    with study(copies=2):
        large = hosking.load_experiment_2()
        experts = hosking.load_experts()
        outputs = large.outputs()
    once = hosking.load_experiment_2("simulated").outputs()
    assert len(outputs) == 2 * len(once)
    assert outputs["prompt_id"].nunique() == 2 * once["prompt_id"].nunique()
    assert outputs["n_ratings"].sum() == 2 * once["n_ratings"].sum()
    assert experts.query("batch == 'main'")["item_id"].isin(outputs["item_id"]).all()
    pilot = experts.query("batch == 'pilot'").set_index("item_id")[list(ERRORS_2)]
    main = experts.query("batch == 'main'").set_index("item_id")[list(ERRORS_2)]
    pd.testing.assert_frame_equal(pilot, main.loc[pilot.index])


def test_ratings_judges_and_texts_go_together():
    with study():
        drawn = kamoda.load()
        measures = kamoda.load_texts().measures()
    real = kamoda.load("simulated")
    assert drawn.ratings.shape == real.ratings.shape
    counts = drawn.evaluators["evaluator"].value_counts()
    assert counts.to_dict() == real.evaluators["evaluator"].value_counts().to_dict()
    assert (
        drawn.ratings.groupby(["rater_id", "question_id"])["preferred"].sum() == 1
    ).all()
    assert measures["rouge_1"].notna().sum() == 900
    assert measures["words"].gt(0).all()


def test_the_same_seed_gives_the_same_study():
    tables = []
    for seed in (4, 4, 5):
        with study(seed=seed):
            tables.append(kamoda.load().ratings["acceptability"].to_numpy())
    np.testing.assert_array_equal(tables[0], tables[1])
    assert (tables[0] != tables[2]).any()
