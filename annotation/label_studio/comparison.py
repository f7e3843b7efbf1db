"""Comparison of the wanted tasks and labels with those on the server. Pure.

Predictions carry a version, and the project names one. The server deletes predictions one by one, 5 ms each, and
adds them in one step, 1.5 ms each (CPU; benchmarks/review). So where more than a quarter of an annotator's labels
changed, all are added as a further version, ``lexicon (2)``, which the project then names; where fewer did, those are
replaced. Until the project names another version, what it names stays whole, so that nobody sees an interrupted change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from build_dataset.annotation.label_studio.tasks import (
    ARM,
    BATCH,
    BATCH_SIZE,
    DIGEST,
    LEFT,
    QUESTION_ID,
    ReviewTask,
    digest_of,
)
from build_dataset.schemas.grouping import group_values

Prediction = Mapping[str, Any]  # of Label Studio: model_version, score, result
_REPLACING = 4  # cost of deleting a prediction and adding another, in additions


class SentTask(NamedTuple):
    """A task as it is on the server."""

    task_id: int
    question_id: str | None
    digest: str | None
    arm: str | None
    batch: int  # the batch with which it was sent; 0 if unknown
    batch_size: int  # planned number of questions in that batch; 0 if unknown
    annotations: int  # submitted ones
    served: bool = True  # False where people do not get it from the queue any more
    left: bool = False  # True where its question had left the dataset
    shown: str = ""  # hash of what it shows; earlier versions stored another digest

    @classmethod
    def of(cls, task: Mapping[str, Any]) -> SentTask:
        """Return it from the server's reply."""
        data = task["data"]
        return cls(
            task_id=task["id"],
            question_id=data.get(QUESTION_ID),
            digest=data.get(DIGEST),
            arm=data.get(ARM),
            batch=_number(data.get(BATCH)),
            batch_size=_number(data.get(BATCH_SIZE)),
            annotations=task.get("total_annotations") or 0,
            served=not task.get("is_labeled"),
            left=LEFT in data,
            shown=digest_of(data),
        )

    def shows(self, task: ReviewTask) -> bool:
        """Return whether it shows what is wanted."""
        return not self.left and task.data[DIGEST] in (self.digest, self.shown)


@dataclass(frozen=True)
class LabelChanges:
    """Changes that make the labels of a version those that are wanted; predictions by task id."""

    version: str
    added: Mapping[int, Prediction] = field(default_factory=dict)
    replaced: Mapping[int, Prediction | None] = field(default_factory=dict)
    """New prediction, or None, by task whose old predictions are deleted first."""

    @property
    def cost(self) -> int:
        """Estimated time, in units of one addition."""
        return len(self.added) + _REPLACING * len(self.replaced)


@dataclass
class ProjectChanges:
    """The changes that a project needs."""

    filling: LabelChanges
    missing: list[ReviewTask] = field(default_factory=list)
    texts: list[tuple[SentTask, ReviewTask]] = field(default_factory=list)  # tasks that are out of date
    questions: dict[int, str] = field(default_factory=dict)  # question of each task that is there and wanted
    last_batch: int = 0
    sizes: dict[int, int] = field(default_factory=dict)  # planned number of questions by batch
    arrived: Counter[int] = field(default_factory=Counter)  # number of tasks on the server by batch
    predictions: Mapping[int, Sequence[Prediction]] = field(default_factory=dict)  # of the server, by task

    @property
    def interrupted(self) -> int:
        """The number of questions that the last batch lacks: it was interrupted."""
        return max(0, self.sizes.get(self.last_batch, 0) - self.arrived[self.last_batch])

    def updated(self) -> set[str]:
        """Return the questions whose tasks need a change."""
        tasks = {remote.task_id for remote, _ in self.texts}
        return {self.questions[each] for each in tasks | {*self.filling.added, *self.filling.replaced}}

    def predictions_after(self, missing: Iterable[ReviewTask]) -> int:
        """Return how many predictions there are once these tasks are added and the labels are changed."""
        filling = self.filling
        there = sum(len(rows) for task_id, rows in self.predictions.items() if task_id not in filling.replaced)
        filled = [task.prediction for task in missing] + list(filling.replaced.values())
        return there + len(filling.added) + sum(prediction is not None for prediction in filled)


def compare_tasks(
    tasks: Sequence[ReviewTask],
    there: Iterable[SentTask],
    predictions: Mapping[int, Sequence[Prediction]],
    version: str,
) -> ProjectChanges:
    """Compare the wanted tasks with those on the server."""
    present: dict[str | None, list[SentTask]] = {}
    changes = ProjectChanges(LabelChanges(version), predictions=predictions)
    for remote in there:
        if remote.question_id not in present:
            changes.arrived[remote.batch] += 1
        present.setdefault(remote.question_id, []).append(remote)
        changes.sizes[remote.batch] = max(changes.sizes.get(remote.batch, 0), remote.batch_size)
    wanted: dict[int, Prediction | None] = {}
    changes.missing = [task for task in tasks if task.question_id not in present]
    for task in tasks:
        for remote in present.get(task.question_id, ()):
            batch = str(remote.batch) if remote.batch else None
            task_to_send = task.sent(arm=remote.arm, batch=batch, of=remote.batch_size)
            wanted[remote.task_id] = task_to_send.prediction
            changes.questions[remote.task_id] = task.question_id
            changes.last_batch = max(changes.last_batch, remote.batch)
            if not remote.shows(task_to_send):
                changes.texts.append((remote, task_to_send))
    changes.filling = cheapest_changes(version, wanted, predictions)
    return changes


def cheapest_changes(
    annotator: str, wanted: Mapping[int, Prediction | None], present: Mapping[int, Sequence[Prediction]]
) -> LabelChanges:
    """Return the cheapest changes that fill in the wanted labels."""
    if not any(wanted.values()):  # a project can name no version without predictions
        return LabelChanges(annotator, replaced={task_id: None for task_id in wanted if present.get(task_id)})
    versions = {str(each.get("model_version")) for predictions in present.values() for each in predictions}
    names = [annotator, *(f"{annotator} ({number})" for number in range(2, len(versions) + 2))]
    return min((_filling(name, wanted, present) for name in names), key=lambda each: each.cost)


def _filling(
    version: str, wanted: Mapping[int, Prediction | None], present: Mapping[int, Sequence[Prediction]]
) -> LabelChanges:
    added: dict[int, Prediction] = {}
    replaced: dict[int, Prediction | None] = {}
    for task_id, labels in wanted.items():
        there = [_content(each) for each in present.get(task_id, ()) if str(each.get("model_version")) == version]
        prediction = None if labels is None else {**labels, "model_version": version}
        if prediction is not None and not there:
            added[task_id] = prediction
        elif there != ([] if prediction is None else [_content(prediction)]):
            replaced[task_id] = prediction
    return LabelChanges(version, added, replaced)


def _content(prediction: Prediction) -> tuple[float | None, list[tuple[str, tuple[str, ...]]]]:
    score = prediction.get("score")
    return (
        None if score is None else round(float(score), 6),
        sorted((item["from_name"], tuple(item["value"]["choices"])) for item in prediction["result"]),
    )


def duplicate_task_ids(tasks: Iterable[ReviewTask], there: Iterable[SentTask]) -> list[int]:
    """Return second tasks of a question that nobody answered; the first that was answered stays, or the oldest."""
    wanted = {task.question_id for task in tasks}
    ordered = sorted(there, key=lambda each: (each.annotations == 0, each.task_id))
    by_question = group_values((each.question_id, each) for each in ordered if each.question_id in wanted)
    return [each.task_id for same in by_question.values() for each in same[1:] if each.annotations == 0]


def obsolete_task_ids(tasks: Iterable[ReviewTask], there: Iterable[SentTask]) -> list[int]:
    """Return tasks that nobody answered, and whose questions are not wanted any more."""
    wanted = {None, *(task.question_id for task in tasks)}
    return [each.task_id for each in there if each.question_id not in wanted and each.annotations == 0]


def _number(value: object) -> int:
    text = str(value or "")
    return int(text) if text.isdecimal() else 0
