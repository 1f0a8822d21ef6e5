"""Ratings summed up over raters, and wide tables made long."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from helpers.stats import checks


def aggregate(
    frame: pd.DataFrame,
    by: str | Sequence[str],
    mean: Sequence[str] = (),
    mode: Sequence[str] = (),
    first: Sequence[str] = (),
) -> pd.DataFrame:
    """Sum up ratings over raters, one row per group: means, average of modes, first values."""
    by = [by] if isinstance(by, str) else list(by)
    checks.check_complete(frame, by)
    checks.check_numeric(frame, [*mean, *mode], missing="allow")
    group = frame.groupby(by).ngroup().to_numpy()
    _, head = np.unique(group, return_index=True)
    table = frame.iloc[head][[*by, *first]].reset_index(drop=True)
    table["n_ratings"] = np.bincount(group, minlength=len(head))
    for column in mean:
        table[column] = frame[column].astype(float).groupby(group).mean()
    for column in mode:
        table[column] = _group_modes(
            frame[column].to_numpy(dtype=float), group, len(head)
        )
    return table


def _group_modes(values: np.ndarray, group: np.ndarray, n_groups: int) -> np.ndarray:
    """Average the most frequent values of each group, missing ones left out."""
    codes, options = pd.factorize(values, sort=True)
    known = codes >= 0
    counts = np.zeros((len(options), n_groups))
    np.add.at(counts, (codes[known], group[known]), 1)
    winners = counts == counts.max(axis=0, initial=1)
    n_winners = winners.sum(axis=0)
    return np.divide(
        options @ winners, n_winners, where=n_winners > 0, out=np.full(n_groups, np.nan)
    )


def to_tidy(wide: pd.DataFrame, aspects: Sequence[str]) -> pd.DataFrame:
    """Turn one column for each aspect into one row: columns ``aspect`` and ``value``."""
    checks.check_numeric(wide, aspects, missing="allow")
    others = wide.columns.difference(aspects, sort=False)
    return wide.melt(id_vars=others, value_vars=list(aspects), var_name="aspect")
