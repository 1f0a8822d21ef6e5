"""Simulated ratings of Kamoda et al. look real, and their effects are found again."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from helpers import text
from helpers.data.columns import check
from helpers.data.columns import kamoda as columns
from helpers.data.columns.kamoda import ASPECTS, RANGES
from helpers.simulate import kamoda as simulated
from helpers.studies import kamoda

SCHEMAS = {
    "ratings": columns.KAMODA_RATINGS,
    "judges": columns.KAMODA_EVALUATORS,
    "answers": columns.KAMODA_ANSWERS,
    "justifications": columns.KAMODA_JUSTIFICATIONS,
    "expert_verdicts": columns.EXPERT_VERDICTS,
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_seed_gives_a_table_of_the_released_form(name):
    make = getattr(simulated, name)
    table = make(1)
    pd.testing.assert_frame_equal(table, make(1))
    assert not table.equals(make(2))
    released = table[list(SCHEMAS[name].columns)]
    checked = check(released, SCHEMAS[name], "simulation")
    pd.testing.assert_frame_equal(released, checked)
    assert table.attrs["source"] == "simulated"


def test_the_study_is_as_large_as_the_real_one(real_data):
    def counts(source):
        study = kamoda.load(source)
        design = study.ratings.groupby("system")["question_id"].nunique().to_dict()
        judged = study.evaluators.merge(study.answers()[["item_id", "question_id"]])
        questions = judged.groupby("evaluator")["question_id"].nunique().to_dict()
        by_judge = judged.value_counts("evaluator").to_dict()
        return len(study.ratings), design, by_judge, questions

    assert counts("simulated") == counts(real_data)


def test_three_workers_rate_all_answers_to_a_question_and_choose_the_best():
    ratings = simulated.ratings(1)
    assert ratings.groupby("question_id")["rater_id"].nunique().eq(3).all()
    assert ratings["rater_id"].nunique() <= 80
    task = ratings.groupby(["question_id", "rater_id"])
    assert task["preferred"].sum().eq(1).all()
    best = task["acceptability"].transform("max")
    chosen = ratings["preferred"] == 1
    # opinions are compared before rounding, so the chosen one has the highest mark
    assert (ratings["acceptability"] == best)[chosen].all()


def test_weights_of_aspects_are_found_again_where_the_scale_has_no_end():
    many = pd.concat([simulated.ratings(seed) for seed in range(4)])
    distance = (many[list(ASPECTS)] - [3, 0, 0]).abs() / simulated.FARTHEST
    # answers with marks in the middle, which noise seldom pushes off the scale
    expected = 3 - distance @ simulated.WEIGHTS
    inside = expected.between(0.7, 2.3)
    fit = LinearRegression().fit(distance[inside], 3 - many["acceptability"][inside])
    assert np.abs(fit.coef_ - simulated.WEIGHTS).max() < 0.15


def test_the_mean_of_three_runs_is_a_third_of_a_whole_number():
    judged = simulated.judges(1)
    mean3 = judged.loc[judged["evaluator"] == "gpt4_mean3", list(RANGES)]
    assert np.allclose(3 * mean3, (3 * mean3).round())
    assert not np.allclose(mean3, mean3.round())


def test_a_judge_agrees_with_workers_more_than_chance_and_rates_facts_higher():
    study = kamoda.load("simulated")
    people = study.answers().set_index("item_id")
    judged = study.judge("GPT-4").loc[people.index]
    assert judged["acceptability"].corr(people["acceptability"]) > 0.5
    assert judged["factuality"].mean() > people["factuality"].mean()


def test_answers_have_the_mean_length_and_the_votes_of_their_kind():
    answers = simulated.answers(1)
    words = answers["text"].str.split().str.len().groupby(answers["system"]).mean()
    truth = simulated.KINDS["words"][words.index]
    assert ((words - truth).abs() < 3.5 * np.sqrt(truth / 300)).all()
    votes = answers.pivot(index="question_id", columns="system", values="votes")
    assert votes["human_top"].mean() > votes["human_random"].mean()
    assert votes["model_formal"].isna().all()


def test_the_lexicon_finds_each_remark_as_often_as_it_is_made():
    rates = text.mentions(simulated.justifications(1)["text"]).mean()
    truth = pd.Series({name: share for name, (share, _) in simulated.REMARKS.items()})
    assert ((rates - truth).abs() < 3.5 * np.sqrt(truth * (1 - truth) / 900)).all()


def test_a_task_takes_an_hour_at_most_and_about_the_stated_median():
    minutes = simulated.justifications(1)["minutes"]
    assert minutes.max() <= 60
    assert minutes.median() == pytest.approx(simulated.MEDIAN_MINUTES, rel=0.1)
