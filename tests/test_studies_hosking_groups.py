"""Lines, slopes and means of groups of answers against NumPy, statsmodels and loops."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.formula.api import ols

from helpers.claims import results
from helpers.stats.bootstrap import cluster_weights
from helpers.stats.leave_out import two_way_variance
from helpers.studies import hosking, hosking_groups

N_PROMPTS = 30
MODELS = ["Command 52B", "Llama 2 13B", "MPT 30B"]
ARMS = ["assertive_low", "baseline", "complex_low", "complex_high"]


def make_ratings(seed: int = 1) -> pd.DataFrame:
    """Three models under four conditions, rated by two people each way."""
    rng = np.random.default_rng(seed)
    rows = []
    for prompt in range(N_PROMPTS):
        for number, model in enumerate(MODELS):
            arm = (prompt + number) % len(ARMS)
            tone = 3 + 0.3 * arm + rng.normal(0, 0.5)
            score = 1 + 0.3 * number + (0.4 + 0.2 * number) * tone
            key = {
                "item_id": f"{prompt}|{model}",
                "prompt_id": prompt,
                "system": model,
                "arm": ARMS[arm],
            }
            for _ in range(2):
                seen = {"assertiveness": tone + rng.normal(0, 0.3)}
                rows.append({**key, "rater_id": rng.integers(8), **seen})
                seen = {"score": score + rng.normal(0, 0.3)}
                rows.append({**key, "rater_id": rng.integers(8), **seen})
    ratings = pd.DataFrame(rows)
    return ratings.assign(complexity=ratings["assertiveness"] ** 2)


@pytest.fixture(scope="module")
def ratings():
    return make_ratings()


@pytest.fixture(scope="module")
def answers(ratings):
    return hosking_groups.answers_of(ratings)


def test_slopes_are_those_of_statsmodels(ratings, answers):
    table = hosking_groups.slopes(ratings)
    groups = answers.groupby(["system", "arm"])[["assertiveness", "score"]].mean()
    near = groups.drop(list(hosking_groups.FAR), level="arm")
    in_group = "score ~ assertiveness + system:arm"
    fits = {
        "groups": ols("score ~ assertiveness", groups),
        "groups_kept": ols("score ~ assertiveness", near),
        "answers": ols("score ~ assertiveness", answers),
        "within": ols(in_group, answers),
    }
    for name, model in fits.items():
        expected = model.fit().params["assertiveness"]
        assert table.loc[name, "estimate"] == pytest.approx(expected)


@pytest.mark.parametrize("level", hosking_groups.LEVELS)
def test_lines_of_models_are_those_of_numpy(ratings, answers, level):
    table = hosking_groups.at_score(ratings, 3.2, level=level, n_boot=5)
    rows = answers
    if level == "means":
        rows = answers.groupby(["system", "arm"])[["assertiveness", "score"]].mean()
    for model, members in rows.groupby("system"):
        line = np.polyfit(members["score"], members["assertiveness"], 1)
        assert table.loc[model, "estimate"] == pytest.approx(np.polyval(line, 3.2))
    assert table["estimate"].is_monotonic_increasing


def test_parallel_lines_are_an_analysis_of_covariance(ratings, answers):
    table = hosking_groups.at_score(ratings, 0.0, parallel=True, n_boot=5)
    fit = ols("assertiveness ~ 0 + system + score", answers).fit()
    for model in MODELS:
        expected = fit.params[f"system[{model}]"]
        assert table.loc[model, "estimate"] == pytest.approx(expected)


def test_intervals_leave_out_each_rater_and_each_prompt_like_a_slow_loop(ratings):
    def slope(rows):
        means = hosking_groups.answers_of(rows).dropna()
        return ols("score ~ assertiveness", means).fit().params["assertiveness"]

    whole = slope(ratings)
    both = ratings["rater_id"].astype(str) + " " + ratings["prompt_id"].astype(str)
    variances = []
    for labels in (ratings["rater_id"], ratings["prompt_id"], both):
        each = [slope(ratings[labels != label]) for label in labels.unique()]
        n_clusters = len(each)
        squares = ((np.array(each) - whole) ** 2).sum()
        variances.append(squares * (n_clusters - 1) / n_clusters)
    expected = np.sqrt(two_way_variance(*np.array(variances)))
    table = hosking_groups.slopes(ratings)
    assert table.loc["answers", "standard_error"] == pytest.approx(expected)


def test_shares_are_counted_in_resamples_of_prompts(ratings, answers):
    table = hosking_groups.at_score(ratings, 3.2, n_boot=20, seed=3)
    weights = cluster_weights(N_PROMPTS, 20, np.random.default_rng(3))
    first = []
    for times in weights:
        rows = answers.loc[answers.index.repeat(times[answers["prompt_id"]])]
        heights = {}
        for model, members in rows.groupby("system"):
            line = np.polyfit(members["score"], members["assertiveness"], 1)
            heights[model] = np.polyval(line, 3.2)
        first.append(max(heights, key=heights.get))
    for model in MODELS:
        assert table.loc[model, "most"] == pytest.approx(first.count(model) / 20)


def test_llama_is_compared_with_the_others_together_and_with_each(ratings, answers):
    tables = hosking_groups.llama_against(ratings, "items", n_boot=20, seed=0)
    means = answers.groupby(["system", "arm"])[["assertiveness", "score"]].mean()
    tone = means["assertiveness"].unstack()
    ranges = tone.max(axis=1) - tone.min(axis=1)
    score = means["score"].unstack()
    changes = score.drop(columns="baseline").mean(axis=1) - score["baseline"]
    for name, values in {
        "range of assertiveness": ranges,
        "change of the score": changes,
    }.items():
        others = values.drop("Llama 2 13B")
        ahead = values["Llama 2 13B"] - others
        found = tables[name]["estimate"]
        assert found["the others together"] == pytest.approx(ahead.mean())
        assert found[others.index].tolist() == pytest.approx(ahead.tolist())


def test_positions_are_distances_from_the_mean_of_models(ratings, answers):
    placed = hosking_groups.positions(ratings)
    for rating, table in placed.items():
        means = answers.groupby(["system", "arm"])[rating].mean().groupby("system")
        expected = means.mean() - means.mean().mean()
        assert table["estimate"].tolist() == pytest.approx(expected.tolist())


def test_correlations_are_those_of_pandas(ratings, answers):
    table = hosking_groups.correlations(ratings)
    expected = answers[["assertiveness", "complexity", "score"]].corr()
    for pair, row in table.iterrows():
        first, second = pair.split(" and ")
        assert row["estimate"] == pytest.approx(expected.loc[first, second])
        assert row["low"] < row["estimate"] < row["high"]


def test_a_tone_that_never_varies_has_no_slope(ratings):
    same = ratings["assertiveness"].where(ratings["assertiveness"].isna(), 0.1 + 0.2)
    table = hosking_groups.slopes(ratings.assign(assertiveness=same))
    assert table["estimate"].isna().all()


def test_unknown_levels_and_empty_groups_are_named(ratings):
    with pytest.raises(ValueError, match="level 'rows' is unknown: choose one of"):
        hosking_groups.at_score(ratings, level="rows")
    is_empty = (ratings["system"] == "MPT 30B") & (ratings["arm"] == "baseline")
    with pytest.raises(ValueError, match="no rows with 'MPT 30B' and 'baseline'"):
        hosking_groups.slopes(ratings[~is_empty])


def test_other_choices_are_what_they_are_called():
    study = hosking.load_experiment_2("simulated", 3)
    outcome = "quality_unbiased"
    table = hosking_groups.specifications(study, outcome, "items", 5, seed=3)
    answers = hosking_groups.answers_of(
        hosking_groups.load_ratings("simulated", 3, outcome)
    )
    # with one slope, models are as far apart at every score: an analysis of covariance
    fit = ols("assertiveness ~ 0 + system + score", answers).fit()
    heights = fit.params.filter(like="system")
    others = heights.drop("system[Llama 2 13B]").mean()
    ahead = heights["system[Llama 2 13B]"] - others
    assert table.loc["one slope for all models", "estimate"] == pytest.approx(ahead)
    assert table.loc["as above", "score"] == pytest.approx(answers["score"].mean())
    quartiles = answers["score"].quantile([0.25, 0.75]).tolist()
    at = ["at the lower quartile of the score", "at the upper quartile of the score"]
    assert table.loc[at, "score"].tolist() == pytest.approx(quartiles)


def test_statements_can_be_saved_under_the_names_of_the_claims():
    study = hosking.load_experiment_2("simulated", 3)
    outcome = "quality_unbiased"
    choices = hosking_groups.specifications(study, outcome, "items", 20, seed=3)
    ratings = hosking_groups.load_ratings("simulated", 3, outcome)
    found = hosking_groups.statements(ratings, choices, "items", 20, seed=3)
    table = results.rows("hosking", found)
    assert set(table["name"].str.split(".").str[1]) == {"quality", "assertive_quality"}
    assert (table["interpretation"] == "each other").sum() == 12
