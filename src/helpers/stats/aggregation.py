"""Several ratings of an item become one row: means, majorities, first values."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from helpers.stats import checks
from helpers.stats.moments import ratio


def aggregate(
    frame: pd.DataFrame,
    by: str | Sequence[str],
    mean: Sequence[str] = (),
    mode: Sequence[str] = (),
    first: Sequence[str] = (),
) -> pd.DataFrame:
    """Sum up ratings in one row per group: means, averages of modes, first values."""
    by = [by] if isinstance(by, str) else list(by)
    checks.check_complete(frame, by)
    checks.check_numeric(frame, [*mean, *mode], missing="allow")
    group = frame.groupby(by).ngroup().to_numpy()
    _, first_rows = np.unique(group, return_index=True)
    n_groups = len(first_rows)
    table = frame.iloc[first_rows][[*by, *first]].reset_index(drop=True)
    table["n_ratings"] = np.bincount(group, minlength=n_groups)
    for column in mean:
        table[column] = frame[column].astype(float).groupby(group).mean()
    for column in mode:
        values = frame[column].to_numpy(dtype=float)
        table[column] = _group_modes(values, group, n_groups)
    return table


def _group_modes(values: np.ndarray, group: np.ndarray, n_groups: int) -> np.ndarray:
    """Average the most frequent values of each group, missing ones left out."""
    codes, options = pd.factorize(values, sort=True)
    is_known = codes >= 0
    # how often each value occurs in each group
    counts = np.zeros((len(options), n_groups))
    np.add.at(counts, (codes[is_known], group[is_known]), 1)
    # at least 1: values that nobody gave are no mode of a group without values
    is_mode = counts == counts.max(axis=0, initial=1)
    n_modes = is_mode.sum(axis=0)
    return ratio(options @ is_mode, n_modes)
