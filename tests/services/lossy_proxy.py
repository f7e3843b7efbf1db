"""A proxy before a real server that loses requests or replies as a bad network does."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx

REQUEST_LOST = "request lost"
REPLY_LOST = "reply lost"


@contextmanager
def lossy_proxy(target: str, path_end: str, faults: list[str]) -> Iterator[str]:
    """Forward everything to ``target``; each POST to a path that ends so meets the next of ``faults``.

    Yields:
        The proxy's address.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def forward(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            meets_fault = self.command == "POST" and self.path.split("?")[0].endswith(path_end) and faults
            fault = faults.pop(0) if meets_fault else None
            if fault == REQUEST_LOST:
                self.close_connection = True
                return
            headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
            reply = httpx.request(self.command, target + self.path, content=body, headers=headers, timeout=60)
            if fault == REPLY_LOST:
                self.close_connection = True
                return
            self.send_response(reply.status_code)
            self.send_header("Content-Type", reply.headers.get("content-type", "application/json"))
            self.send_header("Content-Length", str(len(reply.content)))
            self.end_headers()
            self.wfile.write(reply.content)

        do_GET = do_POST = do_PATCH = do_DELETE = forward  # noqa: N815 (the base class's names)

        def log_message(self, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
