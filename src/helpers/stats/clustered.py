"""Estimates with intervals that allow for rows sharing a rater, a prompt, or both.

Two ratings by one person are alike, and so are two ratings of one prompt. Each estimate
comes with the influence of every row on it. Adding up influence within raters, and
within prompts, shows how far the estimate would move with others. Built on it: linear
models of a yes-or-no outcome, single error marks compared between arms, and chi-squared
tests of categories.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.stats import chi2, ncx2, t

from helpers.stats import checks
from helpers.stats.moments import ROUNDING, cluster_sums

TOLD_APART = 1e-9  # share of its variance that a feature's neighbours must leave
NUMBERS = (
    *(
        "n",
        "groups",
        "smallest_expected",
        "chi2",
        "p_value",
        "design_effect",
        "p_clustered",
    ),
    *("estimate", "low", "high"),
)  # of a test of association


@dataclass(frozen=True, eq=False)
class Estimates:
    """Numbers estimated from the same rows.

    Parameters
    ----------
    value : pandas.Series
        The estimates by name.
    influence : numpy.ndarray, shape (n_rows, n_estimates)
        What each row adds to the error of each estimate, to first order: for a mean,
        the row's distance from the mean divided by the number of rows.

    References
    ----------
    Huber (1967) and White (1982) for the variance as a sum of squared influence.

    Examples
    --------
    >>> marks = np.array([1.0, 0.0, 1.0, 0.0])
    >>> mean = Estimates(pd.Series({"rate": 0.5}), ((marks - 0.5) / 4)[:, None])
    >>> clusters = pd.DataFrame({"rater_id": ["a", "a", "b", "c"]})
    >>> mean.table(clusters)[["estimate", "standard_error"]].round(3)
          estimate  standard_error
    rate       0.5           0.217
    """

    value: pd.Series
    influence: np.ndarray

    def pick(self, names: Sequence) -> "Estimates":
        """Choose estimates, in any order and as often as wanted.

        Parameters
        ----------
        names : sequence
            Names among those of `value`.

        Returns
        -------
        Estimates
        """
        positions = [self.value.index.get_loc(name) for name in names]
        return Estimates(self.value.iloc[positions], self.influence[:, positions])

    def times(self, factor: float) -> "Estimates":
        """Express the estimates in another unit, or with the sign turned.

        Parameters
        ----------
        factor : float
            For example 100 for percentage points.

        Returns
        -------
        Estimates
        """
        return Estimates(factor * self.value, factor * self.influence)

    def minus(self, other: "Estimates") -> "Estimates":
        """Subtract estimates from the same rows, one from each, in their order.

        Parameters
        ----------
        other : Estimates
            As many estimates from the same rows.

        Returns
        -------
        Estimates
            Named as these.
        """
        return Estimates(
            self.value - other.value.to_numpy(), self.influence - other.influence
        )

    def table(self, clusters: pd.DataFrame) -> pd.DataFrame:
        """Set out the estimates with cluster-robust intervals.

        Parameters
        ----------
        clusters : pandas.DataFrame, shape (n_rows, 1 or 2)
            The clusters of each row, for example its rater and its prompt.

        Returns
        -------
        pandas.DataFrame
            ``estimate``, ``standard_error``, 95 % interval ``low`` and ``high``, and
            ``p_value``, from a t distribution with (smaller number of clusters - 1)
            degrees of freedom. All but the estimate are NaN where the estimated
            variance is zero.

        Raises
        ------
        ValueError
            As `covariance`.

        References
        ----------
        Cameron and Miller (2015), A Practitioner's Guide to Cluster-Robust Inference,
        section V.
        """
        error = np.sqrt(np.diagonal(covariance(self.influence, clusters)))
        error = np.where(error > 0, error, np.nan)
        return t_table(self.value, error, freedom=clusters.nunique().min() - 1)


def t_table(
    value: pd.Series, error: np.ndarray, freedom: float | np.ndarray
) -> pd.DataFrame:
    """Estimates with 95 % intervals and p-values from a t distribution."""
    estimate = value.to_numpy()
    margin = t.ppf(0.975, freedom) * error
    numbers = {
        "estimate": estimate,
        "standard_error": error,
        "low": estimate - margin,
        "high": estimate + margin,
        "p_value": 2 * t.sf(np.abs(estimate) / error, freedom),
    }
    return pd.DataFrame(numbers, index=value.index)


@dataclass(frozen=True, eq=False)
class Slopes(Estimates):
    """Least-squares slopes, made by `slopes`, whose intervals bear few and unequal clusters.

    Parameters
    ----------
    value, influence
        See `Estimates`.
    leverage : numpy.ndarray, shape (n_rows, n_estimates)
        Share of each row in the variation that tells a slope; the sum over rows is 1.
    """

    leverage: np.ndarray

    def table(self, clusters: pd.DataFrame) -> pd.DataFrame:
        """Set out the slopes with intervals that allow for how much hangs on single clusters.

        The influence of a cluster is divided by 1 less its leverage, as if the slope
        were computed without it (CR3, the jackknife). Clusters count as many as would
        be as telling if all had the same leverage.

        Parameters
        ----------
        clusters : pandas.DataFrame, shape (n_rows, 1 or 2)
            The clusters of each row, for example its rater and its prompt.

        Returns
        -------
        pandas.DataFrame
            As `Estimates.table`, with ``freedom``, degrees of freedom of each slope:
            the smaller effective number of clusters less one. If the two-way variance
            is not positive, the larger one-way variance is taken.

        References
        ----------
        MacKinnon, Nielsen and Webb (2023), Cluster-robust inference: A guide to
        empirical practice; Carter, Schnepel and Steigerwald (2017), for the effective
        number.
        """
        error, freedom = self.errors([column for _, column in clusters.items()])
        return t_table(self.value, error, freedom).assign(freedom=freedom)

    def errors(self, ways: Sequence[ArrayLike]) -> tuple[np.ndarray, np.ndarray]:
        """Compute standard errors and degrees of freedom for one or two kinds of clusters."""
        variances, sizes = self.parts(ways)
        variance = variances[0]
        if len(ways) == 2:
            two_way = variances[0] + variances[1] - variances[2]
            variance = np.where(two_way > 0, two_way, np.maximum(*variances[:2]))
        freedom = np.maximum(np.minimum.reduce(sizes[: len(ways)]) - 1, 1)
        return np.where(variance > 0, np.sqrt(variance), np.nan), freedom

    def parts(self, ways: Sequence[ArrayLike]) -> tuple[tuple, tuple]:
        """Variances by each kind of cluster and by both at once, and effective numbers of them."""
        codes = [pd.factorize(labels)[0] for labels in ways]
        both = [codes[0] * (codes[1].max() + 1) + codes[1]] if len(codes) == 2 else []
        return tuple(zip(*map(self._jackknife, codes + both), strict=True))

    def _jackknife(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Variance by one kind of cluster, and how many clusters that is worth."""
        sums = cluster_sums(np.stack([self.influence, self.leverage], axis=1), codes)
        left = np.maximum(1 - sums[:, 1], ROUNDING)
        return ((sums[:, 0] / left) ** 2).sum(axis=0), 1 / (sums[:, 1] ** 2).sum(axis=0)


def slopes(x: np.ndarray, y: ArrayLike, names: Sequence, alone: bool = False) -> Slopes:
    """Least-squares slopes of a centred outcome on centred features, each alone or all together.

    Parameters
    ----------
    x : numpy.ndarray, shape (n_rows, n_features)
        Features, none of them constant, less their means (or the means of each rater).
    y : array-like, shape (n_rows,)
        Outcome, less the same means.
    names : sequence
        Of the features.
    alone : bool, optional
        One feature at a time; by default each slope holds the other features equal.
        Slopes of features that are combinations of others are then arbitrary, those of
        the others are not.

    Returns
    -------
    Slopes

    Examples
    --------
    >>> found = slopes(np.array([[-1.0], [-1.0], [1.0], [1.0]]), [-2.0, -1.0, 1.0, 2.0], ["tone"])
    >>> found.table(pd.DataFrame({"rater": range(4)})).round(2)
          estimate  standard_error   low  high  p_value  freedom
    tone       1.5            0.33  0.44  2.56     0.02      3.0
    """
    length = np.sqrt((x**2).sum(axis=0))
    unit, y = x / length, np.asarray(y, dtype=float)
    inverse = np.eye(len(length))
    if not alone:
        inverse = np.linalg.pinv(unit.T @ unit, rcond=TOLD_APART, hermitian=True)
    weights = unit @ inverse
    found = weights.T @ y
    residual = y[:, None] - (unit * found if alone else (unit @ found)[:, None])
    leverage = weights**2 / np.diagonal(inverse)
    return Slopes(
        pd.Series(found / length, list(names)), weights * residual / length, leverage
    )


def covariance(influence: np.ndarray, clusters: pd.DataFrame) -> np.ndarray:
    """Cluster-robust covariance of estimates, one-way or two-way."""
    for column in clusters:
        checks.check_clusters(clusters, column)
    one_way = [_one_way(influence, clusters[column]) for column in clusters]
    if len(one_way) == 1:
        return one_way[0]
    both = clusters.groupby(list(clusters.columns), observed=True).ngroup()
    return _without_negative_eigenvalues(sum(one_way) - _one_way(influence, both))


def _one_way(influence: np.ndarray, labels: pd.Series) -> np.ndarray:
    """Covariance that allows for one kind of cluster."""
    sums = cluster_sums(influence, labels)
    return sums.T @ sums * len(sums) / (len(sums) - 1)


def _without_negative_eigenvalues(matrix: np.ndarray) -> np.ndarray:
    """Set negative eigenvalues, and those that are rounding errors, to zero."""
    eigenvalues, vectors = np.linalg.eigh(matrix)
    smallest = ROUNDING * np.abs(eigenvalues).max()
    return (vectors * np.where(eigenvalues > smallest, eigenvalues, 0.0)) @ vectors.T


def linear_model(
    frame: pd.DataFrame, features: Sequence[str], outcome: str, intercept: bool = True
) -> Any:
    """Least squares; stop at a feature that carries nothing new."""
    # here, as it takes long to load
    from statsmodels.regression.linear_model import OLS

    checks.check_full_rank(frame[list(features)].drop_duplicates(), features, intercept)
    design = frame[list(features)].astype(float)
    if intercept:
        design.insert(0, "intercept", 1.0)
    return OLS(frame[outcome].astype(float), design)


def fit_linear_probability(
    frame: pd.DataFrame, features: Sequence[str], outcome: str
) -> Estimates:
    """Fit a linear probability model with an intercept.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per observation.
    features : sequence of str
        Columns that explain.
    outcome : str
        Column of 0 and 1.

    Returns
    -------
    Estimates
        Intercept and coefficients in percentage points.

    Raises
    ------
    ValueError
        If a column cannot be used, or a feature is constant or a combination of those
        before it.

    References
    ----------
    Wooldridge (2010), Econometric Analysis of Cross Section and Panel Data, section
    15.2; Sicilia et al. (2024), HumBEL, appendix F.

    Examples
    --------
    >>> frame = pd.DataFrame({"hard": [0, 0, 0, 0, 1, 1, 1, 1], "error": [0, 0, 0, 1, 0, 1, 1, 1],
    ...                       "cue": list("abcdabcd")})
    >>> model = fit_linear_probability(frame, ["hard"], "error")
    >>> model.table(frame[["cue"]])[["estimate", "standard_error"]].round(1)
               estimate  standard_error
    intercept      25.0            25.0
    hard           50.0            28.9
    """
    checks.check_regression(frame, features, outcome)
    fit = linear_model(frame, features, outcome).fit()
    influence = fit.resid.to_numpy()[:, None] * (
        fit.model.exog @ fit.normalized_cov_params
    )
    return Estimates(100.0 * fit.params, 100.0 * np.asarray(influence))


def mark_contrasts(
    marks: pd.DataFrame,
    errors: Sequence[str],
    arms: Mapping[str, tuple[str, str]],
    within: str | None = None,
) -> Estimates:
    """Change of the share of marks between arms, from a linear probability model.

    Parameters
    ----------
    marks : pandas.DataFrame
        One row per rated output and rater, with ``arm`` and the errors, 0 or 1.
    errors : sequence of str
        Error columns.
    arms : mapping of str to (str, str)
        Name of each contrast, the arm to subtract and the arm to subtract it from.
    within : str, optional
        Column of raters whose own level is removed: arms are compared within raters,
        and raters who saw one arm only say nothing. By default shares are compared as
        they are.

    Returns
    -------
    Estimates
        Percentage points, named by (contrast, error).

    Raises
    ------
    ValueError
        If an error column cannot be used.

    References
    ----------
    Wooldridge (2010), Econometric Analysis of Cross Section and Panel Data, sections
    10.5 (fixed effects) and 15.2 (linear probability model).

    Examples
    --------
    >>> marks = pd.DataFrame({"arm": ["low", "high"] * 2, "rater_id": ["a", "a", "b", "b"],
    ...                       "factuality": [0, 1, 1, 1]})
    >>> contrasts = mark_contrasts(marks, ["factuality"], {"tone": ("low", "high")}, "rater_id")
    >>> contrasts.value.round(1)
    contrast  error
    tone      factuality    50.0
    dtype: float64
    """
    checks.check_numeric(marks, errors)
    weights = _contrast_weights(marks["arm"], arms)
    design = pd.get_dummies(marks["arm"], dtype=float)[weights.columns]
    outcomes = 100.0 * marks[list(errors)]
    if within is not None:
        checks.check_clusters(marks, within)
        design, outcomes = (
            table - table.groupby(marks[within]).transform("mean")
            for table in (design, outcomes)
        )
    x, y = design.to_numpy(), outcomes.to_numpy()
    inverse = np.linalg.pinv(x.T @ x, rcond=1e-9, hermitian=True)
    coefficients = inverse @ (x.T @ y)
    leverage = x @ inverse @ weights.to_numpy().T
    influence = leverage[:, :, None] * (y - x @ coefficients)[:, None, :]
    names = pd.MultiIndex.from_product(
        [weights.index, list(errors)], names=["contrast", "error"]
    )
    changes = pd.Series((weights.to_numpy() @ coefficients).ravel(), names)
    return Estimates(changes, influence.reshape(len(marks), -1))


def _contrast_weights(
    arm: pd.Series, arms: Mapping[str, tuple[str, str]]
) -> pd.DataFrame:
    """Weight of each arm in each contrast."""
    weights = pd.DataFrame(0.0, index=list(arms), columns=sorted(arm.unique()))
    for name, (subtracted, compared) in arms.items():
        for label, sign in ((subtracted, -1.0), (compared, 1.0)):
            weights.loc[name, label] += sign
    return weights


def associations(
    frame: pd.DataFrame, categories: Sequence[str], outcome: str, cluster: str
) -> pd.DataFrame:
    """Test whether an outcome depends on each of several categories, with Bonferroni's correction.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per observation.
    categories : sequence of str
        Columns of labels; a row without a label is left out of that test.
    outcome : str
        Column of 0 and 1.
    cluster : str
        Column of clusters.

    Returns
    -------
    pandas.DataFrame
        One row per test: ``n`` rows; ``groups``; ``smallest_expected`` count in the
        table; ``chi2`` of Pearson; ``p_value``; ``design_effect``; ``p_clustered`` from
        chi2 divided by it; both p-values times the number of tests, at most 1
        (``p_bonferroni``, ``p_clustered_bonferroni``); Cramér's V as ``estimate``, with
        ``low`` and ``high``. Where the smallest expected count is below 5, p-values are
        not to be trusted: merge rare labels. The numbers of a test with one group only
        are NaN.

    Raises
    ------
    ValueError
        If the outcome cannot be used or there are fewer than two clusters.

    Notes
    -----
    Chance alone makes chi2 as large as the number of groups less one, times the design
    effect. This is taken off before the estimate of V is computed. The interval holds
    the values under which the observed statistic is neither too small nor too large, at
    2.5 % each.

    References
    ----------
    Rao and Scott (1984), On Chi-Squared Tests for Multiway Contingency Tables with Cell
    Proportions Estimated from Survey Data; Bergsma (2013), A bias-correction for
    Cramér's V; Steiger (2004), Beyond the F Test, for the interval.

    Examples
    --------
    >>> frame = pd.DataFrame({"part": ["noun", "verb"] * 40, "error": [0, 1, 1, 1] * 20,
    ...                       "cue": range(80)})
    >>> associations(frame, ["part"], "error", "cue")[["n", "chi2", "estimate"]].round(2)
           n   chi2  estimate
    part  80  26.67      0.57
    """
    checks.check_numeric(frame, [outcome])
    checks.check_clusters(frame, cluster)
    samples = [
        frame[[name, outcome, cluster]].dropna(subset=name) for name in categories
    ]
    tests = pd.DataFrame(map(_test, samples), index=list(categories), columns=NUMBERS)
    family = tests[["p_value", "p_clustered"]]
    corrected = (family * family.count()).clip(upper=1.0)
    corrected.columns = ["p_bonferroni", "p_clustered_bonferroni"]
    return tests.join(corrected)


def _test(rows: pd.DataFrame) -> dict[str, float]:
    """Test one category; columns are the labels, the outcome and the clusters."""
    label, outcome, cluster = (rows[column] for column in rows)
    codes, groups = pd.factorize(label)
    counts = np.bincount(codes)
    share = outcome.mean()
    variance = share * (1 - share)
    result = {"n": len(rows), "groups": len(groups)}
    if len(groups) < 2 or variance == 0:
        return result
    rates = np.bincount(codes, outcome) / counts
    statistic = (counts * (rates - share) ** 2).sum() / variance
    freedom = len(groups) - 1
    effect = _design_effect(
        codes, rates, outcome.to_numpy(), cluster, variance / counts
    )
    low, high = (
        _noncentrality(statistic / effect, freedom, tail) for tail in (0.975, 0.025)
    )
    chance = max(statistic / effect - freedom, 0.0)
    return result | {
        "smallest_expected": counts.min() * min(share, 1 - share),
        "chi2": statistic,
        "p_value": chi2.sf(statistic, freedom),
        "design_effect": effect,
        "p_clustered": chi2.sf(statistic / effect, freedom),
        "estimate": np.sqrt(effect * chance / len(rows)),
        "low": np.sqrt(effect * low / len(rows)),
        "high": np.sqrt(effect * high / len(rows)),
    }


def _design_effect(
    codes: np.ndarray,
    rates: np.ndarray,
    outcome: np.ndarray,
    cluster: pd.Series,
    independent: np.ndarray,
) -> float:
    """Mean factor by which clusters raise the variance of differences between group rates."""
    counts = np.bincount(codes)
    member = codes[:, None] == np.arange(len(counts))
    influence = member * (outcome - rates[codes])[:, None] / counts
    differences = np.eye(len(counts))[1:] - np.eye(len(counts))[0]
    clustered = differences @ covariance(influence, cluster.to_frame()) @ differences.T
    expected = differences @ np.diag(independent) @ differences.T
    return float(np.trace(np.linalg.solve(expected, clustered)) / len(differences))


def _noncentrality(statistic: float, freedom: int, tail: float) -> float:
    """Noncentrality at which a statistic so small or smaller has this probability; 0 if none."""
    if chi2.cdf(statistic, freedom) <= tail:
        return 0.0
    upper = statistic + 10 * np.sqrt(statistic) + 10 * freedom
    return brentq(
        lambda center: ncx2.cdf(statistic, freedom, center) - tail, 0.0, upper
    )
