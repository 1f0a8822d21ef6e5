"""Find each data file in the mirror or the cache, or else download it with pooch.

The mirror is the folder of DATA_MIRROR or, if that is not set, `../shared/data` beside
the project if it exists; the cache is the folder of DATA_CACHE, else `data/raw`.

`data/registry.csv` lists the files. One is accepted if its SHA-256 is listed, or if its
git blob identifier is that of the published file; a copy with another content is an
error, wherever it lies. `data/unpinned.csv` lists public files whose hashes we do not
know: they are used where they are in the mirror or the cache, and never downloaded.
"""

import csv
import functools
import hashlib
import io
import os
import warnings
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from time import monotonic

from helpers import marks, paths
from helpers.data.tables import OptionError, PlainError

REGISTRY_FILE = paths.DATA / "registry.csv"
UNPINNED_FILE = paths.DATA / "unpinned.csv"
DATA_SOURCES = ("auto", "real", "simulated")
SHARED_MIRROR = paths.ROOT.parent / "shared" / "data"
# Second address of every registered file: an archive that finds a content by its hash.
ARCHIVE = "https://archive.softwareheritage.org/api/1/content/sha1_git:{git_blob}/raw/"

RETRIES = 2  # after pauses of one and two seconds
SILENT_SECONDS = 10  # to connect, and later without a byte
START_SECONDS = 30  # that every file may take, however small, all tries together
BYTES_PER_SECOND = 20_000  # of the slowest download that is still waited for
REMEDY = (
    "put the file into the folder of DATA_MIRROR or DATA_CACHE or into data/raw, or "
    "choose data_source='simulated'"
)


class DataError(PlainError):
    """A data file cannot be used; the message says which, why, and what to do."""


class DataUnavailableError(DataError):
    """A data file is not on this machine and cannot be downloaded."""


class DataIncompleteError(DataError):
    """Some files of a study are on this machine, and others cannot be had."""


@dataclass(frozen=True)
class Source:
    """Whether data are real or simulated (`kind`), and why (`reason`, one line)."""

    kind: str
    reason: str


@dataclass(frozen=True)
class Entry:
    """One row of the registry, or of the list of files without hashes, as text."""

    file: str
    url: str  # one address or several, separated by spaces
    bytes: str  # size of a copy; a second number is that of the largest to expect
    licence: str
    note: str
    sha256: str = ""
    git_blob: str = ""

    @property
    def addresses(self) -> list[str]:
        """Where the file can be downloaded, in the order to try."""
        return [*self.url.split(), ARCHIVE.format(git_blob=self.git_blob)]

    def is_right(self, content: bytes) -> bool:
        """Tell whether a content is the file, as far as its hashes are known."""
        if not self.git_blob:
            return True
        # Git hashes the content behind a header with its length.
        blob = hashlib.sha1(b"blob %d\0" % len(content), usedforsecurity=False)
        blob.update(content)
        sha256 = hashlib.sha256(content).hexdigest()
        return blob.hexdigest() == self.git_blob or sha256 in self.sha256.split()


def names(study: str) -> list[str]:
    """List the names of the registered files of a study, such as "hosking"."""
    return _files_of(study, REGISTRY_FILE)


def unpinned_here(study: str) -> list[str]:
    """List those files of a study without a known hash that are on this machine.

    Notebooks use such files where they are, so results are then not to be committed.
    """
    files = _files_of(study, UNPINNED_FILE)
    return [file for file in files if _find(_entry(file)) is not None]


def fetch(file: str) -> Path:
    """Return the path of the right copy of a data file, downloading it if needed."""
    entry = _entry(file)
    path = _find(entry)
    if path is not None:
        return path
    if not entry.git_blob:
        raise DataUnavailableError(
            f"{file} is not on this machine and is never downloaded, because its hash "
            f"is not known. Download it from {' or '.join(entry.url.split())} and "
            f"{REMEDY}."
        )
    return _download(entry)


def locate(files: Iterable[str], data_source: str) -> dict[str, Path] | None:
    """Fetch files if `data_source` is "real"; return None if it is "simulated"."""
    if data_source == "simulated":
        marks.simulate("simulated data were asked for")
        return None
    if data_source != "real":
        raise OptionError(
            f"data_source must be 'real' or 'simulated' here, not {data_source!r}; "
            "helpers.data.registry.resolve chooses between them"
        )
    return {file: fetch(file) for file in files}


def resolve(studies: Sequence[str], choice: str) -> Source:
    """Choose real or simulated data, the same for all studies of a run.

    With "auto" data are simulated only if no file of these studies is on this machine
    and none can be downloaded. If some are here and others cannot be had, this stops
    (`DataIncompleteError`), and so does "real" (`DataUnavailableError`).
    """
    if choice not in DATA_SOURCES:
        raise OptionError(
            f"data_source must be 'auto', 'real' or 'simulated', not {choice!r}"
        )
    files = []
    for study in studies:
        if not _files_of(study, REGISTRY_FILE, UNPINNED_FILE):
            raise OptionError(f"data/registry.csv has no files of a study {study!r}")
        files += names(study)
    if choice == "simulated":
        return Source("simulated", "simulated data were asked for")
    try:
        locate(files, "real")
    except DataUnavailableError as error:
        if choice == "real":
            raise
        together = " and ".join(studies)
        n_here = sum(_find(_entry(file)) is not None for file in files)
        if n_here:
            raise DataIncompleteError(
                f"{n_here} of {len(files)} files of {together} are here. {error}"
            ) from error
        return Source(
            "simulated",
            f"no file of {together} is on this machine or can be downloaded; "
            "data_source='real' says why",
        )
    return Source("real", "all registered files are here")


@functools.cache
def _read(listing: Path) -> dict[str, Entry]:
    """Read the registry, or the list of files without a known hash."""
    with listing.open(encoding="utf-8", newline="") as lines:
        return {row["file"]: Entry(**row) for row in csv.DictReader(lines)}


def _files_of(study: str, *listings: Path) -> list[str]:
    """List the names of a study's files: those in its folder."""
    files = []
    for listing in listings:
        files += [file for file in _read(listing) if file.startswith(f"{study}/")]
    return files


def _entry(file: str) -> Entry:
    """Look a file up in both lists."""
    entries = _read(REGISTRY_FILE) | _read(UNPINNED_FILE)
    if file not in entries:
        raise DataError(f"{file!r} is not in the first column of data/registry.csv.")
    return entries[file]


def _folders() -> list[Path]:
    """List the folders with copies: the mirror, if there is one, and the cache."""
    cache = paths.ROOT / (os.environ.get("DATA_CACHE") or "data/raw")
    named = os.environ.get("DATA_MIRROR")
    mirror = paths.ROOT / named if named else SHARED_MIRROR
    if mirror.is_dir():
        return [mirror, cache]
    if named:
        raise DataError(
            f"DATA_MIRROR names no folder: {mirror}. Correct the variable or unset it."
        )
    return [cache]


def _find(entry: Entry) -> Path | None:
    """Return the path of a copy if there is one; raise if it is not the right file."""
    for folder in _folders():
        path = folder / entry.file
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            continue
        except OSError as error:
            raise DataError(
                f"{path} cannot be read ({error.strerror}). Correct that, or set "
                "DATA_MIRROR and DATA_CACHE to other folders."
            ) from error
        if not entry.is_right(content):
            raise DataError(
                f"{path} is not the registered file: it has {len(content)} bytes "
                f"(registered: {entry.bytes.split()[0]}) and another hash. Delete it "
                f"and run again, or replace it with the file of {entry.addresses[0]}"
            )
        return path
    return None


def _download(entry: Entry) -> Path:
    """Let pooch download a file into the cache, from the first address that has it."""
    import requests

    with warnings.catch_warnings():  # of a bar that no notebook shows
        warnings.simplefilter("ignore")
        import pooch

    pooch.get_logger().setLevel("WARNING")  # else it names each file as it comes
    cache = _folders()[-1]
    target = cache / entry.file
    reasons = []
    for address in entry.addresses:
        files = pooch.create(
            path=cache,
            base_url="",
            registry={entry.file: None},  # `_receive` checks what came
            urls={entry.file: address},
            retry_if_failed=RETRIES,
        )
        max_bytes = int(entry.bytes.split()[-1])
        end = monotonic() + START_SECONDS + max_bytes / BYTES_PER_SECOND
        try:
            # pooch stops if another process makes the folder at the same moment
            target.parent.mkdir(parents=True, exist_ok=True)
            downloader = functools.partial(_receive, entry=entry, end=end)
            files.fetch(entry.file, downloader=downloader)
            target.chmod(0o644)  # pooch leaves it readable to its owner alone
        except (ValueError, TimeoutError, requests.RequestException) as error:
            reasons.append(f"{address}: {_reason(error)}")
        except OSError as error:
            raise DataError(
                f"{entry.file} cannot be stored in {cache} ({error.strerror or error})."
                " Make room, or set DATA_CACHE to a folder that you can write to."
            ) from error
        else:
            return _find(entry)
    raise DataUnavailableError(
        f"{entry.file} is not on this machine and cannot be downloaded "
        f"({'; '.join(reasons)}). Connect to the internet and run again, {REMEDY}."
    )


def _receive(
    url: str, output_file: str, pooch: object, entry: Entry, end: float
) -> None:
    """Download a file for pooch in one try, and write it if its hash is right.

    In a thread that is left behind when time is up: the time limit of requests is for
    a single read, and a server that sends byte after byte would keep us waiting.
    """
    from pooch import HTTPDownloader

    # not as a stream, of which pooch leaves the connection open after an error
    get = HTTPDownloader(timeout=SILENT_SECONDS, stream=False)
    body = io.BytesIO()
    finished = Future()

    def work() -> None:
        try:
            finished.set_result(get(url, body, pooch))
        except Exception as error:
            finished.set_exception(error)

    Thread(target=work, daemon=True).start()
    try:
        finished.result(timeout=max(0, end - monotonic()))
    except TimeoutError:
        raise TimeoutError("not complete in time") from None
    content = body.getvalue()
    if not entry.is_right(content):
        what = f"{len(content)} bytes that are not the registered file"
        if content[:200].lstrip().lower().startswith((b"<!doctype", b"<html")):
            what = "a web page instead of the file"
        raise ValueError(f"it sent {what}")
    Path(output_file).write_bytes(content)


def _reason(error: Exception) -> str:
    """Say in a few words what stopped a download."""
    import requests

    if isinstance(error, requests.HTTPError):
        return f"HTTP status {error.response.status_code}"
    if isinstance(error, requests.Timeout):
        return f"no answer for {SILENT_SECONDS} s"
    if isinstance(error, requests.RequestException):
        return "the connection failed or broke off"
    return str(error)
