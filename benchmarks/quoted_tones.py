"""Intervals of notebooks 10, 14, 15 and 51 on experiment 2, as functions of a study."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from benchmarks.quoted_experiment_2 import Study
from helpers.stats import (
    agreement,
    bootstrap,
    groups,
    jackknife,
    lines,
    rates,
)

TONES = {"assertiveness": ("assertive_low", "assertive_high")}
CLOSE = ["assertive_low", "complex_low"]  # the preambles that change most
AGREED = ["ac1", "alpha"]
GAPS = ["gap", "same", "paper"]
SLOPES = ["slope", "single", "kept"]
DETECTED = ["found", "single", "unfound", "error", "none"]
N_BOOT = 500  # replicates of the intervals by bootstrap


# --- 10: do two people agree? --------------------------------------------------------


def agreed(study: Study) -> tuple[Callable, pd.DataFrame]:
    """AC1 and alpha from weights of rows, and the rows."""
    marks = study.often()
    of_all = agreement.two_people(marks, "item_id", "factuality")
    places = [agreement.TWO_PEOPLE.index(name) for name in AGREED]

    def compute(weights: np.ndarray) -> np.ndarray:
        return of_all(weights)[:, places]

    return compute, marks


def agreement_truth(study: Study) -> pd.Series:
    """Both coefficients of a large study."""
    compute, marks = agreed(study)
    return pd.Series(compute(np.ones((1, len(marks))))[0], AGREED)


def agreement_left_out(study: Study, seed: list[int]) -> pd.DataFrame:
    """Leaving out one rater, and one prompt."""
    compute, marks = agreed(study)
    return jackknife.leave_one_out(compute, marks[["rater_id", "prompt_id"]], AGREED)


# --- 14: crowd minus expert ----------------------------------------------------------


def gaps_by_prompt(study: Study, seed: list[int], n_boot: int = N_BOOT) -> pd.DataFrame:
    """Bootstrap of prompts: of the gap, and of its change between two tones."""
    outputs = study.outputs()
    labels = study.labels()
    crowd_kept = rates.drop_refusals(outputs, "majority")
    expert_kept = rates.drop_refusals(labels, "majority")
    same = set(crowd_kept["item_id"]) & set(expert_kept["item_id"])
    crowd = outputs[outputs["item_id"].isin(same)]
    expert = labels[labels["item_id"].isin(same)]
    pairs = rates.pair_labels(crowd, expert, ["factuality"])
    pairs["gap"] = 100 * (pairs["crowd"] - pairs["expert"])
    rng = np.random.default_rng(seed)
    rows = {}
    gap = groups.group_means(pairs, ["gap"], None, "prompt_id", n_boot, rng)
    rows["gap"] = gap.loc["gap"]
    compared = {"same": (crowd, expert), "paper": (crowd_kept, expert_kept)}
    for name, (by_crowd, by_expert) in compared.items():
        changes = rates.arm_contrasts(
            by_crowd, by_expert, ["factuality"], TONES, n_boot, rng
        )
        rows[name] = changes.loc[("assertiveness", "gap", "factuality")]
    return pd.DataFrame(rows).T[["estimate", "low", "high"]]


def gaps_truth(study: Study) -> pd.Series:
    """Estimates from a large study."""
    return gaps_by_prompt(study, [0], 2)["estimate"].astype(float)


# --- 15: score by assertiveness ------------------------------------------------------


def slopes_by_prompt(
    study: Study, seed: list[int], n_boot: int = N_BOOT
) -> pd.DataFrame:
    """Bootstrap of prompts: of slopes over means of groups and over single answers."""
    outputs = study.outputs()
    outputs = outputs.assign(group=outputs["system"] + outputs["arm"], all="all")
    kept = outputs[~outputs["arm"].isin(CLOSE)]
    asked = {
        "slope": (outputs, "means"),
        "single": (outputs, "items"),
        "kept": (kept, "means"),
    }
    rows = {}
    for name, (table, level) in asked.items():
        sums = lines.cell_sums(
            table,
            x="assertiveness",
            y="quality_unbiased",
            group="all",
            condition="group",
            cluster="prompt_id",
        )
        rng = np.random.default_rng(seed)
        weights = bootstrap.cluster_weights(len(sums.sums), n_boot, rng)
        full = sums.lines(level=level).slope[:, 0]
        drawn = sums.lines(weights, level=level).slope[:, 0]
        rows[name] = bootstrap.summary(full, drawn[:, None], ["slope"]).iloc[0]
    return pd.DataFrame(rows).T[["estimate", "low", "high"]]


def slopes_truth(study: Study) -> pd.Series:
    """Estimates from a large study."""
    return slopes_by_prompt(study, [0], 2)["estimate"].astype(float)


def slopes_both_ways(study: Study, seed: list[int]) -> pd.DataFrame:
    """Influence of each rating, in clusters of raters and of prompts."""
    answers = study.answers()
    answers["group"] = answers["system"] + answers["arm"]
    ratings = []
    for group in ("perception", "unbiased"):
        table = answers.iloc[study.design.item[group]].reset_index(drop=True)
        table["rater_id"] = study.design.rater[group]
        ratings.append(table.assign(rating=study.rated[group]))
    tone, score = ratings
    every, clusters = lines.slopes_of_ratings(tone, score, "group")
    of_all = every.table(clusters)
    kept = [table[~table["arm"].isin(CLOSE)] for table in ratings]
    few, clusters = lines.slopes_of_ratings(kept[0], kept[1], "group")
    rows = {
        "slope": of_all.loc["means"],
        "single": of_all.loc["items"],
        "kept": few.table(clusters).loc["means"],
    }
    return pd.DataFrame(rows).T


# --- 51: which of the expert's errors the crowd marks --------------------------------


def detected_by_wilson(study: Study, seed: list[int]) -> pd.DataFrame:
    """Wilson's intervals with a design effect of prompts."""
    answers = rates.drop_refusals(study.outputs(), "majority")
    labels = study.labels()
    kept = labels[labels["item_id"].isin(answers["item_id"])]
    crowds = {}
    for field, rule in {"found": "half", "error": "error", "none": "no error"}.items():
        label = rates.settle_ties(answers["factuality"], rule)
        crowds[field] = answers.assign(factuality=label)
    single = study.outputs(errors_by="mean")
    crowds["single"] = single[single["item_id"].isin(answers["item_id"])]
    rng = np.random.default_rng(seed)
    ends = ["estimate", "low", "high"]
    rows = {}
    for field, crowd in crowds.items():
        pairs = rates.pair_labels(crowd, kept, ["factuality"])
        table = rates.detection_rates(pairs, ["error"], "prompt_id", 2, rng)
        rows[field] = table.loc[("sensitivity", "factuality"), ends]
        if field == "single":
            unmarked = table.loc[("specificity", "factuality"), ends]
            rows["unfound"] = 100 - unmarked[["estimate", "high", "low"]].set_axis(ends)
    return pd.DataFrame(rows).T.loc[DETECTED]


def detected_truth(study: Study) -> pd.Series:
    """Estimates from a large study."""
    return detected_by_wilson(study, [0])["estimate"].astype(float)
