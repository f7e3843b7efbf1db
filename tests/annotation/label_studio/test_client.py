"""Replies of Label Studio and of servers that are not; a real one cannot be made to answer like this."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from annotation.label_studio import client
from annotation.label_studio.client import ReplyLostError, Studio
from schemas.errors import UserError

VERSION = {"label-studio-os-package": {"version": "1.23.2"}}
USER = {"id": 1, "email": "a@b.c", "username": "a", "first_name": "", "last_name": "", "initials": "a"}


@contextmanager
def server(answer):
    """Answers all requests but that for the version with ``answer(path, signature)``: a status and a body."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args):
            pass

        def do_GET(self):
            signature = self.headers.get("authorization")
            is_version = self.path.startswith("/api/version")
            status, body = (200, VERSION) if is_version else answer(self.path, signature)
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
    with server(lambda *_: answer) as url, pytest.raises(UserError, match="is not Label Studio"):
        Studio(url, "token", key_env="KEY", timeout=5).projects("x")


def test_a_server_whose_pages_never_end_is_not_asked_for_ever():
    def answer(path, _):
        if "whoami" in path:
            return 200, USER
        return 200, {"tasks": [{"id": number, "data": {}} for number in range(500)], "total": 10**9}

    with server(answer) as url, pytest.raises(UserError, match="is not Label Studio"):
        list(Studio(url, "token", key_env="KEY", timeout=5).tasks(1, []))


def test_a_personal_token_is_exchanged_for_access_and_again_when_that_has_run_out():
    given = []

    def answer(path, signature):
        if "refresh" in path:
            given.append(f"access{len(given)}")
            return 200, {"access": given[-1]}
        if signature != f"Bearer {given[-1]}" or (len(given) == 1 and "users" in path):
            return 401, {"detail": "no"}
        return 200, [USER] if "users" in path else USER

    with server(answer) as url:
        studio = Studio(url, "head.claims.signature", key_env="KEY", timeout=5)
        assert studio.reviewers() == {1: "a@b.c"}
    assert given == ["access0", "access1"]


def test_a_personal_token_that_is_revoked_is_told_in_one_line():
    with (
        server(lambda *_: (401, {"detail": "no"})) as url,
        pytest.raises(UserError, match="refuses the token in KEY"),
    ):
        Studio(url, "head.claims.signature", key_env="KEY", timeout=5)


def test_what_is_read_is_asked_again_of_a_busy_server_and_what_is_added_is_not(monkeypatch):
    monkeypatch.setattr(client, "_PAUSES", (0.0, 0.0))
    asked = []

    def answer(path, _):
        asked.append(path)
        if "whoami" in path:
            return 200, USER
        return (200, [USER]) if len(asked) == 4 and "users" in path else (503, {"detail": "busy"})

    with server(answer) as url:
        studio = Studio(url, "token", key_env="KEY", timeout=5)
        assert studio.reviewers() == {1: "a@b.c"}
        asked.clear()
        with pytest.raises(ReplyLostError, match=r"503.*busy"):
            studio.import_tasks(1, [])
    assert len(asked) == 1


def test_projects_beyond_the_first_page_are_found():
    project = {"title": "t", "created_at": "2026-01-01T00:00:00Z", "label_config": "", "model_version": None}
    project |= {"task_number": 1, "total_annotations_number": 0, "total_predictions_number": 0}

    def answer(path, _):
        if "whoami" in path:
            return 200, USER
        page = int(path.partition("page=")[2].partition("&")[0])
        first = 100 * (page - 1)
        results = [project | {"id": n, "description": f"[{n}]"} for n in range(first, min(first + 100, 250))]
        return 200, {"results": results, "next": "more" if page < 3 else None}

    with server(answer) as url:
        [found] = Studio(url, "token", key_env="KEY", timeout=5).projects("[249]")
    assert (found.id, found.created_at) == (249, "2026-01-01T00:00:00+00:00")
