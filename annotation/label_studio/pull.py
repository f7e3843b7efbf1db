"""Fetching people's annotations: what changed since the last time, or everything."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import polars as pl

from annotation.label_studio.client import Filter, Project, Studio, where
from annotation.label_studio.kinds import Kind
from annotation.label_studio.read import Reading, read_task, timestamp
from annotation.label_studio.tasks import QUESTION_ID
from schemas.annotations import ExpertReview
from schemas.base import Record
from schemas.corrections import Correction
from schemas.errors import UserError
from schemas.questions import Rejection

_OVERLAP = timedelta(seconds=10)
"""Looked at again each time: a transaction may become visible after a later one. Reading twice changes nothing."""


class SeenAnnotation(Record):
    """An annotation that was there at the last pull, whether it counts or not."""

    question_id: str
    annotation_id: int
    updated_at: str
    skipped: bool


@dataclass(frozen=True)
class Pulled:
    """Everything that was pulled of one project so far, and how to go on from there.

    Tables, not records: a pull of one change among 20,000 annotations touches the rows of one question.
    """

    reviews: pl.DataFrame = field(default_factory=lambda: ExpertReview.to_frame([]))
    corrections: pl.DataFrame = field(default_factory=lambda: Correction.to_frame([]))
    rejects: pl.DataFrame = field(default_factory=lambda: Rejection.to_frame([]))
    annotations: pl.DataFrame = field(default_factory=lambda: SeenAnnotation.to_frame([]))
    project: str | None = None
    """Which project on which server it is from."""
    since: str | None = None
    """The latest change that was seen."""


@dataclass(frozen=True)
class PullReport:
    """What a pull found."""

    kind: str
    full: bool
    """Whether everything was read, not only what changed."""
    new: int
    """Annotations that were not there the last time."""
    changed: int
    """Annotations that were there and are different now."""
    deleted: int
    """Annotations that are gone; their reviews are, too."""
    reviews: int
    """Reviews in all, one a question, dimension and expert."""
    questions: int
    """Questions with at least one annotation that counts."""
    rejects: Mapping[str, int]
    """What does not count, by reason, in all."""
    third_experts: tuple[str, ...]
    """Questions that more people reviewed than were asked."""


def pull(
    studio: Studio,
    kind: Kind,
    dataset: str,
    before: Pulled,
    *,
    full: bool = False,
    advance: Callable[[int], object] = int,
) -> tuple[Pulled, PullReport]:
    """Fetch what changed since ``before``; everything when ``full`` or when it is from another project.

    Raises:
        UserError: see ``Studio``; there is no project.
    """
    project = _project(studio, kind, dataset, before)
    name = _name(studio, project)
    start = Pulled(project=name) if full or before.project != name else before
    after = _fetch(studio, kind, project, start, advance)
    if start.since is not None and not _whole(studio, project, after):
        start = Pulled(project=name)
        after = _fetch(studio, kind, project, start, advance)
    return after, _report(kind, before, after, full=start.since is None)


def _project(studio: Studio, kind: Kind, dataset: str, before: Pulled) -> Project:
    project = studio.find_project(kind.marker(dataset))
    if project is not None:
        return project
    if before.project is None:
        raise UserError(
            f"Label Studio at {studio.url} has no {kind.name} project for dataset {dataset}: run `{kind.command}`"
        )
    raise UserError(
        f"the {kind.name} project of dataset {dataset} is gone from Label Studio at {studio.url}: what was pulled"
        f" stays; `{kind.command}` makes a new project"
    )


def _name(studio: Studio, project: Project) -> str:
    return f"{studio.url}/projects/{project.id} {project.created_at}"


def _fetch(
    studio: Studio, kind: Kind, project: Project, start: Pulled, advance: Callable[[int], object]
) -> Pulled:
    seen: dict[str, list[Mapping[str, Any]]] = {}
    data: dict[str, Mapping[str, Any]] = {}
    since = start.since
    for task in _changed(studio, project.id, start.since):
        advance(1)
        question_id = task["data"].get(QUESTION_ID)
        if not isinstance(question_id, str):
            continue  # somebody else's task
        data.setdefault(question_id, task["data"])
        seen.setdefault(question_id, []).extend(task.get("annotations") or [])
        moment = timestamp(task["updated_at"])
        since = moment if since is None else max(since, moment)
    if not seen:
        return Pulled(
            start.reviews, start.corrections, start.rejects, start.annotations, start.project, since
        )
    people = studio.reviewers()
    reading = Reading()
    for question_id, found in seen.items():
        reading.extend(read_task(data[question_id], found, people, kind.name))
    return _merge(start, reading, seen, since)


def _changed(studio: Studio, project_id: int, since: str | None) -> Iterator[Mapping[str, Any]]:
    """Tasks that changed since then; without a date, all that were answered or skipped."""
    skipped = (where("total_annotations", "equal", 0), where("cancelled_annotations", "greater", 0))
    choices: list[tuple[Filter, ...]] = [(where("total_annotations", "greater", 0),), skipped]
    if since is not None:
        moment = timestamp(datetime.fromisoformat(since) - _OVERLAP)
        choices = [(where("updated_at", "greater", moment, "Datetime"),)]
    for filters in choices:
        yield from studio.tasks(project_id, *filters, answers=True)


def _merge(
    start: Pulled, reading: Reading, seen: Mapping[str, Iterable[Mapping[str, Any]]], since: str | None
) -> Pulled:
    """What was pulled before, with everything about the questions that were seen replaced."""
    gone = list(seen)
    annotations = [
        SeenAnnotation(
            question_id=question_id,
            annotation_id=item["id"],
            updated_at=timestamp(item["updated_at"]),
            skipped=bool(item.get("was_cancelled")),
        )
        for question_id, items in seen.items()
        for item in items
    ]
    return Pulled(
        reviews=_replaced(start.reviews, gone, reading.reviews, ("question_id", "dimension", "reviewer")),
        corrections=_replaced(start.corrections, gone, reading.corrections, ("question_id", "field", "by")),
        rejects=_replaced(start.rejects, gone, reading.rejects, ("item_id", "reason", "detail", "item")),
        annotations=_replaced(start.annotations, gone, annotations, ("question_id", "annotation_id")),
        project=start.project,
        since=since,
    )


def _replaced(
    frame: pl.DataFrame, gone: Sequence[str], rows: Sequence[Any], order: tuple[str, ...]
) -> pl.DataFrame:
    if not rows and frame.is_empty():
        return frame
    kept = frame.filter(~pl.col(order[0]).is_in(gone))
    new = pl.DataFrame([row.model_dump(mode="json") for row in rows], schema=frame.schema)
    return pl.concat([kept, new]).sort(order, nulls_last=False, maintain_order=True)


def _report(kind: Kind, before: Pulled, after: Pulled, *, full: bool) -> PullReport:
    key = ["question_id", "annotation_id"]
    old = before.annotations if before.project == after.project else before.annotations.clear()
    both = after.annotations.join(old, on=key, suffix="_old")
    signed = [
        frame.select("question_id", reviewer=name)
        for frame, name in ((after.reviews, "reviewer"), (after.corrections, "by"))
    ]
    people = pl.concat(signed).unique().group_by("question_id").len()
    third = people.filter(pl.col("len") > kind.experts)["question_id"].sort()
    reasons = after.rejects["reason"].value_counts().sort("reason")
    return PullReport(
        kind=kind.name,
        full=full,
        new=after.annotations.height - both.height,
        changed=both.filter(pl.col("updated_at") != pl.col("updated_at_old")).height,
        deleted=old.height - both.height,
        reviews=after.reviews.height,
        questions=people.height,
        rejects=dict(reasons.iter_rows()),
        third_experts=tuple(third),
    )


def _whole(studio: Studio, project: Project, pulled: Pulled) -> bool:
    """Whether no annotation went without a trace, as those of a deleted task do; new ones may come meanwhile."""
    count = _submitted(pulled)
    if count == project.annotations:
        return True
    return project.annotations < count <= studio.project(project.id).annotations


def _submitted(pulled: Pulled) -> int:
    """Annotations without skipped ones, as Label Studio counts them."""
    return pulled.annotations.filter(~pl.col("skipped")).height
