"""Servers that say they are Label Studio and are not; a real one cannot be made to answer like this."""

import json
from contextlib import contextmanager
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from label_studio_sdk.core.api_error import ApiError

from build_dataset.annotation.label_studio.client import ReplyLostError, Studio, task_filter
from build_dataset.schemas.errors import UserError
from tests.annotation.local_server import LocalServer, send

VERSION = {"label-studio-os-package": {"version": "1.23.2"}}
USER = {"id": 1, "email": "a@b.c", "username": "a", "first_name": "", "last_name": "", "initials": "a"}


class Answering(LocalServer):
    """Answers the version and who asks; every other request with ``answer(path)``: a status and a body."""

    def __init__(self, answer) -> None:
        self.answer = answer
        super().__init__()

    def get(self, handler):
        known = {"/api/version": (200, VERSION), "/api/current-user/whoami": (200, USER)}
        status, body = known.get(handler.path) or self.answer(handler.path)
        kind = "text/html" if isinstance(body, str) else "application/json"
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        send(handler, data, {"content-type": kind, "location": handler.path}, status=status)

    def post(self, handler, data):
        self.get(handler)


@contextmanager
def server(answer):
    found = Answering(answer)
    try:
        yield found.url.removesuffix("/v1")
    finally:
        found.close()


def connected(url: str) -> Studio:
    return Studio(url, "token", key_env="KEY", timeout=5)


@pytest.mark.parametrize("answer", [(200, 5), (200, []), (200, "hello"), (302, {})])
def test_a_server_that_answers_something_else_is_told_in_one_line(answer):
    with server(lambda path: answer) as url, pytest.raises(UserError, match="is not Label Studio"):
        connected(url).projects("x")


def test_a_server_whose_pages_never_end_is_not_asked_for_ever():
    endless = {"tasks": [{"id": number, "data": {}} for number in range(500)], "total": 10**9}
    with server(lambda path: (200, endless)) as url, pytest.raises(UserError, match="is not Label Studio"):
        list(connected(url).tasks(1, []))


def test_tasks_whose_reply_is_lost_are_not_sent_again():
    asked = []

    def answer(path):
        asked.append(path)
        return 503, {"detail": "busy"}

    with server(answer) as url:
        studio = connected(url)
        with pytest.raises(ReplyLostError, match=r"503.*busy"):
            studio.import_tasks(7, [{"data": {"question_id": "题"}}])
    assert [path for path in asked if "import" in path] == ["/api/projects/7/import"]


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [
        (400, {"detail": "a  b\n c"}, r"refused a request \(400\): a b c$"),
        (400, {"detail": "x", "validation_errors": {"f": 1}}, r"refused a request \(400\): \{'f': 1\}"),
        (400, "<html>", r"refused a request \(400\): no reason given"),
        (401, {}, "refuses the token in KEY"),
        (403, {}, "refuses the token in KEY"),
        (403, "<html>", "something before Label Studio at .* answers 403 .*ask who runs it"),
        (404, {}, r"does not know what it was asked for \(404\)"),
        (413, {"detail": "large"}, r"refused a request \(413\): large"),
        (413, "<html>", "answers 413 .*client_max_body_size"),
        *((status, "<html>nginx</html>", f"answers {status} .*look whether that runs") for status in (502, 503, 504)),
    ],
)
def test_what_a_status_means_is_told_with_what_to_do(status, body, told):
    with server(lambda path: (status, body)) as url:
        studio = connected(url)
        with pytest.raises(UserError, match=told):
            studio.import_tasks(7, [{}])


@pytest.mark.parametrize(("email", "address"), [("Li@Example.org", "li@example.org"), ("", "user 1")])
def test_a_person_is_known_by_the_address_and_without_one_by_the_account(email, address):
    with server(lambda path: (200, [{**USER, "email": email}])) as url:
        assert connected(url).reviewers == {1: address}


def test_an_address_that_only_redirects_to_the_server_is_refused():
    class Redirect(LocalServer):
        def get(self, handler):
            send(handler, b"", {"location": url + handler.path}, status=301)

    with server(lambda path: (200, USER)) as url:
        front = Redirect()
        with pytest.raises(UserError, match=f"redirects to {url}: set review.url to that"):
            connected(front.url.removesuffix("/v1"))
        front.close()


def test_a_server_that_gives_fewer_tasks_at_once_than_asked_for_is_read_to_the_end():
    def answer(path):
        last = json.loads(parse_qs(urlsplit(path).query)["query"][0])["filters"]["items"][-1]["value"]
        rest = [{"id": number, "data": {}} for number in range(last + 1, 8)]
        return 200, {"tasks": rest[:3], "total": len(rest)}

    with server(answer) as url:
        found = connected(url).tasks(1)
        assert [task["id"] for task in found] == [1, 2, 3, 4, 5, 6, 7]


def offline() -> Studio:
    """A connection that never asks."""
    studio = object.__new__(Studio)
    studio.url, studio._key_env = "http://x", "KEY"
    return studio


@pytest.mark.parametrize(
    ("error", "lost", "kind"),
    [
        (ApiError(status_code=500, body={}), True, ReplyLostError),
        (ApiError(status_code=499, body={}), True, UserError),
        (ApiError(status_code=500, body={}), False, UserError),
        (ApiError(status_code=None, body={}), True, UserError),
        (httpx.ReadTimeout("x"), True, ReplyLostError),
        (httpx.ReadTimeout("x"), False, UserError),
        (httpx.ConnectError("x"), True, UserError),
        (KeyError("x"), True, UserError),
    ],
)
def test_only_a_request_that_may_have_been_carried_out_has_a_lost_reply(error, lost, kind):
    with pytest.raises(UserError) as found, offline()._user_errors(lost=lost):
        raise error
    assert type(found.value) is kind


class Recording(Studio):
    """A server of tasks 1 to ``count``, of which every third was answered; it notes what is asked."""

    def __init__(self, count: int, at_once: int = 500) -> None:
        self.url, self._key_env, self.asked, self.acts = "http://x", "KEY", [], []
        self.ids, self.at_once = list(range(1, count + 1)), at_once

    def _ask(self, method, path, **more):
        self.asked.append((method, path, more))
        if path == "api/predictions/":
            return [{"id": 9, "task": 1}, {"id": 3, "task": 1}, {"id": 5, "task": 2}]
        if path.endswith("import"):
            return {}
        items = json.loads(more["params"]["query"])["filters"]["items"]
        found = [each for each in self.ids if all(self.matches(each, one) for one in items)]
        return {"tasks": [{"id": each, "data": {}} for each in found[: self.at_once]], "total": len(found)}

    @staticmethod
    def matches(task, one):
        column, value = one["filter"].removeprefix("filter:tasks:"), one["value"]
        if column == "id":
            return task > value if one["operator"] == "greater" else task in value
        return (task % 3 == 0) == bool(value) if one["operator"] == "equal" else task % 3 == 0

    def _act(self, action, project_id, task_ids):
        self.acts.append((action, project_id, len(task_ids)))


def test_tasks_are_asked_for_five_hundred_at_once_by_their_ids():
    studio = Recording(1001)
    found = list(studio.tasks(7, task_filter("total_annotations", "equal", 0)))
    assert [task["id"] for task in found] == [each for each in range(1, 1002) if each % 3]
    assert len(studio.asked) == 2
    plain = studio.asked[-1][2]["params"]["include"]
    list(studio.tasks(7, answers=True))
    assert ("result" in plain, "result" in studio.asked[-1][2]["params"]["include"]) == (False, True)


def test_tasks_are_deleted_five_hundred_at_once_and_never_none():
    studio = Recording(1100)
    assert studio.delete_unanswered(7, [*range(1, 1101)]) == 734
    assert studio.acts == [("delete_tasks", 7, 334), ("delete_tasks", 7, 333), ("delete_tasks", 7, 67)]
    studio.acts.clear()
    assert studio.delete_unanswered(7, [3, 6]) == studio.delete_unanswered(7, []) == 0
    studio.delete_predictions(7, [])
    assert studio.acts == []


def test_predictions_are_told_by_task_the_oldest_first():
    assert Recording(0).predictions(7) == {1: [{"id": 3, "task": 1}, {"id": 9, "task": 1}], 2: [{"id": 5, "task": 2}]}


def test_tasks_are_sent_as_they_are():
    studio = Recording(0)
    studio.import_tasks(7, [{"data": {"题": 1}}])
    [(_, path, more)] = studio.asked
    assert (path, json.loads(more["content"])) == ("api/projects/7/import", [{"data": {"题": 1}}])


def test_an_action_is_asked_for_once_and_for_the_chosen_tasks_alone():
    studio, asked = offline(), []
    studio._sdk = SimpleNamespace(actions=SimpleNamespace(create=lambda **given: asked.append(given)))
    studio.delete_predictions(7, [3, 1])
    chosen = {"project": 7, "selected_items": {"all": False, "included": [1, 3]}}
    assert asked == [chosen | {"id": "delete_tasks_predictions", "request_options": {"max_retries": 0}}]


def test_labels_are_added_once_task_by_task():
    studio, asked = offline(), []
    studio._sdk = SimpleNamespace(
        projects=SimpleNamespace(import_predictions=lambda project_id, **given: asked.append((project_id, given)))
    )
    studio.add_predictions(7, {})
    studio.add_predictions(7, {2: {"score": 1}, 1: {"score": 0}})
    request = [{"task": 1, "score": 0}, {"task": 2, "score": 1}]
    assert asked == [(7, {"request": request, "request_options": {"max_retries": 0}})]
