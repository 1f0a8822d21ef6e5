"""Settings of pytest for the whole project."""

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS_OF_SITE = tuple(
    f"tests/test_{name}.py" for name in ("site", "browser", "play_browser")
)
# Tests write to a folder of their own, notebooks under nbval to `build`, as users' do.
# Set here, before any module of the project is loaded; processes of xdist inherit it.
if "BUILD_FOLDER" not in os.environ:
    is_nbval = "--nbval" in sys.argv
    own = str(Path(__file__).with_name("build")) if is_nbval else tempfile.mkdtemp()
    os.environ["BUILD_FOLDER"] = own


def pytest_collectstart(collector) -> None:
    """Let nbval ignore what notebooks print to stderr."""
    if hasattr(collector, "skip_compare"):
        collector.skip_compare += ("stderr",)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Let one process run all tests of the site, so that it is built once.

    The mark xdist_group does nothing with pytest 9.2 (pytest-xdist, issue 1386).
    """
    if config.getvalue("dist") != "load":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class OneSite(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "site" if nodeid.startswith(TESTS_OF_SITE) else nodeid

    return OneSite(config, log)


@pytest.fixture(autouse=True)
def nothing_is_left_behind() -> Iterator[None]:
    """Let no test change what the next one finds, so that they run in any order."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    from helpers import marks

    environment = dict(os.environ)
    folder = Path.cwd()
    with mpl.rc_context():
        yield
        plt.close("all")
    marks.begin(None)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
