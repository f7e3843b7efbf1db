"""Reading people's annotations, as they come from Label Studio, into reviews and corrections. Pure.

Label Studio checks nothing of what is posted through its API, lets one expert submit twice, lets a third one in,
and lets anybody sign with another's name: all of that is checked here.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Self

from build_dataset.annotation.label_studio import editable, screen
from build_dataset.annotation.label_studio.tasks import ARM, BATCH, BLIND, PREFILLED, QUESTION_ID
from build_dataset.annotation.rubric import LEAST, MOST, aspects
from build_dataset.schemas import identity, places, questions, taxonomy
from build_dataset.schemas.annotations import Correction, CorrectionStatus, ExpertReview
from build_dataset.schemas.base import Record

STAGE = "review"  # of what is rejected here
DROP, UNSURE = "drop", "unsure"  # kinds of verdicts that read differently from keep
_FLAG_KINDS = {flag.zh: flag.kind for flag in screen.FLAG_NAMES}  # 题干有误 → wrong_stem
_VERDICTS = {verdict.zh: verdict.kind for verdict in screen.VERDICTS}  # 剔除 → drop
Changes = dict[str, tuple[str | None, str | None]]  # by field, the text before and after


class SeenAnnotation(Record):
    """An annotation that was there at a pull, whether it counts or not."""

    question_id: str
    annotation_id: int
    updated_at: str
    skipped: bool
    reviewer: str | None = None  # its author; null where the server does not say
    answer: str | None = None  # JSON in the form of an import; null where another hand signed it
    gone: bool = False  # True if it is gone from the server
    imported: bool = False  # True if it came to the server by an import, and nobody changed it since


@dataclass
class PulledRows:
    """Annotations, and the rows of reviews, corrections and scores that were read from them."""

    annotations: list[SeenAnnotation] = field(default_factory=list)
    reviews: list[ExpertReview] = field(default_factory=list)
    corrections: list[Correction] = field(default_factory=list)
    rejects: list[questions.Rejection] = field(default_factory=list)  # rows that do not count, with the reason

    def extend(self, other: Self) -> None:
        """Add another's."""
        for name, rows in vars(other).items():
            getattr(self, name).extend(rows)


def read_task(
    data: Mapping[str, Any], annotations: Iterable[Mapping[str, Any]], people: Mapping[int, str], project: str
) -> PulledRows:
    """Read the annotations of one question, as the REST API gives them with its task's ``data``.

    ``people`` are e-mail addresses by user id; ``project`` is a name in ``kinds.toml``. For each person the latest
    annotation that was not skipped gives one review a dimension and one correction a field; everything else becomes
    rejects. What is wrong with one dimension does not touch the others.
    """
    rows = PulledRows()
    latest: dict[str, _Answer] = {}
    for annotation in sorted(map(with_own_time, annotations), key=lambda item: (item["updated_at"], item["id"])):
        name, problem = _author(annotation, people)
        skipped, result = bool(annotation.get("was_cancelled")), annotation.get("result") or []
        given = {"result": result, "completed_by": {"email": name}, "was_cancelled": skipped}
        given |= {"lead_time": annotation.get("lead_time"), "ground_truth": False}
        seen = SeenAnnotation(
            question_id=str(data[QUESTION_ID]),
            annotation_id=annotation["id"],
            updated_at=timestamp(annotation["updated_at"]),
            skipped=skipped,
            reviewer=name,
            answer=json.dumps(given, ensure_ascii=False) if problem is None else None,
            imported=annotation.get("updated_by") is None,
        )
        rows.annotations.append(seen)
        reviewer = name or "unknown"
        answer = _Answer(rows, reviewer, project, data, annotation)
        if problem is not None:
            answer.reject(*problem)
        elif skipped:
            answer.reject("skipped", f"{reviewer} skipped it")
        else:
            if reviewer in latest:
                latest[reviewer].reject("superseded", f"{reviewer} submitted it again; the later one counts")
            latest[reviewer] = answer
    for _, answer in sorted(latest.items()):
        {"verification": answer.read_verdict, "scoring": answer.read_scores}.get(project, answer.read_labels)()
    return rows


def timestamp(value: datetime | str) -> str:
    """Return a moment in UTC as ISO 8601 with microseconds, which sorts as text."""
    moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def version_of(content_hash: str, key: str) -> str:
    """Return the hash of a question's text and key, by which an answer says what was asked."""
    return identity.sha256(content_hash, key)[:16]


def with_own_time(annotation: Mapping[str, Any]) -> dict[str, Any]:
    """Return an annotation with the time at which its author gave it, and without the item that says so."""
    items = annotation.get("result") or []
    times = [item["value"]["text"] for item in items if item.get("from_name") == screen.ANSWERED]
    result = [item for item in items if item.get("from_name") != screen.ANSWERED]
    # An answer that was imported bears the time of the import; it says itself when it was given, which counts until its
    # author changes it: the server notes nobody who changed it before.
    moment = times[0][-1] if times and annotation.get("updated_by") is None else annotation["updated_at"]
    return {**annotation, "result": result, "updated_at": timestamp(moment)}


def _author(annotation: Mapping[str, Any], people: Mapping[int, str]) -> tuple[str | None, tuple[str, str] | None]:
    """Return who made an annotation, None where nobody knows; and what is wrong with the signature."""
    # Label Studio takes any ``completed_by`` from anybody, but notes itself in ``updated_by`` who sent it.
    users = (annotation.get(field) for field in ("completed_by", "updated_by"))
    ids = (user.get("id") if isinstance(user, Mapping) else user for user in users)  # one endpoint gives a mapping
    author, sender = (each if isinstance(each, int) else None for each in ids)
    if author is None or author not in people:
        return None, ("unknown_user", f"made by user {author}, whom the server does not list")
    name = people[author]
    if sender is not None and sender != author:
        other = people.get(sender, f"user {sender}")
        return name, ("another_hand", f"signed {name}, but last sent by {other}")
    return name, None


@dataclass(frozen=True)
class _Answer:
    """One annotation of one person, which adds its rows."""

    rows: PulledRows
    reviewer: str
    project: str
    data: Mapping[str, Any]  # the task's
    annotation: Mapping[str, Any]

    @cached_property
    def _items(self) -> dict[Any, Mapping[str, Any]]:
        return {item.get("from_name"): item for item in self.annotation.get("result") or []}

    def _choices(self, name: str) -> list[str]:
        value = self._items.get(name, {}).get("value")
        chosen = value.get("choices") if isinstance(value, Mapping) else None
        return [str(label) for label in chosen] if isinstance(chosen, list) else []

    def _text(self, name: str) -> str | None:
        """Return the text of a text area; None where nothing was written."""
        value = self._items.get(name, {}).get("value")
        text = value.get("text") if isinstance(value, Mapping) else None
        lines = [text] if isinstance(text, str) else text if isinstance(text, list) else []
        return "\n".join(str(line).strip() for line in lines).strip() or None

    def _base(self, name: str) -> editable.BaseText | None:
        """Return what the person saw: as it came back with the answer, otherwise as the task has it now."""
        line = self._text(name) or self.data.get("base")
        return editable.BaseText.loads(line) if isinstance(line, str) else None

    def _common(self) -> dict[str, Any]:
        about = {"question_id": str(self.data[QUESTION_ID]), "note": self._text(screen.NOTE)}
        moment = timestamp(self.annotation["updated_at"])
        return about | {"annotation_id": self.annotation["id"], "updated_at": moment}

    def reject(self, reason: str, detail: str) -> None:
        """Add what does not count."""
        item = {"annotation_id": self.annotation["id"], "result": self.annotation.get("result") or []}
        content = json.dumps(item, ensure_ascii=False, sort_keys=True)
        place = {"item_id": str(self.data[QUESTION_ID]), "stage": STAGE}
        self.rows.rejects.append(questions.Rejection(**place, reason=reason, detail=detail, item=content))

    def read_labels(self) -> None:
        """Add labels, flags and corrections."""
        chosen = self._choices(screen.FLAGS)
        flags = sorted(_FLAG_KINDS[name] for name in chosen if name in _FLAG_KINDS)
        for name in (name for name in chosen if name not in _FLAG_KINDS):
            self.reject("unknown_flag", f"{self.reviewer}: no flag {name!r}")
        for dimension in taxonomy.dimensions().values():
            self._read_label(dimension.name, dimension.zh_names(), flags)
        self._correct(screen.CORRECTED, screen.BASE, changed_text)
        self._correct(screen.CORRECTED_KEY, screen.BASE_KEY, changed_key)
        if self.project == "adjudication" and "out_of_scope" in flags:
            self._decide(DROP)

    def read_scores(self) -> None:
        """Add scores: each is a label of the dimension that its aspect is."""
        for aspect in aspects():
            self._read_label(aspect.name, [str(score) for score in range(LEAST, MOST + 1)], [])

    def read_verdict(self) -> None:
        """Add a verifier's decision and corrections."""
        verdicts = [_VERDICTS[name] for name in self._choices(editable.VERDICT) if name in _VERDICTS]
        before = len(self.rows.corrections)
        if len(verdicts) != 1:
            self.reject("missing_verdict", f"{self.reviewer} chose no verdict")
        elif verdicts == [UNSURE]:
            self.reject(UNSURE, f"{self.reviewer} could not tell: {self._text(screen.NOTE) or 'no note'}")
        elif verdicts == [DROP] or (
            self._correct(screen.CORRECTED, screen.BASE, changed_text)
            & self._correct(screen.CORRECTED_KEY, screen.BASE, changed_key)
            & self._correct(screen.CORRECTED_EXPLANATION, screen.BASE, changed_explanation)
        ):
            self._decide(verdicts[0])
        else:
            del self.rows.corrections[before:]  # of what cannot be read as a whole nothing is applied

    def _read_label(self, name: str, known: Sequence[str], flags: Sequence[str]) -> None:
        labels, where = self._choices(name), f"{self.reviewer}, {name}"
        if not labels:
            self.reject("missing_dimension", f"{where}: no label")
        elif len(labels) > 1:
            self.reject("several_labels", f"{where}: {len(labels)} labels: {'、'.join(labels)}")
        elif labels[0] not in known:
            self.reject("unknown_label", f"{where}: no label {labels[0]!r} in the taxonomy")
        else:
            base = editable.BaseText.loads(self._text(screen.BASE) or "")
            arm, batch = self.data.get(ARM), str(self.data.get(BATCH) or "")
            seconds = self.annotation.get("lead_time")
            self.rows.reviews.append(
                ExpertReview(
                    **self._common(),
                    dimension=name,
                    label=labels[0],
                    reviewer=self.reviewer,
                    origin=self._items[name].get("origin"),
                    flags=list(flags),
                    project=self.project,
                    batch=int(batch) if batch.isdecimal() else None,
                    blind=arm == BLIND if arm in (BLIND, PREFILLED) else None,
                    asked=version_of(base.content_hash, base.key) if base else None,
                    seconds=float(seconds) if isinstance(seconds, int | float) and seconds > 0 else None,
                )
            )

    def _correct(self, name: str, base_name: str, changed: Callable[[str, editable.BaseText], Changes]) -> bool:
        """Add what was corrected in a field; return whether it could be read."""
        text, base = self._text(name), self._base(base_name)
        if text is None or base is None:
            return True
        if name == screen.CORRECTED_KEY:  # it may name an option that the same person added
            base = replace(base, text=self._text(screen.CORRECTED) or base.text)
        try:
            changes = changed(text, base)
            if self.project == "adjudication":  # what was offered and is gone from the field was refused
                offered = changed(str(self.data.get({screen.CORRECTED: "text"}.get(name, "key")) or text), base)
                changes = {field: (old, old) for field, (old, _) in offered.items()} | changes
        except editable.UnreadableTextError as error:
            self.reject("unreadable_correction", f"{self.reviewer}: {error}")
            return False
        for field_name, (before, after) in changes.items():
            self._add(base.content_hash, field_name, before, after)
        return True

    def _decide(self, verdict: str) -> None:
        if (base := self._base(screen.BASE)) is not None:
            self._add(base.content_hash, editable.VERDICT, None, verdict)

    def _add(self, content_hash: str, name: str, before: str | None, after: str | None) -> None:
        about = {"content_hash": content_hash, "by": self.reviewer, "origin": self.project}
        change = {"field": name, "before": before, "after": after, "status": CorrectionStatus.PROPOSED}
        self.rows.corrections.append(Correction(**self._common(), **about, **change))


def changed_text(text: str, base: editable.BaseText) -> Changes:
    """Return the fields that differ from what was shown; raise ``UnreadableTextError`` where it is no question now."""
    if text.split() == base.text.split():
        return {}
    before, after = editable.fields_of(base.text), editable.fields_of(text)
    if sum(name.startswith(places.OPTION) for name in after) < 2:
        problem = "fewer than two options A, B … follow each other: write the missing ones, too"
        raise editable.UnreadableTextError(problem)
    return editable.changed_fields(before, after)


def changed_explanation(text: str, base: editable.BaseText) -> Changes:
    """Return the explanation, where it could be edited and differs from what was shown."""
    if base.explanation is None or text.split() == base.explanation.split():
        return {}
    return {editable.EXPLANATION: (base.explanation or None, text)}


def changed_key(text: str, base: editable.BaseText) -> Changes:
    """Return the key, where it differs from what was shown; raise ``UnreadableTextError`` where it is none."""
    key = editable.key_letters(text)
    if not set(key) <= {line.strip()[:1] for line in base.text.split("\n")}:
        raise editable.UnreadableTextError(f"the key {key} names an option that is not there")
    return {} if key == base.key else {editable.ANSWER: (base.key or None, key)}
