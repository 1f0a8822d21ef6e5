"""Registered files: mirror, cache, download from a small server, ways to fail."""

import hashlib
import http.server
import os
import signal
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from helpers import paths
from helpers.data import registry
from helpers.data.tables import OptionError

CONTENT = b"one honest rating\n" * 1000
SHA256 = hashlib.sha256(CONTENT).hexdigest()
BLOB = hashlib.sha1(b"blob %d\0" % len(CONTENT) + CONTENT).hexdigest()
COLUMNS = ["file", "url", "sha256", "git_blob", "bytes", "licence", "note"]
FILE = "study/ratings.txt"
OTHER = "other/ratings.txt"
UNPINNED = "study/public.csv"
REFUSED = "http://127.0.0.1:1/ratings.txt"  # nobody listens there
# Fetches as another process does, in the place that its arguments name.
PROGRAM = """
import sys
from pathlib import Path
from helpers.data import registry
registry.REGISTRY_FILE, registry.UNPINNED_FILE = map(Path, sys.argv[1:3])
registry.ARCHIVE = sys.argv[3]
print(registry.fetch(sys.argv[4]))
"""

# Lets this process be killed when it has stored one half of a file.
KILLED_WHILE_STORING = """
import os, signal
from pathlib import Path
write = Path.write_bytes
def write_half(path, content):
    write(path, content[:9000])
    os.kill(os.getpid(), signal.SIGKILL)
Path.write_bytes = write_half
"""


class Handler(http.server.BaseHTTPRequestHandler):
    """Give the next of the server's answers, the last one again and again."""

    def do_GET(self):
        answers = self.server.answers
        answer = answers[min(len(self.server.requests), len(answers) - 1)]
        self.server.requests.append(self.path)
        answer(self)

    def log_message(self, *_):
        """Stay quiet."""


def send(handler, content, status=200, promised=None):
    handler.send_response(status)
    handler.send_header("Content-Length", promised or len(content))
    handler.end_headers()
    handler.wfile.write(content)


RIGHT = partial(send, content=CONTENT)
WEB_PAGE = partial(send, content=b"<!DOCTYPE html><title>Log in")
TRUNCATED = partial(send, content=CONTENT[:100], promised=len(CONTENT))
NOT_FOUND = partial(send, content=b"sorry", status=404)
SERVER_ERROR = partial(send, content=b"sorry", status=500)


def half_then_silence(handler):
    send(handler, CONTENT[:9000], promised=len(CONTENT))
    handler.server.half_sent.set()
    handler.server.released.wait()


def drip(handler, start):
    """Send byte after byte, none of which comes too late."""
    handler.wfile.write(start)
    while not handler.server.released.wait(0.01):
        handler.wfile.write(b"o")


@pytest.fixture
def server():
    """A server that gives the next of its answers, the last one again and again."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        server.answers = [RIGHT]
        server.requests = []
        server.half_sent = threading.Event()
        server.released = threading.Event()
        server.url = f"http://127.0.0.1:{server.server_port}/ratings.txt"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.released.set()
        server.shutdown()
        thread.join()


def register(monkeypatch, path, url, sha256=SHA256, git_blob=BLOB, files=(FILE,)):
    row = [url, sha256, git_blob, len(CONTENT), "none stated", ""]
    table = pd.DataFrame([[file, *row] for file in files], columns=COLUMNS)
    table.to_csv(path, index=False)
    monkeypatch.setattr(registry, "REGISTRY_FILE", path)


@pytest.fixture
def place(tmp_path, monkeypatch, server):
    """Lists of one file each, an empty mirror, a cache that is not yet there."""
    register(monkeypatch, tmp_path / "registry.csv", server.url)
    unpinned = tmp_path / "unpinned.csv"
    unpinned.write_text(f"file,url,bytes,licence,note\n{UNPINNED},{server.url},9,,\n")
    monkeypatch.setattr(registry, "UNPINNED_FILE", unpinned)
    monkeypatch.setattr(registry, "ARCHIVE", REFUSED)
    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    (tmp_path / "mirror").mkdir()
    monkeypatch.setenv("DATA_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.setenv("DATA_CACHE", str(tmp_path / "cache"))
    return tmp_path


def put(folder, content=CONTENT, file=FILE):
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def in_cache(place):
    return [path for path in (place / "cache").rglob("*") if path.is_file()]


def test_the_mirror_comes_before_the_cache_and_the_cache_before_a_download(
    place, server
):
    downloaded = registry.fetch(FILE)
    assert downloaded == place / "cache" / FILE
    assert downloaded.read_bytes() == CONTENT
    assert in_cache(place) == [downloaded]
    assert registry.fetch(FILE) == downloaded
    assert len(server.requests) == 1
    mirrored = put(place / "mirror")
    assert registry.fetch(FILE) == mirrored


def test_the_mirror_beside_the_project_is_used_unless_another_is_named(
    place, monkeypatch
):
    beside = place / "shared" / "data"
    monkeypatch.setattr(registry, "SHARED_MIRROR", beside)
    found = put(beside)
    monkeypatch.delenv("DATA_MIRROR")
    assert registry.fetch(FILE) == found
    monkeypatch.setenv("DATA_MIRROR", str(place / "mirror"))
    named = put(place / "mirror")
    assert registry.fetch(FILE) == named


def test_relative_folders_lie_under_the_project_root(place, monkeypatch):
    monkeypatch.setattr(paths, "ROOT", place)
    monkeypatch.chdir(put(place / "elsewhere").parent)
    monkeypatch.setenv("DATA_MIRROR", "mirror")
    monkeypatch.setenv("DATA_CACHE", "cache")
    cached = put(place / "cache")
    assert registry.fetch(FILE) == cached


def test_a_mirror_that_is_not_there_is_named(place, monkeypatch):
    monkeypatch.setenv("DATA_MIRROR", str(place / "typo"))
    with pytest.raises(registry.DataError, match=r"names no folder: .*typo"):
        registry.fetch(FILE)


@pytest.mark.parametrize(
    ("sha256", "git_blob"), [("0" * 64, BLOB), (f"{'0' * 64} {SHA256}", "0" * 40)]
)
def test_any_listed_hash_or_the_git_blob_identifies_a_file(
    place, monkeypatch, server, sha256, git_blob
):
    register(monkeypatch, place / "hashes.csv", server.url, sha256, git_blob)
    assert registry.fetch(FILE).read_bytes() == CONTENT


def test_a_name_in_neither_list_is_refused(place):
    with pytest.raises(registry.DataError, match=r"'study/rating\.txt' is not in the"):
        registry.fetch("study/rating.txt")


@pytest.mark.parametrize("folder", ["mirror", "cache"])
@pytest.mark.parametrize("choice", ["auto", "real"])
def test_a_wrong_copy_is_named_and_neither_replaced_nor_simulated(
    place, server, folder, choice
):
    path = put(place / folder, b"tampered")
    message = (
        f"{path} is not the registered file: it has 8 bytes (registered: 18000) and "
        "another hash. Delete it and run again, or replace it with the file of "
        f"{server.url}"
    )
    with pytest.raises(registry.DataError) as failure:
        registry.resolve(["study"], choice)
    assert str(failure.value) == message
    assert failure.type is registry.DataError
    assert path.read_bytes() == b"tampered"
    assert server.requests == []


def test_a_folder_in_the_place_of_a_file_is_named(place):
    (place / "mirror" / FILE).mkdir(parents=True)
    with pytest.raises(registry.DataError, match=r"ratings\.txt cannot be read \(Is a"):
        registry.resolve(["study"], "auto")


WRONG = "bytes that are not the registered file"
FAULTS = {
    "wrong bytes": (partial(send, content=CONTENT[::-1]), f"it sent 18000 {WRONG}"),
    "a part": (partial(send, content=CONTENT[:100]), f"it sent 100 {WRONG}"),
    "nothing": (partial(send, content=b""), f"it sent 0 {WRONG}"),
    "web page": (WEB_PAGE, "it sent a web page instead of the file"),
    "truncated": (TRUNCATED, "the connection failed or broke off"),
    "not found": (NOT_FOUND, "HTTP status 404"),
    "server error": (SERVER_ERROR, "HTTP status 500"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_not_the_file_is_refused_and_leaves_nothing(place, server, fault):
    answer, reason = FAULTS[fault]
    server.answers = [answer]
    message = (
        "study/ratings.txt is not on this machine and cannot be downloaded "
        f"({server.url}: {reason}; {REFUSED}: the connection failed or broke off). "
        "Connect to the internet and run again, put the file into the folder of "
        "DATA_MIRROR or DATA_CACHE or into data/raw, or choose "
        "data_source='simulated'."
    )
    with pytest.raises(registry.DataUnavailableError) as failure:
        registry.fetch(FILE)
    assert str(failure.value) == message
    assert in_cache(place) == []
    assert len(server.requests) == 1 + registry.RETRIES


def test_a_silent_server_is_given_up(place, server, monkeypatch):
    monkeypatch.setattr(registry, "SILENT_SECONDS", 0.1)
    server.answers = [lambda handler: handler.server.released.wait()]
    with pytest.raises(registry.DataUnavailableError, match=r"no answer for 0\.1 s"):
        registry.fetch(FILE)
    assert in_cache(place) == []


@pytest.mark.parametrize("start", [b"H", b"HTTP/1.0 200 OK\r\n\r\n"])
def test_a_server_that_drips_is_given_up(place, server, monkeypatch, start):
    monkeypatch.setattr(registry, "START_SECONDS", 0.3)
    monkeypatch.setattr(registry, "BYTES_PER_SECOND", 10**9)
    server.answers = [partial(drip, start=start)]
    with pytest.raises(registry.DataUnavailableError, match="not complete in time"):
        registry.fetch(FILE)
    assert in_cache(place) == []
    assert len(server.requests) == 1


def test_a_fault_that_passes_is_tried_again(place, server):
    server.answers = [TRUNCATED, SERVER_ERROR, RIGHT]
    assert registry.fetch(FILE).read_bytes() == CONTENT
    assert len(server.requests) == 3


def test_further_addresses_and_the_archive_are_tried_in_order(
    place, server, monkeypatch
):
    monkeypatch.setattr(registry, "RETRIES", 0)
    monkeypatch.setattr(registry, "ARCHIVE", f"{server.url}/archive/{{git_blob}}")
    register(monkeypatch, place / "two.csv", f"{server.url}/1 {server.url}/2")
    server.answers = [NOT_FOUND, WEB_PAGE, RIGHT]
    assert registry.fetch(FILE).read_bytes() == CONTENT
    asked = [each.removeprefix("/ratings.txt/") for each in server.requests]
    assert asked == ["1", "2", f"archive/{BLOB}"]


def test_a_full_disk_is_no_missing_network(place, monkeypatch):
    def refuse(*_):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(Path, "write_bytes", refuse)
    message = r"^study/ratings\.txt cannot be stored in .*cache \(No space left on"
    with pytest.raises(registry.DataError, match=message) as failure:
        registry.resolve(["study"], "auto")
    assert failure.type is registry.DataError


def fetch_in_process(place, first=""):
    lists = [place / "registry.csv", place / "unpinned.csv"]
    command = [sys.executable, "-c", first + PROGRAM, *lists, REFUSED, FILE]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_a_download_that_is_killed_leaves_no_file_that_counts(place, server):
    server.answers = [half_then_silence, RIGHT]
    process = fetch_in_process(place)
    assert server.half_sent.wait(timeout=60)
    process.kill()
    process.communicate()
    assert not (place / "cache" / FILE).exists()
    assert registry.fetch(FILE).read_bytes() == CONTENT


def test_a_file_that_is_stored_by_half_does_not_count(place):
    process = fetch_in_process(place, KILLED_WHILE_STORING)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    (half,) = in_cache(place)
    assert half.stat().st_size == 9000
    assert half.name != "ratings.txt"
    assert registry.fetch(FILE).read_bytes() == CONTENT


def test_two_processes_that_download_at_once_both_get_the_file(place, server):
    meeting = threading.Barrier(2)

    def together(handler):
        meeting.wait(timeout=60)
        RIGHT(handler)

    server.answers = [together]
    processes = [fetch_in_process(place) for _ in range(2)]
    printed = [process.communicate(timeout=60)[0] for process in processes]
    assert printed == [f"{place / 'cache' / FILE}\n"] * 2
    assert len(server.requests) == 2
    assert in_cache(place) == [place / "cache" / FILE]
    assert registry.fetch(FILE).read_bytes() == CONTENT


def test_data_are_real_if_all_files_of_all_studies_can_be_had(
    place, server, monkeypatch
):
    register(monkeypatch, place / "two.csv", server.url, files=(FILE, OTHER))
    put(place / "mirror")
    source = registry.Source("real", "all registered files are here")
    assert registry.resolve(["study", "other"], "auto") == source
    assert registry.resolve(["study", "other"], "real") == source
    assert len(server.requests) == 1
    assert registry.resolve([], "auto") == source


def test_data_are_simulated_if_no_file_is_here_or_can_be_had(place, server):
    server.answers = [WEB_PAGE]
    source = registry.resolve(["study"], "auto")
    assert source.kind == "simulated"
    assert source.reason == (
        "no file of study is on this machine or can be downloaded; "
        "data_source='real' says why"
    )
    with pytest.raises(registry.DataUnavailableError, match="it sent a web page"):
        registry.resolve(["study"], "real")


@pytest.mark.parametrize("studies", [["study"], ["study", "other"], ["other", "study"]])
def test_data_that_are_partly_here_are_an_error(place, monkeypatch, studies):
    both = (FILE, "study/more.txt") if studies == ["study"] else (FILE, OTHER)
    register(monkeypatch, place / "two.csv", REFUSED, files=both)
    put(place / "mirror")
    together = " and ".join(studies)
    message = rf"^1 of 2 files of {together} are here\. {both[1]} is not on this"
    with pytest.raises(registry.DataIncompleteError, match=message):
        registry.resolve(studies, "auto")


def test_simulated_data_need_no_files(place, server):
    source = registry.Source("simulated", "simulated data were asked for")
    assert registry.resolve(["study"], "simulated") == source
    assert registry.locate([FILE], "simulated") is None
    assert server.requests == []


def test_unknown_choices_and_studies_are_refused(place):
    with pytest.raises(OptionError, match="'auto', 'real' or 'simulated', not 'fake'"):
        registry.resolve(["study"], "fake")
    with pytest.raises(OptionError, match="no files of a study 'studie'"):
        registry.resolve(["studie"], "auto")
    for choice in ("auto", "fake"):
        message = f"'real' or 'simulated' here, not '{choice}'"
        with pytest.raises(OptionError, match=message):
            registry.locate([FILE], choice)


def test_a_file_without_a_hash_is_used_where_it_is_and_never_downloaded(place, server):
    message = (
        f"{UNPINNED} is not on this machine and is never downloaded, because its hash "
        f"is not known. Download it from {server.url} and put the file into the folder "
        "of DATA_MIRROR or DATA_CACHE or into data/raw, or choose "
        "data_source='simulated'."
    )
    with pytest.raises(registry.DataUnavailableError) as failure:
        registry.locate([UNPINNED], "real")
    assert str(failure.value) == message
    assert registry.unpinned_here("study") == []
    cached = put(place / "cache", b"any", UNPINNED)
    assert registry.locate([UNPINNED], "real") == {UNPINNED: cached}
    assert registry.unpinned_here("study") == [UNPINNED]
    assert registry.names("study") == [FILE]
    assert server.requests == []


def test_the_registry_gives_every_file_a_pinned_address_and_whole_hashes():
    table = pd.read_csv(registry.REGISTRY_FILE, dtype=str, keep_default_na=False)
    assert list(table) == COLUMNS
    assert table["file"].is_unique
    address = (
        r"https://raw\.githubusercontent\.com/[\w-]+/[\w-]+/[0-9a-f]{40}/[\w./%-]+"
    )
    assert table["url"].str.fullmatch(address).all()
    assert table["sha256"].str.fullmatch(r"[0-9a-f]{64}").all()
    assert table["git_blob"].str.fullmatch(r"[0-9a-f]{40}").all()
    assert table["bytes"].str.fullmatch(r"[1-9][0-9]*( [1-9][0-9]*)?").all()
    assert table["licence"].ne("").all()
