"""Agreement and reliability: sums without a group are those of the other ratings."""

import numpy as np
import pandas as pd
import pytest

from ratings import inference, leave_out
from ratings.intake import OTHERS, THESE

RELIABLE = (1, 3)


def ratings(n_raters=6, per_item=3, seed=0, n_clusters=8):
    rng = np.random.default_rng(seed)
    n_items = 3 * n_clusters
    item = np.repeat(np.arange(n_items), per_item)
    rater = np.argsort(rng.random((n_items, n_raters)), axis=1)[:, :per_item].ravel()
    latent = rng.normal(size=n_items)[item] + rng.normal(size=len(item))
    marks = np.clip(np.round(3 + latent), 1, 5)
    table = {"item_id": item, "cluster": item // 3, "rater_id": rater, "tone": marks}
    return pd.DataFrame(table).sample(frac=0.9, random_state=seed)


def of_marks(table):
    return leave_out.alpha_of_marks(table, "tone", np.arange(1.0, 6.0))


def of_numbers(table):
    return leave_out.alpha_of_numbers(table, "tone")


def of_means(table):
    return leave_out.reliability_of_means(table, "tone", RELIABLE)


@pytest.mark.parametrize("prepare", [of_marks, of_numbers, of_means])
@pytest.mark.parametrize("group", ["cluster", "rater_id"])
def test_the_jackknife_is_that_of_computing_without_each_group(prepare, group):
    table = ratings()
    sums, statistic = prepare(table)
    total = sums.items.sum(axis=0)
    estimate = statistic(total[None])[0]
    without = []
    for _, rows in table.groupby(group):
        rest, again = prepare(table.drop(rows.index))
        without.append(again(rest.items.sum(axis=0)[None])[0])
    n = len(without)
    expected = ((np.array(without) - estimate) ** 2).sum(axis=0) * (n - 1) / n
    changes = -leave_out.cluster_sums(sums.items, sums.cluster)
    if group == "rater_id":
        changes = leave_out.cluster_sums(sums.without, sums.rater)
    found = leave_out._variance(statistic, total, estimate, changes)
    # interval alpha is centred on the mean of all ratings, which changes nothing else
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_of_whom_an_interval_speaks_is_told():
    table = ratings()
    scopes = []
    for each in (table, table[table["rater_id"] < 4], table.drop(columns="rater_id")):
        sums, statistic = of_numbers(each)
        scopes.append(sums.table(statistic, ["alpha"])["scope"].item())
    assert scopes == [OTHERS, THESE, THESE]


def test_marks_on_which_hardly_anybody_agrees_are_left_out():
    table = ratings(n_clusters=60).assign(prompt_id=lambda t: t["cluster"])
    table["rare"] = (np.arange(len(table)) % 40 == 0) * 1.0
    rng = np.random.default_rng(0)
    found = inference.agreement(table, ["tone", "rare"], rng)
    assert found.index.tolist() == ["tone"]
    assert found.loc["tone", "clusters that agree"] >= inference.FEWEST_AGREEING


def test_intervals_never_exceed_full_agreement():
    table = ratings(n_clusters=40)
    table["tone"] = (table["item_id"] % 5) + 1.0
    table.iloc[:4, table.columns.get_loc("tone")] = 3.0
    sums, statistic = of_marks(table)
    assert sums.table(statistic, ["alpha", "AC1", "same"])["high"].max() <= 1
