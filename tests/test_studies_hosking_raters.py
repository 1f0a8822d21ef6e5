"""Agreement, attention, pay and procedure of the raters of Hosking et al."""

import pandas as pd
import pytest
from scipy.stats import norm, t
from statsmodels.stats.proportion import proportion_confint

from helpers import agreement
from helpers.claims import results
from helpers.studies import hosking, hosking_raters, hosking_submissions

SEED = 3


@pytest.fixture(scope="module")
def groups():
    return hosking_submissions.load_groups("simulated", SEED)


@pytest.fixture(scope="module")
def five(groups):
    _, ratings, _ = groups
    return hosking_submissions.repeated(hosking.without_checks(ratings["1: errors"]))


def test_a_second_check_is_that_of_another_submission(five):
    found = hosking_raters.two_people(five, ["factuality"]).table().loc["factuality"]
    labels = five[["item_id", "pair_id", "factuality"]]
    pairs = labels.merge(labels, on="item_id", suffixes=("", "_second"))
    pairs = pairs[pairs["pair_id"] != pairs["pair_id_second"]]
    shares = 100 * pairs.groupby("factuality")["factuality_second"].mean()
    assert found.loc["marks", "estimate"] == pytest.approx(shares[1])
    assert found.loc["marks none", "estimate"] == pytest.approx(shares[0])


@pytest.mark.parametrize(
    ("statistic", "n"),
    [
        ("marks", lambda labels: labels.sum()),
        ("marks none", lambda labels: (1 - labels).sum()),
        ("same", len),
    ],
)
def test_second_checks_have_wilsons_interval_of_as_many_rows_as_clusters_are_worth(
    five, statistic, n
):
    found = hosking_raters.second_checks(five, ["factuality", "relevance"])
    row = found.loc[("relevance", statistic)]
    share = hosking_raters.two_people(five, ["relevance"]).table()
    share = share.loc[("relevance", statistic)]
    assert row["estimate"] == share["estimate"]
    assert found["low"].between(0, found["estimate"]).all()
    assert found["high"].between(found["estimate"], 100).all()
    rate = row["estimate"] / 100
    worth = rate * (1 - rate) / (share["standard_error"] / 100) ** 2
    worth = min(worth, n(five["relevance"]))
    worth *= (norm.ppf(0.975) / t.ppf(0.975, share["df"])) ** 2
    expected = proportion_confint(rate * worth, worth, method="wilson")
    assert [row["low"] / 100, row["high"] / 100] == pytest.approx(expected)


def test_coefficients_and_their_intervals_are_those_of_the_verb(five):
    found = hosking_raters.two_people(five, ["factuality", "relevance"]).table()
    for coefficient in ("alpha", "ac1"):
        expected = agreement(five, ["factuality", "relevance"], coefficient=coefficient)
        ours = found.xs(coefficient, level=1)[hosking_raters.INTERVAL]
        pd.testing.assert_frame_equal(
            ours,
            pd.DataFrame(expected[hosking_raters.INTERVAL]),
            check_names=False,
            rtol=1e-6,
        )


def test_a_tie_is_not_lower_but_not_higher_either():
    scores = {"1: errors": "quality_biased", "1: quality": "quality_unbiased"}
    tables = {}
    for group, score in (hosking_raters.SCORES | scores).items():
        tables[group] = pd.DataFrame(
            {
                "pair_id": [0, 0, 1, 1, 2, 2, 3, 3],
                "is_distractor": [True, False, False, True, True, False, False, False],
                "rater_id": list("aabbccdd"),
                "response": list("stuvwxyz"),
                score: [1, 2, 3, 3, 4, 2, 1, 1],
            }
        )
    found = hosking_raters.attention(tables)
    of_one = found[found["raters"] == "1: errors"]
    assert of_one["response"].tolist() == ["s", "v", "w"]
    assert of_one["lower"].tolist() == [1, 0, 0]
    assert of_one["not higher"].tolist() == [1, 1, 0]


def test_a_rating_off_its_scale_is_named(groups):
    _, ratings, _ = groups
    off = {
        "errors_binary": ("1: errors", "factuality", 2),
        "quality_scale": ("1: quality", "quality_unbiased", 6),
        "perception_scale": ("2: tone", "complexity", 0),
    }
    for name, (group, column, value) in off.items():
        table = ratings[group].copy()
        table.loc[table.index[0], column] = value
        found = hosking_raters._of_ratings(ratings | {group: table})
        assert [other for other, (holds, _) in found.items() if not holds] == [name]


def test_pay_is_the_stated_payment_for_the_recorded_time():
    sessions = pd.DataFrame(
        {
            "raters": ["1: errors"] * 3 + ["1: quality"] * 3,
            "group": ["errors"] * 3 + ["unbiased"] * 3,
            "rater_id": list("abbaab"),
            "seconds": [360.0, 120, 180, 60, 90, 120],
        }
    )
    medians = hosking_raters.pay(sessions, n_boot=20, seed=0)["estimate"]
    # pounds an hour: 6, 18, 12 and 18, 12, 9; person b of the first group has 15
    assert medians["judged pair"].tolist() == pytest.approx([12, 12, 12])
    assert medians["person"]["1: errors"] == pytest.approx((6 + 15) / 2)


def test_statements_can_be_saved_under_the_names_of_the_claims(groups):
    source, ratings, sessions = groups
    paid = hosking_raters.pay(sessions, 20, SEED)
    steps = hosking_raters.procedure(source, SEED, ratings, sessions)
    found = hosking_raters.statements(ratings, sessions, paid, steps, 20, SEED)
    table = results.rows("hosking", found).set_index("name")
    assert table.loc["hosking.counts.duplicates_per_pair", "estimate"] == 5
    pairs = hosking_submissions.repeats(hosking.without_checks(ratings["1: errors"]))
    assert pairs.index.max() == 5
    for end in ("factuality_lowest", "refusal_highest"):  # neither is, or hardly ever
        row = table.loc[f"hosking.agreement.ac1_{end}"]
        assert row["holds"] == 0
        assert row["share"] < 0.5
    repeated = table.loc["hosking.counts.duplicated_pairs"]
    repeated = repeated.set_index("interpretation")["estimate"]
    assert repeated[""] == pairs.drop(1).sum()
    assert table.loc["hosking.design.errors_binary", "holds"] == 1
    assert list(hosking_raters.STATEMENTS) == [
        name.removeprefix("hosking.design.")
        for name in table.index.unique()
        if name.startswith("hosking.design.")
        and not name.endswith(("limit_200", "amazon_templates"))
    ]
