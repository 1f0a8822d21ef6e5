"""The simulated study of Kamoda et al. looks real, and its truth is recovered."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from helpers import text
from helpers.data.columns import check
from helpers.data.columns import kamoda as columns
from helpers.data.columns.kamoda import ASPECTS
from helpers.simulate import kamoda as simulated
from helpers.simulate.kamoda import KamodaTruth
from helpers.studies import kamoda


def tables(seed=1, **numbers):
    """Simulate ratings and evaluators."""
    return simulated.kamoda(np.random.default_rng(seed), KamodaTruth(**numbers))


def distances(ratings):
    """Distance of each aspect from its ideal, as a share of the farthest it can be."""
    return (ratings[list(ASPECTS)] - [3, 0, 0]).abs() / [3, 1, 1]


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(1)
    ratings, evaluators = simulated.kamoda(rng)
    return ratings, evaluators, *simulated.kamoda_texts(rng, ratings)


def test_tables_pass_the_schemas_of_the_real_ones_and_say_that_they_are_simulated(made):
    ratings, evaluators, answers, justifications = made
    for table, schema in (
        (ratings, columns.KAMODA_RATINGS),
        (evaluators, columns.KAMODA_EVALUATORS),
        (answers, columns.KAMODA_ANSWERS),
        (justifications, columns.KAMODA_JUSTIFICATIONS),
    ):
        pd.testing.assert_frame_equal(check(table, schema, "simulation"), table)
        assert table.iloc[:, 0].str.contains("simulated").all()
    assert justifications["text"].str.startswith("Simulated").all()


def test_the_study_is_as_large_as_the_real_one(real_data):
    def counts(source):
        study = kamoda.load(source)
        design = study.ratings.groupby("system")["question_id"].nunique().to_dict()
        judged = study.evaluators.merge(study.answers()[["item_id", "question_id"]])
        questions = judged.groupby("evaluator")["question_id"].nunique().to_dict()
        return (
            len(study.ratings),
            design,
            judged.value_counts("evaluator").to_dict(),
            questions,
        )

    assert counts("simulated") == counts(real_data)


def test_three_workers_rate_a_question_and_each_prefers_the_most_acceptable_answer():
    ratings, _ = tables(rounded=False)
    assert ratings.groupby("question_id")["rater_id"].nunique().eq(3).all()
    assert ratings["rater_id"].nunique() <= 80
    best = ratings.groupby(["question_id", "rater_id"])["acceptability"].transform(
        "max"
    )
    assert np.array_equal(ratings["acceptability"] == best, ratings["preferred"] == 1)


def test_the_mean_of_three_runs_is_a_third_of_a_whole_number(made):
    evaluators = made[1]
    thirds = (
        3
        * evaluators.loc[evaluators["evaluator"] == "gpt4_mean3", list(columns.RANGES)]
    )
    assert np.allclose(thirds, thirds.round())
    assert not np.allclose(thirds % 3, 0)


def test_evaluator_biases_are_added_exactly():
    bias = {"gpt4": (0.5, -0.1, 0.2), "llama2": (0.0, 0.0, 0.0)}
    _, biased = tables(evaluator_biases=bias, rounded=False)
    _, fair = tables(
        evaluator_biases=dict.fromkeys(bias, (0.0, 0.0, 0.0)), rounded=False
    )
    expected = [bias[name.removesuffix("_mean3")] for name in biased["evaluator"]]
    assert np.allclose(biased[list(ASPECTS)] - fair[list(ASPECTS)], expected)


def test_a_lenient_worker_accepts_every_answer_more():
    ratings, _ = tables(leniency_sd=1.0, acceptability_sd=0.0, rounded=False)
    weights = pd.Series(KamodaTruth().weights)
    per_worker = (ratings["acceptability"] - 3 + distances(ratings) @ weights).groupby(
        ratings["rater_id"]
    )
    assert np.allclose(per_worker.max(), per_worker.min())
    error = 1 / np.sqrt(2 * per_worker.ngroups)
    assert per_worker.first().std() == pytest.approx(1.0, abs=3.3 * error)


def test_aspect_weights_are_found_again():
    truth = replace(KamodaTruth(), n_questions=1000, rounded=False)
    ratings, _ = simulated.kamoda(np.random.default_rng(3), truth)
    table = distances(ratings).assign(lost=3 - ratings["acceptability"])
    table = table - table.groupby(ratings["rater_id"]).transform("mean")
    fit = sm.OLS(table["lost"], table[list(ASPECTS)]).fit()
    weights = np.array([truth.weights[aspect] for aspect in ASPECTS])
    # 3.6 standard errors hold three correct weights with probability 0.999.
    assert (np.abs(fit.params - weights) < 3.6 * fit.bse).all()
    error = truth.acceptability_sd / np.sqrt(2 * len(table))
    assert np.sqrt(fit.scale) == pytest.approx(truth.acceptability_sd, abs=4 * error)


def test_every_rated_answer_and_every_task_gets_a_text(made):
    ratings, _, answers, justifications = made
    assert set(answers["item_id"]) == set(ratings["item_id"])
    tasks = ratings.groupby(["question_id", "rater_id"]).ngroups
    assert len(justifications) == len(ratings) / 4 == tasks


def test_answers_have_the_mean_length_and_the_votes_of_their_kind(made):
    answers = made[2]
    words = answers["text"].str.split().str.len().groupby(answers["system"]).mean()
    truth = pd.Series(simulated.WORDS_BY_SYSTEM)[words.index]
    assert ((words - truth).abs() < 3.5 * np.sqrt(truth / 300)).all()
    votes = answers.pivot(index="question_id", columns="system", values="votes")
    assert (votes["human_top"] > votes["human_random"]).all()
    assert votes["model_formal"].isna().all()


def test_the_lexicon_finds_each_remark_as_often_as_it_is_made(made):
    remarks = pd.Series(
        {aspect: remark for aspect, (_, remark) in simulated.REMARKS.items()}
    )
    assert text.mentions(remarks).equals(
        pd.DataFrame(
            np.eye(len(remarks), dtype=bool), remarks.index, list(text.LEXICON.index)
        )
    )
    rates = text.mentions(made[3]["text"]).mean()
    truth = pd.Series({aspect: rate for aspect, (rate, _) in simulated.REMARKS.items()})
    assert ((rates - truth).abs() < 3.5 * np.sqrt(truth * (1 - truth) / 900)).all()


def test_a_task_takes_an_hour_at_most_and_the_median_of_the_truth(made):
    minutes = made[3]["minutes"]
    assert minutes.max() <= 60
    assert minutes.median() == pytest.approx(simulated.MEDIAN_MINUTES, rel=0.1)
