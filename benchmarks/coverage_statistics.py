"""Statistics whose intervals notebooks 10 to 42 print, each as a function of tables.

A function takes the tables of a design (see `benchmarks.coverage_designs`), a number of
bootstrap replicates and a random generator. It calls what the notebook calls, and gives
``estimate``, ``low`` and ``high``, with a name for each row. `STATISTICS`, at the end,
lists all of them with notebook, kind of interval and design. To add one, write its
function and a line of the list; a test asks for every function that resamples.

Intervals that leave out raters and prompts in turn (agreement on errors in notebook 10,
choices in 20, weights in 21, judges in 24) are not here: drawing a rater again gives
two who agree with each other in everything. `make quoted` measures them with new
raters from fitted models, into data/quoted_intervals.csv.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from benchmarks.coverage_designs import Tables
from helpers.robustness.coverage import AT_ONCE
from helpers.robustness.label_errors import label_costs
from helpers.stats import (
    accuracy,
    agreement,
    aspects,
    bootstrap,
    clustered,
    correlations,
    groups,
    lasso,
    lines,
    ordinal,
    rates,
)
from helpers.stats.moments import cluster_moments
from helpers.studies import answerers, hosking, hosking_submissions, kamoda

Rng = np.random.Generator
INTERVAL = ["estimate", "low", "high"]
SCORES = ("quality_biased", "quality_unbiased")
ERRORS_1 = list(hosking.ERRORS_1)
ERRORS_2 = list(hosking.ERRORS_2)
GRADES = range(1, 6)
NO_REFUSAL = [error for error in ERRORS_2 if error != "refusal"]
# Words at which notebook 19 reads its curves, taken as given: quantiles 0.1, 0.5, 0.9
# and 0.05, 0.95 of the responses of either experiment, and the peak of the score.
SHORT, MIDDLE, LONG = 41.0, 83.5, 170.2
ENDS = (26.0, 226.2)
LATER_SHORT, LATER_MIDDLE, LATER_LONG = 40.0, 100.0, 251.2
LATER_ENDS = (26.0, 309.1)
PEAK = 125.0
TONES = {
    "assertiveness": ("assertive_low", "assertive_high"),
    "complexity": ("complex_low", "complex_high"),
}
STEPS = {
    **TONES,
    "assertive − baseline": ("baseline", "assertive_high"),
    "cautious − baseline": ("baseline", "assertive_low"),
    "baseline − cautious": ("assertive_low", "baseline"),
}
ASPECTS = list(kamoda.ASPECTS)
RATED = ["acceptability", *ASPECTS]
JUDGES = {"GPT-4": "gpt4", "GPT-4, three runs": "gpt4_mean3", "Llama 2": "llama2"}
HYPOTHESES = ["modifier", "different", "hard", "complex", "decade"]
RARE = 25  # questions of a category, below which notebook 42 puts it with others


@dataclass(frozen=True)
class Statistic:
    """What has an interval in a notebook, and how data sets are drawn to try it.

    Parameters
    ----------
    notebook : str
        Number of the notebook, for example ``"11"``.
    kind : str
        Kind of interval; one that is meant to hold at all points ends in ", at once".
    title : str
        Unique name, without ": ".
    design : str
        Key of `benchmarks.coverage_designs.DESIGNS`.
    compute : callable
        From tables, number of replicates and generator to intervals by name.
    """

    notebook: str
    kind: str
    title: str
    design: str
    compute: Callable[[Tables, int, Rng], pd.DataFrame]


def by_name(table: pd.DataFrame) -> pd.DataFrame:
    """Estimates and intervals, with the levels of the index joined to one name."""
    names = []
    for key in table.index:
        levels = key if isinstance(key, tuple) else (key,)
        names.append(", ".join(str(level) for level in levels))
    return table[INTERVAL].set_axis(names)


def joined(parts: Mapping[object, pd.DataFrame]) -> pd.DataFrame:
    """Several tables of intervals as one, named by table and row."""
    return by_name(pd.concat({key: by_name(part) for key, part in parts.items()}))


def from_draws(
    names: Sequence, estimate: np.ndarray, draws: np.ndarray
) -> pd.DataFrame:
    """Intervals from bootstrap draws, shape (n_boot, n_statistics)."""
    table = groups.interval_table(
        pd.Series(np.asarray(estimate), names), pd.DataFrame(draws, columns=names)
    )
    return by_name(table)


def means(
    frame: pd.DataFrame,
    columns: Sequence[str],
    by: str | Sequence[str] | None,
    cluster: str,
    n_boot: int,
    rng: Rng,
) -> pd.DataFrame:
    """Means of columns, by group if there is one."""
    table = groups.group_means(frame, list(columns), by, cluster, n_boot, rng)
    return by_name(table)


def correlation(
    frame: pd.DataFrame, pair: Sequence[str], cluster: str, n_boot: int, rng: Rng
) -> pd.DataFrame:
    """Correlations of each pair of columns."""
    columns = list(pair)
    draws = correlations.bootstrap_correlations(frame, columns, cluster, n_boot, rng)
    first, second = np.triu_indices(len(columns), k=1)
    estimate = frame[columns].corr().to_numpy()[first, second]
    names = []
    for one, other in zip(first, second, strict=True):
        names.append(f"{columns[one]} and {columns[other]}")
    return from_draws(names, estimate, draws[:, first, second])


# --- Notebook 10: ratings and attention checks of the five groups


def answers_rated_often(tables: Tables, group: str) -> pd.DataFrame:
    """Ratings of the answers that several people rated, without attention checks."""
    plain = hosking.without_checks(tables[group])
    return hosking_submissions.repeated(plain)


def agreement_of(
    rows: pd.DataFrame,
    columns: Sequence[str],
    cluster: str,
    marks: Sequence | Mapping,
    level: str,
    n_boot: int,
    rng: Rng,
) -> pd.DataFrame:
    """Gwet's AC1 and Krippendorff's alpha."""
    table = agreement.agreement_table(
        rows, list(columns), "item_id", cluster, marks, n_boot, rng, level
    )
    table = table.set_index("aspect")
    return joined(
        {name: agreement.coefficient(table, name) for name in ("ac1", "alpha")}
    )


def agreement_on_scores(
    tables: Tables, n_boot: int, rng: Rng, level: str
) -> pd.DataFrame:
    """Agreement on marks from 1 to 5, by group of raters."""
    scores = {
        "1: errors": ["quality_biased", *hosking.FACTORS],
        "1: quality": ["quality_unbiased"],
        "2: errors": ["quality_biased"],
        "2: quality": ["quality_unbiased"],
        "2: tone": ["assertiveness", "complexity"],
    }
    results = {}
    for group, columns in scores.items():
        rows = answers_rated_often(tables, group)
        results[group.replace(":", "")] = agreement_of(
            rows, columns, "prompt_id", GRADES, level, n_boot, rng
        )
    return joined(results)


def distractors(
    tables: Tables,
    n_boot: int,
    rng: Rng,
    group: str,
    errors: Sequence[str],
    scores: Sequence[str],
) -> pd.DataFrame:
    """Marks and scores of distractors minus those of the responses beside them."""
    return by_name(agreement.against_partner(tables[group], errors, scores))


def same_text(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Marks of distractors minus those of the same texts under their own prompts."""
    return by_name(agreement.against_same_text(tables["1: errors"], ERRORS_1))


def distractor_ranks(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Checks in which the distractor is scored lower, or not higher."""
    scores = {
        "1: errors": "quality_biased",
        "1: quality": "quality_unbiased",
        "2: errors": "quality_biased",
        "2: quality": "quality_unbiased",
    }
    results = {}
    for group, score in scores.items():
        rows = tables[group].assign(raters=group)
        shares = agreement.rank_shares(rows, score, "raters", cluster="rater_id")
        for name in ("lower", "not_higher"):
            part = agreement.coefficient(shares, name)
            results[group.replace(":", ""), name] = part.set_axis(["all"])
    return joined(results)


def median_pay(tables: Tables, n_boot: int, rng: Rng, by_person: bool) -> pd.DataFrame:
    """Median pay per hour, over submissions or over people."""
    rows = tables["sessions"]
    if by_person:
        people = rows.groupby(["raters", "rater_id"], sort=False)["pay"]
        rows = people.median().reset_index()
    table = groups.median_table(rows, "pay", "raters", "rater_id", n_boot, rng)
    return by_name(table)


# --- Notebooks 11 and 12: experiment 1


def outputs_1(tables: Tables, errors_by: str = "mode") -> pd.DataFrame:
    """Responses of experiment 1, with points lost by either score."""
    study = hosking.Experiment1("drawn", tables["errors"], tables["unbiased"])
    outputs = study.outputs(errors_by=errors_by)
    for score in SCORES:
        outputs[f"lost, {score}"] = 5 - outputs[score]
    return outputs


def present(table: pd.DataFrame, errors: Sequence[str]) -> list[str]:
    """Errors that somebody marked: the others have no weight, as in notebook 11."""
    return [error for error in errors if table[error].any()]


def where_known(
    table: pd.DataFrame, rows: pd.DataFrame, errors: Sequence[str]
) -> pd.DataFrame:
    """Intervals of errors whose label varies in ten prompts, as in notebook 11."""
    fitted = [error for error in errors if error in table.index]
    n_prompts = clustered.informative_clusters(rows, fitted, "prompt_id")
    return by_name(clustered.where_known(table.loc[fitted], n_prompts))


def costs(
    tables: Tables, n_boot: int, rng: Rng, score: str, errors_by: str
) -> pd.DataFrame:
    """Points that each error costs, by least squares."""
    outputs = outputs_1(tables, errors_by)
    errors = present(outputs, ERRORS_1)
    table = lasso.weight_meanings(
        outputs, errors, f"lost, {score}", "prompt_id", alpha=0.01
    )
    return where_known(table, outputs, errors)


def lasso_costs(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Points that each error costs, by the Lasso of the paper."""
    outputs = outputs_1(tables)
    outcome = "lost, quality_unbiased"
    errors = present(outputs, ERRORS_1)
    moments = cluster_moments(outputs, errors, outcome, "prompt_id")
    draws = lasso.lasso_bootstrap(moments, 0.01, n_boot, rng)
    weights = lasso.lasso(outputs, errors, outcome, 0.01)
    return by_name(groups.interval_table(weights, draws[weights.index]))


def lead_of_refusal(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """What refusing costs more than formatting, the second largest cost."""
    outputs = outputs_1(tables)
    # With the sum of both labels in the model, the other weight is their difference.
    either = outputs["refusal"] + outputs["formatting"]
    two = ["refusal", "formatting"]
    others = [error for error in present(outputs, ERRORS_1) if error not in two]
    features = ["refusal", "either", *others]
    rows = outputs.assign(either=either)
    score = "lost, quality_unbiased"
    fit = clustered.least_squares(rows, features, score, "prompt_id")
    return by_name(fit.loc[["refusal"]])


def extra_costs(tables: Tables, n_boot: int, rng: Rng, errors_by: str) -> pd.DataFrame:
    """How much more an error costs by scores from forms that asked about errors."""
    outputs = outputs_1(tables, errors_by)
    more = outputs["quality_unbiased"] - outputs["quality_biased"]
    rows = outputs.assign(more_lost=more)
    errors = present(rows, ERRORS_1)
    fit = clustered.least_squares(rows, errors, "more_lost", "prompt_id")
    return where_known(fit, rows, errors)


def single_costs(
    tables: Tables, n_boot: int, rng: Rng, reading: str, score: str
) -> pd.DataFrame:
    """Points that each error costs in single scores, and differences, ordinal model."""
    ratings = tables[reading]
    clusters = ratings[["rater_id", "prompt_id"]]
    errors = present(ratings, ERRORS_1)
    effects = ordinal.fit(ratings, errors, score).effects(ratings).times(-1)
    more = ["refusal", "refusal", "refusal", "relevance", "factuality"]
    less = ["formatting", "factuality", "inconsistency", "factuality", "inconsistency"]
    names = [f"{one} − {other}" for one, other in zip(more, less, strict=True)]
    differences = effects.pick(more).minus(effects.pick(less)).table(clusters)
    known = where_known(effects.table(clusters), ratings, errors)
    return joined({"cost": known, "difference": differences.set_axis(names)})


def drift_of_odds(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """How log-odds change from the lowest to the highest cut of the score."""
    ratings = tables["labels from other forms"]
    errors = present(ratings, ERRORS_1)
    log_odds = ordinal.cut_by_cut(ratings, errors, "quality_unbiased")
    clusters = ratings[["rater_id", "prompt_id"]]
    drift = ordinal.from_first_to_last_cut(log_odds).table(clusters)
    return where_known(drift, ratings, errors)


def rates_by_system(
    tables: Tables, n_boot: int, rng: Rng, outputs: Callable, errors: Sequence[str]
) -> pd.DataFrame:
    """Error rates by system."""
    table = rates.error_rates(outputs(tables), list(errors), "system", "prompt_id")
    return by_name(table.set_index(["system", "error"]))


def scores_by_system(
    tables: Tables, n_boot: int, rng: Rng, outputs: Callable
) -> pd.DataFrame:
    """Mean scores by system."""
    return means(outputs(tables), SCORES, "system", "prompt_id", n_boot, rng)


def priming(tables: Tables, n_boot: int, rng: Rng, marks_by: str) -> pd.DataFrame:
    """Correlations of errors with both scores and their difference."""
    if marks_by == "most people":
        rows = outputs_1(tables)
    else:
        checks = hosking.without_checks(tables["errors"])
        plain = hosking.without_checks(tables["unbiased"])
        columns = ["item_id", "prompt_id", "quality_biased", *ERRORS_1]
        marks = checks[columns]
        if marks_by == "other people":
            others = correlations.others_mean(marks, "item_id", ERRORS_1)
            marks = marks.assign(**others).dropna()
        scores = plain[["item_id", "quality_unbiased"]]
        rows = correlations.pair_ratings(marks, scores, "item_id")
    table = correlations.compare_correlations(
        rows, ERRORS_1, SCORES, "prompt_id", n_boot, rng
    )
    return by_name(table)


def in_percent(outputs: pd.DataFrame, errors: Sequence[str]) -> pd.DataFrame:
    """Labels of errors from 0 to 100."""
    return outputs.assign(**(100 * outputs[list(errors)]))


def slopes_past_the_peak(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Points for 100 more words, with repetition held constant and not."""
    table = in_percent(outputs_1(tables), ERRORS_1)
    past = table[table["response_words"] > PEAK]
    past = past.assign(hundred_words=past["response_words"] / 100)
    score = "quality_unbiased"
    slopes = lines.adjusted_slope(
        past, "hundred_words", score, ["repetition"], "prompt_id", n_boot, rng
    )
    return by_name(slopes)


def length_band(tables: Tables, n_boot: int, rng: Rng, outcome: str) -> pd.DataFrame:
    """Band around a curve over length."""
    table = in_percent(outputs_1(tables), ERRORS_1)
    curve = lines.fit_curve(table, "response_words", outcome, "prompt_id", 5)
    grid = np.linspace(*ENDS, 50)
    return by_name(curve.band(grid, n_boot, rng).set_index("x"))


def length_bins(tables: Tables, n_boot: int, rng: Rng, outcome: str) -> pd.DataFrame:
    """Means in tenths of length."""
    table = in_percent(outputs_1(tables), ERRORS_1)
    tenths = lines.binned_means(
        table, "response_words", outcome, "prompt_id", 10, n_boot, rng
    )
    return by_name(tenths)


def length_changes(tables: Tables, n_boot: int, rng: Rng, outcome: str) -> pd.DataFrame:
    """Changes between short, middle and long responses."""
    table = in_percent(outputs_1(tables), ERRORS_1)
    curve = lines.fit_curve(table, "response_words", outcome, "prompt_id", 5)
    steps = {
        "short to middle": (SHORT, MIDDLE),
        "middle to long": (MIDDLE, LONG),
        "short to long": (SHORT, LONG),
    }
    return by_name(curve.changes(steps, n_boot, rng))


def other_length_changes(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """The same with other ends, other knots, and task and system held constant."""
    table = in_percent(outputs_1(tables), ERRORS_1)
    design = pd.get_dummies(table[["task", "system"]], drop_first=True, dtype=float)
    table = table.join(design)
    near = {"short to middle": (SHORT, MIDDLE), "middle to long": (MIDDLE, LONG)}
    far = {"short to middle": (ENDS[0], MIDDLE), "middle to long": (MIDDLE, ENDS[1])}
    variants = {
        "as above": (5, near, []),
        "read nearer the ends": (5, far, []),
        "3 knots": (3, near, []),
        "7 knots": (7, near, []),
        "task and system held constant": (5, near, list(design)),
    }
    results = {}
    for name, (knots, steps, held) in variants.items():
        for outcome in ("quality_unbiased", "factuality"):
            curve = lines.fit_curve(
                table, "response_words", outcome, "prompt_id", knots, held
            )
            results[name, outcome] = curve.changes(steps, n_boot, rng)
    return joined(results)


def later_length_changes(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Changes between lengths in experiment 2."""
    study = experiment_2(tables)
    table = in_percent(study.outputs(biased_by="mean"), ["factuality"])
    read_at = {
        "its own lengths": (LATER_SHORT, LATER_MIDDLE, LATER_LONG),
        "nearer the ends": (LATER_ENDS[0], LATER_MIDDLE, LATER_ENDS[1]),
        "lengths of the first": (SHORT, MIDDLE, LONG),
    }
    results = {}
    for outcome in ("quality_unbiased", "factuality"):
        curve = lines.fit_curve(table, "response_words", outcome, "prompt_id", 5)
        for name, (short, middle, long) in read_at.items():
            steps = {
                "short to middle": (short, middle),
                "middle to long": (middle, long),
            }
            results[name, outcome] = curve.changes(steps, n_boot, rng)
    return joined(results)


# --- Notebooks 13 to 15: experiment 2


def experiment_2(tables: Tables) -> hosking.Experiment2:
    """Experiment 2 with these ratings."""
    return hosking.Experiment2(
        "drawn", tables["errors"], tables["unbiased"], tables["perception"]
    )


def outputs_2(tables: Tables) -> pd.DataFrame:
    """Answers of experiment 2."""
    return experiment_2(tables).outputs()


def answered(tables: Tables) -> pd.DataFrame:
    """Answers that the crowd's majority does not call a refusal."""
    return rates.drop_refusals(outputs_2(tables), "majority")


def with_text_measures(tables: Tables) -> pd.DataFrame:
    """Answers with words, and the sentiment and reading grade of each."""
    measures = tables["texts"].drop(columns="prompt_id")
    answers = outputs_2(tables).merge(measures, on="item_id")
    place = 100 * answers["grade"].rank(pct=True)
    return answers.assign(**{"place of the grade": place})


PERCEIVED = ["assertiveness", "complexity", "quality_unbiased"]
MEASURED = ["grade", "place of the grade", "sentiment"]


def means_by_arm(
    tables: Tables, n_boot: int, rng: Rng, answers: Callable, columns: Sequence[str]
) -> pd.DataFrame:
    """Means by preamble."""
    return means(answers(tables), columns, "arm", "prompt_id", n_boot, rng)


def differences(
    tables: Tables,
    n_boot: int,
    rng: Rng,
    answers: Callable,
    columns: Sequence[str],
    compare: Callable = groups.mean_differences,
) -> pd.DataFrame:
    """Means with a preamble minus those without."""
    table = compare(
        answers(tables), list(columns), "arm", "baseline", "prompt_id", n_boot, rng
    )
    return by_name(table.set_index(["aspect", "arm"]))


def sentiment_difference(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Mean sentiment of assertive minus that of cautious answers."""
    answers = with_text_measures(tables)
    both = answers[answers["arm"].isin(TONES["assertiveness"])]
    table = groups.mean_differences(
        both, ["sentiment"], "arm", "assertive_low", "prompt_id", n_boot, rng
    )
    return by_name(table.set_index(["aspect", "arm"]))


def perceived_correlation(
    tables: Tables, n_boot: int, rng: Rng, single: bool
) -> pd.DataFrame:
    """Correlation of both tones, of single ratings or of answers."""
    rows = outputs_2(tables)
    if single:
        rows = hosking.without_checks(tables["perception"])
    return correlation(rows, PERCEIVED[:2], "prompt_id", n_boot, rng)


def medians_by_arm(tables: Tables, n_boot: int, rng: Rng, column: str) -> pd.DataFrame:
    """Median of a measure of texts by preamble."""
    answers = with_text_measures(tables)
    table = groups.median_table(answers, column, "arm", "prompt_id", n_boot, rng)
    return by_name(table)


def rank_correlation(
    tables: Tables, n_boot: int, rng: Rng, pair: Sequence[str]
) -> pd.DataFrame:
    """Rank correlation of a measure of texts and a rating."""
    answers = with_text_measures(tables)
    ranks = answers[list(pair)].rank().assign(prompt_id=answers["prompt_id"])
    return correlation(ranks, pair, "prompt_id", n_boot, rng)


SAME_ANSWERS = (
    "neither says refusal",
    "the crowd's refusals out",
    "the expert's refusals out",
    "refusals kept",
)


def same_items(tables: Tables, rule: str) -> set[str]:
    """Answers that crowd and expert both labelled, by rule for refusals."""
    experts = tables["experts"]
    labelled = set(experts["item_id"])
    by_crowd = set(answered(tables)["item_id"])
    by_expert = set(rates.drop_refusals(experts, "majority")["item_id"])
    return {
        "neither says refusal": by_crowd & by_expert,
        "the crowd's refusals out": labelled & by_crowd,
        "the expert's refusals out": by_expert,
        "refusals kept": labelled,
    }[rule]


def label_pairs(tables: Tables, errors: Sequence[str], rule: str) -> pd.DataFrame:
    """Crowd and expert on the same answers, a row per answer and error."""
    outputs = outputs_2(tables).drop(columns="refusal")
    pairs = rates.pair_labels(outputs, tables["experts"], list(errors))
    pairs = pairs[pairs["item_id"].isin(same_items(tables, rule))]
    return pairs.assign(gap=100 * (pairs["crowd"] - pairs["expert"]))


def rates_on_same_answers(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Rates by crowd and expert on the same answers, by tone and over all."""
    pairs = label_pairs(tables, ["factuality", "inconsistency"], SAME_ANSWERS[0])
    pairs = pd.concat([pairs, pairs.assign(arm="all")])
    results = {}
    for error, rows in pairs.groupby("error"):
        table = rates.error_rates(rows, ["expert", "crowd"], "arm", "prompt_id")
        results[error] = table.set_index(["error", "arm"])
    return joined(results)


def gaps_on_same_answers(
    tables: Tables, n_boot: int, rng: Rng, rule: str, errors: Sequence[str]
) -> pd.DataFrame:
    """Crowd minus expert on the same answers, by tone and over all."""
    pairs = label_pairs(tables, errors, rule)
    results = {}
    for error, rows in pairs.groupby("error"):
        by_tone = means(rows, ["gap"], "arm", "prompt_id", n_boot, rng)
        over_all = means(rows, ["gap"], None, "prompt_id", n_boot, rng)
        results[error, "by tone"] = by_tone
        results[error, "all"] = over_all
    return joined(results)


def six_gaps(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Crowd minus expert on the same answers, by error."""
    pairs = label_pairs(tables, NO_REFUSAL, SAME_ANSWERS[0])
    return means(pairs, ["gap"], "error", "prompt_id", n_boot, rng)


def labels_of(tables: Tables, kept: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Labels of crowd and expert on different answers, with refusals kept or not."""
    if kept:
        return outputs_2(tables), tables["experts"]
    experts = rates.drop_refusals(tables["experts"], "majority")
    return answered(tables), experts


def rates_by_annotators(
    tables: Tables,
    n_boot: int,
    rng: Rng,
    kept: bool,
    errors: Sequence[str],
    by: str | None,
    rows: Sequence[str],
) -> pd.DataFrame:
    """Error rates by crowd and by experts, or their difference."""
    crowd, experts = labels_of(tables, kept)
    table = rates.annotator_rates(crowd, experts, list(errors), by, "prompt_id")
    return by_name(table.loc[list(rows)])


def contrasts(
    tables: Tables,
    n_boot: int,
    rng: Rng,
    kept: bool,
    errors: Sequence[str],
    arms: Mapping[str, tuple[str, str]],
) -> pd.DataFrame:
    """Changes of rates and of their gap between arms, on different answers."""
    crowd, experts = labels_of(tables, kept)
    table = rates.arm_contrasts(crowd, experts, list(errors), arms, n_boot, rng)
    return by_name(table)


def contrasts_on_same_answers(
    tables: Tables, n_boot: int, rng: Rng, rule: str
) -> pd.DataFrame:
    """Changes of rates and of their gap between tones, on the same answers."""
    items = same_items(tables, rule)
    crowd = outputs_2(tables)
    experts = tables["experts"]
    table = rates.arm_contrasts(
        crowd[crowd["item_id"].isin(items)],
        experts[experts["item_id"].isin(items)],
        ["factuality", "inconsistency"],
        TONES,
        n_boot,
        rng,
    )
    return by_name(table)


def rates_by_arm(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Share of answers with a factual error by crowd and by expert, by preamble."""
    crowd, experts = labels_of(tables, kept=False)
    both = pd.concat([crowd.assign(labels="crowd"), experts.assign(labels="expert")])
    by = ["labels", "arm"]
    return means(both, ["factuality"], by, "prompt_id", n_boot, rng)


def with_any_error(tables: Tables) -> pd.DataFrame:
    """Answers of experiment 2, and whether they have any error."""
    outputs = outputs_2(tables)
    outputs["any of seven"] = outputs[ERRORS_2].max(axis="columns")
    outputs["any but refusal"] = outputs[NO_REFUSAL].max(axis="columns")
    return outputs


KINDS_OF_ERROR = [*ERRORS_2, "any of seven", "any but refusal"]


def slopes_of_rates(
    tables: Tables, n_boot: int, rng: Rng, rating: str, answers: str
) -> pd.DataFrame:
    """Change of each error rate per point of a rating."""
    outputs = with_any_error(tables)
    within = None
    if answers == "no preamble":
        outputs = outputs[outputs["arm"] == "baseline"]
    elif answers == "within arms":
        within = "arm"
    return by_name(rates.rate_slopes(outputs, KINDS_OF_ERROR, rating, within))


def rates_in_bins(
    tables: Tables, n_boot: int, rng: Rng, rating: str, answers: str
) -> pd.DataFrame:
    """Error rates by rated tone, in bins of half a point."""
    outputs = with_any_error(tables)
    if answers == "no preamble":
        outputs = outputs[outputs["arm"] == "baseline"]
    kinds = KINDS_OF_ERROR[:-1]
    table = rates.rates_by_rating(outputs, kinds, rating, 0.5)
    return by_name(table.set_index(["error", "x"]))


def compared_slopes(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """How much steeper errors fall with assertiveness than with complexity."""
    outputs = with_any_error(tables)
    both = pd.concat(
        [
            outputs.assign(x=outputs["assertiveness"], tone=1.0),
            outputs.assign(x=outputs["complexity"], tone=0.0),
        ]
    )
    both["steeper"] = both["x"] * both["tone"]
    features = ["x", "tone", "steeper"]
    return by_name(lasso.ols(both, features, "any of seven", "prompt_id"))


def single_contrasts(
    tables: Tables, n_boot: int, rng: Rng, within: str | None
) -> pd.DataFrame:
    """Changes of single marks between tones, rater effects taken out or not."""
    checks = tables["checks"]
    changes = clustered.mark_contrasts(checks, NO_REFUSAL, TONES, within=within)
    return by_name(changes.table(checks[["rater_id", "prompt_id"]]))


def cells(
    answers: pd.DataFrame,
    n_boot: int,
    rng: Rng,
    x: str = "assertiveness",
    y: str = "quality_unbiased",
    group: str = "system",
    condition: str = "arm",
) -> tuple[lines.CellSums, np.ndarray]:
    """Sums by group and condition, and weights of prompts in resamples."""
    sums = lines.cell_sums(answers, x, y, group, condition, "prompt_id")
    weights = bootstrap.cluster_weights(len(sums.sums), n_boot, rng)
    return sums, weights


def slopes_over_groups(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Slope of the score on assertiveness, over group means, answers and within."""
    outputs = outputs_2(tables)
    members = outputs.assign(group=outputs["system"] + outputs["arm"], all="all")
    no_low = members[~members["arm"].isin(["assertive_low", "complex_low"])]
    variants = {
        "25 means": (members, "all", "group", "means", False),
        "without two tones": (no_low, "all", "group", "means", False),
        "answers": (members, "all", "group", "items", False),
        "within groups": (members, "group", "all", "items", True),
    }
    results = {}
    for name, (rows, group, condition, level, parallel) in variants.items():
        sums, weights = cells(rows, n_boot, rng, group=group, condition=condition)
        slope = sums.lines(level=level, parallel=parallel).slope
        draws = sums.lines(weights, level=level, parallel=parallel).slope
        results[name] = from_draws(["slope"], slope[0, :1], draws[:, :1])
    return joined(results)


def slopes_by_system(
    tables: Tables, n_boot: int, rng: Rng, level: str, parallel: bool
) -> pd.DataFrame:
    """Slope of the score on assertiveness for each model."""
    sums, weights = cells(outputs_2(tables), n_boot, rng)
    slope = sums.lines(level=level, parallel=parallel).slope
    draws = sums.lines(weights, level=level, parallel=parallel).slope
    return from_draws(sums.groups, slope[0], draws)


def slopes_of_tone(
    tables: Tables,
    n_boot: int,
    rng: Rng,
    score: str = "quality_unbiased",
    level: str = "items",
    parallel: bool = False,
    answers: str = "all",
) -> pd.DataFrame:
    """Slope of assertiveness on the score for each model."""
    rows = outputs_2(tables)
    if answers == "refusals left out":
        rows = rates.drop_refusals(rows, "majority")
    elif answers == "no preamble":
        rows = rows[rows["arm"] == "baseline"]
    sums, weights = cells(rows, n_boot, rng, x=score, y="assertiveness")
    slope = sums.lines(level=level, parallel=parallel).slope
    draws = sums.lines(weights, level=level, parallel=parallel).slope
    return from_draws(sums.groups, slope[0], draws)


def ranges_by_system(tables: Tables, n_boot: int, rng: Rng, rule: str) -> pd.DataFrame:
    """Range of mean assertiveness over preambles for each model."""
    answers = rates.drop_refusals(outputs_2(tables), rule)
    sums, weights = cells(answers, n_boot, rng)
    return from_draws(sums.groups, sums.ranges()[0], sums.ranges(weights))


def changes_by_system(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Change of the mean score with a preamble, for each model."""
    sums, weights = cells(outputs_2(tables), n_boot, rng)
    change = sums.changes("baseline")
    return from_draws(sums.groups, change[0], sums.changes("baseline", weights))


def rating_correlations(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Correlations of mean ratings over answers."""
    columns = ["assertiveness", "complexity", *SCORES]
    return correlation(outputs_2(tables), columns, "prompt_id", n_boot, rng)


# --- Notebook 16: labels from several sources


def costs_by_source(tables: Tables, n_boot: int, rng: Rng, source: str) -> pd.DataFrame:
    """Points that each error costs in experiment 2, by labels of crowd or expert."""
    answers = outputs_2(tables)
    labels = tables["experts"].set_index("item_id")[ERRORS_2].astype(float)
    if source != "crowd, all answers":
        labelled = answers["item_id"].isin(labels.index)
        answers = answers[labelled].reset_index(drop=True)
    if source == "expert":
        answers = answers.copy()
        answers[ERRORS_2] = labels.loc[answers["item_id"]].to_numpy()
    score = "quality_unbiased"
    return by_name(label_costs(answers, ERRORS_2, score, ["prompt_id"]))


def costs_of_one_mark(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Points that one mark costs in the score that the same person gave."""
    clusters = ["prompt_id", "rater_id"]
    table = label_costs(tables["own marks"], ERRORS_1, "quality_biased", clusters)
    return by_name(table)


# --- Notebooks 20 to 26: Kamoda et al.


def unanimity(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Share of questions on which all three people prefer the same kind."""
    votes = tables["ratings"].pivot_table(
        index="question_id", columns="system", values="preferred", aggfunc="sum"
    )
    alike = votes.max(axis="columns") == 3
    parts = (votes / 3).assign(alike=alike).astype(float).reset_index()
    columns = parts.columns.drop("question_id")
    return means(parts, columns, None, "question_id", n_boot, rng)


def distances_of(ratings: pd.DataFrame) -> pd.DataFrame:
    """Distances from the ideal, from 0 to 1 of the scale."""
    return aspects.ideal_distance(ratings, RATED, kamoda.IDEALS, kamoda.RANGES)


def at_best(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Share of ratings that are the best, by kind of answer."""
    ratings = tables["ratings"]
    ideals = pd.Series(kamoda.IDEALS)[RATED]
    best = 100.0 * ratings[RATED].eq(ideals)
    rows = ratings[["question_id", "system"]].join(best)
    return means(rows, RATED, "system", "question_id", n_boot, rng)


def acceptability_by_kind(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Mean acceptability by kind of answer."""
    ratings = tables["ratings"]
    return means(ratings, ["acceptability"], "system", "question_id", n_boot, rng)


def distances_by_kind(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Mean distance from the ideal by kind of answer."""
    ratings = tables["ratings"]
    rows = ratings[["question_id", "system"]].join(distances_of(ratings))
    return means(rows, ASPECTS, "system", "question_id", n_boot, rng)


def nearer_to_ideal(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """How much nearer to the ideal model answers are."""
    ratings = tables["ratings"]
    writer = ratings["system"].str.split("_").str[0].rename("writer")
    keys = [ratings["question_id"], writer]
    per_question = distances_of(ratings).groupby(keys).mean().unstack()
    of_human = per_question.xs("human", axis="columns", level=1)
    of_model = per_question.xs("model", axis="columns", level=1)
    lead = (of_human - of_model).reset_index()
    return means(lead, RATED, None, "question_id", n_boot, rng)


def best_model_answers(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Share of ratings of model answers that are the best."""
    ratings = tables["ratings"]
    rows = ratings[ratings["system"].str.startswith("model")]
    rows = rows.assign(top=100.0 * (rows["acceptability"] == 3))
    return joined(
        {
            "both": means(rows, ["top"], None, "question_id", n_boot, rng),
            "by kind": means(rows, ["top"], "system", "question_id", n_boot, rng),
        }
    )


def pooled_alpha(tables: Tables, n_boot: int, rng: Rng, level: str) -> pd.DataFrame:
    """One alpha over all aspects."""
    stacked = agreement.stack_aspects(tables["ratings"], "item_id", RATED)
    found = agreement.pooled_alpha(stacked, "question_id", level, n_boot, rng)
    return by_name(pd.DataFrame(found, index=["alpha"]))


def kamoda_agreement(tables: Tables, n_boot: int, rng: Rng, level: str) -> pd.DataFrame:
    """Agreement on each aspect."""
    scales = {}
    for name, (low, high) in kamoda.RANGES.items():
        scales[name] = range(low, high + 1)
    return agreement_of(
        tables["ratings"], RATED, "question_id", scales, level, n_boot, rng
    )


def pairs_alike(tables: Tables) -> pd.DataFrame:
    """Percent of the three pairs of people with the same rating of an answer."""
    by_answer = tables["ratings"].groupby(["question_id", "item_id"])[RATED]
    n_different = by_answer.nunique()
    return n_different.replace({1: 100.0, 2: 100 / 3, 3: 0.0}).reset_index()


def same_rating(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Share of pairs of people with the same rating."""
    return means(pairs_alike(tables), RATED, None, "question_id", n_boot, rng)


def disputed_aspects(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Share of pairs of people with the same rating, less that for factuality."""
    share = pairs_alike(tables)
    others = ["amount_info", "formality"]
    gaps = share[others].sub(share["factuality"], axis="index")
    rows = gaps.join(share["question_id"])
    return means(rows, others, None, "question_id", n_boot, rng)


def alpha_per_answer(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Mean over answers of the alpha of each."""
    ratings = tables["ratings"]
    stacked = agreement.stack_aspects(ratings, "item_id", RATED)
    alphas = agreement.group_alphas(stacked, "item_id", "unit", "value").rename("alpha")
    question = ratings.drop_duplicates("item_id").set_index("item_id")["question_id"]
    rows = alphas.to_frame().join(question)
    return means(rows, ["alpha"], None, "question_id", n_boot, rng)


def minutes(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Mean minutes of a task."""
    rows = tables["justifications"]
    return means(rows, ["minutes"], None, "rater_id", n_boot, rng)


def missing_points(table: pd.DataFrame) -> pd.DataFrame:
    """Distances from the ideal in place of aspects, and missing points."""
    distances = aspects.ideal_distance(table, ASPECTS, kamoda.IDEALS, kamoda.RANGES)
    return table.assign(**distances, missing=3 - table["acceptability"])


def weights_between_people(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Weights of what different people agree on."""
    rows = missing_points(tables["ratings"])
    pairs = aspects.rater_pairs(rows, ASPECTS, "missing", "item_id", "question_id")
    total = pairs.total()
    weights = pd.Series(np.linalg.solve(total.xx[0], total.xy[0]), ASPECTS)
    draws = aspects.bootstrap_weights(pairs, n_boot, rng)
    return by_name(groups.interval_table(weights, draws))


def marks_by_acceptability(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Mean of each aspect by acceptability in the same rating."""
    ratings = tables["ratings"]
    return means(ratings, ASPECTS, "acceptability", "question_id", n_boot, rng)


def factuality_where_low(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Mean factuality where acceptability is 0 or 1, and where it is higher."""
    ratings = tables["ratings"]
    rows = ratings.assign(low=ratings["acceptability"] <= 1)
    return means(rows, ["factuality"], "low", "question_id", n_boot, rng)


def judged_correlations(
    moments: Mapping, n_boot: int, rng: Rng
) -> tuple[pd.Series, pd.DataFrame]:
    """Correlations of scores with people's, and their draws."""
    seed = int(rng.integers(2**32))
    return correlations.compare_evaluators(moments, n_boot, seed)


def tree_correlations(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Correlation of trees and weighted sums with people, on new questions."""
    rows = tables["predicted"]
    of_people = ["tree", "weighted", "two sides", "deeper"]
    moments = {
        "people": cluster_moments(rows, of_people, "acceptability", "question_id"),
        "tree": cluster_moments(rows, ["weighted"], "tree", "question_id"),
    }
    r, draws = judged_correlations(moments, n_boot, rng)
    return by_name(groups.interval_table(r, draws))


def tree_gains(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Differences between correlations of trees and weighted sums."""
    scores = ["weighted", "two sides", "deeper"]
    rows = tables["predicted"]
    moments = {"people": cluster_moments(rows, scores, "acceptability", "question_id")}
    pairs = {
        "tree of depth 5 less weighted sum": ("deeper", "weighted"),
        "one weight for each side less one for both": ("two sides", "weighted"),
        "tree of depth 5 less one weight for each side": ("deeper", "two sides"),
    }
    r, draws = judged_correlations(moments, n_boot, rng)
    gains = correlations.evaluator_differences(r, draws, pairs)
    return by_name(groups.interval_table(*gains))


def weights_by_side(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Points lost at the far end of each side of a scale."""
    rows = tables["predicted"]
    features = [name for name in rows if ", too " in name]
    features = ["factuality", *features]
    moments = cluster_moments(rows, features, "missing", "question_id")
    draws = aspects.bootstrap_weights(moments, n_boot, rng)
    weights = aspects.weights(rows, features, "missing")
    return by_name(groups.interval_table(weights, draws))


def mentions(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Share of justifications that mention an aspect."""
    rows = tables["justifications"]
    known = ["question_id", "rater_id", "text", "none_appropriate", "minutes"]
    columns = rows.columns.drop(known)
    return means(rows, columns, None, "rater_id", n_boot, rng)


def judge_rows(tables: Tables) -> dict[str, pd.DataFrame]:
    """Answers by judge, and GPT-4 on the answers that the others judged."""
    judged = tables["judged"]
    rows = {name: judged[judged["evaluator"] == code] for name, code in JUDGES.items()}
    gpt4 = rows["GPT-4"]
    first_run = gpt4["item_id"].isin(rows["GPT-4, three runs"]["item_id"])
    as_llama = gpt4["item_id"].isin(rows["Llama 2"]["item_id"])
    rows["GPT-4, first run, same"] = gpt4[first_run]
    rows["GPT-4, as Llama 2"] = gpt4[as_llama]
    return rows


def judge_moments(
    tables: Mapping[object, pd.DataFrame], columns: Sequence[str], outcome: str
) -> dict:
    """Cross-products by question for each table."""
    return {
        name: cluster_moments(rows, list(columns), outcome, "question_id")
        for name, rows in tables.items()
    }


JUDGE_SCORES = ["direct", "weighted", "equal"]


ROUGE = ["ROUGE-1", "ROUGE-L"]
LENGTH = ["length", "log length"]
MODEL_SCORES = [f"{judge}, {s}" for judge in ("GPT-4", "Llama 2") for s in JUDGE_SCORES]
MEASURES = [*ROUGE, *LENGTH, *MODEL_SCORES]


def measures_by_kind(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Means of measures by kind of answer."""
    estimates, draws = groups.group_mean_draws(
        tables["measures"], MEASURES, "system", "question_id", n_boot, rng
    )
    # A measure that a kind of answer does not have is missing there.
    return by_name(groups.interval_table(estimates, draws).dropna())


def distances_between_kinds(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Largest distance between the means of two kinds, in standard deviations."""
    columns = [*ROUGE, "acceptability"]
    rows = tables["measures"].dropna(subset=ROUGE)
    within = rows.groupby("system")[columns].var().mean() ** 0.5
    scaled = rows[["question_id", "system"]].join(rows[columns] / within)
    estimates, draws = groups.group_mean_draws(
        scaled, columns, "system", "question_id", n_boot, rng
    )
    by_measure = estimates.groupby(level="measure")
    distances = by_measure.max() - by_measure.min()
    draws_by_measure = draws.T.groupby(level="measure")
    of_draws = (draws_by_measure.max() - draws_by_measure.min()).T
    return by_name(groups.interval_table(distances, of_draws))


def measure_correlations(
    tables: Tables, n_boot: int, rng: Rng, rows: str
) -> pd.DataFrame:
    """Correlations of measures with people's acceptability."""
    wide = tables["measures"]
    columns = MEASURES
    if rows == "with a reference":
        columns = [*ROUGE, *LENGTH, *MODEL_SCORES[:3]]
        wide = wide.dropna(subset=ROUGE)
    elif rows == "with all measures":
        wide = wide.dropna(subset=MEASURES)
    elif rows != "all":
        wide = wide[wide["system"] == rows]
    seed = int(rng.integers(2**32))
    table = correlations.measure_correlations(
        wide, columns, "acceptability", "question_id", n_boot, seed
    )
    return by_name(table.dropna())


def measures_on_same_answers(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """The same as correlations of a judge, on answers that have the measures."""
    wide = tables["measures"]
    complete = {"all": wide.dropna(subset=MEASURES)}
    referred = {"all": wide.dropna(subset=ROUGE)}
    results = {}
    for name, part, columns in (
        ("complete", complete, MEASURES),
        ("referred", referred, [*ROUGE, "length"]),
    ):
        moments = judge_moments(part, columns, "acceptability")
        r, draws = judged_correlations(moments, n_boot, rng)
        results[name] = groups.interval_table(r, draws)
    return joined(results)


def scores_and_length(
    tables: Tables, n_boot: int, rng: Rng, judge: str
) -> pd.DataFrame:
    """Correlations of a judge's score and of length within each kind of answer."""
    score = f"{judge}, weighted"
    rated = tables["measures"].dropna(subset=score)
    results = {}
    for kind, rows in rated.groupby("system"):
        moments = judge_moments({kind: rows}, [score, "length"], "acceptability")
        r, draws = judged_correlations(moments, n_boot, rng)
        results[kind] = groups.interval_table(r, draws)
    return joined(results)


def aspect_pairs(tables: Tables) -> dict[tuple[str, str], pd.DataFrame]:
    """Marks of a model and of people, by judge and aspect."""
    rows = judge_rows(tables)
    pairs = {}
    for judge in ("GPT-4", "Llama 2"):
        for aspect in ASPECTS:
            pairs[judge, aspect] = rows[judge][["question_id"]].assign(
                model=rows[judge][aspect], people=rows[judge][f"{aspect}_human"]
            )
    return pairs


def aspect_errors(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Mean error of models in each aspect."""
    pairs = pd.concat(aspect_pairs(tables), names=["judge", "aspect"]).reset_index()
    pairs["error"] = pairs["model"] - pairs["people"]
    by = ["judge", "aspect"]
    return means(pairs, ["error"], by, "question_id", n_boot, rng)


def aspect_correlations(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Correlation of models with people in each aspect."""
    moments = judge_moments(aspect_pairs(tables), ["model"], "people")
    r, draws = judged_correlations(moments, n_boot, rng)
    return by_name(groups.interval_table(r, draws))


def excess_of_scores(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Weighted score minus people's acceptability, by writer and judge."""
    rows = judge_rows(tables)
    two = {judge: rows[judge] for judge in ("GPT-4", "Llama 2")}
    both = pd.concat(two, names=["judge"]).reset_index("judge")
    both["excess"] = both["weighted"] - both["acceptability_human"]
    both["writer"] = both["system"].str.split("_").str[0]
    by = ["writer", "judge"]
    return means(both, ["excess"], by, "question_id", n_boot, rng)


# --- Notebook 31: ChatBench


def corrected_correlation(
    tables: Tables, n_boot: int, rng: Rng, condition: str
) -> pd.DataFrame:
    """Correlation of the model alone with its users, and corrected for few answers."""
    points = tables["points"]
    rows = points[points["condition"] == condition]
    table = accuracy.noisy_correlation(
        rows, "free_text", "user_ai", "n_answers", "question_id", n_boot, rng
    )
    return by_name(table)


def other_correlations(
    tables: Tables, n_boot: int, rng: Rng, condition: str
) -> pd.DataFrame:
    """The same over all questions, within pairs, and of the improvement."""
    points = tables["points"]
    rows = points[points["condition"] == condition]
    columns = ["free_text", "user_ai"]
    of_pair = rows.groupby(["model", "dataset"])[columns].transform("mean")
    variants = {
        "all questions": rows,
        "within pairs": rows.assign(**(rows[columns] - of_pair)),
        "improvement": rows.assign(user_ai=rows["user_ai"] - rows["alone"]),
    }
    results = {}
    for name, part in variants.items():
        results[name] = correlation(part, columns, "question_id", n_boot, rng)
    return joined(results)


def changed_answers(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Share of answers that users correct, and spoil, with the model."""
    answers = tables["answers"]
    first = answers[(answers["condition"] == "answer first") & (answers["phase"] == 2)]
    keys = ["rater_id", "question_id", "model"]
    pairs = first.pivot(index=keys, columns="answer_type", values="correct")
    pairs = pairs.dropna().reset_index()
    changed = 100.0 * (pairs["user-AI"] != pairs["user-alone"])
    pairs["corrected"] = changed.where(pairs["user-alone"] == 0)
    pairs["spoiled"] = changed.where(pairs["user-alone"] == 1)
    return means(pairs, ["corrected", "spoiled"], None, "rater_id", n_boot, rng)


def right_by_confidence(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Share of right answers of users alone by dataset and confidence."""
    answers = tables["answers"]
    alone = answers[answers["answer_type"] == "user-alone"]
    alone = alone.dropna(subset="confidence")
    alone = alone.assign(correct=100 * alone["correct"])
    by = ["dataset", "confidence"]
    return means(alone, ["correct"], by, "rater_id", n_boot, rng)


def confidence_by_dataset(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Mean confidence by dataset, from 0 to 2."""
    levels = {"not-confident": 0, "somewhat-confident": 1, "very-confident": 2}
    once = tables["answers"].drop_duplicates(["rater_id", "question_id"])
    once = once.assign(level=once["confidence"].map(levels))
    return means(once, ["level"], "dataset", "rater_id", n_boot, rng)


# --- Notebooks 41 and 42: HumBEL


def right_at_ages(
    tables: Tables, n_boot: int, rng: Rng, scope: str, cluster: str
) -> pd.DataFrame:
    """Share of right answers up to an age, or at it."""
    questions = tables["questions"]
    columns = answerers.by_age(questions["right"], questions["age"], scope)
    table = answerers.accuracy_by_age(columns, questions[cluster], n_boot, rng)
    return by_name(table.set_index("x"))


def probability_model(
    rows: pd.DataFrame, features: Sequence[str], clusters: Sequence[str]
) -> pd.DataFrame:
    """Points that features add to the probability of an error; linear model."""
    fit = clustered.fit_linear_probability(rows, list(features), "error")
    return by_name(fit.table(rows[list(clusters)]))


def hypotheses(
    tables: Tables, n_boot: int, rng: Rng, clusters: Sequence[str] = ("cue",)
) -> pd.DataFrame:
    """All hypotheses in one model."""
    return probability_model(tables["questions"], HYPOTHESES, clusters)


def hypotheses_alone(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """Each hypothesis in a model of its own."""
    questions = tables["questions"]
    return joined(
        {name: probability_model(questions, [name], ["cue"]) for name in HYPOTHESES}
    )


def hypotheses_by_logit(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """All hypotheses in a logit model, mean effects."""
    questions = tables["questions"]
    fit = ordinal.fit(questions, HYPOTHESES, "error")
    effects = fit.effects(questions).times(100)
    return by_name(effects.table(questions[["cue"]]))


def hypotheses_within_cues(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """All hypotheses within cues, by least squares."""
    questions = tables["questions"]
    points = questions[HYPOTHESES].assign(error=100 * questions["error"])
    centred = points - points.groupby(questions["cue"]).transform("mean")
    rows = centred.join(questions["cue"])
    return by_name(lasso.ols(rows, HYPOTHESES, "error", "cue"))


def hypotheses_in_variants(tables: Tables, n_boot: int, rng: Rng) -> pd.DataFrame:
    """All hypotheses with other tags, without rare questions, with both ages."""
    questions = tables["questions"]
    tagged = {}
    for name in HYPOTHESES:
        if f"{name}, every word tagged" in questions:
            tagged[name] = questions[f"{name}, every word tagged"]
    frequent = questions["parts"].map(questions["parts"].value_counts()) >= 100
    relations = questions["relation"].map(questions["relation"].value_counts())
    common = questions[frequent & (relations >= RARE)]
    both_ages = questions.assign(
        cue_age=(questions["cue_age"] - 9) / 10,
        association_age=(questions["association_age"] - 9) / 10,
    )
    ages = ["cue_age", "association_age", *HYPOTHESES[:-1]]
    labelled = questions[questions["labelled"] == 1]
    every_word = questions.assign(**tagged)
    known = questions[questions["tagged"]]
    cue = ["cue"]
    return joined(
        {
            "every word tagged": probability_model(every_word, HYPOTHESES, cue),
            "no unknown words": probability_model(known, HYPOTHESES, cue),
            "no rare categories": probability_model(common, HYPOTHESES, cue),
            "both ages": probability_model(both_ages, ages, cue),
            "labelled pairs": probability_model(labelled, ["hard", "decade"], cue),
        }
    )


def errors_by_category(
    tables: Tables, n_boot: int, rng: Rng, column: str
) -> pd.DataFrame:
    """Share of wrong answers by category."""
    questions = tables["questions"]
    category = questions[column]
    if column != "complexity":
        often = category.map(category.value_counts()) >= RARE
        category = category.where(often, "others")
    rows = questions.assign(category=category)
    return means(rows, ["error"], "category", "cue", n_boot, rng)


# --- The list


MEAN = "mean of a group"
AGREEMENT = "agreement"
DISTRACTOR = "distractor minus partner"
OLS = "least squares by cluster"
SINGLE = "model of single ratings"
RATE = "rate in a group (Wilson)"
CHANGE = "change between arms"
GAP = "crowd minus experts"
RATE_SLOPE = "slope of an error rate"
DIFFERENCE = "difference of means"
PAIRED = "difference within prompts"
CORRELATION = "correlation of ratings"
PRIMING = "correlation and difference"
MEDIAN = "median"
LINE = "slope of a line"
RANGE = "range of means"
ALONG = "change along a curve"
ASPECT = "weight of an aspect"
JUDGE = "correlation of a judge"
GAIN = "gain of a judge"
AGE = "share of right answers at an age"
POOLED = "alpha of several scales"
QUESTIONS = "question-level correlation"

GROUPS = "Hosking, five groups"
FIRST = "Hosking 1"
SECOND = "Hosking 2"
KAMODA = "Kamoda"
WORKERS = "Kamoda, workers"

STATISTICS = [
    # 10
    Statistic(
        "10",
        AGREEMENT,
        "scores, interval",
        GROUPS,
        partial(agreement_on_scores, level="interval"),
    ),
    Statistic(
        "10",
        AGREEMENT,
        "scores, ordinal",
        GROUPS,
        partial(agreement_on_scores, level="ordinal"),
    ),
    Statistic(
        "10",
        DISTRACTOR,
        "experiment 1",
        GROUPS,
        partial(
            distractors,
            group="1: errors",
            errors=ERRORS_1,
            scores=["quality_biased", *hosking.FACTORS],
        ),
    ),
    Statistic(
        "10",
        DISTRACTOR,
        "experiment 2",
        GROUPS,
        partial(
            distractors,
            group="2: errors",
            errors=ERRORS_2,
            scores=["quality_biased"],
        ),
    ),
    Statistic("10", DISTRACTOR, "same text, experiment 1", GROUPS, same_text),
    Statistic(
        "10", "share of checks (Wilson)", "distractors", GROUPS, distractor_ranks
    ),
    Statistic(
        "10",
        MEDIAN,
        "pay by submission",
        "Hosking, pay",
        partial(median_pay, by_person=False),
    ),
    Statistic(
        "10",
        MEDIAN,
        "pay by person",
        "Hosking, pay",
        partial(median_pay, by_person=True),
    ),
    # 11
    Statistic(
        "11",
        OLS,
        "cost by unbiased score, mode of marks",
        FIRST,
        partial(costs, score="quality_unbiased", errors_by="mode"),
    ),
    Statistic(
        "11",
        OLS,
        "cost by unbiased score, mean of marks",
        FIRST,
        partial(costs, score="quality_unbiased", errors_by="mean"),
    ),
    Statistic(
        "11",
        OLS,
        "cost by biased score, mode of marks",
        FIRST,
        partial(costs, score="quality_biased", errors_by="mode"),
    ),
    Statistic(
        "11",
        OLS,
        "cost by biased score, mean of marks",
        FIRST,
        partial(costs, score="quality_biased", errors_by="mean"),
    ),
    Statistic(
        "11",
        OLS,
        "extra cost by biased score, mode of marks",
        FIRST,
        partial(extra_costs, errors_by="mode"),
    ),
    Statistic(
        "11",
        OLS,
        "extra cost by biased score, mean of marks",
        FIRST,
        partial(extra_costs, errors_by="mean"),
    ),
    Statistic("11", "Lasso weight", "cost by the Lasso", FIRST, lasso_costs),
    Statistic("11", OLS, "refusal minus formatting", FIRST, lead_of_refusal),
    Statistic(
        "11",
        SINGLE,
        "cost in single scores",
        "Hosking 1, single",
        partial(
            single_costs, reading="labels from other forms", score="quality_unbiased"
        ),
    ),
    Statistic(
        "11",
        SINGLE,
        "cost in single scores by own marks",
        "Hosking 1, single",
        partial(single_costs, reading="own marks", score="quality_biased"),
    ),
    Statistic("11", SINGLE, "drift of odds", "Hosking 1, single", drift_of_odds),
    Statistic(
        "11",
        RATE,
        "errors by system",
        FIRST,
        partial(rates_by_system, outputs=outputs_1, errors=ERRORS_1),
    ),
    Statistic(
        "11",
        MEAN,
        "scores by system",
        FIRST,
        partial(scores_by_system, outputs=outputs_1),
    ),
    # 12
    Statistic(
        "12",
        PRIMING,
        "marks by most people",
        FIRST,
        partial(priming, marks_by="most people"),
    ),
    Statistic(
        "12",
        PRIMING,
        "marks by the same person",
        FIRST,
        partial(priming, marks_by="the same person"),
    ),
    Statistic(
        "12",
        PRIMING,
        "marks by other people",
        FIRST,
        partial(priming, marks_by="other people"),
    ),
    # 19
    Statistic(
        "19", "adjusted slope", "slope past the peak", FIRST, slopes_past_the_peak
    ),
    Statistic(
        "19",
        f"curve, {AT_ONCE}",
        "score over length, band",
        FIRST,
        partial(length_band, outcome="quality_unbiased"),
    ),
    Statistic(
        "19",
        "mean in a bin",
        "score in tenths of length",
        FIRST,
        partial(length_bins, outcome="quality_unbiased"),
    ),
    Statistic(
        "19",
        ALONG,
        "score over length",
        FIRST,
        partial(length_changes, outcome="quality_unbiased"),
    ),
    Statistic(
        "19",
        f"curve, {AT_ONCE}",
        "repetition over length, band",
        FIRST,
        partial(length_band, outcome="repetition"),
    ),
    Statistic(
        "19",
        "mean in a bin",
        "repetition in tenths of length",
        FIRST,
        partial(length_bins, outcome="repetition"),
    ),
    Statistic(
        "19",
        ALONG,
        "repetition over length",
        FIRST,
        partial(length_changes, outcome="repetition"),
    ),
    Statistic(
        "19",
        f"curve, {AT_ONCE}",
        "factuality over length, band",
        FIRST,
        partial(length_band, outcome="factuality"),
    ),
    Statistic(
        "19",
        "mean in a bin",
        "factuality in tenths of length",
        FIRST,
        partial(length_bins, outcome="factuality"),
    ),
    Statistic(
        "19",
        ALONG,
        "factuality over length",
        FIRST,
        partial(length_changes, outcome="factuality"),
    ),
    Statistic(
        "19",
        f"curve, {AT_ONCE}",
        "relevance over length, band",
        FIRST,
        partial(length_band, outcome="relevance"),
    ),
    Statistic(
        "19",
        "mean in a bin",
        "relevance in tenths of length",
        FIRST,
        partial(length_bins, outcome="relevance"),
    ),
    Statistic(
        "19",
        ALONG,
        "relevance over length",
        FIRST,
        partial(length_changes, outcome="relevance"),
    ),
    Statistic(
        "19", ALONG, "other ways to read the curves", FIRST, other_length_changes
    ),
    Statistic("19", ALONG, "experiment 2", SECOND, later_length_changes),
    # 13
    Statistic(
        "13",
        MEAN,
        "ratings by preamble",
        SECOND,
        partial(means_by_arm, answers=outputs_2, columns=PERCEIVED),
    ),
    Statistic(
        "13",
        MEAN,
        "tone, refusals left out",
        SECOND,
        partial(means_by_arm, answers=answered, columns=["assertiveness"]),
    ),
    Statistic(
        "13",
        DIFFERENCE,
        "ratings",
        SECOND,
        partial(differences, answers=outputs_2, columns=[*PERCEIVED, "quality_biased"]),
    ),
    Statistic(
        "13",
        DIFFERENCE,
        "ratings, refusals left out",
        SECOND,
        partial(differences, answers=answered, columns=[*PERCEIVED, "quality_biased"]),
    ),
    Statistic(
        "13",
        PAIRED,
        "ratings",
        SECOND,
        partial(
            differences,
            answers=outputs_2,
            columns=PERCEIVED,
            compare=groups.paired_differences,
        ),
    ),
    Statistic(
        "13",
        CORRELATION,
        "tones in single ratings",
        SECOND,
        partial(perceived_correlation, single=True),
    ),
    Statistic(
        "13",
        CORRELATION,
        "tones in answers",
        SECOND,
        partial(perceived_correlation, single=False),
    ),
    Statistic("13", MEDIAN, "grade", SECOND, partial(medians_by_arm, column="grade")),
    Statistic(
        "13", MEDIAN, "sentiment", SECOND, partial(medians_by_arm, column="sentiment")
    ),
    Statistic(
        "13",
        DIFFERENCE,
        "measures of texts",
        SECOND,
        partial(differences, answers=with_text_measures, columns=MEASURED),
    ),
    Statistic(
        "13",
        MEAN,
        "measures of texts",
        SECOND,
        partial(means_by_arm, answers=with_text_measures, columns=MEASURED),
    ),
    Statistic(
        "13",
        DIFFERENCE,
        "sentiment, assertive and cautious",
        SECOND,
        sentiment_difference,
    ),
    Statistic(
        "13",
        CORRELATION,
        "ranks of grade and complexity",
        SECOND,
        partial(rank_correlation, pair=["grade", "complexity"]),
    ),
    Statistic(
        "13",
        CORRELATION,
        "ranks of sentiment and assertiveness",
        SECOND,
        partial(rank_correlation, pair=["sentiment", "assertiveness"]),
    ),
    # 14
    Statistic("14", RATE, "same answers", SECOND, rates_on_same_answers),
    Statistic(
        "14",
        MEAN,
        "gap on same answers, neither says refusal",
        SECOND,
        partial(
            gaps_on_same_answers,
            rule="neither says refusal",
            errors=["factuality", "inconsistency"],
        ),
    ),
    Statistic(
        "14",
        CHANGE,
        "same answers, neither says refusal",
        SECOND,
        partial(contrasts_on_same_answers, rule="neither says refusal"),
    ),
    Statistic(
        "14",
        MEAN,
        "gap on same answers, the crowd's refusals out",
        SECOND,
        partial(
            gaps_on_same_answers, rule="the crowd's refusals out", errors=["factuality"]
        ),
    ),
    Statistic(
        "14",
        CHANGE,
        "same answers, the crowd's refusals out",
        SECOND,
        partial(contrasts_on_same_answers, rule="the crowd's refusals out"),
    ),
    Statistic(
        "14",
        MEAN,
        "gap on same answers, the expert's refusals out",
        SECOND,
        partial(
            gaps_on_same_answers,
            rule="the expert's refusals out",
            errors=["factuality"],
        ),
    ),
    Statistic(
        "14",
        CHANGE,
        "same answers, the expert's refusals out",
        SECOND,
        partial(contrasts_on_same_answers, rule="the expert's refusals out"),
    ),
    Statistic(
        "14",
        MEAN,
        "gap on same answers, refusals kept",
        SECOND,
        partial(gaps_on_same_answers, rule="refusals kept", errors=["factuality"]),
    ),
    Statistic(
        "14",
        CHANGE,
        "same answers, refusals kept",
        SECOND,
        partial(contrasts_on_same_answers, rule="refusals kept"),
    ),
    Statistic("14", MEAN, "six gaps on same answers", SECOND, six_gaps),
    Statistic(
        "14",
        MEAN,
        "tone by preamble",
        SECOND,
        partial(means_by_arm, answers=outputs_2, columns=["assertiveness"]),
    ),
    Statistic(
        "14",
        MEAN,
        "tone by preamble, refusals left out",
        SECOND,
        partial(means_by_arm, answers=answered, columns=["assertiveness"]),
    ),
    Statistic(
        "14", MEAN, "factual errors by annotators and preamble", SECOND, rates_by_arm
    ),
    Statistic(
        "14",
        RATE,
        "by annotators and tone, refusals left out",
        SECOND,
        partial(
            rates_by_annotators,
            kept=False,
            errors=NO_REFUSAL,
            by="arm",
            rows=["crowd", "expert"],
        ),
    ),
    Statistic(
        "14",
        GAP,
        "by tone, refusals left out",
        SECOND,
        partial(
            rates_by_annotators,
            kept=False,
            errors=NO_REFUSAL,
            by="arm",
            rows=["difference"],
        ),
    ),
    Statistic(
        "14",
        RATE,
        "by annotators, refusals left out",
        SECOND,
        partial(
            rates_by_annotators,
            kept=False,
            errors=NO_REFUSAL,
            by=None,
            rows=["crowd", "expert"],
        ),
    ),
    Statistic(
        "14",
        GAP,
        "all tones, refusals left out",
        SECOND,
        partial(
            rates_by_annotators,
            kept=False,
            errors=NO_REFUSAL,
            by=None,
            rows=["difference"],
        ),
    ),
    Statistic(
        "14",
        CHANGE,
        "different answers, refusals left out",
        SECOND,
        partial(contrasts, kept=False, errors=NO_REFUSAL, arms=STEPS),
    ),
    Statistic(
        "14",
        RATE,
        "by annotators and tone, refusals kept",
        SECOND,
        partial(
            rates_by_annotators,
            kept=True,
            errors=ERRORS_2,
            by="arm",
            rows=["crowd", "expert"],
        ),
    ),
    Statistic(
        "14",
        GAP,
        "by tone, refusals kept",
        SECOND,
        partial(
            rates_by_annotators,
            kept=True,
            errors=ERRORS_2,
            by="arm",
            rows=["difference"],
        ),
    ),
    Statistic(
        "14",
        RATE,
        "by annotators, refusals kept",
        SECOND,
        partial(
            rates_by_annotators,
            kept=True,
            errors=NO_REFUSAL,
            by=None,
            rows=["crowd", "expert"],
        ),
    ),
    Statistic(
        "14",
        GAP,
        "all tones, refusals kept",
        SECOND,
        partial(
            rates_by_annotators,
            kept=True,
            errors=NO_REFUSAL,
            by=None,
            rows=["difference"],
        ),
    ),
    Statistic(
        "14",
        CHANGE,
        "different answers, refusals kept",
        SECOND,
        partial(contrasts, kept=True, errors=ERRORS_2, arms=STEPS),
    ),
    Statistic(
        "14",
        RATE_SLOPE,
        "on assertiveness",
        SECOND,
        partial(slopes_of_rates, rating="assertiveness", answers="all"),
    ),
    Statistic(
        "14",
        RATE_SLOPE,
        "on assertiveness, within arms",
        SECOND,
        partial(slopes_of_rates, rating="assertiveness", answers="within arms"),
    ),
    Statistic(
        "14",
        RATE_SLOPE,
        "on assertiveness, no preamble",
        SECOND,
        partial(slopes_of_rates, rating="assertiveness", answers="no preamble"),
    ),
    Statistic(
        "14",
        RATE_SLOPE,
        "on complexity",
        SECOND,
        partial(slopes_of_rates, rating="complexity", answers="all"),
    ),
    Statistic(
        "14",
        RATE,
        "by assertiveness",
        SECOND,
        partial(rates_in_bins, rating="assertiveness", answers="all"),
    ),
    Statistic(
        "14",
        RATE,
        "by assertiveness, no preamble",
        SECOND,
        partial(rates_in_bins, rating="assertiveness", answers="no preamble"),
    ),
    Statistic(
        "14",
        RATE,
        "by complexity",
        SECOND,
        partial(rates_in_bins, rating="complexity", answers="all"),
    ),
    Statistic("14", OLS, "slopes on either tone", SECOND, compared_slopes),
    Statistic(
        "14",
        SINGLE,
        "change of single marks",
        "Hosking 2, single",
        partial(single_contrasts, within=None),
    ),
    Statistic(
        "14",
        SINGLE,
        "change of single marks within raters",
        "Hosking 2, single",
        partial(single_contrasts, within="rater_id"),
    ),
    Statistic(
        "14",
        MEAN,
        "scores by system, experiment 2",
        SECOND,
        partial(scores_by_system, outputs=outputs_2),
    ),
    Statistic(
        "14",
        RATE,
        "errors by system, experiment 2",
        SECOND,
        partial(rates_by_system, outputs=outputs_2, errors=ERRORS_2),
    ),
    Statistic(
        "14",
        PAIRED,
        "words",
        SECOND,
        partial(
            differences,
            answers=answered,
            columns=["response_words"],
            compare=groups.paired_differences,
        ),
    ),
    # 15
    Statistic("15", LINE, "over groups and answers", SECOND, slopes_over_groups),
    Statistic(
        "15",
        LINE,
        "by model, items",
        SECOND,
        partial(slopes_by_system, level="items", parallel=False),
    ),
    Statistic(
        "15",
        LINE,
        "by model, means",
        SECOND,
        partial(slopes_by_system, level="means", parallel=False),
    ),
    Statistic(
        "15",
        LINE,
        "one slope, items",
        SECOND,
        partial(slopes_by_system, level="items", parallel=True),
    ),
    Statistic(
        "15",
        LINE,
        "one slope, means",
        SECOND,
        partial(slopes_by_system, level="means", parallel=True),
    ),
    Statistic("15", LINE, "tone on score", SECOND, slopes_of_tone),
    Statistic(
        "15",
        LINE,
        "tone on the biased score",
        SECOND,
        partial(slopes_of_tone, score="quality_biased"),
    ),
    Statistic(
        "15",
        LINE,
        "tone on score, means",
        SECOND,
        partial(slopes_of_tone, level="means"),
    ),
    Statistic(
        "15",
        LINE,
        "tone on score, one slope",
        SECOND,
        partial(slopes_of_tone, parallel=True),
    ),
    Statistic(
        "15",
        LINE,
        "tone on score, refusals left out",
        SECOND,
        partial(slopes_of_tone, answers="refusals left out"),
    ),
    Statistic(
        "15",
        LINE,
        "tone on score, no preamble",
        SECOND,
        partial(slopes_of_tone, answers="no preamble"),
    ),
    Statistic("15", RANGE, "tone", SECOND, partial(ranges_by_system, rule="none")),
    Statistic(
        "15",
        RANGE,
        "tone, refusals left out by majority",
        SECOND,
        partial(ranges_by_system, rule="majority"),
    ),
    Statistic(
        "15",
        RANGE,
        "tone, refusals left out by any",
        SECOND,
        partial(ranges_by_system, rule="any"),
    ),
    Statistic(
        "15", DIFFERENCE, "score with a preamble by model", SECOND, changes_by_system
    ),
    Statistic("15", CORRELATION, "mean ratings", SECOND, rating_correlations),
    # 16
    Statistic(
        "16",
        OLS,
        "cost by the crowd's labels, experiment 2",
        SECOND,
        partial(costs_by_source, source="crowd, all answers"),
    ),
    Statistic(
        "16",
        OLS,
        "cost by the crowd's labels, the expert's answers",
        SECOND,
        partial(costs_by_source, source="crowd"),
    ),
    Statistic(
        "16",
        OLS,
        "cost by the expert's labels",
        SECOND,
        partial(costs_by_source, source="expert"),
    ),
    Statistic(
        "16",
        OLS,
        "cost of one mark by the same person",
        "Hosking 1, single",
        costs_of_one_mark,
    ),
    # 20 and 26
    Statistic("26", MEAN, "unanimous choices", KAMODA, unanimity),
    Statistic("20", MEAN, "ratings at best", KAMODA, at_best),
    Statistic("20", MEAN, "acceptability", KAMODA, acceptability_by_kind),
    Statistic("20", MEAN, "distances from the ideal", KAMODA, distances_by_kind),
    Statistic("20", MEAN, "model nearer to the ideal", KAMODA, nearer_to_ideal),
    Statistic("20", MEAN, "best model answers", KAMODA, best_model_answers),
    Statistic("26", MEAN, "pairs with the same rating", KAMODA, same_rating),
    Statistic("26", MEAN, "pairs alike, less factuality", KAMODA, disputed_aspects),
    Statistic("26", MEAN, "alpha per answer", KAMODA, alpha_per_answer),
    Statistic("20", MEAN, "minutes", WORKERS, minutes),
    Statistic(
        "26",
        POOLED,
        "all aspects, nominal",
        KAMODA,
        partial(pooled_alpha, level="nominal"),
    ),
    Statistic(
        "26",
        AGREEMENT,
        "aspects, nominal",
        KAMODA,
        partial(kamoda_agreement, level="nominal"),
    ),
    Statistic(
        "26",
        POOLED,
        "all aspects, ordinal",
        KAMODA,
        partial(pooled_alpha, level="ordinal"),
    ),
    Statistic(
        "26",
        AGREEMENT,
        "aspects, ordinal",
        KAMODA,
        partial(kamoda_agreement, level="ordinal"),
    ),
    Statistic(
        "26",
        POOLED,
        "all aspects, interval",
        KAMODA,
        partial(pooled_alpha, level="interval"),
    ),
    Statistic(
        "26",
        AGREEMENT,
        "aspects, interval",
        KAMODA,
        partial(kamoda_agreement, level="interval"),
    ),
    # 21 and 22
    Statistic("21", ASPECT, "between people", KAMODA, weights_between_people),
    Statistic("21", MEAN, "marks by acceptability", KAMODA, marks_by_acceptability),
    Statistic(
        "21", MEAN, "factuality by low acceptability", KAMODA, factuality_where_low
    ),
    Statistic("22", JUDGE, "trees and weighted sums", KAMODA, tree_correlations),
    Statistic("22", GAIN, "trees and weighted sums", KAMODA, tree_gains),
    Statistic("22", ASPECT, "each side of the scale", KAMODA, weights_by_side),
    # 23 and 24
    Statistic("23", MEAN, "mentions", WORKERS, mentions),
    Statistic("23", MEAN, "mentions, longest", "Kamoda, longest", mentions),
    Statistic(
        "24",
        RANGE,
        "distances between kinds",
        KAMODA,
        distances_between_kinds,
    ),
    Statistic("24", MEAN, "measures", KAMODA, measures_by_kind),
    Statistic(
        "24",
        CORRELATION,
        "measures, all",
        KAMODA,
        partial(measure_correlations, rows="all"),
    ),
    Statistic(
        "24",
        CORRELATION,
        "measures, human random",
        KAMODA,
        partial(measure_correlations, rows="human_random"),
    ),
    Statistic(
        "24",
        CORRELATION,
        "measures, human top",
        KAMODA,
        partial(measure_correlations, rows="human_top"),
    ),
    Statistic(
        "24",
        CORRELATION,
        "measures, model casual",
        KAMODA,
        partial(measure_correlations, rows="model_casual"),
    ),
    Statistic(
        "24",
        CORRELATION,
        "measures, model formal",
        KAMODA,
        partial(measure_correlations, rows="model_formal"),
    ),
    Statistic(
        "24",
        CORRELATION,
        "measures, with a reference",
        KAMODA,
        partial(measure_correlations, rows="with a reference"),
    ),
    Statistic(
        "24",
        CORRELATION,
        "measures, with all measures",
        KAMODA,
        partial(measure_correlations, rows="with all measures"),
    ),
    Statistic(
        "24", JUDGE, "measures on the same answers", KAMODA, measures_on_same_answers
    ),
    Statistic(
        "24",
        JUDGE,
        "GPT-4 and length within kinds",
        KAMODA,
        partial(scores_and_length, judge="GPT-4"),
    ),
    Statistic(
        "24",
        JUDGE,
        "Llama 2 and length within kinds",
        KAMODA,
        partial(scores_and_length, judge="Llama 2"),
    ),
    Statistic("24", MEAN, "error of an aspect", KAMODA, aspect_errors),
    Statistic("24", JUDGE, "single aspects", KAMODA, aspect_correlations),
    Statistic("24", MEAN, "excess of scores", KAMODA, excess_of_scores),
    # 31
    Statistic(
        "31",
        QUESTIONS,
        "free text and users, answer first",
        "ChatBench, questions",
        partial(corrected_correlation, condition="answer first"),
    ),
    Statistic(
        "31",
        CORRELATION,
        "free text and users, answer first",
        "ChatBench, questions",
        partial(other_correlations, condition="answer first"),
    ),
    Statistic(
        "31",
        QUESTIONS,
        "free text and users, direct to AI",
        "ChatBench, questions",
        partial(corrected_correlation, condition="direct to AI"),
    ),
    Statistic(
        "31",
        CORRELATION,
        "free text and users, direct to AI",
        "ChatBench, questions",
        partial(other_correlations, condition="direct to AI"),
    ),
    Statistic("31", MEAN, "changed answers", "ChatBench, users", changed_answers),
    Statistic(
        "31", MEAN, "right by confidence", "ChatBench, users", right_by_confidence
    ),
    Statistic("31", MEAN, "confidence", "ChatBench, users", confidence_by_dataset),
    # 41 and 42
    Statistic(
        "41",
        AGE,
        "word classes, up to",
        "HumBEL",
        partial(right_at_ages, scope="up to", cluster="cue"),
    ),
    Statistic(
        "41",
        AGE,
        "definitions, up to",
        "HumBEL, definitions",
        partial(right_at_ages, scope="up to", cluster="word"),
    ),
    Statistic(
        "41",
        AGE,
        "word classes, at",
        "HumBEL",
        partial(right_at_ages, scope="at", cluster="cue"),
    ),
    Statistic(
        "41",
        AGE,
        "definitions, at",
        "HumBEL, definitions",
        partial(right_at_ages, scope="at", cluster="word"),
    ),
    Statistic("42", SINGLE, "hypotheses", "HumBEL", hypotheses),
    Statistic(
        "42",
        SINGLE,
        "hypotheses, both words",
        "HumBEL, both words",
        partial(hypotheses, clusters=("cue", "association")),
    ),
    Statistic("42", SINGLE, "each hypothesis alone", "HumBEL", hypotheses_alone),
    Statistic("42", SINGLE, "hypotheses by logit", "HumBEL", hypotheses_by_logit),
    Statistic(
        "42", SINGLE, "hypotheses, other questions", "HumBEL", hypotheses_in_variants
    ),
    Statistic("42", OLS, "hypotheses within cues", "HumBEL", hypotheses_within_cues),
    Statistic(
        "42",
        MEAN,
        "errors by parts",
        "HumBEL",
        partial(errors_by_category, column="parts"),
    ),
    Statistic(
        "42",
        MEAN,
        "errors by relation",
        "HumBEL",
        partial(errors_by_category, column="relation"),
    ),
    Statistic(
        "42",
        MEAN,
        "errors by complexity",
        "HumBEL",
        partial(errors_by_category, column="complexity"),
    ),
]
