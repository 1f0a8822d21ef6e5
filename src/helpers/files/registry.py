"""Find each data file: local mirror, then cache, then download; checked by hash in every case.

`data/registry.csv` lists the files. A file is accepted if its SHA-256 is listed, or if its git
blob identifier is that of the published file.

`data/unpinned.csv` lists files whose hashes we do not know. They are never downloaded, and taken as
they are from the mirror or the cache.
"""

import contextlib
import csv
import difflib
import functools
import hashlib
import os
import secrets
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from helpers import paths
from helpers.files.tables import PlainError

REGISTRY_FILE = paths.DATA / "registry.csv"
UNPINNED_FILE = paths.DATA / "unpinned.csv"
DATA_SOURCES = ("auto", "real", "simulated")
PROBE_SECONDS = 5
STALL_SECONDS = 10

_failed_hosts: dict[str, str] = {}
_answering_hosts: set[str] = set()
_read: dict[str, str] = {}


class DataError(PlainError):
    """A data file cannot be provided because something is set up wrongly."""


class DataUnavailableError(DataError):
    """A data file is neither on this machine nor to be had from its server."""


class DataCorruptError(DataError):
    """A data file is not the registered one."""


@dataclass(frozen=True)
class Entry:
    """One row of the registry, as text."""

    file: str
    url: str
    sha256: str
    git_blob: str
    bytes: str
    licence: str
    note: str

    @property
    def host(self) -> str:
        """Server that the file is downloaded from."""
        return urlsplit(self.url).netloc


def names() -> list[str]:
    """List the names of all registered files."""
    return list(_entries(REGISTRY_FILE))


def fetch(file: str) -> Path:
    """Return the path of a verified copy of a data file, downloading it if needed."""
    entry, cached = _entry(file), _cache() / file
    copy = _local_copy(file)
    if copy is None:
        return _download(entry, cached)
    mirrored = "Replace it, or unset DATA_MIRROR to use the cache or a download."
    return _verified(copy, entry, "Delete it and run again." if copy == cached else mirrored)


def locate(files: Iterable[str], data_source: str) -> dict[str, Path] | None:
    """Fetch all files of a study, or say that it is to be simulated."""
    if _is_simulated(data_source):
        return None
    try:
        return _noted({file: fetch(file) for file in files})
    except DataUnavailableError:
        if data_source == "real":
            raise
        return None


def locate_unpinned(files: Sequence[str], data_source: str) -> dict[str, Path] | None:
    """Find files whose hashes are not known, or say that they are to be simulated."""
    if _is_simulated(data_source):
        return None
    with UNPINNED_FILE.open(encoding="utf-8", newline="") as lines:
        listed = {row["file"]: row["url"] for row in csv.DictReader(lines)}
    urls = {file: listed[file] for file in files}
    found = {file: path for file in urls if (path := _local_copy(file)) is not None}
    if len(found) == len(urls):
        return _noted(found)
    if data_source == "auto" and not found:
        return None
    missing = [f"  {file} from {url}" for file, url in urls.items() if file not in found]
    raise DataUnavailableError(
        f"{len(missing)} of {len(urls)} files are missing. Put them into the folder of "
        "DATA_MIRROR or into data/raw, or choose data_source='simulated'.\n" + "\n".join(missing)
    )


def given(file: str | Path) -> Path:
    """Return the path of a file that needs no fetching, and remember that it is read."""
    path = paths.ROOT / file
    name = path.relative_to(paths.ROOT) if path.is_relative_to(paths.ROOT) else path.name
    return _noted({str(name): path})[str(name)]


def files_read() -> dict[str, str]:
    """Name the files that this process has taken data from, with their SHA-256."""
    return dict(_read)


def current_hash(file: str) -> str:
    """SHA-256 of the file as it is on this machine now; empty if it is not here."""
    path = paths.ROOT / file if file.startswith("data/") else _local_copy(file)
    return _sha256(path) if path and path.is_file() else ""


def _noted(located: dict[str, Path]) -> dict[str, Path]:
    """Remember that files are read, and what they hold."""
    _read.update({file: _sha256(path) for file, path in located.items()})
    return located


def _sha256(path: Path) -> str:
    """SHA-256 of a file."""
    status = path.stat()
    return _hashes(path, status.st_size, status.st_mtime_ns)[0]


def _is_simulated(data_source: str) -> bool:
    """Tell whether no data are wanted; stop unless this is one of the known kinds of data."""
    if data_source not in DATA_SOURCES:
        raise ValueError(f"data_source must be 'auto', 'real' or 'simulated', not {data_source!r}")
    return data_source == "simulated"


def _local_copy(file: str) -> Path | None:
    """Return the path of a copy in the mirror or in the cache, if there is one."""
    copies = (folder / file for folder in (_mirror(), _cache()) if folder)
    return next((copy for copy in copies if copy.is_file()), None)


@functools.cache
def _entries(registry_file: Path) -> dict[str, Entry]:
    """Read the registry."""
    with registry_file.open(encoding="utf-8", newline="") as lines:
        return {row["file"]: Entry(**row) for row in csv.DictReader(lines)}


def _entry(file: str) -> Entry:
    """Look up a file, suggesting the nearest name if there is none."""
    entries = _entries(REGISTRY_FILE)
    if file not in entries:
        nearest = difflib.get_close_matches(file, entries, n=1)
        advice = f"Did you mean {nearest[0]!r}?" if nearest else "The first column names all files."
        raise DataError(f"{file!r} is not in data/registry.csv. {advice}")
    return entries[file]


def _mirror() -> Path | None:
    """Return the folder named by DATA_MIRROR, which must exist, or None."""
    name = os.environ.get("DATA_MIRROR")
    if not name:
        return None
    if not (folder := paths.ROOT / name).is_dir():
        raise DataError(f"DATA_MIRROR names no folder: {folder}. Correct the variable or unset it.")
    return folder


def _cache() -> Path:
    """Return the folder that downloads are kept in."""
    return paths.ROOT / (os.environ.get("DATA_CACHE") or "data/raw")


def _verified(path: Path, entry: Entry, advice: str) -> Path:
    """Return the path if it holds the registered file; otherwise raise with advice."""
    status = path.stat()
    if {*entry.sha256.split(), entry.git_blob}.isdisjoint(
        _hashes(path, status.st_size, status.st_mtime_ns)
    ):
        raise DataCorruptError(
            f"{path} is not the registered {entry.file}: it has {status.st_size} bytes "
            f"(registered: {entry.bytes}) and another SHA-256. {advice}"
        )
    return path


@functools.cache
def _hashes(path: Path, size: int, mtime_ns: int) -> tuple[str, str]:
    """Return SHA-256 and git blob identifier; size and time make the cached answer expire."""
    content = path.read_bytes()
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False)
    return hashlib.sha256(content).hexdigest(), blob.hexdigest()


def _download(entry: Entry, target: Path) -> Path:
    """Download a file under a temporary name and move it to its place once verified."""
    _require_answer(entry)
    with _temporary_file(target) as part:
        try:
            _downloader(STALL_SECONDS)(entry.url, str(part), None)
        except OSError as error:
            _failed_hosts[entry.host] = _reason(error)
            raise _unavailable(entry) from error
        _verified(part, entry, "This is a fresh download, which was not kept: run again.")
        part.replace(target)
    return target


def _downloader(timeout: int) -> Callable:
    """Load pooch only where something is downloaded: it is slow to load."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pooch

    return pooch.HTTPDownloader(timeout=timeout)


@contextlib.contextmanager
def _temporary_file(target: Path) -> Iterator[Path]:
    """Give a new, unique file beside the target and remove it at the end if it is still there."""
    part = target.with_name(f".{target.name}-{secrets.token_hex(8)}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part.touch(exist_ok=False)
    except OSError as error:
        raise DataError(
            f"{target.name} cannot be stored in {target.parent} ({error.strerror}). "
            "Set DATA_CACHE to a folder that you can write to."
        ) from error
    try:
        yield part
    finally:
        part.unlink(missing_ok=True)


def _require_answer(entry: Entry) -> None:
    """Raise unless the server answers; each server is asked at most once per process."""
    if entry.host not in _answering_hosts and entry.host not in _failed_hosts:
        _probe(entry)
    if entry.host in _failed_hosts:
        raise _unavailable(entry)


def _probe(entry: Entry) -> None:
    """Ask a server for a header, in a thread because looking up a name has no time limit."""
    downloader = _downloader(PROBE_SECONDS)  # loading it must not count as waiting

    def ask() -> None:
        try:
            downloader(entry.url, None, None, check_only=True)
            _answering_hosts.add(entry.host)
        except OSError as error:
            _failed_hosts[entry.host] = _reason(error)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(PROBE_SECONDS)
    if thread.is_alive():
        _failed_hosts[entry.host] = f"no answer within {PROBE_SECONDS} seconds"


def _reason(error: OSError) -> str:
    """Name the cause of a failed request in a few words."""
    response = getattr(error, "response", None)
    if response is not None:
        return f"HTTP status {response.status_code}"
    return error.strerror or type(error).__name__


def _unavailable(entry: Entry) -> DataUnavailableError:
    """Say that a file cannot be had, why, and what to do."""
    return DataUnavailableError(
        f"{entry.file} is neither in the mirror nor in the cache and cannot be downloaded from "
        f"{entry.host} ({_failed_hosts[entry.host]}). Connect to the internet and run again, set "
        "DATA_MIRROR to a folder that holds the file, or choose data_source='simulated'."
    )
