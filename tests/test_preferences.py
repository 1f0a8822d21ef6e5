"""Preferences in pairs: R, statsmodels, brute force, known answers and refusals."""

import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit
from statsmodels.discrete.conditional_models import ConditionalLogit
from statsmodels.genmod.families import Binomial
from statsmodels.genmod.generalized_linear_model import GLM

import helpers
from helpers import preferences, regression
from helpers.data.tables import OptionError

ORACLES = Path(__file__).parent / "oracles"
BOTH = ["rater_id", "prompt_id"]
SYSTEMS = ["ash", "elm", "fir", "oak", "yew"]
COLUMNS = ("left", "right", "winner")


@pytest.fixture(scope="module")
def table():
    spec = importlib.util.spec_from_file_location("tables", ORACLES / "tables.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.comparisons()


@pytest.fixture(scope="module")
def reference():
    return pd.read_csv(ORACLES / "pairs.csv").set_index(["model", "name"])


def design_of(table):
    """Differences of indicators, as R has them, with ash at 0."""
    lengths = ("words", "words_right")
    rows = preferences.comparisons(table, *COLUMNS, BOTH, length=lengths)
    design = rows[BOTH].copy()
    for system in SYSTEMS[1:]:
        is_first = (rows["shown first"] == system).astype(float)
        design[system] = is_first - (rows["shown second"] == system)
    design["first"] = 1.0
    design["longer"] = rows["longer"] / 100
    design["won"] = rows["first won"]
    return design


def chain(*results, n=12):
    """Comparisons in each of n prompts: ``"elm oak"`` if elm won, ``"elm=oak"`` for a
    tie. The better one is shown first in every other prompt."""
    rows = []
    for prompt in range(n):
        for result in results:
            better, worse = result.replace("=", " ").split()
            shown = (better, worse) if prompt % 2 else (worse, better)
            rows.append((prompt, *shown, "tie" if "=" in result else better))
    return pd.DataFrame(rows, columns=["prompt_id", "left", "right", "winner"])


# Oracles -------------------------------------------------------------------------


def test_strengths_without_a_side_are_those_of_bradleyterry2(table, reference):
    # always the same order, so that no side is estimated
    is_turned = table["left"] > table["right"]
    turned = table.copy()
    turned.loc[is_turned, ["left", "right"]] = table.loc[
        is_turned, ["right", "left"]
    ].to_numpy()
    found = helpers.pairs(turned, *COLUMNS)
    assert "one order only" in found.attrs["caption"]
    strength = pd.DataFrame(found)["strength"]
    expected = reference.loc["plain", "estimate"]
    np.testing.assert_allclose(
        strength[expected.index] - strength["ash"], expected, rtol=1e-9
    )
    assert strength.mean() == pytest.approx(0, abs=1e-12)


def test_strengths_with_a_side_are_those_of_bradleyterry2(table, reference):
    found = pd.DataFrame(helpers.pairs(table, *COLUMNS))["strength"]
    expected = reference.loc["side", "estimate"]
    own = (found - found["ash"])[SYSTEMS[1:]]
    np.testing.assert_allclose(own, expected[SYSTEMS[1:]], rtol=1e-7)
    assert found["shown first"] == pytest.approx(expected["first"], rel=1e-8)


@pytest.mark.parametrize("cluster", BOTH)
def test_logistic_regression_is_that_of_r_and_sandwich(table, reference, cluster):
    design = design_of(table)
    names = [*SYSTEMS[1:], "first", "longer"]
    found = regression.logistic(design, names, "won", [cluster]).table()
    expected = reference.loc[cluster]
    np.testing.assert_allclose(found["estimate"], expected["estimate"], rtol=1e-8)
    # sandwich weighs the blocks of the hat matrix a little differently
    np.testing.assert_allclose(
        found["standard_error"], expected["standard_error"], rtol=0.003
    )


def test_logistic_regression_is_that_of_statsmodels(table):
    design = design_of(table)
    names = [*SYSTEMS[1:], "first", "longer"]
    found = regression.logistic(design, names, "won", ["prompt_id"]).table()
    model = GLM(design["won"], design[names], Binomial())
    options = {"groups": design["prompt_id"]}
    fitted = model.fit(cov_type="cluster", cov_kwds=options)
    np.testing.assert_allclose(found["estimate"], fitted.params, rtol=1e-7)
    # CR1, which is smaller than the jackknife
    ratio = found["standard_error"] / fitted.bse
    assert ratio.between(0.98, 1.1).all()


def test_strengths_without_ties_are_those_of_conditional_logit(table):
    decided = table[table["winner"] != "tie"].reset_index(drop=True)
    is_first = decided["winner"] == decided["left"]
    sides = []
    for side, won in (("left", is_first), ("right", ~is_first)):
        shown = pd.get_dummies(decided[side]).astype(float)[SYSTEMS[1:]]
        shown["first"] = float(side == "left")
        sides.append(shown.assign(won=won.astype(int), pair=decided.index))
    long = pd.concat(sides)
    names = [*SYSTEMS[1:], "first"]
    fitted = ConditionalLogit(long["won"], long[names], groups=long["pair"]).fit(
        method="newton", disp=False
    )
    found = pd.DataFrame(helpers.pairs(decided, *COLUMNS))["strength"]
    own = (found - found["ash"])[SYSTEMS[1:]]
    np.testing.assert_allclose(own, fitted.params[SYSTEMS[1:]], rtol=1e-6)
    assert found["shown first"] == pytest.approx(fitted.params["first"], rel=1e-6)


@pytest.mark.parametrize("clusters", [BOTH, ["rater_id"], ["prompt_id"]])
def test_deletions_are_one_newton_step_of_brute_force(table, clusters):
    design = design_of(table)
    names = [*SYSTEMS[1:], "first", "longer"]
    fitted = regression.logistic(design, names, "won", clusters)
    x = design[names].to_numpy()
    expected = expit(x @ fitted.value.to_numpy())
    weight = expected * (1 - expected)
    residual = design["won"].to_numpy() - expected
    gram = x.T @ (x * weight[:, None])
    kinds = [clusters] if len(clusters) == 1 else [clusters[:1], clusters[1:], clusters]
    for kind, covariance in zip(kinds, fitted.covariances, strict=True):
        groups = design.groupby(kind).ngroup().to_numpy()
        changes = []
        for group in range(groups.max() + 1):
            left = groups != group
            own = x[left].T @ (x[left] * weight[left, None])
            changes.append(np.linalg.solve(own, x[left].T @ residual[left]))
        changes = np.array(changes)
        n = len(changes)
        brute = changes.T @ changes * (n - 1) / n
        np.testing.assert_allclose(covariance, brute, rtol=1e-9, atol=1e-12)
    assert np.linalg.eigvalsh(gram).min() > 0


def test_errors_are_close_to_those_of_fits_without_each_prompt(table):
    design = design_of(table)
    names = [*SYSTEMS[1:], "first"]
    fitted = regression.logistic(design, names, "won", ["prompt_id"])
    changes = []
    for prompt in design["prompt_id"].unique():
        left = design[design["prompt_id"] != prompt]
        again = GLM(left["won"], left[names], Binomial()).fit()
        changes.append(again.params - fitted.value)
    n = len(changes)
    brute = np.sqrt((np.array(changes) ** 2).sum(axis=0) * (n - 1) / n)
    found = fitted.table()["standard_error"]
    np.testing.assert_allclose(found, brute, rtol=0.01)


# Known answers -------------------------------------------------------------------


def test_two_systems_have_the_win_rate_with_half_ties():
    frame = chain("elm oak", "elm=oak", "elm oak", "oak elm", n=20)
    found = pd.DataFrame(helpers.pairs(frame, *COLUMNS, every_pair=True))
    assert found["estimate"].item() == pytest.approx(62.5)
    single = pd.DataFrame(helpers.pairs(frame, *COLUMNS))
    assert single.loc["elm", "win_rate"] == pytest.approx(62.5)
    assert single.loc["oak", "win_rate"] == pytest.approx(37.5)
    assert found.index.tolist() == [("elm", "oak")]
    assert found["n"].tolist() == [80]


def test_preferences_are_strengths_on_another_scale(table):
    found = pd.DataFrame(helpers.pairs(table, *COLUMNS))
    np.testing.assert_allclose(logit(found["estimate"] / 100), found["strength"])
    every = pd.DataFrame(helpers.pairs(table, *COLUMNS, every_pair=True))
    assert len(every) == 10
    difference = found.loc["elm", "strength"] - found.loc["yew", "strength"]
    assert every.loc[("elm", "yew"), "difference"] == pytest.approx(difference)
    assert ((every["low"] < every["estimate"]) & (every["p_adjusted"] <= 1)).all()


def test_names_in_the_winner_column_can_be_sides(table):
    said = np.where(table["winner"] == table["left"], "A", "B")
    said = np.where(table["winner"] == "tie", "both bad", said)
    frame = table.assign(winner=said)
    options = {"says": ("A", "B"), "ties": ["both bad", "tie"]}
    found = pd.DataFrame(helpers.pairs(frame, *COLUMNS, **options))
    pd.testing.assert_frame_equal(found, pd.DataFrame(helpers.pairs(table, *COLUMNS)))


def test_repeated_comparisons_all_count(table):
    twice = pd.concat([table, table], ignore_index=True)
    once = pd.DataFrame(helpers.pairs(table, *COLUMNS))
    found = pd.DataFrame(helpers.pairs(twice, *COLUMNS))
    assert found.loc["elm", "n"] == 2 * once.loc["elm", "n"]
    np.testing.assert_allclose(found["strength"], once["strength"])
    # the same comparison in both orders lies in one prompt: nothing is gained
    np.testing.assert_allclose(found["standard_error"], once["standard_error"])


def test_length_is_the_odds_of_a_text_one_standard_deviation_longer(table):
    lengths = ("words", "words_right")
    found = helpers.pairs(table, *COLUMNS, length=lengths)
    unit = (table["words"] - table["words_right"]).std()
    expected = pd.read_csv(ORACLES / "pairs.csv").set_index(["model", "name"])
    expected = expected.loc[("prompt_id", "longer"), "estimate"] * unit / 100
    strength = pd.DataFrame(found)["strength"]
    assert strength["longer"] == pytest.approx(expected, rel=1e-7)
    assert f"longer: by {unit:.3g}" in found.attrs["caption"]


def test_length_that_does_not_differ_is_not_held_equal(table):
    same = table.assign(words_right=table["words"])
    found = helpers.pairs(same, *COLUMNS, length=("words", "words_right"))
    assert "longer" not in found.index
    assert "length is not held equal" in found.attrs["caption"]


def test_a_side_that_is_rare_is_not_estimated(table):
    is_few = (table["prompt_id"] < 5) & (table["rater_id"] < 9)
    rare = table[(table["left"] < table["right"]) | is_few]
    found = helpers.pairs(rare, *COLUMNS)
    assert "shown first" not in found.index
    assert (
        "clusters have a pair in its rarer order, fewer than 10"
        in found.attrs["caption"]
    )


def test_missing_values_are_counted(table):
    gaps = table.copy()
    gaps.loc[:9, "winner"] = None
    found = helpers.pairs(gaps, *COLUMNS)
    assert "10 of 800 rows with missing values left out" in found.attrs["caption"]


# Who can be compared -------------------------------------------------------------


def test_a_system_that_always_won_has_a_win_rate_only():
    frame = chain("yew elm", "yew oak", "elm oak", "oak elm")
    found = helpers.pairs(frame, *COLUMNS)
    table = pd.DataFrame(found)
    assert table.loc["yew", "win_rate"] == 100
    assert table.loc["yew", "win_low"] < 90
    assert table.loc["yew", ["estimate", "low", "high", "component"]].isna().all()
    assert table.loc["elm", "component"] == 1
    assert "a win rate only" in found.attrs["caption"]
    assert found.attrs["notes"][0].endswith(": yew")


def test_ties_connect_both_ways():
    rows = preferences.comparisons(chain("elm=oak", "oak=fir"), *COLUMNS, ["prompt_id"])
    assert preferences.components(rows, ["prompt_id"]).tolist() == [1, 1, 1]


def test_a_tie_connects_both_ways_whoever_is_shown_first():
    frame = pd.DataFrame({"left": "elm", "right": "oak", "winner": "tie"}, range(3))
    rows = preferences.comparisons(
        frame.assign(prompt_id=range(3)), *COLUMNS, ["prompt_id"]
    )
    assert preferences.components(rows, ["prompt_id"]).tolist() == [1, 1]


def test_a_chain_of_wins_in_a_circle_connects():
    frame = chain("elm oak", "oak fir", "fir elm")
    rows = preferences.comparisons(frame, *COLUMNS, ["prompt_id"])
    assert preferences.components(rows, ["prompt_id"]).tolist() == [1, 1, 1]


def test_one_prompt_alone_does_not_connect():
    frame = chain("elm oak", "oak elm", "ash yew", "yew ash", "fir elm")
    bridge = frame.head(2).assign(left=["elm", "ash"], right=["ash", "elm"])
    bridge["winner"] = bridge["left"]
    frame = pd.concat([frame, bridge], ignore_index=True)
    found = helpers.pairs(frame, *COLUMNS)
    component = pd.DataFrame(found)["component"]
    assert component["elm"] == component["oak"] != component["ash"]
    assert component["ash"] == component["yew"]
    assert "ash, yew; elm, oak" in found.attrs["notes"][0]
    every = helpers.pairs(frame, *COLUMNS, every_pair=True)
    assert sorted(every.index) == [("ash", "yew"), ("elm", "oak")]


def test_parts_that_are_connected_through_others_only_are_split():
    # elm reaches oak through fir, which one prompt alone connects back
    frame = chain("elm fir", "fir oak", "oak elm", n=6)
    lost = frame[(frame["winner"] != "fir") | (frame["prompt_id"] == 0)]
    rows = preferences.comparisons(lost, *COLUMNS, ["prompt_id"])
    assert preferences.components(rows, ["prompt_id"]).isna().all()


def test_nobody_can_be_compared():
    frame = chain("elm oak", "oak fir")
    table = pd.DataFrame(helpers.pairs(frame, *COLUMNS))
    assert table["estimate"].isna().all()
    assert table["win_rate"].tolist() == [100, 50, 0]
    with pytest.raises(OptionError, match="no two systems can be compared"):
        helpers.pairs(frame, *COLUMNS, every_pair=True)


# Refusals ------------------------------------------------------------------------


def test_winners_that_are_not_clear_are_named(table):
    wrong = table.copy()
    wrong.loc[7, "winner"] = "birch"
    with pytest.raises(OptionError, match="1 values that are not clear, first 'birch'"):
        helpers.pairs(wrong, *COLUMNS)
    with pytest.raises(OptionError, match="for a tie one of 'draw'"):
        helpers.pairs(table, *COLUMNS, ties="draw")


def test_a_system_beside_itself_is_refused(table):
    wrong = table.copy()
    wrong.loc[3, "right"] = wrong.loc[3, "left"]
    with pytest.raises(OptionError, match="compare a system with itself, first row 3"):
        helpers.pairs(wrong, *COLUMNS)


def test_other_refusals(table):
    with pytest.raises(OptionError, match="'side' is not in the table"):
        helpers.pairs(table, "side", "right", "winner")
    with pytest.raises(OptionError, match="no row has a value in each"):
        helpers.pairs(table.assign(winner=None), *COLUMNS)
    few = table.assign(rater_id=table["rater_id"] % 2)
    with pytest.raises(OptionError, match="has 2 clusters"):
        helpers.pairs(few, *COLUMNS)
    with pytest.raises(OptionError, match="convert it to numbers"):
        helpers.pairs(table, *COLUMNS, length=("left", "words"))


def test_a_side_that_always_wins_has_no_strength(table):
    always = table.assign(winner=table["left"])
    with pytest.raises(OptionError, match="shown first won all 800 comparisons"):
        helpers.pairs(always, *COLUMNS)
    never = table.assign(winner=table["right"])
    with pytest.raises(OptionError, match="shown first lost all 800 comparisons"):
        helpers.pairs(never, *COLUMNS)


def test_ties_only_are_half_for_all_without_an_interval(table):
    found = helpers.pairs(table.assign(winner="tie"), *COLUMNS)
    assert (pd.DataFrame(found)["estimate"] == 50).all()
    assert found["low"].isna().all()
    assert "no interval where all comparisons end alike" in found.attrs["caption"]


def test_length_that_decides_every_winner_is_refused(table):
    is_longer = table["words"] > table["words_right"]
    winner = np.where(is_longer, table["left"], table["right"])
    same = table["words"] == table["words_right"]
    decided = table.assign(winner=winner)[~same]
    with pytest.raises(OptionError, match="predicts 'first won' without error"):
        helpers.pairs(decided, *COLUMNS, length=("words", "words_right"))
