"""People's annotations as they come from Label Studio, read into reviews and corrections. Pure.

Label Studio checks nothing of what is posted through its API, lets one expert submit twice, lets a third one in,
and lets anybody sign with another's name: all of that is checked here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from annotation.label_studio import screen
from annotation.label_studio.editable import VERDICT, UnreadableTextError
from annotation.label_studio.read_text import Changes, base_in, changed_key, changed_text, text_in
from annotation.label_studio.screen import FLAG_NAMES
from annotation.label_studio.tasks import ARM, BATCH, BLIND, PREFILLED, QUESTION_ID
from annotation.label_studio.verification import VERDICTS
from annotation.label_studio.widgets import BASE, NOTE
from annotation.rubric.aspects import LEAST, MOST, aspects
from schemas.annotations import ExpertReview
from schemas.corrections import Correction, CorrectionStatus
from schemas.questions import Rejection
from schemas.taxonomy import dimensions

STAGE = "review"
DROP = "drop"
_FLAG_KINDS = {flag.zh: flag.kind for flag in FLAG_NAMES}
_VERDICTS = {verdict.zh: verdict.kind for verdict in VERDICTS}

SUPERSEDED = "superseded"
SKIPPED = "skipped"
MISSING_DIMENSION = "missing_dimension"
UNKNOWN_LABEL = "unknown_label"
SEVERAL_LABELS = "several_labels"
UNKNOWN_FLAG = "unknown_flag"
UNKNOWN_USER = "unknown_user"
ANOTHER_HAND = "another_hand"
UNREADABLE_CORRECTION = "unreadable_correction"
MISSING_VERDICT = "missing_verdict"
UNSURE = "unsure"


@dataclass
class Reading:
    """What annotations say."""

    reviews: list[ExpertReview] = field(default_factory=list)
    corrections: list[Correction] = field(default_factory=list)
    rejects: list[Rejection] = field(default_factory=list)
    """What does not count, and why."""

    def extend(self, other: Reading) -> None:
        """Add another's."""
        self.reviews += other.reviews
        self.corrections += other.corrections
        self.rejects += other.rejects


@dataclass(frozen=True)
class _Answer:
    """One annotation of one person."""

    question_id: str
    reviewer: str
    project: str
    data: Mapping[str, Any]
    """The task's."""
    annotation: Mapping[str, Any]

    @property
    def items(self) -> dict[Any, Mapping[str, Any]]:
        return {item.get("from_name"): item for item in self.annotation.get("result") or []}

    @property
    def note(self) -> str | None:
        return text_in(self.items.get(NOTE))

    @property
    def updated_at(self) -> str:
        return timestamp(self.annotation["updated_at"])

    def rejection(self, reason: str, detail: str) -> Rejection:
        item = {"annotation_id": self.annotation["id"], "result": self.annotation.get("result") or []}
        return Rejection(
            item_id=self.question_id,
            stage=STAGE,
            reason=reason,
            detail=detail,
            item=json.dumps(item, ensure_ascii=False, sort_keys=True),
        )


def read_task(
    data: Mapping[str, Any], annotations: Iterable[Mapping[str, Any]], people: Mapping[int, str], project: str
) -> Reading:
    """Read the annotations of one question.

    Args:
        data: of its task.
        annotations: as the REST API gives them.
        people: e-mail addresses by user id.
        project: ``review``, ``adjudication``, ``verification`` or ``scoring``.

    Returns:
        For each person the latest annotation that was not skipped, as one review a dimension and one correction a
        field; everything else as rejects. What is wrong with one dimension does not touch the others.
    """
    question_id = str(data[QUESTION_ID])
    reading = Reading()
    latest: dict[str, _Answer] = {}
    for annotation in sorted(annotations, key=lambda item: (timestamp(item["updated_at"]), item["id"])):
        name, problem = signed(annotation, people)
        reviewer = name or "unknown"
        answer = _Answer(question_id, reviewer, project, data, annotation)
        if problem is not None:
            reading.rejects.append(answer.rejection(*problem))
        elif annotation.get("was_cancelled"):
            reading.rejects.append(answer.rejection(SKIPPED, f"{reviewer} skipped it"))
        else:
            if reviewer in latest:
                detail = f"{reviewer} submitted it again; the later one counts"
                reading.rejects.append(latest[reviewer].rejection(SUPERSEDED, detail))
            latest[reviewer] = answer
    read = {"verification": _read_verdict, "scoring": _read_scores}.get(project, _read_labels)
    for reviewer in sorted(latest):
        read(reading, latest[reviewer])
    return reading


def timestamp(value: datetime | str) -> str:
    """A moment in UTC as ISO 8601 with microseconds, which sorts as text."""
    moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def signed(
    annotation: Mapping[str, Any], people: Mapping[int, str]
) -> tuple[str | None, tuple[str, str] | None]:
    """Who made an annotation, None where nobody knows; and what is wrong with the signature.

    Label Studio takes any ``completed_by`` from anybody, but notes itself in ``updated_by`` who sent it.
    """
    author = _user(annotation.get("completed_by"))
    sender = _user(annotation.get("updated_by"))
    if author is None or author not in people:
        return None, (UNKNOWN_USER, f"made by user {author}, whom the server does not list")
    name = people[author]
    if sender is not None and sender != author:
        other = people.get(sender, f"user {sender}")
        return name, (ANOTHER_HAND, f"signed {name}, but last sent by {other}")
    return name, None


def _user(value: object) -> int | None:
    if isinstance(value, Mapping):  # what one endpoint gives; the others give the id alone
        value = value.get("id")
    return value if isinstance(value, int) else None


def _read_labels(reading: Reading, answer: _Answer) -> None:
    flags = []
    for name in _choices(answer.items.get(screen.FLAGS)):
        if name in _FLAG_KINDS:
            flags.append(_FLAG_KINDS[name])
        else:
            reading.rejects.append(answer.rejection(UNKNOWN_FLAG, f"{answer.reviewer}: no flag {name!r}"))
    for dimension in dimensions().values():
        _read_label(reading, answer, dimension.name, dimension.zh_names(), flags)
    _correct(reading, answer, screen.CORRECTED, BASE, changed_text)
    _correct(reading, answer, screen.CORRECTED_KEY, screen.BASE_KEY, changed_key)
    if answer.project == "adjudication" and "out_of_scope" in flags:
        _decide(reading, answer, BASE, DROP)


def _read_scores(reading: Reading, answer: _Answer) -> None:
    """A score is a label of the dimension that its aspect is."""
    scores = [str(score) for score in range(LEAST, MOST + 1)]
    for aspect in aspects():
        _read_label(reading, answer, aspect.name, scores, [])


def _read_label(
    reading: Reading, answer: _Answer, name: str, known: Sequence[str], flags: Sequence[str]
) -> None:
    labels = _choices(answer.items.get(name))
    problem = _problem(labels, known)
    if problem is not None:
        code, detail = problem
        reading.rejects.append(answer.rejection(code, f"{answer.reviewer}, {name}: {detail}"))
        return
    arm, batch = answer.data.get(ARM), str(answer.data.get(BATCH) or "")
    reading.reviews.append(
        ExpertReview(
            question_id=answer.question_id,
            dimension=name,
            label=labels[0],
            reviewer=answer.reviewer,
            origin=answer.items[name].get("origin"),
            flags=sorted(flags),
            note=answer.note,
            annotation_id=answer.annotation["id"],
            updated_at=answer.updated_at,
            project=answer.project,
            batch=int(batch) if batch.isdecimal() else None,
            blind=arm == BLIND if arm in (BLIND, PREFILLED) else None,
            seconds=_seconds(answer.annotation.get("lead_time")),
        )
    )


def _read_verdict(reading: Reading, answer: _Answer) -> None:
    found = [_VERDICTS[name] for name in _choices(answer.items.get(VERDICT)) if name in _VERDICTS]
    if len(found) != 1:
        reading.rejects.append(answer.rejection(MISSING_VERDICT, f"{answer.reviewer} chose no verdict"))
        return
    if found == [UNSURE]:
        reading.rejects.append(
            answer.rejection(UNSURE, f"{answer.reviewer} could not tell: {answer.note or 'no note'}")
        )
        return
    readable = True
    if found != [DROP]:
        readable = _correct(reading, answer, screen.CORRECTED, BASE, changed_text)
        readable &= _correct(reading, answer, screen.CORRECTED_KEY, BASE, changed_key)
    if readable:
        _decide(reading, answer, BASE, found[0])


def _correct(
    reading: Reading,
    answer: _Answer,
    name: str,
    base_name: str,
    changed: Callable[[str | None, Any], Changes],
) -> bool:
    """Add what was corrected in a field; whether it could be read."""
    text = text_in(answer.items.get(name))
    base = base_in(answer.items.get(base_name), answer.data)
    if text is None or base is None:
        return True
    try:
        found = changed(text, base)
    except UnreadableTextError as error:
        reading.rejects.append(answer.rejection(UNREADABLE_CORRECTION, f"{answer.reviewer}: {error}"))
        return False
    for field_name, (before, after) in found.items():
        _add(reading, answer, base.content_hash, field_name, before, after)
    return True


def _decide(reading: Reading, answer: _Answer, base_name: str, verdict: str) -> None:
    base = base_in(answer.items.get(base_name), answer.data)
    if base is not None:
        _add(reading, answer, base.content_hash, VERDICT, None, verdict)


def _add(
    reading: Reading, answer: _Answer, content_hash: str, name: str, before: str | None, after: str | None
) -> None:
    reading.corrections.append(
        Correction(
            question_id=answer.question_id,
            content_hash=content_hash,
            field=name,
            before=before,
            after=after,
            by=answer.reviewer,
            origin=answer.project,
            note=answer.note,
            annotation_id=answer.annotation["id"],
            updated_at=answer.updated_at,
            status=CorrectionStatus.PROPOSED,
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


def _choices(item: Mapping[str, Any] | None) -> list[str]:
    value = (item or {}).get("value")
    found = value.get("choices") if isinstance(value, Mapping) else None
    return [str(label) for label in found] if isinstance(found, list) else []


def _seconds(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and value > 0 else None
