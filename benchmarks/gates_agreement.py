"""How often intervals of agreement and reliability hold the truth.

Run `python -m benchmarks.gates_agreement` (`--files 200` for a quick look). Files have
5, 10, 20 or 50 clusters of four items with three ratings each: five marks, a flag on 30
% of ratings, and a slider from 0 to 100. Told are, in % of files, how often an alpha is
given at all (too few clusters in which raters agree on an unusual mark, and it is not),
and how often intervals that are given hold the truth (at least 93.5); and the same for
the reliability of means of three ratings of five marks, which is always given. Beside
it, not judged, how often the interval of alpha would hold if it always were given.

The truth is the value in a file of very many items. Where the interval is meant for
these raters it is that of the raters in the file; where it is meant for others each
file has raters of its own, and the truth is that of very many raters. Seeds were fixed
before the first run.
"""

from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from benchmarks import gate_table
from ratings.inference import agreement
from ratings.leave_out import (
    alpha_of_marks,
    alpha_of_numbers,
    reliability_of_means,
)

SEED = 20261125
HOLDS = 93.5
GATE = "intervals of agreement"
CLUSTERS = (5, 10, 20, 50)
ITEMS = 4  # of a cluster
PER_ITEM = 3
GROUPS = 10  # of raters, where the truth is that of the raters in the file
MANY = 15_000  # clusters of a file that tells the truth
COLUMNS = ("five marks", "flag", "slider")
RELIABILITY = "reliability of means of three"


@dataclass(frozen=True)
class Raters:
    """Who rates."""

    n: int
    have_names: bool
    are_others: bool  # the interval speaks of other raters too


RATERS = {
    "3 raters rate all": Raters(3, True, False),
    "30 raters without names": Raters(30, False, False),
    "9 raters": Raters(9, True, True),
    "30 raters": Raters(30, True, True),
}


def draw(
    n_clusters: int, lenient: np.ndarray, has_names: bool, rng: np.random.Generator
) -> pd.DataFrame:
    """One file; `lenient` holds a number of each rater for each column."""
    n_items = n_clusters * ITEMS
    order = np.argsort(rng.random((n_items, len(lenient))), axis=1)
    rater = order[:, :PER_ITEM].ravel()
    item = np.repeat(np.arange(n_items), PER_ITEM)
    cluster = item // ITEMS
    latent = 0.5 * rng.normal(size=(n_clusters, 3))[cluster] + lenient[rater]
    latent += 0.9 * rng.normal(size=(n_items, 3))[item]
    latent += 0.9 * rng.normal(size=(len(item), 3))
    table = pd.DataFrame({"item_id": item, "prompt_id": cluster})
    table["five marks"] = np.clip(np.round(3 + latent[:, 0]), 1, 5)
    table["flag"] = (latent[:, 1] > 0.75) * 1.0
    table["slider"] = np.clip(np.round(50 + 15 * latent[:, 2]), 0, 100)
    if has_names:
        table["rater_id"] = rater
    return table


def leniency(n_raters: int, key: tuple[int, ...]) -> np.ndarray:
    """Numbers of raters that go into all their marks."""
    return 0.4 * np.random.default_rng(key).normal(size=(n_raters, 3))


def intervals(table: pd.DataFrame) -> pd.DataFrame:
    """Alphas and the reliability with intervals, given or not."""
    table = table.assign(cluster=table["prompt_id"])
    rows = {}
    for column in COLUMNS:
        if column == "slider":
            sums, statistic = alpha_of_numbers(table, column)
            names = ["alpha"]
        else:
            marks = np.unique(table[column])
            sums, statistic = alpha_of_marks(table, column, marks)
            names = ["alpha", "AC1", "same"]
        rows[column] = sums.table(statistic, names).loc["alpha"]
    sums, statistic = reliability_of_means(table, "five marks", (3,))
    rows[RELIABILITY] = sums.table(statistic, [3]).loc[3]
    found = pd.DataFrame.from_dict(rows, orient="index")
    return found[["estimate", "low", "high"]].astype(float)


@cache
def truth(n_raters: int, group: int) -> pd.Series:
    """Values in a file of very many items, by one group of raters or very many."""
    lenient = leniency(n_raters, (SEED, 1, n_raters, group))
    rng = np.random.default_rng((SEED, 2, n_raters, group))
    if n_raters > 100:  # who rates an item is drawn faster where there are many
        parts = [
            draw(100, part, False, rng) for part in np.array_split(lenient, MANY / 100)
        ]
        parts = [
            part.assign(
                item_id=part["item_id"] + 400 * number,
                prompt_id=part["prompt_id"] + 100 * number,
            )
            for number, part in enumerate(parts)
        ]
        table = pd.concat(parts, ignore_index=True)
    else:
        table = draw(MANY, lenient, False, rng)
    return intervals(table)["estimate"]


def look(raters: Raters, n_clusters: int, key: tuple[int, ...]) -> list[float]:
    """Which alphas are given, and which intervals hold."""
    group = key[-1] % GROUPS
    true = truth(20_000, 0) if raters.are_others else truth(raters.n, group)
    whose = (SEED, 1, raters.n, group)
    if raters.are_others:
        whose = (*key, 1)
    lenient = leniency(raters.n, whose)
    table = draw(n_clusters, lenient, raters.have_names, np.random.default_rng(key))
    found = intervals(table)
    holds = (found["low"] <= true) & (true <= found["high"])
    if not raters.have_names:  # the page takes no list of marks for raters
        table["position"] = table.groupby("item_id").cumcount()
    told = agreement(table, COLUMNS, np.random.default_rng(0))
    is_told = [column in told.index for column in COLUMNS]
    return [*is_told, *holds.astype(float)]


def main() -> None:
    """Print the table, and append to the file."""
    given = gate_table.options(__doc__.splitlines()[0], files=1000, jobs=1)
    run = Parallel(n_jobs=given.jobs)
    print(f"{given.files} files each, seed {SEED}; %: given, holds if given, holds")
    designs = product(RATERS.items(), CLUSTERS)
    for place, ((who, raters), n_clusters) in enumerate(designs):
        name = f"{who}, {n_clusters} clusters"
        if given.only not in name or gate_table.stands_there(given.out, GATE, name):
            continue
        keys = [(SEED, 0, place, number) for number in range(given.files)]
        looks = np.array(run(delayed(look)(raters, n_clusters, key) for key in keys))
        is_told, holds = looks[:, :3] == 1, 100 * looks[:, 3:]
        rows = []
        for number, column in enumerate(COLUMNS):
            told = is_told[:, number]
            n_told = int(told.sum())
            share = 100 * told.mean()
            rows.append((given.files, f"alpha of {column} given", share, None, None))
            if n_told:
                share = holds[told, number].mean()
                what = f"interval of alpha of {column} holds"
                rows.append((n_told, what, share, HOLDS, None))
            what = f"interval of alpha of {column} would hold, given or not"
            rows.append((given.files, what, holds[:, number].mean(), None, None))
        what = f"interval of {RELIABILITY} holds"
        rows.append((given.files, what, holds[:, 3].mean(), HOLDS, None))
        all_hold = gate_table.append(given.out, GATE, name, SEED, rows)
        numbers = " ".join(f"{row[2]:6.1f}" for row in rows)
        print(f"{name:38} {numbers}{'' if all_hold else ' FAILS'}", flush=True)


if __name__ == "__main__":
    main()
