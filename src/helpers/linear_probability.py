"""Least squares on an outcome of 0 and 1: by how much each feature moves its probability.

One fit, several standard errors. HC0 (White) lets the variance differ from row to row but takes
rows for independent; clustered errors let rows that share a cluster move together.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import norm
from statsmodels.regression.linear_model import OLS

from helpers.clustered import Estimates
from helpers.files.tables import check_full_rank, check_regression

INTERCEPT = "intercept"


@dataclass(frozen=True, eq=False)
class LinearProbability:
    """A fitted model, made by `fit`.

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
            points and ``p_value``, see `helpers.clustered.Estimates.table`.

        Raises
        ------
        ValueError
            As `helpers.clustered.covariance`.
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


def fit(frame: pd.DataFrame, features: Sequence[str], outcome: str) -> LinearProbability:
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
    >>> model = fit(frame, ["hard"], "error")
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
