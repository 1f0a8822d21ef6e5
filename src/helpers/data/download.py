"""Download a file, within limits of bytes and seconds.

Pooch downloads: it tries again after a fault, shows how far it is, and puts a file in
its place in one step. Our downloader for it takes no more bytes and seconds than the
file may have. A download stays in memory until it is whole and checked, so that what
was hashed is what is stored.
"""

import io
import json
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from helpers.data.tables import PlainError

if TYPE_CHECKING:
    import requests

CONNECT_SECONDS = 6
STALL_SECONDS = 10  # without a byte
START_SECONDS = 30  # that every file may take, however small, all tries together
MIN_BYTES_PER_SECOND = 20_000  # of a transfer that is still waited for
RETRIES = 3  # after pauses of one, two and three seconds
TRIES_WITHOUT_ANSWER = 2  # where a server has not answered at all
TRANSIENT_STATUSES = (408, 425, 429)  # below 500, and another try may help

_failed_hosts: dict[str, str] = {}
_answering_hosts: set[str] = set()


class DataError(PlainError):
    """A data file cannot be had because something on this machine is set up wrongly."""


class DataUnavailableError(DataError):
    """A data file is not on this machine, and no server answers."""


class DataIncompleteError(DataError):
    """A data file is missing, but its server or others of its study are there."""


class _GivenUp(Exception):
    """A download failed in a way after which pooch does not try again."""


def fetch(
    file: str,
    addresses: Sequence[str],
    folder: Path,
    *,
    max_bytes: int,
    is_right: Callable[[bytes], bool],
) -> None:
    """Download a file from the first of its addresses that gives the right one.

    Parameters
    ----------
    file : str
        Where to put it in the folder.
    addresses : sequence of str
        Where it can be had, the first choice first.
    folder : pathlib.Path
        Made if it is not there.
    max_bytes : int
        Bytes that may arrive; the seconds follow from them.
    is_right : callable
        Whether a content is the file.

    Raises
    ------
    DataUnavailableError
        If the first server cannot be reached; its cause says why.
    DataIncompleteError
        If the first server answers, but the file does not arrive.
    DataError
        If the file cannot be stored, or nothing can be downloaded from this machine.
    """
    errors = []
    for address in addresses:
        try:
            _fetch_from_one(_Download(file, address, max_bytes, is_right), folder)
        except (DataUnavailableError, DataIncompleteError) as error:
            errors.append(error)
        else:
            return
    raise errors[0]


def _fetch_from_one(download: "_Download", folder: Path) -> None:
    """Let pooch download a file into a folder, and try again after passing faults."""
    import pooch
    import requests

    file, host = download.file, download.host
    if host in _failed_hosts:
        raise _unavailable(file, host) from _GivenUp(_failed_hosts[host])
    # what it tells of each file has paths of this machine
    pooch.get_logger().setLevel("WARNING")
    files = pooch.create(
        path=folder,
        base_url="",
        registry={file: None},  # our downloader checks what came
        urls={file: download.url},
        retry_if_failed=RETRIES,
    )
    target = folder / file
    try:
        # Pooch makes the folder itself, and stops if another process makes it
        # meanwhile.
        target.parent.mkdir(parents=True, exist_ok=True)
        files.fetch(file, downloader=download)
        target.chmod(0o644)  # pooch leaves it to its owner alone
    except DataError:
        raise
    # before OSError, of which the errors of requests are a kind
    except (_GivenUp, ValueError, requests.RequestException) as error:
        reason = _reason(error)
    except OSError as error:
        raise unwritable(target, error) from error
    else:
        return
    if host not in _answering_hosts:
        _failed_hosts[host] = reason
        raise _unavailable(file, host) from _GivenUp(reason)
    raise DataIncompleteError(
        f"{file} did not arrive from {host} ({reason}; tries: "
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

    def __init__(
        self,
        file: str,
        url: str,
        max_bytes: int,
        is_right: Callable[[bytes], bool],
    ):
        self.file = file
        self.url = url
        self.host = urlsplit(url).netloc
        self.max_bytes = max_bytes
        self.is_right = is_right
        self.tries = 0
        self.pause = 0.0  # seconds that the server has asked for
        self.response = None
        allowed_seconds = START_SECONDS + max_bytes / MIN_BYTES_PER_SECOND
        self.end = monotonic() + allowed_seconds

    def __call__(self, url: str, output_file: str, pooch: object) -> None:
        """Download the file in one try, and write it if it is the registered one."""
        import requests

        self.tries += 1
        sleep(self.pause)
        try:
            content = self.receive(self.address(url))
        except requests.RequestException as error:
            has_answered = self.host in _answering_hosts
            if not has_answered and self.tries == TRIES_WITHOUT_ANSWER:
                raise _GivenUp(_reason(error)) from error
            raise
        if not content or not self.is_right(content):
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
        body = _Body(self.max_bytes)
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
        _answering_hosts.add(self.host)
        self.response = response
        was_encrypted = self.url.startswith("https:")
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


def unwritable(target: Path, error: OSError) -> DataError:
    """Say that a file cannot be written."""
    # pooch adds words of its own
    why = error.strerror or str(error).partition(" | ")[0]
    return DataError(
        f"{target.name} cannot be stored in {target.parent} ({why}). Make room, or set "
        "DATA_CACHE to a folder that you can write to."
    )


def _unavailable(file: str, host: str) -> DataUnavailableError:
    """Say that a file cannot be had, why, and what to do."""
    return DataUnavailableError(
        f"{file} is neither in the mirror nor in the cache and cannot be "
        f"downloaded from {host} ({_failed_hosts[host]}). Connect to the "
        "internet and run again, set DATA_MIRROR to a folder that holds the file, or "
        "choose data_source='simulated'."
    )
