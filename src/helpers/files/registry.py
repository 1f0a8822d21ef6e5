"""Find each data file: local mirror, then cache, then download; checked by hash in every case.

`data/registry.csv` lists the files. A file is accepted if its SHA-256 is listed, or if its git
blob identifier is that of the published file. `data/unpinned.csv` lists public files whose hashes
we do not know: that of the copy seen first is kept in the cache, and checked from then on.

A download stays in memory until it is whole and checked: so no half of it is ever written, what was
hashed is what is stored, and a fault of the disk is never taken for one of the network. It runs in
a thread, because neither looking up a name nor a header that drips has a limit of time.
"""

import csv
import difflib
import functools
import hashlib
import json
import math
import os
import stat
import sys
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

import pandas as pd

from helpers import paths
from helpers.files.tables import CHECKED, PlainError, state_of

if TYPE_CHECKING:
    import requests

REGISTRY_FILE = paths.DATA / "registry.csv"
UNPINNED_FILE = paths.DATA / "unpinned.csv"
DATA_SOURCES = ("auto", "real", "simulated")
ANSWER_SECONDS = 6  # for a server to answer at all
STALL_SECONDS = 10  # without a byte
START_SECONDS = 30  # that every file may take, however small, all tries together
SLOWEST = 20_000  # bytes per second of a transfer that is still waited for
PAUSES = (0.5, 2, 6)  # seconds before the second, third and fourth try
REDIRECTS = 5
CHUNK = 65_536

_failed_hosts: dict[str, str] = {}
_answering_hosts: set[str] = set()
_used: dict[str, str] = {}


class DataError(PlainError):
    """A data file cannot be provided because something is set up wrongly on this machine."""


class DataUnavailableError(DataError):
    """A data file is not on this machine, and no server answers."""


class DataIncompleteError(DataError):
    """The server of a data file answers, or other files of the study are here, but this is not."""


class _Fault(Exception):
    """A download that failed."""

    def __init__(self, reason: str, passing: bool = True, wait: int = 0):
        super().__init__(reason)
        self.passing, self.wait = passing, wait


@dataclass(frozen=True)
class Entry:
    """One row of the registry, as text; without hashes, bytes are the most that may arrive."""

    file: str
    url: str
    bytes: str
    licence: str
    note: str
    sha256: str = ""
    git_blob: str = ""

    @property
    def most(self) -> int:
        """Bytes that a download may have: a second number is a bound for a copy of unknown size."""
        return int(self.bytes.split()[-1])

    @property
    def host(self) -> str:
        """Server that the file is downloaded from."""
        return urlsplit(self.url).netloc


def names(study: str) -> list[str]:
    """List the names of the registered files of a study."""
    return [entry.file for entry in _of_study(study, REGISTRY_FILE)]


def fetch(file: str) -> Path:
    """Return the path of a verified copy of a data file, downloading it if needed."""
    entries = _entries(REGISTRY_FILE)
    if file not in entries:
        nearest = difflib.get_close_matches(file, entries)
        advice = f"Did you mean {nearest[0]!r}?" if nearest else "The first column names all files."
        raise DataError(f"{file!r} is not in data/registry.csv. {advice}")
    return _provide(entries[file])


def locate(files: Iterable[str], data_source: str) -> dict[str, Path] | None:
    """Fetch all files of a study; or say that it is simulated: none is here and no server is."""
    if _is_simulated(data_source):
        return None
    files = list(files)
    try:
        return _noted({file: fetch(file) for file in files})
    except (DataUnavailableError, DataIncompleteError) as error:
        here = sum(_local_copy(file) is not None for file in files)
        if here or isinstance(error, DataIncompleteError):
            study = files[0].partition("/")[0]
            raise DataIncompleteError(
                f"{study}: {here} of {len(files)} files are here. {error}"
            ) from error
        if data_source == "real":
            raise
        return None


def locate_unpinned(files: Sequence[str], data_source: str) -> dict[str, Path] | None:
    """Find files whose hashes are not registered, or say that they are to be simulated."""
    if _is_simulated(data_source):
        return None
    entries = [_entries(UNPINNED_FILE)[file] for file in files]
    found = {entry.file: copy for entry in entries if (copy := _verified_copy(entry))}
    if len(found) == len(entries):
        return _noted(found)
    if data_source == "auto" and not found:
        return None
    missing = [f"  {entry.file} from {entry.url}" for entry in entries if entry.file not in found]
    raise DataUnavailableError(
        f"{len(missing)} of {len(entries)} files are missing. `make reproduce` fetches them where "
        "their server answers; or put them into the folder of DATA_MIRROR or into data/raw, or "
        "choose data_source='simulated'.\n" + "\n".join(missing)
    )


def given(file: str | Path) -> Path:
    """Return the path of a file that needs no fetching, and remember that it is read."""
    path = paths.ROOT / file
    name = path.relative_to(paths.ROOT) if path.is_relative_to(paths.ROOT) else path.name
    return _noted({str(name): path})[str(name)]


def files_read() -> dict[str, str]:
    """Name the files that this process has taken data from, with their SHA-256."""
    return dict(_used)


def current_hash(file: str) -> str:
    """SHA-256 of the file as it is on this machine now; empty if it is not here."""
    path = paths.ROOT / file if file.startswith("data/") else _local_copy(file)
    return _sha256(path) if path and path.is_file() else ""


def _noted(located: dict[str, Path]) -> dict[str, Path]:
    """Remember that files are read, and what they hold."""
    _used.update({file: _sha256(path) for file, path in located.items()})
    return located


def _sha256(path: Path) -> str:
    """SHA-256 of a file."""
    return _hashes(path, *state_of(path))[0]


def fetch_unpinned(study: str) -> dict[str, str]:
    """Fetch a study's public files without a registered hash, and keep the hash of each.

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
                line = f"{_hashes_of(_read(path))[0]}  {path.name}\n"  # as sha256sum writes it
                _store(line.encode(), _folders()["cache"] / f"{entry.file}.sha256")
            reasons[entry.file] = ""
        except (DataUnavailableError, DataIncompleteError) as error:
            reasons[entry.file] = _failed_hosts.get(entry.host) or str(error.__cause__)
    return reasons


def status(study: str) -> pd.DataFrame:
    """Tell which files of a study are on this machine; nothing is downloaded.

    Parameters
    ----------
    study : str
        Folder of the files.

    Returns
    -------
    pandas.DataFrame
        ``file``, ``where`` ("mirror", "cache" or "") and ``state``: "right", "wrong" (another
        content, a folder, not to be read), "missing", or "unchecked", if no hash is known yet.

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
    """Tell whether no data are wanted; stop unless this is one of the known kinds of data."""
    if data_source not in DATA_SOURCES:
        raise ValueError(f"data_source must be 'auto', 'real' or 'simulated', not {data_source!r}")
    return data_source == "simulated"


@functools.cache
def _entries(listing: Path) -> dict[str, Entry]:
    """Read the registry, or the list of files without a registered hash."""
    with listing.open(encoding="utf-8", newline="") as lines:
        return {row["file"]: Entry(**row) for row in csv.DictReader(lines)}


def _of_study(study: str, *listings: Path) -> list[Entry]:
    """Choose the files of a study."""
    entries = [entry for listing in listings for entry in _entries(listing).values()]
    return [entry for entry in entries if entry.file.startswith(f"{study}/")]


def _folders() -> dict[str, Path]:
    """List the folders that copies are looked for in; that of DATA_MIRROR must exist."""
    cache = paths.ROOT / (os.environ.get("DATA_CACHE") or "data/raw")
    if not (name := os.environ.get("DATA_MIRROR")):
        return {"cache": cache}
    if not (mirror := paths.ROOT / name).is_dir():
        raise DataError(f"DATA_MIRROR names no folder: {mirror}. Correct the variable or unset it.")
    return {"mirror": mirror, "cache": cache}


def _local_copy(file: str) -> Path | None:
    """Return the path of a copy in the mirror or in the cache, if there is one."""
    for folder in _folders().values():
        try:
            if stat.S_ISREG((folder / file).stat().st_mode):
                return folder / file
            problem = "it is not a file"
        except FileNotFoundError:
            continue
        except OSError as error:
            problem = error.strerror
        raise _unreadable(folder / file, problem)
    return None


def _unreadable(path: Path, problem: str) -> DataError:
    """Say that what is in the place of a file cannot be read."""
    return DataError(
        f"{path} cannot be read ({problem}). Correct that, or set DATA_MIRROR and DATA_CACHE to "
        "other folders."
    )


def _read(path: Path) -> bytes:
    """Read a file, or say why that cannot be done."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error.strerror) from error


def _where(file: str) -> str:
    """Name the folder that a copy is taken from."""
    found = (name for name, folder in _folders().items() if os.path.lexists(folder / file))
    return next(found, "")


def _state(entry: Entry) -> str:
    """Judge the copy of a file."""
    try:
        if _verified_copy(entry) is None:
            return "missing"
        return "right" if _known_hashes(entry) else "unchecked"
    except DataError:
        return "wrong"


def _provide(entry: Entry) -> Path:
    """Return the path of a verified copy, downloading it if needed."""
    if copy := _verified_copy(entry):
        return copy
    target = _folders()["cache"] / entry.file
    _store(_download(entry), target)
    return target


def _verified_copy(entry: Entry) -> Path | None:
    """Return the path of a copy that holds the registered file; raise if it holds another."""
    if (path := _local_copy(entry.file)) is None:
        return None
    state = CHECKED[path] = state_of(path)
    if not _is_right(entry, _hashes(path, *state)):
        raise _corrupt(path, entry, state[0])
    return path


def _corrupt(path: Path, entry: Entry, size: int) -> DataError:
    """Say that a copy is not the registered file, and what to do."""
    what, known = "registered", f"registered: {entry.bytes.split()[0]}"
    if not entry.git_blob:
        what, known = "first seen", f"to accept it, delete {_local_copy(f'{entry.file}.sha256')}"
    cached = path == _folders()["cache"] / entry.file
    mirrored = "Replace it, or unset DATA_MIRROR to use the cache or a download."
    return DataError(
        f"{path} is not the {what} {entry.file}: it has {size} bytes ({known}) and another "
        f"SHA-256. {'Delete it and run again.' if cached else mirrored}"
    )


def _is_right(entry: Entry, hashes: tuple[str, str]) -> bool:
    """Tell whether these hashes are those of a file, as far as any is known."""
    known = _known_hashes(entry)
    return not known or not known.isdisjoint(hashes)


def _known_hashes(entry: Entry) -> set[str]:
    """List the registered hashes of a file, or that of the copy seen first, or nothing."""
    if entry.git_blob:
        return {*entry.sha256.split(), entry.git_blob}
    kept = _local_copy(f"{entry.file}.sha256")
    return set(_read(kept).decode(errors="replace").split()[:1]) if kept else set()


@functools.cache
def _hashes(path: Path, size: int, mtime_ns: int) -> tuple[str, str]:
    """Return the hashes of a file; size and time make the cached answer expire."""
    return _hashes_of(_read(path))


def _hashes_of(content: bytes) -> tuple[str, str]:
    """Return SHA-256 and git blob identifier."""
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False)
    return hashlib.sha256(content).hexdigest(), blob.hexdigest()


def _store(content: bytes, target: Path) -> None:
    """Write a file, or say why that cannot be done."""
    try:
        paths.replace_files({target: content})
    except OSError as error:
        raise DataError(
            f"{target.name} cannot be stored in {target.parent} ({error.strerror}). Make room, or "
            "set DATA_CACHE to a folder that you can write to."
        ) from error


def _download(entry: Entry) -> bytes:
    """Download a file, trying again after faults that may pass."""
    if entry.host in _failed_hosts:
        raise _unavailable(entry)
    end = monotonic() + START_SECONDS + entry.most / SLOWEST
    for tries, pause in enumerate((*PAUSES, math.inf), start=1):
        try:
            content = _transfer(entry, _address(entry, end), end)
            if content and _is_right(entry, _hashes_of(content)):
                return content
            raise _Fault(f"{len(content)} bytes arrived that are not the registered file")
        except _Fault as error:
            fault, pause = error, max(pause, error.wait)
        stranger = entry.host not in _answering_hosts
        if not fault.passing or (stranger and tries == 2) or monotonic() + pause > end:
            break
        sleep(pause)
    if stranger:
        _failed_hosts[entry.host] = str(fault)
        raise _unavailable(entry)
    raise DataIncompleteError(
        f"{entry.file} did not arrive from {entry.host} ({fault}; tries: {tries}). Run again to "
        "continue, or choose data_source='simulated'."
    ) from fault


def _address(entry: Entry, end: float) -> str:
    """Find the address of the only CSV file, where only that of a data set on a hub is known."""
    if "/datasets/" not in entry.url or "/resolve/" in entry.url:
        return entry.url
    content = _transfer(entry, entry.url.replace("/datasets/", "/api/datasets/"), end)
    try:
        listed = json.loads(content)
        names = [each["rfilename"] for each in listed["siblings"]]
        (name,) = (name for name in names if name.endswith(".csv"))
        return f"{entry.url}/resolve/{listed['sha']}/{quote(name)}"
    except (ValueError, KeyError, TypeError):
        raise _Fault("it lists no single CSV file", passing=False) from None


def _transfer(entry: Entry, url: str, end: float) -> bytes:
    """Download at most as many bytes as the entry says until a point in time."""
    import requests  # noqa: F401 -- rather now than while an answer is waited for

    transfer, first = _Transfer(url, entry.most), min(end, monotonic() + ANSWER_SECONDS)
    transfer.start()
    while transfer.is_alive() and monotonic() < (end if transfer.answered else first):
        transfer.join(0.05)
        _show(entry, len(transfer.body))
    late, transfer.given_up = transfer.is_alive(), True
    if transfer.answered:
        _answering_hosts.add(entry.host)
    if late:
        came = f"only {len(transfer.body)} bytes came in time"
        raise _Fault(came if transfer.answered else "no answer")
    if transfer.error:
        raise transfer.error
    return bytes(transfer.body)


def _show(entry: Entry, size: int) -> None:
    """Tell how far a download is, in one line of a terminal; elsewhere say nothing."""
    if sys.stderr.isatty():
        entries = _of_study(entry.file.partition("/")[0], REGISTRY_FILE, UNPINNED_FILE)
        number = f"file {entries.index(entry) + 1} of {len(entries)}"
        text = f"{number}: {entry.file}, {size / 1e6:.1f} of {entry.most / 1e6:.1f} MB"
        print(f"{text:79.79}", end="\r", file=sys.stderr, flush=True)


class _Transfer(threading.Thread):
    """One download into memory."""

    def __init__(self, url: str, most: int):
        super().__init__(daemon=True, name="download")
        self.url, self.most, self.body = url, most, bytearray()
        self.answered, self.given_up, self.error = False, False, None

    def run(self) -> None:
        """Download, and keep what stops it as `error`."""
        import requests
        import urllib3

        try:
            with requests.Session() as session:
                self._receive(session)
        except (requests.RequestException, urllib3.exceptions.HTTPError, ValueError) as error:
            cause = getattr(error.args[0] if error.args else None, "reason", None) or error
            what = "broken off" if self.answered else "no connection"
            self.error = _Fault(f"{what}: {type(cause).__name__}")
        except OSError as error:
            self.error = DataError(f"Nothing can be downloaded from this machine: {error}")
        except Exception as error:
            self.error = error

    def _receive(self, session: "requests.Session") -> None:
        """Receive a file until it is complete, too long, or nobody waits for it any longer."""
        session.headers["Accept-Encoding"] = "identity"
        session.hooks["response"].append(self._note)
        session.max_redirects = REDIRECTS
        if self.url.startswith("https:"):
            del session.adapters["http://"]  # nor is a redirect to such an address followed
        with session.get(
            self.url, stream=True, timeout=(ANSWER_SECONDS, STALL_SECONDS)
        ) as response:
            _require_content(response)
            while not self.given_up and (part := response.raw.read1(CHUNK, False)):
                if len(self.body) + len(part) > self.most:
                    raise _Fault(f"more than {self.most} bytes came")
                self.body += part

    def _note(self, response: "requests.Response", **_: object) -> None:
        """Note an answer; read nothing of what comes with a redirect."""
        self.answered = True
        if response.is_redirect:
            response.close()


def _require_content(response: "requests.Response") -> None:
    """Raise unless a server sends a file as it is."""
    code, headers = response.status_code, response.headers
    if code != 200:
        wait, passing = headers.get("Retry-After", ""), code >= 500 or code in (408, 425, 429)
        raise _Fault(f"HTTP status {code}", passing, wait=int(wait) if wait.isdecimal() else 0)
    if headers.get("Content-Type", "").startswith("text/html"):
        raise _Fault("a web page came, not the file")
    if headers.get("Content-Encoding", "identity") != "identity":
        raise _Fault("it came compressed, which was not asked for", passing=False)


def _unavailable(entry: Entry) -> DataUnavailableError:
    """Say that a file cannot be had, why, and what to do."""
    return DataUnavailableError(
        f"{entry.file} is neither in the mirror nor in the cache and cannot be downloaded from "
        f"{entry.host} ({_failed_hosts[entry.host]}). Connect to the internet and run again, set "
        "DATA_MIRROR to a folder that holds the file, or choose data_source='simulated'."
    )
