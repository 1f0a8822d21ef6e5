"""Raters and rows of any study: who rates otherwise than the rest, and what follows from it."""

import numpy as np

from helpers.own.intake import Study


def doubtful(study: Study) -> dict[str, np.ndarray]:
    """Rows of each kind of doubtful ratings."""
    return {}
