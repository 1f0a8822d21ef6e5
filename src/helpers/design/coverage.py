"""How often intervals hold the truth, measured on data sets drawn from a known population.

Data sets of the size of a table are drawn from it (see `helpers.design.populations`), and each goes
through the very function that printed the interval. The numbers of the table are the truth.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

from helpers.design.populations import Population
from helpers.stats.bootstrap import adjust

NOMINAL = 0.95
ROUNDING = 1e-9  # an interval may miss the truth by so much, as a share of it

Method = Callable[[pd.DataFrame, np.random.Generator], pd.DataFrame]


def measure(method: Method, population: Population, n_sets: int, seed: int) -> pd.DataFrame:
    """Draw data sets and see whether each interval holds the number of the population.

    Parameters
    ----------
    method : callable
        Takes a table and a generator and returns ``estimate``, ``low`` and ``high`` by name.
    population : Population
        Where data sets come from. Its estimates are the truth.
    n_sets : int
        Number of data sets.
    seed : int
        Of the random numbers.

    Returns
    -------
    pandas.DataFrame, shape (n_sets, n_statistics)
        1 where the interval holds the truth and 0 where it does not; NaN where the method
        refuses the data set or gives no interval. Columns are named as by the method, with a
        last level ``zero``: whether the truth is exactly zero.

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, section 18.3 (a sample in the
    place of the population); Morris, White and Crowther (2019), Using simulation studies to
    evaluate statistical methods, section 5.2.

    Examples
    --------
    >>> from helpers.design.populations import Clusters
    >>> outputs = pd.DataFrame({"prompt_id": range(40), "score": [1.0, 2.0] * 20})
    >>> def everything(frame, rng):
    ...     return pd.DataFrame({"estimate": frame["score"].mean(), "low": 1.0, "high": 2.0},
    ...                         index=["mean"])
    >>> measure(everything, Clusters(outputs, "prompt_id"), 3, 0).mean().tolist()
    [1.0]
    """
    rng = np.random.default_rng(seed)
    truth = method(population.frame, rng)["estimate"].dropna()
    slack = ROUNDING * truth.abs() + ROUNDING
    covered = []
    for _ in range(n_sets):
        sample = population.sample(rng)
        try:
            found = method(sample, rng).reindex(truth.index)
        except ValueError:
            found = pd.DataFrame(np.nan, truth.index, ["low", "high"])
        holds = (found["low"] <= truth + slack) & (found["high"] >= truth - slack)
        covered.append(holds.astype(float).where(found["low"].notna()))
    table = pd.DataFrame(covered).reset_index(drop=True)
    names = truth.index.to_frame(index=False).assign(zero=truth.to_numpy() == 0)
    table.columns = pd.MultiIndex.from_frame(names)
    return table


def count(covered: pd.DataFrame) -> pd.DataFrame:
    """Count for each statistic how many intervals hold the truth.

    Parameters
    ----------
    covered : pandas.DataFrame, shape (n_sets, n_statistics)
        1, 0 or NaN, as from `measure`.

    Returns
    -------
    pandas.DataFrame
        A row per statistic: ``covered`` and ``missed`` intervals, and ``undefined`` ones.
        ``effective`` is the number of intervals of all statistics together that would tell as
        much if they were independent, which those of one data set are not.

    References
    ----------
    Korn and Graubard (1998) for the effective number.

    Examples
    --------
    >>> count(pd.DataFrame({"refusal": [1.0, 1.0, 0.0, np.nan]}))
             covered  missed  undefined  effective
    refusal        2       1          1        2.0
    """
    by_set = covered.mean(axis="columns").dropna()
    share, variance = by_set.mean(), by_set.var(ddof=1) / len(by_set)
    effective = share * (1 - share) / variance if variance > 0 else len(by_set)
    return pd.DataFrame(
        {
            "covered": covered.eq(1).sum(),
            "missed": covered.eq(0).sum(),
            "undefined": covered.isna().sum(),
            "effective": effective,
        }
    )


def summary(counts: pd.DataFrame) -> pd.Series:
    """Average coverage of several statistics, and the lowest of them.

    Parameters
    ----------
    counts : pandas.DataFrame
        Rows of the result of `count`.

    Returns
    -------
    pandas.Series
        ``statistics``, their number; ``estimate``, the mean share of intervals that hold the
        truth, with a 95 % interval ``low`` and ``high`` for the chance of simulation (Wilson's,
        at the effective number); ``lowest``, the coverage of the statistic with the lowest one,
        named in ``where``; ``too low``, how many are below 95 % beyond chance (one-sided binomial
        tests at 5 %, Holm over the statistics); ``undefined``, the share without an interval.

    References
    ----------
    Wilson (1927); Morris, White and Crowther (2019), section 5.2.

    Examples
    --------
    >>> counts = pd.DataFrame({"covered": [95, 80], "missed": [5, 20], "undefined": 0,
    ...                        "effective": 150.0}, index=["refusal", "scope"])
    >>> summary(counts)[["estimate", "lowest", "where", "too low"]].tolist()
    [0.875, 0.8, 'scope', 1]
    """
    n_sets = counts["covered"] + counts["missed"]
    each = counts["covered"] / n_sets
    share, effective = each.mean(), counts["effective"].mean()
    low, high = proportion_confint(share * effective, effective, method="wilson")
    tests = binom.cdf(counts["covered"], n_sets, NOMINAL)
    return pd.Series(
        {
            "statistics": len(each),
            "estimate": float(share),
            "low": low,
            "high": high,
            "lowest": float(each.min()),
            "where": each.idxmin(),
            "too low": int((adjust(tests) < 0.05).sum()),
            "undefined": float((counts["undefined"] / (n_sets + counts["undefined"])).mean()),
        }
    )
