"""Experts' annotations as they come from Label Studio, read into reviews. Pure.

Label Studio checks nothing of what is posted through its API, lets one expert submit twice, and lets a third
one in: all of that is checked here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from annotation.label_studio.screen import FLAG_NAMES, FLAGS, NOTE
from schemas.annotations import ExpertReview
from schemas.questions import Rejection
from schemas.taxonomy import dimensions

STAGE = "review"
_FLAG_KINDS = {flag.zh: flag.kind for flag in FLAG_NAMES}

SUPERSEDED = "superseded"
SKIPPED = "skipped"
MISSING_DIMENSION = "missing_dimension"
UNKNOWN_LABEL = "unknown_label"
SEVERAL_LABELS = "several_labels"
UNKNOWN_FLAG = "unknown_flag"


@dataclass
class Reading:
    """What annotations say."""

    reviews: list[ExpertReview] = field(default_factory=list)
    rejects: list[Rejection] = field(default_factory=list)
    """What does not count, and why."""


def read_annotations(
    question_id: str, annotations: Iterable[Mapping[str, Any]], people: Mapping[int, str]
) -> Reading:
    """Read the annotations of one question.

    Args:
        question_id: of the question.
        annotations: as the REST API gives them.
        people: e-mail addresses by user id.

    Returns:
        For each expert the latest annotation that was not skipped, as one review a dimension; everything else
        as rejects. What is wrong with one dimension does not touch the others.
    """
    reading = Reading()
    latest: dict[str, Mapping[str, Any]] = {}
    for annotation in sorted(annotations, key=lambda item: (timestamp(item["updated_at"]), item["id"])):
        reviewer = _reviewer(annotation, people)
        if annotation.get("was_cancelled"):
            _reject(reading, question_id, SKIPPED, f"{reviewer} skipped it", annotation)
            continue
        if reviewer in latest:
            detail = f"{reviewer} submitted it again; the later one counts"
            _reject(reading, question_id, SUPERSEDED, detail, latest[reviewer])
        latest[reviewer] = annotation
    for reviewer in sorted(latest):
        _read_one(reading, question_id, reviewer, latest[reviewer])
    return reading


def timestamp(value: datetime | str) -> str:
    """A moment in UTC as ISO 8601 with microseconds, which sorts as text."""
    moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _read_one(reading: Reading, question_id: str, reviewer: str, annotation: Mapping[str, Any]) -> None:
    items = {item.get("from_name"): item for item in annotation.get("result") or []}
    flags = []
    for name in _choices(items.get(FLAGS)):
        if name in _FLAG_KINDS:
            flags.append(_FLAG_KINDS[name])
        else:
            _reject(reading, question_id, UNKNOWN_FLAG, f"{reviewer}: no flag {name!r}", annotation)
    note = _note(items.get(NOTE))
    for dimension in dimensions().values():
        labels = _choices(items.get(dimension.name))
        problem = _problem(labels, dimension.zh_names())
        if problem is not None:
            code, detail = problem
            _reject(reading, question_id, code, f"{reviewer}, {dimension.name}: {detail}", annotation)
            continue
        reading.reviews.append(
            ExpertReview(
                question_id=question_id,
                dimension=dimension.name,
                label=labels[0],
                reviewer=reviewer,
                origin=items[dimension.name].get("origin"),
                flags=sorted(flags),
                note=note,
                annotation_id=annotation["id"],
                updated_at=timestamp(annotation["updated_at"]),
            )
        )


def _problem(labels: Sequence[str], known: Sequence[str]) -> tuple[str, str] | None:
    if not labels:
        return MISSING_DIMENSION, "no label"
    if len(labels) > 1:
        return SEVERAL_LABELS, f"{len(labels)} labels: {'、'.join(labels)}"
    if labels[0] not in known:
        return UNKNOWN_LABEL, f"no label {labels[0]!r} in the taxonomy"
    return None


def _reviewer(annotation: Mapping[str, Any], people: Mapping[int, str]) -> str:
    user = annotation.get("completed_by")
    if isinstance(user, Mapping):  # what one endpoint gives; the others give the id alone
        user = user.get("id")
    return people.get(user, f"user {user}") if isinstance(user, int) else "unknown"


def _choices(item: Mapping[str, Any] | None) -> list[str]:
    value = (item or {}).get("value")
    found = value.get("choices") if isinstance(value, Mapping) else None
    return [str(label) for label in found] if isinstance(found, list) else []


def _note(item: Mapping[str, Any] | None) -> str | None:
    value = (item or {}).get("value")
    text = value.get("text") if isinstance(value, Mapping) else None
    lines = [text] if isinstance(text, str) else text if isinstance(text, list) else []
    return "\n".join(str(line).strip() for line in lines).strip() or None


def _reject(
    reading: Reading, question_id: str, reason: str, detail: str, annotation: Mapping[str, Any]
) -> None:
    item = {"annotation_id": annotation["id"], "result": annotation.get("result") or []}
    reading.rejects.append(
        Rejection(
            item_id=question_id,
            stage=STAGE,
            reason=reason,
            detail=detail,
            item=json.dumps(item, ensure_ascii=False, sort_keys=True),
        )
    )
