"""Find each data file: local mirror, then cache, then download; checked by hash in every case.

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
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from time import monotonic
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
SLOWEST = 20_000  # bytes per second of a transfer that is still waited for
RETRIES = 3  # after pauses of one, two and three seconds
TRIES_OF_A_STRANGER = 2  # where a server has not answered at all
PASSING = (408, 425, 429)  # statuses below 500 after which another try may help

_failed_hosts: dict[str, str] = {}
_answering_hosts: set[str] = set()
_used: dict[str, str] = {}


class DataError(PlainError):
    """A data file cannot be provided because something is set up wrongly on this machine."""


class DataUnavailableError(DataError):
    """A data file is not on this machine, and no server answers."""


class DataIncompleteError(DataError):
    """The server of a data file answers, or other files of the study are here, but this is not."""


class _GivenUp(Exception):
    """A download failed in a way after which pooch does not try again."""


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
        advice = (
            f"Did you mean {nearest[0]!r}?"
            if nearest
            else "The first column names all files."
        )
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
    missing = [
        f"  {entry.file} from {entry.url}"
        for entry in entries
        if entry.file not in found
    ]
    raise DataUnavailableError(
        f"{len(missing)} of {len(entries)} files are missing. `make reproduce` fetches them where "
        "their server answers; or put them into the folder of DATA_MIRROR or into data/raw, or "
        "choose data_source='simulated'.\n" + "\n".join(missing)
    )


def given(file: str | Path) -> Path:
    """Return the path of a file that needs no fetching, and remember that it is read."""
    path = paths.ROOT / file
    name = (
        path.relative_to(paths.ROOT) if path.is_relative_to(paths.ROOT) else path.name
    )
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
                # as sha256sum writes it
                line = f"{_hashes_of(_read(path))[0]}  {path.name}\n"
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
    """Tell whether no data are wanted; stop unless this is one of the known kinds of data."""
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
    entries = [entry for listing in listings for entry in _entries(listing).values()]
    return [entry for entry in entries if entry.file.startswith(f"{study}/")]


def _folders() -> dict[str, Path]:
    """List the folders that copies are looked for in; that of DATA_MIRROR must exist."""
    cache = paths.ROOT / (os.environ.get("DATA_CACHE") or "data/raw")
    if not (name := os.environ.get("DATA_MIRROR")):
        return {"cache": cache}
    if not (mirror := paths.ROOT / name).is_dir():
        raise DataError(
            f"DATA_MIRROR names no folder: {mirror}. Correct the variable or unset it."
        )
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
    found = (
        name for name, folder in _folders().items() if os.path.lexists(folder / file)
    )
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
    _download(entry, _folders()["cache"])
    return _verified_copy(entry)


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
        what, known = (
            "first seen",
            f"to accept it, delete {_local_copy(f'{entry.file}.sha256')}",
        )
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
        raise _unwritable(target, error) from error


def _unwritable(target: Path, error: OSError) -> DataError:
    """Say that a file cannot be written."""
    # pooch adds words of its own
    why = error.strerror or str(error).partition(" | ")[0]
    return DataError(
        f"{target.name} cannot be stored in {target.parent} ({why}). Make room, or set DATA_CACHE "
        "to a folder that you can write to."
    )


def _download(entry: Entry, folder: Path) -> None:
    """Let pooch download a file into a folder, trying again after faults that may pass."""
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
    try:
        # Pooch makes the folder itself, and stops if another process makes it
        # meanwhile.
        (folder / entry.file).parent.mkdir(parents=True, exist_ok=True)
        files.fetch(entry.file, downloader=download)
        (folder / entry.file).chmod(0o644)  # pooch leaves it to its owner alone
    except DataError:
        raise
    except (_GivenUp, ValueError, requests.RequestException) as error:
        fault = _GivenUp(_reason(error))
    except OSError as error:
        raise _unwritable(folder / entry.file, error) from error
    else:
        return
    if entry.host not in _answering_hosts:
        _failed_hosts[entry.host] = str(fault)
        raise _unavailable(entry)
    raise DataIncompleteError(
        f"{entry.file} did not arrive from {entry.host} ({fault}; tries: {download.tries}). Run "
        "again to continue, or choose data_source='simulated'."
    ) from fault


def _reason(error: Exception) -> str:
    """Say in a few words what stopped a download."""
    import requests

    if isinstance(error, requests.HTTPError):
        return f"HTTP status {error.response.status_code}"
    if isinstance(error, requests.RequestException):
        return type(error).__name__  # its message has addresses of memory
    return str(error)


class _Download:
    """Downloader for pooch that takes no more bytes and seconds than a file may have."""

    def __init__(self, entry: Entry):
        self.entry = entry
        self.tries = 0
        self.response = None
        self.end = monotonic() + START_SECONDS + entry.most / SLOWEST

    def __call__(self, url: str, output_file: str, pooch: object) -> None:
        """Download the file in one try, and write it if it is the registered one."""
        import requests

        self.tries += 1
        try:
            content = self.receive(self.address(url))
        except requests.RequestException as error:
            stranger = self.entry.host not in _answering_hosts
            if stranger and self.tries == TRIES_OF_A_STRANGER:
                raise _GivenUp(_reason(error)) from error
            raise
        if not content or not _is_right(self.entry, _hashes_of(content)):
            raise ValueError(
                f"{len(content)} bytes arrived that are not the registered file"
            )
        Path(output_file).write_bytes(content)

    def address(self, url: str) -> str:
        """Find the address of the only CSV file where only that of a hub's data set is known."""
        if "/datasets/" not in url or "/resolve/" in url:
            return url
        content = self.receive(url.replace("/datasets/", "/api/datasets/"))
        try:
            listed = json.loads(content)
            names = [each["rfilename"] for each in listed["siblings"]]
            (name,) = (name for name in names if name.endswith(".csv"))
            return f"{url}/resolve/{listed['sha']}/{quote(name)}"
        except (ValueError, KeyError, TypeError):
            raise _GivenUp("it lists no single CSV file") from None

    def receive(self, url: str) -> bytes:
        """Download into memory, in a thread: a look-up or a header that drips has no time limit."""
        import pooch
        import requests

        get = pooch.HTTPDownloader(
            progressbar=sys.stderr.isatty(),
            timeout=(CONNECT_SECONDS, STALL_SECONDS),
            headers={"Accept-Encoding": "identity"},
            hooks={"response": self.look_at},
        )
        body = _Body(self.entry.most)
        whole = Future()

        def work() -> None:
            try:
                get(url, body, None)
                whole.set_result(body.getvalue())
            except Exception as error:
                whole.set_exception(error)
            finally:
                if self.response is not None:
                    self.response.close()

        Thread(target=work, daemon=True).start()
        try:
            return whole.result(timeout=max(0, self.end - monotonic()))
        except TimeoutError:
            came = body.tell()
            body.close()  # the next byte ends the thread
            raise _GivenUp(f"only {came} bytes came in time") from None
        except requests.RequestException:
            raise
        except OSError as error:  # such as a missing list of certificates
            raise DataError(
                f"Nothing can be downloaded from this machine: {error}"
            ) from error

    def look_at(self, response: "requests.Response", **_: object) -> None:
        """Note that a server answers; refuse what cannot be the file."""
        _answering_hosts.add(self.entry.host)
        self.response = response
        status = response.status_code
        if self.entry.url.startswith("https:") and not response.url.startswith(
            "https:"
        ):
            raise _GivenUp("it leads to an address without encryption")
        if response.is_redirect:
            response.close()  # what comes with it may have no end
        elif 400 <= status < 500 and status not in PASSING:
            raise _GivenUp(f"HTTP status {status}")
        elif status < 400 and status != 200:
            raise ValueError(f"HTTP status {status}")
        elif status == 200 and response.headers.get("Content-Type", "").startswith(
            "text/html"
        ):
            raise ValueError("a web page came, not the file")


class _Body(io.BytesIO):
    """Bytes in memory, up to a size."""

    def __init__(self, most: int):
        super().__init__()
        self.most = most

    def write(self, part: bytes) -> int:
        """Take some more bytes."""
        if self.tell() + len(part) > self.most:
            raise ValueError(f"more than {self.most} bytes came")
        return super().write(part)


def _unavailable(entry: Entry) -> DataUnavailableError:
    """Say that a file cannot be had, why, and what to do."""
    return DataUnavailableError(
        f"{entry.file} is neither in the mirror nor in the cache and cannot be downloaded from "
        f"{entry.host} ({_failed_hosts[entry.host]}). Connect to the internet and run again, set "
        "DATA_MIRROR to a folder that holds the file, or choose data_source='simulated'."
    )
