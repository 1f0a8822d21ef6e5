"""Simulated studies look like the real ones, and what was put in can be found again.

Tolerances come from standard errors: estimates may miss the truth by no more than the quantile
that all of a family of correct estimates keep to with probability 0.999.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats

from helpers import simulate
from helpers.files import schemas
from helpers.files.ratings import aggregate
from helpers.files.schemas import ARMS, ASPECTS, ERRORS_1, ERRORS_2, FACTORS
from helpers.studies import hosking, kamoda

SEED = 20240917
SIMULATORS = {
    "hosking_experiment_1": ("HOSKING_1_ERRORS", "HOSKING_1_UNBIASED"),
    "hosking_experiment_2": ("HOSKING_2_ERRORS", "HOSKING_2_UNBIASED", "HOSKING_2_PERCEPTION"),
    "hosking_experts": ("HOSKING_EXPERTS",),
    "kamoda": ("KAMODA_RATINGS", "KAMODA_EVALUATORS"),
}
NEVER = dict.fromkeys(ERRORS_1, 0.0)
SEEN_1 = simulate.Hosking1Truth(
    prompts_per_task=1000,
    repeated_per_task=0,
    sensitivity=1.0,
    false_positives=NEVER,
    rounded=False,
)
SEEN_2 = simulate.Hosking2Truth(
    sensitivity=1.0,
    hidden_sensitivity=dict.fromkeys(ARMS, 1.0),
    expert_sensitivity=1.0,
    expert_false_positive=0.0,
    false_positives=NEVER,
    rounded=False,
)
LABELLED_2 = simulate.Hosking2Truth(
    prompts_per_task=400, repeated_per_task=0, expert_prompts_per_task=400, pilot_outputs=0
)


def tables(name, seed=SEED, truth=None):
    """Simulate a study's tables."""
    made = getattr(simulate, name)(np.random.default_rng(seed), truth)
    return made if isinstance(made, tuple) else (made,)


def outputs_1(seed=SEED, truth=None):
    """Simulate experiment 1 and summarise the ratings of each output."""
    made = hosking.Experiment1("simulated", *tables("hosking_experiment_1", seed, truth))
    return made.outputs(errors_by="mean")


def outputs_2(seed=SEED, truth=None, errors_by="mode"):
    """Simulate experiment 2 and summarise the ratings of each output."""
    made = hosking.Experiment2("simulated", *tables("hosking_experiment_2", seed, truth))
    return made.outputs(errors_by=errors_by, biased_by="mean")


def attention_checks(ratings):
    """Keep the pairs in which one response is a distractor."""
    checks = ratings.loc[ratings["is_distractor"], "pair_id"]
    return ratings[ratings["pair_id"].isin(checks)]


def distances(ratings):
    """Compute how far each aspect is from its ideal, as a share of the farthest it can be."""
    aspects = ratings[list(ASPECTS)]
    return (aspects - [3, 0, 0]).abs() / [3, 1, 1]


def assert_found(estimates, truths, standard_errors):
    """Check a family of estimates, each against its own standard error."""
    estimates, truths = np.ravel(estimates), np.ravel(truths)
    bound = stats.norm.isf(0.0005 / len(estimates)) * np.ravel(standard_errors)
    missed = np.abs(estimates - truths) > bound
    assert not missed.any(), f"{estimates[missed]} instead of {truths[missed]}"


def assert_calibrated(p_values, level=0.05):
    """Check that true null hypotheses are rejected about as often as they should be."""
    low, high = stats.binom.interval(0.999, len(p_values), level)
    assert low <= np.sum(np.array(p_values) < level) <= high


def cluster_ols(outcome, features, cluster):
    """Fit least squares with standard errors that are robust to clusters."""
    groups = pd.factorize(cluster)[0]
    model = sm.OLS(np.asarray(outcome), sm.add_constant(np.asarray(features, dtype=float)))
    return model.fit(cov_type="cluster", cov_kwds={"groups": groups})


def within_p_value(frame, feature, outcome):
    """Test a slope between outputs to the same prompt; exact for normal noise."""
    columns = frame[[feature, outcome]]
    centred = columns - columns.groupby(frame["prompt_id"]).transform("mean")
    x, y = centred[feature], centred[outcome]
    slope = (x @ y) / (x @ x)
    freedom = len(frame) - frame["prompt_id"].nunique() - 1
    error = np.sqrt(((y - slope * x) ** 2).sum() / freedom / (x @ x))
    return 2 * stats.t.sf(abs(slope / error), freedom)


# What the tables look like


@pytest.mark.parametrize(
    ("name", "position", "schema"),
    [(name, *each) for name, names in SIMULATORS.items() for each in enumerate(names)],
)
def test_tables_pass_the_schema_of_the_real_ones(name, position, schema):
    table = tables(name)[position]
    checked = schemas.check(table, getattr(schemas, schema), name)
    pd.testing.assert_frame_equal(table, checked)


@pytest.mark.parametrize("name", SIMULATORS)
def test_the_same_seed_gives_the_same_tables_and_another_seed_others(name):
    for first, again, other in zip(tables(name), tables(name), tables(name, 1), strict=True):
        pd.testing.assert_frame_equal(first, again)
        assert not first.equals(other)


@pytest.mark.parametrize("name", SIMULATORS)
def test_prompts_and_answers_are_marked_as_simulated(name):
    for table in tables(name):
        assert table["item_id"].str.contains("simulated").all()


def test_truths_do_not_share_their_tables():
    simulate.Hosking1Truth().weights["refusal"] = 0.0
    assert simulate.Hosking1Truth().weights["refusal"] > 0


def test_hosking_studies_are_as_large_as_the_real_ones(real_data):
    def counts(study, name):
        table = getattr(study, name)
        left = hosking.without_checks(table)
        repeats = left.value_counts("item_id").value_counts().to_dict()
        return len(table), table["is_distractor"].sum(), left["prompt_id"].nunique(), repeats

    for load in (hosking.load_experiment_1, hosking.load_experiment_2):
        real, made = load(real_data), load("simulated")
        for name in ("errors", "unbiased", "perception")[: len(vars(real)) - 1]:
            assert counts(made, name) == counts(real, name)


def test_expert_labels_are_as_many_as_the_real_ones(real_data):
    def counts(source):
        labels = hosking.load_experts(source).labels
        per_prompt = labels[labels["batch"] == "main"].value_counts("prompt_id")
        return labels.value_counts("batch").to_dict(), per_prompt.value_counts().to_dict()

    assert counts("simulated") == counts(real_data)


def test_the_kamoda_study_is_as_large_as_the_real_one(real_data):
    def counts(source):
        study = kamoda.load(source)
        design = study.ratings.groupby("system")["question_id"].nunique().to_dict()
        judged = study.evaluators.merge(study.answers()[["item_id", "question_id"]])
        questions = judged.groupby("evaluator")["question_id"].nunique().to_dict()
        return len(study.ratings), design, judged.value_counts("evaluator").to_dict(), questions

    assert counts("simulated") == counts(real_data)


# How the studies are laid out


@pytest.mark.parametrize("name", ["hosking_experiment_1", "hosking_experiment_2"])
def test_two_rows_form_a_pair_of_different_responses_to_one_prompt(name):
    for table in tables(name):
        pair = table.groupby("pair_id")
        assert pair.size().eq(2).all()
        assert pair["prompt_id"].nunique().eq(1).all()
        assert pair["item_id"].nunique().eq(2).all()
        assert np.array_equal(table["pair_id"], np.arange(len(table)) // 2)


@pytest.mark.parametrize("name", ["hosking_experiment_1", "hosking_experiment_2"])
def test_different_people_rate_the_same_pairs_in_another_order(name):
    first, *others = (table.groupby("pair_id")["item_id"].agg(frozenset) for table in tables(name))
    for other in others:
        assert not first.equals(other)
        assert first.value_counts().to_dict() == other.value_counts().to_dict()


def test_a_distractor_stands_beside_a_response_of_the_same_system():
    for name in ("hosking_experiment_1", "hosking_experiment_2"):
        checks = attention_checks(tables(name)[0])
        assert checks.groupby("pair_id")[["system", "arm"]].nunique().eq(1).all(axis=None)
        assert checks.groupby("pair_id")["is_distractor"].sum().eq(1).all()
        assert checks["is_distractor"].equals(checks["item_id"].str.endswith("|distractor"))


def test_every_system_answers_every_prompt_of_experiment_1_and_has_four_or_eight_ratings():
    outputs = outputs_1()
    assert outputs.groupby("prompt_id")["system"].nunique().eq(5).all()
    assert outputs.value_counts("system").eq(180).all()
    assert outputs.value_counts("n_ratings").to_dict() == {4: 780, 8: 120}


def test_experiment_2_shares_out_systems_and_preambles_evenly():
    outputs = outputs_2()
    assert outputs.value_counts("prompt_id").eq(5).all()
    assert outputs.value_counts(["task", "system", "arm"]).tolist() == [20] * 75
    assert outputs.value_counts("n_ratings").to_dict() == {4: 1350, 8: 150}


def test_designs_whose_prompts_are_no_multiple_of_five_are_allowed():
    outputs = outputs_2(truth=simulate.Hosking2Truth(prompts_per_task=2))
    assert len(outputs) == 30
    assert outputs.value_counts(["system", "arm"]).max() <= 2


def test_experts_label_outputs_of_every_system_and_preamble_and_some_of_them_twice():
    (labels,) = tables("hosking_experts")
    main, pilot = (labels[labels["batch"] == batch] for batch in ("main", "pilot"))
    assert main.value_counts(["system", "arm"]).tolist() == [12] * 25
    assert pilot["item_id"].isin(main["item_id"]).all()


def test_one_seed_gives_experts_and_crowd_the_same_outputs_and_errors():
    (labels,) = tables("hosking_experts", truth=SEEN_2)
    crowd = outputs_2(truth=SEEN_2, errors_by="mean").set_index("item_id").loc[labels["item_id"]]
    for column in ("system", "arm", *ERRORS_2):
        assert np.array_equal(labels[column], crowd[column])


def test_distractors_of_experiment_1_stand_beside_the_references():
    checks = attention_checks(tables("hosking_experiment_1")[0])
    assert checks["system"].eq("References").all()


def test_three_workers_rate_a_question_and_each_prefers_one_answer():
    ratings, _ = tables("kamoda")
    question = ratings.groupby("question_id")
    assert question["rater_id"].nunique().eq(3).all()
    assert ratings.groupby(["question_id", "rater_id"])["preferred"].sum().eq(1).all()
    assert ratings["rater_id"].nunique() <= 80


def test_the_mean_of_three_runs_is_a_third_of_a_whole_number():
    _, evaluators = tables("kamoda")
    thirds = 3 * evaluators.loc[evaluators["evaluator"] == "gpt4_mean3", list(schemas.RANGES)]
    assert np.allclose(thirds, thirds.round())
    assert not np.allclose(thirds % 3, 0)


# What was put in, exactly: the same draws under two truths


def test_quality_falls_by_exactly_the_weights_of_the_errors():
    free = replace(SEEN_1, prompts_per_task=60, weights=NEVER)
    weighed = replace(free, weights=simulate.Hosking1Truth().weights)
    (errors, unbiased), (errors_free, unbiased_free) = (
        tables("hosking_experiment_1", truth=truth) for truth in (weighed, free)
    )
    loss = errors[list(ERRORS_1)] @ pd.Series(weighed.weights)
    change = errors["quality_biased"] - errors_free["quality_biased"]
    real = ~errors["is_distractor"]
    assert np.allclose(change[real], -weighed.priming * loss[real])
    loss = loss.groupby(errors["item_id"]).first().loc[unbiased["item_id"]].to_numpy()
    change = unbiased["quality_unbiased"] - unbiased_free["quality_unbiased"]
    real = ~unbiased["is_distractor"]
    assert np.allclose(change[real], -loss[real])


def test_quality_rises_by_exactly_the_effects_of_tone():
    silent = replace(SEEN_2, assertiveness_effect=0.0, complexity_effect=0.0, rater_sd=0.0)
    loud = replace(silent, assertiveness_effect=0.7, complexity_effect=-0.2)
    before, after = outputs_2(truth=silent), outputs_2(truth=loud)
    gain = 0.7 * (after["assertiveness"] - 3) - 0.2 * (after["complexity"] - 3)
    for quality in ("quality_biased", "quality_unbiased"):
        assert np.allclose(after[quality] - before[quality], gain)


def test_evaluator_biases_are_added_exactly():
    bias = {"gpt4": (0.5, -0.1, 0.2), "llama2": (0.0, 0.0, 0.0)}
    biased = simulate.KamodaTruth(evaluator_biases=bias, rounded=False)
    fair = replace(biased, evaluator_biases=dict.fromkeys(bias, (0.0, 0.0, 0.0)))
    (_, first), (_, second) = (tables("kamoda", truth=truth) for truth in (biased, fair))
    shift = first[list(ASPECTS)] - second[list(ASPECTS)]
    expected = [bias[name.removesuffix("_mean3")] for name in first["evaluator"]]
    assert np.allclose(shift, expected)


def test_workers_prefer_the_answer_they_find_most_acceptable():
    ratings, _ = tables("kamoda", truth=simulate.KamodaTruth(rounded=False))
    best = ratings.groupby(["question_id", "rater_id"])["acceptability"].transform("max")
    assert np.array_equal(ratings["acceptability"] == best, ratings["preferred"] == 1)


def test_a_lenient_worker_accepts_every_answer_more():
    truth = simulate.KamodaTruth(leniency_sd=1.0, acceptability_sd=0.0, rounded=False)
    ratings, _ = tables("kamoda", truth=truth)
    leniency = ratings["acceptability"] - 3 + distances(ratings) @ pd.Series(truth.weights)
    per_worker = leniency.groupby(ratings["rater_id"])
    assert np.allclose(per_worker.max(), per_worker.min())
    spread, n_workers = per_worker.first().std(), ratings["rater_id"].nunique()
    assert_found(spread, truth.leniency_sd, truth.leniency_sd / np.sqrt(2 * n_workers))


# What was put in, found again by estimators


def test_error_rates_of_the_systems_are_found_again():
    outputs = outputs_1(truth=SEEN_1)
    found = outputs.groupby("system")[list(ERRORS_1)].mean()
    rates = np.array([SEEN_1.rates[system] for system in found.index]) / 100
    assert_found(found, rates, np.sqrt(rates * (1 - rates) / (3 * SEEN_1.prompts_per_task)))


@pytest.mark.parametrize(
    ("quality", "factor"), [("quality_unbiased", 1.0), ("quality_biased", SEEN_1.priming)]
)
def test_weights_are_found_again_from_true_errors(quality, factor):
    outputs = outputs_1(truth=SEEN_1)
    fit = cluster_ols(outputs[quality], outputs[list(ERRORS_1)], outputs["prompt_id"])
    weights = factor * np.array(list(SEEN_1.weights.values()))
    assert_found(fit.params, [SEEN_1.base_quality, *-weights], fit.bse)


def test_rounding_to_the_scale_shrinks_a_weight_as_computed_by_hand():
    weights = NEVER | {"refusal": 1.8}
    truth = replace(SEEN_1, weights=weights, rounded=True)
    outputs = outputs_1(truth=truth)
    spread = np.sqrt(truth.prompt_sd**2 + truth.output_sd**2 + truth.rater_sd**2)

    def expected_score(opinion):
        return 1 + stats.norm.sf([1.5, 2.5, 3.5, 4.5], opinion, spread).sum()

    fine, refused = expected_score(truth.base_quality), expected_score(truth.base_quality - 1.8)
    fit = cluster_ols(outputs["quality_unbiased"], outputs["refusal"], outputs["prompt_id"])
    assert_found(fit.params, [fine, refused - fine], fit.bse)
    assert fine - refused == pytest.approx(1.532, abs=0.0005)


def test_outputs_to_a_prompt_share_errors_as_much_as_their_liabilities_correlate():
    rates = dict.fromkeys(SEEN_1.rates, (20.0,) * len(ERRORS_1))
    truth = replace(SEEN_1, rates=rates, prompt_share=0.5)
    count = outputs_1(truth=truth).groupby("prompt_id")["factuality"].sum()
    both = count * (count - 1) / (5 * 4)
    limits = np.full(2, stats.norm.ppf(0.2))
    expected = stats.multivariate_normal.cdf(limits, cov=[[1, 0.5], [0.5, 1]])
    assert_found(both.mean(), expected, both.std() / np.sqrt(len(both)))


def test_distractors_are_marked_and_marked_down_as_stated():
    truth = replace(simulate.Hosking1Truth(prompts_per_task=400), weights=NEVER, rounded=False)
    errors = tables("hosking_experiment_1", truth=truth)[0]
    checks = attention_checks(errors)
    marks = checks.loc[checks["is_distractor"], list(truth.distractor_marks)]
    chances = np.array(list(truth.distractor_marks.values()))
    assert_found(marks.mean(), chances, np.sqrt(chances * (1 - chances) / len(marks)))
    sides = checks.sort_values(["pair_id", "is_distractor"])["quality_biased"].to_numpy()
    gap = sides[::2] - sides[1::2]
    assert_found(gap.mean(), truth.distractor_penalty, gap.std() / np.sqrt(len(gap)))


def test_tone_of_the_preambles_and_its_correlation_are_found_again():
    truth = replace(SEEN_2, prompts_per_task=500, rater_sd=0.0)
    arms = outputs_2(truth=truth).groupby("arm")[["assertiveness", "complexity"]]
    stated = pd.DataFrame({"assertiveness": truth.assertiveness, "complexity": truth.complexity})
    n_outputs = 3 * truth.prompts_per_task
    found = arms.mean()
    assert_found(found, stated.loc[found.index], np.full(10, truth.tone_sd / np.sqrt(n_outputs)))
    correlations = arms.corr().xs("assertiveness", level=1)["complexity"]
    error = np.full(5, 1 / np.sqrt(n_outputs - 3))
    assert_found(np.arctanh(correlations), np.full(5, np.arctanh(truth.tone_correlation)), error)


def test_half_the_outputs_are_no_longer_than_the_median():
    outputs = outputs_1(truth=SEEN_1)
    short = outputs["response_words"] <= outputs["system"].map(SEEN_1.words)
    error = np.sqrt(0.25 / (3 * SEEN_1.prompts_per_task))
    assert_found(short.groupby(outputs["system"]).mean(), np.full(5, 0.5), np.full(5, error))


def test_factors_follow_the_quality_given_beside_them():
    errors = tables("hosking_experiment_1", truth=SEEN_1)[0]
    differences = errors[list(FACTORS)].sub(errors["quality_biased"], axis=0)
    error = SEEN_1.factor_sd / np.sqrt(len(errors))
    assert_found(differences.mean(), np.zeros(6), np.full(6, error))
    assert_found(differences.std(), np.full(6, SEEN_1.factor_sd), np.full(6, error / np.sqrt(2)))


def test_experts_miss_and_imagine_errors_as_often_as_stated():
    truth = replace(
        SEEN_2, expert_sensitivity=0.8, expert_false_positive=0.1, expert_prompts_per_task=100
    )
    (labels,) = tables("hosking_experts", truth=truth)
    present = outputs_2(truth=truth).set_index("item_id").loc[labels["item_id"], list(ERRORS_2)]
    marks, present = labels[list(ERRORS_2)].to_numpy(), present.to_numpy() == 1
    found = [marks[present].mean(), marks[~present].mean()]
    errors = [np.sqrt(0.8 * 0.2 / present.sum()), np.sqrt(0.1 * 0.9 / (~present).sum())]
    assert_found(found, [0.8, 0.1], errors)


def majority_rate(rate, seen, imagined):
    """Give the expected mode of four raters' marks, ties averaged."""

    def marked(chance):
        return stats.binom.sf(2, 4, chance) + stats.binom.pmf(2, 4, chance) / 2

    return rate * marked(seen) + (1 - rate) * marked(imagined)


def crowd_minus_experts(error, truth):
    """Estimate the gap between crowd and experts for each preamble."""
    (labels,) = tables("hosking_experts", truth=truth)
    both = outputs_2(truth=truth).merge(labels, on=["item_id", "prompt_id", "arm"])
    arms = pd.get_dummies(both["arm"])[list(ARMS)].astype(float)
    prompts = pd.factorize(both["prompt_id"])[0]
    model = sm.OLS(both[f"{error}_x"] - both[f"{error}_y"], arms)
    return model.fit(cov_type="cluster", cov_kwds={"groups": prompts})


@pytest.mark.parametrize("error", ["factuality", "inconsistency", "relevance"])
def test_the_gap_between_crowd_and_experts_is_found_again(error):
    seen = dict.fromkeys(ARMS, LABELLED_2.sensitivity)
    seen = seen if error == "relevance" else LABELLED_2.hidden_sensitivity
    rates = np.array([LABELLED_2.rates[arm][ERRORS_2.index(error)] for arm in ARMS]) / 100
    imagined = LABELLED_2.false_positives[error]
    crowd = majority_rate(rates, np.array([seen[arm] for arm in ARMS]), imagined)
    certain, wrong = LABELLED_2.expert_sensitivity, LABELLED_2.expert_false_positive
    experts = rates * certain + (1 - rates) * wrong
    fit = crowd_minus_experts(error, LABELLED_2)
    assert_found(fit.params, crowd - experts, fit.bse)


def test_an_assertive_preamble_hides_factual_errors_from_the_crowd():
    gap = crowd_minus_experts("factuality", LABELLED_2)
    widening = gap.t_test("assertive_high = assertive_low")
    assert widening.effect[0] < 0
    assert widening.pvalue < 0.001


def test_aspect_weights_are_found_again():
    truth = simulate.KamodaTruth(n_questions=2000, rounded=False)
    ratings, _ = tables("kamoda", truth=truth)
    table = distances(ratings).assign(lost=3 - ratings["acceptability"])
    table = table - table.groupby(ratings["rater_id"]).transform("mean")
    fit = sm.OLS(table["lost"], table[list(ASPECTS)]).fit()
    assert_found(fit.params, [truth.weights[aspect] for aspect in ASPECTS], fit.bse)
    assert_found(
        np.sqrt(fit.scale), truth.acceptability_sd, truth.acceptability_sd / np.sqrt(2 * len(table))
    )


# Nothing put in, nothing found


def test_harmless_errors_are_found_harmful_as_rarely_as_the_level_says():
    truth = replace(SEEN_1, prompts_per_task=20, weights=NEVER)

    def p_value(seed):
        ratings = hosking.without_checks(tables("hosking_experiment_1", seed, truth)[0])
        columns = ["factuality", "quality_biased"]
        return within_p_value(aggregate(ratings, "item_id", columns, first=["prompt_id"]), *columns)

    assert_calibrated([p_value(seed) for seed in range(100)])


def test_preambles_alike_are_found_to_differ_as_rarely_as_the_level_says():
    truth = simulate.Hosking2Truth(
        prompts_per_task=20,
        repeated_per_task=0,
        prompt_share=0.0,
        rates=dict.fromkeys(ARMS, (15.0,) * len(ERRORS_2)),
        hidden_sensitivity=dict.fromkeys(ARMS, 0.3),
    )

    def p_value(seed):
        ratings = hosking.without_checks(tables("hosking_experiment_2", seed, truth)[0])
        outputs = aggregate(ratings, "item_id", ["factuality"], first=["arm"])
        return stats.f_oneway(*(group["factuality"] for _, group in outputs.groupby("arm"))).pvalue

    assert_calibrated([p_value(seed) for seed in range(100)])


def test_fair_evaluators_are_found_biased_as_rarely_as_the_level_says():
    fair = {"gpt4": (0.0, 0.0, 0.0), "llama2": (0.0, 0.0, 0.0)}
    truth = simulate.KamodaTruth(n_questions=30, evaluator_biases=fair, rounded=False)

    def p_value(seed):
        ratings, evaluators = tables("kamoda", seed, truth)
        people = aggregate(ratings, "item_id", mean=["factuality"])
        gpt4 = evaluators[evaluators["evaluator"] == "gpt4"]
        both = gpt4.merge(people, on="item_id")
        return stats.ttest_rel(both["factuality_x"], both["factuality_y"]).pvalue

    assert_calibrated([p_value(seed) for seed in range(100)])
