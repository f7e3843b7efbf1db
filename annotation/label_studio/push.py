"""Sending questions to Label Studio, each exactly once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.label_studio.client import Project, ReplyLostError, Studio
from annotation.label_studio.screen import labeling_config
from annotation.label_studio.tasks import DIGEST, QUESTION_ID, Task
from schemas.errors import UserError

EXPERTS = 2
"""Experts for each question."""

_TITLE_LENGTH = 50  # characters: what Label Studio allows
_LOOKUP = 500  # ids in one query: 1,000 ids took 1 s, and make an address of 25 kB
_ATTEMPTS = 3
_SETTLE_SECONDS = 10.0  # an import of 5,000 questions, whose reply is lost, is in the database by then
_SETTLE_PAUSE = 0.5


@dataclass(frozen=True)
class PushReport:
    """What a push did."""

    project: int
    url: str
    """Where experts begin: the blind label stream."""
    created: bool
    """Whether the project was made."""
    added: int
    updated: int
    """Questions whose text or prefilled labels changed since they were sent."""
    unchanged: int
    changed_after_review: tuple[str, ...]
    """Ids of updated questions that an expert had already reviewed as they were."""
    duplicates_removed: int
    """Tasks of the same question that nobody had reviewed; 0 unless something else wrote to the project."""
    others: int
    """Tasks in the project that are no question of this dataset any more; they are left alone."""
    replies_lost: int
    """Imports whose reply did not come, and which were reconciled."""


@dataclass(frozen=True)
class _Remote:
    task_id: int
    digest: str | None
    annotations: int


def project_marker(dataset: str) -> str:
    """What identifies the dataset's project: it stands in its description, whatever people call it."""
    return f"[build-dataset review: {dataset}]"


def push(
    studio: Studio,
    dataset: str,
    tasks: Sequence[Task],
    *,
    title: str | None,
    version: str,
    batch: int,
    advance: Callable[[int], object] = int,
    settle_seconds: float = _SETTLE_SECONDS,
) -> PushReport:
    """Add the tasks that are not there, and update those that changed. Running it again adds nothing.

    Args:
        studio: the connection.
        dataset: name of the dataset; names the project.
        tasks: all of the dataset's.
        title: of the project when it is made; from ``dataset`` when None.
        version: the predictions' ``model_version``.
        batch: tasks in one import.
        advance: called with the number of tasks that are dealt with.
        settle_seconds: how long to look for the tasks of an import whose reply was lost.

    Raises:
        UserError: see ``Studio``; a prediction is not of the taxonomy.
    """
    _validate(tasks)
    project, created = _open_project(studio, dataset, title, version)
    there = _lookup(studio, project.id, [task.question_id for task in tasks])
    missing = [task for task in tasks if task.question_id not in there]
    changed = [
        task
        for task in tasks
        if any(remote.digest != task.data[DIGEST] for remote in there.get(task.question_id, []))
    ]
    advance(len(tasks) - len(missing) - len(changed))
    lost = 0
    for group in _batches(missing, batch):
        lost += _import(studio, project.id, group, settle_seconds)
        advance(len(group))
    for group in _batches(changed, batch):
        _update(studio, project.id, group, there)
        advance(len(group))
    removed = _remove_duplicates(studio, project.id, tasks)
    return PushReport(
        project=project.id,
        url=f"{studio.url}/projects/{project.id}/data?labeling=1",
        created=created,
        added=len(missing),
        updated=len(changed),
        unchanged=len(tasks) - len(missing) - len(changed),
        changed_after_review=tuple(
            task.question_id
            for task in changed
            if any(remote.annotations for remote in there[task.question_id])
        ),
        duplicates_removed=removed,
        others=studio.project(project.id).tasks - len(tasks),
        replies_lost=lost,
    )


def _open_project(studio: Studio, dataset: str, title: str | None, version: str) -> tuple[Project, bool]:
    settings: dict[str, Any] = {
        "label_config": labeling_config(),
        "model_version": version,
        "maximum_annotations": EXPERTS,
        "show_collab_predictions": True,
    }
    project = studio.find_project(project_marker(dataset))
    if project is not None:
        if project.label_config != settings["label_config"] or project.model_version != version:
            studio.update_project(project.id, **settings)
        return project, False
    project_id = studio.create_project(
        title=(title or f"{dataset} 双专家复核 review")[:_TITLE_LENGTH],
        description=f"Two-expert review of exam questions · 试题双专家复核 {project_marker(dataset)}",
        enable_empty_annotation=False,
        **settings,
    )
    return studio.project(project_id), True


def _validate(tasks: Iterable[Task]) -> None:
    """Label Studio takes wrong labels in predictions without a word, so that they are checked here."""
    from label_studio_sdk.label_interface import LabelInterface

    interface = LabelInterface(labeling_config())
    for task in tasks:
        if task.prediction is not None:
            errors = interface.validate_prediction(dict(task.prediction), return_errors=True)
            if errors:
                raise UserError(
                    f"the labels of question {task.question_id} do not fit the taxonomy: {errors[0][:200]};"
                    " run `build-dataset annotate` again"
                )


def _lookup(studio: Studio, project_id: int, question_ids: Sequence[str]) -> dict[str, list[_Remote]]:
    """What is there of those questions, oldest first."""
    found: dict[str, list[_Remote]] = {}
    for group in _batches(question_ids, _LOOKUP):
        filters = [
            {
                "filter": f"filter:tasks:data.{QUESTION_ID}",
                "operator": "in_list",
                "type": "String",
                "value": list(group),
            }
        ]
        for task in studio.tasks(project_id, filters, results=False):
            remote = _Remote(task["id"], task["data"].get(DIGEST), task.get("total_annotations") or 0)
            found.setdefault(task["data"][QUESTION_ID], []).append(remote)
    return {question_id: sorted(remotes, key=lambda r: r.task_id) for question_id, remotes in found.items()}


def _import(studio: Studio, project_id: int, tasks: Sequence[Task], settle_seconds: float) -> int:
    """Import tasks; after a lost reply, only what did not arrive is sent again. The number of lost replies."""
    waiting = list(tasks)
    for lost in range(_ATTEMPTS):
        try:
            studio.import_tasks(project_id, [task.payload() for task in waiting])
        except ReplyLostError:
            there = _settled(studio, project_id, waiting, settle_seconds)
            waiting = [task for task in waiting if task.question_id not in there]
            if not waiting:
                return lost + 1
        else:
            return lost
    raise UserError(
        f"Label Studio at {studio.url} did not confirm an import of {len(waiting)} questions in {_ATTEMPTS}"
        " attempts: look at its log, then run `build-dataset review push` again"
    )


def _settled(
    studio: Studio, project_id: int, tasks: Sequence[Task], settle_seconds: float
) -> Mapping[str, list[_Remote]]:
    """What arrived; waits a while, since the server may still be writing."""
    deadline = time.monotonic() + settle_seconds
    question_ids = [task.question_id for task in tasks]
    while True:
        there = _lookup(studio, project_id, question_ids)
        if len(there) == len(question_ids) or time.monotonic() >= deadline:
            return there
        time.sleep(_SETTLE_PAUSE)


def _update(
    studio: Studio, project_id: int, tasks: Sequence[Task], there: Mapping[str, list[_Remote]]
) -> None:
    """Predictions first, the data with its digest last: what is interrupted is done again by the next push."""
    remotes = {remote.task_id: task for task in tasks for remote in there[task.question_id]}
    studio.replace_predictions(
        project_id, {task_id: task.prediction or {} for task_id, task in remotes.items()}
    )
    for task_id, task in remotes.items():
        studio.update_task(task_id, task.data)


def _remove_duplicates(studio: Studio, project_id: int, tasks: Sequence[Task]) -> int:
    """Remove second tasks of a question that nobody reviewed; how many."""
    if studio.project(project_id).tasks <= len(tasks):
        return 0
    removed = 0
    for remotes in _lookup(studio, project_id, [task.question_id for task in tasks]).values():
        spare = sorted(remotes, key=lambda remote: (remote.annotations == 0, remote.task_id))[1:]
        for remote in spare:
            if remote.annotations == 0:
                studio.delete_task(remote.task_id)
                removed += 1
    return removed


def _batches(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    for begin in range(0, len(items), size):
        yield items[begin : begin + size]
