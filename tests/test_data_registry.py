"""Registered files: mirror, cache, download from a small server, ways to fail."""

import errno
import gzip
import hashlib
import http.server
import json
import os
import re
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
import requests

from helpers import paths
from helpers.data import download, registry, tables

CONTENT = b"one honest rating\n" * 1000
BLOB = hashlib.sha1(b"blob %d\0" % len(CONTENT) + CONTENT).hexdigest()
COLUMNS = ["file", "url", "sha256", "git_blob", "bytes", "licence", "note"]
FILE = "study/ratings.txt"
# more than what lies between a server that sends and a client that reads
BUFFERS = 1_000_000


class Server(http.server.ThreadingHTTPServer):
    """Give the next of some answers to each request, the last one again and again."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers, self.requests, self.sent, self.closing = (
            [right],
            [],
            0,
            threading.Event(),
        )

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/ratings.txt"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 10_000)
        answers, number = self.server.answers, len(self.server.requests)
        self.server.requests.append(self.path)
        try:
            answers[min(number, len(answers) - 1)](self)
        except OSError:
            self.close_connection = True

    def head(self, status=200, **fields):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def send(self, content):
        self.wfile.write(content)
        self.server.sent += len(content)

    def send_until_closed(self, content, pause=0.0):
        while not self.server.closing.wait(pause):
            self.send(content)

    def log_message(self, *_):
        """Stay quiet."""


def right(answer, content=CONTENT, promised=None, **fields):
    answer.head(**{"Content_Length": promised or len(content), **fields})
    answer.send(content)


def status(code, answer, **fields):
    answer.head(code, Content_Length=5, **fields)
    answer.send(b"sorry")


def web_page(answer):
    right(answer, b"<html>Log in", Content_Type="text/html; charset=utf-8")


def gzip_bomb(answer):
    right(answer, gzip.compress(bytes(10**7)), Content_Encoding="gzip")


def endless(answer):
    answer.head()
    answer.send_until_closed(bytes(1000))


def dripping(answer):
    answer.head(Content_Length=len(CONTENT))
    answer.send_until_closed(b"o", 0.001)


def half_then_silence(answer):
    answer.head(Content_Length=len(CONTENT))
    answer.send(CONTENT[:100])
    answer.server.closing.wait()


def silent(answer):
    answer.server.closing.wait()


def dripping_header(answer):
    answer.send_response(200)
    answer.flush_headers()
    answer.send_until_closed(b"X", 0.001)


def closing(answer):
    answer.close_connection = True


def not_http(answer):
    answer.send(b"220 mail server ready\r\n")
    answer.close_connection = True


def to(place, answer):
    answer.head(302, Location=place, Content_Length=0)


def endless_redirect(answer):
    answer.head(302, Location="/next")
    answer.send_until_closed(bytes(1000))


def in_chunks(answer, end=b"0\r\n\r\n"):
    answer.protocol_version = "HTTP/1.1"
    answer.head(Transfer_Encoding="chunked", Connection="close")
    answer.send(b"%x\r\n%s\r\n" % (len(CONTENT), CONTENT) + end)


@pytest.fixture
def server():
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.closing.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def pauses(monkeypatch):
    """Pauses between tries, which take no time."""
    made = []
    monkeypatch.setattr("pooch.core.time.sleep", made.append)
    monkeypatch.setattr(download, "sleep", lambda seconds: None)
    return made


def register(monkeypatch, path, url, sha256="", git_blob=BLOB, files=(FILE,)):
    row = [url, sha256, git_blob, len(CONTENT), "none stated", ""]
    table = pd.DataFrame([[file, *row] for file in files], columns=COLUMNS)
    table.to_csv(path, index=False)
    monkeypatch.setattr(registry, "REGISTRY_FILE", path)


@pytest.fixture
def place(tmp_path, monkeypatch, server, pauses):
    """A registry of one file, an empty mirror, a cache folder that is not yet there."""
    sha256 = hashlib.sha256(CONTENT).hexdigest()
    register(monkeypatch, tmp_path / "registry.csv", server.url, sha256)
    monkeypatch.setattr(download, "_failed_hosts", {})
    monkeypatch.setattr(download, "_answering_hosts", set())
    monkeypatch.setattr(registry, "ARCHIVES", ())
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "mirror").mkdir()
    monkeypatch.setenv("DATA_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.setenv("DATA_CACHE", str(tmp_path / "cache"))
    return tmp_path


def put(folder, content=CONTENT, file=FILE):
    (folder / file).parent.mkdir(parents=True, exist_ok=True)
    (folder / file).write_bytes(content)
    return folder / file


def files_in(folder):
    return [path.name for path in folder.rglob("*") if path.is_file()]


def go_offline(place, monkeypatch, **settings):
    register(
        monkeypatch, place / "offline.csv", "http://127.0.0.1:1/ratings.txt", **settings
    )


def test_the_mirror_comes_before_the_cache_and_the_cache_before_a_download(
    place, server
):
    downloaded = registry.fetch(FILE)
    assert downloaded == place / "cache" / "study" / "ratings.txt"
    assert downloaded.read_bytes() == CONTENT
    assert files_in(place / "cache") == ["ratings.txt"]
    assert registry.fetch(FILE) == downloaded
    assert len(server.requests) == 1
    mirrored = put(place / "mirror")
    assert registry.fetch(FILE) == mirrored


def test_relative_folders_lie_under_the_project_root(place, monkeypatch):
    monkeypatch.setattr(paths, "ROOT", place)
    monkeypatch.chdir(put(place / "elsewhere").parent)
    monkeypatch.setenv("DATA_MIRROR", "mirror")
    monkeypatch.setenv("DATA_CACHE", "cache")
    cached = put(place / "cache")
    assert registry.fetch(FILE) == cached
    mirrored = put(place / "mirror")
    assert registry.fetch(FILE) == mirrored


@pytest.mark.parametrize(
    "sha256", [f"{'0' * 64} {hashlib.sha256(CONTENT).hexdigest()}", "0" * 64]
)
def test_any_listed_hash_or_the_git_blob_identifies_a_file(
    place, monkeypatch, server, sha256
):
    git_blob = BLOB if sha256 == "0" * 64 else "0" * 40
    register(monkeypatch, place / "other.csv", server.url, sha256, git_blob)
    assert registry.fetch(FILE).read_bytes() == CONTENT


def test_an_unknown_name_is_refused_and_the_nearest_one_suggested(place):
    name = "study/rating.txt"
    message = f"{name!r} is not in data/registry.csv. Did you mean 'study/ratings.txt'?"
    with pytest.raises(registry.DataError, match=f"^{re.escape(message)}$"):
        registry.fetch(name)


@pytest.mark.parametrize(
    ("folder", "advice"),
    [
        ("mirror", "Replace it, or delete it to use the cache or a download."),
        ("cache", "Delete it and run again."),
    ],
)
def test_a_corrupt_copy_is_named_and_never_replaced_by_a_simulation(
    place, folder, advice
):
    path = put(place / folder, b"tampered")
    message = (
        f"{path} is not the registered study/ratings.txt: it has 8 bytes (registered: "
        "18000) "
        f"and another SHA-256. {advice}"
    )
    with pytest.raises(registry.DataError, match=f"^{re.escape(message)}$"):
        registry.locate([FILE], "auto")


def test_a_copy_that_changes_during_the_run_is_checked_again(place):
    path = put(place / "mirror")
    registry.fetch(FILE)
    path.write_bytes(CONTENT.replace(b"honest", b"forged"))
    os.utime(path, ns=(1, 1))
    with pytest.raises(registry.DataError):
        registry.fetch(FILE)


def test_a_copy_that_changes_between_check_and_reading_is_refused(place):
    path = put(place / "mirror")
    registry.fetch(FILE)
    assert len(tables.read_csv(path)) == 999
    path.write_bytes(CONTENT[:-18])
    with pytest.raises(
        tables.BadTableError, match="the file changed while it was read"
    ):
        tables.read_csv(path)
    with pytest.raises(registry.DataError):
        registry.fetch(FILE)


UNANSWERED, INCOMPLETE = registry.DataUnavailableError, registry.DataIncompleteError
CUT = partial(right, content=CONTENT[:100], promised=len(CONTENT))
OTHER = CONTENT.replace(b"honest", b"forged")
OTHERS = "18000 bytes arrived that are not the registered file; tries: 4"
TOO_MANY = "more than 18000 bytes came; tries: 4"
DIGITS = "9" * 400
FAULTS = {
    "right": ([right], None, 1),
    "right in chunks": ([in_chunks], None, 1),
    "right at the third try": ([CUT, partial(status, 500), right], None, 3),
    "right after a redirect": ([partial(to, "/moved"), right], None, 2),
    "cut": ([CUT], "(ChunkedEncodingError; tries: 4)", 4),
    "cut in chunks": (
        [partial(in_chunks, end=b"")],
        "(ChunkedEncodingError; tries: 4)",
        4,
    ),
    "promises less than it has": (
        [partial(right, promised=100)],
        "(100 bytes arrived that",
        4,
    ),
    "empty": (
        [partial(status, 200)],
        "(5 bytes arrived that are not the registered file",
        4,
    ),
    "without a body": (
        [partial(right, content=b"")],
        "(0 bytes arrived that are not the",
        4,
    ),
    "another file": ([partial(right, content=OTHER)], OTHERS, 4),
    "a web page": ([web_page], "(a web page came, not the file; tries: 4)", 4),
    "a byte too much": ([partial(right, content=CONTENT + b"x")], TOO_MANY, 4),
    "endless": ([endless], TOO_MANY, 4),
    "a gzip bomb": ([gzip_bomb], TOO_MANY, 4),
    "endless redirects": ([partial(to, "/again")], "(TooManyRedirects; tries: 4)", 124),
    "a redirect without end": ([endless_redirect, right], None, 2),
    "sent on to a file": (
        [partial(to, "file:///etc/passwd")],
        "(InvalidSchema; tries: 4)",
        4,
    ),
    "sent on to nonsense": ([partial(to, "http://[")], "; tries: 4)", 4),
    "only a choice": ([partial(status, 300)], "(HTTP status 300; tries: 4)", 4),
    "not found": ([partial(status, 404)], "(HTTP status 404; tries: 1)", 1),
    "forbidden": ([partial(status, 403)], "(HTTP status 403; tries: 1)", 1),
    "gone": ([partial(status, 410)], "(HTTP status 410; tries: 1)", 1),
    "server error": ([partial(status, 500)], "(HTTP status 500; tries: 4)", 4),
    "busy": ([partial(status, 429, Retry_After=20), right], None, 2),
    "asks to wait for an hour": (
        [partial(status, 429, Retry_After=3600), right],
        "(HTTP status 429, asks to wait 3600 s; tries: 1)",
        1,
    ),
    "asks to wait for ever": (
        [partial(status, 503, Retry_After=DIGITS), right],
        "(HTTP status 503, asks to wait 21600 s; tries: 1)",
        1,
    ),
    "right, and asks to wait": ([partial(right, Retry_After="3600")], None, 1),
    "answers, then closes": (
        [partial(status, 500), closing],
        "(ConnectionError; tries: 4)",
        4,
    ),
    "closes at once": ([closing], "(ConnectionError)", 2),
    "not a web server": ([not_http], "(ConnectionError)", 2),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_a_server_end_soon_and_leave_nothing_behind(
    place, server, pauses, fault
):
    server.answers, message, requests = FAULTS[fault]
    if message is None:
        assert registry.fetch(FILE).read_bytes() == CONTENT
    else:
        with pytest.raises(registry.DataError, match=re.escape(message)) as failure:
            registry.fetch(FILE)
        assert failure.type is (UNANSWERED if requests == 2 else INCOMPLETE)
    assert files_in(place) == ["registry.csv", *["ratings.txt"] * (message is None)]
    assert len(server.requests) == requests
    assert sum(pauses) <= 6
    assert server.sent <= len(server.requests) * BUFFERS


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (dripping, INCOMPLETE, r"\(only \d+ bytes came in time; tries: 1\)"),
        (dripping_header, UNANSWERED, r"\(only 0 bytes came in time\)"),
    ],
)
def test_a_server_that_is_too_slow_is_given_up(
    place, server, monkeypatch, answer, error, message
):
    monkeypatch.setattr(download, "START_SECONDS", 0)
    server.answers = [answer]
    with pytest.raises(error, match=message):
        registry.fetch(FILE)
    assert files_in(place) == ["registry.csv"]
    assert len(server.requests) == 1


def test_a_name_look_up_that_hangs_is_given_up_once_for_the_whole_process(
    place, monkeypatch
):
    look_ups, end = [], threading.Event()

    def hang(*arguments, **_):
        look_ups.append(arguments[0])
        end.wait(timeout=60)
        raise OSError("no name server")

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    monkeypatch.setattr(download, "START_SECONDS", 0)
    for _ in range(2):
        with pytest.raises(UNANSWERED, match="came in time"):
            registry.fetch(FILE)
    assert look_ups == ["127.0.0.1"]
    end.set()


@pytest.mark.parametrize(
    ("answer", "error", "message", "tries"),
    [
        (half_then_silence, INCOMPLETE, r"\(ConnectionError; tries: 4\)", 4),
        (silent, UNANSWERED, r"\(ReadTimeout\)", 2),
    ],
)
def test_a_server_without_a_byte_for_long_is_given_up(
    place, server, monkeypatch, answer, error, message, tries
):
    monkeypatch.setattr(download, "STALL_SECONDS", 0.2)
    server.answers = [answer]
    with pytest.raises(error, match=message):
        registry.fetch(FILE)
    assert files_in(place) == ["registry.csv"]
    assert len(server.requests) == tries


def test_a_file_that_is_not_found_says_so_and_its_server_is_asked_for_others(
    place, server
):
    server.answers = [partial(status, 404), right]
    message = (
        r"^study/ratings\.txt did not arrive from 127\.0\.0\.1:\d+ \(HTTP status 404; "
        r"tries: 1\)"
        r"\. Run again to continue, or choose data_source='simulated'\.$"
    )
    with pytest.raises(INCOMPLETE, match=message):
        registry.fetch(FILE)
    assert registry.fetch(FILE).read_bytes() == CONTENT


def test_from_https_nothing_leads_to_http(place, server, monkeypatch):
    def without_encryption(url, **options):
        return original(url.replace("https:", "http:"), **options)

    original = requests.get
    register(monkeypatch, place / "https.csv", server.url.replace("http:", "https:"))
    monkeypatch.setattr(requests, "get", without_encryption)
    with pytest.raises(
        INCOMPLETE, match="leads to an address without encryption; tries: 1"
    ):
        registry.fetch(FILE)


def test_a_missing_list_of_certificates_is_no_missing_network(place, monkeypatch):
    register(monkeypatch, place / "https.csv", "https://127.0.0.1:1/ratings.txt")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(place / "nowhere.pem"))
    with pytest.raises(
        registry.DataError, match=r"Nothing can be downloaded.*nowhere\.pem"
    ) as seen:
        registry.locate([FILE], "auto")
    assert seen.type is registry.DataError


THREE = ["study/a.txt", "study/b.txt", "study/c.txt"]


def test_a_study_of_which_a_part_has_arrived_is_continued_not_simulated(
    place, monkeypatch, server
):
    register(monkeypatch, place / "three.csv", server.url, files=THREE)
    server.answers = [right, partial(status, 404)]
    message = (
        r"^study: 1 of 3 files are here\. study/b\.txt did not arrive.*"
        r"Run again to continue, "
    )
    with pytest.raises(INCOMPLETE, match=message):
        registry.locate(THREE, "auto")
    assert files_in(place / "cache") == ["a.txt"]
    server.answers = [right]
    assert list(registry.locate(THREE, "auto")) == THREE
    assert len(server.requests) == 4


def test_a_server_that_answers_wrongly_is_no_reason_to_simulate(place, server):
    server.answers = [partial(status, 500)]
    with pytest.raises(
        INCOMPLETE, match=r"^study: 0 of 1 files are here\. .*HTTP status 500"
    ):
        registry.locate([FILE], "auto")


def test_a_part_of_a_study_without_a_network_is_no_reason_to_simulate(
    place, monkeypatch
):
    go_offline(place, monkeypatch, files=THREE)
    put(place / "mirror", file=THREE[2])
    with pytest.raises(
        INCOMPLETE, match=r"^study: 1 of 3 files are here\. .*Connect to the inter"
    ):
        registry.locate(THREE, "auto")


def test_other_tables_of_a_study_that_are_here_forbid_to_simulate(place, monkeypatch):
    go_offline(place, monkeypatch, files=THREE)
    put(place / "mirror", file=THREE[0])
    assert list(registry.locate(THREE[:1], "auto")) == THREE[:1]
    with pytest.raises(INCOMPLETE, match=r"^study: 1 of 3 files are here\. "):
        registry.locate(THREE[1:], "auto")
    assert registry.simulated_studies() == []


def test_a_study_that_is_loaded_again_with_real_data_is_not_simulated_any_more(place):
    put(place / "mirror")
    with pytest.warns(UserWarning, match="tables of study are random"):
        registry.locate([FILE], "simulated")
    registry.locate([FILE], "real")
    assert registry.simulated_studies() == []


def test_a_terminal_shows_how_far_a_download_is(place, server, monkeypatch, capsys):
    register(monkeypatch, place / "three.csv", server.url, files=THREE)
    registry.fetch(THREE[0])
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    registry.fetch(THREE[1])
    assert "100%" in capsys.readouterr().err


def test_a_mirror_that_does_not_exist_is_an_error_even_if_data_may_be_simulated(
    place, monkeypatch
):
    nowhere = place / "nowhere"
    monkeypatch.setenv("DATA_MIRROR", str(nowhere))
    advice = "Correct the variable or unset it."
    message = f"DATA_MIRROR names no folder: {nowhere}. {advice}"
    with pytest.raises(registry.DataError, match=f"^{re.escape(message)}$"):
        registry.locate([FILE], "auto")


def test_a_file_in_the_place_of_the_cache_is_named_with_what_to_do(place, monkeypatch):
    (place / "occupied").write_text("a file where the folder should be")
    monkeypatch.setenv("DATA_CACHE", str(place / "occupied"))
    message = (
        f"{place / 'occupied' / FILE} cannot be read (Not a directory). Correct that, "
        "or set "
        "DATA_MIRROR and DATA_CACHE to other folders."
    )
    with pytest.raises(registry.DataError, match=f"^{re.escape(message)}$"):
        registry.locate([FILE], "auto")


@pytest.mark.parametrize("folder", ["mirror", "cache"])
def test_a_folder_in_the_place_of_a_file_is_no_missing_file(place, folder):
    (place / folder / FILE).mkdir(parents=True)
    message = re.escape(
        f"{place / folder / FILE} cannot be read (it is not a file). Correct"
    )
    with pytest.raises(registry.DataError, match=message):
        registry.locate([FILE], "auto")


def test_a_file_that_may_not_be_read_is_no_missing_file(place, monkeypatch):
    put(place / "mirror")
    refused = PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    monkeypatch.setattr(Path, "read_bytes", lambda _: (_ for _ in ()).throw(refused))
    with pytest.raises(
        registry.DataError, match=r"cannot be read \(Permission denied\)"
    ):
        registry.locate([FILE], "auto")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
@pytest.mark.parametrize(
    "step", ["pathlib.Path.mkdir", "pathlib.Path.write_bytes", "shutil.move"]
)
def test_a_disk_that_takes_nothing_is_no_missing_network(
    place, monkeypatch, number, step
):
    def refuse(*_, **__):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(step, refuse)
    folder = re.escape(str(place / "cache" / "study"))
    message = (
        rf"^ratings\.txt cannot be stored in {folder} "
        rf"\(.*{os.strerror(number)}\)\. Make room, or set DATA_CACHE to a folder that "
        "you can"
    )
    with pytest.raises(registry.DataError, match=message) as failure:
        registry.locate([FILE], "auto")
    assert failure.type is registry.DataError
    assert files_in(place / "cache") == []


def test_without_network_the_message_names_the_file_and_the_ways_out(
    place, monkeypatch
):
    go_offline(place, monkeypatch)
    message = (
        r"^study/ratings\.txt is neither in the mirror nor in the cache and cannot be "
        r"downloaded "
        r"from 127\.0\.0\.1:\d+ \(ConnectionError\)\. Connect to the internet "
        r"and run again, set DATA_MIRROR to a folder that holds the file, or choose "
        r"data_source='simulated'\.$"
    )
    with pytest.raises(registry.DataUnavailableError, match=message):
        registry.fetch(FILE)
    assert files_in(place) == ["offline.csv", "registry.csv"]


def test_a_server_that_does_not_answer_is_asked_twice_for_all_files(place, server):
    server.answers = [closing]
    for _ in range(2):
        with pytest.raises(UNANSWERED, match="ConnectionError"):
            registry.fetch(FILE)
    assert len(server.requests) == 2


def test_two_downloads_at_once_both_get_the_whole_file(place, server):
    meeting = threading.Barrier(2)

    def together(answer):
        meeting.wait(timeout=60)
        right(answer)

    server.answers = [together]
    with ThreadPoolExecutor(2) as both:
        paths_of_both = list(both.map(registry.fetch, [FILE] * 2))
    assert [path.read_bytes() for path in paths_of_both] == [CONTENT] * 2
    assert len(server.requests) == 2
    assert files_in(place / "cache") == ["ratings.txt"]


def test_data_are_simulated_only_when_they_cannot_be_had_or_should_be(
    place, monkeypatch, server
):
    path = put(place / "mirror")
    assert registry.locate([FILE], "auto") == {FILE: path}
    assert registry.simulated_studies() == []
    with pytest.warns(UserWarning, match="tables of study are random .*asked for"):
        assert registry.locate([FILE], "simulated") is None
    assert registry.simulated_studies() == ["study"]
    path.unlink()
    go_offline(place, monkeypatch)
    with pytest.warns(UserWarning, match="tables of study are random .*downloaded"):
        assert registry.locate([FILE], "auto") is None
    with pytest.raises(registry.DataUnavailableError):
        registry.locate([FILE], "real")


def test_the_mirror_beside_the_project_is_used_unless_another_is_named(
    place, monkeypatch
):
    beside = place / "shared" / "data"
    monkeypatch.setattr(registry, "SHARED_MIRROR", beside)
    monkeypatch.delenv("DATA_MIRROR")
    found = put(beside)
    assert registry.fetch(FILE) == found
    monkeypatch.setenv("DATA_MIRROR", str(place / "mirror"))
    named = put(place / "mirror")
    assert registry.fetch(FILE) == named


def test_an_archive_gives_a_registered_file_that_its_own_server_has_lost(
    place, monkeypatch, server
):
    archive = f"{server.url}/sha1_git:{{git_blob}}/raw/"
    monkeypatch.setattr(registry, "ARCHIVES", (archive,))
    server.answers = [partial(status, 404), right]
    assert registry.fetch(FILE).read_bytes() == CONTENT
    assert server.requests[1].endswith(f"/sha1_git:{BLOB}/raw/")


LONG_AGO = "Fri, 01 Jan 2021 00:00:00 GMT"


@pytest.mark.parametrize(
    ("header", "pause"), [("7", 7), (LONG_AGO, 0), ("soon", 0), ("9" * 5000, 0)]
)
def test_a_server_is_asked_again_after_the_pause_that_it_wants(
    place, server, monkeypatch, header, pause
):
    slept = []
    monkeypatch.setattr(download, "sleep", slept.append)
    server.answers = [partial(status, 429, Retry_After=header), right]
    assert registry.fetch(FILE).read_bytes() == CONTENT
    assert slept == [0, pause]


def test_a_server_that_wants_too_long_a_pause_is_not_asked_again_but_the_archive(
    place, server, monkeypatch
):
    archive = f"{server.url}/sha1_git:{{git_blob}}/raw/"
    monkeypatch.setattr(registry, "ARCHIVES", (archive,))
    server.answers = [partial(status, 429, Retry_After=3600), right]
    assert registry.fetch(FILE).read_bytes() == CONTENT
    assert len(server.requests) == 2
    assert server.requests[1].endswith(f"/sha1_git:{BLOB}/raw/")


@pytest.fixture
def public(place, monkeypatch, server):
    """Two public files whose hashes are not known."""
    table, files = place / "unpinned.csv", [FILE, "study/b.txt"]
    rows = [f"{file},{server.url},{len(CONTENT)},CC-BY-4.0," for file in files]
    table.write_text("\n".join(["file,url,bytes,licence,note", *rows]))
    monkeypatch.setattr(registry, "UNPINNED_FILE", table)
    register(monkeypatch, place / "none.csv", "", files=())
    return files


def test_files_without_hashes_are_taken_from_mirror_or_cache(place, public, server):
    assert registry.locate_unpinned(public, "auto") is None
    cached = put(place / "cache", b"any")
    mirrored = put(place / "mirror", b"any")
    assert registry.locate_unpinned(public[:1], "real") == {FILE: mirrored}
    mirrored.unlink()
    assert registry.locate_unpinned(public[:1], "real") == {FILE: cached}
    assert registry.locate_unpinned(public, "simulated") is None
    message = (
        r"^1 of 2 files are missing\. `make reproduce` .*\n"
        r"  study/b\.txt from http://127"
    )
    for data_source in ("auto", "real"):
        with pytest.raises(UNANSWERED, match=message):
            registry.locate_unpinned(public, data_source)
    assert server.requests == []


def test_a_file_without_a_hash_is_fetched_once_and_must_stay_as_it_came(
    place, public, server
):
    assert registry.fetch_unpinned("study") == dict.fromkeys(public, "")
    kept = place / "cache" / "study" / "ratings.txt.sha256"
    assert kept.read_text() == f"{hashlib.sha256(CONTENT).hexdigest()}  ratings.txt\n"
    assert registry.fetch_unpinned("study") == dict.fromkeys(public, "")
    assert len(server.requests) == 2
    assert set(registry.locate_unpinned(public, "real")) == set(public)
    mirrored = put(place / "mirror", b"another")
    message = (
        f"{mirrored} is not the first seen study/ratings.txt: it has 7 bytes (to "
        "accept it, delete "
        f"{kept}) and another SHA-256. Replace it, or delete it to use the cache "
        "or a download."
    )
    for look in (
        registry.fetch_unpinned,
        lambda _: registry.locate_unpinned(public, "auto"),
    ):
        with pytest.raises(registry.DataError, match=f"^{re.escape(message)}$"):
            look("study")
    kept.unlink()
    assert registry.fetch_unpinned("study")[FILE] == ""
    assert registry.locate_unpinned(public, "real")[FILE] == mirrored


def test_a_second_address_is_tried_where_the_first_gives_nothing(place, public, server):
    table = (place / "unpinned.csv").read_text()
    table = table.replace(server.url, f"{server.url}/gone {server.url}/copy")
    (place / "unpinned.csv").write_text(table)
    registry._entries.cache_clear()
    server.answers = [partial(status, 404), right, partial(status, 404), right]
    assert registry.fetch_unpinned("study") == dict.fromkeys(public, "")
    assert [each.rpartition("/")[2] for each in server.requests[:2]] == ["gone", "copy"]
    kept = place / "cache" / "study" / "ratings.txt.sha256"
    assert kept.read_text() == f"{hashlib.sha256(CONTENT).hexdigest()}  ratings.txt\n"


def test_where_no_address_gives_a_file_the_reason_of_the_first_is_told(
    place, public, server
):
    table = (place / "unpinned.csv").read_text()
    table = table.replace(server.url, f"{server.url}/gone {server.url}/copy")
    (place / "unpinned.csv").write_text(table)
    registry._entries.cache_clear()
    server.answers = [partial(status, 404), partial(status, 410)]
    assert registry.fetch_unpinned("study")[FILE] == "HTTP status 404"
    with pytest.raises(UNANSWERED, match=r"/gone or http://127[^\n]*/copy"):
        registry.locate_unpinned(public[:1], "real")


def test_why_a_public_file_is_not_here_is_told_and_stops_nothing(place, public, server):
    server.answers = [partial(status, 404), closing]
    reasons = registry.fetch_unpinned("study")
    assert reasons == {FILE: "HTTP status 404", "study/b.txt": "ConnectionError"}
    assert files_in(place / "cache") == []


@pytest.mark.parametrize(
    "answer", [web_page, partial(right, content=b""), endless, CUT]
)
def test_what_cannot_be_a_public_file_is_not_taken_for_one(
    place, public, server, answer
):
    server.answers = [answer]
    assert all(registry.fetch_unpinned("study").values())
    assert files_in(place / "cache") == []


LISTED = {
    "sha": "c0ffee",
    "siblings": [{"rfilename": "README.md"}, {"rfilename": "a test.csv"}],
}


@pytest.mark.parametrize(
    ("listed", "reason"),
    [
        (LISTED, ""),
        (LISTED | {"siblings": LISTED["siblings"][:1]}, "it lists no single CSV file"),
        (
            LISTED | {"siblings": LISTED["siblings"][1:] * 2},
            "it lists no single CSV file",
        ),
        (["other"], "it lists no single CSV file"),
    ],
)
def test_the_only_table_of_a_data_set_is_found_by_the_list_of_its_hub(
    place, public, server, listed, reason
):
    table = (
        (place / "unpinned.csv")
        .read_text()
        .replace("ratings.txt,18000", "datasets/who/x,18000")
    )
    (place / "unpinned.csv").write_text(table)
    server.answers = [
        partial(right, content=json.dumps(listed).encode()),
        right,
        closing,
    ]
    assert registry.fetch_unpinned("study")[FILE] == reason
    addresses = ["/api/datasets/who/x", "/datasets/who/x/resolve/c0ffee/a%20test.csv"]
    assert server.requests[: 1 + (not reason)] == addresses[: 1 + (not reason)]


def test_a_kept_hash_that_cannot_be_read_is_named(place, public):
    put(place / "mirror")
    (place / "cache" / "study" / "ratings.txt.sha256").mkdir(parents=True)
    with pytest.raises(
        registry.DataError, match=r"ratings\.txt\.sha256 cannot be read"
    ):
        registry.locate_unpinned(public, "auto")


def test_an_unknown_data_source_is_refused():
    message = "data_source must be 'auto', 'real' or 'simulated', not 'fake'"
    with pytest.raises(ValueError, match=f"^{message}$"):
        registry.locate([], "fake")


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
