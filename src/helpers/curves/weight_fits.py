"""Models of scores on error labels for many specifications at once, from sums within prompts.

`helpers.curves.error_weight_curve` says what is computed with them.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from helpers.curves import specifications
from helpers.stats import ordinal
from helpers.stats.lasso import solve_lasso
from helpers.stats.moments import ClusterMoments

SCORES = ("unbiased", "biased", "mean of both")
PENALTIES = {
    "least squares": 0.0,
    "Lasso, 0.003": 0.003,
    "Lasso, 0.01": 0.01,
    "Lasso, 0.03": 0.03,
}
REFUSALS = ("kept", "left out")
RIDGE = 1e-10  # keeps least squares defined where a resample has no case of an error


def parts(table: pd.DataFrame) -> dict[tuple[str, str], np.ndarray]:
    """Mark the rows that count, for every part of the answers and treatment of refusals.

    Parameters
    ----------
    table : pandas.DataFrame
        One row per output or per rating: ``task``, ``system`` and ``refused``, True or False.

    Returns
    -------
    dict of (str, str) to numpy.ndarray of bool
        By column of `specifications.subsets` (tasks alone, systems left out) and one of `REFUSALS`.

    Examples
    --------
    >>> table = pd.DataFrame({"task": "x", "system": ["a", "b", "b"], "refused": [0, 0, 1]})
    >>> parts(table.astype({"refused": bool}))["without a", "left out"].tolist()
    [False, True, False]
    """
    subsets = specifications.subsets(table, ["task"], ["system"])
    answered = ~table["refused"].to_numpy()
    whole = {(name, "kept"): rows.to_numpy() for name, rows in subsets.items()}
    return whole | {(name, "left out"): rows & answered for (name, _), rows in whole.items()}


def scores_in(table: pd.DataFrame) -> list[str]:
    """Name the scores that a table has.

    Examples
    --------
    >>> scores_in(pd.DataFrame({"biased": [1.0], "refusal": [0.0]}))
    ['biased']
    """
    return [score for score in SCORES if score in table]


def design(table: pd.DataFrame, errors: Sequence[str]) -> np.ndarray:
    """Set out one, the errors and the scores of each row.

    Parameters
    ----------
    table : pandas.DataFrame
        One row per output or per rating.
    errors : sequence of str
        Columns of labels.

    Returns
    -------
    numpy.ndarray, shape (n_rows, 1 + n_errors + n_scores)

    Examples
    --------
    >>> design(pd.DataFrame({"biased": [4.0], "refusal": [0.5]}), ["refusal"])
    array([[1. , 0.5, 4. ]])
    """
    columns = table[[*errors, *scores_in(table)]].to_numpy(dtype=float)
    return np.column_stack([np.ones(len(table)), columns])


def products(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Sum products of columns within each prompt.

    Parameters
    ----------
    values : numpy.ndarray, shape (n_rows, n_columns)
        Rows of `design` in the order of their prompts; zeros for rows that do not count.
    starts : numpy.ndarray of int, shape (n_prompts,)
        The first row of each prompt.

    Returns
    -------
    numpy.ndarray, shape (n_prompts, n_columns, n_columns)

    Examples
    --------
    >>> products(np.array([[1.0, 2.0], [1.0, 3.0], [1.0, 4.0]]), np.array([0, 2]))[:, 1, 1]
    array([13., 16.])
    """
    return np.add.reduceat(values[:, :, None] * values[:, None, :], starts)


def linear_slopes(
    sums: np.ndarray, errors: Sequence[str], scores: Sequence[str], part: pd.DataFrame
) -> np.ndarray:
    """Fit linear models to sets of rows.

    Parameters
    ----------
    sums : numpy.ndarray, shape (n_sets, n_columns, n_columns)
        Products of the columns of `design`, summed over each set.
    errors, scores : sequence of str
        Names of those columns.
    part : pandas.DataFrame
        Specifications, each with ``score`` and ``model``, one of `PENALTIES`.

    Returns
    -------
    numpy.ndarray, shape (n_sets, n_specifications, n_errors)
        Points for an error; zero for one that never varies.

    References
    ----------
    Tibshirani (1996).

    Examples
    --------
    >>> table = pd.DataFrame({"refusal": [0, 0, 1, 1], "biased": [5.0, 4.0, 2.0, 1.0]})
    >>> values = design(table, ["refusal"])
    >>> part = pd.DataFrame({"score": "biased", "model": ["least squares", "Lasso, 0.03"]})
    >>> linear_slopes((values.T @ values)[None], ["refusal"], ["biased"], part).ravel().round(2)
    array([-3.  , -2.88])
    """
    first = len(errors) + 1
    cross = {}
    for place, score in enumerate(scores, first):
        chosen = [*range(first), place]
        moments = ClusterMoments(tuple(errors), score, sums[:, chosen][:, :, chosen])
        gram, cross[score], _ = moments.covariances()
    targets = np.stack([cross[score] for score in part["score"]])
    alpha = part["model"].map(PENALTIES).to_numpy(dtype=float)
    free = alpha == 0
    slopes = np.empty_like(targets)
    slopes[~free] = solve_lasso(gram, targets[~free], alpha[~free, None], tol=1e-6)
    size = np.trace(gram, axis1=1, axis2=2)[:, None, None]
    steady = gram + RIDGE * size * np.eye(len(errors))
    slopes[free] = np.linalg.solve(steady, targets[free][..., None])[..., 0]
    return slopes.swapaxes(0, 1)


def ordinal_effects(
    rows: pd.DataFrame, errors: Sequence[str], prompts: np.ndarray, drawn: np.ndarray
) -> np.ndarray:
    """Fit an ordinal model of the biased score, with draws of its linear approximation.

    Parameters
    ----------
    rows : pandas.DataFrame
        Single ratings.
    errors : sequence of str
        Columns of labels.
    prompts : numpy.ndarray
        All prompts in sorted order.
    drawn : numpy.ndarray, shape (n_boot, n_prompts)
        How often each prompt counts in each resample.

    Returns
    -------
    numpy.ndarray, shape (n_boot + 1, n_errors)
        Points of the expected score for an error, the estimates first; zero for an error that
        never varies.

    Raises
    ------
    helpers.stats.ordinal.SeparationError
        If an error has no finite odds.

    Examples
    --------
    >>> rows = pd.DataFrame({"refusal": [0, 0, 0, 1, 1, 1], "biased": [5, 4, 1, 1, 2, 4],
    ...                      "prompt_id": ["a", "b"] * 3})
    >>> ordinal_effects(rows, ["refusal"], np.array(["a", "b"]), np.ones((1, 2))).round(2)
    array([[-0.99],
           [-0.99]])
    """
    varying = [error for error in errors if rows[error].min() < rows[error].max()]
    estimates = ordinal.fit(rows, varying, "biased").effects(rows)
    by_prompt = np.zeros((len(prompts), len(varying)))
    np.add.at(by_prompt, np.searchsorted(prompts, rows["prompt_id"]), estimates.influence)
    value = estimates.value.to_numpy()
    effects = np.zeros((1 + len(drawn), len(errors)))
    places = [list(errors).index(error) for error in varying]
    effects[:, places] = np.vstack([value, value + (drawn - 1) @ by_prompt])
    return effects
