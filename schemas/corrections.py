"""Corrections of questions by people: signed patches, never overwrites."""

from enum import StrEnum

from schemas.base import Record


class CorrectionStatus(StrEnum):
    """Status of a correction."""

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
    """Content hash of the question when it was corrected; a patch is never applied to another text unseen."""
    field: str
    """``stem``, ``shared_stem``, ``option:A`` …, ``answer``, or ``verdict``: ``keep`` or ``drop`` the question."""
    before: str | None
    """Previous text; null if there was none."""
    after: str | None
    """New text; null removes the field."""
    by: str
    """Name of the person."""
    origin: str
    """Origin: ``review``, ``adjudication``, ``verification``."""
    note: str | None
    annotation_id: int
    updated_at: str
    status: CorrectionStatus
