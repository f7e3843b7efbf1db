"""Fetching experts' annotations: what changed since the last time, or everything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from annotation.label_studio.client import Filter, Project, Studio
from annotation.label_studio.push import EXPERTS, project_marker
from annotation.label_studio.read import SKIPPED, Reading, read_annotations, timestamp
from annotation.label_studio.tasks import QUESTION_ID
from schemas.annotations import ExpertReview
from schemas.errors import UserError
from schemas.questions import Rejection

_OVERLAP = timedelta(seconds=10)
"""Looked at again each time: a transaction may become visible after a later one. Reading twice changes nothing."""


@dataclass(frozen=True)
class Pulled:
    """Everything that was pulled so far, and how to go on from there."""

    reviews: tuple[ExpertReview, ...] = ()
    rejects: tuple[Rejection, ...] = ()
    project: str | None = None
    """Which project on which server it is from."""
    since: str | None = None
    """The latest change that was seen."""
    annotations: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Ids of all annotations by question, also of those that do not count."""


@dataclass(frozen=True)
class PullReport:
    """What a pull found."""

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
    """Questions with at least one review."""
    rejects: Mapping[str, int]
    """What does not count, by reason, in all."""
    third_experts: tuple[str, ...]
    """Questions that more than two experts reviewed."""


def pull(
    studio: Studio,
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
    project = _project(studio, dataset, before)
    name = _name(studio, project)
    start = Pulled(project=name) if full or before.project != name else before
    after = _fetch(studio, project, start, advance)
    if start.since is not None and _submitted(after) != project.annotations:
        # A deleted task takes its annotations along without a trace.
        after = _fetch(studio, project, Pulled(project=name), advance)
        start = Pulled(project=name)
    return after, _report(before, after, full=start.since is None)


def _project(studio: Studio, dataset: str, before: Pulled) -> Project:
    project = studio.find_project(project_marker(dataset))
    if project is not None:
        return project
    if before.project is None:
        raise UserError(
            f"Label Studio at {studio.url} has no project for dataset {dataset}: run `build-dataset review push`"
        )
    raise UserError(
        f"the project of dataset {dataset} is gone from Label Studio at {studio.url}: what was pulled stays;"
        " `build-dataset review push` makes a new project"
    )


def _name(studio: Studio, project: Project) -> str:
    return f"{studio.url}/projects/{project.id} {project.created_at}"


def _fetch(studio: Studio, project: Project, start: Pulled, advance: Callable[[int], object]) -> Pulled:
    people = studio.reviewers()
    filters, match = _filters(start.since)
    seen: dict[str, list[Mapping[str, Any]]] = {}
    since = start.since
    for task in studio.tasks(project.id, filters, match=match):
        advance(1)
        question_id = task["data"].get(QUESTION_ID)
        if question_id is None:
            continue  # somebody else's task
        seen.setdefault(question_id, []).extend(task.get("annotations") or [])
        moment = timestamp(task["updated_at"])
        since = moment if since is None else max(since, moment)
    return _merge(start, seen, people, since)


def _filters(since: str | None) -> tuple[list[Filter], str]:
    if since is None:
        counts = ("total_annotations", "cancelled_annotations")
        return [
            {"filter": f"filter:tasks:{name}", "operator": "greater", "type": "Number", "value": 0}
            for name in counts
        ], "or"
    moment = datetime.fromisoformat(since) - _OVERLAP
    return [
        {
            "filter": "filter:tasks:updated_at",
            "operator": "greater",
            "type": "Datetime",
            "value": timestamp(moment),
        }
    ], "and"


def _merge(
    start: Pulled,
    seen: Mapping[str, Iterable[Mapping[str, Any]]],
    people: Mapping[int, str],
    since: str | None,
) -> Pulled:
    total = Reading(
        reviews=[review for review in start.reviews if review.question_id not in seen],
        rejects=[reject for reject in start.rejects if reject.item_id not in seen],
    )
    annotations = {key: ids for key, ids in start.annotations.items() if key not in seen}
    for question_id, found in seen.items():
        found = list(found)
        reading = read_annotations(question_id, found, people)
        total.reviews += reading.reviews
        total.rejects += reading.rejects
        if found:
            annotations[question_id] = tuple(sorted(item["id"] for item in found))
    return Pulled(
        reviews=tuple(sorted(total.reviews, key=lambda r: (r.question_id, r.dimension, r.reviewer))),
        rejects=tuple(sorted(total.rejects, key=lambda r: (r.item_id, r.reason, r.detail, r.item or ""))),
        project=start.project,
        since=since,
        annotations=dict(sorted(annotations.items())),
    )


def _report(before: Pulled, after: Pulled, *, full: bool) -> PullReport:
    old = _moments(before) if before.project == after.project else {}
    new = _moments(after)
    experts: dict[str, set[str]] = {}
    for review in after.reviews:
        experts.setdefault(review.question_id, set()).add(review.reviewer)
    return PullReport(
        full=full,
        new=len(new.keys() - old.keys()),
        changed=sum(1 for key in new.keys() & old.keys() if new[key] != old[key]),
        deleted=len(old.keys() - new.keys()),
        reviews=len(after.reviews),
        questions=len(experts),
        rejects=dict(sorted(Counter(reject.reason for reject in after.rejects).items())),
        third_experts=tuple(sorted(key for key, who in experts.items() if len(who) > EXPERTS)),
    )


def _submitted(pulled: Pulled) -> int:
    """Annotations without skipped ones, as Label Studio counts them."""
    skipped = sum(1 for reject in pulled.rejects if reject.reason == SKIPPED)
    return sum(map(len, pulled.annotations.values())) - skipped


def _moments(pulled: Pulled) -> dict[tuple[str, int], str]:
    """When each annotation was last changed, where it is known (it is for those that count)."""
    known = {(key, annotation): "" for key, ids in pulled.annotations.items() for annotation in ids}
    return known | {(r.question_id, r.annotation_id): r.updated_at for r in pulled.reviews}
