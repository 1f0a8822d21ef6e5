"""What the paper's statements on the tone of answers are compared with."""

import pandas as pd
import pytest
import statsmodels.formula.api as smf

from helpers.claims import results
from helpers.studies import hosking, hosking_tone

SEED = 3


@pytest.fixture(scope="module")
def study():
    return hosking.load_experiment_2("simulated", SEED)


@pytest.fixture(scope="module")
def experts(study):
    return hosking.load_experts("simulated", SEED)


@pytest.fixture(scope="module")
def found(study, experts):
    return hosking_tone.statements(study, experts, n_boot=200, seed=SEED)


def test_changes_are_differences_of_rates_by_condition(study, experts, found):
    outputs = study.outputs()
    labels = experts[experts["batch"] == "main"]
    crowd = outputs[outputs["refusal"] < 1]
    expert = labels[labels["refusal"] < 1]
    by_crowd = 100 * crowd.groupby("arm")["factuality"].mean()
    by_expert = 100 * expert.groupby("arm")["factuality"].mean()
    gap = by_crowd - by_expert
    wider = found["confounds.factuality_gap_significant"]["refusals left out"]
    expected = gap["assertive_high"] - gap["assertive_low"]
    assert wider["estimate"] == pytest.approx(expected)
    higher = found["confounds.crowd_factuality_cautious_higher"]["refusals left out"]
    expected = by_crowd["assertive_low"] - by_crowd["baseline"]
    assert higher["estimate"] == pytest.approx(expected)
    pooled = found["confounds.factuality_underestimated"]["refusals kept"]
    expected = 100 * (outputs["factuality"].mean() - labels["factuality"].mean())
    assert pooled["estimate"] == pytest.approx(expected)


def test_keeping_refusals_moves_a_gap_by_the_difference_of_two_gaps(
    study, experts, found
):
    labels = experts[experts["batch"] == "main"]
    gaps = []
    for limit in (0.5, 1):
        rates = []
        for rows in (study.outputs(), labels):
            kept = rows[(rows["refusal"] <= limit) & (rows["arm"] == "assertive_low")]
            rates.append(100 * kept["inconsistency"].mean())
        gaps.append(rates[0] - rates[1])
    moved = found["refusal.same_conclusions"]
    row = moved.loc[("inconsistency", "cautious")]
    assert row["estimate"] == pytest.approx(gaps[1] - gaps[0])
    assert len(moved) == 10


def test_table_3_of_hosking_is_recomputed_from_the_released_labels(real_data):
    labels = hosking.load_experts(real_data)
    outputs = hosking.load_experiment_2(real_data).outputs()
    found = hosking_tone.changes(
        outputs[outputs["refusal"] <= 0.5],
        labels[(labels["batch"] == "main") & (labels["refusal"] <= 0.5)],
        ["factuality"],
    )
    # the printed gaps of assertive and cautious answers are -22.3 and -5.4
    change = found.loc[("assertiveness", "gap", "factuality"), "estimate"]
    assert change == pytest.approx(-22.3 + 5.4, abs=0.1)
    parts = found["estimate"].unstack("labels")
    assert (parts["crowd"] - parts["expert"]).to_numpy() == pytest.approx(
        parts["gap"].to_numpy()
    )


def test_an_error_that_nobody_has_gets_no_slope():
    outputs = pd.DataFrame(
        {
            "prompt_id": range(4),
            "rating": [1.0, 2, 3, 4],
            "seen": [0.0, 1, 0, 1],
            "unseen": 0.0,
        }
    )
    slopes = hosking_tone._rate_slopes(outputs, ["unseen", "seen"], "rating")
    assert slopes.loc["unseen"].isna().all()
    assert slopes.loc["seen", "estimate"] == pytest.approx(20)


def test_slopes_are_those_of_statsmodels(study, found):
    outputs = study.outputs()
    fit = smf.ols("quality_unbiased ~ assertiveness", outputs).fit()
    slope = found["perception.assertive_quality_up"]["rated assertiveness"]
    assert slope["estimate"] == pytest.approx(fit.params["assertiveness"])
    turned = found["perception.cautious_less_complex"]["rated tone over outputs"]
    fit = smf.ols("complexity ~ assertiveness", outputs).fit()
    assert turned["estimate"] == pytest.approx(-fit.params["assertiveness"])
    any_error = outputs[list(hosking.ERRORS_2)].max(axis="columns")
    steeper = []
    for rating in ("assertiveness", "complexity"):
        table = pd.DataFrame({"error": 100 * any_error, "rating": outputs[rating]})
        steeper.append(smf.ols("error ~ rating", table).fit().params["rating"])
    weaker = found["perceived.complexity_weaker"]["any error"]
    assert weaker["estimate"] == pytest.approx(steeper[0] - steeper[1])


def test_results_can_be_saved(found):
    table = results.rows("hosking", found)
    assert table["name"].nunique() == len(found)
    assert table["share"].dropna().between(0, 1).all()
