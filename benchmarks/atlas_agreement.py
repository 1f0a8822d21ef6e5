"""How often intervals of agreement hold the truth in sets with few clusters.

`python -m benchmarks.atlas_agreement` draws studies with the numbers of clusters, texts
and ratings of each set of notebook 62 that has fewer than fifty clusters, and writes
data/atlas/coverage.csv; a number after it, such as ``20``, is that of studies, and then
nothing is written. What is drawn, and what is given, was written down before in
data/atlas/README.md, "Coverage of intervals of agreement". Nine minutes of processor
time.
"""

import sys
import time

import joblib
import numpy as np
import pandas as pd

from helpers.data.tables import to_csv_bytes
from helpers.stats import agreement
from ratings.atlas import answers, sets
from ratings.atlas.readers import in_one_form

N_SETS = 500
N_BOOT = 500
N_CLUSTERS_OF_TRUTH = 2000
SEED = 20261201  # written down before the run
# clusters, texts a cluster, ratings a text, alpha, steps of the scale, level
DESIGNS = {
    "recipes": (10, 4, 18, 0.225, 6, "ordinal"),
    "ttcw": (12, 3, 3, 0.137, 15, "interval"),
    "squality": (20, 10, 3, 0.275, 101, "interval"),
    "wmt_mqm": (30, 28, 3, 0.516, 101, "interval"),
    "mtbench": (42, 3, 2, 0.519, 3, "nominal"),
}
BETWEEN = (0.25, 0.75)  # of the texts' variance, between clusters
REACH = 2.0  # the scale ends two standard deviations from its middle


def draw(
    design: tuple, between: float, n_clusters: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Draw a study: a row per mark, with ``item_id``, ``cluster`` and ``mark``."""
    _, n_texts, n_ratings, alpha, n_steps, _ = design
    shape = (n_clusters, n_texts, n_ratings)
    cluster = rng.normal(scale=np.sqrt(between * alpha), size=(n_clusters, 1, 1))
    text_scale = np.sqrt((1 - between) * alpha)
    text = rng.normal(scale=text_scale, size=(n_clusters, n_texts, 1))
    noise = rng.normal(scale=np.sqrt(1 - alpha), size=shape)
    edges = np.linspace(-REACH, REACH, n_steps + 1)[1:-1]
    marks = np.digitize(cluster + text + noise, edges) + 1
    items = np.arange(n_clusters * n_texts)
    return pd.DataFrame(
        {
            "item_id": np.repeat(items, n_ratings),
            "cluster": np.repeat(items // n_texts, n_ratings),
            "mark": marks.ravel().astype(float),
        }
    )


def truth(design: tuple, between: float, rng: np.random.Generator) -> float:
    """Alpha in a study of very many clusters."""
    table = draw(design, between, N_CLUSTERS_OF_TRUTH, rng)
    categories = np.unique(table["mark"])
    row = agreement.agreement_table(
        table, ["mark"], "item_id", "cluster", categories, 2, rng, design[-1]
    )
    return float(row["alpha"].iloc[0])


def held(name: str, between: float, n_sets: int) -> dict:
    """Measure how often the interval of a set holds alpha; see data/atlas/README.md."""
    design = DESIGNS[name]
    seed = [SEED, list(DESIGNS).index(name), BETWEEN.index(between)]
    rng = np.random.default_rng(seed)
    true = truth(design, between, rng)
    n_clusters, *_, n_steps, level = design
    found = []
    for _ in range(n_sets):
        table = draw(design, between, n_clusters, rng)
        ratings = in_one_form(table, {"mark": (1, n_steps)}, people_known=False)
        row = answers.agreement_on(ratings, ["mark"], level, 0.667, N_BOOT, rng)
        found.append(row.iloc[0][["estimate", "low", "high"]].astype(float))
    numbers = pd.DataFrame(found)
    return {
        "set": name,
        "between clusters": between,
        "studies": n_sets,
        "truth": round(true, 3),
        **coverage(numbers, true),
    }


def coverage(numbers: pd.DataFrame, true: float) -> dict[str, float]:
    """Say how often intervals hold the truth, and what would make it 95 %.

    Examples
    --------
    >>> numbers = pd.DataFrame({"estimate": [0.0] * 20, "low": -1.0, "high": 1.0})
    >>> coverage(numbers, 0.5)
    {'holds': 100.0, 'factor': 0.5}
    """
    inside = numbers["low"].le(true) & numbers["high"].ge(true)
    above = numbers["estimate"] < true
    to_end = (numbers["high"] - numbers["estimate"]).where(
        above, numbers["estimate"] - numbers["low"]
    )
    needed = (numbers["estimate"] - true).abs() / to_end
    return {
        "holds": round(100 * float(inside.mean()), 1),
        "factor": round(float(needed.quantile(0.95)), 2),
    }


def main() -> None:
    """Measure, print, and write data/atlas/coverage.csv."""
    n_sets = int(sys.argv[1]) if len(sys.argv) > 1 else N_SETS
    start = time.perf_counter()
    jobs = []
    for name in DESIGNS:
        for between in BETWEEN:
            jobs.append(joblib.delayed(held)(name, between, n_sets))
    table = pd.DataFrame(joblib.Parallel(n_jobs=2)(jobs))
    print(table.to_string(index=False))
    print(f"{time.perf_counter() - start:.0f} s")
    if n_sets == N_SETS:
        file = sets.FOLDER / "coverage.csv"
        file.write_bytes(to_csv_bytes(table, index=False))


if __name__ == "__main__":
    main()
