"""The inventory of printed intervals: which function, on which table, drawn in which way."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd

from helpers import answerers, text
from helpers.alignment import by_age
from helpers.design import experiment_1_intervals, experiment_2_intervals, other_intervals
from helpers.design.coverage import Method, count, measure, summary
from helpers.design.populations import Clusters, Measurements, Population, TwoWays
from helpers.files.schemas import ASPECTS, ERRORS_1, ERRORS_2, IDEALS, RANGES
from helpers.stats import aspects
from helpers.studies import chatbench, hosking, hosking_submissions, humbel, kamoda
from helpers.studies.hosking_submissions import hourly_pay, single_ratings
from helpers.word_classes import word_classes

RATES = {"errors": 0.60, "unbiased": 0.30, "perception": 0.30}  # GBP for a submission
TRUTH_ZERO = ", truth zero"
AT_ONCE = "at once"  # ends the names of intervals that are meant to hold together
SMALL_SAMPLE = 108  # questions
MODEL_ANSWERS = "data/answers/all_minilm_l6_v2_word_classes.csv"

PRINTED_IN = {
    "Lasso weight": "00, 11",
    "difference of Lasso weights": "11",
    "least squares by prompt": "11",
    "ordinal model, rater and prompt": "11",
    "rate in a group (Wilson)": "11, 14, 31",
    "mean of a group": "11, 13, 14",
    "correlation": "12",
    "difference of correlations": "12",
    "differences from references, at once": "12",
    "curve, at once": "12",
    "change along a curve": "12",
    "mean in a bin": "12",
    "adjusted slope": "12",
    "crowd's rate in an arm (Wilson)": "14",
    "experts' rate in an arm (Wilson)": "14",
    "crowd minus experts": "14",
    "change between arms": "14",
    "difference of means": "13",
    "difference within prompts": "13",
    "slope of an error rate": "14",
    "single marks, rater and prompt": "14",
    "single marks within raters": "14",
    "single marks, prompt only": "14",
    "correlation of ratings": "13, 15",
    "slope of a line": "15",
    "range over arms": "15",
    "change from the baseline": "15",
    "Gwet's AC1": "10",
    "Krippendorff's alpha": "10",
    "share of checks (Wilson)": "10",
    "distractor minus partner": "10",
    "median": "10, 13",
    "mean by question": "20, 24",
    "share preferred": "20",
    "mean by rater": "20, 23",
    "Krippendorff's alpha, scales": "10, 20",
    "weight of an aspect": "00, 21, 22",
    "ratio of weights": "21",
    "weight between people": "21",
    "correlation of a judge": "24",
    "gain of a judge": "24",
    "precision and recall (Wilson)": "23",
    "mean accuracy": "30",
    "mean deviation of accuracies": "30",
    "accuracy on a dataset": "31",
    "question-level correlation": "31",
    "share (Hoeffding)": "41",
    "share of right answers at an age": "41",
}


def hosking_inventory(data_source: str, seed: int, n_boot: int) -> list[tuple[Method, Population]]:
    """Methods of notebooks 10 to 15, each with the population to draw from.

    Parameters
    ----------
    data_source : {"auto", "real", "simulated"}
        As `registry.locate`.
    seed : int
        Seed of the simulation, if there is one.
    n_boot : int
        Bootstrap replicates of each interval.

    Returns
    -------
    list of (callable, population)
        Arguments for `helpers.design.coverage.measure`.

    Raises
    ------
    registry.DataError, tables.BadTableError
        If a file cannot be had or is not as expected.

    Examples
    --------
    >>> len(hosking_inventory("simulated", 0, 9))
    10
    """
    first = hosking.load_experiment_1(data_source, seed)
    source, outputs = first.source, first.outputs()
    answers = experiment_2_intervals.with_experts(
        hosking.load_experiment_2(source, seed).outputs(), hosking.load_experts(source, seed).labels
    )
    by_prompt, by_answer = Clusters(outputs, "prompt_id"), Clusters(answers, "prompt_id")
    resampled = [
        (experiment_1_intervals.weights, by_prompt),
        (experiment_1_intervals.scores_of_systems, by_prompt),
        (experiment_1_intervals.lengths, by_prompt),
        (experiment_2_intervals.tones, by_answer),
        (experiment_2_intervals.lines, by_answer),
        *_annotation_quality(source, seed),
    ]
    design = ["item_id", "prompt_id", "rater_id"]
    scores = single_ratings(1, "unbiased", source, seed)[[*design, "quality_unbiased"]]
    scores = scores.merge(outputs[["item_id", *ERRORS_1]], on="item_id")
    marks = single_ratings(2, "errors", source, seed)[[*design, "arm", *ERRORS_2]]
    return [
        *((partial(method, n_boot=n_boot), population) for method, population in resampled),
        (experiment_1_intervals.single_scores, TwoWays(scores, "rater_id", "prompt_id")),
        (experiment_2_intervals.single_marks, TwoWays(marks, "rater_id", "prompt_id")),
    ]


def _annotation_quality(source: str, seed: int) -> list[tuple[Callable, Population]]:
    """Methods of notebook 10 with their populations."""
    shown = hosking_submissions.load_submissions(1, "errors", source, seed).ratings
    distractors = shown["pair_id"].isin(shown.loc[shown["is_distractor"], "pair_id"])
    repeated = hosking_submissions.repeated(hosking.without_checks(shown))
    sessions = hosking_submissions.load_sessions(source, seed)
    sessions["raters"] = sessions["experiment"].astype(str) + " " + sessions["group"]
    sessions["pay"] = hourly_pay(sessions, RATES)
    return [
        (
            experiment_1_intervals.agreed,
            Clusters(repeated[["item_id", "prompt_id", *ERRORS_2]], "prompt_id", ("item_id",)),
        ),
        (experiment_1_intervals.checks, Clusters(shown[distractors], "prompt_id", ("pair_id",))),
        (experiment_1_intervals.pay, Clusters(sessions[["raters", "pay", "rater_id"]], "rater_id")),
    ]


def other_inventory(data_source: str, seed: int, n_boot: int) -> list[tuple[Method, Population]]:
    """Methods of notebooks 20 to 41, each with the population to draw from.

    Parameters
    ----------
    data_source, seed, n_boot
        As for `hosking_inventory`. Answers of ChatBench are always simulated, from printed
        accuracies, unless they are at hand.

    Returns
    -------
    list of (callable, population)
        Arguments for `helpers.design.coverage.measure`.

    Raises
    ------
    registry.DataError, tables.BadTableError
        If a file cannot be had or is not as expected.

    Examples
    --------
    >>> len(other_inventory("simulated", 0, 9))
    9
    """
    study = kamoda.load(data_source, seed)
    simulated = "simulated" if data_source == "simulated" else "auto"
    chat = chatbench.load(simulated, seed)
    wide = chat.questions().pivot(
        index=["model", "dataset", "question_id"],
        columns="method",
        values=["accuracy", "n_answers"],
    )
    free, direct = "AI free text", chatbench.CONDITIONS["direct to AI"]
    table = pd.DataFrame(
        {
            "free_text": wide["accuracy", free],
            "user_ai": wide["accuracy", direct],
            "n_answers": wide["n_answers", direct],
        }
    )
    table = table.astype(float).dropna().reset_index()
    one_cell = table[table["model"] == table["model"].iloc[0]].assign(accuracy=table["user_ai"])
    age_table, small = _age_tests(data_source, seed)
    resampled = [
        (other_intervals.long_form, Clusters(study.ratings, "question_id", ("item_id",))),
        (other_intervals.by_rater, Clusters(study.ratings, "rater_id")),
        (other_intervals.judges, Clusters(_judged(study), "question_id")),
        (other_intervals.questions, Clusters(table, "question_id")),
        (other_intervals.ages, Clusters(age_table, "cue")),
    ]
    checked = text.read_hand_check().sum()
    mentions = pd.DataFrame({"outcome": np.repeat(checked.index, checked)}).reset_index()
    return [
        *((partial(method, n_boot=n_boot), population) for method, population in resampled),
        (other_intervals.dataset_accuracies, Clusters(one_cell, "question_id")),
        (other_intervals.averages, Measurements(chatbench.accuracies(), "mean", "se")),
        (other_intervals.small_sample, Clusters(small, "question")),
        (other_intervals.lexicon_accuracy, Clusters(mentions, "index")),
    ]


def _judged(study: kamoda.Kamoda) -> pd.DataFrame:
    """GPT-4's acceptability and weighted score of each answer, beside people's."""
    distance = aspects.ideal_distance(study.ratings, ASPECTS, IDEALS, RANGES)
    missing = IDEALS["acceptability"] - study.ratings["acceptability"]
    weights = aspects.weights(distance.assign(missing=missing), ASPECTS, "missing")
    gpt4 = study.evaluators[study.evaluators["evaluator"] == "gpt4"]
    people = study.answers()[["item_id", "question_id", "acceptability"]]
    scored = gpt4.assign(
        direct=gpt4["acceptability"],
        weighted=aspects.weighted_rating(gpt4, weights, IDEALS, RANGES, "acceptability"),
    )
    people = people.rename(columns={"acceptability": "human"})
    return people.merge(scored[["item_id", "direct", "weighted"]], on="item_id")


def _age_tests(data_source: str, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Answers to the word classes test by age, and as many single answers as a small sample has."""
    study = humbel.load(data_source, seed)
    questions = word_classes(study.associations, study.norms)
    chosen = answerers.of_model(study, questions, MODEL_ANSWERS, seed)
    right = (chosen == answerers.always_right(questions)).astype(float)
    columns = by_age(right, questions["age"], "at").assign(cue=questions["cue"])
    small = right.sample(SMALL_SAMPLE, random_state=seed).rename("right").reset_index()
    return columns, small


def measure_all(inventory: list[tuple[Method, Population]], n_sets: int, seed: int) -> pd.DataFrame:
    """Measure coverage of every method of an inventory.

    Parameters
    ----------
    inventory : list of (callable, population)
        As from `hosking_inventory`.
    n_sets : int
        Data sets drawn for each method; those of a shorter run are the first of a longer one.
    seed : int
        Of the random numbers.

    Returns
    -------
    pandas.DataFrame
        As from `helpers.design.coverage.count`, indexed by ``interval`` (its kind) and
        ``statistic``. Intervals that are meant to hold together are one statistic. Statistics
        whose truth is exactly zero are a kind of their own, unless all are.

    Examples
    --------
    >>> inventory = hosking_inventory("simulated", 0, 19)[:1]
    >>> measure_all(inventory, 2, 0).index.unique("interval").tolist()[:2]
    ['Lasso weight', 'Lasso weight, truth zero']
    """
    counts = {}
    for method, population in inventory:
        covered = measure(method, population, n_sets, seed)
        for kind in covered.columns.unique("interval"):
            counts |= {name: count(part) for name, part in _parts(kind, covered[kind]).items()}
    return pd.concat(counts, names=["interval", "statistic"])


def _parts(kind: str, covered: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Tell statistics whose truth is zero from the others."""
    if kind.endswith(AT_ONCE):
        return {kind: covered.min(axis="columns", skipna=False).to_frame("all")}
    zero = covered.columns.get_level_values("zero").to_numpy(dtype=bool)
    covered = covered.droplevel("zero", axis="columns")
    if zero.all() or not zero.any():
        return {kind: covered}
    return {kind: covered.loc[:, ~zero], f"{kind}{TRUTH_ZERO}": covered.loc[:, zero]}


def coverage_table(counts: pd.DataFrame) -> pd.DataFrame:
    """Summarise coverage by kind of interval.

    Parameters
    ----------
    counts : pandas.DataFrame
        Result of `measure_all`.

    Returns
    -------
    pandas.DataFrame
        A row per kind: ``printed in`` (notebooks), and the entries of
        `helpers.design.coverage.summary`.

    Examples
    --------
    >>> counts = pd.DataFrame({"covered": 19, "missed": 1, "undefined": 0, "effective": 20.0},
    ...                       index=pd.MultiIndex.from_tuples([("median", "1 errors")]))
    >>> coverage_table(counts)[["printed in", "estimate"]]
           printed in  estimate
    median     10, 13      0.95
    """
    kinds = counts.index.unique(0)
    table = pd.DataFrame({kind: summary(counts.loc[kind]) for kind in kinds}).T.infer_objects()
    table.insert(0, "printed in", kinds.str.removesuffix(TRUTH_ZERO).map(PRINTED_IN))
    return table
