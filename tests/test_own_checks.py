from dataclasses import replace

import krippendorff
import numpy as np
import pandas as pd
import pytest
from example_study import ERRORS, MARKS, ExampleTruth, example_ratings

from helpers.own import inference
from helpers.own.intake import prepare
from helpers.stats.agreement import agreement_table

ASPECTS = [*MARKS, *ERRORS]


def rng():
    return np.random.default_rng(1)


@pytest.fixture(scope="module")
def table():
    frame = example_ratings(np.random.default_rng(3), ExampleTruth(n_gaps=0)).iloc[:-1]
    return frame.rename(columns={"response_words": "covariate"})


@pytest.fixture(scope="module")
def study(table):
    return prepare(table, "overall", ASPECTS, rng())


def why(result):
    return result["not done"].item()


def test_agreement_is_that_of_the_known_statistics(table):
    found = inference.agreement(table, ["tone", "refusal"], 50, rng())
    categories = {"tone": [1, 2, 3, 4, 5], "refusal": [0, 1]}
    expected = agreement_table(
        table, ["tone", "refusal"], "item_id", "prompt_id", categories, 50, rng(), "ordinal"
    )
    np.testing.assert_allclose(found["estimate"], expected["alpha"])
    np.testing.assert_allclose(found["AC1"], expected["ac1"])
    np.testing.assert_allclose(found["same mark, %"], 100 * expected["observed_agreement"])


def test_agreement_on_numbers_is_alpha_of_the_package(table):
    numbers = table["tone"] + np.random.default_rng(0).normal(0, 0.3, len(table))
    frame = table.assign(tone=numbers)
    found = inference.agreement(frame, ["tone"], 50, rng()).loc["tone"]
    matrix = frame.pivot(index="rater_id", columns="item_id", values="tone").to_numpy()
    expected = krippendorff.alpha(matrix, level_of_measurement="interval")
    assert found["estimate"] == pytest.approx(expected)
    assert found["low"] < expected < found["high"]
    assert "AC1" not in found


def test_agreement_needs_two_people_on_an_item(table):
    columns = ["tone"]
    nobody = inference.agreement(table.drop(columns="rater_id"), columns, 9, rng())
    assert why(nobody) == "the file names no raters: two ratings of an item may be by one person"
    one = inference.agreement(table.assign(rater_id="me"), columns, 9, rng())
    assert why(one) == "all ratings are by one rater"
    once = inference.agreement(table.drop_duplicates("item_id"), columns, 9, rng())
    assert why(once) == "no item was rated by two people"
    two = table[table["item_id"] == table["item_id"].iloc[0]]
    single = inference.agreement(two, columns, 9, rng())
    assert why(single) == "too few items were rated by two people"


def test_a_second_rating_by_the_same_person_is_no_agreement(table):
    again = pd.concat([table, table], ignore_index=True)
    found = inference.agreement(again, ["tone"], 9, rng())
    expected = inference.agreement(table, ["tone"], 9, rng())
    pd.testing.assert_frame_equal(found, expected)


def test_items_that_several_clusters_share_are_resampled_themselves(table):
    shared = table.assign(prompt_id=table["rater_id"])
    found = inference.agreement(shared, ["tone"], 50, rng())
    expected = inference.agreement(table.assign(prompt_id=table["item_id"]), ["tone"], 50, rng())
    assert found["estimate"].item() == pytest.approx(expected["estimate"].item())
    assert found["low"].item() == pytest.approx(expected["low"].item(), abs=0.02)


def test_constant_columns_have_no_agreement(table):
    found = inference.agreement(table.assign(refusal=0.0), ["tone", "refusal"], 9, rng())
    assert found.index.tolist() == ["tone"]


def test_of_many_ratings_whole_items_are_drawn():
    truth = ExampleTruth(n_prompts=1800, n_gaps=0)
    table = example_ratings(np.random.default_rng(0), truth)
    assert inference.agreement(table, ["tone"], 9, rng())["items"].between(6000, 6700).all()


def test_holding_the_confounder_constant_finds_the_truth():
    truth = ExampleTruth(n_prompts=700)
    table = example_ratings(np.random.default_rng(3), truth)
    table = table.assign(covariate=np.log(table["response_words"]))
    held = inference.confounder(prepare(table, "overall", ASPECTS, rng()), 500, rng())
    found = held.loc["completeness"]
    assert abs(found["estimate"] - truth.weights["completeness"]) < 0.1
    assert found["alone"] - truth.weights["completeness"] > 0.15
    assert found["change high"] < 0
    assert found["p, Holm"] < 0.05


def test_labels_are_held_constant_by_comparing_within_them(study):
    label = pd.Categorical(np.where(np.arange(len(study.frame)) % 2, "GPT-4", "Llama"))
    shifted = study.frame.assign(covariate=label)
    shifted["overall"] += 10 * (label == "GPT-4")
    shifted["typos"] = np.where(label == "GPT-4", shifted["typos"], 0.0)
    found = inference.confounder(replace(study, frame=shifted), 50, rng())
    assert found.loc["typos", "alone"] > 3
    assert abs(found.loc["typos", "estimate"]) < 0.5


def test_a_confounder_needs_a_covariate_that_varies(study):
    bare = replace(study, frame=study.frame.drop(columns="covariate"))
    assert why(inference.confounder(bare, 9, rng())) == "no covariate is named"
    same = replace(study, frame=study.frame.assign(covariate=1.0))
    assert why(inference.confounder(same, 9, rng())) == (
        "the covariate has 1 values in 600 ratings; numbers, or 2 to 30 labels, are needed"
    )
    names = pd.Categorical([f"label-{row}" for row in range(len(study.frame))])
    many = replace(study, frame=study.frame.assign(covariate=names))
    assert why(inference.confounder(many, 9, rng())).startswith("the covariate has 600 values")
    few = replace(study, frame=study.frame[study.frame["cluster"] < 8])
    assert why(inference.confounder(few, 9, rng())) == "8 clusters are too few for 8 numbers"


def test_the_tree_asks_about_what_matters_in_the_marks_of_the_file(study):
    nodes = inference.tree(study, rng())
    assert nodes["rule"].iloc[1].startswith("factuality at most ")
    assert float(nodes["rule"].iloc[1].split()[-1]) in {1.5, 2.5, 3.5, 4.5}
    assert nodes["depth"].max() == 3
    assert nodes["n"].min() >= 5
    small = replace(study, frame=study.frame.iloc[:100])
    assert inference.tree(small, rng())["depth"].max() == 2


def test_prediction_of_unseen_clusters_beats_chance_and_not_the_truth(study):
    found = inference.prediction(study, rng())
    assert found.index.tolist() == ["tree", "weighted sum"]
    assert found["estimate"].between(0.4, 0.9).all()
    assert (found["low"] < found["high"]).all()
    rows = np.random.default_rng(0).permutation(len(study.frame))
    noise = study.frame["overall"].to_numpy()[rows]
    nothing = replace(study, frame=study.frame.assign(overall=noise))
    assert (inference.prediction(nothing, rng())["estimate"].abs() < 0.2).all()
