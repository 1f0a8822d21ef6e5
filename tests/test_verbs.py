"""The functions: other libraries, what they refuse, and docs/extend.md."""

import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from sklearn.linear_model import Lasso, LinearRegression
from statsmodels.stats.proportion import proportion_confint

import helpers
from helpers import (
    agreement,
    aspect_weights,
    compare,
    correlation,
    differences,
    intervals,
    means,
    paths,
    rates,
    regression,
    tree,
    weights,
)
from helpers.verbs import Result

FEATURES = ["factuality", "completeness", "refusal"]


@pytest.fixture(scope="module")
def ratings():
    return pd.read_csv(paths.DATA / "example" / "ratings.csv")


@pytest.fixture(scope="module")
def with_systems(ratings):
    """The ratings, with the last letter of an item as its system."""
    return ratings.assign(system=ratings["item_id"].str[-1])


def test_the_page_for_people_who_extend_runs_as_it_stands(monkeypatch, capsys):
    monkeypatch.chdir(paths.ROOT)
    page = (paths.ROOT / "docs" / "extend.md").read_text()
    names = {}
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(block, names)
    assert list(names["lasso_weights"].index) == names["errors"]
    assert names["by_tone"].droplevel("column").index.tolist() == [1, 2, 3, 4, 5]
    assert names["lost"].attrs["clusters"] == "worker and question"
    assert len(names["ax"].texts) == len(names["deeper"].attrs["nodes"])
    for name in ("lasso_weights", "by_tone", "lost", "alpha"):
        table = names[name]
        assert (table["low"] <= table["estimate"]).all()
        assert (table["estimate"] <= table["high"]).all()
    assert "raters and prompts" in capsys.readouterr().out


def test_every_function_is_on_the_page():
    page = (paths.ROOT / "docs" / "extend.md").read_text()
    assert [verb for verb in helpers.VERBS if f"`{verb}(" not in page] == []


def test_the_package_stays_light_until_a_function_is_asked_for():
    code = "import sys, helpers; sys.exit('pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
    with pytest.raises(AttributeError, match="wieghts"):
        _ = helpers.wieghts


def test_weights_are_those_of_scikit_learn(ratings):
    known = ratings.dropna(subset=FEATURES)
    fitted = LinearRegression().fit(known[FEATURES], known["overall"])
    found = weights(ratings, FEATURES, "overall", clusters="item_id")
    assert found["estimate"].tolist()[:2] == pytest.approx(fitted.coef_[:2])
    assert found["n"].eq(len(known)).all()
    assert f"{len(ratings) - len(known)} of 601 rows" in found.attrs["caption"]
    shrunk = Lasso(alpha=0.01, tol=1e-10).fit(known[FEATURES], known["overall"])
    found = weights(ratings, FEATURES, "overall", alpha=0.01, n_boot=20)
    assert found["estimate"].tolist() == pytest.approx(shrunk.coef_, abs=1e-6)


def test_a_lasso_of_resampled_prompts_is_that_of_copied_rows(ratings):
    known = ratings.dropna(subset=FEATURES)
    found = weights(
        known, FEATURES, "overall", alpha=0.05, clusters="prompt_id", n_boot=50, seed=3
    )
    drawn = []
    for times_of_row in intervals.times_drawn(known[["prompt_id"]], 50, seed=3):
        model = Lasso(alpha=0.05, tol=1e-10)
        model.fit(known[FEATURES], known["overall"], sample_weight=times_of_row)
        drawn.append(model.coef_)
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    assert found["low"].tolist() == pytest.approx(low, abs=1e-6)
    assert found["high"].tolist() == pytest.approx(high, abs=1e-6)
    selected = (np.abs(drawn) > 1e-9).mean(axis=0)
    assert found["selected"].tolist() == pytest.approx(selected)


def test_a_feature_of_few_clusters_has_no_weight(ratings):
    found = weights(ratings, FEATURES, "overall")
    assert found.loc["refusal", "clusters"] == 8
    assert np.isnan(found.loc["refusal", "estimate"])
    assert found.loc["factuality", ["estimate", "low", "high"]].notna().all()


def test_with_prompts_only_intervals_are_cr3_and_say_so(ratings):
    known = ratings.dropna(subset=["factuality"]).drop(columns="rater_id")
    found = weights(known, ["factuality"], "overall")
    expected = regression.least_squares(
        known, ["factuality"], "overall", ["prompt_id"]
    ).table()
    assert found["low"].item() == pytest.approx(expected.loc["factuality", "low"])
    assert found.attrs["clusters"] == "prompts only"
    assert "prompts only" in repr(found)
    assert "prompts only" in found._repr_html_()


def test_numbers_of_submissions_are_no_raters(ratings):
    known = ratings.dropna(subset=["factuality"])
    submission = known["prompt_id"].astype(str) + known["rater_id"].astype(str)
    submitted = known.assign(rater_id=submission)
    with pytest.raises(ValueError, match=r"nobody repeats.*'rater_id'"):
        weights(submitted, ["factuality"], "overall", clusters="rater_id")
    one_prompt = known.assign(prompt_id="p")
    found = weights(one_prompt, ["factuality"], "overall", clusters="rater_id")
    assert found.attrs["clusters"] == "raters only"


def test_aspect_weights_are_least_squares_of_distances(ratings):
    ideals = {"factuality": 5, "completeness": 4, "overall": 5}
    names = ["factuality", "completeness"]
    found = aspect_weights(ratings, names, "overall", ideals=ideals)
    known = ratings.dropna(subset=names)
    distances = np.column_stack(
        [(5 - known["factuality"]) / 4, (known["completeness"] - 4).abs() / 3]
    )
    fitted = LinearRegression(fit_intercept=False)
    fitted.fit(distances, 5 - known["overall"])
    assert found["estimate"].tolist() == pytest.approx(fitted.coef_)


def test_a_rate_of_independent_rows_has_wilsons_interval():
    rng = np.random.default_rng(0)
    mark = (rng.random(4000) < 0.3).astype(float)
    frame = pd.DataFrame({"prompt_id": range(4000), "refusal": mark})
    row = rates(frame, "refusal").loc["refusal"]
    low, high = proportion_confint(mark.sum(), 4000, method="wilson")
    assert row[["low", "high"]].tolist() == pytest.approx([100 * low, 100 * high], 0.01)


def test_rates_of_clusters_are_less_sure_in_both_directions(ratings):
    one = rates(ratings, "typos", clusters="prompt_id").loc["typos"]
    both = rates(ratings, "typos").loc["typos"]
    wilson = proportion_confint(ratings["typos"].sum(), 599, method="wilson")
    assert both["low"] < one["low"] < 100 * wilson[0]
    assert both["high"] > one["high"] > 100 * wilson[1]


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_at_none_and_all_the_interval_of_a_rate_is_exact(value):
    frame = pd.DataFrame({"prompt_id": np.repeat(range(30), 3), "refusal": value})
    row = rates(frame, "refusal").loc["refusal"]
    exact = binomtest(int(30 * value), 30).proportion_ci()
    expected = [100 * value, 100 * exact.low, 100 * exact.high]
    assert row[["estimate", "low", "high"]].tolist() == pytest.approx(expected)


def test_rates_of_groups_are_those_of_each_group(ratings):
    found = rates(ratings, ["typos", "refusal"], by="tone")
    low_tone = ratings[ratings["tone"] == 1]
    assert found.loc[(1.0, "typos"), "n"] == low_tone["typos"].notna().sum()
    expected = 100 * low_tone["typos"].mean()
    assert found.loc[(1.0, "typos"), "estimate"] == pytest.approx(expected)


def test_a_group_of_a_single_prompt_has_a_difference_without_an_interval(ratings):
    frame = ratings.assign(first=ratings["prompt_id"] == "prompt-01")
    row = compare(frame, "overall", by="first", baseline=True).iloc[0]
    means = frame.groupby("first")["overall"].mean()
    assert row["estimate"] == pytest.approx(means[False] - means[True])
    assert row[["low", "high", "p_holm"]].isna().all()


def test_differences_are_slopes_of_a_group_and_are_corrected_by_holm(ratings):
    frame = ratings.assign(b=ratings["item_id"].str[-1].isin(["B", "D"]).astype(int))
    found = compare(frame, ["overall", "response_words"], by="b")
    slope = weights(frame, ["b"], "overall").loc["b"]
    row = found.loc["overall"]
    same = ["estimate", "low", "high", "p_value"]
    assert row[same].tolist() == pytest.approx(slope[same].tolist())
    smallest = found["p_value"].min()
    assert found["p_holm"].min() == pytest.approx(min(1, 2 * smallest))


def test_correlations_are_those_of_pandas_and_differ_as_they_do(ratings):
    names = ["factuality", "tone"]
    found = correlation(ratings, names, "overall")
    expected = ratings[names].corrwith(ratings["overall"])
    assert found["estimate"].tolist() == pytest.approx(expected.tolist())
    change = correlation(ratings, names, "overall", baseline="tone")
    gain = expected["factuality"] - expected["tone"]
    assert change.loc["factuality", "estimate"] == pytest.approx(gain)
    assert list(change.index) == ["factuality"]


def test_correlations_with_others_leave_out_the_raters_own_opinion(ratings):
    ratings = ratings.drop_duplicates(["rater_id", "item_id"])
    rng = np.random.default_rng(0)
    opinion = rng.normal(size=len(ratings))
    frame = ratings.assign(x=opinion, y=opinion + 0.1 * rng.normal(size=len(ratings)))
    assert correlation(frame, "x", "y")["estimate"].item() > 0.9
    found = correlation(frame, "x", "y", others_of="item_id").iloc[0]
    assert found["low"] < 0 < found["high"]


def test_differences_of_agreement_are_those_of_the_coefficients(ratings):
    names = ["factuality", "tone"]
    ratings = ratings.drop_duplicates(["item_id", "rater_id"])
    each = agreement(ratings, names, level="interval", pooled="all")["estimate"]
    change = agreement(
        ratings, names, level="interval", pooled="all", baseline="factuality"
    )
    assert change.loc["all", "estimate"] == pytest.approx(
        each["all"] - each["factuality"]
    )
    stacked = ratings.melt(["item_id", "rater_id", "prompt_id"], names)
    stacked["unit"] = stacked["item_id"] + stacked["variable"]
    alone = agreement(stacked, "value", item="unit", level="interval")
    assert each["all"] == pytest.approx(alone["estimate"].item())


def test_intervals_of_agreement_end_at_one():
    frame = pd.DataFrame(
        {"item_id": np.repeat(range(27), 2), "mark": [0.0, 0, 1, 1] * 13 + [0, 1]}
    )
    frame["prompt_id"] = frame["item_id"]
    assert agreement(frame, "mark")["high"].item() == 1.0


def test_the_tree_predicts_what_it_was_not_fitted_to(ratings):
    found = tree(ratings, FEATURES, "overall", max_depth=2, n_boot=20)
    importances = found["estimate"].loc[FEATURES]
    assert importances.sum() == pytest.approx(1)
    assert (found["low"] <= found["high"]).all()
    noise = ratings.assign(overall=np.random.default_rng(0).normal(size=601))
    row = tree(noise, FEATURES, "overall", max_depth=2, n_boot=2).loc["r, held out"]
    assert row["low"] < 0 < row["high"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: weights(r, ["facts"], "overall"), "'facts' is not in the table"),
        (lambda r: weights(r, [], "overall"), "no features are named"),
        (lambda r: weights(r, ["source"], "overall"), "'source' .* convert it"),
        (lambda r: weights(r, ["tone"], "overall", clusters="who"), "'who' is not in"),
        (lambda r: rates(r[["typos"]], "typos"), "name the columns of raters"),
        (lambda r: rates(r, "overall"), "'overall' has values outside 0 to 1"),
        (lambda r: compare(r, "overall", "source"), "'source' has one group"),
        (lambda r: compare(r, "overall", "tone", baseline=9), "baseline 9 is not in"),
        (
            lambda r: aspect_weights(r, ["tone"], "overall", ideals={"tone": 3}),
            "ideals lacks 'overall'",
        ),
        (
            lambda r: aspect_weights(
                r, ["tone"], "overall", ideals={"tone": 3, "overall": 5}, ranges={}
            ),
            "ranges lacks 'tone'",
        ),
        (
            lambda r: correlation(
                r.drop_duplicates("item_id"), "tone", "overall", others_of="item_id"
            ),
            "no 'item_id' has two rows",
        ),
        (
            lambda r: correlation(r, "tone", "overall", baseline="typos"),
            "baseline 'typos' is unknown",
        ),
        (
            lambda r: agreement(r.drop_duplicates("item_id"), "tone"),
            "no 'item_id' has two ratings of 'tone'",
        ),
        (lambda r: agreement(r, "tone"), "1 row repeats a rater of the same item"),
        (
            lambda r: weights(
                r, ["tone"], "overall", clusters=["item_id", "prompt_id"]
            ),
            "nobody repeats in column 'item_id'",
        ),
    ],
)
def test_errors_name_the_column_and_what_to_do(ratings, call, message):
    with pytest.raises(ValueError, match=message):
        call(ratings)


def test_a_caption_says_what_missing_values_leave_out(ratings):
    gaps = ratings.assign(typos=ratings["typos"].mask(ratings.index < 3))
    gaps.loc[5:6, "source"] = None
    caption = rates(gaps, ["typos", "refusal"], by="source").attrs["caption"]
    assert "; 2 of 601 rows with missing values left out; missing values" in caption
    assert caption.endswith("left out column by column)")
    whole = rates(ratings.dropna(), "refusal").attrs["caption"]
    assert "missing" not in whole


def test_results_keep_what_they_say_of_themselves(ratings):
    found = rates(ratings, ["typos", "refusal"])
    for part in (found[["estimate", "n"]], found.loc[["typos"]], found.round(1)):
        assert isinstance(part, type(found))
        assert part.attrs["clusters"] == "raters and prompts"
        assert repr(part).startswith(found.attrs["caption"])
    assert "standard_error" not in repr(found)
    assert "standard_error" in repr(found[["standard_error"]])
    assert re.search(r"typos +7\.51 ", repr(found))
    assert re.search(r"typos +7\.5 ", repr(found.round(1)))


def test_results_that_are_joined_have_no_caption(ratings):
    both = pd.concat(
        [rates(ratings, "typos"), rates(ratings, "refusal", clusters="item_id")]
    )
    plain = pd.DataFrame(both)[["estimate", "low", "high"]].round(2)
    assert repr(both) == repr(plain)
    assert both._repr_html_() == plain._repr_html_()


def test_small_p_values_are_not_zero(ratings):
    table = compare(
        ratings.assign(long=ratings["response_words"] > 100), "overall", "long"
    )
    assert table["p_holm"].item() < 0.001
    assert repr(table).endswith("< 0.001")
    assert "&lt; 0.001" in table._repr_html_()


def test_a_minus_turns_intervals_and_what_follows_from_them(ratings):
    found = weights(ratings, ["factuality", "completeness"], "overall")
    turned = -found
    assert turned["low"].tolist() == (-found["high"]).tolist()
    assert turned["high"].tolist() == (-found["low"]).tolist()
    assert turned["p_value"].tolist() == found["p_value"].tolist()
    pair = ("factuality", "completeness")
    difference = found.difference(*pair)["estimate"].item()
    assert difference == pytest.approx(
        found["estimate"][pair[0]] - found["estimate"][pair[1]]
    )
    assert turned.difference(*pair)["low"].item() == pytest.approx(
        -found.difference(*pair)["high"].item()
    )
    assert turned.ratio(*pair)["low"].item() == pytest.approx(
        found.ratio(*pair)["low"].item()
    )


def test_differences_of_lasso_weights_come_from_their_draws(ratings):
    pair = ("factuality", "completeness")
    found = weights(ratings, list(pair), "overall", alpha=0.01, n_boot=50)
    difference = found.difference(*pair)
    expected = found.loc[pair[0], "estimate"] - found.loc[pair[1], "estimate"]
    assert difference["estimate"].item() == pytest.approx(expected)
    with pytest.raises(ValueError, match="a ratio of Lasso weights has no interval"):
        found.ratio(*pair)


def test_weights_within_raters_differ_from_those_between(ratings):
    """A rater who scores low and marks much has no part in the slope within raters."""
    severe = ratings["rater_id"].rank(method="dense")
    shifted = ratings.assign(
        overall=ratings["overall"] - severe, factuality=ratings["factuality"] + severe
    )
    inside = weights(shifted, ["factuality"], "overall", within="rater_id")
    expected = weights(ratings, ["factuality"], "overall", within="rater_id")
    assert inside["estimate"].item() == pytest.approx(expected["estimate"].item())
    assert inside["low"].item() == pytest.approx(expected["low"].item())
    assert weights(shifted, ["factuality"], "overall")["estimate"].item() < 0
    assert "within raters" in inside.attrs["caption"]


def test_weights_of_means_are_least_squares_of_means(ratings):
    once = ratings.drop_duplicates(["rater_id", "item_id"])
    names = ["factuality", "tone"]
    found = weights(once, names, "overall", means_of="item_id")
    means = once.groupby("item_id")[[*names, "overall"]].mean().dropna()
    fitted = LinearRegression().fit(means[names], means["overall"])
    assert found["estimate"].tolist() == pytest.approx(fitted.coef_)
    assert found["n"].tolist() == [len(means)] * 2
    # a label in three prompts is too rare, however many people gave it
    rare = once.assign(rare=once["prompt_id"].isin(once["prompt_id"].unique()[:3]))
    row = weights(rare, [*names, "rare"], "overall", means_of="item_id").loc["rare"]
    assert row["clusters"] == 3
    assert np.isnan(row["estimate"])
    renamed = once.rename(columns={"rater_id": "worker"})
    other = weights(
        renamed, names, "overall", means_of="item_id", clusters=["worker", "prompt_id"]
    )
    assert other["low"].tolist() == pytest.approx(found["low"].tolist())


def test_aspect_weights_per_step_are_those_at_the_far_end_by_step(ratings):
    ideals = {"factuality": 5, "completeness": 4, "overall": 5}
    names = ["factuality", "completeness"]
    whole = aspect_weights(ratings, names, "overall", ideals=ideals)
    steps = aspect_weights(ratings, names, "overall", ideals=ideals, per_step=True)
    assert (whole["high"] / steps["high"]).tolist() == pytest.approx([4, 3])
    inside = aspect_weights(ratings, names, "overall", ideals=ideals, within="rater_id")
    away = 5 - ratings["factuality"], (ratings["completeness"] - 4).abs()
    distances = ratings.assign(
        factuality=away[0] / 4, completeness=away[1] / 3, lost=5 - ratings["overall"]
    )
    expected = weights(distances, names, "lost", within="rater_id")
    assert inside["low"].tolist() == pytest.approx(expected["low"].tolist())


def test_chosen_groups_are_those_of_a_smaller_table(ratings):
    found = compare(ratings, ["typos", "overall"], "tone", groups=[5, 1], percent=True)
    some = ratings[ratings["tone"].isin([1, 5])]
    expected = compare(some, ["typos", "overall"], "tone", baseline=5)
    assert list(found.index) == ["typos", "overall"]
    for column in ("estimate", "low", "high"):
        assert found[column].tolist() == pytest.approx(100 * expected[column])
    assert found["p_holm"].tolist() == pytest.approx(expected["p_holm"].tolist())
    several = compare(ratings, "overall", "tone", groups=[1, 2, 3])
    assert several.index.get_level_values("tone").tolist() == [2, 3]


def test_correlations_of_ranks_and_of_groups(ratings):
    known = ratings.dropna(subset=["factuality"])
    found = correlation(known, "factuality", "overall", ranks=True, n_boot=50)
    expected = known["factuality"].corr(known["overall"], method="spearman")
    assert found["estimate"].item() == pytest.approx(expected)
    assert found["low"].item() < expected < found["high"].item()
    assert found.attrs["caption"].startswith("Rank correlation")
    by_tone = correlation(known, "factuality", "overall", by="tone")
    part = known[known["tone"] == 3]
    expected = part["factuality"].corr(part["overall"])
    assert by_tone.loc[(3, "factuality"), "estimate"] == pytest.approx(expected)


def test_correlations_with_means_are_those_of_the_means(ratings):
    once = ratings.drop_duplicates(["rater_id", "item_id"])
    found = correlation(once, "tone", "overall", means_of="item_id")
    means = once.groupby("item_id")[["tone", "overall"]].mean()
    assert found["estimate"].item() == pytest.approx(
        means["tone"].corr(means["overall"])
    )
    assert found["low"].item() < found["estimate"].item() < found["high"].item()


def test_equal_ratings_have_no_interval_and_the_caption_says_why(ratings):
    table = compare(ratings.assign(same=3), ["same", "overall"], "tone", groups=[1, 5])
    assert table.loc["same", "low":"high"].isna().all()
    assert "no interval for 'same': its values are all the same" in repr(table)


def test_tab_finds_the_functions():
    assert set(helpers.VERBS) <= set(dir(helpers))
    assert list(helpers.VERBS) == helpers.__all__


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda r: weights(r, ["tone"], "overall", alpha=1, within="rater_id"),
            "alpha and within do not go together",
        ),
        (
            lambda r: weights(r, ["tone"], "overall", alpha=1, intercept=False),
            "alpha and intercept=False do not go together",
        ),
        (
            lambda r: correlation(
                r, "tone", "overall", ranks=True, others_of="item_id"
            ),
            "ranks and others_of do not go together",
        ),
        (
            lambda r: weights(r, ["tone", "tone"], "overall"),
            "'tone' is named twice",
        ),
        (
            lambda r: weights(pd.concat([r, r["tone"]], axis=1), ["tone"], "overall"),
            "2 columns are called 'tone'",
        ),
        (
            lambda r: compare(r.assign(group=[1, "a"] * 300 + [1]), "overall", "group"),
            "'group' mixes int and str",
        ),
        (
            lambda r: compare(r, "overall", "tone", groups=[1, 9]),
            "group 9 is not in column 'tone'",
        ),
        (
            lambda r: rates(r[r["rater_id"].isin(r["rater_id"].unique()[:2])], "typos"),
            "'rater_id' has 2 clusters, and an interval needs at least 3",
        ),
        (
            lambda r: correlation(r, "tone", "overall", others_of="item_id"),
            "1 row repeats a rater of the same item",
        ),
        (
            lambda r: weights(
                r.assign(prompt_id=r["rater_id"], who=r["prompt_id"]),
                ["tone"],
                "overall",
                means_of="item_id",
                clusters=["prompt_id"],
            ),
            "an item needs one",
        ),
        (
            lambda r: rates(r, "typos").difference("typos", "refusal"),
            "not from one fit",
        ),
        (
            lambda r: differences(
                r.assign(system=r["item_id"].str[-1]),
                "overall",
                "system",
                hold="item_id",
            ),
            "each 'item_id' has one group of 'system' only",
        ),
        (
            lambda r: differences(r.assign(one=1), "overall", "one"),
            "column 'one' has one group: nothing to compare",
        ),
        (
            lambda r: weights(r, ["tone"], "overall", alpha=0.1, holm=True),
            "Lasso weights have no p-values",
        ),
        (
            lambda r: means(r, "item_id", "tone"),
            "convert it to numbers",
        ),
        (
            lambda r: weights(r, ["tone"], "overall").ratio("tone", "typos"),
            "row 'typos' is unknown: choose from tone",
        ),
    ],
)
def test_refusals_are_one_sentence(ratings, call, message):
    with pytest.raises(ValueError, match=message):
        call(ratings)


def test_rounding_leaves_p_values_as_they_are():
    table = Result({"estimate": [1.26], "p_holm": [0.016]}, index=["a"])
    table.attrs["caption"] = "Made up"
    rounded = table.round(1)
    assert rounded.loc["a", "estimate"] == 1.3
    assert rounded.loc["a", "p_holm"] == 0.016
    assert "0.016" in repr(rounded)
    assert "< 0.001" not in repr(rounded)


# Means, differences and Holm ------------------------------------------------------


def test_means_are_those_of_pandas(with_systems):
    found = pd.DataFrame(means(with_systems, ["overall", "tone"], "system"))
    own = with_systems.groupby("system")[["overall", "tone"]]
    np.testing.assert_allclose(found.loc["overall", "estimate"], own.mean()["overall"])
    np.testing.assert_allclose(found.loc["tone", "n"], own.count()["tone"])
    single = means(with_systems, "overall", "system")
    assert single.index.tolist() == sorted(with_systems["system"].dropna().unique())


def test_differences_without_holding_are_those_of_compare(with_systems):
    own = pd.DataFrame(differences(with_systems, "overall", "system", hold=[]))
    first, second = own.index[0]
    other = compare(
        with_systems, "overall", "system", groups=[second, first], baseline=second
    )
    assert own["estimate"].iloc[0] == pytest.approx(other["estimate"].item())
    # here other groups do not matter, as each has a mean of its own
    assert own["standard_error"].iloc[0] == pytest.approx(
        other["standard_error"].item(), rel=0.02
    )


def test_differences_hold_raters_prompts_and_length_equal(with_systems):
    columns = ["rater_id", "prompt_id", "system", "overall", "response_words"]
    rows = with_systems[columns].dropna()
    found = differences(rows, "overall", "system", given=["response_words"])
    dummies = pd.get_dummies(rows[["rater_id", "prompt_id", "system"]].astype(str))
    x = np.column_stack([dummies.astype(float), rows["response_words"]])
    beta = np.linalg.lstsq(x, rows["overall"], rcond=None)[0]
    values = pd.Series(beta[:-1], index=dummies.columns)
    for first, second in found.index:
        own = values[f"system_{first}"] - values[f"system_{second}"]
        estimate = pd.DataFrame(found).loc[(first, second), "estimate"]
        assert estimate == pytest.approx(own, abs=1e-8)
    assert "raters, prompts, response_words held equal" in found.attrs["caption"]


def test_weights_within_raters_and_systems_have_holm(with_systems):
    within = ["rater_id", "system"]
    found = weights(with_systems, FEATURES, "overall", within=within, holm=True)
    table = pd.DataFrame(found)
    rows = with_systems.dropna(subset=[*FEATURES, "overall", *within])
    dummies = pd.get_dummies(rows[within].astype(str)).astype(float)
    x = np.column_stack([rows[FEATURES], dummies])
    beta = np.linalg.lstsq(x, rows["overall"], rcond=None)[0]
    known = table["estimate"].notna()
    assert known.sum() >= 2
    np.testing.assert_allclose(
        table.loc[known, "estimate"], beta[: len(FEATURES)][known], atol=1e-9
    )
    corrected = intervals.holm(table.loc[known, "p_value"])
    np.testing.assert_allclose(table.loc[known, "p_holm"], corrected)
    assert "within raters and system" in found.attrs["caption"]
