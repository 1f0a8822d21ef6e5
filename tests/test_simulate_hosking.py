"""Simulated studies of Hosking et al. look real, and their truth is recovered.

Tolerances come from standard errors: estimates may miss the truth by no more than the
quantile that all of a family of correct estimates keep to with probability 0.999.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats

from helpers.data.columns import check
from helpers.data.columns import hosking as columns
from helpers.data.columns.hosking import ARMS, ERRORS_1, ERRORS_2, FACTORS
from helpers.simulate import hosking as simulated
from helpers.simulate.hosking import GROUPS, Hosking1Truth, Hosking2Truth
from helpers.studies import hosking

SEED = 20240917
SCHEMAS = {
    "hosking_experiment_1": ("HOSKING_1_ERRORS", "HOSKING_1_UNBIASED"),
    "hosking_experiment_2": (
        "HOSKING_2_ERRORS",
        "HOSKING_2_UNBIASED",
        "HOSKING_2_PERCEPTION",
    ),
    "hosking_experts": ("HOSKING_EXPERTS",),
}
NEVER = dict.fromkeys(ERRORS_1, 0.0)
SEEN_1 = Hosking1Truth(
    prompts_per_task=1000,
    repeated_per_task=0,
    sensitivity=1.0,
    false_positives=NEVER,
    leniency_share=0.0,  # standard errors here are by prompt
    rounded=False,
)
SEEN_2 = Hosking2Truth(
    sensitivity=1.0,
    hidden_sensitivity=dict.fromkeys(ARMS, 1.0),
    expert_sensitivity=1.0,
    expert_false_positive=0.0,
    false_positives=NEVER,
    leniency_share=0.0,
    rounded=False,
)
LABELLED_2 = Hosking2Truth(
    prompts_per_task=400,
    repeated_per_task=0,
    expert_prompts_per_task=400,
    pilot_outputs=0,
    leniency_share=0.0,
)


def tables(name, seed=SEED, truth=None):
    """Simulate a study's tables."""
    made = getattr(simulated, name)(np.random.default_rng(seed), truth)
    return made if isinstance(made, tuple) else (made,)


def outputs_1(truth=None):
    """Simulate experiment 1 and summarise the ratings of each output."""
    made = tables("hosking_experiment_1", truth=truth)
    return hosking.Experiment1("simulated", *made).outputs(errors_by="mean")


def outputs_2(truth=None, errors_by="mode"):
    """Simulate experiment 2 and summarise the ratings of each output."""
    made = tables("hosking_experiment_2", truth=truth)
    return hosking.Experiment2("simulated", *made).outputs(
        errors_by=errors_by, biased_by="mean"
    )


@pytest.fixture(scope="module")
def seen_1():
    """Many outputs of experiment 1 whose errors are all seen."""
    return outputs_1(SEEN_1)


def attention_checks(ratings):
    """Keep the pairs in which one response is a distractor."""
    return ratings.drop(hosking.without_checks(ratings).index)


def assert_found(estimates, truths, standard_errors):
    """Check a family of estimates, each against its own standard error."""
    estimates, truths = np.ravel(estimates), np.ravel(truths)
    bound = stats.norm.isf(0.0005 / len(estimates)) * np.ravel(standard_errors)
    missed = np.abs(estimates - truths) > bound
    assert not missed.any(), f"{estimates[missed]} instead of {truths[missed]}"


def cluster_ols(outcome, features, cluster):
    """Fit least squares with standard errors that are robust to clusters."""
    groups = pd.factorize(cluster)[0]
    model = sm.OLS(
        np.asarray(outcome), sm.add_constant(np.asarray(features, dtype=float))
    )
    return model.fit(cov_type="cluster", cov_kwds={"groups": groups})


# What the tables look like


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_seed_gives_tables_with_the_schemas_of_the_real_ones(name):
    made = zip(tables(name), tables(name), tables(name, 1), SCHEMAS[name], strict=True)
    for table, again, other, schema in made:
        pd.testing.assert_frame_equal(table, again)
        assert not table.equals(other)
        checked = check(table, getattr(columns, schema), name)
        pd.testing.assert_frame_equal(table, checked)
        assert table["item_id"].str.contains("simulated").all()


@pytest.mark.parametrize("load", [hosking.load_experiment_1, hosking.load_experiment_2])
def test_studies_are_as_large_as_the_real_ones(real_data, load):
    def counts(study):
        table = study.errors
        left = hosking.without_checks(table)
        repeats = left.value_counts("item_id").value_counts().to_dict()
        return (
            len(table),
            table["is_distractor"].sum(),
            left["prompt_id"].nunique(),
            repeats,
        )

    assert counts(load("simulated")) == counts(load(real_data))


# How the studies are laid out


@pytest.mark.parametrize("name", ["hosking_experiment_1", "hosking_experiment_2"])
def test_different_people_rate_the_same_pairs_of_responses_to_one_prompt(name):
    first, *others = tables(name)
    pair = first.groupby("pair_id")
    assert (pair[["prompt_id", "item_id"]].nunique() == [1, 2]).all(axis=None)
    assert np.array_equal(first["pair_id"], np.arange(len(first)) // 2)
    shown = pair["item_id"].agg(frozenset)
    for other in (
        table.groupby("pair_id")["item_id"].agg(frozenset) for table in others
    ):
        assert not shown.equals(other)
        assert shown.value_counts().to_dict() == other.value_counts().to_dict()
    checks = attention_checks(first)
    assert checks.groupby("pair_id")[["system", "arm"]].nunique().eq(1).all(axis=None)
    assert checks["is_distractor"].equals(checks["item_id"].str.endswith("|distractor"))


def test_designs_share_out_systems_and_preambles_evenly():
    first, second = outputs_1(), outputs_2()
    assert first.groupby("prompt_id")["system"].nunique().eq(5).all()
    assert first.value_counts("n_ratings").to_dict() == {4: 780, 8: 120}
    assert second.value_counts("prompt_id").eq(5).all()
    assert second.value_counts(["task", "system", "arm"]).tolist() == [20] * 75
    assert second.value_counts("n_ratings").to_dict() == {4: 1350, 8: 150}


def test_one_seed_gives_experts_and_crowd_the_same_outputs_and_errors():
    (labels,) = tables("hosking_experts", truth=SEEN_2)
    crowd = (
        outputs_2(SEEN_2, errors_by="mean").set_index("item_id").loc[labels["item_id"]]
    )
    for column in ("system", "arm", *ERRORS_2):
        assert np.array_equal(labels[column], crowd[column])
    main, pilot = (labels[labels["batch"] == batch] for batch in ("main", "pilot"))
    assert main.value_counts(["system", "arm"]).tolist() == [12] * 25
    assert pilot["item_id"].isin(main["item_id"]).all()


# What was put in, exactly: the same draws under two truths


def test_quality_rises_by_exactly_the_effects_of_tone():
    silent = replace(
        SEEN_2,
        prompts_per_task=20,
        assertiveness_effect=0,
        complexity_effect=0,
        rater_sd=0,
    )
    loud = replace(silent, assertiveness_effect=0.7, complexity_effect=-0.2)
    before, after = outputs_2(silent), outputs_2(loud)
    gain = 0.7 * (after["assertiveness"] - 3) - 0.2 * (after["complexity"] - 3)
    for quality in ("quality_biased", "quality_unbiased"):
        assert np.allclose(after[quality] - before[quality], gain)


# What was put in, found again by estimators


def test_error_rates_and_lengths_of_the_systems_are_found_again(seen_1):
    by_system = seen_1.groupby("system")
    found = by_system[list(ERRORS_1)].mean()
    rates = np.array([SEEN_1.rates[system] for system in found.index]) / 100
    n = 3 * SEEN_1.prompts_per_task
    assert_found(found, rates, np.sqrt(rates * (1 - rates) / n))
    short = seen_1["response_words"] <= seen_1["system"].map(SEEN_1.words)
    shares = short.groupby(seen_1["system"]).mean()
    assert_found(shares, np.full(5, 0.5), np.full(5, np.sqrt(0.25 / n)))


@pytest.mark.parametrize(
    ("quality", "factor"),
    [("quality_unbiased", 1.0), ("quality_biased", SEEN_1.priming)],
)
def test_weights_are_found_again_from_true_errors(seen_1, quality, factor):
    fit = cluster_ols(seen_1[quality], seen_1[list(ERRORS_1)], seen_1["prompt_id"])
    weights = factor * np.array(list(SEEN_1.weights.values()))
    assert_found(fit.params, [SEEN_1.base_quality, *-weights], fit.bse)


def test_rounding_to_the_scale_shrinks_a_weight_as_computed_by_hand():
    truth = replace(
        SEEN_1, prompts_per_task=300, weights=NEVER | {"refusal": 1.8}, rounded=True
    )
    outputs = outputs_1(truth)
    sd = np.sqrt(truth.prompt_sd**2 + truth.output_sd**2 + truth.rater_sd**2)

    def expected_score(opinion):
        return 1 + stats.norm.sf([1.5, 2.5, 3.5, 4.5], opinion, sd).sum()

    fine = expected_score(truth.base_quality)
    refused = expected_score(truth.base_quality - 1.8)
    fit = cluster_ols(
        outputs["quality_unbiased"], outputs["refusal"], outputs["prompt_id"]
    )
    assert_found(fit.params, [fine, refused - fine], fit.bse)
    assert fine - refused == pytest.approx(1.532, abs=0.0005)


def test_outputs_to_a_prompt_share_errors_as_much_as_their_liabilities_correlate():
    rates = dict.fromkeys(SEEN_1.rates, (20.0,) * len(ERRORS_1))
    truth = replace(SEEN_1, prompts_per_task=500, rates=rates, prompt_share=0.5)
    count = outputs_1(truth).groupby("prompt_id")["factuality"].sum()
    both = count * (count - 1) / (5 * 4)
    limits = np.full(2, stats.norm.ppf(0.2))
    expected = stats.multivariate_normal.cdf(limits, cov=[[1, 0.5], [0.5, 1]])
    assert_found(both.mean(), expected, both.std() / np.sqrt(len(both)))


def test_distractors_are_marked_and_marked_down_as_stated():
    truth = Hosking1Truth(
        prompts_per_task=400, weights=NEVER, leniency_share=0.0, rounded=False
    )
    checks = attention_checks(tables("hosking_experiment_1", truth=truth)[0])
    marks = checks.loc[checks["is_distractor"], list(truth.distractor_marks)]
    chances = np.array(list(truth.distractor_marks.values()))
    assert_found(marks.mean(), chances, np.sqrt(chances * (1 - chances) / len(marks)))
    sides = checks.sort_values(["pair_id", "is_distractor"])[
        "quality_biased"
    ].to_numpy()
    gap = sides[::2] - sides[1::2]
    assert_found(gap.mean(), truth.distractor_penalty, gap.std() / np.sqrt(len(gap)))


def test_tone_of_the_preambles_and_its_correlation_are_found_again():
    truth = replace(SEEN_2, prompts_per_task=300, rater_sd=0.0)
    arms = outputs_2(truth).groupby("arm")[["assertiveness", "complexity"]]
    stated = pd.DataFrame(
        {"assertiveness": truth.assertiveness, "complexity": truth.complexity}
    )
    n_outputs = 3 * truth.prompts_per_task
    found = arms.mean()
    assert_found(
        found, stated.loc[found.index], np.full(10, truth.tone_sd / np.sqrt(n_outputs))
    )
    correlations = arms.corr().xs("assertiveness", level=1)["complexity"]
    error = np.full(5, 1 / np.sqrt(n_outputs - 3))
    assert_found(
        np.arctanh(correlations), np.full(5, np.arctanh(truth.tone_correlation)), error
    )


def test_factors_follow_the_quality_given_beside_them():
    truth = replace(SEEN_1, prompts_per_task=100)
    errors = tables("hosking_experiment_1", truth=truth)[0]
    differences = errors[list(FACTORS)].sub(errors["quality_biased"], axis=0)
    error = SEEN_1.factor_sd / np.sqrt(len(errors))
    assert_found(differences.mean(), np.zeros(6), np.full(6, error))
    assert_found(
        differences.std(), np.full(6, SEEN_1.factor_sd), np.full(6, error / np.sqrt(2))
    )


def test_experts_miss_and_imagine_errors_as_often_as_stated():
    truth = replace(
        SEEN_2,
        expert_sensitivity=0.8,
        expert_false_positive=0.1,
        expert_prompts_per_task=100,
    )
    (labels,) = tables("hosking_experts", truth=truth)
    present = (
        outputs_2(truth).set_index("item_id").loc[labels["item_id"], list(ERRORS_2)]
    )
    marks = labels[list(ERRORS_2)].to_numpy()
    present = present.to_numpy() == 1
    shares = [marks[present].mean(), marks[~present].mean()]
    errors = [np.sqrt(0.8 * 0.2 / present.sum()), np.sqrt(0.1 * 0.9 / (~present).sum())]
    assert_found(shares, [0.8, 0.1], errors)


def majority_rate(rate, seen, imagined):
    """Give the expected mode of four raters' marks, ties averaged."""

    def marked(chance):
        return stats.binom.sf(2, 4, chance) + stats.binom.pmf(2, 4, chance) / 2

    return rate * marked(seen) + (1 - rate) * marked(imagined)


@pytest.fixture(scope="module")
def labelled():
    """Labels by crowd and experts of the same outputs."""
    (labels,) = tables("hosking_experts", truth=LABELLED_2)
    return outputs_2(LABELLED_2).merge(labels, on=["item_id", "prompt_id", "arm"])


@pytest.mark.parametrize("error", ["factuality", "relevance"])
def test_the_gap_between_crowd_and_experts_is_found_again(labelled, error):
    seen = dict.fromkeys(ARMS, LABELLED_2.sensitivity)
    seen = seen if error == "relevance" else LABELLED_2.hidden_sensitivity
    rates = (
        np.array([LABELLED_2.rates[arm][ERRORS_2.index(error)] for arm in ARMS]) / 100
    )
    imagined = LABELLED_2.false_positives[error]
    crowd = majority_rate(rates, np.array([seen[arm] for arm in ARMS]), imagined)
    certain, wrong = LABELLED_2.expert_sensitivity, LABELLED_2.expert_false_positive
    experts = rates * certain + (1 - rates) * wrong
    arms = pd.get_dummies(labelled["arm"])[list(ARMS)].astype(float)
    prompts = pd.factorize(labelled["prompt_id"])[0]
    model = sm.OLS(labelled[f"{error}_x"] - labelled[f"{error}_y"], arms)
    fit = model.fit(cov_type="cluster", cov_kwds={"groups": prompts})
    assert_found(fit.params, crowd - experts, fit.bse)
    if error == "factuality":
        widening = fit.t_test("assertive_high = assertive_low")
        assert widening.effect[0] < 0
        assert widening.pvalue < 0.001


# Submissions


@pytest.mark.parametrize("group", GROUPS)
def test_submissions_have_what_the_notebooks_look_for(group):
    ratings = simulated.hosking_submissions(np.random.default_rng(0), *group, True)
    a, b = (ratings.iloc[side::2].reset_index(drop=True) for side in (0, 1))
    shared = ["pair_id", "rater_id", "prompt_id", "seconds"]
    pd.testing.assert_frame_equal(a[shared], b[shared])
    assert a["partner_id"].tolist() == b["item_id"].tolist()
    assert b["partner_id"].tolist() == a["item_id"].tolist()
    shown = hosking.without_checks(ratings)
    times = shown.groupby(["item_id", "partner_id"]).size()
    assert times.min() == 1
    assert (times >= 5).sum() > 100
    assert a["seconds"].median() == pytest.approx(GROUPS[group][2], rel=0.1)


@pytest.mark.parametrize("group", GROUPS)
def test_raters_rate_several_prompts(group):
    ratings = simulated.hosking_submissions(np.random.default_rng(0), *group)
    n_prompts = ratings.groupby("rater_id")["prompt_id"].nunique()
    assert n_prompts.median() >= 2
    assert len(n_prompts) < ratings["pair_id"].nunique() / 2


def test_leniency_is_a_rater_s_own_share_of_the_noise():
    truth = replace(
        SEEN_1,
        prompts_per_task=300,
        weights=NEVER,
        prompt_sd=0.0,
        output_sd=0.0,
        distractor_penalty=0.0,
        false_positives=dict.fromkeys(ERRORS_1, 0.3),
        distractor_marks={},
        leniency_share=0.4,
    )
    ratings = simulated.hosking_submissions(
        np.random.default_rng(SEED), 1, "errors", truth=truth
    )
    of_rater = ratings.groupby("rater_id")
    own = ratings["quality_biased"] - of_rater["quality_biased"].transform("mean")
    df = len(ratings) - of_rater.ngroups
    left = 0.6 * truth.rater_sd**2
    assert_found((own**2).sum() / df, left, left * np.sqrt(2 / df))
    means = of_rater[["quality_biased", "factuality"]].mean()[of_rater.size() >= 20]
    assert means.corr().loc["quality_biased", "factuality"] < -0.5
