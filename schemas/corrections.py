"""What people correct in questions: patches with a name, never overwrites."""

from __future__ import annotations

from enum import StrEnum

from schemas.base import Record


class CorrectionStatus(StrEnum):
    """Whether a correction counts."""

    ACCEPTED = "accepted"
    """Two experts say the same, or a person who decides alone made it: the clean stage applies it."""
    PROPOSED = "proposed"
    """One expert says so: it waits for another, or for the adjudicator."""
    DECLINED = "declined"
    """The adjudicator saw the question and left this as it was, or decided otherwise."""


class Correction(Record):
    """A change that a person makes to one field of a question."""

    question_id: str
    content_hash: str
    """What the question said when it was corrected; a patch never goes onto another text unseen."""
    field: str
    """``stem``, ``shared_stem``, ``option:A`` …, ``answer``, or ``verdict``: ``keep`` or ``drop`` the question."""
    before: str | None
    """What stood there; null where nothing did."""
    after: str | None
    """What is to stand there; null removes it."""
    by: str
    """Who says so."""
    origin: str
    """Where: ``review``, ``adjudication``, ``verification``."""
    note: str | None
    annotation_id: int
    updated_at: str
    status: CorrectionStatus
