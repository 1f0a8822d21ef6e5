"""How often errors are marked: by arm, by rating, by crowd and experts.

Labels are shares in [0, 1], rates are percentages and differences are percentage
points; every interval knows that several outputs answer the same prompt. Expert labels
count as the truth.
"""

from collections.abc import Mapping, Sequence
from itertools import chain, product

import numpy as np
import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from helpers.stats import bootstrap, lasso
from helpers.stats.checks import check_clusters, check_numeric
from helpers.stats.moments import cluster_sums

# the highest label with which an output stays
REFUSAL_RULES = {"majority": 0.5, "any": 0.0, "none": 1.0}
TIES = {"half": 0.5, "error": 1.0, "no error": 0.0}
MEASURES = (
    "sensitivity",
    "specificity",
    "precision",
    "negative predictive value",
    "prevalence",
)


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


def crowd_expert_gap(crowd: pd.DataFrame, expert: pd.DataFrame) -> pd.DataFrame:
    """Crowd rate minus expert rate for each group and error.

    The interval combines the two Wilson intervals by the square-and-add rule as if
    crowd and experts were independent. They are not: experts saw some of the crowd's
    outputs, which makes the two rates rise and fall together, so the interval is
    somewhat too wide rather than too narrow.

    Parameters
    ----------
    crowd, expert : pandas.DataFrame
        Results of `error_rates` with the same groups and errors.

    Returns
    -------
    pandas.DataFrame
        Columns of the groups, ``error``, ``crowd``, ``expert``, ``estimate``
        (percentage points; negative where the crowd marks fewer errors), ``low``,
        ``high``.

    References
    ----------
    Newcombe (1998), method 10; Hosking et al. (2024), Table 3.

    Examples
    --------
    >>> crowd = pd.DataFrame(
    ...     {"arm": ["a"], "error": ["factuality"],
    ...      "estimate": 5.0, "low": 3.0, "high": 8.0})
    >>> expert = crowd.assign(estimate=20.0, low=12.0, high=32.0)
    >>> crowd_expert_gap(crowd, expert)[["estimate", "low", "high"]].round(1)
       estimate   low  high
    0     -15.0 -27.2  -6.5
    """
    values = ["n", "estimate", "low", "high"]
    keys = [column for column in crowd.columns if column not in values]
    crowd = crowd.set_index(keys)
    expert = expert.set_index(keys)
    gap = crowd["estimate"] - expert["estimate"]
    # the gap is lowest where the crowd's rate is low and the experts' high
    crowd_below = crowd["estimate"] - crowd["low"]
    crowd_above = crowd["high"] - crowd["estimate"]
    expert_below = expert["estimate"] - expert["low"]
    expert_above = expert["high"] - expert["estimate"]
    table = pd.DataFrame(
        {
            "crowd": crowd["estimate"],
            "expert": expert["estimate"],
            "estimate": gap,
            "low": gap - np.hypot(crowd_below, expert_above),
            "high": gap + np.hypot(crowd_above, expert_below),
        }
    )
    return table.reset_index()


def annotator_rates(
    crowd: pd.DataFrame,
    expert: pd.DataFrame,
    errors: Sequence[str],
    by: str | None,
    cluster: str,
) -> pd.DataFrame:
    """Error rates by crowd and by experts, and their difference.

    Parameters
    ----------
    crowd, expert : pandas.DataFrame
        One row per output with labels in [0, 1].
    errors, by, cluster
        As in `error_rates`.

    Returns
    -------
    pandas.DataFrame
        ``estimate``, ``low``, ``high`` in percent, indexed by ``annotators``
        (``"crowd"``, ``"expert"``, ``"difference"``), `by` (if given) and ``error``.

    References
    ----------
    Hosking et al. (2024), Table 3 and Figure 4; Newcombe (1998), method 10.

    Examples
    --------
    >>> outputs = pd.DataFrame({"prompt_id": range(4), "refusal": [0, 0, 0, 1]})
    >>> table = annotator_rates(outputs, outputs[2:], ["refusal"], None, "prompt_id")
    >>> table["estimate"]
    annotators  error
    crowd       refusal    25.0
    expert      refusal    50.0
    difference  refusal   -25.0
    Name: estimate, dtype: float64
    """
    crowd_rates = error_rates(crowd, errors, by, cluster)
    expert_rates = error_rates(expert, errors, by, cluster)
    tables = {
        "crowd": crowd_rates,
        "expert": expert_rates,
        "difference": crowd_expert_gap(crowd_rates, expert_rates),
    }
    keys = ["error"] if by is None else [by, "error"]
    columns = ["estimate", "low", "high"]
    indexed = {
        annotators: table.set_index(keys)[columns]
        for annotators, table in tables.items()
    }
    return pd.concat(indexed, names=["annotators"])


def arm_contrasts(
    crowd: pd.DataFrame,
    expert: pd.DataFrame,
    errors: Sequence[str],
    arms: Mapping[str, tuple[str, str]],
    n_boot: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Change of error rates, and of the gap of crowd and experts, between two arms.

    Prompts are resampled, the same ones for crowd and experts, so that everything that
    two outputs of one prompt share is kept together.

    Parameters
    ----------
    crowd, expert : pandas.DataFrame
        One row per output with columns ``arm``, ``prompt_id`` and the errors, labels in
        [0, 1].
    errors : sequence of str
        Error columns.
    arms : mapping of str to (str, str)
        Name of each contrast, the arm to subtract and the arm to subtract it from, for
        example ``{"assertiveness": ("assertive_low", "assertive_high")}``.
    n_boot : int
        Number of bootstrap replicates.
    rng : numpy.random.Generator

    Returns
    -------
    pandas.DataFrame
        Indexed by ``contrast``, ``labels`` (``"crowd"``, ``"expert"``, ``"gap"``) and
        ``error``: ``estimate``, ``low``, ``high`` (percentage points) and a two-sided
        bootstrap ``p_value``.

    References
    ----------
    Hosking et al. (2024), section 3.2; Cameron, Gelbach and Miller (2008) for the
    resampling.

    Examples
    --------
    >>> outputs = pd.DataFrame(
    ...     {"prompt_id": np.arange(100) // 2, "arm": ["low", "high"] * 50,
    ...      "factuality": [0, 1] * 50})
    >>> tone = {"tone": ("low", "high")}
    >>> rng = np.random.default_rng(0)
    >>> arm_contrasts(outputs, outputs, ["factuality"], tone, 99, rng)["estimate"]
    contrast  labels  error
    tone      crowd   factuality    100.0
              expert  factuality    100.0
              gap     factuality      0.0
    Name: estimate, dtype: float64
    """
    used_arms = list(dict.fromkeys(chain.from_iterable(arms.values())))
    rows = pd.concat(
        [crowd.assign(labels="crowd"), expert.assign(labels="expert")],
        ignore_index=True,
    )
    # A column for each rate, empty where a row does not belong to it: all rates are
    # then means of the same replicates of prompts.
    cells = pd.DataFrame({"prompt_id": rows["prompt_id"]})
    for labels, arm, error in product(("crowd", "expert"), used_arms, errors):
        belongs = (rows["labels"] == labels) & (rows["arm"] == arm)
        cells[f"{labels} {arm} {error}"] = rows[error].where(belongs)
    columns = list(cells.columns[1:])
    draws = bootstrap.bootstrap_means(cells, columns, "prompt_id", n_boot, rng)
    # the estimates first, then the replicates: (1 + n_boot, labels, arms, errors)
    rates = np.vstack([cells[columns].mean(), draws])
    rates = rates.reshape(-1, 2, len(used_arms), len(errors))

    results = {}
    for name, (subtracted, compared) in arms.items():
        after = rates[:, :, used_arms.index(compared)]
        before = rates[:, :, used_arms.index(subtracted)]
        change = 100 * (after - before)
        changes = {
            "crowd": change[:, 0],
            "expert": change[:, 1],
            "gap": change[:, 0] - change[:, 1],
        }
        for labels, values in changes.items():
            results[name, labels] = bootstrap.summary(values[0], values[1:], errors)
    return pd.concat(results, names=["contrast", "labels", "error"])


def rate_slopes(
    outputs: pd.DataFrame, errors: Sequence[str], rating: str, within: str | None = None
) -> pd.DataFrame:
    """Change of each error rate for one more point of a rating, in percentage points.

    A linear probability model for each error with standard errors clustered by prompt.

    Parameters
    ----------
    outputs : pandas.DataFrame
        One row per output, with ``prompt_id``, the errors in [0, 1] and the rating.
    errors : sequence of str
        Error columns.
    rating : str
        Column of the covariate.
    within : str, optional
        Column of groups whose means are removed first, so that only differences between
        outputs of one group count, for example ``"arm"``.

    Returns
    -------
    pandas.DataFrame
        Indexed by ``error``: ``estimate``, ``low``, ``high``, ``p_value``; NaN for an
        error that no output, or every output, has.

    References
    ----------
    Hosking et al. (2024), section 3.2; Cameron and Miller (2015) for the standard
    errors.

    Examples
    --------
    >>> outputs = pd.DataFrame({"rating": [1.0, 2, 3, 4], "factuality": [1.0, 0, 1, 0],
    ...                         "prompt_id": [1, 2, 3, 4]})
    >>> rate_slopes(outputs, ["factuality"], "rating")["estimate"].round(1)
    error
    factuality   -20.0
    Name: estimate, dtype: float64
    """
    if within is not None:
        columns = [rating, *errors]
        means = outputs.groupby(within)[columns].transform("mean")
        outputs = outputs.assign(**(outputs[columns] - means))
    table = pd.DataFrame(
        index=pd.Index(list(errors), name="error"),
        columns=["estimate", "low", "high", "p_value"],
        dtype=float,
    )
    for error in errors:
        # an error that no output or every output has stays without a slope
        if outputs[error].min() < outputs[error].max():
            fit = lasso.ols(outputs, [rating], error, "prompt_id")
            table.loc[error] = fit.loc[rating, table.columns]
    points = ["estimate", "low", "high"]
    table[points] *= 100
    return table


def pair_labels(
    crowd: pd.DataFrame, expert: pd.DataFrame, errors: Sequence[str]
) -> pd.DataFrame:
    """Set the crowd's label of each output and kind of error beside the experts'.

    Parameters
    ----------
    crowd : pandas.DataFrame
        One row per output, named by ``item_id``, with the errors, labels in [0, 1].
        Other columns are kept.
    expert : pandas.DataFrame
        One row per output and expert, or per output, with the same errors.
    errors : sequence of str
        Error columns.

    Returns
    -------
    pandas.DataFrame
        One row per output and error: the other columns of `crowd`, ``error``, ``crowd``
        and ``expert``, the mean over experts, NaN where no expert labelled the output.

    Raises
    ------
    ValueError
        If an error column cannot be used.

    Examples
    --------
    >>> crowd = pd.DataFrame({"item_id": ["a", "b"], "factuality": [0.5, 0.0]})
    >>> expert = pd.DataFrame({"item_id": ["a", "a"], "factuality": [1, 0]})
    >>> pair_labels(crowd, expert, ["factuality"])
      item_id       error  crowd  expert
    0       a  factuality    0.5     0.5
    1       b  factuality    0.0     NaN
    """
    check_numeric(crowd, errors)
    check_numeric(expert, errors)
    others = [column for column in crowd if column not in errors]
    pairs = crowd.melt(others, list(errors), var_name="error", value_name="crowd")
    means = expert.groupby("item_id")[list(errors)].mean().stack()
    keys = pd.MultiIndex.from_frame(pairs[["item_id", "error"]])
    return pairs.assign(expert=means.reindex(keys).to_numpy())


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


def detection_rates(
    pairs: pd.DataFrame,
    by: Sequence[str],
    cluster: str,
    n_boot: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Sensitivity, specificity, predictive values, prevalence in percent, by group.

    Two intervals are given. Wilson's, at the effective number of outputs, stays
    meaningful where the crowd marked nothing or everything. The percentile interval
    from resampled clusters has no width there, and with few positives it tends to be
    too narrow.

    Parameters
    ----------
    pairs : pandas.DataFrame
        From `pair_labels`; rows without an expert label are left out.
    by : sequence of str
        Columns of groups, for example ``["error", "arm"]``.
    cluster : str
        Column of clusters, for example ``"prompt_id"``.
    n_boot : int
        Number of bootstrap replicates.
    rng : numpy.random.Generator

    Returns
    -------
    pandas.DataFrame
        Indexed by ``measure`` and `by`: ``n`` (outputs that the measure is a share of,
        such as those with the error for the sensitivity), ``estimate``, ``low`` and
        ``high`` (Wilson), ``boot_low`` and ``boot_high``; NaN where `n` is 0.

    Raises
    ------
    ValueError
        If labels cannot be used or there are fewer than two clusters.

    References
    ----------
    Altman and Bland (1994), Diagnostic tests 1 and 2; Wilson (1927); Korn and Graubard
    (1998) for the effective sample size.

    Examples
    --------
    >>> pairs = pd.DataFrame(
    ...     {"error": "factuality", "prompt_id": range(8),
    ...      "crowd": [1, 0, 0, 0, 0, 0, 0, 1], "expert": [1, 1, 1, 1, 0, 0, 0, 0]})
    >>> rng = np.random.default_rng(0)
    >>> table = detection_rates(pairs, ["error"], "prompt_id", 99, rng)
    >>> measures = ["sensitivity", "specificity"]
    >>> table.loc[measures, ["n", "estimate", "low", "high"]].round(1)
                              n  estimate   low  high
    measure     error
    sensitivity factuality  4.0      25.0   4.6  69.9
    specificity factuality  4.0      75.0  30.1  95.4
    """
    numerators, denominators, names = _measure_sums(pairs, by, cluster)
    weights = bootstrap.cluster_weights(len(numerators), n_boot, rng)
    draws = 100 * bootstrap.bootstrap_ratio(numerators, denominators, weights)
    low, high = bootstrap.interval(draws)
    table = _clustered_shares(numerators, denominators).set_index(names)
    return table.assign(boot_low=low.ravel(), boot_high=high.ravel())


def _measure_sums(
    pairs: pd.DataFrame, by: Sequence[str], cluster: str
) -> tuple[np.ndarray, np.ndarray, pd.MultiIndex]:
    """Numerators and denominators, (clusters, measures, groups), and names of these."""
    pairs = pairs.dropna(subset="expert")
    check_numeric(pairs, ["crowd", "expert"])
    check_clusters(pairs, cluster)
    crowd = pairs["crowd"].to_numpy(float)
    expert = pairs["expert"].to_numpy(float)
    true_positive = crowd * expert
    true_negative = (1 - crowd) * (1 - expert)
    # in the order of MEASURES
    parts = [true_positive, true_negative, true_positive, true_negative, expert]
    totals = [expert, 1 - expert, crowd, 1 - crowd, np.ones(len(pairs))]

    groups = pairs.groupby(list(by), sort=False)
    identity = np.eye(groups.ngroups)
    in_group = identity[groups.ngroup().to_numpy()][:, None, :]
    parts = np.column_stack(parts)[:, :, None] * in_group
    totals = np.column_stack(totals)[:, :, None] * in_group
    sizes = dict.fromkeys(MEASURES, groups.size())
    names = pd.concat(sizes, names=["measure"]).index
    numerators = cluster_sums(parts, pairs[cluster])
    denominators = cluster_sums(totals, pairs[cluster])
    return numerators, denominators, names
