"""Numbers as text: an estimate with its interval, 1.5 [1.1, 1.9]."""

import pandas as pd

# sums in another order differ in digits beyond these
STABLE_DIGITS = 8


def with_intervals(table: pd.DataFrame, decimals: int = 2) -> pd.Series:
    """Write each estimate of a table with its interval.

    Parameters
    ----------
    table : pandas.DataFrame
        ``estimate``, ``low`` and ``high``.
    decimals : int, optional
        Digits after the point.

    Returns
    -------
    pandas.Series of str
        With the index of `table`.

    Examples
    --------
    >>> rows = {"estimate": [1.5, 0.4], "low": [1.1, 0.1], "high": [1.9, 0.7]}
    >>> with_intervals(pd.DataFrame(rows, index=["refusal", "scope"])).to_dict()
    {'refusal': '1.50 [1.10, 1.90]', 'scope': '0.40 [0.10, 0.70]'}
    """
    columns = (table["estimate"], table["low"], table["high"])
    texts = [
        with_interval(estimate, low, high, decimals)
        for estimate, low, high in zip(*columns, strict=True)
    ]
    return pd.Series(texts, table.index)


def with_interval(estimate: float, low: float, high: float, decimals: int = 2) -> str:
    """Write an estimate with its interval, for evidence and titles.

    Parameters
    ----------
    estimate, low, high : float
        In the same unit.
    decimals : int, optional
        Digits after the point.

    Returns
    -------
    str
        The estimate, and the interval in brackets.

    Examples
    --------
    >>> with_interval(-5.42, -9.08, -0.001, decimals=1)
    '-5.4 [-9.1, 0.0]'
    """
    return (
        f"{_rounded(estimate, decimals)} "
        f"[{_rounded(low, decimals)}, {_rounded(high, decimals)}]"
    )


def _rounded(number: float, decimals: int) -> str:
    """Write a number with so many digits after the point, and zero without a sign."""
    # 0.415 may be 0.4149999999999999 in another run: the same digits in both
    stable = round(number, decimals + STABLE_DIGITS)
    positive_zero = round(stable, decimals) + 0.0
    return f"{positive_zero:.{decimals}f}"


def in_words(table: pd.DataFrame, decimals: int = 2, unit: str = "") -> str:
    """List estimates with their intervals, for alt texts.

    Parameters
    ----------
    table : pandas.DataFrame
        ``estimate``, ``low`` and ``high``; the index names the rows.
    decimals : int, optional
        Digits after the point.
    unit : str, optional
        Written after each interval.

    Returns
    -------
    str

    Examples
    --------
    >>> rows = {"estimate": [1.5, 0.4], "low": [1.1, 0.1], "high": [1.9, 0.7]}
    >>> in_words(pd.DataFrame(rows, index=["refusal", "scope"]), 1, " points")
    'refusal 1.5 [1.1, 1.9] points, scope 0.4 [0.1, 0.7] points'
    """
    words = []
    for key, text in with_intervals(table, decimals).items():
        name = " ".join(map(str, key)) if isinstance(key, tuple) else key
        words.append(f"{name} {text}{unit}")
    return ", ".join(words)
