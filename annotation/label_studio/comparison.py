"""What is to be sent against what is there: which tasks are missing, changed, there twice, or of no use. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.label_studio.filling import Filling, cheapest
from annotation.label_studio.tasks import ARM, BATCH, BATCH_SIZE, DIGEST, QUESTION_ID, Task


@dataclass(frozen=True)
class Remote:
    """A task as it is there."""

    task_id: int
    question_id: str | None
    digest: str | None
    arm: str | None
    batch: int
    """With which it was sent; 0 where it does not say."""
    annotations: int
    """Submitted ones."""
    batch_size: int = 0
    """Questions that were to be sent with it; 0 where it does not say."""

    @classmethod
    def of(cls, task: Mapping[str, Any]) -> Remote:
        """From the server's own words."""
        data = task["data"]
        return cls(
            task_id=task["id"],
            question_id=data.get(QUESTION_ID),
            digest=data.get(DIGEST),
            arm=data.get(ARM),
            batch=_number(data.get(BATCH)),
            annotations=task.get("total_annotations") or 0,
            batch_size=_number(data.get(BATCH_SIZE)),
        )


@dataclass
class Comparison:
    """What is to be done."""

    filling: Filling
    missing: list[Task] = field(default_factory=list)
    texts: list[tuple[Remote, Task]] = field(default_factory=list)
    """Tasks that show something else than they should."""
    questions: dict[int, str] = field(default_factory=dict)
    """The question of each task that is there and wanted."""
    last_batch: int = 0
    sizes: dict[int, int] = field(default_factory=dict)
    """Of batches: questions that were to be sent."""
    arrived: Counter[int] = field(default_factory=Counter)
    """By batch: tasks that are there, of whatever question."""
    predicted: dict[int, int] = field(default_factory=dict)
    """Predictions of each task that is there."""

    @property
    def interrupted(self) -> int:
        """How many questions the last batch lacks: it was interrupted."""
        return max(0, self.sizes.get(self.last_batch, 0) - self.arrived[self.last_batch])

    def updated(self) -> set[str]:
        """Questions of whose tasks something is to be changed."""
        tasks = {remote.task_id for remote, _ in self.texts}
        return {self.questions[each] for each in tasks | {*self.filling.added, *self.filling.replaced}}

    def changed_after_review(self) -> list[str]:
        """Questions that an expert had already answered as they were."""
        return list(dict.fromkeys(task.question_id for remote, task in self.texts if remote.annotations))


def compare(
    tasks: Sequence[Task],
    there: Iterable[Remote],
    predictions: Mapping[int, Sequence[Mapping[str, Any]]],
    version: str,
) -> Comparison:
    """Compare what is wanted with what is there.

    Args:
        tasks: that are wanted.
        there: all tasks of the project.
        predictions: all of the project, by task id.
        version: the annotator whose labels are to be filled in.
    """
    present: dict[str | None, list[Remote]] = {}
    found = Comparison(Filling(version), predicted={each: len(own) for each, own in predictions.items()})
    for remote in there:
        if remote.question_id not in present:
            found.arrived[remote.batch] += 1
        present.setdefault(remote.question_id, []).append(remote)
        found.sizes[remote.batch] = max(found.sizes.get(remote.batch, 0), remote.batch_size)
    wanted: dict[int, Mapping[str, Any] | None] = {}
    for task in tasks:
        remotes = present.get(task.question_id, [])
        if not remotes:
            found.missing.append(task)
        for remote in remotes:
            batch = str(remote.batch) if remote.batch else None
            own = task.sent(arm=remote.arm, batch=batch, of=remote.batch_size)
            wanted[remote.task_id] = own.prediction
            found.questions[remote.task_id] = task.question_id
            found.last_batch = max(found.last_batch, remote.batch)
            if remote.digest != own.data[DIGEST]:
                found.texts.append((remote, own))
    found.filling = cheapest(version, wanted, predictions)
    return found


def spare(tasks: Iterable[Task], there: Iterable[Remote]) -> list[int]:
    """Ids of second tasks of a question that nobody answered; the first that was answered stays, or the oldest."""
    wanted = {task.question_id for task in tasks}
    seen: set[str | None] = set()
    found = []
    for remote in sorted(there, key=lambda each: (each.annotations == 0, each.task_id)):
        if remote.question_id in seen and remote.annotations == 0:
            found.append(remote.task_id)
        if remote.question_id in wanted:
            seen.add(remote.question_id)
    return found


def useless(tasks: Iterable[Task], there: Iterable[Remote]) -> list[int]:
    """Ids of tasks that nobody answered, and whose questions are not wanted any more."""
    wanted = {None, *(task.question_id for task in tasks)}
    return [each.task_id for each in there if each.question_id not in wanted and each.annotations == 0]


def _number(value: object) -> int:
    text = str(value or "")
    return int(text) if text.isdecimal() else 0
