"""A server with OpenAI's files and batches endpoints, as its API reference has them, that answers by a script."""

import json
import re
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.annotation.local_server import LocalServer, send
from tests.annotation.scripted_server import Reply

Script = Callable[[str, int], Reply | None]
"""From the last user message and the number of earlier rows with it; None leaves the row unanswered."""


class BatchServer(LocalServer):
    """Runs each batch the moment it is looked at ``looks`` times; counts what every question was asked and paid."""

    def __init__(self, script: Script = lambda question, earlier: Reply(), looks: int = 1) -> None:
        self.script, self.looks = script, looks
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.asked: Counter[str] = Counter()
        self.fail_next: list[str] = []
        """Codes with which the next batches fail as a whole."""
        self.drop_next: list[str] = []
        """Paths whose next requests are carried out, but lose their reply."""
        self.missing = False
        """True for a server without the batch API."""
        self._seen: Counter[str] = Counter()
        super().__init__()

    def post(self, handler: BaseHTTPRequestHandler, data: bytes) -> None:
        if handler.path == "/v1/files" and not self.missing:
            made = self._file(_uploaded(data, handler.headers["content-type"]))
            self._send(handler, {"id": made, "object": "file", "purpose": "batch", "bytes": len(data)})
        elif handler.path == "/v1/batches":
            self._send(handler, self._create(json.loads(data)))
        else:
            self._send(handler, {"error": {"message": "no"}}, status=404)

    def get(self, handler: BaseHTTPRequestHandler) -> None:
        path = handler.path.partition("?")[0].removeprefix("/v1/")
        if path == "batches":
            found = list(self.batches.values())[::-1]
            self._send(handler, {"object": "list", "data": found, "has_more": False})
        elif path.startswith("batches/"):
            self._send(handler, self._look(path.removeprefix("batches/")))
        else:
            self._send(handler, self.files[path.split("/")[1]])

    def _file(self, data: bytes) -> str:
        name = f"file-{len(self.files)}"
        self.files[name] = data
        return name

    def _create(self, asked: dict[str, Any]) -> dict[str, Any]:
        assert asked["endpoint"] == "/v1/chat/completions"
        assert asked["completion_window"] == "24h"
        name = f"batch_{len(self.batches)}"
        self.batches[name] = {
            "id": name,
            "object": "batch",
            "endpoint": asked["endpoint"],
            "input_file_id": asked["input_file_id"],
            "completion_window": "24h",
            "created_at": 1,
            "status": "in_progress",
            "metadata": asked["metadata"],
            "output_file_id": None,
            "error_file_id": None,
        }
        return self.batches[name]

    def _look(self, name: str) -> dict[str, Any]:
        batch = self.batches[name]
        self._seen[name] += 1
        if batch["status"] == "in_progress" and self._seen[name] >= self.looks:
            self._run(batch)
        return batch

    def _run(self, batch: dict[str, Any]) -> None:
        if self.fail_next:
            errors = {"object": "list", "data": [{"code": self.fail_next.pop(0), "message": "sk-very-secret"}]}
            batch |= {"status": "failed", "errors": errors}
            return
        good, bad, left = [], [], 0
        for line in self.files[batch["input_file_id"]].splitlines():
            row = json.loads(line)
            assert (row["method"], row["url"]) == ("POST", "/v1/chat/completions")
            question = next(m["content"] for m in row["body"]["messages"] if m["role"] == "user")
            reply = self.script(question, self.asked[question])
            self.asked[question] += 1
            if reply is None:
                left += 1
                bad.append(_row(row, None, {"code": "batch_expired", "message": "expired"}))
                continue
            response = {"status_code": reply.status, "request_id": "r", "body": json.loads(reply.body("m"))}
            (good if reply.status == 200 else bad).append(_row(row, response, None))
        batch |= {"status": "expired" if left else "completed"}
        batch["output_file_id"] = self._file(b"".join(good)) if good else None
        batch["error_file_id"] = self._file(b"".join(bad)) if bad else None

    def _send(self, handler: BaseHTTPRequestHandler, body: Any, status: int = 200) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        if handler.path in self.drop_next:
            self.drop_next.remove(handler.path)
            handler.close_connection = True
            return
        kind = "application/octet-stream" if isinstance(body, bytes) else "application/json"
        send(handler, data, {"content-type": kind}, status=status)


def _row(row: dict[str, Any], response: Any, error: Any) -> bytes:
    line = {"id": "x", "custom_id": row["custom_id"], "response": response, "error": error}
    return json.dumps(line).encode() + b"\n"


def _uploaded(data: bytes, kind: str) -> bytes:
    """The file among the parts of a form."""
    boundary = re.search(r"boundary=(\S+)", kind)[1].strip('"').encode()
    for part in data.split(b"--" + boundary):
        head, _, body = part.partition(b"\r\n\r\n")
        if b'name="file"' in head:
            return body.removesuffix(b"\r\n")
    raise AssertionError("no file in the form")
