"""Tables of error rates by crowd, by experts, and by both together (prediction-powered).

Tables have one row per output and kind of error with ``crowd`` in [0, 1] and ``expert``, NaN where
no expert labelled the output; see `helpers.stats.rates.pair_labels`. Rates are percentages.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from helpers.files.tables import check_clusters, check_numeric
from helpers.stats.bootstrap import bootstrap_p_value, interval
from helpers.stats.rates import (
    ESTIMATORS,
    cluster_draws,
    estimates,
    independent_intervals,
    label_terms,
    powered_rates,
    wilson_intervals,
)


def rates(
    pairs: pd.DataFrame,
    by: Sequence[str],
    cluster: str,
    n_boot: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Error rates by crowd alone, experts alone and both, with three kinds of 95 % interval.

    Parameters
    ----------
    pairs : pandas.DataFrame
        One row per output and error.
    by : sequence of str
        Columns of groups, for example ``["error", "arm"]``.
    cluster : str
        Column of clusters, for example ``"prompt_id"``.
    n_boot : int
        Number of bootstrap replicates.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    pandas.DataFrame
        ``estimate``, ``low`` and ``high``, indexed by ``estimator`` ("crowd", "experts",
        "prediction-powered"), ``interval`` and `by`. Intervals: "independent" is that of the
        package ppi_py, "resampled" from resampled clusters with λ chosen anew in each replicate,
        "Wilson" at the effective number of labels.

    Raises
    ------
    ValueError
        If labels cannot be used, there are fewer than two clusters of a kind, or a group lacks
        outputs with or without an expert label.

    References
    ----------
    Angelopoulos et al. (2023), Prediction-powered inference, Science 382; Angelopoulos, Duchi and
    Zrnic (2023), PPI++.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.binomial(1, 0.3, 400)
    >>> pairs = pd.DataFrame({"error": "factuality", "prompt_id": np.arange(400),
    ...                       "crowd": truth * rng.binomial(1, 0.5, 400),
    ...                       "expert": np.where(np.arange(400) < 100, truth, np.nan)})
    >>> table = rates(pairs, ["error"], "prompt_id", 99, rng)
    >>> table.xs("Wilson", level="interval").round(1)
                                   estimate   low  high
    estimator          error
    crowd              factuality      17.0  13.6  21.0
    experts            factuality      37.0  28.2  46.8
    prediction-powered factuality      34.3  27.2  42.3
    """
    groups, sums = _prepare(pairs, by, cluster)
    ends = {
        "independent": _independent(groups),
        "resampled": np.stack(interval(estimates(cluster_draws(sums, n_boot, rng)), axis=1), 1),
        "Wilson": wilson_intervals(sums),
    }
    rows = zip(ESTIMATORS, estimates(sums.sum(axis=0)), strict=True)
    tables = {
        (estimator, kind): pd.DataFrame(
            {"estimate": rate, "low": bounds[number][0], "high": bounds[number][1]},
            index=groups.size().index,
        )
        for number, (estimator, rate) in enumerate(rows)
        for kind, bounds in ends.items()
    }
    return 100 * pd.concat(tables, names=["estimator", "interval"])


def crowd_bias(
    pairs: pd.DataFrame,
    by: Sequence[str],
    cluster: str,
    n_boot: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Crowd's rate minus the prediction-powered rate, in percentage points.

    Parameters
    ----------
    pairs, by, cluster, n_boot, rng
        As in `rates`.

    Returns
    -------
    pandas.DataFrame
        Indexed by `by`: ``estimate``, ``low``, ``high`` (percentiles over resampled clusters) and
        a two-sided bootstrap ``p_value``.

    Raises
    ------
    ValueError
        As for `rates`.

    References
    ----------
    Angelopoulos et al. (2023), Prediction-powered inference, Science 382.

    Examples
    --------
    >>> pairs = pd.DataFrame({"error": "factuality", "prompt_id": np.arange(40), "crowd": 0.0,
    ...                       "expert": np.tile([0.0, 1.0, np.nan, np.nan], 10)})
    >>> crowd_bias(pairs, ["error"], "prompt_id", 99, np.random.default_rng(0))["estimate"]
    error
    factuality   -50.0
    Name: estimate, dtype: float64
    """
    groups, sums = _prepare(pairs, by, cluster)
    (crowd, _, powered), draws = estimates(sums.sum(axis=0)), cluster_draws(sums, n_boot, rng)
    crowd_draws, _, powered_draws = estimates(draws)
    low, high = interval(crowd_draws - powered_draws)
    points = pd.DataFrame(
        {"estimate": crowd - powered, "low": low, "high": high}, index=groups.size().index
    )
    return (100 * points).assign(p_value=bootstrap_p_value(crowd_draws - powered_draws))


def gains(pairs: pd.DataFrame, by: Sequence[str], cluster: str) -> pd.DataFrame:
    """How much the crowd's labels add to the experts', by the intervals of the package.

    Parameters
    ----------
    pairs, by, cluster
        As in `rates`.

    Returns
    -------
    pandas.DataFrame
        Indexed by `by`: ``labelled`` and ``unlabelled`` (outputs), ``positives`` (errors by the
        experts), ``correlation`` of the two labels, ``factor`` λ, ``narrower`` (percent by which
        the interval is narrower than from experts alone) and ``worth`` (further expert labels that
        would narrow it as much). NaN where either side's labels do not vary.

    Raises
    ------
    ValueError
        As for `rates`.

    References
    ----------
    Angelopoulos, Duchi and Zrnic (2023), PPI++, section 6.

    Examples
    --------
    >>> truth = np.tile([1.0, 0.0, 0.0, 0.0], 100)
    >>> pairs = pd.DataFrame({"error": "factuality", "prompt_id": np.arange(400), "crowd": truth,
    ...                       "expert": np.where(np.arange(400) < 100, truth, np.nan)})
    >>> gains(pairs, ["error"], "prompt_id").loc["factuality", ["narrower", "worth"]].round()
    narrower     50.0
    worth       300.0
    Name: factuality, dtype: float64
    """
    groups, sums = _prepare(pairs, by, cluster)
    total = sums.sum(axis=0)
    n, truth, seen, product, square = total[:, :5].T
    covariance = product - truth * seen / n
    spread = np.sqrt((truth - truth**2 / n) * (square - seen**2 / n))
    _, experts, powered = np.ptp(_independent(groups), axis=1)
    varies = spread > 0
    correlation, ratio = np.full((2, len(n)), np.nan)
    correlation[varies] = covariance[varies] / spread[varies]
    ratio[varies] = powered[varies] / experts[varies]
    return pd.DataFrame(
        {
            "labelled": n.astype(int),
            "unlabelled": total[:, 5].astype(int),
            "positives": truth,
            "correlation": correlation,
            "factor": powered_rates(total)[1],
            "narrower": 100 * (1 - ratio),
            "worth": n / ratio**2 - n,
        },
        index=groups.size().index,
    )


def _prepare(pairs: pd.DataFrame, by: Sequence[str], cluster: str) -> tuple:
    """Check the labels; return the groups and the sums of label terms by cluster and group."""
    check_numeric(pairs, ["crowd"])
    check_numeric(pairs, ["expert"], missing="allow")
    check_clusters(pairs, cluster)
    groups = pairs.groupby(list(by) if len(by) > 1 else by[0], sort=False)
    terms = label_terms(pairs["crowd"].to_numpy(float), pairs["expert"].to_numpy(float))
    codes, clusters = pd.factorize(pairs[cluster], sort=True)
    sums = np.zeros((len(clusters), groups.ngroups, terms.shape[-1]))
    np.add.at(sums, (codes, groups.ngroup().to_numpy()), terms)
    for column, lacking in ((0, "with"), (5, "without")):
        empty = sums[:, :, column].sum(axis=0) == 0
        if empty.any():
            name = groups.size().index[np.argmax(empty)]
            raise ValueError(f"group {name!r} has no output {lacking} an expert label: drop it")
    return groups, sums


def _independent(groups: pd.api.typing.DataFrameGroupBy) -> np.ndarray:
    """Intervals of the package, shape (3, 2, n_groups)."""
    bounds = []
    for _, members in groups:
        crowd, expert = members["crowd"].to_numpy(float), members["expert"].to_numpy(float)
        labelled = ~np.isnan(expert)
        bounds.append(independent_intervals(crowd[labelled], crowd[~labelled], expert[labelled]))
    return np.stack(bounds, axis=-1)
