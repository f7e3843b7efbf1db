"""Sending questions to Label Studio, each exactly once, even if the server loses requests."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from html import unescape
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

from build_dataset.annotation.label_studio import comparison
from build_dataset.annotation.label_studio.client import Project, ReplyLostError, Studio, task_filter
from build_dataset.annotation.label_studio.projects import Kind, Owner, create, find, pause, wait_until
from build_dataset.annotation.label_studio.tasks import LEFT, QUESTION_ID, ReviewTask
from build_dataset.schemas.errors import UserError

_ROUNDS = 4
"""Most rounds of a push in which something is missing, and most in which a reply is lost: what the server loses while
experts save is there after the second round (tests/services/test_label_studio.py)."""


class PushReport(NamedTuple):
    """Result of a push."""

    kind: str
    project: int
    url: str  # the address at which experts begin: the blind label stream
    created: bool  # True where the project was made
    added: int
    batch: int  # the batch of those that were added, from 1
    updated: int  # questions whose text or filled-in labels changed since they were sent
    unchanged: int
    later: int  # questions that were not sent because of the given limit
    changed_after_review: tuple[str, ...]  # updated ones that an expert had reviewed as they were
    duplicates_removed: int  # unreviewed second tasks of a question; 0 unless something else wrote there
    withdrawn: int  # tasks that nobody had answered and that no longer need an answer
    others: int  # tasks of questions that left this dataset; they stay in the project
    replies_lost: int  # requests without a reply; their effect was looked up
    mended: int = 0  # number of times that tasks were lost on the server and sent again
    taken_out: int = 0  # tasks that nobody gets any more, since their questions left this dataset; they stay
    restored: int = 0  # answers that had been pulled earlier and went back to the server with their questions
    rulings_shown: bool = False  # True where rulings that experts have not seen yet are shown to them


def push(
    studio: Studio,
    kind: Kind,
    owner: Owner,
    tasks: Sequence[ReviewTask],
    *,
    version: str,
    batch: int,
    count: int | None = None,
    answers: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    anew: Set[str] = frozenset(),
    rulings: str | None = None,
    advance: Callable[[int], object] = int,
) -> PushReport:
    """Add the tasks that are not there, and update those that changed. Running it again adds nothing.

    ``tasks`` are all of the dataset's, the most urgent first: people get them in this order. At most ``count`` are
    added, ``batch`` in one import. ``version`` names who predicted the labels to fill in; ``answers`` of questions go
    back with those that are not there any more; ``rulings`` are shown before the first question. Raises ``UserError``
    where a prediction is not of the taxonomy, there is nothing to send and never was, or the server does not keep what
    it is sent.
    """
    _refuse_unoffered(kind, tasks)
    project, created = _project_of(studio, kind, owner, version, wanted=bool(tasks))
    shows = _show_rulings(studio, project, rulings)
    work = _Push(studio, kind, project, tasks, version, batch, created, shows and bool(rulings))
    there = [] if created else work.retired(work.look(), anew)
    first = work.compared(there)
    chosen = _chosen(first, count, answers or {})
    changed = len(first.updated())
    advance(len(tasks) - len(chosen) - changed)
    there = work.until_whole(there, first, chosen)
    advance(len(chosen) + changed)
    return work.finished(there, first, chosen)


def _refuse_unoffered(kind: Kind, tasks: Iterable[ReviewTask]) -> None:
    """Raise ``UserError`` where a label to fill in is not of the taxonomy: the server takes it without an error."""
    # The SDK's own check took two thirds of our CPU time of a push: 1.4 s of 2.2 s for 10,000 questions.
    controls = ET.fromstring(kind.config()).iter("Choices")  # noqa: S314 (ours)
    offered = {str(each.get("name")): {choice.get("value") for choice in each} for each in controls}
    for task in tasks:
        for item in (task.prediction or {}).get("result", ()):
            name, labels = item["from_name"], set(item["value"]["choices"])
            if wrong := sorted(labels - offered.get(name, set())):
                raise UserError(
                    f"the labels of question {task.question_id} do not fit the taxonomy: {name} has no"
                    f" {wrong[0][:100]!r}; run `build-dataset annotate` again"
                )


def _project_of(studio: Studio, kind: Kind, owner: Owner, version: str, *, wanted: bool) -> tuple[Project, bool]:
    """Return the project as its kind wants it, and whether it was made now."""
    settings = {"label_config": kind.config(), "maximum_annotations": kind.experts, "show_collab_predictions": True}
    if (project := find(studio, kind, owner)) is None:
        return create(studio, kind, owner, wanted=wanted, model_version=version, **settings), True
    if project.label_config != settings["label_config"] or project.experts not in (None, kind.experts):
        studio.update_project(project.id, **settings)
    return project, False


_RULINGS = re.compile(r'\s*<section class="bd-rulings">.*?</section>', re.DOTALL)


def _show_rulings(studio: Studio, project: Project, rulings: str | None) -> bool:
    """Show rulings before the first question, beside what somebody else wrote there; return whether they are new."""
    wanted = _RULINGS.sub("", project.instruction) + (rulings or "")
    if shows := rulings is not None and unescape(wanted) != unescape(project.instruction):  # quotes are the server's
        studio.update_project(project.id, expert_instruction=wanted, show_instruction=bool(wanted))
    return shows


def _chosen(
    found: comparison.ProjectChanges, count: int | None, answers: Mapping[str, Sequence[Mapping[str, Any]]]
) -> list[ReviewTask]:
    """Return what to add: the rest of a batch that was interrupted first, and as a part of it."""
    rest = found.missing[: found.interrupted]
    more = found.missing[len(rest) :][: None if count is None else 0 if rest else count]
    size = found.sizes.get(found.last_batch, 0)
    sent = [task.sent(batch=str(found.last_batch), of=size) for task in rest]
    sent += [task.sent(batch=str(found.last_batch + 1), of=len(more)) for task in more]
    return [replace(task, answers=tuple(answers.get(task.question_id, ()))) for task in sent]


@dataclass
class _Push:
    """A push in progress, with its counts."""

    studio: Studio
    kind: Kind
    project: Project
    tasks: Sequence[ReviewTask]
    version: str
    batch: int
    created: bool
    rulings_shown: bool
    lost: int = 0
    mended: int = 0
    removed: int = 0

    def look(self) -> list[comparison.SentTask]:
        """Return the tasks that are there."""
        return list(map(comparison.SentTask.of, self.studio.tasks(self.project.id)))

    def retired(self, there: Sequence[comparison.SentTask], anew: Set[str]) -> list[comparison.SentTask]:
        """Give answered tasks of questions that ask something else now an id of their own: they stay as they are."""
        changed = ((each, task.question_id) for each, task in self.compared(there).texts if each.annotations)
        old = {each.task_id: f"{name} before {each.digest}" for each, name in changed if name in anew}
        for task_id, data in self._data_of(old):
            self.studio.update_task(task_id, {**data, QUESTION_ID: old[task_id]})
        return [task._replace(question_id=old.get(task.task_id, task.question_id)) for task in there]

    def take_out(self, there: Iterable[comparison.SentTask]) -> int:
        """Take tasks whose questions left the dataset out of the queue; they stay, marked. Return how many."""
        wanted = {None, *(task.question_id for task in self.tasks)}
        gone = [task.task_id for task in there if task.question_id not in wanted and task.served and not task.left]
        for task_id, data in self._data_of(gone):
            self.studio.update_task(task_id, {**data, LEFT: "1"}, served=False)
        return len(gone)

    def _data_of(self, task_ids: Iterable[int]) -> Iterator[tuple[int, Mapping[str, Any]]]:
        for some in _groups([*task_ids], self.batch):
            for task in list(self.studio.tasks(self.project.id, task_filter("id", "in_list", [*some]))):
                yield task["id"], task["data"]

    def compared(self, there: Sequence[comparison.SentTask]) -> comparison.ProjectChanges:
        """Return the changes that are needed."""
        present = self.studio.predictions(self.project.id) if there else {}
        return comparison.compare_tasks(self.tasks, there, present)

    def until_whole(
        self, there: list[comparison.SentTask], changes: comparison.ProjectChanges, chosen: Sequence[ReviewTask]
    ) -> list[comparison.SentTask]:
        """Send and update until all wanted tasks are on the server; return the tasks found there at the end."""
        by_id = {each.question_id: each for each in chosen}
        missing = list(chosen)
        while self.mended < _ROUNDS and self.lost < _ROUNDS:
            pause(self.mended)
            reply_lost = False
            try:
                self._write(changes, missing)
                counted = self.studio.project(self.project.id)
            except ReplyLostError:
                self.lost, reply_lost = self.lost + 1, True
                wait_until(lambda: self.studio.project(self.project.id).tasks, len(there) + len(missing))
            else:
                expected = (len(there) + len(missing), changes.predictions_after(missing))
                if (counted.tasks, counted.predictions) == expected and not any(t.answers for t in missing):
                    self._name_version()
                    return [*there, *(comparison.SentTask.of({"id": 0, "data": each.data}) for each in missing)]
            there = self.look()
            given = ((name, each) for name, task in by_id.items() for each in task.answers)
            answered = {name for name, each in given if not each.get("was_cancelled")}
            bare = [each.task_id for each in there if each.annotations == 0 and each.question_id in answered]
            if bare:  # what came without the answers that were sent with it is sent again
                self.removed += self.studio.delete_unanswered(self.project.id, bare)
                there = self.look()
            changes = self.compared(there)
            missing = [by_id[each.question_id] for each in changes.missing if each.question_id in by_id]
            if not missing and not changes.updated():
                self._name_version()
                return there
            self.mended += not reply_lost
        raise UserError(
            f"Label Studio at {self.studio.url} does not keep what it is sent: of project {self.project.id},"
            f" {len(missing)} questions and {len(changes.updated())} labels or texts are missing after"
            f" {self.mended + self.lost} rounds: look at its log, then run `{self.kind.command}` again"
        )

    def finished(
        self, there: Sequence[comparison.SentTask], first: comparison.ProjectChanges, chosen: Sequence[ReviewTask]
    ) -> PushReport:
        """Remove from the project what nobody needs any more, and report."""
        studio, project, changed = self.studio, self.project.id, len(first.updated())
        total = studio.project(project).tasks
        if total != len(there):
            there = self.look()  # somebody else writes to the project
        removed = studio.delete_unanswered(project, comparison.duplicate_task_ids(self.tasks, there))
        obsolete = comparison.obsolete_task_ids(self.tasks, there) if self.kind.prune else []
        withdrawn = studio.delete_unanswered(project, obsolete)
        taken_out = 0 if self.kind.prune else self.take_out(there)
        later = len(first.missing) - len(chosen)
        reviewed = [task.question_id for remote, task in first.texts if remote.annotations]
        return PushReport(
            kind=self.kind.key,
            project=project,
            url=f"{studio.url}/projects/{project}/data?labeling=1",
            created=self.created,
            added=len(chosen),
            batch=int(chosen[-1].batch) if chosen else first.last_batch,
            updated=changed,
            unchanged=len(self.tasks) - len(first.missing) - changed,
            later=later,
            changed_after_review=tuple(dict.fromkeys(reviewed)),
            duplicates_removed=removed + self.removed,
            withdrawn=withdrawn,
            others=total - removed - withdrawn - len(self.tasks) + later,
            replies_lost=self.lost,
            mended=self.mended,
            taken_out=taken_out,
            restored=sum(len(task.answers) for task in chosen),
            rulings_shown=self.rulings_shown,
        )

    def _write(self, found: comparison.ProjectChanges, missing: Sequence[ReviewTask]) -> None:
        """Add and change: labels many at once, texts one by one (0.2 s each; the server offers nothing else)."""
        studio, project = self.studio, self.project.id
        for tasks in _groups(missing, self.batch):
            studio.import_tasks(project, [task.payload() for task in tasks])
        for group in _groups(sorted(found.labels.items()), self.batch):
            studio.delete_predictions(project, [task_id for task_id, _ in group if found.predictions.get(task_id)])
            studio.add_predictions(project, {task_id: label for task_id, label in group if label is not None})
        for remote, task in found.texts:
            again = remote.left and remote.annotations < self.kind.experts
            studio.update_task(remote.task_id, task.data, served=again or None)

    def _name_version(self) -> None:
        """Name the annotator of the filled-in labels, now that they exist: earlier the server refuses the name."""
        if self.project.model_version != self.version and any(task.prediction for task in self.tasks):
            self.studio.update_project(self.project.id, model_version=self.version)


def _groups(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    for begin in range(0, len(items), size):
        yield items[begin : begin + size]
