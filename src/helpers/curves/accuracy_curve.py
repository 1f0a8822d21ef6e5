"""How far AI-alone accuracy is from user-AI accuracy, under every way to compare them.

Only accuracies with standard errors are needed, one for each model, dataset and method. Every
specification is a weighted sum of them, so that one draw of all accuracies gives a draw of the
whole curve, in which an accuracy that enters several specifications is one and the same.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from helpers.curves import specifications
from helpers.files.tables import check_numeric

SIZES = "all, by number of questions"
EQUAL = "all, equal weight"
BOTH = "both"


def choices(
    cells: pd.DataFrame, alone: Sequence[str], together: Sequence[str], correlations: Sequence
) -> pd.DataFrame:
    """Combine the choices of this analysis, all of which go together.

    Parameters
    ----------
    cells : pandas.DataFrame
        As for `differences`.
    alone, together : sequence of str
        Methods that measure AI alone, and users with AI.
    correlations : sequence of float
        Correlations, over questions, of two accuracies on the same dataset.

    Returns
    -------
    pandas.DataFrame
        One row per specification.

    Examples
    --------
    >>> cells = pd.DataFrame({"model": ["x", "y"], "dataset": "math"})
    >>> len(choices(cells, ["letter", "text"], ["direct", "answer first"], [0.0]))
    54
    """
    options = {
        "AI alone": alone,
        "users": [*together, BOTH],
        "dataset": [*cells["dataset"].unique(), EQUAL, SIZES],
        "model": [*cells["model"].unique(), BOTH],
        "correlation": correlations,
    }
    return specifications.cross(options)[0]


def differences(
    cells: pd.DataFrame,
    specified: pd.DataFrame,
    together: Sequence[str],
    sizes: Mapping[str, int],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """User-AI minus AI-alone accuracy in all specifications.

    Parameters
    ----------
    cells : pandas.DataFrame
        One row per ``model``, ``dataset`` and ``method``; ``mean`` and ``se``.
    specified : pandas.DataFrame
        Result of `choices`.
    together : sequence of str
        Methods that measure users with AI.
    sizes : mapping of str to int
        Number of questions in each dataset.

    Returns
    -------
    estimate, standard_error : numpy.ndarray, shape (n_specifications,)
        Percentage points. All errors of accuracies on the same dataset have the correlation of
        the specification; those on different datasets are independent.
    weights : numpy.ndarray, shape (n_specifications, n_cells)
        What each accuracy, in percentage points, adds to each estimate.

    Raises
    ------
    ValueError
        If an accuracy or a standard error is missing, or a specification finds no accuracies.

    References
    ----------
    Chang et al. (2025), section 4 and appendix B.2; Miller (2024), Adding Error Bars to Evals.

    Examples
    --------
    >>> cells = pd.DataFrame({"model": "x", "dataset": "math", "method": ["letter", "direct"],
    ...                       "mean": [0.7, 0.9], "se": [0.03, 0.04]})
    >>> specified = choices(cells, ["letter"], ["direct"], [0.0])
    >>> estimate, error, _ = differences(cells, specified, ["direct"], {"math": 90})
    >>> float(estimate[0].round(6)), float(error[0].round(6))
    (20.0, 5.0)
    """
    check_numeric(cells, ["mean", "se"])
    datasets = list(cells["dataset"].unique())
    weights = np.zeros((len(specified), len(cells)))
    for row, choice in enumerate(specified.rename(columns={"AI alone": "alone"}).itertuples()):
        share = cells["dataset"].map(_dataset_weights(choice.dataset, datasets, sizes))
        if choice.model != BOTH:
            share = share * (cells["model"] == choice.model)
        users = list(together) if choice.users == BOTH else [choice.users]
        for methods, sign in ((users, 1), ([choice.alone], -1)):
            chosen = share * cells["method"].isin(methods)
            if chosen.sum() == 0:
                raise ValueError(f"no accuracy of {methods[0]!r} with model {choice.model!r}")
            weights[row] += (sign * chosen / chosen.sum()).to_numpy()
    error = weights * cells["se"].to_numpy()
    shared = np.stack(
        [error[:, (cells["dataset"] == name).to_numpy()].sum(axis=1) for name in datasets]
    )
    correlation = specified["correlation"].to_numpy(dtype=float)
    own = (1 - correlation) * (error**2).sum(axis=1)
    variance = own + correlation * (shared**2).sum(axis=0)
    return 100 * weights @ cells["mean"].to_numpy(), 100 * np.sqrt(variance), weights


def null_draws(
    cells: pd.DataFrame, weights: np.ndarray, n_draws: int, rng: np.random.Generator
) -> np.ndarray:
    """Curves that sampling error alone brings about if users with AI do as well as AI alone.

    Errors of different accuracies are drawn independently. If they are positively correlated, as
    they may be on the same questions, true curves without an effect lie closer to zero.

    Parameters
    ----------
    cells : pandas.DataFrame
        As for `differences`.
    weights : numpy.ndarray, shape (n_specifications, n_cells)
        From `differences`.
    n_draws : int
        Number of draws.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    numpy.ndarray, shape (n_draws, n_specifications)
        Percentage points.

    Examples
    --------
    >>> cells = pd.DataFrame({"se": [0.03, 0.04]})
    >>> draws = null_draws(cells, np.array([[-1.0, 1.0]]), 4000, np.random.default_rng(0))
    >>> int(draws.std().round())
    5
    """
    errors = rng.normal(size=(n_draws, len(cells))) * cells["se"].to_numpy()
    return 100 * errors @ weights.T


def _dataset_weights(
    choice: str, datasets: Sequence[str], sizes: Mapping[str, int]
) -> dict[str, float]:
    """Weight of each dataset."""
    if choice == EQUAL:
        return dict.fromkeys(datasets, 1.0)
    if choice == SIZES:
        return {name: float(sizes[name]) for name in datasets}
    return {name: float(name == choice) for name in datasets}
