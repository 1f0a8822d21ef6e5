"""Label sources: what each row holds, and costs with known answers."""

import numpy as np
import pandas as pd
import pytest

from helpers.robustness.label_errors import label_costs
from helpers.robustness.label_sources import (
    OTHERS_SCORE,
    LabelSource,
    label_sources,
    source_costs,
)
from helpers.robustness.specifications import EXPECTED, UNSURE
from helpers.studies import hosking
from helpers.studies.hosking_submissions import same_raters


@pytest.fixture(scope="module")
def sources():
    return label_sources("simulated", 3)


def test_nine_sources_hold_the_labels_that_they_name(sources):
    first = hosking.load_experiment_1("simulated", 3).outputs()
    half = sources["1: majority, tie ½"].rows["factuality"]
    assert half.tolist() == first["factuality"].tolist()
    as_none = sources["1: majority, tie 0"].rows["factuality"]
    as_error = sources["1: majority, tie 1"].rows["factuality"]
    is_tie = first["factuality"] == 0.5
    assert is_tie.any()
    assert as_none[is_tie].eq(0).all()
    assert as_error[is_tie].eq(1).all()
    seen = sources["2: crowd, expert's answers"].rows
    by_expert = sources["2: expert"].rows
    assert seen["item_id"].tolist() == by_expert["item_id"].tolist()
    experts = hosking.load_experts("simulated", 3)
    labels = experts[experts["batch"] == "main"].set_index("item_id")["factuality"]
    assert by_expert["factuality"].tolist() == labels[by_expert["item_id"]].tolist()


def test_the_score_beside_a_mark_leaves_out_the_marker(sources):
    marks = sources["1: one mark, others' score"].rows
    scores = same_raters(1, ["errors", "unbiased"], "simulated", 3)["unbiased"]
    for mark in marks.head(20).itertuples():
        of_item = scores[scores["item_id"] == mark.item_id]
        others = of_item[of_item["rater_id"] != mark.rater_id]["quality_unbiased"]
        shown = marks.loc[mark.Index, OTHERS_SCORE]
        assert shown == pytest.approx(others.mean())


def response_table(loss):
    """Sixty prompts of two systems; every third response has a factual error."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"prompt_id": np.repeat(np.arange(60), 2)})
    table["system"] = np.tile(["a", "b"], 60)
    table["factuality"] = (np.arange(120) % 3 == 0).astype(float)
    table["score"] = 4 - loss * table["factuality"] + rng.normal(0, 0.1, 120)
    return table


def test_costs_are_those_of_label_costs_with_each_system_left_out():
    errors = ["factuality"]
    tables = {"large": response_table(1.0), "none": response_table(0.0)}
    sources = {}
    for name, table in tables.items():
        sources[name] = LabelSource(table, errors, "score", ["prompt_id"])
    costs = source_costs(sources, errors)["factuality"]
    assert costs["answers"].tolist() == ["all", "without a", "without b"] * 2
    only_b = tables["large"].query("system == 'b'")
    expected = label_costs(only_b, errors, "score", ["prompt_id"]).loc["factuality"]
    row = costs.iloc[1]
    assert row["estimate"] == pytest.approx(expected["estimate"])
    assert row["low"] == pytest.approx(expected["low"])
    assert row["high"] == pytest.approx(expected["high"])
    assert costs.loc[costs["labels"] == "large", "finding"].eq(EXPECTED).all()
    assert (costs.loc[costs["labels"] == "none", "finding"] == UNSURE).any()


def test_a_cost_that_is_not_known_is_not_on_the_curve():
    table = response_table(1.0)
    table.loc[table["prompt_id"] > 20, "factuality"] = 0.0
    source = LabelSource(table, ["factuality"], "score", ["prompt_id"])
    costs = source_costs({"rare": source}, ["factuality"])["factuality"]
    assert costs["answers"].tolist() == ["all"]
