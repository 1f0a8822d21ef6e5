"""How often errors are labelled, with ties and refusals settled by a rule.

Labels are shares in [0, 1], rates are percentages and differences are percentage
points; every interval knows that several outputs answer the same prompt.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.stats import beta, t

from helpers.stats.moments import cluster_sums

# the highest label with which an output stays
REFUSAL_RULES = {"majority": 0.5, "any": 0.0, "none": 1.0}
TIES = {"half": 0.5, "error": 1.0, "no error": 0.0}


def drop_refusals(outputs: pd.DataFrame, rule: str) -> pd.DataFrame:
    """Leave out the outputs that were labelled as refusing to respond.

    Parameters
    ----------
    outputs : pandas.DataFrame
        One row per output, with a column ``refusal`` in [0, 1] (share after
        tie-averaged mode).
    rule : {"majority", "any", "none"}
        ``"majority"`` drops outputs whose label is 1, ``"any"`` also drops ties,
        ``"none"`` keeps every output.

    Returns
    -------
    pandas.DataFrame
        The outputs that stay, in their order.

    Raises
    ------
    ValueError
        If the rule is unknown.

    References
    ----------
    Hosking et al. (2024), section 3.2 and Appendix F.

    Examples
    --------
    >>> outputs = pd.DataFrame({"refusal": [0.0, 0.5, 1.0]})
    >>> [len(drop_refusals(outputs, rule)) for rule in REFUSAL_RULES]
    [2, 1, 3]
    """
    if rule not in REFUSAL_RULES:
        known = tuple(REFUSAL_RULES)
        raise ValueError(f"refusal rule {rule!r} is unknown: choose one of {known}")
    return outputs[outputs["refusal"] <= REFUSAL_RULES[rule]]


def error_rates(
    outputs: pd.DataFrame, errors: Sequence[str], by: str | None, cluster: str
) -> pd.DataFrame:
    """Percentage of outputs with each error by group, with Wilson intervals.

    The interval is Wilson's with the effective number of outputs, that is the number
    divided by the design effect of the clusters; it stays meaningful at a rate of zero,
    where a bootstrap interval would have no width.

    Parameters
    ----------
    outputs : pandas.DataFrame
        One row per output.
    errors : sequence of str
        Columns with error labels in [0, 1].
    by : str or None
        Column of groups, for example ``"arm"``; None takes all outputs together.
    cluster : str
        Column of clusters, for example ``"prompt_id"``.

    Returns
    -------
    pandas.DataFrame
        One row per group and error: `by` (if given), ``error``, ``n``, ``estimate``,
        ``low``, ``high``.

    References
    ----------
    Wilson (1927); Korn and Graubard (1998) for the effective sample size.

    Examples
    --------
    >>> outputs = pd.DataFrame(
    ...     {"arm": "a", "prompt_id": range(4), "refusal": [0, 0, 0, 1]})
    >>> error_rates(outputs, ["refusal"], "arm", "prompt_id").round(1)
      arm    error  n  estimate  low  high
    0   a  refusal  4      25.0  4.6  69.9
    """
    groups = [("all", outputs)]
    if by is not None:
        groups = outputs.groupby(by, observed=True)
    tables = {}
    for group, members in groups:
        labels = members[list(errors)].to_numpy(dtype=float)
        marked = cluster_sums(labels, members[cluster])
        totals = cluster_sums(np.ones_like(labels), members[cluster])
        shares = _clustered_shares(marked, totals).set_axis(list(errors))
        tables[group] = shares.astype({"n": int})
    table = pd.concat(tables, names=[by, "error"])
    if by is None:
        table = table.droplevel(0)
    return table.reset_index()


def _clustered_shares(marked: np.ndarray, totals: np.ndarray) -> pd.DataFrame:
    """Percentages from sums by cluster; Wilson intervals that allow for clusters."""
    # here, since `ratings`, which imports this module, works without statsmodels
    from statsmodels.stats.proportion import proportion_confint

    n_marked = marked.sum(axis=0)
    n = totals.sum(axis=0)
    known = n > 0
    undefined = np.full(n.shape, np.nan)
    rate = np.divide(n_marked, n, out=undefined.copy(), where=known)
    # as many independent observations would tell as much as these in clusters
    effective_n = n / _design_effect(marked, totals, rate)
    low = undefined.copy()
    high = undefined.copy()
    low[known], high[known] = proportion_confint(
        (rate * effective_n)[known], effective_n[known], method="wilson"
    )
    return pd.DataFrame(
        {
            "n": n.ravel(),
            "estimate": 100 * rate.ravel(),
            "low": 100 * low.ravel(),
            "high": 100 * high.ravel(),
        }
    )


def _design_effect(
    marked: np.ndarray, totals: np.ndarray, rate: np.ndarray
) -> np.ndarray:
    """How many times larger clusters make the variance of a share; at least 1."""
    n = totals.sum(axis=0)
    n_clusters = (totals > 0).sum(axis=0)
    # Both variances times the same factors, so that one division is enough: a share of
    # independent outputs has rate (1 - rate) / (n - 1), one of clusters the squared
    # sums of their residuals times n_clusters / (n_clusters - 1) / n².
    independent = rate * (1 - rate) * n**2 * (n_clusters - 1)
    residuals = marked - rate * totals
    clustered = (residuals**2).sum(axis=0) * n_clusters * (n - 1)
    no_effect = np.ones(n.shape)
    effect = np.divide(clustered, independent, out=no_effect, where=independent > 0)
    return np.maximum(1.0, effect)


def wilson(means: pd.DataFrame) -> pd.DataFrame:
    """Rates in %, with Wilson's interval for the effective number of rows.

    Parameters
    ----------
    means : pandas.DataFrame
        Shares from 0 to 1, as `helpers.stats.leave_out` gives means: ``estimate``,
        ``standard_error`` and ``df``; further ``n``, their rows, and ``most``, the
        clusters of the kind (raters or prompts) that has more.

    Returns
    -------
    pandas.DataFrame
        With ``estimate``, ``standard_error``, ``low`` and ``high`` in %; without
        ``p_value``. At 0 and 100 % the interval is the exact one of ``most`` rows.

    References
    ----------
    Wilson (1927); Korn and Graubard (1998); Clopper and Pearson (1934).

    Examples
    --------
    >>> share = {"estimate": 0.1, "standard_error": 0.03, "df": np.inf}
    >>> means = pd.DataFrame([share | {"n": 200, "most": 40}]).assign(p_value=0.5)
    >>> wilson(means)[["estimate", "low", "high"]].round(1)
       estimate  low  high
    0      10.0  5.5  17.4
    """
    from statsmodels.stats.proportion import proportion_confint

    rate = means["estimate"].to_numpy()
    n = means["n"].to_numpy(dtype=float)
    variance = means["standard_error"].to_numpy() ** 2
    df = means["df"].fillna(1).to_numpy()
    # fewer degrees of freedom count like fewer rows (Korn and Graubard 1998)
    factor = (t.ppf(0.975, np.inf) / t.ppf(0.975, df)) ** 2
    inside = (rate > 0) & (rate < 1)
    spread = rate * (1 - rate)
    by_variance = np.divide(spread, variance, out=n.copy(), where=variance > 0)
    effective = np.where(variance > 0, np.minimum(by_variance, n) * factor, n)
    low, high = proportion_confint(rate * effective, effective, method="wilson")
    most = means["most"].to_numpy(dtype=float)
    tail = beta.ppf(0.025, most, 1)  # of the share that was seen in all or none
    low = np.where(inside, low, np.where(rate == 1, tail, 0.0))
    high = np.where(inside, high, np.where(rate == 0, 1 - tail, 1.0))
    known = ~np.isnan(rate)
    ends = {
        "estimate": 100 * rate,
        "low": np.where(known, 100 * low, np.nan),
        "high": np.where(known, 100 * high, np.nan),
        "standard_error": 100 * means["standard_error"],
    }
    return means.assign(**ends).drop(columns="p_value")


def settle_ties(labels: pd.Series, ties: str) -> pd.Series:
    """Decide what an output counts on which exactly half of the raters marked an error.

    Parameters
    ----------
    labels : pandas.Series
        Labels in [0, 1].
    ties : {"half", "error", "no error"}
        Whether one half stays, becomes 1 or becomes 0. Other labels are not touched.

    Returns
    -------
    pandas.Series

    Raises
    ------
    ValueError
        If the rule is unknown.

    Examples
    --------
    >>> settle_ties(pd.Series([0.0, 0.5, 1.0]), "error").tolist()
    [0.0, 1.0, 1.0]
    """
    if ties not in TIES:
        raise ValueError(
            f"rule for ties {ties!r} is unknown: choose one of {tuple(TIES)}"
        )
    return labels.where(labels != 0.5, TIES[ties])
