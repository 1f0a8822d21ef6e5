"""Find each data file: local mirror, then cache, then download; always checked by hash.

The order is the same however the data are loaded. The mirror is the folder of
DATA_MIRROR or, if that is not set, `../shared/data` beside the project if it exists.
Whoever loads a study gets real data or an error, unless simulated tables are asked for
("simulated") or allowed ("auto"); these are announced by a `UserWarning`.

`data/registry.csv` lists the files. A file is accepted if its SHA-256 is listed, or if
its git blob identifier is that of the published file. `data/unpinned.csv` lists public
files whose hashes we do not know: that of the copy seen first is kept in the cache, and
checked from then on.

`helpers.data.download` fetches what is not here.
"""

import csv
import difflib
import functools
import hashlib
import os
import stat
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from helpers import paths
from helpers.data import download
from helpers.data.download import (
    DataError,
    DataIncompleteError,
    DataUnavailableError,
)
from helpers.data.tables import CHECKED, state_of

REGISTRY_FILE = paths.DATA / "registry.csv"
UNPINNED_FILE = paths.DATA / "unpinned.csv"
DATA_SOURCES = ("auto", "real", "simulated")
SHARED_MIRROR = paths.ROOT.parent / "shared" / "data"
# Second source of registered files: an archive that finds a content by its hash, here
# the content swh:1:cnt:GIT_BLOB.
ARCHIVES = (
    "https://archive.softwareheritage.org/api/1/content/sha1_git:{git_blob}/raw/",
)

_hashes_of_files_read: dict[str, str] = {}
_simulated: set[str] = set()  # files in whose place tables are simulated


@dataclass(frozen=True)
class Entry:
    """One row of the registry, or of the list of files without hashes, as text.

    `url` may hold several addresses separated by spaces, tried in their order.
    """

    file: str
    url: str
    bytes: str
    licence: str
    note: str
    sha256: str = ""
    git_blob: str = ""

    @property
    def max_bytes(self) -> int:
        """Bytes that a download may have at most.

        A second number in `bytes` is a bound for a copy whose size is not known.
        """
        return int(self.bytes.split()[-1])

    @property
    def addresses(self) -> list[str]:
        """Where the file can be had, the first choice first."""
        addresses = self.url.split()
        if self.git_blob:
            addresses += [each.format(git_blob=self.git_blob) for each in ARCHIVES]
        return addresses


def names(study: str) -> list[str]:
    """List the names of the registered files of a study."""
    return [entry.file for entry in _of_study(study, REGISTRY_FILE)]


def fetch(file: str) -> Path:
    """Return the path of a verified copy of a data file, downloading it if needed."""
    entries = _entries(REGISTRY_FILE)
    if file not in entries:
        advice = "The first column names all files."
        similar = difflib.get_close_matches(file, entries)
        if similar:
            advice = f"Did you mean {similar[0]!r}?"
        raise DataError(f"{file!r} is not in data/registry.csv. {advice}")
    return _provide(entries[file])


def locate(files: Iterable[str], data_source: str) -> dict[str, Path] | None:
    """Fetch all files of a study, or return None if the study is to be simulated.

    A study is real or simulated as a whole. With "auto" it is simulated only if none of
    its files, of other tables too, is on this machine and its server cannot be reached.
    A study that is simulated is announced by a warning and listed by
    `simulated_studies`.
    """
    simulate = _is_simulated(data_source)
    files = list(files)
    study = _study_of(files[0])
    if simulate:
        note_simulated(files, study, "simulated data were asked for")
        return None
    try:
        located = {file: fetch(file) for file in files}
    except (DataUnavailableError, DataIncompleteError) as error:
        together = names(study) if data_source == "auto" else files
        n_here = sum(_local_copy(file) is not None for file in together)
        if n_here or isinstance(error, DataIncompleteError):
            raise DataIncompleteError(
                f"{study}: {n_here} of {len(together)} files are here. {error}"
            ) from error
        if data_source == "real":
            raise
        note_simulated(files, study, str(error))
        return None
    _simulated.difference_update(files)
    _record_use(located)
    return located


def _study_of(file: str) -> str:
    """Name the study of a file: its folder."""
    return file.partition("/")[0]


def note_simulated(files: Iterable[str], what: str, why: str) -> None:
    """Note, and say, that random tables take the place of files, and why."""
    _simulated.update(files)
    warnings.warn(
        f"SIMULATED DATA: the tables of {what} are random numbers ({why})",
        stacklevel=4,  # where the study's loader was called
    )


def simulated_studies() -> list[str]:
    """Studies of which this process has simulated tables, and not loaded real ones."""
    return sorted({_study_of(file) for file in _simulated})


def locate_unpinned(files: Sequence[str], data_source: str) -> dict[str, Path] | None:
    """Find files without a registered hash, or return None if they are simulated."""
    if _is_simulated(data_source):
        return None
    located = {}
    missing = []
    for file in files:
        entry = _entries(UNPINNED_FILE)[file]
        copy = _verified_copy(entry)
        if copy is None:
            missing.append(f"  {file} from {' or '.join(entry.addresses)}")
        else:
            located[file] = copy
    if not missing:
        _simulated.difference_update(located)
        _record_use(located)
        return located
    if data_source == "auto" and not located:
        return None
    listing = "\n".join(missing)
    raise DataUnavailableError(
        f"{len(missing)} of {len(files)} files are missing. `make reproduce` fetches "
        "them where their server answers; or put them into the folder of DATA_MIRROR "
        f"or into data/raw, or choose data_source='simulated'.\n{listing}"
    )


def local_file(file: str | Path) -> Path:
    """Return the path of a file that needs no fetching, and record that it is read."""
    path = paths.ROOT / file
    name = path.name
    if path.is_relative_to(paths.ROOT):
        name = str(path.relative_to(paths.ROOT))
    _record_use({name: path})
    return path


def files_read() -> dict[str, str]:
    """Name the files that this process has taken data from, with their SHA-256."""
    return dict(_hashes_of_files_read)


def _record_use(located: dict[str, Path]) -> None:
    """Remember that files are read, and what they hold."""
    for file, path in located.items():
        _hashes_of_files_read[file] = _sha256(path)


def _sha256(path: Path) -> str:
    """SHA-256 of a file."""
    size, mtime_ns = state_of(path)
    sha256, _ = _hashes(path, size, mtime_ns)
    return sha256


def fetch_unpinned(study: str) -> dict[str, str]:
    """Fetch a study's files without a registered hash, and keep the hash of each.

    Parameters
    ----------
    study : str
        Folder of the files.

    Returns
    -------
    dict
        By file: nothing if it is here, or else why it is not.

    Raises
    ------
    DataError
        If a copy is not the one seen first, or the cache cannot be used.
    """
    reasons = {}
    for entry in _of_study(study, UNPINNED_FILE):
        try:
            path = _provide(entry)
            if not _known_hashes(entry):
                _keep_hash(entry, path)
            reasons[entry.file] = ""
        except (DataUnavailableError, DataIncompleteError) as error:
            reasons[entry.file] = str(error.__cause__)
    return reasons


def _keep_hash(entry: Entry, path: Path) -> None:
    """Write the SHA-256 of a copy into the cache, in the form of sha256sum."""
    sha256, _ = _hashes_of(_read(path))
    line = f"{sha256}  {path.name}\n"
    _store(line.encode(), _folders()["cache"] / f"{entry.file}.sha256")


def _is_simulated(data_source: str) -> bool:
    """Tell whether only simulated data are wanted; stop if the source is unknown."""
    if data_source not in DATA_SOURCES:
        raise ValueError(
            f"data_source must be 'auto', 'real' or 'simulated', not {data_source!r}"
        )
    return data_source == "simulated"


@functools.cache
def _entries(listing: Path) -> dict[str, Entry]:
    """Read the registry, or the list of files without a registered hash."""
    with listing.open(encoding="utf-8", newline="") as lines:
        return {row["file"]: Entry(**row) for row in csv.DictReader(lines)}


def _of_study(study: str, *listings: Path) -> list[Entry]:
    """Choose the files of a study."""
    entries = []
    for listing in listings:
        entries += _entries(listing).values()
    return [entry for entry in entries if entry.file.startswith(f"{study}/")]


def _folders() -> dict[str, Path]:
    """List the folders with copies; one that DATA_MIRROR names must exist."""
    cache_name = os.environ.get("DATA_CACHE") or "data/raw"
    cache = paths.ROOT / cache_name
    mirror_name = os.environ.get("DATA_MIRROR")
    if mirror_name:
        mirror = paths.ROOT / mirror_name
    elif SHARED_MIRROR.is_dir():
        mirror = SHARED_MIRROR
    else:
        return {"cache": cache}
    if not mirror.is_dir():
        raise DataError(
            f"DATA_MIRROR names no folder: {mirror}. Correct the variable or unset it."
        )
    return {"mirror": mirror, "cache": cache}


def _local_copy(file: str) -> Path | None:
    """Return the path of a copy in the mirror or in the cache, if there is one."""
    for folder in _folders().values():
        path = folder / file
        try:
            mode = path.stat().st_mode
        except FileNotFoundError:
            continue
        except OSError as error:
            raise _unreadable(path, error.strerror) from error
        if not stat.S_ISREG(mode):
            raise _unreadable(path, "it is not a file")
        return path
    return None


def _unreadable(path: Path, problem: str) -> DataError:
    """Say that what is in the place of a file cannot be read."""
    return DataError(
        f"{path} cannot be read ({problem}). Correct that, or set DATA_MIRROR and "
        "DATA_CACHE to other folders."
    )


def _read(path: Path) -> bytes:
    """Read a file, or say why that cannot be done."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error.strerror) from error


def _provide(entry: Entry) -> Path:
    """Return the path of a verified copy, downloading it if needed."""
    copy = _verified_copy(entry)
    if copy is not None:
        return copy
    download.fetch(
        entry.file,
        entry.addresses,
        _folders()["cache"],
        max_bytes=entry.max_bytes,
        is_right=lambda content: _is_right(entry, _hashes_of(content)),
    )
    return _verified_copy(entry)


def _verified_copy(entry: Entry) -> Path | None:
    """Return the path of a copy, if there is one; raise if it is not the right file."""
    path = _local_copy(entry.file)
    if path is None:
        return None
    size, mtime_ns = state_of(path)
    # Readers compare this with the state after reading: see `tables.readable`.
    CHECKED[path] = (size, mtime_ns)
    if not _is_right(entry, _hashes(path, size, mtime_ns)):
        raise _corrupt(path, entry, size)
    return path


def _corrupt(path: Path, entry: Entry, size: int) -> DataError:
    """Say that a copy is not the registered file, and what to do."""
    if entry.git_blob:
        which = "registered"
        hint = f"registered: {entry.bytes.split()[0]}"
    else:
        which = "first seen"
        hint = f"to accept it, delete {_local_copy(f'{entry.file}.sha256')}"
    if path == _folders()["cache"] / entry.file:
        advice = "Delete it and run again."
    else:
        advice = "Replace it, or delete it to use the cache or a download."
    return DataError(
        f"{path} is not the {which} {entry.file}: it has {size} bytes ({hint}) and "
        f"another SHA-256. {advice}"
    )


def _is_right(entry: Entry, hashes: tuple[str, str]) -> bool:
    """Tell whether one of these hashes is known for the file, or none is known yet."""
    known = _known_hashes(entry)
    if not known:
        return True
    return not known.isdisjoint(hashes)


def _known_hashes(entry: Entry) -> set[str]:
    """List the registered hashes of a file; if none, that of the copy seen first."""
    if entry.git_blob:
        return {*entry.sha256.split(), entry.git_blob}
    hash_file = _local_copy(f"{entry.file}.sha256")
    if hash_file is None:
        return set()
    # as sha256sum writes it: hash and name
    words = _read(hash_file).decode(errors="replace").split()
    return set(words[:1])


@functools.cache
def _hashes(path: Path, size: int, mtime_ns: int) -> tuple[str, str]:
    """Return the hashes of a file; size and time make the cached answer expire."""
    return _hashes_of(_read(path))


def _hashes_of(content: bytes) -> tuple[str, str]:
    """Return SHA-256 and git blob identifier."""
    sha256 = hashlib.sha256(content)
    # Git hashes the content behind a header with its length.
    header = b"blob %d\0" % len(content)
    blob = hashlib.sha1(header + content, usedforsecurity=False)
    return sha256.hexdigest(), blob.hexdigest()


def _store(content: bytes, target: Path) -> None:
    """Write a file, or say why that cannot be done."""
    try:
        paths.replace_files({target: content})
    except OSError as error:
        raise download.unwritable(target, error) from error
