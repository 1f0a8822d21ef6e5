"""Where things are, and how a file is replaced so that nobody sees half of it."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "data"
PUBLISHED = DATA / "published"
NOTEBOOKS = ROOT / "notebooks"
FIGURES = ROOT / "figures"
RESULTS = ROOT / "results"
# Every run writes here; tests choose another folder.
BUILD = Path(os.environ.get("BUILD_FOLDER") or ROOT / "build")


def replace_files(contents: Mapping[Path, bytes]) -> None:
    """Write files, each under another name first, then put in its place in one step."""
    for file, content in contents.items():
        part = file.with_name(f".{file.name}.{token_hex(4)}.part")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            part.write_bytes(content)
            part.replace(file)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(file)) from None
        finally:
            with suppress(OSError):
                part.unlink()
