"""What one run leaves to the next: what is done, and what is missing."""

import json
import sys
import threading
from pathlib import Path

from doit.dependency import JsonDB

from helpers import paths
from helpers.paths import replace_files

_noting = threading.Lock()


class State(JsonDB):
    """What doit knows of tasks: saved in one step after each that is done, anew if damaged."""

    told = False

    def _load(self) -> dict:
        """Read what former runs have done."""
        known = read_object(Path(self.name))
        if known is None or not all(isinstance(task, dict) for task in known.values()):
            print(f"{self.name} was damaged: nothing counts as done, and all tasks run again")
            return {}
        return known

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
            if not self.told:
                print(f"{self.name} could not be saved: {error.strerror}", file=sys.stderr)
            self.told = True


def read_object(file: Path) -> dict | None:
    """Read a JSON object; None if the file is damaged or not there."""
    try:
        content = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def missing(folder: Path) -> dict[str, str]:
    """Notebooks that a run could not finish, each with the reason in one line."""
    there = {file.stem for file in paths.NOTEBOOKS.glob("*.ipynb")}
    noted = read_object(folder / "missing.json") or {}
    return {name: why for name, why in noted.items() if name in there}


def note_missing(folder: Path, name: str, reason: str) -> None:
    """Note why a notebook has no results; an empty reason says that it has."""
    with _noting:
        noted = sorted((missing(folder) | {name: reason}).items())
        text = json.dumps({name: why for name, why in noted if why}, indent=1)
        replace_files({folder / "missing.json": f"{text}\n".encode()})
