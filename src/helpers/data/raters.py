"""Names of people become numbers in order of first appearance."""

from collections.abc import Iterable

import pandas as pd


def anonymise(identifiers: Iterable[str]) -> list[str]:
    """Replace names of people by labels, numbered in order of first appearance."""
    codes, _ = pd.factorize(pd.Series(identifiers), use_na_sentinel=False)
    return [f"rater-{code + 1:03d}" for code in codes]
