"""Sending questions to Label Studio, each exactly once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from annotation.label_studio.client import Project, ReplyLostError, Studio
from annotation.label_studio.comparison import Comparison, Remote, compare, spare, useless
from annotation.label_studio.importing import add
from annotation.label_studio.kinds import Kind, Owner
from annotation.label_studio.projects import SETTLE_PAUSE, SETTLE_SECONDS, find, make
from annotation.label_studio.tasks import Task
from schemas.errors import UserError

_ROUNDS = 4
"""How often a push looks at what is there and mends it: what the server loses while experts save is there after the
second round (tests/services/test_label_studio_busy.py)."""


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
    """Requests whose reply did not come, and which were reconciled."""
    mended: int = 0
    """Times that less was there than had been sent, and was put right."""
    restored: int = 0
    """Answers that had been pulled earlier and went back to the server with their questions."""


def push(
    studio: Studio,
    kind: Kind,
    owner: Owner,
    tasks: Sequence[Task],
    *,
    title: str | None,
    version: str,
    batch: int,
    count: int | None = None,
    answers: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    adopt: bool = False,
    advance: Callable[[int], object] = int,
    settle_seconds: float = SETTLE_SECONDS,
) -> PushReport:
    """Add the tasks that are not there, and update those that changed. Running it again adds nothing.

    What was sent is counted afterwards; where it is not there, it is looked for and sent once more.

    Args:
        studio: the connection.
        kind: of the project.
        owner: whose project it is; its dataset names the project.
        tasks: all of the dataset's, the most urgent first: people get them in this order.
        title: of the project when it is made; from the dataset's name when None.
        version: who predicted the labels that are to be filled in.
        batch: tasks in one import.
        count: add at most so many.
        answers: annotations of questions, which go back with those that are not there any more.
        adopt: take over another folder's project.
        advance: called with the number of tasks that are dealt with.
        settle_seconds: how long to look for what a request did whose reply was lost.

    Raises:
        UserError: see ``Studio``; a prediction is not of the taxonomy; there is nothing to send and never was;
            the server does not keep what it is sent.
    """
    _validate(kind, tasks)
    project, created = _open_project(
        studio, kind, owner, title, version, wanted=bool(tasks), adopt=adopt, settle_seconds=settle_seconds
    )
    work = _Work(studio, kind, project, tasks, version, batch, settle_seconds, answers or {})
    there = [] if created else work.look()
    first = work.compared(there)
    chosen = work.choose(first, count)
    advance(len(tasks) - len(chosen) - len(first.updated()))
    there = work.until_whole(there, first, chosen)
    advance(len(chosen) + len(first.updated()))
    total = studio.project(project.id).tasks
    if total != len(there):
        there = work.look()  # somebody else writes to the project
    removed = studio.delete_unanswered(project.id, spare(tasks, there))
    withdrawn = studio.delete_unanswered(project.id, useless(tasks, there)) if kind.prune else 0
    later = len(first.missing) - len(chosen)
    return PushReport(
        kind=kind.name,
        project=project.id,
        url=f"{studio.url}/projects/{project.id}/data?labeling=1",
        created=created,
        added=len(chosen),
        batch=int(chosen[-1].batch) if chosen else first.last_batch,
        updated=len(first.updated()),
        unchanged=len(tasks) - len(first.missing) - len(first.updated()),
        later=later,
        changed_after_review=tuple(first.changed_after_review()),
        duplicates_removed=removed + work.removed,
        withdrawn=withdrawn,
        others=total - removed - withdrawn - len(tasks) + later,
        replies_lost=work.lost,
        mended=work.mended,
        restored=sum(len(task.answers) for task in chosen),
    )


@dataclass
class _Work:
    """One push at work."""

    studio: Studio
    kind: Kind
    project: Project
    tasks: Sequence[Task]
    version: str
    batch: int
    settle_seconds: float
    answers: Mapping[str, Sequence[Mapping[str, Any]]]
    lost: int = 0
    mended: int = 0
    removed: int = 0
    _predicted: int = field(default=0, init=False)

    def look(self) -> list[Remote]:
        """The tasks that are there."""
        return list(map(Remote.of, self.studio.tasks(self.project.id)))

    def compared(self, there: Sequence[Remote]) -> Comparison:
        """What is to be done."""
        present = self.studio.predictions(self.project.id) if there else {}
        self._predicted = sum(map(len, present.values()))
        return compare(self.tasks, there, present, self.version)

    def choose(self, found: Comparison, count: int | None) -> list[Task]:
        """What to add: the rest of a batch that was interrupted first, and as a part of it."""
        rest = found.missing[: found.interrupted]
        more = found.missing[len(rest) :][: None if count is None else 0 if rest else count]
        size = found.sizes.get(found.last_batch, 0)
        return [
            self._sent(task, found, number, of)
            for number, of, own in ((found.last_batch, size, rest), (found.last_batch + 1, len(more), more))
            for task in own
        ]

    def until_whole(self, there: list[Remote], found: Comparison, chosen: Sequence[Task]) -> list[Remote]:
        """Send and update until all that is wanted is there; the tasks that are there then."""
        expected = {each.question_id for each in chosen}
        by_id = {each.question_id: each for each in chosen}
        missing = list(chosen)
        for attempt in range(_ROUNDS):
            time.sleep(min(SETTLE_PAUSE * attempt, self.settle_seconds))
            try:
                self._write(found, missing)
                after = self.studio.project(self.project.id)
            except ReplyLostError:
                self.lost += 1
            else:
                grown = len(there) + len(missing)
                if not any(each.answers for each in missing) and (after.tasks, after.predictions) == (
                    grown, self._predicted + _filled(missing) + self._changed(found)
                ):  # fmt: skip
                    self._name_version(found)
                    return [*there, *(Remote.of({"id": 0, "data": each.data}) for each in missing)]
            there = self._without_lost_answers(by_id)
            found = self.compared(there)
            missing = [by_id[each.question_id] for each in found.missing if each.question_id in expected]
            if not missing and not found.updated():
                self._name_version(found)
                return there
            self.mended += 1
        raise UserError(
            f"Label Studio at {self.studio.url} does not keep what it is sent: of project {self.project.id},"
            f" {len(missing)} questions and {len(found.updated())} labels or texts are missing after {_ROUNDS} rounds:"
            f" look at its log, then run `{self.kind.command}` again"
        )

    def _write(self, found: Comparison, missing: Sequence[Task]) -> None:
        for group in _batches(missing, self.batch):
            self.lost += add(self.studio, self.kind, self.project.id, group, self.settle_seconds)
        _update(self.studio, self.project, found, self.batch)

    def _name_version(self, found: Comparison) -> None:
        """Say whose labels are filled in, now that they are there: before, the server refuses the name."""
        version = found.filling.version
        if self.project.model_version != version and any(task.prediction for task in self.tasks):
            self.studio.update_project(self.project.id, model_version=version)

    def _changed(self, found: Comparison) -> int:
        """By how much the updates change the number of predictions."""
        replaced = found.filling.replaced
        gone = sum(found.predicted.get(task_id, 0) for task_id in replaced)
        return len(found.filling.added) + sum(own is not None for own in replaced.values()) - gone

    def _without_lost_answers(self, by_id: Mapping[str, Task]) -> list[Remote]:
        """The tasks that are there; those that came without the answers that were sent with them go first."""
        there = self.look()
        answered = {question_id for question_id, task in by_id.items() if task.submitted()}
        bare = [each.task_id for each in there if each.annotations == 0 and each.question_id in answered]
        if not bare:
            return there
        self.removed += self.studio.delete_unanswered(self.project.id, bare)
        return self.look()

    def _sent(self, task: Task, found: Comparison, number: int, of: int) -> Task:
        sent = task.sent(batch=str(number), version=found.filling.version, of=of)
        return replace(sent, answers=tuple(self.answers.get(task.question_id, ())))


def _filled(tasks: Iterable[Task]) -> int:
    return sum(task.prediction is not None for task in tasks)


def _open_project(
    studio: Studio,
    kind: Kind,
    owner: Owner,
    title: str | None,
    version: str,
    *,
    wanted: bool,
    adopt: bool,
    settle_seconds: float,
) -> tuple[Project, bool]:
    settings: dict[str, Any] = {
        "label_config": kind.config(),
        "maximum_annotations": kind.experts,
        "show_collab_predictions": True,
    }
    project = find(studio, kind, owner, adopt=adopt)
    if project is not None:
        if project.label_config != settings["label_config"]:
            studio.update_project(project.id, **settings)
        return project, False
    made = make(
        studio,
        kind,
        owner,
        title,
        settle_seconds=settle_seconds,
        wanted=wanted,
        model_version=version,
        **settings,
    )
    return made, True


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


def _update(studio: Studio, project: Project, found: Comparison, batch: int) -> None:
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


def _batches(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    for begin in range(0, len(items), size):
        yield items[begin : begin + size]
