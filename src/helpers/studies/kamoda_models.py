"""Distances from the ideal, to which the regression of Kamoda et al. is fitted."""

import pandas as pd

from helpers import aspects
from helpers.data.columns.kamoda import ASPECTS, IDEALS, RANGES

WORKER_AND_QUESTION = ["rater_id", "question_id"]
MISSING = "missing"  # points of acceptability below its ideal


def distances(ratings: pd.DataFrame) -> pd.DataFrame:
    """Distances from the ideal: what the paper's regression is fitted to.

    Parameters
    ----------
    ratings : pandas.DataFrame
        Ratings of the three aspects and of ``acceptability``, single ones or means.

    Returns
    -------
    pandas.DataFrame
        The aspects, 0 where ideal and 1 as far from it as the scale allows, and
        ``missing``, the points of acceptability below 3. In the order of `ratings`.

    References
    ----------
    Kamoda et al. (2025), section 4.1, equations 1 and 2.

    Examples
    --------
    >>> wrong = {"factuality": [0.0], "amount_info": [-1.0], "formality": [0.0]}
    >>> distances(pd.DataFrame({**wrong, "acceptability": [1.0]})).iloc[0].tolist()
    [1.0, 1.0, 0.0, 2.0]
    """
    table = aspects.ideal_distance(ratings, list(ASPECTS), IDEALS, RANGES)
    table[MISSING] = IDEALS["acceptability"] - ratings["acceptability"]
    return table
