"""Servers that say they are Label Studio and are not; a real one cannot be made to answer like this."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from annotation.label_studio.client import ReplyLostError, Studio
from schemas.errors import UserError

VERSION = {"label-studio-os-package": {"version": "1.23.2"}}
USER = {"id": 1, "email": "a@b.c", "username": "a", "first_name": "", "last_name": "", "initials": "a"}


@contextmanager
def server(answer):
    """Answers every request but the version's with ``answer(path)``: a status and a body."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args):
            pass

        def do_GET(self):
            status, body = (200, VERSION) if self.path.startswith("/api/version") else answer(self.path)
            data = json.dumps(body).encode()
            self.send_response(status)
            if status == 302:
                self.send_header("location", self.path)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            self.do_GET()

    found = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{found.server_port}"
    finally:
        found.shutdown()
        found.server_close()


@pytest.mark.parametrize("answer", [(200, 5), (200, []), (200, "hello"), (302, {})])
def test_a_server_that_answers_something_else_is_told_in_one_line(answer):
    with server(lambda path: answer) as url, pytest.raises(UserError, match="is not Label Studio"):
        Studio(url, "token", key_env="KEY", timeout=5).projects("x")


def test_a_server_whose_pages_never_end_is_not_asked_for_ever():
    def answer(path):
        if "whoami" in path:
            return 200, USER
        return 200, {"tasks": [{"id": number, "data": {}} for number in range(500)], "total": 10**9}

    with server(answer) as url, pytest.raises(UserError, match="is not Label Studio"):
        list(Studio(url, "token", key_env="KEY", timeout=5).tasks(1, []))


def test_tasks_whose_reply_is_lost_are_not_sent_again():
    asked = []

    def answer(path):
        asked.append(path)
        return (200, USER) if "whoami" in path else (503, {"detail": "busy"})

    with server(answer) as url:
        studio = Studio(url, "token", key_env="KEY", timeout=5)
        with pytest.raises(ReplyLostError, match=r"503.*busy"):
            studio.import_tasks(7, [{"data": {"question_id": "题"}}])
    assert [path for path in asked if "import" in path] == ["/api/projects/7/import"]
