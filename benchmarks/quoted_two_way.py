"""Which rule for two-way variances makes intervals that hold the truth.

Where raters and prompts both repeat, the variances by each are added and that by both
at once is taken off. By chance the result can be less than either, or below zero. Two
rules: "larger if not positive" takes the larger of the two only if the sum is not
positive; "never less than either" takes the larger of the two whenever the sum is less.
`python -m benchmarks.quoted_two_way` draws studies from the models of
`benchmarks.quoted_kamoda` and `benchmarks.quoted_hosking` and writes
benchmarks/quoted_two_way.csv; a number after it, such as ``20``, is that of studies,
and then nothing is written.

How the rule is chosen, written down before the run: a row fails if its Monte Carlo
interval lies wholly below 93.5 %. The rule with fewer failing rows is taken; if both
have the same number, the one with the shorter intervals (mean over rows of the
logarithm of the median length).
"""

import sys
import time
import warnings
from collections.abc import Callable

import joblib
import numpy as np
import pandas as pd
from scipy.stats import t

from benchmarks import quoted_intervals, quoted_kamoda
from helpers import paths
from helpers.data.tables import to_csv_bytes
from helpers.stats import agreement, aspects, clustered, jackknife
from helpers.studies import kamoda

N_SETS = 1000
SEED = 20261123  # written down before the run; not that of quoted_intervals
RULES = ("larger if not positive", "never less than either")
OF_HOSKING = "Hosking et al., experiment 1"


def variances_by_rule(
    first: np.ndarray, second: np.ndarray, both: np.ndarray
) -> dict[str, np.ndarray]:
    """Two-way variances by each rule."""
    two_way = first + second - both
    larger = np.maximum(first, second)
    return {
        "larger if not positive": np.where(two_way > 0, two_way, larger),
        "never less than either": np.maximum(two_way, larger),
    }


def by_leaving_out(
    statistic: Callable, clusters: pd.DataFrame, names: list[str]
) -> pd.DataFrame:
    """Estimates, degrees of freedom and the three variances of a jackknife."""
    found = jackknife.left_out(statistic, clusters, names)
    variances = [(changes**2).sum(axis=0) for changes in found.changes]
    return table_of(found.value, variances, found.df)


def table_of(
    value: pd.Series, variances: list[np.ndarray], df: float | np.ndarray
) -> pd.DataFrame:
    """A row per quantity: estimate, variances by each, by both, and df."""
    first, second, both = variances
    columns = {"estimate": value, "first": first, "second": second, "both": both}
    return pd.DataFrame(columns, index=value.index).assign(df=df)


def slopes_of(ratings: pd.DataFrame, within: bool, alone: bool) -> clustered.Slopes:
    """Points missing in acceptability by the distances of aspects from their ideals."""
    names = quoted_intervals.ASPECTS
    x = aspects.ideal_distance(ratings, names, quoted_intervals.IDEALS, kamoda.RANGES)
    x["missing"] = quoted_intervals.IDEALS["acceptability"] - ratings["acceptability"]
    by_worker = x.groupby(ratings["rater_id"]).transform("mean")
    x = x - (by_worker if within else x.mean())
    return clustered.slopes(x[names].to_numpy(), x["missing"], names, alone)


KINDS_OF_SLOPES = {
    "slope": (False, False),
    "slope alone": (False, True),
    "slope within workers": (True, False),
    "slope within workers, alone": (True, True),
}


def of_kamoda(study: quoted_kamoda.Study, large: bool = False) -> pd.DataFrame:
    """Compute everything that two-way variances are used for on Kamoda et al."""
    ratings, evaluators = study.frames()
    clusters = ratings[quoted_intervals.TWO_WAYS]
    parts = []
    for name, (within, alone) in KINDS_OF_SLOPES.items():
        slopes = slopes_of(ratings, within, alone)
        slopes.value.index = name + ", " + slopes.value.index
        if large:
            parts.append(slopes.value)
            continue
        variances, _ = slopes.variances(clusters)
        _, df = slopes.errors_and_df(clusters)
        parts.append(table_of(slopes.value, variances, df))
    statistics = {}
    statistics["weights"] = (
        quoted_intervals.weights_and_ratios(ratings),
        clusters,
        quoted_intervals.WEIGHTS,
    )
    for judge, code in quoted_intervals.JUDGES.items():
        names = [f"{judge}, {name}" for name in quoted_intervals.GAINS]
        judged = evaluators[evaluators["evaluator"] == code]
        compute = aspects.judge_correlations(
            ratings, judged, quoted_intervals.IDEALS, kamoda.RANGES, "acceptability"
        )

        def contrasts(weights: np.ndarray, compute: Callable = compute) -> np.ndarray:
            return compute(weights) @ quoted_intervals.CONTRASTS

        statistics[judge] = (contrasts, clusters, names)
    choices = quoted_intervals.choices_table(study)
    statistics["choices"] = (
        quoted_intervals.share(choices["models"].to_numpy()),
        choices[quoted_intervals.TWO_WAYS],
        ["choices of a model's answer"],
    )
    for statistic, labels, names in statistics.values():
        if large:
            values = statistic(np.ones((1, len(labels))))[0]
            parts.append(pd.Series(values, names))
        else:
            parts.append(by_leaving_out(statistic, labels, names))
    return pd.concat(parts)


def of_hosking(study: quoted_intervals.Hosking, large: bool = False) -> pd.DataFrame:
    """How two people agree in experiment 1 of Hosking et al."""
    marks = study.often
    statistic = agreement.two_people(marks, "item_id", "factuality")
    names = quoted_intervals.TWO_PEOPLE
    if large:
        return pd.Series(statistic(np.ones((1, len(marks))))[0], names)
    return by_leaving_out(statistic, marks[["rater_id", "prompt_id"]], names)


STUDIES = {
    "Kamoda et al.": (quoted_intervals.kamoda_drawer, of_kamoda),
    OF_HOSKING: (quoted_intervals.hosking_drawer, of_hosking),
}


def try_study(
    number: int, drawn: Callable, compute: Callable, truth: pd.Series
) -> pd.DataFrame:
    """Draw a study: which intervals hold the truth by each rule, and their lengths."""
    warnings.simplefilter("ignore")
    table = compute(drawn(np.random.default_rng([SEED, number, 0])))
    found = variances_by_rule(table["first"], table["second"], table["both"])
    columns = {"differ": found[RULES[0]] != found[RULES[1]]}
    for rule, variance in found.items():
        margin = t.ppf(0.975, table["df"]) * np.sqrt(variance)
        columns[rule] = np.abs(table["estimate"] - truth) <= margin
        columns[f"{rule}, length"] = 2 * margin
    return pd.DataFrame(columns, index=table.index).astype(float)


def measure(n_sets: int) -> pd.DataFrame:
    """Coverage and median length of each quantity by each rule."""
    rows = []
    for name, (make, compute) in STUDIES.items():
        start = time.time()
        drawn, large = make()
        truth = compute(large(np.random.default_rng([SEED, 0, 2])), large=True)
        jobs = []
        for number in range(n_sets):
            jobs.append(joblib.delayed(try_study)(number, drawn, compute, truth))
        tables = pd.concat(joblib.Parallel(n_jobs=1)(jobs), keys=range(n_sets))
        for quantity in truth.index:
            found = tables.xs(quantity, level=1)
            row = {
                "study": name,
                "quantity": quantity,
                "n_sets": n_sets,
                "rules differ in %": 100 * found["differ"].mean(),
            }
            for rule in RULES:
                coverage, low, high = quoted_intervals.summarise(found[rule])
                row[rule] = coverage
                row[f"{rule}, low"] = low
                row[f"{rule}, high"] = high
                row[f"{rule}, length"] = found[f"{rule}, length"].median()
            rows.append(row)
        print(f"{name}: {time.time() - start:.0f} s", flush=True)
    return pd.DataFrame(rows)


def choose(table: pd.DataFrame) -> pd.DataFrame:
    """Failing rows and mean logarithm of lengths by rule, the one to take first."""
    found = {}
    for rule in RULES:
        fails = (table[f"{rule}, high"] < quoted_intervals.LOWEST).sum()
        length = np.log(table[f"{rule}, length"]).mean()
        found[rule] = {"fails": fails, "log length": length}
    return pd.DataFrame(found).T.sort_values(["fails", "log length"])


def main(n_sets: int | None = None) -> None:
    """Measure, say which rule is taken, and write benchmarks/quoted_two_way.csv."""
    table = measure(n_sets or N_SETS)
    print(choose(table))
    if n_sets is None:
        content = to_csv_bytes(table.round(3).set_index("study"))
        paths.replace_files({paths.ROOT / "benchmarks/quoted_two_way.csv": content})
    else:
        print(table.to_csv())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
