"""Both questions against oracles: analysis of variance, statsmodels, R's multcomp."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy import stats
from statsmodels.stats.multicomp import pairwise_tukeyhsd
from statsmodels.stats.multitest import multipletests

from helpers.data.tables import BadTableError
from ratings import inference
from ratings.inference import compare_systems, heaviest, judge_aspects
from ratings.intake import prepare


def crossed(n_prompts=12, n_raters=7, n_systems=3, seed=0):
    """Every rater rates every system's answer to every prompt."""
    rng = np.random.default_rng(seed)
    shape = (n_prompts, n_raters, n_systems)
    prompt, rater, system = np.indices(shape).reshape(3, -1)
    table = pd.DataFrame({"prompt_id": prompt, "rater_id": rater})
    table["system_id"] = np.array(list("abcdefgh"))[system]
    table["item_id"] = prompt * n_systems + system
    y = 3 + 0.5 * system + 0.7 * rng.normal(size=n_raters)[rater]
    y += 0.4 * rng.normal(size=(n_raters, n_systems))[rater, system]
    y += 0.4 * rng.normal(size=(n_prompts, n_systems))[prompt, system]
    return table.assign(overall=y + 0.5 * rng.normal(size=len(y)))


def test_balanced_pairs_are_those_of_the_two_way_analysis_of_variance_by_hand():
    table = crossed()
    found = compare_systems(prepare(table, "overall", []))
    assert found.is_adjusted
    y = table["overall"].to_numpy().reshape(12, 7, 3)
    for one, other in combinations("abc", 2):
        difference = y[:, :, "abc".index(one)] - y[:, :, "abc".index(other)]
        by_prompt = difference.mean(axis=1).var(ddof=1) / 12
        by_rater = difference.mean(axis=0).var(ddof=1) / 7
        by_both = difference.var(ddof=1) / (12 * 7)
        variance = by_prompt + by_rater - by_both
        assert variance > max(by_prompt, by_rater)
        margin = stats.t.ppf(1 - 0.05 / 2 / 3, 7 - 1) * np.sqrt(variance)
        pair = (one, other) if (one, other) in found.pairs else (other, one)
        sign = 1 if pair == (one, other) else -1
        size = found.pairs[pair].size
        assert size.estimate == pytest.approx(sign * difference.mean())
        assert size.high - size.estimate == pytest.approx(margin)
    means = table.groupby("system_id")["overall"].mean()
    assert np.allclose(found.means["mean"], means[found.means.index])
    assert np.allclose(found.means["adjusted"], found.means["mean"])


def test_independent_ratings_are_separated_as_by_tukey():
    rng = np.random.default_rng(2)
    system = np.repeat(list("abcd"), 400)
    shift = pd.Series({"a": 0, "b": 0.02, "c": 0.8, "d": 0.84})
    table = pd.DataFrame({"system_id": system, "overall": rng.normal(size=1600)})
    table["overall"] += table["system_id"].map(shift)
    table = table.assign(item_id=range(1600), prompt_id=range(1600))
    found = compare_systems(prepare(table, "overall", []))
    tukey = pairwise_tukeyhsd(table["overall"], table["system_id"])
    for pair, difference, ends, is_told in zip(
        combinations("abcd", 2),
        tukey.meandiffs,
        tukey.confint,
        tukey.reject,
        strict=True,
    ):
        verdict = found.pairs.get(pair, found.pairs.get(pair[::-1]))
        assert abs(verdict.size.estimate) == pytest.approx(abs(difference))
        assert verdict.is_clear == is_told
        width = verdict.size.high - verdict.size.low
        assert width == pytest.approx(ends[1] - ends[0], rel=0.07)
    assert found.not_separated("d") == ["c"]
    assert found.not_separated("a") == ["b"]


def of_multcomp():
    """The table of the calls in R below."""
    i = np.arange(1, 73)
    system, rater, _ = np.indices((3, 4, 6)).reshape(3, -1)
    y = 3 + 0.6 * (system == 1) + 0.9 * (system == 2) + (i * 7 % 5) / 4
    y += rater + 1 + (i * 3 % 7) / 6
    table = pd.DataFrame({"item_id": i, "prompt_id": i, "overall": y})
    table["rater_id"] = rater
    table["system_id"] = np.array(list("abc"))[system]
    return table[(i % 4 != 0) | (system == 0)]


PAIRS = [("b", "a"), ("c", "a"), ("c", "b")]


def of_pair(found, pair):
    verdict = found.pairs.get(pair, found.pairs.get(pair[::-1]))
    sign = 1 if pair in found.pairs else -1
    return sign * verdict.size.estimate, verdict


def test_differences_with_raters_held_equal_are_those_of_multcomp():
    # m <- aov(y ~ system + rater, data = u)
    # summary(glht(m, linfct = mcp(system = "Tukey")))
    found = compare_systems(prepare(of_multcomp(), "overall", []))
    assert found.is_adjusted
    for pair, expected in zip(
        PAIRS, [0.5610627418, 0.8564331122, 0.2953703704], strict=True
    ):
        assert of_pair(found, pair)[0] == pytest.approx(expected)


def test_differences_and_errors_of_single_ratings_are_those_of_multcomp():
    # m <- aov(y ~ system, data = u)
    # glht(m, linfct = mcp(system = "Tukey"), vcov = sandwich::vcovHC(m, "HC3"))
    table = of_multcomp().drop(columns="rater_id")
    found = compare_systems(prepare(table, "overall", []))
    assert not found.is_adjusted
    estimates = [0.5097222222, 0.8050925926, 0.2953703704]
    errors = [0.3941616254, 0.3936617516, 0.4316958211]
    for pair, expected, error in zip(PAIRS, estimates, errors, strict=True):
        estimate, verdict = of_pair(found, pair)
        assert estimate == pytest.approx(expected)
        standard_error = found.left_out.table().loc[
            (verdict.name, verdict.against), "standard_error"
        ]
        # the jackknife has a factor of (n - 1) / n that HC3 lacks
        assert standard_error == pytest.approx(error * np.sqrt(59 / 60))


def test_lenient_raters_of_one_system_are_taken_out():
    rng = np.random.default_rng(0)
    table = crossed(n_systems=2)
    mild = table["rater_id"] < 3
    keep = np.where(mild, table["system_id"] == "a", table["system_id"] == "b")
    table = table[keep | (rng.random(len(table)) < 0.2)]
    table["overall"] = (table["system_id"] == "b") * 1.0 + 3.0 * (table["rater_id"] < 3)
    table["overall"] += 0.1 * rng.normal(size=len(table))
    found = compare_systems(prepare(table, "overall", []))
    assert found.means.index[0] == "b"
    assert found.means.loc["a", "mean"] > found.means.loc["b", "mean"]
    assert of_pair(found, ("b", "a"))[0] == pytest.approx(1, abs=0.1)


def test_raters_who_do_not_link_the_systems_are_not_taken_out():
    table = crossed(n_systems=2, n_raters=10)
    table = table[(table["rater_id"] < 5) == (table["system_id"] == "a")]
    found = compare_systems(prepare(table, "overall", []))
    assert not found.is_adjusted


def test_a_system_that_rests_on_one_rater_is_not_judged_and_the_others_are():
    table = crossed()
    is_kept = (table["system_id"] != "c") | (table["rater_id"] == 0)
    found = compare_systems(prepare(table[is_kept], "overall", []))
    kinds = {frozenset(pair): each.direction for pair, each in found.pairs.items()}
    assert kinds[frozenset("ac")] == kinds[frozenset("bc")] == "not judged"
    assert kinds[frozenset("ab")] != "not judged"


@pytest.mark.parametrize(
    ("systems", "message"),
    [
        (["a"] * 300, "all ratings are of one system"),
        ([f"s{row % 100}" for row in range(300)], "100 systems in 300 ratings: at"),
    ],
)
def test_systems_that_cannot_be_compared_are_told(systems, message):
    table = crossed(n_prompts=20, n_raters=5).assign(system_id=systems)
    with pytest.raises(BadTableError, match=message):
        compare_systems(prepare(table, "overall", []))


def test_too_many_systems_are_told():
    rows = np.arange(500)
    table = pd.DataFrame({"item_id": rows, "prompt_id": rows, "system_id": rows % 45})
    table["overall"] = np.random.default_rng(0).normal(size=500)
    with pytest.raises(BadTableError, match="45 systems are more than the 40"):
        compare_systems(prepare(table, "overall", []))


def with_aspects(n=480, systems=0, seed=0, weight=1.5):
    """Raters who differ; tone has a weight, typos have none."""
    rng = np.random.default_rng(seed)
    rows = np.arange(n)
    item, rater = rows // 3, rng.integers(0, 9, n)
    table = pd.DataFrame({"item_id": item, "prompt_id": item // 4, "rater_id": rater})
    table["tone"] = rng.integers(1, 6, n) * 1.0
    table["typos"] = (rng.random(n) < 0.3) * 1.0
    table["overall"] = weight * (table["tone"] - 1) / 4 + rng.normal(size=n)
    table["overall"] += rng.normal(size=9)[rater]
    if systems:
        table["system_id"] = item % systems
    return table.drop_duplicates(["item_id", "rater_id"])


def test_weights_are_those_of_statsmodels_with_raters_and_systems_as_dummies():
    table = with_aspects(systems=4)
    study = prepare(table, "overall", ["tone", "typos"])
    fit = smf.ols("overall ~ tone + typos + C(rater_id) + C(system_id)", table).fit()
    for verdict in judge_aspects(study):
        per_step = 4 if verdict.name == "tone" else 1
        expected = per_step * fit.params[verdict.name]
        assert verdict.size.estimate == pytest.approx(expected)
        degrees = len(table) - 9 - 4 + 1
        residual = smf.ols("overall ~ C(rater_id) + C(system_id)", table).fit().resid
        assert verdict.sd == pytest.approx(np.sqrt((residual**2).sum() / degrees))
        others = verdict.specifications
        without = smf.ols("overall ~ tone + typos + C(rater_id)", table).fit()
        pooled = smf.ols("overall ~ tone + typos + C(system_id)", table).fit()
        alone = f"overall ~ {verdict.name} + C(rater_id) + C(system_id)"
        for name, other in {
            inference.NOT_HELD: without,
            inference.NOT_WITHIN: pooled,
            inference.ALONE: smf.ols(alone, table).fit(),
        }.items():
            expected = per_step * other.params[verdict.name]
            assert others[name].estimate == pytest.approx(expected), name


def test_intervals_leave_out_each_rater_and_each_prompt():
    table = with_aspects()
    study = prepare(table, "overall", ["tone", "typos"])
    centred = table[["tone", "typos", "overall"]].copy()
    centred["tone"] /= 4
    centred -= centred.groupby(table["rater_id"]).transform("mean")

    def slope(rows):
        return np.linalg.lstsq(rows[["tone", "typos"]], rows["overall"], rcond=None)[0]

    all_rows = slope(centred)
    variances = []
    for keys in (["rater_id"], ["prompt_id"], ["rater_id", "prompt_id"]):
        groups = table.groupby(keys).ngroup()
        number = groups.nunique()
        changes = [slope(centred[groups != each]) - all_rows for each in range(number)]
        squares = (np.array(changes) ** 2).sum(axis=0)
        variances.append(squares * (number - 1) / number)
    first, second, both = variances
    expected = np.sqrt(np.maximum(first + second - both, np.maximum(first, second)))
    assert np.allclose(study.weights.table()["standard_error"], expected)


def test_directions_are_corrected_by_holm():
    table = with_aspects(seed=3, weight=0.35)
    rng = np.random.default_rng(1)
    for name in "abcd":
        table[name] = rng.integers(1, 6, len(table)) * 1.0
    names = ["tone", "typos", *"abcd"]
    study = prepare(table, "overall", names)
    p_values = study.weights.table()["p_value"]
    expected = multipletests(p_values, method="holm")[1]
    found = {each.name: each for each in judge_aspects(study)}
    assert [found[name].p for name in names] == pytest.approx(expected)
    for verdict in found.values():
        assert verdict.is_clear == (verdict.p < 0.05)
        assert verdict.n_judged == 6


def test_systems_that_differ_do_not_make_a_weight():
    table = with_aspects(systems=6)
    rng = np.random.default_rng(0)
    shift = np.array([-2, -1, 0, 1, 2, 3])[table["system_id"]]
    table["typos"] = (rng.random(len(table)) < (shift + 3) / 7) * 1.0
    table["overall"] += shift
    found = judge_aspects(prepare(table, "overall", ["tone", "typos"]))
    (typos,) = [each for each in found if each.name == "typos"]
    assert typos.direction == "unclear"
    assert typos.specifications[inference.NOT_HELD].side == 1


def test_a_covariate_is_held_equal_as_numbers_or_labels():
    table = with_aspects()
    rng = np.random.default_rng(0)
    words = 20 * table["tone"] + rng.normal(size=len(table))
    for covariate, term in (
        (words, "covariate"),
        (pd.Categorical(rng.choice(list("xyz"), len(table))), "C(covariate)"),
    ):
        given = table.assign(covariate=covariate)
        found = judge_aspects(prepare(given, "overall", ["tone", "typos"]))
        (tone,) = [each for each in found if each.name == "tone"]
        fit = smf.ols(f"overall ~ tone + typos + C(rater_id) + {term}", given).fit()
        size = tone.specifications[inference.COVARIATE]
        assert size.estimate == pytest.approx(4 * fit.params["tone"])


def test_the_heaviest_aspect_is_told_only_where_it_can_be():
    rng = np.random.default_rng(0)
    table = with_aspects(n=900)
    table["depth"] = rng.integers(1, 6, len(table)) * 1.0
    names = ["tone", "typos", "depth"]
    study = prepare(table, "overall", names)
    first, equal, nearest = heaviest(study, judge_aspects(study))
    assert (first, equal) == ("tone", [])
    weights = study.weights.value
    ((other, size),) = nearest.items()
    assert size.estimate == pytest.approx(weights["tone"] - abs(weights[other]))
    assert 0 < size.low < size.estimate < size.high
    table["overall"] -= 1.45 * (table["depth"] - 1) / 4
    study = prepare(table, "overall", names)
    first, equal, _ = heaviest(study, judge_aspects(study))
    assert {first, *equal} == {"tone", "depth"}
    sizes = study.weights
    contrast = pd.DataFrame([[1.0, 0, 1.0]], ["sum"], columns=names)
    error = sizes.contrast(contrast).table().loc["sum"]
    limit = stats.t.ppf(1 - 0.05 / 2 / 6, error["df"]) * error["standard_error"]
    assert abs(error["estimate"]) < limit
    table["overall"] = rng.normal(size=len(table))
    study = prepare(table, "overall", names)
    assert heaviest(study, judge_aspects(study)) == ("", [], {})


def test_what_cannot_be_judged_says_why():
    table = with_aspects()
    table["rare"] = (table["item_id"] < 5) * 1.0
    table["same"] = table["tone"] + 0.05 * np.random.default_rng(0).normal(
        size=len(table)
    )
    names = ["tone", "rare", "same", "typos"]
    found = {
        each.name: each for each in judge_aspects(prepare(table, "overall", names))
    }
    assert found["rare"].reason.startswith(
        "a mark other than the usual one occurs in 2 clusters; at least 10"
    )
    assert found["same"].reason == "it moves together with tone"
    assert found["typos"].direction != "not judged"
    table["overall"] = table["tone"] + table["typos"]
    found = judge_aspects(prepare(table, "overall", ["tone", "typos"]))
    assert {each.direction for each in found} == {"not judged"}
    assert "so that its weight is arithmetic, not a finding" in found[0].reason
