"""What ratings of any study say: weights by several methods, agreement, confounders."""

import importlib.util
import sys
from dataclasses import replace

import krippendorff
import numpy as np
import pandas as pd
import pytest
from example_study import ASPECTS, WEIGHTS, example_ratings
from scipy import stats

from helpers import paths
from helpers.stats import clustered
from helpers.stats.agreement import gwet_ac1, krippendorff_alpha
from ratings import inference
from ratings.intake import prepare

SPEC = importlib.util.spec_from_file_location(
    "gates", paths.ROOT / "benchmarks" / "gates.py"
)
gates = importlib.util.module_from_spec(SPEC)
sys.modules["gates"] = gates
SPEC.loader.exec_module(gates)


def rng(seed=1):
    return np.random.default_rng(seed)


def study_of(table, aspects=ASPECTS):
    return prepare(table, "overall", list(aspects), rng(0))


def changed(study, **columns):
    return replace(study, frame=study.frame.assign(**columns))


def wide(n_rows, n_aspects):
    """Marks and overall ratings drawn at random, five to each cluster."""
    drawn = rng(0)
    table = pd.DataFrame(
        drawn.integers(0, 2, (n_rows, n_aspects)).astype(float)
    ).add_prefix("a")
    names = list(table)
    table = table.assign(overall=drawn.integers(1, 6, n_rows), item_id=range(n_rows))
    return study_of(table.assign(prompt_id=table["item_id"] // 5), names)


def why(result):
    return result["not done"].item()


@pytest.fixture(scope="module")
def table():
    frame = example_ratings(rng(3), n_gaps=0).iloc[:-1]
    return frame.rename(columns={"response_words": "covariate"})


@pytest.fixture(scope="module")
def study(table):
    return study_of(table)


@pytest.fixture(scope="module")
def large():
    table = example_ratings(rng(3), n_prompts=600)
    return study_of(table.assign(covariate=np.log(table["response_words"])))


def test_ordered_marks_find_the_truth_again(large):
    truth = WEIGHTS.drop("completeness")
    found = inference.ordered_marks(large, rng())["estimate"]
    assert (found[truth.index] - truth).abs().max() < 0.2


def test_leniency_of_raters_is_taken_out_within_raters():
    table = example_ratings(rng(5), n_prompts=150, n_gaps=0)
    strict = table["rater_id"].isin(table["rater_id"].unique()[:8])
    table = table.assign(
        tone=table["tone"].mask(strict, 1), overall=table["overall"] - 2 * strict
    )
    found = inference.weights_by_method(study_of(table), rng())
    assert found["all ratings"].loc["tone", "estimate"] > 1
    assert abs(found["within raters"].loc["tone", "estimate"]) < 0.25


def test_items_averaged_are_least_squares_on_their_means(study):
    found = inference.weights_by_method(study, rng())
    assert list(found) == [
        "within raters",
        "all ratings",
        "items averaged",
        "ordered marks",
    ]
    means = study.scaled().groupby("item_id")[[*ASPECTS, "overall"]].mean()
    expected = clustered.least_squares(
        means.reset_index(), ASPECTS, "overall", "item_id"
    )["estimate"]
    np.testing.assert_allclose(found["items averaged"]["estimate"], expected[ASPECTS])
    once = replace(
        study, frame=study.frame.drop_duplicates("item_id").drop(columns="rater_id")
    )
    assert "items averaged" not in inference.weights_by_method(once, rng())


def test_ordered_marks_need_a_scale_and_enough_ratings(study):
    for overall in (np.arange(len(study.frame)), study.frame["overall"] / 2):
        reason = why(inference.ordered_marks(changed(study, overall=overall), rng()))
        assert reason == "overall is not one of up to 11 whole marks"
    few = why(inference.ordered_marks(wide(60, 4), rng()))
    assert few == "60 ratings are too few; at least 90 are needed"


def test_an_aspect_that_separates_high_from_low_has_no_effect_but_the_others_have():
    study = wide(400, 2)
    overall = (1 + 4 * study.frame["a0"]).where(np.arange(400) % 7 > 0, 3)
    study = changed(study, overall=overall, a0=(overall > 3).astype(float))
    table = inference.ordered_marks(study, rng())
    assert table["estimate"].isna().tolist() == [True, False]
    reason = why(inference.ordered_marks(replace(study, aspects=["a0"]), rng()))
    assert reason == "every aspect tells high from low ratings without exception"


def test_agreement_is_that_of_the_known_statistics(monkeypatch, table):
    monkeypatch.setattr(inference, "FEWEST_AGREEING", 0)
    found = inference.agreement(
        table.assign(typos=0.0), ["tone", "refusal", "typos"], rng()
    )
    categories = {"tone": [1, 2, 3, 4, 5], "refusal": [0, 1]}
    assert found.index.tolist() == ["tone", "refusal"]
    for name, scale in categories.items():
        row = found.loc[name]
        alpha = krippendorff_alpha(table, "item_id", name, scale, "ordinal")
        ac1 = gwet_ac1(table, "item_id", name, scale)
        assert row["estimate"] == pytest.approx(alpha)
        assert row["AC1"] == pytest.approx(ac1)
        rated = table.groupby("item_id")[name]
        n = rated.size()
        alike = rated.agg(
            lambda marks: (marks.value_counts() * (marks.value_counts() - 1)).sum()
        )
        same = (alike / (n * (n - 1)))[n > 1].mean()
        assert row["same mark, %"] == pytest.approx(100 * same)


def test_agreement_on_numbers_is_alpha_of_the_package(table):
    frame = table.iloc[:300].assign(
        tone=lambda t: t["tone"] + rng(0).normal(0, 0.3, len(t))
    )
    found = inference.agreement(frame, ["tone"], rng()).loc["tone"]
    matrix = frame.pivot(index="rater_id", columns="item_id", values="tone").to_numpy()
    expected = krippendorff.alpha(matrix, level_of_measurement="interval")
    assert found["estimate"] == pytest.approx(expected)
    assert found["low"] < expected < found["high"]
    assert "AC1" not in found


def test_agreement_needs_two_people_on_an_item(table):
    two = table[table["item_id"] == table["item_id"].iloc[0]]
    too_few = (
        "too few items were rated by two people, too few got an unusual mark from "
        "both, or nobody ever differs"
    )
    unnamed = "the recipe names no raters: two ratings of an item may be by one person"
    for frame, reason in (
        (table.drop(columns="rater_id"), unnamed),
        (table.assign(rater_id="me"), "all ratings are by one rater"),
        (table.drop_duplicates("item_id"), "no item was rated by two people"),
        (two, too_few),
    ):
        assert why(inference.agreement(frame, ["tone"], rng())) == reason


def test_a_second_rating_by_the_same_person_is_no_agreement(table):
    again = pd.concat([table, table], ignore_index=True)
    found, expected = (
        inference.agreement(each, ["tone"], rng()) for each in (again, table)
    )
    pd.testing.assert_frame_equal(found, expected)


def test_of_many_ratings_whole_items_are_drawn(monkeypatch, table):
    monkeypatch.setattr(inference.raters, "MOST_ROWS", 300)
    assert inference.agreement(table, ["tone"], rng())["items"].item() == 100


def test_holding_the_confounder_constant_finds_the_truth(large):
    found = inference.confounder(large).loc["completeness"]
    assert abs(found["estimate"] - WEIGHTS["completeness"]) < 0.11
    assert found["alone"] - WEIGHTS["completeness"] > 0.15
    assert found["change"] == pytest.approx(found["estimate"] - found["alone"])
    assert found["change low"] < found["change"] < found["change high"] < 0
    assert found["p, Holm"] < 0.1


def test_labels_are_held_constant_by_comparing_within_them(study):
    is_first = np.arange(len(study.frame)) % 2 == 1
    shifted = changed(
        study,
        covariate=pd.Categorical(np.where(is_first, "GPT-4", "Llama")),
        overall=study.frame["overall"] + 10 * is_first,
        typos=np.where(is_first, study.frame["typos"], 0.0),
    )
    # as rows are called that were lists in a cell
    shifted.frame.index = shifted.frame.index // 3
    found = inference.confounder(shifted)
    assert found.loc["typos", "alone"] > 3
    assert abs(found.loc["typos", "estimate"]) < 0.5


def test_a_confounder_needs_a_covariate_that_varies(study):
    names = pd.Categorical([f"label-{row}" for row in range(len(study.frame))])
    few = study.frame[study.frame["cluster"] < 8]
    needed = "values in 600 ratings; numbers, or 2 to 30 labels, are needed"
    for other, reason in (
        (
            replace(study, frame=study.frame.drop(columns="covariate")),
            "no covariate is named",
        ),
        (changed(study, covariate=1.0), f"the covariate has 1 {needed}"),
        (changed(study, covariate=names), f"the covariate has 600 {needed}"),
        (replace(study, frame=few), "8 clusters are too few for 8 numbers"),
    ):
        assert why(inference.confounder(other)) == reason


def drawn(seed=1, **design):
    """A file as the benchmark of conclusions draws it."""
    return pd.DataFrame(gates.draw(gates.Design(**design), rng(seed))[0])


def verdicts(table, aspects=("tone", "depth", "typos"), **settings):
    study = prepare(table, "overall", list(aspects), rng(0), **settings)
    return inference.conclude(study, rng(0))


LINKED = {"weights": {"tone": 2.5, "depth": -2.0}, "slopes": 0.1, "prompts": 80}


def test_verdicts_tell_what_goes_with_the_outcome_and_for_whom():
    found = verdicts(drawn(raters=9, **LINKED))
    assert found["verdict"].tolist() == ["higher", "lower", "hardly any link"]
    assert set(found["scope"]) == {"raters and items like these"}
    few = verdicts(drawn(raters=4, **LINKED))
    assert few["verdict"].tolist()[:2] == ["higher", "lower"]
    assert set(few["scope"]) == {"these raters"}
    assert set(verdicts(drawn(raters=0, **LINKED))["scope"]) == {"these raters"}
    row = found.loc["tone"]
    numbers = (row["weight"], row["low"], row["high"])
    held = "{:+.2f} [{:.2f}, {:.2f}]".format(*numbers)
    assert row["because"].startswith(
        f"others held equal {held} points of overall; alone +"
    )


def test_numbers_are_those_of_least_squares_with_a_level_for_each_rater():
    table = drawn(raters=9, **LINKED)
    found = verdicts(table)
    design = pd.get_dummies(table["rater_id"], dtype=float)
    shares = (table[["tone", "depth"]] - 1) / 4
    design = design.join(shares).assign(typos=table["typos"])
    fit = np.linalg.lstsq(design, table["overall"], rcond=None)[0]
    np.testing.assert_allclose(found["weight"], fit[-3:])
    design = design.drop(columns=["depth", "typos"])
    assert found.loc["tone", "alone"] == pytest.approx(
        np.linalg.lstsq(design, table["overall"], rcond=None)[0][-1]
    )


def test_an_aspect_marked_in_few_clusters_is_not_known():
    table = drawn(raters=0, marks=9, **LINKED)
    table["overall"] += 3 * table["rare"]
    row = verdicts(table, ("tone", "rare")).loc["rare"]
    assert row["informative clusters"] <= 9
    assert row["verdict"] == "not known"
    assert row["because"].endswith("clusters; at least 10 are needed")
    assert np.isnan(row["p Holm"])


def test_a_link_that_others_carry_is_hardly_anything_of_its_own():
    table = drawn(raters=30, weights={"tone": 2.0}, slopes=0.0, prompts=160)
    table["typos"] = table["tone"] + rng().integers(0, 5, len(table))
    found = verdicts(table).loc["typos"]
    assert found["verdict"] == "hardly anything of its own"
    assert found["alone low"] > 0.3


def test_too_wide_an_interval_is_not_known_and_a_scale_is_asked_for():
    table = drawn(raters=5, rounded=False, prompts=12)
    row = verdicts(table).loc["tone"]
    assert row["verdict"] == "not known"
    assert row["because"].endswith(
        "too wide to tell; overall has no declared scale, so nothing counts as small"
    )


def test_no_verdict_before_the_scale_is_settled():
    table = drawn(raters=9, **LINKED)
    for column, expected in (
        ("tone", ["scale not settled", "lower", "hardly any link"]),
        ("overall", ["scale not settled"] * 3),
    ):
        wrong = table.copy()
        wrong.loc[3, column] = 55.0
        found = verdicts(wrong)
        assert found["verdict"].tolist() == expected
        assert (
            found["because"]
            .iloc[0]
            .startswith(f"{column}: 55 in 1 rating; no verdict before")
        )


def test_an_outcome_that_is_computed_gets_no_other_verdict():
    table = drawn(raters=9)
    table["overall"] = (table["tone"] + table["depth"]) / 2
    found = verdicts(table)
    assert set(found["verdict"]) == {"computed from others"}
    assert (
        found["because"]
        .iloc[0]
        .startswith("overall is computed from tone, depth (exactly)")
    )


def test_aspects_that_are_not_told_apart_get_no_other_verdict():
    table = drawn(raters=9, **LINKED)
    table = table.assign(again=table["tone"] * 2, empty=1.0)
    found = verdicts(table, ("tone", "depth", "again", "empty"))
    assert found["verdict"].to_dict() == {
        "tone": "not told apart",
        "depth": "lower",
        "again": "not told apart",
        "empty": "left out",
    }
    assert found.loc["tone", "because"] == "moves together with again"
    many = inference.conclude(wide(400, 60), rng(0))
    assert set(many["verdict"]) == {"not told apart"}
    assert many["weight"].isna().all()
    assert many["alone"].notna().all()
    assert (
        many["because"].iloc[0].startswith("more aspects than the ratings can tell: 60")
    )


def test_a_reversed_rater_who_turns_a_verdict_makes_it_depend_on_choices():
    table = drawn(raters=3, leniency=0.0, slopes=0.0, rates=0.0, prompts=60)
    reversed_one = table["rater_id"] == 0
    table["tone"] = table["tone"].where(reversed_one, 3 + np.sign(table["tone"] - 3))
    quality = rng().integers(2, 5, 180)[table["item_id"]]
    table["overall"] = (quality + (table["tone"] - 3) / 2).round().clip(1, 5)
    assert verdicts(table, ["tone"]).loc["tone", "verdict"] == "higher"
    table["overall"] = table["overall"].mask(reversed_one, 6 - table["overall"])
    row = verdicts(table, ["tone"]).loc["tone"]
    assert row["verdict"] == "depends on choices"
    assert row["because"].endswith("without raters who rate opposite to the others")


def test_methods_that_contradict_each_other_make_a_verdict_depend_on_choices():
    table = drawn(raters=9, leniency=0.0, slopes=0.0, rates=0.0, prompts=80)
    between = table.groupby("item_id")["tone"].transform("mean")
    table["overall"] = 3 + (table["tone"] - between) - 0.5 * (between - 3)
    table["overall"] += 0.3 * rng().normal(size=len(table))
    table["overall"] = table["overall"].round().clip(1, 5)
    study = prepare(table, "overall", ["tone"], rng(0))
    signs = {
        name: np.sign(each["low"].item())
        for name, each in inference.weights_by_method(study, rng()).items()
    }
    assert signs["items averaged"] == -1
    row = inference.conclude(study, rng(0)).loc["tone"]
    assert row["verdict"] == "depends on choices"
    assert "items averaged" in row["because"]


@pytest.mark.parametrize(
    ("one", "other", "disagree"),
    [
        # within the margin, or nearly; both above
        ((0.22, 0.05, 0.39), (0.26, 0.10, 0.42), False),
        ((0.10, -0.10, 0.30), (0.25, 0.02, 0.48), False),
        # clearly more, and hardly anything
        ((0.70, 0.50, 0.90), (0.25, 0.20, 0.30), True),
        ((0.50, 0.20, 0.80), (-0.50, -0.80, -0.20), True),
        ((0.15, 0.05, 0.25), (-0.15, -0.25, -0.05), False),  # both hardly anything
        ((0.50, 0.20, 0.80), (0.00, -0.60, 0.60), False),  # the second says nothing
    ],
)
def test_two_ways_disagree_only_if_neither_could_be_the_other(one, other, disagree):
    rows = {
        name: pd.Series(dict(zip(inference.PARTS, numbers, strict=False)))
        for name, numbers in (("one", one), ("other", other))
    }
    assert bool(inference._contradiction(rows, 0.4)) == disagree


def test_the_ranking_tells_how_often_each_aspect_weighs_most():
    found = inference.rank_aspects(
        prepare(drawn(**LINKED), "overall", ["tone", "depth"], rng(0)), 500, rng()
    )
    assert found["weighs most, %"].sum() == pytest.approx(100)
    assert found.index[0] == "tone"
    table = drawn(**LINKED)
    table["overall"] = table["tone"] + table["depth"]
    study = prepare(table, "overall", ["tone", "depth"], rng(0))
    assert why(inference.rank_aspects(study, 99, rng())) == (
        "the ratings do not tell the weights of single aspects"
    )


def test_the_ranking_redraws_weights_as_wide_as_their_intervals():
    study = prepare(drawn(**LINKED), "overall", ["tone", "depth"], rng(0))
    held = inference.estimates(study)
    slopes = study.slopes()
    # Leaving out one cluster changes the slope of an aspect alone by this much.
    alone = study.slopes(alone=True)
    (changes,) = alone.changes(study.frame[["cluster"]], ["tone"])
    x, y = study.centred()[:, [0, -1]].T
    is_first = (study.frame["cluster"] == study.frame["cluster"].iloc[0]).to_numpy()
    without = (x @ y - x[is_first] @ y[is_first]) / (x @ x - x[is_first] @ x[is_first])
    assert changes[0, 0] == pytest.approx(alone.value["tone"] - without)
    errors = inference._errors(study, slopes)
    margin = stats.t.ppf(0.975, errors["df"]) * errors["standard_error"]
    assert (slopes.value + margin).to_numpy() == pytest.approx(held["high"].to_numpy())
    correlation = inference._correlation(
        slopes.changes(study.clusters, ["tone", "depth"])
    )
    assert np.diagonal(correlation) == pytest.approx([1, 1])
    assert abs(correlation[0, 1]) < 1


def of_systems(n_systems, seed=0):
    """Better systems have fewer typos, which do nothing in answers of one system."""
    random = rng(seed)
    item = np.arange(40 * n_systems)
    system = item % n_systems
    typos = (random.random(len(item)) < system / n_systems) * 1.0
    tone = random.integers(0, 2, len(item)) * 1.0
    overall = 2 - 2 * system / n_systems + tone + 0.5 * random.normal(size=len(item))
    table = {"item_id": item, "prompt_id": item // n_systems, "system_id": system}
    return pd.DataFrame(table | {"typos": typos, "tone": tone, "overall": overall})


def test_what_only_systems_tell_is_gone_with_the_system_held_equal():
    study = prepare(of_systems(6), "overall", ["typos", "tone"], rng())
    conclusions = inference.conclude(study, rng())
    by_system = inference.systems(study)
    assert conclusions.loc["typos", "verdict"] == "lower"
    assert by_system.loc["typos", "verdict"] in ("hardly any link", "not known")
    assert by_system.loc["tone", "verdict"] == "higher"
    dummies = pd.get_dummies(study.frame["system_id"], drop_first=True, dtype=float)
    x = np.column_stack(
        [np.ones(len(dummies)), study.frame[["typos", "tone"]], dummies]
    )
    expected = np.linalg.lstsq(x, study.frame["overall"], rcond=None)[0][1:3]
    np.testing.assert_allclose(by_system.loc[["typos", "tone"], "estimate"], expected)
    assert by_system.loc["tone", "other systems"] == "extends"


def test_of_few_systems_nothing_extends_to_others():
    study = prepare(of_systems(3), "overall", ["tone"], rng())
    by_system = inference.systems(study)
    assert by_system["other systems"].tolist() == ["not shown"]
    assert why(
        inference.systems(prepare(of_systems(1), "overall", ["tone"], rng()))
    ) == ("all ratings are of one system")
    unnamed = of_systems(3).drop(columns="system_id")
    study = prepare(unnamed, "overall", ["tone"], rng())
    assert why(inference.systems(study)) == "no system is named"


def test_the_pooled_weight_stands_beside_that_within_raters(table):
    study = prepare(table, "overall", ["tone"], rng())
    found = inference.estimates(study)
    by_method = inference.weights_by_method(study, rng())
    pooled = by_method["all ratings"][["estimate", "low", "high"]]
    np.testing.assert_allclose(found[inference.POOLED], pooled)
    unnamed = prepare(table.drop(columns="rater_id"), "overall", ["tone"], rng())
    assert inference.estimates(unnamed)["pooled"].isna().all()
