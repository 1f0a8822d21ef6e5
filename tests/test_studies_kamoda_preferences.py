"""What the paper says about its data, and the mean over domains: known answers."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

from helpers.studies import kamoda, kamoda_preferences

CHECKED = ["scales", "no_links", "no_refusals", "top_is_top", "four_rating_formats"]


@pytest.fixture(scope="module")
def study():
    return kamoda.load("simulated", seed=3)


@pytest.fixture(scope="module")
def texts():
    return kamoda.load_texts("simulated", seed=3)


def changed(texts, system, **values):
    """Texts with other values for the first answer of a kind."""
    answers = texts.answers.copy()
    row = answers.index[answers["system"] == system][0]
    for column, value in values.items():
        answers.loc[row, column] = value
    return dataclasses.replace(texts, answers=answers)


def test_simulated_data_are_as_the_paper_says(study, texts):
    found = kamoda_preferences.released(study, texts, seed=3)
    counts = {name: found[name] for name in found if name.startswith("counts.")}
    assert list(counts.values()) == [300, 1200, 4, 2, 3]
    assert found["design.many_workers"] == 80
    assert found["design.references_shown"] == 10
    assert all(found[f"design.{name}"] for name in CHECKED)


@pytest.mark.parametrize(
    ("name", "system", "values"),
    [
        ("no_links", "human_top", {"text": "see _URL_0_ there"}),
        ("no_links", "human_random", {"text": "it is on example.com"}),
        ("no_refusals", "model_casual", {"text": " As an AI, I cannot tell"}),
        ("top_is_top", "human_top", {"votes": 0.0}),
    ],
)
def test_one_answer_makes_a_sentence_untrue(study, texts, name, system, values):
    found = kamoda_preferences.released(study, changed(texts, system, **values), 3)
    untrue = [each for each in CHECKED if not found[f"design.{each}"]]
    assert untrue == [name]


def test_a_missing_reason_or_another_mark_is_noticed(study, texts):
    reasons = texts.justifications.assign(text=" ")
    silent = dataclasses.replace(texts, justifications=reasons)
    found = kamoda_preferences.released(study, silent, 3)
    assert not found["design.four_rating_formats"]
    halves = study.ratings.assign(formality=study.ratings["formality"] / 2)
    odd = dataclasses.replace(study, ratings=halves)
    assert not kamoda_preferences.released(odd, texts, 3)["design.scales"]


def test_each_domain_counts_the_same():
    verdicts = pd.DataFrame(
        {
            "domain": ["History"] * 6 + ["Law"] * 2,
            "rater_id": ["a"] * 6 + ["b"] * 2,
            "item_id": [f"pair {number}" for number in range(8)],
            "model_preferred": [1.0, 0, 0, 0, 0, 0, 1, 0],
        }
    )
    found = kamoda_preferences.mean_over_domains(verdicts)
    assert found["estimate"] == pytest.approx((100 / 6 + 50) / 2)
    shares = []
    for number in range(8):
        rest = verdicts.drop(index=number)
        by_domain = rest.groupby("domain")["model_preferred"].mean()
        shares.append(100 * by_domain.mean())
    changes = np.array(shares) - found["estimate"]
    standard_error = np.sqrt(7 / 8 * (changes**2).sum())
    margin = found["high"] - found["estimate"]
    assert found["estimate"] - found["low"] == pytest.approx(margin)
    assert margin / standard_error > t.ppf(0.975, 7)
