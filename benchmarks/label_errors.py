"""What models of label error find where the truth is known, into data/label_errors.csv.

A model of the first experiment of Hosking et al. is fitted to its data, and studies as
large are drawn from it, with new prompts. Case "as the models assume": raters err
independently of each other, once it is given whether the error is there. Case "raters
err together": a fifth of the variance of what makes raters mark a response wrongly, or
overlook an error, belongs to the response, so that they share slips.

For each drawn study losses are computed as in notebook 16, with intervals that resample
prompts through the whole procedure. `python -m benchmarks.label_errors` writes the
table; a number after it, such as ``5``, is that of studies; then nothing is written.
"""

import os
import sys
from dataclasses import replace

import joblib
import numpy as np
import pandas as pd
from scipy.stats import norm

from helpers import paths
from helpers.data.tables import to_csv_bytes
from helpers.robustness import label_errors as models
from helpers.robustness.study_model import Outputs, StudyModel, draw, fit_model
from helpers.stats.bootstrap import cluster_weights, interval, with_everything_first
from helpers.stats.label_errors import (
    LEAST_RELIABILITY,
    calibrated_losses,
    mark_moments,
    smallest_reliability,
)
from helpers.studies import hosking
from helpers.studies.hosking_submissions import single_ratings

SEED = 20240917
N_STUDIES = 150
N_BOOT = 150  # resamples of prompts in each study
N_PROMPTS = 180
N_RATERS = 4
LARGE = 20_000  # prompts of a study that stands for all there are
SHARED = 0.2  # share of the variance of slips that raters of a response have in common
CASES = {"as the models assume": 0.0, "raters err together": SHARED}
PAIR = ["refusal", "factuality"]
COLUMNS = ["item_id", "prompt_id"]


def real_model() -> StudyModel:
    """Fit the model to the first experiment, with the errors whose cost is known."""
    study = hosking.load_experiment_1("auto", SEED)
    outputs = study.outputs()
    table = models.label_costs(
        outputs, hosking.ERRORS_1, "quality_unbiased", ["prompt_id"]
    )
    errors = list(table.index[table["estimate"].notna()])
    marks = single_ratings(1, "errors", study.source, SEED)
    scores = single_ratings(1, "unbiased", study.source, SEED)
    return fit_model(marks, scores, errors, "quality_unbiased")


def draw_study(
    model: StudyModel, shared: float, n_prompts: int, rng: np.random.Generator
) -> tuple[Outputs, np.ndarray]:
    """Draw a study, and the propensity of each output to be marked."""
    outputs = draw(model, n_prompts, N_RATERS, rng)
    if_there = norm.ppf(model.classes["sensitivity"].to_numpy())
    if_not = norm.ppf(model.classes["false_alarms"].to_numpy())
    limit = np.where(outputs.present, if_there, if_not)
    of_output = np.sqrt(shared) * rng.standard_normal(limit.shape)
    propensity = norm.cdf((limit - of_output) / np.sqrt(1 - shared))
    if not shared:
        return outputs, propensity
    of_rater = rng.standard_normal((*limit.shape[:2], N_RATERS, 1))
    of_mark = rng.standard_normal(outputs.marks.shape)
    own = np.sqrt(model.halo) * of_rater + np.sqrt(1 - model.halo) * of_mark
    slip = of_output[:, :, None] + np.sqrt(1 - shared) * own
    return replace(outputs, marks=slip < limit[:, :, None]), propensity


def least_squares(features: np.ndarray, lost: np.ndarray) -> np.ndarray:
    """Slopes of points lost on features of outputs."""
    flat = features.reshape(-1, features.shape[-1]).astype(float)
    design = np.column_stack([np.ones(len(flat)), flat])
    slopes, *_ = np.linalg.lstsq(design, lost, rcond=None)
    return slopes[1:]


def truths(model: StudyModel, shared: float) -> pd.Series:
    """What each method is about, in all prompts there are."""
    outputs, propensity = draw_study(
        model, shared, LARGE, np.random.default_rng([SEED, 1])
    )
    lost = (outputs.present @ model.losses[model.errors].to_numpy()).ravel()
    pair = [model.errors.index(error) for error in PAIR]
    values = {}
    for error in model.errors:
        for method in ("majority", "classes", "probability"):
            values[method, "all", error] = model.losses[error]
    by_pair = {
        "classes": least_squares(outputs.present[:, :, pair], lost),
        "propensity": least_squares(propensity[:, :, pair], lost),
    }
    for method, slopes in by_pair.items():
        for error, slope in zip(PAIR, slopes, strict=True):
            values[method, "pair", error] = slope
    alone = least_squares(propensity[:, :, pair[:1]], lost)
    values["propensity", "alone", PAIR[0]] = alone[0]
    return pd.Series(values)


def try_study(model: StudyModel, shared: float, number: int) -> pd.DataFrame:
    """Estimates with intervals from one drawn study."""
    rng = np.random.default_rng([SEED, 2, number])
    outputs, _ = draw_study(model, shared, N_PROMPTS, rng)
    marks = outputs.single_ratings()
    marks["score"] = marks.groupby("item_id")["score"].transform("mean")
    errors = model.errors
    weights = cluster_weights(
        N_PROMPTS, N_BOOT, np.random.default_rng([SEED, 3, number])
    )
    weights = with_everything_first(weights)
    moments = mark_moments(marks, errors, *COLUMNS, "score").total(weights)
    patterns = models.mark_patterns(marks, errors, *COLUMNS).total(weights)
    by_probability = models.probability_losses(
        marks, errors, *COLUMNS, "score", weights
    )
    place = [errors.index(error) for error in PAIR]
    patterns_of_pair = replace(patterns, counts=patterns.counts[:, place])
    pair = moments.pick(PAIR)
    alone = moments.pick(PAIR[:1])
    tables = {
        ("classes", "all"): summary(errors, models.class_losses(moments, patterns)),
        ("probability", "all"): summary(errors, by_probability),
        ("classes", "pair"): summary(PAIR, models.class_losses(pair, patterns_of_pair)),
        ("propensity", "pair"): if_identified(pair),
        ("propensity", "alone"): if_identified(alone),
    }
    majority = models.label_costs(
        outputs.table(N_RATERS), errors, "score", ["prompt_id"]
    )
    tables["majority", "all"] = majority[["estimate", "low", "high"]]
    return pd.concat(tables, names=["method", "errors", "error"])


def summary(errors: list[str], draws: np.ndarray) -> pd.DataFrame:
    """Estimate and percentile interval; the first draw is of all prompts."""
    low, high = interval(draws[1:])
    columns = {"estimate": draws[0], "low": low, "high": high}
    return pd.DataFrame(columns, index=errors)


def if_identified(moments) -> pd.DataFrame:
    """Losses by propensities, NaN where the rule of the notebook gives no number."""
    lowest, _ = interval(smallest_reliability(moments)[1:])
    table = summary(list(moments.errors), calibrated_losses(moments))
    if not lowest > LEAST_RELIABILITY:
        table[:] = np.nan
    return table


def count(studies: list[pd.DataFrame], truth: pd.Series) -> pd.DataFrame:
    """Bias, spread and coverage over drawn studies."""
    together = pd.concat(studies, keys=range(len(studies)), names=["study"])
    together["truth"] = truth.reindex(together.index.droplevel("study")).to_numpy()
    undefined = together["estimate"].isna() | together["low"].isna()
    holds = together["truth"].between(together["low"], together["high"])
    together["undefined"] = undefined
    together["covered"] = holds & ~undefined
    together["missed"] = ~holds & ~undefined
    groups = together.groupby(["method", "errors", "error"], sort=False)
    return pd.DataFrame(
        {
            "truth": groups["truth"].first(),
            "mean": groups["estimate"].mean(),
            "median": groups["estimate"].median(),
            "sd": groups["estimate"].std(),
            "covered": groups["covered"].sum(),
            "missed": groups["missed"].sum(),
            "undefined": groups["undefined"].sum(),
        }
    )


def measure(n_studies: int, n_jobs: int = 1) -> pd.DataFrame:
    """Try all methods on drawn studies of each case."""
    model = real_model()
    task = joblib.delayed(try_study)
    tables = {}
    for case, shared in CASES.items():
        studies = joblib.Parallel(n_jobs)(
            task(model, shared, number) for number in range(n_studies)
        )
        tables[case] = count(studies, truths(model, shared))
    return pd.concat(tables, names=["case"])


def main(n_studies: int | None = None) -> None:
    """Write data/label_errors.csv, or print a shorter run."""
    table = measure(n_studies or N_STUDIES, os.cpu_count())
    if n_studies is None:
        file = paths.DATA / "label_errors.csv"
        paths.replace_files({file: to_csv_bytes(table.round(4))})
        print(f"written: data/label_errors.csv, {len(table)} rows")
    else:
        print(table.round(3).to_string())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
