"""Distances from the ideal: known answers."""

import numpy as np
import pandas as pd
import pytest

from helpers.studies import kamoda_models


def test_distances_are_zero_at_the_ideal_and_one_at_the_far_end():
    ratings = pd.DataFrame(
        {
            "factuality": [3.0, 0, 1],
            "amount_info": [0.0, 1, -1],
            "formality": [0.0, -1, 1],
            "acceptability": [3.0, 0, 1],
        }
    )
    found = kamoda_models.distances(ratings)
    expected = [[0, 0, 0, 0], [1, 1, 1, 3], [2 / 3, 1, 1, 2]]
    assert found.to_numpy() == pytest.approx(np.array(expected))
