"""Settings and fixtures of all tests."""

import os
import signal

import pytest

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
    except registry.DataUnavailableError as error:
        pytest.skip(f"no real data: {error}")
    return "real"
