"""Who says what a question is."""

from __future__ import annotations

from enum import StrEnum

from schemas.base import Record


class Annotation(Record):
    """A label that an annotator (a model, a lexicon) gave a question in one dimension."""

    question_id: str
    dimension: str
    label: str
    """The Chinese name of the label."""
    annotator: str
    """``lexicon``, ``llm:gpt-4o``, ``human_accuracy`` …"""
    confidence: float | None
    """0..1; null where the annotator states none."""
    estimate: bool
    """True where the label stands in for something that was not measured (a model's guess of difficulty)."""
    prompt_hash: str | None = None
    model: str | None = None


class AnnotationRequest(Record):
    """One answered request to a model, and what it cost. Costs are kept apart from labels: five labels, one request."""

    question_id: str
    annotator: str
    prompt_hash: str
    model: str
    prompt_tokens: int | None
    completion_tokens: int | None
    cost: float | None
    """In the currency of the price table; null when no price is configured."""


class ExpertReview(Record):
    """An expert's label, as pulled from Label Studio."""

    question_id: str
    dimension: str
    label: str
    reviewer: str
    origin: str | None
    """``prediction`` (accepted), ``prediction-changed``, ``manual``; null where unknown."""
    flags: list[str]
    """``wrong_stem``, ``wrong_key``, ``out_of_scope``."""
    note: str | None
    annotation_id: int
    updated_at: str


class LabelStatus(StrEnum):
    """How far a label can be trusted."""

    UNREVIEWED = "unreviewed"
    """No expert has looked; the label is the annotator's."""
    SINGLE = "single"
    """One expert has looked; waiting for the second."""
    AGREED = "agreed"
    DISPUTED = "disputed"
    """Experts disagree; no final label yet, the label is null."""
    ADJUDICATED = "adjudicated"


class Label(Record):
    """The final label of a question in one dimension, and its status."""

    question_id: str
    dimension: str
    label: str | None
    label_en: str | None
    status: LabelStatus
    annotator: str | None
    """Whose label it is where no expert's is: the annotator's name."""
    estimate: bool
    reviewers: list[str]


class Agreement(Record):
    """Agreement of experts on a dimension."""

    dimension: str
    reviewers: str
    """``a & b`` for a pair, ``all`` for all."""
    items: int
    """Questions judged by at least two."""
    raw: float | None
    kappa: float | None
    """Cohen's kappa (a pair); null where undefined."""
    alpha: float | None
    """Krippendorff's alpha, nominal."""
    alpha_low: float | None
    alpha_high: float | None
    """95 % bootstrap interval over questions."""
