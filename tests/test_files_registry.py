"""Registered files: mirror, cache, download from a small server, and every way to fail."""

import hashlib
import http.server
import os
import re
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pytest

from helpers import paths
from helpers.files import registry

CONTENT = b"one honest rating\n" * 1000
BLOB = hashlib.sha1(b"blob %d\0" % len(CONTENT) + CONTENT).hexdigest()
COLUMNS = ["file", "url", "sha256", "git_blob", "bytes", "licence", "note"]


class Server(http.server.ThreadingHTTPServer):
    """Serve CONTENT; a test may shorten it, refuse it, or make requests wait for each other."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.body, self.promised, self.status = CONTENT, len(CONTENT), 200
        self.meeting = threading.Barrier(1)
        self.requests = []

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/ratings.txt"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_HEAD(self):
        self.server.requests.append(self.command)
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(self.server.promised))
        self.end_headers()

    def do_GET(self):
        self.server.meeting.wait(timeout=60)
        self.do_HEAD()
        self.wfile.write(self.server.body)

    def log_message(self, *_):
        """Stay quiet."""


@pytest.fixture
def server():
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def register(monkeypatch, path, url, sha256="", git_blob=BLOB):
    row = ["study/ratings.txt", url, sha256, git_blob, len(CONTENT), "none stated", ""]
    pd.DataFrame([row], columns=COLUMNS).to_csv(path, index=False)
    monkeypatch.setattr(registry, "REGISTRY_FILE", path)


@pytest.fixture
def place(tmp_path, monkeypatch, server):
    """A registry of one file, an empty mirror, a cache folder that does not exist yet."""
    sha256 = hashlib.sha256(CONTENT).hexdigest()
    register(monkeypatch, tmp_path / "registry.csv", server.url, sha256)
    monkeypatch.setattr(registry, "_failed_hosts", {})
    monkeypatch.setattr(registry, "_answering_hosts", set())
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "mirror").mkdir()
    monkeypatch.setenv("DATA_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.setenv("DATA_CACHE", str(tmp_path / "cache"))
    return tmp_path


def put(folder, content=CONTENT):
    (folder / "study").mkdir(parents=True, exist_ok=True)
    (folder / "study" / "ratings.txt").write_bytes(content)
    return folder / "study" / "ratings.txt"


def files_in(folder):
    return [path.name for path in folder.rglob("*") if path.is_file()]


def go_offline(place, monkeypatch):
    register(monkeypatch, place / "offline.csv", "http://127.0.0.1:1/ratings.txt")


def test_the_mirror_comes_before_the_cache_and_the_cache_before_a_download(place, server):
    downloaded = registry.fetch("study/ratings.txt")
    assert downloaded == place / "cache" / "study" / "ratings.txt"
    assert downloaded.read_bytes() == CONTENT
    assert files_in(place / "cache") == ["ratings.txt"]
    assert registry.fetch("study/ratings.txt") == downloaded
    assert server.requests == ["HEAD", "GET"]
    mirrored = put(place / "mirror")
    assert registry.fetch("study/ratings.txt") == mirrored


def test_relative_folders_lie_under_the_project_root(place, monkeypatch):
    monkeypatch.setattr(paths, "ROOT", place)
    monkeypatch.chdir(put(place / "elsewhere").parent)
    monkeypatch.setenv("DATA_MIRROR", "mirror")
    monkeypatch.setenv("DATA_CACHE", "cache")
    cached = put(place / "cache")
    assert registry.fetch("study/ratings.txt") == cached
    mirrored = put(place / "mirror")
    assert registry.fetch("study/ratings.txt") == mirrored


@pytest.mark.parametrize("sha256", [f"{'0' * 64} {hashlib.sha256(CONTENT).hexdigest()}", "0" * 64])
def test_any_listed_hash_or_the_git_blob_identifies_a_file(place, monkeypatch, server, sha256):
    git_blob = BLOB if sha256 == "0" * 64 else "0" * 40
    register(monkeypatch, place / "other.csv", server.url, sha256, git_blob)
    assert registry.fetch("study/ratings.txt").read_bytes() == CONTENT


def test_an_unknown_name_is_refused_and_the_nearest_one_suggested(place):
    name = "study/rating.txt"
    message = f"{name!r} is not in data/registry.csv. Did you mean 'study/ratings.txt'?"
    with pytest.raises(registry.DataError, match=f"^{re.escape(message)}$"):
        registry.fetch(name)


@pytest.mark.parametrize(
    ("folder", "advice"),
    [
        ("mirror", "Replace it, or unset DATA_MIRROR to use the cache or a download."),
        ("cache", "Delete it and run again."),
    ],
)
def test_a_corrupt_copy_is_named_and_never_replaced_by_a_simulation(place, folder, advice):
    path = put(place / folder, b"tampered")
    message = (
        f"{path} is not the registered study/ratings.txt: it has 8 bytes (registered: 18000) "
        f"and another SHA-256. {advice}"
    )
    with pytest.raises(registry.DataCorruptError, match=f"^{re.escape(message)}$"):
        registry.locate(["study/ratings.txt"], "auto")


def test_a_copy_that_changes_during_the_run_is_checked_again(place):
    path = put(place / "mirror")
    registry.fetch("study/ratings.txt")
    path.write_bytes(CONTENT.replace(b"honest", b"forged"))
    os.utime(path, ns=(1, 1))
    with pytest.raises(registry.DataCorruptError):
        registry.fetch("study/ratings.txt")


def test_a_download_cut_off_by_the_server_leaves_nothing_behind(place, server):
    server.body = CONTENT[:100]
    with pytest.raises(registry.DataUnavailableError, match=r"ratings\.txt.*ChunkedEncodingError"):
        registry.fetch("study/ratings.txt")
    assert files_in(place / "cache") == []


def test_a_download_that_is_too_short_leaves_nothing_behind(place, server):
    server.body, server.promised = CONTENT[:100], 100
    message = (
        r"is not the registered study/ratings\.txt: it has 100 bytes \(registered: 18000\) and "
        r"another SHA-256\. This is a fresh download, which was not kept: run again\.$"
    )
    with pytest.raises(registry.DataCorruptError, match=message):
        registry.fetch("study/ratings.txt")
    assert files_in(place / "cache") == []


def test_a_mirror_that_does_not_exist_is_an_error_even_if_data_may_be_simulated(place, monkeypatch):
    monkeypatch.setenv("DATA_MIRROR", str(place / "nowhere"))
    message = f"DATA_MIRROR names no folder: {place / 'nowhere'}. Correct the variable or unset it."
    with pytest.raises(registry.DataError, match=f"^{re.escape(message)}$"):
        registry.locate(["study/ratings.txt"], "auto")


def test_a_cache_that_cannot_be_written_is_named_with_what_to_do(place, monkeypatch):
    (place / "occupied").write_text("a file where the folder should be")
    monkeypatch.setenv("DATA_CACHE", str(place / "occupied"))
    message = (
        f"ratings.txt cannot be stored in {place / 'occupied' / 'study'} (Not a directory). "
        "Set DATA_CACHE to a folder that you can write to."
    )
    with pytest.raises(registry.DataError, match=f"^{re.escape(message)}$"):
        registry.fetch("study/ratings.txt")


def test_without_network_the_message_names_the_file_and_the_ways_out(place, monkeypatch):
    go_offline(place, monkeypatch)
    message = (
        r"^study/ratings\.txt is neither in the mirror nor in the cache and cannot be downloaded "
        r"from 127\.0\.0\.1:\d+ \(ConnectionError\)\. Connect to the internet and run again, set "
        r"DATA_MIRROR to a folder that holds the file, or choose data_source='simulated'\.$"
    )
    with pytest.raises(registry.DataUnavailableError, match=message):
        registry.fetch("study/ratings.txt")
    assert not (place / "cache").exists()


def test_a_server_that_failed_once_is_not_asked_again(place, server):
    server.status = 500
    message = r"127\.0\.0\.1:\d+ \(HTTP status 500\)"
    for _ in range(2):
        with pytest.raises(registry.DataUnavailableError, match=message):
            registry.fetch("study/ratings.txt")
    assert server.requests == ["HEAD", "GET"]


def test_a_name_look_up_that_hangs_is_given_up_once_for_the_whole_process(place, monkeypatch):
    look_ups, end = [], threading.Event()

    def hang(*arguments, **_):
        look_ups.append(arguments[0])
        end.wait(timeout=60)
        raise OSError("no name server")

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    monkeypatch.setattr(registry, "PROBE_SECONDS", 0.2)
    for _ in range(2):
        with pytest.raises(registry.DataUnavailableError, match=r"no answer within 0\.2 seconds"):
            registry.fetch("study/ratings.txt")
    assert look_ups == ["127.0.0.1"]
    end.set()
    for thread in threading.enumerate():
        if thread.name.endswith("(ask)"):
            thread.join()


def test_two_downloads_at_once_both_get_the_whole_file(place, server):
    server.meeting = threading.Barrier(2)
    with ThreadPoolExecutor(2) as both:
        paths_of_both = list(both.map(registry.fetch, ["study/ratings.txt"] * 2))
    assert [path.read_bytes() for path in paths_of_both] == [CONTENT] * 2
    assert server.requests.count("GET") == 2
    assert files_in(place / "cache") == ["ratings.txt"]


def test_data_are_simulated_only_when_they_cannot_be_had_or_should_be(place, monkeypatch, server):
    path = put(place / "mirror")
    assert registry.locate(["study/ratings.txt"], "auto") == {"study/ratings.txt": path}
    assert registry.locate(["study/ratings.txt"], "simulated") is None
    path.unlink()
    go_offline(place, monkeypatch)
    assert registry.locate(["study/ratings.txt"], "auto") is None
    with pytest.raises(registry.DataUnavailableError):
        registry.locate(["study/ratings.txt"], "real")


def test_files_without_hashes_are_taken_from_mirror_or_cache_but_never_loaded(place, monkeypatch):
    table = place / "unpinned.csv"
    table.write_text("file,url\nstudy/ratings.txt,http://a\nstudy/b.txt,http://b\n")
    monkeypatch.setattr(registry, "UNPINNED_FILE", table)
    files = ["study/ratings.txt", "study/b.txt"]
    assert registry.locate_unpinned(files, "auto") is None
    cached = put(place / "cache", b"any")
    mirrored = put(place / "mirror", b"any")
    assert registry.locate_unpinned(files[:1], "real") == {files[0]: mirrored}
    mirrored.unlink()
    assert registry.locate_unpinned(files[:1], "real") == {files[0]: cached}
    assert registry.locate_unpinned(files, "simulated") is None
    message = r"^1 of 2 files are missing\. Put them into .*\n  study/b\.txt from http://b$"
    for data_source in ("auto", "real"):
        with pytest.raises(registry.DataUnavailableError, match=message):
            registry.locate_unpinned(files, data_source)


def test_an_unknown_data_source_is_refused():
    message = "data_source must be 'auto', 'real' or 'simulated', not 'fake'"
    with pytest.raises(ValueError, match=f"^{message}$"):
        registry.locate([], "fake")


def test_the_registry_gives_every_file_a_pinned_address_and_whole_hashes():
    table = pd.read_csv(registry.REGISTRY_FILE, dtype=str, keep_default_na=False)
    assert list(table) == COLUMNS
    assert table["file"].is_unique
    address = r"https://raw\.githubusercontent\.com/[\w-]+/[\w-]+/[0-9a-f]{40}/[\w./%-]+"
    assert table["url"].str.fullmatch(address).all()
    assert table["sha256"].str.fullmatch(r"[0-9a-f]{64}").all()
    assert table["git_blob"].str.fullmatch(r"[0-9a-f]{40}").all()
    assert table["bytes"].astype(int).gt(0).all()
    assert table["licence"].ne("").all()
