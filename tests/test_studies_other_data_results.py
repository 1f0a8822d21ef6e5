"""Three questions to other data sets: known answers, oracles, recovery of a truth."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score
from statsmodels.stats.meta_analysis import combine_effects

from helpers import agreement
from helpers.data.tables import OptionError
from helpers.studies import other_data_results as found
from helpers.studies.other_data_results import Comparison


@pytest.fixture
def crowd():
    """Five ratings of each of forty texts by two systems, by six people."""
    rng = np.random.default_rng(1)
    rows = []
    for text in range(40):
        for rater in rng.choice(6, 5, replace=False):
            mark = np.clip(rng.normal(4 - text % 3, 1), 1, 5).round()
            rows.append([f"t{text}", f"p{text // 2}", "ab"[text % 2], rater, mark])
    return pd.DataFrame(
        rows, columns=["item_id", "cluster", "system", "rater_id", "mark"]
    )


@pytest.fixture
def findings(crowd):
    """Findings in a third of the texts."""
    items = crowd["item_id"].unique()
    wrong = [float(int(item[1:]) % 3 == 2) for item in items]
    return pd.DataFrame({"wrong": wrong}, index=items)


def areas(crowd, findings, **options):
    comparisons = {"crowd": Comparison("mark", "wrong")}
    return found.discrimination(
        crowd, {"mark": (1, 5)}, findings, comparisons, **options
    )


def test_area_of_all_ratings_is_that_of_scikit_learn(crowd, findings):
    means = crowd.groupby("item_id")["mark"].mean()
    wrong = findings["wrong"][means.index]
    area = areas(crowd, findings, n_drawn=5).value
    assert area["crowd", "all texts"] == pytest.approx(roc_auc_score(wrong, -means))
    system = crowd.groupby("item_id")["system"].first()
    pairs, wins = 0, 0
    for name in "ab":
        own = system.index[system == name]
        n = wrong[own].sum() * (1 - wrong[own]).sum()
        pairs += n
        wins += n * roc_auc_score(wrong[own], -means[own])
    assert area["crowd", "within systems"] == pytest.approx(wins / pairs)


def test_area_of_fewer_ratings_is_the_mean_over_all_sets_of_them(crowd, findings):
    few = crowd[crowd["item_id"].isin(["t0", "t1", "t2", "t5"])]
    sums = {}
    for item, marks in few.groupby("item_id")["mark"]:
        sums[item] = [sum(drawn) for drawn in combinations(marks, 3)]
    wins = []
    for bad in ("t2", "t5"):
        for good in ("t0", "t1"):
            difference = np.subtract.outer(sums[good], sums[bad])
            wins.append((difference > 0).mean() + (difference == 0).mean() / 2)
    area = areas(few, findings.loc[["t0", "t1", "t2", "t5"]], n_drawn=3)
    assert area.value["crowd", "all texts"] == pytest.approx(np.mean(wins))


def test_interval_leaves_out_clusters_and_raters(crowd, findings):
    left_out = areas(crowd, findings)
    changes = []
    n = crowd["cluster"].nunique()
    for cluster in crowd["cluster"].unique():
        rest = crowd[crowd["cluster"] != cluster]
        changes.append(areas(rest, findings).value - left_out.value)
    by_cluster = np.square(changes).sum(axis=0) * (n - 1) / n
    assert np.diagonal(left_out.parts[0].covariance()) == pytest.approx(by_cluster)
    assert len(left_out.parts) == 3
    unknown = areas(crowd.assign(rater_id=np.nan), findings)
    assert unknown.variance() == pytest.approx(by_cluster)


def test_one_expert_is_compared_on_the_same_texts(crowd, findings):
    items = findings.index
    marks = pd.DataFrame({"expert": 5 - 2 * findings["wrong"]}, index=items)
    comparisons = {"one": Comparison("expert", "wrong")}
    scales = {"mark": (1, 5)}
    area = found.discrimination(crowd, scales, findings, comparisons, experts=marks)
    assert area.value.tolist() == [1, 1]
    with pytest.raises(OptionError, match="no text with a finding"):
        found.discrimination(crowd, scales, findings * 0, comparisons, experts=marks)


def test_direction_of_the_scale(crowd, findings):
    labels = crowd.assign(mark=crowd["mark"].le(2).astype(int))
    comparisons = {"crowd": Comparison("mark", "wrong")}
    area = found.discrimination(labels, {"mark": (1, 0)}, findings, comparisons)
    assert area.value["crowd", "all texts"] > 0.7


def test_interval_alpha_is_that_of_agreement(crowd):
    for clusters in (["cluster"], ["rater_id", "cluster"]):
        ours = found.interval_alpha(crowd, "mark", clusters)
        theirs = agreement(crowd, "mark", level="interval", clusters=clusters).iloc[0]
        for column in ("estimate", "standard_error", "df"):
            assert ours[column] == pytest.approx(theirs[column])


def test_spread_is_that_of_statsmodels():
    rng = np.random.default_rng(2)
    for _ in range(20):
        values = rng.normal(size=7) * rng.uniform(0, 2)
        variances = rng.uniform(0.1, 1, 7)
        tau2 = combine_effects(values, variances, method_re="iterated").tau2
        ours = found.paule_mandel(values[None], variances[None])[0]
        assert ours == pytest.approx(tau2, abs=1e-4)


def test_prediction_intervals_stay_within_bounds():
    sets = pd.DataFrame({"estimate": [0.95, 0.1, 0.99, -0.5], "standard_error": 0.01})
    bounded = found.pool(sets, fisher=True)
    assert bounded["low"].min() > -1
    assert bounded["high"].max() < 1
    assert found.pool(sets, fisher=False)["high"].max() > 1
    with pytest.raises(OptionError, match="takes three"):
        found.pool(sets.head(2), fisher=True)


def test_simulated_intervals_of_the_mean_and_of_the_next_set_cover():
    sets = pd.DataFrame({"estimate": np.arange(9) / 10, "standard_error": 0.05})
    rng = np.random.default_rng(0)
    table = found.coverage(sets.assign(df=30), fisher=True, n_sim=2000, rng=rng)
    assert table[["mean", "next set"]].stack().between(93, 97).all()
    share = table[["mean", "next set"]].min(axis="columns") / 100
    error = 100 * np.sqrt(share * (1 - share) / 2000)
    assert table["simulation error"].tolist() == pytest.approx(error.tolist())


def test_as_many_clusters_as_have_the_rarer_kind_of_text_tell_the_area(crowd):
    # each prompt has two texts; those of three prompts have a finding
    items = crowd["item_id"].unique()
    wrong = [float(int(item[1:]) in (4, 11, 20)) for item in items]
    both = pd.DataFrame({"few": wrong, "many": 1 - np.array(wrong)}, items)
    comparisons = {name: Comparison("mark", name) for name in both}
    area = found.discrimination(crowd, {"mark": (1, 5)}, both, comparisons)
    assert area.parts[0].effective_number() == pytest.approx([3, 3, 3, 3])


def test_slope_of_length_within_prompts_and_systems():
    rng = np.random.default_rng(3)
    n = 300
    items = pd.DataFrame(
        {"prompt_id": np.arange(n) // 3, "system": ["a", "b", "c"] * 100}
    )
    items["cluster"] = items["prompt_id"]
    # the better system writes longer: that is no effect of length
    quality = items["system"].map({"a": 0, "b": 3, "c": 6})
    items["words"] = (50 * 2 ** (quality / 3 + rng.normal(0, 0.5, n))).round()
    items["rating"] = quality + 0.5 * np.log2(items["words"]) + rng.normal(0, 0.5, n)
    slope = found.length_slope(items, "rating")
    assert slope["points"] == pytest.approx(0.5, abs=0.15)
    assert slope["systems"] == 3
    confounded = found.length_slope(items.assign(system=np.nan), "rating")
    assert confounded["points"] > 1
    assert confounded["systems"] == 0


def test_slope_of_pairs_with_sides_and_systems():
    rng = np.random.default_rng(4)
    n = 2000
    pairs = pd.DataFrame({"cluster": np.arange(n) // 2})
    sides = rng.permuted(np.tile(["x", "y"], (n, 1)), axis=1)
    pairs["first_system"], pairs["second_system"] = sides.T
    pairs["first_words"] = rng.integers(20, 200, n)
    pairs["second_words"] = rng.integers(20, 200, n)
    better = np.where(pairs["first_system"] == "x", 0.2, -0.2)
    ratio = np.log2(pairs["first_words"] / pairs["second_words"])
    chance = np.clip(0.5 + 0.1 + better + 0.05 * ratio, 0, 1)
    pairs["preferred"] = (rng.random(n) < chance).astype(float)
    slope = found.pair_slope(pairs)
    assert slope.loc["twice as long", "estimate"] == pytest.approx(5, abs=3)
    assert slope.loc["first", "estimate"] == pytest.approx(10, abs=4)
    one_order = pairs[pairs["first_system"] == "x"]
    slope = found.pair_slope(one_order)
    assert np.isnan(slope.loc["first", "estimate"])
    assert slope.loc["twice as long", "levels"] == 1


def test_a_text_that_lacks_a_rating_gets_one_of_its_others_again():
    shares = found.sum_shares(np.array([[2, 1], [0, 0], [1, 0]]), 4)
    expected = [[0, 2 / 3, 1 / 3, 0, 0], [0] * 5, [1, 0, 0, 0, 0]]
    assert shares == pytest.approx(np.array(expected))
