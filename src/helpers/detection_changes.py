"""Whether raters find more in one group of outputs than in another: changes of sensitivity."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd


def compare_detection(
    pairs: pd.DataFrame,
    rates: pd.DataFrame,
    contrasts: Mapping[str, tuple[str, str]],
    n_permutations: int,
    rng: np.random.Generator,
    measures: Sequence[str] = ("sensitivity", "specificity"),
) -> pd.DataFrame:
    """Change of sensitivity and specificity between two groups of outputs, in points.

    The interval combines the two Wilson intervals by the square-and-add rule. The p-value is from
    a permutation test, which needs no minimum of cases: among outputs with the error (without it,
    for the specificity) groups are exchanged at random. It takes these outputs as exchangeable,
    those of one cluster too.

    Parameters
    ----------
    pairs : pandas.DataFrame
        From `helpers.stats.rates.pair_labels`, with expert labels 0 and 1; rows without one are left
        out.
    rates : pandas.DataFrame
        From `helpers.stats.rates.detection_rates` of the same pairs by ``"error"`` and a second
        column, such as ``"arm"``, whose groups are compared.
    contrasts : mapping of str to (str, str)
        Name of each contrast, the group to subtract and the group to subtract it from.
    n_permutations : int
        Number of permutations.
    rng : numpy.random.Generator
        Source of randomness.
    measures : sequence of str, optional
        ``"sensitivity"``, ``"specificity"`` or both.

    Returns
    -------
    pandas.DataFrame
        Indexed by ``contrast``, ``measure`` and ``error``: ``n_from`` and ``n_to`` (outputs behind
        the two shares), ``estimate``, ``low``, ``high`` (percentage points, 95 %), ``p_value``.
        NaN where a group has no output to judge by.

    Raises
    ------
    ValueError
        If an expert label is a share, or a group has no labelled outputs.

    References
    ----------
    Newcombe (1998), method 10; Good (2005), Permutation, Parametric and Bootstrap Tests.

    Examples
    --------
    >>> from helpers.stats.rates import detection_rates
    >>> pairs = pd.DataFrame({"error": "factuality", "prompt_id": range(40), "expert": 1,
    ...                       "arm": ["low", "high"] * 20, "crowd": [1, 0] * 20})
    >>> rng = np.random.default_rng(0)
    >>> rates = detection_rates(pairs, ["error", "arm"], "prompt_id", 99, rng)
    >>> table = compare_detection(pairs, rates, {"tone": ("low", "high")}, 999, rng,
    ...                           ["sensitivity"])
    >>> table[["n_from", "n_to", "estimate", "low", "high", "p_value"]].round(3)
                                     n_from  n_to  estimate    low    high  p_value
    contrast measure     error
    tone     sensitivity factuality    20.0  20.0    -100.0 -100.0 -77.213    0.001
    """
    pairs = pairs.dropna(subset="expert")
    if not pairs["expert"].isin([0, 1]).all():
        raise ValueError("an expert label is a share: comparisons need labels 0 and 1, settle them")
    by = rates.index.names[-1]
    rows = {}
    for contrast, groups in contrasts.items():
        _require_groups(pairs, by, groups)
        for measure in measures:
            for error, subset in pairs.groupby("error", sort=False):
                one, other = (rates.loc[(measure, error, group)] for group in groups)
                p_value = _permutation_test(subset, by, groups, measure, n_permutations, rng)
                rows[contrast, measure, error] = _difference(one, other) | {"p_value": p_value}
    table = pd.DataFrame.from_dict(rows, orient="index")
    return table.rename_axis(["contrast", "measure", "error"])


def _difference(one: pd.Series, other: pd.Series) -> dict[str, float]:
    """Subtract the first share from the second, with the square-and-add interval."""
    change = other["estimate"] - one["estimate"]
    below = np.hypot(other["estimate"] - other["low"], one["high"] - one["estimate"])
    above = np.hypot(other["high"] - other["estimate"], one["estimate"] - one["low"])
    return {
        "n_from": one["n"],
        "n_to": other["n"],
        "estimate": change,
        "low": change - below,
        "high": change + above,
    }


def _permutation_test(
    pairs: pd.DataFrame,
    by: str,
    groups: tuple[str, str],
    measure: str,
    n_permutations: int,
    rng: np.random.Generator,
) -> float:
    """Two-sided p-value for no difference between two groups among the outputs that count."""
    wanted = {"sensitivity": 1, "specificity": 0}[measure]
    pairs = pairs[pairs[by].isin(groups) & (pairs["expert"] == wanted)]
    labels, first = pairs["crowd"].to_numpy(float), (pairs[by] == groups[0]).to_numpy()
    if first.all() or not first.any():
        return np.nan
    shuffled = rng.permuted(np.tile(labels, (n_permutations, 1)), axis=1)
    expected = labels.mean() * first.sum()
    observed = abs(labels[first].sum() - expected)
    extreme = np.abs(shuffled[:, first].sum(axis=1) - expected) >= observed - 1e-9
    return (1 + extreme.sum()) / (1 + n_permutations)


def _require_groups(pairs: pd.DataFrame, by: str, groups: tuple[str, str]) -> None:
    """Stop where a group to compare has no outputs."""
    missing = [group for group in groups if group not in set(pairs[by])]
    if missing:
        known = sorted(pairs[by].unique())
        raise ValueError(f"experts labelled no output of {by} {missing[0]!r}: there are {known}")
