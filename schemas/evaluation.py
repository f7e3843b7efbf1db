"""What models answered, and how that scores."""

from __future__ import annotations

from enum import StrEnum

from schemas.base import Record


class Outcome(StrEnum):
    """What became of one prompt."""

    ANSWERED = "answered"
    NO_ANSWER = "no_answer"
    """Text came back, no answer could be read from it."""
    REFUSED = "refused"
    TRUNCATED = "truncated"
    FAILED = "failed"
    """The request did not succeed; it is asked again on the next run."""


class Prediction(Record):
    """A model's answer to a question."""

    run: str
    """The evaluated model's name, e.g. ``openai:gpt-4o`` or ``random``."""
    question_id: str
    raw_output: str | None
    extracted: list[str] | None
    rule: str | None
    """The extraction rule that fired."""
    outcome: Outcome
    correct: bool | None
    """Null when no answer was read."""


class Score(Record):
    """A metric of a run over a slice of the test set."""

    run: str
    dimension: str
    """``overall``, ``question_type``, ``disease_group`` …"""
    label: str
    label_en: str | None
    metric: str
    """``accuracy``, ``weighted_f1``, ``no_answer_rate`` …"""
    value: float | None
    questions: int
    low: float | None
    high: float | None
    """95 % interval where the metric is a proportion (Wilson); null otherwise."""
