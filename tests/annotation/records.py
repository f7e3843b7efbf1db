"""Records that tests of the review are made of, with what does not matter filled in."""

from typing import Any

from build_dataset.schemas.annotations import Annotation, Correction, CorrectionStatus, ExpertReview
from build_dataset.schemas.identity import content_hash
from build_dataset.schemas.questions import Option, Question, QuestionType


def moment(seconds: int = 0) -> str:
    """So many seconds into a day."""
    return f"2026-01-01T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.000000Z"


def question(question_id: str = "q", **fields: Any) -> Question:
    made = {
        "document": "a.pdf",
        "section": 1,
        "number": 1,
        "question_type": QuestionType.A1,
        "stem": "题干",
        "options": [Option(label="A", text="甲"), Option(label="B", text="乙")],
        "answer": ["B"],
        "content_hash": content_hash("题干", ["甲", "乙"]),
    }
    return Question(question_id=question_id, **(made | fields))


def annotation(dimension: str, label: str, annotator: str = "lexicon", **fields: Any) -> Annotation:
    made = {"question_id": "q", "confidence": 0.9, "estimate": False}
    return Annotation(dimension=dimension, label=label, annotator=annotator, **(made | fields))


def review(reviewer: str, label: str = "易", *, at: int = 0, **fields: Any) -> ExpertReview:
    made = {
        "question_id": "q",
        "dimension": "difficulty",
        "origin": None,
        "flags": [],
        "note": None,
        "annotation_id": 1,
        "updated_at": moment(at),
    }
    return ExpertReview(reviewer=reviewer, label=label, **(made | fields))


def correction(by: str, after: str | None, *, at: int = 0, **fields: Any) -> Correction:
    made = {
        "question_id": "q",
        "content_hash": "h",
        "field": "answer",
        "before": "A",
        "origin": "review",
        "note": None,
        "annotation_id": at,
        "updated_at": moment(at),
        "status": CorrectionStatus.PROPOSED,
    }
    return Correction(by=by, after=after, **(made | fields))
