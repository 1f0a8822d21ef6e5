"""Find each data file: local mirror, then cache, then download; always checked by hash.

The order is the same however the data are loaded. The mirror is the folder of
DATA_MIRROR or, if that is not set, `../shared/data` beside the project if it exists.
Whoever loads a study gets real data or an error, unless simulated tables are asked for
("simulated") or allowed ("auto"); these are announced by a `UserWarning`.

`data/registry.csv` lists the files. A file is accepted if its SHA-256 is listed, or if
its git blob identifier is that of the published file. `data/unpinned.csv` lists public
files whose hashes we do not know: that of the copy seen first is kept in the cache, and
checked from then on.

Pooch downloads: it tries again after a fault, shows how far it is, and puts a file in
its place in one step. Our downloader for it takes no more bytes and seconds than the
file may have. A download stays in memory until it is whole and checked, so that what
was hashed is what is stored.
"""

import csv
import difflib
import functools
import hashlib
import io
import json
import os
import stat
import sys
import warnings
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

import pandas as pd

from helpers import paths
from helpers.data.tables import CHECKED, PlainError, state_of

if TYPE_CHECKING:
    import requests

REGISTRY_FILE = paths.DATA / "registry.csv"
UNPINNED_FILE = paths.DATA / "unpinned.csv"
DATA_SOURCES = ("auto", "real", "simulated")
CONNECT_SECONDS = 6
STALL_SECONDS = 10  # without a byte
START_SECONDS = 30  # that every file may take, however small, all tries together
MIN_BYTES_PER_SECOND = 20_000  # of a transfer that is still waited for
RETRIES = 3  # after pauses of one, two and three seconds
TRIES_WITHOUT_ANSWER = 2  # where a server has not answered at all
TRANSIENT_STATUSES = (408, 425, 429)  # below 500, and another try may help
SHARED_MIRROR = paths.ROOT.parent / "shared" / "data"
# Second source of registered files: an archive that finds a content by its hash, here
# the content swh:1:cnt:GIT_BLOB.
ARCHIVES = (
    "https://archive.softwareheritage.org/api/1/content/sha1_git:{git_blob}/raw/",
)

_failed_hosts: dict[str, str] = {}
_answering_hosts: set[str] = set()
_hashes_of_files_read: dict[str, str] = {}
_simulated: set[str] = set()  # files in whose place tables are simulated


class DataError(PlainError):
    """A data file cannot be had because something on this machine is set up wrongly."""


class DataUnavailableError(DataError):
    """A data file is not on this machine, and no server answers."""


class DataIncompleteError(DataError):
    """A data file is missing, but its server or others of its study are there."""


class _GivenUp(Exception):
    """A download failed in a way after which pooch does not try again."""


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

    @property
    def host(self) -> str:
        """Server that the file is downloaded from first."""
        return urlsplit(self.addresses[0]).netloc


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
        _simulated.update(files)
        warn_simulated(study, "simulated data were asked for")
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
        _simulated.update(files)
        warn_simulated(study, str(error))
        return None
    _simulated.difference_update(files)
    _record_use(located)
    return located


def _study_of(file: str) -> str:
    """Name the study of a file: its folder."""
    return file.partition("/")[0]


def warn_simulated(what: str, why: str) -> None:
    """Say that the tables that follow are random, and why."""
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
            reasons[entry.file] = _failed_hosts.get(entry.host, str(error.__cause__))
    return reasons


def _keep_hash(entry: Entry, path: Path) -> None:
    """Write the SHA-256 of a copy into the cache, in the form of sha256sum."""
    sha256, _ = _hashes_of(_read(path))
    line = f"{sha256}  {path.name}\n"
    _store(line.encode(), _folders()["cache"] / f"{entry.file}.sha256")


def status(study: str) -> pd.DataFrame:
    """Tell which files of a study are on this machine; nothing is downloaded.

    Parameters
    ----------
    study : str
        Folder of the files.

    Returns
    -------
    pandas.DataFrame
        ``file``, ``where`` ("mirror", "cache" or "") and ``state``: "right", "wrong"
        (another content, a folder, not to be read), "missing", or "unchecked", if no
        hash is known yet.

    Raises
    ------
    DataError
        If DATA_MIRROR names no folder.

    Examples
    --------
    >>> list(status("humbel").columns)
    ['file', 'where', 'state']
    """
    entries = _of_study(study, REGISTRY_FILE, UNPINNED_FILE)
    rows = [(entry.file, _where(entry.file), _state(entry)) for entry in entries]
    return pd.DataFrame(rows, columns=["file", "where", "state"])


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


def _where(file: str) -> str:
    """Name the folder that a copy is taken from."""
    for name, folder in _folders().items():
        # also of a link that leads nowhere, which `_state` then calls missing
        if os.path.lexists(folder / file):
            return name
    return ""


def _state(entry: Entry) -> str:
    """Judge the copy of a file."""
    try:
        if _verified_copy(entry) is None:
            return "missing"
        known_hashes = _known_hashes(entry)
    except DataError:
        return "wrong"
    return "right" if known_hashes else "unchecked"


def _provide(entry: Entry) -> Path:
    """Return the path of a verified copy, downloading it if needed."""
    copy = _verified_copy(entry)
    if copy is not None:
        return copy
    _download(entry, _folders()["cache"])
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
        advice = "Replace it, or unset DATA_MIRROR to use the cache or a download."
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
        raise _unwritable(target, error) from error


def _unwritable(target: Path, error: OSError) -> DataError:
    """Say that a file cannot be written."""
    # pooch adds words of its own
    why = error.strerror or str(error).partition(" | ")[0]
    return DataError(
        f"{target.name} cannot be stored in {target.parent} ({why}). Make room, or set "
        "DATA_CACHE to a folder that you can write to."
    )


def _download(entry: Entry, folder: Path) -> None:
    """Download a file from the first of its addresses that gives it."""
    errors = []
    for address in entry.addresses:
        try:
            _download_from_one(replace(entry, url=address), folder)
        except (DataUnavailableError, DataIncompleteError) as error:
            errors.append(error)
        else:
            return
    raise errors[0]


def _download_from_one(entry: Entry, folder: Path) -> None:
    """Let pooch download a file into a folder, and try again after passing faults."""
    import pooch
    import requests

    if entry.host in _failed_hosts:
        raise _unavailable(entry)
    # what it tells of each file has paths of this machine
    pooch.get_logger().setLevel("WARNING")
    files = pooch.create(
        path=folder,
        base_url="",
        registry={entry.file: None},  # our downloader checks what came
        urls={entry.file: entry.url},
        retry_if_failed=RETRIES,
    )
    download = _Download(entry)
    target = folder / entry.file
    try:
        # Pooch makes the folder itself, and stops if another process makes it
        # meanwhile.
        target.parent.mkdir(parents=True, exist_ok=True)
        files.fetch(entry.file, downloader=download)
        target.chmod(0o644)  # pooch leaves it to its owner alone
    except DataError:
        raise
    # before OSError, of which the errors of requests are a kind
    except (_GivenUp, ValueError, requests.RequestException) as error:
        reason = _reason(error)
    except OSError as error:
        raise _unwritable(target, error) from error
    else:
        return
    if entry.host not in _answering_hosts:
        _failed_hosts[entry.host] = reason
        raise _unavailable(entry)
    raise DataIncompleteError(
        f"{entry.file} did not arrive from {entry.host} ({reason}; tries: "
        f"{download.tries}). Run again to continue, or choose data_source='simulated'."
    ) from _GivenUp(reason)


def _reason(error: Exception) -> str:
    """Say in a few words what stopped a download."""
    import requests

    if isinstance(error, requests.HTTPError):
        return f"HTTP status {error.response.status_code}"
    if isinstance(error, requests.RequestException):
        return type(error).__name__  # its message has addresses of memory
    return str(error)


class _Download:
    """Downloader for pooch with a limit of bytes and of seconds for each file."""

    def __init__(self, entry: Entry):
        self.entry = entry
        self.tries = 0
        self.pause = 0.0  # seconds that the server has asked for
        self.response = None
        allowed_seconds = START_SECONDS + entry.max_bytes / MIN_BYTES_PER_SECOND
        self.end = monotonic() + allowed_seconds

    def __call__(self, url: str, output_file: str, pooch: object) -> None:
        """Download the file in one try, and write it if it is the registered one."""
        import requests

        self.tries += 1
        sleep(self.pause)
        try:
            content = self.receive(self.address(url))
        except requests.RequestException as error:
            has_answered = self.entry.host in _answering_hosts
            if not has_answered and self.tries == TRIES_WITHOUT_ANSWER:
                raise _GivenUp(_reason(error)) from error
            raise
        if not content or not _is_right(self.entry, _hashes_of(content)):
            raise ValueError(
                f"{len(content)} bytes arrived that are not the registered file"
            )
        Path(output_file).write_bytes(content)

    def address(self, url: str) -> str:
        """Return the address of a file; of a hub's data set, that of its CSV file."""
        if "/datasets/" not in url or "/resolve/" in url:
            return url
        content = self.receive(url.replace("/datasets/", "/api/datasets/"))
        try:
            listing = json.loads(content)
            names = [each["rfilename"] for each in listing["siblings"]]
            csv_files = [name for name in names if name.endswith(".csv")]
            (csv_file,) = csv_files  # a ValueError unless there is just one
            return f"{url}/resolve/{listing['sha']}/{quote(csv_file)}"
        except (ValueError, KeyError, TypeError, AttributeError):
            raise _GivenUp("it lists no single CSV file") from None

    def receive(self, url: str) -> bytes:
        """Download into memory, within the time that the file may take."""
        import pooch
        import requests

        get = pooch.HTTPDownloader(
            progressbar=sys.stderr.isatty(),
            timeout=(CONNECT_SECONDS, STALL_SECONDS),
            headers={"Accept-Encoding": "identity"},
            hooks={"response": self.check_response},
        )
        body = _Body(self.entry.max_bytes)
        content = Future()

        def work() -> None:
            try:
                get(url, body, None)
                content.set_result(body.getvalue())
            except Exception as error:
                content.set_exception(error)
            finally:
                if self.response is not None:
                    self.response.close()

        # In a thread, which can be left behind: no time limit of requests ends the
        # look-up of a name, or a header that arrives byte by byte.
        Thread(target=work, daemon=True).start()
        remaining_seconds = max(0, self.end - monotonic())
        try:
            return content.result(timeout=remaining_seconds)
        except TimeoutError:
            n_bytes = body.tell()
            body.close()  # the next byte ends the thread
            raise _GivenUp(f"only {n_bytes} bytes came in time") from None
        except requests.RequestException:
            raise
        except OSError as error:  # such as a missing list of certificates
            raise DataError(
                f"Nothing can be downloaded from this machine: {error}"
            ) from error

    def check_response(self, response: "requests.Response", **_: object) -> None:
        """Note that a server answers; refuse what cannot be the file.

        After a ValueError pooch tries again. Statuses from 500 on, and those that may
        pass, are left to pooch, which raises an error of requests.
        """
        _answering_hosts.add(self.entry.host)
        self.response = response
        was_encrypted = self.entry.url.startswith("https:")
        if was_encrypted and not response.url.startswith("https:"):
            raise _GivenUp("it leads to an address without encryption")
        if response.is_redirect:
            response.close()  # what comes with it may have no end
            return
        status = response.status_code
        if 400 <= status < 500 and status not in TRANSIENT_STATUSES:
            raise _GivenUp(f"HTTP status {status}")
        self.pause = 0.0 if status == 200 else _pause_asked_for(response)
        if self.pause > self.end - monotonic():
            raise _GivenUp(f"HTTP status {status}, asks to wait {self.pause:.0f} s")
        if status < 400 and status != 200:
            raise ValueError(f"HTTP status {status}")
        kind = response.headers.get("Content-Type", "")
        if status == 200 and kind.startswith("text/html"):
            raise ValueError("a web page came, not the file")


def _pause_asked_for(response: "requests.Response") -> float:
    """Seconds that a server asks to wait, as a number or until a date; else 0."""
    from urllib3 import Retry
    from urllib3.exceptions import InvalidHeader

    try:
        return Retry().get_retry_after(response.raw) or 0.0
    except (InvalidHeader, ValueError, OverflowError):
        return 0.0


class _Body(io.BytesIO):
    """Bytes in memory, up to a size."""

    def __init__(self, max_bytes: int):
        super().__init__()
        self.max_bytes = max_bytes

    def write(self, part: bytes) -> int:
        """Take some more bytes."""
        if self.tell() + len(part) > self.max_bytes:
            raise ValueError(f"more than {self.max_bytes} bytes came")
        return super().write(part)


def _unavailable(entry: Entry) -> DataUnavailableError:
    """Say that a file cannot be had, why, and what to do."""
    return DataUnavailableError(
        f"{entry.file} is neither in the mirror nor in the cache and cannot be "
        f"downloaded from {entry.host} ({_failed_hosts[entry.host]}). Connect to the "
        "internet and run again, set DATA_MIRROR to a folder that holds the file, or "
        "choose data_source='simulated'."
    )
