"""The connection to Label Studio: what the pipeline asks of it, and what goes wrong in words for users."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from operator import itemgetter
from typing import Any

import httpx

from annotation.label_studio.process import START
from schemas.errors import UserError

_PAGE, _PROJECTS = 500, 100
"""Tasks and projects in one reply; the server gives no more projects."""
_COUNTED = (
    "id,title,created_at,label_config,model_version,description,"
    "task_number,total_annotations_number,total_predictions_number"
)
_LISTED = "id,data,total_annotations"
_ANSWERED = "id,data,updated_at,annotations,result,completed_by,updated_by,was_cancelled,lead_time"
"""The fields of a task and its annotations that are asked for: all of them take the server five times as long."""
_PAUSES = (0.5, 1.0)
"""Seconds before a request that changes nothing twice is repeated, where the server was busy or failed."""
_BUSY = {408, 429, 500, 502, 503, 504}

Filter = Mapping[str, Any]


def where(column: str, operator: str, value: Any, kind: str = "Number") -> Filter:
    """A filter of tasks, as the data manager has them."""
    return {"filter": f"filter:tasks:{column}", "operator": operator, "type": kind, "value": value}


class ReplyLostError(UserError):
    """A request was sent and no good reply came: what it asked for may have happened, in part or not at all.

    On SQLite the server runs a request again that met a locked database, whatever half of it was done, and gives up
    with status 500 after some minutes.
    """


class _Token(httpx.Auth):
    """Signs requests with a legacy token, or with what the server gives for a personal access token (a JWT)."""

    requires_response_body = True

    def __init__(self, url: str, token: str) -> None:
        self._refresh = httpx.Request("POST", f"{url}/api/token/refresh/", json={"refresh": token})
        self._is_personal = token.count(".") == 2
        self._header = "" if self._is_personal else f"Token {token}"

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Send the request; where the access that a personal token gave has run out (5 minutes), get it anew."""
        request.headers["Authorization"] = self._header
        if self._header and ((yield request).status_code != 401 or not self._is_personal):
            return
        access = yield self._refresh
        if access.is_success:
            self._header = f"Bearer {access.json()['access']}"
        request.headers["Authorization"] = self._header
        yield request


@dataclass(frozen=True)
class Project:
    """A project as Label Studio keeps it."""

    id: int
    title: str
    created_at: str
    label_config: str
    model_version: str | None
    tasks: int
    annotations: int
    """Submitted ones, without those that were skipped."""
    predictions: int = 0
    description: str = ""

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Project:
        """Return it from the server's reply."""
        return cls(
            id=found["id"],
            title=found["title"],
            created_at=datetime.fromisoformat(found["created_at"]).isoformat(),
            label_config=found["label_config"],
            model_version=found["model_version"],
            tasks=found["task_number"] or 0,
            annotations=found["total_annotations_number"] or 0,
            predictions=found["total_predictions_number"] or 0,
            description=found["description"] or "",
        )


class Studio:
    """A connection to a Label Studio server, by its REST API.

    Replies are read as plain JSON: the server's own SDK makes a model of every part, 1.5 ms a task, and takes 1.5 s
    to import. Every method raises ``UserError`` when the server is down, refuses the token, or is something else.
    """

    def __init__(self, url: str, token: str, *, key_env: str, timeout: float) -> None:
        self.url = url.rstrip("/")
        self._key_env = key_env
        with self._told():
            self._http = httpx.Client(
                timeout=timeout, follow_redirects=True, auth=_Token(self.url, token), base_url=self.url
            )
            self._check_server()
            self._ask("GET", "/api/current-user/whoami")["email"]

    @classmethod
    def connect(cls, url: str, *, key_env: str, timeout: float) -> Studio:
        """Connect with the token in the environment variable ``key_env``.

        Raises:
            UserError: there is no token, no server, or the server refuses the token.
        """
        token = os.environ.get(key_env, "").strip()
        if not token.isascii():
            raise UserError(f"{key_env} is not an API token: it holds characters that no token has")
        if not token:
            raise UserError(
                f"{key_env} is not set: copy an API token from Label Studio ({url}, Account & Settings)"
                f" and `export {key_env}=…`"
            )
        return cls(url, token, key_env=key_env, timeout=timeout)

    def reviewers(self) -> dict[int, str]:
        """E-mail addresses of its users by id, as of the first time that they are asked for."""
        return self._reviewers

    @cached_property
    def _reviewers(self) -> dict[int, str]:
        with self._told():
            users = self._ask("GET", "/api/users/")
            return {user["id"]: user["email"] or f"user {user['id']}" for user in users}

    def projects(self, words: str) -> list[Project]:
        """Projects whose description contains ``words``, the oldest first."""
        found: list[Project] = []
        page: Mapping[str, Any] = {"next": True}
        with self._told():
            while page["next"]:
                number = 1 + len(found) // _PROJECTS
                params = {"page": number, "page_size": _PROJECTS, "ordering": "id", "include": _COUNTED}
                page = self._ask("GET", "/api/projects/", params=params)
                found += map(Project.of, page["results"])
        return [each for each in found if words in each.description]

    def project(self, project_id: int) -> Project:
        """A project with its counts."""
        with self._told():
            return Project.of(self._ask("GET", f"/api/projects/{project_id}/"))

    def create_project(self, **settings: Any) -> int:
        """Create a project, once; its id.

        Raises:
            ReplyLostError: it may be there or not, also more than once.
        """
        with self._told(lost=True):
            project_id: int = self._ask("POST", "/api/projects/", json=settings)["id"]
        return project_id

    def update_project(self, project_id: int, **settings: Any) -> None:
        """Change settings of a project."""
        self._write("PATCH", f"/api/projects/{project_id}/", json=settings)

    def delete_project(self, project_id: int) -> None:
        """Delete a project with all that is in it."""
        self._write("DELETE", f"/api/projects/{project_id}/")

    def tasks(self, project_id: int, *filters: Filter, answers: bool = False) -> Iterator[dict[str, Any]]:
        """Tasks that match all filters, in the order of their ids: ``id``, ``data`` and ``total_annotations``.

        Each page is what follows the last id: pages by number shift when a task goes, and another is passed over.

        Args:
            project_id: of the project.
            filters: see ``where``.
            answers: give ``updated_at`` and ``annotations`` instead of their number.
        """
        last = 0
        with self._told():
            while True:
                page = self._page(project_id, [*filters, where("id", "greater", last)], answers=answers)
                for task in page:
                    if task["id"] <= last:
                        raise ValueError("not in the order of ids")
                    last = task["id"]
                    yield task
                if len(page) < _PAGE:
                    return

    def import_tasks(self, project_id: int, payloads: Sequence[Mapping[str, Any]]) -> None:
        """Add tasks, once.

        Raises:
            ReplyLostError: the tasks may be there or not; the server adds all of them or none.
        """
        self._write("POST", f"/api/projects/{project_id}/import", json=list(payloads))

    def predictions(self, project_id: int) -> dict[int, list[dict[str, Any]]]:
        """All predictions of a project by task id, oldest first."""
        found: dict[int, list[dict[str, Any]]] = {}
        with self._told():
            listed = self._ask("GET", "/api/predictions/", params={"project": project_id})
            for prediction in sorted(listed, key=itemgetter("id")):
                found.setdefault(prediction["task"], []).append(prediction)
        return found

    def add_predictions(self, project_id: int, predictions: Mapping[int, Mapping[str, Any]]) -> None:
        """Add a prediction to each of those tasks, by task id."""
        request = [{"task": task_id, **prediction} for task_id, prediction in sorted(predictions.items())]
        if request:
            self._write("POST", f"/api/projects/{project_id}/import/predictions", json=request)

    def delete_predictions(self, project_id: int, task_ids: Sequence[int]) -> None:
        """Delete all predictions of those tasks."""
        if task_ids:
            self._act("delete_tasks_predictions", project_id, task_ids)

    def update_task(self, task_id: int, data: Mapping[str, Any]) -> None:
        """Replace a task's data."""
        self._write("PATCH", f"/api/tasks/{task_id}/", json={"data": dict(data)})

    def delete_unanswered(self, project_id: int, task_ids: Sequence[int]) -> int:
        """Delete those of the tasks that nobody has answered; how many."""
        unanswered = where("total_annotations", "equal", 0)
        gone = 0
        for begin in range(0, len(task_ids), _PAGE):
            some = where("id", "in_list", list(task_ids[begin : begin + _PAGE]))
            found = [task["id"] for task in self.tasks(project_id, some, unanswered)]
            if found:
                self._act("delete_tasks", project_id, found)
            gone += len(found)
        return gone

    def _page(self, project_id: int, filters: Sequence[Filter], *, answers: bool) -> list[dict[str, Any]]:
        query = {"filters": {"conjunction": "and", "items": filters}, "ordering": ["tasks:id"]}
        params = {
            "project": project_id,
            "query": json.dumps(query),
            "fields": "all" if answers else "task_only",
            "include": _ANSWERED if answers else _LISTED,
            "page_size": _PAGE,
            "resolve_uri": "false",
        }
        found: list[dict[str, Any]] = self._ask("GET", "/api/tasks/", params=params)["tasks"]
        return found

    def _act(self, action: str, project_id: int, task_ids: Sequence[int]) -> None:
        """Do something to tasks, of which there must be some: without any, the server takes all of the project."""
        selected = {"selectedItems": {"all": False, "included": sorted(task_ids)}}
        self._write("POST", "/api/dm/actions/", params={"id": action, "project": project_id}, json=selected)

    def _write(self, method: str, path: str, **more: Any) -> None:
        with self._told(lost=True):
            self._ask(method, path, **more)

    def _ask(self, method: str, path: str, **more: Any) -> Any:
        """Return the server's reply; what adds something is never sent again.

        A repeated import whose reply was lost gave 200 tasks for 100 while the caller saw success.
        """
        for pause in (*_PAUSES, None) if method in ("GET", "PATCH") else (None,):
            reply = self._http.request(method, path, **more)
            if pause is None or reply.status_code not in _BUSY:
                break
            time.sleep(pause)
        reply.raise_for_status()
        return reply.json() if reply.content else None

    def _check_server(self) -> None:
        reply = self._http.get("/api/version", auth=None)
        try:
            is_label_studio = "label-studio-os-package" in reply.json()
        except (ValueError, TypeError):
            is_label_studio = False
        if not is_label_studio:
            raise UserError(_stranger(self.url))

    @contextmanager
    def _told(self, *, lost: bool = False) -> Iterator[None]:
        """Turn what goes wrong into one line; with ``lost``, a missing reply into ``ReplyLostError``."""
        try:
            yield
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.InvalidURL, httpx.UnsupportedProtocol):
            raise UserError(
                f"Label Studio does not answer at {self.url}: start it with `{START}`, or set review.url"
            ) from None
        except httpx.TransportError as error:
            kind = ReplyLostError if lost else UserError
            raise kind(
                f"the connection to Label Studio at {self.url} broke ({type(error).__name__}): run it again,"
                " nothing is added twice"
            ) from None
        except (httpx.TooManyRedirects, TypeError, ValueError, AttributeError, KeyError):
            # Replies are read unchecked: one that is not Label Studio's has another form.
            raise UserError(_stranger(self.url)) from None
        except httpx.HTTPStatusError as error:
            kind = ReplyLostError if lost and error.response.is_server_error else UserError
            raise kind(self._refusal(error.response)) from None

    def _refusal(self, reply: httpx.Response) -> str:
        status = reply.status_code
        try:
            fields = reply.json()
        except ValueError:
            fields = None
        if status == 403 and not isinstance(fields, dict):
            return (
                f"something before Label Studio at {self.url} refuses access (403; a firewall or a proxy, since the"
                " reply is not Label Studio's): ask who runs it"
            )
        if status in (401, 403):
            return (
                f"Label Studio at {self.url} refuses the token in {self._key_env}: copy a valid one from"
                " Account & Settings there"
            )
        if status == 404:
            return (
                f"Label Studio at {self.url} does not know what it was asked for (404): review.url is not its address,"
                " or somebody deleted the project meanwhile"
            )
        fields = fields if isinstance(fields, dict) else {}
        detail = fields.get("validation_errors") or fields.get("detail") or "no reason given"
        return f"Label Studio at {self.url} refused a request ({status}): {' '.join(str(detail).split())}"[
            :500
        ]


def _stranger(url: str) -> str:
    return f"what answers at {url} is not Label Studio: set review.url"
