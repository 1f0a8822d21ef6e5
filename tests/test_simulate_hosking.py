"""Simulated studies of Hosking et al. look real, and their effects are found again."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from helpers.data.columns import check
from helpers.data.columns import hosking as columns
from helpers.data.columns.hosking import ERRORS_1, ERRORS_2
from helpers.simulate import hosking as simulated
from helpers.studies import hosking

SEED = 20240917
SCHEMAS = {
    (1, "errors"): columns.HOSKING_1_ERRORS,
    (1, "unbiased"): columns.HOSKING_1_UNBIASED,
    (2, "errors"): columns.HOSKING_2_ERRORS,
    (2, "unbiased"): columns.HOSKING_2_UNBIASED,
    (2, "perception"): columns.HOSKING_2_PERCEPTION,
}


@pytest.mark.parametrize("form", SCHEMAS)
def test_a_seed_gives_a_table_of_the_released_form(form):
    table = simulated.ratings(*form, SEED)
    pd.testing.assert_frame_equal(table, simulated.ratings(*form, SEED))
    assert not table.equals(simulated.ratings(*form, 1))
    schema = SCHEMAS[form]
    released = table[list(schema.columns)]
    pd.testing.assert_frame_equal(released, check(released, schema, "simulation"))
    assert table["item_id"].str.contains("simulated").all()
    assert table.attrs["source"] == "simulated"


@pytest.mark.parametrize("load", [hosking.load_experiment_1, hosking.load_experiment_2])
def test_studies_are_as_large_as_the_real_ones(real_data, load):
    def counts(study):
        left = hosking.without_checks(study.errors)
        repeats = left.value_counts("item_id").value_counts().to_dict()
        n_checks = study.errors["is_distractor"].sum()
        return len(study.errors), n_checks, left["prompt_id"].nunique(), repeats

    assert counts(load("simulated")) == counts(load(real_data))


@pytest.mark.parametrize("form", SCHEMAS)
def test_a_person_rates_two_answers_to_a_prompt_side_by_side(form):
    table = simulated.ratings(*form, SEED, texts=True)
    a, b = (table.iloc[side::2].reset_index(drop=True) for side in (0, 1))
    shared = ["pair_id", "rater_id", "prompt_id", "seconds"]
    pd.testing.assert_frame_equal(a[shared], b[shared])
    assert a["partner_id"].tolist() == b["item_id"].tolist()
    assert b["partner_id"].tolist() == a["item_id"].tolist()
    # an attention check has an answer and a distractor of the same system
    checks = table.drop(hosking.without_checks(table).index).groupby("pair_id")
    assert checks["is_distractor"].sum().eq(1).all()
    assert checks[["system", "arm"]].nunique().eq(1).all(axis=None)
    assert table.groupby("rater_id")["prompt_id"].nunique().median() >= 2


def test_people_of_two_forms_rate_the_same_pairs():
    def shown(form):
        table = simulated.ratings(2, form, SEED)
        pairs = table.groupby("pair_id")["item_id"].agg(frozenset)
        return pairs.value_counts().to_dict(), set(table["rater_id"])

    errors, perception, unbiased = map(shown, ["errors", "perception", "unbiased"])
    assert errors[0] == unbiased[0] == perception[0]
    assert errors[1] & unbiased[1]


def test_designs_share_out_systems_and_conditions_evenly():
    first = hosking.load_experiment_1("simulated", SEED).outputs()
    second = hosking.load_experiment_2("simulated", SEED).outputs()
    assert first.groupby("prompt_id")["system"].nunique().eq(5).all()
    assert second.value_counts("prompt_id").eq(5).all()
    assert second.value_counts(["task", "system", "arm"]).tolist() == [20] * 75
    main = simulated.experts(SEED).query("batch == 'main'")
    assert main.value_counts(["system", "arm"]).tolist() == [12] * 25


def test_experts_label_the_true_errors_of_the_same_answers():
    labels = simulated.experts(SEED)
    check(labels, columns.HOSKING_EXPERTS, "simulation")
    true = simulated.answers(2, SEED).set_index("item_id")
    true = true.loc[labels["item_id"], list(ERRORS_2)].to_numpy()
    assert (labels[list(ERRORS_2)].to_numpy() == true).mean() > 0.98


def test_points_of_errors_are_found_again():
    # of answers to a thousand studies' prompts: many seeds together
    many = pd.concat([simulated.answers(1, seed) for seed in range(20)])
    many = many[~many["is_distractor"]]
    errors = list(ERRORS_1)
    for quality, factor in (("unbiased", 1), ("biased", simulated.PRIMING)):
        fit = LinearRegression().fit(many[errors], many[f"quality_{quality}"])
        points = factor * simulated.ERRORS["points"].to_numpy()
        # four standard errors: 20 x 900 answers, deviation 0.64
        shares = many[errors].mean()
        error = 0.64 / np.sqrt(len(many) * shares * (1 - shares))
        assert (np.abs(-fit.coef_ - points) < 4 * error).all()


def test_workers_see_more_errors_in_cautious_than_in_assertive_answers():
    seen = []
    for seed in range(5):
        true = simulated.answers(2, seed).set_index("item_id")["factuality"]
        table = simulated.ratings(2, "errors", seed)
        table = hosking.without_checks(table)
        wrong = table[true.loc[table["item_id"]].to_numpy() == 1]
        seen.append(wrong.groupby("arm")["factuality"].mean())
    seen = pd.concat(seen, axis="columns").mean(axis="columns")
    assert seen["assertive_low"] == pytest.approx(0.5, abs=0.08)
    assert seen["assertive_high"] == pytest.approx(0.15, abs=0.08)
