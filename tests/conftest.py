"""Settings and fixtures of all tests."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import paths
from helpers.data import registry

os.environ["MPLBACKEND"] = "Agg"
# What a shell starts in the background ignores Ctrl-C, and so would all that tests
# start and stop.
signal.signal(signal.SIGINT, signal.default_int_handler)

TESTED_FOLDERS = (
    "hosking/batch_controlled",
    "hosking/batch_v1",
    "hosking/expert",
    "hosking/raw",
    "kamoda",
)


@pytest.fixture(scope="session")
def real_data() -> str:
    """Make sure that the published files are there; give the name to load them by."""
    needed = [
        file
        for study in ("hosking", "kamoda")
        for file in registry.names(study)
        if file.startswith(TESTED_FOLDERS)
    ]
    try:
        registry.locate(needed, "real")
    except registry.DataUnavailableError:
        pytest.skip("no real data")
    return "real"


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Path:
    """Folder of the site of what is committed; Sphinx has no complaint."""
    pytest.importorskip("furo", reason="what builds the site is missing")
    folder = tmp_path_factory.mktemp("site") / "site"
    if "PYTEST_XDIST_WORKER" in os.environ:  # stop if another process builds it, too
        (tmp_path_factory.getbasetemp().parent / "site is built").mkdir()
    places = ["-c", "docs", "-d", str(folder.with_name("trees")), ".", str(folder)]
    built = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-E", *places],
        cwd=paths.ROOT,
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    assert built.stderr == ""
    return folder


@pytest.fixture(scope="module")
def browser():
    """Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        program = shutil.which("chromium")
        started = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox"]
        )
        yield started
        started.close()
