"""The row of a released split."""

from __future__ import annotations

from pydantic import Field

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
    corrected: list[str] = Field(default_factory=list)
    """What people corrected, sorted: ``answer``, ``options``, ``shared_stem``, ``stem``; empty where nothing was."""
    document: str
    number: int | None
    cluster_id: str | None


class Leak(Record):
    """A question that is found again where it should not be."""

    question_id: str
    split: str
    kind: str
    """``exact`` or ``near``: in another split; ``copy`` (most of it) or ``overlap``: in a benchmark's file."""
    score: float
    """Similarity to the other question, or the share of this question's tokens that the file has too; 0..1."""
    other_id: str | None = None
    other_split: str | None = None
    file: str | None = None
    """The benchmark's file, relative to its folder."""
    line: int | None = None
    """Line of the file (row of a Parquet file), from 1, of the best match."""
    rows: int | None = None
    """Records of the file that share a span with the question."""
    span: str | None = None
    """The longest run that both have, as the question prints it; case, stem and options are lines."""
    start: int | None = None
    """Where the span begins and ends in those lines, in characters."""
    end: int | None = None


class BenchmarkFile(Record):
    """A file of a public benchmark that the questions were compared with."""

    file: str
    sha256: str
    records: int
    """How many of its records were read: lines, rows, objects; blocks of lines of plain text."""
    overlaps: int
    """Questions that share a run of tokens with it."""
    copies: int
    """Questions of which it has most."""
    test_overlaps: int
    """The same of questions of the test split."""
    test_copies: int


class Change(Record):
    """How a question differs from the previous release."""

    question_id: str
    change: str
    """``added``, ``removed``, ``renamed``, ``moved``, ``changed``, ``relabelled`` or ``updated``."""
    split: str | None
    """Null when it was removed."""
    previous_split: str | None
    """Null when it was added."""
    previous_id: str | None = None
    """The id it had, where the same question has another now."""
    columns: list[str]
    """Which columns differ."""
