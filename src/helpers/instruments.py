"""Effects of something that was not randomised, moved by something that was: instruments.

Instruments shift a cause at random, for example a hidden preamble that shifts how assertive an
answer sounds. If they reach the outcome through the cause alone (the *exclusion* assumption), then
what they do to the outcome, divided by what they do to the cause, is the effect of the cause. All
standard errors allow for clusters. Controls and the means of groups are removed from every column
first, which by the theorem of Frisch, Waugh and Lovell changes no slope.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from helpers.files.tables import check_clusters, check_full_rank, check_numeric
from helpers.stats.clustered import Estimates


@dataclass(frozen=True, eq=False)
class Instrumented:
    """Columns of one instrumental-variable problem, freed of controls and group means.

    Parameters
    ----------
    outcome : numpy.ndarray, shape (n_rows,)
        What is to be explained.
    causes : pandas.DataFrame, shape (n_rows, n_causes)
        What may explain it, not randomised.
    instruments : numpy.ndarray, shape (n_rows, n_instruments)
        What was randomised; at least one for each cause.
    clusters : pandas.DataFrame, shape (n_rows, 1)
        The cluster of each row.

    Examples
    --------
    >>> columns = pd.DataFrame({"tone": [-1.0, 1.0]})
    >>> Instrumented(np.array([-2.0, 2.0]), columns, columns.to_numpy(),
    ...              pd.DataFrame({"prompt_id": [1, 2]})).causes.shape
    (2, 1)
    """

    outcome: np.ndarray
    causes: pd.DataFrame
    instruments: np.ndarray
    clusters: pd.DataFrame


def prepare(
    frame: pd.DataFrame,
    outcome: str,
    causes: Sequence[str],
    instruments: Sequence[str],
    cluster: str,
    controls: Sequence[str] = (),
    within: str | None = None,
) -> Instrumented:
    """Remove controls and group means from the columns of an instrumental-variable problem.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per observation.
    outcome : str
        Column to explain.
    causes : sequence of str
        Columns whose effects are wanted.
    instruments : sequence of str
        Columns that were randomised, at least as many as causes; for groups take indicators of
        all but one.
    cluster : str
        Column of clusters.
    controls : sequence of str, optional
        Columns held constant.
    within : str, optional
        Column of groups, such as the prompt within which instruments were randomised: only
        differences between rows of one group count. By default all rows are one group.

    Returns
    -------
    Instrumented

    Raises
    ------
    ValueError
        If a column cannot be used, there are fewer instruments than causes, or a column is a
        combination of controls, group means and those before it.

    References
    ----------
    Frisch and Waugh (1933); Lovell (1963); Wooldridge (2010), sections 5.2 and 10.5.

    Examples
    --------
    >>> frame = pd.DataFrame({"tone": [1.0, 2.0, 3.0, 4.0], "arm": [0, 1, 0, 1],
    ...                       "marked": [1.0, 0.0, 1.0, 1.0], "prompt_id": [1, 1, 2, 2]})
    >>> prepare(frame, "marked", ["tone"], ["arm"], "prompt_id", within="prompt_id").outcome
    array([ 0.5, -0.5,  0. ,  0. ])
    """
    columns = [*controls, *instruments]
    names = list(dict.fromkeys([outcome, *causes, *columns]))
    check_numeric(frame, names)
    check_clusters(frame, cluster)
    if not 1 <= len(causes) <= len(instruments):
        raise ValueError(
            f"{len(causes)} causes and {len(instruments)} instruments: name at least one cause, "
            "and an instrument for each"
        )
    groups = frame[within] if within is not None else np.zeros(len(frame))
    values = frame[names].astype(float)
    centred = values - values.groupby(groups).transform("mean")
    check_full_rank(centred, columns, intercept=False)
    free = centred.to_numpy()
    held = free[:, values.columns.get_indexer(list(controls))]
    if controls:
        free = free - held @ np.linalg.lstsq(held, free, rcond=None)[0]
    free = pd.DataFrame(free, columns=values.columns)
    return Instrumented(
        free[outcome].to_numpy(),
        free[list(causes)],
        free[list(instruments)].to_numpy(),
        frame[[cluster]].reset_index(drop=True),
    )


def least_squares(problem: Instrumented) -> Estimates:
    """Slopes of the outcome on the causes without instruments, which bias from confounders moves.

    Parameters
    ----------
    problem : Instrumented
        From `prepare`.

    Returns
    -------
    Estimates
        One slope per cause; `Estimates.table` gives cluster-robust intervals.

    References
    ----------
    Cameron and Miller (2015), A Practitioner's Guide to Cluster-Robust Inference, section II.

    Examples
    --------
    >>> frame = pd.DataFrame({"tone": [1.0, 2.0, 3.0], "marked": [3.0, 2.0, 1.0],
    ...                       "prompt_id": [1, 2, 3]})
    >>> least_squares(prepare(frame, "marked", ["tone"], ["tone"], "prompt_id")).value.round(6)
    tone   -1.0
    dtype: float64
    """
    return _regress(problem, problem.causes.to_numpy())


def two_stage(problem: Instrumented) -> Estimates:
    """Two-stage least squares: slopes on the part of the causes that instruments explain.

    Parameters
    ----------
    problem : Instrumented
        From `prepare`.

    Returns
    -------
    Estimates
        One slope per cause; `Estimates.table` gives cluster-robust intervals, which are too
        narrow where instruments are weak (see `helpers.weak_instruments`).

    References
    ----------
    Wooldridge (2010), Econometric Analysis of Cross Section and Panel Data, section 5.2.

    Examples
    --------
    With one indicator as instrument the slope is a ratio of two differences of means.

    >>> frame = pd.DataFrame({"arm": [0, 0, 1, 1], "tone": [1.0, 3.0, 3.0, 5.0],
    ...                       "marked": [6.0, 4.0, 2.0, 2.0], "prompt_id": [1, 2, 3, 4]})
    >>> two_stage(prepare(frame, "marked", ["tone"], ["arm"], "prompt_id")).value.round(6)
    tone   -1.5
    dtype: float64
    """
    z, x = problem.instruments, problem.causes.to_numpy()
    return _regress(problem, z @ np.linalg.lstsq(z, x, rcond=None)[0])


def reduced_form(problem: Instrumented) -> Estimates:
    """What each instrument does to the outcome and to each cause, the others held constant.

    Parameters
    ----------
    problem : Instrumented
        From `prepare`.

    Returns
    -------
    Estimates
        Named by (column, number of the instrument), the outcome first.

    Examples
    --------
    >>> frame = pd.DataFrame({"arm": [0, 0, 1, 1], "tone": [1.0, 3.0, 3.0, 5.0],
    ...                       "marked": [6.0, 4.0, 2.0, 2.0], "prompt_id": [1, 2, 3, 4]})
    >>> reduced_form(prepare(frame, "marked", ["tone"], ["arm"], "prompt_id")).value.tolist()
    [-3.0, 2.0]
    """
    z = problem.instruments
    y = np.column_stack([problem.outcome, problem.causes])
    inverse = np.linalg.inv(z.T @ z)
    slopes = inverse @ (z.T @ y)
    influence = (y - z @ slopes)[:, :, None] * (z @ inverse)[:, None, :]
    names = pd.MultiIndex.from_product([["outcome", *problem.causes], range(z.shape[1])])
    return Estimates(pd.Series(slopes.T.ravel(), names), influence.reshape(len(y), -1))


def _regress(problem: Instrumented, fitted: np.ndarray) -> Estimates:
    """Slopes by the fitted part of the causes; residuals are those from the causes themselves."""
    x = problem.causes.to_numpy()
    inverse = np.linalg.inv(fitted.T @ fitted)
    slopes = inverse @ (fitted.T @ problem.outcome)
    residual = problem.outcome - x @ slopes
    names = list(problem.causes)
    return Estimates(pd.Series(slopes, names), residual[:, None] * (fitted @ inverse))
