"""An OpenAI-compatible server that does what a script says: answer, stall, break, refuse."""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.annotation.local_server import LocalServer, send

GOOD = {"疾病组": "循环系统疾病", "临床科室": "内科", "医学学科": "临床医学", "能力维度": "疾病治疗", "难度": "较易"}
GOOD_TEXT = json.dumps(GOOD, ensure_ascii=False)


@dataclass(frozen=True)
class Reply:
    """The reply to one request."""

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
    model: str | None = None
    """Name of the model in the reply; the requested name when absent."""

    def body(self, model: str) -> bytes:
        if self.raw is not None:
            return self.raw
        if self.status != 200:
            error = {"message": f"provider says: sk-very-secret, {self.content}", "code": self.content}
            return json.dumps({"error": error}).encode()
        message = {"role": "assistant", "content": self.content, "refusal": self.refusal}
        choice = {"index": 0, "finish_reason": self.finish_reason, "message": message}
        usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        head = {"id": "c", "object": "chat.completion", "created": 1, "model": self.model or model}
        return json.dumps({**head, "choices": [choice], "usage": usage}).encode()


Script = Callable[[str, int, dict[str, Any]], Reply]
"""From the last user message, the number of earlier requests with it, and the request's body."""


class ScriptedServer(LocalServer):
    """Counts what it is asked, and what it gave a whole answer to."""

    def __init__(self, script: Script = lambda question, earlier, body: Reply()) -> None:
        self.script = script
        self.asked: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.times: list[float] = []
        self.authorization: set[str] = set()
        self.most_at_once = 0
        self._at_once = 0
        self._lock = threading.Lock()
        super().__init__()

    def post(self, handler: BaseHTTPRequestHandler, data: bytes) -> None:
        body = json.loads(data)
        question = next(item["content"] for item in body["messages"] if item["role"] == "user")
        question = question if isinstance(question, str) else json.dumps(question)  # with a picture
        with self._lock:
            earlier = self.asked[question]
            self.asked[question] += 1
            self.times.append(time.monotonic())
            self.authorization.add(handler.headers.get("authorization", ""))
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        reply = self.script(question, earlier, body)
        time.sleep(reply.stall)
        with self._lock:
            self._at_once -= 1
        if reply.drop:
            handler.close_connection = True
            return
        send(handler, reply.body(body["model"]), reply.headers, status=reply.status)
        if reply.status == 200 and reply.raw is None:
            with self._lock:
                self.answered[question] += 1
