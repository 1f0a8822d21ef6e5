"""What one run leaves to the next: what is done, and what is missing."""

import json
import shutil
import sys
import threading
from pathlib import Path

from doit.dependency import JsonDB

from helpers import paths
from helpers.paths import replace_files

_noting = threading.Lock()


class State(JsonDB):
    """What doit knows of tasks: saved in one step after each that is done, anew if damaged."""

    def _load(self) -> dict:
        """Read what former runs have done."""
        file = Path(self.name)
        known = read_state(file)
        if known is None:
            print(f"{file.name} was damaged: nothing counts as done, and all tasks run again")
            discard([file])
        return known or {}

    def set(self, task_id: str, dependency: str, value: object) -> None:
        """Note a value, and save all when it is the last that doit notes of a task."""
        super().set(task_id, dependency, value)
        if dependency == "deps:":
            self.dump()

    def dump(self) -> None:
        """Save all; where that fails, the next run does more again, and this one goes on."""
        try:
            replace_files({Path(self.name): self.codec.encode(self._db).encode()})
        except OSError as error:
            print(f"{self.name} could not be saved: {error.strerror}", file=sys.stderr)


def read_state(file: Path) -> dict | None:
    """Read doit's file; None if it is damaged."""
    try:
        known = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    is_sound = isinstance(known, dict) and all(isinstance(task, dict) for task in known.values())
    return known if is_sound else None


def discard(files: list[Path]) -> None:
    """Delete files, and folders in place of files."""
    for file in files:
        if file.is_dir():
            shutil.rmtree(file)
        else:
            file.unlink(missing_ok=True)


def missing(folder: Path) -> dict[str, str]:
    """Notebooks that a run could not finish, each with the reason in one line."""
    try:
        noted = json.loads((folder / "missing.json").read_bytes())
    except (OSError, ValueError):
        return {}
    there = {file.stem for file in paths.NOTEBOOKS.glob("*.ipynb")}
    return {name: why for name, why in noted.items() if name in there}


def note_missing(folder: Path, name: str, reason: str) -> None:
    """Note why a notebook has no results; an empty reason says that it has."""
    with _noting:
        noted = missing(folder) | {name: reason}
        noted = {name: why for name, why in sorted(noted.items()) if why}
        replace_files({folder / "missing.json": f"{json.dumps(noted, indent=1)}\n".encode()})
