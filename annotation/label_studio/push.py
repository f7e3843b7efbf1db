"""Sending questions to Label Studio, each exactly once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.label_studio.client import Project, Studio
from annotation.label_studio.comparison import Comparison, Remote, compare, spare, useless
from annotation.label_studio.importing import SETTLE_SECONDS, add
from annotation.label_studio.kinds import Kind
from annotation.label_studio.tasks import Task
from schemas.errors import UserError

_TITLE_LENGTH = 50  # characters: what Label Studio allows


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
    settle_seconds: float = SETTLE_SECONDS,
) -> PushReport:
    """Add the tasks that are not there, and update those that changed. Running it again adds nothing.

    Args:
        studio: the connection.
        kind: of the project.
        dataset: name of the dataset; names the project.
        tasks: all of the dataset's, the most urgent first: people get them in this order.
        title: of the project when it is made; from ``dataset`` when None.
        version: who predicted the labels that are to be filled in.
        batch: tasks in one import.
        count: add at most so many.
        advance: called with the number of tasks that are dealt with.
        settle_seconds: how long to look for the tasks of an import whose reply was lost.

    Raises:
        UserError: see ``Studio``; a prediction is not of the taxonomy; there is nothing to send and never was.
    """
    _validate(kind, tasks)
    project, created = _open_project(studio, kind, dataset, title, version, wanted=bool(tasks))
    there = [] if created else list(map(Remote.of, studio.tasks(project.id)))
    found = compare(tasks, there, studio.predictions(project.id) if there else {}, version)
    updated = found.updated()
    chosen = [
        task.sent(batch=str(found.last_batch + 1), version=found.filling.version)
        for task in found.missing[:count]
    ]
    advance(len(tasks) - len(chosen) - len(updated))
    lost = 0
    for group in _batches(chosen, batch):
        lost += add(studio, kind, project.id, group, settle_seconds)
        advance(len(group))
    _update(studio, project, found, batch, fills_in=any(task.prediction for task in tasks))
    advance(len(updated))
    total = studio.project(project.id).tasks
    if total != len(there) + len(chosen):
        there = list(map(Remote.of, studio.tasks(project.id)))  # somebody else writes to the project
    removed = studio.delete_unanswered(project.id, spare(tasks, there))
    withdrawn = studio.delete_unanswered(project.id, useless(tasks, there)) if kind.prune else 0
    later = len(found.missing) - len(chosen)
    return PushReport(
        kind=kind.name,
        project=project.id,
        url=f"{studio.url}/projects/{project.id}/data?labeling=1",
        created=created,
        added=len(chosen),
        batch=found.last_batch + 1,
        updated=len(updated),
        unchanged=len(tasks) - len(found.missing) - len(updated),
        later=later,
        changed_after_review=tuple(found.changed_after_review()),
        duplicates_removed=removed,
        withdrawn=withdrawn,
        others=total - removed - withdrawn - len(tasks) + later,
        replies_lost=lost,
    )


def _open_project(
    studio: Studio, kind: Kind, dataset: str, title: str | None, version: str, *, wanted: bool
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
    if not wanted:
        raise UserError(f"nothing to send for {kind.name}: {kind.nothing}")
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


def _update(studio: Studio, project: Project, found: Comparison, batch: int, *, fills_in: bool) -> None:
    """Labels many at once, texts one by one (0.2 s each; the server offers nothing else).

    What is interrupted is done again by the next push, which compares with what is there.
    """
    filling = found.filling
    for group in _batches(sorted(filling.replaced.items()), batch):
        studio.delete_predictions(project.id, [task_id for task_id, _ in group])
        studio.add_predictions(project.id, {task_id: own for task_id, own in group if own is not None})
    for group in _batches(sorted(filling.added.items()), batch):
        studio.add_predictions(project.id, dict(group))
    for remote, task in found.texts:
        studio.update_task(remote.task_id, task.data)
    if fills_in and project.model_version != filling.version:
        # Refused while no prediction of that version is there; until then the old version is what is filled in.
        studio.update_project(project.id, model_version=filling.version)


def _batches(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    for begin in range(0, len(items), size):
        yield items[begin : begin + size]
