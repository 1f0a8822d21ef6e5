"""Write the tables of reference.R, pairs.R, peers.py and benchmarks/lme4.R.

    python tests/oracles/tables.py

They go to build/oracles; ratings of others are not committed. Two of the tables are
drawn from random numbers.
"""

import numpy as np
import pandas as pd

from helpers import paths
from helpers.studies import hosking, kamoda
from helpers.studies.hosking_submissions import single_ratings

FOLDER = paths.ROOT / "build" / "oracles"


def answers() -> pd.DataFrame:
    """Hosking et al., experiment 1: majority labels and mean scores of 900 answers."""
    table = hosking.load_experiment_1("real").outputs()
    table["lower"] = -table["quality_unbiased"]
    return table[["prompt_id", "lower", *hosking.ERRORS_1]]


def checks() -> pd.DataFrame:
    """Hosking et al., experiment 1: labels and the score of the same form, by rater."""
    table = single_ratings(1, "errors", "real")
    table["lower"] = -table["quality_biased"]
    clusters = ["rater_id", "prompt_id", "item_id"]
    return table[[*clusters, "lower", *hosking.ERRORS_1]].dropna()


def scores() -> pd.DataFrame:
    """Hosking et al., experiment 1: single scores, majority labels of the answers."""
    study = hosking.load_experiment_1("real")
    single = study.ratings("score")
    single["lower"] = -single["score"]
    labels = study.answers("majority")[["item_id", *hosking.TEN_ERRORS]]
    keys = ["item_id", "prompt_id", "rater_id", "lower"]
    return single[keys].merge(labels, on="item_id")


def aspects() -> pd.DataFrame:
    """Kamoda et al.: distances of single ratings from their ideals, in steps."""
    ratings = kamoda.load("real").ratings
    names = list(kamoda.ASPECTS)
    steps = (ratings[names] - pd.Series(kamoda.IDEALS)[names]).abs()
    steps["lower"] = kamoda.IDEALS["acceptability"] - ratings["acceptability"]
    clusters = ["rater_id", "question_id", "item_id"]
    return pd.concat([ratings[clusters], steps], axis=1)


def drawn() -> pd.DataFrame:
    """Random ratings, three in four cells with one, with a rare label."""
    rng = np.random.default_rng(51)
    n_rows = 2000
    table = pd.DataFrame({"rater_id": rng.integers(0, 40, n_rows)})
    table["prompt_id"] = rng.integers(0, 90, n_rows)
    table["label"] = (rng.random(n_rows) < 0.05).astype(float)
    table["tone"] = rng.normal(size=n_rows) + 0.3 * table["label"]
    raters = rng.normal(size=40)[table["rater_id"]]
    prompts = rng.normal(size=90)[table["prompt_id"]]
    noise = rng.normal(size=n_rows)
    table["lower"] = table["label"] + 0.2 * table["tone"] + raters + prompts + noise
    return table


def comparisons() -> pd.DataFrame:
    """Random comparisons of five systems, a quarter ties, the first favoured."""
    rng = np.random.default_rng(56)
    n_rows = 800
    first = rng.integers(5, size=n_rows)
    second = (first + rng.integers(1, 5, size=n_rows)) % 5
    table = pd.DataFrame({"rater_id": rng.integers(15, size=n_rows)})
    table["prompt_id"] = rng.integers(50, size=n_rows)
    names = np.array(["ash", "elm", "fir", "oak", "yew"])
    table["left"] = names[first]
    table["right"] = names[second]
    table["words"] = rng.integers(20, 200, n_rows)
    table["words_right"] = rng.integers(20, 200, n_rows)
    appeal = np.array([0.0, 0.3, 0.5, 0.6, 1.0]) + rng.normal(0, 0.4, (50, 5))
    prompt = table["prompt_id"].to_numpy()
    log_odds = appeal[prompt, first] - appeal[prompt, second] + 0.3
    log_odds += 0.004 * (table["words"] - table["words_right"]).to_numpy()
    first_wins = rng.random(n_rows) < 1 / (1 + np.exp(-log_odds))
    winner = np.where(first_wins, table["left"], table["right"])
    table["winner"] = np.where(rng.random(n_rows) < 0.25, "tie", winner)
    return table


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for make in (comparisons, answers, checks, scores, aspects, drawn):
        make().to_csv(FOLDER / f"{make.__name__}.csv", index=False)
