"""An OpenAI-compatible endpoint on this machine that replies as a test tells it."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Reply = tuple[int, bytes]


def chat(text: str | None) -> Reply:
    """A reply of a chat model."""
    message = {"role": "assistant", "content": text}
    return 200, json.dumps({"choices": [{"index": 0, "message": message}]}).encode()


class _Handler(BaseHTTPRequestHandler):
    """Notes each request and sends the reply that the test makes of it."""

    def do_POST(self):
        """Read a request and answer it."""
        server = self.server
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server.asked.append(body | {"path": self.path, "headers": dict(self.headers)})
        time.sleep(server.seconds)
        status, content = server.reply(body)
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Location", server.url)
        self.end_headers()
        with suppress(ConnectionError):  # nobody waits any more
            self.wfile.write(content)

    def log_message(self, *args):
        """Keep quiet."""


@contextmanager
def serving(reply: Callable[[dict], Reply]) -> Iterator[ThreadingHTTPServer]:
    """Serve; ``url`` is the address, ``asked`` the requests, ``seconds`` the delay."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        server.url = f"http://127.0.0.1:{server.server_port}/v1"
        server.asked, server.seconds, server.reply = [], 0, reply
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def last_text(body: dict) -> str:
    """What the last message of a request says."""
    return body["messages"][-1]["content"]
