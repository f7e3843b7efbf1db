"""Difficulty from how many people answered correctly."""

from __future__ import annotations

from fractions import Fraction

from annotation.annotator import Verdict
from schemas.questions import Question
from schemas.taxonomy import DIFFICULTY, LEVELS, dimensions

ANNOTATOR = "human_accuracy"
BINS = LEVELS
"""Bins of equal width over 0..1, as CMExam cuts its human accuracy (section 3)."""


def difficulty_bin(accuracy: float) -> int:
    """The level of difficulty, from 0 (easy: 0.8 to 1) to 4 (extra difficult: below 0.2).

    A value on the border of two bins belongs to the easier one.

    Raises:
        ValueError: the accuracy is not in 0..1.
    """
    if not 0 <= accuracy <= 1:
        raise ValueError(f"an accuracy of {accuracy} is not in 0..1")
    # 0.6 is 0.59999…78 in binary; as people wrote it, it is the border.
    from_hard = int(Fraction(repr(float(accuracy))) * BINS)
    return BINS - 1 - min(from_hard, BINS - 1)


def measured_difficulty(question: Question) -> Verdict | None:
    """The label that people's answers give; None where nobody's were recorded, or the label set has no difficulty."""
    if question.human_accuracy is None or question.respondents == 0 or DIFFICULTY not in dimensions():
        return None
    label = dimensions()[DIFFICULTY].labels[difficulty_bin(question.human_accuracy)]
    return Verdict(label, confidence=None, estimate=False)
