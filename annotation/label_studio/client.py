"""The connection to Label Studio: the requests of the pipeline, and errors in words for users."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple, Self

import httpx

from build_dataset.annotation.label_studio.server import EXTRA, START
from build_dataset.schemas.data import shipped_toml
from build_dataset.schemas.errors import UserError, bad_certificate, trusted_certificates
from build_dataset.schemas.grouping import group_values

_REFUSALS = shipped_toml("build_dataset.annotation.label_studio", "refusals.toml")
_ONCE = {"max_retries": 0}
"""Options of a request that must not be repeated: the SDK repeats a POST whose reply was lost, which gave 200
tasks for 100 while the caller saw success."""
_PAGE = 500  # tasks
_LISTED = "id,data,total_annotations,is_labeled"  # fields of a task that is only counted or compared
_SILENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.InvalidURL, httpx.UnsupportedProtocol)
"""Errors of an address at which nothing answers."""
_ANSWERED = "id,data,updated_at,annotations,result,completed_by,updated_by,was_cancelled,lead_time"
"""The fields of a task and its annotations that are asked for: all of them take the server five times as long."""

Filter = Mapping[str, Any]  # see `task_filter`


def task_filter(column: str, operator: str, value: Any, kind: str = "Number") -> Filter:
    """A filter of tasks, as the data manager has them."""
    return {"filter": f"filter:tasks:{column}", "operator": operator, "type": kind, "value": value}


class ReplyLostError(UserError):
    """A request was sent and no good reply came: it may have been carried out wholly, in part or not at all.

    On SQLite the server repeats a request that met a locked database, even if half of it was done, and gives up
    with status 500 after some minutes.
    """


class Project(NamedTuple):
    """A project as Label Studio keeps it."""

    id: int
    title: str
    created_at: str
    label_config: str
    model_version: str | None
    tasks: int
    annotations: int  # submitted ones, without those that were skipped
    predictions: int = 0
    description: str = ""
    experts: int | None = None  # people for each task; None where it is unknown
    instruction: str = ""  # HTML that people see before the first question


class Studio:
    """A connection to a server; methods raise ``UserError`` if it is down, refuses the token or is something else."""

    def __init__(self, url: str, token: str, *, key_env: str, timeout: float) -> None:
        self.url = url.rstrip("/")
        self._key_env = key_env
        try:
            from label_studio_sdk import LabelStudio
        except ImportError:
            raise UserError(f"reviewing in Label Studio needs label-studio-sdk: {EXTRA}") from None

        with trusted_certificates():
            self._http = httpx.Client(timeout=timeout, follow_redirects=True)
        with self._user_errors():
            reply = self._http.get(f"{self.url}/api/version")
            try:
                is_label_studio = "label-studio-os-package" in reply.json()
            except (ValueError, TypeError):
                is_label_studio = False
            if not is_label_studio:
                raise UserError(_stranger(self.url))
            if not str(reply.url).startswith(f"{self.url}/"):
                # As from http to https: a redirected POST arrives as a GET, without what was to be saved.
                there = str(reply.url).removesuffix("/").removesuffix("/api/version")
                raise UserError(f"{self.url} redirects to {there}: set review.url to that")
            self._sdk = LabelStudio(base_url=self.url, api_key=token, httpx_client=self._http)
            self._sdk.users.whoami()

    @classmethod
    def connect(cls, url: str, *, key_env: str, timeout: float) -> Self:
        """Connect with the token in the environment variable ``key_env``."""
        token = os.environ.get(key_env, "").strip()
        if not token.isascii():
            raise UserError(f"{key_env} is not an API token: it holds characters that no token has")
        if not token:
            where_from = f"copy an API token from Label Studio ({url}, Account & Settings)"
            raise UserError(f"{key_env} is not set: {where_from} and `export {key_env}=…`")
        return cls(url, token, key_env=key_env, timeout=timeout)

    @property
    def reviewers(self) -> dict[int, str]:
        """E-mail addresses of its users by id, as of the first time that they are asked for."""
        return {user.id: _address(user) for user in self._users}

    @property
    def accounts(self) -> dict[str, str]:
        """E-mail addresses by account: a server that was restored or made anew gives an id to another person."""
        return {f"{user.id} {user.date_joined}": _address(user) for user in self._users}

    @cached_property
    def _users(self) -> Sequence[Any]:
        with self._user_errors():
            return list(self._sdk.users.list())

    def projects(self, words: str) -> list[Project]:
        """Projects whose description contains ``words``, the oldest first."""
        with self._user_errors():
            projects = [each for each in self._sdk.projects.list() if words in (each.description or "")]
            return sorted(map(_project, projects), key=lambda project: project.id)

    def project(self, project_id: int) -> Project:
        """A project with its counts."""
        with self._user_errors():
            return _project(self._sdk.projects.get(project_id))

    def create_project(self, **settings: Any) -> int:
        """Create a project, once; its id. After a ``ReplyLostError`` it may be there or not, also more than once."""
        with self._user_errors(lost=True):
            return int(self._sdk.projects.create(**settings, request_options=_ONCE).id)

    def update_project(self, project_id: int, **settings: Any) -> None:
        """Change settings of a project."""
        with self._user_errors(lost=True):
            self._sdk.projects.update(project_id, **settings)

    def delete_project(self, project_id: int) -> None:
        """Delete a project with all that is in it."""
        with self._user_errors(lost=True):
            self._sdk.projects.delete(project_id)

    def tasks(self, project_id: int, *filters: Filter, answers: bool = False) -> Iterator[dict[str, Any]]:
        """Tasks that match all filters, in the order of their ids: ``id``, ``data`` and ``total_annotations``.

        Each page begins after the last id: numbered pages shift when a task is deleted, and a task is skipped. With
        ``answers``, tasks have ``updated_at`` and ``annotations`` instead of their number.
        """
        last = 0
        with self._user_errors():
            while True:
                later = task_filter("id", "greater", last)
                query = {"filters": {"conjunction": "and", "items": [*filters, later]}, "ordering": ["tasks:id"]}
                fields, include = ("all", _ANSWERED) if answers else ("task_only", _LISTED)
                params = {"project": project_id, "query": json.dumps(query), "fields": fields, "include": include}
                reply = self._ask("GET", "api/tasks/", params=params | {"page_size": _PAGE, "resolve_uri": False})
                page = reply["tasks"]
                for task in page:
                    if task["id"] <= last:
                        raise ValueError("not in the order of ids")
                    last = task["id"]
                    yield task
                if len(page) >= reply["total"] or not page:  # a server may give fewer at once than it is asked for
                    return

    def import_tasks(self, project_id: int, payloads: Sequence[Mapping[str, Any]]) -> None:
        """Add tasks, once. After a ``ReplyLostError`` they may be there or not: the server adds all of them or none."""
        with self._user_errors(lost=True):
            # As bytes: the SDK's encoder walks through every part of every task, half of our CPU time of a push.
            content = json.dumps(list(payloads), ensure_ascii=False).encode()
            path, kind = f"api/projects/{project_id}/import", {"content-type": "application/json"}
            self._ask("POST", path, content=content, headers=kind, request_options=_ONCE)

    def predictions(self, project_id: int) -> dict[int, list[dict[str, Any]]]:
        """All predictions of a project by task id, oldest first."""
        with self._user_errors():
            listed = self._ask("GET", "api/predictions/", params={"project": project_id})
            return group_values((each["task"], each) for each in sorted(listed, key=itemgetter("id")))

    def add_predictions(self, project_id: int, predictions: Mapping[int, Mapping[str, Any]]) -> None:
        """Add a prediction to each of those tasks, by task id."""
        request = [{"task": task_id, **prediction} for task_id, prediction in sorted(predictions.items())]
        if request:
            with self._user_errors(lost=True):
                self._sdk.projects.import_predictions(project_id, request=request, request_options=_ONCE)

    def delete_predictions(self, project_id: int, task_ids: Sequence[int]) -> None:
        """Delete all predictions of those tasks."""
        if task_ids:
            self._act("delete_tasks_predictions", project_id, task_ids)

    def update_task(self, task_id: int, data: Mapping[str, Any], *, served: bool | None = None) -> None:
        """Replace a task's data; with ``served``, say whether people get it from the queue."""
        state = {} if served is None else {"is_labeled": not served}
        with self._user_errors(lost=True):
            self._sdk.tasks.update(str(task_id), data=dict(data), **state)

    def delete_unanswered(self, project_id: int, task_ids: Sequence[int]) -> int:
        """Delete those of the tasks that nobody has answered; how many."""
        unanswered = task_filter("total_annotations", "equal", 0)
        gone = 0
        for begin in range(0, len(task_ids), _PAGE):
            some = task_filter("id", "in_list", list(task_ids[begin : begin + _PAGE]))
            if unanswered_ids := [task["id"] for task in self.tasks(project_id, some, unanswered)]:
                self._act("delete_tasks", project_id, unanswered_ids)
            gone += len(unanswered_ids)
        return gone

    def _ask(self, method: str, path: str, **more: Any) -> Any:
        """Return the server's reply as plain JSON: the SDK would make a model of every part, 1.5 ms a task."""
        from label_studio_sdk.core.api_error import ApiError

        reply = self._sdk._client_wrapper.httpx_client.request(path, method=method, **more)
        if not reply.is_success:
            is_json = "json" in reply.headers.get("content-type", "")
            raise ApiError(status_code=reply.status_code, body=reply.json() if is_json else reply.text)
        return reply.json()

    def _act(self, action: str, project_id: int, task_ids: Sequence[int]) -> None:
        """Apply an action to tasks, at least one: without any, the server takes all tasks of the project."""
        with self._user_errors(lost=True):
            chosen = {"all": False, "included": sorted(task_ids)}
            self._sdk.actions.create(id=action, project=project_id, selected_items=chosen, request_options=_ONCE)

    @contextmanager
    def _user_errors(self, *, lost: bool = False) -> Iterator[None]:
        """Turn what goes wrong into one line; with ``lost``, a missing reply into ``ReplyLostError``."""
        from label_studio_sdk.core.api_error import ApiError

        try:
            yield
        except _SILENT as error:
            silent = f"Label Studio does not answer at {self.url}: start it with `{START}`, or set review.url"
            raise UserError(bad_certificate(error, self.url) or silent) from None
        except httpx.TransportError as error:
            kind = ReplyLostError if lost else UserError
            broke = f"the connection to Label Studio at {self.url} broke ({type(error).__name__})"
            raise kind(f"{broke}: run it again, nothing is added twice") from None
        except (httpx.TooManyRedirects, TypeError, ValueError, AttributeError, KeyError):
            # The SDK reads replies unchecked: what is not Label Studio's makes it stumble in many ways.
            raise UserError(_stranger(self.url)) from None
        except ApiError as error:
            kind = ReplyLostError if lost and (error.status_code or 0) >= 500 else UserError
            raise kind(self._refusal(error.status_code, error.body)) from None

    def _refusal(self, status: int | None, body: Any) -> str:
        if status is not None and status < 400:
            return _stranger(self.url)
        before, explained = (_REFUSALS[who].get(str(status)) for who in ("before", "server"))
        if before and not isinstance(body, dict):
            answer = f"answers {status} (a firewall or a proxy, since the reply is not Label Studio's)"
            return f"something before Label Studio at {self.url} {answer}: {before}"
        if explained:
            return f"Label Studio at {self.url} {explained.format(token=self._key_env)}"
        fields = body if isinstance(body, dict) else {}
        detail = str(fields.get("validation_errors") or fields.get("detail") or "no reason given")
        return f"Label Studio at {self.url} refused a request ({status}): {' '.join(detail.split())}"[:500]


def _stranger(url: str) -> str:
    return f"what answers at {url} is not Label Studio: set review.url"


def _address(user: Any) -> str:
    return (user.email or f"user {user.id}").lower()


def _project(found: Any) -> Project:
    return Project(
        id=found.id,
        title=found.title,
        created_at=found.created_at.isoformat(),
        label_config=found.label_config,
        model_version=found.model_version,
        tasks=found.task_number or 0,
        annotations=found.total_annotations_number or 0,
        predictions=found.total_predictions_number or 0,
        description=found.description or "",
        experts=found.maximum_annotations,
        instruction=found.expert_instruction or "",
    )
