"""Sending questions to Label Studio, each exactly once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.label_studio.client import Project, ReplyLostError, Studio
from annotation.label_studio.kinds import Kind
from annotation.label_studio.tasks import ARM, BATCH, DIGEST, QUESTION_ID, Task
from schemas.errors import UserError

_TITLE_LENGTH = 50  # characters: what Label Studio allows
_LOOKUP = 500  # ids in one query: 1,000 ids took 1 s, and make an address of 25 kB
_ATTEMPTS = 3
_SETTLE_SECONDS = 10.0  # an import of 5,000 questions, whose reply is lost, is in the database by then
_SETTLE_PAUSE = 0.5


@dataclass(frozen=True)
class PushReport:
    """What a push did."""

    kind: str
    project: int
    url: str
    """Where experts begin: the blind label stream."""
    created: bool
    """Whether the project was made."""
    added: int
    batch: int
    """The batch of those that were added, from 1."""
    updated: int
    """Questions whose text or filled-in labels changed since they were sent."""
    unchanged: int
    later: int
    """Questions that were not sent, since only so many were wanted."""
    changed_after_review: tuple[str, ...]
    """Ids of updated questions that an expert had already reviewed as they were."""
    duplicates_removed: int
    """Tasks of the same question that nobody had reviewed; 0 unless something else wrote to the project."""
    withdrawn: int
    """Tasks that nobody had answered and that no longer need an answer."""
    others: int
    """Tasks in the project that are no question of this dataset any more; they are left alone."""
    replies_lost: int
    """Imports whose reply did not come, and which were reconciled."""


@dataclass(frozen=True)
class _Remote:
    task_id: int
    digest: str | None
    arm: str | None
    batch: int
    annotations: int


@dataclass(frozen=True)
class _Plan:
    """What is to be done."""

    missing: list[Task]
    texts: list[tuple[int, Task]]
    """Tasks, by id, whose data are not as they should be."""
    added: list[tuple[int, Task]]
    """Tasks, by id, without a prediction of the version that is to be filled in; older versions stay as they are."""
    labels: list[tuple[int, Task]]
    """Tasks, by id, whose predictions of that version are not as they should be."""
    there: Mapping[str, list[_Remote]]

    def updated(self) -> set[str]:
        return {task.question_id for _, task in (*self.texts, *self.added, *self.labels)}


def push(
    studio: Studio,
    kind: Kind,
    dataset: str,
    tasks: Sequence[Task],
    *,
    title: str | None,
    version: str,
    batch: int,
    count: int | None = None,
    advance: Callable[[int], object] = int,
    settle_seconds: float = _SETTLE_SECONDS,
) -> PushReport:
    """Add the tasks that are not there, and update those that changed. Running it again adds nothing.

    Args:
        studio: the connection.
        kind: of the project.
        dataset: name of the dataset; names the project.
        tasks: all of the dataset's, the most urgent first: people get them in this order.
        title: of the project when it is made; from ``dataset`` when None.
        version: the predictions' ``model_version``.
        batch: tasks in one import.
        count: add at most so many.
        advance: called with the number of tasks that are dealt with.
        settle_seconds: how long to look for the tasks of an import whose reply was lost.

    Raises:
        UserError: see ``Studio``; a prediction is not of the taxonomy.
    """
    _validate(kind, tasks)
    project, created = _open_project(studio, kind, dataset, title, version)
    plan = _plan(studio, project, tasks)
    number = 1 + max((remote.batch for remotes in plan.there.values() for remote in remotes), default=0)
    chosen = [task.sent(batch=str(number)) for task in plan.missing[:count]]
    updated = plan.updated()
    advance(len(tasks) - len(chosen) - len(updated))
    lost = 0
    for group in _batches(chosen, batch):
        lost += _import(studio, kind, project.id, group, settle_seconds)
        advance(len(group))
    _update(studio, project.id, plan, batch)
    if project.model_version != version and any(task.sent().prediction for task in tasks):
        # Refused while no prediction of that version is there; until then the old version is what is filled in.
        studio.update_project(project.id, model_version=version)
    advance(len(updated))
    removed = _remove_duplicates(studio, project.id, tasks)
    withdrawn = _withdraw(studio, project.id, tasks) if kind.prune else 0
    later = len(plan.missing) - len(chosen)
    return PushReport(
        kind=kind.name,
        project=project.id,
        url=f"{studio.url}/projects/{project.id}/data?labeling=1",
        created=created,
        added=len(chosen),
        batch=number,
        updated=len(updated),
        unchanged=len(plan.there) - len(updated),
        later=later,
        changed_after_review=tuple(
            task.question_id
            for _, task in plan.texts
            if any(remote.annotations for remote in plan.there[task.question_id])
        ),
        duplicates_removed=removed,
        withdrawn=withdrawn,
        others=studio.project(project.id).tasks - len(tasks) + later,
        replies_lost=lost,
    )


def _open_project(
    studio: Studio, kind: Kind, dataset: str, title: str | None, version: str
) -> tuple[Project, bool]:
    settings: dict[str, Any] = {
        "label_config": kind.config(),
        "maximum_annotations": kind.experts,
        "show_collab_predictions": True,
    }
    project = studio.find_project(kind.marker(dataset))
    if project is not None:
        if project.label_config != settings["label_config"]:
            studio.update_project(project.id, **settings)
        return project, False
    project_id = studio.create_project(
        title=(title or kind.title(dataset))[:_TITLE_LENGTH],
        description=kind.description(dataset),
        enable_empty_annotation=False,
        model_version=version,
        **settings,
    )
    return studio.project(project_id), True


def _validate(kind: Kind, tasks: Iterable[Task]) -> None:
    """Label Studio takes wrong labels in predictions without a word, so that they are checked here."""
    from label_studio_sdk.label_interface import LabelInterface

    interface = LabelInterface(kind.config())
    for task in tasks:
        if task.prediction is not None:
            errors = interface.validate_prediction(dict(task.prediction), return_errors=True)
            if errors:
                raise UserError(
                    f"the labels of question {task.question_id} do not fit the taxonomy: {errors[0][:200]};"
                    " run `build-dataset annotate` again"
                )


def _plan(studio: Studio, project: Project, tasks: Sequence[Task]) -> _Plan:
    there = _lookup(studio, project.id, [task.question_id for task in tasks])
    predicted = studio.predictions(project.id) if there else {}
    plan = _Plan([], [], [], [], there)
    for task in tasks:
        if task.question_id not in there:
            plan.missing.append(task)
        for remote in there.get(task.question_id, []):
            own = task.sent(arm=remote.arm, batch=str(remote.batch) if remote.batch else None)
            if remote.digest != own.data[DIGEST]:
                plan.texts.append((remote.task_id, own))
            _plan_labels(plan, remote.task_id, own, predicted.get(remote.task_id, []))
    return plan


def _plan_labels(plan: _Plan, task_id: int, own: Task, present: Sequence[Mapping[str, Any]]) -> None:
    """Only predictions of the version that the project names are filled in: those of another annotator do no harm.

    To leave them takes a third of the time: the server deletes predictions one by one, 7 ms each.
    """
    if own.prediction is None:
        if present:
            plan.labels.append((task_id, own))
        return
    version = str(own.prediction.get("model_version"))
    current = [_said(each) for each in present if str(each.get("model_version")) == version]
    if not current:
        plan.added.append((task_id, own))
    elif current != [_said(own.prediction)]:
        plan.labels.append((task_id, own))


def _said(prediction: Mapping[str, Any]) -> tuple[str, float | None, list[tuple[str, tuple[str, ...]]]]:
    """What a prediction says, whoever wrote it down."""
    score = prediction.get("score")
    return (
        str(prediction.get("model_version")),
        None if score is None else round(float(score), 6),
        sorted((item["from_name"], tuple(item["value"]["choices"])) for item in prediction["result"]),
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
            found.setdefault(task["data"][QUESTION_ID], []).append(_remote(task))
    return {question_id: sorted(remotes, key=lambda r: r.task_id) for question_id, remotes in found.items()}


def _remote(task: Mapping[str, Any]) -> _Remote:
    data = task["data"]
    batch = str(data.get(BATCH) or "")
    return _Remote(
        task_id=task["id"],
        digest=data.get(DIGEST),
        arm=data.get(ARM),
        batch=int(batch) if batch.isdecimal() else 0,
        annotations=task.get("total_annotations") or 0,
    )


def _import(studio: Studio, kind: Kind, project_id: int, tasks: Sequence[Task], settle_seconds: float) -> int:
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
        f" attempts: look at its log, then run `{kind.command}` again"
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


def _update(studio: Studio, project_id: int, plan: _Plan, batch: int) -> None:
    """Labels many at once, texts one by one (0.2 s each; the server offers nothing else).

    What is interrupted is done again by the next push, which compares with what is there.
    """
    for group in _batches(plan.labels, batch):
        studio.delete_predictions(project_id, [task_id for task_id, _ in group])
        studio.add_predictions(project_id, _predictions(group))
    for group in _batches(plan.added, batch):
        studio.add_predictions(project_id, _predictions(group))
    for task_id, task in plan.texts:
        studio.update_task(task_id, task.data)


def _predictions(group: Sequence[tuple[int, Task]]) -> dict[int, Mapping[str, Any]]:
    return {task_id: task.prediction for task_id, task in group if task.prediction is not None}


def _withdraw(studio: Studio, project_id: int, tasks: Sequence[Task]) -> int:
    """Remove tasks that nobody answered and that are not wanted any more; how many."""
    wanted = {task.question_id for task in tasks}
    unanswered = [
        {"filter": "filter:tasks:total_annotations", "operator": "equal", "type": "Number", "value": 0}
    ]
    gone = [
        task["id"]
        for task in studio.tasks(project_id, unanswered, results=False)
        if task["data"].get(QUESTION_ID) is not None and task["data"][QUESTION_ID] not in wanted
    ]
    for task_id in gone:
        studio.delete_task(task_id)
    return len(gone)


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
