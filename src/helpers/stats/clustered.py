"""Estimates with intervals that allow for rows sharing a rater, a prompt, or both.

Two ratings by one person are alike, and so are two ratings of one prompt. Each estimate here comes
with the influence of every row on it. Adding up influence within raters, and within prompts, shows
how far the estimate would move with other raters and other prompts.

Least squares on an outcome of 0 and 1: by how much each feature moves its probability.

One fit, several standard errors. HC0 (White) lets the variance differ from row to row but takes
rows for independent; clustered errors let rows that share a cluster move together.

Single error marks: how they change between arms, with and without each rater's own leniency.

Averages over raters hide that some people mark many errors and others hardly any. Here every mark
counts by itself. All numbers are percentage points.

Is a category associated with a yes-or-no outcome? Chi-squared tests and how strong the link is.

Pearson's test takes rows for independent. Where rows share a cluster its statistic is too large by
some factor, the mean design effect, which is estimated and divided out (Rao and Scott).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats
from scipy.optimize import brentq
from scipy.stats import chi2, ncx2, norm
from statsmodels.regression.linear_model import OLS

from helpers.files.tables import check_clusters, check_full_rank, check_numeric, check_regression
from helpers.stats.moments import ROUNDING, cluster_sums


@dataclass(frozen=True, eq=False)
class Estimates:
    """Numbers estimated from the same rows.

    Parameters
    ----------
    value : pandas.Series
        The estimates by name.
    influence : numpy.ndarray, shape (n_rows, n_estimates)
        What each row adds to the error of each estimate, to first order: for a mean, the row's
        distance from the mean divided by the number of rows.

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

        Raises
        ------
        ValueError
            If there is no estimate of that name.
        """
        positions = self.value.index.get_indexer(pd.Index(names))
        if (positions < 0).any():
            known = ", ".join(map(str, self.value.index))
            raise ValueError(
                f"no estimate {names[np.argmax(positions < 0)]!r}: choose among {known}"
            )
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

        Raises
        ------
        ValueError
            If the numbers of rows or of estimates differ.
        """
        if self.influence.shape != other.influence.shape:
            rows, estimates = zip(self.influence.shape, other.influence.shape, strict=True)
            raise ValueError(
                f"cannot subtract {estimates[1]} estimates from {rows[1]} rows from "
                f"{estimates[0]} estimates from {rows[0]} rows: rows and numbers must agree"
            )
        return Estimates(self.value - other.value.to_numpy(), self.influence - other.influence)

    def table(self, clusters: pd.DataFrame) -> pd.DataFrame:
        """Set out the estimates with cluster-robust intervals.

        Parameters
        ----------
        clusters : pandas.DataFrame, shape (n_rows, 1 or 2)
            The clusters of each row, for example its rater and its prompt.

        Returns
        -------
        pandas.DataFrame
            ``estimate``, ``standard_error``, 95 % interval ``low`` and ``high``, and ``p_value``,
            from a t distribution with (smaller number of clusters - 1) degrees of freedom. All
            but the estimate are NaN where the estimated variance is zero.

        Raises
        ------
        ValueError
            As `covariance`.

        References
        ----------
        Cameron and Miller (2015), A Practitioner's Guide to Cluster-Robust Inference, section V.
        """
        error = np.sqrt(np.diagonal(covariance(self.influence, clusters)))
        error = np.where(error > 0, error, np.nan)
        freedom = clusters.nunique().min() - 1
        margin = stats.t.ppf(0.975, freedom) * error
        return pd.DataFrame(
            {
                "estimate": self.value,
                "standard_error": error,
                "low": self.value - margin,
                "high": self.value + margin,
                "p_value": 2 * stats.t.sf(np.abs(self.value) / error, freedom),
            }
        )


def covariance(influence: np.ndarray, clusters: pd.DataFrame) -> np.ndarray:
    """Cluster-robust covariance of estimates, one-way or two-way."""
    if clusters.shape[1] not in (1, 2):
        raise ValueError(f"got {clusters.shape[1]} columns of clusters: give one or two")
    if len(clusters) != len(influence):
        raise ValueError(
            f"clusters have {len(clusters)} rows, the estimates come from {len(influence)}: "
            "give the clusters of the same rows"
        )
    for column in clusters:
        check_clusters(clusters, column)
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


INTERCEPT = "intercept"


@dataclass(frozen=True, eq=False)
class LinearProbability:
    """A fitted model, made by `fit_linear_probability`.

    Parameters
    ----------
    estimates : Estimates
        The intercept and the coefficients in percentage points, with the influence of each row.
    fitted : numpy.ndarray, shape (n_rows,)
        Probability of the outcome that the model gives each row; it may leave the range 0 to 1.
    """

    estimates: Estimates
    fitted: np.ndarray

    def hc0(self) -> pd.DataFrame:
        """Set out the coefficients with White's standard errors.

        Returns
        -------
        pandas.DataFrame
            As `clustered`, from a normal distribution.

        References
        ----------
        White (1980), A Heteroskedasticity-Consistent Covariance Matrix Estimator.
        """
        error = np.sqrt((self.estimates.influence**2).sum(axis=0))
        margin = norm.ppf(0.975) * error
        value = self.estimates.value
        return pd.DataFrame(
            {
                "estimate": value,
                "standard_error": error,
                "low": value - margin,
                "high": value + margin,
                "p_value": 2 * norm.sf(np.abs(value) / error),
            }
        )

    def clustered(self, clusters: pd.DataFrame) -> pd.DataFrame:
        """Set out the coefficients with standard errors clustered one or two ways.

        Parameters
        ----------
        clusters : pandas.DataFrame, shape (n_rows, 1 or 2)
            The clusters of each row of the fit.

        Returns
        -------
        pandas.DataFrame
            ``estimate``, ``standard_error``, 95 % interval ``low`` and ``high`` in percentage
            points and ``p_value``, see `helpers.stats.clustered.Estimates.table`.

        Raises
        ------
        ValueError
            As `helpers.stats.clustered.covariance`.
        """
        return self.estimates.table(clusters)

    def impossible(self) -> float:
        """Share of rows whose fitted probability is below 0 or above 1.

        Returns
        -------
        float

        References
        ----------
        Horrace and Oaxaca (2006), Results on the bias and inconsistency of ordinary least squares
        for the linear probability model.
        """
        return float(np.mean((self.fitted < 0) | (self.fitted > 1)))


def fit_linear_probability(
    frame: pd.DataFrame, features: Sequence[str], outcome: str
) -> LinearProbability:
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
    LinearProbability

    Raises
    ------
    ValueError
        If a column cannot be used, the outcome is not 0 or 1, or a feature is constant or a
        combination of those before it.

    References
    ----------
    Wooldridge (2010), Econometric Analysis of Cross Section and Panel Data, section 15.2; Sicilia
    et al. (2024), HumBEL, appendix F.

    Examples
    --------
    >>> frame = pd.DataFrame({"hard": [0, 0, 0, 0, 1, 1, 1, 1], "error": [0, 0, 0, 1, 0, 1, 1, 1],
    ...                       "cue": list("abcdabcd")})
    >>> model = fit_linear_probability(frame, ["hard"], "error")
    >>> model.hc0()[["estimate", "standard_error"]].round(1)
               estimate  standard_error
    intercept      25.0            21.7
    hard           50.0            30.6
    >>> model.clustered(frame[["cue"]])["standard_error"].round(1).tolist()
    [25.0, 28.9]
    """
    check_regression(frame, features, outcome)
    _check_yes_or_no(frame[outcome])
    check_full_rank(frame[list(features)].drop_duplicates(), features, intercept=True)
    design = frame[list(features)].astype(float)
    design.insert(0, INTERCEPT, 1.0)
    fitted = OLS(frame[outcome].astype(float), design).fit()
    influence = fitted.resid.to_numpy()[:, None] * (
        design.to_numpy() @ fitted.normalized_cov_params
    )
    estimates = Estimates(fitted.params, np.asarray(influence)).times(100.0)
    return LinearProbability(estimates, fitted.fittedvalues.to_numpy())


def _check_yes_or_no(outcome: pd.Series) -> None:
    """Stop at the first value other than 0 and 1."""
    wrong = ~outcome.isin([0, 1])
    if wrong.any():
        row = outcome.index[wrong][0]
        raise ValueError(
            f"column {outcome.name!r} is {outcome[wrong].iloc[0]} in row {row}: "
            "a linear probability model explains 0 and 1"
        )


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
        Column of raters whose own level is removed: arms are compared within raters, and raters
        who saw one arm only say nothing. By default shares are compared as they are.

    Returns
    -------
    Estimates
        Percentage points, named by (contrast, error).

    Raises
    ------
    ValueError
        If an error column cannot be used, an arm has no marks, or raters do not link the arms of
        a contrast.

    References
    ----------
    Wooldridge (2010), Econometric Analysis of Cross Section and Panel Data, sections 10.5 (fixed
    effects) and 15.2 (linear probability model).

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
    check_numeric(marks, errors)
    weights = _contrast_weights(marks["arm"], arms)
    design = pd.get_dummies(marks["arm"], dtype=float)[weights.columns]
    outcomes = 100.0 * marks[list(errors)]
    if within is not None:
        check_clusters(marks, within)
        design, outcomes = (_center(table, marks[within]) for table in (design, outcomes))
    x, y = design.to_numpy(), outcomes.to_numpy()
    inverse = np.linalg.pinv(x.T @ x, rcond=1e-9, hermitian=True)
    _check_linked(weights, inverse @ (x.T @ x), within)
    coefficients = inverse @ (x.T @ y)
    leverage = x @ inverse @ weights.to_numpy().T
    influence = leverage[:, :, None] * (y - x @ coefficients)[:, None, :]
    names = pd.MultiIndex.from_product([weights.index, list(errors)], names=["contrast", "error"])
    changes = pd.Series((weights.to_numpy() @ coefficients).ravel(), names)
    return Estimates(changes, influence.reshape(len(marks), -1))


def _contrast_weights(arm: pd.Series, arms: Mapping[str, tuple[str, str]]) -> pd.DataFrame:
    """Weight of each arm in each contrast."""
    known = sorted(arm.unique())
    weights = pd.DataFrame(0.0, index=list(arms), columns=known)
    for name, (subtracted, compared) in arms.items():
        for label, sign in ((subtracted, -1.0), (compared, 1.0)):
            if label not in known:
                raise ValueError(f"no marks in arm {label!r}: the table has the arms {known}")
            weights.loc[name, label] += sign
    return weights


def _center(table: pd.DataFrame, groups: pd.Series) -> pd.DataFrame:
    """Remove the mean of each group."""
    return table - table.groupby(groups).transform("mean")


def _check_linked(weights: pd.DataFrame, projection: np.ndarray, within: str | None) -> None:
    """Stop unless the rows tell every contrast."""
    told = np.isclose(weights @ projection, weights, atol=1e-6).all(axis=1)
    if not told.all():
        raise ValueError(
            f"contrast {weights.index[~told][0]!r}: nobody in column {within!r} saw both arms, "
            "directly or by way of others; compare the arms without `within`"
        )


RULE_OF_FIVE = 5.0  # smallest expected count for which the chi-squared distribution is trusted
_TESTED = ("smallest_expected", "chi2", "p_value", "design_effect", "p_clustered")
_STRENGTH = ("estimate", "low", "high")


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
        One row per test: ``n`` rows; ``groups``; ``smallest_expected`` count in the table;
        ``chi2`` of Pearson; ``p_value``; ``design_effect``; ``p_clustered`` from chi2 divided by
        it; both p-values times the number of tests, at most 1 (``p_bonferroni``,
        ``p_clustered_bonferroni``); Cramér's V as ``estimate``, with ``low`` and ``high``; and
        ``sparse``, a warning that an expected count is below `RULE_OF_FIVE`, so that p-values are
        not to be trusted: see `merge_rare`. The numbers of a test with one group only are NaN.

    Raises
    ------
    ValueError
        If a column is unknown, the outcome is not 0 or 1 or never varies, or there are fewer than
        two clusters.

    Notes
    -----
    Chance alone makes chi2 as large as the number of groups less one, times the design effect.
    This is taken off before the estimate of V is computed. The interval holds the values under
    which the observed statistic is neither too small nor too large, at 2.5 % each.

    References
    ----------
    Rao and Scott (1984), On Chi-Squared Tests for Multiway Contingency Tables with Cell
    Proportions Estimated from Survey Data; Bergsma (2013), A bias-correction for Cramér's V;
    Steiger (2004), Beyond the F Test, for the interval.

    Examples
    --------
    >>> frame = pd.DataFrame({"part": ["noun", "verb"] * 40, "error": [0, 1, 1, 1] * 20,
    ...                       "cue": range(80)})
    >>> associations(frame, ["part"], "error", "cue")[["n", "chi2", "estimate"]].round(2)
           n   chi2  estimate
    part  80  26.67      0.57
    """
    _check_labels(frame, categories)
    _check_outcome(frame, outcome)
    check_clusters(frame, cluster)
    columns = [outcome, cluster]
    tests = pd.DataFrame(
        {name: _test(frame[[name, *columns]].dropna(subset=name)) for name in categories}
    ).T.astype({"n": int, "groups": int})
    for p_value in ("p_value", "p_clustered"):
        family = tests[p_value]
        corrected = p_value.removesuffix("_value") + "_bonferroni"
        tests[corrected] = (family * family.count()).clip(upper=1.0)
    return tests.assign(sparse=tests["smallest_expected"] < RULE_OF_FIVE)


def merge_rare(labels: pd.Series, at_least: int, name: str = "other") -> pd.Series:
    """Put labels that are rarer than wanted under one name.

    Parameters
    ----------
    labels : pandas.Series of str
        One label per row.
    at_least : int
        Rows that a label needs to stay.
    name : str, optional
        What the others are called.

    Returns
    -------
    pandas.Series of str

    Examples
    --------
    >>> merge_rare(pd.Series(["noun", "noun", "verb"]), 2).tolist()
    ['noun', 'noun', 'other']
    """
    return labels.where(labels.map(labels.value_counts()) >= at_least, name)


def _check_labels(frame: pd.DataFrame, categories: Sequence[str]) -> None:
    """Stop unless the table has every column of labels."""
    unknown = [name for name in categories if name not in frame]
    if unknown:
        known = ", ".join(map(str, frame.columns))
        raise ValueError(f"column {unknown[0]!r} is not in the table, which has: {known}")


def _check_outcome(frame: pd.DataFrame, outcome: str) -> None:
    """Stop unless the outcome is 0 in some rows and 1 in all others."""
    check_numeric(frame, [outcome])
    values = set(frame[outcome].unique())
    if values != {0, 1}:
        shown = ", ".join(f"{value:g}" for value in sorted(values)[:3])
        raise ValueError(f"column {outcome!r} holds {shown}: a yes-or-no outcome needs 0 and 1")


def _test(rows: pd.DataFrame) -> dict[str, float]:
    """Test one category; columns are the labels, the outcome and the clusters."""
    label, outcome, cluster = (rows[column] for column in rows)
    codes, groups = pd.factorize(label)
    result = {"n": len(rows), "groups": len(groups)}
    counts = np.bincount(codes)
    share = outcome.mean()
    variance = share * (1 - share)
    if len(groups) < 2 or variance == 0:
        return result | dict.fromkeys([*_TESTED, *_STRENGTH], np.nan)
    rates = np.bincount(codes, outcome) / counts
    statistic = (counts * (rates - share) ** 2).sum() / variance
    freedom = len(groups) - 1
    effect = _design_effect(codes, rates, outcome.to_numpy(), cluster, variance / counts)
    low, high = (_noncentrality(statistic / effect, freedom, tail) for tail in (0.975, 0.025))
    chance = max(statistic / effect - freedom, 0.0)
    strength = np.sqrt(effect * np.array([chance, low, high]) / len(rows))
    tested = [
        counts.min() * min(share, 1 - share),
        statistic,
        chi2.sf(statistic, freedom),
        effect,
        chi2.sf(statistic / effect, freedom),
    ]
    return result | dict(zip([*_TESTED, *_STRENGTH], [*tested, *strength], strict=True))


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
    return brentq(lambda center: ncx2.cdf(statistic, freedom, center) - tail, 0.0, upper)
