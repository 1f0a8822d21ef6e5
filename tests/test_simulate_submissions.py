"""Simulated submissions have what the notebooks look for in real ones."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from helpers import simulate, text
from helpers.simulate.hosking import MEDIAN_SECONDS, PEOPLE, responses
from helpers.stats import agreement
from helpers.studies import hosking_submissions
from helpers.studies.hosking import without_checks

GROUPS = tuple(PEOPLE)


def submitted(experiment, group, texts=False, seed=0):
    return simulate.hosking_submissions(np.random.default_rng(seed), experiment, group, texts)


@pytest.fixture(scope="module")
def with_texts():
    return {group: submitted(*group, texts=True) for group in GROUPS}


@pytest.mark.parametrize("group", GROUPS)
def test_texts_change_no_rating(with_texts, group):
    plain = submitted(*group)
    pd.testing.assert_frame_equal(with_texts[group][list(plain)], plain)


@pytest.mark.parametrize("group", GROUPS)
def test_lengths_are_those_of_the_texts(with_texts, group):
    ratings = with_texts[group]
    assert ratings["response_words"].tolist() == text.word_count(ratings["response"]).tolist()


@pytest.mark.parametrize("experiment", [1, 2])
def test_an_output_has_the_same_text_for_all_groups_of_raters(with_texts, experiment):
    tables = [rows for (number, _), rows in with_texts.items() if number == experiment]
    shown = pd.concat([rows[["item_id", "response"]] for rows in tables]).drop_duplicates()
    assert not shown["item_id"].duplicated().any()


@pytest.mark.parametrize("group", GROUPS)
def test_a_distractor_is_what_the_same_system_wrote_to_another_prompt(with_texts, group):
    ratings = with_texts[group]
    outputs = ratings[~ratings["is_distractor"]].drop_duplicates("item_id").set_index("response")
    shown = ratings[ratings["is_distractor"]]
    written = outputs.loc[shown["response"]]
    assert written["system"].tolist() == shown["system"].tolist()
    assert (written["prompt_id"].to_numpy() != shown["prompt_id"].to_numpy()).all()


def test_only_experiment_1_has_further_tasks(with_texts):
    tasks = {group: set(rows["task"]) for group, rows in with_texts.items()}
    assert tasks[1, "errors"] == {"amazon", "curation", "wikihow", "dialogsum", "factualnlg"}
    assert tasks[2, "errors"] == {"amazon", "curation", "wikihow"}


@pytest.mark.parametrize("group", GROUPS)
def test_two_sides_of_a_submission_share_person_prompt_and_time(with_texts, group):
    a, b = (with_texts[group].iloc[side::2].reset_index(drop=True) for side in (0, 1))
    shared = ["pair_id", "rater_id", "prompt_id", "seconds", "batch"]
    pd.testing.assert_frame_equal(a[shared], b[shared])
    assert a["partner_id"].tolist() == b["item_id"].tolist()
    assert b["partner_id"].tolist() == a["item_id"].tolist()


@pytest.mark.parametrize("group", GROUPS)
def test_some_pairs_are_judged_five_times_or_more(with_texts, group):
    times = hosking_submissions.repeats(without_checks(with_texts[group]))
    assert times.index.min() == 1
    assert times[times.index >= 5].sum() > 50


def test_neighbouring_groups_share_people():
    people = {group: set(submitted(*group)["rater_id"]) for group in GROUPS}
    for one, other in pairwise(GROUPS):
        assert people[one] & people[other]
    assert not people[GROUPS[0]] & people[GROUPS[-1]]


@pytest.mark.parametrize("group", GROUPS)
def test_median_times_are_as_set(with_texts, group):
    seconds = with_texts[group].drop_duplicates("pair_id")["seconds"]
    assert seconds.median() == pytest.approx(MEDIAN_SECONDS[group], rel=0.1)


def test_distractors_are_marked_down(with_texts):
    ratings = with_texts[1, "errors"]
    table = agreement.against_partner(ratings, ["relevance"], 99, np.random.default_rng(0))
    assert table.loc["relevance", "low"] > 0.5


def test_few_people_answer_an_attention_check_wrongly(with_texts):
    checks = with_texts[1, "errors"].drop_duplicates("pair_id")
    wrong = checks["attention_high"].ne(5) | checks["attention_low"].ne(1)
    assert 0 < wrong.mean() < 0.02


def test_simulated_texts_are_easiest_to_read_under_the_simple_preamble():
    arms = pd.Series(["complex_low", "baseline", "complex_high"] * 20)
    texts = responses(np.random.default_rng(0), arms, pd.Series(100, index=arms.index))
    grades = text.readability(texts).groupby(arms).mean()
    assert grades["complex_low"] < grades["baseline"] < grades["complex_high"]


def test_the_same_seed_gives_the_same_submissions_and_another_one_does_not():
    one, same, other = (submitted(1, "errors", texts=True, seed=seed) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(one, same)
    assert one["response"].tolist() != other["response"].tolist()
