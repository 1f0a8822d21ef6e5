"""How often one group of raters finds what another, trusted group finds: sensitivity and its kin.

The trusted labels are called expert labels and count as the truth. Every measure is a ratio of
sums over outputs, so that labels may be shares: an output that half of the crowd marked counts
half, and so does one on which experts are divided.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from helpers import resampling
from helpers.files.tables import check_clusters, check_numeric
from helpers.shares import clustered_shares

TIES = {"half": 0.5, "error": 1.0, "no error": 0.0}
MEASURES = ("sensitivity", "specificity", "precision", "negative predictive value", "prevalence")


def pair_labels(
    crowd: pd.DataFrame, expert: pd.DataFrame, errors: Sequence[str], item: str = "item_id"
) -> pd.DataFrame:
    """Set the crowd's label of each output and kind of error beside the experts'.

    Parameters
    ----------
    crowd : pandas.DataFrame
        One row per output with the errors, labels in [0, 1]. Other columns are kept.
    expert : pandas.DataFrame
        One row per output and expert, or per output, with the same errors.
    errors : sequence of str
        Error columns.
    item : str, optional
        Column that names outputs in both tables.

    Returns
    -------
    pandas.DataFrame
        One row per output and error: the other columns of `crowd`, ``error``, ``crowd`` and
        ``expert``, the mean over experts, NaN where no expert labelled the output.

    Raises
    ------
    ValueError
        If an error column cannot be used, an output has two rows in `crowd`, or experts labelled
        an output that `crowd` lacks.

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
    if crowd[item].duplicated().any():
        twice = crowd.loc[crowd[item].duplicated(), item].iloc[0]
        raise ValueError(f"the crowd has several rows for {item} {twice!r}: combine its raters")
    unknown = ~expert[item].isin(crowd[item])
    if unknown.any():
        first = expert.loc[unknown, item].iloc[0]
        raise ValueError(f"experts labelled {item} {first!r}, which the crowd did not: drop it")
    design = [column for column in crowd if column not in errors]
    pairs = crowd.melt(design, list(errors), var_name="error", value_name="crowd")
    means = expert.groupby(item)[list(errors)].mean().stack()
    keys = pd.MultiIndex.from_frame(pairs[[item, "error"]])
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
        raise ValueError(f"rule for ties {ties!r} is unknown: choose one of {tuple(TIES)}")
    return labels.where(labels != 0.5, TIES[ties])


def detection_rates(
    pairs: pd.DataFrame,
    by: Sequence[str],
    cluster: str,
    n_boot: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Sensitivity, specificity, predictive values and prevalence in each group, in percent.

    Two intervals are given. Wilson's, at the effective number of outputs, stays meaningful where
    the crowd found nothing or everything. The percentile interval from resampled clusters has no
    width there, and with few positives it tends to be too narrow.

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
        Source of randomness.

    Returns
    -------
    pandas.DataFrame
        Indexed by ``measure`` and `by`: ``n`` (outputs that the measure is a share of, such as
        those with the error for the sensitivity), ``estimate``, ``low`` and ``high`` (Wilson),
        ``boot_low`` and ``boot_high``; NaN where `n` is 0.

    Raises
    ------
    ValueError
        If labels cannot be used or there are fewer than two clusters.

    References
    ----------
    Altman and Bland (1994), Diagnostic tests 1 and 2; Wilson (1927); Korn and Graubard (1998) for
    the effective sample size.

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
    weights = resampling.cluster_weights(len(parts), n_boot, rng)
    draws = resampling.bootstrap_ratio(parts, totals, weights)
    table = clustered_shares(parts, totals)
    table["boot_low"], table["boot_high"] = map(np.ravel, resampling.interval(draws))
    table[["boot_low", "boot_high"]] *= 100
    return table.set_index(names)


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
    denominators = np.column_stack([expert, 1 - expert, crowd, 1 - crowd, np.ones(len(pairs))])
    groups = pairs.groupby(list(by), sort=False)
    codes, clusters = pd.factorize(pairs[cluster], sort=True)
    sums = np.zeros((2, len(clusters), groups.ngroups, len(MEASURES)))
    np.add.at(sums, (slice(None), codes, groups.ngroup()), np.stack([numerators, denominators]))
    known = groups.size().index.to_frame(index=False)
    names = pd.concat(dict.fromkeys(MEASURES, known), names=["measure"])
    names = pd.MultiIndex.from_frame(names.reset_index("measure"))
    return *sums.swapaxes(2, 3), names
