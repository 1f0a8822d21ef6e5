"""Questions drawn like those of HumBEL, and intervals of notebooks 41 and 42 on them.

One model answered each question once, with fixed answers: nobody rates, so that what
can be other are the questions. Questions of one cue (the word to which people gave an
association) stand together. A drawn study has as many cues as the real one, drawn from
it with replacement, each with all its questions and the answers that the model gave
them; the truth is then what the estimator gives on the real questions.
"""

import numpy as np
import pandas as pd

from benchmarks import coverage_designs
from benchmarks.coverage_statistics import HYPOTHESES
from helpers.stats import clustered
from helpers.studies import answerers

N_BOOT = 1000  # as in notebook 41
SHARE = ["right"]
POINTS = ["different"]


def questions(data_source: str = "real") -> pd.DataFrame:
    """The real questions, their features, and whether the model was right."""
    columns = ["cue", "age", "right", "error", *HYPOTHESES]
    return coverage_designs.load_word_classes(data_source)["questions"][columns]


def draw(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Draw cues with replacement; a cue drawn twice counts as two."""
    codes, cues = pd.factorize(table["cue"], sort=True)
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(len(cues) + 1))
    drawn = rng.integers(len(cues), size=len(cues))
    rows = [order[starts[cue] : starts[cue + 1]] for cue in drawn]
    sizes = [len(each) for each in rows]
    sample = table.iloc[np.concatenate(rows)].reset_index(drop=True)
    return sample.assign(cue=np.repeat(np.arange(len(cues)), sizes))


def right_truth(table: pd.DataFrame) -> pd.Series:
    """Share of right answers, in %."""
    return pd.Series({"right": 100 * table["right"].mean()})


def right_by_bootstrap(table: pd.DataFrame, seed: list[int]) -> pd.DataFrame:
    """Bootstrap of cues, as notebook 41."""
    rng = np.random.default_rng(seed)
    columns = answerers.by_age(table["right"], table["age"], "up to").iloc[:, [-1]]
    found = answerers.accuracy_by_age(columns, table["cue"], N_BOOT, rng)
    return found[["estimate", "low", "high"]].set_axis(SHARE)


def points_truth(table: pd.DataFrame) -> pd.Series:
    """Points of error that a difference in part of speech adds."""
    model = clustered.fit_linear_probability(table, HYPOTHESES, "error")
    return model.value[POINTS]


def points_by_cr1(table: pd.DataFrame, seed: list[int]) -> pd.DataFrame:
    """CR1 with the number of cues less one, as notebook 42."""
    model = clustered.fit_linear_probability(table, HYPOTHESES, "error")
    return model.table(table[["cue"]]).loc[POINTS]
