"""Where things are, and how a file is replaced so that nobody sees half of it."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "data"
PUBLISHED = DATA / "published"
NOTEBOOKS = ROOT / "notebooks"
BUILD = ROOT / "build"


def notebook_place(name: str) -> str:
    """File of a notebook within `notebooks`: there, or in its folder `appendix`."""
    in_appendix = f"appendix/{name}.ipynb"
    return in_appendix if (NOTEBOOKS / in_appendix).is_file() else f"{name}.ipynb"


def output_dir(out_dir: str) -> Path:
    """Return the output folder of a run, creating it if needed.

    Parameters
    ----------
    out_dir : str
        Folder name. A relative one lies under the project root, wherever the caller
        runs.

    Returns
    -------
    pathlib.Path
        The absolute folder, which exists.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     output_dir(f"{folder}/run").is_dir()
    True
    """
    folder = ROOT / out_dir
    folder.mkdir(parents=True, exist_ok=True)
    return folder


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
