"""How far user-AI accuracy is from AI-alone accuracy, in many specifications.

Only accuracies with standard errors are needed, one for each model, dataset and method.
Every specification is a weighted sum of them, so that one draw of all accuracies gives
a draw of the whole curve.

References
----------
Chang et al. (2025), section 4 and appendix B.2; Miller (2024), Adding Error Bars to
Evals; Simonsohn, Simmons and Nelson (2020).
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from helpers.robustness import specifications

SIZES = "all, by number of questions"
EQUAL = "all, equal weight"
BOTH = "both"


def accuracy_curve(
    cells: pd.DataFrame,
    alone: Sequence[str],
    together: Sequence[str],
    sizes: Mapping[str, int],
    correlations: Sequence[float],
) -> tuple[pd.DataFrame, np.ndarray]:
    """User-AI minus AI-alone accuracy in all specifications.

    Parameters
    ----------
    cells : pandas.DataFrame
        One row per ``model``, ``dataset`` and ``method``; ``mean`` and ``se``.
    alone, together : sequence of str
        Methods that measure AI alone, and users with AI.
    sizes : mapping of str to int
        Number of questions in each dataset.
    correlations : sequence of float
        Correlations, over questions, of two accuracies on the same dataset; those on
        different datasets are independent.

    Returns
    -------
    curve : pandas.DataFrame
        As `specifications.curve`, in percentage points, with no direction expected.
    weights : numpy.ndarray, shape (n_specifications, n_cells)
        What each accuracy, in percentage points, adds to each estimate.

    References
    ----------
    Chang et al. (2025), section 4 and appendix B.2; Miller (2024), Adding Error Bars to
    Evals.

    Examples
    --------
    >>> cells = pd.DataFrame({
    ...     "model": "x",
    ...     "dataset": "math",
    ...     "method": ["letter", "direct"],
    ...     "mean": [0.7, 0.9],
    ...     "se": [0.03, 0.04],
    ... })
    >>> curve, _ = accuracy_curve(cells, ["letter"], ["direct"], {"math": 90}, [0.0])
    >>> curve.loc[0, ["estimate", "standard_error"]].astype(float).round(6).tolist()
    [20.0, 5.0]
    """
    options = {
        "AI alone": alone,
        "users": [*together, BOTH],
        "dataset": [*cells["dataset"].unique(), EQUAL, SIZES],
        "model": [*cells["model"].unique(), BOTH],
        "correlation": correlations,
    }
    specified, _ = specifications.cross(options)

    # What each cell counts under each option: a row per cell, a column per option.
    dataset = pd.get_dummies(cells["dataset"], dtype=float)
    same_dataset = dataset.to_numpy()
    dataset = dataset.assign(
        **{EQUAL: 1.0, SIZES: cells["dataset"].map(sizes).astype(float)}
    )
    model = pd.get_dummies(cells["model"], dtype=float).assign(**{BOTH: 1.0})
    method = pd.get_dummies(cells["method"], dtype=float)
    method[BOTH] = method[list(together)].sum(axis="columns")

    # The same for each specification, so that the weights of either side add up to one.
    answers = dataset[specified["dataset"]].to_numpy()
    answers = answers * model[specified["model"]].to_numpy()
    by_users = answers * method[specified["users"]].to_numpy()
    by_ai = answers * method[specified["AI alone"]].to_numpy()
    weights = (by_users / by_users.sum(axis=0) - by_ai / by_ai.sum(axis=0)).T

    # Errors within a dataset have the correlation in common, the rest is their own.
    errors = weights * cells["se"].to_numpy()
    correlation = specified["correlation"].to_numpy(dtype=float)
    own = (1 - correlation) * (errors**2).sum(axis=1)
    shared = correlation * ((errors @ same_dataset) ** 2).sum(axis=1)
    curve = specifications.curve(
        specifications=specified,
        estimate=100 * weights @ cells["mean"].to_numpy(),
        standard_error=100 * np.sqrt(own + shared),
        sign=0,
    )
    return curve, weights


def null_draws(
    cells: pd.DataFrame, weights: np.ndarray, n_draws: int, rng: np.random.Generator
) -> np.ndarray:
    """Curves by sampling error alone, if users with AI do as well as AI alone.

    Errors of different accuracies are drawn independently. If they are positively
    correlated, as they may be on the same questions, true curves without an effect lie
    closer to zero.

    Parameters
    ----------
    cells : pandas.DataFrame
        As for `accuracy_curve`.
    weights : numpy.ndarray, shape (n_specifications, n_cells)
        From `accuracy_curve`.
    n_draws : int
        Number of draws.
    rng : numpy.random.Generator

    Returns
    -------
    numpy.ndarray, shape (n_draws, n_specifications)
        Percentage points.

    Examples
    --------
    >>> cells = pd.DataFrame({"se": [0.03, 0.04]})
    >>> rng = np.random.default_rng(0)
    >>> draws = null_draws(cells, np.array([[-1.0, 1.0]]), 4000, rng)
    >>> int(draws.std().round())
    5
    """
    errors = rng.normal(size=(n_draws, len(cells))) * cells["se"].to_numpy()
    return 100 * errors @ weights.T
