"""Tables of the studies with a known truth, for tests and for runs without data."""

import functools
from collections.abc import Callable

import pandas as pd


def says_so(simulator: Callable) -> Callable:
    """Let the tables of a simulator say in their `attrs` that they are random."""

    @functools.wraps(simulator)
    def labelled(*arguments, **options):
        given = simulator(*arguments, **options)
        tables = (given,) if isinstance(given, pd.DataFrame) else given
        for table in tables:
            table.attrs["source"] = "simulated"
        return given

    return labelled
