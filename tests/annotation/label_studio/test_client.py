"""Servers that say they are Label Studio and are not; a real one cannot be made to answer like this."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

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
            data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
            self.send_response(status)
            if status == 302:
                self.send_header("location", self.path)
            self.send_header("content-type", "text/html" if isinstance(body, str) else "application/json")
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


@pytest.mark.parametrize(
    ("status", "remedy"),
    [
        (403, "ask who runs it"),
        (413, "client_max_body_size"),
        *((status, "look whether that runs") for status in (502, 503, 504)),
    ],
)
def test_the_page_of_a_proxy_is_told_with_what_to_do(status, remedy):
    def answer(path):
        return (200, USER) if "whoami" in path else (status, "<html>nginx</html>")

    with server(answer) as url:
        studio = Studio(url, "token", key_env="KEY", timeout=5)
        with pytest.raises(UserError, match=f"answers {status} .*{remedy}"):
            studio.import_tasks(7, [{}])


def test_a_refused_request_is_told_with_the_reason_of_the_server():
    def answer(path):
        return (200, USER) if "whoami" in path else (400, {"detail": "no such column"})

    with server(answer) as url, pytest.raises(UserError, match=r"refused a request \(400\): no such column"):
        list(Studio(url, "token", key_env="KEY", timeout=5).tasks(1))


def test_only_tasks_without_answers_are_deleted():
    answers = {1: 0, 2: 1, 3: 0}

    def answer(path):
        if "whoami" in path or "actions" in path:
            return 200, USER
        filters = json.loads(parse_qs(urlsplit(path).query)["query"][0])["filters"]["items"]
        [count] = [one["value"] for one in filters if one["filter"].endswith("total_annotations")]
        tasks = [{"id": task, "data": {}} for task, given in answers.items() if given == count]
        return 200, {"tasks": tasks, "total": len(tasks)}

    with server(answer) as url:
        assert Studio(url, "token", key_env="KEY", timeout=5).delete_unanswered(1, [1, 2, 3]) == 2


@pytest.mark.parametrize(("email", "address"), [("Li@Example.org", "li@example.org"), ("", "user 1")])
def test_a_person_is_known_by_the_address_and_without_one_by_the_account(email, address):
    with server(lambda path: (200, USER if "whoami" in path else [{**USER, "email": email}])) as url:
        assert Studio(url, "token", key_env="KEY", timeout=5).reviewers == {1: address}


def test_an_address_that_only_redirects_to_the_server_is_refused():
    with server(lambda path: (200, USER)) as url:

        class Redirect(BaseHTTPRequestHandler):
            def log_message(self, *args):
                pass

            def do_GET(self):
                self.send_response(301)
                self.send_header("location", url + self.path)
                self.end_headers()

        front = ThreadingHTTPServer(("127.0.0.1", 0), Redirect)
        threading.Thread(target=front.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        with pytest.raises(UserError, match=f"redirects to {url}: set review.url to that"):
            Studio(f"http://127.0.0.1:{front.server_port}", "token", key_env="KEY", timeout=5)
        front.shutdown()
        front.server_close()


def test_a_server_that_gives_fewer_tasks_at_once_than_asked_for_is_read_to_the_end():
    def answer(path):
        if "whoami" in path:
            return 200, USER
        last = json.loads(parse_qs(urlsplit(path).query)["query"][0])["filters"]["items"][-1]["value"]
        rest = [{"id": number, "data": {}} for number in range(last + 1, 8)]
        return 200, {"tasks": rest[:3], "total": len(rest)}

    with server(answer) as url:
        found = Studio(url, "token", key_env="KEY", timeout=5).tasks(1)
        assert [task["id"] for task in found] == [1, 2, 3, 4, 5, 6, 7]
