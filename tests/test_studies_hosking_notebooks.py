"""The numbers in the authors' released notebooks, and ours beside them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import recall_score
from sklearn.utils.extmath import svd_flip

from helpers.studies import hosking, hosking_notebooks

LABELS = pd.DataFrame({"refusal": [0, 0, 0, 1], "scope": [0, 1, 0, 0]})
QUALITY = pd.Series([4.0, 4.0, 5.0, 1.0])
# Two people rate a and b together, one rates a beside a distractor of it.
RATINGS = pd.DataFrame(
    {
        "item_id": ["a", "b", "a", "b", "a", "a|distractor"],
        "partner_id": ["b", "a", "b", "a", "a|distractor", "a"],
        "pair_id": [0, 0, 1, 1, 2, 2],
        "is_distractor": [False] * 5 + [True],
        "score": [1.0, 5.0, 3.0, 5.0, 4.0, 4.0],
    }
)


@pytest.fixture(scope="module")
def numbers(real_data):
    return hosking_notebooks.recomputed(real_data)


def test_the_printed_numbers_of_the_authors_notebooks_reproduce(numbers):
    differ = numbers[~numbers["reproduces"]]
    # Three components have the other sign; six cells were rounded before printing.
    assert differ["cause"].value_counts().to_dict() == {
        hosking_notebooks.SIGN: 12,
        hosking_notebooks.ROUNDED_TWICE: 6,
    }
    assert len(numbers) == 759


def test_loadings_reproduce_with_the_earlier_rule_for_signs(numbers, real_data):
    outputs = hosking.load_experiment_1(real_data).outputs()
    factors = outputs[hosking_notebooks.ASPECTS]
    centred = (factors - factors.mean()).to_numpy()
    scores, _, components = np.linalg.svd(centred, full_matrices=False)
    _, loadings = svd_flip(scores, components, u_based_decision=True)
    printed = numbers.filter(like="pca.loading", axis="index")["printed"].astype(float)
    np.testing.assert_allclose(-loadings.ravel(), printed, atol=1e-8)


def test_numbers_of_full_precision_agree_to_nine_digits(numbers):
    long = numbers[numbers["decimals"].astype(int) > 10]
    np.testing.assert_allclose(long["ours"], long["printed"].astype(float), rtol=1e-9)


def test_simulated_tables_give_every_number():
    table = hosking_notebooks.recomputed("simulated")
    assert table["ours"].notna().all()
    assert table.index.equals(hosking_notebooks.printed_numbers().index)


def test_each_number_is_printed_once_and_has_a_filter_and_a_rule():
    printed = hosking_notebooks.printed_numbers()
    assert printed.index.is_unique
    required = ["notebook", "cell", "quantity", "filter", "rule", "decimals", "printed"]
    assert (printed[required] != "").all(axis=None)


@pytest.mark.parametrize(
    ("number", "ours", "cause"),
    [
        ("lasso.weight.factuality", 0.35499, ""),
        ("lasso.weight.factuality", 0.3551, hosking_notebooks.UNEXPLAINED),
        ("lasso.weight.factuality", -0.35, hosking_notebooks.UNEXPLAINED),
        ("lasso.intercept", 3.7089818718, ""),
        ("lasso.intercept", 3.70898, hosking_notebooks.UNEXPLAINED),
        ("pca.loading.1.detail", -0.567058112, hosking_notebooks.SIGN),
        ("pca.loading.1.detail", -0.57, hosking_notebooks.UNEXPLAINED),
        (
            "error_rates_2.baseline.inconsistency.expert",
            15.2542,
            hosking_notebooks.ROUNDED_TWICE,
        ),
    ],
)
def test_a_number_reproduces_if_ours_rounds_to_it(number, ours, cause):
    name = f"hosking.authors.{number}"
    printed = hosking_notebooks.printed_numbers().loc[[name]]
    compared = hosking_notebooks.compare(printed, pd.Series({name: ours})).loc[name]
    assert compared["cause"] == cause
    assert compared["reproduces"] == (cause == "")


def test_a_number_without_a_partner_is_refused():
    printed = hosking_notebooks.printed_numbers().head(0)
    with pytest.raises(ValueError, match="only printed or only computed: y"):
        hosking_notebooks.compare(printed, pd.Series({"y": 1.0}))


def test_weights_are_positive_where_an_error_goes_with_lower_quality():
    fit = hosking_notebooks.lasso_fit(LABELS, QUALITY)
    assert fit["weight", "refusal", ""] > 0
    assert 0 < fit["r2", "", ""] < 1


def test_the_lasso_is_refitted_without_each_label():
    weights = hosking_notebooks.lasso_without_each(LABELS, QUALITY)
    omitted_and_kept = [("refusal", "scope"), ("scope", "refusal")]
    assert weights.index.tolist() == omitted_and_kept


def test_a_tie_with_the_distractor_passes_the_attention_check():
    assert hosking_notebooks.checks_passed(RATINGS, "score") == 1
    higher = RATINGS.assign(
        score=RATINGS["score"].where(RATINGS["score"] != 4, [0] * 5 + [1])
    )
    assert hosking_notebooks.checks_passed(higher, "score") == 0


def test_spread_is_that_of_the_same_response_beside_the_same_other():
    pairings = hosking_notebooks.repeated_pairings(RATINGS)
    assert pairings["pair_id"].tolist() == [0, 0, 1, 1]
    spread = hosking_notebooks.within_response_sd(pairings, ["score"])
    # 1 and 3 of a, 5 and 5 of b
    assert spread["score"] == pytest.approx((1 + 0) / 2)


def test_scores_count_for_alpha_only_with_three_ratings():
    thrice = pd.DataFrame(
        {
            "pairing": ["a"] * 3 + ["b"] * 3 + ["c"] * 2,
            "pair_id": range(8),
            "score": [1, 1, 1, 5, 5, 5, 1, 5],
            "refusal": [0, 0, 0, 1, 1, 1, 0, 1],
        }
    )
    alphas = hosking_notebooks.alpha_of_each(thrice, ["score", "refusal"])
    assert alphas["score"] == 1
    assert alphas["refusal"] < 1


def test_distractors_are_compared_with_the_responses_beside_them():
    means = hosking_notebooks.distractor_means(RATINGS, ["score"])["score"]
    assert means.to_dict() == {"distractor": 4, "response": 4, "difference": 0}


def test_responses_that_half_of_the_crowd_call_refusals_are_left_out():
    errors = dict.fromkeys(hosking_notebooks.ERRORS_2, 0.0)
    outputs = pd.DataFrame([errors] * 3).assign(
        arm="baseline", refusal=[0.0, 0.5, 1.0], factuality=[0.0, 1.0, 1.0]
    )
    expert = outputs.assign(refusal=[0, 0, 1])
    rates = hosking_notebooks.rates_without_refusals(outputs, expert)
    found = rates["baseline", "factuality"].to_dict()
    assert found == {"crowd": 0, "expert": 50, "difference": -50}


def test_ties_count_as_no_error_against_the_expert():
    numbers = hosking_notebooks.expert_comparison("simulated")["crowd_vs_expert"]
    outputs = hosking.load_experiment_2("simulated").outputs().set_index("item_id")
    experts = hosking.load_experts("simulated").query("batch == 'main'")
    crowd = outputs.loc[experts["item_id"], "factuality"] > 0.5
    assert numbers["recall"] == recall_score(experts["factuality"], crowd)


def test_each_pair_of_a_correlation_matrix_counts_once():
    frame = pd.DataFrame({"a": [1, 2, 3], "b": [1, 3, 2], "c": [3, 2, 1]})
    pairs = hosking_notebooks.upper_triangle(frame.corr())
    assert pairs.index.tolist() == [("a", "b"), ("a", "c"), ("b", "c")]
