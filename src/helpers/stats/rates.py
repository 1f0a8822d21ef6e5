"""How often errors are marked: by arm, by rating, by crowd and experts, and by both together.

Labels are shares in [0, 1], rates are percentages and differences are percentage
points; every interval knows that several outputs answer the same prompt. Expert labels
count as the truth. Where experts labelled a random part of the outputs,
prediction-powered rates take off what the crowd misses or imagines there; this part
works on arrays, `helpers.robustness.crowd` on tables.
"""

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
import pandas as pd
from scipy.stats import norm
from statsmodels.stats.proportion import proportion_confint

from helpers.stats import bootstrap, lasso
from helpers.stats.checks import check_clusters, check_numeric
from helpers.stats.moments import cluster_sums

# the highest label that stays
REFUSAL_RULES = {"majority": 0.5, "any": 0.0, "none": 1.0}
TIES = {"half": 0.5, "error": 1.0, "no error": 0.0}
MEASURES = (
    "sensitivity",
    "specificity",
    "precision",
    "negative predictive value",
    "prevalence",
)
ESTIMATORS = ("crowd", "experts", "prediction-powered")


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
    """Share of outputs with each error in each group, in percent, with Wilson intervals.

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
    >>> outputs = pd.DataFrame({"arm": "a", "prompt_id": range(4), "refusal": [0, 0, 0, 1]})
    >>> error_rates(outputs, ["refusal"], "arm", "prompt_id").round(1)
      arm    error  n  estimate  low  high
    0   a  refusal  4      25.0  4.6  69.9
    """
    tables = {}
    for group, members in (
        outputs.groupby(by, observed=True) if by else [("all", outputs)]
    ):
        labels = members[list(errors)].to_numpy(dtype=float)
        parts = cluster_sums(labels, members[cluster])
        totals = cluster_sums(np.ones_like(labels), members[cluster])
        tables[group] = (
            _clustered_shares(parts, totals).set_axis(list(errors)).astype({"n": int})
        )
    table = pd.concat(tables, names=[by, "error"])
    return (table if by else table.droplevel(0)).reset_index()


def _clustered_shares(parts: np.ndarray, totals: np.ndarray) -> pd.DataFrame:
    """Shares in percent with Wilson intervals at the effective number of observations."""
    part, total = parts.sum(axis=0), totals.sum(axis=0)
    known = total > 0
    rate = np.divide(part, total, out=np.full(part.shape, np.nan), where=known)
    size = total / _design_effect(parts, totals, rate)
    low, high = np.full((2, *part.shape), np.nan)
    low[known], high[known] = proportion_confint(
        (rate * size)[known], size[known], method="wilson"
    )
    columns = {"n": total, "estimate": 100 * rate, "low": 100 * low, "high": 100 * high}
    return pd.DataFrame({name: values.ravel() for name, values in columns.items()})


def _design_effect(
    parts: np.ndarray, totals: np.ndarray, rate: np.ndarray
) -> np.ndarray:
    """How many times larger clusters make the variance of a share; at least 1."""
    total, n_clusters = totals.sum(axis=0), (totals > 0).sum(axis=0)
    independent = rate * (1 - rate) * total**2 * (n_clusters - 1)
    clustered = ((parts - rate * totals) ** 2).sum(axis=0) * n_clusters * (total - 1)
    effect = np.divide(
        clustered, independent, out=np.ones(total.shape), where=independent > 0
    )
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
        (percentage points; negative where the crowd finds fewer errors), ``low``,
        ``high``.

    References
    ----------
    Newcombe (1998), method 10; Hosking et al. (2024), Table 3.

    Examples
    --------
    >>> crowd = pd.DataFrame(
    ...     {"arm": ["a"], "error": ["factuality"], "estimate": 5.0, "low": 3.0, "high": 8.0})
    >>> expert = crowd.assign(estimate=20.0, low=12.0, high=32.0)
    >>> crowd_expert_gap(crowd, expert)[["estimate", "low", "high"]].round(1)
       estimate   low  high
    0     -15.0 -27.2  -6.5
    """
    keys = [
        column
        for column in crowd.columns
        if column not in ("n", "estimate", "low", "high")
    ]
    crowd, expert = (table.set_index(keys) for table in (crowd, expert))
    gap = crowd["estimate"] - expert["estimate"]
    below = np.hypot(
        crowd["estimate"] - crowd["low"], expert["high"] - expert["estimate"]
    )
    above = np.hypot(
        crowd["high"] - crowd["estimate"], expert["estimate"] - expert["low"]
    )
    rates = {"crowd": crowd["estimate"], "expert": expert["estimate"]}
    return pd.DataFrame(
        {**rates, "estimate": gap, "low": gap - below, "high": gap + above}
    ).reset_index()


def annotator_rates(
    crowd: pd.DataFrame,
    expert: pd.DataFrame,
    errors: Sequence[str],
    by: str | None,
    cluster: str,
) -> pd.DataFrame:
    """Error rates by crowd and by experts, and their difference, as in a table of the paper.

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
    >>> annotator_rates(outputs, outputs[2:], ["refusal"], None, "prompt_id")["estimate"]
    annotators  error
    crowd       refusal    25.0
    expert      refusal    50.0
    difference  refusal   -25.0
    Name: estimate, dtype: float64
    """
    shares = [error_rates(table, errors, by, cluster) for table in (crowd, expert)]
    tables = {
        "crowd": shares[0],
        "expert": shares[1],
        "difference": crowd_expert_gap(*shares),
    }
    keys = [by, "error"] if by else ["error"]
    columns = ["estimate", "low", "high"]
    return pd.concat(
        {w: t.set_index(keys)[columns] for w, t in tables.items()}, names=["annotators"]
    )


def arm_contrasts(
    crowd: pd.DataFrame,
    expert: pd.DataFrame,
    errors: Sequence[str],
    arms: Mapping[str, tuple[str, str]],
    n_boot: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """How error rates, and the crowd's distance from the experts, change between two arms.

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
    >>> outputs = pd.DataFrame({"arm": ["low", "high"] * 50, "prompt_id": np.arange(100) // 2,
    ...                         "factuality": [0, 1] * 50})
    >>> tone = {"tone": ("low", "high")}
    >>> rng = np.random.default_rng(0)
    >>> arm_contrasts(outputs, outputs, ["factuality"], tone, 99, rng)["estimate"]
    contrast  labels  error
    tone      crowd   factuality    100.0
              expert  factuality    100.0
              gap     factuality      0.0
    Name: estimate, dtype: float64
    """
    tables = {"crowd": crowd, "expert": expert}
    named = list(dict.fromkeys(arm for pair in arms.values() for arm in pair))
    rows = pd.concat(
        [tables[name].assign(labels=name) for name in tables], ignore_index=True
    )
    cells = {
        f"{labels} {arm} {error}": rows[error].where(
            (rows["labels"] == labels) & (rows["arm"] == arm)
        )
        for labels, arm, error in product(tables, named, errors)
    }
    cells = pd.DataFrame(cells | {"prompt_id": rows["prompt_id"]})
    columns = list(cells)[:-1]
    draws = bootstrap.bootstrap_means(cells, columns, "prompt_id", n_boot, rng)
    rates = np.vstack([cells[columns].mean(), draws]).reshape(
        -1, 2, len(named), len(errors)
    )
    results = {}
    for name, (subtracted, compared) in arms.items():
        change = 100 * (
            rates[:, :, named.index(compared)] - rates[:, :, named.index(subtracted)]
        )
        parts = {
            "crowd": change[:, 0],
            "expert": change[:, 1],
            "gap": change[:, 0] - change[:, 1],
        }
        for labels, x in parts.items():
            results[name, labels] = bootstrap.summary(x[0], x[1:], errors)
    return pd.concat(results, names=["contrast", "labels", "error"])


def rates_by_rating(
    outputs: pd.DataFrame,
    errors: Sequence[str],
    rating: str,
    width: float,
    min_outputs: int = 20,
) -> pd.DataFrame:
    """Error rates within bins of a perceived covariate.

    Parameters
    ----------
    outputs : pandas.DataFrame
        One row per output, with ``prompt_id``, the errors in [0, 1] and the covariate.
    errors : sequence of str
        Error columns.
    rating : str
        Column of the covariate, for example the mean ``"assertiveness"`` on a 1 to 5
        scale.
    width : float
        Width of a bin, in points of the rating; bins are centred on its multiples.
    min_outputs : int, optional
        Bins with fewer outputs are left out.

    Returns
    -------
    pandas.DataFrame
        Columns ``x`` (centre of the bin), ``error``, ``n``, ``estimate``, ``low``,
        ``high``.

    Raises
    ------
    ValueError
        If `width` is not positive.

    References
    ----------
    Hosking et al. (2024), Figures 5 and 12.

    Examples
    --------
    >>> outputs = pd.DataFrame({"assertiveness": [3.9, 4.1, 1.0], "factuality": [0, 1, 1],
    ...                         "prompt_id": [1, 2, 3]})
    >>> rates_by_rating(outputs, ["factuality"], "assertiveness", 1.0, min_outputs=2).round(1)
         x       error  n  estimate  low  high
    0  4.0  factuality  2      50.0  9.5  90.5
    """
    if not width > 0:
        raise ValueError(f"bin width must be positive, got {width}")
    binned = outputs.assign(x=(outputs[rating] / width).round() * width)
    rates = error_rates(binned, errors, "x", "prompt_id")
    return rates[rates["n"] >= min_outputs].reset_index(drop=True)


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
    columns = [rating, *errors]
    if within is not None:
        means = outputs.groupby(within)[columns].transform("mean")
        outputs = outputs.assign(**(outputs[columns] - means))
    varying = [error for error in errors if outputs[error].min() < outputs[error].max()]
    fits = {
        error: lasso.ols(outputs, [rating], error, "prompt_id").loc[rating]
        for error in varying
    }
    points = ["estimate", "low", "high"]
    lines = (
        pd.DataFrame(fits, index=[*points, "p_value"])
        .T.reindex(list(errors))
        .astype(float)
    )
    lines[points] *= 100
    return lines.rename_axis("error")


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
    for table in (crowd, expert):
        check_numeric(table, errors)
    design = [column for column in crowd if column not in errors]
    pairs = crowd.melt(design, list(errors), var_name="error", value_name="crowd")
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
    """Sensitivity, specificity, predictive values and prevalence in each group, in percent.

    Two intervals are given. Wilson's, at the effective number of outputs, stays
    meaningful where the crowd found nothing or everything. The percentile interval from
    resampled clusters has no width there, and with few positives it tends to be too
    narrow.

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
    >>> pairs = pd.DataFrame({"error": "factuality", "prompt_id": range(8),
    ...                       "crowd": [1, 0, 0, 0, 0, 0, 0, 1], "expert": 4 * [1] + 4 * [0]})
    >>> table = detection_rates(pairs, ["error"], "prompt_id", 99, np.random.default_rng(0))
    >>> table.loc[["sensitivity", "specificity"], ["n", "estimate", "low", "high"]].round(1)
                              n  estimate   low  high
    measure     error
    sensitivity factuality  4.0      25.0   4.6  69.9
    specificity factuality  4.0      75.0  30.1  95.4
    """
    parts, totals, names = _sums(pairs, by, cluster)
    weights = bootstrap.cluster_weights(len(parts), n_boot, rng)
    low, high = bootstrap.interval(
        100 * bootstrap.bootstrap_ratio(parts, totals, weights)
    )
    table = _clustered_shares(parts, totals).set_index(names)
    return table.assign(boot_low=low.ravel(), boot_high=high.ravel())


def _sums(
    pairs: pd.DataFrame, by: Sequence[str], cluster: str
) -> tuple[np.ndarray, np.ndarray, pd.MultiIndex]:
    """Numerators and denominators of the measures, (clusters, measures, groups), and names."""
    pairs = pairs.dropna(subset="expert")
    check_numeric(pairs, ["crowd", "expert"])
    check_clusters(pairs, cluster)
    crowd, expert = pairs["crowd"].to_numpy(float), pairs["expert"].to_numpy(float)
    found, passed = crowd * expert, (1 - crowd) * (1 - expert)
    numerators = np.column_stack([found, passed, found, passed, expert])
    denominators = np.column_stack(
        [expert, 1 - expert, crowd, 1 - crowd, np.ones(len(pairs))]
    )
    groups = pairs.groupby(list(by), sort=False)
    member = np.eye(groups.ngroups)[groups.ngroup().to_numpy(), None]
    parts, totals = (
        cluster_sums(values[:, :, None] * member, pairs[cluster])
        for values in (numerators, denominators)
    )
    names = pd.concat(dict.fromkeys(MEASURES, groups.size()), names=["measure"]).index
    return parts, totals, names


def label_terms(crowd: np.ndarray, expert: np.ndarray) -> np.ndarray:
    """What each output adds to the sums that prediction-powered rates need."""
    labelled = (~np.isnan(expert)).astype(float)
    truth, others = np.nan_to_num(expert), 1 - labelled
    seen, unseen = crowd * labelled, crowd * others
    terms = [labelled, truth, seen, truth * crowd, seen**2, others, unseen, unseen**2]
    return np.stack(terms, axis=-1)


def powered_rates(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Estimate the factor λ and the prediction-powered rate from sums."""
    n, truth, seen, product, square, others, unseen, unseen_square = np.moveaxis(
        sums, -1, 0
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        covariance = product / n - truth / n * (seen / n)
        everything = n + others
        spread = square + unseen_square - (seen + unseen) ** 2 / everything
        variance = spread / (everything - 1)
        best = covariance / ((1 + n / others) * variance)
        factor = np.where(spread > 1e-9, np.clip(best, 0, 1), 0.0)
        rate = truth / n + factor * (unseen / others - seen / n)
    return rate, factor


def estimates(sums: np.ndarray) -> np.ndarray:
    """Rates by crowd alone, by experts alone, and prediction-powered."""
    n, truth, seen, others, unseen = np.moveaxis(sums[..., [0, 1, 2, 5, 6]], -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.stack(
            [(seen + unseen) / (n + others), truth / n, powered_rates(sums)[0]]
        )


def independent_intervals(
    seen: np.ndarray, unseen: np.ndarray, truth: np.ndarray
) -> np.ndarray:
    """Normal 95 % intervals of each estimator that take outputs as independent (PPI++)."""
    crowd = np.concatenate([seen, unseen])
    expert = np.concatenate([truth, np.full(unseen.shape, np.nan)])
    factor = powered_rates(label_terms(crowd, expert).sum(axis=0))[1]
    estimators = [crowd], [truth], [truth - factor * seen, factor * unseen]
    return np.stack([_normal_interval(parts) for parts in estimators])


def _normal_interval(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Normal 95 % interval of a sum of means of independent parts."""
    centre = sum(part.mean(axis=0) for part in parts)
    error = np.sqrt(sum(part.var(axis=0) / len(part) for part in parts))
    margin = norm.ppf(0.975) * error
    return np.stack([centre - margin, centre + margin])


def cluster_draws(
    sums: np.ndarray, n_boot: int, rng: np.random.Generator
) -> np.ndarray:
    """Sums in bootstrap replicates: clusters with expert labels and others are drawn apart."""
    labelled = sums[:, :, 0].sum(axis=1) > 0
    draws = np.zeros((n_boot, *sums.shape[1:]))
    for kind in (labelled, ~labelled):
        if kind.any():
            weights = bootstrap.cluster_weights(int(kind.sum()), n_boot, rng)
            draws += np.tensordot(weights.astype(float), sums[kind], axes=1)
    return draws


def wilson_intervals(sums: np.ndarray) -> np.ndarray:
    """Wilson's 95 % intervals at the effective number of labels, allowing for clusters."""
    total, n_clusters = sums.sum(axis=0), len(sums)
    n, others = total[:, 0], total[:, 5]
    factor = powered_rates(total)[1]
    rates = np.clip(estimates(total), 0, 1)
    crowd = sums[..., 2] + sums[..., 6] - (sums[..., 0] + sums[..., 5]) * rates[0]
    influence = [
        crowd / (n + others),
        _rectifier(sums, 0.0) / n,
        _rectifier(sums, factor) / n + factor * _around_mean(sums, 6, 5) / others,
    ]
    variance = np.square(influence).sum(axis=1) * n_clusters / (n_clusters - 1)
    of_one_label = (rates * (1 - rates))[[0, 1, 1]]
    varies = (variance > 0) & (of_one_label > 0)
    most = np.stack([n + others, n, n + others])
    size = np.stack([n + others, n, n])
    size[varies] = np.minimum(of_one_label[varies] / variance[varies], most[varies])
    return np.stack(proportion_confint(rates * size, size, method="wilson"), axis=1)


def _rectifier(sums: np.ndarray, factor: np.ndarray | float) -> np.ndarray:
    """By how much each cluster's expert labels, less λ times the crowd's, exceed their mean."""
    return _around_mean(sums, 1, 0) - factor * _around_mean(sums, 2, 0)


def _around_mean(sums: np.ndarray, part: int, count: int) -> np.ndarray:
    """Sum of one term in each cluster, less its mean for every label counted."""
    return sums[..., part] - sums[..., count] * sums[..., part].sum(0) / sums[
        ..., count
    ].sum(0)
