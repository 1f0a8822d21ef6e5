"""Settings of pytest for the whole project."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest


def pytest_collectstart(collector) -> None:
    """Let nbval ignore what notebooks print to stderr."""
    if hasattr(collector, "skip_compare"):
        collector.skip_compare += ("stderr",)


@pytest.fixture(autouse=True)
def nothing_is_left_behind() -> Iterator[None]:
    """Let no test change what the next one finds, so that they run in any order."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    from helpers import show
    from helpers.data import registry

    environment = dict(os.environ)
    folder = Path.cwd()
    style = dict(show._style)
    show._run["current"] = None
    registry._hashes_of_files_read.clear()
    registry._simulated.clear()
    with mpl.rc_context():
        yield
        plt.close("all")
    show._style.update(style)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
