"""How papermill writes notebooks to `build/`: in one step, with a banner on top.

`pyproject.toml` registers this for all paths that begin with `build/`, so that it works
under plain papermill, too. The banner is that of `helpers.marks`, copied from the
output of the cell that checks the parameters.
"""

import json
from pathlib import Path

from nbformat.v4 import new_markdown_cell

from helpers import marks, paths


class BuildHandler:
    """Reads and writes notebooks in `build/` for papermill."""

    @staticmethod
    def read(path: str) -> str:
        """Read a notebook."""
        return Path(path).read_text(encoding="utf-8")

    @staticmethod
    def listdir(path: str) -> list[str]:
        """List the files of a folder."""
        return [str(file) for file in Path(path).iterdir()]

    @staticmethod
    def write(buf: str, path: str) -> None:
        """Write a notebook, below its banner if it has one."""
        text = with_banner(buf)
        paths.replace_files({Path(path): text.encode()})

    @staticmethod
    def pretty_path(path: str) -> str:
        """Name a path in messages."""
        return path


def with_banner(text: str) -> str:
    """Copy the banner of a notebook above its title."""
    notebook = json.loads(text)
    cells = notebook["cells"]
    if cells and marks.BANNER in cells[0]["metadata"]:
        return text
    for cell in cells:
        for output in cell.get("outputs", []):
            if marks.BANNER in output.get("metadata", {}):
                words = "".join(output["data"]["text/markdown"])
                banner = new_markdown_cell(words, metadata={marks.BANNER: True})
                cells.insert(0, banner)
                return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    return text
