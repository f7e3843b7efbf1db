"""An OpenAI-compatible server on a real socket that does what a script says: answer, stall, break, refuse."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

GOOD = {
    "疾病组": "循环系统疾病",
    "临床科室": "内科",
    "医学学科": "临床医学",
    "能力维度": "疾病治疗",
    "难度": "较易",
}
GOOD_TEXT = json.dumps(GOOD, ensure_ascii=False)


@dataclass(frozen=True)
class Reply:
    """What to send for one request."""

    status: int = 200
    content: str = GOOD_TEXT
    finish_reason: str = "stop"
    refusal: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    """Sent as it is in place of a body."""
    stall: float = 0.0
    drop: bool = False
    """Close the connection without a word."""

    def body(self, model: str) -> bytes:
        if self.raw is not None:
            return self.raw
        if self.status != 200:
            error = {"message": f"provider says: sk-very-secret, {self.content}", "code": self.content}
            return json.dumps({"error": error}).encode()
        message = {"role": "assistant", "content": self.content, "refusal": self.refusal}
        choice = {"index": 0, "finish_reason": self.finish_reason, "message": message}
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        head = {"id": "c", "object": "chat.completion", "created": 1, "model": model}
        return json.dumps({**head, "choices": [choice], "usage": usage}).encode()


Script = Callable[[str, int, dict[str, Any]], Reply]
"""From the last user message, the number of earlier requests with it, and the request's body."""


class ScriptedServer:
    """Counts what it is asked, and what it gave a whole answer to."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.asked: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.times: list[float] = []
        self.authorization: set[str] = set()
        self.most_at_once = 0
        self._at_once = 0
        self._lock = threading.Lock()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args: object) -> None:
                pass

            def do_POST(self) -> None:
                owner._serve(self)

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 256

            def handle_error(self, request: object, client_address: object) -> None:
                pass

        self._server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        ).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers["content-length"])))
        question = next(item["content"] for item in body["messages"] if item["role"] == "user")
        with self._lock:
            earlier = self.asked[question]
            self.asked[question] += 1
            self.times.append(time.monotonic())
            self.authorization.add(handler.headers.get("authorization", ""))
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            self._reply(handler, self.script(question, earlier, body), question, body)
        finally:
            with self._lock:
                self._at_once -= 1

    def _reply(
        self, handler: BaseHTTPRequestHandler, reply: Reply, question: str, body: dict[str, Any]
    ) -> None:
        time.sleep(reply.stall)
        if reply.drop:
            handler.close_connection = True
            return
        data = reply.body(body["model"])
        handler.send_response(reply.status)
        for name, value in {"content-type": "application/json", **reply.headers}.items():
            handler.send_header(name, value)
        handler.send_header("content-length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)
        if reply.status == 200 and reply.raw is None:
            with self._lock:
                self.answered[question] += 1
