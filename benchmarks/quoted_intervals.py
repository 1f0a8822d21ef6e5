"""How often the intervals that headlines quote hold the truth, with new people too.

Studies are drawn from models fitted to the real ones, with new prompts and new raters
(`benchmarks.quoted_kamoda`, `benchmarks.quoted_hosking`,
`benchmarks.quoted_experiment_2`), or new questions where nobody rates
(`benchmarks.quoted_humbel`). The truth is what the same estimator gives on a very large
study from the same model. Each quantity is computed as the notebooks do it now and, if
that has changed, as they did it before. `python -m benchmarks.quoted_intervals` writes
data/quoted_intervals.csv; a number after it, such as ``20``, is that of studies, and
then nothing is written; a name after it, such as ``HumBEL``, measures the rows of one
study only and keeps the others. Quantities that were not measured stand in the table
too, with the reason.
"""

import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import joblib
import numpy as np
import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from benchmarks import (
    quoted_experiment_2,
    quoted_hosking,
    quoted_humbel,
    quoted_kamoda,
    quoted_tones,
)
from helpers import paths
from helpers.data.tables import to_csv_bytes
from helpers.stats import (
    agreement,
    aspects,
    clustered,
    correlations,
    groups,
    jackknife,
    lasso,
)
from helpers.stats.moments import cluster_moments
from helpers.studies import hosking, kamoda
from helpers.studies.hosking_submissions import load_groups, repeated, single_ratings

N_SETS = 1000
N_BOOT = 500  # replicates of the intervals by bootstrap, all of them of before
SEED = 20261122  # written down before the run
TRUTH_COPIES = 100  # studies side by side whose estimate is the truth
TRUTHS = {"Hosking et al., experiment 2": 10}  # such estimates, averaged, if not one
LOWEST = 93.5  # %: a quantity fails if its Monte Carlo interval lies wholly below
COLUMNS = [
    "notebook",
    "quantity",
    "headline",
    "field",
    "repeats",
    "clusters",
    "method",
    "clusters_before",
    "method_before",
    "model",
    "drawn",
    "n_sets",
    "not_known",
    "truth",
    "df",
    "coverage",
    "low",
    "high",
    "verdict",
    "coverage_before",
    "low_before",
    "high_before",
    "verdict_before",
    "times_as_long",
    "reason",
]
ASPECTS = list(kamoda.ASPECTS)
IDEALS = {name: kamoda.IDEALS[name] for name in kamoda.RANGES}
TWO_WAYS = ["rater_id", "question_id"]
JUDGES = {"GPT-4": "gpt4", "Llama 2": "llama2"}
ERRORS = list(hosking.ERRORS_1)
KAMODA_MODEL = (
    "mixed model of the 3,600 ratings: workers differ in constant, weights and marks; "
    "question, answer and sitting effects; rounded to the scales"
)
KAMODA_DRAWN = (
    "new questions, answers and workers; who rates which question as in the study"
)
HOSKING_MODEL = (
    "study_model fitted to the single ratings, with effects of raters on marks (common "
    "and by error) and on scores"
)
HOSKING_DRAWN = (
    "new prompts, responses and raters; who rates which response as in the study"
)
LATER_MODEL = (
    "probit model of marks and rounded normal model of points by preamble and model, "
    "with effects of prompts, answers, raters and submissions, fitted by simulated "
    "moments; one fixed expert"
)
LATER_DRAWN = (
    "new prompts, answers and raters; five models, five arms and the expert fixed; who "
    "rates which answer as in the study"
)
HUMBEL_MODEL = "the real questions, each with the answer that one model gave"
HUMBEL_DRAWN = "new cues, drawn from the real ones with all their questions"


# --- Kamoda et al. -----------------------------------------------------------------


def weights_and_ratios(ratings: pd.DataFrame) -> Callable[[np.ndarray], np.ndarray]:
    """Weight of factuality, with a constant too, and ratios, from weights of rows."""
    distances = aspects.ideal_distance(ratings, ASPECTS, IDEALS, kamoda.RANGES)
    distances["missing"] = IDEALS["acceptability"] - ratings["acceptability"]
    plain = aspects.weights_of(distances, ASPECTS, "missing")
    constant = aspects.weights_of(distances, ASPECTS, "missing", intercept=True)

    def compute(weights: np.ndarray) -> np.ndarray:
        factuality, information, formality = plain(weights).T
        ratio = factuality / information
        columns = [
            factuality,
            constant(weights)[:, 0],
            ratio,
            ratio / 3,
            formality / information,
        ]
        return np.column_stack(columns)

    return compute


WEIGHTS = ["factuality", "constant", "ratio", "per_step", "formality ratio"]


def aspect_weights_now(study: quoted_kamoda.Study, seed: list[int]) -> pd.DataFrame:
    """Leaving out one worker, and one question."""
    ratings, _ = study.frames()
    statistic = weights_and_ratios(ratings)
    return jackknife.leave_one_out(statistic, ratings[TWO_WAYS], WEIGHTS)


def aspect_weights_before(study: quoted_kamoda.Study, seed: list[int]) -> pd.DataFrame:
    """Clusters of questions: CR1 for weights, a bootstrap for ratios."""
    ratings, _ = study.frames()
    distances = aspects.ideal_distance(ratings, ASPECTS, IDEALS, kamoda.RANGES)
    distances["missing"] = IDEALS["acceptability"] - ratings["acceptability"]
    distances["question_id"] = ratings["question_id"]
    of = (distances, ASPECTS, "missing", "question_id")
    plain = lasso.ols(*of, intercept=False).loc["factuality"]
    constant = lasso.ols(*of).loc["factuality"]
    estimate = aspects.weights(distances, ASPECTS, "missing")
    rng = np.random.default_rng(seed)
    draws = aspects.bootstrap_weights(cluster_moments(*of), N_BOOT, rng)
    table = {}
    for name, each in {"estimate": estimate.to_frame().T, "draws": draws}.items():
        ratio = each["factuality"] / each["amount_info"]
        other = each["formality"] / each["amount_info"]
        columns = {"ratio": ratio, "per_step": ratio / 3, "formality ratio": other}
        table[name] = pd.DataFrame(columns)
    ratios = groups.interval_table(table["estimate"].iloc[0], table["draws"])
    weights = pd.DataFrame({"factuality": plain, "constant": constant}).T
    return pd.concat([weights, ratios])


GAINS = ["gain", "equal", "people", "agreed"]
CONTRASTS = np.zeros((len(aspects.JUDGE_SCORES + aspects.BY_PEOPLE), len(GAINS)))
for place, (more, less) in enumerate([(1, 0), (2, 1), (3, 4), (5, 6)]):
    CONTRASTS[more, place] = 1.0
    CONTRASTS[less, place] = -1.0
JUDGED = [f"{judge}, {name}" for judge in JUDGES for name in GAINS]


def judges_now(study: quoted_kamoda.Study, seed: list[int]) -> pd.DataFrame:
    """Leaving out one worker, and one question; weights are learned anew each time."""
    ratings, evaluators = study.frames()
    tables = []
    for code in JUDGES.values():
        judge = evaluators[evaluators["evaluator"] == code]
        compute = aspects.judge_correlations(
            ratings, judge, IDEALS, kamoda.RANGES, "acceptability"
        )
        of_judge = partial(_contrasts, compute)
        tables.append(jackknife.leave_one_out(of_judge, ratings[TWO_WAYS], GAINS))
    return pd.concat(tables).set_axis(JUDGED)


def _contrasts(compute: Callable, weights: np.ndarray) -> np.ndarray:
    """Differences of correlations."""
    return compute(weights) @ CONTRASTS


def judges_before(study: quoted_kamoda.Study, seed: list[int]) -> pd.DataFrame:
    """Bootstrap of questions, the learned weights taken as known."""
    ratings, evaluators = study.frames()
    distances = aspects.ideal_distance(
        ratings, [*ASPECTS, "acceptability"], IDEALS, kamoda.RANGES
    )
    learned = 3 * aspects.weights(distances, ASPECTS, "acceptability")
    by_item = ratings.groupby("item_id")
    answers = by_item[[*ASPECTS, "acceptability"]].mean()
    answers["question_id"] = by_item["question_id"].first()
    answers = answers.reset_index()
    given = (learned, IDEALS, kamoda.RANGES, "acceptability")
    of_raters = aspects.judge_scores(ratings, *given)
    of_answers = aspects.judge_scores(answers, *given)
    human = answers[["item_id", "question_id"]].assign(human=answers["acceptability"])
    tables = []
    for code in JUDGES.values():
        judge = evaluators[evaluators["evaluator"] == code]
        scored = aspects.judge_scores(judge, *given).merge(human, on="item_id")
        rated = of_answers[of_answers["item_id"].isin(judge["item_id"])]
        raw = of_raters[of_raters["item_id"].isin(judge["item_id"])]
        pair = ["weighted", "equal"]
        sums = {
            "direct": cluster_moments(
                scored, ["direct", *pair], "human", "question_id"
            ),
            "people": cluster_moments(rated, pair, "acceptability", "question_id"),
            "agreed": aspects.rater_pairs(
                raw, pair, "acceptability", "item_id", "question_id"
            ),
        }
        found, draws = {}, {}
        for name, each in sums.items():
            # the same seed for all tables: resamples are paired
            found[name], draws[name] = correlations.compare_evaluators(
                {name: each}, N_BOOT, SEED
            )
        differences = {
            "gain": ("direct", "weighted", "direct"),
            "equal": ("direct", "equal", "weighted"),
            "people": ("people", "weighted", "equal"),
            "agreed": ("agreed", "weighted", "equal"),
        }
        value, drawn = {}, {}
        for name, (table, more, less) in differences.items():
            value[name] = found[table][table, more] - found[table][table, less]
            drawn[name] = draws[table][table, more] - draws[table][table, less]
        tables.append(groups.interval_table(pd.Series(value), pd.DataFrame(drawn)))
    return pd.concat(tables).set_axis(JUDGED)


def choices_table(study: quoted_kamoda.Study) -> pd.DataFrame:
    """One row per sitting: whether a model's answer is preferred, in %."""
    design = study.design
    columns = {
        "models": 100.0 * study.chose_model,
        "rater_id": design.worker,
        "question_id": design.question,
    }
    return pd.DataFrame(columns)


def share(values: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Make a function that computes a mean from weights of rows."""

    def compute(weights: np.ndarray) -> np.ndarray:
        return (weights @ values / weights.sum(axis=1))[:, None]

    return compute


def choices_now(study: quoted_kamoda.Study, seed: list[int]) -> pd.DataFrame:
    """Leaving out one worker, and one question."""
    table = choices_table(study)
    statistic = share(table["models"].to_numpy())
    both = jackknife.leave_one_out(statistic, table[TWO_WAYS], ["models"])
    alone = jackknife.leave_one_out(statistic, table[["rater_id"]], ["workers"])
    return pd.concat([both, alone])


def choices_before(study: quoted_kamoda.Study, seed: list[int]) -> pd.DataFrame:
    """Bootstrap of questions, and of workers."""
    table = choices_table(study)
    rows = []
    for unit in ("question_id", "rater_id"):
        rng = np.random.default_rng(seed)
        rows.append(groups.group_means(table, ["models"], None, unit, N_BOOT, rng))
    return pd.concat(rows).set_axis(["models", "workers"])


# --- Hosking et al., experiment 1 ---------------------------------------------------


@dataclass(frozen=True, eq=False)
class Hosking:
    """A drawn experiment 1, with the responses that were checked often.

    Parameters
    ----------
    study : benchmarks.quoted_hosking.Study
        900 responses to 180 prompts.
    often : pandas.DataFrame
        Marks of 200 responses by five people each, of a study drawn by itself.
    """

    study: quoted_hosking.Study
    often: pd.DataFrame


def costs(study: Hosking, fit: Callable[..., pd.DataFrame]) -> pd.DataFrame:
    """Costs of refusals and factual errors, and the latter without references."""
    outputs = study.study.outputs.assign(lost=-study.study.outputs["score"])
    generated = outputs[outputs["item_id"] % quoted_hosking.OUTPUTS < 4]
    parts = {
        "refusal": (outputs, "refusal"),
        "factuality": (outputs, "factuality"),
        "generated": (generated, "factuality"),
    }
    found = {}
    for name, (rows, error) in parts.items():
        present = [each for each in ERRORS if np.ptp(rows[each]) > 0]
        table = fit(rows, present, "lost", "prompt_id")
        found[name] = table.loc[error] if error in table.index else np.nan
    return pd.DataFrame(found).T


def costs_now(study: Hosking, seed: list[int]) -> pd.DataFrame:
    """CR3 with Satterthwaite's df; not known below ten prompts with the error."""
    table = costs(study, clustered.least_squares)
    outputs = study.study.outputs
    counts = clustered.informative_clusters(outputs, ERRORS, "prompt_id")
    error = ["refusal", "factuality", "factuality"]
    known = counts[error].to_numpy() >= clustered.FEWEST_INFORMATIVE
    table.loc[~known, ["low", "high"]] = np.nan
    return table


def costs_before(study: Hosking, seed: list[int]) -> pd.DataFrame:
    """CR1 with the number of prompts less one."""
    return costs(study, lasso.ols)


TWO_PEOPLE = ["then", "otherwise", "same", "ac1", "alpha"]


def two_people_now(study: Hosking, seed: list[int]) -> pd.DataFrame:
    """Leaving out one rater, and one prompt."""
    marks = study.often
    statistic = agreement.two_people(marks, "item_id", "factuality")
    ways = marks[["rater_id", "prompt_id"]]
    return jackknife.leave_one_out(statistic, ways, TWO_PEOPLE)


def two_people_before(study: Hosking, seed: list[int]) -> pd.DataFrame:
    """Bootstrap of prompts."""
    marks = study.often
    others = correlations.others_mean(marks, "item_id", ["factuality"])["factuality"]
    pairs = marks[["prompt_id"]].assign(first=marks["factuality"], also=100 * others)
    pairs["same"] = (100 * others).where(pairs["first"] == 1, 100 - 100 * others)
    rng = np.random.default_rng(seed)
    also = groups.group_means(pairs, ["also"], "first", "prompt_id", N_BOOT, rng)
    same = groups.group_means(pairs, ["same"], None, "prompt_id", N_BOOT, rng)
    table = agreement.agreement_table(
        marks, ["factuality"], "item_id", "prompt_id", [0, 1], N_BOOT, rng
    ).set_index("aspect")
    rows = {
        "then": also.loc[("also", 1)],
        "otherwise": also.loc[("also", 0)],
        "same": same.loc["same"],
        "ac1": agreement.coefficient(table, "ac1").loc["factuality"],
        "alpha": agreement.coefficient(table, "alpha").loc["factuality"],
    }
    return pd.DataFrame(rows).T


# --- what is measured ---------------------------------------------------------------


@dataclass(frozen=True)
class Family:
    """Quantities that are computed together, now and before.

    Parameters
    ----------
    study : str
        Key of the models.
    now : callable
        From a study and a seed to intervals by quantity.
    before : callable or None
        The same as it was computed before; None if that has not changed.
    rows : dict of str to dict
        For each quantity its cells of the table.
    truth : callable, optional
        From a large study to its estimates.
    """

    study: str
    now: Callable
    before: Callable | None
    rows: dict[str, dict[str, str]]
    truth: Callable | None = None


def cells(notebook: str, quantity: str, headline: str = "", field: str = "") -> dict:
    """Cells that tell where a quantity is quoted."""
    return {
        "notebook": notebook,
        "quantity": quantity,
        "headline": headline,
        "field": field,
    }


JACKKNIFE = {
    "repeats": "workers and questions",
    "clusters": "workers and questions",
    "method": "leave-one-out, both ways; t with effective clusters less one",
    "clusters_before": "questions",
}
CR1 = {"method_before": "CR1, t with clusters less one"}
PERCENTILE = {"method_before": "percentile bootstrap"}
RARE = {
    "repeats": "prompts and raters",
    "clusters": "prompts",
    "method": "CR3 with Satterthwaite's df; not known below 10 prompts",
    "clusters_before": "prompts",
}
TWO = {
    "repeats": "prompts and raters",
    "clusters": "raters and prompts",
    "method": "leave-one-out, both ways; t with effective clusters less one",
    "clusters_before": "prompts",
}
JUDGE = "weighted_evaluator"
TWO_AGAIN = {name: TWO[name] for name in ("repeats", "clusters", "method")}
GAP = {
    "repeats": "prompts and raters; one fixed expert",
    "clusters": "prompts",
    "method": "percentile bootstrap",
}
SLOPE = {
    "repeats": "prompts and raters",
    "clusters": "raters and prompts",
    "method": "influence of each rating, CR1 both ways; t with clusters less one",
    "clusters_before": "prompts",
    "method_before": "percentile bootstrap",
}
WILSON = {
    "repeats": "prompts and raters; one fixed expert",
    "clusters": "prompts",
    "method": "Wilson, design effect of prompts",
}
CUES = {
    "repeats": "questions, cues; one model with fixed answers",
    "clusters": "cues",
}
LATER = "Hosking et al., experiment 2"
FAMILIES = [
    Family(
        "Kamoda et al.",
        aspect_weights_now,
        aspect_weights_before,
        {
            "factuality": cells(
                "21", "weight of factuality", "aspect_weights", "factuality"
            )
            | JACKKNIFE
            | CR1,
            "constant": cells(
                "21",
                "weight of factuality, with a constant",
                "aspect_weights",
                "constant",
            )
            | JACKKNIFE
            | CR1,
            "ratio": cells(
                "21",
                "weight of factuality over amount of information",
                "aspect_weights",
                "ratio",
            )
            | JACKKNIFE
            | PERCENTILE,
            "per_step": cells("21", "the same, per step", "aspect_weights", "per_step")
            | JACKKNIFE
            | PERCENTILE,
            "formality ratio": cells(
                "21", "weight of formality over amount of information"
            )
            | JACKKNIFE
            | PERCENTILE,
        },
    ),
    Family(
        "Kamoda et al.",
        judges_now,
        judges_before,
        {
            "GPT-4, gain": cells("24", "GPT-4: weighted less direct, r", JUDGE, "gain")
            | JACKKNIFE
            | PERCENTILE,
            "GPT-4, equal": cells(
                "24", "GPT-4: equal less learned weights, r", JUDGE, "equal"
            )
            | JACKKNIFE
            | PERCENTILE,
            "GPT-4, people": cells(
                "24", "people's aspects: learned less equal weights, r", JUDGE, "people"
            )
            | JACKKNIFE
            | PERCENTILE,
            "GPT-4, agreed": cells(
                "24", "the same, what people agree on", JUDGE, "agreed"
            )
            | JACKKNIFE
            | PERCENTILE,
            "Llama 2, gain": cells(
                "24", "Llama 2: weighted less direct, r", JUDGE, "llama_gain"
            )
            | JACKKNIFE
            | PERCENTILE,
            "Llama 2, equal": cells(
                "24", "Llama 2: equal less learned weights, r", JUDGE, "llama_equal"
            )
            | JACKKNIFE
            | PERCENTILE,
            "Llama 2, people": cells("24", "people's aspects on Llama 2's answers, r")
            | JACKKNIFE
            | PERCENTILE,
            "Llama 2, agreed": cells("24", "the same, what people agree on")
            | JACKKNIFE
            | PERCENTILE,
        },
    ),
    Family(
        "Kamoda et al.",
        choices_now,
        choices_before,
        {
            "models": cells(
                "20", "choices of a model's answer, %", "models_preferred", "models"
            )
            | JACKKNIFE
            | PERCENTILE,
            "workers": cells("20", "the same, workers only")
            | JACKKNIFE
            | PERCENTILE
            | {"clusters": "workers", "clusters_before": "workers"}
            | {"method": "leave-one-out; t with effective clusters less one"},
        },
    ),
    Family(
        "Hosking et al., experiment 1",
        costs_now,
        costs_before,
        {
            "refusal": cells(
                "11", "points lost with a refusal", "refusal_cost", "refusal"
            )
            | RARE
            | CR1,
            "factuality": cells(
                "11", "points lost with a factual error", "refusal_cost", "factuality"
            )
            | RARE
            | CR1,
            "generated": cells(
                "11", "the same, without references", "refusal_cost", "generated"
            )
            | RARE
            | CR1,
        },
    ),
    Family(
        "Hosking et al., experiment 1",
        two_people_now,
        two_people_before,
        {
            "then": cells(
                "10", "second marks where the first does, %", "rater_agreement", "then"
            )
            | TWO
            | PERCENTILE,
            "otherwise": cells(
                "10",
                "second marks where the first does not, %",
                "rater_agreement",
                "otherwise",
            )
            | TWO
            | PERCENTILE,
            "same": cells("10", "same answer, %", "rater_agreement", "same")
            | TWO
            | PERCENTILE,
            "ac1": cells("10", "Gwet's AC1, factual errors", "rater_agreement", "ac1")
            | TWO
            | PERCENTILE,
            "alpha": cells(
                "10", "Krippendorff's alpha, factual errors", "rater_agreement", "alpha"
            )
            | TWO
            | PERCENTILE,
        },
    ),
    Family(
        LATER,
        quoted_tones.agreement_left_out,
        None,
        {
            "alpha": cells("10", "alpha, experiment 2", "rater_agreement", "later")
            | TWO_AGAIN,
            "ac1": cells("10", "AC1, experiment 2", "rater_agreement", "ac1_later")
            | TWO_AGAIN,
        },
        quoted_tones.agreement_truth,
    ),
    Family(
        LATER,
        quoted_tones.gaps_by_prompt,
        None,
        {
            "gap": cells("14", "crowd minus expert, points in 100", "tone_gap", "gap")
            | GAP,
            "same": cells("14", "change of the gap, same answers", "tone_gap", "same")
            | GAP,
            "paper": cells("14", "change of the gap, as the paper", "tone_gap", "paper")
            | GAP,
        },
        quoted_tones.gaps_truth,
    ),
    Family(
        LATER,
        quoted_tones.slopes_both_ways,
        quoted_tones.slopes_by_prompt,
        {
            "slope": cells("15", "slope over group means", "assertive_quality", "slope")
            | SLOPE,
            "single": cells(
                "15", "slope over single answers", "assertive_quality", "single"
            )
            | SLOPE,
            "kept": cells(
                "15", "slope without two preambles", "assertive_quality", "kept"
            )
            | SLOPE,
        },
        quoted_tones.slopes_truth,
    ),
    Family(
        LATER,
        quoted_tones.detected_by_wilson,
        None,
        {
            "found": cells("51", "found by the crowd, in 100", "crowd_misses", "found")
            | WILSON,
            "single": cells(
                "51", "marked by a single rater, in 100", "crowd_misses", "single"
            )
            | WILSON,
            "unfound": cells(
                "51", "marked where none is, in 100", "crowd_misses", "unfound"
            )
            | WILSON,
            "error": cells("51", "found, ties as errors", "crowd_misses", "error")
            | WILSON,
            "none": cells("51", "found, ties as none", "crowd_misses", "none") | WILSON,
        },
        quoted_tones.detected_truth,
    ),
    Family(
        "HumBEL",
        quoted_humbel.right_by_bootstrap,
        None,
        {
            "right": cells("41", "right answers, %", "age_alignment", "right")
            | CUES
            | {"method": "percentile bootstrap"},
        },
        quoted_humbel.right_truth,
    ),
    Family(
        "HumBEL",
        quoted_humbel.points_by_cr1,
        None,
        {
            "different": cells(
                "42", "errors if parts differ", "error_hypotheses", "points"
            )
            | CUES
            | {"method": "CR1, t with clusters less one"},
        },
        quoted_humbel.points_truth,
    ),
]


def not_measured() -> pd.DataFrame:
    """Quantities of headlines that were not measured, with the reason."""
    printed = "not measured: from printed numbers only, no data to fit a model to"
    these = "not measured: for these workers only, so not meant to hold for others"
    one_study = "not measured: no model was fitted for this quantity"
    sets = "not measured: the notebook simulates collections of sets instead"
    rows = [
        (
            "20",
            "models_preferred",
            "these_workers",
            "model's answer, these workers",
            these,
        ),
        ("30", "chatbench_gap", "few", "letters less users, points", printed),
        ("30", "chatbench_gap", "free", "free text less users, points", printed),
        ("30", "chatbench_gap", "few_direct", "the same, asked at once", printed),
        ("30", "chatbench_gap", "free_direct", "the same, asked at once", printed),
        ("30", "chatbench_gap", "few_answer", "the same, answered first", printed),
        ("30", "chatbench_gap", "free_answer", "the same, answered first", printed),
        ("32", "user_simulator", "gpt4o", "gain in r, users of GPT-4o", printed),
        ("32", "user_simulator", "llama", "gain in r, users of Llama", printed),
        ("32", "user_simulator", "lead", "lead over accuracy in free text", printed),
        ("61", "aspects_elsewhere", "kamoda", "fact less form, Kamoda", one_study),
        ("61", "aspects_elsewhere", "hosking", "fact less form, Hosking", one_study),
        ("61", "aspects_elsewhere", "mean", "fact less form, mean of sets", sets),
        ("63", "length_elsewhere", "kamoda", "twice as long, Kamoda", one_study),
        ("63", "length_elsewhere", "hosking", "twice as long, Hosking", one_study),
        ("63", "length_elsewhere", "mean", "twice as long, mean of sets", sets),
        ("63", "length_elsewhere", "crowd", "DialSummEval by a crowd", one_study),
        ("63", "length_elsewhere", "experts", "SummEval by experts", one_study),
        ("64", "crowds_elsewhere", "hosking", "found by the majority", one_study),
        ("64", "crowds_elsewhere", "strict", "SummEval, stricter", one_study),
    ]
    columns = ["notebook", "headline", "field", "quantity", "reason"]
    table = pd.DataFrame(rows, columns=columns)
    ways = {
        "20": ("workers and questions", "questions", "leave-one-out"),
        "30": ("questions, people", "none", "binomial, printed accuracies"),
        "32": ("questions, people", "none", "normal, printed correlations"),
        "61": ("items, sets", "items; sets", "leave-one-out; Hartung-Knapp for means"),
        "63": ("prompts, sets", "prompts; sets", "CR; Hartung-Knapp for means"),
        "64": ("answers", "none", "Wilson"),
    }
    names = ["repeats", "clusters", "method"]
    told = (
        pd.DataFrame(ways, index=names).T.loc[table["notebook"]].reset_index(drop=True)
    )
    return table.join(told).assign(verdict="not measured")


def kamoda_drawer() -> tuple[Callable, Callable]:
    """Draw studies of Kamoda et al., and a very large one."""
    study = quoted_kamoda.from_tables(kamoda.load("real"))
    model = quoted_kamoda.fit(study)

    def drawn(rng: np.random.Generator) -> quoted_kamoda.Study:
        return quoted_kamoda.draw(model, study.design, rng)

    def large(rng: np.random.Generator) -> quoted_kamoda.Study:
        return quoted_kamoda.draw(model, study.design.copies(TRUTH_COPIES), rng)

    return drawn, large


def hosking_drawer() -> tuple[Callable, Callable]:
    """Draw experiment 1 of Hosking et al., and a very large one."""
    marks = single_ratings(1, "errors", "real")
    scores = single_ratings(1, "unbiased", "real")
    model = quoted_hosking.fit(marks, scores, ERRORS, "quality_unbiased")
    who_marks = quoted_hosking.allocation(marks)
    who_scores = quoted_hosking.allocation(scores)
    _, groups_, _ = load_groups("real", 0, False)
    often = repeated(hosking.without_checks(groups_["1: errors"]))
    who_often = quoted_hosking.allocation(often)
    n_often = often["prompt_id"].nunique()
    n_prompts = marks["prompt_id"].nunique()

    def drawn(rng: np.random.Generator, copies: int = 1) -> Hosking:
        n_items = n_prompts * quoted_hosking.OUTPUTS
        study = quoted_hosking.draw(
            model,
            n_prompts * copies,
            who_marks.copies(copies, n_items),
            who_scores.copies(copies, n_items),
            rng,
        )
        n_items = n_often * quoted_hosking.OUTPUTS
        who = who_often.copies(copies, n_items)
        again = quoted_hosking.draw(model, n_often * copies, who, who, rng)
        return Hosking(study, again.marks)

    return drawn, partial(drawn, copies=TRUTH_COPIES)


def later_drawer() -> tuple[Callable, Callable]:
    """Draw experiment 2 of Hosking et al., and a very large one."""
    study = quoted_experiment_2.load("real")
    model = quoted_experiment_2.fit(study)

    def drawn(rng: np.random.Generator) -> quoted_experiment_2.Study:
        return quoted_experiment_2.draw(model, study.design, rng)

    def large(rng: np.random.Generator) -> quoted_experiment_2.Study:
        return quoted_experiment_2.draw(model, study.design.copies(TRUTH_COPIES), rng)

    return drawn, large


def humbel_drawer() -> tuple[Callable, Callable]:
    """Draw questions of HumBEL; the real ones are all there is."""
    questions = quoted_humbel.questions("real")
    return partial(quoted_humbel.draw, questions), lambda rng: questions


def estimates(family: Family, study: object) -> pd.Series:
    """Estimates without intervals, from a study too large for leaving out clusters."""
    if family.truth is not None:
        return family.truth(study)
    if family.now is aspect_weights_now:
        ratings, _ = study.frames()
        return pd.Series(
            weights_and_ratios(ratings)(np.ones((1, len(ratings))))[0], WEIGHTS
        )
    if family.now is judges_now:
        ratings, evaluators = study.frames()
        found = []
        for code in JUDGES.values():
            judge = evaluators[evaluators["evaluator"] == code]
            compute = aspects.judge_correlations(
                ratings, judge, IDEALS, kamoda.RANGES, "acceptability"
            )
            found.append(_contrasts(compute, np.ones((1, len(ratings))))[0])
        return pd.Series(np.concatenate(found), JUDGED)
    if family.now is choices_now:
        mean = choices_table(study)["models"].mean()
        return pd.Series({"models": mean, "workers": mean})
    if family.now is costs_now:
        return costs_before(study, [0])["estimate"].astype(float)
    compute = agreement.two_people(study.often, "item_id", "factuality")
    return pd.Series(compute(np.ones((1, len(study.often))))[0], TWO_PEOPLE)


def try_study(
    number: int, drawn: Callable, families: list[Family], truths: list[pd.Series]
) -> pd.DataFrame:
    """Draw a study and say which intervals hold the truth, now and before."""
    warnings.simplefilter("ignore")
    study = drawn(np.random.default_rng([SEED, number, 0]))
    parts = []
    for family, truth in zip(families, truths, strict=True):
        columns = {}
        for name, compute in {"now": family.now, "before": family.before}.items():
            if compute is None:
                continue
            table = compute(study, [SEED, number, 1]).reindex(truth.index)
            held = (table["low"] <= truth) & (table["high"] >= truth)
            columns[name] = held.astype(float).where(table["low"].notna())
            columns[f"{name} length"] = table["high"] - table["low"]
            if name == "now" and "df" in table:
                columns["df"] = table["df"]
        parts.append(pd.DataFrame(columns))
    # quantities of two families may have the same name
    return pd.concat(parts, keys=range(len(parts))).astype(float)


def summarise(held: pd.Series) -> list[float]:
    """Coverage in %, and what the chance of the simulation leaves (Wilson)."""
    known = held.dropna()
    low, high = proportion_confint(known.sum(), len(known), method="wilson")
    return [100 * known.mean(), 100 * low, 100 * high]


def measure(n_sets: int, n_jobs: int, studies: list[str] | None = None) -> pd.DataFrame:
    """Measure all families, or those of some studies."""
    drawers = {
        "Kamoda et al.": (kamoda_drawer, KAMODA_MODEL, KAMODA_DRAWN),
        "Hosking et al., experiment 1": (hosking_drawer, HOSKING_MODEL, HOSKING_DRAWN),
        LATER: (later_drawer, LATER_MODEL, LATER_DRAWN),
        "HumBEL": (humbel_drawer, HUMBEL_MODEL, HUMBEL_DRAWN),
    }
    if studies is not None:
        drawers = {name: drawers[name] for name in studies}
    rows = []
    for name, (make, model, design) in drawers.items():
        start = time.time()
        families = [family for family in FAMILIES if family.study == name]
        drawn, large = make()
        found = []
        for number in range(TRUTHS.get(name, 1)):
            study = large(np.random.default_rng([SEED, number, 2]))
            found.append([estimates(family, study) for family in families])
            del study
        truths = [sum(each) / len(each) for each in zip(*found, strict=True)]
        task = joblib.delayed(try_study)
        results = joblib.Parallel(n_jobs)(
            task(number, drawn, families, truths) for number in range(n_sets)
        )
        tables = pd.concat(results, keys=range(n_sets))
        for place, (family, truth) in enumerate(zip(families, truths, strict=True)):
            for key, row in family.rows.items():
                found = tables.xs((place, key), level=(1, 2))
                coverage, low, high = summarise(found["now"])
                cell = row | {
                    "model": model,
                    "drawn": design,
                    "n_sets": n_sets,
                    "not_known": found["now"].isna().sum(),
                    "truth": truth[key],
                    "coverage": coverage,
                    "low": low,
                    "high": high,
                    "verdict": "holds" if high >= LOWEST else "fails",
                }
                if found.get("df", pd.Series()).notna().any():
                    cell["df"] = found["df"].median()
                if family.before is not None:
                    before, before_low, before_high = summarise(found["before"])
                    cell |= {
                        "coverage_before": before,
                        "low_before": before_low,
                        "high_before": before_high,
                        "verdict_before": "holds" if before_high >= LOWEST else "fails",
                        "times_as_long": found["now length"].median()
                        / found["before length"].median(),
                    }
                rows.append(cell)
        print(f"{name}: {time.time() - start:.0f} s", flush=True)
    return pd.DataFrame(rows)


def write(measured: pd.DataFrame, kept: pd.DataFrame | None = None) -> None:
    """Write what was measured and what was not, by notebook."""
    table = pd.concat([measured, kept, not_measured()], ignore_index=True)
    whole = {"n_sets": "Int64", "not_known": "Int64"}  # empty where not measured
    table = table.astype(whole)[COLUMNS]
    table = table.sort_values("notebook", kind="stable").set_index("notebook")
    content = to_csv_bytes(table.round(3))
    paths.replace_files({paths.DATA / "quoted_intervals.csv": content})


def measured_before(studies: list[str]) -> pd.DataFrame:
    """Rows of the committed table that belong to other studies."""
    again = []
    for family in FAMILIES:
        if family.study in studies:
            for row in family.rows.values():
                again.append((row["notebook"], row["quantity"]))
    table = pd.read_csv(paths.DATA / "quoted_intervals.csv", dtype={"notebook": str})
    is_measured = table["verdict"] != "not measured"
    keys = pd.Series(zip(table["notebook"], table["quantity"], strict=True))
    return table[is_measured & ~keys.isin(again)]


def main(asked: str | None = None) -> None:
    """Measure, and write data/quoted_intervals.csv."""
    if asked is None:
        write(measure(N_SETS, n_jobs=2))
    elif asked.isdigit():
        print(measure(int(asked), n_jobs=1).to_csv())
    else:
        write(measure(N_SETS, n_jobs=1, studies=[asked]), measured_before([asked]))


if __name__ == "__main__":
    main(*sys.argv[1:])
