"""The row of a released split."""

from __future__ import annotations

from schemas.base import Record
from schemas.questions import Option


class ReleaseRow(Record):
    """A question with its final labels, as exported in ``train/validation/test.parquet``."""

    question_id: str
    question_type: str
    stem: str
    shared_stem: str | None
    group_id: str | None
    options: list[Option]
    answer: list[str]
    accepted_answers: list[list[str]] | None
    explanation: str | None
    human_accuracy: float | None
    respondents: int | None
    exam_type: str | None
    exam_class: str | None
    exam_subject: str | None
    disease_group: str | None
    disease_group_en: str | None
    disease_group_status: str
    """Of each dimension: the label's Chinese name, its English name, and a ``LabelStatus``."""
    clinical_department: str | None
    clinical_department_en: str | None
    clinical_department_status: str
    medical_discipline: str | None
    medical_discipline_en: str | None
    medical_discipline_status: str
    competency: str | None
    competency_en: str | None
    competency_status: str
    difficulty: str | None
    difficulty_en: str | None
    difficulty_status: str
    difficulty_estimate: bool | None = None
    """True where difficulty is a guess, not cut from people's accuracy; null where there is no label."""
    annotator: str | None
    """Who gave the labels that no expert has looked at."""
    document: str
    number: int | None
    cluster_id: str | None
