"""How closely automatic scores follow people: known answers, and oracles."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import somersd
from sklearn.metrics import mean_absolute_error, r2_score

from helpers.studies import kamoda, kamoda_judges


@pytest.fixture(scope="module")
def study():
    return kamoda.load("simulated", seed=3)


@pytest.fixture(scope="module")
def tables(study):
    return kamoda_judges.judged(study)


@pytest.fixture(scope="module")
def wide(study):
    texts = kamoda.load_texts("simulated", seed=3).answers
    return kamoda_judges.scores_of_answers(study, texts)


@pytest.fixture
def one_worker():
    """Five answers to each of two questions, each rated by one worker."""
    return pd.DataFrame(
        {
            "item_id": list("abcdefghij"),
            "question_id": ["q"] * 5 + ["s"] * 5,
            "rater_id": ["u"] * 5 + ["v"] * 5,
            "acceptability": [0.0, 1, 2, 3, 3, 1, 1, 2, 0, 3],
        }
    )


def test_measures_are_those_of_pandas_scikit_learn_and_scipy(one_worker):
    people = one_worker.set_index("item_id")["acceptability"]
    judge = pd.Series([1.0, 1, 3, 2, 3, 0, 2, 2, 1, 3], index=people.index)
    scores = pd.DataFrame({"constant": people.mean(), "judge": judge})
    found = kamoda_judges.follow(one_worker, scores).value
    assert found["r", "judge"] == pytest.approx(judge.corr(people))
    assert found["error saved", "judge"] == pytest.approx(r2_score(people, judge))
    # pairs are those within a question: Somers' D of each, by its number of pairs
    in_pairs = 0.0
    n_pairs = 0
    for _, items in one_worker.groupby("question_id")["item_id"]:
        rated = people[items].to_numpy()
        apart = (rated[:, None] > rated).sum()
        in_pairs += apart * somersd(rated, judge[items]).statistic
        n_pairs += apart
    assert found["order", "judge"] == pytest.approx(in_pairs / n_pairs)


def test_a_constant_judge_has_no_correlation_and_saves_and_orders_nothing(study, wide):
    rng = np.random.default_rng(0)
    by_question = wide["question_id"].map(
        dict(
            zip(wide["question_id"].unique(), 1.8 + rng.random(300) / 100, strict=True)
        )
    )
    scores = pd.DataFrame({"constant": by_question, "perfect": wide["people"]})
    table = kamoda_judges.follow(study.ratings, scores).table()
    of_constant = table.xs("constant", level=1)["estimate"]
    assert np.isnan(of_constant["r"])
    assert of_constant[["error saved", "order"]].tolist() == [0, 0]
    of_perfect = table.xs("perfect", level=1)["estimate"]
    assert of_perfect[["r", "error saved"]].tolist() == pytest.approx([1, 1])
    assert 0.5 < of_perfect["order"] < 1  # single workers differ from their mean


def test_ties_of_a_judge_are_left_out_of_its_order_on_request(one_worker):
    tied = pd.Series([0.0, 0, 0, 3, 3, 1, 1, 1, 1, 3], index=list("abcdefghij"))
    scores = pd.DataFrame({"constant": 1.6, "tied": tied})
    with_ties = kamoda_judges.follow(one_worker, scores).value
    without = kamoda_judges.follow(one_worker, scores, told_apart_by="tied").value
    assert 0 < with_ties["order", "tied"] < 1
    assert without["order", "tied"] == 1
    assert without["r", "tied"] == with_ties["r", "tied"]


def test_missing_scores_are_refused(study, wide):
    scores = wide[["Llama 2, direct"]].assign(constant=1.8)
    with pytest.raises(ValueError, match="scores have missing values"):
        kamoda_judges.follow(study.ratings, scores)


def test_leaving_out_a_worker_is_computing_without_that_worker(study, wide):
    scores = wide[["GPT-4, direct"]].assign(constant=1.8)
    found = kamoda_judges.follow(study.ratings, scores)
    worker = study.ratings["rater_id"].iloc[0]
    left = study.ratings[study.ratings["rater_id"] != worker]
    without = kamoda_judges.follow(left, scores).value
    codes, labels = pd.factorize(study.ratings["rater_id"])
    n_workers = len(labels)
    change = found.changes[0][codes[0]] / np.sqrt((n_workers - 1) / n_workers)
    after = found.value + change
    assert after.dropna().to_numpy() == pytest.approx(without.dropna().to_numpy())


def test_all_scores_of_a_judge_stand_beside_the_same_people(study, tables, wide):
    found = kamoda_judges.correlations(study, tables).value
    for judge in kamoda_judges.TWO_JUDGES:
        for score in kamoda_judges.SCORES:
            column = wide[f"{judge}, {score}"]
            assert found[judge, score] == pytest.approx(column.corr(wide["people"]))
            alone = kamoda_judges.correlate(study, column.dropna().to_frame()).value
            assert alone.iloc[0] == pytest.approx(found[judge, score])
    same = tables["GPT-4, as Llama 2"]["item_id"]
    assert set(same) == set(tables["Llama 2"]["item_id"])
    r = kamoda_judges.correlations(study, {"GPT-4": tables["GPT-4"]})
    gain = kamoda_judges.gain_by_source(r, "GPT-4").value
    expected = r.value["GPT-4", "weighted"] - r.value["GPT-4", "equal"]
    assert gain["the model"] == pytest.approx(expected)


def test_errors_are_differences_from_the_means_of_people(study, tables):
    rows = tables["Llama 2"]
    found = kamoda_judges.errors(study, rows).value
    for name in kamoda.ASPECTS:
        difference = rows[name] - rows[f"{name}_human"]
        assert found[name, "error"] == pytest.approx(difference.mean())
        size = mean_absolute_error(rows[f"{name}_human"], rows[name])
        assert found[name, "absolute error"] == pytest.approx(size)
        r = rows[name].corr(rows[f"{name}_human"])
        assert found[name, "r"] == pytest.approx(r)
    excess = rows["weighted"] - rows["acceptability_human"]
    by_writer = excess.groupby(rows["system"].str.split("_").str[0]).mean()
    assert found["excess", "too high by"] == pytest.approx(by_writer.mean())
    more = by_writer["model"] - by_writer["human"]
    assert found["excess", "more for ChatGPT by"] == pytest.approx(more)


def test_statements_are_counted_and_lie_in_their_intervals(study, tables, wide):
    found = kamoda_judges.correlations(study, tables)
    of_errors = {
        judge: kamoda_judges.errors(study, tables[judge])
        for judge in kamoda_judges.TWO_JUDGES
    }
    saved = kamoda_judges.statements(study, wide, found, of_errors, 50, seed=0)
    evaluators = saved["kamoda.evaluators"]
    thrice = tables["GPT-4, three runs"]
    assert evaluators["mean3_share"] == pytest.approx(100 * len(thrice) / 1200)
    n_tested = len(tables["Llama 2"])
    assert evaluators["llama2_answers"] == n_tested
    assert evaluators["llama2_training_answers"] == 1200 - n_tested
    n_questions = tables["Llama 2"]["question_id"].nunique()
    assert evaluators["llama2_questions"] == n_questions
    assert evaluators["llama2_training_questions"] == 300 - n_questions
    for name in ("gpt4_wllm_above_llm", "llama2_wllm_above_llm"):
        row = evaluators[name]
        assert row["low"] < row["estimate"] < row["high"]
    referred = wide.dropna(subset="ROUGE-1")
    r = referred["ROUGE-1"].corr(referred["people"])
    metrics = saved["kamoda.metrics"]
    assert metrics["rouge_1_below_02"]["estimate"] == pytest.approx(r - 0.2)
    equal = saved["kamoda.equal_weights"]["gpt4"][""]["estimate"]
    gain = found.value["GPT-4", "equal"] - found.value["GPT-4", "weighted"]
    assert equal == pytest.approx(100 * gain)
