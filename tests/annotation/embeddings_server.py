"""An embeddings endpoint that knows three organs."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

TOPICS = (("胃", "stomach", "gastric"), ("肝", "liver", "hepatic"), ("肾", "kidney", "renal"))


class Endpoint(BaseHTTPRequestHandler):
    """Embeds a text by the organs that it names, in whatever language."""

    asked: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        self.asked += texts
        vectors = [[0.01 + any(word in text for word in words) for words in TOPICS] for text in texts]
        data = [{"object": "embedding", "index": n, "embedding": one} for n, one in enumerate(vectors)]
        body = json.dumps({"object": "list", "model": "m", "data": data}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Stay silent."""


@pytest.fixture
def endpoint() -> Iterator[str]:
    Endpoint.asked.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
