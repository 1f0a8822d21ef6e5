"""Single error marks: how they change between arms, with and without each rater's own leniency.

Averages over raters hide that some people mark many errors and others hardly any. Here every mark
counts by itself. All numbers are percentage points.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from helpers.clustered import Estimates
from helpers.files.tables import check_clusters, check_numeric


def arm_contrasts(
    marks: pd.DataFrame,
    errors: Sequence[str],
    arms: Mapping[str, tuple[str, str]],
    within: str | None = None,
) -> Estimates:
    """Change of the share of marks between arms, from a linear probability model.

    Parameters
    ----------
    marks : pandas.DataFrame
        One row per rated output and rater, with ``arm`` and the errors, 0 or 1.
    errors : sequence of str
        Error columns.
    arms : mapping of str to (str, str)
        Name of each contrast, the arm to subtract and the arm to subtract it from.
    within : str, optional
        Column of raters whose own level is removed: arms are compared within raters, and raters
        who saw one arm only say nothing. By default shares are compared as they are.

    Returns
    -------
    Estimates
        Percentage points, named by (contrast, error).

    Raises
    ------
    ValueError
        If an error column cannot be used, an arm has no marks, or raters do not link the arms of
        a contrast.

    References
    ----------
    Wooldridge (2010), Econometric Analysis of Cross Section and Panel Data, sections 10.5 (fixed
    effects) and 15.2 (linear probability model).

    Examples
    --------
    >>> marks = pd.DataFrame({"arm": ["low", "high"] * 2, "rater_id": ["a", "a", "b", "b"],
    ...                       "factuality": [0, 1, 1, 1]})
    >>> contrasts = arm_contrasts(marks, ["factuality"], {"tone": ("low", "high")}, "rater_id")
    >>> contrasts.value.round(1)
    contrast  error
    tone      factuality    50.0
    dtype: float64
    """
    check_numeric(marks, errors)
    weights = _contrast_weights(marks["arm"], arms)
    design = pd.get_dummies(marks["arm"], dtype=float)[weights.columns]
    outcomes = 100.0 * marks[list(errors)]
    if within is not None:
        check_clusters(marks, within)
        design, outcomes = (_center(table, marks[within]) for table in (design, outcomes))
    x, y = design.to_numpy(), outcomes.to_numpy()
    inverse = np.linalg.pinv(x.T @ x, rcond=1e-9, hermitian=True)
    _check_linked(weights, inverse @ (x.T @ x), within)
    coefficients = inverse @ (x.T @ y)
    leverage = x @ inverse @ weights.to_numpy().T
    influence = leverage[:, :, None] * (y - x @ coefficients)[:, None, :]
    names = pd.MultiIndex.from_product([weights.index, list(errors)], names=["contrast", "error"])
    changes = pd.Series((weights.to_numpy() @ coefficients).ravel(), names)
    return Estimates(changes, influence.reshape(len(marks), -1))


def _contrast_weights(arm: pd.Series, arms: Mapping[str, tuple[str, str]]) -> pd.DataFrame:
    """Weight of each arm in each contrast."""
    known = sorted(arm.unique())
    weights = pd.DataFrame(0.0, index=list(arms), columns=known)
    for name, (subtracted, compared) in arms.items():
        for label, sign in ((subtracted, -1.0), (compared, 1.0)):
            if label not in known:
                raise ValueError(f"no marks in arm {label!r}: the table has the arms {known}")
            weights.loc[name, label] += sign
    return weights


def _center(table: pd.DataFrame, groups: pd.Series) -> pd.DataFrame:
    """Remove the mean of each group."""
    return table - table.groupby(groups).transform("mean")


def _check_linked(weights: pd.DataFrame, projection: np.ndarray, within: str | None) -> None:
    """Stop unless the rows tell every contrast."""
    told = np.isclose(weights @ projection, weights, atol=1e-6).all(axis=1)
    if not told.all():
        raise ValueError(
            f"contrast {weights.index[~told][0]!r}: nobody in column {within!r} saw both arms, "
            "directly or by way of others; compare the arms without `within`"
        )
