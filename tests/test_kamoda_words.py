import numpy as np
import pandas as pd
import pytest

from helpers import simulate, text
from helpers.files import schemas
from helpers.simulate import kamoda


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(1)
    ratings, _ = simulate.kamoda(rng)
    return ratings, *simulate.kamoda_texts(rng, ratings)


def test_simulated_texts_pass_the_schemas_of_the_real_ones(made):
    _, answers, justifications = made
    for table, schema in (
        (answers, schemas.KAMODA_ANSWERS),
        (justifications, schemas.KAMODA_JUSTIFICATIONS),
    ):
        pd.testing.assert_frame_equal(schemas.check(table, schema, "simulation"), table)


def test_every_rated_answer_and_every_task_gets_a_text(made):
    ratings, answers, justifications = made
    assert set(answers["item_id"]) == set(ratings["item_id"])
    tasks = ratings.groupby(["question_id", "rater_id"]).ngroups
    assert len(justifications) == len(ratings) / 4 == tasks


def test_simulated_texts_say_that_they_are_simulated(made):
    _, answers, justifications = made
    assert answers["question"].str.contains("simulated").all()
    assert justifications["text"].str.startswith("Simulated").all()


def test_answers_have_the_mean_length_of_their_kind(made):
    _, answers, _ = made
    words = answers["text"].str.split().str.len().groupby(answers["system"]).mean()
    truth = pd.Series(kamoda.WORDS_BY_SYSTEM)[words.index]
    assert ((words - truth).abs() < 3.5 * np.sqrt(truth / 300)).all()


def test_the_top_human_answer_has_more_votes_than_the_random_one(made):
    _, answers, _ = made
    votes = answers.pivot(index="question_id", columns="system", values="votes")
    assert (votes["human_top"] > votes["human_random"]).all()
    assert votes["model_formal"].isna().all()


def test_every_simulated_remark_mentions_its_aspect_and_no_other():
    remarks = pd.Series(kamoda.REMARKS)
    assert text.mentions(remarks).equals(
        pd.DataFrame(np.eye(len(remarks), dtype=bool), remarks.index, list(text.LEXICON))
    )


def test_the_lexicon_finds_the_simulated_rates_of_mentions(made):
    _, _, justifications = made
    rates = text.mentions(justifications["text"]).mean()
    truth = pd.Series(kamoda.MENTION_RATES)
    assert ((rates - truth).abs() < 3.5 * np.sqrt(truth * (1 - truth) / 900)).all()


def test_a_task_takes_an_hour_at_most_and_the_median_of_the_truth(made):
    _, _, justifications = made
    truth = simulate.KamodaTextsTruth()
    assert justifications["minutes"].max() <= 60
    assert justifications["minutes"].median() == pytest.approx(truth.median_minutes, rel=0.1)


def test_mentions_that_never_happen_leave_a_text_without_aspects():
    rng = np.random.default_rng(2)
    never = simulate.KamodaTextsTruth(mentions=dict.fromkeys(kamoda.REMARKS, 0.0))
    _, justifications = simulate.kamoda_texts(rng, simulate.kamoda(rng)[0], never)
    assert not text.mentions(justifications["text"]).any(axis=None)
