"""How often the intervals that notebooks print hold the truth, on data drawn anew.

The tables of a study are taken for all there is, so that their own numbers are the
truth. Data sets as large are drawn from them, and each statistic of a notebook is
computed on each: does its interval hold the truth? Which statistics there are stands in
`benchmarks.coverage_statistics`, how data sets are drawn in
`benchmarks.coverage_designs`. `python -m benchmarks.coverage` writes data/coverage.csv;
a number after it, such as ``5``, is that of data sets, and then nothing is written.
"""

import os
import sys
from collections.abc import Sequence

import joblib
import numpy as np
import pandas as pd

from benchmarks.coverage_designs import DESIGNS, Design, Tables
from benchmarks.coverage_statistics import STATISTICS, Statistic
from helpers import paths
from helpers.data.tables import to_csv_bytes
from helpers.robustness.coverage import AT_ONCE, TRUTH_ZERO

ROUNDING = 1e-9  # an interval may miss the truth by so much, as a share of it
N_SETS = 100
N_BOOT = 300  # replicates of each bootstrap interval
SEED = 20240917


def held(
    statistic: Statistic, tables: Tables, truth: pd.Series, n_boot: int, seed: list[int]
) -> pd.Series:
    """1 where the interval from these tables holds the truth, 0 where it does not.

    Missing where there is no interval.
    """
    rng = np.random.default_rng(seed)
    try:
        table = statistic.compute(tables, n_boot, rng)
    except (ValueError, np.linalg.LinAlgError):  # the data set was refused
        return pd.Series(np.nan, truth.index)
    table = table.reindex(truth.index)
    slack = ROUNDING * (truth.abs() + 1)
    above = table["low"] <= truth + slack
    below = table["high"] >= truth - slack
    return (above & below).astype(float).where(table["low"].notna())


def truth_of(statistic: Statistic, tables: Tables, n_boot: int) -> pd.Series:
    """Estimates from the tables that are taken for all there is."""
    table = statistic.compute(tables, n_boot, np.random.default_rng(SEED))
    return table["estimate"].dropna()


def try_set(
    number: int,
    design: Design,
    statistics: Sequence[Statistic],
    tables: Tables,
    truths: Sequence[pd.Series],
    n_boot: int,
    seed: int,
) -> list[pd.Series]:
    """Draw a data set and say for each statistic which intervals hold the truth."""
    # The draw and the bootstrap have generators of their own: with the same numbers a
    # resample would repeat the draw. Each statistic starts its bootstrap anew, so that
    # its result does not depend on which others are tried.
    drawn = design.draw(tables, np.random.default_rng([seed, number, 0]))
    results = []
    for statistic, truth in zip(statistics, truths, strict=True):
        results.append(held(statistic, drawn, truth, n_boot, [seed, number, 1]))
    return results


def measure(
    design: Design,
    statistics: Sequence[Statistic],
    n_sets: int,
    n_boot: int,
    seed: int,
    n_jobs: int = 1,
    data_source: str = "auto",
) -> list[pd.DataFrame]:
    """Try statistics on data sets drawn by a design.

    Parameters
    ----------
    design : Design
        Tables and how others are drawn.
    statistics : sequence of Statistic
        Those of this design.
    n_sets : int
        Data sets; those of a shorter run are the first of a longer one.
    n_boot : int
        Bootstrap replicates of each interval.
    seed : int
        Of the random numbers.
    n_jobs : int, optional
        Processes.
    data_source : {"auto", "real", "simulated"}, optional
        As for the notebooks.

    Returns
    -------
    list of pandas.DataFrame, each of shape (n_sets, n_intervals)
        For each statistic 1 where an interval holds the truth, 0 where it does not,
        missing where there is none. Intervals that are meant to hold together are one
        column, ``all``. The columns name the kind, with ", truth zero" where zero is
        the truth, and the interval.
    """
    tables = design.load(data_source)
    truths = [truth_of(statistic, tables, n_boot) for statistic in statistics]
    task = joblib.delayed(try_set)
    sets = joblib.Parallel(n_jobs)(
        task(number, design, statistics, tables, truths, n_boot, seed)
        for number in range(n_sets)
    )
    covered = []
    for place, statistic in enumerate(statistics):
        rows = [each[place] for each in sets]
        table = pd.DataFrame(rows).reset_index(drop=True)
        truth = truths[place]
        if statistic.kind.endswith(AT_ONCE):
            table = table.min(axis="columns", skipna=False).to_frame("all")
            truth = pd.Series(1.0, table.columns)
        kind = np.where(truth == 0, statistic.kind + TRUTH_ZERO, statistic.kind)
        columns = pd.MultiIndex.from_arrays([kind, table.columns])
        covered.append(table.set_axis(columns, axis="columns"))
    return covered


def count(covered: pd.DataFrame) -> pd.DataFrame:
    """Count for each interval how often it holds the truth.

    ``effective`` is the number of independent intervals that would vary as much from
    data set to data set as their share does.
    """
    by_set = covered.mean(axis="columns").dropna()
    share = by_set.mean()
    variance = by_set.var(ddof=1) / len(by_set)
    effective = share * (1 - share) / variance if variance > 0 else len(by_set)
    return pd.DataFrame(
        {
            "covered": covered.eq(1).sum(),
            "missed": covered.eq(0).sum(),
            "undefined": covered.isna().sum(),
            "effective": effective,
        }
    )


def measure_all(
    statistics: Sequence[Statistic],
    n_sets: int,
    n_boot: int,
    seed: int,
    n_jobs: int = 1,
    data_source: str = "auto",
) -> pd.DataFrame:
    """Measure the coverage of statistics, each on data sets of its design.

    Parameters
    ----------
    statistics : sequence of Statistic
        See `benchmarks.coverage_statistics.STATISTICS`.
    n_sets, n_boot, seed, n_jobs, data_source
        As for `measure`.

    Returns
    -------
    pandas.DataFrame
        Numbers of intervals that ``covered`` and ``missed`` the truth or were
        ``undefined``, and the ``effective`` number of independent ones, by ``interval``
        (its kind), ``notebook`` and ``statistic`` (title and name), in the order of the
        statistics.
    """
    covered = {}
    for name in dict.fromkeys(statistic.design for statistic in statistics):
        of_design = [each for each in statistics if each.design == name]
        results = measure(
            DESIGNS[name], of_design, n_sets, n_boot, seed, n_jobs, data_source
        )
        covered |= dict(zip(of_design, results, strict=True))
    parts = []
    for statistic in statistics:
        table = covered[statistic]
        for kind in table.columns.unique(0):
            counts = count(table[kind])
            names = [f"{statistic.title}: {name}" for name in counts.index]
            keys = {"interval": kind, "notebook": statistic.notebook}
            parts.append(counts.assign(**keys, statistic=names))
    keys = ["interval", "notebook", "statistic"]
    return pd.concat(parts).set_index(keys)


def main(n_sets: int | None = None) -> None:
    """Measure the coverage of all statistics, into data/coverage.csv."""
    table = measure_all(STATISTICS, n_sets or N_SETS, N_BOOT, SEED, os.cpu_count())
    if n_sets is None:
        paths.replace_files({paths.DATA / "coverage.csv": to_csv_bytes(table)})
        print(f"written: data/coverage.csv, {len(table):,} intervals")
    else:
        print(table.to_csv())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
