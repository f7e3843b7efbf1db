"""Comparison of the wanted tasks and labels with those on the server. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from build_dataset.annotation.label_studio.tasks import ARM, BATCH, BATCH_SIZE, DIGEST, LEFT, QUESTION_ID, ReviewTask
from build_dataset.schemas.grouping import group_values

Prediction = Mapping[str, Any]  # of Label Studio: model_version, score, result


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

    @classmethod
    def of(cls, task: Mapping[str, Any]) -> Self:
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
        )

    def shows(self, task: ReviewTask) -> bool:
        """Return whether it shows what is wanted."""
        return not self.left and task.data[DIGEST] == self.digest


@dataclass
class ProjectChanges:
    """The changes that a project needs."""

    missing: list[ReviewTask] = field(default_factory=list)
    texts: list[tuple[SentTask, ReviewTask]] = field(default_factory=list)  # tasks that are out of date
    labels: dict[int, Prediction | None] = field(default_factory=dict)  # by task: they replace what is filled in
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
        return {self.questions[each] for each in tasks | {*self.labels}}

    def predictions_after(self, missing: Iterable[ReviewTask]) -> int:
        """Return how many predictions there are once these tasks are added and the labels are changed."""
        there = sum(len(rows) for task_id, rows in self.predictions.items() if task_id not in self.labels)
        filled = [task.prediction for task in missing] + list(self.labels.values())
        return there + sum(prediction is not None for prediction in filled)


def compare_tasks(
    tasks: Sequence[ReviewTask], there: Iterable[SentTask], predictions: Mapping[int, Sequence[Prediction]]
) -> ProjectChanges:
    """Compare the wanted tasks with those on the server."""
    changes, there = ProjectChanges(predictions=predictions), list(there)
    present = group_values((remote.question_id, remote) for remote in there)
    changes.arrived.update(same[0].batch for same in present.values())
    for remote in there:
        changes.sizes[remote.batch] = max(changes.sizes.get(remote.batch, 0), remote.batch_size)
    changes.missing = [task for task in tasks if task.question_id not in present]
    for task in tasks:
        for remote in present.get(task.question_id, ()):
            batch = str(remote.batch) if remote.batch else None
            task_to_send = task.sent(arm=remote.arm, batch=batch, of=remote.batch_size)
            wanted = [] if task_to_send.prediction is None else [_content(task_to_send.prediction)]
            if wanted != list(map(_content, predictions.get(remote.task_id, ()))):
                changes.labels[remote.task_id] = task_to_send.prediction
            changes.questions[remote.task_id] = task.question_id
            changes.last_batch = max(changes.last_batch, remote.batch)
            if not remote.shows(task_to_send):
                changes.texts.append((remote, task_to_send))
    return changes


def _content(prediction: Prediction) -> tuple[str, float | None, list[tuple[str, tuple[str, ...]]]]:
    score, version = prediction.get("score"), str(prediction.get("model_version"))
    chosen = sorted((item["from_name"], tuple(item["value"]["choices"])) for item in prediction["result"])
    return version, None if score is None else round(float(score), 6), chosen


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
