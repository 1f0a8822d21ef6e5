"""A small server that speaks OpenAI's protocol on the loopback address."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

KEY = "sk-secret"


def completion(text: str | None) -> bytes:
    """Body of a reply as a chat model sends it."""
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    body = {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [choice],
    }
    return json.dumps(body).encode()


class Server(HTTPServer):
    """A stub of an endpoint: it notes what it is asked and answers as told."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[dict] = []
        self.user_replies = iter(["what is bado?", "Answer: B"] * 100)
        self.status, self.body, self.seconds = 200, None, 0.0

    @property
    def url(self) -> str:
        """Address to set as that of the endpoint."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    def reply(self, request: dict, path: str, key: str) -> tuple[int, bytes]:
        """Status and body of the reply to a request."""
        if path != "/v1/chat/completions":
            return 404, b"{}"
        if key != f"Bearer {KEY}":
            return 401, json.dumps({"error": {"message": "wrong key"}}).encode()
        self.asked.append(request)
        if self.status != 200 or self.body is not None:
            return self.status, self.body or b"{}"
        return 200, completion(
            "two." if request["model"] == "ai" else next(self.user_replies)
        )


class Handler(BaseHTTPRequestHandler):
    """Speaks HTTP for the stub."""

    def do_POST(self):
        """Read a request and send what the server replies."""
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        time.sleep(self.server.seconds)
        status, body = self.server.reply(
            request, self.path, self.headers["Authorization"]
        )
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        """Keep quiet."""


@contextmanager
def running() -> Iterator[Server]:
    """Run a stub in a thread of its own."""
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
